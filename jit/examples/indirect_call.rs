//! Times 200 million indirect calls to one tiny function through an exported global and table: tier 1, tier 2, tier 2 to a plan.
//!
//!     cargo run -p jit --example indirect_call

#[path = "../tests/machine/mod.rs"]
mod machine;

use std::sync::Arc;
use std::time::Instant;

use lwp_feedback::codemap::FunctionId;
use lwp_feedback::policy::{Decision, InlineDecision, InlineTarget, Plan};
use machine::Machine;
use vm::code::Tier;

const KERNEL: &str = r#"(module
  (type $op (func (param i32) (result i32)))
  (table (export "t") 8 8 funcref)
  (elem (i32.const 0) func $step)
  (global $which (export "which") (mut i32) (i32.const 0))
  (func $step (type $op) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32) (local $x i32)
    (loop $again
      (local.set $x (call_indirect (type $op) (local.get $x) (global.get $which)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $x)))"#;

fn main() {
    let mut first = None;
    for (name, tier, planned) in
        [("tier 1", Tier::Baseline, false), ("tier 2", Tier::Optimizing, false), ("tier 2, planned", Tier::Optimizing, true)]
    {
        let mut machine = Machine::new(KERNEL, tier);
        if planned {
            let mut reader = machine.module.body(1).get_operators_reader().expect("a valid body");
            let mut offset = 0;
            while !reader.eof() {
                let (operator, at) = reader.read_with_offset().expect("a valid body");
                if matches!(operator, wasmparser::Operator::CallIndirect { .. }) {
                    offset = at as u32;
                }
            }
            let targets = vec![InlineTarget { callee: 0, share: 1.0, samples: 100, body_bytes: 10 }];
            let decision = Decision::Inline(InlineDecision { offset, targets, samples: 100, share: 1.0, ..InlineDecision::default() });
            let function = FunctionId { module: machine.module.hash, func: 1 };
            machine.replace(1, Arc::new(Plan { function, decisions: vec![decision] }));
        }
        for _ in 0..3 {
            let start = Instant::now();
            let result = machine.call("run", &[200_000_000]);
            println!("{name}: {:?}", start.elapsed());
            assert_eq!(*first.get_or_insert(result.clone()), result);
        }
    }
}
