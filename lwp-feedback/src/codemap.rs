//! From a record's instruction address to (function, version, wasm offset).
//!
//! An ordered map of disjoint address ranges. A range that is retired stays resolvable until every ring's tail has passed the last
//! record that was written before: [`CodeMap::retire`] hands out a cookie, the monitor reports through [`CodeMap::release`] how far all
//! rings are drained, and the owner frees or reuses the memory once [`CodeMap::is_released`] says so.
//!
//! Lookup: the entry with the greatest code offset not above the address. Where an entry says that its records carry return
//! addresses, the byte before the address is looked up instead.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, RwLock};

use serde::{Deserialize, Serialize};

use crate::layout::Record;

/// A function, the same in every run: the profile's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FunctionId {
    /// Hash of the module's bytes; in JSON hexadecimal.
    #[serde(with = "crate::hashtext")]
    pub module: u64,
    /// Function index in the module.
    pub func: u32,
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}:{}", self.module as u32, self.func)
    }
}

/// What kind of code wrote a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Tier {
    /// The interpreter; addresses are those of its bytecode.
    Interpreter,
    /// Quick code.
    Baseline,
    /// A burst that records branches and loads.
    Instrumented,
    /// Code compiled to a plan.
    Optimizing,
}

/// Code of another function of the same module inlined into an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InlinedRange {
    /// First code offset.
    pub start: u32,
    /// Code offset after the last.
    pub end: u32,
    /// The function index of the innermost inlinee.
    pub func: u32,
}

/// A table that is made when it is first asked for: of most code no record ever comes.
pub struct Later<T>(Arc<LazyLock<Arc<[T]>, Maker<T>>>);

type Maker<T> = Box<dyn FnOnce() -> Arc<[T]> + Send>;

/// (code offset, wasm offset), ascending by code offset.
pub type Offsets = Later<(u32, u32)>;

impl<T: Send + Sync + 'static> Later<T> {
    /// What `make` will say.
    pub fn made_by(make: impl FnOnce() -> Arc<[T]> + Send + 'static) -> Later<T> {
        Later(Arc::new(LazyLock::new(Box::new(make))))
    }
}

impl<T: Send + Sync + 'static> From<Arc<[T]>> for Later<T> {
    fn from(table: Arc<[T]>) -> Later<T> {
        Later::made_by(|| table)
    }
}

impl<T> Clone for Later<T> {
    fn clone(&self) -> Later<T> {
        Later(self.0.clone())
    }
}

impl<T> Deref for Later<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Later<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: PartialEq> PartialEq for Later<T> {
    fn eq(&self, other: &Later<T>) -> bool {
        self[..] == other[..]
    }
}

impl<T: Eq> Eq for Later<T> {}

/// One version of one function's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeEntry {
    /// The function.
    pub function: FunctionId,
    /// Which version of it.
    pub version: u32,
    /// What compiled it.
    pub tier: Tier,
    /// Where in the module its places come from.
    pub offsets: Offsets,
    /// Records carry the address after the site (a call's return address), not one inside it.
    pub return_addresses: bool,
    /// Inlined code, disjoint and ascending.
    pub inlined: Later<InlinedRange>,
}

impl CodeEntry {
    /// An entry whose records carry addresses inside their instruction, without inlined code.
    pub fn new(function: FunctionId, version: u32, tier: Tier, offsets: Arc<[(u32, u32)]>) -> Self {
        Self { function, version, tier, offsets: offsets.into(), return_addresses: false, inlined: Later::from(Arc::from([])) }
    }

    /// The same, with offsets that are made later.
    pub fn with_offsets(mut self, offsets: Offsets) -> Self {
        self.offsets = offsets;
        self
    }

    /// The same, with what is inlined made later.
    pub fn with_inlined(mut self, inlined: Later<InlinedRange>) -> Self {
        self.inlined = inlined;
        self
    }

    /// The same, for records that carry return addresses.
    pub fn with_return_addresses(mut self) -> Self {
        self.return_addresses = true;
        self
    }

    /// The innermost function at `code_offset`.
    fn innermost(&self, code_offset: u32) -> u32 {
        let begun = self.inlined.partition_point(|range| range.start <= code_offset);
        let inlinee = begun.checked_sub(1).map(|at| &self.inlined[at]).filter(|range| code_offset < range.end);
        inlinee.map_or(self.function.func, |range| range.func)
    }

    /// The wasm offset at `code_offset`; before the first mapped offset it is the first one's, without any it is 0.
    fn wasm_offset(&self, code_offset: u32) -> u32 {
        let after = self.offsets.partition_point(|&(code, _)| code <= code_offset);
        self.offsets.get(after.saturating_sub(1)).map_or(0, |&(_, wasm)| wasm)
    }
}

/// What an address means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolved {
    /// Whose code it is. Of inlined code that is the function it was inlined into, except where [`CodeMap::resolve_innermost`] was asked.
    pub function: FunctionId,
    /// Version of the function the code belongs to.
    pub version: u32,
    /// What compiled it.
    pub tier: Tier,
    /// Offset of the operator in the module: of inlined code that of the call in the function it was inlined into.
    pub wasm_offset: u32,
}

/// An insertion that was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodeMapError {
    /// The range is empty, or longer than 4 GiB.
    #[error("code range {start:#x}..{end:#x}: expected 1 to 2^32 - 1 bytes")]
    BadRange {
        /// First address.
        start: u64,
        /// Address after the last.
        end: u64,
    },
    /// Part of the range is still in use, or was retired and not released yet.
    #[error("code range {start:#x}..{end:#x} overlaps {other_start:#x}..{other_end:#x}")]
    Overlap {
        /// First address.
        start: u64,
        /// Address after the last.
        end: u64,
        /// First address of the range that is there.
        other_start: u64,
        /// Address after its last.
        other_end: u64,
    },
}

/// Proof of retirement: [`CodeMap::is_released`] takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetireCookie(u64);

#[derive(Debug)]
struct Slot {
    end: u64,
    entry: Arc<CodeEntry>,
    retired: Option<u64>,
}

#[derive(Debug, Default)]
struct Ranges {
    /// By first address.
    all: BTreeMap<u64, Slot>,
    /// Epoch and first address of those that are retired, in the order of their epochs.
    retired: VecDeque<(u64, u64)>,
}

/// The map. Shared: the engine inserts and retires, the monitor resolves.
#[derive(Debug, Default)]
pub struct CodeMap {
    ranges: RwLock<Ranges>,
    /// Number of retirements so far: the newest retire epoch.
    epoch: AtomicU64,
    /// Every range retired up to this epoch is gone.
    released: AtomicU64,
    /// Changes whenever an address may mean something else; caches of resolutions compare it.
    generation: AtomicU64,
}

impl CodeMap {
    /// An empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the code at `range`.
    pub fn insert(&self, range: Range<u64>, entry: CodeEntry) -> Result<(), CodeMapError> {
        let Range { start, end } = range;
        if start >= end || end - start > u64::from(u32::MAX) {
            return Err(CodeMapError::BadRange { start, end });
        }
        let mut ranges = self.write();
        if let Some((&other_start, other)) = ranges.all.range(..end).next_back()
            && other.end > start
        {
            return Err(CodeMapError::Overlap { start, end, other_start, other_end: other.end });
        }
        ranges.all.insert(start, Slot { end, entry: Arc::new(entry), retired: None });
        drop(ranges);
        self.generation.fetch_add(1, Ordering::Release);
        Ok(())
    }

    /// Says that no thread will run the code at `range` any more: call it after the last one left. The range stays resolvable
    /// until all records written before are drained. `None` when no live range starts there.
    pub fn retire(&self, range: Range<u64>) -> Option<RetireCookie> {
        let mut ranges = self.write();
        let slot = ranges.all.get_mut(&range.start).filter(|slot| slot.end == range.end && slot.retired.is_none())?;
        let epoch = self.epoch.load(Ordering::Relaxed) + 1;
        slot.retired = Some(epoch);
        ranges.retired.push_back((epoch, range.start));
        self.epoch.store(epoch, Ordering::Release);
        Some(RetireCookie(epoch))
    }

    /// As [`Self::retire`] of nothing: it is released once everything is that was retired so far, and records of it are drained.
    pub fn retired_so_far(&self) -> RetireCookie {
        RetireCookie(self.retire_epoch())
    }

    /// True once the range's records are drained and its memory may be reused.
    pub fn is_released(&self, cookie: RetireCookie) -> bool {
        self.released.load(Ordering::Acquire) >= cookie.0
    }

    /// The newest retire epoch. A monitor reads it *before* a ring's head; when it has drained up to that head, the ring has passed the
    /// epoch.
    pub fn retire_epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Every ring has passed `epoch`: forgets the ranges retired up to it. Called by the monitor, or by whoever knows that no ring is
    /// left.
    pub fn release(&self, epoch: u64) {
        if epoch <= self.released.load(Ordering::Relaxed) {
            return;
        }
        {
            let Ranges { all, retired } = &mut *self.write();
            while let Some(&(at, start)) = retired.front().filter(|(at, _)| *at <= epoch) {
                retired.pop_front();
                // A reader may have forgotten it, and had another one there.
                if all.get(&start).is_some_and(|slot| slot.retired == Some(at)) {
                    all.remove(&start);
                }
            }
        }
        self.generation.fetch_add(1, Ordering::Release);
        self.released.fetch_max(epoch, Ordering::AcqRel);
    }

    /// Removes at once what overlaps `range`, for readers of record files: the file says so behind all records that were written before.
    pub fn forget(&self, range: &Range<u64>) {
        {
            let all = &mut self.write().all;
            // They are disjoint: of those that begin before it only the last can reach into it.
            let before = all.range(..range.start).next_back().filter(|(_, slot)| slot.end > range.start).map(|(&start, _)| start);
            let mut overlapping: Vec<u64> = before.into_iter().collect();
            if !range.is_empty() {
                overlapping.extend(all.range(range.clone()).map(|(&start, _)| start));
            }
            overlapping.iter().for_each(|start| _ = all.remove(start));
        }
        self.generation.fetch_add(1, Ordering::Release);
    }

    /// What `ip` means, or `None` outside all ranges.
    pub fn resolve(&self, ip: u64) -> Option<Resolved> {
        self.resolve_to(ip, |entry, _| entry.function.func)
    }

    /// The same with the function whose operators they are, wherever they were inlined: for what says where time goes.
    pub fn resolve_innermost(&self, ip: u64) -> Option<Resolved> {
        self.resolve_to(ip, CodeEntry::innermost)
    }

    /// What a record's address means: of a clock's as [`Self::resolve_innermost`] says, of others as [`Self::resolve`].
    pub fn resolve_record(&self, record: &Record) -> Option<Resolved> {
        if record.event_id().is_clock() { self.resolve_innermost(record.address()) } else { self.resolve(record.address()) }
    }

    fn resolve_to(&self, ip: u64, func: impl FnOnce(&CodeEntry, u32) -> u32) -> Option<Resolved> {
        let ranges = self.read();
        let (start, slot, address) = find(&ranges.all, ip)?;
        let entry = &slot.entry;
        let code_offset = (address - start) as u32;
        Some(Resolved {
            function: FunctionId { func: func(entry, code_offset), ..entry.function },
            version: entry.version,
            tier: entry.tier,
            wasm_offset: entry.wasm_offset(code_offset),
        })
    }

    /// The range that `ip` resolves in.
    pub fn entry_at(&self, ip: u64) -> Option<(Range<u64>, Arc<CodeEntry>)> {
        let ranges = self.read();
        find(&ranges.all, ip).map(|(start, slot, _)| (start..slot.end, slot.entry.clone()))
    }

    /// Changes whenever an address may have changed its meaning.
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// All ranges, ascending: what a record file saves.
    pub fn entries(&self) -> Vec<(Range<u64>, Arc<CodeEntry>)> {
        let ranges = self.read();
        ranges.all.iter().map(|(&start, slot)| (start..slot.end, slot.entry.clone())).collect()
    }

    fn read(&self) -> std::sync::RwLockReadGuard<'_, Ranges> {
        self.ranges.read().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn write(&self) -> std::sync::RwLockWriteGuard<'_, Ranges> {
        self.ranges.write().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The range of `ip`, its start, and the address to look up in it: the byte before a return address.
fn find(ranges: &BTreeMap<u64, Slot>, ip: u64) -> Option<(u64, &Slot, u64)> {
    let containing = |address: u64| {
        let (&start, slot) = ranges.range(..=address).next_back()?;
        (address < slot.end).then_some((start, slot, address))
    };
    containing(ip).filter(|(_, slot, _)| !slot.entry.return_addresses).or_else(|| {
        let before = ip.checked_sub(1)?;
        containing(before).filter(|(_, slot, _)| slot.entry.return_addresses)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: FunctionId = FunctionId { module: 1, func: 4 };

    fn entry(version: u32) -> CodeEntry {
        CodeEntry::new(F, version, Tier::Baseline, Arc::from([(0, 100), (8, 110), (20, 130)]))
    }

    #[test]
    fn the_greatest_offset_not_above_the_address_wins() {
        let map = CodeMap::new();
        map.insert(0x1000..0x1020, entry(1)).unwrap();
        let offset = |ip| map.resolve(ip).map(|resolved| resolved.wasm_offset);
        assert_eq!(
            [offset(0x0FFF), offset(0x1000), offset(0x1007), offset(0x1008), offset(0x101F), offset(0x1020)],
            [None, Some(100), Some(100), Some(110), Some(130), None]
        );
    }

    #[test]
    fn return_addresses_look_one_byte_back() {
        let map = CodeMap::new();
        map.insert(0x1000..0x1008, entry(1).with_return_addresses()).unwrap();
        map.insert(0x1008..0x1020, entry(2).with_return_addresses()).unwrap();
        assert_eq!(map.resolve(0x1008).map(|resolved| resolved.version), Some(1));
        assert_eq!(map.resolve(0x1009).map(|resolved| resolved.version), Some(2));
        assert_eq!(map.resolve(0x1000), None);
    }

    #[test]
    fn inlined_code_keeps_its_own_function() {
        let map = CodeMap::new();
        let range = |start, end, func| InlinedRange { start, end, func };
        let inlined: Arc<[InlinedRange]> = Arc::from([range(8, 10, 9), range(10, 12, 11), range(12, 20, 9)]);
        map.insert(0x1000..0x1020, entry(1).with_inlined(inlined.into())).unwrap();
        let func = |ip| map.resolve_innermost(ip).unwrap().function.func;
        assert_eq!([func(0x1000), func(0x1008), func(0x100A), func(0x100C), func(0x1014)], [4, 9, 11, 9, 4]);
        assert_eq!(map.resolve(0x1008).unwrap().function.func, 4, "what asks for code asks for that of the whole");
    }

    #[test]
    fn a_retired_range_resolves_until_released_and_blocks_its_addresses() {
        let map = CodeMap::new();
        assert!(map.is_released(map.retired_so_far()), "nothing was retired");
        map.insert(0x1000..0x1020, entry(1)).unwrap();
        let cookie = map.retire(0x1000..0x1020).unwrap();
        assert_eq!(map.retire(0x1000..0x1020), None);
        assert!(map.resolve(0x1008).is_some());
        assert!(matches!(map.insert(0x1010..0x1030, entry(2)), Err(CodeMapError::Overlap { .. })));
        let so_far = map.retired_so_far();
        map.release(map.retire_epoch() - 1);
        assert!(!map.is_released(cookie) && !map.is_released(so_far));
        map.release(map.retire_epoch());
        assert!(map.is_released(cookie) && map.is_released(so_far) && map.resolve(0x1008).is_none());
        map.insert(0x1010..0x1030, entry(2)).unwrap();
    }

    #[test]
    fn what_is_forgotten_leaves_its_addresses_to_others() {
        let map = CodeMap::new();
        for (start, version) in [(0x1000, 1), (0x1020, 2), (0x1040, 3)] {
            map.insert(start..start + 0x20, entry(version)).unwrap();
        }
        let generation = map.generation();
        map.forget(&(0x1010..0x1040));
        assert_ne!(map.generation(), generation);
        let version = |ip| map.resolve(ip).map(|resolved| resolved.version);
        assert_eq!([version(0x1000), version(0x1020), version(0x1040)], [None, None, Some(3)]);
        map.insert(0x1000..0x1040, entry(4)).unwrap();
        assert_eq!(version(0x1030), Some(4));
    }
}
