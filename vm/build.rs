//! Chooses how the interpreter gets from op to op: see `src/interp/dispatch.rs`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(threaded_dispatch)");
    // A call in tail position becomes a jump where LLVM optimizes fully, and only there. (Not with debug assertions either, of which a build script is not told.)
    let level = std::env::var("OPT_LEVEL").unwrap_or_default();
    if matches!(level.as_str(), "2" | "3" | "s" | "z") {
        println!("cargo::rustc-cfg=threaded_dispatch");
    }
}
