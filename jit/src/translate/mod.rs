//! WebAssembly operators to CLIF: one translator for both tiers and both entrances of a function.
//!
//! Enters: a module, a function, its [`Scan`], an [`FunctionPlan`] and the request's switches. Leaves: [`Translation`]: CLIF, the table
//! of source positions, LWPVAL sites, and what was applied or refused.
//!
//! How it works: the operand stack is a vector of SSA values, wasm locals are frontend variables, the control stack holds the blocks
//! to branch to. Inlined callees are translated in place: they push a [`Frame`] with their own variables and share both stacks.
//! Unreachable operators are skipped.
//!
//! Terms. *Context*: the `VmContext`; its address is in the pinned register. The *entry context* is that register read once in the
//! entry block, for what may leave loops; elsewhere it is read once per stretch without calls ([`context`]). *Slot*: 8 bytes of a
//! frame that crosses tiers, locals first, then the operand stack ([`poll`], [`osr`]).
//!
//! The order of files: [`control`], [`numeric`], [`memory`], [`vector`], [`globals`], [`tables`], [`calls`], [`inline`], [`invariants`], then what is ours
//! and not wasm's: [`context`], [`regions`], [`poll`], [`exits`], [`osr`], [`sites`], [`probes`].

use std::collections::HashMap;
use std::rc::Rc;

use cranelift_codegen::ir::{self, Block, InstBuilder, SigRef, SourceLoc, StackSlot, Type, Value, types};
use cranelift_codegen::isa::TargetIsa;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use smallvec::SmallVec;
use wasmparser::{FunctionBody, Operator, ValType};

use vm::builtin::Builtin;
use vm::code::{Applied, CompileError, Entrance, Guard, Probe, SourcePosition, Tier, ValueSite};
use vm::module::Module;

use crate::compiler::Sabotage;
use crate::lwp_thunks::Thunk;
use crate::plan::FunctionPlan;
use crate::scan::{Scan, Wanted, scan};
use crate::types::{clif_type, switch_signature, wasm_signature};

pub(crate) mod atomic;
pub(crate) mod calls;
pub(crate) mod choice;
pub(crate) mod context;
pub(crate) mod constant;
pub(crate) mod control;
pub(crate) mod exceptions;
pub(crate) mod exits;
pub(crate) mod globals;
pub(crate) mod guest_lwp;
pub(crate) mod inline;
pub(crate) mod invariants;
pub(crate) mod memory;
pub(crate) mod numeric;
pub(crate) mod osr;
pub(crate) mod paths;
pub(crate) mod poll;
pub(crate) mod probes;
pub(crate) mod references;
pub(crate) mod regions;
pub(crate) mod sites;
pub(crate) mod specialize;
pub(crate) mod tables;
pub(crate) mod unroll;
pub(crate) mod vector;

use control::Control;
use invariants::Hoistable;

/// What to translate.
pub(crate) struct Input<'a> {
    pub module: &'a Module,
    pub function: u32,
    pub entrance: Entrance,
    pub tier: Tier,
    pub version: u32,
    pub sites: bool,
    pub countdowns: bool,
    /// See `CompileRequest`.
    pub rounds: bool,
    /// See `CompileRequest`.
    pub counts_inlined: bool,
    /// See `CompileRequest`.
    pub padding: vm::code::Padding,
    /// Instrumented only: see `CompileRequest`.
    pub probe_base: u32,
    /// See `CompileRequest`.
    pub events: lwp_feedback::eventset::EventSet,
    pub plan: &'a FunctionPlan,
    /// Whether small callees are inlined without a plan.
    pub inline_static: bool,
    /// Whether LWP sites are real LWP instructions.
    pub lwp_instructions: bool,
    /// See [`crate::Options::polls`].
    pub polls: bool,
    /// For tests: every so many guards one is made to fail; 0 none.
    pub fail_guards: u32,
    /// See [`crate::Options::sabotage`].
    pub sabotage: Option<Sabotage>,
}

/// What leaves the translator.
pub(crate) struct Translation {
    pub function: ir::Function,
    pub positions: Vec<SourcePosition>,
    pub sites: Vec<ValueSite>,
    /// LWPINS sites.
    pub hot_sites: u32,
    /// See `CompiledCode`.
    pub counts_inlined: bool,
    /// The LWP instructions that the code calls, by number.
    pub thunks: Vec<Thunk>,
    pub guards: Vec<Guard>,
    pub probes: Vec<Probe>,
    pub applied: Vec<Applied>,
    /// Whether a callee was inlined that is given constants: they fold through joins only in a second run of the passes.
    pub constants: bool,
    /// The block that begins what runs when a specialized body's guard fails.
    pub general: Option<Block>,
}

/// A function being translated: the one asked for, or one inlined into it.
struct Frame {
    function: u32,
    /// Position of the call this body stands in place of.
    inlined_at: Option<u32>,
    /// Byte offset of that call in the frame before this one.
    called_at: u32,
    /// Height of the operand stack at which its own begins.
    stack: usize,
    locals: Vec<(Variable, Type)>,
    scan: Rc<Scan>,
    /// Tests that may stand before its loops, by loop.
    hoistable: Rc<Hoistable>,
    /// Where the function's own control stack begins.
    control: usize,
}

struct Translator<'a, 'b> {
    input: &'a Input<'a>,
    module: &'a Module,
    b: FunctionBuilder<'b>,
    stack: Vec<Value>,
    control: Vec<Control>,
    frames: Vec<Frame>,
    reachable: bool,
    positions: Vec<SourcePosition>,
    sites: Vec<ValueSite>,
    hot_sites: u32,
    counts_inlined: bool,
    /// Operators of the running block so far, where they are counted.
    uncounted_operators: u32,
    thunks: Vec<Thunk>,
    guards: Vec<Guard>,
    applied: Vec<Applied>,
    /// Whether rounds of a short loop are translated before its last: what is done in each is said once.
    repeating: bool,
    /// Whether ways of a switch are translated once more.
    in_path: bool,
    constants: bool,
    /// Whether anything is relied on that is only known when the function is translated ([`invariants`]).
    trusting: bool,
    /// What tests before the loops around have established.
    facts: Vec<invariants::Fact>,
    /// Something was translated that may change what a fact says.
    broken_fact: bool,
    /// Bytes of callees' bodies inlined so far.
    inlined_bytes: usize,
    entry_context: Value,
    /// The context as read in that block since the last call.
    block_context: Option<(Block, Value)>,
    /// The context as read before the outermost loop without calls that is being translated.
    loop_context: Option<Value>,
    regions: regions::Regions,
    memory_bases: Vec<Option<Value>>,
    /// Whether what is translated now stands beside the expected way.
    out_of_line: bool,
    wasm_signatures: HashMap<u32, SigRef>,
    builtin_signatures: HashMap<Builtin, SigRef>,
    switch_signature: Option<SigRef>,
    /// Where the context is kept over calls into other instances.
    caller_slot: Option<StackSlot>,
    /// Where it is kept for the landings of exceptions.
    kept_context: Option<StackSlot>,
    osr: Option<osr::Osr>,
    /// Parameters that are constants in the body being translated.
    specialized: specialize::Values,
    /// Whether what follows from constants is folded here.
    folding: bool,
    unrolled: Vec<unroll::Unrolled>,
    /// Operators that may still be repeated by unrolling.
    unroll_left: usize,
    /// Operators that rounds of short loops may still have.
    short_left: usize,
    /// Where the general body beside a specialized one begins.
    general: Option<Block>,
    /// Rounds left, in a trial's loop entrance.
    rounds: Option<Variable>,
    /// Slots that exits write so far.
    exit_slots: usize,
    probes: probes::Probes,
}

/// Loops in one another that tier 2 compiles: Cranelift's optimizer takes a time with the third power of their number, 0.2 s for 500, 12 s for 2,000.
const MOST_NESTED_LOOPS: usize = 400;

type Result<T = ()> = std::result::Result<T, CompileError>;

/// Translates one entrance of one function.
pub(crate) fn translate(input: &Input<'_>, isa: &dyn TargetIsa, memory: &mut FunctionBuilderContext) -> Result<Translation> {
    if let Some(translation) = translate_once(input, isa, memory, true)? {
        return Ok(translation);
    }
    // A test was moved out of a loop that turned out to change what it tests.
    let translation = translate_once(input, isa, memory, false)?;
    Ok(translation.expect("nothing was relied on"))
}

/// One try; `None` where something was relied on (`trusting`) that turned out not to hold.
fn translate_once(
    input: &Input<'_>,
    isa: &dyn TargetIsa,
    memory: &mut FunctionBuilderContext,
    trusting: bool,
) -> Result<Option<Translation>> {
    let module = input.module;
    let ty = module.function_type(input.function);
    let body = module.body(input.function);
    let around = match input.entrance {
        Entrance::Body => None,
        Entrance::Loop(offset) => Some(offset),
    };
    let optimizing = input.tier == Tier::Optimizing;
    let expected = |offset, callee| inline::expected(input, offset, callee);
    let scan = scan(ty.params(), &body, module.memories.len(), &Wanted { around, live_at_calls: optimizing, expected: &expected })
        .map_err(|error| malformed(input.function, &error))?;
    if let Some(offset) = around
        && !scan.loops.contains_key(&offset)
    {
        return Err(CompileError::Internal { function: input.function, reason: format!("no loop at byte {offset:#x}") });
    }
    if optimizing && scan.nesting > MOST_NESTED_LOOPS {
        let reason = format!("{} loops in one another, limit {MOST_NESTED_LOOPS}", scan.nesting);
        return Err(CompileError::Limit { function: input.function, reason });
    }
    let signature = match input.entrance {
        Entrance::Body => wasm_signature(ty.params(), ty.results()),
        Entrance::Loop(_) => switch_signature(ty.results()),
    };
    let mut function = ir::Function::with_name_signature(ir::UserFuncName::user(0, input.function), signature);
    let mut b = FunctionBuilder::new(&mut function, memory);
    let entry = b.create_block();
    b.append_block_params_for_function_params(entry);
    b.switch_to_block(entry);
    b.seal_block(entry);
    let entry_context = b.ins().get_pinned_reg(types::I64);
    let mut translator = Translator {
        input,
        module,
        b,
        stack: Vec::new(),
        control: Vec::new(),
        frames: Vec::new(),
        reachable: true,
        positions: Vec::new(),
        sites: Vec::new(),
        hot_sites: 0,
        counts_inlined: false,
        uncounted_operators: 0,
        thunks: Vec::new(),
        guards: Vec::new(),
        applied: Vec::new(),
        repeating: false,
        in_path: false,
        constants: false,
        trusting,
        facts: Vec::new(),
        broken_fact: false,
        inlined_bytes: 0,
        entry_context,
        block_context: Some((entry, entry_context)),
        loop_context: None,
        regions: regions::Regions::default(),
        memory_bases: vec![None; module.memories.len()],
        out_of_line: false,
        wasm_signatures: HashMap::new(),
        builtin_signatures: HashMap::new(),
        switch_signature: None,
        caller_slot: None,
        kept_context: None,
        osr: None,
        specialized: specialize::Values::new(),
        folding: false,
        unrolled: Vec::new(),
        unroll_left: unroll::MOST_OPERATORS_IN_ALL,
        short_left: unroll::MOST_SHORT_IN_ALL,
        general: None,
        rounds: None,
        exit_slots: 0,
        probes: probes::Probes::default(),
    };
    let outcome = translator.function(entry, Rc::new(scan), &body);
    if outcome.is_ok() {
        translator.refuse_unused_plan();
        translator.refuse_unused_choices();
        translator.refuse_contradictions();
    }
    let Translator {
        b, positions, sites, hot_sites, counts_inlined, thunks, guards, probes, applied, constants, general, broken_fact, ..
    } = translator;
    if outcome.is_err() || broken_fact {
        // The builder's context must be cleared before the next function, which only its own end does.
        *memory = FunctionBuilderContext::new();
        return outcome.map(|()| None);
    }
    b.finalize(isa.frontend_config());
    let probes = probes.finish(&function);
    Ok(Some(Translation { function, positions, sites, hot_sites, counts_inlined, thunks, guards, probes, applied, constants, general }))
}

fn malformed(function: u32, error: &wasmparser::BinaryReaderError) -> CompileError {
    CompileError::Internal { function, reason: format!("a validated body does not parse: {error}") }
}

fn unsupported(function: u32, what: impl Into<String>) -> CompileError {
    CompileError::Unsupported { function, reason: what.into() }
}

impl Translator<'_, '_> {
    /// The outermost function, from its first instruction to the return.
    fn function(&mut self, entry: Block, scan: Rc<Scan>, body: &FunctionBody<'_>) -> Result {
        let function = self.input.function;
        let start = body.range().start as u32;
        let position = self.position(None, function, start);
        self.b.set_srcloc(position);
        self.load_memory_bases(&scan);
        if scan.tries {
            self.keep_context();
        }
        let locals = self.declare_locals(&scan.locals);
        let hoistable = self.hoistable(function);
        self.frames.push(Frame { function, inlined_at: None, called_at: 0, stack: 0, locals, scan: scan.clone(), hoistable, control: 0 });
        match self.input.entrance {
            Entrance::Body => {
                let params = SmallVec::<[Value; 8]>::from_slice(self.b.block_params(entry));
                self.define_locals(&params);
                self.countdown(u32::MAX);
                self.pad_entry();
                // Behind the question whether it runs at all: a call that is asked to go on in other code has seen nothing.
                self.probe_entry(&params);
                self.parameter_sites(start);
            }
            Entrance::Loop(offset) => self.load_live_locals(entry, offset, &scan),
        }
        self.specialized = self.specialized_values(&scan, body)?;
        if self.specialized.is_empty() {
            return self.entered_body(entry, body);
        }
        let (special, general) = self.split_by_values();
        self.enter(special);
        self.define_values();
        self.entered_body(entry, body)?;
        self.begin_again(general);
        self.entered_body(entry, body)
    }

    /// The outermost body, from where its locals are there to the return.
    fn entered_body(&mut self, entry: Block, body: &FunctionBody<'_>) -> Result {
        let ty = self.module.function_type(self.input.function);
        if matches!(self.input.entrance, Entrance::Loop(_)) {
            self.aim_at_loop(entry);
        }
        let exit = self.b.create_block();
        let results = crate::types::clif_types(ty.results());
        for &ty in &results {
            self.b.append_block_param(exit, ty);
        }
        self.control.push(Control::body(exit, results, self.stack.len()));
        self.body(body)?;
        if self.reachable {
            let results = SmallVec::<[Value; 4]>::from_slice(&self.stack);
            self.probe_return();
            self.b.ins().return_(&results);
        }
        self.check_entrance()
    }

    /// The operators of the innermost frame's body. Its results are on the stack afterwards, if its end is reached.
    fn body(&mut self, body: &FunctionBody<'_>) -> Result {
        let function = self.frame().function;
        let mut reader = body.get_operators_reader().map_err(|error| malformed(function, &error))?;
        while !reader.eof() {
            let (operator, offset) = reader.read_with_offset().map_err(|error| malformed(function, &error))?;
            self.positioned_operator(&operator, offset as u32)?;
        }
        Ok(())
    }

    fn positioned_operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result {
        if self.reachable && emits_code(operator) {
            self.stand_at(offset);
        }
        self.operator(operator, offset)
    }

    /// What is made now belongs to the operator at a byte offset of the innermost frame's function.
    fn stand_at(&mut self, offset: u32) {
        let (inlined_at, function) = (self.frame().inlined_at, self.frame().function);
        let position = self.position(inlined_at, function, offset);
        self.b.set_srcloc(position);
    }

    fn operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result {
        if self.reachable {
            self.forced_exit(operator, offset);
            self.count_operator(operator);
        }
        if self.control_operator(operator, offset)? || !self.reachable {
            return Ok(());
        }
        self.check_facts(operator);
        let operator = match operator {
            Operator::I32ShrS if self.input.sabotage == Some(Sabotage::SignedShift) => &Operator::I32ShrU,
            operator => operator,
        };
        if self.fold_operator(operator)
            || numeric::numeric(&mut self.b, &mut self.stack, operator)
            || self.variable_operator(operator)
            || vector::vector(&mut self.b, &mut self.stack, operator)
            || self.memory_operator(operator, offset)?
            || self.vector_memory_operator(operator)?
            || self.table_operator(operator)?
            || self.call_operator(operator, offset)?
            || self.reference_operator(operator, offset)?
            || self.atomic_operator(operator)?
        {
            return Ok(());
        }
        let name = format!("{operator:?}");
        let name = name.split([' ', '{', '(']).next().unwrap_or_default().to_owned();
        Err(unsupported(self.frame().function, name))
    }

    fn frame(&self) -> &Frame {
        self.frames.last().expect("a frame is pushed before its operators are translated")
    }

    fn declare_locals(&mut self, locals: &[ValType]) -> Vec<(Variable, Type)> {
        locals.iter().map(|&ty| clif_type(ty)).map(|ty| (self.b.declare_var(ty), ty)).collect()
    }

    /// Defines the innermost frame's locals: the arguments, then zeros.
    fn define_locals(&mut self, arguments: &[Value]) {
        let mut zeros: HashMap<Type, Value> = HashMap::new();
        for index in 0..self.frame().locals.len() {
            let (variable, ty) = self.frame().locals[index];
            let value = match arguments.get(index) {
                Some(&argument) => argument,
                None => match zeros.get(&ty) {
                    Some(&zero) => zero,
                    None => {
                        let zero = self.zero(ty);
                        zeros.insert(ty, zero);
                        zero
                    }
                },
            };
            self.b.def_var(variable, value);
        }
    }

    fn zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F32 => self.b.ins().f32const(0.0),
            types::F64 => self.b.ins().f64const(0.0),
            ty if ty.is_vector() => vector::constant(&mut self.b, [0; 16]),
            ty => self.b.ins().iconst(ty, 0),
        }
    }

    /// A new source location: an index into the table of positions.
    fn position(&mut self, inlined_at: Option<u32>, function: u32, offset: u32) -> SourceLoc {
        self.positions.push(SourcePosition { inlined_at, function, offset });
        SourceLoc::new(self.positions.len() as u32 - 1)
    }

    fn push(&mut self, value: Value) {
        self.stack.push(value);
    }

    fn pop(&mut self) -> Value {
        self.stack.pop().expect("validation keeps the operand stack balanced")
    }

    fn pop_many<const N: usize>(&mut self) -> [Value; N] {
        let mut values = [Value::from_u32(0); N];
        for value in values.iter_mut().rev() {
            *value = self.pop();
        }
        values
    }

    fn pop_slice(&mut self, count: usize) -> SmallVec<[Value; 8]> {
        let at = self.stack.len() - count;
        self.stack.drain(at..).collect()
    }

    fn applied(&mut self, name: &'static str, function: u32, offset: u32, refused: Option<String>) {
        self.applied_one(name, function, offset, 0, refused);
    }

    /// Of several of that name there, the one that `detail` says.
    fn applied_one(&mut self, name: &'static str, function: u32, offset: u32, detail: u32, refused: Option<String>) {
        if !self.repeating {
            self.applied.push(Applied { name, function, offset, detail, refused });
        }
    }

    /// Moves the builder to a block.
    fn enter(&mut self, block: Block) {
        self.b.switch_to_block(block);
    }
}

/// Operators that only move names around need no source position.
fn emits_code(operator: &Operator<'_>) -> bool {
    use Operator::*;
    !matches!(operator, LocalGet { .. } | LocalSet { .. } | LocalTee { .. } | I32Const { .. } | I64Const { .. } | Nop | Drop | Block { .. })
}
