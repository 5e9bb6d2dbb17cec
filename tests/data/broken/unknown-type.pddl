(define (problem unknown-type)
  (:domain blocks)
  (:objects a b - block
            c - blok)
  (:init (clear a))
  (:goal (on a b)))
