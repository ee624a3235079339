//! Structured control: blocks, loops, branches, returns, `unreachable`.

use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use smallvec::SmallVec;
use wasmparser::Operator;

use vm::code::Entrance;
use vm::trap::TrapCode;

use super::exceptions;
use super::sites::Trips;
use super::{Result, Translator};
use crate::traps;
use crate::types::{Types, block_signature};

/// What an `end` closes.
pub(super) enum Kind {
    /// A function body.
    Body,
    /// A `block`.
    Block,
    /// A `loop`; `owns_context` says that the value in `loop_context` is its, `facts` how many facts there were before it,
    /// `trips` counts its rounds where that is recorded.
    Loop { header: Block, params: Types, owns_context: bool, facts: usize, trips: Option<Trips> },
    /// An `if`; `otherwise` is its second arm until that is begun, `params` are what both arms start with.
    /// `dead` says that the second arm is known never to be taken.
    If { otherwise: Option<Block>, params: SmallVec<[Value; 4]>, dead: bool },
    /// The body of a `try` or `try_table`.
    Try(exceptions::Body),
    /// An arm of a `try`.
    Catch(exceptions::Arms),
    /// One round of an unrolled loop; branches to it lead to the next.
    Round,
    /// Anything begun in unreachable code.
    Dead,
}

/// One entry of the control stack.
pub(super) struct Control {
    pub kind: Kind,
    /// Operand stack height below its parameters.
    pub(super) height: usize,
    pub(super) results: Types,
    /// Block behind its end, with the results as parameters. Of a loop it is never used.
    pub(super) next: Option<Block>,
    /// Whether something branches to `next`.
    pub(super) branched: bool,
    /// Whether the loop that is entered from outside stands in it.
    pub(super) around: bool,
}

impl Control {
    /// The control entry of a function body that continues in `next`.
    pub(super) fn body(next: Block, results: Types, height: usize) -> Control {
        Control { kind: Kind::Body, height, results, next: Some(next), branched: false, around: false }
    }
}

impl Control {
    /// The control entry of a round of an unrolled loop, `next` being the next one's beginning.
    pub(super) fn round(next: Block, results: Types, height: usize) -> Control {
        Control { kind: Kind::Round, height, results, next: Some(next), branched: false, around: false }
    }

    /// Of a loop whose rounds are counted: the counter.
    pub(super) fn trips(&self) -> Option<Trips> {
        match &self.kind {
            Kind::Loop { trips, .. } => *trips,
            _ => None,
        }
    }
}

/// Values as block arguments.
pub(super) fn arguments(values: &[Value]) -> SmallVec<[BlockArg; 8]> {
    values.iter().map(|&value| BlockArg::Value(value)).collect()
}

impl Translator<'_, '_> {
    /// Translates control operators; false for all others. It sees the operators of unreachable code too, to keep track of nesting.
    pub(super) fn control_operator(&mut self, operator: &Operator<'_>, offset: u32) -> Result<bool> {
        match *operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } if !self.reachable => {
                let height = self.stack.len();
                self.control.push(Control { kind: Kind::Dead, height, results: Types::new(), next: None, branched: false, around: false });
            }
            Operator::Block { blockty } => {
                let (params, results) = block_signature(self.module, blockty);
                let around = self.save_around(offset);
                let next = self.block_with(&results);
                let height = self.stack.len() - params.len();
                self.control.push(Control { kind: Kind::Block, height, results, next: Some(next), branched: false, around });
            }
            Operator::Loop { blockty } => {
                self.unroll(blockty, offset)?;
                if self.reachable {
                    self.begin_loop(blockty, offset)?;
                    self.repeat_short_rounds(offset)?;
                } else {
                    let height = self.stack.len();
                    self.control.push(Control {
                        kind: Kind::Dead,
                        height,
                        results: Types::new(),
                        next: None,
                        branched: false,
                        around: false,
                    });
                }
            }
            Operator::If { blockty } => {
                let condition = self.pop();
                self.probe_branch(condition);
                let (params, results) = block_signature(self.module, blockty);
                let around = self.save_around(offset);
                let next = self.block_with(&results);
                let (then, otherwise) = (self.b.create_block(), self.b.create_block());
                let height = self.stack.len() - params.len();
                let params = SmallVec::from_slice(&self.stack[height..]);
                let known = self.known_condition(condition);
                match known {
                    None => self.b.ins().brif(condition, then, &[], otherwise, &[]),
                    Some(true) => self.b.ins().jump(then, &[]),
                    Some(false) => self.b.ins().jump(otherwise, &[]),
                };
                self.b.seal_block(then);
                self.b.seal_block(otherwise);
                self.enter(then);
                self.reachable = known != Some(false);
                let kind = Kind::If { otherwise: Some(otherwise), params, dead: known == Some(true) };
                self.control.push(Control { kind, height, results, next: Some(next), branched: false, around });
            }
            Operator::Else => self.begin_else(),
            Operator::End => self.end(),
            Operator::TryTable { .. }
            | Operator::Try { .. }
            | Operator::Catch { .. }
            | Operator::CatchAll
            | Operator::Delegate { .. }
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::Rethrow { .. } => return self.exception_operator(operator, offset),
            _ if !self.reachable => return Ok(false),
            Operator::Br { relative_depth } => {
                if let Some(trips) = self.left_trips(relative_depth) {
                    self.trip_site(trips);
                }
                self.branch(relative_depth);
                self.reachable = false;
            }
            Operator::BrIf { relative_depth } => {
                let condition = self.pop();
                if let Some(known) = self.known_condition(condition) {
                    if known {
                        self.branch(relative_depth);
                        self.reachable = false;
                    }
                    return Ok(true);
                }
                self.probe_branch(condition);
                let (target, count) = self.target(relative_depth);
                let values = arguments(&self.stack[self.stack.len() - count..]);
                let next = self.b.create_block();
                match self.left_trips(relative_depth) {
                    None => _ = self.b.ins().brif(condition, target, &values, next, &[]),
                    Some(trips) => {
                        let out = self.b.create_block();
                        self.b.ins().brif(condition, out, &[], next, &[]);
                        self.b.seal_block(out);
                        self.enter(out);
                        self.trip_site(trips);
                        self.b.ins().jump(target, &values);
                    }
                }
                self.b.seal_block(next);
                self.enter(next);
            }
            Operator::BrTable { ref targets } => self.table_branch(targets, offset)?,
            Operator::Return => {
                let depth = self.control.len() - 1 - self.frame().control;
                if self.frames.len() == 1 {
                    let count = self.control[0].results.len();
                    let results = SmallVec::<[Value; 4]>::from_slice(&self.stack[self.stack.len() - count..]);
                    self.probe_return();
                    self.b.ins().return_(&results);
                } else {
                    self.branch(depth as u32);
                }
                self.reachable = false;
            }
            Operator::Unreachable => {
                self.b.ins().trap(traps::to_clif(TrapCode::UnreachableCodeReached));
                self.reachable = false;
            }
            Operator::Nop => {}
            Operator::Drop => {
                self.pop();
            }
            Operator::Select | Operator::TypedSelect { .. } => self.select_operator(offset),
            _ => return Ok(false),
        }
        Ok(true)
    }

    pub(super) fn block_with(&mut self, params: &Types) -> Block {
        let block = self.b.create_block();
        for &ty in params {
            self.b.append_block_param(block, ty);
        }
        block
    }

    fn begin_loop(&mut self, blockty: wasmparser::BlockType, offset: u32) -> Result {
        let (params, results) = block_signature(self.module, blockty);
        let outermost = self.frames.len() == 1;
        let around = self.save_around(offset);
        let entered_here = outermost && self.input.entrance == Entrance::Loop(offset);
        let known = self.frame().scan.loops.get(&offset);
        let (calls, repeats) = known.map_or((true, true), |facts| (facts.hot_calls, facts.repeats));
        let trips = repeats.then(|| self.begin_trips(offset)).flatten();
        if entered_here {
            self.join_entry_from_buffer(trips);
        }
        // A loop that is entered from outside is not dominated by the preheaders of the loops around it: no context of theirs in it.
        let owns_context = !calls && self.frames[0].scan.hot_calls && self.loop_context.is_none();
        if owns_context {
            let entered_inside = around && !entered_here;
            self.loop_context = Some(if entered_inside { self.entry_context } else { self.context() });
        }
        let facts = self.facts.len();
        if !around || entered_here {
            self.test_before_loop(offset)?;
        }
        let header = self.block_with(&params);
        let height = self.stack.len() - params.len();
        let values = self.pop_slice(params.len());
        self.b.ins().jump(header, &arguments(&values));
        self.enter(header);
        // Taken before anything reads a variable here, which adds parameters of its own.
        let values = SmallVec::<[Value; 8]>::from_slice(self.b.block_params(header));
        if around {
            // The back edge may come from behind the entered loop.
            self.reload_around(height);
        }
        self.stack.extend_from_slice(&values);
        self.control.push(Control {
            kind: Kind::Loop { header, params, owns_context, facts, trips },
            height,
            results,
            next: None,
            branched: false,
            around,
        });
        if let Some(trips) = trips {
            self.count_trip(trips);
        }
        if repeats {
            self.countdown(offset);
            if self.input.polls {
                self.loop_poll(offset);
            }
            self.probe_round(offset)?;
        }
        self.forced_exit_at_loop(offset);
        Ok(())
    }

    fn begin_else(&mut self) {
        let top = self.control.last_mut().expect("validation matches else and if");
        let Kind::If { otherwise, params, dead } = &mut top.kind else { return };
        let (otherwise, params, dead) = (otherwise.take().expect("an if has one else"), params.clone(), *dead);
        let next = top.next.expect("an if has a next block");
        let (height, around) = (top.height, top.around);
        if self.reachable {
            top.branched = true;
            let results = top.results.len();
            let values = arguments(&self.stack[self.stack.len() - results..]);
            self.b.ins().jump(next, &values);
        }
        if !dead {
            self.enter(otherwise);
        }
        self.reachable = !dead;
        self.stack.truncate(height);
        if dead {
            return;
        }
        if around {
            self.reload_around(height);
        }
        self.stack.extend_from_slice(&params);
    }

    pub(super) fn end(&mut self) {
        let mut top = self.control.pop().expect("validation balances blocks and ends");
        let count = top.results.len();
        match top.kind {
            Kind::Dead => return self.end_unrolled(false),
            Kind::Round => {
                let next = top.next.expect("a round has a next one");
                return self.end_round(next, top.branched, top.height, count);
            }
            Kind::Loop { header, owns_context, facts, trips, .. } => {
                if self.reachable
                    && let Some(trips) = trips
                {
                    self.trip_site(trips);
                }
                self.b.seal_block(header);
                self.facts.truncate(facts);
                if owns_context {
                    self.loop_context = None;
                }
                if self.reachable && top.around {
                    let results = self.pop_slice(count);
                    self.stack.truncate(top.height);
                    self.reload_around(top.height);
                    self.stack.extend_from_slice(&results);
                }
                return self.end_unrolled(top.around);
            }
            Kind::Body | Kind::Block | Kind::If { .. } | Kind::Try(_) | Kind::Catch(_) => {}
        }
        let next = top.next.expect("all but loops and dead blocks have a next block");
        // The end of a body nothing branches out of needs no block of its own.
        if matches!(top.kind, Kind::Body) && !top.branched {
            return;
        }
        if self.reachable {
            top.branched = true;
            let values = arguments(&self.stack[self.stack.len() - count..]);
            self.b.ins().jump(next, &values);
        }
        if let Kind::If { otherwise: Some(otherwise), params, dead: false } = &top.kind {
            top.branched = true;
            self.enter(*otherwise);
            self.b.ins().jump(next, &arguments(params));
        }
        match &top.kind {
            Kind::Try(body) => self.end_try_body(body, top.height, top.around),
            Kind::Catch(arms) => self.end_arms(arms, top.height),
            _ => {}
        }
        self.stack.truncate(top.height);
        self.reachable = top.branched;
        if top.branched {
            let results = SmallVec::<[Value; 8]>::from_slice(self.b.block_params(next));
            self.b.seal_block(next);
            self.enter(next);
            if top.around {
                self.reload_around(top.height);
            }
            self.stack.extend_from_slice(&results);
        }
    }

    /// Block and number of arguments of a branch.
    pub(super) fn target(&mut self, depth: u32) -> (Block, usize) {
        let index = self.control.len() - 1 - depth as usize;
        let control = &mut self.control[index];
        match &control.kind {
            Kind::Loop { header, params, .. } => (*header, params.len()),
            Kind::Round => {
                control.branched = true;
                (control.next.expect("a round has a next one"), 0)
            }
            _ => {
                control.branched = true;
                (control.next.expect("reachable code branches to live blocks"), control.results.len())
            }
        }
    }

    pub(super) fn branch(&mut self, depth: u32) {
        let (target, count) = self.target(depth);
        let values = arguments(&self.stack[self.stack.len() - count..]);
        self.b.ins().jump(target, &values);
    }

    pub(super) fn table_target(&mut self, depth: u32) -> cranelift_codegen::ir::BlockCall {
        let (target, count) = self.target(depth);
        let values = arguments(&self.stack[self.stack.len() - count..]);
        self.b.func.dfg.block_call(target, values.iter())
    }

    /// A block; cold while out-of-line code is translated.
    pub(super) fn new_block(&mut self) -> Block {
        let block = self.b.create_block();
        if self.out_of_line {
            self.b.set_cold_block(block);
        }
        block
    }

    /// Goes on in a new block after a conditional branch to a cold one, which is returned; the builder stays in the hot one.
    pub(super) fn split_cold(&mut self, condition: Value) -> (Block, Block) {
        let (cold, hot) = (self.b.create_block(), self.new_block());
        self.b.set_cold_block(cold);
        self.b.ins().brif(condition, cold, &[], hot, &[]);
        self.b.seal_block(cold);
        (cold, hot)
    }

    /// `value` as an i32 truth value.
    pub(super) fn truth(&mut self, value: Value) -> Value {
        self.b.ins().uextend(types::I32, value)
    }
}
