//! Runs a script in npm's `quickjs-wasi` module: `quickjs [--tier auto|interp|baseline|optimizing] [--no-feedback] MODULE SCRIPT`.
//!
//! The module is a reactor: it has no `main`, but functions for a host that drives it. Enters: a script, which defines a global `finish`. Leaves: what
//! `finish()` returns after the script and all its promises have run, on stdout. `run-quickjs.py` does the same under wasmtime.

use backedge::wasi::{self, WasiCtx, WasiCtxBuilder};
use backedge::{Config, Engine, FeedbackPolicy, Instance, Linker, Memory, Module, Result, Store, TierPolicy, bail, format_err};

struct QuickJs {
    store: Store<WasiCtx>,
    instance: Instance,
    memory: Memory,
}

impl QuickJs {
    fn load(config: &Config, path: &str) -> Result<QuickJs> {
        let engine = Engine::new(config)?;
        let module = Module::from_file(&engine, path)?;
        let mut linker = Linker::new(&engine);
        wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
        // What a script may call out to; ours calls nothing.
        linker.define_unknown_imports_as_default_values(&module)?;
        let mut store = Store::new(&engine, WasiCtxBuilder::new().inherit_stdout().inherit_stderr().build());
        let instance = linker.instantiate(&mut store, &module)?;
        let memory = instance.get_memory(&mut store, "memory").ok_or_else(|| format_err!("no memory"))?;
        instance.get_typed_func::<(), ()>(&mut store, "_initialize")?.call(&mut store, ())?;
        let mut this = QuickJs { store, instance, memory };
        match this.call("qjs_init", &[])? {
            0 => Ok(this),
            code => bail!("qjs_init returned {code}"),
        }
    }

    /// Calls a function of C: all arguments and the result are 32-bit.
    fn call(&mut self, name: &str, arguments: &[i32]) -> Result<i32> {
        let (store, instance) = (&mut self.store, &self.instance);
        match *arguments {
            [] => instance.get_typed_func::<(), i32>(&mut *store, name)?.call(store, ()),
            [a] => instance.get_typed_func::<i32, i32>(&mut *store, name)?.call(store, a),
            [a, b, c, d] => instance.get_typed_func::<(i32, i32, i32, i32), i32>(&mut *store, name)?.call(store, (a, b, c, d)),
            _ => bail!("no call with {} arguments", arguments.len()),
        }
    }

    /// A C string in the guest's memory, for good.
    fn text(&mut self, text: &str) -> Result<i32> {
        let place = self.call("wasm_malloc", &[text.len() as i32 + 1])?;
        self.memory.write(&mut self.store, place as usize, text.as_bytes())?;
        self.memory.write(&mut self.store, place as usize + text.len(), &[0])?;
        Ok(place)
    }

    /// The string that a value is as a string of JavaScript.
    fn string(&mut self, value: i32) -> Result<String> {
        let place = self.call("qjs_get_string", &[value])? as usize;
        let bytes = &self.memory.data(&self.store)[place..];
        let length = bytes.iter().position(|&byte| byte == 0).ok_or_else(|| format_err!("a string without an end"))?;
        Ok(String::from_utf8(bytes[..length].to_vec())?)
    }

    /// The value of a script's last expression.
    fn eval(&mut self, script: &str, name: &str) -> Result<i32> {
        let (code, file) = (self.text(script)?, self.text(name)?);
        let value = self.call("qjs_eval", &[code, script.len() as i32, file, 0])?;
        if self.call("qjs_is_exception", &[value])? != 0 {
            let exception = self.call("qjs_get_exception", &[])?;
            bail!("uncaught: {}", self.string(exception)?);
        }
        Ok(value)
    }
}

fn main() -> Result<()> {
    let mut config = Config::new();
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    while arguments.first().is_some_and(|argument| argument.starts_with("--")) {
        match arguments.remove(0).as_str() {
            "--no-feedback" => _ = config.feedback(FeedbackPolicy::Off),
            "--tier" if !arguments.is_empty() => {
                _ = config.tier(match arguments.remove(0).as_str() {
                    "auto" => TierPolicy::Auto,
                    "interp" => TierPolicy::Interpreter,
                    "templates" => TierPolicy::Templates,
                    "baseline" => TierPolicy::Baseline,
                    "optimizing" => TierPolicy::Optimizing,
                    other => bail!("no tier `{other}`"),
                });
            }
            other => bail!("no option `{other}`"),
        }
    }
    let [module, script] = arguments.as_slice() else { bail!("usage: quickjs [--tier TIER] [--no-feedback] MODULE SCRIPT") };
    let text = std::fs::read_to_string(script)?;
    let mut quickjs = QuickJs::load(&config, module)?;
    quickjs.eval(&text, "script.js")?;
    while quickjs.call("qjs_is_job_pending", &[])? != 0 {
        quickjs.call("qjs_execute_pending_job", &[])?;
    }
    let value = quickjs.eval("finish()", "finish.js")?;
    println!("{}", quickjs.string(value)?);
    Ok(())
}
