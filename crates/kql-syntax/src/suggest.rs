//! Hints at the name that an unknown name was probably meant to be: `Did you mean 'where'?`.

/// The longest name, in characters, that is compared. It bounds the time that a hint takes.
const MAX_LENGTH: usize = 64;

/// The largest edit distance between an unknown name and the name that is suggested for it.
const MAX_DISTANCE: usize = 2;

/// The shortest name, in characters, that is suggested for being a prefix, or for having the unknown name as its prefix.
const MIN_PREFIX: usize = 3;

/// The hint at some names: `Did you mean 'a' or 'b'?`.
pub fn hint(names: &[&str]) -> String {
    format!("Did you mean '{}'?", names.join("' or '"))
}

/// The message about an unknown name, followed by a [`hint`] at the closest candidate if there is one.
pub fn with_hint<'c>(
    message: String,
    unknown: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> String {
    match closest(unknown, candidates) {
        Some(name) => format!("{}. {}", message.trim_end_matches('.'), hint(&[name])),
        None => message,
    }
}

/// The candidate closest to an unknown name, in any case.
///
/// A candidate is close if its edit distance from the name is at most 2 and at most a third of the name's length, or if one
/// of the two is a prefix of the other. `None` if no candidate is close.
pub fn closest<'c>(
    unknown: &str,
    candidates: impl IntoIterator<Item = &'c str>,
) -> Option<&'c str> {
    let lower = unknown.to_lowercase();
    let length = lower.chars().count();
    candidates
        .into_iter()
        .filter(|candidate| *candidate != unknown)
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let distance = edit_distance(&lower, &other)?;
            let misspelt = distance <= MAX_DISTANCE.min(length / 3);
            let shorter = length.min(other.chars().count());
            let prefix =
                shorter >= MIN_PREFIX && (other.starts_with(&lower) || lower.starts_with(&other));
            // Misspelt names precede prefixes; the name breaks ties, so that the order of the candidates does not matter.
            (misspelt || prefix).then_some((!misspelt, distance, candidate))
        })
        .min()
        .map(|(.., candidate)| candidate)
}

/// The number of letters to insert, delete, replace or swap with their neighbour. `None` if a name is too long to compare.
pub fn edit_distance(a: &str, b: &str) -> Option<usize> {
    let short = |name: &str| name.len() <= MAX_LENGTH || name.chars().count() <= MAX_LENGTH;
    (short(a) && short(b)).then(|| strsim::osa_distance(a, b))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 6] = [
        "timestamp",
        "name",
        "duration",
        "success",
        "customDimensions",
        "id",
    ];

    #[test]
    fn close_names_are_suggested() {
        for (unknown, expected) in [
            ("timestmap", Some("timestamp")),
            ("Timestamp", Some("timestamp")),
            ("nme", Some("name")),
            ("dur", Some("duration")),
            ("timestampUtc", Some("timestamp")),
            ("customdimension", Some("customDimensions")),
            ("sucess", Some("success")),
            ("tamestimp", Some("timestamp")),
            // Too far, too short, or nothing alike.
            ("nam3s", None),
            ("ix", None),
            ("i", None),
            ("tamestimb", None),
            ("resultCode", None),
            ("", None),
        ] {
            assert_eq!(closest(unknown, COLUMNS), expected, "{unknown}");
        }
    }

    #[test]
    fn a_misspelt_name_takes_precedence_over_a_prefix() {
        assert_eq!(closest("counts", ["countif", "count"]), Some("count"));
        assert_eq!(
            closest("proj", ["project-away", "project"]),
            Some("project")
        );
        assert_eq!(closest("naem", ["naemlich", "name"]), Some("name"));
    }

    #[test]
    fn the_name_itself_and_long_names_are_not_suggested() {
        assert_eq!(closest("count", ["count"]), None);
        let long = "x".repeat(MAX_LENGTH + 1);
        assert_eq!(closest(&long, ["xxx"]), None);
    }

    #[test]
    fn hints_end_the_message() {
        let message = || "Unknown function: 'strlne'.".to_owned();
        assert_eq!(
            with_hint(message(), "strlne", ["strlen", "strcat"]),
            "Unknown function: 'strlne'. Did you mean 'strlen'?"
        );
        assert_eq!(with_hint(message(), "strlne", ["iff"]), message());
        assert_eq!(hint(&["a", "b"]), "Did you mean 'a' or 'b'?");
    }
}
