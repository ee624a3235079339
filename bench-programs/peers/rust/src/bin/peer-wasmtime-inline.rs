//! wasmtime as a benchmark peer, for its inliner, which its C API (../../../wasmtime.c) cannot turn on: `peer-wasmtime-inline [--inline] [--cache] steady|once|version …` (see ../protocol.rs).

#[path = "../protocol.rs"]
mod protocol;

use protocol::{Once, Steady};
use wasmtime::{Cache, Config, Engine, Inlining, Linker, Module, Store};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtxBuilder};

fn main() -> anyhow::Result<()> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut config = Config::new();
    while args.first().is_some_and(|arg| arg.starts_with("--")) {
        match args.remove(0).as_str() {
            "--inline" => {
                config.compiler_inlining(Inlining::Yes);
            }
            "--cache" => {
                config.cache(Some(Cache::from_file(None)?));
            }
            other => anyhow::bail!("unknown option {other}"),
        }
    }
    let Some((what, args)) = args.split_first() else { anyhow::bail!("expected steady, once or version") };
    let engine = Engine::new(&config)?;
    let mut linker: Linker<WasiP1Ctx> = Linker::new(&engine);
    p1::add_to_linker_sync(&mut linker, |context| context)?;
    match what.as_str() {
        "version" => println!("{}", env!("CARGO_PKG_VERSION_WASMTIME")),
        "steady" => {
            let steady = Steady::parse(args)?;
            let module = Module::new(&engine, std::fs::read(&steady.file)?)?;
            let mut store = Store::new(&engine, WasiCtxBuilder::new().inherit_stderr().build_p1());
            let instance = linker.instantiate(&mut store, &module)?;
            let setup = instance.get_func(&mut store, "setup").ok_or_else(|| anyhow::anyhow!("no export setup"))?;
            let run = instance.get_typed_func::<i32, i64>(&mut store, "run")?;
            let check = instance.get_typed_func::<(i32, i64), i32>(&mut store, "check")?;
            let store = std::cell::RefCell::new(store);
            steady.measure(
                "\"trap_handler\":true",
                || {
                    let mut store = store.borrow_mut();
                    if setup.ty(&*store).params().len() == 1 {
                        setup.typed::<i32, ()>(&*store)?.call(&mut *store, steady.mode)?;
                    } else {
                        setup.typed::<(i32, i32), ()>(&*store)?.call(&mut *store, (steady.mode, steady.size))?;
                    }
                    Ok(())
                },
                || Ok(run.call(&mut *store.borrow_mut(), steady.rounds)? as u64),
                |result| Ok(check.call(&mut *store.borrow_mut(), (steady.rounds, result as i64))? != 0),
            )?;
        }
        "once" => {
            let once = Once::parse(args)?;
            let module = Module::new(&engine, std::fs::read(&once.file)?)?;
            let mut wasi = WasiCtxBuilder::new();
            wasi.inherit_stdio().args(&once.args);
            for (host, guest) in &once.dirs {
                wasi.preopened_dir(host, guest, FsPerms::ReadWrite)?;
            }
            let mut store = Store::new(&engine, wasi.build_p1());
            let instance = linker.instantiate(&mut store, &module)?;
            let start = instance.get_typed_func::<(), ()>(&mut store, "_start")?;
            if let Err(error) = start.call(&mut store, ()) {
                match error.downcast_ref::<I32Exit>() {
                    Some(exit) => std::process::exit(exit.0),
                    None => return Err(error.into()),
                }
            }
        }
        other => anyhow::bail!("expected steady, once or version, not {other}"),
    }
    Ok(())
}
