;;! tier = optimizing
;;! show = clif
;;! function = 1
;;! decision = {"inline": {"offset": "Call#0", "direct": true, "targets": [{"callee": 2}]}}
;;! decision = {"inline": {"offset": "Call#1", "direct": true, "targets": [{"callee": 3}]}}
;;! contains = inline-direct in function 1: has an operator that is not inlined
;;! contains = no reachable call there that could be inlined
;;! lacks = inline-direct in function 1: done

;; A plan that names somebody else than the call does, and one whose callee the translator does not inline: both calls stay.
(module
  (memory 1)
  (func $step (param i32) (result i32)
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
    (i32.store (i32.const 16) (i32.xor (i32.load (i32.const 16)) (local.get 0)))
    (i32.store (i32.const 24) (i32.mul (i32.load (i32.const 24)) (i32.const 3)))
    (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $x i32) (result i32)
    (call 3 (call 0 (local.get $x))))
  (func $other (param i32) (result i32) (local.get 0))
  (func $tail (param i32) (result i32) (return_call 0 (local.get 0))))

;;> function u0:1(i32) -> i32 tail {
;;>     region0 = 100663296 "code"
;;>     sig0 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v3 = load.i64 notrap aligned region0 v1-224
;;> @0001                               v4 = call_indirect sig0, v3(v0)
;;> @0002                               v5 = get_pinned_reg.i64
;;> @0002                               v6 = load.i64 notrap aligned region0 v5-128
;;> @0002                               v7 = call_indirect sig0, v6(v4)
;;> @0003                               return v7
;;> }
;;> inline-direct in function 1: has an operator that is not inlined
;;> inline-guarded in function 1: no reachable call there that could be inlined
