//! Which proposals a module may use, and which one it used that it may not.

use wasmparser::{Validator, WasmFeatures};

/// What the tiers run: WebAssembly 2.0, and of 3.0 what [`PROPOSALS_RUN`] names.
pub const SUPPORTED: WasmFeatures = WasmFeatures::WASM2.union(PROPOSALS_RUN);

/// Proposals beyond WebAssembly 2.0 that the tiers run (`docs/src/proposals.md`).
const PROPOSALS_RUN: WasmFeatures = WasmFeatures::EXTENDED_CONST
    .union(WasmFeatures::RELAXED_SIMD)
    .union(WasmFeatures::FUNCTION_REFERENCES)
    .union(WasmFeatures::MULTI_MEMORY)
    .union(WasmFeatures::MEMORY64)
    .union(WasmFeatures::TAIL_CALL)
    .union(WasmFeatures::EXCEPTIONS)
    .union(WasmFeatures::LEGACY_EXCEPTIONS)
    .union(WasmFeatures::THREADS);

/// Proposals by name, in the order in which they are tried as the reason of a failure: one that others build on comes after those.
const PROPOSALS: &[(&str, WasmFeatures)] = &[
    ("relaxed SIMD", WasmFeatures::RELAXED_SIMD),
    ("SIMD", WasmFeatures::SIMD),
    ("legacy exception handling", WasmFeatures::LEGACY_EXCEPTIONS),
    ("exception handling", WasmFeatures::EXCEPTIONS),
    ("stack switching", WasmFeatures::STACK_SWITCHING),
    ("shared-everything threads", WasmFeatures::SHARED_EVERYTHING_THREADS),
    ("threads", WasmFeatures::THREADS),
    ("tail calls", WasmFeatures::TAIL_CALL),
    ("memory64", WasmFeatures::MEMORY64),
    ("multi-memory", WasmFeatures::MULTI_MEMORY),
    ("custom descriptors", WasmFeatures::CUSTOM_DESCRIPTORS),
    ("gc", WasmFeatures::GC),
    ("typed function references", WasmFeatures::FUNCTION_REFERENCES),
    ("custom page sizes", WasmFeatures::CUSTOM_PAGE_SIZES),
    ("wide arithmetic", WasmFeatures::WIDE_ARITHMETIC),
    ("memory control", WasmFeatures::MEMORY_CONTROL),
    ("compact imports", WasmFeatures::COMPACT_IMPORTS),
    ("acquire-release atomics", WasmFeatures::ACQUIRE_RELEASE_ATOMICS),
    ("multibyte array access", WasmFeatures::MULTIBYTE_ARRAY_ACCESS),
    ("extended constant expressions", WasmFeatures::EXTENDED_CONST),
    ("reference types", WasmFeatures::REFERENCE_TYPES),
    ("bulk memory operations", WasmFeatures::BULK_MEMORY),
    ("multiple values", WasmFeatures::MULTI_VALUE),
];

/// Every core proposal the validator knows.
fn all_core() -> WasmFeatures {
    PROPOSALS.iter().fold(SUPPORTED, |all, (_, features)| all | *features)
}

fn validates(bytes: &[u8], features: WasmFeatures) -> bool {
    Validator::new_with_features(features).validate_all(bytes).is_ok()
}

/// For bytes that do not validate with `features`: the proposal they would validate with, and whether it is [`SUPPORTED`]; or `None` when nothing helps.
pub(super) fn needed_proposal(bytes: &[u8], features: WasmFeatures) -> Option<(&'static str, bool)> {
    let all = all_core();
    // The two exception handling proposals share opcodes in no module, but the legacy one is off in most validators: with both on, both are read.
    if !validates(bytes, all) {
        return None;
    }
    PROPOSALS
        .iter()
        .filter(|(_, proposal)| !features.contains(*proposal))
        // (GC's bits contain those of reference types)
        .find(|(_, proposal)| !validates(bytes, all.difference(proposal.difference(features))))
        .map(|&(name, proposal)| (name, SUPPORTED.contains(proposal)))
        // Every proposal alone can be left out, yet all of them cannot: two ways to read the same bytes.
        .or(Some(("a proposal that is not implemented", false)))
}
