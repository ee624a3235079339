//! `backedge events`: the tables of named processor events, and their values for PERFEVTSEL and for perf.

use crate::failure::Failure;
use crate::output::print;
use clap::{Args, Subcommand};
use lwp_feedback::events::dispatch::{self, GenX8664Counter, PFMLIB_GEN_X86_64_SEL_EDGE, PFMLIB_GEN_X86_64_SEL_INV};
use lwp_feedback::events::table::Vendor;
use lwp_feedback::events::{Event, Family, Host, Input, Privileges, Request, families, family};
use std::fmt::Write as _;

/// `backedge events`.
#[derive(Subcommand)]
pub enum Events {
    /// List the families, or the events of one
    List {
        /// Short name of a family: its events
        family: Option<String>,
        /// How many events each family has, beside how many the source has
        #[arg(long)]
        count: bool,
    },
    /// Show an event and its unit masks
    Show {
        /// `EVENT` in every family, or `FAMILY::EVENT`
        event: String,
    },
    /// Assign events to counters and print the register values
    Encode(Encode),
}

/// `backedge events encode`.
#[derive(Args)]
pub struct Encode {
    /// Revision of the family (k8: b to g; 10h: barcelona, shanghai, istanbul)
    #[arg(long)]
    pub revision: Option<String>,
    /// Privilege levels to count at: `u` programs, `k` the kernel
    #[arg(long, default_value = "u", value_parser = ["u", "k", "uk"])]
    pub privilege: String,
    /// Least occurrences in a cycle, 0 to 3; 0 counts all
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub cnt_mask: u32,
    /// Turn the comparison with the count mask round
    #[arg(long)]
    pub inv: bool,
    /// Edge detection
    #[arg(long)]
    pub edge: bool,
    /// A counter that must not be used; may be given several times
    #[arg(long, value_name = "COUNTER", value_parser = clap::value_parser!(u32).range(0..32))]
    pub unavailable: Vec<u32>,
    /// `FAMILY::EVENT:MASK…`, all of one family; the family may be left out after the first
    #[arg(required = true, value_name = "EVENT")]
    pub events: Vec<String>,
}

/// Does what the options say.
pub fn run(options: &Events) -> Result<(), Failure> {
    let text = match options {
        Events::List { family: None, count } => list_families(*count),
        Events::List { family: Some(name), count } => {
            let family = known(name)?;
            if *count { counts([family].into_iter()) } else { list_events(family) }
        }
        Events::Show { event } => show(event)?,
        Events::Encode(options) => encode(options)?,
    };
    print(&text)
}

fn known(name: &str) -> Result<&'static Family, Failure> {
    let names = || families().iter().map(|family| family.name).collect::<Vec<_>>().join(", ");
    family(name).ok_or_else(|| Failure::Usage(format!("no family `{name}`; known: {}", names())))
}

fn list_families(count: bool) -> String {
    if count {
        return counts(families().iter());
    }
    let mut out = String::new();
    for family in families() {
        let _ = writeln!(
            out,
            "{:<9} {:>3} events  {} counters  {:>2}-bit select  {}",
            family.name,
            family.events.len(),
            family.counters,
            family.select_bits,
            family.title
        );
    }
    out
}

fn counts(families: impl Iterator<Item = &'static Family>) -> String {
    let mut out = String::from("family    revision    ours  libpfm 4.13.0 (nevents of pfm_get_pmu_info)\n");
    for family in families {
        let revisions: Vec<Option<usize>> =
            if family.revisions.is_empty() { vec![None] } else { (0..family.revisions.len()).map(Some).collect() };
        for (index, revision) in revisions.into_iter().enumerate() {
            let name = revision.map_or("-", |index| family.revisions[index]);
            let source = match family.vendor {
                Vendor::Amd => family.source_counts[index].to_string(),
                Vendor::Intel => "the precise ones only".to_owned(),
            };
            let _ = writeln!(out, "{:<9} {name:<10} {:>5}  {source}", family.name, family.count(revision));
        }
    }
    out
}

fn list_events(family: &Family) -> String {
    let mut out = String::new();
    for event in &family.events {
        let _ = writeln!(
            out,
            "{}::{} {:#x}{}",
            family.name,
            event.name,
            event.select,
            limits(family, |index| event.revisions.contains(Some(index)))
        );
    }
    out
}

/// The revisions that have it, where not all do.
fn limits(family: &Family, has: impl Fn(usize) -> bool) -> String {
    let names: Vec<&str> = (0..family.revisions.len()).filter(|index| has(*index)).map(|index| family.revisions[index]).collect();
    if names.len() == family.revisions.len() { String::new() } else { format!(" (only {})", names.join(", ")) }
}

fn show(text: &str) -> Result<String, Failure> {
    let (searched, name): (Vec<&Family>, &str) = match text.split_once("::") {
        Some((prefix, name)) => (vec![known(prefix)?], name),
        None => (families().iter().collect(), text),
    };
    let mut out = String::new();
    for family in searched {
        for event in family.named(name) {
            show_event(&mut out, family, event);
        }
    }
    if out.is_empty() { Err(Failure::Usage(format!("no event `{text}`"))) } else { Ok(out) }
}

fn show_event(out: &mut String, family: &Family, event: &Event) {
    let only = limits(family, |index| event.revisions.contains(Some(index)));
    let _ = writeln!(out, "{}::{} select {:#x}{only}", family.name, event.name, event.select);
    for mask in &event.masks {
        let only =
            if mask.revisions == event.revisions { String::new() } else { limits(family, |index| mask.revisions.contains(Some(index))) };
        let default = if mask.is_default { " default" } else { "" };
        let alone = if mask.is_exclusive { " alone" } else { "" };
        let _ = writeln!(out, "  {:<32} {:#04x}{default}{alone}{only}", mask.name, mask.bits);
    }
}

fn encode(options: &Encode) -> Result<String, Failure> {
    let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
    let first = options.events[0].split_once("::").map(|(prefix, _)| prefix);
    let family = known(first.ok_or_else(|| Failure::Usage(format!("`{}`: FAMILY::EVENT was expected", options.events[0])))?)?;
    let host = Host::new(family.name, options.revision.as_deref())
        .ok_or_else(|| Failure::Usage(format!("family {} has no such revision; known: {}", family.name, family.revisions.join(", "))))?;
    let mut flags = 0;
    flags |= if options.inv { PFMLIB_GEN_X86_64_SEL_INV } else { 0 };
    flags |= if options.edge { PFMLIB_GEN_X86_64_SEL_EDGE } else { 0 };
    let mut privileges = Privileges::empty();
    privileges.set(Privileges::PLM3, options.privilege.contains('u'));
    privileges.set(Privileges::PLM0, options.privilege.contains('k'));
    let counter = GenX8664Counter { cnt_mask: options.cnt_mask, flags };
    let requests: Vec<Request<'_>> = options.events.iter().map(|event| Request { counter, ..Request::new(event) }).collect();
    let unavailable = options.unavailable.iter().fold(0, |bits, counter| bits | 1 << counter);
    let input = Input { requests: &requests, default_privileges: privileges, unavailable };
    let assigned = dispatch::dispatch(&host, &input).map_err(|error| usage(&error))?;
    let mut out = String::new();
    for (request, one) in requests.iter().zip(assigned) {
        let _ = writeln!(
            out,
            "{} counter {} (MSR {:#x}, {:#x}) value {:#x} perf {}\n  {}",
            request.event,
            one.counter,
            one.control_msr,
            one.counter_msr,
            one.select.bits(),
            one.select.perf_raw(),
            one.select
        );
    }
    Ok(out)
}
