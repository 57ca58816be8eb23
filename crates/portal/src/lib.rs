//! The files of the portal, embedded into the program.
//!
//! The folder `ui` holds what browsers get: modules, styles, icons, pages and third-party bundles. The build script compresses each
//! file and embeds it. The files lie at an address that contains the hash of all of them ([`base`]), so that browsers may keep
//! them for ever; pages name that address. `portal.folder` serves the same files from a folder instead ([`Folder`]).

mod fill;
mod modules;

use std::borrow::Cow;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// A file as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its media type, with the character set of texts.
    pub media: &'static str,
    /// Its bytes.
    pub bytes: Cow<'static, [u8]>,
    /// Whether the bytes are compressed with gzip.
    pub compressed: bool,
}

/// The address below which the embedded files lie, such as `/portal/-/0123456789abcdef`. It changes if a file does.
pub fn base() -> String {
    format!("/portal/-/{HASH}")
}

/// The embedded file at a path such as `lib/api.js`, compressed, or plain if the client cannot decompress.
pub fn file(path: &str, accepts_gzip: bool) -> Option<File> {
    let index = FILES.binary_search_by(|file| file.0.cmp(path)).ok()?;
    let (path, bytes) = FILES.get(index)?;
    let bytes = if accepts_gzip {
        Cow::Borrowed(*bytes)
    } else {
        Cow::Owned(decompressed(bytes)?)
    };
    Some(File {
        media: media(path)?,
        bytes,
        compressed: accepts_gzip,
    })
}

/// The paths of all embedded files with their compressed sizes in bytes, sorted.
pub fn files() -> impl Iterator<Item = (&'static str, usize)> {
    FILES.iter().map(|(path, bytes)| (*path, bytes.len()))
}

/// An embedded page, such as `index.html`. It also names the modules of the screen that it shows first, such as `overview`: an unknown
/// screen has none.
pub fn page(name: &str, screen: &str) -> Option<String> {
    let (_, template, own) = PAGES.iter().find(|(known, ..)| *known == name)?;
    let module = fill::screen(screen);
    let of_screen = SCREENS
        .iter()
        .find(|(path, _)| Some(*path) == module.as_deref())
        .map_or(&[][..], |(_, modules)| modules);
    let others = of_screen.iter().filter(|path| !own.contains(path));
    Some(fill::page(
        template,
        &base(),
        own.iter().copied(),
        others.copied(),
    ))
}

/// The hash of all embedded files and pages.
pub const fn hash() -> &'static str {
    HASH
}

/// Files that are read from a folder each time, for who develops them.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// The files of this folder.
    pub fn new(path: &Path) -> Folder {
        Folder(path.to_owned())
    }

    /// The address below which the files lie.
    pub const fn base() -> &'static str {
        "/portal/-/folder"
    }

    /// The file at a path, plain. `None` for one that is not there, is of another type than the portal has, or lies elsewhere.
    pub fn file(&self, path: &str) -> Option<File> {
        let media = media(path)?;
        let bytes = self.read(path)?;
        Some(File {
            media,
            bytes: Cow::Owned(bytes),
            compressed: false,
        })
    }

    /// A page, as [`page`] returns embedded ones.
    pub fn page(&self, name: &str, screen: &str) -> Option<String> {
        let template = self.text(name)?;
        let read = |path: &str| self.text(path);
        let own = modules::closure(&modules::entries(&template), &read);
        let module = fill::screen(screen).filter(|path| read(path).is_some());
        let of_screen = module.map(|path| modules::closure(&[&path], &read));
        let others = of_screen
            .iter()
            .flatten()
            .filter(|path| !own.contains(path));
        Some(fill::page(
            &template,
            Folder::base(),
            own.iter().map(String::as_str),
            others.map(String::as_str),
        ))
    }

    fn text(&self, path: &str) -> Option<String> {
        String::from_utf8(self.read(path)?).ok()
    }

    /// A file's bytes; those of a bundle that lies compressed in the folder are decompressed.
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let relative = Path::new(path);
        let plain = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !plain {
            return None;
        }
        let whole = self.0.join(relative);
        std::fs::read(&whole)
            .ok()
            .or_else(|| decompressed(&std::fs::read(format!("{}.gz", whole.display())).ok()?))
    }
}

fn decompressed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(bytes);
    decoder.read_to_end(&mut plain).ok()?;
    Some(plain)
}

/// The media type of a file by the end of its name; `None` for what the portal does not serve.
fn media(path: &str) -> Option<&'static str> {
    let (_, end) = path.rsplit_once('.')?;
    match end {
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "txt" => Some("text/plain; charset=utf-8"),
        "workbook" => Some("application/json"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_files_are_found_sorted_and_decompress() {
        assert!(FILES.is_sorted_by(|a, b| a.0 < b.0));
        let compressed = file("main.js", true).unwrap();
        assert!(compressed.compressed && compressed.media.starts_with("text/javascript"));
        let plain = file("main.js", false).unwrap();
        assert_eq!(
            decompressed(&compressed.bytes).unwrap(),
            plain.bytes.as_ref()
        );
        assert!(
            String::from_utf8(plain.bytes.into_owned())
                .unwrap()
                .contains("import")
        );
        for missing in ["", "main", "../Cargo.toml", "index.html", "lib"] {
            assert_eq!(file(missing, true), None, "{missing}");
        }
    }

    #[test]
    fn the_page_names_the_files_by_their_hash_and_what_is_loaded_at_once() {
        let page = page("index.html", "overview").unwrap();
        let base = base();
        assert!(page.contains(&format!("src=\"{base}/main.js\"")), "{page}");
        assert!(page.contains(&format!("modulepreload\" href=\"{base}/lib/api.js\">")));
        let of_screen =
            format!("modulepreload\" href=\"{base}/screens/overview.js\" fetchpriority=\"low\">");
        assert!(page.contains(&of_screen), "{page}");
        assert!(!page.contains("{base}"));
        let place = |module: &str| page.find(&format!("href=\"{base}/{module}\""));
        assert!(
            place("lib/auth.js") < place("main.js"),
            "signing in comes first"
        );
        for line in page.lines().filter(|line| line.contains(&base)) {
            let (_, rest) = line.split_once(&format!("{base}/")).unwrap();
            let path = rest.split('"').next().unwrap();
            assert!(file(path, true).is_some(), "{line}");
        }
    }

    #[test]
    fn a_folder_serves_its_own_files_alone() {
        let ui = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
        let folder = Folder::new(&ui);
        assert_eq!(
            folder.file("main.js").unwrap().bytes,
            file("main.js", false).unwrap().bytes
        );
        for screen in ["overview", "logs", "", "nothing", "../main", "list"] {
            let embedded = page("index.html", screen).unwrap();
            let expected = embedded.replace(&base(), Folder::base());
            assert_eq!(folder.page("index.html", screen).unwrap(), expected);
        }
        for missing in [
            "../Cargo.toml",
            "/etc/passwd",
            "lib",
            "lib/../../Cargo.toml",
            "none.js",
            "index.html",
        ] {
            assert_eq!(folder.file(missing), None, "{missing}");
        }
    }

    #[test]
    fn imports_are_those_that_are_loaded_at_once() {
        let text = "import { a } from './a.js';\nimport {\n  b,\n} from '../b.js';\nexport { c } from './c.js';\nimport './d.js';\n\
                    /** @typedef {import('./e.js').E} E */\nconst f = () => import('./f.js');\n";
        let read = |path: &str| match path {
            "x/main.js" => Some(text.to_owned()),
            "x/a.js" => Some("import { m } from './main.js';".to_owned()),
            "b.js" | "x/c.js" | "x/d.js" | "x/e.js" | "x/f.js" => Some(String::new()),
            _ => None,
        };
        let found = modules::closure(&["x/main.js"], &read);
        assert_eq!(found, ["x/main.js", "x/a.js", "b.js", "x/c.js", "x/d.js"]);
        let found = modules::closure(&["x/c.js", "x/main.js", "b.js"], &read);
        assert_eq!(found, ["x/c.js", "x/main.js", "x/a.js", "b.js", "x/d.js"]);
    }
}
