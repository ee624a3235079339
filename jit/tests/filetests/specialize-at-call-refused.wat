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
;;> @0000                               v3 = load.i64 user66 aligned region0 v2+32
;;> @0000                               v4 = icmp ult v2, v3
;;> @0000                               brif v4, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v8 = get_pinned_reg.i64
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+56
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+96
;;> @0000                               v5 = iconst.i32 0
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v11 = call_indirect sig0, v10(v8, v5, v6, v7)  ; v5 = 0, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 notrap aligned region2 v14+128
;;> @0001                               v16 = call_indirect sig1, v15(v0)
;;> @0002                               v17 = get_pinned_reg.i64
;;> @0002                               v18 = load.i64 notrap aligned region2 v17+160
;;> @0002                               v19 = call_indirect sig1, v18(v0)
;;> @0003                               v20 = iadd v16, v19
;;> @0004                               return v20
;;> }
;;> specialize in function 0: no such parameter, or not an integer
;;> specialize in function 0: has an operator that is not inlined
