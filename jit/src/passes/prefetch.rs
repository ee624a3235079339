//! Prefetch: for an access that misses, the address it will have some rounds of its loop later is computed now and fetched.
//!
//! Enters: CLIF with its source positions, and for each wish the offset of a load or store, what its address should follow from, and a
//! distance in rounds. Leaves: the same function with `prefetch` markers, and one [`Applied`] for each wish.
//!
//! The address d rounds ahead is found by cloning its *slice*: the operations of the loop that lead to it. In the clone an induction
//! variable i of the loop (a parameter of its header that every back edge passes on as i + step) becomes i + d·step, what the loop does
//! not change stays, and a load of the slice becomes a speculative load at its own later address: what stands there *now*. That is a
//! guess at what will be there, and a guess is all that a prefetch needs. Where a load of the slice has a load in its own address, it
//! would miss too; so it is fetched for one distance earlier, and so on (Ainsworth and Jones, "Software Prefetching for Indirect Memory
//! Accesses", CGO 2017, whose staggered offsets these are).
//!
//! Where the innermost loop does not advance the address, the loops around it are tried: the value that an inner loop begins with
//! stands for the one it changes. That fetches the first access of the next inner loop (the next key's first probe).
//!
//! A processor fills its first cache through few buffers (Intel: 10 to 16), each of which waits for the memory; its second has more (48). So there the access is fetched twice: d rounds ahead into
//! the second cache alone, and [`NEARER`] times nearer into the first, which also makes up for fetches that the second cache had no room for. (Native, Sapphire Rapids, indices into 256 MiB of large pages,
//! ns an element, without, fetched once at the best distance into the first cache, into the second, and twice: a sum 10.0, 9.5, 8.3, 7.0; a histogram 10.8, 10.0, 8.7, 7.1. From 2 to 24 elements ahead
//! the nearer fetch does equally well.)
//!
//! Kind `outer` looks ahead in the loop around the innermost one although that advances the address: for inner loops that are short and
//! do not go on where the one before stopped (the rows of a graph in the order of a queue). An inner loop's variable then becomes what
//! it begins with, rounds of the outer loop later, plus as much as it has advanced by now. So each round of the inner loop fetches for
//! the same round of a later inner loop. What does not follow from the inner variable is computed in front of the inner loop.
//!
//! Nothing the program can see depends on any of it. A cloned load reads within the memory or its guard: its address is the memory's
//! base plus an index of 32 bits, as the program's own; clones of anything else that could trap are refused.

use std::collections::{HashMap, HashSet};
use std::fmt;

use cranelift_codegen::cursor::{Cursor, FuncCursor};
use cranelift_codegen::dominator_tree::DominatorTree;
use cranelift_codegen::flowgraph::ControlFlowGraph;
use cranelift_codegen::ir::immediates::Imm64;
use cranelift_codegen::ir::{Block, BlockArg, Function, Inst, InstBuilder, InstructionData, MemFlagsData, Opcode};
use cranelift_codegen::ir::{SourceLoc, Type, Value, ValueDef, types};
use cranelift_codegen::loop_analysis::{Loop, LoopAnalysis};

use lwp_feedback::policy::PrefetchKind;
use vm::code::{Applied, SourcePosition};
use vm::trap::TrapCode;

use crate::markers::{self, Kind, Load};
use crate::plan::Prefetch;
use crate::traps;
use crate::values::iconst;

const NAME: &str = "prefetch";
/// Most operations that are cloned for one access. A guess: a hash function is 3 to 10, and a prefetch gains 50 at least where it gains.
const MOST_CLONED: usize = 40;
/// How much nearer the second of two fetches is, in rounds, and how far the first is ahead at least.
const NEARER: i64 = 8;
const LEAST_FAR: i64 = 4;
/// Most loads on the way from the induction variable to the address.
const MOST_LOADS: usize = 3;
/// Farthest distance in rounds: beyond it caches have forgotten.
const MOST_ROUNDS: u32 = 1 << 16;
/// Most nested loops that are tried from the inside out.
const MOST_LOOPS: usize = 3;
/// Most operations between an induction variable and what the back edge passes on.
const MOST_STEPS: usize = 8;

/// Fetches ahead for every access that `wishes` names by its offset.
///
/// Memories without guards ([`vm::module::Module::checks_accesses`]) get nothing: a load ahead of time might leave them.
pub(crate) fn run(
    function: &mut Function,
    positions: &[SourcePosition],
    wishes: &HashMap<u32, Prefetch>,
    guarded: bool,
    two_fetches: bool,
    applied: &mut Vec<Applied>,
) {
    let mut found: Vec<(Inst, SourcePosition)> = Vec::new();
    for block in function.layout.blocks() {
        for inst in function.layout.block_insts(block) {
            let position = positions.get(function.srcloc(inst).bits() as usize);
            if let Some(position) = position
                && wishes.contains_key(&position.offset)
                && Access::of(function, inst).is_some()
            {
                found.push((inst, *position));
            }
        }
    }
    let loops = Loops::of(function);
    for &(inst, position) in &found {
        let wish = wishes[&position.offset];
        let reachable = function.layout.inst_block(inst).is_some_and(|block| loops.domtree.is_reachable(block));
        let outcome = match (reachable, guarded) {
            (false, _) => Err(Refusal::NoAccess),
            (true, false) => Err(Refusal::Unguarded),
            (true, true) => fetch_ahead(function, &loops, inst, wish, two_fetches),
        };
        let refused = outcome.err().map(|refusal| refusal.to_string());
        applied.push(Applied { name: NAME, function: position.function, offset: position.offset, detail: 0, refused });
    }
    let mut absent: Vec<u32> =
        wishes.keys().copied().filter(|offset| !found.iter().any(|(_, position)| position.offset == *offset)).collect();
    absent.sort_unstable();
    // What is nowhere belongs to no inlined callee that could be named; the function itself is what was asked about.
    let own = positions.first().map_or(u32::MAX, |position| position.function);
    for offset in absent {
        applied.push(Applied { name: NAME, function: own, offset, detail: 0, refused: Some(Refusal::NoAccess.to_string()) });
    }
}

/// Why nothing is fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    NoAccess,
    Distance(u32),
    NoLoop,
    NoOuterLoop,
    FixedAddress,
    NotStrided,
    UnknownStep,
    Join,
    Impure(Opcode),
    TooLarge,
    TooManyLoads,
    UnknownAddress,
    Unguarded,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::NoAccess => f.write_str("no reachable load or store there"),
            Refusal::Distance(rounds) => write!(f, "a distance of {rounds} rounds, 1 to {MOST_ROUNDS} are possible"),
            Refusal::NoLoop => f.write_str("it is in no loop"),
            Refusal::NoOuterLoop => f.write_str("no loop is around its loop"),
            Refusal::FixedAddress => f.write_str("its loop does not change the address"),
            Refusal::NotStrided => f.write_str("the address comes from a load, the plan says strided"),
            Refusal::UnknownStep => f.write_str("the address follows from a value that the loop does not advance by a fixed step"),
            Refusal::Join => f.write_str("the address depends on which way the loop took"),
            Refusal::Impure(opcode) => write!(f, "the address comes from {opcode}, which cannot be done ahead of time"),
            Refusal::TooLarge => write!(f, "the address takes more than {MOST_CLONED} operations"),
            Refusal::TooManyLoads => write!(f, "more than {MOST_LOADS} loads lead to the address"),
            Refusal::UnknownAddress => f.write_str("a load on the way is not at a memory's base plus an index of 32 bits"),
            Refusal::Unguarded => f.write_str("this process's memories have no guards"),
        }
    }
}

type Result<T> = std::result::Result<T, Refusal>;

/// The loops of a function.
struct Loops {
    cfg: ControlFlowGraph,
    domtree: DominatorTree,
    analysis: LoopAnalysis,
}

impl Loops {
    fn of(function: &Function) -> Loops {
        let cfg = ControlFlowGraph::with_function(function);
        let domtree = DominatorTree::with_function(function, &cfg);
        let mut analysis = LoopAnalysis::new();
        analysis.compute(function, &cfg, &domtree);
        Loops { cfg, domtree, analysis }
    }

    /// Values that edges pass to a parameter, by whether the edge starts in the loop.
    fn arguments(&self, function: &Function, header: Block, number: usize, of: Loop, inside: bool) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        for edge in self.cfg.pred_iter(header) {
            if !self.domtree.is_reachable(edge.block) || self.analysis.is_in_loop(edge.block, of) != inside {
                continue;
            }
            let data = &function.dfg;
            for target in data.insts[edge.inst].branch_destination(&data.jump_tables, &data.exception_tables) {
                if target.block(&data.value_lists) != header {
                    continue;
                }
                match target.args(&data.value_lists).nth(number) {
                    Some(BlockArg::Value(value)) => values.push(data.resolve_aliases(value)),
                    _ => return Err(Refusal::UnknownStep),
                }
            }
        }
        Ok(values)
    }
}

/// An access to a linear memory, or the speculative load that another pass made of one.
#[derive(Clone, Copy)]
struct Access {
    flags: MemFlagsData,
    address: Value,
    offset: i32,
}

impl Access {
    fn of(function: &Function, inst: Inst) -> Option<Access> {
        let data = &function.dfg;
        let (flags, address, offset) = match data.insts[inst] {
            InstructionData::Load { flags, arg, offset, .. } => (flags, arg, i32::from(offset)),
            InstructionData::Store { flags, args, offset, .. } => (flags, args[1], i32::from(offset)),
            _ => return None,
        };
        let flags = data.mem_flags[flags];
        let code = flags.trap_code()?;
        let address = data.resolve_aliases(address);
        if code == traps::to_clif(TrapCode::MemoryOutOfBounds) {
            return Some(Access { flags, address, offset });
        }
        if Kind::of(code) != Some(Kind::Speculative) {
            return None;
        }
        // Back to the program's address and offset.
        let (address, beyond) = constant_sum(function, address)?;
        let offset = i32::try_from(i64::from(offset) + beyond).ok().filter(|&offset| offset >= 0)?;
        Some(Access { flags, address, offset })
    }
}

fn defining(function: &Function, value: Value) -> Option<Inst> {
    function.dfg.value_def(function.dfg.resolve_aliases(value)).inst()
}

fn constant(function: &Function, value: Value) -> Option<i64> {
    let bits = iconst(&function.dfg, value)?;
    Some(Imm64::new(bits).sign_extend_from_width(function.dfg.value_type(value).bits()).bits())
}

/// `(x, c)` of a value that is x + c.
fn constant_sum(function: &Function, value: Value) -> Option<(Value, i64)> {
    let inst = defining(function, value)?;
    let data = &function.dfg;
    let InstructionData::Binary { opcode, args: [a, b] } = data.insts[inst] else { return None };
    match opcode {
        Opcode::Iadd => match (constant(function, a), constant(function, b)) {
            (_, Some(c)) => Some((data.resolve_aliases(a), c)),
            (Some(c), _) => Some((data.resolve_aliases(b), c)),
            _ => None,
        },
        Opcode::Isub => Some((data.resolve_aliases(a), constant(function, b)?.wrapping_neg())),
        _ => None,
    }
}

/// How much an induction variable advances each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Constant(i64),
    /// A value the loop does not change, added or subtracted.
    Invariant {
        value: Value,
        negative: bool,
    },
}

/// What a value of the slice becomes some rounds later.
#[derive(Clone, Copy, Debug)]
enum Later {
    /// The same.
    Same,
    /// Itself plus rounds times this.
    Induction(Step),
    /// Its operation on what its operands become.
    Pure(Inst),
    /// What stands now where it will load.
    Loaded(Inst),
    /// What this becomes: the value an inner loop begins with.
    Begins(Value),
    /// What this becomes, the value an inner loop begins with, plus as much as the variable has advanced from it.
    Displaced(Value),
}

/// The slice of one address within one loop.
struct Slice<'a> {
    function: &'a Function,
    loops: &'a Loops,
    of: Loop,
    header: Block,
    later: HashMap<Value, Later>,
    /// Values that change with the loop's rounds.
    varying: HashSet<Value>,
    /// Values loaded in the loop that are taken as they are.
    held: Vec<Value>,
    /// Whether inner loops' variables are displaced rather than begun anew.
    displaces: bool,
    /// Values that follow from displaced variables: only known in the inner loop.
    inner: HashSet<Value>,
    cloned: usize,
    loads: usize,
}

impl Slice<'_> {
    /// Classifies a value and what leads to it; whether it changes with the loop's rounds.
    fn classify(&mut self, value: Value) -> Result<bool> {
        let value = self.function.dfg.resolve_aliases(value);
        if self.later.contains_key(&value) {
            return Ok(self.varying.contains(&value));
        }
        let (later, varies) = match self.function.dfg.value_def(value) {
            ValueDef::Param(block, number) => self.parameter(value, block, number)?,
            ValueDef::Result(inst, 0) => self.operation(value, inst)?,
            _ => return Err(Refusal::Impure(Opcode::Nop)),
        };
        self.later.insert(value, later);
        if varies {
            self.varying.insert(value);
        }
        Ok(varies)
    }

    fn is_inside(&self, block: Block) -> bool {
        self.loops.analysis.is_in_loop(block, self.of)
    }

    fn parameter(&mut self, value: Value, block: Block, number: usize) -> Result<(Later, bool)> {
        if !self.is_inside(block) {
            return Ok((Later::Same, false));
        }
        if !self.function.dfg.value_type(value).is_int() {
            return Err(Refusal::UnknownStep);
        }
        if block == self.header {
            return self.induction(value, number).map(|step| (Later::Induction(step), true));
        }
        let Some(inner) = self.loops.analysis.is_loop_header(block) else { return Err(Refusal::Join) };
        let begins = self.loops.arguments(self.function, block, number, inner, false)?;
        let first = *begins.first().ok_or(Refusal::Join)?;
        if begins.iter().any(|&other| other != first) {
            return Err(Refusal::Join);
        }
        if !self.displaces {
            return Ok((Later::Begins(first), self.classify(first)?));
        }
        let back = self.loops.arguments(self.function, block, number, inner, true)?;
        for &value_there in back.iter().filter(|&&passed| passed != value) {
            self.step(value, value_there, inner)?;
        }
        let varies = self.classify(first)?;
        self.inner.insert(value);
        // How far the variable has advanced is told from what it began with this time.
        let begins_inside = self.function.dfg.value_def(first).inst().and_then(|inst| self.function.layout.inst_block(inst));
        if begins_inside.is_some_and(|block| self.is_inside(block)) {
            self.held.push(first);
        }
        Ok((if varies { Later::Displaced(first) } else { Later::Same }, varies))
    }

    /// The step of a header's parameter, which all back edges must agree on. One that passes the parameter itself begins the same round again (a poll
    /// that another loop's question woke): it advances nothing and says nothing.
    fn induction(&self, parameter: Value, number: usize) -> Result<Step> {
        let back = self.loops.arguments(self.function, self.header, number, self.of, true)?;
        let mut steps = back.iter().filter(|&&value| value != parameter).map(|&value| self.step(parameter, value, self.of));
        let first = steps.next().ok_or(Refusal::UnknownStep)??;
        for step in steps {
            if step? != first {
                return Err(Refusal::UnknownStep);
            }
        }
        Ok(first)
    }

    /// What was added to `parameter`, of the header of `of`, to make `value`.
    fn step(&self, parameter: Value, value: Value, of: Loop) -> Result<Step> {
        let is_inside = |block| self.loops.analysis.is_in_loop(block, of);
        let header = self.loops.analysis.loop_header(of);
        let (mut value, mut sum) = (value, 0i64);
        for _ in 0..MOST_STEPS {
            if value == parameter {
                return if sum == 0 { Err(Refusal::UnknownStep) } else { Ok(Step::Constant(sum)) };
            }
            match self.function.dfg.value_def(value) {
                ValueDef::Param(block, number) => {
                    // A join within the loop that was handed the same value on all ways, or one of an inner loop that leaves it alone.
                    let mut handed = Vec::new();
                    for edge in self.loops.cfg.pred_iter(block) {
                        if !is_inside(block) || !self.loops.domtree.is_reachable(edge.block) {
                            continue;
                        }
                        let data = &self.function.dfg;
                        for target in data.insts[edge.inst].branch_destination(&data.jump_tables, &data.exception_tables) {
                            if target.block(&data.value_lists) == block
                                && let Some(BlockArg::Value(argument)) = target.args(&data.value_lists).nth(number)
                            {
                                handed.push(data.resolve_aliases(argument));
                            }
                        }
                    }
                    handed.retain(|&argument| argument != value);
                    let Some(&first) = handed.first() else { return Err(Refusal::UnknownStep) };
                    if block == header || !handed.iter().all(|&argument| self.same(argument, first)) {
                        return Err(Refusal::UnknownStep);
                    }
                    value = first;
                }
                ValueDef::Result(inst, _) => {
                    if let Some((before, constant)) = constant_sum(self.function, value) {
                        value = before;
                        sum = sum.wrapping_add(constant);
                        continue;
                    }
                    return self.invariant_step(parameter, inst, sum, of);
                }
                ValueDef::Union(..) => return Err(Refusal::UnknownStep),
            }
        }
        Err(Refusal::UnknownStep)
    }

    /// Whether two values are equal as far as can be seen: the same, or the same sum.
    fn same(&self, a: Value, b: Value) -> bool {
        a == b || constant_sum(self.function, a).is_some_and(|sum| constant_sum(self.function, b) == Some(sum))
    }

    fn invariant_step(&self, parameter: Value, inst: Inst, sum: i64, of: Loop) -> Result<Step> {
        let data = &self.function.dfg;
        let InstructionData::Binary { opcode, args: [a, b] } = data.insts[inst] else { return Err(Refusal::UnknownStep) };
        let (a, b) = (data.resolve_aliases(a), data.resolve_aliases(b));
        let (value, negative) = match opcode {
            Opcode::Iadd if a == parameter => (b, false),
            Opcode::Iadd if b == parameter => (a, false),
            Opcode::Isub if a == parameter => (b, true),
            _ => return Err(Refusal::UnknownStep),
        };
        let block = match data.value_def(value) {
            ValueDef::Param(block, _) => Some(block),
            ValueDef::Result(inst, _) => self.function.layout.inst_block(inst),
            ValueDef::Union(..) => None,
        };
        if sum != 0 || block.is_none_or(|block| self.loops.analysis.is_in_loop(block, of)) {
            return Err(Refusal::UnknownStep);
        }
        Ok(Step::Invariant { value, negative })
    }

    fn operation(&mut self, value: Value, inst: Inst) -> Result<(Later, bool)> {
        let data = &self.function.dfg;
        if !self.function.layout.inst_block(inst).is_some_and(|block| self.is_inside(block)) {
            return Ok((Later::Same, false));
        }
        let opcode = data.insts[inst].opcode();
        if opcode.can_load() && !opcode.can_store() && !opcode.is_call() && !opcode.other_side_effects() {
            return self.load(value, inst);
        }
        let impure = opcode.can_store() || opcode.other_side_effects() || opcode.is_call() || opcode.is_branch();
        if impure || data.inst_results(inst).len() != 1 || opcode.can_trap() && !self.cannot_trap(inst) {
            return Err(Refusal::Impure(opcode));
        }
        self.cloned += 1;
        if self.cloned > MOST_CLONED {
            return Err(Refusal::TooLarge);
        }
        let operands: Vec<Value> = data.inst_values(inst).collect();
        let mut varies = false;
        for operand in operands {
            varies |= self.classify(operand)?;
            self.pass_on(operand, value);
        }
        // Cloned even where it does not vary: the original may stand in an inner loop. Equal values are merged later.
        Ok((Later::Pure(inst), varies))
    }

    /// Whether a division's clone cannot trap: its divisor is a constant, not 0, and not -1 where that overflows.
    fn cannot_trap(&self, inst: Inst) -> bool {
        let InstructionData::Binary { opcode, args: [_, divisor] } = self.function.dfg.insts[inst] else { return false };
        match (opcode, constant(self.function, divisor)) {
            (Opcode::Udiv | Opcode::Urem, Some(divisor)) => divisor != 0,
            (Opcode::Sdiv | Opcode::Srem, Some(divisor)) => divisor != 0 && divisor != -1,
            _ => false,
        }
    }

    fn load(&mut self, value: Value, inst: Inst) -> Result<(Later, bool)> {
        let data = &self.function.dfg;
        let opcode = data.insts[inst].opcode();
        let Some(address) = data.inst_values(inst).next() else { return Err(Refusal::Impure(opcode)) };
        let access = Access::of(self.function, inst);
        let address = access.map_or(address, |access| access.address);
        let varies = self.classify(address)?;
        self.pass_on(address, value);
        if !varies {
            // The same place each round: what was read there this round.
            self.held.push(value);
            return Ok((Later::Same, false));
        }
        let Some(access) = access.filter(|_| markers::can_be_speculative(opcode)) else { return Err(Refusal::Impure(opcode)) };
        if !is_guarded(self.function, &access) {
            return Err(Refusal::UnknownAddress);
        }
        self.loads += 1;
        if self.loads > MOST_LOADS {
            return Err(Refusal::TooManyLoads);
        }
        Ok((Later::Loaded(inst), true))
    }

    /// What follows from a value known only in an inner loop is known only there.
    fn pass_on(&mut self, from: Value, to: Value) {
        if self.inner.contains(&self.function.dfg.resolve_aliases(from)) {
            self.inner.insert(to);
        }
    }

    /// The loads that a value's later self needs, not those behind them.
    fn nearest_loads(&self, value: Value, found: &mut Vec<Inst>, seen: &mut HashSet<Value>) {
        let value = self.function.dfg.resolve_aliases(value);
        if !seen.insert(value) {
            return;
        }
        match self.later.get(&value) {
            Some(&Later::Loaded(inst)) => found.push(inst),
            Some(&Later::Begins(first) | &Later::Displaced(first)) => self.nearest_loads(first, found, seen),
            Some(&Later::Pure(inst)) => {
                for operand in self.function.dfg.inst_values(inst) {
                    self.nearest_loads(operand, found, seen);
                }
            }
            _ => {}
        }
    }
}

/// Whether any index in place of its own keeps an access within its memory and the guard behind it.
fn is_guarded(function: &Function, access: &Access) -> bool {
    let Some(inst) = defining(function, access.address) else { return false };
    let InstructionData::Binary { opcode: Opcode::Iadd, args: [base, index] } = function.dfg.insts[inst] else { return false };
    let is_index = |value: Value| {
        defining(function, value).is_some_and(|inst| match function.dfg.insts[inst] {
            InstructionData::Unary { opcode: Opcode::Uextend, arg } => function.dfg.value_type(arg) == types::I32,
            _ => false,
        })
    };
    let is_base = |value: Value| {
        defining(function, value).is_some_and(|inst| {
            let flags = function.dfg.insts[inst].memflags_data(&function.dfg);
            flags.is_some_and(|flags| flags.readonly() && flags.notrap())
        })
    };
    is_index(index) && is_base(base) && access.offset >= 0
}

/// One thing to emit: a fetch of `access` that many rounds ahead, and the marker that says into which cache.
#[derive(Clone, Copy)]
struct Fetch {
    access: Access,
    rounds: i64,
    into: Kind,
}

fn fetch_ahead(function: &mut Function, loops: &Loops, inst: Inst, wish: Prefetch, two_fetches: bool) -> Result<()> {
    if wish.distance == 0 || wish.distance > MOST_ROUNDS {
        return Err(Refusal::Distance(wish.distance));
    }
    let access = Access::of(function, inst).ok_or(Refusal::NoAccess)?;
    let block = function.layout.inst_block(inst).ok_or(Refusal::NoAccess)?;
    let mut next = loops.analysis.innermost_loop(block);
    if wish.kind == PrefetchKind::Outer {
        next = next.and_then(|inner| loops.analysis.loop_parent(inner));
        if next.is_none() {
            return Err(Refusal::NoOuterLoop);
        }
    }
    let mut refusal = None;
    for _ in 0..MOST_LOOPS {
        let Some(of) = next else { break };
        match plan(function, loops, of, access, inst, wish) {
            Ok(mut emission) => {
                if two_fetches {
                    emission.fetches = twice(emission.fetches);
                }
                emit(function, emission);
                return Ok(());
            }
            // The innermost loop's reason is the one to tell, unless it is only that another loop changes the address.
            Err(reason) if refusal.is_none_or(|kept| kept == Refusal::FixedAddress) => refusal = Some(reason),
            Err(_) => {}
        }
        next = loops.analysis.loop_parent(of);
    }
    Err(refusal.unwrap_or(Refusal::NoLoop))
}

/// What [`emit`] needs, with no borrow of the function.
struct Emission {
    later: HashMap<Value, Later>,
    inner: HashSet<Value>,
    fetches: Vec<Fetch>,
    /// Where: before this instruction.
    before: Inst,
    /// Where for what is known only in an inner loop: before this one.
    before_inner: Inst,
    source: SourceLoc,
}

fn plan(function: &Function, loops: &Loops, of: Loop, access: Access, inst: Inst, wish: Prefetch) -> Result<Emission> {
    let mut slice = Slice {
        function,
        loops,
        of,
        header: loops.analysis.loop_header(of),
        later: HashMap::new(),
        varying: HashSet::new(),
        held: Vec::new(),
        displaces: wish.kind == PrefetchKind::Outer,
        inner: HashSet::new(),
        cloned: 0,
        loads: 0,
    };
    if !slice.classify(access.address)? {
        return Err(Refusal::FixedAddress);
    }
    if wish.kind == PrefetchKind::Strided && slice.loads > 0 {
        return Err(Refusal::NotStrided);
    }
    let mut fetches = Vec::new();
    staggered(&slice, access, i64::from(wish.distance), i64::from(wish.distance), &mut fetches);
    let before = place(&slice, inst)?;
    let before_inner = if slice.inner.is_empty() { before } else { inst };
    let source = function.srcloc(inst);
    Ok(Emission { later: slice.later, inner: slice.inner, fetches, before, before_inner, source })
}

/// The access's own fetch, after those of the loads behind it that would miss as well, each one distance farther ahead.
fn staggered(slice: &Slice<'_>, access: Access, rounds: i64, distance: i64, fetches: &mut Vec<Fetch>) {
    let mut nearest = Vec::new();
    slice.nearest_loads(access.address, &mut nearest, &mut HashSet::new());
    for load in nearest {
        let Some(behind) = Access::of(slice.function, load) else { continue };
        let mut deeper = Vec::new();
        slice.nearest_loads(behind.address, &mut deeper, &mut HashSet::new());
        if !deeper.is_empty() {
            staggered(slice, behind, rounds + distance, distance, fetches);
        }
    }
    fetches.push(Fetch { access, rounds, into: Kind::Prefetch });
}

/// All fetches as those into the second cache, and the last one, the access's own, again nearer into the first.
fn twice(mut fetches: Vec<Fetch>) -> Vec<Fetch> {
    let Some(&own) = fetches.last().filter(|own| own.rounds >= LEAST_FAR) else { return fetches };
    for fetch in &mut fetches {
        fetch.into = Kind::PrefetchFar;
    }
    fetches.push(Fetch { rounds: (own.rounds / NEARER).max(1), ..own });
    fetches
}

/// The instruction to emit in front of: the access itself, or the first of the block where the outermost loop within the slice's loop is
/// entered, but there behind everything that is taken as it is.
fn place(slice: &Slice<'_>, inst: Inst) -> Result<Inst> {
    let Slice { function, loops, of, .. } = *slice;
    let layout = &function.layout;
    let mut block = layout.inst_block(inst).ok_or(Refusal::NoAccess)?;
    let mut last = inst;
    while let Some(inner) = loops.analysis.innermost_loop(block).filter(|&inner| inner != of) {
        block = loops.domtree.idom(loops.analysis.loop_header(inner)).ok_or(Refusal::NoLoop)?;
        last = layout.last_inst(block).ok_or(Refusal::NoLoop)?;
        if !loops.analysis.is_in_loop(block, of) {
            return Err(Refusal::NoLoop);
        }
    }
    // In front of the access itself, so that fetches and accesses take turns: four of an unrolled loop's in a row and then its four loads take 6 % longer (native, Sapphire Rapids).
    let mut first = if last == inst { inst } else { layout.first_inst(block).ok_or(Refusal::NoLoop)? };
    for &value in &slice.held {
        let Some(held) = function.dfg.value_def(value).inst() else { continue };
        if held == last || !loops.domtree.dominates(held, last, layout) {
            return Err(Refusal::Join);
        }
        if held == first || layout.inst_block(held) == Some(block) && !loops.domtree.dominates(held, first, layout) {
            first = layout.next_inst(held).ok_or(Refusal::NoLoop)?;
        }
    }
    Ok(first)
}

struct Emitter<'a> {
    cursor: FuncCursor<'a>,
    emission: &'a Emission,
    made: HashMap<(Value, i64), Value>,
}

fn emit(function: &mut Function, emission: Emission) {
    let cursor = FuncCursor::new(function).at_inst(emission.before).with_srcloc(emission.source);
    let mut emitter = Emitter { cursor, emission: &emission, made: HashMap::new() };
    for &Fetch { access, rounds, into } in &emission.fetches {
        let address = emitter.advance(access.address, rounds);
        emitter.go_to(access.address);
        markers::prefetch(&mut emitter.cursor, into, access.flags, address, access.offset);
    }
}

impl Emitter<'_> {
    /// Moves to where what follows from `value` is emitted.
    fn go_to(&mut self, value: Value) {
        let value = self.cursor.func.dfg.resolve_aliases(value);
        let inner = self.emission.inner.contains(&value);
        self.cursor.goto_inst(if inner { self.emission.before_inner } else { self.emission.before });
    }

    fn advance(&mut self, value: Value, rounds: i64) -> Value {
        let value = self.cursor.func.dfg.resolve_aliases(value);
        if let Some(&made) = self.made.get(&(value, rounds)) {
            return made;
        }
        let made = match self.emission.later.get(&value).copied() {
            None | Some(Later::Same) => value,
            Some(Later::Begins(first)) => self.advance(first, rounds),
            Some(Later::Displaced(first)) => self.displaced(value, first, rounds),
            Some(Later::Induction(step)) => self.induction(value, step, rounds),
            Some(Later::Pure(inst)) => self.pure(value, inst, rounds),
            Some(Later::Loaded(inst)) => self.loaded(value, inst, rounds),
        };
        self.made.insert((value, rounds), made);
        made
    }

    fn iconst(&mut self, ty: Type, value: i64) -> Value {
        let value = if ty == types::I32 { i64::from(value as u32) } else { value };
        self.cursor.ins().iconst(ty, value)
    }

    fn induction(&mut self, value: Value, step: Step, rounds: i64) -> Value {
        self.go_to(value);
        let ty = self.cursor.func.dfg.value_type(value);
        match step {
            Step::Constant(step) => {
                let ahead = self.iconst(ty, step.wrapping_mul(rounds));
                self.cursor.ins().iadd(value, ahead)
            }
            Step::Invariant { value: step, negative } => {
                let rounds = self.iconst(ty, rounds);
                let ahead = self.cursor.ins().imul(step, rounds);
                if negative { self.cursor.ins().isub(value, ahead) } else { self.cursor.ins().iadd(value, ahead) }
            }
        }
    }

    fn displaced(&mut self, value: Value, first: Value, rounds: i64) -> Value {
        let begins = self.advance(first, rounds);
        // How far apart the two inner loops begin is the same in all their rounds.
        self.go_to(first);
        let apart = self.cursor.ins().isub(begins, first);
        self.go_to(value);
        self.cursor.ins().iadd(value, apart)
    }

    fn pure(&mut self, value: Value, inst: Inst, rounds: i64) -> Value {
        let operands: Vec<Value> = self.cursor.func.dfg.inst_values(inst).collect();
        let advanced: Vec<Value> = operands.into_iter().map(|operand| self.advance(operand, rounds)).collect();
        self.go_to(value);
        let source = self.cursor.srcloc();
        let data = &mut self.cursor.func.dfg;
        let clone = data.clone_inst(inst);
        let mut advanced = advanced.into_iter();
        data.map_inst_values(clone, |value| advanced.next().unwrap_or(value));
        self.cursor.insert_inst(clone);
        self.cursor.func.set_srcloc(clone, source);
        self.cursor.func.dfg.first_result(clone)
    }

    fn loaded(&mut self, value: Value, inst: Inst, rounds: i64) -> Value {
        let access = Access::of(self.cursor.func, inst).expect("classified as an access");
        let load = Load::of(&self.cursor.func.dfg, inst).expect("classified as a load");
        let address = self.advance(access.address, rounds);
        let load = Load { address, offset: access.offset, ..load };
        self.go_to(value);
        markers::speculative_load(&mut self.cursor, &load).expect("classified as one that can be")
    }
}
