//! Three-way comparisons of which only the sign is asked: `((a > b) - (a < b)) < 0` is `a < b`.
//!
//! A comparator returns -1, 0 or 1, and what calls it asks for less: the sign, or whether it is 0. Once it is inlined one comparison says that. Cranelift
//! has the same rules (`opts/spaceship.isle`), for results of 8 bits that are tested where they are made; wasm's have 32, and come to the test as a block's parameter, which has
//! them of an inlined callee on one way and of the call that it replaces on another. There the test moves into the blocks that lead to its own, and is
//! simplified where the result is such a difference.
//!
//! Runs on CLIF as the translator makes it: a comparison is `uextend.i32` of an `icmp`.

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::entity::SecondaryMap;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::condcodes::{CondCode, IntCC};
use cranelift_codegen::ir::{
    Block, BlockArg, DataFlowGraph, Function, Inst, InstBuilder, InstructionData, Opcode, Type, Value, ValueDef, types,
};

use crate::values::iconst;

/// The difference of `left > right` and `left < right`.
#[derive(Clone, Copy)]
struct Difference {
    left: Value,
    right: Value,
    signed: bool,
}

/// What is asked of a value of 32 bits.
#[derive(Clone, Copy)]
enum Test {
    /// How it compares with a constant.
    Compare(IntCC, i32),
    /// Its bits from one on, masked.
    Bits(u32, u32),
}

/// A test, the value that it is of, and the first and the last of its instructions, which may be one.
struct Asked {
    test: Test,
    of: Value,
    first: Inst,
    last: Inst,
}

/// What a test says of a difference.
#[derive(Clone, Copy)]
enum Answer {
    Always(bool),
    /// How left compares with right, of signed numbers.
    When(IntCC),
    /// That bit is set where left is less.
    BitWhenLess(u32),
}

/// Simplifies all tests of three-way comparisons.
pub(crate) fn run(function: &mut Function) {
    if !differences_exist(function) {
        return;
    }
    let cfg = ControlFlowGraph::with_function(function);
    let uses = super::count_uses(function);
    let blocks: Vec<Block> = function.layout.blocks().collect();
    for block in blocks {
        let mut next = function.layout.first_inst(block);
        while let Some(inst) = next {
            next = function.layout.next_inst(inst);
            let Some(asked) = test(function, inst, &uses) else { continue };
            let Some(answer) = asked.test.of_difference() else { continue };
            let after = function.layout.next_inst(asked.last);
            let replaced = match difference(&function.dfg, through(&function.dfg, &cfg, asked.of)) {
                Some(difference) => {
                    let value = say(function, asked.last, answer, difference, asked.test.result_type());
                    take_place(function, &asked, value);
                    true
                }
                None => uses[asked.of] == 1 && move_to_predecessors(function, &cfg, block, &asked, answer),
            };
            if replaced {
                next = after;
            }
        }
    }
}

fn differences_exist(function: &Function) -> bool {
    let mut insts = function.layout.blocks().flat_map(|block| function.layout.block_insts(block));
    insts.any(|inst| {
        function.dfg.insts[inst].opcode() == Opcode::Isub && difference(&function.dfg, function.dfg.first_result(inst)).is_some()
    })
}

/// What a value is, seen through parameters of blocks that have one way in.
fn through(dfg: &DataFlowGraph, cfg: &ControlFlowGraph, value: Value) -> Value {
    let mut value = dfg.resolve_aliases(value);
    while let ValueDef::Param(block, number) = dfg.value_def(value) {
        let mut ways = cfg.pred_iter(block);
        let (Some(way), None) = (ways.next(), ways.next()) else { break };
        let calls = dfg.insts[way.inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables);
        let mut calls = calls.iter().filter(|call| call.block(&dfg.value_lists) == block);
        let (Some(call), None) = (calls.next(), calls.next()) else { break };
        let Some(BlockArg::Value(argument)) = call.args(&dfg.value_lists).nth(number) else { break };
        value = dfg.resolve_aliases(argument);
    }
    value
}

fn constant(dfg: &DataFlowGraph, value: Value) -> Option<i32> {
    iconst(dfg, value).map(|bits| bits as i32)
}

/// The strict comparison that a value of 32 bits is the outcome of, as less-than: what is less, than what, and whether they are signed.
fn less_than(dfg: &DataFlowGraph, value: Value) -> Option<(Value, Value, bool)> {
    let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
    let InstructionData::Unary { opcode: Opcode::Uextend, arg } = dfg.insts[inst] else { return None };
    let InstructionData::IntCompare { cond, args, .. } = dfg.insts[dfg.value_def(dfg.resolve_aliases(arg)).inst()?] else { return None };
    let [left, right] = args.map(|arg| dfg.resolve_aliases(arg));
    match cond {
        IntCC::UnsignedLessThan => Some((left, right, false)),
        IntCC::UnsignedGreaterThan => Some((right, left, false)),
        IntCC::SignedLessThan => Some((left, right, true)),
        IntCC::SignedGreaterThan => Some((right, left, true)),
        _ => None,
    }
}

fn difference(dfg: &DataFlowGraph, value: Value) -> Option<Difference> {
    let inst = dfg.value_def(dfg.resolve_aliases(value)).inst()?;
    let InstructionData::Binary { opcode: Opcode::Isub, args: [one, other] } = dfg.insts[inst] else { return None };
    let (less, than, signed) = less_than(dfg, one)?;
    // (the first one says that left is more)
    let (right, left) = (less, than);
    (less_than(dfg, other)? == (left, right, signed) && dfg.value_type(value) == types::I32).then_some(Difference { left, right, signed })
}

/// What an instruction asks of a value of 32 bits; a shift takes the mask behind it along.
fn test(function: &Function, inst: Inst, uses: &SecondaryMap<Value, u32>) -> Option<Asked> {
    let dfg = &function.dfg;
    let asked = |of: Value, test, last| {
        let of = dfg.resolve_aliases(of);
        (dfg.value_type(of) == types::I32).then_some(Asked { test, of, first: inst, last })
    };
    match dfg.insts[inst] {
        InstructionData::IntCompare { cond, args: [left, right], .. } => match (constant(dfg, left), constant(dfg, right)) {
            (None, Some(constant)) => asked(left, Test::Compare(cond, constant), inst),
            (Some(constant), None) => asked(right, Test::Compare(cond.swap_args(), constant), inst),
            _ => None,
        },
        InstructionData::Binary { opcode: Opcode::Ushr, args: [of, by] } => {
            let by = constant(dfg, by)? as u32 % 32;
            let shifted = dfg.first_result(inst);
            let masked = function.layout.next_inst(inst).map(|next| skip_constants(function, next)).and_then(|next| {
                let InstructionData::Binary { opcode: Opcode::Band, args: [one, other] } = dfg.insts[next] else { return None };
                let (mask, masked) = match (constant(dfg, one), constant(dfg, other)) {
                    (None, Some(mask)) => (mask, one),
                    (Some(mask), None) => (mask, other),
                    _ => return None,
                };
                (dfg.resolve_aliases(masked) == shifted && uses[shifted] == 1).then_some((mask, next))
            });
            let (mask, last) = masked.unwrap_or((-1, inst));
            (by > 0).then(|| asked(of, Test::Bits(by, mask as u32), last))?
        }
        _ => None,
    }
}

fn skip_constants(function: &Function, mut inst: Inst) -> Inst {
    while function.dfg.insts[inst].opcode() == Opcode::Iconst
        && let Some(next) = function.layout.next_inst(inst)
    {
        inst = next;
    }
    inst
}

impl Test {
    fn result_type(self) -> Type {
        match self {
            Test::Compare(..) => types::I8,
            Test::Bits(..) => types::I32,
        }
    }

    /// What it says of -1, 0 and 1, if that is one comparison.
    fn of_difference(self) -> Option<Answer> {
        match self {
            Test::Compare(cond, constant) => {
                let [less, equal, greater] = [-1, 0, 1].map(|sign| compares(cond, sign, constant));
                Some(match (less, equal, greater) {
                    (false, false, false) => Answer::Always(false),
                    (true, true, true) => Answer::Always(true),
                    (true, false, false) => Answer::When(IntCC::SignedLessThan),
                    (true, true, false) => Answer::When(IntCC::SignedLessThanOrEqual),
                    (false, true, false) => Answer::When(IntCC::Equal),
                    (true, false, true) => Answer::When(IntCC::NotEqual),
                    (false, false, true) => Answer::When(IntCC::SignedGreaterThan),
                    (false, true, true) => Answer::When(IntCC::SignedGreaterThanOrEqual),
                })
            }
            // Of 0 and 1 nothing is left.
            Test::Bits(from, mask) => match u32::MAX >> from & mask {
                0 => Some(Answer::Always(false)),
                bits => bits.is_power_of_two().then(|| Answer::BitWhenLess(bits.trailing_zeros())),
            },
        }
    }
}

fn compares(cond: IntCC, left: i32, right: i32) -> bool {
    let (unsigned_left, unsigned_right) = (left as u32, right as u32);
    match cond {
        IntCC::Equal => left == right,
        IntCC::NotEqual => left != right,
        IntCC::SignedLessThan => left < right,
        IntCC::SignedLessThanOrEqual => left <= right,
        IntCC::SignedGreaterThan => left > right,
        IntCC::SignedGreaterThanOrEqual => left >= right,
        IntCC::UnsignedLessThan => unsigned_left < unsigned_right,
        IntCC::UnsignedLessThanOrEqual => unsigned_left <= unsigned_right,
        IntCC::UnsignedGreaterThan => unsigned_left > unsigned_right,
        IntCC::UnsignedGreaterThanOrEqual => unsigned_left >= unsigned_right,
    }
}

/// Computes an answer before an instruction.
fn say(function: &mut Function, before: Inst, answer: Answer, Difference { left, right, signed }: Difference, ty: Type) -> Value {
    let location = function.srcloc(before);
    let mut cursor = FuncCursor::new(function).at_inst(before);
    cursor.set_srcloc(location);
    let cond = |cond: IntCC| if signed { cond } else { cond.unsigned() };
    match answer {
        Answer::Always(set) => cursor.ins().iconst(ty, i64::from(set)),
        Answer::When(when) => cursor.ins().icmp(cond(when), left, right),
        Answer::BitWhenLess(bit) => {
            let less = cursor.ins().icmp(cond(IntCC::SignedLessThan), left, right);
            let less = cursor.ins().uextend(ty, less);
            let bit = cursor.ins().iconst(ty, i64::from(bit));
            cursor.ins().ishl(less, bit)
        }
    }
}

/// Asks a value itself, before an instruction.
fn ask(function: &mut Function, before: Inst, test: Test, of: Value) -> Value {
    let location = function.srcloc(before);
    let mut cursor = FuncCursor::new(function).at_inst(before);
    cursor.set_srcloc(location);
    match test {
        Test::Compare(cond, constant) => {
            let constant = cursor.ins().iconst(types::I32, i64::from(constant as u32));
            cursor.ins().icmp(cond, of, constant)
        }
        Test::Bits(from, mask) => {
            let from = cursor.ins().iconst(types::I32, i64::from(from));
            let shifted = cursor.ins().ushr(of, from);
            let mask = cursor.ins().iconst(types::I32, i64::from(mask));
            cursor.ins().band(shifted, mask)
        }
    }
}

/// A value is what a test's instructions computed, which go.
fn take_place(function: &mut Function, asked: &Asked, value: Value) {
    let result = function.dfg.first_result(asked.last);
    function.layout.remove_inst(asked.last);
    function.dfg.clear_results(asked.last);
    function.dfg.change_to_alias(result, value);
    if asked.first != asked.last {
        function.layout.remove_inst(asked.first);
    }
}

/// Moves a test of a parameter of its own block to where that comes from, if it is a difference on some way, of which the test says `answer`. False: it stays.
fn move_to_predecessors(function: &mut Function, cfg: &ControlFlowGraph, block: Block, asked: &Asked, answer: Answer) -> bool {
    let ValueDef::Param(of, number) = function.dfg.value_def(asked.of) else { return false };
    if of != block {
        return false;
    }
    let ways: Vec<Inst> = cfg.pred_iter(block).map(|way| way.inst).collect();
    let mut arguments = Vec::new();
    for &way in &ways {
        // (a table may lead here often, and of an exception's edge the arguments are not all values)
        if !matches!(function.dfg.insts[way].opcode(), Opcode::Jump | Opcode::Brif) {
            return false;
        }
        let calls = function.dfg.insts[way].branch_destination(&function.dfg.jump_tables, &function.dfg.exception_tables);
        let mut here = calls.iter().enumerate().filter(|(_, call)| call.block(&function.dfg.value_lists) == block);
        let (Some((to_block, _)), None) = (here.next(), here.next()) else { return false };
        let Some(BlockArg::Value(argument)) = calls[to_block].args(&function.dfg.value_lists).nth(number) else { return false };
        arguments.push((way, to_block, argument));
    }
    let is_difference = |argument: Value| difference(&function.dfg, through(&function.dfg, cfg, argument));
    let differences: Vec<Option<Difference>> = arguments.iter().map(|&(.., argument)| is_difference(argument)).collect();
    if differences.iter().all(Option::is_none) {
        return false;
    }
    let ty = asked.test.result_type();
    for (&(way, to_block, argument), difference) in arguments.iter().zip(differences) {
        let value = match difference {
            Some(difference) => say(function, way, answer, difference, ty),
            None => ask(function, way, asked.test, argument),
        };
        let dfg = &mut function.dfg;
        let calls = dfg.insts[way].branch_destination_mut(&mut dfg.jump_tables, &mut dfg.exception_tables);
        calls[to_block].update_args(&mut dfg.value_lists, {
            let mut at = 0;
            move |known| {
                at += 1;
                if at == number + 1 { BlockArg::Value(value) } else { known }
            }
        });
    }
    let parameter = function.dfg.replace_block_param(asked.of, ty);
    take_place(function, asked, parameter);
    true
}
