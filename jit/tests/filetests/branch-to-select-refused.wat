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
;;> @0001                               v28 = iconst.i32 1
;;> @0001                               jump block2(v0, v3)  ; v3 = 0
;;>
;;>                                 block2(v10: i32, v14: i32):
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i32 notrap aligned region0 v5+96
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly region1 v7+8
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8+40
;;> @0001                               v11 = uextend.i64 v10
;;> @0001                               store notrap aligned region2 v11, v9+16
;;> @0001                               v13 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v13, v9+24
;;> @0001                               v15 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v15, v9+32
;;> @0001                               v16 = iconst.i64 0x001c_0000_0000
;;> @0001                               store notrap aligned region2 v16, v9  ; v16 = 0x001c_0000_0000
;;> @0001                               v17 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v17, v9+8  ; v17 = 7
;;> @0001                               v18 = load.i32 notrap aligned region2 v9
;;> @0001                               v19 = load.i32 notrap aligned region2 v9+4
;;> @0001                               v20 = load.i32 notrap aligned region2 v9+8
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 notrap aligned readonly region1 v21+48
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22+96
;;> @0001                               v24 = call_indirect sig0, v23(v21, v18, v19, v20)
;;> @0001                               v25 = get_pinned_reg.i64
;;> @0001                               v26 = load.i64 notrap aligned readonly region1 v25+8
;;> @0001                               v27 = load.i64 notrap aligned readonly region1 v26+40
;;> @0001                               return_call_indirect sig1, v24(v27)
;;>
;;>                                 block4:
;;>                                     v36 = iconst.i32 1
;;>                                     v37 = band.i32 v10, v36  ; v36 = 1
;;> @0003                               brif v37, block6, block7
;;>
;;>                                 block6:
;;> @0004                               v30 = udiv.i32 v10, v1
;;> @0005                               jump block5(v30)
;;>
;;>                                 block7:
;;> @0005                               jump block5(v14)
;;>
;;>                                 block5(v35: i32):
;;>                                     v38 = iconst.i32 1
;;>                                     v39 = isub.i32 v10, v38  ; v38 = 1
;;> @0007                               brif v39, block2(v39, v35), block8
;;>
;;>                                 block8:
;;> @0009                               return v35
;;> }
;;> branch-to-select in function 0: an arm has udiv
;;> branch-to-select in function 0: an arm ends in return
;;> branch-to-select in function 0: no reachable branch there
