//! Switch path: indices of a `br_table` that often follow each other, in a loop, have their ways one behind the other, without the table between them.
//!
//! ```text
//! saves = share of the jumps through the table that are spared · cost of one
//! costs = (tests of what follows + 4 · times that none held), per execution · cost of a test
//! ```
//! The paths make a tree. Walking it with the sequences that were seen says where they leave it; each place where more than a hundredth of all executions does so grows by what came
//! there, until none is left, or the room is used up.

use std::collections::BTreeMap;

use super::{Transformation, View, enough, pays};
use crate::policy::{Because, Budgets, Decision, RefusalReason, SwitchPathDecision};
use crate::profile::SequencesSnapshot;

/// See the file.
pub const TRANSFORMATION: Transformation = Transformation {
    name: "switch-path",
    about: "have ways of a br_table that follow each other do so without it",
    excludes: &["switch-order"],
    consider,
};

/// Bytes of a way, at least and at most: ways that run often are short for their function, and what is far from them is not copied. A guess.
const WAY_BYTES: (u32, u32) = (16, 100);
/// Tests that leaving a path costs as much as: the operators before the `br_table` and the loop's poll once more. A guess.
const TESTS_OF_A_MISS: f64 = 4.0;

fn consider(view: &View<'_>, budgets: &Budgets, out: &mut super::Proposals) {
    let body_bytes = view.shape.map_or(0, |shape| shape.body_bytes);
    let room = budgets.max_function_growth.max((f64::from(body_bytes) * budgets.max_large_growth) as u32);
    for site in &view.function.sequences {
        let highest = site.sequences.iter().flat_map(|it| it.indices).max().unwrap_or(0);
        let way_bytes = (body_bytes / (u32::from(highest) + 1)).clamp(WAY_BYTES.0, WAY_BYTES.1);
        let nodes = budgets.max_path_indices.min((room / way_bytes) as usize);
        match decide(site, nodes, budgets) {
            Ok((decision, copies)) => {
                let executions = budgets.costs.executions_of_bursts(site.executions());
                out.propose(Decision::SwitchPath(decision), executions, copies as u32 * way_bytes);
            }
            Err(reason) => out.refuse(site.offset, reason),
        }
    }
}

fn decide(site: &SequencesSnapshot, most: usize, budgets: &Budgets) -> Result<(SwitchPathDecision, usize), RefusalReason> {
    enough(site.total, budgets.min_sequences)?;
    let mut tree = Tree::default();
    tree.grow(site, most, budgets.min_path_share);
    let walk = tree.walk(site);
    enough(walk.executions, budgets.min_sequences)?;
    let (all, costs) = (walk.executions as f64, &budgets.costs);
    let share = 1.0 - walk.jumps as f64 / all;
    if share < budgets.min_spared_share {
        return Err(RefusalReason::NoDominantValue { share, needed: budgets.min_spared_share, samples: walk.executions });
    }
    let tests = (walk.tests as f64 + TESTS_OF_A_MISS * walk.misses as f64) / all;
    let (saves_ns, costs_ns) = (share * costs.switch_ns, tests * costs.test_ns);
    // What begins no path is not copied.
    let copies = tree.nodes.len() - tree.roots.values().filter(|&&root| tree.nodes[root].follow.is_empty()).count();
    let formula = format!(
        "{:.1} % of the jumps x {:.2} ns of the table; {tests:.2} tests x {:.2} ns; {copies} copies",
        share * 100.0,
        costs.switch_ns,
        costs.test_ns
    );
    pays(saves_ns, costs_ns, &formula, budgets)?;
    let because = Because { samples: walk.executions, share, needed: budgets.min_spared_share, saves_ns, costs_ns, formula };
    Ok((SwitchPathDecision { offset: site.offset, paths: tree.paths(&walk), because }, copies))
}

#[derive(Debug)]
struct Node {
    index: u8,
    /// Nodes of what may follow.
    follow: Vec<usize>,
}

/// Paths, by their first index.
#[derive(Debug, Default)]
struct Tree {
    nodes: Vec<Node>,
    roots: BTreeMap<u8, usize>,
}

/// What a walk over the sequences saw.
#[derive(Debug, Default)]
struct Walk {
    executions: u64,
    /// Jumps through the table.
    jumps: u64,
    /// Tests of what follows.
    tests: u64,
    /// Times that nothing tested did.
    misses: u64,
    /// Visits, by node.
    visits: Vec<u64>,
    /// What came where it leaves the tree, by node and index.
    left: BTreeMap<(usize, u8), u64>,
}

impl Tree {
    fn root(&mut self, index: u8) -> usize {
        let next = self.nodes.len();
        let root = *self.roots.entry(index).or_insert(next);
        if root == next {
            self.nodes.push(Node { index, follow: Vec::new() });
        }
        root
    }

    /// Adds what comes often, to at most so many indices that follow another.
    fn grow(&mut self, site: &SequencesSnapshot, most: usize, share: f64) {
        for index in site.sequences.iter().flat_map(|it| it.indices) {
            self.root(index);
        }
        let mut room = most;
        loop {
            let walk = self.walk(site);
            let least = (walk.executions as f64 * share).max(1.0) as u64;
            let mut often: Vec<_> = walk.left.into_iter().filter(|&(_, count)| count >= least).collect();
            often.sort_unstable_by_key(|&(place, count)| (std::cmp::Reverse(count), place));
            often.truncate(room);
            if often.is_empty() {
                return;
            }
            room -= often.len();
            for ((node, index), _) in often {
                self.nodes.push(Node { index, follow: Vec::new() });
                let new = self.nodes.len() - 1;
                self.nodes[node].follow.push(new);
            }
        }
    }

    fn walk(&self, site: &SequencesSnapshot) -> Walk {
        let mut walk = Walk { visits: vec![0; self.nodes.len()], ..Walk::default() };
        for sequence in &site.sequences {
            let mut at: Option<usize> = None;
            let count = sequence.count.min(u32::MAX.into());
            for index in sequence.indices {
                walk.executions = walk.executions.saturating_add(count);
                let next = at.and_then(|node| {
                    let follow = &self.nodes[node].follow;
                    let found = follow.iter().position(|&next| self.nodes[next].index == index);
                    walk.tests = walk.tests.saturating_add(count * found.map_or(follow.len(), |nth| nth + 1) as u64);
                    if found.is_none() {
                        walk.misses = walk.misses.saturating_add(if follow.is_empty() { 0 } else { count });
                        let left = walk.left.entry((node, index)).or_default();
                        *left = left.saturating_add(count);
                    }
                    found.map(|nth| follow[nth])
                });
                let node = next.unwrap_or_else(|| {
                    walk.jumps = walk.jumps.saturating_add(count);
                    self.roots[&index]
                });
                walk.visits[node] = walk.visits[node].saturating_add(count);
                at = Some(node);
            }
        }
        walk
    }

    /// All paths to where nothing follows, those that are taken most first.
    fn paths(&self, walk: &Walk) -> Vec<Vec<u32>> {
        let mut paths = Vec::new();
        let mut roots: Vec<usize> = self.roots.values().copied().filter(|&root| !self.nodes[root].follow.is_empty()).collect();
        roots.sort_by_key(|&root| std::cmp::Reverse(walk.visits[root]));
        let mut open: Vec<(usize, Vec<u32>)> = roots.into_iter().rev().map(|root| (root, Vec::new())).collect();
        while let Some((node, mut path)) = open.pop() {
            let Node { index, follow, .. } = &self.nodes[node];
            path.push(u32::from(*index));
            if follow.is_empty() {
                paths.push(path);
                continue;
            }
            let mut follow = follow.clone();
            follow.sort_by_key(|&next| walk.visits[next]);
            open.extend(follow.into_iter().map(|next| (next, path.clone())));
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::SequenceCount;

    fn site(sequences: &[([u8; 8], u64)]) -> SequencesSnapshot {
        let sequences: Vec<_> = sequences.iter().map(|&(indices, count)| SequenceCount { indices, count }).collect();
        SequencesSnapshot { offset: 9, total: sequences.iter().map(|it| it.count).sum(), sequences }
    }

    #[test]
    fn what_always_follows_is_one_path() {
        let around = site(&[([1, 2, 3, 1, 2, 3, 1, 2], 50), ([2, 3, 1, 2, 3, 1, 2, 3], 50), ([3, 1, 2, 3, 1, 2, 3, 1], 50)]);
        let (decision, copies) = decide(&around, 64, &Budgets::default()).unwrap();
        assert!(decision.because.share > 0.8, "{:?}", decision.because);
        assert!(decision.paths.iter().all(|path| path.len() >= 2 && path.windows(2).all(|pair| pair[1] == pair[0] % 3 + 1)), "{decision:?}");
        assert!((6..=64).contains(&copies), "{copies}");
        // With little room, what is most frequent.
        let (little, copies) = decide(&around, 2, &Budgets::default()).unwrap();
        assert!(copies <= 4 && little.because.share < decision.because.share);
    }

    #[test]
    fn what_follows_nothing_is_refused() {
        // Of 64 indices each follows each.
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 58) as u8
        };
        let sequences: Vec<_> = (0..256).map(|_| (std::array::from_fn(|_| random()), 1)).collect();
        let refused = decide(&site(&sequences), 64, &Budgets::default()).unwrap_err();
        assert_eq!(refused.name(), "no-dominant-value");
        // What a damaged file says.
        let none = SequencesSnapshot { total: 1000, ..site(&[([1; 8], 0)]) };
        assert_eq!(decide(&none, 64, &Budgets::default()).unwrap_err().name(), "too-few-samples");
        let most = site(&[([1; 8], u64::MAX / 2), ([2; 8], u64::MAX / 2)]);
        assert!(decide(&most, 64, &Budgets::default()).is_ok());
        assert_eq!(decide(&site(&[([1; 8], 3)]), 64, &Budgets::default()).unwrap_err().name(), "too-few-samples");
    }
}
