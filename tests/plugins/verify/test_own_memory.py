"""The anchors of this repository's own memory hold."""

from tests.test_own_memory import checkout as checkout
from tests.test_own_memory import test_the_memory_of_this_project_is_sound as check_sound


def test_they_are_those_of_today(checkout, monkeypatch, capsys):
    check_sound(checkout, "verify", monkeypatch, capsys)
