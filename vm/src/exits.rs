//! Side exits: how tier 2 leaves where a guard fails, and what becomes of a guard that fails too often.
//!
//! A guard has nothing behind it: its cold side writes the frame, and those of the functions it is inlined in, to the switch buffer
//! ([`SwitchHeader`]), calls [`side_exit`], and goes on by a tail call to the code that is returned. Where the function is the one its activation
//! entered, the builtin lands there and whoever entered it goes on with the frames; else an adapter runs them in the interpreter and
//! returns the outermost function's results to the compiled caller. Either way the compiled frame is gone, so exits do not pile up.
//!
//! Each exit is an LWPINS record (class `side-exit`; Data1 the guard's number, Data2 its value) and counts for its guard. A guard that fails at a rate that
//! costs something ([`MOST_IN_ROW`], [`SHORTEST_INTERVAL`]) takes its part of the decision back: that is remembered, the function's tier 2 code is
//! replaced, and no later plan gets that part, so nothing flaps.

use crate::code::{Adapter, Entrance, Guard, GuardKind};
use crate::engine::TierPolicy;
use crate::layout::{SwitchHeader, VmContext, head};
use crate::runtime::{self, instance};
use crate::signature;
use crate::tiering::ModuleCode;
use crate::timeline::{What, noteworthy};
use crate::trap::Outcome;
use lwp_feedback::class::SiteClass;
use lwp_feedback::policy::{Decision, Plan};
use lwp_feedback::ring::store_programmed;
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

/// Exits of one guard that are looked at together.
const MOST_IN_ROW: u64 = 64;
/// Exits that come more often than this, on average over [`MOST_IN_ROW`], are too many: an exit costs some 2 µs with what the interpreter does after it, so this is
/// 1 % of the time. A guess.
const SHORTEST_INTERVAL: Duration = Duration::from_micros(200);
/// Loops before an exit's point that are looked at for compiled code.
const LOOPS_LOOKED_AT: usize = 8;

/// A module's side exits.
#[derive(Default)]
pub(crate) struct Exits {
    versions: RwLock<HashMap<u32, Arc<VersionExits>>>,
    /// Parts of decisions that are not to be made again: function that is compiled, offset, part.
    withdrawn: Mutex<BTreeSet<(u32, u32, GuardKind)>>,
    total: AtomicU64,
}

/// The guards of one version.
struct VersionExits {
    /// The function that was compiled.
    function: u32,
    guards: Box<[(Guard, Count)]>,
    /// For each guard's number the one it counts with: an unrolled loop has the same guard in each of its rounds.
    counts: Box<[usize]>,
}

#[derive(Default)]
struct Count {
    exits: AtomicU64,
    /// When the row began, ns since the engine did.
    row_began: AtomicU64,
}

/// What happened at one guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardExits {
    /// The version it stands in.
    pub version: u32,
    /// The guard.
    pub guard: Guard,
    /// How often it failed.
    pub exits: u64,
}

impl Exits {
    /// Takes in a version's guards.
    pub(crate) fn add(&self, version: u32, function: u32, guards: &[Guard]) {
        if guards.is_empty() {
            return;
        }
        let mut different: Vec<(Guard, Count)> = Vec::new();
        let index = |guard: &Guard| {
            different.iter().position(|(known, _)| known == guard).unwrap_or_else(|| {
                different.push((*guard, Count::default()));
                different.len() - 1
            })
        };
        let counts = guards.iter().map(index).collect();
        let exits = Arc::new(VersionExits { function, guards: different.into(), counts });
        self.versions.write().unwrap_or_else(|error| error.into_inner()).insert(version, exits);
    }

    /// A version's code was given up: it fails no guard any more.
    pub(crate) fn forget(&self, version: u32) {
        self.versions.write().unwrap_or_else(|error| error.into_inner()).remove(&version);
    }

    /// A plan without the parts that were taken back; `None` where nothing is left.
    pub(crate) fn amend(&self, plan: Arc<Plan>) -> Option<Arc<Plan>> {
        let withdrawn = self.withdrawn.lock().unwrap_or_else(|error| error.into_inner());
        let function = plan.function.func;
        if withdrawn.range((function, 0, GuardKind::HoistedCallee)..=(function, u32::MAX, GuardKind::Forced)).next().is_none() {
            return Some(plan);
        }
        let without = |offset, kind| withdrawn.contains(&(function, offset, kind));
        let mut plan = (*plan).clone();
        plan.decisions.retain_mut(|decision| match decision {
            Decision::Inline(inline) => {
                inline.side_exit &= !without(inline.offset, GuardKind::Callee);
                inline.in_place |= without(inline.offset, GuardKind::HoistedCallee);
                true
            }
            Decision::Specialize(it) => !without(it.offset, GuardKind::Parameter),
            _ => true,
        });
        (!plan.decisions.is_empty()).then(|| Arc::new(plan))
    }

    /// The function a version is of, where it has guards.
    fn function_of(&self, version: u32) -> Option<u32> {
        self.versions.read().unwrap_or_else(|error| error.into_inner()).get(&version).map(|of| of.function)
    }

    /// How often code was left at a guard.
    pub(crate) fn total(&self) -> u64 {
        self.total.load(Ordering::Relaxed)
    }

    /// Guards that failed, by version.
    pub(crate) fn all(&self) -> Vec<GuardExits> {
        let versions = self.versions.read().unwrap_or_else(|error| error.into_inner());
        let mut all: Vec<GuardExits> = (versions.iter())
            .flat_map(|(&version, of)| {
                of.guards.iter().map(move |&(guard, ref count)| GuardExits { version, guard, exits: count.exits.load(Ordering::Relaxed) })
            })
            .filter(|guard| guard.exits > 0)
            .collect();
        all.sort_by_key(|exits| (exits.version, exits.guard.offset, exits.guard.kind));
        all
    }

    /// Parts of decisions that were taken back: function that is compiled, offset, part.
    pub(crate) fn withdrawn(&self) -> Vec<(u32, u32, GuardKind)> {
        self.withdrawn.lock().unwrap_or_else(|error| error.into_inner()).iter().copied().collect()
    }

    /// Counts an exit; the function whose code is to be replaced, if the guard fails too often.
    fn count(&self, version: u32, number: u32, now: Duration, by_count: bool) -> Option<u32> {
        self.total.fetch_add(1, Ordering::Relaxed);
        let of = self.versions.read().unwrap_or_else(|error| error.into_inner()).get(&version)?.clone();
        let (guard, count) = &of.guards[*of.counts.get(number as usize)?];
        let before = count.exits.fetch_add(1, Ordering::Relaxed);
        if guard.kind == GuardKind::Forced {
            return None;
        }
        let now = now.as_nanos() as u64;
        if before % MOST_IN_ROW == 0 {
            count.row_began.store(now, Ordering::Relaxed);
        }
        if before % MOST_IN_ROW != MOST_IN_ROW - 1 {
            return None;
        }
        let row = now.saturating_sub(count.row_began.load(Ordering::Relaxed));
        if !by_count && row > MOST_IN_ROW * SHORTEST_INTERVAL.as_nanos() as u64 {
            return None;
        }
        let part = (of.function, guard.offset, guard.kind);
        // An older version's guard may go on failing after its part was taken back.
        self.withdrawn.lock().unwrap_or_else(|error| error.into_inner()).insert(part).then_some(of.function)
    }
}

impl ModuleCode {
    /// How often code was left because a guard failed.
    pub fn side_exits(&self) -> u64 {
        self.exits.total()
    }

    /// Guards that failed, by version.
    pub fn guard_exits(&self) -> Vec<GuardExits> {
        self.exits.all()
    }

    /// Parts of decisions that were taken back because their guard failed too often: function that is compiled, offset, part.
    pub fn withdrawn(&self) -> Vec<(u32, u32, GuardKind)> {
        self.exits.withdrawn()
    }
}

/// What `Builtin::SideExit` does: the code to go on at.
///
/// # Safety
/// `context` is the running context of kind wasm; called from the builtin's thunk, with the frames in the switch buffer.
pub(crate) unsafe fn side_exit(context: *mut VmContext, number: u32, version: u32, value: u64) -> Outcome<usize> {
    // SAFETY: the caller's promise; invariant 4 of `crate::entry` gives the return address.
    unsafe {
        let code = &instance(context).code;
        let shared = code.shared();
        if shared.watched() {
            let ip = (((*(*head(context)).store).exit_fp + 8) as *const u64).read();
            store_programmed((*(*head(context)).store).lwpcb.cast(), ip, u32::from(SiteClass::SideExit.imm16(0)), number, value);
        }
        let config = &shared.config;
        let before = code.exits.total();
        if noteworthy(before + 1)
            && let Some(function) = code.exits.function_of(version)
        {
            code.note(function, Entrance::Body, || What::SideExit { version, guard: number, count: before + 1 });
        }
        if let Some(function) = code.exits.count(version, number, shared.started.elapsed(), config.deterministic)
            && config.stress.fail_guards == 0
        {
            tracing::debug!(function, version, number, "a guard fails too often");
            // Of a candidate that is on trial nothing else has the guard.
            if !code.candidate_fails(version) {
                code.replace_optimized(function);
            }
            if config.deterministic || config.tier != TierPolicy::Auto {
                shared.queue.run_here();
            }
        }
        leave_for_a_while(context)
    }
}

/// As [`go_on`], where nothing says that compiled code does not do: the interpreter goes back to it at the next loop header of the outermost frame.
///
/// # Safety
/// As [`side_exit`].
pub(crate) unsafe fn leave_for_a_while(context: *mut VmContext) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        enter_loops_soon(context, &instance(context).code);
        go_on(context)
    }
}

/// Lets the interpreter go back to compiled code at the next loop header of the outermost frame.
///
/// # Safety
/// As [`side_exit`].
unsafe fn enter_loops_soon(context: *mut VmContext, code: &ModuleCode) {
    // SAFETY: the caller's promise: the outermost frame's head stands first.
    let SwitchHeader { function, offset, .. } = unsafe { (*(*head(context)).store).switch_buffer.cast::<SwitchHeader>().read() };
    let points = code.bytecode(function).points();
    let here = points.partition_point(|point| point.offset <= offset);
    let loops = points[..here].iter().rev().filter(|point| point.kind == crate::bytecode::PointKind::Loop).map(|point| point.offset);
    code.enter_loops_soon(function, loops.take(LOOPS_LOOKED_AT));
}

/// Whether the switch buffer holds frames of inlined callees.
///
/// # Safety
/// As [`side_exit`].
pub(crate) unsafe fn holds_callees(context: *mut VmContext) -> bool {
    // SAFETY: the caller's promise.
    unsafe { (*(*(*head(context)).store).switch_buffer.cast::<SwitchHeader>()).callees != 0 }
}

/// Where to go on with the frames in the switch buffer in the interpreter: the code to jump to, or nothing where the builtin lands.
///
/// # Safety
/// As [`side_exit`].
pub(crate) unsafe fn go_on(context: *mut VmContext) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        if runtime::leaves_its_activation(context) {
            runtime::leave_activation(context);
            return Ok(0);
        }
        let code = &instance(context).code;
        let outermost = (*(*(*head(context)).store).switch_buffer.cast::<SwitchHeader>()).function;
        let results = code.module().function_type(outermost).results().to_vec();
        let ty = wasmparser::FuncType::new([wasmparser::ValType::I64], results);
        code.shared().adapter(Adapter::Resume, signature::id(&ty)).map_err(|error| runtime::internal(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rounds_of_an_unrolled_loop_count_their_guard_together() {
        let guard = |offset| Guard { function: 3, offset, kind: GuardKind::Callee };
        let exits = Exits::default();
        exits.add(7, 3, &[guard(10), guard(20), guard(10), guard(10), guard(10)]);
        let taken_back: Vec<Option<u32>> = (0..MOST_IN_ROW as u32)
            .map(|exit| exits.count(7, [0, 2, 3, 4][exit as usize % 4], Duration::from_micros(exit.into()), false))
            .collect();
        assert_eq!(taken_back.iter().flatten().collect::<Vec<_>>(), [&3]);
        assert_eq!(exits.withdrawn(), [(3, 10, GuardKind::Callee)]);
        assert_eq!(exits.all(), [GuardExits { version: 7, guard: guard(10), exits: MOST_IN_ROW }]);
        assert_eq!(exits.count(7, 5, Duration::ZERO, false), None, "no such guard");
    }
}
