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
;;> @0002                               v13 = load.i64 notrap aligned readonly region2 v12+8
;;> @0002                               v14 = load.i64 notrap aligned readonly region2 v13+40
;;> @0002                               v15 = iconst.i64 0x0024_0000_0000
;;> @0002                               store notrap aligned region0 v15, v14  ; v15 = 0x0024_0000_0000
;;> @0002                               v16 = iconst.i64 7
;;> @0002                               store notrap aligned region0 v16, v14+8  ; v16 = 7
;;> @0002                               v18 = uextend.i64 v71
;;> @0002                               store notrap aligned region0 v18, v14+16
;;> @0002                               v20 = uextend.i64 v4
;;> @0002                               store notrap aligned region0 v20, v14+24
;;>                                     v73 = iadd.i32 v34, v62
;;> @0002                               v22 = uextend.i64 v73
;;> @0002                               store notrap aligned region0 v22, v14+40
;;> @0002                               v23 = load.i32 notrap aligned region0 v14
;;> @0002                               v24 = load.i32 notrap aligned region0 v14+4
;;> @0002                               v25 = load.i32 notrap aligned region0 v14+8
;;> @0002                               v26 = get_pinned_reg.i64
;;> @0002                               v27 = load.i64 notrap aligned readonly region2 v26+48
;;> @0002                               v28 = load.i64 notrap aligned readonly region2 v27+96
;;> @0002                               v29 = call_indirect sig0, v28(v26, v23, v24, v25)
;;> @0002                               v30 = get_pinned_reg.i64
;;> @0002                               v31 = load.i64 notrap aligned readonly region2 v30+8
;;> @0002                               v32 = load.i64 notrap aligned readonly region2 v31+40
;;> @0002                               return_call_indirect sig1, v29(v32)
;;>
;;>                                 block6:
;;>                                     v72 = iadd.i32 v34, v62
;;> @0003                               jump block7(v72, v71, v4)
;;>
;;>                                 block1:
;;> @0003                               v33 = load.i32 notrap aligned region0 v0+48
;;> @0003                               jump block7(v33, v3, v5)
;;>
;;>                                 block7(v34: i32, v62: i32, v64: i32):
;;> @0003                               v60 = iconst.i32 1
;;> @0003                               jump block8(v64)
;;>
;;>                                 block8(v47: i32):
;;> @0003                               v36 = get_pinned_reg.i64
;;> @0003                               v37 = load.i32 notrap aligned region1 v36+96
;;> @0003                               brif v37, block9, block10
;;>
;;>                                 block9 cold:
;;> @0003                               v38 = get_pinned_reg.i64
;;> @0003                               v39 = load.i64 notrap aligned readonly region2 v38+8
;;> @0003                               v40 = load.i64 notrap aligned readonly region2 v39+40
;;> @0003                               v41 = iconst.i64 0x002c_0000_0000
;;> @0003                               store notrap aligned region0 v41, v40  ; v41 = 0x002c_0000_0000
;;>                                     v74 = iconst.i64 7
;;> @0003                               store notrap aligned region0 v74, v40+8  ; v74 = 7
;;> @0003                               v44 = uextend.i64 v62
;;> @0003                               store notrap aligned region0 v44, v40+16
;;>                                     v75 = uextend.i64 v4
;;> @0003                               store notrap aligned region0 v75, v40+24
;;> @0003                               v48 = uextend.i64 v47
;;> @0003                               store notrap aligned region0 v48, v40+32
;;> @0003                               v49 = uextend.i64 v34
;;> @0003                               store notrap aligned region0 v49, v40+48
;;> @0003                               v50 = load.i32 notrap aligned region0 v40
;;> @0003                               v51 = load.i32 notrap aligned region0 v40+4
;;> @0003                               v52 = load.i32 notrap aligned region0 v40+8
;;> @0003                               v53 = get_pinned_reg.i64
;;> @0003                               v54 = load.i64 notrap aligned readonly region2 v53+48
;;> @0003                               v55 = load.i64 notrap aligned readonly region2 v54+96
;;> @0003                               v56 = call_indirect sig0, v55(v53, v50, v51, v52)
;;> @0003                               v57 = get_pinned_reg.i64
;;> @0003                               v58 = load.i64 notrap aligned readonly region2 v57+8
;;> @0003                               v59 = load.i64 notrap aligned readonly region2 v58+40
;;> @0003                               return_call_indirect sig1, v56(v59)
;;>
;;>                                 block10:
;;>                                     v68 = iconst.i32 1
;;>                                     v69 = isub.i32 v47, v68  ; v68 = 1
;;> @0005                               brif v69, block8(v69), block11
;;>
;;>                                 block11:
;;>                                     v70 = iconst.i32 1
;;>                                     v71 = isub.i32 v62, v70  ; v70 = 1
;;> @0009                               brif v71, block4, block12
;;>
;;>                                 block12:
;;> @0007                               v65 = iadd.i32 v34, v62
;;> @000b                               return v65
;;> }
