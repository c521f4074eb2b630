//! Standard output that may go away, and files that appear complete or not at all.

use crate::error::Failure;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// Write to standard output; false if nobody reads it any more, which is nothing to complain about.
pub fn to_stdout(text: &str) -> Result<bool, Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::file(Path::new("standard output"), &error)),
    }
}

/// Write to standard error; there is nobody to tell if that fails.
pub fn to_stderr(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Write a file through a temporary neighbour that is renamed when it is complete, so that nobody ever sees half of it.
///
/// Devices and pipes are written to directly.
pub fn write_file<T>(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if is_special(path) {
        let file = OpenOptions::new().write(true).open(path).map_err(|error| Failure::file(path, &error))?;
        return fill(path, file, write);
    }
    let temporary = Temporary::create(path)?;
    let file = temporary.file.try_clone().map_err(|error| Failure::file(path, &error))?;
    let result = fill(path, file, write)?;
    temporary.publish(path)?;
    Ok(result)
}

/// Refuse to write over the file that is being read.
pub fn must_differ(path: &Path, model: &Path) -> Result<(), Failure> {
    let same = path.canonicalize().is_ok_and(|path| model.canonicalize().is_ok_and(|model| model == path));
    if same && !is_special(path) {
        return Err(Failure::Input(format!("{}: this is the model, which would be overwritten", path.display())));
    }
    Ok(())
}

/// Find out whether `path` can be written to, before much work is spent on what goes there.
pub fn probe(path: &Path) -> Result<(), Failure> {
    if path.is_dir() {
        return Err(Failure::Input(format!("{}: Is a directory", path.display())));
    }
    if is_special(path) { Ok(()) } else { Temporary::create(path).map(drop) }
}

fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

fn fill<T>(
    path: &Path,
    file: File,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let mut out = BufWriter::new(file);
    let result = write(&mut out)?;
    out.flush().map_err(|error| Failure::file(path, &error))?;
    Ok(result)
}

/// A file beside its final place; removed unless published.
struct Temporary {
    file: File,
    path: Option<PathBuf>,
}

impl Temporary {
    fn create(target: &Path) -> Result<Temporary, Failure> {
        let problem = |error: &std::io::Error| Failure::file(target, error);
        let name = target.file_name().ok_or_else(|| problem(&ErrorKind::IsADirectory.into()))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let path = target.with_file_name(hidden);
        let file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(|error| problem(&error))?;
        Ok(Temporary { file, path: Some(path) })
    }

    fn publish(mut self, target: &Path) -> Result<(), Failure> {
        let path = self.path.take().expect("published once");
        let done = self.file.sync_all().and_then(|()| std::fs::rename(&path, target));
        done.map_err(|error| {
            let _ = std::fs::remove_file(&path);
            Failure::file(target, &error)
        })
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A name from a file, for a terminal: what would move the cursor or turn text around is written as an escape.
pub fn printable(name: &str) -> String {
    let turns_text = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let show = |c: char| if c.is_control() || turns_text(c) { c.escape_unicode().to_string() } else { c.to_string() };
    name.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn names_do_nothing_to_a_terminal() {
        assert_eq!(printable("größe_1"), "größe_1");
        assert_eq!(printable("a\u{9b}2J\nb\u{202e}"), r"a\u{9b}2J\u{a}b\u{202e}");
    }
}
