//! What pages and modules say of other files: the static imports of modules, and the places in pages that are filled in.
//! The build script and the library share this file.

/// The place in a page where its modules are named.
const MODULES: &str = "<!-- modules -->";
/// The place in a page where the address of the files stands.
const BASE: &str = "{base}";

/// A module and all that it imports statically, by path below the folder: what a browser has to load before the module runs.
///
/// `read` returns the text of a file. A file that it does not have is left out.
pub(crate) fn closure(entry: &str, read: &dyn Fn(&str) -> Option<String>) -> Vec<String> {
    let mut found = vec![entry.to_owned()];
    let mut next = 0;
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
    found
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

/// A page with the address of its files, and with the modules that the browser loads at once.
pub(crate) fn page(template: &str, base: &str, modules: &[String]) -> String {
    let links: Vec<String> = modules
        .iter()
        .map(|path| format!("<link rel=\"modulepreload\" href=\"{base}/{path}\">"))
        .collect();
    template
        .replace(MODULES, &links.join("\n"))
        .replace(BASE, base)
}

/// The module that a page begins with: `{base}/main.js` in the page is `main.js`.
pub(crate) fn entry(template: &str) -> Option<&str> {
    let (_, rest) = template.split_once("<script type=\"module\" src=\"{base}/")?;
    rest.split_once('"').map(|(path, _)| path)
}
