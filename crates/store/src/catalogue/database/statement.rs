//! Statements with their values.

/// A value of a statement. `None` is null.
#[derive(Debug, Clone)]
pub(in crate::catalogue) enum Value {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

/// One statement in the SQL that SQLite and PostgreSQL share. Its values are `$1`, `$2`, … in order.
#[derive(Debug, Clone)]
pub(in crate::catalogue) struct Statement {
    pub(super) text: &'static str,
    pub(super) values: Vec<Value>,
}

/// A statement without values yet.
pub(in crate::catalogue) fn sql(text: &'static str) -> Statement {
    Statement {
        text,
        values: Vec::new(),
    }
}

impl Statement {
    /// Adds the next value.
    pub(in crate::catalogue) fn bind(mut self, value: impl Into<Value>) -> Statement {
        self.values.push(value.into());
        self
    }
}

/// Values of a type, with and without null, owned and borrowed.
macro_rules! values {
    ($($variant:ident: $($type:ty => $convert:expr),*;)*) => {
        $($(
            impl From<$type> for Value {
                fn from(value: $type) -> Value {
                    Value::$variant(Some($convert(value)))
                }
            }
            impl From<Option<$type>> for Value {
                fn from(value: Option<$type>) -> Value {
                    Value::$variant(value.map($convert))
                }
            }
        )*)*
    };
}

values! {
    Integer: i64 => i64::from, u32 => i64::from, bool => i64::from;
    Text: String => String::from, &str => str::to_owned, &String => String::clone;
    Bytes: Vec<u8> => Vec::from, &[u8] => <[u8]>::to_vec, &Vec<u8> => Vec::clone;
}

impl From<&i64> for Value {
    fn from(value: &i64) -> Value {
        Value::from(*value)
    }
}

impl From<&Option<String>> for Value {
    fn from(value: &Option<String>) -> Value {
        Value::Text(value.clone())
    }
}
