//! Which ops become one: comparison and jump, comparison and negation, test of bits and jump, load and jump, addition and jump, addition and load.

use crate::bytecode::op::{Op, Slot, Target};

/// The slot an op writes its result to, if that may be changed.
pub(super) fn dst(op: &Op) -> Option<Slot> {
    let mut op = *op;
    op.dst_mut().map(|dst| *dst)
}

/// The jump (without its target) that is taken when this comparison holds, or (`negated`) when it does not.
pub(super) fn jump(op: &Op, negated: bool) -> Option<Op> {
    let target = Target(0);
    Some(match (*op, negated) {
        (Op::I32Eq { a, b, .. }, false) => Op::JumpI32Eq { a, b, target },
        (Op::I32Eq { a, b, .. }, true) => Op::JumpI32Ne { a, b, target },
        (Op::I32Ne { a, b, .. }, false) => Op::JumpI32Ne { a, b, target },
        (Op::I32Ne { a, b, .. }, true) => Op::JumpI32Eq { a, b, target },
        (Op::I32LtS { a, b, .. }, false) => Op::JumpI32LtS { a, b, target },
        (Op::I32LtS { a, b, .. }, true) => Op::JumpI32LeS { a: b, b: a, target },
        (Op::I32LtU { a, b, .. }, false) => Op::JumpI32LtU { a, b, target },
        (Op::I32LtU { a, b, .. }, true) => Op::JumpI32LeU { a: b, b: a, target },
        (Op::I32LeS { a, b, .. }, false) => Op::JumpI32LeS { a, b, target },
        (Op::I32LeS { a, b, .. }, true) => Op::JumpI32LtS { a: b, b: a, target },
        (Op::I32LeU { a, b, .. }, false) => Op::JumpI32LeU { a, b, target },
        (Op::I32LeU { a, b, .. }, true) => Op::JumpI32LtU { a: b, b: a, target },
        (Op::I32EqImm { a, imm, .. }, false) => Op::JumpI32EqImm { a, imm, target },
        (Op::I32EqImm { a, imm, .. }, true) => Op::JumpI32NeImm { a, imm, target },
        (Op::I32NeImm { a, imm, .. }, false) => Op::JumpI32NeImm { a, imm, target },
        (Op::I32NeImm { a, imm, .. }, true) => Op::JumpI32EqImm { a, imm, target },
        (Op::I32LtSImm { a, imm, .. }, false) => Op::JumpI32LtSImm { a, imm, target },
        (Op::I32LtSImm { a, imm, .. }, true) => Op::JumpI32GeSImm { a, imm, target },
        (Op::I32LtUImm { a, imm, .. }, false) => Op::JumpI32LtUImm { a, imm, target },
        (Op::I32LtUImm { a, imm, .. }, true) => Op::JumpI32GeUImm { a, imm, target },
        (Op::I32LeSImm { a, imm, .. }, false) => Op::JumpI32LeSImm { a, imm, target },
        (Op::I32LeSImm { a, imm, .. }, true) => Op::JumpI32GtSImm { a, imm, target },
        (Op::I32LeUImm { a, imm, .. }, false) => Op::JumpI32LeUImm { a, imm, target },
        (Op::I32LeUImm { a, imm, .. }, true) => Op::JumpI32GtUImm { a, imm, target },
        (Op::I32GtSImm { a, imm, .. }, false) => Op::JumpI32GtSImm { a, imm, target },
        (Op::I32GtSImm { a, imm, .. }, true) => Op::JumpI32LeSImm { a, imm, target },
        (Op::I32GtUImm { a, imm, .. }, false) => Op::JumpI32GtUImm { a, imm, target },
        (Op::I32GtUImm { a, imm, .. }, true) => Op::JumpI32LeUImm { a, imm, target },
        (Op::I32GeSImm { a, imm, .. }, false) => Op::JumpI32GeSImm { a, imm, target },
        (Op::I32GeSImm { a, imm, .. }, true) => Op::JumpI32LtSImm { a, imm, target },
        (Op::I32GeUImm { a, imm, .. }, false) => Op::JumpI32GeUImm { a, imm, target },
        (Op::I32GeUImm { a, imm, .. }, true) => Op::JumpI32LtUImm { a, imm, target },
        (Op::I64Eq { a, b, .. }, false) => Op::JumpI64Eq { a, b, target },
        (Op::I64Eq { a, b, .. }, true) => Op::JumpI64Ne { a, b, target },
        (Op::I64Ne { a, b, .. }, false) => Op::JumpI64Ne { a, b, target },
        (Op::I64Ne { a, b, .. }, true) => Op::JumpI64Eq { a, b, target },
        (Op::I64LtS { a, b, .. }, false) => Op::JumpI64LtS { a, b, target },
        (Op::I64LtS { a, b, .. }, true) => Op::JumpI64LeS { a: b, b: a, target },
        (Op::I64LtU { a, b, .. }, false) => Op::JumpI64LtU { a, b, target },
        (Op::I64LtU { a, b, .. }, true) => Op::JumpI64LeU { a: b, b: a, target },
        (Op::I64LeS { a, b, .. }, false) => Op::JumpI64LeS { a, b, target },
        (Op::I64LeS { a, b, .. }, true) => Op::JumpI64LtS { a: b, b: a, target },
        (Op::I64LeU { a, b, .. }, false) => Op::JumpI64LeU { a, b, target },
        (Op::I64LeU { a, b, .. }, true) => Op::JumpI64LtU { a: b, b: a, target },
        (Op::I64EqImm { a, imm, .. }, false) => Op::JumpI64EqImm { a, imm, target },
        (Op::I64EqImm { a, imm, .. }, true) => Op::JumpI64NeImm { a, imm, target },
        (Op::I64NeImm { a, imm, .. }, false) => Op::JumpI64NeImm { a, imm, target },
        (Op::I64NeImm { a, imm, .. }, true) => Op::JumpI64EqImm { a, imm, target },
        (Op::I64LtSImm { a, imm, .. }, false) => Op::JumpI64LtSImm { a, imm, target },
        (Op::I64LtSImm { a, imm, .. }, true) => Op::JumpI64GeSImm { a, imm, target },
        (Op::I64LtUImm { a, imm, .. }, false) => Op::JumpI64LtUImm { a, imm, target },
        (Op::I64LtUImm { a, imm, .. }, true) => Op::JumpI64GeUImm { a, imm, target },
        (Op::I64LeSImm { a, imm, .. }, false) => Op::JumpI64LeSImm { a, imm, target },
        (Op::I64LeSImm { a, imm, .. }, true) => Op::JumpI64GtSImm { a, imm, target },
        (Op::I64LeUImm { a, imm, .. }, false) => Op::JumpI64LeUImm { a, imm, target },
        (Op::I64LeUImm { a, imm, .. }, true) => Op::JumpI64GtUImm { a, imm, target },
        (Op::I64GtSImm { a, imm, .. }, false) => Op::JumpI64GtSImm { a, imm, target },
        (Op::I64GtSImm { a, imm, .. }, true) => Op::JumpI64LeSImm { a, imm, target },
        (Op::I64GtUImm { a, imm, .. }, false) => Op::JumpI64GtUImm { a, imm, target },
        (Op::I64GtUImm { a, imm, .. }, true) => Op::JumpI64LeUImm { a, imm, target },
        (Op::I64GeSImm { a, imm, .. }, false) => Op::JumpI64GeSImm { a, imm, target },
        (Op::I64GeSImm { a, imm, .. }, true) => Op::JumpI64LtSImm { a, imm, target },
        (Op::I64GeUImm { a, imm, .. }, false) => Op::JumpI64GeUImm { a, imm, target },
        (Op::I64GeUImm { a, imm, .. }, true) => Op::JumpI64LtUImm { a, imm, target },
        (Op::I32And { a, b, .. }, false) => Op::JumpI32And { a, b, target },
        (Op::I32And { a, b, .. }, true) => Op::JumpI32Nand { a, b, target },
        (Op::I32AndImm { a, imm, .. }, false) => Op::JumpI32AndImm { a, imm, target },
        (Op::I32AndImm { a, imm, .. }, true) => Op::JumpI32NandImm { a, imm, target },
        (Op::F32Eq { a, b, .. }, false) => Op::JumpF32Eq { a, b, target },
        (Op::F32Eq { a, b, .. }, true) => Op::JumpF32Ne { a, b, target },
        (Op::F32Ne { a, b, .. }, false) => Op::JumpF32Ne { a, b, target },
        (Op::F32Ne { a, b, .. }, true) => Op::JumpF32Eq { a, b, target },
        (Op::F32Lt { a, b, .. }, false) => Op::JumpF32Lt { a, b, target },
        (Op::F32Lt { a, b, .. }, true) => Op::JumpF32NotLt { a, b, target },
        (Op::F32Le { a, b, .. }, false) => Op::JumpF32Le { a, b, target },
        (Op::F32Le { a, b, .. }, true) => Op::JumpF32NotLe { a, b, target },
        (Op::F64Eq { a, b, .. }, false) => Op::JumpF64Eq { a, b, target },
        (Op::F64Eq { a, b, .. }, true) => Op::JumpF64Ne { a, b, target },
        (Op::F64Ne { a, b, .. }, false) => Op::JumpF64Ne { a, b, target },
        (Op::F64Ne { a, b, .. }, true) => Op::JumpF64Eq { a, b, target },
        (Op::F64Lt { a, b, .. }, false) => Op::JumpF64Lt { a, b, target },
        (Op::F64Lt { a, b, .. }, true) => Op::JumpF64NotLt { a, b, target },
        (Op::F64Le { a, b, .. }, false) => Op::JumpF64Le { a, b, target },
        (Op::F64Le { a, b, .. }, true) => Op::JumpF64NotLe { a, b, target },
        _ => return None,
    })
}

/// The comparison that holds when this one does not. Ordered float comparisons have none.
pub(super) fn inverted(op: &Op) -> Option<Op> {
    Some(match *op {
        Op::I32Eq { dst, a, b } => Op::I32Ne { dst, a, b },
        Op::I32Ne { dst, a, b } => Op::I32Eq { dst, a, b },
        Op::I32LtS { dst, a, b } => Op::I32LeS { dst, a: b, b: a },
        Op::I32LtU { dst, a, b } => Op::I32LeU { dst, a: b, b: a },
        Op::I32LeS { dst, a, b } => Op::I32LtS { dst, a: b, b: a },
        Op::I32LeU { dst, a, b } => Op::I32LtU { dst, a: b, b: a },
        Op::I32EqImm { dst, a, imm } => Op::I32NeImm { dst, a, imm },
        Op::I32NeImm { dst, a, imm } => Op::I32EqImm { dst, a, imm },
        Op::I32LtSImm { dst, a, imm } => Op::I32GeSImm { dst, a, imm },
        Op::I32LtUImm { dst, a, imm } => Op::I32GeUImm { dst, a, imm },
        Op::I32LeSImm { dst, a, imm } => Op::I32GtSImm { dst, a, imm },
        Op::I32LeUImm { dst, a, imm } => Op::I32GtUImm { dst, a, imm },
        Op::I32GtSImm { dst, a, imm } => Op::I32LeSImm { dst, a, imm },
        Op::I32GtUImm { dst, a, imm } => Op::I32LeUImm { dst, a, imm },
        Op::I32GeSImm { dst, a, imm } => Op::I32LtSImm { dst, a, imm },
        Op::I32GeUImm { dst, a, imm } => Op::I32LtUImm { dst, a, imm },
        Op::I64Eq { dst, a, b } => Op::I64Ne { dst, a, b },
        Op::I64Ne { dst, a, b } => Op::I64Eq { dst, a, b },
        Op::I64LtS { dst, a, b } => Op::I64LeS { dst, a: b, b: a },
        Op::I64LtU { dst, a, b } => Op::I64LeU { dst, a: b, b: a },
        Op::I64LeS { dst, a, b } => Op::I64LtS { dst, a: b, b: a },
        Op::I64LeU { dst, a, b } => Op::I64LtU { dst, a: b, b: a },
        Op::I64EqImm { dst, a, imm } => Op::I64NeImm { dst, a, imm },
        Op::I64NeImm { dst, a, imm } => Op::I64EqImm { dst, a, imm },
        Op::I64LtSImm { dst, a, imm } => Op::I64GeSImm { dst, a, imm },
        Op::I64LtUImm { dst, a, imm } => Op::I64GeUImm { dst, a, imm },
        Op::I64LeSImm { dst, a, imm } => Op::I64GtSImm { dst, a, imm },
        Op::I64LeUImm { dst, a, imm } => Op::I64GtUImm { dst, a, imm },
        Op::I64GtSImm { dst, a, imm } => Op::I64LeSImm { dst, a, imm },
        Op::I64GtUImm { dst, a, imm } => Op::I64LeUImm { dst, a, imm },
        Op::I64GeSImm { dst, a, imm } => Op::I64LtSImm { dst, a, imm },
        Op::I64GeUImm { dst, a, imm } => Op::I64LtUImm { dst, a, imm },
        Op::F32Eq { dst, a, b } => Op::F32Ne { dst, a, b },
        Op::F32Ne { dst, a, b } => Op::F32Eq { dst, a, b },
        Op::F64Eq { dst, a, b } => Op::F64Ne { dst, a, b },
        Op::F64Ne { dst, a, b } => Op::F64Eq { dst, a, b },
        _ => return None,
    })
}

/// The one jump for an `and` whose result is only compared with 0 by a jump. Slots from `stack_base` on are temporaries, dead after that.
pub(super) fn jump_on_bits(and: &Op, jump: &Op, stack_base: Slot) -> Option<Op> {
    let target = Target(0);
    let is_temporary = |slot: Slot| slot >= stack_base;
    Some(match (*and, *jump) {
        (Op::I32And { dst, a, b }, Op::JumpI32NeImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI32And { a, b, target }
        }
        (Op::I32AndImm { dst, a, imm }, Op::JumpI32NeImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI32AndImm { a, imm, target }
        }
        (Op::I32And { dst, a, b }, Op::JumpI32EqImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI32Nand { a, b, target }
        }
        (Op::I32AndImm { dst, a, imm }, Op::JumpI32EqImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI32NandImm { a, imm, target }
        }
        (Op::I64And { dst, a, b }, Op::JumpI64NeImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI64And { a, b, target }
        }
        (Op::I64AndImm { dst, a, imm }, Op::JumpI64NeImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI64AndImm { a, imm, target }
        }
        (Op::I64And { dst, a, b }, Op::JumpI64EqImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI64Nand { a, b, target }
        }
        (Op::I64AndImm { dst, a, imm }, Op::JumpI64EqImm { a: tested, imm: 0, .. }) if dst == tested && is_temporary(dst) => {
            Op::JumpI64NandImm { a, imm, target }
        }
        _ => return None,
    })
}

/// The one jump for a load whose result is only compared with a constant by a jump, as [`jump_on_bits`].
pub(super) fn jump_on_load(load: &Op, jump: &Op, stack_base: Slot) -> Option<Op> {
    let target = Target(0);
    let (dst, address, offset, is_byte) = match *load {
        Op::Load32 { dst, address, offset } => (dst, address, offset, false),
        Op::Load8U { dst, address, offset } => (dst, address, offset, true),
        _ => return None,
    };
    let offset = u16::try_from(offset).ok()?;
    Some(match *jump {
        Op::JumpI32EqImm { a, imm, .. } if a == dst && dst >= stack_base => match is_byte {
            true => Op::JumpLoad8UEqImm { offset, address, imm, target },
            false => Op::JumpLoad32EqImm { offset, address, imm, target },
        },
        Op::JumpI32NeImm { a, imm, .. } if a == dst && dst >= stack_base => match is_byte {
            true => Op::JumpLoad8UNeImm { offset, address, imm, target },
            false => Op::JumpLoad32NeImm { offset, address, imm, target },
        },
        _ => return None,
    })
}

/// The one op for an addition in place and a jump on the sum.
pub(super) fn add_and_jump(addition: &Op, jump: &Op) -> Option<Op> {
    let target = Target(0);
    let Op::I32AddImm { dst, a: from, imm: add } = *addition else {
        return None;
    };
    let add = i16::try_from(add).ok().filter(|_| dst == from)?;
    Some(match *jump {
        Op::JumpI32Ne { a, b, .. } if a == dst && b != dst => Op::AddJumpI32Ne { add, a, b, target },
        Op::JumpI32Ne { a: b, b: a, .. } if a == dst && b != dst => Op::AddJumpI32Ne { add, a, b, target },
        Op::JumpI32LtU { a, b, .. } if a == dst && b != dst => Op::AddJumpI32LtU { add, a, b, target },
        Op::JumpI32LtS { a, b, .. } if a == dst && b != dst => Op::AddJumpI32LtS { add, a, b, target },
        Op::JumpI32NeImm { a, imm, .. } if a == dst => Op::AddJumpI32NeImm { add, a, imm, target },
        _ => return None,
    })
}

/// An address that an addition (of a shifted value) makes: both operands and `scaled`, if the offset fits.
pub(super) fn indexed(addition: &Op, offset: u32) -> Option<(Slot, Slot, u16)> {
    let (shift, a, b) = match *addition {
        Op::I32Add { a, b, .. } => (0, a, b),
        Op::I32AddShl { shift, a, b, .. } => (shift, a, b),
        _ => return None,
    };
    let offset = u16::try_from(offset).ok().filter(|&offset| offset < 1 << 13)?;
    Some((a, b, offset << 3 | shift))
}
