; The formulas of both forms of the predicate, on 17-bit numbers, for all inputs at once. The
; exhaustive program predicate.c looks at the circuits; this looks at the formulas behind them.
(set-logic QF_BV)
(define-fun p () (_ BitVec 17) (_ bv52201 17))
(define-fun canonical ((x (_ BitVec 17))) (_ BitVec 17) (ite (bvuge x p) (bvsub x p) x))
(define-fun add ((x (_ BitVec 17)) (y (_ BitVec 17))) (_ BitVec 17) (canonical (bvadd x y)))
(define-fun sub ((x (_ BitVec 17)) (y (_ BitVec 17))) (_ BitVec 17)
  (ite (bvuge x y) (bvsub x y) (bvsub (bvadd x p) y)))
(define-fun accepted ((y (_ BitVec 17))) Bool (bvuge y (_ bv32768 17)))

(declare-const u (_ BitVec 17)) (declare-const v (_ BitVec 17))
(assert (and (bvult u p) (bvult v p)))
(define-fun w () (_ BitVec 17) (bvadd u v))
(define-fun w15 () Bool (= ((_ extract 15 15) w) #b1))
(define-fun w16 () Bool (= ((_ extract 16 16) w) #b1))
(define-fun full ((limit (_ BitVec 15))) Bool
  (xor w15 (and (bvuge ((_ extract 14 0) w) limit) (xor w15 w16))))

(push)
(echo "proved full form: w15 xor (L and (w15 xor w16)) = [Y >= 32768]")
(assert (not (= (full (_ bv19433 15)) (accepted (add u v)))))
(check-sat)
(pop)

(push)
(echo "refuted ... with 19434 for 19433")
(assert (not (= (full (_ bv19434 15)) (accepted (add u v)))))
(check-sat)
(pop)

(push)
(echo "refuted ... with 19432 for 19433")
(assert (not (= (full (_ bv19432 15)) (accepted (add u v)))))
(check-sat)
(pop)

; Valid-range form, u for y and v for z.
(define-fun a () (_ BitVec 17) (sub (_ bv32768 17) u))
(define-fun start () (_ BitVec 17) (sub (_ bv51969 17) u))
(define-fun b () (_ BitVec 17) (bvand (bvadd start (_ bv511 17)) (bvnot (_ bv511 17))))
(define-fun coarse ((x (_ BitVec 17))) (_ BitVec 7) ((_ extract 15 9) x))
(define-fun range ((bound (_ BitVec 17))) Bool
  (xor (bvuge v a) (bvuge (coarse v) (coarse bound)) (bvugt a bound)))
(define-fun valid () Bool
  (and (bvuge (add u v) (_ bv768 17)) (bvule (add u v) (_ bv51968 17))))

(push)
(echo "proved valid-range form: [z >= a] xor [z >= b] xor [a > b] = [Y >= 32768] for valid Y")
(assert valid)
(assert (not (= (range b) (accepted (add u v)))))
(check-sat)
(pop)

(push)
(echo "refuted ... for Y from 278 on")
(assert (and (bvuge (add u v) (_ bv278 17)) (bvule (add u v) (_ bv51968 17))))
(assert (not (= (range b) (accepted (add u v)))))
(check-sat)
(pop)

(push)
(echo "refuted ... for Y up to 51969")
(assert (and (bvuge (add u v) (_ bv768 17)) (bvule (add u v) (_ bv51969 17))))
(assert (not (= (range b) (accepted (add u v)))))
(check-sat)
(pop)
