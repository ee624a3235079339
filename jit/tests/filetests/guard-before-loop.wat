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
;;>      d  jae near 0F0h
;;>     13  mov rdx, [rcx+40h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 60h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 0F0h
;;>     32  xor ecx, ecx
;;>     34  mov rax, rcx
;;>     37  mov rdx, r15
;;>     3a  mov edx, [rdx+0A4h]
;;>     40  test edx, edx
;;>     42  jne near 6Eh
;;>     48  add eax, 1
;;>     4e  lea edx, [rcx+1]
;;>     51  cmp eax, edi
;;>     53  jae near 61h
;;>     59  mov rcx, rdx
;;>     5c  jmp 37h
;;>     61  lea eax, [rcx+1]
;;>     64  mov rsp, rbp
;;>     67  pop rbp
;;>     68  ret
;;>     69  jmp 0F0h
;;>     6e  mov rdx, r15
;;>     71  mov edx, [rdx+0A4h]
;;>     77  test edx, 0FFFFFFFEh
;;>     7d  je near 8Eh
;;>     83  xor edx, 4Ch
;;>     86  test edx, edx
;;>     88  jne near 48h
;;>     8e  mov r8, r15
;;>     91  mov r8, [r8+8]
;;>     95  mov r8, [r8+28h]
;;>     99  mov r9, 4C00000001h
;;>     a3  mov [r8], r9
;;>     a6  mov qword [r8+8], 7
;;>     ae  mov r9d, edi
;;>     b1  mov [r8+10h], r9
;;>     b5  mov r10d, ecx
;;>     b8  mov [r8+18h], r10
;;>     bc  mov r11d, eax
;;>     bf  mov [r8+20h], r11
;;>     c3  mov esi, [r8]
;;>     c6  mov edx, [r8+4]
;;>     ca  mov ecx, [r8+8]
;;>     ce  mov rdi, r15
;;>     d1  mov rax, [rdi+30h]
;;>     d5  mov rax, [rax+60h]
;;>     d9  call rax
;;>     db  mov rcx, r15
;;>     de  mov rcx, [rcx+8]
;;>     e2  mov rdi, [rcx+28h]
;;>     e6  mov r10, rax
;;>     e9  mov rsp, rbp
;;>     ec  pop rbp
;;>     ed  jmp r10
;;>     f0  mov rcx, r15
;;>     f3  mov rcx, [rcx+8]
;;>     f7  mov rcx, [rcx+28h]
;;>     fb  mov rdx, 4C00000001h
;;>    105  mov [rcx], rdx
;;>    108  mov qword [rcx+8], 7
;;>    110  mov edx, edi
;;>    112  mov [rcx+10h], rdx
;;>    116  mov qword [rcx+18h], 0
;;>    11e  mov qword [rcx+20h], 0
;;>    126  mov rdi, r15
;;>    129  mov rcx, [rdi+30h]
;;>    12d  mov rcx, [rcx+70h]
;;>    131  mov rsi, 100000007h
;;>    13b  mov edx, eax
;;>    13d  call rcx
;;>    13f  mov rcx, r15
;;>    142  mov rcx, [rcx+8]
;;>    146  mov rdi, [rcx+28h]
;;>    14a  mov r10, rax
;;>    14d  mov rsp, rbp
;;>    150  pop rbp
;;>    151  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
