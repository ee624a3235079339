//! backedge's virtual machine: modules, instances, interpreter, traps, code table and WASI.
//!
//! Reading order: [`module`] (bytes to a validated module), [`layout`] (what compiled code sees), [`trap`], [`builtin`] and [`code`] (what a compiler
//! is given and gives back), [`bytecode`] and [`interp`] (tier 0), [`store`] and [`runtime`] (running), [`tiering`] (how functions move up),
//! [`wasi`].

mod arena;
pub mod builtin;
mod builtins;
pub mod bytecode;
pub mod code;
pub mod engine;
mod entry;
pub mod interp;
pub mod layout;
mod mapping;
mod memory;
pub mod module;
mod queue;
mod registry;
pub mod report;
pub mod runtime;
mod signals;
pub mod signature;
mod stack;
pub mod store;
mod table;
pub mod tiering;
pub mod trap;
pub mod wasi;
pub use arena::used_bytes as code_memory_used;
