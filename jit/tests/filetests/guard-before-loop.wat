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
;;>      7  mov eax, [rcx+60h]
;;>      a  cmp eax, 8
;;>      d  jae near 0C9h
;;>     13  mov rdx, [rcx+48h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 70h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 0C9h
;;>     32  xor eax, eax
;;>     34  mov rcx, rax
;;>     37  nop dword [rax+rax]
;;>     3c  cmp r15, [r15+0C0h]
;;>     44  jb near 68h
;;>     4a  add ecx, 1
;;>     50  add eax, 1
;;>     56  cmp ecx, edi
;;>     58  jb near 3Ch
;;>     5e  mov rsp, rbp
;;>     61  pop rbp
;;>     62  ret
;;>     63  jmp 0C9h
;;>     68  mov rdx, r15
;;>     6b  mov rdx, [rdx+8]
;;>     6f  mov rdx, [rdx+28h]
;;>     73  mov rsi, 4C00000001h
;;>     7d  mov [rdx], rsi
;;>     80  mov qword [rdx+8], 7
;;>     88  mov esi, edi
;;>     8a  mov [rdx+10h], rsi
;;>     8e  mov esi, eax
;;>     90  mov [rdx+18h], rsi
;;>     94  mov esi, ecx
;;>     96  mov [rdx+20h], rsi
;;>     9a  mov esi, [rdx]
;;>     9c  mov r8d, [rdx+4]
;;>     a0  mov ecx, [rdx+8]
;;>     a3  mov rdi, r15
;;>     a6  mov r9, [rdi+38h]
;;>     aa  mov r9, [r9+60h]
;;>     ae  mov rdx, r8
;;>     b1  call r9
;;>     b4  mov rsi, r15
;;>     b7  mov rsi, [rsi+8]
;;>     bb  mov rdi, [rsi+28h]
;;>     bf  mov r10, rax
;;>     c2  mov rsp, rbp
;;>     c5  pop rbp
;;>     c6  jmp r10
;;>     c9  mov rsi, r15
;;>     cc  mov rsi, [rsi+8]
;;>     d0  mov rsi, [rsi+28h]
;;>     d4  mov r8, 4C00000001h
;;>     de  mov [rsi], r8
;;>     e1  mov qword [rsi+8], 7
;;>     e9  mov edi, edi
;;>     eb  mov [rsi+10h], rdi
;;>     ef  mov qword [rsi+18h], 0
;;>     f7  mov qword [rsi+20h], 0
;;>     ff  mov rdi, r15
;;>    102  mov r10, [rdi+38h]
;;>    106  mov r10, [r10+0A0h]
;;>    10d  mov rsi, 100000007h
;;>    117  mov edx, eax
;;>    119  call r10
;;>    11c  mov r10, r15
;;>    11f  mov r10, [r10+8]
;;>    123  mov rdi, [r10+28h]
;;>    127  mov r10, rax
;;>    12a  mov rsp, rbp
;;>    12d  pop rbp
;;>    12e  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
