//! What is not done, and why: a closed list of reasons, each with the numbers it compared.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::codemap::FunctionId;
use crate::profile::{ArmObstacle, NotInlinable};

/// An operator where a transformation does nothing, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Refusal {
    /// The function.
    pub function: FunctionId,
    /// Offset of the operator.
    pub offset: u32,
    /// The transformation's name.
    pub transformation: Cow<'static, str>,
    /// Of a parameter's specialization its number: all of a function have one offset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter: Option<u32>,
    /// Why.
    pub reason: RefusalReason,
}

impl Refusal {
    /// What is not done and where.
    pub fn title(&self) -> String {
        let parameter = self.parameter.map_or(String::new(), |parameter| format!(" parameter {parameter}"));
        format!("{}{parameter} at {:#x}", self.transformation, self.offset)
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "function {}: {} refused: {}", self.function.func, self.title(), self.reason)
    }
}

macro_rules! reasons {
    ($( $(#[$doc:meta])* $variant:ident $({ $( $(#[$field_doc:meta])* $field:ident: $ty:ty, )* })? = $name:literal; )*) => {
        /// Why an operator was refused. Shares are 0 to 1.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        #[non_exhaustive]
        pub enum RefusalReason { $( $(#[$doc])* $variant $({ $( $(#[$field_doc])* $field: $ty, )* })?, )* }

        impl RefusalReason {
            /// Names of all reasons.
            pub const NAMES: &'static [&'static str] = &[$( $name, )*];

            /// A stable name, to count by.
            pub fn name(&self) -> &'static str {
                match self { $( Self::$variant { .. } => $name, )* }
            }
        }
    };
}

reasons! {
    /// Not enough records.
    TooFewSamples {
        /// What there are.
        samples: u64,
        /// What is needed.
        needed: u64,
    } = "too-few-samples";
    /// A call's targets are spread.
    NoDominantTarget {
        /// Share of the best targets that may be taken.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Samples of the site.
        samples: u64,
    } = "no-dominant-target";
    /// The values are spread.
    NoDominantValue {
        /// Share of the best value.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Samples of the site.
        samples: u64,
    } = "no-dominant-value";
    /// An index of a `br_table` goes where many others go: which one it is does not say where the jump goes, and the processor predicts where.
    SharesTarget {
        /// The index.
        index: u32,
        /// Its share of what goes there.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Samples of the site.
        samples: u64,
    } = "shares-target";
    /// A condition goes both ways.
    NotLikely {
        /// Share of the more frequent way.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Samples of the condition.
        samples: u64,
    } = "not-likely";
    /// The processor predicts the branch: however it divides, it stays a branch.
    WellPredicted {
        /// Share mispredicted.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Predictions recorded.
        samples: u64,
    } = "well-predicted";
    /// Its data is near.
    RarelyMisses {
        /// Share that came from far away.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Accesses the records stand for.
        samples: u64,
    } = "rarely-misses";
    /// Misses were sampled, executions were not: nobody knows what share misses.
    ExecutionsUnknown {
        /// Misses sampled.
        misses: u64,
    } = "executions-unknown";
    /// Nobody can say where it will read next.
    AddressNotPredictable {
        /// Share of the most frequent stride.
        share: f64,
        /// Share that is needed.
        needed: f64,
        /// Pairs of addresses recorded.
        pairs: u64,
    } = "address-not-predictable";
    /// The dominant callee is too long.
    CalleeTooLarge {
        /// Function index.
        callee: u32,
        /// Its body.
        bytes: u32,
        /// The limit.
        limit: u32,
    } = "callee-too-large";
    /// The engine cannot inline the dominant callee.
    CalleeNotInlinable {
        /// Function index.
        callee: u32,
        /// Why; `None` if the engine gave no reason.
        why: Option<NotInlinable>,
    } = "callee-not-inlinable";
    /// The dominant value is no function that the engine gave facts of: another module's, or garbage.
    UnknownCallee {
        /// The value.
        value: u64,
    } = "unknown-callee";
    /// The compiler inlines the callee without being asked.
    InlinedAnyway {
        /// Function index.
        callee: u32,
    } = "inlined-anyway";
    /// A known value of the parameter folds nothing.
    UnlocksNothing {
        /// Number of the parameter.
        parameter: u32,
    } = "unlocks-nothing";
    /// A side of the branch cannot run when it should not.
    ArmNotConvertible {
        /// What stands in it.
        why: ArmObstacle,
    } = "arm-not-convertible";
    /// It goes back to a loop's header.
    BackEdge = "back-edge";
    /// No round of a loop waits for it.
    NotLoopCarried = "not-loop-carried";
    /// It stands in no loop.
    NotInLoop = "not-in-loop";
    /// The engine did not say what the code looks like.
    ShapeUnknown = "shape-unknown";
    /// What was predicted there is no `if` and no `br_if`: a return, an indirect call, or a test that the code makes for itself.
    NoBranch = "no-branch";
    /// The formula says that it costs more than it saves.
    DoesNotPay {
        /// Saved per execution, ns.
        saves_ns: f64,
        /// Added per execution, ns.
        costs_ns: f64,
        /// How many times the cost is needed.
        needed: f64,
        /// The formula with its numbers.
        formula: String,
    } = "does-not-pay";
    /// What it saved in all that was seen is nothing beside compiling and trying it.
    SavesTooLittle {
        /// Saved in all executions that records stand for, microseconds.
        us: f64,
        /// Needed.
        needed: f64,
    } = "saves-too-little";
    /// Another transformation changes the same operator and saves more.
    Superseded {
        /// Its name.
        by: String,
    } = "superseded";
    /// Its name is among those forbidden.
    Forbidden = "forbidden";
    /// The function takes in all the callees it may.
    BudgetExhausted {
        /// Bytes the site's callees need.
        bytes: u32,
        /// Bytes left.
        left: u32,
    } = "budget-exhausted";
    /// The function has grown as far as it may.
    FunctionGrowth {
        /// Bytes this would add.
        bytes: u32,
        /// Bytes left.
        left: u32,
    } = "function-growth";
    /// The module has grown as far as it may.
    ModuleGrowth {
        /// Bytes this would add.
        bytes: u32,
        /// Bytes left.
        left: u64,
    } = "module-growth";
    /// Compiling what is added would take too long.
    CompileTime {
        /// Estimate for this, ms.
        ms: f64,
        /// Time left, ms.
        left: f64,
    } = "compile-time";
    /// As many decisions of its kind as a function may have save more.
    TooMany {
        /// The limit.
        limit: u64,
    } = "too-many";
}

impl fmt::Display for RefusalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: &f64| share * 100.0;
        match self {
            Self::TooFewSamples { samples, needed } => write!(f, "{samples} samples, {needed} needed"),
            Self::NoDominantTarget { share, needed, samples } => {
                write!(f, "no dominant target: {:.1} % of {samples} samples, {:.1} % needed", percent(share), percent(needed))
            }
            Self::NoDominantValue { share, needed, samples } => {
                write!(f, "no dominant value: {:.1} % of {samples} samples, {:.1} % needed", percent(share), percent(needed))
            }
            Self::SharesTarget { index, share, needed, samples } => write!(
                f,
                "index {index} is {:.1} % of what goes to its target ({samples} samples), {:.1} % needed",
                percent(share),
                percent(needed)
            ),
            Self::NotLikely { share, needed, samples } => {
                write!(f, "goes both ways: {:.1} % of {samples} samples, {:.1} % needed", percent(share), percent(needed))
            }
            Self::WellPredicted { share, needed, samples } => {
                write!(f, "predicted: {:.2} % of {samples} mispredicted, {:.2} % needed", percent(share), percent(needed))
            }
            Self::RarelyMisses { share, needed, samples } => {
                write!(f, "near: {:.2} % of {samples} came from far away, {:.2} % needed", percent(share), percent(needed))
            }
            Self::ExecutionsUnknown { misses } => write!(f, "{misses} misses were sampled, of how many executions is not known"),
            Self::AddressNotPredictable { share, needed, pairs } => {
                write!(f, "no stride: {:.1} % of {pairs} address pairs, {:.1} % needed; not indirect", percent(share), percent(needed))
            }
            Self::CalleeTooLarge { callee, bytes, limit } => write!(f, "callee {callee} has {bytes} bytes, limit {limit}"),
            Self::CalleeNotInlinable { callee, why: Some(why) } => write!(f, "callee {callee} is not inlinable: {why}"),
            Self::CalleeNotInlinable { callee, why: None } => write!(f, "callee {callee} is not inlinable"),
            Self::InlinedAnyway { callee } => write!(f, "callee {callee} is inlined without being asked for"),
            Self::UnknownCallee { value } => write!(f, "value {value:#x} is no function of this module"),
            Self::UnlocksNothing { parameter } => write!(f, "a known parameter {parameter} folds nothing"),
            Self::ArmNotConvertible { why } => write!(f, "an arm has {why}"),
            Self::BackEdge => f.write_str("it goes back to a loop's header"),
            Self::NotLoopCarried => f.write_str("no round of a loop waits for it"),
            Self::NotInLoop => f.write_str("it stands in no loop"),
            Self::NoBranch => f.write_str("what was predicted there is no `if` and no `br_if`"),
            Self::ShapeUnknown => f.write_str("the engine did not say what the code there looks like"),
            Self::DoesNotPay { saves_ns, costs_ns, needed, formula } => {
                write!(f, "does not pay: saves {saves_ns:.2} ns, costs {costs_ns:.2} ns, {needed:.2} times needed ({formula})")
            }
            Self::SavesTooLittle { us, needed } => write!(f, "would have saved {us:.1} us in all that was seen, {needed:.1} needed"),
            Self::Superseded { by } => write!(f, "{by} saves more at the same operator"),
            Self::Forbidden => f.write_str("forbidden"),
            Self::BudgetExhausted { bytes, left } => write!(f, "callees need {bytes} bytes, {left} left in this function"),
            Self::FunctionGrowth { bytes, left } => write!(f, "adds {bytes} bytes, {left} left in this function"),
            Self::ModuleGrowth { bytes, left } => write!(f, "adds {bytes} bytes, {left} left in the module"),
            Self::CompileTime { ms, left } => write!(f, "takes {ms:.1} ms to compile, {left:.1} ms left"),
            Self::TooMany { limit } => write!(f, "{limit} others of its kind in this function save more"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_parameter_is_named() {
        let refusal = |parameter| Refusal {
            function: FunctionId { module: 1, func: 4 },
            offset: 16,
            transformation: "specialize".into(),
            parameter,
            reason: RefusalReason::TooFewSamples { samples: 3, needed: 64 },
        };
        assert_eq!(refusal(Some(2)).to_string(), "function 4: specialize parameter 2 at 0x10 refused: 3 samples, 64 needed");
        assert_eq!(refusal(None).title(), "specialize at 0x10");
    }
}
