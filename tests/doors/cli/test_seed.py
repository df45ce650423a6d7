"""What the seed documents say of commands, a test by statement."""

import pytest

from ademem.core import who


def test_a_recall_of_an_unknown_type_is_wrong_usage_and_names_the_types(ademem):
    said = ademem("recall", "crane", "--type", "nonsense")

    assert ademem.exit_code == 2
    assert "nonsense" in said
    for name in ("learned", "decision", "bugfix", "convention"):
        assert name in said


def test_a_type_that_is_a_tag_of_a_memory_is_none_of_these(ademem):
    ademem("add", "The harbour crane needs two keys", "--tags", "harbour")

    assert "crane" in ademem("recall", "crane", "--type", "harbour")


def test_a_recall_on_a_keyword_that_one_entry_has_prints_that_entry(ademem):
    ademem("add", "The harbour crane needs two keys")
    ademem("add", "Invoices are rounded half to even")

    assert "The harbour crane needs two keys" in ademem("recall", "harbour")
    assert ademem.exit_code == 0


def test_get_of_a_deleted_memory_says_so_and_prints_no_text(ademem):
    id = ademem.json("add", "The harbour crane needs two keys")["memory"]["id"]
    ademem("delete", id)
    said = ademem("get", id)

    assert f"{id} was deleted on " in said
    assert "crane" not in said
    assert (ademem.exit_code, f"ademem restore {id}" in said) == (1, True)
    assert "crane" in ademem("get", id, "--deleted")


@pytest.mark.parametrize(
    ("key", "value", "code"),
    [
        ("guard.mode", "strict", 0),
        ("guard.mode", "off", 4),
        ("embed.offline", "true", 0),
    ],
)
def test_what_makes_stricter_is_allowed_from_scripts(ademem, key, value, code):
    script = who.Who(by=who.By.UNKNOWN, why="no terminal belongs to this process")
    ademem.monkeypatch.setattr(who, "of_process", lambda *_: script)
    said = ademem("config", "set", key, value, "--local")

    assert ademem.exit_code == code, said
    ademem("config", "set", "guard.mode", "strict", "--user")
    assert ademem.exit_code == 4
