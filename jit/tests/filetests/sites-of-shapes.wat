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
;;>                                     v96 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v97 -> v2
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
;;> @0000                               v15 = load.i64 notrap aligned readonly region0 v14+192
;;> @0000                               call_indirect sig0, v15(v13, v10, v11, v12)  ; v10 = 2, v11 = 24
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v17 = iconst.i32 0
;;> @0001                               jump block5(v17, v0, v2)  ; v17 = 0, v2 = 0
;;>
;;>                                 block5(v18: i32, v29: i32, v31: i32):
;;>                                     v79 -> v29
;;>                                     v99 -> v31
;;> @0001                               v19 = iconst.i32 1
;;> @0001                               v20 = iadd v18, v19  ; v19 = 1
;;>                                     v91 -> v20
;;> @0001                               v21 = get_pinned_reg.i64
;;> @0001                               v22 = load.i64 user66 aligned region2 v21+120
;;> @0001                               v23 = icmp ult v21, v22
;;> @0001                               brif v23, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v24 = get_pinned_reg.i64
;;> @0001                               v25 = load.i64 notrap aligned readonly region0 v24+8
;;> @0001                               v26 = load.i64 notrap aligned readonly region0 v25+40
;;> @0001                               v27 = iconst.i64 0x001d_0000_0000
;;> @0001                               store notrap aligned region3 v27, v26  ; v27 = 0x001d_0000_0000
;;> @0001                               v28 = iconst.i64 7
;;> @0001                               store notrap aligned region3 v28, v26+8  ; v28 = 7
;;> @0001                               v30 = uextend.i64 v29
;;> @0001                               store notrap aligned region3 v30, v26+16
;;> @0001                               v32 = uextend.i64 v31
;;> @0001                               store notrap aligned region3 v32, v26+24
;;> @0001                               v33 = load.i32 notrap aligned region3 v26
;;> @0001                               v34 = load.i32 notrap aligned region3 v26+4
;;> @0001                               v35 = load.i32 notrap aligned region3 v26+8
;;> @0001                               v36 = get_pinned_reg.i64
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+56
;;> @0001                               v38 = load.i64 notrap aligned readonly region0 v37+112
;;> @0001                               v39 = call_indirect sig1, v38(v36, v33, v34, v35)
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+8
;;> @0001                               v42 = load.i64 notrap aligned readonly region0 v41+40
;;> @0001                               return_call_indirect sig2, v39(v42)
;;>
;;>                                 block7:
;;> @0001                               v43 = iconst.i32 100
;;> @0002                               v44 = icmp.i32 eq v31, v43  ; v43 = 100
;;> @0002                               v45 = uextend.i32 v44
;;> @0003                               brif v45, block9, block8
;;>
;;>                                 block9:
;;> @0003                               v46 = load.i64 notrap aligned readonly region0 v1+8
;;> @0003                               v47 = load.i64 notrap aligned region1 v46+32
;;> @0003                               v48 = load.i32 notrap aligned region1 v47+132
;;> @0003                               v49 = iconst.i32 1
;;> @0003                               v50 = isub v48, v49  ; v49 = 1
;;> @0003                               store notrap aligned region1 v50, v47+132
;;> @0003                               v51 = iconst.i32 0x0200_0000
;;> @0003                               v52 = band v50, v51  ; v51 = 0x0200_0000
;;> @0003                               brif v52, block10, block11
;;>
;;>                                 block10 cold:
;;> @0003                               v53 = iconst.i32 3
;;> @0003                               v54 = iconst.i32 29
;;> @0003                               v55 = uextend.i64 v20
;;> @0003                               v56 = get_pinned_reg.i64
;;> @0003                               v57 = load.i64 notrap aligned readonly region0 v56+56
;;> @0003                               v58 = load.i64 notrap aligned readonly region0 v57+192
;;> @0003                               call_indirect sig0, v58(v56, v53, v54, v55)  ; v53 = 3, v54 = 29
;;> @0003                               jump block11
;;>
;;>                                 block11:
;;> @0003                               jump block4(v31)
;;>
;;>                                 block8:
;;> @0003                               v59 = iconst.i32 6
;;> @0004                               v60 = iadd.i32 v31, v59  ; v59 = 6
;;> @0004                               v61 = iconst.i32 1
;;> @0005                               v62 = band.i32 v29, v61  ; v61 = 1
;;> @0006                               v63 = load.i64 notrap aligned readonly region0 v1+8
;;> @0006                               v64 = load.i64 notrap aligned region1 v63+32
;;> @0006                               v65 = load.i32 notrap aligned region1 v64+132
;;> @0006                               v66 = iconst.i32 1
;;> @0006                               v67 = isub v65, v66  ; v66 = 1
;;> @0006                               store notrap aligned region1 v67, v64+132
;;> @0006                               v68 = iconst.i32 0x0200_0000
;;> @0006                               v69 = band v67, v68  ; v68 = 0x0200_0000
;;> @0006                               brif v69, block12, block13
;;>
;;>                                 block12 cold:
;;> @0006                               v70 = iconst.i32 5
;;> @0006                               v71 = iconst.i32 51
;;> @0006                               v72 = iconst.i32 0
;;> @0006                               v73 = icmp.i32 ne v62, v72  ; v72 = 0
;;> @0006                               v74 = uextend.i64 v73
;;> @0006                               v75 = get_pinned_reg.i64
;;> @0006                               v76 = load.i64 notrap aligned readonly region0 v75+56
;;> @0006                               v77 = load.i64 notrap aligned readonly region0 v76+192
;;> @0006                               call_indirect sig0, v77(v75, v70, v71, v74)  ; v70 = 5, v71 = 51
;;> @0006                               jump block13
;;>
;;>                                 block13:
;;> @0006                               v78 = select.i32 v62, v60, v31
;;>                                     v100 -> v78
;;> @0006                               v80 = iconst.i32 1
;;> @0007                               v81 = isub.i32 v29, v80  ; v80 = 1
;;> @0008                               brif v81, block5(v91, v81, v78), block14
;;>
;;>                                 block14:
;;> @0009                               v82 = load.i64 notrap aligned readonly region0 v1+8
;;> @0009                               v83 = load.i64 notrap aligned region1 v82+32
;;> @0009                               v84 = load.i32 notrap aligned region1 v83+132
;;> @0009                               v85 = iconst.i32 1
;;> @0009                               v86 = isub v84, v85  ; v85 = 1
;;> @0009                               store notrap aligned region1 v86, v83+132
;;> @0009                               v87 = iconst.i32 0x0200_0000
;;> @0009                               v88 = band v86, v87  ; v87 = 0x0200_0000
;;> @0009                               brif v88, block15, block16
;;>
;;>                                 block15 cold:
;;> @0009                               v89 = iconst.i32 3
;;> @0009                               v90 = iconst.i32 29
;;> @0009                               v92 = uextend.i64 v20
;;> @0009                               v93 = get_pinned_reg.i64
;;> @0009                               v94 = load.i64 notrap aligned readonly region0 v93+56
;;> @0009                               v95 = load.i64 notrap aligned readonly region0 v94+192
;;> @0009                               call_indirect sig0, v95(v93, v89, v90, v92)  ; v89 = 3, v90 = 29
;;> @0009                               jump block16
;;>
;;>                                 block16:
;;> @000a                               jump block4(v78)
;;>
;;>                                 block4(v98: i32):
;;>                                     v115 -> v98
;;> @000b                               v101 = load.i64 notrap aligned readonly region0 v1+8
;;> @000b                               v102 = load.i64 notrap aligned region1 v101+32
;;> @000b                               v103 = load.i32 notrap aligned region1 v102+132
;;> @000b                               v104 = iconst.i32 1
;;> @000b                               v105 = isub v103, v104  ; v104 = 1
;;> @000b                               store notrap aligned region1 v105, v102+132
;;> @000b                               v106 = iconst.i32 0x0200_0000
;;> @000b                               v107 = band v105, v106  ; v106 = 0x0200_0000
;;> @000b                               brif v107, block19, block20
;;>
;;>                                 block19 cold:
;;> @000b                               v108 = iconst.i32 4
;;> @000b                               v109 = iconst.i32 71
;;> @000b                               v110 = uextend.i64 v98
;;> @000b                               v111 = get_pinned_reg.i64
;;> @000b                               v112 = load.i64 notrap aligned readonly region0 v111+56
;;> @000b                               v113 = load.i64 notrap aligned readonly region0 v112+192
;;> @000b                               call_indirect sig0, v113(v111, v108, v109, v110)  ; v108 = 4, v109 = 71
;;> @000b                               jump block20
;;>
;;>                                 block20:
;;> @000b                               br_table v98, block17, [block18]
;;>
;;>                                 block18:
;;> @000b                               v114 = iconst.i32 9
;;> @000c                               return v114  ; v114 = 9
;;>
;;>                                 block17:
;;> @000d                               return v98
;;> }
