;; At the loop entrance the compare is made with the local of the switch buffer; the entered loop itself stays a loop.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": 0, "parameter": 1, "value": 3}}
;;! contains = specialize in function 0: done
;;! loop = 0
;;! lacks = unroll
(module
  (memory 1)
  (func (param $p i32) (param $n i32) (result i32) (local $i i32) (local $s i32)
    (loop $next
      (local.set $s (i32.add (local.get $s) (i32.load (i32.add (local.get $p) (i32.shl (local.get $i) (i32.const 2))))))
      (br_if $next (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n))))
    (local.get $s)))

;;> function u0:0(i64) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 83886080 "switch"
;;>     region2 = 33554432 "poll"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i64):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v4 = load.i32 notrap aligned region1 v0+16
;;> @0000                               v5 = load.i32 notrap aligned region1 v0+24
;;> @0000                               v6 = load.i32 notrap aligned region1 v0+32
;;> @0000                               v7 = load.i32 notrap aligned region1 v0+40
;;> @0000                               v8 = iconst.i32 3
;;> @0000                               v9 = icmp ne v5, v8  ; v8 = 3
;;> @0000                               brif v9, block2, block1
;;>
;;>                                 block1:
;;> @0000                               jump block3
;;>
;;>                                 block3:
;;> @0001                               jump block6
;;>
;;>                                 block6:
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+64
;;> @0001                               v49 = iconst.i32 2
;;> @0005                               v56 = iconst.i32 1
;;> @0001                               jump block7(v6, v7)
;;>
;;>                                 block7(v34: i32, v37: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i32 notrap aligned region2 v14+112
;;> @0001                               brif v15, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i32 notrap aligned region2 v16+112
;;> @0001                               v19 = ireduce.i16 v17
;;> @0001                               brif v19, block11, block10
;;>
;;>                                 block10 cold:
;;> @0001                               v18 = iconst.i32 0x0022_0000
;;> @0001                               v20 = bxor.i32 v17, v18  ; v18 = 0x0022_0000
;;> @0001                               brif v20, block12, block11
;;>
;;>                                 block12 cold:
;;> @0001                               v21 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v21, v16+114  ; v21 = 0
;;> @0001                               jump block7(v34, v37)
;;>
;;>                                 block11 cold:
;;> @0001                               v22 = get_pinned_reg.i64
;;> @0001                               v23 = load.i64 notrap aligned readonly region0 v22+8
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23+40
;;> @0001                               v25 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region1 v25, v24  ; v25 = 0x0021_0000_0000
;;> @0001                               v26 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v26, v24+8  ; v26 = 7
;;> @0001                               v29 = uextend.i64 v4
;;> @0001                               store notrap aligned region1 v29, v24+16
;;>                                     v115 = iconst.i64 3
;;> @0001                               store notrap aligned region1 v115, v24+24  ; v115 = 3
;;> @0001                               v35 = uextend.i64 v34
;;> @0001                               store notrap aligned region1 v35, v24+32
;;> @0001                               v38 = uextend.i64 v37
;;> @0001                               store notrap aligned region1 v38, v24+40
;;> @0001                               v39 = load.i32 notrap aligned region1 v24
;;> @0001                               v40 = load.i32 notrap aligned region1 v24+4
;;> @0001                               v41 = load.i32 notrap aligned region1 v24+8
;;> @0001                               v42 = get_pinned_reg.i64
;;> @0001                               v43 = load.i64 notrap aligned readonly region0 v42+48
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+96
;;> @0001                               v45 = call_indirect sig0, v44(v42, v39, v40, v41)
;;> @0001                               v46 = get_pinned_reg.i64
;;> @0001                               v47 = load.i64 notrap aligned readonly region0 v46+8
;;> @0001                               v48 = load.i64 notrap aligned readonly region0 v47+40
;;> @0001                               return_call_indirect sig1, v45(v48)
;;>
;;>                                 block9:
;;>                                     v130 = iconst.i32 2
;;>                                     v131 = ishl.i32 v34, v130  ; v130 = 2
;;> @0003                               v51 = iadd.i32 v4, v131
;;> @0004                               v52 = uextend.i64 v51
;;> @0004                               v53 = iadd.i64 v2, v52
;;> @0004                               v54 = load.i32 user2 region3 v53
;;>                                     v132 = iconst.i32 1
;;>                                     v133 = iadd.i32 v34, v132  ; v132 = 1
;;>                                     v134 = iconst.i32 3
;;>                                     v135 = icmp ult v133, v134  ; v134 = 3
;;> @0005                               v55 = iadd.i32 v37, v54
;;> @0008                               brif v135, block7(v133, v55), block13
;;>
;;>                                 block13:
;;> @000a                               return v55
;;>
;;>                                 block2 cold:
;;> @000a                               jump block14
;;>
;;>                                 block14 cold:
;;> @000b                               jump block17
;;>
;;>                                 block17 cold:
;;>                                     v136 = load.i64 notrap aligned readonly can_move region0 v1+64
;;>                                     v137 = iconst.i32 2
;;>                                     v138 = iconst.i32 1
;;> @000b                               jump block18(v6, v7)
;;>
;;>                                 block18(v85: i32, v88: i32) cold:
;;> @000b                               v65 = get_pinned_reg.i64
;;> @000b                               v66 = load.i32 notrap aligned region2 v65+112
;;> @000b                               brif v66, block19, block20
;;>
;;>                                 block19 cold:
;;> @000b                               v67 = get_pinned_reg.i64
;;> @000b                               v68 = load.i32 notrap aligned region2 v67+112
;;> @000b                               v70 = ireduce.i16 v68
;;> @000b                               brif v70, block22, block21
;;>
;;>                                 block21 cold:
;;>                                     v139 = iconst.i32 0x0022_0000
;;> @000b                               v71 = bxor.i32 v68, v139  ; v139 = 0x0022_0000
;;> @000b                               brif v71, block23, block22
;;>
;;>                                 block23 cold:
;;>                                     v140 = iconst.i16 0
;;> @000b                               store notrap aligned region2 v140, v67+114  ; v140 = 0
;;> @000b                               jump block18(v85, v88)
;;>
;;>                                 block22 cold:
;;> @000b                               v73 = get_pinned_reg.i64
;;> @000b                               v74 = load.i64 notrap aligned readonly region0 v73+8
;;> @000b                               v75 = load.i64 notrap aligned readonly region0 v74+40
;;>                                     v141 = iconst.i64 0x0021_0000_0000
;;> @000b                               store notrap aligned region1 v141, v75  ; v141 = 0x0021_0000_0000
;;>                                     v142 = iconst.i64 7
;;> @000b                               store notrap aligned region1 v142, v75+8  ; v142 = 7
;;>                                     v143 = uextend.i64 v4
;;> @000b                               store notrap aligned region1 v143, v75+16
;;> @000b                               v83 = uextend.i64 v5
;;> @000b                               store notrap aligned region1 v83, v75+24
;;> @000b                               v86 = uextend.i64 v85
;;> @000b                               store notrap aligned region1 v86, v75+32
;;> @000b                               v89 = uextend.i64 v88
;;> @000b                               store notrap aligned region1 v89, v75+40
;;> @000b                               v90 = load.i32 notrap aligned region1 v75
;;> @000b                               v91 = load.i32 notrap aligned region1 v75+4
;;> @000b                               v92 = load.i32 notrap aligned region1 v75+8
;;> @000b                               v93 = get_pinned_reg.i64
;;> @000b                               v94 = load.i64 notrap aligned readonly region0 v93+48
;;> @000b                               v95 = load.i64 notrap aligned readonly region0 v94+96
;;> @000b                               v96 = call_indirect sig0, v95(v93, v90, v91, v92)
;;> @000b                               v97 = get_pinned_reg.i64
;;> @000b                               v98 = load.i64 notrap aligned readonly region0 v97+8
;;> @000b                               v99 = load.i64 notrap aligned readonly region0 v98+40
;;> @000b                               return_call_indirect sig1, v96(v99)
;;>
;;>                                 block20 cold:
;;> @000c                               v101 = ishl.i32 v85, v137  ; v137 = 2
;;> @000d                               v102 = iadd.i32 v4, v101
;;> @000e                               v103 = uextend.i64 v102
;;> @000e                               v104 = iadd.i64 v136, v103
;;> @000e                               v105 = load.i32 user2 region3 v104
;;> @0010                               v108 = iadd.i32 v85, v138  ; v138 = 1
;;> @0011                               v109 = icmp ult v108, v5
;;> @000f                               v106 = iadd.i32 v88, v105
;;> @0012                               brif v109, block18(v108, v106), block24
;;>
;;>                                 block24 cold:
;;> @0014                               return v106
;;> }
;;> specialize in function 0: done
