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
;;>     1b  jne near 0B0h
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
;;>     77  mov esi, eax
;;>     79  mov [rcx+28h], rsi
;;>     7d  mov edx, edx
;;>     7f  mov [rcx+30h], rdx
;;>     83  mov rdi, r15
;;>     86  mov rsi, [rdi+30h]
;;>     8a  mov r8, [rsi+70h]
;;>     8e  mov rsi, 100000007h
;;>     98  call r8
;;>     9b  mov rsi, r15
;;>     9e  mov rsi, [rsi+8]
;;>     a2  mov rdi, [rsi+28h]
;;>     a6  mov r10, rax
;;>     a9  mov rsp, rbp
;;>     ac  pop rbp
;;>     ad  jmp r10
;;>     b0  mov rsi, r15
;;>     b3  mov edx, [rsi+0A4h]
;;>     b9  test dx, dx
;;>     bc  jne near 0DEh
;;>     c2  xor edx, 430000h
;;>     c8  test edx, edx
;;>     ca  je near 0DEh
;;>     d0  mov word [rsi+0A6h], 0
;;>     d9  jmp 10h
;;>     de  mov r11, r15
;;>     e1  mov r11, [r11+8]
;;>     e5  mov r11, [r11+28h]
;;>     e9  mov rcx, 4200000001h
;;>     f3  mov [r11], rcx
;;>     f6  mov qword [r11+8], 7
;;>     fe  mov ecx, edi
;;>    100  mov [r11+10h], rcx
;;>    104  mov eax, eax
;;>    106  mov [r11+18h], rax
;;>    10a  mov eax, r8d
;;>    10d  mov [r11+20h], rax
;;>    111  mov esi, [r11]
;;>    114  mov edx, [r11+4]
;;>    118  mov ecx, [r11+8]
;;>    11c  mov rdi, r15
;;>    11f  mov rax, [rdi+30h]
;;>    123  mov rax, [rax+60h]
;;>    127  call rax
;;>    129  mov rcx, r15
;;>    12c  mov rcx, [rcx+8]
;;>    130  mov rdi, [rcx+28h]
;;>    134  mov r10, rax
;;>    137  mov rsp, rbp
;;>    13a  pop rbp
;;>    13b  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
