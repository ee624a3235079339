//! The functions a reader of the `__llwpcb` page looks for: the processor's instructions where it has LWP, this thread's unit elsewhere.
//!
//! The same names stand in `include/lwp.h` for C. FLAGS is the instructions' imm32, of which 16 bits are kept; it must be a constant, as
//! with the compilers' intrinsics. What would be a fault of the instruction is a panic here, and an error of the `try_` functions: there is no LWP
//! instruction to restart. The C functions raise the processor's signal. Records carry an address in the code that called the intrinsic: each is
//! compiled into its caller.

use std::arch::asm;
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

/// An address in the code that this is compiled into: what the instruction's record would carry.
#[inline(always)]
fn here() -> u64 {
    let ip;
    // SAFETY: reads the instruction pointer.
    unsafe { asm!("lea {}, [rip]", out(reg) ip, options(nomem, nostack, preserves_flags)) };
    ip
}

fn executed<T>(name: &str, result: Result<T, LwpFault>) -> T {
    result.unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

/// [`__llwpcb`] with the instruction's fault as a value: #GP where the LWPCB's ring is too small, after which LWP is off.
///
/// # Safety
/// As [`__llwpcb`].
pub unsafe fn try_llwpcb(lwpcb: *mut std::ffi::c_void) -> Result<(), LwpFault> {
    if is_native() {
        // SAFETY: native, and the caller's contract.
        unsafe { native::llwpcb(lwpcb as u64) };
        return Ok(());
    }
    with_unit(false, |unit| unit.llwpcb(lwpcb as u64).map(|_| ())).unwrap_or(Ok(()))
}

/// [`__slwpcb`] with the instruction's fault as a value.
pub fn try_slwpcb() -> Result<*mut std::ffi::c_void, LwpFault> {
    let address = if is_native() {
        // SAFETY: native.
        unsafe { native::slwpcb() }
    } else {
        with_unit(false, |unit| unit.slwpcb()).unwrap_or(Ok(0))?
    };
    Ok(address as *mut std::ffi::c_void)
}

/// [`lwpins_in_unit`] with the instruction's fault as a value.
pub fn try_lwpins_in_unit(ip: u64, data2: u64, data1: u32, flags: u32) -> Result<u8, LwpFault> {
    with_unit(false, |unit| unit.lwpins(ip, data2, Operand::Value(data1), flags)).unwrap_or(Ok(false)).map(u8::from)
}

/// [`lwpval_in_unit`] with the instruction's fault as a value.
pub fn try_lwpval_in_unit(ip: u64, data2: u64, data1: u32, flags: u32) -> Result<(), LwpFault> {
    with_unit(false, |unit| unit.lwpval(ip, data2, Operand::Value(data1), flags)).unwrap_or(Ok(false)).map(|_| ())
}

/// LLWPCB: starts profiling as the LWPCB says, or ends it for null.
///
/// # Safety
/// `lwpcb` is null or points to an LWPCB that stays valid, with the ring it names, until the next call.
pub unsafe fn __llwpcb(lwpcb: *mut std::ffi::c_void) {
    // SAFETY: the caller's contract.
    executed("__llwpcb", unsafe { try_llwpcb(lwpcb) });
}

/// SLWPCB: flushes LWP's state to the LWPCB and returns its address, null when off.
pub fn __slwpcb() -> *mut std::ffi::c_void {
    executed("__slwpcb", try_slwpcb())
}

/// LWPINS, 32-bit Data2. Returns 1 when the ring was full.
#[inline(always)]
pub fn __lwpins32<const FLAGS: u32>(data2: u32, data1: u32) -> u8 {
    __lwpins64::<FLAGS>(data2.into(), data1)
}

/// LWPINS, 64-bit Data2. Returns 1 when the ring was full.
#[inline(always)]
pub fn __lwpins64<const FLAGS: u32>(data2: u64, data1: u32) -> u8 {
    if is_native() {
        // SAFETY: native; the active LWPCB is valid by __llwpcb's contract.
        u8::from(unsafe { native::lwpins::<FLAGS>(data2, data1) })
    } else {
        lwpins_in_unit(here(), data2, data1, FLAGS)
    }
}

/// LWPVAL, 32-bit Data2.
#[inline(always)]
pub fn __lwpval32<const FLAGS: u32>(data2: u32, data1: u32) {
    __lwpval64::<FLAGS>(data2.into(), data1);
}

/// LWPVAL, 64-bit Data2.
#[inline(always)]
pub fn __lwpval64<const FLAGS: u32>(data2: u64, data1: u32) {
    if is_native() {
        // SAFETY: as in __lwpins64.
        unsafe { native::lwpval::<FLAGS>(data2, data1) };
    } else {
        lwpval_in_unit(here(), data2, data1, FLAGS);
    }
}

/// LWPINS in this thread's unit, with the address its record shall carry. Returns 1 when the ring was full.
pub fn lwpins_in_unit(ip: u64, data2: u64, data1: u32, flags: u32) -> u8 {
    executed("__lwpins", try_lwpins_in_unit(ip, data2, data1, flags))
}

/// LWPVAL in this thread's unit, with the address its record shall carry.
pub fn lwpval_in_unit(ip: u64, data2: u64, data1: u32, flags: u32) {
    executed("__lwpval", try_lwpval_in_unit(ip, data2, data1, flags));
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

    #[inline(never)]
    fn first_caller(value: u32) -> u8 {
        __lwpval64::<1>(2, value);
        __lwpins32::<1>(3, value)
    }

    #[inline(never)]
    fn second_caller(value: u32) -> u8 {
        __lwpval32::<2>(2, value);
        __lwpins64::<2>(3, value)
    }

    #[test]
    fn records_carry_an_address_in_the_caller() {
        if is_native() {
            return;
        }
        let ring: Vec<Record> = vec![Record::default(); 32];
        let lwpcb = Box::new(Lwpcb::default());
        lwpcb.flags.store(Flags::VAL.bits(), Relaxed);
        lwpcb.buffer_size_random.store(1024, Relaxed);
        lwpcb.buffer_base.store(ring.as_ptr() as u64, Relaxed);
        let address = &raw const *lwpcb as *mut std::ffi::c_void;
        // SAFETY: both live until the call with null below.
        unsafe { __llwpcb(address) };
        assert_eq!((first_caller(7), second_caller(8)), (0, 0));
        // SAFETY: null ends the session.
        unsafe { __llwpcb(std::ptr::null_mut()) };
        let callers = [first_caller as *const () as u64, second_caller as *const () as u64];
        // SAFETY: the ring is alive and initialised; it is read as the unit left it.
        let seen = [0, 1, 2, 3].map(|slot| unsafe { ring.as_ptr().add(slot).read_volatile() });
        for (record, caller) in seen.iter().zip([callers[0], callers[0], callers[1], callers[1]]) {
            // Neither function takes half a page, not even without optimization.
            assert!((caller..caller + 2048).contains(&record.address()), "{record}, called from {caller:#x}");
        }
        assert!(seen[0].address() < seen[1].address() && seen[2].address() < seen[3].address(), "each call has its own");
    }

    #[test]
    fn a_ring_too_small_is_an_error_and_leaves_lwp_off() {
        if is_native() {
            return;
        }
        let ring: Vec<Record> = vec![Record::default(); 32];
        let lwpcb = Box::new(Lwpcb::default());
        lwpcb.buffer_base.store(ring.as_ptr() as u64, Relaxed);
        let address = &raw const *lwpcb as *mut std::ffi::c_void;
        for (bytes, result) in [(1024, Ok(())), (1023, Err(LwpFault::GeneralProtection))] {
            lwpcb.buffer_size_random.store(bytes, Relaxed);
            // SAFETY: both live until LWP is off: by the fault.
            assert_eq!(unsafe { try_llwpcb(address) }, result);
            assert_eq!(try_slwpcb(), Ok(if result.is_ok() { address } else { std::ptr::null_mut() }));
        }
        assert_eq!((try_lwpins_in_unit(1, 2, 3, 4), try_lwpval_in_unit(1, 2, 3, 4)), (Ok(0), Ok(())));
    }
}
