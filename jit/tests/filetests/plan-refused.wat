;;! tier = optimizing
;;! show = clif
;;! function = 1
;;! decision = {"inline": {"offset": "CallIndirect#0", "targets": [{"callee": 0}]}}
;;! decision = {"inline": {"offset": "CallIndirect#0", "targets": [{"callee": 2}]}}
;;! decision = {"inline": {"offset": "CallIndirect#1", "targets": []}}
;;! decision = {"other": {"transformation": "nonsense", "offset": 4294967295}}
;;! contains = inline-guarded in function 1: something else was decided there before
;;! contains = inline-guarded in function 1: no target named
;;! contains = other in function 1: no pass is called `nonsense`

;; A plan that contradicts itself, one that names no target, and one for an operator that is not there: the first code of the function is of what is
;; inlined, and yet it is this function's plan that is refused.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 funcref)
  (func $one (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $x i32) (result i32)
    (call $one (local.get $x))
    (call_indirect (type $unary) (local.get $x))
    (call_indirect (type $unary) (local.get $x)))
  (func $two (type $unary) (i32.add (local.get 0) (i32.const 2))))
