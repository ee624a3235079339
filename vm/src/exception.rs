//! Exceptions: tags, thrown objects, and the search for who catches one.
//!
//! An exception unwinds without skipping a Rust frame. In compiled code it goes from a builtin that raises to the *landing* of the innermost call on the wasm
//! stack that has one ([`find_landing`]): `crate::entry::land` drops the compiled frames below, which have no destructors, and goes on there. Where the activation has none
//! it ends as with a trap, and what is outside (the interpreter, the host, a builtin of the activation around) gets a value, `Unwind::Exception`. A landing compares
//! tags itself and throws on what it does not catch, so the search needs no instance.
//!
//! What a reference names is two words and the values' slots (invariant 4 of `crate::layout`): the tag's address, then whether a reference to it may
//! exist beyond its catching. An object to which none exists is freed at the next throw; any other lives as long as its store.

use crate::layout::VmStoreContext;
use crate::registry;

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
    /// The first slot of the values.
    pub const VALUES: i32 = 16;
}

/// A store's thrown objects.
#[derive(Debug, Default)]
pub(crate) struct Exceptions {
    all: Vec<Box<[u64]>>,
}

impl Exceptions {
    /// Makes an object; its address.
    pub(crate) fn throw(&mut self, tag: *const Tag, values: &[u64]) -> u64 {
        // Compiled code marks objects through their addresses.
        // SAFETY: the object is owned here, so it can be read.
        if self.all.last().is_some_and(|last| unsafe { (&raw const last[1]).read_volatile() } == 0) {
            self.all.pop();
        }
        let mut words = Vec::with_capacity(2 + values.len());
        words.extend_from_slice(&[tag as u64, 0]);
        words.extend_from_slice(values);
        self.all.push(words.into());
        self.all.last().map_or(0, |object| object.as_ptr() as u64)
    }

    /// How many objects there are.
    pub(crate) fn count(&self) -> usize {
        self.all.len()
    }
}

/// An exception that no guest caught, as an error of the host's: returned by a host function, it goes on unwinding the guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thrown {
    /// The store's number.
    pub store: u64,
    /// The object.
    pub(crate) object: u64,
}

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
    unsafe { (object as *const u64).add(2) }
}

/// A reference to the object may exist from here on.
///
/// # Safety
/// As [`tag_of`].
pub(crate) unsafe fn keep(object: u64) {
    // SAFETY: the caller's promise; the store's thread is the only one that touches it.
    unsafe { (object as *mut u64).add(1).write_volatile(1) };
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
