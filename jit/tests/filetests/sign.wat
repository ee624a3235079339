;; The sign bit is turned or cleared by a mask in memory: none is made in a general register.
;;! tier = optimizing
;;! show = assembly
;;! contains = xorps
;;! contains = andpd
;;! lacks = vmovd
;;! lacks = vmovq
(module
  (func (param $x f32) (param $y f64) (result f32 f64)
    (f32.neg (local.get $x))
    (f64.abs (local.get $y))))

;;>      0  push rbp
;;>      1  mov rbp, rsp
;;>      4  vbroadcastss xmm0, xmm0
;;>      9  vmovups xmm2, [rip+1Fh]
;;>     11  vxorps xmm0, xmm0, xmm2
;;>     15  vpshufd xmm1, xmm1, 44h
;;>     1a  vmovupd xmm2, [rip+1Eh]
;;>     22  vandpd xmm1, xmm1, xmm2
;;>     26  mov rsp, rbp
;;>     29  pop rbp
;;>     2a  ret
;;>     2b  add [rax], al
;;>     2d  add [rax], al
;;>     2f  add [rax], al
;;>     31  add [rax], al
;;>     33  add byte [rax], 0
;;>     36  add [rax-80000000h], al
;;>     3c  add [rax], al
;;>     3e  add [rax-1], al
;;>     44  (bad)
;;>     46  (bad)
;;>     48  (bad)
;;>     4a  (bad)
;;>     4c  (bad)
;;>     4e  (bad)
