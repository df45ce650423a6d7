"""Tell who chooses the places of a memory how much they meet, and who writes it what it lacks."""

from __future__ import annotations

from ademem.core.memory import SHORT_ID
from ademem.core.text import in_one_line
from ademem.search import binding_keys, mentions, places
from ademem.search.binding import TICK
from ademem.store.bindings import BROAD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ademem.core.memory import Memory
    from ademem.store.bindings import Binding

MOST_ADVICE = 2
MOST_TEXTS = 2
LONGEST_TEXT = 40
CHOOSING = (
    "choose the narrowest keys that meet what breaks it: FILE, FOLDER/, .suffix, `program words`,"
    " text:WORD; each call that one meets is stopped once, so where few calls there break it,"
    " add what these do: ` on create`, ` on edit` (a change), ` with text:WORD` (written or typed)."
    f" More than {places.BROAD_FILES} files, a whole program and an act only remind"
)


def advise(memory: Memory, at: Sequence[Binding], program: str = "ademem") -> list[str]:
    """Return lines on places that meet calls of many kinds, or on how to choose one."""
    from ademem.core.memory import is_rule

    if not is_rule(memory):
        return []
    if not any(each.strength in ("given", "read", "named") for each in at):
        return [CHOOSING]
    wide = [each for each in at if each.strength != "given" and _is_wide(each)]
    texts = list(_texts_of(memory.whole_text))
    command = f"{program} at {memory.id[:SHORT_ID]}"
    return [_narrower(each, texts, command) for each in wide[:MOST_ADVICE]]


def ask_occasions(command: str, how: str = " ".join(['--when "…"'] * 4)) -> str:
    """Return the line that asks for the occasions of a memory, which *command* stores."""
    return (
        "say when somebody who does not know this will want it, in their words and not in these:"
        " two orders for work that leads into it, the question they would ask, what they would see"
        f" go wrong: {command} {how}"
    )


def _is_wide(binding: Binding) -> bool:
    if binding.state == BROAD:
        return True
    return binding.kind in ("dir", "glob", "suffix") and binding_keys.is_bare(binding)


def _narrower(wide: Binding, texts: Iterable[str], command: str) -> str:
    key = binding_keys.show(wide)
    met = "too much to deny" if wide.state == BROAD else "whatever is written there"
    others = " | ".join(f"'{each}'" for each in binding_keys.narrow(wide, tuple(texts)))
    file = "" if wide.kind in ("program", "act") else " | a file of it"
    place = binding_keys.tell(wide, TICK)
    return (
        f"{place} meets {met}; if some of it is meant: {command} --drop '{key}' --at {others}{file}"
    )


def _texts_of(text: str) -> Iterator[str]:
    """Yield what the text names that may be written: a literal, a name, a flag of a program."""
    found = [
        in_one_line(mention.text)
        for mention in mentions.find_mentions(text)
        if mention.kind in (mentions.LITERAL, mentions.NAME) and len(mention.text) <= LONGEST_TEXT
    ]
    yield from list(dict.fromkeys(found))[:MOST_TEXTS]
