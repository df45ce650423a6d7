"""Count the words by which code decides about people's texts, at a revision and now.

    python -m bench.word_lists [REVISION]

A word has three letters or more and stands in a string of the code; docstrings and comments do not
count. Printed are the words of an area, how many different ones it has, and its lines.
"""

from __future__ import annotations

import argparse
import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

BEFORE = "3f7b6c0d"
"""The last revision without a trained judge."""
AREAS = {
    "orders to a model": ("guard/injection/",),
    "statements in prompts": (
        "capture/message_lessons",
        "capture/prompt_lessons",
        "capture/teaching",
        "capture/stating",
    ),
    "what a prompt asks for": ("guard/prompts",),
    "which of two texts is true now": (
        "search/contradiction",
        "search/opposition",
        "search/newer",
        "search/neighbours",
        "capture/gate/relating",
    ),
    "secrets": ("core/redaction", "core/credential_"),
    "what the write gate turns away": ("capture/gate/rules",),
    "code that a command starts": ("guard/interpreted_code",),
}
"""Beginnings of the names of their modules below `ademem`."""


def words_in(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documented:
                yield from re.findall(r"[^\W\d_]{3,}", text.lower())


def count(sources: dict[str, str], beginnings: tuple[str, ...]) -> tuple[str, str]:
    """Return how many words with how many different ones, and how many lines the modules have."""
    of_area = [text for name, text in sources.items() if name.startswith(beginnings)]
    words = [word for text in of_area for word in words_in(text)]
    lines = sum(len(text.splitlines()) for text in of_area)
    return f"{len(words):,}, {len(set(words)):,} different", f"{lines:,}"


def read_revision(revision: str) -> dict[str, str]:
    names = _git("ls-tree", "-r", "--name-only", revision, "ademem").split()
    return {
        name.removeprefix("ademem/"): _git("show", f"{revision}:{name}")
        for name in names
        if name.endswith(".py") and name.removeprefix("ademem/").startswith(_all_beginnings())
    }


def _all_beginnings() -> tuple[str, ...]:
    return tuple(beginning for each in AREAS.values() for beginning in each)


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("revision", nargs="?", default=BEFORE)
    revision = parser.parse_args().revision
    before = read_revision(revision)
    now = {
        str(path.relative_to("ademem")): path.read_text() for path in Path("ademem").rglob("*.py")
    }
    print(f"| | words at {revision} | now | lines | now |")
    print("|---|---|---|---|---|")
    for area, beginnings in AREAS.items():
        (words, lines), (words_now, lines_now) = (count(each, beginnings) for each in (before, now))
        print(f"| {area} | {words} | {words_now} | {lines} | {lines_now} |")


if __name__ == "__main__":
    main()
