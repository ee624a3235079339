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
;;> @000b                               v120 = iconst.i32 48
;;> @000b                               v124 = iconst.i64 1
;;> @000b                               v132 = iconst.i32 32
;;> @000b                               v152 = iconst.i32 16
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
;;> @0001                               v13 = ireduce.i16 v11
;;> @0001                               brif v13, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v12 = iconst.i32 0x0024_0000
;;> @0001                               v14 = bxor.i32 v11, v12  ; v12 = 0x0024_0000
;;> @0001                               brif v14, block7, block6
;;>
;;>                                 block7 cold:
;;>                                     v198 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v198, v10+114  ; v198 = 0
;;> @0001                               jump block2(v22, v34)
;;>
;;>                                 block6 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v19 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v19, v18  ; v19 = 0x0023_0000_0000
;;>                                     v199 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v199, v18+8  ; v199 = 7
;;>                                     v200 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v200, v18+16
;;>                                     v201 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v201, v18+24
;;>                                     v202 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v202, v18+32
;;>                                     v203 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v203, v18+40
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
;;> @0002                               v46 = uextend.i64 v22
;;> @0002                               v47 = iadd.i64 v5, v46
;;> @0002                               v48 = load.i32 user2 region3 v47
;;> @0003                               v49 = iadd.i32 v2, v48
;;> @0004                               v50 = uextend.i64 v49
;;> @0004                               v51 = iadd.i64 v5, v50
;;> @0004                               v52 = load.i32 user2 region3 v51
;;>                                     v179 = iconst.i32 48
;;>                                     v180 = iadd.i32 v22, v179  ; v179 = 48
;;> @000b                               v122 = uextend.i64 v180
;;> @000b                               v123 = iadd.i64 v5, v122
;;>                                     v181 = iconst.i64 1
;;>                                     v182 = iadd v123, v181  ; v181 = 1
;;> @000b                               v126 = uload32 user65 region3 v182-1
;;> @000b                               v127 = ireduce.i32 v126
;;> @000b                               v128 = iadd.i32 v2, v127
;;> @000b                               v129 = uextend.i64 v128
;;> @000b                               v130 = iadd.i64 v5, v129
;;> @000b                               v131 = load.i16 user64 little region3 v130
;;>                                     v183 = iconst.i32 32
;;>                                     v184 = iadd.i32 v22, v183  ; v183 = 32
;;> @000b                               v134 = uextend.i64 v184
;;> @000b                               v135 = iadd.i64 v5, v134
;;>                                     v185 = iadd v135, v181  ; v181 = 1
;;> @000b                               v138 = uload32 user65 region3 v185-1
;;> @000b                               v139 = ireduce.i32 v138
;;> @000b                               v140 = iadd.i32 v2, v139
;;> @000b                               v141 = uextend.i64 v140
;;> @000b                               v142 = iadd.i64 v5, v141
;;>                                     v186 = iadd v142, v181  ; v181 = 1
;;> @000b                               v145 = uload32 user65 region3 v186-1
;;>                                     v187 = iconst.i32 16
;;>                                     v188 = iadd.i32 v22, v187  ; v187 = 16
;;> @000b                               v154 = uextend.i64 v188
;;> @000b                               v155 = iadd.i64 v5, v154
;;>                                     v189 = iadd v155, v181  ; v181 = 1
;;> @000b                               v158 = uload32 user65 region3 v189-1
;;> @000b                               v159 = ireduce.i32 v158
;;> @000b                               v160 = iadd.i32 v2, v159
;;> @000b                               v161 = uextend.i64 v160
;;> @000b                               v162 = iadd.i64 v5, v161
;;>                                     v190 = iadd v162, v181  ; v181 = 1
;;> @000b                               v165 = uload32 user65 region3 v190-1
;;> @0007                               v59 = load.i32 user2 region3 v51+4
;;> @000b                               v146 = ireduce.i32 v145
;;> @000b                               v147 = isub v146, v52
;;> @000b                               v166 = ireduce.i32 v165
;;> @000b                               v167 = isub v166, v52
;;> @000c                               v112 = iconst.i32 4
;;> @0008                               jump block8(v34, v52)
;;>
;;>                                 block8(v86: i32, v89: i32):
;;> @0008                               v60 = get_pinned_reg.i64
;;> @0008                               v61 = load.i32 notrap aligned region1 v60+112
;;> @0008                               brif v61, block9, block10
;;>
;;>                                 block9 cold:
;;> @0008                               v62 = get_pinned_reg.i64
;;> @0008                               v63 = load.i32 notrap aligned region1 v62+112
;;> @0008                               v65 = ireduce.i16 v63
;;> @0008                               brif v65, block12, block11
;;>
;;>                                 block11 cold:
;;> @0008                               v64 = iconst.i32 0x0040_0000
;;> @0008                               v66 = bxor.i32 v63, v64  ; v64 = 0x0040_0000
;;> @0008                               brif v66, block13, block12
;;>
;;>                                 block13 cold:
;;> @0008                               v67 = iconst.i16 0
;;> @0008                               store notrap aligned region1 v67, v62+114  ; v67 = 0
;;> @0008                               jump block8(v86, v89)
;;>
;;>                                 block12 cold:
;;> @0008                               v68 = get_pinned_reg.i64
;;> @0008                               v69 = load.i64 notrap aligned readonly region0 v68+8
;;> @0008                               v70 = load.i64 notrap aligned readonly region0 v69+40
;;> @0008                               v71 = iconst.i64 0x003f_0000_0000
;;> @0008                               store notrap aligned region2 v71, v70  ; v71 = 0x003f_0000_0000
;;> @0008                               v72 = iconst.i64 7
;;> @0008                               store notrap aligned region2 v72, v70+8  ; v72 = 7
;;> @0008                               store.i64 notrap aligned region2 v46, v70+16
;;> @0008                               v78 = uextend.i64 v1
;;> @0008                               store notrap aligned region2 v78, v70+24
;;> @0008                               v81 = uextend.i64 v2
;;> @0008                               store notrap aligned region2 v81, v70+32
;;> @0008                               v84 = uextend.i64 v3
;;> @0008                               store notrap aligned region2 v84, v70+40
;;> @0008                               v87 = uextend.i64 v86
;;> @0008                               store notrap aligned region2 v87, v70+48
;;>                                     v197 = uextend.i64 v89
;;> @0008                               store notrap aligned region2 v197, v70+56
;;> @0008                               v93 = uextend.i64 v59
;;> @0008                               store notrap aligned region2 v93, v70+64
;;> @0008                               v94 = load.i32 notrap aligned region2 v70
;;> @0008                               v95 = load.i32 notrap aligned region2 v70+4
;;> @0008                               v96 = load.i32 notrap aligned region2 v70+8
;;> @0008                               v97 = get_pinned_reg.i64
;;> @0008                               v98 = load.i64 notrap aligned readonly region0 v97+48
;;> @0008                               v99 = load.i64 notrap aligned readonly region0 v98+96
;;> @0008                               v100 = call_indirect sig0, v99(v97, v94, v95, v96)
;;> @0008                               v101 = get_pinned_reg.i64
;;> @0008                               v102 = load.i64 notrap aligned readonly region0 v101+8
;;> @0008                               v103 = load.i64 notrap aligned readonly region0 v102+40
;;> @0008                               return_call_indirect sig1, v100(v103)
;;>
;;>                                 block10:
;;> @0009                               v104 = uextend.i64 v89
;;> @0009                               v105 = iadd.i64 v5, v104
;;> @0009                               v106 = load.i32 user2 region3 v105
;;> @000b                               v148 = iadd.i32 v89, v147
;;> @000b                               v149 = uextend.i64 v148
;;> @000b                               v150 = iadd.i64 v5, v149
;;> @000b                               v151 = load.i16 user64 little region3 v150
;;> @000b                               v168 = iadd.i32 v89, v167
;;> @000b                               v169 = uextend.i64 v168
;;> @000b                               v170 = iadd.i64 v5, v169
;;>                                     v191 = iconst.i64 1
;;>                                     v192 = iadd v170, v191  ; v191 = 1
;;> @000b                               v173 = uload32 user65 region3 v192-1
;;> @000b                               v174 = ireduce.i32 v173
;;> @000b                               v175 = iadd.i32 v3, v174
;;> @000b                               v176 = uextend.i64 v175
;;> @000b                               v177 = iadd.i64 v5, v176
;;> @000b                               v178 = load.i16 user64 little region3 v177
;;> @000a                               v107 = iadd.i32 v3, v106
;;> @000b                               v108 = uextend.i64 v107
;;> @000b                               v109 = iadd.i64 v5, v108
;;> @000b                               v110 = load.i32 user2 region3 v109
;;>                                     v193 = iconst.i32 4
;;>                                     v194 = iadd.i32 v89, v193  ; v193 = 4
;;> @000e                               v114 = icmp ne v194, v59
;;> @000c                               v111 = iadd.i32 v86, v110
;;> @000f                               brif v114, block8(v111, v194), block14
;;>
;;>                                 block14:
;;>                                     v195 = iconst.i32 4
;;>                                     v196 = iadd.i32 v22, v195  ; v195 = 4
;;> @0012                               v118 = icmp ne v196, v1
;;> @0013                               brif v118, block2(v196, v111), block15
;;>
;;>                                 block15:
;;> @0015                               return v111
;;> }
;;> prefetch in function 0: done
