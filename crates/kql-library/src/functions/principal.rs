//! The principal that sends a query. The binder knows it and evaluates the calls (`docs/semantics.md §12`).

use crate::functions::prelude::*;

pub(crate) static LIST: &[&ScalarFunction] = &[&NAME, &DETAILS, &IS_MEMBER];

static NAME: ScalarFunction = ScalarFunction {
    signatures: &["current_principal() -> string"],
    aliases: &[],
    summary: "The fully qualified name of the principal that sends the query.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print name = current_principal()",
        "name:string\n<null identity>",
    )],
    eval: Eval::Binder,
};

static DETAILS: ScalarFunction = ScalarFunction {
    signatures: &["current_principal_details() -> dynamic"],
    aliases: &[],
    summary: "A bag of what is known of the principal that sends the query.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print d = current_principal_details()",
        "d:dynamic\nnull",
    )],
    eval: Eval::Binder,
};

static IS_MEMBER: ScalarFunction = ScalarFunction {
    signatures: &["current_principal_is_member_of(name: const string|dynamic...) -> bool"],
    aliases: &[],
    summary: "Whether one of the names, such as `aaduser=…` or `aadapp=…`, is that of the principal that sends the query.",
    result_name: ResultName::None,
    volatile: false,
    examples: &[example(
        "print b = current_principal_is_member_of('aaduser=ada@shop.example')",
        "b:bool\nfalse",
    )],
    eval: Eval::Binder,
};
