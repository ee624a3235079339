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
;;> @0001                               jump block2(v0, v2)  ; v2 = 0
;;>
;;>                                 block2(v12: i32, v14: i32):
;;> @0001                               v4 = get_pinned_reg.i64
;;> @0001                               v5 = load.i64 user66 aligned region0 v4+120
;;> @0001                               v6 = icmp ult v4, v5
;;> @0001                               brif v6, block3, block4
;;>
;;>                                 block3 cold:
;;> @0001                               v7 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly region1 v7+8
;;> @0001                               v9 = load.i64 notrap aligned readonly region1 v8+40
;;> @0001                               v10 = iconst.i64 0x001b_0000_0000
;;> @0001                               store notrap aligned region2 v10, v9  ; v10 = 0x001b_0000_0000
;;> @0001                               v11 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v11, v9+8  ; v11 = 7
;;> @0001                               v13 = uextend.i64 v12
;;> @0001                               store notrap aligned region2 v13, v9+16
;;> @0001                               v15 = uextend.i64 v14
;;> @0001                               store notrap aligned region2 v15, v9+24
;;> @0001                               v16 = load.i32 notrap aligned region2 v9
;;> @0001                               v17 = load.i32 notrap aligned region2 v9+4
;;> @0001                               v18 = load.i32 notrap aligned region2 v9+8
;;> @0001                               v19 = get_pinned_reg.i64
;;> @0001                               v20 = load.i64 notrap aligned readonly region1 v19+56
;;> @0001                               v21 = load.i64 notrap aligned readonly region1 v20+96
;;> @0001                               v22 = call_indirect sig0, v21(v19, v16, v17, v18)
;;> @0001                               v23 = get_pinned_reg.i64
;;> @0001                               v24 = load.i64 notrap aligned readonly region1 v23+8
;;> @0001                               v25 = load.i64 notrap aligned readonly region1 v24+40
;;> @0001                               return_call_indirect sig1, v22(v25)
;;>
;;>                                 block4:
;;>                                     v60 = iconst.i32 1
;;>                                     v61 = isub.i32 v12, v60  ; v60 = 1
;;> @0004                               brif v61, block6, block7
;;>
;;>                                 block7 cold:
;;> @0002                               v26 = iadd.i32 v14, v12
;;> @0005                               jump block5(v26)
;;>
;;>                                 block6:
;;>                                     v42 = iconst.i32 2
;;>                                     v43 = isub.i32 v12, v42  ; v42 = 2
;;> @0008                               brif v43, block8, block9
;;>
;;>                                 block9 cold:
;;>                                     v62 = iadd.i32 v14, v12
;;> @0006                               v29 = iadd v62, v61
;;> @0009                               jump block5(v29)
;;>
;;>                                 block8:
;;>                                     v45 = iconst.i32 3
;;>                                     v46 = isub.i32 v12, v45  ; v45 = 3
;;> @000c                               brif v46, block10, block11
;;>
;;>                                 block11 cold:
;;>                                     v63 = iadd.i32 v14, v12
;;>                                     v64 = iadd v63, v61
;;>                                     v65 = isub.i32 v12, v42  ; v42 = 2
;;>                                     v66 = iadd v64, v65
;;> @000d                               jump block5(v66)
;;>
;;>                                 block10:
;;>                                     v51 = iconst.i32 4
;;>                                     v52 = isub.i32 v12, v51  ; v51 = 4
;;>                                     v67 = iadd.i32 v14, v12
;;>                                     v68 = iadd v67, v61
;;>                                     v69 = isub.i32 v12, v42  ; v42 = 2
;;>                                     v70 = iadd v68, v69
;;>                                     v71 = isub.i32 v12, v45  ; v45 = 3
;;>                                     v72 = iadd v70, v71
;;> @0010                               brif v52, block2(v52, v72), block12
;;>
;;>                                 block12:
;;> @0011                               jump block5(v72)
;;>
;;>                                 block5(v38: i32):
;;> @0012                               v39 = get_pinned_reg.i64
;;> @0012                               v40 = load.i64 notrap aligned region3 v39+80
;;> @0012                               v41 = call_indirect sig2, v40(v38)
;;> @0013                               return v41
;;> }
