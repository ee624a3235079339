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
;;>      d  jae near 10Ch
;;>     13  mov rdx, [rcx+48h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 70h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 10Ch
;;>     32  xor eax, eax
;;>     34  mov rcx, rax
;;>     37  jmp short 3Ch
;;>     39  add [rax], r8b
;;>     3c  cmp r15, [r15+0C0h]
;;>     44  jb near 0ACh
;;>     4a  lea esi, [rcx+1]
;;>     4d  cmp esi, edi
;;>     4f  jae near 0A1h
;;>     55  lea esi, [rcx+2]
;;>     58  cmp esi, edi
;;>     5a  jae near 96h
;;>     60  lea r9d, [rcx+3]
;;>     64  cmp r9d, edi
;;>     67  jae near 8Bh
;;>     6d  add ecx, 4
;;>     73  add eax, 4
;;>     79  cmp ecx, edi
;;>     7b  jb near 3Ch
;;>     81  mov rsp, rbp
;;>     84  pop rbp
;;>     85  ret
;;>     86  jmp 10Ch
;;>     8b  add eax, 3
;;>     91  jmp 81h
;;>     96  add eax, 2
;;>     9c  jmp 81h
;;>     a1  add eax, 1
;;>     a7  jmp 81h
;;>     ac  mov rdx, r15
;;>     af  mov rdx, [rdx+8]
;;>     b3  mov rdx, [rdx+28h]
;;>     b7  mov rsi, 4C00000001h
;;>     c1  mov [rdx], rsi
;;>     c4  mov qword [rdx+8], 7
;;>     cc  mov ecx, ecx
;;>     ce  mov [rdx+20h], rcx
;;>     d2  mov eax, eax
;;>     d4  mov [rdx+18h], rax
;;>     d8  mov eax, edi
;;>     da  mov [rdx+10h], rax
;;>     de  mov esi, [rdx]
;;>     e0  mov eax, [rdx+4]
;;>     e3  mov ecx, [rdx+8]
;;>     e6  mov rdi, r15
;;>     e9  mov rdx, [rdi+38h]
;;>     ed  mov r8, [rdx+70h]
;;>     f1  mov rdx, rax
;;>     f4  call r8
;;>     f7  mov rcx, r15
;;>     fa  mov rcx, [rcx+8]
;;>     fe  mov rdi, [rcx+28h]
;;>    102  mov r10, rax
;;>    105  mov rsp, rbp
;;>    108  pop rbp
;;>    109  jmp r10
;;>    10c  mov rcx, r15
;;>    10f  mov rcx, [rcx+8]
;;>    113  mov rcx, [rcx+28h]
;;>    117  mov rdx, 4C00000001h
;;>    121  mov [rcx], rdx
;;>    124  mov qword [rcx+8], 7
;;>    12c  mov qword [rcx+20h], 0
;;>    134  mov qword [rcx+18h], 0
;;>    13c  mov edx, edi
;;>    13e  mov [rcx+10h], rdx
;;>    142  mov rdi, r15
;;>    145  mov rcx, [rdi+38h]
;;>    149  mov rcx, [rcx+0B0h]
;;>    150  mov rsi, 100000007h
;;>    15a  mov edx, eax
;;>    15c  call rcx
;;>    15e  mov rcx, r15
;;>    161  mov rcx, [rcx+8]
;;>    165  mov rdi, [rcx+28h]
;;>    169  mov r10, rax
;;>    16c  mov rsp, rbp
;;>    16f  pop rbp
;;>    170  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
