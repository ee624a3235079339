;; Both arms load the same global, and what one of them gives the join is what it loaded: the two loads become one, and the join gets that one's
;; value. Found by the fuzzer: the join was given a value that was gone.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"branch-to-select": {"offset": "If#0"}}
;;! contains = branch-to-select in function 0: done
(module
  (global $g (mut f32) (f32.const 12))
  (func (param $f i32) (result f32) (local $x f32)
    (if (local.get $f)
      (then (drop (global.get $g)))
      (else (local.set $x (global.get $g))))
    (local.get $x)))

;;> function u0:0(i32) -> f32 tail {
;;>     region0 = 301989888 "global 0"
;;>
;;>                                 block0(v0: i32):
;;>                                     v1 = get_pinned_reg.i64
;;> @0002                               v7 = iconst.i64 -96
;;> @0002                               v8 = iadd v1, v7  ; v7 = -96
;;> @0002                               v4 = load.f32 notrap aligned region0 v8
;;> @0001                               jump block2
;;>
;;>                                 block2:
;;> @0000                               v2 = f32const 0.0
;;> @0001                               v12 = bitcast.i32 v2  ; v2 = 0.0
;;> @0001                               v13 = bitcast.i32 v4
;;> @0001                               v14 = select v0, v12, v13
;;> @0001                               v15 = bitcast.f32 v14
;;> @0006                               return v15
;;> }
;;> branch-to-select in function 0: done
