"""`recall` and `search` the way agents type them: words and few options, answered in JSON."""

from __future__ import annotations

import os
import sys

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MOST = 1000
"""Results that `--limit` may ask for."""


class Asked(Value):
    counts: bool
    """Whether it is a `recall`, which counts as an access."""
    query: str
    limit: int
    project: str | None


def read(arguments: Sequence[str]) -> Asked | None:
    """What was asked; None when it takes more than this to understand it."""
    command, *rest = arguments or ("",)
    if command not in ("recall", "search") or "--json" not in rest:
        return None
    words: list[str] = []
    options = {"--limit": "10", "--project": ""}
    given = iter(rest)
    for word in given:
        name, equals, value = word.partition("=")
        if name == "-n":
            name = "--limit"
        if name in options and (equals or word == name or word == "-n"):
            options[name] = value if equals else next(given, "-")
        elif word.startswith("-"):
            if word != "--json":
                return None
        else:
            words.append(word)
    query, limit = " ".join(words), options["--limit"]
    if not query.strip() or not limit.isdecimal() or not 1 <= int(limit) <= MOST:
        return None
    if options["--project"].startswith("-"):
        return None
    return Asked(
        counts=command == "recall",
        query=query,
        limit=int(limit),
        project=options["--project"] or None,
    )


def _importing() -> Callable[[int, int], None] | None:
    if not sys.stderr.isatty():
        return None

    def tell(done: int, total: int) -> None:
        from ademem.doors.cli.options import importing  # only a large import needs it

        if show := importing():
            show(done, total)

    return tell


def answer(asked: Asked) -> int:
    """Print what was found; 0 when there is anything, else 1."""
    import gc
    import json

    gc.disable()  # it would go over all that is loaded, and find nothing in so short a life
    from ademem import api
    from ademem.doors.cli import shape

    with api.open_memories(asked.project, on_import=_importing()) as memories:
        shape.warn(memories.warnings)
        shape.tell_read_only(memories)
        ask = api.recall if asked.counts else api.search
        found = ask(memories, asked.query, None, asked.limit)
        astray = api.find_astray(memories, [hit.memory for hit in found.hits])
    said = json.dumps(shape.results(found, astray=astray), ensure_ascii=False, indent=2)
    try:
        print(shape.safe(said), flush=True)
    except BrokenPipeError:  # nobody reads on; the interpreter would try once more at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0 if found.hits else 1
