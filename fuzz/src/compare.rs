//! Two traces of one module: the same, excused, or different.

use crate::guest::Stop;
use crate::observe::{Seen, Trace};
use crate::values::Value;
use backedge::Trap;
use std::fmt;

/// Why two traces that are not equal are no finding. The whole list: anything else is a difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tolerance {
    /// One of them ran out of stack: how deep that is, is each machine's own. The round's rest is not compared.
    StackDepth,
    /// One of them met a limit of its own or of the system. The round's rest is not compared.
    ResourceLimit,
    /// The payload of a NaN became visible. Only for modules whose generator does not make NaNs canonical, and only if the difference is gone
    /// from the same module when it does.
    NanPayload,
    /// The oracle does not load the module: it lacks a feature.
    OracleLacks,
}

impl Tolerance {
    /// All, with what they mean in a word.
    pub const ALL: [(Tolerance, &'static str); 4] = [
        (Tolerance::StackDepth, "stack depth"),
        (Tolerance::ResourceLimit, "resource limit"),
        (Tolerance::NanPayload, "NaN payload"),
        (Tolerance::OracleLacks, "feature the oracle lacks"),
    ];
}

/// Where two traces part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Round of the schedule.
    pub round: usize,
    /// Entry of the round.
    pub at: String,
    /// What the reference saw.
    pub expected: String,
    /// What the other saw.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}, {}: expected {}, found {}", self.round, self.at, self.expected, self.found)
    }
}

/// Compares a trace with the reference's.
///
/// # Errors
/// The first difference.
pub fn compare(reference: &Trace, other: &Trace) -> Result<Vec<Tolerance>, Difference> {
    let mut tolerances = Vec::new();
    for (round, (expected, found)) in reference.rounds.iter().zip(&other.rounds).enumerate() {
        let mut excused = None;
        for (a, b) in expected.iter().zip(found) {
            excused = excuse(&a.seen, &b.seen);
            if excused.is_some() {
                break;
            }
            if !same(&a.seen, &b.seen) {
                return Err(Difference { round, at: a.what.clone(), expected: a.seen.to_string(), found: b.seen.to_string() });
            }
        }
        tolerances.extend(excused);
    }
    Ok(tolerances)
}

fn excuse(a: &Seen, b: &Seen) -> Option<Tolerance> {
    let is = |wanted: fn(&Stop) -> bool| [a, b].into_iter().any(|seen| matches!(seen, Seen::Stopped(stop) if wanted(stop)));
    if is(|stop| *stop == Stop::Trap(Trap::StackOverflow)) {
        Some(Tolerance::StackDepth)
    } else if is(|stop| matches!(stop, Stop::Limit(_))) {
        Some(Tolerance::ResourceLimit)
    } else {
        None
    }
}

fn same(a: &Seen, b: &Seen) -> bool {
    let all = |a: &[Value], b: &[Value]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b));
    match (a, b) {
        (Seen::Returned(a), Seen::Returned(b)) => all(a, b),
        (Seen::Global(a), Seen::Global(b)) => a.same(b),
        (Seen::Table(size_a, a), Seen::Table(size_b, b)) => size_a == size_b && all(a, b),
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Observation;

    fn trace<const N: usize>(seen: [&Seen; N]) -> Trace {
        let round = seen.into_iter().map(|seen| Observation { what: "f()".into(), seen: seen.clone() }).collect();
        Trace { rounds: vec![round], ..Trace::default() }
    }

    #[test]
    fn only_what_is_listed_is_excused() {
        let one = Seen::Returned(vec![Value::I32(1)]);
        let two = Seen::Returned(vec![Value::I32(2)]);
        let overflow = Seen::Stopped(Stop::Trap(Trap::StackOverflow));
        let trap = Seen::Stopped(Stop::Trap(Trap::UnreachableCodeReached));
        assert_eq!(compare(&trace([&one]), &trace([&one])), Ok(vec![]));
        assert!(compare(&trace([&one]), &trace([&two])).is_err());
        assert!(compare(&trace([&one]), &trace([&trap])).is_err());
        // After an overflow nothing is compared, before it everything.
        let excused = compare(&trace([&overflow, &one]), &trace([&one, &two]));
        assert_eq!(excused, Ok(vec![Tolerance::StackDepth]));
        assert!(compare(&trace([&one, &overflow]), &trace([&two, &overflow])).is_err());
        // NaNs of a width are one value, zeros are two.
        let f32 = |bits| trace([&Seen::Returned(vec![Value::F32(bits)])]);
        assert_eq!(compare(&f32(0x7fc0_0000), &f32(0xffc0_1234)), Ok(vec![]));
        assert!(compare(&f32(0), &f32(0x8000_0000)).is_err());
    }
}
