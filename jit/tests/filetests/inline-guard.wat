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
;;>     ss0 = explicit_slot 8, align = 8
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 83886080 "switch"
;;>     region3 = 301989888 "global 0"
;;>     region4 = 117440512 "lengths"
;;>     region5 = 285212672 "table 0"
;;>     region6 = 150994944 "frame"
;;>     region7 = 100663296 "code"
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
;;> @0003                               v38 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v42 = iconst.i64 -8
;;> @0003                               v43 = iadd.i64 v1, v42  ; v42 = -8
;;> @0003                               v44 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v46 = iconst.i64 4
;;> @0003                               v51 = iconst.i64 96
;;> @0003                               v52 = iadd.i64 v1, v51  ; v51 = 96
;;> @0003                               v55 = iconst.i32 3
;;>                                     v112 = iconst.i32 1
;;> @0003                               v71 = iconst.i64 1
;;> @0003                               v80 = stack_addr.i64 ss0
;;> @0001                               jump block4(v0, v2)  ; v2 = 0
;;>
;;>                                 block4(v18: i32, v20: i32):
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+28
;;> @0001                               brif v14, block5, block6
;;>
;;>                                 block5 cold:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region1 v15+8
;;> @0001                               v17 = load.i64 notrap aligned readonly region1 v16+40
;;> @0001                               v19 = uextend.i64 v18
;;> @0001                               store notrap aligned region2 v19, v17+16
;;> @0001                               v21 = uextend.i64 v20
;;> @0001                               store notrap aligned region2 v21, v17+24
;;> @0001                               store.i32 notrap aligned region2 v112, v17  ; v112 = 1
;;> @0001                               v23 = iconst.i32 87
;;> @0001                               store notrap aligned region2 v23, v17+4  ; v23 = 87
;;>                                     v115 = iconst.i32 7
;;> @0001                               store notrap aligned region2 v115, v17+8  ; v115 = 7
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region1 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v112, v23, v115)  ; v112 = 1, v23 = 87, v115 = 7
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region1 v32+8
;;> @0001                               v34 = load.i64 notrap aligned readonly region1 v33+40
;;> @0001                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block6:
;;> @0002                               v35 = get_pinned_reg.i64
;;> @0002                               v36 = load.i32 notrap aligned region3 v35+80
;;> @0003                               v39 = load.i64 notrap aligned region4 v38+8
;;> @0003                               v40 = uextend.i64 v36
;;> @0003                               v41 = icmp uge v40, v39
;;>                                     v104 = iconst.i64 4
;;>                                     v105 = ishl v40, v104  ; v104 = 4
;;> @0003                               v48 = iadd.i64 v44, v105
;;>                                     v106 = iadd.i64 v1, v42  ; v42 = -8
;;>                                     v107 = select_spectre_guard v41, v106, v48
;;> @0003                               v50 = load.i64 notrap aligned region5 v107+8
;;>                                     v108 = iadd.i64 v1, v51  ; v51 = 96
;;>                                     v109 = icmp ne v50, v108
;;> @0003                               brif v109, block8, block9
;;>
;;>                                 block9:
;;>                                     v110 = iconst.i32 3
;;>                                     v111 = imul.i32 v20, v110  ; v110 = 3
;;> @0005                               v58 = iadd v111, v112  ; v112 = 1
;;> @0006                               jump block7(v58)
;;>
;;>                                 block8 cold:
;;> @0003                               v60 = load.i64 notrap aligned region4 v38+8
;;> @0003                               v62 = icmp.i64 uge v40, v60
;;> @0003                               trapnz v62, user4
;;> @0003                               v69 = select_spectre_guard.i64 v62, v44, v48
;;> @0003                               v70 = load.i64 notrap aligned region5 v69
;;>                                     v113 = iconst.i64 1
;;>                                     v114 = icmp ne v70, v113  ; v113 = 1
;;> @0003                               brif v114, block11, block12
;;>
;;>                                 block11 cold:
;;> @0003                               v73 = load.i64 notrap aligned region5 v69+8
;;> @0003                               trapz v73, user5
;;> @0003                               trap user6
;;>
;;>                                 block12 cold:
;;> @0003                               v74 = load.i64 notrap aligned region5 v69+8
;;> @0003                               v75 = get_pinned_reg.i64
;;> @0003                               v76 = load.i64 notrap aligned readonly region1 v74+8
;;> @0003                               v77 = icmp ne v76, v75
;;> @0003                               brif v77, block13, block14
;;>
;;>                                 block13 cold:
;;> @0003                               v79 = get_pinned_reg.i64
;;> @0003                               store notrap aligned region1 v79, v76+16
;;> @0003                               store notrap aligned region6 v79, v80
;;> @0003                               v81 = load.i64 notrap aligned region7 v74
;;> @0003                               set_pinned_reg.i64 v76
;;> @0003                               v82 = call_indirect sig2, v81(v20)
;;> @0003                               v83 = load.i64 notrap aligned region6 v80
;;> @0003                               set_pinned_reg v83
;;> @0003                               jump block15(v82)
;;>
;;>                                 block14 cold:
;;> @0003                               v84 = load.i64 notrap aligned region7 v74
;;> @0003                               v85 = call_indirect sig2, v84(v20)
;;> @0003                               jump block15(v85)
;;>
;;>                                 block15(v78: i32) cold:
;;> @0003                               jump block7(v78)
;;>
;;>                                 block7(v37: i32):
;;> @0007                               v89 = isub.i32 v18, v112  ; v112 = 1
;;> @0008                               brif v89, block4(v89, v37), block16
;;>
;;>                                 block16:
;;> @000a                               return v37
;;> }
;;> inline-guarded in function 1: done
