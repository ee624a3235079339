//! Backtraces name files and lines where a module carries DWARF (`data/lines.wasm`, of `data/lines.c`).

use backedge::{Engine, Instance, Module, Store, Trap, WasmBacktrace};

const LINES: &[u8] = include_bytes!("data/lines.wasm");

fn failure(bytes: &[u8]) -> backedge::Error {
    let engine = Engine::default();
    let module = Module::new(&engine, bytes).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let run = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap();
    assert_eq!(run.call(&mut store, 3).unwrap(), 2);
    run.call(&mut store, 4).unwrap_err()
}

#[test]
fn a_backtrace_names_lines_also_of_inlined_calls() {
    let error = failure(LINES);
    assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::UnreachableCodeReached));
    let backtrace = error.downcast_ref::<WasmBacktrace>().unwrap();
    let places: Vec<Vec<(Option<&str>, u32)>> = backtrace
        .frames()
        .iter()
        .map(|frame| frame.source_places().iter().map(|place| (place.function.as_deref(), place.line)).collect())
        .collect();
    assert_eq!(places, [vec![(Some("checked"), 6), (Some("look"), 11)], vec![(Some("run"), 15)]]);
    let text = backtrace.to_string();
    assert!(text.contains("in checked, inlined") && text.contains("lines.c:6:") && text.contains("lines.c:15:"), "{text}");
}

#[test]
fn a_backtrace_says_names_as_in_the_source_and_its_frames_as_in_the_module() {
    let mangled = "_ZN4core9panicking5panic17h0123456789abcdefE";
    let module = format!(
        r#"(module $m (func ${mangled} unreachable)
            (func (export "run") (param i32) (result i32) (if (i32.eq (local.get 0) (i32.const 4)) (then (call ${mangled}))) (i32.const 2)))"#
    );
    let error = failure(module.as_bytes());
    let backtrace = error.downcast_ref::<WasmBacktrace>().unwrap();
    assert_eq!(backtrace.frames()[0].func_name(), Some(mangled));
    assert!(backtrace.to_string().contains("m!core::panicking::panic\n"), "{backtrace}");
}

/// Damage in the debug sections costs the lines, and nothing else.
#[test]
fn damaged_dwarf_is_no_harm() {
    let start = LINES.windows(11).position(|bytes| bytes == b".debug_info").unwrap() + 11;
    for at in (start..LINES.len()).step_by(7) {
        let mut bytes = LINES.to_vec();
        bytes[at] ^= 0x55;
        let engine = Engine::default();
        let Ok(module) = Module::new(&engine, &bytes) else { continue };
        let mut store = Store::new(&engine, ());
        let instance = Instance::new(&mut store, &module, &[]).unwrap();
        let error = instance.get_typed_func::<i32, i32>(&mut store, "run").unwrap().call(&mut store, 4).unwrap_err();
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::UnreachableCodeReached));
    }
}
