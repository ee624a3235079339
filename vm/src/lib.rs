//! backedge's virtual machine: modules, instances, interpreter, traps, code table and WASI.
//!
//! Reading order: [`module`] (bytes to a validated module), [`layout`] (what compiled code sees), [`trap`], [`builtin`] and [`code`] (what a compiler
//! is given and gives back), [`bytecode`] and [`interp`] (tier 0), [`store`], [`handles`], [`instance`] and [`runtime`] (running), [`tiering`] (how functions move up), [`exits`] (how code leaves where a
//! guard fails), [`timeline`] (what happened when), [`profiling`] (names of code for tools outside), [`wasi`].

pub mod module;
pub mod signature;
pub mod layout;
pub mod trap;
pub mod builtin;
pub mod code;
pub mod mapping;
pub mod memory;
mod table;
pub mod threads;
pub mod exception;
mod stack;
mod arena;
mod detour;
mod gate;
mod registry;
mod entry;
mod builtins;
pub mod speculative;
pub mod guest_lwp;
pub mod burst;
mod signals;
pub mod vector;
pub mod bytecode;
pub mod interp;
pub mod engine;
mod queue;
pub mod pool;
pub mod handles;
pub mod instance;
pub mod store;
pub mod runtime;
mod backtrace;
mod operations;
mod bulk;
pub mod tiering;
pub mod exits;
pub mod shape;
pub mod hints;
pub mod report;
pub mod timeline;
pub mod profiling;
pub mod wasi;
pub mod background;
pub use arena::used_bytes as code_memory_used;
