"""Which memories a prompt announces: it names the act, the program or the place they are bound to.

Said with the prompt, a rule needs no denial at the call. Only what the table has is looked for, so
that a prompt loads the vocabulary of acts where something is bound to one.
"""

from __future__ import annotations

from ademem.search import meeting
from ademem.search.meeting import Met
from ademem.store import bindings as table
from ademem.store.bindings import STRENGTHS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterable, Iterator

    from ademem.store import Store

READ_CHARS = 4000
AROUND = "\"'`“”‘’«»()[]{}<>,;:!?…"
"""Signs around a word of a prompt that are no part of a path."""


def announced(
    prompt: str, store: Store, agent: str = "", *, is_question: bool = False
) -> list[Met]:
    """Return memories that may be shown and are bound to what the prompt names, the surest first.

    A question names no act.
    """
    kinds = table.list_sure_kinds(store)
    if not kinds:
        return []
    words = [word.strip(AROUND).rstrip(".") for word in prompt[:READ_CHARS].split()]
    paths = _paths_in(words)
    named: set[str] = set()
    if kinds & {"act", "program"} and not is_question:
        from ademem.guard.act_names import find_acts

        named = set(find_acts(prompt[:READ_CHARS]))
    keys = _keys_of(kinds, paths, words, named)
    rows = table.at_keys(store, keys, agent) if keys else []
    found = [row for row in rows if _holds(row, paths, words, named)]
    if kinds - {"act", "family"}:
        found += _named_among(table.chosen(store, agent), set(_telling(words)), named)
    kept: dict[str, Met] = {}
    for row in found:
        meeting.keep(row, kept)
    return sorted(kept.values(), key=lambda each: STRENGTHS.index(each.binding.strength))


def _paths_in(words: Iterable[str]) -> list[str]:
    return [
        word.strip("/").removeprefix("./")
        for word in words
        if "/" in word.strip("/") or "." in word.strip(".")
    ]


def _keys_of(
    kinds: Collection[str], paths: Iterable[str], words: Iterable[str], acts_named: Iterable[str]
) -> set[tuple[str, str]]:
    """Return the keys of bindings that a prompt may name, of the *kinds* that the table has."""
    keys = {key for path in paths for key in meeting.path_keys(path)}
    keys |= {("act", act) for act in acts_named}
    if "program" in kinds:
        keys |= {("program", word) for word in words}
    if "family" in kinds:
        from ademem.guard import acts

        keys |= {("family", name) for word in words for name in acts.families_of((word,))}
    return keys


def _holds(row: sqlite3.Row, paths: list[str], words: list[str], named: set[str]) -> bool:
    kind, pattern = row["bound_kind"], row["bound_pattern"]
    if kind == "program":
        return all(word in words or word in named for word in pattern.split())
    if kind == "family":
        from ademem.guard import acts

        right = {word.removeprefix("!") for word in pattern.split()}
        members = (word for word in words if row["bound_key"] in acts.families_of((word,)))
        return any(word not in right for word in members)
    if kind == "glob":
        return any(meeting.matches(path, pattern) for path in paths)
    return True


def _named_among(
    rows: Iterable[sqlite3.Row], words: set[str], named: set[str]
) -> Iterator[sqlite3.Row]:
    """Yield the rows whose place is named; many memories have the same one."""
    known: dict[tuple[str, ...], bool] = {}
    for row in rows:
        place = row["bound_kind"], row["bound_key"], row["bound_pattern"]
        if place not in known:
            known[place] = _is_named(row, words, named)
        if known[place]:
            yield row


def _is_named(row: sqlite3.Row, words: set[str], named: set[str]) -> bool:
    """Tell whether the words are the folder or the stem of a place, or name a command's act."""
    kind, key = row["bound_kind"], row["bound_key"]
    if kind == "program":
        if not named:
            return False
        from ademem.guard import acts

        return not named.isdisjoint(acts.acts_of((key, *row["bound_pattern"].split())))
    last = key.rpartition("/")[2].partition(".")[0].lower()
    return last in words


def _telling(words: list[str]) -> Iterator[str]:
    """Yield words that say something, and not those that any prompt has."""
    from ademem.search.common_words import COMMON_WORDS
    from ademem.search.query import STOP_WORDS

    for word in words:
        lower = word.lower()
        if len(word) > 2 and lower not in COMMON_WORDS and lower not in STOP_WORDS:
            yield lower
