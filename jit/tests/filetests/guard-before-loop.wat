;;! tier = optimizing
;;! show = assembly
;;! function = 1
;;! plan = 0 -> 0
;;! exits = true
;;! contains = guard-before-loop in function 1: done
;;! contains = inline-guarded in function 1: done

;; 200M indirect calls in small: nothing in the loop can change the index or the table, so the callee is tested once, before the loop.
(module
  (type $unary (func (param i32) (result i32)))
  (table (export "table") 8 8 funcref)
  (global $index (export "index") (mut i32) (i32.const 0))
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (global.get $index)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  mov eax, [rcx+50h]
;;>      a  cmp eax, 8
;;>      d  jae near 0C7h
;;>     13  mov rdx, [rcx+40h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 60h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 0C7h
;;>     32  xor eax, eax
;;>     34  mov rcx, rax
;;>     37  mov rdx, r15
;;>     3a  mov edx, [rdx+0A4h]
;;>     40  test edx, edx
;;>     42  jne near 66h
;;>     48  add ecx, 1
;;>     4e  add eax, 1
;;>     54  cmp ecx, edi
;;>     56  jb near 37h
;;>     5c  mov rsp, rbp
;;>     5f  pop rbp
;;>     60  ret
;;>     61  jmp 0C7h
;;>     66  mov rdx, r15
;;>     69  mov rdx, [rdx+8]
;;>     6d  mov rdx, [rdx+28h]
;;>     71  mov rsi, 4C00000001h
;;>     7b  mov [rdx], rsi
;;>     7e  mov qword [rdx+8], 7
;;>     86  mov esi, edi
;;>     88  mov [rdx+10h], rsi
;;>     8c  mov esi, eax
;;>     8e  mov [rdx+18h], rsi
;;>     92  mov esi, ecx
;;>     94  mov [rdx+20h], rsi
;;>     98  mov esi, [rdx]
;;>     9a  mov r8d, [rdx+4]
;;>     9e  mov ecx, [rdx+8]
;;>     a1  mov rdi, r15
;;>     a4  mov r9, [rdi+30h]
;;>     a8  mov r9, [r9+60h]
;;>     ac  mov rdx, r8
;;>     af  call r9
;;>     b2  mov rsi, r15
;;>     b5  mov rsi, [rsi+8]
;;>     b9  mov rdi, [rsi+28h]
;;>     bd  mov r10, rax
;;>     c0  mov rsp, rbp
;;>     c3  pop rbp
;;>     c4  jmp r10
;;>     c7  mov rsi, r15
;;>     ca  mov rsi, [rsi+8]
;;>     ce  mov rsi, [rsi+28h]
;;>     d2  mov r8, 4C00000001h
;;>     dc  mov [rsi], r8
;;>     df  mov qword [rsi+8], 7
;;>     e7  mov edi, edi
;;>     e9  mov [rsi+10h], rdi
;;>     ed  mov qword [rsi+18h], 0
;;>     f5  mov qword [rsi+20h], 0
;;>     fd  mov rdi, r15
;;>    100  mov r10, [rdi+30h]
;;>    104  mov r10, [r10+70h]
;;>    108  mov rsi, 100000007h
;;>    112  mov edx, eax
;;>    114  call r10
;;>    117  mov r10, r15
;;>    11a  mov r10, [r10+8]
;;>    11e  mov rdi, [r10+28h]
;;>    122  mov r10, rax
;;>    125  mov rsp, rbp
;;>    128  pop rbp
;;>    129  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
