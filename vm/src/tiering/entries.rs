//! How calls are asked to poll: what an instance's functions are entered by leads to the resolver first.
//!
//! Compiled code does not poll where it is entered. Every call loads the callee's entry from its [`VmFunc`](crate::layout::VmFunc); while an instance is asked ([`context::poll`](crate::layout::context::poll))
//! its functions' hold their lazy stubs, whose resolver polls and goes on in the code that is kept *aside* meanwhile. So a recursion without loops is stopped too, and
//! nobody pays for it who is not asked. (Functions that were never called lead to the resolver anyway.)
//!
//! The protocol is that of [`edges`](super::edges): who asks writes the word, then takes the lock and exchanges the entries; who answers clears the word, then takes the lock and puts them
//! back; both look at the word with the lock held. Whoever gives an entry other code holds the lock too, and where entries are aside it is the one aside that is changed.

use super::ModuleCode;
use crate::layout::{VmContext, head};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// What calls of a module's own functions reach. No other lock is taken under this one.
#[derive(Default)]
pub(super) struct Entries {
    inner: Mutex<Inner>,
    /// Whether some instance's entries are aside, or are about to be.
    asked: AtomicBool,
}

#[derive(Default)]
struct Inner {
    /// Own functions whose entry is something else than their lazy stub.
    compiled: BTreeSet<usize>,
    /// Of the instances that are asked, by their contexts' addresses.
    aside: HashMap<usize, Aside>,
}

/// Own functions and what their calls go on in.
type Aside = BTreeMap<usize, usize>;

impl Inner {
    fn note(&mut self, own: usize, entry: usize, stub: usize) {
        if entry == stub {
            self.compiled.remove(&own);
        } else {
            self.compiled.insert(own);
        }
    }
}

impl Entries {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|error| error.into_inner())
    }
}

impl ModuleCode {
    /// Notes what calls of a function reach in instances that come.
    pub(super) fn note_entry(&self, own: usize, entry: usize) {
        self.entries.lock().note(own, entry, self.lazy_stub(own));
    }

    /// Makes `entry` what calls of a function reach in an instance, once that has polled where it is asked.
    ///
    /// # Safety
    /// `context` is a live context of this module.
    pub(super) unsafe fn enter_by(&self, context: *mut VmContext, own: usize, entry: usize) {
        let stub = self.lazy_stub(own);
        let mut entries = self.entries.lock();
        entries.note(own, entry, stub);
        let called = match entries.aside.get_mut(&(context as usize)) {
            Some(aside) if entry == stub => {
                aside.remove(&own);
                stub
            }
            // It may be called for the first time while the instance is asked.
            Some(aside) => {
                aside.insert(own, entry);
                stub
            }
            None => entry,
        };
        // SAFETY: the caller's promise.
        unsafe { self.func(context, own) }.entry.store(called as *mut u8, Ordering::Release);
    }

    /// The same, if calls reach `from` now: whoever put something else there keeps it.
    ///
    /// # Safety
    /// As [`Self::enter_by`].
    pub(super) unsafe fn exchange_entry(&self, context: *mut VmContext, own: usize, from: usize, to: usize) {
        let stub = self.lazy_stub(own);
        let mut entries = self.entries.lock();
        match entries.aside.get_mut(&(context as usize)) {
            Some(aside) => {
                let now = aside.get(&own).copied().unwrap_or(stub);
                if now == from {
                    aside.insert(own, to);
                }
            }
            None => {
                // SAFETY: the caller's promise.
                let entry = &unsafe { self.func(context, own) }.entry;
                let _ = entry.compare_exchange(from as *mut u8, to as *mut u8, Ordering::AcqRel, Ordering::Acquire);
            }
        }
        // Other instances may hold what this one does not any more.
        if to != stub {
            entries.note(own, to, stub);
        }
    }

    /// What a call of a function that polled goes on in, where its instance is asked and that is something else than the stub which brought it here.
    pub(super) fn entered_by(&self, context: *mut VmContext, own: usize) -> Option<usize> {
        self.entries.lock().aside.get(&(context as usize))?.get(&own).copied().filter(|&entry| entry != self.lazy_stub(own))
    }

    /// The word of an instance was written: its calls poll, or need not any more.
    ///
    /// # Safety
    /// As [`Self::enter_by`].
    pub(crate) unsafe fn entry_poll_was_set(&self, context: *mut VmContext) {
        // SAFETY: the caller's promise; the word is an atomic.
        let asks = || unsafe { &(*head(context)).poll }.load(Ordering::SeqCst) != 0;
        if !asks() && !self.entries.asked.load(Ordering::SeqCst) {
            return;
        }
        let mut entries = self.entries.lock();
        // Before the word is looked at: who clears it and then finds this unset has cleared it before it is looked at.
        self.entries.asked.store(true, Ordering::SeqCst);
        let put_back = |aside: Aside| {
            for (own, entry) in aside {
                // SAFETY: the caller's promise.
                unsafe { self.func(context, own) }.entry.store(entry as *mut u8, Ordering::Release);
            }
        };
        if !asks() {
            if let Some(aside) = entries.aside.remove(&(context as usize)) {
                put_back(aside);
            }
        } else if !entries.aside.contains_key(&(context as usize)) {
            while asks() {
                let mut aside = Aside::new();
                let all = entries.compiled.iter().all(|&own| {
                    // SAFETY: the caller's promise.
                    let entry = &unsafe { self.func(context, own) }.entry;
                    aside.insert(own, entry.swap(self.lazy_stub(own) as *mut u8, Ordering::AcqRel) as usize);
                    // The running thread may have come by one of the first, and waits for the lock to put them all back.
                    asks()
                });
                if all {
                    entries.aside.insert(context as usize, aside);
                    break;
                }
                put_back(aside);
            }
        }
        self.entries.asked.store(!entries.aside.is_empty(), Ordering::SeqCst);
    }

    /// Instances whose calls poll now.
    pub fn instances_whose_calls_poll(&self) -> usize {
        self.entries.lock().aside.len()
    }

    /// A context is about to be freed.
    pub(super) fn forget_entries(&self, context: *mut VmContext) {
        let mut entries = self.entries.lock();
        entries.aside.remove(&(context as usize));
        self.entries.asked.store(!entries.aside.is_empty(), Ordering::SeqCst);
    }
}
