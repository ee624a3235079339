//! The end of a burst: from the words in the buffer to records in the ring.

use super::{AT_ENTRY, Kind, Open, ProbeSite, ProbeTable, Probes, StoreBurst};
use crate::code::ProbeKind;
use lwp_feedback::calibrate::known_plateaus;
use lwp_feedback::class::SiteClass;
use lwp_feedback::layout::Lwpcb;
use lwp_feedback::predictor::{Verdict, WARM_UP};
use lwp_feedback::profile::{SELECT_MISPREDICTED, SELECT_PREDICTED};
use lwp_feedback::ring::{BranchEvent, MissEvent, store_branch, store_miss, store_programmed};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Timed loads at the beginning of a burst that do not count: the code itself and its stack are not in the caches yet. A guess.
const LOADS_WARM_UP: u32 = 16;
/// Strides of a load that a burst tells apart.
const STRIDES: usize = 12;
/// Strides of a load that it reports; the rest as one number.
const STRIDES_REPORTED: usize = 3;
/// One select in this many leaves a record.
const SELECT_PERIOD: u32 = 4;
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

/// Reads the buffer of a burst that is over and stores its records. Returns the rounds of its loop, or `None` where the buffer made no sense.
///
/// # Safety
/// `lwpcb` is the running thread's.
pub(crate) unsafe fn finish(
    probes: &Probes,
    state: &mut StoreBurst,
    open: &Open,
    words: &[u64],
    lwpcb: *mut Lwpcb,
    ns_per_tick: f64,
) -> Option<u64> {
    let mut known: Option<(u32, Arc<ProbeTable>)> = None;
    let mut loads: BTreeMap<u32, (ProbeSite, LoadSeen)> = BTreeMap::new();
    let mut rounds = 0u64;
    let mut round_ip = None;
    let mut timed = 0;
    state.predictor.begin(WARM_UP.min(words.len() as u32 / 4));
    let mut words = words.iter();
    let mut whole = true;
    while let Some(&word) = words.next() {
        let (number, payload) = (word as u32, (word >> 32) as u32);
        let cached = known.as_ref().and_then(|(base, table)| table.sites.get(number.wrapping_sub(*base) as usize).copied());
        let site = match cached {
            Some(site) => site,
            None => {
                let Some((base, table)) = probes.table(number) else {
                    whole = false;
                    break;
                };
                let site = table.sites[(number - base) as usize];
                known = Some((base, table));
                site
            }
        };
        let branch = |conditional: bool, taken: bool, verdict: Verdict, target: u64| {
            let predicted = match verdict {
                Verdict::Unknown => return,
                Verdict::Predicted => true,
                Verdict::Mispredicted => false,
            };
            let event = BranchEvent { address: site.ip, conditional, direct: conditional, taken, predicted: Some(predicted), target };
            // SAFETY: the caller's promise.
            unsafe { store_branch(lwpcb, &event) };
        };
        let judges = open.kind == Kind::Branches;
        match site.kind {
            ProbeKind::Branch if judges => {
                let taken = payload != 0;
                branch(true, taken, state.predictor.conditional(site.ip, taken), 0);
            }
            ProbeKind::Switch | ProbeKind::IndirectCall if judges => {
                branch(false, true, state.predictor.indirect(site.ip, payload.into()), 0);
            }
            ProbeKind::Entry => {
                if open.offset == AT_ENTRY {
                    rounds += 1;
                    round_ip = Some(site.ip);
                }
                state.predictor.call(payload.into());
            }
            ProbeKind::Return if judges => {
                // Code lies within one reservation far below 4 GiB of this site: the low half names the address.
                let low = site.ip & !u64::from(u32::MAX) | u64::from(payload);
                branch(false, true, state.predictor.ret(payload.into()), low);
            }
            ProbeKind::Select if judges => {
                let condition = payload != 0;
                let detail = match state.predictor.condition(site.ip, condition) {
                    Verdict::Unknown => 0,
                    Verdict::Predicted => SELECT_PREDICTED,
                    Verdict::Mispredicted => SELECT_MISPREDICTED,
                };
                state.selects = state.selects.wrapping_add(1);
                if detail != 0 && state.selects.is_multiple_of(SELECT_PERIOD) {
                    let class = u32::from(SiteClass::Select.imm16(detail));
                    // SAFETY: the caller's promise.
                    unsafe { store_programmed(lwpcb, site.ip, class, site.offset, condition.into()) };
                }
            }
            ProbeKind::Round => {
                if site.offset == open.offset {
                    rounds += 1;
                    round_ip = Some(site.ip);
                }
            }
            ProbeKind::Load => {
                let Some(&address) = words.next() else {
                    whole = false;
                    break;
                };
                timed += 1;
                if timed <= LOADS_WARM_UP {
                    continue;
                }
                loads.entry(number).or_insert_with(|| (site, LoadSeen::default())).1.at(address);
                if let Some(source) = known_plateaus().and_then(|plateaus| plateaus.source(payload)) {
                    let miss = MissEvent { address: site.ip, source, latency: payload, data_address: address };
                    // SAFETY: the caller's promise.
                    unsafe { store_miss(lwpcb, &miss) };
                }
            }
            ProbeKind::Branch | ProbeKind::Switch | ProbeKind::IndirectCall | ProbeKind::Return | ProbeKind::Select => {}
        }
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
    if let Some(ip) = round_ip {
        let ns = if open.kind == Kind::Branches && open.offset != AT_ENTRY { (open.ticks as f64 * ns_per_tick).max(1.0) as u64 } else { 0 };
        say(ip, SiteClass::BurstEnd, 0, u32::try_from(rounds).unwrap_or(u32::MAX), ns);
    }
    whole.then_some(rounds)
}
