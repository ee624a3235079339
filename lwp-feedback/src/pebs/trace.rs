//! Experiments as text: a machine, cases that vary it, and the instructions that retire. What `backedge pebs run` runs.
//!
//! ```text
//! title  15-5: a PEBS interrupt
//! mode   protected                      # or long: names the registers in the output
//! microarchitecture westmere            # or core2
//! ds     0x3ff000                       # management area; buffers: base, records
//! bts    0x400000 12
//! pebs   0x400400 10
//! reset  0 0xffffffff
//! handler each                          # or first: if/else-if
//! register RSP 0x7fff0
//! case   trap  capabilities=0x145       # variables of the case
//! program
//! 20b00+2 wrmsr IA32_PMC0 0xffffffff    # ADDRESS+BYTES INSTRUCTION
//! 20b02+5 mov eax, 1
//! 20b07+2 jmp 20b09
//! 20b09+2 load al, [ebx] value=0x74 latency=6 source=0
//! ```
//!
//! `$name` stands for a variable of the case. A line that begins with `#|` is what the experiment prints.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::consumer::pebs_records;
use super::detect::{Processor, Unavailable};
use super::ds::{Buffer, DsArea};
use super::handler::{Found, Handler, HandlerKind};
use super::msr;
use super::record::DataSource;
use super::registers::{Register, Registers};
use super::unit::{Branch, Cause, Interrupt, Load, Microarchitecture, Retired, Unit, UnitError};
use crate::unit::memory::FlatMemory;

/// Why an experiment did not run.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// Nothing to run.
    #[error("no experiment: expected a line `program` with operations behind it")]
    NoProgram,
    /// The text.
    #[error("line {line}: {what}")]
    Line {
        /// From 1.
        line: usize,
        /// What was expected and found.
        what: String,
    },
    /// The machine has no PEBS.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A write or instruction was refused.
    #[error("line {line}: {error}")]
    Unit {
        /// From 1.
        line: usize,
        /// What the unit said.
        error: UnitError,
    },
}

/// Runs an experiment and returns what it prints. `handler` takes the place of the trace's.
pub fn run(text: &str, handler: Option<HandlerKind>) -> Result<String, TraceError> {
    let mut experiment = Experiment::parse(text)?;
    if let Some(handler) = handler {
        experiment.handler = handler;
    }
    let mut out = format!("{}\n", experiment.title);
    for case in &experiment.cases {
        experiment.run_case(case, &mut out)?;
    }
    Ok(out)
}

/// What the `#|` lines of a trace say it prints.
pub fn expected(text: &str) -> String {
    text.lines()
        .filter_map(|line| line.strip_prefix("#|"))
        .fold(String::new(), |all, line| all + line.strip_prefix(' ').unwrap_or(line) + "\n")
}

struct Experiment<'a> {
    title: &'a str,
    long: bool,
    microarchitecture: Microarchitecture,
    area: u64,
    bts: (u64, u64),
    pebs: (u64, u64),
    resets: [u64; 4],
    assist_delay: u32,
    handler: HandlerKind,
    registers: Registers,
    cases: Vec<Case<'a>>,
    program: Vec<(usize, &'a str)>,
}

struct Case<'a> {
    name: &'a str,
    variables: BTreeMap<&'a str, &'a str>,
}

/// Bytes of memory from the DS area on.
const MEMORY_BYTES: usize = 1 << 16;

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn wrong(line: usize, what: impl Into<String>) -> TraceError {
    TraceError::Line { line, what: what.into() }
}

fn numbers<const N: usize>(line: usize, words: &[&str]) -> Result<[u64; N], TraceError> {
    let values: Option<Vec<u64>> = words.iter().map(|word| number(word)).collect();
    values
        .and_then(|values| values.try_into().ok())
        .ok_or_else(|| wrong(line, format!("{N} numbers expected, found `{}`", words.join(" "))))
}

impl<'a> Experiment<'a> {
    fn parse(text: &'a str) -> Result<Self, TraceError> {
        let mut all = Self {
            title: "",
            long: false,
            microarchitecture: Microarchitecture::Westmere,
            area: 0,
            bts: (0, 0),
            pebs: (0, 0),
            resets: [0; 4],
            assist_delay: 0,
            handler: HandlerKind::EachCause,
            registers: Registers::default(),
            cases: Vec::new(),
            program: Vec::new(),
        };
        let mut in_program = false;
        for (index, whole) in text.lines().enumerate() {
            let line = index + 1;
            let body = whole.split('#').next().unwrap_or_default().trim();
            if body.is_empty() {
                continue;
            }
            if in_program {
                all.program.push((line, body));
                continue;
            }
            let (key, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
            let rest = rest.trim();
            let words: Vec<&str> = rest.split_whitespace().collect();
            match (key, rest) {
                ("title", _) => all.title = rest,
                ("mode", "protected") => all.long = false,
                ("mode", "long") => all.long = true,
                ("microarchitecture", "westmere") => all.microarchitecture = Microarchitecture::Westmere,
                ("microarchitecture", "core2") => all.microarchitecture = Microarchitecture::Core2,
                ("ds", _) => [all.area] = numbers(line, &words)?,
                ("bts", _) => all.bts = numbers::<2>(line, &words)?.into(),
                ("pebs", _) => all.pebs = numbers::<2>(line, &words)?.into(),
                ("assist-delay", _) => all.assist_delay = numbers::<1>(line, &words)?[0] as u32,
                ("reset", _) => {
                    let [counter, value] = numbers(line, &words)?;
                    *all.resets.get_mut(counter as usize).ok_or_else(|| wrong(line, "counter 0 to 3 expected"))? = value;
                }
                ("handler", "each") => all.handler = HandlerKind::EachCause,
                ("handler", "first") => all.handler = HandlerKind::FirstCause,
                ("register", _) => {
                    let register =
                        words.first().and_then(|name| Register::by_name(name)).ok_or_else(|| wrong(line, "a register expected"))?;
                    let [value] = numbers(line, &words[1..])?;
                    all.registers.set(register.0, value);
                }
                ("case", _) => {
                    let pair =
                        |word: &&'a str| word.split_once('=').ok_or_else(|| wrong(line, format!("NAME=VALUE expected, found `{word}`")));
                    let variables = words.iter().skip(1).map(pair).collect::<Result<_, _>>()?;
                    all.cases.push(Case { name: words.first().copied().unwrap_or("only"), variables });
                }
                ("program", "") => in_program = true,
                _ => return Err(wrong(line, format!("`{body}` is no setting"))),
            }
        }
        if all.program.is_empty() {
            return Err(TraceError::NoProgram);
        }
        if all.cases.is_empty() {
            all.cases.push(Case { name: "only", variables: BTreeMap::new() });
        }
        Ok(all)
    }

    fn run_case(&self, case: &Case<'_>, out: &mut String) -> Result<(), TraceError> {
        let mut machine = Machine::new(self, case)?;
        let _ = writeln!(out, "case {}", case.name);
        for (line, body) in &self.program {
            let body = machine.substitute(*line, body, case)?;
            machine.step(*line, &body, out)?;
        }
        machine.finish(out)
    }
}

struct Machine<'e> {
    experiment: &'e Experiment<'e>,
    unit: Unit<FlatMemory>,
    handler: Handler,
    registers: Registers,
    interrupts: u64,
    printed_records: u64,
}

impl<'e> Machine<'e> {
    fn new(experiment: &'e Experiment<'e>, case: &Case<'_>) -> Result<Self, TraceError> {
        let mut processor = Processor::WESTMERE;
        if let Some(value) = case.variables.get("capabilities").and_then(|value| number(value)) {
            processor.perf_capabilities = value;
        }
        let mut unit = Unit::new(FlatMemory::new(experiment.area, MEMORY_BYTES), processor, experiment.microarchitecture)?;
        unit.assist_delay = experiment.assist_delay;
        let detected = unit.detected();
        let buffer = |(base, records): (u64, u64), bytes: u64| {
            let end = base + records * bytes;
            Buffer { base, index: base, maximum: end, threshold: end }
        };
        let area = DsArea {
            bts: buffer(experiment.bts, detected.layout.bts_bytes()),
            pebs: buffer(experiment.pebs, detected.format.bytes()),
            resets: experiment.resets,
        };
        let no_room = |error| TraceError::Unit { line: 0, error: UnitError::Page(error) };
        area.write(&mut unit.memory, detected.layout, experiment.area).map_err(no_room)?;
        unit.write_msr(msr::IA32_DS_AREA, experiment.area).map_err(|error| TraceError::Unit { line: 0, error })?;
        let handler = Handler::new(experiment.handler, area.pebs.base);
        Ok(Self { experiment, unit, handler, registers: experiment.registers, interrupts: 0, printed_records: 0 })
    }

    fn substitute(&self, line: usize, body: &str, case: &Case<'_>) -> Result<String, TraceError> {
        let mut words = Vec::new();
        for word in body.split_whitespace() {
            words.push(match word.strip_prefix('$') {
                None => word,
                Some(name) => case.variables.get(name).copied().ok_or_else(|| wrong(line, format!("case {} has no {name}", case.name)))?,
            });
        }
        Ok(words.join(" "))
    }

    /// One instruction: `ADDRESS+BYTES MNEMONIC OPERANDS`.
    fn step(&mut self, line: usize, body: &str, out: &mut String) -> Result<(), TraceError> {
        let words: Vec<&str> = body.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let first = words.first().copied().unwrap_or_default();
        let place = first.split_once('+').and_then(|(ip, len)| Some((u64::from_str_radix(ip, 16).ok()?, len.parse::<u8>().ok()?)));
        let (ip, len) = place.ok_or_else(|| wrong(line, format!("ADDRESS+BYTES expected, found `{first}`")))?;
        let mut retired = Retired { ip, len, before: self.registers, ..Retired::default() };
        let mut write = None;
        match &words[1..] {
            ["nop"] => {}
            ["mov", to, value] => {
                let value = number(value).ok_or_else(|| wrong(line, format!("a number expected, found `{value}`")))?;
                self.assign(line, to, value)?;
            }
            [kind @ ("jmp" | "call" | "ret"), target] => {
                let target =
                    u64::from_str_radix(target, 16).map_err(|_| wrong(line, format!("{kind}: an address expected, found `{target}`")))?;
                retired.branch = Some(Branch { target: Some(target), predicted: true });
            }
            ["wrmsr", name, value] => {
                let number_of = msr::by_name(name).ok_or_else(|| wrong(line, format!("no MSR `{name}`")))?;
                let value = number(value).ok_or_else(|| wrong(line, format!("a number expected, found `{value}`")))?;
                self.registers.set(Register::Rcx, number_of.into());
                self.registers.set(Register::Rax, value & 0xFFFF_FFFF);
                self.registers.set(Register::Rdx, value >> 32);
                retired.before = self.registers;
                write = Some((number_of, value));
            }
            ["load", to, from, fields @ ..] => {
                let base = from.trim_matches(['[', ']']);
                let address = Register::by_name(base).and_then(|(register, _)| self.registers.get(register));
                let address = address.ok_or_else(|| wrong(line, format!("`{base}` has no value")))?;
                let field = |name: &str| fields.iter().find_map(|field| number(field.strip_prefix(name)?.strip_prefix('=')?)).unwrap_or(0);
                self.assign(line, to, field("value"))?;
                retired.load = Some(Load { address, latency: field("latency"), source: DataSource(field("source")) });
            }
            _ => return Err(wrong(line, format!("no instruction `{body}`"))),
        }
        retired.after = self.registers;
        let delivered = match write {
            Some((number, value)) => self.unit.retire_wrmsr(number, value, &retired),
            None => self.unit.retire(&retired),
        };
        let mut next = delivered.map_err(|error| TraceError::Unit { line, error })?;
        while let Some(interrupt) = next {
            self.interrupt(interrupt, out).map_err(|error| TraceError::Unit { line, error })?;
            next = self.unit.finish_interrupt();
        }
        Ok(())
    }

    fn assign(&mut self, line: usize, name: &str, value: u64) -> Result<(), TraceError> {
        let (register, part) = Register::by_name(name).ok_or_else(|| wrong(line, format!("no register `{name}`")))?;
        // A write of 32 bits clears the upper half; of 8 bits leaves the rest.
        let kept = if part == 0xFF { self.registers.get(register).unwrap_or(0) & !part } else { 0 };
        self.registers.set(register, kept | value & part);
        Ok(())
    }

    fn interrupt(&mut self, interrupt: Interrupt, out: &mut String) -> Result<(), UnitError> {
        self.interrupts += 1;
        let handled = self.handler.handle(&mut self.unit)?;
        let found: Vec<&str> = handled.found.iter().map(|found| found_name(*found)).collect();
        let found = if found.is_empty() { "nothing".to_owned() } else { found.join(", ") };
        let _ = writeln!(out, "interrupt {} at {:#x}: the handler finds {found}", self.interrupts, interrupt.ip);
        let _ = writeln!(out, "  IA32_PERF_GLOBAL_STATUS {:#x}", handled.status);
        for (name, buffer) in [("PEBS", handled.area.pebs), ("BTS", handled.area.bts)] {
            let Buffer { base, index, maximum, threshold } = buffer;
            let _ = writeln!(
                out,
                "  {name} base {base:#x} index {index:#x} (base + {:X}H) maximum {maximum:#x} threshold {threshold:#x}",
                index - base
            );
        }
        // The records as they were on entry: the handler may have emptied the buffer since.
        let format = self.unit.detected().format;
        for (at, record) in pebs_records(&mut self.unit, &handled.area, format)? {
            if at >= handled.first_new_record {
                self.printed_records += 1;
                let (_, values) =
                    record.registers.to_string().split_once(' ').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap_or_default();
                let _ = writeln!(out, "  record {} at {at:#x}: RFLAGS {}", self.printed_records, self.named(&values));
                if let Some(enhanced) = record.enhanced {
                    let _ = writeln!(
                        out,
                        "    90H status {:#x} 98H data linear address {:#x} A0H data source {:#x} A8H latency {}",
                        enhanced.status, enhanced.data_address, enhanced.data_source.0, enhanced.latency
                    );
                }
            }
        }
        Ok(())
    }

    /// In protected mode the first ten registers go by their 32-bit names.
    fn named(&self, values: &str) -> String {
        if self.experiment.long {
            return values.to_owned();
        }
        Register::ALL[1..10]
            .iter()
            .fold(values.to_owned(), |text, register| text.replace(register.name(), &format!("E{}", &register.name()[1..])))
    }

    fn finish(mut self, out: &mut String) -> Result<(), TraceError> {
        for loss in self.unit.take_losses() {
            let what = match (loss.cause, loss.pebs) {
                (Cause::Counter(counter), true) => format!("PEBS of {counter}"),
                (Cause::Counter(counter), false) => format!("PMI of {counter}"),
                (Cause::PebsBufferFull, _) => "PEBS buffer full".to_owned(),
                (Cause::BtsBufferFull, _) => "BTS buffer full".to_owned(),
            };
            let _ = writeln!(out, "never delivered: {what}");
        }
        let (pebs, bts) = self.unit.records();
        let status = self.unit.read_msr(msr::IA32_PERF_GLOBAL_STATUS).map_err(|error| TraceError::Unit { line: 0, error })?;
        let _ = writeln!(
            out,
            "end: {} interrupts, {pebs} PEBS records, {bts} BTS records, IA32_PERF_GLOBAL_STATUS {status:#x}",
            self.interrupts
        );
        Ok(())
    }
}

fn found_name(found: Found) -> &'static str {
    match found {
        Found::Pebs => "PEBS",
        Found::CounterOverflow => "counter overflow",
        Found::PebsBufferFull => "PEBS buffer full",
        Found::BtsBufferFull => "BTS buffer full",
    }
}
