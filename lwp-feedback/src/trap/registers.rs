//! The interrupted thread's registers, and what an instruction's operands come to.

use libc::{c_void, greg_t, ucontext_t};

use crate::instruction::{Memory, RegisterOrMemory, Segment};
use crate::unit::Operand;

/// The general registers by the processor's number: their indices in a signal context's `gregs`.
pub const GENERAL: [libc::c_int; 16] = [
    libc::REG_RAX,
    libc::REG_RCX,
    libc::REG_RDX,
    libc::REG_RBX,
    libc::REG_RSP,
    libc::REG_RBP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R11,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
];

const ARCH_GET_FS: libc::c_int = 0x1003;
const ARCH_GET_GS: libc::c_int = 0x1004;

pub(super) struct Registers<'a> {
    gregs: &'a mut [greg_t; 23],
}

impl Registers<'_> {
    /// # Safety
    /// `context` is what the kernel passed to a signal handler that is still running.
    pub(super) unsafe fn of_context(context: *mut c_void) -> Self {
        // SAFETY: the caller's contract.
        let context = unsafe { &mut *context.cast::<ucontext_t>() };
        Self { gregs: &mut context.uc_mcontext.gregs }
    }

    pub(super) fn ip(&self) -> u64 {
        self.gregs[libc::REG_RIP as usize] as u64
    }

    pub(super) fn set_ip(&mut self, ip: u64) {
        self.gregs[libc::REG_RIP as usize] = ip as greg_t;
    }

    pub(super) fn get(&self, register: u8) -> u64 {
        self.gregs[GENERAL[usize::from(register & 15)] as usize] as u64
    }

    pub(super) fn set(&mut self, register: u8, value: u64) {
        self.gregs[GENERAL[usize::from(register & 15)] as usize] = value as greg_t;
    }

    /// A 32- or 64-bit register.
    pub(super) fn sized(&self, register: u8, wide: bool) -> u64 {
        if wide { self.get(register) } else { self.get(register) & 0xFFFF_FFFF }
    }

    /// Writing a 32-bit register clears its upper half.
    pub(super) fn set_sized(&mut self, register: u8, wide: bool, value: u64) {
        self.set(register, if wide { value } else { value & 0xFFFF_FFFF });
    }

    pub(super) fn set_carry(&mut self, carry: bool) {
        let flags = &mut self.gregs[libc::REG_EFL as usize];
        *flags = *flags & !1 | greg_t::from(carry);
    }

    pub(super) fn operand(&self, operand: RegisterOrMemory, next_ip: u64) -> Operand {
        match operand {
            RegisterOrMemory::Register(register) => Operand::Value(self.get(register) as u32),
            RegisterOrMemory::Memory(memory) => Operand::Memory(self.address(&memory, next_ip)),
        }
    }

    fn address(&self, memory: &Memory, next_ip: u64) -> u64 {
        let base = if memory.rip { next_ip } else { memory.base.map_or(0, |base| self.get(base)) };
        let index = memory.index.map_or(0, |(index, scale)| self.get(index).wrapping_mul(scale.into()));
        let mut address = base.wrapping_add(index).wrapping_add(memory.displacement as i64 as u64);
        if memory.address32 {
            address &= 0xFFFF_FFFF;
        }
        address.wrapping_add(memory.segment.map_or(0, segment_base))
    }
}

fn segment_base(segment: Segment) -> u64 {
    let code = if segment == Segment::Fs { ARCH_GET_FS } else { ARCH_GET_GS };
    let mut base = 0u64;
    // SAFETY: arch_prctl writes one quadword to a live address.
    unsafe { libc::syscall(libc::SYS_arch_prctl, code, &mut base) };
    base
}
