//! Prints the figures of `lwp_feedback::bench`, as text, or as JSON with `--json`.

fn main() {
    let report = lwp_feedback::bench::run();
    if std::env::args().any(|argument| argument == "--json") {
        println!("{}", serde_json::to_string_pretty(&report).expect("plain data"));
    } else {
        println!("{report}");
    }
}
