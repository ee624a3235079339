//! What all functions' templates share: the way into a callee's frame, and where the handlers are. Made once a process.
//!
//! Whoever goes there has a call's op in `rdi` and the callee's frame in `r11`, and what [`Regs`](crate::interp::machine::Regs) says in its registers. As in a template nothing
//! has changed where the op's handler takes over, but for what nobody looks at while the frame is the running one: its record's `ip`.

use super::asm::*;
use super::emit::{Leaving, of_exec};
use crate::arena::CodeBlock;
use crate::bytecode::{Inst, Op, Slot};
use crate::interp::callee::CallTarget;
use crate::interp::machine::Exec;
use crate::interp::stack::FrameRecord;
use crate::layout::{VmFunc, VmTable, VmTableEntry, context};
use std::mem::offset_of;
use std::sync::OnceLock;

/// Addresses of the shared code.
pub(super) struct Shared {
    block: CodeBlock,
    /// Calls the function whose [`CallTarget`] is at `r9`.
    pub(super) call: usize,
    /// Calls what stands at the index in `rax` of the [`VmTable`] at `r10`, if it is one of the instance's own and its signature is that in `r9`.
    pub(super) call_indirect: usize,
    /// Where ops are left for their handlers.
    pub(super) leaving: Leaving,
}

/// The shared code; `None` where there is no memory for it.
pub(super) fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Option<Shared>> = OnceLock::new();
    SHARED.get_or_init(|| make().inspect_err(|error| tracing::debug!(error, "no templates")).ok()).as_ref()
}

/// Where the shared code is, and what stands there, for whoever names addresses.
pub(crate) fn shared_templates() -> Option<(usize, Vec<u8>)> {
    let block = &shared()?.block;
    Some((block.address(), block.copy(0..block.length())))
}

/// Displacements to be filled in.
#[derive(Default)]
struct WaysOut {
    /// That lead to the handler of such an op.
    leaves: Vec<(usize, Op)>,
    /// That lead to where compiled code is called.
    calls: Vec<usize>,
}

fn make() -> Result<Shared, String> {
    let mut assembler = Assembler::default();
    let mut ways = WaysOut::default();
    let call = assembler.here();
    enter_callee(&mut assembler, &mut ways, Op::Call { function: 0, base: Slot(0) }, Vec::new());
    let call_indirect = assembler.here();
    let op = Op::CallIndirect { table: 0, signature: 0, callee: Slot(0), base: Slot(0) };
    let exits = find_callee(&mut assembler);
    enter_callee(&mut assembler, &mut ways, op, exits);
    let leaving = Leaving::append(&mut assembler);
    let mut block = CodeBlock::for_templates(assembler.code.len())?;
    let leaving = leaving.at(block.address());
    for (place, op) in ways.leaves {
        leaving.fill(&mut assembler.code, place, &op, block.address());
    }
    for place in ways.calls {
        leaving.fill_call(&mut assembler.code, place, block.address());
    }
    block.fill(0, &assembler.code);
    Ok(Shared { call: block.address() + call, call_indirect: block.address() + call_indirect, leaving, block })
}

/// `control::indirect_callee`, and its [`CallTarget`] into `r9`. Returns the ways out.
fn find_callee(assembler: &mut Assembler) -> Vec<usize> {
    let of_callee = |field: usize| at(RAX, field as i32);
    let mut exits = Vec::new();
    assembler.memory(W64, CMP, RAX, at(R10, offset_of!(VmTable, length) as i32));
    exits.push(assembler.jump_if(ABOVE_EQUAL));
    assembler.shift_immediate(W64, GROUP_SHL, RAX, size_of::<VmTableEntry>().ilog2() as u8);
    assembler.memory(W64, ADD, RAX, at(R10, offset_of!(VmTable, base) as i32));
    assembler.memory(W64, CMP, R9, of_callee(offset_of!(VmTableEntry, signature)));
    exits.push(assembler.jump_if(NOT_EQUAL));
    assembler.memory(W64, MOV, RAX, of_callee(offset_of!(VmTableEntry, reference)));
    assembler.memory(W64, MOV, R9, of_exec(offset_of!(Exec, context)));
    assembler.memory(W64, CMP, R9, of_callee(offset_of!(VmFunc, context)));
    exits.push(assembler.jump_if(NOT_EQUAL));
    assembler.memory(W32, MOV, R9, of_callee(offset_of!(VmFunc, index)));
    assembler.memory(W32, SUB, R9, of_exec(offset_of!(Exec, imported_functions)));
    assembler.multiply_immediate(W64, R9, R9, size_of::<CallTarget>() as i32);
    assembler.memory(W64, ADD, R9, of_exec(offset_of!(Exec, targets)));
    exits
}

/// Calls a function that is interpreted, as `control::call_own` and `enter_frame` do, and leaves the call of one that has code; `exits` lead to where the op is left for its handler.
fn enter_callee(assembler: &mut Assembler, ways: &mut WaysOut, op: Op, mut exits: Vec<usize>) {
    let of_target = |field: usize| at(R9, field as i32);
    let of_record = |field: usize| at(RAX, field as i32);
    const ONE: i32 = size_of::<FrameRecord>() as i32;
    assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, context)));
    assembler.group_immediate_memory(W32, GROUP_CMP, at(RAX, context::poll), 0);
    exits.push(assembler.jump_if(NOT_EQUAL));
    assembler.memory(W64, MOV, RAX, of_target(offset_of!(CallTarget, compiled)));
    assembler.memory(W64, AND, RAX, of_target(offset_of!(CallTarget, leaves)));
    let has_code = assembler.jump_if(NOT_EQUAL);
    assembler.memory(W64, MOV, R10, of_target(offset_of!(CallTarget, ops)));
    assembler.registers(W64, TEST, R10, R10);
    exits.push(assembler.jump_if(EQUAL));
    assembler.memory(W32, MOV, RAX, of_target(offset_of!(CallTarget, frame_bytes)));
    assembler.registers(W64, ADD, RAX, R11);
    assembler.memory(W64, CMP, RAX, of_exec(offset_of!(Exec, values_end)));
    exits.push(assembler.jump_if(ABOVE));
    assembler.memory(W64, MOV, RAX, of_exec(offset_of!(Exec, frame)));
    assembler.group_immediate(W64, GROUP_ADD, RAX, ONE);
    assembler.memory(W64, CMP, RAX, of_exec(offset_of!(Exec, frames_end)));
    exits.push(assembler.jump_if(EQUAL));
    // rax: the new frame's record, r10: its first op.
    let caller_ip = of_record(offset_of!(FrameRecord, ip)).minus(ONE);
    assembler.store(8, caller_ip, RDI);
    assembler.memory(W32, MOV, RDI, of_target(offset_of!(CallTarget, counter)));
    assembler.memory(W64, ADD, RDI, of_exec(offset_of!(Exec, counters)));
    assembler.group_immediate_memory(W32, GROUP_SUB, at(RDI, 0), 1);
    let ran_out = assembler.jump_if(NEGATIVE);

    assembler.memory(W32, MOV, RDI, of_target(offset_of!(CallTarget, zeroed_from)));
    assembler.memory(W32, CMP, RDI, of_target(offset_of!(CallTarget, zeroed_to)));
    let none = assembler.jump_if(ABOVE_EQUAL);
    assembler.registers(W32, two(0x57), XMM0, XMM0); // xorps
    let again = assembler.here();
    assembler.memory(W32, two(0x11), XMM0, Memory { base: R11, index: Some(RDI), displacement: 0 }); // movups
    assembler.group_immediate(W32, GROUP_ADD, RDI, 16);
    assembler.memory(W32, CMP, RDI, of_target(offset_of!(CallTarget, zeroed_to)));
    let place = assembler.jump_if(BELOW);
    assembler.fill(place, again);
    assembler.fill_here(none);

    assembler.memory(W64, MOV, RDI, of_target(offset_of!(CallTarget, code)));
    assembler.store(8, of_record(offset_of!(FrameRecord, ip)), R10);
    assembler.store(8, of_record(offset_of!(FrameRecord, sp)), R11);
    assembler.store(8, of_record(offset_of!(FrameRecord, code)), RDI);
    assembler.store(8, of_exec(offset_of!(Exec, frame)), RAX);
    assembler.copy(W64, RSI, R11);
    assembler.copy(W64, RDI, R10);
    let on = Leaving::go_on(assembler, at(RDI, offset_of!(Inst, handler) as i32));

    // The handler counts again, and finds that it ran out.
    assembler.fill_here(ran_out);
    assembler.group_immediate_memory(W32, GROUP_ADD, at(RDI, 0), 1);
    assembler.memory(W64, MOV, RDI, caller_ip);
    exits.into_iter().for_each(|place| assembler.fill_here(place));
    let left = Leaving::jump(assembler);
    ways.leaves.extend(on.into_iter().chain([left]).map(|place| (place, op)));
    assembler.fill_here(has_code);
    ways.calls.push(Leaving::jump(assembler));
}
