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
;;>      9  mov rcx, [rcx+40h]
;;>      d  mov r8, rax
;;>     10  mov rdx, r15
;;>     13  mov edx, [rdx+0A4h]
;;>     19  test edx, edx
;;>     1b  jne near 0AFh
;;>     21  mov esi, r8d
;;>     24  movzx rdx, byte [rcx+rsi]
;;>     29  cmp edx, 3
;;>     2c  jne near 4Dh
;;>     32  add r8d, 1
;;>     39  add eax, 1
;;>     3f  cmp r8d, edi
;;>     42  jb near 10h
;;>     48  mov rsp, rbp
;;>     4b  pop rbp
;;>     4c  ret
;;>     4d  mov rcx, r15
;;>     50  mov rcx, [rcx+8]
;;>     54  mov rcx, [rcx+28h]
;;>     58  mov r8, 4B00000001h
;;>     62  mov [rcx], r8
;;>     65  mov qword [rcx+8], 7
;;>     6d  mov edi, edi
;;>     6f  mov [rcx+10h], rdi
;;>     73  mov [rcx+20h], rsi
;;>     77  mov eax, eax
;;>     79  mov [rcx+28h], rax
;;>     7d  mov edx, edx
;;>     7f  mov [rcx+30h], rdx
;;>     83  mov rdi, r15
;;>     86  mov rax, [rdi+30h]
;;>     8a  mov rax, [rax+70h]
;;>     8e  mov rsi, 100000007h
;;>     98  call rax
;;>     9a  mov rcx, r15
;;>     9d  mov rcx, [rcx+8]
;;>     a1  mov rdi, [rcx+28h]
;;>     a5  mov r10, rax
;;>     a8  mov rsp, rbp
;;>     ab  pop rbp
;;>     ac  jmp r10
;;>     af  mov rcx, r15
;;>     b2  mov rcx, [rcx+8]
;;>     b6  mov rcx, [rcx+28h]
;;>     ba  mov rdx, 4200000001h
;;>     c4  mov [rcx], rdx
;;>     c7  mov qword [rcx+8], 7
;;>     cf  mov edx, edi
;;>     d1  mov [rcx+10h], rdx
;;>     d5  mov esi, eax
;;>     d7  mov [rcx+18h], rsi
;;>     db  mov esi, r8d
;;>     de  mov [rcx+20h], rsi
;;>     e2  mov esi, [rcx]
;;>     e4  mov edx, [rcx+4]
;;>     e7  mov ecx, [rcx+8]
;;>     ea  mov rdi, r15
;;>     ed  mov r8, [rdi+30h]
;;>     f1  mov r8, [r8+60h]
;;>     f5  call r8
;;>     f8  mov rsi, r15
;;>     fb  mov rsi, [rsi+8]
;;>     ff  mov rdi, [rsi+28h]
;;>    103  mov r10, rax
;;>    106  mov rsp, rbp
;;>    109  pop rbp
;;>    10a  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
