//! The end of a burst: from the words in the buffer to records in the ring.

use super::exact::value_of;
use super::sequences::Sequences;
use super::words::Seen;
use super::{AT_ENTRY, Kind, Open, ProbeSite, Probes, StoreBurst};
use crate::code::ProbeKind;
use lwp_feedback::calibrate::known_plateaus;
use lwp_feedback::class::{BURST_SITE_CALL, SiteClass, burst_window};
use lwp_feedback::layout::Lwpcb;
use lwp_feedback::pebs::Registers;
use lwp_feedback::predictor::{Verdict, WARM_UP};
use lwp_feedback::profile::{SELECT_MISPREDICTED, SELECT_PREDICTED};
use lwp_feedback::ring::{
    BranchEvent, MissEvent, ValueSampling, count_value, set_value_sampling, store_branch, store_miss, store_miss_with_registers,
    store_programmed,
};
use std::collections::BTreeMap;

/// Timed loads at the beginning of a burst that do not count: the code itself and its stack are not in the caches yet. A guess.
const LOADS_WARM_UP: u32 = 16;
/// Strides of a load that a burst tells apart.
const STRIDES: usize = 12;
/// Strides of a load that it reports; the rest as one number.
const STRIDES_REPORTED: usize = 3;
/// Detail of a `BurstStride` record that counts all other strides.
const OTHERS: u8 = 1;

/// What a burst saw of one load.
#[derive(Default)]
struct LoadSeen {
    executions: u64,
    last: Option<u64>,
    pairs: u32,
    strides: Vec<(i64, u32)>,
}

impl LoadSeen {
    fn at(&mut self, address: u64) {
        self.executions += 1;
        if let Some(last) = self.last.replace(address) {
            let stride = address.wrapping_sub(last) as i64;
            self.pairs += 1;
            if let Some(seen) = self.strides.iter_mut().find(|seen| seen.0 == stride) {
                seen.1 += 1;
            } else if self.strides.len() < STRIDES {
                self.strides.push((stride, 1));
            }
        }
    }
}

/// Where records go, and what they need besides the words.
pub(crate) struct Ring<'a> {
    /// The running thread's.
    pub(crate) lwpcb: *mut Lwpcb,
    /// Whether values are recorded too.
    pub(crate) values: bool,
    pub(crate) ns_per_tick: f64,
    /// Whether the first poll behind each event is recorded too.
    pub(crate) polls: bool,
    /// Time stamp of the burst's end.
    pub(crate) ended: u64,
    /// Address of a function's code, by module hash and function, where that module runs here; 0 elsewhere.
    pub(crate) callee: &'a dyn Fn(u64, u32) -> u64,
}

/// Reads the buffer of a burst that is over and stores its records. Returns the functions it saw (module hash, function), or `None` where the buffer made
/// no sense.
///
/// # Safety
/// The ring's LWPCB is the running thread's, from [`lwp_feedback::ring::Ring::lwpcb`].
pub(crate) unsafe fn finish(
    probes: &Probes,
    state: &mut StoreBurst,
    open: &Open,
    words: &[u64],
    ring: &Ring<'_>,
) -> Option<Vec<(u64, u32)>> {
    let Ring { lwpcb, ns_per_tick, polls, .. } = *ring;
    let mut loads: BTreeMap<u32, (ProbeSite, LoadSeen)> = BTreeMap::new();
    // Direct calls: the site, the callee and how often.
    let mut calls: BTreeMap<u32, (ProbeSite, u32, u32)> = BTreeMap::new();
    let mut sequences = Sequences::default();
    let mut rounds = 0u64;
    // Of every function in the buffer, by its table's first probe: an address in it, its entries and rounds, and its returns.
    let mut seen_rounds: BTreeMap<u32, (u64, u64, u32, (u64, u32))> = BTreeMap::new();
    let mut round_ip = None;
    let mut timed = 0;
    let mut recorded = false;
    let judges = open.kind == Kind::Branches;
    // SAFETY: the caller's promise.
    let sampling = if judges && ring.values { Some(unsafe { set_value_sampling(lwpcb, ValueSampling::BURST) }) } else { None };
    let value = |site: &ProbeSite, imm16: u16, value: u64| {
        if sampling.is_some() {
            // SAFETY: the caller's promise.
            unsafe { count_value(lwpcb, site.ip, imm16.into(), site.offset, value) };
        }
    };
    state.predictor.begin(WARM_UP.min(words.len() as u32 / 4));
    let whole = super::words::read(probes, words, open.registers, |seen| {
        let Seen { site, payload, second, .. } = *seen;
        let branch = |conditional: bool, taken: bool, verdict: Verdict, target: u64| {
            let predicted = match verdict {
                Verdict::Unknown => return false,
                Verdict::Predicted => true,
                Verdict::Mispredicted => false,
            };
            let event = BranchEvent { address: site.ip, conditional, direct: conditional, taken, predicted: Some(predicted), target };
            // SAFETY: the caller's promise.
            unsafe { store_branch(lwpcb, &event) }
        };
        // The code polls where these probes are.
        if polls && matches!(site.kind, ProbeKind::Round | ProbeKind::Entry | ProbeKind::EntryOf) && std::mem::take(&mut recorded) {
            let offset = if site.kind == ProbeKind::Round { site.offset } else { AT_ENTRY };
            // SAFETY: the caller's promise.
            unsafe { store_programmed(lwpcb, site.ip, u32::from(SiteClass::Poll.imm16(0)), offset, 0) };
        }
        if matches!(site.kind, ProbeKind::Entry | ProbeKind::EntryOf | ProbeKind::Round) {
            seen_rounds.entry(seen.base).or_insert((site.ip, 0, 0, (seen.table.module, seen.table.function))).1 += 1;
        }
        if matches!(site.kind, ProbeKind::Return | ProbeKind::ReturnOf)
            && let Some((_, _, returns, _)) = seen_rounds.get_mut(&seen.base)
        {
            *returns += 1;
        }
        if sampling.is_some() {
            sequences.see(seen);
        }
        match site.kind {
            ProbeKind::Branch if judges => {
                let taken = payload != 0;
                recorded |= branch(true, taken, state.predictor.conditional(site.ip, taken), site.ways[usize::from(!taken)]);
            }
            ProbeKind::Switch if judges => {
                let targets = seen.table.switches.get(&(seen.number - seen.base)).map_or(&[][..], |targets| targets);
                // What is predicted is where the jump goes, whichever index leads there.
                let (place, target) = targets.get(payload as usize).or(targets.last()).copied().unwrap_or((payload, 0));
                recorded |= branch(false, true, state.predictor.indirect(site.ip, place.into()), target);
                value(&site, SiteClass::SwitchIndex.imm16(0), payload.into());
            }
            ProbeKind::IndirectCall if judges => {
                let target = if payload == u32::MAX { 0 } else { (ring.callee)(seen.table.module, payload) };
                recorded |= branch(false, true, state.predictor.indirect(site.ip, payload.into()), target);
                value(&site, SiteClass::CallTarget.imm16(0), value_of(site.kind, payload));
            }
            ProbeKind::Entry | ProbeKind::EntryOf => {
                if open.offset == AT_ENTRY && open.function == seen.table.function {
                    rounds += 1;
                    round_ip = Some(site.ip);
                }
                state.predictor.call(payload.into());
            }
            ProbeKind::TailCall => state.predictor.tail_call(payload.into()),
            ProbeKind::Return if judges => {
                // Code lies within one reservation far below 4 GiB of this site: the low half names the address.
                let low = site.ip & !u64::from(u32::MAX) | u64::from(payload);
                recorded |= branch(false, true, state.predictor.ret(payload.into()), low);
            }
            // (who it returns to is not known as an address)
            ProbeKind::ReturnOf if judges => recorded |= branch(false, true, state.predictor.ret_if_entered(payload.into()), 0),
            ProbeKind::Select if judges => {
                let condition = payload != 0;
                let detail = match state.predictor.condition(site.ip, condition) {
                    Verdict::Unknown => 0,
                    Verdict::Predicted => SELECT_PREDICTED,
                    Verdict::Mispredicted => SELECT_MISPREDICTED,
                };
                if detail != 0 && state.selects.takes() {
                    let class = u32::from(SiteClass::Select.imm16(detail));
                    // SAFETY: the caller's promise.
                    unsafe { store_programmed(lwpcb, site.ip, class, site.offset, condition.into()) };
                }
            }
            ProbeKind::Value(_) | ProbeKind::Trips(_) if judges => {
                if let Some(imm16) = seen.value {
                    value(&site, imm16, second);
                }
            }
            ProbeKind::Call(callee) => calls.entry(seen.number).or_insert((site, callee, 0)).2 += 1,
            ProbeKind::Round => {
                if site.offset == open.offset {
                    rounds += 1;
                    round_ip = Some(site.ip);
                }
            }
            ProbeKind::Load => {
                timed += 1;
                if timed <= LOADS_WARM_UP {
                    return;
                }
                loads.entry(seen.number).or_insert_with(|| (site, LoadSeen::default())).1.at(second);
                if let Some(source) = known_plateaus().and_then(|plateaus| plateaus.source(payload)) {
                    let miss = MissEvent { address: site.ip, source, latency: payload, data_address: seen.second };
                    recorded |= if open.registers {
                        // SAFETY: the caller's promise.
                        unsafe { store_miss_with_registers(lwpcb, &miss, &Registers::of_probe(&seen.registers)) }
                    } else {
                        // SAFETY: the caller's promise.
                        unsafe { store_miss(lwpcb, &miss) }
                    };
                }
            }
            ProbeKind::Branch
            | ProbeKind::Switch
            | ProbeKind::IndirectCall
            | ProbeKind::Return
            | ProbeKind::ReturnOf
            | ProbeKind::Select
            | ProbeKind::Value(_)
            | ProbeKind::Trips(_)
            | ProbeKind::Begin => {}
        }
    });
    if let Some(sampling) = sampling {
        // SAFETY: the caller's promise.
        unsafe { set_value_sampling(lwpcb, sampling) };
    }
    let say = |ip: u64, class: SiteClass, detail: u8, data1: u32, data2: u64| {
        // SAFETY: the caller's promise.
        unsafe { store_programmed(lwpcb, ip, u32::from(class.imm16(detail)), data1, data2) };
    };
    for (site, seen) in loads.values_mut() {
        say(site.ip, SiteClass::BurstLoad, 0, site.feeder, seen.executions);
        seen.strides.sort_unstable_by_key(|&(stride, count)| (std::cmp::Reverse(count), stride));
        let mut others = seen.pairs;
        for &(stride, count) in seen.strides.iter().take(STRIDES_REPORTED).filter(|seen| seen.1 > 1) {
            say(site.ip, SiteClass::BurstStride, 0, count, stride as u64);
            others -= count;
        }
        if others > 0 {
            say(site.ip, SiteClass::BurstStride, OTHERS, others, 0);
        }
    }
    sequences.say(say);
    for &(site, callee, count) in calls.values() {
        // SAFETY: the caller's promise.
        unsafe { say_calls(site.ip, callee, count, 0, ring) };
    }
    for &(ip, count, returns, _) in seen_rounds.values() {
        say(ip, SiteClass::BurstRounds, 0, returns, count);
    }
    if let Some(ip) = round_ip {
        let ns = if open.kind == Kind::Branches && open.offset != AT_ENTRY { (open.ticks as f64 * ns_per_tick).max(1.0) as u64 } else { 0 };
        // SAFETY: the caller's promise.
        unsafe { say_window(open, ip, ring) };
        say(ip, SiteClass::BurstEnd, 0, u32::try_from(rounds).unwrap_or(u32::MAX), ns);
    }
    whole.then(|| seen_rounds.into_values().map(|(_, _, _, function)| function).collect())
}

/// Stores how often a direct call was made in a burst. `early`: the bit that says so of the burst, or 0.
///
/// # Safety
/// As [`finish`].
pub(super) unsafe fn say_calls(ip: u64, callee: u32, count: u32, early: u8, ring: &Ring<'_>) {
    let imm16 = SiteClass::BurstSite.imm16(BURST_SITE_CALL | early);
    // SAFETY: the caller's promise.
    unsafe { store_programmed(ring.lwpcb, ip, imm16.into(), 0, u64::from(count) | u64::from(callee) << 32) };
}

/// Stores what part of the run a burst stands for.
///
/// # Safety
/// As [`finish`].
pub(super) unsafe fn say_window(open: &Open, ip: u64, ring: &Ring<'_>) {
    let all_ns = (ring.ended.saturating_sub(open.began) as f64 * ring.ns_per_tick) as u64;
    let kind = match open.kind {
        Kind::Branches => 0,
        Kind::Loads => burst_window::TIMED,
        Kind::Counts => burst_window::COUNTED,
    };
    let joint = if open.joint { burst_window::JOINT } else { 0 };
    let followed = if open.followed { burst_window::FOLLOWED } else { 0 };
    let window = SiteClass::BurstWindow.imm16(kind | joint | followed);
    // SAFETY: the caller's promise.
    unsafe { store_programmed(ring.lwpcb, ip, window.into(), open.waited_us, all_ns) };
}
