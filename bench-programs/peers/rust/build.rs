//! Puts the engines' versions, as Cargo.lock has them, into the programs.

fn main() {
    println!("cargo::rerun-if-changed=Cargo.lock");
    let lock = std::fs::read_to_string("Cargo.lock").unwrap_or_default();
    for name in ["wasmtime", "wasmi"] {
        let version = lock.split(&format!("name = \"{name}\"\nversion = \"")).nth(1).and_then(|rest| rest.split('"').next()).unwrap_or("unknown");
        println!("cargo::rustc-env=CARGO_PKG_VERSION_{}={version}", name.to_uppercase());
    }
}
