//! Records of polls: where a performance interrupt would be taken that an event's counter raised (`EngineConfig::poll_records`).
//!
//! The event's record sets the running store's poll words, as a deadline does; the first poll that finds its word set writes an LWPINS record of class
//! [`SiteClass::Poll`]. Events of a burst are known only at its end, and so are their polls: the burst's own words hold both (`crate::burst`).

use super::ModuleCode;
use crate::layout::{VmContext, head};
use crate::runtime::{instance, store_state};
use lwp_feedback::class::SiteClass;
use lwp_feedback::ring::store_programmed;

/// An event was recorded: the next poll leaves a record too, where the engine wants that.
///
/// # Safety
/// `context` is the running context of kind wasm.
pub(crate) unsafe fn ask_poll_record(context: *mut VmContext) {
    // SAFETY: the caller's promise; nothing else uses the store now.
    unsafe {
        if instance(context).code.shared.config.poll_records {
            let state = &mut *store_state(context);
            state.poll_due = true;
            state.ask_to_poll();
        }
    }
}

impl ModuleCode {
    /// A poll found its word set: writes its record where an event asked for one.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    pub(super) unsafe fn record_poll(&self, context: *mut VmContext, function: u32, offset: u32) {
        // SAFETY: the caller's promise; nothing else uses the store now, and its LWPCB is the running thread's.
        unsafe {
            if std::mem::take(&mut (*store_state(context)).poll_due) {
                let ip = self.bytecode(function).address_range().start;
                store_programmed((*(*head(context)).store).lwpcb.cast(), ip, u32::from(SiteClass::Poll.imm16(0)), offset, 0);
            }
        }
    }
}
