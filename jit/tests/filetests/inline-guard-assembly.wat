;;! tier = optimizing
;;! show = assembly
;;! function = 1
;;! plan = 0 -> 0
;;! contains = inline-guarded in function 1: done

;; As inline-guard.wat, down to the instructions.
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
;;>      4  sub rsp, 30h
;;>      8  mov [rsp+10h], rbx
;;>      d  mov [rsp+18h], r12
;;>     12  mov [rsp+20h], r13
;;>     17  mov [rsp+28h], r14
;;>     1c  mov [rsp+8], rdi
;;>     21  mov rbx, r15
;;>     24  xor edi, edi
;;>     26  mov r12, [rbx+48h]
;;>     2a  mov rax, [rbx+40h]
;;>     2e  mov r13d, [rax]
;;>     31  mov r14, rdi
;;>     34  nop dword [rax+rax]
;;>     39  cmp r15, [r15+0C0h]
;;>     41  jb near 118h
;;>     47  mov ecx, [rbx+60h]
;;>     4a  cmp ecx, 8
;;>     4d  jae near 0ADh
;;>     53  mov rax, rcx
;;>     56  shl eax, 4
;;>     59  mov rax, [r12+rax+8]
;;>     5e  lea rdx, [rbx+70h]
;;>     62  cmp rax, rdx
;;>     65  jne near 0ADh
;;>     6b  lea eax, [rdi+1]
;;>     6e  add r14d, 1
;;>     75  mov rcx, [rsp+8]
;;>     7a  cmp r14d, ecx
;;>     7d  jae near 90h
;;>     83  mov rdi, rax
;;>     86  nop dword [rax+rax]
;;>     8b  jmp 39h
;;>     90  mov rbx, [rsp+10h]
;;>     95  mov r12, [rsp+18h]
;;>     9a  mov r13, [rsp+20h]
;;>     9f  mov r14, [rsp+28h]
;;>     a4  add rsp, 30h
;;>     a8  mov rsp, rbp
;;>     ab  pop rbp
;;>     ac  ret
;;>     ad  cmp ecx, 8
;;>     b0  jae near 192h
;;>     b6  mov rax, rcx
;;>     b9  shl eax, 4
;;>     bc  add rax, r12
;;>     bf  cmp ecx, 8
;;>     c2  cmovae rax, r12
;;>     c6  mov rcx, [rax]
;;>     c9  cmp rcx, r13
;;>     cc  jne near 109h
;;>     d2  mov rcx, [rax+8]
;;>     d6  mov rdx, [rcx+8]
;;>     da  cmp rdx, rbx
;;>     dd  jne near 0EDh
;;>     e3  mov rsi, [rcx]
;;>     e6  call rsi
;;>     e8  jmp 6Eh
;;>     ed  mov [rdx+10h], rbx
;;>     f1  mov [rsp], rbx
;;>     f5  mov rsi, [rcx]
;;>     f8  mov r15, rdx
;;>     fb  call rsi
;;>     fd  mov rdi, [rsp]
;;>    101  mov r15, rdi
;;>    104  jmp 6Eh
;;>    109  mov rax, [rax+8]
;;>    10d  test rax, rax
;;>    110  je near 194h
;;>    116  ud2
;;>    118  mov rcx, [rsp+8]
;;>    11d  mov rax, r15
;;>    120  mov rax, [rax+8]
;;>    124  mov rax, [rax+28h]
;;>    128  mov rdx, 4C00000001h
;;>    132  mov [rax], rdx
;;>    135  mov qword [rax+8], 7
;;>    13d  mov ecx, ecx
;;>    13f  mov [rax+10h], rcx
;;>    143  mov ecx, edi
;;>    145  mov [rax+18h], rcx
;;>    149  mov ecx, r14d
;;>    14c  mov [rax+20h], rcx
;;>    150  mov esi, [rax]
;;>    152  mov edx, [rax+4]
;;>    155  mov ecx, [rax+8]
;;>    158  mov rdi, r15
;;>    15b  mov rax, [rdi+38h]
;;>    15f  mov rax, [rax+70h]
;;>    163  call rax
;;>    165  mov rcx, r15
;;>    168  mov rcx, [rcx+8]
;;>    16c  mov rdi, [rcx+28h]
;;>    170  mov r10, rax
;;>    173  mov rbx, [rsp+10h]
;;>    178  mov r12, [rsp+18h]
;;>    17d  mov r13, [rsp+20h]
;;>    182  mov r14, [rsp+28h]
;;>    187  add rsp, 30h
;;>    18b  mov rsp, rbp
;;>    18e  pop rbp
;;>    18f  jmp r10
;;>    192  ud2
;;>    194  ud2
;;> inline-guarded in function 1: done
