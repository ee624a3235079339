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
;;>     2e  jb near 0BDh
;;>     34  xor edi, edi
;;>     36  mov r12, [r14+48h]
;;>     3a  mov rdx, [r14+40h]
;;>     3e  mov r13d, [rdx]
;;>     41  mov rbx, rdi
;;>     44  nop dword [rax+rax]
;;>     49  cmp r15, [r15+0B8h]
;;>     51  jb near 14Ah
;;>     57  mov esi, [r14+60h]
;;>     5b  cmp esi, 8
;;>     5e  jae near 0DFh
;;>     64  mov r8, rsi
;;>     67  shl r8d, 4
;;>     6b  mov r8, [r12+r8+8]
;;>     70  lea r9, [r14+70h]
;;>     74  cmp r8, r9
;;>     77  jne near 0DFh
;;>     7d  lea eax, [rdi+1]
;;>     80  add ebx, 1
;;>     86  mov rcx, [rsp+8]
;;>     8b  cmp ebx, ecx
;;>     8d  jae near 0A0h
;;>     93  mov rdi, rax
;;>     96  mov [rsp+8], rcx
;;>     9b  jmp 44h
;;>     a0  mov rbx, [rsp+10h]
;;>     a5  mov r12, [rsp+18h]
;;>     aa  mov r13, [rsp+20h]
;;>     af  mov r14, [rsp+28h]
;;>     b4  add rsp, 30h
;;>     b8  mov rsp, rbp
;;>     bb  pop rbp
;;>     bc  ret
;;>     bd  mov rdi, r15
;;>     c0  mov rcx, [rdi+38h]
;;>     c4  mov r8, [rcx+60h]
;;>     c8  mov esi, 1
;;>     cd  mov edx, 0FFFFFFFFh
;;>     d2  mov ecx, 7
;;>     d7  call r8
;;>     da  jmp 34h
;;>     df  cmp esi, 8
;;>     e2  jae near 1F6h
;;>     e8  mov rax, rsi
;;>     eb  shl eax, 4
;;>     ee  add rax, r12
;;>     f1  cmp esi, 8
;;>     f4  cmovae rax, r12
;;>     f8  mov rcx, [rax]
;;>     fb  cmp rcx, r13
;;>     fe  jne near 13Bh
;;>    104  mov rax, [rax+8]
;;>    108  mov rcx, [rax+8]
;;>    10c  cmp rcx, r14
;;>    10f  jne near 11Fh
;;>    115  mov rax, [rax]
;;>    118  call rax
;;>    11a  jmp 80h
;;>    11f  mov [rcx+10h], r14
;;>    123  mov [rsp], r14
;;>    127  mov rax, [rax]
;;>    12a  mov r15, rcx
;;>    12d  call rax
;;>    12f  mov rcx, [rsp]
;;>    133  mov r15, rcx
;;>    136  jmp 80h
;;>    13b  mov rax, [rax+8]
;;>    13f  test rax, rax
;;>    142  je near 1F8h
;;>    148  ud2
;;>    14a  mov rcx, [rsp+8]
;;>    14f  mov rax, r15
;;>    152  mov edx, [rax+0BCh]
;;>    158  test dx, dx
;;>    15b  jne near 182h
;;>    161  xor edx, 4D0000h
;;>    167  test edx, edx
;;>    169  je near 182h
;;>    16f  mov word [rax+0BEh], 0
;;>    178  mov [rsp+8], rcx
;;>    17d  jmp 44h
;;>    182  mov rax, r15
;;>    185  mov rax, [rax+8]
;;>    189  mov rax, [rax+28h]
;;>    18d  mov rdx, 4C00000001h
;;>    197  mov [rax], rdx
;;>    19a  mov qword [rax+8], 7
;;>    1a2  mov ecx, ecx
;;>    1a4  mov [rax+10h], rcx
;;>    1a8  mov ecx, edi
;;>    1aa  mov [rax+18h], rcx
;;>    1ae  mov ecx, ebx
;;>    1b0  mov [rax+20h], rcx
;;>    1b4  mov esi, [rax]
;;>    1b6  mov edx, [rax+4]
;;>    1b9  mov ecx, [rax+8]
;;>    1bc  mov rdi, r15
;;>    1bf  mov rax, [rdi+38h]
;;>    1c3  mov rax, [rax+60h]
;;>    1c7  call rax
;;>    1c9  mov rcx, r15
;;>    1cc  mov rcx, [rcx+8]
;;>    1d0  mov rdi, [rcx+28h]
;;>    1d4  mov r10, rax
;;>    1d7  mov rbx, [rsp+10h]
;;>    1dc  mov r12, [rsp+18h]
;;>    1e1  mov r13, [rsp+20h]
;;>    1e6  mov r14, [rsp+28h]
;;>    1eb  add rsp, 30h
;;>    1ef  mov rsp, rbp
;;>    1f2  pop rbp
;;>    1f3  jmp r10
;;>    1f6  ud2
;;>    1f8  ud2
;;> inline-guarded in function 1: done
