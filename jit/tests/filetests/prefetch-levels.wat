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
;;> @0001                               v10 = iconst.i32 -2
;;> @0001                               v11 = iconst.i32 33
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
;;>                                     v85 = iconst.i32 -2
;;>                                     v86 = band v9, v85  ; v85 = -2
;;> @0001                               brif v86, block5, block6
;;>
;;>                                 block5 cold:
;;>                                     v87 = iconst.i32 33
;;>                                     v88 = bxor.i32 v9, v87  ; v87 = 33
;;> @0001                               brif v88, block4, block6
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
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v24, v16+24
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
;;> @0000                               v3 = load.i64 notrap aligned readonly can_move region0 v2+64
;;> @0005                               v56 = iconst.i32 80
;;> @0005                               v57 = iadd.i32 v23, v56  ; v56 = 80
;;> @0005                               v58 = uextend.i64 v57
;;> @0005                               v59 = iadd v3, v58
;;> @0005                               v60 = iconst.i64 1
;;> @0005                               v61 = iadd v59, v60  ; v60 = 1
;;> @0005                               v62 = uload8.i32 user65 region3 v61-1
;;> @0005                               v63 = iconst.i32 12
;;> @0005                               v64 = imul v62, v63  ; v63 = 12
;;> @0005                               v65 = uextend.i64 v64
;;> @0005                               v66 = iadd v3, v65
;;> @0005                               v67 = load.i16 user64 little region3 v66+4096
;;> @0005                               v68 = iconst.i32 40
;;> @0005                               v69 = iadd.i32 v23, v68  ; v68 = 40
;;> @0005                               v70 = uextend.i64 v69
;;> @0005                               v71 = iadd v3, v70
;;> @0005                               v73 = iadd v71, v60  ; v60 = 1
;;> @0005                               v74 = uload8.i32 user65 region3 v73-1
;;> @0005                               v76 = imul v74, v63  ; v63 = 12
;;> @0005                               v77 = uextend.i64 v76
;;> @0005                               v78 = iadd v3, v77
;;> @0005                               v79 = iconst.i64 4097
;;> @0005                               v80 = iadd v78, v79  ; v79 = 4097
;;> @0005                               v81 = uload16.i32 user65 region3 v80-1
;;> @0005                               v82 = uextend.i64 v81
;;> @0005                               v83 = iadd v3, v82
;;> @0005                               v84 = load.i16 user64 little region3 v83+40
;;>                                     v89 = uextend.i64 v23
;;> @0002                               v40 = iadd v3, v89
;;> @0002                               v41 = uload8.i32 user2 region3 v40
;;> @0003                               v43 = imul v41, v63  ; v63 = 12
;;> @0004                               v44 = uextend.i64 v43
;;> @0004                               v45 = iadd v3, v44
;;> @0004                               v46 = uload16.i32 user2 region3 v45+4096
;;> @0005                               v47 = uextend.i64 v46
;;> @0005                               v48 = iadd v3, v47
;;> @0005                               v49 = load.i64 user2 region3 v48+40
;;> @0007                               v54 = iconst.i32 1
;;> @0008                               v55 = isub.i32 v20, v54  ; v54 = 1
;;> @0006                               v51 = iconst.i32 5
;;> @0007                               v52 = iadd.i32 v23, v51  ; v51 = 5
;;> @0006                               v50 = iadd.i64 v26, v49
;;> @0009                               brif v55, block2(v55, v52, v50), block7
;;>
;;>                                 block7:
;;> @000b                               return v50
;;> }
;;> prefetch in function 0: done
