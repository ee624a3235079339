;; Instrumented code: a branch, a load and the loop's rounds append words to the burst buffer; the load is timed by a call that comes before it.
;;! tier = instrumented
;;! show = clif
;;! loop = 0
;;! contains = burst words
;;! contains = system_v
;;! contains = preserve_all
(module (memory 1)
  (func (param i32) (result i32) (local i32)
    loop
      local.get 0
      i32.load
      if
        local.get 1
        i32.const 1
        i32.add
        local.set 1
      end
      local.get 0
      i32.const 4
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 1))

;;> function u0:0(i64) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 83886080 "switch"
;;>     region2 = 33554432 "poll"
;;>     region3 = 201326592 "burst"
;;>     region4 = 218103808 "burst words"
;;>     region5 = 268435456 "memory 0"
;;>     region6 = 117440512 "lengths"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig3 = (i64, i64, i64, i32) preserve_all
;;>
;;>                                 block0(v0: i64):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+64
;;> @0000                               v3 = iconst.i32 0
;;> @0000                               v4 = load.i32 notrap aligned region1 v0+16
;;> @0000                               v5 = load.i32 notrap aligned region1 v0+24
;;> @0000                               jump block1
;;>
;;>                                 block2:
;;> @0000                               v6 = iconst.i32 0
;;> @0001                               jump block4(v6, v6)  ; v6 = 0, v6 = 0
;;>
;;>                                 block1:
;;> @0001                               jump block4(v4, v5)
;;>
;;>                                 block4(v144: i32, v145: i32):
;;> @0001                               jump block5(v144, v145)
;;>
;;>                                 block5(v22: i32, v25: i32):
;;>                                     v21 -> v22
;;>                                     v79 -> v22
;;>                                     v121 -> v22
;;>                                     v122 -> v22
;;>                                     v24 -> v25
;;>                                     v117 -> v25
;;>                                     v118 -> v25
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i32 notrap aligned region2 v8+112
;;> @0001                               brif v9, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i32 notrap aligned region2 v10+112
;;> @0001                               v12 = iconst.i32 0x0021_0000
;;> @0001                               v13 = ireduce.i16 v11
;;> @0001                               v14 = bxor v11, v12  ; v12 = 0x0021_0000
;;> @0001                               brif v13, block9, block8
;;>
;;>                                 block8 cold:
;;> @0001                               brif.i32 v14, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v15 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v15, v10+114  ; v15 = 0
;;> @0001                               jump block5(v22, v25)
;;>
;;>                                 block9 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v19 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v19, v18  ; v19 = 0x0020_0000_0000
;;> @0001                               v20 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v20, v18+8  ; v20 = 7
;;> @0001                               v23 = uextend.i64 v22
;;> @0001                               store notrap aligned region1 v23, v18+16
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region1 v26, v18+24
;;> @0001                               v27 = load.i32 notrap aligned region1 v18
;;> @0001                               v28 = load.i32 notrap aligned region1 v18+4
;;> @0001                               v29 = load.i32 notrap aligned region1 v18+8
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+48
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+96
;;> @0001                               v33 = call_indirect sig0, v32(v30, v27, v28, v29)
;;> @0001                               v34 = get_pinned_reg.i64
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+8
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+40
;;> @0001                               return_call_indirect sig1, v33(v36)
;;>
;;>                                 block7:
;;> @0001                               v37 = get_pinned_reg.i64
;;> @0001                               v38 = load.i64 notrap aligned readonly region0 v37+8
;;> @0001                               v39 = load.i32 notrap aligned region3 v38+148
;;> @0001                               v40 = load.i32 notrap aligned region3 v38+152
;;> @0001                               v41 = icmp uge v39, v40
;;> @0001                               brif v41, block11, block12
;;>
;;>                                 block11 cold:
;;> @0001                               v42 = iconst.i32 0
;;> @0001                               v43 = iconst.i32 32
;;> @0001                               v44 = iconst.i32 7
;;> @0001                               v45 = get_pinned_reg.i64
;;> @0001                               v46 = load.i64 notrap aligned readonly region0 v45+48
;;> @0001                               v47 = load.i64 notrap aligned readonly region0 v46+184
;;> @0001                               v48 = call_indirect sig2, v47(v45, v42, v43, v44)  ; v42 = 0, v43 = 32, v44 = 7
;;> @0001                               brif v48, block13, block12
;;>
;;>                                 block13 cold:
;;> @0001                               v49 = get_pinned_reg.i64
;;> @0001                               v50 = load.i64 notrap aligned readonly region0 v49+8
;;> @0001                               v51 = load.i64 notrap aligned readonly region0 v50+40
;;> @0001                               v52 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v52, v51  ; v52 = 0x0020_0000_0000
;;> @0001                               v53 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v53, v51+8  ; v53 = 7
;;> @0001                               v54 = uextend.i64 v22
;;> @0001                               store notrap aligned region1 v54, v51+16
;;> @0001                               v55 = uextend.i64 v25
;;> @0001                               store notrap aligned region1 v55, v51+24
;;> @0001                               v56 = load.i32 notrap aligned region1 v51
;;> @0001                               v57 = load.i32 notrap aligned region1 v51+4
;;> @0001                               v58 = load.i32 notrap aligned region1 v51+8
;;> @0001                               v59 = get_pinned_reg.i64
;;> @0001                               v60 = load.i64 notrap aligned readonly region0 v59+48
;;> @0001                               v61 = load.i64 notrap aligned readonly region0 v60+96
;;> @0001                               v62 = call_indirect sig0, v61(v59, v56, v57, v58)
;;> @0001                               v63 = get_pinned_reg.i64
;;> @0001                               v64 = load.i64 notrap aligned readonly region0 v63+8
;;> @0001                               v65 = load.i64 notrap aligned readonly region0 v64+40
;;> @0001                               return_call_indirect sig1, v62(v65)
;;>
;;>                                 block12:
;;> @0001                               v66 = iconst.i64 0
;;> @0001                               v67 = get_pinned_reg.i64
;;> @0001                               v68 = load.i64 notrap aligned readonly region0 v67+8
;;> @0001                               v69 = load.i64 notrap aligned readonly region0 v68+168
;;> @0001                               v70 = load.i32 notrap aligned region3 v68+148
;;> @0001                               v71 = iconst.i32 0x3fff
;;> @0001                               v72 = band v70, v71  ; v71 = 0x3fff
;;> @0001                               v73 = uextend.i64 v72
;;> @0001                               v74 = iconst.i64 3
;;> @0001                               v75 = ishl v73, v74  ; v74 = 3
;;> @0001                               v76 = iadd v69, v75
;;> @0001                               store notrap aligned region4 v66, v76  ; v66 = 0
;;> @0001                               v77 = iconst.i32 1
;;> @0001                               v78 = iadd v70, v77  ; v77 = 1
;;> @0001                               store notrap aligned region3 v78, v68+148
;;> @0002                               v80 = uextend.i64 v22
;;> @0002                               v81 = iadd.i64 v2, v80
;;> @0002                               v82 = get_pinned_reg.i64
;;> @0002                               v83 = load.i64 notrap aligned readonly region0 v82+8
;;> @0002                               v84 = load.i32 notrap aligned region3 v83+156
;;> @0002                               brif v84, block14, block15
;;>
;;>                                 block14 cold:
;;> @0002                               v85 = load.i64 notrap aligned readonly can_move region0 v1+72
;;> @0002                               v86 = load.i64 notrap aligned region6 v85+8
;;> @0002                               v87 = iadd.i64 v2, v86
;;> @0002                               v88 = iconst.i64 0
;;> @0002                               v89 = iadd.i64 v81, v88  ; v88 = 0
;;> @0002                               v90 = iconst.i64 3
;;> @0002                               v91 = iadd v89, v90  ; v90 = 3
;;> @0002                               v92 = icmp uge v91, v87
;;> @0002                               brif v92, block15, block16
;;>
;;>                                 block16 cold:
;;> @0002                               v93 = iconst.i32 1
;;> @0002                               v94 = get_pinned_reg.i64
;;> @0002                               v95 = load.i64 notrap aligned readonly region0 v94+48
;;> @0002                               v96 = load.i64 notrap aligned readonly region0 v95+192
;;> @0002                               call_indirect sig3, v96(v94, v89, v91, v93)  ; v93 = 1
;;> @0002                               jump block15
;;>
;;>                                 block15:
;;> @0002                               v97 = load.i32 user2 region5 v81
;;> @0003                               v98 = iconst.i32 0
;;> @0003                               v99 = icmp ne v97, v98  ; v98 = 0
;;> @0003                               v100 = uextend.i64 v99
;;> @0003                               v101 = iconst.i64 32
;;> @0003                               v102 = ishl v100, v101  ; v101 = 32
;;> @0003                               v103 = iconst.i64 2
;;> @0003                               v104 = bor v102, v103  ; v103 = 2
;;> @0003                               v105 = get_pinned_reg.i64
;;> @0003                               v106 = load.i64 notrap aligned readonly region0 v105+8
;;> @0003                               v107 = load.i64 notrap aligned readonly region0 v106+168
;;> @0003                               v108 = load.i32 notrap aligned region3 v106+148
;;> @0003                               v109 = iconst.i32 0x3fff
;;> @0003                               v110 = band v108, v109  ; v109 = 0x3fff
;;> @0003                               v111 = uextend.i64 v110
;;> @0003                               v112 = iconst.i64 3
;;> @0003                               v113 = ishl v111, v112  ; v112 = 3
;;> @0003                               v114 = iadd v107, v113
;;> @0003                               store notrap aligned region4 v104, v114
;;> @0003                               v115 = iconst.i32 1
;;> @0003                               v116 = iadd v108, v115  ; v115 = 1
;;> @0003                               store notrap aligned region3 v116, v106+148
;;> @0003                               brif v97, block18, block19
;;>
;;>                                 block18:
;;> @0003                               v119 = iconst.i32 1
;;> @0004                               v120 = iadd.i32 v25, v119  ; v119 = 1
;;> @0005                               jump block17(v120)
;;>
;;>                                 block19:
;;> @0005                               jump block17(v117)
;;>
;;>                                 block17(v146: i32):
;;> @0005                               v123 = iconst.i32 4
;;> @0006                               v124 = isub.i32 v22, v123  ; v123 = 4
;;> @0007                               v125 = iconst.i32 0
;;> @0007                               v126 = icmp ne v124, v125  ; v125 = 0
;;> @0007                               v127 = uextend.i64 v126
;;> @0007                               v128 = iconst.i64 32
;;> @0007                               v129 = ishl v127, v128  ; v128 = 32
;;> @0007                               v130 = iconst.i64 3
;;> @0007                               v131 = bor v129, v130  ; v130 = 3
;;> @0007                               v132 = get_pinned_reg.i64
;;> @0007                               v133 = load.i64 notrap aligned readonly region0 v132+8
;;> @0007                               v134 = load.i64 notrap aligned readonly region0 v133+168
;;> @0007                               v135 = load.i32 notrap aligned region3 v133+148
;;> @0007                               v136 = iconst.i32 0x3fff
;;> @0007                               v137 = band v135, v136  ; v136 = 0x3fff
;;> @0007                               v138 = uextend.i64 v137
;;> @0007                               v139 = iconst.i64 3
;;> @0007                               v140 = ishl v138, v139  ; v139 = 3
;;> @0007                               v141 = iadd v134, v140
;;> @0007                               store notrap aligned region4 v131, v141
;;> @0007                               v142 = iconst.i32 1
;;> @0007                               v143 = iadd v135, v142  ; v142 = 1
;;> @0007                               store notrap aligned region3 v143, v133+148
;;> @0007                               brif v124, block5(v124, v146), block20
;;>
;;>                                 block20:
;;> @0009                               v147 = get_return_address.i64
;;> @0009                               v148 = iconst.i64 32
;;> @0009                               v149 = ishl v147, v148  ; v148 = 32
;;> @0009                               v150 = iconst.i64 4
;;> @0009                               v151 = bor v149, v150  ; v150 = 4
;;> @0009                               v152 = get_pinned_reg.i64
;;> @0009                               v153 = load.i64 notrap aligned readonly region0 v152+8
;;> @0009                               v154 = load.i64 notrap aligned readonly region0 v153+168
;;> @0009                               v155 = load.i32 notrap aligned region3 v153+148
;;> @0009                               v156 = iconst.i32 0x3fff
;;> @0009                               v157 = band v155, v156  ; v156 = 0x3fff
;;> @0009                               v158 = uextend.i64 v157
;;> @0009                               v159 = iconst.i64 3
;;> @0009                               v160 = ishl v158, v159  ; v159 = 3
;;> @0009                               v161 = iadd v154, v160
;;> @0009                               store notrap aligned region4 v151, v161
;;> @0009                               v162 = iconst.i32 1
;;> @0009                               v163 = iadd v155, v162  ; v162 = 1
;;> @0009                               store notrap aligned region3 v163, v153+148
;;> @0009                               v164 = iconst.i32 0
;;> @0009                               v165 = iconst.i32 -2
;;> @0009                               v166 = iconst.i32 7
;;> @0009                               v167 = get_pinned_reg.i64
;;> @0009                               v168 = load.i64 notrap aligned readonly region0 v167+48
;;> @0009                               v169 = load.i64 notrap aligned readonly region0 v168+184
;;> @0009                               v170 = call_indirect sig2, v169(v167, v164, v165, v166)  ; v164 = 0, v165 = -2, v166 = 7
;;> @0009                               return v146
;;> }
