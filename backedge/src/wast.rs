//! Runs spec scripts (.wast): the assertions of the WebAssembly test suite, through the embedding API.
//!
//! Enters: an engine and a script's text. Leaves: a [`Summary`] with the number of assertions that ran and every [`Failure`]. The script
//! language is that of the reference interpreter (spec repository, `interpreter/README.md`, "Scripts").

use crate::{
    Engine, ExternRef, Func, Global, GlobalType, Instance, Linker, Memory, MemoryType, Module, Mutability, Ref, RefType, Result,
    SharedMemory, Store, Table, TableType, ThrownException, Trap, Val, ValType, bail, ensure, format_err,
};
use std::collections::HashMap;
use std::fmt;
use wast::core::{AbstractHeapType, HeapType, NanPattern, V128Pattern, WastArgCore, WastRetCore};
use wast::lexer::Lexer;
use wast::parser::{self, ParseBuffer};
use wast::token::{F32, F64, Id};
use wast::{QuoteWat, QuoteWatTest, Wast, WastArg, WastDirective, WastExecute, WastInvoke, WastRet, Wat};

/// What running a script came to.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// `assert_*` directives that ran, failed ones included.
    pub assertions: usize,
    /// Directives that did not do what the script says.
    pub failures: Vec<Failure>,
    /// Code versions that were published for the script's modules: by tier 1, by tier 2. Tells that the tiers meant to run did.
    pub compiled: [usize; 2],
    /// Compiles that failed, in the compiler's words: their functions stayed interpreted.
    pub uncompiled: Vec<String>,
}

/// A directive that did not do what the script says.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The script's name, as given.
    pub script: String,
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
    /// What was expected and found.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.script, self.line, self.column, self.message)
    }
}

/// Runs a script in a fresh store.
///
/// ```
/// use backedge::{Engine, wast};
///
/// let script = r#"
///     (module (func (export "f") (param i32) (result i32) (i32.div_s (i32.const 8) (local.get 0))))
///     (assert_return (invoke "f" (i32.const 2)) (i32.const 4))
///     (assert_trap (invoke "f" (i32.const 0)) "integer divide by zero")
/// "#;
/// let summary = wast::run(&Engine::default(), "example.wast", script)?;
/// assert_eq!((summary.assertions, summary.failures.len()), (2, 0));
/// # Ok::<(), backedge::Error>(())
/// ```
///
/// # Errors
/// The text is not a script.
pub fn run(engine: &Engine, name: &str, text: &str) -> Result<Summary> {
    let located = |mut error: wast::Error| {
        error.set_path(name.as_ref());
        error.set_text(text);
        format_err!("{error}")
    };
    let mut lexer = Lexer::new(text);
    lexer.allow_confusing_unicode(true);
    let buffer = ParseBuffer::new_with_lexer(lexer).map_err(located)?;
    let script: Wast<'_> = parser::parse(&buffer).map_err(located)?;
    let mut runner = Runner::new(engine)?;
    let mut summary = Summary::default();
    for directive in script.directives {
        let span = directive.span();
        summary.assertions += usize::from(is_assertion(&directive));
        if let Err(error) = runner.directive(directive) {
            let (line, column) = span.linecol_in(text);
            summary.failures.push(Failure { script: name.to_owned(), line: line + 1, column: column + 1, message: format!("{error:#}") });
        }
    }
    for module in &runner.modules {
        summary.uncompiled.extend(module.loaded().code.failures().into_iter().map(|failure| format!("{name}: {}", failure.reason)));
        for version in module.loaded().code.versions() {
            summary.compiled[match version.tier {
                vm::code::Tier::Baseline | vm::code::Tier::Instrumented => 0,
                vm::code::Tier::Optimizing => 1,
            }] += 1;
        }
    }
    Ok(summary)
}

fn is_assertion(directive: &WastDirective<'_>) -> bool {
    !matches!(
        directive,
        WastDirective::Module(_)
            | WastDirective::ModuleDefinition(_)
            | WastDirective::ModuleInstance { .. }
            | WastDirective::Register { .. }
            | WastDirective::Invoke(_)
            | WastDirective::Thread(_)
            | WastDirective::Wait { .. }
    )
}

struct Runner {
    engine: Engine,
    store: Store<()>,
    linker: Linker<()>,
    /// The latest instance, and named ones.
    current: Option<Instance>,
    instances: HashMap<String, Instance>,
    definitions: HashMap<Option<String>, Module>,
    /// Everything that loaded.
    modules: Vec<Module>,
}

impl Runner {
    fn new(engine: &Engine) -> Result<Runner> {
        let mut store = Store::new(engine, ());
        let mut linker = Linker::new(engine);
        linker.allow_shadowing(true);
        define_spectest(&mut linker, &mut store)?;
        Ok(Runner {
            engine: engine.clone(),
            store,
            linker,
            current: None,
            instances: HashMap::new(),
            definitions: HashMap::new(),
            modules: Vec::new(),
        })
    }

    fn directive(&mut self, directive: WastDirective<'_>) -> Result<()> {
        match directive {
            WastDirective::Module(mut wat) => {
                let name = wat.name().map(|id| id.name().to_owned());
                // A failed module must not leave the one before it as the current one.
                self.current = None;
                let module = self.load(&mut wat)?;
                let instance = self.linker.instantiate(&mut self.store, &module)?;
                self.bind(name, instance);
            }
            WastDirective::ModuleDefinition(mut wat) => {
                let name = wat.name().map(|id| id.name().to_owned());
                let module = self.load(&mut wat)?;
                self.definitions.insert(name, module);
            }
            WastDirective::ModuleInstance { instance, module, .. } => {
                let key = module.map(|id| id.name().to_owned());
                let module = self.definitions.get(&key).ok_or_else(|| format_err!("no module definition {key:?}"))?.clone();
                let made = self.linker.instantiate(&mut self.store, &module)?;
                self.bind(instance.map(|id| id.name().to_owned()), made);
            }
            WastDirective::Register { name, module, .. } => {
                let instance = self.instance(module)?;
                self.linker.instance(&mut self.store, name, instance)?;
            }
            WastDirective::Invoke(invoke) => {
                self.invoke(invoke)?;
            }
            WastDirective::AssertReturn { exec, results, .. } => {
                let values = self.execute(exec)?;
                self.compare(&values, &results)?;
            }
            WastDirective::AssertTrap { exec, message, .. } => {
                let outcome = self.execute(exec);
                expect_trap(outcome, message)?;
            }
            WastDirective::AssertExhaustion { call, message, .. } => {
                let outcome = self.invoke(call);
                expect_trap(outcome, message)?;
            }
            WastDirective::AssertException { exec, .. } => match self.execute(exec) {
                Ok(values) => bail!("expected an exception, found results {values:x?}"),
                Err(error) if error.is::<ThrownException>() => {}
                Err(error) => return Err(error.context("expected an exception, found another error")),
            },
            WastDirective::AssertInvalid { module, message, .. } => {
                self.expect_rejected(module, message)?;
            }
            WastDirective::AssertMalformed { module, message, .. } => {
                self.expect_rejected(module, message)?;
            }
            WastDirective::AssertUnlinkable { mut module, message, .. } => {
                let bytes = module.encode().map_err(|error| format_err!("{error}"))?;
                let module = self.load_bytes(&bytes)?;
                if self.linker.instantiate(&mut self.store, &module).is_ok() {
                    Err(format_err!("expected it not to link (`{message}`), but it did"))?;
                }
            }
            other => bail!("directive not supported: {other:?}"),
        }
        Ok(())
    }

    fn bind(&mut self, name: Option<String>, instance: Instance) {
        self.current = Some(instance);
        if let Some(name) = name {
            self.instances.insert(name, instance);
        }
    }

    fn load(&mut self, wat: &mut QuoteWat<'_>) -> Result<Module> {
        let bytes = wat.encode().map_err(|error| format_err!("{error}"))?;
        self.load_bytes(&bytes)
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<Module> {
        let module = Module::new(&self.engine, bytes)?;
        self.modules.push(module.clone());
        Ok(module)
    }

    fn instance(&self, name: Option<Id<'_>>) -> Result<Instance> {
        match name {
            Some(id) => self.instances.get(id.name()).copied(),
            None => self.current,
        }
        .ok_or_else(|| format_err!("no module {name:?} was instantiated"))
    }

    fn execute(&mut self, execute: WastExecute<'_>) -> Result<Vec<Val>> {
        match execute {
            WastExecute::Invoke(invoke) => self.invoke(invoke),
            WastExecute::Wat(mut wat) => {
                let bytes = Wat::encode(&mut wat).map_err(|error| format_err!("{error}"))?;
                let module = self.load_bytes(&bytes)?;
                self.linker.instantiate(&mut self.store, &module)?;
                Ok(Vec::new())
            }
            WastExecute::Get { module, global, .. } => {
                let instance = self.instance(module)?;
                let global = instance.get_global(&mut self.store, global).ok_or_else(|| format_err!("no exported global `{global}`"))?;
                Ok(vec![global.get(&mut self.store)])
            }
        }
    }

    fn invoke(&mut self, invoke: WastInvoke<'_>) -> Result<Vec<Val>> {
        let instance = self.instance(invoke.module)?;
        let func = instance.get_func(&mut self.store, invoke.name).ok_or_else(|| format_err!("no exported function `{}`", invoke.name))?;
        let args = invoke.args.into_iter().map(|arg| self.argument(arg)).collect::<Result<Vec<Val>>>()?;
        let mut results = vec![Val::I32(0); func.ty(&self.store).results().len()];
        func.call(&mut self.store, &args, &mut results)?;
        Ok(results)
    }

    fn argument(&mut self, arg: WastArg<'_>) -> Result<Val> {
        #[allow(irrefutable_let_patterns)]
        let WastArg::Core(arg) = arg else { bail!("component values are not supported") };
        Ok(match arg {
            WastArgCore::I32(value) => Val::I32(value),
            WastArgCore::I64(value) => Val::I64(value),
            WastArgCore::F32(value) => Val::F32(value.bits),
            WastArgCore::F64(value) => Val::F64(value.bits),
            WastArgCore::V128(value) => Val::V128(u128::from_le_bytes(value.to_le_bytes()).into()),
            WastArgCore::RefNull(HeapType::Abstract { ty: AbstractHeapType::Extern | AbstractHeapType::NoExtern, .. }) => {
                Val::ExternRef(None)
            }
            WastArgCore::RefNull(HeapType::Abstract { ty: AbstractHeapType::Exn | AbstractHeapType::NoExn, .. }) => Val::ExnRef(None),
            WastArgCore::RefNull(
                HeapType::Abstract { ty: AbstractHeapType::Func | AbstractHeapType::NoFunc, .. } | HeapType::Concrete(_),
            ) => Val::FuncRef(None),
            WastArgCore::RefExtern(number) => Val::ExternRef(Some(ExternRef::new(&mut self.store, number)?)),
            other => bail!("argument not supported: {other:?}"),
        })
    }

    fn compare(&self, values: &[Val], expected: &[WastRet<'_>]) -> Result<()> {
        ensure!(values.len() == expected.len(), "expected {} results, found {}", expected.len(), values.len());
        for (value, expected) in values.iter().zip(expected) {
            #[allow(irrefutable_let_patterns)]
            let WastRet::Core(expected) = expected else { bail!("component values are not supported") };
            ensure!(self.matches(value, expected)?, "expected {expected:x?}, found {value:x?}");
        }
        Ok(())
    }

    fn matches(&self, value: &Val, expected: &WastRetCore<'_>) -> Result<bool> {
        Ok(match (value, expected) {
            (Val::I32(value), WastRetCore::I32(expected)) => value == expected,
            (Val::I64(value), WastRetCore::I64(expected)) => value == expected,
            (Val::F32(bits), WastRetCore::F32(pattern)) => f32_matches(*bits, pattern),
            (Val::F64(bits), WastRetCore::F64(pattern)) => f64_matches(*bits, pattern),
            (Val::V128(value), WastRetCore::V128(pattern)) => v128_matches(value.as_u128(), pattern),
            (Val::FuncRef(None), WastRetCore::RefNull(ty)) => null_matches(ty, [AbstractHeapType::Func, AbstractHeapType::NoFunc]),
            (Val::ExternRef(None), WastRetCore::RefNull(ty)) => null_matches(ty, [AbstractHeapType::Extern, AbstractHeapType::NoExtern]),
            (Val::ExnRef(None), WastRetCore::RefNull(ty)) => null_matches(ty, [AbstractHeapType::Exn, AbstractHeapType::NoExn]),
            (Val::FuncRef(Some(_)), WastRetCore::RefFunc(_)) => true,
            (Val::ExnRef(Some(_)), WastRetCore::RefNull(_)) => false,
            (Val::ExternRef(Some(_)), WastRetCore::RefExtern(None)) => true,
            (Val::ExternRef(Some(value)), WastRetCore::RefExtern(Some(expected))) => {
                let data = value.data(&self.store)?;
                data.and_then(|data| data.downcast_ref::<u32>()) == Some(expected)
            }
            (_, WastRetCore::Either(cases)) => {
                for case in cases {
                    if self.matches(value, case)? {
                        return Ok(true);
                    }
                }
                false
            }
            _ => false,
        })
    }

    fn expect_rejected(&self, mut module: QuoteWat<'_>, message: &str) -> Result<()> {
        let bytes = match module.to_test() {
            // The text format's encoder rejected it.
            Err(_) => return Ok(()),
            Ok(QuoteWatTest::Binary(bytes)) => bytes,
            Ok(QuoteWatTest::Text(_)) => match module.encode() {
                Err(_) => return Ok(()),
                Ok(bytes) => bytes,
            },
        };
        match Module::new(&self.engine, &bytes) {
            Err(_) => Ok(()),
            Ok(_) => bail!("expected it to be rejected (`{message}`), but its {} bytes loaded", bytes.len()),
        }
    }
}

fn null_matches(expected: &Option<HeapType<'_>>, found: [AbstractHeapType; 2]) -> bool {
    match expected {
        None => true,
        Some(HeapType::Abstract { ty, .. }) => found.contains(ty),
        Some(_) => found[0] == AbstractHeapType::Func,
    }
}

fn f32_matches(bits: u32, pattern: &NanPattern<F32>) -> bool {
    match pattern {
        NanPattern::CanonicalNan => bits & 0x7fff_ffff == 0x7fc0_0000,
        NanPattern::ArithmeticNan => bits & 0x7fc0_0000 == 0x7fc0_0000,
        NanPattern::Value(expected) => bits == expected.bits,
    }
}

fn f64_matches(bits: u64, pattern: &NanPattern<F64>) -> bool {
    match pattern {
        NanPattern::CanonicalNan => bits & (u64::MAX >> 1) == 0x7ff8 << 48,
        NanPattern::ArithmeticNan => bits & (0x7ff8 << 48) == 0x7ff8 << 48,
        NanPattern::Value(expected) => bits == expected.bits,
    }
}

fn v128_matches(value: u128, pattern: &V128Pattern) -> bool {
    let bytes = value.to_le_bytes();
    fn lanes<const N: usize, const COUNT: usize>(bytes: [u8; 16]) -> [[u8; N]; COUNT] {
        std::array::from_fn(|lane| std::array::from_fn(|byte| bytes[lane * N + byte]))
    }
    match pattern {
        V128Pattern::I8x16(expected) => lanes::<1, 16>(bytes).map(i8::from_le_bytes) == *expected,
        V128Pattern::I16x8(expected) => lanes::<2, 8>(bytes).map(i16::from_le_bytes) == *expected,
        V128Pattern::I32x4(expected) => lanes::<4, 4>(bytes).map(i32::from_le_bytes) == *expected,
        V128Pattern::I64x2(expected) => lanes::<8, 2>(bytes).map(i64::from_le_bytes) == *expected,
        V128Pattern::F32x4(expected) => {
            lanes::<4, 4>(bytes).iter().zip(expected).all(|(lane, pattern)| f32_matches(u32::from_le_bytes(*lane), pattern))
        }
        V128Pattern::F64x2(expected) => {
            lanes::<8, 2>(bytes).iter().zip(expected).all(|(lane, pattern)| f64_matches(u64::from_le_bytes(*lane), pattern))
        }
    }
}

/// Checks that something trapped, and why.
fn expect_trap(outcome: Result<Vec<Val>>, message: &str) -> Result<()> {
    let error = match outcome {
        Ok(values) => bail!("expected trap `{message}`, found results {values:x?}"),
        Err(error) => error,
    };
    let Some(trap) = error.downcast_ref::<Trap>() else {
        return Err(error.context(format!("expected trap `{message}`, found another error")));
    };
    ensure!(
        trap_messages(*trap).iter().any(|known| message.starts_with(known) || known.starts_with(message)),
        "expected trap `{message}`, found trap `{trap}`"
    );
    Ok(())
}

/// How the scripts of the versions of the suite begin to word a trap.
fn trap_messages(trap: Trap) -> &'static [&'static str] {
    match trap {
        Trap::StackOverflow => &["call stack exhausted"],
        Trap::MemoryOutOfBounds => &["out of bounds memory access"],
        Trap::HeapMisaligned => &["unaligned atomic"],
        Trap::TableOutOfBounds => &["undefined element", "out of bounds table access", "undefined"],
        Trap::IndirectCallToNull => &["uninitialized"],
        Trap::BadSignature => &["indirect call"],
        Trap::IntegerOverflow => &["integer overflow"],
        Trap::IntegerDivisionByZero => &["integer divide by zero"],
        Trap::BadConversionToInteger => &["invalid conversion to integer"],
        Trap::UnreachableCodeReached => &["unreachable"],
        Trap::Interrupt => &["interrupt"],
        Trap::NullReference => &["null"],
        _ => &[],
    }
}

/// The module `spectest` that scripts import from (spec repository, `interpreter/host/spectest.ml`). Its functions print nothing.
fn define_spectest(linker: &mut Linker<()>, store: &mut Store<()>) -> Result<()> {
    let module = "spectest";
    linker.func_wrap(module, "print", || {})?;
    linker.func_wrap(module, "print_i32", |_: i32| {})?;
    linker.func_wrap(module, "print_i64", |_: i64| {})?;
    linker.func_wrap(module, "print_f32", |_: f32| {})?;
    linker.func_wrap(module, "print_f64", |_: f64| {})?;
    linker.func_wrap(module, "print_i32_f32", |_: i32, _: f32| {})?;
    linker.func_wrap(module, "print_f64_f64", |_: f64, _: f64| {})?;
    let globals = [
        ("global_i32", Val::I32(666)),
        ("global_i64", Val::I64(666)),
        ("global_f32", Val::F32(666.6_f32.to_bits())),
        ("global_f64", Val::F64(666.6_f64.to_bits())),
    ];
    for (name, value) in globals {
        let content: ValType = value.ty(&*store)?;
        let ty = GlobalType::new(content, Mutability::Const);
        let global = Global::new(&mut *store, ty, value)?;
        linker.define(&*store, module, name, global)?;
    }
    let ty = TableType::new(RefType::FUNCREF, 10, Some(20));
    let table = Table::new(&mut *store, ty, Ref::Func(None::<Func>))?;
    linker.define(&*store, module, "table", table)?;
    let memory = Memory::new(&mut *store, MemoryType::new(1, Some(2)))?;
    linker.define(&*store, module, "memory", memory)?;
    let shared = SharedMemory::new(store.engine(), MemoryType::shared(1, 2))?;
    linker.define(&*store, module, "shared_memory", shared)?;
    Ok(())
}
