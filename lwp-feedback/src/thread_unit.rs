//! Each thread's unit on this process's memory, shared by the intrinsics and the trap source.
//!
//! The thread-local is constant-initialised and never dropped, so a signal handler can use it. A second use while one is under way (a
//! signal handler inside an intrinsic) is refused, not nested.

use std::cell::{Cell, UnsafeCell};
use std::mem::ManuallyDrop;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::capabilities::Capabilities;
use crate::threshold::Delivery;
use crate::unit::memory::ProcessMemory;
use crate::unit::{Architecture, Switches, Unit};

pub(crate) type ThreadUnit = Unit<ProcessMemory>;

thread_local! {
    static UNIT: UnsafeCell<ManuallyDrop<Option<ThreadUnit>>> = const { UnsafeCell::new(ManuallyDrop::new(None)) };
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

static CAPABILITIES: OnceLock<Capabilities> = OnceLock::new();
static DELIVERY: AtomicPtr<Delivery> = AtomicPtr::new(std::ptr::null_mut());

/// What the threads' units can do; [`Capabilities::UNIT`] unless [`set_capabilities`] came first.
pub fn capabilities() -> Capabilities {
    *CAPABILITIES.get_or_init(|| Capabilities::UNIT)
}

/// Chooses what the threads' units can do. False when it was used or chosen already.
pub fn set_capabilities(capabilities: Capabilities) -> bool {
    CAPABILITIES.set(capabilities).is_ok()
}

/// Chooses whom threshold crossings of all threads' units go to.
pub fn on_threshold(delivery: Delivery) {
    // An earlier one is leaked: a signal handler on another thread may be reading it.
    DELIVERY.store(Box::into_raw(Box::new(delivery)), Ordering::Release);
}

/// Runs `work` on this thread's unit, with faults reported (`checked`) or raised; then delivers threshold crossings. `None` when the
/// unit is in use further down this thread's stack.
pub(crate) fn with_unit<R>(checked: bool, work: impl FnOnce(&mut ThreadUnit) -> R) -> Option<R> {
    if BUSY.try_with(|busy| busy.replace(true)).unwrap_or(true) {
        return None;
    }
    let result = UNIT.with(|unit| {
        // SAFETY: BUSY was false: no other reference to this thread's unit exists.
        let unit = unsafe { &mut *unit.get() };
        // SAFETY: the LWPCBs given to it are the program's own, by the contract of the intrinsics and of the LWP instructions.
        let memory = unsafe { if checked { ProcessMemory::checked() } else { ProcessMemory::direct() } };
        let unit = unit.get_or_insert_with(|| Unit::new(memory, Architecture::Final(capabilities()), Switches::default()));
        *unit.memory() = memory;
        // SAFETY: no preconditions.
        unit.core_id = unsafe { libc::sched_getcpu() } as u8;
        let result = work(unit);
        if unit.take_interrupts() > 0 {
            // SAFETY: null or leaked by `on_threshold`.
            if let Some(delivery) = unsafe { DELIVERY.load(Ordering::Acquire).as_ref() } {
                delivery.deliver();
            }
        }
        result
    });
    BUSY.with(|busy| busy.set(false));
    Some(result)
}
