//! Tests of the names of result columns, and of name resolution.

use crate::testing::{answer, check};

/// The names of the result columns of an operator over `a:long, d:dynamic, s:string`.
#[track_caller]
fn names(stage: &str, expected: &str) {
    let query = format!("datatable(a:long, d:dynamic, s:string)[1, dynamic({{}}), 'x'] | {stage}");
    let answer = answer(&query);
    let header = answer.lines().next().unwrap_or_default();
    let names: Vec<&str> = header
        .split(", ")
        .filter_map(|c| c.split(':').next())
        .collect();
    assert_eq!(names.join(", "), expected, "{query}\n{answer}");
}

#[test]
fn expressions_name_their_columns() {
    names("project a, a + 1, s", "a, Column1, s");
    names(
        "project (a), d.x, d['y'], d.z[0], d.z[-1]",
        "a, d_x, d_y, d_z_0, d_z__1",
    );
    names(
        "project tostring(a), strlen(s), tolower(s)",
        "a, strlen_s, Column1",
    );
    names("project abs(a), sqrt(a), a1 = 0", "a, a2, a1");
    names("project a + 1, Column1 = 2", "Column1, Column11");
    names("extend tostring(a)", "a, d, s");
    names(
        "summarize count(), sum(a), round(avg(a), 1) by s",
        "s, count_, sum_a, avg_a",
    );
    names("summarize sum(a) + 1 by k = s", "k, Column1");
}

#[test]
fn explicit_duplicate_names_are_refused() {
    for stage in [
        "project a, a",
        "project y = a, y = s",
        "extend abs(a), sqrt(a)",
        "summarize x = count() by x = s",
    ] {
        check(
            &format!("datatable(a:long, s:string)[1, 'x'] | {stage}"),
            "error SEM0034",
        );
    }
}

#[test]
fn print_numbers_columns_by_position() {
    check(
        "print x = 1, 2, y = 3",
        "x:long, print_1:long, y:long\n1 | 2 | 3",
    );
}

#[test]
fn a_column_hides_a_let() {
    check(
        "let w = 5; datatable(w:long)[7] | project k = w",
        "k:long\n7",
    );
    check(
        "let w = 5; datatable(v:long)[7] | project k = w + v",
        "k:long\n12",
    );
}

#[test]
fn an_operator_reads_only_its_input() {
    check("print x = 1 | extend a = x + 1, b = a", "error SEM0100");
    check(
        "print x = 1 | extend x = x + 1, b = x",
        "x:long, b:long\n2 | 1",
    );
}

#[test]
fn unresolved_names_are_reported_with_their_operator() {
    assert_eq!(
        answer("requests | where absent == 1"),
        "error SEM0100: 'where' operator: Failed to resolve column or scalar expression named 'absent'"
    );
    check("nowhere | take 1", "error SEM0100");
    check("print nothing(1)", "error SEM0260");
    check("print strlen()", "error SEM0219");
    check("print count()", "error SEM0237");
}

#[test]
fn aggregates_stand_alone() {
    check("datatable(a:long)[1] | summarize a", "error SEM");
    check(
        "datatable(a:long)[1] | summarize sum(max(a))",
        "error SEM0237",
    );
    check("datatable(a:long)[1] | summarize 1 + 2", "error SEM0237");
}
