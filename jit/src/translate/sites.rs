//! Tier 1's own instrumentation: LWPVAL sites and countdowns.
//!
//! An LWPVAL site decrements `EventCounter1`, as the processor would (reference: `lwp_feedback`, AMD 43724 section 4.2), at hand in the store's context
//! (`VmStoreContext::values_left`); when it goes negative, a cold block calls a thunk that keeps every register. So a site costs a load, a
//! decrement in memory, a comparison and a branch, and the observed value is computed only when it is recorded.
//!
//! Where the machine's source of records is `trap`, a site is a real LWP instruction instead ([`crate::lwp_thunks`]).
//!
//! Data1 of a record is the byte offset of the operator; for a parameter it is the byte offset of the function's body (where its locals
//! are declared), and the parameter's number is the detail in the imm16's high byte.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::EventId;
use wasmparser::{Operator, ValType};

use vm::builtin::{Builtin, INSTRUCTIONS};
use vm::bytecode::{ends_block, is_counted};
use vm::code::{Tier, ValueSite};
use vm::layout::{context, store};
use vm::shape::recorded_params;

use super::Translator;
use super::regions::Region;
use crate::lwp_thunks::{self, Instruction, Thunk};

/// Offset of `EventCounter1` in the LWPCB.
const COUNTER1: i32 = 132;
/// Offset of `EventCounter2` in the LWPCB.
const COUNTER2: i32 = 140;
/// Sign bit of a 26-bit counter.
const NEGATIVE: i64 = 1 << 25;

/// The counter of a loop's rounds.
#[derive(Clone, Copy)]
pub(super) struct Trips {
    count: Variable,
    /// Byte offset of the `loop`.
    offset: u32,
}

impl Translator<'_, '_> {
    /// In front of a loop: a counter for its rounds, if they are recorded. Where the function is entered at the loop, or at one inside it,
    /// what was before is not known, and the count is not recorded until the loop is begun again.
    pub(super) fn begin_trips(&mut self, offset: u32) -> Option<Trips> {
        if !self.wants_sites() {
            return None;
        }
        let count = self.b.declare_var(types::I32);
        let zero = self.iconst32(0);
        self.b.def_var(count, zero);
        Some(Trips { count, offset })
    }

    /// At the loop's header.
    pub(super) fn count_trip(&mut self, trips: Trips) {
        let before = self.b.use_var(trips.count);
        let one = self.iconst32(1);
        let after = self.b.ins().iadd(before, one);
        self.b.def_var(trips.count, after);
    }

    /// The loop is entered in the middle: its count is negative, and says how many rounds there were since, until it is begun again.
    pub(super) fn forget_trips(&mut self, trips: Trips) {
        let unknown = self.b.ins().iconst(types::I32, i64::from(i32::MIN as u32));
        self.b.def_var(trips.count, unknown);
    }

    /// Where the loop is left.
    pub(super) fn trip_site(&mut self, trips: Trips) {
        // Who reads a burst can tell, and needs both: see `TopK::add_at_least`.
        if self.input.tier == Tier::Instrumented || !self.is_around(trips.offset) {
            return self.known_trip_site(trips);
        }
        let count = self.b.use_var(trips.count);
        let zero = self.iconst32(0);
        let whole = self.b.ins().icmp(IntCC::SignedGreaterThan, count, zero);
        let (site, next) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(whole, site, &[], next, &[]);
        self.b.seal_block(site);
        self.enter(site);
        self.known_trip_site(trips);
        self.b.ins().jump(next, &[]);
        self.b.seal_block(next);
        self.enter(next);
    }

    fn known_trip_site(&mut self, trips: Trips) {
        self.value_site(SiteClass::TripCount.imm16(0), trips.offset, |translator| {
            let count = translator.b.use_var(trips.count);
            translator.b.ins().uextend(types::I64, count)
        });
    }

    /// The innermost loop that a branch of that depth leaves, if its rounds are recorded.
    pub(super) fn left_trips(&self, depth: u32) -> Option<Trips> {
        let target = self.control.len() - 1 - depth as usize;
        self.control[target + 1..].iter().rev().find_map(|control| control.trips())
    }

    /// Whether LWPVAL sites are wanted here.
    pub(super) fn wants_sites(&self) -> bool {
        self.input.sites && self.frames.len() == 1
    }

    /// An LWPVAL site of that imm16 and data1. `value` is called in the cold block.
    pub(super) fn value_site(&mut self, imm16: u16, offset: u32, value: impl FnOnce(&mut Self) -> Value) {
        if self.input.tier == Tier::Instrumented {
            return self.probe_value(imm16, value);
        }
        let function = self.frame().function;
        self.sites.push(ValueSite { class: imm16, offset, function });
        if self.input.lwp_instructions {
            let value = value(self);
            let data1 = self.iconst32(offset);
            self.lwp_instruction(Instruction::Lwpval, u32::from(imm16), value, data1);
            return;
        }
        self.count_value(|translator| {
            let site = u64::from(offset) << 32 | u64::from(imm16);
            [translator.address_const(site as i64), value(translator)]
        });
    }

    /// An LWP instruction of this site's own.
    pub(super) fn lwp_instruction(&mut self, instruction: Instruction, imm: u32, data2: Value, data1: Value) -> Option<Value> {
        let callee = lwp_thunks::declare(self.b.func, self.thunks.len(), instruction);
        self.thunks.push(Thunk { instruction, imm, location: self.b.srcloc().bits() });
        let call = self.b.ins().call(callee, &[data2, data1]);
        self.b.inst_results(call).first().copied()
    }

    /// LWPVAL in place: counts, and where a record is due makes it of what `operands` yields (imm16 with Data1 in the high half, Data2) in the cold block.
    pub(super) fn count_value(&mut self, operands: impl FnOnce(&mut Self) -> [Value; 2]) {
        let context = self.context();
        let shared = self.load_constant(types::I64, context, context::store);
        // Taken off in memory, and read again: two instructions without a register of their own, where one value for both takes four with one.
        let (base, counter) = match self.input.lwp_instructions {
            // There all others count in the LWPCB.
            true => (self.load(Region::Lwp, types::I64, shared, store::lwpcb), COUNTER1),
            false => (shared, store::values_left),
        };
        let before = self.load(Region::Lwp, types::I32, base, counter);
        let minus = self.b.ins().iconst(types::I32, -1);
        let after = self.b.ins().iadd(before, minus);
        self.store(Region::Lwp, after, base, counter);
        let left = self.load(Region::Lwp, types::I32, base, counter);
        let negative = self.b.ins().icmp_imm_s(IntCC::SignedLessThan, left, 0);
        self.sample_where(negative, operands);
    }

    /// Calls the builtin that makes records, with what `operands` yields in the cold block, where a counter went negative.
    fn sample_where(&mut self, negative: Value, operands: impl FnOnce(&mut Self) -> [Value; 2]) {
        let (cold, hot) = self.split_cold(negative);
        self.enter(cold);
        let operands = operands(self);
        self.builtin(Builtin::ValueSample, &operands);
        self.b.ins().jump(hot, &[]);
        self.b.seal_block(hot);
        self.enter(hot);
    }

    /// An operator is translated next: counts it with its block, where instructions are counted; where it ends the block, the block is taken off EventCounter2
    /// here, in place, as LWPVAL takes one off its counter. How many instructions the operators become is not known yet, so operators are what is counted.
    pub(super) fn count_operator(&mut self, operator: &Operator<'_>) {
        if !self.input.events.contains(EventId::INSTRUCTIONS) {
            return;
        }
        self.uncounted_operators += u32::from(is_counted(operator));
        let count = match ends_block(operator) {
            true => std::mem::take(&mut self.uncounted_operators),
            false => 0,
        };
        if count == 0 {
            return;
        }
        let context = self.context();
        let shared = self.load_constant(types::I64, context, context::store);
        let total = self.load(Region::Lwp, types::I64, shared, store::instructions_compiled);
        let wide = self.address_const(i64::from(count));
        let total = self.b.ins().iadd(total, wide);
        self.store(Region::Lwp, total, shared, store::instructions_compiled);
        let lwpcb = self.load(Region::Lwp, types::I64, shared, store::lwpcb);
        let before = self.load(Region::Lwp, types::I32, lwpcb, COUNTER2);
        let operators = self.iconst32(count);
        let counter = self.b.ins().isub(before, operators);
        self.store(Region::Lwp, counter, lwpcb, COUNTER2);
        let mask = self.b.ins().iconst(types::I32, NEGATIVE);
        let negative = self.b.ins().band(counter, mask);
        self.sample_where(negative, |translator| [translator.address_const(INSTRUCTIONS as i64), translator.address_const(0)]);
    }

    /// Sites for the parameters that are recorded; the builder stands in the entry block.
    pub(super) fn parameter_sites(&mut self, body: u32) {
        if !self.wants_sites() {
            return;
        }
        for (index, ty) in recorded_params(self.module, self.input.function) {
            let variable = self.frame().locals[usize::from(index)].0;
            let wide = ty == ValType::I64;
            self.value_site(SiteClass::Param.imm16(index), body, |translator| {
                let value = translator.b.use_var(variable);
                if wide { value } else { translator.b.ins().uextend(types::I64, value) }
            });
        }
    }

    /// Takes one off the function's word, and yields what it was. `None` where it has no word.
    pub(super) fn count_down(&mut self) -> Option<Value> {
        let index = self.module.defined(self.input.function)?;
        let place = i32::try_from(index * 4).ok()?;
        let context = self.context();
        let counters = self.load_constant(types::I64, context, context::counters);
        let before = self.load(Region::Counters, types::I32, counters, place);
        let one = self.iconst32(1);
        let after = self.b.ins().isub(before, one);
        self.store(Region::Counters, after, counters, place);
        Some(before)
    }

    /// The same; the cold block is where none was left.
    fn take_one_off(&mut self) -> Option<(Block, Block)> {
        let before = self.count_down()?;
        let zero = self.iconst32(0);
        // (below 0 too: threads at once may take it past 0 and lose what one of them has loaded it with)
        let ran_out = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, before, zero);
        Some(self.split_cold(ran_out))
    }

    /// Counts the function's word down, at function entry (`offset` is all ones) or at a loop header.
    pub(super) fn countdown(&mut self, offset: u32) {
        if !self.input.countdowns || self.frames.len() != 1 {
            return;
        }
        let Some((cold, hot)) = self.take_one_off() else { return };
        self.enter(cold);
        let function = self.iconst32(self.input.function);
        let at = self.iconst32(offset);
        let counted = self.builtin(Builtin::Hot, &[function, at]).expect("it yields what was counted");
        self.hot_sites += 1;
        if self.input.lwp_instructions {
            let class = if offset == u32::MAX { SiteClass::HotFunction } else { SiteClass::HotLoop };
            self.lwp_instruction(Instruction::Lwpins, u32::from(class.imm16(0)), counted, at);
        }
        self.b.ins().jump(hot, &[]);
        self.b.seal_block(hot);
        self.enter(hot);
    }
}
