//! The functions a reader of the `__llwpcb` page looks for: the processor's instructions where it has LWP, this thread's unit elsewhere.
//!
//! The same names stand in `include/lwp.h` for C. FLAGS is the instructions' imm32, of which 16 bits are kept; it must be a constant, as
//! with the compilers' intrinsics. What would be a fault of the instruction is a panic here: there is no LWP instruction to restart.

use std::sync::OnceLock;

use crate::native;
use crate::thread_unit::with_unit;
use crate::unit::{LwpFault, Operand};

pub use crate::thread_unit::{capabilities, on_threshold, set_capabilities};

/// True when the intrinsics execute the processor's instructions.
pub fn is_native() -> bool {
    static NATIVE: OnceLock<bool> = OnceLock::new();
    *NATIVE.get_or_init(native::available)
}

/// Address that the unit's records carry: of the code that called the intrinsic, as far as can be known without an instruction there.
fn caller_address() -> u64 {
    // The intrinsics have no instruction of their own; this function's address groups their records.
    caller_address as *const () as u64
}

fn executed<T>(name: &str, result: Option<Result<T, LwpFault>>, busy: T) -> T {
    match result {
        None => busy,
        Some(Ok(value)) => value,
        Some(Err(fault)) => panic!("{name}: {fault}"),
    }
}

/// LLWPCB: starts profiling as the LWPCB says, or ends it for null.
///
/// # Safety
/// `lwpcb` is null or points to an LWPCB that stays valid, with the ring it names, until the next call.
pub unsafe fn __llwpcb(lwpcb: *mut std::ffi::c_void) {
    if is_native() {
        // SAFETY: native, and the caller's contract.
        unsafe { native::llwpcb(lwpcb as u64) };
    } else {
        executed("__llwpcb", with_unit(false, |unit| unit.llwpcb(lwpcb as u64)), 0);
    }
}

/// SLWPCB: flushes LWP's state to the LWPCB and returns its address, null when off.
pub fn __slwpcb() -> *mut std::ffi::c_void {
    let address = if is_native() {
        // SAFETY: native.
        unsafe { native::slwpcb() }
    } else {
        executed("__slwpcb", with_unit(false, |unit| unit.slwpcb()), 0)
    };
    address as *mut std::ffi::c_void
}

/// LWPINS, 32-bit Data2. Returns 1 when the ring was full.
pub fn __lwpins32<const FLAGS: u32>(data2: u32, data1: u32) -> u8 {
    __lwpins64::<FLAGS>(data2.into(), data1)
}

/// LWPINS, 64-bit Data2. Returns 1 when the ring was full.
pub fn __lwpins64<const FLAGS: u32>(data2: u64, data1: u32) -> u8 {
    if is_native() {
        // SAFETY: native; the active LWPCB is valid by __llwpcb's contract.
        u8::from(unsafe { native::lwpins::<FLAGS>(data2, data1) })
    } else {
        lwpins_in_unit(caller_address(), data2, data1, FLAGS)
    }
}

/// LWPVAL, 32-bit Data2.
pub fn __lwpval32<const FLAGS: u32>(data2: u32, data1: u32) {
    __lwpval64::<FLAGS>(data2.into(), data1);
}

/// LWPVAL, 64-bit Data2.
pub fn __lwpval64<const FLAGS: u32>(data2: u64, data1: u32) {
    if is_native() {
        // SAFETY: as in __lwpins64.
        unsafe { native::lwpval::<FLAGS>(data2, data1) };
    } else {
        lwpval_in_unit(caller_address(), data2, data1, FLAGS);
    }
}

/// LWPINS in this thread's unit, with the address its record shall carry. Returns 1 when the ring was full.
pub fn lwpins_in_unit(ip: u64, data2: u64, data1: u32, flags: u32) -> u8 {
    executed("__lwpins", with_unit(false, |unit| unit.lwpins(ip, data2, Operand::Value(data1), flags)), false).into()
}

/// LWPVAL in this thread's unit, with the address its record shall carry.
pub fn lwpval_in_unit(ip: u64, data2: u64, data1: u32, flags: u32) {
    executed("__lwpval", with_unit(false, |unit| unit.lwpval(ip, data2, Operand::Value(data1), flags)), false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{EventId, Flags, Lwpcb, Record};
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn the_sample_through_the_intrinsics() {
        if is_native() {
            return; // the same sequence then runs on the processor, with its own capabilities
        }
        let ring: Vec<Record> = vec![Record::default(); 4096];
        let lwpcb = Box::new(Lwpcb::default());
        let size = 4096 * 32;
        lwpcb.flags.store(Flags::VAL.bits(), Relaxed);
        lwpcb.buffer_size_random.store(size, Relaxed);
        lwpcb.buffer_base.store(ring.as_ptr() as u64, Relaxed);
        lwpcb.buffer_head_offset.store(size - 96, Relaxed);
        lwpcb.buffer_tail_offset.store(size - 96, Relaxed);
        lwpcb.events[0].interval.store(9, Relaxed);
        let address = &raw const *lwpcb as *mut std::ffi::c_void;
        // SAFETY: both live until the call with null below.
        unsafe { __llwpcb(address) };
        assert_eq!(__slwpcb(), address);
        for i in 0..31 {
            if i % 7 == 0 {
                assert_eq!(__lwpins32::<0x0123_4567>(0xdead_beef, i), 0);
            }
            __lwpval32::<0xcad0_0cad>(0x0bad_f00d, i);
        }
        for i in 0..31 {
            if i % 7 == 0 {
                assert_eq!(__lwpins64::<0x0123_4567>(0xdead_beef_dead_beef, i), 0);
            }
            __lwpval64::<0xcad0_0cad>(0x0bad_f00d_0bad_f00d, i);
        }
        // SAFETY: null ends the session.
        unsafe { __llwpcb(std::ptr::null_mut()) };
        assert!(__slwpcb().is_null());
        assert_eq!(lwpcb.buffer_head_offset.load(Relaxed), 448);
        // SAFETY: the ring is alive and initialised; it is read as the unit left it.
        let first = unsafe { ring.as_ptr().add(4093).read_volatile() };
        assert_eq!((first.event_id(), first.flags(), first.data2()), (EventId::PROGRAMMED, 0x4567, 0xdead_beef));
    }
}
