//! Exceptions between host and guests: as errors that unwind, and as references that guests keep.

use crate::store::StoreId;
use crate::{AsContext, AsContextMut, ExnRef, FuncType, Result, Tag, ThrownException, Val, ensure};
use vm::exception::Thrown;
use vm::handles::TagRef;
use vm::store::StoreState;

impl ThrownException {
    /// An exception of the host's. Returned by a host function as its error, it is thrown in the guest that called.
    ///
    /// ```
    /// use backedge::{Config, Engine, Error, Func, FuncType, Instance, Module, Store, Tag, TagType, ThrownException, Val, ValType};
    ///
    /// let engine = Engine::default();
    /// let module = Module::new(&engine, r#"(module
    ///     (import "host" "tag" (tag $tag (param i32)))
    ///     (import "host" "fails" (func $fails))
    ///     (func (export "run") (result i32)
    ///         (block $caught (result i32) (try_table (catch $tag $caught) (call $fails)) (i32.const 0))))"#)?;
    /// let mut store = Store::new(&engine, ());
    /// let tag = Tag::new(&mut store, &TagType::new(FuncType::new(&engine, [ValType::I32], [])))?;
    /// let fails = Func::new(&mut store, FuncType::new(&engine, [], []), move |mut caller, _, _| {
    ///     Err(Error::new(ThrownException::new(&mut caller, &tag, &[Val::I32(42)])?))
    /// });
    /// let instance = Instance::new(&mut store, &module, &[tag.into(), fails.into()])?;
    /// assert_eq!(instance.get_typed_func::<(), i32>(&mut store, "run")?.call(&mut store, ())?, 42);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Fields that are not those of the tag's type, or references of another store; no memory, or the store's limiter allows no more.
    pub fn new(mut store: impl AsContextMut, tag: &Tag, fields: &[Val]) -> Result<ThrownException> {
        let inner = store.as_context_mut().0;
        inner.check(tag.store);
        let ty = FuncType::from_wasm(tag.raw.ty());
        ensure!(fields.len() == ty.params().len(), "expected {} fields, got {}", ty.params().len(), fields.len());
        let mut slots = vec![0; ty.slots()];
        Val::all_to_slots(fields, ty.params(), inner.id, &mut slots, "field type mismatch")?;
        // SAFETY: the tag is of this store, and the slots hold values of its types (both checked).
        let thrown = unsafe { inner.enter().new_exception(tag.raw, &slots) }.map_err(crate::error::host_failure)?;
        Ok(ThrownException(thrown))
    }

    /// Its tag.
    ///
    /// # Panics
    /// It was thrown in another store; so do the functions below.
    pub fn tag(&self, store: impl AsContext) -> Tag {
        let inner = store.as_context().0;
        Tag { store: inner.id, raw: parts(&inner.machine, &self.0).0 }
    }

    /// What it carries: values of its tag's type.
    pub fn fields(&self, store: impl AsContext) -> Vec<Val> {
        let inner = store.as_context().0;
        fields(parts(&inner.machine, &self.0), inner.id)
    }

    /// It as a value, for as long as its store lives.
    pub fn to_ref(&self, mut store: impl AsContextMut) -> ExnRef {
        let inner = store.as_context_mut().0;
        ExnRef { store: inner.id, address: self.0.reference(&mut inner.machine) }
    }
}

impl ExnRef {
    /// An exception of the host's as a value, for as long as its store lives.
    ///
    /// # Errors
    /// As [`ThrownException::new`].
    pub fn new(mut store: impl AsContextMut, tag: &Tag, fields: &[Val]) -> Result<ExnRef> {
        Ok(ThrownException::new(&mut store, tag, fields)?.to_ref(&mut store))
    }

    /// Its tag.
    ///
    /// # Panics
    /// It is of another store; so do the functions below.
    pub fn tag(&self, store: impl AsContext) -> Tag {
        let inner = store.as_context().0;
        inner.check(self.store);
        // SAFETY: a reference of this store's that the host has, which is why it was held.
        Tag { store: inner.id, raw: unsafe { inner.machine.exception_at(self.address) }.0 }
    }

    /// What it carries: values of its tag's type.
    pub fn fields(&self, store: impl AsContext) -> Vec<Val> {
        let inner = store.as_context().0;
        inner.check(self.store);
        // SAFETY: as above.
        fields(unsafe { inner.machine.exception_at(self.address) }, inner.id)
    }

    /// It as an error, with which a host function throws it.
    pub fn to_thrown(&self, store: impl AsContext) -> ThrownException {
        let inner = store.as_context().0;
        inner.check(self.store);
        // SAFETY: as above.
        ThrownException(unsafe { inner.machine.thrown(self.address) })
    }
}

fn parts<'a>(machine: &'a StoreState, thrown: &'a Thrown) -> (TagRef, &'a [u64]) {
    machine.exception(thrown).expect("an exception used with a store that it does not belong to")
}

fn fields((tag, slots): (TagRef, &[u64]), store: StoreId) -> Vec<Val> {
    Val::all_from_slots(FuncType::from_wasm(tag.ty()).params(), slots, store).collect()
}
