//! The whole idea on one page: a stack-bytecode VM whose compiled code profiles itself through an LWP ring and is recompiled from what
//! the records say. No wasm here; back end: cranelift-jit.
//!
//! 1. `compile` turns bytecode into machine code. Indirect calls carry an LWPVAL (the callee), the entry an LWPINS ("hot").
//! 2. When the monitor reports "hot", a few short *bursts* run in an instrumented version: every branch goes through a predictor
//!    model and every load is timed; what they find becomes branch and DCache records in the same ring.
//! 3. The profile gives a plan: inline the dominant callee behind a guard, turn a mispredicted branch into selects, prefetch a load
//!    that misses. Any plan leaves the result as it is; the program checks it.
//!
//! The monitor is polled on this program's own tokio runtime. Run: `cargo run --release -p lwp-feedback --example bytecode_jit`

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, Block, Endianness, InstBuilder, MemFlagsData, Signature, TrapCode, UserFuncName, Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Module, default_libcall_names};
use lwp_feedback::class::SiteClass;
use lwp_feedback::codemap::{CodeEntry, CodeMap, FunctionId, Tier};
use lwp_feedback::layout::{COUNTER_SIGN_BIT, EventId, Record, offset};
use lwp_feedback::monitor::{Hot, Listener, Monitor, MonitorConfig};
use lwp_feedback::policy::{self, Budgets, Decision};
use lwp_feedback::profile::{FunctionFacts, Profile};
use lwp_feedback::ring::{
    Ring, RingConfig, RingProducer, store_programmed, store_value_sample, time_stamp,
};

/// Bytecode. Jumps and their targets have an empty stack.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Const(i64),
    Get(usize),
    Set(usize),
    Add,
    Mul,
    And,
    Less,
    /// Pops an index, pushes heap[index & HEAP_MASK].
    Load,
    /// Pops a function number and an argument, pushes the result.
    Call,
    Jump(usize),
    JumpIfZero(usize),
    Return,
}
use Op::*;

const HEAP_MASK: i64 = (1 << 24) - 1; // 128 MiB: misses every cache
const I: usize = 0;
const END: usize = 1;
const WHICH: usize = 2;
const ACC: usize = 3;
const X: usize = 4;
const KERNEL: usize = 0;
const AHEAD: i64 = 64; // prefetch distance, iterations

/// `for i in i..end { x = heap[hash(i)]; if x < 0 { acc += x * 3 }; acc += functions[which](x) }`
fn programs() -> Vec<Vec<Op>> {
    #[rustfmt::skip]
    let kernel = vec![
        Get(I), Get(END), Less, JumpIfZero(30),
        Get(I), Const(0x9E37_79B9), Mul, Load, Set(X),
        Get(X), Const(0), Less, JumpIfZero(19),
        Get(ACC), Get(X), Const(3), Mul, Add, Set(ACC),
        Get(ACC), Get(X), Get(WHICH), Call, Add, Set(ACC),
        Get(I), Const(1), Add, Set(I), Jump(0),
        Get(ACC), Return,
    ];
    let leaf = |mask: i64| vec![Get(0), Const(mask), And, Const(7), Add, Return];
    vec![kernel, leaf(0xFF), leaf(0xFFFF), leaf(0xF)]
}

/// Scrambles, so that no predictor sees a pattern.
fn mix(value: i64) -> i64 {
    (value ^ value >> 29).wrapping_mul(0x5851_F42D_4C95_7F2D) ^ value >> 11
}

/// What compiled code reaches through its first parameter.
#[repr(C)]
struct Vm {
    lwpcb: u64,
    heap: *const i64,
    functions: [u64; 4],
    producer: RingProducer,
    predictors: BTreeMap<u64, u8>,
}

/// Instrumented code calls this at every branch: a two-bit predictor decides what a processor would have predicted.
extern "C" fn sample_branch(vm: &mut Vm, ip: u64, taken: u64) {
    let counter = vm.predictors.entry(ip).or_insert(1);
    let predicted = u64::from(*counter >= 2) == taken;
    *counter = if taken == 1 { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    let flags = (taken as u16) << 15 | u16::from(predicted) << 14 | 1 << 13;
    vm.producer.store(&Record::new(EventId::BRANCHES, 0, flags, 0, ip, 0, 0));
}

/// The time stamp when everything before has finished.
fn fenced_time() -> u64 {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { std::arch::x86_64::_mm_lfence() };
    let now = time_stamp();
    // SAFETY: as above.
    unsafe { std::arch::x86_64::_mm_lfence() };
    now
}

/// Instrumented code loads through this: the latency tells where the data came from.
extern "C" fn sample_load(vm: &mut Vm, ip: u64, address: *const i64) -> i64 {
    let begin = fenced_time();
    // SAFETY: compiled code masks the index, so the address is inside the heap. The value is used, so the load stays.
    let value = unsafe { address.read_volatile() };
    std::hint::black_box(value);
    let ticks = fenced_time() - begin;
    let flags = if ticks > 250 { 3 << 13 } else { 1 << 13 } | 1 << 12;
    vm.producer.store(&Record::new(EventId::DCACHE, 0, flags, ticks as u32, ip, address as u64, 0));
    value
}

/// What to do differently, by position in the kernel's bytecode.
#[derive(Default, Debug)]
struct Plan {
    inline: BTreeMap<usize, usize>,
    select: BTreeSet<usize>,
    prefetch: BTreeSet<usize>,
    instrumented: bool,
}

struct Jit {
    module: JITModule,
    programs: Vec<Vec<Op>>,
    versions: u32,
}

type Code = extern "C" fn(*mut Vm, i64, i64, i64) -> i64;

struct Translator<'a, 'b> {
    builder: &'a mut FunctionBuilder<'b>,
    programs: &'a [Vec<Op>],
    plan: &'a Plan,
    vm: Value,
    locals: Vec<Variable>,
    blocks: BTreeMap<usize, Block>,
    call_conv: CallConv,
}

impl Translator<'_, '_> {
    fn site(&mut self, func: usize, pc: usize) -> Value {
        // Records carry the bytecode's address, as an interpreter's would: the same in every version.
        self.builder.ins().iconst(I64, &raw const self.programs[func][pc] as i64)
    }

    fn call(&mut self, address: Value, arguments: &[Value]) -> Value {
        let mut signature = Signature::new(self.call_conv);
        signature.params = arguments.iter().map(|&value| AbiParam::new(self.builder.func.dfg.value_type(value))).collect();
        signature.returns.push(AbiParam::new(I64));
        let signature = self.builder.import_signature(signature);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call)[0]
    }

    fn helper(&mut self, function: usize, arguments: &[Value]) -> Value {
        let address = self.builder.ins().iconst(I64, function as i64);
        self.call(address, arguments)
    }

    /// LWPVAL: count down in the LWPCB; the record is written on the cold path.
    fn lwpval(&mut self, site: Value, class: SiteClass, value: Value) {
        let flags = MemFlagsData::trusted();
        let lwpcb = self.builder.ins().load(I64, flags, self.vm, 0);
        let counter = self.builder.ins().load(I32, flags, lwpcb, offset::EVENT1_COUNTER);
        let counter = self.builder.ins().iadd_imm_s(counter, -1);
        self.builder.ins().store(flags, counter, lwpcb, offset::EVENT1_COUNTER);
        let due = self.builder.ins().band_imm_u(counter, i64::from(COUNTER_SIGN_BIT));
        let (cold, next) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(due, cold, &[], next, &[]);
        self.builder.set_cold_block(cold);
        self.builder.switch_to_block(cold);
        let imm = self.builder.ins().iconst(I32, i64::from(class.imm16(0)));
        let zero = self.builder.ins().iconst(I32, 0);
        self.helper(store_value_sample as *const () as usize, &[lwpcb, site, imm, zero, value]);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    fn address(&mut self, index: Value) -> Value {
        let heap = self.builder.ins().load(I64, MemFlagsData::trusted(), self.vm, 8);
        let index = self.builder.ins().band_imm_u(index, HEAP_MASK);
        let bytes = self.builder.ins().ishl_imm_u(index, 3);
        self.builder.ins().iadd(heap, bytes)
    }

    /// The load's address, AHEAD iterations later: its address slice again, with the loop's counter moved. A dead 16-bit load with a trap
    /// code stands for the prefetch until `patch` rewrites it.
    fn prefetch(&mut self, func: usize, pc: usize) {
        let start = (0..pc).rev().find(|&at| matches!(self.programs[func][at], Set(_) | JumpIfZero(_))).map_or(0, |at| at + 1);
        let mut stack = Vec::new();
        for at in start..pc {
            self.straight(func, at, &mut stack);
            if self.programs[func][at] == Get(I) {
                let later = stack.pop().expect("Get pushes");
                stack.push(self.builder.ins().iadd_imm_s(later, AHEAD));
            }
        }
        let address = self.address(stack.pop().expect("the address slice leaves the index"));
        let marker = MemFlagsData::new().with_endianness(Endianness::Little).with_trap_code(Some(TrapCode::unwrap_user(7)));
        self.builder.ins().load(I16, marker, address, 0);
    }

    /// Operators without control flow; true if this was one.
    fn straight(&mut self, func: usize, pc: usize, stack: &mut Vec<Value>) -> bool {
        let mut pop = || stack.pop().expect("bytecode keeps its stack balanced");
        let value = match self.programs[func][pc] {
            Const(value) => self.builder.ins().iconst(I64, value),
            Get(local) => self.builder.use_var(self.locals[local]),
            Set(local) => {
                let value = pop();
                self.builder.def_var(self.locals[local], value);
                return true;
            }
            Add => { let b = pop(); let a = pop(); self.builder.ins().iadd(a, b) }
            Mul => { let b = pop(); let a = pop(); self.builder.ins().imul(a, b) }
            And => { let b = pop(); let a = pop(); self.builder.ins().band(a, b) }
            Less => {
                let b = pop();
                let a = pop();
                let flag = self.builder.ins().icmp(IntCC::SignedLessThan, a, b);
                self.builder.ins().uextend(I64, flag)
            }
            Load => {
                let index = pop();
                let address = self.address(index);
                if self.plan.instrumented {
                    let site = self.site(func, pc);
                    self.helper(sample_load as *const () as usize, &[self.vm, site, address])
                } else {
                    if self.plan.prefetch.contains(&pc) {
                        self.prefetch(func, pc);
                    }
                    self.builder.ins().load(I64, MemFlagsData::trusted(), address, 0)
                }
            }
            Call | Jump(_) | JumpIfZero(_) | Return => return false,
        };
        stack.push(value);
        true
    }

    fn generic_call(&mut self, which: Value, argument: Value) -> Value {
        let slot = self.builder.ins().ishl_imm_u(which, 3);
        let slot = self.builder.ins().iadd(self.vm, slot);
        let target = self.builder.ins().load(I64, MemFlagsData::trusted(), slot, 16);
        let zero = self.builder.ins().iconst(I64, 0);
        self.call(target, &[self.vm, argument, zero, zero])
    }

    fn indirect_call(&mut self, func: usize, pc: usize, which: Value, argument: Value) -> Value {
        let Some(&callee) = self.plan.inline.get(&pc) else {
            let site = self.site(func, pc);
            self.lwpval(site, SiteClass::CallTarget, which);
            return self.generic_call(which, argument);
        };
        // Guarded inlining: the callee's bytecode in place, the generic call behind the guard.
        let (hit, miss, join) = (self.builder.create_block(), self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(join, I64);
        let expected = self.builder.ins().icmp_imm_s(IntCC::Equal, which, callee as i64);
        self.builder.ins().brif(expected, hit, &[], miss, &[]);
        self.builder.set_cold_block(miss);
        self.builder.switch_to_block(miss);
        let value = self.generic_call(which, argument);
        self.builder.ins().jump(join, &[value.into()]);
        self.builder.switch_to_block(hit);
        let parameter = self.builder.declare_var(I64);
        self.builder.def_var(parameter, argument);
        let caller_locals = std::mem::replace(&mut self.locals, vec![parameter]);
        let mut stack = Vec::new();
        for at in 0..self.programs[callee].len() - 1 {
            self.straight(callee, at, &mut stack);
        }
        self.locals = caller_locals;
        self.builder.ins().jump(join, &[stack[0].into()]);
        self.builder.switch_to_block(join);
        result
    }

    fn function(&mut self, func: usize) {
        let program = &self.programs[func];
        let mut stack: Vec<Value> = Vec::new();
        let mut pc = 0;
        let mut open = true;
        while pc < program.len() {
            if let Some(&block) = self.blocks.get(&pc) {
                if open {
                    self.builder.ins().jump(block, &[]);
                }
                self.builder.switch_to_block(block);
                open = true;
            }
            if self.straight(func, pc, &mut stack) {
                pc += 1;
                continue;
            }
            let value = stack.pop();
            match (program[pc], value) {
                (Call, Some(which)) => {
                    let argument = stack.pop().expect("a call has an argument");
                    let result = self.indirect_call(func, pc, which, argument);
                    stack.push(result);
                }
                (JumpIfZero(target), Some(condition)) if self.plan.select.contains(&pc) => {
                    // Branch to select: run the arm, keep its effects only if the condition holds.
                    let before: Vec<Value> = self.locals.iter().map(|&local| self.builder.use_var(local)).collect();
                    (pc + 1..target).for_each(|at| _ = self.straight(func, at, &mut stack));
                    for (local, old) in self.locals.clone().into_iter().zip(before) {
                        let new = self.builder.use_var(local);
                        if new != old {
                            let kept = self.builder.ins().select(condition, new, old);
                            self.builder.def_var(local, kept);
                        }
                    }
                    pc = target - 1;
                }
                (JumpIfZero(target), Some(condition)) => {
                    if self.plan.instrumented {
                        let site = self.site(func, pc);
                        let taken = self.builder.ins().icmp_imm_s(IntCC::Equal, condition, 0);
                        let taken = self.builder.ins().uextend(I64, taken);
                        self.helper(sample_branch as *const () as usize, &[self.vm, site, taken]);
                    }
                    let next = self.builder.create_block();
                    self.builder.ins().brif(condition, next, &[], self.blocks[&target], &[]);
                    self.builder.switch_to_block(next);
                }
                (Jump(target), None) => {
                    self.builder.ins().jump(self.blocks[&target], &[]);
                    open = false;
                }
                (Return, Some(value)) => {
                    self.builder.ins().return_(&[value]);
                    open = false;
                }
                (op, _) => panic!("malformed bytecode at {pc}: {op:?}"),
            }
            pc += 1;
        }
    }
}

impl Jit {
    fn compile(&mut self, func: usize, plan: &Plan) -> Code {
        let mut context = self.module.make_context();
        let call_conv = self.module.isa().default_call_conv();
        context.func.signature.params = vec![AbiParam::new(I64); 4];
        context.func.signature.returns = vec![AbiParam::new(I64)];
        self.versions += 1;
        context.func.name = UserFuncName::user(0, self.versions);
        let mut frontend = FunctionBuilderContext::new();
        let mut builder = FunctionBuilder::new(&mut context.func, &mut frontend);
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let parameters = builder.block_params(entry).to_vec();
        let locals: Vec<Variable> = (0..5).map(|_| builder.declare_var(I64)).collect();
        for (index, &local) in locals.iter().enumerate() {
            let value = parameters.get(index + 1).copied();
            let value = value.unwrap_or_else(|| builder.ins().iconst(I64, 0));
            builder.def_var(local, value);
        }
        let targets = self.programs[func].iter().filter_map(|op| match op {
            Jump(target) | JumpIfZero(target) => Some(*target),
            _ => None,
        });
        let blocks = targets.collect::<BTreeSet<_>>().into_iter().map(|pc| (pc, builder.create_block())).collect();
        let (programs, vm) = (&self.programs[..], parameters[0]);
        let mut translator = Translator { builder: &mut builder, programs, plan, vm, locals, blocks, call_conv };
        if func == KERNEL {
            // LWPINS at entry: this function is running, `end - i` iterations of it.
            let lwpcb = translator.builder.ins().load(I64, MemFlagsData::trusted(), vm, 0);
            let site = translator.site(func, 0);
            let imm = translator.builder.ins().iconst(I32, i64::from(SiteClass::HotFunction.imm16(0)));
            let zero = translator.builder.ins().iconst(I32, 0);
            let turns = translator.builder.ins().isub(parameters[2], parameters[1]);
            translator.helper(store_programmed as *const () as usize, &[lwpcb, site, imm, zero, turns]);
        }
        translator.function(func);
        builder.seal_all_blocks();
        builder.finalize(self.module.target_config());
        let id = self.module.declare_anonymous_function(&context.func.signature).expect("a new function");
        let compiled = context.compile(self.module.isa(), &mut Default::default()).expect("the translator's output is valid");
        let mut bytes = compiled.code_buffer().to_vec();
        let markers: Vec<usize> = compiled.buffer.traps().iter().filter(|trap| trap.code == TrapCode::unwrap_user(7)).map(|trap| trap.offset as usize).collect();
        assert_eq!(markers.len(), plan.prefetch.len(), "every marker survived");
        markers.into_iter().for_each(|at| patch(&mut bytes[at..]));
        self.module.define_function_bytes(id, 16, &bytes, &[]).expect("code fits");
        self.module.finalize_definitions().expect("no relocations");
        // SAFETY: the function was compiled with this signature, and the module is never freed.
        unsafe { std::mem::transmute::<*const u8, Code>(self.module.get_finalized_function(id)) }
    }
}

/// `[REX] 0F B7 /r` (movzx r32, m16) becomes `[REX] 0F 18 /1` (prefetcht0) of the same address.
fn patch(code: &mut [u8]) {
    let at = usize::from(code[0] & 0xF0 == 0x40);
    assert_eq!(code[at..at + 2], [0x0F, 0xB7], "a marker is a 16-bit load");
    if at == 1 {
        code[0] &= !4;
    }
    code[at + 1] = 0x18;
    code[at + 2] = code[at + 2] & 0xC7 | 1 << 3;
}

#[derive(Clone, Default)]
struct HotFlag(Arc<AtomicBool>);

impl Listener for HotFlag {
    fn hot(&mut self, event: &Hot) {
        self.0.fetch_or(event.value > 100_000, Ordering::Relaxed);
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(run());
}

async fn run() {
    let mut flags = settings::builder();
    flags.set("opt_level", "speed").expect("a known setting");
    let isa = cranelift_native::builder().expect("this machine").finish(settings::Flags::new(flags)).expect("valid flags");
    let module = JITModule::new(JITBuilder::with_isa(isa, default_libcall_names()));
    let mut jit = Jit { module, programs: programs(), versions: 0 };

    // The feedback side: ring, code map, profile, monitor on this runtime.
    let (code_map, profile, hot) = (Arc::new(CodeMap::new()), Arc::new(Profile::default()), HotFlag::default());
    let program = &jit.programs[KERNEL];
    let range = program.as_ptr_range();
    let offsets = (0..program.len() as u32).map(|pc| (pc * size_of::<Op>() as u32, pc)).collect();
    let function = FunctionId { module: 1, func: KERNEL as u32 };
    let entry = CodeEntry::new(function, 1, Tier::Baseline, offsets);
    code_map.insert(range.start as u64..range.end as u64, entry).expect("the only range");
    let monitor = Arc::new(Monitor::new(MonitorConfig::default(), code_map, profile.clone(), Box::new(hot.clone())));
    let ring = Ring::new(&RingConfig { interval1: 4095, ..RingConfig::default() }).expect("valid sizes");
    monitor.add_ring(ring.clone()).expect("a new ring");
    let task = tokio::spawn({
        let monitor = monitor.clone();
        async move { monitor.run().await }
    });

    let heap: Vec<i64> = (0..=HEAP_MASK).map(|i| mix(mix(i)) >> 20).collect();
    let producer = ring.producer().expect("a new ring");
    let mut vm = Vm { lwpcb: ring.lwpcb() as u64, heap: heap.as_ptr(), functions: [0; 4], producer, predictors: BTreeMap::new() };
    for func in 1..4 {
        vm.functions[func] = jit.compile(func, &Plan::default()) as usize as u64;
    }

    const SLICE: i64 = 400_000;
    let slices = |vm: &mut Vm, code: Code, which: i64| {
        let (begin, mut sum) = (Instant::now(), 0i64);
        (0..5).for_each(|slice| sum = sum.wrapping_add(code(vm, slice * SLICE, (slice + 1) * SLICE, which)));
        (begin.elapsed().as_secs_f64() * 1e9 / (5 * SLICE) as f64, sum)
    };
    let baseline = jit.compile(KERNEL, &Plan::default());
    slices(&mut vm, baseline, 2);
    let (before_ns, expected) = slices(&mut vm, baseline, 2);
    while !hot.0.load(Ordering::Relaxed) {
        tokio::task::yield_now().await; // the monitor gets its turn
    }

    let instrumented = jit.compile(KERNEL, &Plan { instrumented: true, ..Plan::default() });
    for burst in 0..8 {
        let start = burst * SLICE / 8;
        instrumented(&mut vm, start, start + 500, 2);
        while ring.used_bytes() > 0 {
            monitor.wake();
            tokio::task::yield_now().await;
        }
    }

    let mut snapshot = profile.snapshot(1);
    let facts = |(func, program): (usize, &Vec<Op>)| FunctionFacts {
        func: func as u32,
        body_bytes: program.len() as u32,
        inlinable: func != KERNEL,
        reason: None,
    };
    snapshot.facts = jit.programs.iter().enumerate().map(facts).collect();
    let (plans, refusals) = policy::plan(&snapshot, &Budgets::default());
    let kernel = profile.function(function).expect("it has records");
    let mut plan = Plan::default();
    for Decision::Inline(inline) in plans.iter().flat_map(|plan| &plan.decisions) {
        plan.inline.insert(inline.offset as usize, inline.targets[0].callee as usize);
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
    plans.iter().for_each(|plan| println!("{plan}"));
    refusals.iter().for_each(|refusal| println!("{refusal}"));

    let optimized = jit.compile(KERNEL, &plan);
    slices(&mut vm, optimized, 2);
    let (after_ns, result) = slices(&mut vm, optimized, 2);
    assert_eq!(result, expected, "any plan leaves the result as it is");
    assert_eq!(slices(&mut vm, optimized, 1).1, slices(&mut vm, baseline, 1).1, "also when its guard fails");
    println!("before {before_ns:.2} ns per iteration, after {after_ns:.2}: {:.2} times as fast", before_ns / after_ns);
    monitor.stop();
    task.await.expect("the monitor does not panic");
    let stats = monitor.stats();
    println!("{} records drained, {} missed, {} unresolved", stats.records, stats.missed, stats.unresolved);
}
