use super::*;
use crate::profile::{FunctionSnapshot, SiteKey, SiteSnapshot, ValueCount};

fn site(offset: u32, values: &[(u64, u64)]) -> SiteSnapshot {
    SiteSnapshot {
        key: SiteKey { offset, class: SiteClass::CallTarget, detail: 0 },
        total: values.iter().map(|&(_, count)| count).sum(),
        values: values.iter().map(|&(value, count)| ValueCount { value, count, error: 0 }).collect(),
    }
}

fn snapshot(sites: Vec<SiteSnapshot>) -> Snapshot {
    let fact = |func, body_bytes, reason: Option<NotInlinable>| FunctionFacts { func, body_bytes, inlinable: reason.is_none(), reason };
    Snapshot {
        module: 5,
        functions: vec![FunctionSnapshot { func: 1, sites, ..FunctionSnapshot::default() }],
        facts: vec![fact(1, 90, None), fact(2, 20, None), fact(3, 30, None), fact(4, 5000, None), fact(5, 9, Some(NotInlinable::Imported))],
    }
}

fn only_reason(sites: Vec<SiteSnapshot>, budgets: &Budgets) -> RefusalReason {
    let (plans, refusals) = plan(&snapshot(sites), budgets);
    assert!(plans.is_empty(), "{plans:?}");
    assert_eq!(refusals.len(), 1);
    refusals[0].reason.clone()
}

#[test]
fn a_dominant_callee_is_inlined_and_says_why() {
    let (plans, refusals) = plan(&snapshot(vec![site(0x40, &[(2, 950), (3, 50)])]), &Budgets::default());
    assert!(refusals.is_empty());
    assert_eq!(
        plans[0].to_string(),
        "function 1: inline at 0x40: callee 2 (95.0 %, 950 of 1000 samples, 20 bytes); together 95.0 %, needed 80.0 % of at least 64"
    );
    let json = serde_json::to_string(&plans).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Plan>>(&json).unwrap(), plans);
}

#[test]
fn several_targets_are_taken_when_the_budget_allows() {
    let budgets = Budgets { max_targets: 4, ..Budgets::default() };
    let (plans, _) = plan(&snapshot(vec![site(0x40, &[(2, 500), (3, 450), (4, 50)])]), &budgets);
    let Decision::Inline(inline) = &plans[0].decisions[0] else { panic!("{plans:?}") };
    assert_eq!(inline.targets.iter().map(|target| target.callee).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn every_refusal_has_its_numbers() {
    let budgets = Budgets::default();
    assert_eq!(only_reason(vec![site(1, &[(2, 63)])], &budgets), RefusalReason::TooFewSamples { samples: 63, needed: 64 });
    assert_eq!(
        only_reason(vec![site(1, &[(2, 50), (3, 50)])], &budgets),
        RefusalReason::NoDominantTarget { share: 0.5, needed: 0.8, samples: 100 }
    );
    assert_eq!(only_reason(vec![site(1, &[(4, 100)])], &budgets), RefusalReason::CalleeTooLarge { callee: 4, bytes: 5000, limit: 200 });
    let why = Some(NotInlinable::Imported);
    assert_eq!(only_reason(vec![site(1, &[(5, 100)])], &budgets), RefusalReason::CalleeNotInlinable { callee: 5, why });
    assert_eq!(only_reason(vec![site(1, &[(1 << 40, 100)])], &budgets), RefusalReason::UnknownCallee { value: 1 << 40 });
    let tight = Budgets { max_inlined_bytes: 10, ..budgets };
    assert_eq!(only_reason(vec![site(1, &[(2, 100)])], &tight), RefusalReason::BudgetExhausted { bytes: 20, left: 10 });
}

#[test]
fn the_hottest_site_gets_the_budget() {
    let budgets = Budgets { max_inlined_bytes: 25, ..Budgets::default() };
    let (plans, refusals) = plan(&snapshot(vec![site(8, &[(2, 100)]), site(16, &[(2, 1000)])]), &budgets);
    assert_eq!(plans[0].decisions[0].offset(), 16);
    assert_eq!(refusals[0].reason, RefusalReason::BudgetExhausted { bytes: 20, left: 5 });
    assert_eq!(refusals[0].to_string(), "function 1: call-target at 0x8 refused: callees need 20 bytes, 5 left in this function");
}

#[test]
fn an_overestimate_does_not_make_a_callee_dominant() {
    let mut noisy = site(1, &[(2, 90), (3, 10)]);
    noisy.values[0].error = 60;
    assert!(matches!(only_reason(vec![noisy], &Budgets::default()), RefusalReason::NoDominantTarget { .. }));
}

proptest::proptest! {
    #[test]
    fn any_snapshot_is_planned_within_the_budgets(
        sites in proptest::collection::vec((0u32..1000, proptest::collection::vec((0u64..8, 0u64..1 << 40, 0u64..1 << 41), 0..9), 0u64..1 << 42), 0..30),
        max_targets in 0usize..10,
        min_share in 0.0f64..1.0,
    ) {
        let sites = sites
            .into_iter()
            .map(|(offset, values, total)| SiteSnapshot {
                key: SiteKey { offset, class: SiteClass::CallTarget, detail: 0 },
                total,
                values: values.into_iter().map(|(value, count, error)| ValueCount { value, count, error }).collect(),
            })
            .collect::<Vec<_>>();
        let count = sites.len();
        let budgets = Budgets { max_targets, min_share, ..Budgets::default() };
        let (plans, refusals) = plan(&snapshot(sites), &budgets);
        let decisions: Vec<&Decision> = plans.iter().flat_map(|plan| &plan.decisions).collect();
        assert_eq!(decisions.len() + refusals.len(), count);
        let mut bytes = 0;
        for decision in decisions {
            let Decision::Inline(inline) = decision else { panic!("{decision}") };
            assert!((1..=MAX_TARGETS).contains(&inline.targets.len()));
            bytes += inline.targets.iter().map(|target| target.body_bytes).sum::<u32>();
        }
        assert!(bytes <= budgets.max_inlined_bytes);
    }
}
