"""What a path pattern means."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import strategies as st

from ademem.search import hint_patterns as patterns

PATHS = st.lists(st.text("ab.-[]^!*", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
WILD = st.sampled_from(["", "?", "*", "**/", "[!z]", "[a-b.]", "[^]^]"])


def matches(path, glob):
    with closing(sqlite3.connect(":memory:")) as db:
        return bool(db.execute("select ? glob ?", (path, glob)).fetchone()[0])


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        pytest.param("src/*.py", ["src/a.py", "src/b/a.py"], ["a.py", "lib/src/a.py"], id="a star"),
        pytest.param(
            "src/**/*.py", ["src/a.py", "src/b/c/a.py"], ["src/a.ts"], id="any folders or none"
        ),
        pytest.param("**/auth.py", ["auth.py", "x/auth.py"], ["x/oauth.py"], id="in any folder"),
        pytest.param("a/**/b/**/c", ["a/b/c", "a/x/b/y/c"], ["a/c"], id="twice any folder"),
        pytest.param("Makefile", ["Makefile", "sub/Makefile"], ["Makefile.am"], id="a name"),
        pytest.param("src/auth.py", ["src/auth.py"], ["x/src/auth.py"], id="a path"),
        pytest.param("src/billing", ["src/billing/a.py"], ["src/billing.py"], id="a folder"),
        pytest.param("src/billing/", ["src/billing/a/b"], ["src/billing"], id="only a folder"),
        pytest.param("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.t"], id="either"),
        pytest.param("{a,b/{c,d}}/*", ["a/x", "b/c/x", "b/d/x"], ["b/x"], id="either in either"),
        pytest.param("[!a]*.py", ["b.py"], ["a.py"], id="another letter"),
        pytest.param(
            "pages/[id].tsx", ["pages/[id].tsx", "pages/i.tsx"], ["pages/x.tsx"], id="set"
        ),
        pytest.param("src/[a-*", ["src/[a-b"], ["src/a"], id="a bracket without end"),
        pytest.param("./src/*", ["src/a"], ["./src/a"], id="from here"),
        pytest.param("/src/*", ["src/a"], ["/src/a"], id="from the top"),
        pytest.param("", [], ["", "a"], id="nothing"),
        pytest.param("*" * 20 + "b", [], ["b"], id="too many stars"),
        pytest.param("a" * 1001, [], ["a" * 1001], id="too long"),
    ],
)
def test_a_pattern_means_what_people_expect(pattern, yes, no):
    found = patterns.expand_glob(pattern)

    assert [path for path in yes if not any(matches(path, each) for each in found)] == []
    assert [path for path in no if any(matches(path, each) for each in found)] == []


def test_braces_without_end_stay_few():
    assert len(patterns.expand_glob("{a,b}" * 12)) <= 4 * patterns.MOST_CHOICES
