//! The debug store: its management area and the records of the branch trace.
//!
//! 64-bit (hex): BTS base, index, maximum, threshold at 00 08 10 18; PEBS base, index, maximum, threshold at 20 28 30 38; counter resets at
//! 40 48 50 58. 32-bit: the eight pointers as dwords at 00 to 1C, the resets as quadwords at 20 28 30 38 (the SDM shows the first of them).

use crate::unit::memory::{PageFault, UserMemory};

/// Width of the area's pointers and of branch records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// No DTES64.
    Bits32,
    /// DTES64, in any mode.
    Bits64,
}

/// Limits of one of the two buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Buffer {
    /// Address of the first record.
    pub base: u64,
    /// Address of the next record.
    pub index: u64,
    /// First address after the last record ("absolute maximum").
    pub maximum: u64,
    /// The interrupt is due when the index reaches it.
    pub threshold: u64,
}

/// The management area.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DsArea {
    /// Branch trace store.
    pub bts: Buffer,
    /// PEBS.
    pub pebs: Buffer,
    /// What the counters 0 to 3 are reloaded with after a record.
    pub resets: [u64; 4],
}

impl Layout {
    /// Bytes of a pointer.
    pub fn pointer_bytes(self) -> u64 {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 8,
        }
    }

    /// Bytes of a branch record: from, to, flags.
    pub fn bts_bytes(self) -> u64 {
        3 * self.pointer_bytes()
    }

    /// Address of the BTS index in the area at `area`.
    pub fn bts_index(self, area: u64) -> u64 {
        area + self.pointer_bytes()
    }

    /// Address of the PEBS index in the area at `area`.
    pub fn pebs_index(self, area: u64) -> u64 {
        area + 5 * self.pointer_bytes()
    }

    fn load(self, memory: &mut impl UserMemory, address: u64) -> Result<u64, PageFault> {
        match self {
            Self::Bits32 => memory.load_u32(address).map(u64::from),
            Self::Bits64 => memory.load_u64(address),
        }
    }

    /// Writes a pointer.
    pub fn store(self, memory: &mut impl UserMemory, address: u64, value: u64) -> Result<(), PageFault> {
        match self {
            Self::Bits32 => memory.store_u32(address, value as u32),
            Self::Bits64 => memory.store_u64(address, value),
        }
    }
}

impl DsArea {
    /// Reads the area.
    pub fn read(memory: &mut impl UserMemory, layout: Layout, area: u64) -> Result<Self, PageFault> {
        let mut pointers = [0; 8];
        for (index, pointer) in pointers.iter_mut().enumerate() {
            *pointer = layout.load(memory, area + index as u64 * layout.pointer_bytes())?;
        }
        let mut resets = [0; 4];
        for (index, reset) in resets.iter_mut().enumerate() {
            *reset = memory.load_u64(area + 8 * layout.pointer_bytes() + index as u64 * 8)?;
        }
        let buffer =
            |at: usize| Buffer { base: pointers[at], index: pointers[at + 1], maximum: pointers[at + 2], threshold: pointers[at + 3] };
        Ok(Self { bts: buffer(0), pebs: buffer(4), resets })
    }

    /// Writes the area.
    pub fn write(&self, memory: &mut impl UserMemory, layout: Layout, area: u64) -> Result<(), PageFault> {
        let pointers =
            [self.bts, self.pebs].into_iter().flat_map(|Buffer { base, index, maximum, threshold }| [base, index, maximum, threshold]);
        for (index, pointer) in pointers.enumerate() {
            layout.store(memory, area + index as u64 * layout.pointer_bytes(), pointer)?;
        }
        for (index, reset) in self.resets.into_iter().enumerate() {
            memory.store_u64(area + 8 * layout.pointer_bytes() + index as u64 * 8, reset)?;
        }
        Ok(())
    }
}

/// A branch that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BtsRecord {
    /// Address of the branch.
    pub from: u64,
    /// Its target.
    pub to: u64,
    /// Bit 4 of the flags.
    pub predicted: bool,
}

impl BtsRecord {
    /// Reads a record.
    pub fn read(memory: &mut impl UserMemory, layout: Layout, address: u64) -> Result<Self, PageFault> {
        let width = layout.pointer_bytes();
        let flags = layout.load(memory, address + 2 * width)?;
        Ok(Self { from: layout.load(memory, address)?, to: layout.load(memory, address + width)?, predicted: flags >> 4 & 1 != 0 })
    }

    /// Writes a record.
    pub fn write(&self, memory: &mut impl UserMemory, layout: Layout, address: u64) -> Result<(), PageFault> {
        let width = layout.pointer_bytes();
        for (index, value) in [self.from, self.to, u64::from(self.predicted) << 4].into_iter().enumerate() {
            layout.store(memory, address + index as u64 * width, value)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::memory::FlatMemory;

    #[test]
    fn management_area_layouts() {
        let buffer = |base: u64| Buffer { base, index: base + 1, maximum: base + 2, threshold: base + 3 };
        let area = DsArea { bts: buffer(0x100), pebs: buffer(0x200), resets: [1, 2, 3, u64::MAX] };
        for (layout, pebs_index_offset, reset3_offset) in [(Layout::Bits64, 0x28, 0x58), (Layout::Bits32, 0x14, 0x38)] {
            let mut memory = FlatMemory::new(0x1000, 0x80);
            area.write(&mut memory, layout, 0x1000).unwrap();
            assert_eq!(DsArea::read(&mut memory, layout, 0x1000), Ok(area));
            assert_eq!(layout.pebs_index(0x1000), 0x1000 + pebs_index_offset);
            assert_eq!(memory.load_u32(0x1000 + pebs_index_offset), Ok(0x201));
            assert_eq!(memory.load_u64(0x1000 + reset3_offset), Ok(u64::MAX));
        }
    }

    #[test]
    fn branch_records() {
        assert_eq!((Layout::Bits64.bts_bytes(), Layout::Bits32.bts_bytes()), (24, 12));
        let mut memory = FlatMemory::new(0, 24);
        let record = BtsRecord { from: 1, to: 2, predicted: true };
        record.write(&mut memory, Layout::Bits64, 0).unwrap();
        assert_eq!((memory.load_u64(0x10), BtsRecord::read(&mut memory, Layout::Bits64, 0)), (Ok(0x10), Ok(record)));
    }
}
