//! Plans from a file, in place of those made from records.
//!
//! ```
//! # use lwp_feedback::policy::PlanFile;
//! let file = PlanFile::parse(r#"{"plans": [{"func": 3, "decisions": [{"layout": {"offset": 52, "likely": true}}]}]}"#)?;
//! assert_eq!(file.plan(7, 3).unwrap().decisions[0].offset(), 52);
//! assert!(file.plan(7, 4).is_none());
//! # Ok::<(), String>(())
//! ```

use serde::{Deserialize, Serialize};

use super::{Decision, Plan};
use crate::codemap::FunctionId;

/// Plans of one module's functions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlanFile {
    /// Hash of the module they are for; without it they are taken for any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<u64>,
    /// One entry a function; of two for the same function the first counts.
    pub plans: Vec<FilePlan>,
}

/// One function's plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilePlan {
    /// Function index.
    pub func: u32,
    /// What to do.
    pub decisions: Vec<Decision>,
}

impl PlanFile {
    /// Reads JSON. `Err` says what is wrong and where, on one line.
    pub fn parse(json: &str) -> Result<PlanFile, String> {
        serde_json::from_str(json).map_err(|error| error.to_string().replace('\n', " "))
    }

    /// The plan of a function, if the file has one for it.
    pub fn plan(&self, module: u64, func: u32) -> Option<Plan> {
        if self.module.is_some_and(|wanted| wanted != module) {
            return None;
        }
        let decisions = self.plans.iter().find(|plan| plan.func == func)?.decisions.clone();
        Some(Plan { function: FunctionId { module, func }, decisions })
    }
}
