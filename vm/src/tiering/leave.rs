//! What running code calls: polls that found their flag set, and countdowns that ran out. All on the thread that runs wasm, which never waits here
//! for the monitor or a compile.

use super::bursts::Form;
use super::retire::report_frames;
use super::thresholds::{EVEN_RECORDS, MOST_DOUBLINGS, MOST_EVENTS, strings};
use super::{FUNCTION_ENTRY, ModuleCode, edges};
use crate::code::Entrance;
use crate::engine::RecordSource;
use crate::exits;
use crate::interp::Surroundings;
use crate::layout::{ASKED, LOOP_ASKED, VmContext, head};
use crate::runtime::{self, instance, store_state};
use crate::store::poll_word;
use crate::timeline::{What, noteworthy};
use crate::trap::Outcome;
use lwp_feedback::class::SiteClass;
use lwp_feedback::ring::store_programmed;
use std::sync::atomic::Ordering;

/// Rounds of a loop's entrance under `Stress::leave_always`: the header it is entered at takes one off at once, and the next one leaves.
const STRESSED_ROUNDS: u64 = 2;

/// A poll found its flag set: the code to continue at with the switch buffer, or 0 where it polled without one and goes on. Where there is no code
/// to continue at and the function is the one its activation entered, the builtin lands there instead of returning.
///
/// # Safety
/// `context` is the running context of kind wasm; called from the poll's builtin.
pub(crate) unsafe fn poll(context: *mut VmContext, function: u32, offset: u32, version: u32) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        let stress = code.shared.config.stress;
        report_frames(context);
        code.record_poll(context, function, offset);
        // Spread over the headers and rounds of a run, and the same in every run.
        let random = (code.switches.load(Ordering::Relaxed) ^ u64::from(offset)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
        let asked = code.answer(context, function, offset, random < u64::from(stress.leave_again));
        // Asked for the deadline's sake, not only to leave.
        let interrupted = (*head(context)).poll.load(Ordering::Acquire) != 0;
        if interrupted {
            runtime::interrupted(context)?;
        }
        if offset == FUNCTION_ENTRY {
            return Ok(0);
        }
        if interrupted && (*store_state(context)).is_past_deadline() {
            // The callback wants to be asked at the next poll: code for the loop would ask at its header, before any of its rounds, and the guest would get nowhere.
            code.left_burst(context, version);
            return exits::leave_for_a_while(context);
        }
        if asked == LOOP_ASKED {
            code.seen_at(context, function, offset);
        }
        if asked == LOOP_ASKED
            && !stress.leave_to_interpreter
            && !exits::holds_callees(context)
            && let Some(form) = code.join_burst(context, function, offset)
        {
            return code.enter_form(context, function, form);
        }
        code.left_burst(context, version);
        if exits::holds_callees(context) {
            // An entrance at the callee's loop would return the callee's results.
            code.switches.fetch_add(1, Ordering::Relaxed);
            return exits::leave_for_a_while(context);
        }
        if code.trials.concern(function)
            && !stress.leave_to_interpreter
            && let Some(address) = code.loop_boundary(context, function, offset, version)
        {
            return match code.begin_burst_on_trial(context, function, offset) {
                Some(form) => code.enter_form(context, function, form),
                None => Ok(address),
            };
        }
        if asked == LOOP_ASKED
            && !stress.leave_to_interpreter
            && let Some(form) = code.begin_burst(context, function, offset)
        {
            return code.enter_form(context, function, form);
        }
        if stress.watch_all && !random.is_multiple_of(3) && code.watch_for_a_while(context, function, offset) {
            return code.enter_form(context, function, Form::Interpreted);
        }
        let count = code.switches.fetch_add(1, Ordering::Relaxed) + 1;
        if noteworthy(count) {
            code.note(function, Entrance::Loop(offset), || What::Switched { version, count });
        }
        if !stress.leave_to_interpreter {
            // A pinned tier has code for loops only where something made it leave one.
            code.compile_if_pinned(function, Entrance::Loop(offset));
        }
        if !stress.leave_to_interpreter
            && let Some(version) = code.loop_code(function, offset)
        {
            (*(*head(context)).store).rounds = STRESSED_ROUNDS;
            return Ok(version.address);
        }
        exits::go_on(context)
    }
}

/// A call of a function came by the resolver, since its instance is asked. What loops are asked is not answered here.
///
/// # Safety
/// `context` is the running context of kind wasm; called from the resolver's thunk, before it reads any code address.
pub(super) unsafe fn poll_before_call(context: *mut VmContext, function: u32) -> Outcome {
    // SAFETY: the caller's promise.
    unsafe {
        report_frames(context);
        instance(context).code.record_poll(context, function, FUNCTION_ENTRY);
        runtime::interrupted(context)
    }
}

/// The interpreter called a function whose countdown is used up.
///
/// # Safety
/// `context` is the running context of kind wasm.
pub unsafe fn hot_call(context: *mut VmContext, function: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        if code.trials.try_body(function)
            && let Some(own) = code.module.defined(function)
        {
            // The word counts the arm's calls now, which finds it used up next.
            code.counters[own].store(0, Ordering::Relaxed);
            return;
        }
        if !code.looks_on(function) && !code.begin_early(context, function, FUNCTION_ENTRY) {
            let ip = code.bytecode(function).address_range().start;
            code.hot(context, function, FUNCTION_ENTRY, ip, false);
        }
        code.go_on_early(context, function);
    }
}

/// The interpreter took a back edge of a function whose countdown is used up: code to continue the loop in, or null.
///
/// # Safety
/// As [`hot_call`].
pub unsafe fn hot_loop(context: *mut VmContext, function: u32, offset: u32) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe {
        let code = &instance(context).code;
        if code.loop_code(function, offset).is_some() {
            if let Some(burst) = &mut (*store_state(context)).burst
                && let Some(astray) = burst.astray.take_if(|astray| astray.function == function)
            {
                code.found(&astray);
            }
            code.count_anew(function);
        } else {
            if !code.looks_on(function) && !code.begin_early(context, function, offset) {
                let ip = code.bytecode(function).address_range().start;
                code.hot(context, function, offset, ip, false);
            }
            code.go_on_early(context, function);
        }
        loop_entry(context, code, function, offset)
    }
}

/// The code of a loop to enter now, or null.
///
/// # Safety
/// As [`hot_call`].
pub(super) unsafe fn loop_entry(context: *mut VmContext, code: &ModuleCode, function: u32, offset: u32) -> *const u8 {
    // SAFETY: the caller's promise.
    unsafe { (*(*head(context)).store).rounds = STRESSED_ROUNDS };
    code.loop_code(function, offset).map_or(std::ptr::null(), |code| code.address as *const u8)
}

/// Compiled code found a countdown used up. The record's address is the return address of the builtin's call.
///
/// # Safety
/// As [`hot_call`]; called from the builtin's thunk.
pub(crate) unsafe fn hot_compiled(context: *mut VmContext, function: u32, offset: u32) -> u64 {
    // SAFETY: the caller's promise; invariant 4 of `crate::entry` gives the return address.
    unsafe {
        let code = &instance(context).code;
        let ip = (((*(*head(context)).store).exit_fp + 8) as *const u64).read();
        code.hot(context, function, offset, ip, true)
    }
}

impl ModuleCode {
    /// What the poll at `offset` was asked. Takes that back, and what asked the whole function, of all its loops; with `again` all are asked once more.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn answer(&self, context: *mut VmContext, function: u32, offset: u32, again: bool) -> u32 {
        let Some(own) = self.module.defined(function) else { return 0 };
        // SAFETY: the caller's promise, and the words are the module's.
        unsafe {
            let asked = poll_word(context, self.loop_word(function, offset)).swap(0, Ordering::SeqCst);
            for word in self.module.polls(own).map(|place| poll_word(context, place)) {
                if again {
                    word.store(ASKED, Ordering::SeqCst);
                } else if asked != LOOP_ASKED {
                    let _ = word.compare_exchange(ASKED, 0, Ordering::SeqCst, Ordering::Acquire);
                }
            }
            if again {
                self.edges.poll(self.module.polls(own), |word| edges::asks(context, word));
            } else {
                self.let_pass_now(own);
            }
            asked
        }
    }

    /// Strings a function's ops together, where that was not done before: whether its next record is still to be waited for.
    fn string_together(&self, function: u32) -> bool {
        let bytecode = self.bytecode(function);
        if !strings(&self.shared.config) || bytecode.asked_for_templates() {
            return false;
        }
        let module = &self.module;
        let surroundings = Surroundings {
            targets: &self.targets,
            imported_functions: module.imported_functions,
            tables_place: module.offsets().table(0),
            // (what accesses another memory may have it stand in this one's place)
            guarded: !module.checks_accesses && !module.has_far_memories(),
        };
        if let Some(templates) = bytecode.string_together(&surroundings) {
            self.shared.observe_templates(&self.module, function, templates);
        }
        let own = self.module.defined(function).expect("only defined functions count");
        let counted = self.reloads[own].load(Ordering::Relaxed);
        let first = self.hot_interpreter(function);
        // (what has vectors cannot be compiled too soon)
        if counted >= first || bytecode.has_vectors {
            return false;
        }
        self.count_on(own, counted, first);
        true
    }

    /// Writes the LWPINS record of a function or loop that is hot in compiled code or in the interpreter, and reloads its word: with what makes it hot there, doubled for each record since its code
    /// changed. Where intervals are reported the first of compiled code are even.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn hot(&self, context: *mut VmContext, function: u32, offset: u32, ip: u64, compiled: bool) -> u64 {
        if !compiled && self.string_together(function) {
            return 0;
        }
        let config = &self.shared.config;
        let (reload, even) = match compiled {
            true => (self.hot_compiled(function), if config.measure { EVEN_RECORDS } else { 0 }),
            false => (self.hot_interpreter(function), 0),
        };
        // With these sources compiled code executes the LWPINS itself, on what this returns.
        let records = !compiled || !matches!(config.source, RecordSource::Trap | RecordSource::Native);
        let own = self.module.defined(function).expect("only defined functions count");
        let before = self.functions[own].hot_records.fetch_add(1, Ordering::Relaxed);
        // Of a threshold of 1, for tests, every event is wanted.
        let doublings = if reload <= 1 { 0 } else { before.saturating_sub(even).min(MOST_DOUBLINGS) };
        let reload = reload.max(1).saturating_mul(1 << doublings).min(MOST_EVENTS);
        // Odd: where each call passes one loop header, all even ones would end at the same of the two, and the record names one.
        let reload = if reload < 16 { reload } else { reload | 1 };
        let counted = u64::from(self.count_to(own, reload));
        if !compiled {
            self.look_for_loops(function);
        }
        if !self.shared.watched() || !records {
            return counted; // nobody drains, and nothing moves up; or the record is not ours to write
        }
        let class = if offset == FUNCTION_ENTRY { SiteClass::HotFunction } else { SiteClass::HotLoop };
        // SAFETY: the running store's LWPCB is this thread's ring, which lives as long as the thread.
        unsafe { store_programmed((*(*head(context)).store).lwpcb.cast(), ip, u32::from(class.imm16(0)), offset, counted) };
        if self.shared.config.deterministic {
            self.shared.settle_here();
        }
        counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bytecode::PointKind;
    use crate::code::Tier;
    use crate::engine::{Engine, EngineConfig};
    use crate::tiering::LoopCode;

    #[test]
    fn the_interpreter_looks_for_a_loop_with_code_at_each_event_first_and_less_often_later() {
        let config = EngineConfig { hot_interpreter: 1000, deterministic: true, ..EngineConfig::default() };
        let engine = Engine::new(config, None).unwrap();
        let loaded =
            engine.load(b"(module (func (param i32) (loop $a (loop $b (br_if $b (local.get 0))) (br_if $a (local.get 0)))))").unwrap();
        let code = &loaded.code;
        let loops: Vec<u32> =
            code.bytecode(0).points().iter().filter(|point| point.kind == PointKind::Loop).map(|point| point.offset).collect();
        // What the next record or look is of, and how many events of these are still to come.
        let words = || (code.reloads[0].load(Ordering::Relaxed), code.counters[0].load(Ordering::Relaxed) + 1);
        let (before, hot) = (words(), code.hot_interpreter(0));
        code.enter_loops_soon(0, loops.iter().copied());
        assert!(words() == before && !code.looks_on(0), "no loop has code");
        code.loops.write().unwrap().insert((0, loops[1]), LoopCode { address: 1, tier: Tier::Optimizing });
        for _ in 0..2 {
            code.enter_loops_soon(0, loops.iter().copied());
            assert_eq!(words(), (1, 1));
            let mut last = 1;
            while code.looks_on(0) {
                let (after, to_come) = words();
                assert_eq!(after, last + to_come, "of all that came");
                assert!(to_come == 1 || last > 64, "{after} behind {last}");
                last = after;
            }
            assert_eq!(last, hot);
            assert!(!code.looks_on(0), "now a record is due, of as many events as came");
        }
        // A record that is far off does not keep it from looking, and is of what came before, too.
        let far = 20_000;
        code.count_to(0, far);
        code.counters[0].store(far - 1 - 100, Ordering::Relaxed);
        code.look_for_loops(0);
        assert_eq!(words(), (101, 1));
        let (mut last, mut steps) = (101, Vec::new());
        while code.looks_on(0) {
            let (after, to_come) = words();
            assert_eq!(after, last + to_come);
            last = after;
            steps.push(to_come);
        }
        assert_eq!(last, far);
        let groups: Vec<u32> = steps[64..].iter().copied().filter(|&step| step > 1).collect();
        assert!(
            steps[..64].iter().all(|&step| step == 1) && groups.is_sorted_by(|a, b| a <= b || *b == groups[groups.len() - 1]),
            "{steps:?}"
        );
        assert!(groups[0] == 64 && groups[groups.len() - 2] == 1018, "{groups:?}");
        assert!(steps[64..].chunk_by(|_, next| *next == 1).all(|group| group.len() <= 4), "{steps:?}");
        // Once it was found, or the countdown is another's, there is no more to look for.
        code.enter_loops_soon(0, loops.iter().copied());
        code.count_anew(0);
        assert!(!code.looks_on(0));
        code.enter_loops_soon(0, loops.iter().copied());
        code.count_units(0, 1);
        assert!(!code.looks_on(0));
    }
}
