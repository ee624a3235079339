//! Which handler runs each op: one that takes an operand from the accumulator where the op before it has just put it there.

use crate::bytecode::Inst;
use crate::bytecode::op::{Op, Slot};
use crate::interp::{FIRST, SECOND, handler};

/// Puts the handlers beside the ops. Returns the modes too: which of its operands the accumulator holds, by op. Where anything else than the op before may lead, `targets`, that
/// is nothing that is known here.
pub(super) fn assign(ops: &[Op], targets: impl Iterator<Item = usize>) -> (Box<[Inst]>, Box<[u8]>) {
    const ENTERED: u8 = u8::MAX;
    let mut modes = vec![0; ops.len() + 1];
    targets.for_each(|pc| modes[pc] = ENTERED);
    debug_assert!(
        ops.iter().enumerate().all(|(pc, op)| op.target().is_none_or(|to| modes[(pc as i64 + i64::from(to.0)) as usize] == ENTERED))
    );
    modes.truncate(ops.len());
    let mut latest: Option<Slot> = None;
    let with_handler = |(op, entered): (&Op, &mut u8)| {
        if *entered == ENTERED {
            latest = None;
        }
        let mode = match (op.reads(), latest) {
            ([Some(first), _], Some(latest)) if first == latest => FIRST,
            ([_, Some(second)], Some(latest)) if second == latest => SECOND,
            _ => 0,
        };
        match op.dst() {
            Some(dst) => latest = Some(dst),
            None if keeps_accumulator(op) => {}
            None => latest = None,
        }
        *entered = mode;
        Inst { handler: handler(op, mode), op: *op }
    };
    let insts = ops.iter().zip(&mut modes).map(with_handler).collect();
    (insts, modes.into())
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
        op => op.is_jump(),
    }
}
