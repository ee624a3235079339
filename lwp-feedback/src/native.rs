//! The processor's own LWP instructions, for AMD family 15h under an operating system that enabled them.
//!
//! [`available`] must be true before any of the others runs: without LWP they raise #UD. XCR0[62] is checked too, for a processor can
//! report what no XSAVE would keep. The instructions are given as bytes: Rust has no LWP target feature.

use std::arch::asm;

use crate::capabilities::{Capabilities, CpuidRegisters};

/// The processor has LWP and the operating system enabled it, in CPUID and in XCR0.
pub fn available() -> bool {
    Capabilities::of_this_cpu().is_some_and(Capabilities::is_usable) && xcr0() & 1 << 62 != 0
}

/// XCR0, or 0 where XSAVE is off.
pub fn xcr0() -> u64 {
    const OSXSAVE: u32 = 1 << 27;
    if CpuidRegisters::of_this_cpu(1).ecx & OSXSAVE == 0 {
        return 0;
    }
    let (low, high): (u32, u32);
    // SAFETY: OSXSAVE says that XGETBV works at any privilege level.
    unsafe { asm!("xgetbv", in("ecx") 0, out("eax") low, out("edx") high, options(nomem, nostack)) };
    u64::from(high) << 32 | u64::from(low)
}

/// LLWPCB.
///
/// # Safety
/// [`available`]; `lwpcb` is 0 or a valid LWPCB that stays valid, with its ring, until the next LLWPCB of this thread.
pub unsafe fn llwpcb(lwpcb: u64) {
    // SAFETY: the caller's contract. llwpcb rax.
    unsafe { asm!(".byte 0x8f, 0xe9, 0xf8, 0x12, 0xc0", in("rax") lwpcb, options(nostack)) };
}

/// SLWPCB: flushes, and returns the LWPCB's address, 0 when off.
///
/// # Safety
/// [`available`].
pub unsafe fn slwpcb() -> u64 {
    let lwpcb;
    // SAFETY: the caller's contract. slwpcb rax.
    unsafe { asm!(".byte 0x8f, 0xe9, 0xf8, 0x12, 0xc8", out("rax") lwpcb, options(nostack)) };
    lwpcb
}

/// LWPINS. Returns CF.
///
/// # Safety
/// [`available`], and the active ring is writable.
pub unsafe fn lwpins<const FLAGS: u32>(data2: u64, data1: u32) -> bool {
    let carry: u8;
    // SAFETY: the caller's contract. lwpins rax, ecx, FLAGS.
    unsafe {
        asm!(
            ".byte 0x8f, 0xea, 0xf8, 0x12, 0xc1",
            ".long {flags}",
            "setc dl",
            flags = const FLAGS,
            in("rax") data2,
            in("ecx") data1,
            out("dl") carry,
            options(nostack)
        );
    }
    carry != 0
}

/// LWPVAL.
///
/// # Safety
/// As for [`lwpins`].
pub unsafe fn lwpval<const FLAGS: u32>(data2: u64, data1: u32) {
    // SAFETY: the caller's contract. lwpval rax, ecx, FLAGS.
    unsafe {
        asm!(
            ".byte 0x8f, 0xea, 0xf8, 0x12, 0xc9",
            ".long {flags}",
            flags = const FLAGS,
            in("rax") data2,
            in("ecx") data1,
            options(nostack)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruction::{LwpInstruction, RegisterOrMemory::Register};

    #[test]
    fn the_bytes_above_are_the_instructions_they_name() {
        let decode = |bytes: &[u8]| LwpInstruction::decode(bytes, 64).map(|(instruction, _)| instruction);
        assert_eq!(decode(&[0x8f, 0xe9, 0xf8, 0x12, 0xc0]), Some(LwpInstruction::Llwpcb { register: 0, wide: true }));
        assert_eq!(decode(&[0x8f, 0xe9, 0xf8, 0x12, 0xc8]), Some(LwpInstruction::Slwpcb { register: 0, wide: true }));
        let (first, wide, operand, imm) = (0, true, Register(1), 0x1234_5678);
        let with_imm = |modrm| [0x8f, 0xea, 0xf8, 0x12, modrm, 0x78, 0x56, 0x34, 0x12];
        assert_eq!(decode(&with_imm(0xc1)), Some(LwpInstruction::Lwpins { first, wide, operand, imm }));
        assert_eq!(decode(&with_imm(0xc9)), Some(LwpInstruction::Lwpval { first, wide, operand, imm }));
    }

    #[test]
    fn executed_where_the_processor_has_it() {
        if !available() {
            return;
        }
        // SAFETY: available; LWP stays off.
        unsafe { llwpcb(0) };
        // SAFETY: as above.
        assert_eq!(unsafe { slwpcb() }, 0);
    }
}
