;; What cannot be compared, or would say nothing.
;;! tier = optimizing
;;! show = optimized
;;! decision = {"specialize": {"offset": 0, "parameter": 9, "value": 3}}
;;! decision = {"specialize": {"offset": 0, "parameter": 1, "value": 3}}
;;! decision = {"specialize": {"offset": 0, "parameter": 0, "value": 4294967296}}
;;! contains = specialize in function 0: no such parameter
;;! contains = specialize in function 0: not an integer
;;! contains = specialize in function 0: no i32 has that value
;;! lacks = brif
(module
  (func (param $p i32) (param $f f64) (result i32) (local.get $p)))

;;> function u0:0(i32, f64) -> i32 tail {
;;>                                 block0(v0: i32, v1: f64):
;;>                                     v2 = get_pinned_reg.i64
;;> @0001                               return v0
;;> }
;;> specialize in function 0: no such parameter
;;> specialize in function 0: not an integer
;;> specialize in function 0: no i32 has that value
