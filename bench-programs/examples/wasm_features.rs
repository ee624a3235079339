//! Says which WebAssembly features a module needs beyond version 1.0: `cargo run -p bench-programs --example wasm_features -- FILE...`.
//!
//! A feature is needed when the module is valid with all features and no longer valid without this one. Prints
//! one line a module: the path, the size of its code in bytes, the number of its functions, and the features' names in order.

use std::process::ExitCode;

use wasmparser::{Parser, Payload, Validator, WasmFeatures};

fn valid(bytes: &[u8], features: WasmFeatures) -> bool {
    Validator::new_with_features(features).validate_all(bytes).is_ok()
}

fn main() -> ExitCode {
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                eprintln!("wasm_features: {path}: {error}");
                failed = true;
                continue;
            }
        };
        let all = WasmFeatures::all();
        if !valid(&bytes, all) {
            eprintln!("wasm_features: {path}: not a valid module");
            failed = true;
            continue;
        }
        let needed: Vec<String> = WasmFeatures::all()
            .iter_names()
            .filter(|(_, feature)| !valid(&bytes, all.difference(*feature)))
            .map(|(name, _)| name.to_lowercase())
            .collect();
        let (mut functions, mut code_bytes) = (0, 0);
        for payload in Parser::new(0).parse_all(&bytes) {
            if let Ok(Payload::CodeSectionStart { count, size, .. }) = payload {
                (functions, code_bytes) = (count, size);
            }
        }
        println!("{path}\t{code_bytes} code bytes\t{functions} functions\t{}", needed.join(" "));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
