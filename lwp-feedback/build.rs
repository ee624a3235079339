//! Makes the tables of what registers itself: every file of `src/policy/transformation/` and of `src/source/` but `mod.rs` is a module of its own with a
//! `pub const TRANSFORMATION` or `pub const SOURCE`, so that adding a file adds it.

use std::fmt::Write as _;
use std::path::Path;

fn main() {
    register("src/policy/transformation", "TRANSFORMATION", "Transformation", "transformations.rs");
    register("src/source", "SOURCE", "Source", "sources.rs");
}

fn register(folder: &str, constant: &str, ty: &str, out: &str) {
    let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join(folder);
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("the folder is part of the crate")
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "mod")
        .collect();
    names.sort();
    let mut text = String::new();
    for name in &names {
        let path = folder.join(format!("{name}.rs"));
        writeln!(text, "#[path = {:?}]\nmod {name};", path.display().to_string()).expect("writing to a string");
    }
    writeln!(text, "/// Everything in this folder, by file name.\npub const ALL: &[&{ty}] = &[").expect("writing to a string");
    for name in &names {
        writeln!(text, "    &{name}::{constant},").expect("writing to a string");
    }
    text.push_str("];\n");
    let out = Path::new(&std::env::var("OUT_DIR").expect("cargo sets it")).join(out);
    std::fs::write(out, text).expect("OUT_DIR is writable");
}
