"""The cost of texts for models: tokens by event, session and memory, and how to have fewer."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ademem.core.text import counted, preview
from ademem.doors.views.session import CHARS, TOKEN_CHARS, estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from ademem.api.reports import Ledger
    from ademem.core.memory import Memory
    from ademem.store.injections import Spent

METHOD = f"estimated: a token for each {TOKEN_CHARS} characters, rounded up"
SESSIONS = 20
"""Most sessions that are listed."""


def quieting_command(memory: Memory) -> str:
    """Return the command after which a memory is shown less, or no more."""
    return f"ademem {'pin --off' if memory.pinned else 'archive'} {memory.id}"


def to_json(ledger: Ledger, is_withheld: Callable[[Memory], bool]) -> dict[str, Any]:
    return {
        "session": ledger.session or None,
        "method": METHOD,
        **_sum(ledger.by_event),
        "by_event": [{"event": each.name} | _sum([each]) for each in ledger.by_event],
        "by_session": [
            {"session": each.name} | _sum([each]) for each in ledger.by_session[:SESSIONS]
        ],
        "by_memory": [_memory_json(each, ledger, is_withheld) for each in ledger.by_memory],
        "unused": [_memory_json(each, ledger, is_withheld) for each in ledger.unused],
    }


def to_days(ledger: Ledger, calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the tokens of texts and of calls of the AI by day, newest first."""
    texts: Counter[str] = Counter()
    for each in ledger.by_day:
        texts[each.name.partition(" ")[0]] += each.characters
    found = []
    for day in sorted(texts.keys() | {row["day"] for row in calls}, reverse=True):
        of_day = [row for row in calls if row["day"] == day]
        found.append(
            {
                "day": day,
                "tokens": estimate_tokens(texts.get(day, 0)),
                "tokens_in": sum(row["tokens_in"] for row in of_day),
                "tokens_out": sum(row["tokens_out"] for row in of_day),
            }
        )
    return found


def _sum(spent: Sequence[Spent]) -> dict[str, Any]:
    """Return the sums; of memories the tokens in the texts, and of these the used ones."""
    characters = sum(each.characters for each in spent)
    return {
        "texts": sum(each.texts for each in spent),
        "characters": characters,
        "tokens": estimate_tokens(characters),
        "memories": sum(each.shown for each in spent),
        "memory_tokens": estimate_tokens(sum(each.shown_characters for each in spent)),
        "used": sum(each.used for each in spent),
        "used_tokens": estimate_tokens(sum(each.used_characters for each in spent)),
    }


def _memory_json(
    spent: Spent, ledger: Ledger, is_withheld: Callable[[Memory], bool]
) -> dict[str, Any]:
    memory = ledger.memories.get(spent.name)
    return {
        "id": spent.name,
        "shown": spent.shown,
        "used": spent.used,
        "characters": spent.characters,
        "tokens": estimate_tokens(spent.characters),
        "text": preview(memory.content, CHARS) if memory and not is_withheld(memory) else None,
        "deleted": memory is None,
        "quiet": quieting_command(memory) if memory and memory.live else None,
    }


def to_lines(ledger: Ledger, is_withheld: Callable[[Memory], bool]) -> Iterator[str]:
    """Yield the sums, a line for each event, session and memory, and the commands."""
    found = to_json(ledger, is_withheld)
    period = f"session {ledger.session}" if ledger.session else counted(ledger.days, "day")
    yield (
        f"in {period}: {_tokens(found)} in {counted(found['texts'], 'text')} for models"
        f" ({METHOD}); {found['memory_tokens']:,} of them memories,"
        f" {found['used_tokens']:,} of these used"
    )
    for name in ("event", "session"):
        rows = found[f"by_{name}"] if name == "event" or not ledger.session else []
        for row in rows:
            yield (
                f"  {row[name]:<22} {_tokens(row):>14} in {counted(row['texts'], 'text')},"
                f" {counted(row['memories'], 'memory')}, {row['used']} used"
            )
    if found["by_memory"]:
        yield "costliest memories"
    yield from map(_describe_memory, found["by_memory"])
    if found["unused"]:
        yield "costliest memories of which nothing was used, and what quiets them"
    for row in found["unused"]:
        yield _describe_memory(row)
        if row["quiet"]:
            yield f"    {row['quiet']}"


def _tokens(row: dict[str, Any]) -> str:
    return counted(row["tokens"], "token")


def _describe_memory(row: dict[str, Any]) -> str:
    text = "(deleted for good)" if row["deleted"] else row["text"] or "(withheld)"
    return f"  {row['id']}  {_tokens(row)}, shown {row['shown']}, used {row['used']}: {text}"
