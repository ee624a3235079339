//! Rare operators, one small function each, behind one op: accesses to memories other than a plain memory 0, and atomic ones.
//!
//! The op gives the number of the function, the first slot of its operands (where its result goes, too), an index (of a memory) and 64 bits (the
//! offset of an access). Safety of all: `regs` describes the running frame, whose slots from `base` hold the operands, and the index is the module's.

use super::machine::{Flow, Regs};
use super::ops::{atomic, far};
use crate::bytecode::Slot;

/// What a rare operator does.
pub(super) type RareBody = unsafe fn(&mut Regs, Slot, u32, u64) -> Flow;

macro_rules! rare {
    ($($name:ident $body:expr;)*) => {
        /// A rare operator's number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u16)]
        pub(crate) enum Rare { $($name,)* }

        /// The functions by number.
        pub(super) static BODIES: &[RareBody] = &[$($body,)*];
    };
}

rare! {
    Load8U far::load::<u8, u32>;
    Load16U far::load::<u16, u32>;
    Load32 far::load::<u32, u32>;
    Load64 far::load::<u64, u64>;
    I32Load8S far::load::<i8, i32>;
    I32Load16S far::load::<i16, i32>;
    I64Load8S far::load::<i8, i64>;
    I64Load16S far::load::<i16, i64>;
    I64Load32S far::load::<i32, i64>;
    Store8 far::store::<u8>;
    Store16 far::store::<u16>;
    Store32 far::store::<u32>;
    Store64 far::store::<u64>;
    OpenWindow far::open_window;
    CloseWindow far::close_window;
    AtomicLoad8 atomic::bits8::load;
    AtomicStore8 atomic::bits8::store;
    AtomicAdd8 atomic::bits8::add;
    AtomicSub8 atomic::bits8::sub;
    AtomicAnd8 atomic::bits8::and;
    AtomicOr8 atomic::bits8::or;
    AtomicXor8 atomic::bits8::xor;
    AtomicExchange8 atomic::bits8::exchange;
    AtomicCompareExchange8 atomic::bits8::compare_exchange;
    AtomicLoad16 atomic::bits16::load;
    AtomicStore16 atomic::bits16::store;
    AtomicAdd16 atomic::bits16::add;
    AtomicSub16 atomic::bits16::sub;
    AtomicAnd16 atomic::bits16::and;
    AtomicOr16 atomic::bits16::or;
    AtomicXor16 atomic::bits16::xor;
    AtomicExchange16 atomic::bits16::exchange;
    AtomicCompareExchange16 atomic::bits16::compare_exchange;
    AtomicLoad32 atomic::bits32::load;
    AtomicStore32 atomic::bits32::store;
    AtomicAdd32 atomic::bits32::add;
    AtomicSub32 atomic::bits32::sub;
    AtomicAnd32 atomic::bits32::and;
    AtomicOr32 atomic::bits32::or;
    AtomicXor32 atomic::bits32::xor;
    AtomicExchange32 atomic::bits32::exchange;
    AtomicCompareExchange32 atomic::bits32::compare_exchange;
    AtomicLoad64 atomic::bits64::load;
    AtomicStore64 atomic::bits64::store;
    AtomicAdd64 atomic::bits64::add;
    AtomicSub64 atomic::bits64::sub;
    AtomicAnd64 atomic::bits64::and;
    AtomicOr64 atomic::bits64::or;
    AtomicXor64 atomic::bits64::xor;
    AtomicExchange64 atomic::bits64::exchange;
    AtomicCompareExchange64 atomic::bits64::compare_exchange;
    AtomicFence atomic::atomic_fence;
    AtomicWait32 atomic::wait32;
    AtomicWait64 atomic::wait64;
    AtomicNotify atomic::notify;
}
