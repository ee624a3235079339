//! Engines, modules and stores that come and go leave nothing behind, however their guests ended.

use backedge::wasi::{self, WasiCtxBuilder};
use backedge::{Config, Engine, Instance, Linker, Module, Store, TierPolicy};

const GUEST: &str = "(module (memory 1)
    (func (export \"returns\") (result i32) (local $n i32)
        (loop $again
            (i32.store (local.get $n) (local.get $n))
            (br_if $again (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 2000))))
        (local.get $n))
    (func (export \"traps\") unreachable)
    (func (export \"is_stopped\") (loop $for_ever (br $for_ever))))";

/// Bytes this process's allocator has given out and not got back.
fn in_use() -> usize {
    // SAFETY: it reads the allocator's own counts.
    let all = unsafe { libc::mallinfo2() };
    all.uordblks + all.hblkhd
}

fn come_and_go(tier: TierPolicy, export: Option<&str>) {
    let mut config = Config::new();
    config.tier(tier).hot_threshold(3).epoch_interruption(true);
    let engine = Engine::new(&config).unwrap();
    let Some(export) = export else {
        Module::new(&engine, b"\0asm\x01\0\0\0\x01\x02damaged").unwrap_err();
        return;
    };
    let module = Module::new(&engine, GUEST).unwrap();
    let mut store = Store::new(&engine, ());
    store.set_epoch_deadline(1);
    if export == "is_stopped" {
        engine.increment_epoch();
    }
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let function = instance.get_func(&mut store, export).unwrap();
    let mut results = vec![backedge::Val::I32(0); usize::from(export == "returns")];
    assert_eq!(function.call(&mut store, &[], &mut results).is_ok(), export == "returns");
}

/// Runs a program into its deadline while its hot loops are being compiled on other threads.
fn stop_while_it_compiles(program: &[u8]) {
    let mut config = Config::new();
    config.tier(TierPolicy::Auto).hot_threshold(3).epoch_interruption(true);
    let engine = Engine::new(&config).unwrap();
    let module = Module::new(&engine, program).unwrap();
    let mut linker = Linker::new(&engine);
    wasi::add_to_linker(&mut linker, |context| context).unwrap();
    let context = WasiCtxBuilder::new().stdin(std::io::empty()).stdout(std::io::sink()).stderr(std::io::sink()).build();
    let mut store = Store::new(&engine, context);
    store.set_epoch_deadline(1);
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let start = instance.get_func(&mut store, "_start").unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(std::time::Duration::from_millis(20));
            engine.increment_epoch();
        });
        // It may be done before.
        let _ = start.call(&mut store, &[], &mut []);
    });
}

/// Loads a module with a hundred function types that no module before it had, some of which refer to others, and calls a function of one.
fn load_new_types(number: &std::cell::Cell<u64>) {
    let params = |mut number: u64| {
        let mut list = String::new();
        while number > 0 {
            list += ["i32 ", "f64 "][(number & 1) as usize];
            number >>= 1;
        }
        list
    };
    let mut wat = String::from("(module (func (export \"run\") (result i32) (i32.const 7))");
    for index in 0..50 {
        number.set(number.get() + 1);
        wat += &format!(
            "(type $t{index} (func (param {}))) (type (func (param (ref $t{index}) {})))",
            params(number.get()),
            params(number.get())
        );
    }
    let engine = Engine::default();
    let module = Module::new(&engine, wat + ")").unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    assert_eq!(instance.get_typed_func::<(), i32>(&mut store, "run").unwrap().call(&mut store, ()).unwrap(), 7);
}

/// What `once` leaves in the allocator, bytes each, once pools and tables of the process have grown to their size.
fn left(times: usize, once: impl Fn()) -> usize {
    (0..20).for_each(|_| once());
    let before = in_use();
    (0..times).for_each(|_| once());
    in_use().saturating_sub(before) / times
}

/// One test, since all of a process share one allocator.
#[test]
fn engines_that_come_and_go_leave_nothing() {
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing, TierPolicy::Auto] {
        for export in [None, Some("returns"), Some("traps"), Some("is_stopped")] {
            let left = left(100, || come_and_go(tier, export));
            assert!(left < 2000, "{tier:?}, {export:?}: {left} bytes each");
        }
    }
    let number = std::cell::Cell::new(1 << 20);
    let types = left(300, || load_new_types(&number));
    assert!(types < 2000, "types of modules that are gone: {types} bytes each");
    let program = std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../bench-programs/programs/vectors/vectors.wasm")).unwrap();
    let left = left(60, || stop_while_it_compiles(&program));
    assert!(left < 10_000, "dropped while it compiles: {left} bytes each");
}
