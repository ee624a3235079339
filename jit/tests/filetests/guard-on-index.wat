;;! tier = optimizing
;;! show = assembly
;;! function = 1
;;! plan = 0 -> 0
;;! exits = true
;;! contains = side-exit in function 1: done

;; Nothing but the element segment writes the table, so the index alone says which callee it is: no load, no bounds check.
(module
  (type $unary (func (param i32) (result i32)))
  (memory 1)
  (table 8 8 funcref)
  (elem (i32.const 3) $step)
  (func $step (type $unary) (i32.add (local.get 0) (i32.const 1)))
  (func (export "run") (param $n i32) (result i32)
    (local $x i32) (local $i i32)
    (loop $again
      (local.set $x (call_indirect (type $unary) (local.get $x) (i32.load8_u (local.get $i))))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $i) (local.get $n))))
    (local.get $x)))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rcx, r15
;;>      7  xor eax, eax
;;>      9  mov rcx, [rcx+48h]
;;>      d  mov r8, rax
;;>     10  nop dword [rax+rax]
;;>     15  cmp r15, [r15+0C0h]
;;>     1d  jb near 0B4h
;;>     23  mov esi, r8d
;;>     26  movzx rdx, byte [rcx+rsi]
;;>     2b  cmp edx, 3
;;>     2e  jne near 4Fh
;;>     34  add r8d, 1
;;>     3b  add eax, 1
;;>     41  cmp r8d, edi
;;>     44  jb near 15h
;;>     4a  mov rsp, rbp
;;>     4d  pop rbp
;;>     4e  ret
;;>     4f  mov rcx, r15
;;>     52  mov rcx, [rcx+8]
;;>     56  mov rcx, [rcx+28h]
;;>     5a  mov r8, 4B00000001h
;;>     64  mov [rcx], r8
;;>     67  mov qword [rcx+8], 7
;;>     6f  mov edi, edi
;;>     71  mov [rcx+10h], rdi
;;>     75  mov [rcx+20h], rsi
;;>     79  mov eax, eax
;;>     7b  mov [rcx+28h], rax
;;>     7f  mov edx, edx
;;>     81  mov [rcx+30h], rdx
;;>     85  mov rdi, r15
;;>     88  mov rax, [rdi+38h]
;;>     8c  mov rax, [rax+0A0h]
;;>     93  mov rsi, 100000007h
;;>     9d  call rax
;;>     9f  mov rcx, r15
;;>     a2  mov rcx, [rcx+8]
;;>     a6  mov rdi, [rcx+28h]
;;>     aa  mov r10, rax
;;>     ad  mov rsp, rbp
;;>     b0  pop rbp
;;>     b1  jmp r10
;;>     b4  mov rcx, r15
;;>     b7  mov rcx, [rcx+8]
;;>     bb  mov rcx, [rcx+28h]
;;>     bf  mov rdx, 4200000001h
;;>     c9  mov [rcx], rdx
;;>     cc  mov qword [rcx+8], 7
;;>     d4  mov edx, edi
;;>     d6  mov [rcx+10h], rdx
;;>     da  mov esi, eax
;;>     dc  mov [rcx+18h], rsi
;;>     e0  mov esi, r8d
;;>     e3  mov [rcx+20h], rsi
;;>     e7  mov esi, [rcx]
;;>     e9  mov edx, [rcx+4]
;;>     ec  mov ecx, [rcx+8]
;;>     ef  mov rdi, r15
;;>     f2  mov r8, [rdi+38h]
;;>     f6  mov r8, [r8+60h]
;;>     fa  call r8
;;>     fd  mov rsi, r15
;;>    100  mov rsi, [rsi+8]
;;>    104  mov rdi, [rsi+28h]
;;>    108  mov r10, rax
;;>    10b  mov rsp, rbp
;;>    10e  pop rbp
;;>    10f  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
