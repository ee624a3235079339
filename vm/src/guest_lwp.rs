//! LWP instructions for guests: four functions that a module may import from `lwp`, with the operands of the compilers' intrinsics.
//!
//! | import | type | does |
//! |---|---|---|
//! | `lwpval32` | (Data2: i32, Data1: i32, Flags: i32) | counts; every so many, as the engine's interval says, a record |
//! | `lwpval64` | (Data2: i64, Data1: i32, Flags: i32) | the same with 64 bits |
//! | `lwpins32` | (Data2: i32, Data1: i32, Flags: i32) → i32 | a record; 1 when the ring was full and it was missed |
//! | `lwpins64` | (Data2: i64, Data1: i32, Flags: i32) → i32 | the same with 64 bits |
//!
//! The low 16 bits of Flags go into the record. Records go to the ring of the thread that runs the guest, between the engine's own, and
//! from there to whoever listens; a guest cannot read them, so no address of the host gets to it. The module name `lwp` with these
//! names and types is the engine's: compilers put the instruction in place of the call, whatever the host defines.

use wasmparser::{FuncType, ValType};

use lwp_feedback::ring::{count_value, store_programmed};

use crate::backtrace;
use crate::module::{ExternType, Module};
use crate::store::StoreState;

/// The module that they are imported from.
pub const MODULE: &str = "lwp";

/// One of the functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuestLwp {
    insert: bool,
    wide: bool,
}

impl GuestLwp {
    /// All four.
    pub const ALL: [GuestLwp; 4] = [
        GuestLwp { insert: false, wide: false },
        GuestLwp { insert: false, wide: true },
        GuestLwp { insert: true, wide: false },
        GuestLwp { insert: true, wide: true },
    ];

    /// Its import name.
    pub fn name(self) -> &'static str {
        match (self.insert, self.wide) {
            (false, false) => "lwpval32",
            (false, true) => "lwpval64",
            (true, false) => "lwpins32",
            (true, true) => "lwpins64",
        }
    }

    /// Whether it is LWPINS.
    pub fn is_insert(self) -> bool {
        self.insert
    }

    /// Whether Data2 has 64 bits.
    pub fn is_wide(self) -> bool {
        self.wide
    }

    /// Its type.
    pub fn ty(self) -> FuncType {
        let data2 = if self.wide { ValType::I64 } else { ValType::I32 };
        let results: &[ValType] = if self.insert { &[ValType::I32] } else { &[] };
        FuncType::new([data2, ValType::I32, ValType::I32], results.iter().copied())
    }

    /// The one that an import of these names and this type is.
    pub fn of(module: &str, name: &str, ty: &FuncType) -> Option<GuestLwp> {
        (module == MODULE).then_some(())?;
        GuestLwp::ALL.into_iter().find(|it| it.name() == name && it.ty() == *ty)
    }

    /// The one that a function of a module is, if that is imported.
    pub fn of_import(module: &Module, function: u32) -> Option<GuestLwp> {
        if module.defined(function).is_some() {
            return None;
        }
        let mut functions = module.imports.iter().filter(|import| matches!(import.ty, ExternType::Func(_)));
        let import = functions.nth(function as usize)?;
        GuestLwp::of(&import.module, &import.name, module.function_type(function))
    }

    /// What a call of it does where it is not compiled: from the interpreter, or through a table. Slots in; the result, for LWPINS.
    /// The record carries the address that the call was made at, in the code or the bytecode of the guest ([`backtrace::calling_address`]).
    pub fn call(self, store: &mut StoreState, slots: [u64; 3]) -> u32 {
        let [data2, data1, flags] = slots;
        let data2 = if self.wide { data2 } else { data2 & 0xffff_ffff };
        let lwpcb = store.engine().thread_lwpcb().cast();
        let ip = backtrace::calling_address(store);
        // SAFETY: the LWPCB of this thread's own ring, which lives as long as the thread; only this thread produces into it.
        unsafe {
            if self.insert {
                return store_programmed(lwpcb, ip, flags as u32, data1 as u32, data2);
            }
            // One counter, whoever counts.
            store.context.keep_values();
            count_value(lwpcb, ip, flags as u32, data1 as u32, data2);
            store.context.take_values();
        }
        0
    }
}
