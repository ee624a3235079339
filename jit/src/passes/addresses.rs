//! Accesses at an address that differs by a constant from one that was accessed before: they take that one's register and an offset of their own.
//!
//! A wasm address is 32 bits, an access's offset is added to it in 64. So `i32.load offset=16` of x is one instruction, while `i32.load` of `i32.add(x, 16)` needs one more for
//! the sum, which could have wrapped; compilers write the latter wherever they cannot show that it does not (the rounds of an unrolled loop above all). Here it is known
//! wherever x + c was accessed on every way to the access: it was in bounds then, hence still is (memories do not shrink), hence lies 64 KiB below 2^32 at least
//! ([`GROWS_TO`]), and so what lies up to 64 KiB further did not wrap.
//!
//! Sums are compared as sums of a constant and of values that are alike: one operator of the same operands is one value, wherever it was computed (value numbering).
//!
//! Runs behind all other passes: those look for addresses as the translator makes them.

use std::collections::HashMap;

use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::{Block, DataFlowGraph, Function, Inst, InstructionData, Opcode, Type, Value, types};
use smallvec::{SmallVec, smallvec};

use vm::memory::{GROWS_TO, WASM_PAGE};
use vm::module::Module;

/// Most that an access may lie above the one before.
const MOST_ABOVE: u32 = WASM_PAGE as u32;
const _: () = assert!((GROWS_TO * WASM_PAGE as u64) + MOST_ABOVE as u64 <= 1 << 32);
/// Most values in a sum; beyond, it is one of its own.
const MOST_TERMS: usize = 4;
/// Most addresses remembered of one sum.
const MOST_KNOWN: usize = 8;

/// A value that is alike wherever it has this number.
type Number = u32;

/// A sum modulo 2^32.
#[derive(Clone)]
struct Sum {
    /// In ascending order.
    terms: SmallVec<[Number; MOST_TERMS]>,
    constant: u32,
}

/// What makes two results alike.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    opcode: Opcode,
    ty: Type,
    operands: SmallVec<[Number; 2]>,
    immediate: i64,
}

/// Values of a function, by number and as sums.
#[derive(Default)]
struct Values {
    numbers: SecondaryMap<Value, Option<Number>>,
    sums: SecondaryMap<Value, Option<Sum>>,
    keys: HashMap<Key, Number>,
    used: Number,
}

impl Values {
    fn new_number(&mut self) -> Number {
        self.used += 1;
        self.used
    }

    fn keyed(&mut self, key: Key) -> Number {
        let next = self.used + 1;
        let number = *self.keys.entry(key).or_insert(next);
        self.used = self.used.max(number);
        number
    }

    fn number(&mut self, dfg: &DataFlowGraph, value: Value) -> Number {
        let value = dfg.resolve_aliases(value);
        if let Some(number) = self.numbers[value] {
            return number;
        }
        // What was not seen yet comes by a back edge.
        let number = self.new_number();
        self.numbers[value] = Some(number);
        number
    }

    fn sum(&mut self, dfg: &DataFlowGraph, value: Value) -> Sum {
        let value = dfg.resolve_aliases(value);
        match &self.sums[value] {
            Some(sum) => sum.clone(),
            None => Sum { terms: smallvec![self.number(dfg, value)], constant: 0 },
        }
    }

    /// Takes in what an instruction computes; its operands were.
    fn define(&mut self, dfg: &DataFlowGraph, inst: Inst) {
        use Opcode::*;
        let opcode = dfg.insts[inst].opcode();
        let (operands, immediate) = match dfg.insts[inst] {
            InstructionData::UnaryImm { imm, .. } => (SmallVec::new(), imm.bits()),
            InstructionData::Unary { arg, .. } => (smallvec![arg], 0),
            InstructionData::Binary { args, .. } => (SmallVec::from(args), 0),
            _ => return,
        };
        if !matches!(opcode, Iconst | Iadd | Isub | Imul | Ishl | Ushr | Sshr | Band | Bor | Bxor | Uextend | Sextend | Ireduce) {
            return;
        }
        let result = dfg.first_result(inst);
        let ty = dfg.value_type(result);
        let operands: SmallVec<[Value; 2]> = operands;
        let numbers = operands.iter().map(|&operand| self.number(dfg, operand)).collect();
        let number = self.keyed(Key { opcode, ty, operands: numbers, immediate });
        self.numbers[result] = Some(number);
        if ty != types::I32 {
            return;
        }
        let constant = |sum: &Sum| sum.terms.is_empty().then_some(sum.constant);
        let sum = match (opcode, &operands[..]) {
            (Iconst, []) => Some(Sum { terms: SmallVec::new(), constant: immediate as u32 }),
            (Iadd, &[one, other]) => {
                let (mut one, other) = (self.sum(dfg, one), self.sum(dfg, other));
                one.terms.extend(other.terms);
                one.terms.sort_unstable();
                one.constant = one.constant.wrapping_add(other.constant);
                (one.terms.len() <= MOST_TERMS).then_some(one)
            }
            (Isub, &[one, other]) => constant(&self.sum(dfg, other)).map(|less| {
                let one = self.sum(dfg, one);
                Sum { constant: one.constant.wrapping_sub(less), ..one }
            }),
            // Of one value and a constant: the constant comes out.
            (Ishl, &[one, by]) => constant(&self.sum(dfg, by)).and_then(|by| {
                let one = self.sum(dfg, one);
                let &[term] = &one.terms[..] else { return None };
                let key = Key { opcode, ty, operands: smallvec![term], immediate: i64::from(by % 32) };
                Some(Sum { terms: smallvec![self.keyed(key)], constant: one.constant << (by % 32) })
            }),
            _ => None,
        };
        self.sums[result] = sum;
    }
}

/// An access of a memory that grows to no more than [`GROWS_TO`].
struct Access {
    memory: u32,
    /// Where the memory begins.
    base: Value,
    /// The wasm address.
    index: Value,
    /// The sum of both.
    address: Value,
    offset: i32,
}

/// What addresses that differ by a constant have in common: the memory, where it begins, and what is added to that.
type Place = (u32, Value, SmallVec<[Number; MOST_TERMS]>);

/// An address that was in bounds.
struct Known {
    block: Block,
    constant: u32,
    address: Value,
}

/// Changes addresses of accesses.
pub(crate) fn run(function: &mut Function, module: &Module) {
    let cfg = ControlFlowGraph::with_function(function);
    let domtree = DominatorTree::with_function(function, &cfg);
    let mut values = Values::default();
    let mut known: HashMap<Place, Vec<Known>> = HashMap::new();
    let mut order: Vec<Block> = domtree.cfg_postorder().to_vec();
    order.reverse();
    for block in order {
        let mut next = function.layout.first_inst(block);
        while let Some(inst) = next {
            next = function.layout.next_inst(inst);
            values.define(&function.dfg, inst);
            let Some(access) = access(&function.dfg, inst, module) else { continue };
            let sum = values.sum(&function.dfg, access.index);
            // A constant goes into the offset by itself.
            if sum.terms.is_empty() {
                continue;
            }
            let known = known.entry((access.memory, access.base, sum.terms)).or_default();
            let lower = known.iter().find_map(|it| {
                let above = sum.constant.wrapping_sub(it.constant);
                let offset = i32::try_from(above).ok()?.checked_add(access.offset)?;
                (above <= MOST_ABOVE && domtree.block_dominates(it.block, block)).then_some((it.address, offset))
            });
            match lower {
                Some((address, offset)) => super::set_address(&mut function.dfg, inst, address, offset),
                None if known.len() < MOST_KNOWN => known.push(Known { block, constant: sum.constant, address: access.address }),
                None => {}
            }
        }
    }
}

/// The access an instruction is, if it is one whose trap says that it was in bounds.
fn access(dfg: &DataFlowGraph, inst: Inst, module: &Module) -> Option<Access> {
    let (memory, address, offset) = super::access(dfg, inst)?;
    let ty = module.memories[memory as usize];
    if ty.memory64 || ty.initial > GROWS_TO {
        return None;
    }
    let (base, index) = super::base_and_index(dfg, address)?;
    Some(Access { memory, base, index, address, offset })
}
