;; A word at a constant address that changes is loaded, changed and stored: no instruction does all three.
;;! tier = optimizing
;;! show = assembly
;;! lacks = add [r15
;;! lacks = xor [r15
;;! contains = mov [r15+410h]
;;! contains = mov [r15+420h]
(module (memory 1)
  (func (param $x i32) (param $y i64)
    (i32.store offset=16 (i32.const 1024) (i32.add (i32.load offset=16 (i32.const 1024)) (local.get $x)))
    (i64.store (i32.const 1056) (i64.xor (i64.load (i32.const 1056)) (local.get $y)))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  add edi, [r15+410h]
;;>      b  mov [r15+410h], edi
;;>     12  mov r9, r15
;;>     15  xor rsi, [r9+420h]
;;>     1c  mov [r15+420h], rsi
;;>     23  mov rsp, rbp
;;>     26  pop rbp
;;>     27  ret
