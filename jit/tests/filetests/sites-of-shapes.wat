;; Tier 1 records conditions of selects, indices of switches, and how often a loop ran where it is left, by a branch or through its end.
;;! tier = baseline
;;! show = clif
;;! sites = true
;;! contains = iconst.i32 3
;;! contains = iconst.i32 4
;;! contains = iconst.i32 5
(module
  (func (param $n i32) (result i32) (local $k i32)
    (block $out
      (loop $next
        (br_if $out (i32.eq (local.get $k) (i32.const 100)))
        (local.set $k (select (i32.add (local.get $k) (i32.const 6)) (local.get $k) (i32.and (local.get $n) (i32.const 1))))
        (br_if $next (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))
    (block $b (block $a (br_table $a $b (local.get $k))) (return (i32.const 9)))
    (local.get $k)))

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 50331648 "lwp"
;;>     region2 = 33554432 "poll"
;;>     region3 = 83886080 "switch"
;;>     sig0 = (i64, i32, i32, i64) preserve_all
;;>     sig1 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig2 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v104 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v105 -> v2
;;> @0000                               v3 = load.i64 notrap aligned readonly region0 v1+8
;;> @0000                               v4 = load.i64 notrap aligned region1 v3+32
;;> @0000                               v5 = load.i32 notrap aligned region1 v4+132
;;> @0000                               v6 = iconst.i32 1
;;> @0000                               v7 = isub v5, v6  ; v6 = 1
;;> @0000                               store notrap aligned region1 v7, v4+132
;;> @0000                               v8 = iconst.i32 0x0200_0000
;;> @0000                               v9 = band v7, v8  ; v8 = 0x0200_0000
;;> @0000                               brif v9, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v10 = iconst.i32 2
;;> @0000                               v11 = iconst.i32 24
;;> @0000                               v12 = uextend.i64 v0
;;> @0000                               v13 = get_pinned_reg.i64
;;> @0000                               v14 = load.i64 notrap aligned readonly region0 v13+56
;;> @0000                               v15 = load.i64 notrap aligned readonly region0 v14+176
;;> @0000                               call_indirect sig0, v15(v13, v10, v11, v12)  ; v10 = 2, v11 = 24
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v17 = iconst.i32 0
;;> @0001                               jump block5(v17, v0, v2)  ; v17 = 0, v2 = 0
;;>
;;>                                 block5(v18: i32, v36: i32, v39: i32):
;;>                                     v35 -> v36
;;>                                     v87 -> v36
;;>                                     v38 -> v39
;;>                                     v107 -> v39
;;> @0001                               v19 = iconst.i32 1
;;> @0001                               v20 = iadd v18, v19  ; v19 = 1
;;>                                     v99 -> v20
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 user66 aligned region2 v21+112
;;> @0001                               v23 = icmp ult v21, v22
;;> @0001                               brif v23, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v24 = get_pinned_reg.i64
;;> @0001                               v25 = load.i32 notrap aligned region2 v24+116
;;> @0001                               v26 = iconst.i32 0x001e_0000
;;> @0001                               v27 = ireduce.i16 v25
;;> @0001                               v28 = bxor v25, v26  ; v26 = 0x001e_0000
;;> @0001                               brif v27, block9, block8
;;>
;;>                                 block8 cold:
;;> @0001                               brif.i32 v28, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v29 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v29, v24+118  ; v29 = 0
;;> @0001                               jump block5(v20, v36, v39)
;;>
;;>                                 block9 cold:
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+8
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+40
;;> @0001                               v33 = iconst.i64 0x001d_0000_0000
;;> @0001                               store notrap aligned region3 v33, v32  ; v33 = 0x001d_0000_0000
;;> @0001                               v34 = iconst.i64 7
;;> @0001                               store notrap aligned region3 v34, v32+8  ; v34 = 7
;;> @0001                               v37 = uextend.i64 v36
;;> @0001                               store notrap aligned region3 v37, v32+16
;;> @0001                               v40 = uextend.i64 v39
;;> @0001                               store notrap aligned region3 v40, v32+24
;;> @0001                               v41 = load.i32 notrap aligned region3 v32
;;> @0001                               v42 = load.i32 notrap aligned region3 v32+4
;;> @0001                               v43 = load.i32 notrap aligned region3 v32+8
;;> @0001                               v44 = get_pinned_reg.i64
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+56
;;> @0001                               v46 = load.i64 notrap aligned readonly region0 v45+96
;;> @0001                               v47 = call_indirect sig1, v46(v44, v41, v42, v43)
;;> @0001                               v48 = get_pinned_reg.i64
;;> @0001                               v49 = load.i64 notrap aligned readonly region0 v48+8
;;> @0001                               v50 = load.i64 notrap aligned readonly region0 v49+40
;;> @0001                               return_call_indirect sig2, v47(v50)
;;>
;;>                                 block7:
;;> @0001                               v51 = iconst.i32 100
;;> @0002                               v52 = icmp.i32 eq v39, v51  ; v51 = 100
;;> @0002                               v53 = uextend.i32 v52
;;> @0003                               brif v53, block12, block11
;;>
;;>                                 block12:
;;> @0003                               v54 = load.i64 notrap aligned readonly region0 v1+8
;;> @0003                               v55 = load.i64 notrap aligned region1 v54+32
;;> @0003                               v56 = load.i32 notrap aligned region1 v55+132
;;> @0003                               v57 = iconst.i32 1
;;> @0003                               v58 = isub v56, v57  ; v57 = 1
;;> @0003                               store notrap aligned region1 v58, v55+132
;;> @0003                               v59 = iconst.i32 0x0200_0000
;;> @0003                               v60 = band v58, v59  ; v59 = 0x0200_0000
;;> @0003                               brif v60, block13, block14
;;>
;;>                                 block13 cold:
;;> @0003                               v61 = iconst.i32 3
;;> @0003                               v62 = iconst.i32 29
;;> @0003                               v63 = uextend.i64 v20
;;> @0003                               v64 = get_pinned_reg.i64
;;> @0003                               v65 = load.i64 notrap aligned readonly region0 v64+56
;;> @0003                               v66 = load.i64 notrap aligned readonly region0 v65+176
;;> @0003                               call_indirect sig0, v66(v64, v61, v62, v63)  ; v61 = 3, v62 = 29
;;> @0003                               jump block14
;;>
;;>                                 block14:
;;> @0003                               jump block4(v39)
;;>
;;>                                 block11:
;;> @0003                               v67 = iconst.i32 6
;;> @0004                               v68 = iadd.i32 v39, v67  ; v67 = 6
;;> @0004                               v69 = iconst.i32 1
;;> @0005                               v70 = band.i32 v36, v69  ; v69 = 1
;;> @0006                               v71 = load.i64 notrap aligned readonly region0 v1+8
;;> @0006                               v72 = load.i64 notrap aligned region1 v71+32
;;> @0006                               v73 = load.i32 notrap aligned region1 v72+132
;;> @0006                               v74 = iconst.i32 1
;;> @0006                               v75 = isub v73, v74  ; v74 = 1
;;> @0006                               store notrap aligned region1 v75, v72+132
;;> @0006                               v76 = iconst.i32 0x0200_0000
;;> @0006                               v77 = band v75, v76  ; v76 = 0x0200_0000
;;> @0006                               brif v77, block15, block16
;;>
;;>                                 block15 cold:
;;> @0006                               v78 = iconst.i32 5
;;> @0006                               v79 = iconst.i32 51
;;> @0006                               v80 = iconst.i32 0
;;> @0006                               v81 = icmp.i32 ne v70, v80  ; v80 = 0
;;> @0006                               v82 = uextend.i64 v81
;;> @0006                               v83 = get_pinned_reg.i64
;;> @0006                               v84 = load.i64 notrap aligned readonly region0 v83+56
;;> @0006                               v85 = load.i64 notrap aligned readonly region0 v84+176
;;> @0006                               call_indirect sig0, v85(v83, v78, v79, v82)  ; v78 = 5, v79 = 51
;;> @0006                               jump block16
;;>
;;>                                 block16:
;;> @0006                               v86 = select.i32 v70, v68, v39
;;>                                     v108 -> v86
;;> @0006                               v88 = iconst.i32 1
;;> @0007                               v89 = isub.i32 v36, v88  ; v88 = 1
;;> @0008                               brif v89, block5(v99, v89, v86), block17
;;>
;;>                                 block17:
;;> @0009                               v90 = load.i64 notrap aligned readonly region0 v1+8
;;> @0009                               v91 = load.i64 notrap aligned region1 v90+32
;;> @0009                               v92 = load.i32 notrap aligned region1 v91+132
;;> @0009                               v93 = iconst.i32 1
;;> @0009                               v94 = isub v92, v93  ; v93 = 1
;;> @0009                               store notrap aligned region1 v94, v91+132
;;> @0009                               v95 = iconst.i32 0x0200_0000
;;> @0009                               v96 = band v94, v95  ; v95 = 0x0200_0000
;;> @0009                               brif v96, block18, block19
;;>
;;>                                 block18 cold:
;;> @0009                               v97 = iconst.i32 3
;;> @0009                               v98 = iconst.i32 29
;;> @0009                               v100 = uextend.i64 v20
;;> @0009                               v101 = get_pinned_reg.i64
;;> @0009                               v102 = load.i64 notrap aligned readonly region0 v101+56
;;> @0009                               v103 = load.i64 notrap aligned readonly region0 v102+176
;;> @0009                               call_indirect sig0, v103(v101, v97, v98, v100)  ; v97 = 3, v98 = 29
;;> @0009                               jump block19
;;>
;;>                                 block19:
;;> @000a                               jump block4(v86)
;;>
;;>                                 block4(v106: i32):
;;>                                     v123 -> v106
;;> @000b                               v109 = load.i64 notrap aligned readonly region0 v1+8
;;> @000b                               v110 = load.i64 notrap aligned region1 v109+32
;;> @000b                               v111 = load.i32 notrap aligned region1 v110+132
;;> @000b                               v112 = iconst.i32 1
;;> @000b                               v113 = isub v111, v112  ; v112 = 1
;;> @000b                               store notrap aligned region1 v113, v110+132
;;> @000b                               v114 = iconst.i32 0x0200_0000
;;> @000b                               v115 = band v113, v114  ; v114 = 0x0200_0000
;;> @000b                               brif v115, block22, block23
;;>
;;>                                 block22 cold:
;;> @000b                               v116 = iconst.i32 4
;;> @000b                               v117 = iconst.i32 71
;;> @000b                               v118 = uextend.i64 v106
;;> @000b                               v119 = get_pinned_reg.i64
;;> @000b                               v120 = load.i64 notrap aligned readonly region0 v119+56
;;> @000b                               v121 = load.i64 notrap aligned readonly region0 v120+176
;;> @000b                               call_indirect sig0, v121(v119, v116, v117, v118)  ; v116 = 4, v117 = 71
;;> @000b                               jump block23
;;>
;;>                                 block23:
;;> @000b                               br_table v106, block20, [block21]
;;>
;;>                                 block21:
;;> @000b                               v122 = iconst.i32 9
;;> @000c                               return v122  ; v122 = 9
;;>
;;>                                 block20:
;;> @000d                               return v106
;;> }
