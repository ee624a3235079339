//! Which functions may be translated in place of their calls.

use lwp_feedback::profile::NotInlinable;
use vm::module::Module;
use wasmparser::{BinaryReaderError, Operator, ValType};

use crate::translate::numeric::is_numeric;
use crate::translate::vector::is_vector;

/// Largest body inlined without feedback, bytes. A guess: about the code of the call itself.
pub(crate) const MOST_BYTES_STATIC: usize = 40;
/// Largest body inlined into itself without feedback, bytes. A guess: `fib` has some 40.
pub(crate) const MOST_BYTES_RECURSIVE: usize = 100;
/// Largest body that a plan may have inlined, bytes; the policy has a limit of its own. A guess.
const MOST_BYTES: usize = 1000;
/// Most locals, parameters included.
const MOST_LOCALS: usize = 64;

/// What stands in an inlinable body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shape {
    pub loops: bool,
    pub calls: bool,
}

/// What an inlinable function of the module looks like, or why it is none. It must be defined here and not long.
pub(crate) fn inlinable(module: &Module, function: u32) -> Result<Shape, NotInlinable> {
    let Some(index) = module.defined(function) else {
        return Err(NotInlinable::Imported);
    };
    let Some(range) = module.bodies.get(index) else {
        return Err(NotInlinable::NotTranslatable);
    };
    if range.len() > MOST_BYTES {
        return Err(NotInlinable::TooLarge);
    }
    locals(module, function)?;
    let body = module.body(function);
    let mut shape = Shape::default();
    let mut reader = body.get_operators_reader().map_err(unreadable)?;
    while !reader.eof() {
        let operator = reader.read().map_err(unreadable)?;
        shape.loops |= matches!(operator, Operator::Loop { .. });
        shape.calls |= matches!(operator, Operator::Call { .. } | Operator::CallIndirect { .. });
        check(&operator)?;
    }
    Ok(shape)
}

/// Types of a function's locals, parameters first, if there are few.
pub(crate) fn locals(module: &Module, function: u32) -> Result<Vec<ValType>, NotInlinable> {
    let mut locals = module.function_type(function).params().to_vec();
    for entry in module.body(function).get_locals_reader().map_err(unreadable)? {
        let (count, ty) = entry.map_err(unreadable)?;
        if locals.len() + count as usize > MOST_LOCALS {
            return Err(NotInlinable::TooLarge);
        }
        locals.extend(std::iter::repeat_n(ty, count as usize));
    }
    if locals.len() > MOST_LOCALS { Err(NotInlinable::TooLarge) } else { Ok(locals) }
}

fn unreadable(_: BinaryReaderError) -> NotInlinable {
    NotInlinable::NotTranslatable
}

/// Whether a direct call of a function is to be replaced by its body without feedback: it is about as short as the call.
pub(crate) fn inlined_without_feedback(module: &Module, function: u32) -> bool {
    let bytes = module.defined(function).and_then(|own| module.bodies.get(own)).map_or(usize::MAX, |body| body.len());
    bytes <= MOST_BYTES_STATIC && inlinable(module, function) == Ok(Shape::default())
}

fn check(operator: &Operator<'_>) -> Result<(), NotInlinable> {
    use Operator::*;
    match operator {
        Unreachable
        | Nop
        | Block { .. }
        | Loop { .. }
        | Call { .. }
        | CallIndirect { .. }
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
        | MemorySize { .. }
        | MemoryGrow { .. }
        | MemoryCopy { .. }
        | MemoryFill { .. }
        | TableGet { .. }
        | TableSize { .. }
        | RefNull { .. }
        | RefIsNull
        | RefFunc { .. } => Ok(()),
        other if is_numeric(other) || is_vector(other) || is_load(other) || is_store(other) => Ok(()),
        _ => Err(NotInlinable::UnsupportedOperator),
    }
}

/// Whether an operator loads a number from a memory.
pub(crate) fn is_load(operator: &Operator<'_>) -> bool {
    use Operator::*;
    matches!(
        operator,
        I32Load { .. }
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
    )
}

/// Whether an operator stores a number to a memory.
pub(crate) fn is_store(operator: &Operator<'_>) -> bool {
    use Operator::*;
    matches!(
        operator,
        I32Store { .. }
            | I64Store { .. }
            | F32Store { .. }
            | F64Store { .. }
            | I32Store8 { .. }
            | I32Store16 { .. }
            | I64Store8 { .. }
            | I64Store16 { .. }
            | I64Store32 { .. }
    )
}
