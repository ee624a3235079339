//! What the spec suite does not show: resumed frames, nested activations, backtraces, depth, deadlines, and a host stack that stays flat.

use crate::engine::{Engine, EngineConfig, TierPolicy};
use crate::handles::{Extern, InstanceRef};
use crate::layout::{SwitchHeader, head};
use crate::module::ExportItem;
use crate::store::Store;
use crate::trap::{Frame, Outcome, Traced, TrapCode, Unwind};
use std::sync::atomic::Ordering;
use wasmparser::{FuncType, ValType};

pub(super) struct Guest {
    pub(super) engine: Engine,
    pub(super) store: Store,
    pub(super) instance: InstanceRef,
}

/// Without machine code and with all ops strung together.
pub(super) const FORMS: [TierPolicy; 2] = [TierPolicy::Interpreter, TierPolicy::Templates];

impl Guest {
    /// Instantiates a module in the interpreter, with host functions `(i32) -> i32` as its imports.
    pub(super) fn new(tier: TierPolicy, text: &str, imports: Vec<crate::store::HostFunction>) -> Guest {
        let config = EngineConfig { tier, ..EngineConfig::default() };
        Guest::with(Engine::new(config, None).unwrap(), text, imports)
    }

    /// The same in a given engine.
    pub(super) fn with(engine: Engine, text: &str, imports: Vec<crate::store::HostFunction>) -> Guest {
        let mut store = Store::new(&engine).unwrap();
        let loaded = engine.load(text.as_bytes()).unwrap();
        let ty = || FuncType::new([ValType::I32], [ValType::I32]);
        let imports: Vec<_> = imports.into_iter().map(|f| Extern::Func(store.define_function(ty(), f))).collect();
        // SAFETY: the imports were just made in this store.
        let instance = unsafe { store.instantiate(&loaded, &imports) }.unwrap();
        Guest { engine, store, instance }
    }

    /// Calls an export of type `(i32) -> i32`.
    pub(super) fn call(&mut self, name: &str, argument: u32) -> Outcome<u32> {
        let Some(Extern::Func(function)) = self.instance.export(name) else { panic!("no function {name}") };
        let mut slots = [argument as u64];
        // SAFETY: a function of this store, of that type.
        unsafe { self.store.call(function, &mut slots) }?;
        Ok(slots[0] as u32)
    }
}

pub(super) fn trap(outcome: Outcome<u32>) -> (TrapCode, Vec<Frame>) {
    match *outcome.expect_err("a trap") {
        Unwind::Trap { code, frames } => (code, frames),
        other => panic!("{other:?}"),
    }
}

const SUM: &str = r#"(module
    (func (export "sum") (param $n i32) (result i32) (local $s i32)
      i32.const 100
      (loop $l (param i32) (result i32)
        (local.set $s (i32.add (local.get $s) (local.get $n)))
        (br_if $l (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
      local.get $s i32.add))"#;

#[test]
fn a_frame_is_resumed_at_its_loop() {
    for form in FORMS {
        let mut guest = Guest::new(form, SUM, Vec::new());
        assert_eq!(guest.call("sum", 10).unwrap(), 155);
        let instance = guest.instance.instance();
        let point = instance.code.bytecode(0).points()[0];
        let mut result = 0;
        assert_eq!(point.live_slots, 3);
        // SAFETY: a frame of the function's types at its loop; the store is on this thread.
        unsafe {
            let buffer = (*(*head(instance.context())).store).switch_buffer;
            buffer.cast::<SwitchHeader>().write(SwitchHeader { function: 0, offset: point.offset, version: 0, callees: 0 });
            // Locals n = 3 and s = 1000, and 7 on the operand stack.
            buffer.byte_add(size_of::<SwitchHeader>()).cast::<[u64; 4]>().write([3, 1000, 7, 0xdead]);
            super::resume(instance.context(), &mut result).unwrap();
        }
        assert_eq!(result, 7 + 1000 + 3 + 2 + 1);
    }
}

#[test]
fn millions_of_ops_and_calls_keep_the_host_stack_flat() {
    for form in FORMS {
        let text = r#"(module
            (func $id (param i32) (result i32) local.get 0)
            (func (export "run") (param i32) (result i32) (local i32)
              (loop $l
                (local.set 1 (i32.add (local.get 1) (call $id (i32.const 2))))
                (br_if $l (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))
              local.get 1))"#;
        let run = move || Guest::new(form, text, Vec::new()).call("run", 1_000_000).unwrap();
        // One stack frame an op would need over 100 MB.
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap();
        assert_eq!(thread.join().unwrap(), 2_000_000);
    }
}

#[test]
fn a_backtrace_spans_nested_activations() {
    for form in FORMS {
        let text = r#"(module
            (import "" "" (func $host (param i32) (result i32)))
            (func $outer (export "outer") (param i32) (result i32) (call $middle (local.get 0)))
            (func $middle (param i32) (result i32) (i32.add (call $host (local.get 0)) (i32.const 1)))
            (func $inner (export "inner") (param i32) (result i32) (i32.div_u (i32.const 6) (local.get 0))))"#;
        let reenter: crate::store::HostFunction = Box::new(|call| {
            let Some(Extern::Func(inner)) = call.caller.unwrap().export("inner") else { panic!() };
            // SAFETY: a function of the running store with one argument and one result.
            unsafe { call.store.call(inner, call.slots) }.map_err(|unwind| match *unwind {
                Unwind::Trap { code, frames } => {
                    let names: Vec<_> = frames.iter().filter_map(|frame| frame.name().map(str::to_owned)).collect();
                    format!("{code}: {names:?}").into()
                }
                other => format!("{other:?}").into(),
            })
        });
        let mut guest = Guest::new(form, text, vec![reenter]);
        assert_eq!(guest.call("outer", 2).unwrap(), 4);
        let Unwind::Host { error, frames } = *guest.call("outer", 0).unwrap_err() else { panic!() };
        assert_eq!(error.to_string(), r#"integer divide by zero: ["inner", "middle", "outer"]"#);
        let names: Vec<_> = frames.iter().map(|frame| frame.name()).collect();
        assert_eq!(names, [Some("middle"), Some("outer")]);
        // The offsets are those of the two calls (opcode 0x10).
        let bytes = guest.instance.instance().module.bytes();
        assert!(frames.iter().all(|frame| bytes[frame.offset.unwrap() as usize] == 0x10), "{frames:?}");
        // The stack is whole again.
        assert_eq!(guest.call("outer", 3).unwrap(), 3);
    }
}

/// An error goes through as many calls as there are, and a backtrace is long.
#[test]
fn an_error_that_says_where_it_came_up_is_not_asked_again() {
    for form in FORMS {
        let text = r#"(module (import "" "" (func $host (param i32) (result i32)))
            (func (export "f") (param i32) (result i32) (call $host (local.get 0))))"#;
        let fails: crate::store::HostFunction = Box::new(|call| match call.slots[0] {
            0 => Err("new".into()),
            _ => Err(Box::new(Traced("known".into()))),
        });
        let mut guest = Guest::new(form, text, vec![fails]);
        for (argument, message, kept) in [(0, "new", 1), (1, "known", 0)] {
            let Unwind::Host { error, frames } = *guest.call("f", argument).unwrap_err() else { panic!() };
            assert_eq!((error.to_string().as_str(), frames.len()), (message, kept));
        }
    }
}

#[test]
fn a_trap_names_its_place() {
    for form in FORMS {
        let mut guest = Guest::new(
            form,
            r#"(module (memory 1)
                (func (export "load") (param i32) (result i32)
                  (i32.add (i32.const 1) (i32.load offset=4 (i32.add (local.get 0) (i32.const 8))))))"#,
            Vec::new(),
        );
        assert_eq!(guest.call("load", 65536 - 16).unwrap(), 1);
        let (code, frames) = trap(guest.call("load", 65536 - 15));
        assert_eq!((code, frames.len()), (TrapCode::MemoryOutOfBounds, 1));
        let bytes = guest.instance.instance().module.bytes();
        assert_eq!(bytes[frames[0].offset.unwrap() as usize], 0x28, "at the i32.load");
    }
}

#[test]
fn recursion_is_deep_and_ends() {
    for form in FORMS {
        let mut guest = Guest::new(
            form,
            r#"(module
                (func $down (export "down") (param i32) (result i32)
                  (if (result i32) (local.get 0)
                    (then (i32.add (call $down (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
                    (else (i32.const 0)))))"#,
            Vec::new(),
        );
        assert_eq!(guest.call("down", 100_000).unwrap(), 100_000);
        assert_eq!(trap(guest.call("down", u32::MAX)).0, TrapCode::StackOverflow);
        assert_eq!(guest.call("down", 100_000).unwrap(), 100_000);
    }
}

/// As threads leave it that take it past 0 at once: what one of them has loaded it with is lost.
#[test]
fn a_countdown_word_below_0_is_loaded_at_the_next_event() {
    for form in FORMS {
        let mut guest = Guest::new(form, SUM, Vec::new());
        let twice = r#"(module (func $one (export "one") (param i32) (result i32) (local.get 0)) (func (export "twice") (param i32) (result i32) (call $one (call $one (local.get 0)))))"#;
        let mut calls = Guest::new(form, twice, Vec::new());
        for (guest, export, function) in [(&mut guest, "sum", 0), (&mut calls, "twice", 0)] {
            guest.call(export, 10).unwrap();
            // SAFETY: a word of the module's, which nobody else counts down meanwhile.
            let word = unsafe { &*guest.instance.instance().code.counters().add(function) };
            for lost in [u32::MAX, u32::MAX - 5, 3 << 30] {
                word.store(lost, Ordering::Relaxed);
                guest.call(export, 10).unwrap();
                let left = word.load(Ordering::Relaxed);
                assert!((left as i32) >= 0, "{form:?}, {export}: {lost:#x} became {left:#x}");
            }
        }
    }
}

#[test]
fn a_deadline_stops_an_endless_loop() {
    for form in FORMS {
        let mut guest =
            Guest::new(form, r#"(module (func (export "spin") (param i32) (result i32) (loop $l (br $l)) unreachable))"#, vec![]);
        guest.store.set_epoch_deadline(1);
        let engine = guest.engine.clone();
        let ticker = std::thread::spawn(move || engine.increment_epoch());
        let (code, frames) = trap(guest.call("spin", 0));
        ticker.join().unwrap();
        assert_eq!((code, frames.len()), (TrapCode::Interrupt, 1));
    }
}

#[test]
fn all_points_are_canonical_places() {
    for form in FORMS {
        let guest = Guest::new(form, SUM, Vec::new());
        let instance = guest.instance.instance();
        let ExportItem::Func(function) = instance.module.exports[0].1 else { panic!() };
        let code = instance.code.bytecode(function);
        for point in code.points() {
            assert_eq!(code.pc_at(point.offset), Some(point.pc));
            assert!(point.live_slots <= code.frame_slots);
        }
        assert_eq!(code.offset_at(code.ops.len() as u32), None);
    }
}
