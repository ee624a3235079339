//! The C test program, compiled with gcc against the header and the library, passes.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its path");
    let folders = test.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join("libcpc.so")).find(|file| file.is_file());
    found.expect("cargo builds the library before its tests")
}

#[test]
fn c_program_passes() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sets");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library();
    let status = Command::new("gcc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-o"])
        .arg(&program)
        .arg(here.join("tests/sets.c"))
        .arg("-I")
        .arg(here.join("include"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .status();
    assert!(status.expect("gcc is needed for this test").success());
    let output = Command::new(&program).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && printed.starts_with("ok, "), "{printed}");
}
