;;! tier = optimizing
;;! show = optimized
;;! contains = uload8x8
;;! contains = fcmp lt
;;! contains = bitselect
;;! lacks = bitcast.i32x4
;; What belongs together stays together: no cast between operators of one type, a comparison and its selection in the type of the lanes, a load that
;; widens as one instruction, the lowest lane stored as a float.
(module
    (memory 1)
    (func (param $at i32)
        (local.get $at)
        (f32x4.pmin
            (f32x4.mul (v128.load (local.get $at)) (v128.load offset=16 (local.get $at)))
            (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_u (v128.load8x8_u offset=32 (local.get $at)))))
        (v128.store64_lane 0)))

;;> function u0:0(i32) tail {
;;>     region0 = 16777216 "context"
;;>     region1 = 268435456 "memory 0"
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0001                               v3 = uextend.i64 v0
;;> @0001                               v5 = load.i8x16 user72 region1 v3
;;> @0002                               v8 = load.i8x16 user72 region1 v3+16
;;> @0004                               v15 = uload8x8 user72 region1 v3+32
;;> @0005                               v17 = uwiden_low v15
;;> @0006                               v19 = fcvt_from_sint.f32x4 v17
;;> @0003                               v10 = bitcast.f32x4 little v5
;;> @0003                               v9 = bitcast.f32x4 little v8
;;> @0003                               v11 = fmul v10, v9
;;> @0007                               v21 = fcmp lt v19, v11
;;> @0007                               v22 = bitcast.f32x4 little v21
;;> @0007                               v23 = bitselect v22, v19, v11
;;> @0007                               v24 = bitcast.i8x16 little v23
;;> @0008                               v25 = bitcast.f64x2 little v24
;;> @0008                               v26 = extractlane v25, 0
;;> @0008                               store user72 region1 v26, v3
;;> @0009                               return
;;> }
