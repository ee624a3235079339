//! The poll: one comparison with memory and one branch at every loop header, through which running code is asked to stop or to go on elsewhere (design
//! section 6). Functions do not poll where they are entered: while that is asked, calls lead to a stub (`vm::tiering::entries`).
//!
//! The eight bytes with the flag are compared with the context's address ([`vm::layout::ASKED`]): a compare that loads and its branch are one operation of today's
//! processors, while a load, a test and a branch are two. They are loaded through the pinned register, read afresh at each poll: from a value kept from an earlier poll, alias analysis
//! would reuse the earlier flag and delete the poll, and the loop could never be stopped.
//!
//! At a loop header the cold side writes the frame, in an inlined callee its callers' too, to the switch buffer in canonical form and *leaves* by a
//! tail call; it never comes back, so the loop keeps its registers. What is written of a frame: locals that are live there, at their slots; then its
//! operand stack. Slots of dead locals hold anything. Each loop has a word of its own, so that one can be asked (for a burst) and the others need no way back: a way
//! into the loop from a block outside of it keeps the loop's values in registers.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, SigRef, Type, Value, types};
use smallvec::SmallVec;

use vm::builtin::Builtin;
use vm::layout::{SLOT_BYTES, SWITCH_BUFFER_SLOTS, SWITCH_HEADER_BYTES, context, store, switch};

use super::Translator;
use super::control::arguments;
use super::regions::Region;
use crate::markers;
use crate::scan::LiveSet;
use crate::types::{slots_of, switch_signature};

/// Slots that the exits of a function may write: of the loops behind that the code asks without leaving. The register allocator takes longer than in proportion: 500 loops with 500 live
/// locals took it 22 s, 0.07 s without exits. clang's largest functions, some hundred loops with some dozens of live locals, stay below.
const MOST_EXIT_SLOTS: usize = 20_000;

/// Byte offset of a slot in the switch buffer.
pub(super) fn slot_offset(slot: u32) -> i32 {
    SWITCH_HEADER_BYTES + slot as i32 * SLOT_BYTES as i32
}

// Both halves of the head are written as one word each.
const _: () = assert!(switch::offset == switch::function + 4 && switch::callees == switch::version + 4);

impl Translator<'_, '_> {
    /// The poll at the header of the loop whose opcode is at `offset`; the builder stands in the header.
    pub(super) fn loop_poll(&mut self, offset: u32) {
        let own = self.module.defined(self.input.function).expect("only defined functions are compiled");
        let (cold, hot) = match (self.counts_rounds(offset), self.rounds.is_some()) {
            (true, _) => self.round_used_up(),
            // Asking the function to leave is for the versions that are not on trial.
            (false, true) => self.poll_flag(context::poll_low),
            // Inlined loops look at the outermost function's word: the code is that function's, and what asks the callee's own loop does not mean it.
            (false, false) => {
                let of_loop = (self.frames.len() == 1).then(|| self.module.loop_poll(own, offset)).flatten();
                self.poll_flag(of_loop.unwrap_or_else(|| self.module.function_poll(own)))
            }
        };
        self.enter(cold);
        let entered = self.frames.len() == 1 && self.input.entrance == vm::code::Entrance::Loop(offset);
        if self.frames_fit(0) && (entered || self.affords_exit()) {
            self.leave(offset);
        } else {
            self.ask();
            self.b.ins().jump(hot, &[]);
        }
        self.b.seal_block(hot);
        self.enter(hot);
    }

    fn poll_flag(&mut self, word: i32) -> (cranelift_codegen::ir::Block, cranelift_codegen::ir::Block) {
        let flags = self.flags(Region::Poll, types::I64);
        let asked = markers::poll(&mut self.b, flags, word);
        self.split_cold(asked)
    }

    /// Whether the poll of this loop is the count of a trial's arm.
    fn counts_rounds(&self, offset: u32) -> bool {
        self.rounds.is_some() && self.frames.len() == 1 && self.input.entrance == vm::code::Entrance::Loop(offset)
    }

    /// Takes one round off; the cold block is where none is left.
    fn round_used_up(&mut self) -> (cranelift_codegen::ir::Block, cranelift_codegen::ir::Block) {
        let left = self.take_round_off();
        let zero = self.iconst32(0);
        // Not just 0: rounds that stand behind one another look here once for all of them.
        let none_left = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, left, zero);
        self.split_cold(none_left)
    }

    /// Takes one off where a round of that loop begins without its header.
    pub(super) fn count_round(&mut self, offset: u32) {
        if self.counts_rounds(offset) {
            self.take_round_off();
        }
    }

    fn take_round_off(&mut self) -> Value {
        let variable = self.rounds.expect("asked before");
        let before = self.b.use_var(variable);
        let left = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(variable, left);
        let context = self.b.ins().get_pinned_reg(types::I64);
        self.store(Region::Counters, left, context, context::rounds);
        self.pad(left);
        left
    }

    /// Where a trial's arm is entered: how many rounds it runs for.
    pub(super) fn load_rounds(&mut self) {
        let context = self.b.ins().get_pinned_reg(types::I64);
        let shared = self.load_constant(types::I64, context, context::store);
        let rounds = self.load(Region::Counters, types::I32, shared, store::rounds);
        self.store(Region::Counters, rounds, context, context::rounds);
        self.rounds = Some(self.b.declare_var(types::I32));
    }

    /// In front of the loop that counts: what is left of its rounds. A count that lived on around the loop, over what the loops around it call, would be kept in memory by the register
    /// allocator, inside of the loop too, and each round would wait for the one before it; so it is written there each round and read once.
    pub(super) fn reload_rounds(&mut self) {
        if let Some(variable) = self.rounds {
            let context = self.b.ins().get_pinned_reg(types::I64);
            let left = self.load(Region::Counters, types::I32, context, context::rounds);
            self.b.def_var(variable, left);
        }
    }

    /// Makes calls of a trial's candidate slower, where a test wants that: by the count that its gate has taken one off.
    pub(super) fn pad_entry(&mut self) {
        if self.input.padding.every != 0 {
            let own = self.module.defined(self.input.function).expect("only defined functions are compiled");
            let context = self.context();
            let counters = self.load_constant(types::I64, context, context::counters);
            let count = self.load(Region::Counters, types::I32, counters, own as i32 * 4);
            self.pad(count);
        }
    }

    /// Counts a call of the function that is inlined in itself, in a trial's arm: else the one that inlines more would do more for each call that is counted.
    pub(super) fn count_inlined_call(&mut self, callee: u32) {
        if self.input.counts_inlined && callee == self.input.function {
            self.counts_inlined |= self.count_down().is_some();
        }
    }

    fn pad(&mut self, count: Value) {
        let vm::code::Padding { every, steps } = self.input.padding;
        if every == 0 {
            return;
        }
        let ty = self.b.func.dfg.value_type(count);
        let mask = self.b.ins().iconst(ty, i64::from(every.next_power_of_two() - 1));
        let rest = self.b.ins().band(count, mask);
        let zero = self.b.ins().iconst(ty, 0);
        let pads = self.b.ins().icmp(IntCC::Equal, rest, zero);
        let (padding, next) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(pads, padding, &[], next, &[]);
        self.b.seal_block(padding);
        self.enter(padding);
        let step = self.b.create_block();
        let left = self.b.append_block_param(step, types::I32);
        let first = self.iconst32(steps.max(1));
        self.b.ins().jump(step, &arguments(&[first]));
        self.enter(step);
        let one = self.iconst32(1);
        let left = self.b.ins().isub(left, one);
        self.b.ins().brif(left, step, &arguments(&[left]), next, &[]);
        self.b.seal_block(step);
        self.b.seal_block(next);
        self.enter(next);
    }

    /// Asks without a frame: what comes back says nothing.
    fn ask(&mut self) {
        let function = self.iconst32(self.input.function);
        let offset = self.iconst32(u32::MAX);
        let version = self.iconst32(self.input.version);
        self.builtin(Builtin::Poll, &[function, offset, version]);
        // A deadline's callback has the store.
        self.call_breaks_facts();
    }

    /// Writes the frames and goes where the machine says.
    pub(super) fn leave(&mut self, offset: u32) {
        let scan = self.frame().scan.clone();
        let live = scan.loops.get(&offset).and_then(|facts| facts.live.as_ref());
        let buffer = self.write_frames(offset, live, &[]);
        // Read back in 32 bits: see `write_head`.
        let [function, inner, version] =
            [switch::function, switch::offset, switch::version].map(|field| self.load(Region::Switch, types::I32, buffer, field));
        let code = self.builtin(Builtin::Poll, &[function, inner, version]).expect("a poll yields an address");
        self.go_to(code);
    }

    /// Writes the frames of all functions that are being translated to the switch buffer, the outermost first; the buffer's address. The innermost stands
    /// at the operator at `offset`, with `live` locals (all where that is not known) and `operands` on top of the operand stack; the others at
    /// their calls.
    pub(super) fn write_frames(&mut self, offset: u32, live: Option<&LiveSet>, operands: &[Value]) -> Value {
        let buffer = self.switch_buffer();
        let mut at = 0;
        let mut slots = SmallVec::<[(Value, i32); 32]>::new();
        for depth in 0..self.frames.len() {
            let callees = (self.frames.len() - 1 - depth) as u32;
            let scan = self.frames[depth].scan.clone();
            let inner = self.frames.get(depth + 1).map(|inner| (inner.stack, inner.called_at));
            let (top, offset, live) = match inner {
                Some((top, called_at)) => (top, called_at, scan.live_at_calls.get(&called_at).and_then(Option::as_ref)),
                None => (self.stack.len(), offset, live),
            };
            let function = self.frames[depth].function;
            self.write_head(buffer, at, [function, offset, self.input.version, callees]);
            at += SWITCH_HEADER_BYTES;
            for index in 0..self.frames[depth].locals.len() {
                let (variable, ty) = self.frames[depth].locals[index];
                if live.is_none_or(|live| live.contains(index)) {
                    let value = self.b.use_var(variable);
                    slots.push((value, at));
                }
                at += slots_of(ty) as i32 * SLOT_BYTES as i32;
            }
            let mut values = SmallVec::<[Value; 16]>::from_slice(&self.stack[self.frames[depth].stack..top]);
            if callees == 0 {
                values.extend_from_slice(operands);
            }
            for value in values {
                slots.push((value, at));
                at += slots_of(self.b.func.dfg.value_type(value)) as i32 * SLOT_BYTES as i32;
            }
        }
        self.exit_slots += slots.len();
        // Last what has been there longest, mostly a parameter: the allocator takes what lives longest first, and a parameter that does not get the register it came in is moved about
        // in the loop. `hash_probe` had two moves and a jump more in each round, forwards.
        for (value, at) in slots.into_iter().rev() {
            self.store_slot(Region::Switch, value, buffer, at);
        }
        buffer
    }

    /// Whether one more exit may be written at a loop that the code can do without leaving.
    pub(super) fn affords_exit(&self) -> bool {
        self.exit_slots < MOST_EXIT_SLOTS
    }

    /// Whether the frames, with `operands` more slots, fit the switch buffer.
    pub(super) fn frames_fit(&self, operands: usize) -> bool {
        let locals: usize = self.frames.iter().flat_map(|frame| &frame.locals).map(|&(_, ty)| slots_of(ty) as usize).sum();
        let heads = self.frames.len() * (SWITCH_HEADER_BYTES as usize / SLOT_BYTES);
        locals + 2 * (self.stack.len() + operands) + heads <= SWITCH_BUFFER_SLOTS
    }

    /// A frame's head is written in words of 64 bits, and what a call needs of it is read back in 32: constants of the size that the program uses would
    /// be shared with the loop's own, which keeps them in registers over the whole loop.
    fn write_head(&mut self, buffer: Value, at: i32, [function, offset, version, callees]: [u32; 4]) {
        for (field, low, high) in [(switch::function, function, offset), (switch::version, version, callees)] {
            let value = self.address_const(i64::from(low) | i64::from(high) << 32);
            self.store(Region::Switch, value, buffer, at + field);
        }
    }

    /// Leaves by a tail call to code that is given the switch buffer.
    pub(super) fn go_to(&mut self, code: Value) {
        // Loaded again rather than kept over the call, which would cost the function a saved register.
        let buffer = self.switch_buffer();
        let signature = self.switch_signature();
        self.b.ins().return_call_indirect(signature, code, &[buffer]);
    }

    pub(super) fn switch_buffer(&mut self) -> Value {
        let context = self.b.ins().get_pinned_reg(types::I64);
        let shared = self.load_constant(types::I64, context, context::store);
        self.load_constant(types::I64, shared, store::switch_buffer)
    }

    fn switch_signature(&mut self) -> SigRef {
        if let Some(signature) = self.switch_signature {
            return signature;
        }
        let results = self.module.function_type(self.input.function).results();
        let signature = self.b.import_signature(switch_signature(results));
        self.switch_signature = Some(signature);
        signature
    }

    /// Stores a value as a slot: small ones with the upper half zero.
    pub(super) fn store_slot(&mut self, region: Region, value: Value, base: Value, offset: i32) {
        let value = widen_to_slot(&mut self.b, value);
        self.store(region, value, base, offset);
    }

    /// Loads a value of type `ty` from its slot.
    pub(super) fn load_slot(&mut self, region: Region, ty: Type, base: Value, offset: i32) -> Value {
        self.load(region, ty, base, offset)
    }
}

/// A value as the bits its slot holds.
pub(crate) fn widen_to_slot(b: &mut cranelift_frontend::FunctionBuilder<'_>, value: Value) -> Value {
    match b.func.dfg.value_type(value) {
        types::I32 => b.ins().uextend(types::I64, value),
        types::F32 => {
            let bits = b.ins().bitcast(types::I32, cranelift_codegen::ir::MemFlagsData::new(), value);
            b.ins().uextend(types::I64, bits)
        }
        _ => value,
    }
}
