//! What the policy may spend, and what things cost: its tuning numbers, in one place.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// The policy's limits. Shares are 0 to 1; bytes are of function bodies in the module.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// Names of transformations that must not be decided for.
    pub forbid: BTreeSet<String>,
    /// What is saved per execution must be this many times what is added. A guess: estimates are off by a quarter.
    pub min_gain: f64,
    /// What a decision would have saved in all executions that were seen, microseconds; less is not worth a compile and a trial. Of decisions that
    /// [go together](super::transformation::Proposals::go_together), what they would have saved in all. A guess.
    pub min_saves_us: f64,
    /// Fewer samples of a value site or a branch's outcomes decide nothing. A guess: at 64 samples a share of 0.9 is known to about ±0.08.
    pub min_samples: u64,

    /// inline: share of a site's samples that its inlined targets must hold together.
    pub min_share: f64,
    /// inline: share that each further target must hold.
    pub min_target_share: f64,
    /// inline: targets at one site, 1 to [`MAX_TARGETS`](super::MAX_TARGETS).
    pub max_targets: usize,
    /// inline: largest callee, bytes.
    pub max_callee_bytes: u32,
    /// inline: bytes of callees that one function may take in.
    pub max_inlined_bytes: u32,
    /// The share of its own bytes that a large function may take in or grow by, 0 to 1, where that is more than [`Budgets::max_inlined_bytes`] or [`Budgets::max_function_growth`].
    pub max_large_growth: f64,
    /// inline: share from which a call outside the targets leaves by a side exit in place of the generic call.
    pub min_exit_share: f64,
    /// inline: samples for that. As many as for inlining at all: code that is left too often is slower in its trial, or retired later, and with a generic call
    /// beside the inlined body hot loops are a third slower (its registers, and what memory holds, must be right on both ways).
    pub min_exit_samples: u64,

    /// specialize: share of the parameter's one value.
    pub min_specialize_share: f64,

    /// branch-to-select: predictions recorded. The formula takes the lower end of what they can mean, so few of them ask for a higher rate.
    pub min_branch_samples: u64,
    /// branch-to-select: share mispredicted.
    pub min_mispredict_share: f64,

    /// select-to-branch, layout: share of the likely side.
    pub min_likely_share: f64,
    /// layout, inline-direct: outcomes of a branch, or times that a call was counted. Few, for most branches of a large function are passed seldom and matter together, and a wrong guess costs a jump.
    pub min_layout_samples: u64,

    /// prefetch: timed accesses recorded.
    pub min_load_samples: u64,
    /// prefetch: share of the accesses that came from far away.
    pub min_miss_share: f64,
    /// prefetch: share of one stride for an address to count as strided.
    pub min_stride_share: f64,
    /// prefetch: rounds ahead, at most.
    pub max_prefetch_distance: u32,

    /// switch-order: share that each tested index must hold.
    pub min_switch_share: f64,
    /// switch-order: tests before the table, at most.
    pub max_switch_tests: usize,

    /// switch-path: sequences of eight indices recorded. A guess: of 128 the hundredth part of what follows is ten times there.
    pub min_sequences: u64,
    /// switch-path: share of a `br_table`'s executions that must come by for a path to go on there.
    pub min_path_share: f64,
    /// switch-path: share of its executions that must be spared.
    pub min_spared_share: f64,
    /// switch-path: indices that follow others on its paths, at most.
    pub max_path_indices: usize,

    /// Decisions of one transformation in one function, but for those that go together.
    pub max_decisions: usize,
    /// Bytes that all decisions together may add to one function; a small function may double.
    pub max_function_growth: u32,
    /// Bytes that plans may add to the module, those in force included.
    pub max_module_growth: u64,
    /// Time that the compiling of what is added may take in one call of the policy, milliseconds, as estimated from its bytes.
    pub max_compile_ms: f64,

    /// What things cost.
    pub costs: Costs,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            forbid: BTreeSet::new(),
            min_gain: 1.25,
            min_saves_us: 5.0,
            min_samples: 64,
            min_share: 0.8,
            min_target_share: 0.1,
            max_targets: 4,
            max_callee_bytes: 500,
            max_inlined_bytes: 4000,
            max_large_growth: 0.125,
            min_exit_share: 0.995,
            min_exit_samples: 64,
            min_specialize_share: 0.99,
            min_branch_samples: 64,
            min_mispredict_share: 0.02,
            min_likely_share: 0.9,
            min_layout_samples: 8,
            min_load_samples: 64,
            min_miss_share: 0.02,
            min_stride_share: 0.7,
            max_prefetch_distance: 512,
            min_switch_share: 0.2,
            max_switch_tests: 3,
            min_sequences: 128,
            min_path_share: 0.01,
            min_spared_share: 0.2,
            max_path_indices: 64,
            max_decisions: 64,
            max_function_growth: 8000,
            max_module_growth: 1 << 20,
            max_compile_ms: 2000.0,
            costs: Costs::default(),
        }
    }
}

/// What things cost on this machine. The defaults were measured on the 2-CPU Zen 5 guest that backedge is developed on (design, section 3),
/// with loops of one kind each; they need to be right to a factor of two, the trial judges what is close.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Costs {
    /// An operator that overlaps with others, ns. A gather loop of 12 operators takes 1.2 ns where it hits.
    pub operator_ns: f64,
    /// A mispredicted branch, ns: 17 cycles at 4.1 GHz. (Partition by a random flag: 3.6 ns with the branch, 0.7 to 0.9 without, half of them mispredicted,
    /// which bounds it by 5.6 with what the arm itself takes.)
    pub mispredict_ns: f64,
    /// A select with the store or the value behind it, ns.
    pub select_ns: f64,
    /// What a round waits for a loop-carried select and its operands, ns: 3 to 5 cycles, a load's latency where the condition is loaded.
    pub select_chain_ns: f64,
    /// A folded, well predicted branch, ns.
    pub branch_ns: f64,
    /// A loop whose trip count is known, ns per weighted exit: one test a round saved, unrolling.
    pub loop_bound_ns: f64,
    /// A jump through a table with its load and its share of mispredictions, ns.
    pub switch_ns: f64,
    /// A compare and branch in front of such a table, ns.
    pub test_ns: f64,
    /// An indirect call with its checks, ns (200M: 345 ms, of which 0.25 ns are the loop).
    pub indirect_call_ns: f64,
    /// A direct call, ns: what inlining a short callee saves.
    pub direct_call_ns: f64,
    /// A guard, ns (51 to 102 ms for 200M).
    pub guard_ns: f64,
    /// A jump that is taken in place of falling through, ns.
    pub taken_jump_ns: f64,
    /// Length of a tick of latency records, ns.
    pub tick_ns: f64,
    /// Ticks that a timed access takes when it hits (L1 and L2: 52).
    pub hit_ticks: u64,
    /// Ticks from which an access came from far away: above L3 (78 to 104).
    pub far_ticks: u64,
    /// Misses that the processor overlaps by itself.
    pub overlap: f64,
    /// Executions of value sites between two of their records, on average: the ring's interval.
    pub executions_per_value_record: f64,
    /// Executions for one record of a burst: bursts take about 0.3 % of the run time.
    pub executions_per_burst_record: f64,
    /// Executions for one outcome that a burst only counted: these are counted one by one, where of records one in five remains.
    pub executions_per_count: f64,
    /// Compile time of the optimizing tier per byte, microseconds.
    pub compile_us_per_byte: f64,
}

impl Default for Costs {
    fn default() -> Self {
        Self {
            operator_ns: 0.1,
            mispredict_ns: 4.2,
            select_ns: 0.15,
            select_chain_ns: 1.0,
            branch_ns: 0.25,
            loop_bound_ns: 0.25,
            switch_ns: 2.0,
            test_ns: 0.25,
            indirect_call_ns: 1.5,
            direct_call_ns: 0.75,
            guard_ns: 0.25,
            taken_jump_ns: 0.25,
            tick_ns: 0.385,
            hit_ticks: 52,
            far_ticks: 150,
            overlap: 8.0,
            executions_per_value_record: 96.0,
            executions_per_burst_record: 300.0,
            executions_per_count: 60.0,
            compile_us_per_byte: 6.0,
        }
    }
}

impl Budgets {
    /// Reads JSON: an object, of whose fields any may be missing. `Err` says what is wrong and where, on one line.
    pub fn parse(json: &str) -> Result<Budgets, String> {
        let text = |error: serde_json::Error| error.to_string().replace('\n', " ");
        let given: serde_json::Value = serde_json::from_str(json).map_err(text)?;
        if !given.is_object() {
            return Err("expected an object, as in {\"min_gain\": 2}".into());
        }
        // (read once more, for errors that say where)
        let budgets = serde_json::from_str(json).map_err(text)?;
        check("", &given)?;
        Ok(budgets)
    }
}

/// Looks for numbers that nothing can be.
fn check(name: &str, value: &serde_json::Value) -> Result<(), String> {
    match value {
        serde_json::Value::Object(fields) => fields.iter().try_for_each(|(name, value)| check(name, value)),
        serde_json::Value::Number(number) => match number.as_f64().unwrap_or_default() {
            value if value < 0.0 => Err(format!("`{name}` is {value}: expected 0 or more")),
            value if value > 1.0 && name.ends_with("_share") => Err(format!("`{name}` is {value}: expected a share from 0 to 1")),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

impl Costs {
    /// Executions that records of a value site stand for.
    pub fn executions_of_values(&self, records: u64) -> f64 {
        records as f64 * self.executions_per_value_record
    }

    /// Executions that outcomes which bursts only counted stand for.
    pub fn executions_of_counts(&self, outcomes: u64) -> f64 {
        outcomes as f64 * self.executions_per_count
    }

    /// Executions that records of bursts stand for.
    pub fn executions_of_bursts(&self, records: u64) -> f64 {
        records as f64 * self.executions_per_burst_record
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_budget_is_refused_by_name() {
        let error = |json: &str| Budgets::parse(json).unwrap_err();
        assert_eq!(
            Budgets::parse(r#"{"min_gain": 3, "costs": {"tick_ns": 0.5}}"#).map(|it| (it.min_gain, it.costs.tick_ns)),
            Ok((3.0, 0.5))
        );
        assert!(error(r#"{"min_gian": 3}"#).contains("min_gian") && error(r#"{"costs": {"tick": 1}}"#).contains("`tick`"));
        assert!(error(r#"{"min_gain": -1}"#).contains("`min_gain` is -1") && error(r#"{"min_share": 1.5}"#).contains("`min_share` is 1.5"));
        assert!(error("[]").contains("object") && error(r#"{"min_gain": "x"}"#).contains("line 1"));
        let all = serde_json::to_string(&Budgets::default()).unwrap();
        assert_eq!(Budgets::parse(&all), Ok(Budgets::default()));
    }
}
