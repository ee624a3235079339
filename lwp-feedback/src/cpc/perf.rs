//! A source over `perf_event_open`: the kernel's software events everywhere, the processor's where there is a PMU. It counts; it does not sample.
//!
//! Events: `task-clock`, `page-faults`, `context-switches`, `cpu-migrations`, `minor-faults`, `major-faults`; `cycles`, `instructions`,
//! `cache-references`, `cache-misses`, `branches`, `branch-misses`; and `FAMILY::EVENT:MASK` of [`crate::events`], as raw events,
//! where the processor is of that family. Whoever may not count the kernel (`perf_event_paranoid` 2) gets the program's own share of the software events, to which a switch
//! of contexts does not belong.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::error::{CpcError, Invalid};
use super::set::{Request, RequestKind};
use super::source::{Caps, CounterSource, ItemTable, Programmed, Reading, SampleRecord, Target};
use crate::events::{self, Host, Privileges};
use crate::ring::time_stamp;

/// The source.
#[derive(Clone, Copy, Debug)]
pub struct PerfSource {
    cycles: bool,
}

const HARDWARE: u32 = 0;
const SOFTWARE: u32 = 1;
const RAW: u32 = 4;
const CYCLES: u64 = 0;

/// Kernel names of its generic events: type and config of `perf_event_attr`.
const NAMED: [(&str, u32, u64); 12] = [
    ("task-clock", SOFTWARE, 1),
    ("page-faults", SOFTWARE, 2),
    ("context-switches", SOFTWARE, 3),
    ("cpu-migrations", SOFTWARE, 4),
    ("minor-faults", SOFTWARE, 5),
    ("major-faults", SOFTWARE, 6),
    ("cycles", HARDWARE, CYCLES),
    ("instructions", HARDWARE, 1),
    ("cache-references", HARDWARE, 2),
    ("cache-misses", HARDWARE, 3),
    ("branches", HARDWARE, 4),
    ("branch-misses", HARDWARE, 5),
];

/// The first, 64-byte version of `perf_event_attr`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint_type: u32,
    config1: u64,
}

const EXCLUDE_USER: u64 = 1 << 4;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const EXCLUDE_HYPERVISOR: u64 = 1 << 6;

/// For how long it was enabled and for how long it counted come with each value.
const READ_FORMAT: u64 = 1 | 2;

/// As [`open`], with the kernel where that is allowed, else without.
fn open_whole(kind: u32, config: u64, user: bool, target: Target) -> io::Result<OwnedFd> {
    match open(kind, config, user, true, target) {
        Err(error) if user && matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM)) => open(kind, config, user, false, target),
        opened => opened,
    }
}

fn open(kind: u32, config: u64, user: bool, system: bool, target: Target) -> io::Result<OwnedFd> {
    let mut attributes = Attributes {
        kind,
        config,
        size: size_of::<Attributes>() as u32,
        read_format: READ_FORMAT,
        flags: EXCLUDE_HYPERVISOR,
        ..Attributes::default()
    };
    attributes.flags |= if user { 0 } else { EXCLUDE_USER };
    attributes.flags |= if system { 0 } else { EXCLUDE_KERNEL };
    let (pid, cpu) = match target {
        Target::Thread => (0, -1),
        Target::Cpu(cpu) => (-1, cpu as libc::c_int),
    };
    const CLOSE_ON_EXEC: libc::c_ulong = 8;
    // SAFETY: the attributes are live and of the size they say.
    let fd = unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, pid, cpu, -1, CLOSE_ON_EXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor the kernel has just given us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd as libc::c_int) })
}

/// What it counted; where the processor has fewer counters than events, in part of the time only, what it would have counted in all of it.
fn value(fd: &OwnedFd) -> Result<u64, CpcError> {
    let mut values = [0u64; 3];
    // SAFETY: 24 bytes of a live array.
    let read = unsafe { libc::read(fd.as_raw_fd(), values.as_mut_ptr().cast(), size_of_val(&values)) };
    if read == size_of_val(&values) as isize { Ok(scaled(values)) } else { Err(refused(&io::Error::last_os_error())) }
}

/// Of value, time enabled and time running.
fn scaled([value, enabled, running]: [u64; 3]) -> u64 {
    if running == 0 || running >= enabled {
        return value;
    }
    u64::try_from(u128::from(value) * u128::from(enabled) / u128::from(running)).unwrap_or(u64::MAX)
}

/// What the kernel says where an event or the whole PMU is missing is "not supported"; the rest is passed on.
fn refused(error: &io::Error) -> CpcError {
    match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENOSYS) => CpcError::NotSupported,
        Some(errno) => CpcError::System(errno),
        None => CpcError::NotSupported,
    }
}

/// Type and config of an event on a processor; `here` is `None` where that has no table of events.
fn attributes_of(request: &Request, here: Option<Host>) -> Result<(u32, u64), CpcError> {
    if let Some((_, kind, config)) = NAMED.iter().find(|(name, ..)| *name == request.event) {
        return Ok((*kind, *config));
    }
    let (family, _) = request.event.split_once("::").ok_or(Invalid::NoEvent)?;
    let named = Host::new(family, None).ok_or(Invalid::NoEvent)?;
    // The same number is another event there, and the kernel would count it.
    let host = here.filter(|host| host.family().name == named.family().name).ok_or(Invalid::OtherFamily)?;
    let mut privileges = Privileges::empty();
    privileges.set(Privileges::PLM3, request.user);
    privileges.set(Privileges::PLM0, request.system);
    let wanted = events::Request { privileges: Some(privileges), ..events::Request::new(&request.event) };
    let select = events::dispatch::select(&host, &wanted, privileges).map_err(|_| Invalid::NoEvent)?;
    Ok((RAW, select.perf_raw().config))
}

impl PerfSource {
    /// The source of this machine. NotSupported where the kernel refuses even software events.
    pub fn new() -> Result<Self, CpcError> {
        open(SOFTWARE, 1, true, false, Target::Thread).map_err(|error| refused(&error))?;
        Ok(Self { cycles: open(HARDWARE, CYCLES, true, false, Target::Thread).is_ok() })
    }

    /// Whether the processor's own events can be counted.
    pub fn has_pmu(self) -> bool {
        self.cycles
    }
}

impl CounterSource for PerfSource {
    fn caps(&self) -> Caps {
        let mut caps = Caps::OVERFLOW_DETECTED;
        caps.set(Caps::TICK_ESTIMATED, !self.cycles);
        caps
    }

    fn items(&self) -> ItemTable {
        ItemTable { names: &[], generic: [None; 4] }
    }

    fn check(&self, request: &Request) -> Result<(), CpcError> {
        if matches!(request.kind, RequestKind::Sampling { .. }) {
            return Err(CpcError::NotSupported);
        }
        match attributes_of(request, Host::of_this_cpu())? {
            (SOFTWARE, _) => Ok(()),
            _ if self.cycles => Ok(()),
            _ => Err(CpcError::NotSupported),
        }
    }

    fn program(&self, requests: &[Request], target: Target) -> Result<Box<dyn Programmed>, CpcError> {
        let mut counters = Vec::with_capacity(requests.len());
        for request in requests {
            let (kind, config) = attributes_of(request, Host::of_this_cpu())?;
            // A software event counts where it happens, which may be in the kernel on behalf of the program.
            let opened = match (request.system, kind) {
                (false, SOFTWARE) => open_whole(kind, config, request.user, target),
                _ => open(kind, config, request.user, request.system, target),
            };
            counters.push(opened.map_err(|error| refused(&error))?);
        }
        let cycles = if self.cycles { open_whole(HARDWARE, CYCLES, true, target).ok() } else { None };
        Ok(Box::new(PerfCounters { counters, cycles, target, start: Clock::now() }))
    }
}

struct PerfCounters {
    counters: Vec<OwnedFd>,
    cycles: Option<OwnedFd>,
    target: Target,
    start: Clock,
}

/// Two clocks at one moment.
#[derive(Clone, Copy)]
struct Clock {
    stamp: u64,
    wall_ns: u64,
    thread_ns: u64,
}

impl Clock {
    fn now() -> Self {
        let read = |clock| {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            // SAFETY: `time` is live; both clocks exist on Linux.
            unsafe { libc::clock_gettime(clock, &mut time) };
            time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
        };
        Self { stamp: time_stamp(), wall_ns: read(libc::CLOCK_MONOTONIC), thread_ns: read(libc::CLOCK_THREAD_CPUTIME_ID) }
    }
}

impl Programmed for PerfCounters {
    fn read(&mut self, request: usize) -> Result<Reading, CpcError> {
        Ok(Reading { raw: value(&self.counters[request])?, width: 64, wraps: Some(0) })
    }

    fn take_samples(&mut self, _request: usize, _into: &mut Vec<SampleRecord>) {}

    fn clocks(&mut self) -> u64 {
        if let Some(cycles) = self.cycles.as_ref().and_then(|fd| value(fd).ok()) {
            return cycles;
        }
        // No cycles: caps() said so, or this target's are not allowed.
        let now = Clock::now();
        let stamps = now.stamp.wrapping_sub(self.start.stamp);
        match (self.target, now.wall_ns.saturating_sub(self.start.wall_ns)) {
            (Target::Cpu(_), _) | (_, 0) => stamps,
            (Target::Thread, wall) => {
                (u128::from(stamps) * u128::from(now.thread_ns.saturating_sub(self.start.thread_ns)) / u128::from(wall)) as u64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_shared_its_place_is_scaled() {
        assert_eq!([scaled([10, 100, 100]), scaled([10, 100, 25]), scaled([10, 0, 0]), scaled([0, 100, 0])], [10, 40, 10, 0]);
        assert_eq!(scaled([u64::MAX, u64::MAX, 1]), u64::MAX);
    }

    /// Whoever may not count the kernel gets the program's share of software events: a child without capabilities, where this process has them.
    #[test]
    fn software_events_are_for_everybody() {
        // SAFETY: the child makes only system calls, on its own memory, and ends with _exit.
        let child = unsafe { libc::fork() };
        assert!(child >= 0);
        if child == 0 {
            const NOBODY: libc::uid_t = 65_534;
            let allowed = |(_, kind, config): &(&str, u32, u64)| open_whole(*kind, *config, true, Target::Thread).is_ok();
            // SAFETY: plain system calls. Where it is somebody else already, that is who is asked.
            unsafe {
                libc::setresuid(NOBODY, NOBODY, NOBODY);
                let any = open(SOFTWARE, 1, true, false, Target::Thread).is_ok();
                libc::_exit(i32::from(any && !NAMED.iter().filter(|it| it.1 == SOFTWARE).all(allowed)));
            }
        }
        let mut status = 0;
        // SAFETY: a child of this process, and a live word.
        assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:#x}");
    }

    #[test]
    fn raw_events_of_another_family_are_refused() {
        let raw = |event: &str, host: Option<&str>| attributes_of(&Request::counting(event), host.and_then(|name| Host::new(name, None)));
        assert!(matches!(raw("zen4::RETIRED_OPS", Some("zen4")), Ok((RAW, config)) if config != 0));
        let other = Err(CpcError::Invalid(Invalid::OtherFamily));
        assert_eq!(raw("zen4::RETIRED_OPS", Some("zen3")), other);
        assert_eq!(raw("zen4::RETIRED_OPS", Some("core2")), other);
        assert_eq!(raw("zen4::RETIRED_OPS", None), other, "no table of this processor");
        assert_eq!(raw("k9::RETIRED_OPS", None), Err(CpcError::Invalid(Invalid::NoEvent)));
        assert_eq!(raw("zen4::NO_SUCH", Some("zen4")), Err(CpcError::Invalid(Invalid::NoEvent)));
        assert_eq!(raw("task-clock", None), Ok((SOFTWARE, 1)), "the kernel's names are everywhere");
        assert_eq!(CpcError::from(Invalid::OtherFamily).to_string(), "the event is of another family of processors than this machine's");
    }
}
