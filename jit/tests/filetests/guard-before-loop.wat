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
;;>      d  jae near 10Bh
;;>     13  mov rdx, [rcx+48h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 70h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 10Bh
;;>     32  xor ecx, ecx
;;>     34  mov rax, rcx
;;>     37  nop dword [rax+rax]
;;>     3c  cmp r15, [r15+0C0h]
;;>     44  jb near 0ABh
;;>     4a  lea esi, [rax+1]
;;>     4d  cmp esi, edi
;;>     4f  jae near 93h
;;>     55  lea r8d, [rax+2]
;;>     59  cmp r8d, edi
;;>     5c  jae near 9Bh
;;>     62  lea edx, [rax+3]
;;>     65  cmp edx, edi
;;>     67  jae near 0A3h
;;>     6d  add eax, 4
;;>     73  lea edx, [rcx+4]
;;>     76  cmp eax, edi
;;>     78  jae near 86h
;;>     7e  mov rcx, rdx
;;>     81  jmp 3Ch
;;>     86  lea eax, [rcx+4]
;;>     89  mov rsp, rbp
;;>     8c  pop rbp
;;>     8d  ret
;;>     8e  jmp 10Bh
;;>     93  lea eax, [rcx+1]
;;>     96  jmp 89h
;;>     9b  lea eax, [rcx+2]
;;>     9e  jmp 89h
;;>     a3  lea eax, [rcx+3]
;;>     a6  jmp 89h
;;>     ab  mov rdx, r15
;;>     ae  mov rdx, [rdx+8]
;;>     b2  mov rdx, [rdx+28h]
;;>     b6  mov rsi, 4C00000001h
;;>     c0  mov [rdx], rsi
;;>     c3  mov qword [rdx+8], 7
;;>     cb  mov esi, edi
;;>     cd  mov [rdx+10h], rsi
;;>     d1  mov ecx, ecx
;;>     d3  mov [rdx+18h], rcx
;;>     d7  mov eax, eax
;;>     d9  mov [rdx+20h], rax
;;>     dd  mov esi, [rdx]
;;>     df  mov eax, [rdx+4]
;;>     e2  mov ecx, [rdx+8]
;;>     e5  mov rdi, r15
;;>     e8  mov rdx, [rdi+38h]
;;>     ec  mov r8, [rdx+60h]
;;>     f0  mov rdx, rax
;;>     f3  call r8
;;>     f6  mov rcx, r15
;;>     f9  mov rcx, [rcx+8]
;;>     fd  mov rdi, [rcx+28h]
;;>    101  mov r10, rax
;;>    104  mov rsp, rbp
;;>    107  pop rbp
;;>    108  jmp r10
;;>    10b  mov rcx, r15
;;>    10e  mov rcx, [rcx+8]
;;>    112  mov rcx, [rcx+28h]
;;>    116  mov rdx, 4C00000001h
;;>    120  mov [rcx], rdx
;;>    123  mov qword [rcx+8], 7
;;>    12b  mov edx, edi
;;>    12d  mov [rcx+10h], rdx
;;>    131  mov qword [rcx+18h], 0
;;>    139  mov qword [rcx+20h], 0
;;>    141  mov rdi, r15
;;>    144  mov rcx, [rdi+38h]
;;>    148  mov rcx, [rcx+0A0h]
;;>    14f  mov rsi, 100000007h
;;>    159  mov edx, eax
;;>    15b  call rcx
;;>    15d  mov rcx, r15
;;>    160  mov rcx, [rcx+8]
;;>    164  mov rdi, [rcx+28h]
;;>    168  mov r10, rax
;;>    16b  mov rsp, rbp
;;>    16e  pop rbp
;;>    16f  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
