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
;;>     15  cmp r15, [r15+0B8h]
;;>     1d  jb near 0B5h
;;>     23  mov esi, r8d
;;>     26  movzx rdx, byte [rcx+rsi]
;;>     2b  cmp edx, 3
;;>     2e  jne near 4Fh
;;>     34  add r8d, 1
;;>     3b  add eax, 1
;;>     41  cmp r8d, edi
;;>     44  jb near 10h
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
;;>     79  mov esi, eax
;;>     7b  mov [rcx+28h], rsi
;;>     7f  mov edx, edx
;;>     81  mov [rcx+30h], rdx
;;>     85  mov rdi, r15
;;>     88  mov rsi, [rdi+38h]
;;>     8c  mov r8, [rsi+0A0h]
;;>     93  mov rsi, 100000007h
;;>     9d  call r8
;;>     a0  mov rsi, r15
;;>     a3  mov rsi, [rsi+8]
;;>     a7  mov rdi, [rsi+28h]
;;>     ab  mov r10, rax
;;>     ae  mov rsp, rbp
;;>     b1  pop rbp
;;>     b2  jmp r10
;;>     b5  mov rsi, r15
;;>     b8  mov edx, [rsi+0BCh]
;;>     be  test dx, dx
;;>     c1  jne near 0E3h
;;>     c7  xor edx, 430000h
;;>     cd  test edx, edx
;;>     cf  je near 0E3h
;;>     d5  mov word [rsi+0BEh], 0
;;>     de  jmp 10h
;;>     e3  mov r11, r15
;;>     e6  mov r11, [r11+8]
;;>     ea  mov r11, [r11+28h]
;;>     ee  mov rcx, 4200000001h
;;>     f8  mov [r11], rcx
;;>     fb  mov qword [r11+8], 7
;;>    103  mov ecx, edi
;;>    105  mov [r11+10h], rcx
;;>    109  mov eax, eax
;;>    10b  mov [r11+18h], rax
;;>    10f  mov eax, r8d
;;>    112  mov [r11+20h], rax
;;>    116  mov esi, [r11]
;;>    119  mov edx, [r11+4]
;;>    11d  mov ecx, [r11+8]
;;>    121  mov rdi, r15
;;>    124  mov rax, [rdi+38h]
;;>    128  mov rax, [rax+60h]
;;>    12c  call rax
;;>    12e  mov rcx, r15
;;>    131  mov rcx, [rcx+8]
;;>    135  mov rdi, [rcx+28h]
;;>    139  mov r10, rax
;;>    13c  mov rsp, rbp
;;>    13f  pop rbp
;;>    140  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
