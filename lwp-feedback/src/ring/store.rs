//! What generated code calls when a record is due: the cold halves of LWPVAL and LWPINS.

use std::sync::atomic::Ordering;

use super::RingCore;
use crate::layout::{BUFFER_SIZE_MASK, COUNTER_SIGN_BIT, INTERVAL_MAX, Lwpcb, RANDOM_SHIFT};

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

/// What EventCounter1 is at: so many LWPVALs go by before the next record. For code that counts beside the LWPCB and says later what it counted.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe fn value_counter(lwpcb: *const Lwpcb) -> u32 {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let left = unsafe { &*lwpcb.cast::<RingCore>() }.lwpcb.events[0].counter.load(Ordering::Relaxed);
    if left & COUNTER_SIGN_BIT == 0 { left } else { 0 }
}

/// Takes off EventCounter1 what was counted beside it, without a record; it does not go below 0.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe fn take_off_value_counter(lwpcb: *mut Lwpcb, counted: u32) {
    // SAFETY: as in `value_counter`.
    let counter = unsafe { &(&*lwpcb.cast::<RingCore>()).lwpcb.events[0].counter };
    if counted > 0 {
        // SAFETY: the caller's promise.
        counter.store(unsafe { value_counter(lwpcb) }.saturating_sub(counted), Ordering::Relaxed);
    }
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

/// How values are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueSampling {
    /// EventInterval1; larger values than 2^25 - 1 are taken as that.
    pub interval: u32,
    /// Random: low bits of it that are drawn afresh at each reload, 0 to 15.
    pub random_bits: u32,
}

impl ValueSampling {
    /// While the values of a burst are counted, which are all at hand: what running code is sampled with would leave one or two records of it. A guess.
    pub const BURST: ValueSampling = ValueSampling { interval: 4, random_bits: 2 };

    /// Events that a record stands for.
    pub fn mean(self) -> f64 {
        let random = (1u32 << (self.random_bits & 15)) - 1;
        f64::from(self.interval & !random) + f64::from(random) / 2.0 + 1.0
    }
}

/// Programs EventInterval1 and Random, and the counter where it is above; what they were before.
///
/// # Safety
/// As for [`store_value_sample`].
pub unsafe fn set_value_sampling(lwpcb: *mut Lwpcb, sampling: ValueSampling) -> ValueSampling {
    // SAFETY: the caller's pointer is the first field of a live RingCore, from a pointer to the whole core.
    let lwpcb = &unsafe { &*lwpcb.cast::<RingCore>() }.lwpcb;
    let slot = &lwpcb.events[0];
    let interval = sampling.interval.min(INTERVAL_MAX);
    let before = slot.interval.swap(interval, Ordering::Relaxed);
    let size_random = lwpcb.buffer_size_random.load(Ordering::Relaxed);
    lwpcb.buffer_size_random.store(size_random & BUFFER_SIZE_MASK | sampling.random_bits << RANDOM_SHIFT, Ordering::Relaxed);
    // What is left of a longer count stands for no event that was seen since.
    let left = slot.counter.load(Ordering::Relaxed);
    if left & COUNTER_SIGN_BIT == 0 && left > interval {
        slot.counter.store(interval, Ordering::Relaxed);
    }
    ValueSampling { interval: before, random_bits: size_random >> RANDOM_SHIFT }
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
