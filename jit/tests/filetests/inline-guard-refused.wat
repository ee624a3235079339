;;! tier = optimizing
;;! show = optimized
;;! function = 2
;;! plan = 0 -> 0
;;! plan = 0 -> 1
;;! plan = 0 -> 9
;;! contains = callee 0: its type is not the call's
;;! contains = callee 1: has an operator that is not inlined
;;! contains = callee 9: no such function

;; A plan that lies: another type, an operator that is not inlined, no such function. The call is the generic one.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 funcref)
  (elem $none func)
  (func (param i64))
  (func (type $unary) (elem.drop $none) local.get 0)
  (func (export "run") (param i32) (result i32)
    (call_indirect (type $unary) (local.get 0) (local.get 0))))

;;> function u0:2(i32) -> i32 tail {
;;>     ss0 = explicit_slot 8, align = 8
;;>     region0 = 16777216 "context"
;;>     region1 = 117440512 "lengths"
;;>     region2 = 285212672 "table 0"
;;>     region3 = 150994944 "frame"
;;>     region4 = 100663296 "code"
;;>     sig0 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v4 = load.i64 notrap aligned readonly can_move region0 v1-88
;;> @0001                               v5 = load.i64 notrap aligned region1 v4+8
;;> @0001                               v3 = uextend.i64 v0
;;> @0001                               v6 = icmp uge v3, v5
;;> @0001                               trapnz v6, user4
;;> @0001                               v7 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0001                               v9 = iconst.i64 4
;;> @0001                               v11 = ishl v3, v9  ; v9 = 4
;;> @0001                               v12 = iadd v7, v11
;;> @0001                               v13 = select_spectre_guard v6, v7, v12
;;> @0001                               v14 = load.i64 notrap aligned region2 v13
;;> @0001                               v15 = load.i64 notrap aligned readonly can_move region0 v1-8
;;> @0001                               v16 = load.i32 notrap aligned readonly can_move region0 v15
;;> @0001                               v17 = uextend.i64 v16
;;> @0001                               v18 = icmp ne v14, v17
;;> @0001                               brif v18, block2, block3
;;>
;;>                                 block2 cold:
;;> @0001                               v19 = load.i64 notrap aligned region2 v13+8
;;> @0001                               trapz v19, user5
;;> @0001                               trap user6
;;>
;;>                                 block3:
;;> @0001                               v20 = load.i64 notrap aligned region2 v13+8
;;> @0001                               v21 = load.i64 notrap aligned readonly region0 v20+8
;;> @0001                               v22 = icmp ne v21, v1
;;> @0001                               brif v22, block4, block5
;;>
;;>                                 block4 cold:
;;> @0001                               store.i64 notrap aligned region0 v1, v21-56
;;> @0001                               v24 = stack_addr.i64 ss0
;;> @0001                               store.i64 notrap aligned region3 v1, v24
;;> @0001                               v25 = load.i64 notrap aligned region4 v20
;;> @0001                               set_pinned_reg.i64 v21
;;> @0001                               v26 = call_indirect sig0, v25(v0)
;;> @0001                               v27 = load.i64 notrap aligned region3 v24
;;> @0001                               set_pinned_reg v27
;;> @0001                               jump block6(v26)
;;>
;;>                                 block5:
;;> @0001                               v28 = load.i64 notrap aligned region4 v20
;;> @0001                               v29 = call_indirect sig0, v28(v0)
;;> @0001                               jump block6(v29)
;;>
;;>                                 block6(v23: i32):
;;> @0002                               return v23
;;> }
;;> inline-guarded in function 2: callee 0: its type is not the call's
;;> inline-guarded in function 2: callee 1: has an operator that is not inlined
;;> inline-guarded in function 2: callee 9: no such function
