//! Calls that wait, so that a deadline stops a guest that sleeps, reads a quiet terminal or writes to a pipe that nobody reads.
//!
//! What a call will not wait for is seen first: a file that is not open for it, and a read or write of nothing.

use super::poll::{FD_READ, FD_WRITE, check, poll_oneoff, ready};
use super::preview1::answer;
use super::{Function, Snapshot, Stop};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use wasi_common::WasiCtx;

/// Longest time without a look at the deadline.
pub(super) const SLICE: Duration = Duration::from_millis(4);
/// File type: it is never waited for.
const REGULAR_FILE: u8 = 4;
/// Flag of an open file: it is not waited for.
const NONBLOCK: u16 = 4;
/// Size of a vector: an address and a length.
const VECTOR: usize = 8;
/// Vectors that a call looks at, the empty ones before the first other not counted; as many as Linux takes.
const MOST_VECTORS: u32 = 1024;
/// Random bytes between two looks at the deadline: some milliseconds.
const RANDOM_PIECE: usize = 256 << 10;

/// Lets the call that is being answered be given up, if its deadline has passed, and go on a little later otherwise.
pub(super) async fn pause() {
    let mut seen = false;
    poll_fn(|_| if std::mem::replace(&mut seen, true) { Poll::Ready(()) } else { Poll::Pending }).await
}

/// Answers a call, for as long as it takes.
pub(super) fn answer_ever(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    function: Function,
    memory: &mut [u8],
    arguments: &[u64],
) -> Result<u32, Stop> {
    let arguments = &few_vectors(function, memory, arguments)[..arguments.len()];
    match function {
        Function::PollOneoff => poll_oneoff(context, snapshot, memory, arguments, None, &mut || false),
        _ => answer(context, snapshot, function, memory, arguments, &mut || false),
    }
}

/// Answers a call; [`Stop::Deadline`] where `due` says so while it waits. The call can be made again then: the guest sees nothing of it (but random bytes).
pub(super) fn answer_until(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    function: Function,
    memory: &mut [u8],
    arguments: &[u64],
    due: &mut dyn FnMut() -> bool,
) -> Result<u32, Stop> {
    let arguments = &few_vectors(function, memory, arguments)[..arguments.len()];
    match function {
        Function::PollOneoff => return poll_oneoff(context, snapshot, memory, arguments, Some(SLICE), due),
        Function::FdRead if waits(context, 1 << 1, arguments, due)? => {
            if let Some(&(at, bytes)) = vectors(function, memory, arguments)?.first() {
                check(function, memory, at, bytes, 1)?;
                ready(context, FD_READ, arguments[0] as u32, SLICE, due)?;
            }
        }
        Function::FdWrite if waits(context, 1 << 6, arguments, due)? => return write(context, snapshot, memory, arguments, due),
        Function::RandomGet => return random(context, snapshot, memory, arguments, due),
        _ => {}
    }
    answer(context, snapshot, function, memory, arguments, due)
}

/// Whether a file is open for what needs `right`, and may let it wait.
fn waits(context: &mut WasiCtx, right: u64, arguments: &[u64], due: &mut dyn FnMut() -> bool) -> Result<bool, Stop> {
    // `fdstat`: a type, flags, rights.
    let mut status = [0; 24];
    let known = answer(context, Snapshot::Preview1, Function::FdFdstatGet, &mut status, &[arguments[0], 0], due)? == 0;
    let flags = u16::from_le_bytes([status[2], status[3]]);
    let rights = u64::from_le_bytes(status[8..16].try_into().expect("eight bytes"));
    Ok(known && status[0] != REGULAR_FILE && flags & NONBLOCK == 0 && rights & right != 0)
}

/// Addresses and lengths of what a call reads or writes, without the empty ones.
fn vectors(function: Function, memory: &[u8], arguments: &[u64]) -> Result<Vec<(usize, usize)>, Stop> {
    let [from, count, out] = [1, 2, 3].map(|index| arguments[index] as u32 as usize);
    check(function, memory, from, count * VECTOR, 4)?;
    check(function, memory, out, 4, 4)?;
    let vectors = memory[from..from + count * VECTOR].chunks_exact(VECTOR).map(vector);
    Ok(vectors.filter(|&(_, bytes)| bytes != 0).collect())
}

fn vector(bytes: &[u8]) -> (usize, usize) {
    let half = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes")) as usize;
    (half(0), half(4))
}

/// The arguments of a call, with few vectors: wasi-common makes something of each in the host's memory, and a short count is an answer. What they are after is not empty, as far as there is such: a read or write of nothing
/// would be the file's end.
fn few_vectors(function: Function, memory: &[u8], arguments: &[u64]) -> [u64; 9] {
    let mut few = [0; 9];
    few[..arguments.len()].copy_from_slice(arguments);
    let has_vectors = matches!(
        function,
        Function::FdRead | Function::FdPread | Function::FdWrite | Function::FdPwrite | Function::SockRecv | Function::SockSend
    );
    let (from, count) = (few[1] as u32, few[2] as u32);
    if has_vectors && count > MOST_VECTORS {
        let all = memory.get(from as usize..).unwrap_or_default().chunks_exact(VECTOR).take(count as usize);
        let empty = all.take_while(|bytes| vector(bytes).1 == 0).count() as u32;
        few[1] = (u64::from(from) + u64::from(empty) * VECTOR as u64).min(u32::MAX.into());
        few[2] = u64::from((count - empty).min(MOST_VECTORS));
    }
    few
}

/// `fd_write` to a file that may let it wait: no more than there is room for.
fn write(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    memory: &mut [u8],
    arguments: &[u64],
    due: &mut dyn FnMut() -> bool,
) -> Result<u32, Stop> {
    let vectors = vectors(Function::FdWrite, memory, arguments)?;
    for &(at, bytes) in &vectors {
        check(Function::FdWrite, memory, at, bytes, 1)?;
    }
    if vectors.is_empty() {
        return answer(context, snapshot, Function::FdWrite, memory, arguments, due);
    }
    let room = ready(context, FD_WRITE, arguments[0] as u32, SLICE, due)?.map_or(libc::PIPE_BUF, |room| room as usize);
    if vectors.iter().map(|&(_, bytes)| bytes).sum::<usize>() <= room {
        return answer(context, snapshot, Function::FdWrite, memory, arguments, due);
    }
    // In memory of our own: one vector, the count, and the bytes.
    let mut some = vec![0; 16];
    for (at, bytes) in vectors {
        let fits = bytes.min(room + 16 - some.len());
        some.extend_from_slice(&memory[at..at + fits]);
    }
    some[..4].copy_from_slice(&16u32.to_le_bytes());
    some[4..8].copy_from_slice(&(room as u32).to_le_bytes());
    let errno = answer(context, snapshot, Function::FdWrite, &mut some, &[arguments[0], 0, 1, 8], due)?;
    if errno == 0 {
        let out = arguments[3] as u32 as usize;
        memory[out..out + 4].copy_from_slice(&some[8..12]);
    }
    Ok(errno)
}

/// `random_get`, in pieces.
fn random(
    context: &mut WasiCtx,
    snapshot: Snapshot,
    memory: &mut [u8],
    arguments: &[u64],
    due: &mut dyn FnMut() -> bool,
) -> Result<u32, Stop> {
    let [from, bytes] = [0, 1].map(|index| arguments[index] as u32 as usize);
    check(Function::RandomGet, memory, from, bytes, 1)?;
    for done in (0..bytes).step_by(RANDOM_PIECE) {
        if due() {
            return Err(Stop::Deadline);
        }
        let piece = [from + done, RANDOM_PIECE.min(bytes - done)].map(|number| number as u64);
        match answer(context, snapshot, Function::RandomGet, memory, &piece, due)? {
            0 => {}
            errno => return Ok(errno),
        }
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::super::{Builder, Context, Host};
    use super::*;
    use std::io::{IoSlice, Write};

    #[test]
    fn what_is_not_open_for_it_and_nothing_are_not_waited_for() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        for snapshot in Snapshot::ALL {
            let mut call = |function, fd: u64, count: u64| {
                let answer = context.call_until(snapshot, function, &mut memory, &[fd, 0, count, 128], &mut || panic!("it waits"));
                answer.unwrap()
            };
            assert_eq!([call(Function::FdRead, 99, 0), call(Function::FdWrite, 99, 0)], [8; 2], "EBADF");
            assert_eq!([call(Function::FdRead, 1, 1), call(Function::FdWrite, 0, 1)], [8; 2], "EBADF");
            assert_eq!([call(Function::FdRead, 0, 0), call(Function::FdRead, 0, 1), call(Function::FdWrite, 1, 0)], [0; 3]);
        }
        assert_eq!(context.call_until(Snapshot::Preview1, Function::FdRead, &mut memory, &[0, 0, 0, 128], &mut || false).unwrap(), 0);
    }

    #[test]
    fn bad_pointers_fault_and_are_not_waited_for() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 256];
        memory[..8].copy_from_slice(&[200, 0, 0, 0, 100, 0, 0, 0]);
        for arguments in [[0, 0, 1, 128], [0, 256, 1, 128], [0, 2, 1, 128], [0, 0, 1, 254], [0, 0, 1, 2]] {
            for (function, fd) in [(Function::FdRead, 0), (Function::FdWrite, 1)] {
                let [_, from, count, out] = arguments;
                let stopped =
                    context.call_until(Snapshot::Preview1, function, &mut memory, &[fd, from, count, out], &mut || panic!("it waits"));
                assert!(matches!(stopped, Err(Stop::Fault { .. })), "{function:?} {arguments:?}");
            }
        }
    }

    #[test]
    fn a_call_looks_at_few_vectors() {
        /// Takes all that it is given.
        struct Takes;
        impl Write for Takes {
            fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
                Ok(bytes.len())
            }
            fn write_vectored(&mut self, all: &[IoSlice<'_>]) -> std::io::Result<usize> {
                Ok(all.len())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let mut context = Builder::new().stdout(Takes).stdin(&b"in"[..]).build();
        let mut memory = vec![0; 1 << 16];
        let call = |context: &mut Context, memory: &mut [u8], function, arguments: &[u64], sliced| {
            let answer = match sliced {
                true => context.call_until(Snapshot::Preview1, function, memory, arguments, &mut || false),
                false => context.call(Snapshot::Preview1, function, memory, arguments),
            };
            (answer.unwrap(), u16::from_le_bytes([memory[60_000], memory[60_001]]))
        };
        // (lengths and addresses: three thousand vectors of nothing, then two thousand of a byte)
        let (from, nothing, bytes) = (8, 3000, 2000);
        for index in nothing..nothing + bytes {
            memory[from + index * 8 + 4] = 1;
        }
        let arguments = |fd| [fd, from as u64, (nothing + bytes) as u64, 60_000];
        for sliced in [false, true] {
            assert_eq!(call(&mut context, &mut memory, Function::FdWrite, &arguments(1), sliced), (0, 1024));
            assert_eq!(call(&mut context, &mut memory, Function::FdRead, &arguments(0), sliced), (0, 1), "and not the end");
            let none = [1, from as u64, nothing as u64, 60_000];
            assert_eq!(call(&mut context, &mut memory, Function::FdWrite, &none, sliced), (0, 0));
        }
        let beyond = [1, 8, 1 << 29, 60_000];
        memory.fill(0);
        assert!(matches!(context.call(Snapshot::Preview1, Function::FdWrite, &mut memory, &beyond), Err(Stop::Fault { .. })));
    }

    #[test]
    fn random_bytes_come_in_pieces() {
        let mut context = Builder::new().build();
        let mut memory = vec![0; 4 * RANDOM_PIECE];
        for snapshot in Snapshot::ALL {
            let mut looks = 0;
            let mut due = || {
                looks += 1;
                looks > 2
            };
            let arguments = [1, memory.len() as u64 - 1];
            let stopped = context.call_until(snapshot, Function::RandomGet, &mut memory, &arguments, &mut due);
            assert!(matches!(stopped, Err(Stop::Deadline)));
            assert_eq!(memory[3 * RANDOM_PIECE..], vec![0; RANDOM_PIECE]);
        }
        let arguments = [1, memory.len() as u64 - 1];
        assert_eq!(context.call_until(Snapshot::Preview1, Function::RandomGet, &mut memory, &arguments, &mut || false).unwrap(), 0);
        assert!(memory[4 * RANDOM_PIECE - 64..].iter().any(|&byte| byte != 0));
        let stopped = context.call_until(Snapshot::Preview1, Function::RandomGet, &mut memory, &[1, arguments[1] + 1], &mut || false);
        assert!(matches!(stopped, Err(Stop::Fault { function: "random_get", .. })));
    }
}
