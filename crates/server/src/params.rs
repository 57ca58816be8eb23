//! The parameters of a URL's query part.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use crate::error::ApiError;

/// Name and value of each parameter in order, decoded. Bytes that are not UTF-8 become replacement characters.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = (Cow<'_, str>, String)> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value).into_owned())
        })
}

fn decode(text: &str) -> Cow<'_, str> {
    if text.contains('+') {
        let spaced = text.replace('+', " ");
        return Cow::Owned(percent_decode_str(&spaced).decode_utf8_lossy().into_owned());
    }
    percent_decode_str(text).decode_utf8_lossy()
}

/// A request's parameters by name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Reads the query part of a URL.
    pub(crate) fn parse(query: Option<&str>) -> Params {
        Params(
            pairs(query.unwrap_or_default())
                .map(|(name, value)| (name.into_owned(), value))
                .collect(),
        )
    }

    /// The one value of a parameter. Given twice it is refused: which of the two was meant is not ours to guess.
    pub(crate) fn one(&self, name: &str) -> Result<Option<String>, ApiError> {
        let mut values = self
            .0
            .iter()
            .filter(|(given, _)| given == name)
            .map(|(_, value)| value);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(ApiError::bad(format!(
                "The parameter '{name}' was given more than once"
            ))),
            (Some(value), None) if !value.is_empty() => Ok(Some(value.clone())),
            _ => Ok(None),
        }
    }

    /// Refuses options of OData, which start with `$`, other than these: one that changed nothing would be a wrong answer.
    pub(crate) fn only_options(&self, known: &[&str]) -> Result<(), ApiError> {
        let mut options = self.0.iter().map(|(name, _)| name.as_str());
        match options.find(|name| name.starts_with('$') && !known.contains(name)) {
            None => Ok(()),
            Some(name) => Err(ApiError::Bad {
                message: format!(
                    "The option '{name}' is not supported here. Those that are: {}.",
                    known.join(", ")
                ),
                target: Some(name.to_owned()),
                position: None,
            }),
        }
    }

    /// Every value of a parameter, each split at its commas.
    pub(crate) fn list(&self, name: &str) -> Vec<String> {
        let values = self.0.iter().filter(|(given, _)| given == name);
        values
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_decoded_once() {
        let params = Params::parse(Some("a=1%2B1&b=x+y&c=%2525&e&$top=5"));
        let check = |name: &str, expected: Option<&str>| {
            assert_eq!(params.one(name).unwrap().as_deref(), expected, "{name}")
        };
        check("a", Some("1+1"));
        check("b", Some("x y"));
        check("c", Some("%25"));
        check("d", None);
        check("e", None);
        check("$top", Some("5"));
    }

    #[test]
    fn options_that_would_change_nothing_are_refused() {
        let params = Params::parse(Some("$top=5&timespan=PT1H&$expand=x"));
        let error = params.only_options(&["$top"]).unwrap_err().to_string();
        assert!(error.contains("'$expand' is not supported"), "{error}");
        assert!(params.only_options(&["$top", "$expand"]).is_ok());
    }

    #[test]
    fn lists_come_with_commas_or_repeated() {
        let params = Params::parse(Some("aggregation=avg,%20max&aggregation=min&x="));
        assert_eq!(params.list("aggregation"), ["avg", "max", "min"]);
        assert!(params.list("x").is_empty());
        assert!(params.one("aggregation").is_err());
    }
}
