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
;;>                                     v19 -> v0
;;>                                     v17 -> v1
;;>                                     v24 -> v2
;;>                                     v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i64 notrap aligned readonly region0 v3-64
;;> @0000                               v5 = load.i32 notrap aligned region1 v4+80
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iadd v5, v6  ; v6 = -1
;;> @0000                               store notrap aligned region1 v7, v4+80
;;> @0000                               v8 = load.i32 notrap aligned region1 v4+80
;;> @0000                               v9 = iconst.i32 0
;;> @0000                               v10 = icmp slt v8, v9  ; v9 = 0
;;> @0000                               brif v10, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v11 = iconst.i64 0x001f_0000_0102
;;> @0000                               v12 = uextend.i64 v1
;;> @0000                               v13 = get_pinned_reg.i64
;;> @0000                               v14 = load.i64 notrap aligned readonly region0 v13-16
;;> @0000                               v15 = load.i64 notrap aligned readonly region0 v14+192
;;> @0000                               call_indirect sig0, v15(v11, v12)  ; v11 = 0x001f_0000_0102
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               brif.i32 v1, block5, block6
;;>
;;>                                 block5:
;;> @0002                               v20 = uextend.i64 v0
;;> @0002                               v21 = get_pinned_reg.i64
;;> @0002                               v22 = iadd v21, v20
;;> @0002                               v23 = load.i32 user2 region2 v22
;;> @0003                               jump block4(v23)
;;>
;;>                                 block6:
;;> @0003                               v25 = iconst.i32 1
;;> @0004                               v26 = iadd.i32 v2, v25  ; v25 = 1
;;> @0005                               jump block4(v26)
;;>
;;>                                 block4(v18: i32):
;;> @0006                               return v18
;;> }
