//! Real LWP instructions in generated code, for the source `trap`: one small function behind the code for each site.
//!
//! Cranelift has no LWP instructions, and their operands are registers of our choice only at a call. So a site is a call, with Data2 in
//! rdi and Data1 in esi, of `lwpval rdi, esi, imm32; ret` (keeping every register) or of `lwpins rdi, esi, imm32; setc al; movzx eax,
//! al; ret`. Each thunk takes [`BYTES`], starts at a multiple of that, and is the site's own: as many instructions as sites.

use cranelift_codegen::ir::{AbiParam, ExtFuncData, ExternalName, FuncRef, Function, Signature, UserExternalName, types};
use cranelift_codegen::isa::CallConv;

use lwp_feedback::instruction::{LwpInstruction, RegisterOrMemory};

/// Bytes of a thunk's slot. The longest takes 9 + 3 + 3 + 1.
pub(crate) const BYTES: usize = 16;
const _: () = assert!(BYTES > 9 + 3 + 3);

/// Namespace of thunks among the names of a CLIF function; no other is used.
const NAMESPACE: u32 = 1;
const RDI: u8 = 7;
const ESI: u8 = 6;
const INT3: u8 = 0xcc;

/// Which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Instruction {
    Lwpval,
    Lwpins,
}

/// One site's thunk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thunk {
    pub instruction: Instruction,
    pub imm: u32,
    /// Position that records from it have.
    pub location: u32,
}

/// Declares thunk number `number` in a function.
pub(crate) fn declare(function: &mut Function, number: usize, instruction: Instruction) -> FuncRef {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I32)]);
    if instruction == Instruction::Lwpins {
        // A convention that keeps all registers has none for results.
        signature.call_conv = CallConv::SystemV;
        signature.returns.push(AbiParam::new(types::I32));
    }
    let signature = function.import_signature(signature);
    let name = function.declare_imported_user_function(UserExternalName::new(NAMESPACE, number as u32));
    function.import_function(ExtFuncData { name: ExternalName::user(name), signature, colocated: true, patchable: false })
}

/// Appends the thunks to the code; yields the offset of the first. `locations` gets their positions.
pub(crate) fn append(bytes: &mut Vec<u8>, locations: &mut Vec<(u32, u32)>, thunks: &[Thunk]) -> Result<u32, String> {
    if thunks.is_empty() {
        return Ok(bytes.len() as u32);
    }
    // At least one byte before the first: the address before an instruction must not be code of the function.
    bytes.push(INT3);
    bytes.resize(bytes.len().next_multiple_of(BYTES), INT3);
    let first = bytes.len() as u32;
    for thunk in thunks {
        let start = bytes.len();
        let operand = RegisterOrMemory::Register(ESI);
        let instruction = match thunk.instruction {
            Instruction::Lwpval => LwpInstruction::Lwpval { first: RDI, wide: true, operand, imm: thunk.imm },
            Instruction::Lwpins => LwpInstruction::Lwpins { first: RDI, wide: true, operand, imm: thunk.imm },
        };
        bytes.extend(instruction.encode().map_err(|error| format!("an LWP instruction: {error}"))?);
        if thunk.instruction == Instruction::Lwpins {
            bytes.extend([0x0f, 0x92, 0xc0, 0x0f, 0xb6, 0xc0]); // setc al; movzx eax, al
        }
        bytes.push(0xc3);
        bytes.resize(start + BYTES, INT3);
        locations.push((start as u32 - 1, thunk.location));
    }
    Ok(first)
}
