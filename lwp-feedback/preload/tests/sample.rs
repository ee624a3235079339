//! The seed's sample, compiled with `gcc -O2 -mlwp` and run with the preload library, gives all its documented outcomes.

use std::path::{Path, PathBuf};
use std::process::Command;

use lwp_feedback::trap::exec;

/// The library that cargo built beside this test.
fn library() -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its path");
    let folders = test.ancestors().skip(1).take(2);
    let found = folders.map(|folder| folder.join(exec::PRELOAD_LIBRARY)).find(|file| file.is_file());
    found.expect("cargo builds the library before its tests")
}

fn compile(folder: &Path, name: &str, extra: &[&str]) -> PathBuf {
    let program = folder.join(name);
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample.c");
    let status = Command::new("gcc").args(["-O2", "-mlwp", "-o"]).arg(&program).arg(source).args(extra).status();
    assert!(status.expect("gcc is needed for this test").success());
    program
}

fn run(features: &str, program: &Path, args: &[&str]) -> (i32, String) {
    let output = exec::command(features, program, args, &library()).unwrap().output().unwrap();
    (output.status.code().unwrap_or(-1), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn sample_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let sample = compile(folder.path(), "sample", &[]);
    let all =
        "64-bit compiler\n17 entries in ring buffer\n7 LWPVAL instructions, 10 LWPINS instructions\norder IVIVIVIIVIIVIVIIV head 448\n";
    assert_eq!(run("all", &sample, &[]), (0, all.into()));
    assert_eq!(run("fx8150", &sample, &[]), (0, all.into()));
    let no_val = "64-bit compiler\nLWPVAL instruction not supported by the hardware\n10 entries in ring buffer\n\
                  0 LWPVAL instructions, 10 LWPINS instructions\norder IIIIIIIIII head 224\n";
    assert_eq!(run("no-val", &sample, &[]), (0, no_val.into()));
    assert_eq!(run("cpu-only", &sample, &[]), (1, "OS has not made LWP available\n".into()));
    assert_eq!(run("none", &sample, &[]), (1, "LWP is not supported by this hardware\n".into()));

    let only_32 = compile(folder.path(), "only32", &["-DONLY_32"]);
    let text = "64-bit compiler\n9 entries in ring buffer\n4 LWPVAL instructions, 5 LWPINS instructions\norder IVIVIVIIV head 192\n";
    assert_eq!(run("all", &only_32, &[]), (0, text.into()));
}

#[test]
fn a_program_that_handles_and_blocks_sigill_still_works() {
    let folder = tempfile::tempdir().unwrap();
    let sample = compile(folder.path(), "sample", &[]);
    let (code, text) = run("all", &sample, &["hostile"]);
    assert!(text.contains("17 entries in ring buffer\n"), "{text}");
    assert!(text.ends_with("the program's own SIGILL handler ran\n"), "{text}");
    assert_eq!(code, 3);
}

#[test]
fn static_programs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sample = compile(folder.path(), "static", &["-static"]);
    let none: [&str; 0] = [];
    let error = exec::command("all", &sample, none, &library()).unwrap_err();
    assert!(matches!(error, exec::ExecError::Static(_)));
}

#[test]
fn lwp_h_without_mlwp_uses_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("unit.c");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../include");
    std::fs::write(
        &source,
        "#include \"lwp.h\"\n#include <stdio.h>\nstatic unsigned long long cb[22], ring[128];\nint main(void) {\n\
         ((unsigned *)cb)[1] = sizeof ring; cb[1] = (unsigned long long)ring; __llwpcb(cb);\n\
         int carry = __lwpins32(0x11, 2, 3); carry += __lwpins64(0x100000000ull, 5, 6);\n\
         printf(\"%d %d %u %llx\\n\", __slwpcb() == cb, carry, ((unsigned *)cb)[4], ring[6]); return 0; }\n",
    )
    .unwrap();
    let program = folder.path().join("unit");
    let library = library();
    let status = Command::new("gcc")
        .args(["-O2", "-o"])
        .arg(&program)
        .arg(&source)
        .arg("-I")
        .arg(include)
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .status();
    assert!(status.expect("gcc is needed for this test").success());
    let output = Command::new(&program).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "1 0 64 100000000\n");
}

/// `lwp.h` without `-mlwp`: calls of the library, at -O2.
#[test]
fn the_header_without_the_compilers_intrinsics() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("header");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let library = library();
    let mut gcc = Command::new("gcc");
    gcc.args(["-O2", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&program)
        .arg(root.join("tests/header.c"))
        .arg("-I")
        .arg(root.join("../include"));
    gcc.arg(&library).arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()));
    assert!(gcc.status().expect("gcc is needed for this test").success());
    let output = Command::new(&program).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "17 records, 7 LWPVAL, 10 LWPINS, head 448\naddresses in their callers\n#GP, off\n"
    );
    assert_eq!(output.status.code(), Some(0));
}
