//! `backedge events` and `backedge pebs` as a person uses them.

use std::path::Path;
use std::process::Command;

fn backedge(args: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_backedge")).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[test]
fn events_list_counts_ours_beside_the_source() {
    let (code, out, _) = backedge(&["events", "list", "--count"]);
    assert_eq!(code, 0);
    let rows: Vec<Vec<&str>> = out.lines().skip(1).map(|line| line.split_whitespace().collect()).collect();
    assert!(rows.iter().filter(|row| row.len() == 4).count() >= 20);
    for row in rows.iter().filter(|row| row.len() == 4) {
        assert_eq!(row[2], row[3], "{row:?}");
    }
    assert!(out.contains("k8        g             87  87\n"), "{out}");
}

#[test]
fn events_show_and_encode() {
    let (code, out, _) = backedge(&["events", "show", "k8::LOCKED_OPS"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("k8::LOCKED_OPS select 0x24\n") && out.contains("ALL") && out.contains("0x07 default alone"), "{out}");
    let (code, out, _) = backedge(&["events", "encode", "zen3::RETIRED_OPS", "--cnt-mask", "2", "--inv"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("zen3::RETIRED_OPS counter 0 (MSR 0xc0010200, 0xc0010201) value 0x2d100c1 perf r28000c1:u\n"), "{out}");
}

#[test]
fn what_dispatch_refuses_is_one_line() {
    for (args, part) in [
        (&["k8::LOCKED_OPS:ALL:EXECUTED"][..], "unit mask ALL does not combine"),
        (&["k8::CPU_CLK_UNHALTED", "--cnt-mask", "4"], "cnt_mask is 4"),
        (&["k8::NO_SUCH_EVENT"], "no event"),
        (&["k8::core2::X"], "no event"),
        (&["10h::LFENCE_INST_RETIRED", "--revision", "barcelona"], "is not on this processor (10h barcelona)"),
        (&["k9::X"], "no family `k9`"),
    ] {
        let (code, _, error) = backedge(&[&["events", "encode"], args].concat());
        assert_eq!((code, error.lines().count()), (2, 1), "{args:?}: {error}");
        assert!(error.contains(part), "{args:?}: {error}");
    }
}

#[test]
fn pebs_run_prints_the_experiments() {
    for number in 5..=10 {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../docs/experiments/15-{number}.trace"));
        let (code, out, error) = backedge(&["pebs", "run", path.to_str().unwrap()]);
        assert_eq!(code, 0, "{error}");
        assert_eq!(out, lwp_feedback::pebs::trace::expected(&std::fs::read_to_string(path).unwrap()));
    }
    assert_eq!(backedge(&["pebs", "run", "/no/such/file"]).0, 1);
}
