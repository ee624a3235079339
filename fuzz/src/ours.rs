//! The engine under test, in one configuration, as a [`Machine`].

use crate::case::{Shape, whose};
use crate::configurations::Setup;
use crate::guest::{Guest, Loaded, MOST_ELEMENTS_SEEN, Machine, Stop, hash_bytes};
use crate::host::{Host, HostTrap, MOST_MEMORY_BYTES, MOST_TABLE_ELEMENTS};
use crate::plans::{RandomPlans, lies};
use crate::program::PARTNER;
use crate::random::Random;
use crate::values::Value;
use backedge::{
    AsContext, AsContextMut, Engine, Error, Extern, ExternRef, ExternType, Func, FuncType, Global, Instance, LinkError, Memory, Module,
    Ref, Result, Store, StoreLimits, StoreLimitsBuilder, Table, Tag, TierPolicy, Trap, UpdateDeadline, Val,
};
use jit::CraneliftCompiler;
use std::fmt::Write;
use std::sync::{Arc, Mutex};
use vm::code::Compiler;
use wasmparser::ValType;

/// One configuration, ready to load modules. A fresh one for each case, so that cases do not see each other.
pub struct Ours {
    engine: Engine,
    random: Random,
    lies: usize,
    leave_once_in: u64,
    /// What a deadline's callback calls `noise` with, where there is one.
    interrupts: Option<i64>,
}

impl Ours {
    /// An engine with these settings.
    ///
    /// # Errors
    /// The engine's.
    pub fn new(setup: &Setup, compiler: &Arc<CraneliftCompiler>, mut random: Random) -> Result<Ours> {
        let mut config = setup.config.clone();
        config.machine().ring.seed = random.bits() as u32;
        let compiler: Option<Arc<dyn Compiler>> = match config.machine().tier {
            TierPolicy::Interpreter | TierPolicy::Templates => None,
            _ if setup.random_plans || setup.all_decisions => {
                Some(Arc::new(RandomPlans { inner: compiler.clone(), seed: random.bits(), all: setup.all_decisions }))
            }
            _ => Some(compiler.clone()),
        };
        // A collection at each throw looks at a mebibyte of frames that wait for the callback: with six rounds of thirty throws a case took half a minute.
        let interrupts = setup.interrupts.then_some(if config.machine().stress.collect_exceptions { 1 } else { 6 });
        let engine = Engine::with_compiler(&config, compiler)?;
        Ok(Ours { engine, random, lies: setup.lies, leave_once_in: setup.leave_once_in, interrupts })
    }
}

impl Machine for Ours {
    fn load(&self, wasm: &[u8]) -> Result<Box<dyn Loaded>, String> {
        let load = || Module::new(&self.engine, wasm).map_err(|error| format!("{error:#}"));
        let shape = Shape::of(wasm).map_err(|error| error.to_string())?;
        let mut random = self.random.clone();
        let mut modules = vec![load()?];
        // A partner runs the same code, or what was compiled for itself.
        if shape.has_partner && random.once_in(2) {
            modules.push(load()?);
        }
        let meddler = Meddler {
            random,
            lies: self.lies,
            leave_once_in: self.leave_once_in,
            interrupts: self.interrupts.is_some(),
            modules: modules.clone(),
            engine: self.engine.clone(),
        };
        let noise = self.interrupts.map(|rounds| (Module::new(&self.engine, NOISE).expect("it is valid"), rounds));
        Ok(Box::new(OurModule { modules, shape, meddler: Arc::new(Mutex::new(meddler)), noise }))
    }
}

/// What a configuration does between calls and in host calls.
struct Meddler {
    random: Random,
    lies: usize,
    leave_once_in: u64,
    interrupts: bool,
    modules: Vec<Module>,
    engine: Engine,
}

impl Meddler {
    fn meddle(&mut self, in_host_call: bool) {
        if self.leave_once_in != 0 && self.random.once_in(self.leave_once_in) {
            self.random.of(&self.modules).loaded().code.ask_all_to_leave();
        }
        if self.interrupts {
            self.engine.increment_epoch();
        }
        if self.lies != 0 {
            let module = self.random.of(&self.modules).clone();
            lies(module.loaded(), &mut self.random, self.lies);
            if !in_host_call && self.random.once_in(2) {
                self.engine.settle();
            }
        }
    }
}

struct OurModule {
    /// The module, and behind it the partner's where that is another.
    modules: Vec<Module>,
    shape: Shape,
    meddler: Arc<Mutex<Meddler>>,
    /// What a deadline's callback calls, and with what.
    noise: Option<(Module, i64)>,
}

/// Writes to all that a nested call may write to: throws with and without references, leaves loops, calls in each way. `noise(n)` is 4 n (n + 1) / 2.
const NOISE: &str = r#"(module
    (type $f (func (param i64) (result i64)))
    (tag $e (param i64 i64 i64 i64))
    (table 2 funcref) (elem (i32.const 0) $caught $kept)
    (func $throw (param i64) (throw $e (local.get 0) (i64.const -1) (i64.const -2) (i64.const -3)))
    (func $caught (type $f)
        (block $h (result i64 i64 i64 i64) (try_table (catch $e $h) (call $throw (local.get 0))) (unreachable))
        (drop) (drop) (drop))
    (func $kept (type $f) (local $x exnref)
        (block $h (result exnref) (try_table (catch_all_ref $h) (call $throw (local.get 0))) (unreachable))
        (local.set $x)
        (drop (call $caught (i64.const 5)))
        (block $h (result i64 i64 i64 i64) (try_table (catch $e $h) (throw_ref (local.get $x))) (unreachable))
        (drop) (drop) (drop))
    (func $tail (type $f) (return_call_indirect (type $f) (local.get 0) (i32.wrap_i64 (i64.and (local.get 0) (i64.const 1)))))
    (func (export "noise") (param $n i64) (result i64) (local $s i64) (local $i i64)
        (loop $l
            (local.set $s (i64.add (i64.add (local.get $s) (call $caught (local.get $n))) (i64.add (call $kept (local.get $n)) (call $tail (local.get $n)))))
            (local.set $i (i64.const 0))
            (loop $add
                (local.set $s (i64.add (local.get $s) (i64.const 1)))
                (br_if $add (i64.lt_u (local.tee $i (i64.add (local.get $i) (i64.const 1))) (local.get $n))))
            (br_if $l (i64.ne (local.tee $n (i64.sub (local.get $n) (i64.const 1))) (i64.const 0))))
        (local.get $s)))"#;

/// Has a deadline's callback call `noise`.
fn interrupt(store: &mut Store<Data>, noise: &Module, rounds: i64) -> Result<()> {
    let noise = Instance::new(&mut *store, noise, &[])?.get_typed_func::<i64, i64>(&mut *store, "noise")?;
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(move |mut context| {
        context.set_epoch_deadline(1 << 40);
        match noise.call(&mut context, rounds) {
            Ok(sum) => assert_eq!(sum, 2 * rounds * (rounds + 1), "what a callback calls"),
            // The guest was deep already.
            Err(error) if error.downcast_ref::<Trap>() == Some(&Trap::StackOverflow) => {}
            Err(error) => return Err(error),
        }
        Ok(UpdateDeadline::Continue(1))
    });
    Ok(())
}

struct Data {
    host: Host,
    limits: StoreLimits,
    meddler: Arc<Mutex<Meddler>>,
}

fn meddle(meddler: &Mutex<Meddler>, in_host_call: bool) {
    meddler.lock().unwrap_or_else(|error| error.into_inner()).meddle(in_host_call);
}

impl Loaded for OurModule {
    fn instantiate(&self, host: Host) -> Result<Box<dyn Guest>, Stop> {
        let limits = StoreLimitsBuilder::new().memory_size(MOST_MEMORY_BYTES).table_elements(MOST_TABLE_ELEMENTS).build();
        let mut store = Store::try_new(self.modules[0].engine(), Data { host, limits, meddler: self.meddler.clone() }).map_err(stop)?;
        store.limiter(|data| &mut data.limits);
        let partner = match self.shape.has_partner {
            true => Some(self.instance(&mut store, &self.modules[self.modules.len() - 1], None).map_err(stop)?),
            false => None,
        };
        if let Some((noise, rounds)) = &self.noise {
            interrupt(&mut store, noise, *rounds).map_err(stop)?;
        }
        meddle(&self.meddler, false);
        let instance = self.instance(&mut store, &self.modules[0], partner).map_err(stop)?;
        Ok(Box::new(OurGuest { store, instance, partner }))
    }

    fn own_errors(&self) -> Vec<String> {
        let failures = self.modules.iter().flat_map(|module| module.loaded().code.failures());
        failures.filter(|failure| failure.reason.contains("internal compiler error")).map(|failure| failure.reason).collect()
    }

    fn applied(&self) -> Vec<(&'static str, bool)> {
        let versions: Vec<_> = self.modules.iter().flat_map(|module| module.loaded().code.versions()).collect();
        versions.iter().flat_map(|version| version.applied.iter().map(|applied| (applied.name, applied.refused.is_none()))).collect()
    }

    fn notes(&self) -> String {
        self.modules.iter().map(notes).collect()
    }
}

/// The versions that a module had, and what became of their plans.
fn notes(module: &Module) -> String {
    let code = &module.loaded().code;
    let mut text = String::new();
    for version in code.versions() {
        let _ = writeln!(text, "function {} {:?} {:?}", version.function, version.tier, version.entrance);
        for line in version.plan.iter().flat_map(|plan| plan.to_string().lines().map(str::to_owned).collect::<Vec<_>>()) {
            let _ = writeln!(text, "  plan: {line}");
        }
        for applied in &version.applied {
            let _ = writeln!(text, "  {} at {:#x} of function {}: {:?}", applied.name, applied.offset, applied.function, applied.refused);
        }
    }
    for failure in code.failures() {
        let _ = writeln!(text, "not compiled: {failure:?}");
    }
    text
}

impl OurModule {
    /// An instance that imports from its partner what that exports, and everything else from the host.
    fn instance(&self, store: &mut Store<Data>, module: &Module, partner: Option<Instance>) -> Result<Instance> {
        let mut imports = Vec::new();
        let (mut functions, mut globals) = (0.., 0..);
        for import in module.imports() {
            let ty = import.ty();
            let index = match ty {
                ExternType::Func(_) => functions.next(),
                ExternType::Global(_) => globals.next(),
                _ => None,
            };
            let partner = partner.filter(|_| import.module() == PARTNER);
            let of_partner = partner.and_then(|partner| partner.get_export(&mut *store, import.name()));
            imports.push(match of_partner {
                Some(export) => export,
                None => self.import(store, index.unwrap_or(0), ty)?,
            });
        }
        Instance::new(store, module, &imports)
    }

    fn import(&self, store: &mut Store<Data>, index: usize, ty: ExternType) -> Result<Extern> {
        Ok(match ty {
            ExternType::Func(ty) => self.function(store, index, ty).into(),
            ExternType::Memory(ty) => Memory::new(store, ty)?.into(),
            ExternType::Table(ty) => {
                let null = Ref::null(ty.element().heap_type());
                Table::new(store, ty, null)?.into()
            }
            ExternType::Global(ty) => {
                let value = store.data().host.global(index, wasm_type(*ty.content()));
                let value = value.map(|value| val(&mut *store, &value)).unwrap_or(Ok(Val::null_func_ref()))?;
                Global::new(store, ty, value)?.into()
            }
            ExternType::Tag(ty) => Tag::new(store, &ty)?.into(),
            #[allow(unreachable_patterns, reason = "the engine may learn to import more")]
            _ => return Err(LIMIT.into()),
        })
    }

    fn function(&self, store: &mut Store<Data>, index: usize, ty: FuncType) -> Func {
        let results = self.shape.imports[index].1.clone();
        Func::new(store, ty, move |mut caller, arguments, out| {
            let arguments: Vec<Value> = arguments.iter().map(|argument| value(&mut caller, argument)).collect();
            let meddler = caller.data().meddler.clone();
            meddle(&meddler, true);
            let answer = caller.data_mut().host.answer(index, &arguments, &results)?;
            for (out, answer) in out.iter_mut().zip(&answer) {
                *out = val(&mut caller, answer)?;
            }
            Ok(())
        })
    }
}

#[derive(Debug)]
struct Unsupported;

impl std::fmt::Display for Unsupported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an import that the fuzzer cannot make")
    }
}

impl std::error::Error for Unsupported {}

const LIMIT: Unsupported = Unsupported;

fn wasm_type(ty: backedge::ValType) -> ValType {
    match ty {
        backedge::ValType::I32 => ValType::I32,
        backedge::ValType::I64 => ValType::I64,
        backedge::ValType::F32 => ValType::F32,
        backedge::ValType::F64 => ValType::F64,
        backedge::ValType::V128 => ValType::V128,
        ty if ty.is_externref() => ValType::EXTERNREF,
        _ => ValType::FUNCREF,
    }
}

/// What a value is outside of its store.
fn value(store: impl AsContextMut<Data = Data>, value: &Val) -> Value {
    match *value {
        Val::I32(value) => Value::I32(value as u32),
        Val::I64(value) => Value::I64(value as u64),
        Val::F32(bits) => Value::F32(bits),
        Val::F64(bits) => Value::F64(bits),
        Val::V128(bits) => Value::V128(bits.as_u128()),
        Val::FuncRef(func) => Value::Func(func.map(|func| signature(&func.ty(&store)))),
        Val::ExternRef(value) => Value::Extern(value.map(|value| {
            let data = value.data(store.as_context()).ok().flatten();
            data.and_then(|data| data.downcast_ref::<u32>()).copied().unwrap_or(u32::MAX)
        })),
        #[allow(unreachable_patterns, reason = "the engine may learn more types")]
        _ => Value::Opaque,
    }
}

fn signature(ty: &FuncType) -> String {
    let names = |types: &mut dyn Iterator<Item = backedge::ValType>| types.map(|ty| ty.to_string()).collect::<Vec<_>>().join(" ");
    format!("({})->({})", names(&mut ty.params()), names(&mut ty.results()))
}

/// A value in a store.
fn val(mut store: impl AsContextMut<Data = Data>, value: &Value) -> Result<Val> {
    Ok(match *value {
        Value::I32(bits) => Val::I32(bits as i32),
        Value::I64(bits) => Val::I64(bits as i64),
        Value::F32(bits) => Val::F32(bits),
        Value::F64(bits) => Val::F64(bits),
        Value::V128(bits) => Val::V128(bits.into()),
        Value::Extern(Some(number)) => Val::ExternRef(Some(ExternRef::new(store.as_context_mut(), number)?)),
        Value::Extern(None) => Val::ExternRef(None),
        Value::Func(_) | Value::Null | Value::Opaque => Val::FuncRef(None),
    })
}

fn stop(error: Error) -> Stop {
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return Stop::Trap(*trap);
    }
    if error.downcast_ref::<HostTrap>().is_some() {
        return Stop::Host;
    }
    if error.downcast_ref::<LinkError>().is_some() || error.downcast_ref::<std::io::Error>().is_some() {
        return Stop::Limit(format!("{error:#}"));
    }
    let text = format!("{error:#}");
    // Where it happened is not compared, as of traps: a frame that called a host function in its place is there while it is interpreted, and gone where it is compiled.
    if text.contains("exception") { Stop::Exception } else { Stop::Other(error.root_cause().to_string()) }
}

struct OurGuest {
    store: Store<Data>,
    instance: Instance,
    partner: Option<Instance>,
}

impl OurGuest {
    fn export(&mut self, name: &str) -> Extern {
        let (instance, name) = whose(self.instance, self.partner, name);
        instance.get_export(&mut self.store, name).expect("the module exports it")
    }
}

impl Guest for OurGuest {
    fn call(&mut self, export: &str, arguments: &[Value], results: &[ValType]) -> Result<Vec<Value>, Stop> {
        let func = self.export(export).into_func().expect("it is a function");
        let arguments: Result<Vec<Val>> = arguments.iter().map(|argument| val(&mut self.store, argument)).collect();
        let mut out = vec![Val::I32(0); results.len()];
        let outcome = func.call(&mut self.store, &arguments.map_err(stop)?, &mut out);
        let meddler = self.store.data().meddler.clone();
        meddle(&meddler, false);
        outcome.map_err(stop)?;
        Ok(out.iter().map(|result| value(&mut self.store, result)).collect())
    }

    fn global(&mut self, export: &str) -> Value {
        let global = self.export(export).into_global().expect("it is a global");
        let content = global.get(&mut self.store);
        value(&mut self.store, &content)
    }

    fn memory(&mut self, export: &str) -> (u64, u64) {
        let memory = self.export(export).into_memory().expect("it is a memory");
        (memory.size(&self.store), hash_bytes(memory.data(&self.store)))
    }

    fn table(&mut self, export: &str) -> (u64, Vec<Value>) {
        let table = self.export(export).into_table().expect("it is a table");
        let size = table.size(self.store.as_context());
        let elements = (0..size.min(MOST_ELEMENTS_SEEN))
            .map(|index| {
                let element = table.get(&mut self.store, index).expect("it is in bounds");
                value(&mut self.store, &element.into())
            })
            .collect();
        (size, elements)
    }

    fn host(&self) -> &Host {
        &self.store.data().host
    }
}
