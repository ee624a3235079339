//! Where the branches of a body lead, for Data2 of their records: the address of the instruction that runs next.
//!
//! In: a validated body, and where its operators' code stands. Out: per branch the addresses of both ways, per `br_table` those of its entries. A way is
//! known as an operator (the one behind the label's `end`, or the loop); its address is that of the first instruction of it, or of the next
//! operator that has one.

use crate::module::Module;
use std::collections::BTreeMap;
use wasmparser::Operator;

/// Where a branch leads, by byte offset of the operator that runs next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ways {
    /// With its condition true, and false.
    Two(u32, u32),
    /// By index; the last is the default.
    Many(Vec<u32>),
}

enum Label {
    /// Its branches go to a place that is known.
    Known(u32),
    /// They go behind an `end` that is still to come: who waits for it (index in `found`, which way).
    Open(Vec<(usize, usize)>),
}

/// The branches of a defined function by their byte offset; empty where the body cannot be read.
pub(crate) fn ways(module: &Module, function: u32) -> BTreeMap<u32, Ways> {
    if module.defined(function).is_none() {
        return BTreeMap::new();
    }
    collect(module, function).unwrap_or_default().into_iter().collect()
}

fn collect(module: &Module, function: u32) -> Option<Vec<(u32, Ways)>> {
    let mut reader = module.body(function).get_operators_reader().ok()?;
    let mut found: Vec<(u32, Ways)> = Vec::new();
    // The function's own label; with each the `if` whose false way is not known yet.
    let mut labels: Vec<(Label, Option<usize>)> = vec![(Label::Open(Vec::new()), None)];
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset().ok()?;
        let (offset, next) = (offset as u32, reader.original_position() as u32);
        match operator {
            Operator::Block { .. } | Operator::TryTable { .. } => labels.push((Label::Open(Vec::new()), None)),
            Operator::Loop { .. } => labels.push((Label::Known(offset), None)),
            Operator::If { .. } => {
                found.push((offset, Ways::Two(next, next)));
                labels.push((Label::Open(Vec::new()), Some(found.len() - 1)));
            }
            Operator::Else => {
                if let Some(branch) = labels.last_mut()?.1.take() {
                    set(&mut found[branch].1, 1, next);
                }
            }
            Operator::End => {
                let (label, branch) = labels.pop()?;
                if let Label::Open(waiting) = label {
                    // Behind the function's own end nothing runs: the end itself, which returns.
                    let behind = if labels.is_empty() { offset } else { next };
                    waiting.into_iter().for_each(|(branch, way)| set(&mut found[branch].1, way, behind));
                }
                if let Some(branch) = branch {
                    set(&mut found[branch].1, 1, next);
                }
            }
            Operator::BrIf { relative_depth } => {
                found.push((offset, Ways::Two(0, next)));
                aim(&mut labels, &mut found, relative_depth, 0)?;
            }
            Operator::BrTable { ref targets } => {
                found.push((offset, Ways::Many(vec![0; targets.len() as usize + 1])));
                for (way, depth) in targets.targets().chain([Ok(targets.default())]).enumerate() {
                    aim(&mut labels, &mut found, depth.ok()?, way)?;
                }
            }
            _ => {}
        }
    }
    Some(found)
}

/// The latest branch goes, on one of its ways, to the label at that depth.
fn aim(labels: &mut [(Label, Option<usize>)], found: &mut [(u32, Ways)], depth: u32, way: usize) -> Option<()> {
    let branch = found.len() - 1;
    let at = labels.len().checked_sub(1 + depth as usize)?;
    match &mut labels[at].0 {
        Label::Known(offset) => set(&mut found[branch].1, way, *offset),
        Label::Open(waiting) => waiting.push((branch, way)),
    }
    Some(())
}

fn set(ways: &mut Ways, way: usize, to: u32) {
    match ways {
        Ways::Two(taken, _) if way == 0 => *taken = to,
        Ways::Two(_, next) => *next = to,
        Ways::Many(targets) => targets[way] = to,
    }
}

/// First addresses of operators in a version's code, by the operators' byte offsets.
pub(crate) struct Starts(Vec<(u32, u64)>);

impl Starts {
    /// From (operator's byte offset, address) in any order.
    pub(crate) fn new(places: impl Iterator<Item = (u32, u64)>) -> Starts {
        let mut starts: Vec<(u32, u64)> = places.collect();
        starts.sort_unstable();
        starts.dedup_by_key(|start| start.0);
        Starts(starts)
    }

    /// Of an operator, or of the next one that has code; 0 where none has.
    pub(crate) fn address(&self, offset: u32) -> u64 {
        let at = self.0.partition_point(|start| start.0 < offset);
        self.0.get(at).map_or(0, |start| start.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_blocks_loops_ifs_and_tables() {
        let module = Module::new(
            b"(module (func (param i32)
                (block $out
                  (loop $again
                    (br_if $out (local.get 0))
                    (if (local.get 0) (then (nop)) (else (drop (i32.const 1))))
                    (if (local.get 0) (then (nop)))
                    (br_table $out $again 2 (local.get 0))))))",
        )
        .unwrap();
        let ways = ways(&module, 0);
        let offset = |wanted: fn(&Operator<'_>) -> bool, nth: usize| {
            let reader = module.body(0).get_operators_reader().unwrap();
            let mut all = reader.into_iter_with_offsets().filter_map(|it| it.ok()).filter(|(operator, _)| wanted(operator));
            all.nth(nth).unwrap().1 as u32
        };
        let ifs = |nth| offset(|it| matches!(it, Operator::If { .. }), nth);
        let ends = |nth| offset(|it| matches!(it, Operator::End), nth);
        let again = offset(|it| matches!(it, Operator::Loop { .. }), 0);
        let br_if = offset(|it| matches!(it, Operator::BrIf { .. }), 0);
        let table = offset(|it| matches!(it, Operator::BrTable { .. }), 0);
        // Ends: the first if's, the second's, the loop's, the block's, the function's.
        let (behind_block, last) = (ends(4), ends(4));
        assert_eq!(ways[&br_if], Ways::Two(behind_block, br_if + 2));
        let orelse = offset(|it| matches!(it, Operator::I32Const { .. }), 0);
        assert_eq!(ways[&ifs(0)], Ways::Two(ifs(0) + 2, orelse));
        assert_eq!(ways[&ifs(1)], Ways::Two(ifs(1) + 2, ends(1) + 1));
        assert_eq!(ways[&table], Ways::Many(vec![behind_block, again, last]));
        let starts = Starts::new([(10, 0x100), (10, 0x80), (20, 0x200)].into_iter());
        assert_eq!((starts.address(10), starts.address(11), starts.address(21)), (0x80, 0x200, 0));
    }
}
