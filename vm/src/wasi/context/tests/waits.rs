//! Guests that read and write where nobody answers, until the deadline.

use super::*;

/// Writes megabytes until the deadline passes, and returns how many bytes were written.
fn write_until_the_deadline(guest: &mut Guest, snapshot: Snapshot, fd: u64) -> usize {
    let mut written = 0;
    loop {
        let mut looks = 0;
        let mut due = || {
            looks += 1;
            looks > 3
        };
        let args = guest.vector(fd, 1 << 20);
        match guest.context.call_until(snapshot, Function::FdWrite, &mut guest.memory, &args, &mut due) {
            Err(Stop::Deadline) => return written,
            answer => assert_eq!(answer.unwrap(), 0),
        }
        written += word(&guest.memory, 80) as usize;
    }
}

#[test]
fn a_write_to_a_pipe_that_nobody_reads_ends_at_the_deadline() {
    let mut guest = Guest::new();
    guest.memory = vec![0; 1 << 21];
    guest.fifo("fifo");
    let mut reader = std::fs::File::options().read(true).write(true).open(guest.dir.path().join("fifo")).unwrap();
    let fd = guest.open("fifo", WRITES, 0).unwrap();
    for snapshot in Snapshot::ALL {
        let written = write_until_the_deadline(&mut guest, snapshot, fd);
        assert!(written >= libc::PIPE_BUF);
        // All that it was told, and no more.
        reader.read_exact(&mut vec![0; written]).unwrap();
        assert_eq!(rustix::io::ioctl_fionread(&reader), Ok(0));
    }
}

#[test]
fn a_quiet_pipe_is_not_waited_for_where_nothing_is_read() {
    let mut guest = Guest::new();
    guest.fifo("fifo");
    let _writer = std::fs::File::options().read(true).write(true).open(guest.dir.path().join("fifo")).unwrap();
    let fd = guest.open("fifo", READS, 0).unwrap();
    let args = guest.vector(fd, 0);
    assert_eq!(guest.call_until(Function::FdRead, &args, &mut || panic!("it waits")).unwrap(), 0);
    for snapshot in Snapshot::ALL {
        let args = guest.vector(fd, 1);
        let mut looks = 0;
        let mut due = || {
            looks += 1;
            looks > 3
        };
        let stopped = guest.context.call_until(snapshot, Function::FdRead, &mut guest.memory, &args, &mut due);
        assert!(matches!(stopped, Err(Stop::Deadline)));
    }
}
