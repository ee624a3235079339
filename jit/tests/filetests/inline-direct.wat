;;! tier = optimizing
;;! show = clif
;;! function = 1
;;! decision = {"inline": {"offset": "Call#0", "direct": true, "targets": [{"callee": 0}]}}
;;! contains = inline-direct in function 1: done
;;! lacks = call fn

;; A direct call that the plan names is replaced by its callee's body, which is too long to be so without a plan; there is no guard.
(module
  (memory 1)
  (func $step (param i32) (result i32)
    (i32.store (i32.const 8) (i32.add (i32.load (i32.const 8)) (i32.const 1)))
    (i32.store (i32.const 16) (i32.xor (i32.load (i32.const 16)) (local.get 0)))
    (i32.store (i32.const 24) (i32.mul (i32.load (i32.const 24)) (i32.const 3)))
    (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $x i32) (result i32)
    (call 0 (local.get $x))))

;;> function u0:1(i32) -> i32 tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 268435456 "memory 0"
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v5 = iconst.i32 8
;;> @0001                               v6 = iconst.i32 8
;;> @0002                               v7 = uextend.i64 v6  ; v6 = 8
;;> @0002                               v8 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0002                               v9 = iadd v8, v7
;;> @0002                               v10 = load.i32 user2 region1 v9
;;> @0002                               v11 = iconst.i32 1
;;> @0003                               v12 = iadd v10, v11  ; v11 = 1
;;> @0004                               v13 = uextend.i64 v5  ; v5 = 8
;;> @0004                               v14 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0004                               v15 = iadd v14, v13
;;> @0004                               v16 = iconst.i64 -16
;;> @0004                               v17 = iadd v15, v16  ; v16 = -16
;;> @0004                               store user2 region1 v12, v17+16
;;> @0004                               v18 = iconst.i32 16
;;> @0004                               v19 = iconst.i32 16
;;> @0005                               v20 = uextend.i64 v19  ; v19 = 16
;;> @0005                               v21 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0005                               v22 = iadd v21, v20
;;> @0005                               v23 = load.i32 user2 region1 v22
;;> @0006                               v24 = bxor v23, v0
;;> @0007                               v25 = uextend.i64 v18  ; v18 = 16
;;> @0007                               v26 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0007                               v27 = iadd v26, v25
;;> @0007                               v28 = iconst.i64 -16
;;> @0007                               v29 = iadd v27, v28  ; v28 = -16
;;> @0007                               store user2 region1 v24, v29+16
;;> @0007                               v30 = iconst.i32 24
;;> @0007                               v31 = iconst.i32 24
;;> @0008                               v32 = uextend.i64 v31  ; v31 = 24
;;> @0008                               v33 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @0008                               v34 = iadd v33, v32
;;> @0008                               v35 = load.i32 user2 region1 v34
;;> @0008                               v36 = iconst.i32 3
;;> @0009                               v37 = iconst.i32 1
;;> @0009                               v38 = ishl v35, v37  ; v37 = 1
;;> @0009                               v39 = iadd v35, v38
;;> @000a                               v40 = uextend.i64 v30  ; v30 = 24
;;> @000a                               v41 = load.i64 notrap aligned readonly can_move region0 v1-96
;;> @000a                               v42 = iadd v41, v40
;;> @000a                               v43 = iconst.i64 -16
;;> @000a                               v44 = iadd v42, v43  ; v43 = -16
;;> @000a                               store user2 region1 v39, v44+16
;;> @000a                               v45 = iconst.i32 1
;;> @000b                               v46 = iadd v0, v45  ; v45 = 1
;;> @000c                               jump block2(v46)
;;>
;;>                                 block2(v3: i32):
;;> @000d                               return v3
;;> }
;;> inline-direct in function 1: done
