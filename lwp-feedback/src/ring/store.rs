//! What generated code calls when a record is due: the cold halves of LWPVAL and LWPINS.

use std::sync::atomic::Ordering;

use super::RingCore;
use crate::layout::{COUNTER_SIGN_BIT, INTERVAL_MAX, Lwpcb};

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
    core.say_interval1(ip);
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

/// Counts retired instructions in EventCounter2, many at once, and stores a record when it goes negative. `ip` is an address inside the last of them, or
/// as for [`store_value_sample`].
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe fn count_instructions(lwpcb: *mut Lwpcb, count: u32, ip: u64) {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    unsafe { &*lwpcb.cast::<RingCore>() }.count_instructions(count, ip);
}

/// Programs EventInterval1, and the counter where it is above; what it was before. Larger values than 2^25 - 1 are taken as that.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe fn set_interval1(lwpcb: *mut Lwpcb, interval: u32) -> u32 {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let slot = &unsafe { &*lwpcb.cast::<RingCore>() }.lwpcb.events[0];
    let interval = interval.min(INTERVAL_MAX);
    let before = slot.interval.swap(interval, Ordering::Relaxed);
    // What is left of a longer count stands for no event that was seen since.
    let left = slot.counter.load(Ordering::Relaxed);
    if left & COUNTER_SIGN_BIT == 0 && left > interval {
        slot.counter.store(interval, Ordering::Relaxed);
    }
    before
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

/// Takes CoreId of the records to come from the CPU that this thread runs on, where the ring was not given one: at a burst's start.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe fn refresh_core_id(lwpcb: *mut Lwpcb) {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    unsafe { &*lwpcb.cast::<RingCore>() }.refresh_core_id();
}
