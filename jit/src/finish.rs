//! Cranelift's result as ours: bytes, relocations, traps, positions, listing.

use std::fmt::Write as _;

use cranelift_codegen::binemit::Reloc as ClifReloc;
use cranelift_codegen::entity::EntityRef;
use cranelift_codegen::ir::{ExternalName, Signature};
use cranelift_codegen::isa::CallConv;
use cranelift_codegen::{CompiledCode as ClifCode, Final, FinalizedMachExceptionHandler, FinalizedRelocTarget, MachBufferFinalized};
use iced_x86::{Decoder, DecoderOptions, Formatter, NasmFormatter};

use vm::code::{CompiledCode, Landing, Positions, Reloc, RelocTarget, SourcePosition};

use crate::compact::{self, Compacted, Places};
use crate::headers::{self, Jumps};
use crate::lwp_thunks::{self, Thunk};
use crate::markers::{self, Census, Finished};
use crate::placement;
use crate::spills;
use crate::traps;

/// What is to become of the code.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// See [`spills`] and [`compact`].
    pub(crate) tidy: bool,
    /// See [`Options`](crate::Options).
    pub(crate) intel: bool,
}

/// Takes over code and tables. Sites and the rest are the caller's to add. `expected` are the markers left in the CLIF the
/// code was made from. `Err` says what cannot be expressed, or which marker is not what it must be.
/// `thunks` are appended and called by their numbers. `Ok(None)` if accesses lack their base
/// ([`memory_base`](crate::passes::memory_base)) and the code could not be laid out anew. `positions` are what the source locations of the CLIF count.
pub(crate) fn finish(
    code: &ClifCode,
    signature: &Signature,
    alignment: u32,
    expected: Census,
    thunks: &[Thunk],
    positions: Vec<SourcePosition>,
    style: Style,
) -> Result<Option<CompiledCode>, String> {
    let Style { tidy, intel } = style;
    let buffer = &code.buffer;
    let mut bytes = buffer.data().to_vec();
    let mut locations: Vec<(u32, u32)> = Vec::new();
    for range in buffer.get_srclocs_sorted() {
        if range.loc.is_default() || locations.last().is_some_and(|last| last.1 == range.loc.bits()) {
            continue;
        }
        locations.push((range.start, range.loc.bits()));
    }
    let first_thunk = lwp_thunks::append(&mut bytes, &mut locations, thunks)?;
    let mut relocs = Vec::new();
    for reloc in buffer.relocs() {
        let target = match (&reloc.target, reloc.kind) {
            (FinalizedRelocTarget::Func(offset), ClifReloc::X86PCRel4 | ClifReloc::X86CallPCRel4) => RelocTarget::Own(*offset),
            (FinalizedRelocTarget::ExternalName(ExternalName::User(name)), ClifReloc::X86PCRel4 | ClifReloc::X86CallPCRel4)
                if name.index() < thunks.len() =>
            {
                RelocTarget::Own(first_thunk + (name.index() * lwp_thunks::BYTES) as u32)
            }
            (target, kind) => return Err(format!("relocation {kind:?} to {target:?} at {:#x}", reloc.offset)),
        };
        relocs.push(Reloc { offset: reloc.offset, target, addend: reloc.addend });
    }
    let mut found = Vec::new();
    let mut marked = Vec::new();
    let mut without_base = Vec::new();
    for trap in buffer.traps() {
        if let Some(kind) = markers::Kind::of(trap.code) {
            marked.push((trap.offset, kind));
            continue;
        }
        if trap.code == traps::WITHOUT_BASE {
            without_base.push(trap.offset);
        }
        let code = traps::from_clif(trap.code).ok_or_else(|| format!("unknown trap code {} at {:#x}", trap.code, trap.offset))?;
        found.push((trap.offset, code));
    }
    found.sort_unstable();
    without_base.sort_unstable();
    let Finished { mut speculative, polls, census } = markers::finish(&mut bytes, &marked)?;
    let length = buffer.data().len();
    let entered = if tidy { entered_from_outside(buffer) } else { Vec::new() };
    if tidy {
        spills::remove(&mut bytes[..length], &code.bb_starts, &entered, &polls);
    }
    let mut jumps = headers::lead(&mut bytes, &code.bb_starts, length as u32, &polls);
    if census != expected {
        return Err(format!("{expected:?} markers before code generation, {census:?} after it"));
    }
    let mut landings = Vec::new();
    for site in buffer.call_sites() {
        let Some(handler) = site.exception_handlers.iter().find_map(|handler| match handler {
            FinalizedMachExceptionHandler::Default(offset) => Some(*offset),
            _ => None,
        }) else {
            continue;
        };
        let frame_bytes = site.frame_offset.ok_or("a call with a landing has no frame")?;
        landings.push(Landing { returns_to: site.ret_addr, landing: handler, frame_bytes });
    }
    landings.sort_unstable_by_key(|landing| landing.returns_to);
    let mut chosen = None;
    if tidy && thunks.is_empty() {
        let mut relocated: Vec<u32> = relocs.iter().map(|reloc| reloc.offset).collect();
        relocated.sort_unstable();
        let mut fixed: Vec<u32> = speculative.iter().map(|load| load.offset).collect();
        fixed.sort_unstable();
        let places = Places {
            starts: &code.bb_starts,
            landings: &entered,
            polls: &polls,
            jumps: &jumps,
            relocated: &relocated,
            fixed: &fixed,
            alignment: buffer.alignment,
            without_base: &without_base,
            has_footprints: intel,
            returns_nothing: signature.returns.is_empty() && matches!(signature.call_conv, CallConv::SystemV | CallConv::Tail),
        };
        if let Some(Compacted { map, back_edges, lead_in }) = compact::run(&mut bytes, &places) {
            jumps.back_edges = back_edges;
            chosen = Some(lead_in);
            locations = map.spans(&locations);
            relocs.retain_mut(|reloc| {
                let RelocTarget::Own(target) = &mut reloc.target;
                *target = map.at_or_behind(*target);
                map.get(reloc.offset).inspect(|&now| reloc.offset = now).is_some()
            });
            found.retain_mut(|(offset, _)| map.get(*offset).inspect(|&now| *offset = now).is_some());
            speculative.retain_mut(|load| map.get(load.offset).inspect(|&now| load.offset = now).is_some());
            landings.retain_mut(|landing| {
                landing.landing = map.at_or_behind(landing.landing);
                map.end(landing.returns_to).inspect(|&now| landing.returns_to = now).is_some()
            });
        }
    }
    if !without_base.is_empty() && chosen.is_none() {
        return Ok(None);
    }
    let Jumps { back_edges, loops, dispatches } = jumps;
    Ok(Some(CompiledCode {
        bytes,
        alignment: alignment.max(buffer.alignment).max(placement::LINE),
        // Constants behind the code are aligned from its first byte.
        lead_in: chosen.unwrap_or_else(|| placement::lead_in(loops, &dispatches, Vec::new(), buffer.alignment)),
        relocs,
        traps: found,
        speculative,
        source: Positions { locations, positions }.into(),
        landings,
        back_edges,
        ..CompiledCode::default()
    }))
}

/// First bytes of the code that calls' exceptions lead to, and of all whose address is taken.
fn entered_from_outside(buffer: &MachBufferFinalized<Final>) -> Vec<u32> {
    let handlers = buffer.call_sites().flat_map(|site| site.exception_handlers.iter()).filter_map(|handler| match handler {
        FinalizedMachExceptionHandler::Default(offset) | FinalizedMachExceptionHandler::Tag(_, offset) => Some(*offset),
        FinalizedMachExceptionHandler::Context(_) => None,
    });
    let addresses = buffer.relocs().iter().filter_map(|reloc| match reloc.target {
        FinalizedRelocTarget::Func(offset) => Some(offset),
        FinalizedRelocTarget::ExternalName(_) => None,
    });
    handlers.chain(addresses).collect()
}

/// Disassembly, one instruction a line, with offsets from the first byte.
pub(crate) fn disassemble(bytes: &[u8]) -> String {
    let mut decoder = Decoder::with_ip(64, bytes, 0, DecoderOptions::NONE);
    let mut formatter = NasmFormatter::new();
    formatter.options_mut().set_branch_leading_zeros(false);
    formatter.options_mut().set_space_after_operand_separator(true);
    formatter.options_mut().set_rip_relative_addresses(true);
    let mut text = String::new();
    let mut line = String::new();
    for instruction in &mut decoder {
        line.clear();
        formatter.format(&instruction, &mut line);
        let _ = writeln!(text, "{:6x}  {line}", instruction.ip());
    }
    text
}
