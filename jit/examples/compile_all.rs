//! Compiles every function of a module in a tier, and prints time, bytes and refusals; with a function index, its CLIF and assembly.
//!
//!     cargo run --release -p jit --example compile_all -- FILE baseline|optimizing [FUNCTION [LOOP_OFFSET]]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use jit::{CraneliftCompiler, Options};
use vm::code::{CompileRequest, Compiler, Entrance, Tier};
use vm::module::Module;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, tier, rest @ ..] = &arguments[..] else { bail!("usage: compile_all FILE TIER [FUNCTION [LOOP_OFFSET]]") };
    let tier = match tier.as_str() {
        "baseline" => Tier::Baseline,
        "optimizing" => Tier::Optimizing,
        other => bail!("no tier {other}"),
    };
    let compiler = CraneliftCompiler::new(Options::default()).map_err(anyhow::Error::msg)?;
    let module = Arc::new(Module::new(&std::fs::read(file)?)?);
    let request = |function, entrance, listing| CompileRequest {
        sites: true,
        countdowns: true,
        listing,
        ..CompileRequest::new(module.clone(), function, entrance, tier, 1)
    };
    if let Some(function) = rest.first() {
        let entrance = match rest.get(1) {
            None => Entrance::Body,
            Some(offset) => Entrance::Loop(offset.parse().context("loop offset")?),
        };
        let code = compiler.compile(&request(function.parse()?, entrance, true))?;
        let listing = code.listing.context("a listing was asked for")?;
        println!("{}\n{}\n{}", listing.clif, listing.optimized, listing.assembly);
        return Ok(());
    }
    let start = Instant::now();
    let (mut functions, mut bytes, mut refusals) = (0, 0, BTreeMap::<String, usize>::new());
    let mut slowest = (std::time::Duration::ZERO, 0);
    for index in 0..module.bodies.len() as u32 {
        let begun = Instant::now();
        let function = module.imported_functions + index;
        match compiler.compile(&request(function, Entrance::Body, false)) {
            Ok(code) => {
                functions += 1;
                bytes += code.bytes.len();
            }
            Err(error) => *refusals.entry(error.to_string()).or_default() += 1,
        }
        slowest = slowest.max((begun.elapsed(), function));
    }
    println!("{functions} functions, {bytes} bytes in {:?}; slowest {slowest:?}", start.elapsed());
    for (reason, count) in refusals {
        println!("{count} {reason}");
    }
    Ok(())
}
