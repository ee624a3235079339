//! Programs of one loop, for tests of what is seen and made of it.

/// A loop of `$n` rounds around `body` with a random `$x`, numbers `$a`, `$b` and `$c`, and its result; `functions` are beside it.
pub fn rounds(functions: &str, body: &str) -> String {
    format!(
        r#"(module {functions}
        (func $run (export "run") (param $n i32) (result i32) (local $x i32) (local $a i32) (local $b i32) (local $c i32)
          (local.set $x (i32.const 88172645))
          (loop $again
            (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 13))))
            (local.set $x (i32.xor (local.get $x) (i32.shr_u (local.get $x) (i32.const 17))))
            (local.set $x (i32.xor (local.get $x) (i32.shl (local.get $x) (i32.const 5))))
            {body}
            (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
          (i32.add (local.get $a) (i32.mul (local.get $b) (i32.const 3)))))"#
    )
}

/// A condition that holds in a random half of them.
pub const RANDOM_BIT: &str = "(i32.and (i32.shr_u (local.get $x) (i32.const 11)) (i32.const 1))";
