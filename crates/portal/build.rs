//! Compresses the files of the folder `ui`, and writes the tables that the library includes.

#![allow(
    clippy::expect_used,
    reason = "a build script fails by panicking, with the reason"
)]

#[path = "src/modules.rs"]
mod modules;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;

/// Ends of the names of files that browsers get.
const SERVED: [&str; 5] = [".js", ".css", ".svg", ".txt", ".workbook"];
/// Folders of `ui` that browsers get nothing of: what makes and tests the others.
const LEFT_OUT: [&str; 3] = ["node_modules", "build", "tests"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ui");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/modules.rs");
    let mut found = BTreeMap::new();
    collect(&root, "", &mut found);
    let plain = |path: &str| {
        found
            .get(path)
            .map(|file| String::from_utf8_lossy(&file.plain).into_owned())
    };
    let pages: Vec<(String, String)> = found
        .keys()
        .filter(|path| path.ends_with(".html"))
        .filter_map(|path| Some((path.clone(), plain(path)?)))
        .collect();
    let hash = hash(&found);
    let mut text = format!("/// The hash of all files.\nconst HASH: &str = \"{hash}\";\n");
    text +=
        "/// Paths and compressed bytes, sorted by path.\nstatic FILES: &[(&str, &[u8])] = &[\n";
    for (index, (path, file)) in found
        .iter()
        .filter(|(path, _)| !path.ends_with(".html"))
        .enumerate()
    {
        let target = out.join(format!("{index}.gz"));
        fs::write(&target, &file.compressed).expect("OUT_DIR can be written");
        writeln!(text, "    ({path:?}, include_bytes!({target:?})),").expect("a String takes text");
    }
    text += "];\n/// Pages by name, with the modules that they begin with and what these import.\nstatic PAGES: &[(&str, &str, &[&str])] = &[\n";
    for (name, template) in &pages {
        let modules = modules::closure(&modules::entries(template), &plain);
        writeln!(text, "    ({name:?}, {template:?}, &{modules:?}),").expect("a String takes text");
    }
    text += "];\n/// The modules of screens, and what these import.\nstatic SCREENS: &[(&str, &[&str])] = &[\n";
    for path in found
        .keys()
        .filter(|path| path.starts_with(modules::SCREENS) && path.ends_with(".js"))
    {
        let modules = modules::closure(&[path], &plain);
        writeln!(text, "    ({path:?}, &{modules:?}),").expect("a String takes text");
    }
    text += "];\n";
    fs::write(out.join("files.rs"), text).expect("OUT_DIR can be written");
}

/// A file, plain and compressed.
struct Found {
    plain: Vec<u8>,
    compressed: Vec<u8>,
}

/// The files of a folder and those below it, by path. A bundle that lies compressed (`x.js.gz`) is embedded as it is.
fn collect(folder: &Path, prefix: &str, found: &mut BTreeMap<String, Found>) {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut entries: Vec<_> = fs::read_dir(folder)
        .expect("the folder ui is beside the folder crates")
        .map(|entry| entry.expect("the folder ui can be read"))
        .collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if path.is_dir() {
            if !LEFT_OUT.contains(&name.as_str()) {
                collect(&path, &format!("{prefix}{name}/"), found);
            }
            continue;
        }
        let bare = name.strip_suffix(".gz").unwrap_or(&name);
        let is_page = prefix.is_empty() && bare.ends_with(".html");
        if !is_page && !SERVED.iter().any(|end| bare.ends_with(end)) || bare.ends_with(".test.js") {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        let bytes = fs::read(&path).expect("the files of ui can be read");
        let file = if bare == name {
            Found {
                compressed: compressed(&bytes),
                plain: bytes,
            }
        } else {
            Found {
                plain: decompressed(&bytes),
                compressed: bytes,
            }
        };
        found.insert(format!("{prefix}{bare}"), file);
    }
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect("a Vec takes bytes");
    encoder.finish().expect("a Vec takes bytes")
}

fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes)
        .read_to_end(&mut plain)
        .expect("a file that ends in .gz is compressed with gzip");
    plain
}

/// 64 bits of FNV-1a over all paths and bytes. It tells versions apart; nothing is trusted because of it.
fn hash(found: &BTreeMap<String, Found>) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for (path, file) in found {
        add(path.as_bytes());
        add(&(file.plain.len() as u64).to_le_bytes());
        add(&file.plain);
    }
    format!("{hash:016x}")
}
