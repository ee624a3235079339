//! `perf_mem_data_src` of a sampled load (Intel's load latency facility, PEBS), as `linux/perf_event.h` documents it.

use perf_event_open_sys::bindings::{
    PERF_MEM_LVL_HIT, PERF_MEM_LVL_IO, PERF_MEM_LVL_L1, PERF_MEM_LVL_L2, PERF_MEM_LVL_L3, PERF_MEM_LVL_LFB, PERF_MEM_LVL_LOC_RAM,
    PERF_MEM_LVL_REM_CCE1, PERF_MEM_LVL_REM_CCE2, PERF_MEM_LVL_REM_RAM1, PERF_MEM_LVL_REM_RAM2, PERF_MEM_LVL_SHIFT, PERF_MEM_LVL_UNC,
    PERF_MEM_OP_LOAD, PERF_MEM_OP_SHIFT,
};

use super::Miss;
use super::sample::Sample;

/// The sampled load as a miss, or `None` where it hit the first cache, or is no load.
pub(super) fn miss(sample: &Sample<'_>) -> Option<Miss> {
    let operation = (sample.data_source >> PERF_MEM_OP_SHIFT) as u32 & 0x1f;
    let level = (sample.data_source >> PERF_MEM_LVL_SHIFT) as u32 & 0x3fff;
    let is = |bits: u32| level & bits != 0;
    if operation & PERF_MEM_OP_LOAD == 0 || is(PERF_MEM_LVL_HIT) && is(PERF_MEM_LVL_L1) {
        return None;
    }
    let source = if is(PERF_MEM_LVL_IO | PERF_MEM_LVL_UNC) {
        7
    } else if is(PERF_MEM_LVL_LOC_RAM) {
        3
    } else if is(PERF_MEM_LVL_REM_RAM1 | PERF_MEM_LVL_REM_RAM2 | PERF_MEM_LVL_REM_CCE1 | PERF_MEM_LVL_REM_CCE2) {
        2
    } else if is(PERF_MEM_LVL_L3) {
        1
    } else {
        // L2, or the line was on its way already (LFB), from wherever.
        debug_assert!(!is(PERF_MEM_LVL_L1) || is(PERF_MEM_LVL_L2 | PERF_MEM_LVL_LFB) || !is(PERF_MEM_LVL_HIT));
        0
    };
    let latency = sample.weight.min(u64::from(u32::MAX)) as u32;
    Some(Miss { source, latency, address: (sample.address != 0).then_some(sample.address) })
}
