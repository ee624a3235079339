;; Two words that change places by a rotated double word: each is loaded and stored by itself, the upper one stored first. So where the offset is a constant, and where the rotation goes the other way.
;;! tier = optimizing
;;! show = assembly
;;! lacks = rorx
(module
  (memory 1)
  (func (param $p i32)
    (i64.store (local.get $p) (i64.rotl (i64.load (local.get $p)) (i64.const 32)))
    (i64.store offset=24 (local.get $p) (i64.rotr (i64.load offset=24 (local.get $p)) (i64.const 32)))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  mov esi, edi
;;>      6  mov edi, [r15+rsi]
;;>      a  mov r8d, [r15+rsi+4]
;;>      f  mov [r15+rsi+4], edi
;;>     14  mov [r15+rsi], r8d
;;>     18  mov r8d, [r15+rsi+18h]
;;>     1d  mov r9d, [r15+rsi+1Ch]
;;>     22  mov [r15+rsi+1Ch], r8d
;;>     27  mov [r15+rsi+18h], r9d
;;>     2c  mov rsp, rbp
;;>     2f  pop rbp
;;>     30  ret
