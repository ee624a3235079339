//! A digest of the sources that decide what machine code means: code kept by a build with other sources is not used.

use std::collections::hash_map::DefaultHasher;
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
