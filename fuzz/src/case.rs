//! A seed becomes a module: half of them wasm-smith's, half our own programs, with the features that the engine runs.

use crate::program::{Extras, PARTNER, REFUEL, program};
use crate::random::Random;
use arbitrary::Unstructured;
use backedge::{Engine, Module};
use wasm_smith::{Config, InstructionKind, InstructionKinds, MemoryOffsetChoices};
use wasmparser::{ExternalKind, Parser, Payload, TypeRef, ValType};

/// A module and how to run it.
#[derive(Clone, Debug)]
pub struct Case {
    /// What everything below was made from, and what the schedule's and the host's choices are made from.
    pub seed: u64,
    /// The module.
    pub wasm: Vec<u8>,
    /// Fresh instances to run it in.
    pub rounds: u32,
    /// Whether payloads of NaNs can be seen.
    pub raw_nans: bool,
}

/// A module that has the feature, and what switches it on in the generator.
type Feature = (&'static str, fn(&mut Config));

/// Features that are on when the engine loads the module beside them, so that the fuzzer needs no change when the engine learns one.
const FEATURES: &[Feature] = &[
    ("(module (func (param v128)))", |config| config.simd_enabled = true),
    ("(module (func $f return_call $f))", |config| config.tail_call_enabled = true),
    ("(module (tag) (func (param exnref)))", |config| config.exceptions_enabled = true),
    ("(module (memory i64 1) (table i64 1 funcref))", |config| config.memory64_enabled = true),
    ("(module (memory 1) (memory 1))", |config| config.max_memories = 3),
    ("(module (global i32 (i32.add (i32.const 1) (i32.const 2))))", |config| config.extended_const_enabled = true),
    ("(module (memory 1 (pagesize 1)))", |config| config.custom_page_sizes_enabled = true),
    (
        "(module (func (param i64 i64 i64 i64) (result i64 i64)
        (i64.add128 (local.get 0) (local.get 1) (local.get 2) (local.get 3))))",
        |config| config.wide_arithmetic_enabled = true,
    ),
    ("(module (type (struct (field i32))))", |config| config.gc_enabled = true),
    // For programs of our own only: the generator does not make the NaNs of relaxed operators canonical.
    ("(module (func (result v128) (i8x16.relaxed_swizzle (v128.const i64x2 0 0) (v128.const i64x2 0 0))))", |_| {}),
    // Left out: threads, since `memory.atomic.wait` waits for ever where there is one thread.
];

/// Places in [`FEATURES`] that programs of our own ask for.
const SIMD: usize = 0;
const TAIL_CALLS: usize = 1;
const EXCEPTIONS: usize = 2;
const RELAXED_SIMD: usize = FEATURES.len() - 1;

/// Which of [`FEATURES`] the engine has.
#[derive(Clone, Debug)]
pub struct Features(Vec<bool>);

impl Features {
    /// Asks the engine.
    pub fn of(engine: &Engine) -> Features {
        Features(FEATURES.iter().map(|(text, _)| Module::new(engine, text).is_ok()).collect())
    }
}

/// Largest function in operators, before the generator closes its blocks.
const MOST_OPERATORS: usize = 150;
/// Calls plus loop rounds of an instance before it traps.
const MOST_FUEL: u64 = 3_000;

/// The case of a seed; `None` where the generator gives up. `canonical` makes NaNs canonical whatever the seed says.
pub fn generate(seed: u64, features: &Features, canonical: bool) -> Option<Case> {
    let mut random = Random::new(seed);
    if random.once_in(2) {
        let has = |place: usize| features.0[place];
        let extras = Extras { simd: has(SIMD), relaxed_simd: has(RELAXED_SIMD), tail_calls: has(TAIL_CALLS), exceptions: has(EXCEPTIONS) };
        return Some(Case { seed, wasm: program(&mut random, extras), rounds: 2 + random.below(3) as u32, raw_nans: false });
    }
    let mut bytes = vec![0; 1000 + random.below(6000) as usize];
    for chunk in bytes.chunks_mut(8) {
        chunk.copy_from_slice(&random.bits().to_le_bytes()[..chunk.len()]);
    }
    let mut config = config(&mut random, features);
    config.canonicalize_nans |= canonical;
    let raw_nans = config.allow_floats && !config.canonicalize_nans;
    let mut module = wasm_smith::Module::new(config, &mut Unstructured::new(&bytes)).ok()?;
    module.ensure_termination(random.below(MOST_FUEL) as u32 + 10).ok()?;
    Some(Case { seed, wasm: module.to_bytes(), rounds: 2 + random.below(3) as u32, raw_nans })
}

/// What the generator may do. Each module has only some of the features (swarm testing, Groce et al. 2012): one that is everywhere hides others.
fn config(random: &mut Random, features: &Features) -> Config {
    let mut config = Config {
        simd_enabled: false,
        relaxed_simd_enabled: false,
        tail_call_enabled: false,
        exceptions_enabled: false,
        gc_enabled: false,
        threads_enabled: false,
        shared_everything_threads_enabled: false,
        memory64_enabled: false,
        custom_page_sizes_enabled: false,
        wide_arithmetic_enabled: false,
        compact_imports_enabled: false,
        custom_descriptors_enabled: false,
        extended_const_enabled: false,
        max_memories: 1,
        min_memories: 1,
        min_funcs: 2,
        max_funcs: 2 + random.below(14) as usize,
        max_imports: random.below(6) as usize,
        max_tables: 3,
        min_tables: 1,
        max_table_elements: 100,
        max_memory32_bytes: 1 << 20,
        max_memory64_bytes: 1 << 20,
        max_instructions: 20 + random.below(MOST_OPERATORS as u64) as usize,
        max_type_size: 100,
        export_everything: true,
        memory_offset_choices: MemoryOffsetChoices(200, 20, 1),
        canonicalize_nans: !random.once_in(4),
        disallow_traps: random.once_in(3),
        allow_floats: !random.once_in(3),
        ..Config::default()
    };
    for (has, (_, enable)) in features.0.iter().zip(FEATURES) {
        // Drawn for those the engine lacks too, so that seeds mean much the same when it learns one.
        let wanted = random.once_in(2);
        if *has && wanted {
            enable(&mut config);
        }
    }
    if random.once_in(3) {
        let mut kinds = vec![InstructionKind::Numeric, InstructionKind::Variable, InstructionKind::Control, InstructionKind::Parametric];
        let others = [InstructionKind::Memory, InstructionKind::Table, InstructionKind::Reference, InstructionKind::Vector];
        kinds.extend(others.into_iter().filter(|_| random.once_in(3)));
        config.allowed_instructions = InstructionKinds::new(&kinds);
    }
    config
}

/// What a module imports and exports, read without any of the machines under test.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Parameters and results of the imported functions. Machines list imports in orders of their own, but each kind in the module's.
    pub imports: Vec<(Vec<ValType>, Vec<ValType>)>,
    /// Exports; behind them those of the partner, if there is one.
    pub exports: Vec<ExportShape>,
    /// Whether something is imported from [`PARTNER`].
    pub has_partner: bool,
}

/// What stands before the name of an export of the partner's.
pub const OF_PARTNER: &str = "partner: ";

/// Whose export a name of [`Shape::exports`] is, the instance's or its partner's, and what it is called there.
pub fn whose<T>(instance: T, partner: Option<T>, name: &str) -> (T, &str) {
    match (partner, name.strip_prefix(OF_PARTNER)) {
        (Some(partner), Some(name)) => (partner, name),
        _ => (instance, name),
    }
}

/// One export.
#[derive(Clone, Debug)]
pub struct ExportShape {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ExportKind,
}

impl ExportShape {
    /// Whether it is the function that fills an instance's fuel up.
    pub fn refuels(&self) -> bool {
        self.name.strip_prefix(OF_PARTNER).unwrap_or(&self.name) == REFUEL
    }
}

/// What an export is.
#[derive(Clone, PartialEq, Eq)]
pub enum ExportKind {
    /// A function's parameters and results.
    Func(Vec<ValType>, Vec<ValType>),
    /// A global.
    Global,
    /// A memory.
    Memory,
    /// A table.
    Table,
    /// Something with no value to look at.
    Other,
}

impl std::fmt::Debug for ExportKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ExportKind::Func(..) => "func",
            ExportKind::Global => "global",
            ExportKind::Memory => "memory",
            ExportKind::Table => "table",
            ExportKind::Other => "other",
        })
    }
}

impl Shape {
    /// Reads a valid module.
    ///
    /// # Errors
    /// It is none.
    pub fn of(wasm: &[u8]) -> Result<Shape, wasmparser::Error> {
        let mut shape = Shape::default();
        let mut types: Vec<Option<wasmparser::FuncType>> = Vec::new();
        let mut functions: Vec<u32> = Vec::new();
        let signature = |types: &[Option<wasmparser::FuncType>], index: u32| {
            let ty = types.get(index as usize)?.as_ref()?;
            Some((ty.params().to_vec(), ty.results().to_vec()))
        };
        for payload in Parser::new(0).parse_all(wasm) {
            match payload? {
                Payload::TypeSection(section) => {
                    for group in section {
                        for ty in group?.types() {
                            types.push(match &ty.composite_type.inner {
                                wasmparser::CompositeInnerType::Func(ty) => Some(ty.clone()),
                                _ => None,
                            });
                        }
                    }
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        let import = import?;
                        shape.has_partner |= import.module == PARTNER;
                        if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import.ty {
                            functions.push(ty);
                            shape.imports.extend(signature(&types, ty));
                        }
                    }
                }
                Payload::FunctionSection(section) => {
                    for ty in section {
                        functions.push(ty?);
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        let export = export?;
                        let kind = match export.kind {
                            ExternalKind::Func | ExternalKind::FuncExact => functions
                                .get(export.index as usize)
                                .and_then(|&ty| signature(&types, ty))
                                .map_or(ExportKind::Other, |(params, results)| ExportKind::Func(params, results)),
                            ExternalKind::Global => ExportKind::Global,
                            ExternalKind::Memory => ExportKind::Memory,
                            ExternalKind::Table => ExportKind::Table,
                            _ => ExportKind::Other,
                        };
                        shape.exports.push(ExportShape { name: export.name.to_owned(), kind });
                    }
                }
                _ => {}
            }
        }
        if shape.has_partner {
            let name = |export: &ExportShape| ExportShape { name: format!("{OF_PARTNER}{}", export.name), kind: export.kind.clone() };
            let exports: Vec<ExportShape> = shape.exports.iter().map(name).collect();
            shape.exports.extend(exports);
        }
        Ok(shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_module_and_always_the_same() {
        let features = Features::of(&Engine::default());
        let mut made = 0;
        for seed in 0..20 {
            let Some(case) = generate(seed, &features, false) else { continue };
            made += 1;
            assert_eq!(generate(seed, &features, false).expect("as before").wasm, case.wasm);
            Module::new(&Engine::default(), &case.wasm).expect("a module the engine loads");
            assert!(!Shape::of(&case.wasm).expect("a valid module").exports.is_empty());
        }
        assert!(made > 10, "only {made} of 20 seeds make a module");
    }
}
