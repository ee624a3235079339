//! What the poll at loop headers costs: `cargo run --release -p bench-programs --example poll_cost`.
//!
//! Four of the tightest loops there are, in tier 2 at first call, with polls and compiled without them (a switch of the compiler that nothing else sets), at three
//! placements: different code in front moves the loop by some bytes against the lines and windows that processors fetch. Both ways take turns, block by block;
//! printed are the medians of a round's time, and the share that the poll adds, from the medians of the ratios of neighbours.

use backedge::{Config, Engine, Instance, Module, Store, TierPolicy, TypedFunc};
use jit::{CraneliftCompiler, Options};
use std::sync::Arc;
use std::time::Instant;

/// Blocks of each way.
const BLOCKS: usize = 41;
/// Rounds of a block's loop: some 10 ms.
const ROUNDS: i32 = 20_000_000;

/// Name, locals, and what a round does before it counts `$n` down.
const LOOPS: [(&str, &str, &str); 4] = [
    ("empty body", "", ""),
    ("sum without a store", "(local $sum i32)", "(local.set $sum (i32.add (i32.rotl (local.get $sum) (i32.const 1)) (local.get $n)))"),
    ("a call", "(local $sum i32)", "(local.set $sum (call $callee (local.get $sum)))"),
    ("a loop-carried float", "(local $x f64)", "(local.set $x (f64.add (f64.mul (local.get $x) (f64.const 0.5)) (f64.const 1)))"),
];

/// A module with one function, moved by code in front of its loop.
fn module(locals: &str, round: &str, placement: usize) -> String {
    // Each is a store of some seven bytes of code.
    let front: String = (0..placement * 3).map(|at| format!("(i32.store8 offset={at} (i32.const 16) (local.get $n))")).collect();
    // The callee recurses, so that it stays a call.
    format!(
        r#"(module (memory 1)
          (func $callee (param i32) (result i32)
            (if (i32.eq (local.get 0) (i32.const 0x7fffffff)) (then (return (call $callee (i32.const 1)))))
            (i32.add (local.get 0) (i32.const 3)))
          (func (export "run") (param $n i32) {locals} {front}
            (loop $again {round} (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))))"#
    )
}

struct Way {
    store: Store<()>,
    run: TypedFunc<i32, ()>,
}

impl Way {
    fn new(text: &str, polls: bool) -> anyhow::Result<Way> {
        let mut config = Config::new();
        config.tier(TierPolicy::Optimizing);
        // Inlining would take the call away.
        let options = Options { polls, inline_static: false, ..Options::default() };
        let compiler = CraneliftCompiler::new(options).map_err(anyhow::Error::msg)?;
        let engine = Engine::with_compiler(&config, Some(Arc::new(compiler)))?;
        let module = Module::new(&engine, text)?;
        let mut store = Store::new(&engine, ());
        let run = Instance::new(&mut store, &module, &[])?.get_typed_func::<i32, ()>(&mut store, "run")?;
        run.call(&mut store, 1000)?;
        Ok(Way { store, run })
    }

    /// Nanoseconds of a round.
    fn block(&mut self) -> anyhow::Result<f64> {
        let begin = Instant::now();
        self.run.call(&mut self.store, ROUNDS)?;
        Ok(begin.elapsed().as_nanos() as f64 / f64::from(ROUNDS))
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> anyhow::Result<()> {
    println!("{:<22} {:>9} {:>10} {:>10} {:>8}", "loop", "placement", "poll ns", "none ns", "cost");
    for (name, locals, round) in LOOPS {
        for placement in 0..3 {
            let text = module(locals, round, placement);
            let mut ways = [Way::new(&text, true)?, Way::new(&text, false)?];
            let mut times = [Vec::new(), Vec::new()];
            for block in 0..BLOCKS {
                // The order changes, so that neither is always the one behind.
                for at in if block % 2 == 0 { [0, 1] } else { [1, 0] } {
                    times[at].push(ways[at].block()?);
                }
            }
            let ratios = times[0].iter().zip(&times[1]).map(|(with, without)| with / without).collect();
            let [with, without] = times.map(median);
            println!("{name:<22} {placement:>9} {with:>10.4} {without:>10.4} {:>7.2}%", (median(ratios) - 1.0) * 100.0);
        }
    }
    Ok(())
}
