; Walk or drive between places; roads have lengths, walking is dear, loading is free.
(define (domain costs)
  (:requirements :typing :action-costs)
  (:types place thing - object truck parcel - thing)
  (:predicates (at ?t - thing ?p - place) (in ?p - parcel ?t - truck) (road ?a ?b - place))
  (:functions (total-cost) - number (length ?a ?b - place) - number)
  (:action drive
    :parameters (?t - truck ?a ?b - place)
    :precondition (and (at ?t ?a) (road ?a ?b))
    :effect (and (not (at ?t ?a)) (at ?t ?b) (increase (total-cost) (length ?a ?b))))
  (:action carry
    :parameters (?p - parcel ?a ?b - place)
    :precondition (and (at ?p ?a) (road ?a ?b))
    :effect (and (not (at ?p ?a)) (at ?p ?b) (increase (total-cost) 20)))
  (:action load
    :parameters (?p - parcel ?t - truck ?a - place)
    :precondition (and (at ?p ?a) (at ?t ?a))
    :effect (and (not (at ?p ?a)) (in ?p ?t)))
  (:action unload
    :parameters (?p - parcel ?t - truck ?a - place)
    :precondition (and (in ?p ?t) (at ?t ?a))
    :effect (and (at ?p ?a) (not (in ?p ?t)))))
