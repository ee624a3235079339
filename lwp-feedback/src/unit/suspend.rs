//! A thread's LWP state outside the processor: XSAVE component 62 of the final architecture, and the proposal's short list.
//!
//! Layout of the 128-byte image, at offset 832 of the XSAVE area on real parts: rr's `LWP.cc` and Hermit's `XSaveLWPState`. That the
//! size dword carries Random in bits 31:28 and that a pending record with EventId 0 means none is unconfirmed.

use serde::{Deserialize, Serialize};

use super::memory::UserMemory;
use super::{Architecture, LwpFault, Unit};
use crate::layout::{BUFFER_SIZE_MASK, COUNTER_MASK, Filters, Flags, RANDOM_SHIFT, RECORD_BYTES, Record};
use crate::ring::protocol::bytes_used;

/// Bytes of the image.
pub const XSAVE_BYTES: usize = 128;
/// Number of the XSAVE component.
pub const XSAVE_COMPONENT: u32 = 62;
/// Offset in the XSAVE area as CPUID 0Dh gives it on FX-8150 and FX-8300.
pub const XSAVE_OFFSET: usize = 832;
/// Byte of XSTATE_BV, and the bit in it, that says the image is valid.
pub const XSTATE_BV_BIT: (usize, u8) = (519, 6);

/// The image's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct XsaveImage {
    /// Address of the LWPCB; 0: LWP is off.
    pub lwpcb: u64,
    /// Granted flags.
    pub flags: u32,
    /// BufferHeadOffset.
    pub head: u32,
    /// BufferBase.
    pub buffer_base: u64,
    /// BufferSize in bits 27:0, Random in bits 31:28.
    pub buffer_size_random: u32,
    /// Filters.
    pub filters: u32,
    /// A record that was gathered and not stored; EventId 0: none.
    pub pending: Record,
    /// EventCounter 1 to 16.
    pub counters: [u32; 16],
}

impl XsaveImage {
    /// The 128 bytes.
    pub fn to_bytes(&self) -> [u8; XSAVE_BYTES] {
        let mut bytes = [0; XSAVE_BYTES];
        bytes[0..8].copy_from_slice(&self.lwpcb.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.flags.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.head.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.buffer_base.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.buffer_size_random.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.filters.to_le_bytes());
        bytes[32..64].copy_from_slice(&self.pending.to_bytes());
        for (chunk, counter) in bytes[64..].chunks_exact_mut(4).zip(self.counters) {
            chunk.copy_from_slice(&counter.to_le_bytes());
        }
        bytes
    }

    /// Reads the 128 bytes.
    pub fn from_bytes(bytes: &[u8; XSAVE_BYTES]) -> Self {
        let dword = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        let quadword = |at: usize| u64::from(dword(at)) | u64::from(dword(at + 4)) << 32;
        Self {
            lwpcb: quadword(0),
            flags: dword(8),
            head: dword(12),
            buffer_base: quadword(16),
            buffer_size_random: dword(24),
            filters: dword(28),
            pending: Record { words: [quadword(32), quadword(40), quadword(48), quadword(56)] },
            counters: std::array::from_fn(|index| dword(64 + 4 * index)),
        }
    }
}

/// What the proposal keeps outside memory: everything else comes from the LWPCB.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedState2007 {
    /// Address of the LWPCB; 0: LWP is off.
    pub lwpcb: u64,
    /// BufferHeadOffset.
    pub head: u32,
    /// Counters of all selectors, by position.
    pub counters: Vec<u32>,
    /// MissedEvents must be incremented.
    pub missed_pending: bool,
}

impl<M: UserMemory> Unit<M> {
    /// Takes this thread's state away, as a context switch does; the unit is off afterwards. The head in memory is brought up to date.
    pub fn suspend(&mut self) -> Result<XsaveImage, LwpFault> {
        let Architecture::Final(capabilities) = self.architecture else {
            return Err(LwpFault::InvalidOpcode);
        };
        self.flush()?;
        let Some(session) = self.session.take() else {
            return Ok(XsaveImage::default());
        };
        let mut image = XsaveImage {
            lwpcb: session.address,
            flags: session.flags.bits(),
            head: session.head,
            buffer_base: session.base,
            buffer_size_random: session.size | session.random_bits << RANDOM_SHIFT,
            filters: session.filters,
            ..XsaveImage::default()
        };
        let events = session.address + u64::from(capabilities.event_offset);
        for (index, counter) in image.counters.iter_mut().enumerate().take(capabilities.max_events.into()) {
            *counter = self.memory.load_u32(events + 8 * index as u64 + 4)? & COUNTER_MASK;
        }
        Ok(image)
    }

    /// Continues a suspended state, on any thread. What the image does not hold comes from the LWPCB; a pending record is stored first. An
    /// image whose ring is none (too small, head outside) is #GP, as XRSTOR gives for invalid state.
    pub fn resume(&mut self, image: &XsaveImage) -> Result<(), LwpFault> {
        let Architecture::Final(capabilities) = self.architecture else {
            return Err(LwpFault::InvalidOpcode);
        };
        if image.lwpcb == 0 {
            self.session = None;
            return Ok(());
        }
        self.require_usable()?;
        let size = image.buffer_size_random & BUFFER_SIZE_MASK;
        let bad_ring = !size.is_multiple_of(RECORD_BYTES) || size < capabilities.min_buffer_bytes().max(RECORD_BYTES);
        if bad_ring || image.head >= size || !image.head.is_multiple_of(RECORD_BYTES) {
            return Err(LwpFault::GeneralProtection);
        }
        let events = image.lwpcb + u64::from(capabilities.event_offset);
        let Some(mut session) = self.load(image.lwpcb)? else {
            return Err(LwpFault::GeneralProtection);
        };
        for (index, &counter) in image.counters.iter().enumerate().take(capabilities.max_events.into()) {
            self.memory.store_u32(events + 8 * index as u64 + 4, counter & COUNTER_MASK)?;
        }
        session.flags = Flags::from_bits_retain(image.flags) & capabilities.grantable_flags();
        session.base = image.buffer_base;
        session.size = size;
        session.random_bits = image.buffer_size_random >> RANDOM_SHIFT;
        session.filters = image.filters;
        session.ip_filter = session.filters & Filters::IPF.bits() != 0;
        session.head = image.head;
        // The image does not say whether the interrupt was raised: a ring that holds Threshold bytes crossed before it was suspended.
        let past = session.threshold != 0 && bytes_used(session.head, session.seen_tail, session.size) >= session.threshold;
        session.announced_at = past.then_some(session.seen_tail);
        self.session = Some(session);
        if image.pending.event_id().0 != 0 {
            self.store(&[image.pending], &[])?;
        }
        Ok(())
    }

    /// [`Self::suspend`] of the proposal.
    pub fn suspend_2007(&mut self) -> Result<SavedState2007, LwpFault> {
        let Architecture::Proposal(capabilities) = self.architecture else {
            return Err(LwpFault::InvalidOpcode);
        };
        let Some(session) = self.session.take() else {
            return Ok(SavedState2007::default());
        };
        let mut counters = Vec::new();
        for index in 0..u64::from(capabilities.max_events) {
            counters.push(self.memory.load_u32(session.address + 40 + 8 * index + 4)? & COUNTER_MASK);
        }
        Ok(SavedState2007 { lwpcb: session.address, head: session.head, counters, missed_pending: session.missed_pending })
    }

    /// [`Self::resume`] of the proposal.
    pub fn resume_2007(&mut self, saved: &SavedState2007) -> Result<(), LwpFault> {
        let Architecture::Proposal(capabilities) = self.architecture else {
            return Err(LwpFault::InvalidOpcode);
        };
        if saved.lwpcb == 0 {
            self.session = None;
            return Ok(());
        }
        self.require_usable()?;
        let Some(mut session) = self.load(saved.lwpcb)? else {
            return Err(LwpFault::GeneralProtection);
        };
        if saved.head >= session.size || !saved.head.is_multiple_of(RECORD_BYTES) {
            return Err(LwpFault::GeneralProtection);
        }
        for (index, &counter) in saved.counters.iter().enumerate().take(capabilities.max_events.into()) {
            self.memory.store_u32(saved.lwpcb + 40 + 8 * index as u64 + 4, counter & COUNTER_MASK)?;
        }
        session.head = saved.head;
        session.missed_pending = saved.missed_pending;
        self.session = Some(session);
        Ok(())
    }
}
