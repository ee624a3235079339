//! What windows saw, fitted to the time that the clocks saw in each function.
//!
//! A window says how much of each function's work was done in it, and stands for the time since the one before. Two things of that are uncertain. Of a program with phases there are more or fewer windows
//! in a phase than its time deserves, by chance: of 30 windows of two phases alike, one in three runs has 18 or more in one of them. And what the work takes is guessed from its branches, so a function that misses the caches
//! looks several times as fast as it is. The clocks' records, a hundred a second, say how the time is divided over the functions.
//!
//! Let *k* be what a function's work takes, times the guess, *p* its part of a window's time (its work times *k*, over the sum of all), *s* the window's part of all time, and *c* the function's part of the
//! clocks' records. Then *e* = *c* - sum *s p* is what is to be explained, either by *k* or by windows that stand for more or less than *s*. The latter has the covariance *S* = sum *s*² *p p*ᵀ, as
//! if each window's *s* were off by as much as it is, with the clocks' own chance on the diagonal. The logarithms of *k* are normal with [`DEVIATION`]. Most probable is what makes
//! *e*ᵀ *S*⁻¹ *e* + (log *k*)² / deviation² least, which Gauss and Newton's steps find; then window *i* stands for 1 + *s p*ᵀ *S*⁻¹ *e* times *s*.
//!
//! So where all windows are alike it is *k* that is fitted, and where each has one function it is what they stand for.

/// How far the guess of what a function's work takes is off, as the standard deviation of the factor's logarithm. A guess: what misses the caches takes several times as long as what does not.
const DEVIATION: f64 = 1.0;
/// A function's deviation is less the more time is spent in it: an error there matters more. Its variance is divided by its part of the time, times the number of functions, at least this.
const LEAST_PART: f64 = 0.1;
/// Steps after which it has to do.
const MOST_STEPS: usize = 30;
/// The longest step of a logarithm.
const LONGEST_STEP: f64 = 1.0;
/// Shorter steps end the search.
const SHORTEST_STEP: f64 = 1e-3;
/// The least that a window may stand for, of its time.
const LEAST_STANDS_FOR: f64 = 0.1;

/// A window.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// Time it stands for, ns.
    pub(super) span: f64,
    /// Work of each function in it, ns as guessed.
    pub(super) work: Vec<f64>,
}

/// What explains the clocks best.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// By function: what its work takes, times the guess.
    pub(super) factors: Vec<f64>,
    /// By window: what it stands for, times its span.
    pub(super) stands_for: Vec<f64>,
}

/// Fits windows to `ticks`, the clocks' records in each of their functions. All windows know the same functions.
pub(super) fn fit(windows: &[Window], ticks: &[f64]) -> Fit {
    let n = ticks.len();
    let each = |of: &dyn Fn(usize) -> f64| -> Vec<f64> { (0..n).map(of).collect() };
    let (all_ticks, all_time): (f64, f64) =
        (ticks.iter().sum::<f64>().max(1.0), windows.iter().map(|window| window.span).sum::<f64>().max(1.0));
    let spans: Vec<f64> = windows.iter().map(|window| window.span / all_time).collect();
    let precision = each(&|f| (ticks[f] / all_ticks * n as f64).max(LEAST_PART) / (DEVIATION * DEVIATION));
    let mut logs = vec![0.0f64; n];
    for _ in 0..MOST_STEPS {
        let State { parts, covariance, differences } = State::of(windows, &spans, ticks, &logs);
        // How the windows' sum changes with each logarithm.
        let mut slopes = vec![vec![0.0; n]; n];
        for (parts, span) in parts.iter().zip(&spans) {
            for f in (0..n).filter(|&f| parts[f] > 0.0) {
                slopes[f][f] += span * parts[f];
                (0..n).for_each(|g| slopes[f][g] -= span * parts[f] * parts[g]);
            }
        }
        let mut right: Vec<Vec<f64>> = (0..n).map(|g| each(&|f| slopes[f][g])).collect();
        right.push(differences);
        let mut solved = solve(covariance, right);
        let weighted = solved.pop().expect("pushed above");
        let product = |of: &[f64], g: usize| -> f64 { (0..n).map(|f| slopes[f][g] * of[f]).sum() };
        let matrix = (0..n).map(|f| each(&|g| product(&solved[g], f) + if f == g { precision[f] } else { 0.0 })).collect();
        let gradient = each(&|f| product(&weighted, f) - precision[f] * logs[f]);
        let step = solve(matrix, vec![gradient]).pop().expect("one in, one out");
        let longest = step.iter().fold(0.0f64, |most, step| most.max(step.abs()));
        let part = (LONGEST_STEP / longest.max(1e-9)).min(1.0);
        logs.iter_mut().zip(&step).for_each(|(log, step)| *log += part * step);
        if longest < SHORTEST_STEP {
            break;
        }
    }
    let State { parts, covariance, differences } = State::of(windows, &spans, ticks, &logs);
    let weighted = solve(covariance, vec![differences]).pop().expect("one in, one out");
    let stands_for = |(parts, span): (&Vec<f64>, &f64)| {
        (1.0 + span * parts.iter().zip(&weighted).map(|(part, weighted)| part * weighted).sum::<f64>()).max(LEAST_STANDS_FOR)
    };
    Fit { stands_for: parts.iter().zip(&spans).map(stands_for).collect(), factors: logs.into_iter().map(f64::exp).collect() }
}

/// Where the search stands.
struct State {
    /// By window, each function's part of its time.
    parts: Vec<Vec<f64>>,
    /// Of the differences.
    covariance: Vec<Vec<f64>>,
    /// By function, its part of the clocks' records less that of the windows.
    differences: Vec<f64>,
}

impl State {
    fn of(windows: &[Window], spans: &[f64], ticks: &[f64], logs: &[f64]) -> State {
        let n = ticks.len();
        let parts_of = |window: &Window| -> Vec<f64> {
            let scaled: Vec<f64> = window.work.iter().zip(logs).map(|(ns, log)| ns * log.exp()).collect();
            let sum = scaled.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            scaled.into_iter().map(|ns| ns / sum).collect()
        };
        let parts: Vec<Vec<f64>> = windows.iter().map(parts_of).collect();
        let all_ticks = ticks.iter().sum::<f64>().max(1.0);
        let mut differences: Vec<f64> = ticks.iter().map(|ticks| ticks / all_ticks).collect();
        let mut covariance = vec![vec![0.0; n]; n];
        for (f, row) in covariance.iter_mut().enumerate() {
            // (of a function without any there might have been one)
            row[f] = (ticks[f] + 1.0) / (all_ticks * all_ticks);
        }
        for (parts, span) in parts.iter().zip(spans) {
            for f in (0..n).filter(|&f| parts[f] > 0.0) {
                differences[f] -= span * parts[f];
                (0..n).for_each(|g| covariance[f][g] += span * span * parts[f] * parts[g]);
            }
        }
        State { parts, covariance, differences }
    }
}

/// Solves linear equations of a symmetric positive matrix for several right sides, by elimination.
fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = matrix.len();
    for at in 0..n {
        let (above, below) = matrix.split_at_mut(at + 1);
        let pivot = &above[at];
        for (under, row) in below.iter_mut().enumerate() {
            let times = row[at] / pivot[at];
            if times != 0.0 {
                (at..n).for_each(|column| row[column] -= times * pivot[column]);
                right.iter_mut().for_each(|side| side[at + 1 + under] -= times * side[at]);
            }
        }
    }
    for side in &mut right {
        for at in (0..n).rev() {
            let known: f64 = (at + 1..n).map(|column| matrix[at][column] * side[column]).sum();
            side[at] = (side[at] - known) / matrix[at][at];
        }
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_solved_for_all_right_sides() {
        let solved =
            solve(vec![vec![4.0, 2.0, 0.0], vec![2.0, 5.0, 1.0], vec![0.0, 1.0, 3.0]], vec![vec![8.0, 15.0, 11.0], vec![4.0, 2.0, 0.0]]);
        for (found, expected) in solved.iter().flatten().zip([1.0, 2.0, 3.0, 1.0, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{solved:?}");
        }
    }

    /// The functions' parts of the time, by the windows as they are fitted.
    fn parts(windows: &[Window], fit: &Fit) -> Vec<f64> {
        let mut sums = vec![0.0; fit.factors.len()];
        for (window, stands_for) in windows.iter().zip(&fit.stands_for) {
            let time: Vec<f64> = window.work.iter().zip(&fit.factors).map(|(ns, factor)| ns * factor).collect();
            let all: f64 = time.iter().sum();
            sums.iter_mut().zip(&time).for_each(|(sum, ns)| *sum += ns / all * window.span * stands_for);
        }
        let all: f64 = sums.iter().sum();
        sums.into_iter().map(|sum| sum / all).collect()
    }

    #[test]
    fn of_windows_of_one_function_each_it_is_what_they_stand_for() {
        // By chance 12 windows of one phase and 24 of the other, where the clocks say half and half.
        let windows: Vec<Window> =
            (0..36).map(|at| Window { span: 1e8, work: if at % 3 == 0 { vec![100.0, 0.0] } else { vec![0.0, 100.0] } }).collect();
        let fit = fit(&windows, &[200.0, 200.0]);
        assert!(fit.factors.iter().all(|factor| (factor - 1.0).abs() < 0.05), "{fit:?}");
        let parts = parts(&windows, &fit);
        assert!((parts[0] - 0.5).abs() < 0.03, "{parts:?}");
    }

    #[test]
    fn of_windows_that_are_all_alike_it_is_what_the_work_takes() {
        let windows = vec![Window { span: 1e8, work: vec![50.0, 50.0] }; 36];
        let fit = fit(&windows, &[300.0, 100.0]);
        let ratio = fit.factors[0] / fit.factors[1];
        assert!((2.5..3.1).contains(&ratio), "{fit:?}");
        assert!(fit.stands_for.iter().all(|it| (it - 1.0).abs() < 0.02), "{fit:?}");
    }

    #[test]
    fn what_agrees_with_the_clocks_stays_as_it_is() {
        let windows: Vec<Window> = (0..40).map(|at| Window { span: 1e8, work: vec![100.0, f64::from(at % 2) * 300.0] }).collect();
        let fit = fit(&windows, &[250.0, 150.0]);
        assert!(fit.factors.iter().chain(&fit.stands_for).all(|it| (it - 1.0).abs() < 0.02), "{fit:?}");
        // And of a function that no window saw nothing is made.
        let unseen: Vec<Window> = windows.into_iter().map(|window| Window { work: [window.work, vec![0.0]].concat(), ..window }).collect();
        let fit = super::fit(&unseen, &[250.0, 150.0, 0.0]);
        assert!((fit.factors[2] - 1.0).abs() < 0.1 && fit.factors.iter().all(|factor| factor.is_finite()), "{fit:?}");
    }
}
