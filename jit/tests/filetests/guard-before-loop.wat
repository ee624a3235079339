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
;;>      d  jae near 0F5h
;;>     13  mov rdx, [rcx+48h]
;;>     17  mov rsi, rax
;;>     1a  shl esi, 4
;;>     1d  mov rdx, [rdx+rsi+8]
;;>     22  add rcx, 70h
;;>     29  cmp rdx, rcx
;;>     2c  jne near 0F5h
;;>     32  xor eax, eax
;;>     34  mov rcx, rax
;;>     37  nop dword [rax+rax]
;;>     3c  cmp r15, [r15+0B8h]
;;>     44  jb near 68h
;;>     4a  add ecx, 1
;;>     50  add eax, 1
;;>     56  cmp ecx, edi
;;>     58  jb near 37h
;;>     5e  mov rsp, rbp
;;>     61  pop rbp
;;>     62  ret
;;>     63  jmp 0F5h
;;>     68  mov rsi, r15
;;>     6b  mov edx, [rsi+0BCh]
;;>     71  test dx, dx
;;>     74  jne near 96h
;;>     7a  xor edx, 4D0000h
;;>     80  test edx, edx
;;>     82  je near 96h
;;>     88  mov word [rsi+0BEh], 0
;;>     91  jmp 37h
;;>     96  mov r11, r15
;;>     99  mov r11, [r11+8]
;;>     9d  mov r11, [r11+28h]
;;>     a1  mov rdx, 4C00000001h
;;>     ab  mov [r11], rdx
;;>     ae  mov qword [r11+8], 7
;;>     b6  mov edx, edi
;;>     b8  mov [r11+10h], rdx
;;>     bc  mov eax, eax
;;>     be  mov [r11+18h], rax
;;>     c2  mov eax, ecx
;;>     c4  mov [r11+20h], rax
;;>     c8  mov esi, [r11]
;;>     cb  mov edx, [r11+4]
;;>     cf  mov ecx, [r11+8]
;;>     d3  mov rdi, r15
;;>     d6  mov rax, [rdi+38h]
;;>     da  mov rax, [rax+60h]
;;>     de  call rax
;;>     e0  mov rcx, r15
;;>     e3  mov rcx, [rcx+8]
;;>     e7  mov rdi, [rcx+28h]
;;>     eb  mov r10, rax
;;>     ee  mov rsp, rbp
;;>     f1  pop rbp
;;>     f2  jmp r10
;;>     f5  mov rcx, r15
;;>     f8  mov rcx, [rcx+8]
;;>     fc  mov rcx, [rcx+28h]
;;>    100  mov rdx, 4C00000001h
;;>    10a  mov [rcx], rdx
;;>    10d  mov qword [rcx+8], 7
;;>    115  mov edx, edi
;;>    117  mov [rcx+10h], rdx
;;>    11b  mov qword [rcx+18h], 0
;;>    123  mov qword [rcx+20h], 0
;;>    12b  mov rdi, r15
;;>    12e  mov rcx, [rdi+38h]
;;>    132  mov rcx, [rcx+0A0h]
;;>    139  mov rsi, 100000007h
;;>    143  mov edx, eax
;;>    145  call rcx
;;>    147  mov rcx, r15
;;>    14a  mov rcx, [rcx+8]
;;>    14e  mov rdi, [rcx+28h]
;;>    152  mov r10, rax
;;>    155  mov rsp, rbp
;;>    158  pop rbp
;;>    159  jmp r10
;;> guard-before-loop in function 1: done
;;> inline-guarded in function 1: done
