//! Makes the table of the policy's transformations: every file of `src/policy/transformation/` but `mod.rs` is a module of its own with a
//! `pub const TRANSFORMATION`, so that adding a file adds a transformation.

use std::fmt::Write as _;
use std::path::Path;

fn main() {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("src/policy/transformation");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder is part of the crate")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "mod" && name != "tests")
        .collect();
    names.sort();
    let mut text = String::new();
    for name in &names {
        let path = folder.join(format!("{name}.rs"));
        writeln!(text, "#[path = {:?}]\nmod {name};", path.display().to_string()).expect("writing to a string");
    }
    writeln!(text, "/// Every transformation, by file name.\npub const ALL: &[&Transformation] = &[").expect("writing to a string");
    for name in &names {
        writeln!(text, "    &{name}::TRANSFORMATION,").expect("writing to a string");
    }
    text.push_str("];\n");
    let out = Path::new(&std::env::var("OUT_DIR").expect("cargo sets it")).join("transformations.rs");
    std::fs::write(out, text).expect("OUT_DIR is writable");
}
