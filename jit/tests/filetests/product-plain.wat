;; Other products are multiplications, and shifts stay shifts.
;;! tier = optimizing
;;! show = assembly
;;! contains = imul
;;! contains = shl
;;! lacks = *2]
(module
  (func (param $x i32) (param $y i64) (result i32 i64 i64)
    (i32.mul (local.get $x) (i32.const 7))
    (i64.mul (local.get $y) (i64.const 16))
    (i64.mul (local.get $y) (local.get $y))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  imul eax, edi, 7
;;>      7  mov rcx, rsi
;;>      a  shl rcx, 4
;;>      e  mov rdx, rsi
;;>     11  imul rdx, rsi
;;>     15  mov rsp, rbp
;;>     18  pop rbp
;;>     19  ret
