//! The kernel's times as time stamps.
//!
//! Samples carry CLOCK_MONOTONIC_RAW ([`CLOCK`]), which the kernel may read wherever it samples and nobody adjusts: it is linear in the time stamp counter. Two moments at which both
//! clocks were read, when the event was opened and now, say how. (The kernel tells its own conversion in the mapped page only where its clock is the counter itself, which in a virtual
//! machine it is not.)

use crate::ring::time_stamp;

/// The clock of the samples.
pub(super) const CLOCK: libc::clockid_t = libc::CLOCK_MONOTONIC_RAW;

/// A time that is this much later than now is no time of ours, nanoseconds.
const LATE: u64 = 1_000_000_000;

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    pub(super) stamp: u64,
    pub(super) ns: u64,
}

impl Moment {
    /// Now: of a few readings the one that took the shortest time.
    pub(super) fn now() -> Self {
        let reading = || {
            let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
            let before = time_stamp();
            // SAFETY: `time` is live; Linux has the clock.
            unsafe { libc::clock_gettime(CLOCK, &mut time) };
            let took = time_stamp().wrapping_sub(before);
            (took, Self { stamp: before.wrapping_add(took / 2), ns: time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 })
        };
        (0..3).map(|_| reading()).min_by_key(|&(took, _)| took).expect("there are three").1
    }

    /// What the time stamp counter was at `ns`, by this moment and an earlier one; 0 where it cannot be told.
    pub(super) fn stamp_at(self, earlier: Self, ns: u64) -> u64 {
        if self.ns <= earlier.ns || ns == 0 || ns > self.ns.saturating_add(LATE) {
            return 0;
        }
        let stamps = i128::from(self.stamp.wrapping_sub(earlier.stamp));
        let apart = (i128::from(ns) - i128::from(self.ns)) * stamps / i128::from(self.ns - earlier.ns);
        u64::try_from(i128::from(self.stamp) + apart).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_lie_on_the_line_through_two_moments() {
        let (opened, now) = (Moment { stamp: 1_000, ns: 500 }, Moment { stamp: 4_000, ns: 1_500 });
        assert_eq!([500, 1_000, 1_500, 1_501].map(|ns| now.stamp_at(opened, ns)), [1_000, 2_500, 4_000, 4_003]);
        assert_eq!(now.stamp_at(opened, 400), 700, "clocks that are read one after the other");
        assert_eq!([0, u64::MAX, 1].map(|ns| now.stamp_at(opened, ns)), [0; 3]);
        assert_eq!(opened.stamp_at(opened, 500), 0);
        let [first, second] = [Moment::now(), Moment::now()];
        assert!(first.ns > 0 && second.ns >= first.ns);
    }
}
