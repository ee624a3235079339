;;! tier = optimizing
;;! show = optimized
;;! decision = {"prefetch": {"offset": "I32Load#5", "kind": "outer", "distance": 4}}
;;! contains = prefetch in function 0: done
;; Rows in the order of a queue: each round of the inner loop fetches for the same round four queue entries later.
(module
  (memory 1)
  (func (param $queue i32) (param $end i32) (param $row i32) (param $level i32) (result i32) (local $sum i32) (local $e i32) (local $last i32)
    (loop $vertices
      (local.set $e (i32.load (i32.add (local.get $row) (i32.load (local.get $queue)))))
      (local.set $last (i32.load offset=4 (i32.add (local.get $row) (i32.load (local.get $queue)))))
      (loop $edges
        (local.set $sum (i32.add (local.get $sum) (i32.load (i32.add (local.get $level) (i32.load (local.get $e))))))
        (br_if $edges (i32.ne (local.tee $e (i32.add (local.get $e) (i32.const 4))) (local.get $last))))
      (br_if $vertices (i32.ne (local.tee $queue (i32.add (local.get $queue) (i32.const 4))) (local.get $end))))
    (local.get $sum)))

;;> function u0:0(i32, i32, i32, i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32, v3: i32):
;;>                                     v4 = get_pinned_reg.i64
;;> @0000                               v6 = iconst.i32 0
;;> @0000                               v5 = load.i64 notrap aligned readonly can_move region0 v4+64
;;> @000b                               v96 = iconst.i32 48
;;> @000b                               v100 = iconst.i64 1
;;> @000b                               v108 = iconst.i32 32
;;> @000b                               v128 = iconst.i32 16
;;> @0001                               jump block2(v0, v6)  ; v6 = 0
;;>
;;>                                 block2(v13: i32, v21: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region1 v8+112
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i64 notrap aligned readonly region0 v10+8
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11+40
;;>                                     v174 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v174, v12+16
;;>                                     v175 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v175, v12+24
;;>                                     v176 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v176, v12+32
;;>                                     v177 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v177, v12+40
;;> @0001                               v22 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v22, v12+48
;;> @0001                               v23 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v23, v12  ; v23 = 0x0023_0000_0000
;;>                                     v178 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v178, v12+8  ; v178 = 7
;;> @0001                               v25 = load.i32 notrap aligned region2 v12
;;> @0001                               v26 = load.i32 notrap aligned region2 v12+4
;;> @0001                               v27 = load.i32 notrap aligned region2 v12+8
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region0 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v25, v26, v27)
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+8
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33+40
;;> @0001                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block4:
;;> @0002                               v35 = uextend.i64 v13
;;> @0002                               v36 = iadd.i64 v5, v35
;;> @0002                               v37 = load.i32 user2 region3 v36
;;> @0003                               v38 = iadd.i32 v2, v37
;;> @0004                               v39 = uextend.i64 v38
;;> @0004                               v40 = iadd.i64 v5, v39
;;> @0004                               v41 = load.i32 user2 region3 v40
;;>                                     v155 = iconst.i32 48
;;>                                     v156 = iadd.i32 v13, v155  ; v155 = 48
;;> @000b                               v98 = uextend.i64 v156
;;> @000b                               v99 = iadd.i64 v5, v98
;;>                                     v157 = iconst.i64 1
;;>                                     v158 = iadd v99, v157  ; v157 = 1
;;> @000b                               v102 = uload32 user65 region3 v158-1
;;> @000b                               v103 = ireduce.i32 v102
;;> @000b                               v104 = iadd.i32 v2, v103
;;> @000b                               v105 = uextend.i64 v104
;;> @000b                               v106 = iadd.i64 v5, v105
;;> @000b                               v107 = load.i16 user64 little region3 v106
;;>                                     v159 = iconst.i32 32
;;>                                     v160 = iadd.i32 v13, v159  ; v159 = 32
;;> @000b                               v110 = uextend.i64 v160
;;> @000b                               v111 = iadd.i64 v5, v110
;;>                                     v161 = iadd v111, v157  ; v157 = 1
;;> @000b                               v114 = uload32 user65 region3 v161-1
;;> @000b                               v115 = ireduce.i32 v114
;;> @000b                               v116 = iadd.i32 v2, v115
;;> @000b                               v117 = uextend.i64 v116
;;> @000b                               v118 = iadd.i64 v5, v117
;;>                                     v162 = iadd v118, v157  ; v157 = 1
;;> @000b                               v121 = uload32 user65 region3 v162-1
;;>                                     v163 = iconst.i32 16
;;>                                     v164 = iadd.i32 v13, v163  ; v163 = 16
;;> @000b                               v130 = uextend.i64 v164
;;> @000b                               v131 = iadd.i64 v5, v130
;;>                                     v165 = iadd v131, v157  ; v157 = 1
;;> @000b                               v134 = uload32 user65 region3 v165-1
;;> @000b                               v135 = ireduce.i32 v134
;;> @000b                               v136 = iadd.i32 v2, v135
;;> @000b                               v137 = uextend.i64 v136
;;> @000b                               v138 = iadd.i64 v5, v137
;;>                                     v166 = iadd v138, v157  ; v157 = 1
;;> @000b                               v141 = uload32 user65 region3 v166-1
;;> @0007                               v48 = load.i32 user2 region3 v40+4
;;> @000b                               v122 = ireduce.i32 v121
;;> @000b                               v123 = isub v122, v41
;;> @000b                               v142 = ireduce.i32 v141
;;> @000b                               v143 = isub v142, v41
;;> @000c                               v88 = iconst.i32 4
;;> @0008                               jump block5(v21, v41)
;;>
;;>                                 block5(v62: i32, v64: i32):
;;> @0008                               v49 = get_pinned_reg.i64
;;> @0008                               v50 = load.i32 notrap aligned region1 v49+112
;;> @0008                               brif v50, block6, block7
;;>
;;>                                 block6 cold:
;;> @0008                               v51 = get_pinned_reg.i64
;;> @0008                               v52 = load.i64 notrap aligned readonly region0 v51+8
;;> @0008                               v53 = load.i64 notrap aligned readonly region0 v52+40
;;> @0008                               store.i64 notrap aligned region2 v35, v53+16
;;> @0008                               v57 = uextend.i64 v1
;;> @0008                               store notrap aligned region2 v57, v53+24
;;> @0008                               v59 = uextend.i64 v2
;;> @0008                               store notrap aligned region2 v59, v53+32
;;> @0008                               v61 = uextend.i64 v3
;;> @0008                               store notrap aligned region2 v61, v53+40
;;> @0008                               v63 = uextend.i64 v62
;;> @0008                               store notrap aligned region2 v63, v53+48
;;>                                     v173 = uextend.i64 v64
;;> @0008                               store notrap aligned region2 v173, v53+56
;;> @0008                               v67 = uextend.i64 v48
;;> @0008                               store notrap aligned region2 v67, v53+64
;;> @0008                               v68 = iconst.i64 0x003f_0000_0000
;;> @0008                               store notrap aligned region2 v68, v53  ; v68 = 0x003f_0000_0000
;;> @0008                               v69 = iconst.i64 7
;;> @0008                               store notrap aligned region2 v69, v53+8  ; v69 = 7
;;> @0008                               v70 = load.i32 notrap aligned region2 v53
;;> @0008                               v71 = load.i32 notrap aligned region2 v53+4
;;> @0008                               v72 = load.i32 notrap aligned region2 v53+8
;;> @0008                               v73 = get_pinned_reg.i64
;;> @0008                               v74 = load.i64 notrap aligned readonly region0 v73+48
;;> @0008                               v75 = load.i64 notrap aligned readonly region0 v74+96
;;> @0008                               v76 = call_indirect sig0, v75(v73, v70, v71, v72)
;;> @0008                               v77 = get_pinned_reg.i64
;;> @0008                               v78 = load.i64 notrap aligned readonly region0 v77+8
;;> @0008                               v79 = load.i64 notrap aligned readonly region0 v78+40
;;> @0008                               return_call_indirect sig1, v76(v79)
;;>
;;>                                 block7:
;;> @0009                               v80 = uextend.i64 v64
;;> @0009                               v81 = iadd.i64 v5, v80
;;> @0009                               v82 = load.i32 user2 region3 v81
;;> @000b                               v124 = iadd.i32 v64, v123
;;> @000b                               v125 = uextend.i64 v124
;;> @000b                               v126 = iadd.i64 v5, v125
;;> @000b                               v127 = load.i16 user64 little region3 v126
;;> @000b                               v144 = iadd.i32 v64, v143
;;> @000b                               v145 = uextend.i64 v144
;;> @000b                               v146 = iadd.i64 v5, v145
;;>                                     v167 = iconst.i64 1
;;>                                     v168 = iadd v146, v167  ; v167 = 1
;;> @000b                               v149 = uload32 user65 region3 v168-1
;;> @000b                               v150 = ireduce.i32 v149
;;> @000b                               v151 = iadd.i32 v3, v150
;;> @000b                               v152 = uextend.i64 v151
;;> @000b                               v153 = iadd.i64 v5, v152
;;> @000b                               v154 = load.i16 user64 little region3 v153
;;> @000a                               v83 = iadd.i32 v3, v82
;;> @000b                               v84 = uextend.i64 v83
;;> @000b                               v85 = iadd.i64 v5, v84
;;> @000b                               v86 = load.i32 user2 region3 v85
;;>                                     v169 = iconst.i32 4
;;>                                     v170 = iadd.i32 v64, v169  ; v169 = 4
;;> @000e                               v90 = icmp ne v170, v48
;;> @000c                               v87 = iadd.i32 v62, v86
;;> @000f                               brif v90, block5(v87, v170), block8
;;>
;;>                                 block8:
;;>                                     v171 = iconst.i32 4
;;>                                     v172 = iadd.i32 v13, v171  ; v171 = 4
;;> @0012                               v94 = icmp ne v172, v1
;;> @0013                               brif v94, block2(v172, v87), block9
;;>
;;>                                 block9:
;;> @0015                               return v87
;;> }
;;> prefetch in function 0: done
