//! `backedge dump`: one stage of one function, or of all.

use crate::failure::Failure;
use crate::options::{Dump, DumpTier, Stage};
use crate::output::{name, printed, shown};
use crate::run::{check_plans, load, plans};
use backedge::{Config, Engine, Module, TierPolicy};
use lwp_feedback::policy::PlanFile;
use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use vm::code::{CompileRequest, CompiledCode, Entrance, SourcePosition, Tier};

/// Prints the stage.
pub fn dump(options: &Dump) -> Result<(), Failure> {
    let mut config = Config::new();
    config.record_source((&options.source).into());
    if matches!(options.stage, Stage::Bytecode | Stage::Wasm) {
        config.tier(TierPolicy::Interpreter);
    } else {
        // A policy with a compiler, and without threads of its own.
        config.tier(TierPolicy::Optimizing);
    }
    let engine = Engine::new(&config).map_err(|error| Failure::Load(format!("cannot start the engine: {error:#}")))?;
    let module = load(&engine, &options.file)?;
    let functions = match &options.func {
        Some(name) => vec![find(&module, name)?],
        None => {
            let inner = &module.loaded().module;
            (inner.imported_functions..inner.functions.len() as u32).collect()
        }
    };
    let plans = options.plan.as_deref().map(|path| plans_of(path, &module)).transpose()?;
    let mut out = std::io::stdout().lock();
    for function in functions {
        let text = stage(&module, function, plans.as_ref(), options)?;
        let called = name(module.loaded().module.function_name(function).unwrap_or("<no name>"));
        let text = format!(";; function {function} {called}\n{}\n\n", text.trim_end());
        let outcome = out.write_all(shown(&text).as_bytes()).and_then(|()| out.flush());
        if outcome.is_err() {
            return printed(outcome);
        }
    }
    Ok(())
}

/// The plans of a file, for this module.
fn plans_of(path: &Path, module: &Module) -> Result<PlanFile, Failure> {
    let plans = plans(path)?;
    check_plans(path, &plans, module);
    Ok(plans)
}

/// A defined function by index, by its name, or by an export's.
pub fn find(module: &Module, name: &str) -> Result<u32, Failure> {
    let inner = &module.loaded().module;
    let count = inner.functions.len() as u32;
    let by_export = || {
        inner.exports.iter().find_map(|(export, item)| match item {
            vm::module::ExportItem::Func(index) if export == name => Some(*index),
            _ => None,
        })
    };
    let function = name
        .parse::<u32>()
        .ok()
        .filter(|&index| index < count)
        .or_else(|| (0..count).find(|&index| inner.function_name(index) == Some(name)))
        .or_else(by_export)
        .ok_or_else(|| Failure::Usage(format!("no function `{name}`: expected a name, an export or an index below {count}")))?;
    match inner.defined(function) {
        Some(_) => Ok(function),
        None => Err(Failure::Usage(format!("function `{name}` is imported"))),
    }
}

fn stage(module: &Module, function: u32, plans: Option<&PlanFile>, options: &Dump) -> Result<String, Failure> {
    if let Stage::Wasm = options.stage {
        return operators(&module.loaded().module, function);
    }
    if let Stage::Bytecode = options.stage {
        return Ok(module.loaded().code.bytecode(function).to_string());
    }
    let compiler = module.engine().vm().compiler().ok_or_else(|| Failure::Load("this build has no compiler".into()))?;
    let tier = match options.tier {
        DumpTier::Baseline => Tier::Baseline,
        DumpTier::Instrumented => Tier::Instrumented,
        DumpTier::Optimizing => Tier::Optimizing,
    };
    let baseline = tier == Tier::Baseline;
    let entrance = match options.entrance {
        None => Entrance::Body,
        Some(offset) if module.loaded().code.bytecode(function).has_loop(offset) => Entrance::Loop(offset),
        Some(offset) => return Err(Failure::Usage(format!("function {function} has no loop at {offset:#x}"))),
    };
    let request = CompileRequest {
        plan: plans.and_then(|file| file.plan(module.loaded().module.hash, function)).map(Arc::new),
        sites: baseline,
        countdowns: baseline,
        listing: true,
        rounds: options.arm,
        counts_inlined: options.arm && entrance == Entrance::Body,
        ..CompileRequest::new(module.loaded().module.clone(), function, entrance, tier, 1)
    };
    let code = match compiler.compile(&request) {
        Ok(code) => code,
        Err(error) => return Ok(format!("; {error}")),
    };
    if let Stage::Tables = options.stage {
        return Ok(tables(&code));
    }
    let listing = code.listing.unwrap_or_default();
    let clif = |text: &str| with_offsets(text, &code.source.positions);
    Ok(match options.stage {
        Stage::Asm => listing.assembly,
        Stage::ClifTranslated => clif(&listing.clif),
        Stage::ClifOptimized => clif(&listing.optimized),
        _ => format!("; as translated\n{}\n; as optimized\n{}", clif(&listing.clif).trim_end(), clif(&listing.optimized)),
    })
}

/// CLIF names positions by their number (`@0007`, hexadecimal); here by what a reader knows: the operator's byte offset in the module (`@04b1`).
fn with_offsets(clif: &str, positions: &[SourcePosition]) -> String {
    let named = |line: &str| {
        let (number, rest) = line.strip_prefix('@')?.split_once(' ')?;
        let position = positions.get(usize::from_str_radix(number, 16).ok()?)?;
        let name = format!("@{:04x}", position.offset);
        // What stands behind it keeps its column where there is room.
        Some(format!("{name} {}", rest.strip_prefix(&" ".repeat(name.len() - number.len() - 1)).unwrap_or(rest)))
    };
    clif.lines().map(|line| named(line).unwrap_or_else(|| line.to_owned()) + "\n").collect()
}

/// What goes with machine code. All names are the same in each run: offsets in the code and in the module, numbers in these tables.
fn tables(code: &CompiledCode) -> String {
    let mut text = format!("; {} bytes, {} behind a multiple of {}\n", code.bytes.len(), code.lead_in, code.alignment);
    let mut line = |args: std::fmt::Arguments<'_>| {
        let _ = writeln!(text, "{args}");
    };
    line(format_args!("; positions: number, function, byte offset in the module, the call it is inlined at"));
    for (number, position) in code.source.positions.iter().enumerate() {
        let inlined = position.inlined_at.map_or(String::new(), |at| format!(" inlined at p{at}"));
        line(format_args!("p{number:<5} f{} {:#x}{inlined}", position.function, position.offset));
    }
    line(format_args!("; locations: offset in the code from which a position holds"));
    code.source.locations.iter().for_each(|&(at, position)| line(format_args!("{at:6x}  p{position}")));
    line(format_args!("; traps: offset in the code"));
    code.traps.iter().for_each(|&(at, trap)| line(format_args!("{at:6x}  {trap:?}")));
    line(format_args!("; loads that do not trap: offset in the code, bytes, what they write"));
    code.speculative.iter().for_each(|it| line(format_args!("{:6x}  {} bytes {:?}", it.offset, it.length, it.target)));
    line(format_args!(
        "; jumps to polls that pass them while nobody asks: offset in the code of the byte that says so, its two values, the poll's word"
    ));
    code.back_edges
        .iter()
        .for_each(|it| line(format_args!("{:6x}  {:02x} polls, {:02x} passes  {:#x}", it.at, it.polls, it.passes, it.word)));
    line(format_args!("; relocations: offset in the code"));
    code.relocs.iter().for_each(|it| line(format_args!("{:6x}  {:?} {:+}", it.offset, it.target, it.addend)));
    line(format_args!("; LWPVAL sites: class, function, byte offset in the module; and {} LWPINS sites", code.hot_sites));
    code.sites.iter().for_each(|it| line(format_args!("class {:#06x} f{} {:#x}", it.class, it.function, it.offset)));
    line(format_args!("; guards: number, function, byte offset in the module, what they stand for"));
    for (number, guard) in code.guards.iter().enumerate() {
        line(format_args!("g{number:<5} f{} {:#x} {}", guard.function, guard.offset, guard.kind.name()));
    }
    line(format_args!("; probes: number, what, position"));
    code.probes.iter().enumerate().for_each(|(number, it)| line(format_args!("b{number:<5} {:?} p{}", it.kind, it.position)));
    line(format_args!("; optimizations: name, function, byte offset in the module"));
    for it in &code.applied {
        let refused = it.refused.as_ref().map_or(String::new(), |why| format!(" refused: {why}"));
        line(format_args!("{} f{} {:#x}{refused}", it.name, it.function, it.offset));
    }
    text
}

/// One operator a line, with its byte offset in the module: what plans and reports name.
fn operators(module: &vm::module::Module, function: u32) -> Result<String, Failure> {
    let malformed = |error: wasmparser::BinaryReaderError| Failure::Load(format!("function {function}: {error}"));
    let mut reader = module.body(function).get_operators_reader().map_err(malformed)?;
    let mut text = String::new();
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset().map_err(malformed)?;
        let _ = writeln!(text, "{offset:8} {offset:#8x}  {operator:?}");
    }
    Ok(text)
}
