;;! tier = optimizing
;;! show = assembly
;;! contains = [r15-60h]
;;! lacks = [r15+r
;; The control of `memory-base`: an imported memory begins anywhere.
(module
  (import "" "m" (memory 1))
  (func (param $p i32) (result i32)
    (i32.store (local.get $p) (i32.const 1))
    (i32.load offset=8 (local.get $p))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov rsi, [r15-60h]
;;>      8  mov edi, edi
;;>      a  mov dword [rsi+rdi], 1
;;>     11  mov eax, [rsi+rdi+8]
;;>     15  mov rsp, rbp
;;>     18  pop rbp
;;>     19  ret
