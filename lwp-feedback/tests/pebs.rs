//! The PEBS document's experiments 15-5 to 15-10, and random runs against an independent model.

#[path = "pebs/model.rs"]
mod model;

use std::path::{Path, PathBuf};

use lwp_feedback::pebs::handler::HandlerKind;
use lwp_feedback::pebs::trace;

fn experiment(number: u32) -> String {
    std::fs::read_to_string(path(number)).unwrap()
}

fn path(number: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/experiments/15-{number}.trace"))
}

/// Checks that an experiment prints what its `#|` lines say; `BLESS=1` rewrites them.
fn prints_what_it_says(number: u32) -> String {
    let text = experiment(number);
    let printed = trace::run(&text, None).unwrap();
    if std::env::var_os("BLESS").is_some() {
        let body: String = text.lines().filter(|line| !line.starts_with("#|")).flat_map(|line| [line, "\n"]).collect();
        let lines: String = printed.lines().map(|line| format!("#| {line}\n")).collect();
        std::fs::write(path(number), body + &lines).unwrap();
    } else {
        assert_eq!(printed, trace::expected(&text), "15-{number}");
    }
    printed
}

/// The lines of a case.
fn case<'a>(printed: &'a str, name: &str) -> Vec<&'a str> {
    let begin = format!("case {name}");
    let mut lines = printed.lines().skip_while(|line| *line != begin);
    let first = lines.next();
    first.into_iter().chain(lines.take_while(|line| !line.starts_with("case "))).collect()
}

fn has(lines: &[&str], part: &str) {
    assert!(lines.iter().any(|line| line.contains(part)), "`{part}` is not in:\n{}", lines.join("\n"));
}

fn count(lines: &[&str], part: &str) -> usize {
    lines.iter().filter(|line| line.contains(part)).count()
}

fn one_record_of_the_first_mov(printed: &str, accumulator: &str, ip: &str, first: &str, second: &str) {
    for (name, at) in [("trap", second), ("fault", first)] {
        let lines = case(printed, name);
        assert_eq!((count(&lines, "interrupt "), count(&lines, "  record ")), (1, 1), "{lines:?}");
        has(&lines, "the handler finds PEBS");
        has(&lines, &format!("{accumulator} 0x1 "));
        has(&lines, &format!(" {ip} {at} "));
        has(&lines, "  IA32_PERF_GLOBAL_STATUS 0x0");
        has(&lines, "90H status 0x1 ");
        has(&lines, "PEBS base 0x400400 index 0x4004b0 (base + B0H)");
        has(&lines, "R8 0x1008 R9 0x1009 R10 0x100a R11 0x100b R12 0x100c R13 0x100d R14 0x100e R15 0x100f");
        has(&lines, "end: 1 interrupts, 1 PEBS records");
    }
}

#[test]
fn experiment_15_5() {
    one_record_of_the_first_mov(&prints_what_it_says(5), "EAX", "EIP", "0x20a10", "0x20a15");
}

#[test]
fn experiment_15_6() {
    one_record_of_the_first_mov(&prints_what_it_says(6), "RAX", "RIP", "0x80500a10", "0x80500a15");
}

#[test]
fn experiment_15_7() {
    let printed = prints_what_it_says(7);
    let lines = case(&printed, "only");
    assert_eq!(count(&lines, "interrupt "), 2);
    has(&lines, "interrupt 1 at 0x20a15: the handler finds PEBS");
    has(&lines, "interrupt 2 at 0x20a15: the handler finds PEBS buffer full");
    let second: Vec<&str> = lines.iter().copied().skip_while(|line| !line.starts_with("interrupt 2")).collect();
    has(&second, "  IA32_PERF_GLOBAL_STATUS 0x4000000000000000");
    has(&second, "PEBS base 0x400400 index 0x4004b0 (base + B0H) maximum 0x4004b0 threshold 0x4004b0");
}

#[test]
fn experiment_15_8() {
    let printed = prints_what_it_says(8);
    let first = case(&printed, "PMC0-PMI-PMC1-PEBS");
    assert_eq!((count(&first, "interrupt "), count(&first, "  record ")), (1, 0));
    has(&first, "the handler finds counter overflow");
    has(&first, "  IA32_PERF_GLOBAL_STATUS 0x3");
    has(&first, "never delivered: PEBS of IA32_PMC1");
    let second = case(&printed, "PMC0-PEBS-PMC1-PMI");
    assert_eq!((count(&second, "interrupt "), count(&second, "  record ")), (1, 1));
    has(&second, "the handler finds PEBS, counter overflow");
    has(&second, "  IA32_PERF_GLOBAL_STATUS 0x2");
    has(&second, "never delivered: PMI of IA32_PMC1");
}

#[test]
fn experiment_15_9() {
    let printed = prints_what_it_says(9);
    let lines = case(&printed, "only");
    assert_eq!(count(&lines, "interrupt "), 2);
    has(&lines, "interrupt 1 at 0x20a24: the handler finds PEBS, PEBS buffer full, BTS buffer full");
    has(&lines, "interrupt 2 at 0x20a24: the handler finds nothing");
    has(&lines, "never delivered: BTS buffer full");
}

#[test]
fn an_else_if_handler_fails_15_9() {
    let text = experiment(9);
    let printed = trace::run(&text, Some(HandlerKind::FirstCause)).unwrap();
    assert_ne!(printed, trace::expected(&text));
    let lines = case(&printed, "only");
    assert_eq!(count(&lines, "BTS buffer full"), 1, "only as never delivered: the handler never puts the BTS buffer right");
    has(&lines, "interrupt 2 at 0x20a24: the handler finds PEBS buffer full");
}

#[test]
fn experiment_15_10() {
    let printed = prints_what_it_says(10);
    let lines = case(&printed, "only");
    assert_eq!((count(&lines, "interrupt "), count(&lines, "  record ")), (1, 1));
    has(&lines, "EBX 0x91be ");
    has(&lines, "98H data linear address 0x91be A0H data source 0x0 A8H latency 6");
}

#[test]
fn mistakes_name_the_line() {
    let error = |text: &str| trace::run(text, None).unwrap_err().to_string();
    assert_eq!(error("title a\nfrobnicate"), "line 2: `frobnicate` is no setting");
    assert_eq!(error("ds 0x3ff000\nprogram\n,\n"), "line 3: ADDRESS+BYTES expected, found ``");
    assert_eq!(error("ds 0x1000\nprogram\n10+2 hop 20"), "line 3: no instruction `10+2 hop 20`");
    assert_eq!(error("ds 0x1000\nprogram\n10+2 wrmsr MSR_PEBS_LD_LAT 2"), "line 3: load latency threshold 2: at least 3 was expected");
    assert_eq!(error("ds 0x1000\ncase a capabilities=0x445\nprogram\n10+2 nop\n"), "unsupported PEBS record format 4 (0 and 1 are known)");
}
