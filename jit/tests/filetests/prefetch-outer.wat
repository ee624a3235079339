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
;;> @0000                               v5 = load.i64 notrap aligned readonly can_move region0 v4+72
;;> @000b                               v122 = iconst.i32 48
;;> @000b                               v126 = iconst.i64 1
;;> @000b                               v134 = iconst.i32 32
;;> @000b                               v154 = iconst.i32 16
;;> @0001                               jump block2(v0, v6)  ; v6 = 0
;;>
;;>                                 block2(v23: i32, v35: i32):
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region1 v8+128
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i32 notrap aligned region1 v11+132
;;> @0001                               v14 = ireduce.i16 v12
;;> @0001                               brif v14, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v13 = iconst.i32 0x0024_0000
;;> @0001                               v15 = bxor.i32 v12, v13  ; v13 = 0x0024_0000
;;> @0001                               brif v15, block7, block6
;;>
;;>                                 block7 cold:
;;>                                     v200 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v200, v11+134  ; v200 = 0
;;> @0001                               jump block2(v23, v35)
;;>
;;>                                 block6 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region0 v18+40
;;> @0001                               v20 = iconst.i64 0x0023_0000_0000
;;> @0001                               store notrap aligned region2 v20, v19  ; v20 = 0x0023_0000_0000
;;>                                     v201 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v201, v19+8  ; v201 = 7
;;>                                     v202 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v202, v19+16
;;>                                     v203 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v203, v19+24
;;>                                     v204 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v204, v19+32
;;>                                     v205 = uextend.i64 v3
;;> @0001                               store notrap aligned region2 v205, v19+40
;;> @0001                               v36 = uextend.i64 v35
;;> @0001                               store notrap aligned region2 v36, v19+48
;;> @0001                               v37 = load.i32 notrap aligned region2 v19
;;> @0001                               v38 = load.i32 notrap aligned region2 v19+4
;;> @0001                               v39 = load.i32 notrap aligned region2 v19+8
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+56
;;> @0001                               v42 = load.i64 notrap aligned readonly region0 v41+96
;;> @0001                               v43 = call_indirect sig0, v42(v40, v37, v38, v39)
;;> @0001                               v44 = get_pinned_reg.i64
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+8
;;> @0001                               v46 = load.i64 notrap aligned readonly region0 v45+40
;;> @0001                               return_call_indirect sig1, v43(v46)
;;>
;;>                                 block4:
;;> @0002                               v47 = uextend.i64 v23
;;> @0002                               v48 = iadd.i64 v5, v47
;;> @0002                               v49 = load.i32 user2 region3 v48
;;> @0003                               v50 = iadd.i32 v2, v49
;;> @0004                               v51 = uextend.i64 v50
;;> @0004                               v52 = iadd.i64 v5, v51
;;> @0004                               v53 = load.i32 user2 region3 v52
;;>                                     v181 = iconst.i32 48
;;>                                     v182 = iadd.i32 v23, v181  ; v181 = 48
;;> @000b                               v124 = uextend.i64 v182
;;> @000b                               v125 = iadd.i64 v5, v124
;;>                                     v183 = iconst.i64 1
;;>                                     v184 = iadd v125, v183  ; v183 = 1
;;> @000b                               v128 = uload32 user65 region3 v184-1
;;> @000b                               v129 = ireduce.i32 v128
;;> @000b                               v130 = iadd.i32 v2, v129
;;> @000b                               v131 = uextend.i64 v130
;;> @000b                               v132 = iadd.i64 v5, v131
;;> @000b                               v133 = load.i16 user64 little region3 v132
;;>                                     v185 = iconst.i32 32
;;>                                     v186 = iadd.i32 v23, v185  ; v185 = 32
;;> @000b                               v136 = uextend.i64 v186
;;> @000b                               v137 = iadd.i64 v5, v136
;;>                                     v187 = iadd v137, v183  ; v183 = 1
;;> @000b                               v140 = uload32 user65 region3 v187-1
;;> @000b                               v141 = ireduce.i32 v140
;;> @000b                               v142 = iadd.i32 v2, v141
;;> @000b                               v143 = uextend.i64 v142
;;> @000b                               v144 = iadd.i64 v5, v143
;;>                                     v188 = iadd v144, v183  ; v183 = 1
;;> @000b                               v147 = uload32 user65 region3 v188-1
;;>                                     v189 = iconst.i32 16
;;>                                     v190 = iadd.i32 v23, v189  ; v189 = 16
;;> @000b                               v156 = uextend.i64 v190
;;> @000b                               v157 = iadd.i64 v5, v156
;;>                                     v191 = iadd v157, v183  ; v183 = 1
;;> @000b                               v160 = uload32 user65 region3 v191-1
;;> @000b                               v161 = ireduce.i32 v160
;;> @000b                               v162 = iadd.i32 v2, v161
;;> @000b                               v163 = uextend.i64 v162
;;> @000b                               v164 = iadd.i64 v5, v163
;;>                                     v192 = iadd v164, v183  ; v183 = 1
;;> @000b                               v167 = uload32 user65 region3 v192-1
;;> @0007                               v60 = load.i32 user2 region3 v52+4
;;> @000b                               v148 = ireduce.i32 v147
;;> @000b                               v149 = isub v148, v53
;;> @000b                               v168 = ireduce.i32 v167
;;> @000b                               v169 = isub v168, v53
;;> @000c                               v114 = iconst.i32 4
;;> @0008                               jump block8(v35, v53)
;;>
;;>                                 block8(v88: i32, v91: i32):
;;> @0008                               v61 = get_pinned_reg.i64
;;> @0008                               v62 = load.i64 user66 aligned region1 v61+128
;;> @0008                               v63 = icmp ult v61, v62
;;> @0008                               brif v63, block9, block10
;;>
;;>                                 block9 cold:
;;> @0008                               v64 = get_pinned_reg.i64
;;> @0008                               v65 = load.i32 notrap aligned region1 v64+132
;;> @0008                               v67 = ireduce.i16 v65
;;> @0008                               brif v67, block12, block11
;;>
;;>                                 block11 cold:
;;> @0008                               v66 = iconst.i32 0x0040_0000
;;> @0008                               v68 = bxor.i32 v65, v66  ; v66 = 0x0040_0000
;;> @0008                               brif v68, block13, block12
;;>
;;>                                 block13 cold:
;;> @0008                               v69 = iconst.i16 0
;;> @0008                               store notrap aligned region1 v69, v64+134  ; v69 = 0
;;> @0008                               jump block8(v88, v91)
;;>
;;>                                 block12 cold:
;;> @0008                               v70 = get_pinned_reg.i64
;;> @0008                               v71 = load.i64 notrap aligned readonly region0 v70+8
;;> @0008                               v72 = load.i64 notrap aligned readonly region0 v71+40
;;> @0008                               v73 = iconst.i64 0x003f_0000_0000
;;> @0008                               store notrap aligned region2 v73, v72  ; v73 = 0x003f_0000_0000
;;> @0008                               v74 = iconst.i64 7
;;> @0008                               store notrap aligned region2 v74, v72+8  ; v74 = 7
;;> @0008                               store.i64 notrap aligned region2 v47, v72+16
;;> @0008                               v80 = uextend.i64 v1
;;> @0008                               store notrap aligned region2 v80, v72+24
;;> @0008                               v83 = uextend.i64 v2
;;> @0008                               store notrap aligned region2 v83, v72+32
;;> @0008                               v86 = uextend.i64 v3
;;> @0008                               store notrap aligned region2 v86, v72+40
;;> @0008                               v89 = uextend.i64 v88
;;> @0008                               store notrap aligned region2 v89, v72+48
;;>                                     v199 = uextend.i64 v91
;;> @0008                               store notrap aligned region2 v199, v72+56
;;> @0008                               v95 = uextend.i64 v60
;;> @0008                               store notrap aligned region2 v95, v72+64
;;> @0008                               v96 = load.i32 notrap aligned region2 v72
;;> @0008                               v97 = load.i32 notrap aligned region2 v72+4
;;> @0008                               v98 = load.i32 notrap aligned region2 v72+8
;;> @0008                               v99 = get_pinned_reg.i64
;;> @0008                               v100 = load.i64 notrap aligned readonly region0 v99+56
;;> @0008                               v101 = load.i64 notrap aligned readonly region0 v100+96
;;> @0008                               v102 = call_indirect sig0, v101(v99, v96, v97, v98)
;;> @0008                               v103 = get_pinned_reg.i64
;;> @0008                               v104 = load.i64 notrap aligned readonly region0 v103+8
;;> @0008                               v105 = load.i64 notrap aligned readonly region0 v104+40
;;> @0008                               return_call_indirect sig1, v102(v105)
;;>
;;>                                 block10:
;;> @0009                               v106 = uextend.i64 v91
;;> @0009                               v107 = iadd.i64 v5, v106
;;> @0009                               v108 = load.i32 user2 region3 v107
;;> @000b                               v150 = iadd.i32 v91, v149
;;> @000b                               v151 = uextend.i64 v150
;;> @000b                               v152 = iadd.i64 v5, v151
;;> @000b                               v153 = load.i16 user64 little region3 v152
;;> @000b                               v170 = iadd.i32 v91, v169
;;> @000b                               v171 = uextend.i64 v170
;;> @000b                               v172 = iadd.i64 v5, v171
;;>                                     v193 = iconst.i64 1
;;>                                     v194 = iadd v172, v193  ; v193 = 1
;;> @000b                               v175 = uload32 user65 region3 v194-1
;;> @000b                               v176 = ireduce.i32 v175
;;> @000b                               v177 = iadd.i32 v3, v176
;;> @000b                               v178 = uextend.i64 v177
;;> @000b                               v179 = iadd.i64 v5, v178
;;> @000b                               v180 = load.i16 user64 little region3 v179
;;> @000a                               v109 = iadd.i32 v3, v108
;;> @000b                               v110 = uextend.i64 v109
;;> @000b                               v111 = iadd.i64 v5, v110
;;> @000b                               v112 = load.i32 user2 region3 v111
;;>                                     v195 = iconst.i32 4
;;>                                     v196 = iadd.i32 v91, v195  ; v195 = 4
;;> @000e                               v116 = icmp ne v196, v60
;;> @000c                               v113 = iadd.i32 v88, v112
;;> @000f                               brif v116, block8(v113, v196), block14
;;>
;;>                                 block14:
;;>                                     v197 = iconst.i32 4
;;>                                     v198 = iadd.i32 v23, v197  ; v197 = 4
;;> @0012                               v120 = icmp ne v198, v1
;;> @0013                               brif v120, block2(v198, v113), block15
;;>
;;>                                 block15:
;;> @0015                               return v113
;;> }
;;> prefetch in function 0: done
