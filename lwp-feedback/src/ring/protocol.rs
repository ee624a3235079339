//! The single-producer single-consumer protocol of an LWP ring, over any memory.
//!
//! Invariants, checked with loom in `tests/loom_ring.rs`, which runs these very functions on loom's atomics:
//! 1. Slots `[tail, head)` belong to the consumer, all others to the producer; `head == tail` means empty, so N slots hold at most N-1
//!    visible records.
//! 2. The producer writes the record, then head with Release. The consumer reads head with Acquire, copies, then stores tail with
//!    Release. The producer reads tail with Acquire before it moves head.
//! 3. A record that finds the ring full goes to the slot at head, which stays unpublished (Synchronized mode), and MissedEvents
//!    counts; nothing waits.
//! 4. A crossing is delivered once until a drain leaves less than the threshold, and none is lost: the producer publishes head, then looks whether
//!    the ring is armed; the consumer arms it, then looks at head again; each with a fence between, so one of them sees the other.
//! 5. The producer never trusts what it reads from memory as an offset to write to: its head is its own. With a tail that is no offset of the
//!    ring nobody can say which slots are free: the ring counts as full, so that what is lost is counted, until the consumer, which has its own
//!    tail too, puts it back. The consumer checks the head it reads.

use crate::layout::RECORD_BYTES;

/// The memory of a ring: what the protocol reads and writes. Orders are part of the names.
pub trait RingMemory {
    /// Bytes, a multiple of 32.
    fn size(&self) -> u32;
    /// Published head, Acquire.
    fn head_acquire(&self) -> u32;
    /// Publishes head, Release.
    fn set_head_release(&self, head: u32);
    /// Tail as the producer that is about to move head to `next` sees it: Acquire when it comes from memory; hardware may use a copy
    /// it read earlier as long as that does not make the ring look full.
    fn tail_for_producer(&self, next: u32) -> u32;
    /// Published tail, as the consumer sees it, to find out whether it is still its own.
    fn tail(&self) -> u32;
    /// Publishes tail, Release.
    fn set_tail_release(&self, tail: u32);
    /// Writes a slot. `offset` is a multiple of 32 below `size`.
    fn write_slot(&self, offset: u32, words: [u64; 4]);
    /// Reads a slot. `offset` is a multiple of 32 below `size`.
    fn read_slot(&self, offset: u32) -> [u64; 4];
    /// MissedEvents += 1; only the producer calls it.
    fn count_missed(&self);
    /// Whether a threshold crossing is still to be delivered; it is not any more. Only the producer calls it.
    fn take_armed(&self) -> bool;
    /// The next crossing is to be delivered. Only the consumer calls it.
    fn arm(&self);
    /// A sequentially consistent fence.
    fn fence(&self);
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// It is in the ring; the new head and the bytes in use.
    Advanced {
        /// Head after the record, not yet published.
        head: u32,
        /// Bytes in use, as far as the producer knows.
        used: u32,
    },
    /// The ring was full: it was written to the unpublished slot at head and counted.
    Missed,
}

/// Bytes from `tail` to `head` in a ring of `size` bytes. Any `tail` is allowed; the result is below `size`.
pub fn bytes_used(head: u32, tail: u32, size: u32) -> u32 {
    let tail = tail % size;
    if head >= tail { head - tail } else { head + size - tail }
}

/// The offset after `head`.
pub fn next_offset(head: u32, size: u32) -> u32 {
    let next = head + RECORD_BYTES;
    if next >= size { 0 } else { next }
}

/// Whether an offset found in memory is one of a ring of `size` bytes.
pub fn is_offset(offset: u32, size: u32) -> bool {
    offset < size && offset.is_multiple_of(RECORD_BYTES)
}

/// Writes a record at the producer's own `head`. In Synchronized mode a full ring counts a miss; in continuous mode head always moves.
/// The caller publishes the new head.
// Called, with the words passed through memory, it costs half as much again.
#[inline(always)]
pub fn store<M: RingMemory + ?Sized>(memory: &M, head: u32, words: [u64; 4], continuous: bool) -> Stored {
    let size = memory.size();
    memory.write_slot(head, words);
    let next = next_offset(head, size);
    let tail = memory.tail_for_producer(next);
    if (next == tail || !is_offset(tail, size)) && !continuous {
        memory.count_missed();
        return Stored::Missed;
    }
    Stored::Advanced { head: next, used: bytes_used(next, tail, size) }
}

/// Copies up to `max` records from the consumer's own `tail` on to `sink` and frees their slots. Returns the new tail and the
/// number of records. A published head that is no offset of the ring yields nothing; a published tail that is not the consumer's is put right.
pub fn drain<M: RingMemory + ?Sized>(memory: &M, tail: u32, max: usize, mut sink: impl FnMut([u64; 4])) -> (u32, usize) {
    let size = memory.size();
    let head = memory.head_acquire();
    let available = if is_offset(head, size) { (bytes_used(head, tail, size) / RECORD_BYTES) as usize } else { 0 };
    let count = available.min(max);
    let mut at = tail;
    for _ in 0..count {
        sink(memory.read_slot(at));
        at = next_offset(at, size);
    }
    if count > 0 || memory.tail() != at {
        memory.set_tail_release(at);
    }
    (at, count)
}

/// After a head at or past the threshold was published: whether this crossing is to be delivered.
pub fn crossing<M: RingMemory + ?Sized>(memory: &M) -> bool {
    memory.take_armed() || {
        memory.fence();
        memory.take_armed()
    }
}

/// After a drain up to `tail`: arms the ring if it holds less than `threshold` bytes. True where it holds that much (again): the consumer comes
/// back by itself, for no crossing may announce it.
pub fn rearm<M: RingMemory + ?Sized>(memory: &M, tail: u32, threshold: u32) -> bool {
    let past = || {
        let head = memory.head_acquire();
        head < memory.size() && bytes_used(head, tail, memory.size()) >= threshold
    };
    past() || {
        memory.arm();
        memory.fence();
        past()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_is_modular_and_bounded_for_any_tail() {
        assert_eq!(bytes_used(64, 32, 1024), 32);
        assert_eq!(bytes_used(0, 992, 1024), 32);
        assert_eq!(bytes_used(32, 32, 1024), 0);
        for tail in [0, 1, 1024, 5000, u32::MAX] {
            assert!(bytes_used(96, tail, 1024) < 1024);
        }
    }
}
