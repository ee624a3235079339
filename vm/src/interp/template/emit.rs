//! Puts a function's templates together.

use super::asm::*;
use super::shared::Shared;
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
use crate::bytecode::op::OP_COUNT;
use crate::bytecode::{Bytecode, Inst, Op, Slot, Target};
use crate::interp::callee::CallTarget;
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
use crate::interp::dispatch;
use crate::interp::machine::{Exec, FIRST, SECOND};
use std::cell::Cell;
use std::mem::offset_of;
use std::ops::{Deref, DerefMut};

/// What of a module its functions' templates depend on.
pub(crate) struct Surroundings<'m> {
    /// Its own functions.
    pub(crate) targets: &'m [CallTarget],
    pub(crate) imported_functions: u32,
    /// Offset from the context of its tables' references.
    pub(crate) tables_place: i32,
    /// Whether all that loads and stores can reach is the one memory or its guard.
    pub(crate) guarded: bool,
}

/// The code of a function's templates.
#[derive(Default)]
pub(super) struct Emitted {
    pub(super) assembler: Assembler,
    /// Offset of each op. One that has none but runs as part of another begins where the next one does.
    pub(super) starts: Vec<u32>,
    /// Those that are left to their handlers.
    pub(super) refused: Vec<u32>,
    /// Displacements that lead to an op's handler, and to an address outside.
    pub(super) leaving: Vec<(usize, usize)>,
    pub(super) outside: Vec<(usize, usize)>,
    /// Displacements that lead to an op, and to the way out behind the templates.
    jumps: Vec<(usize, usize)>,
    exits: Vec<(usize, usize)>,
    /// Displacements that lead to a jump table, and the ops in it.
    tables: Vec<(usize, Vec<usize>)>,
}

thread_local! {
    /// Room for the next function's: a program that starts has hundreds strung together, one after the other.
    static ROOM: Cell<Option<Box<Emitted>>> = const { Cell::new(None) };
}
/// Bytes of code for which room is kept.
const MOST_KEPT: usize = 1 << 20;

pub(super) fn emit(bytecode: &Bytecode, surroundings: &Surroundings, shared: &Shared) -> Box<Emitted> {
    let mut emitter =
        Emitter { ops: &bytecode.ops, out: ROOM.take().unwrap_or_default(), mode: 0, features: Features::here(), surroundings, shared };
    for (pc, (inst, mode)) in bytecode.ops.iter().zip(&bytecode.modes).enumerate() {
        let here = emitter.assembler.here();
        emitter.starts.push(here as u32);
        if inst.op.is_operand() {
            continue;
        }
        emitter.mode = *mode;
        let noted = emitter.noted();
        if emitter.op(pc, inst.op).is_none() {
            // (it was refused before anything was noted of it)
            emitter.assembler.code.truncate(here);
            debug_assert!(noted == emitter.noted(), "{:?} refused too late", inst.op);
            // By its own handler, which `publish` leaves to it: the accumulator is where that looks for it (invariant 1).
            emitter.this_op(pc);
            emitter.go_on(pc);
            emitter.refused.push(pc as u32);
        }
    }
    emitter.finish()
}

impl Emitted {
    /// Keeps the room for another.
    pub(super) fn recycle(mut self: Box<Self>) {
        let Emitted { assembler, starts, refused, leaving, outside, jumps, exits, tables } = &mut *self;
        if assembler.code.capacity() <= MOST_KEPT {
            assembler.code.clear();
            [starts, refused].into_iter().for_each(Vec::clear);
            [leaving, outside, jumps, exits].into_iter().for_each(Vec::clear);
            tables.clear();
            ROOM.set(Some(self));
        }
    }
}

/// How templates leave for handlers, and where to.
pub(super) struct Leaving {
    /// A word for each kind of op, with its handler, in which modes do not matter: what leaves has all operands in their slots. Where ops have no handlers, the
    /// way back into the loop. Behind them one for calls of compiled code.
    address: usize,
}

#[cfg(all(threaded_dispatch, not(debug_assertions)))]
impl Leaving {
    /// Appends the words; the offset.
    pub(super) fn append(assembler: &mut Assembler) -> Leaving {
        while !assembler.here().is_multiple_of(8) {
            assembler.code.push(0xcc);
        }
        let address = assembler.here();
        for handler in dispatch::plain_handlers().into_iter().chain([dispatch::caller_of_code()]) {
            assembler.code.extend((handler as u64).to_le_bytes());
        }
        Leaving { address }
    }

    /// A jump to the handler of the op at `rdi`: its displacement.
    pub(super) fn jump(assembler: &mut Assembler) -> usize {
        assembler.jump_ahead()
    }

    /// The op at `rdi` runs next, whatever runs it. A displacement by which it is left, if there is one.
    pub(super) fn go_on(assembler: &mut Assembler, handler: Memory) -> Option<usize> {
        assembler.jump_memory(handler);
        None
    }

    /// Where a displacement leads that is to leave an op.
    fn place(&self, op: &Op) -> usize {
        self.address + op.number() * size_of::<usize>()
    }

    /// Where one leads that is to leave a call for the compiled code of the function whose [`CallTarget`] is at `r9`.
    fn place_of_calls(&self) -> usize {
        self.address + OP_COUNT * size_of::<usize>()
    }

    /// Code that runs the op at `rdi`, and then what follows it.
    pub(super) fn handler(&self, op: &Op) -> usize {
        // SAFETY: one of the words, which are code memory and never change.
        unsafe { (self.place(op) as *const usize).read() }
    }
}

#[cfg(any(not(threaded_dispatch), debug_assertions))]
impl Leaving {
    pub(super) fn append(assembler: &mut Assembler) -> Leaving {
        use crate::interp::machine::Regs;
        let address = assembler.here();
        let saved = offset_of!(Exec, saved);
        assembler.store(8, of_exec(saved + offset_of!(Regs, ip)), RDI);
        assembler.store(8, of_exec(saved + offset_of!(Regs, sp)), RSI);
        assembler.store(8, of_exec(saved + offset_of!(Regs, accumulator)), R9);
        assembler.return_();
        Leaving { address }
    }

    pub(super) fn jump(assembler: &mut Assembler) -> usize {
        assembler.jump()
    }

    /// No handler: the loop looks at the op.
    pub(super) fn go_on(assembler: &mut Assembler, handler: Memory) -> Option<usize> {
        assembler.memory(W64, MOV, RAX, handler);
        assembler.registers(W64, TEST, RAX, RAX);
        let place = assembler.jump_if(EQUAL);
        assembler.jump_register(RAX);
        Some(place)
    }

    fn place(&self, _: &Op) -> usize {
        self.address
    }

    /// As for any other op: the loop runs it.
    fn place_of_calls(&self) -> usize {
        self.address
    }

    pub(super) fn handler(&self, _: &Op) -> usize {
        self.address
    }
}

impl Leaving {
    /// The same in code that begins at `base`.
    pub(super) fn at(self, base: usize) -> Leaving {
        Leaving { address: base + self.address }
    }

    /// Fills in a displacement in code that begins at `base`.
    pub(super) fn fill(&self, code: &mut [u8], place: usize, op: &Op, base: usize) {
        fill(code, place, self.place(op) as i64 - (base + place + 4) as i64);
    }

    /// The same where the op is a call of what has compiled code.
    pub(super) fn fill_call(&self, code: &mut [u8], place: usize, base: usize) {
        fill(code, place, self.place_of_calls() as i64 - (base + place + 4) as i64);
    }
}

/// Instructions that not every x86-64 has.
#[derive(Clone, Copy)]
pub(super) struct Features {
    pub(super) lzcnt: bool,
    pub(super) tzcnt: bool,
    pub(super) popcnt: bool,
    pub(super) round: bool,
}

impl Features {
    fn here() -> Features {
        Features {
            lzcnt: is_x86_feature_detected!("lzcnt"),
            tzcnt: is_x86_feature_detected!("bmi1"),
            popcnt: is_x86_feature_detected!("popcnt"),
            round: is_x86_feature_detected!("sse4.1"),
        }
    }
}

/// A function's templates in the making.
pub(super) struct Emitter<'b> {
    pub(super) ops: &'b [Inst],
    out: Box<Emitted>,
    /// Which operand of the op the accumulator holds.
    pub(super) mode: u8,
    pub(super) features: Features,
    pub(super) surroundings: &'b Surroundings<'b>,
    pub(super) shared: &'b Shared,
}

impl Deref for Emitter<'_> {
    type Target = Emitted;

    fn deref(&self) -> &Emitted {
        &self.out
    }
}

impl DerefMut for Emitter<'_> {
    fn deref_mut(&mut self) -> &mut Emitted {
        &mut self.out
    }
}

pub(super) fn slot(slot: Slot) -> Memory {
    at(RSI, slot.0 as i32 * 8)
}

pub(super) fn of_exec(offset: usize) -> Memory {
    at(R8, offset as i32)
}

/// What templates are made of.
impl Emitter<'_> {
    /// How many displacements are to be filled in.
    fn noted(&self) -> usize {
        self.jumps.len() + self.exits.len() + self.leaving.len() + self.outside.len() + self.tables.len()
    }

    /// The first operand into a register, by way of the accumulator where that holds it.
    pub(super) fn first(&mut self, width: Width, to: Reg, operand: Slot) -> &mut Assembler {
        self.operand(width, to, operand, FIRST)
    }

    /// The second one.
    pub(super) fn second(&mut self, width: Width, to: Reg, operand: Slot) -> &mut Assembler {
        self.operand(width, to, operand, SECOND)
    }

    pub(super) fn operand(&mut self, width: Width, to: Reg, operand: Slot, mode: u8) -> &mut Assembler {
        if self.mode != mode {
            self.assembler.memory(width, MOV, to, slot(operand));
        } else if to != R9 {
            self.assembler.copy(width, to, R9);
        }
        &mut self.assembler
    }

    /// The result is in `r9`.
    pub(super) fn put(&mut self, dst: Slot) {
        self.assembler.store(8, slot(dst), R9);
    }

    /// The context's address into `rax`.
    pub(super) fn context(&mut self) -> &mut Assembler {
        self.assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, context)));
        &mut self.assembler
    }

    /// Leads a displacement to an op.
    pub(super) fn lead_to_op(&mut self, place: usize, pc: usize) {
        self.jumps.push((place, pc));
    }

    /// Leads a displacement to a table of displacements, to these ops.
    pub(super) fn lead_to_table(&mut self, place: usize, targets: Vec<usize>) {
        self.tables.push((place, targets));
    }

    /// Leaves for the op's handler where a condition holds.
    pub(super) fn exit_if(&mut self, pc: usize, condition: Condition) {
        let place = self.assembler.jump_if(condition);
        self.exits.push((place, pc));
    }

    /// The op's address into `rdi`.
    pub(super) fn this_op(&mut self, pc: usize) {
        let op = (&raw const self.ops[pc]) as u64;
        self.assembler.constant(RDI, op);
    }

    /// Goes on with the op's handler.
    pub(super) fn leave(&mut self, pc: usize) {
        self.this_op(pc);
        let place = Leaving::jump(&mut self.assembler);
        self.leaving.push((place, pc));
    }

    /// The op at `rdi` runs next, whatever runs it; `pc` is any op.
    pub(super) fn go_on(&mut self, pc: usize) {
        let place = Leaving::go_on(&mut self.assembler, at(RDI, offset_of!(Inst, handler) as i32));
        self.leaving.extend(place.map(|place| (place, pc)));
    }

    /// The ways out and the jump tables behind the code, and all displacements in it.
    fn finish(mut self) -> Box<Emitted> {
        let mut latest = None;
        let exits = std::mem::take(&mut self.exits);
        for &(place, pc) in &exits {
            // (what leaves one op stands together)
            let way_out = match latest {
                Some((op, way_out)) if op == pc => way_out,
                _ => {
                    let here = self.assembler.here();
                    self.leave(pc);
                    latest = Some((pc, here));
                    here
                }
            };
            self.assembler.fill(place, way_out);
        }
        self.exits = exits;
        let Emitted { assembler, starts, jumps, tables, .. } = &mut *self.out;
        for &(place, pc) in &*jumps {
            assembler.fill(place, starts[pc] as usize);
        }
        for (place, targets) in tables {
            let table = assembler.here();
            assembler.fill(*place, table);
            for &mut target in targets {
                let distance = i64::from(starts[target]) - table as i64;
                assembler.code.extend((distance as i32).to_le_bytes());
            }
        }
        self.out
    }
}

/// The op that a jump leads to.
pub(super) fn op_at(pc: usize, target: Target) -> usize {
    (pc as i64 + i64::from(target.0)) as usize
}
