"""The rules of each domain, by a plan that works and by steps that must not, and what is random."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from hstar.errors import InputError
from hstar.generators import (
    blocksworld,
    childsnack,
    ferry,
    gripper,
    logistics,
    miconic,
    rovers,
    satellite,
    sokoban,
    spanner,
    transport,
    visitall,
)
from hstar.generators.problem import Problem, problem_text
from hstar.spaces.lifted import LiftedTask
from hstar.spaces.lifted_state import validate_pddl
from hstar.spaces.pddl import parse_task


@dataclass(frozen=True)
class Rules:
    """A small problem, a plan with its cost, and steps that must not be possible after a part of it."""

    domain: str
    objects: dict[str, Sequence[str]]
    init: str
    goal: str
    plan: str
    cost: int
    impossible: list[tuple[str, int]]  # a step, and the number of steps of the plan before it

    def task(self) -> LiftedTask:
        problem = Problem(self.objects, words(self.init), words(self.goal))
        return parse_task(self.domain, problem_text(self.domain, "rules", problem))


def words(text: str) -> list[str]:
    return [" ".join(part.split()) for part in text.split(",")]


RULES = {
    "gripper": Rules(
        gripper.DOMAIN,
        {"": ["a", "b", "left", "b1", "b2"]},
        "room a, room b, gripper left, free left, ball b1, ball b2, at-robby a, at b1 a, at b2 a",
        "at b1 b",
        "move a a, pick b1 a left, move a b, drop b1 b left",
        4,
        [("pick b2 a left", 2), ("drop b1 a left", 3), ("move b a", 2), ("pick b1 b left", 1)],
    ),
    "visitall": Rules(
        visitall.DOMAIN,
        {"place": ["p", "q", "r"]},
        "at-robot p, visited p, connected p q, connected q p, connected q r",
        "visited r, visited p",
        "move p q, move q r",
        2,
        [("move p r", 0), ("move r q", 2), ("move q p", 0)],
    ),
    "logistics": Rules(
        logistics.DOMAIN,
        {
            "city": ["x", "y"],
            "airport": ["xa", "ya"],
            "location": ["xb"],
            "truck": ["t"],
            "airplane": ["f"],
            "package": ["p"],
        },
        "in-city xa x, in-city xb x, in-city ya y, at t xa, at f xa, at p xb",
        "at p ya",
        "drive t xa xb x, load p t xb, drive t xb xa x, unload p t xa, load p f xa,"
        "fly f xa ya, unload p f ya",
        7,
        [
            ("drive t xa ya x", 0),
            ("fly f xa xb", 0),
            ("load p t xb", 0),
            ("unload p f xa", 4),
            ("load p f xb", 2),
        ],
    ),
    "satellite": Rules(
        satellite.DOMAIN,
        {"satellite": ["s"], "instrument": ["i", "j"], "mode": ["m", "n"], "direction": ["d", "e"]},
        "on-board i s, on-board j s, supports i m, supports j n, calibration-target i d,"
        "calibration-target j d, pointing s e, power-avail s",
        "have-image e m",
        "switch-on i s, turn-to s d e, calibrate s i d, turn-to s e d, take-image s e i m",
        5,
        [
            ("switch-on j s", 1),  # one at a time
            ("take-image s e i m", 1),  # calibrated first
            ("take-image s d i n", 3),  # a mode of its own
            ("calibrate s i d", 1),  # towards the target
            ("take-image s d i m", 4),  # where it looks
            ("switch-off j s", 1),
        ],
    ),
    "transport": Rules(
        transport.DOMAIN,
        {"location": ["k", "l"], "vehicle": ["v"], "package": ["p", "q"], "level": ["n0", "n1"]},
        "road k l, = (road-length k l) 7, at v k, capacity v n1, capacity-predecessor n0 n1,at p k, at q k",
        "at p l",
        "pick-up v k p n0 n1, drive v k l, drop v l p n0 n1",
        9,
        [("pick-up v k q n0 n1", 1), ("drive v l k", 2), ("drop v k p n0 n1", 2), ("drop v k q n0 n1", 1)],
    ),
    "miconic": Rules(
        miconic.DOMAIN,
        {"floor": ["f", "g", "h"], "passenger": ["p"]},
        "above f g, above f h, above g h, lift-at g, origin p h, destin p f",
        "served p",
        "up g h, board h p, down h f, depart f p",
        4,
        [("board g p", 0), ("down g h", 0), ("depart h p", 2), ("up h f", 1), ("depart f p", 4)],
    ),
    "spanner": Rules(
        spanner.DOMAIN,
        {"man": ["bob"], "spanner": ["s", "t"], "nut": ["n", "o"], "location": ["shed", "l", "gate"]},
        "link shed l, link l gate, at bob shed, at s l, at t l, usable s, usable t,"
        "at n gate, at o gate, loose n, loose o",
        "tightened n",
        "walk shed l bob, pick-up l s bob, walk l gate bob, tighten gate s bob n",
        4,
        [
            ("walk l shed bob", 1),  # one way
            ("tighten gate s bob o", 4),  # a spanner serves once
            ("tighten gate t bob o", 3),  # it was left behind
            ("pick-up l t bob", 3),
        ],
    ),
    "childsnack": Rules(
        childsnack.DOMAIN,
        {
            "child": ["c", "d"],
            "tray": ["t"],
            "sandwich": ["s", "z"],
            "bread": ["b", "e"],
            "filling": ["f", "g"],
            "place": ["table"],
        },
        "at t kitchen, not-made s, not-made z, bread-in-kitchen b, bread-in-kitchen e, filling-in-kitchen f,"
        "filling-in-kitchen g, gluten-free-bread b, gluten-free-filling f, allergic c, not-allergic d,"
        "waiting c table, waiting d table",
        "served c, served d",
        "make-gluten-free-sandwich s b f, make-sandwich z e g, put-on-tray s t, put-on-tray z t,"
        "move-tray t kitchen table, serve-gluten-free s c t table, serve z d t table",
        7,
        [
            ("make-gluten-free-sandwich s b g", 0),
            ("make-sandwich z b g", 1),  # the bread is used
            ("make-sandwich s e g", 1),  # it is made
            ("serve-gluten-free z c t table", 5),
            ("serve s c t table", 5),
            ("serve s d t table", 4),  # the tray is in the kitchen
            ("serve s d t table", 6),  # and the sandwich eaten
        ],
    ),
    "rovers": Rules(
        rovers.DOMAIN,
        {
            "rover": ["r"],
            "waypoint": ["w", "x"],
            "store": ["s"],
            "camera": ["c"],
            "mode": ["m", "n"],
            "lander": ["l"],
            "objective": ["o"],
        },
        "at r w, at-lander l x, visible w x, visible x w, can-traverse r w x, can-traverse r x w,"
        "store-of s r, empty s, equipped-for-soil-analysis r, equipped-for-imaging r, at-soil-sample w,"
        "at-soil-sample x, at-rock-sample w, on-board c r, supports c m, calibration-target c o,"
        "visible-from o x",
        "communicated-soil-data w, communicated-image-data o m",
        "sample-soil r s w, communicate-soil-data r l w w x, navigate r w x, calibrate r c o x,"
        "take-image r x o c m, navigate r x w, communicate-image-data r l o m w x",
        7,
        [
            ("sample-rock r s w", 0),  # not equipped
            ("sample-soil r s x", 3),  # the store is full
            ("communicate-soil-data r l w w x", 0),
            ("communicate-soil-data r l w x x", 3),  # the lander is not seen from its own place
            ("calibrate r c o w", 2),
            ("take-image r x o c n", 4),
            ("take-image r x o c m", 5),  # once a calibration
        ],
    ),
    "sokoban": Rules(
        sokoban.DOMAIN,
        {"cell": ["a", "b", "c", "d", "e"], "direction": ["right", "left"], "stone": ["s", "t"]},
        "next a b right, next b c right, next c d right, next d e right, next b a left, next c b left,"
        "next d c left, next e d left, at-player a, clear b, at s c, clear d, at t e, at-goal t, is-goal d,"
        "is-goal e, is-nongoal a, is-nongoal b, is-nongoal c",
        "at-goal s, at-goal t",
        "move a b right, push-to-goal s b c d right",
        1,
        [
            ("push-to-goal s b c d right", 0),  # the player is not beside it
            ("move b c right", 1),  # there is a stone
            ("push-to-nongoal s b c d right", 1),
            ("push-to-goal s c d e right", 2),  # not two stones at once
        ],
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_rules(name: str) -> None:
    rules = RULES[name]
    task = rules.task()
    plan = words(rules.plan)
    verdict = validate_pddl(task, plan)
    assert (verdict.valid, verdict.cost) == (True, rules.cost), verdict.reason
    for step, after in rules.impossible:
        assert validate_pddl(task, plan[:after]).step is None
        assert validate_pddl(task, [*plan[:after], step]).step == after + 1, (step, after)


# --- what is random ---------------------------------------------------------------------------------------


def chi_squared(counts: Counter[str], classes: int) -> float:
    expected = counts.total() / classes
    assert len(counts) <= classes
    return sum((n - expected) ** 2 / expected for n in counts.values()) + expected * (classes - len(counts))


def test_gripper_rooms_are_fair_coins() -> None:
    """Two balls and the robot: 24 unsolved problems, equally likely. The bound is far beyond 99.99 %."""
    counts: Counter[str] = Counter()
    for seed in range(1200):
        task = parse_task(*gripper.generate(2, seed=seed))
        assert ("at-robby", "rooma") in task.problem.init or ("at-robby", "roomb") in task.problem.init
        fluents = sorted(atom for atom in task.fluent_init if atom[0] != "free")
        counts[str((fluents, task.goal_atoms))] += 1
    assert len(counts) == 24
    assert chi_squared(counts, 24) < 62


def test_visitall_starts_anywhere_and_wants_cells_independently() -> None:
    starts: Counter[str] = Counter()
    wanted: Counter[tuple[bool, bool]] = Counter()
    for seed in range(1600):
        task = parse_task(*visitall.generate(2, 4, 25, seed=seed))
        start = next(atom[1] for atom in task.problem.init if atom[0] == "at-robot")
        goal = {atom[1] for atom in task.goal_atoms}
        assert start in goal
        assert ("visited", start) in task.problem.init
        starts[start] += 1
        if start == "c0-0":
            wanted[("c0-1" in goal, "c1-3" in goal)] += 1
    assert chi_squared(starts, 8) < 32
    # About 200 starts there. Without the problems that have no other goal (0.75 ** 7 = 13 %) two given cells
    # are both wanted in 7 % and neither in 49 % of all.
    share = {pair: number / wanted.total() for pair, number in wanted.items()}
    assert 0.02 < share[True, True] < 0.13
    assert 0.12 < share[True, False] < 0.32
    assert 0.37 < share[False, False] < 0.62


def test_visitall_grids_have_no_holes() -> None:
    task = parse_task(*visitall.generate(3, 4, 100, seed=1))
    assert len(task.goal_atoms) == 12
    connected = {atom[1:] for atom in task.static_facts}
    assert len(connected) == 2 * (3 * 3 + 2 * 4)
    assert all((there, here) in connected for here, there in connected)


def test_paper_domains_have_the_symbols_of_the_paper() -> None:
    """Networks count predicates by arity: these are the inputs that the published ones have."""
    texts = {
        "blocksworld": blocksworld.generate(5, seed=0),
        "ferry": ferry.generate(3, 2, seed=0),
        "gripper": gripper.generate(3, seed=0),
        "visitall": visitall.generate(3, 3, 50, seed=0),
    }
    arities = {
        name: Counter(map(len, parse_task(*both).domain.predicates.values())) for name, both in texts.items()
    }
    assert arities == {
        "blocksworld": {0: 1, 1: 3, 2: 1},
        "ferry": {0: 1, 1: 4, 2: 2},
        "gripper": {1: 5, 2: 2},
        "visitall": {1: 2, 2: 1},
    }


def related(task: LiftedTask, predicate: str) -> set[tuple[str, ...]]:
    return {atom[1:] for atom in task.problem.init if atom[0] == predicate}


def connects(pairs: set[tuple[str, ...]], places: Sequence[str]) -> bool:
    reached = {places[0]}
    for _ in places:
        reached |= {there for here, there in pairs if here in reached}
    return reached == set(places)


def test_satellites_can_take_every_image() -> None:
    for seed in range(40):
        task = parse_task(*satellite.generate(2, 1, 4, 3, 5, seed=seed))
        able = {instrument for instrument, _ in related(task, "calibration-target")}
        assert able == {instrument for instrument, _ in related(task, "on-board")}
        assert {mode for _, mode in related(task, "supports")} == set(task.objects_of("mode"))


def test_rovers_can_do_every_job() -> None:
    for seed in range(40):
        task = parse_task(*rovers.generate(2, 5, 3, 2, 9, seed=seed))
        places, visible = task.objects_of("waypoint"), related(task, "visible")
        for rover in task.objects_of("rover"):
            ways = {(here, there) for who, here, there in related(task, "can-traverse") if who == rover}
            assert ways <= visible
            assert connects(ways, places)
        assert all(related(task, f"equipped-for-{kind}") for kind in rovers.EQUIPMENT)
        photographers = related(task, "equipped-for-imaging")
        assert {(rover,) for _, rover in related(task, "on-board")} <= photographers
        assert {mode for _, mode in related(task, "supports")} == set(rovers.MODES)
        assert {view for view, _ in related(task, "visible-from")} == set(task.objects_of("objective"))
        for kind in ("soil", "rock"):
            wanted = {atom[1:] for atom in task.goal_atoms if atom[0] == f"communicated-{kind}-data"}
            assert wanted <= related(task, f"at-{kind}-sample")


def test_transport_roads_connect_and_have_their_lengths() -> None:
    for seed in range(20):
        roads = transport.random_roads(12, random.Random(seed))
        reached = {0}
        for _ in range(12):
            reached |= {end for pair in roads for end in pair if reached & set(pair)}
        assert reached == set(range(12))
        assert all(i < j and 1 <= length <= 15 for (i, j), length in roads.items())
    assert [transport._tenth(square) for square in (0, 1, 100, 101, 400, 401)] == [1, 1, 1, 2, 2, 3]


def test_sokoban_has_its_walls_and_stones() -> None:
    for seed in range(10):
        task = parse_task(*sokoban.generate(5, 6, 3, 12, seed=seed))
        counts = Counter(atom[0] for atom in task.problem.init)
        assert len(task.objects_of("cell")) == counts["is-goal"] + counts["is-nongoal"] == 18
        assert counts["is-goal"] == counts["at"] == 3
        assert counts["clear"] == 18 - 4


def can_be_solved(task: LiftedTask) -> bool:
    """Blind search over the places of the player and of the stones, by the rules of the game."""
    init = task.problem.init
    beside = {(cell, way): other for name, cell, *more in init if name == "next" for other, way in [more]}
    goals = {atom[1] for atom in init if atom[0] == "is-goal"}
    player = next(atom[1] for atom in init if atom[0] == "at-player")
    first = (player, frozenset(atom[2] for atom in init if atom[0] == "at"))
    seen, frontier = {first}, [first]
    while frontier:
        player, stones = frontier.pop()
        if stones == goals:
            return True
        for way in sokoban.WAYS:
            cell = beside.get((player, way), "")
            behind = beside.get((cell, way), "")
            if cell in stones and behind and behind not in stones:
                new = (cell, stones - {cell} | {behind})
            elif cell and cell not in stones:
                new = (cell, stones)
            else:
                continue
            if new not in seen:
                seen.add(new)
                frontier.append(new)
    return False


def test_sokoban_levels_can_be_solved() -> None:
    """Narrow ones, where the player does not reach everything."""
    for seed in range(60):
        assert can_be_solved(parse_task(*sokoban.generate(4, 5, 2, 9, seed=seed))), seed


def test_sokoban_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sokoban, "TRIES", 0)
    with pytest.raises(InputError, match="sokoban found no level of 5 x 6 cells with 0 walls and 1 stones"):
        sokoban.generate(5, 6, 1, 0, seed=0)
