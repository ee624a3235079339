//! Lazy stubs: what a function's entry leads to before it has code, and the resolver behind them.

use super::{ModuleCode, STUB_BYTES};
use crate::arena::CodeBlock;
use crate::code::Adapter;
use crate::engine::try_lock;
use crate::layout::{KIND_HOST, VmContext, head};
use crate::runtime::{self, instance};
use crate::trap::{Outcome, Unwind};
use std::sync::atomic::Ordering;

/// `Err`: there is no room for them, so nothing could call these functions. One stub per function: `mov dword ptr [r15 + callee], index; jmp target`.
pub(super) fn lazy_stubs(imported: u32, count: usize, target: usize) -> Result<CodeBlock, String> {
    let mut block = CodeBlock::new(count * STUB_BYTES, STUB_BYTES)?;
    let mut bytes = Vec::with_capacity(count * STUB_BYTES);
    for own in 0..count {
        bytes.extend_from_slice(&stub(imported + own as u32, block.address() + own * STUB_BYTES, target));
    }
    block.fill(0, &bytes);
    Ok(block)
}

fn stub(function: u32, at: usize, target: usize) -> [u8; STUB_BYTES] {
    let mut bytes = [0xcc; STUB_BYTES];
    bytes[..4].copy_from_slice(&[0x41, 0xc7, 0x47, crate::layout::context::callee as u8]);
    bytes[4..8].copy_from_slice(&function.to_le_bytes());
    bytes[8] = 0xe9;
    let displacement = (target as i64 - (at + 13) as i64) as i32;
    bytes[9..13].copy_from_slice(&displacement.to_le_bytes());
    bytes
}

/// What a lazy stub reaches: the code to jump to for the function `context` was entered for.
///
/// # Safety
/// `context` is the running context.
pub(crate) unsafe fn resolve(context: *mut VmContext) -> Outcome<usize> {
    // SAFETY: the caller's promise.
    unsafe {
        if (*head(context)).kind == KIND_HOST {
            let host = crate::store::host_func(context);
            let engine = (*runtime::store_state(context)).engine();
            let adapter = engine.adapter(Adapter::CallSlow, host.signature).map_err(failed)?;
            host.entry.store(adapter as *mut u8, Ordering::Release);
            return Ok(adapter);
        }
        let function = (*head(context)).callee;
        let code = &instance(context).code;
        code.resolved.fetch_add(1, Ordering::Relaxed);
        if (*head(context)).poll.load(Ordering::Acquire) != 0 {
            super::poll_before_call(context, function)?;
        }
        if let Some(arm) = code.call_boundary(context, function) {
            return Ok(arm);
        }
        if code.enters_watched(context, function) {
            return code.slow_entry(context, function, false);
        }
        // An answer may have come between the asker's word and its exchange.
        code.entry_poll_was_set(context);
        // (its detour may be what led here)
        let own = code.module.defined(function).expect("only defined functions have stubs");
        if let Some(compiled) = code.entered_by(context, own) {
            return Ok(code.behind_detour(own, compiled));
        }
        if let Some(compiled) = code.code_to_run_in(context, function) {
            return Ok(code.behind_detour(own, compiled));
        }
        code.slow_entry(context, function, true)
    }
}

fn failed(error: String) -> Box<Unwind> {
    Box::new(Unwind::Host { error: format!("internal compiler error: {error}").into(), frames: Vec::new() })
}

impl ModuleCode {
    /// The way to the interpreter: the stub that leads straight to the slow-call adapter. With `stays` later calls take it too, until there is code.
    ///
    /// # Safety
    /// `context` is the running context of this module.
    unsafe fn slow_entry(&self, context: *mut VmContext, function: u32, stays: bool) -> Outcome<usize> {
        let adapter = self.shared.adapter(Adapter::CallSlow, self.signature(function)).map_err(failed)?;
        // This once without a stub, all of which is to say whose call it is and to jump.
        let without = || {
            // SAFETY: the caller's promise.
            unsafe { (*head(context)).callee = function };
            Ok(adapter)
        };
        // A running thread waits for nobody.
        let Some(mut published) = try_lock(&self.published) else { return without() };
        let address = match published.stubs.get(&function) {
            Some(block) => block.address(),
            None => {
                // (where code memory is full it goes on so)
                let Ok(mut block) = CodeBlock::new(STUB_BYTES, STUB_BYTES) else { return without() };
                let address = block.address();
                block.fill(0, &stub(function, address, adapter));
                self.shared.observe_nameless("backedge call stub", address, &block.copy(0..STUB_BYTES));
                published.stubs.insert(function, block);
                address
            }
        };
        if stays && self.compiled(function).is_null() {
            self.set_entry(&published, function, address);
        }
        Ok(address)
    }
}
