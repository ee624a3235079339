//! Atomic operators: which rare operator each is.

use super::Translator;
use crate::bytecode::op::Slot;
use crate::interp::Rare;
use wasmparser::{MemArg, Operator};

impl Translator<'_> {
    /// Atomic operators; false for all others.
    pub(super) fn atomic_operator(&mut self, operator: &Operator<'_>) -> bool {
        if let Operator::AtomicFence { .. } = operator {
            self.emit_rare(Rare::AtomicFence, Slot(0), 0, 0);
            return true;
        }
        let Some((what, memarg, operands, result)) = atomic(operator) else { return false };
        self.rare_access(what, &memarg, operands, result);
        true
    }
}

/// The rare operator, where it accesses, its operands, and whether it has a result.
fn atomic(operator: &Operator<'_>) -> Option<(Rare, MemArg, usize, bool)> {
    use Operator::*;
    let (what, memarg, operands, result) = match *operator {
        MemoryAtomicNotify { memarg } => (Rare::AtomicNotify, memarg, 2, true),
        MemoryAtomicWait32 { memarg } => (Rare::AtomicWait32, memarg, 3, true),
        MemoryAtomicWait64 { memarg } => (Rare::AtomicWait64, memarg, 3, true),
        I32AtomicLoad { memarg } | I64AtomicLoad32U { memarg } => (Rare::AtomicLoad32, memarg, 1, true),
        I64AtomicLoad { memarg } => (Rare::AtomicLoad64, memarg, 1, true),
        I32AtomicLoad8U { memarg } | I64AtomicLoad8U { memarg } => (Rare::AtomicLoad8, memarg, 1, true),
        I32AtomicLoad16U { memarg } | I64AtomicLoad16U { memarg } => (Rare::AtomicLoad16, memarg, 1, true),
        I32AtomicStore { memarg } | I64AtomicStore32 { memarg } => (Rare::AtomicStore32, memarg, 2, false),
        I64AtomicStore { memarg } => (Rare::AtomicStore64, memarg, 2, false),
        I32AtomicStore8 { memarg } | I64AtomicStore8 { memarg } => (Rare::AtomicStore8, memarg, 2, false),
        I32AtomicStore16 { memarg } | I64AtomicStore16 { memarg } => (Rare::AtomicStore16, memarg, 2, false),
        I32AtomicRmwAdd { memarg } | I64AtomicRmw32AddU { memarg } => (Rare::AtomicAdd32, memarg, 2, true),
        I64AtomicRmwAdd { memarg } => (Rare::AtomicAdd64, memarg, 2, true),
        I32AtomicRmw8AddU { memarg } | I64AtomicRmw8AddU { memarg } => (Rare::AtomicAdd8, memarg, 2, true),
        I32AtomicRmw16AddU { memarg } | I64AtomicRmw16AddU { memarg } => (Rare::AtomicAdd16, memarg, 2, true),
        I32AtomicRmwSub { memarg } | I64AtomicRmw32SubU { memarg } => (Rare::AtomicSub32, memarg, 2, true),
        I64AtomicRmwSub { memarg } => (Rare::AtomicSub64, memarg, 2, true),
        I32AtomicRmw8SubU { memarg } | I64AtomicRmw8SubU { memarg } => (Rare::AtomicSub8, memarg, 2, true),
        I32AtomicRmw16SubU { memarg } | I64AtomicRmw16SubU { memarg } => (Rare::AtomicSub16, memarg, 2, true),
        I32AtomicRmwAnd { memarg } | I64AtomicRmw32AndU { memarg } => (Rare::AtomicAnd32, memarg, 2, true),
        I64AtomicRmwAnd { memarg } => (Rare::AtomicAnd64, memarg, 2, true),
        I32AtomicRmw8AndU { memarg } | I64AtomicRmw8AndU { memarg } => (Rare::AtomicAnd8, memarg, 2, true),
        I32AtomicRmw16AndU { memarg } | I64AtomicRmw16AndU { memarg } => (Rare::AtomicAnd16, memarg, 2, true),
        I32AtomicRmwOr { memarg } | I64AtomicRmw32OrU { memarg } => (Rare::AtomicOr32, memarg, 2, true),
        I64AtomicRmwOr { memarg } => (Rare::AtomicOr64, memarg, 2, true),
        I32AtomicRmw8OrU { memarg } | I64AtomicRmw8OrU { memarg } => (Rare::AtomicOr8, memarg, 2, true),
        I32AtomicRmw16OrU { memarg } | I64AtomicRmw16OrU { memarg } => (Rare::AtomicOr16, memarg, 2, true),
        I32AtomicRmwXor { memarg } | I64AtomicRmw32XorU { memarg } => (Rare::AtomicXor32, memarg, 2, true),
        I64AtomicRmwXor { memarg } => (Rare::AtomicXor64, memarg, 2, true),
        I32AtomicRmw8XorU { memarg } | I64AtomicRmw8XorU { memarg } => (Rare::AtomicXor8, memarg, 2, true),
        I32AtomicRmw16XorU { memarg } | I64AtomicRmw16XorU { memarg } => (Rare::AtomicXor16, memarg, 2, true),
        I32AtomicRmwXchg { memarg } | I64AtomicRmw32XchgU { memarg } => (Rare::AtomicExchange32, memarg, 2, true),
        I64AtomicRmwXchg { memarg } => (Rare::AtomicExchange64, memarg, 2, true),
        I32AtomicRmw8XchgU { memarg } | I64AtomicRmw8XchgU { memarg } => (Rare::AtomicExchange8, memarg, 2, true),
        I32AtomicRmw16XchgU { memarg } | I64AtomicRmw16XchgU { memarg } => (Rare::AtomicExchange16, memarg, 2, true),
        I32AtomicRmwCmpxchg { memarg } | I64AtomicRmw32CmpxchgU { memarg } => (Rare::AtomicCompareExchange32, memarg, 3, true),
        I64AtomicRmwCmpxchg { memarg } => (Rare::AtomicCompareExchange64, memarg, 3, true),
        I32AtomicRmw8CmpxchgU { memarg } | I64AtomicRmw8CmpxchgU { memarg } => (Rare::AtomicCompareExchange8, memarg, 3, true),
        I32AtomicRmw16CmpxchgU { memarg } | I64AtomicRmw16CmpxchgU { memarg } => (Rare::AtomicCompareExchange16, memarg, 3, true),
        _ => return None,
    };
    Some((what, memarg, operands, result))
}
