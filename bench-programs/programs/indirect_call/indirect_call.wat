;; indirect_call: a loop of n calls through a table to one tiny function.
;;
;; The index global and the table are exported and written by `setup` before the run, and the index sequence of modes 1-3 lies in exported
;; memory, so no static analysis may replace the call: only watching it run can.
;;
;; As a command:   indirect_call.wasm [--time] [mode [n]]      (mode 0, n 200000000)
;;                 prints `ok CHECKSUM` and exits 0; exits 1 when the checksum is not what a loop without calls computes, 2 on bad arguments;
;;                 --time prints `time_ns N`, the time of `run` alone, on stderr
;; As exports:     setup(mode)   run(n) -> checksum   check(n, checksum) -> 1 where it is right
;;
;; mode 0  one target, its index in the global `index`             (the kernel)
;; mode 1  two targets in turn, index from memory                  (control: two dominant callees, predictable)
;; mode 2  eight targets in random order, index from memory        (control: nothing to gain)
;; mode 3  one target, index from memory                           (the kernel when the index itself is data)
(module $indirect_call
  (type $unary (func (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_get" (func $args_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $proc_exit (param i32)))

  ;; 0: iovec, 16: results of WASI calls, 64..128: number text, 1024: argv, 8192: argument text, 65536..131072: index sequence
  (memory (export "memory") 2)
  (data (i32.const 256) "ok ")
  (data (i32.const 272) "time_ns ")
  (data (i32.const 288) "wrong result\n")
  (data (i32.const 320) "usage: indirect_call [--time] [mode 0..3 [n]]\n")

  (global $index (export "index") (mut i32) (i32.const 0))
  (global $mode (mut i32) (i32.const 0))
  (table $targets (export "table") 8 8 funcref)
  (elem declare func $f0 $f1 $f2 $f3 $f4 $f5 $f6 $f7)

  ;; Function k is x -> (x + 1) ^ k, so that a wrong target shows in the result.
  (func $f0 (type $unary) (param $x i32) (result i32)
    (i32.add (local.get $x) (i32.const 1)))
  (func $f1 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 1)))
  (func $f2 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 2)))
  (func $f3 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 3)))
  (func $f4 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 4)))
  (func $f5 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 5)))
  (func $f6 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 6)))
  (func $f7 (type $unary) (param $x i32) (result i32)
    (i32.xor (i32.add (local.get $x) (i32.const 1)) (i32.const 7)))

  ;; Fills the table and the index sequence for `mode`.
  (func $setup (export "setup") (param $mode i32)
    (local $i i32) (local $seed i32) (local $pick i32)
    (global.set $mode (local.get $mode))
    (global.set $index (i32.const 0))
    (table.set $targets (i32.const 0) (ref.func $f0))
    (table.set $targets (i32.const 1) (ref.func $f1))
    (table.set $targets (i32.const 2) (ref.func $f2))
    (table.set $targets (i32.const 3) (ref.func $f3))
    (table.set $targets (i32.const 4) (ref.func $f4))
    (table.set $targets (i32.const 5) (ref.func $f5))
    (table.set $targets (i32.const 6) (ref.func $f6))
    (table.set $targets (i32.const 7) (ref.func $f7))
    (local.set $seed (i32.const 0x2545f491))
    (loop $fill
      ;; xorshift32
      (local.set $seed (i32.xor (local.get $seed) (i32.shl (local.get $seed) (i32.const 13))))
      (local.set $seed (i32.xor (local.get $seed) (i32.shr_u (local.get $seed) (i32.const 17))))
      (local.set $seed (i32.xor (local.get $seed) (i32.shl (local.get $seed) (i32.const 5))))
      (local.set $pick (i32.const 0))
      (if (i32.eq (local.get $mode) (i32.const 1))
        (then (local.set $pick (i32.and (local.get $i) (i32.const 1)))))
      (if (i32.eq (local.get $mode) (i32.const 2))
        (then (local.set $pick (i32.shr_u (local.get $seed) (i32.const 29)))))
      (i32.store8 offset=65536 (local.get $i) (local.get $pick))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $fill (i32.lt_u (local.get $i) (i32.const 65536)))))

  ;; x = table[index](x), n times.
  (func $run_by_global (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (if (i32.eqz (local.get $n)) (then (return (i32.const 0))))
    (loop $again
      (local.set $x (call_indirect $targets (type $unary) (local.get $x) (global.get $index)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x))

  ;; x = table[sequence[i mod 65536]](x), n times.
  (func $run_by_sequence (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (if (i32.eqz (local.get $n)) (then (return (i32.const 0))))
    (loop $again
      (local.set $x (call_indirect $targets (type $unary) (local.get $x)
        (i32.load8_u offset=65536 (i32.and (local.get $i) (i32.const 0xffff)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x))

  (func $run (export "run") (param $n i32) (result i64)
    (i64.extend_i32_u
      (if (result i32) (global.get $mode)
        (then (call $run_by_sequence (local.get $n)))
        (else (call $run_by_global (local.get $n))))))

  ;; What `run` must return, without a call in the loop.
  (func $expected (param $n i32) (result i64)
    (local $x i32) (local $i i32)
    (if (i32.or (i32.eqz (global.get $mode)) (i32.eq (global.get $mode) (i32.const 3)))
      (then (return (i64.extend_i32_u (local.get $n)))))
    (if (i32.eqz (local.get $n)) (then (return (i64.const 0))))
    (loop $again
      (local.set $x (i32.xor (i32.add (local.get $x) (i32.const 1))
        (i32.load8_u offset=65536 (i32.and (local.get $i) (i32.const 0xffff)))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (i64.extend_i32_u (local.get $x)))

  (func (export "check") (param $n i32) (param $checksum i64) (result i32)
    (i64.eq (local.get $checksum) (call $expected (local.get $n))))

  (func $write (param $fd i32) (param $text i32) (param $length i32)
    (i32.store (i32.const 0) (local.get $text))
    (i32.store (i32.const 4) (local.get $length))
    (drop (call $fd_write (local.get $fd) (i32.const 0) (i32.const 1) (i32.const 16))))

  ;; `value` in decimal and a line end.
  (func $write_number (param $fd i32) (param $value i64)
    (local $at i32)
    (local.set $at (i32.const 127))
    (i32.store8 (local.get $at) (i32.const 10))
    (loop $digit
      (local.set $at (i32.sub (local.get $at) (i32.const 1)))
      (i32.store8 (local.get $at)
        (i32.add (i32.const 48) (i32.wrap_i64 (i64.rem_u (local.get $value) (i64.const 10)))))
      (local.set $value (i64.div_u (local.get $value) (i64.const 10)))
      (br_if $digit (i64.ne (local.get $value) (i64.const 0))))
    (call $write (local.get $fd) (local.get $at) (i32.sub (i32.const 128) (local.get $at))))

  (func $usage
    (call $write (i32.const 2) (i32.const 320) (i32.const 46))
    (call $proc_exit (i32.const 2))
    unreachable)

  ;; The decimal number at `at`, which ends with a zero byte.
  (func $parse (param $at i32) (result i32)
    (local $value i32) (local $digit i32)
    (if (i32.eqz (i32.load8_u (local.get $at))) (then (call $usage)))
    (loop $next
      (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
      (if (i32.gt_u (local.get $digit) (i32.const 9)) (then (call $usage)))
      (local.set $value (i32.add (i32.mul (local.get $value) (i32.const 10)) (local.get $digit)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.load8_u (local.get $at))))
    (local.get $value))

  (func $now (result i64)
    (drop (call $clock_time_get (i32.const 1) (i64.const 1) (i32.const 24)))
    (i64.load (i32.const 24)))

  (func (export "_start")
    (local $argc i32) (local $i i32) (local $arg i32) (local $timed i32) (local $positional i32)
    (local $mode i32) (local $n i32) (local $begin i64) (local $result i64)
    (local.set $n (i32.const 200000000))
    (drop (call $args_sizes_get (i32.const 16) (i32.const 20)))
    (local.set $argc (i32.load (i32.const 16)))
    (if (i32.or (i32.gt_u (local.get $argc) (i32.const 1000)) (i32.gt_u (i32.load (i32.const 20)) (i32.const 50000)))
      (then (call $usage)))
    (drop (call $args_get (i32.const 1024) (i32.const 8192)))
    (local.set $i (i32.const 1))
    (block $parsed
      (loop $args
        (br_if $parsed (i32.ge_u (local.get $i) (local.get $argc)))
        (local.set $arg (i32.load offset=1024 (i32.shl (local.get $i) (i32.const 2))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        ;; an option can only be --time
        (if (i32.eq (i32.load8_u (local.get $arg)) (i32.const 45))
          (then
            ;; the seven bytes "--time" and its final zero
            (if (i64.ne (i64.and (i64.load (local.get $arg)) (i64.const 0x00ffffffffffffff)) (i64.const 0x656d69742d2d))
              (then (call $usage)))
            (local.set $timed (i32.const 1))
            (br $args)))
        (if (i32.eqz (local.get $positional))
          (then (local.set $mode (call $parse (local.get $arg)))))
        (if (i32.eq (local.get $positional) (i32.const 1))
          (then (local.set $n (call $parse (local.get $arg)))))
        (local.set $positional (i32.add (local.get $positional) (i32.const 1)))
        (br $args)))
    (if (i32.or (i32.gt_u (local.get $mode) (i32.const 3)) (i32.gt_u (local.get $positional) (i32.const 2)))
      (then (call $usage)))

    (call $setup (local.get $mode))
    (local.set $begin (call $now))
    (local.set $result (call $run (local.get $n)))
    (local.set $begin (i64.sub (call $now) (local.get $begin)))
    (if (i64.ne (local.get $result) (call $expected (local.get $n)))
      (then
        (call $write (i32.const 2) (i32.const 288) (i32.const 13))
        (call $proc_exit (i32.const 1))
        unreachable))
    (call $write (i32.const 1) (i32.const 256) (i32.const 3))
    (call $write_number (i32.const 1) (local.get $result))
    (if (local.get $timed)
      (then
        (call $write (i32.const 2) (i32.const 272) (i32.const 8))
        (call $write_number (i32.const 2) (local.get $begin))))))
