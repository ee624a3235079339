//! The ring's protocol, the very functions the ring runs, under loom: all interleavings (up to loom's preemption bound) of stores and
//! drains in a ring of a few slots, with wrap and full, on the C++11 memory model.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use loom::thread;
use lwp_feedback::ring::protocol::{RingMemory, Stored, bytes_used, crossing, drain, rearm, store};

const SLOTS: usize = 3;

struct Memory {
    head: AtomicU32,
    tail: AtomicU32,
    missed: AtomicU64,
    armed: AtomicBool,
    /// Two words a slot are enough to see a torn record.
    slots: [[AtomicU64; 2]; SLOTS],
}

impl Memory {
    fn new() -> Self {
        Self {
            head: AtomicU32::new(32),
            tail: AtomicU32::new(32),
            missed: AtomicU64::new(0),
            armed: AtomicBool::new(true),
            slots: std::array::from_fn(|_| [AtomicU64::new(0), AtomicU64::new(0)]),
        }
    }
}

impl RingMemory for Memory {
    fn size(&self) -> u32 {
        32 * SLOTS as u32
    }
    fn head_acquire(&self) -> u32 {
        self.head.load(Ordering::Acquire)
    }
    fn set_head_release(&self, head: u32) {
        self.head.store(head, Ordering::Release);
    }
    fn tail_for_producer(&self, _next: u32) -> u32 {
        self.tail.load(Ordering::Acquire)
    }
    fn tail(&self) -> u32 {
        self.tail.load(Ordering::Relaxed)
    }
    fn set_tail_release(&self, tail: u32) {
        self.tail.store(tail, Ordering::Release);
    }
    fn write_slot(&self, offset: u32, words: [u64; 4]) {
        let slot = &self.slots[offset as usize / 32];
        slot[0].store(words[0], Ordering::Relaxed);
        slot[1].store(words[1], Ordering::Relaxed);
    }
    fn read_slot(&self, offset: u32) -> [u64; 4] {
        let slot = &self.slots[offset as usize / 32];
        [slot[0].load(Ordering::Relaxed), slot[1].load(Ordering::Relaxed), 0, 0]
    }
    fn count_missed(&self) {
        self.missed.store(self.missed.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }
    fn take_armed(&self) -> bool {
        self.armed.load(Ordering::Relaxed) && self.armed.swap(false, Ordering::AcqRel)
    }
    fn arm(&self) {
        self.armed.store(true, Ordering::Release);
    }
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

/// Stores `records` numbered from 1; `deferred` publishes head only when the ring is full and at the end.
fn produce(memory: &Memory, records: u64, deferred: bool) {
    let mut head = 32;
    for number in 1..=records {
        match store(memory, head, [number, !number, 0, 0], false) {
            Stored::Advanced { head: next, used } => {
                assert!(used > 0 && used < memory.size());
                head = next;
                if !deferred {
                    memory.set_head_release(head);
                }
            }
            Stored::Missed => memory.set_head_release(head),
        }
    }
    memory.set_head_release(head);
}

/// Drains `times` times while the producer runs, then what is left; every record is whole, in order, and accounted for.
fn check(records: u64, times: usize, deferred: bool) {
    loom::model(move || {
        let memory = Arc::new(Memory::new());
        let producer = thread::spawn({
            let memory = memory.clone();
            move || produce(&memory, records, deferred)
        });
        let (mut tail, mut seen) = (32, Vec::new());
        let mut take = |tail: &mut u32| {
            (*tail, _) = drain(&*memory, *tail, usize::MAX, |words| {
                assert_eq!(words[1], !words[0], "torn");
                seen.push(words[0]);
            });
        };
        for _ in 0..times {
            take(&mut tail);
        }
        producer.join().unwrap();
        take(&mut tail);
        assert!(seen.is_sorted_by(|a, b| a < b), "{seen:?}");
        assert_eq!(seen.len() as u64 + memory.missed.load(Ordering::Relaxed), records);
    });
}

#[test]
fn store_wrap_full_drain() {
    check(4, 2, false);
}

#[test]
fn deferred_head() {
    check(4, 2, true);
}

/// The producer crosses a threshold of one record while the consumer drains and arms. When both are done, a ring past its threshold was either
/// announced or seen by the consumer's own last look. Whom an announcement wakes drains once more, and then the next crossing is announced again, whether there was something left
/// to drain or not.
#[test]
fn no_threshold_crossing_is_lost() {
    const THRESHOLD: u32 = 32;
    loom::model(|| {
        let memory = Arc::new(Memory::new());
        let producer = thread::spawn({
            let memory = memory.clone();
            move || {
                let mut head = 32;
                let mut announced = 0;
                for number in 1..=2 {
                    if let Stored::Advanced { head: next, used } = store(&*memory, head, [number, !number, 0, 0], false) {
                        head = next;
                        memory.set_head_release(head);
                        announced += u32::from(used >= THRESHOLD && crossing(&*memory));
                    }
                }
                announced
            }
        });
        let (mut tail, mut comes_back) = (32, false);
        let take = |tail: &mut u32| {
            (*tail, _) = drain(&*memory, *tail, usize::MAX, |_| {});
            !memory.armed.load(Ordering::Relaxed) && rearm(&*memory, *tail, THRESHOLD)
        };
        for _ in 0..2 {
            comes_back = take(&mut tail);
        }
        let announced = producer.join().unwrap();
        let past = bytes_used(memory.head_acquire(), tail, memory.size()) >= THRESHOLD;
        let armed = memory.armed.load(Ordering::Relaxed);
        assert!(!(past && armed) || comes_back, "past the threshold, and nobody was told");
        assert!((1..=2).contains(&announced), "{announced}");
        assert!(!take(&mut tail) && memory.armed.load(Ordering::Relaxed), "woken, drained, and not armed");
    });
}
