//! The whole idea on one page: a stack-bytecode VM whose compiled code profiles itself through an LWP ring and is recompiled from what
//! the records say. No wasm here; back end: cranelift-jit; the monitor is polled on this program's own tokio runtime.
//!
//! 1. `compile` turns bytecode into machine code. Indirect calls carry an LWPVAL (the callee), the kernel's entry an LWPINS ("hot").
//! 2. Once it is hot, a few *bursts* run an instrumented version: branches go through a predictor model, loads are timed, and both
//!    write branch and DCache records into the same ring.
//! 3. The profile gives a plan: inline the dominant callee behind a guard, turn a mispredicted branch into selects, prefetch a load
//!    that misses. Any plan leaves the result as it is; the program checks it.

mod compiler;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use compiler::{Code, HEAP_MASK, Jit, KERNEL, Op, Plan, Vm, mix, programs};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::default_libcall_names;
use lwp_feedback::codemap::{CodeEntry, CodeMap, FunctionId, Tier};
use lwp_feedback::monitor::{Hot, Listener, Monitor, MonitorConfig};
use lwp_feedback::policy::{self, Budgets, Decision};
use lwp_feedback::profile::{FunctionFacts, Profile};
use lwp_feedback::ring::{Ring, RingConfig};

#[derive(Clone, Default)]
struct HotFlag(Arc<AtomicBool>);

impl Listener for HotFlag {
    fn hot(&mut self, event: &Hot) {
        self.0.fetch_or(event.value > 100_000, Ordering::Relaxed);
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a runtime").block_on(run());
}

async fn run() {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").expect("a known setting");
    let isa = cranelift_native::builder().expect("this machine").finish(settings::Flags::new(flags)).expect("valid flags");
    let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut jit = Jit { module, programs: programs(), versions: 0 };

    // The feedback side: code map, profile, ring, and the monitor on this runtime.
    let (code_map, profile, hot) = (Arc::new(CodeMap::new()), Arc::new(Profile::default()), HotFlag::default());
    let (range, function) = (jit.programs[KERNEL].as_ptr_range(), FunctionId { module: 1, func: KERNEL as u32 });
    let offsets = (0..jit.programs[KERNEL].len() as u32).map(|pc| (pc * size_of::<Op>() as u32, pc)).collect();
    let entry = CodeEntry::new(function, 1, Tier::Baseline, offsets);
    code_map.insert(range.start as u64..range.end as u64, entry).expect("the only range");
    let monitor = Arc::new(Monitor::new(MonitorConfig::default(), code_map, profile.clone(), Box::new(hot.clone())));
    let ring = Ring::new(&RingConfig { interval1: 4095, ..RingConfig::default() }).expect("valid sizes");
    monitor.add_ring(ring.clone()).expect("a new ring");
    let polling = monitor.clone();
    let task = tokio::spawn(async move { polling.run().await });

    let heap: Vec<i64> = (0..=HEAP_MASK).map(|i| mix(mix(i)) >> 20).collect();
    let (lwpcb, producer) = (ring.lwpcb() as u64, ring.producer().expect("a new ring"));
    let mut vm = Vm { lwpcb, heap: heap.as_ptr(), functions: [0; 4], producer, predictors: BTreeMap::new() };
    (1..4).for_each(|func| vm.functions[func] = jit.compile(func, &Plan::default()) as usize as u64);

    /// Runs 2 M iterations twice; the second time's nanoseconds per iteration, and the sum.
    fn measure(vm: &mut Vm, code: Code, which: i64) -> (f64, i64) {
        let mut run = || (0..5).fold(0i64, |sum, slice| sum.wrapping_add(code(vm, slice * 400_000, (slice + 1) * 400_000, which)));
        run();
        let begin = Instant::now();
        let sum = run();
        (begin.elapsed().as_secs_f64() * 1e9 / 2e6, sum)
    }
    let baseline = jit.compile(KERNEL, &Plan::default());
    let (before_ns, expected) = measure(&mut vm, baseline, 2);
    while !hot.0.load(Ordering::Relaxed) {
        tokio::task::yield_now().await; // the monitor gets its turn
    }
    let instrumented = jit.compile(KERNEL, &Plan { instrumented: true, ..Plan::default() });
    for burst in 0..8 {
        instrumented(&mut vm, burst * 50_000, burst * 50_000 + 500, 2);
        while ring.used_bytes() > 0 {
            monitor.wake();
            tokio::task::yield_now().await;
        }
    }

    // From records to a plan.
    let mut snapshot = profile.snapshot(1);
    snapshot.facts = jit
        .programs
        .iter()
        .zip(0..)
        .map(|(program, func)| FunctionFacts { func, body_bytes: program.len() as u32, inlinable: func != 0, reason: None })
        .collect();
    let (plans, refusals) = policy::plan(&snapshot, &Budgets::default());
    plans.iter().for_each(|plan| println!("{plan}"));
    refusals.iter().for_each(|refusal| println!("{refusal}"));
    let (kernel, mut plan) = (profile.function(function).expect("it has records"), Plan::default());
    for decision in plans.iter().flat_map(|plan| &plan.decisions) {
        if let Decision::Inline(inline) = decision {
            plan.inline.insert(inline.offset as usize, inline.targets[0].callee as usize);
        }
    }
    for branch in &kernel.branches {
        println!("branch at {}: {} predicted, {} mispredicted", branch.offset, branch.predicted, branch.mispredicted);
        if branch.mispredicted * 5 > branch.predicted + branch.mispredicted {
            plan.select.insert(branch.offset as usize);
        }
    }
    for load in &kernel.loads {
        println!("load at {}: {} records, mean {:.0} ticks, {} from DRAM", load.offset, load.count(), load.mean_latency(), load.sources[3]);
        if load.mean_latency() > 150.0 {
            plan.prefetch.insert(load.offset as usize);
        }
    }

    let optimized = jit.compile(KERNEL, &plan);
    let (after_ns, result) = measure(&mut vm, optimized, 2);
    assert_eq!(result, expected, "any plan leaves the result as it is");
    assert_eq!(measure(&mut vm, optimized, 1).1, measure(&mut vm, baseline, 1).1, "also when its guard fails");
    println!("before {before_ns:.2} ns per iteration, after {after_ns:.2}: {:.2} times as fast", before_ns / after_ns);
    monitor.stop();
    task.await.expect("the monitor does not panic");
    let stats = monitor.stats();
    println!("{} records drained, {} missed, {} unresolved", stats.records, stats.missed, stats.unresolved);
}
