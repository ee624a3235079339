//! Waiting for files and for time: poll(2) for wasi-common, whose own reports every file as ready where one is, and fails for files that do not say how much can be read (`/dev/null`).

use rustix::event::{PollFd, PollFlags, Timespec};
use std::io::{self, IsTerminal};
use std::time::Duration;
use wasi_common::sched::{RwEventFlags, Subscription};
use wasi_common::{Error, ErrorExt, Poll, WasiFile, WasiSched};

/// The scheduler of a guest that has its thread to itself.
pub(super) struct Sched;

#[wiggle::async_trait]
impl WasiSched for Sched {
    async fn poll_oneoff<'a>(&self, poll: &mut Poll<'a>) -> Result<(), Error> {
        while !once(poll)? {}
        Ok(())
    }

    async fn sched_yield(&self) -> Result<(), Error> {
        std::thread::yield_now();
        Ok(())
    }

    async fn sleep(&self, duration: Duration) -> Result<(), Error> {
        std::thread::sleep(duration);
        Ok(())
    }
}

/// Waits for the first of the subscriptions, and completes all that are ready. Clocks complete themselves. Whether there is anything to report.
fn once(poll: &mut Poll<'_>) -> Result<bool, Error> {
    let mut fds = Vec::new();
    let mut files = Vec::new();
    for subscription in poll.rw_subscriptions() {
        let (file, flags): (&dyn WasiFile, _) = match subscription {
            Subscription::Read(read) => (read.file, PollFlags::IN),
            Subscription::Write(write) => (write.file, PollFlags::OUT),
            Subscription::MonotonicClock(_) => continue,
        };
        // What cannot be polled is always ready, as regular files are.
        files.push(file.pollable().map(|fd| {
            fds.push(PollFd::from_borrowed_fd(fd, flags));
            fds.len() - 1
        }));
    }
    if files.is_empty() && poll.is_empty() {
        return Ok(true);
    }
    let until = poll.earliest_clock_deadline().map(|clock| clock.duration_until().unwrap_or_default());
    let timeout = if files.iter().any(Option::is_none) { Some(Duration::ZERO) } else { until };
    let timeout = timeout.map(Timespec::try_from).transpose().map_err(|_| Error::overflow())?;
    match rustix::event::poll(&mut fds, timeout.as_ref()) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok(false),
        Err(error) => return Err(io::Error::from(error).into()),
    }
    let came: Vec<Option<PollFlags>> = files.into_iter().map(|fd| fd.map(|index| fds[index].revents())).collect();
    let mut any = poll.earliest_clock_deadline().is_some_and(|clock| clock.result().is_some());
    for (subscription, came) in poll.rw_subscriptions().zip(came) {
        let came = came.unwrap_or(PollFlags::IN);
        if came.is_empty() {
            continue;
        }
        any = true;
        let (bytes, one) = match subscription {
            // (a file that does not say how much it has has something)
            Subscription::Read(read) => (read.file.num_ready_bytes().unwrap_or(0).max(1), read),
            Subscription::Write(write) => (room(write.file), write),
            Subscription::MonotonicClock(_) => continue,
        };
        if came.contains(PollFlags::NVAL) {
            one.error(Error::badf());
        } else if came.contains(PollFlags::ERR) {
            one.error(Error::io());
        } else {
            one.complete(bytes, if came.contains(PollFlags::HUP) { RwEventFlags::HANGUP } else { RwEventFlags::empty() });
        }
    }
    Ok(any)
}

/// How many bytes can be written, at least, to a file that is ready for it, without waiting for its reader.
fn room(file: &dyn WasiFile) -> u64 {
    use rustix::fs::FileType;
    let Some(fd) = file.pollable() else { return u64::MAX };
    match rustix::fs::fstat(fd).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::RegularFile | FileType::BlockDevice) => u64::MAX,
        // (a guess: one that nobody reads may have room for a byte only, and a line's end needs two)
        Ok(FileType::CharacterDevice) if fd.is_terminal() => 32,
        Ok(FileType::CharacterDevice) => u64::MAX,
        _ => libc::PIPE_BUF as u64,
    }
}
