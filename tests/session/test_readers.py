"""Which commands the shell takes for reading ones: no more than the tables of programs do."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.guard import readers
from ademem.guard.mutation import judge
from ademem.guard.shell import parse
from tests import shell_readers, shells
from tests.examples import examples

SHELLS = shells.installed("dash", "bash", "sh")
ASK = 'command=$1 && . "$2" && printf %s "$reads"'


def reads(command, shell="sh"):
    asked = [shell, "-c", ASK, "sh", command, shell_readers.FILE]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout == "1"


def test_the_file_is_that_of_the_tables():
    assert shell_readers.FILE.read_text() == shell_readers.script()


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls -la src", True),
        ("cat src/a.py | head -3", True),
        ("find . -name '*.py' | head", True),
        ("git log --oneline -5", True),
        ("git status --short", True),
        ("find . -delete", False),
        ("find . -exec rm x", False),
        ("git push", False),
        ("git diff --output=x", False),
        ("git -c core.pager=x log", False),
        ("sort --o=x y", False),
        ("sort -uo x y", False),
        ("ls; rm x", False),
        ("ls || rm x", False),
        ("cat x | sh", False),
        ("cat x > y", False),
        ("X=1 cat x", False),
        ("cat $(rm x)", False),
        ("cat `rm x`", False),
        ("ls \\n rm x", False),
        ("'rm' x", False),
        ("sort '-o' x y", False),
        ("python -m pytest -q tests/test_a.py", True),
        ("python3 -m mypy --html-report x", False),
        ("python -m pip install x", False),
        ("pytest --junit-xml=x", False),
        ("sed -n 1,40p src/a.py", True),
        ("sed -n '5p' a | head", True),
        ("sed -n 1,40p -i a", False),
        ("sed -n 1w a", False),
        ("sed -i s/a/b/ a", False),
        ("git", False),
        ("", False),
        (" | ls", False),
    ],
)
def test_a_command_reads_if_each_part_of_its_pipeline_does(command, expected, shell):
    assert reads(command, shell) is expected


NAMES = [*readers.list_reading(), "find", "git", "rm", "sh", "tee", "xargs", "git push", "sed"]
NAMES += ["pytest", "python -m pytest", "python3 -m ruff check", "sed -n 1,4p", "sed -n 5p"]
WORDS = st.sampled_from(
    "a -o -uo --output --out=x --o -w -n -i --fix --write -delete -exec rm {} + -x * ? src . -- | ;"
    " > < & ' \\ $x `x` = -c -u --pre=sh --update drop x=1 sh || && ~ ! (x) log -d -D".split()
)


@settings(max_examples=examples(150), deadline=None)
@given(parts=st.lists(st.tuples(st.sampled_from(NAMES), st.lists(WORDS, max_size=4)), max_size=3))
def test_what_the_shell_takes_for_reading_does_so_by_the_tables(parts):
    command = " | ".join(" ".join([name, *words]) for name, words in parts)
    if reads(command) and parse(command) is not None:  # else a shell runs nothing of it
        assert not judge(command).mutates, judge(command).reason
