//! Probes of instrumented code: what happened, appended word by word to the burst buffer (`vm::burst` says what the words mean and what becomes of
//! them).
//!
//! Nothing but [`Tier::Instrumented`] has probes; there every function here does nothing in the other tiers. A probe costs a load, a few operations
//! and two stores, all to lines that stay in the first cache. The burst ends at loop headers: when as many words are written as were asked for, a
//! cold block asks the machine and leaves as a poll does.
//!
//! A load is timed out of line, by a call that keeps every register, and then executed as ever: the timed one comes first, so it sees the cache as the
//! program's would have.

use std::collections::{HashMap, HashSet, VecDeque};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, Block, InstBuilder, Value, ValueDef, types};

use wasmparser::{MemArg, MemArgTarget};

use vm::builtin::Builtin;
use vm::burst::{AT_ENTRY, AT_RETURN};
use vm::code::{Entrance, Probe, ProbeKind, Tier};
use vm::layout::{BURST_WORDS, context, store};

use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::EventId;

use super::regions::Region;
use super::{Result, Translator, unsupported};

/// Values looked at to find where an address comes from.
const MOST_VALUES: usize = 256;

/// The probes of a translation.
#[derive(Default)]
pub(super) struct Probes {
    list: Vec<Probe>,
    /// Results of loads of linear memory, and the loads' byte offsets.
    loaded: HashMap<Value, u32>,
    /// Probes of loads and their addresses.
    addresses: Vec<(usize, Value)>,
}

impl Translator<'_, '_> {
    fn probes_here(&self) -> bool {
        self.input.tier == Tier::Instrumented && self.frames.len() == 1
    }

    /// Whether branches, selects and values are watched here.
    fn watches_branches(&self) -> bool {
        self.probes_here() && self.input.events.contains(EventId::BRANCHES)
    }

    /// A new probe's number. Its position is the operator's that is being translated.
    fn probe(&mut self, kind: ProbeKind) -> u32 {
        let position = self.b.srcloc().bits();
        self.probes.list.push(Probe { kind, position, feeder: None });
        self.input.probe_base + self.probes.list.len() as u32 - 1
    }

    fn burst_context(&mut self) -> Value {
        let context = self.b.ins().get_pinned_reg(types::I64);
        self.load_constant(types::I64, context, context::store)
    }

    /// Appends a word: the probe's number and, in the upper half, `payload` (an i64 shifted there already).
    fn append(&mut self, probe: u32, payload: Option<Value>) {
        let number = self.b.ins().iconst(types::I64, i64::from(probe));
        let word = match payload {
            Some(payload) => self.b.ins().bor(payload, number),
            None => number,
        };
        self.append_word(word);
    }

    fn append_word(&mut self, word: Value) {
        let shared = self.burst_context();
        let buffer = self.load_constant(types::I64, shared, store::burst_buffer);
        let index = self.load(Region::Burst, types::I32, shared, store::burst_index);
        let mask = self.b.ins().iconst(types::I32, BURST_WORDS as i64 - 1);
        let slot = self.b.ins().band(index, mask);
        let slot = self.b.ins().uextend(types::I64, slot);
        let three = self.b.ins().iconst(types::I64, 3);
        let slot = self.b.ins().ishl(slot, three);
        let place = self.b.ins().iadd(buffer, slot);
        self.store(Region::BurstWords, word, place, 0);
        let one = self.b.ins().iconst(types::I32, 1);
        let next = self.b.ins().iadd(index, one);
        self.store(Region::Burst, next, shared, store::burst_index);
    }

    /// A value of 32 bits as a word's upper half.
    fn upper(&mut self, value: Value) -> Value {
        let value = self.b.ins().uextend(types::I64, value);
        let bits = self.b.ins().iconst(types::I64, 32);
        self.b.ins().ishl(value, bits)
    }

    /// An i64 whose low half is a word's upper half.
    fn upper_of_wide(&mut self, value: Value) -> Value {
        let bits = self.b.ins().iconst(types::I64, 32);
        self.b.ins().ishl(value, bits)
    }

    fn append_condition(&mut self, kind: ProbeKind, condition: Value) {
        let probe = self.probe(kind);
        let ty = self.b.func.dfg.value_type(condition);
        let zero = self.b.ins().iconst(ty, 0);
        let holds = self.b.ins().icmp(IntCC::NotEqual, condition, zero);
        let payload = self.upper(holds);
        self.append(probe, Some(payload));
    }

    /// Before an `if` or `br_if`.
    pub(super) fn probe_branch(&mut self, condition: Value) {
        if self.watches_branches() {
            self.append_condition(ProbeKind::Branch, condition);
        }
    }

    /// Before a `select`.
    pub(super) fn probe_select(&mut self, condition: Value) {
        if self.watches_branches() {
            self.append_condition(ProbeKind::Select, condition);
        }
    }

    /// Before a `br_table`.
    pub(super) fn probe_switch(&mut self, index: Value) {
        if self.watches_branches() {
            let probe = self.probe(ProbeKind::Switch);
            let payload = self.upper(index);
            self.append(probe, Some(payload));
        }
    }

    /// Before a checked indirect call. What is appended is the low half of what a value site says of the callee.
    pub(super) fn probe_call(&mut self, callee: Value) {
        if self.watches_branches() {
            let probe = self.probe(ProbeKind::IndirectCall);
            let number = self.function_number(callee);
            let payload = self.upper_of_wide(number);
            self.append(probe, Some(payload));
        }
    }

    /// Before a direct call.
    pub(super) fn probe_direct_call(&mut self, callee: u32) {
        if self.watches_branches() && self.module.is_short(callee) {
            let probe = self.probe(ProbeKind::Call(callee));
            self.append(probe, None);
        }
    }

    /// A value site. Conditions, indices and callees have probes of their own.
    pub(super) fn probe_value(&mut self, imm16: u16, value: impl FnOnce(&mut Self) -> Value) {
        let seen = matches!(SiteClass::from_imm16(imm16), Some((SiteClass::CallTarget | SiteClass::Select | SiteClass::SwitchIndex, _)));
        if !self.watches_branches() || !self.input.events.contains(EventId::VALUE) || seen {
            return;
        }
        let probe = self.probe(ProbeKind::Value(imm16));
        self.append(probe, None);
        let value = value(self);
        self.append_word(value);
    }

    /// At the function's body entrance: `params` are its arguments, to be passed on to the code that the machine may want instead.
    pub(super) fn probe_entry(&mut self, params: &[Value]) {
        if !self.probes_here() {
            return;
        }
        let (cold, hot) = self.burst_full();
        self.enter(cold);
        let code = self.ask_burst(AT_ENTRY);
        let instead = self.b.create_block();
        self.b.set_cold_block(instead);
        self.b.ins().brif(code, instead, &[], hot, &[]);
        self.b.seal_block(instead);
        self.b.seal_block(hot);
        self.enter(instead);
        let signature = self.wasm_signature(self.module.functions[self.input.function as usize]);
        self.b.ins().return_call_indirect(signature, code, params);
        self.enter(hot);
        let probe = self.probe(ProbeKind::Entry);
        let address = self.b.ins().get_return_address(types::I64);
        let payload = self.upper_of_wide(address);
        self.append(probe, Some(payload));
    }

    /// Before the function's return.
    pub(super) fn probe_return(&mut self) {
        self.probe_leaving(ProbeKind::Return);
    }

    /// Before a tail call, which is no branch (an indirect one's callee has a probe of its own): whom the frame would return to, the callee will.
    pub(super) fn probe_tail_call(&mut self) {
        self.probe_leaving(ProbeKind::TailCall);
    }

    fn probe_leaving(&mut self, kind: ProbeKind) {
        if !self.probes_here() {
            return;
        }
        if self.input.events.contains(EventId::BRANCHES) {
            self.probe_return_address(kind);
        }
        // A body's burst goes on at its next entry by itself.
        if matches!(self.input.entrance, Entrance::Loop(_)) {
            self.ask_burst(AT_RETURN);
        }
    }

    fn probe_return_address(&mut self, kind: ProbeKind) {
        let probe = self.probe(kind);
        let address = self.b.ins().get_return_address(types::I64);
        let payload = self.upper_of_wide(address);
        self.append(probe, Some(payload));
    }

    /// At a loop's header, behind its poll.
    pub(super) fn probe_round(&mut self, offset: u32) -> Result {
        if !self.probes_here() {
            return Ok(());
        }
        if !self.frames_fit(0) {
            return Err(unsupported(self.input.function, "instrumented: a frame that cannot be switched"));
        }
        if !self.affords_exit() {
            return Err(unsupported(self.input.function, "instrumented: more ways out of loops than compile in time"));
        }
        let (cold, hot) = self.burst_full();
        self.enter(cold);
        let leaves = self.ask_burst(offset);
        let away = self.b.create_block();
        self.b.set_cold_block(away);
        self.b.ins().brif(leaves, away, &[], hot, &[]);
        self.b.seal_block(away);
        self.b.seal_block(hot);
        self.enter(away);
        self.leave(offset);
        self.enter(hot);
        let probe = self.probe(ProbeKind::Round);
        self.append(probe, None);
        Ok(())
    }

    /// Branches to a cold block where the buffer holds what was asked for. Neither block is sealed but the cold one.
    fn burst_full(&mut self) -> (Block, Block) {
        let shared = self.burst_context();
        let index = self.load(Region::Burst, types::I32, shared, store::burst_index);
        let limit = self.load(Region::Burst, types::I32, shared, store::burst_limit);
        let full = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, index, limit);
        self.split_cold(full)
    }

    fn ask_burst(&mut self, offset: u32) -> Value {
        let function = self.iconst32(self.input.function);
        let offset = self.iconst32(offset);
        let version = self.iconst32(self.input.version);
        self.builtin(Builtin::Burst, &[function, offset, version]).expect("it says what to do")
    }

    /// Before a load of `bytes` bytes at `address + offset`.
    pub(super) fn probe_load(&mut self, memarg: &MemArg, address: Value, offset: i32, bytes: u32) {
        let MemArgTarget::Memory(memory) = memarg.target else { return };
        if !self.probes_here() || !self.input.events.contains(EventId::DCACHE) {
            return;
        }
        let probe = self.probe(ProbeKind::Load);
        self.probes.addresses.push((self.probes.list.len() - 1, address));
        let shared = self.burst_context();
        let timing = self.load(Region::Burst, types::I32, shared, store::burst_timing);
        let (cold, hot) = self.split_cold(timing);
        self.enter(cold);
        // Only what is there is timed: a fault must come from the program's own load.
        let (base, length) = (self.memory_base(memory), self.memory_length(memory));
        let end = self.b.ins().iadd(base, length);
        let offset = self.address_const(i64::from(offset));
        let first = self.b.ins().iadd(address, offset);
        let last = self.address_const(i64::from(bytes) - 1);
        let last = self.b.ins().iadd(first, last);
        let outside = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, last, end);
        let inside = self.b.create_block();
        self.b.set_cold_block(inside);
        self.b.ins().brif(outside, hot, &[], inside, &[]);
        self.b.seal_block(inside);
        self.enter(inside);
        let number = self.iconst32(probe);
        self.builtin(Builtin::TimedLoad, &[first, last, number]);
        self.b.ins().jump(hot, &[]);
        self.b.seal_block(hot);
        self.enter(hot);
    }

    /// A load's value, for finding out which addresses come from loads.
    pub(super) fn probe_loaded(&mut self, value: Value) {
        if self.probes_here() {
            let offset = self.positions[self.b.srcloc().bits() as usize].offset;
            self.probes.loaded.insert(value, offset);
        }
    }
}

impl Probes {
    /// The probes, each load's with the load that feeds it. `function` is translated to its end.
    pub(super) fn finish(mut self, function: &ir::Function) -> Vec<Probe> {
        if self.addresses.is_empty() {
            return self.list;
        }
        let arguments = arguments_of_blocks(function);
        for &(probe, address) in &self.addresses {
            self.list[probe].feeder = feeder(function, &arguments, &self.loaded, address);
        }
        self.list
    }
}

/// What branches pass to each block's parameters, by block and number.
fn arguments_of_blocks(function: &ir::Function) -> HashMap<(Block, usize), Vec<Value>> {
    let mut passed: HashMap<(Block, usize), Vec<Value>> = HashMap::new();
    let dfg = &function.dfg;
    for block in function.layout.blocks() {
        let Some(last) = function.layout.last_inst(block) else { continue };
        for call in dfg.insts[last].branch_destination(&dfg.jump_tables, &dfg.exception_tables) {
            let target = call.block(&dfg.value_lists);
            for (nth, argument) in call.args(&dfg.value_lists).enumerate() {
                if let Some(value) = argument.as_value() {
                    passed.entry((target, nth)).or_default().push(value);
                }
            }
        }
    }
    passed
}

/// The nearest load whose value goes into `from`, through operations and joins.
fn feeder(
    function: &ir::Function,
    arguments: &HashMap<(Block, usize), Vec<Value>>,
    loaded: &HashMap<Value, u32>,
    from: Value,
) -> Option<u32> {
    let dfg = &function.dfg;
    let mut seen = HashSet::new();
    let mut queue = VecDeque::from([from]);
    while let Some(value) = queue.pop_front() {
        let value = dfg.resolve_aliases(value);
        if !seen.insert(value) || seen.len() > MOST_VALUES {
            continue;
        }
        if let Some(&offset) = loaded.get(&value) {
            return Some(offset);
        }
        match dfg.value_def(value) {
            ValueDef::Result(inst, _) => {
                // What a call or a load of ours yields is not computed from its operands.
                let opcode = dfg.insts[inst].opcode();
                if !opcode.is_call() && !opcode.can_load() {
                    queue.extend(dfg.inst_args(inst));
                }
            }
            ValueDef::Param(block, nth) => queue.extend(arguments.get(&(block, nth)).into_iter().flatten()),
            ValueDef::Union(..) => {}
        }
    }
    None
}
