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
;;>      7  mov eax, [r15-60h]
;;>      b  cmp eax, 8
;;>      e  jae near 0D7h
;;>     14  mov rdx, [rcx-70h]
;;>     18  mov rsi, rax
;;>     1b  shl esi, 4
;;>     1e  mov rdx, [rdx+rsi+8]
;;>     23  add rcx, 0FFFFFFFFFFFFFF50h
;;>     2a  cmp rdx, rcx
;;>     2d  jne near 0D7h
;;>     33  xor eax, eax
;;>     35  mov rcx, rax
;;>     38  lea esi, [rcx+1]
;;>     3b  cmp esi, edi
;;>     3d  jae short 78h
;;>     3f  lea esi, [rcx+2]
;;>     42  cmp esi, edi
;;>     44  jae short 73h
;;>     46  lea r9d, [rcx+3]
;;>     4a  cmp r9d, edi
;;>     4d  jae short 6Eh
;;>     4f  add ecx, 4
;;>     52  add eax, 4
;;>     55  cmp ecx, edi
;;>     57  jb short 5Eh
;;>     59  mov rsp, rbp
;;>     5c  pop rbp
;;>     5d  ret
;;>     5e  cmp r15, [r15-0B8h]
;;>     66  jb near 7Dh
;;>     6c  jmp short 38h
;;>     6e  add eax, 3
;;>     71  jmp short 59h
;;>     73  add eax, 2
;;>     76  jmp short 59h
;;>     78  add eax, 1
;;>     7b  jmp short 59h
;;>     7d  mov rdx, [r15-40h]
;;>     81  mov rdx, [rdx+28h]
;;>     85  mov rsi, 4C00000001h
;;>     8f  mov [rdx], rsi
;;>     92  mov qword [rdx+8], 7
;;>     9a  mov ecx, ecx
;;>     9c  mov [rdx+20h], rcx
;;>     a0  mov eax, eax
;;>     a2  mov [rdx+18h], rax
;;>     a6  mov eax, edi
;;>     a8  mov [rdx+10h], rax
;;>     ac  mov esi, [rdx]
;;>     ae  mov eax, [rdx+4]
;;>     b1  mov ecx, [rdx+8]
;;>     b4  mov rdi, r15
;;>     b7  mov rdx, [r15-10h]
;;>     bb  mov r8, [rdx+70h]
;;>     bf  mov rdx, rax
;;>     c2  call r8
;;>     c5  mov rcx, [r15-40h]
;;>     c9  mov rdi, [rcx+28h]
;;>     cd  mov r10, rax
;;>     d0  mov rsp, rbp
;;>     d3  pop rbp
;;>     d4  jmp r10
;;>     d7  mov rcx, [r15-40h]
;;>     db  mov rcx, [rcx+28h]
;;>     df  mov rdx, 4C00000001h
;;>     e9  mov [rcx], rdx
;;>     ec  mov qword [rcx+8], 7
;;>     f4  mov qword [rcx+20h], 0
;;>     fc  mov qword [rcx+18h], 0
;;>    104  mov edx, edi
;;>    106  mov [rcx+10h], rdx
;;>    10a  mov rdi, r15
;;>    10d  mov rcx, [r15-10h]
;;>    111  mov rcx, [rcx+0B0h]
;;>    118  mov rsi, 100000007h
;;>    122  mov edx, eax
;;>    124  call rcx
;;>    126  mov rcx, [r15-40h]
;;>    12a  mov rdi, [rcx+28h]
;;>    12e  mov r10, rax
;;>    131  mov rsp, rbp
;;>    134  pop rbp
;;>    135  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
