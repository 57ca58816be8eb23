//! Random tables and pipelines whose rows do not depend on an order that nobody defined.

use hindsight_kql_types::ScalarType::{self, Bool, DateTime, Dynamic, Long, Real, String as Text};

use super::expression::{Column, Expressions, KINDS, literal};
use super::rng::Choice;

/// A query in parts, so that a failure can be shown and varied.
#[derive(Debug, Clone)]
pub(super) struct Query {
    /// `let` statements of the tables.
    pub(super) tables: String,
    /// The rows, without a predicate of its own.
    pub(super) rows: String,
    /// A predicate over the rows.
    pub(super) predicate: String,
    /// Columns that can be sorted by and compared.
    pub(super) ordered: Vec<String>,
}

/// What rows can be read: a name, and the columns.
pub(super) struct Source {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
}

/// A query over tables of its own.
pub(super) fn over_tables(choice: &mut Choice) -> Query {
    let (first, t) = table("T", choice);
    let (second, u) = table("U", choice);
    let tables = format!("{first}\n{second}\n");
    query(tables, t, Some(u), choice)
}

/// Two tables, and a pipeline over the parts of the first, which is called `T`.
pub(super) struct Parts {
    pub(super) tables: String,
    /// Each operator with its pipe.
    pub(super) pipeline: String,
}

/// A pipeline over parts of a table.
pub(super) fn over_parts(choice: &mut Choice) -> Parts {
    let (first, t) = table("T", choice);
    let (second, u) = table("U", choice);
    let mut pipeline = Pipeline {
        text: String::new(),
        columns: t.columns,
        other: Some(u),
        all: None,
        names: 0,
        choice,
    };
    for _ in 0..1 + pipeline.choice.below(5) {
        pipeline.operator_of_part();
    }
    Parts {
        tables: format!("{first}\n{second}\n"),
        pipeline: pipeline.text,
    }
}

/// A query over rows of `source`, which may join or unite them with those of `other`.
pub(super) fn over(source: Source, other: Source, choice: &mut Choice) -> Query {
    query(String::new(), source, Some(other), choice)
}

fn query(tables: String, source: Source, other: Option<Source>, choice: &mut Choice) -> Query {
    let mut pipeline = Pipeline {
        text: source.name,
        columns: source.columns,
        other,
        all: None,
        names: 0,
        choice,
    };
    for _ in 0..pipeline.choice.below(5) {
        pipeline.operator();
    }
    let predicate = pipeline.expression(Bool, 3);
    let mut ordered = pipeline.named();
    ordered.retain(|c| matches!(c.kind, Long | DateTime));
    Query {
        ordered: ordered.into_iter().map(|c| c.name).collect(),
        tables,
        rows: pipeline.text,
        predicate,
    }
}

/// `let NAME = datatable(…)[…];` and its columns. Every table has a key `k` of few values and a text `s`.
fn table(name: &str, choice: &mut Choice) -> (String, Source) {
    let mut columns = vec![column("k", Long), column("s", Text)];
    for (index, kind) in KINDS.into_iter().enumerate() {
        if choice.percent(55) {
            columns.push(column(&format!("c{index}"), kind));
        }
    }
    let declared: Vec<String> = columns
        .iter()
        .map(|c| format!("{}: {}", c.name, c.kind))
        .collect();
    let mut cells = Vec::new();
    for _ in 0..choice.below(13) {
        for column in &columns {
            cells.push(match column.name.as_str() {
                "k" => choice.of(&["1", "2", "3", "long(null)"]).to_owned(),
                _ => written(column.kind, choice),
            });
        }
    }
    let text = format!(
        "let {name} = datatable({})[{}];",
        declared.join(", "),
        cells.join(", ")
    );
    let source = Source {
        name: name.to_owned(),
        columns,
    };
    (text, source)
}

/// A literal as it stands in a table, where a sign needs no parentheses and may have none.
fn written(kind: ScalarType, choice: &mut Choice) -> String {
    let literal = literal(kind, choice);
    match literal.strip_prefix("(").and_then(|l| l.strip_suffix(")")) {
        Some(inner) => inner.to_owned(),
        None => literal,
    }
}

/// A column of a source.
pub(super) fn column(name: &str, kind: ScalarType) -> Column {
    Column {
        name: name.to_owned(),
        kind,
    }
}

struct Pipeline<'a> {
    text: String,
    columns: Vec<Column>,
    other: Option<Source>,
    /// Rows that have a name, and their columns.
    all: Option<(String, Vec<Column>)>,
    names: usize,
    choice: &'a mut Choice,
}

impl Pipeline<'_> {
    fn expression(&mut self, kind: ScalarType, depth: usize) -> String {
        Expressions {
            choice: self.choice,
            columns: &self.columns,
        }
        .make(kind, depth)
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    /// A name that none of `used` has: one time in three that of a column of the input, of which the new column may be independent.
    fn new_or_old_name(&mut self, used: &[Column]) -> String {
        let mut old = self.named();
        old.retain(|c| used.iter().all(|u| u.name != c.name));
        if !old.is_empty() && self.choice.percent(33) {
            self.choice.of(&old).name
        } else {
            self.name()
        }
    }

    fn add(&mut self, operator: &str) {
        self.text.push_str("\n| ");
        self.text.push_str(operator);
    }

    fn operator(&mut self) {
        match self.choice.below(13) {
            0 | 1 => self.filter(),
            2 | 3 => self.extend(),
            4 => self.project(),
            5 => self.distinct(),
            6 | 7 => self.summarize(),
            8 => self.top(),
            9 | 10 => self.join(),
            11 => self.union(),
            _ => self.expand(),
        }
    }

    /// Often steps that leave a part nothing, and aggregations without keys, which have a row for nothing.
    fn operator_of_part(&mut self) {
        match self.choice.below(17) {
            0..3 => self.filter(),
            3..5 => self.extend(),
            5 => self.distinct(),
            6..8 => self.summarize(),
            8 => self.top(),
            9 => self.union(),
            10 => self.expand(),
            11 => self.apply(),
            12 => self.number(),
            13 => self.join(),
            14 => self.partition(),
            15 => self.name_all(),
            _ => self.read_again(),
        }
    }

    fn filter(&mut self) {
        let predicate = self.expression(Bool, 2);
        self.add(&format!("where {predicate}"));
    }

    /// Numbers of rows that are in an order of all columns, so that rows that look the same may change places.
    fn number(&mut self) {
        if self.columns.iter().any(|c| c.kind == Dynamic) {
            self.project_plain();
        }
        let name = self.name();
        let keys: Vec<String> = self
            .columns
            .iter()
            .map(|c| format!("{} asc", c.name))
            .collect();
        self.add(&format!(
            "sort by {} | extend {name} = row_number()",
            keys.join(", ")
        ));
        self.columns.push(column(&name, Long));
    }

    /// Parts of the part.
    fn partition(&mut self) {
        let keys = self.plain_columns();
        if keys.is_empty() {
            return;
        }
        let key = self.choice.of(&keys);
        let inner = self.inside(|pipeline| match pipeline.choice.below(4) {
            0 => pipeline.filter(),
            1 => pipeline.extend(),
            2 => pipeline.distinct(),
            _ => pipeline.summarize(),
        });
        if !inner.is_empty() {
            self.add(&format!("partition by {} ({inner})", key.name));
        }
    }

    /// A name for the rows so far.
    fn name_all(&mut self) {
        let name = self.name();
        self.add(&format!("as {name}"));
        self.all = Some((name, self.columns.clone()));
    }

    /// The rows that have a name, beside what became of them.
    fn read_again(&mut self) {
        let Some((all, columns)) = self.all.clone() else {
            return;
        };
        if self.choice.percent(50) {
            let name = self.name();
            self.add(&format!("extend {name} = toscalar({all} | count)"));
            self.columns.push(column(&name, Long));
            return;
        }
        self.unite(&all, columns);
    }

    /// Steps of a pipeline inside, which go on from these columns.
    fn inside(&mut self, step: impl Fn(&mut Self)) -> String {
        let (text, all) = (std::mem::take(&mut self.text), self.all.take());
        for _ in 0..1 + self.choice.below(3) {
            step(self);
        }
        self.all = all;
        let inner = std::mem::replace(&mut self.text, text);
        inner.trim_start_matches("\n| ").to_owned()
    }

    /// A pipeline over the elements of a list.
    fn apply(&mut self) {
        let name = self.name();
        let list = self.expression(Dynamic, 2);
        let kind = self.choice.of(&[Long, Text, Real]);
        let outer = self.columns.clone();
        self.columns.push(column(&name, kind));
        let inner = self.inside(|pipeline| match pipeline.choice.below(4) {
            0 => pipeline.filter(),
            1 => pipeline.extend(),
            2 => pipeline.distinct(),
            _ => pipeline.summarize(),
        });
        if inner.is_empty() {
            self.columns = outer;
            return;
        }
        self.add(&format!(
            "mv-apply {name} = {list} to typeof({kind}) on ({inner})"
        ));
        // The row's own columns stand beside those of the pipeline.
        let own = std::mem::take(&mut self.columns);
        let beside = outer
            .into_iter()
            .filter(|c| own.iter().all(|o| o.name != c.name));
        self.columns = beside.chain(own.iter().cloned()).collect();
    }

    fn extend(&mut self) {
        let kind = self.choice.of(&KINDS);
        let expression = self.expression(kind, 3);
        // One time in four a column takes the place of another.
        let name = if self.choice.percent(25) {
            self.any_column().name
        } else {
            self.name()
        };
        let step = format!("extend {name} = {expression}");
        self.add(&step);
        // The same once more is not the same: it computes from what it gave.
        let replaces = |c: &Column| c.name == name && c.kind == kind;
        if self.columns.iter().any(replaces) && self.choice.percent(30) {
            self.add(&step);
        }
        match self.columns.iter_mut().find(|c| c.name == name) {
            Some(column) => column.kind = kind,
            None => self.columns.push(column(&name, kind)),
        }
    }

    fn project(&mut self) {
        let mut columns: Vec<Column> = Vec::new();
        let mut parts = Vec::new();
        for old in self.named() {
            if self.choice.percent(60) {
                parts.push(old.name.clone());
                columns.push(old);
            }
        }
        let (kind, name) = (self.choice.of(&KINDS), self.name());
        parts.push(format!("{name} = {}", self.expression(kind, 2)));
        columns.push(column(&name, kind));
        self.add(&format!("project {}", parts.join(", ")));
        self.columns = columns;
    }

    /// Columns whose values have one text form for each value.
    fn plain_columns(&self) -> Vec<Column> {
        let columns = self.named().into_iter();
        columns.filter(|c| c.kind != Dynamic).collect()
    }

    /// The columns proper; the others are expressions that are read like columns while their column is there.
    fn named(&self) -> Vec<Column> {
        let named = |c: &&Column| c.name.bytes().all(|b| b.is_ascii_alphanumeric());
        self.columns.iter().filter(named).cloned().collect()
    }

    fn any_column(&mut self) -> Column {
        let columns = self.named();
        self.choice.of(&columns)
    }

    fn distinct(&mut self) {
        let mut columns = self.plain_columns();
        columns.truncate(1 + self.choice.below(3));
        if columns.is_empty() {
            return;
        }
        let names: Vec<&str> = columns.iter().map(|c| c.name.as_str()).collect();
        self.add(&format!("distinct {}", names.join(", ")));
        self.columns = columns;
    }

    fn summarize(&mut self) {
        let mut columns = Vec::new();
        let mut keys = Vec::new();
        for _ in 0..self.choice.below(3) {
            let kind = self.choice.of(&[Long, Text, Bool, DateTime, Real]);
            let name = self.new_or_old_name(&columns);
            keys.push(format!("{name} = {}", self.expression(kind, 1)));
            columns.push(column(&name, kind));
        }
        let mut aggregates = Vec::new();
        for _ in 0..1 + self.choice.below(3) {
            let (aggregate, kind) = self.aggregate();
            let name = self.new_or_old_name(&columns);
            aggregates.push(format!("{name} = {aggregate}"));
            columns.push(column(&name, kind));
        }
        let by = if keys.is_empty() {
            String::new()
        } else {
            format!(" by {}", keys.join(", "))
        };
        self.add(&format!("summarize {}{by}", aggregates.join(", ")));
        self.columns = columns;
    }

    fn aggregate(&mut self) -> (String, ScalarType) {
        match self.choice.below(10) {
            0 => ("count()".to_owned(), Long),
            1 => (format!("countif({})", self.expression(Bool, 2)), Long),
            2 => (format!("sum({})", self.expression(Long, 1)), Long),
            3 => {
                let kind = self.choice.of(&[Long, Real, DateTime, Text]);
                (format!("min({})", self.expression(kind, 1)), kind)
            }
            4 => {
                let kind = self.choice.of(&[Long, Real, DateTime, Text]);
                (format!("max({})", self.expression(kind, 1)), kind)
            }
            5 => {
                let kind = self.choice.of(&[Long, Text, Real]);
                (format!("dcount({})", self.expression(kind, 1)), Long)
            }
            6 => (
                format!(
                    "percentile({}, {})",
                    self.expression(Long, 1),
                    self.choice.of(&[0, 50, 95, 100])
                ),
                Long,
            ),
            7 => (
                format!(
                    "sumif({}, {})",
                    self.expression(Long, 1),
                    self.expression(Bool, 1)
                ),
                Long,
            ),
            8 => (
                format!("array_sort_asc(make_set({}))", self.expression(Long, 1)),
                Dynamic,
            ),
            _ => (
                format!("array_sort_asc(make_list({}))", self.expression(Long, 1)),
                Dynamic,
            ),
        }
    }

    /// The first rows by every column, so that ties are rows that look the same.
    fn top(&mut self) {
        if self.columns.iter().any(|c| c.kind == Dynamic) {
            self.project_plain();
        }
        let mut keys = Vec::new();
        for column in self.columns.clone() {
            let order = self
                .choice
                .of(&["asc", "desc", "asc nulls last", "desc nulls first"]);
            keys.push(format!("{} {order}", column.name));
        }
        if !keys.is_empty() {
            // DataFusion cannot run `take 0` unoptimised.
            let count = 1 + self.choice.below(8);
            self.add(&format!("sort by {} | take {count}", keys.join(", ")));
        }
    }

    fn project_plain(&mut self) {
        let columns = self.plain_columns();
        let mut parts: Vec<String> = columns.iter().map(|c| c.name.clone()).collect();
        let name = self.name();
        parts.push(format!("{name} = 1"));
        self.add(&format!("project {}", parts.join(", ")));
        self.columns = columns;
        self.columns.push(column(&name, Long));
    }

    fn join(&mut self) {
        let Some(other) = &self.other else {
            return;
        };
        let (other, columns) = (other.name.clone(), other.columns.clone());
        let keys = ["k", "s", "timestamp"];
        let keys = columns.iter().filter(|c| keys.contains(&c.name.as_str()));
        let keys: Vec<Column> = keys.cloned().collect();
        let mut own = self.named();
        own.retain(|c| keys.iter().any(|key| key.kind == c.kind));
        if own.is_empty() {
            return;
        }
        let left = self.choice.of(&own);
        let right = keys.into_iter().find(|key| key.kind == left.kind);
        let right = right.map(|key| key.name).unwrap_or_default();
        let mut parts = Vec::new();
        let mut added = Vec::new();
        for old in columns {
            let name = self.name();
            parts.push(format!("{name} = {}", old.name));
            added.push((old.name == right, column(&name, old.kind)));
        }
        let on = added
            .iter()
            .find(|(key, _)| *key)
            .map(|(_, c)| c.name.clone())
            .unwrap_or_default();
        let added = added.into_iter().map(|(_, c)| c);
        let kind = self.choice.of(&[
            "inner",
            "leftouter",
            "rightouter",
            "fullouter",
            "leftsemi",
            "leftanti",
            "rightsemi",
            "rightanti",
        ]);
        self.add(&format!(
            "join kind={kind} ({other} | project {}) on $left.{} == $right.{on}",
            parts.join(", "),
            left.name
        ));
        match kind {
            "leftsemi" | "leftanti" => {}
            "rightsemi" | "rightanti" => self.columns = added.collect(),
            _ => self.columns.extend(added),
        }
    }

    fn union(&mut self) {
        let Some(other) = &self.other else {
            return;
        };
        let (name, columns) = (other.name.clone(), other.columns.clone());
        self.unite(&name, columns);
    }

    fn unite(&mut self, name: &str, columns: Vec<Column>) {
        // Columns of one name and two types would be split.
        let own = |c: &Column| {
            self.columns
                .iter()
                .any(|o| o.name == c.name && o.kind != c.kind)
        };
        if columns.iter().any(own) {
            return;
        }
        self.add(&format!("union ({name})"));
        for column in columns {
            if self.columns.iter().all(|c| c.name != column.name) {
                self.columns.push(column);
            }
        }
    }

    fn expand(&mut self) {
        let name = self.name();
        let list = self.expression(Dynamic, 2);
        let kind = self.choice.of(&[Long, Text, Dynamic, Real]);
        self.add(&format!("mv-expand {name} = {list} to typeof({kind})"));
        self.columns.push(column(&name, kind));
    }
}
