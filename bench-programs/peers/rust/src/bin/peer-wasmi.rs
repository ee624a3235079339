//! wasmi as a benchmark peer: `peer-wasmi steady|once|version …` (see ../protocol.rs).

#[path = "../protocol.rs"]
mod protocol;

use protocol::{Once, Steady};
use wasmi::{Engine, Linker, Module, Store};
use wasmi_wasi::{Dir, WasiCtx, WasiCtxBuilder, ambient_authority};

fn main() -> anyhow::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((what, args)) = args.split_first() else { anyhow::bail!("expected steady, once or version") };
    let engine = Engine::default();
    let mut linker: Linker<WasiCtx> = Linker::new(&engine);
    wasmi_wasi::add_to_linker(&mut linker, |context| context)?;
    match what.as_str() {
        "version" => println!("{}", env!("CARGO_PKG_VERSION_WASMI")),
        "steady" => {
            let steady = Steady::parse(args)?;
            let module = Module::new(&engine, std::fs::read(&steady.file)?)?;
            let mut store = Store::new(&engine, WasiCtxBuilder::new().inherit_stderr().build());
            let instance = linker.instantiate_and_start(&mut store, &module)?;
            let setup = instance.get_func(&store, "setup").ok_or_else(|| anyhow::anyhow!("no export setup"))?;
            let run = instance.get_typed_func::<i32, i64>(&store, "run")?;
            let check = instance.get_typed_func::<(i32, i64), i32>(&store, "check")?;
            let store = std::cell::RefCell::new(store);
            steady.measure(
                "\"trap_handler\":false",
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
            wasi.inherit_stdio().args(&once.args)?;
            for (host, guest) in &once.dirs {
                wasi.preopened_dir(Dir::open_ambient_dir(host, ambient_authority())?, guest)?;
            }
            let mut store = Store::new(&engine, wasi.build());
            let instance = linker.instantiate_and_start(&mut store, &module)?;
            let start = instance.get_typed_func::<(), ()>(&store, "_start")?;
            if let Err(error) = start.call(&mut store, ()) {
                match error.i32_exit_status() {
                    Some(code) => std::process::exit(code),
                    None => return Err(error.into()),
                }
            }
        }
        other => anyhow::bail!("expected steady, once or version, not {other}"),
    }
    Ok(())
}
