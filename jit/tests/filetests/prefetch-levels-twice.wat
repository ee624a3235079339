;;! tier = optimizing
;;! show = optimized
;;! intel = true
;;! decision = {"prefetch": {"offset": "I64Load#0", "kind": "indirect", "distance": 8}}
;;! contains = prefetch in function 0: done
;; As prefetch-levels, in two fetches: both far ones into the second cache, and the access itself again one round ahead.
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
;;> @0003                               v33 = iconst.i32 1
;;> @0003                               v36 = iconst.i32 2
;;> @0005                               v49 = iconst.i32 80
;;> @0005                               v53 = iconst.i64 1
;;> @0005                               v64 = iconst.i32 40
;;> @0005                               v78 = iconst.i64 4097
;;> @0005                               v84 = iconst.i32 5
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
;;>                                     v128 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v128, v11+24
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
;;> @0002                               v29 = uextend.i64 v15
;;> @0002                               v31 = uload8.i32 user72 region3 v29
;;>                                     v104 = iconst.i32 1
;;>                                     v105 = ishl v31, v104  ; v104 = 1
;;> @0003                               v35 = iadd v31, v105
;;>                                     v106 = iconst.i32 2
;;>                                     v107 = ishl v35, v106  ; v106 = 2
;;> @0004                               v38 = uextend.i64 v107
;;> @0004                               v40 = uload16.i32 user72 region3 v38+4096
;;>                                     v108 = iconst.i32 80
;;>                                     v109 = iadd.i32 v15, v108  ; v108 = 80
;;> @0005                               v51 = uextend.i64 v109
;;> @0005                               v52 = iadd.i64 v3, v51
;;>                                     v110 = iconst.i64 1
;;>                                     v111 = iadd v52, v110  ; v110 = 1
;;> @0005                               v55 = uload8.i32 user65 region3 v111-1
;;>                                     v112 = ishl v55, v104  ; v104 = 1
;;> @0005                               v58 = iadd v55, v112
;;>                                     v113 = ishl v58, v106  ; v106 = 2
;;> @0005                               v61 = uextend.i64 v113
;;> @0005                               v62 = iadd.i64 v3, v61
;;> @0005                               v63 = load.i16 user67 little region3 v62+4096
;;>                                     v114 = iconst.i32 40
;;>                                     v115 = iadd.i32 v15, v114  ; v114 = 40
;;> @0005                               v66 = uextend.i64 v115
;;> @0005                               v67 = iadd.i64 v3, v66
;;>                                     v116 = iadd v67, v110  ; v110 = 1
;;> @0005                               v70 = uload8.i32 user65 region3 v116-1
;;>                                     v117 = ishl v70, v104  ; v104 = 1
;;> @0005                               v73 = iadd v70, v117
;;>                                     v118 = ishl v73, v106  ; v106 = 2
;;> @0005                               v76 = uextend.i64 v118
;;> @0005                               v77 = iadd.i64 v3, v76
;;>                                     v119 = iconst.i64 4097
;;>                                     v120 = iadd v77, v119  ; v119 = 4097
;;> @0005                               v80 = uload16.i32 user65 region3 v120-1
;;> @0005                               v81 = uextend.i64 v80
;;> @0005                               v82 = iadd.i64 v3, v81
;;> @0005                               v83 = load.i16 user67 little region3 v82+40
;;>                                     v121 = iconst.i32 5
;;>                                     v122 = iadd.i32 v15, v121  ; v121 = 5
;;> @0005                               v86 = uextend.i64 v122
;;> @0005                               v87 = iadd.i64 v3, v86
;;>                                     v123 = iadd v87, v110  ; v110 = 1
;;> @0005                               v90 = uload8.i32 user65 region3 v123-1
;;>                                     v124 = ishl v90, v104  ; v104 = 1
;;> @0005                               v93 = iadd v90, v124
;;>                                     v125 = ishl v93, v106  ; v106 = 2
;;> @0005                               v96 = uextend.i64 v125
;;> @0005                               v97 = iadd.i64 v3, v96
;;>                                     v126 = iadd v97, v119  ; v119 = 4097
;;> @0005                               v100 = uload16.i32 user65 region3 v126-1
;;> @0005                               v101 = uextend.i64 v100
;;> @0005                               v102 = iadd.i64 v3, v101
;;> @0005                               v103 = load.i16 user64 little region3 v102+40
;;> @0005                               v41 = uextend.i64 v40
;;> @0005                               v43 = load.i64 user72 region3 v41+40
;;>                                     v127 = isub.i32 v14, v104  ; v104 = 1
;;> @0006                               v44 = iadd.i64 v16, v43
;;> @0009                               brif v127, block2(v127, v122, v44), block5
;;>
;;>                                 block5:
;;> @000b                               return v44
;;> }
;;> prefetch in function 0: done
