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
;;> @0000                               v3 = get_pinned_reg.i64
;;> @0000                               v4 = load.i64 user66 aligned region0 v3+32
;;> @0000                               v5 = icmp ult v3, v4
;;> @0000                               brif v5, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v9 = get_pinned_reg.i64
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+56
;;> @0000                               v11 = load.i64 notrap aligned readonly region1 v10+96
;;> @0000                               v2 = iconst.i32 0
;;> @0000                               v7 = iconst.i32 -1
;;> @0000                               v8 = iconst.i32 7
;;> @0000                               v12 = call_indirect sig0, v11(v9, v2, v7, v8)  ; v2 = 0, v7 = -1, v8 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v14 = get_pinned_reg.i64
;;>                                     v53 = iconst.i32 0
;;> @0002                               v46 = iconst.i32 1
;;> @0001                               jump block4(v0, v53)  ; v53 = 0
;;>
;;>                                 block4(v30: i32, v33: i32):
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 user66 aligned region0 v15+112
;;> @0001                               v17 = icmp ult v15, v16
;;> @0001                               brif v17, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v18 = get_pinned_reg.i64
;;> @0001                               v19 = load.i32 notrap aligned region0 v18+116
;;> @0001                               v21 = ireduce.i16 v19
;;> @0001                               brif v21, block8, block7
;;>
;;>                                 block7 cold:
;;> @0001                               v20 = iconst.i32 0x001c_0000
;;> @0001                               v22 = bxor.i32 v19, v20  ; v20 = 0x001c_0000
;;> @0001                               brif v22, block9, block8
;;>
;;>                                 block9 cold:
;;> @0001                               v23 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v23, v18+118  ; v23 = 0
;;> @0001                               jump block4(v30, v33)
;;>
;;>                                 block8 cold:
;;> @0001                               v24 = get_pinned_reg.i64
;;> @0001                               v25 = load.i64 notrap aligned readonly region1 v24+8
;;> @0001                               v26 = load.i64 notrap aligned readonly region1 v25+40
;;> @0001                               v27 = iconst.i64 0x001b_0000_0000
;;> @0001                               store notrap aligned region2 v27, v26  ; v27 = 0x001b_0000_0000
;;> @0001                               v28 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v28, v26+8  ; v28 = 7
;;> @0001                               v31 = uextend.i64 v30
;;> @0001                               store notrap aligned region2 v31, v26+16
;;> @0001                               v34 = uextend.i64 v33
;;> @0001                               store notrap aligned region2 v34, v26+24
;;> @0001                               v35 = load.i32 notrap aligned region2 v26
;;> @0001                               v36 = load.i32 notrap aligned region2 v26+4
;;> @0001                               v37 = load.i32 notrap aligned region2 v26+8
;;> @0001                               v38 = get_pinned_reg.i64
;;> @0001                               v39 = load.i64 notrap aligned readonly region1 v38+56
;;> @0001                               v40 = load.i64 notrap aligned readonly region1 v39+96
;;> @0001                               v41 = call_indirect sig0, v40(v38, v35, v36, v37)
;;> @0001                               v42 = get_pinned_reg.i64
;;> @0001                               v43 = load.i64 notrap aligned readonly region1 v42+8
;;> @0001                               v44 = load.i64 notrap aligned readonly region1 v43+40
;;> @0001                               return_call_indirect sig1, v41(v44)
;;>
;;>                                 block6:
;;>                                     v54 = iconst.i32 1
;;>                                     v55 = isub.i32 v30, v54  ; v54 = 1
;;> @0002                               v45 = iadd.i32 v33, v30
;;> @0004                               brif v55, block4(v55, v45), block10
;;>
;;>                                 block10:
;;> @0006                               v50 = get_pinned_reg.i64
;;> @0006                               v51 = load.i64 notrap aligned region3 v50+80
;;> @0006                               v52 = call_indirect sig2, v51(v45)
;;> @0007                               return v52
;;> }
