"""Values: frozen, keyword-only, compared by what is in them; and closed sets of them."""

import copy
import pickle

import pytest

from ademem.core.value import IntEnum, StrEnum, Value, as_dict, replace


class Point(Value):
    x: int
    y: int = 0
    _cache: int = 7


class Place(Point):
    name: str
    y: int = 5


def test_fields_left_out_take_their_defaults():
    assert as_dict(Point(x=1)) == {"x": 1, "y": 0}
    assert as_dict(Place(x=1, name="here")) == {"x": 1, "y": 5, "name": "here"}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        pytest.param({}, r"Point: unknown fields \[\], missing fields \['x'\]", id="missing"),
        pytest.param({"x": 1, "z": 2}, r"unknown fields \['z'\]", id="unknown"),
        pytest.param({"y": 1, "z": 2}, r"\['z'\], missing fields \['x'\]", id="both"),
        pytest.param({"x": 1, "_cache": 2}, "unknown", id="private names are not fields"),
    ],
)
def test_what_does_not_fit_is_named(given, complaint):
    with pytest.raises(TypeError, match=complaint):
        Point(**given)


def test_positions_mean_nothing():
    with pytest.raises(TypeError):
        Point(1)


def test_a_value_cannot_be_changed():
    point = Point(x=1)

    with pytest.raises(AttributeError, match="Point is frozen"):
        point.x = 2
    with pytest.raises(AttributeError, match="Point is frozen"):
        del point.x
    assert point.x == 1


def test_replacing_makes_another_value_and_keeps_the_first():
    point = Place(x=1, name="here")

    assert replace(point, x=2, name="there") == Place(x=2, y=5, name="there")
    assert point == Place(x=1, name="here")
    with pytest.raises(TypeError, match="colour"):
        replace(point, colour="red")


def test_values_are_equal_by_kind_and_content():
    assert Point(x=1, y=2) == Point(y=2, x=1)
    assert hash(Point(x=1, y=2)) == hash(Point(y=2, x=1))
    assert Point(x=1) != Point(x=2)
    assert Point(x=1, y=5) != Place(x=1, name="")
    assert len({Point(x=1), Point(x=1), Point(x=2)}) == 2


def test_a_value_shows_what_would_make_it():
    point = Place(x=1, name="here")

    assert repr(point) == "Place(x=1, name='here', y=5)"
    assert eval(repr(point)) == point


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_a_copy_is_equal(twin):
    assert twin(Point(x=1)) == Point(x=1)


def test_a_value_can_be_taken_apart():
    match Point(x=1, y=2):
        case Point(x=1, y=y):
            assert y == 2
        case _:
            pytest.fail("no match")


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"

    @property
    def is_warm(self):
        return self is Colour.RED


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


def test_members_are_found_by_value_and_are_values_themselves():
    assert Colour("blue") is Colour.BLUE
    assert Size(2) is Size.LARGE
    assert Colour.BLUE == "blue" == f"{Colour.BLUE}" == Colour.BLUE.value
    assert Size.SMALL + 1 == Size.LARGE
    assert {"red": 1}[Colour.RED] == 1
    assert [*Colour, *Size] == ["red", "blue", 1, 2]
    assert [colour.is_warm for colour in Colour] == [True, False]


@pytest.mark.parametrize("value", ["green", "RED", 1, None, []])
def test_a_value_of_no_member_is_refused(value):
    with pytest.raises(ValueError, match="is not a valid Colour"):
        Colour(value)


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))]
)
def test_a_copy_of_a_member_is_the_member(twin):
    assert twin(Colour.RED) is Colour.RED
    assert twin(Size.LARGE) is Size.LARGE
