//! `parse_csv`.

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["parse_csv(csv_text: string) -> dynamic"],
    "The fields of the first record of comma-separated text.",
    ResultName::FirstArgument,
    &[example(
        "print d = parse_csv('a,\"b,\"\"c\"\"\",')",
        "d:dynamic\n[\"a\",\"b,\\\"c\\\"\",\"\"]",
    )],
    |args| {
        let text = args.texts(0)?;
        let mut encoder = encoder();
        Ok(args.collect_dynamics(|row, out| {
            encoder.begin_array();
            fields(text.get(row))
                .iter()
                .for_each(|field| encoder.string(field));
            encoder.end();
            encoder.finish_into(out);
            true
        }))
    },
);

fn fields(text: &str) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.next_if_eq(&'"').is_some() => field.push('"'),
            '"' if quoted => quoted = false,
            '"' if field.is_empty() => quoted = true,
            ',' if !quoted => fields.push(std::mem::take(&mut field)),
            '\r' | '\n' if !quoted => break,
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn reads_the_first_record() {
        let check = |text: &str, expected: &[&str]| assert_eq!(fields(text), expected, "{text}");
        check("a,b", &["a", "b"]);
        check("a\nb,c", &["a"]);
        check(r#""x ""y""",z"#, &[r#"x "y""#, "z"]);
        check("\"a\nb\",c", &["a\nb", "c"]);
        check("", &[""]);
    }
}
