//! The functions of preview 1, once: name, parameters, and the code that answers through wasi-common.
//!
//! Every function is importable under both module names; `wasi_unstable` (preview 0) has the same list and the same wasm
//! signatures, less `sock_accept`, but other layouts in memory, so it has answers of its own.

use super::Stop;
use super::errno::errno;
use super::wait::SLICE;
use std::future::Future;
use std::pin::pin;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::{Duration, UNIX_EPOCH};
use wasi_common::WasiCtx;
use wasi_common::snapshots::preview_1::types::Errno;
use wasi_common::snapshots::{preview_0::wasi_unstable as unstable, preview_1::wasi_snapshot_preview1 as snapshot1};
use wasmparser::{FuncType, ValType};
use wiggle::GuestMemory;

/// Which version of the interface a guest was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Snapshot {
    /// `wasi_snapshot_preview1`.
    Preview1,
    /// `wasi_unstable`, what toolchains of 2019 import.
    Unstable,
}

impl Snapshot {
    /// Both.
    pub const ALL: [Snapshot; 2] = [Snapshot::Preview1, Snapshot::Unstable];

    /// The module name that guests import.
    pub fn module(self) -> &'static str {
        match self {
            Snapshot::Preview1 => "wasi_snapshot_preview1",
            Snapshot::Unstable => "wasi_unstable",
        }
    }

    /// Whether this version has the function.
    pub fn has(self, function: Function) -> bool {
        self == Snapshot::Preview1 || function != Function::SockAccept
    }
}

/// A parameter's Rust type: how it is declared and how it is read from its slot.
trait Parameter {
    const TYPE: ValType;
    fn of(slot: u64) -> Self;
}

impl Parameter for i32 {
    const TYPE: ValType = ValType::I32;
    fn of(slot: u64) -> i32 {
        slot as i32
    }
}

impl Parameter for i64 {
    const TYPE: ValType = ValType::I64;
    fn of(slot: u64) -> i64 {
        slot as i64
    }
}

/// Declares the functions once. `only` ones are not in `wasi_unstable`.
macro_rules! preview1 {
    (
        both { $($variant:ident $name:ident ( $($arg:ident : $ty:ty),* );)* }
        only { $($variant1:ident $name1:ident ( $($arg1:ident : $ty1:ty),* );)* }
    ) => {
        /// A function of the interface. `proc_exit` has no result, every other one an i32 error number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum Function { $($variant,)* $($variant1,)* ProcExit }

        impl Function {
            /// All functions.
            pub const ALL: &'static [Function] = &[$(Function::$variant,)* $(Function::$variant1,)* Function::ProcExit];

            /// The name that guests import.
            pub fn name(self) -> &'static str {
                match self {
                    $(Function::$variant => stringify!($name),)*
                    $(Function::$variant1 => stringify!($name1),)*
                    Function::ProcExit => "proc_exit",
                }
            }

            /// Types of the parameters.
            pub fn params(self) -> &'static [ValType] {
                match self {
                    $(Function::$variant => &[$(<$ty as Parameter>::TYPE),*],)*
                    $(Function::$variant1 => &[$(<$ty1 as Parameter>::TYPE),*],)*
                    Function::ProcExit => &[ValType::I32],
                }
            }
        }

        /// Answers a call through wasi-common. `due`: see [`super::Host::call_until`].
        pub(super) fn answer(
            context: &mut WasiCtx,
            snapshot: Snapshot,
            function: Function,
            memory: &mut [u8],
            arguments: &[u64],
            due: &mut dyn FnMut() -> bool,
        ) -> Result<u32, Stop> {
            if function == Function::ClockTimeGet
                && let Some(errno) = clock_time(context, memory, arguments)
            {
                return Ok(errno);
            }
            // (wasi-common would end the guest)
            if function == Function::ProcRaise {
                return Ok(Errno::Notsup as u32);
            }
            let memory = &mut GuestMemory::Unshared(memory);
            let mut slots = arguments.iter().copied();
            let mut next = || slots.next().expect("a call has an argument for each parameter");
            let answer = match (snapshot, function) {
                // Here and not in wasi-common, which refuses codes from 126 on.
                (_, Function::ProcExit) => return Err(Stop::Exit(next() as i32)),
                $((Snapshot::Preview1, Function::$variant) => {
                    $(let $arg = <$ty as Parameter>::of(next());)*
                    ready(snapshot1::$name(context, memory $(, $arg)*), due)?
                })*
                $((Snapshot::Unstable, Function::$variant) => {
                    $(let $arg = <$ty as Parameter>::of(next());)*
                    ready(unstable::$name(context, memory $(, $arg)*), due)?
                })*
                $((Snapshot::Preview1, Function::$variant1) => {
                    $(let $arg1 = <$ty1 as Parameter>::of(next());)*
                    ready(snapshot1::$name1(context, memory $(, $arg1)*), due)?
                })*
                $((Snapshot::Unstable, Function::$variant1) => {
                    return Err(Stop::Fault { function: function.name(), reason: "not in wasi_unstable".into() });
                })*
            };
            match answer {
                Ok(number) => Ok(number as u32),
                Err(error) => failed(function, &error),
            }
            .map(|number| if is_no_socket(context, function, number, arguments) { Errno::Notsock as u32 } else { number })
        }
    };
}

preview1! {
    both {
        ArgsGet args_get(argv: i32, buf: i32);
        ArgsSizesGet args_sizes_get(count: i32, bytes: i32);
        EnvironGet environ_get(environ: i32, buf: i32);
        EnvironSizesGet environ_sizes_get(count: i32, bytes: i32);
        ClockResGet clock_res_get(clock: i32, out: i32);
        ClockTimeGet clock_time_get(clock: i32, precision: i64, out: i32);
        FdAdvise fd_advise(fd: i32, offset: i64, len: i64, advice: i32);
        FdAllocate fd_allocate(fd: i32, offset: i64, len: i64);
        FdClose fd_close(fd: i32);
        FdDatasync fd_datasync(fd: i32);
        FdFdstatGet fd_fdstat_get(fd: i32, out: i32);
        FdFdstatSetFlags fd_fdstat_set_flags(fd: i32, flags: i32);
        FdFdstatSetRights fd_fdstat_set_rights(fd: i32, base: i64, inheriting: i64);
        FdFilestatGet fd_filestat_get(fd: i32, out: i32);
        FdFilestatSetSize fd_filestat_set_size(fd: i32, size: i64);
        FdFilestatSetTimes fd_filestat_set_times(fd: i32, accessed: i64, modified: i64, flags: i32);
        FdPread fd_pread(fd: i32, iovs: i32, count: i32, offset: i64, out: i32);
        FdPrestatGet fd_prestat_get(fd: i32, out: i32);
        FdPrestatDirName fd_prestat_dir_name(fd: i32, path: i32, len: i32);
        FdPwrite fd_pwrite(fd: i32, iovs: i32, count: i32, offset: i64, out: i32);
        FdRead fd_read(fd: i32, iovs: i32, count: i32, out: i32);
        FdReaddir fd_readdir(fd: i32, buf: i32, len: i32, cookie: i64, out: i32);
        FdRenumber fd_renumber(fd: i32, to: i32);
        FdSeek fd_seek(fd: i32, offset: i64, whence: i32, out: i32);
        FdSync fd_sync(fd: i32);
        FdTell fd_tell(fd: i32, out: i32);
        FdWrite fd_write(fd: i32, iovs: i32, count: i32, out: i32);
        PathCreateDirectory path_create_directory(fd: i32, path: i32, len: i32);
        PathFilestatGet path_filestat_get(fd: i32, flags: i32, path: i32, len: i32, out: i32);
        PathFilestatSetTimes path_filestat_set_times(fd: i32, flags: i32, path: i32, len: i32, accessed: i64, modified: i64, set: i32);
        PathLink path_link(old_fd: i32, flags: i32, old: i32, old_len: i32, new_fd: i32, new: i32, new_len: i32);
        PathOpen path_open(fd: i32, dirflags: i32, path: i32, len: i32, oflags: i32, base: i64, inheriting: i64, fdflags: i32, out: i32);
        PathReadlink path_readlink(fd: i32, path: i32, len: i32, buf: i32, buf_len: i32, out: i32);
        PathRemoveDirectory path_remove_directory(fd: i32, path: i32, len: i32);
        PathRename path_rename(old_fd: i32, old: i32, old_len: i32, new_fd: i32, new: i32, new_len: i32);
        PathSymlink path_symlink(old: i32, old_len: i32, fd: i32, new: i32, new_len: i32);
        PathUnlinkFile path_unlink_file(fd: i32, path: i32, len: i32);
        PollOneoff poll_oneoff(subscriptions: i32, events: i32, count: i32, out: i32);
        ProcRaise proc_raise(signal: i32);
        SchedYield sched_yield();
        RandomGet random_get(buf: i32, len: i32);
        SockRecv sock_recv(fd: i32, iovs: i32, count: i32, flags: i32, out: i32, out_flags: i32);
        SockSend sock_send(fd: i32, iovs: i32, count: i32, flags: i32, out: i32);
        SockShutdown sock_shutdown(fd: i32, how: i32);
    }
    only {
        SockAccept sock_accept(fd: i32, flags: i32, out: i32);
    }
}

impl Function {
    /// The wasm type.
    pub fn ty(self) -> FuncType {
        let results = (self != Function::ProcExit).then_some(ValType::I32);
        FuncType::new(self.params().iter().copied(), results)
    }

    /// Whether the call reads or writes guest memory; one that does not works for a guest that exports none.
    pub fn uses_memory(self) -> bool {
        !matches!(
            self,
            Function::ProcExit
                | Function::ProcRaise
                | Function::SchedYield
                | Function::FdClose
                | Function::FdSync
                | Function::FdDatasync
                | Function::FdRenumber
        )
    }
}

/// The time, as wasi-common's clocks have it. Its own way there, by a future and a span, takes twice as long as the clock, and programs that measure something ask a million times. `None`: this call is
/// not an ordinary one, and all is as ever.
fn clock_time(context: &WasiCtx, memory: &mut [u8], arguments: &[u64]) -> Option<u32> {
    let &[clock, precision, out] = arguments else { return None };
    let out = out as u32 as usize;
    let place = memory.get_mut(out..out + 8).filter(|_| out.is_multiple_of(8))?;
    let precision = Duration::from_nanos(precision);
    let time = match clock as u32 {
        0 => context.clocks.system().ok()?.now(precision).into_std().duration_since(UNIX_EPOCH).ok()?,
        1 => {
            let clock = context.clocks.monotonic().ok()?;
            clock.abs_clock.now(precision).duration_since(clock.creation_time)
        }
        _ => return None,
    };
    place.copy_from_slice(&u64::try_from(time.as_nanos()).ok()?.to_le_bytes());
    Some(0)
}

/// Runs a future. All but those that [`pause`](super::wait::pause) finish at their first poll: wasi-common's `sync` files block.
fn ready<T>(future: impl Future<Output = T>, due: &mut dyn FnMut() -> bool) -> Result<T, Stop> {
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut TaskContext::from_waker(Waker::noop())) {
            Poll::Ready(value) => return Ok(value),
            Poll::Pending if due() => return Err(Stop::Deadline),
            Poll::Pending => std::thread::sleep(SLICE),
        }
    }
}

/// What a call that failed means for the guest: where the host's files or streams failed, an error number that wasi-common does not know.
fn failed(function: Function, error: &wiggle::anyhow::Error) -> Result<u32, Stop> {
    if let Some(exit) = error.downcast_ref::<wasi_common::I32Exit>() {
        return Err(Stop::Exit(exit.0));
    }
    match error.downcast_ref::<std::io::Error>() {
        Some(error) => Ok(errno(error) as u32),
        None => Err(Stop::Fault { function: function.name(), reason: causes(error) }),
    }
}

/// Whether `number` says that a file is not open which is one, and no socket.
fn is_no_socket(context: &WasiCtx, function: Function, number: u32, arguments: &[u64]) -> bool {
    let of_sockets = matches!(function, Function::SockAccept | Function::SockRecv | Function::SockSend | Function::SockShutdown);
    of_sockets && number == Errno::Badf as u32 && context.table().contains_key(arguments[0] as u32)
}

/// Why a call failed. Some errors have their cause in their text.
fn causes(error: &wiggle::anyhow::Error) -> String {
    let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    causes.dedup();
    causes.join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preview_1_is_whole() {
        assert_eq!(Function::ALL.len(), 46);
        assert_eq!(
            Function::PathOpen.ty().to_string(),
            FuncType::new(
                [
                    ValType::I32,
                    ValType::I32,
                    ValType::I32,
                    ValType::I32,
                    ValType::I32,
                    ValType::I64,
                    ValType::I64,
                    ValType::I32,
                    ValType::I32
                ],
                [ValType::I32]
            )
            .to_string()
        );
        assert!(Function::ProcExit.ty().results().is_empty());
    }
}
