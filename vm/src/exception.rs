//! Exceptions: tags, thrown objects, and the search for who catches one.
//!
//! An exception unwinds without skipping a Rust frame. In compiled code it goes from a builtin that raises to the *landing* of the innermost call on the wasm
//! stack that has one ([`find_landing`]): `crate::entry::land` drops the compiled frames below, which have no destructors, and goes on there. Where the activation has none
//! it ends as with a trap, and what is outside (the interpreter, the host, a builtin of the activation around) gets a value, `Unwind::Exception`. A landing compares
//! tags itself and throws on what it does not catch, so the search needs no instance.
//!
//! What a reference names is three words and the values' slots (invariant 4 of `crate::layout`): the tag's address, whether a reference to it may
//! exist beyond its catching, and whether the host has one. An object to which none exists is freed at the next throw. Others are collected from time to
//! time, at a throw: those that no word names where a reference can be ([`for_each_root`]). A word that looks like one keeps its object, so nothing is ever
//! freed too early; what the host got as a value lives as long as its store.

use crate::backtrace::{self, Place};
use crate::bytecode::frame::slots_of_all;
use crate::handles::TagRef;
use crate::layout::VmStoreContext;
use crate::registry;
use crate::store::{HostError, Limiter, StoreState};
use crate::trap::Frame;
use std::collections::TryReserveError;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Arc;
use wasmparser::{AbstractHeapType, HeapType, RefType, ValType};

/// A tag. Its address is its identity; it lives as long as its store.
#[repr(C)]
#[derive(Debug)]
pub struct Tag {
    /// Signature id of its function type, whose parameters an exception carries.
    pub(crate) signature: u32,
}

/// Byte offsets in a thrown object, for compiled code.
pub mod object {
    /// The tag's address.
    pub const TAG: i32 = 0;
    /// Nonzero where a reference may outlive the catching.
    pub const KEPT: i32 = 8;
    /// Nonzero where the host has a reference as a value, which it may keep.
    pub const HELD: i32 = 16;
    /// The first slot of the values.
    pub const VALUES: i32 = 24;
}

/// Words of an object before its values.
const HEADER_WORDS: usize = object::VALUES as usize / 8;
/// Fewest objects at which a store looks for those that nothing names: a guess, some 100 KB.
const FEWEST_DUE: usize = 1024;
/// Bytes of exceptions for which no limiter is asked. (A guess: a few thousand.)
const ALLOWED_AT_FIRST: usize = 1 << 20;
/// Words read to find references per throw, at most: reading one costs about a nanosecond, a throw about a microsecond. (A guess.)
const WORDS_PER_THROW: usize = 16;

/// Frames of which a throw takes note: a guess, at a few nanoseconds each.
const MOST_PLACES: usize = 64;

#[derive(Debug)]
struct Object {
    words: Box<[u64]>,
    /// Shared with every [`Thrown`] of it.
    handed: Arc<()>,
}

impl Object {
    fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.words) + size_of::<Object>()
    }

    /// A word that compiled code writes through the object's address.
    fn flag(&self, offset: i32) -> bool {
        // SAFETY: the object is owned here, so it can be read; the offset is of its header.
        unsafe { (&raw const self.words[offset as usize / 8]).read_volatile() != 0 }
    }

    /// Whether the host has it, as an error or as a value.
    fn is_with_host(&self) -> bool {
        self.flag(object::HELD) || Arc::strong_count(&self.handed) > 1
    }
}

/// A store's thrown objects, the latest last.
#[derive(Debug)]
pub(crate) struct Exceptions {
    all: Vec<Object>,
    /// How many make a collection worth its cost.
    due: usize,
    /// Where the latest was thrown, for the case that nobody catches it: places without names, which is what a throw can afford.
    thrown_at: Vec<Place>,
    /// There were more places.
    thrown_further_out: bool,
    /// The retirement's epoch then: what code stands at a place is as it was while that stays.
    epoch: u64,
    /// What the objects take, bytes.
    bytes: usize,
    /// What they may take before the store's limiter is asked.
    allowed: usize,
}

impl Default for Exceptions {
    fn default() -> Self {
        Exceptions {
            all: Vec::new(),
            due: FEWEST_DUE,
            thrown_at: Vec::new(),
            thrown_further_out: false,
            epoch: 0,
            bytes: 0,
            allowed: ALLOWED_AT_FIRST,
        }
    }
}

impl Exceptions {
    /// Makes an object; its address.
    fn add(&mut self, tag: *const Tag, values: &[u64]) -> Result<u64, TryReserveError> {
        if self.all.last().is_some_and(|last| !last.flag(object::KEPT) && !last.is_with_host()) {
            self.bytes -= self.all.pop().map_or(0, |last| last.bytes());
        }
        let mut words = Vec::new();
        words.try_reserve_exact(HEADER_WORDS + values.len())?;
        self.all.try_reserve(1)?;
        words.extend_from_slice(&[tag as u64, 0, 0]);
        words.extend_from_slice(values);
        let object = Object { words: words.into(), handed: Arc::default() };
        let address = object.address();
        self.bytes += object.bytes();
        self.all.push(object);
        Ok(address)
    }

    /// After a collection that left more than half of what is allowed, asks for twice as much: else the next throw would be the next collection. A refusal is no failure yet.
    fn make_room(&mut self, limiter: Option<&mut Box<dyn Limiter>>) {
        let wanted = 2 * self.allowed;
        if self.bytes > self.allowed / 2 && limiter.is_none_or(|limiter| limiter.memory(self.allowed, wanted, None).unwrap_or(false)) {
            self.allowed = wanted;
        }
    }

    /// Asks the store's limiter where the objects take more than was allowed.
    fn check(&mut self, limiter: Option<&mut Box<dyn Limiter>>) -> Result<(), HostError> {
        if self.bytes <= self.allowed {
            return Ok(());
        }
        let wanted = self.bytes.max(2 * self.allowed);
        if let Some(limiter) = limiter
            && !limiter.memory(self.allowed, wanted, None)?
        {
            return Err(format!("the store's limiter refuses {wanted} bytes for exceptions").into());
        }
        self.allowed = wanted;
        Ok(())
    }

    /// How many objects there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }

    /// The frames that the exception was thrown in, innermost first; none where another was thrown since, or code went.
    pub(crate) fn frames(&self, object: u64, epoch: u64) -> Vec<Frame> {
        let mut frames = Vec::new();
        if self.all.last().is_some_and(|latest| latest.address() == object) && self.epoch == epoch {
            // SAFETY: no code went since they were walked over, and an instance lives as long as its store.
            self.thrown_at.iter().for_each(|&place| unsafe { backtrace::frames_at(place, &mut frames) });
            if let Some(outermost) = frames.last_mut() {
                outermost.is_cut = self.thrown_further_out;
            }
        }
        frames
    }

    /// What the host holds while it has the object as an error.
    pub(crate) fn hand_over(&self, object: u64) -> Arc<()> {
        let found = self.all.iter().rfind(|other| other.address() == object);
        found.map_or_else(Arc::default, |object| object.handed.clone())
    }

    /// Frees the objects that neither a root, nor another object, nor the host names; the latest stays. `spoil` leaks them instead, with no tag, so that
    /// a use shows. `roots` calls its argument with every word that may be a reference.
    fn collect(&mut self, spoil: bool, roots: impl FnOnce(&mut dyn FnMut(u64))) {
        let mut places: Vec<(Range<u64>, usize)> = self
            .all
            .iter()
            .map(|object| object.words.as_ptr_range())
            .enumerate()
            .map(|(index, range)| (range.start as u64..range.end as u64, index))
            .collect();
        places.sort_unstable_by_key(|(range, _)| range.start);
        let (low, high) = (places.first().map_or(0, |place| place.0.start), places.last().map_or(0, |place| place.0.end));
        let mut live: Vec<bool> = self.all.iter().map(Object::is_with_host).collect();
        if let Some(last) = live.last_mut() {
            *last = true;
        }
        let mut unread: Vec<usize> = (0..live.len()).filter(|&index| live[index]).collect();
        let mut read = 0;
        let mut see = |word: u64, live: &mut [bool], unread: &mut Vec<usize>| {
            read += 1;
            if !(low..high).contains(&word) {
                return;
            }
            // Inside an object counts: compiled code may hold the address of its values.
            let place = places.partition_point(|(range, _)| range.end <= word);
            if let Some((range, index)) = places.get(place)
                && range.contains(&word)
                && !std::mem::replace(&mut live[*index], true)
            {
                unread.push(*index);
            }
        };
        roots(&mut |word| see(word, &mut live, &mut unread));
        while let Some(index) = unread.pop() {
            self.all[index].words[HEADER_WORDS..].iter().for_each(|&word| see(word, &mut live, &mut unread));
        }
        let mut index = 0;
        self.all.retain_mut(|object| {
            let stays = live[index];
            index += 1;
            if !stays && spoil {
                object.words.fill(0);
                std::mem::forget(std::mem::take(&mut object.words));
            }
            stays
        });
        self.bytes = self.all.iter().map(Object::bytes).sum();
        self.due = FEWEST_DUE.max(2 * self.all.len()).max(read / WORDS_PER_THROW);
    }
}

/// Throws in a store: makes the object, and collects the others where it is time. The object's address.
///
/// # Errors
/// There is no memory for it, or the store's limiter allows no more.
///
/// # Safety
/// The calling thread runs the store, whose interpreter has published its frames; the values are of the tag's types.
pub(crate) unsafe fn throw(store: &mut StoreState, tag: *const Tag, values: &[u64]) -> Result<u64, HostError> {
    let thrown = store.exceptions.add(tag, values).map_err(|error| format!("no memory for an exception: {error}"))?;
    let mut places = std::mem::take(&mut store.exceptions.thrown_at);
    places.clear();
    let mut is_full = false;
    // SAFETY: the caller's promise.
    unsafe {
        backtrace::walk(store, None, |place| {
            is_full = places.len() == MOST_PLACES;
            if !is_full {
                places.push(place);
            }
            !is_full
        });
    }
    (store.exceptions.thrown_at, store.exceptions.thrown_further_out) = (places, is_full);
    store.exceptions.epoch = store.engine().shared().retirement.epoch();
    let stress = store.engine().config().stress.collect_exceptions;
    let is_due = store.exceptions.count() >= store.exceptions.due || store.exceptions.bytes > store.exceptions.allowed;
    if (is_due || stress) && store.moved == 0 {
        let mut exceptions = std::mem::take(&mut store.exceptions);
        // SAFETY: the caller's promise.
        exceptions.collect(stress, |see| unsafe { for_each_root(store, see) });
        store.exceptions = exceptions;
        store.exceptions.make_room(store.limiter.as_mut());
    }
    store.exceptions.check(store.limiter.as_mut())?;
    Ok(thrown)
}

impl StoreState {
    /// An exception of the host's making, which no frame has thrown yet.
    ///
    /// # Errors
    /// As [`throw`].
    ///
    /// # Safety
    /// The tag is of this store, and the values are of its types, with references of this store.
    pub unsafe fn new_exception(&mut self, tag: TagRef, values: &[u64]) -> Result<Thrown, HostError> {
        let object = self.exceptions.add(tag.0.as_ptr(), values).map_err(|error| format!("no memory for an exception: {error}"))?;
        self.exceptions.thrown_at.clear();
        // SAFETY: just made.
        let thrown = unsafe { self.thrown(object) };
        self.exceptions.check(self.limiter.as_mut())?;
        Ok(thrown)
    }

    /// An object as an error of the host's.
    ///
    /// # Safety
    /// It is one of this store that was just thrown or made, or that the host has as a value ([`hold`]).
    pub unsafe fn thrown(&self, object: u64) -> Thrown {
        Thrown { store: self.id, object, _held: self.exceptions.hand_over(object) }
    }

    /// An exception's tag and values; `None` where it is another store's.
    pub fn exception(&self, thrown: &Thrown) -> Option<(TagRef, &[u64])> {
        // SAFETY: an object of this store, which stays as long as `thrown` does.
        (thrown.store == self.id).then(|| unsafe { self.exception_at(thrown.object) })
    }

    /// The same of an object.
    ///
    /// # Safety
    /// As [`StoreState::thrown`].
    pub unsafe fn exception_at(&self, object: u64) -> (TagRef, &[u64]) {
        // SAFETY: the caller's promise; its tag lives as long as the store and says how many values there are.
        unsafe {
            let tag = TagRef(NonNull::from(&*tag_of(object)));
            let count = slots_of_all(tag.ty().params()) as usize;
            (tag, std::slice::from_raw_parts(values_of(object), count))
        }
    }
}

/// Calls `see` with every word of a running store that may be an exception reference, and with many that are none: both stacks of its thread from here to
/// where the host called, the interpreter's, its globals and tables.
///
/// References are nowhere else while an exception is thrown. A value that leaves for the host is held ([`object::HELD`]). The switch buffer has them
/// only between code that leaves and code that is entered, where a deadline's callback is all that may run (its calls have another buffer), and a callee's arguments are on a
/// stack by the time it runs.
///
/// # Safety
/// As [`throw`].
#[inline(never)]
unsafe fn for_each_root(store: &StoreState, see: &mut dyn FnMut(u64)) {
    // Registers that calls keep: what compiled code had in them when it left is there still, or on the host's stack.
    let mut registers = [0u64; 6];
    // SAFETY: writes six words.
    unsafe {
        std::arch::asm!(
            "mov [{to}], rbx", "mov [{to} + 8], rbp", "mov [{to} + 16], r12", "mov [{to} + 24], r13", "mov [{to} + 32], r14", "mov [{to} + 40], r15",
            to = in(reg) &raw mut registers, options(nostack, preserves_flags),
        );
    }
    let context = &store.context;
    for stack in [&raw const registers as usize..store.host_stack_top, context.wasm_sp..context.stack_high] {
        for address in (stack.start.next_multiple_of(8)..stack.end & !7).step_by(8) {
            // SAFETY: in use, so mapped: from this frame to that of `call_from_host` below, from where wasm left (invariant 3 of `crate::entry`) to the top.
            see(unsafe { (address as *const u64).read_volatile() });
        }
    }
    store.interp.for_each_word(see);
    store.for_each_suspended_word(&mut *see);
    store.tail_arguments.iter().for_each(|&word| see(word));
    let holds = |ty: RefType| matches!(ty.heap_type(), HeapType::Abstract { ty: AbstractHeapType::Exn | AbstractHeapType::NoExn, .. });
    for global in store.globals().filter(|global| matches!(global.ty.content_type, ValType::Ref(ty) if holds(ty))) {
        // SAFETY: it lives as long as the store, whose thread this is.
        see(unsafe { (*global.value.as_ptr()).slots[0] });
    }
    for table in store.tables().filter(|table| holds(table.ty().element_type)) {
        (0..table.length()).filter_map(|index| table.get(index)).for_each(&mut *see);
    }
}

/// An exception that no guest caught, as an error of the host's: returned by a host function, it goes on unwinding the guest.
#[derive(Clone, Debug)]
pub struct Thrown {
    /// The store's number.
    pub store: u64,
    /// The object, which stays as long as this or a clone does.
    pub(crate) object: u64,
    pub(crate) _held: Arc<()>,
}

impl Thrown {
    /// It as a reference, which its store then keeps.
    ///
    /// # Panics
    /// `store` is another one.
    pub fn reference(&self, store: &mut StoreState) -> u64 {
        assert_eq!(self.store, store.id, "an exception of another store");
        // SAFETY: an object of that store, which is not running elsewhere: it is borrowed.
        unsafe { hold(self.object) };
        self.object
    }
}

impl PartialEq for Thrown {
    fn eq(&self, other: &Thrown) -> bool {
        (self.store, self.object) == (other.store, other.object)
    }
}

impl Eq for Thrown {}

impl std::fmt::Display for Thrown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("uncaught exception")
    }
}

impl std::error::Error for Thrown {}

/// The tag of an object.
///
/// # Safety
/// `object` is one of the running store.
pub(crate) unsafe fn tag_of(object: u64) -> *const Tag {
    // SAFETY: the caller's promise.
    unsafe { *(object as *const *const Tag) }
}

/// The first slot of its values.
///
/// # Safety
/// As [`tag_of`].
pub(crate) unsafe fn values_of(object: u64) -> *const u64 {
    // SAFETY: the caller's promise.
    unsafe { (object as *const u64).add(HEADER_WORDS) }
}

/// A reference to the object may exist from here on.
///
/// # Safety
/// As [`tag_of`].
pub(crate) unsafe fn keep(object: u64) {
    // SAFETY: the caller's promise; the store's thread is the only one that touches it.
    unsafe { (object as *mut u64).byte_add(object::KEPT as usize).write_volatile(1) };
}

/// The host has a reference from here on, and may keep it as long as the store lives.
///
/// # Safety
/// As [`tag_of`], and wasm of the store does not run on another thread.
pub unsafe fn hold(object: u64) {
    // SAFETY: the caller's promise.
    unsafe { (object as *mut u64).byte_add(object::HELD as usize).write_volatile(1) };
}

/// Where the running activation's compiled frames go on with an exception: pc, stack and frame pointer of the innermost landing.
///
/// # Safety
/// Called from a builtin: `exit_fp` is its thunk's frame.
pub(crate) unsafe fn find_landing(store: &VmStoreContext) -> Option<[usize; 3]> {
    // SAFETY: frames of compiled code and adapters link by frame pointer (preserve_frame_pointers); the words read are on the mapped wasm stack (checked).
    let word = |address: usize| unsafe { (address as *const usize).read() };
    let (mut pc, mut fp) = (word(store.exit_fp + 8), word(store.exit_fp));
    while crate::arena::contains(pc) {
        if let Some((landing, frame_bytes)) = registry::landing_at(pc) {
            return Some([landing, fp - frame_bytes as usize, fp]);
        }
        if fp < store.stack_low || fp >= store.stack_high {
            break;
        }
        (pc, fp) = (word(fp + 8), word(fp));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Refuses;

    impl Limiter for Refuses {
        fn memory(&mut self, _: usize, _: usize, _: Option<usize>) -> Result<bool, HostError> {
            Err("no".into())
        }
        fn table(&mut self, _: usize, _: usize, _: Option<usize>) -> Result<bool, HostError> {
            Ok(true)
        }
    }

    /// Else each throw would collect where what stays takes nearly all that is allowed.
    #[test]
    fn a_collection_that_leaves_much_is_not_the_last_before_there_is_more_room() {
        let tag = Tag { signature: 1 };
        let mut exceptions = Exceptions::default();
        let mut held = Vec::new();
        let fill = |exceptions: &mut Exceptions, held: &mut Vec<_>, bytes: usize| {
            while exceptions.bytes < bytes {
                let object = exceptions.add(&raw const tag, &[0; 4]).unwrap();
                held.push(exceptions.hand_over(object));
            }
        };
        let collected = |exceptions: &mut Exceptions, limiter: Option<&mut Box<dyn Limiter>>| {
            exceptions.collect(false, |_| {});
            exceptions.make_room(limiter);
            exceptions.allowed
        };
        fill(&mut exceptions, &mut held, ALLOWED_AT_FIRST / 3);
        assert_eq!(collected(&mut exceptions, None), ALLOWED_AT_FIRST);
        fill(&mut exceptions, &mut held, ALLOWED_AT_FIRST - 100);
        let mut refuses: Box<dyn Limiter> = Box::new(Refuses);
        assert_eq!(collected(&mut exceptions, Some(&mut refuses)), ALLOWED_AT_FIRST);
        assert_eq!(collected(&mut exceptions, None), 2 * ALLOWED_AT_FIRST);
        assert_eq!(collected(&mut exceptions, None), 2 * ALLOWED_AT_FIRST);
        held.clear();
        collected(&mut exceptions, None);
        assert_eq!(exceptions.count(), 1, "the latest stays");
    }
}
