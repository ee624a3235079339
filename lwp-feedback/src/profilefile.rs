//! A profile for the next process: what was seen of one module, and the plans that were in force when it was saved.
//!
//! ```text
//! backedge-profile 1 <module hash, 16 hexadecimal digits> <CRC-32 of the rest, 8 hexadecimal digits>\n
//! { "values": "targets", "snapshot": {…}, "compiled": [{"func": 3, "loop_offset": null, "decisions": […]}, …],
//!   "lost": [{"func": 3, "decision": {…}}, …] }\n
//! ```
//! A profile is advice like a plan: a wrong one costs time. Still, one of another module is refused and a damaged one is not read: what is not
//! about this program should not steer it. Values that a guest computed are kept only on request ([`RecordValues`]), and files are readable by
//! their owner alone.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::class::SiteClass;
use crate::policy::Decision;
use crate::profile::{SiteSnapshot, Snapshot};
use crate::replace::replace;

const MAGIC: &str = "backedge-profile";
/// Changes when a field changes its meaning.
const VERSION: u32 = 1;

/// Which values of the guest a saved profile holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RecordValues {
    /// Call targets and switch indices: they name places in the code. No parameters, lengths or addresses, and no plan that holds one.
    #[default]
    Targets,
    /// All.
    All,
}

/// A profile of one module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedProfile {
    /// Hash of the module.
    #[serde(skip)]
    pub module: u64,
    /// Which values are in it.
    pub values: RecordValues,
    /// What was seen; without facts, shapes and priors, which the module itself gives.
    pub snapshot: Snapshot,
    /// Optimized versions in force, hottest function first.
    pub compiled: Vec<SavedVersion>,
    /// Decisions that trials took back: not tried again unless the profile is another one then.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<SavedLoss>,
}

/// A decision that a trial took back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedLoss {
    /// Function index.
    pub func: u32,
    /// What, with the numbers that had led to it.
    pub decision: Decision,
}

/// One optimized version.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedVersion {
    /// Function index.
    pub func: u32,
    /// Offset of the loop it enters at; `None` for the function itself.
    pub loop_offset: Option<u32>,
    /// Its plan.
    pub decisions: Vec<Decision>,
}

/// Why a profile is not used.
#[derive(Debug, thiserror::Error)]
pub enum ProfileFileError {
    /// Something else.
    #[error("not a backedge profile")]
    NotAProfile,
    /// Of an older or newer backedge.
    #[error("a profile of format {found}, this is format {VERSION}")]
    Stale {
        /// Its format.
        found: String,
    },
    /// Of another module, or another build of it.
    #[error("a profile of module {found:016x}, this is module {expected:016x}")]
    Foreign {
        /// The module it is of.
        found: u64,
        /// The module it was to be used for.
        expected: u64,
    },
    /// Cut off or changed.
    #[error("damaged: {0}")]
    Damaged(String),
}

impl SavedProfile {
    /// A profile of a snapshot's module, with the values that may be kept.
    pub fn new(snapshot: Snapshot, compiled: Vec<SavedVersion>, lost: Vec<SavedLoss>, values: RecordValues) -> SavedProfile {
        let mut profile = SavedProfile { module: snapshot.module, values, snapshot, compiled, lost };
        profile.snapshot.facts.clear();
        profile.snapshot.shapes.clear();
        profile.snapshot.priors.clear();
        if values == RecordValues::Targets {
            for function in &mut profile.snapshot.functions {
                // How often a site was met says nothing of the values.
                let secret = |site: &&mut SiteSnapshot| !matches!(site.key.class, SiteClass::CallTarget | SiteClass::SwitchIndex);
                function.sites.iter_mut().filter(secret).for_each(|site| site.values.clear());
                // Strides are differences of addresses, not addresses.
            }
            for version in &mut profile.compiled {
                version.decisions.retain(|decision| !matches!(decision, Decision::Specialize(_)));
            }
            profile.lost.retain(|lost| !matches!(lost.decision, Decision::Specialize(_)));
        }
        profile
    }

    /// As the bytes of a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = serde_json::to_vec(self).expect("plain data with text keys is JSON");
        body.push(b'\n');
        let mut bytes = format!("{MAGIC} {VERSION} {:016x} {:08x}\n", self.module, crc32fast::hash(&body)).into_bytes();
        bytes.append(&mut body);
        bytes
    }

    /// Reads the bytes of a file.
    pub fn from_bytes(bytes: &[u8]) -> Result<SavedProfile, ProfileFileError> {
        if !bytes.starts_with(MAGIC.as_bytes()) {
            return Err(ProfileFileError::NotAProfile);
        }
        let cut = || ProfileFileError::Damaged("it is cut off".into());
        let end = bytes.iter().take(128).position(|&byte| byte == b'\n').ok_or_else(cut)?;
        let header = std::str::from_utf8(&bytes[..end]).map_err(|_| cut())?;
        let mut words = header.split(' ').skip(1);
        let mut word = || words.next().ok_or_else(cut);
        let version = word()?;
        if version != VERSION.to_string() {
            return Err(ProfileFileError::Stale { found: version.to_owned() });
        }
        let number = |text: &str| u64::from_str_radix(text, 16).map_err(|_| ProfileFileError::Damaged("its first line".into()));
        let (module, crc) = (number(word()?)?, number(word()?)?);
        let body = &bytes[end + 1..];
        if u64::from(crc32fast::hash(body)) != crc {
            return Err(ProfileFileError::Damaged("its checksum is wrong".into()));
        }
        let mut profile: SavedProfile =
            serde_json::from_slice(body).map_err(|error| ProfileFileError::Damaged(error.to_string().replace('\n', " ")))?;
        // One place says whose it is.
        profile.module = module;
        profile.snapshot.module = module;
        Ok(profile)
    }

    /// `Ok` if it is of this module.
    pub fn check(&self, module: u64) -> Result<(), ProfileFileError> {
        if self.module != module {
            return Err(ProfileFileError::Foreign { found: self.module, expected: module });
        }
        Ok(())
    }

    /// Writes a file that only its owner can read; what was there stays whole until the new one is. A link is followed, and what is no file (a pipe, `/dev/stdout`) is written to.
    pub fn save(&self, path: &Path) -> std::io::Result<()> {
        replace(path, 0o600, &self.to_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{LikelyDecision, SpecializeDecision};
    use crate::profile::{FunctionSnapshot, SiteKey, SiteSnapshot, ValueCount};

    fn profile(values: RecordValues) -> SavedProfile {
        let site = |class, value| SiteSnapshot {
            key: SiteKey { offset: 9, class, detail: 0 },
            total: 5,
            values: vec![ValueCount { value, count: 5, error: 0 }],
        };
        let function = FunctionSnapshot {
            func: 3,
            records: 10,
            sites: vec![site(SiteClass::CallTarget, 7), site(SiteClass::Param, 424_242)],
            ..FunctionSnapshot::default()
        };
        let snapshot = Snapshot { module: 0xabc, functions: vec![function], ..Snapshot::default() };
        let decisions = vec![
            Decision::Specialize(SpecializeDecision { offset: 1, parameter: 0, value: 424_242, because: Default::default() }),
            Decision::Layout(LikelyDecision { offset: 12, likely: true, because: Default::default() }),
        ];
        let lost = decisions.iter().map(|decision| SavedLoss { func: 3, decision: decision.clone() }).collect();
        SavedProfile::new(snapshot, vec![SavedVersion { func: 3, loop_offset: None, decisions }], lost, values)
    }

    #[test]
    fn a_profile_comes_back_as_it_was() {
        let all = profile(RecordValues::All);
        assert_eq!(SavedProfile::from_bytes(&all.to_bytes()).unwrap(), all);
        assert!(all.check(0xabc).is_ok() && matches!(all.check(1), Err(ProfileFileError::Foreign { found: 0xabc, expected: 1 })));
    }

    #[test]
    fn values_of_the_guest_stay_out_unless_asked_for() {
        let text = String::from_utf8(profile(RecordValues::Targets).to_bytes()).unwrap();
        assert!(!text.contains("424242") && text.contains("call-target"), "{text}");
        assert_eq!(profile(RecordValues::Targets).lost.len(), 1, "a layout tells no value");
        assert!(String::from_utf8(profile(RecordValues::All).to_bytes()).unwrap().contains("424242"));
    }

    #[test]
    fn what_is_not_whole_is_not_read() {
        let bytes = profile(RecordValues::All).to_bytes();
        for cut in 0..bytes.len() {
            assert!(SavedProfile::from_bytes(&bytes[..cut]).is_err(), "{cut}");
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            // The module's hash has no check of its own: it then names another module.
            if let Ok(profile) = SavedProfile::from_bytes(&damaged) {
                assert!(profile.check(0xabc).is_err(), "{at}");
            }
        }
        let stale = String::from_utf8(bytes).unwrap().replacen("backedge-profile 1 ", "backedge-profile 0 ", 1);
        assert_eq!(SavedProfile::from_bytes(stale.as_bytes()).unwrap_err().to_string(), "a profile of format 0, this is format 1");
        assert!(matches!(SavedProfile::from_bytes(b"\0asm"), Err(ProfileFileError::NotAProfile)));
    }

    #[test]
    fn files_are_their_owners() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p");
        std::fs::write(&path, "old").unwrap();
        profile(RecordValues::All).save(&path).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        // Names that others of the same number left, and several at once.
        let left: Vec<_> = (0..64).map(|number| folder.path().join(format!("p.{}.{number}.tmp", std::process::id()))).collect();
        left.iter().for_each(|left| std::fs::write(left, "left").unwrap());
        std::thread::scope(|scope| {
            let save = || (0..20).for_each(|_| profile(RecordValues::All).save(&path).unwrap());
            (0..4).for_each(|_| _ = scope.spawn(save));
        });
        assert!(left.iter().all(|left| std::fs::read_to_string(left).is_ok_and(|text| text == "left")));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 65);
        assert_eq!(SavedProfile::from_bytes(&std::fs::read(&path).unwrap()).unwrap(), profile(RecordValues::All));
        assert!(profile(RecordValues::All).save(&folder.path().join("no/such")).is_err());
    }
}
