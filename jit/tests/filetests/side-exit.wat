;;! tier = optimizing
;;! show = clif
;;! function = 1
;;! plan = 0 -> 0
;;! exits = true
;;! contains = side-exit in function 1: done
;;! lacks = trapz

;; The index comes from memory, so each round tests the callee; where it is another the code is left at the call with its operands, and no
;; generic call stands in the function.
(module
  (type $unary (func (param i32) (result i32)))
  (memory 1)
  (table (export "table") 8 8 funcref)
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (i32.load8_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;> function u0:1(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     region4 = 285212672 "table 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i64, i64, i64) -> i64 system_v
;;>
;;>                                 block0(v0: i32):
;;>                                     v13 -> v0
;;>                                     v52 -> v13
;;>                                     v94 -> v13
;;>                                     v136 -> v13
;;>                                     v178 -> v13
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0000                               v3 = iconst.i32 0
;;> @0001                               jump block2(v3, v3)  ; v3 = 0, v3 = 0
;;>
;;>                                 block2(v14: i32, v15: i32):
;;>                                     v53 -> v15
;;> @0001                               v5 = get_pinned_reg.i64
;;> @0001                               v6 = load.i64 user66 aligned region1 v5-184
;;> @0001                               v7 = icmp ult v5, v6
;;> @0001                               brif v7, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 notrap aligned readonly region0 v8-64
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9+40
;;> @0001                               v11 = iconst.i64 0x0041_0000_0001
;;> @0001                               store notrap aligned region2 v11, v10  ; v11 = 0x0041_0000_0001
;;> @0001                               v12 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v12, v10+8  ; v12 = 7
;;> @0001                               v16 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v16, v10+32
;;> @0001                               v17 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v17, v10+24
;;> @0001                               v18 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v18, v10+16
;;> @0001                               v19 = load.i32 notrap aligned region2 v10
;;> @0001                               v20 = load.i32 notrap aligned region2 v10+4
;;> @0001                               v21 = load.i32 notrap aligned region2 v10+8
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
;;> @0002                               v30 = iadd.i64 v2, v29
;;> @0002                               v31 = uload8.i32 user2 region3 v30
;;> @0003                               v33 = iconst.i32 8
;;> @0003                               v34 = icmp uge v31, v33  ; v33 = 8
;;> @0003                               brif v34, block8, block9
;;>
;;>                                 block9:
;;> @0003                               v35 = load.i64 notrap aligned readonly can_move region0 v1-112
;;> @0003                               v36 = iconst.i64 4
;;> @0003                               v37 = ishl.i32 v31, v36  ; v36 = 4
;;> @0003                               v38 = uextend.i64 v37
;;> @0003                               v39 = iadd v35, v38
;;> @0003                               v40 = load.i64 notrap aligned region4 v39+8
;;> @0003                               v41 = iconst.i64 -176
;;> @0003                               v42 = iadd.i64 v1, v41  ; v41 = -176
;;> @0003                               v43 = icmp ne v40, v42
;;> @0003                               brif v43, block8, block10
;;>
;;>                                 block10:
;;> @0003                               v45 = iconst.i32 1
;;> @0004                               v46 = iadd.i32 v14, v45  ; v45 = 1
;;> @0005                               jump block7(v46)
;;>
;;>                                 block8 cold:
;;> @0003                               v47 = get_pinned_reg.i64
;;> @0003                               v48 = load.i64 notrap aligned readonly region0 v47-64
;;> @0003                               v49 = load.i64 notrap aligned readonly region0 v48+40
;;> @0003                               v50 = iconst.i64 0x004a_0000_0001
;;> @0003                               store notrap aligned region2 v50, v49  ; v50 = 0x004a_0000_0001
;;> @0003                               v51 = iconst.i64 7
;;> @0003                               store notrap aligned region2 v51, v49+8  ; v51 = 7
;;> @0003                               v54 = uextend.i64 v31
;;> @0003                               store notrap aligned region2 v54, v49+48
;;> @0003                               v55 = uextend.i64 v14
;;> @0003                               store notrap aligned region2 v55, v49+40
;;> @0003                               v56 = uextend.i64 v15
;;> @0003                               store notrap aligned region2 v56, v49+32
;;> @0003                               v57 = uextend.i64 v13
;;> @0003                               store notrap aligned region2 v57, v49+16
;;> @0003                               v58 = uextend.i64 v31
;;> @0003                               v59 = iconst.i64 0x0001_0000_0007
;;> @0003                               v60 = get_pinned_reg.i64
;;> @0003                               v61 = load.i64 notrap aligned readonly region0 v60-16
;;> @0003                               v62 = load.i64 notrap aligned readonly region0 v61+176
;;> @0003                               v63 = call_indirect sig2, v62(v60, v59, v58)  ; v59 = 0x0001_0000_0007
;;> @0003                               v64 = get_pinned_reg.i64
;;> @0003                               v65 = load.i64 notrap aligned readonly region0 v64-64
;;> @0003                               v66 = load.i64 notrap aligned readonly region0 v65+40
;;> @0003                               return_call_indirect sig1, v63(v66)
;;>
;;>                                 block7(v32: i32):
;;> @0003                               v67 = iconst.i32 1
;;> @0006                               v68 = iadd.i32 v15, v67  ; v67 = 1
;;>                                     v95 -> v68
;;> @0007                               v69 = icmp ult v68, v13
;;> @0007                               v70 = uextend.i32 v69
;;> @0008                               v198 = icmp uge v68, v13
;;> @0008                               brif v198, block12, block6
;;>
;;>                                 block12 cold:
;;> @0009                               jump block5(v32)
;;>
;;>                                 block6:
;;> @000a                               v71 = uextend.i64 v68
;;> @000a                               v72 = iadd.i64 v2, v71
;;> @000a                               v73 = uload8.i32 user2 region3 v30+1
;;> @000b                               v75 = iconst.i32 8
;;> @000b                               v76 = icmp uge v73, v75  ; v75 = 8
;;> @000b                               brif v76, block15, block16
;;>
;;>                                 block16:
;;> @000b                               v77 = load.i64 notrap aligned readonly can_move region0 v1-112
;;> @000b                               v78 = iconst.i64 4
;;> @000b                               v79 = ishl.i32 v73, v78  ; v78 = 4
;;> @000b                               v80 = uextend.i64 v79
;;> @000b                               v81 = iadd v77, v80
;;> @000b                               v82 = load.i64 notrap aligned region4 v81+8
;;> @000b                               v83 = iconst.i64 -176
;;> @000b                               v84 = iadd.i64 v1, v83  ; v83 = -176
;;> @000b                               v85 = icmp ne v82, v84
;;> @000b                               brif v85, block15, block17
;;>
;;>                                 block17:
;;> @000b                               v87 = iconst.i32 1
;;> @000c                               v88 = iadd.i32 v32, v87  ; v87 = 1
;;> @000d                               jump block14(v88)
;;>
;;>                                 block15 cold:
;;> @000b                               v89 = get_pinned_reg.i64
;;> @000b                               v90 = load.i64 notrap aligned readonly region0 v89-64
;;> @000b                               v91 = load.i64 notrap aligned readonly region0 v90+40
;;> @000b                               v92 = iconst.i64 0x004a_0000_0001
;;> @000b                               store notrap aligned region2 v92, v91  ; v92 = 0x004a_0000_0001
;;> @000b                               v93 = iconst.i64 7
;;> @000b                               store notrap aligned region2 v93, v91+8  ; v93 = 7
;;> @000b                               v96 = uextend.i64 v73
;;> @000b                               store notrap aligned region2 v96, v91+48
;;> @000b                               v97 = uextend.i64 v32
;;> @000b                               store notrap aligned region2 v97, v91+40
;;> @000b                               v98 = uextend.i64 v68
;;> @000b                               store notrap aligned region2 v98, v91+32
;;> @000b                               v99 = uextend.i64 v13
;;> @000b                               store notrap aligned region2 v99, v91+16
;;> @000b                               v100 = uextend.i64 v73
;;> @000b                               v101 = iconst.i64 0x0002_0000_0007
;;> @000b                               v102 = get_pinned_reg.i64
;;> @000b                               v103 = load.i64 notrap aligned readonly region0 v102-16
;;> @000b                               v104 = load.i64 notrap aligned readonly region0 v103+176
;;> @000b                               v105 = call_indirect sig2, v104(v102, v101, v100)  ; v101 = 0x0002_0000_0007
;;> @000b                               v106 = get_pinned_reg.i64
;;> @000b                               v107 = load.i64 notrap aligned readonly region0 v106-64
;;> @000b                               v108 = load.i64 notrap aligned readonly region0 v107+40
;;> @000b                               return_call_indirect sig1, v105(v108)
;;>
;;>                                 block14(v74: i32):
;;> @000b                               v109 = iconst.i32 1
;;> @000e                               v110 = iadd.i32 v68, v109  ; v109 = 1
;;>                                     v137 -> v110
;;> @000f                               v111 = icmp ult v110, v13
;;> @000f                               v112 = uextend.i32 v111
;;> @0010                               v199 = icmp uge v110, v13
;;> @0010                               brif v199, block19, block13
;;>
;;>                                 block19 cold:
;;> @0011                               jump block5(v74)
;;>
;;>                                 block13:
;;> @0012                               v113 = uextend.i64 v110
;;> @0012                               v114 = iadd.i64 v2, v113
;;> @0012                               v115 = uload8.i32 user2 region3 v30+2
;;> @0013                               v117 = iconst.i32 8
;;> @0013                               v118 = icmp uge v115, v117  ; v117 = 8
;;> @0013                               brif v118, block22, block23
;;>
;;>                                 block23:
;;> @0013                               v119 = load.i64 notrap aligned readonly can_move region0 v1-112
;;> @0013                               v120 = iconst.i64 4
;;> @0013                               v121 = ishl.i32 v115, v120  ; v120 = 4
;;> @0013                               v122 = uextend.i64 v121
;;> @0013                               v123 = iadd v119, v122
;;> @0013                               v124 = load.i64 notrap aligned region4 v123+8
;;> @0013                               v125 = iconst.i64 -176
;;> @0013                               v126 = iadd.i64 v1, v125  ; v125 = -176
;;> @0013                               v127 = icmp ne v124, v126
;;> @0013                               brif v127, block22, block24
;;>
;;>                                 block24:
;;> @0013                               v129 = iconst.i32 1
;;> @0014                               v130 = iadd.i32 v74, v129  ; v129 = 1
;;> @0015                               jump block21(v130)
;;>
;;>                                 block22 cold:
;;> @0013                               v131 = get_pinned_reg.i64
;;> @0013                               v132 = load.i64 notrap aligned readonly region0 v131-64
;;> @0013                               v133 = load.i64 notrap aligned readonly region0 v132+40
;;> @0013                               v134 = iconst.i64 0x004a_0000_0001
;;> @0013                               store notrap aligned region2 v134, v133  ; v134 = 0x004a_0000_0001
;;> @0013                               v135 = iconst.i64 7
;;> @0013                               store notrap aligned region2 v135, v133+8  ; v135 = 7
;;> @0013                               v138 = uextend.i64 v115
;;> @0013                               store notrap aligned region2 v138, v133+48
;;> @0013                               v139 = uextend.i64 v74
;;> @0013                               store notrap aligned region2 v139, v133+40
;;> @0013                               v140 = uextend.i64 v110
;;> @0013                               store notrap aligned region2 v140, v133+32
;;> @0013                               v141 = uextend.i64 v13
;;> @0013                               store notrap aligned region2 v141, v133+16
;;> @0013                               v142 = uextend.i64 v115
;;> @0013                               v143 = iconst.i64 0x0003_0000_0007
;;> @0013                               v144 = get_pinned_reg.i64
;;> @0013                               v145 = load.i64 notrap aligned readonly region0 v144-16
;;> @0013                               v146 = load.i64 notrap aligned readonly region0 v145+176
;;> @0013                               v147 = call_indirect sig2, v146(v144, v143, v142)  ; v143 = 0x0003_0000_0007
;;> @0013                               v148 = get_pinned_reg.i64
;;> @0013                               v149 = load.i64 notrap aligned readonly region0 v148-64
;;> @0013                               v150 = load.i64 notrap aligned readonly region0 v149+40
;;> @0013                               return_call_indirect sig1, v147(v150)
;;>
;;>                                 block21(v116: i32):
;;> @0013                               v151 = iconst.i32 1
;;> @0016                               v152 = iadd.i32 v110, v151  ; v151 = 1
;;>                                     v179 -> v152
;;> @0017                               v153 = icmp ult v152, v13
;;> @0017                               v154 = uextend.i32 v153
;;> @0018                               v200 = icmp uge v152, v13
;;> @0018                               brif v200, block26, block20
;;>
;;>                                 block26 cold:
;;> @0019                               jump block5(v116)
;;>
;;>                                 block20:
;;> @001a                               v155 = uextend.i64 v152
;;> @001a                               v156 = iadd.i64 v2, v155
;;> @001a                               v157 = uload8.i32 user2 region3 v30+3
;;> @001b                               v159 = iconst.i32 8
;;> @001b                               v160 = icmp uge v157, v159  ; v159 = 8
;;> @001b                               brif v160, block28, block29
;;>
;;>                                 block29:
;;> @001b                               v161 = load.i64 notrap aligned readonly can_move region0 v1-112
;;> @001b                               v162 = iconst.i64 4
;;> @001b                               v163 = ishl.i32 v157, v162  ; v162 = 4
;;> @001b                               v164 = uextend.i64 v163
;;> @001b                               v165 = iadd v161, v164
;;> @001b                               v166 = load.i64 notrap aligned region4 v165+8
;;> @001b                               v167 = iconst.i64 -176
;;> @001b                               v168 = iadd.i64 v1, v167  ; v167 = -176
;;> @001b                               v169 = icmp ne v166, v168
;;> @001b                               brif v169, block28, block30
;;>
;;>                                 block30:
;;> @001b                               v171 = iconst.i32 1
;;> @001c                               v172 = iadd.i32 v116, v171  ; v171 = 1
;;> @001d                               jump block27(v172)
;;>
;;>                                 block28 cold:
;;> @001b                               v173 = get_pinned_reg.i64
;;> @001b                               v174 = load.i64 notrap aligned readonly region0 v173-64
;;> @001b                               v175 = load.i64 notrap aligned readonly region0 v174+40
;;> @001b                               v176 = iconst.i64 0x004a_0000_0001
;;> @001b                               store notrap aligned region2 v176, v175  ; v176 = 0x004a_0000_0001
;;> @001b                               v177 = iconst.i64 7
;;> @001b                               store notrap aligned region2 v177, v175+8  ; v177 = 7
;;> @001b                               v180 = uextend.i64 v157
;;> @001b                               store notrap aligned region2 v180, v175+48
;;> @001b                               v181 = uextend.i64 v116
;;> @001b                               store notrap aligned region2 v181, v175+40
;;> @001b                               v182 = uextend.i64 v152
;;> @001b                               store notrap aligned region2 v182, v175+32
;;> @001b                               v183 = uextend.i64 v13
;;> @001b                               store notrap aligned region2 v183, v175+16
;;> @001b                               v184 = uextend.i64 v157
;;> @001b                               v185 = iconst.i64 0x0004_0000_0007
;;> @001b                               v186 = get_pinned_reg.i64
;;> @001b                               v187 = load.i64 notrap aligned readonly region0 v186-16
;;> @001b                               v188 = load.i64 notrap aligned readonly region0 v187+176
;;> @001b                               v189 = call_indirect sig2, v188(v186, v185, v184)  ; v185 = 0x0004_0000_0007
;;> @001b                               v190 = get_pinned_reg.i64
;;> @001b                               v191 = load.i64 notrap aligned readonly region0 v190-64
;;> @001b                               v192 = load.i64 notrap aligned readonly region0 v191+40
;;> @001b                               return_call_indirect sig1, v189(v192)
;;>
;;>                                 block27(v158: i32):
;;> @001b                               v193 = iconst.i32 1
;;> @001e                               v194 = iadd.i32 v152, v193  ; v193 = 1
;;> @001f                               v195 = icmp ult v194, v13
;;> @001f                               v196 = uextend.i32 v195
;;> @0020                               brif v196, block2(v158, v194), block32
;;>
;;>                                 block32:
;;> @0021                               jump block5(v158)
;;>
;;>                                 block5(v197: i32):
;;> @0022                               return v197
;;> }
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
