//! Random programs with the shape of real ones: counted loops, dispatch through a table, memory that is in bounds, and results that depend on
//! what was computed. wasm-smith's modules are stranger, but most of their operators never run or leave no trace; here nearly all do.
//!
//! Every function takes fuel at its entry and at each loop header, and traps without; so every call ends. NaNs become canonical
//! where their bits could be seen: before stores, reinterpretations, `copysign` and splats, and after every vector operator on floats.

mod calls;
mod interpreter;

use crate::operators::{Opcodes, Operator, TRAPPING, float_lanes, operators};
use crate::random::Random;
use crate::values::{NAN_32, NAN_64};
use wasm_encoder::{
    AbstractHeapType, BlockType, Catch, CodeSection, ConstExpr, DataSection, ElementSection, Elements, EntityType, ExportKind,
    ExportSection, Function, FunctionSection, GlobalSection, GlobalType, HeapType, ImportSection, Instruction as I, MemArg, MemArgTarget,
    MemorySection, MemoryType, Module, RefType, TableSection, TableType, TagKind, TagSection, TagType, TypeSection, ValType,
};

/// What the engine has beyond WebAssembly 1.0's types and calls.
#[derive(Clone, Copy, Debug)]
pub struct Extras {
    /// `v128` and its operators.
    pub simd: bool,
    /// Relaxed SIMD, in some of the programs with `simd`.
    pub relaxed_simd: bool,
    /// `return_call` and `return_call_indirect`.
    pub tail_calls: bool,
    /// `throw`, `try_table`, `throw_ref` and references to exceptions, in some of the programs.
    pub exceptions: bool,
}

const EXN: HeapType = HeapType::Abstract { shared: false, ty: AbstractHeapType::Exn };
const EXNREF: ValType = ValType::Ref(RefType { nullable: true, heap_type: EXN });
/// The tag with values; the other, 1, has none.
const NUMBERS: u32 = 0;
/// What its exceptions carry.
const CARRIED: [ValType; 2] = [I32, I64];

use ValType::{F32, F64, I32, I64, V128};

type Signature = (Vec<ValType>, Vec<ValType>);

/// What a module has, for those who write its functions.
struct Plan {
    extras: Extras,
    operators: Vec<(ValType, Vec<Operator>)>,
    signatures: Vec<Signature>,
    /// Type of each function, imports first.
    functions: Vec<u32>,
    imported: u32,
    /// Types of the mutable globals; the first is the fuel.
    globals: Vec<ValType>,
    /// What is imported from another instance.
    partner: Option<Partner>,
    /// Size of the table, a power of two.
    table: u32,
    /// Bytes of memory that masked addresses reach.
    reach: i32,
}

/// What a program imports from an instance of itself that was made before, whose own imports of these are the host's.
///
/// So functions call each other across instances, in each of the ways that there are, and what one does to a table, a memory or globals that both
/// have must be seen by the other.
struct Partner {
    /// For each imported function, the one of the partner's that it is; the host's where there is none.
    functions: Vec<Option<u32>>,
    table: bool,
    memory: bool,
    /// The mutable ones, so the fuel too.
    globals: bool,
    /// Where they are not shared, what one instance throws the other catches only with all exceptions, without values.
    tags: bool,
}

/// Name of the module that imports from the partner are from.
pub const PARTNER: &str = "partner";
/// Name of the export that fills the fuel up again.
pub const REFUEL: &str = "refuel";
/// Types of the immutable globals, which are behind the mutable ones.
const CONSTANTS: [ValType; 4] = [I32, I64, F32, F64];
/// Calls plus loop rounds of one call of an export.
const FUEL: i32 = 1500;
/// The same where a partner has its own.
const FUEL_OF_TWO: i32 = 700;

/// A program.
pub fn program(random: &mut Random, extras: Extras) -> Vec<u8> {
    let mut types = vec![I32, I32, I64, F32, F64];
    if extras.simd && random.once_in(2) {
        types.extend([V128, V128]);
    }
    let simd = types.contains(&V128);
    let relaxed_simd = extras.relaxed_simd && simd && random.once_in(3);
    let extras = Extras { simd, relaxed_simd, exceptions: extras.exceptions && random.once_in(3), ..extras };
    let of_types = |random: &mut Random, most: u64| (0..random.below(most + 1)).map(|_| *random.of(&types)).collect::<Vec<_>>();
    let signatures: Vec<Signature> = (0..2 + random.below(4))
        .map(|_| {
            let most_results = if random.once_in(6) { 4 } else { 1 };
            (of_types(random, 4), of_types(random, most_results))
        })
        .collect();
    let has_partner = random.once_in(3);
    let imported = if has_partner { 1 + random.below(4) } else { random.below(3) } as u32;
    let count = imported + 2 + random.below(8) as u32;
    let functions: Vec<u32> = (0..count).map(|_| random.below(signatures.len() as u64) as u32).collect();
    let mut globals = vec![I32];
    globals.extend((0..3 + random.below(5)).map(|_| *random.of(&types)));
    let partner = has_partner.then(|| Partner::of(&functions, imported, random));
    let plan = Plan {
        extras,
        operators: types.iter().map(|&ty| (ty, operators(ty, extras))).collect(),
        signatures,
        functions,
        imported,
        globals,
        partner,
        table: 1 << (2 + random.below(3)),
        reach: if random.once_in(2) { 0xff } else { 0x7ff0 },
    };
    plan.module(random)
}

impl Partner {
    fn of(functions: &[u32], imported: u32, random: &mut Random) -> Partner {
        let (imports, own) = functions.split_at(imported as usize);
        let functions = imports
            .iter()
            .map(|ty| {
                let fitting: Vec<u32> = (imported..).zip(own).filter(|(_, other)| *other == ty).map(|(index, _)| index).collect();
                (!fitting.is_empty() && !random.once_in(4)).then(|| *random.of(&fitting))
            })
            .collect();
        Partner { functions, table: random.once_in(2), memory: random.once_in(3), globals: random.once_in(3), tags: random.once_in(2) }
    }
}

impl Plan {
    fn fuel(&self) -> i32 {
        if self.partner.is_some() { FUEL_OF_TWO } else { FUEL }
    }

    /// Whether the partner has what this says.
    fn shares(&self, what: fn(&Partner) -> bool) -> bool {
        self.partner.as_ref().is_some_and(what)
    }

    fn module(&self, random: &mut Random) -> Vec<u8> {
        let mut types = TypeSection::new();
        for (params, results) in &self.signatures {
            types.ty().function(params.iter().copied(), results.iter().copied());
        }
        let mut imports = ImportSection::new();
        let mut functions = FunctionSection::new();
        let mut exports = ExportSection::new();
        for (index, &ty) in self.functions.iter().enumerate() {
            if (index as u32) < self.imported {
                let of_partner = self.partner.as_ref().and_then(|partner| partner.functions[index]);
                match of_partner {
                    Some(function) => imports.import(PARTNER, &format!("f{function}"), EntityType::Function(ty)),
                    None => imports.import("host", &format!("h{index}"), EntityType::Function(ty)),
                };
            } else {
                functions.function(ty);
                exports.export(&format!("f{index}"), ExportKind::Func, index as u32);
            }
        }
        let mut tables = TableSection::new();
        let table = TableType { element_type: RefType::FUNCREF, minimum: self.table.into(), maximum: None, table64: false, shared: false };
        if self.shares(|partner| partner.table) {
            imports.import(PARTNER, "table", EntityType::Table(table));
        } else {
            tables.table(table);
        }
        let mut memories = MemorySection::new();
        let memory = MemoryType { minimum: 1, maximum: Some(3), memory64: false, shared: false, page_size_log2: None };
        if self.shares(|partner| partner.memory) {
            imports.import(PARTNER, "memory", EntityType::Memory(memory));
        } else {
            memories.memory(memory);
        }
        let mut globals = GlobalSection::new();
        for (index, &ty) in self.globals.iter().chain(&CONSTANTS).enumerate() {
            let init = match ty {
                _ if index == 0 => ConstExpr::i32_const(self.fuel()),
                I32 => ConstExpr::i32_const(random.bits() as i32),
                I64 => ConstExpr::i64_const(random.bits() as i64),
                F32 => ConstExpr::f32_const((random.below(100) as f32 / 4.0).into()),
                F64 => ConstExpr::f64_const((random.below(100) as f64 / 4.0).into()),
                _ => ConstExpr::v128_const(i128::from(random.bits()) << 64 | i128::from(random.bits())),
            };
            let mutable = index < self.globals.len();
            let global = GlobalType { val_type: ty, mutable, shared: false };
            if mutable && self.shares(|partner| partner.globals) {
                imports.import(PARTNER, &format!("g{index}"), EntityType::Global(global));
            } else {
                globals.global(global, &init);
            }
            exports.export(&format!("g{index}"), ExportKind::Global, index as u32);
        }
        exports.export("memory", ExportKind::Memory, 0);
        exports.export("table", ExportKind::Table, 0);
        // The host calls it before each other call, so that one that used up the fuel does not end all that follow.
        functions.function(self.signatures.len() as u32);
        types.ty().function([], []);
        let mut tags = TagSection::new();
        if self.extras.exceptions {
            types.ty().function(CARRIED, []);
            types.ty().function([], CARRIED);
            types.ty().function([], [CARRIED[0], CARRIED[1], EXNREF]);
            for (index, func_type_idx) in [self.carried_type(), self.carried_type() - 1].into_iter().enumerate() {
                let tag = TagType { kind: TagKind::Exception, func_type_idx };
                if self.shares(|partner| partner.tags) {
                    imports.import(PARTNER, &format!("t{index}"), EntityType::Tag(tag));
                } else {
                    tags.tag(tag);
                }
                exports.export(&format!("t{index}"), ExportKind::Tag, index as u32);
            }
            let null = ConstExpr::ref_null(EXN);
            globals.global(GlobalType { val_type: EXNREF, mutable: true, shared: false }, &null);
        }
        exports.export(REFUEL, ExportKind::Func, self.functions.len() as u32);
        let mut elements = ElementSection::new();
        // Most tables have mostly functions of one type, so that calls through them succeed; the last entry of some is null.
        let liked = *random.of(&self.functions);
        let fitting: Vec<u32> = (0..self.functions.len() as u32).filter(|&f| self.functions[f as usize] == liked).collect();
        // Those with higher numbers call less.
        let low = fitting.len() / 2;
        let filled = self.table - u32::from(random.once_in(12));
        let entries: Vec<u32> = (0..filled)
            .map(|_| {
                if random.once_in(40) {
                    random.below(self.functions.len() as u64) as u32
                } else {
                    let from = if random.once_in(3) { 0 } else { low };
                    *random.of(&fitting[from..])
                }
            })
            .collect();
        elements.active(None, &ConstExpr::i32_const(0), Elements::Functions(entries.into()));
        let mut code = CodeSection::new();
        for index in self.imported..self.functions.len() as u32 {
            code.function(&Writer::function(self, index, liked, random));
        }
        let mut refuel = Function::new([]);
        for instruction in [I::I32Const(self.fuel()), I::GlobalSet(0), I::End] {
            refuel.instruction(&instruction);
        }
        code.function(&refuel);
        let mut data = DataSection::new();
        let bytes: Vec<u8> = (0..64).map(|_| random.bits() as u8).collect();
        data.active(0, &ConstExpr::i32_const(0), bytes);
        let mut module = Module::new();
        module.section(&types).section(&imports).section(&functions).section(&tables).section(&memories);
        if self.extras.exceptions {
            module.section(&tags);
        }
        module.section(&globals);
        module.section(&exports).section(&elements).section(&code).section(&data);
        module.finish()
    }
}

impl Plan {
    /// Index of the type of the tag with values; those of blocks that leave them, without and with the exception, follow.
    fn carried_type(&self) -> u32 {
        self.signatures.len() as u32 + 1
    }

    /// The global that holds an exception, which no other code uses.
    fn kept_exception(&self) -> u32 {
        (self.globals.len() + CONSTANTS.len()) as u32
    }
}

/// A function being written.
struct Writer<'a> {
    plan: &'a Plan,
    index: u32,
    random: &'a mut Random,
    f: Function,
    /// Types of the locals that programs use, parameters first.
    locals: Vec<ValType>,
    /// First of the locals that count loops; each open loop has its own.
    counters: u32,
    /// The local with an address near which others are accessed.
    near: u32,
    /// A scratch local of each type.
    scratch: [(ValType, u32); 5],
    /// The local for exceptions.
    exception: u32,
    loops: u32,
    /// Open blocks that take no values, as types of their labels: innermost last. `None` for those with a result.
    labels: Vec<bool>,
    results: Vec<ValType>,
    /// Type most table entries have.
    liked: u32,
    /// Nodes that may still be written.
    budget: i32,
    /// Calls nothing and has no loop, so it needs no fuel: small enough to be inlined.
    leaf: bool,
    /// It begins with a test behind which it returns, and calls itself now and then.
    returns_early: bool,
}

/// Loops inside loops.
const MOST_LOOPS: u32 = 3;

impl<'a> Writer<'a> {
    fn function(plan: &'a Plan, index: u32, liked: u32, random: &'a mut Random) -> Function {
        let (params, results) = &plan.signatures[plan.functions[index as usize] as usize];
        let types: Vec<ValType> = plan.operators.iter().map(|(ty, _)| *ty).collect();
        let mut locals = params.clone();
        locals.extend((0..2 + random.below(5)).map(|_| *random.of(&types)));
        let counters = locals.len() as u32;
        let near = counters + MOST_LOOPS;
        let first = near + 1;
        let scratch = [(I32, first), (I64, first + 1), (F32, first + 2), (F64, first + 3), (V128, first + 4)];
        let mut declared: Vec<ValType> = locals[params.len()..].to_vec();
        declared.extend([I32; MOST_LOOPS as usize + 1]);
        declared.extend([I32, I64, F32, F64]);
        if plan.extras.simd {
            declared.push(V128);
        }
        let exception = (params.len() + declared.len()) as u32;
        if plan.extras.exceptions {
            declared.push(EXNREF);
        }
        let leaf = random.once_in(3);
        let budget = if leaf { 4 + random.below(12) } else { 30 + random.below(250) } as i32;
        let mut writer = Writer {
            plan,
            index,
            random,
            f: Function::new_with_locals_types(declared),
            locals,
            counters,
            near,
            scratch,
            exception,
            loops: 0,
            labels: Vec::new(),
            results: results.clone(),
            liked,
            budget,
            leaf,
            returns_early: false,
        };
        if !leaf {
            if writer.random.once_in(3) {
                writer.early_return();
                writer.returns_early = true;
            }
            writer.fuel();
            // Zeros hide too much.
            for local in params.len() as u32..counters {
                writer.constant(writer.locals[local as usize]);
                writer.op(I::LocalSet(local));
            }
        }
        let statements = if leaf { writer.random.below(2) } else { 2 + writer.random.below(6) };
        for _ in 0..statements {
            writer.statement(3);
        }
        if !leaf {
            writer.show_locals();
        }
        let results = writer.results.clone();
        let tail_calls = if writer.plan.partner.is_some() { 2 } else { 4 };
        if !leaf && writer.plan.extras.tail_calls && writer.random.once_in(tail_calls) && writer.tail_call() {
            writer.op(I::End);
            return writer.f;
        }
        for ty in results {
            writer.expression(ty, 3);
        }
        writer.op(I::End);
        writer.f
    }

    fn op(&mut self, instruction: I<'_>) {
        self.f.instruction(&instruction);
    }

    /// Takes one unit of fuel, or traps.
    fn fuel(&mut self) {
        for instruction in [I::GlobalGet(0), I::I32Eqz, I::If(BlockType::Empty), I::Unreachable, I::End] {
            self.op(instruction);
        }
        for instruction in [I::GlobalGet(0), I::I32Const(1), I::I32Sub, I::GlobalSet(0)] {
            self.op(instruction);
        }
    }

    /// Lets what the locals hold be seen in the globals.
    fn show_locals(&mut self) {
        for local in 0..self.counters {
            let ty = self.locals[local as usize];
            let Some(global) = self.global_of(ty) else { continue };
            let mix = match ty {
                I32 => Some((I::I32Const(5), I::I32Rotl, I::I32Xor)),
                I64 => Some((I::I64Const(5), I::I64Rotl, I::I64Xor)),
                _ => None,
            };
            if let Some((count, rotate, xor)) = mix {
                for instruction in [I::GlobalGet(global), count, rotate, I::LocalGet(local), xor] {
                    self.op(instruction);
                }
            } else {
                self.op(I::LocalGet(local));
            }
            self.op(I::GlobalSet(global));
        }
    }

    fn any_type(&mut self) -> ValType {
        self.random.of(&self.plan.operators).0
    }

    fn local_of(&mut self, ty: ValType) -> Option<u32> {
        let fitting: Vec<u32> = (0..self.locals.len() as u32).filter(|&local| self.locals[local as usize] == ty).collect();
        (!fitting.is_empty()).then(|| *self.random.of(&fitting))
    }

    /// A global other than the fuel.
    fn global_of(&mut self, ty: ValType) -> Option<u32> {
        let fitting: Vec<u32> = (1..self.plan.globals.len() as u32).filter(|&global| self.plan.globals[global as usize] == ty).collect();
        (!fitting.is_empty()).then(|| *self.random.of(&fitting))
    }

    fn constant(&mut self, ty: ValType) {
        let small = self.random.once_in(2);
        let number = if small { self.random.below(40) as i64 - 8 } else { self.random.bits() as i64 };
        let instruction = match ty {
            I32 => I::I32Const(number as i32),
            I64 => I::I64Const(number),
            F32 => I::F32Const((if self.random.once_in(12) { f32::NAN } else { number as f32 / 4.0 }).into()),
            F64 => I::F64Const((if self.random.once_in(12) { f64::INFINITY } else { number as f64 / 4.0 }).into()),
            _ => I::V128Const(i128::from(number) << 64 | i128::from(self.random.bits())),
        };
        self.op(instruction);
    }

    /// Replaces a NaN on the stack by the canonical one.
    fn canonical(&mut self, ty: ValType) {
        let scratch = self.scratch.iter().find(|(other, _)| *other == ty).map_or(0, |(_, local)| *local);
        match ty {
            F32 => {
                for instruction in
                    [I::LocalTee(scratch), I::F32Const(f32::from_bits(NAN_32).into()), I::LocalGet(scratch), I::LocalGet(scratch)]
                {
                    self.op(instruction);
                }
                self.op(I::F32Eq);
                self.op(I::Select);
            }
            F64 => {
                for instruction in
                    [I::LocalTee(scratch), I::F64Const(f64::from_bits(NAN_64).into()), I::LocalGet(scratch), I::LocalGet(scratch)]
                {
                    self.op(instruction);
                }
                self.op(I::F64Eq);
                self.op(I::Select);
            }
            _ => {}
        }
    }

    /// The same for the lanes of a vector.
    fn canonical_lanes(&mut self, lanes: ValType) {
        let scratch = self.scratch[4].1;
        let (nan, equal) = match lanes {
            F32 => (u128::from(NAN_32) * 0x1_0000_0001_0000_0001_0000_0001, I::F32x4Eq),
            _ => (u128::from(NAN_64) << 64 | u128::from(NAN_64), I::F64x2Eq),
        };
        for instruction in
            [I::LocalTee(scratch), I::V128Const(nan as i128), I::LocalGet(scratch), I::LocalGet(scratch), equal, I::V128Bitselect]
        {
            self.op(instruction);
        }
    }

    /// The local that counts one of the open loops, of which there is one at least.
    fn open_counter(&mut self) -> u32 {
        self.counters + self.random.below(u64::from(self.loops)) as u32
    }

    /// An address: in bounds, but for one in a hundred or so. Often a constant above one from before, in a loop a stride through memory, or what lies there.
    fn address(&mut self, depth: u32) {
        if self.random.once_in(3) {
            let above = match self.random.below(12) {
                0 => -1 - self.random.below(64) as i32,
                1 => self.random.below(0x7000) as i32,
                _ => self.random.below(64) as i32,
            };
            for instruction in [I::LocalGet(self.near), I::I32Const(above), I::I32Add] {
                self.op(instruction);
            }
            return;
        }
        if self.loops > 0 && self.random.once_in(2) {
            let counter = self.open_counter();
            let stride = 1 + self.random.below(200) as i32;
            for instruction in [I::LocalGet(counter), I::I32Const(stride), I::I32Mul] {
                self.op(instruction);
            }
            if self.random.once_in(3) {
                let place = self.place(2);
                for instruction in [I::I32Const(self.plan.reach), I::I32And, I::I32Load(place)] {
                    self.op(instruction);
                }
            }
        } else {
            self.expression(I32, depth);
        }
        if !self.random.once_in(400) {
            self.op(I::I32Const(self.plan.reach));
            self.op(I::I32And);
        }
        match self.random.below(6) {
            0 | 1 => self.op(I::LocalTee(self.near)),
            // Below it, and not accessed itself: what is above may be the first, and the sum wrap.
            2 => {
                let below = self.random.below(64) as i32;
                for instruction in [I::I32Const(below), I::I32Sub, I::LocalTee(self.near), I::I32Const(below), I::I32Add] {
                    self.op(instruction);
                }
            }
            _ => {}
        }
    }

    fn place(&mut self, most_align: u32) -> MemArg {
        MemArg {
            offset: self.random.below(32),
            align: self.random.below(u64::from(most_align) + 1) as u32,
            target: MemArgTarget::Memory(0),
            ordering: None,
        }
    }

    fn load(&mut self, ty: ValType, depth: u32) {
        self.address(depth);
        let which = self.random.below(7);
        let align = match ty {
            I32 | F32 => 2,
            I64 | F64 => 3,
            _ => 4,
        };
        let place = self.place(align);
        let narrow = |align: u32| MemArg { align: place.align.min(align), ..place };
        let instruction = match (ty, which) {
            (I32, 0) => I::I32Load8S(narrow(0)),
            (I32, 1) => I::I32Load8U(narrow(0)),
            (I32, 2) => I::I32Load16S(narrow(1)),
            (I32, 3) => I::I32Load16U(narrow(1)),
            (I32, _) => I::I32Load(place),
            (I64, 0) => I::I64Load8S(narrow(0)),
            (I64, 1) => I::I64Load8U(narrow(0)),
            (I64, 2) => I::I64Load16S(narrow(1)),
            (I64, 3) => I::I64Load16U(narrow(1)),
            (I64, 4) => I::I64Load32S(narrow(2)),
            (I64, 5) => I::I64Load32U(narrow(2)),
            (I64, _) => I::I64Load(place),
            (F32, _) => I::F32Load(place),
            (F64, _) => I::F64Load(place),
            (_, 0) => I::V128Load8x8S(narrow(3)),
            (_, 1) => I::V128Load16x4U(narrow(3)),
            (_, 2) => I::V128Load8Splat(narrow(0)),
            (_, 3) => I::V128Load32Zero(narrow(2)),
            (_, 4) => I::V128Load64Zero(narrow(3)),
            _ => I::V128Load(place),
        };
        self.op(instruction);
        // Memory holds any bits, and operators may change a NaN's.
        match ty {
            V128 => {}
            ty => self.canonical(ty),
        }
    }

    fn store(&mut self, depth: u32) {
        let ty = self.any_type();
        self.address(depth);
        self.expression(ty, depth);
        self.canonical(ty);
        let which = self.random.below(5);
        let place = self.place(match ty {
            I32 | F32 => 2,
            I64 | F64 => 3,
            _ => 4,
        });
        let narrow = |align: u32| MemArg { align: place.align.min(align), ..place };
        self.op(match (ty, which) {
            (I32, 0) => I::I32Store8(narrow(0)),
            (I32, 1) => I::I32Store16(narrow(1)),
            (I32, _) => I::I32Store(place),
            (I64, 0) => I::I64Store8(narrow(0)),
            (I64, 1) => I::I64Store16(narrow(1)),
            (I64, 2) => I::I64Store32(narrow(2)),
            (I64, _) => I::I64Store(place),
            (F32, _) => I::F32Store(place),
            (F64, _) => I::F64Store(place),
            _ => I::V128Store(place),
        });
    }

    /// An operator with its operands.
    fn operator(&mut self, ty: ValType, depth: u32) {
        let trapping: Vec<&Opcodes> = TRAPPING.iter().filter(|row| row.3 == ty).collect();
        if !trapping.is_empty() && self.random.once_in(200) {
            let &&(first, last, takes, _) = self.random.of(&trapping);
            self.expression(takes[0], depth);
            let opcode = first + self.random.below(u64::from(last - first) + 1) as u32;
            self.f.raw([opcode as u8]);
            return;
        }
        let Some((_, operators)) = self.plan.operators.iter().find(|(other, _)| *other == ty) else { return self.constant(ty) };
        let operator = *self.random.of(operators);
        let seen = operator.prefix == 0 && matches!(operator.opcode, 0xbc | 0xbd) || operator.prefix == 0xfd && operator.takes != [V128];
        let copysign = operator.prefix == 0 && matches!(operator.opcode, 0x98 | 0xa6);
        for (index, &operand) in operator.takes.iter().enumerate() {
            self.expression(operand, depth);
            if seen || copysign && index == 1 {
                self.canonical(operand);
            }
        }
        let division = operator.prefix == 0 && matches!(operator.opcode, 0x6d..=0x70 | 0x7f..=0x82);
        if division && !self.random.once_in(300) {
            // Odd, so not 0.
            let (one, or) = if ty == I32 { (I::I32Const(1), I::I32Or) } else { (I::I64Const(1), I::I64Or) };
            self.op(one);
            self.op(or);
        }
        if operator.prefix == 0 {
            self.f.raw([operator.opcode as u8]);
        } else {
            let mut bytes = vec![operator.prefix];
            let mut rest = operator.opcode;
            while rest >= 0x80 {
                bytes.push(rest as u8 | 0x80);
                rest >>= 7;
            }
            bytes.push(rest as u8);
            self.f.raw(bytes);
            if let (0xfd, Some(lanes)) = (operator.prefix, float_lanes(operator.opcode)) {
                self.canonical_lanes(lanes);
            }
        }
        // Bits that were no float's.
        if operator.prefix == 0 && matches!(operator.opcode, 0xbe | 0xbf) {
            self.canonical(operator.leaves);
        }
    }

    /// Leaves one value of a type.
    fn expression(&mut self, ty: ValType, depth: u32) {
        self.budget -= 1;
        if depth == 0 || self.budget <= 0 {
            return match self.local_of(ty) {
                Some(local) if !self.random.once_in(3) => self.op(I::LocalGet(local)),
                _ => self.constant(ty),
            };
        }
        let depth = depth - 1;
        match self.random.below(24) {
            0 => match CONSTANTS.iter().position(|&of| of == ty) {
                Some(number) if self.random.once_in(2) => self.op(I::GlobalGet((self.plan.globals.len() + number) as u32)),
                _ => self.constant(ty),
            },
            1..=3 => match self.local_of(ty) {
                Some(local) => self.op(I::LocalGet(local)),
                None => self.constant(ty),
            },
            4 => match self.global_of(ty) {
                Some(global) => self.op(I::GlobalGet(global)),
                None => self.operator(ty, depth),
            },
            5 | 6 => self.load(ty, depth),
            7 => {
                self.expression(ty, depth);
                self.expression(ty, depth);
                self.expression(I32, depth);
                self.op(I::Select);
            }
            8 => {
                self.expression(I32, depth);
                self.op(I::If(BlockType::Result(ty)));
                self.labels.push(false);
                self.expression(ty, depth);
                self.op(I::Else);
                self.expression(ty, depth);
                self.labels.pop();
                self.op(I::End);
            }
            9 => {
                self.op(I::Block(BlockType::Result(ty)));
                self.labels.push(false);
                self.expression(ty, depth);
                self.expression(I32, depth);
                self.op(I::BrIf(0));
                self.op(I::Drop);
                self.expression(ty, depth);
                self.labels.pop();
                self.op(I::End);
            }
            10 | 11 if !self.leaf => {
                let call = self.callable();
                match self.plan.signatures[call as usize].1.iter().position(|&result| result == ty) {
                    Some(at) => {
                        let results = self.plan.signatures[call as usize].1.clone();
                        self.call_of(call, depth);
                        results[at + 1..].iter().for_each(|_| self.op(I::Drop));
                        if at > 0 {
                            // Values below it go through a scratch local.
                            let scratch = self.scratch.iter().find(|(other, _)| *other == ty).map_or(0, |(_, local)| *local);
                            self.op(I::LocalSet(scratch));
                            results[..at].iter().for_each(|_| self.op(I::Drop));
                            self.op(I::LocalGet(scratch));
                        }
                    }
                    None => self.operator(ty, depth),
                }
            }
            12 => match self.local_of(ty) {
                Some(local) => {
                    self.expression(ty, depth);
                    self.op(I::LocalTee(local));
                }
                None => self.operator(ty, depth),
            },
            13 if ty == I32 => {
                self.table_index(depth);
                self.op(I::TableGet(0));
                self.op(I::RefIsNull);
            }
            14 if ty == I32 => self.op(I::MemorySize(0)),
            15 if ty == I32 && self.random.once_in(4) => {
                self.op(I::I32Const(1));
                self.op(I::MemoryGrow(0));
            }
            16 if ty == I32 => self.three_way(depth),
            _ => self.operator(ty, depth),
        }
    }

    /// A test of `(a > b) - (a < b)`, or of that on one way and of something else on another. One in eight is nearly that.
    fn three_way(&mut self, depth: u32) {
        let ty = if self.random.once_in(3) { I64 } else { I32 };
        let (Some(a), Some(b)) = (self.local_of(ty), self.local_of(ty)) else { return self.operator(I32, depth) };
        let two_ways = self.random.once_in(2);
        if two_ways {
            self.expression(I32, depth);
            self.op(I::If(BlockType::Result(I32)));
            self.labels.push(false);
        }
        // i32.lt_s, or i64.lt_s; the next three are lt_u, gt_s, gt_u.
        let less = if ty == I32 { 0x48 } else { 0x53 } + self.random.below(2) as u8;
        let greater = less + 2;
        let swapped = self.random.once_in(2);
        let other_signs = u8::from(self.random.once_in(16));
        for (at, opcode) in [greater, if swapped { greater } else { less } ^ other_signs].into_iter().enumerate() {
            let back = at == 1 && swapped != self.random.once_in(16);
            self.op(I::LocalGet(if back { b } else { a }));
            self.op(I::LocalGet(if back { a } else { b }));
            self.f.raw([opcode]);
        }
        self.op(I::I32Sub);
        if two_ways {
            self.op(I::Else);
            self.expression(I32, depth);
            self.labels.pop();
            self.op(I::End);
        }
        if self.random.once_in(3) {
            let by = *self.random.of(&[1, 2, 29, 31, 32]);
            self.op(I::I32Const(by));
            self.op(I::I32ShrU);
            if !self.random.once_in(3) {
                let mask = *self.random.of(&[1, 2, 4, 6, -1]);
                self.op(I::I32Const(mask));
                self.op(I::I32And);
            }
        } else {
            let constant = self.random.below(5) as i32 - 2;
            self.op(I::I32Const(constant));
            // i32.eq to i32.ge_u.
            let compare = 0x46 + self.random.below(10) as u8;
            self.f.raw([compare]);
        }
    }

    fn statements(&mut self, depth: u32) {
        for _ in 0..1 + self.random.below(3) {
            self.statement(depth);
        }
    }

    /// Leaves nothing.
    fn statement(&mut self, depth: u32) {
        self.budget -= 1;
        if depth == 0 || self.budget <= 0 {
            return;
        }
        let inner = depth - 1;
        match self.random.below(16) {
            0..=2 => {
                let local = self.random.below(self.locals.len() as u64) as u32;
                self.expression(self.locals[local as usize], depth);
                self.op(I::LocalSet(local));
            }
            3 | 4 => {
                let global = 1 + self.random.below(self.plan.globals.len() as u64 - 1) as u32;
                self.expression(self.plan.globals[global as usize], depth);
                self.op(I::GlobalSet(global));
            }
            5..=7 => self.store(inner),
            8 => {
                self.expression(I32, inner);
                self.op(I::If(BlockType::Empty));
                self.labels.push(true);
                self.statements(inner);
                if self.random.once_in(2) {
                    self.op(I::Else);
                    self.statements(inner);
                }
                self.labels.pop();
                self.op(I::End);
            }
            9..=11 if self.loops < MOST_LOOPS && !self.leaf => self.counted_loop(inner),
            12 if !self.leaf => {
                let call = self.callable();
                self.call_of(call, inner);
                for ty in self.plan.signatures[call as usize].1.clone().into_iter().rev() {
                    match self.global_of(ty) {
                        Some(global) => self.op(I::GlobalSet(global)),
                        None => self.op(I::Drop),
                    }
                }
            }
            13 if self.loops < MOST_LOOPS && !self.leaf && self.random.once_in(2) => self.interpreter(inner),
            13 => self.switch(inner),
            15 if self.plan.extras.exceptions => match self.random.below(4) {
                0 => self.throw(inner),
                1 => self.throw_again(inner),
                _ => self.catch(inner),
            },
            14 if self.plan.extras.tail_calls && !self.leaf && self.random.once_in(2) => {
                self.leave_by_call(inner);
            }
            14 => {
                let open: Vec<u32> =
                    (0..self.labels.len()).filter(|&at| self.labels[self.labels.len() - 1 - at]).map(|at| at as u32).collect();
                if !open.is_empty() {
                    self.expression(I32, inner);
                    let label = *self.random.of(&open);
                    self.op(I::BrIf(label));
                }
            }
            _ => match self.random.below(4) {
                0 => {
                    self.address(inner);
                    self.expression(I32, inner);
                    let length = self.random.below(64) as i32;
                    self.op(I::I32Const(length));
                    self.op(I::MemoryFill(0));
                }
                1 => {
                    self.address(inner);
                    self.address(inner);
                    let length = self.random.below(64) as i32;
                    self.op(I::I32Const(length));
                    self.op(I::MemoryCopy { src_mem: 0, dst_mem: 0 });
                }
                2 => {
                    // Dispatch that changes while it is hot.
                    self.table_index(inner);
                    self.table_index(inner);
                    self.op(I::TableGet(0));
                    self.op(I::TableSet(0));
                }
                _ => self.store(inner),
            },
        }
    }

    /// Ends in a call in its place now and then, out of loops and of blocks whose exceptions are caught.
    fn leave_by_call(&mut self, depth: u32) {
        self.expression(I32, depth);
        for instruction in [I::I32Const(3), I::I32And, I::I32Eqz, I::If(BlockType::Empty)] {
            self.op(instruction);
        }
        self.labels.push(true);
        self.tail_call();
        self.labels.pop();
        self.op(I::End);
    }

    /// Throws now and then.
    fn throw(&mut self, depth: u32) {
        self.expression(I32, depth);
        for instruction in [I::I32Const(7), I::I32And, I::I32Eqz, I::If(BlockType::Empty)] {
            self.op(instruction);
        }
        self.labels.push(true);
        let tag = self.random.below(2) as u32;
        if tag == NUMBERS {
            CARRIED.into_iter().for_each(|ty| self.expression(ty, depth));
        }
        self.op(I::Throw(tag));
        self.labels.pop();
        self.op(I::End);
    }

    /// Throws the exception that a local or the global keeps, once.
    fn throw_again(&mut self, depth: u32) {
        let (get, set) = match self.random.once_in(2) {
            true => (I::LocalGet(self.exception), I::LocalSet(self.exception)),
            false => (I::GlobalGet(self.plan.kept_exception()), I::GlobalSet(self.plan.kept_exception())),
        };
        for instruction in [get.clone(), I::RefIsNull, I::I32Eqz, I::If(BlockType::Empty)] {
            self.op(instruction);
        }
        self.labels.push(true);
        self.statement(depth);
        for instruction in [get, I::RefNull(EXN), set, I::ThrowRef] {
            self.op(instruction);
        }
        self.labels.pop();
        self.op(I::End);
    }

    /// Statements whose exceptions are caught: by a tag or all, with or without a reference, which is kept, thrown on or dropped.
    fn catch(&mut self, depth: u32) {
        let (all, reference) = (self.random.once_in(3), self.random.once_in(2));
        let ty = match (all, reference) {
            (true, true) => BlockType::Result(EXNREF),
            (true, false) => BlockType::Empty,
            (false, reference) => BlockType::FunctionType(self.plan.carried_type() + 1 + u32::from(reference)),
        };
        let catch = match (all, reference) {
            (true, true) => Catch::AllRef { label: 0 },
            (true, false) => Catch::All { label: 0 },
            (false, true) => Catch::OneRef { tag: NUMBERS, label: 0 },
            (false, false) => Catch::One { tag: NUMBERS, label: 0 },
        };
        self.op(I::Block(BlockType::Empty));
        self.labels.push(true);
        self.op(I::Block(ty));
        self.labels.push(all && !reference);
        self.op(I::TryTable(BlockType::Empty, vec![catch].into()));
        self.labels.push(true);
        self.statements(depth);
        // What that throws is not caught here.
        if self.plan.extras.tail_calls && !self.leaf && self.random.once_in(2) {
            self.leave_by_call(depth);
        }
        self.labels.pop();
        self.op(I::End);
        self.op(I::Br(1));
        self.labels.pop();
        self.op(I::End);
        if reference {
            match self.random.below(5) {
                0 | 1 => self.op(I::LocalSet(self.exception)),
                2 | 3 => self.op(I::GlobalSet(self.plan.kept_exception())),
                _ => self.op(I::Drop),
            }
        }
        if !all {
            for ty in CARRIED.into_iter().rev() {
                match self.global_of(ty) {
                    Some(global) => self.op(I::GlobalSet(global)),
                    None => self.op(I::Drop),
                }
            }
        }
        self.statement(depth);
        self.labels.pop();
        self.op(I::End);
    }

    /// `for counter in 0..n`, with fuel at its header.
    fn counted_loop(&mut self, depth: u32) {
        let counter = self.counters + self.loops;
        self.op(I::I32Const(0));
        self.op(I::LocalSet(counter));
        self.op(I::Loop(BlockType::Empty));
        self.labels.push(true);
        self.loops += 1;
        self.fuel();
        // First, so that a branch to the header goes on.
        for instruction in [I::LocalGet(counter), I::I32Const(1), I::I32Add, I::LocalSet(counter)] {
            self.op(instruction);
        }
        self.statements(depth);
        self.loops -= 1;
        self.op(I::LocalGet(counter));
        let rounds = 1 + self.random.below(24) as i32;
        self.op(I::I32Const(rounds));
        self.op(I::I32LtU);
        self.op(I::BrIf(0));
        self.labels.pop();
        self.op(I::End);
    }

    /// A `br_table` over two or three blocks.
    fn switch(&mut self, depth: u32) {
        let arms = 2 + self.random.below(2) as u32;
        for _ in 0..=arms {
            self.op(I::Block(BlockType::Empty));
            self.labels.push(true);
        }
        self.expression(I32, depth);
        if !self.random.once_in(4) {
            self.op(I::I32Const(3));
            self.op(I::I32And);
        }
        let targets: Vec<u32> = (0..arms + 1).map(|_| self.random.below(u64::from(arms) + 1) as u32).collect();
        let default = self.random.below(u64::from(arms) + 1) as u32;
        self.op(I::BrTable(targets.into(), default));
        for arm in 0..arms {
            self.labels.pop();
            self.op(I::End);
            self.statement(depth);
            // The rest of the arms are open still.
            if self.random.once_in(2) {
                let out = arms - arm - 1;
                self.op(I::Br(out));
            }
        }
        self.labels.pop();
        self.op(I::End);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_valid() {
        for seed in 0..300 {
            let wasm = program(&mut Random::new(seed), Extras { simd: true, relaxed_simd: true, tail_calls: true, exceptions: true });
            if let Err(error) = wasmparser::Validator::new().validate_all(&wasm) {
                panic!("seed {seed}: {error}\n{}", crate::shrink::text(&wasm).expect("it prints"));
            }
        }
    }
}
