//! The whole idea on one page: a stack-bytecode VM whose compiled code profiles itself through an LWP ring and is recompiled from what
//! the records say. The back end is cranelift-jit; the monitor is polled on this program's own tokio runtime.
//!
//! 1. `compile` turns bytecode into machine code. Indirect calls carry an LWPVAL (the callee), the kernel's entry an LWPINS ("hot").
//! 2. Once it is hot, a few *bursts* run an instrumented version: branches go through a predictor model, loads are timed, and both
//!    write branch and DCache records into the same ring.
//! 3. The profile gives a plan: inline the dominant callee behind a guard, turn a mispredicted branch into selects, prefetch a load
//!    that misses. Any plan leaves the result as it is; the program checks it.

mod compiler;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use compiler::{Change, Code, HEAP_MASK, KERNEL, Op, Plan, Vm};
use cranelift_jit::{JITBuilder, JITModule};
use lwp_feedback::codemap::{CodeEntry, CodeMap, FunctionId, Tier};
use lwp_feedback::monitor::{Monitor, MonitorConfig, NoListener};
use lwp_feedback::profile::{FunctionSnapshot, Profile, SiteSnapshot};
use lwp_feedback::ring::{Ring, RingConfig};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let builder = JITBuilder::with_flags(&[("opt_level", "speed")], cranelift_module::default_libcall_names()).expect("this machine");
    let (mut module, programs) = (JITModule::new(builder), compiler::programs());
    let mut compile = |func, plan: &Plan, instrumented| compiler::compile(&mut module, &programs, func, plan, instrumented);

    // The feedback side: code map, profile, ring, and the monitor on this runtime.
    let (code_map, profile) = (Arc::new(CodeMap::new()), Arc::new(Profile::default()));
    let (range, function) = (programs[KERNEL].as_ptr_range(), FunctionId { module: 1, func: KERNEL as u32 });
    let offsets = (0..programs[KERNEL].len() as u32).map(|pc| (pc * size_of::<Op>() as u32, pc)).collect();
    code_map.insert(range.start as u64..range.end as u64, CodeEntry::new(function, 1, Tier::Baseline, offsets)).expect("the only range");
    let monitor = Arc::new(Monitor::new(MonitorConfig::default(), code_map, profile.clone(), Box::new(NoListener)));
    let ring = Ring::new(&RingConfig { interval1: 4095, ..RingConfig::default() }).expect("valid sizes");
    monitor.add_ring(ring.clone()).expect("a new ring");
    let polling = monitor.clone();
    let task = tokio::spawn(async move { polling.run().await });

    let scramble = |value: i64| (value ^ value >> 29).wrapping_mul(0x5851_F42D_4C95_7F2D) ^ value >> 11; // no predictor sees a pattern
    let heap: Vec<i64> = (0..=HEAP_MASK).map(|i| scramble(scramble(i)) >> 20).collect();
    let mut vm = Vm { lwpcb: ring.lwpcb(), heap: heap.as_ptr(), functions: [0; 4], predictors: BTreeMap::new() };
    (1..4).for_each(|func| vm.functions[func] = compile(func, &Plan::new(), false) as usize as u64);

    let baseline = compile(KERNEL, &Plan::new(), false);
    let (before_ns, expected) = measure(&mut vm, baseline, 2);
    while profile.function(function).is_none_or(|kernel| kernel.hot == 0) {
        tokio::task::yield_now().await; // the monitor gets its turn
    }
    let instrumented = compile(KERNEL, &Plan::new(), true);
    for burst in 0..8 {
        instrumented(&mut vm, burst * 50_000, burst * 50_000 + 500, 2);
        while ring.used_bytes() > 0 {
            monitor.wake();
            tokio::task::yield_now().await;
        }
    }

    let plan = plan(&profile.function(function).expect("it has records"));
    println!("{plan:?}, from {} records ({} missed)", monitor.stats().records, monitor.stats().missed);
    let optimized = compile(KERNEL, &plan, false);
    let (after_ns, result) = measure(&mut vm, optimized, 2);
    assert_eq!(result, expected, "any plan leaves the result as it is");
    assert_eq!(measure(&mut vm, optimized, 1).1, measure(&mut vm, baseline, 1).1, "also when its guard fails");
    println!("before {before_ns:.2} ns per iteration, after {after_ns:.2}: {:.2} times as fast", before_ns / after_ns);
    monitor.stop();
    task.await.expect("the monitor does not panic");
}

/// Runs 2 M iterations twice; the second time's nanoseconds per iteration, and the sum.
fn measure(vm: &mut Vm, code: Code, which: i64) -> (f64, i64) {
    let mut run = || (0..5).fold(0i64, |sum, slice| sum.wrapping_add(code(vm, slice * 400_000, (slice + 1) * 400_000, which)));
    run();
    let begin = Instant::now();
    let sum = run();
    (begin.elapsed().as_secs_f64() * 1e9 / 2e6, sum)
}

/// From records to a plan: the most frequent callee, branches often mispredicted, loads that miss.
fn plan(kernel: &FunctionSnapshot) -> Plan {
    let most = |site: &SiteSnapshot| site.values.iter().max_by_key(|value| value.count).map_or(0, |value| value.value as usize);
    let calls = kernel.sites.iter().filter(|it| !it.key.class.is_programmed()).map(|it| (it.key.offset, Change::Inline(most(it))));
    let branches = kernel.branches.iter().filter(|branch| branch.mispredicted * 5 > branch.predicted + branch.mispredicted);
    let loads = kernel.loads.iter().filter(|load| load.mean_latency() > 150.0).map(|load| (load.offset, Change::Prefetch));
    let changes = calls.chain(branches.map(|branch| (branch.offset, Change::Select))).chain(loads);
    changes.map(|(offset, change)| (offset as usize, change)).collect()
}
