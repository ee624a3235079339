;; A division by what may be zero is for the taken arm alone, and a back edge does not meet the way on.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"branch-to-select": {"offset": "If#0"}}
;;! decision = {"branch-to-select": {"offset": "BrIf#0"}}
;;! decision = {"branch-to-select": {"offset": 3}}
;;! contains = branch-to-select in function 0: an arm has udiv
;;! contains = branch-to-select in function 0: no reachable branch there
(module
  (func (param $n i32) (param $x i32) (result i32) (local $k i32)
    (loop $next
      (if (i32.and (local.get $n) (i32.const 1)) (then (local.set $k (i32.div_u (local.get $n) (local.get $x)))))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $k)))

;;> function u0:0(i32, i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32):
;;>                                     v2 = get_pinned_reg.i64
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               v29 = iconst.i32 1
;;> @0001                               jump block2(v0, v3)  ; v3 = 0
;;>
;;>                                 block2(v13: i32, v15: i32):
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region0 v5-120
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8-64
;;> @0001                               v10 = load.i64 notrap aligned readonly region1 v9+40
;;> @0001                               v11 = iconst.i64 0x001c_0000_0000
;;> @0001                               store notrap aligned region2 v11, v10  ; v11 = 0x001c_0000_0000
;;> @0001                               v12 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v12, v10+8  ; v12 = 7
;;> @0001                               v16 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v16, v10+32
;;> @0001                               v17 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v17, v10+24
;;> @0001                               v18 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v18, v10+16
;;> @0001                               v19 = load.i32 notrap aligned region2 v10
;;> @0001                               v20 = load.i32 notrap aligned region2 v10+4
;;> @0001                               v21 = load.i32 notrap aligned region2 v10+8
;;> @0001                               v22 = get_pinned_reg.i64
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22-16
;;> @0001                               v24 = load.i64 notrap aligned readonly region1 v23+112
;;> @0001                               v25 = call_indirect sig0, v24(v22, v19, v20, v21)
;;> @0001                               v26 = get_pinned_reg.i64
;;> @0001                               v27 = load.i64 notrap aligned readonly region1 v26-64
;;> @0001                               v28 = load.i64 notrap aligned readonly region1 v27+40
;;> @0001                               return_call_indirect sig1, v25(v28)
;;>
;;>                                 block4:
;;>                                     v37 = iconst.i32 1
;;>                                     v38 = band.i32 v13, v37  ; v37 = 1
;;> @0003                               brif v38, block6, block7
;;>
;;>                                 block6:
;;> @0004                               v31 = udiv.i32 v13, v1
;;> @0005                               jump block5(v31)
;;>
;;>                                 block7:
;;> @0005                               jump block5(v15)
;;>
;;>                                 block5(v36: i32):
;;>                                     v39 = iconst.i32 1
;;>                                     v40 = isub.i32 v13, v39  ; v39 = 1
;;> @0007                               brif v40, block2(v40, v36), block8
;;>
;;>                                 block8:
;;> @0009                               return v36
;;> }
;;> branch-to-select in function 0: an arm has udiv
;;> branch-to-select in function 0: an arm ends in return
;;> branch-to-select in function 0: no reachable branch there
