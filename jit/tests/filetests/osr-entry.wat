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
;;>                                     v99 = iconst.i32 -2
;;>                                     v100 = band v13, v99  ; v99 = -2
;;> @0002                               brif v100, block7, block8
;;>
;;>                                 block7 cold:
;;> @0002                               v15 = iconst.i32 36
;;> @0002                               v17 = bxor.i32 v13, v15  ; v15 = 36
;;> @0002                               brif v17, block6, block8
;;>
;;>                                 block8 cold:
;;> @0002                               v18 = get_pinned_reg.i64
;;> @0002                               v19 = load.i64 notrap aligned readonly region2 v18+8
;;> @0002                               v20 = load.i64 notrap aligned readonly region2 v19+40
;;> @0002                               v21 = iconst.i64 0x0024_0000_0000
;;> @0002                               store notrap aligned region0 v21, v20  ; v21 = 0x0024_0000_0000
;;>                                     v101 = iconst.i64 7
;;> @0002                               store notrap aligned region0 v101, v20+8  ; v101 = 7
;;> @0002                               v25 = uextend.i64 v98
;;> @0002                               store notrap aligned region0 v25, v20+16
;;>                                     v102 = uextend.i64 v4
;;> @0002                               store notrap aligned region0 v102, v20+24
;;>                                     v103 = iadd.i32 v45, v84
;;> @0002                               v31 = uextend.i64 v103
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
;;>                                     v104 = iadd.i32 v45, v84
;;> @0003                               jump block9(v104, v98, v4)
;;>
;;>                                 block1:
;;> @0003                               v44 = load.i32 notrap aligned region0 v0+48
;;> @0003                               jump block9(v44, v3, v5)
;;>
;;>                                 block9(v45: i32, v84: i32, v89: i32):
;;> @0003                               v51 = iconst.i32 -2
;;> @0003                               v52 = iconst.i32 44
;;> @0003                               jump block10(v89)
;;>
;;>                                 block10(v67: i32):
;;> @0003                               v47 = get_pinned_reg.i64
;;> @0003                               v48 = load.i32 notrap aligned region1 v47+96
;;> @0003                               brif v48, block11, block12
;;>
;;>                                 block11 cold:
;;> @0003                               v49 = get_pinned_reg.i64
;;> @0003                               v50 = load.i32 notrap aligned region1 v49+96
;;>                                     v93 = iconst.i32 -2
;;>                                     v94 = band v50, v93  ; v93 = -2
;;> @0003                               brif v94, block13, block14
;;>
;;>                                 block13 cold:
;;>                                     v95 = iconst.i32 44
;;>                                     v96 = bxor.i32 v50, v95  ; v95 = 44
;;> @0003                               brif v96, block12, block14
;;>
;;>                                 block14 cold:
;;> @0003                               v55 = get_pinned_reg.i64
;;> @0003                               v56 = load.i64 notrap aligned readonly region2 v55+8
;;> @0003                               v57 = load.i64 notrap aligned readonly region2 v56+40
;;> @0003                               v58 = iconst.i64 0x002c_0000_0000
;;> @0003                               store notrap aligned region0 v58, v57  ; v58 = 0x002c_0000_0000
;;> @0003                               v59 = iconst.i64 7
;;> @0003                               store notrap aligned region0 v59, v57+8  ; v59 = 7
;;> @0003                               v62 = uextend.i64 v84
;;> @0003                               store notrap aligned region0 v62, v57+16
;;> @0003                               v65 = uextend.i64 v4
;;> @0003                               store notrap aligned region0 v65, v57+24
;;> @0003                               v68 = uextend.i64 v67
;;> @0003                               store notrap aligned region0 v68, v57+32
;;> @0003                               v69 = uextend.i64 v45
;;> @0003                               store notrap aligned region0 v69, v57+48
;;> @0003                               v70 = load.i32 notrap aligned region0 v57
;;> @0003                               v71 = load.i32 notrap aligned region0 v57+4
;;> @0003                               v72 = load.i32 notrap aligned region0 v57+8
;;> @0003                               v73 = get_pinned_reg.i64
;;> @0003                               v74 = load.i64 notrap aligned readonly region2 v73+48
;;> @0003                               v75 = load.i64 notrap aligned readonly region2 v74+96
;;> @0003                               v76 = call_indirect sig0, v75(v73, v70, v71, v72)
;;> @0003                               v77 = get_pinned_reg.i64
;;> @0003                               v78 = load.i64 notrap aligned readonly region2 v77+8
;;> @0003                               v79 = load.i64 notrap aligned readonly region2 v78+40
;;> @0003                               return_call_indirect sig1, v76(v79)
;;>
;;>                                 block12:
;;> @0003                               v81 = iconst.i32 1
;;> @0004                               v82 = isub.i32 v67, v81  ; v81 = 1
;;> @0005                               brif v82, block10(v82), block15
;;>
;;>                                 block15:
;;>                                     v97 = iconst.i32 1
;;>                                     v98 = isub.i32 v84, v97  ; v97 = 1
;;> @0009                               brif v98, block4, block16
;;>
;;>                                 block16:
;;> @0007                               v90 = iadd.i32 v45, v84
;;> @000b                               return v90
;;> }
