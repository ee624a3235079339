;; A product by 3, 5 or 9, also times a power of two, is an addition to the shifted factor.
;;! tier = optimizing
;;! show = assembly
;;! contains = lea
;;! contains = *2]
;;! contains = *4]
;;! contains = *8]
;;! lacks = imul
(module
  (func (param $x i32) (param $y i64) (result i32 i64 i64 i32)
    (i32.mul (local.get $x) (i32.const 3))
    (i64.mul (i64.const 5) (local.get $y))
    (i64.mul (local.get $y) (i64.const 72))
    (i32.mul (local.get $x) (i32.const 0xc0000000))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  lea eax, [rdi+rdi*2]
;;>      7  lea rcx, [rsi+rsi*4]
;;>      b  lea rdx, [rsi+rsi*8]
;;>      f  shl rdx, 3
;;>     13  mov rsi, rax
;;>     16  shl esi, 1Eh
;;>     19  mov rsp, rbp
;;>     1c  pop rbp
;;>     1d  ret
