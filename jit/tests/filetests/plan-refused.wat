;;! tier = optimizing
;;! show = clif
;;! function = 1
;;! decision = {"inline": {"offset": "CallIndirect#0", "targets": [{"callee": 0}]}}
;;! decision = {"inline": {"offset": "CallIndirect#0", "targets": [{"callee": 2}]}}
;;! decision = {"inline": {"offset": "CallIndirect#1", "targets": []}}
;;! decision = {"other": {"transformation": "nonsense", "offset": 4294967295}}
;;! contains = inline-guarded in function 1: something else was decided there before
;;! contains = inline-guarded in function 1: no target named
;;! contains = other in function 1: no pass is called `nonsense`

;; A plan that contradicts itself, one that names no target, and one for an operator that is not there: the first code of the function is of what is
;; inlined, and yet it is this function's plan that is refused.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 funcref)
  (func $one (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $x i32) (result i32)
    (call $one (local.get $x))
    (call_indirect (type $unary) (local.get $x))
    (call_indirect (type $unary) (local.get $x)))
  (func $two (type $unary) (i32.add (local.get 0) (i32.const 2))))

;;> function u0:1(i32) -> i32 tail {
;;>     ss0 = explicit_slot 8, align = 8
;;>     region0 = 16777216 "context"
;;>     region1 = 117440512 "lengths"
;;>     region2 = 285212672 "table 0"
;;>     region3 = 150994944 "frame"
;;>     region4 = 100663296 "code"
;;>     sig0 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v51 -> v0
;;>                                     v52 -> v0
;;>                                     v53 -> v0
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v5 = iconst.i32 1
;;> @0002                               v6 = iadd v0, v5  ; v5 = 1
;;> @0003                               jump block2(v6)
;;>
;;>                                 block2(v3: i32):
;;> @0004                               v8 = uextend.i64 v0
;;> @0004                               v9 = load.i64 notrap aligned readonly can_move region0 v1-88
;;> @0004                               v10 = load.i64 notrap aligned region1 v9+8
;;> @0004                               v11 = icmp uge v8, v10
;;> @0004                               brif v11, block5, block6
;;>
;;>                                 block6:
;;> @0004                               v12 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0004                               v13 = iconst.i64 4
;;> @0004                               v14 = uextend.i64 v0
;;> @0004                               v15 = ishl v14, v13  ; v13 = 4
;;> @0004                               v16 = iadd v12, v15
;;> @0004                               v17 = load.i64 notrap aligned region2 v16+8
;;> @0004                               v18 = iconst.i64 -192
;;> @0004                               v19 = iadd.i64 v1, v18  ; v18 = -192
;;> @0004                               v20 = icmp ne v17, v19
;;> @0004                               brif v20, block5, block7
;;>
;;>                                 block7:
;;> @0004                               v22 = iconst.i32 1
;;> @0005                               v23 = iadd.i32 v3, v22  ; v22 = 1
;;> @0006                               jump block4(v23)
;;>
;;>                                 block5 cold:
;;> @0004                               v24 = uextend.i64 v0
;;> @0004                               v25 = load.i64 notrap aligned readonly can_move region0 v1-88
;;> @0004                               v26 = load.i64 notrap aligned region1 v25+8
;;> @0004                               v27 = icmp uge v24, v26
;;> @0004                               trapnz v27, user4
;;> @0004                               v28 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0004                               v29 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0004                               v30 = iconst.i64 4
;;> @0004                               v31 = uextend.i64 v0
;;> @0004                               v32 = ishl v31, v30  ; v30 = 4
;;> @0004                               v33 = iadd v29, v32
;;> @0004                               v34 = select_spectre_guard v27, v28, v33
;;> @0004                               v35 = load.i64 notrap aligned region2 v34
;;> @0004                               v36 = load.i64 notrap aligned readonly can_move region0 v1-8
;;> @0004                               v37 = load.i32 notrap aligned readonly can_move region0 v36
;;> @0004                               v38 = uextend.i64 v37
;;> @0004                               v39 = icmp ne v35, v38
;;> @0004                               brif v39, block9, block10
;;>
;;>                                 block9 cold:
;;> @0004                               v40 = load.i64 notrap aligned region2 v34+8
;;> @0004                               trapz v40, user5
;;> @0004                               trap user6
;;>
;;>                                 block10 cold:
;;> @0004                               v41 = load.i64 notrap aligned region2 v34+8
;;> @0004                               v42 = load.i64 notrap aligned readonly region0 v41+8
;;> @0004                               v43 = icmp ne v42, v1
;;> @0004                               brif v43, block11, block12
;;>
;;>                                 block11 cold:
;;> @0004                               store.i64 notrap aligned region0 v1, v42-56
;;> @0004                               v45 = stack_addr.i64 ss0
;;> @0004                               store.i64 notrap aligned region3 v1, v45
;;> @0004                               v46 = load.i64 notrap aligned region4 v41
;;> @0004                               set_pinned_reg.i64 v42
;;> @0004                               v47 = call_indirect sig0, v46(v3)
;;> @0004                               v48 = load.i64 notrap aligned region3 v45
;;> @0004                               set_pinned_reg v48
;;> @0004                               jump block13(v47)
;;>
;;>                                 block12 cold:
;;> @0004                               v49 = load.i64 notrap aligned region4 v41
;;> @0004                               v50 = call_indirect sig0, v49(v3)
;;> @0004                               jump block13(v50)
;;>
;;>                                 block13(v44: i32) cold:
;;> @0004                               jump block4(v44)
;;>
;;>                                 block4(v7: i32):
;;> @0007                               v54 = uextend.i64 v0
;;> @0007                               v55 = load.i64 notrap aligned readonly can_move region0 v1-88
;;> @0007                               v56 = load.i64 notrap aligned region1 v55+8
;;> @0007                               v57 = icmp uge v54, v56
;;> @0007                               trapnz v57, user4
;;> @0007                               v58 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0007                               v59 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0007                               v60 = iconst.i64 4
;;> @0007                               v61 = uextend.i64 v0
;;> @0007                               v62 = ishl v61, v60  ; v60 = 4
;;> @0007                               v63 = iadd v59, v62
;;> @0007                               v64 = select_spectre_guard v57, v58, v63
;;> @0007                               v65 = load.i64 notrap aligned region2 v64
;;> @0007                               v66 = load.i64 notrap aligned readonly can_move region0 v1-8
;;> @0007                               v67 = load.i32 notrap aligned readonly can_move region0 v66
;;> @0007                               v68 = uextend.i64 v67
;;> @0007                               v69 = icmp ne v65, v68
;;> @0007                               brif v69, block14, block15
;;>
;;>                                 block14 cold:
;;> @0007                               v70 = load.i64 notrap aligned region2 v64+8
;;> @0007                               trapz v70, user5
;;> @0007                               trap user6
;;>
;;>                                 block15:
;;> @0007                               v71 = load.i64 notrap aligned region2 v64+8
;;> @0007                               v72 = load.i64 notrap aligned readonly region0 v71+8
;;> @0007                               v73 = icmp ne v72, v1
;;> @0007                               brif v73, block16, block17
;;>
;;>                                 block16 cold:
;;> @0007                               store.i64 notrap aligned region0 v1, v72-56
;;> @0007                               v75 = stack_addr.i64 ss0
;;> @0007                               store.i64 notrap aligned region3 v1, v75
;;> @0007                               v76 = load.i64 notrap aligned region4 v71
;;> @0007                               set_pinned_reg.i64 v72
;;> @0007                               v77 = call_indirect sig0, v76(v7)
;;> @0007                               v78 = load.i64 notrap aligned region3 v75
;;> @0007                               set_pinned_reg v78
;;> @0007                               jump block18(v77)
;;>
;;>                                 block17:
;;> @0007                               v79 = load.i64 notrap aligned region4 v71
;;> @0007                               v80 = call_indirect sig0, v79(v7)
;;> @0007                               jump block18(v80)
;;>
;;>                                 block18(v74: i32):
;;> @0008                               return v74
;;> }
;;> inline-static in function 1: done
;;> inline-guarded in function 1: done
;;> inline-guarded in function 1: no target named
;;> inline-guarded in function 1: something else was decided there before
;;> other in function 1: no pass is called `nonsense`
