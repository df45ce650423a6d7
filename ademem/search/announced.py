"""Which memories a prompt announces: it names the act, the program or the place they are bound to.

Said with the prompt, a rule needs no denial at the call.
"""

from __future__ import annotations

import re

from ademem.search import meeting, mentions
from ademem.search.meeting import Met
from ademem.store import bindings as table
from ademem.store.bindings import STRENGTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from ademem.store import Store

READ_CHARS = 4000
PATHS = (mentions.PATH, mentions.FOLDER)
PROGRAMS = (mentions.COMMAND, mentions.PROGRAM)


def announced(
    prompt: str, store: Store, agent: str = "", *, is_question: bool = False
) -> list[Met]:
    """Return memories that may be shown and are bound to what the prompt names, the surest first.

    A question names no act.
    """
    text = prompt[:READ_CHARS]
    from ademem.guard import acts

    found = mentions.find_mentions(text)
    named = set() if is_question else set(acts.find_acts(text))
    paths = [each.text.strip("/").removeprefix("./") for each in found if each.kind in PATHS]
    argvs = [acts.canonical(each.text.split()) for each in found if each.kind in PROGRAMS]
    keys = {key for path in paths for key in meeting.path_keys(path)}
    keys |= {("program", argv[0]) for argv in argvs}
    keys |= {("act", act) for act in named}
    keys |= {("family", name) for argv in argvs for name in acts.families_of(argv)}
    rows = table.at_keys(store, keys, agent) if keys else []
    words = set(_words(text))
    chosen = [row for row in table.chosen(store, agent) if _is_named(row, words, named)]
    kept: dict[str, Met] = {}
    for row in (*(row for row in rows if _holds(row, paths, argvs, named)), *chosen):
        meeting.keep(row, kept)
    return sorted(kept.values(), key=lambda each: STRENGTHS.index(each.binding.strength))


def _holds(
    row: sqlite3.Row, paths: list[str], argvs: list[tuple[str, ...]], named: set[str]
) -> bool:
    kind, key, pattern = row["bound_kind"], row["bound_key"], row["bound_pattern"]
    if kind == "program":
        wanted = pattern.split()
        return any(
            argv[0] == key and all(word in argv or word in named for word in wanted)
            for argv in argvs
        )
    if kind == "family":
        right = {word.removeprefix("!") for word in pattern.split()}
        return any(argv[0] not in right for argv in argvs)
    if kind == "glob":
        return any(meeting.matches(path, pattern) for path in paths)
    return True


def _is_named(row: sqlite3.Row, words: set[str], named: set[str]) -> bool:
    """Tell whether the words are the folder or the stem of a place, or name a command's act."""
    kind, key = row["bound_kind"], row["bound_key"]
    if kind == "program":
        from ademem.guard import acts

        return not named.isdisjoint(acts.acts_of((key, *row["bound_pattern"].split())))
    names = key.split("/") if kind != "glob" else [key]
    last = names[-1].partition(".")[0].lower()
    return last in words


def _words(text: str) -> Iterator[str]:
    """Yield words that say something: no act, and none of those that any prompt has."""
    from ademem.search.common_words import COMMON_WORDS
    from ademem.search.query import STOP_WORDS

    for word in re.findall(r"[^\W_][\w-]{2,60}", text):
        lower = word.lower()
        if lower not in COMMON_WORDS and lower not in STOP_WORDS:
            yield lower
