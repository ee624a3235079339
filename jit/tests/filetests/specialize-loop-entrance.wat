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
;;> @0001                               v39 = iconst.i32 2
;;> @0005                               v46 = iconst.i32 1
;;> @0001                               jump block7(v6, v7)
;;>
;;>                                 block7(v23: i32, v25: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i32 notrap aligned region2 v14+112
;;> @0001                               brif v15, block8, block9
;;>
;;>                                 block8 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+8
;;> @0001                               v18 = load.i64 notrap aligned readonly region0 v17+40
;;> @0001                               v20 = uextend.i64 v4
;;> @0001                               store notrap aligned region1 v20, v18+16
;;>                                     v95 = iconst.i64 3
;;> @0001                               store notrap aligned region1 v95, v18+24  ; v95 = 3
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region1 v24, v18+32
;;> @0001                               v26 = uextend.i64 v25
;;> @0001                               store notrap aligned region1 v26, v18+40
;;> @0001                               v27 = iconst.i64 0x0021_0000_0000
;;> @0001                               store notrap aligned region1 v27, v18  ; v27 = 0x0021_0000_0000
;;> @0001                               v28 = iconst.i64 7
;;> @0001                               store notrap aligned region1 v28, v18+8  ; v28 = 7
;;> @0001                               v29 = load.i32 notrap aligned region1 v18
;;> @0001                               v30 = load.i32 notrap aligned region1 v18+4
;;> @0001                               v31 = load.i32 notrap aligned region1 v18+8
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region0 v32+48
;;> @0001                               v34 = load.i64 notrap aligned readonly region0 v33+96
;;> @0001                               v35 = call_indirect sig0, v34(v32, v29, v30, v31)
;;> @0001                               v36 = get_pinned_reg.i64
;;> @0001                               v37 = load.i64 notrap aligned readonly region0 v36+8
;;> @0001                               v38 = load.i64 notrap aligned readonly region0 v37+40
;;> @0001                               return_call_indirect sig1, v35(v38)
;;>
;;>                                 block9:
;;>                                     v108 = iconst.i32 2
;;>                                     v109 = ishl.i32 v23, v108  ; v108 = 2
;;> @0003                               v41 = iadd.i32 v4, v109
;;> @0004                               v42 = uextend.i64 v41
;;> @0004                               v43 = iadd.i64 v2, v42
;;> @0004                               v44 = load.i32 user2 region3 v43
;;>                                     v110 = iconst.i32 1
;;>                                     v111 = iadd.i32 v23, v110  ; v110 = 1
;;>                                     v112 = iconst.i32 3
;;>                                     v113 = icmp ult v111, v112  ; v112 = 3
;;> @0005                               v45 = iadd.i32 v25, v44
;;> @0008                               brif v113, block7(v111, v45), block10
;;>
;;>                                 block10:
;;> @000a                               return v45
;;>
;;>                                 block2 cold:
;;> @000a                               jump block11
;;>
;;>                                 block11 cold:
;;> @000b                               jump block14
;;>
;;>                                 block14 cold:
;;>                                     v114 = load.i64 notrap aligned readonly can_move region0 v1+64
;;>                                     v115 = iconst.i32 2
;;>                                     v116 = iconst.i32 1
;;> @000b                               jump block15(v6, v7)
;;>
;;>                                 block15(v64: i32, v66: i32) cold:
;;> @000b                               v55 = get_pinned_reg.i64
;;> @000b                               v56 = load.i32 notrap aligned region2 v55+112
;;> @000b                               brif v56, block16, block17
;;>
;;>                                 block16 cold:
;;> @000b                               v57 = get_pinned_reg.i64
;;> @000b                               v58 = load.i64 notrap aligned readonly region0 v57+8
;;> @000b                               v59 = load.i64 notrap aligned readonly region0 v58+40
;;>                                     v117 = uextend.i64 v4
;;> @000b                               store notrap aligned region1 v117, v59+16
;;> @000b                               v63 = uextend.i64 v5
;;> @000b                               store notrap aligned region1 v63, v59+24
;;> @000b                               v65 = uextend.i64 v64
;;> @000b                               store notrap aligned region1 v65, v59+32
;;> @000b                               v67 = uextend.i64 v66
;;> @000b                               store notrap aligned region1 v67, v59+40
;;>                                     v118 = iconst.i64 0x0021_0000_0000
;;> @000b                               store notrap aligned region1 v118, v59  ; v118 = 0x0021_0000_0000
;;>                                     v119 = iconst.i64 7
;;> @000b                               store notrap aligned region1 v119, v59+8  ; v119 = 7
;;> @000b                               v70 = load.i32 notrap aligned region1 v59
;;> @000b                               v71 = load.i32 notrap aligned region1 v59+4
;;> @000b                               v72 = load.i32 notrap aligned region1 v59+8
;;> @000b                               v73 = get_pinned_reg.i64
;;> @000b                               v74 = load.i64 notrap aligned readonly region0 v73+48
;;> @000b                               v75 = load.i64 notrap aligned readonly region0 v74+96
;;> @000b                               v76 = call_indirect sig0, v75(v73, v70, v71, v72)
;;> @000b                               v77 = get_pinned_reg.i64
;;> @000b                               v78 = load.i64 notrap aligned readonly region0 v77+8
;;> @000b                               v79 = load.i64 notrap aligned readonly region0 v78+40
;;> @000b                               return_call_indirect sig1, v76(v79)
;;>
;;>                                 block17 cold:
;;> @000c                               v81 = ishl.i32 v64, v115  ; v115 = 2
;;> @000d                               v82 = iadd.i32 v4, v81
;;> @000e                               v83 = uextend.i64 v82
;;> @000e                               v84 = iadd.i64 v114, v83
;;> @000e                               v85 = load.i32 user2 region3 v84
;;> @0010                               v88 = iadd.i32 v64, v116  ; v116 = 1
;;> @0011                               v89 = icmp ult v88, v5
;;> @000f                               v86 = iadd.i32 v66, v85
;;> @0012                               brif v89, block15(v88, v86), block18
;;>
;;>                                 block18 cold:
;;> @0014                               return v86
;;> }
;;> specialize in function 0: done
