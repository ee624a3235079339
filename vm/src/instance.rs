//! Instances: how one comes to be (imports, segments, start function), and what it is made of.

use crate::engine::LoadedModule;
use crate::exception::Tag;
use crate::handles::{Extern, FuncRef, GlobalRef, InstanceRef, MemoryRef, TableRef, TagRef};
use crate::layout::{
    CONTEXT_ALIGNMENT, FunctionPlace, GlobalPlace, KIND_WASM, VmContext, VmContextHead, VmFunc, VmGlobal, VmMemory, VmMemoryRef, VmTable,
    VmTableRef, asked, head,
};
use crate::mapping::Mapping;
use crate::memory::{MemoryError, Room};
use crate::module::{ConstExpr, ConstOp, ElementItems, ExternType, Module, SegmentMode};
use crate::signature;
use crate::store::{Global, StoreState, set_poll_words};
use crate::table::TableError;
use crate::tiering::ModuleCode;
use crate::trap::{TrapCode, Unwind};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use wasmparser::{GlobalType, ValType};

/// Why a module was not instantiated.
#[derive(Debug, thiserror::Error)]
pub enum InstantiateError {
    /// Fewer or more imports than the module declares.
    #[error("expected {expected} imports, found {found}")]
    ImportCount {
        /// Declared.
        expected: usize,
        /// Given.
        found: usize,
    },
    /// An import of another kind or type.
    #[error("incompatible import type for `{module}::{name}`: {reason}")]
    ImportType {
        /// First name.
        module: String,
        /// Second name.
        name: String,
        /// Expected and found.
        reason: String,
    },
    /// A memory could not be made.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// A table could not be made.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The store's limit.
    #[error("{0}")]
    Limit(String),
    /// The store's limiter failed.
    #[error("the store's limiter failed: {0}")]
    Limiter(crate::store::HostError),
    /// The module belongs to another engine.
    #[error("cross-`Engine` instantiation is not supported")]
    OtherEngine,
    /// A segment was out of bounds, or the start function stopped.
    #[error("the module trapped while it was instantiated")]
    Start(Box<Unwind>),
}

/// The Rust side of an instance.
pub struct Instance {
    /// What it is an instance of.
    pub module: Arc<Module>,
    /// Its code, shared with other instances.
    pub code: Arc<ModuleCode>,
    /// Both, and the engine.
    pub loaded: Arc<LoadedModule>,
    context: NonNull<VmContext>,
    /// What the context is in.
    room: ContextRoom,
    memories: Vec<MemoryRef>,
    tables: Vec<TableRef>,
    pub(crate) globals: Vec<GlobalRef>,
    pub(crate) tags: Vec<TagRef>,
    dropped_data: Vec<bool>,
    dropped_elements: Vec<bool>,
    /// The store's, for limits on growth.
    store: *mut StoreState,
}

enum ContextRoom {
    /// Memory of its own.
    Own(Layout),
    /// In front of memory 0, which holds it as well.
    BeforeMemory(#[expect(dead_code, reason = "held, not read")] Arc<Mapping>),
}

impl StoreState {
    /// Instantiates a module with its imports in order, writes its active segments and runs its start function.
    ///
    /// # Safety
    /// The imports belong to this store.
    pub unsafe fn instantiate(&mut self, loaded: &Arc<LoadedModule>, imports: &[Extern]) -> Result<InstanceRef, InstantiateError> {
        if !loaded.engine().same(self.engine()) {
            return Err(InstantiateError::OtherEngine);
        }
        let loaded = &self.with_its_code(loaded).map_err(InstantiateError::Limit)?;
        let module = loaded.module.clone();
        check_imports(&module, imports)?;
        if let Some(limiter) = &self.limiter
            && self.instances.len() >= limiter.counts().0
        {
            let count = limiter.counts().0 + 1;
            return Err(InstantiateError::Limit(format!("resource limit exceeded: instance count too high at {count}")));
        }
        let before = module.offsets().before();
        let (context, room, memory_room) = if module.context_is_memory() {
            let room = Room::new(module.memories[0], before)?;
            (room.end(), ContextRoom::BeforeMemory(room.mapping().clone()), Some(room))
        } else {
            let layout = Layout::from_size_align(before, CONTEXT_ALIGNMENT).expect("a context's size fits");
            // SAFETY: the size is not zero.
            let start = unsafe { std::alloc::alloc_zeroed(layout) };
            if start.is_null() {
                std::alloc::handle_alloc_error(layout);
            }
            // SAFETY: so many bytes were allocated.
            (unsafe { start.add(before) }, ContextRoom::Own(layout), None)
        };
        let context = NonNull::new(context.cast::<VmContext>()).expect("there is room for it");
        let mut instance = Box::new(Instance {
            module: module.clone(),
            code: loaded.code.clone(),
            loaded: loaded.clone(),
            context,
            room,
            memories: Vec::new(),
            tables: Vec::new(),
            globals: Vec::new(),
            tags: Vec::new(),
            dropped_data: vec![false; module.data.len()],
            dropped_elements: vec![false; module.elements.len()],
            store: self,
        });
        // SAFETY: the context is zeroed memory of its full size, owned here and not yet seen by anyone.
        unsafe {
            head(context.as_ptr()).write(VmContextHead {
                kind: KIND_WASM,
                store: &raw mut self.context,
                caller: std::ptr::null_mut(),
                callee: 0,
                rounds: 0,
                poll_low: 0,
                poll: AtomicU32::new(0),
                counters: loaded.code.counters(),
                instance: (&raw mut *instance).cast(),
                builtins: crate::builtins::entries(),
                signatures: module.signatures.as_ptr(),
            });
            let at = |offset: i32| context.as_ptr().cast::<u8>().offset(offset as isize);
            let offsets = module.offsets();
            let mut function = 0;
            for import in imports {
                match *import {
                    Extern::Func(func) => {
                        let FunctionPlace::Pointer(place) = offsets.function(function) else { unreachable!("imports come first") };
                        at(place).cast::<*mut VmFunc>().write(func.as_ptr());
                        function += 1;
                    }
                    Extern::Global(global) => {
                        let GlobalPlace::Pointer(place) = offsets.global(instance.globals.len() as u32) else {
                            unreachable!("imports come first")
                        };
                        at(place).cast::<*mut VmGlobal>().write(global.0.as_ref().value.as_ptr());
                        instance.globals.push(global);
                    }
                    Extern::Memory(memory) => instance.memories.push(memory),
                    Extern::Table(table) => instance.tables.push(table),
                    Extern::Tag(tag) => instance.tags.push(tag),
                }
            }
            for index in module.imported_functions..module.functions.len() as u32 {
                let FunctionPlace::Inline(place) = offsets.function(index) else { unreachable!("own functions follow imports") };
                at(place).cast::<VmFunc>().write(VmFunc {
                    entry: AtomicPtr::new(std::ptr::null_mut()),
                    context: context.as_ptr(),
                    index,
                    signature: loaded.code.signature(index),
                    host: std::ptr::null_mut(),
                });
            }
            // Entries are filled in, and kept up to date from here on, under the code's lock.
            loaded.code.register_instance(context.as_ptr());
        }
        let reference = InstanceRef(NonNull::from(&mut *instance));
        // From here on the store owns the instance, also when a later step fails: parts of it may be visible already.
        let engine = self.engine().clone();
        engine.with_stores_locked(|| self.instances.push(instance));
        // A tick that came before found nothing here to ask. (What does not run looks where it is entered.)
        if self.runs() && self.is_past_deadline() {
            self.ask_to_poll();
        }
        // SAFETY: the instance was just pushed and is not otherwise borrowed.
        unsafe { self.initialize(reference, memory_room) }?;
        Ok(reference)
    }

    /// Everything of instantiation that needs the index spaces.
    ///
    /// # Safety
    /// `instance` is one of this store, its functions and imports in place.
    unsafe fn initialize(&mut self, reference: InstanceRef, mut memory_room: Option<Room>) -> Result<(), InstantiateError> {
        let instance = reference.as_ptr();
        // SAFETY: the caller's promise; raw field accesses are short and never overlap a call that touches the instance.
        unsafe {
            let module = (*instance).module.clone();
            let context = (*instance).context.as_ptr();
            let at = |offset: i32| context.cast::<u8>().offset(offset as isize);
            let offsets = module.offsets().clone();
            for &ty in &module.tags[module.imported_tags as usize..] {
                let handle = self.add_tag(module.signatures[ty as usize]);
                (*instance).tags.push(handle);
            }
            for (index, handle) in (*instance).tags.iter().enumerate() {
                at(offsets.tag(index as u32)).cast::<*const Tag>().write(handle.as_ptr());
            }
            for (own, global) in module.global_inits.iter().enumerate() {
                let value = evaluate(instance, &global.init);
                let GlobalPlace::Inline(place) = offsets.global(module.imported_globals + own as u32) else {
                    unreachable!("own globals follow imports")
                };
                let slot = at(place).cast::<VmGlobal>();
                slot.write(VmGlobal { slots: value });
                let handle = self.add_global(Global { ty: global.ty, value: NonNull::new(slot).expect("inside the context"), own: None });
                (*instance).globals.push(handle);
            }
            for table in &module.table_inits {
                let init = table.init.as_ref().map_or(0, |init| evaluate(instance, init)[0]);
                let handle = self.new_table(table.ty, init)?;
                (*instance).tables.push(handle);
            }
            for (index, handle) in (*instance).tables.iter().enumerate() {
                let table: *mut VmTable = handle.0.as_ref().vm();
                at(offsets.table(index as u32)).cast::<VmTableRef>().write(VmTableRef { base: (*table).base, table });
            }
            for ty in &module.memories[module.imported_memories as usize..] {
                let handle = self.new_memory_in(*ty, memory_room.take())?;
                (*instance).memories.push(handle);
            }
            for (index, handle) in (*instance).memories.iter().enumerate() {
                let memory: *mut VmMemory = handle.0.as_ref().vm();
                at(offsets.memory(index as u32)).cast::<VmMemoryRef>().write(VmMemoryRef { base: (*memory).base, memory });
            }
            let trapped = |code| InstantiateError::Start(Box::new(Unwind::Trap { code, frames: Vec::new() }));
            for (segment, element) in module.elements.iter().enumerate() {
                if let SegmentMode::Active { index, offset } = &element.mode {
                    let start = evaluate(instance, offset)[0];
                    let count = element.items.len() as u64;
                    (*instance).table_init(*index, segment as u32, start, 0, count).map_err(trapped)?;
                }
                if !matches!(element.mode, SegmentMode::Passive) {
                    (*instance).elem_drop(segment as u32);
                }
            }
            for (segment, data) in module.data.iter().enumerate() {
                if let SegmentMode::Active { index, offset } = &data.mode {
                    let start = evaluate(instance, offset)[0];
                    (*instance).memory_init(*index, segment as u32, start, 0, data.range.len() as u64).map_err(trapped)?;
                    (*instance).data_drop(segment as u32);
                }
            }
            module.instantiated();
            if let Some(start) = module.start {
                let function = (*instance).function(start);
                let mut slots = [0; 1];
                self.call_as(context, function, &mut slots).map_err(InstantiateError::Start)?;
            }
        }
        Ok(())
    }
}

impl ElementItems {
    /// How many elements.
    pub fn len(&self) -> usize {
        match self {
            ElementItems::Functions(functions) => functions.len(),
            ElementItems::Expressions(expressions) => expressions.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Evaluates a constant expression to the slots of its value.
///
/// # Safety
/// The instance's functions, imported globals and the globals before this expression are in place.
unsafe fn evaluate(instance: *const Instance, expression: &ConstExpr) -> [u64; 2] {
    let mut stack: Vec<[u64; 2]> = Vec::with_capacity(4);
    for op in &expression.ops {
        let value = match *op {
            ConstOp::I32(value) => [u64::from(value), 0],
            ConstOp::I64(value) => [value, 0],
            ConstOp::V128(value) => [value as u64, (value >> 64) as u64],
            ConstOp::RefNull => [0, 0],
            // SAFETY: the caller's promise; validation put the index in range.
            ConstOp::RefFunc(index) => unsafe { [(*instance).function(index).as_ptr() as u64, 0] },
            // SAFETY: as above.
            ConstOp::GlobalGet(index) => unsafe { (&(*instance).globals)[index as usize].get() },
            ConstOp::I32Add | ConstOp::I32Sub | ConstOp::I32Mul | ConstOp::I64Add | ConstOp::I64Sub | ConstOp::I64Mul => {
                let right = stack.pop().expect("validated")[0];
                let left = stack.pop().expect("validated")[0];
                let (l, r) = (left as u32, right as u32);
                let result = match *op {
                    ConstOp::I32Add => u64::from(l.wrapping_add(r)),
                    ConstOp::I32Sub => u64::from(l.wrapping_sub(r)),
                    ConstOp::I32Mul => u64::from(l.wrapping_mul(r)),
                    ConstOp::I64Add => left.wrapping_add(right),
                    ConstOp::I64Sub => left.wrapping_sub(right),
                    _ => left.wrapping_mul(right),
                };
                [result, 0]
            }
        };
        stack.push(value);
    }
    stack.pop().expect("validated")
}

fn check_imports(module: &Module, imports: &[Extern]) -> Result<(), InstantiateError> {
    if module.imports.len() != imports.len() {
        return Err(InstantiateError::ImportCount { expected: module.imports.len(), found: imports.len() });
    }
    for (import, given) in module.imports.iter().zip(imports) {
        let mismatch = |reason: String| InstantiateError::ImportType { module: import.module.clone(), name: import.name.clone(), reason };
        let fits = match (&import.ty, given) {
            (ExternType::Func(ty), Extern::Func(func)) => {
                let (expected, found) = (&module.types[*ty as usize], func.ty());
                if *expected == found {
                    Ok(())
                } else {
                    Err(format!("types incompatible: expected type `{expected}`, found type `{found}`"))
                }
            }
            (ExternType::Global(expected), Extern::Global(global)) => {
                let found = global.ty();
                let same = if expected.mutable {
                    expected == &found
                } else {
                    !found.mutable && signature::is_subtype(found.content_type, expected.content_type)
                };
                let text = |ty: &GlobalType| format!("{}{}", if ty.mutable { "mut " } else { "" }, signature::text(ty.content_type));
                if same {
                    Ok(())
                } else {
                    Err(format!("global types incompatible: expected global of type `{}`, found `{}`", text(expected), text(&found)))
                }
            }
            (ExternType::Memory(expected), Extern::Memory(memory))
                if !expected.memory64 && !module.checks_accesses && !memory.is_guarded() =>
            {
                Err("the memory was made by an engine without guarded memories".to_owned())
            }
            (ExternType::Memory(expected), Extern::Memory(memory)) => limits(
                "memory",
                (expected.initial, expected.maximum),
                (memory.pages(), memory.ty().maximum),
                [expected, &memory.ty()].map(|ty| {
                    let width = if ty.memory64 { 64 } else { 32 };
                    format!("{width}-bit {} memory", if ty.shared { "shared" } else { "unshared" })
                }),
            ),
            (ExternType::Table(expected), Extern::Table(table)) => limits(
                "table",
                (expected.initial, expected.maximum),
                (table.length(), table.ty().maximum),
                [expected, &table.ty()].map(|ty| {
                    let width = if ty.table64 { 64 } else { 32 };
                    format!("{width}-bit table of `{}`", signature::text(ValType::Ref(ty.element_type)))
                }),
            ),
            (ExternType::Tag(ty), Extern::Tag(tag)) => {
                let (expected, found) = (&module.types[*ty as usize], tag.ty());
                if *expected == found {
                    Ok(())
                } else {
                    Err(format!("tag types incompatible: expected type `{expected}`, found type `{found}`"))
                }
            }
            (expected, _) => {
                let expected = match expected {
                    ExternType::Func(_) => "function",
                    ExternType::Table(_) => "table",
                    ExternType::Memory(_) => "memory",
                    ExternType::Global(_) => "global",
                    ExternType::Tag(_) => "tag",
                };
                let found = match given {
                    Extern::Func(_) => "function",
                    Extern::Table(_) => "table",
                    Extern::Memory(_) => "memory",
                    Extern::Global(_) => "global",
                    Extern::Tag(_) => "tag",
                };
                Err(format!("expected {expected}, found {found}"))
            }
        };
        fits.map_err(mismatch)?;
    }
    Ok(())
}

/// `texts`: what else is expected and found, in words that differ where these do.
fn limits(kind: &str, expected: (u64, Option<u64>), found: (u64, Option<u64>), texts: [String; 2]) -> Result<(), String> {
    if texts[0] != texts[1] {
        return Err(format!("{kind} types incompatible: expected {}, found {}", texts[0], texts[1]));
    }
    let text = |(least, most): (u64, Option<u64>)| most.map_or_else(|| format!("at least {least}"), |most| format!("{least} to {most}"));
    let most = expected.1.is_none_or(|most| found.1.is_some_and(|given| given <= most));
    if found.0 >= expected.0 && most {
        Ok(())
    } else {
        Err(format!("{kind} types incompatible: expected limits {}, found {}", text(expected), text(found)))
    }
}

impl Instance {
    /// The context its code runs with.
    pub fn context(&self) -> *mut VmContext {
        self.context.as_ptr()
    }

    /// Writes the poll word that the interpreter looks at, and has calls look; loops look at others.
    pub(crate) fn set_entry_poll(&self, asks: bool) {
        let context = self.context.as_ptr();
        // SAFETY: the context lives as long as this instance; the word is an atomic.
        unsafe {
            (*head(context)).poll.store(asked(asks), Ordering::SeqCst);
            self.code.entry_poll_was_set(context);
        }
    }

    /// Writes all its poll words.
    pub(crate) fn set_polls(&self, asks: bool) {
        self.set_entry_poll(asks);
        let context = self.context.as_ptr();
        // SAFETY: the context lives as long as this instance, and has its module's layout.
        unsafe {
            set_poll_words(context, self.module.offsets(), asks);
            self.code.polls_were_set(context, asks);
        }
    }

    /// A function of its index space.
    pub fn function(&self, index: u32) -> FuncRef {
        let base = self.context.as_ptr().cast::<u8>();
        // SAFETY: the offset of a function of this module lies inside the context; an imported one's pointer was checked at instantiation.
        unsafe {
            FuncRef(match self.module.offsets().function(index) {
                FunctionPlace::Inline(offset) => NonNull::new_unchecked(base.offset(offset as isize).cast()),
                FunctionPlace::Pointer(offset) => NonNull::new_unchecked(base.offset(offset as isize).cast::<*mut VmFunc>().read()),
            })
        }
    }

    /// A memory of its index space.
    pub fn memory(&self, index: u32) -> MemoryRef {
        self.memories[index as usize]
    }

    /// A table of its index space.
    pub fn table(&self, index: u32) -> TableRef {
        self.tables[index as usize]
    }

    pub(crate) fn table_init(&self, table: u32, segment: u32, to: u64, from: u64, count: u64) -> Result<(), TrapCode> {
        let items = &self.module.elements[segment as usize].items;
        let length = if self.dropped_elements[segment as usize] { 0 } else { items.len() as u64 };
        let table = self.table(table);
        let table = table.table();
        let end = from.checked_add(count).filter(|&end| end <= length).ok_or(TrapCode::TableOutOfBounds)?;
        to.checked_add(count).filter(|&end| end <= table.length()).ok_or(TrapCode::TableOutOfBounds)?;
        for (at, item) in (to..).zip(from as usize..end as usize) {
            let reference = match items {
                ElementItems::Functions(functions) => self.function(functions[item]).as_ptr() as u64,
                // SAFETY: segments are evaluated after everything they may name is in place.
                ElementItems::Expressions(expressions) => unsafe { evaluate(self, &expressions[item])[0] },
            };
            // SAFETY: validated to be of the table's type, of this store.
            unsafe { table.set(at, reference) }.ok_or(TrapCode::TableOutOfBounds)?;
        }
        Ok(())
    }

    pub(crate) fn elem_drop(&mut self, segment: u32) {
        self.dropped_elements[segment as usize] = true;
    }

    pub(crate) fn memory_init(&self, memory: u32, segment: u32, to: u64, from: u64, count: u64) -> Result<(), TrapCode> {
        let range = if self.dropped_data[segment as usize] { 0..0 } else { self.module.data[segment as usize].range.clone() };
        let bytes = &self.module.bytes()[range];
        let memory = self.memory(memory);
        let memory = memory.memory();
        let end = from.checked_add(count).filter(|&end| end <= bytes.len() as u64).ok_or(TrapCode::MemoryOutOfBounds)?;
        to.checked_add(count).filter(|&end| end <= memory.length() as u64).ok_or(TrapCode::MemoryOutOfBounds)?;
        let source = &bytes[from as usize..end as usize];
        // SAFETY: the target range is inside the memory (checked).
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), memory.base().add(to as usize), source.len()) };
        Ok(())
    }

    /// Whether a range lies in a data segment, as far as that was not dropped.
    pub(crate) fn check_segment(&self, segment: u32, from: u64, count: u64) -> Result<(), TrapCode> {
        let length = if self.dropped_data[segment as usize] { 0 } else { self.module.data[segment as usize].range.len() as u64 };
        from.checked_add(count).filter(|&end| end <= length).map(drop).ok_or(TrapCode::MemoryOutOfBounds)
    }

    pub(crate) fn data_drop(&mut self, segment: u32) {
        self.dropped_data[segment as usize] = true;
    }

    pub(crate) fn store(&self) -> *mut StoreState {
        self.store
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.code.unregister_instance(self.context.as_ptr());
        if let ContextRoom::Own(layout) = self.room {
            // SAFETY: allocated with this layout in `instantiate`; no code of this store runs any more.
            unsafe { std::alloc::dealloc(self.context.as_ptr().byte_sub(self.module.offsets().before()).cast(), layout) };
        }
    }
}
