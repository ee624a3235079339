//! Two things: a digest of the sources that decide what machine code means (code kept by a build with other sources is not used), and the table of the
//! passes that register themselves: every file of `src/passes/extra/` but `mod.rs` is a module of its own with a `pub(super) const PASS`.

use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("..");
    let mut hasher = DefaultHasher::new();
    for place in ["Cargo.lock", "jit/src", "vm/src", "lwp-feedback/src"] {
        let place = root.join(place);
        println!("cargo::rerun-if-changed={}", place.display());
        add(&place, &mut hasher);
    }
    for variable in ["OPT_LEVEL", "DEBUG", "TARGET"] {
        std::env::var(variable).unwrap_or_default().hash(&mut hasher);
    }
    println!("cargo::rustc-env=BACKEDGE_SOURCES={:016x}", hasher.finish());
    passes(&root.join("jit/src/passes/extra"));
}

fn passes(folder: &Path) {
    let entries = std::fs::read_dir(folder).expect("the folder is part of the crate");
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned))
        .filter(|name| name != "mod")
        .collect();
    names.sort();
    let mut text = String::new();
    for name in &names {
        let path = folder.join(format!("{name}.rs"));
        writeln!(text, "#[path = {:?}]\nmod {name};", path.display().to_string()).expect("writing to a string");
    }
    writeln!(text, "/// Every pass, by file name.\nconst ALL: &[Pass] = &[").expect("writing to a string");
    names.iter().for_each(|name| writeln!(text, "    {name}::PASS,").expect("writing to a string"));
    text.push_str("];\n");
    let out = Path::new(&std::env::var("OUT_DIR").expect("cargo sets it")).join("passes.rs");
    std::fs::write(out, text).expect("OUT_DIR is writable");
}

fn add(place: &Path, hasher: &mut DefaultHasher) {
    let Ok(entries) = std::fs::read_dir(place) else {
        std::fs::read(place).unwrap_or_default().hash(hasher);
        return;
    };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths.iter().for_each(|path| add(path, hasher));
}
