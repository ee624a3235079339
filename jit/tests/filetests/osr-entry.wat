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
;;> @0002                               v11 = load.i32 notrap aligned region1 v10+96
;;> @0002                               brif v11, block5, block6
;;>
;;>                                 block5 cold:
;;> @0002                               v12 = get_pinned_reg.i64
;;> @0002                               v13 = load.i32 notrap aligned region1 v12+96
;;> @0002                               v15 = ireduce.i16 v13
;;> @0002                               brif v15, block8, block7
;;>
;;>                                 block7 cold:
;;> @0002                               v14 = iconst.i32 0x0025_0000
;;> @0002                               v16 = bxor.i32 v13, v14  ; v14 = 0x0025_0000
;;> @0002                               brif v16, block9, block8
;;>
;;>                                 block9 cold:
;;> @0002                               v17 = iconst.i16 0
;;> @0002                               store notrap aligned region1 v17, v12+98  ; v17 = 0
;;> @0002                               jump block4
;;>
;;>                                 block8 cold:
;;> @0002                               v18 = get_pinned_reg.i64
;;> @0002                               v19 = load.i64 notrap aligned readonly region2 v18+8
;;> @0002                               v20 = load.i64 notrap aligned readonly region2 v19+40
;;> @0002                               v21 = iconst.i64 0x0024_0000_0000
;;> @0002                               store notrap aligned region0 v21, v20  ; v21 = 0x0024_0000_0000
;;> @0002                               v22 = iconst.i64 7
;;> @0002                               store notrap aligned region0 v22, v20+8  ; v22 = 7
;;> @0002                               v25 = uextend.i64 v89
;;> @0002                               store notrap aligned region0 v25, v20+16
;;> @0002                               v28 = uextend.i64 v4
;;> @0002                               store notrap aligned region0 v28, v20+24
;;>                                     v91 = iadd.i32 v43, v80
;;> @0002                               v31 = uextend.i64 v91
;;> @0002                               store notrap aligned region0 v31, v20+40
;;> @0002                               v32 = load.i32 notrap aligned region0 v20
;;> @0002                               v33 = load.i32 notrap aligned region0 v20+4
;;> @0002                               v34 = load.i32 notrap aligned region0 v20+8
;;> @0002                               v35 = get_pinned_reg.i64
;;> @0002                               v36 = load.i64 notrap aligned readonly region2 v35+48
;;> @0002                               v37 = load.i64 notrap aligned readonly region2 v36+96
;;> @0002                               v38 = call_indirect sig0, v37(v35, v32, v33, v34)
;;> @0002                               v39 = get_pinned_reg.i64
;;> @0002                               v40 = load.i64 notrap aligned readonly region2 v39+8
;;> @0002                               v41 = load.i64 notrap aligned readonly region2 v40+40
;;> @0002                               return_call_indirect sig1, v38(v41)
;;>
;;>                                 block6:
;;>                                     v90 = iadd.i32 v43, v80
;;> @0003                               jump block10(v90, v89, v4)
;;>
;;>                                 block1:
;;> @0003                               v42 = load.i32 notrap aligned region0 v0+48
;;> @0003                               jump block10(v42, v3, v5)
;;>
;;>                                 block10(v43: i32, v80: i32, v82: i32):
;;> @0003                               v78 = iconst.i32 1
;;> @0003                               jump block11(v82)
;;>
;;>                                 block11(v65: i32):
;;> @0003                               v45 = get_pinned_reg.i64
;;> @0003                               v46 = load.i32 notrap aligned region1 v45+96
;;> @0003                               brif v46, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v47 = get_pinned_reg.i64
;;> @0003                               v48 = load.i32 notrap aligned region1 v47+96
;;> @0003                               v50 = ireduce.i16 v48
;;> @0003                               brif v50, block15, block14
;;>
;;>                                 block14 cold:
;;> @0003                               v49 = iconst.i32 0x002d_0000
;;> @0003                               v51 = bxor.i32 v48, v49  ; v49 = 0x002d_0000
;;> @0003                               brif v51, block16, block15
;;>
;;>                                 block16 cold:
;;>                                     v92 = iconst.i16 0
;;> @0003                               store notrap aligned region1 v92, v47+98  ; v92 = 0
;;> @0003                               jump block11(v65)
;;>
;;>                                 block15 cold:
;;> @0003                               v53 = get_pinned_reg.i64
;;> @0003                               v54 = load.i64 notrap aligned readonly region2 v53+8
;;> @0003                               v55 = load.i64 notrap aligned readonly region2 v54+40
;;> @0003                               v56 = iconst.i64 0x002c_0000_0000
;;> @0003                               store notrap aligned region0 v56, v55  ; v56 = 0x002c_0000_0000
;;>                                     v93 = iconst.i64 7
;;> @0003                               store notrap aligned region0 v93, v55+8  ; v93 = 7
;;> @0003                               v60 = uextend.i64 v80
;;> @0003                               store notrap aligned region0 v60, v55+16
;;>                                     v94 = uextend.i64 v4
;;> @0003                               store notrap aligned region0 v94, v55+24
;;> @0003                               v66 = uextend.i64 v65
;;> @0003                               store notrap aligned region0 v66, v55+32
;;> @0003                               v67 = uextend.i64 v43
;;> @0003                               store notrap aligned region0 v67, v55+48
;;> @0003                               v68 = load.i32 notrap aligned region0 v55
;;> @0003                               v69 = load.i32 notrap aligned region0 v55+4
;;> @0003                               v70 = load.i32 notrap aligned region0 v55+8
;;> @0003                               v71 = get_pinned_reg.i64
;;> @0003                               v72 = load.i64 notrap aligned readonly region2 v71+48
;;> @0003                               v73 = load.i64 notrap aligned readonly region2 v72+96
;;> @0003                               v74 = call_indirect sig0, v73(v71, v68, v69, v70)
;;> @0003                               v75 = get_pinned_reg.i64
;;> @0003                               v76 = load.i64 notrap aligned readonly region2 v75+8
;;> @0003                               v77 = load.i64 notrap aligned readonly region2 v76+40
;;> @0003                               return_call_indirect sig1, v74(v77)
;;>
;;>                                 block13:
;;>                                     v86 = iconst.i32 1
;;>                                     v87 = isub.i32 v65, v86  ; v86 = 1
;;> @0005                               brif v87, block11(v87), block17
;;>
;;>                                 block17:
;;>                                     v88 = iconst.i32 1
;;>                                     v89 = isub.i32 v80, v88  ; v88 = 1
;;> @0009                               brif v89, block4, block18
;;>
;;>                                 block18:
;;> @0007                               v83 = iadd.i32 v43, v80
;;> @000b                               return v83
;;> }
