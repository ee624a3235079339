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
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1-96
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
;;>                                 block4(v137: i32, v138: i32):
;;> @0001                               jump block5(v137, v138)
;;>
;;>                                 block5(v16: i32, v17: i32):
;;>                                     v72 -> v16
;;>                                     v114 -> v16
;;>                                     v115 -> v16
;;>                                     v110 -> v17
;;>                                     v111 -> v17
;;> @0001                               v8 = get_pinned_reg.i64
;;> @0001                               v9 = load.i64 user66 aligned region2 v8-136
;;> @0001                               v10 = icmp ult v8, v9
;;> @0001                               brif v10, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v11 = get_pinned_reg.i64
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11-64
;;> @0001                               v13 = load.i64 notrap aligned readonly region0 v12+40
;;> @0001                               v14 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v14, v13  ; v14 = 0x0020_0000_0000
;;> @0001                               v15 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v15, v13+8  ; v15 = 7
;;> @0001                               v18 = uextend.i64 v17
;;> @0001                               store notrap aligned region1 v18, v13+24
;;> @0001                               v19 = uextend.i64 v16
;;> @0001                               store notrap aligned region1 v19, v13+16
;;> @0001                               v20 = load.i32 notrap aligned region1 v13
;;> @0001                               v21 = load.i32 notrap aligned region1 v13+4
;;> @0001                               v22 = load.i32 notrap aligned region1 v13+8
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23-16
;;> @0001                               v25 = load.i64 notrap aligned readonly region0 v24+112
;;> @0001                               v26 = call_indirect sig0, v25(v23, v20, v21, v22)
;;> @0001                               v27 = get_pinned_reg.i64
;;> @0001                               v28 = load.i64 notrap aligned readonly region0 v27-64
;;> @0001                               v29 = load.i64 notrap aligned readonly region0 v28+40
;;> @0001                               return_call_indirect sig1, v26(v29)
;;>
;;>                                 block7:
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30-64
;;> @0001                               v32 = load.i32 notrap aligned region3 v31+156
;;> @0001                               v33 = load.i32 notrap aligned region3 v31+160
;;> @0001                               v34 = icmp uge v32, v33
;;> @0001                               brif v34, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v35 = iconst.i32 0
;;> @0001                               v36 = iconst.i32 32
;;> @0001                               v37 = iconst.i32 7
;;> @0001                               v38 = get_pinned_reg.i64
;;> @0001                               v39 = load.i64 notrap aligned readonly region0 v38-16
;;> @0001                               v40 = load.i64 notrap aligned readonly region0 v39+200
;;> @0001                               v41 = call_indirect sig2, v40(v38, v35, v36, v37)  ; v35 = 0, v36 = 32, v37 = 7
;;> @0001                               brif v41, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v42 = get_pinned_reg.i64
;;> @0001                               v43 = load.i64 notrap aligned readonly region0 v42-64
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+40
;;> @0001                               v45 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region1 v45, v44  ; v45 = 0x0020_0000_0000
;;> @0001                               v46 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v46, v44+8  ; v46 = 7
;;> @0001                               v47 = uextend.i64 v17
;;> @0001                               store notrap aligned region1 v47, v44+24
;;> @0001                               v48 = uextend.i64 v16
;;> @0001                               store notrap aligned region1 v48, v44+16
;;> @0001                               v49 = load.i32 notrap aligned region1 v44
;;> @0001                               v50 = load.i32 notrap aligned region1 v44+4
;;> @0001                               v51 = load.i32 notrap aligned region1 v44+8
;;> @0001                               v52 = get_pinned_reg.i64
;;> @0001                               v53 = load.i64 notrap aligned readonly region0 v52-16
;;> @0001                               v54 = load.i64 notrap aligned readonly region0 v53+112
;;> @0001                               v55 = call_indirect sig0, v54(v52, v49, v50, v51)
;;> @0001                               v56 = get_pinned_reg.i64
;;> @0001                               v57 = load.i64 notrap aligned readonly region0 v56-64
;;> @0001                               v58 = load.i64 notrap aligned readonly region0 v57+40
;;> @0001                               return_call_indirect sig1, v55(v58)
;;>
;;>                                 block9:
;;> @0001                               v59 = iconst.i64 0
;;> @0001                               v60 = get_pinned_reg.i64
;;> @0001                               v61 = load.i64 notrap aligned readonly region0 v60-64
;;> @0001                               v62 = load.i64 notrap aligned readonly region0 v61+176
;;> @0001                               v63 = load.i32 notrap aligned region3 v61+156
;;> @0001                               v64 = iconst.i32 0x3fff
;;> @0001                               v65 = band v63, v64  ; v64 = 0x3fff
;;> @0001                               v66 = uextend.i64 v65
;;> @0001                               v67 = iconst.i64 3
;;> @0001                               v68 = ishl v66, v67  ; v67 = 3
;;> @0001                               v69 = iadd v62, v68
;;> @0001                               store notrap aligned region4 v59, v69  ; v59 = 0
;;> @0001                               v70 = iconst.i32 1
;;> @0001                               v71 = iadd v63, v70  ; v70 = 1
;;> @0001                               store notrap aligned region3 v71, v61+156
;;> @0002                               v73 = uextend.i64 v16
;;> @0002                               v74 = iadd.i64 v2, v73
;;> @0002                               v75 = get_pinned_reg.i64
;;> @0002                               v76 = load.i64 notrap aligned readonly region0 v75-64
;;> @0002                               v77 = load.i32 notrap aligned region3 v76+164
;;> @0002                               brif v77, block11, block12
;;>
;;>                                 block11 cold:
;;> @0002                               v78 = load.i64 notrap aligned readonly can_move region0 v1-88
;;> @0002                               v79 = load.i64 notrap aligned region6 v78+8
;;> @0002                               v80 = iadd.i64 v2, v79
;;> @0002                               v81 = iconst.i64 0
;;> @0002                               v82 = iadd.i64 v74, v81  ; v81 = 0
;;> @0002                               v83 = iconst.i64 3
;;> @0002                               v84 = iadd v82, v83  ; v83 = 3
;;> @0002                               v85 = icmp uge v84, v80
;;> @0002                               brif v85, block12, block13
;;>
;;>                                 block13 cold:
;;> @0002                               v86 = iconst.i32 1
;;> @0002                               v87 = get_pinned_reg.i64
;;> @0002                               v88 = load.i64 notrap aligned readonly region0 v87-16
;;> @0002                               v89 = load.i64 notrap aligned readonly region0 v88+208
;;> @0002                               call_indirect sig3, v89(v87, v82, v84, v86)  ; v86 = 1
;;> @0002                               jump block12
;;>
;;>                                 block12:
;;> @0002                               v90 = load.i32 user2 region5 v74
;;> @0003                               v91 = iconst.i32 0
;;> @0003                               v92 = icmp ne v90, v91  ; v91 = 0
;;> @0003                               v93 = uextend.i64 v92
;;> @0003                               v94 = iconst.i64 32
;;> @0003                               v95 = ishl v93, v94  ; v94 = 32
;;> @0003                               v96 = iconst.i64 2
;;> @0003                               v97 = bor v95, v96  ; v96 = 2
;;> @0003                               v98 = get_pinned_reg.i64
;;> @0003                               v99 = load.i64 notrap aligned readonly region0 v98-64
;;> @0003                               v100 = load.i64 notrap aligned readonly region0 v99+176
;;> @0003                               v101 = load.i32 notrap aligned region3 v99+156
;;> @0003                               v102 = iconst.i32 0x3fff
;;> @0003                               v103 = band v101, v102  ; v102 = 0x3fff
;;> @0003                               v104 = uextend.i64 v103
;;> @0003                               v105 = iconst.i64 3
;;> @0003                               v106 = ishl v104, v105  ; v105 = 3
;;> @0003                               v107 = iadd v100, v106
;;> @0003                               store notrap aligned region4 v97, v107
;;> @0003                               v108 = iconst.i32 1
;;> @0003                               v109 = iadd v101, v108  ; v108 = 1
;;> @0003                               store notrap aligned region3 v109, v99+156
;;> @0003                               brif v90, block15, block16
;;>
;;>                                 block15:
;;> @0003                               v112 = iconst.i32 1
;;> @0004                               v113 = iadd.i32 v17, v112  ; v112 = 1
;;> @0005                               jump block14(v113)
;;>
;;>                                 block16:
;;> @0005                               jump block14(v110)
;;>
;;>                                 block14(v139: i32):
;;> @0005                               v116 = iconst.i32 4
;;> @0006                               v117 = isub.i32 v16, v116  ; v116 = 4
;;> @0007                               v118 = iconst.i32 0
;;> @0007                               v119 = icmp ne v117, v118  ; v118 = 0
;;> @0007                               v120 = uextend.i64 v119
;;> @0007                               v121 = iconst.i64 32
;;> @0007                               v122 = ishl v120, v121  ; v121 = 32
;;> @0007                               v123 = iconst.i64 3
;;> @0007                               v124 = bor v122, v123  ; v123 = 3
;;> @0007                               v125 = get_pinned_reg.i64
;;> @0007                               v126 = load.i64 notrap aligned readonly region0 v125-64
;;> @0007                               v127 = load.i64 notrap aligned readonly region0 v126+176
;;> @0007                               v128 = load.i32 notrap aligned region3 v126+156
;;> @0007                               v129 = iconst.i32 0x3fff
;;> @0007                               v130 = band v128, v129  ; v129 = 0x3fff
;;> @0007                               v131 = uextend.i64 v130
;;> @0007                               v132 = iconst.i64 3
;;> @0007                               v133 = ishl v131, v132  ; v132 = 3
;;> @0007                               v134 = iadd v127, v133
;;> @0007                               store notrap aligned region4 v124, v134
;;> @0007                               v135 = iconst.i32 1
;;> @0007                               v136 = iadd v128, v135  ; v135 = 1
;;> @0007                               store notrap aligned region3 v136, v126+156
;;> @0007                               brif v117, block5(v117, v139), block17
;;>
;;>                                 block17:
;;> @0009                               v140 = get_return_address.i64
;;> @0009                               v141 = iconst.i64 32
;;> @0009                               v142 = ishl v140, v141  ; v141 = 32
;;> @0009                               v143 = iconst.i64 4
;;> @0009                               v144 = bor v142, v143  ; v143 = 4
;;> @0009                               v145 = get_pinned_reg.i64
;;> @0009                               v146 = load.i64 notrap aligned readonly region0 v145-64
;;> @0009                               v147 = load.i64 notrap aligned readonly region0 v146+176
;;> @0009                               v148 = load.i32 notrap aligned region3 v146+156
;;> @0009                               v149 = iconst.i32 0x3fff
;;> @0009                               v150 = band v148, v149  ; v149 = 0x3fff
;;> @0009                               v151 = uextend.i64 v150
;;> @0009                               v152 = iconst.i64 3
;;> @0009                               v153 = ishl v151, v152  ; v152 = 3
;;> @0009                               v154 = iadd v147, v153
;;> @0009                               store notrap aligned region4 v144, v154
;;> @0009                               v155 = iconst.i32 1
;;> @0009                               v156 = iadd v148, v155  ; v155 = 1
;;> @0009                               store notrap aligned region3 v156, v146+156
;;> @0009                               v157 = iconst.i32 0
;;> @0009                               v158 = iconst.i32 -2
;;> @0009                               v159 = iconst.i32 7
;;> @0009                               v160 = get_pinned_reg.i64
;;> @0009                               v161 = load.i64 notrap aligned readonly region0 v160-16
;;> @0009                               v162 = load.i64 notrap aligned readonly region0 v161+200
;;> @0009                               v163 = call_indirect sig2, v162(v160, v157, v158, v159)  ; v157 = 0, v158 = -2, v159 = 7
;;> @0009                               return v139
;;> }
