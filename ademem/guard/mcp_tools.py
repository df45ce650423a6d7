"""Decide by its name whether an MCP tool changes anything: it does unless its verb reads."""

from __future__ import annotations

from itertools import pairwise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.settings import GuardSettings

READING = frozenset(
    """
    get list search read find fetch describe show count query view status check diff
    lookup retrieve inspect browse peek preview compare explain summarize summarise
    whoami ping info is has
    """.split()
)
"""Verbs of tools that change nothing."""

NOUNS = frozenset("view status check diff query count preview info".split())
"""Verbs that are as often what another verb is about: `status_set`, `view_create`."""

PREFIXED = READING - NOUNS - {"is", "has"}
"""Verbs that may stand behind the name of a service: `slack_get_users`."""

CHANGING = frozenset(
    """
    add append apply clear commit create delete drop edit execute insert merge move patch post push
    put remove rename replace reset run save send set store update upload write
    """.split()
)

_JOINING = frozenset({"and", "or", "then"})


def changes(tool: str, settings: GuardSettings) -> bool:
    """Judge `mcp__SERVER__NAME`; the settings go before the name."""
    if _listed(tool, settings.changes):
        return True
    if _listed(tool, settings.reads):
        return False
    _, server, name = (*tool.split("__", 2), "", "")[:3]
    words = _words(name)
    if not frozenset(settings.mutating_mcp).isdisjoint(words):
        return True
    service = frozenset(_words(server))
    while len(words) > 1 and words[0] in service:
        words = words[1:]
    return not _reads(words)


def _listed(tool: str, entries: tuple[str, ...]) -> bool:
    """`mcp__docs__*` is every tool of that server."""
    return any(
        tool.startswith(entry[:-1]) if entry.endswith("*") else tool == entry
        for entry in entries
        if entry.startswith("mcp__")
    )


def _words(name: str) -> list[str]:
    """The words of snake_case, kebab-case and camelCase in lower case: `getURLs2` is get, urls."""
    import re

    name = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.findall(r"[^\W\d_]+", name.lower())


def _reads(words: list[str]) -> bool:
    """Whether the verb reads: the first word, the one behind a service's name, or the last."""
    if not words or _joins_a_change(words):
        return False
    first, *rest = words
    verb = first if first in READING else first.removesuffix("s")
    if verb in READING:
        if verb in NOUNS:
            return CHANGING.isdisjoint(rest)
        return verb not in ("list", "read") or CHANGING.isdisjoint(rest[-1:])
    if not rest or _may_change(first):
        return False
    if rest[0] in PREFIXED:
        return CHANGING.isdisjoint(rest[-1:])
    return rest[-1] in READING and not any(map(_may_change, rest[:-1]))


def _joins_a_change(words: list[str]) -> bool:
    """`get_or_create_user`"""
    return any(word in _JOINING and _may_change(following) for word, following in pairwise(words))


def _may_change(word: str) -> bool:
    """Whether people order a change by the word; what is rather a noun only if tools use it so."""
    from ademem.guard.vocabulary import CHANGE

    return word in CHANGING or (word in CHANGE and word not in READING and word not in _OBJECTS)


_OBJECTS = frozenset(
    """
    address branch build cache document export group hook host image index issue job label load log
    map order package port pull release schedule secret stream tag test trace version
    """.split()
)
"""What stands before a trailing verb more often than it is ordered: `branch_list`."""
