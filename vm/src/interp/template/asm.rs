//! The x86-64 instructions that templates are made of, encoded as the AMD64 manual, volume 3, says.
//!
//! Memory operands are a base with a displacement, or base, index and displacement. Jumps inside the code are 32-bit and filled in later.

/// A general register by its number. Those the System V ABI gives arguments in carry [`super::super::machine::Regs`]; `RAX`, `R10` and `R11` are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reg(pub(super) u8);

pub(super) const RAX: Reg = Reg(0);
pub(super) const RCX: Reg = Reg(1);
pub(super) const RDX: Reg = Reg(2);
pub(super) const RSI: Reg = Reg(6);
pub(super) const RDI: Reg = Reg(7);
pub(super) const R8: Reg = Reg(8);
pub(super) const R9: Reg = Reg(9);
pub(super) const R10: Reg = Reg(10);
pub(super) const R11: Reg = Reg(11);
/// Vector registers share the numbers.
pub(super) const XMM0: Reg = Reg(0);
pub(super) const XMM1: Reg = Reg(1);

/// Operand size: whether REX.W is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    W32,
    W64,
}
pub(super) use Width::{W32, W64};

/// An opcode: mandatory prefix (0: none), whether `0f` (and `38` or `3a`) stands before it, its byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opcode {
    prefix: u8,
    map: Map,
    byte: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Map {
    One,
    Two,
    Three,
}

/// Of the one-byte map.
pub(super) const fn one(byte: u8) -> Opcode {
    Opcode { prefix: 0, map: Map::One, byte }
}
/// Behind `0f`.
pub(super) const fn two(byte: u8) -> Opcode {
    Opcode { prefix: 0, map: Map::Two, byte }
}
/// Behind a prefix and `0f`.
pub(super) const fn two_with(prefix: u8, byte: u8) -> Opcode {
    Opcode { prefix, map: Map::Two, byte }
}
/// Behind `66 0f 3a`.
const fn three(byte: u8) -> Opcode {
    Opcode { prefix: 0x66, map: Map::Three, byte }
}

pub(super) const ADD: Opcode = one(0x03);
pub(super) const OR: Opcode = one(0x0b);
pub(super) const AND: Opcode = one(0x23);
pub(super) const SUB: Opcode = one(0x2b);
pub(super) const XOR: Opcode = one(0x33);
pub(super) const CMP: Opcode = one(0x3b);
/// Compares memory with a register: the operands the other way round.
pub(super) const CMP_MEMORY: Opcode = one(0x39);
pub(super) const TEST: Opcode = one(0x85);
pub(super) const MOV: Opcode = one(0x8b);
pub(super) const STORE: Opcode = one(0x89);
pub(super) const STORE8: Opcode = one(0x88);
pub(super) const STORE16: Opcode = Opcode { prefix: 0x66, map: Map::One, byte: 0x89 };
pub(super) const LEA: Opcode = one(0x8d);
pub(super) const MOVSXD: Opcode = one(0x63);
pub(super) const IMUL: Opcode = two(0xaf);
pub(super) const MOVZX8: Opcode = two(0xb6);
pub(super) const MOVZX16: Opcode = two(0xb7);
pub(super) const MOVSX8: Opcode = two(0xbe);
pub(super) const MOVSX16: Opcode = two(0xbf);
pub(super) const LZCNT: Opcode = two_with(0xf3, 0xbd);
pub(super) const TZCNT: Opcode = two_with(0xf3, 0xbc);
pub(super) const POPCNT: Opcode = two_with(0xf3, 0xb8);
pub(super) const MOVD_TO_XMM: Opcode = two_with(0x66, 0x6e);
pub(super) const MOVD_FROM_XMM: Opcode = two_with(0x66, 0x7e);
pub(super) const ROUNDSS: Opcode = three(0x0a);
pub(super) const ROUNDSD: Opcode = three(0x0b);

/// Of the group `81 /n` (and `03`, `0b`, … with registers).
pub(super) const GROUP_ADD: u8 = 0;
pub(super) const GROUP_OR: u8 = 1;
pub(super) const GROUP_AND: u8 = 4;
pub(super) const GROUP_SUB: u8 = 5;
pub(super) const GROUP_XOR: u8 = 6;
pub(super) const GROUP_CMP: u8 = 7;
/// Of the groups `c1 /n` and `d3 /n`.
pub(super) const GROUP_ROL: u8 = 0;
pub(super) const GROUP_ROR: u8 = 1;
pub(super) const GROUP_SHL: u8 = 4;
pub(super) const GROUP_SHR: u8 = 5;
pub(super) const GROUP_SAR: u8 = 7;
/// Of the group `f7 /n`.
pub(super) const GROUP_DIV: u8 = 6;
pub(super) const GROUP_IDIV: u8 = 7;

/// Condition of a jump, `setcc` or `cmovcc`: the low four bits of their opcodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition(pub(super) u8);

pub(super) const OVERFLOW: Condition = Condition(0x0);
pub(super) const BELOW: Condition = Condition(0x2);
pub(super) const ABOVE_EQUAL: Condition = Condition(0x3);
pub(super) const EQUAL: Condition = Condition(0x4);
pub(super) const NOT_EQUAL: Condition = Condition(0x5);
pub(super) const BELOW_EQUAL: Condition = Condition(0x6);
pub(super) const NEGATIVE: Condition = Condition(0x8);
pub(super) const ABOVE: Condition = Condition(0x7);
pub(super) const PARITY: Condition = Condition(0xa);
pub(super) const NO_PARITY: Condition = Condition(0xb);
pub(super) const LESS: Condition = Condition(0xc);
pub(super) const GREATER_EQUAL: Condition = Condition(0xd);
pub(super) const LESS_EQUAL: Condition = Condition(0xe);
pub(super) const GREATER: Condition = Condition(0xf);

/// A memory operand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    pub(super) base: Reg,
    pub(super) index: Option<Reg>,
    pub(super) displacement: i32,
}

/// What is at a base register plus a displacement.
pub(super) const fn at(base: Reg, displacement: i32) -> Memory {
    Memory { base, index: None, displacement }
}

impl Memory {
    /// So many bytes before it.
    pub(super) const fn minus(self, bytes: i32) -> Memory {
        Memory { displacement: self.displacement - bytes, ..self }
    }
}

/// Machine code as it grows.
#[derive(Debug, Default)]
pub(super) struct Assembler {
    pub(super) code: Vec<u8>,
}

impl Assembler {
    pub(super) fn here(&self) -> usize {
        self.code.len()
    }

    fn prefixes(&mut self, width: Width, opcode: Opcode, reg: u8, index: u8, base: u8, bytes: bool) {
        if opcode.prefix != 0 {
            self.code.push(opcode.prefix);
        }
        let rex = 0x40 | u8::from(width == W64) << 3 | (reg >> 3) << 2 | (index >> 3) << 1 | base >> 3;
        // (of the registers used here, those whose low byte needs a REX to be named)
        if rex != 0x40 || bytes {
            self.code.push(rex);
        }
        match opcode.map {
            Map::One => {}
            Map::Two => self.code.push(0x0f),
            Map::Three => self.code.extend([0x0f, 0x3a]),
        }
        self.code.push(opcode.byte);
    }

    fn operand(&mut self, reg: u8, memory: Memory) {
        let Memory { base, index, displacement } = memory;
        debug_assert!(base.0 & 7 != 4, "rsp and r12 need a SIB byte");
        let short = i8::try_from(displacement).ok();
        let mode = match short {
            // (rbp and r13 have no form without a displacement)
            Some(0) if base.0 & 7 != 5 => 0x00,
            Some(_) => 0x40,
            None => 0x80,
        };
        match index {
            None => self.code.push(mode | (reg & 7) << 3 | base.0 & 7),
            Some(index) => {
                debug_assert!(index.0 != 4, "rsp is no index");
                self.code.extend([mode | (reg & 7) << 3 | 4, (index.0 & 7) << 3 | base.0 & 7]);
            }
        }
        match mode {
            0x00 => {}
            0x40 => self.code.push(displacement as u8),
            _ => self.code.extend(displacement.to_le_bytes()),
        }
    }

    /// An instruction with a register (or the number of a group's) and a memory operand.
    pub(super) fn memory(&mut self, width: Width, opcode: Opcode, reg: Reg, memory: Memory) {
        self.prefixes(width, opcode, reg.0, memory.index.map_or(0, |index| index.0), memory.base.0, false);
        self.operand(reg.0, memory);
    }

    /// An instruction with two registers, `rm` the one that could be memory.
    pub(super) fn registers(&mut self, width: Width, opcode: Opcode, reg: Reg, rm: Reg) {
        let bytes = matches!(opcode, MOVZX8 | MOVSX8) && rm.0 >= 4;
        self.prefixes(width, opcode, reg.0, 0, rm.0, bytes);
        self.code.push(0xc0 | (reg.0 & 7) << 3 | rm.0 & 7);
    }

    pub(super) fn copy(&mut self, width: Width, to: Reg, from: Reg) {
        self.registers(width, MOV, to, from);
    }

    /// `add`, `or`, `and`, `sub`, `xor` or `cmp` of a register and an immediate.
    pub(super) fn group_immediate(&mut self, width: Width, group: u8, reg: Reg, immediate: i32) {
        self.short_or_long(immediate, |this, opcode| this.registers(width, opcode, Reg(group), reg));
    }

    /// The same with memory.
    pub(super) fn group_immediate_memory(&mut self, width: Width, group: u8, memory: Memory, immediate: i32) {
        self.short_or_long(immediate, |this, opcode| this.memory(width, opcode, Reg(group), memory));
    }

    /// One of the group with an immediate of a byte, if that holds it, or of four.
    fn short_or_long(&mut self, immediate: i32, instruction: impl FnOnce(&mut Assembler, Opcode)) {
        match i8::try_from(immediate) {
            Ok(short) => {
                instruction(self, one(0x83));
                self.code.push(short as u8);
            }
            Err(_) => {
                instruction(self, one(0x81));
                self.code.extend(immediate.to_le_bytes());
            }
        }
    }

    pub(super) fn test_immediate(&mut self, width: Width, reg: Reg, immediate: i32) {
        self.registers(width, one(0xf7), Reg(0), reg);
        self.code.extend(immediate.to_le_bytes());
    }

    pub(super) fn test_immediate_memory(&mut self, width: Width, memory: Memory, immediate: i32) {
        self.memory(width, one(0xf7), Reg(0), memory);
        self.code.extend(immediate.to_le_bytes());
    }

    /// A shift or rotation by a constant.
    pub(super) fn shift_immediate(&mut self, width: Width, group: u8, reg: Reg, by: u8) {
        self.registers(width, one(0xc1), Reg(group), reg);
        self.code.push(by);
    }

    /// A shift or rotation by `cl`.
    pub(super) fn shift(&mut self, width: Width, group: u8, reg: Reg) {
        self.registers(width, one(0xd3), Reg(group), reg);
    }

    pub(super) fn multiply_immediate(&mut self, width: Width, to: Reg, from: Reg, immediate: i32) {
        self.registers(width, one(0x69), to, from);
        self.code.extend(immediate.to_le_bytes());
    }

    /// Division of `rdx:rax`.
    pub(super) fn divide(&mut self, width: Width, group: u8, by: Reg) {
        self.registers(width, one(0xf7), Reg(group), by);
    }

    /// Sign of `rax` into all of `rdx`.
    pub(super) fn extend_sign(&mut self, width: Width) {
        if width == W64 {
            self.code.push(0x48);
        }
        self.code.push(0x99);
    }

    /// The shortest move of a constant into a register.
    pub(super) fn constant(&mut self, reg: Reg, value: u64) {
        if value == 0 {
            return self.registers(W32, one(0x31), reg, reg);
        }
        if let Ok(low) = u32::try_from(value) {
            self.prefixes(W32, one(0xb8 | reg.0 & 7), 0, 0, reg.0, false);
            self.code.extend(low.to_le_bytes());
        } else if let Ok(signed) = i32::try_from(value as i64) {
            self.registers(W64, one(0xc7), Reg(0), reg);
            self.code.extend(signed.to_le_bytes());
        } else {
            self.prefixes(W64, one(0xb8 | reg.0 & 7), 0, 0, reg.0, false);
            self.code.extend(value.to_le_bytes());
        }
    }

    /// Stores the low `bytes` (1, 2, 4 or 8) of a sign-extended constant.
    pub(super) fn store_constant(&mut self, bytes: u8, memory: Memory, value: i32) {
        match bytes {
            1 => {
                self.memory(W32, one(0xc6), Reg(0), memory);
                self.code.push(value as u8);
            }
            2 => {
                self.memory(W32, Opcode { prefix: 0x66, map: Map::One, byte: 0xc7 }, Reg(0), memory);
                self.code.extend((value as u16).to_le_bytes());
            }
            _ => {
                self.memory(if bytes == 8 { W64 } else { W32 }, one(0xc7), Reg(0), memory);
                self.code.extend(value.to_le_bytes());
            }
        }
    }

    /// Stores the low `bytes` (1, 2, 4 or 8) of a register.
    pub(super) fn store(&mut self, bytes: u8, memory: Memory, value: Reg) {
        let (width, opcode) = match bytes {
            1 => (W32, STORE8),
            2 => (W32, STORE16),
            4 => (W32, STORE),
            _ => (W64, STORE),
        };
        debug_assert!(bytes > 1 || value.0 < 4 || value.0 >= 8, "no byte register without REX");
        self.memory(width, opcode, value, memory);
    }

    /// Sets the low byte of `rax`, `r10` or `r11`.
    pub(super) fn set(&mut self, condition: Condition, reg: Reg) {
        self.registers(W32, two(0x90 | condition.0), Reg(0), reg);
    }

    pub(super) fn move_if(&mut self, condition: Condition, width: Width, to: Reg, from: Reg) {
        self.registers(width, two(0x40 | condition.0), to, from);
    }

    /// A conditional jump whose 32-bit displacement is to be filled in: its place.
    pub(super) fn jump_if(&mut self, condition: Condition) -> usize {
        self.code.extend([0x0f, 0x80 | condition.0, 0, 0, 0, 0]);
        self.here() - 4
    }

    /// A jump whose 32-bit displacement is to be filled in: its place.
    pub(super) fn jump(&mut self) -> usize {
        self.code.extend([0xe9, 0, 0, 0, 0]);
        self.here() - 4
    }

    /// `jmp [memory]`.
    #[cfg(all(threaded_dispatch, not(debug_assertions)))]
    pub(super) fn jump_memory(&mut self, memory: Memory) {
        self.memory(W32, one(0xff), Reg(4), memory);
    }

    /// `jmp reg`.
    pub(super) fn jump_register(&mut self, reg: Reg) {
        self.registers(W32, one(0xff), Reg(4), reg);
    }

    /// `lea reg, [rip + displacement]`, to be filled in: the displacement's place.
    pub(super) fn address_ahead(&mut self, reg: Reg) -> usize {
        self.prefixes(W64, LEA, reg.0, 0, 0, false);
        self.code.extend([(reg.0 & 7) << 3 | 5, 0, 0, 0, 0]);
        self.here() - 4
    }

    /// `jmp [rip + displacement]`, to be filled in: the displacement's place.
    #[cfg(all(threaded_dispatch, not(debug_assertions)))]
    pub(super) fn jump_ahead(&mut self) -> usize {
        self.code.extend([0xff, 0x25, 0, 0, 0, 0]);
        self.here() - 4
    }

    /// Fills in a displacement that counts from behind itself.
    pub(super) fn fill(&mut self, place: usize, target: usize) {
        fill(&mut self.code, place, target as i64 - (place as i64 + 4));
    }

    /// Fills in a displacement that leads here.
    pub(super) fn fill_here(&mut self, place: usize) {
        self.fill(place, self.here());
    }

    #[cfg(any(not(threaded_dispatch), debug_assertions))]
    pub(super) fn return_(&mut self) {
        self.code.push(0xc3);
    }
}

/// Fills in a displacement of four bytes.
pub(super) fn fill(code: &mut [u8], place: usize, displacement: i64) {
    let displacement = i32::try_from(displacement).expect("all code lies within 2 GiB");
    code[place..place + 4].copy_from_slice(&displacement.to_le_bytes());
}
