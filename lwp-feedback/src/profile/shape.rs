//! What the engine can tell the policy about a function's code without running it: loops, the arms of branches, what a parameter decides.
//!
//! The policy knows no bytecode; these are the inputs of its formulas that records cannot give (how much runs when both arms of a branch run, what folds
//! when a parameter is known). Operators are counted as the bytecode counts them; the policy prices them.

use serde::{Deserialize, Serialize};

/// One function's code as the policy sees it. All lists ascend by offset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionShape {
    /// Function index.
    pub func: u32,
    /// Bytes of its body.
    pub body_bytes: u32,
    /// Parameters that decide something, by number; the others are absent.
    pub params: Vec<ParamShape>,
    /// Loops, outer before inner.
    pub loops: Vec<LoopShape>,
    /// Two-way branches.
    pub branches: Vec<BranchShape>,
    /// Selects.
    pub selects: Vec<SelectShape>,
    /// Switches.
    pub switches: Vec<SwitchShape>,
}

/// What a known value of a parameter would fold. Each count is weighted: times 8 for each loop around it, at most 8^3.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParamShape {
    /// Number of the parameter.
    pub param: u32,
    /// Branches and selects whose condition only it decides.
    pub branches: u32,
    /// Loop exits that compare something with it, or count it down: a known value makes the trip count known.
    pub loop_bounds: u32,
    /// Switches whose index only it decides.
    pub switches: u32,
    /// Indirect calls whose index only it decides: a known value makes the callee known.
    pub calls: u32,
}

impl ParamShape {
    /// Whether a known value folds anything.
    pub fn unlocks(&self) -> bool {
        self.branches > 0 || self.loop_bounds > 0 || self.switches > 0 || self.calls > 0
    }
}

/// A loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoopShape {
    /// Offset of its opcode.
    pub offset: u32,
    /// Offset of its end.
    pub end: u32,
    /// Operators in its body, those of inner loops included.
    pub operators: u32,
    /// Loops around it.
    pub depth: u32,
    /// Whether a loop stands in it.
    pub has_loop: bool,
    /// Whether a call stands in it.
    pub has_call: bool,
}

/// A two-way branch with the code that runs on one side only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BranchShape {
    /// Offset of the operator.
    pub offset: u32,
    /// What runs when its condition is true.
    pub taken: ArmShape,
    /// What runs when it is false.
    pub not_taken: ArmShape,
    /// Whether it goes back to a loop's header.
    pub back_edge: bool,
}

/// One side of a branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ArmShape {
    /// Operators.
    pub operators: u32,
    /// Loads among them.
    pub loads: u32,
    /// Stores among them.
    pub stores: u32,
    /// Why it cannot run unconditionally, if so.
    pub obstacle: Option<ArmObstacle>,
}

/// What keeps a side of a branch from running when it should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArmObstacle {
    /// A call, whose effects nobody knows.
    Call,
    /// A loop, whose length nobody knows.
    Loop,
    /// It leaves by a branch of its own, or the code behind it does not join at one place.
    Leaves,
    /// It can trap other than by a memory access.
    Traps,
    /// An effect that cannot be selected away: growing, atomic, bulk or table operations.
    Effect,
}

impl std::fmt::Display for ArmObstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            ArmObstacle::Call => "a call",
            ArmObstacle::Loop => "a loop",
            ArmObstacle::Leaves => "a branch of its own",
            ArmObstacle::Traps => "an operator that may trap",
            ArmObstacle::Effect => "an effect that cannot be selected",
        })
    }
}

/// A select.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectShape {
    /// Offset of the operator.
    pub offset: u32,
    /// Whether it stands in a loop whose next round reads its result.
    pub loop_carried: bool,
}

/// A `br_table`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SwitchShape {
    /// Offset of the operator.
    pub offset: u32,
    /// Where each index goes, the default's place last: equal numbers are one place, and mean nothing else.
    pub targets: Vec<u32>,
}

impl SwitchShape {
    /// Where an index goes.
    pub fn target(&self, index: u32) -> Option<u32> {
        self.targets.get(index as usize).or(self.targets.last()).copied()
    }
}

/// What the module's producer said before anything ran: the `metadata.code.*` sections. Advice like everything else here.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionPrior {
    /// Function index.
    pub func: u32,
    /// Branches: offset of the operator, and whether its condition is mostly true.
    pub branches: Vec<(u32, bool)>,
    /// Indirect calls: offset of the operator, callees with their share in percent.
    pub call_targets: Vec<(u32, Vec<(u32, u32)>)>,
    /// Operators: offset, and the byte of `instr_freq` (32: once a call; each step doubles; 0 never optimize, 127 always).
    pub frequencies: Vec<(u32, u8)>,
}

impl FunctionShape {
    /// The innermost loop around an operator.
    pub fn loop_around(&self, offset: u32) -> Option<&LoopShape> {
        self.loops.iter().filter(|it| it.offset < offset && offset < it.end).max_by_key(|it| it.depth)
    }

    /// The switch at an offset.
    pub fn switch(&self, offset: u32) -> Option<&SwitchShape> {
        self.switches.iter().find(|it| it.offset == offset)
    }

    /// The branch at an offset.
    pub fn branch(&self, offset: u32) -> Option<&BranchShape> {
        self.branches.iter().find(|it| it.offset == offset)
    }
}
