;;! tier = optimizing
;;! show = optimized
;;! function = 1
;;! plan = 0 -> 0
;;! contains = inline-guarded in function 1: done

;; 200M indirect calls in small: the callee the plan names stands in the loop behind a guard on the entry's identity, the generic call
;; is out of line.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 funcref)
  (global $index (export "index") (mut i32) (i32.const 0))
  (elem (i32.const 0) func $step)
  (func $step (type $unary) (i32.add (i32.mul (local.get 0) (i32.const 3)) (i32.const 1)))
  (func (export "run") (param i32) (result i32)
    (local i32)
    loop
      local.get 1
      global.get $index
      call_indirect (type $unary)
      local.set 1
      local.get 0
      i32.const 1
      i32.sub
      local.tee 0
      br_if 0
    end
    local.get 1))

;;> function u0:1(i32) -> i32 tail {
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     region3 = 301989888 "global 0"
;;>     region4 = 117440512 "lengths"
;;>     region5 = 285212672 "table 0"
;;>     region6 = 100663296 "code"
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
;;> @0000                               v5 = iconst.i32 1
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v11 = call_indirect sig0, v10(v8, v5, v6, v7)  ; v5 = 1, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0000                               v2 = iconst.i32 0
;;> @0003                               v35 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v39 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v41 = iconst.i64 4
;;> @0003                               v46 = iconst.i64 96
;;> @0003                               v47 = iadd.i64 v1, v46  ; v46 = 96
;;> @0003                               v50 = iconst.i32 3
;;>                                     v104 = iconst.i32 1
;;> @0003                               v65 = iconst.i64 1
;;> @0001                               jump block4(v0, v2)  ; v2 = 0
;;>
;;>                                 block4(v21: i32, v23: i32):
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+28
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region1 v16+40
;;> @0001                               store.i32 notrap aligned region2 v104, v17  ; v104 = 1
;;> @0001                               v19 = iconst.i32 87
;;> @0001                               store notrap aligned region2 v19, v17+4  ; v19 = 87
;;>                                     v110 = iconst.i32 7
;;> @0001                               store notrap aligned region2 v110, v17+8  ; v110 = 7
;;> @0001                               v22 = uextend.i64 v21
;;> @0001                               store notrap aligned region2 v22, v17+16
;;> @0001                               v24 = uextend.i64 v23
;;> @0001                               store notrap aligned region2 v24, v17+24
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region1 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v104, v19, v110)  ; v104 = 1, v19 = 87, v110 = 7
;;> @0001                               return_call_indirect sig1, v31(v17)
;;>
;;>                                 block6:
;;> @0002                               v32 = get_pinned_reg.i64
;;> @0002                               v33 = load.i32 notrap aligned region3 v32+80
;;> @0003                               v36 = load.i64 notrap aligned region4 v35+8
;;> @0003                               v37 = uextend.i64 v33
;;> @0003                               v38 = icmp uge v37, v36
;;> @0003                               brif v38, block8, block9
;;>
;;>                                 block9:
;;>                                     v98 = iconst.i64 4
;;>                                     v99 = ishl.i64 v37, v98  ; v98 = 4
;;> @0003                               v43 = iadd.i64 v39, v99
;;> @0003                               v44 = select_spectre_guard.i64 v38, v39, v43
;;> @0003                               v45 = load.i64 notrap aligned region5 v44+8
;;>                                     v100 = iadd.i64 v1, v46  ; v46 = 96
;;>                                     v101 = icmp ne v45, v100
;;> @0003                               brif v101, block8, block10
;;>
;;>                                 block10:
;;>                                     v102 = iconst.i32 3
;;>                                     v103 = imul.i32 v23, v102  ; v102 = 3
;;> @0005                               v53 = iadd v103, v104  ; v104 = 1
;;> @0006                               jump block7(v53)
;;>
;;>                                 block8 cold:
;;> @0003                               v55 = load.i64 notrap aligned region4 v35+8
;;> @0003                               v57 = icmp.i64 uge v37, v55
;;> @0003                               trapnz v57, user4
;;>                                     v105 = iconst.i64 4
;;>                                     v106 = ishl.i64 v37, v105  ; v105 = 4
;;>                                     v107 = iadd.i64 v39, v106
;;> @0003                               v63 = select_spectre_guard.i64 v57, v39, v107
;;> @0003                               v64 = load.i64 notrap aligned region5 v63
;;>                                     v108 = iconst.i64 1
;;>                                     v109 = icmp ne v64, v108  ; v108 = 1
;;> @0003                               brif v109, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v67 = load.i64 notrap aligned region5 v63+8
;;> @0003                               trapz v67, user5
;;> @0003                               trap user6
;;>
;;>                                 block13:
;;> @0003                               v68 = load.i64 notrap aligned region5 v63+8
;;> @0003                               v69 = get_pinned_reg.i64
;;> @0003                               v70 = load.i64 notrap aligned readonly region1 v68+8
;;> @0003                               v71 = icmp ne v70, v69
;;> @0003                               brif v71, block14, block15
;;>
;;>                                 block14 cold:
;;> @0003                               v73 = get_pinned_reg.i64
;;> @0003                               store notrap aligned region1 v73, v70+16
;;> @0003                               v74 = load.i64 notrap aligned region6 v68
;;> @0003                               set_pinned_reg.i64 v70
;;> @0003                               v75 = call_indirect sig2, v74(v23)
;;> @0003                               set_pinned_reg v73
;;> @0003                               jump block16(v75)
;;>
;;>                                 block15:
;;> @0003                               v76 = load.i64 notrap aligned region6 v68
;;> @0003                               v77 = call_indirect sig2, v76(v23)
;;> @0003                               jump block16(v77)
;;>
;;>                                 block16(v72: i32):
;;> @0003                               jump block7(v72)
;;>
;;>                                 block7(v34: i32):
;;> @0007                               v82 = isub.i32 v21, v104  ; v104 = 1
;;> @0008                               brif v82, block4(v82, v34), block17
;;>
;;>                                 block17:
;;> @000a                               return v34
;;> }
;;> inline-guarded in function 1: done
