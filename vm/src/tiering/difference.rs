//! How two plans of one function differ: which decisions are the same again, and which would take each other's place.

use lwp_feedback::policy::{Decision, InlineDecision, SwitchPathDecision};
use std::collections::{BTreeSet, HashSet};

/// Farthest and nearest prefetch that trials try, rounds.
const MOST_DISTANCE: u32 = 1024;
const LEAST_DISTANCE: u32 = 1;

/// What makes a decision the same again: all but the numbers that led to it. The order of what is tested is one of them: among what is about as frequent each burst has another.
pub(super) fn key(decision: &Decision) -> String {
    let at = (decision.name(), decision.offset());
    let any_order = |tested: &mut dyn Iterator<Item = u32>| tested.collect::<BTreeSet<u32>>();
    match decision {
        Decision::Inline(it) => {
            format!("{at:?} {:?} {}", any_order(&mut it.targets.iter().map(|target| target.callee)), it.side_exit)
        }
        Decision::Specialize(it) => format!("{at:?} {} {}", it.parameter, it.value),
        Decision::SelectToBranch(it) | Decision::Layout(it) => format!("{at:?} {}", it.likely),
        Decision::Prefetch(it) => format!("{at:?} {:?} {}", it.kind, it.distance),
        Decision::SwitchOrder(it) => format!("{at:?} {:?}", any_order(&mut it.first.iter().copied())),
        _ => format!("{at:?}"),
    }
}

/// Indices of all paths of a `br_table` together, those that they have in common counted once, from which on paths of an earlier plan are left out.
const MOST_PATH_INDICES: usize = 256;
/// Share of the jumps by which another plan's paths must spare more to be tried in their place.
const MORE_SPARED: f64 = 0.1;

/// Whether most of what follows on these paths is new, or they spare more than those of the earlier plan were to: each burst adds to what is known, and paths differ a little from plan to plan.
fn goes_elsewhere(before: &SwitchPathDecision, now: &SwitchPathDecision) -> bool {
    let pairs = |it: &SwitchPathDecision| -> HashSet<(u32, u32)> {
        it.paths.iter().flat_map(|path| path.windows(2)).map(|pair| (pair[0], pair[1])).collect()
    };
    let (known, wanted) = (pairs(before), pairs(now));
    let new = wanted.difference(&known).count();
    2 * new > wanted.len() || new > 0 && now.because.share > before.because.share + MORE_SPARED
}

/// The paths that a plan has at that table.
fn paths_before<'a>(base: &'a [Decision], now: &SwitchPathDecision) -> Option<&'a SwitchPathDecision> {
    base.iter().find_map(|it| match it {
        Decision::SwitchPath(before) if before.offset == now.offset => Some(before),
        _ => None,
    })
}

/// A plan's paths with those of the plan before, so that of a program that alternates both phases' are there.
fn with_paths_before(before: &SwitchPathDecision, now: &SwitchPathDecision) -> SwitchPathDecision {
    let mut both = now.clone();
    let beginnings = |path: &[u32]| -> Vec<Vec<u32>> { (1..=path.len()).map(|length| path[..length].to_vec()).collect() };
    let mut there: HashSet<Vec<u32>> = both.paths.iter().flat_map(|path| beginnings(path)).collect();
    for path in &before.paths {
        let new: Vec<_> = beginnings(path).into_iter().filter(|it| !there.contains(it)).collect();
        if !new.is_empty() && there.len() + new.len() <= MOST_PATH_INDICES {
            there.extend(new);
            both.paths.push(path.clone());
        }
    }
    both
}

/// The place a decision takes: one plan has one of each.
pub(super) fn place(decision: &Decision) -> (&'static str, u32, u32) {
    let detail = if let Decision::Specialize(it) = decision { it.parameter } else { 0 };
    (decision.name(), decision.offset(), detail)
}

/// What of `planned` is not in `base`. A prefetch at another distance is: the distance that won its trials stays. Callees with a call behind them are where they
/// stand with a side exit: a plan asks for the exit once it has samples enough, and what fails too often is taken back elsewhere.
pub(super) fn fresh(base: &[Decision], planned: &[Decision]) -> Vec<Decision> {
    let with_call = |decision: &Decision| match decision {
        Decision::Inline(it) => key(&Decision::Inline(InlineDecision { side_exit: false, ..it.clone() })),
        other => key(other),
    };
    let known: HashSet<String> = base.iter().flat_map(|decision| [key(decision), with_call(decision)]).collect();
    let prefetched: HashSet<_> = base.iter().filter(|it| matches!(it, Decision::Prefetch(_))).map(place).collect();
    let elsewhere = |decision: &Decision| match decision {
        Decision::SwitchPath(now) => paths_before(base, now).is_some_and(|before| goes_elsewhere(before, now)),
        _ => false,
    };
    let is_new = |it: &Decision| !known.contains(&key(it)) && !prefetched.contains(&place(it)) || elsewhere(it);
    planned.iter().filter(|it| is_new(it)).cloned().collect()
}

fn is_layout(decision: &Decision) -> bool {
    matches!(decision, Decision::Layout(_))
}

fn is_direct(decision: &Decision) -> bool {
    matches!(decision, Decision::Inline(it) if it.direct)
}

/// Whether it matters little by itself.
fn is_small(decision: &Decision) -> bool {
    is_layout(decision) || is_direct(decision)
}

/// Whether they are one question ([`lwp_feedback::policy::transformation::Proposals::go_together`]): they are tried together, and lose together.
pub(super) fn are_one_question(decisions: &[Decision]) -> bool {
    decisions.iter().all(is_layout) || decisions.iter().all(is_direct)
}

/// Whether each of them matters little.
pub(super) fn are_small(decisions: &[Decision]) -> bool {
    decisions.iter().all(is_small)
}

/// Share of what the small ones in `all` save that is new in `fresh`, 0 to 1: where most branches of a large function are known, another one is not worth another version of it.
pub(super) fn share_of_small(fresh: &[Decision], all: &[Decision]) -> f64 {
    let saves = |decisions: &[Decision]| -> f64 {
        let small = decisions.iter().filter(|decision| is_small(decision)).map(Decision::because);
        small.map(|because| because.saves_ns * because.samples as f64).filter(|saves| *saves > 0.0).sum()
    };
    let all = saves(all);
    // Without numbers each is as good as the rest.
    if all > 0.0 { (saves(fresh) / all).min(1.0) } else { 1.0 }
}

/// Decisions that did not win together, in parts to be tried by themselves: layouts, direct calls and the rest, or halves.
pub(super) fn parts(decisions: Vec<Decision>) -> Vec<Vec<Decision>> {
    let (layouts, rest): (Vec<_>, Vec<_>) = decisions.into_iter().partition(is_layout);
    let (direct, mut rest): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_direct);
    if layouts.is_empty() && direct.is_empty() {
        let second = rest.split_off(rest.len() / 2);
        return vec![rest, second];
    }
    [rest, direct, layouts].into_iter().filter(|part| !part.is_empty()).collect()
}

/// Whether a place that `planned` takes is free in `base`. What takes it may be another value or another callee: where nothing is tried, that alone would
/// have code made again and again.
pub(super) fn lacks(base: &[Decision], planned: &[Decision]) -> bool {
    !planned.iter().all(|decision| base.iter().any(|other| place(other) == place(decision)))
}

/// `base` with `fresh` in place of what takes the same places.
pub(super) fn merged(base: &[Decision], fresh: &[Decision]) -> Vec<Decision> {
    let taken: HashSet<_> = fresh.iter().map(place).collect();
    let with_before = |decision: &Decision| match decision {
        Decision::SwitchPath(now) => {
            paths_before(base, now).map_or_else(|| decision.clone(), |before| Decision::SwitchPath(with_paths_before(before, now)))
        }
        other => other.clone(),
    };
    let kept = base.iter().filter(|decision| !taken.contains(&place(decision))).cloned();
    let mut all: Vec<Decision> = kept.chain(fresh.iter().map(with_before)).collect();
    all.sort_by_key(Decision::offset);
    all
}

/// `base` without what takes the places of `gone`.
pub(super) fn without(base: &[Decision], gone: &[Decision]) -> Vec<Decision> {
    let gone: HashSet<_> = gone.iter().map(place).collect();
    base.iter().filter(|decision| !gone.contains(&place(decision))).cloned().collect()
}

/// The prefetches among the decisions with their distances scaled; `None` where that leaves the bounds or there is none.
pub(super) fn with_distances(decisions: &[Decision], scale: impl Fn(u32) -> u32) -> Option<Vec<Decision>> {
    let mut scaled: Vec<Decision> = Vec::new();
    for decision in decisions {
        if let Decision::Prefetch(it) = decision {
            let mut it = it.clone();
            it.distance = scale(it.distance);
            if !(LEAST_DISTANCE..=MOST_DISTANCE).contains(&it.distance) {
                return None;
            }
            scaled.push(Decision::Prefetch(it));
        }
    }
    (!scaled.is_empty()).then_some(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::policy::{
        Because, InlineTarget, LikelyDecision, PrefetchDecision, PrefetchKind, SiteDecision, SpecializeDecision, SwitchOrderDecision,
    };

    fn prefetch(offset: u32, distance: u32) -> Decision {
        Decision::Prefetch(PrefetchDecision { offset, kind: PrefetchKind::Strided, distance, because: Default::default() })
    }

    fn select(offset: u32) -> Decision {
        Decision::BranchToSelect(SiteDecision { offset, because: Default::default() })
    }

    fn specialize(value: u64) -> Decision {
        Decision::Specialize(SpecializeDecision { offset: 1, parameter: 0, value, because: Default::default() })
    }

    #[test]
    fn another_distance_is_nothing_new_and_another_value_is() {
        let base = [prefetch(5, 32), specialize(8), select(9)];
        assert!(fresh(&base, &[prefetch(5, 64), specialize(8), select(9)]).is_empty());
        assert_eq!(fresh(&base, &[specialize(12), select(11)]), [specialize(12), select(11)]);
    }

    #[test]
    fn another_order_of_tests_is_nothing_new_and_another_test_is() {
        let switch =
            |first: &[u32]| Decision::SwitchOrder(SwitchOrderDecision { offset: 3, first: first.to_vec(), because: Default::default() });
        assert!(fresh(&[switch(&[0, 1, 3])], &[switch(&[3, 0, 1])]).is_empty());
        assert_eq!(fresh(&[switch(&[0, 1, 3])], &[switch(&[0, 1, 2])]), [switch(&[0, 1, 2])]);
        let inline = |callees: &[u32]| {
            let target = |&callee| InlineTarget { callee, ..Default::default() };
            Decision::Inline(InlineDecision { offset: 3, targets: callees.iter().map(target).collect(), ..Default::default() })
        };
        assert!(fresh(&[inline(&[4, 9])], &[inline(&[9, 4])]).is_empty());
        assert_eq!(fresh(&[inline(&[4])], &[inline(&[9, 4])]), [inline(&[9, 4])]);
    }

    #[test]
    fn layouts_are_one_question() {
        let layout = |offset, samples| {
            let because = Because { samples, saves_ns: 0.1, ..Because::default() };
            Decision::Layout(LikelyDecision { offset, likely: true, because })
        };
        let all = [layout(1, 700), layout(2, 200), layout(3, 100)];
        assert!(are_one_question(&all) && !are_one_question(&[layout(1, 5), select(9)]));
        assert!((share_of_small(&all[1..], &all) - 0.3).abs() < 1e-9);
        assert_eq!(share_of_small(&[layout(4, 0)], &[layout(4, 0)]), 1.0, "a plan file has no numbers");
        assert_eq!(parts(vec![layout(1, 5), select(9), layout(2, 5)]), [vec![select(9)], vec![layout(1, 5), layout(2, 5)]]);
        assert_eq!(parts(vec![select(8), select(9)]), [vec![select(8)], vec![select(9)]]);
        let direct = |offset| Decision::Inline(InlineDecision { offset, direct: true, ..Default::default() });
        assert!(
            are_one_question(&[direct(3), direct(4)])
                && !are_one_question(&[direct(3), layout(4, 1)])
                && are_small(&[direct(3), layout(4, 1)])
        );
        assert_eq!(parts(vec![direct(3), layout(4, 1), direct(5)]), [vec![direct(3), direct(5)], vec![layout(4, 1)]]);
    }

    #[test]
    fn other_paths_are_new_and_stay_beside_those_before() {
        let paths = |paths: &[&[u32]], share| {
            let because = Because { share, ..Because::default() };
            Decision::SwitchPath(SwitchPathDecision { offset: 3, paths: paths.iter().map(|path| path.to_vec()).collect(), because })
        };
        let base = [paths(&[&[1, 2, 3], &[2, 5]], 0.5)];
        assert!(fresh(&base, &[paths(&[&[1, 2, 3, 4], &[2, 3]], 0.55)]).is_empty(), "one more pair of three");
        let better = paths(&[&[1, 2, 3, 4], &[2, 3]], 0.65);
        assert_eq!(fresh(&base, std::slice::from_ref(&better)), [better]);
        let other = paths(&[&[7, 8, 9]], 0.4);
        assert_eq!(fresh(&base, std::slice::from_ref(&other)), std::slice::from_ref(&other));
        let both = merged(&base, std::slice::from_ref(&other));
        assert_eq!(both, [paths(&[&[7, 8, 9], &[1, 2, 3], &[2, 5]], 0.4)]);
        assert!(fresh(&both, &base).is_empty(), "nothing flaps");
        let long: Vec<u32> = (0..300).collect();
        assert_eq!(merged(&[paths(&[&long], 0.9)], std::slice::from_ref(&other)), [other]);
    }

    #[test]
    fn a_side_exit_is_new_and_its_lack_is_not() {
        let inline = |side_exit| Decision::Inline(InlineDecision { offset: 7, side_exit, ..Default::default() });
        assert_eq!(fresh(&[inline(false)], &[inline(true)]), [inline(true)]);
        assert!(fresh(&[inline(true)], &[inline(false)]).is_empty());
        assert_eq!(merged(&[inline(false)], &[inline(true)]), [inline(true)]);
    }

    #[test]
    fn a_place_is_taken_once() {
        let base = [specialize(8), select(9)];
        assert_eq!(merged(&base, &[specialize(12)]), [specialize(12), select(9)]);
        assert_eq!(without(&base, &[specialize(12)]), [select(9)], "whatever the value");
        assert_eq!(with_distances(&[select(9), prefetch(5, 512)], |it| it * 2), Some(vec![prefetch(5, 1024)]));
        assert_eq!(with_distances(&[prefetch(5, 1024)], |it| it * 2), None);
    }
}
