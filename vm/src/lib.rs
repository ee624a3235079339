//! backedge's virtual machine: modules, instances, interpreter, traps, code table and WASI.
//!
//! Reading order: [`module`] (bytes to a validated module), [`layout`] (what compiled code sees), [`trap`], [`builtin`] and [`code`] (what a compiler
//! is given and gives back), [`bytecode`] and [`interp`] (tier 0), [`store`], [`handles`], [`instance`] and [`runtime`] (running), [`tiering`] (how functions move up), [`exits`] (how code leaves where a
//! guard fails),
//! [`wasi`].

pub mod module;
pub mod signature;
pub mod layout;
pub mod trap;
pub mod builtin;
pub mod code;
mod mapping;
mod memory;
mod table;
mod stack;
mod arena;
mod registry;
mod entry;
mod builtins;
pub mod speculative;
pub mod guest_lwp;
pub mod burst;
mod signals;
pub mod bytecode;
pub mod interp;
pub mod engine;
mod queue;
pub mod handles;
pub mod instance;
pub mod store;
pub mod runtime;
pub mod tiering;
pub mod exits;
pub mod shape;
pub mod hints;
pub mod report;
pub mod wasi;
pub use arena::used_bytes as code_memory_used;
