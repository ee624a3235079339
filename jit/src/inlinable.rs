//! Which functions may be translated in place of their calls.

use lwp_feedback::profile::NotInlinable;
use vm::module::Module;
use wasmparser::{Operator, ValType};

use crate::translate::numeric::is_numeric;

/// Largest body inlined behind a guard, bytes. A guess: about 40 operators, a few cache lines of code per site.
pub(crate) const MOST_BYTES: usize = 100;
/// Largest body inlined without feedback, bytes. A guess: about the code of the call itself.
pub(crate) const MOST_BYTES_STATIC: usize = 40;
/// Most locals, parameters included.
const MOST_LOCALS: usize = 64;

/// `Ok` if a function of the module may be inlined, else why not. It must be defined here, short, without loops (an inlined loop has no
/// frame to leave with at its poll) and without calls.
pub(crate) fn inlinable(module: &Module, function: u32) -> Result<(), NotInlinable> {
    let Some(index) = module.defined(function) else {
        return Err(NotInlinable::Imported);
    };
    let Some(range) = module.bodies.get(index) else {
        return Err(NotInlinable::NotTranslatable);
    };
    if range.len() > MOST_BYTES {
        return Err(NotInlinable::TooLarge);
    }
    let ty = module.function_type(function);
    if ty.params().iter().chain(ty.results()).any(|ty| *ty == ValType::V128) {
        return Err(NotInlinable::UnsupportedOperator);
    }
    let body = module.body(function);
    let unreadable = |_: wasmparser::BinaryReaderError| NotInlinable::NotTranslatable;
    let mut locals = ty.params().len();
    for entry in body.get_locals_reader().map_err(unreadable)? {
        let (count, ty) = entry.map_err(unreadable)?;
        locals += count as usize;
        if ty == ValType::V128 {
            return Err(NotInlinable::UnsupportedOperator);
        }
    }
    if locals > MOST_LOCALS {
        return Err(NotInlinable::TooLarge);
    }
    let mut reader = body.get_operators_reader().map_err(unreadable)?;
    while !reader.eof() {
        check(&reader.read().map_err(unreadable)?)?;
    }
    Ok(())
}

fn check(operator: &Operator<'_>) -> Result<(), NotInlinable> {
    use Operator::*;
    match operator {
        Loop { .. } => Err(NotInlinable::HasLoop),
        Call { .. } | CallIndirect { .. } => Err(NotInlinable::HasCall),
        Unreachable
        | Nop
        | Block { .. }
        | If { .. }
        | Else
        | End
        | Br { .. }
        | BrIf { .. }
        | BrTable { .. }
        | Return
        | Drop
        | Select
        | TypedSelect { .. }
        | LocalGet { .. }
        | LocalSet { .. }
        | LocalTee { .. }
        | GlobalGet { .. }
        | GlobalSet { .. }
        | I32Load { .. }
        | I64Load { .. }
        | F32Load { .. }
        | F64Load { .. }
        | I32Load8S { .. }
        | I32Load8U { .. }
        | I32Load16S { .. }
        | I32Load16U { .. }
        | I64Load8S { .. }
        | I64Load8U { .. }
        | I64Load16S { .. }
        | I64Load16U { .. }
        | I64Load32S { .. }
        | I64Load32U { .. }
        | I32Store { .. }
        | I64Store { .. }
        | F32Store { .. }
        | F64Store { .. }
        | I32Store8 { .. }
        | I32Store16 { .. }
        | I64Store8 { .. }
        | I64Store16 { .. }
        | I64Store32 { .. }
        | MemorySize { .. }
        | TableGet { .. }
        | TableSize { .. }
        | RefNull { .. }
        | RefIsNull
        | RefFunc { .. } => Ok(()),
        other if is_numeric(other) => Ok(()),
        _ => Err(NotInlinable::UnsupportedOperator),
    }
}
