//! Paths through a `switch` that stands in a loop, an interpreter's: which of its ways follow each other often, translated one behind the other.
//!
//! *Superinstructions* (Ertl and Gregg, "Optimizing indirect branch prediction accuracy in virtual machine interpreters", PLDI 2003), found by what the program's own
//! program does, and made of the switch's ways as they are. A plan names paths, sequences of indices of a `br_table`; together they are a tree. Where an index begins a path,
//! the table leads to a copy of its way. At the copy's end stand the operators from the loop's header to the `br_table` once more, and a test for each index that may follow, with its
//! copy behind it. An index that does not follow on any path goes back to the loop's header, as if nothing had been read. What is gained is not the jump, which processors predict, but what is known behind the test:
//! what one way left in memory or in a register for the next is used there, and an address is computed once for several.
//!
//! Copies do not poll: a path is of bounded length, and whoever leaves it comes by the header, which does. What the operators from the header to the `br_table` may be is therefore limited: they are executed again
//! where no path goes on.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockCall, InstBuilder};
use lwp_feedback::layout::EventId;
use wasmparser::{BlockType, BrTable, Operator};

use vm::code::Entrance;

use super::control::{Control, Kind};
use super::{Result, Translator, constant, malformed};
use crate::inlinable::is_load;
use crate::types::{Types, block_signature};

/// Name in reports, the policy's.
pub(super) const NAME: &str = "switch-path";
/// Most indices of all paths of one `br_table` together, those that they have in common counted once.
const MOST_NODES: usize = 256;
/// Most operators of all copies of one `br_table` together. A guess.
const MOST_OPERATORS: usize = 6000;

/// A tree of paths: what may follow an index, in the order to test it.
#[derive(Debug, Default)]
struct Tree {
    follow: Vec<(u32, Tree)>,
}

impl Tree {
    /// Of these paths; where there are too many of them, of the first.
    fn new(paths: &[Vec<u32>]) -> Tree {
        let (mut root, mut nodes) = (Tree::default(), 0);
        for path in paths {
            let mut tree = &mut root;
            for &index in path {
                let known = tree.follow.iter().position(|&(known, _)| known == index);
                let at = known.unwrap_or_else(|| {
                    nodes += 1;
                    tree.follow.push((index, Tree::default()));
                    tree.follow.len() - 1
                });
                if nodes > MOST_NODES {
                    tree.follow.truncate(at);
                    return root;
                }
                tree = &mut tree.follow[at].1;
            }
        }
        root
    }

    /// All indices in it.
    fn indices(&self) -> BTreeSet<u32> {
        let mut all = BTreeSet::new();
        let mut open = vec![self];
        while let Some(tree) = open.pop() {
            all.extend(tree.follow.iter().map(|(index, _)| *index));
            open.extend(tree.follow.iter().map(|(_, tree)| tree));
        }
        all
    }
}

/// A loop around a `br_table`, and how one gets from its header there.
struct Round<'a> {
    /// Offset of the loop.
    offset: u32,
    /// The operators behind `loop`, to its `end`.
    operators: Vec<(Operator<'a>, u32)>,
    /// Which of them the `br_table` is.
    table: usize,
    /// Of each block that is open there, the outermost first: which of them is its `end`.
    ends: Vec<usize>,
    /// Place of the loop on the control stack.
    control: usize,
}

impl Round<'_> {
    /// Offset of the `br_table`.
    fn table_offset(&self) -> u32 {
        self.operators[self.table].1
    }
}

/// A way of the switch: the operators of a target, to where they lead elsewhere.
#[derive(Clone, Copy)]
struct Way {
    /// Blocks of the round that it stands in.
    depth: usize,
    /// Its first operator.
    begin: usize,
    /// How many there are.
    operators: usize,
}

impl<'a> Translator<'a, '_> {
    /// `br_table` with paths: makes the copies that the plan asks for and has the table's `entries` lead to them. Their blocks are filled by [`Self::copy_paths`], once the table's jump is there.
    pub(super) fn plan_paths(&mut self, targets: &BrTable<'_>, offset: u32, entries: &mut [BlockCall]) -> Result<Option<Paths<'a>>> {
        let Some(paths) = self.input.plan.switch_paths.get(&offset).filter(|_| !self.in_path) else { return Ok(None) };
        let function = self.frame().function;
        // (what is executed again where no path goes on would be counted again)
        if self.input.events.contains(EventId::INSTRUCTIONS) {
            self.applied(NAME, function, offset, Some("instructions are counted".to_owned()));
            return Ok(None);
        }
        let round = match self.round_around(offset)? {
            Ok(round) => round,
            Err(why) => {
                self.applied(NAME, function, offset, Some(why.to_owned()));
                return Ok(None);
            }
        };
        let tree = Tree::new(paths);
        let mut ways = BTreeMap::new();
        let mut by_depth: HashMap<u32, Option<Way>> = HashMap::new();
        let named = tree.indices();
        for (index, depth) in (0u32..).zip(targets.targets()).filter(|(index, _)| named.contains(index)) {
            let depth = depth.map_err(|error| malformed(function, &error))?;
            ways.insert(index, (*by_depth.entry(depth).or_insert_with(|| way(&round, depth as usize)), depth));
        }
        let (mut copies, mut left) = (Vec::new(), MOST_OPERATORS);
        for (index, tree) in tree.follow {
            let Some(&(Some(way), _)) = ways.get(&index).filter(|_| !tree.follow.is_empty()) else { continue };
            let Some(rest) = left.checked_sub(way.operators + round.table) else { break };
            left = rest;
            let block = self.b.create_block();
            entries[index as usize] = self.b.func.dfg.block_call(block, [].iter());
            copies.push(Copy { block, way, tree, begins: true });
        }
        let refused = copies.is_empty().then(|| "no path of two indices whose ways can be copied".to_owned());
        self.applied(NAME, function, offset, refused);
        Ok(Some(Paths { round, ways, copies, left }))
    }

    /// Behind the `br_table`: fills the copies. Control and operand stack are as they are there, and so they are afterwards.
    pub(super) fn copy_paths(&mut self, paths: Paths<'a>) -> Result {
        let Paths { round, ways, copies, mut left } = paths;
        for copy in &copies {
            self.b.seal_block(copy.block);
        }
        let (in_path, repeating) = (std::mem::replace(&mut self.in_path, true), std::mem::replace(&mut self.repeating, true));
        // Breadth first: what is reached most often is copied before the room is used up.
        let mut open = VecDeque::from(copies);
        while let Some(Copy { block, way, tree, begins }) = open.pop_front() {
            self.enter(block);
            self.reachable = true;
            if !begins {
                self.stand_at(round.table_offset());
                self.count_round(round.offset);
            }
            let Some(next) = self.copy_way(&round, way, !tree.follow.is_empty())? else { continue };
            self.enter(next);
            self.reachable = true;
            let miss = self.b.create_block();
            let written = round.operators[..round.table].iter().filter_map(|(operator, _)| match operator {
                Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => Some(*local_index),
                _ => None,
            });
            let written: BTreeSet<u32> = written.collect();
            let locals: Vec<_> = written.into_iter().map(|local| self.frame().locals[local as usize].0).collect();
            let before: Vec<_> = locals.iter().map(|&variable| (variable, self.b.use_var(variable))).collect();
            self.copy_lead(&round, miss)?;
            let found = self.pop();
            self.stand_at(round.table_offset());
            for (index, tree) in tree.follow {
                // (the table's default is left to it)
                let Some(&(way, depth)) = ways.get(&index) else { continue };
                let expected = self.iconst32(index);
                let other = self.b.ins().icmp(IntCC::NotEqual, found, expected);
                let (hit, go_on) = (self.b.create_block(), self.b.create_block());
                self.b.ins().brif(other, go_on, &[], hit, &[]);
                self.b.seal_block(hit);
                self.b.seal_block(go_on);
                let room = way.and_then(|way| Some((way, left.checked_sub(way.operators + round.table)?)));
                if let Some((way, rest)) = room {
                    left = rest;
                    open.push_back(Copy { block: hit, way, tree, begins: false });
                } else {
                    // What cannot be copied, or there is no room for, has its way in common with all others.
                    self.enter(hit);
                    self.count_round(round.offset);
                    self.branch(depth);
                }
                self.enter(go_on);
            }
            self.b.ins().jump(miss, &[]);
            self.b.seal_block(miss);
            self.enter(miss);
            for (variable, value) in before {
                self.b.def_var(variable, value);
            }
            let depth = self.control.len() - 1 - round.control;
            self.branch(depth as u32);
        }
        (self.in_path, self.repeating) = (in_path, repeating);
        self.reachable = false;
        Ok(())
    }

    /// The operators from the loop's header to the `br_table`; whatever else they might lead to leads to `miss`.
    fn copy_lead(&mut self, round: &Round<'a>, miss: Block) -> Result {
        for (operator, at) in &round.operators[..round.table] {
            match operator {
                Operator::Block { .. } => {}
                Operator::If { .. } | Operator::BrIf { .. } => {
                    self.stand_at(*at);
                    let condition = self.pop();
                    let next = self.b.create_block();
                    if matches!(operator, Operator::If { .. }) {
                        let none = self.b.ins().icmp_imm_u(IntCC::Equal, condition, 0);
                        self.b.ins().brif(none, miss, &[], next, &[]);
                    } else {
                        self.b.ins().brif(condition, miss, &[], next, &[]);
                    }
                    self.b.seal_block(next);
                    self.enter(next);
                }
                _ => self.positioned_operator(operator, *at)?,
            }
        }
        Ok(())
    }

    /// Translates a way of the switch once more. With `goes_on`, what leads to the loop leads to a new block, which is returned if anything does; without, to the loop.
    fn copy_way(&mut self, round: &Round<'a>, way: Way, goes_on: bool) -> Result<Option<Block>> {
        let mut around: Vec<Control> = self.control.drain(round.control..).collect();
        let height = around[0].height;
        let next = self.b.create_block();
        let dead = || Control { kind: Kind::Dead, height, results: Types::new(), next: None, branched: false, around: false };
        let own = match goes_on {
            true => Control::round(next, around[0].results.clone(), height),
            false => std::mem::replace(&mut around[0], dead()),
        };
        self.control.push(own);
        // Blocks behind which a few operators lead to the loop are part of the way.
        let tails: Vec<Option<Way>> = (0..way.depth).map(|block| tail(round, block).filter(|_| goes_on)).collect();
        for (block, tail) in tails.iter().enumerate() {
            let entry = if tail.is_some() { self.fresh_block(height) } else { std::mem::replace(&mut around[block + 1], dead()) };
            self.control.push(entry);
        }
        self.operators_of(round, way.begin)?;
        for (block, tail) in tails.iter().enumerate().rev() {
            let entry = self.control.pop().expect("it was pushed");
            match tail {
                Some(tail) if entry.branched => {
                    let begin = entry.next.expect("it was made with one");
                    self.b.seal_block(begin);
                    self.enter(begin);
                    self.reachable = true;
                    // What a way leaves there is nobody's.
                    self.stack.truncate(height);
                    self.operators_of(round, tail.begin)?;
                }
                Some(_) => {}
                None => around[block + 1] = entry,
            }
        }
        let own = self.control.pop().expect("it was pushed");
        let goes_on = goes_on && own.branched;
        if matches!(own.kind, Kind::Loop { .. }) {
            around[0] = own;
        }
        self.control.extend(around);
        self.stack.truncate(height);
        if goes_on {
            self.b.seal_block(next);
        }
        Ok(goes_on.then_some(next))
    }

    fn fresh_block(&mut self, height: usize) -> Control {
        let next = self.b.create_block();
        Control { kind: Kind::Block, height, results: Types::new(), next: Some(next), branched: false, around: false }
    }

    /// The operators from the `begin`th on, to where they lead elsewhere. An `end` leads behind its block.
    fn operators_of(&mut self, round: &Round<'a>, begin: usize) -> Result {
        let mut nesting = 0u32;
        for (operator, at) in &round.operators[begin..] {
            if nesting == 0 && !self.reachable {
                break;
            }
            match operator {
                Operator::Block { .. } | Operator::If { .. } => nesting += 1,
                Operator::End if nesting == 0 => {
                    self.branch(0);
                    self.reachable = false;
                    break;
                }
                Operator::End => nesting -= 1,
                _ => {}
            }
            self.positioned_operator(operator, *at)?;
        }
        Ok(())
    }

    /// The loop around the `br_table` at an offset, whose index was just popped, or why its ways cannot be copied.
    fn round_around(&mut self, offset: u32) -> Result<std::result::Result<Round<'a>, &'static str>> {
        let (module, function) = (self.module, self.frame().function);
        let mut reader = module.body(function).get_operators_reader().map_err(|error| malformed(function, &error))?;
        // Of every open block: its operator, that one's offset, and how many operators there are up to it.
        let mut open: Vec<(Operator<'a>, u32, usize)> = Vec::new();
        let mut operators: Vec<(Operator<'a>, u32)> = Vec::new();
        while !reader.eof() {
            let (operator, at) = reader.read_with_offset().map_err(|error| malformed(function, &error))?;
            if at as u32 == offset {
                operators.push((operator, offset));
                break;
            }
            operators.push((operator.clone(), at as u32));
            if opens(&operator) {
                open.push((operator, at as u32, operators.len()));
            } else if closes(&operator) {
                open.pop();
            }
        }
        let Some(of_loop) = open.iter().rposition(|(operator, ..)| matches!(operator, Operator::Loop { .. })) else {
            return Ok(Err("no loop around it"));
        };
        let (around, loop_offset, first) = open[of_loop].clone();
        operators.drain(..first);
        let table = operators.len() - 1;
        let mut ends = vec![0; open.len() - of_loop - 1];
        if let Err(why) = self.is_lead(&operators[..table], &around, ends.len()) {
            return Ok(Err(why));
        }
        if self.is_around(loop_offset) && self.input.entrance != Entrance::Loop(loop_offset) {
            return Ok(Err("entered at a loop in it"));
        }
        let (mut nesting, mut still_open) = (0u32, ends.len());
        loop {
            let (operator, at) = reader.read_with_offset().map_err(|error| malformed(function, &error))?;
            let ended = closes(&operator) && nesting == 0;
            if opens(&operator) {
                nesting += 1;
            } else if closes(&operator) && !ended {
                nesting -= 1;
            }
            operators.push((operator, at as u32));
            if ended && still_open == 0 {
                break;
            }
            if ended {
                still_open -= 1;
                ends[still_open] = operators.len() - 1;
            }
        }
        let Some(control) = self.control.len().checked_sub(1 + ends.len()) else { return Ok(Err("no loop around it")) };
        let known = &self.control[control..];
        let blocks = known[1..].iter().all(|it| matches!(it.kind, Kind::Block | Kind::If { .. }) && it.height == known[0].height);
        if !matches!(known[0].kind, Kind::Loop { .. }) || !blocks || self.stack.len() != known[0].height {
            return Ok(Err("the loop around it is unrolled, or operands cross it"));
        }
        Ok(Ok(Round { offset: loop_offset, operators, table, ends, control }))
    }

    /// Whether operators from a loop's header to a `br_table` can be executed again: nothing but values and loads, and blocks without operands, which are all open.
    fn is_lead(&self, operators: &[(Operator<'_>, u32)], around: &Operator<'_>, open: usize) -> std::result::Result<(), &'static str> {
        let Operator::Loop { blockty } = around else { return Err("no loop around it") };
        if !block_signature(self.module, *blockty).0.is_empty() {
            return Err("operands cross the loop around it");
        }
        let mut blocks = 0;
        for (operator, _) in operators {
            match operator {
                Operator::Block { blockty: BlockType::Empty } | Operator::If { blockty: BlockType::Empty } => blocks += 1,
                Operator::BrIf { .. } | Operator::LocalGet { .. } | Operator::LocalSet { .. } | Operator::LocalTee { .. } => {}
                Operator::GlobalGet { .. } | Operator::Drop | Operator::Nop | Operator::Select => {}
                Operator::End => return Err("a block ends between the loop's header and it"),
                other if is_value(other) => {}
                _ => return Err("more than values and loads between the loop's header and it"),
            }
        }
        debug_assert_eq!(blocks, open, "none has ended");
        Ok(())
    }
}

/// The copies that a `br_table` leads to.
pub(super) struct Paths<'a> {
    round: Round<'a>,
    /// The way of each index that is named, if it can be copied, and the table's depth.
    ways: BTreeMap<u32, (Option<Way>, u32)>,
    /// Those that the table leads to.
    copies: Vec<Copy>,
    /// Operators that there is room for beside them.
    left: usize,
}

/// A copy to be made: its block, of what it is, and what may follow.
struct Copy {
    block: Block,
    way: Way,
    tree: Tree,
    /// It is reached from the table, so that its round is counted.
    begins: bool,
}

/// Whether it is the end of what [`opens`].
fn closes(operator: &Operator<'_>) -> bool {
    matches!(operator, Operator::End | Operator::Delegate { .. })
}

/// Whether an `end` or a `delegate` belongs to it.
fn opens(operator: &Operator<'_>) -> bool {
    use Operator::*;
    matches!(operator, Block { .. } | Loop { .. } | If { .. } | Try { .. } | TryTable { .. })
}

/// Constants, arithmetic and loads of integers: whatever may be executed twice.
fn is_value(operator: &Operator<'_>) -> bool {
    use Operator::*;
    constant::operands(operator).is_some()
        || is_load(operator) && !matches!(operator, F32Load { .. } | F64Load { .. })
        || matches!(operator, I32Rotl | I32Rotr | I64Rotl | I64Rotr | I64Extend8S | I64Extend16S | I64Extend32S)
}

/// The way behind the block that a target names, as seen from the `br_table`; none where it leaves the loop, or has something in it that is not copied.
fn way(round: &Round<'_>, depth: usize) -> Option<Way> {
    let block = round.ends.len().checked_sub(1 + depth)?;
    behind(round, block)
}

/// What stands behind one of the round's blocks.
fn behind(round: &Round<'_>, block: usize) -> Option<Way> {
    let begin = round.ends[block] + 1;
    let mut nesting = 0u32;
    for (count, (operator, _)) in round.operators[begin..].iter().enumerate() {
        let leaves = match operator {
            Operator::Block { .. } | Operator::If { .. } => {
                nesting += 1;
                false
            }
            // Loops have polls, entrances and rounds of their own; what catches has landings.
            Operator::Loop { .. } | Operator::Try { .. } | Operator::TryTable { .. } => return None,
            // The second arm of an `if` around the way is not on it; its end is.
            Operator::Else if nesting == 0 => return None,
            // The loop's own end leaves it.
            Operator::End if nesting == 0 => {
                if begin + count + 1 == round.operators.len() {
                    return None;
                }
                true
            }
            Operator::End => {
                nesting -= 1;
                false
            }
            Operator::Br { .. } | Operator::BrTable { .. } | Operator::Return | Operator::Unreachable => nesting == 0,
            Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. } | Operator::ReturnCallRef { .. } => nesting == 0,
            Operator::Throw { .. } | Operator::ThrowRef | Operator::Rethrow { .. } => nesting == 0,
            _ => false,
        };
        if leaves {
            return Some(Way { depth: block, begin, operators: count + 1 });
        }
    }
    None
}

/// Most operators behind a block that are copied with what branches to it.
const MOST_TAIL: usize = 16;

/// What stands behind a block, if that is a few operators in a row to the loop's header.
fn tail(round: &Round<'_>, block: usize) -> Option<Way> {
    let way = behind(round, block).filter(|way| way.operators <= MOST_TAIL)?;
    let operators = &round.operators[way.begin..way.begin + way.operators];
    let (last, before) = operators.split_last()?;
    let straight = before.iter().all(|(operator, _)| !matches!(operator, Operator::Block { .. } | Operator::If { .. }));
    (straight && matches!(last.0, Operator::Br { relative_depth } if relative_depth as usize == way.depth)).then_some(way)
}
