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
;;>      4  mov rax, r15
;;>      7  xor esi, esi
;;>      9  mov r8, rsi
;;>      c  mov rcx, r15
;;>      f  mov ecx, [rcx+0A4h]
;;>     15  test ecx, ecx
;;>     17  jne near 57h
;;>     1d  mov r9, [rax+40h]
;;>     21  mov r10d, r8d
;;>     24  movzx r9, byte [r9+r10]
;;>     29  cmp r9d, 3
;;>     2d  jne near 0D5h
;;>     33  add r8d, 1
;;>     3a  lea r9d, [rsi+1]
;;>     3e  cmp r8d, edi
;;>     41  jae near 4Fh
;;>     47  mov rsi, r9
;;>     4a  jmp 0Ch
;;>     4f  lea eax, [rsi+1]
;;>     52  mov rsp, rbp
;;>     55  pop rbp
;;>     56  ret
;;>     57  mov rcx, r15
;;>     5a  mov ecx, [rcx+0A4h]
;;>     60  test ecx, 0FFFFFFFEh
;;>     66  je near 77h
;;>     6c  xor ecx, 42h
;;>     6f  test ecx, ecx
;;>     71  jne near 1Dh
;;>     77  mov rax, r15
;;>     7a  mov rax, [rax+8]
;;>     7e  mov rax, [rax+28h]
;;>     82  mov rcx, 4200000001h
;;>     8c  mov [rax], rcx
;;>     8f  mov qword [rax+8], 7
;;>     97  mov ecx, edi
;;>     99  mov [rax+10h], rcx
;;>     9d  mov edx, esi
;;>     9f  mov [rax+18h], rdx
;;>     a3  mov esi, r8d
;;>     a6  mov [rax+20h], rsi
;;>     aa  mov esi, [rax]
;;>     ac  mov edx, [rax+4]
;;>     af  mov ecx, [rax+8]
;;>     b2  mov rdi, r15
;;>     b5  mov r8, [rdi+30h]
;;>     b9  mov r8, [r8+60h]
;;>     bd  call r8
;;>     c0  mov rsi, r15
;;>     c3  mov rsi, [rsi+8]
;;>     c7  mov rdi, [rsi+28h]
;;>     cb  mov r10, rax
;;>     ce  mov rsp, rbp
;;>     d1  pop rbp
;;>     d2  jmp r10
;;>     d5  mov r11, r15
;;>     d8  mov r11, [r11+8]
;;>     dc  mov r11, [r11+28h]
;;>     e0  mov rax, 4B00000001h
;;>     ea  mov [r11], rax
;;>     ed  mov qword [r11+8], 7
;;>     f5  mov eax, edi
;;>     f7  mov [r11+10h], rax
;;>     fb  mov [r11+20h], r10
;;>     ff  mov eax, esi
;;>    101  mov [r11+28h], rax
;;>    105  mov edx, r9d
;;>    108  mov [r11+30h], rdx
;;>    10c  mov rdi, r15
;;>    10f  mov rax, [rdi+30h]
;;>    113  mov rax, [rax+70h]
;;>    117  mov rsi, 100000007h
;;>    121  call rax
;;>    123  mov rcx, r15
;;>    126  mov rcx, [rcx+8]
;;>    12a  mov rdi, [rcx+28h]
;;>    12e  mov r10, rax
;;>    131  mov rsp, rbp
;;>    134  pop rbp
;;>    135  jmp r10
;;> inline-guarded in function 1: done
;;> side-exit in function 1: done
