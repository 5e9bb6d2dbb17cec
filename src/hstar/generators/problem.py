"""What generators share: the table of them, their smallest sizes, and the text of a problem."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hstar.errors import InputError
from hstar.registry import Registry, unknown


class Problem(NamedTuple):
    """Objects by type (`""`: none), and atoms without their parentheses."""

    objects: Mapping[str, Sequence[str]]
    init: Sequence[str]
    goal: Sequence[str]


@dataclass(frozen=True)
class Generator:
    """A function of sizes and a seed, all of them integers; it gives the texts of domain and problem."""

    name: str
    domain: str
    least: Mapping[str, int]  # by size, in order
    make: Callable[..., Problem]

    def __call__(self, *sizes: int, seed: int, **named: int) -> tuple[str, str]:
        chosen = {**dict(zip(self.least, sizes, strict=False)), **named}
        if wrong := next((size for size in chosen if size not in self.least), None):
            raise unknown(f"size of {self.name}", wrong, list(self.least))
        if len(sizes) + len(named) != len(self.least):
            raise InputError(f"{self.name} needs each of its sizes once: {', '.join(self.least)}")
        for size, least in self.least.items():
            if chosen[size] < least:
                raise InputError(f"{self.name} needs at least {least} of {size}, got {chosen[size]}")
        title = "-".join([self.name, *(str(chosen[size]) for size in self.least), str(seed)])
        return self.domain, problem_text(self.domain, title, self.make(random.Random(seed), **chosen))


GENERATORS: Registry[Generator] = Registry("generator")


def generator(name: str, domain: str, **least: int) -> Callable[[Callable[..., Problem]], Generator]:
    """Enters a function of a source of random numbers and sizes; `least` has the smallest of each size."""
    return lambda make: GENERATORS.register(name)(Generator(name, domain, least, make))


def sizes_of(name: str) -> list[str]:
    """The names of a generator's sizes, in order."""
    return list(GENERATORS.get(name).least)


def numbered(letters: str, number: int) -> list[str]:
    """Names of objects: `b1`, `b2`, ..."""
    return [f"{letters}{i}" for i in range(1, number + 1)]


def starts_and_goals(
    things: Sequence[str], places: Sequence[str], rng: random.Random
) -> tuple[list[str], list[str]]:
    """Where things are and where they belong, as atoms: uniform and independent, but not all in place."""
    while True:
        start, goal = ([f"at {thing} {rng.choice(places)}" for thing in things] for _ in range(2))
        if start != goal:
            return start, goal


def problem_text(domain: str, title: str, problem: Problem) -> str:
    """A problem of a domain, both in PDDL."""
    groups = [
        " ".join(names) + (f" - {kind}" if kind else "") for kind, names in problem.objects.items() if names
    ]
    costs = "(total-cost)" in domain
    facts = [f"({atom})" for atom in [*problem.init, *(["= (total-cost) 0"] if costs else [])]]
    lines = [
        f"(define (problem {title})",
        f"  (:domain {re.findall(r'[(]domain ([^)]+)', domain)[0]})",
        f"  (:objects {(chr(10) + ' ' * 12).join(groups)})",
        f"  (:init {' '.join(facts)})",
        f"  (:goal (and {' '.join(f'({atom})' for atom in problem.goal)}))",
    ]
    lines += ["  (:metric minimize (total-cost))"] if costs else []
    return "\n".join(lines) + ")\n"
