;; Tier 1 records conditions of selects, indices of switches, and how often a loop ran where it is left, by a branch or through its end.
;;! tier = baseline
;;! show = clif
;;! sites = true
;;! contains = _0000_0003
;;! contains = _0000_0004
;;! contains = _0000_0005
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
;;>     sig0 = (i64, i64) preserve_all
;;>     sig1 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig2 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v95 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;>                                     v96 -> v2
;;> @0000                               v3 = load.i64 notrap aligned readonly region0 v1-64
;;> @0000                               v4 = load.i32 notrap aligned region1 v3+80
;;> @0000                               v5 = iconst.i32 -1
;;> @0000                               v6 = iadd v4, v5  ; v5 = -1
;;> @0000                               store notrap aligned region1 v6, v3+80
;;> @0000                               v7 = load.i32 notrap aligned region1 v3+80
;;> @0000                               v8 = iconst.i32 0
;;> @0000                               v9 = icmp slt v7, v8  ; v8 = 0
;;> @0000                               brif v9, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v10 = iconst.i64 0x0018_0000_0002
;;> @0000                               v11 = uextend.i64 v0
;;> @0000                               v12 = get_pinned_reg.i64
;;> @0000                               v13 = load.i64 notrap aligned readonly region0 v12-16
;;> @0000                               v14 = load.i64 notrap aligned readonly region0 v13+192
;;> @0000                               call_indirect sig0, v14(v10, v11)  ; v10 = 0x0018_0000_0002
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v16 = iconst.i32 0
;;> @0001                               jump block5(v16, v0, v2)  ; v16 = 0, v2 = 0
;;>
;;>                                 block5(v17: i32, v28: i32, v29: i32):
;;>                                     v78 -> v28
;;>                                     v98 -> v29
;;> @0001                               v18 = iconst.i32 1
;;> @0001                               v19 = iadd v17, v18  ; v18 = 1
;;>                                     v90 -> v19
;;> @0001                               v20 = get_pinned_reg.i64
;;> @0001                               v21 = load.i64 user66 aligned region2 v20-120
;;> @0001                               v22 = icmp ult v20, v21
;;> @0001                               brif v22, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23-64
;;> @0001                               v25 = load.i64 notrap aligned readonly region0 v24+40
;;> @0001                               v26 = iconst.i64 0x001d_0000_0000
;;> @0001                               store notrap aligned region3 v26, v25  ; v26 = 0x001d_0000_0000
;;> @0001                               v27 = iconst.i64 7
;;> @0001                               store notrap aligned region3 v27, v25+8  ; v27 = 7
;;> @0001                               v30 = uextend.i64 v29
;;> @0001                               store notrap aligned region3 v30, v25+24
;;> @0001                               v31 = uextend.i64 v28
;;> @0001                               store notrap aligned region3 v31, v25+16
;;> @0001                               v32 = load.i32 notrap aligned region3 v25
;;> @0001                               v33 = load.i32 notrap aligned region3 v25+4
;;> @0001                               v34 = load.i32 notrap aligned region3 v25+8
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35-16
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+112
;;> @0001                               v38 = call_indirect sig1, v37(v35, v32, v33, v34)
;;> @0001                               v39 = get_pinned_reg.i64
;;> @0001                               v40 = load.i64 notrap aligned readonly region0 v39-64
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+40
;;> @0001                               return_call_indirect sig2, v38(v41)
;;>
;;>                                 block7:
;;> @0001                               v42 = iconst.i32 100
;;> @0002                               v43 = icmp.i32 eq v29, v42  ; v42 = 100
;;> @0002                               v44 = uextend.i32 v43
;;> @0003                               brif v44, block9, block8
;;>
;;>                                 block9:
;;> @0003                               v45 = get_pinned_reg.i64
;;> @0003                               v46 = load.i64 notrap aligned readonly region0 v45-64
;;> @0003                               v47 = load.i32 notrap aligned region1 v46+80
;;> @0003                               v48 = iconst.i32 -1
;;> @0003                               v49 = iadd v47, v48  ; v48 = -1
;;> @0003                               store notrap aligned region1 v49, v46+80
;;> @0003                               v50 = load.i32 notrap aligned region1 v46+80
;;> @0003                               v51 = iconst.i32 0
;;> @0003                               v52 = icmp slt v50, v51  ; v51 = 0
;;> @0003                               brif v52, block10, block11
;;>
;;>                                 block10 cold:
;;> @0003                               v53 = iconst.i64 0x001d_0000_0003
;;> @0003                               v54 = uextend.i64 v19
;;> @0003                               v55 = get_pinned_reg.i64
;;> @0003                               v56 = load.i64 notrap aligned readonly region0 v55-16
;;> @0003                               v57 = load.i64 notrap aligned readonly region0 v56+192
;;> @0003                               call_indirect sig0, v57(v53, v54)  ; v53 = 0x001d_0000_0003
;;> @0003                               jump block11
;;>
;;>                                 block11:
;;> @0003                               jump block4(v29)
;;>
;;>                                 block8:
;;> @0003                               v58 = iconst.i32 6
;;> @0004                               v59 = iadd.i32 v29, v58  ; v58 = 6
;;> @0004                               v60 = iconst.i32 1
;;> @0005                               v61 = band.i32 v28, v60  ; v60 = 1
;;> @0006                               v62 = get_pinned_reg.i64
;;> @0006                               v63 = load.i64 notrap aligned readonly region0 v62-64
;;> @0006                               v64 = load.i32 notrap aligned region1 v63+80
;;> @0006                               v65 = iconst.i32 -1
;;> @0006                               v66 = iadd v64, v65  ; v65 = -1
;;> @0006                               store notrap aligned region1 v66, v63+80
;;> @0006                               v67 = load.i32 notrap aligned region1 v63+80
;;> @0006                               v68 = iconst.i32 0
;;> @0006                               v69 = icmp slt v67, v68  ; v68 = 0
;;> @0006                               brif v69, block12, block13
;;>
;;>                                 block12 cold:
;;> @0006                               v70 = iconst.i64 0x0033_0000_0005
;;> @0006                               v71 = iconst.i32 0
;;> @0006                               v72 = icmp.i32 ne v61, v71  ; v71 = 0
;;> @0006                               v73 = uextend.i64 v72
;;> @0006                               v74 = get_pinned_reg.i64
;;> @0006                               v75 = load.i64 notrap aligned readonly region0 v74-16
;;> @0006                               v76 = load.i64 notrap aligned readonly region0 v75+192
;;> @0006                               call_indirect sig0, v76(v70, v73)  ; v70 = 0x0033_0000_0005
;;> @0006                               jump block13
;;>
;;>                                 block13:
;;> @0006                               v77 = select.i32 v61, v59, v29
;;>                                     v99 -> v77
;;> @0006                               v79 = iconst.i32 1
;;> @0007                               v80 = isub.i32 v28, v79  ; v79 = 1
;;> @0008                               brif v80, block5(v90, v80, v77), block14
;;>
;;>                                 block14:
;;> @0009                               v81 = get_pinned_reg.i64
;;> @0009                               v82 = load.i64 notrap aligned readonly region0 v81-64
;;> @0009                               v83 = load.i32 notrap aligned region1 v82+80
;;> @0009                               v84 = iconst.i32 -1
;;> @0009                               v85 = iadd v83, v84  ; v84 = -1
;;> @0009                               store notrap aligned region1 v85, v82+80
;;> @0009                               v86 = load.i32 notrap aligned region1 v82+80
;;> @0009                               v87 = iconst.i32 0
;;> @0009                               v88 = icmp slt v86, v87  ; v87 = 0
;;> @0009                               brif v88, block15, block16
;;>
;;>                                 block15 cold:
;;> @0009                               v89 = iconst.i64 0x001d_0000_0003
;;> @0009                               v91 = uextend.i64 v19
;;> @0009                               v92 = get_pinned_reg.i64
;;> @0009                               v93 = load.i64 notrap aligned readonly region0 v92-16
;;> @0009                               v94 = load.i64 notrap aligned readonly region0 v93+192
;;> @0009                               call_indirect sig0, v94(v89, v91)  ; v89 = 0x001d_0000_0003
;;> @0009                               jump block16
;;>
;;>                                 block16:
;;> @000a                               jump block4(v77)
;;>
;;>                                 block4(v97: i32):
;;>                                     v114 -> v97
;;> @000b                               v100 = get_pinned_reg.i64
;;> @000b                               v101 = load.i64 notrap aligned readonly region0 v100-64
;;> @000b                               v102 = load.i32 notrap aligned region1 v101+80
;;> @000b                               v103 = iconst.i32 -1
;;> @000b                               v104 = iadd v102, v103  ; v103 = -1
;;> @000b                               store notrap aligned region1 v104, v101+80
;;> @000b                               v105 = load.i32 notrap aligned region1 v101+80
;;> @000b                               v106 = iconst.i32 0
;;> @000b                               v107 = icmp slt v105, v106  ; v106 = 0
;;> @000b                               brif v107, block19, block20
;;>
;;>                                 block19 cold:
;;> @000b                               v108 = iconst.i64 0x0047_0000_0004
;;> @000b                               v109 = uextend.i64 v97
;;> @000b                               v110 = get_pinned_reg.i64
;;> @000b                               v111 = load.i64 notrap aligned readonly region0 v110-16
;;> @000b                               v112 = load.i64 notrap aligned readonly region0 v111+192
;;> @000b                               call_indirect sig0, v112(v108, v109)  ; v108 = 0x0047_0000_0004
;;> @000b                               jump block20
;;>
;;>                                 block20:
;;> @000b                               br_table v97, block17, [block18]
;;>
;;>                                 block18:
;;> @000b                               v113 = iconst.i32 9
;;> @000c                               return v113  ; v113 = 9
;;>
;;>                                 block17:
;;> @000d                               return v97
;;> }
