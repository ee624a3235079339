//! The end of a version's life: unlinked, then kept until no frame can be in its code, then until no record can name its addresses, then freed.
//!
//! The protocol (invariant 2 of `crate::arena`):
//! 1. A version is *unlinked*: no entry pointer, in force or aside, loop table or running trial leads to it ([`ModuleCode::link`], [`ModuleCode::evict`]).
//! 2. Only then the engine's *retire epoch* is advanced and the version noted with it ([`ModuleCode::retire`]).
//! 3. A store *reports*, on the thread that runs it, at a poll, at a host call and where it is entered from the host: it reads the epoch, then walks its
//!    wasm frames by frame pointer and notes which retired versions it found ([`report_frames`]). At those places no code address is on its way
//!    from a table to a jump on this thread, so what was unlinked before the epoch was read can be reached by frames alone.
//! 4. A store that runs nothing has no frames. It says that it runs before it reads any entry pointer, with the sequentially consistent order in which
//!    the other side unlinks first and then looks.
//! 5. A version is free when each store of the engine runs nothing, or has reported at its epoch or later without finding it.
//!
//! Running code is not made to report: it comes by sooner or later, since code that is replaced is asked to leave anyway. Only where much memory
//! waits ([`MOST_WAITING_BYTES`]) the stores that are behind are asked to poll, which has also guests report that sleep in `memory.atomic.wait`.

use super::listener::Counted;
use super::versions::CodeVersion;
use super::{ModuleCode, Published};
use crate::backtrace;
use crate::code::{Entrance, Tier};
use crate::engine::Shared;
use crate::layout::VmContext;
use crate::registry::PlacedCode;
use crate::runtime::store_state;
use crate::store::StoreState;
use crate::timeline::What;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// Bytes of retired code that may wait for running threads to come by.
const MOST_WAITING_BYTES: usize = 256 << 10;
/// Versions and failures of one module whose description is kept for the report after they are gone.
const MOST_DESCRIBED: usize = 1000;

/// Evictions of one entrance up to which each doubles its wait.
const MOST_WAIT_DOUBLINGS: u32 = 40;

/// What was evicted stays in lower tiers until it was asked for so many times more, twice as many after each eviction: what does not fit under the cap is compiled
/// a number of times that grows with the logarithm of how often it runs. Compiled at each asking, versions took each other's place for ever.
#[derive(Clone, Copy, Default)]
pub(super) struct Wait {
    evictions: u32,
    asks_to_pass: u64,
}

/// Code that nothing leads to any more, but that a frame may be in.
struct Retiring {
    epoch: u64,
    version: Arc<CodeVersion>,
    code: Weak<ModuleCode>,
    /// Stores that found it at their last report.
    held_by: HashSet<u64>,
}

/// An engine's retired code.
#[derive(Default)]
pub(crate) struct Retirement {
    epoch: AtomicU64,
    waiting: Mutex<Vec<Retiring>>,
    freed: AtomicU64,
}

impl Retirement {
    fn lock(&self) -> MutexGuard<'_, Vec<Retiring>> {
        self.waiting.lock().unwrap_or_else(|error| error.into_inner())
    }

    /// The epoch a store has to report at.
    #[inline(always)]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::SeqCst)
    }

    /// Versions whose code was given up so far.
    pub(crate) fn freed(&self) -> u64 {
        self.freed.load(Ordering::Relaxed)
    }

    /// Versions that wait.
    pub(crate) fn waiting(&self) -> usize {
        self.lock().len()
    }
}

impl Shared {
    /// Gives up the code that no frame can be in any more; where much waits, asks the stores that are behind to come by.
    pub(crate) fn free_retired(&self) {
        let free = {
            let mut waiting = self.retirement.lock();
            if waiting.is_empty() {
                return;
            }
            let mut behind = HashSet::new();
            let mut free = Vec::new();
            self.with_stores(|stores| {
                let mut kept = Vec::with_capacity(waiting.len());
                for retiring in waiting.drain(..) {
                    let mut in_use = false;
                    for store in stores {
                        if !store.runs() {
                            continue;
                        }
                        let late = store.reported() < retiring.epoch;
                        if late || retiring.held_by.contains(&store.id) {
                            in_use = true;
                            behind.insert(store.id);
                        }
                    }
                    if in_use { kept.push(retiring) } else { free.push(retiring) }
                }
                *waiting = kept;
                let bytes: usize = waiting.iter().map(|retiring| retiring.version.code_bytes).sum();
                for store in stores {
                    if behind.contains(&store.id) && bytes > MOST_WAITING_BYTES {
                        store.ask_to_poll();
                    }
                }
            });
            if !waiting.is_empty() {
                // Those that reported before and held something look again.
                self.retirement.epoch.fetch_add(1, Ordering::SeqCst);
            }
            free
        };
        let mut of: Vec<Arc<ModuleCode>> = Vec::new();
        for retiring in free {
            if let Some(placed) = retiring.version.take_code() {
                self.retirement.freed.fetch_add(1, Ordering::Relaxed);
                self.bury(placed.range(), super::Remains::Code(placed));
            }
            if let Some(code) = retiring.code.upgrade() {
                let CodeVersion { number, function, entrance, .. } = *retiring.version;
                code.note(function, entrance, || What::Freed { version: number });
                code.exits.forget(retiring.version.number);
                if !of.iter().any(|known| Arc::ptr_eq(known, &code)) {
                    of.push(code);
                }
            }
        }
        of.iter().for_each(|code| code.describe_less());
    }

    /// Forgets a module's waiting versions: its instances are gone, and with them all frames.
    pub(super) fn forget_retiring(&self, number_of: &ModuleCode) {
        let gone: Vec<Retiring> = {
            let mut waiting = self.retirement.lock();
            let (gone, kept) = waiting.drain(..).partition(|retiring| std::ptr::eq(retiring.code.as_ptr(), number_of));
            *waiting = kept;
            gone
        };
        for retiring in gone {
            if let Some(placed) = retiring.version.take_code() {
                self.bury(placed.range(), super::Remains::Code(placed));
            }
        }
    }
}

/// Says which retired versions a store's frames are in, if that is asked for.
///
/// # Safety
/// `context` is the running context, and the calling thread is about to run Rust code that holds no code address: see 3 above.
#[inline(always)]
pub(crate) unsafe fn report_frames(context: *mut VmContext) {
    // SAFETY: the caller's promise.
    unsafe {
        let store = store_state(context);
        let shared = (*store).engine().shared();
        if (*store).reported() != shared.retirement.epoch() {
            walk(&*store, shared);
        }
    }
}

#[cold]
#[inline(never)]
unsafe fn walk(store: &StoreState, shared: &Shared) {
    let mut waiting = shared.retirement.lock();
    // Read under the lock, so that every version of an epoch up to it is in the list.
    let epoch = shared.retirement.epoch();
    if !waiting.is_empty() {
        let mut ranges: Vec<(usize, usize, usize)> = waiting
            .iter()
            .enumerate()
            .filter_map(|(index, retiring)| Some((retiring.version.code_range()?, index)))
            .map(|(range, index)| (range.start as usize, range.end as usize, index))
            .collect();
        ranges.sort_unstable();
        let mut found = vec![false; waiting.len()];
        // SAFETY: the caller runs this store (see `report_frames`).
        unsafe {
            backtrace::for_each_pc(store, |pc| {
                let at = ranges.partition_point(|range| range.0 <= pc);
                // A return address may be the first byte behind its code.
                if let Some(&(_, end, index)) = at.checked_sub(1).and_then(|at| ranges.get(at))
                    && pc <= end
                {
                    found[index] = true;
                }
            });
        }
        for (retiring, found) in waiting.iter_mut().zip(found) {
            if found {
                retiring.held_by.insert(store.id);
            } else {
                retiring.held_by.remove(&store.id);
            }
        }
    }
    store.set_reported(epoch);
}

impl Published {
    /// Whether a compile is to be made that was not asked for before, nor is to wait since it was evicted; it counts as asked for from now on.
    pub(super) fn is_asked_anew(&mut self, function: u32, entrance: Entrance, tier: Tier, counted: bool) -> bool {
        let asked = (function, entrance, tier, counted);
        if self.requested.contains(&asked) {
            return false;
        }
        // (who asks for instrumented code asks once, and waits for it)
        if tier != Tier::Instrumented
            && let Some(wait) = self.waits.get_mut(&(function, entrance))
            && wait.asks_to_pass > 0
        {
            wait.asks_to_pass -= 1;
            return false;
        }
        self.requested.insert(asked)
    }

    fn wait_longer(&mut self, function: u32, entrance: Entrance) {
        let wait = self.waits.entry((function, entrance)).or_default();
        wait.evictions += 1;
        wait.asks_to_pass = (1 << wait.evictions.min(MOST_WAIT_DOUBLINGS)) - 1;
    }
}

impl ModuleCode {
    /// A version that nothing leads to any more: its code goes once no frame can be in it.
    pub(super) fn retire(self: &Arc<Self>, version: Arc<CodeVersion>) {
        tracing::debug!(function = version.function, version = version.number, "retired");
        self.note(version.function, version.entrance, || What::Retired { version: version.number });
        let retirement = &self.shared.retirement;
        let mut waiting = retirement.lock();
        let epoch = retirement.epoch.fetch_add(1, Ordering::SeqCst) + 1;
        waiting.push(Retiring { epoch, version, code: Arc::downgrade(self), held_by: HashSet::new() });
        let enough = waiting.len().is_multiple_of(64);
        drop(waiting);
        if enough || !self.shared.watched() {
            self.shared.free_retired();
        } else {
            // The monitor does it.
            self.shared.monitor.rouse();
        }
    }

    /// Takes an entrance of a function back to the lower tiers: what it led to is retired, and it may be asked for again. False where there was nothing.
    pub fn evict(self: &Arc<Self>, function: u32, entrance: Entrance) -> bool {
        let Some(own) = self.module.defined(function) else { return false };
        let version = {
            let mut published = self.published();
            let Some(version) = published.current.remove(&(function, entrance)) else { return false };
            published.linked_bytes -= version.code_bytes;
            published.evicted += 1;
            for tier in [Tier::Baseline, Tier::Optimizing] {
                for counted in [false, true] {
                    published.requested.remove(&(function, entrance, tier, counted));
                }
            }
            match entrance {
                Entrance::Body => {
                    self.lead_back(function);
                    self.targets[own].compiled.store(std::ptr::null_mut(), Ordering::SeqCst);
                    let stub = self.stub_entry(&published, own);
                    self.set_entry(&published, function, stub);
                }
                Entrance::Loop(offset) => {
                    self.loops.write().unwrap_or_else(|error| error.into_inner()).remove(&(function, offset));
                }
            }
            self.ask_to_leave(&published, function);
            version
        };
        let after = self.hot_interpreter(function);
        self.functions[own].hot_records.store(0, Ordering::Relaxed);
        self.count_to(own, after);
        self.retire(version);
        true
    }

    /// Compiles an entrance of a function once more, to what it was compiled to before, and retires what it led to: for tests of code's lifetime.
    /// False where there is no code to make anew.
    pub fn recompile(self: &Arc<Self>, function: u32, entrance: Entrance) -> bool {
        let Some((tier, counted)) = self.published().current.get(&(function, entrance)).map(|version| (version.tier, version.counted))
        else {
            return false;
        };
        self.compile(function, entrance, tier, counted)
    }

    /// After a version was linked: back to lower tiers with the oldest code, until the rest fits under the cap; and what stress switches want.
    pub(super) fn keep_under_cap(self: &Arc<Self>, linked: &Arc<CodeVersion>) {
        let config = &self.shared.config;
        let every = config.stress.retire_every;
        if every != 0 && linked.number.is_multiple_of(every) {
            self.evict_for_longer(linked.function, linked.entrance);
        }
        loop {
            let victim = {
                let published = self.published();
                if published.linked_bytes <= config.code_cap {
                    return;
                }
                let others = published.current.iter().filter(|(_, version)| version.number != linked.number);
                // Loops first: their activation goes on in the body's tier at its next entry.
                let oldest = others.min_by_key(|((_, entrance), version)| (*entrance == Entrance::Body, version.number));
                oldest.map(|(&key, _)| key)
            };
            let Some((function, entrance)) = victim else { return };
            if self.trials.concern(function) {
                return; // it ends soon, and then the next version is over the cap too
            }
            self.evict_for_longer(function, entrance);
        }
    }

    /// Evicts an entrance, which then waits twice as long as the last time.
    fn evict_for_longer(self: &Arc<Self>, function: u32, entrance: Entrance) {
        if self.evict(function, entrance) {
            self.published().wait_longer(function, entrance);
        }
    }

    /// Forgets the descriptions of versions that are long gone.
    fn describe_less(&self) {
        let mut forgotten = Vec::new();
        {
            let mut published = self.published();
            let gone = published.versions.iter().filter(|version| version.is_gone()).count();
            if gone > MOST_DESCRIBED {
                let mut surplus = gone - MOST_DESCRIBED / 2;
                published.versions.retain(|version| {
                    let forget = surplus > 0 && version.is_gone();
                    if forget {
                        surplus -= 1;
                        forgotten.push((version.function, version.number));
                    }
                    !forget
                });
            }
            let failures = published.failures.len();
            if failures > MOST_DESCRIBED {
                published.failures.drain(..failures - MOST_DESCRIBED / 2);
            }
        }
        let mut counted = self.counted.lock().unwrap_or_else(|error| error.into_inner());
        for (function, number) in forgotten {
            if let Some(Counted { intervals, .. }) = counted.get_mut(&function) {
                intervals.remove(&number);
            }
        }
    }
}

/// Where a version's code is: until it is given up.
pub(super) type Place = Mutex<Option<Box<PlacedCode>>>;
