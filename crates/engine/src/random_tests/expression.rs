//! Typed random expressions.

use hindsight_kql_types::ScalarType::{
    self, Bool, DateTime, Decimal, Dynamic, Guid, Int, Long, Real, String as Text, TimeSpan,
};

use super::rng::Choice;

/// A column that expressions may read.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: ScalarType,
}

/// Makes expressions over columns.
pub(super) struct Expressions<'a> {
    pub(super) choice: &'a mut Choice,
    pub(super) columns: &'a [Column],
}

/// The kinds that tables have.
pub(super) const KINDS: [ScalarType; 10] = [
    Long, Real, Text, Bool, DateTime, TimeSpan, Int, Decimal, Guid, Dynamic,
];

/// The kinds that have an order.
const ORDERED: [ScalarType; 7] = [Long, Real, Text, DateTime, TimeSpan, Int, Decimal];

/// A literal. Doubles are such that sums of some of them are exact in any order.
pub(super) fn literal(kind: ScalarType, choice: &mut Choice) -> String {
    let pool: &[&str] = match kind {
        Long => &[
            "0",
            "1",
            "(-1)",
            "2",
            "3",
            "7",
            "100",
            "9223372036854775807",
            "long(-9223372036854775808)",
            "long(null)",
        ],
        Int => &[
            "int(0)",
            "int(1)",
            "int(-5)",
            "int(2147483647)",
            "int(null)",
        ],
        Real => &[
            "0.0",
            "1.5",
            "(-2.25)",
            "1e10",
            "real(nan)",
            "real(+inf)",
            "real(-inf)",
            "real(null)",
            "0.5",
        ],
        Decimal => &[
            "decimal(0)",
            "decimal(1.5)",
            "decimal(-0.001)",
            "decimal(12345.678)",
            "decimal(null)",
        ],
        Text => &[
            "''",
            "'a'",
            "'A'",
            "'b c'",
            "'x-1'",
            "'äÖ'",
            "'12'",
            "'1.5'",
            "'true'",
            "' a '",
            "'a,b,,c'",
            "'2024-01-01'",
        ],
        Bool => &["true", "false", "bool(null)"],
        DateTime => &[
            "datetime(2024-01-01)",
            "datetime(2024-02-29 12:34:56.7891234)",
            "datetime(0001-01-01)",
            "datetime(9999-12-31)",
            "datetime(null)",
            "datetime(1969-12-31 23:59:59)",
        ],
        TimeSpan => &[
            "0s",
            "1h",
            "1tick",
            "(-1d)",
            "90m",
            "timespan(10675198d)",
            "timespan(null)",
        ],
        Guid => &[
            "guid(74be27de-1e4e-49d9-b579-fe0b331d3642)",
            "guid(00000000-0000-0000-0000-000000000001)",
            "guid(null)",
        ],
        Dynamic => &[
            "dynamic(null)",
            "dynamic(1)",
            "dynamic('a')",
            "dynamic([1,2,'x'])",
            "dynamic({'p':1,'q':'a'})",
            "dynamic([])",
            "dynamic(true)",
            "dynamic(2.5)",
            "dynamic([[1],{'p':null}])",
            "dynamic({})",
        ],
    };
    choice.of(pool).to_owned()
}

impl Expressions<'_> {
    /// An expression of `kind`, at most `depth` calls deep.
    pub(super) fn make(&mut self, kind: ScalarType, depth: usize) -> String {
        if depth == 0 || self.choice.percent(25) {
            return self.leaf(kind);
        }
        let d = depth - 1;
        match self.choice.below(8) {
            0 => format!(
                "iff({}, {}, {})",
                self.make(Bool, d),
                self.make(kind, d),
                self.make(kind, d)
            ),
            1 => format!(
                "case({}, {}, {})",
                self.make(Bool, d),
                self.make(kind, d),
                self.make(kind, d)
            ),
            2 if kind != Dynamic => {
                format!("coalesce({}, {})", self.make(kind, d), self.make(kind, d))
            }
            _ => self.call(kind, d),
        }
    }

    fn leaf(&mut self, kind: ScalarType) -> String {
        let own: Vec<String> = self
            .columns
            .iter()
            .filter(|c| c.kind == kind)
            .map(|c| c.name.clone())
            .collect();
        if own.is_empty() || self.choice.percent(20) {
            literal(kind, self.choice)
        } else {
            self.choice.of(&own)
        }
    }

    fn call(&mut self, kind: ScalarType, d: usize) -> String {
        match kind {
            Long => self.long(d),
            Real => self.real(d),
            Text => self.text(d),
            Bool => self.bool(d),
            DateTime => self.datetime(d),
            TimeSpan => self.timespan(d),
            Dynamic => self.dynamic(d),
            Int => format!("toint({})", self.any(d)),
            Decimal => match self.choice.below(3) {
                0 => format!("({} + {})", self.make(Decimal, d), self.make(Decimal, d)),
                1 => format!("abs({})", self.make(Decimal, d)),
                _ => format!("todecimal({})", self.make(Long, d)),
            },
            Guid => format!("toguid({})", self.make(Text, d)),
        }
    }

    /// An expression of any kind.
    fn any(&mut self, depth: usize) -> String {
        let kind = self.choice.of(&[Long, Real, Text, Bool, Dynamic, Int]);
        self.make(kind, depth)
    }

    fn long(&mut self, d: usize) -> String {
        match self.choice.below(14) {
            0 => format!("({} + {})", self.make(Long, d), self.make(Long, d)),
            1 => format!("({} - {})", self.make(Long, d), self.make(Long, d)),
            2 => format!("({} * {})", self.make(Long, d), self.make(Int, d)),
            3 => format!("({} / {})", self.make(Long, d), self.make(Long, d)),
            4 => format!("({} % {})", self.make(Long, d), self.make(Long, d)),
            5 => format!("(-{})", self.make(Long, d)),
            6 => format!("strlen({})", self.make(Text, d)),
            7 => format!("tolong({})", self.any(d)),
            8 => format!("array_length({})", self.make(Dynamic, d)),
            9 => format!("indexof({}, {})", self.make(Text, d), self.make(Text, d)),
            10 => format!("countof({}, 'a')", self.make(Text, d)),
            11 => format!("bin({}, 5)", self.make(Long, d)),
            12 => format!(
                "datetime_diff('hour', {}, {})",
                self.make(DateTime, d),
                self.make(DateTime, d)
            ),
            _ => format!("binary_and({}, {})", self.make(Long, d), self.make(Long, d)),
        }
    }

    fn real(&mut self, d: usize) -> String {
        match self.choice.below(8) {
            0 => format!("({} + {})", self.make(Real, d), self.make(Long, d)),
            1 => format!("({} * {})", self.make(Real, d), self.make(Real, d)),
            2 => format!("({} / {})", self.make(Real, d), self.make(Real, d)),
            3 => format!("toreal({})", self.any(d)),
            4 => format!("abs({})", self.make(Real, d)),
            5 => format!("round({}, 1)", self.make(Real, d)),
            6 => format!("({} / {})", self.make(TimeSpan, d), self.make(TimeSpan, d)),
            _ => format!("floor({}, 2.0)", self.make(Real, d)),
        }
    }

    fn text(&mut self, d: usize) -> String {
        match self.choice.below(11) {
            0 => format!("strcat({}, {})", self.make(Text, d), self.any(d)),
            1 => format!(
                "substring({}, {})",
                self.make(Text, d),
                self.choice.below(4)
            ),
            2 => format!("toupper({})", self.make(Text, d)),
            3 => format!("tolower({})", self.make(Text, d)),
            4 => format!(
                "replace_string({}, {}, {})",
                self.make(Text, d),
                self.make(Text, d),
                self.make(Text, d)
            ),
            5 => {
                let kind = self.choice.of(&KINDS);
                format!("tostring({})", self.make(kind, d))
            }
            6 => format!(
                "tostring(split({}, ',')[{}])",
                self.make(Text, d),
                self.choice.below(3)
            ),
            7 => format!("trim(' ', {})", self.make(Text, d)),
            8 => format!("extract('([a-z]+)', 1, {})", self.make(Text, d)),
            9 => format!("reverse({})", self.make(Text, d)),
            _ => format!("gettype({})", self.make(Dynamic, d)),
        }
    }

    /// A predicate.
    pub(super) fn bool(&mut self, d: usize) -> String {
        match self.choice.below(16) {
            0..=3 => {
                let kind = self.choice.of(&ORDERED);
                let operator = self.choice.of(&["==", "!=", "<", "<=", ">", ">="]);
                format!("({} {operator} {})", self.make(kind, d), self.make(kind, d))
            }
            4 => format!("({} and {})", self.make(Bool, d), self.make(Bool, d)),
            5 => format!("({} or {})", self.make(Bool, d), self.make(Bool, d)),
            6 => format!("not({})", self.make(Bool, d)),
            7 | 8 => {
                let operator = self.choice.of(&[
                    "contains",
                    "!contains",
                    "has",
                    "!has",
                    "startswith",
                    "!endswith",
                    "=~",
                    "!~",
                    "contains_cs",
                    "hasprefix",
                    "has_cs",
                    "startswith_cs",
                ]);
                format!("({} {operator} {})", self.make(Text, d), self.make(Text, d))
            }
            9 => {
                let kind = self.choice.of(&ORDERED);
                let operator = self.choice.of(&["in", "!in"]);
                let list = [literal(kind, self.choice), literal(kind, self.choice)].join(", ");
                format!("({} {operator} ({list}))", self.make(kind, d))
            }
            10 => {
                let kind = self.choice.of(&[Long, Real, DateTime, TimeSpan]);
                let operator = self.choice.of(&["between", "!between"]);
                format!(
                    "({} {operator} ({} .. {}))",
                    self.make(kind, d),
                    self.make(kind, d),
                    self.make(kind, d)
                )
            }
            11 => {
                let kind = self.choice.of(&KINDS);
                let call = self
                    .choice
                    .of(&["isnull", "isnotnull", "isempty", "isnotempty"]);
                format!("{call}({})", self.make(kind, d))
            }
            12 => format!("tobool({})", self.any(d)),
            13 => format!("({} matches regex '^[a-z]+$')", self.make(Text, d)),
            14 => {
                let kind = self.choice.of(&[Guid, Bool]);
                format!("({} == {})", self.make(kind, d), self.make(kind, d))
            }
            _ => format!("({} has_any ('a', 'b'))", self.make(Text, d)),
        }
    }

    fn datetime(&mut self, d: usize) -> String {
        match self.choice.below(5) {
            0 => format!("({} + {})", self.make(DateTime, d), self.make(TimeSpan, d)),
            1 => format!("bin({}, 1d)", self.make(DateTime, d)),
            2 => format!("startofmonth({})", self.make(DateTime, d)),
            3 => format!("todatetime({})", self.make(Text, d)),
            _ => format!("({} - {})", self.make(DateTime, d), self.make(TimeSpan, d)),
        }
    }

    fn timespan(&mut self, d: usize) -> String {
        match self.choice.below(4) {
            0 => format!("({} - {})", self.make(DateTime, d), self.make(DateTime, d)),
            1 => format!("({} + {})", self.make(TimeSpan, d), self.make(TimeSpan, d)),
            2 => format!("({} * 2)", self.make(TimeSpan, d)),
            _ => format!("totimespan({})", self.make(Text, d)),
        }
    }

    fn dynamic(&mut self, d: usize) -> String {
        match self.choice.below(6) {
            0 => format!("pack_array({}, {})", self.any(d), self.any(d)),
            1 => format!("bag_pack('p', {}, 'q', {})", self.any(d), self.any(d)),
            2 => format!("({}).p", self.make(Dynamic, d)),
            3 => format!("({})[0]", self.make(Dynamic, d)),
            4 => format!("parse_json({})", self.make(Text, d)),
            _ => format!(
                "array_concat({}, {})",
                self.make(Dynamic, d),
                self.make(Dynamic, d)
            ),
        }
    }
}
