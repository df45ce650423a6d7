"""Settings: defaults, then the file, then the environment; what cannot be meant is refused."""

import pytest

from ademem.configuration import CHOICES, BadSetting, load
from ademem.settings import Settings
from ademem.value import as_dict


@pytest.fixture
def read(tmp_path):
    """The settings that a file with this text and an environment make."""
    path = tmp_path / "config.toml"

    def read(text="", **environment):
        path.write_text(text, encoding="utf-8")
        return load(str(path), environment)

    return read


def test_without_a_file_everything_is_default(tmp_path):
    assert load(str(tmp_path / "missing.toml"), {}) == Settings()


def test_a_file_changes_what_it_names_and_nothing_else(read):
    settings = read('[gate]\nnear_duplicate = 0.9\n[guard]\nmode = "warn"\n')

    assert settings.gate.near_duplicate == 0.9
    assert settings.gate.max_chars == Settings().gate.max_chars
    assert settings.guard.mode == "warn"
    assert settings.search == Settings().search


def test_the_environment_wins_over_the_file(read):
    settings = read(
        '[guard]\nmode = "warn"\nmax_blocks = 5\n',
        ADEMEM_GUARD_MODE="off",
        ADEMEM_SEARCH_LIMIT="3",
        PATH="/bin",
    )

    assert (settings.guard.mode, settings.guard.max_blocks) == ("off", 5)
    assert settings.search.limit == 3


@pytest.mark.parametrize(
    "name",
    [
        "ADEMEM_DISABLE",
        "ADEMEM_AI_KEY",
        "ADEMEM_ASKED",
        "ADEMEM_PROJECT",
        "ADEMEM_GUARD",
        "ADEMEM_GUARD_",
        "ademem_guard_mode",
    ],
)
def test_other_variables_are_no_settings(read, name):
    assert read(**{name: "1"}) == Settings()


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        pytest.param("jobs.auto = false", False, id="a boolean"),
        pytest.param('jobs.auto = "off"', False, id="a word for one"),
        pytest.param("jobs.auto = 1", True, id="a number for one"),
        pytest.param("search.limit = 7", 7, id="a number"),
        pytest.param("search.limit = 7.0", 7, id="a whole number with a point"),
        pytest.param("search.floor = 1", 1.0, id="a number without one"),
        pytest.param("search.tier_bonus = [1, 2.5, 3]", (1.0, 2.5, 3.0), id="numbers"),
        pytest.param('guard.mutating_mcp = ["go"]', ("go",), id="words"),
        pytest.param("guard.mutating_mcp = []", (), id="no words"),
    ],
)
def test_values_take_the_type_of_their_default(read, text, read_as):
    section, key = text.partition(" ")[0].split(".")
    found = getattr(getattr(read(text), section), key)

    assert found == read_as
    assert type(found) is type(read_as)


@pytest.mark.parametrize(
    ("variable", "text", "read_as"),
    [
        ("ADEMEM_JOBS_AUTO", "No", False),
        ("ADEMEM_CAPTURE_ASK_AT_STOP", "yes", True),
        ("ADEMEM_SEARCH_FLOOR", "0.5", 0.5),
        ("ADEMEM_SEARCH_TIER_BONUS", "1, 2,3", (1.0, 2.0, 3.0)),
        ("ADEMEM_GUARD_MUTATING_MCP", "write, edit,", ("write", "edit")),
        ("ADEMEM_GUARD_MUTATING_MCP", "", ()),
    ],
)
def test_text_of_the_environment_is_parsed(read, variable, text, read_as):
    section, _, key = variable.removeprefix("ADEMEM_").lower().partition("_")

    assert getattr(getattr(read(**{variable: text}), section), key) == read_as


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        pytest.param("[gurad]\n", "'gurad' in the settings; did you mean 'guard'", id="section"),
        pytest.param("[guard]\nmoed = 1", r"'moed' in \[guard\]; did you mean 'mode'", id="key"),
        pytest.param("mode = 'off'", "unknown setting 'mode'", id="key without section"),
        pytest.param("guard = 'off'", r"\[guard\] is a section", id="value for a section"),
        pytest.param("[guard]\nmode = 'loud'", "it may be strict, assist", id="no such choice"),
        pytest.param("[guard]\nmode = 1", "guard.mode cannot be 1", id="number for a word"),
        pytest.param("[guard]\nmax_blocks = true", "cannot be True", id="truth for a number"),
        pytest.param("[guard]\nmax_blocks = 1.5", "cannot be 1.5", id="part of a thing"),
        pytest.param("[guard]\nmax_blocks = inf", "cannot be inf", id="endless things"),
        pytest.param("[guard]\nmax_blocks = [1]", r"cannot be \[1\]", id="list for a number"),
        pytest.param("[search]\nfloor = nan", "cannot be nan", id="no number"),
        pytest.param("[search]\nfloor = 'low'", "its default is 0.25", id="word for a number"),
        pytest.param("[search]\ntier_bonus = [1]", "tier_bonus cannot be", id="too few numbers"),
        pytest.param("[search]\ntier_bonus = 1", "tier_bonus cannot be", id="number for a list"),
        pytest.param("[guard.mutating_mcp]\na = 1", "cannot be {'a': 1}", id="table for a list"),
        pytest.param("[guard]\nmutating_mcp = [1]", r"cannot be 1", id="number among words"),
        pytest.param("[jobs]\nauto = 'maybe'", "cannot be 'maybe'", id="neither yes nor no"),
        pytest.param("[jobs]\nauto = 2", "cannot be 2", id="neither one nor zero"),
        pytest.param("[guard\n", "config.toml", id="not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(read, text, complaint):
    with pytest.raises(BadSetting, match=complaint) as refusal:
        read(text)

    assert refusal.value.hint


@pytest.mark.parametrize(
    ("variable", "complaint"),
    [
        ("ADEMEM_GUARD_MOED", "did you mean 'mode'"),
        ("ADEMEM_SEARCH_LIMIT", "cannot be 'x'"),
    ],
)
def test_the_environment_is_held_to_the_same(read, variable, complaint):
    with pytest.raises(BadSetting, match=complaint):
        read(**{variable: "x"})


def test_a_section_that_is_a_value_is_refused_also_when_the_environment_has_more(read):
    with pytest.raises(BadSetting, match="is a section"):
        read("guard = 'off'", ADEMEM_GUARD_MODE="off")


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "config.toml"
    path.write_bytes(b'[guard]\nmode = "\xff"\n')

    with pytest.raises(BadSetting, match=r"config\.toml"):
        load(str(path), {})


def test_every_choice_has_its_default_among_them():
    for (section, key), choices in CHOICES.items():
        assert as_dict(getattr(Settings(), section))[key] in choices
