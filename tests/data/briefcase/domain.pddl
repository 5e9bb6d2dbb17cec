; Moving the briefcase moves what is in it; it moves only when it is shut.
(define (domain briefcase)
  (:requirements :adl)
  (:types place item)
  (:constants office - place)
  (:predicates (case-at ?p - place) (at ?i - item ?p - place) (in ?i - item) (open))
  (:action move
    :parameters (?from ?to - place)
    :precondition (and (case-at ?from) (not (= ?from ?to)) (not (open)))
    :effect (and (case-at ?to) (not (case-at ?from))
                 (forall (?i - item)
                   (when (in ?i) (and (at ?i ?to) (not (at ?i ?from)))))))
  (:action put-in
    :parameters (?i - item)
    :precondition (and (open) (not (in ?i)) (exists (?p - place) (and (at ?i ?p) (case-at ?p))))
    :effect (in ?i))
  (:action take-out
    :parameters (?i - item)
    :precondition (and (open) (in ?i))
    :effect (not (in ?i)))
  (:action unlock
    :parameters ()
    :precondition (or (case-at office) (forall (?i - item) (not (in ?i))))
    :effect (open))
  (:action lock
    :parameters ()
    :precondition (open)
    :effect (not (open))))
