//! Management commands: those that show something. All others are refused by name.

use crate::error::ApiError;

/// The databases that a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Databases {
    /// All that the principal may read.
    All,
    /// The database of the request.
    Current,
    /// These.
    Named(Vec<String>),
}

/// The form of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaForm {
    /// A row for each column.
    Rows,
    /// `as json`
    Json,
    /// `as csl`, `as csl script`, `cslschema`
    Csl,
}

/// A management command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Command {
    Version,
    Cluster,
    Functions,
    ExternalTables,
    MaterializedViews,
    Databases(Databases),
    Schema(Databases, SchemaForm),
    /// The tables of these names, or all.
    Tables(Option<Vec<String>>),
    TableDetails(Option<Vec<String>>),
    /// `Rows` does not occur.
    TableSchema(String, SchemaForm),
}

/// What is supported, for messages.
const SUPPORTED: &str = "supported are .show version, cluster, databases, database, schema, tables, table, functions, external tables and materialized-views";

/// Whether a text is a management command: it begins with a full stop, after comments.
pub(super) fn is_command(text: &str) -> bool {
    without_comments(text).starts_with('.')
}

/// The text from the first character on that is neither white space nor in a comment.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(comment) = rest.strip_prefix("//") {
        rest = comment
            .split_once('\n')
            .map_or("", |(_, rest)| rest.trim_start());
    }
    rest
}

impl Command {
    /// Reads a command.
    ///
    /// # Errors
    /// [`ApiError::Bad`] for a command that is not supported.
    pub(super) fn parse(text: &str) -> Result<Command, ApiError> {
        let tokens = tokens(without_comments(text));
        let mut reader = Reader {
            tokens: &tokens,
            text,
        };
        let command = reader.command()?;
        if !reader.tokens.is_empty() {
            return Err(reader.unsupported());
        }
        Ok(command)
    }
}

/// A part of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A word, which is a keyword or a name.
    Word(String),
    /// A name in quotes or brackets.
    Quoted(String),
    Symbol(char),
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = without_comments(text);
    while let Some(first) = rest.chars().next() {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
        let (token, after) = if is_part(first) {
            let (word, after) = rest.split_at(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
            (Token::Word(word.to_owned()), after)
        } else if let Some((name, after)) = quoted(rest) {
            (Token::Quoted(name), after)
        } else {
            let after = rest.strip_prefix(first).unwrap_or_default();
            (Token::Symbol(first), after)
        };
        tokens.push(token);
        rest = without_comments(after);
    }
    tokens
}

/// A name in quotes, which may stand in brackets, and the text after it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let in_brackets = text.strip_prefix('[').map(str::trim_start);
    let inner = in_brackets.unwrap_or(text);
    let quote = inner.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (name, after) = inner.strip_prefix(quote)?.split_once(quote)?;
    let after = match in_brackets {
        Some(_) => after.trim_start().strip_prefix(']')?,
        None => after,
    };
    Some((name.to_owned(), after))
}

/// Reads tokens from the front.
struct Reader<'t> {
    tokens: &'t [Token],
    text: &'t str,
}

impl Reader<'_> {
    fn unsupported(&self) -> ApiError {
        let text: String = self.text.trim().chars().take(100).collect();
        ApiError::bad(format!(
            "The management command '{text}' is not supported; {SUPPORTED}"
        ))
    }

    /// Takes a keyword, if it comes next.
    fn word(&mut self, word: &str) -> bool {
        self.take(|token| matches!(token, Token::Word(found) if found.eq_ignore_ascii_case(word)))
    }

    /// Takes a symbol, if it comes next.
    fn symbol(&mut self, symbol: char) -> bool {
        self.take(|token| *token == Token::Symbol(symbol))
    }

    fn take(&mut self, is_it: impl Fn(&Token) -> bool) -> bool {
        match self.tokens.split_first() {
            Some((first, rest)) if is_it(first) => {
                self.tokens = rest;
                true
            }
            _ => false,
        }
    }

    fn name(&mut self) -> Result<String, ApiError> {
        match self.tokens.split_first() {
            Some((Token::Word(name) | Token::Quoted(name), rest)) => {
                self.tokens = rest;
                Ok(name.clone())
            }
            _ => Err(self.unsupported()),
        }
    }

    /// `(name, …)`, if it comes next.
    fn names(&mut self) -> Result<Option<Vec<String>>, ApiError> {
        if !self.symbol('(') {
            return Ok(None);
        }
        let mut names = vec![self.name()?];
        while self.symbol(',') {
            names.push(self.name()?);
        }
        if self.symbol(')') {
            Ok(Some(names))
        } else {
            Err(self.unsupported())
        }
    }

    fn command(&mut self) -> Result<Command, ApiError> {
        if !(self.symbol('.') && self.word("show")) {
            return Err(self.unsupported());
        }
        if self.word("version") {
            Ok(Command::Version)
        } else if self.word("cluster") {
            Ok(Command::Cluster)
        } else if self.word("functions") {
            Ok(Command::Functions)
        } else if self.word("materialized-views") {
            Ok(Command::MaterializedViews)
        } else if self.word("external") && self.word("tables") {
            Ok(Command::ExternalTables)
        } else if self.word("schema") {
            Ok(Command::Schema(Databases::All, self.form()?))
        } else if self.word("databases") {
            let names = self.names()?;
            self.databases(names.map_or(Databases::All, Databases::Named))
        } else if self.word("database") {
            self.database()
        } else if self.word("tables") {
            let names = self.names()?;
            Ok(self.tables(names))
        } else if self.word("table") {
            self.table()
        } else {
            Err(self.unsupported())
        }
    }

    /// The rest of `.show databases` or `.show database`.
    fn databases(&mut self, databases: Databases) -> Result<Command, ApiError> {
        if self.word("schema") {
            return Ok(Command::Schema(databases, self.form()?));
        }
        Ok(Command::Databases(databases))
    }

    fn database(&mut self) -> Result<Command, ApiError> {
        let is_keyword = |token: &Token| matches!(token, Token::Word(word) if word.eq_ignore_ascii_case("schema"));
        // `.show database schema` is about the request's database, `.show database schema schema` about one of this name.
        let databases = match self.tokens {
            [] => Databases::Current,
            [first, rest @ ..] if is_keyword(first) && !rest.first().is_some_and(is_keyword) => {
                Databases::Current
            }
            _ => Databases::Named(vec![self.name()?]),
        };
        self.databases(databases)
    }

    /// `[details] [as json | as csl [script]]`
    fn form(&mut self) -> Result<SchemaForm, ApiError> {
        self.word("details");
        if !self.word("as") {
            return Ok(SchemaForm::Rows);
        }
        if self.word("json") {
            return Ok(SchemaForm::Json);
        }
        if self.word("csl") {
            self.word("script");
            return Ok(SchemaForm::Csl);
        }
        Err(self.unsupported())
    }

    fn tables(&mut self, names: Option<Vec<String>>) -> Command {
        if self.word("details") {
            Command::TableDetails(names)
        } else {
            Command::Tables(names)
        }
    }

    fn table(&mut self) -> Result<Command, ApiError> {
        let name = self.name()?;
        if self.word("cslschema") {
            return Ok(Command::TableSchema(name, SchemaForm::Csl));
        }
        if self.word("schema") {
            return match self.form()? {
                SchemaForm::Rows => Err(self.unsupported()),
                form => Ok(Command::TableSchema(name, form)),
            };
        }
        Ok(self.tables(Some(vec![name])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_show_something_are_read() {
        let check = |text: &str, expected: Command| {
            assert_eq!(Command::parse(text).unwrap(), expected, "{text}");
        };
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        check(".show version", Command::Version);
        check("// who\n .SHOW  Cluster // x", Command::Cluster);
        check(".show databases", Command::Databases(Databases::All));
        check(
            ".show databases (a, ['b c']) schema as json",
            Command::Schema(Databases::Named(names(&["a", "b c"])), SchemaForm::Json),
        );
        check(
            ".show databases schema",
            Command::Schema(Databases::All, SchemaForm::Rows),
        );
        check(".show database", Command::Databases(Databases::Current));
        check(
            ".show database schema as json",
            Command::Schema(Databases::Current, SchemaForm::Json),
        );
        check(
            ".show database [\"my shop\"] schema as csl script",
            Command::Schema(Databases::Named(names(&["my shop"])), SchemaForm::Csl),
        );
        check(
            ".show schema as json",
            Command::Schema(Databases::All, SchemaForm::Json),
        );
        check(".show tables", Command::Tables(None));
        check(
            ".show table requests details",
            Command::TableDetails(Some(names(&["requests"]))),
        );
        check(
            ".show table requests cslschema",
            Command::TableSchema("requests".to_owned(), SchemaForm::Csl),
        );
        check(
            ".show table ['requests'] schema as json",
            Command::TableSchema("requests".to_owned(), SchemaForm::Json),
        );
    }

    #[test]
    fn other_commands_are_refused_by_name() {
        for text in [
            ".create table t (a:long)",
            ".drop table requests",
            ".show queries",
            ".show tables | take 1",
            ".show table requests schema",
            ".show databases (a",
            ".show table",
            ".",
            ".show",
        ] {
            let refused = Command::parse(text).unwrap_err().to_string();
            assert!(refused.contains(text), "{text}: {refused}");
        }
    }
}
