//! `parse_path`.

use hindsight_kql_types::BagBuilder;

use crate::functions::prelude::*;

pub(crate) static DEF: ScalarFunction = function(
    &["parse_path(path: string) -> dynamic"],
    "The parts of a file path of Windows or Unix.",
    ResultName::None,
    &[example(
        "print s = tostring(parse_path(@'C:\\temp\\file.txt').DirectoryPath)",
        "s:string\nC:\\temp",
    )],
    |args| {
        let text = args.strings(0)?;
        let mut bag = BagBuilder::new();
        Ok(args.collect_dynamics(|row, out| {
            for (key, value) in parts(text.get(row)) {
                bag.string(key, value);
            }
            bag.finish_into(out);
            true
        }))
    },
);

const SEPARATORS: [char; 2] = ['/', '\\'];

fn parts(text: &str) -> [(&'static str, &str); 7] {
    let (scheme, path) = text.split_once("://").unwrap_or(("", text));
    let root = root(path);
    // A colon after the root starts the name of an alternate data stream.
    let after_root = path.get(root.len()..).unwrap_or("");
    let (path, stream) = match after_root.find(':') {
        Some(colon) => {
            let at = root.len() + colon;
            (
                path.get(..at).unwrap_or(path),
                path.get(at + 1..).unwrap_or(""),
            )
        }
        None => (path, ""),
    };
    let (directory, file) = match path.rfind(SEPARATORS) {
        Some(at) => (
            path.get(..at).unwrap_or(""),
            path.get(at + 1..).unwrap_or(""),
        ),
        None => ("", path),
    };
    let name = directory.rsplit(SEPARATORS).next().unwrap_or("");
    let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
    [
        ("Scheme", scheme),
        ("RootPath", root),
        ("DirectoryPath", directory),
        ("DirectoryName", name),
        ("Filename", file),
        ("Extension", extension),
        ("AlternateDataStreamName", stream),
    ]
}

/// A drive letter with its separator.
fn root(path: &str) -> &str {
    match path.as_bytes() {
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => {
            path.get(..3).unwrap_or("")
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn splits_windows_and_unix_paths() {
        let check = |path: &str, expected: [&str; 7]| {
            assert_eq!(parts(path).map(|(_, v)| v), expected, "{path}")
        };
        check(
            r"D:\a\b.txt",
            ["", r"D:\", r"D:\a", "a", "b.txt", "txt", ""],
        );
        check(
            "file://D:/a/b.txt:s.exe",
            ["file", "D:/", "D:/a", "a", "b.txt", "txt", "s.exe"],
        );
        check(
            "/usr/lib/x.tar.gz",
            ["", "", "/usr/lib", "lib", "x.tar.gz", "gz", ""],
        );
        check("x", ["", "", "", "", "x", "", ""]);
    }
}
