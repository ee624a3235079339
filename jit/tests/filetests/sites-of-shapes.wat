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
;;>                                     v103 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v104 -> v2
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
;;> @0000                               v14 = load.i64 notrap aligned readonly region0 v13+48
;;> @0000                               v15 = load.i64 notrap aligned readonly region0 v14+176
;;> @0000                               call_indirect sig0, v15(v13, v10, v11, v12)  ; v10 = 2, v11 = 24
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v17 = iconst.i32 0
;;> @0001                               jump block5(v17, v0, v2)  ; v17 = 0, v2 = 0
;;>
;;>                                 block5(v18: i32, v35: i32, v38: i32):
;;>                                     v34 -> v35
;;>                                     v86 -> v35
;;>                                     v37 -> v38
;;>                                     v106 -> v38
;;> @0001                               v19 = iconst.i32 1
;;> @0001                               v20 = iadd v18, v19  ; v19 = 1
;;>                                     v98 -> v20
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i32 notrap aligned region2 v21+96
;;> @0001                               brif v22, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i32 notrap aligned region2 v23+96
;;> @0001                               v25 = iconst.i32 0x001e_0000
;;> @0001                               v26 = ireduce.i16 v24
;;> @0001                               v27 = bxor v24, v25  ; v25 = 0x001e_0000
;;> @0001                               brif v26, block9, block8
;;>
;;>                                 block8 cold:
;;> @0001                               brif.i32 v27, block10, block9
;;>
;;>                                 block10 cold:
;;> @0001                               v28 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v28, v23+98  ; v28 = 0
;;> @0001                               jump block5(v20, v35, v38)
;;>
;;>                                 block9 cold:
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29+8
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+40
;;> @0001                               v32 = iconst.i64 0x001d_0000_0000
;;> @0001                               store notrap aligned region3 v32, v31  ; v32 = 0x001d_0000_0000
;;> @0001                               v33 = iconst.i64 7
;;> @0001                               store notrap aligned region3 v33, v31+8  ; v33 = 7
;;> @0001                               v36 = uextend.i64 v35
;;> @0001                               store notrap aligned region3 v36, v31+16
;;> @0001                               v39 = uextend.i64 v38
;;> @0001                               store notrap aligned region3 v39, v31+24
;;> @0001                               v40 = load.i32 notrap aligned region3 v31
;;> @0001                               v41 = load.i32 notrap aligned region3 v31+4
;;> @0001                               v42 = load.i32 notrap aligned region3 v31+8
;;> @0001                               v43 = get_pinned_reg.i64
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+48
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+96
;;> @0001                               v46 = call_indirect sig1, v45(v43, v40, v41, v42)
;;> @0001                               v47 = get_pinned_reg.i64
;;> @0001                               v48 = load.i64 notrap aligned readonly region0 v47+8
;;> @0001                               v49 = load.i64 notrap aligned readonly region0 v48+40
;;> @0001                               return_call_indirect sig2, v46(v49)
;;>
;;>                                 block7:
;;> @0001                               v50 = iconst.i32 100
;;> @0002                               v51 = icmp.i32 eq v38, v50  ; v50 = 100
;;> @0002                               v52 = uextend.i32 v51
;;> @0003                               brif v52, block12, block11
;;>
;;>                                 block12:
;;> @0003                               v53 = load.i64 notrap aligned readonly region0 v1+8
;;> @0003                               v54 = load.i64 notrap aligned region1 v53+32
;;> @0003                               v55 = load.i32 notrap aligned region1 v54+132
;;> @0003                               v56 = iconst.i32 1
;;> @0003                               v57 = isub v55, v56  ; v56 = 1
;;> @0003                               store notrap aligned region1 v57, v54+132
;;> @0003                               v58 = iconst.i32 0x0200_0000
;;> @0003                               v59 = band v57, v58  ; v58 = 0x0200_0000
;;> @0003                               brif v59, block13, block14
;;>
;;>                                 block13 cold:
;;> @0003                               v60 = iconst.i32 3
;;> @0003                               v61 = iconst.i32 29
;;> @0003                               v62 = uextend.i64 v20
;;> @0003                               v63 = get_pinned_reg.i64
;;> @0003                               v64 = load.i64 notrap aligned readonly region0 v63+48
;;> @0003                               v65 = load.i64 notrap aligned readonly region0 v64+176
;;> @0003                               call_indirect sig0, v65(v63, v60, v61, v62)  ; v60 = 3, v61 = 29
;;> @0003                               jump block14
;;>
;;>                                 block14:
;;> @0003                               jump block4(v38)
;;>
;;>                                 block11:
;;> @0003                               v66 = iconst.i32 6
;;> @0004                               v67 = iadd.i32 v38, v66  ; v66 = 6
;;> @0004                               v68 = iconst.i32 1
;;> @0005                               v69 = band.i32 v35, v68  ; v68 = 1
;;> @0006                               v70 = load.i64 notrap aligned readonly region0 v1+8
;;> @0006                               v71 = load.i64 notrap aligned region1 v70+32
;;> @0006                               v72 = load.i32 notrap aligned region1 v71+132
;;> @0006                               v73 = iconst.i32 1
;;> @0006                               v74 = isub v72, v73  ; v73 = 1
;;> @0006                               store notrap aligned region1 v74, v71+132
;;> @0006                               v75 = iconst.i32 0x0200_0000
;;> @0006                               v76 = band v74, v75  ; v75 = 0x0200_0000
;;> @0006                               brif v76, block15, block16
;;>
;;>                                 block15 cold:
;;> @0006                               v77 = iconst.i32 5
;;> @0006                               v78 = iconst.i32 51
;;> @0006                               v79 = iconst.i32 0
;;> @0006                               v80 = icmp.i32 ne v69, v79  ; v79 = 0
;;> @0006                               v81 = uextend.i64 v80
;;> @0006                               v82 = get_pinned_reg.i64
;;> @0006                               v83 = load.i64 notrap aligned readonly region0 v82+48
;;> @0006                               v84 = load.i64 notrap aligned readonly region0 v83+176
;;> @0006                               call_indirect sig0, v84(v82, v77, v78, v81)  ; v77 = 5, v78 = 51
;;> @0006                               jump block16
;;>
;;>                                 block16:
;;> @0006                               v85 = select.i32 v69, v67, v38
;;>                                     v107 -> v85
;;> @0006                               v87 = iconst.i32 1
;;> @0007                               v88 = isub.i32 v35, v87  ; v87 = 1
;;> @0008                               brif v88, block5(v98, v88, v85), block17
;;>
;;>                                 block17:
;;> @0009                               v89 = load.i64 notrap aligned readonly region0 v1+8
;;> @0009                               v90 = load.i64 notrap aligned region1 v89+32
;;> @0009                               v91 = load.i32 notrap aligned region1 v90+132
;;> @0009                               v92 = iconst.i32 1
;;> @0009                               v93 = isub v91, v92  ; v92 = 1
;;> @0009                               store notrap aligned region1 v93, v90+132
;;> @0009                               v94 = iconst.i32 0x0200_0000
;;> @0009                               v95 = band v93, v94  ; v94 = 0x0200_0000
;;> @0009                               brif v95, block18, block19
;;>
;;>                                 block18 cold:
;;> @0009                               v96 = iconst.i32 3
;;> @0009                               v97 = iconst.i32 29
;;> @0009                               v99 = uextend.i64 v20
;;> @0009                               v100 = get_pinned_reg.i64
;;> @0009                               v101 = load.i64 notrap aligned readonly region0 v100+48
;;> @0009                               v102 = load.i64 notrap aligned readonly region0 v101+176
;;> @0009                               call_indirect sig0, v102(v100, v96, v97, v99)  ; v96 = 3, v97 = 29
;;> @0009                               jump block19
;;>
;;>                                 block19:
;;> @000a                               jump block4(v85)
;;>
;;>                                 block4(v105: i32):
;;>                                     v122 -> v105
;;> @000b                               v108 = load.i64 notrap aligned readonly region0 v1+8
;;> @000b                               v109 = load.i64 notrap aligned region1 v108+32
;;> @000b                               v110 = load.i32 notrap aligned region1 v109+132
;;> @000b                               v111 = iconst.i32 1
;;> @000b                               v112 = isub v110, v111  ; v111 = 1
;;> @000b                               store notrap aligned region1 v112, v109+132
;;> @000b                               v113 = iconst.i32 0x0200_0000
;;> @000b                               v114 = band v112, v113  ; v113 = 0x0200_0000
;;> @000b                               brif v114, block22, block23
;;>
;;>                                 block22 cold:
;;> @000b                               v115 = iconst.i32 4
;;> @000b                               v116 = iconst.i32 71
;;> @000b                               v117 = uextend.i64 v105
;;> @000b                               v118 = get_pinned_reg.i64
;;> @000b                               v119 = load.i64 notrap aligned readonly region0 v118+48
;;> @000b                               v120 = load.i64 notrap aligned readonly region0 v119+176
;;> @000b                               call_indirect sig0, v120(v118, v115, v116, v117)  ; v115 = 4, v116 = 71
;;> @000b                               jump block23
;;>
;;>                                 block23:
;;> @000b                               br_table v105, block20, [block21]
;;>
;;>                                 block21:
;;> @000b                               v121 = iconst.i32 9
;;> @000c                               return v121  ; v121 = 9
;;>
;;>                                 block20:
;;> @000d                               return v105
;;> }
