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
;;>     21  mov r14, r15
;;>     24  xchg ax, ax
;;>     26  cmp r15, [r15+20h]
;;>     2e  jb near 0BCh
;;>     34  xor edi, edi
;;>     36  mov r12, [r14+48h]
;;>     3a  mov rax, [r14+40h]
;;>     3e  mov r13d, [rax]
;;>     41  mov rbx, rdi
;;>     44  nop dword [rax+rax]
;;>     49  cmp r15, [r15+0C0h]
;;>     51  jb near 14Ah
;;>     57  mov edx, [r14+60h]
;;>     5b  cmp edx, 8
;;>     5e  jae near 0DDh
;;>     64  mov rsi, rdx
;;>     67  shl esi, 4
;;>     6a  mov rsi, [r12+rsi+8]
;;>     6f  lea r8, [r14+70h]
;;>     73  cmp rsi, r8
;;>     76  jne near 0DDh
;;>     7c  lea eax, [rdi+1]
;;>     7f  add ebx, 1
;;>     85  mov rcx, [rsp+8]
;;>     8a  cmp ebx, ecx
;;>     8c  jae near 9Fh
;;>     92  mov rdi, rax
;;>     95  mov [rsp+8], rcx
;;>     9a  jmp 49h
;;>     9f  mov rbx, [rsp+10h]
;;>     a4  mov r12, [rsp+18h]
;;>     a9  mov r13, [rsp+20h]
;;>     ae  mov r14, [rsp+28h]
;;>     b3  add rsp, 30h
;;>     b7  mov rsp, rbp
;;>     ba  pop rbp
;;>     bb  ret
;;>     bc  mov rdi, r15
;;>     bf  mov rax, [rdi+38h]
;;>     c3  mov rax, [rax+60h]
;;>     c7  mov esi, 1
;;>     cc  mov edx, 0FFFFFFFFh
;;>     d1  mov ecx, 7
;;>     d6  call rax
;;>     d8  jmp 34h
;;>     dd  cmp edx, 8
;;>     e0  jae near 1C3h
;;>     e6  mov r11, rdx
;;>     e9  shl r11d, 4
;;>     ed  lea r10, [r12+r11]
;;>     f1  cmp edx, 8
;;>     f4  cmovae r10, r12
;;>     f8  mov rax, [r10]
;;>     fb  cmp rax, r13
;;>     fe  jne near 13Bh
;;>    104  mov rax, [r10+8]
;;>    108  mov rcx, [rax+8]
;;>    10c  cmp rcx, r14
;;>    10f  jne near 11Fh
;;>    115  mov rax, [rax]
;;>    118  call rax
;;>    11a  jmp 7Fh
;;>    11f  mov [rcx+10h], r14
;;>    123  mov [rsp], r14
;;>    127  mov rax, [rax]
;;>    12a  mov r15, rcx
;;>    12d  call rax
;;>    12f  mov rcx, [rsp]
;;>    133  mov r15, rcx
;;>    136  jmp 7Fh
;;>    13b  mov rax, [r10+8]
;;>    13f  test rax, rax
;;>    142  je near 1C5h
;;>    148  ud2
;;>    14a  mov rcx, [rsp+8]
;;>    14f  mov rax, r15
;;>    152  mov rax, [rax+8]
;;>    156  mov rax, [rax+28h]
;;>    15a  mov rdx, 4C00000001h
;;>    164  mov [rax], rdx
;;>    167  mov qword [rax+8], 7
;;>    16f  mov ecx, ecx
;;>    171  mov [rax+10h], rcx
;;>    175  mov ecx, edi
;;>    177  mov [rax+18h], rcx
;;>    17b  mov ecx, ebx
;;>    17d  mov [rax+20h], rcx
;;>    181  mov esi, [rax]
;;>    183  mov edx, [rax+4]
;;>    186  mov ecx, [rax+8]
;;>    189  mov rdi, r15
;;>    18c  mov rax, [rdi+38h]
;;>    190  mov rax, [rax+60h]
;;>    194  call rax
;;>    196  mov rcx, r15
;;>    199  mov rcx, [rcx+8]
;;>    19d  mov rdi, [rcx+28h]
;;>    1a1  mov r10, rax
;;>    1a4  mov rbx, [rsp+10h]
;;>    1a9  mov r12, [rsp+18h]
;;>    1ae  mov r13, [rsp+20h]
;;>    1b3  mov r14, [rsp+28h]
;;>    1b8  add rsp, 30h
;;>    1bc  mov rsp, rbp
;;>    1bf  pop rbp
;;>    1c0  jmp r10
;;>    1c3  ud2
;;>    1c5  ud2
;;> inline-guarded in function 1: done
