//! Bodies that test something first and return: which part of them may stand at their calls, so that the call is made only where the test does not say so.
//!
//! Enters: a function of a module. Leaves: [`EarlyReturn`], two straight runs of operators. The base case of a recursion has this shape: half of `fib`'s calls do nothing else.
//! (*Partial inlining*: Suganuma, Yasue, Nakatani, "A region-based compilation technique for a Java just-in-time compiler", PLDI 2003.)

use smallvec::SmallVec;
use vm::module::Module;
use wasmparser::{BlockType, Operator, ValType};

use crate::inlinable::{is_load, is_store, locals};
use crate::translate::numeric::is_numeric;

/// Most bytes of both runs together. A guess: about the code of the call itself.
const MOST_BYTES: u32 = 40;
/// Largest body that is looked at, bytes; bounds the time.
const MOST_BODY_BYTES: usize = 2000;

/// One step of a straight run.
pub(crate) enum Step<'a> {
    /// An operator that is no control, at its byte offset.
    Operator(Operator<'a>, u32),
    /// A block begins: values below are not its own.
    Open,
    /// So many blocks are left; of the values since the first of them began only so many stay.
    Leave { blocks: usize, results: usize },
}

/// A body's beginning up to its first branch, and what is left to do where that branch leads straight to the return.
pub(crate) struct EarlyReturn<'a> {
    /// Types of the function's locals, parameters first.
    pub locals: Vec<ValType>,
    /// Leaves the branch's condition on the operand stack; changes nothing but that and the function's own locals.
    pub test: Vec<Step<'a>>,
    /// Byte offset of the branch.
    pub branch: u32,
    /// Whether the body returns early where the condition is not zero, else where it is.
    pub returns_if: bool,
    /// Leaves the function's results on top of the operand stack.
    pub rest: Vec<Step<'a>>,
    /// Bytes of both.
    pub bytes: u32,
}

/// What of a function's body, defined in the module, may stand at its calls: `None` if it does not begin with an early return.
pub(crate) fn early_return(module: &Module, function: u32) -> Option<EarlyReturn<'_>> {
    let index = module.defined(function)?;
    if module.bodies.get(index)?.len() > MOST_BODY_BYTES {
        return None;
    }
    let locals = locals(module, function).ok()?;
    let mut reader = module.body(function).get_operators_reader().ok()?;
    let begin = reader.original_position() as u32;
    let mut code = Code::default();
    let mut open = Opened::new();
    let mut test = Vec::new();
    // Nearly every body that has none shows it within a few operators: only the others are read to their end.
    let branch = loop {
        let (operator, offset) = reader.read_with_offset().ok()?;
        let offset = offset as u32;
        if offset - begin > MOST_BYTES {
            return None;
        }
        code.push(operator.clone(), offset);
        match operator {
            Operator::Block { blockty } => {
                open.push(Open { begin: code.operators.len() - 1, results: results(blockty)? });
                test.push(Step::Open);
            }
            Operator::BrIf { .. } | Operator::If { .. } => break code.operators.len() - 1,
            operator if is_pure(&operator) => test.push(Step::Operator(operator, offset)),
            _ => return None,
        }
    };
    while !reader.eof() {
        let (operator, offset) = reader.read_with_offset().ok()?;
        code.push(operator, offset as u32);
    }
    let (ref operator, test_end) = code.operators[branch];
    let most = MOST_BYTES - (test_end - begin);
    let (returns_if, (rest, bytes)) = match *operator {
        Operator::BrIf { relative_depth } => match code.straight(branch, Some(relative_depth), open.clone(), most) {
            Some(run) => (true, run),
            None => (false, code.straight(branch + 1, None, open, most)?),
        },
        Operator::If { blockty } => {
            let mut inside = open.clone();
            inside.push(Open { begin: branch, results: results(blockty)? });
            match (code.straight(branch + 1, None, inside.clone(), most), code.elses[branch]) {
                (Some(run), _) => (true, within(run)),
                (None, Some(otherwise)) => (false, within(code.straight(otherwise + 1, None, inside, most)?)),
                (None, None) => (false, code.straight(code.ends[branch] + 1, None, open, most)?),
            }
        }
        _ => return None,
    };
    Some(EarlyReturn { locals, test, branch: test_end, returns_if, rest, bytes: test_end - begin + bytes })
}

/// A run and its bytes.
type Run<'a> = (Vec<Step<'a>>, u32);

/// A run that begins within a block of its own.
fn within((mut steps, bytes): Run<'_>) -> Run<'_> {
    steps.insert(0, Step::Open);
    (steps, bytes)
}

/// A block that is open at some point of a straight run.
#[derive(Clone, Copy)]
struct Open {
    /// The index of the operator that begins it.
    begin: usize,
    results: usize,
}

type Opened = SmallVec<[Open; 4]>;

/// A body's operators with their byte offsets.
#[derive(Default)]
struct Code<'a> {
    operators: Vec<(Operator<'a>, u32)>,
    /// By index of an operator that opens a block: the index of the `end` that closes it.
    ends: Vec<usize>,
    /// By index of an `if`: the index of its `else`.
    elses: Vec<Option<usize>>,
    open: Vec<usize>,
}

impl<'a> Code<'a> {
    fn push(&mut self, operator: Operator<'a>, offset: u32) {
        let index = self.operators.len();
        match operator {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::Try { .. } | Operator::TryTable { .. } => {
                self.open.push(index)
            }
            Operator::Else => {
                let begin = *self.open.last().expect("validation matches if and else");
                self.elses[begin] = Some(index);
            }
            Operator::End | Operator::Delegate { .. } => {
                if let Some(begin) = self.open.pop() {
                    self.ends[begin] = index;
                }
            }
            _ => {}
        }
        self.operators.push((operator, offset));
        self.ends.push(0);
        self.elses.push(None);
    }

    /// The run from an operator to the function's return, if nothing but straight code is on the way. With `branch` it begins with a branch to that depth.
    fn straight(&self, mut at: usize, mut branch: Option<u32>, mut open: Opened, most: u32) -> Option<Run<'a>> {
        let mut steps = Vec::new();
        let mut bytes = 0;
        loop {
            if let Some(depth) = branch.take() {
                let Some(target) = open.len().checked_sub(depth as usize + 1) else { return Some((steps, bytes)) };
                steps.push(Step::Leave { blocks: depth as usize + 1, results: open[target].results });
                at = self.ends[open[target].begin] + 1;
                open.truncate(target);
                continue;
            }
            let (ref operator, offset) = self.operators[at];
            match *operator {
                Operator::Return => return Some((steps, bytes)),
                // The function's own end is a return too.
                Operator::End | Operator::Else => branch = Some(0),
                Operator::Br { relative_depth } => branch = Some(relative_depth),
                Operator::Block { blockty } => {
                    open.push(Open { begin: at, results: results(blockty)? });
                    steps.push(Step::Open);
                }
                _ if is_straight(operator) => {
                    bytes += self.operators[at + 1].1 - offset;
                    if bytes > most {
                        return None;
                    }
                    steps.push(Step::Operator(operator.clone(), offset));
                }
                _ => return None,
            }
            at += 1;
        }
    }
}

fn results(blockty: BlockType) -> Option<usize> {
    match blockty {
        BlockType::Empty => Some(0),
        BlockType::Type(_) => Some(1),
        BlockType::FuncType(_) => None,
    }
}

/// Whether an operator may be done once more by the body itself: it changes nothing but the operand stack and the function's own locals. It may trap.
fn is_pure(operator: &Operator<'_>) -> bool {
    use Operator::*;
    is_numeric(operator)
        || is_load(operator)
        || matches!(operator, LocalGet { .. } | LocalSet { .. } | LocalTee { .. } | GlobalGet { .. } | Drop | Select)
}

/// Whether an operator is neither control nor calls the engine, and may stand at a call.
fn is_straight(operator: &Operator<'_>) -> bool {
    is_pure(operator) || is_store(operator) || matches!(operator, Operator::GlobalSet { .. })
}
