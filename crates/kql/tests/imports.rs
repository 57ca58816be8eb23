//! Files of this crate import one another in one direction: no cycle of imports.
//!
//! The test reads the paths that begin with `crate`, `super` or `self`, in `use` declarations and inside expressions, and
//! resolves each to the file that defines the item; a re-export (`pub use`) is looked through. Tests are left out, as is
//! the way from a module to the children that it declares.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The library of functions and aggregates, whose own files are not looked at one by one.
const LIBRARY: [&str; 2] = ["aggregates", "functions"];

/// A path of modules below the crate's root; the root is empty.
type Module = Vec<String>;

/// What one file says of others.
#[derive(Default)]
struct Source {
    /// Names that the file re-exports, each with its path.
    exports: Vec<(String, Vec<String>)>,
    /// Names that the file imports for itself, each with its path; `*` for a glob.
    imports: Vec<(String, Vec<String>)>,
    /// Every path of several segments, as it is written.
    paths: Vec<Vec<String>>,
}

#[test]
fn files_import_one_another_in_one_direction() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = BTreeMap::new();
    collect(&root, &mut Vec::new(), &mut files);
    assert!(files.len() > 100, "too few files were found");
    let graph = edges(&files);
    let in_library = |module: &Module| {
        module
            .first()
            .is_some_and(|m| LIBRARY.contains(&m.as_str()))
    };
    let mut cycles = cycles(&graph);
    cycles.retain(|cycle| !cycle.iter().all(in_library));
    let shown: Vec<String> = cycles.iter().map(|c| describe(c, &graph)).collect();
    assert!(cycles.is_empty(), "{}", shown.join("\n\n"));
}

#[test]
fn a_cycle_is_found_through_re_exports_and_inline_paths() {
    let file = |text: &str| parse(text);
    let files = BTreeMap::from([
        (vec![], file("mod a; mod b;")),
        (
            vec!["a".to_owned()],
            file("mod part; pub(crate) use part::Item; mod unrelated;"),
        ),
        (
            vec!["a".to_owned(), "part".to_owned()],
            file("pub struct Item; fn f() { crate::b::run::<u8>() }"),
        ),
        (
            vec!["a".to_owned(), "unrelated".to_owned()],
            file(
                "// use crate::b;\n const S: &str = \"crate::b\"; #[cfg(test)] mod tests { use crate::b; }",
            ),
        ),
        (vec!["b".to_owned()], file("use crate::{a::{Item}, b};")),
    ]);
    let cycles = cycles(&edges(&files));
    let expected = vec![vec![
        vec!["a".to_owned(), "part".to_owned()],
        vec!["b".to_owned()],
    ]];
    assert_eq!(cycles, expected);
}

/// The files below `folder`, which holds `module`, but for tests.
fn collect(folder: &Path, module: &mut Module, files: &mut BTreeMap<Module, Source>) {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is readable")
        .map(|entry| entry.expect("the entry is readable").path())
        .collect();
    entries.sort();
    for path in entries {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if matches!(name.as_ref(), "tests" | "testing") {
            continue;
        }
        if path.is_dir() {
            module.push(name.into_owned());
            collect(&path, module, files);
            module.pop();
            continue;
        }
        let text = fs::read_to_string(&path).expect("the file is readable");
        let mut own = module.clone();
        if !matches!(name.as_ref(), "mod" | "lib") {
            own.push(name.into_owned());
        }
        files.insert(own, parse(&text));
    }
}

/// The words of a text: identifiers and `::`, `{`, `}`, `,`, `;`, `(`, `)`, `[`, `]`, `#`, `*`, without comments and
/// literals.
fn words(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let mut words = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match at(i) {
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            'r' if at(i + 1) == '"' || (at(i + 1) == '#' && matches!(at(i + 2), '"' | '#')) => {
                let mut hashes = 0;
                i += 1;
                while at(i) == '#' {
                    (hashes, i) = (hashes + 1, i + 1);
                }
                i += 1;
                let closes = |i: usize| at(i) == '"' && (1..=hashes).all(|n| at(i + n) == '#');
                while i < chars.len() && !closes(i) {
                    i += 1;
                }
                i += 1 + hashes;
            }
            '"' => {
                i += 1;
                while i < chars.len() && at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
            }
            // A character literal, not a lifetime.
            '\'' if at(i + 1) == '\\' || at(i + 2) == '\'' => {
                i += if at(i + 1) == '\\' { 3 } else { 2 };
                while i < chars.len() && at(i) != '\'' {
                    i += 1;
                }
                i += 1;
            }
            c if c.is_alphanumeric() || c == '_' => {
                let start = i;
                while at(i).is_alphanumeric() || at(i) == '_' {
                    i += 1;
                }
                words.push(chars[start..i].iter().collect());
            }
            ':' if at(i + 1) == ':' => {
                words.push("::".to_owned());
                i += 2;
            }
            c => {
                if "{},;()[]#*<>".contains(c) {
                    words.push(c.to_string());
                }
                i += 1;
            }
        }
    }
    words
}

fn parse(text: &str) -> Source {
    let words = words(text);
    let word = |i: usize| words.get(i).map_or("", String::as_str);
    let mut source = Source::default();
    let mut i = 0;
    while i < words.len() {
        if (word(i), word(i + 1), word(i + 2), word(i + 4)) == ("#", "[", "cfg", "test") {
            i = behind_item(&words, i + 7);
            continue;
        }
        if word(i) == "use" {
            let exported = i > 0 && matches!(word(i - 1), "pub" | ")");
            let end = (i..words.len()).find(|e| word(*e) == ";").unwrap_or(i);
            let mut found = Vec::new();
            tree(&words[i + 1..end], &mut 0, &mut Vec::new(), &mut found);
            match exported {
                true => source.exports.extend(found),
                false => source.imports.extend(found),
            }
            i = end;
        } else if word(i + 1) == "::" && (i == 0 || word(i - 1) != "::") {
            let mut path = vec![word(i).to_owned()];
            while word(i + 1) == "::"
                && word(i + 2).starts_with(|c: char| c.is_alphabetic() || c == '_')
            {
                path.push(word(i + 2).to_owned());
                i += 2;
            }
            source.paths.push(path);
        }
        i += 1;
    }
    source
}

/// The place behind the item that begins at `start`: its closing brace, or its semicolon.
fn behind_item(words: &[String], start: usize) -> usize {
    let mut depth = 0;
    for (i, word) in words.iter().enumerate().skip(start) {
        match word.as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return i + 1,
            "}" => depth -= 1,
            ";" if depth == 0 => return i + 1,
            _ => {}
        }
    }
    words.len()
}

/// Reads a tree of imports: `a::{b, c as d, e::*}`.
fn tree(
    words: &[String],
    at: &mut usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<(String, Vec<String>)>,
) {
    let depth = prefix.len();
    while *at < words.len() {
        let word = words[*at].as_str();
        *at += 1;
        match word {
            "::" => {}
            "{" => {
                tree(words, at, prefix, found);
                prefix.truncate(depth);
                skip_to_comma(words, at);
                continue;
            }
            "}" => return,
            "," => prefix.truncate(depth),
            name => {
                prefix.push(name.to_owned());
                if words.get(*at).is_some_and(|w| w == "as") {
                    let alias = words.get(*at + 1).cloned().unwrap_or_default();
                    found.push((alias, prefix.clone()));
                    *at += 2;
                } else if words.get(*at).is_none_or(|w| w != "::") {
                    let path = prefix.clone();
                    let (last, before) = path.split_last().expect("a segment");
                    match last.as_str() {
                        "self" => found
                            .push((before.last().cloned().unwrap_or_default(), before.to_vec())),
                        _ => found.push((last.clone(), path.clone())),
                    }
                }
            }
        }
        if words.get(*at).is_some_and(|w| w == ",") {
            *at += 1;
            prefix.truncate(depth);
        }
    }
}

fn skip_to_comma(words: &[String], at: &mut usize) {
    if words.get(*at).is_some_and(|w| w == ",") {
        *at += 1;
    }
}

type Graph = BTreeMap<Module, BTreeSet<Module>>;

fn edges(files: &BTreeMap<Module, Source>) -> Graph {
    let mut graph = Graph::new();
    for (module, source) in files {
        let mut targets = BTreeSet::new();
        for (_, path) in &source.imports {
            targets.extend(resolve(files, module, path));
        }
        for path in &source.paths {
            let imported = source.imports.iter().find(|(name, _)| *name == path[0]);
            let path = match imported {
                Some((_, full)) => [full.as_slice(), &path[1..]].concat(),
                None => path.clone(),
            };
            targets.extend(resolve(files, module, &path));
        }
        targets.remove(module);
        graph.insert(module.clone(), targets);
    }
    graph
}

/// The files that define what a path in `module` names; none where it is of another crate.
fn resolve(files: &BTreeMap<Module, Source>, module: &Module, path: &[String]) -> Vec<Module> {
    let mut base: Module = match path.first().map(String::as_str) {
        Some("crate") => Vec::new(),
        Some("self") => module.clone(),
        Some("super") => module[..module.len().saturating_sub(1)].to_vec(),
        Some(child) => {
            let own = [module.as_slice(), &[child.to_owned()]].concat();
            match files.contains_key(&own) {
                true => return follow(files, module.clone(), path, 0),
                false => return Vec::new(),
            }
        }
        None => return Vec::new(),
    };
    let mut rest = &path[1..];
    while rest.first().is_some_and(|word| word == "super") {
        base.pop();
        rest = &rest[1..];
    }
    follow(files, base, rest, 0)
}

fn follow(
    files: &BTreeMap<Module, Source>,
    mut base: Module,
    mut rest: &[String],
    depth: usize,
) -> Vec<Module> {
    assert!(depth < 20, "re-exports in a circle: {base:?} {rest:?}");
    while let Some(next) = rest.first() {
        let child = [base.as_slice(), std::slice::from_ref(next)].concat();
        if !files.contains_key(&child) {
            break;
        }
        (base, rest) = (child, &rest[1..]);
    }
    let (Some(source), Some(name)) = (files.get(&base), rest.first()) else {
        return vec![base];
    };
    let behind = |path: &[String]| -> Vec<Module> {
        let child = [base.as_slice(), &path[..1]].concat();
        let rooted = matches!(path[0].as_str(), "crate" | "self" | "super");
        match rooted || files.contains_key(&child) {
            true => resolve_at(files, &base, path, depth + 1),
            false => Vec::new(),
        }
    };
    if name == "*" {
        let all = source.exports.iter().flat_map(|(_, path)| behind(path));
        return all.chain([base.clone()]).collect();
    }
    let exported = source.exports.iter().find(|(exported, _)| exported == name);
    match exported {
        Some((_, path)) => {
            let full = [path.as_slice(), &rest[1..]].concat();
            behind(&full)
        }
        None => vec![base],
    }
}

fn resolve_at(
    files: &BTreeMap<Module, Source>,
    base: &Module,
    path: &[String],
    depth: usize,
) -> Vec<Module> {
    match path[0].as_str() {
        "crate" => follow(files, Vec::new(), &path[1..], depth),
        "self" => follow(files, base.clone(), &path[1..], depth),
        "super" => follow(
            files,
            base[..base.len().saturating_sub(1)].to_vec(),
            &path[1..],
            depth,
        ),
        _ => follow(files, base.clone(), path, depth),
    }
}

/// The sets of files that reach one another, each sorted.
fn cycles(graph: &Graph) -> Vec<Vec<Module>> {
    let reachable: BTreeMap<&Module, BTreeSet<&Module>> = graph
        .keys()
        .map(|from| (from, reach(graph, from)))
        .collect();
    let mut cycles: BTreeSet<Vec<Module>> = BTreeSet::new();
    for (from, targets) in &reachable {
        if !targets.contains(from) {
            continue;
        }
        let together = targets
            .iter()
            .filter(|t| reachable.get(**t).is_some_and(|r| r.contains(from)));
        cycles.insert(together.map(|m| (*m).clone()).collect());
    }
    cycles.into_iter().collect()
}

fn reach<'g>(graph: &'g Graph, from: &'g Module) -> BTreeSet<&'g Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = graph.get(from).into_iter().flatten().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    seen
}

fn describe(cycle: &[Module], graph: &Graph) -> String {
    let mut text = format!("{} files import one another:", cycle.len());
    for module in cycle {
        let inside: Vec<String> = graph[module]
            .iter()
            .filter(|target| cycle.contains(target))
            .map(|target| target.join("::"))
            .collect();
        text.push_str(&format!(
            "\n  {} → {}",
            module.join("::"),
            inside.join(", ")
        ));
    }
    text
}
