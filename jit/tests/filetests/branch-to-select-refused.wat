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
;;> @0001                               v38 = iconst.i32 1
;;> @0001                               jump block2(v0, v3)  ; v3 = 0
;;>
;;>                                 block2(v20: i32, v26: i32):
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region0 v5+112
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region0 v8+116
;;> @0001                               v11 = ireduce.i16 v9
;;> @0001                               brif v11, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v10 = iconst.i32 0x001d_0000
;;> @0001                               v12 = bxor.i32 v9, v10  ; v10 = 0x001d_0000
;;> @0001                               brif v12, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v13 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v13, v8+118  ; v13 = 0
;;> @0001                               jump block2(v20, v26)
;;>
;;>                                 block6 cold:
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 notrap aligned readonly region1 v14+8
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+40
;;> @0001                               v17 = iconst.i64 0x001c_0000_0000
;;> @0001                               store notrap aligned region2 v17, v16  ; v17 = 0x001c_0000_0000
;;> @0001                               v18 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v18, v16+8  ; v18 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v16+16
;;> @0001                               v24 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v24, v16+24
;;> @0001                               v27 = uextend.i64 v26
;;> @0001                               store notrap aligned region2 v27, v16+32
;;> @0001                               v28 = load.i32 notrap aligned region2 v16
;;> @0001                               v29 = load.i32 notrap aligned region2 v16+4
;;> @0001                               v30 = load.i32 notrap aligned region2 v16+8
;;> @0001                               v31 = get_pinned_reg.i64
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+56
;;> @0001                               v33 = load.i64 notrap aligned readonly region1 v32+96
;;> @0001                               v34 = call_indirect sig0, v33(v31, v28, v29, v30)
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region1 v35+8
;;> @0001                               v37 = load.i64 notrap aligned readonly region1 v36+40
;;> @0001                               return_call_indirect sig1, v34(v37)
;;>
;;>                                 block4:
;;>                                     v46 = iconst.i32 1
;;>                                     v47 = band.i32 v20, v46  ; v46 = 1
;;> @0003                               brif v47, block9, block10
;;>
;;>                                 block9:
;;> @0004                               v40 = udiv.i32 v20, v1
;;> @0005                               jump block8(v40)
;;>
;;>                                 block10:
;;> @0005                               jump block8(v26)
;;>
;;>                                 block8(v45: i32):
;;>                                     v48 = iconst.i32 1
;;>                                     v49 = isub.i32 v20, v48  ; v48 = 1
;;> @0007                               brif v49, block2(v49, v45), block11
;;>
;;>                                 block11:
;;> @0009                               return v45
;;> }
;;> branch-to-select in function 0: an arm has udiv
;;> branch-to-select in function 0: an arm ends in return
;;> branch-to-select in function 0: no reachable branch there
