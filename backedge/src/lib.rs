//! backedge: a WebAssembly virtual machine that watches itself run. This is its embedding API.
//!
//! The names and signatures are those of wasmtime 48, so a program moves over by changing its imports. What backedge does not have (fuel,
//! async host functions, components, GC) is absent, so such a program does not compile; nothing is a silent no-op. Differences: there is
//! no `Rooted` ([`ExternRef`] is used directly), and errors are `anyhow`'s.
//!
//! ```
//! use backedge::{Caller, Engine, Linker, Module, Store};
//!
//! let engine = Engine::default();
//! let module = Module::new(&engine, r#"
//!     (module
//!         (import "host" "hello" (func $hello (param i32)))
//!         (func (export "run") i32.const 3 call $hello))
//! "#)?;
//! let mut linker = Linker::new(&engine);
//! linker.func_wrap("host", "hello", |caller: Caller<'_, u32>, n: i32| {
//!     assert_eq!((n, *caller.data()), (3, 4));
//! })?;
//! let mut store = Store::new(&engine, 4);
//! let instance = linker.instantiate(&mut store, &module)?;
//! instance.get_typed_func::<(), ()>(&mut store, "run")?.call(&mut store, ())?;
//! # Ok::<(), backedge::Error>(())
//! ```
//!
//! Code, profile and plans belong to the [`Module`]: a server makes a fresh [`Store`] per request, and every request profits from what
//! earlier ones taught the engine. Traps are errors that downcast to [`Trap`], with a [`WasmBacktrace`]:
//!
//! ```
//! use backedge::{Engine, Instance, Module, Store, Trap, WasmBacktrace};
//!
//! let engine = Engine::default();
//! let module = Module::new(&engine, r#"(module (func $f (export "f") unreachable))"#)?;
//! let mut store = Store::new(&engine, ());
//! let instance = Instance::new(&mut store, &module, &[])?;
//! let f = instance.get_typed_func::<(), ()>(&mut store, "f")?;
//! let error = f.call(&mut store, ()).unwrap_err();
//! assert_eq!(error.downcast_ref::<Trap>(), Some(&Trap::UnreachableCodeReached));
//! let backtrace = error.downcast_ref::<WasmBacktrace>().unwrap();
//! assert_eq!(backtrace.frames()[0].func_name(), Some("f"));
//! # Ok::<(), backedge::Error>(())
//! ```
//!
//! Reading order: [`Config`], [`Engine`], [`Module`], [`Store`], [`Func`], [`Instance`], [`Linker`], [`wasi`].

mod cache;
mod config;
mod engine;
mod error;
mod exceptions;
mod externals;
mod func;
mod instance;
mod limits;
mod linker;
mod module;
mod store;
mod types;
mod values;
pub mod wasi;
#[cfg(feature = "wast")]
pub mod wast;

pub use cache::{CacheDirectory, CacheFile};
pub use config::{Config, FeedbackPolicy, FeedbackScope, RecordSource, TierPolicy};
pub use engine::{Engine, EngineWeak, Precompiled};
pub use error::{
    Context, Error, FrameInfo, I32Exit, LinkError, Result, SourcePlace, ThrownException, Trap, WasmBacktrace, bail, ensure, format_err,
};
pub use externals::{Extern, Global, Memory, MemoryAccessError, SharedMemory, Table, Tag, WaitResult};
pub use func::{Func, HostFunc, IntoFunc, TypedFunc, WasmParams, WasmResults, WasmRet, WasmTy};
pub use instance::{Export, Instance};
pub use limits::{ResourceLimiter, StoreLimits, StoreLimitsBuilder};
pub use linker::{InstancePre, Linker, UnknownImportError};
pub use module::Module;
pub use store::{AsContext, AsContextMut, Caller, Store, StoreContext, StoreContextMut, UpdateDeadline};
pub use types::{
    ExportType, ExternType, FuncType, GlobalType, HeapType, ImportType, MemoryType, Mutability, RefType, SignatureId, TableType, TagType,
    ValType,
};
pub use values::{ExnRef, ExternRef, Ref, V128, Val};
pub use vm::module::Bytes;
pub use vm::tiering::WarmFunction;
