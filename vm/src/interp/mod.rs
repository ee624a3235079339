//! Placeholder: only signatures, until the interpreter branch lands in the next merge (keep that branch's file on conflict).
#![allow(missing_docs, clippy::missing_safety_doc)]
use crate::layout::VmContext;
use crate::trap::Outcome;
pub struct InterpStack;
impl InterpStack {
    pub fn new() -> std::io::Result<Self> {
        Ok(InterpStack)
    }
    pub fn depth(&self) -> usize {
        0
    }
    pub fn frames_between(&self, _: usize, _: usize) -> Vec<(u32, Option<u32>)> {
        vec![]
    }
}
pub unsafe fn call(_: *mut VmContext, _: u32, _: *mut u64) -> Outcome {
    Ok(())
}
pub unsafe fn resume(_: *mut VmContext, _: u32, _: u32, _: &[u64], _: *mut u64) -> Outcome {
    Ok(())
}
