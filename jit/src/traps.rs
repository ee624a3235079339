//! Trap codes: the machine's ([`vm::trap::TrapCode`]) as Cranelift's user codes, and back.

use cranelift_codegen::ir;
use vm::trap::TrapCode;

/// The code an instruction carries for one of the machine's traps.
pub(crate) fn to_clif(code: TrapCode) -> ir::TrapCode {
    ir::TrapCode::unwrap_user(code as u8)
}

/// [`TrapCode::MemoryOutOfBounds`] of an access whose address lacks its base until the code is laid out anew ([`crate::passes::memory_base`]). Apart from the machine's traps and
/// from markers.
pub(crate) const WITHOUT_BASE: ir::TrapCode = ir::TrapCode::unwrap_user(0x48);

/// The machine's trap for the code of an instruction, Cranelift's own codes included.
pub(crate) fn from_clif(code: ir::TrapCode) -> Option<TrapCode> {
    match code {
        WITHOUT_BASE => Some(TrapCode::MemoryOutOfBounds),
        ir::TrapCode::STACK_OVERFLOW => Some(TrapCode::StackOverflow),
        ir::TrapCode::INTEGER_OVERFLOW => Some(TrapCode::IntegerOverflow),
        ir::TrapCode::HEAP_OUT_OF_BOUNDS => Some(TrapCode::MemoryOutOfBounds),
        ir::TrapCode::INTEGER_DIVISION_BY_ZERO => Some(TrapCode::IntegerDivisionByZero),
        ir::TrapCode::BAD_CONVERSION_TO_INTEGER => Some(TrapCode::BadConversionToInteger),
        other => TrapCode::from_number(other.as_raw().get()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_the_round_trip() {
        for code in TrapCode::ALL {
            assert_eq!(from_clif(to_clif(code)), Some(code));
        }
    }
}
