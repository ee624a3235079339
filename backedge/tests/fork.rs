//! A process that is forked and its child each have their own code.

use backedge::{Config, Engine, Instance, Module, Store, TierPolicy};

/// A module whose function adds a number of its own.
fn module(engine: &Engine, number: i32) -> Module {
    let text = format!("(module (func (export \"f\") (param i32) (result i32) (i32.add (local.get 0) (i32.const {number}))))");
    Module::new(engine, text).unwrap()
}

/// A module so large that its bodies are read on all processors.
fn large(engine: &Engine) -> Module {
    let bodies = "(func (result i32) (i32.add (i32.const 100000) (i32.const 200000)))".repeat(20_000);
    Module::new(engine, format!("(module {bodies})")).unwrap()
}

/// Wrong results of engines, modules and calls of this process alone.
fn wrong(tier: TierPolicy, from: i32) -> usize {
    let engine = Engine::new(Config::new().tier(tier).monitor_thread(false)).unwrap();
    let mut wrong = 0;
    for number in from..from + 200 {
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module(&engine, number), &[]).unwrap();
        let f = instance.get_typed_func::<i32, i32>(&mut store, "f").unwrap();
        wrong += (0..50).filter(|&n| f.call(&mut store, n).ok() != Some(n + number)).count();
    }
    wrong
}

// (alone in its program: the child has this thread only, and what others held it would wait for)
#[test]
fn parent_and_child_do_not_write_each_others_code() {
    // (the threads that read it are the parent's)
    large(&Engine::default());
    for tier in [TierPolicy::Optimizing, TierPolicy::Baseline, TierPolicy::Auto] {
        assert_eq!(wrong(tier, 0), 0);
        let inherited = Engine::new(&Config::new()).unwrap();
        let kept = module(&inherited, 7);
        let mut store = Store::new(&inherited, ());
        let instance = Instance::new(&mut store, &kept, &[]).unwrap();
        let f = instance.get_typed_func::<i32, i32>(&mut store, "f").unwrap();
        assert_eq!(f.call(&mut store, 1).unwrap(), 8);
        // SAFETY: the child does what a program of one thread does, and ends without running what the parent's end would run.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let mut result = wrong(tier, 100_000);
            // What was there before runs on, and its threads, which are not here, are not waited for.
            result += usize::from(f.call(&mut store, 2).ok() != Some(9));
            inherited.settle();
            large(&inherited);
            large(&Engine::new(Config::new().monitor_thread(false)).unwrap());
            drop((store, kept, inherited));
            // SAFETY: ends the process.
            unsafe { libc::_exit(i32::from(result != 0)) };
        }
        assert_eq!(wrong(tier, 200_000), 0, "the parent");
        let mut status = 0;
        // SAFETY: waits for the child made above.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert_eq!(status, 0, "the child");
    }
}
