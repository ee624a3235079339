//! The end of a burst that only counts: how often each site was passed, and each branch taken. No model runs over the words and no single event leaves a record, so such a
//! burst costs a tenth of one that judges branches, and there can be ten times as many. Together they say what a run consists of, and which values it has.

use super::exact::value_of;
use super::finish::{Ring, say_calls, say_window};
use super::sequences::Sequences;
use super::{Open, Probes, words};
use crate::code::ProbeKind;
use lwp_feedback::class::{BURST_EARLY, BURST_SITE_BRANCH, BURST_SITE_TRANSFER, SiteClass};
use lwp_feedback::ring::{ValueSampling, count_value, set_value_sampling, store_programmed};
use std::collections::{BTreeMap, BTreeSet};

/// Of the words of a burst in which all take part the first one in so many do not count. It begins at a loop's header or at a call, and the frames that are there are of ordinary code,
/// which writes nothing until they poll or return: what follows a header would be seen more often than what goes before it, and callees more often than their callers.
/// (Overlap of `hashtable` 85 % with 512 words and none left out, 93 with 2,048 and half of them.)
const LEFT_OUT: usize = 2;

/// Counts the words of a burst that is over and stores what it saw: a record for each site, and one for the rounds of each function. Returns the functions
/// that code of `module` (its hash) called and that wrote nothing, with the number of calls, or `None` where the buffer made no sense. Of an indirect call it may be another
/// module's function.
///
/// # Safety
/// The ring's LWPCB is the running thread's, from [`lwp_feedback::ring::Ring::lwpcb`].
pub(crate) unsafe fn count(probes: &Probes, open: &Open, buffer: &[u64], ring: &Ring<'_>, module: u64) -> Option<Vec<(u32, u32)>> {
    // Passed, and taken, by site.
    let mut tables: BTreeMap<u32, Vec<[u32; 2]>> = BTreeMap::new();
    // The table of the latest event is that of the next, nearly always.
    let mut current: (u32, Vec<[u32; 2]>) = (u32::MAX, Vec::new());
    // What values sites have is sampled as in other bursts.
    // SAFETY: the caller's promise.
    let sampling = if ring.values { Some(unsafe { set_value_sampling(ring.lwpcb, ValueSampling::BURST) }) } else { None };
    let mut sequences = Sequences::default();
    // Calls by callee: direct ones are known by their probes only.
    let mut calls = BTreeMap::<u32, u32>::new();
    let counts_from = if open.joint { buffer.len() - buffer.len() / LEFT_OUT } else { buffer.len() };
    let whole = words::read(probes, buffer, open.registers, |seen| {
        if seen.behind >= counts_from {
            return;
        }
        if ring.values {
            sequences.see(seen);
        }
        if current.0 != seen.base {
            let (base, counts) = std::mem::take(&mut current);
            if !counts.is_empty() {
                tables.insert(base, counts);
            }
            current = (seen.base, tables.remove(&seen.base).unwrap_or_else(|| vec![[0; 2]; seen.table.sites.len()]));
        }
        let site = &seen.site;
        if site.kind == ProbeKind::IndirectCall && seen.payload != u32::MAX && seen.table.module == module {
            *calls.entry(seen.payload).or_default() += 1;
        }
        let [passed, taken] = &mut current.1[(seen.number - seen.base) as usize];
        *passed += 1;
        *taken += u32::from(site.kind == ProbeKind::Branch && seen.payload != 0);
        if sampling.is_some()
            && let Some(imm16) = seen.value
        {
            let value = match site.kind {
                ProbeKind::Value(_) | ProbeKind::Trips(_) => seen.second,
                _ => value_of(site.kind, seen.payload),
            };
            // SAFETY: the caller's promise.
            unsafe { count_value(ring.lwpcb, site.ip, imm16.into(), site.offset, value) };
        }
    });
    if let Some(sampling) = sampling {
        // SAFETY: the caller's promise.
        unsafe { set_value_sampling(ring.lwpcb, sampling) };
    }
    if !current.1.is_empty() {
        tables.insert(current.0, current.1);
    }
    let say = |ip: u64, class: SiteClass, detail: u8, data1: u32, data2: u64| {
        // SAFETY: the caller's promise.
        unsafe { store_programmed(ring.lwpcb, ip, u32::from(class.imm16(detail)), data1, data2) };
    };
    sequences.say(say);
    let early = if open.early { BURST_EARLY } else { 0 };
    let (mut functions, mut last) = (BTreeSet::new(), None);
    for (base, counts) in tables {
        let Some((_, table)) = probes.table(base) else { continue };
        let (mut rounds, mut returns, mut rounds_ip) = (0, 0, None);
        for (site, &[passed, taken]) in table.sites.iter().zip(&counts).filter(|(_, counts)| counts[0] > 0) {
            let passed = u64::from(passed);
            let detail = match site.kind {
                ProbeKind::Branch => {
                    say(site.ip, SiteClass::BurstSite, BURST_SITE_BRANCH | early, 0, passed | u64::from(taken) << 32);
                    continue;
                }
                ProbeKind::Call(callee) => {
                    if table.module == module {
                        *calls.entry(callee).or_default() += passed as u32;
                    }
                    // SAFETY: the caller's promise.
                    unsafe { say_calls(site.ip, callee, passed as u32, early, ring) };
                    continue;
                }
                ProbeKind::Return | ProbeKind::ReturnOf => {
                    returns += passed as u32;
                    BURST_SITE_TRANSFER
                }
                ProbeKind::Switch | ProbeKind::IndirectCall => BURST_SITE_TRANSFER,
                ProbeKind::Value(_) | ProbeKind::Trips(_) => 0,
                ProbeKind::Entry | ProbeKind::EntryOf | ProbeKind::Round => {
                    rounds += passed;
                    rounds_ip = Some(site.ip);
                    continue;
                }
                ProbeKind::Select | ProbeKind::Load | ProbeKind::Begin | ProbeKind::TailCall => continue,
            };
            say(site.ip, SiteClass::BurstSite, detail | early, words::value_class(site.kind).unwrap_or(0).into(), passed);
        }
        if let Some(ip) = rounds_ip {
            say(ip, SiteClass::BurstRounds, early, returns, rounds);
            functions.insert((table.module, table.function));
            last = Some(ip);
        }
    }
    if let Some(ip) = last {
        // SAFETY: the caller's promise.
        unsafe { say_window(open, ip, ring) };
    }
    whole.then(|| calls.into_iter().filter(|&(callee, _)| !functions.contains(&(module, callee))).collect())
}
