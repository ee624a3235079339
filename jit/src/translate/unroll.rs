//! Unrolling of loops: in a specialized body where the trip count follows from its constants, and of short ones anywhere.
//!
//! A loop is unrolled by translating its operators once for each round, one behind the other: a branch to the loop becomes a jump to the next
//! round, and as locals are frontend variables their values are constants in each round again. How often it will run is found first, by
//! running the integer operators on the constants known at the loop ([`trips`]). That is a forecast and no more: after the last round that
//! was forecast stands the loop itself, if anything still branches to it; in the rule nothing does and no code is made for it.
//!
//! Rounds do not poll: their number is bounded, and the loop behind them polls.
//!
//! A *short* loop that steps a local by a constant ([`LoopFacts::short`](crate::scan::LoopFacts)), however often it runs, gets [`SHORT_ROUNDS`] rounds, each with its own ways out: its header, which
//! polls, stands before the first, and what branches to the loop in the last goes back to it. Today's processors take one jump per cycle and pass two that are not taken; a round of
//! four instructions takes a cycle because of its jump alone.

use std::collections::HashSet;

use cranelift_codegen::ir::{Block, InstBuilder};
use vm::code::{Entrance, Tier};
use wasmparser::{BinaryReader, BlockType, ContType, FrameKind, FuncType, ModuleArity, Operator, OperatorsReader, RefType, SubType};

use super::control::{Control, arguments};
use super::{Result, Translator, constant, malformed};
use crate::types::{Types, block_signature};

/// Name in reports.
const NAME: &str = "unroll";
/// Rounds of a short loop, one behind the other.
const SHORT_ROUNDS: u32 = 4;
/// Largest callee, bytes of all bodies together, that is inlined into a short round.
const MOST_SHORT_CALLEES: usize = 16;
/// Most rounds.
const MOST_TRIPS: u32 = 64;
/// Most operators of all rounds together, nested ones included. A guess.
const MOST_OPERATORS: usize = 1200;
/// Most operators of all loops of one compile together: what a loop's rounds hold is unrolled again in each of them, and each specialization has a body.
pub(super) const MOST_OPERATORS_IN_ALL: usize = 4 * MOST_OPERATORS;
/// Most operators of all short rounds of one compile together, each counted once.
pub(super) const MOST_SHORT_IN_ALL: usize = 2000;

/// An unrolled loop whose own operators are still being read.
pub(super) struct Unrolled {
    /// Entries of the control stack when its own is the last.
    depth: usize,
    /// Where its end leads, with its results.
    exit: Block,
    /// How many those are.
    results: usize,
    /// Operand stack height below it.
    height: usize,
    /// Whether a round's end or the loop's leads there.
    reached: bool,
}

impl Translator<'_, '_> {
    /// At a `loop`: translates its rounds if their number is known. Afterwards the operators of the loop are still to be read: as the
    /// loop behind the rounds, or as code that nothing reaches.
    pub(super) fn unroll(&mut self, blockty: BlockType, offset: u32) -> Result {
        if !self.folding || self.is_around(offset) {
            return Ok(());
        }
        let (params, results) = block_signature(self.module, blockty);
        if !params.is_empty() {
            return Ok(());
        }
        let function = self.frame().function;
        let module = self.module;
        let mut operators = Vec::new();
        let mut reader = module.body(function).get_operators_reader().map_err(|error| malformed(function, &error))?;
        let mut nesting = 0u32;
        while !reader.eof() {
            let (operator, at) = reader.read_with_offset().map_err(|error| malformed(function, &error))?;
            if at as u32 <= offset {
                continue;
            }
            match operator {
                Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => nesting += 1,
                // What a landing goes on with is not forecast.
                Operator::TryTable { .. } | Operator::Try { .. } => return Ok(()),
                Operator::End if nesting == 0 => {
                    operators.push((operator, at as u32));
                    break;
                }
                Operator::End => nesting -= 1,
                _ => {}
            }
            operators.push((operator, at as u32));
        }
        let locals: Vec<_> = self.frame().locals.iter().map(|&(variable, _)| variable).collect();
        let known = locals.into_iter().map(|variable| self.b.use_var(variable)).collect::<Vec<_>>();
        let known: Vec<Option<u64>> = known.into_iter().map(|value| self.constant(value)).collect();
        let Some(trips) = trips(&operators, known) else { return Ok(()) };
        let Some(left) = self.unroll_left.checked_sub(trips as usize * operators.len()) else {
            self.applied(NAME, function, offset, Some("enough is unrolled in this function".to_owned()));
            return Ok(());
        };
        self.unroll_left = left;
        let exit = self.block_with(&results);
        let height = self.stack.len();
        self.unrolled.push(Unrolled { depth: self.control.len() + 1, exit, results: results.len(), height, reached: false });
        for _ in 0..trips {
            if !self.reachable {
                break;
            }
            self.round(&operators, &results, height)?;
        }
        let refused = self.reachable.then(|| "the loop goes on".to_owned());
        self.applied(NAME, function, offset, refused);
        Ok(())
    }

    /// One round.
    fn round(&mut self, operators: &[(Operator<'_>, u32)], results: &Types, height: usize) -> Result {
        let next = self.b.create_block();
        self.control.push(Control::round(next, results.clone(), height));
        for (operator, at) in operators {
            self.positioned_operator(operator, *at)?;
        }
        Ok(())
    }

    /// At the header of a loop that was just begun: translates all rounds of a short one but the last. Afterwards the operators of the loop are still to be read, as the last.
    pub(super) fn repeat_short_rounds(&mut self, offset: u32) -> Result {
        let Some(end) = self.end_of_short_round(offset) else { return Ok(()) };
        let (module, function) = (self.module, self.frame().function);
        let body = module.body(function);
        let begin = body.range().start as u32;
        let bytes = &body.as_bytes()[(offset - begin) as usize..(end - begin) as usize];
        let mut reader = OperatorsReader::new(BinaryReader::new(bytes, u64::from(offset)));
        let mut operators = Vec::new();
        let mut callees = 0usize;
        while !reader.eof() {
            let (operator, at) = reader.read_with_offset().map_err(|error| malformed(function, &error))?;
            let at = at as u32;
            match operator {
                // The loop's own. Parameters would be operands that each round passes on.
                Operator::Loop { blockty } if at == offset => {
                    if !block_signature(module, blockty).0.is_empty() {
                        return Ok(());
                    }
                    continue;
                }
                Operator::Call { function_index } => callees = callees.saturating_add(self.body_bytes(function_index)),
                Operator::CallIndirect { .. } => {
                    let bytes = self
                        .input
                        .plan
                        .calls
                        .get(&at)
                        .map_or(usize::MAX, |calls| calls.callees.iter().map(|&it| self.body_bytes(it)).sum());
                    callees = callees.saturating_add(bytes);
                }
                _ => {}
            }
            operators.push((operator, at));
        }
        let Some(left) = self.short_left.checked_sub(operators.len()) else { return Ok(()) };
        if callees > MOST_SHORT_CALLEES {
            return Ok(());
        }
        self.short_left = left;
        let begun = self.control.pop().expect("the loop was just begun");
        let (results, height) = (begun.results.clone(), begun.height);
        let exit = self.block_with(&results);
        self.unrolled.push(Unrolled { depth: self.control.len() + 1, exit, results: results.len(), height, reached: false });
        let around = std::mem::replace(&mut self.repeating, true);
        for _ in 1..SHORT_ROUNDS {
            if self.reachable {
                self.round(&operators, &results, height)?;
            }
            if self.reachable {
                self.count_round(offset);
            }
        }
        self.repeating = around;
        self.control.push(begun);
        Ok(())
    }

    /// Where the round of a loop ends, if it is a short one and nothing is planned there that counts rounds or moves code.
    fn end_of_short_round(&self, offset: u32) -> Option<u32> {
        let (input, plan) = (self.input, self.input.plan);
        // Not what was unrolled for its known number of rounds: the loop behind them is not expected to run.
        let unrolled = self.unrolled.last().is_some_and(|unrolled| unrolled.depth == self.control.len());
        if input.tier != Tier::Optimizing || input.countdowns || unrolled {
            return None;
        }
        // Of the loops around the one that is entered only that one stands before all its rounds.
        if self.is_around(offset) && input.entrance != Entrance::Loop(offset) {
            return None;
        }
        let facts = self.frame().scan.loops.get(&offset).filter(|facts| facts.repeats)?;
        let end = facts.short?;
        let planned = plan.branch_to_select.iter().chain(plan.select_to_branch.keys()).chain(plan.prefetch.keys()).copied();
        let mut planned = planned.chain(plan.other.iter().map(|other| other.offset));
        // With callees in it, what is planned for them counts too.
        (!planned.any(|at| facts.calls || (offset..end).contains(&at))).then_some(end)
    }

    /// The end of a round: what falls through leaves the loop, what branched to the loop goes on in the next round.
    pub(super) fn end_round(&mut self, next: Block, branched: bool, height: usize, count: usize) {
        if self.reachable {
            // What only leads out stands aside, so that who goes on falls through.
            if let Some(block) = self.b.current_block()
                && !self.b.func.layout.is_block_inserted(block)
            {
                self.b.set_cold_block(block);
            }
            let values = arguments(&self.stack[self.stack.len() - count..]);
            let unrolled = self.unrolled.last_mut().expect("a round is of an unrolled loop");
            unrolled.reached = true;
            let exit = unrolled.exit;
            self.b.ins().jump(exit, &values);
        }
        self.stack.truncate(height);
        self.b.seal_block(next);
        self.reachable = branched;
        if branched {
            self.enter(next);
        }
    }

    /// At the end of a loop or of dead code: whether it was the last of an unrolled loop, and then goes on behind it. The loop's control
    /// entry is off the stack; `around` as that said.
    pub(super) fn end_unrolled(&mut self, around: bool) {
        if self.unrolled.last().is_none_or(|unrolled| unrolled.depth != self.control.len() + 1) {
            return;
        }
        let Unrolled { exit, results, height, mut reached, .. } = self.unrolled.pop().expect("there is a last one");
        if self.reachable {
            let values = arguments(&self.stack[self.stack.len() - results..]);
            self.b.ins().jump(exit, &values);
            reached = true;
        }
        self.b.seal_block(exit);
        self.stack.truncate(height);
        self.reachable = reached;
        if reached {
            self.enter(exit);
            if around {
                self.reload_around(height);
            }
            self.stack.extend_from_slice(self.b.block_params(exit));
        }
    }
}

/// Answers no question about types: what needs one is not forecast.
struct NoTypes;

impl ModuleArity for NoTypes {
    fn sub_type_at(&self, _: u32) -> Option<&SubType> {
        None
    }
    fn tag_type_arity(&self, _: u32) -> Option<(u32, u32)> {
        None
    }
    fn type_index_of_function(&self, _: u32) -> Option<u32> {
        None
    }
    fn func_type_of_cont_type(&self, _: &ContType) -> Option<&FuncType> {
        None
    }
    fn sub_type_of_ref_type(&self, _: &RefType) -> Option<&SubType> {
        None
    }
    fn control_stack_height(&self) -> u32 {
        0
    }
    fn label_block(&self, _: u32) -> Option<(BlockType, FrameKind)> {
        None
    }
}

/// How often a loop runs if no conditional way out is taken early: `operators` are those behind `loop` up to its `end`, `locals` what is
/// known when it begins. `None` if it depends on something else, or exceeds the limits.
fn trips(operators: &[(Operator<'_>, u32)], mut locals: Vec<Option<u64>>) -> Option<u32> {
    let nested = nested_writes(operators)?;
    nested.iter().for_each(|&local| locals[local as usize] = None);
    for trip in 1..=MOST_TRIPS {
        if trip as usize * operators.len() > MOST_OPERATORS {
            return None;
        }
        if !round(operators, &nested, &mut locals)? {
            return Some(trip);
        }
    }
    None
}

/// Locals that nested code writes: never known. `None` if nested code branches to the loop.
fn nested_writes(operators: &[(Operator<'_>, u32)]) -> Option<HashSet<u32>> {
    let (mut nesting, mut written) = (0u32, HashSet::new());
    for (operator, _) in operators {
        match *operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => nesting += 1,
            Operator::End => nesting = nesting.saturating_sub(1),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } if nesting > 0 => _ = written.insert(local_index),
            Operator::Br { relative_depth } | Operator::BrIf { relative_depth } if nesting > 0 && relative_depth == nesting => return None,
            Operator::BrTable { .. } => return None,
            _ => {}
        }
    }
    Some(written)
}

/// Runs one round on what is known: whether it goes back to the loop.
fn round(operators: &[(Operator<'_>, u32)], nested: &HashSet<u32>, locals: &mut [Option<u64>]) -> Option<bool> {
    let mut stack: Vec<Option<u64>> = Vec::new();
    let mut at = 0;
    while let Some((operator, _)) = operators.get(at) {
        at += 1;
        match *operator {
            Operator::LocalGet { local_index } => stack.push(locals[local_index as usize]),
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                let value = *stack.last()?;
                locals[local_index as usize] = value.filter(|_| !nested.contains(&local_index));
                if matches!(operator, Operator::LocalSet { .. }) {
                    stack.pop();
                }
            }
            Operator::Br { relative_depth } => return Some(relative_depth == 0),
            Operator::BrIf { relative_depth } => match (relative_depth, stack.pop()?) {
                (0, condition) => {
                    if condition? as u32 != 0 {
                        return Some(true);
                    }
                }
                (_, Some(condition)) if condition as u32 != 0 => return Some(false),
                // A way out that may be taken early.
                (_, _) => {}
            },
            Operator::Return | Operator::End => return Some(false),
            Operator::Block { blockty: BlockType::Empty }
            | Operator::Loop { blockty: BlockType::Empty }
            | Operator::If { blockty: BlockType::Empty } => {
                if matches!(operator, Operator::If { .. }) {
                    stack.pop()?;
                }
                let mut nesting = 1;
                while nesting > 0 {
                    match operators.get(at)?.0 {
                        Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } => nesting += 1,
                        Operator::End => nesting -= 1,
                        _ => {}
                    }
                    at += 1;
                }
            }
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::Unreachable => return None,
            ref other => {
                let (pops, pushes) = other.operator_arity(&NoTypes)?;
                let base = stack.len().checked_sub(pops as usize)?;
                let folded = constant::operands(other).and_then(|count| {
                    let values: Vec<u64> = stack[stack.len() - count..].iter().copied().collect::<Option<_>>()?;
                    constant::fold(other, &values)
                });
                stack.truncate(base);
                stack.extend(std::iter::repeat_n(folded, pushes as usize));
            }
        }
    }
    None
}
