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

/// A module whose function is one source line, at which so many calls are inlined into one another.
fn with_inlined_calls(depth: usize) -> Vec<u8> {
    let section = |name: &str, data: &[u8]| {
        let length = |mut value: usize| {
            let mut bytes = Vec::new();
            while value >= 0x80 {
                bytes.push(value as u8 | 0x80);
                value >>= 7;
            }
            bytes.push(value as u8);
            bytes
        };
        let content = [&length(name.len()), name.as_bytes(), data].concat();
        [&[0], &length(content.len())[..], &content].concat()
    };
    // Abbreviations 1 to 3: a unit with a line program, a function with a name, an inlined call with its file; each with its addresses, each with children.
    let addresses = [0x11, 0x01, 0x12, 0x06];
    let abbreviation = |code: u8, tag: u8, more: &[u8]| [&[code, tag, 1], &addresses[..], more, &[0, 0]].concat();
    let abbreviations =
        [abbreviation(1, 0x11, &[0x10, 0x17]), abbreviation(2, 0x2e, &[0x03, 0x08]), abbreviation(3, 0x1d, &[0x58, 0x0b]), vec![0]]
            .concat();
    let entry = |code: u8| [&[code], &1u32.to_le_bytes()[..], &0x1_0000u32.to_le_bytes()].concat();
    let mut unit = [&[4, 0, 0, 0, 0, 0, 4], &entry(1)[..], &[0; 4], &entry(2), b"outer\0"].concat();
    unit.extend([entry(3), vec![1]].concat().repeat(depth));
    unit.extend(vec![0; depth + 2]);
    let info = [&(unit.len() as u32).to_le_bytes()[..], &unit].concat();
    // No folders, one file; the line of address 0 goes on to 0x10000.
    let header = [&[1, 1, 1, 0, 1, 1][..], &[0], b"deep.c\0", &[0, 0, 0], &[0]].concat();
    let program = [&[0, 5, 2, 0, 0, 0, 0, 3, 6, 1][..], &[2, 0x80, 0x80, 4, 0, 1, 1]].concat();
    let content = [&[4, 0], &(header.len() as u32).to_le_bytes()[..], &header, &program].concat();
    let line = [&(content.len() as u32).to_le_bytes()[..], &content].concat();
    let text = r#"(module (func (export "run") (param i32) (result i32)
        (if (i32.eq (local.get 0) (i32.const 4)) (then unreachable)) (i32.const 2)))"#;
    let mut module = wat::parse_str(text).unwrap();
    for (name, data) in [(".debug_abbrev", abbreviations), (".debug_info", info), (".debug_line", line)] {
        module.extend(section(name, &data));
    }
    module
}

/// Who reads such a list recurses once for each, and the host's stack is not the guest's to choose.
#[test]
fn calls_inlined_without_end_cost_the_lines_and_nothing_else() {
    for (depth, places) in [(0, 1), (50, 51), (20_000, 0)] {
        let error = failure(&with_inlined_calls(depth));
        assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::UnreachableCodeReached));
        assert!(error.to_string().starts_with("error while executing at wasm backtrace:"), "{error}");
        let frames = error.downcast_ref::<WasmBacktrace>().unwrap().frames();
        assert_eq!(frames[0].source_places().len(), places, "{depth}");
    }
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
