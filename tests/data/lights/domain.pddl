(define (domain lights-out)
  (:requirements :strips :typing :negative-preconditions :conditional-effects)
  (:types cell)
  (:predicates (lit ?c - cell) (beside ?a ?b - cell))
  (:action press
    :parameters (?c - cell)
    :precondition ()
    :effect (and
      (when (lit ?c) (not (lit ?c)))
      (when (not (lit ?c)) (lit ?c))
      (forall (?d - cell) (and
        (when (and (beside ?c ?d) (lit ?d)) (not (lit ?d)))
        (when (and (beside ?c ?d) (not (lit ?d))) (lit ?d)))))))
