//! What generated code calls when a record is due: the cold halves of LWPVAL and LWPINS.

use super::RingCore;
use crate::layout::Lwpcb;

/// Finishes an LWPVAL whose inline decrement made EventCounter1 negative (bit 25 set): writes the record, or counts it as missed,
/// and reloads the counter. `ip` is the address the record carries: inside the site's instruction, or its return address where the code
/// map's entry says so. Bits 15:0 of `imm16` are used.
///
/// # Safety
/// `lwpcb` comes from [`super::Ring::lwpcb`], its ring is alive, and no other thread produces into it now.
pub unsafe extern "C" fn store_value_sample(lwpcb: *mut Lwpcb, ip: u64, imm16: u32, data1: u32, data2: u64) {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let core = unsafe { &*lwpcb.cast::<RingCore>() };
    core.finish_value_sample(ip, imm16 as u16, data1, data2);
}

/// LWPVAL, whole: counts, and stores a record when the counter goes negative. Bits 15:0 of `imm16` are used.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe extern "C" fn count_value(lwpcb: *mut Lwpcb, ip: u64, imm16: u32, data1: u32, data2: u64) {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let core = unsafe { &*lwpcb.cast::<RingCore>() };
    core.count_value(ip, imm16 as u16, data1, data2);
}

/// LWPINS: writes a record. Returns CF: 0 when the record was stored (or in continuous mode), 1 when the ring was full. Bits 15:0 of
/// `imm16` are used.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe extern "C" fn store_programmed(lwpcb: *mut Lwpcb, ip: u64, imm16: u32, data1: u32, data2: u64) -> u32 {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let core = unsafe { &*lwpcb.cast::<RingCore>() };
    u32::from(!core.programmed(ip, imm16 as u16, data1, data2))
}
