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
;;> @0000                               v4 = load.i64 notrap aligned readonly can_move region0 v3-96
;;> @0008                               v87 = iconst.i32 64
;;> @0008                               v91 = iconst.i64 1
;;> @0008                               v95 = iconst.i32 -1640531535
;;> @0008                               v97 = iconst.i32 20
;;> @0008                               v99 = iconst.i32 3
;;> @000e                               v83 = iconst.i32 4
;;> @0001                               jump block2(v0, v5)  ; v5 = 0
;;>
;;>                                 block2(v15: i32, v18: i32):
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 user66 aligned region1 v7-144
;;> @0001                               v9 = icmp ult v7, v8
;;> @0001                               brif v9, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v10 = get_pinned_reg.i64
;;> @0001                               v11 = load.i64 notrap aligned readonly region0 v10-64
;;> @0001                               v12 = load.i64 notrap aligned readonly region0 v11+40
;;> @0001                               v13 = iconst.i64 0x0022_0000_0000
;;> @0001                               store notrap aligned region2 v13, v12  ; v13 = 0x0022_0000_0000
;;>                                     v128 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v128, v12+8  ; v128 = 7
;;> @0001                               v19 = uextend.i64 v18
;;> @0001                               store notrap aligned region2 v19, v12+40
;;>                                     v129 = uextend.i64 v2
;;> @0001                               store notrap aligned region2 v129, v12+32
;;>                                     v130 = uextend.i64 v1
;;> @0001                               store notrap aligned region2 v130, v12+24
;;>                                     v131 = uextend.i64 v15
;;> @0001                               store notrap aligned region2 v131, v12+16
;;> @0001                               v23 = load.i32 notrap aligned region2 v12
;;> @0001                               v24 = load.i32 notrap aligned region2 v12+4
;;> @0001                               v25 = load.i32 notrap aligned region2 v12+8
;;> @0001                               v26 = get_pinned_reg.i64
;;> @0001                               v27 = load.i64 notrap aligned readonly region0 v26-16
;;> @0001                               v28 = load.i64 notrap aligned readonly region0 v27+112
;;> @0001                               v29 = call_indirect sig0, v28(v26, v23, v24, v25)
;;> @0001                               v30 = get_pinned_reg.i64
;;> @0001                               v31 = load.i64 notrap aligned readonly region0 v30-64
;;> @0001                               v32 = load.i64 notrap aligned readonly region0 v31+40
;;> @0001                               return_call_indirect sig1, v29(v32)
;;>
;;>                                 block4:
;;>                                     v105 = iconst.i32 64
;;>                                     v106 = iadd.i32 v15, v105  ; v105 = 64
;;> @0008                               v89 = uextend.i64 v106
;;> @0008                               v90 = iadd.i64 v4, v89
;;>                                     v107 = iconst.i64 1
;;>                                     v108 = iadd v90, v107  ; v107 = 1
;;> @0008                               v93 = uload32 user65 region3 v108-1
;;> @0008                               v94 = ireduce.i32 v93
;;>                                     v109 = iconst.i32 -1640531535
;;>                                     v110 = imul v94, v109  ; v109 = -1640531535
;;>                                     v111 = iconst.i32 20
;;>                                     v112 = ushr v110, v111  ; v111 = 20
;;>                                     v113 = iconst.i32 3
;;>                                     v114 = ishl v112, v113  ; v113 = 3
;;> @0008                               v101 = iadd.i32 v2, v114
;;> @0008                               v102 = uextend.i64 v101
;;> @0008                               v103 = iadd.i64 v4, v102
;;> @0008                               v104 = load.i16 user64 little region3 v103
;;> @0002                               v33 = uextend.i64 v15
;;> @0002                               v35 = load.i32 user72 region3 v33
;;>                                     v115 = imul v35, v109  ; v109 = -1640531535
;;>                                     v116 = ushr v115, v111  ; v111 = 20
;;> @000a                               v77 = iconst.i32 1
;;> @000c                               v81 = iconst.i32 4095
;;> @0005                               jump block6(v18, v116)
;;>
;;>                                 block6(v51: i32, v52: i32):
;;> @0005                               v40 = get_pinned_reg.i64
;;> @0005                               v41 = load.i64 user66 aligned region1 v40-136
;;> @0005                               v42 = icmp ult v40, v41
;;> @0005                               brif v42, block7, block8
;;>
;;>                                 block7 cold:
;;> @0005                               v43 = get_pinned_reg.i64
;;> @0005                               v44 = load.i64 notrap aligned readonly region0 v43-64
;;> @0005                               v45 = load.i64 notrap aligned readonly region0 v44+40
;;> @0005                               v46 = iconst.i64 0x003b_0000_0000
;;> @0005                               store notrap aligned region2 v46, v45  ; v46 = 0x003b_0000_0000
;;> @0005                               v47 = iconst.i64 7
;;> @0005                               store notrap aligned region2 v47, v45+8  ; v47 = 7
;;> @0005                               v53 = uextend.i64 v52
;;> @0005                               store notrap aligned region2 v53, v45+56
;;> @0005                               v54 = uextend.i64 v51
;;> @0005                               store notrap aligned region2 v54, v45+40
;;> @0005                               v55 = uextend.i64 v2
;;> @0005                               store notrap aligned region2 v55, v45+32
;;> @0005                               v56 = uextend.i64 v1
;;> @0005                               store notrap aligned region2 v56, v45+24
;;> @0005                               store.i64 notrap aligned region2 v33, v45+16
;;> @0005                               v58 = load.i32 notrap aligned region2 v45
;;> @0005                               v59 = load.i32 notrap aligned region2 v45+4
;;> @0005                               v60 = load.i32 notrap aligned region2 v45+8
;;> @0005                               v61 = get_pinned_reg.i64
;;> @0005                               v62 = load.i64 notrap aligned readonly region0 v61-16
;;> @0005                               v63 = load.i64 notrap aligned readonly region0 v62+112
;;> @0005                               v64 = call_indirect sig0, v63(v61, v58, v59, v60)
;;> @0005                               v65 = get_pinned_reg.i64
;;> @0005                               v66 = load.i64 notrap aligned readonly region0 v65-64
;;> @0005                               v67 = load.i64 notrap aligned readonly region0 v66+40
;;> @0005                               return_call_indirect sig1, v64(v67)
;;>
;;>                                 block8:
;;>                                     v117 = iconst.i32 3
;;>                                     v118 = ishl.i32 v52, v117  ; v117 = 3
;;> @0007                               v70 = iadd.i32 v2, v118
;;> @0008                               v71 = uextend.i64 v70
;;> @0008                               v73 = load.i32 user72 region3 v71
;;>                                     v119 = iconst.i32 0
;;>                                     v120 = icmp eq v73, v119  ; v119 = 0
;;> @000a                               brif v120, block5, block9
;;>
;;>                                 block9:
;;>                                     v121 = iconst.i32 1
;;>                                     v122 = iadd.i32 v51, v121  ; v121 = 1
;;>                                     v123 = iadd.i32 v52, v121  ; v121 = 1
;;>                                     v124 = iconst.i32 4095
;;>                                     v125 = band v123, v124  ; v124 = 4095
;;> @000e                               jump block6(v122, v125)
;;>
;;>                                 block5:
;;>                                     v126 = iconst.i32 4
;;>                                     v127 = iadd.i32 v15, v126  ; v126 = 4
;;> @0010                               v85 = icmp ne v127, v1
;;> @0011                               brif v85, block2(v127, v51), block10
;;>
;;>                                 block10:
;;> @0013                               return v51
;;> }
;;> prefetch in function 0: done
