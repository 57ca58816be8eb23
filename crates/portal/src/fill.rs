//! Pages as browsers get them: the places in a page that are filled in.

use super::modules::SCREENS;

/// The place in a page where its modules are named.
const MODULES: &str = "<!-- modules -->";
/// The place in a page where the address of the files stands.
const BASE: &str = "{base}";

/// A page with the address of its files, and with the modules that the browser loads at once: those of the page itself, and those of
/// the screen that it shows first, which come after them.
pub(crate) fn page<'m>(
    template: &str,
    base: &str,
    own: impl Iterator<Item = &'m str>,
    of_screen: impl Iterator<Item = &'m str>,
) -> String {
    let link = |path: &str, priority: &str| {
        format!("<link rel=\"modulepreload\" href=\"{base}/{path}\"{priority}>")
    };
    // A browser has few connections to a server: the requests of signing in go before the modules of the screen.
    let links: Vec<String> = own
        .map(|path| link(path, ""))
        .chain(of_screen.map(|path| link(path, " fetchpriority=\"low\"")))
        .collect();
    template
        .replace(MODULES, &links.join("\n"))
        .replace(BASE, base)
}

/// The module of a screen: that of `overview` is `screens/overview.js`. `None` for what is no name of a screen.
pub(crate) fn screen(name: &str) -> Option<String> {
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    is_name.then(|| format!("{SCREENS}{name}.js"))
}
