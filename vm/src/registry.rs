//! Which code stands where in code memory: for backtraces and for telling which trap a fault is.

use crate::arena::CodeBlock;
use crate::code::{BackEdge, CompiledCode, Landing, Reloc, RelocTarget, SourceMap, SourcePosition, SpeculativeLoad};
use crate::detour::{Detour, ROOM};
use crate::gate::{Gate, PlacedGate};
use crate::module::Module;
use crate::speculative;
use crate::trap::{Frame, TrapCode};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, RwLock};

/// Code in its place, with its tables. Leaves the registry and frees its memory when dropped.
pub struct PlacedCode {
    block: CodeBlock,
    /// Where in the block the code begins.
    begins: usize,
    /// What calls of it begin with.
    detour: Option<Detour>,
    /// What leads to it, or to what it is compared with.
    gate: Option<PlacedGate>,
    traps: Vec<(u32, TrapCode)>,
    speculative: Vec<SpeculativeLoad>,
    source: SourceMap,
    /// The module whose function it is; adapters and stubs have none.
    module: Option<Arc<Module>>,
    role: Role,
    landings: Vec<Landing>,
}

/// What stands in front of code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Front {
    /// Whether it is called by a [detour](crate::detour).
    pub detour: bool,
    /// The [gate](crate::gate) that leads to it or to what it is compared with.
    pub gate: Option<Gate>,
}

/// What a return address in some code says of the frame that is returned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Nothing in particular.
    Plain,
    /// It is an enter adapter's: what it calls is the outermost frame of an activation.
    Entrance,
    /// It sets the context again, whatever it is given back in.
    Restores,
}

struct Tables(*const PlacedCode);
// SAFETY: the pointee is shared read-only and removed from the map (under its write lock) before it is freed.
unsafe impl Send for Tables {}
// SAFETY: as above.
unsafe impl Sync for Tables {}

static PLACED: RwLock<BTreeMap<usize, Tables>> = RwLock::new(BTreeMap::new());

impl PlacedCode {
    /// Copies code to code memory, applies its relocations and registers it. Nothing leads to it yet.
    pub fn new(code: &CompiledCode, module: Option<Arc<Module>>, role: Role) -> Result<Box<PlacedCode>, String> {
        PlacedCode::beside(code, module, role, None, Front::default())
    }

    /// The same, as far as processors look at addresses where other code's block is ([`PlacedCode::block_address`]).
    /// A gate stands as far from either as may be: the one that it stood beside would be a tenth faster where calls take as long as a jump.
    pub fn beside(
        code: &CompiledCode,
        module: Option<Arc<Module>>,
        role: Role,
        other: Option<usize>,
        front: Front,
    ) -> Result<Box<PlacedCode>, String> {
        let mut begins = code.lead_in as usize;
        if front.detour && begins < ROOM {
            begins += (code.alignment as usize).max(ROOM);
        }
        let length = begins + code.bytes.len();
        let beside = match other {
            Some(address) if address.is_multiple_of(code.alignment.max(1) as usize) => CodeBlock::beside(length, address).ok(),
            _ => None,
        };
        let mut block = match beside {
            Some(block) => block,
            None => CodeBlock::new(length, code.alignment as usize)?,
        };
        let mut bytes = code.bytes.clone();
        for Reloc { offset, target: RelocTarget::Own(target), addend } in &code.relocs {
            // Within one block the displacement does not depend on where the block is.
            let value = i64::from(*target) + addend - i64::from(*offset);
            let value = i32::try_from(value).map_err(|_| format!("relocation at {offset:#x} out of range"))?;
            bytes[*offset as usize..*offset as usize + 4].copy_from_slice(&value.to_le_bytes());
        }
        if let Some(edge) = code.back_edges.iter().find(|edge| bytes.get(edge.at as usize) != Some(&edge.polls)) {
            return Err(format!("no back edge at {:#x}", edge.at));
        }
        let detour = if front.detour { Detour::before(begins) } else { None };
        match detour {
            Some(detour) => block.fill(detour.begins(), &[detour.code(begins), bytes].concat()),
            None => block.fill(begins, &bytes),
        }
        let gate = front.gate.map(|gate| gate.placed(block.address() + begins, other)).transpose()?;
        let placed = Box::new(PlacedCode {
            block,
            begins,
            detour,
            gate,
            traps: code.traps.clone(),
            speculative: code.speculative.clone(),
            source: code.source.clone(),
            module,
            role,
            landings: code.landings.clone(),
        });
        speculative::register(placed.address(), &placed.speculative);
        PLACED.write().unwrap_or_else(|e| e.into_inner()).insert(placed.entry(), Tables(&raw const *placed));
        Ok(placed)
    }

    /// Where the code starts.
    pub fn address(&self) -> usize {
        self.block.address() + self.begins
    }

    /// Where calls enter it: at its detour, if it has one.
    pub fn entry(&self) -> usize {
        self.block.address() + self.detour.map_or(self.begins, Detour::begins)
    }

    /// Lets its calls go to an address in code memory, or stay here again.
    pub(crate) fn lead_calls(&self, to: Option<usize>) {
        if let Some(detour) = self.detour {
            detour.lead(&self.block, to);
        }
    }

    /// Where the bytes in front of it begin that align a place inside of it.
    pub fn block_address(&self) -> usize {
        self.block.address()
    }

    /// The code as it stands there: `length` bytes of what was compiled.
    pub fn bytes(&self, length: usize) -> Vec<u8> {
        self.block.copy(self.begins..self.begins + length)
    }

    /// Lets a back edge of this code lead behind its poll, or to it.
    pub(crate) fn steer(&self, edge: &BackEdge, passes: bool) {
        self.block.set_byte(self.begins + edge.at as usize, if passes { edge.passes } else { edge.polls });
    }

    /// Its gate, if it was placed with one.
    pub(crate) fn gate(&self) -> Option<&PlacedGate> {
        self.gate.as_ref()
    }

    /// Offset in the code → index in the positions, and the positions.
    pub fn tables(&self) -> (&[(u32, u32)], &[SourcePosition]) {
        (&self.source.locations, &self.source.positions)
    }

    /// Addresses it takes, its detour's included.
    pub fn range(&self) -> Range<u64> {
        self.entry() as u64..(self.address() + self.length()) as u64
    }

    /// Bytes of the detour that calls begin with, up to the code.
    pub(crate) fn detour_bytes(&self) -> Vec<u8> {
        self.block.copy(self.begins - (self.address() - self.entry())..self.begins)
    }

    /// Bytes of code memory it takes.
    pub fn length(&self) -> usize {
        self.block.length() - self.begins
    }

    /// How often a speculative load of it has faulted.
    pub fn speculative_faults(&self) -> u64 {
        speculative::faults_of(self.address(), &self.speculative)
    }
}

impl Drop for PlacedCode {
    fn drop(&mut self) {
        PLACED.write().unwrap_or_else(|e| e.into_inner()).remove(&self.entry());
        speculative::forget(self.address(), &self.speculative);
    }
}

fn with_code<R>(pc: usize, f: impl FnOnce(&PlacedCode, u32) -> R) -> Option<R> {
    let placed = PLACED.read().unwrap_or_else(|e| e.into_inner());
    let (_, tables) = placed.range(..=pc).next_back()?;
    // SAFETY: in the map, so not yet freed: removal needs the write lock.
    let code = unsafe { &*tables.0 };
    // (who is at its detour is about to begin it)
    let offset = pc.saturating_sub(code.address());
    (offset < code.length()).then(|| f(code, offset as u32))
}

/// The trap recorded at a pc.
pub fn trap_at(pc: usize) -> Option<TrapCode> {
    with_code(pc, |code, offset| code.traps.binary_search_by_key(&offset, |&(at, _)| at).ok().map(|index| code.traps[index].1)).flatten()
}

/// Whether a pc lies in an enter adapter.
pub fn is_entrance(pc: usize) -> bool {
    with_code(pc, |code, _| code.role == Role::Entrance).unwrap_or(false)
}

/// Whether whoever a pc returns to has the context from elsewhere than the pinned register.
pub fn restores_context(pc: usize) -> bool {
    with_code(pc, |code, _| code.role != Role::Plain).unwrap_or(false)
}

/// Where an exception goes on that comes out of the call that returns to a pc, and how far that call's stack pointer is below the frame pointer.
pub fn landing_at(pc: usize) -> Option<(usize, u32)> {
    let landing = with_code(pc, |code, offset| {
        let index = code.landings.binary_search_by_key(&offset, |landing| landing.returns_to).ok()?;
        let Landing { landing, frame_bytes, .. } = code.landings[index];
        Some((code.address() + landing as usize, frame_bytes))
    });
    landing.flatten()
}

/// Appends the wasm frames at a pc, innermost first: several where functions are inlined, none for an adapter.
pub fn frames_at(pc: usize, frames: &mut Vec<Frame>) {
    // (positions may come from a file: not with the list's lock)
    let found = with_code(pc, |code, offset| Some((code.module.clone()?, code.source.clone(), offset)));
    let Some((module, source, offset)) = found.flatten() else { return };
    let mut position = source.at(offset);
    while let Some(found) = position.and_then(|index| source.positions.get(index as usize)) {
        frames.push(Frame::new(module.clone(), found.function, Some(found.offset)));
        position = found.inlined_at;
    }
}

/// Whether a pc lies in a guest's function, and not in an adapter or outside of all code.
pub fn is_guest_code(pc: usize) -> bool {
    with_code(pc, |code, _| code.module.is_some()).unwrap_or(false)
}
