;; Instrumented code of a body: it asks whether the burst goes on before it writes anything. A call that is asked to go on elsewhere leaves no parameter.
;;! tier = instrumented
;;! show = clif
;;! contains = burst words
(module
  (func (param i32) (result i32)
    local.get 0
    if (result i32)
      i32.const 1
    else
      i32.const 2
    end))
