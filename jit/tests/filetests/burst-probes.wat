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
;;>     region0 = 83886080 "switch"
;;>     region1 = 33554432 "poll"
;;>     region2 = 16777216 "context"
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
;;> @0000                               v2 = iconst.i32 0
;;> @0000                               v3 = load.i32 notrap aligned region0 v0+16
;;> @0000                               v4 = load.i32 notrap aligned region0 v0+24
;;> @0000                               jump block1
;;>
;;>                                 block2:
;;> @0000                               v5 = iconst.i32 0
;;> @0001                               jump block4(v5, v5)  ; v5 = 0, v5 = 0
;;>
;;>                                 block1:
;;> @0001                               jump block4(v3, v4)
;;>
;;>                                 block4(v136: i32, v137: i32):
;;> @0001                               jump block5(v136, v137)
;;>
;;>                                 block5(v15: i32, v16: i32):
;;>                                     v71 -> v15
;;>                                     v113 -> v15
;;>                                     v114 -> v15
;;>                                     v109 -> v16
;;>                                     v110 -> v16
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 user66 aligned region1 v7-136
;;> @0001                               v9 = icmp ult v7, v8
;;> @0001                               brif v9, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i64 notrap aligned readonly region2 v10-64
;;> @0001                               v12 = load.i64 notrap aligned readonly region2 v11+40
;;> @0001                               v13 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region0 v13, v12  ; v13 = 0x0020_0000_0000
;;> @0001                               v14 = iconst.i64 7
;;> @0001                               store notrap aligned region0 v14, v12+8  ; v14 = 7
;;> @0001                               v17 = uextend.i64 v16
;;> @0001                               store notrap aligned region0 v17, v12+24
;;> @0001                               v18 = uextend.i64 v15
;;> @0001                               store notrap aligned region0 v18, v12+16
;;> @0001                               v19 = load.i32 notrap aligned region0 v12
;;> @0001                               v20 = load.i32 notrap aligned region0 v12+4
;;> @0001                               v21 = load.i32 notrap aligned region0 v12+8
;;> @0001                               v22 = get_pinned_reg.i64
;;> @0001                               v23 = load.i64 notrap aligned readonly region2 v22-16
;;> @0001                               v24 = load.i64 notrap aligned readonly region2 v23+112
;;> @0001                               v25 = call_indirect sig0, v24(v22, v19, v20, v21)
;;> @0001                               v26 = get_pinned_reg.i64
;;> @0001                               v27 = load.i64 notrap aligned readonly region2 v26-64
;;> @0001                               v28 = load.i64 notrap aligned readonly region2 v27+40
;;> @0001                               return_call_indirect sig1, v25(v28)
;;>
;;>                                 block7:
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region2 v29-64
;;> @0001                               v31 = load.i32 notrap aligned region3 v30+156
;;> @0001                               v32 = load.i32 notrap aligned region3 v30+160
;;> @0001                               v33 = icmp uge v31, v32
;;> @0001                               brif v33, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v34 = iconst.i32 0
;;> @0001                               v35 = iconst.i32 32
;;> @0001                               v36 = iconst.i32 7
;;> @0001                               v37 = get_pinned_reg.i64
;;> @0001                               v38 = load.i64 notrap aligned readonly region2 v37-16
;;> @0001                               v39 = load.i64 notrap aligned readonly region2 v38+200
;;> @0001                               v40 = call_indirect sig2, v39(v37, v34, v35, v36)  ; v34 = 0, v35 = 32, v36 = 7
;;> @0001                               brif v40, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v41 = get_pinned_reg.i64
;;> @0001                               v42 = load.i64 notrap aligned readonly region2 v41-64
;;> @0001                               v43 = load.i64 notrap aligned readonly region2 v42+40
;;> @0001                               v44 = iconst.i64 0x0020_0000_0000
;;> @0001                               store notrap aligned region0 v44, v43  ; v44 = 0x0020_0000_0000
;;> @0001                               v45 = iconst.i64 7
;;> @0001                               store notrap aligned region0 v45, v43+8  ; v45 = 7
;;> @0001                               v46 = uextend.i64 v16
;;> @0001                               store notrap aligned region0 v46, v43+24
;;> @0001                               v47 = uextend.i64 v15
;;> @0001                               store notrap aligned region0 v47, v43+16
;;> @0001                               v48 = load.i32 notrap aligned region0 v43
;;> @0001                               v49 = load.i32 notrap aligned region0 v43+4
;;> @0001                               v50 = load.i32 notrap aligned region0 v43+8
;;> @0001                               v51 = get_pinned_reg.i64
;;> @0001                               v52 = load.i64 notrap aligned readonly region2 v51-16
;;> @0001                               v53 = load.i64 notrap aligned readonly region2 v52+112
;;> @0001                               v54 = call_indirect sig0, v53(v51, v48, v49, v50)
;;> @0001                               v55 = get_pinned_reg.i64
;;> @0001                               v56 = load.i64 notrap aligned readonly region2 v55-64
;;> @0001                               v57 = load.i64 notrap aligned readonly region2 v56+40
;;> @0001                               return_call_indirect sig1, v54(v57)
;;>
;;>                                 block9:
;;> @0001                               v58 = iconst.i64 0
;;> @0001                               v59 = get_pinned_reg.i64
;;> @0001                               v60 = load.i64 notrap aligned readonly region2 v59-64
;;> @0001                               v61 = load.i64 notrap aligned readonly region2 v60+176
;;> @0001                               v62 = load.i32 notrap aligned region3 v60+156
;;> @0001                               v63 = iconst.i32 0x3fff
;;> @0001                               v64 = band v62, v63  ; v63 = 0x3fff
;;> @0001                               v65 = uextend.i64 v64
;;> @0001                               v66 = iconst.i64 3
;;> @0001                               v67 = ishl v65, v66  ; v66 = 3
;;> @0001                               v68 = iadd v61, v67
;;> @0001                               store notrap aligned region4 v58, v68  ; v58 = 0
;;> @0001                               v69 = iconst.i32 1
;;> @0001                               v70 = iadd v62, v69  ; v69 = 1
;;> @0001                               store notrap aligned region3 v70, v60+156
;;> @0002                               v72 = uextend.i64 v15
;;> @0002                               v73 = iadd.i64 v1, v72
;;> @0002                               v74 = get_pinned_reg.i64
;;> @0002                               v75 = load.i64 notrap aligned readonly region2 v74-64
;;> @0002                               v76 = load.i32 notrap aligned region3 v75+164
;;> @0002                               brif v76, block11, block12
;;>
;;>                                 block11 cold:
;;> @0002                               v77 = load.i64 notrap aligned readonly can_move region2 v1-88
;;> @0002                               v78 = load.i64 notrap aligned region6 v77+8
;;> @0002                               v79 = iadd.i64 v1, v78
;;> @0002                               v80 = iconst.i64 0
;;> @0002                               v81 = iadd.i64 v73, v80  ; v80 = 0
;;> @0002                               v82 = iconst.i64 3
;;> @0002                               v83 = iadd v81, v82  ; v82 = 3
;;> @0002                               v84 = icmp uge v83, v79
;;> @0002                               brif v84, block12, block13
;;>
;;>                                 block13 cold:
;;> @0002                               v85 = iconst.i32 1
;;> @0002                               v86 = get_pinned_reg.i64
;;> @0002                               v87 = load.i64 notrap aligned readonly region2 v86-16
;;> @0002                               v88 = load.i64 notrap aligned readonly region2 v87+208
;;> @0002                               call_indirect sig3, v88(v86, v81, v83, v85)  ; v85 = 1
;;> @0002                               jump block12
;;>
;;>                                 block12:
;;> @0002                               v89 = load.i32 user2 region5 v73
;;> @0003                               v90 = iconst.i32 0
;;> @0003                               v91 = icmp ne v89, v90  ; v90 = 0
;;> @0003                               v92 = uextend.i64 v91
;;> @0003                               v93 = iconst.i64 32
;;> @0003                               v94 = ishl v92, v93  ; v93 = 32
;;> @0003                               v95 = iconst.i64 2
;;> @0003                               v96 = bor v94, v95  ; v95 = 2
;;> @0003                               v97 = get_pinned_reg.i64
;;> @0003                               v98 = load.i64 notrap aligned readonly region2 v97-64
;;> @0003                               v99 = load.i64 notrap aligned readonly region2 v98+176
;;> @0003                               v100 = load.i32 notrap aligned region3 v98+156
;;> @0003                               v101 = iconst.i32 0x3fff
;;> @0003                               v102 = band v100, v101  ; v101 = 0x3fff
;;> @0003                               v103 = uextend.i64 v102
;;> @0003                               v104 = iconst.i64 3
;;> @0003                               v105 = ishl v103, v104  ; v104 = 3
;;> @0003                               v106 = iadd v99, v105
;;> @0003                               store notrap aligned region4 v96, v106
;;> @0003                               v107 = iconst.i32 1
;;> @0003                               v108 = iadd v100, v107  ; v107 = 1
;;> @0003                               store notrap aligned region3 v108, v98+156
;;> @0003                               brif v89, block15, block16
;;>
;;>                                 block15:
;;> @0003                               v111 = iconst.i32 1
;;> @0004                               v112 = iadd.i32 v16, v111  ; v111 = 1
;;> @0005                               jump block14(v112)
;;>
;;>                                 block16:
;;> @0005                               jump block14(v109)
;;>
;;>                                 block14(v138: i32):
;;> @0005                               v115 = iconst.i32 4
;;> @0006                               v116 = isub.i32 v15, v115  ; v115 = 4
;;> @0007                               v117 = iconst.i32 0
;;> @0007                               v118 = icmp ne v116, v117  ; v117 = 0
;;> @0007                               v119 = uextend.i64 v118
;;> @0007                               v120 = iconst.i64 32
;;> @0007                               v121 = ishl v119, v120  ; v120 = 32
;;> @0007                               v122 = iconst.i64 3
;;> @0007                               v123 = bor v121, v122  ; v122 = 3
;;> @0007                               v124 = get_pinned_reg.i64
;;> @0007                               v125 = load.i64 notrap aligned readonly region2 v124-64
;;> @0007                               v126 = load.i64 notrap aligned readonly region2 v125+176
;;> @0007                               v127 = load.i32 notrap aligned region3 v125+156
;;> @0007                               v128 = iconst.i32 0x3fff
;;> @0007                               v129 = band v127, v128  ; v128 = 0x3fff
;;> @0007                               v130 = uextend.i64 v129
;;> @0007                               v131 = iconst.i64 3
;;> @0007                               v132 = ishl v130, v131  ; v131 = 3
;;> @0007                               v133 = iadd v126, v132
;;> @0007                               store notrap aligned region4 v123, v133
;;> @0007                               v134 = iconst.i32 1
;;> @0007                               v135 = iadd v127, v134  ; v134 = 1
;;> @0007                               store notrap aligned region3 v135, v125+156
;;> @0007                               brif v116, block5(v116, v138), block17
;;>
;;>                                 block17:
;;> @0009                               v139 = get_return_address.i64
;;> @0009                               v140 = iconst.i64 32
;;> @0009                               v141 = ishl v139, v140  ; v140 = 32
;;> @0009                               v142 = iconst.i64 4
;;> @0009                               v143 = bor v141, v142  ; v142 = 4
;;> @0009                               v144 = get_pinned_reg.i64
;;> @0009                               v145 = load.i64 notrap aligned readonly region2 v144-64
;;> @0009                               v146 = load.i64 notrap aligned readonly region2 v145+176
;;> @0009                               v147 = load.i32 notrap aligned region3 v145+156
;;> @0009                               v148 = iconst.i32 0x3fff
;;> @0009                               v149 = band v147, v148  ; v148 = 0x3fff
;;> @0009                               v150 = uextend.i64 v149
;;> @0009                               v151 = iconst.i64 3
;;> @0009                               v152 = ishl v150, v151  ; v151 = 3
;;> @0009                               v153 = iadd v146, v152
;;> @0009                               store notrap aligned region4 v143, v153
;;> @0009                               v154 = iconst.i32 1
;;> @0009                               v155 = iadd v147, v154  ; v154 = 1
;;> @0009                               store notrap aligned region3 v155, v145+156
;;> @0009                               v156 = iconst.i32 0
;;> @0009                               v157 = iconst.i32 -2
;;> @0009                               v158 = iconst.i32 7
;;> @0009                               v159 = get_pinned_reg.i64
;;> @0009                               v160 = load.i64 notrap aligned readonly region2 v159-16
;;> @0009                               v161 = load.i64 notrap aligned readonly region2 v160+200
;;> @0009                               v162 = call_indirect sig2, v161(v159, v156, v157, v158)  ; v156 = 0, v157 = -2, v158 = 7
;;> @0009                               return v138
;;> }
