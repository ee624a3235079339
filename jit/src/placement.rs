//! Where code begins, so that its loops lie in few lines of 64 bytes.
//!
//! Processors take decoded instructions from a cache of windows (64 bytes of code on an Intel Xeon of model 167, where a loop of 88 bytes with a branch in it takes a third more time
//! in three lines than in two). A loop lies in one line more than its length asks for, or not, by where its function begins; nothing else of the code depends on that.
//!
//! Among places with equally few lines some are bad: on an AMD EPYC (Zen 5) a loop of 95 bytes (a sparse row times a vector) takes 1.45 times as long where it begins 0 to 12 bytes into a
//! line as where it begins 14 to 36 bytes into it, one of 105 bytes 1.44 times. What makes a place bad is not known (two windows of some 8 bytes, other ones in other loops), so the place
//! is chosen by measurement: [`BEST`].
//!
//! Intel's processors tell ways through the code apart by their taken branches alone, of each of which they remember some bits of where it is and where it leads. Where a branch over a loop's one
//! arm and the jump over the other leave the same bits, both ways look the same, and no pattern can be predicted: [`Fork`]. Which bits they leave depends on where the code begins, too.
//!
//! A loop around one `br_table`, an interpreter's, is long, and what matters is where it dispatches: there a small stack machine takes 254 to 258 ms where the 41 bytes from the loop's begin to
//! the end of the indirect jump end 0 to 4 bytes before the end of a line, 268 where they end 7 bytes before it, 290 to 300 at the begin of the line, and 345 to 360 anywhere across two.

use std::cmp::Reverse;

/// A loop's first byte behind its poll, and the byte behind its last back edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Loop {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Loop {
    /// The lines that its length asks for.
    fn least_lines(&self) -> u32 {
        (self.end - self.start).div_ceil(LINE)
    }
}

/// A taken branch: its last byte, and where it leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) last: u32,
    pub(crate) target: u32,
}

/// A conditional branch that is taken `over` something, and what may be the `next` to be taken on the way that goes on behind it.
///
/// Intel's predictors keep a path history: each taken branch shifts it by two and adds a footprint, exclusive ors of bits of its address and of its target's (Yavarzadeh et al., Half&Half, IEEE
/// S&P 2023). So which side a branch took is known later by the difference of two footprints. Over `branch_arms` with alternating flags, in 120 loops with arms of random lengths at random places (native,
/// Sapphire Rapids): 1.02 to 1.05 ns a round where the two are of different blocks of 32 bytes, 1.03 to 1.8 where they are of one, and 5.5 to 6.6 where the footprints are equal (25 loops of 25 that
/// were chosen for that: each round is mispredicted).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fork {
    pub(crate) over: Taken,
    pub(crate) next: Vec<Taken>,
}

/// Bytes within which addresses leave what their targets' low bits are mixed with.
pub(crate) const FOOTPRINT: u32 = 32;
/// What a fork whose two ways look the same counts in lines, and one whose ways look nearly the same.
const SAME_FOOTPRINT: u32 = 10;
const NEAR_FOOTPRINT: u32 = 1;

impl Fork {
    /// What it counts in lines where the code begins `begin` bytes into one.
    fn lines(&self, begin: u32) -> u32 {
        self.next.iter().map(|next| alike(begin, self.over, *next)).max().unwrap_or(0)
    }
}

/// What two branches that either way is told by count in lines where the code begins `begin` bytes into one.
fn alike(begin: u32, one: Taken, other: Taken) -> u32 {
    let [one_last, other_last] = [one, other].map(|it| begin + it.last);
    if one_last / FOOTPRINT != other_last / FOOTPRINT {
        return 0;
    }
    // Bits 0, 1, 2, 3 and 4 of the addresses go with bits 2, 3, 4, 0 and 1 of the targets; bit 5 of the targets is with bit 11, which is the same here.
    let from = (one_last ^ other_last) % FOOTPRINT;
    let to = ((begin + one.target) ^ (begin + other.target)) % LINE;
    let mixed = (to >> 2 & 0b111 | (to & 0b11) << 3) ^ from;
    if mixed == 0 && to & 0x20 == 0 { SAME_FOOTPRINT } else { NEAR_FOOTPRINT }
}

/// Bytes of a line.
pub(crate) const LINE: u32 = 64;
/// Bytes in front of the code for what calls of it begin with.
const ROOM: u32 = vm::code::DETOUR_ROOM as u32;
/// Bytes into a line at which an innermost loop is to begin where that takes no more lines. Measured on an AMD EPYC (Zen 5) from 10 to 24 in steps of 2 over eleven programs: sparse rows
/// want 14 or more, random branches 16 or less, a search of byte pairs 18 or less; all others do not care.
const BEST: u32 = 16;
/// A loop of several lines that ends so few bytes into one, or begins so few into one, counts a line more. Measured on an AMD EPYC (Zen 5) in steps of 4 over a dozen
/// programs: a matrix product whose 68 bytes begin 0 or 4 bytes into a line takes 1.7 to 1.9 times its best time, sparse rows (87 bytes) 1.4 times where they begin 2 or 6 bytes into
/// one or end 1 or 5, a picture's blur (121 bytes) 1.4 times at 0 or 4, random branches (71 bytes) 1.2 to 1.4 times where they end 1 or 5 bytes into one.
const FEW: u32 = 8;
/// What a begin that is a whole line off would count in lines: little enough that the loop around must not matter more, and that no loop takes a line more for it.
const OFF: f64 = 0.25;
/// How much more a loop counts than the one around it. A guess: most loops have more rounds.
const DEEPER: f64 = 8.0;
/// Loops inside each other beyond this count no more.
const DEEPEST: usize = 8;
/// How much more than an outermost loop it counts where a loop dispatches. A guess: who has a loop around one `br_table` spends its time there.
const DISPATCHES: f64 = 512.0;

/// Bytes between the begin of a line and the code's first byte at which its loops lie best; a multiple of `step`, [`ROOM`] at least and less than a line more. What counts is how many lines a loop takes beyond
/// what its length asks for, which of its forks' ways look alike, and then how far from [`BEST`] it begins; of `dispatches`, from a loop's begin to the end of the indirect jump, the same and how far from the end of a line they end. Of
/// equally good ones the least.
pub(crate) fn lead_in(mut loops: Vec<Loop>, dispatches: &[Loop], forks: Vec<Fork>, step: u32) -> u32 {
    // Back edges of one header are one loop; outer loops before inner ones.
    loops.sort_unstable_by_key(|it| (it.start, Reverse(it.end)));
    loops.dedup_by_key(|it| it.start);
    let mut around: Vec<usize> = Vec::new();
    // Each with its weight, and the number of the one around it.
    let mut weighted: Vec<(Loop, f64, Option<usize>)> = Vec::with_capacity(loops.len());
    for it in loops {
        around.retain(|&outer| weighted[outer].0.end >= it.end);
        weighted.push((it, DEEPER.powi(around.len().min(DEEPEST) as i32), around.last().copied()));
        around.push(weighted.len() - 1);
    }
    // How a loop was left is seen in the one around it. (Where a loop dispatches, that counts before anything else.)
    let innermost = |it: Taken| {
        let (first, last) = (it.last.min(it.target), it.last.max(it.target));
        let begun_last = weighted.partition_point(|(it, ..)| it.start <= first).checked_sub(1);
        std::iter::successors(begun_last, |&inner| weighted[inner].2).find(|&inner| weighted[inner].0.end > last)
    };
    let of_a_loop = |mut fork: Fork| {
        let (it, weight, _) = weighted[innermost(fork.over)?];
        fork.next.retain(|next| [next.last, next.target].iter().all(|at| (it.start..it.end).contains(at)));
        (!fork.next.is_empty()).then(|| (fork, weight / f64::from(it.least_lines())))
    };
    let forks: Vec<(Fork, f64)> = if dispatches.is_empty() { forks.into_iter().filter_map(of_a_loop).collect() } else { Vec::new() };
    let cost = |begin: u32| -> f64 {
        let off_and_more = |Loop { start, end }: Loop, off: u32, more: u32| {
            let lines = (begin + end - 1) / LINE - (begin + start) / LINE + 1;
            let least = Loop { start, end }.least_lines();
            f64::from(lines - least + more) / f64::from(least) + OFF * f64::from(off) / f64::from(LINE)
        };
        let dispatch = |it: &Loop| DISPATCHES * off_and_more(*it, (LINE - (begin + it.end) % LINE) % LINE, 0);
        let one = |&(it, weight, _): &(Loop, f64, Option<usize>)| {
            let starts = (begin + it.start) % LINE;
            weight * off_and_more(it, starts.abs_diff(BEST), at_edges(it, begin))
        };
        let fork = |(fork, weight): &(Fork, f64)| weight * f64::from(fork.lines(begin));
        dispatches.iter().map(dispatch).chain(weighted.iter().map(one)).chain(forks.iter().map(fork)).sum()
    };
    let step = step.clamp(1, LINE);
    let begins = (ROOM.next_multiple_of(step)..ROOM + LINE).step_by(step as usize);
    begins.map(|begin| (cost(begin), begin)).min_by(|a, b| a.partial_cmp(b).expect("no cost is NaN")).map_or(0, |(_, begin)| begin)
}

/// How many of a loop's two ends are where they count a line more.
fn at_edges(Loop { start, end }: Loop, begin: u32) -> u32 {
    let few_at_end = (1..=FEW).contains(&((begin + end) % LINE));
    if end - start > LINE { u32::from((begin + start) % LINE < FEW) + u32::from(few_at_end) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(begin: u32, it: Loop) -> u32 {
        (begin + it.end - 1) / LINE - (begin + it.start) / LINE + 1
    }

    #[test]
    fn a_loop_takes_no_more_lines_than_it_must_and_has_none_for_a_few_bytes() {
        for length in 1..200 {
            for start in 0..130 {
                let it = Loop { start, end: start + length };
                let begin = lead_in(vec![it], &[], Vec::new(), 1);
                assert!((ROOM..ROOM + LINE).contains(&begin));
                let least = length.div_ceil(LINE);
                // One more at most, where with fewer it would begin or end at a line's begin.
                let may_take_more = (0..LINE).all(|begin| lines(begin, it) > least || at_edges(it, begin) > 0);
                assert!(lines(begin, it) <= least + u32::from(may_take_more), "{it:?} from {begin}");
                assert!(at_edges(it, begin) == 0, "{it:?} from {begin}");
            }
        }
    }

    #[test]
    fn what_lies_well_stays() {
        assert_eq!(lead_in(Vec::new(), &[], Vec::new(), 1), ROOM);
        assert_eq!(lead_in(vec![Loop { start: 16, end: 60 }], &[], Vec::new(), 1), LINE);
        assert_eq!(
            lead_in(vec![Loop { start: 10, end: 62 }], &[], Vec::new(), 1),
            LINE + 2,
            "one line, and as near to the best begin as that leaves room for"
        );
        assert_eq!(lead_in(vec![Loop { start: 0x29, end: 0x81 }], &[], Vec::new(), 1), 0x40 + BEST - 0x29, "the loop of 88 bytes");
    }

    #[test]
    fn the_inner_loop_goes_first_and_the_constants_stay_aligned() {
        let (outer, inner) = (Loop { start: 20, end: 148 }, Loop { start: 50, end: 100 });
        let begin = lead_in(vec![inner, outer, Loop { end: 90, ..inner }], &[], Vec::new(), 1);
        assert_eq!((lines(begin, inner), lines(0, outer), begin), (1, 3, 28));
        let begin = lead_in(vec![inner, outer], &[], Vec::new(), 16);
        assert_eq!((begin % 16, lines(begin, inner)), (0, 1));
        assert_eq!(lead_in(vec![inner], &[], Vec::new(), 64), LINE);
    }

    #[test]
    fn a_dispatch_ends_where_a_line_does() {
        let (around, dispatch) = (Loop { start: 0x4a, end: 0x26c }, Loop { start: 0x4a, end: 0x73 });
        assert_eq!((0x73 + lead_in(vec![around], &[dispatch], Vec::new(), 1)) % LINE, 0);
        // One that is longer than a line takes two lines and no more.
        let long = Loop { start: 7, end: 7 + 100 };
        let begin = lead_in(vec![Loop { end: 900, ..long }], &[long], Vec::new(), 1);
        assert_eq!((lines(begin, long), (begin + long.end) % LINE), (2, 0));
    }

    /// The loop of `branch_arms`: a branch over an arm that ends in a jump over the other. Measured natively at each begin (see [`Fork`]): 24 and 56 take 5.4 and 5.9 ns a round, the others 0.94 to 1.7.
    #[test]
    fn ways_that_would_look_the_same_do_not() {
        let it = Loop { start: 0, end: 70 };
        let (over, next) = (Taken { last: 0x13, target: 0x28 }, Taken { last: 0x27, target: 0x3a });
        let fork = |over, next| Fork { over, next: vec![next] };
        let at = |lines| (0..LINE).step_by(2).filter(|&begin| fork(over, next).lines(begin) == lines).collect::<Vec<_>>();
        assert_eq!((at(SAME_FOOTPRINT), at(NEAR_FOOTPRINT)), (vec![24, 56], vec![14, 16, 18, 20, 22, 46, 48, 50, 52, 54]));
        let chosen = |loops: Vec<Loop>, dispatches: &[Loop], forks| lead_in(loops, dispatches, forks, 1) % LINE;
        assert_eq!(chosen(vec![it], &[], vec![]), BEST);
        assert_eq!(chosen(vec![it], &[], vec![fork(over, next)]), 12, "as near to it as the ways look different");
        let elsewhere = fork(Taken { last: 80, ..over }, Taken { last: 99, ..next });
        let leaves = fork(over, Taken { target: 70, ..next });
        for other in [elsewhere, leaves] {
            assert_eq!(chosen(vec![it], &[], vec![other]), BEST, "none of a loop");
        }
        let dispatch = Loop { start: 0, end: 40 };
        assert_eq!(chosen(vec![it], &[dispatch], vec![fork(over, next)]), chosen(vec![it], &[dispatch], vec![]));
        // Of a chain of comparisons the worst pair counts, not their number.
        let chain = Fork { over, next: vec![next; 15] };
        assert_eq!(chain.lines(16), NEAR_FOOTPRINT);
    }

    #[test]
    fn forks_are_of_the_innermost_loop_around_them_and_many_take_no_time() {
        const LOOPS: u32 = 100_000;
        let outer = Loop { start: 0, end: 64 * LOOPS + 200 };
        let inner = (0..LOOPS).map(|number| Loop { start: 64 * number, end: 64 * number + 40 });
        let fork =
            |at| Fork { over: Taken { last: at + 0x13, target: at + 0x28 }, next: vec![Taken { last: at + 0x27, target: at + 0x3a }] };
        // In no inner loop, behind all of them; of one that is left; and of none.
        let forks: Vec<Fork> = (0..LOOPS).flat_map(|number| [fork(64 * LOOPS), fork(64 * number + 10), fork(64 * LOOPS + 300)]).collect();
        let began = std::time::Instant::now();
        lead_in(inner.chain([outer]).collect(), &[], forks, 16);
        assert!(began.elapsed() < std::time::Duration::from_secs(5), "{:?}", began.elapsed());
    }
}
