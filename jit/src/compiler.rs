//! The driver: one request in, one [`CompiledCode`] out, the stages called in order.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, LazyLock, Mutex};

use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::print_errors::pretty_error;
use cranelift_codegen::settings::{self, Configurable, OptLevel};
use cranelift_codegen::{CodegenResult, CompiledCode as ClifCode, Context};
use cranelift_frontend::FunctionBuilderContext;

use vm::code::{Adapter, AdapterSignature, CompileError, CompileRequest, CompiledCode, Compiler, Listing, SourcePosition, Tier};
use vm::module::Module;

use crate::finish::Style;
use crate::lwp_thunks::Thunk;
use crate::markers::Census;
use crate::plan::FunctionPlan;
use crate::translate::{Input, translate};
use crate::{adapter, finish, inlinable, passes};

/// Largest body that is compiled, bytes. Cranelift's register allocator grows faster than linearly; larger bodies are tables of data
/// in code's clothing. A guess.
const MOST_BODY_BYTES: usize = 2 << 20;
/// Largest body whose registers are allocated in one pass, bytes. That gives each value that ever leaves its register a slot of its own: in CPython and QuickJS frames are up
/// to 3.8 KB below this size, and the evaluation loops' were 14 and 18 KB, with 75 calls to the end of a 1 MiB stack; allocated carefully no frame is above 0.8 KB.
const MOST_QUICK_BYTES: usize = 4096;
/// Alignment of a function's first byte: a cache line.
const ALIGNMENT: u32 = 64;

/// Switches of the compiler.
#[derive(Clone, Debug)]
pub struct Options {
    /// Run Cranelift's verifier (19 to 75 % of compile time): for tests.
    pub verify: bool,
    /// Inline small direct callees in tier 2 without feedback.
    pub inline_static: bool,
    /// Put real LWP instructions at LWPVAL and LWPINS sites, for a machine whose source of records is `trap`.
    pub lwp_instructions: bool,
    /// Allocate tier 1's registers in one pass, in bodies of up to 4 KiB, which halves its compile time: its code takes twice as long, but what is hot leaves it soon. Not for
    /// code that is kept for later runs, which pay for no compile and start with it.
    pub quick_registers: bool,
    /// Make what suits Intel's processors: places that their branch history tells apart, and two fetches for each that a plan asks for. As this processor is, by itself.
    pub intel: bool,
    /// Only to measure what polls cost: without them running code cannot be stopped, nor moved to another version.
    pub polls: bool,
    /// For tests of the fuzzer only: compile something wrongly on purpose. Nothing in the product sets it.
    pub sabotage: Option<Sabotage>,
}

/// A bug on purpose, to show that the fuzzer finds its kind. Only a program that makes its own [`CraneliftCompiler`] can ask for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sabotage {
    /// Both tiers: `i32.shr_s` shifts zeros in.
    SignedShift,
    /// Tier 2: a guard in front of an inlined callee always passes.
    OpenGuard,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            verify: false,
            inline_static: true,
            lwp_instructions: false,
            quick_registers: true,
            intel: *IS_INTEL,
            polls: true,
            sabotage: None,
        }
    }
}

/// The compiler for this machine. One serves all modules and threads of an engine.
pub struct CraneliftCompiler {
    options: Options,
    quick: OwnedTargetIsa,
    careful: OwnedTargetIsa,
    optimizing: OwnedTargetIsa,
    /// Working memory kept between compiles.
    pool: Mutex<Vec<Memory>>,
}

struct Memory {
    builder: FunctionBuilderContext,
    context: Context,
    registers: regalloc2::Ctx,
}

/// What is wanted of code generation.
#[derive(Clone, Copy, Default)]
struct Wanted<'a> {
    listing: bool,
    /// Accesses of this module may lack their base until the code is laid out anew ([`passes::memory_base`]).
    without_base: Option<&'a Module>,
}

/// What Cranelift's `Context::compile` does, with our last passes between its passes and its code generation; `without_base`: accesses of
/// this module may lack their base.
fn compile(
    isa: &dyn TargetIsa,
    context: &mut Context,
    registers: &mut regalloc2::Ctx,
    without_base: Option<&Module>,
) -> CodegenResult<ClifCode> {
    context.verify_if(isa)?;
    context.optimize(isa, &mut ControlPlane::default())?;
    if isa.flags().opt_level() == OptLevel::Speed {
        if let Some(module) = without_base {
            passes::memory_base::run(&mut context.func, module);
        }
        passes::loop_values::run(context);
        passes::exit_homes::run(context);
        context.verify_if(isa)?;
    }
    let code = isa.compile_function(&context.func, &context.domtree, registers, false, &mut ControlPlane::default())?;
    Ok(code.apply_params(&context.func.params))
}

impl CraneliftCompiler {
    /// A compiler for the processor this runs on. `Err` says what it lacks (SSE4.1 at least: rounding would need library calls).
    pub fn new(options: Options) -> Result<CraneliftCompiler, String> {
        let quick = isa(&options, "none", "single_pass")?;
        let careful = isa(&options, "none", "backtracking")?;
        let optimizing = isa(&options, "speed", "backtracking")?;
        Ok(CraneliftCompiler { options, quick, careful, optimizing, pool: Mutex::new(Vec::new()) })
    }

    fn isa(&self, tier: Tier, body_bytes: usize) -> &Arc<dyn TargetIsa> {
        match tier {
            Tier::Baseline if self.options.quick_registers && body_bytes <= MOST_QUICK_BYTES => &self.quick,
            // Instrumented code times loads, and shall have nothing spilled between.
            Tier::Baseline | Tier::Instrumented => &self.careful,
            Tier::Optimizing => &self.optimizing,
        }
    }

    /// Runs one compile with working memory from the pool. A panic of the code generator is our bug and becomes an error: the guest
    /// goes on interpreted.
    fn with_memory<T>(&self, function: u32, work: impl FnOnce(&mut Memory) -> Result<T, CompileError>) -> Result<T, CompileError> {
        let pooled = self.pool.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).pop();
        let mut memory = pooled.unwrap_or_else(|| Memory {
            builder: FunctionBuilderContext::new(),
            context: Context::new(),
            registers: regalloc2::Ctx::default(),
        });
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let outcome = work(&mut memory);
            memory.context.clear();
            self.pool.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(memory);
            outcome
        }));
        outcome.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
            Err(CompileError::Internal { function, reason: format!("panic: {}", text.unwrap_or("no message")) })
        })
    }

    /// `Ok(None)` if accesses lack their base and it could not be given them.
    fn generate(
        &self,
        isa: &dyn TargetIsa,
        function: u32,
        Memory { context, registers, .. }: &mut Memory,
        thunks: &[Thunk],
        positions: Vec<SourcePosition>,
        wanted: Wanted<'_>,
    ) -> Result<Option<CompiledCode>, CompileError> {
        let clif = wanted.listing.then(|| context.func.display().to_string());
        // What calls thunks is not laid out anew.
        let without_base = wanted.without_base.filter(|_| thunks.is_empty());
        let code = compile(isa, context, registers, without_base)
            .map_err(|error| CompileError::Internal { function, reason: pretty_error(&context.func, error) })?;
        let markers = Census::of(&context.func).map_err(|reason| CompileError::Internal { function, reason })?;
        // Quick compiles shall stay quick.
        let style = Style { tidy: isa.flags().opt_level() == OptLevel::Speed, intel: self.options.intel };
        let Some(mut result) = finish::finish(&code, &context.func.signature, ALIGNMENT, markers, thunks, positions, style)
            .map_err(|reason| CompileError::Internal { function, reason })?
        else {
            return Ok(None);
        };
        if let Some(clif) = clif {
            result.listing =
                Some(Listing { clif, optimized: context.func.display().to_string(), assembly: finish::disassemble(&result.bytes) });
        }
        Ok(Some(result))
    }
}

fn isa(options: &Options, opt_level: &str, register_allocation: &str) -> Result<OwnedTargetIsa, String> {
    let mut flags = settings::builder();
    let verify = if options.verify { "true" } else { "false" };
    for (name, value) in [
        ("opt_level", opt_level),
        ("regalloc_algorithm", register_allocation),
        ("enable_verifier", verify),
        ("enable_pinned_reg", "true"),
        // Frames are walked by frame pointer, and tail calls panic without it.
        ("preserve_frame_pointers", "true"),
        // The stack's guard is 1 MiB: frames larger than a probe interval touch each 64 KiB.
        ("enable_probestack", "true"),
        ("probestack_strategy", "inline"),
        ("probestack_size_log2", "16"),
        ("enable_multi_ret_implicit_sret", "true"),
        ("unwind_info", "false"),
        // Where blocks begin, for `headers`.
        ("machine_code_cfg_info", "true"),
    ] {
        flags.set(name, value).map_err(|error| format!("setting {name}={value}: {error}"))?;
    }
    let mut builder = cranelift_native::builder()?;
    if *IS_INTEL {
        // It stands for `vpmullq` alone, which takes 15 cycles there: three multiplications of halves take nine, and as many follow each other. (Native, Sapphire Rapids: in a chain 5.2 ns and
        // 3.2, of eight at once 1.0 to 1.2 and 1.1 to 1.2.)
        builder.set("has_avx512dq", "false").map_err(|error| format!("setting has_avx512dq: {error}"))?;
    }
    let isa = builder.finish(settings::Flags::new(flags)).map_err(|error| error.to_string())?;
    let sse41 = isa.isa_flags().iter().any(|flag| flag.name == "has_sse41" && flag.as_bool() == Some(true));
    if !sse41 {
        return Err("the processor has no SSE4.1".into());
    }
    Ok(isa)
}

/// Whether this processor is one of Intel's.
static IS_INTEL: LazyLock<bool> = LazyLock::new(|| {
    let vendor = std::arch::x86_64::__cpuid(0);
    [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes).as_flattened() == b"GenuineIntel"
});

/// See [`crate::processor`].
pub(crate) fn processor() -> Result<String, String> {
    let isa = isa(&Options::default(), "speed", "backtracking")?;
    let features: Vec<String> =
        isa.isa_flags().iter().filter(|flag| flag.as_bool() == Some(true)).map(|flag| flag.name.to_owned()).collect();
    let suits = if *IS_INTEL { " intel" } else { "" };
    Ok(format!("{} {}{suits}", isa.triple(), features.join(" ")))
}

impl Compiler for CraneliftCompiler {
    fn compile(&self, request: &CompileRequest) -> Result<CompiledCode, CompileError> {
        let module: &Module = &request.module;
        let function = request.function;
        let Some(body) = module.defined(function).and_then(|index| module.bodies.get(index)) else {
            return Err(CompileError::Internal { function, reason: "it has no body".into() });
        };
        if body.len() > MOST_BODY_BYTES {
            return Err(CompileError::Limit { function, reason: format!("{} bytes, limit {MOST_BODY_BYTES}", body.len()) });
        }
        let plan = FunctionPlan::new(request.plan.as_deref());
        let input = Input {
            module,
            function,
            entrance: request.entrance,
            tier: request.tier,
            version: request.version,
            sites: request.sites && request.tier != Tier::Optimizing,
            countdowns: request.countdowns,
            rounds: request.rounds,
            counts_inlined: request.counts_inlined,
            padding: request.padding,
            probe_base: request.probe_base,
            events: request.events,
            plan: &plan,
            inline_static: self.options.inline_static,
            lwp_instructions: self.options.lwp_instructions,
            polls: self.options.polls,
            fail_guards: request.fail_guards,
            sabotage: self.options.sabotage,
        };
        let compile = |memory: &mut Memory, without_base: bool| {
            let isa = &**self.isa(request.tier, body.len());
            let mut translation = translate(&input, isa, &mut memory.builder)?;
            memory.context.func = translation.function;
            if request.tier == Tier::Optimizing {
                passes::exits::run(&mut memory.context.func);
                passes::run(
                    &mut memory.context.func,
                    request.function,
                    &translation.positions,
                    module,
                    &plan,
                    self.options.intel,
                    &mut translation.applied,
                );
                passes::three_way::run(&mut memory.context.func);
                passes::swaps::run(&mut memory.context.func);
                if let Some(general) = translation.general {
                    passes::layout::sink(&mut memory.context.func, general);
                }
            }
            if translation.constants {
                // `compile` runs the passes once more.
                if let Err(error) = memory.context.optimize(isa, &mut ControlPlane::default()) {
                    let reason = pretty_error(&memory.context.func, error);
                    return Err(CompileError::Internal { function, reason });
                }
            }
            if request.tier == Tier::Optimizing {
                passes::addresses::run(&mut memory.context.func, module);
            }
            let wanted = Wanted { listing: request.listing, without_base: without_base.then_some(module) };
            let code = self.generate(isa, function, memory, &translation.thunks, translation.positions, wanted)?;
            let Some(mut code) = code else { return Ok(None) };
            code.sites = translation.sites;
            code.hot_sites = translation.hot_sites;
            code.guards = translation.guards;
            code.probes = translation.probes;
            code.counts_inlined = translation.counts_inlined;
            code.applied = translation.applied;
            Ok(Some(code))
        };
        if let Some(code) = self.with_memory(function, |memory| compile(memory, true))? {
            return Ok(code);
        }
        let code = self.with_memory(function, |memory| compile(memory, false))?;
        Ok(code.expect("nothing lacks its base"))
    }

    fn adapter(&self, adapter: Adapter, signature: &AdapterSignature) -> Result<CompiledCode, CompileError> {
        self.with_memory(u32::MAX, |memory| {
            memory.context.func = adapter::build(adapter, signature, &*self.optimizing, &mut memory.builder);
            let code = self.generate(&*self.optimizing, u32::MAX, memory, &[], Vec::new(), Wanted::default())?;
            Ok(code.expect("nothing lacks its base"))
        })
    }

    fn inlinable(&self, module: &Module, function: u32) -> Result<(), lwp_feedback::profile::NotInlinable> {
        inlinable::inlinable(module, function).map(|_| ())
    }

    fn inlines_anyway(&self, module: &Module, function: u32) -> bool {
        inlinable::inlined_without_feedback(module, function)
    }
}

// The instruction sets and the pool are all it holds, so threads may share it.
const _: () = {
    const fn shared<T: Send + Sync>() {}
    shared::<CraneliftCompiler>();
};
