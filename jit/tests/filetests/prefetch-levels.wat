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
;;> @0000                               v3 = load.i64 notrap aligned readonly can_move region0 v2+72
;;> @0005                               v54 = iconst.i32 80
;;> @0005                               v58 = iconst.i64 1
;;> @0005                               v61 = iconst.i32 12
;;> @0005                               v66 = iconst.i32 40
;;> @0005                               v77 = iconst.i64 4097
;;> @0007                               v52 = iconst.i32 1
;;> @0006                               v50 = iconst.i32 5
;;> @0001                               jump block2(v0, v1, v4)  ; v4 = 0
;;>
;;>                                 block2(v21: i32, v24: i32, v27: i64):
;;> @0001                               v6 = get_pinned_reg.i64
;;> @0001                               v7 = load.i64 user66 aligned region1 v6+128
;;> @0001                               v8 = icmp ult v6, v7
;;> @0001                               brif v8, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v9 = get_pinned_reg.i64
;;> @0001                               v10 = load.i32 notrap aligned region1 v9+132
;;> @0001                               v12 = ireduce.i16 v10
;;> @0001                               brif v12, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v11 = iconst.i32 0x0022_0000
;;> @0001                               v13 = bxor.i32 v10, v11  ; v11 = 0x0022_0000
;;> @0001                               brif v13, block7, block6
;;>
;;>                                 block7 cold:
;;> @0001                               v14 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v14, v9+134  ; v14 = 0
;;> @0001                               jump block2(v21, v24, v27)
;;>
;;>                                 block6 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region0 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+40
;;> @0001                               v18 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region2 v18, v17  ; v18 = 0x0021_0000_0000
;;> @0001                               v19 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v19, v17+8  ; v19 = 7
;;> @0001                               v22 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v22, v17+16
;;>                                     v100 = uextend.i64 v24
;;> @0001                               store notrap aligned region2 v100, v17+24
;;> @0001                               store.i64 notrap aligned region2 v27, v17+32
;;> @0001                               v28 = load.i32 notrap aligned region2 v17
;;> @0001                               v29 = load.i32 notrap aligned region2 v17+4
;;> @0001                               v30 = load.i32 notrap aligned region2 v17+8
;;> @0001                               v31 = get_pinned_reg.i64
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+56
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+96
;;> @0001                               v34 = call_indirect sig0, v33(v31, v28, v29, v30)
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+8
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+40
;;> @0001                               return_call_indirect sig1, v34(v37)
;;>
;;>                                 block4:
;;>                                     v83 = iconst.i32 80
;;>                                     v84 = iadd.i32 v24, v83  ; v83 = 80
;;> @0005                               v56 = uextend.i64 v84
;;> @0005                               v57 = iadd.i64 v3, v56
;;>                                     v85 = iconst.i64 1
;;>                                     v86 = iadd v57, v85  ; v85 = 1
;;> @0005                               v60 = uload8.i32 user65 region3 v86-1
;;>                                     v87 = iconst.i32 12
;;>                                     v88 = imul v60, v87  ; v87 = 12
;;> @0005                               v63 = uextend.i64 v88
;;> @0005                               v64 = iadd.i64 v3, v63
;;> @0005                               v65 = load.i16 user64 little region3 v64+4096
;;>                                     v89 = iconst.i32 40
;;>                                     v90 = iadd.i32 v24, v89  ; v89 = 40
;;> @0005                               v68 = uextend.i64 v90
;;> @0005                               v69 = iadd.i64 v3, v68
;;>                                     v91 = iadd v69, v85  ; v85 = 1
;;> @0005                               v72 = uload8.i32 user65 region3 v91-1
;;>                                     v92 = imul v72, v87  ; v87 = 12
;;> @0005                               v75 = uextend.i64 v92
;;> @0005                               v76 = iadd.i64 v3, v75
;;>                                     v93 = iconst.i64 4097
;;>                                     v94 = iadd v76, v93  ; v93 = 4097
;;> @0005                               v79 = uload16.i32 user65 region3 v94-1
;;> @0005                               v80 = uextend.i64 v79
;;> @0005                               v81 = iadd.i64 v3, v80
;;> @0005                               v82 = load.i16 user64 little region3 v81+40
;;> @0002                               v38 = uextend.i64 v24
;;> @0002                               v39 = iadd.i64 v3, v38
;;> @0002                               v40 = uload8.i32 user2 region3 v39
;;>                                     v95 = imul v40, v87  ; v87 = 12
;;> @0004                               v43 = uextend.i64 v95
;;> @0004                               v44 = iadd.i64 v3, v43
;;> @0004                               v45 = uload16.i32 user2 region3 v44+4096
;;> @0005                               v46 = uextend.i64 v45
;;> @0005                               v47 = iadd.i64 v3, v46
;;> @0005                               v48 = load.i64 user2 region3 v47+40
;;>                                     v96 = iconst.i32 1
;;>                                     v97 = isub.i32 v21, v96  ; v96 = 1
;;>                                     v98 = iconst.i32 5
;;>                                     v99 = iadd.i32 v24, v98  ; v98 = 5
;;> @0006                               v49 = iadd.i64 v27, v48
;;> @0009                               brif v97, block2(v97, v99, v49), block8
;;>
;;>                                 block8:
;;> @000b                               return v49
;;> }
;;> prefetch in function 0: done
