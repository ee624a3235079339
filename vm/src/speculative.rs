//! Speculative loads: loads that yield zero where they would fault, instead of trapping.
//!
//! Enters: for each such load its pc, its length and the register it writes ([`SpeculativeLoad`], registered with its code). Leaves: the
//! answer to the signal handler's one question: is the faulting instruction one of them, and if so, what to zero and where to go on.
//! The handler counts each; many faults mean that the code is slower than it was meant to be (a fault takes microseconds).
//!
//! The table is read in a signal handler, so readers only do atomic loads: open addressing, linear probing, keys never move within a
//! table. Invariants:
//! 1. A key is written before its code is published and wiped after the last frame has left it, so a thread that runs a pc finds its key.
//! 2. A table that grows is copied whole, published with Release, and the old one is kept: a handler may still be reading it. All old
//!    tables together are smaller than the newest.

use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use crate::code::{LoadTarget, SpeculativeLoad};

/// No key, and none behind it in its probe.
const EMPTY: u64 = 0;
/// A key was here.
const WIPED: u64 = 1;
/// Bits of a key below the pc: four of length, one of kind, four of register.
const PC_SHIFT: u32 = 9;
const FIRST_SLOTS: usize = 256;

static CURRENT: AtomicPtr<Table> = AtomicPtr::new(std::ptr::null_mut());
static WRITER: Mutex<Writer> = Mutex::new(Writer { tables: Vec::new(), used: 0 });
static FAULTS: AtomicU64 = AtomicU64::new(0);

struct Slot {
    /// `pc << 9 | length << 5 | kind << 4 | register`.
    key: AtomicU64,
    faults: AtomicU32,
}

struct Table {
    slots: Box<[Slot]>,
}

struct Writer {
    /// Every table there was, the current last. Boxed: a handler may hold its address.
    #[expect(clippy::vec_box, reason = "tables are read by address while the vector grows")]
    tables: Vec<Box<Table>>,
    /// Slots of the current table that are not empty.
    used: usize,
}

impl Table {
    fn new(slots: usize) -> Box<Table> {
        let slots = (0..slots).map(|_| Slot { key: AtomicU64::new(EMPTY), faults: AtomicU32::new(0) }).collect();
        Box::new(Table { slots })
    }

    /// The slot of a pc, or the first empty one. There is always an empty one.
    fn find(&self, pc: usize) -> &Slot {
        &self.slots[self.place(pc)]
    }

    fn place(&self, pc: usize) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = (pc as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> 20 & mask;
        loop {
            let slot = &self.slots[at];
            let key = slot.key.load(Ordering::Acquire);
            if key == EMPTY || key >> PC_SHIFT == pc as u64 {
                return at;
            }
            at = (at + 1) & mask;
        }
    }

    /// Wipes the key of a pc, and empties what is wiped before an empty slot: no search goes on behind that. How many slots became empty.
    fn wipe(&self, pc: usize) -> usize {
        let mask = self.slots.len() - 1;
        let key = |at: usize| self.slots[at & mask].key.load(Ordering::Relaxed);
        let mut at = self.place(pc);
        if key(at) >> PC_SHIFT != pc as u64 {
            return 0;
        }
        self.slots[at].key.store(WIPED, Ordering::Release);
        let mut emptied = 0;
        while key(at + 1) == EMPTY && key(at) == WIPED {
            self.slots[at].key.store(EMPTY, Ordering::Release);
            emptied += 1;
            at = at.wrapping_sub(1) & mask;
        }
        emptied
    }
}

fn current() -> Option<&'static Table> {
    let table = CURRENT.load(Ordering::Acquire);
    // SAFETY: null, or a table that `WRITER` keeps for ever (invariant 2).
    unsafe { table.as_ref() }
}

fn writer() -> MutexGuard<'static, Writer> {
    WRITER.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// What to do about a fault at `pc`, which is counted. Async-signal-safe.
pub(crate) fn take_fault(pc: usize) -> Option<SpeculativeLoad> {
    let slot = current()?.find(pc);
    let key = slot.key.load(Ordering::Acquire);
    if key >> PC_SHIFT != pc as u64 || key == EMPTY {
        return None;
    }
    slot.faults.fetch_add(1, Ordering::Relaxed);
    FAULTS.fetch_add(1, Ordering::Relaxed);
    let register = key as u8 & 15;
    let target = if key & 16 == 0 { LoadTarget::General(register) } else { LoadTarget::Vector(register) };
    Some(SpeculativeLoad { offset: 0, length: (key >> 5) as u8 & 15, target })
}

/// Faults of speculative loads so far, of the whole process.
pub fn faults() -> u64 {
    FAULTS.load(Ordering::Relaxed)
}

/// Makes the loads of code at `address` known. Before the code can run.
pub(crate) fn register(address: usize, loads: &[SpeculativeLoad]) {
    if loads.is_empty() {
        return;
    }
    let mut writer = writer();
    for load in loads {
        if (writer.used + 1) * 2 > writer.tables.last().map_or(0, |table| table.slots.len()) {
            writer.grow();
        }
        let (kind, register) = match load.target {
            LoadTarget::General(register) => (0, register),
            LoadTarget::Vector(register) => (1, register),
        };
        let pc = address + load.offset as usize;
        let key = (pc as u64) << PC_SHIFT | u64::from(load.length & 15) << 5 | kind << 4 | u64::from(register & 15);
        let table = writer.tables.last().expect("grown above");
        let slot = table.find(pc);
        let fresh = slot.key.load(Ordering::Relaxed) == EMPTY;
        slot.faults.store(0, Ordering::Relaxed);
        slot.key.store(key, Ordering::Release);
        writer.used += usize::from(fresh);
    }
}

/// Forgets them again. After the last frame has left the code.
pub(crate) fn forget(address: usize, loads: &[SpeculativeLoad]) {
    if loads.is_empty() {
        return;
    }
    let mut writer = writer();
    let Some(table) = writer.tables.last() else { return };
    writer.used -= loads.iter().map(|load| table.wipe(address + load.offset as usize)).sum::<usize>();
}

/// Faults of the loads of code at `address`.
pub(crate) fn faults_of(address: usize, loads: &[SpeculativeLoad]) -> u64 {
    let Some(table) = current() else { return 0 };
    loads.iter().map(|load| u64::from(table.find(address + load.offset as usize).faults.load(Ordering::Relaxed))).sum()
}

impl Writer {
    /// A table twice as large as the keys that are left need, published.
    fn grow(&mut self) {
        let live = |slot: &&Slot| slot.key.load(Ordering::Relaxed) > WIPED;
        let kept = self.tables.last().map_or(0, |table| table.slots.iter().filter(live).count());
        let mut least = FIRST_SLOTS.max((kept + 1) * 4).next_power_of_two();
        // Never smaller than before, so that old tables stay the smaller part (invariant 2).
        least = least.max(self.tables.last().map_or(0, |table| table.slots.len() * 2));
        let table = Table::new(least);
        for slot in self.tables.last().iter().flat_map(|old| old.slots.iter()).filter(live) {
            let key = slot.key.load(Ordering::Relaxed);
            let to = table.find((key >> PC_SHIFT) as usize);
            to.faults.store(slot.faults.load(Ordering::Relaxed), Ordering::Relaxed);
            to.key.store(key, Ordering::Relaxed);
        }
        self.used = kept;
        CURRENT.store((&raw const *table).cast_mut(), Ordering::Release);
        self.tables.push(table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::CodeBlock;
    use crate::signals::prepare_thread;

    /// One at a time: while the table grows, a fault may be counted in the old one alone.
    static TABLE: Mutex<()> = Mutex::new(());

    fn table() -> MutexGuard<'static, ()> {
        TABLE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    #[test]
    fn a_load_that_faults_yields_zero_and_goes_on() {
        let _one = table();
        prepare_thread().unwrap();
        let mut block = CodeBlock::new(64, 16).unwrap();
        block.fill(
            0,
            &[
                0xb8, 7, 0, 0, 0, // mov eax, 7
                0x8b, 0x07, // mov eax, [rdi]
                0xc3, // ret
                0x0f, 0x1f, 0x80, 0, 0, 0, 0, 0x90, // padding to 16
                0xf3, 0x0f, 0x10, 0xc1, // movss xmm0, xmm1
                0xf3, 0x0f, 0x10, 0x07, // movss xmm0, [rdi]
                0xc3, // ret
            ],
        );
        let loads = [
            SpeculativeLoad { offset: 5, length: 2, target: LoadTarget::General(0) },
            SpeculativeLoad { offset: 20, length: 4, target: LoadTarget::Vector(0) },
        ];
        register(block.address(), &loads);
        // SAFETY: one of the two functions written above.
        let whole = unsafe { std::mem::transmute::<usize, extern "sysv64" fn(*const u32) -> u64>(block.address()) };
        // SAFETY: as above.
        let float = unsafe { std::mem::transmute::<usize, extern "sysv64" fn(*const f32, f32, f32) -> f32>(block.address() + 16) };
        let before = faults();
        assert_eq!(whole(&42), 42);
        assert_eq!(whole(std::ptr::null()), 0);
        assert_eq!(float(&2.5, 1.0, 3.0), 2.5);
        assert_eq!(float(std::ptr::null(), 1.0, 3.0), 0.0);
        assert!(faults() >= before + 2);
        assert_eq!(faults_of(block.address(), &loads), 2);
        forget(block.address(), &loads);
        assert!(take_fault(block.address() + 5).is_none());
    }

    #[test]
    fn many_come_and_go() {
        let _one = table();
        let loads: Vec<SpeculativeLoad> =
            (0..3000).map(|n| SpeculativeLoad { offset: n * 7, length: 3, target: LoadTarget::General((n % 16) as u8) }).collect();
        for round in 0..20usize {
            let address = 0x1000_0000_0000 + round * 0x10_0000;
            register(address, &loads);
            for load in &loads {
                let found = take_fault(address + load.offset as usize).expect("registered");
                assert_eq!((found.length, found.target), (load.length, load.target));
            }
            assert!(take_fault(address + 1).is_none());
            assert_eq!(faults_of(address, &loads), 3000);
            forget(address, &loads);
            assert!(take_fault(address).is_none());
        }
        assert!(writer().tables.len() < 20);
    }

    #[test]
    fn what_comes_and_goes_needs_no_more_room() {
        let _one = table();
        let loads: Vec<SpeculativeLoad> =
            (0..50).map(|nth| SpeculativeLoad { offset: nth * 8, length: 4, target: LoadTarget::General(0) }).collect();
        let slots = || writer().tables.last().map_or(0, |table| table.slots.len());
        let mut sizes = Vec::new();
        for version in 0..20_000 {
            let address = 0x7000_0000 + version * 0x1230;
            register(address, &loads);
            forget(address, &loads);
            sizes.push(slots());
        }
        assert_eq!(sizes[100], sizes[19_999]);
    }
}
