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
;;> @0001                               v40 = iconst.i32 2
;;> @0005                               v47 = iconst.i32 1
;;> @0001                               jump block7(v6, v7)
;;>
;;>                                 block7(v26: i32, v28: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i64 user66 aligned region2 v14+136
;;> @0001                               v16 = icmp ult v14, v15
;;> @0001                               brif v16, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v17 = get_pinned_reg.i64
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+8
;;> @0001                               v19 = load.i64 notrap aligned readonly region0 v18+40
;;> @0001                               v20 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region1 v20, v19  ; v20 = 0x0021_0000_0000
;;> @0001                               v21 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v21, v19+8  ; v21 = 7
;;> @0001                               v23 = uextend.i64 v4
;;> @0001                               store notrap aligned region1 v23, v19+16
;;>                                     v131 = iconst.i64 3
;;> @0001                               store notrap aligned region1 v131, v19+24  ; v131 = 3
;;> @0001                               v27 = uextend.i64 v26
;;> @0001                               store notrap aligned region1 v27, v19+32
;;> @0001                               v29 = uextend.i64 v28
;;> @0001                               store notrap aligned region1 v29, v19+40
;;> @0001                               v30 = load.i32 notrap aligned region1 v19
;;> @0001                               v31 = load.i32 notrap aligned region1 v19+4
;;> @0001                               v32 = load.i32 notrap aligned region1 v19+8
;;> @0001                               v33 = get_pinned_reg.i64
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33+56
;;> @0001                               v35 = load.i64 notrap aligned readonly region0 v34+96
;;> @0001                               v36 = call_indirect sig0, v35(v33, v30, v31, v32)
;;> @0001                               v37 = get_pinned_reg.i64
;;> @0001                               v38 = load.i64 notrap aligned readonly region0 v37+8
;;> @0001                               v39 = load.i64 notrap aligned readonly region0 v38+40
;;> @0001                               return_call_indirect sig1, v36(v39)
;;>
;;>                                 block9:
;;>                                     v191 = iconst.i32 2
;;>                                     v192 = ishl.i32 v26, v191  ; v191 = 2
;;> @0003                               v42 = iadd.i32 v4, v192
;;> @0004                               v43 = uextend.i64 v42
;;> @0004                               v44 = iadd.i64 v2, v43
;;> @0004                               v45 = load.i32 user2 region3 v44
;;>                                     v193 = iconst.i32 1
;;>                                     v194 = iadd.i32 v26, v193  ; v193 = 1
;;>                                     v195 = iconst.i32 3
;;>                                     v196 = icmp ult v194, v195  ; v195 = 3
;;> @0005                               v46 = iadd.i32 v28, v45
;;> @0008                               brif v196, block7(v194, v46), block10
;;>
;;>                                 block10:
;;> @000a                               return v46
;;>
;;>                                 block2 cold:
;;> @000a                               jump block11
;;>
;;>                                 block11 cold:
;;> @000b                               jump block14
;;>
;;>                                 block14 cold:
;;>                                     v197 = load.i64 notrap aligned readonly can_move region0 v1+72
;;>                                     v198 = iconst.i32 2
;;>                                     v199 = iconst.i32 1
;;> @000b                               jump block15(v6, v7)
;;>
;;>                                 block15(v68: i32, v70: i32) cold:
;;> @000b                               v56 = get_pinned_reg.i64
;;> @000b                               v57 = load.i64 user66 aligned region2 v56+136
;;> @000b                               v58 = icmp ult v56, v57
;;> @000b                               brif v58, block16, block17
;;>
;;>                                 block16 cold:
;;> @000b                               v59 = get_pinned_reg.i64
;;> @000b                               v60 = load.i64 notrap aligned readonly region0 v59+8
;;> @000b                               v61 = load.i64 notrap aligned readonly region0 v60+40
;;>                                     v212 = iconst.i64 0x0021_0000_0000
;;> @000b                               store notrap aligned region1 v212, v61  ; v212 = 0x0021_0000_0000
;;>                                     v213 = iconst.i64 7
;;> @000b                               store notrap aligned region1 v213, v61+8  ; v213 = 7
;;>                                     v214 = uextend.i64 v4
;;> @000b                               store notrap aligned region1 v214, v61+16
;;> @000b                               v67 = uextend.i64 v5
;;> @000b                               store notrap aligned region1 v67, v61+24
;;> @000b                               v69 = uextend.i64 v68
;;> @000b                               store notrap aligned region1 v69, v61+32
;;> @000b                               v71 = uextend.i64 v70
;;> @000b                               store notrap aligned region1 v71, v61+40
;;> @000b                               v72 = load.i32 notrap aligned region1 v61
;;> @000b                               v73 = load.i32 notrap aligned region1 v61+4
;;> @000b                               v74 = load.i32 notrap aligned region1 v61+8
;;> @000b                               v75 = get_pinned_reg.i64
;;> @000b                               v76 = load.i64 notrap aligned readonly region0 v75+56
;;> @000b                               v77 = load.i64 notrap aligned readonly region0 v76+96
;;> @000b                               v78 = call_indirect sig0, v77(v75, v72, v73, v74)
;;> @000b                               v79 = get_pinned_reg.i64
;;> @000b                               v80 = load.i64 notrap aligned readonly region0 v79+8
;;> @000b                               v81 = load.i64 notrap aligned readonly region0 v80+40
;;> @000b                               return_call_indirect sig1, v78(v81)
;;>
;;>                                 block17 cold:
;;> @000c                               v83 = ishl.i32 v68, v198  ; v198 = 2
;;> @000d                               v84 = iadd.i32 v4, v83
;;> @000e                               v85 = uextend.i64 v84
;;> @000e                               v86 = iadd.i64 v197, v85
;;> @000e                               v87 = load.i32 user2 region3 v86
;;> @0010                               v90 = iadd.i32 v68, v199  ; v199 = 1
;;> @0011                               v91 = icmp ult v90, v5
;;> @0012                               brif v91, block19, block20
;;>
;;>                                 block20 cold:
;;> @000f                               v88 = iadd.i32 v70, v87
;;> @0013                               jump block18(v88)
;;>
;;>                                 block19 cold:
;;>                                     v200 = iadd.i32 v68, v199  ; v199 = 1
;;>                                     v201 = ishl v200, v198  ; v198 = 2
;;> @0015                               v95 = iadd.i32 v4, v201
;;> @0016                               v96 = uextend.i64 v95
;;> @0016                               v97 = iadd.i64 v197, v96
;;> @0016                               v98 = load.i32 user2 region3 v97
;;>                                     v137 = iadd.i32 v68, v198  ; v198 = 2
;;> @0019                               v102 = icmp ult v137, v5
;;> @001a                               brif v102, block21, block22
;;>
;;>                                 block22 cold:
;;>                                     v202 = iadd.i32 v70, v87
;;> @0017                               v99 = iadd v202, v98
;;> @001b                               jump block18(v99)
;;>
;;>                                 block21 cold:
;;>                                     v203 = iadd.i32 v68, v198  ; v198 = 2
;;>                                     v204 = ishl v203, v198  ; v198 = 2
;;> @001d                               v106 = iadd.i32 v4, v204
;;> @001e                               v107 = uextend.i64 v106
;;> @001e                               v108 = iadd.i64 v197, v107
;;> @001e                               v109 = load.i32 user2 region3 v108
;;>                                     v205 = iconst.i32 3
;;>                                     v206 = iadd.i32 v68, v205  ; v205 = 3
;;> @0021                               v113 = icmp ult v206, v5
;;> @0022                               brif v113, block23, block24
;;>
;;>                                 block24 cold:
;;>                                     v207 = iadd.i32 v70, v87
;;>                                     v208 = iadd v207, v98
;;> @001f                               v110 = iadd v208, v109
;;> @0023                               jump block18(v110)
;;>
;;>                                 block23 cold:
;;> @0024                               v116 = ishl.i32 v206, v198  ; v198 = 2
;;> @0025                               v117 = iadd.i32 v4, v116
;;> @0026                               v118 = uextend.i64 v117
;;> @0026                               v119 = iadd.i64 v197, v118
;;> @0026                               v120 = load.i32 user2 region3 v119
;;>                                     v150 = iconst.i32 4
;;>                                     v155 = iadd.i32 v68, v150  ; v150 = 4
;;> @0029                               v124 = icmp ult v155, v5
;;>                                     v209 = iadd.i32 v70, v87
;;>                                     v210 = iadd v209, v98
;;>                                     v211 = iadd v210, v109
;;> @0027                               v121 = iadd v211, v120
;;> @002a                               brif v124, block15(v155, v121), block25
;;>
;;>                                 block25 cold:
;;> @002b                               jump block18(v121)
;;>
;;>                                 block18(v130: i32) cold:
;;> @002c                               return v130
;;> }
;;> specialize in function 0: done
