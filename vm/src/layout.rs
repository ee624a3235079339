//! Memory layouts that compiled code, the interpreter and Rust share.
//!
//! Everything an instance owns is reached from its [`VmContext`], whose address lives in the pinned register (r15) while
//! wasm runs. One macro yields each struct together with its field offsets, so the two cannot drift.
//!
//! Invariants:
//! 1. A `VmContext`, `VmFunc`, `VmTable`, `VmMemory` or `VmGlobal` never moves and lives as long as its store.
//! 2. `VmFunc::entry` is the only copy of a function's current entry, but for those that are kept aside while their instance is asked
//!    (`crate::tiering::entries`); it is written with Release after the code is published.
//! 3. A memory's base never changes after creation (address space is reserved), neither does a table's. Where
//!    [`Module::context_is_memory`](crate::module::Module::context_is_memory) says so, it is the context's address for memory 0.
//! 4. Values cross between tiers in *slots* of 8 bytes: i32/f32 in the low 4 bytes with the upper half zero, i64/f64 whole,
//!    references as the pointer (funcref: `*const VmFunc`, externref: a store handle), null is 0; v128 takes two slots, low half first.

use lwp_feedback::ring::{take_off_value_counter, value_counter};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize};

/// Declares a `repr(C)` struct and a module of its field offsets in bytes; `in_front`: from where the struct ends.
macro_rules! vm_struct {
    ($(#[$m:meta])* $vis:vis struct $name:ident / $offsets:ident $($in_front:ident)? { $($(#[$fm:meta])* $field:ident : $ty:ty,)* }) => {
        $(#[$m])* #[repr(C)] $vis struct $name { $($(#[$fm])* pub $field: $ty,)* }
        #[doc = concat!("Field offsets of [`", stringify!($name), "`], in bytes.")]
        #[allow(non_upper_case_globals, missing_docs)]
        pub mod $offsets {
            use super::*;
            const START: i32 = vm_struct!(@start $name $($in_front)?);
            $(pub const $field: i32 = START + std::mem::offset_of!($name, $field) as i32;)*
        }
    };
    (@start $name:ident) => { 0 };
    (@start $name:ident in_front) => { -(size_of::<$name>() as i32) };
}

/// `VmContextHead::kind` of an instance.
pub const KIND_WASM: u64 = 0x6d73_6177;
/// `VmContextHead::kind` of a host function.
pub const KIND_HOST: u64 = 0x7473_6f68;
/// Bytes of one interpreter, adapter or switch-buffer slot.
pub const SLOT_BYTES: usize = 8;

vm_struct! {
    /// The fixed part of every context, a host function's included: what lies in front of the context's address ([`head`]). An instance's arrays lie in front of it
    /// ([`VmOffsets`]).
    pub struct VmContextHead / context in_front {
        /// [`KIND_WASM`] or [`KIND_HOST`].
        kind: u64,
        /// The store that owns this context.
        store: *mut VmStoreContext,
        /// Context of the caller of the latest call that came from another context. Written by the caller just before
        /// the call, read by the callee's first instructions.
        caller: *mut VmContext,
        /// Function index that the lazy stub through which this context was entered stands for.
        callee: u32,
        /// Rounds that the trial's arm that runs has left; it starts with what [`VmStoreContext::rounds`] says.
        rounds: u32,
        /// Always 0: the lower half of the eight bytes that compiled code compares with the context's address ([`ASKED`]).
        poll_low: u32,
        /// Not 0 ([`ASKED`]) asks for a look at the deadline: read by the interpreter, by trials' arms and where calls are led to the resolver. Each loop reads a word of its
        /// own ([`VmOffsets::poll`]), so that asking one to leave disturbs no other.
        poll: AtomicU32,
        /// Base of the module's countdown words (`ModuleCode::counters`), one u32 per function and per loop.
        counters: *mut AtomicU32,
        /// The Rust side of the instance, or of the host function.
        instance: *mut u8,
        /// Table of builtin entry points ([`crate::builtin::Builtin`] indexes it).
        builtins: *const usize,
        /// Signature ids ([`crate::signature`]) of the module's types, one u32 each.
        signatures: *const u32,
    }
}

/// What a context's address points to: nothing that belongs to it, since all of it lies in front. Where [`Module::context_is_memory`](crate::module::Module::context_is_memory) says
/// so, its instance's memory 0.
#[repr(C)]
pub struct VmContext {
    end: [u8; 0],
}

/// The fixed part of a context.
pub const fn head(context: *mut VmContext) -> *mut VmContextHead {
    context.cast::<VmContextHead>().wrapping_sub(1)
}

vm_struct! {
    /// What all instances of a store share.
    pub struct VmStoreContext / store {
        /// Where the next entry into wasm starts on the wasm stack: below every suspended frame, 16-byte aligned.
        wasm_sp: usize,
        /// Host stack pointer that builtins switch to.
        host_sp: usize,
        /// Frame pointer of the wasm frame that left last through a builtin (the builtin thunk's own frame).
        exit_fp: usize,
        /// Innermost entry frame on the host stack; 0 when no wasm runs. The trap landing restores from it.
        entry: usize,
        /// The running thread's LWPCB.
        lwpcb: *mut u8,
        /// State passed between versions of a function: [`SwitchHeader`] and then its slots.
        switch_buffer: *mut u64,
        /// Not 0 after a builtin that raises: its thunk lands instead of returning. 2: at the compiled landing that the words below say.
        unwinding: u32,
        /// [`TrapCode`](crate::trap::TrapCode) the signal handler or a builtin recorded.
        trap: u32,
        /// Address of the faulting instruction, for the backtrace.
        trap_pc: usize,
        /// Frame pointer at the fault.
        trap_fp: usize,
        /// Address whose access faulted.
        trap_address: usize,
        /// EventCounter1 as compiled code counts it down, one at each LWPVAL: as in a processor, the counter is kept at hand while the store runs, and what was taken off it goes
        /// to the LWPCB when it stops ([`VmStoreContext::keep_values`]). Negative: a record is due.
        values_left: i32,
        /// What `values_left` was filled with.
        values_granted: i32,
        /// Where an exception goes on in compiled code.
        landing_pc: usize,
        /// The stack pointer there.
        landing_sp: usize,
        /// The frame pointer there.
        landing_fp: usize,
        /// The thrown object.
        landing_object: u64,
        /// Lowest usable byte of the wasm stack; the guard lies below.
        stack_low: usize,
        /// One past the highest byte of the wasm stack.
        stack_high: usize,
        /// Lowest host stack address at which another nested activation may start.
        host_limit: usize,
        /// Rounds that the trial's arm which is entered next runs for; at least 1.
        rounds: u64,
        /// For tests: guards that hold until one is made to fail ([`Stress::fail_guards`](crate::engine::Stress::fail_guards)).
        guard_countdown: u32,
        /// Words that instrumented code has appended to the burst buffer; the place of the next is this modulo [`BURST_WORDS`].
        burst_index: u32,
        /// Instrumented code asks what to do at the first loop header or entry where `burst_index` is not below this.
        burst_limit: u32,
        /// Nonzero: loads are timed.
        burst_timing: u32,
        /// Nonzero: with a timed load go the registers ([`crate::burst`]).
        burst_registers: u32,
        /// The burst buffer, [`BURST_WORDS`] words ([`crate::burst`] says what is in them).
        burst_buffer: *mut u64,
        /// Operators that the interpreter ran; counted where event 2 may be recorded.
        instructions_interpreted: u64,
        /// Operators of the blocks that compiled code entered; the same.
        instructions_compiled: u64,
    }
}

impl VmStoreContext {
    /// Takes EventCounter1 from the LWPCB, before compiled code runs and after each record.
    ///
    /// # Safety
    /// `lwpcb` is of this thread's own ring, which is alive.
    pub(crate) unsafe fn take_values(&mut self) {
        // SAFETY: the caller's promise.
        self.values_left = unsafe { value_counter(self.lwpcb.cast()) } as i32;
        self.values_granted = self.values_left;
    }

    /// Takes off the LWPCB's EventCounter1 what compiled code counted since.
    ///
    /// # Safety
    /// As [`VmStoreContext::take_values`].
    pub(crate) unsafe fn keep_values(&mut self) {
        let counted = (self.values_granted - self.values_left).max(0);
        self.values_granted = self.values_left;
        // SAFETY: the caller's promise.
        unsafe { take_off_value_counter(self.lwpcb.cast(), counted as u32) };
    }
}

vm_struct! {
    /// A function as tables, imports and `ref.func` name it. Its address is its identity.
    pub struct VmFunc / func {
        /// Code to call with the tail convention while the pinned register holds `context`: compiled code, a lazy stub, or a host adapter.
        entry: AtomicPtr<u8>,
        /// The context to run in.
        context: *mut VmContext,
        /// Function index in its module (0 for a host function).
        index: u32,
        /// Engine-wide signature id ([`crate::signature`]); never 0.
        signature: u32,
        /// 0, or the address of the host function's Rust side.
        host: *mut u8,
    }
}

vm_struct! {
    /// One table element. `signature` is 0 for null and for non-function references.
    #[derive(Clone, Copy)]
    pub struct VmTableEntry / table_entry {
        /// Copy of the function's signature id, so that a call checks it without touching the function.
        signature: u64,
        /// The reference itself: `*const VmFunc`, or an extern handle.
        reference: u64,
    }
}

vm_struct! {
    /// A table. `base` never changes (space for `capacity` entries is reserved).
    pub struct VmTable / table {
        /// First entry.
        base: *mut VmTableEntry,
        /// Entries in use.
        length: AtomicUsize,
        /// Entries reserved.
        capacity: usize,
        /// Declared maximum, or `capacity`.
        maximum: u64,
    }
}

vm_struct! {
    /// A linear memory. `base` never changes.
    pub struct VmMemory / memory {
        /// First byte.
        base: *mut u8,
        /// Bytes accessible, a multiple of the page size.
        length: AtomicUsize,
        /// Bytes reserved from `base`, the guard not included.
        reserved: usize,
        /// Declared maximum in pages, or the type's limit.
        maximum_pages: u64,
    }
}

/// A global's value: 16 bytes whatever its type (invariant 4 for the encoding).
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug, Default)]
pub struct VmGlobal {
    /// Slots of the value.
    pub slots: [u64; 2],
}

vm_struct! {
    /// A memory as its instance sees it.
    pub struct VmMemoryRef / memory_ref {
        /// Copy of the memory's base: constant, so a load of it may leave loops.
        base: *mut u8,
        /// The memory itself, for its length.
        memory: *mut VmMemory,
    }
}

vm_struct! {
    /// A table as its instance sees it.
    pub struct VmTableRef / table_ref {
        /// Copy of the table's base: constant.
        base: *mut VmTableEntry,
        /// The table itself, for its length.
        table: *mut VmTable,
    }
}

vm_struct! {
    /// Head of a frame in the switch buffer: which point of which function the slots behind it belong to. The slots are the
    /// interpreter's canonical frame at that point: locals first, then the operand stack, by slot index. The buffer holds one frame, or where
    /// code left in the middle of inlined callees several: the outermost first, each with its own head. A frame that calls ends below the
    /// arguments of its call, which are the first slots of the next; the point of the last one says how long it is.
    pub struct SwitchHeader / switch {
        /// Function index in the module of the running context.
        function: u32,
        /// Byte offset in the module of the operator: the `loop`, the call that is to be done, of a caller the call that is being done.
        offset: u32,
        /// The version that left, for the report.
        version: u32,
        /// How many frames of inlined callees follow behind this one.
        callees: u32,
    }
}

/// Bytes of [`SwitchHeader`]; the slots start there.
pub const SWITCH_HEADER_BYTES: i32 = size_of::<SwitchHeader>() as i32;
/// Most slots the frames that leave together may have (the heads of inner frames counted as slots) and still be switched. 1 Mi of bytes: a guess that covers every
/// real module; a larger frame has no poll exit to other versions (it is counted).
pub const SWITCH_BUFFER_SLOTS: usize = 128 * 1024;

/// What a poll word holds to ask everybody. The word is the upper half of eight bytes whose lower half is 0, and compiled code asks whether they are above the
/// context's address, with one instruction: nothing that is asked is below 2^47, and no address of a process above.
pub const ASKED: u32 = 0x8000;

/// What a poll word holds that asks everybody, or nobody.
pub const fn asked(asks: bool) -> u32 {
    if asks { ASKED } else { 0 }
}

/// What a loop's poll word holds to ask that loop alone, for a burst, a trial or a look around.
pub const LOOP_ASKED: u32 = 2 * ASKED;

/// Words of the burst buffer, a power of two. 128 KiB: it shall fit in L2 beside what the program has there.
pub const BURST_WORDS: usize = 16 * 1024;

/// A context's address is a multiple of this: a global's alignment.
pub const CONTEXT_ALIGNMENT: usize = 16;

/// Where an instance's arrays lie, in bytes from the context's address: all in front of its head, what is read most often nearest. A pure function of the module, so compiled code may
/// hold the offsets as constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmOffsets {
    memories: i32,
    tables: i32,
    imported_globals: i32,
    globals: i32,
    imported_functions: i32,
    functions: i32,
    polls: i32,
    tags: i32,
    function_count: u32,
    poll_count: u32,
    imported_global_count: u32,
    imported_function_count: u32,
}

/// How many of each kind a module has.
#[derive(Clone, Copy, Debug, Default)]
pub struct VmCounts {
    /// Memories, imported ones included.
    pub memories: u32,
    /// Tables, imported ones included.
    pub tables: u32,
    /// Imported globals.
    pub imported_globals: u32,
    /// Globals the module defines.
    pub globals: u32,
    /// Imported functions.
    pub imported_functions: u32,
    /// Functions the module defines.
    pub functions: u32,
    /// Loops in them.
    pub loops: u32,
    /// Tags, imported ones included.
    pub tags: u32,
}

impl VmOffsets {
    /// Lays the arrays out.
    pub fn new(counts: VmCounts) -> VmOffsets {
        let before = |end: i32, count: u32, size: usize| end - (count as usize * size) as i32;
        let head = size_of::<VmContextHead>().next_multiple_of(align_of::<VmGlobal>()) as i32;
        let globals = before(-head, counts.globals, size_of::<VmGlobal>());
        let memories = before(globals, counts.memories, size_of::<VmMemoryRef>());
        let tables = before(memories, counts.tables, size_of::<VmTableRef>());
        let imported_globals = before(tables, counts.imported_globals, 8);
        let imported_functions = before(imported_globals, counts.imported_functions, 8);
        let functions = before(imported_functions, counts.functions, size_of::<VmFunc>());
        let poll_count = counts.functions + counts.loops;
        let polls = before(functions, poll_count, 8);
        let tags = before(polls, counts.tags, 8);
        VmOffsets {
            memories,
            tables,
            imported_globals,
            globals,
            imported_functions,
            functions,
            polls,
            tags,
            function_count: counts.functions,
            poll_count,
            imported_global_count: counts.imported_globals,
            imported_function_count: counts.imported_functions,
        }
    }

    /// Bytes of a context, all in front of its address, a multiple of its alignment.
    pub fn before(&self) -> usize {
        (self.tags.unsigned_abs() as usize).next_multiple_of(CONTEXT_ALIGNMENT)
    }

    /// The [`VmMemoryRef`] of memory `index`.
    pub fn memory(&self, index: u32) -> i32 {
        self.memories + (index as usize * size_of::<VmMemoryRef>()) as i32
    }

    /// The [`VmTableRef`] of table `index`.
    pub fn table(&self, index: u32) -> i32 {
        self.tables + (index as usize * size_of::<VmTableRef>()) as i32
    }

    /// The eight bytes with poll word `index` in their upper half. [`Module::function_poll`](crate::module::Module::function_poll) says whose it is.
    pub fn poll(&self, index: u32) -> i32 {
        debug_assert!(index < self.poll_count);
        self.polls + (index * 8) as i32
    }

    /// Poll words: one for each function the module defines, and one for each loop.
    pub fn poll_count(&self) -> u32 {
        self.poll_count
    }

    /// The pointer to tag `index`; its address is its identity, and the pointer never changes.
    pub fn tag(&self, index: u32) -> i32 {
        self.tags + (index * 8) as i32
    }

    /// Functions the module defines.
    pub fn function_count(&self) -> u32 {
        self.function_count
    }

    /// Where global `index` is: its own [`VmGlobal`], or for an imported one the pointer to it.
    pub fn global(&self, index: u32) -> GlobalPlace {
        match index.checked_sub(self.imported_global_count) {
            None => GlobalPlace::Pointer(self.imported_globals + (index * 8) as i32),
            Some(own) => GlobalPlace::Inline(self.globals + (own as usize * size_of::<VmGlobal>()) as i32),
        }
    }

    /// Where the [`VmFunc`] of function `index` is: its own, or for an imported one the pointer to it.
    pub fn function(&self, index: u32) -> FunctionPlace {
        match index.checked_sub(self.imported_function_count) {
            None => FunctionPlace::Pointer(self.imported_functions + (index * 8) as i32),
            Some(own) => FunctionPlace::Inline(self.functions + (own as usize * size_of::<VmFunc>()) as i32),
        }
    }
}

/// See [`VmOffsets::global`]; the number is an offset from the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalPlace {
    /// The [`VmGlobal`] itself is there.
    Inline(i32),
    /// A pointer to it is there; the pointer never changes.
    Pointer(i32),
}

/// See [`VmOffsets::function`]; the number is an offset from the context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionPlace {
    /// The [`VmFunc`] itself is there.
    Inline(i32),
    /// A pointer to it is there; the pointer never changes.
    Pointer(i32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_that_assembly_relies_on() {
        assert_eq!(store::wasm_sp, 0);
        assert_eq!(store::host_sp, 8);
        assert_eq!(store::exit_fp, 16);
        assert_eq!(store::entry, 24);
        assert_eq!(size_of::<VmTableEntry>(), 16);
        assert_eq!(size_of::<VmFunc>(), 32);
    }

    #[test]
    fn arrays_do_not_overlap_and_are_aligned() {
        let offsets = VmOffsets::new(VmCounts {
            memories: 1,
            tables: 2,
            imported_globals: 1,
            globals: 3,
            imported_functions: 3,
            functions: 5,
            loops: 4,
            tags: 2,
        });
        assert_eq!((context::kind, context::signatures), (-72, -8));
        assert_eq!(offsets.global(1), GlobalPlace::Inline(-80 - 48));
        assert_eq!(offsets.memory(0), -80 - 48 - 16);
        assert_eq!(offsets.table(2), offsets.memory(0));
        assert_eq!(offsets.global(0), GlobalPlace::Pointer(offsets.table(0) - 8));
        assert_eq!(offsets.function(0), FunctionPlace::Pointer(offsets.table(0) - 8 - 3 * 8));
        let FunctionPlace::Inline(first) = offsets.function(3) else { panic!("own function") };
        assert_eq!(first, offsets.table(0) - 8 - 3 * 8 - 5 * 32);
        assert_eq!(offsets.poll(0), first - 9 * 8);
        assert_eq!(offsets.poll(8), first - 8);
        assert_eq!(offsets.tag(1), offsets.poll(0) - 8);
        assert_eq!(offsets.before(), (offsets.tag(0).unsigned_abs() as usize).next_multiple_of(16));
    }
}
