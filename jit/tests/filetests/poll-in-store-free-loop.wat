;;! tier = optimizing
;;! show = optimized
;;! contains = get_pinned_reg

;; A loop without stores, after a poll at function entry (the function calls): the flag is loaded again in every round. From a kept
;; context, alias analysis would reuse the entry's flag and nothing could stop the loop.
(module
  (func (param i32) (result i32)
    (local i32)
    loop
      local.get 1
      local.get 0
      i32.add
      local.set 1
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 1
    call 0))

;;> function u0:0(i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     region3 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>     sig2 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = iconst.i32 0
;;> @0002                               v27 = iconst.i32 1
;;>                                     v55 = iconst.i32 2
;;>                                     v72 = iconst.i32 3
;;>                                     v95 = iconst.i32 4
;;> @0001                               jump block2(v0, v2)  ; v2 = 0
;;>
;;>                                 block2(v12: i32, v13: i32):
;;> @0001                               v4 = get_pinned_reg.i64
;;> @0001                               v5 = load.i64 user66 aligned region0 v4-120
;;> @0001                               v6 = icmp ult v4, v5
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly region1 v7-64
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8+40
;;> @0001                               v10 = iconst.i64 0x001b_0000_0000
;;> @0001                               store notrap aligned region2 v10, v9  ; v10 = 0x001b_0000_0000
;;> @0001                               v11 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v11, v9+8  ; v11 = 7
;;> @0001                               v14 = uextend.i64 v13
;;> @0001                               store notrap aligned region2 v14, v9+24
;;> @0001                               v15 = uextend.i64 v12
;;> @0001                               store notrap aligned region2 v15, v9+16
;;> @0001                               v16 = load.i32 notrap aligned region2 v9
;;> @0001                               v17 = load.i32 notrap aligned region2 v9+4
;;> @0001                               v18 = load.i32 notrap aligned region2 v9+8
;;> @0001                               v19 = get_pinned_reg.i64
;;> @0001                               v20 = load.i64 notrap aligned readonly region1 v19-16
;;> @0001                               v21 = load.i64 notrap aligned readonly region1 v20+112
;;> @0001                               v22 = call_indirect sig0, v21(v19, v16, v17, v18)
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region1 v23-64
;;> @0001                               v25 = load.i64 notrap aligned readonly region1 v24+40
;;> @0001                               return_call_indirect sig1, v22(v25)
;;>
;;>                                 block4:
;;>                                     v104 = iconst.i32 1
;;>                                     v105 = icmp.i32 eq v12, v104  ; v104 = 1
;;> @0004                               brif v105, block7, block6
;;>
;;>                                 block7 cold:
;;>                                     v129 = iadd.i32 v13, v12
;;> @0005                               jump block5(v129)
;;>
;;>                                 block6:
;;>                                     v106 = iconst.i32 2
;;>                                     v107 = icmp.i32 eq v12, v106  ; v106 = 2
;;> @0008                               brif v107, block9, block8
;;>
;;>                                 block9 cold:
;;>                                     v125 = iadd.i32 v13, v12
;;>                                     v126 = iconst.i32 1
;;>                                     v127 = isub.i32 v12, v126  ; v126 = 1
;;>                                     v128 = iadd v125, v127
;;> @0009                               jump block5(v128)
;;>
;;>                                 block8:
;;>                                     v108 = iconst.i32 3
;;>                                     v109 = icmp.i32 eq v12, v108  ; v108 = 3
;;> @000c                               brif v109, block11, block10
;;>
;;>                                 block11 cold:
;;>                                     v118 = iadd.i32 v13, v12
;;>                                     v119 = iconst.i32 1
;;>                                     v120 = isub.i32 v12, v119  ; v119 = 1
;;>                                     v121 = iadd v118, v120
;;>                                     v122 = iconst.i32 2
;;>                                     v123 = isub.i32 v12, v122  ; v122 = 2
;;>                                     v124 = iadd v121, v123
;;> @000d                               jump block5(v124)
;;>
;;>                                 block10:
;;>                                     v110 = iconst.i32 4
;;>                                     v111 = isub.i32 v12, v110  ; v110 = 4
;;> @0002                               v26 = iadd.i32 v13, v12
;;>                                     v112 = iconst.i32 1
;;>                                     v113 = isub.i32 v12, v112  ; v112 = 1
;;> @0006                               v29 = iadd v26, v113
;;>                                     v114 = iconst.i32 2
;;>                                     v115 = isub.i32 v12, v114  ; v114 = 2
;;> @000a                               v32 = iadd v29, v115
;;>                                     v116 = iconst.i32 3
;;>                                     v117 = isub.i32 v12, v116  ; v116 = 3
;;> @000e                               v35 = iadd v32, v117
;;> @0010                               brif v111, block2(v111, v35), block12
;;>
;;>                                 block12:
;;> @0011                               jump block5(v35)
;;>
;;>                                 block5(v38: i32):
;;> @0012                               v39 = get_pinned_reg.i64
;;> @0012                               v40 = load.i64 notrap aligned region3 v39-112
;;> @0012                               v41 = call_indirect sig2, v40(v38)
;;> @0013                               return v41
;;> }
