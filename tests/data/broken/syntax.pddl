(define (domain syntax)
  (:requirements :strips)
  (:predicates (p ?x) (q)
  (:action a
    :parameters (?x)
    :precondition (p ?x)
    :effect (q)))
