//! wasmi, the outside oracle, as a [`Machine`].

use crate::case::{Shape, whose};
use crate::guest::{Guest, Loaded, MOST_ELEMENTS_SEEN, Machine, Stop, hash_bytes};
use crate::host::{Host, HostTrap, MOST_MEMORY_BYTES, MOST_TABLE_ELEMENTS};
use crate::program::PARTNER;
use crate::values::Value;
use backedge::Trap;
use wasmi::errors::{ErrorKind, InstantiationError};
use wasmi::{
    AsContext, AsContextMut, Config, Engine, Error, Extern, ExternRef, ExternType, Func, FuncType, Global, Instance, Memory, Module, Ref,
    Store, StoreLimits, StoreLimitsBuilder, Table, TrapCode, Val,
};
use wasmparser::ValType;

/// Oracle for one case.
pub struct Oracle {
    engine: Engine,
}

impl Default for Oracle {
    fn default() -> Self {
        let mut config = Config::default();
        config
            .wasm_multi_memory(true)
            .wasm_memory64(true)
            .wasm_tail_call(true)
            .wasm_extended_const(true)
            .wasm_custom_page_sizes(true)
            .wasm_wide_arithmetic(true)
            .wasm_simd(true)
            // Its results are each machine's own: such modules are compared among our configurations only.
            .wasm_relaxed_simd(false)
            .set_max_recursion_depth(100_000)
            .set_max_stack_height(64 << 20);
        Oracle { engine: Engine::new(&config) }
    }
}

impl Machine for Oracle {
    fn load(&self, wasm: &[u8]) -> Result<Box<dyn Loaded>, String> {
        let module = Module::new(&self.engine, wasm).map_err(|error| error.to_string())?;
        let shape = Shape::of(wasm).map_err(|error| error.to_string())?;
        Ok(Box::new(OracleModule { module, shape }))
    }
}

struct OracleModule {
    module: Module,
    shape: Shape,
}

struct Data {
    host: Host,
    limits: StoreLimits,
}

impl wasmi::errors::HostError for HostTrap {}

impl Loaded for OracleModule {
    fn instantiate(&self, host: Host) -> Result<Box<dyn Guest>, Stop> {
        let limits = StoreLimitsBuilder::new().memory_size(MOST_MEMORY_BYTES).table_elements(MOST_TABLE_ELEMENTS).build();
        let mut store = Store::new(self.module.engine(), Data { host, limits });
        store.limiter(|data| &mut data.limits);
        let partner = match self.shape.has_partner {
            true => Some(self.instance(&mut store, None).map_err(stop)?),
            false => None,
        };
        let instance = self.instance(&mut store, partner).map_err(stop)?;
        Ok(Box::new(OracleGuest { store, instance, partner }))
    }
}

impl OracleModule {
    /// An instance that imports from its partner what that exports, and everything else from the host.
    fn instance(&self, store: &mut Store<Data>, partner: Option<Instance>) -> Result<Instance, Error> {
        let mut imports: Vec<Extern> = Vec::new();
        let (mut functions, mut globals) = (0.., 0..);
        let number = |numbers: &mut std::ops::RangeFrom<usize>| numbers.next().unwrap_or(0);
        for import in self.module.imports() {
            let host = match import.ty() {
                ExternType::Func(ty) => self.function(store, number(&mut functions), ty.clone()).into(),
                ExternType::Memory(ty) => Memory::new(&mut *store, *ty)?.into(),
                ExternType::Table(ty) => Table::new(&mut *store, *ty, Val::default(ty.element()))?.into(),
                ExternType::Global(ty) => {
                    let value = store.data().host.global(number(&mut globals), wasm_type(ty.content()));
                    let value = value.map_or(Val::default(ty.content()), |value| val(&mut *store, &value, ty.content()));
                    Global::new(&mut *store, value, ty.mutability()).into()
                }
            };
            let partner = partner.filter(|_| import.module() == PARTNER);
            imports.push(partner.and_then(|partner| partner.get_export(&*store, import.name())).unwrap_or(host));
        }
        Instance::new(store, &self.module, &imports)
    }

    fn function(&self, store: &mut Store<Data>, index: usize, ty: FuncType) -> Func {
        let results = self.shape.imports[index].1.clone();
        Func::new(store, ty.clone(), move |mut caller, arguments, out| {
            let arguments: Vec<Value> = arguments.iter().map(|argument| value(&caller, argument)).collect();
            let answer = caller.data_mut().host.answer(index, &arguments, &results).map_err(Error::host)?;
            for ((out, answer), &ty) in out.iter_mut().zip(&answer).zip(ty.results()) {
                *out = val(&mut caller, answer, ty);
            }
            Ok(())
        })
    }
}

fn wasm_type(ty: wasmi::ValType) -> ValType {
    match ty {
        wasmi::ValType::I32 => ValType::I32,
        wasmi::ValType::I64 => ValType::I64,
        wasmi::ValType::F32 => ValType::F32,
        wasmi::ValType::F64 => ValType::F64,
        wasmi::ValType::V128 => ValType::V128,
        wasmi::ValType::FuncRef => ValType::FUNCREF,
        wasmi::ValType::ExternRef => ValType::EXTERNREF,
    }
}

fn value(store: impl AsContext<Data = Data>, value: &Val) -> Value {
    match value {
        Val::I32(value) => Value::I32(*value as u32),
        Val::I64(value) => Value::I64(*value as u64),
        Val::F32(value) => Value::F32(value.to_bits()),
        Val::F64(value) => Value::F64(value.to_bits()),
        Val::V128(value) => Value::V128(value.as_u128()),
        Val::FuncRef(func) => Value::Func(func.val().map(|func| signature(&func.ty(&store)))),
        Val::ExternRef(value) => {
            Value::Extern(value.val().map(|value| value.data(store.as_context()).downcast_ref::<u32>().copied().unwrap_or(u32::MAX)))
        }
    }
}

fn signature(ty: &FuncType) -> String {
    let names = |types: &[wasmi::ValType]| types.iter().map(|&ty| wasm_type(ty).to_string()).collect::<Vec<_>>().join(" ");
    format!("({})->({})", names(ty.params()), names(ty.results()))
}

/// A value in a store, of the type where nulls need one.
fn val(store: impl AsContextMut<Data = Data>, value: &Value, ty: wasmi::ValType) -> Val {
    match *value {
        Value::I32(bits) => Val::I32(bits as i32),
        Value::I64(bits) => Val::I64(bits as i64),
        Value::F32(bits) => Val::F32(f32::from_bits(bits).into()),
        Value::F64(bits) => Val::F64(f64::from_bits(bits).into()),
        Value::V128(bits) => Val::V128(bits.into()),
        Value::Extern(Some(number)) => Val::ExternRef(Ref::Val(ExternRef::new(store, number))),
        Value::Extern(None) | Value::Func(_) | Value::Null | Value::Opaque => Val::default(ty),
    }
}

fn stop(error: impl Into<Error>) -> Stop {
    let error = error.into();
    if let Some(code) = error.as_trap_code() {
        return match code {
            TrapCode::UnreachableCodeReached => Stop::Trap(Trap::UnreachableCodeReached),
            TrapCode::MemoryOutOfBounds => Stop::Trap(Trap::MemoryOutOfBounds),
            TrapCode::TableOutOfBounds => Stop::Trap(Trap::TableOutOfBounds),
            TrapCode::IndirectCallToNull => Stop::Trap(Trap::IndirectCallToNull),
            TrapCode::IntegerDivisionByZero => Stop::Trap(Trap::IntegerDivisionByZero),
            TrapCode::IntegerOverflow => Stop::Trap(Trap::IntegerOverflow),
            TrapCode::BadConversionToInteger => Stop::Trap(Trap::BadConversionToInteger),
            TrapCode::StackOverflow => Stop::Trap(Trap::StackOverflow),
            TrapCode::BadSignature => Stop::Trap(Trap::BadSignature),
            TrapCode::OutOfFuel | TrapCode::GrowthOperationLimited => Stop::Limit(error.to_string()),
        };
    }
    match error.kind() {
        ErrorKind::Host(host) if host.downcast_ref::<HostTrap>().is_some() => Stop::Host,
        ErrorKind::Instantiation(InstantiationError::ElementSegmentDoesNotFit { .. }) => Stop::Trap(Trap::TableOutOfBounds),
        ErrorKind::Memory(_) | ErrorKind::Table(_) | ErrorKind::Instantiation(_) => Stop::Limit(error.to_string()),
        _ => Stop::Other(error.to_string()),
    }
}

struct OracleGuest {
    store: Store<Data>,
    instance: Instance,
    partner: Option<Instance>,
}

impl OracleGuest {
    fn export(&self, name: &str) -> Extern {
        let (instance, name) = whose(self.instance, self.partner, name);
        instance.get_export(&self.store, name).expect("the module exports it")
    }
}

impl Guest for OracleGuest {
    fn call(&mut self, export: &str, arguments: &[Value], results: &[ValType]) -> Result<Vec<Value>, Stop> {
        let func = self.export(export).into_func().expect("it is a function");
        let ty = func.ty(&self.store);
        let arguments: Vec<Val> = arguments.iter().zip(ty.params()).map(|(argument, &ty)| val(&mut self.store, argument, ty)).collect();
        let mut out = vec![Val::I32(0); results.len()];
        func.call(&mut self.store, &arguments, &mut out).map_err(stop)?;
        Ok(out.iter().map(|result| value(&self.store, result)).collect())
    }

    fn global(&mut self, export: &str) -> Value {
        let global = self.export(export).into_global().expect("it is a global");
        value(&self.store, &global.get(&self.store))
    }

    fn memory(&mut self, export: &str) -> (u64, u64) {
        let memory = self.export(export).into_memory().expect("it is a memory");
        (memory.size(&self.store), hash_bytes(memory.data(&self.store)))
    }

    fn table(&mut self, export: &str) -> (u64, Vec<Value>) {
        let table = self.export(export).into_table().expect("it is a table");
        let size = table.size(&self.store);
        let elements = (0..size.min(MOST_ELEMENTS_SEEN))
            .map(|index| value(&self.store, &table.get(&self.store, index).expect("it is in bounds")))
            .collect();
        (size, elements)
    }

    fn host(&self) -> &Host {
        &self.store.data().host
    }
}
