//! Completion: operators after a pipe, tables where a query begins, and columns, functions and words of expressions elsewhere.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use hindsight_engine::{Entry, language_sections, visualizations};
use hindsight_store::Table;

/// Finds candidates for a word.
pub(super) trait Completer {
    /// The candidates for the word at the end of a text.
    fn complete(&self, before: &str) -> Completion;
}

/// The candidates for a word.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completion {
    /// The word as far as it is typed.
    pub(super) typed: String,
    /// Words that begin with it, whatever the case of their letters.
    pub(super) candidates: Vec<String>,
}

/// Words of expressions and clauses that the reference has no section for.
const WORDS: [&str; 30] = [
    "and",
    "or",
    "not",
    "by",
    "on",
    "asc",
    "desc",
    "kind",
    "in",
    "has",
    "has_any",
    "has_all",
    "contains",
    "startswith",
    "endswith",
    "between",
    "matches",
    "regex",
    "inner",
    "leftouter",
    "fullouter",
    "leftanti",
    "leftsemi",
    "true",
    "false",
    "from",
    "to",
    "step",
    "default",
    "with",
];

/// Asks for the columns of a query's result; `None` if they cannot be had.
type AskColumns<'a> = Box<dyn Fn(&str) -> Option<Vec<String>> + 'a>;

/// Completes KQL by the reference of the language, the schema, and the columns of the query so far.
pub(super) struct KqlCompleter<'a> {
    operators: Vec<String>,
    functions: Vec<String>,
    statements: Vec<String>,
    ask: AskColumns<'a>,
    /// The columns of texts that were asked.
    known: RefCell<HashMap<String, Option<Vec<String>>>>,
}

/// Where a word stands.
#[derive(Debug, PartialEq, Eq)]
enum Place {
    /// Where a query or a sub-query begins.
    Source,
    /// After a pipe.
    Operator,
    /// After `render`.
    Visualization,
    /// In an expression. `input` is the query before it, and `from` its sub-query.
    Expression { input: String },
    /// In a string or a comment.
    Text,
}

impl<'a> KqlCompleter<'a> {
    pub(super) fn new(ask: impl Fn(&str) -> Option<Vec<String>> + 'a) -> KqlCompleter<'a> {
        let sections = language_sections();
        let of = |titles: &[&str]| -> Vec<String> {
            let sections = sections
                .iter()
                .filter(|section| titles.contains(&section.title));
            let entries = sections.flat_map(|section| &section.entries);
            entries.flat_map(names).collect()
        };
        KqlCompleter {
            operators: of(&["Tabular operators and sources"]),
            functions: of(&[
                "Scalar functions",
                "Aggregates",
                "Functions of columns and rows",
                "Functions of graphs",
                "Tables by call",
                "Plug-ins of evaluate",
            ]),
            statements: of(&["Statements"]),
            ask: Box::new(ask),
            known: RefCell::default(),
        }
    }

    fn columns(&self, input: &str, whole: &str) -> Vec<String> {
        let mut known = self.known.borrow_mut();
        let asked = known
            .entry(input.to_owned())
            .or_insert_with(|| (self.ask)(input));
        match asked {
            Some(columns) => columns.clone(),
            None => named_tables(whole),
        }
    }
}

impl Completer for KqlCompleter<'_> {
    fn complete(&self, before: &str) -> Completion {
        let typed = last_word(before);
        let head = before.strip_suffix(typed).unwrap_or(before);
        let all: Vec<String> = match place(head) {
            Place::Text => Vec::new(),
            Place::Source => {
                let tables = Table::ALL.iter().map(|table| table.name().to_owned());
                tables
                    .chain(self.statements.iter().cloned())
                    .chain(self.operators.iter().cloned())
                    .collect()
            }
            Place::Operator => self.operators.clone(),
            Place::Visualization => visualizations()
                .iter()
                .map(|name| (*name).to_owned())
                .collect(),
            Place::Expression { input } => {
                let words = WORDS.iter().map(|word| (*word).to_owned());
                let tables = Table::ALL.iter().map(|table| table.name().to_owned());
                let columns = self.columns(&input, before).into_iter();
                columns
                    .chain(words)
                    .chain(self.functions.iter().cloned())
                    .chain(tables)
                    .collect()
            }
        };
        let lower = typed.to_lowercase();
        let fitting: BTreeSet<String> = all
            .into_iter()
            .filter(|word| word.to_lowercase().starts_with(&lower))
            .collect();
        Completion {
            typed: typed.to_owned(),
            candidates: fitting.into_iter().collect(),
        }
    }
}

/// The names of an entry of the reference.
fn names(entry: &Entry) -> Vec<String> {
    let form = entry.forms.first().copied().unwrap_or_default();
    let end = form.find(['(', ' ', '[']).unwrap_or(form.len());
    let name = form.get(..end).unwrap_or_default();
    let aliases = entry.aliases.iter().copied();
    let is_name = |name: &&str| name.chars().next().is_some_and(char::is_alphabetic);
    std::iter::once(name)
        .chain(aliases)
        .filter(is_name)
        .map(str::to_owned)
        .collect()
}

/// The columns of the tables that a text names.
fn named_tables(text: &str) -> Vec<String> {
    let words: BTreeSet<&str> = text
        .split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .collect();
    let named = Table::ALL
        .into_iter()
        .filter(|table| words.contains(table.name()));
    named
        .flat_map(|table| table.columns().iter().map(|column| column.name.to_owned()))
        .collect()
}

/// The word at the end of a text. Names of operators have hyphens.
fn last_word(text: &str) -> &str {
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_word(*c))
        .last();
    let word = start.map_or("", |(at, _)| text.get(at..).unwrap_or_default());
    word.trim_start_matches('-')
}

/// Where the word after a text stands.
fn place(head: &str) -> Place {
    let Some(scan) = Scan::of(head) else {
        return Place::Text;
    };
    let stage = head.get(scan.stage..).unwrap_or_default().trim();
    if stage.is_empty() {
        return if scan.piped {
            Place::Operator
        } else {
            Place::Source
        };
    }
    if scan.piped && stage == "render" {
        return Place::Visualization;
    }
    let statements = head.get(..scan.statement).unwrap_or_default();
    let input = head.get(scan.source..scan.pipe).unwrap_or_default();
    Place::Expression {
        input: format!("{statements}{input}"),
    }
}

/// The parts of an unfinished query, as offsets in its text.
#[derive(Debug, Default, Clone, Copy)]
struct Scan {
    /// Where the last statement begins.
    statement: usize,
    /// Where the innermost query begins: the statement, or after a bracket.
    source: usize,
    /// The last pipe of the innermost query, or its beginning.
    pipe: usize,
    /// Where what follows this pipe begins.
    stage: usize,
    /// Whether there is such a pipe.
    piped: bool,
}

impl Scan {
    fn begun(&self, at: usize) -> Scan {
        Scan {
            source: at,
            pipe: at,
            stage: at,
            piped: false,
            ..*self
        }
    }

    /// Scans a text; `None` if it ends in a string or a comment.
    fn of(text: &str) -> Option<Scan> {
        let mut scan = Scan::default();
        let mut outer: Vec<Scan> = Vec::new();
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            let after = at + c.len_utf8();
            match c {
                '"' | '\'' => {
                    let verbatim = text.get(..at).is_some_and(|before| before.ends_with('@'));
                    loop {
                        match chars.next()? {
                            (_, '\\') if !verbatim => {
                                chars.next();
                            }
                            (_, end) if end == c => break,
                            _ => {}
                        }
                    }
                }
                '/' if chars.peek().is_some_and(|(_, next)| *next == '/') => {
                    while chars.next()?.1 != '\n' {}
                }
                '(' | '[' | '{' => {
                    outer.push(scan);
                    scan = scan.begun(after);
                }
                ')' | ']' | '}' => scan = outer.pop().unwrap_or(scan),
                '|' => {
                    scan.pipe = at;
                    scan.stage = after;
                    scan.piped = true;
                }
                ';' => {
                    scan = scan.begun(after);
                    scan.statement = after;
                }
                // An argument or an assignment is no beginning of a query, and a value of `let` is one.
                '=' if !scan.piped && is_let(text.get(scan.statement..at).unwrap_or_default()) => {
                    scan = scan.begun(after);
                }
                _ => {}
            }
        }
        // In brackets of an expression, columns are those of the query around them.
        while !scan.piped && !is_query(text.get(scan.source..).unwrap_or_default()) {
            match outer.pop() {
                Some(around) if around.piped => scan = around,
                _ => break,
            }
        }
        Some(scan)
    }
}

/// Whether a statement up to its `=` is `let name`.
fn is_let(statement: &str) -> bool {
    let mut words = statement.split_whitespace();
    words.next() == Some("let") && words.next().is_some() && words.next().is_none()
}

/// Whether brackets hold a query: they begin with a table.
fn is_query(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    Table::from_name(first).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(before: &str) -> Vec<String> {
        let ask = |text: &str| match text.trim() {
            "requests" => Some(vec!["name".to_owned(), "duration".to_owned()]),
            "requests\n| extend twice = 2 * duration" => Some(vec!["twice".to_owned()]),
            "let t = 1; traces" => Some(vec!["message".to_owned()]),
            "exceptions" => Some(vec!["problemId".to_owned()]),
            _ => None,
        };
        KqlCompleter::new(ask).complete(before).candidates
    }

    #[test]
    fn words_are_completed_by_their_place() {
        assert_eq!(candidates("requ"), ["requests"]);
        assert_eq!(candidates("requests | summ"), ["summarize"]);
        assert_eq!(candidates("requests | project-aw"), ["project-away"]);
        assert_eq!(candidates("requests | where nam"), ["name"]);
        assert_eq!(candidates("requests | where DURA"), ["duration"]);
        assert_eq!(
            candidates("requests\n| extend twice = 2 * duration\n| where tw"),
            ["twice"]
        );
        assert_eq!(candidates("let t = 1; traces | where mess"), ["message"]);
        assert_eq!(
            candidates("requests | join (exceptions | where prob"),
            ["problemId"]
        );
        assert_eq!(candidates("requests | where name in (nam"), ["name"]);
        assert_eq!(
            candidates("requests | summarize percentiles_array_t"),
            ["percentiles_array_tdigest"]
        );
        assert_eq!(candidates("requests | join (exce"), ["exceptions"]);
        assert_eq!(candidates("requests | render timec"), ["timechart"]);
        assert_eq!(candidates("let x = requ"), ["requests"]);
    }

    #[test]
    fn strings_and_comments_are_not_completed() {
        assert!(candidates("requests | where name == 'na").is_empty());
        assert!(candidates("requests // na").is_empty());
        assert_eq!(
            candidates("requests | where name == 'it\\'s' and nam"),
            ["name"]
        );
        assert_eq!(
            candidates("requests | where url == @'c:\\' and nam"),
            ["name"]
        );
    }

    #[test]
    fn without_an_answer_the_columns_are_those_of_the_named_tables() {
        assert_eq!(candidates("traces | where severityL"), ["severityLevel"]);
    }
}
