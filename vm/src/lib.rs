//! backedge's virtual machine: modules, instances, interpreter, traps, code table and WASI.
//!
//! Reading order: [`module`] (bytes to a validated module), [`layout`] (what compiled code sees), [`trap`], [`builtin`] and [`code`] (what a compiler
//! is given and gives back).

pub mod builtin;
pub mod bytecode;
pub mod code;
pub mod layout;
pub mod module;
pub mod signature;
pub mod trap;
