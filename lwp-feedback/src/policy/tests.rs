use super::*;
use crate::class::SiteClass;
use crate::profile::{
    ArmObstacle, ArmShape, BranchShape, BranchSnapshot, CallSnapshot, FunctionSnapshot, LoadSnapshot, LoopShape, NotInlinable, ParamShape,
    SelectShape, SelectSnapshot, SiteKey, SiteSnapshot, StrideCount, SwitchShape, ValueCount,
};

fn site_of(class: SiteClass, detail: u8, offset: u32, values: &[(u64, u64)]) -> SiteSnapshot {
    SiteSnapshot {
        key: SiteKey { offset, class, detail },
        total: values.iter().map(|&(_, count)| count).sum(),
        values: values.iter().map(|&(value, count)| ValueCount { value, count, error: 0 }).collect(),
    }
}

fn site(offset: u32, values: &[(u64, u64)]) -> SiteSnapshot {
    site_of(SiteClass::CallTarget, 0, offset, values)
}

fn of(function: FunctionSnapshot) -> Snapshot {
    let fact = |func, body_bytes, reason: Option<NotInlinable>| FunctionFacts {
        func,
        body_bytes,
        inlinable: reason.is_none(),
        reason,
        inlined_anyway: func == 3,
    };
    let shape = FunctionShape {
        func: 1,
        body_bytes: 90,
        params: vec![ParamShape { param: 0, loop_bounds: 8, ..ParamShape::default() }],
        loops: vec![
            LoopShape { offset: 100, end: 200, operators: 12, ..LoopShape::default() },
            LoopShape { offset: 290, end: 450, operators: 40, has_loop: true, ..LoopShape::default() },
            LoopShape { offset: 300, end: 400, operators: 12, depth: 1, ..LoopShape::default() },
        ],
        branches: vec![
            BranchShape { offset: 110, not_taken: ArmShape { operators: 7, stores: 1, ..ArmShape::default() }, ..BranchShape::default() },
            BranchShape {
                offset: 120,
                taken: ArmShape { obstacle: Some(ArmObstacle::Call), ..ArmShape::default() },
                ..BranchShape::default()
            },
            BranchShape { offset: 130, taken: ArmShape { operators: 900, ..ArmShape::default() }, ..BranchShape::default() },
            BranchShape { offset: 140, back_edge: true, ..BranchShape::default() },
        ],
        selects: vec![SelectShape { offset: 150, loop_carried: true }, SelectShape { offset: 160, loop_carried: false }],
        switches: Vec::new(),
    };
    Snapshot {
        module: 5,
        functions: vec![FunctionSnapshot { func: 1, records: 100_000, ..function }],
        facts: vec![fact(1, 90, None), fact(2, 20, None), fact(3, 30, None), fact(4, 5000, None), fact(5, 9, Some(NotInlinable::Imported))],
        shapes: vec![shape],
        ..Snapshot::default()
    }
}

fn snapshot(sites: Vec<SiteSnapshot>) -> Snapshot {
    of(FunctionSnapshot { sites, ..FunctionSnapshot::default() })
}

fn branch(offset: u32, taken: u64, not_taken: u64, mispredicted: u64) -> FunctionSnapshot {
    let predicted = taken + not_taken - mispredicted;
    let branch = BranchSnapshot { offset, taken, not_taken, predicted, mispredicted, ..BranchSnapshot::default() };
    FunctionSnapshot { branches: vec![branch], ..FunctionSnapshot::default() }
}

fn load(offset: u32, latency: &[(u64, u64)], strides: &[(i64, u64)]) -> FunctionSnapshot {
    let load = LoadSnapshot {
        offset,
        latency: latency.to_vec(),
        strides: strides.iter().map(|&(stride, count)| StrideCount { stride, count, error: 0 }).collect(),
        stride_total: strides.iter().map(|it| it.1).sum(),
        executions: latency.iter().map(|it| it.1).sum(),
        ..LoadSnapshot::default()
    };
    FunctionSnapshot { loads: vec![load], ..FunctionSnapshot::default() }
}

/// What the transformation of that name says, which must be one thing.
#[track_caller]
fn only(name: &str, function: FunctionSnapshot) -> Result<Decision, RefusalReason> {
    only_with(name, function, &Budgets::default())
}

#[track_caller]
fn only_with(name: &str, function: FunctionSnapshot, budgets: &Budgets) -> Result<Decision, RefusalReason> {
    let (plans, refusals) = plan(&of(function), budgets);
    let mut decisions: Vec<Decision> = plans.into_iter().flat_map(|plan| plan.decisions).filter(|it| it.name() == name).collect();
    let mut reasons: Vec<RefusalReason> =
        refusals.into_iter().filter(|refusal| refusal.transformation == name).map(|refusal| refusal.reason).collect();
    assert_eq!(decisions.len() + reasons.len(), 1, "{decisions:?} {reasons:?}");
    decisions.pop().map_or_else(|| Err(reasons.pop().expect("one of both")), Ok)
}

fn sites(sites: Vec<SiteSnapshot>) -> FunctionSnapshot {
    FunctionSnapshot { sites, ..FunctionSnapshot::default() }
}

fn only_reason(list: Vec<SiteSnapshot>, budgets: &Budgets) -> RefusalReason {
    only_with("inline", sites(list), budgets).expect_err("refused")
}

#[test]
fn every_file_of_the_folder_is_registered_under_its_name() {
    let names: Vec<&str> = transformations().map(|it| it.name).collect();
    for known in ["branch-to-select", "inline", "inline-direct", "layout", "prefetch", "select-to-branch", "specialize", "switch-order"] {
        assert!(names.contains(&known), "{known}");
    }
    for it in transformations() {
        assert!(!it.about.is_empty() && it.excludes.iter().all(|other| names.contains(other)), "{}", it.name);
    }
}

#[test]
fn a_dominant_callee_is_inlined_and_says_why() {
    let (plans, refusals) = plan(&snapshot(vec![site(0x40, &[(2, 950), (3, 50)])]), &Budgets::default());
    assert!(refusals.is_empty());
    assert_eq!(
        plans[0].to_string(),
        "function 1: inline at 0x40: callee 2 (95.0 %, 950 of 1000 samples, 20 bytes); together 95.0 %, needed 80.0 % of at least 64; \
         saves 1.42 ns, costs 0.25 ns (95.0 % of calls x 1.50 ns of an indirect call; 1.00 guards x 0.25 ns)"
    );
    let json = serde_json::to_string(&plans).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Plan>>(&json).unwrap(), plans);
}

#[test]
fn nearly_all_calls_to_the_targets_leave_by_a_side_exit() {
    let exits = |values: &[(u64, u64)]| match only("inline", sites(vec![site(0x40, values)])) {
        Ok(Decision::Inline(inline)) => inline.side_exit,
        other => panic!("{other:?}"),
    };
    assert!(exits(&[(2, 1000)]));
    assert!(exits(&[(2, 996), (3, 4)]));
    assert!(!exits(&[(2, 990), (3, 10)]));
    // Few samples suffice, if all are alike.
    assert!(exits(&[(2, 64)]));
    assert!(!exits(&[(2, 99), (3, 1)]));
}

#[test]
fn several_targets_are_taken_in_order() {
    let Ok(Decision::Inline(inline)) = only("inline", sites(vec![site(0x40, &[(2, 500), (3, 450), (4, 50)])])) else { panic!() };
    assert_eq!(inline.targets.iter().map(|target| target.callee).collect::<Vec<_>>(), [2, 3]);
    let spread: Vec<(u64, u64)> = (0..8).map(|value| (value, 100)).collect();
    assert!(matches!(only_reason(vec![site(1, &spread)], &Budgets::default()), RefusalReason::NoDominantTarget { .. }));
}

#[test]
fn every_refusal_of_inlining_has_its_numbers() {
    let budgets = Budgets { max_targets: 1, ..Budgets::default() };
    assert_eq!(only_reason(vec![site(1, &[(2, 63)])], &budgets), RefusalReason::TooFewSamples { samples: 63, needed: 64 });
    assert_eq!(
        only_reason(vec![site(1, &[(2, 50), (3, 50)])], &budgets),
        RefusalReason::NoDominantTarget { share: 0.5, needed: 0.8, samples: 100 }
    );
    assert_eq!(only_reason(vec![site(1, &[(4, 100)])], &budgets), RefusalReason::CalleeTooLarge { callee: 4, bytes: 5000, limit: 500 });
    let why = Some(NotInlinable::Imported);
    assert_eq!(only_reason(vec![site(1, &[(5, 100)])], &budgets), RefusalReason::CalleeNotInlinable { callee: 5, why });
    assert_eq!(only_reason(vec![site(1, &[(1 << 40, 100)])], &budgets), RefusalReason::UnknownCallee { value: 1 << 40 });
    let tight = Budgets { max_inlined_bytes: 10, max_large_growth: 0.0, ..budgets.clone() };
    assert_eq!(only_reason(vec![site(1, &[(2, 100)])], &tight), RefusalReason::BudgetExhausted { bytes: 20, left: 10 });
    let forbid = Budgets { forbid: ["inline".into()].into(), ..budgets.clone() };
    assert_eq!(only_reason(vec![site(1, &[(2, 100)])], &forbid), RefusalReason::Forbidden);
    let slow = Budgets { max_compile_ms: 0.1, ..budgets };
    assert_eq!(only_reason(vec![site(1, &[(2, 100)])], &slow), RefusalReason::CompileTime { ms: 0.12, left: 0.1 });
}

#[test]
fn the_hottest_site_gets_the_budget() {
    let budgets = Budgets { max_inlined_bytes: 25, max_large_growth: 0.0, ..Budgets::default() };
    let (plans, refusals) = plan(&snapshot(vec![site(8, &[(2, 100)]), site(16, &[(2, 1000)])]), &budgets);
    assert_eq!(plans[0].decisions[0].offset(), 16);
    assert_eq!(refusals[0].to_string(), "function 1: inline at 0x8 refused: callees need 20 bytes, 5 left in this function");
}

#[test]
fn sites_of_all_functions_compete_for_the_module() {
    let mut all = snapshot(vec![site(8, &[(2, 100)])]);
    all.functions.push(FunctionSnapshot { func: 7, records: 5000, sites: vec![site(900, &[(2, 5000)])], ..FunctionSnapshot::default() });
    let budgets = Budgets { max_module_growth: 1025, ..Budgets::default() };
    all.grown_bytes = 1000;
    let (plans, refusals) = plan(&all, &budgets);
    assert_eq!((plans.len(), plans[0].function.func), (1, 7));
    assert_eq!(refusals[0].reason, RefusalReason::ModuleGrowth { bytes: 20, left: 5 });
    // What did not run gets nothing, whatever it says.
    all.functions[1].records = 0;
    assert_eq!(plan(&all, &budgets).0[0].function.func, 1);
}

#[test]
fn an_overestimate_does_not_make_a_callee_dominant() {
    let mut noisy = site(1, &[(2, 90), (3, 10)]);
    noisy.values[0].error = 60;
    assert!(matches!(only_reason(vec![noisy], &Budgets::default()), RefusalReason::NoDominantTarget { .. }));
}

#[test]
fn a_constant_parameter_is_specialized_where_it_decides_something() {
    let param = |detail, values: &[(u64, u64)]| only("specialize", sites(vec![site_of(SiteClass::Param, detail, 90, values)]));
    let Ok(Decision::Specialize(it)) = param(0, &[(1000, 995), (3, 5)]) else { panic!() };
    assert_eq!((it.parameter, it.value, it.because.saves_ns > 1.9), (0, 1000, true), "{it:?}");
    assert_eq!(param(0, &[(1000, 900), (3, 100)]), Err(RefusalReason::NoDominantValue { share: 0.9, needed: 0.99, samples: 1000 }));
    assert_eq!(param(1, &[(7, 1000)]), Err(RefusalReason::UnlocksNothing { parameter: 1 }));
    assert_eq!(param(0, &[(7, 10)]), Err(RefusalReason::TooFewSamples { samples: 10, needed: 64 }));
}

#[test]
fn direct_calls_that_are_made_often_are_inlined_together() {
    let of_calls = |calls: &[(u32, u32, u64)]| {
        let calls = calls.iter().map(|&(offset, callee, count)| CallSnapshot { offset, callee, count }).collect();
        FunctionSnapshot { calls, ..FunctionSnapshot::default() }
    };
    let Ok(Decision::Inline(it)) = only("inline-direct", of_calls(&[(8, 2, 1000)])) else { panic!() };
    assert!(it.direct && !it.side_exit && it.targets.len() == 1 && it.targets[0].callee == 2, "{it:?}");
    // One of them is too little, and many are not.
    assert!(matches!(only("inline-direct", of_calls(&[(8, 2, 20)])), Err(RefusalReason::SavesTooLittle { .. })));
    let many: Vec<(u32, u32, u64)> = (0..10).map(|nth| (8 + nth, 2, 20)).collect();
    assert_eq!(plan(&of(of_calls(&many)), &Budgets::default()).0[0].decisions.len(), 10);
    assert_eq!(only("inline-direct", of_calls(&[(8, 2, 7)])), Err(RefusalReason::TooFewSamples { samples: 7, needed: 8 }));
    assert_eq!(only("inline-direct", of_calls(&[(8, 4, 1000)])), Err(RefusalReason::CalleeTooLarge { callee: 4, bytes: 5000, limit: 500 }));
    let why = Some(NotInlinable::Imported);
    assert_eq!(only("inline-direct", of_calls(&[(8, 5, 1000)])), Err(RefusalReason::CalleeNotInlinable { callee: 5, why }));
    assert_eq!(only("inline-direct", of_calls(&[(8, 3, 1000)])), Err(RefusalReason::InlinedAnyway { callee: 3 }));
    assert_eq!(only("inline-direct", of_calls(&[(8, 77, 1000)])), Err(RefusalReason::UnknownCallee { value: 77 }));
    // What is called most often comes first.
    let budgets = Budgets { max_inlined_bytes: 25, max_large_growth: 0.0, ..Budgets::default() };
    let (plans, refusals) = plan(&of(of_calls(&[(8, 2, 100), (16, 2, 1000)])), &budgets);
    assert_eq!((plans[0].decisions[0].offset(), &refusals[0].reason), (16, &RefusalReason::BudgetExhausted { bytes: 20, left: 5 }));
}

#[test]
fn only_mispredicted_branches_become_selects() {
    let at = |offset, taken, not_taken, mispredicted| only("branch-to-select", branch(offset, taken, not_taken, mispredicted));
    let Ok(Decision::BranchToSelect(it)) = at(110, 500, 500, 480) else { panic!() };
    assert!((it.because.share - 0.48).abs() < 1e-9 && it.because.saves_ns > it.because.costs_ns, "{it:?}");
    // As even, but predicted.
    assert_eq!(at(110, 500, 500, 3), Err(RefusalReason::WellPredicted { share: 0.003, needed: 0.02, samples: 1000 }));
    assert_eq!(at(120, 500, 500, 480), Err(RefusalReason::ArmNotConvertible { why: ArmObstacle::Call }));
    assert!(matches!(at(130, 500, 500, 480), Err(RefusalReason::DoesNotPay { .. })));
    assert_eq!(at(140, 500, 500, 480), Err(RefusalReason::BackEdge));
    assert_eq!(at(999, 500, 500, 480), Err(RefusalReason::NoBranch));
    assert_eq!(at(110, 20, 20, 20), Err(RefusalReason::TooFewSamples { samples: 40, needed: 64 }));
    // How often it runs is known from what was only counted, too: few records say that it pays, barely for certain.
    let few = branch(110, 83, 81, 70);
    let counted = BranchSnapshot { counted: [6000, 6000], ..few.branches[0] };
    let costs = Costs { operator_ns: 0.0, select_ns: 0.73, ..Costs::default() };
    let budgets = Budgets { min_gain: 1.0, costs, ..Budgets::default() };
    let decided = |branch: BranchSnapshot| {
        let (plans, refusals) = plan(&of(FunctionSnapshot { branches: vec![branch], ..FunctionSnapshot::default() }), &budgets);
        let why = refusals.iter().find(|it| it.transformation == "branch-to-select").map(|it| it.reason.clone());
        (plans.iter().flat_map(|plan| &plan.decisions).any(|it| it.name() == "branch-to-select"), why)
    };
    let (there, why) = decided(few.branches[0]);
    assert!(!there && matches!(why, Some(RefusalReason::SavesTooLittle { .. })), "{why:?}");
    assert_eq!(decided(counted), (true, None));
}

#[test]
fn what_saved_next_to_nothing_is_left_alone() {
    let few = branch(110, 1, 79, 0);
    let one = few.branches[0];
    // (80/82 - 1/2) x 0.25 ns x 80 records x 300.
    let Err(RefusalReason::SavesTooLittle { us, needed: 5.0 }) = only("layout", few) else { panic!() };
    assert!((us - 80.0 * 0.3 * 0.25 * (80.0 / 82.0 - 0.5)).abs() < 1e-9, "{us}");
    // A function's branches are laid out together: two of these are worth it, and so is what bursts only counted, sixty executions each.
    let of_branches = |branches: &[BranchSnapshot]| FunctionSnapshot { branches: branches.to_vec(), ..FunctionSnapshot::default() };
    let (plans, _) = plan(&of(of_branches(&[one, BranchSnapshot { offset: 120, ..one }])), &Budgets::default());
    assert_eq!(plans[0].decisions.iter().filter(|it| it.name() == "layout").count(), 2);
    let counted = BranchSnapshot { counted: [1, 999], ..one };
    let Ok(Decision::Layout(it)) = only("layout", of_branches(&[counted])) else { panic!() };
    assert_eq!((it.likely, it.because.samples), (false, 1080));
}

#[test]
fn a_likely_side_falls_through_unless_the_branch_goes() {
    let Ok(Decision::Layout(it)) = only("layout", branch(110, 10, 990, 2)) else { panic!() };
    assert_eq!(only("layout", branch(140, 990, 10, 2)), Err(RefusalReason::BackEdge));
    // Expected by Laplace's rule are 991 of 1002.
    assert!(!it.likely && it.because.share == 0.99 && (it.because.saves_ns - 0.25 * (991.0 / 1002.0 - 0.5)).abs() < 1e-9, "{it:?}");
    // Of eight that all go one way nine tenths are expected, which is enough; of 27 of which two do not, 26 of 29.
    assert!(matches!(only("layout", branch(110, 0, 8, 0)), Err(RefusalReason::SavesTooLittle { .. })));
    assert_eq!(only("layout", branch(110, 2, 25, 2)), Err(RefusalReason::TooFewSamples { samples: 27, needed: 31 }));
    assert_eq!(only("layout", branch(110, 500, 500, 2)), Err(RefusalReason::NotLikely { share: 0.5, needed: 0.9, samples: 1000 }));
    // Mispredicted 15 of 100 times although 9 of 10 go one way: the select saves more, and there is no branch left to lay out.
    assert_eq!(only("layout", branch(110, 900, 9100, 1500)), Err(RefusalReason::Superseded { by: "branch-to-select".into() }));
}

#[test]
fn a_predictable_select_becomes_a_branch_where_rounds_wait_for_it() {
    let of = |offset, not_taken, taken| FunctionSnapshot {
        selects: vec![SelectSnapshot { offset, taken, not_taken, ..SelectSnapshot::default() }],
        ..FunctionSnapshot::default()
    };
    let select = |offset, zero, one| only("select-to-branch", of(offset, zero, one));
    let Ok(Decision::SelectToBranch(it)) = select(150, 995, 5) else { panic!() };
    assert!(!it.likely);
    assert_eq!(select(160, 995, 5), Err(RefusalReason::NotLoopCarried));
    assert_eq!(select(150, 500, 500), Err(RefusalReason::NotLikely { share: 0.5, needed: 0.9, samples: 1000 }));
    // 8 % surprises cost more than the chain.
    assert!(select(150, 920, 80).is_ok());
    let dear = Budgets { costs: Costs { mispredict_ns: 20.0, ..Costs::default() }, ..Budgets::default() };
    assert!(matches!(only_with("select-to-branch", of(150, 920, 80), &dear), Err(RefusalReason::DoesNotPay { .. })));
    // The model knows better than the shares: these 8 % come in a pattern.
    let mut pattern = of(150, 920, 80);
    (pattern.selects[0].judged, pattern.selects[0].would_mispredict) = (1000, 2);
    assert!(only_with("select-to-branch", pattern, &dear).is_ok());
}

#[test]
fn far_misses_with_a_stride_are_fetched_ahead() {
    let Ok(Decision::Prefetch(it)) = only("prefetch", load(150, &[(52, 500), (480, 500)], &[(4096, 900), (8, 100)])) else { panic!() };
    // (480 - 52) ticks x 0.385 = 165 ns at 1.2 ns a round: 137 rounds.
    assert_eq!((it.kind, it.distance), (PrefetchKind::Strided, 128), "{it:?}");
    let near = only("prefetch", load(150, &[(52, 995), (480, 5)], &[(4096, 900)]));
    assert_eq!(near, Err(RefusalReason::RarelyMisses { share: 0.005, needed: 0.02, samples: 1000 }));
    assert_eq!(only("prefetch", load(250, &[(480, 500)], &[(4096, 900)])), Err(RefusalReason::NotInLoop));
    let random = only("prefetch", load(150, &[(480, 500)], &[(1, 10), (2, 10)]));
    assert_eq!(random, Err(RefusalReason::AddressNotPredictable { share: 0.5, needed: 0.7, pairs: 20 }));
    let mut gather = load(150, &[(480, 500)], &[(1, 10), (2, 10)]);
    gather.loads[0].indirect_from = Some(140);
    let Ok(Decision::Prefetch(it)) = only("prefetch", gather.clone()) else { panic!() };
    assert_eq!(it.kind, PrefetchKind::Indirect);
    // The same with short runs of indices and a loop around: rounds of that.
    let rows = |strides: &[(i64, u64)]| {
        let mut rows = load(350, &[(480, 500)], &[(1, 10), (2, 10)]);
        rows.loads[0].indirect_from = Some(340);
        rows.loads.push(load(340, &[(52, 10)], strides).loads.remove(0));
        let (plans, _) = plan(&of(rows), &Budgets::default());
        let found = plans.into_iter().flat_map(|plan| plan.decisions).find(|it| it.offset() == 350);
        let Some(Decision::Prefetch(it)) = found else { panic!() };
        (it.kind, it.distance)
    };
    // 137 rounds, in runs of ten.
    assert_eq!(rows(&[(4, 900), (900, 60), (-720, 40)]), (PrefetchKind::Outer, 16));
    assert_eq!(rows(&[(4, 999), (900, 1)]), (PrefetchKind::Indirect, 128));
    assert_eq!(rows(&[(4, 30)]), (PrefetchKind::Indirect, 128));
    // A chase of pointers: the next address is in what misses.
    gather.loads[0].indirect_from = Some(150);
    assert!(matches!(only("prefetch", gather), Err(RefusalReason::AddressNotPredictable { .. })));
}

/// A load that was timed a thousand times and never missed is known, with no sample of a miss; the share is of what was timed.
#[test]
fn what_hardly_ever_misses_is_said_of_all_that_was_timed() {
    let timed = |executions: u64, far: u64| {
        let mut timed = load(150, &[(480, far)], &[(4096, 900), (8, 100)]);
        timed.loads[0].executions = executions;
        only("prefetch", timed)
    };
    assert_eq!(timed(1144, 0), Err(RefusalReason::RarelyMisses { share: 0.0, needed: 0.02, samples: 1144 }));
    assert_eq!(timed(200, 0).unwrap_err().name(), "too-few-samples");
    // Often enough, and too few to know how long they take.
    assert_eq!(timed(1000, 50).unwrap_err().name(), "too-few-samples");
    let Ok(Decision::Prefetch(it)) = timed(1000, 500) else { panic!() };
    assert_eq!((it.because.samples, it.because.share), (1000, 0.5));
}

#[test]
fn misses_without_executions_are_no_share() {
    let mut sampled = load(150, &[(480, 500)], &[(4096, 900), (8, 100)]);
    (sampled.loads[0].executions, sampled.loads[0].sampled) = (0, 500);
    assert_eq!(only("prefetch", sampled), Err(RefusalReason::ExecutionsUnknown { misses: 500 }));
    let mut branch = branch(120, 0, 0, 0);
    branch.branches[0].sampled_mispredicted = 500;
    for transformation in ["branch-to-select", "layout"] {
        assert_eq!(only(transformation, branch.clone()).unwrap_err().name(), "too-few-samples");
    }
}

#[test]
fn frequent_indices_are_tested_first() {
    let switch = |values: &[(u64, u64)]| only("switch-order", sites(vec![site_of(SiteClass::SwitchIndex, 0, 170, values)]));
    let Ok(Decision::SwitchOrder(it)) = switch(&[(9, 600), (2, 300), (4, 100)]) else { panic!() };
    assert_eq!(it.first, [9, 2]);
    assert_eq!(switch(&[(1, 100), (2, 100), (3, 100), (4, 100), (5, 100), (6, 100)]).unwrap_err().name(), "no-dominant-value");
}

/// What the processor predicts is where the jump goes.
#[test]
fn indices_that_go_to_one_place_are_not_tested() {
    let switch = |targets: &[u32], values: &[(u64, u64)]| {
        let mut all = of(sites(vec![site_of(SiteClass::SwitchIndex, 0, 170, values)]));
        all.shapes[0].switches = vec![SwitchShape { offset: 170, targets: targets.to_vec() }];
        let (plans, refusals) = plan(&all, &Budgets::default());
        let decided = plans.into_iter().flat_map(|plan| plan.decisions).find_map(|it| match it {
            Decision::SwitchOrder(it) => Some(it.first),
            _ => None,
        });
        decided.ok_or_else(|| refusals.into_iter().find(|it| it.transformation == "switch-order").expect("one of both").reason)
    };
    let even = [(0, 250), (1, 250), (2, 250), (3, 250)];
    let refused = RefusalReason::SharesTarget { index: 0, share: 0.25, needed: 0.75, samples: 1000 };
    assert_eq!(switch(&[7, 7, 7, 7, 8], &even), Err(refused));
    // Past the table all go to the default's place.
    assert_eq!(switch(&[1, 2, 3], &[(0, 300), (1_000_000, 250), (2_000_000, 225), (3_000_000, 225)]), Ok(vec![0]));
    assert_eq!(switch(&[1, 2, 3, 4, 5], &[(0, 400), (1, 300), (2, 300)]), Ok(vec![0, 1, 2]));
    assert_eq!(switch(&[1, 1, 2], &[(0, 800), (1, 100), (2, 100)]), Ok(vec![0]), "most of its target's");
}

#[test]
fn a_prior_counts_until_records_say_enough() {
    let mut all = of(FunctionSnapshot { sites: vec![site(0x40, &[(2, 3)])], ..FunctionSnapshot::default() });
    all.priors = vec![FunctionPrior {
        func: 1,
        branches: vec![(0x50, true)],
        call_targets: vec![(0x40, vec![(3, 95)])],
        ..FunctionPrior::default()
    }];
    all.functions[0].records = 10;
    let (plans, _) = plan(&all, &Budgets::default());
    let [Decision::Inline(inline), Decision::Layout(layout)] = &plans[0].decisions[..] else { panic!("{plans:?}") };
    assert_eq!((inline.targets[0].callee, inline.samples, inline.side_exit), (3, 0, false));
    assert!(layout.likely && layout.offset == 0x50);
    all.functions[0].records = 1000;
    assert!(plan(&all, &Budgets::default()).0.is_empty());
}

#[test]
fn reasons_have_distinct_names() {
    let mut names = RefusalReason::NAMES.to_vec();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), RefusalReason::NAMES.len());
    assert!(RefusalReason::NAMES.contains(&RefusalReason::BackEdge.name()));
}

mod random {
    use super::*;
    use proptest::prelude::*;

    const CLASSES: [SiteClass; 3] = [SiteClass::CallTarget, SiteClass::Param, SiteClass::SwitchIndex];

    prop_compose! {
        fn any_site()(
            offset in 90u32..180,
            class in 0..CLASSES.len(),
            detail in 0u8..4,
            values in prop::collection::vec((0u64..8, 0u64..1 << 40, 0u64..1 << 41), 0..9),
            total in 0u64..1 << 42,
        ) -> SiteSnapshot {
            let values = values.into_iter().map(|(value, count, error)| ValueCount { value, count, error }).collect();
            SiteSnapshot { key: SiteKey { offset, class: CLASSES[class], detail }, total, values }
        }
    }

    prop_compose! {
        fn any_branch()(offset in 90u32..180, counts in prop::array::uniform6(any::<u64>())) -> BranchSnapshot {
            let [taken, not_taken, predicted, mispredicted, counted_taken, counted_not] = counts.map(|count| count >> (count & 63));
            let counted = [counted_taken, counted_not];
            BranchSnapshot { offset, taken, not_taken, predicted, mispredicted, counted, ..BranchSnapshot::default() }
        }
    }

    prop_compose! {
        fn any_select()(offset in 140u32..170, counts in prop::array::uniform4(any::<u64>())) -> SelectSnapshot {
            let [taken, not_taken, judged, would_mispredict] = counts.map(|count| count >> (count & 63));
            SelectSnapshot { offset, taken, not_taken, judged, would_mispredict }
        }
    }

    prop_compose! {
        fn any_load()(
            offset in 90u32..250,
            latency in prop::collection::vec((0u64..70_000, any::<u64>().prop_map(|count| count >> (count & 63))), 0..6),
            strides in prop::collection::vec((any::<i64>(), any::<u64>(), any::<u64>()), 0..4),
            stride_total in any::<u64>(),
            executions in any::<u64>(),
            indirect_from in prop::option::of(90u32..180),
        ) -> LoadSnapshot {
            let strides = strides.into_iter().map(|(stride, count, error)| StrideCount { stride, count, error }).collect();
            LoadSnapshot { offset, latency, strides, stride_total, executions, indirect_from, ..LoadSnapshot::default() }
        }
    }

    prop_compose! {
        fn any_function()(
            records in 0u64..2000,
            sites in prop::collection::vec(any_site(), 0..20),
            branches in prop::collection::vec(any_branch(), 0..10),
            loads in prop::collection::vec(any_load(), 0..10),
            selects in prop::collection::vec(any_select(), 0..10),
        ) -> FunctionSnapshot {
            FunctionSnapshot { records, sites, branches, loads, selects, ..FunctionSnapshot::default() }
        }
    }

    proptest! {
        #[test]
        fn any_snapshot_is_planned_within_the_budgets_and_twice_alike(
            functions in prop::collection::vec(any_function(), 0..4),
            max_targets in 0usize..10,
            min_share in 0.0f64..1.0,
            max_decisions in 0usize..4,
            growth in prop::array::uniform3(0u32..400),
            min_gain in -1.0f64..4.0,
            forbidden in prop::collection::btree_set(0..transformations().count(), 0..transformations().count()),
        ) {
            let mut snapshot = snapshot(Vec::new());
            snapshot.functions = functions.into_iter().enumerate().map(|(at, it)| FunctionSnapshot { func: at as u32 + 1, ..it }).collect();
            let names: Vec<&str> = transformations().map(|it| it.name).collect();
            let budgets = Budgets {
                max_targets,
                min_share,
                max_decisions,
                max_inlined_bytes: growth[0],
                max_function_growth: growth[1],
                max_module_growth: growth[2].into(),
                min_gain,
                forbid: forbidden.into_iter().map(|at| names[at].to_owned()).collect(),
                ..Budgets::default()
            };
            let (plans, refusals) = plan(&snapshot, &budgets);
            // The same again, and from a snapshot that went through JSON: byte for byte.
            let json = |snapshot: &Snapshot| serde_json::to_string(&plan(snapshot, &budgets)).unwrap();
            let through: Snapshot = serde_json::from_str(&serde_json::to_string(&snapshot).unwrap()).unwrap();
            prop_assert_eq!(json(&snapshot), json(&through));
            let text = json(&snapshot);
            prop_assert!(!text.contains("null,\"costs_ns") && !text.contains("ns\":null") && !text.contains("share\":null"), "{text}");
            let mut inlined_all = 0;
            for plan in &plans {
                let ran = snapshot.functions.iter().any(|it| it.func == plan.function.func && it.records > 0);
                prop_assert!(ran && !plan.decisions.is_empty());
                prop_assert!(plan.decisions.is_sorted_by_key(Decision::offset));
                let mut inlined = 0;
                for decision in &plan.decisions {
                    prop_assert!(!budgets.forbid.contains(decision.name()));
                    let alike = plan.decisions.iter().filter(|it| it.name() == decision.name()).count();
                    prop_assert!(alike <= max_decisions || decision.name() == "layout");
                    if let Decision::Inline(inline) = decision {
                        prop_assert!((1..=MAX_TARGETS).contains(&inline.targets.len()));
                        inlined += inline.targets.iter().map(|target| target.body_bytes).sum::<u32>();
                    }
                    if let Decision::Prefetch(it) = decision {
                        prop_assert!(it.distance.is_power_of_two() && it.distance <= 512);
                    }
                }
                prop_assert!(inlined <= growth[0] && inlined <= growth[1]);
                inlined_all += inlined;
            }
            prop_assert!(inlined_all <= growth[2]);
            // Nothing is silent: each site, branch (two transformations) and load is a decision or a refusal.
            let asked: usize =
                {
                let ran = snapshot.functions.iter().filter(|it| it.records > 0);
                ran.map(|it| it.sites.len() + 2 * it.branches.len() + it.loads.len() + it.selects.len()).sum()
            };
            // Those that somebody adds answer besides.
            const OURS: [&str; 7] = ["inline", "specialize", "branch-to-select", "select-to-branch", "prefetch", "layout", "switch-order"];
            let decided = plans.iter().flat_map(|plan| &plan.decisions).filter(|it| OURS.contains(&it.name())).count();
            let refused = refusals.iter().filter(|it| OURS.contains(&it.transformation.as_ref())).count();
            prop_assert_eq!(decided + refused, asked);
            for refusal in &refusals {
                prop_assert!(RefusalReason::NAMES.contains(&refusal.reason.name()) && !refusal.to_string().is_empty());
            }
        }
    }
}

#[test]
fn the_books_example_decides_and_refuses() {
    let mark_cold = &transformation::mark_cold::TRANSFORMATION;
    let ask = |function| plan_with(&[mark_cold], &of(function), &Budgets::default());
    let (plans, refusals) = ask(branch(110, 0, 1000, 0));
    let [Decision::Other(it)] = &*plans[0].decisions else { panic!("{plans:?} {refusals:?}") };
    assert_eq!((&*it.transformation, it.offset, it.arguments["taken"]), ("mark-cold", 110, 0));
    let (plans, refusals) = ask(branch(110, 1, 999, 0));
    assert_eq!(refusals[0].reason, RefusalReason::NotLikely { share: 0.999, needed: 1.0, samples: 1000 });
    assert!(plans.is_empty());
}

/// Whoever adds one need not edit what it excludes, whichever saves more.
#[test]
fn one_of_two_that_exclude_each_other_names_the_other() {
    fn propose(view: &View<'_>, saves_ns: f64, out: &mut Proposals) {
        for branch in &view.function.branches {
            let because = Because { samples: 1000, saves_ns, ..Because::default() };
            out.propose(Decision::Layout(LikelyDecision { offset: branch.offset, likely: true, because }), 1e6, 0);
        }
    }
    let names = Transformation { name: "names", about: "", excludes: &["silent"], consider: |view, _, out| propose(view, 2.0, out) };
    let silent = |consider| Transformation { name: "silent", about: "", excludes: &[], consider };
    for (other, superseded) in [
        (silent(|view, _, out| propose(view, 1.0, out)), ("silent", "names")),
        (silent(|view, _, out| propose(view, 3.0, out)), ("names", "silent")),
    ] {
        let (plans, refusals) = plan_with(&[&names, &other], &of(branch(110, 0, 1000, 0)), &Budgets::default());
        assert_eq!((plans[0].decisions.len(), refusals.len()), (1, 1));
        assert_eq!(&*refusals[0].transformation, superseded.0);
        assert_eq!(refusals[0].reason, RefusalReason::Superseded { by: superseded.1.into() });
    }
}
