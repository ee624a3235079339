//! The four LWP instructions: encoder for all register and memory forms, decoder through iced-x86.
//!
//! XOP: `8F`, `R̅X̅B̅.mmmmm`, `W.v̅v̅v̅v̅.L.pp`, opcode 12, ModRM. Map 9 holds LLWPCB /0 and SLWPCB /1 (register only), map A LWPINS /0 and LWPVAL /1
//! with an imm32 of which the processor keeps 16 bits. (binutils 2.40, iced; the 16-bit forms of 2009 copies are withdrawn.)

use iced_x86::{Code, Decoder, DecoderOptions, OpKind, Register};

/// Segment override of a memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment {
    /// FS.
    Fs,
    /// GS.
    Gs,
}

/// A memory operand. Register numbers are 0 to 15 (rAX, rCX, rDX, rBX, rSP, rBP, rSI, rDI, r8..).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    /// Base register.
    pub base: Option<u8>,
    /// Index register, not rSP, and its scale: 1, 2, 4 or 8.
    pub index: Option<(u8, u8)>,
    /// Displacement; from the end of the instruction when `rip`.
    pub displacement: i32,
    /// RIP-relative: no base, no index.
    pub rip: bool,
    /// FS or GS.
    pub segment: Option<Segment>,
    /// 32-bit address registers in 64-bit mode (prefix 67).
    pub address32: bool,
}

/// The r/m32 operand of LWPINS and LWPVAL, Data1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterOrMemory {
    /// A 32-bit register, 0 to 15.
    Register(u8),
    /// A dword.
    Memory(Memory),
}

/// An LWP instruction. `wide` is the 64-bit form of the first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LwpInstruction {
    /// LLWPCB register.
    Llwpcb {
        /// Register.
        register: u8,
        /// 64-bit.
        wide: bool,
    },
    /// SLWPCB register.
    Slwpcb {
        /// Register.
        register: u8,
        /// 64-bit.
        wide: bool,
    },
    /// LWPINS first, r/m32, imm32.
    Lwpins {
        /// Register of Data2.
        first: u8,
        /// 64-bit.
        wide: bool,
        /// Data1.
        operand: RegisterOrMemory,
        /// Flags.
        imm: u32,
    },
    /// LWPVAL first, r/m32, imm32.
    Lwpval {
        /// Register of Data2.
        first: u8,
        /// 64-bit.
        wide: bool,
        /// Data1.
        operand: RegisterOrMemory,
        /// Flags.
        imm: u32,
    },
}

/// An operand that has no encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A register number above 15.
    #[error("register {0}: expected 0 to 15")]
    Register(u8),
    /// rSP cannot be an index.
    #[error("register 4 cannot be an index")]
    StackPointerIndex,
    /// Another scale.
    #[error("scale {0}: expected 1, 2, 4 or 8")]
    Scale(u8),
    /// RIP-relative with a base or an index.
    #[error("a rip-relative operand has neither base nor index")]
    RipWithRegisters,
    /// Segment override, address size, SIB and a 32-bit displacement together.
    #[error("{0} bytes: an instruction has at most 15")]
    TooLong(usize),
}

struct Xop {
    map: u8,
    digit: u8,
    wide: bool,
    /// The vvvv register; 0 encodes as 1111.
    vvvv: u8,
}

impl Xop {
    fn prefix(&self, bytes: &mut Vec<u8>, x: u8, b: u8) {
        bytes.push(0x8F);
        // R extends ModRM.reg, which holds a digit: never used. The three bits are stored inverted.
        bytes.push(0x80 | (u8::from(x < 8) << 6) | (u8::from(b < 8) << 5) | self.map);
        bytes.push(u8::from(self.wide) << 7 | (!self.vvvv & 15) << 3);
        bytes.push(0x12);
    }

    fn register(&self, bytes: &mut Vec<u8>, register: u8) -> Result<(), EncodeError> {
        check(register)?;
        self.prefix(bytes, 0, register);
        bytes.push(0xC0 | self.digit << 3 | register & 7);
        Ok(())
    }

    fn memory(&self, bytes: &mut Vec<u8>, memory: &Memory) -> Result<(), EncodeError> {
        if let Some(segment) = memory.segment {
            bytes.push(if segment == Segment::Fs { 0x64 } else { 0x65 });
        }
        if memory.address32 {
            bytes.push(0x67);
        }
        let digit = self.digit << 3;
        let displacement = memory.displacement.to_le_bytes();
        if memory.rip {
            if memory.base.is_some() || memory.index.is_some() {
                return Err(EncodeError::RipWithRegisters);
            }
            self.prefix(bytes, 0, 0);
            bytes.push(digit | 5);
            bytes.extend(displacement);
            return Ok(());
        }
        if let Some((index, scale)) = memory.index {
            check(index)?;
            if index == 4 {
                return Err(EncodeError::StackPointerIndex);
            }
            if !matches!(scale, 1 | 2 | 4 | 8) {
                return Err(EncodeError::Scale(scale));
            }
        }
        let (index, scale) = memory.index.unwrap_or((4, 1));
        let scale = scale.trailing_zeros() as u8;
        let Some(base) = memory.base else {
            // SIB without base: always a 32-bit displacement.
            self.prefix(bytes, index, 0);
            bytes.extend([digit | 4, scale << 6 | (index & 7) << 3 | 5]);
            bytes.extend(displacement);
            return Ok(());
        };
        check(base)?;
        self.prefix(bytes, index, base);
        // rBP and r13 as base have no form without displacement.
        let (mode, length) = match memory.displacement {
            0 if base & 7 != 5 => (0, 0),
            -128..=127 => (0x40, 1),
            _ => (0x80, 4),
        };
        if memory.index.is_some() || base & 7 == 4 {
            bytes.extend([mode | digit | 4, scale << 6 | (index & 7) << 3 | base & 7]);
        } else {
            bytes.push(mode | digit | base & 7);
        }
        bytes.extend(&displacement[..length]);
        Ok(())
    }
}

fn check(register: u8) -> Result<(), EncodeError> {
    if register < 16 { Ok(()) } else { Err(EncodeError::Register(register)) }
}

impl LwpInstruction {
    /// The instruction's bytes in 64-bit mode; with registers below 8 and `wide` off the same bytes serve 32-bit mode.
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::with_capacity(15);
        match *self {
            Self::Llwpcb { register, wide } => Xop { map: 9, digit: 0, wide, vvvv: 0 }.register(&mut bytes, register)?,
            Self::Slwpcb { register, wide } => Xop { map: 9, digit: 1, wide, vvvv: 0 }.register(&mut bytes, register)?,
            Self::Lwpins { first, wide, operand, imm } => encode_programmed(&mut bytes, 0, first, wide, operand, imm)?,
            Self::Lwpval { first, wide, operand, imm } => encode_programmed(&mut bytes, 1, first, wide, operand, imm)?,
        }
        if bytes.len() > 15 {
            return Err(EncodeError::TooLong(bytes.len()));
        }
        Ok(bytes)
    }

    /// Decodes the LWP instruction at the start of `bytes`, in 64-bit (or 32-bit) mode, and its length. `None` for anything else.
    pub fn decode(bytes: &[u8], bitness: u32) -> Option<(Self, usize)> {
        let mut decoder = Decoder::with_ip(bitness, bytes, 0, DecoderOptions::NONE);
        let instruction = decoder.decode();
        let first = || number(instruction.op0_register());
        let operand = || match instruction.op1_kind() {
            OpKind::Register => Some(RegisterOrMemory::Register(number(instruction.op1_register())?)),
            OpKind::Memory => memory_operand(&instruction, bitness).map(RegisterOrMemory::Memory),
            _ => None,
        };
        let imm = instruction.immediate32();
        let decoded = match instruction.code() {
            Code::XOP_Llwpcb_r32 => Self::Llwpcb { register: first()?, wide: false },
            Code::XOP_Llwpcb_r64 => Self::Llwpcb { register: first()?, wide: true },
            Code::XOP_Slwpcb_r32 => Self::Slwpcb { register: first()?, wide: false },
            Code::XOP_Slwpcb_r64 => Self::Slwpcb { register: first()?, wide: true },
            Code::XOP_Lwpins_r32_rm32_imm32 => Self::Lwpins { first: first()?, wide: false, operand: operand()?, imm },
            Code::XOP_Lwpins_r64_rm32_imm32 => Self::Lwpins { first: first()?, wide: true, operand: operand()?, imm },
            Code::XOP_Lwpval_r32_rm32_imm32 => Self::Lwpval { first: first()?, wide: false, operand: operand()?, imm },
            Code::XOP_Lwpval_r64_rm32_imm32 => Self::Lwpval { first: first()?, wide: true, operand: operand()?, imm },
            _ => return None,
        };
        Some((decoded, instruction.len()))
    }
}

fn encode_programmed(
    bytes: &mut Vec<u8>,
    digit: u8,
    first: u8,
    wide: bool,
    operand: RegisterOrMemory,
    imm: u32,
) -> Result<(), EncodeError> {
    check(first)?;
    let xop = Xop { map: 0xA, digit, wide, vvvv: first };
    match operand {
        RegisterOrMemory::Register(register) => xop.register(bytes, register)?,
        RegisterOrMemory::Memory(memory) => xop.memory(bytes, &memory)?,
    }
    bytes.extend(imm.to_le_bytes());
    Ok(())
}

fn number(register: Register) -> Option<u8> {
    (register.is_gpr32() || register.is_gpr64() || register.is_gpr16()).then(|| register.number() as u8)
}

fn memory_operand(instruction: &iced_x86::Instruction, bitness: u32) -> Option<Memory> {
    let segment = match instruction.segment_prefix() {
        Register::FS => Some(Segment::Fs),
        Register::GS => Some(Segment::Gs),
        _ => None,
    };
    let base = instruction.memory_base();
    if matches!(base, Register::RIP | Register::EIP) {
        // iced gives the target; the encoded displacement is relative to the instruction's end.
        let displacement = (instruction.memory_displacement64().wrapping_sub(instruction.next_ip())) as i32;
        return Some(Memory { displacement, rip: true, segment, address32: base == Register::EIP, ..Memory::default() });
    }
    let index = instruction.memory_index();
    let any = if base == Register::None { index } else { base };
    Some(Memory {
        base: if base == Register::None { None } else { Some(number(base)?) },
        index: if index == Register::None { None } else { Some((number(index)?, instruction.memory_index_scale() as u8)) },
        displacement: instruction.memory_displacement64() as i32,
        rip: false,
        segment,
        address32: bitness == 64 && (any.is_gpr32() || (any == Register::None && instruction.memory_displ_size() == 4)),
    })
}

#[cfg(test)]
mod tests;
