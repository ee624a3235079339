//! One pass over a function's operators before translation: which loops there are, whether they call, which locals are live at
//! their headers, which memories are used.
//!
//! Enters: a body. Leaves: [`Scan`]. The live sets are a pure function of the wasm code, so every version of a function and
//! the interpreter agree on which slots of a frame mean something at a loop header.
//!
//! Liveness is the textbook backward dataflow (Aho, Sethi, Ullman, 10.6) over basic blocks cut at branches; the nodes are numbered in
//! program order, so sweeping them backwards converges in loop depth + 2 sweeps.

use std::collections::{HashMap, HashSet};

use smallvec::SmallVec;
use wasmparser::{BinaryReaderError, FunctionBody, Operator, ValType};

/// Most 64-bit words of bit sets the analysis may use (32 MiB); above it every local counts as live. A guess.
const MOST_WORDS: usize = 4 << 20;

/// What is known of a body before it is translated.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// Types of all locals, parameters first.
    pub locals: Vec<ValType>,
    /// Loops by the byte offset of their opcode.
    pub loops: HashMap<u32, LoopFacts>,
    /// Whether calls stand in it that no plan is about to move out of the way.
    pub hot_calls: bool,
    /// Locals whose value may still be read after a call, by the call's byte offset; `None` when all count as live. Filled on request.
    pub live_at_calls: HashMap<u32, Option<LiveSet>>,
    /// Memories it reads or writes, by index.
    pub memories: Vec<bool>,
    /// Offsets of the control operators around the loop that was asked for, its own included.
    pub around: HashSet<u32>,
    /// Operators.
    pub operators: u32,
    /// Whether a `try` or `try_table` stands in it.
    pub tries: bool,
    /// Loops in one another, at most.
    pub nesting: usize,
}

/// Most operators that compute something in a round that counts as short: such a loop is about as fast as its jumps, of which a processor takes one per cycle.
const MOST_SHORT_OPERATORS: u32 = 10;
/// Most bytes of it, for what computes nothing takes time to compile too.
const MOST_SHORT_BYTES: u32 = 128;

/// What is known of a loop.
#[derive(Debug)]
pub(crate) struct LoopFacts {
    /// Whether a wasm call stands in it that no plan is about to move out of the way.
    pub hot_calls: bool,
    /// Whether a branch goes back to it.
    pub repeats: bool,
    /// Of a short round ([`MOST_SHORT_OPERATORS`]) of a loop that steps ([`Steps`]) and is none for a remainder ([`Few`]): the offset behind its `end`.
    pub short: Option<u32>,
    /// Whether calls stand in it.
    pub calls: bool,
    /// Locals whose value at the header may still be read; `None` when all count as live.
    pub live: Option<LiveSet>,
    node: usize,
}

/// A set of locals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveSet(Vec<u64>);

impl LiveSet {
    /// Whether a local is in it.
    pub(crate) fn contains(&self, local: usize) -> bool {
        self.0[local / 64] >> (local % 64) & 1 != 0
    }
}

#[derive(PartialEq)]
enum Kind {
    Block,
    Loop,
    If,
}

struct Open {
    kind: Kind,
    offset: u32,
    /// Where a branch to it goes.
    label: usize,
    /// The node behind its end; of a loop unused.
    end: usize,
    /// The node of the arm that was not begun yet.
    otherwise: Option<usize>,
    hot_calls: bool,
    calls: bool,
    repeats: bool,
    /// Operators that compute something, those of what stands in it included; more than any number where it is not to be repeated.
    computes: u32,
    /// Whether it is a loop that steps ([`Steps`]).
    steps: bool,
    /// Whether what it steps says that it runs a few rounds ([`Few`]).
    few: bool,
    /// Of a legacy `try`, the node that its arms follow.
    arms: Option<usize>,
}

impl Open {
    fn new(kind: Kind, offset: u32, label: usize, end: usize) -> Open {
        Open {
            kind,
            offset,
            label,
            end,
            otherwise: None,
            hot_calls: false,
            calls: false,
            repeats: false,
            computes: 0,
            steps: false,
            few: false,
            arms: None,
        }
    }
}

/// Looks for locals that a loop steps by a constant, in the order that compilers write: `local.get x`, constant, addition or subtraction, `local.set x`. A loop without one
/// waits for each round's result before it knows of the next (the bits of a mask, a list), or ends after a few: more rounds one behind the other gain nothing there, and keep in registers what
/// each of them leaves for the way out, which the loop around then lacks.
#[derive(Default)]
enum Steps {
    #[default]
    Nothing,
    Local(u32),
    Constant(u32),
    Sum(u32),
}

impl Steps {
    /// With the next operator: the local that it steps.
    fn next(&mut self, operator: &Operator<'_>) -> Option<u32> {
        let stepped = match (&*self, operator) {
            (Steps::Sum(x), Operator::LocalSet { local_index } | Operator::LocalTee { local_index }) if x == local_index => Some(*x),
            _ => None,
        };
        *self = match (&*self, operator) {
            (_, Operator::LocalGet { local_index }) => Steps::Local(*local_index),
            (Steps::Local(x), Operator::I32Const { .. } | Operator::I64Const { .. }) => Steps::Constant(*x),
            (Steps::Constant(x), Operator::I32Add | Operator::I64Add | Operator::I32Sub | Operator::I64Sub) => Steps::Sum(*x),
            _ => Steps::Nothing,
        };
        stepped
    }
}

/// Looks for locals that hold a remainder: what a mask of [`Few::MOST`] or less leaves, or a copy. Compilers that unroll a loop put one in front of it, or behind, for the rounds that are left over, and
/// count them so. More of its rounds one behind the other gain nothing, and what they keep in registers the loop that matters lacks.
struct Few {
    /// By local.
    remainders: Vec<bool>,
    last: Last,
}

#[derive(Clone, Copy, PartialEq)]
enum Last {
    Mask,
    Remainder,
    Other,
}

impl Few {
    const MOST: i64 = 7;

    /// With the next operator, in the text's order: an assignment elsewhere may be missed, which costs the rounds and nothing else.
    fn next(&mut self, operator: &Operator<'_>) {
        let mask = |value: i64| if (1..=Few::MOST).contains(&value) { Last::Mask } else { Last::Other };
        let local = |index: u32| self.remainders.get(index as usize).copied().unwrap_or(false);
        self.last = match *operator {
            Operator::I32Const { value } => mask(value.into()),
            Operator::I64Const { value } => mask(value),
            Operator::I32And | Operator::I64And if self.last == Last::Mask => Last::Remainder,
            Operator::LocalGet { local_index } if local(local_index) => Last::Remainder,
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                if let Some(local) = self.remainders.get_mut(local_index as usize) {
                    *local = self.last == Last::Remainder;
                }
                self.last
            }
            _ => Last::Other,
        };
    }
}

#[derive(Default)]
struct Flow {
    words: usize,
    /// Whether bit sets are kept at all.
    sets: bool,
    /// Read before written, `words` per node.
    reads: Vec<u64>,
    /// Written, `words` per node.
    writes: Vec<u64>,
    successors: Vec<SmallVec<[u32; 2]>>,
}

impl Flow {
    fn node(&mut self) -> usize {
        self.successors.push(SmallVec::new());
        if self.sets {
            if (self.successors.len()) * self.words * 3 > MOST_WORDS {
                self.sets = false;
            } else {
                self.reads.resize(self.successors.len() * self.words, 0);
                self.writes.resize(self.successors.len() * self.words, 0);
            }
        }
        self.successors.len() - 1
    }

    fn edge(&mut self, from: usize, to: usize) {
        self.successors[from].push(to as u32);
    }

    /// A node for what is thrown in a `try`, which goes to its arms or on to the next one's: else each call in many nested ones would have an edge to each.
    fn landing(&mut self, caught: &[(usize, usize)]) -> usize {
        let landing = self.node();
        if let Some(&(_, outer)) = caught.last() {
            self.edge(landing, outer);
        }
        landing
    }

    fn read(&mut self, node: usize, local: u32) {
        let (word, bit) = (node * self.words + local as usize / 64, 1 << (local % 64));
        if self.sets && self.writes[word] & bit == 0 {
            self.reads[word] |= bit;
        }
    }

    fn write(&mut self, node: usize, local: u32) {
        if self.sets {
            self.writes[node * self.words + local as usize / 64] |= 1 << (local % 64);
        }
    }

    /// Live-in sets, `words` per node.
    fn solve(&self) -> Vec<u64> {
        let mut live = self.reads.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for node in (0..self.successors.len()).rev() {
                for word in 0..self.words {
                    let mut out = 0;
                    for &next in &self.successors[node] {
                        out |= live[next as usize * self.words + word];
                    }
                    let place = node * self.words + word;
                    let value = self.reads[place] | out & !self.writes[place];
                    changed |= value != live[place];
                    live[place] = value;
                }
            }
        }
        live
    }
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Expected {
    /// Nothing is called: it is inlined, and the code is left where that does not do.
    Vanishes,
    /// It is inlined, and stays beside.
    OutOfLine,
    /// It stays.
    Stays,
}

/// What is wanted of a scan.
pub(crate) struct Wanted<'a> {
    /// A loop whose enclosing control operators are wanted.
    pub around: Option<u32>,
    /// Whether [`Scan::live_at_calls`] is.
    pub live_at_calls: bool,
    /// What is expected of a call, given its offset and if it is direct its callee.
    pub expected: &'a dyn Fn(u32, Option<u32>) -> Expected,
}

/// Scans a body.
pub(crate) fn scan(params: &[ValType], body: &FunctionBody<'_>, memories: usize, wanted: &Wanted<'_>) -> Result<Scan, BinaryReaderError> {
    let around = wanted.around;
    let mut result = Scan { locals: params.to_vec(), memories: vec![false; memories], ..Scan::default() };
    for entry in body.get_locals_reader()? {
        let (count, ty) = entry?;
        result.locals.extend(std::iter::repeat_n(ty, count as usize));
    }
    let mut flow = Flow { words: result.locals.len().div_ceil(64), sets: true, ..Flow::default() };
    let mut node = flow.node();
    let end = flow.node();
    let mut open = vec![Open::new(Kind::Block, u32::MAX, end, end)];
    // The `try`s around, the innermost last: how many are open in it, and its landing.
    let mut caught: Vec<(usize, usize)> = Vec::new();
    let mut loops_open = 0;
    let mut calls: Vec<(u32, usize)> = Vec::new();
    let mut steps = Steps::default();
    let mut few = Few { remainders: vec![false; result.locals.len()], last: Last::Other };
    let mut reader = body.get_operators_reader()?;
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset()?;
        let offset = offset as u32;
        result.operators += 1;
        if let Some(stepped) = steps.next(&operator)
            && let Some(around) = open.iter_mut().rev().find(|open| open.kind == Kind::Loop)
        {
            around.steps = true;
            around.few |= few.remainders[stepped as usize];
        }
        few.next(&operator);
        if let Some(top) = open.last_mut() {
            top.computes = top.computes.saturating_add(computes(&operator));
        }
        let mut throws = None;
        if result.tries && may_throw(&operator) {
            // A node of its own: what is written behind it is not written yet where what is caught goes on, which may be at any of these.
            let (at, behind) = (flow.node(), flow.node());
            flow.edge(node, at);
            caught.last().map(|&(_, landing)| landing).into_iter().chain([behind]).for_each(|to| flow.edge(at, to));
            node = behind;
            throws = Some(at);
        }
        match operator {
            Operator::TryTable { try_table } => {
                result.tries = true;
                let (end, landing) = (flow.node(), flow.landing(&caught));
                for catch in &try_table.catches {
                    let (wasmparser::Catch::One { label, .. }
                    | wasmparser::Catch::OneRef { label, .. }
                    | wasmparser::Catch::All { label }
                    | wasmparser::Catch::AllRef { label }) = *catch;
                    let Some(index) = open.len().checked_sub(1 + label as usize) else { continue };
                    open[index].repeats = true;
                    flow.edge(landing, open[index].label);
                }
                open.push(Open::new(Kind::Block, offset, end, end));
                caught.push((open.len(), landing));
            }
            Operator::Try { .. } => {
                result.tries = true;
                let (end, arms, landing) = (flow.node(), flow.node(), flow.landing(&caught));
                flow.edge(landing, arms);
                open.push(Open { arms: Some(arms), ..Open::new(Kind::Block, offset, end, end) });
                caught.push((open.len(), landing));
            }
            Operator::Catch { .. } | Operator::CatchAll => {
                // The arm is in the `try` for what it throws too, which only makes more live than is.
                if let Some(top) = open.last() {
                    flow.edge(node, top.end);
                    let arm = flow.node();
                    if let Some(arms) = top.arms {
                        flow.edge(arms, arm);
                    }
                    node = arm;
                }
            }
            Operator::Throw { .. } | Operator::ThrowRef | Operator::Rethrow { .. } => node = flow.node(),
            Operator::LocalGet { local_index } => flow.read(node, local_index),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => flow.write(node, local_index),
            Operator::Block { .. } => {
                let end = flow.node();
                open.push(Open::new(Kind::Block, offset, end, end));
            }
            Operator::Loop { .. } => {
                let header = flow.node();
                flow.edge(node, header);
                node = header;
                if around == Some(offset) {
                    result.around = open.iter().map(|open| open.offset).chain([offset]).collect();
                }
                open.push(Open::new(Kind::Loop, offset, header, header));
                loops_open += 1;
                result.nesting = result.nesting.max(loops_open);
            }
            Operator::If { .. } => {
                let (then, otherwise, end) = (flow.node(), flow.node(), flow.node());
                flow.edge(node, then);
                flow.edge(node, otherwise);
                node = then;
                open.push(Open { otherwise: Some(otherwise), ..Open::new(Kind::If, offset, end, end) });
            }
            Operator::Else => {
                if let Some(top) = open.last_mut() {
                    flow.edge(node, top.end);
                    node = top.otherwise.take().unwrap_or(node);
                }
            }
            Operator::End | Operator::Delegate { .. } => {
                let Some(top) = open.pop() else { continue };
                caught.pop_if(|&mut (height, _)| height > open.len());
                if let Some(below) = open.last_mut() {
                    below.hot_calls |= top.hot_calls;
                    below.calls |= top.calls;
                    below.computes = if top.kind == Kind::Loop { u32::MAX } else { below.computes.saturating_add(top.computes) };
                }
                if top.kind == Kind::Loop {
                    loops_open -= 1;
                    let end = offset + 1;
                    let short = (top.steps && !top.few && top.computes <= MOST_SHORT_OPERATORS && end - top.offset <= MOST_SHORT_BYTES)
                        .then_some(end);
                    let facts =
                        LoopFacts { hot_calls: top.hot_calls, repeats: top.repeats, short, calls: top.calls, live: None, node: top.label };
                    result.loops.insert(top.offset, facts);
                } else {
                    flow.edge(node, top.end);
                    if let Some(otherwise) = top.otherwise {
                        flow.edge(otherwise, top.end);
                    }
                    node = top.end;
                }
                result.hot_calls |= top.hot_calls;
            }
            Operator::Br { relative_depth } => {
                branch(&mut flow, &mut open, node, relative_depth);
                node = flow.node();
            }
            Operator::BrIf { relative_depth } => {
                branch(&mut flow, &mut open, node, relative_depth);
                let next = flow.node();
                flow.edge(node, next);
                node = next;
            }
            Operator::BrTable { targets } => {
                let mut depths = targets.targets().collect::<std::result::Result<Vec<u32>, _>>()?;
                depths.push(targets.default());
                // (each once: a table has thousands of entries)
                depths.sort_unstable();
                depths.dedup();
                depths.into_iter().for_each(|depth| branch(&mut flow, &mut open, node, depth));
                node = flow.node();
            }
            Operator::Return
            | Operator::Unreachable
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. } => node = flow.node(),
            Operator::BrOnNull { relative_depth } | Operator::BrOnNonNull { relative_depth } => {
                branch(&mut flow, &mut open, node, relative_depth);
                let next = flow.node();
                flow.edge(node, next);
                node = next;
            }
            Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. } => {
                let callee = if let Operator::Call { function_index } = operator { Some(function_index) } else { None };
                let expected = (wanted.expected)(offset, callee);
                if let Some(top) = open.last_mut() {
                    top.hot_calls |= expected == Expected::Stays;
                    top.calls = true;
                    if expected != Expected::Vanishes {
                        top.computes = u32::MAX;
                    }
                }
                if wanted.live_at_calls {
                    let here = flow.node();
                    flow.edge(node, here);
                    node = here;
                    calls.push((offset, throws.unwrap_or(here)));
                }
            }
            ref other => {
                if let Some(memory) = memory_of(other)
                    && let Some(used) = result.memories.get_mut(memory as usize)
                {
                    *used = true;
                }
            }
        }
    }
    let live = if flow.sets && !(result.loops.is_empty() && calls.is_empty()) { Some(flow.solve()) } else { None };
    let live_at = |node: usize| live.as_ref().map(|live| LiveSet(live[node * flow.words..][..flow.words].to_vec()));
    for facts in result.loops.values_mut() {
        facts.live = live_at(facts.node);
    }
    result.live_at_calls = calls.into_iter().map(|(offset, node)| (offset, live_at(node))).collect();
    Ok(result)
}

/// How many operators of a round one counts as.
fn computes(operator: &Operator<'_>) -> u32 {
    use Operator::*;
    match operator {
        LocalGet { .. } | LocalSet { .. } | LocalTee { .. } | I32Const { .. } | I64Const { .. } | F32Const { .. } | F64Const { .. } => 0,
        Nop | Drop | Block { .. } | Loop { .. } | Else | End => 0,
        // What is short is not to have many ways through it, nor handlers of its own.
        BrTable { .. } | TryTable { .. } | Try { .. } | ReturnCall { .. } | ReturnCallIndirect { .. } | ReturnCallRef { .. } => u32::MAX,
        _ => 1,
    }
}

/// Whether an exception may come out of an operator.
fn may_throw(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::Call { .. }
            | Operator::CallIndirect { .. }
            | Operator::CallRef { .. }
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::Rethrow { .. }
    )
}

fn branch(flow: &mut Flow, open: &mut [Open], node: usize, depth: u32) {
    let Some(index) = open.len().checked_sub(1 + depth as usize) else { return };
    flow.edge(node, open[index].label);
    open[index].repeats = true;
}

/// The memory a load or store accesses.
fn memory_of(operator: &Operator<'_>) -> Option<u32> {
    use Operator::*;
    match operator {
        I32Load { memarg }
        | I64Load { memarg }
        | F32Load { memarg }
        | F64Load { memarg }
        | I32Load8S { memarg }
        | I32Load8U { memarg }
        | I32Load16S { memarg }
        | I32Load16U { memarg }
        | I64Load8S { memarg }
        | I64Load8U { memarg }
        | I64Load16S { memarg }
        | I64Load16U { memarg }
        | I64Load32S { memarg }
        | I64Load32U { memarg }
        | I32Store { memarg }
        | I64Store { memarg }
        | F32Store { memarg }
        | F64Store { memarg }
        | I32Store8 { memarg }
        | I32Store16 { memarg }
        | I64Store8 { memarg }
        | I64Store16 { memarg }
        | I64Store32 { memarg }
        | V128Store { memarg } => memory_of_access(memarg),
        other => {
            let loaded = vm::vector::Load::of(other).map(|(_, memarg)| memarg);
            let memarg = loaded.or_else(|| vm::vector::lane_access(other).map(|(_, memarg, _)| memarg));
            memory_of_access(&memarg?)
        }
    }
}

fn memory_of_access(memarg: &wasmparser::MemArg) -> Option<u32> {
    match memarg.target {
        wasmparser::MemArgTarget::Memory(index) => Some(index),
        wasmparser::MemArgTarget::Array(_) => None,
    }
}
