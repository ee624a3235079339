//! Functions: calling guests, with values or typed, and host functions made from closures.
//!
//! A host function is a [`HostFunc`]: a type and a body on slots. Every way of making one (`new`, `wrap`, a linker's) ends in
//! [`HostFunc::into_store`].

use crate::store::{StoreId, StoreInner, host_error};
use crate::types::{FuncType, RefType, ValType};
use crate::values::{extern_of, extern_slot, func_of, func_slot};
use crate::{AsContext, AsContextMut, Caller, ExternRef, Result, StoreContextMut, V128, Val, bail};
use std::marker::PhantomData;
use std::sync::Arc;
use vm::handles::FuncRef;
use vm::store::HostCall;

/// A function of a store: the guest's, or the host's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Func {
    pub(crate) store: StoreId,
    pub(crate) raw: FuncRef,
}

impl Func {
    /// Makes a host function that takes and returns values.
    ///
    /// ```
    /// use backedge::{Engine, Func, FuncType, Store, Val, ValType};
    ///
    /// let engine = Engine::default();
    /// let mut store = Store::new(&engine, ());
    /// let ty = FuncType::new(&engine, [ValType::I32, ValType::I32], [ValType::I32]);
    /// let add = Func::new(&mut store, ty, |_, args, results| {
    ///     results[0] = Val::I32(args[0].unwrap_i32() + args[1].unwrap_i32());
    ///     Ok(())
    /// });
    /// let mut results = [Val::I32(0)];
    /// add.call(&mut store, &[Val::I32(1), Val::I32(2)], &mut results)?;
    /// assert_eq!(results[0].unwrap_i32(), 3);
    /// # Ok::<(), backedge::Error>(())
    /// ```
    pub fn new<T: 'static>(
        mut store: impl AsContextMut<Data = T>,
        ty: FuncType,
        func: impl Fn(Caller<'_, T>, &[Val], &mut [Val]) -> Result<()> + Send + Sync + 'static,
    ) -> Func {
        Arc::new(HostFunc::new(ty, func)).into_store(store.as_context_mut().0)
    }

    /// Makes a host function from a closure; its type is the closure's.
    ///
    /// ```
    /// use backedge::{Caller, Engine, Func, Store};
    ///
    /// let mut store = Store::new(&Engine::default(), 10);
    /// let add = Func::wrap(&mut store, |caller: Caller<'_, i32>, a: i32, b: i32| *caller.data() + a + b);
    /// let add = add.typed::<(i32, i32), i32>(&store)?;
    /// assert_eq!(add.call(&mut store, (1, 2))?, 13);
    /// # Ok::<(), backedge::Error>(())
    /// ```
    pub fn wrap<T: 'static, Params, Results>(mut store: impl AsContextMut<Data = T>, func: impl IntoFunc<T, Params, Results>) -> Func {
        Arc::new(func.into_func()).into_store(store.as_context_mut().0)
    }

    /// Its type.
    pub fn ty(&self, store: impl AsContext) -> FuncType {
        store.as_context().0.check(self.store);
        FuncType::from_wasm(self.raw.ty())
    }

    /// Calls it with values; writes its results.
    ///
    /// # Errors
    /// Values that do not fit its type, a trap, or a host function's error.
    pub fn call(&self, mut store: impl AsContextMut, params: &[Val], results: &mut [Val]) -> Result<()> {
        let inner = store.as_context_mut().0;
        inner.check(self.store);
        let ty = FuncType::from_wasm(self.raw.ty());
        if params.len() != ty.params().len() {
            bail!("expected {} arguments, got {}", ty.params().len(), params.len());
        }
        if results.len() != ty.results().len() {
            bail!("expected {} results, got {}", ty.results().len(), results.len());
        }
        let mut slots = vec![0; ty.slots().max(1)];
        Val::all_to_slots(params, ty.params(), inner.id, &mut slots, "argument type mismatch")?;
        // SAFETY: the function is of this store, and the slots hold its argument types (both checked).
        unsafe { inner.call(self.raw, &mut slots)? };
        results.iter_mut().zip(Val::all_from_slots(ty.results(), &slots, inner.id)).for_each(|(result, value)| *result = value);
        Ok(())
    }

    /// The function with its Rust types checked once: it takes all that `Params` may be, and returns nothing that `Results` cannot be.
    ///
    /// # Errors
    /// Its type is another.
    pub fn typed<Params: WasmParams, Results: WasmResults>(&self, store: impl AsContext) -> Result<TypedFunc<Params, Results>> {
        let found = self.ty(store);
        let expected = FuncType::of(Params::types(), Results::types());
        if !found.matches(&expected) {
            bail!("type mismatch: expected a function `{expected}`, found `{found}`");
        }
        Ok(TypedFunc { func: *self, types: PhantomData })
    }
}

/// A function whose parameters are `Params` and results `Results`: `()`, one type, or a tuple of [`WasmTy`]s.
///
/// ```
/// use backedge::{Engine, Instance, Module, Store};
///
/// let engine = Engine::default();
/// let module = Module::new(&engine, r#"(module (func (export "swap") (param i32 f64) (result f64 i32) local.get 1 local.get 0))"#)?;
/// let mut store = Store::new(&engine, ());
/// let instance = Instance::new(&mut store, &module, &[])?;
/// let swap = instance.get_typed_func::<(i32, f64), (f64, i32)>(&mut store, "swap")?;
/// assert_eq!(swap.call(&mut store, (1, 2.5))?, (2.5, 1));
/// # Ok::<(), backedge::Error>(())
/// ```
pub struct TypedFunc<Params, Results> {
    func: Func,
    types: PhantomData<fn(Params) -> Results>,
}

impl<Params, Results> Clone for TypedFunc<Params, Results> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Params, Results> Copy for TypedFunc<Params, Results> {}

impl<Params: WasmParams, Results: WasmResults> TypedFunc<Params, Results> {
    /// The function.
    pub fn func(&self) -> &Func {
        &self.func
    }

    /// Calls it.
    ///
    /// # Errors
    /// A trap, or a host function's error.
    pub fn call(&self, mut store: impl AsContextMut, params: Params) -> Result<Results> {
        let inner = store.as_context_mut().0;
        inner.check(self.func.store);
        let mut slots = [0; MOST_SLOTS];
        params.write(inner.id, &mut slots)?;
        // SAFETY: the function is of this store (checked) and of this type (checked by `typed`); a tuple's values fit MOST_SLOTS.
        unsafe { inner.call(self.func.raw, &mut slots)? };
        Ok(Results::read(inner.id, &slots))
    }
}

/// Slots of the largest tuple: 17 values of two slots.
const MOST_SLOTS: usize = 34;

/// A Rust type that stands for a wasm value type.
///
/// # Safety
/// Only this crate implements it: slots must hold values of the types that it says, and references of the store.
pub unsafe trait WasmTy: Send {
    /// The wasm type.
    #[doc(hidden)]
    const TYPE: ValType;
    /// Writes the value to its slots.
    #[doc(hidden)]
    fn write(self, store: StoreId, slots: &mut [u64]) -> Result<()>;
    /// Reads the value from its slots.
    #[doc(hidden)]
    fn read(store: StoreId, slots: &[u64]) -> Self;
}

/// Slots of a type's values.
const fn slots_of<T: WasmTy>() -> usize {
    if matches!(T::TYPE, ValType::V128) { 2 } else { 1 }
}

macro_rules! wasm_ty {
    ($($ty:ty = $wasm:expr, $write:expr, $read:expr;)*) => {
        $(// SAFETY: the slot holds a value of the type; references are checked to be the store's.
        unsafe impl WasmTy for $ty {
            const TYPE: ValType = $wasm;
            #[inline]
            fn write(self, store: StoreId, slots: &mut [u64]) -> Result<()> {
                let write: fn($ty, StoreId) -> Result<u64> = $write;
                slots[0] = write(self, store)?;
                Ok(())
            }
            #[inline]
            fn read(store: StoreId, slots: &[u64]) -> $ty {
                let read: fn(u64, StoreId) -> $ty = $read;
                read(slots[0], store)
            }
        })*
    };
}

wasm_ty! {
    i32 = ValType::I32, |value, _| Ok(value as u32 as u64), |slot, _| slot as i32;
    u32 = ValType::I32, |value, _| Ok(value.into()), |slot, _| slot as u32;
    i64 = ValType::I64, |value, _| Ok(value as u64), |slot, _| slot as i64;
    u64 = ValType::I64, |value, _| Ok(value), |slot, _| slot;
    f32 = ValType::F32, |value, _| Ok(value.to_bits().into()), |slot, _| f32::from_bits(slot as u32);
    f64 = ValType::F64, |value, _| Ok(value.to_bits()), |slot, _| f64::from_bits(slot);
    Option<Func> = ValType::FUNCREF, func_slot, func_of;
    Option<ExternRef> = ValType::EXTERNREF, extern_slot, extern_of;
    Func = ValType::Ref(RefType::FUNCREF.non_null()), |func, store| func_slot(Some(func), store), |slot, store| func_of(slot, store).expect(NOT_NULL);
    ExternRef = ValType::Ref(RefType::EXTERNREF.non_null()), |value, store| extern_slot(Some(value), store), |slot, store| extern_of(slot, store).expect(NOT_NULL);
}

/// Wasm is validated, and what a host function returns is checked.
const NOT_NULL: &str = "the type has no null";

// SAFETY: two slots, the low half first.
unsafe impl WasmTy for V128 {
    const TYPE: ValType = ValType::V128;
    fn write(self, _store: StoreId, slots: &mut [u64]) -> Result<()> {
        slots[0] = self.as_u128() as u64;
        slots[1] = (self.as_u128() >> 64) as u64;
        Ok(())
    }
    fn read(_store: StoreId, slots: &[u64]) -> V128 {
        V128::from(slots[0] as u128 | (slots[1] as u128) << 64)
    }
}

/// Parameters of a [`TypedFunc`]: `()`, a [`WasmTy`] or a tuple of up to 16.
///
/// # Safety
/// Only this crate implements it: slots must hold values of the types that it says, and references of the store.
pub unsafe trait WasmParams: Send {
    #[doc(hidden)]
    fn types() -> Vec<ValType>;
    #[doc(hidden)]
    fn write(self, store: StoreId, slots: &mut [u64]) -> Result<()>;
}

/// Results of a [`TypedFunc`]: `()`, a [`WasmTy`] or a tuple of up to 16.
///
/// # Safety
/// Only this crate implements it: slots must hold values of the types that it says, and references of the store.
pub unsafe trait WasmResults: WasmParams {
    #[doc(hidden)]
    fn read(store: StoreId, slots: &[u64]) -> Self;
}

/// What a closure that becomes a host function may return: [`WasmResults`], or a [`Result`] of them.
///
/// # Safety
/// Only this crate implements it: slots must hold values of the types that it says, and references of the store.
pub unsafe trait WasmRet {
    #[doc(hidden)]
    fn types() -> Vec<ValType>;
    #[doc(hidden)]
    fn finish(self, store: StoreId, slots: &mut [u64]) -> Result<()>;
}

// SAFETY: one value, by its own type.
unsafe impl<T: WasmTy> WasmParams for T {
    fn types() -> Vec<ValType> {
        vec![T::TYPE]
    }
    #[inline]
    fn write(self, store: StoreId, slots: &mut [u64]) -> Result<()> {
        WasmTy::write(self, store, slots)
    }
}

// SAFETY: one value, by its own type.
unsafe impl<T: WasmTy> WasmResults for T {
    #[inline]
    fn read(store: StoreId, slots: &[u64]) -> T {
        WasmTy::read(store, slots)
    }
}

// SAFETY: these results, by their own types.
unsafe impl<R: WasmResults> WasmRet for R {
    fn types() -> Vec<ValType> {
        <R as WasmParams>::types()
    }
    #[inline]
    fn finish(self, store: StoreId, slots: &mut [u64]) -> Result<()> {
        WasmParams::write(self, store, slots)
    }
}

// SAFETY: these results, by their own types.
unsafe impl<R: WasmResults> WasmRet for Result<R> {
    fn types() -> Vec<ValType> {
        <R as WasmParams>::types()
    }
    #[inline]
    fn finish(self, store: StoreId, slots: &mut [u64]) -> Result<()> {
        WasmParams::write(self?, store, slots)
    }
}

/// The body of a host function: arguments in slots, results to the same slots.
type Body<T> = dyn Fn(Caller<'_, T>, &mut [u64]) -> Result<()> + Send + Sync;

/// A host function that is in no store yet.
pub struct HostFunc<T: 'static> {
    pub(crate) ty: FuncType,
    body: Box<Body<T>>,
}

impl<T: 'static> HostFunc<T> {
    /// From a body on slots.
    pub(crate) fn on_slots(ty: FuncType, body: impl Fn(Caller<'_, T>, &mut [u64]) -> Result<()> + Send + Sync + 'static) -> HostFunc<T> {
        HostFunc { ty, body: Box::new(body) }
    }

    /// From a function on values.
    pub(crate) fn new(ty: FuncType, func: impl Fn(Caller<'_, T>, &[Val], &mut [Val]) -> Result<()> + Send + Sync + 'static) -> HostFunc<T> {
        let signature = ty.clone();
        HostFunc::on_slots(ty, move |caller, slots| {
            let store = caller.store.0.id;
            let params: Vec<Val> = Val::all_from_slots(signature.params(), slots, store).collect();
            let mut results: Vec<Val> = signature.results().map(|ty| Val::zero_or_null(&ty)).collect();
            func(caller, &params, &mut results)?;
            Val::all_to_slots(&results, signature.results(), store, slots, "function attempted to return an incompatible value")
        })
    }

    /// The function in a store; the same one each time.
    pub(crate) fn into_store(self: Arc<HostFunc<T>>, store: &mut StoreInner<T>) -> Func {
        let key = Arc::as_ptr(&self) as usize;
        if let Some(&raw) = store.linked.get(&key) {
            return crate::store::func(raw, store.id);
        }
        let ty = self.ty.wasm.clone();
        let raw = store.machine.define_function(
            ty,
            Box::new(move |call: HostCall<'_>| {
                // SAFETY: the function is only in stores of `T` (this signature), the machine runs, so it was entered through
                // `StoreInner::enter`, and `call.store` is not used again.
                let inner = unsafe { StoreInner::<T>::of(call.store) };
                let store = inner.id;
                let caller = Caller { store: StoreContextMut(inner), instance: call.caller };
                (self.body)(caller, call.slots).map_err(|error| host_error(error, store))
            }),
        );
        store.linked.insert(key, raw);
        crate::store::func(raw, store.id)
    }
}

/// A closure that can be a host function: up to 16 [`WasmTy`] parameters, with or without a leading [`Caller`], returning a [`WasmRet`].
pub trait IntoFunc<T, Params, Results>: Send + Sync + 'static {
    #[doc(hidden)]
    fn into_func(self) -> HostFunc<T>;
}

macro_rules! tuples {
    ($($name:ident)*) => {
        // SAFETY: one value behind the other, each by its own type.
        unsafe impl<$($name: WasmTy),*> WasmParams for ($($name,)*) {
            fn types() -> Vec<ValType> {
                vec![$($name::TYPE),*]
            }
            #[allow(non_snake_case, unused_mut, unused_variables, unused_assignments)]
            #[inline]
            fn write(self, store: StoreId, slots: &mut [u64]) -> Result<()> {
                let ($($name,)*) = self;
                let mut at = 0;
                $(WasmTy::write($name, store, &mut slots[at..])?; at += slots_of::<$name>();)*
                Ok(())
            }
        }

        // SAFETY: as above.
        unsafe impl<$($name: WasmTy),*> WasmResults for ($($name,)*) {
            #[allow(non_snake_case, unused_mut, unused_variables, unused_assignments, clippy::unused_unit)]
            #[inline]
            fn read(store: StoreId, slots: &[u64]) -> Self {
                let mut at = 0;
                $(let $name = <$name as WasmTy>::read(store, &slots[at..]); at += slots_of::<$name>();)*
                ($($name,)*)
            }
        }

        impl<T: 'static, F, $($name: WasmTy,)* R: WasmRet> IntoFunc<T, ($($name,)*), R> for F
        where
            F: Fn($($name),*) -> R + Send + Sync + 'static,
        {
            #[allow(non_snake_case)]
            fn into_func(self) -> HostFunc<T> {
                IntoFunc::<T, (Caller<'_, T>, $($name,)*), R>::into_func(
                    move |_: Caller<'_, T>, $($name: $name),*| self($($name),*),
                )
            }
        }

        impl<T: 'static, F, $($name: WasmTy,)* R: WasmRet> IntoFunc<T, (Caller<'_, T>, $($name,)*), R> for F
        where
            F: Fn(Caller<'_, T>, $($name),*) -> R + Send + Sync + 'static,
        {
            #[allow(non_snake_case, unused_mut, unused_variables, unused_assignments)]
            fn into_func(self) -> HostFunc<T> {
                let ty = FuncType::of([$($name::TYPE),*], R::types());
                HostFunc::on_slots(ty, move |caller, slots| {
                    let store = caller.store.0.id;
                    let mut at = 0;
                    $(let $name = <$name as WasmTy>::read(store, &slots[at..]); at += slots_of::<$name>();)*
                    self(caller, $($name),*).finish(store, slots)
                })
            }
        }
    };
}

tuples!();
tuples!(A1);
tuples!(A1 A2);
tuples!(A1 A2 A3);
tuples!(A1 A2 A3 A4);
tuples!(A1 A2 A3 A4 A5);
tuples!(A1 A2 A3 A4 A5 A6);
tuples!(A1 A2 A3 A4 A5 A6 A7);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15);
tuples!(A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 A14 A15 A16);
