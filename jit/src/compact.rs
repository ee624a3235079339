//! Finished code without what it does not need: instructions that do nothing, branches longer than their way, constants longer than their value.
//!
//! Cranelift writes every branch with a displacement of four bytes and every constant of an addition with four, reads the pinned register by a move before each use, and what
//! [`spills`](crate::spills), [`markers`](crate::markers) and [`headers`](crate::headers) replace leaves `nop`s. All of it takes room in the caches of code and of decoded
//! instructions, and most of it a slot of each round. Here a function of tier 2 is laid out once more, in the same order:
//!
//! - a move, or a load from a slot of the frame, whose register nobody reads any more goes (liveness by a backward data-flow analysis over machine instructions; a copy whose own
//!   result is not read reads nothing: Aho, Lam, Sethi and Ullman, Compilers, 2nd ed., section 9.2.5);
//! - an access through a copy of the pinned register goes through that register itself, where the copy is of the same block;
//! - `nop`s, jumps to what follows them, and code that nothing leads to any more go;
//! - an access whose address lacks its base is given the pinned register for one ([`memory_base`](crate::passes::memory_base));
//! - a comparison's outcome is not widened: its register is cleared in front of the comparison;
//! - what the flags hold already is not compared again, and what counts where a condition holds adds the carry ([`flags`]);
//! - constants of one byte take one byte;
//! - branches take a displacement of one byte where their target is near. All are short at first, and those that do not reach grow until all do.
//!
//! A poll's comparison and branch stay as they are, and a jump that one byte leads behind them ([`BackEdge`]), or where a jump that is there leads, is short where it reaches both
//! places. Polls that who falls into the loop would jump over are put where nobody falls in.
//! What is behind the code, constants, is aligned as it was. [`Map`] says where everything went: all tables of places are the caller's to change by it.

use std::collections::{BTreeMap, BTreeSet};

use iced_x86::{Code, Decoder, DecoderOptions, Encoder, FlowControl, Instruction};
use vm::code::BackEdge;

mod flags;
#[cfg(test)]
mod tests;
mod unread;

use crate::graph::{Graph, direct, goes_on};
use crate::headers::{Jumps, PASSED, Poll, SHORT_JUMP};
use crate::markers::COMPARE;
use crate::placement::{self, FOOTPRINT, Fork, Loop, Taken};
use unread::Edit;

/// `jmp rel32`; the first byte of `jcc rel8`, and the second of `jcc rel32`, without their conditions.
const JUMP_NEAR: u8 = 0xe9;
const BRANCH_SHORT: u8 = 0x70;
const BRANCH_NEAR: u8 = 0x80;

/// `xor` of registers of 32 bits, and the prefix where both are of the upper eight.
const XOR: u8 = 0x31;
const REX_RB: u8 = 0x45;

/// What the layout needs to know of a function besides its bytes.
pub(crate) struct Places<'a> {
    /// First bytes of Cranelift's blocks, ascending.
    pub(crate) starts: &'a [u32],
    /// What is entered from outside, besides the first byte.
    pub(crate) landings: &'a [u32],
    /// In ascending order.
    pub(crate) polls: &'a [Poll],
    /// Where bytes that the linker writes begin, ascending.
    pub(crate) relocated: &'a [u32],
    /// Instructions whose length and registers are in a table, by their first bytes, ascending.
    pub(crate) fixed: &'a [u32],
    /// Where loops are, and their dispatches.
    pub(crate) jumps: &'a Jumps,
    /// What constants behind the code are aligned to, and its first byte is; a power of two.
    pub(crate) alignment: u32,
    /// It returns with nothing in registers, and its callers count on those of the System V convention alone.
    pub(crate) returns_nothing: bool,
    /// Accesses whose addresses lack their base, the pinned register, by their first bytes, ascending.
    pub(crate) without_base: &'a [u32],
    /// Whether the processor's history of branches is as [`Fork`] says.
    pub(crate) has_footprints: bool,
}

impl Places<'_> {
    fn is_fixed(&self, at: u32) -> bool {
        self.fixed.binary_search(&at).is_ok()
    }

    fn is_without_base(&self, at: u32) -> bool {
        self.without_base.binary_search(&at).is_ok()
    }

    fn is_relocated(&self, at: u32, length: usize) -> bool {
        let next = self.relocated.get(self.relocated.partition_point(|&place| place < at));
        next.is_some_and(|&place| place < at + length as u32)
    }
}

/// Where bytes went.
#[derive(Debug)]
pub(crate) struct Map {
    /// Of each instruction or table that is left: first byte, bytes, first byte now; in order.
    pieces: Vec<(u32, u32, u32)>,
    /// End of the code, before and now.
    end: (u32, u32),
    /// Where what lies behind it is.
    tail_at: u32,
}

impl Map {
    /// Where an instruction that begins at `at`, or a byte within one, is; `None` if it is gone.
    pub(crate) fn get(&self, at: u32) -> Option<u32> {
        if at >= self.end.0 {
            return Some(at - self.end.0 + self.tail_at);
        }
        let &(old, length, new) = self.pieces[..self.pieces.partition_point(|piece| piece.0 <= at)].last()?;
        (at < old + length).then(|| new + (at - old))
    }

    /// What is told of places by where it begins (and holds until the next), told of where they are now.
    pub(crate) fn spans(&self, spans: &[(u32, u32)]) -> Vec<(u32, u32)> {
        let mut now: Vec<(u32, u32)> = Vec::with_capacity(spans.len());
        let mut pieces = self.pieces.clone();
        pieces.sort_unstable_by_key(|&(old, _, new)| (new, old));
        for &(old, _, new) in &pieces {
            let Some(&(_, told)) = spans[..spans.partition_point(|&(start, _)| start <= old)].last() else { continue };
            match now.last_mut() {
                Some(last) if last.1 == told => {}
                Some(last) if last.0 == new => last.1 = told,
                _ => now.push((new, told)),
            }
        }
        now
    }

    /// Where what was at `at` or follows it is.
    pub(crate) fn at_or_behind(&self, at: u32) -> u32 {
        self.get(at)
            .unwrap_or_else(|| self.pieces.get(self.pieces.partition_point(|piece| piece.0 < at)).map_or(self.end.1, |piece| piece.2))
    }

    /// Where a call ends that ended at `at`, whose bytes are the same; `None` if it is gone. What follows may be elsewhere.
    pub(crate) fn end(&self, at: u32) -> Option<u32> {
        Some(self.get(at - 1)? + 1)
    }
}

/// What became of a function.
pub(crate) struct Compacted {
    pub(crate) map: Map,
    pub(crate) back_edges: Vec<BackEdge>,
    /// See [`placement`].
    pub(crate) lead_in: u32,
}

/// Lays the code out anew. `None`, and nothing is changed: it could not be followed.
pub(crate) fn run(bytes: &mut Vec<u8>, places: &Places<'_>) -> Option<Compacted> {
    let graph = Graph::read(bytes, places.starts, places.landings)?;
    let edits = unread::edits(&graph, places)?;
    let mut layout = Layout::new(bytes, &graph, &edits, places)?;
    layout.settle();
    layout.set_aside(places.polls);
    layout.write(bytes, places)
}

/// Bytes that stay together.
struct Piece<'a> {
    /// First byte, and bytes, before.
    old: u32,
    length: u32,
    kind: Kind<'a>,
    /// What follows it is reached otherwise, and need not follow.
    ends: bool,
    calls: bool,
}

enum Kind<'a> {
    /// Its bytes are what they were.
    Same,
    Changed(Vec<u8>),
    /// The same but for the four bytes from `field` on, which lead from the end to what was at `target`.
    Relative {
        field: usize,
        target: u32,
    },
    /// A branch; a `condition` of 16 is none.
    Branch {
        condition: u8,
        size: Size,
        to: Leads,
    },
    /// Words that count from its first byte.
    Table(&'a [u32]),
}

/// Where a branch leads.
#[derive(Clone, Copy)]
enum Leads {
    /// To what was there.
    To(u32),
    /// To a poll's comparison, or by another byte behind its branch.
    Polls { compare: u32, word: i32 },
}

impl Leads {
    fn target(self) -> u32 {
        match self {
            Leads::To(target) | Leads::Polls { compare: target, .. } => target,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Size {
    /// It leads to what follows.
    Nothing,
    Short,
    Near,
}

const ALWAYS: u8 = 16;
/// Bytes from a loop to where its poll may be, if not in it.
const FARTHEST: i64 = 256;
/// The same from a branch of one byte, which reaches 128: moving polls moves branches by some bytes, too.
const FARTHEST_SHORT: i64 = 104;
/// And the bytes by which they may come to be elsewhere.
const SLACK: i64 = 20;
/// Instructions that are looked at for a way back to a poll at most; there may be one beyond.
const MOST_SEEN: usize = 4096;
/// How often branches grow by what they must at most; then as often if they are long, and then all do.
const MOST_PASSES: u32 = 32;
/// How often polls are set aside at most, until all whose jumps two bytes would have to lead stay.
const MOST_TRIES: usize = 4;

struct Layout<'a> {
    /// By their first bytes before; those that are new, jumps back from polls, behind all others.
    pieces: Vec<Piece<'a>>,
    /// The pieces' numbers as they follow each other, without what is left out.
    order: Vec<usize>,
    /// Jumps that are left out, in front of polls that were set aside. Who led to one leads to the poll.
    left_out: BTreeSet<usize>,
    /// By bytes before: the first piece from there on.
    numbers: Vec<u32>,
    /// First byte of each piece now, by its number; and the end.
    at: Vec<u32>,
    end_now: u32,
    /// The end before.
    end: u32,
}

impl<'a> Layout<'a> {
    fn new(code: &[u8], graph: &'a Graph, edits: &[Edit], places: &Places<'_>) -> Option<Layout<'a>> {
        let mut encoder = Encoder::new(64);
        let mut pieces: Vec<Piece<'a>> = Vec::with_capacity(graph.instructions.len());
        let mut end = 0;
        let edges: BTreeMap<u32, i32> = places.jumps.back_edges.iter().map(|edge| (edge.at, edge.word)).collect();
        // A poll's comparison and branch.
        let polls: BTreeSet<u32> = places.polls.iter().map(Poll::compare).flat_map(|at| [at, at + COMPARE as u32]).collect();
        for (instruction, edit) in graph.instructions.iter().zip(edits) {
            let (at, length) = (instruction.ip() as u32, instruction.len() as u32);
            let bytes = code.get(at as usize..(at + length) as usize)?;
            end = end.max(at + length);
            let is_fixed = polls.contains(&at) || places.is_fixed(at);
            let is_relocated = places.is_relocated(at, instruction.len());
            let flow = instruction.flow_control();
            let kind = match edit {
                Edit::Gone => None,
                Edit::Now(now) => {
                    if is_fixed || is_relocated {
                        return None;
                    }
                    encoder.encode(now, at.into()).ok()?;
                    let bytes = encoder.take_buffer();
                    Some(Kind::Changed(shorter(&bytes, now).unwrap_or(bytes)))
                }
                Edit::Same if matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch) => {
                    if is_relocated {
                        return None;
                    }
                    let condition = match bytes {
                        [SHORT_JUMP, _] | [JUMP_NEAR, ..] => ALWAYS,
                        [0x0f, condition, ..] if condition & 0xf0 == BRANCH_NEAR => condition & 0xf,
                        [condition, _] if condition & 0xf0 == BRANCH_SHORT => condition & 0xf,
                        _ => return None,
                    };
                    let target = direct(instruction)?;
                    let displacement = if length == 2 { 1 } else { length - 4 };
                    let to = edges.get(&(at + displacement)).map_or(Leads::To(target), |&word| Leads::Polls { compare: target, word });
                    let size = match to {
                        _ if is_fixed => Size::Near,
                        // Back over what is nothing it would be nothing too, and an endless loop none.
                        Leads::To(_) if condition == ALWAYS && target > at => Size::Nothing,
                        _ => Size::Short,
                    };
                    Some(Kind::Branch { condition, size, to })
                }
                // Where it leads is not written anew.
                Edit::Same if flow == FlowControl::Call && !is_relocated => return None,
                Edit::Same if instruction.is_ip_rel_memory_operand() && !is_relocated => {
                    let mut decoder = Decoder::with_ip(64, bytes, at.into(), DecoderOptions::NONE);
                    let again = decoder.decode();
                    let field = decoder.get_constant_offsets(&again).displacement_offset();
                    Some(Kind::Relative { field, target: u32::try_from(instruction.ip_rel_memory_address()).ok()? })
                }
                Edit::Cleared(register) => {
                    let number = register.number() as u8;
                    let mut now = if number < 8 { vec![XOR] } else { vec![REX_RB, XOR] };
                    let both = number & 7;
                    now.push(0xc0 | both << 3 | both);
                    now.extend(shorter(bytes, instruction).as_deref().unwrap_or(bytes));
                    Some(Kind::Changed(now))
                }
                Edit::Same if is_fixed || is_relocated => Some(Kind::Same),
                Edit::Same => Some(shorter(bytes, instruction).map_or(Kind::Same, Kind::Changed)),
            };
            let table = graph.tables.get(&(at + length)).filter(|table| !table.is_empty());
            let calls = matches!(flow, FlowControl::Call | FlowControl::IndirectCall);
            pieces.extend(kind.map(|kind| Piece { old: at, length, kind, ends: !goes_on(flow) && table.is_none(), calls }));
            if let Some(table) = table {
                let (old, length) = (at + length, 4 * table.len() as u32);
                end = end.max(old + length);
                pieces.push(Piece { old, length, kind: Kind::Table(table), ends: true, calls: false });
            }
        }
        // What is behind stays together, and what leads to it leads to its bytes.
        let reaches = |target: u32| target >= end || pieces.binary_search_by_key(&target, |piece| piece.old).is_ok();
        let all_reach = pieces.iter().all(|piece| match piece.kind {
            Kind::Relative { target, .. } => reaches(target),
            _ => true,
        });
        let order = (0..pieces.len()).collect();
        let mut numbers = vec![pieces.len() as u32; end as usize + 1];
        let mut next = pieces.len();
        for (at, number) in numbers.iter_mut().enumerate().rev() {
            next -= usize::from(next.checked_sub(1).is_some_and(|before| pieces[before].old as usize >= at));
            *number = next as u32;
        }
        all_reach.then_some(Layout { pieces, order, numbers, left_out: BTreeSet::new(), at: Vec::new(), end_now: 0, end })
    }

    /// The piece that what leads to `target` leads to.
    fn piece(&self, target: u32) -> usize {
        self.numbers.get(target as usize).map_or(self.pieces.len(), |&number| number as usize)
    }

    /// First byte now of what was at `target`, which is no constant's, or follows it.
    fn now(&self, target: u32) -> u32 {
        self.at.get(self.piece(target)).copied().unwrap_or(self.end_now)
    }

    /// What comes behind a poll, and behind those that come next and were set aside.
    fn past(&self, compare: u32) -> u32 {
        self.fallen_to(compare + u32::from(PASSED))
    }

    /// Where who falls to a place comes to.
    fn fallen_to(&self, at: u32) -> u32 {
        let next = self.piece(at);
        if self.left_out.contains(&next) { self.past(self.pieces[next + 1].old) } else { at }
    }

    /// Where the jump at a place leads, if one is there: who would come to it may go there at once.
    fn led_on(&self, at: u32) -> Option<u32> {
        match self.pieces.get(self.piece(at))?.kind {
            Kind::Branch { condition: ALWAYS, to: Leads::To(target), .. } => Some(target),
            _ => None,
        }
    }

    /// Where a branch's displacement counts from.
    fn behind(&self, number: usize) -> u32 {
        self.at[number] + self.pieces[number].bytes()
    }

    /// How far a branch leads, one way and the other.
    fn ways(&self, number: usize, to: Leads) -> [i64; 2] {
        let behind = i64::from(self.behind(number));
        let over = |target| i64::from(self.now(target)) - behind;
        let one = over(to.target());
        match to {
            Leads::To(_) => [one, one],
            Leads::Polls { compare, .. } => {
                let past = self.past(compare);
                let ways = [one, over(past)];
                let Some(target) = self.led_on(past) else { return ways };
                let through = [one, over(target)];
                let is_led = match self.pieces[number].size() {
                    Some(Size::Short) => reaches(through, i8::MAX.into()),
                    _ => same_but_low(through),
                };
                if is_led { through } else { ways }
            }
        }
    }

    /// Finds sizes of branches that reach.
    fn settle(&mut self) {
        for pass in 0.. {
            self.place();
            // One that grows may make just one other too long, and so on through a function made for it.
            let reach = match pass / MOST_PASSES {
                0 => i64::from(i8::MAX),
                1 => i64::from(i8::MAX) / 2,
                _ => -1,
            };
            let grows = |number: &usize| {
                let Kind::Branch { size, to, .. } = self.pieces[*number].kind else { return false };
                let ways = self.ways(*number, to);
                match size {
                    Size::Nothing => ways[0] != 0,
                    Size::Short => !reaches(ways, reach),
                    Size::Near => false,
                }
            };
            let growing: Vec<usize> = (0..self.pieces.len()).filter(grows).collect();
            if growing.is_empty() {
                break;
            }
            for number in growing {
                if let Kind::Branch { size, .. } = &mut self.pieces[number].kind {
                    *size = if *size == Size::Nothing { Size::Short } else { Size::Near };
                }
            }
        }
    }

    /// Moves polls that who falls into the loop jumps over to where nobody falls in. Who falls in does not poll then, and who polls jumps back.
    fn set_aside(&mut self, polls: &[Poll]) {
        let fillers: BTreeSet<u32> = polls.iter().map(|poll| poll.at).collect();
        let mut edges: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (number, piece) in self.pieces.iter().enumerate() {
            if let Kind::Branch { to: Leads::Polls { compare, .. }, .. } = piece.kind
                && !fillers.contains(&piece.old)
            {
                edges.entry(compare).or_default().push(number);
            }
        }
        let mut seen = vec![0; self.pieces.len()];
        let fallen_into: Vec<(&Poll, usize)> = polls
            .iter()
            .enumerate()
            .filter_map(|(number, poll)| Some((poll, self.fallen_into(poll, number as u32 + 1, &mut seen)?)))
            .collect();
        if fallen_into.is_empty() {
            return;
        }
        let mut stay = BTreeSet::new();
        for _ in 0..MOST_TRIES {
            let before = (self.pieces.len(), self.order.clone());
            let sizes: Vec<Option<Size>> = self.pieces.iter().map(Piece::size).collect();
            let span = |(&compare, edges): (&u32, &Vec<usize>)| {
                let end = edges.iter().map(|&number| self.behind(number)).max()?;
                Some((i64::from(self.now(compare)), i64::from(end)))
            };
            let loops: Vec<(i64, i64)> = edges.iter().filter_map(span).collect();
            let moves: Vec<(usize, usize)> = fallen_into
                .iter()
                .filter(|(poll, _)| !stay.contains(&poll.compare()))
                .filter_map(|&(poll, filler)| Some((filler, self.aside(poll, edges.get(&poll.compare())?, &fillers, &loops)?)))
                .collect();
            if moves.is_empty() {
                return;
            }
            self.apply(&moves);
            self.settle();
            let steered = |&number: &usize| match self.pieces[number].kind {
                Kind::Branch { size, to, .. } => {
                    (size == Size::Short || sizes[number] == Some(size)) && one_byte_leads(size, self.ways(number, to))
                }
                _ => false,
            };
            let bad = moves.iter().filter_map(|&(filler, _)| {
                let compare = self.pieces[filler + 1].old;
                (!edges[&compare].iter().all(steered)).then_some(compare)
            });
            let bad: Vec<u32> = bad.collect();
            if bad.is_empty() {
                return;
            }
            stay.extend(bad);
            self.left_out.clear();
            self.pieces.truncate(before.0);
            self.order = before.1;
            for (piece, size) in self.pieces.iter_mut().zip(sizes) {
                if let (Kind::Branch { size: now, .. }, Some(size)) = (&mut piece.kind, size) {
                    *now = size;
                }
            }
            self.settle();
        }
    }

    /// The jump in front of a poll, if someone falls into it; the comparison and its branch follow.
    fn fallen_into(&self, poll: &Poll, mark: u32, seen: &mut [u32]) -> Option<usize> {
        let filler = self.piece(poll.at);
        let [before, jump, compare, branch, ..] = self.pieces.get(filler.checked_sub(1)?..)? else { return None };
        let is_jump = matches!(jump.kind, Kind::Branch { to: Leads::Polls { .. }, .. });
        let is_whole = (jump.old, compare.old, branch.old) == (poll.at, poll.compare(), poll.compare() + COMPARE as u32);
        (is_jump && is_whole && !before.ends && !self.comes_back(filler, mark, seen)).then_some(filler)
    }

    /// Whether who is behind a poll may come to fall into it again without having jumped to another's comparison: then it is in the middle of its loop. What was seen is marked.
    fn comes_back(&self, filler: usize, mark: u32, seen: &mut [u32]) -> bool {
        let mut waiting = vec![filler + 3];
        let mut visits = 0;
        while let Some(number) = waiting.pop() {
            let Some(piece) = self.pieces.get(number) else { continue };
            // Who jumps to the poll polls.
            if number == filler || std::mem::replace(&mut seen[number], mark) == mark {
                continue;
            }
            visits += 1;
            if number + 1 == filler || visits > MOST_SEEN {
                return true;
            }
            match &piece.kind {
                Kind::Branch { to: Leads::To(target), .. } => waiting.push(self.piece(*target)),
                // In front of another's poll, which may be set aside as well.
                Kind::Branch { to: Leads::Polls { compare, .. }, .. } if self.piece(*compare) == number + 1 => waiting.push(number + 3),
                Kind::Table(targets) => waiting.extend(targets.iter().map(|&target| self.piece(target))),
                _ => {}
            }
            if !piece.ends {
                waiting.push(number + 1);
            }
        }
        false
    }

    /// A place in the order behind which a poll may be, for all of the loop's edges: in as few loops as possible, and near.
    fn aside(&self, poll: &Poll, edges: &[usize], fillers: &BTreeSet<u32>, loops: &[(i64, i64)]) -> Option<usize> {
        let header = i64::from(self.now(poll.at));
        let body = i64::from(self.now(poll.compare() + u32::from(PASSED)));
        let behind = |number: usize| i64::from(self.behind(number));
        let last = edges.iter().map(|&number| behind(number)).max()?;
        let fits = |&place: &usize| {
            let to = behind(self.order[place]);
            edges.iter().all(|&number| {
                let ways = [to - behind(number), body - behind(number)];
                match self.pieces[number].size() {
                    Some(Size::Short) => ways[0].abs() <= FARTHEST_SHORT,
                    // Either way by some bytes, for this moves others.
                    _ => [-SLACK, SLACK]
                        .iter()
                        .all(|slack| same_but_low([ways[0] + slack, ways[1]]) && same_but_low([ways[0], ways[1] + slack])),
                }
            })
        };
        let away = |place: usize| {
            let to = behind(self.order[place]);
            (loops.iter().filter(|(start, end)| (*start + 1..*end).contains(&to)).count(), (to - header).abs())
        };
        // In the order of the code, which is that of places.
        let from = self.order.partition_point(|&number| behind(number) < header - FARTHEST);
        let to = self.order.partition_point(|&number| behind(number) <= last + FARTHEST);
        // What is left out itself is no end, nor is a jump that is none.
        let may_end = |piece: &Piece<'_>| piece.ends && piece.size() != Some(Size::Nothing) && !fillers.contains(&piece.old);
        (from..to).filter(|&place| may_end(&self.pieces[self.order[place]])).filter(fits).min_by_key(|&place| away(place))
    }

    /// Puts polls, by their jumps' numbers, behind places in the order.
    fn apply(&mut self, moves: &[(usize, usize)]) {
        let mut behind: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut moved = BTreeSet::new();
        self.left_out = moves.iter().map(|&(filler, _)| filler).collect();
        for &(filler, place) in moves {
            let back = self.pieces.len();
            let target = self.past(self.pieces[filler + 1].old);
            self.pieces.push(Piece {
                old: u32::MAX,
                length: 0,
                kind: Kind::Branch { condition: ALWAYS, size: Size::Short, to: Leads::To(target) },
                ends: true,
                calls: false,
            });
            moved.extend([filler, filler + 1, filler + 2]);
            behind.entry(self.order[place]).or_default().extend([filler + 1, filler + 2, back]);
        }
        let mut order = Vec::with_capacity(self.order.len() + moves.len());
        for &number in &self.order {
            if !moved.contains(&number) {
                order.push(number);
            }
            order.extend(behind.remove(&number).into_iter().flatten());
        }
        self.order = order;
    }

    fn place(&mut self) {
        let mut at = 0;
        self.at.resize(self.pieces.len(), 0);
        for &number in &self.order {
            self.at[number] = at;
            at += self.pieces[number].bytes();
        }
        for &number in &self.left_out {
            self.at[number] = self.at[number + 1];
        }
        self.end_now = at;
    }

    /// Conditional branches, each with what may be the first to be taken behind it, as far as it matters how far that is. A poll's is never taken.
    fn forks(&self, polls: &[Poll]) -> Vec<Fork> {
        // What is taken, and whether nothing goes on behind it; what ends otherwise or calls (which is a way of its own) is no branch.
        let ways: Vec<(Option<Taken>, bool)> = (self.order.iter())
            .filter_map(|&number| match &self.pieces[number] {
                Piece { kind: Kind::Branch { size: Size::Nothing, .. }, .. } => None,
                Piece { old, .. } if polls.binary_search_by_key(old, |poll| poll.compare() + COMPARE as u32).is_ok() => None,
                &Piece { kind: Kind::Branch { condition, to, .. }, .. } => {
                    let behind = self.behind(number);
                    let target = i64::from(behind) + self.ways(number, to)[1];
                    Some((Some(Taken { last: behind - 1, target: target as u32 }), condition == ALWAYS))
                }
                Piece { ends, calls, .. } => (*ends || *calls).then_some((None, true)),
            })
            .collect();
        let mut forks = Vec::new();
        for (number, way) in ways.iter().enumerate() {
            let &(Some(over), false) = way else { continue };
            let mut next = Vec::new();
            for &(other, ends) in &ways[number + 1..] {
                match other {
                    Some(other) if other.last - over.last < FOOTPRINT => next.push(other),
                    _ => break,
                }
                if ends {
                    break;
                }
            }
            if !next.is_empty() {
                forks.push(Fork { over, next });
            }
        }
        forks
    }

    fn write(&self, code: &mut Vec<u8>, places: &Places<'_>) -> Option<Compacted> {
        // One whose jump back nothing leads to any more is none.
        let now = |it: &Loop| {
            let last = self.piece(it.end).checked_sub(1)?;
            let is_there = self.pieces[last].old + self.pieces[last].length == it.end;
            let start = self.fallen_to(it.start);
            let start = self.led_on(start).filter(|target| (start..it.end).contains(target)).unwrap_or(start);
            let now = Loop { start: self.now(start), end: self.behind(last) };
            (is_there && now.start < now.end).then_some(now)
        };
        let [loops, dispatches] =
            [&places.jumps.loops, &places.jumps.dispatches].map(|loops| loops.iter().filter_map(now).collect::<Vec<_>>());
        let forks = if places.has_footprints && !loops.is_empty() { self.forks(places.polls) } else { Vec::new() };
        let lead_in = placement::lead_in(loops, &dispatches, forks, 1);
        // Bytes behind the code keep their alignment, wherever it begins.
        let tail_at = self.end_now + self.end.wrapping_sub(lead_in + self.end_now) % places.alignment;
        let tail_now = |target: u32| target - self.end + tail_at;
        let tail = code.get(self.end as usize..)?;
        let mut written: Vec<u8> = Vec::with_capacity(code.len());
        let mut back_edges = Vec::with_capacity(places.jumps.back_edges.len());
        for &number in &self.order {
            let (at, behind) = (self.at[number], self.behind(number));
            let to = |target: u32| if target >= self.end { tail_now(target) } else { self.now(target) };
            let piece = &self.pieces[number];
            let old = piece.old as usize..(piece.old + piece.length) as usize;
            match &piece.kind {
                Kind::Same => written.extend_from_slice(code.get(old)?),
                Kind::Changed(bytes) => written.extend_from_slice(bytes),
                Kind::Relative { field, target } => {
                    let start = written.len() + field;
                    written.extend_from_slice(code.get(old)?);
                    written.get_mut(start..start + 4)?.copy_from_slice(&to(*target).wrapping_sub(behind).to_le_bytes());
                }
                &Kind::Branch { condition, size, to } => {
                    let ways = self.ways(number, to);
                    let [over, passing] = ways.map(|over| (over as i32).to_le_bytes());
                    match (size, condition) {
                        (Size::Nothing, _) => {}
                        (Size::Short, ALWAYS) => written.extend([SHORT_JUMP, over[0]]),
                        (Size::Short, _) => written.extend([BRANCH_SHORT | condition, over[0]]),
                        (Size::Near, ALWAYS) => written.push(JUMP_NEAR),
                        (Size::Near, _) => written.extend([0x0f, BRANCH_NEAR | condition]),
                    }
                    let displacement = if size == Size::Near { over.len() } else { 1 };
                    if size == Size::Near {
                        written.extend(over);
                    }
                    if let Leads::Polls { word, .. } = to
                        && one_byte_leads(size, ways)
                    {
                        back_edges.push(BackEdge { at: behind - displacement as u32, polls: over[0], passes: passing[0], word });
                    }
                }
                Kind::Table(targets) => {
                    for &target in *targets {
                        written.extend(to(target).wrapping_sub(at).to_le_bytes());
                    }
                }
            }
        }
        debug_assert_eq!(written.len() as u32, self.end_now);
        if !tail.is_empty() {
            written.resize(tail_at as usize, 0xcc);
            written.extend_from_slice(tail);
        }
        let pieces = self
            .pieces
            .iter()
            .zip(&self.at)
            .filter(|(piece, _)| piece.length != 0)
            .map(|(piece, &new)| (piece.old, piece.length, new))
            .collect();
        *code = written;
        Some(Compacted { map: Map { pieces, end: (self.end, self.end_now), tail_at }, back_edges, lead_in })
    }
}

/// Whether one byte of a branch leads it one way and the other.
fn one_byte_leads(size: Size, ways: [i64; 2]) -> bool {
    size == Size::Short || same_but_low(ways)
}

/// Whether displacements of up to so much lead so far.
fn reaches(ways: [i64; 2], reach: i64) -> bool {
    ways.iter().all(|over| (-reach - 1..=reach).contains(over))
}

/// Whether two displacements of four bytes differ in their lowest alone.
fn same_but_low(ways: [i64; 2]) -> bool {
    ways[0] >> 8 == ways[1] >> 8
}

impl Piece<'_> {
    fn size(&self) -> Option<Size> {
        match self.kind {
            Kind::Branch { size, .. } => Some(size),
            _ => None,
        }
    }

    /// Bytes now.
    fn bytes(&self) -> u32 {
        match &self.kind {
            Kind::Same | Kind::Relative { .. } => self.length,
            Kind::Changed(bytes) => bytes.len() as u32,
            Kind::Branch { size: Size::Nothing, .. } => 0,
            Kind::Branch { size: Size::Short, .. } => 2,
            Kind::Branch { condition, .. } => 5 + u32::from(*condition != ALWAYS),
            Kind::Table(targets) => 4 * targets.len() as u32,
        }
    }
}

/// An instruction with its constant in one byte, if it is one of the operations that can and the constant one that does.
fn shorter(bytes: &[u8], instruction: &Instruction) -> Option<Vec<u8>> {
    use Code::*;
    let of_rax = matches!(
        instruction.code(),
        Add_EAX_imm32
            | Add_RAX_imm32
            | Or_EAX_imm32
            | Or_RAX_imm32
            | And_EAX_imm32
            | And_RAX_imm32
            | Sub_EAX_imm32
            | Sub_RAX_imm32
            | Xor_EAX_imm32
            | Xor_RAX_imm32
            | Cmp_EAX_imm32
            | Cmp_RAX_imm32
    );
    let of_any = matches!(
        instruction.code(),
        Add_rm32_imm32
            | Add_rm64_imm32
            | Or_rm32_imm32
            | Or_rm64_imm32
            | And_rm32_imm32
            | And_rm64_imm32
            | Sub_rm32_imm32
            | Sub_rm64_imm32
            | Xor_rm32_imm32
            | Xor_rm64_imm32
            | Cmp_rm32_imm32
            | Cmp_rm64_imm32
    );
    if !(of_rax || of_any) {
        return None;
    }
    let (before, constant) = bytes.split_last_chunk::<4>()?;
    let constant = i8::try_from(i32::from_le_bytes(*constant)).ok()?;
    let opcode = usize::from(before[0] & 0xf0 == 0x40);
    let mut short = before.to_vec();
    match (of_rax, before.get(opcode)?) {
        (true, of) => {
            let operation = of & 0x38;
            short[opcode] = 0x83;
            short.push(0xc0 | operation);
        }
        (false, 0x81) => short[opcode] = 0x83,
        // Another prefix.
        (false, _) => return None,
    }
    short.push(constant as u8);
    Some(short)
}
