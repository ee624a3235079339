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
;;> @0001                               v12 = iconst.i32 -2
;;> @0001                               v13 = iconst.i32 35
;;> @0001                               jump block2(v0, v6)  ; v6 = 0
;;>
;;>                                 block2(v22: i32, v34: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region1 v8+112
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i32 notrap aligned region1 v10+112
;;>                                     v191 = iconst.i32 -2
;;>                                     v192 = band v11, v191  ; v191 = -2
;;> @0001                               brif v192, block5, block6
;;>
;;>                                 block5 cold:
;;>                                     v193 = iconst.i32 35
;;>                                     v194 = bxor.i32 v11, v193  ; v193 = 35
;;> @0001                               brif v194, block4, block6
;;>
;;>                                 block6 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v19 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v19, v18  ; v19 = 0x0023_0000_0000
;;> @0001                               v20 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v20, v18+8  ; v20 = 7
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v23, v18+16
;;> @0001                               v26 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v26, v18+24
;;> @0001                               v29 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v29, v18+32
;;> @0001                               v32 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v32, v18+40
;;> @0001                               v35 = uextend.i64 v34
;;> @0001                               store notrap aligned region2 v35, v18+48
;;> @0001                               v36 = load.i32 notrap aligned region2 v18
;;> @0001                               v37 = load.i32 notrap aligned region2 v18+4
;;> @0001                               v38 = load.i32 notrap aligned region2 v18+8
;;> @0001                               v39 = get_pinned_reg.i64
;;> @0001                               v40 = load.i64 notrap aligned readonly region0 v39+48
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+96
;;> @0001                               v42 = call_indirect sig0, v41(v39, v36, v37, v38)
;;> @0001                               v43 = get_pinned_reg.i64
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+8
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+40
;;> @0001                               return_call_indirect sig1, v42(v45)
;;>
;;>                                 block4:
;;> @0000                               v5 = load.i64 notrap aligned readonly can_move region0 v4+64
;;>                                     v195 = uextend.i64 v22
;;> @0002                               v49 = iadd v5, v195
;;> @0002                               v50 = load.i32 user2 region3 v49
;;> @0003                               v51 = iadd.i32 v2, v50
;;> @0004                               v52 = uextend.i64 v51
;;> @0004                               v53 = iadd v5, v52
;;> @0004                               v54 = load.i32 user2 region3 v53
;;> @000b                               v132 = iconst.i32 48
;;> @000b                               v133 = iadd.i32 v22, v132  ; v132 = 48
;;> @000b                               v134 = uextend.i64 v133
;;> @000b                               v135 = iadd v5, v134
;;> @000b                               v136 = iconst.i64 1
;;> @000b                               v137 = iadd v135, v136  ; v136 = 1
;;> @000b                               v138 = uload32 user65 region3 v137-1
;;> @000b                               v139 = ireduce.i32 v138
;;> @000b                               v140 = iadd.i32 v2, v139
;;> @000b                               v141 = uextend.i64 v140
;;> @000b                               v142 = iadd v5, v141
;;> @000b                               v143 = load.i16 user64 little region3 v142
;;> @000b                               v144 = iconst.i32 32
;;> @000b                               v145 = iadd.i32 v22, v144  ; v144 = 32
;;> @000b                               v146 = uextend.i64 v145
;;> @000b                               v147 = iadd v5, v146
;;> @000b                               v149 = iadd v147, v136  ; v136 = 1
;;> @000b                               v150 = uload32 user65 region3 v149-1
;;> @000b                               v151 = ireduce.i32 v150
;;> @000b                               v152 = iadd.i32 v2, v151
;;> @000b                               v153 = uextend.i64 v152
;;> @000b                               v154 = iadd v5, v153
;;> @000b                               v156 = iadd v154, v136  ; v136 = 1
;;> @000b                               v157 = uload32 user65 region3 v156-1
;;> @000b                               v164 = iconst.i32 16
;;> @000b                               v165 = iadd.i32 v22, v164  ; v164 = 16
;;> @000b                               v166 = uextend.i64 v165
;;> @000b                               v167 = iadd v5, v166
;;> @000b                               v169 = iadd v167, v136  ; v136 = 1
;;> @000b                               v170 = uload32 user65 region3 v169-1
;;> @000b                               v171 = ireduce.i32 v170
;;> @000b                               v172 = iadd.i32 v2, v171
;;> @000b                               v173 = uextend.i64 v172
;;> @000b                               v174 = iadd v5, v173
;;> @000b                               v176 = iadd v174, v136  ; v136 = 1
;;> @000b                               v177 = uload32 user65 region3 v176-1
;;> @0007                               v61 = load.i32 user2 region3 v53+4
;;> @0008                               v67 = iconst.i32 63
;;> @0008                               jump block7(v34, v54)
;;>
;;>                                 block7(v88: i32, v91: i32):
;;> @0008                               v62 = get_pinned_reg.i64
;;> @0008                               v63 = load.i32 notrap aligned region1 v62+112
;;> @0008                               brif v63, block8, block9
;;>
;;>                                 block8 cold:
;;> @0008                               v64 = get_pinned_reg.i64
;;> @0008                               v65 = load.i32 notrap aligned region1 v64+112
;;>                                     v196 = iconst.i32 -2
;;>                                     v197 = band v65, v196  ; v196 = -2
;;> @0008                               brif v197, block10, block11
;;>
;;>                                 block10 cold:
;;>                                     v198 = iconst.i32 63
;;>                                     v199 = bxor.i32 v65, v198  ; v198 = 63
;;> @0008                               brif v199, block9, block11
;;>
;;>                                 block11 cold:
;;> @0008                               v70 = get_pinned_reg.i64
;;> @0008                               v71 = load.i64 notrap aligned readonly region0 v70+8
;;> @0008                               v72 = load.i64 notrap aligned readonly region0 v71+40
;;> @0008                               v73 = iconst.i64 0x003f_0000_0000
;;> @0008                               store notrap aligned region2 v73, v72  ; v73 = 0x003f_0000_0000
;;>                                     v200 = iconst.i64 7
;;> @0008                               store notrap aligned region2 v200, v72+8  ; v200 = 7
;;> @0008                               store.i64 notrap aligned region2 v195, v72+16
;;>                                     v201 = uextend.i64 v1
;;> @0008                               store notrap aligned region2 v201, v72+24
;;>                                     v202 = uextend.i64 v2
;;> @0008                               store notrap aligned region2 v202, v72+32
;;>                                     v203 = uextend.i64 v3
;;> @0008                               store notrap aligned region2 v203, v72+40
;;> @0008                               v89 = uextend.i64 v88
;;> @0008                               store notrap aligned region2 v89, v72+48
;;> @0008                               v92 = uextend.i64 v91
;;> @0008                               store notrap aligned region2 v92, v72+56
;;> @0008                               v95 = uextend.i64 v61
;;> @0008                               store notrap aligned region2 v95, v72+64
;;> @0008                               v96 = load.i32 notrap aligned region2 v72
;;> @0008                               v97 = load.i32 notrap aligned region2 v72+4
;;> @0008                               v98 = load.i32 notrap aligned region2 v72+8
;;> @0008                               v99 = get_pinned_reg.i64
;;> @0008                               v100 = load.i64 notrap aligned readonly region0 v99+48
;;> @0008                               v101 = load.i64 notrap aligned readonly region0 v100+96
;;> @0008                               v102 = call_indirect sig0, v101(v99, v96, v97, v98)
;;> @0008                               v103 = get_pinned_reg.i64
;;> @0008                               v104 = load.i64 notrap aligned readonly region0 v103+8
;;> @0008                               v105 = load.i64 notrap aligned readonly region0 v104+40
;;> @0008                               return_call_indirect sig1, v102(v105)
;;>
;;>                                 block9:
;;>                                     v204 = uextend.i64 v91
;;> @0009                               v110 = iadd.i64 v5, v204
;;> @0009                               v111 = load.i32 user2 region3 v110
;;> @000b                               v158 = ireduce.i32 v157
;;> @000b                               v159 = isub v158, v54
;;> @000b                               v160 = iadd.i32 v91, v159
;;> @000b                               v161 = uextend.i64 v160
;;> @000b                               v162 = iadd.i64 v5, v161
;;> @000b                               v163 = load.i16 user64 little region3 v162
;;> @000b                               v178 = ireduce.i32 v177
;;> @000b                               v179 = isub v178, v54
;;> @000b                               v180 = iadd.i32 v91, v179
;;> @000b                               v181 = uextend.i64 v180
;;> @000b                               v182 = iadd.i64 v5, v181
;;>                                     v205 = iconst.i64 1
;;>                                     v206 = iadd v182, v205  ; v205 = 1
;;> @000b                               v185 = uload32 user65 region3 v206-1
;;> @000b                               v186 = ireduce.i32 v185
;;> @000b                               v187 = iadd.i32 v3, v186
;;> @000b                               v188 = uextend.i64 v187
;;> @000b                               v189 = iadd.i64 v5, v188
;;> @000b                               v190 = load.i16 user64 little region3 v189
;;> @000a                               v112 = iadd.i32 v3, v111
;;> @000b                               v113 = uextend.i64 v112
;;> @000b                               v114 = iadd.i64 v5, v113
;;> @000b                               v115 = load.i32 user2 region3 v114
;;> @000c                               v117 = iconst.i32 4
;;> @000d                               v118 = iadd.i32 v91, v117  ; v117 = 4
;;> @000e                               v120 = icmp ne v118, v61
;;> @000c                               v116 = iadd.i32 v88, v115
;;> @000f                               brif v120, block7(v116, v118), block12
;;>
;;>                                 block12:
;;>                                     v207 = iconst.i32 4
;;>                                     v208 = iadd.i32 v22, v207  ; v207 = 4
;;> @0012                               v130 = icmp ne v208, v1
;;> @0013                               brif v130, block2(v208, v116), block13
;;>
;;>                                 block13:
;;> @0015                               return v116
;;> }
;;> prefetch in function 0: done
