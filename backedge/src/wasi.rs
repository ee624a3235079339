//! WASI preview 1 for embedders: build a context, add the functions to a linker.
//!
//! ```
//! use backedge::wasi::{self, OutputBuffer, WasiCtx, WasiCtxBuilder};
//! use backedge::{Engine, Linker, Module, Store};
//!
//! let engine = Engine::default();
//! let mut linker = Linker::new(&engine);
//! wasi::add_to_linker(&mut linker, |context: &mut WasiCtx| context)?;
//! let module = Module::new(&engine, r#"
//!     (module
//!         (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
//!         (memory (export "memory") 1)
//!         (data (i32.const 0) "\08\00\00\00\03\00\00\00hi\n")
//!         (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 16)))))
//! "#)?;
//! let out = OutputBuffer::new(1024);
//! let context = WasiCtxBuilder::new().arg("prog")?.stdout(out.clone()).build();
//! let mut store = Store::new(&engine, context);
//! let instance = linker.instantiate(&mut store, &module)?;
//! instance.get_typed_func::<(), ()>(&mut store, "_start")?.call(&mut store, ())?;
//! assert_eq!(out.contents(), b"hi\n");
//! # Ok::<(), backedge::Error>(())
//! ```
//!
//! A guest's `proc_exit` arrives as an error that downcasts to [`I32Exit`], also for code 0.

use crate::error::host_failure;
use crate::func::HostFunc;
use crate::types::FuncType;
use crate::{AsContextMut, Caller, Error, Extern, I32Exit, Linker, Memory, Result, Trap, format_err};
use std::path::Path;
use vm::store::HostError;
use vm::wasi::{Builder, Function, Snapshot, Stop};
pub use vm::wasi::{Context as WasiCtx, Host, OutputBuffer};

/// Defines all of preview 1, under `wasi_snapshot_preview1` and (less `sock_accept`) under `wasi_unstable`. `get` finds the guest's context
/// in the store's data.
///
/// # Errors
/// A name is defined already.
pub fn add_to_linker<T: 'static, H: Host>(
    linker: &mut Linker<T>,
    get: impl Fn(&mut T) -> &mut H + Send + Sync + Copy + 'static,
) -> Result<()> {
    for snapshot in Snapshot::ALL {
        for &function in Function::ALL {
            if !snapshot.has(function) {
                continue;
            }
            let ty = FuncType::from_wasm(function.ty());
            let body = move |caller: Caller<'_, T>, slots: &mut [u64]| answer(caller, snapshot, function, slots, get);
            linker.host_func(snapshot.module(), function.name(), HostFunc::on_slots(ty, body))?;
        }
    }
    Ok(())
}

fn answer<T: 'static, H: Host>(
    mut caller: Caller<'_, T>,
    snapshot: Snapshot,
    function: Function,
    slots: &mut [u64],
    get: impl Fn(&mut T) -> &mut H,
) -> Result<()> {
    let memory = caller.get_export("memory").and_then(Extern::into_memory);
    let answered = loop {
        // (not for nothing: two atomic operations are a tenth of a short call)
        let deadline = caller.store.0.machine.epoch_deadline().map(|deadline| (caller.engine().clone(), deadline));
        let context = caller.as_context_mut();
        let (bytes, data): (&mut [u8], &mut T) = match memory {
            Some(memory) => Memory::data_and_store_mut(&memory, context),
            None if function.uses_memory() => {
                let reason = match caller.get_export("memory") {
                    Some(Extern::SharedMemory(_)) => "it is shared between threads, which WASI preview 1 is not offered for",
                    _ => "the module must export its memory as `memory`",
                };
                return Err(format_err!("{}: missing required memory export: {reason}", function.name()));
            }
            None => (&mut [], &mut context.0.data),
        };
        let arguments = &slots[..function.params().len()];
        let Some((engine, deadline)) = deadline else { break get(data).call(snapshot, function, bytes, arguments) };
        match get(data).call_until(snapshot, function, bytes, arguments, &mut || engine.vm.epoch() >= deadline) {
            Err(Stop::Deadline) => caller.as_context_mut().0.machine.at_deadline().map_err(at_deadline)?,
            answered => break answered,
        }
    };
    match answered {
        Ok(errno) => {
            slots[0] = errno.into();
            Ok(())
        }
        Err(Stop::Exit(code)) => Err(Error::new(I32Exit(code))),
        Err(fault) => Err(Error::new(fault)),
    }
}

fn at_deadline(error: HostError) -> Error {
    match error.downcast::<Trap>() {
        Ok(trap) => Error::new(*trap),
        Err(error) => host_failure(error),
    }
}

/// Collects what a guest may see. Starts empty: no arguments, no environment, no directories, stdin at its end, output discarded.
///
/// Where wasmtime-wasi's methods cannot fail, these can: a NUL byte in an argument is an error here and not in the guest.
#[derive(Default)]
pub struct WasiCtxBuilder {
    builder: Builder,
}

impl WasiCtxBuilder {
    /// A guest that sees nothing.
    pub fn new() -> WasiCtxBuilder {
        WasiCtxBuilder::default()
    }

    /// Adds a command line argument; the first is the program's name.
    ///
    /// # Errors
    /// It has a NUL byte.
    pub fn arg(&mut self, arg: impl AsRef<str>) -> Result<&mut WasiCtxBuilder> {
        self.builder.arg(arg.as_ref())?;
        Ok(self)
    }

    /// Adds command line arguments.
    ///
    /// # Errors
    /// One has a NUL byte.
    pub fn args(&mut self, args: &[impl AsRef<str>]) -> Result<&mut WasiCtxBuilder> {
        for arg in args {
            self.arg(arg)?;
        }
        Ok(self)
    }

    /// Adds an environment variable.
    ///
    /// # Errors
    /// It has a NUL byte.
    pub fn env(&mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Result<&mut WasiCtxBuilder> {
        self.builder.env(name.as_ref(), value.as_ref())?;
        Ok(self)
    }

    /// Adds environment variables.
    ///
    /// # Errors
    /// One has a NUL byte.
    pub fn envs(&mut self, variables: &[(impl AsRef<str>, impl AsRef<str>)]) -> Result<&mut WasiCtxBuilder> {
        for (name, value) in variables {
            self.env(name, value)?;
        }
        Ok(self)
    }

    /// Adds the host's whole environment; variables that are not UTF-8 are left out.
    ///
    /// # Errors
    /// None so far.
    pub fn inherit_env(&mut self) -> Result<&mut WasiCtxBuilder> {
        for (name, value) in std::env::vars_os() {
            if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
                self.env(name, value)?;
            }
        }
        Ok(self)
    }

    /// Opens a directory of the host and gives it to the guest under another name, to read and to write.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn preopened_dir(&mut self, host_path: impl AsRef<Path>, guest_path: impl AsRef<str>) -> Result<&mut WasiCtxBuilder> {
        self.builder.preopened_dir(host_path, guest_path.as_ref())?;
        Ok(self)
    }

    /// The same, to read alone: neither the directory nor what is in it can be made, changed, moved or removed, and nothing there is opened to be written (`EROFS`).
    /// What other directories of the guest's also hold (by a second name, or as a part of theirs) is as writable there as they are.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn preopened_dir_read_only(&mut self, host_path: impl AsRef<Path>, guest_path: impl AsRef<str>) -> Result<&mut WasiCtxBuilder> {
        self.builder.preopened_dir_read_only(host_path, guest_path.as_ref())?;
        Ok(self)
    }

    /// The guest shares the host's standard input, output and error.
    pub fn inherit_stdio(&mut self) -> &mut WasiCtxBuilder {
        self.inherit_stdin().inherit_stdout().inherit_stderr()
    }

    /// The guest reads the host's standard input, without a buffer: what it does not ask for is left to who reads next.
    pub fn inherit_stdin(&mut self) -> &mut WasiCtxBuilder {
        self.builder.inherit_stdin();
        self
    }

    /// The guest writes to the host's standard output.
    pub fn inherit_stdout(&mut self) -> &mut WasiCtxBuilder {
        self.builder.inherit_stdout();
        self
    }

    /// The guest writes to the host's standard error.
    pub fn inherit_stderr(&mut self) -> &mut WasiCtxBuilder {
        self.builder.inherit_stderr();
        self
    }

    /// The guest reads its standard input from a file, a buffer or any other reader.
    pub fn stdin(&mut self, reader: impl std::io::Read + Send + Sync + 'static) -> &mut WasiCtxBuilder {
        self.builder.stdin(reader);
        self
    }

    /// The guest's standard output goes to a file, an [`OutputBuffer`] or any other writer.
    pub fn stdout(&mut self, writer: impl std::io::Write + Send + Sync + 'static) -> &mut WasiCtxBuilder {
        self.builder.stdout(writer);
        self
    }

    /// The guest's standard error goes to a file, an [`OutputBuffer`] or any other writer.
    pub fn stderr(&mut self, writer: impl std::io::Write + Send + Sync + 'static) -> &mut WasiCtxBuilder {
        self.builder.stderr(writer);
        self
    }

    /// Finishes; the builder is empty again.
    pub fn build(&mut self) -> WasiCtx {
        self.builder.build()
    }
}
