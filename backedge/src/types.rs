//! Types of values and of what modules import and export, under wasmtime's names.

use crate::{Engine, Result, ensure};

/// Type of a wasm value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValType {
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// 32-bit float.
    F32,
    /// 64-bit float.
    F64,
    /// 128-bit vector.
    V128,
    /// Reference.
    Ref(RefType),
}

impl ValType {
    /// Nullable reference to any function.
    pub const FUNCREF: ValType = ValType::Ref(RefType::FUNCREF);
    /// Nullable reference to a host value.
    pub const EXTERNREF: ValType = ValType::Ref(RefType::EXTERNREF);

    /// Whether it is one of the four numeric types.
    pub fn is_num(&self) -> bool {
        matches!(self, ValType::I32 | ValType::I64 | ValType::F32 | ValType::F64)
    }

    /// Whether it is a reference.
    pub fn is_ref(&self) -> bool {
        matches!(self, ValType::Ref(_))
    }

    /// Whether it is `funcref`.
    pub fn is_funcref(&self) -> bool {
        *self == ValType::FUNCREF
    }

    /// Whether it is `externref`.
    pub fn is_externref(&self) -> bool {
        *self == ValType::EXTERNREF
    }

    /// Whether a value of this type is one of the other: the same type, or for references a subtype.
    pub fn matches(&self, other: &ValType) -> bool {
        vm::signature::is_subtype(self.to_wasm(), other.to_wasm())
    }

    /// 8-byte slots a value takes between host and guest.
    pub(crate) fn slots(&self) -> usize {
        if *self == ValType::V128 { 2 } else { 1 }
    }

    pub(crate) fn from_wasm(ty: wasmparser::ValType) -> ValType {
        match ty {
            wasmparser::ValType::I32 => ValType::I32,
            wasmparser::ValType::I64 => ValType::I64,
            wasmparser::ValType::F32 => ValType::F32,
            wasmparser::ValType::F64 => ValType::F64,
            wasmparser::ValType::V128 => ValType::V128,
            wasmparser::ValType::Ref(ty) => ValType::Ref(RefType::from_wasm(ty)),
        }
    }

    pub(crate) fn to_wasm(self) -> wasmparser::ValType {
        match self {
            ValType::I32 => wasmparser::ValType::I32,
            ValType::I64 => wasmparser::ValType::I64,
            ValType::F32 => wasmparser::ValType::F32,
            ValType::F64 => wasmparser::ValType::F64,
            ValType::V128 => wasmparser::ValType::V128,
            ValType::Ref(ty) => wasmparser::ValType::Ref(ty.to_wasm()),
        }
    }
}

impl std::fmt::Display for ValType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&vm::signature::text(self.to_wasm()))
    }
}

/// Type of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RefType {
    nullable: bool,
    heap: HeapType,
}

impl RefType {
    /// Nullable reference to any function.
    pub const FUNCREF: RefType = RefType { nullable: true, heap: HeapType::Func };
    /// Nullable reference to a host value.
    pub const EXTERNREF: RefType = RefType { nullable: true, heap: HeapType::Extern };

    /// A reference type.
    pub fn new(nullable: bool, heap: HeapType) -> RefType {
        RefType { nullable, heap }
    }

    pub(crate) const fn non_null(self) -> RefType {
        RefType { nullable: false, ..self }
    }

    /// Whether null is a value of the type.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }

    /// What is referred to.
    pub fn heap_type(&self) -> &HeapType {
        &self.heap
    }

    /// Whether every value of this type is one of the other.
    pub fn matches(&self, other: &RefType) -> bool {
        vm::signature::is_subtype(wasmparser::ValType::Ref(self.to_wasm()), wasmparser::ValType::Ref(other.to_wasm()))
    }

    fn from_wasm(ty: wasmparser::RefType) -> RefType {
        use wasmparser::AbstractHeapType as Abstract;
        let heap = match ty.heap_type() {
            wasmparser::HeapType::Abstract { ty: Abstract::Extern, .. } => HeapType::Extern,
            wasmparser::HeapType::Abstract { ty: Abstract::NoExtern, .. } => HeapType::NoExtern,
            wasmparser::HeapType::Abstract { ty: Abstract::Exn, .. } => HeapType::Exn,
            wasmparser::HeapType::Abstract { ty: Abstract::NoExn, .. } => HeapType::NoExn,
            wasmparser::HeapType::Abstract { ty: Abstract::NoFunc, .. } => HeapType::NoFunc,
            _ => vm::signature::id_of_reference(ty).map_or(HeapType::Func, |id| {
                // (it may outlive the module)
                vm::signature::pin(id);
                HeapType::ConcreteFunc(SignatureId(id))
            }),
        };
        RefType { nullable: ty.is_nullable(), heap }
    }

    pub(crate) fn to_wasm(self) -> wasmparser::RefType {
        use wasmparser::AbstractHeapType as Abstract;
        let of = |ty| wasmparser::HeapType::Abstract { shared: false, ty };
        let heap = match self.heap {
            HeapType::Func => of(Abstract::Func),
            HeapType::NoFunc => of(Abstract::NoFunc),
            HeapType::Extern => of(Abstract::Extern),
            HeapType::NoExtern => of(Abstract::NoExtern),
            HeapType::Exn => of(Abstract::Exn),
            HeapType::NoExn => of(Abstract::NoExn),
            HeapType::ConcreteFunc(SignatureId(id)) => wasmparser::HeapType::Concrete(wasmparser::UnpackedIndex::Module(id)),
        };
        wasmparser::RefType::new(self.nullable, heap).expect("an id in a type came out of one")
    }
}

/// A function type as references name it: equal for equal types, in any module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignatureId(pub(crate) u32);

impl SignatureId {
    /// A function type, to be named by [`HeapType::ConcreteFunc`]. The engine is not used, as in [`FuncType::new`].
    ///
    /// ```
    /// use backedge::{Engine, FuncType, HeapType, RefType, SignatureId, ValType};
    ///
    /// let engine = Engine::default();
    /// let binary = FuncType::new(&engine, [ValType::I32, ValType::I32], [ValType::I32]);
    /// let reference = RefType::new(true, HeapType::ConcreteFunc(SignatureId::new(&engine, &binary)?));
    /// let fold = FuncType::new(&engine, [ValType::Ref(reference)], [ValType::I32]);
    /// assert_eq!(fold.to_string(), "((ref null (func (param i32 i32) (result i32)))) -> (i32)");
    /// # Ok::<(), backedge::Error>(())
    /// ```
    ///
    /// # Errors
    /// The process uses more than a million function types, and references can name no more.
    pub fn new(_engine: &Engine, ty: &FuncType) -> Result<SignatureId> {
        let id = vm::signature::id(&ty.wasm);
        let heap = wasmparser::HeapType::Concrete(wasmparser::UnpackedIndex::Module(id));
        ensure!(wasmparser::RefType::new(true, heap).is_some(), "more than a million function types are in use");
        Ok(SignatureId(id))
    }

    /// The function type.
    pub fn func_type(self) -> FuncType {
        FuncType::from_wasm(vm::signature::of(self.0))
    }
}

/// What a reference refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HeapType {
    /// A function.
    Func,
    /// A value of the host.
    Extern,
    /// A function of one type.
    ConcreteFunc(SignatureId),
    /// Nothing: null is the only reference to a function of this type.
    NoFunc,
    /// Nothing of the host's.
    NoExtern,
    /// A caught exception.
    Exn,
    /// No exception.
    NoExn,
}

/// Whether a global may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mutability {
    /// Never after its initialization.
    Const,
    /// By anyone who can name it.
    Var,
}

/// Type of a function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FuncType {
    pub(crate) wasm: wasmparser::FuncType,
}

impl FuncType {
    /// A function type. The engine is not used: it is there for programs that come from wasmtime.
    pub fn new(_engine: &Engine, params: impl IntoIterator<Item = ValType>, results: impl IntoIterator<Item = ValType>) -> FuncType {
        FuncType::of(params, results)
    }

    /// What it refers to stays, for it may outlive the module that it comes from.
    pub(crate) fn from_wasm(wasm: wasmparser::FuncType) -> FuncType {
        vm::signature::pin_references(&wasm);
        FuncType { wasm }
    }

    pub(crate) fn of(params: impl IntoIterator<Item = ValType>, results: impl IntoIterator<Item = ValType>) -> FuncType {
        FuncType { wasm: wasmparser::FuncType::new(params.into_iter().map(ValType::to_wasm), results.into_iter().map(ValType::to_wasm)) }
    }

    /// Type of parameter `index`.
    pub fn param(&self, index: usize) -> Option<ValType> {
        self.wasm.params().get(index).map(|&ty| ValType::from_wasm(ty))
    }

    /// Types of the parameters.
    pub fn params(&self) -> impl ExactSizeIterator<Item = ValType> + '_ {
        self.wasm.params().iter().map(|&ty| ValType::from_wasm(ty))
    }

    /// Type of result `index`.
    pub fn result(&self, index: usize) -> Option<ValType> {
        self.wasm.results().get(index).map(|&ty| ValType::from_wasm(ty))
    }

    /// Types of the results.
    pub fn results(&self) -> impl ExactSizeIterator<Item = ValType> + '_ {
        self.wasm.results().iter().map(|&ty| ValType::from_wasm(ty))
    }

    /// Whether a function of this type may be called as one of the other: contravariant in its parameters, covariant in its results.
    pub fn matches(&self, other: &FuncType) -> bool {
        let each = |from: &[wasmparser::ValType], to: &[wasmparser::ValType]| {
            from.len() == to.len() && from.iter().zip(to).all(|(&from, &to)| vm::signature::is_subtype(from, to))
        };
        each(other.wasm.params(), self.wasm.params()) && each(self.wasm.results(), other.wasm.results())
    }

    /// Slots that a call's arguments and results need: they share them.
    pub(crate) fn slots(&self) -> usize {
        let params: usize = self.params().map(|ty| ty.slots()).sum();
        let results: usize = self.results().map(|ty| ty.slots()).sum();
        params.max(results)
    }
}

impl std::fmt::Display for FuncType {
    /// As in the text format: `(i32, i64) -> f32`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |types: &[wasmparser::ValType]| {
            let names: Vec<String> = types.iter().map(|&ty| vm::signature::text(ty)).collect();
            names.join(", ")
        };
        write!(f, "({}) -> ({})", list(self.wasm.params()), list(self.wasm.results()))
    }
}

/// Type of a global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GlobalType {
    content: ValType,
    mutability: Mutability,
}

impl GlobalType {
    /// A global type.
    pub fn new(content: ValType, mutability: Mutability) -> GlobalType {
        GlobalType { content, mutability }
    }

    /// Type of the value.
    pub fn content(&self) -> &ValType {
        &self.content
    }

    /// Whether it may be written.
    pub fn mutability(&self) -> Mutability {
        self.mutability
    }

    pub(crate) fn from_wasm(ty: wasmparser::GlobalType) -> GlobalType {
        GlobalType {
            content: ValType::from_wasm(ty.content_type),
            mutability: if ty.mutable { Mutability::Var } else { Mutability::Const },
        }
    }

    pub(crate) fn to_wasm(self) -> wasmparser::GlobalType {
        wasmparser::GlobalType { content_type: self.content.to_wasm(), mutable: self.mutability == Mutability::Var, shared: false }
    }
}

/// Type of a table; sizes in elements.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TableType {
    element: RefType,
    minimum: u64,
    maximum: Option<u64>,
    wide: bool,
}

impl TableType {
    /// A table type.
    pub fn new(element: RefType, min: u32, max: Option<u32>) -> TableType {
        TableType { element, minimum: min.into(), maximum: max.map(u64::from), wide: false }
    }

    /// A table type with 64-bit indices.
    pub fn new64(element: RefType, min: u64, max: Option<u64>) -> TableType {
        TableType { element, minimum: min, maximum: max, wide: true }
    }

    /// Whether indices have 64 bits.
    pub fn is_64(&self) -> bool {
        self.wide
    }

    /// Type of the elements.
    pub fn element(&self) -> &RefType {
        &self.element
    }

    /// Elements at the start, at least.
    pub fn minimum(&self) -> u64 {
        self.minimum
    }

    /// Elements at most.
    pub fn maximum(&self) -> Option<u64> {
        self.maximum
    }

    pub(crate) fn from_wasm(ty: wasmparser::TableType) -> TableType {
        TableType { element: RefType::from_wasm(ty.element_type), minimum: ty.initial, maximum: ty.maximum, wide: ty.table64 }
    }

    pub(crate) fn to_wasm(&self) -> wasmparser::TableType {
        wasmparser::TableType {
            element_type: self.element.to_wasm(),
            table64: self.wide,
            initial: self.minimum,
            maximum: self.maximum,
            shared: false,
        }
    }
}

/// Type of a linear memory; sizes in pages of 64 KiB.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemoryType {
    minimum: u64,
    maximum: Option<u64>,
    wide: bool,
    shared: bool,
}

impl MemoryType {
    /// A memory type with 32-bit addresses.
    pub fn new(minimum: u32, maximum: Option<u32>) -> MemoryType {
        MemoryType { minimum: minimum.into(), maximum: maximum.map(u64::from), wide: false, shared: false }
    }

    /// A memory type with 64-bit addresses.
    pub fn new64(minimum: u64, maximum: Option<u64>) -> MemoryType {
        MemoryType { minimum, maximum, wide: true, shared: false }
    }

    /// Type of a memory that threads share; its addresses have 32 bits.
    pub fn shared(minimum: u32, maximum: u32) -> MemoryType {
        MemoryType { minimum: minimum.into(), maximum: Some(maximum.into()), wide: false, shared: true }
    }

    /// Whether addresses have 64 bits.
    pub fn is_64(&self) -> bool {
        self.wide
    }

    /// Whether threads share it.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Pages at the start, at least.
    pub fn minimum(&self) -> u64 {
        self.minimum
    }

    /// Pages at most.
    pub fn maximum(&self) -> Option<u64> {
        self.maximum
    }

    /// Bytes of a page.
    pub fn page_size(&self) -> u64 {
        65536
    }

    pub(crate) fn from_wasm(ty: wasmparser::MemoryType) -> MemoryType {
        MemoryType { minimum: ty.initial, maximum: ty.maximum, wide: ty.memory64, shared: ty.shared }
    }

    pub(crate) fn to_wasm(&self) -> wasmparser::MemoryType {
        wasmparser::MemoryType {
            memory64: self.wide,
            shared: self.shared,
            initial: self.minimum,
            maximum: self.maximum,
            page_size_log2: None,
        }
    }
}

/// Type of something imported or exported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ExternType {
    /// A function.
    Func(FuncType),
    /// A global.
    Global(GlobalType),
    /// A table.
    Table(TableType),
    /// A memory.
    Memory(MemoryType),
    /// A tag.
    Tag(TagType),
}

/// Type of a tag: what an exception with it carries.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TagType {
    ty: FuncType,
}

impl TagType {
    /// A tag type. The function type has no results.
    pub fn new(ty: FuncType) -> TagType {
        TagType { ty }
    }

    /// The function type whose parameters an exception carries.
    pub fn ty(&self) -> &FuncType {
        &self.ty
    }
}

impl ExternType {
    /// The function type, if it is one.
    pub fn func(&self) -> Option<&FuncType> {
        match self {
            ExternType::Func(ty) => Some(ty),
            _ => None,
        }
    }

    /// The global type, if it is one.
    pub fn global(&self) -> Option<&GlobalType> {
        match self {
            ExternType::Global(ty) => Some(ty),
            _ => None,
        }
    }

    /// The table type, if it is one.
    pub fn table(&self) -> Option<&TableType> {
        match self {
            ExternType::Table(ty) => Some(ty),
            _ => None,
        }
    }

    /// The tag type, if it is one.
    pub fn tag(&self) -> Option<&TagType> {
        match self {
            ExternType::Tag(ty) => Some(ty),
            _ => None,
        }
    }

    /// The memory type, if it is one.
    pub fn memory(&self) -> Option<&MemoryType> {
        match self {
            ExternType::Memory(ty) => Some(ty),
            _ => None,
        }
    }
}

impl std::fmt::Display for ExternType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let up_to = |maximum: Option<u64>| maximum.map_or(String::new(), |max| format!("..{max}"));
        match self {
            ExternType::Func(ty) => write!(f, "func {ty}"),
            ExternType::Global(ty) => match ty.mutability() {
                Mutability::Const => write!(f, "global {}", ty.content()),
                Mutability::Var => write!(f, "global mut {}", ty.content()),
            },
            ExternType::Table(ty) => {
                let width = if ty.is_64() { "i64 " } else { "" };
                write!(f, "table {width}{}{} {}", ty.minimum(), up_to(ty.maximum()), ValType::Ref(*ty.element()))
            }
            ExternType::Tag(ty) => write!(f, "tag {}", ty.ty()),
            ExternType::Memory(ty) => {
                let (width, shared) = (if ty.is_64() { "i64 " } else { "" }, if ty.is_shared() { " shared" } else { "" });
                write!(f, "memory {width}{}{} pages{shared}", ty.minimum(), up_to(ty.maximum()))
            }
        }
    }
}

/// One import of a module.
#[derive(Clone, Debug)]
pub struct ImportType<'module> {
    pub(crate) module: &'module str,
    pub(crate) name: &'module str,
    pub(crate) ty: ExternType,
}

impl<'module> ImportType<'module> {
    /// First name.
    pub fn module(&self) -> &'module str {
        self.module
    }

    /// Second name.
    pub fn name(&self) -> &'module str {
        self.name
    }

    /// What it must be.
    pub fn ty(&self) -> ExternType {
        self.ty.clone()
    }
}

/// One export of a module.
#[derive(Clone, Debug)]
pub struct ExportType<'module> {
    pub(crate) name: &'module str,
    pub(crate) ty: ExternType,
}

impl<'module> ExportType<'module> {
    /// Its name.
    pub fn name(&self) -> &'module str {
        self.name
    }

    /// What it is.
    pub fn ty(&self) -> ExternType {
        self.ty.clone()
    }
}
