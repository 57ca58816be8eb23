//! What pages and modules say of other files: the modules that pages begin with, and the static imports of modules.
//! The build script and the library share this file.

/// The folder of the screens' modules.
pub(crate) const SCREENS: &str = "screens/";

/// Modules and all that they import statically, by path below the folder: what a browser has to load before the modules run.
///
/// `read` returns the text of a file. A file that it does not have is left out.
pub(crate) fn closure(entries: &[&str], read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = Vec::new();
    for entry in entries {
        add_closure(entry, &mut found, read);
    }
    found
}

/// Appends a module and what it imports, as far as `found` lacks them.
fn add_closure(entry: &str, found: &mut Vec<String>, read: &dyn Fn(&str) -> Option<String>) {
    let mut next = found.len();
    if !found.iter().any(|path| path == entry) {
        found.push(entry.to_owned());
    }
    while let Some(path) = found.get(next).cloned() {
        next += 1;
        let Some(text) = read(&path) else {
            continue;
        };
        for target in imports(&text) {
            let target = resolved(&path, target);
            if !found.contains(&target) && read(&target).is_some() {
                found.push(target);
            }
        }
    }
}

/// The relative paths of static imports. A declaration ends in `from './path';`, on a line that begins it or with its brace.
fn imports(text: &str) -> impl Iterator<Item = &str> {
    let declares = |line: &&str| {
        ["import ", "export ", "}"]
            .iter()
            .any(|word| line.starts_with(word))
    };
    text.lines().filter(declares).filter_map(|line| {
        let (_, rest) = line
            .rsplit_once(" from '")
            .or_else(|| line.split_once("import '"))?;
        let (path, _) = rest.split_once('\'')?;
        path.starts_with('.').then_some(path)
    })
}

/// A path relative to a module, below the folder.
fn resolved(module: &str, path: &str) -> String {
    let mut parts: Vec<&str> = module.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// The modules that a page begins with, in their order: `{base}/main.js` in the page is `main.js`.
pub(crate) fn entries(template: &str) -> Vec<&str> {
    let scripts = template.split("<script type=\"module\"").skip(1);
    scripts
        .filter_map(|script| {
            let (_, rest) = script.split_once("src=\"{base}/")?;
            rest.split_once('"').map(|(path, _)| path)
        })
        .collect()
}
