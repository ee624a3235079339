//! Atomic operators: Cranelift's, sequentially consistent, on addresses that are checked one by one (a locked instruction costs more than the check, and its
//! expansion may be a loop). Waiting and waking are the machine's.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AtomicRmwOp, InstBuilder, MemFlagsData, Type, Value, types};
use wasmparser::{MemArg, MemArgTarget, Operator};

use vm::builtin::Builtin;
use vm::trap::TrapCode;

use super::regions::Region;
use super::{Result, Translator, unsupported};
use crate::traps;

impl Translator<'_, '_> {
    /// Translates atomic operators; false for all others.
    pub(super) fn atomic_operator(&mut self, operator: &Operator<'_>) -> Result<bool> {
        use AtomicRmwOp::{Add, And, Or, Sub, Xchg, Xor};
        use Operator::*;
        use types::{I8, I16, I32, I64};
        match *operator {
            AtomicFence { .. } => _ = self.b.ins().fence(),
            I32AtomicLoad { memarg } => self.atomic_load(&memarg, I32, I32)?,
            I64AtomicLoad { memarg } => self.atomic_load(&memarg, I64, I64)?,
            I32AtomicLoad8U { memarg } => self.atomic_load(&memarg, I8, I32)?,
            I32AtomicLoad16U { memarg } => self.atomic_load(&memarg, I16, I32)?,
            I64AtomicLoad8U { memarg } => self.atomic_load(&memarg, I8, I64)?,
            I64AtomicLoad16U { memarg } => self.atomic_load(&memarg, I16, I64)?,
            I64AtomicLoad32U { memarg } => self.atomic_load(&memarg, I32, I64)?,
            I32AtomicStore { memarg } | I64AtomicStore32 { memarg } => self.atomic_store(&memarg, I32)?,
            I64AtomicStore { memarg } => self.atomic_store(&memarg, I64)?,
            I32AtomicStore8 { memarg } | I64AtomicStore8 { memarg } => self.atomic_store(&memarg, I8)?,
            I32AtomicStore16 { memarg } | I64AtomicStore16 { memarg } => self.atomic_store(&memarg, I16)?,
            I32AtomicRmwAdd { memarg } | I64AtomicRmw32AddU { memarg } => self.atomic_rmw(&memarg, I32, Add)?,
            I64AtomicRmwAdd { memarg } => self.atomic_rmw(&memarg, I64, Add)?,
            I32AtomicRmw8AddU { memarg } | I64AtomicRmw8AddU { memarg } => self.atomic_rmw(&memarg, I8, Add)?,
            I32AtomicRmw16AddU { memarg } | I64AtomicRmw16AddU { memarg } => self.atomic_rmw(&memarg, I16, Add)?,
            I32AtomicRmwSub { memarg } | I64AtomicRmw32SubU { memarg } => self.atomic_rmw(&memarg, I32, Sub)?,
            I64AtomicRmwSub { memarg } => self.atomic_rmw(&memarg, I64, Sub)?,
            I32AtomicRmw8SubU { memarg } | I64AtomicRmw8SubU { memarg } => self.atomic_rmw(&memarg, I8, Sub)?,
            I32AtomicRmw16SubU { memarg } | I64AtomicRmw16SubU { memarg } => self.atomic_rmw(&memarg, I16, Sub)?,
            I32AtomicRmwAnd { memarg } | I64AtomicRmw32AndU { memarg } => self.atomic_rmw(&memarg, I32, And)?,
            I64AtomicRmwAnd { memarg } => self.atomic_rmw(&memarg, I64, And)?,
            I32AtomicRmw8AndU { memarg } | I64AtomicRmw8AndU { memarg } => self.atomic_rmw(&memarg, I8, And)?,
            I32AtomicRmw16AndU { memarg } | I64AtomicRmw16AndU { memarg } => self.atomic_rmw(&memarg, I16, And)?,
            I32AtomicRmwOr { memarg } | I64AtomicRmw32OrU { memarg } => self.atomic_rmw(&memarg, I32, Or)?,
            I64AtomicRmwOr { memarg } => self.atomic_rmw(&memarg, I64, Or)?,
            I32AtomicRmw8OrU { memarg } | I64AtomicRmw8OrU { memarg } => self.atomic_rmw(&memarg, I8, Or)?,
            I32AtomicRmw16OrU { memarg } | I64AtomicRmw16OrU { memarg } => self.atomic_rmw(&memarg, I16, Or)?,
            I32AtomicRmwXor { memarg } | I64AtomicRmw32XorU { memarg } => self.atomic_rmw(&memarg, I32, Xor)?,
            I64AtomicRmwXor { memarg } => self.atomic_rmw(&memarg, I64, Xor)?,
            I32AtomicRmw8XorU { memarg } | I64AtomicRmw8XorU { memarg } => self.atomic_rmw(&memarg, I8, Xor)?,
            I32AtomicRmw16XorU { memarg } | I64AtomicRmw16XorU { memarg } => self.atomic_rmw(&memarg, I16, Xor)?,
            I32AtomicRmwXchg { memarg } | I64AtomicRmw32XchgU { memarg } => self.atomic_rmw(&memarg, I32, Xchg)?,
            I64AtomicRmwXchg { memarg } => self.atomic_rmw(&memarg, I64, Xchg)?,
            I32AtomicRmw8XchgU { memarg } | I64AtomicRmw8XchgU { memarg } => self.atomic_rmw(&memarg, I8, Xchg)?,
            I32AtomicRmw16XchgU { memarg } | I64AtomicRmw16XchgU { memarg } => self.atomic_rmw(&memarg, I16, Xchg)?,
            I32AtomicRmwCmpxchg { memarg } | I64AtomicRmw32CmpxchgU { memarg } => self.atomic_cas(&memarg, I32)?,
            I64AtomicRmwCmpxchg { memarg } => self.atomic_cas(&memarg, I64)?,
            I32AtomicRmw8CmpxchgU { memarg } | I64AtomicRmw8CmpxchgU { memarg } => self.atomic_cas(&memarg, I8)?,
            I32AtomicRmw16CmpxchgU { memarg } | I64AtomicRmw16CmpxchgU { memarg } => self.atomic_cas(&memarg, I16)?,
            MemoryAtomicWait32 { memarg } => self.wait(&memarg, Builtin::AtomicWait32)?,
            MemoryAtomicWait64 { memarg } => self.wait(&memarg, Builtin::AtomicWait64)?,
            MemoryAtomicNotify { memarg } => {
                let [index, count] = self.pop_many();
                let (memory, offset) = self.memory_and_offset(&memarg)?;
                let index = self.wide(index);
                let woken = self.builtin(Builtin::AtomicNotify, &[memory, index, offset, count]).expect("it says how many");
                self.push(woken);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn memory_and_offset(&mut self, memarg: &MemArg) -> Result<(Value, Value)> {
        let MemArgTarget::Memory(memory) = memarg.target else {
            return Err(unsupported(self.frame().function, "an access to a GC array"));
        };
        let memory = self.iconst32(memory);
        let offset = self.address_const(memarg.offset as i64);
        Ok((memory, offset))
    }

    fn wait(&mut self, memarg: &MemArg, builtin: Builtin) -> Result {
        let [index, expected, timeout] = self.pop_many();
        let (memory, offset) = self.memory_and_offset(memarg)?;
        let (index, expected) = (self.wide(index), self.wide(expected));
        let result = self.builtin(builtin, &[memory, index, offset, expected, timeout]).expect("a wait has a result");
        // A deadline's callback has the store.
        self.call_breaks_facts();
        self.push(result);
        Ok(())
    }

    /// Pops the index and yields the flags and the address of an access of a type, checked for alignment and bounds.
    fn atomic_access(&mut self, memarg: &MemArg, ty: Type) -> Result<(MemFlagsData, Value)> {
        let MemArgTarget::Memory(memory) = memarg.target else {
            return Err(unsupported(self.frame().function, "an access to a GC array"));
        };
        let index = self.pop();
        let index = self.wide(index);
        if ty.bytes() > 1 {
            let offset = self.address_const(memarg.offset as i64);
            let address = self.b.ins().iadd(index, offset);
            let mask = self.address_const(i64::from(ty.bytes()) - 1);
            let rest = self.b.ins().band(address, mask);
            let zero = self.address_const(0);
            let misaligned = self.b.ins().icmp(IntCC::NotEqual, rest, zero);
            self.b.ins().trapnz(misaligned, traps::to_clif(TrapCode::HeapMisaligned));
        }
        let address = self.checked_address(memory, index, memarg.offset, ty.bytes());
        Ok((self.flags(Region::Memory(memory), ty), address))
    }

    /// Pushes what was read, as wide as `like`.
    fn push_read(&mut self, read: Value, wide: Type) {
        let read = if self.b.func.dfg.value_type(read) == wide { read } else { self.b.ins().uextend(wide, read) };
        self.push(read);
    }

    fn narrow(&mut self, value: Value, ty: Type) -> Value {
        if self.b.func.dfg.value_type(value) == ty { value } else { self.b.ins().ireduce(ty, value) }
    }

    fn atomic_load(&mut self, memarg: &MemArg, ty: Type, wide: Type) -> Result {
        let (flags, address) = self.atomic_access(memarg, ty)?;
        let read = self.b.ins().atomic_load(ty, flags, address);
        self.push_read(read, wide);
        Ok(())
    }

    fn atomic_store(&mut self, memarg: &MemArg, ty: Type) -> Result {
        let value = self.pop();
        let value = self.narrow(value, ty);
        let (flags, address) = self.atomic_access(memarg, ty)?;
        self.b.ins().atomic_store(flags, value, address);
        Ok(())
    }

    fn atomic_rmw(&mut self, memarg: &MemArg, ty: Type, op: AtomicRmwOp) -> Result {
        let value = self.pop();
        let wide = self.b.func.dfg.value_type(value);
        let value = self.narrow(value, ty);
        let (flags, address) = self.atomic_access(memarg, ty)?;
        let read = self.b.ins().atomic_rmw(ty, flags, op, address, value);
        self.push_read(read, wide);
        Ok(())
    }

    fn atomic_cas(&mut self, memarg: &MemArg, ty: Type) -> Result {
        let [expected, value] = self.pop_many();
        let wide = self.b.func.dfg.value_type(value);
        let (expected, value) = (self.narrow(expected, ty), self.narrow(value, ty));
        let (flags, address) = self.atomic_access(memarg, ty)?;
        let read = self.b.ins().atomic_cas(flags, address, expected, value);
        self.push_read(read, wide);
        Ok(())
    }
}
