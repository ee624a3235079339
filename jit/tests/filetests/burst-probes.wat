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
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+72
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
;;>                                 block4(v145: i32, v146: i32):
;;> @0001                               jump block5(v145, v146)
;;>
;;>                                 block5(v23: i32, v26: i32):
;;>                                     v22 -> v23
;;>                                     v80 -> v23
;;>                                     v122 -> v23
;;>                                     v123 -> v23
;;>                                     v25 -> v26
;;>                                     v118 -> v26
;;>                                     v119 -> v26
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region2 v8+128
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i32 notrap aligned region2 v11+132
;;> @0001                               v13 = iconst.i32 0x0021_0000
;;> @0001                               v14 = ireduce.i16 v12
;;> @0001                               v15 = bxor v12, v13  ; v13 = 0x0021_0000
;;> @0001                               brif v14, block9, block8
;;>
;;>                                 block8 cold:
;;> @0001                               brif.i32 v15, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v16 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v16, v11+134  ; v16 = 0
;;> @0001                               jump block5(v23, v26)
;;>
;;>                                 block9 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region0 v18+40
;;> @0001                               v20 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v20, v19  ; v20 = 0x0020_0000_0000
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v21, v19+8  ; v21 = 7
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region1 v24, v19+16
;;> @0001                               v27 = uextend.i64 v26
;;> @0001                               store notrap aligned region1 v27, v19+24
;;> @0001                               v28 = load.i32 notrap aligned region1 v19
;;> @0001                               v29 = load.i32 notrap aligned region1 v19+4
;;> @0001                               v30 = load.i32 notrap aligned region1 v19+8
;;> @0001                               v31 = get_pinned_reg.i64
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+56
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+96
;;> @0001                               v34 = call_indirect sig0, v33(v31, v28, v29, v30)
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+8
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+40
;;> @0001                               return_call_indirect sig1, v34(v37)
;;>
;;>                                 block7:
;;> @0001                               v38 = get_pinned_reg.i64
;;> @0001                               v39 = load.i64 notrap aligned readonly region0 v38+8
;;> @0001                               v40 = load.i32 notrap aligned region3 v39+148
;;> @0001                               v41 = load.i32 notrap aligned region3 v39+152
;;> @0001                               v42 = icmp uge v40, v41
;;> @0001                               brif v42, block11, block12
;;>
;;>                                 block11 cold:
;;> @0001                               v43 = iconst.i32 0
;;> @0001                               v44 = iconst.i32 32
;;> @0001                               v45 = iconst.i32 7
;;> @0001                               v46 = get_pinned_reg.i64
;;> @0001                               v47 = load.i64 notrap aligned readonly region0 v46+56
;;> @0001                               v48 = load.i64 notrap aligned readonly region0 v47+184
;;> @0001                               v49 = call_indirect sig2, v48(v46, v43, v44, v45)  ; v43 = 0, v44 = 32, v45 = 7
;;> @0001                               brif v49, block13, block12
;;>
;;>                                 block13 cold:
;;> @0001                               v50 = get_pinned_reg.i64
;;> @0001                               v51 = load.i64 notrap aligned readonly region0 v50+8
;;> @0001                               v52 = load.i64 notrap aligned readonly region0 v51+40
;;> @0001                               v53 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v53, v52  ; v53 = 0x0020_0000_0000
;;> @0001                               v54 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v54, v52+8  ; v54 = 7
;;> @0001                               v55 = uextend.i64 v23
;;> @0001                               store notrap aligned region1 v55, v52+16
;;> @0001                               v56 = uextend.i64 v26
;;> @0001                               store notrap aligned region1 v56, v52+24
;;> @0001                               v57 = load.i32 notrap aligned region1 v52
;;> @0001                               v58 = load.i32 notrap aligned region1 v52+4
;;> @0001                               v59 = load.i32 notrap aligned region1 v52+8
;;> @0001                               v60 = get_pinned_reg.i64
;;> @0001                               v61 = load.i64 notrap aligned readonly region0 v60+56
;;> @0001                               v62 = load.i64 notrap aligned readonly region0 v61+96
;;> @0001                               v63 = call_indirect sig0, v62(v60, v57, v58, v59)
;;> @0001                               v64 = get_pinned_reg.i64
;;> @0001                               v65 = load.i64 notrap aligned readonly region0 v64+8
;;> @0001                               v66 = load.i64 notrap aligned readonly region0 v65+40
;;> @0001                               return_call_indirect sig1, v63(v66)
;;>
;;>                                 block12:
;;> @0001                               v67 = iconst.i64 0
;;> @0001                               v68 = get_pinned_reg.i64
;;> @0001                               v69 = load.i64 notrap aligned readonly region0 v68+8
;;> @0001                               v70 = load.i64 notrap aligned readonly region0 v69+168
;;> @0001                               v71 = load.i32 notrap aligned region3 v69+148
;;> @0001                               v72 = iconst.i32 0x3fff
;;> @0001                               v73 = band v71, v72  ; v72 = 0x3fff
;;> @0001                               v74 = uextend.i64 v73
;;> @0001                               v75 = iconst.i64 3
;;> @0001                               v76 = ishl v74, v75  ; v75 = 3
;;> @0001                               v77 = iadd v70, v76
;;> @0001                               store notrap aligned region4 v67, v77  ; v67 = 0
;;> @0001                               v78 = iconst.i32 1
;;> @0001                               v79 = iadd v71, v78  ; v78 = 1
;;> @0001                               store notrap aligned region3 v79, v69+148
;;> @0002                               v81 = uextend.i64 v23
;;> @0002                               v82 = iadd.i64 v2, v81
;;> @0002                               v83 = get_pinned_reg.i64
;;> @0002                               v84 = load.i64 notrap aligned readonly region0 v83+8
;;> @0002                               v85 = load.i32 notrap aligned region3 v84+156
;;> @0002                               brif v85, block14, block15
;;>
;;>                                 block14 cold:
;;> @0002                               v86 = load.i64 notrap aligned readonly can_move region0 v1+80
;;> @0002                               v87 = load.i64 notrap aligned region6 v86+8
;;> @0002                               v88 = iadd.i64 v2, v87
;;> @0002                               v89 = iconst.i64 0
;;> @0002                               v90 = iadd.i64 v82, v89  ; v89 = 0
;;> @0002                               v91 = iconst.i64 3
;;> @0002                               v92 = iadd v90, v91  ; v91 = 3
;;> @0002                               v93 = icmp uge v92, v88
;;> @0002                               brif v93, block15, block16
;;>
;;>                                 block16 cold:
;;> @0002                               v94 = iconst.i32 1
;;> @0002                               v95 = get_pinned_reg.i64
;;> @0002                               v96 = load.i64 notrap aligned readonly region0 v95+56
;;> @0002                               v97 = load.i64 notrap aligned readonly region0 v96+192
;;> @0002                               call_indirect sig3, v97(v95, v90, v92, v94)  ; v94 = 1
;;> @0002                               jump block15
;;>
;;>                                 block15:
;;> @0002                               v98 = load.i32 user2 region5 v82
;;> @0003                               v99 = iconst.i32 0
;;> @0003                               v100 = icmp ne v98, v99  ; v99 = 0
;;> @0003                               v101 = uextend.i64 v100
;;> @0003                               v102 = iconst.i64 32
;;> @0003                               v103 = ishl v101, v102  ; v102 = 32
;;> @0003                               v104 = iconst.i64 2
;;> @0003                               v105 = bor v103, v104  ; v104 = 2
;;> @0003                               v106 = get_pinned_reg.i64
;;> @0003                               v107 = load.i64 notrap aligned readonly region0 v106+8
;;> @0003                               v108 = load.i64 notrap aligned readonly region0 v107+168
;;> @0003                               v109 = load.i32 notrap aligned region3 v107+148
;;> @0003                               v110 = iconst.i32 0x3fff
;;> @0003                               v111 = band v109, v110  ; v110 = 0x3fff
;;> @0003                               v112 = uextend.i64 v111
;;> @0003                               v113 = iconst.i64 3
;;> @0003                               v114 = ishl v112, v113  ; v113 = 3
;;> @0003                               v115 = iadd v108, v114
;;> @0003                               store notrap aligned region4 v105, v115
;;> @0003                               v116 = iconst.i32 1
;;> @0003                               v117 = iadd v109, v116  ; v116 = 1
;;> @0003                               store notrap aligned region3 v117, v107+148
;;> @0003                               brif v98, block18, block19
;;>
;;>                                 block18:
;;> @0003                               v120 = iconst.i32 1
;;> @0004                               v121 = iadd.i32 v26, v120  ; v120 = 1
;;> @0005                               jump block17(v121)
;;>
;;>                                 block19:
;;> @0005                               jump block17(v118)
;;>
;;>                                 block17(v147: i32):
;;> @0005                               v124 = iconst.i32 4
;;> @0006                               v125 = isub.i32 v23, v124  ; v124 = 4
;;> @0007                               v126 = iconst.i32 0
;;> @0007                               v127 = icmp ne v125, v126  ; v126 = 0
;;> @0007                               v128 = uextend.i64 v127
;;> @0007                               v129 = iconst.i64 32
;;> @0007                               v130 = ishl v128, v129  ; v129 = 32
;;> @0007                               v131 = iconst.i64 3
;;> @0007                               v132 = bor v130, v131  ; v131 = 3
;;> @0007                               v133 = get_pinned_reg.i64
;;> @0007                               v134 = load.i64 notrap aligned readonly region0 v133+8
;;> @0007                               v135 = load.i64 notrap aligned readonly region0 v134+168
;;> @0007                               v136 = load.i32 notrap aligned region3 v134+148
;;> @0007                               v137 = iconst.i32 0x3fff
;;> @0007                               v138 = band v136, v137  ; v137 = 0x3fff
;;> @0007                               v139 = uextend.i64 v138
;;> @0007                               v140 = iconst.i64 3
;;> @0007                               v141 = ishl v139, v140  ; v140 = 3
;;> @0007                               v142 = iadd v135, v141
;;> @0007                               store notrap aligned region4 v132, v142
;;> @0007                               v143 = iconst.i32 1
;;> @0007                               v144 = iadd v136, v143  ; v143 = 1
;;> @0007                               store notrap aligned region3 v144, v134+148
;;> @0007                               brif v125, block5(v125, v147), block20
;;>
;;>                                 block20:
;;> @0009                               v148 = get_return_address.i64
;;> @0009                               v149 = iconst.i64 32
;;> @0009                               v150 = ishl v148, v149  ; v149 = 32
;;> @0009                               v151 = iconst.i64 4
;;> @0009                               v152 = bor v150, v151  ; v151 = 4
;;> @0009                               v153 = get_pinned_reg.i64
;;> @0009                               v154 = load.i64 notrap aligned readonly region0 v153+8
;;> @0009                               v155 = load.i64 notrap aligned readonly region0 v154+168
;;> @0009                               v156 = load.i32 notrap aligned region3 v154+148
;;> @0009                               v157 = iconst.i32 0x3fff
;;> @0009                               v158 = band v156, v157  ; v157 = 0x3fff
;;> @0009                               v159 = uextend.i64 v158
;;> @0009                               v160 = iconst.i64 3
;;> @0009                               v161 = ishl v159, v160  ; v160 = 3
;;> @0009                               v162 = iadd v155, v161
;;> @0009                               store notrap aligned region4 v152, v162
;;> @0009                               v163 = iconst.i32 1
;;> @0009                               v164 = iadd v156, v163  ; v163 = 1
;;> @0009                               store notrap aligned region3 v164, v154+148
;;> @0009                               v165 = iconst.i32 0
;;> @0009                               v166 = iconst.i32 -2
;;> @0009                               v167 = iconst.i32 7
;;> @0009                               v168 = get_pinned_reg.i64
;;> @0009                               v169 = load.i64 notrap aligned readonly region0 v168+56
;;> @0009                               v170 = load.i64 notrap aligned readonly region0 v169+184
;;> @0009                               v171 = call_indirect sig2, v170(v168, v165, v166, v167)  ; v165 = 0, v166 = -2, v167 = 7
;;> @0009                               return v147
;;> }
