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
