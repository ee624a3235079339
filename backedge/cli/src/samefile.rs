//! Whether two paths are one file, by whatever names it is reached: to write to a file empties it, and one that is read too, or written twice, would be lost.

use crate::failure::Failure;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What a file is.
#[derive(PartialEq, Eq)]
enum Identity {
    /// One that is there: its device and number.
    There(u64, u64),
    /// One that is to be made: its folder, resolved, and its name.
    New(PathBuf),
}

/// None of devices and pipes: they take and give what comes.
fn identity(path: &Path) -> Option<Identity> {
    if let Ok(file) = std::fs::metadata(path) {
        return file.is_file().then(|| Identity::There(file.dev(), file.ino()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // (a folder that is to be made has no other names)
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    Some(Identity::New(folder.join(path.file_name()?)))
}

/// Whether both are the same file.
pub fn same(a: &Path, b: &Path) -> bool {
    identity(a).is_some_and(|a| identity(b) == Some(a))
}

/// Whether each of the files that a command writes is one of its own.
pub fn check<'a>(inputs: impl IntoIterator<Item = &'a Path>, outputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let inputs: Vec<Identity> = inputs.into_iter().filter_map(identity).collect();
    let mut seen = Vec::new();
    for path in outputs {
        let Some(output) = identity(path) else { continue };
        if inputs.contains(&output) {
            return Err(Failure::Usage(format!("`{}` is what is read: nothing can be written to it", path.display())));
        }
        if seen.contains(&output) {
            return Err(Failure::Usage(format!("two outputs go to `{}`", path.display())));
        }
        seen.push(output);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_one_file_are_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("a"), "").unwrap();
        std::fs::hard_link(path("a"), path("b")).unwrap();
        std::os::unix::fs::symlink(path("a"), path("c")).unwrap();
        std::fs::create_dir(path("folder")).unwrap();
        for name in ["a", "b", "c", "folder/../a"] {
            assert!(same(&path("a"), &path(name)), "{name}");
            assert!(check([path("a").as_path()], [path(name).as_path()]).is_err(), "{name}");
        }
        assert!(same(&path("new"), &path("folder/../new")) && same(Path::new("new"), Path::new("./new")));
        assert!(!same(&path("new"), &path("a")) && !same(&path("new"), &path("folder/new")));
        assert!(!same(Path::new("/dev/null"), Path::new("/dev/null")));
        assert!(check([path("a").as_path()], [path("new").as_path(), path("other").as_path()]).is_ok());
        assert!(check([], [path("new").as_path(), path("folder/../new").as_path()]).is_err());
    }
}
