; One match: two fires need two.
(define (domain unsolvable)
  (:requirements :strips)
  (:predicates (match) (cold ?x) (warm ?x))
  (:action light
    :parameters (?x)
    :precondition (and (match) (cold ?x))
    :effect (and (warm ?x) (not (cold ?x)) (not (match)))))
