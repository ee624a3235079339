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
;;>      7  mov eax, [rcx+50h]
;;>      a  cmp eax, 8
;;>      d  jae near 0F3h
;;>     13  mov rdx, [rcx+40h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 60h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 0F3h
;;>     32  xor eax, eax
;;>     34  mov rcx, rax
;;>     37  mov rdx, r15
;;>     3a  mov edx, [rdx+0A4h]
;;>     40  test edx, edx
;;>     42  jne near 66h
;;>     48  add ecx, 1
;;>     4e  add eax, 1
;;>     54  cmp ecx, edi
;;>     56  jb near 37h
;;>     5c  mov rsp, rbp
;;>     5f  pop rbp
;;>     60  ret
;;>     61  jmp 0F3h
;;>     66  mov rsi, r15
;;>     69  mov edx, [rsi+0A4h]
;;>     6f  test dx, dx
;;>     72  jne near 94h
;;>     78  xor edx, 4D0000h
;;>     7e  test edx, edx
;;>     80  je near 94h
;;>     86  mov word [rsi+0A6h], 0
;;>     8f  jmp 37h
;;>     94  mov r11, r15
;;>     97  mov r11, [r11+8]
;;>     9b  mov r11, [r11+28h]
;;>     9f  mov rdx, 4C00000001h
;;>     a9  mov [r11], rdx
;;>     ac  mov qword [r11+8], 7
;;>     b4  mov edx, edi
;;>     b6  mov [r11+10h], rdx
;;>     ba  mov eax, eax
;;>     bc  mov [r11+18h], rax
;;>     c0  mov eax, ecx
;;>     c2  mov [r11+20h], rax
;;>     c6  mov esi, [r11]
;;>     c9  mov edx, [r11+4]
;;>     cd  mov ecx, [r11+8]
;;>     d1  mov rdi, r15
;;>     d4  mov rax, [rdi+30h]
;;>     d8  mov rax, [rax+60h]
;;>     dc  call rax
;;>     de  mov rcx, r15
;;>     e1  mov rcx, [rcx+8]
;;>     e5  mov rdi, [rcx+28h]
;;>     e9  mov r10, rax
;;>     ec  mov rsp, rbp
;;>     ef  pop rbp
;;>     f0  jmp r10
;;>     f3  mov rcx, r15
;;>     f6  mov rcx, [rcx+8]
;;>     fa  mov rcx, [rcx+28h]
;;>     fe  mov rdx, 4C00000001h
;;>    108  mov [rcx], rdx
;;>    10b  mov qword [rcx+8], 7
;;>    113  mov edx, edi
;;>    115  mov [rcx+10h], rdx
;;>    119  mov qword [rcx+18h], 0
;;>    121  mov qword [rcx+20h], 0
;;>    129  mov rdi, r15
;;>    12c  mov rcx, [rdi+30h]
;;>    130  mov rcx, [rcx+0A0h]
;;>    137  mov rsi, 100000007h
;;>    141  mov edx, eax
;;>    143  call rcx
;;>    145  mov rcx, r15
;;>    148  mov rcx, [rcx+8]
;;>    14c  mov rdi, [rcx+28h]
;;>    150  mov r10, rax
;;>    153  mov rsp, rbp
;;>    156  pop rbp
;;>    157  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
