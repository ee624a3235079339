//! The `metadata.code.*` sections (branch hinting and compilation hints proposals): what the module's producer, or an earlier run, said of branches,
//! frequencies and call targets. Advisory: whatever is malformed, or names what is not there, is skipped, never an error.
//!
//! Each section is a vector of (function index, vector of (offset in the body, length, payload)); all numbers are LEB128. `docs/src/policy.md` has
//! the layout of each payload. Enters: sections. Leaves: [`FunctionPrior`]s with offsets in the module.

use lwp_feedback::profile::FunctionPrior;
use std::collections::BTreeMap;
use std::ops::Range;
use wasmparser::BinaryReader;

/// Hints kept of one module; more are skipped. A guess: some 10 for each of 100,000 functions.
const MOST_HINTS: usize = 1 << 20;
/// Targets kept of one call.
const MOST_TARGETS: usize = 16;

enum Kind {
    Branch,
    Frequency,
    Targets,
}

/// What was found, with offsets in bodies.
#[derive(Default)]
pub(super) struct Hints {
    functions: BTreeMap<u32, FunctionPrior>,
    count: usize,
}

impl Hints {
    /// Adds what a custom section says, if it is one of these.
    pub(super) fn read(&mut self, section: &wasmparser::CustomSectionReader<'_>) {
        let kind = match section.name() {
            "metadata.code.branch_hint" => Kind::Branch,
            "metadata.code.instr_freq" => Kind::Frequency,
            "metadata.code.call_targets" => Kind::Targets,
            _ => return,
        };
        // What was read before it went wrong is good.
        let _ = self.read_functions(kind, BinaryReader::new(section.data(), 0));
    }

    fn read_functions(&mut self, kind: Kind, mut reader: BinaryReader<'_>) -> Option<()> {
        for _ in 0..reader.read_var_u32().ok()? {
            let func = reader.read_var_u32().ok()?;
            for _ in 0..reader.read_var_u32().ok()? {
                let offset = reader.read_var_u32().ok()?;
                let length = reader.read_var_u32().ok()? as usize;
                let payload = reader.read_bytes(length).ok()?;
                self.count += 1;
                if self.count > MOST_HINTS {
                    return None;
                }
                let prior = self.functions.entry(func).or_insert_with(|| FunctionPrior { func, ..FunctionPrior::default() });
                match (&kind, payload) {
                    (Kind::Branch, &[taken @ (0 | 1)]) => prior.branches.push((offset, taken == 1)),
                    (Kind::Frequency, &[frequency]) => prior.frequencies.push((offset, frequency)),
                    (Kind::Targets, payload) => {
                        if let Some(targets) = targets(payload) {
                            prior.call_targets.push((offset, targets));
                        }
                    }
                    _ => {}
                }
            }
        }
        Some(())
    }

    /// The hints with offsets in the module, for bodies of defined functions; what lies outside its body is dropped.
    pub(super) fn finish(self, imported: u32, bodies: &[Range<usize>]) -> Vec<FunctionPrior> {
        let place = |prior: FunctionPrior| -> Option<FunctionPrior> {
            let body = bodies.get(prior.func.checked_sub(imported)? as usize)?;
            let at =
                |offset: u32| body.start.checked_add(offset as usize).filter(|at| *at < body.end).and_then(|at| u32::try_from(at).ok());
            Some(FunctionPrior {
                func: prior.func,
                branches: prior.branches.into_iter().filter_map(|(offset, taken)| Some((at(offset)?, taken))).collect(),
                call_targets: prior.call_targets.into_iter().filter_map(|(offset, targets)| Some((at(offset)?, targets))).collect(),
                frequencies: prior.frequencies.into_iter().filter_map(|(offset, byte)| Some((at(offset)?, byte))).collect(),
            })
        };
        self.functions.into_values().filter_map(place).collect()
    }
}

/// Pairs of function index and percent.
fn targets(payload: &[u8]) -> Option<Vec<(u32, u32)>> {
    let mut reader = BinaryReader::new(payload, 0);
    let mut targets = Vec::new();
    while !reader.eof() {
        let target = (reader.read_var_u32().ok()?, reader.read_var_u32().ok()?);
        if targets.len() < MOST_TARGETS {
            targets.push(target);
        }
    }
    // Together at most 100; one that says more says nothing.
    (targets.iter().map(|it| u64::from(it.1)).sum::<u64>() <= 100).then_some(targets)
}

#[cfg(test)]
mod tests {
    use crate::module::Module;

    fn section(name: &str, data: &[u8]) -> String {
        let bytes: String = data.iter().map(|byte| format!("\\{byte:02x}")).collect();
        format!("(@custom \"{name}\" (before code) \"{bytes}\")")
    }

    fn hints(sections: &[String]) -> Module {
        let text = format!(
            "(module (type $t (func)) (table 1 funcref) {} (func (param i32) (if (local.get 0) (then (nop))) (call_indirect (type $t) (i32.const 0))))",
            sections.concat()
        );
        Module::new(text.as_bytes()).expect("hints never make a module invalid")
    }

    #[test]
    fn hints_are_placed_in_the_module() {
        let module = hints(&[
            section("metadata.code.branch_hint", &[1, 0, 1, 3, 1, 1]),
            section("metadata.code.instr_freq", &[1, 0, 1, 3, 1, 40]),
            section("metadata.code.call_targets", &[1, 0, 1, 9, 2, 0, 90]),
        ]);
        let start = module.bodies[0].start as u32;
        let [prior] = &module.hints[..] else { panic!("{:?}", module.hints) };
        assert_eq!((prior.func, &prior.branches[..]), (0, &[(start + 3, true)][..]));
        assert_eq!(prior.frequencies, [(start + 3, 40)]);
        assert_eq!(prior.call_targets, [(start + 9, vec![(0, 90)])]);
    }

    #[test]
    fn what_is_malformed_or_not_there_is_skipped() {
        for data in [&[1, 7, 1, 3, 1, 1][..], &[1, 0, 1, 99, 1, 1], &[1, 0, 9], &[255], &[1, 0, 1, 3, 1, 2], &[]] {
            let module = hints(&[section("metadata.code.branch_hint", data)]);
            assert!(module.hints.iter().all(|prior| prior.branches.is_empty()), "{data:?}");
        }
        let module = hints(&[section("metadata.code.call_targets", &[1, 0, 1, 9, 4, 0, 90, 0, 11])]);
        assert!(module.hints.iter().all(|prior| prior.call_targets.is_empty()));
    }
}
