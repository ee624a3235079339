;;! tier = optimizing
;;! show = optimized
;;! loop = 1

;; Entering at the inner loop: live locals and the operand stack (the outer loop's sum, pushed before the inner loop) come from the
;; buffer; what stands in front of the loops is gone; the outer loop is whole.
(module
  (func (param i32 i32) (result i32)
    (local i32 i32)
    local.get 1
    i32.const 77
    i32.mul
    local.set 1
    loop
      local.get 3
      local.get 1
      local.set 2
      loop
        local.get 2
        i32.const 1
        i32.sub
        local.tee 2
        br_if 0
      end
      local.get 0
      i32.add
      local.set 3
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 3))

;;> function u0:0(i64) -> i32 tail {
;;>     region0 = 83886080 "switch"
;;>     region1 = 33554432 "poll"
;;>     region2 = 16777216 "context"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i64) -> i32 tail
;;>
;;>                                 block0(v0: i64):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v3 = load.i32 notrap aligned region0 v0+16
;;> @0000                               v4 = load.i32 notrap aligned region0 v0+24
;;> @0000                               v5 = load.i32 notrap aligned region0 v0+32
;;> @0000                               jump block1
;;>
;;>                                 block4:
;;> @0002                               v10 = get_pinned_reg.i64
;;> @0002                               v11 = load.i64 user66 aligned region1 v10+112
;;> @0002                               v12 = icmp ult v10, v11
;;> @0002                               brif v12, block5, block6
;;>
;;>                                 block5 cold:
;;> @0002                               v13 = get_pinned_reg.i64
;;> @0002                               v14 = load.i32 notrap aligned region1 v13+116
;;> @0002                               v16 = ireduce.i16 v14
;;> @0002                               brif v16, block8, block7
;;>
;;>                                 block7 cold:
;;> @0002                               v15 = iconst.i32 0x0025_0000
;;> @0002                               v17 = bxor.i32 v14, v15  ; v15 = 0x0025_0000
;;> @0002                               brif v17, block9, block8
;;>
;;>                                 block9 cold:
;;> @0002                               v18 = iconst.i16 0
;;> @0002                               store notrap aligned region1 v18, v13+118  ; v18 = 0
;;> @0002                               jump block4
;;>
;;>                                 block8 cold:
;;> @0002                               v19 = get_pinned_reg.i64
;;> @0002                               v20 = load.i64 notrap aligned readonly region2 v19+8
;;> @0002                               v21 = load.i64 notrap aligned readonly region2 v20+40
;;> @0002                               v22 = iconst.i64 0x0024_0000_0000
;;> @0002                               store notrap aligned region0 v22, v21  ; v22 = 0x0024_0000_0000
;;> @0002                               v23 = iconst.i64 7
;;> @0002                               store notrap aligned region0 v23, v21+8  ; v23 = 7
;;> @0002                               v26 = uextend.i64 v91
;;> @0002                               store notrap aligned region0 v26, v21+16
;;> @0002                               v29 = uextend.i64 v4
;;> @0002                               store notrap aligned region0 v29, v21+24
;;>                                     v93 = iadd.i32 v44, v82
;;> @0002                               v32 = uextend.i64 v93
;;> @0002                               store notrap aligned region0 v32, v21+40
;;> @0002                               v33 = load.i32 notrap aligned region0 v21
;;> @0002                               v34 = load.i32 notrap aligned region0 v21+4
;;> @0002                               v35 = load.i32 notrap aligned region0 v21+8
;;> @0002                               v36 = get_pinned_reg.i64
;;> @0002                               v37 = load.i64 notrap aligned readonly region2 v36+56
;;> @0002                               v38 = load.i64 notrap aligned readonly region2 v37+96
;;> @0002                               v39 = call_indirect sig0, v38(v36, v33, v34, v35)
;;> @0002                               v40 = get_pinned_reg.i64
;;> @0002                               v41 = load.i64 notrap aligned readonly region2 v40+8
;;> @0002                               v42 = load.i64 notrap aligned readonly region2 v41+40
;;> @0002                               return_call_indirect sig1, v39(v42)
;;>
;;>                                 block6:
;;>                                     v92 = iadd.i32 v44, v82
;;> @0003                               jump block10(v92, v91, v4)
;;>
;;>                                 block1:
;;> @0003                               v43 = load.i32 notrap aligned region0 v0+48
;;> @0003                               jump block10(v43, v3, v5)
;;>
;;>                                 block10(v44: i32, v82: i32, v84: i32):
;;> @0003                               v80 = iconst.i32 1
;;> @0003                               jump block11(v84)
;;>
;;>                                 block11(v67: i32):
;;> @0003                               v46 = get_pinned_reg.i64
;;> @0003                               v47 = load.i64 user66 aligned region1 v46+112
;;> @0003                               v48 = icmp ult v46, v47
;;> @0003                               brif v48, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v49 = get_pinned_reg.i64
;;> @0003                               v50 = load.i32 notrap aligned region1 v49+116
;;> @0003                               v52 = ireduce.i16 v50
;;> @0003                               brif v52, block15, block14
;;>
;;>                                 block14 cold:
;;> @0003                               v51 = iconst.i32 0x002d_0000
;;> @0003                               v53 = bxor.i32 v50, v51  ; v51 = 0x002d_0000
;;> @0003                               brif v53, block16, block15
;;>
;;>                                 block16 cold:
;;>                                     v94 = iconst.i16 0
;;> @0003                               store notrap aligned region1 v94, v49+118  ; v94 = 0
;;> @0003                               jump block11(v67)
;;>
;;>                                 block15 cold:
;;> @0003                               v55 = get_pinned_reg.i64
;;> @0003                               v56 = load.i64 notrap aligned readonly region2 v55+8
;;> @0003                               v57 = load.i64 notrap aligned readonly region2 v56+40
;;> @0003                               v58 = iconst.i64 0x002c_0000_0000
;;> @0003                               store notrap aligned region0 v58, v57  ; v58 = 0x002c_0000_0000
;;>                                     v95 = iconst.i64 7
;;> @0003                               store notrap aligned region0 v95, v57+8  ; v95 = 7
;;> @0003                               v62 = uextend.i64 v82
;;> @0003                               store notrap aligned region0 v62, v57+16
;;>                                     v96 = uextend.i64 v4
;;> @0003                               store notrap aligned region0 v96, v57+24
;;> @0003                               v68 = uextend.i64 v67
;;> @0003                               store notrap aligned region0 v68, v57+32
;;> @0003                               v69 = uextend.i64 v44
;;> @0003                               store notrap aligned region0 v69, v57+48
;;> @0003                               v70 = load.i32 notrap aligned region0 v57
;;> @0003                               v71 = load.i32 notrap aligned region0 v57+4
;;> @0003                               v72 = load.i32 notrap aligned region0 v57+8
;;> @0003                               v73 = get_pinned_reg.i64
;;> @0003                               v74 = load.i64 notrap aligned readonly region2 v73+56
;;> @0003                               v75 = load.i64 notrap aligned readonly region2 v74+96
;;> @0003                               v76 = call_indirect sig0, v75(v73, v70, v71, v72)
;;> @0003                               v77 = get_pinned_reg.i64
;;> @0003                               v78 = load.i64 notrap aligned readonly region2 v77+8
;;> @0003                               v79 = load.i64 notrap aligned readonly region2 v78+40
;;> @0003                               return_call_indirect sig1, v76(v79)
;;>
;;>                                 block13:
;;>                                     v88 = iconst.i32 1
;;>                                     v89 = isub.i32 v67, v88  ; v88 = 1
;;> @0005                               brif v89, block11(v89), block17
;;>
;;>                                 block17:
;;>                                     v90 = iconst.i32 1
;;>                                     v91 = isub.i32 v82, v90  ; v90 = 1
;;> @0009                               brif v91, block4, block18
;;>
;;>                                 block18:
;;> @0007                               v85 = iadd.i32 v44, v82
;;> @000b                               return v85
;;> }
