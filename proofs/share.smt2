; Sharing over the integers, hence modulo any prime: degree-two reconstruction, the line of a
; component (cleared of its denominator), injection of bits, and the coordinate of a ternary value.
(set-logic QF_NIA)
(declare-const c0 Int) (declare-const c1 Int) (declare-const c2 Int)
(define-fun at ((z Int)) Int (+ c0 (* c1 z) (* c2 z z)))

(push)
(echo "proved 3 f(1) - 3 f(2) + f(3) = f(0) for every f of degree two")
(assert (not (= c0 (+ (* 3 (at 1)) (* (- 3) (at 2)) (at 3)))))
(check-sat)
(pop)

(push)
(echo "refuted ... with the weights 3, -3, 2")
(assert (not (= c0 (+ (* 3 (at 1)) (* (- 3) (at 2)) (* 2 (at 3))))))
(check-sat)
(pop)

; x (m - z) is a line through x m at 0 and 0 at m.
(declare-const x Int) (declare-const m Int)
(define-fun line ((z Int)) Int (* x (- m z)))
(push)
(echo "proved x (m - z) / m is x at zero by any two of the points 1, 2, 3, and 0 at m")
(assert (or (= m 1) (= m 2) (= m 3)))
(assert (not (and (= (line m) 0) (= (* x m) (- (* 2 (line 1)) (line 2)))
                  (= (* 2 x m) (- (* 3 (line 1)) (line 3)))
                  (= (* x m) (- (* 3 (line 2)) (* 2 (line 3)))))))
(check-sat)
(pop)

(push)
(echo "refuted ... with 1 and 2 taken for 1 and 3")
(assert (or (= m 1) (= m 2) (= m 3)))
(assert (not (= (* 2 x m) (- (* 3 (line 1)) (line 2)))))
(check-sat)
(pop)

; Bits b0, b1, b2 into the field: s = b0 xor b1 as r01 + (s - r01), the product s b2 from two
; masked pieces r01 b2 - r02 (role 0) and (s - r01) b2 - r12 (role 2).
(declare-const s Int) (declare-const b2 Int)
(declare-const r01 Int) (declare-const r02 Int) (declare-const r12 Int)
(define-fun share ((factor Int)) Int
  (let ((from0 (- (* r01 b2) r02)) (from2 (- (* (- s r01) b2) r12)))
    (+ (- r01 (* factor from0))
       (- (- s r01) (* factor r12))
       (- b2 (* factor (+ r02 from2))))))
(assert (and (or (= s 0) (= s 1)) (or (= b2 0) (= b2 1))))

(push)
(echo "proved injected bits: the three components sum to b0 xor b1 xor b2 for all masks")
(assert (not (= (share 2) (ite (= s b2) 0 1))))
(check-sat)
(pop)

(push)
(echo "refuted ... without the factor 2")
(assert (not (= (share 1) (ite (= s b2) 0 1))))
(check-sat)
(pop)
