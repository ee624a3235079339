//! Puts a function's templates together.

use super::asm::*;
use crate::bytecode::{Bytecode, Inst, Op, Slot, Target, modes};
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
use crate::interp::dispatch;
use crate::interp::machine::{Exec, FIRST, SECOND};
#[cfg(all(threaded_dispatch, not(debug_assertions)))]
use std::collections::HashMap;
use std::mem::offset_of;
use std::sync::atomic::AtomicPtr;

/// A function of the same module that may be called in a frame of the same activation.
pub(crate) struct Callee {
    /// Its index among the defined ones.
    pub(crate) own: u32,
    /// Where the address of its compiled code is, which is called instead where there is one; `None`: not in place of this.
    pub(crate) compiled: Option<*const AtomicPtr<u8>>,
    /// Its bytecode.
    pub(crate) bytecode: *const Bytecode,
}

/// The code of a function's templates.
pub(super) struct Emitted {
    pub(super) code: Vec<u8>,
    /// Offset of each op that has a template.
    pub(super) entries: Vec<Option<u32>>,
}

pub(super) fn emit(bytecode: &Bytecode, callees: &dyn Fn(u32) -> Option<Callee>) -> Emitted {
    let count = bytecode.ops.len();
    let mut emitter = Emitter {
        ops: &bytecode.ops,
        // (a template takes some 20 bytes)
        assembler: Assembler { code: Vec::with_capacity(count * 24) },
        labels: vec![0; count],
        jumps: Vec::new(),
        exits: Vec::new(),
        leaving: Vec::new(),
        tables: Vec::new(),
        mode: 0,
        features: Features::here(),
        callees,
    };
    let mut entries = vec![None; count];
    for (pc, mode) in modes(bytecode.ops.iter().map(|inst| inst.op), bytecode.points()).enumerate() {
        let op = bytecode.ops[pc].op;
        if matches!(op, Op::Operand { .. } | Op::Immediate { .. }) {
            continue; // part of the op before it
        }
        let here = emitter.assembler.here();
        emitter.labels[pc] = here as u32;
        emitter.mode = mode;
        let noted = emitter.noted();
        match emitter.op(pc, op) {
            Some(()) => entries[pc] = Some(here as u32),
            None => {
                // (it was refused before anything was noted of it)
                emitter.assembler.code.truncate(here);
                debug_assert!(noted == emitter.noted(), "{op:?} refused too late");
                emitter.leave(pc);
            }
        }
    }
    Emitted { code: emitter.finish(), entries }
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
    pub(super) assembler: Assembler,
    /// Offset of each op.
    labels: Vec<u32>,
    /// Displacements that lead to an op.
    pub(super) jumps: Vec<(usize, usize)>,
    /// Displacements that lead out, to an op's handler.
    exits: Vec<(usize, usize)>,
    /// Displacements by which an op is left for its handler.
    leaving: Vec<(usize, usize)>,
    /// Displacements that lead to a jump table, and the ops in it.
    pub(super) tables: Vec<(usize, Vec<usize>)>,
    /// Which operand of the op the accumulator holds.
    pub(super) mode: u8,
    pub(super) features: Features,
    pub(super) callees: &'b dyn Fn(u32) -> Option<Callee>,
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
        self.jumps.len() + self.exits.len() + self.leaving.len() + self.tables.len()
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

    /// Leaves for the op's handler where a condition holds.
    pub(super) fn exit_if(&mut self, pc: usize, condition: Condition) {
        let place = self.assembler.jump_if(condition);
        self.exits.push((place, pc));
    }

    /// Goes on with the op's handler.
    pub(super) fn leave(&mut self, pc: usize) {
        self.assembler.constant(RDI, (&raw const self.ops[pc]) as u64);
        #[cfg(all(threaded_dispatch, not(debug_assertions)))]
        let place = self.assembler.jump_ahead();
        #[cfg(any(not(threaded_dispatch), debug_assertions))]
        let place = self.assembler.jump();
        self.leaving.push((place, pc));
    }

    /// The ways out, the jump tables and the words with handlers behind the code, and all displacements.
    fn finish(mut self) -> Vec<u8> {
        for (place, pc) in std::mem::take(&mut self.exits) {
            let here = self.assembler.here();
            self.assembler.fill(place, here);
            self.leave(pc);
        }
        for (place, pc) in std::mem::take(&mut self.jumps) {
            self.assembler.fill(place, self.labels[pc] as usize);
        }
        for (place, targets) in std::mem::take(&mut self.tables) {
            let table = self.assembler.here();
            self.assembler.fill(place, table);
            for target in targets {
                let distance = i64::from(self.labels[target]) - table as i64;
                self.assembler.code.extend((distance as i32).to_le_bytes());
            }
        }
        self.fill_leaving();
        self.assembler.code
    }

    /// One word a handler, in which modes do not matter: what leaves has all operands in their slots.
    #[cfg(all(threaded_dispatch, not(debug_assertions)))]
    fn fill_leaving(&mut self) {
        let mut words: HashMap<usize, usize> = HashMap::new();
        while !self.assembler.here().is_multiple_of(8) {
            self.assembler.code.push(0xcc);
        }
        for (place, pc) in std::mem::take(&mut self.leaving) {
            let handler = dispatch::plain_handler(&self.ops[pc].op);
            let word = *words.entry(handler).or_insert_with(|| {
                self.assembler.code.extend((handler as u64).to_le_bytes());
                self.assembler.here() - 8
            });
            self.assembler.fill(place, word);
        }
    }

    /// Where ops have no handlers all that leaves goes back into the loop.
    #[cfg(any(not(threaded_dispatch), debug_assertions))]
    fn fill_leaving(&mut self) {
        let here = self.assembler.here();
        self.leave_for_loop();
        for (place, _) in std::mem::take(&mut self.leaving) {
            self.assembler.fill(place, here);
        }
    }
}

/// The op that a jump leads to.
pub(super) fn op_at(pc: usize, target: Target) -> usize {
    (pc as i64 + i64::from(target.0)) as usize
}
