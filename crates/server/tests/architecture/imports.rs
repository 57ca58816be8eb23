//! Which file of a crate imports which.
//!
//! The sources are read as tokens: no compiler is needed, and no file is left out because of a feature or a platform. What
//! is compiled for tests only is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::tokens::{Token, after, tokens, without_tests};

/// The path of a module in its crate: `[]` is `lib.rs` or `main.rs`, `["exec", "pool"]` is `exec/pool.rs`.
type Module = Vec<String>;

/// A path as the source has it: `crate::exec::Limits` is `["crate", "exec", "Limits"]`.
type Written = Vec<String>;

/// Names that lead to names, at most: `use x::x` of another crate never ends.
const LONGEST_CHAIN: usize = 16;

/// One source file.
#[derive(Debug, Default)]
struct File {
    /// What it defines itself.
    defines: BTreeSet<String>,
    /// Names that its `use` declarations bring into scope, and what they stand for.
    names: BTreeMap<String, Written>,
    /// The paths before `::*`.
    globs: Vec<Written>,
    /// Paths that it uses, re-exports excepted.
    uses: Vec<Written>,
}

/// The files of a crate with their imports.
#[derive(Debug, Default)]
pub(crate) struct Imports {
    files: BTreeMap<Module, File>,
}

impl Imports {
    /// Reads every source file of a crate.
    pub(crate) fn of_crate(source: &Path) -> Imports {
        let mut texts = BTreeMap::new();
        read_folder(source, &mut Vec::new(), &mut texts);
        Imports::of(texts)
    }

    /// Reads these texts of modules.
    fn of(texts: BTreeMap<Module, String>) -> Imports {
        let (mut files, mut test_modules) = (BTreeMap::new(), Vec::new());
        for (module, text) in texts {
            let (tokens, test_children) = without_tests(tokens(&text));
            test_modules.extend(
                test_children
                    .into_iter()
                    .map(|child| joined(&module, &child)),
            );
            files.insert(module, tokens);
        }
        files.retain(|module, _| !test_modules.iter().any(|test| module.starts_with(test)));
        let read = |(module, tokens): (Module, Vec<Token>)| (module, File::read(&tokens));
        Imports {
            files: files.into_iter().map(read).collect(),
        }
    }

    /// How many files there are.
    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The edges between files that import each other in a circle, as `from -> to (path)`; none where there is no circle.
    pub(crate) fn circles(&self) -> Vec<String> {
        let mut edges: BTreeMap<&Module, BTreeMap<Module, &Written>> = BTreeMap::new();
        for (module, file) in &self.files {
            for path in &file.uses {
                if let Some(target) = self.resolve(module, path, &mut Vec::new())
                    && target != *module
                {
                    edges.entry(module).or_default().insert(target, path);
                }
            }
        }
        let reaches = |from: &Module, to: &Module| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
            while let Some(module) = next.pop() {
                for target in edges.get(module).into_iter().flat_map(BTreeMap::keys) {
                    if target == to {
                        return true;
                    }
                    if seen.insert(target) {
                        next.push(target);
                    }
                }
            }
            false
        };
        let mut circles = Vec::new();
        for (from, targets) in &edges {
            for (to, path) in targets {
                if reaches(to, from) {
                    circles.push(format!(
                        "{} -> {} ({})",
                        shown(from),
                        shown(to),
                        path.join("::")
                    ));
                }
            }
        }
        circles
    }

    /// The uses of other crates' items whose paths begin with one of `prefixes`, such as `std::env`, as file and path.
    pub(crate) fn external(&self, prefixes: &[&str]) -> BTreeSet<(String, String)> {
        let mut found = BTreeSet::new();
        for (module, file) in &self.files {
            for path in &file.uses {
                let named = path.first().and_then(|first| file.names.get(first));
                let whole = match named {
                    Some(named) => [named.as_slice(), &path[1..]].concat(),
                    None => path.clone(),
                };
                let whole = whole.join("::");
                let below = |prefix: &&str| {
                    whole
                        .strip_prefix(prefix)
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
                };
                if prefixes.iter().any(below) {
                    found.insert((shown(module), whole));
                }
            }
        }
        found
    }

    /// The file that defines what a path in `module` names. Re-exports are followed to the definition. `None` for what
    /// other crates define.
    fn resolve(
        &self,
        module: &Module,
        path: &[String],
        seen: &mut Vec<(Module, Written)>,
    ) -> Option<Module> {
        let here = (module.clone(), path.to_vec());
        if path.is_empty() || seen.contains(&here) || seen.len() > LONGEST_CHAIN {
            return None;
        }
        seen.push(here);
        let (mut base, mut rest) = (module.clone(), path);
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            first if self.files.contains_key(&joined(module, first)) => {}
            first => {
                let alias = self.files.get(module)?.names.get(first)?;
                let whole = [alias.as_slice(), &path[1..]].concat();
                return self.resolve(module, &whole, seen);
            }
        }
        while let Some(first) = rest.first() {
            let child = joined(&base, first);
            if !self.files.contains_key(&child) {
                break;
            }
            (base, rest) = (child, &rest[1..]);
        }
        let file = self.files.get(&base)?;
        let Some(name) = rest.first() else {
            return Some(base);
        };
        if file.defines.contains(name) {
            return Some(base);
        }
        if let Some(alias) = file.names.get(name) {
            let whole = [alias.as_slice(), &rest[1..]].concat();
            return self.resolve(&base, &whole, seen);
        }
        for glob in &file.globs {
            let whole = [glob.as_slice(), rest].concat();
            if let Some(found) = self.resolve(&base, &whole, seen)
                && self.files[&found].defines.contains(name)
            {
                return Some(found);
            }
        }
        Some(base)
    }
}

impl File {
    fn read(tokens: &[Token]) -> File {
        let mut file = File::default();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            let before = at.checked_sub(1).and_then(|before| tokens.get(before));
            let word = token.as_word().unwrap_or_default();
            match word {
                "pub" if tokens.get(at + 1) == Some(&Token::Mark('(')) => {
                    at = after(tokens, at + 1, '(', ')');
                    if tokens.get(at).and_then(Token::as_word) == Some("use") {
                        at = file.declaration(tokens, at, true);
                    }
                    continue;
                }
                "use" if tokens.get(at + 1) != Some(&Token::Mark('<')) => {
                    let public = before.and_then(Token::as_word) == Some("pub");
                    at = file.declaration(tokens, at, public);
                    continue;
                }
                "fn" | "struct" | "enum" | "trait" | "const" | "static" | "type" | "union" => {
                    let name = tokens.get(at + 1).and_then(Token::as_word);
                    file.defines.extend(name.map(str::to_owned));
                }
                "macro_rules" => {
                    let name = tokens.get(at + 2).and_then(Token::as_word);
                    file.defines.extend(name.map(str::to_owned));
                }
                _ if !word.is_empty() && before != Some(&Token::Path) => {
                    let (path, end) = path_at(tokens, at);
                    if path.len() > 1 {
                        file.uses.push(path);
                    }
                    at = end;
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        file
    }

    /// Reads the `use` declaration at `at`; returns where it ends. A re-export (`pub use`) is no use by this file.
    fn declaration(&mut self, tokens: &[Token], at: usize, public: bool) -> usize {
        let length = tokens[at..]
            .iter()
            .position(|token| *token == Token::Mark(';'))
            .unwrap_or(tokens.len() - at);
        let mut paths = Vec::new();
        use_tree(&tokens[at + 1..at + length], &[], &mut paths);
        for (mut path, name) in paths {
            if path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            if path.last().is_some_and(|last| last == "*") {
                path.pop();
                self.globs.push(path.clone());
            } else if let Some(name) = name.or_else(|| path.last().cloned()) {
                self.names.insert(name, path.clone());
            }
            if !public {
                self.uses.push(path);
            }
        }
        at + length + 1
    }
}

/// The paths of a use tree with the names that `as` gives them.
fn use_tree(tokens: &[Token], prefix: &[String], paths: &mut Vec<(Written, Option<String>)>) {
    for part in split(tokens) {
        let (mut path, mut name) = (prefix.to_vec(), None);
        for (at, token) in part.iter().enumerate() {
            match token {
                Token::Word(word) if word == "as" => {
                    name = part.get(at + 1).and_then(Token::as_word).map(str::to_owned);
                    break;
                }
                Token::Word(word) => path.push(word.clone()),
                Token::Mark('*') => path.push("*".to_owned()),
                Token::Mark('{') => {
                    let end = after(part, at, '{', '}') - 1;
                    use_tree(&part[at + 1..end], &path, paths);
                    path.clear();
                    break;
                }
                _ => {}
            }
        }
        if path.len() > prefix.len() {
            paths.push((path, name));
        }
    }
}

/// The parts between the commas that are in no braces.
fn split(tokens: &[Token]) -> Vec<&[Token]> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => depth -= 1,
            Token::Mark(',') if depth == 0 => {
                parts.push(&tokens[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tokens[start..]);
    parts
}

/// The path that begins at `at`, and where it ends.
fn path_at(tokens: &[Token], at: usize) -> (Written, usize) {
    let (mut path, mut at) = (Vec::new(), at);
    while let Some(Token::Word(word)) = tokens.get(at) {
        path.push(word.clone());
        at += 1;
        match (tokens.get(at), tokens.get(at + 1)) {
            (Some(Token::Path), Some(Token::Word(_))) => at += 1,
            _ => break,
        }
    }
    (path, at)
}

fn read_folder(folder: &Path, module: &mut Module, texts: &mut BTreeMap<Module, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .expect("a name");
        if path.is_dir() {
            module.push(stem.to_owned());
            read_folder(&path, module, texts);
            module.pop();
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let own = matches!(stem, "mod" | "lib" | "main");
            let name = if own {
                module.clone()
            } else {
                joined(module, stem)
            };
            let text = std::fs::read_to_string(&path).expect("a source");
            texts.insert(name, text);
        }
    }
}

fn joined(module: &[String], child: &str) -> Module {
    let mut whole = module.to_vec();
    whole.push(child.to_owned());
    whole
}

fn shown(module: &Module) -> String {
    if module.is_empty() {
        return "the crate's root".to_owned();
    }
    module.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles(sources: &[(&str, &str)]) -> Vec<String> {
        let texts = sources.iter().map(|(module, text)| {
            let parts = module.split('/').filter(|part| !part.is_empty());
            (parts.map(str::to_owned).collect(), (*text).to_owned())
        });
        Imports::of(texts.collect()).circles()
    }

    #[test]
    fn a_circle_is_found_in_declarations_and_in_paths() {
        let found = circles(&[
            ("", "mod a; mod b; mod c;"),
            ("a", "use crate::b::{self, B as Other}; pub struct A;"),
            ("b", "pub struct B; fn f() { super::c::g() }"),
            ("c", "pub fn g() -> crate::a::A { todo!() }"),
        ]);
        let expected = [
            "a -> b (crate::b::B)",
            "b -> c (super::c::g)",
            "c -> a (crate::a::A)",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn parents_re_export_children_that_use_each_other() {
        let sources = [
            ("", "mod a;"),
            ("a", "mod b; mod c; pub use b::B; pub use c::*;"),
            ("a/b", "use super::C; pub struct B(C);"),
            ("a/c", "pub struct C;"),
        ];
        assert_eq!(circles(&sources), [""; 0]);
        let mut both = sources;
        both[3].1 = "use super::B; pub struct C(Option<Box<B>>);";
        assert_eq!(circles(&both).len(), 2);
    }

    #[test]
    fn a_parent_that_uses_its_child_is_no_source_of_the_child() {
        let child = ("a/b", "use super::A; pub struct B(A);");
        let parent = |text| [("", "mod a;"), ("a", text), child];
        assert_eq!(
            circles(&parent("mod b; pub use b::B; pub struct A;")),
            [""; 0]
        );
        let used = circles(&parent("mod b; use b::B; pub struct A; fn f(b: B) {}"));
        assert_eq!(used, ["a -> a/b (b::B)", "a/b -> a (super::A)"]);
    }

    #[test]
    fn uses_of_other_crates_are_found_under_every_name() {
        let text = "use std::time::{Duration, Instant as Moment}; use std::env; \
            fn f() -> Duration { Moment::now(); env::var(\"X\"); uuid::Uuid::new_v4() }";
        let texts = BTreeMap::from([(Vec::new(), text.to_owned())]);
        let found =
            Imports::of(texts).external(&["std::time::Instant", "std::env", "uuid::Uuid::new_v4"]);
        let paths: Vec<&str> = found.iter().map(|(_, path)| path.as_str()).collect();
        let expected = [
            "std::env",
            "std::env::var",
            "std::time::Instant",
            "std::time::Instant::now",
            "uuid::Uuid::new_v4",
        ];
        assert_eq!(paths, expected);
    }

    #[test]
    fn tests_comments_and_texts_do_not_count() {
        let found = circles(&[
            ("", "mod a; mod b;"),
            (
                "a",
                "// use crate::b::B;\nconst T: &str = \"crate::b::B\"; #[cfg(test)] mod tests { use crate::b::B; }",
            ),
            ("b", "use crate::a::T; pub struct B;"),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
