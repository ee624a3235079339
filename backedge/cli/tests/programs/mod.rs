//! Programs of several tests.

/// A hundred functions, each called `$n` times: enough for a process that compiles them for the next run.
pub fn a_hundred_functions() -> String {
    let bodies: String =
        (0..100).map(|i| format!("(func $f{i} (param i32) (result i32) (i32.add (local.get 0) (i32.const {i})))")).collect();
    let calls: String = (0..100).map(|i| format!("(local.set $x (call $f{i} (local.get $x)))")).collect();
    format!(
        r#"(module {bodies} (func (export "run") (param $n i32) (result i32) (local $x i32)
            (loop $again {calls} (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))) (local.get $x)))"#
    )
}
