//! Files that only this user can read.

use std::path::Path;

use anyhow::Context;

/// Writes a file anew; it is never readable by others, not even for a moment.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    // One that is there may have been opened to others.
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()))
        .with_context(|| format!("cannot write {}", path.display()))
}
