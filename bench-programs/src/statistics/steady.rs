//! From the calls of one process to one figure: where the steady state begins, what a call takes there, and how long it took to get there.
//!
//! The last segment that [`changepoints`] finds is the candidate. Segments before it whose mean is within [`ALIKE`] of its mean (or within its own spread)
//! are part of the steady state. Where that begins only in the last quarter of the calls, there is none: the process was still changing when it
//! was stopped (Barrett et al. 2017 ask the same of the last 500 of 2000 calls).

use super::changepoints::changepoints;
use super::median;
use crate::results::{Course, Steady};

/// Means this close are the same state, as a share.
const ALIKE: f64 = 0.02;
/// The steady state must hold for this share of the calls, at the end.
const HOLDS: f64 = 0.25;
/// "90 % of the steady speed": calls take at most this many times the steady time.
const NEARLY: f64 = 1.0 / 0.9;

/// What is told of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    /// Where it became steady and how.
    pub steady: Steady,
    /// The time of one call: the median over the steady state; without one, over the last half.
    pub call_ns: f64,
    /// The calls that `call_ns` is of: from here to the end.
    pub from: usize,
}

/// Reads the calls of one process, which must not be empty.
pub fn steady(calls_ns: &[u64]) -> Told {
    let calls: Vec<f64> = calls_ns.iter().map(|ns| *ns as f64).collect();
    let count = calls.len();
    let mut points = changepoints(&calls);
    // A first call that is unlike all that follows is a segment of its own.
    if count >= 4 && points.first() != Some(&1) {
        let next = points.first().copied().unwrap_or(count);
        let rest = &calls[1..next.max(2)];
        let centre = median(rest);
        let spread = median(&rest.iter().map(|call| (call - centre).abs()).collect::<Vec<f64>>());
        if (calls[0] - centre).abs() > (10.0 * spread).max(0.05 * centre) {
            points.insert(0, 1);
            points.dedup();
        }
    }
    let mut begins = vec![0];
    begins.extend(&points);
    let segment = |index: usize| &calls[begins[index]..begins.get(index + 1).copied().unwrap_or(count)];
    let last = segment(begins.len() - 1);
    let centre = median(last);
    let spread = median(&last.iter().map(|call| (call - centre).abs()).collect::<Vec<f64>>());
    let alike = |index: usize| (median(segment(index)) - centre).abs() <= (ALIKE * centre).max(spread);
    let mut first_alike = begins.len() - 1;
    while first_alike > 0 && alike(first_alike - 1) {
        first_alike -= 1;
    }
    let from = begins[first_alike];
    let held = (count - from) as f64 >= HOLDS * count as f64 && count >= 4;
    if !held {
        let from = count / 2;
        let steady = Steady {
            course: Course::NoSteadyState,
            changepoints: indices(&points),
            from_call: None,
            from_ns: None,
            to_90_percent_ns: None,
        };
        return Told { steady, call_ns: median(&calls[from..]), from };
    }
    let call_ns = median(&calls[from..]);
    let course = match () {
        () if from == 0 => Course::Flat,
        () if (0..first_alike).any(|index| median(segment(index)) < call_ns * (1.0 - ALIKE)) => Course::Slowdown,
        () => Course::Warmup,
    };
    // Before the steady state, the last call that was not nearly there, isolated ones left alone.
    let slow = |at: usize| calls[at] > call_ns * NEARLY;
    let last_slow = (0..from).rev().find(|&at| slow(at) && (at == 0 || slow(at - 1) || at + 1 == from));
    let elapsed = |calls: usize| calls_ns[..calls].iter().sum::<u64>();
    let steady = Steady {
        course,
        changepoints: indices(&points),
        from_call: Some(from as u32),
        from_ns: Some(elapsed(from)),
        to_90_percent_ns: Some(elapsed(last_slow.map_or(0, |at| at + 1))),
    };
    Told { steady, call_ns, from }
}

fn indices(points: &[usize]) -> Vec<u32> {
    points.iter().map(|point| *point as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(parts: &[(u64, usize)]) -> Vec<u64> {
        let mut calls = Vec::new();
        for (ns, count) in parts {
            // ±1 %, in a pattern that is no trend.
            calls.extend((0..*count).map(|index| ns + ns * [0, 1, 2, 1, 0][index * 7 % 5] / 100));
        }
        calls
    }

    #[test]
    fn flat() {
        let told = steady(&series(&[(1000, 50)]));
        assert_eq!(told.steady.course, Course::Flat);
        assert_eq!((told.steady.from_call, told.steady.to_90_percent_ns), (Some(0), Some(0)));
        assert_eq!(told.call_ns, 1010.0);
    }

    #[test]
    fn warm_up_in_two_steps() {
        let calls = series(&[(4000, 10), (1050, 20), (1000, 70)]);
        let told = steady(&calls);
        assert_eq!(told.steady.course, Course::Warmup);
        assert_eq!(told.steady.from_call, Some(30));
        // 5 % above the steady time is more than 90 % of its speed.
        assert_eq!(told.steady.to_90_percent_ns, Some(calls[..10].iter().sum()));
        assert_eq!(told.steady.from_ns, Some(calls[..30].iter().sum()));
        assert_eq!(told.call_ns, 1010.0);
    }

    #[test]
    fn one_slow_first_call_is_warm_up() {
        let calls = series(&[(9000, 1), (1000, 60)]);
        let told = steady(&calls);
        assert_eq!((told.steady.course, told.steady.from_call), (Course::Warmup, Some(1)));
        assert_eq!(told.steady.to_90_percent_ns, Some(9000));
    }

    #[test]
    fn slower_at_the_end() {
        let told = steady(&series(&[(1000, 40), (1500, 60)]));
        assert_eq!((told.steady.course, told.steady.from_call), (Course::Slowdown, Some(40)));
        assert_eq!(told.steady.to_90_percent_ns, Some(0));
    }

    #[test]
    fn still_changing() {
        let told = steady(&series(&[(3000, 40), (2000, 40), (1000, 10)]));
        assert_eq!(told.steady.course, Course::NoSteadyState);
        assert_eq!(told.steady.from_call, None);
        assert_eq!(steady(&[5, 6]).steady.course, Course::NoSteadyState);
    }

    #[test]
    fn a_pause_in_the_middle_is_not_a_state() {
        let told = steady(&series(&[(1000, 50), (3000, 3), (1000, 50)]));
        assert_eq!(told.steady.from_call, Some(53));
        assert_eq!(told.call_ns, 1010.0);
    }
}
