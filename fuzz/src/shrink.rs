//! A finding's module made small, by taking things out as long as the finding stays.
//!
//! Enters: bytes and a question. Leaves: fewer bytes to which the answer is still yes. What is tried: whole functions as stubs, then runs of
//! operators replaced by drops and zeros of the types that the validator says they take and leave, from long runs to single
//! operators; exports; sections. Indices never change, so what is left is recognisable.

use anyhow::{Context, Result, ensure};
use std::ops::Range;
use wasm_encoder::{CodeSection, ExportKind as Kind, ExportSection, Module, RawSection};
use wasmparser::{ExternalKind, FuncValidatorAllocations, Parser, Payload, ValType, ValidPayload, Validator, WasmFeatures};

/// Makes `wasm` smaller while `interesting` says yes. `progress` is told each new size.
///
/// # Errors
/// `wasm` is not valid, or is not interesting to begin with.
pub fn shrink(wasm: &[u8], interesting: &mut dyn FnMut(&[u8]) -> Result<bool>, progress: &mut dyn FnMut(usize)) -> Result<Vec<u8>> {
    ensure!(interesting(wasm)?, "the finding does not show itself in the module as it is");
    let mut best = Parts::read(wasm)?;
    // As we write it; the bytes may differ from the generator's.
    let mut size = best.bytes().len();
    let mut accept = |parts: &mut Parts, candidate: Parts| -> Result<bool> {
        let bytes = candidate.bytes();
        if bytes.len() >= size || !is_valid(&bytes) || !interesting(&bytes)? {
            return Ok(false);
        }
        size = bytes.len();
        progress(size);
        *parts = candidate;
        Ok(true)
    };
    loop {
        let before = best.bytes().len();
        for id in best.sections.iter().map(|section| section.0).collect::<Vec<_>>() {
            let mut candidate = best.clone();
            candidate.sections.retain(|section| section.0 != id);
            accept(&mut best, candidate)?;
        }
        for at in (0..best.exports.len()).rev() {
            let mut candidate = best.clone();
            candidate.exports.remove(at);
            accept(&mut best, candidate)?;
        }
        for function in 0..best.bodies.len() {
            let operators = best.bodies[function].operators.len();
            // The last operator is the body's `end`.
            if operators > 1 {
                let mut length = operators - 1;
                loop {
                    let mut at = 0;
                    while at + length < best.bodies[function].operators.len() {
                        let candidate = best.without(function, at..at + length);
                        let accepted = match candidate {
                            Some(candidate) => accept(&mut best, candidate)?,
                            None => false,
                        };
                        if !accepted {
                            at += (length / 2).max(1);
                        }
                    }
                    if length == 1 {
                        break;
                    }
                    length /= 2;
                }
            }
            let mut candidate = best.clone();
            candidate.bodies[function].locals = vec![0];
            accept(&mut best, candidate)?;
        }
        if best.bytes().len() >= before {
            return Ok(best.bytes());
        }
    }
}

fn is_valid(bytes: &[u8]) -> bool {
    Validator::new_with_features(WasmFeatures::all()).validate_all(bytes).is_ok()
}

/// A module in pieces that can be taken out.
#[derive(Clone)]
struct Parts {
    /// Id and contents of each section that is kept as it is, in order; exports and code are marked by their ids.
    sections: Vec<(u8, Vec<u8>)>,
    exports: Vec<(String, Kind, u32)>,
    bodies: Vec<Body>,
}

#[derive(Clone)]
struct Body {
    /// The declarations, encoded.
    locals: Vec<u8>,
    /// Each operator, encoded.
    operators: Vec<Vec<u8>>,
}

const EXPORTS: u8 = 7;
const CODE: u8 = 10;

impl Parts {
    fn read(wasm: &[u8]) -> Result<Parts> {
        let mut parts = Parts { sections: Vec::new(), exports: Vec::new(), bodies: Vec::new() };
        for payload in Parser::new(0).parse_all(wasm) {
            let payload = payload?;
            match &payload {
                Payload::ExportSection(section) => {
                    for export in section.clone() {
                        let export = export?;
                        let kind = match export.kind {
                            ExternalKind::Func | ExternalKind::FuncExact => Kind::Func,
                            ExternalKind::Table => Kind::Table,
                            ExternalKind::Memory => Kind::Memory,
                            ExternalKind::Global => Kind::Global,
                            ExternalKind::Tag => Kind::Tag,
                        };
                        parts.exports.push((export.name.to_owned(), kind, export.index));
                    }
                    parts.sections.push((EXPORTS, Vec::new()));
                }
                Payload::CodeSectionStart { .. } => parts.sections.push((CODE, Vec::new())),
                Payload::CodeSectionEntry(body) => {
                    let reader = body.get_operators_reader()?;
                    let start = reader.original_position() as usize;
                    let locals = wasm[body.range().start as usize..start].to_vec();
                    let mut offsets: Vec<usize> = Vec::new();
                    for item in reader.into_iter_with_offsets() {
                        offsets.push(item?.1 as usize);
                    }
                    offsets.push(body.range().end as usize);
                    let operators = offsets.windows(2).map(|pair| wasm[pair[0]..pair[1]].to_vec()).collect();
                    parts.bodies.push(Body { locals, operators });
                }
                Payload::CustomSection(_) => {}
                other => {
                    if let Some((id, range)) = other.as_section() {
                        parts.sections.push((id, wasm[range.start as usize..range.end as usize].to_vec()));
                    }
                }
            }
        }
        Ok(parts)
    }

    fn bytes(&self) -> Vec<u8> {
        let mut module = Module::new();
        for (id, data) in &self.sections {
            match *id {
                EXPORTS => {
                    let mut section = ExportSection::new();
                    for (name, kind, index) in &self.exports {
                        section.export(name, *kind, *index);
                    }
                    module.section(&section);
                }
                CODE => {
                    let mut section = CodeSection::new();
                    for body in &self.bodies {
                        section.raw(&[body.locals.as_slice(), &body.operators.concat()].concat());
                    }
                    module.section(&section);
                }
                id => {
                    module.section(&RawSection { id, data });
                }
            }
        }
        module.finish()
    }

    /// With a run of a function's operators replaced by the least that leaves the same types on the stack; `None` where the run crosses the end
    /// of a block, or needs a value that has no zero.
    fn without(&self, function: usize, run: Range<usize>) -> Option<Parts> {
        let states = states(&self.bytes(), function)?;
        let (before, after) = (states.get(run.start)?, states.get(run.end)?);
        let inside = &states[run.start..=run.end];
        if before.depth != after.depth || inside.iter().any(|state| state.depth < before.depth) {
            return None;
        }
        let kept = inside.iter().map(|state| state.stack.len()).min()?;
        let mut replacement = vec![vec![0x1a]; before.stack.len() - kept];
        for ty in &after.stack[kept..] {
            replacement.push(zero(ty.unwrap_or(ValType::I32))?);
        }
        let mut parts = self.clone();
        parts.bodies[function].operators.splice(run, replacement);
        Some(parts)
    }
}

/// What the validator knows before an operator.
struct State {
    /// Blocks that are open.
    depth: u32,
    /// Types on the operand stack, innermost last; `None` where unreachable code may have any.
    stack: Vec<Option<ValType>>,
}

/// The states before each operator of a body, and after the last but one.
fn states(wasm: &[u8], function: usize) -> Option<Vec<State>> {
    let mut validator = Validator::new_with_features(WasmFeatures::all());
    let mut number = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        if let ValidPayload::Func(function_to_validate, body) = validator.payload(&payload.ok()?).ok()? {
            if number == function {
                let mut validator = function_to_validate.into_validator(FuncValidatorAllocations::default());
                let mut reader = body.get_binary_reader();
                validator.read_locals(&mut reader).ok()?;
                let mut states = Vec::new();
                for item in body.get_operators_reader().ok()?.into_iter_with_offsets() {
                    let (operator, offset) = item.ok()?;
                    let height = validator.operand_stack_height() as usize;
                    let stack = (0..height).rev().map(|depth| validator.get_operand_type(depth).flatten()).collect();
                    states.push(State { depth: validator.control_stack_height(), stack });
                    validator.op(offset, &operator).ok()?;
                }
                return Some(states);
            }
            number += 1;
        }
    }
    None
}

/// An operator that leaves the zero of a type.
fn zero(ty: ValType) -> Option<Vec<u8>> {
    Some(match ty {
        ValType::I32 => vec![0x41, 0],
        ValType::I64 => vec![0x42, 0],
        ValType::F32 => vec![0x43, 0, 0, 0, 0],
        ValType::F64 => vec![0x44, 0, 0, 0, 0, 0, 0, 0, 0],
        ValType::V128 => [&[0xfd, 0x0c][..], &[0; 16]].concat(),
        ty if ty == ValType::FUNCREF => vec![0xd0, 0x70],
        ty if ty == ValType::EXTERNREF => vec![0xd0, 0x6f],
        ValType::Ref(_) => return None,
    })
}

/// The module as text.
///
/// # Errors
/// It does not parse.
pub fn text(wasm: &[u8]) -> Result<String> {
    wasmprinter::print_bytes(wasm).context("failed to print the module")
}

#[cfg(test)]
mod tests {
    use super::*;
    use wasmparser::Operator;

    #[test]
    fn what_matters_is_left_and_little_else() {
        let wasm = wat::parse_str(
            r#"(module (memory 1) (global $g (mut i32) (i32.const 7)) (data (i32.const 0) "abcdef")
                (func (export "other") (param i64) (result i64) (i64.mul (local.get 0) (i64.const 3)))
                (func (export "f") (param i32) (result i32) (local f64 i64)
                    (loop $again
                        (global.set $g (i32.add (global.get $g) (i32.const 1)))
                        (if (i32.gt_s (global.get $g) (i32.const 10)) (then (i32.store (i32.const 4) (i32.shr_s (local.get 0) (i32.const 2)))))
                        (br_if $again (i32.lt_s (global.get $g) (i32.const 100))))
                    (i32.load (i32.const 4))))"#,
        )
        .expect("valid text");
        let has_shift = |wasm: &[u8]| -> Result<bool> {
            for payload in Parser::new(0).parse_all(wasm) {
                if let Payload::CodeSectionEntry(body) = payload? {
                    for operator in body.get_operators_reader()? {
                        if matches!(operator?, Operator::I32ShrS) {
                            return Ok(true);
                        }
                    }
                }
            }
            Ok(false)
        };
        let small = shrink(&wasm, &mut |wasm| has_shift(wasm), &mut |_| {}).expect("it shrinks");
        assert!(has_shift(&small).expect("it parses") && is_valid(&small));
        assert!(small.len() < 60, "{} bytes left of {}: {}", small.len(), wasm.len(), text(&small).expect("it prints"));
    }
}
