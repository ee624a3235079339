//! A good guest in its host's process: handlers that were there before ours still get what is not a wasm trap.
//!
//! The faults happen in child processes: this test starts itself again with the case's name in `BACKEDGE_SIGNAL_CASE`.

use backedge::{Config, Engine, Instance, Module, Store, TierPolicy, Trap};
use std::process::Command;

/// What the host's own handler exits with.
const HOST_HANDLER: i32 = 42;

extern "C" fn host_handler(_signal: libc::c_int) {
    // SAFETY: async-signal-safe; ends the process.
    unsafe { libc::_exit(HOST_HANDLER) };
}

/// Runs wasm whose load is out of bounds, in compiled code, and checks that it traps.
fn trap() {
    let engine = Engine::new(Config::new().tier(TierPolicy::Optimizing)).unwrap();
    let wat = r#"(module (memory 1) (func (export "f") (param i32) (result i32) (i32.load (local.get 0))))"#;
    let module = Module::new(&engine, wat).unwrap();
    let mut store = Store::new(&engine, ());
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let f = instance.get_typed_func::<i32, i32>(&mut store, "f").unwrap();
    assert_eq!(f.call(&mut store, 0).unwrap(), 0);
    let error = f.call(&mut store, -1).unwrap_err();
    assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::MemoryOutOfBounds));
}

fn fault() {
    // SAFETY: none: the fault is the point, and the process ends in its handler.
    unsafe { std::ptr::without_provenance_mut::<u8>(8).write_volatile(1) };
}

fn in_child(case: &str) {
    match case {
        "handled" => {
            // SAFETY: installs a handler that only calls `_exit`.
            unsafe {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = host_handler as *const () as usize;
                libc::sigaction(libc::SIGSEGV, &action, std::ptr::null_mut());
            }
            trap();
            fault();
        }
        "default" => {
            trap();
            fault();
        }
        "threads" => {
            for _ in 0..4 {
                std::thread::spawn(trap).join().unwrap();
            }
        }
        _ => unreachable!("no such case"),
    }
}

fn main() {
    if std::env::args().any(|arg| arg == "--list") {
        println!("signals: test");
        return;
    }
    if let Ok(case) = std::env::var("BACKEDGE_SIGNAL_CASE") {
        in_child(&case);
        return;
    }
    let run = |case: &str| {
        let program = std::env::current_exe().unwrap();
        Command::new(program).env("BACKEDGE_SIGNAL_CASE", case).output().unwrap().status
    };
    let handled = run("handled");
    assert_eq!(handled.code(), Some(HOST_HANDLER), "the host's own handler runs: {handled}");
    let default = run("default");
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&default), Some(libc::SIGSEGV), "a host fault kills: {default}");
    let threads = run("threads");
    assert_eq!(threads.code(), Some(0), "traps on threads that end: {threads}");
    println!("signals: 3 cases ok");
}
