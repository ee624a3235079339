//! AMD Lightweight Profiling (LWP) in software, and what a feedback-directed JIT does with it.
//!
//! Data goes left to right:
//!
//! ```text
//! generated code ─► ring (LWPCB + 32-byte records) ─► monitor ─► profile ─► snapshot ─► policy ─► plans
//!                                                       ▲
//!                                          codemap: address → (function, version, offset)
//! ```
//!
//! The crate knows no WebAssembly: a *site* is (function, offset, class). The architecture itself (LWPCB, records, events)
//! follows AMD publication 43724 as far as public material confirms it; `docs/src/lwp-conformance.md` lists every rule with
//! the test that holds it or the switch that chooses it.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("lwp-feedback runs on x86-64 Linux only");

pub mod layout;

pub mod record;

pub mod convert;

pub mod capabilities;

pub mod instruction;

pub mod unit;

pub mod threshold;

mod thread_unit;

pub mod intrinsics;

pub mod native;

pub mod trap;

pub mod class;

pub mod eventset;

pub mod predictor;

pub mod calibrate;

pub mod bias;

pub mod ring;

pub mod codemap;

pub mod hashtext;

pub mod profile;

pub mod monitor;

pub mod policy;

pub mod recordfile;

pub mod profilefile;

pub mod replace;

pub mod accuracy;

pub mod source;

pub mod sources;

pub mod bench;

pub mod info;

pub mod sim;

pub mod events;

pub mod pebs;

pub mod cpc;

pub mod models;
