"""What a path pattern means, and that no index and no sieve loses a match."""

import sqlite3
import subprocess
from contextlib import closing
from fnmatch import fnmatchcase

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ademem.search import hint_patterns as patterns
from tests.examples import examples

PATHS = st.lists(st.text("ab.-[]^!*", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)
PATTERNS = st.lists(
    st.sampled_from(["a", "b", ".", "/", "-", "[", "]", "^", "!", "*", "?", "**/", "[!", "[a-b]"]),
    min_size=1,
    max_size=9,
).map("".join)


def matches(path, pattern):
    """What the index says of them, all of it in SQL."""
    glob = patterns.as_glob(pattern)
    with closing(sqlite3.connect(":memory:")) as db:
        return glob is not None and bool(db.execute("select ? glob ?", (path, glob)).fetchone()[0])


@settings(max_examples=examples(400), deadline=None)
@given(path=PATHS, pattern=PATTERNS)
@example(path="a]", pattern="[]a]]")
@example(path="^", pattern="[^]")
@example(path="-", pattern="[a^-]")
@example(path="a", pattern="[!b-a]")
@example(path="b", pattern="[b-a]")
def test_sqlite_matches_what_fnmatch_does(path, pattern):
    assert matches(path, pattern) == fnmatchcase(path, pattern)


@st.composite
def pairs(draw):
    """A path and a pattern that was made of it, and may match it."""
    path = draw(PATHS)
    wild = st.sampled_from(["", "?", "*", "**/", "[!z]", "[]-^ab]", "[!]]"])
    start, end = sorted(draw(st.tuples(*[st.integers(0, len(path))] * 2)))
    return path, path[:start] + draw(wild) + draw(wild) + path[end:]


@settings(max_examples=examples(400), deadline=None)
@given(pair=pairs())
def test_a_pattern_is_found_under_a_key_of_each_path_it_matches(pair):
    path, pattern = pair

    assert not fnmatchcase(path, pattern) or patterns.glob_key(pattern) in patterns.path_keys(path)


@settings(max_examples=examples(100), deadline=None)
@given(pair=pairs())
def test_grep_lets_every_match_through(tmp_path_factory, pair):
    path, pattern = pair
    matching = fnmatchcase(path, pattern)
    lists = tmp_path_factory.getbasetemp() / "files"
    lists.write_text(f"/{patterns.glob_regex(patterns.as_glob(pattern) or '')}$\n")
    command = ["grep", "-q", "-f", str(lists)]
    ran = subprocess.run(command, input=f"/p/{path}\n".encode(), check=False)

    assert ran.returncode <= (not matching)


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


@pytest.mark.parametrize(
    ("pattern", "key"),
    [
        pytest.param("src/auth.py", "src/auth.py", id="the path"),
        pytest.param("src/*/auth.py", "*/auth.py", id="the name"),
        pytest.param("src/auth/*.py", "src/auth/", id="the folder"),
        pytest.param("*.test.ts", "*.test.ts", id="the suffix"),
        pytest.param("*auth*", "*", id="anything"),
    ],
)
def test_the_key_is_the_rarest_part(pattern, key):
    assert patterns.glob_key(pattern) == key


def test_braces_without_end_stay_few():
    assert len(patterns.expand_glob("{a,b}" * 12)) <= 4 * patterns.MOST_CHOICES
