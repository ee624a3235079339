//! The stack compiled wasm runs on: one mapping per store, a guard below it.

use crate::mapping::{Mapping, PAGE};
use std::io;

/// Bytes of guard below the stack. Compiled code probes every 64 KiB of a larger frame, so no frame jumps it.
pub const GUARD_BYTES: usize = 1 << 20;

/// More than the kernel writes to a stack for a signal: registers of all vector extensions, and the red zone.
pub const SIGNAL_FRAME_BYTES: usize = 16 << 10;

/// A wasm stack.
#[derive(Debug)]
pub struct WasmStack {
    mapping: Mapping,
}

impl WasmStack {
    /// A stack of `bytes` usable bytes (rounded up to pages).
    pub fn new(bytes: usize) -> io::Result<WasmStack> {
        // More than the address space has is the system's to refuse, not an overflow here.
        let bytes = bytes.clamp(4 * PAGE, 1 << 47).next_multiple_of(PAGE);
        let mapping = Mapping::reserve(bytes + GUARD_BYTES)?;
        mapping.open(GUARD_BYTES, bytes)?;
        Ok(WasmStack { mapping })
    }

    /// Gives the memory of its deeper part back to the system. Nothing runs on it.
    pub fn discard(&self) {
        /// What it keeps, bytes.
        const KEPT: usize = 64 << 10;
        self.mapping.discard(GUARD_BYTES, (self.mapping.length() - GUARD_BYTES).saturating_sub(KEPT));
    }

    /// Lowest usable address.
    pub fn low(&self) -> usize {
        self.mapping.base() as usize + GUARD_BYTES
    }

    /// One past the highest usable address; 16-byte aligned.
    pub fn high(&self) -> usize {
        self.mapping.base() as usize + self.mapping.length()
    }
}
