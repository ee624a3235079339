use super::*;

/// Share of mispredictions among the judged of a loop's branch with these outcomes, with the loop's own back edge between them.
fn share(outcomes: impl Iterator<Item = bool>) -> f64 {
    let mut predictor = Predictor::default();
    let (mut judged, mut wrong) = (0u32, 0u32);
    for (nth, taken) in outcomes.enumerate() {
        if nth % 4096 == 0 {
            predictor.begin(WARM_UP);
        }
        match predictor.conditional(0x1000, taken) {
            Verdict::Unknown => {}
            verdict => {
                judged += 1;
                wrong += u32::from(verdict == Verdict::Mispredicted);
            }
        }
        predictor.conditional(0x1040, true);
    }
    assert!(judged > 5_000, "{judged}");
    f64::from(wrong) / f64::from(judged)
}

fn random() -> impl FnMut() -> u64 {
    let mut x = 0x2545_F491_4F6C_DD1Du64;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x >> 11
    }
}

#[test]
fn known_patterns_have_their_known_shares() {
    let mut next = random();
    let fair = share((0..60_000).map(|_| next() & 1 != 0));
    assert!((0.45..0.55).contains(&fair), "random: {fair}");
    let mut next = random();
    let biased = share((0..60_000).map(|_| next().is_multiple_of(10)));
    assert!((0.08..0.12).contains(&biased), "90/10: {biased}");
    let alternating = share((0..60_000).map(|nth| nth % 2 == 0));
    assert!(alternating < 0.03, "alternating: {alternating}");
    let mut next = random();
    let pattern = next() << 32 ^ next();
    let period = share((0..60_000).map(|nth| pattern >> (nth % 64) & 1 != 0));
    assert!(period < 0.03, "period 64: {period}");
}

#[test]
fn a_condition_meets_what_a_branch_would_and_changes_no_branch() {
    let with = |condition: &dyn Fn(u64, u64) -> bool| {
        let (mut predictor, mut next) = (Predictor::default(), random());
        let (mut judged, mut wrong, mut branches) = (0u32, 0u32, Vec::new());
        for nth in 0..40_000 {
            if nth % 2000 == 0 {
                predictor.begin(WARM_UP);
            }
            let verdict = predictor.condition(0x1000, condition(nth, next()));
            judged += u32::from(verdict != Verdict::Unknown);
            wrong += u32::from(verdict == Verdict::Mispredicted);
            branches.push(predictor.conditional(0x1040, nth % 3 == 0));
        }
        let mispredicted = branches.iter().filter(|&&verdict| verdict == Verdict::Mispredicted).count();
        (f64::from(wrong) / f64::from(judged), mispredicted)
    };
    let pattern = 0x9E37_79B9_7F4A_7C15u64;
    for (condition, expected) in [
        (&(|nth: u64, _| nth.is_multiple_of(2)) as &dyn Fn(u64, u64) -> bool, 0.0..0.01),
        (&|nth, _| nth % 4 != 0, 0.0..0.01),
        (&|nth, _| pattern >> (nth % 64) & 1 != 0, 0.0..0.03),
        (&|nth, _| nth % 3 == 1, 0.0..0.01),
        (&|_, random| random.is_multiple_of(10), 0.08..0.12),
        (&|_, random| random & 1 != 0, 0.45..0.55),
    ] {
        let (share, branches) = with(condition);
        assert!(expected.contains(&share), "{share}, expected {expected:?}");
        assert!(branches < 40, "the branch beside it: {branches}");
    }
}

#[test]
fn the_second_of_a_correlated_pair_is_predicted() {
    let mut predictor = Predictor::default();
    let mut next = random();
    let (mut judged, mut wrong) = (0, 0);
    predictor.begin(WARM_UP);
    for _ in 0..30_000 {
        let first = next() & 1 != 0;
        predictor.conditional(0x2000, first);
        match predictor.conditional(0x2040, !first) {
            Verdict::Unknown => {}
            verdict => {
                judged += 1;
                wrong += u32::from(verdict == Verdict::Mispredicted);
            }
        }
        predictor.conditional(0x2080, true);
    }
    assert!(wrong * 20 <= judged, "{wrong} of {judged}");
}

#[test]
fn indirect_targets_follow_the_history() {
    let mut predictor = Predictor::default();
    let mut wrong = |targets: &mut dyn FnMut(usize) -> u64| {
        predictor.begin(WARM_UP);
        let verdicts = (0..20_000).map(|nth| predictor.indirect(0x3000, targets(nth))).filter(|&verdict| verdict != Verdict::Unknown);
        let verdicts: Vec<_> = verdicts.collect();
        verdicts.iter().filter(|&&verdict| verdict == Verdict::Mispredicted).count() as f64 / verdicts.len() as f64
    };
    assert!(wrong(&mut |_| 7) < 0.01);
    assert!(wrong(&mut |nth| [10, 20, 30, 20][nth % 4]) < 0.05);
    let mut next = random();
    let four = wrong(&mut |_| next() % 4);
    assert!((0.6..0.85).contains(&four), "{four}");
}

#[test]
fn returns_are_predicted_until_the_stack_overflows() {
    let mut predictor = Predictor::default();
    predictor.begin(0);
    (0..COLD_BRANCHES).for_each(|nth| _ = predictor.conditional(0x100, nth % 2 == 0));
    assert_eq!(predictor.ret(0x10), Verdict::Unknown, "nothing was called");
    (0..20).for_each(|depth| predictor.call(depth));
    assert!((0..20).rev().all(|depth| predictor.ret(depth) == Verdict::Predicted));
    (0..40).for_each(|depth| predictor.call(depth));
    let right = (0..40).rev().filter(|&depth| predictor.ret(depth) == Verdict::Predicted).count();
    assert_eq!(right, 32);
    predictor.call(0x20);
    assert_eq!(predictor.ret_if_entered(0x30), Verdict::Unknown, "entered before");
    assert_eq!(predictor.ret_if_entered(0x20), Verdict::Predicted);
    // Two frames, the inner one of which is given up for a callee.
    [0x40, 0x50].into_iter().for_each(|address| predictor.call(address));
    predictor.tail_call(0x50);
    predictor.call(0x50);
    assert_eq!([predictor.ret(0x50), predictor.ret(0x40)], [Verdict::Predicted; 2]);
}
