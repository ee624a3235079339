//! The VM: bytecode, its compiler, and what instrumented code calls. A stack machine with locals, a heap and indirect calls.

use std::collections::{BTreeMap, BTreeSet};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I16, I32, I64};
use cranelift_codegen::ir::{AbiParam, Block, Endianness, InstBuilder, MemFlagsData, Signature};
use cranelift_codegen::ir::{TrapCode, UserFuncName, Value};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_jit::JITModule;
use cranelift_module::Module;
use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::{COUNTER_SIGN_BIT, EventId, Record, offset};
use lwp_feedback::ring::{RingProducer, store_programmed, store_value_sample, time_stamp};

/// Bytecode. Jumps and their targets have an empty stack.
#[derive(Clone, Copy, Debug, PartialEq)]
#[rustfmt::skip]
pub enum Op {
    Const(i64), Get(usize), Set(usize), Add, Mul, And, Less,
    /// Pops an index, pushes heap[index & HEAP_MASK].
    Load,
    /// Pops a function number and an argument, pushes the result.
    Call,
    Jump(usize), JumpIfZero(usize), Return,
}
use Op::*;

pub const HEAP_MASK: i64 = (1 << 24) - 1; // 128 MiB: misses every cache
#[rustfmt::skip]
const I: usize = 0;
const END: usize = 1;
const WHICH: usize = 2;
const ACC: usize = 3;
const X: usize = 4;
pub const KERNEL: usize = 0;
const AHEAD: i64 = 64; // prefetch distance, iterations
const MARKER: TrapCode = TrapCode::unwrap_user(7); // of loads that become prefetches

/// `for i in i..end { x = heap[hash(i)]; if x < 0 { acc += x * 3 }; acc += functions[which](x) }`
#[rustfmt::skip]
pub fn programs() -> Vec<Vec<Op>> {
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
#[rustfmt::skip]
pub fn mix(value: i64) -> i64 { (value ^ value >> 29).wrapping_mul(0x5851_F42D_4C95_7F2D) ^ value >> 11 }

/// What compiled code reaches through its first parameter.
#[rustfmt::skip]
#[repr(C)]
pub struct Vm {
    pub lwpcb: u64, pub heap: *const i64, pub functions: [u64; 4], pub producer: RingProducer, pub predictors: BTreeMap<u64, u8>,
}

/// Instrumented code calls this at every branch: a two-bit predictor decides what a processor would have predicted.
#[rustfmt::skip]
extern "C" fn sample_branch(vm: &mut Vm, ip: u64, taken: u64) {
    let counter = vm.predictors.entry(ip).or_insert(1);
    let predicted = u64::from(*counter >= 2) == taken;
    *counter = [counter.saturating_sub(1), (*counter + 1).min(3)][taken as usize];
    let flags = (taken as u16) << 15 | u16::from(predicted) << 14 | 1 << 13;
    vm.producer.store(&Record::new(EventId::BRANCHES, 0, flags, 0, ip, 0, 0));
}

/// Instrumented code loads through this: the latency tells where the data came from.
#[rustfmt::skip]
extern "C" fn sample_load(vm: &mut Vm, ip: u64, address: *const i64) -> i64 {
    // SAFETY: SSE2 is part of x86-64.
    let fence = || unsafe { std::arch::x86_64::_mm_lfence() };
    let time = || {
        fence();
        time_stamp()
    };
    let begin = time();
    fence();
    // SAFETY: compiled code masks the index, so the address is inside the heap.
    let value = unsafe { address.read_volatile() };
    let ticks = time() - begin;
    let source: u16 = if ticks > 250 { 3 } else { 1 };
    let flags = source << 13 | 1 << 12;
    vm.producer.store(&Record::new(EventId::DCACHE, 0, flags, ticks as u32, ip, address as u64, 0));
    value
}

/// What to do differently, by position in the kernel's bytecode.
#[rustfmt::skip]
#[derive(Default)]
pub struct Plan {
    pub inline: BTreeMap<usize, usize>, pub select: BTreeSet<usize>, pub prefetch: BTreeSet<usize>, pub instrumented: bool,
}

#[rustfmt::skip]
pub struct Jit {
    pub module: JITModule, pub programs: Vec<Vec<Op>>, pub versions: u32,
}

pub type Code = extern "C" fn(*mut Vm, i64, i64, i64) -> i64;

/// One function's translation. `b` is the builder; `signature` that of all bytecode functions.
#[rustfmt::skip]
struct Translator<'a, 'b> {
    b: &'a mut FunctionBuilder<'b>, programs: &'a [Vec<Op>], plan: &'a Plan, vm: Value, locals: Vec<Variable>,
    blocks: BTreeMap<usize, Block>, signature: Signature,
}

#[rustfmt::skip]
impl Translator<'_, '_> {
    fn constant(&mut self, value: i64) -> Value { self.b.ins().iconst(I64, value) }

    fn load(&mut self, base: Value, offset: i32) -> Value { self.b.ins().load(I64, MemFlagsData::trusted(), base, offset) }

    /// Records carry the bytecode's address, as an interpreter's would: the same in every version.
    fn site(&mut self, func: usize, pc: usize) -> Value { self.constant(&raw const self.programs[func][pc] as i64) }

    fn call(&mut self, address: Value, arguments: &[Value]) -> Value {
        let mut signature = self.signature.clone();
        signature.params = arguments.iter().map(|&value| AbiParam::new(self.b.func.dfg.value_type(value))).collect();
        let signature = self.b.import_signature(signature);
        let call = self.b.ins().call_indirect(signature, address, arguments);
        self.b.inst_results(call)[0]
    }

    fn helper(&mut self, function: *const (), arguments: &[Value]) -> Value {
        let address = self.constant(function as i64);
        self.call(address, arguments)
    }

    /// The record of an LWPVAL or LWPINS: (LWPCB, site, imm16, Data1 = 0, Data2).
    fn record(&mut self, store: *const (), lwpcb: Value, site: Value, class: SiteClass, value: Value) {
        let imm = self.b.ins().iconst(I32, i64::from(class.imm16(0)));
        let zero = self.b.ins().iconst(I32, 0);
        self.helper(store, &[lwpcb, site, imm, zero, value]);
    }

    /// LWPVAL: count down in the LWPCB; the record is written on the cold path.
    fn lwpval(&mut self, site: Value, class: SiteClass, value: Value) {
        let flags = MemFlagsData::trusted();
        let lwpcb = self.load(self.vm, 0);
        let counter = self.b.ins().load(I32, flags, lwpcb, offset::EVENT1_COUNTER);
        let counter = self.b.ins().iadd_imm_s(counter, -1);
        self.b.ins().store(flags, counter, lwpcb, offset::EVENT1_COUNTER);
        let due = self.b.ins().band_imm_u(counter, i64::from(COUNTER_SIGN_BIT));
        let (cold, next) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(due, cold, &[], next, &[]);
        self.b.set_cold_block(cold);
        self.b.switch_to_block(cold);
        self.record(store_value_sample as *const (), lwpcb, site, class, value);
        self.b.ins().jump(next, &[]);
        self.b.switch_to_block(next);
    }

    fn address(&mut self, index: Value) -> Value {
        let heap = self.load(self.vm, 8);
        let index = self.b.ins().band_imm_u(index, HEAP_MASK);
        let bytes = self.b.ins().ishl_imm_u(index, 3);
        self.b.ins().iadd(heap, bytes)
    }

    /// The load's address slice again with the loop's counter moved on. A dead 16-bit load with a trap code stands for the prefetch until
    /// `patch` rewrites it.
    fn prefetch(&mut self, func: usize, pc: usize) {
        let start = (0..pc).rev().find(|&at| matches!(self.programs[func][at], Set(_) | JumpIfZero(_))).map_or(0, |at| at + 1);
        let mut stack = Vec::new();
        for at in start..pc {
            self.straight(func, at, &mut stack);
            if let (Get(I), Some(now)) = (self.programs[func][at], stack.last_mut()) {
                *now = self.b.ins().iadd_imm_s(*now, AHEAD);
            }
        }
        let address = self.address(stack[0]);
        let marker = MemFlagsData::new().with_endianness(Endianness::Little).with_trap_code(Some(MARKER));
        self.b.ins().load(I16, marker, address, 0);
    }

    fn load_op(&mut self, func: usize, pc: usize, index: Value) -> Value {
        let address = self.address(index);
        if self.plan.instrumented {
            let site = self.site(func, pc);
            return self.helper(sample_load as *const (), &[self.vm, site, address]);
        }
        if self.plan.prefetch.contains(&pc) { self.prefetch(func, pc); }
        self.load(address, 0)
    }

    /// Translates an operator without control flow; false for the others.
    fn straight(&mut self, func: usize, pc: usize, stack: &mut Vec<Value>) -> bool {
        let op = self.programs[func][pc];
        let value = match op {
            Const(value) => self.constant(value),
            Get(local) => self.b.use_var(self.locals[local]),
            Call | Jump(_) | JumpIfZero(_) | Return => return false,
            _ => {
                let top = stack.pop().expect("bytecode keeps its stack balanced");
                match op {
                    Set(local) => { self.b.def_var(self.locals[local], top); return true }
                    Load => self.load_op(func, pc, top),
                    _ => {
                        let left = stack.pop().expect("a binary operator has two operands");
                        match op {
                            Add => self.b.ins().iadd(left, top),
                            Mul => self.b.ins().imul(left, top),
                            And => self.b.ins().band(left, top),
                            _ => { let less = self.b.ins().icmp(IntCC::SignedLessThan, left, top); self.b.ins().uextend(I64, less) }
                        }
                    }
                }
            }
        };
        stack.push(value);
        true
    }

    fn generic_call(&mut self, which: Value, argument: Value) -> Value {
        let slot = self.b.ins().ishl_imm_u(which, 3);
        let slot = self.b.ins().iadd(self.vm, slot);
        let (target, zero) = (self.load(slot, 16), self.constant(0));
        self.call(target, &[self.vm, argument, zero, zero])
    }

    /// An indirect call: with its LWPVAL, or to the plan's callee: inlined behind a guard, the generic call as fall-back.
    fn indirect_call(&mut self, func: usize, pc: usize, which: Value, argument: Value) -> Value {
        let Some(&callee) = self.plan.inline.get(&pc) else {
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
        let caller_locals = std::mem::replace(&mut self.locals, vec![parameter]);
        let mut stack = Vec::new();
        (0..self.programs[callee].len() - 1).for_each(|at| _ = self.straight(callee, at, &mut stack));
        self.locals = caller_locals;
        self.b.ins().jump(join, &[stack[0].into()]);
        self.b.switch_to_block(join);
        result
    }

    fn function(&mut self, func: usize) {
        let (program, mut stack, mut pc, mut open) = (&self.programs[func], Vec::new(), 0, true);
        while pc < program.len() {
            if let Some(&block) = self.blocks.get(&pc) {
                if open { self.b.ins().jump(block, &[]); }
                self.b.switch_to_block(block);
                open = true;
            }
            if !self.straight(func, pc, &mut stack) {
                match (program[pc], stack.pop()) {
                    (Call, Some(which)) => {
                        let argument = stack.pop().expect("a call has an argument");
                        let result = self.indirect_call(func, pc, which, argument);
                        stack.push(result);
                    }
                    (JumpIfZero(target), Some(condition)) if self.plan.select.contains(&pc) => {
                        // Branch to select: run the arm, keep its effects only if the condition holds.
                        let before: Vec<Value> = self.locals.iter().map(|&local| self.b.use_var(local)).collect();
                        (pc + 1..target).for_each(|at| _ = self.straight(func, at, &mut stack));
                        for (local, old) in self.locals.clone().into_iter().zip(before) {
                            let new = self.b.use_var(local);
                            if new != old {
                                let kept = self.b.ins().select(condition, new, old);
                                self.b.def_var(local, kept);
                            }
                        }
                        pc = target - 1;
                    }
                    (JumpIfZero(target), Some(condition)) => {
                        if self.plan.instrumented {
                            let site = self.site(func, pc);
                            let taken = self.b.ins().icmp_imm_s(IntCC::Equal, condition, 0);
                            let taken = self.b.ins().uextend(I64, taken);
                            self.helper(sample_branch as *const (), &[self.vm, site, taken]);
                        }
                        let next = self.b.create_block();
                        self.b.ins().brif(condition, next, &[], self.blocks[&target], &[]);
                        self.b.switch_to_block(next);
                    }
                    (Jump(target), None) => { self.b.ins().jump(self.blocks[&target], &[]); open = false }
                    (Return, Some(value)) => { self.b.ins().return_(&[value]); open = false }
                    (op, _) => panic!("malformed bytecode at {pc}: {op:?}"),
                }
            }
            pc += 1;
        }
    }
}

#[rustfmt::skip]
impl Jit {
    pub fn compile(&mut self, func: usize, plan: &Plan) -> Code {
        let mut context = self.module.make_context();
        context.func.signature.params = vec![AbiParam::new(I64); 4];
        context.func.signature.returns = vec![AbiParam::new(I64)];
        let signature = context.func.signature.clone();
        self.versions += 1;
        context.func.name = UserFuncName::user(0, self.versions);
        let mut frontend = FunctionBuilderContext::new();
        let mut b = FunctionBuilder::new(&mut context.func, &mut frontend);
        let entry = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let parameters = b.block_params(entry).to_vec();
        let locals: Vec<Variable> = (0..5).map(|_| b.declare_var(I64)).collect();
        for (index, &local) in locals.iter().enumerate() {
            let value = parameters.get(index + 1).copied();
            let value = value.unwrap_or_else(|| b.ins().iconst(I64, 0));
            b.def_var(local, value);
        }
        let targets: BTreeSet<usize> = self.programs[func].iter().filter_map(|op| match op {
            Jump(target) | JumpIfZero(target) => Some(*target),
            _ => None,
        }).collect();
        let blocks = targets.into_iter().map(|pc| (pc, b.create_block())).collect();
        let (programs, vm) = (&self.programs[..], parameters[0]);
        let mut translator = Translator { b: &mut b, programs, plan, vm, locals, blocks, signature };
        if func == KERNEL {
            // LWPINS at entry: this function is running, so many iterations of it.
            let (lwpcb, site) = (translator.load(vm, 0), translator.site(func, 0));
            let turns = translator.b.ins().isub(parameters[2], parameters[1]);
            translator.record(store_programmed as *const (), lwpcb, site, SiteClass::HotFunction, turns);
        }
        translator.function(func);
        b.seal_all_blocks();
        b.finalize(self.module.target_config());
        let id = self.module.declare_anonymous_function(&context.func.signature).expect("a new function");
        let compiled = context.compile(self.module.isa(), &mut Default::default()).expect("the translator's output is valid");
        let mut bytes = compiled.code_buffer().to_vec();
        let markers: Vec<usize> = compiled.buffer.traps().iter().filter(|trap| trap.code == MARKER).map(|trap| trap.offset as usize).collect();
        assert_eq!(markers.len(), plan.prefetch.len(), "every marker survived");
        markers.into_iter().for_each(|at| patch(&mut bytes[at..]));
        self.module.define_function_bytes(id, 16, &bytes, &[]).expect("code fits");
        self.module.finalize_definitions().expect("no relocations");
        // SAFETY: the function was compiled with this signature, and the module is never freed.
        unsafe { std::mem::transmute::<*const u8, Code>(self.module.get_finalized_function(id)) }
    }
}

/// `[REX] 0F B7 /r` (movzx r32, m16) becomes `[REX] 0F 18 /1` (prefetcht0) of the same address.
#[rustfmt::skip]
fn patch(code: &mut [u8]) {
    let at = usize::from(code[0] & 0xF0 == 0x40);
    assert_eq!(code[at..at + 2], [0x0F, 0xB7], "a marker is a 16-bit load");
    if at == 1 { code[0] &= !4; }
    code[at + 1] = 0x18;
    code[at + 2] = code[at + 2] & 0xC7 | 1 << 3;
}
