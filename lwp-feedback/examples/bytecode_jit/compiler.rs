//! The VM: bytecode, its compiler, and what instrumented code calls. A stack machine with locals, a heap and indirect calls.

use std::arch::x86_64::_mm_lfence;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, Endianness, InstBuilder, MemFlagsData, Signature, TrapCode, Value};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::{COUNTER_SIGN_BIT, Lwpcb, offset};
use lwp_feedback::ring::{BranchEvent, MissEvent, store_branch, store_miss, store_programmed, store_value_sample, time_stamp};

/// Bytecode. Jumps and their targets have an empty stack.
#[rustfmt::skip]
#[derive(Clone, Copy)]
pub enum Op {
    Const(i64), Get(usize), Set(usize), Add, Mul, And, Less, Jump(usize), JumpIfZero(usize), Return,
    /// Pops an index, pushes heap[index & HEAP_MASK].
    Load,
    /// Pops a function number and an argument, pushes the result.
    Call,
}

pub const HEAP_MASK: i64 = (1 << 24) - 1; // 128 MiB: misses every cache
pub const KERNEL: usize = 0;
const AHEAD: i64 = 64; // prefetch distance, iterations
const MARKER: TrapCode = TrapCode::unwrap_user(7); // of loads that become prefetches
const FLAGS: MemFlagsData = MemFlagsData::trusted();
const I: usize = 0; // the local that counts a kernel's loop

/// `for i in i..end { x = heap[hash(i)]; if x < 0 { acc += x * 3 }; acc += functions[which](x) }`, and three functions to choose from.
#[rustfmt::skip]
pub fn programs() -> Vec<Vec<Op>> {
    let [end, which, acc, x] = [1, 2, 3, 4]; // locals, parameters first
    let kernel = vec![
        Get(I), Get(end), Less, JumpIfZero(30), Get(I), Const(0x9E37_79B9), Mul, Load, Set(x),
        Get(x), Const(0), Less, JumpIfZero(19), Get(acc), Get(x), Const(3), Mul, Add, Set(acc),
        Get(acc), Get(x), Get(which), Call, Add, Set(acc), Get(I), Const(1), Add, Set(I), Jump(0), Get(acc), Return,
    ];
    let leaf = |mask: i64| vec![Get(0), Const(mask), And, Const(7), Add, Return];
    vec![kernel, leaf(0xFF), leaf(0xFFFF), leaf(0xF)]
}

/// What compiled code reaches through its first parameter; the numbers 0, 8 and 16 below are these offsets.
#[repr(C)]
pub struct Vm {
    pub lwpcb: *mut Lwpcb,
    pub heap: *const i64,
    pub functions: [u64; 4],
    pub predictors: BTreeMap<u64, u8>,
}

/// Instrumented code calls this at every branch: a two-bit predictor decides what a processor would have predicted.
extern "C" fn sample_branch(vm: &mut Vm, address: u64, taken: bool) {
    let counter = vm.predictors.entry(address).or_insert(1);
    let predicted = Some((*counter >= 2) == taken);
    *counter = if taken { (*counter + 1).min(3) } else { counter.saturating_sub(1) };
    // SAFETY: the ring is alive, and this thread is its only producer.
    unsafe { store_branch(vm.lwpcb, &BranchEvent { address, conditional: true, direct: true, taken, predicted, target: 0 }) };
}

/// Instrumented code loads through this: the latency tells where the data came from.
extern "C" fn sample_load(vm: &mut Vm, address: u64, data: *const i64) -> i64 {
    // SAFETY: SSE2 is part of x86-64.
    let fenced_time = || unsafe { (_mm_lfence(), time_stamp(), _mm_lfence()).1 };
    let begin = fenced_time();
    // SAFETY: compiled code masks the index, so `data` is inside the heap.
    let value = unsafe { data.read_volatile() };
    let latency = (fenced_time() - begin) as u32;
    let source = if latency > 250 { 3 } else { 1 }; // memory, or the last cache
    // SAFETY: as above, of the ring.
    unsafe { store_miss(vm.lwpcb, &MissEvent { address, source, latency, data_address: data as u64 }) };
    value
}

/// What to do differently at a position of the kernel: inline this function behind a guard, compute both ways and select, load early.
#[rustfmt::skip]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change { Inline(usize), Select, Prefetch }
use Change::*;
use Op::*;
pub type Plan = BTreeMap<usize, Change>;

pub type Code = extern "C" fn(*mut Vm, i64, i64, i64) -> i64;

/// One function's translation. Blocks are by function and position; `b` is the builder.
struct Translator<'a, 'b> {
    b: &'a mut FunctionBuilder<'b>,
    programs: &'a [Vec<Op>],
    plan: &'a Plan,
    instrumented: bool,
    vm: Value,
    locals: Vec<Variable>,
    blocks: BTreeMap<(usize, usize), Block>,
}

#[rustfmt::skip]
impl Translator<'_, '_> {
    fn constant(&mut self, value: i64) -> Value { self.b.ins().iconst(I64, value) }
    fn field(&mut self, base: Value, offset: i32) -> Value { self.b.ins().load(I64, FLAGS, base, offset) }
    /// Records carry the bytecode's address, as an interpreter's would: the same in every version.
    fn site(&mut self, func: usize, pc: usize) -> Value { self.constant(&raw const self.programs[func][pc] as i64) }
    fn compare(&mut self, how: IntCC, left: Value, right: Value) -> Value { let b = self.b.ins().icmp(how, left, right); self.b.ins().uextend(I64, b) }
    fn helper(&mut self, function: *const (), arguments: &[Value]) -> Value { let f = self.constant(function as i64); self.call(f, arguments) }
}

impl Translator<'_, '_> {
    /// Calls a function of the program, or of this file, with words; those that return nothing return a word that is not used.
    fn call(&mut self, address: Value, arguments: &[Value]) -> Value {
        let mut signature = Signature::new(self.b.func.signature.call_conv);
        signature.params = vec![AbiParam::new(I64); arguments.len()];
        signature.returns = vec![AbiParam::new(I64)];
        let signature = self.b.import_signature(signature);
        let call = self.b.ins().call_indirect(signature, address, arguments);
        self.b.inst_results(call)[0]
    }

    /// The record of an LWPVAL or LWPINS: (LWPCB, site, imm16, Data1 = 0, Data2).
    fn record(&mut self, store: *const (), site: Value, class: SiteClass, value: Value) {
        let (lwpcb, imm16, data1) = (self.field(self.vm, 0), self.constant(class.imm16(0).into()), self.constant(0));
        self.helper(store, &[lwpcb, site, imm16, data1, value]);
    }

    /// LWPVAL: counts down in the LWPCB; the record is written on the cold path.
    fn lwpval(&mut self, site: Value, class: SiteClass, value: Value) {
        let lwpcb = self.field(self.vm, 0);
        let counter = self.b.ins().load(I32, FLAGS, lwpcb, offset::EVENT1_COUNTER);
        let counter = self.b.ins().iadd_imm_s(counter, -1);
        self.b.ins().store(FLAGS, counter, lwpcb, offset::EVENT1_COUNTER);
        let due = self.b.ins().band_imm_u(counter, i64::from(COUNTER_SIGN_BIT));
        let (cold, next) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(due, cold, &[], next, &[]);
        self.b.set_cold_block(cold);
        self.b.switch_to_block(cold);
        self.record(store_value_sample as *const (), site, class, value);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    fn address(&mut self, index: Value) -> Value {
        let heap = self.field(self.vm, 8);
        let index = self.b.ins().band_imm_u(index, HEAP_MASK);
        let bytes = self.b.ins().ishl_imm_u(index, 3);
        self.b.ins().iadd(heap, bytes)
    }

    /// The load's address again, of `AHEAD` iterations later. A dead 16-bit load with a trap code is the prefetch until `patch` rewrites it.
    fn prefetch(&mut self, func: usize, pc: usize) {
        let start = (0..pc).rev().find(|&at| matches!(self.programs[func][at], Set(_) | JumpIfZero(_))).map_or(0, |at| at + 1);
        let (now, mut stack) = (self.b.use_var(self.locals[I]), Vec::new());
        let later = self.b.ins().iadd_imm_s(now, AHEAD);
        self.b.def_var(self.locals[I], later);
        self.translate(func, start..pc, &mut stack);
        self.b.def_var(self.locals[I], now);
        let address = self.address(stack[0]);
        let marker = MemFlagsData::new().with_endianness(Endianness::Little).with_trap_code(Some(MARKER));
        self.b.ins().load(I16, marker, address, 0);
    }

    fn load(&mut self, func: usize, pc: usize, index: Value) -> Value {
        if self.plan.get(&pc) == Some(&Prefetch) {
            self.prefetch(func, pc);
        }
        let (address, site) = (self.address(index), self.site(func, pc));
        if self.instrumented { self.helper(sample_load as *const (), &[self.vm, site, address]) } else { self.field(address, 0) }
    }

    fn generic_call(&mut self, which: Value, argument: Value) -> Value {
        let slot = self.b.ins().ishl_imm_u(which, 3);
        let slot = self.b.ins().iadd(self.vm, slot);
        let (target, zero) = (self.field(slot, 16), self.constant(0));
        self.call(target, &[self.vm, argument, zero, zero])
    }

    /// An indirect call: with its LWPVAL, or the plan's callee inlined behind a guard, with the generic call to fall back to.
    fn indirect_call(&mut self, func: usize, pc: usize, which: Value, argument: Value) -> Value {
        let Some(&Inline(callee)) = self.plan.get(&pc) else {
            let site = self.site(func, pc);
            self.lwpval(site, SiteClass::CallTarget, which);
            return self.generic_call(which, argument);
        };
        let (hit, miss, join) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(join, I64);
        let expected = self.b.ins().icmp_imm_s(IntCC::Equal, which, callee as i64);
        self.b.ins().brif(expected, hit, &[], miss, &[]);
        self.b.set_cold_block(miss);
        self.b.switch_to_block(miss);
        let value = self.generic_call(which, argument);
        self.b.ins().jump(join, &[value.into()]);
        self.b.switch_to_block(hit);
        let parameter = self.b.declare_var(I64);
        self.b.def_var(parameter, argument);
        let (caller_locals, mut stack) = (std::mem::replace(&mut self.locals, vec![parameter]), Vec::new());
        self.translate(callee, 0..self.programs[callee].len() - 1, &mut stack); // all but its Return
        self.locals = caller_locals;
        self.b.ins().jump(join, &[stack[0].into()]);
        self.b.switch_to_block(join);
        result
    }

    /// Branch to select: runs the arm whether the condition holds or not, and keeps its effects only if it does.
    fn select(&mut self, func: usize, arm: Range<usize>, condition: Value) {
        let before: Vec<Value> = self.locals.iter().map(|&local| self.b.use_var(local)).collect();
        self.translate(func, arm, &mut Vec::new());
        for (local, old) in self.locals.clone().into_iter().zip(before) {
            let new = self.b.use_var(local);
            let kept = self.b.ins().select(condition, new, old);
            self.b.def_var(local, kept);
        }
    }

    fn branch(&mut self, func: usize, pc: usize, target: usize, condition: Value) {
        if self.instrumented {
            let (site, zero) = (self.site(func, pc), self.constant(0));
            let taken = self.compare(IntCC::Equal, condition, zero);
            self.helper(sample_branch as *const (), &[self.vm, site, taken]);
        }
        let next = self.b.create_block();
        self.b.ins().brif(condition, next, &[], self.blocks[&(func, target)], &[]);
        self.b.switch_to_block(next);
    }

    /// The operators in `range`, from and to the values on `stack`.
    fn translate(&mut self, func: usize, range: Range<usize>, stack: &mut Vec<Value>) {
        let (program, mut pc) = (&self.programs[func], range.start);
        while pc < range.end {
            if let Some(&block) = self.blocks.get(&(func, pc)) {
                if pc == 0 || !matches!(program[pc - 1], Jump(_) | Return) {
                    self.b.ins().jump(block, &[]);
                }
                self.b.switch_to_block(block);
            }
            let mut pop = || stack.pop().expect("bytecode keeps its stack balanced");
            let result = match program[pc] {
                Const(value) => Some(self.constant(value)),
                Get(local) => Some(self.b.use_var(self.locals[local])),
                Load => Some(self.load(func, pc, pop())),
                Call => Some(self.indirect_call(func, pc, pop(), pop())),
                op @ (Add | Mul | And | Less) => {
                    let (right, left) = (pop(), pop());
                    Some(match op {
                        Add => self.b.ins().iadd(left, right),
                        Mul => self.b.ins().imul(left, right),
                        And => self.b.ins().band(left, right),
                        _ => self.compare(IntCC::SignedLessThan, left, right),
                    })
                }
                op => {
                    match op {
                        Set(local) => self.b.def_var(self.locals[local], pop()),
                        JumpIfZero(target) if self.plan.get(&pc) == Some(&Select) => {
                            self.select(func, pc + 1..target, pop());
                            pc = target - 1;
                        }
                        JumpIfZero(target) => self.branch(func, pc, target, pop()),
                        Jump(target) => _ = self.b.ins().jump(self.blocks[&(func, target)], &[]),
                        _ => _ = self.b.ins().return_(&[pop()]),
                    }
                    None
                }
            };
            stack.extend(result);
            pc += 1;
        }
    }
}

pub fn compile(module: &mut JITModule, programs: &[Vec<Op>], func: usize, plan: &Plan, instrumented: bool) -> Code {
    let (mut context, mut frontend) = (module.make_context(), FunctionBuilderContext::new());
    context.func.signature.params = vec![AbiParam::new(I64); 4];
    context.func.signature.returns = vec![AbiParam::new(I64)];
    let mut b = FunctionBuilder::new(&mut context.func, &mut frontend);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    let zero = b.ins().iconst(I64, 0);
    let (parameters, locals) = (b.block_params(entry).to_vec(), (0..5).map(|_| b.declare_var(I64)).collect::<Vec<_>>());
    locals.iter().enumerate().for_each(|(index, &local)| b.def_var(local, *parameters.get(index + 1).unwrap_or(&zero)));
    let targets = programs[func].iter().filter_map(|op| if let Jump(to) | JumpIfZero(to) = op { Some((func, *to)) } else { None });
    let blocks = targets.collect::<BTreeSet<_>>().into_iter().map(|target| (target, b.create_block())).collect();
    let mut translator = Translator { b: &mut b, programs, plan, instrumented, vm: parameters[0], locals, blocks };
    if func == KERNEL {
        // LWPINS at entry: this function is running, so many iterations of it.
        let (turns, site) = (translator.b.ins().isub(parameters[2], parameters[1]), translator.site(func, 0));
        translator.record(store_programmed as *const (), site, SiteClass::HotFunction, turns);
    }
    translator.translate(func, 0..programs[func].len(), &mut Vec::new());
    b.seal_all_blocks();
    b.finalize(module.target_config());
    let id = module.declare_anonymous_function(&context.func.signature).expect("a new function");
    let compiled = context.compile(module.isa(), &mut Default::default()).expect("the translator's output is valid");
    let mut bytes = compiled.code_buffer().to_vec();
    let markers: Vec<_> = compiled.buffer.traps().iter().filter(|trap| trap.code == MARKER).collect();
    assert_eq!(markers.len(), plan.values().filter(|&&change| change == Prefetch).count(), "every marker survived");
    markers.iter().for_each(|trap| patch(&mut bytes[trap.offset as usize..]));
    module.define_function_bytes(id, 16, &bytes, &[]).expect("code fits");
    module.finalize_definitions().expect("no relocations");
    // SAFETY: the function was compiled with this signature, and the module is never freed.
    unsafe { std::mem::transmute::<*const u8, Code>(module.get_finalized_function(id)) }
}

/// `[REX] 0F B7 /r` (movzx r32, m16) becomes `[REX] 0F 18 /1` (prefetcht0) of the same address.
fn patch(code: &mut [u8]) {
    let at = usize::from(code[0] & 0xF0 == 0x40);
    assert_eq!(code[at..at + 2], [0x0F, 0xB7], "a marker is a 16-bit load");
    code[0] &= if at == 1 { !4 } else { !0 };
    code[at + 1] = 0x18;
    code[at + 2] = code[at + 2] & 0xC7 | 1 << 3;
}
