;;! tier = optimizing
;;! show = optimized
;;! decision = {"prefetch": {"offset": "I32Load#1", "kind": "indirect", "distance": 16}}
;;! contains = prefetch in function 0: done
;; The first probe of the next key's walk: the inner loop's own steps are not known ahead, what it begins with is.
(module
  (memory 1)
  (func (param $i i32) (param $end i32) (param $table i32) (result i32) (local $found i32) (local $key i32) (local $at i32)
    (loop $keys
      (local.set $key (i32.load (local.get $i)))
      (local.set $at (i32.shr_u (i32.mul (local.get $key) (i32.const 0x9e3779b1)) (i32.const 20)))
      (block $done
        (loop $walk
          (br_if $done (i32.eqz (i32.load (i32.add (local.get $table) (i32.shl (local.get $at) (i32.const 3))))))
          (local.set $found (i32.add (local.get $found) (i32.const 1)))
          (local.set $at (i32.and (i32.add (local.get $at) (i32.const 1)) (i32.const 4095)))
          (br $walk)))
      (br_if $keys (i32.ne (local.tee $i (i32.add (local.get $i) (i32.const 4))) (local.get $end))))
    (local.get $found)))

;;> function u0:0(i32, i32, i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 33554432 "poll"
;;>     region2 = 83886080 "switch"
;;>     region3 = 268435456 "memory 0"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i32, v1: i32, v2: i32):
;;>                                     v3 = get_pinned_reg.i64
;;> @0000                               v5 = iconst.i32 0
;;> @0000                               v4 = load.i64 notrap aligned readonly can_move region0 v3+64
;;> @0008                               v106 = iconst.i32 64
;;> @0008                               v110 = iconst.i64 1
;;> @0008                               v114 = iconst.i32 -1640531535
;;> @0008                               v116 = iconst.i32 20
;;> @0008                               v118 = iconst.i32 3
;;> @000e                               v102 = iconst.i32 4
;;> @0001                               jump block2(v0, v5)  ; v5 = 0
;;>
;;>                                 block2(v21: i32, v30: i32):
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i32 notrap aligned region1 v7+112
;;> @0001                               brif v8, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v9 = get_pinned_reg.i64
;;> @0001                               v10 = load.i32 notrap aligned region1 v9+112
;;> @0001                               v12 = ireduce.i16 v10
;;> @0001                               brif v12, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v11 = iconst.i32 0x0023_0000
;;> @0001                               v13 = bxor.i32 v10, v11  ; v11 = 0x0023_0000
;;> @0001                               brif v13, block7, block6
;;>
;;>                                 block7 cold:
;;>                                     v147 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v147, v9+114  ; v147 = 0
;;> @0001                               jump block2(v21, v30)
;;>
;;>                                 block6 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region0 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+40
;;> @0001                               v18 = iconst.i64 0x0022_0000_0000
;;> @0001                               store notrap aligned region2 v18, v17  ; v18 = 0x0022_0000_0000
;;>                                     v148 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v148, v17+8  ; v148 = 7
;;>                                     v149 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v149, v17+16
;;>                                     v150 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v150, v17+24
;;>                                     v151 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v151, v17+32
;;> @0001                               v31 = uextend.i64 v30
;;> @0001                               store notrap aligned region2 v31, v17+40
;;> @0001                               v32 = load.i32 notrap aligned region2 v17
;;> @0001                               v33 = load.i32 notrap aligned region2 v17+4
;;> @0001                               v34 = load.i32 notrap aligned region2 v17+8
;;> @0001                               v35 = get_pinned_reg.i64
;;> @0001                               v36 = load.i64 notrap aligned readonly region0 v35+48
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+96
;;> @0001                               v38 = call_indirect sig0, v37(v35, v32, v33, v34)
;;> @0001                               v39 = get_pinned_reg.i64
;;> @0001                               v40 = load.i64 notrap aligned readonly region0 v39+8
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+40
;;> @0001                               return_call_indirect sig1, v38(v41)
;;>
;;>                                 block4:
;;>                                     v124 = iconst.i32 64
;;>                                     v125 = iadd.i32 v21, v124  ; v124 = 64
;;> @0008                               v108 = uextend.i64 v125
;;> @0008                               v109 = iadd.i64 v4, v108
;;>                                     v126 = iconst.i64 1
;;>                                     v127 = iadd v109, v126  ; v126 = 1
;;> @0008                               v112 = uload32 user65 region3 v127-1
;;> @0008                               v113 = ireduce.i32 v112
;;>                                     v128 = iconst.i32 -1640531535
;;>                                     v129 = imul v113, v128  ; v128 = -1640531535
;;>                                     v130 = iconst.i32 20
;;>                                     v131 = ushr v129, v130  ; v130 = 20
;;>                                     v132 = iconst.i32 3
;;>                                     v133 = ishl v131, v132  ; v132 = 3
;;> @0008                               v120 = iadd.i32 v2, v133
;;> @0008                               v121 = uextend.i64 v120
;;> @0008                               v122 = iadd.i64 v4, v121
;;> @0008                               v123 = load.i16 user64 little region3 v122
;;> @0002                               v42 = uextend.i64 v21
;;> @0002                               v43 = iadd.i64 v4, v42
;;> @0002                               v44 = load.i32 user2 region3 v43
;;>                                     v134 = imul v44, v128  ; v128 = -1640531535
;;>                                     v135 = ushr v134, v130  ; v130 = 20
;;> @000a                               v96 = iconst.i32 1
;;> @000c                               v100 = iconst.i32 4095
;;> @0005                               jump block9(v30, v135)
;;>
;;>                                 block9(v72: i32, v75: i32):
;;> @0005                               v49 = get_pinned_reg.i64
;;> @0005                               v50 = load.i32 notrap aligned region1 v49+112
;;> @0005                               brif v50, block10, block11
;;>
;;>                                 block10 cold:
;;> @0005                               v51 = get_pinned_reg.i64
;;> @0005                               v52 = load.i32 notrap aligned region1 v51+112
;;> @0005                               v54 = ireduce.i16 v52
;;> @0005                               brif v54, block13, block12
;;>
;;>                                 block12 cold:
;;> @0005                               v53 = iconst.i32 0x003c_0000
;;> @0005                               v55 = bxor.i32 v52, v53  ; v53 = 0x003c_0000
;;> @0005                               brif v55, block14, block13
;;>
;;>                                 block14 cold:
;;> @0005                               v56 = iconst.i16 0
;;> @0005                               store notrap aligned region1 v56, v51+114  ; v56 = 0
;;> @0005                               jump block9(v72, v75)
;;>
;;>                                 block13 cold:
;;> @0005                               v57 = get_pinned_reg.i64
;;> @0005                               v58 = load.i64 notrap aligned readonly region0 v57+8
;;> @0005                               v59 = load.i64 notrap aligned readonly region0 v58+40
;;> @0005                               v60 = iconst.i64 0x003b_0000_0000
;;> @0005                               store notrap aligned region2 v60, v59  ; v60 = 0x003b_0000_0000
;;> @0005                               v61 = iconst.i64 7
;;> @0005                               store notrap aligned region2 v61, v59+8  ; v61 = 7
;;> @0005                               store.i64 notrap aligned region2 v42, v59+16
;;> @0005                               v67 = uextend.i64 v1
;;> @0005                               store notrap aligned region2 v67, v59+24
;;> @0005                               v70 = uextend.i64 v2
;;> @0005                               store notrap aligned region2 v70, v59+32
;;> @0005                               v73 = uextend.i64 v72
;;> @0005                               store notrap aligned region2 v73, v59+40
;;> @0005                               v76 = uextend.i64 v75
;;> @0005                               store notrap aligned region2 v76, v59+56
;;> @0005                               v77 = load.i32 notrap aligned region2 v59
;;> @0005                               v78 = load.i32 notrap aligned region2 v59+4
;;> @0005                               v79 = load.i32 notrap aligned region2 v59+8
;;> @0005                               v80 = get_pinned_reg.i64
;;> @0005                               v81 = load.i64 notrap aligned readonly region0 v80+48
;;> @0005                               v82 = load.i64 notrap aligned readonly region0 v81+96
;;> @0005                               v83 = call_indirect sig0, v82(v80, v77, v78, v79)
;;> @0005                               v84 = get_pinned_reg.i64
;;> @0005                               v85 = load.i64 notrap aligned readonly region0 v84+8
;;> @0005                               v86 = load.i64 notrap aligned readonly region0 v85+40
;;> @0005                               return_call_indirect sig1, v83(v86)
;;>
;;>                                 block11:
;;>                                     v136 = iconst.i32 3
;;>                                     v137 = ishl.i32 v75, v136  ; v136 = 3
;;> @0007                               v89 = iadd.i32 v2, v137
;;> @0008                               v90 = uextend.i64 v89
;;> @0008                               v91 = iadd.i64 v4, v90
;;> @0008                               v92 = load.i32 user2 region3 v91
;;>                                     v138 = iconst.i32 0
;;>                                     v139 = icmp eq v92, v138  ; v138 = 0
;;> @000a                               brif v139, block8, block15
;;>
;;>                                 block15:
;;>                                     v140 = iconst.i32 1
;;>                                     v141 = iadd.i32 v72, v140  ; v140 = 1
;;>                                     v142 = iadd.i32 v75, v140  ; v140 = 1
;;>                                     v143 = iconst.i32 4095
;;>                                     v144 = band v142, v143  ; v143 = 4095
;;> @000e                               jump block9(v141, v144)
;;>
;;>                                 block8:
;;>                                     v145 = iconst.i32 4
;;>                                     v146 = iadd.i32 v21, v145  ; v145 = 4
;;> @0010                               v104 = icmp ne v146, v1
;;> @0011                               brif v104, block2(v146, v72), block16
;;>
;;>                                 block16:
;;> @0013                               return v72
;;> }
;;> prefetch in function 0: done
