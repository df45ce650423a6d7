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
"""Words of `READING` that are as often the object of another verb: `status_set`, `view_create`."""

TRAILING = READING - NOUNS - {"is", "has"}
"""Verbs that may stand behind a noun or the name of a service: `issues_list`, `x_get_users`."""

CHANGING = frozenset(
    """
    add allow append apply archive clean clear close commit configure convert create delete deploy
    disable drop edit enable execute extend fix generate insert install make mark merge migrate move
    open patch pin post publish push put remove rename reopen replace reset restart restore revert
    run save send set stop store submit toggle turn undo update upload write
    """.split()
)


def changes(tool: str, settings: GuardSettings) -> bool:
    """Judge `mcp__SERVER__NAME`; the settings precede the name."""
    if _is_listed(tool, settings.changes):
        return True
    if _is_listed(tool, settings.reads):
        return False
    _, server, name = (*tool.split("__", 2), "", "")[:3]
    words = split_words(name)
    if not frozenset(settings.mutating_mcp).isdisjoint(words):
        return True
    service = frozenset(split_words(server))
    while len(words) > 1 and words[0] in service:
        words = words[1:]
    return not _reads(words)


def _is_listed(tool: str, entries: tuple[str, ...]) -> bool:
    """`mcp__docs__*` lists every tool of that server."""
    return any(
        tool.startswith(entry[:-1]) if entry.endswith("*") else tool == entry
        for entry in entries
        if entry.startswith("mcp__")
    )


def split_words(name: str) -> list[str]:
    """Split snake_case, kebab-case and camelCase in lower case: `getURLs2` is get, urls."""
    import re

    name = re.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return re.findall(r"[^\W\d_]+", name.lower())


def _reads(words: list[str]) -> bool:
    """True if the verb reads: the first word, the one behind a service's name, or the last."""
    joins_change = any(
        word in ("and", "or", "then") and following in CHANGING
        for word, following in pairwise(words)
    )
    if not words or joins_change:
        return False
    first, *rest = words
    verb = first if first in READING else first.removesuffix("s")
    if verb in NOUNS:
        return CHANGING.isdisjoint(rest)
    if verb in READING:
        return verb not in ("list", "read") or CHANGING.isdisjoint(rest[-1:])
    if not rest or first in CHANGING:
        return False
    if rest[0] in TRAILING:
        return CHANGING.isdisjoint(rest[-1:])
    return rest[-1] in TRAILING and CHANGING.isdisjoint(rest[:-1])
