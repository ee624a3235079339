//! Runs a module in a machine by a fixed schedule and writes down all that can be seen.
//!
//! Enters: a [`Case`] and a [`Machine`]. Leaves: a [`Trace`]. The schedule is of the case alone, so traces of two machines have the same
//! entries in the same places until the machines differ. Each round has a fresh instance of the same loaded module: code and profile
//! live on, while a guest that ran out of fuel starts anew.

use crate::case::{Case, ExportKind, Shape};
use crate::guest::{Guest, Machine, Stop};
use crate::host::Host;
use crate::random::{Random, mix};
use crate::values::{Value, list};
use std::fmt;

/// What was seen at one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// An instantiation or a call that came back.
    Returned(Vec<Value>),
    /// One that did not.
    Stopped(Stop),
    /// A global's value.
    Global(Value),
    /// Pages and hash of a memory.
    Memory(u64, u64),
    /// Size and first elements of a table.
    Table(u64, Vec<Value>),
    /// Calls of imports so far, and the hash of their arguments.
    Host(u64, u64),
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Seen::Returned(values) => write!(f, "[{}]", list(values)),
            Seen::Stopped(stop) => stop.fmt(f),
            Seen::Global(value) => value.fmt(f),
            Seen::Memory(pages, hash) => write!(f, "{pages} pages, bytes hash to {hash:016x}"),
            Seen::Table(size, elements) => write!(f, "{size} elements: {}", list(elements)),
            Seen::Host(calls, hash) => write!(f, "{calls} calls of imports, arguments hash to {hash:016x}"),
        }
    }
}

/// One entry of a trace.
#[derive(Clone, Debug)]
pub struct Observation {
    /// Where in the schedule.
    pub what: String,
    /// What was seen.
    pub seen: Seen,
}

/// All that was seen of one module in one machine, by round.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Entries of each round.
    pub rounds: Vec<Vec<Observation>>,
    /// Calls of exported functions that were made.
    pub executions: u64,
    /// Those of them that returned: what a trap cuts off is not tested.
    pub returned: u64,
    /// See [`Loaded::own_errors`](crate::guest::Loaded::own_errors).
    pub own_errors: Vec<String>,
    /// See [`Loaded::applied`](crate::guest::Loaded::applied).
    pub applied: Vec<(&'static str, bool)>,
    /// See [`Loaded::notes`](crate::guest::Loaded::notes).
    pub notes: String,
}

/// Name of the entry of an instantiation; no export that is called is shown without parentheses.
const INSTANTIATE: &str = "instantiate";

/// Runs the schedule.
///
/// # Errors
/// The machine does not load the module.
pub fn observe(machine: &dyn Machine, case: &Case, shape: &Shape) -> Result<Trace, String> {
    let loaded = machine.load(&case.wasm)?;
    let mut trace = Trace::default();
    for round in 0..case.rounds {
        let mut random = Random::new(mix(case.seed, u64::from(round)));
        let mut seen = Vec::new();
        match loaded.instantiate(Host::new(random.bits())) {
            Ok(mut guest) => {
                seen.push(Observation { what: INSTANTIATE.into(), seen: Seen::Returned(Vec::new()) });
                trace.executions += calls(&mut *guest, shape, round, &mut random, &mut seen);
                state(&mut *guest, shape, &mut seen);
            }
            Err(stop) => seen.push(Observation { what: INSTANTIATE.into(), seen: Seen::Stopped(stop) }),
        }
        trace.rounds.push(seen);
    }
    let came_back = |seen: &&Observation| matches!(seen.seen, Seen::Returned(_)) && seen.what != INSTANTIATE;
    trace.returned = trace.rounds.iter().flatten().filter(came_back).count() as u64;
    trace.own_errors = loaded.own_errors();
    trace.applied = loaded.applied();
    trace.notes = loaded.notes();
    Ok(trace)
}

/// Calls every exported function once, in an order of the round's own, some of them more often.
fn calls(guest: &mut dyn Guest, shape: &Shape, round: u32, random: &mut Random, seen: &mut Vec<Observation>) -> u64 {
    let mut order: Vec<usize> = Vec::new();
    for (index, export) in shape.exports.iter().enumerate() {
        if matches!(export.kind, ExportKind::Func(..)) && !export.refuels() {
            order.extend(std::iter::repeat_n(index, 1 + usize::from(random.once_in(4)) * 2));
        }
    }
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    let refuel: Vec<&str> = shape.exports.iter().filter(|export| export.refuels()).map(|export| export.name.as_str()).collect();
    let mut executions = 0;
    for index in order {
        let export = &shape.exports[index];
        let ExportKind::Func(params, results) = &export.kind else { unreachable!("only functions were taken") };
        let arguments: Option<Vec<Value>> =
            params.iter().map(|&ty| if round == 0 { Value::zero(ty) } else { Value::random(ty, random) }).collect();
        let Some(arguments) = arguments else { continue };
        executions += 1;
        for refuel in &refuel {
            // It cannot fail, and if it does the calls behind it tell.
            let _ = guest.call(refuel, &[], &[]);
        }
        let outcome = match guest.call(&export.name, &arguments, results) {
            Ok(values) => Seen::Returned(values),
            Err(stop) => Seen::Stopped(stop),
        };
        seen.push(Observation { what: format!("{}({})", export.name, list(&arguments)), seen: outcome });
    }
    executions
}

/// Everything that outlives a call.
fn state(guest: &mut dyn Guest, shape: &Shape, seen: &mut Vec<Observation>) {
    for export in &shape.exports {
        let state = match export.kind {
            ExportKind::Func(..) | ExportKind::Other => continue,
            ExportKind::Global => Seen::Global(guest.global(&export.name)),
            ExportKind::Memory => {
                let (pages, hash) = guest.memory(&export.name);
                Seen::Memory(pages, hash)
            }
            ExportKind::Table => {
                let (size, elements) = guest.table(&export.name);
                Seen::Table(size, elements)
            }
        };
        seen.push(Observation { what: format!("{:?} {}", export.kind, export.name), seen: state });
    }
    let host = guest.host();
    seen.push(Observation { what: "host".into(), seen: Seen::Host(host.calls, host.hash) });
}
