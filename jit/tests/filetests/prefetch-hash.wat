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
;;> @0008                               v85 = iconst.i32 64
;;> @0008                               v89 = iconst.i64 1
;;> @0008                               v93 = iconst.i32 -1640531535
;;> @0008                               v95 = iconst.i32 20
;;> @0008                               v97 = iconst.i32 3
;;> @000e                               v81 = iconst.i32 4
;;> @0001                               jump block2(v0, v5)  ; v5 = 0
;;>
;;>                                 block2(v12: i32, v18: i32):
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i32 notrap aligned region1 v7+112
;;> @0001                               brif v8, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v9 = get_pinned_reg.i64
;;> @0001                               v10 = load.i64 notrap aligned readonly region0 v9+8
;;> @0001                               v11 = load.i64 notrap aligned readonly region0 v10+40
;;>                                     v126 = uextend.i64 v12
;;> @0001                               store notrap aligned region2 v126, v11+16
;;>                                     v127 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v127, v11+24
;;>                                     v128 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v128, v11+32
;;> @0001                               v19 = uextend.i64 v18
;;> @0001                               store notrap aligned region2 v19, v11+40
;;> @0001                               v20 = iconst.i64 0x0022_0000_0000
;;> @0001                               store notrap aligned region2 v20, v11  ; v20 = 0x0022_0000_0000
;;>                                     v129 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v129, v11+8  ; v129 = 7
;;> @0001                               v22 = load.i32 notrap aligned region2 v11
;;> @0001                               v23 = load.i32 notrap aligned region2 v11+4
;;> @0001                               v24 = load.i32 notrap aligned region2 v11+8
;;> @0001                               v25 = get_pinned_reg.i64
;;> @0001                               v26 = load.i64 notrap aligned readonly region0 v25+48
;;> @0001                               v27 = load.i64 notrap aligned readonly region0 v26+96
;;> @0001                               v28 = call_indirect sig0, v27(v25, v22, v23, v24)
;;> @0001                               v29 = get_pinned_reg.i64
;;> @0001                               v30 = load.i64 notrap aligned readonly region0 v29+8
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30+40
;;> @0001                               return_call_indirect sig1, v28(v31)
;;>
;;>                                 block4:
;;>                                     v103 = iconst.i32 64
;;>                                     v104 = iadd.i32 v12, v103  ; v103 = 64
;;> @0008                               v87 = uextend.i64 v104
;;> @0008                               v88 = iadd.i64 v4, v87
;;>                                     v105 = iconst.i64 1
;;>                                     v106 = iadd v88, v105  ; v105 = 1
;;> @0008                               v91 = uload32 user65 region3 v106-1
;;> @0008                               v92 = ireduce.i32 v91
;;>                                     v107 = iconst.i32 -1640531535
;;>                                     v108 = imul v92, v107  ; v107 = -1640531535
;;>                                     v109 = iconst.i32 20
;;>                                     v110 = ushr v108, v109  ; v109 = 20
;;>                                     v111 = iconst.i32 3
;;>                                     v112 = ishl v110, v111  ; v111 = 3
;;> @0008                               v99 = iadd.i32 v2, v112
;;> @0008                               v100 = uextend.i64 v99
;;> @0008                               v101 = iadd.i64 v4, v100
;;> @0008                               v102 = load.i16 user64 little region3 v101
;;> @0002                               v32 = uextend.i64 v12
;;> @0002                               v33 = iadd.i64 v4, v32
;;> @0002                               v34 = load.i32 user2 region3 v33
;;>                                     v113 = imul v34, v107  ; v107 = -1640531535
;;>                                     v114 = ushr v113, v109  ; v109 = 20
;;> @000a                               v75 = iconst.i32 1
;;> @000c                               v79 = iconst.i32 4095
;;> @0005                               jump block6(v18, v114)
;;>
;;>                                 block6(v50: i32, v52: i32):
;;> @0005                               v39 = get_pinned_reg.i64
;;> @0005                               v40 = load.i32 notrap aligned region1 v39+112
;;> @0005                               brif v40, block7, block8
;;>
;;>                                 block7 cold:
;;> @0005                               v41 = get_pinned_reg.i64
;;> @0005                               v42 = load.i64 notrap aligned readonly region0 v41+8
;;> @0005                               v43 = load.i64 notrap aligned readonly region0 v42+40
;;> @0005                               store.i64 notrap aligned region2 v32, v43+16
;;> @0005                               v47 = uextend.i64 v1
;;> @0005                               store notrap aligned region2 v47, v43+24
;;> @0005                               v49 = uextend.i64 v2
;;> @0005                               store notrap aligned region2 v49, v43+32
;;> @0005                               v51 = uextend.i64 v50
;;> @0005                               store notrap aligned region2 v51, v43+40
;;> @0005                               v53 = uextend.i64 v52
;;> @0005                               store notrap aligned region2 v53, v43+56
;;> @0005                               v54 = iconst.i64 0x003b_0000_0000
;;> @0005                               store notrap aligned region2 v54, v43  ; v54 = 0x003b_0000_0000
;;> @0005                               v55 = iconst.i64 7
;;> @0005                               store notrap aligned region2 v55, v43+8  ; v55 = 7
;;> @0005                               v56 = load.i32 notrap aligned region2 v43
;;> @0005                               v57 = load.i32 notrap aligned region2 v43+4
;;> @0005                               v58 = load.i32 notrap aligned region2 v43+8
;;> @0005                               v59 = get_pinned_reg.i64
;;> @0005                               v60 = load.i64 notrap aligned readonly region0 v59+48
;;> @0005                               v61 = load.i64 notrap aligned readonly region0 v60+96
;;> @0005                               v62 = call_indirect sig0, v61(v59, v56, v57, v58)
;;> @0005                               v63 = get_pinned_reg.i64
;;> @0005                               v64 = load.i64 notrap aligned readonly region0 v63+8
;;> @0005                               v65 = load.i64 notrap aligned readonly region0 v64+40
;;> @0005                               return_call_indirect sig1, v62(v65)
;;>
;;>                                 block8:
;;>                                     v115 = iconst.i32 3
;;>                                     v116 = ishl.i32 v52, v115  ; v115 = 3
;;> @0007                               v68 = iadd.i32 v2, v116
;;> @0008                               v69 = uextend.i64 v68
;;> @0008                               v70 = iadd.i64 v4, v69
;;> @0008                               v71 = load.i32 user2 region3 v70
;;>                                     v117 = iconst.i32 0
;;>                                     v118 = icmp eq v71, v117  ; v117 = 0
;;> @000a                               brif v118, block5, block9
;;>
;;>                                 block9:
;;>                                     v119 = iconst.i32 1
;;>                                     v120 = iadd.i32 v50, v119  ; v119 = 1
;;>                                     v121 = iadd.i32 v52, v119  ; v119 = 1
;;>                                     v122 = iconst.i32 4095
;;>                                     v123 = band v121, v122  ; v122 = 4095
;;> @000e                               jump block6(v120, v123)
;;>
;;>                                 block5:
;;>                                     v124 = iconst.i32 4
;;>                                     v125 = iadd.i32 v12, v124  ; v124 = 4
;;> @0010                               v83 = icmp ne v125, v1
;;> @0011                               brif v83, block2(v125, v50), block10
;;>
;;>                                 block10:
;;> @0013                               return v50
;;> }
;;> prefetch in function 0: done
