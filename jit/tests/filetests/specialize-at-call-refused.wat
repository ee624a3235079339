;; What cannot be compared at a call, and a callee that is not inlined: they are called as ever.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": "Body#1", "parameter": 5, "value": 3}}
;;! decision = {"specialize": {"offset": "Body#2", "parameter": 0, "value": 3}}
;;! contains = specialize in function 0: no such parameter, or not an integer
;;! contains = specialize in function 0: its
;;! lacks = done
;;! lacks = brif
(module
  (memory 1)
  (func (param $p i32) (result i32)
    (i32.add (call $big (local.get $p)) (call $throws (local.get $p))))
  (func $big (param $p i32) (result i32) (local $i i32)
    (loop $next
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $p))))
    (local.get $i))
  (func $throws (param i32) (result i32)
    (return_call $big (local.get 0))))
