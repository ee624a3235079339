;;! tier = optimizing
;;! show = optimized
;;! decision = {"prefetch": {"offset": "I64Load#0", "kind": "indirect", "distance": 8}}
;;! contains = prefetch in function 0: done
;; Two loads lead to the address: the second would miss too, and is fetched one distance earlier (80 bytes of the first array).
(module
  (memory 1)
  (func (param $n i32) (param $a i32) (result i64) (local $sum i64)
    (loop $next
      (local.set $sum (i64.add (local.get $sum)
        (i64.load offset=40 (i32.load16_u offset=0x1000 (i32.mul (i32.load8_u (local.get $a)) (i32.const 12))))))
      (local.set $a (i32.add (local.get $a) (i32.const 5)))
      (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (local.get $sum)))

;;> function u0:0(i32, i32) -> i64 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i64 tail
;;>
;;>                                 block0(v0: i32, v1: i32):
;;>                                     v2 = get_pinned_reg.i64
;;> @0000                               v4 = iconst.i64 0
;;> @0000                               v3 = load.i64 notrap aligned readonly can_move region0 v2+64
;;> @0005                               v53 = iconst.i32 80
;;> @0005                               v57 = iconst.i64 1
;;> @0005                               v60 = iconst.i32 12
;;> @0005                               v65 = iconst.i32 40
;;> @0005                               v76 = iconst.i64 4097
;;> @0007                               v51 = iconst.i32 1
;;> @0006                               v49 = iconst.i32 5
;;> @0001                               jump block2(v0, v1, v4)  ; v4 = 0
;;>
;;>                                 block2(v20: i32, v23: i32, v26: i64):
;;> @0001                               v6 = get_pinned_reg.i64
;;> @0001                               v7 = load.i32 notrap aligned region1 v6+112
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region1 v8+112
;;> @0001                               v11 = ireduce.i16 v9
;;> @0001                               brif v11, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v10 = iconst.i32 0x0022_0000
;;> @0001                               v12 = bxor.i32 v9, v10  ; v10 = 0x0022_0000
;;> @0001                               brif v12, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v13 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v13, v8+114  ; v13 = 0
;;> @0001                               jump block2(v20, v23, v26)
;;>
;;>                                 block6 cold:
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 notrap aligned readonly region0 v14+8
;;> @0001                               v16 = load.i64 notrap aligned readonly region0 v15+40
;;> @0001                               v17 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region2 v17, v16  ; v17 = 0x0021_0000_0000
;;> @0001                               v18 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v18, v16+8  ; v18 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v16+16
;;>                                     v99 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v99, v16+24
;;> @0001                               store.i64 notrap aligned region2 v26, v16+32
;;> @0001                               v27 = load.i32 notrap aligned region2 v16
;;> @0001                               v28 = load.i32 notrap aligned region2 v16+4
;;> @0001                               v29 = load.i32 notrap aligned region2 v16+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+48
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block4:
;;>                                     v82 = iconst.i32 80
;;>                                     v83 = iadd.i32 v23, v82  ; v82 = 80
;;> @0005                               v55 = uextend.i64 v83
;;> @0005                               v56 = iadd.i64 v3, v55
;;>                                     v84 = iconst.i64 1
;;>                                     v85 = iadd v56, v84  ; v84 = 1
;;> @0005                               v59 = uload8.i32 user65 region3 v85-1
;;>                                     v86 = iconst.i32 12
;;>                                     v87 = imul v59, v86  ; v86 = 12
;;> @0005                               v62 = uextend.i64 v87
;;> @0005                               v63 = iadd.i64 v3, v62
;;> @0005                               v64 = load.i16 user64 little region3 v63+4096
;;>                                     v88 = iconst.i32 40
;;>                                     v89 = iadd.i32 v23, v88  ; v88 = 40
;;> @0005                               v67 = uextend.i64 v89
;;> @0005                               v68 = iadd.i64 v3, v67
;;>                                     v90 = iadd v68, v84  ; v84 = 1
;;> @0005                               v71 = uload8.i32 user65 region3 v90-1
;;>                                     v91 = imul v71, v86  ; v86 = 12
;;> @0005                               v74 = uextend.i64 v91
;;> @0005                               v75 = iadd.i64 v3, v74
;;>                                     v92 = iconst.i64 4097
;;>                                     v93 = iadd v75, v92  ; v92 = 4097
;;> @0005                               v78 = uload16.i32 user65 region3 v93-1
;;> @0005                               v79 = uextend.i64 v78
;;> @0005                               v80 = iadd.i64 v3, v79
;;> @0005                               v81 = load.i16 user64 little region3 v80+40
;;> @0002                               v37 = uextend.i64 v23
;;> @0002                               v38 = iadd.i64 v3, v37
;;> @0002                               v39 = uload8.i32 user2 region3 v38
;;>                                     v94 = imul v39, v86  ; v86 = 12
;;> @0004                               v42 = uextend.i64 v94
;;> @0004                               v43 = iadd.i64 v3, v42
;;> @0004                               v44 = uload16.i32 user2 region3 v43+4096
;;> @0005                               v45 = uextend.i64 v44
;;> @0005                               v46 = iadd.i64 v3, v45
;;> @0005                               v47 = load.i64 user2 region3 v46+40
;;>                                     v95 = iconst.i32 1
;;>                                     v96 = isub.i32 v20, v95  ; v95 = 1
;;>                                     v97 = iconst.i32 5
;;>                                     v98 = iadd.i32 v23, v97  ; v97 = 5
;;> @0006                               v48 = iadd.i64 v26, v47
;;> @0009                               brif v96, block2(v96, v98, v48), block8
;;>
;;>                                 block8:
;;> @000b                               return v48
;;> }
;;> prefetch in function 0: done
