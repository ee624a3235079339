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
;;> @0001                               v11 = iconst.i32 -2
;;> @0001                               v12 = iconst.i32 34
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
;;>                                     v133 = iconst.i32 -2
;;>                                     v134 = band v10, v133  ; v133 = -2
;;> @0001                               brif v134, block5, block6
;;>
;;>                                 block5 cold:
;;>                                     v135 = iconst.i32 34
;;>                                     v136 = bxor.i32 v10, v135  ; v135 = 34
;;> @0001                               brif v136, block4, block6
;;>
;;>                                 block6 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region0 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+40
;;> @0001                               v18 = iconst.i64 0x0022_0000_0000
;;> @0001                               store notrap aligned region2 v18, v17  ; v18 = 0x0022_0000_0000
;;> @0001                               v19 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v19, v17+8  ; v19 = 7
;;> @0001                               v22 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v22, v17+16
;;> @0001                               v25 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v25, v17+24
;;> @0001                               v28 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v28, v17+32
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
;;> @0000                               v4 = load.i64 notrap aligned readonly can_move region0 v3+64
;;> @0008                               v115 = iconst.i32 64
;;> @0008                               v116 = iadd.i32 v21, v115  ; v115 = 64
;;> @0008                               v117 = uextend.i64 v116
;;> @0008                               v118 = iadd v4, v117
;;> @0008                               v119 = iconst.i64 1
;;> @0008                               v120 = iadd v118, v119  ; v119 = 1
;;> @0008                               v121 = uload32 user65 region3 v120-1
;;> @0008                               v122 = ireduce.i32 v121
;;> @0008                               v123 = iconst.i32 -1640531535
;;> @0008                               v124 = imul v122, v123  ; v123 = -1640531535
;;> @0008                               v125 = iconst.i32 20
;;> @0008                               v126 = ushr v124, v125  ; v125 = 20
;;> @0008                               v127 = iconst.i32 3
;;> @0008                               v128 = ishl v126, v127  ; v127 = 3
;;> @0008                               v129 = iadd.i32 v2, v128
;;> @0008                               v130 = uextend.i64 v129
;;> @0008                               v131 = iadd v4, v130
;;> @0008                               v132 = load.i16 user64 little region3 v131
;;>                                     v137 = uextend.i64 v21
;;> @0002                               v44 = iadd v4, v137
;;> @0002                               v45 = load.i32 user2 region3 v44
;;> @0003                               v47 = imul v45, v123  ; v123 = -1640531535
;;> @0004                               v49 = ushr v47, v125  ; v125 = 20
;;> @0005                               v55 = iconst.i32 59
;;> @0005                               jump block8(v30, v49)
;;>
;;>                                 block8(v73: i32, v76: i32):
;;> @0005                               v50 = get_pinned_reg.i64
;;> @0005                               v51 = load.i32 notrap aligned region1 v50+112
;;> @0005                               brif v51, block9, block10
;;>
;;>                                 block9 cold:
;;> @0005                               v52 = get_pinned_reg.i64
;;> @0005                               v53 = load.i32 notrap aligned region1 v52+112
;;>                                     v138 = iconst.i32 -2
;;>                                     v139 = band v53, v138  ; v138 = -2
;;> @0005                               brif v139, block11, block12
;;>
;;>                                 block11 cold:
;;>                                     v140 = iconst.i32 59
;;>                                     v141 = bxor.i32 v53, v140  ; v140 = 59
;;> @0005                               brif v141, block10, block12
;;>
;;>                                 block12 cold:
;;> @0005                               v58 = get_pinned_reg.i64
;;> @0005                               v59 = load.i64 notrap aligned readonly region0 v58+8
;;> @0005                               v60 = load.i64 notrap aligned readonly region0 v59+40
;;> @0005                               v61 = iconst.i64 0x003b_0000_0000
;;> @0005                               store notrap aligned region2 v61, v60  ; v61 = 0x003b_0000_0000
;;>                                     v142 = iconst.i64 7
;;> @0005                               store notrap aligned region2 v142, v60+8  ; v142 = 7
;;> @0005                               store.i64 notrap aligned region2 v137, v60+16
;;>                                     v143 = uextend.i64 v1
;;> @0005                               store notrap aligned region2 v143, v60+24
;;>                                     v144 = uextend.i64 v2
;;> @0005                               store notrap aligned region2 v144, v60+32
;;> @0005                               v74 = uextend.i64 v73
;;> @0005                               store notrap aligned region2 v74, v60+40
;;> @0005                               v77 = uextend.i64 v76
;;> @0005                               store notrap aligned region2 v77, v60+56
;;> @0005                               v78 = load.i32 notrap aligned region2 v60
;;> @0005                               v79 = load.i32 notrap aligned region2 v60+4
;;> @0005                               v80 = load.i32 notrap aligned region2 v60+8
;;> @0005                               v81 = get_pinned_reg.i64
;;> @0005                               v82 = load.i64 notrap aligned readonly region0 v81+48
;;> @0005                               v83 = load.i64 notrap aligned readonly region0 v82+96
;;> @0005                               v84 = call_indirect sig0, v83(v81, v78, v79, v80)
;;> @0005                               v85 = get_pinned_reg.i64
;;> @0005                               v86 = load.i64 notrap aligned readonly region0 v85+8
;;> @0005                               v87 = load.i64 notrap aligned readonly region0 v86+40
;;> @0005                               return_call_indirect sig1, v84(v87)
;;>
;;>                                 block10:
;;>                                     v145 = iconst.i32 3
;;>                                     v146 = ishl.i32 v76, v145  ; v145 = 3
;;> @0007                               v92 = iadd.i32 v2, v146
;;> @0008                               v93 = uextend.i64 v92
;;> @0008                               v94 = iadd.i64 v4, v93
;;> @0008                               v95 = load.i32 user2 region3 v94
;;>                                     v147 = iconst.i32 0
;;>                                     v148 = icmp eq v95, v147  ; v147 = 0
;;> @000a                               brif v148, block7, block13
;;>
;;>                                 block13:
;;> @000a                               v100 = iconst.i32 1
;;> @000b                               v101 = iadd.i32 v73, v100  ; v100 = 1
;;> @000c                               v103 = iadd.i32 v76, v100  ; v100 = 1
;;> @000c                               v104 = iconst.i32 4095
;;> @000d                               v105 = band v103, v104  ; v104 = 4095
;;> @000e                               jump block8(v101, v105)
;;>
;;>                                 block7:
;;> @000e                               v111 = iconst.i32 4
;;> @000f                               v112 = iadd.i32 v21, v111  ; v111 = 4
;;> @0010                               v113 = icmp ne v112, v1
;;> @0011                               brif v113, block2(v112, v73), block14
;;>
;;>                                 block14:
;;> @0013                               return v73
;;> }
;;> prefetch in function 0: done
