//! Choices between values and between targets, as a plan wants them: `select` as a branch, `br_table` with tests in front.
//!
//! *Select → branch*: a `select` waits for its condition and both operands, so one on a loop-carried chain runs at the latency of all
//! three. Where the condition nearly always goes one way, a branch lets the processor go on with the likely operand; and what only the
//! unlikely operand needs is computed on its side, because Cranelift computes pure values where they are used.
//!
//! *Switch order* (Yang, Uh, Whalley, "Improving performance by branch reordering", PLDI 1998): the dominant indices of a `br_table` are
//! compared first, so that they take a branch that can be predicted instead of an indirect jump through a table.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockCall, InstBuilder, JumpTableData, Value};
use lwp_feedback::class::SiteClass;
use wasmparser::BrTable;

use vm::code::Tier;

use super::control::arguments;
use super::{Result, Translator, malformed, paths};

/// Names in reports, the policy's.
pub(super) const SELECT_TO_BRANCH: &str = "select-to-branch";
pub(super) const SWITCH_ORDER: &str = "switch-order";
/// Indices that are tested in front of a `br_table`.
const MOST_TESTS: usize = 4;

impl Translator<'_, '_> {
    /// `select`: operands and condition are on the stack.
    pub(super) fn select_operator(&mut self, offset: u32) {
        let [a, b, condition] = self.pop_many();
        self.probe_select(condition);
        if self.wants_sites() {
            self.value_site(SiteClass::Select.imm16(0), offset, |translator| {
                let truth = translator.b.ins().icmp_imm_u(IntCC::NotEqual, condition, 0);
                translator.b.ins().uextend(cranelift_codegen::ir::types::I64, truth)
            });
        }
        let value = match self.input.plan.select_to_branch.get(&offset) {
            Some(&likely) if self.input.tier == Tier::Optimizing => {
                self.applied(SELECT_TO_BRANCH, self.frame().function, offset, None);
                self.branch_between(condition, a, b, likely)
            }
            _ => self.b.ins().select(condition, a, b),
        };
        self.push(value);
    }

    /// `a` if the condition holds, else `b`, by a branch whose likely side falls through.
    fn branch_between(&mut self, condition: Value, a: Value, b: Value, likely: bool) -> Value {
        let ty = self.b.func.dfg.value_type(a);
        let (hot, cold, next) = (self.new_block(), self.b.create_block(), self.new_block());
        self.b.set_cold_block(cold);
        let value = self.b.append_block_param(next, ty);
        // The last target falls through.
        let (test, expected, other) = match likely {
            false => (condition, b, a),
            true => (self.b.ins().icmp_imm_u(IntCC::Equal, condition, 0), a, b),
        };
        self.b.ins().brif(test, cold, &[], hot, &[]);
        for (block, value) in [(cold, other), (hot, expected)] {
            self.b.seal_block(block);
            self.enter(block);
            self.b.ins().jump(next, &arguments(&[value]));
        }
        self.b.seal_block(next);
        self.enter(next);
        value
    }

    /// `br_table`: the index is on the stack.
    pub(super) fn table_branch(&mut self, targets: &BrTable<'_>, offset: u32) -> Result {
        let index = self.pop();
        self.probe_switch(index);
        if self.wants_sites() {
            self.value_site(SiteClass::SwitchIndex.imm16(0), offset, |translator| {
                translator.b.ins().uextend(cranelift_codegen::ir::types::I64, index)
            });
        }
        let default = self.table_target(targets.default());
        let mut entries = Vec::with_capacity(targets.len() as usize);
        for depth in targets.targets() {
            let depth = depth.map_err(|error| malformed(self.frame().function, &error))?;
            entries.push(self.table_target(depth));
        }
        let mut paths = None;
        if self.input.tier == Tier::Optimizing {
            paths = self.plan_paths(targets, offset, &mut entries)?;
            if let Some(first) = self.input.plan.switch_order.get(&offset) {
                self.test_first(index, first, &entries, default, offset);
            }
        }
        let table = self.b.create_jump_table(JumpTableData::new(default, &entries));
        self.b.ins().br_table(index, table);
        if let Some(paths) = paths {
            self.copy_paths(paths)?;
        }
        self.reachable = false;
        Ok(())
    }

    fn test_first(&mut self, index: Value, first: &[u32], entries: &[BlockCall], default: BlockCall, offset: u32) {
        let function = self.frame().function;
        if first.is_empty() {
            return self.applied(SWITCH_ORDER, function, offset, Some("no index named".into()));
        }
        if first.len() > MOST_TESTS {
            return self.applied(SWITCH_ORDER, function, offset, Some(format!("more than {MOST_TESTS} indices")));
        }
        for (nth, &value) in first.iter().enumerate() {
            if first[..nth].contains(&value) {
                continue;
            }
            let target = entries.get(value as usize).copied().unwrap_or(default);
            let block = target.block(&self.b.func.dfg.value_lists);
            let values: Vec<_> = target.args(&self.b.func.dfg.value_lists).collect();
            let expected = self.iconst32(value);
            let other = self.b.ins().icmp(IntCC::NotEqual, index, expected);
            // The last target falls through; it may be reached from elsewhere, so a block of its own stands for it.
            let (hit, miss) = (self.new_block(), self.new_block());
            self.b.ins().brif(other, miss, &[], hit, &[]);
            self.b.seal_block(hit);
            self.b.seal_block(miss);
            self.enter(hit);
            self.b.ins().jump(block, &values);
            self.enter(miss);
        }
        self.applied(SWITCH_ORDER, function, offset, None);
    }

    /// Reports plan entries of these kinds that named nothing.
    pub(super) fn refuse_unused_choices(&mut self) {
        let function = self.input.function;
        let plan = self.input.plan;
        let named = plan.select_to_branch.keys().map(|&offset| (SELECT_TO_BRANCH, offset, "no reachable select there"));
        let named = named.chain(plan.switch_order.keys().map(|&offset| (SWITCH_ORDER, offset, "no reachable br_table there")));
        let named = named.chain(plan.switch_paths.keys().map(|&offset| (paths::NAME, offset, "no reachable br_table there")));
        let mut unused: Vec<_> = named
            .filter(|(name, offset, _)| !self.applied.iter().any(|applied| applied.offset == *offset && applied.name == *name))
            .collect();
        unused.sort_unstable();
        for (name, offset, reason) in unused {
            self.applied(name, function, offset, Some(reason.into()));
        }
    }
}
