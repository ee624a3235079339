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
;;> @0003                               v37 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0003                               v41 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0003                               v43 = iconst.i64 4
;;> @0003                               v47 = iconst.i64 96
;;> @0003                               v48 = iadd.i64 v1, v47  ; v47 = 96
;;> @0003                               v51 = iconst.i32 3
;;>                                     v106 = iconst.i32 1
;;> @0003                               v67 = iconst.i64 1
;;> @0003                               v74 = stack_addr.i64 ss0
;;> @0001                               jump block4(v0, v2)  ; v2 = 0
;;>
;;>                                 block4(v18: i32, v20: i32):
;;> @0001                               v13 = get_pinned_reg.i64
;;> @0001                               v14 = load.i32 notrap aligned region0 v13+164
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
;;> @0001                               store.i32 notrap aligned region2 v106, v17  ; v106 = 1
;;> @0001                               v23 = iconst.i32 87
;;> @0001                               store notrap aligned region2 v23, v17+4  ; v23 = 87
;;>                                     v112 = iconst.i32 7
;;> @0001                               store notrap aligned region2 v112, v17+8  ; v112 = 7
;;> @0001                               v28 = get_pinned_reg.i64
;;> @0001                               v29 = load.i64 notrap aligned readonly region1 v28+48
;;> @0001                               v30 = load.i64 notrap aligned readonly region1 v29+96
;;> @0001                               v31 = call_indirect sig0, v30(v28, v106, v23, v112)  ; v106 = 1, v23 = 87, v112 = 7
;;> @0001                               v32 = get_pinned_reg.i64
;;> @0001                               v33 = load.i64 notrap aligned readonly region1 v32+8
;;> @0001                               v34 = load.i64 notrap aligned readonly region1 v33+40
;;> @0001                               return_call_indirect sig1, v31(v34)
;;>
;;>                                 block6:
;;> @0002                               v35 = load.i32 notrap aligned region3 v1+80
;;> @0003                               v38 = load.i64 notrap aligned region4 v37+8
;;> @0003                               v39 = uextend.i64 v35
;;> @0003                               v40 = icmp uge v39, v38
;;> @0003                               brif v40, block8, block9
;;>
;;>                                 block9:
;;>                                     v100 = iconst.i64 4
;;>                                     v101 = ishl.i64 v39, v100  ; v100 = 4
;;> @0003                               v45 = iadd.i64 v41, v101
;;> @0003                               v46 = load.i64 notrap aligned region5 v45+8
;;>                                     v102 = iadd.i64 v1, v47  ; v47 = 96
;;>                                     v103 = icmp ne v46, v102
;;> @0003                               brif v103, block8, block10
;;>
;;>                                 block10:
;;>                                     v104 = iconst.i32 3
;;>                                     v105 = imul.i32 v20, v104  ; v104 = 3
;;> @0005                               v54 = iadd v105, v106  ; v106 = 1
;;> @0006                               jump block7(v54)
;;>
;;>                                 block8 cold:
;;> @0003                               v56 = load.i64 notrap aligned region4 v37+8
;;> @0003                               v58 = icmp.i64 uge v39, v56
;;> @0003                               trapnz v58, user4
;;>                                     v107 = iconst.i64 4
;;>                                     v108 = ishl.i64 v39, v107  ; v107 = 4
;;>                                     v109 = iadd.i64 v41, v108
;;> @0003                               v65 = select_spectre_guard.i64 v58, v41, v109
;;> @0003                               v66 = load.i64 notrap aligned region5 v65
;;>                                     v110 = iconst.i64 1
;;>                                     v111 = icmp ne v66, v110  ; v110 = 1
;;> @0003                               brif v111, block12, block13
;;>
;;>                                 block12 cold:
;;> @0003                               v69 = load.i64 notrap aligned region5 v65+8
;;> @0003                               trapz v69, user5
;;> @0003                               trap user6
;;>
;;>                                 block13 cold:
;;> @0003                               v70 = load.i64 notrap aligned region5 v65+8
;;> @0003                               v71 = load.i64 notrap aligned readonly region1 v70+8
;;> @0003                               v72 = icmp ne v71, v1
;;> @0003                               brif v72, block14, block15
;;>
;;>                                 block14 cold:
;;> @0003                               store.i64 notrap aligned region1 v1, v71+16
;;> @0003                               store.i64 notrap aligned region6 v1, v74
;;> @0003                               v75 = load.i64 notrap aligned region7 v70
;;> @0003                               set_pinned_reg.i64 v71
;;> @0003                               v76 = call_indirect sig2, v75(v20)
;;> @0003                               v77 = load.i64 notrap aligned region6 v74
;;> @0003                               set_pinned_reg v77
;;> @0003                               jump block16(v76)
;;>
;;>                                 block15 cold:
;;> @0003                               v78 = load.i64 notrap aligned region7 v70
;;> @0003                               v79 = call_indirect sig2, v78(v20)
;;> @0003                               jump block16(v79)
;;>
;;>                                 block16(v73: i32) cold:
;;> @0003                               jump block7(v73)
;;>
;;>                                 block7(v36: i32):
;;> @0007                               v84 = isub.i32 v18, v106  ; v106 = 1
;;> @0008                               brif v84, block4(v84, v36), block17
;;>
;;>                                 block17:
;;> @000a                               return v36
;;> }
;;> inline-guarded in function 1: done
