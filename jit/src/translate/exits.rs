//! Side exits: where a guard fails, the frames go to the switch buffer and the code is left for good ([`vm::exits`] does the rest).
//!
//! What follows a guard may rely on it, because no way joins behind it. The interpreter goes on at an operator that this translator and the
//! interpreter's know by its byte offset: a call that is to be done (with its operands), a loop header, a block, or the function's first
//! operator. So everything up to that operator must have happened and nothing behind it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use wasmparser::Operator;

use vm::builtin::Builtin;
use vm::code::{Guard, GuardKind, Tier};
use vm::layout::{context, store};

use super::Translator;
use super::regions::Region;
use crate::scan::LiveSet;

/// Where and with what code is left.
pub(super) struct Exit<'e> {
    /// What failed.
    pub guard: Guard,
    /// Byte offset of the operator that the interpreter goes on with, in the innermost frame's function.
    pub offset: u32,
    /// Locals that are live there; all where that is not known.
    pub live: Option<&'e LiveSet>,
    /// Operands that are off the operand stack already and on it there.
    pub operands: &'e [Value],
}

impl Translator<'_, '_> {
    /// Whether code can be left here for the interpreter, or why not. `operands` as in [`Exit`].
    pub(super) fn can_exit(&self, operands: usize) -> Result<(), String> {
        if self.input.tier != Tier::Optimizing {
            return Err("NoInterpreterFrame: tier 1 has no guards".into());
        }
        if !self.frames_fit(operands) {
            return Err("NoInterpreterFrame: the frames exceed the switch buffer".into());
        }
        Ok(())
    }

    /// Fills `cold` with the way out; the builder is in no unfinished block before and after. `value` makes what the record says of the failure, an i64.
    pub(super) fn fill_exit(&mut self, cold: Block, exit: &Exit<'_>, value: impl FnOnce(&mut Self) -> Value) {
        self.guards.push(exit.guard);
        let number = self.guards.len() as i64;
        self.b.set_cold_block(cold);
        self.b.seal_block(cold);
        self.enter(cold);
        self.write_frames(exit.offset, exit.live, exit.operands);
        let value = value(self);
        // One word, and from 1, so that it is no constant that the program has too.
        let number = self.address_const(number << 32 | i64::from(self.input.version));
        let code = self.builtin(Builtin::SideExit, &[number, value]).expect("a side exit yields an address");
        self.go_to(code);
    }

    /// Leaves where `fails` is not 0; the builder goes on where it is.
    pub(super) fn exit_if(&mut self, fails: Value, exit: &Exit<'_>, value: impl FnOnce(&mut Self) -> Value) {
        let (cold, hot) = (self.b.create_block(), self.new_block());
        self.b.ins().brif(fails, cold, &[], hot, &[]);
        self.fill_exit(cold, exit, value);
        self.b.seal_block(hot);
        self.enter(hot);
    }

    /// For tests: whether this guard is to fail now, an i8; none where no guard is made to fail.
    pub(super) fn forced_failure(&mut self) -> Option<Value> {
        let every = self.input.fail_guards;
        if every == 0 || self.input.tier != Tier::Optimizing {
            return None;
        }
        let context = self.context();
        let shared = self.load_constant(types::I64, context, context::store);
        let left = self.load(Region::Guards, types::I32, shared, store::guard_countdown);
        let zero = self.iconst32(0);
        let now = self.b.ins().icmp(IntCC::Equal, left, zero);
        let (one, reload) = (self.iconst32(1), self.iconst32(every - 1));
        let less = self.b.ins().isub(left, one);
        let left = self.b.ins().select(now, reload, less);
        self.store(Region::Guards, left, shared, store::guard_countdown);
        Some(now)
    }

    /// For tests: a guard in front of an operator that the interpreter can go on with, which fails every so often.
    pub(super) fn forced_exit(&mut self, operator: &Operator<'_>, offset: u32) {
        let scan = self.frame().scan.clone();
        let live = match operator {
            Operator::Call { .. } | Operator::CallIndirect { .. } => scan.live_at_calls.get(&offset).and_then(Option::as_ref),
            Operator::Block { .. } => None,
            _ => return,
        };
        if self.input.fail_guards != 0 && self.can_exit(0).is_ok() {
            self.forced_exit_at(offset, live);
        }
    }

    /// For tests: the same at a loop's header, in which the builder stands.
    pub(super) fn forced_exit_at_loop(&mut self, offset: u32) {
        if self.input.fail_guards == 0 || self.can_exit(0).is_err() {
            return;
        }
        let scan = self.frame().scan.clone();
        self.forced_exit_at(offset, scan.loops.get(&offset).and_then(|facts| facts.live.as_ref()));
    }

    fn forced_exit_at(&mut self, offset: u32, live: Option<&LiveSet>) {
        let Some(fails) = self.forced_failure() else { return };
        let guard = Guard { function: self.frame().function, offset, kind: GuardKind::Forced };
        self.exit_if(fails, &Exit { guard, offset, live, operands: &[] }, |translator| translator.address_const(0));
    }
}
