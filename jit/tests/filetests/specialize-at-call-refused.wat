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
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = get_pinned_reg.i64
;;> @0000                               v3 = load.i32 notrap aligned region0 v2+28
;;> @0000                               brif v3, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v7 = get_pinned_reg.i64
;;> @0000                               v8 = load.i64 notrap aligned readonly region1 v7+48
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+96
;;> @0000                               v4 = iconst.i32 0
;;> @0000                               v5 = iconst.i32 -1
;;> @0000                               v6 = iconst.i32 7
;;> @0000                               v10 = call_indirect sig0, v9(v7, v4, v5, v6)  ; v4 = 0, v5 = -1, v6 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i64 notrap aligned region2 v13+112
;;> @0001                               v15 = call_indirect sig1, v14(v0)
;;> @0002                               v16 = get_pinned_reg.i64
;;> @0002                               v17 = load.i64 notrap aligned region2 v16+144
;;> @0002                               v18 = call_indirect sig1, v17(v0)
;;> @0003                               v19 = iadd v15, v18
;;> @0004                               return v19
;;> }
;;> specialize in function 0: no such parameter, or not an integer
;;> specialize in function 0: has an operator that is not inlined
