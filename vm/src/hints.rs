//! What was learnt, in the form other engines read: the `metadata.code.*` sections of the branch hinting and compilation hints proposals.
//!
//! Enters: a profile. Leaves: [`FunctionPrior`]s, and a copy of the module that holds them. `crate::module` reads the same sections back.

use crate::module::Module;
use lwp_feedback::class::SiteClass;
use lwp_feedback::profile::{FunctionPrior, FunctionSnapshot, Snapshot};
use std::collections::HashSet;
use wasmparser::Operator;

/// Fewer samples say nothing. As the policy's default.
const LEAST_SAMPLES: u64 = 64;
/// Share from which a branch is hinted.
const LEAST_SHARE: f64 = 0.8;

/// What a profile says about a module's functions that these sections can hold.
pub fn of_profile(snapshot: &Snapshot, module: &Module) -> Vec<FunctionPrior> {
    let mut priors: Vec<FunctionPrior> = snapshot.functions.iter().map(of_function).collect();
    priors.retain_mut(|prior| {
        let Some(body) = module.defined(prior.func).and_then(|own| module.bodies.get(own)) else {
            return false;
        };
        // A profile may come from anywhere: only offsets of this body. And it knows more kinds of branches than the proposal has hints for.
        let inside = |offset: u32| body.contains(&(offset as usize));
        let two_way = two_way_branches(module, prior.func);
        prior.branches.retain(|it| two_way.contains(&it.0));
        prior.frequencies.retain(|it| inside(it.0));
        prior.call_targets.retain_mut(|(offset, targets)| {
            targets.retain(|target| (target.0 as usize) < module.functions.len());
            inside(*offset) && !targets.is_empty()
        });
        !(prior.branches.is_empty() && prior.frequencies.is_empty() && prior.call_targets.is_empty())
    });
    priors.sort_by_key(|prior| prior.func);
    priors
}

/// Offsets of the operators that `metadata.code.branch_hint` may name: `if` and `br_if`.
fn two_way_branches(module: &Module, function: u32) -> HashSet<u32> {
    let Ok(operators) = module.body(function).get_operators_reader() else { return HashSet::new() };
    let two_way = operators.into_iter_with_offsets().filter_map(|operator| match operator {
        Ok((Operator::If { .. } | Operator::BrIf { .. }, offset)) => Some(offset as u32),
        _ => None,
    });
    two_way.collect()
}

fn of_function(function: &FunctionSnapshot) -> FunctionPrior {
    let mut prior = FunctionPrior { func: function.func, ..FunctionPrior::default() };
    for branch in &function.branches {
        let [taken, not_taken] = branch.ways();
        let total = branch.seen();
        let likely = taken.max(not_taken) as f64 / total.max(1) as f64;
        if total >= LEAST_SAMPLES && likely >= LEAST_SHARE {
            prior.branches.push((branch.offset, taken > not_taken));
        }
    }
    // Calls of the function that the ring sampled: each reads its first parameter once.
    let calls = function.sites.iter().find(|site| site.key.class == SiteClass::Param && site.key.detail == 0).map(|site| site.total);
    for site in &function.sites {
        if !matches!(site.key.class, SiteClass::CallTarget | SiteClass::SwitchIndex) || site.total < LEAST_SAMPLES {
            continue;
        }
        if let Some(calls) = calls.filter(|&calls| calls >= LEAST_SAMPLES) {
            prior.frequencies.push((site.key.offset, frequency(site.total as f64 / calls as f64)));
        }
        if site.key.class == SiteClass::CallTarget {
            let percent = |certain: u64| (certain.min(site.total) as f64 * 100.0 / site.total as f64).floor() as u32;
            let mut left = 100;
            let mut targets = Vec::new();
            for value in &site.values {
                let share = percent(value.certain()).min(left);
                if let (Ok(callee), 1..) = (u32::try_from(value.value), share) {
                    left -= share;
                    targets.push((callee, share));
                }
            }
            prior.call_targets.push((site.key.offset, targets));
        }
    }
    prior.branches.sort_unstable();
    prior.frequencies.sort_unstable();
    prior.call_targets.sort_unstable();
    prior
}

/// The byte of `instr_freq`: 32 is once a call, each step doubles; 1 to 64. Both counts are samples: what runs once a call is as often just below as just above it.
fn frequency(per_call: f64) -> u8 {
    (per_call.log2().round() + 32.0).clamp(1.0, 64.0) as u8
}

/// The module with these hints in front of its code section, in place of those it has. `None` if its sections cannot be told apart.
pub fn into_module(wasm: &[u8], priors: &[FunctionPrior], module: &Module) -> Option<Vec<u8>> {
    const CODE: u8 = 10;
    let new = sections(priors, module);
    let mut out = wasm.get(..8)?.to_vec();
    let mut at = 8;
    let mut placed = false;
    while at < wasm.len() {
        let start = at;
        let id = wasm[at];
        at += 1;
        let length = read_leb(wasm, &mut at)? as usize;
        let end = at.checked_add(length).filter(|&end| end <= wasm.len())?;
        let name = if id == 0 { section_name(wasm, at, end) } else { None };
        if id == CODE {
            new.iter().for_each(|section| out.extend_from_slice(section));
            placed = true;
        }
        if !name.is_some_and(|name| NAMES.contains(&name)) {
            out.extend_from_slice(&wasm[start..end]);
        }
        at = end;
    }
    // Without code there is nothing to say about it.
    placed.then_some(out)
}

const NAMES: [&str; 3] = ["metadata.code.branch_hint", "metadata.code.instr_freq", "metadata.code.call_targets"];

fn section_name(wasm: &[u8], mut at: usize, end: usize) -> Option<&str> {
    let length = read_leb(wasm, &mut at)? as usize;
    std::str::from_utf8(wasm.get(at..at.checked_add(length).filter(|&it| it <= end)?)?).ok()
}

/// Custom sections, whole, those without a hint left out.
fn sections(priors: &[FunctionPrior], module: &Module) -> Vec<Vec<u8>> {
    let in_body = |prior: &FunctionPrior, offset: u32| -> Option<u32> {
        let body = module.bodies.get(module.defined(prior.func)?)?;
        u32::try_from((offset as usize).checked_sub(body.start)?).ok()
    };
    let payloads = |name: &str, prior: &FunctionPrior| -> Vec<(u32, Vec<u8>)> {
        match name {
            "metadata.code.branch_hint" => {
                prior.branches.iter().filter_map(|&(offset, taken)| Some((in_body(prior, offset)?, vec![u8::from(taken)]))).collect()
            }
            "metadata.code.instr_freq" => {
                prior.frequencies.iter().filter_map(|&(offset, byte)| Some((in_body(prior, offset)?, vec![byte]))).collect()
            }
            _ => prior
                .call_targets
                .iter()
                .filter_map(|(offset, targets)| {
                    let mut payload = Vec::new();
                    for &(callee, percent) in targets {
                        leb(&mut payload, callee);
                        leb(&mut payload, percent);
                    }
                    Some((in_body(prior, *offset)?, payload))
                })
                .collect(),
        }
    };
    let section = |name: &str| -> Option<Vec<u8>> {
        let functions: Vec<_> =
            priors.iter().map(|prior| (prior.func, payloads(name, prior))).filter(|(_, hints)| !hints.is_empty()).collect();
        if functions.is_empty() {
            return None;
        }
        let mut data = Vec::new();
        leb(&mut data, name.len() as u32);
        data.extend_from_slice(name.as_bytes());
        leb(&mut data, functions.len() as u32);
        for (func, hints) in functions {
            leb(&mut data, func);
            leb(&mut data, hints.len() as u32);
            for (offset, payload) in hints {
                leb(&mut data, offset);
                leb(&mut data, payload.len() as u32);
                data.extend_from_slice(&payload);
            }
        }
        let mut whole = vec![0];
        leb(&mut whole, data.len() as u32);
        whole.append(&mut data);
        Some(whole)
    };
    NAMES.iter().filter_map(|name| section(name)).collect()
}

/// Unsigned LEB128.
fn leb(out: &mut Vec<u8>, mut value: u32) {
    loop {
        let byte = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(byte);
            return;
        }
        out.push(byte | 0x80);
    }
}

fn read_leb(bytes: &[u8], at: &mut usize) -> Option<u32> {
    let mut value = 0u64;
    for shift in (0..35).step_by(7) {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return u32::try_from(value).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use lwp_feedback::profile::{BranchSnapshot, SiteKey, SiteSnapshot, ValueCount};

    #[test]
    fn what_is_written_is_read_back_and_the_module_is_the_same() {
        let text = r#"(module (type $t (func)) (table 1 funcref) (@custom "other" (before code) "x")
            (@custom "metadata.code.branch_hint" (before code) "\01\00\01\03\01\00")
            (func (param i32) (if (local.get 0) (then (nop))) (call_indirect (type $t) (i32.const 0))))"#;
        let module = Module::new(text.as_bytes()).unwrap();
        let start = module.bodies[0].start as u32;
        let site = |class, offset, total, values: &[(u64, u64)]| SiteSnapshot {
            key: SiteKey { offset, class, detail: 0 },
            total,
            values: values.iter().map(|&(value, count)| ValueCount { value, count, error: 0 }).collect(),
        };
        let function = FunctionSnapshot {
            records: 1000,
            // (the second is the call)
            branches: [3, 9].map(|at| BranchSnapshot { offset: start + at, taken: 95, not_taken: 5, ..BranchSnapshot::default() }).into(),
            sites: vec![
                site(SiteClass::CallTarget, start + 9, 800, &[(0, 720), (1 << 40, 80)]),
                site(SiteClass::Param, start, 100, &[(7, 100)]),
            ],
            ..FunctionSnapshot::default()
        };
        let snapshot = Snapshot { module: module.hash, functions: vec![function], ..Snapshot::default() };
        let priors = of_profile(&snapshot, &module);
        let [prior] = &priors[..] else { panic!("{priors:?}") };
        assert_eq!((&prior.branches[..], &prior.frequencies[..]), (&[(start + 3, true)][..], &[(start + 9, 35)][..]));
        assert_eq!(prior.call_targets, [(start + 9, vec![(0, 90)])]);
        let out = into_module(module.bytes(), &priors, &module).unwrap();
        let again = Module::new(&out).unwrap();
        let moved = (again.bodies[0].start - module.bodies[0].start) as u32;
        assert_eq!(again.hints[0].branches, [(start + 3 + moved, true)]);
        assert_eq!(again.hints[0].call_targets, [(start + 9 + moved, vec![(0, 90)])]);
        assert_eq!(again.hints[0].frequencies, [(start + 9 + moved, 35)]);
        assert_eq!(again.bytes()[again.bodies[0].clone()], module.bytes()[module.bodies[0].clone()]);
        assert_eq!(out.windows(5).filter(|it| it == b"other").count(), 1);
    }

    #[test]
    fn frequencies_are_logarithms() {
        assert_eq!([1.0, 2.0, 0.5, 1e30, 1e-30].map(frequency), [32, 33, 31, 64, 1]);
        assert_eq!([0.9, 0.97, 1.1, 7.6].map(frequency), [32, 32, 32, 35]);
    }
}
