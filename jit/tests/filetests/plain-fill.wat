;; A fill that lies inside of the memory and is not long is checked here and calls no more than the C library's memset.
;;! tier = optimizing
;;! show = optimized
;;! contains = v16+32
(module
  (memory 1)
  (func (param $p i32) (param $n i32)
    (memory.fill (local.get $p) (i32.const 165) (local.get $n))))

;;> function u0:0(i32, i32) tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 117440512 "lengths"
;;>     sig0 = (i64, i64, i32, i64) system_v
;;>     sig1 = (i64, i32, i64, i32, i64) system_v
;;>
;;>                                 block0(v0: i32, v1: i32):
;;>                                     v2 = get_pinned_reg.i64
;;> @0001                               v8 = load.i64 notrap aligned readonly can_move region0 v2-88
;;> @0001                               v9 = load.i64 notrap aligned region1 v8+8
;;> @0001                               v5 = uextend.i64 v1
;;> @0001                               v6 = iconst.i64 0x0010_0000
;;> @0001                               v7 = icmp ugt v5, v6  ; v6 = 0x0010_0000
;;> @0001                               v4 = uextend.i64 v0
;;> @0001                               v10 = iadd v4, v5
;;> @0001                               v11 = icmp ugt v10, v9
;;> @0001                               v12 = bor v7, v11
;;> @0001                               brif v12, block2, block3
;;>
;;>                                 block3:
;;> @0001                               v15 = get_pinned_reg.i64
;;> @0001                               v16 = load.i64 notrap aligned readonly region0 v15-16
;;> @0001                               v17 = load.i64 notrap aligned readonly region0 v16+32
;;> @0001                               v13 = load.i64 notrap aligned readonly can_move region0 v2-96
;;> @0001                               v14 = iadd v13, v4
;;> @0000                               v3 = iconst.i32 165
;;> @0001                               call_indirect sig0, v17(v15, v14, v3, v5)  ; v3 = 165
;;> @0001                               jump block4
;;>
;;>                                 block2 cold:
;;> @0001                               v19 = get_pinned_reg.i64
;;> @0001                               v20 = load.i64 notrap aligned readonly region0 v19-16
;;> @0001                               v21 = load.i64 notrap aligned readonly region0 v20+16
;;> @0001                               v18 = iconst.i32 0
;;>                                     v22 = iconst.i32 165
;;> @0001                               call_indirect sig1, v21(v19, v18, v4, v22, v5)  ; v18 = 0, v22 = 165
;;> @0001                               jump block4
;;>
;;>                                 block4:
;;> @0002                               return
;;> }
