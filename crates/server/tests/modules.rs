//! Modules import each other in one direction: among the modules of one folder there is no cycle.
//!
//! The paths of a file that begin with `crate` or `super` are its imports; names that a module exports again count as
//! those of the module that has them. What a module shares with its own children is not counted, nor are tests.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The crates whose modules have no cycle at any level.
const WITHOUT_CYCLES: &[&str] = &["identity", "kql-library"];

/// A module's path inside its crate; the crate's root is empty.
type Module = Vec<String>;

#[test]
fn no_module_imports_what_imports_it() {
    for name in WITHOUT_CYCLES {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let sources = sources(&crates.join(name).join("src"));
        assert!(sources.len() > 1, "{name} has no modules");
        let cycles = cycles(&sources);
        assert!(cycles.is_empty(), "{name}:\n{}", cycles.join("\n"));
    }
}

#[test]
fn a_cycle_is_found() {
    let found = |files: &[(&str, &str)]| {
        let sources = files.iter().map(|(module, text)| {
            let module = module.split("::").filter(|part| !part.is_empty());
            (module.map(str::to_owned).collect(), without_tests(text))
        });
        cycles(&sources.collect())
    };
    let direct = [("a", "use crate::b::B;"), ("b", "fn f() { super::a::g() }")];
    assert_eq!(found(&direct), ["a, b"]);
    let listed = [
        ("a", "use crate::{c, b::{B, D}};"),
        ("b", "use super::a;"),
        ("c", ""),
    ];
    assert_eq!(found(&listed), ["a, b"]);
    let inner = [
        ("a", ""),
        ("a::x", "use super::y::Y;"),
        ("a::y", "use crate::a::x::X;"),
    ];
    assert_eq!(found(&inner), ["a: x, y"]);
    let exported = [
        ("", "pub use b::B;"),
        ("a", "use crate::B;"),
        ("b", "use crate::a;"),
    ];
    assert_eq!(found(&exported), ["a, b"]);
    let tested = [
        ("a", "use crate::b; // crate::c"),
        ("b", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n"),
        ("c", "const TEXT: &str = \"crate::a\";"),
    ];
    assert_eq!(found(&tested), [""; 0]);
}

/// The texts of a crate's modules, without comments, literals and tests.
fn sources(folder: &Path) -> BTreeMap<Module, String> {
    let mut all = BTreeMap::new();
    let mut open = vec![(folder.to_owned(), Module::new())];
    while let Some((folder, module)) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder can be read") {
            let path = entry.expect("its entries can be read").path();
            let name = path
                .file_stem()
                .and_then(|name| name.to_str())
                .expect("a name");
            let mut inner = module.clone();
            if !matches!(name, "lib" | "main" | "mod") {
                inner.push(name.to_owned());
            }
            if path.is_dir() {
                open.push((path, inner));
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).expect("the file is text");
                all.insert(inner, text);
            }
        }
    }
    let tests: Vec<Module> = all
        .iter()
        .flat_map(|(module, text)| test_files(module, text))
        .collect();
    all.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
    all.values_mut()
        .for_each(|text| *text = without_tests(text));
    all
}

/// The modules that `text` declares for tests alone: `#[cfg(test)] mod tests;`.
fn test_files(module: &Module, text: &str) -> Vec<Module> {
    let declared = text.split("#[cfg(test)]\nmod ").skip(1);
    let names = declared.filter_map(|rest| rest.split_once(';').map(|(name, _)| name));
    let modules = names.filter(|name| !name.contains('{')).map(|name| {
        let mut module = module.clone();
        module.push(name.trim().to_owned());
        module
    });
    modules.collect()
}

/// The code of a file: without its tests, which are at its end, without comments and without what is quoted.
fn without_tests(text: &str) -> String {
    let tests = text.match_indices("#[cfg(test)]\nmod ").find(|(at, _)| {
        text[*at..]
            .lines()
            .nth(1)
            .is_some_and(|line| line.ends_with('{'))
    });
    let text = tests.map_or(text, |(at, _)| &text[..at]);
    let mut code = String::new();
    for line in text.lines() {
        let mut quoted = line.split('"').step_by(2).collect::<Vec<_>>().join(" ");
        if let Some(comment) = quoted.find("//") {
            quoted.truncate(comment);
        }
        code.push_str(&quoted);
        code.push('\n');
    }
    code
}

/// The groups of modules of one folder that import each other.
fn cycles(sources: &BTreeMap<Module, String>) -> Vec<String> {
    let exports: BTreeMap<&Module, BTreeMap<String, Module>> = sources
        .iter()
        .map(|(module, text)| (module, exports(module, text, sources)))
        .collect();
    // For each folder, which of its modules imports which.
    let mut edges: BTreeMap<&[String], BTreeSet<(&str, String)>> = BTreeMap::new();
    for (module, text) in sources {
        for path in paths(module, text) {
            let target = resolve(&path, sources, &exports);
            let common = module
                .iter()
                .zip(&target)
                .take_while(|(a, b)| a == b)
                .count();
            if let (Some(from), Some(to)) = (module.get(common), target.get(common)) {
                edges
                    .entry(&module[..common])
                    .or_default()
                    .insert((from, to.clone()));
            }
        }
    }
    edges
        .iter()
        .flat_map(|(folder, edges)| circles(folder, edges))
        .collect()
}

fn circles(folder: &[String], edges: &BTreeSet<(&str, String)>) -> Vec<String> {
    let reached = |from: &str| {
        let mut seen = BTreeSet::new();
        let mut open = vec![from.to_owned()];
        while let Some(module) = open.pop() {
            for (_, to) in edges.iter().filter(|(from, _)| *from == module) {
                if seen.insert(to.clone()) {
                    open.push(to.clone());
                }
            }
        }
        seen
    };
    let all: BTreeMap<&str, BTreeSet<String>> = edges
        .iter()
        .map(|(from, _)| (*from, reached(from)))
        .collect();
    let mut groups = BTreeSet::new();
    for (module, reaches) in all
        .iter()
        .filter(|(module, reaches)| reaches.contains(**module))
    {
        let back = reaches.iter().filter(|other| {
            all.get(other.as_str())
                .is_some_and(|reaches| reaches.contains(*module))
        });
        let group: Vec<&str> = back.map(String::as_str).collect();
        let place = if folder.is_empty() {
            String::new()
        } else {
            format!("{}: ", folder.join("::"))
        };
        groups.insert(format!("{place}{}", group.join(", ")));
    }
    groups.into_iter().collect()
}

/// The words and marks of a text that paths are made of.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            c if c.is_alphanumeric() || c == '_' => rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            c => c.len_utf8(),
        };
        let (token, tail) = rest.split_at(length);
        if !first.is_whitespace() {
            tokens.push(token);
        }
        rest = tail;
    }
    tokens
}

/// The absolute paths that `module` names by `crate` or `super`.
fn paths(module: &Module, text: &str) -> Vec<Module> {
    let tokens = tokens(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let begins = at == 0 || tokens[at - 1] != "::";
        if begins && matches!(*token, "crate" | "super") && tokens.get(at + 1) == Some(&"::") {
            tree(&tokens[at..], module, &mut found);
        }
    }
    found
}

/// Reads one path, or several in braces, from the beginning of `tokens`; `at` is where relative ones begin. Gives how many
/// tokens it has read.
fn tree(tokens: &[&str], at: &[String], found: &mut Vec<Module>) -> usize {
    let mut path = at.to_vec();
    let mut read = 0;
    loop {
        match tokens.get(read) {
            Some(&"crate") => path.clear(),
            Some(&"super") => {
                path.pop();
            }
            Some(&"self") => {}
            Some(&"{") => {
                read += 1;
                while tokens.get(read).is_some_and(|token| *token != "}") {
                    read += match tokens[read] {
                        "," => 1,
                        _ => tree(&tokens[read..], &path, found).max(1),
                    };
                }
                return read + 1;
            }
            Some(name) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                path.push((*name).to_owned());
            }
            _ => {
                found.push(path);
                return read;
            }
        }
        read += 1;
        if tokens.get(read) != Some(&"::") {
            found.push(path);
            // Another name for it, which is not followed.
            return if tokens.get(read) == Some(&"as") {
                read + 2
            } else {
                read
            };
        }
        read += 1;
    }
}

/// The names that a module exports of others, with where they are.
fn exports(
    module: &Module,
    text: &str,
    sources: &BTreeMap<Module, String>,
) -> BTreeMap<String, Module> {
    let tokens = tokens(text);
    let mut exports = BTreeMap::new();
    for (at, _) in tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| **token == "use")
    {
        let public = tokens[at.saturating_sub(4)..at].contains(&"pub");
        if !public {
            continue;
        }
        let mut found = Vec::new();
        tree(&tokens[at + 1..], module, &mut found);
        for path in found {
            // A path that begins with the name of no module is another crate's.
            let known =
                (module.len() + 1..=path.len()).any(|length| sources.contains_key(&path[..length]));
            let from_root = matches!(tokens.get(at + 1), Some(&"crate" | &"super"));
            if let (true, Some(name)) = (known || from_root, path.last()) {
                exports.insert(name.clone(), path.clone());
            }
        }
    }
    exports
}

/// The module that has what a path names.
fn resolve(
    path: &[String],
    sources: &BTreeMap<Module, String>,
    exports: &BTreeMap<&Module, BTreeMap<String, Module>>,
) -> Module {
    let mut path = path.to_vec();
    // A name may be exported several times on its way.
    for _ in 0..8 {
        let length = (0..=path.len())
            .rev()
            .find(|length| sources.contains_key(&path[..*length]));
        let module = path[..length.unwrap_or(0)].to_vec();
        let name = path.get(module.len());
        let exported = name.and_then(|name| exports.get(&module)?.get(name));
        match exported {
            Some(target) if *target != path => path = target.clone(),
            _ => return module,
        }
    }
    Module::new()
}
