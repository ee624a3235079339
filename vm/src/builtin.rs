//! The functions of the virtual machine that compiled code calls: their numbers and signatures.
//!
//! Compiled code loads `VmContext::builtins[number]` and calls it with the System V convention, the context as first
//! argument; the entry there is a naked thunk (`crate::entry`) that switches to the host stack, calls the Rust function,
//! and either returns its result or, where it raised, lands at the innermost entry. So no caller checks for traps.

/// Declares the builtins once: the enum, and what compiled code must know of each.
macro_rules! builtins {
    ($($(#[$m:meta])* $name:ident ( $($arg:ident),* ) $(-> $ret:ident)?;)*) => {
        /// A builtin's number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Builtin { $($(#[$m])* $name,)* }
        impl Builtin {
            /// All builtins, by number.
            pub const ALL: &'static [Builtin] = &[$(Builtin::$name,)*];
            /// Types of the arguments after the context.
            pub fn params(self) -> &'static [Word] { match self { $(Builtin::$name => &[$(Word::$arg),*],)* } }
            /// Type of the result.
            pub fn result(self) -> Option<Word> { match self { $(Builtin::$name => builtins!(@ret $($ret)?),)* } }
            /// Offset of its entry in the table, in bytes.
            pub fn offset(self) -> i32 { self as i32 * 8 }
        }
    };
    (@ret) => { None };
    (@ret $r:ident) => { Some(Word::$r) };
}

/// Type of a builtin's argument or result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// 32 bits.
    I32,
    /// 64 bits, or an address.
    I64,
}

/// In place of [`Builtin::ValueSample`]'s site: EventCounter2 went negative.
pub const INSTRUCTIONS: u64 = u64::MAX;

/// The most bytes that [`Builtin::PlainCopy`] and [`Builtin::PlainFill`] may be asked for: longer ones look at the deadline.
pub const MOST_PLAIN_BYTES: u64 = crate::bulk::BYTES;

builtins! {
    /// (memory, delta pages) → old pages or -1.
    MemoryGrow(I32, I64) -> I64;
    /// (destination memory, source memory, destination, source, bytes); traps when out of bounds, before writing anything.
    MemoryCopy(I32, I32, I64, I64, I64);
    /// (memory, destination, byte value, bytes).
    MemoryFill(I32, I64, I32, I64);
    /// (destination, source, bytes), addresses inside of memories, not more than [`MOST_PLAIN_BYTES`]: nothing is checked, nothing raised.
    PlainCopy(I64, I64, I64);
    /// (destination, byte value, bytes), as `PlainCopy`.
    PlainFill(I64, I32, I64);
    /// (memory, data segment, destination, source, bytes).
    MemoryInit(I32, I32, I64, I32, I32);
    /// (data segment).
    DataDrop(I32);
    /// (table, index, reference): checks the bound, writes reference and signature.
    TableSet(I32, I64, I64);
    /// (table, initial reference, delta) → old length or -1.
    TableGrow(I32, I64, I64) -> I64;
    /// (table, index, reference, count).
    TableFill(I32, I64, I64, I64);
    /// (destination table, source table, destination, source, count).
    TableCopy(I32, I32, I64, I64, I64);
    /// (table, element segment, destination, source, count).
    TableInit(I32, I32, I64, I32, I32);
    /// (element segment).
    ElemDrop(I32);
    /// (address of the argument slots): calls the function this context was entered for: for an instance the one
    /// `VmContext::callee` names, for a host context the host function. Results replace the arguments. → 0, or code to go on with by a tail call with the switch
    /// buffer as its only argument: then there are no results yet.
    CallSlow(I64) -> I64;
    /// (function, loop offset, version) → code to continue at with the switch buffer as its only argument. Called at a poll whose flag was
    /// set, after the live state was written to the switch buffer. Raises when the deadline passed.
    Poll(I32, I32, I32) -> I64;
    /// (address of the result slots): continues the frames in the switch buffer in the interpreter, to the outermost function's end.
    /// → as of `CallSlow`.
    Resume(I64) -> I64;
    /// (memory, address, offset, expected value, timeout in ns, negative for none) → 0 woken, 1 another value, 2 the time is over. 32 bits are compared.
    AtomicWait32(I32, I64, I64, I64, I64) -> I32;
    /// The same with 64 bits.
    AtomicWait64(I32, I64, I64, I64, I64) -> I32;
    /// (memory, address, offset, most to wake) → how many.
    AtomicNotify(I32, I64, I64, I32) -> I32;
    /// (tag): throws an exception with that tag of the module; its values are in the switch buffer's first slots. Does not return.
    Throw(I32);
    /// (thrown object): throws it again; traps where it is null. Does not return.
    ThrowRef(I64);
    /// (function): calls a function in place of the caller's frame that may need another context. The switch buffer holds the function and then its arguments. → code
    /// to go on with by a tail call with the switch buffer as its only argument.
    TailCall(I64) -> I64;
    /// (number of the guard plus 1 in the high half and version in the low one, the guard's value) → code to continue at with the switch buffer as its
    /// only argument. Called where a guard failed, after the live state was written to the switch buffer.
    SideExit(I64, I64) -> I64;
    /// (function, wasm offset): a function's or loop's countdown ran out (tier 1). Writes the LWPINS record, unless the
    /// code does so itself (source `trap`), and reloads the countdown → events counted, the record's Data2.
    Hot(I32, I32) -> I64;
    /// (the site: imm16 in the low half, data1 in the high one; data2: value): EventCounter1 went negative at an LWPVAL site.
    /// With a site of all ones: EventCounter2, which compiled code takes a block's operators off, went negative at a block's end.
    /// The thunk of this one keeps every register (PreserveAll), is not given the context and finds the site's address in its return address.
    ValueSample(I64, I64);
    /// (function, loop offset or one of `burst::AT_ENTRY`, `burst::AT_RETURN`, version): instrumented code found the burst's buffer full, or returns. At a loop: 1
    /// asks to leave as at a poll. At the entry: code to call in its stead, or 0.
    Burst(I32, I32, I32) -> I64;
    /// (address of the first byte, address of the last byte, probe): times a load of both and appends that to the burst buffer. Keeps every register
    /// (PreserveAll), runs on the wasm stack.
    TimedLoad(I64, I64, I32);
    /// (imm16 in the low half, data1, data2): a guest's own LWPINS. → 1 when the ring was full.
    Programmed(I32, I32, I64) -> I32;
}
