;; A callee's parameter is compared at its call: where it is the value, its loop stands there as three rounds; else the code is left at the call.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": "Body#1", "parameter": 1, "value": 3}}
;;! contains = specialize in function 0: done
;;! contains = unroll in function 1: done
;;! contains = side-exit in function 0: done
(module
  (memory 1)
  (func (param $p i32) (param $n i32) (result i32)
    (i32.add (call $sum (local.get $p) (local.get $n)) (i32.const 1)))
  (func $sum (param $p i32) (param $n i32) (result i32) (local $i i32) (local $s i32)
    (loop $next
      (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))
