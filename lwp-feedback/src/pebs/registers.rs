//! The registers a record holds. One that the probe did not save is absent, never zero.

use std::fmt;

/// Registers in the order of a 64-bit PEBS record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the registers' own names")]
#[repr(u8)]
pub enum Register {
    Rflags,
    Rip,
    Rax,
    Rbx,
    Rcx,
    Rdx,
    Rsi,
    Rdi,
    Rbp,
    Rsp,
    R8,
    R9,
    R10,
    R11,
    R12,
    R13,
    R14,
    R15,
}

use Register::*;

impl Register {
    /// All of them.
    pub const ALL: [Self; 18] = [Rflags, Rip, Rax, Rbx, Rcx, Rdx, Rsi, Rdi, Rbp, Rsp, R8, R9, R10, R11, R12, R13, R14, R15];

    /// 64-bit name.
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 18] =
            ["RFLAGS", "RIP", "RAX", "RBX", "RCX", "RDX", "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"];
        NAMES[self as usize]
    }

    /// The register of which `name` (`rax`, `eax`, `ax` or `al`, …) is a part, and the part's bits.
    pub fn by_name(name: &str) -> Option<(Self, u64)> {
        let name = name.to_ascii_lowercase();
        if let Some(register) = Self::ALL.into_iter().find(|register| register.name().eq_ignore_ascii_case(&name)) {
            return Some((register, u64::MAX));
        }
        let of = |rest: &str| Self::ALL.into_iter().find(|register| register.name()[1..].eq_ignore_ascii_case(rest));
        if let Some(register) = name.strip_prefix('e').and_then(of) {
            return Some((register, u64::from(u32::MAX)));
        }
        match name.strip_suffix('l') {
            Some(letter) if letter.len() == 1 => of(&format!("{letter}x")).map(|register| (register, 0xFF)),
            _ => None,
        }
    }
}

/// Values of the registers that are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers([Option<u64>; 18]);

impl Registers {
    /// The value, `None` when nobody saved it.
    pub fn get(&self, register: Register) -> Option<u64> {
        self.0[register as usize]
    }

    /// Sets a value.
    pub fn set(&mut self, register: Register, value: u64) {
        self.0[register as usize] = Some(value);
    }

    /// With a value set.
    pub fn with(mut self, register: Register, value: u64) -> Self {
        self.set(register, value);
        self
    }

    /// What a probe's stub saved: the registers of [`Self::PROBE`], in that order.
    pub fn of_probe(words: &[u64; 12]) -> Self {
        Self::PROBE.into_iter().zip(words).fold(Self::default(), |all, (register, &value)| all.with(register, value))
    }

    /// What a probe's stub can save. The others hold the arguments of its call, or are not looked at.
    pub const PROBE: [Register; 12] = [Rax, Rbx, Rbp, Rsp, R8, R9, R10, R11, R12, R13, R14, R15];

    /// Which are known.
    pub fn known(&self) -> RegisterSet {
        RegisterSet(self.0.iter().enumerate().fold(0, |set, (index, value)| set | u32::from(value.is_some()) << index))
    }

    /// Only those of a set.
    pub fn only(mut self, set: RegisterSet) -> Self {
        for register in Register::ALL.into_iter().filter(|register| !set.contains(*register)) {
            self.0[register as usize] = None;
        }
        self
    }
}

impl fmt::Display for Registers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, register) in Register::ALL.into_iter().enumerate() {
            let space = if index == 0 { "" } else { " " };
            match self.get(register) {
                Some(value) => write!(f, "{space}{} {value:#x}", register.name())?,
                None => write!(f, "{space}{} absent", register.name())?,
            }
        }
        Ok(())
    }
}

/// A set of registers. A record in memory has no room for it: the unit keeps it beside the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegisterSet(u32);

impl RegisterSet {
    /// All: what a processor writes.
    pub const ALL: Self = Self((1 << 18) - 1);

    /// Whether it is in the set.
    pub fn contains(self, register: Register) -> bool {
        self.0 >> register as u8 & 1 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_names() {
        assert_eq!(Register::by_name("rax"), Some((Rax, u64::MAX)));
        assert_eq!(Register::by_name("EBX"), Some((Rbx, 0xFFFF_FFFF)));
        assert_eq!(Register::by_name("al"), Some((Rax, 0xFF)));
        assert_eq!(Register::by_name("eip"), Some((Rip, 0xFFFF_FFFF)));
        assert_eq!(Register::by_name("r12"), Some((R12, u64::MAX)));
        assert_eq!(Register::by_name("zz"), None);
    }

    #[test]
    fn unknown_registers_are_absent() {
        let registers = Registers::default().with(Rax, 0);
        assert_eq!((registers.get(Rax), registers.get(Rbx)), (Some(0), None));
        assert!(registers.to_string().contains("RAX 0x0 RBX absent"));
        assert!(registers.known().contains(Rax) && !registers.known().contains(Rbx));
    }
}
