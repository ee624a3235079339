//! The embedding API in every tier: what a host relies on besides results.

use backedge::{
    AsContextMut, Caller, Config, Engine, EngineWeak, Extern, ExternRef, Func, FuncType, Global, GlobalType, HeapType, Instance, LinkError,
    Linker, Memory, MemoryType, Module, Mutability, Ref, RefType, SignatureId, Store, StoreContext, StoreContextMut, StoreLimits,
    StoreLimitsBuilder, Table, TableType, Tag, TagType, ThrownException, TierPolicy, Trap, UnknownImportError, UpdateDeadline, V128, Val,
    ValType, WasmBacktrace, bail,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};

/// An engine of each tier policy; the automatic one moves functions up as fast as it can.
fn engines(change: impl Fn(&mut Config)) -> Vec<Engine> {
    [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing, TierPolicy::Auto]
        .into_iter()
        .map(|tier| {
            let mut config = Config::new();
            config.tier(tier).hot_threshold(2);
            change(&mut config);
            Engine::new(&config).unwrap()
        })
        .collect()
}

fn each_engine(test: impl Fn(&Engine)) {
    for engine in engines(|_| {}) {
        test(&engine);
    }
}

fn instance<T>(store: &mut Store<T>, wat: &str) -> Instance {
    let module = Module::new(&store.engine().clone(), wat).unwrap();
    Instance::new(store, &module, &[]).unwrap()
}

#[test]
fn handles_are_send_and_sync() {
    fn check<T: Send + Sync>() {}
    check::<(Engine, EngineWeak)>();
    check::<Module>();
    check::<Func>();
    check::<Instance>();
    check::<Linker<u32>>();
    check::<(Store<u32>, StoreContext<'_, u32>, StoreContextMut<'_, u32>, Caller<'_, u32>)>();
}

#[test]
fn several_threads_read_a_store() {
    let mut store = Store::new(&Engine::default(), 7);
    let instance =
        instance(&mut store, r#"(module (memory (export "memory") 1) (data (i32.const 10) "read") (func (export "f") (param i32)))"#);
    let memory = instance.get_memory(&mut store, "memory").unwrap();
    let f = instance.get_func(&mut store, "f").unwrap();
    let value = ExternRef::new(&mut store, "value").unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    assert_eq!((*store.data(), &memory.data(&store)[10..14]), (7, &b"read"[..]));
                    assert!(f.typed::<i32, ()>(&store).is_ok() && f.typed::<(), ()>(&store).is_err());
                    assert_eq!(value.data(&store).unwrap().unwrap().downcast_ref(), Some(&"value"));
                    assert_eq!((memory.size(&store), store.thrown_exceptions()), (1, 0));
                }
            });
        }
    });
}

#[test]
fn traps_have_a_code_and_a_backtrace() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let wat = r#"(module $m
            (memory 1)
            (func $inner (param i32) (result i32) (i32.load (local.get 0)))
            (func $div (param i32 i32) (result i32) (i32.div_s (local.get 0) (local.get 1)))
            (func $outer (export "load") (param i32) (result i32) (i32.add (i32.const 1) (call $inner (local.get 0))))
            (func (export "div") (param i32 i32) (result i32) (call $div (local.get 0) (local.get 1))))"#;
        let instance = instance(&mut store, wat);
        let load = instance.get_typed_func::<i32, i32>(&mut store, "load").unwrap();
        let div = instance.get_typed_func::<(i32, i32), i32>(&mut store, "div").unwrap();
        for _ in 0..20 {
            assert_eq!(load.call(&mut store, 8).unwrap(), 1);
            let error = load.call(&mut store, 65533).unwrap_err();
            assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::MemoryOutOfBounds));
            let trace = error.downcast_ref::<WasmBacktrace>().unwrap();
            let names: Vec<_> = trace.frames().iter().map(|frame| frame.func_name()).collect();
            assert_eq!(names, [Some("inner"), Some("outer")], "{error:?}");
            assert!(trace.frames().iter().all(|frame| frame.module_offset().is_some()), "{trace}");
            assert_eq!(trace.frames()[0].module_name(), Some("m"));
            let zero = div.call(&mut store, (1, 0)).unwrap_err();
            assert_eq!(zero.downcast_ref::<Trap>(), Some(&Trap::IntegerDivisionByZero));
            let over = div.call(&mut store, (i32::MIN, -1)).unwrap_err();
            assert_eq!(over.downcast_ref::<Trap>(), Some(&Trap::IntegerOverflow));
            assert_eq!(div.call(&mut store, (7, 2)).unwrap(), 3);
        }
    });
}

/// A guest chooses how long its names are: a backtrace has none of its own.
#[test]
fn the_frames_of_a_backtrace_share_their_names() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let wat = r#"(module $long (func $name (export "f") (param i32)
            (if (local.get 0) (then (call $name (i32.sub (local.get 0) (i32.const 1))) (return))) unreachable))"#;
        let f = instance(&mut store, wat).get_typed_func::<i32, ()>(&mut store, "f").unwrap();
        let errors = [0, 1].map(|_| f.call(&mut store, 20).unwrap_err());
        drop(store);
        let frames = errors.iter().flat_map(|error| error.downcast_ref::<WasmBacktrace>().unwrap().frames());
        let names: Vec<_> = frames.map(|frame| (frame.func_name().unwrap(), frame.module_name().unwrap())).collect();
        assert_eq!((names.len(), names[41]), (42, ("name", "long")));
        assert!(names.iter().all(|name| name.0.as_ptr() == names[0].0.as_ptr() && name.1.as_ptr() == names[0].1.as_ptr()));
    });
}

#[test]
fn a_stack_overflow_is_a_trap_and_the_store_lives_on() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let wat = r#"(module
            (func $f (export "f") (param i64) (result i64)
                (if (result i64) (i64.eqz (local.get 0)) (then (i64.const 0))
                    (else (i64.add (i64.const 1) (call $f (i64.sub (local.get 0) (i64.const 1))))))))"#;
        let f = instance(&mut store, wat).get_typed_func::<i64, i64>(&mut store, "f").unwrap();
        for _ in 0..3 {
            let error = f.call(&mut store, -1).unwrap_err();
            assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::StackOverflow), "{:?}", engine.config());
            assert_eq!(f.call(&mut store, 1000).unwrap(), 1000);
        }
    });
}

const CALLS_HOST: &str = r#"(module
    (import "host" "f" (func $f (param i32) (result i32)))
    (func (export "run") (param i32) (result i32) (i32.add (i32.const 100) (call $f (local.get 0)))))"#;

#[test]
fn a_host_panic_resumes_in_the_caller() {
    each_engine(|engine| {
        let mut linker = Linker::new(engine);
        linker
            .func_wrap("host", "f", |x: i32| -> i32 {
                if x == 13 {
                    std::panic::panic_any("unlucky".to_owned());
                }
                x
            })
            .unwrap();
        let module = Module::new(engine, CALLS_HOST).unwrap();
        let mut store = Store::new(engine, ());
        let instance = linker.instantiate(&mut store, &module).unwrap();
        let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
        for _ in 0..5 {
            assert_eq!(run.call(&mut store, 1).unwrap(), 101);
            let payload = catch_unwind(AssertUnwindSafe(|| run.call(&mut store, 13))).unwrap_err();
            assert_eq!(payload.downcast_ref::<String>().map(String::as_str), Some("unlucky"));
        }
    });
}

#[derive(Debug, thiserror::Error, PartialEq)]
#[error("host says no to {0}")]
struct No(i32);

#[test]
fn a_host_error_arrives_as_itself() {
    each_engine(|engine| {
        let mut linker = Linker::new(engine);
        linker
            .func_wrap("host", "f", |x: i32| -> backedge::Result<i32> {
                if x < 0 {
                    return Err(No(x).into());
                }
                Ok(x)
            })
            .unwrap();
        let module = Module::new(engine, CALLS_HOST).unwrap();
        let mut store = Store::new(engine, ());
        let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<i32, i32>(&mut store, "run").unwrap();
        for _ in 0..5 {
            let error = run.call(&mut store, -3).unwrap_err();
            assert_eq!(error.downcast_ref::<No>(), Some(&No(-3)));
            assert_eq!(error.downcast_ref::<WasmBacktrace>().unwrap().frames().len(), 1);
            assert_eq!(run.call(&mut store, 3).unwrap(), 103);
        }
    });
}

#[test]
fn guests_and_hosts_call_each_other_in_depth() {
    each_engine(|engine| {
        let mut linker: Linker<u32> = Linker::new(engine);
        linker
            .func_wrap("host", "f", |mut caller: Caller<'_, u32>, x: i32| -> backedge::Result<i32> {
                *caller.data_mut() += 1;
                if x == 0 {
                    return Ok(0);
                }
                let run = caller.get_export("run").unwrap().into_func().unwrap();
                run.typed::<i32, i32>(&caller)?.call(&mut caller, x - 1)
            })
            .unwrap();
        let module = Module::new(engine, CALLS_HOST).unwrap();
        let mut store = Store::new(engine, 0);
        let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<i32, i32>(&mut store, "run").unwrap();
        assert_eq!(run.call(&mut store, 50).unwrap(), 5100);
        assert_eq!(*store.data(), 51);
    });
}

#[test]
fn endless_mutual_recursion_with_the_host_is_a_trap() {
    each_engine(|engine| {
        let mut linker: Linker<()> = Linker::new(engine);
        linker
            .func_wrap("host", "f", |mut caller: Caller<'_, ()>, x: i32| -> backedge::Result<i32> {
                let run = caller.get_export("run").unwrap().into_func().unwrap();
                run.typed::<i32, i32>(&caller)?.call(&mut caller, x + 1)
            })
            .unwrap();
        let module = Module::new(engine, CALLS_HOST).unwrap();
        let mut store = Store::new(engine, ());
        let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<i32, i32>(&mut store, "run").unwrap();
        let error = run.call(&mut store, 0).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::StackOverflow));
    });
}

/// As above, where the guest's part is to export what it imports.
#[test]
fn a_host_function_that_calls_itself_through_an_export_is_a_trap() {
    each_engine(|engine| {
        let mut linker: Linker<Option<Instance>> = Linker::new(engine);
        linker
            .func_wrap("host", "run_callback", |mut caller: Caller<'_, Option<Instance>>| -> backedge::Result<()> {
                let instance = caller.data().unwrap();
                instance.get_typed_func::<(), ()>(&mut caller, "callback")?.call(&mut caller, ())
            })
            .unwrap();
        let wat =
            r#"(module (import "host" "run_callback" (func $run)) (export "callback" (func $run)) (func (export "main") (call $run)))"#;
        let module = Module::new(engine, wat).unwrap();
        let mut store = Store::new(engine, None);
        let instance = linker.instantiate(&mut store, &module).unwrap();
        *store.data_mut() = Some(instance);
        for name in ["main", "callback"] {
            let error = instance.get_typed_func::<(), ()>(&mut store, name).unwrap().call(&mut store, ()).unwrap_err();
            assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::StackOverflow));
        }
    });
}

#[test]
fn a_host_function_that_is_a_start_function_sees_the_instance() {
    each_engine(|engine| {
        let module = Module::new(engine, r#"(module (import "" "" (func $start)) (memory (export "m") 1) (start $start))"#).unwrap();
        let mut store = Store::new(engine, 0);
        let start = Func::wrap(&mut store, |mut caller: Caller<'_, i32>| {
            assert!(caller.get_export("none").is_none());
            *caller.data_mut() += i32::from(caller.get_export("m").is_some());
        });
        Instance::new(&mut store, &module, &[start.into()]).unwrap();
        assert_eq!(*store.data(), 1);
        start.call(&mut store, &[], &mut []).unwrap();
        assert_eq!(*store.data(), 1);
    });
}

#[test]
fn an_exception_of_another_store_is_an_error_with_its_context() {
    each_engine(|engine| {
        let mut plugin = Store::new(engine, ());
        let boom = instance(&mut plugin, r#"(module (tag $t) (func (export "boom") (throw $t)))"#);
        let boom = boom.get_typed_func::<(), ()>(&mut plugin, "boom").unwrap();
        let wat = r#"(module (import "" "" (func $f))
            (func (export "run") (result i32) (block $caught (try_table (catch_all $caught) (call $f)) (return (i32.const 0))) (i32.const 1)))"#;
        let module = Module::new(engine, wat).unwrap();
        let mut store = Store::new(engine, ());
        let plugin = std::sync::Mutex::new(plugin);
        let f = Func::wrap(&mut store, move || -> backedge::Result<()> {
            boom.call(&mut *plugin.lock().unwrap(), ()).map_err(|error| error.context("the plugin failed"))
        });
        let run = Instance::new(&mut store, &module, &[f.into()]).unwrap().get_typed_func::<(), i32>(&mut store, "run").unwrap();
        let error = run.call(&mut store, ()).unwrap_err();
        assert!(format!("{error:#}").contains("the plugin failed") && error.is::<ThrownException>(), "{error:#}");
        // One of the guest's own is thrown on, also where the host has said more.
        let wat = r#"(module (import "" "" (func $f)) (tag $t) (func (export "boom") (throw $t))
            (func (export "run") (result i32) (block $caught (try_table (catch_all $caught) (call $f)) (return (i32.const 0))) (i32.const 1)))"#;
        let module = Module::new(engine, wat).unwrap();
        let f = Func::wrap(&mut store, |mut caller: Caller<'_, ()>| -> backedge::Result<()> {
            let boom = caller.get_export("boom").unwrap().into_func().unwrap();
            boom.call(&mut caller, &[], &mut []).map_err(|error| error.context("the guest failed"))
        });
        let run = Instance::new(&mut store, &module, &[f.into()]).unwrap().get_typed_func::<(), i32>(&mut store, "run").unwrap();
        assert_eq!(run.call(&mut store, ()).unwrap(), 1);
    });
}

/// The last word of the stack may be a thunk's, whose frame says nothing: frames of many sizes meet that.
#[test]
fn a_stack_overflow_has_a_backtrace_wherever_it_is() {
    each_engine(|engine| {
        for locals in 0..12 {
            let every = |text: &str| (0..locals).map(|local| text.replace('?', &local.to_string())).collect::<String>();
            let wat = format!(
                r#"(module (import "" "" (func $host (param i64))) (memory 1)
                    (func $f (export "f") (local {}) (call $host (i64.const 0)) {} (call $f) {}))"#,
                "i64 ".repeat(locals),
                every("(call $host (i64.const 0)) (local.set ? (i64.load8_u (i32.const ?)))"),
                every("(call $host (local.get ?))")
            );
            let module = Module::new(engine, wat).unwrap();
            let mut store = Store::new(engine, ());
            let host = Func::wrap(&mut store, |_: i64| {});
            let f = Instance::new(&mut store, &module, &[host.into()]).unwrap().get_typed_func::<(), ()>(&mut store, "f").unwrap();
            for _ in 0..3 {
                let error = f.call(&mut store, ()).unwrap_err();
                assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::StackOverflow));
                let frames = error.downcast_ref::<WasmBacktrace>().map_or(0, |trace| trace.frames().len());
                assert!(frames >= 1000, "{frames} frames, {locals} locals, {:?}", engine.config());
            }
        }
    });
}

#[test]
fn a_backtrace_says_where_it_was_cut() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let wat = r#"(module (tag $t)
            (func $f (export "f") (param i32) (result i32)
                (if (result i32) (local.get 0) (then (i32.add (call $f (i32.sub (local.get 0) (i32.const 1))) (i32.const 1))) (else unreachable)))
            (func $g (export "g") (param i32) (result i32)
                (if (result i32) (local.get 0) (then (i32.add (call $g (i32.sub (local.get 0) (i32.const 1))) (i32.const 1))) (else (throw $t)))))"#;
        let instance = instance(&mut store, wat);
        for (name, depth, kept) in [("f", 999, 1000), ("f", 1000, 1000), ("f", 5000, 1000), ("g", 10, 11)] {
            let f = instance.get_typed_func::<i32, i32>(&mut store, name).unwrap();
            let error = f.call(&mut store, depth).unwrap_err();
            let trace = error.downcast_ref::<WasmBacktrace>().unwrap();
            assert_eq!((trace.frames().len(), trace.is_cut()), (kept, depth + 1 > kept as i32), "{name} {depth} {:?}", engine.config());
            assert_eq!(trace.to_string().contains("which were not kept"), trace.is_cut());
        }
        let g = instance.get_typed_func::<i32, i32>(&mut store, "g").unwrap();
        assert!(g.call(&mut store, 1000).unwrap_err().downcast_ref::<WasmBacktrace>().unwrap().is_cut());
    });
}

#[test]
fn imports_that_do_not_fit_are_told_apart() {
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let global = Global::new(&mut store, GlobalType::new(ValType::I64, Mutability::Const), Val::I64(1)).unwrap();
    let memory = Memory::new(&mut store, MemoryType::new(1, None)).unwrap();
    let table = Table::new(&mut store, TableType::new(RefType::EXTERNREF, 1, None), Ref::Extern(None)).unwrap();
    let tag = Tag::new(&mut store, &TagType::new(FuncType::new(&engine, [ValType::I32], []))).unwrap();
    let cases: [(&str, Extern, &str, &str); 9] = [
        (
            "(global (mut i32))",
            global.into(),
            "global types incompatible: expected global of type `mut i32`, found `i64`",
            "global mut i32",
        ),
        (
            "(global (ref null $t))",
            global.into(),
            "type `(ref null (func (param i64)))`, found `i64`",
            "global (ref null (func (param i64)))",
        ),
        ("(memory 2)", memory.into(), "expected limits at least 2, found at least 1", "memory 2 pages"),
        ("(memory 1 3)", memory.into(), "expected limits 1 to 3, found at least 1", "memory 1..3 pages"),
        ("(memory i64 1)", memory.into(), "expected 64-bit unshared memory, found 32-bit unshared memory", "memory i64 1 pages"),
        ("(memory 1 2 shared)", memory.into(), "expected 32-bit shared memory, found 32-bit unshared", "memory 1..2 pages shared"),
        ("(table 1 funcref)", table.into(), "expected 32-bit table of `funcref`, found 32-bit table of `externref`", "table 1 funcref"),
        ("(table i64 1 externref)", table.into(), "expected 64-bit table of `externref`, found 32-bit", "table i64 1 externref"),
        ("(tag (param i64))", tag.into(), "expected type `(func (param i64))`, found type `(func (param i32))`", "tag (i64) -> ()"),
    ];
    for (import, given, message, shown) in cases {
        let module = Module::new(&engine, format!(r#"(module (type $t (func (param i64))) (import "e" "x" {import}))"#)).unwrap();
        let error = Instance::new(&mut store, &module, &[given]).unwrap_err().to_string();
        assert!(error.contains(message), "{import}: {error}");
        assert_eq!(module.imports().next().unwrap().ty().to_string(), shown, "{import}");
    }
}

#[test]
fn a_host_names_a_function_type_in_a_reference() {
    each_engine(|engine| {
        let inner = FuncType::new(engine, [ValType::I64], [ValType::I64]);
        let reference = RefType::new(true, HeapType::ConcreteFunc(SignatureId::new(engine, &inner).unwrap()));
        let mut store = Store::new(engine, ());
        let ty = FuncType::new(engine, [ValType::Ref(reference)], [ValType::I32]);
        let is_null = Func::new(&mut store, ty, |_, values, results| {
            results[0] = Val::I32(i32::from(matches!(values[0], Val::FuncRef(None))));
            Ok(())
        });
        let wat = r#"(module (type $inner (func (param i64) (result i64)))
            (import "" "" (func $is_null (param (ref null $inner)) (result i32)))
            (func $f (type $inner) (local.get 0)) (elem declare func $f)
            (func (export "run") (result i32)
                (i32.add (call $is_null (ref.null $inner)) (i32.mul (i32.const 10) (call $is_null (ref.func $f))))))"#;
        let module = Module::new(engine, wat).unwrap();
        let instance = Instance::new(&mut store, &module, &[is_null.into()]).unwrap();
        assert_eq!(instance.get_typed_func::<(), i32>(&mut store, "run").unwrap().call(&mut store, ()).unwrap(), 1);
    });
}

#[test]
fn a_host_function_recovers_from_a_nested_trap() {
    each_engine(|engine| {
        let mut linker: Linker<()> = Linker::new(engine);
        linker
            .func_wrap("host", "try", |mut caller: Caller<'_, ()>| -> i32 {
                let fails = caller.get_export("fails").unwrap().into_func().unwrap();
                let error = fails.call(&mut caller, &[], &mut []).unwrap_err();
                i32::from(error.downcast_ref::<Trap>() == Some(&Trap::UnreachableCodeReached))
            })
            .unwrap();
        let wat = r#"(module
            (import "host" "try" (func $try (result i32)))
            (func (export "fails") unreachable)
            (func (export "run") (param i32) (result i32) (i32.add (local.get 0) (call $try))))"#;
        let module = Module::new(engine, wat).unwrap();
        let mut store = Store::new(engine, ());
        let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<i32, i32>(&mut store, "run").unwrap();
        for _ in 0..5 {
            assert_eq!(run.call(&mut store, 41).unwrap(), 42);
        }
    });
}

#[test]
fn threads_share_a_module() {
    each_engine(|engine| {
        let wat = r#"(module
            (global $calls (mut i32) (i32.const 0))
            (func $fib (param i32) (result i32)
                (if (result i32) (i32.lt_u (local.get 0) (i32.const 2)) (then (local.get 0))
                    (else (i32.add (call $fib (i32.sub (local.get 0) (i32.const 1))) (call $fib (i32.sub (local.get 0) (i32.const 2)))))))
            (func (export "run") (param i32) (result i32 i32)
                (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
                (call $fib (local.get 0)) (global.get $calls)))"#;
        let module = Module::new(engine, wat).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..20 {
                        let mut store = Store::new(module.engine(), ());
                        let instance = Instance::new(&mut store, &module, &[]).unwrap();
                        let run = instance.get_typed_func::<i32, (i32, i32)>(&mut store, "run").unwrap();
                        assert_eq!(run.call(&mut store, 15).unwrap(), (610, 1));
                        assert_eq!(run.call(&mut store, 10).unwrap(), (55, 2));
                    }
                });
            }
        });
    });
}

#[test]
fn a_store_moves_between_threads() {
    each_engine(|engine| {
        let mut store = Store::new(engine, 0);
        let wat = r#"(module (global $g (mut i32) (i32.const 0)) (func (export "next") (result i32)
            (global.set $g (i32.add (global.get $g) (i32.const 1))) (global.get $g)))"#;
        let next = instance(&mut store, wat).get_typed_func::<(), i32>(&mut store, "next").unwrap();
        for round in 1..=6 {
            store = std::thread::spawn(move || {
                assert_eq!(next.call(&mut store, ()).unwrap(), round);
                store
            })
            .join()
            .unwrap();
        }
    });
}

#[test]
fn a_deadline_stops_a_loop_that_runs() {
    for engine in engines(|config| {
        config.epoch_interruption(true);
    }) {
        let (started, wait) = mpsc::channel::<()>();
        let mut linker = Linker::new(&engine);
        linker.func_wrap("host", "started", move || started.send(()).unwrap()).unwrap();
        let wat = r#"(module (import "host" "started" (func $started))
            (func (export "spin") (local i32) (call $started) (loop (local.set 0 (i32.add (local.get 0) (i32.const 1))) (br 0))))"#;
        let module = Module::new(&engine, wat).unwrap();
        let mut store = Store::new(&engine, ());
        store.set_epoch_deadline(1);
        let spin = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<(), ()>(&mut store, "spin").unwrap();
        let ticker = engine.clone();
        let thread = std::thread::spawn(move || {
            wait.recv().unwrap();
            ticker.increment_epoch();
        });
        let error = spin.call(&mut store, ()).unwrap_err();
        thread.join().unwrap();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt));
    }
}

#[test]
fn a_deadline_callback_lets_the_guest_go_on_or_stops_it() {
    for engine in engines(|config| {
        config.epoch_interruption(true);
    }) {
        let mut store = Store::new(&engine, 0u32);
        let wat = r#"(module (func (export "spin") (loop (br 0))))"#;
        let spin = instance(&mut store, wat);
        // Instantiation runs no code, so the deadline of 0 ticks has not been met yet.
        let spin = spin.get_typed_func::<(), ()>(&mut store, "spin").unwrap();
        store.epoch_deadline_callback(|mut context| {
            *context.data_mut() += 1;
            if *context.data() == 3 {
                bail!("three times is enough");
            }
            Ok(UpdateDeadline::Continue(0))
        });
        store.set_epoch_deadline(0);
        let error = spin.call(&mut store, ()).unwrap_err();
        assert!(format!("{error:#}").contains("three times"), "{error:#}");
        assert_eq!(*store.data(), 3);
    }
}

#[test]
fn limits_hold() {
    each_engine(|engine| {
        let wat = r#"(module (memory (export "m") 1) (table (export "t") 1 funcref)
            (func (export "memory") (param i32) (result i32) (memory.grow (local.get 0)))
            (func (export "table") (param i32) (result i32) (table.grow (ref.null func) (local.get 0))))"#;
        let limits = || StoreLimitsBuilder::new().memory_size(3 << 16).table_elements(5).instances(2);
        let mut store = Store::new(engine, limits().build());
        store.limiter(|limits| limits);
        let made = instance(&mut store, wat);
        let memory = made.get_typed_func::<i32, i32>(&mut store, "memory").unwrap();
        let table = made.get_typed_func::<i32, i32>(&mut store, "table").unwrap();
        for _ in 0..3 {
            assert_eq!(memory.call(&mut store, 3).unwrap(), -1);
            assert_eq!(table.call(&mut store, 5).unwrap(), -1);
        }
        assert_eq!(memory.call(&mut store, 2).unwrap(), 1);
        assert_eq!(table.call(&mut store, 4).unwrap(), 1);
        assert!(made.get_memory(&mut store, "m").unwrap().grow(&mut store, 1).is_err());
        instance(&mut store, wat);
        let module = Module::new(engine, wat).unwrap();
        let error = Instance::new(&mut store, &module, &[]).unwrap_err();
        assert!(error.downcast_ref::<LinkError>().is_some(), "{error:#}");

        let mut store = Store::new(engine, StoreLimitsBuilder::new().memory_size(1000).build());
        store.limiter(|limits: &mut StoreLimits| limits);
        assert!(Instance::new(&mut store, &module, &[]).is_err());
    });
}

#[test]
fn a_failing_limiter_traps() {
    each_engine(|engine| {
        let limits = StoreLimitsBuilder::new().memory_size(1 << 16).trap_on_grow_failure(true).build();
        let mut store = Store::new(engine, limits);
        store.limiter(|limits| limits);
        let wat = r#"(module (memory 1) (func (export "f") (result i32) (memory.grow (i32.const 1))))"#;
        let grow = instance(&mut store, wat).get_typed_func::<(), i32>(&mut store, "f").unwrap();
        for _ in 0..3 {
            let error = grow.call(&mut store, ()).unwrap_err();
            assert!(format!("{error:#}").contains("forcing trap when growing memory"), "{error:#}");
        }
    });
}

#[test]
fn references_cross_both_ways() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let wat = r#"(module
            (type $unary (func (param i32) (result i32)))
            (table $t (export "t") 2 funcref)
            (global (export "g") (mut externref) (ref.null extern))
            (func $double (param i32) (result i32) (i32.mul (local.get 0) (i32.const 2)))
            (elem declare func $double)
            (func (export "get") (result funcref) (ref.func $double))
            (func (export "same") (param externref) (result externref) (local.get 0))
            (func (export "call") (param i32) (result i32) (call_indirect (type $unary) (local.get 0) (i32.const 0))))"#;
        let instance = instance(&mut store, wat);
        let get = instance.get_typed_func::<(), Option<Func>>(&mut store, "get").unwrap();
        let double = get.call(&mut store, ()).unwrap().unwrap();
        assert_eq!(double.typed::<i32, i32>(&store).unwrap().call(&mut store, 4).unwrap(), 8);

        let table = instance.get_table(&mut store, "t").unwrap();
        let call = instance.get_typed_func::<i32, i32>(&mut store, "call").unwrap();
        let error = call.call(&mut store, 1).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::IndirectCallToNull));
        let triple = Func::wrap(&mut store, |x: i32| x * 3);
        for _ in 0..5 {
            table.set(&mut store, 0, triple.into()).unwrap();
            assert_eq!(call.call(&mut store, 5).unwrap(), 15);
            table.set(&mut store, 0, double.into()).unwrap();
            assert_eq!(call.call(&mut store, 5).unwrap(), 10);
        }
        let wrong = Func::wrap(&mut store, || {});
        table.set(&mut store, 0, wrong.into()).unwrap();
        let error = call.call(&mut store, 1).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::BadSignature));

        let value = ExternRef::new(&mut store, String::from("kept")).unwrap();
        let same = instance.get_typed_func::<Option<ExternRef>, Option<ExternRef>>(&mut store, "same").unwrap();
        let back = same.call(&mut store, Some(value)).unwrap().unwrap();
        assert_eq!(back.data(&store).unwrap().unwrap().downcast_ref::<String>().unwrap(), "kept");
        assert_eq!(same.call(&mut store, None).unwrap(), None);
        let global = instance.get_global(&mut store, "g").unwrap();
        global.set(&mut store, Val::ExternRef(Some(value))).unwrap();
        assert_eq!(global.get(&mut store).unwrap_externref(), Some(&value));
    });
}

#[test]
fn sixteen_parameters_of_every_type_and_several_results() {
    each_engine(|engine| {
        let mut linker = Linker::new(engine);
        linker
            .func_wrap(
                "host",
                "f",
                |a: i32,
                 b: i64,
                 c: f32,
                 d: f64,
                 e: u32,
                 f: u64,
                 g: i32,
                 h: i64,
                 i: f32,
                 j: f64,
                 k: i32,
                 l: i32,
                 m: i32,
                 n: i32,
                 o: i32,
                 p: f32| {
                    let sum = a as i64 + b + e as i64 + f as i64 + g as i64 + h + (k + l + m + n + o) as i64;
                    (sum, c + i + p, d + j, f32::from_bits(0x7fa0_0001))
                },
            )
            .unwrap();
        let wat = r#"(module
            (import "host" "f" (func $f (param i32 i64 f32 f64 i32 i64 i32 i64 f32 f64 i32 i32 i32 i32 i32 f32) (result i64 f32 f64 f32)))
            (func (export "run") (result i64 f32 f64 i32)
                (call $f (i32.const 1) (i64.const 2) (f32.const 0.5) (f64.const 0.25) (i32.const 3) (i64.const 4) (i32.const 5) (i64.const 6)
                    (f32.const 1.5) (f64.const 2.25) (i32.const 7) (i32.const 8) (i32.const 9) (i32.const 10) (i32.const 11) (f32.const 2))
                i32.reinterpret_f32))"#;
        let module = Module::new(engine, wat).unwrap();
        let mut store = Store::new(engine, ());
        let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<(), (i64, f32, f64, u32)>(&mut store, "run").unwrap();
        for _ in 0..5 {
            assert_eq!(run.call(&mut store, ()).unwrap(), (66, 4.0, 2.5, 0x7fa0_0001));
        }
    });
}

#[test]
fn memories_tables_and_globals_of_the_host_are_shared() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let memory = Memory::new(&mut store, MemoryType::new(1, None)).unwrap();
        let table = Table::new(&mut store, TableType::new(RefType::FUNCREF, 1, None), Ref::Func(None)).unwrap();
        let ty = GlobalType::new(ValType::I32, Mutability::Var);
        let global = Global::new(&mut store, ty, Val::I32(5)).unwrap();
        let mut linker = Linker::new(engine);
        linker.define(&store, "h", "m", memory).unwrap();
        linker.define(&store, "h", "t", table).unwrap();
        linker.define(&store, "h", "g", global).unwrap();
        let wat = r#"(module (import "h" "m" (memory 1)) (import "h" "t" (table 1 funcref)) (import "h" "g" (global $g (mut i32)))
            (func $f (result i32) (i32.const 77))
            (elem (i32.const 0) func $f)
            (func (export "run") (result i32)
                (i32.store (i32.const 4) (i32.load (i32.const 0)))
                (global.set $g (i32.add (global.get $g) (i32.const 1)))
                (drop (memory.grow (i32.const 1)))
                (global.get $g)))"#;
        let module = Module::new(engine, wat).unwrap();
        let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<(), i32>(&mut store, "run").unwrap();
        memory.write(&mut store, 0, &123i32.to_le_bytes()).unwrap();
        assert_eq!(run.call(&mut store, ()).unwrap(), 6);
        assert_eq!(global.get(&mut store).unwrap_i32(), 6);
        let mut bytes = [0; 4];
        memory.read(&store, 4, &mut bytes).unwrap();
        assert_eq!(i32::from_le_bytes(bytes), 123);
        assert_eq!(memory.size(&store), 2);
        let f = *table.get(&mut store, 0).unwrap().unwrap_func().unwrap();
        assert_eq!(f.typed::<(), i32>(&store).unwrap().call(&mut store, ()).unwrap(), 77);
    });
}

#[test]
fn calls_that_do_not_fit_are_errors() {
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let f = Func::wrap(&mut store, |x: i32| x);
    let mut one = [Val::I32(0)];
    assert!(f.call(&mut store, &[], &mut one).unwrap_err().to_string().contains("expected 1 arguments, got 0"));
    assert!(f.call(&mut store, &[Val::I64(1)], &mut one).unwrap_err().to_string().contains("type mismatch"));
    assert!(f.call(&mut store, &[Val::I32(1)], &mut []).unwrap_err().to_string().contains("expected 1 results"));
    assert!(f.typed::<i64, i32>(&store).is_err());
    let ty = FuncType::new(&engine, [], [ValType::I32]);
    let lies = Func::new(&mut store, ty, |_, _, results| {
        results[0] = Val::I64(1);
        Ok(())
    });
    assert!(lies.call(&mut store, &[], &mut one).unwrap_err().to_string().contains("incompatible value"));
}

#[test]
fn a_typed_function_may_take_more_and_return_less() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let wat = r#"(module (type $t (func (result i32)))
            (func $seven (export "seven") (result i32) (i32.const 7))
            (func (export "any") (param funcref) (result i32) (ref.is_null (local.get 0)))
            (func (export "some") (param (ref func)) (result (ref $t)) (ref.func $seven)))"#;
        let instance = instance(&mut store, wat);
        let mut of = |name| instance.get_func(&mut store, name).unwrap();
        let [seven, any, some] = ["seven", "any", "some"].map(&mut of);
        assert_eq!(any.typed::<Func, i32>(&store).unwrap().call(&mut store, seven).unwrap(), 0);
        assert_eq!(any.typed::<Option<Func>, i32>(&store).unwrap().call(&mut store, None).unwrap(), 1);
        let got = some.typed::<Func, Func>(&store).unwrap().call(&mut store, any).unwrap();
        assert_eq!(got.typed::<(), i32>(&store).unwrap().call(&mut store, ()).unwrap(), 7);
        assert!(some.typed::<Func, Option<Func>>(&store).unwrap().call(&mut store, any).unwrap().is_some());
        assert!(some.typed::<Option<Func>, Func>(&store).is_err(), "it cannot take null");
        assert!(any.typed::<ExternRef, i32>(&store).is_err());
        let host = Func::wrap(&mut store, |func: Func| func);
        assert_eq!(host.ty(&store).to_string(), "((ref func)) -> ((ref func))");
    });
}

#[test]
fn handles_of_another_store_are_refused() {
    let engine = Engine::default();
    let mut one = Store::new(&engine, ());
    let mut two = Store::new(&engine, ());
    let f = Func::wrap(&mut one, || {});
    assert!(catch_unwind(AssertUnwindSafe(|| f.call(&mut two, &[], &mut []))).is_err());
    let module = Module::new(&engine, r#"(module (import "" "" (func)))"#).unwrap();
    assert!(Instance::new(&mut two, &module, &[f.into()]).is_err());
    let mut linker = Linker::new(&engine);
    linker.define(&one, "", "", f).unwrap();
    assert!(linker.instantiate(&mut two, &module).is_err());
    linker.instantiate(&mut one, &module).unwrap();
}

#[test]
fn linkers_name_what_is_missing() {
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    let module = Module::new(&engine, CALLS_HOST).unwrap();
    let error = linker.instantiate(&mut store, &module).unwrap_err();
    let unknown = error.downcast_ref::<UnknownImportError>().unwrap();
    assert_eq!((unknown.module(), unknown.name()), ("host", "f"));
    linker.func_wrap("host", "f", |_: i64| {}).unwrap();
    let error = linker.instantiate(&mut store, &module).unwrap_err();
    assert!(error.to_string().contains("incompatible import type for `host::f`"), "{error:#}");
    assert!(linker.func_wrap("host", "f", || {}).is_err(), "defined twice");
    linker.allow_shadowing(true);
    linker.func_wrap("other", "g", |x: i32| x + 1).unwrap();
    linker.alias("other", "g", "host", "f").unwrap();
    let instance = linker.instantiate(&mut store, &module).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    assert_eq!(run.call(&mut store, 1).unwrap(), 102);

    let mut traps = Linker::new(&engine);
    traps.define_unknown_imports_as_traps(&module).unwrap();
    let instance = traps.instantiate(&mut store, &module).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    assert!(run.call(&mut store, 1).unwrap_err().downcast_ref::<UnknownImportError>().is_some());
}

#[test]
fn linked_commands_are_fresh_and_reactors_are_not() {
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    let counter = |start: &str| {
        format!(
            r#"(module (global $g (mut i32) (i32.const 0))
                (func (export "{start}") (global.set $g (i32.const 10)))
                (func (export "next") (result i32) (global.set $g (i32.add (global.get $g) (i32.const 1))) (global.get $g)))"#
        )
    };
    linker.module(&mut store, "command", &Module::new(&engine, counter("_start")).unwrap()).unwrap();
    linker.module(&mut store, "reactor", &Module::new(&engine, counter("_initialize")).unwrap()).unwrap();
    for (module, expected) in [("command", [1, 1]), ("reactor", [11, 12])] {
        let next = linker.get(&mut store, module, "next").unwrap().into_func().unwrap();
        let next = next.typed::<(), i32>(&store).unwrap();
        assert_eq!([next.call(&mut store, ()).unwrap(), next.call(&mut store, ()).unwrap()], expected);
    }
    linker.get_default(&mut store, "command").unwrap().call(&mut store, &[], &mut []).unwrap();
}

struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn a_store_drops_what_it_was_given() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let engine = Engine::default();
    let mut store = Store::new(&engine, Counted(dropped.clone()));
    let captured = Counted(dropped.clone());
    Func::wrap(&mut store, move || {
        let _ = &captured;
    });
    ExternRef::new(&mut store, Counted(dropped.clone())).unwrap();
    let data = store.into_data();
    assert_eq!(dropped.load(Ordering::Relaxed), 2);
    drop(data);
    assert_eq!(dropped.load(Ordering::Relaxed), 3);
}

#[test]
fn runs_inside_a_tokio_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        each_engine(|engine| {
            let mut store = Store::new(engine, ());
            let wat = r#"(module (func (export "f") (result i32) (i32.const 1)))"#;
            let f = instance(&mut store, wat).get_typed_func::<(), i32>(&mut store, "f").unwrap();
            for _ in 0..10 {
                assert_eq!(f.call(&mut store, ()).unwrap(), 1);
            }
        });
    });
}

#[test]
fn bad_modules_are_errors_with_an_offset() {
    let engine = Engine::default();
    for (bytes, expected) in [
        (&b"\0asm\x01\0\0\0\x01\xff"[..], "offset"),
        (b"\0asm\x01\0\0\0\x0a\x01\x01", "offset"),
        (b"hello", "neither"),
        (b"(module (func (result i32)))", "offset"),
    ] {
        let error = Module::new(&engine, bytes).unwrap_err();
        assert!(error.to_string().contains(expected), "{error:#}");
    }
    let error = Module::from_file(&engine, "/no/such/file.wasm").unwrap_err();
    assert!(error.to_string().contains("/no/such/file.wasm"));
}

#[test]
fn what_a_function_of_another_store_is_is_not_looked_at() {
    each_engine(|engine| {
        // (its store is gone)
        let dead = {
            let mut store = Store::new(engine, ());
            instance(&mut store, "(module (memory 1) (func (export \"g\")))").get_func(&mut store, "g").unwrap()
        };
        let mut store = Store::new(engine, ());
        let wat = "(module (type $t (func)) (func (export \"f\") (param (ref null $t))) (table (export \"t\") 1 (ref null $t))
            (global (export \"g\") (mut (ref null $t)) (ref.null $t)))";
        let made = instance(&mut store, wat);
        let value = Val::FuncRef(Some(dead));
        let f = made.get_func(&mut store, "f").unwrap();
        let (table, global) = (made.get_table(&mut store, "t").unwrap(), made.get_global(&mut store, "g").unwrap());
        let errors = [
            f.call(&mut store, &[value], &mut []).unwrap_err(),
            table.set(&mut store, 0, Ref::Func(Some(dead))).unwrap_err(),
            global.set(&mut store, value).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains("a store that it does not belong to"), "{error:#}");
        }
    });
}

#[test]
fn results_of_host_functions_may_be_any_reference_that_fits() {
    each_engine(|engine| {
        let wat = "(module (type $t (func (result i32)))
            (import \"host\" \"own\" (func $own (result (ref null $t)))) (import \"host\" \"some\" (func $some (result (ref func))))
            (func $seven (export \"seven\") (type $t) (i32.const 7))
            (func (export \"own\") (result i32) (call_ref $t (call $own)))
            (func (export \"some\") (drop (call $some))))";
        let module = Module::new(engine, wat).unwrap();
        let types: Vec<FuncType> = module.imports().filter_map(|import| import.ty().func().cloned()).collect();
        let mut linker: Linker<Option<Func>> = Linker::new(engine);
        for (name, ty) in ["own", "some"].into_iter().zip(types) {
            let give = move |caller: Caller<'_, Option<Func>>, _: &[Val], results: &mut [Val]| {
                assert!(results[0].unwrap_funcref().is_none());
                results[0] = Val::FuncRef(*caller.data());
                Ok(())
            };
            linker.func_new("host", name, ty, give).unwrap();
        }
        let mut store = Store::new(engine, None);
        let made = linker.instantiate(&mut store, &module).unwrap();
        let own = made.get_typed_func::<(), i32>(&mut store, "own").unwrap();
        let some = made.get_typed_func::<(), ()>(&mut store, "some").unwrap();
        // Null is one of the first type's values, and none of the second's.
        assert_eq!(own.call(&mut store, ()).unwrap_err().downcast_ref::<Trap>(), Some(&Trap::NullReference));
        assert!(format!("{:#}", some.call(&mut store, ()).unwrap_err()).contains("incompatible value"));
        *store.data_mut() = made.get_func(&mut store, "seven");
        assert_eq!(own.call(&mut store, ()).unwrap(), 7);
        some.call(&mut store, ()).unwrap();
        *store.data_mut() = made.get_func(&mut store, "some");
        assert!(format!("{:#}", own.call(&mut store, ()).unwrap_err()).contains("incompatible value"));
        // What nobody defines traps with its name, whatever it returns.
        let mut linker: Linker<()> = Linker::new(engine);
        linker.define_unknown_imports_as_traps(&module).unwrap();
        let mut store = Store::new(engine, ());
        let made = linker.instantiate(&mut store, &module).unwrap();
        let error = made.get_typed_func::<(), ()>(&mut store, "some").unwrap().call(&mut store, ()).unwrap_err();
        assert!(error.downcast_ref::<UnknownImportError>().is_some(), "{error:#}");
    });
}

const SPIN: &str = "(module (import \"host\" \"try\" (func $try)) (func (export \"spin\") (loop (br 0)))
    (func (export \"run\") (call $try) (loop (br 0))))";

/// Runs a guest whose host function ticks past the deadline and does `then`: the guest is stopped.
fn is_stopped_behind(engine: &Engine, then: impl Fn(&mut Caller<'_, ()>) -> backedge::Result<()> + Send + Sync + 'static) {
    let module = Module::new(engine, SPIN).unwrap();
    let mut linker: Linker<()> = Linker::new(engine);
    let tick = move |mut caller: Caller<'_, ()>| {
        caller.engine().increment_epoch();
        then(&mut caller)
    };
    linker.func_wrap("host", "try", tick).unwrap();
    let mut store = Store::new(engine, ());
    store.set_epoch_deadline(1);
    let run = linker.instantiate(&mut store, &module).unwrap().get_typed_func::<(), ()>(&mut store, "run").unwrap();
    assert_eq!(run.call(&mut store, ()).unwrap_err().downcast_ref::<Trap>(), Some(&Trap::Interrupt));
}

#[test]
fn a_deadline_that_a_host_function_survives_is_met_again() {
    for engine in engines(|config| {
        config.epoch_interruption(true);
    }) {
        is_stopped_behind(&engine, |caller| {
            let spin = caller.get_export("spin").unwrap().into_func().unwrap();
            let error = spin.call(caller, &[], &mut []).unwrap_err();
            assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::Interrupt));
            Ok(())
        });
    }
}

#[test]
fn an_instance_made_behind_the_deadline_stops() {
    for engine in engines(|config| {
        config.epoch_interruption(true);
    }) {
        let inner = Module::new(&engine, "(module (func (export \"spin\") (loop (br 0))))").unwrap();
        is_stopped_behind(&engine, move |caller| {
            let made = Instance::new(&mut *caller, &inner, &[])?;
            made.get_typed_func::<(), ()>(&mut *caller, "spin")?.call(caller, ())
        });
    }
}

#[test]
fn a_deadline_callback_may_have_itself_replaced() {
    for engine in engines(|config| {
        config.epoch_interruption(true);
    }) {
        let mut store = Store::new(&engine, 0u32);
        let spin = instance(&mut store, "(module (func (export \"spin\") (loop (br 0))))");
        let spin = spin.get_typed_func::<(), ()>(&mut store, "spin").unwrap();
        store.epoch_deadline_callback(|mut context| {
            *context.data_mut() += 1;
            context.epoch_deadline_trap();
            Ok(UpdateDeadline::Continue(0))
        });
        store.set_epoch_deadline(0);
        assert_eq!(spin.call(&mut store, ()).unwrap_err().downcast_ref::<Trap>(), Some(&Trap::Interrupt));
        assert_eq!(*store.data(), 1);
    }
}

#[test]
fn a_linker_refuses_a_function_of_another_type_before_there_is_a_store() {
    let engine = Engine::default();
    let mut linker: Linker<()> = Linker::new(&engine);
    linker.func_wrap("h", "f", |_: i32| ()).unwrap();
    let wrong = Module::new(&engine, r#"(module (import "h" "f" (func (param i64))))"#).unwrap();
    let error = linker.instantiate_pre(&wrong).map(drop).unwrap_err().to_string();
    assert_eq!(
        error,
        "incompatible import type for `h::f`: types incompatible: expected type `(func (param i64))`, found type `(func (param i32))`"
    );
    let memory = Module::new(&engine, r#"(module (import "h" "f" (memory 1)))"#).unwrap();
    assert!(linker.instantiate_pre(&memory).map(drop).unwrap_err().to_string().contains("found a function"));
    let right = Module::new(&engine, r#"(module (import "h" "f" (func (param i32))))"#).unwrap();
    linker.instantiate_pre(&right).unwrap();
}

#[test]
fn one_of_many_exports_is_found() {
    let engine = Engine::default();
    let exports: String = (0..1000).map(|n| format!(r#"(global (export "g{n}") i32 (i32.const {n}))"#)).collect();
    let module = Module::new(&engine, format!("(module {exports})")).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    for n in [0, 500, 999] {
        let global = instance.get_global(&mut store, &format!("g{n}")).unwrap();
        assert_eq!(global.get(&mut store).i32(), Some(n));
    }
    assert!(instance.get_export(&mut store, "g1000").is_none() && module.get_export("g1000").is_none());
}

#[test]
fn a_deadline_needs_its_setting() {
    each_engine(|engine| {
        let mut store = Store::new(engine, ());
        let made = instance(
            &mut store,
            "(module (func (export \"f\") (param i32) (loop (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))))",
        );
        store.set_epoch_deadline(0);
        made.get_typed_func::<i32, ()>(&mut store, "f").unwrap().call(&mut store, 1000).unwrap();
    });
}

#[test]
fn types_that_no_module_may_have_are_refused() {
    let mut store = Store::new(&Engine::default(), ());
    for ty in [MemoryType::new64(5, Some(2)), MemoryType::new(1, Some(70_000)), MemoryType::new(5, Some(2))] {
        assert!(Memory::new(&mut store, ty).unwrap_err().to_string().starts_with("invalid memory type"));
    }
    let ty = TableType::new(RefType::FUNCREF, 5, Some(2));
    assert!(Table::new(&mut store, ty, Ref::Func(None)).unwrap_err().to_string().starts_with("invalid table type"));
    let module = Module::new(store.engine(), "(module (import \"a\" \"m\" (memory 1)))").unwrap();
    let error = Linker::<()>::new(store.engine()).define_unknown_imports_as_default_values(&module).unwrap_err();
    assert!(error.to_string().contains("`a::m`, which is no function"), "{error:#}");
}

/// Allows nothing, for a reason of its own.
struct Refuses;

#[derive(Debug)]
struct Why;

impl std::fmt::Display for Why {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("because")
    }
}

impl std::error::Error for Why {}

impl backedge::ResourceLimiter for Refuses {
    fn memory_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> backedge::Result<bool> {
        Err(Why.into())
    }

    fn table_growing(&mut self, _: usize, _: usize, _: Option<usize>) -> backedge::Result<bool> {
        Err(Why.into())
    }
}

#[test]
fn a_limiters_own_error_comes_back() {
    let mut store = Store::new(&Engine::default(), Refuses);
    store.limiter(|limits| limits);
    let module = Module::new(store.engine(), "(module (memory 1))").unwrap();
    let errors = [
        Memory::new(&mut store, MemoryType::new(1, None)).unwrap_err(),
        Table::new(&mut store, TableType::new(RefType::FUNCREF, 1, None), Ref::Func(None)).unwrap_err(),
        Instance::new(&mut store, &module, &[]).unwrap_err(),
    ];
    for error in errors {
        assert!(error.downcast_ref::<Why>().is_some() && error.downcast_ref::<LinkError>().is_some(), "{error:#}");
        assert_eq!(format!("{error:#}"), "the store's limiter failed: because");
    }
}

#[test]
fn a_commands_start_has_its_name() {
    let engine = Engine::default();
    let module = Module::new(&engine, "(module (func (export \"_start\")) (func (export \"more\")))").unwrap();
    let mut store = Store::new(&engine, ());
    let mut linker: Linker<()> = Linker::new(&engine);
    linker.module(&mut store, "cmd", &module).unwrap();
    assert!(["_start", "more"].iter().all(|name| linker.get(&mut store, "cmd", name).is_some()));
    linker.get_default(&mut store, "cmd").unwrap().call(&mut store, &[], &mut []).unwrap();
}

#[test]
fn text_for_a_guest_has_no_nul() {
    let mut builder = backedge::wasi::WasiCtxBuilder::new();
    assert!(
        builder.arg("a\0b").is_err()
            && builder.env("a", "b\0").is_err()
            && builder.env("a=b", "c").is_err()
            && builder.env("", "c").is_err()
    );
    assert!(builder.arg("ab").is_ok() && builder.env("a", "b=c").is_ok());
}

/// A host function may hand the store to another thread for as long as it runs.
#[test]
fn a_store_on_another_thread_has_that_threads_stack() {
    const WAT: &str = r#"(module (import "host" "away" (func $away)) (import "host" "again" (func $again)) (func (export "run") (call $away)) (func (export "recurse") (call $again))
        (func (export "add") (param i32) (result i32) (i32.add (local.get 0) (i32.const 1))))"#;
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Auto] {
        let engine = Engine::new(Config::new().tier(tier)).unwrap();
        let module = Module::new(&engine, WAT).unwrap();
        let mut store = Store::new(&engine, 0);
        let away = Func::wrap(&mut store, |mut caller: Caller<'_, i32>| {
            let add = caller.get_export("add").unwrap().into_func().unwrap().typed::<i32, i32>(&caller).unwrap();
            let recurse = caller.get_export("recurse").unwrap().into_func().unwrap().typed::<(), ()>(&caller).unwrap();
            let mut context = caller.as_context_mut();
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert_eq!(add.call(&mut context, 1).unwrap(), 2);
                    let error = recurse.call(&mut context, ()).unwrap_err();
                    assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::StackOverflow), "{error:?}");
                    assert_eq!(add.call(&mut context, 2).unwrap(), 3);
                });
            });
            assert_eq!(add.call(&mut caller, 3).unwrap(), 4);
        });
        let again = Func::wrap(&mut store, |mut caller: Caller<'_, i32>| {
            *caller.data_mut() += 1;
            let recurse = caller.get_export("recurse").unwrap().into_func().unwrap().typed::<(), ()>(&caller)?;
            recurse.call(&mut caller, ())
        });
        let instance = Instance::new(&mut store, &module, &[away.into(), again.into()]).unwrap();
        let run = instance.get_typed_func::<(), ()>(&mut store, "run").unwrap();
        for _ in 0..2 {
            run.call(&mut store, ()).unwrap();
        }
        assert!(*store.data() > 20, "{tier:?}: {} calls", store.data());
    }
}

/// Growth that no limiter refuses and that there is no room for.
#[test]
fn growth_that_fails_traps_where_that_is_asked() {
    const WAT: &str = r#"(module (memory 1) (table 1 funcref)
        (func (export "memory") (param i32) (result i32) (memory.grow (local.get 0)))
        (func (export "table") (param i32) (result i32) (table.grow (ref.null func) (local.get 0))))"#;
    let engine = Engine::default();
    let module = Module::new(&engine, WAT).unwrap();
    for traps in [false, true] {
        let mut store = Store::new(&engine, StoreLimitsBuilder::new().trap_on_grow_failure(traps).build());
        store.limiter(|limits| limits);
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        for (name, delta) in [("memory", 65536), ("memory", -1), ("table", 20_000_000)] {
            let grow = instance.get_typed_func::<i32, i32>(&mut store, name).unwrap();
            match grow.call(&mut store, delta) {
                Ok(result) => assert_eq!((result, traps), (-1, false), "{name}"),
                Err(error) => assert!(traps && format!("{error:?}").contains("forcing trap when growing fails"), "{name}: {error:?}"),
            }
            assert!(grow.call(&mut store, 1).unwrap() >= 1);
        }
    }
}

/// Names of wasmtime's that read what is there.
#[test]
fn what_is_defined_exported_and_live_can_be_listed() {
    const WAT: &str = r#"(module $m (import "host" "where" (func $where)) (import "one" "" (global i32)) (memory (export "shared") 1 1 shared) (tag (export "tag") (param i32))
        (func $outer (export "outer") (call $inner)) (func $inner (call $where)) (global (export "global") i64 (i64.const 5)))"#;
    for tier in [TierPolicy::Interpreter, TierPolicy::Baseline, TierPolicy::Optimizing] {
        let engine = Engine::new(Config::new().tier(tier)).unwrap();
        let module = Module::new(&engine, WAT).unwrap();
        let mut store = Store::new(&engine, Vec::new());
        assert!(WasmBacktrace::capture(&store).frames().is_empty());
        let mut linker = Linker::new(&engine);
        linker
            .func_wrap("host", "where", |mut caller: Caller<'_, Vec<String>>| {
                let names = WasmBacktrace::capture(&caller).frames().iter().map(|frame| frame.func_name().unwrap().to_owned()).collect();
                *caller.data_mut() = names;
            })
            .unwrap();
        let global = Global::new(&mut store, GlobalType::new(ValType::I32, Mutability::Const), Val::I32(3)).unwrap();
        linker.define_name(&store, "one", global).unwrap();
        for import in module.imports() {
            let found = linker.get_by_import(&mut store, &import).unwrap();
            assert_eq!(found.ty(&store), import.ty());
        }
        let listed: Vec<(String, String)> =
            linker.iter(&mut store).filter(|it| it.0 != "lwp").map(|(module, name, _)| (module.into(), name.into())).collect();
        assert!(listed.len() == 2 && listed.contains(&("one".into(), String::new())), "{listed:?}");
        let instance = linker.instantiate(&mut store, &module).unwrap();
        instance.get_typed_func::<(), ()>(&mut store, "outer").unwrap().call(&mut store, ()).unwrap();
        assert_eq!(*store.data(), ["inner", "outer"], "{tier:?}");
        assert_eq!(instance.get_shared_memory(&mut store, "shared").unwrap().size(), 1);
        assert!(instance.get_memory(&mut store, "shared").is_none() && instance.get_tag(&mut store, "shared").is_none());
        assert_eq!(instance.get_tag(&mut store, "tag").unwrap().ty(&store).ty().params().next(), Some(ValType::I32));
        let globals = instance.exports(&mut store).filter_map(|export| export.into_global()).count();
        assert_eq!(globals, 1);
        assert_eq!(u128::from(V128::from(7)), 7);
        assert!(ValType::FUNCREF.matches(&ValType::FUNCREF) && !ValType::FUNCREF.matches(&ValType::I32));
    }
}

/// A command's instances are one a call, so what they export beside functions can be nobody's.
#[test]
fn a_command_with_a_global_is_no_module_of_a_linker() {
    let engine = Engine::default();
    let mut store = Store::new(&engine, ());
    let mut linker = Linker::new(&engine);
    let usual = Module::new(&engine, r#"(module (memory (export "memory") 1) (func (export "_start")))"#).unwrap();
    linker.module(&mut store, "usual", &usual).unwrap();
    let unusual = Module::new(&engine, r#"(module (global (export "state") i32 (i32.const 1)) (func (export "_start")))"#).unwrap();
    let error = linker.module(&mut store, "unusual", &unusual).err().unwrap();
    assert_eq!(error.to_string(), "command export 'state' is not a function");
}
