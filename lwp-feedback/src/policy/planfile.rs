//! Plans from a file, in place of those made from records.
//!
//! ```
//! # use lwp_feedback::policy::PlanFile;
//! let file = PlanFile::parse(r#"{"plans": [{"func": 3, "decisions": [{"layout": {"offset": 52, "likely": true}}]}]}"#)?;
//! assert_eq!(file.plan(7, 3).unwrap().decisions[0].offset(), 52);
//! assert!(file.plan(7, 4).is_none());
//! # Ok::<(), String>(())
//! ```

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Decision, Plan};
use crate::codemap::FunctionId;

/// Plans of one module's functions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Hash of the module they are for, in JSON hexadecimal; without it they are taken for any.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::hashtext::option")]
    pub module: Option<u64>,
    /// One entry a function.
    pub plans: Vec<FilePlan>,
}

/// One function's plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilePlan {
    /// Function index.
    pub func: u32,
    /// What to do.
    pub decisions: Vec<Decision>,
}

impl PlanFile {
    /// Reads JSON. `Err` says what is wrong and where, on one line.
    pub fn parse(json: &str) -> Result<PlanFile, String> {
        // (serde would read a list as the fields of an object in turn, and complain of the first)
        if !json.trim_start().starts_with('{') {
            return Err(r#"expected an object such as {"plans": []}"#.into());
        }
        let file: PlanFile = serde_json::from_str(json).map_err(|error| error.to_string().replace('\n', " "))?;
        let mut named = BTreeSet::new();
        match file.plans.iter().find(|plan| !named.insert(plan.func)) {
            Some(twice) => Err(format!("two plans for function {}: its decisions belong into one", twice.func)),
            None => Ok(file),
        }
    }

    /// `Ok` if it may be taken for this module.
    pub fn check(&self, module: u64) -> Result<(), String> {
        match self.module {
            Some(found) if found != module => Err(format!("for module {found:016x}, not {module:016x}")),
            _ => Ok(()),
        }
    }

    /// The plan of a function, if the file has one for it.
    pub fn plan(&self, module: u64, func: u32) -> Option<Plan> {
        self.check(module).ok()?;
        let decisions = self.plans.iter().find(|plan| plan.func == func)?.decisions.clone();
        Some(Plan { function: FunctionId { module, func }, decisions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_is_named_by_digits_and_may_be_a_number() {
        let file = PlanFile { module: Some(0xd139_8066_d1b9_9bb1), plans: Vec::new() };
        let text = serde_json::to_string(&file).unwrap();
        assert_eq!(text, r#"{"module":"d1398066d1b99bb1","plans":[]}"#);
        assert_eq!(PlanFile::parse(&text).as_ref(), Ok(&file));
        assert_eq!(PlanFile::parse(r#"{"module":15076222406693067697,"plans":[]}"#).as_ref(), Ok(&file));
        assert!(file.check(0xd139_8066_d1b9_9bb1).is_ok() && file.check(1).unwrap_err().contains("d1398066d1b99bb1"));
        assert!(PlanFile::parse(r#"{"module":"x","plans":[]}"#).unwrap_err().contains("`x` is no hash"));
        assert_eq!(PlanFile::parse(r#"{"plans":[]}"#).unwrap().module, None);
    }

    #[test]
    fn what_is_no_object_is_said_to_be_none() {
        for text in ["[[[[", "[]", "", "null", "7"] {
            assert!(PlanFile::parse(text).unwrap_err().starts_with("expected an object"), "{text}");
        }
        assert!(PlanFile::parse("{").unwrap_err().contains("EOF"));
    }

    #[test]
    fn a_misspelled_key_is_named() {
        let error = |json: &str| PlanFile::parse(json).unwrap_err();
        assert!(error(r#"{"modul":"1","plans":[]}"#).contains("unknown field `modul`"));
        assert!(error(r#"{"plans":[{"func":1,"name":"f","decisions":[]}]}"#).contains("unknown field `name`"));
        let inline = r#"{"plans":[{"func":1,"decisions":[{"inline":{"offset":9,"targets":[{"callee":2}],"sideexit":true}}]}]}"#;
        assert!(error(inline).contains("unknown field `sideexit`"));
        assert!(PlanFile::parse(&inline.replace("sideexit", "side_exit")).is_ok());
    }

    #[test]
    fn a_function_has_one_plan() {
        let plans = |funcs: &[u32]| {
            let each: Vec<String> = funcs.iter().map(|func| format!(r#"{{"func":{func},"decisions":[]}}"#)).collect();
            PlanFile::parse(&format!(r#"{{"plans":[{}]}}"#, each.join(",")))
        };
        assert_eq!(plans(&[2, 1]).unwrap().plans.len(), 2);
        assert!(plans(&[2, 1, 2]).unwrap_err().contains("two plans for function 2"));
    }
}
