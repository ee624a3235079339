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
;;>      7  mov eax, [r15+60h]
;;>      b  cmp eax, 8
;;>      e  jae near 0D4h
;;>     14  mov rdx, [rcx+48h]
;;>     18  mov rsi, rax
;;>     1b  shl esi, 4
;;>     1e  mov rdx, [rdx+rsi+8]
;;>     23  add rcx, 70h
;;>     27  cmp rdx, rcx
;;>     2a  jne near 0D4h
;;>     30  xor eax, eax
;;>     32  mov rcx, rax
;;>     35  lea esi, [rcx+1]
;;>     38  cmp esi, edi
;;>     3a  jae short 75h
;;>     3c  lea esi, [rcx+2]
;;>     3f  cmp esi, edi
;;>     41  jae short 70h
;;>     43  lea r9d, [rcx+3]
;;>     47  cmp r9d, edi
;;>     4a  jae short 6Bh
;;>     4c  add ecx, 4
;;>     4f  add eax, 4
;;>     52  cmp ecx, edi
;;>     54  jb short 5Bh
;;>     56  mov rsp, rbp
;;>     59  pop rbp
;;>     5a  ret
;;>     5b  cmp r15, [r15+0C0h]
;;>     63  jb near 7Ah
;;>     69  jmp short 35h
;;>     6b  add eax, 3
;;>     6e  jmp short 56h
;;>     70  add eax, 2
;;>     73  jmp short 56h
;;>     75  add eax, 1
;;>     78  jmp short 56h
;;>     7a  mov rdx, [r15+8]
;;>     7e  mov rdx, [rdx+28h]
;;>     82  mov rsi, 4C00000001h
;;>     8c  mov [rdx], rsi
;;>     8f  mov qword [rdx+8], 7
;;>     97  mov ecx, ecx
;;>     99  mov [rdx+20h], rcx
;;>     9d  mov eax, eax
;;>     9f  mov [rdx+18h], rax
;;>     a3  mov eax, edi
;;>     a5  mov [rdx+10h], rax
;;>     a9  mov esi, [rdx]
;;>     ab  mov eax, [rdx+4]
;;>     ae  mov ecx, [rdx+8]
;;>     b1  mov rdi, r15
;;>     b4  mov rdx, [r15+38h]
;;>     b8  mov r8, [rdx+70h]
;;>     bc  mov rdx, rax
;;>     bf  call r8
;;>     c2  mov rcx, [r15+8]
;;>     c6  mov rdi, [rcx+28h]
;;>     ca  mov r10, rax
;;>     cd  mov rsp, rbp
;;>     d0  pop rbp
;;>     d1  jmp r10
;;>     d4  mov rcx, [r15+8]
;;>     d8  mov rcx, [rcx+28h]
;;>     dc  mov rdx, 4C00000001h
;;>     e6  mov [rcx], rdx
;;>     e9  mov qword [rcx+8], 7
;;>     f1  mov qword [rcx+20h], 0
;;>     f9  mov qword [rcx+18h], 0
;;>    101  mov edx, edi
;;>    103  mov [rcx+10h], rdx
;;>    107  mov rdi, r15
;;>    10a  mov rcx, [r15+38h]
;;>    10e  mov rcx, [rcx+0B0h]
;;>    115  mov rsi, 100000007h
;;>    11f  mov edx, eax
;;>    121  call rcx
;;>    123  mov rcx, [r15+8]
;;>    127  mov rdi, [rcx+28h]
;;>    12b  mov r10, rax
;;>    12e  mov rsp, rbp
;;>    131  pop rbp
;;>    132  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
