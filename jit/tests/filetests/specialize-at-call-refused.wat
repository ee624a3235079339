;; What cannot be compared at a call, and a callee that is not inlined: they are called as ever.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": "Body#1", "parameter": 5, "value": 3}}
;;! decision = {"specialize": {"offset": "Body#2", "parameter": 0, "value": 3}}
;;! contains = specialize in function 0: no such parameter, or not an integer
;;! contains = specialize in function 0: has an operator that is not inlined
;;! lacks = done
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

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 100663296 "code"
;;>     sig0 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v3 = load.i64 notrap aligned region0 v1-160
;;> @0001                               v4 = call_indirect sig0, v3(v0)
;;> @0002                               v5 = get_pinned_reg.i64
;;> @0002                               v6 = load.i64 notrap aligned region0 v5-128
;;> @0002                               v7 = call_indirect sig0, v6(v0)
;;> @0003                               v8 = iadd v4, v7
;;> @0004                               return v8
;;> }
;;> specialize in function 0: no such parameter, or not an integer
;;> specialize in function 0: has an operator that is not inlined
