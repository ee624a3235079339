//! Guests that call preview 1 by hand.

use super::*;
use std::time::SystemTime;

/// Calls with arguments that fit in u32.
fn call(context: &mut Context, function: Function, memory: &mut [u8], args: &[u64]) -> u32 {
    context.call(Snapshot::Preview1, function, memory, args).unwrap()
}

fn word(memory: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(memory[at..at + 4].try_into().unwrap())
}

#[test]
fn arguments_and_environment_arrive() {
    let mut builder = Builder::new();
    builder.arg("prog").unwrap().arg("-x").unwrap();
    builder.env("K", "V").unwrap();
    let mut context = builder.build();
    let mut memory = vec![0; 1024];
    assert_eq!(call(&mut context, Function::ArgsSizesGet, &mut memory, &[0, 4]), 0);
    assert_eq!((word(&memory, 0), word(&memory, 4)), (2, 8));
    assert_eq!(call(&mut context, Function::ArgsGet, &mut memory, &[16, 64]), 0);
    assert_eq!(&memory[64..72], b"prog\0-x\0");
    assert_eq!((word(&memory, 16), word(&memory, 20)), (64, 69));
    assert_eq!(call(&mut context, Function::EnvironGet, &mut memory, &[16, 64]), 0);
    assert_eq!(&memory[64..68], b"K=V\0");
}

#[test]
fn output_is_collected_and_input_read() {
    let out = OutputBuffer::new(100);
    let mut builder = Builder::new();
    builder.stdin(&b"input"[..]).stdout(out.clone());
    let mut context = builder.build();
    let mut memory = vec![0; 1024];
    memory[0..4].copy_from_slice(&100u32.to_le_bytes());
    memory[4..8].copy_from_slice(&10u32.to_le_bytes());
    assert_eq!(call(&mut context, Function::FdRead, &mut memory, &[0, 0, 1, 8]), 0);
    assert_eq!(word(&memory, 8), 5);
    memory[4..8].copy_from_slice(&5u32.to_le_bytes());
    assert_eq!(call(&mut context, Function::FdWrite, &mut memory, &[1, 0, 1, 8]), 0);
    assert_eq!(out.contents(), b"input");
    assert_eq!(call(&mut context, Function::FdClose, &mut memory, &[77]), 8, "EBADF");
}

#[test]
fn a_directory_is_all_a_guest_sees() {
    let dir = std::env::temp_dir();
    let mut builder = Builder::new();
    builder.preopened_dir(&dir, "/data").unwrap();
    let mut context = builder.build();
    let mut memory = vec![0; 1024];
    assert_eq!(call(&mut context, Function::FdPrestatGet, &mut memory, &[3, 0]), 0);
    assert_eq!(word(&memory, 4), 5);
    assert_eq!(call(&mut context, Function::FdPrestatGet, &mut memory, &[4, 0]), 8);
    memory[100..112].copy_from_slice(b"../etc/passw");
    let open = [3, 0, 100, 12, 0, 2, 0, 0, 200];
    assert_ne!(call(&mut context, Function::PathOpen, &mut memory, &open), 0);
    assert!(matches!(Builder::new().preopened_dir("/no/such/dir", "/"), Err(BuildError::Directory { .. })));
}

#[test]
fn files_have_the_lowest_numbers_and_may_be_truncated_to_be_read() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "text").unwrap();
    let mut builder = Builder::new();
    builder.preopened_dir(dir.path(), "/").unwrap();
    let mut context = builder.build();
    let mut memory = vec![0; 1024];
    memory[100..104].copy_from_slice(b"file");
    let (reads, truncates) = (2, 8);
    let mut open = |context: &mut Context, oflags| {
        assert_eq!(call(context, Function::PathOpen, &mut memory, &[3, 0, 100, 4, oflags, reads, 0, 0, 200]), 0);
        word(&memory, 200)
    };
    let close = |context: &mut Context, fd| assert_eq!(call(context, Function::FdClose, &mut [], &[fd]), 0);
    assert_eq!([open(&mut context, 0), open(&mut context, 0), open(&mut context, 0)], [4, 5, 6]);
    close(&mut context, 5);
    assert_eq!([open(&mut context, 0), open(&mut context, 0)], [5, 7]);
    close(&mut context, 6);
    close(&mut context, 0);
    assert_eq!([open(&mut context, 0), open(&mut context, 0), open(&mut context, 0)], [0, 6, 8]);
    // Number 7 becomes 4, and is free.
    assert_eq!(call(&mut context, Function::FdRenumber, &mut [], &[7, 4]), 0);
    let size = || std::fs::metadata(dir.path().join("file")).unwrap().len();
    assert_eq!(size(), 4);
    assert_eq!((open(&mut context, truncates), size()), (7, 0));
    // What is only read is not written.
    let mut memory = vec![0; 64];
    memory[4..8].copy_from_slice(&5u32.to_le_bytes());
    assert_ne!(call(&mut context, Function::FdWrite, &mut memory, &[7, 0, 1, 8]), 0);
    assert_eq!(size(), 0);
}

/// A guest with a directory of its own as number 3, and its memory: paths at 100 and 300, vectors at 0, numbers at 80.
struct Guest {
    dir: tempfile::TempDir,
    context: Context,
    memory: Vec<u8>,
}

const READS: u64 = 1 << 1;
const WRITES: u64 = 1 << 6;
const NONBLOCK: u64 = 4;

impl Guest {
    fn new() -> Guest {
        let dir = tempfile::tempdir().unwrap();
        let context = Builder::new().preopened_dir(dir.path(), "/").unwrap().build();
        Guest { dir, context, memory: vec![0; 8192] }
    }

    fn fifo(&self, name: &str) {
        let path = std::ffi::CString::new(self.dir.path().join(name).to_str().unwrap()).unwrap();
        // SAFETY: a path that ends with NUL.
        assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
    }

    fn call(&mut self, function: Function, args: &[u64]) -> u32 {
        self.context.call(Snapshot::Preview1, function, &mut self.memory, args).unwrap()
    }

    fn call_until(&mut self, function: Function, args: &[u64], due: &mut dyn FnMut() -> bool) -> Result<u32, Stop> {
        self.context.call_until(Snapshot::Preview1, function, &mut self.memory, args, due)
    }

    /// Writes a path and returns its two arguments.
    fn path(&mut self, at: usize, path: &str) -> [u64; 2] {
        self.memory[at..at + path.len()].copy_from_slice(path.as_bytes());
        [at as u64, path.len() as u64]
    }

    fn open_args(&mut self, path: &str, rights: u64, flags: u64) -> [u64; 9] {
        let [at, len] = self.path(100, path);
        [3, 0, at, len, 0, rights, 0, flags, 80]
    }

    fn open(&mut self, path: &str, rights: u64, flags: u64) -> Result<u64, u32> {
        let args = self.open_args(path, rights, flags);
        match self.call(Function::PathOpen, &args) {
            0 => Ok(word(&self.memory, 80).into()),
            errno => Err(errno),
        }
    }

    /// The arguments of a read or write of `bytes` at 4096.
    fn vector(&mut self, fd: u64, bytes: u32) -> [u64; 4] {
        self.memory[..4].copy_from_slice(&4096u32.to_le_bytes());
        self.memory[4..8].copy_from_slice(&bytes.to_le_bytes());
        [fd, 0, 1, 80]
    }
}

#[test]
fn what_does_not_block_is_not_waited_for() {
    let mut guest = Guest::new();
    guest.fifo("fifo");
    let _writer = std::fs::File::options().read(true).write(true).open(guest.dir.path().join("fifo")).unwrap();
    assert_eq!(guest.open("fifo", READS, NONBLOCK), Ok(4));
    let read = guest.vector(4, 5);
    let answer = guest.call_until(Function::FdRead, &read, &mut || panic!("it waits"));
    assert_eq!(answer.unwrap(), 6, "EAGAIN");
}

#[test]
fn what_fails_in_the_host_is_an_error_number() {
    use std::io::{Error, ErrorKind};
    struct Fails(Option<Error>);
    impl Write for Fails {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.take().unwrap())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let numbers = [(libc::EROFS, 69), (libc::EXDEV, 75), (libc::ETXTBSY, 74), (libc::ENOTTY, 59), (libc::ENOLCK, 46), (libc::ENOTBLK, 29)];
    let kinds = [(ErrorKind::BrokenPipe, 64), (ErrorKind::Interrupted, 27), (ErrorKind::WouldBlock, 6), (ErrorKind::Other, 29)];
    let numbers = numbers.map(|(number, errno)| (Error::from_raw_os_error(number), errno));
    for (error, errno) in numbers.into_iter().chain(kinds.map(|(kind, errno)| (kind.into(), errno))) {
        let said = error.to_string();
        let mut guest = Guest::new();
        guest.context = Builder::new().stdout(Fails(Some(error))).build();
        let args = guest.vector(1, 5);
        assert_eq!(guest.call(Function::FdWrite, &args), errno, "{said}");
    }
    // No reader, and no waiting for one.
    let mut guest = Guest::new();
    guest.fifo("fifo");
    assert_eq!(guest.open("fifo", WRITES, NONBLOCK), Err(60), "ENXIO");
}

#[test]
fn a_reader_that_read_too_much_is_not_believed() {
    struct Liar;
    impl Read for Liar {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            Ok(buf.len() + 1000)
        }
    }
    let mut guest = Guest::new();
    guest.context = Builder::new().stdin(Liar).build();
    let args = guest.vector(0, 7);
    assert_eq!((guest.call(Function::FdRead, &args), word(&guest.memory, 80)), (0, 7));
}

#[test]
fn a_file_may_be_older_than_1970() {
    let mut guest = Guest::new();
    let file = std::fs::File::create(guest.dir.path().join("old")).unwrap();
    let before = SystemTime::UNIX_EPOCH - std::time::Duration::from_secs(1000);
    file.set_times(std::fs::FileTimes::new().set_accessed(before).set_modified(before)).unwrap();
    let fd = guest.open("old", READS, 0).unwrap();
    let [path, len] = guest.path(100, "old");
    for (function, args) in [(Function::FdFilestatGet, &[fd, 4096][..]), (Function::PathFilestatGet, &[3, 0, path, len, 4096])] {
        guest.memory[4096..4160].fill(0xff);
        assert_eq!(guest.call(function, args), 0);
        assert_eq!(guest.memory[4096 + 40..4096 + 56], [0; 16], "{function:?}");
    }
}

#[test]
fn a_directory_is_listed_as_it_was_when_that_began() {
    let mut guest = Guest::new();
    let names: std::collections::BTreeSet<String> = (0..500).map(|number| format!("file{number}")).collect();
    let create = |guest: &Guest| names.iter().for_each(|name| std::fs::write(guest.dir.path().join(name), "").unwrap());
    create(&guest);
    std::fs::create_dir(guest.dir.path().join("dir")).unwrap();
    let fd = guest.open(".", READS, 0).unwrap();
    // Twice, each file removed when it was seen.
    for _ in 0..2 {
        create(&guest);
        let (mut seen, mut cookie) = (std::collections::BTreeSet::new(), 0);
        loop {
            assert_eq!(guest.call(Function::FdReaddir, &[fd, 4096, 200, cookie, 80]), 0);
            let used = word(&guest.memory, 80) as usize;
            let mut entries = guest.memory[4096..4096 + used].to_vec();
            while entries.len() >= 24 {
                let len = word(&entries, 16) as usize;
                let Some(name) = entries.get(24..24 + len) else { break };
                let (name, kind) = (String::from_utf8(name.to_vec()).unwrap(), entries[20]);
                cookie = u64::from_le_bytes(entries[..8].try_into().unwrap());
                entries.drain(..24 + len);
                assert_eq!(kind, if names.contains(&name) { 4 } else { 3 }, "{name}");
                if names.contains(&name) {
                    let [at, len] = guest.path(100, &name);
                    assert_eq!(guest.call(Function::PathUnlinkFile, &[3, at, len]), 0);
                }
                assert!(seen.insert(name));
            }
            if used < 200 {
                break;
            }
        }
        assert_eq!(seen.len(), names.len() + 3);
        assert_eq!(std::fs::read_dir(guest.dir.path()).unwrap().count(), 1);
    }
}

#[test]
fn only_a_directory_is_renamed_to_a_name_with_a_slash() {
    let mut guest = Guest::new();
    std::fs::write(guest.dir.path().join("file"), "").unwrap();
    std::fs::create_dir(guest.dir.path().join("dir")).unwrap();
    for (from, to, errno) in [("file", "new/", 54), ("file/", "new", 54), ("gone", "new/", 44), ("dir/", "new/", 0), ("file", "other", 0)] {
        let ([from_at, from_len], [to_at, to_len]) = (guest.path(100, from), guest.path(300, to));
        assert_eq!(guest.call(Function::PathRename, &[3, from_at, from_len, 3, to_at, to_len]), errno, "{from} {to}");
    }
}

#[test]
fn signals_and_sockets_are_refused_with_a_number() {
    let mut guest = Guest::new();
    assert_eq!(guest.call(Function::ProcRaise, &[9]), 58, "ENOTSUP");
    for (fd, errno) in [(0, 57), (3, 57), (99, 8)] {
        assert_eq!(guest.call(Function::SockShutdown, &[fd, 1]), errno);
        assert_eq!(guest.call(Function::SockRecv, &[fd, 0, 0, 0, 80, 84]), errno);
        assert_eq!(guest.call(Function::SockSend, &[fd, 0, 0, 0, 80]), errno);
    }
}

#[test]
fn a_poll_reports_what_is_ready() {
    let mut guest = Guest::new();
    let open = |guest: &mut Guest, name: &str| {
        guest.fifo(name);
        let writer = std::fs::File::options().read(true).write(true).open(guest.dir.path().join(name)).unwrap();
        (guest.open(name, READS, 0).unwrap(), writer)
    };
    let ((quiet, _quiet), (full, mut writer)) = (open(&mut guest, "quiet"), open(&mut guest, "full"));
    writer.write_all(b"text").unwrap();
    let mut never = || false;
    for sliced in [false, true] {
        for (index, fd) in [quiet, full, 1].into_iter().enumerate() {
            let subscription = &mut guest.memory[4096 + index * 48..][..48];
            subscription[0] = index as u8;
            subscription[8] = if fd == 1 { 2 } else { 1 };
            subscription[16] = fd as u8;
        }
        let args = [4096, 5000, 3, 80];
        match sliced {
            true => assert_eq!(guest.call_until(Function::PollOneoff, &args, &mut never).unwrap(), 0),
            false => assert_eq!(guest.call(Function::PollOneoff, &args), 0),
        }
        assert_eq!(word(&guest.memory, 80), 2);
        assert_eq!((guest.memory[5000], guest.memory[5016]), (1, 4), "four bytes of the one that has some");
        assert_eq!((guest.memory[5032], guest.memory[5042]), (2, 2), "what is discarded need not be waited for");
    }
}

#[test]
fn devices_are_read_also_where_there_is_a_deadline() {
    let mut guest = Guest::new();
    guest.context = Builder::new().preopened_dir("/dev", "/").unwrap().build();
    for (name, read) in [("null", 0), ("zero", 5)] {
        let fd = guest.open(name, READS, 0).unwrap();
        let args = guest.vector(fd, 5);
        assert_eq!(guest.call_until(Function::FdRead, &args, &mut || false).unwrap(), 0);
        assert_eq!(word(&guest.memory, 80), read);
    }
}

#[test]
fn a_named_pipe_is_waited_for_until_the_deadline() {
    let mut guest = Guest::new();
    guest.fifo("fifo");
    for rights in [READS, WRITES] {
        let mut looks = 0;
        let mut due = || {
            looks += 1;
            looks > 3
        };
        let args = guest.open_args("fifo", rights, 0);
        assert!(matches!(guest.call_until(Function::PathOpen, &args, &mut due), Err(Stop::Deadline)));
    }
    let path = guest.dir.path().join("fifo");
    let writer = std::thread::spawn(move || std::fs::write(path, "text").unwrap());
    let fd = guest.open("fifo", READS, 0).unwrap();
    let mut read = Vec::new();
    loop {
        let args = guest.vector(fd, 100);
        assert_eq!(guest.call(Function::FdRead, &args), 0, "it waits");
        match word(&guest.memory, 80) as usize {
            0 => break,
            bytes => read.extend_from_slice(&guest.memory[4096..4096 + bytes]),
        }
    }
    assert_eq!(read, b"text");
    writer.join().unwrap();
}

#[test]
fn standard_input_is_read_no_further_than_the_guest_asks() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    writer.write_all(b"abcdef").unwrap();
    // Each guest's is the same.
    for expected in [b"abc", b"def"] {
        let mut builder = Builder::new();
        builder.inner.insert_file(0, Box::new(Stdin::of(reader.try_clone().unwrap())), FileAccessMode::READ);
        let mut guest = Guest::new();
        guest.context = builder.build();
        guest.memory[4096..4144].fill(0);
        guest.memory[4104] = 1;
        assert_eq!(guest.call_until(Function::PollOneoff, &[4096, 5000, 1, 80], &mut || false).unwrap(), 0);
        let args = guest.vector(0, 3);
        let mut looks = 0;
        let mut due = || {
            looks += 1;
            looks > 3
        };
        assert_eq!(guest.call_until(Function::FdRead, &args, &mut due).unwrap(), 0);
        assert_eq!((word(&guest.memory, 80), &guest.memory[4096..4099]), (3, &expected[..]));
    }
}

#[test]
fn what_is_only_read_is_opened_to_be_read() {
    let mut guest = Guest::new();
    let (file, dir) = (guest.dir.path().join("file"), guest.dir.path().join("dir"));
    std::fs::write(&file, "text").unwrap();
    std::fs::create_dir(&dir).unwrap();
    let (creates, exclusive, truncates, appends) = (1, 4, 8, 1);
    let open = |guest: &mut Guest, path: &str, oflags, rights, flags| {
        let mut args = guest.open_args(path, rights, flags);
        args[4] = oflags;
        match guest.call(Function::PathOpen, &args) {
            0 => Ok(u64::from(word(&guest.memory, 80))),
            errno => Err(errno),
        }
    };
    const INVAL: u32 = 28;
    for (path, oflags, flags) in [("file", creates, 0), ("file", 0, appends), ("new", creates, 0), ("other", creates | exclusive, 0)] {
        let fd = open(&mut guest, path, oflags, READS, flags).unwrap();
        assert_eq!(guest.call(Function::FdFilestatSetSize, &[fd, 1]), INVAL, "{path} {oflags} {flags}");
    }
    // As the system has it, too: another user may not write what was there.
    let mut opened = 0;
    for fd in std::fs::read_dir("/proc/self/fd").unwrap().map(|entry| entry.unwrap()) {
        if std::fs::read_link(fd.path()).is_ok_and(|path| path == file) {
            let info = std::fs::read_to_string(std::path::Path::new("/proc/self/fdinfo").join(fd.file_name())).unwrap();
            let flags = info.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
            assert_eq!(i32::from_str_radix(flags.trim(), 8).unwrap() & libc::O_ACCMODE, libc::O_RDONLY);
            opened += 1;
        }
    }
    assert_eq!(opened, 2);
    assert_eq!(std::fs::read(&file).unwrap(), b"text");
    assert!(guest.dir.path().join("new").exists() && guest.dir.path().join("other").exists());
    assert_eq!(open(&mut guest, "other", creates | exclusive, READS, 0), Err(20), "EEXIST");
    assert_eq!(open(&mut guest, "gone/file", creates, READS, 0), Err(44), "ENOENT");
    // To append what is truncated first.
    let fd = open(&mut guest, "file", truncates, WRITES, appends).unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"");
    assert_eq!(guest.call(Function::FdSeek, &[fd, 100, 0, 80]), 0);
    let args = guest.vector(fd, 3);
    assert_eq!(guest.call(Function::FdWrite, &args), 0);
    assert_eq!(std::fs::metadata(&file).unwrap().len(), 3);
    for (oflags, rights, answer) in [(truncates, READS, Err(31)), (creates, READS, Err(31)), (0, WRITES, Err(31)), (0, READS, Ok(()))] {
        assert_eq!(open(&mut guest, "dir", oflags, rights, appends).map(drop), answer, "EISDIR: {oflags} {rights:#x}");
    }
}

#[test]
fn a_slash_behind_a_name_is_for_directories() {
    let mut guest = Guest::new();
    let path = |guest: &Guest, name| guest.dir.path().join(name);
    std::fs::write(path(&guest, "file"), "").unwrap();
    std::fs::create_dir(path(&guest, "dir")).unwrap();
    std::os::unix::fs::symlink("file", path(&guest, "to_file")).unwrap();
    std::os::unix::fs::symlink("dir", path(&guest, "to_dir")).unwrap();
    for (name, answer) in [("file/", 54), ("to_file/", 54), ("dir/", 0), ("to_dir/", 0), ("gone/", 44), ("file", 0), ("to_dir", 0)] {
        let [at, len] = guest.path(100, name);
        for follow in [0, 1] {
            assert_eq!(guest.call(Function::PathFilestatGet, &[3, follow, at, len, 4096]), answer, "{name} {follow}");
        }
    }
    for (name, answer) in [("file/", 54), ("to_dir/", 54), ("./", 28), ("dir//", 0), ("dir/", 44)] {
        let [at, len] = guest.path(100, name);
        assert_eq!(guest.call(Function::PathRemoveDirectory, &[3, at, len]), answer, "{name}");
    }
}

#[test]
fn exits_and_bad_pointers_stop_the_guest() {
    let mut context = Builder::new().build();
    let mut memory = vec![0; 64];
    for snapshot in Snapshot::ALL {
        assert!(matches!(context.call(snapshot, Function::ProcExit, &mut memory, &[200]), Err(Stop::Exit(200))));
        assert!(matches!(
            context.call(snapshot, Function::RandomGet, &mut memory, &[60, 8]),
            Err(Stop::Fault { function: "random_get", .. })
        ));
    }
    assert_eq!(call(&mut context, Function::RandomGet, &mut memory, &[0, 64]), 0);
    assert!(memory.iter().any(|&byte| byte != 0));
}

#[test]
fn the_time_is_the_hosts() {
    let mut context = Builder::new().build();
    let mut memory = vec![0; 64];
    let mut time = |clock| {
        assert_eq!(call(&mut context, Function::ClockTimeGet, &mut memory, &[clock, 1, 56]), 0);
        u64::from_le_bytes(memory[56..].try_into().unwrap())
    };
    let host = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos() as u64;
    let before = host();
    let real = time(0);
    assert!(before <= real && real <= host());
    let [first, second] = [time(1), time(1)];
    assert!(first <= second && second < 60_000_000_000, "since the guest began: {first}, {second}");
    // What is not ordinary is answered as ever: other clocks, and pointers beyond the memory or misaligned.
    assert_eq!(call(&mut context, Function::ClockTimeGet, &mut memory, &[2, 1, 0]), 8, "EBADF");
    for (clock, out) in [(77, 0), (0, 60), (0, 4), (0, u64::from(u32::MAX))] {
        let stopped = context.call(Snapshot::Preview1, Function::ClockTimeGet, &mut memory, &[clock, 1, out]);
        assert!(matches!(stopped, Err(Stop::Fault { function: "clock_time_get", .. })), "{stopped:?}");
    }
}

#[test]
fn nothing_in_a_read_only_directory_is_changed() {
    let mut guest = Guest::new();
    let there = guest.dir.path().join("there");
    std::fs::create_dir(&there).unwrap();
    std::fs::write(there.join("file"), "text").unwrap();
    std::fs::create_dir(there.join("inner")).unwrap();
    std::fs::write(there.join("inner/file"), "more").unwrap();
    let seen = || {
        let file = std::fs::metadata(there.join("file")).unwrap();
        (
            file.modified().unwrap(),
            file.len(),
            std::fs::read_dir(&there).unwrap().count(),
            std::fs::read_dir(there.parent().unwrap()).unwrap().count(),
        )
    };
    let before = seen();
    let mut builder = Builder::new();
    builder.preopened_dir_read_only(&there, "/there").unwrap();
    builder.preopened_dir(guest.dir.path(), "/").unwrap();
    guest.context = builder.build();
    const ROFS: u32 = 69;
    let (creates, exclusive, truncates, appends) = (1, 4, 8, 1);
    for (path, oflags, rights, flags, answer) in [
        ("file", 0, READS, 0, Ok(5)),
        ("file", creates, READS, 0, Ok(6)),
        ("inner", 0, READS, 0, Ok(7)),
        ("file", 0, READS, appends, Ok(8)),
        ("file", 0, WRITES, 0, Err(ROFS)),
        ("file", 0, READS | WRITES, 0, Err(ROFS)),
        ("file", truncates, READS, 0, Err(ROFS)),
        ("file", creates | exclusive, READS, 0, Err(ROFS)),
        ("new", creates, READS, 0, Err(ROFS)),
        ("inner/file", 0, WRITES, 0, Err(ROFS)),
    ] {
        let mut args = guest.open_args(path, rights, flags);
        args[4] = oflags;
        let fd = |guest: &Guest| u64::from(word(&guest.memory, 80));
        let opened = match guest.call(Function::PathOpen, &args) {
            0 => Ok(fd(&guest)),
            errno => Err(errno),
        };
        assert_eq!(opened, answer, "{path} {oflags} {rights:#x} {flags}");
    }
    // What was opened there is as read-only: a directory, a file's times (which the system would let its owner change).
    let mut inner = guest.open_args("file", WRITES, 0);
    inner[0] = 7;
    assert_eq!(guest.call(Function::PathOpen, &inner), ROFS);
    let now = 0b1010;
    assert_eq!(guest.call(Function::FdFilestatSetTimes, &[5, 0, 0, now]), ROFS);
    assert_ne!(guest.call(Function::FdFilestatSetSize, &[5, 0]), 0);
    let [file, file_len] = guest.path(100, "file");
    let [new, new_len] = guest.path(300, "new");
    for (function, args) in [
        (Function::PathCreateDirectory, &[3, new, new_len][..]),
        (Function::PathUnlinkFile, &[3, file, file_len]),
        (Function::PathSymlink, &[file, file_len, 3, new, new_len]),
        (Function::PathRename, &[3, file, file_len, 3, new, new_len]),
        (Function::PathRename, &[3, file, file_len, 4, new, new_len]),
        // (a second name where it may be written)
        (Function::PathLink, &[3, 0, file, file_len, 4, new, new_len]),
        (Function::PathFilestatSetTimes, &[3, 0, file, file_len, 0, 0, now]),
    ] {
        assert_eq!(guest.call(function, args), ROFS, "{function:?}");
    }
    let [inner, inner_len] = guest.path(100, "inner");
    assert_eq!(guest.call(Function::PathRemoveDirectory, &[3, inner, inner_len]), ROFS);
    assert_eq!(seen(), before);
    // The control: the directory around it is another one.
    assert_eq!(guest.call(Function::PathCreateDirectory, &[4, new, new_len]), 0);
}

mod waits;
