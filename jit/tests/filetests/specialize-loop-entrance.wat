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
;;> @0000                               v2 = load.i64 notrap aligned readonly can_move region0 v1+72
;;> @0001                               v50 = iconst.i32 2
;;> @0005                               v57 = iconst.i32 1
;;> @0001                               jump block7(v6, v7)
;;>
;;>                                 block7(v35: i32, v38: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region2 v14+128
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i32 notrap aligned region2 v17+132
;;> @0001                               v20 = ireduce.i16 v18
;;> @0001                               brif v20, block11, block10
;;>
;;>                                 block10 cold:
;;> @0001                               v19 = iconst.i32 0x0022_0000
;;> @0001                               v21 = bxor.i32 v18, v19  ; v19 = 0x0022_0000
;;> @0001                               brif v21, block12, block11
;;>
;;>                                 block12 cold:
;;> @0001                               v22 = iconst.i16 0
;;> @0001                               store notrap aligned region2 v22, v17+134  ; v22 = 0
;;> @0001                               jump block7(v35, v38)
;;>
;;>                                 block11 cold:
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region0 v23+8
;;> @0001                               v25 = load.i64 notrap aligned readonly region0 v24+40
;;> @0001                               v26 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region1 v26, v25  ; v26 = 0x0021_0000_0000
;;> @0001                               v27 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v27, v25+8  ; v27 = 7
;;> @0001                               v30 = uextend.i64 v4
;;> @0001                               store notrap aligned region1 v30, v25+16
;;>                                     v117 = iconst.i64 3
;;> @0001                               store notrap aligned region1 v117, v25+24  ; v117 = 3
;;> @0001                               v36 = uextend.i64 v35
;;> @0001                               store notrap aligned region1 v36, v25+32
;;> @0001                               v39 = uextend.i64 v38
;;> @0001                               store notrap aligned region1 v39, v25+40
;;> @0001                               v40 = load.i32 notrap aligned region1 v25
;;> @0001                               v41 = load.i32 notrap aligned region1 v25+4
;;> @0001                               v42 = load.i32 notrap aligned region1 v25+8
;;> @0001                               v43 = get_pinned_reg.i64
;;> @0001                               v44 = load.i64 notrap aligned readonly region0 v43+56
;;> @0001                               v45 = load.i64 notrap aligned readonly region0 v44+96
;;> @0001                               v46 = call_indirect sig0, v45(v43, v40, v41, v42)
;;> @0001                               v47 = get_pinned_reg.i64
;;> @0001                               v48 = load.i64 notrap aligned readonly region0 v47+8
;;> @0001                               v49 = load.i64 notrap aligned readonly region0 v48+40
;;> @0001                               return_call_indirect sig1, v46(v49)
;;>
;;>                                 block9:
;;>                                     v132 = iconst.i32 2
;;>                                     v133 = ishl.i32 v35, v132  ; v132 = 2
;;> @0003                               v52 = iadd.i32 v4, v133
;;> @0004                               v53 = uextend.i64 v52
;;> @0004                               v54 = iadd.i64 v2, v53
;;> @0004                               v55 = load.i32 user2 region3 v54
;;>                                     v134 = iconst.i32 1
;;>                                     v135 = iadd.i32 v35, v134  ; v134 = 1
;;>                                     v136 = iconst.i32 3
;;>                                     v137 = icmp ult v135, v136  ; v136 = 3
;;> @0005                               v56 = iadd.i32 v38, v55
;;> @0008                               brif v137, block7(v135, v56), block13
;;>
;;>                                 block13:
;;> @000a                               return v56
;;>
;;>                                 block2 cold:
;;> @000a                               jump block14
;;>
;;>                                 block14 cold:
;;> @000b                               jump block17
;;>
;;>                                 block17 cold:
;;>                                     v138 = load.i64 notrap aligned readonly can_move region0 v1+72
;;>                                     v139 = iconst.i32 2
;;>                                     v140 = iconst.i32 1
;;> @000b                               jump block18(v6, v7)
;;>
;;>                                 block18(v87: i32, v90: i32) cold:
;;> @000b                               v66 = get_pinned_reg.i64
;;> @000b                               v67 = load.i64 user66 aligned region2 v66+128
;;> @000b                               v68 = icmp ult v66, v67
;;> @000b                               brif v68, block19, block20
;;>
;;>                                 block19 cold:
;;> @000b                               v69 = get_pinned_reg.i64
;;> @000b                               v70 = load.i32 notrap aligned region2 v69+132
;;> @000b                               v72 = ireduce.i16 v70
;;> @000b                               brif v72, block22, block21
;;>
;;>                                 block21 cold:
;;>                                     v141 = iconst.i32 0x0022_0000
;;> @000b                               v73 = bxor.i32 v70, v141  ; v141 = 0x0022_0000
;;> @000b                               brif v73, block23, block22
;;>
;;>                                 block23 cold:
;;>                                     v142 = iconst.i16 0
;;> @000b                               store notrap aligned region2 v142, v69+134  ; v142 = 0
;;> @000b                               jump block18(v87, v90)
;;>
;;>                                 block22 cold:
;;> @000b                               v75 = get_pinned_reg.i64
;;> @000b                               v76 = load.i64 notrap aligned readonly region0 v75+8
;;> @000b                               v77 = load.i64 notrap aligned readonly region0 v76+40
;;>                                     v143 = iconst.i64 0x0021_0000_0000
;;> @000b                               store notrap aligned region1 v143, v77  ; v143 = 0x0021_0000_0000
;;>                                     v144 = iconst.i64 7
;;> @000b                               store notrap aligned region1 v144, v77+8  ; v144 = 7
;;>                                     v145 = uextend.i64 v4
;;> @000b                               store notrap aligned region1 v145, v77+16
;;> @000b                               v85 = uextend.i64 v5
;;> @000b                               store notrap aligned region1 v85, v77+24
;;> @000b                               v88 = uextend.i64 v87
;;> @000b                               store notrap aligned region1 v88, v77+32
;;> @000b                               v91 = uextend.i64 v90
;;> @000b                               store notrap aligned region1 v91, v77+40
;;> @000b                               v92 = load.i32 notrap aligned region1 v77
;;> @000b                               v93 = load.i32 notrap aligned region1 v77+4
;;> @000b                               v94 = load.i32 notrap aligned region1 v77+8
;;> @000b                               v95 = get_pinned_reg.i64
;;> @000b                               v96 = load.i64 notrap aligned readonly region0 v95+56
;;> @000b                               v97 = load.i64 notrap aligned readonly region0 v96+96
;;> @000b                               v98 = call_indirect sig0, v97(v95, v92, v93, v94)
;;> @000b                               v99 = get_pinned_reg.i64
;;> @000b                               v100 = load.i64 notrap aligned readonly region0 v99+8
;;> @000b                               v101 = load.i64 notrap aligned readonly region0 v100+40
;;> @000b                               return_call_indirect sig1, v98(v101)
;;>
;;>                                 block20 cold:
;;> @000c                               v103 = ishl.i32 v87, v139  ; v139 = 2
;;> @000d                               v104 = iadd.i32 v4, v103
;;> @000e                               v105 = uextend.i64 v104
;;> @000e                               v106 = iadd.i64 v138, v105
;;> @000e                               v107 = load.i32 user2 region3 v106
;;> @0010                               v110 = iadd.i32 v87, v140  ; v140 = 1
;;> @0011                               v111 = icmp ult v110, v5
;;> @000f                               v108 = iadd.i32 v90, v107
;;> @0012                               brif v111, block18(v110, v108), block24
;;>
;;>                                 block24 cold:
;;> @0014                               return v108
;;> }
;;> specialize in function 0: done
