//! A loaded module: validated, with its code, profile and plans, shared by every store and thread that runs it.

use crate::cache::archive::{Archive, Source};
use crate::types::{ExportType, ExternType, FuncType, GlobalType, ImportType, MemoryType, TableType, TagType};
use crate::{Context, Engine, Result, WarmFunction, bail};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use vm::engine::LoadedModule;
use vm::module::{Bytes, ExportItem};

/// A loaded module. Clones are handles; it is `Send` and `Sync`, and instantiating it in many stores on many threads shares what was
/// learned and compiled.
///
/// ```
/// use backedge::{Engine, Module};
///
/// let engine = Engine::default();
/// let module = Module::new(&engine, r#"(module (func (export "f") (param i32)))"#)?;
/// assert_eq!(module.exports().next().unwrap().name(), "f");
/// assert!(Module::new(&engine, b"not wasm").is_err());
/// # Ok::<(), backedge::Error>(())
/// ```
#[derive(Clone)]
pub struct Module {
    engine: Engine,
    pub(crate) loaded: Arc<LoadedModule>,
}

impl Module {
    /// Loads a module from .wasm or .wat bytes.
    ///
    /// # Errors
    /// Not a valid module; the message has the byte offset.
    pub fn new(engine: &Engine, bytes: impl AsRef<[u8]>) -> Result<Module> {
        let loaded = engine.vm.load(bytes.as_ref())?;
        Ok(Module { engine: engine.clone(), loaded })
    }

    /// Loads a module from a .wasm or .wat file.
    ///
    /// # Errors
    /// The file cannot be read, or is not a valid module.
    pub fn from_file(engine: &Engine, file: impl AsRef<Path>) -> Result<Module> {
        let file = file.as_ref();
        let bytes = Bytes::read(file).with_context(|| format!("failed to read `{}`", file.display()))?;
        Module::from_bytes(engine, bytes).with_context(|| format!("failed to load `{}`", file.display()))
    }

    /// Loads a module from bytes that it keeps.
    ///
    /// # Errors
    /// As [`Module::new`].
    pub fn from_bytes(engine: &Engine, bytes: Bytes) -> Result<Module> {
        Ok(Module { engine: engine.clone(), loaded: engine.vm.load_owned(bytes)? })
    }

    /// Loads a module from .wasm bytes only.
    ///
    /// # Errors
    /// Not a valid binary module.
    pub fn from_binary(engine: &Engine, binary: &[u8]) -> Result<Module> {
        if !binary.starts_with(b"\0asm") {
            bail!("bad magic number: expected `\\0asm` at byte offset 0");
        }
        Module::new(engine, binary)
    }

    /// This module compiled ahead of time: what [`Module::deserialize`] takes.
    ///
    /// # Errors
    /// An engine without a compiler.
    pub fn serialize(&self) -> Result<Vec<u8>> {
        self.engine.precompile(&self.loaded.module)
    }

    /// Loads what [`Module::serialize`] or [`Engine::precompile_module`] made.
    ///
    /// # Errors
    /// Damaged bytes, or made by another build or for another processor.
    ///
    /// # Safety
    /// The bytes contain machine code that will run unchecked, and a module whose bodies are not validated again: they must come, unchanged, from one of these
    /// functions of this build.
    pub unsafe fn deserialize(engine: &Engine, bytes: impl AsRef<[u8]>) -> Result<Module> {
        // SAFETY: the caller's promise.
        unsafe { Module::from_archive(engine, Source::Memory(bytes.as_ref().to_vec())) }
    }

    /// As [`Module::deserialize`], from a file, whose code is read as it is needed: the file must not change while the module lives.
    ///
    /// # Errors
    /// As there, and a file that cannot be read.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn deserialize_file(engine: &Engine, path: impl AsRef<Path>) -> Result<Module> {
        let path = path.as_ref();
        let file = std::fs::File::open(path).with_context(|| format!("failed to read `{}`", path.display()))?;
        // SAFETY: the caller's promise.
        unsafe { Module::from_archive(engine, Source::Mapped(file)) }.with_context(|| format!("failed to load `{}`", path.display()))
    }

    /// # Safety
    /// See [`Module::deserialize`].
    unsafe fn from_archive(engine: &Engine, source: Source) -> Result<Module> {
        let keeper = engine.keeper()?;
        let archive = Archive::open(source, keeper.maker(), None)?;
        // SAFETY: the caller's promise.
        let module = unsafe { vm::module::Module::new_validated(archive.module_bytes()?, archive.digest(), archive.loops().clone())? };
        keeper.adopt(archive);
        Ok(Module { engine: engine.clone(), loaded: engine.vm.adopt(module)? })
    }

    /// Checks .wasm bytes without keeping anything.
    ///
    /// # Errors
    /// Not a valid binary module.
    pub fn validate(engine: &Engine, binary: &[u8]) -> Result<()> {
        Module::from_binary(engine, binary).map(drop)
    }

    /// BLAKE3 hash of its bytes, in hexadecimal.
    pub fn digest(&self) -> String {
        self.loaded.module.digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Indices of the functions that it defines.
    pub fn functions(&self) -> std::ops::Range<u32> {
        self.loaded.module.imported_functions..self.loaded.module.functions.len() as u32
    }

    /// Functions that ran interpreted more than once so far and were not compiled: what a cache could hold for the next process. Those first that
    /// gain most by it.
    pub fn interpreted_functions(&self) -> Vec<WarmFunction> {
        self.loaded.code.interpreted()
    }

    /// How long [`Module::keep`] is expected to take for these, on one processor.
    pub fn time_to_keep(&self, functions: &[WarmFunction]) -> Duration {
        self.loaded.code.time_to_keep(functions)
    }

    /// Whether code that an earlier process made is there for it: from the engine's cache, or with the module itself.
    pub fn has_kept_code(&self) -> bool {
        self.loaded.code.has_kept()
    }

    /// Compiles functions on all processors, for the engine's cache, unless it holds them; nothing in this process uses them. Returns how many
    /// of them it holds now; those that cannot be compiled are left out. Without a cache it does nothing.
    pub fn keep(&self, functions: &[WarmFunction]) -> usize {
        let Some(keeper) = self.engine.keeper().ok().filter(|keeper| keeper.directory().is_some()) else { return 0 };
        // (what a run found to be worth the better compiler, or a plan, is not made worse)
        let held = |warm: WarmFunction| keeper.holds(&self.loaded.module.digest, warm.function);
        let kept = vm::pool::map(functions.to_vec(), |warm| held(warm) || self.loaded.code.keep(warm).is_ok());
        kept.into_iter().filter(|&kept| kept).count()
    }

    /// Name from the name section.
    pub fn name(&self) -> Option<&str> {
        self.loaded.module.name.as_deref()
    }

    /// Imports in order.
    pub fn imports(&self) -> impl ExactSizeIterator<Item = ImportType<'_>> + '_ {
        self.loaded.module.imports.iter().map(|import| ImportType {
            module: &import.module,
            name: &import.name,
            ty: self.import_type(&import.ty),
        })
    }

    /// Exports in order.
    pub fn exports(&self) -> impl ExactSizeIterator<Item = ExportType<'_>> + '_ {
        self.loaded.module.exports.iter().map(|(name, item)| ExportType { name, ty: self.export_type(*item) })
    }

    /// Type of the export of that name.
    pub fn get_export(&self, name: &str) -> Option<ExternType> {
        Some(self.export_type(self.loaded.module.export(name)?))
    }

    /// The engine it was loaded with.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether both are handles to one loaded module.
    pub fn same(a: &Module, b: &Module) -> bool {
        Arc::ptr_eq(&a.loaded, &b.loaded)
    }

    /// What the engine saw, decided and did for this module so far. After [`Engine::settle`] it is complete.
    pub fn report(&self) -> vm::report::Report {
        vm::report::Report::new(&self.engine.vm, &self.loaded)
    }

    /// The validated module under this handle, for tools that look inside.
    pub fn loaded(&self) -> &Arc<LoadedModule> {
        &self.loaded
    }

    fn import_type(&self, ty: &vm::module::ExternType) -> ExternType {
        match ty {
            vm::module::ExternType::Func(index) => ExternType::Func(FuncType::from_wasm(self.loaded.module.types[*index as usize].clone())),
            vm::module::ExternType::Table(ty) => ExternType::Table(TableType::from_wasm(*ty)),
            vm::module::ExternType::Memory(ty) => ExternType::Memory(MemoryType::from_wasm(*ty)),
            vm::module::ExternType::Global(ty) => ExternType::Global(GlobalType::from_wasm(*ty)),
            vm::module::ExternType::Tag(index) => tag_type(&self.loaded.module, *index),
        }
    }

    fn export_type(&self, item: ExportItem) -> ExternType {
        let module = &self.loaded.module;
        match item {
            ExportItem::Func(index) => ExternType::Func(FuncType::from_wasm(module.function_type(index).clone())),
            ExportItem::Table(index) => ExternType::Table(TableType::from_wasm(module.tables[index as usize])),
            ExportItem::Memory(index) => ExternType::Memory(MemoryType::from_wasm(module.memories[index as usize])),
            ExportItem::Global(index) => ExternType::Global(GlobalType::from_wasm(module.globals[index as usize])),
            ExportItem::Tag(index) => tag_type(module, module.tags[index as usize]),
        }
    }
}

impl std::fmt::Debug for Module {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Module").field("name", &self.name()).finish()
    }
}

/// The type of a tag of a module, by index of its function type.
fn tag_type(module: &vm::module::Module, ty: u32) -> ExternType {
    ExternType::Tag(TagType::new(FuncType::from_wasm(module.types[ty as usize].clone())))
}
