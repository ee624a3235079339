//! Running a trace through the unit: `backedge lwp sim TRACE.json`.
//!
//! A trace is a JSON object: `control` (an LWPCB, [`ControlBlock`] or [`ControlBlock2007`]; BufferBase is chosen here), `switches`, and
//! `operations`, executed in order. The answer is text: the LWPCB afterwards, the records, and what each fault was.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::capabilities::{Capabilities, Capabilities2007};
use crate::convert::{ControlBlock, ControlBlock2007, record_from_2007};
use crate::layout::{LWPCB_BYTES, RECORD_BYTES, Record};
use crate::unit::memory::{FlatMemory, UserMemory};
use crate::unit::trace::{Branch, Load, Retired};
use crate::unit::{Architecture, LwpFault, Operand, Switches, TimeSource, Unit};

/// Which generation of the architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Generation {
    /// As built.
    #[default]
    #[serde(rename = "final")]
    Final,
    /// The proposal.
    #[serde(rename = "2007")]
    Proposal,
}

impl std::str::FromStr for Generation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "final" => Ok(Self::Final),
            "2007" => Ok(Self::Proposal),
            _ => Err(format!("generation \"{text}\": expected final or 2007")),
        }
    }
}

/// One thing the program does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "op", try_from = "Keys")]
pub enum Operation {
    /// An instruction retires, `times` times.
    Retire {
        /// It.
        #[serde(flatten)]
        retired: Retired,
        /// How often, 1 if not given.
        times: u32,
    },
    /// LWPINS.
    Lwpins(Programmed),
    /// LWPVAL.
    Lwpval(Programmed),
    /// LLWPCB of the trace's LWPCB, or of 0 with `off`.
    Llwpcb {
        /// End the session.
        off: bool,
    },
    /// SLWPCB.
    Slwpcb,
    /// Software moves the tail by so many records.
    Drain {
        /// How many.
        records: u32,
    },
}

/// The operations' names.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Name {
    Retire,
    Lwpins,
    Lwpval,
    Llwpcb,
    Slwpcb,
    Drain,
}

/// Every key that an operation may have: a misspelt one is found where it stands, which a tagged enum's buffer would hide.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    op: Name,
    ip: Option<u64>,
    len: Option<u8>,
    branch: Option<Branch>,
    loads: Option<Vec<Load>>,
    core_clocks: Option<u32>,
    ref_clocks: Option<u32>,
    cpl: Option<u8>,
    times: Option<u32>,
    data2: Option<u64>,
    data1: Option<u32>,
    imm: Option<u32>,
    off: Option<bool>,
    records: Option<u32>,
}

impl TryFrom<Keys> for Operation {
    type Error = String;

    fn try_from(mut keys: Keys) -> Result<Self, String> {
        let name = format!("{:?}", keys.op).to_lowercase();
        let missing = |key: &str| format!("operation `{name}` needs the key `{key}`");
        let operation = match keys.op {
            Name::Retire => Self::Retire {
                retired: Retired {
                    ip: keys.ip.take().ok_or_else(|| missing("ip"))?,
                    len: keys.len.take().ok_or_else(|| missing("len"))?,
                    branch: keys.branch.take(),
                    loads: keys.loads.take().unwrap_or_default(),
                    core_clocks: keys.core_clocks.take().unwrap_or_default(),
                    ref_clocks: keys.ref_clocks.take().unwrap_or_default(),
                    cpl: keys.cpl.take().unwrap_or(3),
                },
                times: keys.times.take().unwrap_or(1),
            },
            Name::Lwpins | Name::Lwpval => {
                let programmed = Programmed {
                    ip: keys.ip.take().unwrap_or_default(),
                    data2: keys.data2.take().unwrap_or_default(),
                    data1: keys.data1.take().unwrap_or_default(),
                    imm: keys.imm.take().unwrap_or_default(),
                };
                if matches!(keys.op, Name::Lwpins) { Self::Lwpins(programmed) } else { Self::Lwpval(programmed) }
            }
            Name::Llwpcb => Self::Llwpcb { off: keys.off.take().unwrap_or_default() },
            Name::Slwpcb => Self::Slwpcb,
            Name::Drain => Self::Drain { records: keys.records.take().ok_or_else(|| missing("records"))? },
        };
        // What the operation did not take is another one's.
        let left = [
            ("ip", keys.ip.is_some()),
            ("len", keys.len.is_some()),
            ("branch", keys.branch.is_some()),
            ("loads", keys.loads.is_some()),
            ("core_clocks", keys.core_clocks.is_some()),
            ("ref_clocks", keys.ref_clocks.is_some()),
            ("cpl", keys.cpl.is_some()),
            ("times", keys.times.is_some()),
            ("data2", keys.data2.is_some()),
            ("data1", keys.data1.is_some()),
            ("imm", keys.imm.is_some()),
            ("off", keys.off.is_some()),
            ("records", keys.records.is_some()),
        ];
        match left.iter().find(|(_, is_left)| *is_left) {
            Some((key, _)) => Err(format!("`{key}` is no key of operation `{name}`")),
            None => Ok(operation),
        }
    }
}

/// Operands of LWPINS and LWPVAL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Programmed {
    /// Address of the instruction.
    pub ip: u64,
    /// First operand.
    pub data2: u64,
    /// r/m32 operand.
    pub data1: u32,
    /// imm32.
    pub imm: u32,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Trace<C> {
    control: C,
    switches: Switches,
    core_id: u8,
    /// Time stamp of all records when PTSC is granted.
    time: u64,
    operations: Vec<Operation>,
}

impl<C: Default> Default for Trace<C> {
    fn default() -> Self {
        Self { control: C::default(), switches: Switches::default(), core_id: 0, time: 0, operations: Vec::new() }
    }
}

/// A trace that cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// Not a trace.
    #[error("the trace is malformed: {0}")]
    Json(#[from] serde_json::Error),
    /// A ring larger than 16 MiB.
    #[error("a ring of {0} bytes: at most 16 MiB are simulated")]
    RingTooLarge(u32),
}

const LWPCB: u64 = 0x1_0000;
const RING: u64 = 0x2_0000;

/// Runs a trace; the text is for people.
pub fn run(json: &str, generation: Generation) -> Result<String, SimError> {
    match generation {
        Generation::Final => {
            let mut trace: Trace<ControlBlock> = serde_json::from_str(json)?;
            trace.control.buffer_base = RING;
            let bytes = trace.control.to_bytes();
            let size = trace.control.buffer_bytes;
            let mut unit = unit(&bytes, size, Architecture::Final(Capabilities::UNIT), &trace)?;
            let mut out = execute(&mut unit, &trace.operations, 64, size);
            let mut after = [0; LWPCB_BYTES as usize];
            unit.memory().read(LWPCB, &mut after).expect("the simulated LWPCB is mapped");
            let block = ControlBlock::from_bytes(&after);
            let _ = writeln!(out, "lwpcb {}", serde_json::to_string_pretty(&block)?);
            list(&mut out, &mut unit, size, trace.control.head, block.head, Generation::Final);
            Ok(out)
        }
        Generation::Proposal => {
            let mut trace: Trace<ControlBlock2007> = serde_json::from_str(json)?;
            trace.control.buffer_base = RING;
            trace.control.selectors.resize(Capabilities2007::UNIT.max_events.into(), Default::default());
            let bytes = trace.control.to_bytes();
            let size = trace.control.buffer_bytes;
            let mut unit = unit(&bytes, size, Architecture::Proposal(Capabilities2007::UNIT), &trace)?;
            let mut out = execute(&mut unit, &trace.operations, 20, size);
            let mut after = vec![0; bytes.len()];
            unit.memory().read(LWPCB, &mut after).expect("the simulated LWPCB is mapped");
            let block = ControlBlock2007::from_bytes(&after).expect("as long as what was written");
            let _ = writeln!(out, "lwpcb {}", serde_json::to_string_pretty(&block)?);
            list(&mut out, &mut unit, size, trace.control.head, block.head, Generation::Proposal);
            Ok(out)
        }
    }
}

fn unit<C>(bytes: &[u8], size: u32, architecture: Architecture, trace: &Trace<C>) -> Result<Unit<FlatMemory>, SimError> {
    if size > 16 << 20 {
        return Err(SimError::RingTooLarge(size));
    }
    let mut memory = FlatMemory::new(LWPCB, (RING - LWPCB) as usize + size as usize);
    memory.write(LWPCB, bytes).expect("the simulated LWPCB is mapped");
    let mut unit = Unit::new(memory, architecture, trace.switches);
    unit.core_id = trace.core_id;
    unit.time = TimeSource::Fixed(trace.time);
    Ok(unit)
}

fn execute(unit: &mut Unit<FlatMemory>, operations: &[Operation], tail_at: u64, size: u32) -> String {
    let mut out = String::new();
    let mut fault = |index: usize, fault: LwpFault| _ = writeln!(out, "operation {index}: {fault}");
    if let Err(error) = unit.llwpcb(LWPCB) {
        fault(0, error);
    }
    for (index, operation) in operations.iter().enumerate() {
        let result = match operation {
            Operation::Retire { retired, times } => (0..*times).try_for_each(|_| unit.retire(retired).map(|_| ())),
            Operation::Lwpins(p) => unit.lwpins(p.ip, p.data2, Operand::Value(p.data1), p.imm).map(|_| ()),
            Operation::Lwpval(p) => unit.lwpval(p.ip, p.data2, Operand::Value(p.data1), p.imm).map(|_| ()),
            Operation::Llwpcb { off } => unit.llwpcb(if *off { 0 } else { LWPCB }).map(|_| ()),
            Operation::Slwpcb => unit.slwpcb().map(|_| ()),
            Operation::Drain { records } => {
                let memory = unit.memory();
                let tail = memory.load_u32(LWPCB + tail_at).expect("the simulated LWPCB is mapped");
                let moved = (u64::from(tail) + u64::from(*records) * u64::from(RECORD_BYTES)) % u64::from(size.max(1));
                memory.store_u32(LWPCB + tail_at, moved as u32).expect("the simulated LWPCB is mapped");
                Ok(())
            }
        };
        if let Err(error) = result {
            fault(index, error);
        }
    }
    if let Err(error) = unit.slwpcb() {
        fault(operations.len(), error);
    }
    out
}

/// Records in words, whose ids are the final generation's: those of 2007 are converted first.
fn list(out: &mut String, unit: &mut Unit<FlatMemory>, size: u32, from: u32, to: u32, generation: Generation) {
    let size = size / RECORD_BYTES * RECORD_BYTES;
    if size == 0 {
        return;
    }
    // As LLWPCB takes a head: where it faulted, the LWPCB still has what the trace gave.
    let slot = |offset: u32| if offset < size { offset / RECORD_BYTES * RECORD_BYTES } else { 0 };
    let (mut at, to) = (slot(from), slot(to));
    while at != to {
        let mut bytes = [0; 32];
        if unit.memory().read(RING + u64::from(at), &mut bytes).is_err() {
            return;
        }
        let stored = Record::from_bytes(&bytes);
        let record = match generation {
            Generation::Final => stored,
            // What has no counterpart is shown as it stands.
            Generation::Proposal => record_from_2007(&stored).unwrap_or(stored),
        };
        let _ = writeln!(out, "slot {:<5} {record}", at / RECORD_BYTES);
        at = (at + RECORD_BYTES) % size;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_runs_in_both_generations() {
        let operations = r#""operations": [
            {"op": "retire", "ip": 4096, "len": 2, "times": 9},
            {"op": "retire", "ip": 8192, "len": 2, "branch":
                {"kind": "jcc", "direct": true, "taken": true, "predicted": false, "prediction_valid": true, "target": 4096}},
            {"op": "lwpins", "ip": 1, "data2": 7}]"#;
        let text = run(
            &format!(
                r#"{{"control": {{"flags": 12, "buffer_bytes": 1024, "random_bits": 0, "buffer_base": 0, "head": 0, "missed_events": 0, "threshold": 0,
                "filters": 0, "base_ip": 0, "limit_ip": 0, "tail": 0, "user": [0, 0],
                "events": [[0,0],[9,9],[0,0],[0,0],[0,0],[0,0]]}}, {operations}}}"#
            ),
            Generation::Final,
        )
        .unwrap();
        assert!(text.contains("slot 0     instructions core 0   ip 0x2000\n"), "{text}");
        assert!(text.contains("slot 1     lwpins"), "{text}");
        let text = run(
            &format!(
                r#"{{"control": {{"flags": 0, "buffer_bytes": 1024, "random_bits": 0, "buffer_base": 0, "head": 0, "tail": 0, "missed_events": 0,
                "threshold": 0, "filters": 0, "selectors": [{{"event": 1, "interval": 5, "counter": 5}}]}}, {operations}}}"#
            ),
            Generation::Proposal,
        )
        .unwrap();
        assert!(text.contains("operation 2: invalid opcode"), "{text}");
        assert_eq!(text.matches("slot ").count(), 2, "{text}");
        assert!(matches!(run("7", Generation::Final), Err(SimError::Json(_))));
        assert!(run("{}", Generation::Final).unwrap().contains("general protection"));
    }

    #[test]
    fn a_head_that_is_no_offset_of_the_ring_ends_the_list() {
        for (trace, generation) in [
            (r#"{"control":{"buffer_bytes":64,"head":5}}"#, Generation::Final),
            (r#"{"control":{"buffer_bytes":1024,"head":5}}"#, Generation::Proposal),
            (r#"{"control":{"buffer_bytes":1024,"head":2055}}"#, Generation::Proposal),
        ] {
            let text = run(trace, generation).unwrap();
            assert_eq!(text.contains("general protection"), generation == Generation::Final, "{text}");
            assert!(text.contains("lwpcb {") && !text.contains("slot "), "{text}");
        }
    }

    #[test]
    fn a_misspelt_key_is_named_with_its_place() {
        let operation = |text: &str| format!("{{\"operations\": [{{\"op\": \"slwpcb\"}},\n  {text}]}}");
        let control = |text: &str| format!("{{\n\"control\": {{{text}}}}}");
        let load = r#"{"op": "retire", "ip": 1, "len": 1, "loads": [{"address": 1, "latencyy": 2, "latency": 1, "source": 3}]}"#;
        let branch = r#"{"op": "retire", "ip": 1, "len": 1, "branch": {"kind": "jcc", "kidn": 1}}"#;
        for (trace, key) in [
            ("{\n\"operation\": []}".to_owned(), "unknown field `operation`"),
            ("{\n\"switches\": {\"winer\": \"LowestId\"}}".to_owned(), "unknown field `winer`"),
            (control("\"flag\": 1"), "unknown field `flag`"),
            (operation(r#"{"op": "retire", "ip": 1, "len": 1, "tims": 3}"#), "unknown field `tims`"),
            (operation(load), "unknown field `latencyy`"),
            (operation(branch), "unknown field `kidn`"),
            (operation(r#"{"op": "lwpins", "data3": 1}"#), "unknown field `data3`"),
            (operation(r#"{"op": "lwpins", "records": 1}"#), "`records` is no key of operation `lwpins`"),
            (operation(r#"{"op": "retire", "ip": 1}"#), "operation `retire` needs the key `len`"),
            (operation(r#"{"op": "retired"}"#), "unknown variant `retired`"),
        ] {
            let error = run(&trace, Generation::Final).unwrap_err().to_string();
            assert!(error.contains(key) && error.contains("at line 2 column"), "{trace}: {error}");
        }
        for key in ["\"base_ip\": 1", "\"selectors\": [{\"event\": 1, \"interval\": 1, \"counter\": 1, \"random\": 1}]"] {
            let error = run(&control(key), Generation::Proposal).unwrap_err().to_string();
            assert!(error.contains("unknown field") && error.contains("at line 2 column"), "{key}: {error}");
        }
    }

    #[test]
    fn operations_are_read_as_they_are_written() {
        let retired = Retired {
            ip: 7,
            len: 2,
            cpl: 3,
            loads: vec![Load { address: 1, latency: 2, source: 3, misaligned_second_miss: true }],
            ..Retired::default()
        };
        for operation in [
            Operation::Retire { retired, times: 4 },
            Operation::Lwpins(Programmed { ip: 1, data2: 2, data1: 3, imm: 4 }),
            Operation::Lwpval(Programmed::default()),
            Operation::Llwpcb { off: true },
            Operation::Slwpcb,
            Operation::Drain { records: 9 },
        ] {
            let text = serde_json::to_string(&operation).unwrap();
            assert_eq!(serde_json::from_str::<Operation>(&text).unwrap(), operation, "{text}");
        }
    }
}
