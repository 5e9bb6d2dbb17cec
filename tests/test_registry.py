"""Named parts: registered once, listed in order, unknown names answered with the known ones."""

from __future__ import annotations

import importlib
import inspect

import pytest

import hstar
from hstar.errors import HstarError, InputError
from hstar.generators import GENERATORS
from hstar.registry import Registry, unknown
from hstar.spaces.load import SPACES
from hstar.spaces.task import Translation, load_task


@pytest.fixture
def table() -> Registry[type]:
    registry: Registry[type] = Registry("colour")
    registry.register("red")(int)
    registry.register("blue")(str)
    return registry


def test_the_decorator_returns_the_part(table: Registry[type]) -> None:
    @table.register("green")
    class Green:
        pass

    assert isinstance(Green, type)
    assert table.get("green") is Green


def test_names_keep_the_order_of_registration(table: Registry[type]) -> None:
    assert table.names() == list(table) == ["red", "blue"]
    assert len(table) == 2
    table.names().append("spoiled")
    assert table.names() == ["red", "blue"]


def test_duplicates_are_refused_and_change_nothing(table: Registry[type]) -> None:
    with pytest.raises(ValueError, match="colour 'red' is registered twice"):
        table.register("red")(float)
    assert table.get("red") is int


def test_unknown_names_are_answered_with_the_known_ones(table: Registry[type]) -> None:
    with pytest.raises(InputError) as caught:
        table.get("bleu")
    assert str(caught.value) == "unknown colour 'bleu' (known: red, blue); did you mean 'blue'?"
    with pytest.raises(InputError, match=r"unknown colour 'xyz' \(known: red, blue\)$"):
        table.get("xyz")
    assert caught.value.exit_code == 33


def test_the_empty_registry_says_so() -> None:
    assert str(unknown("part", "x", [])) == "unknown part 'x' (known: )"


@pytest.mark.parametrize(
    "names",
    [
        [info.name for info in hstar.heuristics()],
        [info.name for info in hstar.searches()],
        GENERATORS.names(),
    ],
)
def test_every_registry_has_distinct_lower_case_names(names: list[str]) -> None:
    assert names
    assert len(names) == len(set(names))
    assert all(name == name.lower() and name.isidentifier() for name in names)


def test_searches_and_heuristics_describe_themselves() -> None:
    for info in [*hstar.heuristics(), *hstar.searches()]:
        assert info.description
        assert info.reference
        assert not info.description.endswith(".")


def test_everything_public_exists_and_is_documented() -> None:
    assert sorted(hstar.__all__) == dir(hstar)
    for name in hstar.__all__:
        part = getattr(hstar, name)
        assert name == "__version__" or part.__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hstar.nothing  # noqa: B018


def test_errors_have_one_base_and_the_exit_codes_of_fast_downward() -> None:
    errors = importlib.import_module("hstar.errors")
    codes = {}
    for name, part in vars(errors).items():
        if isinstance(part, type) and issubclass(part, Exception):
            assert issubclass(part, HstarError), name
            codes[name] = part.exit_code
    assert (codes["PDDLError"], codes["InputError"], codes["UnsupportedError"]) == (31, 33, 34)
    assert all(code >= 30 for code in codes.values())


def test_an_input_error_names_file_and_line() -> None:
    assert str(InputError("bad", file="a.sas", line=3)) == "a.sas:3: bad"
    assert str(InputError("bad", file="a.sas")) == "a.sas: bad"
    assert str(InputError("bad")) == "bad"


def test_help_names_every_option() -> None:
    for name in hstar.__all__:
        function = getattr(hstar, name)
        if inspect.isfunction(function):
            kinds = [one.kind for one in inspect.signature(function).parameters.values()]
            assert inspect.Parameter.VAR_KEYWORD not in kinds, name
    assert {*inspect.signature(hstar.load).parameters} == {
        *("source", "problem"),
        *inspect.signature(load_task).parameters.keys() - {"domain", "translation"},
        *Translation.__annotations__,
        *inspect.signature(SPACES.get("map").load).parameters.keys(),
    }
