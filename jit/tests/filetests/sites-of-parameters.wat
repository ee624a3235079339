;; Tier 1 records a parameter that decides something, the second, and none of those that decide nothing: an address and a summand.
;;! tier = baseline
;;! show = clif
;;! sites = true
;;! contains = _0000_0102
;;! lacks = _0000_0002
;;! lacks = _0000_0202
(module
  (memory 1)
  (func (param $address i32) (param $which i32) (param $summand i32) (result i32)
    (if (result i32) (local.get $which)
      (then (i32.load (local.get $address)))
      (else (i32.add (local.get $summand) (i32.const 1))))))

;;> function u0:0(i32, i32, i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 50331648 "lwp"
;;>     region2 = 268435456 "memory 0"
;;>     sig0 = (i64, i64) preserve_all
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32):
;;>                                     v20 -> v0
;;>                                     v18 -> v1
;;>                                     v24 -> v2
;;>                                     v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i64 notrap aligned readonly can_move region0 v3-96
;;> @0000                               v5 = load.i64 notrap aligned readonly region0 v3-64
;;> @0000                               v6 = load.i32 notrap aligned region1 v5+80
;;> @0000                               v7 = iconst.i32 -1
;;> @0000                               v8 = iadd v6, v7  ; v7 = -1
;;> @0000                               store notrap aligned region1 v8, v5+80
;;> @0000                               v9 = load.i32 notrap aligned region1 v5+80
;;> @0000                               v10 = iconst.i32 0
;;> @0000                               v11 = icmp slt v9, v10  ; v10 = 0
;;> @0000                               brif v11, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v12 = iconst.i64 0x001f_0000_0102
;;> @0000                               v13 = uextend.i64 v1
;;> @0000                               v14 = get_pinned_reg.i64
;;> @0000                               v15 = load.i64 notrap aligned readonly region0 v14-16
;;> @0000                               v16 = load.i64 notrap aligned readonly region0 v15+192
;;> @0000                               call_indirect sig0, v16(v12, v13)  ; v12 = 0x001f_0000_0102
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               brif.i32 v1, block5, block6
;;>
;;>                                 block5:
;;> @0002                               v21 = uextend.i64 v0
;;> @0002                               v22 = iadd.i64 v4, v21
;;> @0002                               v23 = load.i32 user2 region2 v22
;;> @0003                               jump block4(v23)
;;>
;;>                                 block6:
;;> @0003                               v25 = iconst.i32 1
;;> @0004                               v26 = iadd.i32 v2, v25  ; v25 = 1
;;> @0005                               jump block4(v26)
;;>
;;>                                 block4(v19: i32):
;;> @0006                               return v19
;;> }
