//! Linear memory: loads, stores, size, grow, bulk operations.
//!
//! A 32-bit memory has 4 GiB + 2 GiB + 64 KiB of address space behind its base, of which what lies beyond its length faults (design
//! section 5). An index is below 2^32 and a CLIF offset below 2^31, so an access needs no check unless its static offset is larger. Accesses to a
//! memory with 64-bit addresses are checked one by one, and all accesses where the process may not have so much address space
//! ([`vm::module::Module::checks_accesses`]).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Opcode, Type, Value, types};
use lwp_feedback::class::SiteClass;
use smallvec::SmallVec;
use wasmparser::{MemArg, MemArgTarget, Operator};

use vm::builtin::{Builtin, MOST_PLAIN_BYTES};
use vm::code::Tier;
use vm::layout::{memory, memory_ref};
use vm::trap::TrapCode;

use super::regions::Region;
use super::{Result, Translator, unsupported};
use crate::scan::Scan;
use crate::traps;

/// log2 of a page's bytes.
const PAGE_BITS: i64 = 16;

/// Bytes by which the address of a store of a changed global is said otherwise than its load's. Cranelift would make one instruction of the load, the sum and the store (`add [m], r`), and a
/// processor that hands on a store's value at a constant distance from a register without delay does not do so to that: a counter takes 2.5 ns a round in place of 0.6 to 1.3 (Sapphire Rapids, natively).
const APART: i32 = 16;

/// How a load widens what it reads.
#[derive(Clone, Copy)]
enum Widen {
    None,
    U8,
    S8,
    U16,
    S16,
    U32,
    S32,
}

/// How a store narrows what it writes.
#[derive(Clone, Copy)]
enum Narrow {
    None,
    To8,
    To16,
    To32,
}

impl Translator<'_, '_> {
    /// How many bytes `memory.copy` and `memory.fill` are told to write.
    fn length_site(&mut self, bytes: Value, offset: u32) {
        if self.wants_sites() {
            self.value_site(SiteClass::BulkLen.imm16(0), offset, |_| bytes);
        }
    }

    /// Translates memory operators; false for all others.
    pub(super) fn memory_operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result<bool> {
        use Operator::*;
        match operator {
            I32Load { memarg } => self.load_operator(memarg, types::I32, Widen::None)?,
            I64Load { memarg } => self.load_operator(memarg, types::I64, Widen::None)?,
            F32Load { memarg } => self.load_operator(memarg, types::F32, Widen::None)?,
            F64Load { memarg } => self.load_operator(memarg, types::F64, Widen::None)?,
            I32Load8S { memarg } => self.load_operator(memarg, types::I32, Widen::S8)?,
            I32Load8U { memarg } => self.load_operator(memarg, types::I32, Widen::U8)?,
            I32Load16S { memarg } => self.load_operator(memarg, types::I32, Widen::S16)?,
            I32Load16U { memarg } => self.load_operator(memarg, types::I32, Widen::U16)?,
            I64Load8S { memarg } => self.load_operator(memarg, types::I64, Widen::S8)?,
            I64Load8U { memarg } => self.load_operator(memarg, types::I64, Widen::U8)?,
            I64Load16S { memarg } => self.load_operator(memarg, types::I64, Widen::S16)?,
            I64Load16U { memarg } => self.load_operator(memarg, types::I64, Widen::U16)?,
            I64Load32S { memarg } => self.load_operator(memarg, types::I64, Widen::S32)?,
            I64Load32U { memarg } => self.load_operator(memarg, types::I64, Widen::U32)?,
            I32Store { memarg } | I64Store { memarg } | F32Store { memarg } | F64Store { memarg } => {
                self.store_operator(memarg, Narrow::None)?;
            }
            I32Store8 { memarg } | I64Store8 { memarg } => self.store_operator(memarg, Narrow::To8)?,
            I32Store16 { memarg } | I64Store16 { memarg } => self.store_operator(memarg, Narrow::To16)?,
            I64Store32 { memarg } => self.store_operator(memarg, Narrow::To32)?,
            MemorySize { mem } => {
                self.check_memory(*mem)?;
                let length = self.memory_size(*mem);
                let bits = self.address_const(PAGE_BITS);
                let pages = self.b.ins().ushr(length, bits);
                let pages = self.as_address(*mem, pages);
                self.push(pages);
            }
            MemoryGrow { mem } => {
                self.check_memory(*mem)?;
                let delta = self.pop();
                let delta = self.wide(delta);
                let index = self.iconst32(*mem);
                let old = self.builtin(Builtin::MemoryGrow, &[index, delta]).expect("memory.grow has a result");
                let old = self.as_address(*mem, old);
                self.push(old);
            }
            MemoryCopy { dst_mem, src_mem } => {
                self.check_memory(*dst_mem)?;
                self.check_memory(*src_mem)?;
                let [to, from, bytes] = self.pop_many::<3>().map(|value| self.wide(value));
                self.length_site(bytes, offset);
                let done = self.plain(&[(*dst_mem, to), (*src_mem, from)], bytes, |translator, addresses| {
                    translator.builtin(Builtin::PlainCopy, &[addresses[0], addresses[1], bytes]);
                });
                let (dst, src) = (self.iconst32(*dst_mem), self.iconst32(*src_mem));
                self.builtin(Builtin::MemoryCopy, &[dst, src, to, from, bytes]);
                self.join(done);
            }
            MemoryFill { mem } => {
                self.check_memory(*mem)?;
                let [to, value, bytes] = self.pop_many();
                let (to, bytes) = (self.wide(to), self.wide(bytes));
                self.length_site(bytes, offset);
                let done = self.plain(&[(*mem, to)], bytes, |translator, addresses| {
                    translator.builtin(Builtin::PlainFill, &[addresses[0], value, bytes]);
                });
                let index = self.iconst32(*mem);
                self.builtin(Builtin::MemoryFill, &[index, to, value, bytes]);
                self.join(done);
            }
            MemoryInit { data_index, mem } => {
                self.check_memory(*mem)?;
                let [to, from, bytes] = self.pop_many();
                let to = self.wide(to);
                let (index, segment) = (self.iconst32(*mem), self.iconst32(*data_index));
                self.builtin(Builtin::MemoryInit, &[index, segment, to, from, bytes]);
            }
            DataDrop { data_index } => {
                let segment = self.iconst32(*data_index);
                self.builtin(Builtin::DataDrop, &[segment]);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What is not long and lies inside of its memories needs neither a frame nor a way to trap: the code that `work` makes of the ranges'
    /// addresses. The builder is left in the cold block for all other cases; the block returned goes on behind both. None where the length or the
    /// place of one of the memories takes more to know.
    fn plain(&mut self, ranges: &[(u32, Value)], bytes: Value, work: impl FnOnce(&mut Self, &[Value])) -> Option<Block> {
        if self.module.checks_accesses || !ranges.iter().all(|&(memory, _)| self.module.is_plain_memory(memory)) {
            return None;
        }
        let most = self.b.ins().iconst(types::I64, MOST_PLAIN_BYTES as i64);
        let mut outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, bytes, most);
        for &(memory, start) in ranges {
            let (length, end) = (self.memory_length(memory), self.b.ins().iadd(start, bytes));
            let behind = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, length);
            outside = self.b.ins().bor(outside, behind);
        }
        let (cold, hot) = self.split_cold(outside);
        self.b.seal_block(hot);
        self.enter(hot);
        let addresses: SmallVec<[Value; 2]> = ranges
            .iter()
            .map(|&(memory, start)| {
                let base = self.memory_base(memory);
                self.b.ins().iadd(base, start)
            })
            .collect();
        work(self, &addresses);
        let done = self.new_block();
        self.b.ins().jump(done, &[]);
        self.enter(cold);
        self.forget_context();
        Some(done)
    }

    /// Goes on in `done`.
    fn join(&mut self, done: Option<Block>) {
        if let Some(done) = done {
            self.b.ins().jump(done, &[]);
            self.b.seal_block(done);
            self.enter(done);
            self.forget_context();
        }
    }

    fn check_memory(&self, index: u32) -> Result {
        let ty = &self.module.memories[index as usize];
        if ty.page_size_log2.is_some_and(|bits| i64::from(bits) != PAGE_BITS) {
            return Err(unsupported(self.frame().function, "custom page sizes"));
        }
        Ok(())
    }

    /// Loads the bases of the memories the function uses, in the entry block: they never change, and tier 2 sinks the loads to where
    /// they are needed.
    pub(super) fn load_memory_bases(&mut self, scan: &Scan) {
        for (index, &used) in scan.memories.iter().enumerate() {
            if used && !self.is_at_context(index as u32) {
                let place = self.module.offsets().memory(index as u32) + memory_ref::base;
                self.memory_bases[index] = Some(self.load_invariant(types::I64, self.entry_context, place));
            }
        }
    }

    /// Whether a memory's base is read from the pinned register: where that is as cheap as it gets. Tier 2 reads it from the context, which may leave loops, and for what accesses memory
    /// not at all ([`memory_base`](crate::passes::memory_base)).
    fn is_at_context(&self, index: u32) -> bool {
        index == 0 && self.input.tier != Tier::Optimizing && self.module.context_is_memory()
    }

    pub(super) fn memory_base(&mut self, index: u32) -> Value {
        if self.is_at_context(index) {
            return self.context();
        }
        if let Some(base) = self.memory_bases[index as usize] {
            return base;
        }
        // Only an inlined callee uses this memory.
        let place = self.module.offsets().memory(index) + memory_ref::base;
        let context = self.invariant_context();
        self.load_invariant(types::I64, context, place)
    }

    /// Bytes of a memory, for a bounds check: what was read before may do. Of a memory that threads share that is too little at worst, for it only grows; and what another thread says it has
    /// grown is seen, since how that is said (an atomic access, a wait, `memory.size`) is a fence for redundant loads.
    pub(super) fn memory_length(&mut self, index: u32) -> Value {
        let memory = self.memory_itself(index);
        self.load(Region::Lengths, types::I64, memory, memory::length)
    }

    /// Bytes of a memory, as they are now. The size of one that threads share is sequentially consistent: a loop may wait for it to change.
    fn memory_size(&mut self, index: u32) -> Value {
        if !self.module.memories[index as usize].shared {
            return self.memory_length(index);
        }
        let memory = self.memory_itself(index);
        let place = self.b.ins().iadd_imm_s(memory, i64::from(memory::length));
        let flags = self.flags(Region::Lengths, types::I64);
        self.b.ins().atomic_load(types::I64, flags, place)
    }

    /// The `VmMemory` of a memory.
    fn memory_itself(&mut self, index: u32) -> Value {
        let place = self.module.offsets().memory(index) + memory_ref::memory;
        let context = self.invariant_context();
        self.load_invariant(types::I64, context, place)
    }

    /// An address or size of a memory, given as an i64, as the memory's operators have it.
    fn as_address(&mut self, memory: u32, value: Value) -> Value {
        if self.module.memories[memory as usize].memory64 { value } else { self.b.ins().ireduce(types::I32, value) }
    }

    /// An address, size or index as an i64.
    pub(super) fn wide(&mut self, value: Value) -> Value {
        if self.b.func.dfg.value_type(value) == types::I64 { value } else { self.b.ins().uextend(types::I64, value) }
    }

    /// Pops the index and yields flags, address and offset of an access of `bytes` bytes.
    pub(super) fn access(&mut self, memarg: &MemArg, bytes: u32) -> Result<(MemFlagsData, Value, i32)> {
        let MemArgTarget::Memory(memory) = memarg.target else {
            return Err(unsupported(self.frame().function, "an access to a GC array"));
        };
        self.check_memory(memory)?;
        let index = self.pop();
        let index = self.wide(index);
        let base = self.memory_base(memory);
        let trap = traps::to_clif(TrapCode::MemoryOutOfBounds);
        let region = self.regions.get(self.b.func, self.module, Region::Memory(memory));
        // Not `aligned`: wasm's alignment is a hint.
        let flags = MemFlagsData::new().with_alias_region(Some(region)).with_trap_code(Some(trap));
        if self.module.memories[memory as usize].memory64 || self.module.checks_accesses {
            return Ok((flags, self.checked_address(memory, index, memarg.offset, bytes), 0));
        }
        Ok(match i32::try_from(memarg.offset) {
            Ok(offset) => {
                let address = self.b.ins().iadd(base, index);
                (flags, address, offset)
            }
            Err(_) => {
                let offset = self.address_const(memarg.offset as i64);
                let index = self.b.ins().iadd(index, offset);
                let size = self.address_const(i64::from(bytes));
                let end = self.b.ins().iadd(index, size);
                let length = self.memory_length(memory);
                let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, length);
                self.b.ins().trapnz(outside, trap);
                let address = self.b.ins().iadd(base, index);
                (flags, address, 0)
            }
        })
    }

    /// The address of an access that no address space guards, or of an atomic one: index + offset + bytes is compared with the length. An access
    /// mispredicted past that goes to the memory's first bytes (Spectre variant 1, as wasmtime's default).
    pub(super) fn checked_address(&mut self, memory: u32, index: Value, offset: u64, bytes: u32) -> Value {
        let trap = traps::to_clif(TrapCode::MemoryOutOfBounds);
        let base = self.memory_base(memory);
        let length = self.memory_length(memory);
        let (start, end) = match offset.checked_add(u64::from(bytes)) {
            Some(reach) => {
                let narrow = !self.module.memories[memory as usize].memory64;
                let reach = self.address_const(reach as i64);
                // Both are below 2^33 with 32-bit addresses.
                let end = if narrow { self.b.ins().iadd(index, reach) } else { self.b.ins().uadd_overflow_trap(index, reach, trap) };
                let offset = self.address_const(offset as i64);
                (self.b.ins().iadd(index, offset), end)
            }
            None => {
                // No address is small enough.
                let offset = self.address_const(-1);
                (index, offset)
            }
        };
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThan, end, length);
        self.b.ins().trapnz(outside, trap);
        let address = self.b.ins().iadd(base, start);
        self.b.ins().select_spectre_guard(outside, base, address)
    }

    fn load_operator(&mut self, memarg: &MemArg, ty: Type, widen: Widen) -> Result {
        let bytes = match widen {
            Widen::None => ty.bytes(),
            Widen::U8 | Widen::S8 => 1,
            Widen::U16 | Widen::S16 => 2,
            Widen::U32 | Widen::S32 => 4,
        };
        let (flags, address, offset) = self.access(memarg, bytes)?;
        self.probe_load(memarg, address, offset, bytes);
        let ins = self.b.ins();
        let value = match widen {
            Widen::None => ins.load(ty, flags, address, offset),
            Widen::U8 => ins.uload8(ty, flags, address, offset),
            Widen::S8 => ins.sload8(ty, flags, address, offset),
            Widen::U16 => ins.uload16(ty, flags, address, offset),
            Widen::S16 => ins.sload16(ty, flags, address, offset),
            Widen::U32 => ins.uload32(flags, address, offset),
            Widen::S32 => ins.sload32(flags, address, offset),
        };
        self.probe_loaded(value);
        self.push(value);
        Ok(())
    }

    /// Whether what is stored may be the sum of what is at the same constant address, which is on the stack, and something else.
    fn changes_constant_place(&self, value: Value) -> bool {
        let opcode = |value: Value| self.b.func.dfg.value_def(value).inst().map(|inst| self.b.func.dfg.insts[inst].opcode());
        let sums = matches!(opcode(value), Some(Opcode::Iadd | Opcode::Isub | Opcode::Band | Opcode::Bor | Opcode::Bxor));
        sums && self.input.tier == Tier::Optimizing && self.stack.last().is_some_and(|&index| opcode(index) == Some(Opcode::Iconst))
    }

    fn store_operator(&mut self, memarg: &MemArg, narrow: Narrow) -> Result {
        let value = self.pop();
        let bytes = match narrow {
            Narrow::None => self.b.func.dfg.value_type(value).bytes(),
            Narrow::To8 => 1,
            Narrow::To16 => 2,
            Narrow::To32 => 4,
        };
        let changed = matches!(narrow, Narrow::None) && self.changes_constant_place(value);
        let (flags, mut address, mut offset) = self.access(memarg, bytes)?;
        if changed && let Some(apart) = offset.checked_add(APART) {
            address = self.b.ins().iadd_imm_s(address, -i64::from(APART));
            offset = apart;
        }
        let ins = self.b.ins();
        match narrow {
            Narrow::None => ins.store(flags, value, address, offset),
            Narrow::To8 => ins.istore8(flags, value, address, offset),
            Narrow::To16 => ins.istore16(flags, value, address, offset),
            Narrow::To32 => ins.istore32(flags, value, address, offset),
        };
        Ok(())
    }
}
