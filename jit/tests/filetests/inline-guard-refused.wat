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
;;>     region0 = 33554432 "poll"
;;>     region1 = 16777216 "context"
;;>     region2 = 117440512 "lengths"
;;>     region3 = 285212672 "table 0"
;;>     region4 = 150994944 "frame"
;;>     region5 = 100663296 "code"
;;>     sig0 = (i64, i32, i32, i32) -> i64 system_v
;;>     sig1 = (i32) -> i32 tail
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0000                               v2 = get_pinned_reg.i64
;;> @0000                               v3 = load.i64 user66 aligned region0 v2+32
;;> @0000                               v4 = icmp ult v2, v3
;;> @0000                               brif v4, block1, block2
;;>
;;>                                 block1 cold:
;;> @0000                               v8 = get_pinned_reg.i64
;;> @0000                               v9 = load.i64 notrap aligned readonly region1 v8+56
;;> @0000                               v10 = load.i64 notrap aligned readonly region1 v9+96
;;> @0000                               v5 = iconst.i32 2
;;> @0000                               v6 = iconst.i32 -1
;;> @0000                               v7 = iconst.i32 7
;;> @0000                               v11 = call_indirect sig0, v10(v8, v5, v6, v7)  ; v5 = 2, v6 = -1, v7 = 7
;;> @0000                               jump block2
;;>
;;>                                 block2:
;;> @0001                               v15 = load.i64 notrap aligned readonly can_move region1 v1+80
;;> @0001                               v16 = load.i64 notrap aligned region2 v15+8
;;> @0001                               v14 = uextend.i64 v0
;;> @0001                               v17 = icmp uge v14, v16
;;> @0001                               trapnz v17, user4
;;> @0001                               v18 = load.i64 notrap aligned readonly can_move region1 v1+72
;;> @0001                               v20 = iconst.i64 4
;;> @0001                               v22 = ishl v14, v20  ; v20 = 4
;;> @0001                               v23 = iadd v18, v22
;;> @0001                               v24 = select_spectre_guard v17, v18, v23
;;> @0001                               v25 = load.i64 notrap aligned region3 v24
;;> @0001                               v26 = load.i64 notrap aligned readonly can_move region1 v1+64
;;> @0001                               v27 = load.i32 notrap aligned readonly can_move region1 v26
;;> @0001                               v28 = uextend.i64 v27
;;> @0001                               v29 = icmp ne v25, v28
;;> @0001                               brif v29, block4, block5
;;>
;;>                                 block4 cold:
;;> @0001                               v30 = load.i64 notrap aligned region3 v24+8
;;> @0001                               trapz v30, user5
;;> @0001                               trap user6
;;>
;;>                                 block5:
;;> @0001                               v31 = load.i64 notrap aligned region3 v24+8
;;> @0001                               v32 = load.i64 notrap aligned readonly region1 v31+8
;;> @0001                               v33 = icmp ne v32, v1
;;> @0001                               brif v33, block6, block7
;;>
;;>                                 block6 cold:
;;> @0001                               store.i64 notrap aligned region1 v1, v32+16
;;> @0001                               v35 = stack_addr.i64 ss0
;;> @0001                               store.i64 notrap aligned region4 v1, v35
;;> @0001                               v36 = load.i64 notrap aligned region5 v31
;;> @0001                               set_pinned_reg.i64 v32
;;> @0001                               v37 = call_indirect sig1, v36(v0)
;;> @0001                               v38 = load.i64 notrap aligned region4 v35
;;> @0001                               set_pinned_reg v38
;;> @0001                               jump block8(v37)
;;>
;;>                                 block7:
;;> @0001                               v39 = load.i64 notrap aligned region5 v31
;;> @0001                               v40 = call_indirect sig1, v39(v0)
;;> @0001                               jump block8(v40)
;;>
;;>                                 block8(v34: i32):
;;> @0002                               return v34
;;> }
;;> inline-guarded in function 2: callee 0: its type is not the call's
;;> inline-guarded in function 2: callee 1: has an operator that is not inlined
;;> inline-guarded in function 2: callee 9: no such function
