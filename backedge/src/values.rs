//! Values that cross between host and guest, and their form in slots (invariant 4 of `vm::layout`).

use crate::store::StoreId;
use crate::types::{HeapType, RefType, ValType};
use crate::{AsContext, AsContextMut, Func, Result, bail};
use std::any::Any;
use vm::handles::FuncRef;
use vm::layout::VmFunc;

/// A 128-bit vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct V128(u128);

impl V128 {
    /// Its bits.
    pub fn as_u128(&self) -> u128 {
        self.0
    }
}

impl From<u128> for V128 {
    fn from(bits: u128) -> V128 {
        V128(bits)
    }
}

impl From<V128> for u128 {
    fn from(vector: V128) -> u128 {
        vector.0
    }
}

/// A host value that guests hold as `externref`. It lives as long as its store.
///
/// There is no garbage collector, so no `Rooted`: where wasmtime has `Rooted<ExternRef>`, write `ExternRef`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExternRef {
    pub(crate) store: StoreId,
    pub(crate) handle: u64,
}

impl ExternRef {
    /// Gives a value to the store.
    ///
    /// ```
    /// use backedge::{Engine, ExternRef, Store};
    ///
    /// let mut store = Store::new(&Engine::default(), ());
    /// let value = ExternRef::new(&mut store, "hello")?;
    /// let data = value.data(&store)?.unwrap();
    /// assert_eq!(data.downcast_ref::<&str>(), Some(&"hello"));
    /// # Ok::<(), backedge::Error>(())
    /// ```
    ///
    /// # Errors
    /// None so far; wasmtime's can fail.
    pub fn new<T: Any + Send + Sync>(mut store: impl AsContextMut, value: T) -> Result<ExternRef> {
        let inner = store.as_context_mut().0;
        Ok(ExternRef { store: inner.id, handle: inner.machine.new_extern(Box::new(value)) })
    }

    /// The value.
    ///
    /// # Errors
    /// It belongs to another store.
    pub fn data<'a, T: 'static>(&self, store: impl Into<crate::StoreContext<'a, T>>) -> Result<Option<&'a (dyn Any + Send + Sync)>> {
        let inner = store.into().0;
        if inner.id != self.store {
            bail!("externref used with a store that it does not belong to");
        }
        Ok(inner.machine.extern_value(self.handle))
    }
}

/// A value of any type. Floats are kept as bits, so that NaNs survive.
#[derive(Clone, Copy, Debug)]
pub enum Val {
    /// 32-bit integer.
    I32(i32),
    /// 64-bit integer.
    I64(i64),
    /// 32-bit float, as bits.
    F32(u32),
    /// 64-bit float, as bits.
    F64(u64),
    /// Vector.
    V128(V128),
    /// Function, or null.
    FuncRef(Option<Func>),
    /// Host value, or null.
    ExternRef(Option<ExternRef>),
    /// Exception, or null.
    ExnRef(Option<ExnRef>),
}

macro_rules! accessors {
    ($($variant:ident $get:ident $unwrap:ident $ty:ty, $from:expr;)*) => {
        impl Val {
            $(
                /// The value, if it is of this type.
                pub fn $get(&self) -> Option<$ty> {
                    match *self {
                        Val::$variant(value) => Some($from(value)),
                        _ => None,
                    }
                }

                /// The value.
                ///
                /// # Panics
                /// It is of another type.
                pub fn $unwrap(&self) -> $ty {
                    self.$get().expect(concat!("expected ", stringify!($ty)))
                }
            )*
        }
    };
}

accessors! {
    I32 i32 unwrap_i32 i32, |value| value;
    I64 i64 unwrap_i64 i64, |value| value;
    F32 f32 unwrap_f32 f32, f32::from_bits;
    F64 f64 unwrap_f64 f64, f64::from_bits;
    V128 v128 unwrap_v128 V128, |value| value;
}

impl Val {
    /// The function reference, if it is one.
    pub fn funcref(&self) -> Option<Option<&Func>> {
        match self {
            Val::FuncRef(func) => Some(func.as_ref()),
            _ => None,
        }
    }

    /// The function reference.
    ///
    /// # Panics
    /// It is of another type.
    pub fn unwrap_funcref(&self) -> Option<&Func> {
        self.funcref().expect("expected funcref")
    }

    /// The extern reference, if it is one.
    pub fn externref(&self) -> Option<Option<&ExternRef>> {
        match self {
            Val::ExternRef(value) => Some(value.as_ref()),
            _ => None,
        }
    }

    /// The extern reference.
    ///
    /// # Panics
    /// It is of another type.
    pub fn unwrap_externref(&self) -> Option<&ExternRef> {
        self.externref().expect("expected externref")
    }

    /// Null `funcref`.
    pub const fn null_func_ref() -> Val {
        Val::FuncRef(None)
    }

    /// Null `externref`.
    pub const fn null_extern_ref() -> Val {
        Val::ExternRef(None)
    }

    /// Null of a reference type.
    pub fn null_ref(heap_type: &HeapType) -> Val {
        match heap_type {
            HeapType::Func | HeapType::ConcreteFunc(_) | HeapType::NoFunc => Val::FuncRef(None),
            HeapType::Extern | HeapType::NoExtern => Val::ExternRef(None),
            HeapType::Exn | HeapType::NoExn => Val::ExnRef(None),
        }
    }

    /// Zero, or null; `None` where null is no value of the type.
    pub fn default_for_ty(ty: &ValType) -> Option<Val> {
        match ty {
            ValType::Ref(ty) if !ty.is_nullable() => None,
            ty => Some(Val::zero_or_null(ty)),
        }
    }

    /// The same, and null for a reference that must not be: what the host is to replace.
    pub(crate) fn zero_or_null(ty: &ValType) -> Val {
        match ty {
            ValType::I32 => Val::I32(0),
            ValType::I64 => Val::I64(0),
            ValType::F32 => Val::F32(0),
            ValType::F64 => Val::F64(0),
            ValType::V128 => Val::V128(V128(0)),
            ValType::Ref(ty) => Val::null_ref(ty.heap_type()),
        }
    }

    /// Its type.
    ///
    /// # Errors
    /// None so far; wasmtime's can fail.
    pub fn ty(&self, _store: impl AsContext) -> Result<ValType> {
        Ok(self.type_of())
    }

    pub(crate) fn type_of(&self) -> ValType {
        match self {
            Val::I32(_) => ValType::I32,
            Val::I64(_) => ValType::I64,
            Val::F32(_) => ValType::F32,
            Val::F64(_) => ValType::F64,
            Val::V128(_) => ValType::V128,
            Val::FuncRef(_) => ValType::FUNCREF,
            Val::ExternRef(_) => ValType::EXTERNREF,
            Val::ExnRef(_) => ValType::Ref(RefType::new(true, HeapType::Exn)),
        }
    }

    /// Whether it is a value of a type. A function of another store fits: what it is may not be read, for it may be gone, and [`Val::to_slots`] refuses it.
    pub(crate) fn fits(&self, ty: ValType, store: StoreId) -> bool {
        match (self, ty) {
            (Val::FuncRef(None) | Val::ExternRef(None) | Val::ExnRef(None), ValType::Ref(ty)) => {
                ty.is_nullable() && std::mem::discriminant(self) == std::mem::discriminant(&Val::null_ref(ty.heap_type()))
            }
            (Val::FuncRef(Some(func)), ValType::Ref(ty)) => match ty.heap_type() {
                HeapType::Func => true,
                HeapType::ConcreteFunc(id) => func.store != store || func.raw.signature() == id.0,
                _ => false,
            },
            (Val::ExternRef(Some(_)), ValType::Ref(ty)) => *ty.heap_type() == HeapType::Extern,
            (Val::ExnRef(Some(_)), ValType::Ref(ty)) => *ty.heap_type() == HeapType::Exn,
            _ => self.type_of() == ty,
        }
    }

    /// The value as slots; checks that a reference belongs to the store.
    pub(crate) fn to_slots(self, store: StoreId) -> Result<[u64; 2]> {
        Ok(match self {
            Val::I32(value) => [value as u32 as u64, 0],
            Val::I64(value) => [value as u64, 0],
            Val::F32(bits) => [bits.into(), 0],
            Val::F64(bits) => [bits, 0],
            Val::V128(V128(bits)) => [bits as u64, (bits >> 64) as u64],
            Val::FuncRef(func) => [func_slot(func, store)?, 0],
            Val::ExternRef(value) => [extern_slot(value, store)?, 0],
            Val::ExnRef(value) => [exn_slot(value, store)?, 0],
        })
    }

    /// Writes values of some types one behind the other.
    ///
    /// # Errors
    /// One does not fit its type, which begins with `mismatch`; or it is a reference of another store.
    pub(crate) fn all_to_slots(
        values: &[Val],
        types: impl Iterator<Item = ValType>,
        store: StoreId,
        slots: &mut [u64],
        mismatch: &str,
    ) -> Result<()> {
        let mut at = 0;
        for (value, expected) in values.iter().zip(types) {
            if !value.fits(expected, store) {
                bail!("{mismatch}: found {} but expected {expected}", value.type_of());
            }
            let words = value.to_slots(store)?;
            slots[at..at + expected.slots()].copy_from_slice(&words[..expected.slots()]);
            at += expected.slots();
        }
        Ok(())
    }

    /// The values of some types that lie one behind the other.
    pub(crate) fn all_from_slots(types: impl Iterator<Item = ValType>, slots: &[u64], store: StoreId) -> impl Iterator<Item = Val> {
        let mut at = 0;
        types.map(move |ty| {
            let value = Val::from_slots(ty, &slots[at..], store);
            at += ty.slots();
            value
        })
    }

    /// The value of a type in slots.
    pub(crate) fn from_slots(ty: ValType, slots: &[u64], store: StoreId) -> Val {
        match ty {
            ValType::I32 => Val::I32(slots[0] as i32),
            ValType::I64 => Val::I64(slots[0] as i64),
            ValType::F32 => Val::F32(slots[0] as u32),
            ValType::F64 => Val::F64(slots[0]),
            ValType::V128 => Val::V128(V128(slots[0] as u128 | (slots[1] as u128) << 64)),
            ValType::Ref(ty) => match ty.heap_type() {
                HeapType::Extern | HeapType::NoExtern => Val::ExternRef(extern_of(slots[0], store)),
                HeapType::Exn | HeapType::NoExn => Val::ExnRef(exn_of(slots[0], store)),
                HeapType::Func | HeapType::ConcreteFunc(_) | HeapType::NoFunc => Val::FuncRef(func_of(slots[0], store)),
            },
        }
    }
}

/// An exception that a guest caught by reference. One that the host has as a value lives as long as its store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExnRef {
    pub(crate) store: StoreId,
    pub(crate) address: u64,
}

/// An exception reference as a slot.
pub(crate) fn exn_slot(value: Option<ExnRef>, store: StoreId) -> Result<u64> {
    match value {
        None => Ok(0),
        Some(value) if value.store == store => Ok(value.address),
        Some(_) => bail!("exnref used with a store that it does not belong to"),
    }
}

/// The exception reference in a slot.
pub(crate) fn exn_of(slot: u64, store: StoreId) -> Option<ExnRef> {
    if slot == 0 {
        return None;
    }
    // SAFETY: the slot holds a live exnref of this store: it comes from typed wasm code or from `exn_slot`.
    unsafe { vm::exception::hold(slot) };
    Some(ExnRef { store, address: slot })
}

/// A function reference as a slot.
pub(crate) fn func_slot(func: Option<Func>, store: StoreId) -> Result<u64> {
    match func {
        None => Ok(0),
        Some(func) if func.store == store => Ok(func.raw.as_ptr() as u64),
        Some(_) => bail!("function used with a store that it does not belong to"),
    }
}

/// The function reference in a slot that wasm of this store wrote.
pub(crate) fn func_of(slot: u64, store: StoreId) -> Option<Func> {
    // SAFETY: the slot holds a funcref of this store: it comes from typed wasm code or from `func_slot`.
    let raw = unsafe { FuncRef::from_ptr(slot as *mut VmFunc) }?;
    Some(Func { store, raw })
}

/// An extern reference as a slot.
pub(crate) fn extern_slot(value: Option<ExternRef>, store: StoreId) -> Result<u64> {
    match value {
        None => Ok(0),
        Some(value) if value.store == store => Ok(value.handle),
        Some(_) => bail!("externref used with a store that it does not belong to"),
    }
}

/// The extern reference in a slot.
pub(crate) fn extern_of(slot: u64, store: StoreId) -> Option<ExternRef> {
    (slot != 0).then_some(ExternRef { store, handle: slot })
}

macro_rules! from {
    ($($ty:ty => $make:expr;)*) => {
        $(impl From<$ty> for Val {
            fn from(value: $ty) -> Val {
                $make(value)
            }
        })*
    };
}

from! {
    i32 => Val::I32;
    i64 => Val::I64;
    f32 => |value: f32| Val::F32(value.to_bits());
    f64 => |value: f64| Val::F64(value.to_bits());
    u128 => |value: u128| Val::V128(V128(value));
    V128 => Val::V128;
    Func => |value| Val::FuncRef(Some(value));
    Option<Func> => Val::FuncRef;
    ExternRef => |value| Val::ExternRef(Some(value));
    Option<ExternRef> => Val::ExternRef;
}

/// A reference: what tables hold.
#[derive(Clone, Copy, Debug)]
pub enum Ref {
    /// Function, or null.
    Func(Option<Func>),
    /// Host value, or null.
    Extern(Option<ExternRef>),
    /// Exception, or null.
    Exn(Option<ExnRef>),
}

impl Ref {
    /// Null.
    pub fn null(heap_type: &HeapType) -> Ref {
        match heap_type {
            HeapType::Func | HeapType::ConcreteFunc(_) | HeapType::NoFunc => Ref::Func(None),
            HeapType::Extern | HeapType::NoExtern => Ref::Extern(None),
            HeapType::Exn | HeapType::NoExn => Ref::Exn(None),
        }
    }

    /// Whether it is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Ref::Func(None) | Ref::Extern(None) | Ref::Exn(None))
    }

    /// The function, if it is a function reference.
    pub fn as_func(&self) -> Option<Option<&Func>> {
        match self {
            Ref::Func(func) => Some(func.as_ref()),
            Ref::Extern(_) | Ref::Exn(_) => None,
        }
    }

    /// The function.
    ///
    /// # Panics
    /// It is not a function reference.
    pub fn unwrap_func(&self) -> Option<&Func> {
        self.as_func().expect("expected a function reference")
    }

    /// The host value, if it is an extern reference.
    pub fn as_extern(&self) -> Option<Option<&ExternRef>> {
        match self {
            Ref::Extern(value) => Some(value.as_ref()),
            Ref::Func(_) | Ref::Exn(_) => None,
        }
    }

    /// See [`Val::fits`].
    pub(crate) fn fits(&self, ty: &RefType, store: StoreId) -> bool {
        Val::from(*self).fits(ValType::Ref(*ty), store)
    }

    pub(crate) fn to_slot(self, store: StoreId) -> Result<u64> {
        match self {
            Ref::Func(func) => func_slot(func, store),
            Ref::Extern(value) => extern_slot(value, store),
            Ref::Exn(value) => exn_slot(value, store),
        }
    }

    pub(crate) fn from_slot(ty: RefType, slot: u64, store: StoreId) -> Ref {
        match ty.heap_type() {
            HeapType::Func | HeapType::ConcreteFunc(_) | HeapType::NoFunc => Ref::Func(func_of(slot, store)),
            HeapType::Extern | HeapType::NoExtern => Ref::Extern(extern_of(slot, store)),
            HeapType::Exn | HeapType::NoExn => Ref::Exn(exn_of(slot, store)),
        }
    }
}

impl From<Func> for Ref {
    fn from(func: Func) -> Ref {
        Ref::Func(Some(func))
    }
}

impl From<Option<Func>> for Ref {
    fn from(func: Option<Func>) -> Ref {
        Ref::Func(func)
    }
}

impl From<ExternRef> for Ref {
    fn from(value: ExternRef) -> Ref {
        Ref::Extern(Some(value))
    }
}

impl From<Option<ExternRef>> for Ref {
    fn from(value: Option<ExternRef>) -> Ref {
        Ref::Extern(value)
    }
}

impl From<Ref> for Val {
    fn from(value: Ref) -> Val {
        match value {
            Ref::Func(func) => Val::FuncRef(func),
            Ref::Extern(value) => Val::ExternRef(value),
            Ref::Exn(value) => Val::ExnRef(value),
        }
    }
}
