//! Entering a function at one of its loops, with its frame in the switch buffer.
//!
//! The whole function is translated, as for its body entrance, but its entry block loads the live locals and jumps to a *preheader* of
//! the loop; the code in front of the loop hangs in the air and Cranelift drops what cannot be reached.
//!
//! The difficulty is the operand stack. A value that was pushed before the loop and is popped behind it comes from the buffer on the way
//! in, but from an earlier iteration when a loop around this one has come back. So operand stack values that lie below a control
//! operator *around* the loop are kept in frontend variables, one per height and type: written where such an operator begins and in the
//! preheader's entry, read again at its loop header and where it ends. The frontend then puts in what joins are needed.

use std::collections::HashMap;

use cranelift_codegen::ir::{Block, InstBuilder, Type, Value};
use cranelift_frontend::Variable;

use super::control::Control;
use super::poll::slot_offset;
use super::regions::Region;
use super::sites::Trips;
use super::{Result, Translator, unsupported};
use crate::scan::Scan;
use crate::types::slots_of;

/// The refusal of an entrance at a loop that no code reaches.
const UNREACHABLE_LOOP: &str = "unreachable loop";

/// State of a translation whose entrance is a loop.
pub(super) struct Osr {
    /// The block that loads the operand stack, once its types are known.
    loads: Block,
    /// The switch buffer.
    buffer: Value,
    /// Slots of the locals.
    locals: u32,
    /// Whether the loop was met in code that can be reached.
    met: bool,
    /// Operand stack values by height and type.
    kept: HashMap<(usize, Type), Variable>,
}

impl Translator<'_, '_> {
    /// Loads the live locals in the entry block.
    pub(super) fn load_live_locals(&mut self, entry: Block, offset: u32, scan: &Scan) {
        let buffer = self.b.block_params(entry)[0];
        let live = scan.loops.get(&offset).and_then(|facts| facts.live.as_ref());
        let mut slot = 0;
        self.define_locals(&[]);
        for index in 0..self.frame().locals.len() {
            let (variable, ty) = self.frame().locals[index];
            if live.is_none_or(|live| live.contains(index)) {
                let value = self.load_slot(Region::Switch, ty, buffer, slot_offset(slot));
                self.b.def_var(variable, value);
            }
            slot += slots_of(ty);
        }
        if self.input.rounds {
            self.load_rounds();
        }
    }

    /// Makes the block where the builder stands, with the locals loaded, the way to the loop; goes on in a block that nothing reaches.
    pub(super) fn aim_at_loop(&mut self, entry: Block) {
        let buffer = self.b.block_params(entry)[0];
        let slot = self.frame().locals.iter().map(|&(_, ty)| slots_of(ty)).sum();
        let loads = self.b.create_block();
        self.b.ins().jump(loads, &[]);
        self.b.seal_block(loads);
        self.osr = Some(Osr { loads, buffer, locals: slot, met: false, kept: HashMap::new() });
        let nowhere = self.b.create_block();
        self.b.seal_block(nowhere);
        self.enter(nowhere);
        self.define_locals(&[]);
    }

    /// An error if the loop stands in code that nothing reaches: then there is no way in.
    pub(super) fn check_entrance(&self) -> Result {
        match &self.osr {
            Some(osr) if !osr.met => Err(unsupported(self.input.function, UNREACHABLE_LOOP)),
            _ => Ok(()),
        }
    }

    /// Whether the entered loop is, or stands in, the control operator there.
    pub(super) fn is_around(&self, offset: u32) -> bool {
        self.osr.is_some() && self.frames.len() == 1 && self.frame().scan.around.contains(&offset)
    }

    /// Where a control operator begins: whether the entered loop stands in it; if so the operand stack is written down.
    pub(super) fn save_around(&mut self, offset: u32) -> bool {
        if !self.is_around(offset) {
            return false;
        }
        for height in 0..self.stack.len() {
            let value = self.stack[height];
            let variable = self.kept(height, self.b.func.dfg.value_type(value));
            self.b.def_var(variable, value);
        }
        true
    }

    /// Where such an operator ends, or its other arm begins: the values below it, joined.
    pub(super) fn reload_around(&mut self, height: usize) {
        for height in 0..height {
            let variable = self.kept(height, self.b.func.dfg.value_type(self.stack[height]));
            self.stack[height] = self.b.use_var(variable);
        }
    }

    /// At the entered loop: makes the preheader where the ordinary way and the entry from the buffer meet. The stack was just saved.
    /// `own` counts its rounds: how many there were before is not known, nor for the loops around it.
    pub(super) fn join_entry_from_buffer(&mut self, own: Option<Trips>) {
        let Some(osr) = &mut self.osr else { return };
        osr.met = true;
        let (loads, buffer, mut slot) = (osr.loads, osr.buffer, osr.locals);
        let preheader = self.b.create_block();
        self.b.ins().jump(preheader, &[]);
        self.enter(loads);
        let around: Vec<Trips> = self.control.iter().filter_map(Control::trips).chain(own).collect();
        around.into_iter().for_each(|trips| self.forget_trips(trips));
        for height in 0..self.stack.len() {
            let ty = self.b.func.dfg.value_type(self.stack[height]);
            let value = self.load_slot(Region::Switch, ty, buffer, slot_offset(slot));
            slot += slots_of(ty);
            let variable = self.kept(height, ty);
            self.b.def_var(variable, value);
        }
        self.b.ins().jump(preheader, &[]);
        self.b.seal_block(preheader);
        self.enter(preheader);
        self.reload_around(self.stack.len());
        self.reload_rounds();
        self.define_values_at_entered_loop();
    }

    fn kept(&mut self, height: usize, ty: Type) -> Variable {
        let osr = self.osr.as_mut().expect("only a function entered at a loop keeps its stack");
        let b = &mut self.b;
        *osr.kept.entry((height, ty)).or_insert_with(|| b.declare_var(ty))
    }
}
