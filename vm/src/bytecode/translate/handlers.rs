//! Which handler runs each op: one that takes an operand from the accumulator where the op before it has just put it there.

use crate::bytecode::op::{Op, Slot};
use crate::bytecode::{Inst, Point};
use crate::interp::{FIRST, SECOND, handler};

/// Puts the handlers beside the ops.
pub(super) fn assign(ops: Vec<Op>, points: &[Point]) -> Box<[Inst]> {
    let modes = modes(ops.iter().copied(), points);
    ops.iter().zip(modes).map(|(op, mode)| Inst { handler: handler(op, mode), op: *op }).collect()
}

/// The mode of each op: which of its operands the accumulator holds. At a jump's target or a point that is nothing that is known here.
pub(crate) fn modes<'a>(ops: impl ExactSizeIterator<Item = Op> + Clone + 'a, points: &[Point]) -> impl Iterator<Item = u8> + 'a {
    let mut entered = vec![false; ops.len() + 1];
    for (pc, mut op) in ops.clone().enumerate() {
        if let Some(target) = op.target_mut() {
            entered[(pc as i64 + i64::from(target.0)) as usize] = true;
        }
    }
    for point in points {
        entered[point.pc as usize] = true;
    }
    let mut latest: Option<Slot> = None;
    ops.enumerate().map(move |(pc, mut op)| {
        if entered[pc] {
            latest = None;
        }
        let mode = match (op.reads(), latest) {
            ([Some(first), _], Some(latest)) if first == latest => FIRST,
            ([_, Some(second)], Some(latest)) if second == latest => SECOND,
            _ => 0,
        };
        let keeps_accumulator = keeps_accumulator(&op);
        match op.dst_mut() {
            Some(dst) => latest = Some(*dst),
            None if keeps_accumulator => {}
            None => latest = None,
        }
        mode
    })
}

/// Ops without a result that write no slot and go on with the next op, if at all.
fn keeps_accumulator(op: &Op) -> bool {
    match op {
        Op::Operand { .. }
        | Op::Store8 { .. }
        | Op::Store16 { .. }
        | Op::Store32 { .. }
        | Op::Store64 { .. }
        | Op::Store8Imm { .. }
        | Op::Store16Imm { .. }
        | Op::Store32Imm { .. }
        | Op::Store64Imm { .. }
        | Op::GlobalSet { .. } => true,
        op => op.mnemonic().starts_with("jump."),
    }
}
