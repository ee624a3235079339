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
;;> @0000                               v3 = load.i64 notrap aligned readonly can_move region0 v2-96
;;> @0005                               v45 = iconst.i32 80
;;> @0005                               v49 = iconst.i64 1
;;> @0005                               v52 = iconst.i32 12
;;> @0005                               v57 = iconst.i32 40
;;> @0005                               v68 = iconst.i64 4097
;;> @0007                               v43 = iconst.i32 1
;;> @0006                               v41 = iconst.i32 5
;;> @0001                               jump block2(v0, v1, v4)  ; v4 = 0
;;>
;;>                                 block2(v14: i32, v15: i32, v16: i64):
;;> @0001                               v6 = get_pinned_reg.i64
;;> @0001                               v7 = load.i64 user66 aligned region1 v6-136
;;> @0001                               v8 = icmp ult v6, v7
;;> @0001                               brif v8, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v9 = get_pinned_reg.i64
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9-64
;;> @0001                               v11 = load.i64 notrap aligned readonly region0 v10+40
;;> @0001                               v12 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region2 v12, v11  ; v12 = 0x0021_0000_0000
;;> @0001                               v13 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v13, v11+8  ; v13 = 7
;;> @0001                               store.i64 notrap aligned region2 v16, v11+32
;;>                                     v91 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v91, v11+24
;;> @0001                               v18 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v18, v11+16
;;> @0001                               v19 = load.i32 notrap aligned region2 v11
;;> @0001                               v20 = load.i32 notrap aligned region2 v11+4
;;> @0001                               v21 = load.i32 notrap aligned region2 v11+8
;;> @0001                               v22 = get_pinned_reg.i64
;;> @0001                               v23 = load.i64 notrap aligned readonly region0 v22-16
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23+112
;;> @0001                               v25 = call_indirect sig0, v24(v22, v19, v20, v21)
;;> @0001                               v26 = get_pinned_reg.i64
;;> @0001                               v27 = load.i64 notrap aligned readonly region0 v26-64
;;> @0001                               v28 = load.i64 notrap aligned readonly region0 v27+40
;;> @0001                               return_call_indirect sig1, v25(v28)
;;>
;;>                                 block4:
;;>                                     v74 = iconst.i32 80
;;>                                     v75 = iadd.i32 v15, v74  ; v74 = 80
;;> @0005                               v47 = uextend.i64 v75
;;> @0005                               v48 = iadd.i64 v3, v47
;;>                                     v76 = iconst.i64 1
;;>                                     v77 = iadd v48, v76  ; v76 = 1
;;> @0005                               v51 = uload8.i32 user65 region3 v77-1
;;>                                     v78 = iconst.i32 12
;;>                                     v79 = imul v51, v78  ; v78 = 12
;;> @0005                               v54 = uextend.i64 v79
;;> @0005                               v55 = iadd.i64 v3, v54
;;> @0005                               v56 = load.i16 user64 little region3 v55+4096
;;>                                     v80 = iconst.i32 40
;;>                                     v81 = iadd.i32 v15, v80  ; v80 = 40
;;> @0005                               v59 = uextend.i64 v81
;;> @0005                               v60 = iadd.i64 v3, v59
;;>                                     v82 = iadd v60, v76  ; v76 = 1
;;> @0005                               v63 = uload8.i32 user65 region3 v82-1
;;>                                     v83 = imul v63, v78  ; v78 = 12
;;> @0005                               v66 = uextend.i64 v83
;;> @0005                               v67 = iadd.i64 v3, v66
;;>                                     v84 = iconst.i64 4097
;;>                                     v85 = iadd v67, v84  ; v84 = 4097
;;> @0005                               v70 = uload16.i32 user65 region3 v85-1
;;> @0005                               v71 = uextend.i64 v70
;;> @0005                               v72 = iadd.i64 v3, v71
;;> @0005                               v73 = load.i16 user64 little region3 v72+40
;;> @0002                               v29 = uextend.i64 v15
;;> @0002                               v31 = uload8.i32 user72 region3 v29
;;>                                     v86 = imul v31, v78  ; v78 = 12
;;> @0004                               v34 = uextend.i64 v86
;;> @0004                               v36 = uload16.i32 user72 region3 v34+4096
;;> @0005                               v37 = uextend.i64 v36
;;> @0005                               v39 = load.i64 user72 region3 v37+40
;;>                                     v87 = iconst.i32 1
;;>                                     v88 = isub.i32 v14, v87  ; v87 = 1
;;>                                     v89 = iconst.i32 5
;;>                                     v90 = iadd.i32 v15, v89  ; v89 = 5
;;> @0006                               v40 = iadd.i64 v16, v39
;;> @0009                               brif v88, block2(v88, v90, v40), block5
;;>
;;>                                 block5:
;;> @000b                               return v40
;;> }
;;> prefetch in function 0: done
