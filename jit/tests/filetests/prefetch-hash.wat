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
;;> @0000                               v4 = load.i64 notrap aligned readonly can_move region0 v3+72
;;> @0008                               v108 = iconst.i32 64
;;> @0008                               v112 = iconst.i64 1
;;> @0008                               v116 = iconst.i32 -1640531535
;;> @0008                               v118 = iconst.i32 20
;;> @0008                               v120 = iconst.i32 3
;;> @000e                               v104 = iconst.i32 4
;;> @0001                               jump block2(v0, v5)  ; v5 = 0
;;>
;;>                                 block2(v22: i32, v31: i32):
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 user66 aligned region1 v7+128
;;> @0001                               v9 = icmp ult v7, v8
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i32 notrap aligned region1 v10+132
;;> @0001                               v13 = ireduce.i16 v11
;;> @0001                               brif v13, block6, block5
;;>
;;>                                 block5 cold:
;;> @0001                               v12 = iconst.i32 0x0023_0000
;;> @0001                               v14 = bxor.i32 v11, v12  ; v12 = 0x0023_0000
;;> @0001                               brif v14, block7, block6
;;>
;;>                                 block7 cold:
;;>                                     v149 = iconst.i16 0
;;> @0001                               store notrap aligned region1 v149, v10+134  ; v149 = 0
;;> @0001                               jump block2(v22, v31)
;;>
;;>                                 block6 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v19 = iconst.i64 0x0022_0000_0000
;;> @0001                               store notrap aligned region2 v19, v18  ; v19 = 0x0022_0000_0000
;;>                                     v150 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v150, v18+8  ; v150 = 7
;;>                                     v151 = uextend.i64 v22
;;> @0001                               store notrap aligned region2 v151, v18+16
;;>                                     v152 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v152, v18+24
;;>                                     v153 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v153, v18+32
;;> @0001                               v32 = uextend.i64 v31
;;> @0001                               store notrap aligned region2 v32, v18+40
;;> @0001                               v33 = load.i32 notrap aligned region2 v18
;;> @0001                               v34 = load.i32 notrap aligned region2 v18+4
;;> @0001                               v35 = load.i32 notrap aligned region2 v18+8
;;> @0001                               v36 = get_pinned_reg.i64
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+56
;;> @0001                               v38 = load.i64 notrap aligned readonly region0 v37+96
;;> @0001                               v39 = call_indirect sig0, v38(v36, v33, v34, v35)
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region0 v40+8
;;> @0001                               v42 = load.i64 notrap aligned readonly region0 v41+40
;;> @0001                               return_call_indirect sig1, v39(v42)
;;>
;;>                                 block4:
;;>                                     v126 = iconst.i32 64
;;>                                     v127 = iadd.i32 v22, v126  ; v126 = 64
;;> @0008                               v110 = uextend.i64 v127
;;> @0008                               v111 = iadd.i64 v4, v110
;;>                                     v128 = iconst.i64 1
;;>                                     v129 = iadd v111, v128  ; v128 = 1
;;> @0008                               v114 = uload32 user65 region3 v129-1
;;> @0008                               v115 = ireduce.i32 v114
;;>                                     v130 = iconst.i32 -1640531535
;;>                                     v131 = imul v115, v130  ; v130 = -1640531535
;;>                                     v132 = iconst.i32 20
;;>                                     v133 = ushr v131, v132  ; v132 = 20
;;>                                     v134 = iconst.i32 3
;;>                                     v135 = ishl v133, v134  ; v134 = 3
;;> @0008                               v122 = iadd.i32 v2, v135
;;> @0008                               v123 = uextend.i64 v122
;;> @0008                               v124 = iadd.i64 v4, v123
;;> @0008                               v125 = load.i16 user64 little region3 v124
;;> @0002                               v43 = uextend.i64 v22
;;> @0002                               v44 = iadd.i64 v4, v43
;;> @0002                               v45 = load.i32 user2 region3 v44
;;>                                     v136 = imul v45, v130  ; v130 = -1640531535
;;>                                     v137 = ushr v136, v132  ; v132 = 20
;;> @000a                               v98 = iconst.i32 1
;;> @000c                               v102 = iconst.i32 4095
;;> @0005                               jump block9(v31, v137)
;;>
;;>                                 block9(v74: i32, v77: i32):
;;> @0005                               v50 = get_pinned_reg.i64
;;> @0005                               v51 = load.i64 user66 aligned region1 v50+128
;;> @0005                               v52 = icmp ult v50, v51
;;> @0005                               brif v52, block10, block11
;;>
;;>                                 block10 cold:
;;> @0005                               v53 = get_pinned_reg.i64
;;> @0005                               v54 = load.i32 notrap aligned region1 v53+132
;;> @0005                               v56 = ireduce.i16 v54
;;> @0005                               brif v56, block13, block12
;;>
;;>                                 block12 cold:
;;> @0005                               v55 = iconst.i32 0x003c_0000
;;> @0005                               v57 = bxor.i32 v54, v55  ; v55 = 0x003c_0000
;;> @0005                               brif v57, block14, block13
;;>
;;>                                 block14 cold:
;;> @0005                               v58 = iconst.i16 0
;;> @0005                               store notrap aligned region1 v58, v53+134  ; v58 = 0
;;> @0005                               jump block9(v74, v77)
;;>
;;>                                 block13 cold:
;;> @0005                               v59 = get_pinned_reg.i64
;;> @0005                               v60 = load.i64 notrap aligned readonly region0 v59+8
;;> @0005                               v61 = load.i64 notrap aligned readonly region0 v60+40
;;> @0005                               v62 = iconst.i64 0x003b_0000_0000
;;> @0005                               store notrap aligned region2 v62, v61  ; v62 = 0x003b_0000_0000
;;> @0005                               v63 = iconst.i64 7
;;> @0005                               store notrap aligned region2 v63, v61+8  ; v63 = 7
;;> @0005                               store.i64 notrap aligned region2 v43, v61+16
;;> @0005                               v69 = uextend.i64 v1
;;> @0005                               store notrap aligned region2 v69, v61+24
;;> @0005                               v72 = uextend.i64 v2
;;> @0005                               store notrap aligned region2 v72, v61+32
;;> @0005                               v75 = uextend.i64 v74
;;> @0005                               store notrap aligned region2 v75, v61+40
;;> @0005                               v78 = uextend.i64 v77
;;> @0005                               store notrap aligned region2 v78, v61+56
;;> @0005                               v79 = load.i32 notrap aligned region2 v61
;;> @0005                               v80 = load.i32 notrap aligned region2 v61+4
;;> @0005                               v81 = load.i32 notrap aligned region2 v61+8
;;> @0005                               v82 = get_pinned_reg.i64
;;> @0005                               v83 = load.i64 notrap aligned readonly region0 v82+56
;;> @0005                               v84 = load.i64 notrap aligned readonly region0 v83+96
;;> @0005                               v85 = call_indirect sig0, v84(v82, v79, v80, v81)
;;> @0005                               v86 = get_pinned_reg.i64
;;> @0005                               v87 = load.i64 notrap aligned readonly region0 v86+8
;;> @0005                               v88 = load.i64 notrap aligned readonly region0 v87+40
;;> @0005                               return_call_indirect sig1, v85(v88)
;;>
;;>                                 block11:
;;>                                     v138 = iconst.i32 3
;;>                                     v139 = ishl.i32 v77, v138  ; v138 = 3
;;> @0007                               v91 = iadd.i32 v2, v139
;;> @0008                               v92 = uextend.i64 v91
;;> @0008                               v93 = iadd.i64 v4, v92
;;> @0008                               v94 = load.i32 user2 region3 v93
;;>                                     v140 = iconst.i32 0
;;>                                     v141 = icmp eq v94, v140  ; v140 = 0
;;> @000a                               brif v141, block8, block15
;;>
;;>                                 block15:
;;>                                     v142 = iconst.i32 1
;;>                                     v143 = iadd.i32 v74, v142  ; v142 = 1
;;>                                     v144 = iadd.i32 v77, v142  ; v142 = 1
;;>                                     v145 = iconst.i32 4095
;;>                                     v146 = band v144, v145  ; v145 = 4095
;;> @000e                               jump block9(v143, v146)
;;>
;;>                                 block8:
;;>                                     v147 = iconst.i32 4
;;>                                     v148 = iadd.i32 v22, v147  ; v147 = 4
;;> @0010                               v106 = icmp ne v148, v1
;;> @0011                               brif v106, block2(v148, v74), block16
;;>
;;>                                 block16:
;;> @0013                               return v74
;;> }
;;> prefetch in function 0: done
