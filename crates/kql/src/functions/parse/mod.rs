use super::prelude::*;
pub(crate) static LIST: &[&ScalarFunction] = &[];
