//! Code memory: one reservation per process, mapped twice.
//!
//! Anonymous memory is mapped once readable and writable, once readable and executable, so code is never writable at an address
//! where it can run, and publishing needs no protection change. No memory file: `perf` looks addresses of one up in the file, not in the
//! map of names that `--profile=perfmap` writes. All code of all engines lies within one reservation: any of it
//! reaches any other by a 32-bit displacement, and the signal handler tells wasm code from everything else by one range.
//!
//! Invariants:
//! 1. A byte that a published entry leads to is not written again until its block is freed, but for the one byte in which a jump's two targets differ, or a detour's two instructions
//!    ([`CodeBlock::set_byte`]), and the displacement of a jump that is aligned for it ([`CodeBlock::set_displacement`]).
//! 2. A block is freed only after every thread that ran wasm has reported that no frame is in it (`crate::tiering`).

use crate::mapping::address_limit;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Bytes reserved for code; a process that cannot have them gets the largest power of two less that it can.
const RESERVED: usize = 512 << 20;
/// The least that is asked for.
const LEAST_RESERVED: usize = 16 << 20;
/// Part of the address space that a process may have at most (`ulimit -v`) which each of the two views of the code gets, before it is rounded up to a power of two.
const PART_OF_LIMIT: usize = 16;
/// The part of it that is the interpreter's, for templates: the last quarter. [`contains`] does not name it, since what holds of compiled code does not hold there.
const TEMPLATES_PART: usize = 4;
/// Every block starts at a multiple of this.
const GRAIN: usize = 64;
/// Bytes that are asked for at a time: a page's first use is an interruption, of which two megabytes of code would bring a thousand; more at a time would be a stall.
const AHEAD: usize = 128 << 10;
/// Code at addresses that are the same modulo this takes the same time: a processor finds its instructions and remembers its branches by lower bits. Measured (Zen 5, identical code
/// against itself, 19 functions three times each): 4 KiB, 64 KiB, 1 MiB and 4 MiB apart 13 to 40 % of trials saw a difference of 1 to 10 %, 16 MiB apart one of 57 did.
pub const PERIOD: usize = 16 << 20;

static LOW: AtomicUsize = AtomicUsize::new(0);
static HIGH: AtomicUsize = AtomicUsize::new(0);
/// Where templates end; they begin where compiled code ends.
static END: AtomicUsize = AtomicUsize::new(0);
/// Set: what is given back is not given out again.
static KEEPS: AtomicBool = AtomicBool::new(false);
static ARENA: OnceLock<Result<Arena, String>> = OnceLock::new();

struct Arena {
    execute: usize,
    write: usize,
    length: usize,
    /// Of compiled code, and of templates.
    free: [Mutex<FreeList>; 2],
}

struct FreeList {
    /// Offset → length of free ranges, never adjacent.
    ranges: BTreeMap<usize, usize>,
    used: usize,
    /// Up to here pages were asked for.
    touched: usize,
}

/// A block of code memory. Given back when dropped.
#[derive(Debug)]
pub struct CodeBlock {
    offset: usize,
    length: usize,
    /// Index of the list it goes back to.
    list: usize,
}

const COMPILED: usize = 0;
const TEMPLATES: usize = 1;

/// Whether an address is in the memory of compiled code. Async-signal-safe.
pub fn contains(address: usize) -> bool {
    address >= LOW.load(Ordering::Relaxed) && address < HIGH.load(Ordering::Relaxed)
}

/// Whether an address is in the memory of templates. Async-signal-safe.
pub fn contains_templates(address: usize) -> bool {
    address >= HIGH.load(Ordering::Relaxed) && address < END.load(Ordering::Relaxed)
}

/// From now on no address is given out twice: a tool outside was told what is there.
pub fn keep_addresses() {
    KEEPS.store(true, Ordering::Relaxed);
}

/// Whether [`keep_addresses`] was called.
pub fn keeps_addresses() -> bool {
    KEEPS.load(Ordering::Relaxed)
}

/// Bytes of code memory in use.
pub fn used_bytes() -> usize {
    match ARENA.get() {
        Some(Ok(arena)) => arena.free.iter().map(|list| list.lock().unwrap_or_else(|e| e.into_inner()).used).sum(),
        _ => 0,
    }
}

fn arena() -> Result<&'static Arena, String> {
    ARENA.get_or_init(|| Arena::new().map_err(|error| format!("no memory for code: {error}"))).as_ref().map_err(Clone::clone)
}

impl Arena {
    fn new() -> io::Result<Arena> {
        // Where the process may have little, most of it is for the guest's memory.
        let share = address_limit().map_or(RESERVED, |limit| (limit / PART_OF_LIMIT / LEAST_RESERVED).next_power_of_two() * LEAST_RESERVED);
        let mut length = share.min(RESERVED);
        loop {
            match Arena::map(length) {
                Err(error) if length > LEAST_RESERVED => {
                    tracing::debug!(length, %error, "code reservation refused, trying half");
                    length /= 2;
                }
                other => return other,
            }
        }
    }

    fn map(length: usize) -> io::Result<Arena> {
        let shared = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping at an address of the kernel's choice.
        let execute = unsafe { libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ | libc::PROT_EXEC, shared, -1, 0) };
        if execute == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: an old size of 0 leaves the mapping made above as it is and maps the same pages, which are shared, a second time (mremap(2)).
        let write = unsafe { libc::mremap(execute, 0, length, libc::MREMAP_MAYMOVE) };
        // SAFETY: the mapping just made, which nothing uses yet.
        if write == libc::MAP_FAILED || unsafe { libc::mprotect(write, length, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            let error = io::Error::last_os_error();
            for view in [execute, write].into_iter().filter(|&view| view != libc::MAP_FAILED) {
                // SAFETY: one of the two mappings made above, which nothing uses yet.
                unsafe { libc::munmap(view, length) };
            }
            return Err(error);
        }
        let (execute, write) = (execute as usize, write as usize);
        LOW.store(execute, Ordering::Relaxed);
        let compiled = length - length / TEMPLATES_PART;
        END.store(execute + length, Ordering::Relaxed);
        HIGH.store(execute + compiled, Ordering::Relaxed);
        let free = [0..compiled, compiled..length]
            .map(|range| Mutex::new(FreeList { ranges: BTreeMap::from([(range.start, range.len())]), used: 0, touched: range.start }));
        fork::keep_apart();
        Ok(Arena { execute, write, free, length })
    }

    /// What is in use, as offsets.
    fn in_use(lists: &[MutexGuard<'_, FreeList>; 2], length: usize) -> Vec<Range<usize>> {
        let mut used = Vec::new();
        let mut at = 0;
        for (&start, &size) in lists.iter().flat_map(|list| &list.ranges) {
            if start > at {
                used.push(at..start);
            }
            at = start + size;
        }
        if at < length {
            used.push(at..length);
        }
        used
    }

    /// Asks for the pages of a range in both views. Best effort: a kernel before 5.14 gives them one by one, when they are first written and first run.
    fn touch(&self, range: Range<usize>) {
        for (view, advice) in [(self.write, libc::MADV_POPULATE_WRITE), (self.execute, libc::MADV_POPULATE_READ)] {
            // SAFETY: pages of the reservation, in a view that allows this; what is in them stays.
            unsafe { libc::madvise((view + range.start) as *mut libc::c_void, range.len(), advice) };
        }
    }
}

impl CodeBlock {
    /// Takes `length` bytes (at least 1) aligned to `alignment` (a power of two up to 4096).
    pub fn new(length: usize, alignment: usize) -> Result<CodeBlock, String> {
        let alignment = alignment.max(GRAIN);
        CodeBlock::take(COMPILED, length, |start| start.next_multiple_of(alignment))
    }

    /// Takes `length` bytes for what the interpreter runs.
    pub fn for_templates(length: usize) -> Result<CodeBlock, String> {
        CodeBlock::take(TEMPLATES, length, |start| start.next_multiple_of(GRAIN))
    }

    /// Takes `length` bytes at an address that is the same as `address`, which is one of a block, modulo [`PERIOD`].
    pub fn beside(length: usize, address: usize) -> Result<CodeBlock, String> {
        CodeBlock::beside_but_apart(length, address, &[])
    }

    /// The same, beginning in none of the stretches of [`PERIOD`] bytes, aligned to that, in which some other addresses lie. A jump whose target changes takes longer to where it has to leave its own: on
    /// Zen 5 two copies of a function, of which one lies in it, differ by 14 % of 2 ns (`docs/experiments/two-targets.c`).
    pub fn beside_but_apart(length: usize, address: usize, others: &[usize]) -> Result<CodeBlock, String> {
        let base = arena()?.execute;
        let wanted = address - base;
        CodeBlock::take(COMPILED, length, |start| {
            let first = start + wanted.wrapping_sub(start) % PERIOD;
            let is_apart = |offset: &usize| others.iter().all(|other| (base + offset) / PERIOD != other / PERIOD);
            (first..).step_by(PERIOD).find(is_apart).expect("others are in a few")
        })
    }

    /// Takes bytes of the first free range that has room from where `place` says, given its begin.
    fn take(list: usize, length: usize, place: impl Fn(usize) -> usize) -> Result<CodeBlock, String> {
        let length = length.max(1).next_multiple_of(GRAIN);
        let arena = arena()?;
        let mut free = arena.free[list].lock().unwrap_or_else(|e| e.into_inner());
        let found = free.ranges.iter().find_map(|(&start, &size)| {
            let offset = place(start);
            (offset + length <= start + size).then_some((start, size, offset))
        });
        let (start, size, offset) = found.ok_or_else(|| format!("code memory is full ({} bytes in use)", free.used))?;
        free.ranges.remove(&start);
        if offset > start {
            free.ranges.insert(start, offset - start);
        }
        if offset + length < start + size {
            free.ranges.insert(offset + length, start + size - offset - length);
        }
        free.used += length;
        let mut untouched = free.touched..free.touched;
        // What is placed far from the rest ([`CodeBlock::beside`]) asks for nothing: most of what lies between stays unused.
        if offset < free.touched + AHEAD {
            untouched.end = (offset + length).next_multiple_of(AHEAD).max(free.touched);
            free.touched = untouched.end;
        }
        // Nobody waits for the lock meanwhile.
        drop(free);
        if !untouched.is_empty() {
            arena.touch(untouched);
        }
        Ok(CodeBlock { offset, length, list })
    }

    /// Address at which the code runs.
    pub fn address(&self) -> usize {
        arena().expect("a block exists").execute + self.offset
    }

    /// Bytes in the block.
    pub fn length(&self) -> usize {
        self.length
    }

    /// What stands in its bytes of a range, which ends with the block if it is longer.
    pub fn copy(&self, range: Range<usize>) -> Vec<u8> {
        (range.start..range.end.min(self.length)).map(|at| self.byte(at).load(Ordering::Relaxed)).collect()
    }

    /// Writes one byte of code that may be running. One that runs it takes what was there, or what is there now: a single byte is never half written, and who reads instructions
    /// notices stores of other processors and through other addresses (AMD64 manual, volume 2, 7.6.1 "Cross-Modifying Code"; Intel SDM, volume 3A, 9.1.3).
    pub fn set_byte(&self, at: usize, value: u8) {
        let byte = self.byte(at);
        // What is not changed is not written: a store to code that runs stops it for hundreds of cycles.
        if byte.load(Ordering::Relaxed) != value {
            byte.store(value, Ordering::Release);
        }
    }

    fn byte(&self, at: usize) -> &AtomicU8 {
        assert!(at < self.length, "outside the block");
        let address = arena().expect("a block exists").write + self.offset + at;
        // SAFETY: a byte of the writable view of this block, which is mapped as long as the process; beside `fill`, which has the block for itself, it is
        // read and written by atomic accesses only.
        unsafe { &*(address as *const AtomicU8) }
    }

    /// Writes the four bytes from `at` on, a multiple of four, of code that may be running: the displacement of a jump. One that runs it goes where it led before, or where it leads now: the
    /// aligned word is one store, and one instruction's bytes are fetched from it at once (so do processors of both makers, and HotSpot and V8 patch calls by it; the AMD64 manual, volume 2, 7.6.1, grants it
    /// for aligned stores of up to eight bytes).
    pub fn set_displacement(&self, at: usize, value: i32) {
        assert!(at.is_multiple_of(4) && at + 4 <= self.length, "not an aligned word of the block");
        let address = arena().expect("a block exists").write + self.offset + at;
        // SAFETY: an aligned word of the writable view of this block, which is mapped as long as the process; beside `fill`, which has the block for itself, it is
        // written by atomic stores only.
        let word = unsafe { &*(address as *const AtomicI32) };
        if word.load(Ordering::Relaxed) != value {
            word.store(value, Ordering::Release);
        }
    }

    /// Writes the block's contents, before anything leads to it: `bytes` from its byte `at`. What they do not fill becomes `int3`.
    pub fn fill(&mut self, at: usize, bytes: &[u8]) {
        let rest = self.length.checked_sub(at + bytes.len()).expect("code larger than its block");
        let target = (arena().expect("a block exists").write + self.offset) as *mut u8;
        // SAFETY: the writable view of this block, which this value owns exclusively and to which no entry leads yet.
        unsafe {
            std::ptr::write_bytes(target, 0xcc, at);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target.add(at), bytes.len());
            std::ptr::write_bytes(target.add(at + bytes.len()), 0xcc, rest);
        }
    }
}

impl Drop for CodeBlock {
    fn drop(&mut self) {
        if keeps_addresses() {
            return;
        }
        let arena = arena().expect("a block exists");
        let mut free = arena.free[self.list].lock().unwrap_or_else(|e| e.into_inner());
        let (mut start, mut size) = (self.offset, self.length);
        free.used -= size;
        if let Some((&before, &length)) = free.ranges.range(..start).next_back()
            && before + length == start
        {
            free.ranges.remove(&before);
            (start, size) = (before, length + size);
        }
        if let Some(length) = free.ranges.remove(&(start + size)) {
            size += length;
        }
        free.ranges.insert(start, size);
    }
}

/// What becomes of code memory where the process is forked. Its pages are shared, for they are mapped twice, so parent and child would go on writing each other's code. The child gets a copy at the
/// same addresses, made before the fork, while nobody takes or gives back a block.
mod fork {
    use super::{ARENA, Arena, FreeList};
    use std::cell::UnsafeCell;
    use std::sync::{MutexGuard, Once};

    /// From the handler before the fork to those behind it, on the thread that forks.
    struct Under {
        arena: &'static Arena,
        _lists: [MutexGuard<'static, FreeList>; 2],
        /// Where the copy is; `MAP_FAILED` where there was no memory for it.
        copy: *mut libc::c_void,
    }

    struct Slot(UnsafeCell<Option<Under>>);

    // SAFETY: it is used between taking the lists' locks and giving them back, by who holds them.
    unsafe impl Sync for Slot {}

    static UNDER: Slot = Slot(UnsafeCell::new(None));

    /// Installs the handlers.
    pub(super) fn keep_apart() {
        static INSTALLED: Once = Once::new();
        // SAFETY: functions of that form, which stay.
        INSTALLED.call_once(|| unsafe {
            libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child));
        });
    }

    unsafe extern "C" fn before() {
        let Some(Ok(arena)) = ARENA.get() else { return };
        let lists = arena.free.each_ref().map(|list| list.lock().unwrap_or_else(|e| e.into_inner()));
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh mapping at an address of the kernel's choice, as long as the views whose bytes are copied.
        let copy = unsafe {
            let copy = libc::mmap(std::ptr::null_mut(), arena.length, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
            if copy != libc::MAP_FAILED {
                for range in Arena::in_use(&lists, arena.length) {
                    let from = (arena.write + range.start) as *const u8;
                    std::ptr::copy_nonoverlapping(from, copy.cast::<u8>().add(range.start), range.len());
                }
            }
            copy
        };
        // SAFETY: this thread holds the locks.
        unsafe { *UNDER.0.get() = Some(Under { arena, _lists: lists, copy }) };
    }

    unsafe extern "C" fn in_parent() {
        // SAFETY: this thread holds the locks, if there is something; the copy is nobody's any more.
        unsafe {
            if let Some(under) = (*UNDER.0.get()).take()
                && under.copy != libc::MAP_FAILED
            {
                libc::munmap(under.copy, under.arena.length);
            }
        }
    }

    unsafe extern "C" fn in_child() {
        // SAFETY: this is the child's one thread, and it holds the locks, if there is something. Both views are replaced by the copy, of which an old size of 0 leaves one where it is (mremap(2));
        // nothing runs in them now.
        unsafe {
            let Some(under) = (*UNDER.0.get()).take() else { return };
            let Arena { execute, write, length, .. } = *under.arena;
            let [execute, write] = [execute, write].map(|view| view as *mut libc::c_void);
            let fixed = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
            let apart = under.copy != libc::MAP_FAILED
                && libc::mremap(under.copy, 0, length, fixed, execute) != libc::MAP_FAILED
                && libc::mprotect(execute, length, libc::PROT_READ | libc::PROT_EXEC) == 0
                && libc::mremap(under.copy, length, length, fixed, write) != libc::MAP_FAILED;
            if !apart {
                // Better no code than the parent's: whoever runs or writes it ends here.
                for view in [execute, write] {
                    libc::munmap(view, length);
                }
            }
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Calls what tests have placed there: a function without arguments that returns in eax and writes nothing else.
    pub(crate) fn call(address: usize) -> u32 {
        // SAFETY: tests place such functions only.
        let f: extern "sysv64" fn() -> u32 = unsafe { std::mem::transmute(address) };
        f()
    }

    #[test]
    fn blocks_do_not_overlap_and_come_back() {
        let a = CodeBlock::new(100, 16).unwrap();
        let b = CodeBlock::new(5000, 4096).unwrap();
        assert!(a.address() + a.length() <= b.address() || b.address() + b.length() <= a.address());
        assert_eq!(b.address() % 4096, 0);
        assert!(contains(a.address()) && contains(b.address()) && !contains(contains as *const () as usize));
        let template = CodeBlock::for_templates(100).unwrap();
        assert!(!contains(template.address()) && template.address() > a.address());
    }

    #[test]
    fn a_block_beside_another_looks_the_same_to_a_processor() {
        let first = CodeBlock::new(5000, 64).unwrap();
        let blocks = [(); 3].map(|()| CodeBlock::beside(3000, first.address()).unwrap());
        for block in &blocks {
            assert_ne!(block.address(), first.address());
            assert_eq!(block.address() % PERIOD, first.address() % PERIOD);
        }
        assert!(arena().unwrap().free[COMPILED].lock().unwrap().touched < PERIOD, "no page between them is asked for");
        // What is between them is free for others.
        let other = CodeBlock::new(100, 64).unwrap();
        assert!(other.address() < blocks[2].address());
        let last = blocks[0].address();
        drop(blocks);
        assert_eq!(CodeBlock::beside(3000, first.address()).unwrap().address(), last, "the place is used again");
    }

    #[test]
    fn a_block_between_two_lies_in_the_stretch_of_neither() {
        let first = CodeBlock::new(5000, 64).unwrap().address();
        let second = CodeBlock::beside(3000, first).unwrap().address();
        let between = CodeBlock::beside_but_apart(32, first + PERIOD / 2, &[first, second]).unwrap().address();
        assert_eq!(between % PERIOD, (first + PERIOD / 2) % PERIOD);
        assert!(between / PERIOD != first / PERIOD && between / PERIOD != second / PERIOD, "{first:#x} {second:#x} {between:#x}");
    }

    #[test]
    fn filled_code_runs() {
        let mut block = CodeBlock::new(6, 16).unwrap();
        block.fill(0, &[0xb8, 42, 0, 0, 0, 0xc3]); // mov eax, 42; ret
        assert_eq!(call(block.address()), 42);
        block.set_byte(1, 43);
        assert_eq!((call(block.address()), &block.copy(0..2)[..], block.copy(1..100).len()), (43, &[0xb8, 43][..], GRAIN - 1));
    }
}
