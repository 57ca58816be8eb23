//! The parameters of a request to the issuer.

use super::error::OAuthError;

/// Parameters by name. A parameter without a value counts as absent (RFC 6749 §3.1).
#[derive(Clone, Default)]
pub struct Form(Vec<(String, String)>);

impl std::fmt::Debug for Form {
    /// Names only: the values are secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|(name, _)| name))
            .finish()
    }
}

impl Form {
    /// Reads parameters in the form of a URL's query part.
    pub fn parse(text: &[u8]) -> Form {
        Form(
            url::form_urlencoded::parse(text)
                .map(|(name, value)| (name.into_owned(), value.into_owned()))
                .collect(),
        )
    }

    /// The one value of a parameter.
    ///
    /// # Errors
    /// `invalid_request` where it is given twice (RFC 6749 §3.1, §3.2).
    pub fn get(&self, name: &str) -> Result<Option<&str>, OAuthError> {
        let mut values = self.0.iter().filter(|(given, _)| given == name);
        match (values.next(), values.next()) {
            (_, Some(_)) => Err(OAuthError::invalid_request(format!(
                "The parameter '{name}' is duplicated."
            ))),
            (Some((_, value)), None) if !value.is_empty() => Ok(Some(value)),
            _ => Ok(None),
        }
    }

    /// The one value of a parameter that must be there.
    pub fn need(&self, name: &str) -> Result<&str, OAuthError> {
        self.get(name)?.ok_or_else(|| OAuthError::missing(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_given_once() {
        let form = Form::parse(b"a=1+2%26&b=&c=x&c=y");
        assert_eq!(form.get("a"), Ok(Some("1 2&")));
        assert_eq!(form.get("b"), Ok(None));
        assert_eq!(form.need("d").unwrap_err().error, "invalid_request");
        assert!(form.get("c").unwrap_err().message.contains("'c'"));
        assert_eq!(format!("{form:?}"), r#"["a", "b", "c", "c"]"#);
    }
}
