"""Hooks cache as with `functools`, and load neither it nor what it loads."""

import subprocess
import sys
from pathlib import Path

from ademem.core.caching import cached_property, lru_cache

ROOT = Path(__file__).parents[2]
LOAD = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from ademem.store import database
database.connect(":memory:", 0).execute("select 1")
print("collections" in sys.modules)
import functools
print(functools.partial(max, 1)(2))
"""


def test_the_oldest_answer_of_a_full_cache_is_asked_again():
    asked = []
    double = lru_cache(maxsize=2)(lambda number: asked.append(number) or 2 * number)

    assert [double(number) for number in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert asked == [1, 2, 3, 2]


def test_a_cached_property_is_computed_once_an_object():
    class Word:
        def __init__(self, text):
            self.text, self.asked = text, 0

        @cached_property
        def folded(self):
            self.asked += 1
            return self.text.casefold()

    first, second = Word("A"), Word("B")

    assert [first.folded, first.folded, second.folded] == ["a", "a", "b"]
    assert (first.asked, second.asked) == (1, 1)


def test_a_database_is_opened_without_collections_and_leaves_functools_as_it_is():
    ran = subprocess.run(
        [sys.executable, "-IS", "-c", LOAD], capture_output=True, text=True, check=True
    )

    assert ran.stdout.split() == ["False", "2"]
