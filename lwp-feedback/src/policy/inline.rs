//! Guarded inlining of indirect calls: a `CallTarget` site whose records show dominant callees.
//!
//! Sites compete for the function's inlining budget by their number of samples. Counts are taken without their possible overestimate,
//! so noise cannot make a callee dominant.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Budgets, Decision, Refusal, RefusalReason};
use crate::class::SiteClass;
use crate::codemap::FunctionId;
use crate::profile::{FunctionFacts, FunctionSnapshot, SiteSnapshot};

/// Most targets at one site.
pub const MAX_TARGETS: usize = 4;

/// Inline these callees at this indirect call, tested in this order; the generic call stays behind the last guard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InlineDecision {
    /// Offset of the call.
    pub offset: u32,
    /// Callees, most frequent first; 1 to [`MAX_TARGETS`].
    pub targets: Vec<InlineTarget>,
    /// Samples of the site.
    pub samples: u64,
    /// Share of the samples that the targets hold together, 0 to 1.
    pub share: f64,
    /// Share that was needed.
    pub needed_share: f64,
    /// Samples that were needed.
    pub needed_samples: u64,
    /// Whether code is left for the interpreter where none of the targets is called, instead of calling what is: then what follows can rely on
    /// the targets.
    #[serde(default)]
    pub exit: bool,
    /// With `exit`: whether the test stays at the call even where the loop around it cannot change the callee.
    #[serde(default)]
    pub in_place: bool,
}

/// One callee to inline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InlineTarget {
    /// Function index.
    pub callee: u32,
    /// Share of the site's samples, 0 to 1.
    pub share: f64,
    /// Samples that are certain.
    pub samples: u64,
    /// Bytes of its body.
    pub body_bytes: u32,
}

impl fmt::Display for InlineDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inline at {:#x}:", self.offset)?;
        for target in &self.targets {
            write!(
                f,
                " callee {} ({:.1} %, {} of {} samples, {} bytes)",
                target.callee,
                target.share * 100.0,
                target.samples,
                self.samples,
                target.body_bytes
            )?;
        }
        write!(f, "; together {:.1} %, needed {:.1} % of at least {}", self.share * 100.0, self.needed_share * 100.0, self.needed_samples)?;
        f.write_str(match (self.exit, self.in_place) {
            (false, _) => "",
            (true, false) => "; leaves where it fails",
            (true, true) => "; leaves where it fails, tested at the call",
        })
    }
}

pub(super) fn decide(
    id: FunctionId,
    function: &FunctionSnapshot,
    facts: &BTreeMap<u32, &FunctionFacts>,
    budgets: &Budgets,
    refusals: &mut Vec<Refusal>,
) -> Vec<Decision> {
    let mut sites: Vec<&SiteSnapshot> = function.sites.iter().filter(|site| site.key.class == SiteClass::CallTarget).collect();
    sites.sort_by_key(|site| (Reverse(site.total), site.key));
    let mut left = budgets.max_inlined_bytes;
    let mut decisions = Vec::new();
    for site in sites {
        match decide_site(id, site, facts, budgets, left) {
            Ok(decision) => {
                left -= decision.targets.iter().map(|target| target.body_bytes).sum::<u32>();
                decisions.push(Decision::Inline(decision));
            }
            Err(reason) => refusals.push(Refusal { function: id, offset: site.key.offset, class: site.key.class, reason }),
        }
    }
    decisions
}

fn decide_site(
    id: FunctionId,
    site: &SiteSnapshot,
    facts: &BTreeMap<u32, &FunctionFacts>,
    budgets: &Budgets,
    left: u32,
) -> Result<InlineDecision, RefusalReason> {
    let samples = site.total;
    if samples < budgets.min_samples || samples == 0 {
        return Err(RefusalReason::TooFewSamples { samples, needed: budgets.min_samples });
    }
    let mut targets = Vec::new();
    let mut share = 0.0;
    for value in site.values.iter().take(budgets.max_targets.clamp(1, MAX_TARGETS)) {
        let target_share = value.certain() as f64 / samples as f64;
        let enough = !targets.is_empty() && share >= budgets.min_share;
        if enough || target_share < budgets.min_target_share {
            break;
        }
        share += target_share;
        targets.push((value.value, target_share, value.certain()));
    }
    if targets.is_empty() || share < budgets.min_share {
        return Err(RefusalReason::NoDominantTarget { share, needed: budgets.min_share, samples });
    }
    let targets = targets
        .into_iter()
        .map(|(value, share, samples)| {
            let facts = u32::try_from(value).ok().and_then(|callee| facts.get(&callee)).ok_or(RefusalReason::UnknownCallee { value })?;
            let callee = facts.func;
            if !facts.inlinable || callee == id.func {
                return Err(RefusalReason::CalleeNotInlinable { callee, why: facts.reason });
            }
            if facts.body_bytes > budgets.max_callee_bytes {
                return Err(RefusalReason::CalleeTooLarge { callee, bytes: facts.body_bytes, limit: budgets.max_callee_bytes });
            }
            Ok(InlineTarget { callee, share, samples, body_bytes: facts.body_bytes })
        })
        .collect::<Result<Vec<_>, _>>()?;
    let bytes = targets.iter().map(|target| target.body_bytes).fold(0, u32::saturating_add);
    if bytes > left {
        return Err(RefusalReason::BudgetExhausted { bytes, left });
    }
    Ok(InlineDecision {
        offset: site.key.offset,
        targets,
        samples,
        share,
        needed_share: budgets.min_share,
        needed_samples: budgets.min_samples,
        exit: share >= budgets.min_exit_share,
        in_place: false,
    })
}
