//! Bytes → [`Module`]: one pass over the sections, which are validated as they come, then all bodies in parallel.

use super::error::ModuleError;
use super::features::{self, SUPPORTED};
use super::hints::Hints;
use super::names::Names;
use super::{
    Bytes, ConstExpr, ConstOp, DataSegment, ElementItems, ElementSegment, ExportItem, ExternType, GlobalInit, Import, KnownLoops, Module,
    SegmentMode, TableInit,
};
use crate::layout::{VmCounts, VmOffsets};
use crate::signature::{self, Signatures};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use wasmparser::{
    DataKind, ElementKind, ExternalKind, FuncToValidate, FuncValidator, FuncValidatorAllocations, FunctionBody, Operator, Parser, Payload,
    TypeRef, ValidPayload, Validator, ValidatorResources, WasmFeatures,
};

/// Loops with a poll word of their own. Those beyond, which no real module has, share their function's; 1 Mi of them take 8 MiB in each instance.
const MOST_LOOPS: usize = 1 << 20;
/// Below this size bodies are validated, and the bytes hashed, on the calling thread: waking the pool costs more (a guess: about 0.2 ms of validation).
const PARALLEL_BYTES: usize = 128 * 1024;

/// First bytes of code that is kept or precompiled, without the format's version.
pub const PRECOMPILED: [u8; 7] = *b"\0becode";

/// See [`Module::new`].
pub(super) fn parse(bytes: Bytes, features: WasmFeatures, validated: &KnownLoops<'_>) -> Result<Module, ModuleError> {
    let bytes = if bytes.starts_with(b"\0asm") { bytes } else { text_to_binary(&bytes)?.into() };
    parse_binary(bytes, features, validated)
}

fn text_to_binary(bytes: &[u8]) -> Result<Vec<u8>, ModuleError> {
    if bytes.starts_with(&PRECOMPILED) {
        return Err(ModuleError::Precompiled);
    }
    let text = std::str::from_utf8(bytes).map_err(|_| ModuleError::NotWasm)?;
    if !text.trim_start().starts_with(['(', ';']) {
        return Err(ModuleError::NotWasm);
    }
    wat::parse_str(text).map_err(|error| {
        // The parser's message is several lines: the text itself, an arrow and a quotation of the source.
        let full = error.to_string();
        let mut lines = full.lines();
        let message = lines.next().unwrap_or_default().to_owned();
        let place = lines.find_map(|line| line.trim().strip_prefix("--> ")).and_then(|place| {
            let mut parts = place.rsplitn(3, ':');
            let column = parts.next()?.parse().ok()?;
            Some((parts.next()?.parse().ok()?, column))
        });
        let (line, column) = place.unwrap_or((1, 1));
        ModuleError::Text { message, line, column }
    })
}

fn parse_binary(bytes: Bytes, features: WasmFeatures, validated: &KnownLoops<'_>) -> Result<Module, ModuleError> {
    // Header: magic, version u16, layer u16; layer 1 is the component model's.
    if bytes.get(6..8) == Some(&[1, 0]) {
        return Err(ModuleError::Component);
    }
    let parallel = bytes.len() >= PARALLEL_BYTES && crate::pool::is_usable();
    // Bodies that turn out to be known need not be validated any further.
    let known = AtomicBool::new(false);
    let look_up = || {
        let digest = digest(&bytes);
        // (what is kept was valid with all of them)
        let loops = if features == SUPPORTED { validated(&digest) } else { None };
        known.store(loops.is_some(), Ordering::Relaxed);
        (digest, loops)
    };
    let validate = || {
        let (module, bodies) = read(&bytes, features)?;
        let loops = validate_bodies(bodies, parallel, &known).map_err(|(function, error)| {
            let function = module.imported_functions + function as u32;
            Failure {
                error: Cause::Rule(error),
                function: Some(function),
                name: module.names.get(function as usize).cloned().unwrap_or_default(),
            }
        })?;
        Ok((module, loops))
    };
    // (where there is one thread, the first is first)
    let ((digest, loops), read) = if parallel { rayon::join(look_up, validate) } else { (look_up(), validate()) };
    let valid = read.map(|(mut module, found)| {
        module.loops = loops.unwrap_or(found);
        lay_out(&mut module);
        module
    });
    finish(bytes, features, digest, valid)
}

fn finish(bytes: Bytes, features: WasmFeatures, digest: [u8; 32], valid: Result<Module, Failure>) -> Result<Module, ModuleError> {
    match valid {
        Ok(mut module) => {
            (module.digest, module.hash) = (digest, prefix(&digest));
            module.bytes = bytes;
            Ok(module)
        }
        Err(failure) => Err(explain(&bytes, features, failure)),
    }
}

/// See [`Module::new_validated`].
pub(super) fn parse_validated(bytes: Bytes, digest: [u8; 32], loops: Arc<[u32]>) -> Result<Module, ModuleError> {
    let valid = read(&bytes, SUPPORTED).map(|(mut module, _)| {
        module.loops = loops;
        lay_out(&mut module);
        module
    });
    bytes.let_go();
    finish(bytes, SUPPORTED, digest, valid)
}

/// See [`Module::check_features`].
pub(super) fn check_features(bytes: &[u8], features: WasmFeatures) -> Result<(), ModuleError> {
    match Validator::new_with_features(features).validate_all(bytes) {
        Ok(_) => Ok(()),
        Err(error) => Err(explain(bytes, features, error.into())),
    }
}

fn digest(bytes: &[u8]) -> [u8; 32] {
    blake3::hash(bytes).into()
}

/// The first 8 bytes as a big-endian number: its hexadecimal digits are the digest's first 16.
fn prefix(digest: &[u8; 32]) -> u64 {
    u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

/// A broken rule, and the function whose body breaks it.
struct Failure {
    error: Cause,
    function: Option<u32>,
    name: Option<String>,
}

enum Cause {
    Rule(wasmparser::Error),
    /// See [`ModuleError::TooManyTypes`]; where.
    TooManyTypes(u64),
}

impl From<Cause> for Failure {
    fn from(error: Cause) -> Failure {
        Failure { error, function: None, name: None }
    }
}

impl From<wasmparser::Error> for Failure {
    fn from(error: wasmparser::Error) -> Failure {
        Cause::Rule(error).into()
    }
}

/// Tells an invalid module from one that needs a proposal.
fn explain(bytes: &[u8], features: WasmFeatures, failure: Failure) -> ModuleError {
    let error = match failure.error {
        Cause::Rule(error) => error,
        Cause::TooManyTypes(offset) => return ModuleError::TooManyTypes { offset },
    };
    let offset = error.offset();
    match features::needed_proposal(bytes, features) {
        Some((proposal, switched_off)) => ModuleError::Unsupported { proposal, switched_off, offset, function: failure.function },
        None => {
            // One line, and numbers without the blanks that a column of them would need (of the binary's version).
            let message = error.message().split_whitespace().collect::<Vec<&str>>().join(" ");
            ModuleError::Invalid { message, offset, function: failure.function, name: failure.name }
        }
    }
}

type Body<'a> = (FuncToValidate<ValidatorResources>, FunctionBody<'a>);

/// The module without its bytes, hash, loops and layout, and its functions' bodies, which are still to be validated.
fn read(bytes: &[u8], features: WasmFeatures) -> Result<(Module, Vec<Body<'_>>), Failure> {
    let mut validator = Validator::new_with_features(features);
    let mut parser = Parser::new(0);
    parser.set_features(SUPPORTED);
    let mut module = Module {
        bytes: Vec::new().into(),
        hash: 0,
        digest: [0; 32],
        name: None,
        types: Vec::new(),
        signatures: Signatures::default(),
        tags: Vec::new(),
        functions: Vec::new(),
        imports: Vec::new(),
        exports: Vec::new(),
        exported: OnceLock::new(),
        tables: Vec::new(),
        memories: Vec::new(),
        globals: Vec::new(),
        global_inits: Vec::new(),
        table_inits: Vec::new(),
        data: Vec::new(),
        elements: Vec::new(),
        start: None,
        imported_functions: 0,
        imported_tables: 0,
        imported_memories: 0,
        imported_globals: 0,
        imported_tags: 0,
        bodies: Vec::new(),
        names: Vec::new(),
        loops: Arc::default(),
        escaping: Vec::new(),
        hints: Vec::new(),
        offsets: VmOffsets::new(VmCounts::default()),
        checks_accesses: false,
        constant_tables: Default::default(),
        debug: Default::default(),
    };
    let mut names = Names::default();
    let mut hints = Hints::default();
    let mut bodies: Vec<Body<'_>> = Vec::new();
    for payload in parser.parse_all(bytes) {
        let payload = payload?;
        if let ValidPayload::Func(function, body) = validator.payload(&payload)? {
            let range = body.range();
            module.bodies.push(range.start as usize..range.end as usize);
            bodies.push((function, body));
        }
        read_section(&mut module, &mut names, &mut hints, payload)?;
    }
    module.name = names.module;
    module.names = names.functions;
    module.hints = hints.finish(module.imported_functions, &module.bodies);
    module.escaping = escaping(&module);
    Ok((module, bodies))
}

/// Says where everything lies in a context, once all is known that does.
fn lay_out(module: &mut Module) {
    module.offsets = VmOffsets::new(VmCounts {
        memories: module.memories.len() as u32,
        tables: module.tables.len() as u32,
        imported_globals: module.imported_globals,
        globals: module.global_inits.len() as u32,
        imported_functions: module.imported_functions,
        functions: module.bodies.len() as u32,
        loops: module.loops.len() as u32,
        tags: module.tags.len() as u32,
    });
}

/// Validates bodies until they are known to be valid; where their loops are, or the first failure by function order, with its index among the defined functions.
fn validate_bodies(bodies: Vec<Body<'_>>, parallel: bool, known: &AtomicBool) -> Result<Arc<[u32]>, (usize, wasmparser::Error)> {
    let validate = |allocations: &mut FuncValidatorAllocations, (function, body): Body<'_>| {
        if known.load(Ordering::Relaxed) {
            return Ok(Vec::new());
        }
        let mut validator = function.into_validator(std::mem::take(allocations));
        let result = validate_body(&mut validator, &body);
        *allocations = validator.into_allocations();
        result
    };
    let mut loops = Vec::new();
    let mut take =
        |(index, result): (usize, wasmparser::Result<Vec<u32>>)| result.map(|found| loops.extend(found)).map_err(|error| (index, error));
    if parallel {
        let found: Vec<_> = bodies.into_par_iter().map_init(FuncValidatorAllocations::default, validate).collect();
        found.into_iter().enumerate().try_for_each(take)?;
    } else {
        let mut allocations = FuncValidatorAllocations::default();
        bodies.into_iter().map(|body| validate(&mut allocations, body)).enumerate().try_for_each(&mut take)?;
    }
    loops.truncate(MOST_LOOPS);
    Ok(loops.into())
}

/// What [`FuncValidator::validate`] does, with a look at each opcode: the offsets of the loops.
fn validate_body(validator: &mut FuncValidator<ValidatorResources>, body: &FunctionBody<'_>) -> wasmparser::Result<Vec<u32>> {
    const LOOP: u8 = 0x03;
    let mut loops = Vec::new();
    let mut reader = body.get_binary_reader();
    validator.read_locals(&mut reader)?;
    reader.set_features(SUPPORTED);
    let (bytes, start) = (body.as_bytes(), body.range().start);
    while !reader.eof() {
        let offset = reader.original_position();
        if bytes.get((offset - start) as usize) == Some(&LOOP) {
            loops.push(offset as u32);
        }
        reader.visit_operator(&mut validator.visitor(offset))??;
    }
    reader.finish_expression(&validator.visitor(reader.original_position()))?;
    Ok(loops)
}

/// Adds what one section says. It was validated before, so what may not be there is not.
fn read_section(module: &mut Module, names: &mut Names, hints: &mut Hints, payload: Payload<'_>) -> Result<(), Failure> {
    match payload {
        Payload::TypeSection(section) => {
            let offset = section.original_position();
            let types = section.into_iter_err_on_gc_types().collect::<Result<Vec<_>, _>>()?;
            module.signatures = signature::of_module(&types).ok_or(Cause::TooManyTypes(offset))?;
            module.types = module.signatures.iter().map(|&id| signature::of(id)).collect();
        }
        Payload::ImportSection(section) => {
            let at = section.original_position();
            for import in section.into_imports() {
                let import = import?;
                let ty = match import.ty {
                    TypeRef::Func(ty) | TypeRef::FuncExact(ty) => {
                        module.imported_functions += 1;
                        module.functions.push(ty);
                        ExternType::Func(ty)
                    }
                    TypeRef::Table(ty) => {
                        let ty = table_type(&module.signatures, ty).ok_or(Cause::TooManyTypes(at))?;
                        module.imported_tables += 1;
                        module.tables.push(ty);
                        ExternType::Table(ty)
                    }
                    TypeRef::Memory(ty) => {
                        module.imported_memories += 1;
                        module.memories.push(ty);
                        ExternType::Memory(ty)
                    }
                    TypeRef::Global(ty) => {
                        let ty = global_type(&module.signatures, ty).ok_or(Cause::TooManyTypes(at))?;
                        module.imported_globals += 1;
                        module.globals.push(ty);
                        ExternType::Global(ty)
                    }
                    TypeRef::Tag(ty) => {
                        module.imported_tags += 1;
                        module.tags.push(ty.func_type_idx);
                        ExternType::Tag(ty.func_type_idx)
                    }
                };
                module.imports.push(Import { module: import.module.to_owned(), name: import.name.to_owned(), ty });
            }
        }
        Payload::FunctionSection(section) => {
            for ty in section {
                module.functions.push(ty?);
            }
        }
        Payload::TableSection(section) => {
            let at = section.original_position();
            for table in section {
                let table = table?;
                let init = match table.init {
                    wasmparser::TableInit::RefNull => None,
                    wasmparser::TableInit::Expr(expr) => Some(const_expr(&expr)?),
                };
                let ty = table_type(&module.signatures, table.ty).ok_or(Cause::TooManyTypes(at))?;
                module.tables.push(ty);
                module.table_inits.push(TableInit { ty, init });
            }
        }
        Payload::MemorySection(section) => {
            for memory in section {
                module.memories.push(memory?);
            }
        }
        Payload::GlobalSection(section) => {
            let at = section.original_position();
            for global in section {
                let global = global?;
                let ty = global_type(&module.signatures, global.ty).ok_or(Cause::TooManyTypes(at))?;
                module.globals.push(ty);
                module.global_inits.push(GlobalInit { ty, init: const_expr(&global.init_expr)? });
            }
        }
        Payload::TagSection(section) => {
            for tag in section {
                module.tags.push(tag?.func_type_idx);
            }
        }
        Payload::ExportSection(section) => {
            for export in section {
                let export = export?;
                let item = match export.kind {
                    ExternalKind::Func | ExternalKind::FuncExact => ExportItem::Func(export.index),
                    ExternalKind::Table => ExportItem::Table(export.index),
                    ExternalKind::Memory => ExportItem::Memory(export.index),
                    ExternalKind::Global => ExportItem::Global(export.index),
                    ExternalKind::Tag => ExportItem::Tag(export.index),
                };
                module.exports.push((export.name.to_owned(), item));
            }
        }
        Payload::StartSection { func, .. } => module.start = Some(func),
        Payload::ElementSection(section) => {
            for element in section {
                module.elements.push(element_segment(element?)?);
            }
        }
        Payload::DataSection(section) => {
            // Each takes two bytes at least.
            let bytes = section.range();
            module.data.reserve_exact((section.count() as usize).min((bytes.end - bytes.start) as usize));
            for data in section {
                let data = data?;
                let end = data.range.end as usize;
                module.data.push(DataSegment {
                    mode: match data.kind {
                        DataKind::Passive => SegmentMode::Passive,
                        DataKind::Active { memory_index, offset_expr } => {
                            SegmentMode::Active { index: memory_index, offset: const_expr(&offset_expr)? }
                        }
                    },
                    range: end - data.data.len()..end,
                });
            }
        }
        Payload::CodeSectionStart { unchecked_range, .. } => module.debug.code_starts(unchecked_range.start as u32),
        Payload::CustomSection(section) => {
            module.debug.add(section.name(), section.data_offset() as usize..section.data_offset() as usize + section.data().len());
            names.read(&section, module.functions.len());
            hints.read(&section);
        }
        _ => {}
    }
    Ok(())
}

/// With ids in place of type indices; `None`: one has no number that a reference can name.
fn table_type(signatures: &[u32], ty: wasmparser::TableType) -> Option<wasmparser::TableType> {
    Some(wasmparser::TableType { element_type: signature::reference(signatures, ty.element_type)?, ..ty })
}

/// As [`table_type`].
fn global_type(signatures: &[u32], ty: wasmparser::GlobalType) -> Option<wasmparser::GlobalType> {
    Some(wasmparser::GlobalType { content_type: signature::value(signatures, ty.content_type)?, ..ty })
}

fn element_segment(element: wasmparser::Element<'_>) -> Result<ElementSegment, wasmparser::Error> {
    let mode = match element.kind {
        ElementKind::Passive => SegmentMode::Passive,
        ElementKind::Declared => SegmentMode::Declared,
        ElementKind::Active { table_index, offset_expr } => {
            SegmentMode::Active { index: table_index.unwrap_or(0), offset: const_expr(&offset_expr)? }
        }
    };
    let items = match element.items {
        wasmparser::ElementItems::Functions(items) => ElementItems::Functions(items.into_iter().collect::<Result<_, _>>()?),
        wasmparser::ElementItems::Expressions(_, items) => {
            let mut exprs = Vec::with_capacity(items.count() as usize);
            for item in items {
                exprs.push(const_expr(&item?)?);
            }
            ElementItems::Expressions(exprs)
        }
    };
    Ok(ElementSegment { mode, items })
}

fn const_expr(expr: &wasmparser::ConstExpr<'_>) -> Result<ConstExpr, wasmparser::Error> {
    let mut ops = SmallVec::new();
    for op in expr.get_operators_reader() {
        ops.push(match op? {
            Operator::I32Const { value } => ConstOp::I32(value as u32),
            Operator::I64Const { value } => ConstOp::I64(value as u64),
            Operator::F32Const { value } => ConstOp::I32(value.bits()),
            Operator::F64Const { value } => ConstOp::I64(value.bits()),
            Operator::V128Const { value } => ConstOp::V128(value.i128() as u128),
            Operator::GlobalGet { global_index } => ConstOp::GlobalGet(global_index),
            Operator::RefFunc { function_index } => ConstOp::RefFunc(function_index),
            Operator::RefNull { .. } => ConstOp::RefNull,
            Operator::I32Add => ConstOp::I32Add,
            Operator::I32Sub => ConstOp::I32Sub,
            Operator::I32Mul => ConstOp::I32Mul,
            Operator::I64Add => ConstOp::I64Add,
            Operator::I64Sub => ConstOp::I64Sub,
            Operator::I64Mul => ConstOp::I64Mul,
            Operator::End => break,
            other => unreachable!("{other:?} does not validate in a constant expression"),
        });
    }
    Ok(ConstExpr { ops })
}

/// Functions whose reference can exist: a body may name in `ref.func` only what an export, a global or a segment names (validation's `refs`).
fn escaping(module: &Module) -> Vec<bool> {
    let mut escaping = vec![false; module.functions.len()];
    let mut mark = |function: u32| escaping[function as usize] = true;
    for (_, item) in &module.exports {
        if let ExportItem::Func(function) = item {
            mark(*function);
        }
    }
    for segment in &module.elements {
        if let ElementItems::Functions(functions) = &segment.items {
            functions.iter().copied().for_each(&mut mark);
        }
    }
    let in_segments = module.elements.iter().flat_map(|s| match &s.items {
        ElementItems::Expressions(exprs) => exprs.as_slice(),
        ElementItems::Functions(_) => &[],
    });
    let in_globals = module.global_inits.iter().map(|global| &global.init);
    let in_tables = module.table_inits.iter().filter_map(|t| t.init.as_ref());
    for expr in in_segments.chain(in_globals).chain(in_tables) {
        for op in &expr.ops {
            if let ConstOp::RefFunc(function) = op {
                mark(*function);
            }
        }
    }
    escaping
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(text: &str) -> Result<Module, ModuleError> {
        Module::new(text.as_bytes())
    }

    #[test]
    fn reads_every_section() {
        let module = load(
            r#"(module $m
                (import "a" "f" (func $f (param i32)))
                (import "a" "g" (global $g i32))
                (table 3 funcref) (memory 1 2)
                (global i32 (i32.add (global.get $g) (i32.const 2)))
                (global (mut f64) (f64.const 1.5))
                (func $start) (func $two (result i64) (i64.const 2)) (func $hidden)
                (export "two" (func $two)) (export "mem" (memory 0))
                (start $start)
                (elem (i32.const 1) func $start)
                (data (i32.const 8) "abc") (data "xy"))"#,
        )
        .unwrap();
        assert_eq!(module.name.as_deref(), Some("m"));
        assert_eq!(module.imported_functions, 1);
        assert_eq!(module.bodies.len(), 3);
        assert_eq!(module.function_name(2), Some("two"));
        assert_eq!(module.start, Some(1));
        assert_eq!(module.escaping, [false, true, true, false]);
        assert_eq!(module.global_inits[0].init.ops[..], [ConstOp::GlobalGet(0), ConstOp::I32(2), ConstOp::I32Add]);
        assert_eq!(module.global_inits[1].init.ops[..], [ConstOp::I64(1.5f64.to_bits())]);
        assert_eq!(&module.bytes()[module.data[0].range.clone()], b"abc");
        assert_eq!(&module.bytes()[module.data[1].range.clone()], b"xy");
        assert_eq!(module.data[1].mode, SegmentMode::Passive);
        assert_eq!(module.exports[1], ("mem".into(), ExportItem::Memory(0)));
        assert_eq!(module.memories[0].maximum, Some(2));
        // (the first 16 digits of `b3sum` are the key)
        assert_eq!(module.hash, prefix(&digest(module.bytes())));
    }

    #[test]
    fn says_where_and_what_is_invalid() {
        let error = load("(module (func $ok) (func $bad (result i32) i64.const 1))").err();
        let Some(ModuleError::Invalid { function, name, offset, .. }) = &error else { panic!("{error:?}") };
        assert_eq!((*function, name.as_deref()), (Some(1), Some("bad")));
        assert!(*offset > 0);
        let text = error.unwrap().to_string();
        assert!(text.starts_with("invalid module: type mismatch"), "{text}");
        assert!(!text.contains('\n'));
    }

    #[test]
    fn tells_unsupported_from_invalid() {
        let proposal = |text: &str| match load(text) {
            Err(ModuleError::Unsupported { proposal, .. }) => proposal,
            Err(other) => panic!("{other}"),
            Ok(_) => panic!("loads"),
        };
        assert_eq!(proposal("(module (type (struct (field i32))))"), "gc");
        let invalid = load("(module (tag) (func (result i32)))");
        assert!(matches!(invalid, Err(ModuleError::Invalid { .. })));
    }

    #[test]
    fn refuses_what_is_no_core_module() {
        assert_eq!(load("(component)").err(), Some(ModuleError::Component));
        assert_eq!(Module::new(b"\x7fELF").err(), Some(ModuleError::NotWasm));
        assert_eq!(Module::new(b"").err(), Some(ModuleError::NotWasm));
        assert_eq!(Module::new(b"\0becode\x05").err(), Some(ModuleError::Precompiled));
        assert!(matches!(load("(module\n  (func (foo)))"), Err(ModuleError::Text { line: 2, .. })));
        let truncated = Module::new(b"\0asm\x01\0\0\0\x01");
        assert!(matches!(truncated, Err(ModuleError::Invalid { .. })));
    }

    #[test]
    fn a_malformed_name_section_is_ignored() {
        let mut bytes = wat::parse_str("(module (func $f))").unwrap();
        let at = bytes.windows(4).position(|w| w == b"name").unwrap() + 4;
        bytes[at + 1] = 0x7f;
        let module = Module::new(&bytes).unwrap();
        assert_eq!(module.function_name(0), None);
    }
}
