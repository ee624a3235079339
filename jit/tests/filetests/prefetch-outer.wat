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
;;> @0000                               v5 = load.i64 notrap aligned readonly can_move region0 v4-96
;;> @000b                               v98 = iconst.i32 48
;;> @000b                               v102 = iconst.i64 1
;;> @000b                               v110 = iconst.i32 32
;;> @000b                               v130 = iconst.i32 16
;;> @0001                               jump block2(v0, v6)  ; v6 = 0
;;>
;;>                                 block2(v16: i32, v20: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region1 v8-144
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11-64
;;> @0001                               v13 = load.i64 notrap aligned readonly region0 v12+40
;;> @0001                               v14 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v14, v13  ; v14 = 0x0023_0000_0000
;;>                                     v176 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v176, v13+8  ; v176 = 7
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v13+48
;;>                                     v177 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v177, v13+40
;;>                                     v178 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v178, v13+32
;;>                                     v179 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v179, v13+24
;;>                                     v180 = uextend.i64 v16
;;> @0001                               store notrap aligned region2 v180, v13+16
;;> @0001                               v26 = load.i32 notrap aligned region2 v13
;;> @0001                               v27 = load.i32 notrap aligned region2 v13+4
;;> @0001                               v28 = load.i32 notrap aligned region2 v13+8
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29-16
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+112
;;> @0001                               v32 = call_indirect sig0, v31(v29, v26, v27, v28)
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33-64
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+40
;;> @0001                               return_call_indirect sig1, v32(v35)
;;>
;;>                                 block4:
;;> @0002                               v36 = uextend.i64 v16
;;> @0002                               v38 = load.i32 user72 region3 v36
;;> @0003                               v39 = iadd.i32 v2, v38
;;> @0004                               v40 = uextend.i64 v39
;;> @0004                               v42 = load.i32 user72 region3 v40
;;>                                     v157 = iconst.i32 48
;;>                                     v158 = iadd.i32 v16, v157  ; v157 = 48
;;> @000b                               v100 = uextend.i64 v158
;;> @000b                               v101 = iadd.i64 v5, v100
;;>                                     v159 = iconst.i64 1
;;>                                     v160 = iadd v101, v159  ; v159 = 1
;;> @000b                               v104 = uload32 user65 region3 v160-1
;;> @000b                               v105 = ireduce.i32 v104
;;> @000b                               v106 = iadd.i32 v2, v105
;;> @000b                               v107 = uextend.i64 v106
;;> @000b                               v108 = iadd.i64 v5, v107
;;> @000b                               v109 = load.i16 user64 little region3 v108
;;>                                     v161 = iconst.i32 32
;;>                                     v162 = iadd.i32 v16, v161  ; v161 = 32
;;> @000b                               v112 = uextend.i64 v162
;;> @000b                               v113 = iadd.i64 v5, v112
;;>                                     v163 = iadd v113, v159  ; v159 = 1
;;> @000b                               v116 = uload32 user65 region3 v163-1
;;> @000b                               v117 = ireduce.i32 v116
;;> @000b                               v118 = iadd.i32 v2, v117
;;> @000b                               v119 = uextend.i64 v118
;;> @000b                               v120 = iadd.i64 v5, v119
;;>                                     v164 = iadd v120, v159  ; v159 = 1
;;> @000b                               v123 = uload32 user65 region3 v164-1
;;>                                     v165 = iconst.i32 16
;;>                                     v166 = iadd.i32 v16, v165  ; v165 = 16
;;> @000b                               v132 = uextend.i64 v166
;;> @000b                               v133 = iadd.i64 v5, v132
;;>                                     v167 = iadd v133, v159  ; v159 = 1
;;> @000b                               v136 = uload32 user65 region3 v167-1
;;> @000b                               v137 = ireduce.i32 v136
;;> @000b                               v138 = iadd.i32 v2, v137
;;> @000b                               v139 = uextend.i64 v138
;;> @000b                               v140 = iadd.i64 v5, v139
;;>                                     v168 = iadd v140, v159  ; v159 = 1
;;> @000b                               v143 = uload32 user65 region3 v168-1
;;> @0007                               v49 = load.i32 user72 region3 v40+4
;;> @000b                               v124 = ireduce.i32 v123
;;> @000b                               v125 = isub v124, v42
;;> @000b                               v144 = ireduce.i32 v143
;;> @000b                               v145 = isub v144, v42
;;> @000c                               v90 = iconst.i32 4
;;> @0008                               jump block5(v20, v42)
;;>
;;>                                 block5(v62: i32, v63: i32):
;;> @0008                               v50 = get_pinned_reg.i64
;;> @0008                               v51 = load.i64 user66 aligned region1 v50-136
;;> @0008                               v52 = icmp ult v50, v51
;;> @0008                               brif v52, block6, block7
;;>
;;>                                 block6 cold:
;;> @0008                               v53 = get_pinned_reg.i64
;;> @0008                               v54 = load.i64 notrap aligned readonly region0 v53-64
;;> @0008                               v55 = load.i64 notrap aligned readonly region0 v54+40
;;> @0008                               v56 = iconst.i64 0x003f_0000_0000
;;> @0008                               store notrap aligned region2 v56, v55  ; v56 = 0x003f_0000_0000
;;> @0008                               v57 = iconst.i64 7
;;> @0008                               store notrap aligned region2 v57, v55+8  ; v57 = 7
;;> @0008                               v65 = uextend.i64 v49
;;> @0008                               store notrap aligned region2 v65, v55+64
;;>                                     v175 = uextend.i64 v63
;;> @0008                               store notrap aligned region2 v175, v55+56
;;> @0008                               v67 = uextend.i64 v62
;;> @0008                               store notrap aligned region2 v67, v55+48
;;> @0008                               v68 = uextend.i64 v3
;;> @0008                               store notrap aligned region2 v68, v55+40
;;> @0008                               v69 = uextend.i64 v2
;;> @0008                               store notrap aligned region2 v69, v55+32
;;> @0008                               v70 = uextend.i64 v1
;;> @0008                               store notrap aligned region2 v70, v55+24
;;> @0008                               store.i64 notrap aligned region2 v36, v55+16
;;> @0008                               v72 = load.i32 notrap aligned region2 v55
;;> @0008                               v73 = load.i32 notrap aligned region2 v55+4
;;> @0008                               v74 = load.i32 notrap aligned region2 v55+8
;;> @0008                               v75 = get_pinned_reg.i64
;;> @0008                               v76 = load.i64 notrap aligned readonly region0 v75-16
;;> @0008                               v77 = load.i64 notrap aligned readonly region0 v76+112
;;> @0008                               v78 = call_indirect sig0, v77(v75, v72, v73, v74)
;;> @0008                               v79 = get_pinned_reg.i64
;;> @0008                               v80 = load.i64 notrap aligned readonly region0 v79-64
;;> @0008                               v81 = load.i64 notrap aligned readonly region0 v80+40
;;> @0008                               return_call_indirect sig1, v78(v81)
;;>
;;>                                 block7:
;;> @0009                               v82 = uextend.i64 v63
;;> @0009                               v84 = load.i32 user72 region3 v82
;;> @000b                               v126 = iadd.i32 v63, v125
;;> @000b                               v127 = uextend.i64 v126
;;> @000b                               v128 = iadd.i64 v5, v127
;;> @000b                               v129 = load.i16 user64 little region3 v128
;;> @000b                               v146 = iadd.i32 v63, v145
;;> @000b                               v147 = uextend.i64 v146
;;> @000b                               v148 = iadd.i64 v5, v147
;;>                                     v169 = iconst.i64 1
;;>                                     v170 = iadd v148, v169  ; v169 = 1
;;> @000b                               v151 = uload32 user65 region3 v170-1
;;> @000b                               v152 = ireduce.i32 v151
;;> @000b                               v153 = iadd.i32 v3, v152
;;> @000b                               v154 = uextend.i64 v153
;;> @000b                               v155 = iadd.i64 v5, v154
;;> @000b                               v156 = load.i16 user64 little region3 v155
;;> @000a                               v85 = iadd.i32 v3, v84
;;> @000b                               v86 = uextend.i64 v85
;;> @000b                               v88 = load.i32 user72 region3 v86
;;>                                     v171 = iconst.i32 4
;;>                                     v172 = iadd.i32 v63, v171  ; v171 = 4
;;> @000e                               v92 = icmp ne v172, v49
;;> @000c                               v89 = iadd.i32 v62, v88
;;> @000f                               brif v92, block5(v89, v172), block8
;;>
;;>                                 block8:
;;>                                     v173 = iconst.i32 4
;;>                                     v174 = iadd.i32 v16, v173  ; v173 = 4
;;> @0012                               v96 = icmp ne v174, v1
;;> @0013                               brif v96, block2(v174, v89), block9
;;>
;;>                                 block9:
;;> @0015                               return v89
;;> }
;;> prefetch in function 0: done
