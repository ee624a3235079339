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
;;>     1b  jne near 0B3h
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
;;>     8a  mov r8, [rsi+0A0h]
;;>     91  mov rsi, 100000007h
;;>     9b  call r8
;;>     9e  mov rsi, r15
;;>     a1  mov rsi, [rsi+8]
;;>     a5  mov rdi, [rsi+28h]
;;>     a9  mov r10, rax
;;>     ac  mov rsp, rbp
;;>     af  pop rbp
;;>     b0  jmp r10
;;>     b3  mov rsi, r15
;;>     b6  mov edx, [rsi+0A4h]
;;>     bc  test dx, dx
;;>     bf  jne near 0E1h
;;>     c5  xor edx, 430000h
;;>     cb  test edx, edx
;;>     cd  je near 0E1h
;;>     d3  mov word [rsi+0A6h], 0
;;>     dc  jmp 10h
;;>     e1  mov r11, r15
;;>     e4  mov r11, [r11+8]
;;>     e8  mov r11, [r11+28h]
;;>     ec  mov rcx, 4200000001h
;;>     f6  mov [r11], rcx
;;>     f9  mov qword [r11+8], 7
;;>    101  mov ecx, edi
;;>    103  mov [r11+10h], rcx
;;>    107  mov eax, eax
;;>    109  mov [r11+18h], rax
;;>    10d  mov eax, r8d
;;>    110  mov [r11+20h], rax
;;>    114  mov esi, [r11]
;;>    117  mov edx, [r11+4]
;;>    11b  mov ecx, [r11+8]
;;>    11f  mov rdi, r15
;;>    122  mov rax, [rdi+30h]
;;>    126  mov rax, [rax+60h]
;;>    12a  call rax
;;>    12c  mov rcx, r15
;;>    12f  mov rcx, [rcx+8]
;;>    133  mov rdi, [rcx+28h]
;;>    137  mov r10, rax
;;>    13a  mov rsp, rbp
;;>    13d  pop rbp
;;>    13e  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
