use super::*;
use crate::codemap::Tier;

const MODULE: u64 = 0xABCD;

fn at(func: u32, offset: u32) -> Resolved {
    Resolved { function: FunctionId { module: MODULE, func }, version: 1, tier: Tier::Baseline, wasm_offset: offset }
}

fn value(class: SiteClass, data2: u64) -> Record {
    Record::new(EventId::VALUE, 0, class.imm16(0), 0, 0, data2, 0)
}

#[test]
fn each_event_lands_in_its_table() {
    let profile = Profile::default();
    for i in 0..100u64 {
        profile.apply(&at(3, 50), &value(SiteClass::CallTarget, if i % 10 == 0 { 9 } else { 8 }));
        profile.apply(&at(3, 60), &Record::new(EventId::BRANCHES, 0, if i % 4 == 0 { 0x2000 } else { 0xE000 }, 0, 0, 0, 0));
        profile.apply(&at(3, 70), &Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, 400, 0, i * 64, 0));
    }
    profile.apply(&at(3, 0), &Record::new(EventId::PROGRAMMED, 0, SiteClass::HotFunction.imm16(0), 0, 0, 1000, 0));
    let snapshot = profile.snapshot(MODULE);
    let function = &snapshot.functions[0];
    assert_eq!((function.func, function.records, function.hot), (3, 301, 1));
    assert_eq!(function.sites[1].values[0], ValueCount { value: 8, count: 90, error: 0 });
    let branch = function.branches[0];
    assert_eq!((branch.taken, branch.not_taken, branch.predicted, branch.mispredicted), (75, 25, 75, 25));
    let load = &function.loads[0];
    assert_eq!((load.count(), load.sources[3], load.strides[0].stride, load.strides[0].count), (100, 100, 64, 99));
}

#[test]
fn what_a_run_consists_of_is_no_part_of_the_profile() {
    let profile = Profile::new(ProfileLimits { decay_records: 1000, ..ProfileLimits::default() });
    (0..100).for_each(|_| profile.apply(&at(1, 5), &value(SiteClass::CallTarget, 1)));
    let before = profile.snapshot(MODULE);
    // A burst's worth and more: nothing fades.
    let site = Record::new(EventId::PROGRAMMED, 0, SiteClass::BurstSite.imm16(1), SiteClass::CallTarget.imm16(0).into(), 0, 500, 0);
    (0..5000).for_each(|_| profile.apply(&at(1, 5), &site));
    assert_eq!(profile.snapshot(MODULE), before);
}

/// A burst passed a site of that detail so often; what the count's upper half says.
fn counted_in_a_burst(profile: &Profile, detail: u8, passed: u64, upper: u64) {
    let flags = SiteClass::BurstSite.imm16(detail);
    profile.apply(&at(1, 5), &Record::new(EventId::PROGRAMMED, 0, flags, 0, 0, passed | upper << 32, 0));
}

#[test]
fn counted_calls_name_their_callee_and_fade_as_branches_do() {
    let profile = Profile::new(ProfileLimits { decay_records: 100, ..ProfileLimits::default() });
    let counted = |count, callee| counted_in_a_burst(&profile, BURST_SITE_CALL, count, callee);
    (0..50).for_each(|_| counted(10, 7));
    let calls = || profile.snapshot(MODULE).functions[0].calls.clone();
    assert!(calls().is_empty(), "event 3 was left out");
    let branch = Record::new(EventId::BRANCHES, 0, 0xE000, 0, 0, 0, 0);
    profile.apply(&at(1, 60), &branch);
    assert_eq!(calls(), [CallSnapshot { offset: 5, callee: 7, count: 500 }]);
    let saved = profile.snapshot(MODULE);
    let restored = Profile::default();
    restored.restore(&saved);
    assert_eq!(restored.snapshot(MODULE).functions[0].calls, saved.functions[0].calls);
    (0..100).for_each(|_| profile.apply(&at(1, 60), &branch));
    assert_eq!(calls()[0].count, 250);
}

#[test]
fn what_was_counted_before_the_first_compile_is_for_that_one_alone() {
    let profile = Profile::default();
    let id = at(1, 60).function;
    counted_in_a_burst(&profile, BURST_SITE_BRANCH | BURST_EARLY, 10, 9);
    counted_in_a_burst(&profile, BURST_SITE_CALL | BURST_EARLY, 12, 3);
    let seen = |snapshot: FunctionSnapshot| (snapshot.branches.len(), snapshot.calls.len());
    assert_eq!(profile.function(id).map(seen), Some((0, 0)));
    profile.expect_branches();
    assert_eq!(profile.function(id).map(seen), Some((0, 0)), "of how often it runs they say nothing");
    counted_in_a_burst(&profile, BURST_SITE_CALL, 5, 3);
    let first = profile.function_for_first_compile(id).unwrap();
    assert_eq!((first.branches[0].counted, first.calls[0].count, first.calls[0].callee), ([9, 1], 17, 3));
    let later = profile.function_for_first_compile(id).unwrap();
    assert_eq!((later.branches.len(), later.calls[0].count), (0, 5));
}

#[test]
fn what_is_counted_before_a_compile_that_may_never_come_leaves_room() {
    let profile = Profile::new(ProfileLimits { sites: 4, ..ProfileLimits::default() });
    profile.expect_branches();
    let counted = |offset, detail| {
        profile.apply(&at(1, offset), &Record::new(EventId::PROGRAMMED, 0, SiteClass::BurstSite.imm16(detail), 0, 0, 10 | 9 << 32, 0));
    };
    (0..4).for_each(|offset| counted(60 + offset, BURST_SITE_BRANCH | BURST_EARLY));
    (0..3).for_each(|offset| counted(70 + offset, BURST_SITE_BRANCH));
    assert_eq!(profile.losses().sites_over_limit, 1, "two of the first and two of the others");
    assert_eq!(profile.function_for_first_compile(at(1, 60).function).unwrap().branches.len(), 4);
}

#[test]
fn counted_branches_say_which_way_and_nothing_without_event_3() {
    let profile = Profile::new(ProfileLimits { decay_records: 100, ..ProfileLimits::default() });
    let counted = |passed, taken| counted_in_a_burst(&profile, BURST_SITE_BRANCH, passed, taken);
    (0..50).for_each(|_| counted(10, 9));
    let branches = || profile.snapshot(MODULE).functions[0].branches.clone();
    assert!(branches().is_empty(), "event 3 was left out");
    let elsewhere = Profile::default();
    counted_in_a_burst(&elsewhere, BURST_SITE_BRANCH, 10, 9);
    elsewhere.apply(&at(2, 60), &Record::new(EventId::BRANCHES, 0, 0xE000, 0, 0, 0, 0));
    assert_eq!(elsewhere.snapshot(MODULE).functions[0].branches[0].counted, [9, 1], "another function's record says that it is in");
    profile.apply(&at(1, 60), &Record::new(EventId::BRANCHES, 0, 0xE000, 0, 0, 0, 0));
    let [it, other] = branches()[..] else { panic!() };
    assert_eq!((it.taken, it.counted, it.ways(), other.ways()), (0, [450, 50], [450, 50], [1, 0]));
    assert_eq!(profile.snapshot(MODULE).functions[0].records, 1, "they make nothing fade");
    // They fade as branches do.
    (0..100).for_each(|_| profile.apply(&at(1, 60), &Record::new(EventId::BRANCHES, 0, 0xE000, 0, 0, 0, 0)));
    assert_eq!(branches()[0].counted, [225, 25]);
    // A damaged record counts no more taken than passed.
    counted(u64::from(u32::MAX), u64::from(u32::MAX));
    counted(1, 5);
    assert_eq!(branches()[0].counted, [225 + u64::from(u32::MAX) + 1, 25]);
    let restored = Profile::default();
    restored.restore(&profile.snapshot(MODULE));
    assert_eq!(restored.snapshot(MODULE).functions[0].branches, branches());
}

#[test]
fn decay_is_by_record_count_and_a_phase_change_shows() {
    let profile = Profile::new(ProfileLimits { decay_records: 1000, ..ProfileLimits::default() });
    (0..5000).for_each(|_| profile.apply(&at(1, 5), &value(SiteClass::CallTarget, 1)));
    (0..5000).for_each(|_| profile.apply(&at(1, 5), &value(SiteClass::CallTarget, 2)));
    let site = &profile.snapshot(MODULE).functions[0].sites[0];
    assert_eq!(site.values[0].value, 2);
    assert!(site.values[0].count * 10 > site.total * 9, "the old phase has faded: {site:?}");
}

#[test]
fn snapshots_survive_json_and_restore() {
    let profile = Profile::default();
    for i in 0..1000u64 {
        profile.apply(&at((i % 7) as u32, (i % 11) as u32), &value(SiteClass::Param, i % 5));
        profile.apply(&at(2, 70), &Record::new(EventId::DCACHE, 0, 1 << 13, 20 + i as u32, 0, 0, 0));
    }
    let snapshot = profile.snapshot(MODULE);
    let json = serde_json::to_string(&snapshot).unwrap();
    let back: Snapshot = serde_json::from_str(&json).unwrap();
    assert_eq!(back, snapshot);
    let second = Profile::default();
    second.restore(&back);
    assert_eq!(second.snapshot(MODULE), snapshot);
    second.forget(MODULE + 1);
    assert_eq!(second.snapshot(MODULE), snapshot);
    second.forget(MODULE);
    assert!(second.modules().is_empty());
    assert_eq!(second.sites.load(Ordering::Relaxed), 0);
}

#[test]
fn what_is_about_a_module_is_about_all_its_functions_and_no_others() {
    let profile = Profile::default();
    let of = |module: u64, func| Resolved { function: FunctionId { module, func }, ..at(func, 5) };
    for (module, func) in [(1, 7), (2, 7), (1, 3), (3, 0)] {
        profile.apply(&of(module, func), &value(SiteClass::CallTarget, 1));
    }
    let functions = |module| profile.snapshot(module).functions.iter().map(|function| function.func).collect::<Vec<_>>();
    assert_eq!((profile.modules(), functions(1)), (vec![1, 2, 3], vec![3, 7]));
    profile.forget(1);
    assert_eq!((profile.modules(), functions(1), functions(2)), (vec![2, 3], vec![], vec![7]));
    assert_eq!([profile.function_count.load(Ordering::Relaxed), profile.sites.load(Ordering::Relaxed)], [2, 2]);
    profile.apply(&of(1, 7), &value(SiteClass::CallTarget, 1));
    assert_eq!((profile.modules(), functions(1)), (vec![1, 2, 3], vec![7]));
}

#[test]
fn garbage_stays_within_the_limits() {
    let limits = ProfileLimits { functions: 10, sites_per_function: 20, sites: 100, decay_records: 1 << 40 };
    let profile = Profile::new(limits);
    let mut x = 88172645463325252u64;
    for _ in 0..50_000 {
        let mut next = || {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            x
        };
        let record = Record { words: [next(), next(), next(), next()] };
        profile.apply(&at((next() % 50) as u32, next() as u32), &record);
        let typed = Record::new(EventId([1, 3, 4, 255][(next() % 4) as usize]), 0, next() as u16 & 0xFF0F, next() as u32, 0, next(), 0);
        profile.apply(&at((next() % 50) as u32, next() as u32), &typed);
    }
    let snapshot = profile.snapshot(MODULE);
    assert!(snapshot.functions.len() <= 10);
    let sites: usize = snapshot.functions.iter().map(|f| f.sites.len() + f.branches.len() + f.loads.len()).sum();
    assert!(sites <= 100);
    let losses = profile.losses();
    assert!(losses.functions_over_limit > 0 && losses.sites_over_limit > 0 && losses.unknown_event > 0 && losses.unknown_class > 0);
}

fn of_burst(class: SiteClass, detail: u8, data1: u32, data2: u64) -> Record {
    Record::new(EventId::PROGRAMMED, 0, class.imm16(detail), data1, 0, data2, 0)
}

#[test]
fn bursts_say_what_records_cannot() {
    let profile = Profile::default();
    let instrumented = |offset| Resolved { tier: Tier::Instrumented, ..at(1, offset) };
    profile.apply(&instrumented(20), &Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, 400, 0, 64, 0));
    profile.apply(&instrumented(20), &of_burst(SiteClass::BurstLoad, 0, 12, 200));
    profile.apply(&instrumented(20), &of_burst(SiteClass::BurstStride, 0, 150, (-8i64) as u64));
    profile.apply(&instrumented(30), &Record::new(EventId::BRANCHES, 0, 0xA000, 0, 0, 0, 0));
    profile.apply(&instrumented(40), &of_burst(SiteClass::Select, SELECT_MISPREDICTED, 0, 1));
    profile.apply(&instrumented(40), &of_burst(SiteClass::Select, 0, 0, 0));
    profile.apply(&instrumented(10), &of_burst(SiteClass::BurstEnd, 0, 1000, 5000));
    let snapshot = profile.snapshot(MODULE);
    let function = &snapshot.functions[0];
    let load = &function.loads[0];
    assert_eq!((load.executions, load.indirect_from, load.provenance), (200, Some(12), Provenance::Timed));
    assert_eq!((load.miss_share(), load.dominant_stride()), (Some(1.0 / 200.0), Some((-8, 1.0))));
    assert_eq!((function.branches[0].mispredicted, function.branches[0].provenance), (1, Provenance::Modelled));
    let select = function.selects[0];
    assert_eq!((select.taken, select.not_taken, select.judged, select.would_mispredict), (1, 1, 1, 1));
    assert_eq!(function.sites.len(), 1, "verdicts are no sites of their own");
    assert_eq!(function.rounds[0].round_ns(), 5.0);
    let second = Profile::default();
    second.restore(&snapshot);
    assert_eq!(second.snapshot(MODULE), snapshot);
}

#[test]
fn branches_do_not_push_values_out() {
    let profile = Profile::new(ProfileLimits { decay_records: 100, ..ProfileLimits::default() });
    (0..50).for_each(|_| profile.apply(&at(1, 5), &value(SiteClass::CallTarget, 1)));
    (0..5000).for_each(|_| profile.apply(&at(1, 9), &Record::new(EventId::BRANCHES, 0, 0xA000, 0, 0, 0, 0)));
    assert_eq!(profile.snapshot(MODULE).functions[0].sites[0].total, 50);
}

#[test]
fn a_burst_of_another_phase_makes_what_was_before_forgotten() {
    let profile = Profile::new(ProfileLimits::default());
    // A burst of a branch of which every `nth` outcome is mispredicted.
    let burst = |nth: u64| {
        for i in 0..200u64 {
            let predicted = if i % nth == 0 { 0 } else { 1 << 14 };
            profile.apply(&at(3, 40), &Record::new(EventId::BRANCHES, 0, 1 << 13 | predicted | (i as u16 & 1) << 15, 0, 0, 0, 0));
        }
        profile.apply(&at(3, 40), &Record::new(EventId::PROGRAMMED, 0, SiteClass::BurstEnd.imm16(0), 10, 0, 100, 0));
        profile.snapshot(MODULE).functions[0].branches[0]
    };
    let id = at(3, 40).function;
    (0..10).for_each(|_| _ = burst(2));
    assert_eq!((burst(2).mispredicted, profile.shifts(id)), (1100, 0), "the same goes on");
    let after = burst(100);
    assert_eq!((after.predicted, after.mispredicted, profile.shifts(id)), (198, 2, 1), "another phase");
    let after = burst(50);
    assert_eq!((after.predicted, after.mispredicted, profile.shifts(id)), (394, 6, 1), "nearly the same again");
}

/// A record of a branch, mispredicted or not, always taken.
fn taken_branch(mispredicted: bool) -> Record {
    Record::new(EventId::BRANCHES, 0, 1 << 15 | 1 << 13 | if mispredicted { 0 } else { 1 << 14 }, 0, 0, 0, 0)
}

#[test]
fn what_is_rare_at_each_site_does_not_fade_faster() {
    let instrumented = |offset| Resolved { tier: Tier::Instrumented, ..at(1, offset) };
    // 300 loads that always miss, each with a latency of its own each time: counts of one or two a class.
    let profile = Profile::new(ProfileLimits { decay_records: 4096, ..ProfileLimits::default() });
    for round in 0..100u32 {
        for load in 0..300 {
            let latency = 400 + (round * 37 + load * 53) % 2600;
            profile.apply(&instrumented(load), &Record::new(EventId::DCACHE, 0, 3 << 13, latency, 0, 0, 0));
            profile.apply(&instrumented(load), &of_burst(SiteClass::BurstLoad, 0, 0, 1));
        }
    }
    let function = profile.snapshot(MODULE).functions.remove(0);
    let sum = |count: fn(&LoadSnapshot) -> u64| function.loads.iter().map(count).sum::<u64>() as f64;
    let share = sum(LoadSnapshot::count) / sum(|load| load.executions);
    assert!((share - 1.0).abs() < 0.01, "{share}");
    assert!((sum(|load| load.sources[3]) / sum(|load| load.executions) - 1.0).abs() < 0.01);
    // 1000 branches, one outcome in 20 mispredicted.
    let profile = Profile::new(ProfileLimits { decay_records: 4096, ..ProfileLimits::default() });
    let mut x = 88172645463325252u64;
    for i in 0..200_000u32 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        profile.apply(&instrumented(i % 1000), &taken_branch((x >> 20).is_multiple_of(20)));
    }
    let branches = profile.snapshot(MODULE).functions.remove(0).branches;
    let [mispredicted, predicted] =
        [branches.iter().map(|it| it.mispredicted).sum::<u64>(), branches.iter().map(|it| it.predicted).sum()].map(|it| it as f64);
    assert!((mispredicted / (mispredicted + predicted) - 0.05).abs() < 0.005, "{mispredicted} {predicted}");
}

#[test]
fn a_restored_profile_keeps_what_was_seen_most_and_counts_what_it_leaves_out() {
    let branch = |offset: u32, taken: u64| BranchSnapshot { offset, taken, ..BranchSnapshot::default() };
    let function = |func: u32, branches: Vec<BranchSnapshot>| FunctionSnapshot { func, branches, ..FunctionSnapshot::default() };
    let saved = |functions| Snapshot { module: MODULE, functions, ..Snapshot::default() };
    // More of one kind than a seventh of what a function may have.
    let one = saved(vec![function(1, (0..1000).map(|offset| branch(offset, 1)).collect())]);
    let profile = Profile::default();
    profile.restore(&one);
    assert_eq!((profile.snapshot(MODULE), profile.losses()), (one.clone(), ProfileLosses::default()));
    profile.restore(&one);
    assert_eq!(profile.sites.load(Ordering::Relaxed), 1000, "it replaces what was there");

    let limits = ProfileLimits { sites_per_function: 3, sites: 5, ..ProfileLimits::default() };
    let profile = Profile::new(limits);
    let low = function(1, (0..4).map(|offset| branch(offset, 10 + u64::from(offset))).collect());
    let high = function(2, (0..4).map(|offset| branch(offset, 100 + u64::from(offset))).collect());
    profile.restore(&saved(vec![low, high]));
    let offsets: Vec<Vec<u32>> =
        profile.snapshot(MODULE).functions.iter().map(|function| function.branches.iter().map(|it| it.offset).collect()).collect();
    assert_eq!(offsets, [vec![2, 3], vec![1, 2, 3]]);
    assert_eq!((profile.losses().sites_over_limit, profile.sites.load(Ordering::Relaxed)), (3, 5));
}

#[test]
fn counts_of_a_damaged_file_do_not_overflow() {
    let most = u64::MAX;
    let branch = BranchSnapshot {
        offset: 5,
        taken: most,
        not_taken: most,
        predicted: most,
        mispredicted: most,
        counted: [most; 2],
        sampled_mispredicted: most,
        ..BranchSnapshot::default()
    };
    let select = SelectSnapshot { offset: 6, taken: most, not_taken: most, judged: most, would_mispredict: most };
    let load = LoadSnapshot { offset: 7, sources: [most; 8], executions: most, sampled: most, ..LoadSnapshot::default() };
    let function = FunctionSnapshot {
        func: 1,
        records: most,
        hot: most,
        side_exits: most,
        ticks: most,
        branches: vec![branch],
        selects: vec![select],
        loads: vec![load],
        ..FunctionSnapshot::default()
    };
    let profile = Profile::new(ProfileLimits { decay_records: 4, ..ProfileLimits::default() });
    profile.restore(&Snapshot { module: MODULE, functions: vec![function], ..Snapshot::default() });
    let instrumented = |offset| Resolved { tier: Tier::Instrumented, ..at(1, offset) };
    for _ in 0..20 {
        profile.apply(&instrumented(5), &taken_branch(true));
        profile.apply(&at(1, 5), &Record::new(EventId::BRANCHES, 0, 1 << 13 | OUTCOME_UNKNOWN, 0, 0, 0, 0));
        profile.apply(&instrumented(6), &of_burst(SiteClass::Select, SELECT_MISPREDICTED, 0, 1));
        profile.apply(&at(1, 7), &Record::new(EventId::DCACHE, 0, 0, 0, 0, 0, 0));
        profile.apply(&instrumented(7), &Record::new(EventId::DCACHE, 0, 0, 100, 0, 0, 0));
        profile.apply(&at(1, 0), &value(SiteClass::HotFunction, 1));
        profile.apply(&at(1, 0), &Record::new(EventId::INSTRUCTIONS, 0, 0, 0, 0, 0, 0));
        profile.apply(&instrumented(5), &of_burst(SiteClass::BurstEnd, 0, 1, 1));
    }
    assert_eq!(profile.snapshot(MODULE).functions[0].branches.len(), 1);
}

#[test]
fn what_hardware_samples_of_misses_alone_is_kept_apart() {
    let profile = Profile::default();
    let optimized = |offset| Resolved { tier: Tier::Optimizing, ..at(1, offset) };
    let instrumented = |offset| Resolved { tier: Tier::Instrumented, ..at(1, offset) };
    for i in 0..200u64 {
        profile.apply(&optimized(5), &Record::new(EventId::BRANCHES, 0, 1 << 13 | OUTCOME_UNKNOWN, 0, 1, 0, 1));
        profile.apply(&optimized(9), &Record::new(EventId::DCACHE, 0, 0, 0, 1, 0, 1));
        profile.apply(&optimized(12), &Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, 400, 1, i * 64, 1));
    }
    let function = || profile.snapshot(MODULE).functions.remove(0);
    let branch = function().branches[0];
    assert_eq!((branch.ways(), branch.predicted, branch.mispredicted, branch.sampled_mispredicted), ([0, 0], 0, 0, 200));
    assert_eq!(branch.provenance, Provenance::Hardware);
    let [unknown, known] = &function().loads[..] else { panic!() };
    assert_eq!((unknown.count(), unknown.sampled, unknown.miss_share(), unknown.provenance), (0, 200, None, Provenance::Hardware));
    assert_eq!((known.count(), known.sampled, known.miss_share(), known.sources[3]), (200, 200, None, 200));
    let restored = Profile::default();
    restored.restore(&profile.snapshot(MODULE));
    assert_eq!(restored.snapshot(MODULE), profile.snapshot(MODULE));
    // A burst counts the executions that its own misses are of.
    profile.apply(&instrumented(12), &Record::new(EventId::DCACHE, 0, 1 << 13 | 1 << 12, 90, 1, 0, 1));
    profile.apply(&instrumented(12), &of_burst(SiteClass::BurstLoad, 0, 0, 10));
    profile.apply(&optimized(12), &Record::new(EventId::DCACHE, 0, 3 << 13 | 1 << 12, 400, 1, 0, 1));
    let timed = &function().loads[1];
    assert_eq!((timed.count(), timed.sampled, timed.miss_share(), timed.provenance), (1, 201, Some(0.1), Provenance::Timed));
}

#[test]
fn an_entry_is_what_most_of_its_records_are() {
    let profile = Profile::new(ProfileLimits { decay_records: 64, ..ProfileLimits::default() });
    let record = |tier| profile.apply(&Resolved { tier, ..at(1, 5) }, &taken_branch(false));
    let provenance = || profile.snapshot(MODULE).functions[0].branches[0].provenance;
    (0..10).for_each(|_| record(Tier::Instrumented));
    record(Tier::Optimizing);
    assert_eq!(provenance(), Provenance::Modelled);
    (0..10).for_each(|_| record(Tier::Optimizing));
    assert_eq!(provenance(), Provenance::Hardware);
    // It fades as the counts do.
    (0..100).for_each(|_| record(Tier::Instrumented));
    assert_eq!(provenance(), Provenance::Modelled);
}
