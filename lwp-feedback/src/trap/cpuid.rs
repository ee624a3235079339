//! Answering CPUID for programs that ask before they use LWP.
//!
//! CPUID cannot be made to fault here, so the program's own `cpuid` instructions (0F A2) are found by a linear decode of its executable
//! sections and patched to `ud2` (0F 0B), the same length; the handler executes the real CPUID and replaces leaf 8000_0001's LWP bit and
//! leaf 8000_001C.

use std::sync::OnceLock;

use iced_x86::{Code, Decoder, DecoderOptions};

use super::registers::Registers;
use crate::capabilities::{CpuidRegisters, LEAF1_ECX_LWP};
use crate::thread_unit::capabilities;

static PATCHED: OnceLock<Vec<u64>> = OnceLock::new();

/// Offsets of the `cpuid` instructions in code that begins at `address`.
pub fn find(code: &[u8], address: u64) -> Vec<u64> {
    let mut decoder = Decoder::with_ip(64, code, address, DecoderOptions::NONE);
    let mut found = Vec::new();
    let mut instruction = iced_x86::Instruction::default();
    while decoder.can_decode() {
        decoder.decode_out(&mut instruction);
        if instruction.code() == Code::Cpuid {
            found.push(instruction.ip());
        } else if instruction.is_invalid() {
            // Data between functions: try again at the next byte.
            let next = instruction.ip() - address + 1;
            if decoder.set_position(next as usize).is_err() {
                break;
            }
            decoder.set_ip(address + next);
        }
    }
    found
}

/// Patches every `cpuid` in the running program's own code (not in its libraries). Returns how many. Works once.
///
/// # Safety
/// No other thread runs the program's code yet: call it before `main`.
pub unsafe fn patch_program() -> std::io::Result<usize> {
    let mut sites = Vec::new();
    for (start, end) in program_code()? {
        // SAFETY: an executable section of the program, mapped readable.
        let code = unsafe { std::slice::from_raw_parts(start as *const u8, (end - start) as usize) };
        sites.extend(find(code, start));
    }
    sites.sort_unstable();
    let count = sites.len();
    if PATCHED.set(sites).is_err() {
        return Ok(0);
    }
    for &site in PATCHED.get().into_iter().flatten() {
        let page = site & !0xFFF;
        let length = (site + 2 - page) as usize;
        // SAFETY: pages of the program's code; no thread runs them (the caller's contract).
        if unsafe { libc::mprotect(page as *mut _, length, libc::PROT_READ | libc::PROT_WRITE) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        // SAFETY: two bytes of a decoded cpuid instruction, writable now.
        unsafe { (site as *mut [u8; 2]).write([0x0F, 0x0B]) };
        // SAFETY: as above.
        if unsafe { libc::mprotect(page as *mut _, length, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(count)
}

/// Was there a `cpuid` here?
pub fn is_patched(ip: u64) -> bool {
    PATCHED.get().is_some_and(|sites| sites.binary_search(&ip).is_ok())
}

/// Executes the interrupted `cpuid` with the unit's capabilities in place of the processor's.
pub(super) fn answer(registers: &mut Registers) {
    let (leaf, subleaf) = (registers.get(0) as u32, registers.get(1) as u32);
    let result = std::arch::x86_64::__cpuid_count(leaf, subleaf);
    let mut answer = CpuidRegisters { eax: result.eax, ebx: result.ebx, ecx: result.ecx, edx: result.edx };
    let capabilities = capabilities();
    match leaf {
        0x8000_0000 => answer.eax = answer.eax.max(0x8000_001C),
        0x8000_0001 if capabilities.available & 1 != 0 => answer.ecx |= LEAF1_ECX_LWP,
        0x8000_0001 => answer.ecx &= !LEAF1_ECX_LWP,
        0x8000_001C => answer = capabilities.to_registers(),
        _ => {}
    }
    for (register, value) in [(0, answer.eax), (3, answer.ebx), (1, answer.ecx), (2, answer.edx)] {
        registers.set(register, value.into());
    }
}

/// Address ranges of the program's executable sections: its ELF file's section headers, moved to where it was loaded.
fn program_code() -> std::io::Result<Vec<(u64, u64)>> {
    let file = std::fs::read("/proc/self/exe")?;
    let bias = load_bias();
    let malformed = || std::io::Error::new(std::io::ErrorKind::InvalidData, "the program's ELF headers are malformed");
    sections(&file).ok_or_else(malformed).map(|sections| sections.into_iter().map(|(start, end)| (start + bias, end + bias)).collect())
}

/// (start, end) of the sections with SHF_EXECINSTR, by virtual address.
fn sections(file: &[u8]) -> Option<Vec<(u64, u64)>> {
    const SHF_EXECINSTR: u64 = 4;
    let half = |at: usize| Some(u16::from_le_bytes(*file.get(at..)?.first_chunk()?));
    let quad = |at: usize| Some(u64::from_le_bytes(*file.get(at..)?.first_chunk()?));
    if file.get(..5)? != b"\x7fELF\x02" {
        return None;
    }
    let (offset, size, count) = (quad(40)? as usize, usize::from(half(58)?), usize::from(half(60)?));
    let mut found = Vec::new();
    for index in 0..count {
        let header = offset.checked_add(size.checked_mul(index)?)?;
        let (flags, address, bytes) = (quad(header + 8)?, quad(header + 16)?, quad(header + 32)?);
        if flags & SHF_EXECINSTR != 0 && address != 0 {
            found.push((address, address.checked_add(bytes)?));
        }
    }
    Some(found)
}

/// Difference between where the main program lies and where its file says: what `dl_iterate_phdr` reports first.
fn load_bias() -> u64 {
    extern "C" fn first(info: *mut libc::dl_phdr_info, _size: usize, bias: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the C library passes a live structure, and `bias` is the u64 below.
        unsafe { *bias.cast::<u64>() = (*info).dlpi_addr };
        1
    }
    let mut bias = 0u64;
    // SAFETY: the callback matches its type; `bias` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(first), (&raw mut bias).cast()) };
    bias
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_cpuid_instructions_are_found() {
        // cpuid; mov eax, 0xA20F (the bytes inside an immediate); ret; an invalid byte; cpuid
        let code = [0x0F, 0xA2, 0xB8, 0x0F, 0xA2, 0x00, 0x00, 0xC3, 0x06, 0x0F, 0xA2];
        assert_eq!(find(&code, 0x1000), [0x1000, 0x1009]);
    }

    #[test]
    fn this_programs_sections_are_found() {
        let here = this_programs_sections_are_found as *const () as u64;
        let ranges = program_code().unwrap();
        assert!(ranges.iter().any(|&(start, end)| (start..end).contains(&here)), "{here:#x} in {ranges:x?}");
    }
}
