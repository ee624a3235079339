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
;;> @0000                               v4 = load.i32 notrap aligned region0 v3+28
;;> @0000                               brif v4, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v8 = get_pinned_reg.i64
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+48
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+96
;;> @0000                               v2 = iconst.i32 0
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v11 = call_indirect sig0, v10(v8, v2, v6, v7)  ; v2 = 0, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v13 = get_pinned_reg.i64
;;>                                     v51 = iconst.i32 0
;;> @0002                               v44 = iconst.i32 1
;;> @0001                               jump block4(v0, v51)  ; v51 = 0
;;>
;;>                                 block4(v28: i32, v31: i32):
;;> @0001                               v14 = get_pinned_reg.i64
;;> @0001                               v15 = load.i32 notrap aligned region0 v14+96
;;> @0001                               brif v15, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v16 = get_pinned_reg.i64
;;> @0001                               v17 = load.i32 notrap aligned region0 v16+96
;;> @0001                               v19 = ireduce.i16 v17
;;> @0001                               brif v19, block8, block7
;;>
;;>                                 block7 cold:
;;> @0001                               v18 = iconst.i32 0x001c_0000
;;> @0001                               v20 = bxor.i32 v17, v18  ; v18 = 0x001c_0000
;;> @0001                               brif v20, block9, block8
;;>
;;>                                 block9 cold:
;;> @0001                               v21 = iconst.i16 0
;;> @0001                               store notrap aligned region0 v21, v16+98  ; v21 = 0
;;> @0001                               jump block4(v28, v31)
;;>
;;>                                 block8 cold:
;;> @0001                               v22 = get_pinned_reg.i64
;;> @0001                               v23 = load.i64 notrap aligned readonly region1 v22+8
;;> @0001                               v24 = load.i64 notrap aligned readonly region1 v23+40
;;> @0001                               v25 = iconst.i64 0x001b_0000_0000
;;> @0001                               store notrap aligned region2 v25, v24  ; v25 = 0x001b_0000_0000
;;> @0001                               v26 = iconst.i64 7
;;> @0001                               store notrap aligned region2 v26, v24+8  ; v26 = 7
;;> @0001                               v29 = uextend.i64 v28
;;> @0001                               store notrap aligned region2 v29, v24+16
;;> @0001                               v32 = uextend.i64 v31
;;> @0001                               store notrap aligned region2 v32, v24+24
;;> @0001                               v33 = load.i32 notrap aligned region2 v24
;;> @0001                               v34 = load.i32 notrap aligned region2 v24+4
;;> @0001                               v35 = load.i32 notrap aligned region2 v24+8
;;> @0001                               v36 = get_pinned_reg.i64
;;> @0001                               v37 = load.i64 notrap aligned readonly region1 v36+48
;;> @0001                               v38 = load.i64 notrap aligned readonly region1 v37+96
;;> @0001                               v39 = call_indirect sig0, v38(v36, v33, v34, v35)
;;> @0001                               v40 = get_pinned_reg.i64
;;> @0001                               v41 = load.i64 notrap aligned readonly region1 v40+8
;;> @0001                               v42 = load.i64 notrap aligned readonly region1 v41+40
;;> @0001                               return_call_indirect sig1, v39(v42)
;;>
;;>                                 block6:
;;>                                     v52 = iconst.i32 1
;;>                                     v53 = isub.i32 v28, v52  ; v52 = 1
;;> @0002                               v43 = iadd.i32 v31, v28
;;> @0004                               brif v53, block4(v53, v43), block10
;;>
;;>                                 block10:
;;> @0006                               v48 = get_pinned_reg.i64
;;> @0006                               v49 = load.i64 notrap aligned region3 v48+64
;;> @0006                               v50 = call_indirect sig2, v49(v43)
;;> @0007                               return v50
;;> }
