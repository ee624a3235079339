;;! function = 1
;;! tier = optimizing
;;! show = assembly
;;! contains = add dword [r15+r14], 1
;;! contains = add dword [r15+r14], 3
;;! contains = mov qword [r15+10h], 1
;;! contains = [r15+40000000h]
;;! lacks = r15-60h]
;; The module's own memory begins at its instance's context: accesses go through the context's register, behind a call as well, and nobody reads the base that the context holds at -60h.
;; A constant address is none but a displacement.
(module
  (import "" "f" (func $f))
  (memory 1)
  (func (param $p i32)
    (i32.store (local.get $p) (i32.add (i32.load (local.get $p)) (i32.const 1)))
    (call $f)
    (i32.store (local.get $p) (i32.add (i32.load (local.get $p)) (i32.const 2)))
    (call $f)
    (i32.store (local.get $p) (i32.add (i32.load (local.get $p)) (i32.const 3)))
    (i64.store offset=8 (i32.const 8) (i64.const 1))
    (i32.store8 offset=0x3fffff00 (i32.const 0x100) (local.get $p))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  sub rsp, 20h
;;>      8  mov [rsp+10h], rbx
;;>      d  mov [rsp+18h], r14
;;>     12  mov rax, r15
;;>     15  mov r14d, edi
;;>     18  mov rbx, rdi
;;>     1b  add dword [r15+r14], 1
;;>     20  mov rcx, [r15-68h]
;;>     24  mov rdx, [rcx+8]
;;>     28  mov [rdx-38h], rax
;;>     2c  mov [rsp], rax
;;>     30  mov rax, [rcx]
;;>     33  mov r15, rdx
;;>     36  call rax
;;>     38  mov rax, [rsp]
;;>     3c  mov r15, rax
;;>     3f  add dword [r15+r14], 2
;;>     44  mov rax, r15
;;>     47  mov rcx, [r15-68h]
;;>     4b  mov rdx, [rcx+8]
;;>     4f  mov [rdx-38h], rax
;;>     53  mov rax, [rcx]
;;>     56  mov r15, rdx
;;>     59  call rax
;;>     5b  mov rax, [rsp]
;;>     5f  mov r15, rax
;;>     62  add dword [r15+r14], 3
;;>     67  mov qword [r15+10h], 1
;;>     6f  mov rdi, rbx
;;>     72  mov [r15+40000000h], dil
;;>     79  mov rbx, [rsp+10h]
;;>     7e  mov r14, [rsp+18h]
;;>     83  add rsp, 20h
;;>     87  mov rsp, rbp
;;>     8a  pop rbp
;;>     8b  ret
