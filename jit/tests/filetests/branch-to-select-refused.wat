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
;;> @0001                               v37 = iconst.i32 1
;;> @0001                               jump block2(v0, v3)  ; v3 = 0
;;>
;;>                                 block2(v19: i32, v25: i32):
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i32 notrap aligned region0 v5+96
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i32 notrap aligned region0 v7+96
;;> @0001                               v10 = ireduce.i16 v8
;;> @0001                               brif v10, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v9 = iconst.i32 0x001d_0000
;;> @0001                               v11 = bxor.i32 v8, v9  ; v9 = 0x001d_0000
;;> @0001                               brif v11, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v12 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v12, v7+98  ; v12 = 0
;;> @0001                               jump block2(v19, v25)
;;>
;;>                                 block6 cold:
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i64 notrap aligned readonly region1 v13+8
;;> @0001                               v15 = load.i64 notrap aligned readonly region1 v14+40
;;> @0001                               v16 = iconst.i64 0x001c_0000_0000
;;> @0001                               store notrap aligned region2 v16, v15  ; v16 = 0x001c_0000_0000
;;> @0001                               v17 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v17, v15+8  ; v17 = 7
;;> @0001                               v20 = uextend.i64 v19
;;> @0001                               store notrap aligned region2 v20, v15+16
;;> @0001                               v23 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v23, v15+24
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region2 v26, v15+32
;;> @0001                               v27 = load.i32 notrap aligned region2 v15
;;> @0001                               v28 = load.i32 notrap aligned region2 v15+4
;;> @0001                               v29 = load.i32 notrap aligned region2 v15+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region1 v30+48
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region1 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region1 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block4:
;;>                                     v45 = iconst.i32 1
;;>                                     v46 = band.i32 v19, v45  ; v45 = 1
;;> @0003                               brif v46, block9, block10
;;>
;;>                                 block9:
;;> @0004                               v39 = udiv.i32 v19, v1
;;> @0005                               jump block8(v39)
;;>
;;>                                 block10:
;;> @0005                               jump block8(v25)
;;>
;;>                                 block8(v44: i32):
;;>                                     v47 = iconst.i32 1
;;>                                     v48 = isub.i32 v19, v47  ; v47 = 1
;;> @0007                               brif v48, block2(v48, v44), block11
;;>
;;>                                 block11:
;;> @0009                               return v44
;;> }
;;> branch-to-select in function 0: an arm has udiv
;;> branch-to-select in function 0: an arm ends in return
;;> branch-to-select in function 0: no reachable branch there
