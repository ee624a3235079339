//! Tells the command which commit it is built from, for `--version` and for the results of benchmarks.

use std::process::Command;

/// What a build is made of, from this package's folder.
const SOURCES: [&str; 7] = ["../../lwp-feedback", "../../vm", "../../jit", "../src", "src", "../../bench-programs/src", "../../Cargo.lock"];

fn main() {
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
    }
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).output().ok()?;
        done.status.success().then(|| String::from_utf8_lossy(&done.stdout).trim().to_owned())
    };
    // A commit moves the branch that HEAD names, or HEAD itself; packed branches have no file of their own.
    let names = ["HEAD".to_owned(), "packed-refs".to_owned()].into_iter().chain(git(&["symbolic-ref", "--quiet", "HEAD"]));
    for path in names.filter_map(|name| git(&["rev-parse", "--git-path", &name])).filter(|path| std::path::Path::new(path).exists()) {
        println!("cargo::rerun-if-changed={path}");
    }
    // Without git, or outside of a checkout, the version stands alone.
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    let version = git(&["rev-parse", "--short=12", "HEAD"]).map_or(version.clone(), |commit| {
        let changed = git(&[&["status", "--porcelain", "--untracked-files=no", "--"], &SOURCES[..]].concat());
        let dirty = if changed.is_some_and(|changes| !changes.is_empty()) { "-dirty" } else { "" };
        format!("{version} ({commit}{dirty})")
    });
    println!("cargo::rustc-env=BACKEDGE_VERSION={version}");
}
