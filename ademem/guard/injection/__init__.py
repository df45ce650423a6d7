"""Detect texts that instruct a model (prompt injection)."""

from __future__ import annotations

import re

from ademem.core.memory import Trust
from ademem.core.text import words
from ademem.core.untrusted import as_displayed, has_hidden_characters, is_disguised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from ademem.core.memory import Memory

_MENTION = r"""["\u201c\u201e\u00ab`']([^"\n\u201c\u201d\u00bb`]{4,120})["\u201d\u201c\u00bb`']"""
_ABOUT = (
    r"\b(?:injections?|jailbreaks?|phrases?|attack\w*|says?|called|e\.g\.|such as|like|contains?)\b"
)
"""Words of a sentence that only mentions the instruction it quotes."""
COMMAND_SIGNS = ("|", "`", ">", "--")

COMMAND_WORDS = frozenset(
    """
    add ademem alias aws base64 bash brew bun bunx cargo cat chmod claude cp crontab curl deno dig
    docker echo eval export fetch gem gh git go history iex install irm iwr launchctl ln mail mv nc
    ncat node npm npx nslookup perl php ping pip pnpm poetry powershell printenv printf python
    python3 rm rsync ruby scp security sed setenforce socat source sqlite3 ssh sudo systemctl tar
    tee uv uvx wget yarn
    """.split()
)
"""Programs, and words that often precede a command."""


def order_in(memory: Memory) -> str | None:
    """Describe the instruction in a memory that no person typed; None if there is none."""
    return None if memory.trust is Trust.USER else order_of(memory.title, memory.content)


def order_of(title: str | None, content: str) -> str | None:
    """Describe the instruction in title and text, shown as two lines or as one."""
    if not title:
        return instruction_in(content)
    return instruction_in(f"{title}\n{content}") or instruction_in(f"{title} {content}")


def order_beside(words: Iterable[str], *texts: str | None) -> str | None:
    """Describe the instruction in what stands beside a text; None if there is none.

    Of tags and keys, which have hyphens between their words, these count as blanks.
    """
    beside = "\n".join((*(word.replace("-", " ") for word in words), *filter(None, texts)))
    return instruction_in(beside) if beside else None


def instruction_in(text: str) -> str | None:
    """Describe the instruction in a text; None if there is none."""
    if has_hidden_characters(text):
        return "has characters that nobody sees"
    if is_disguised(text):
        return "has words of letters that only look alike"
    from ademem.guard.injection import patterns

    if patterns.is_spelled_out(text):
        return "spells words letter by letter"
    plain = as_displayed(text)
    if any(sign in plain for sign in "\"\u201c\u201e\u00ab`'"):
        plain = re.sub(rf"({_ABOUT}[^.\n\"`]{{0,60}}){_MENTION}", "\\1\u2026", plain)
    place = patterns.first_match(plain, patterns.phrases_for(plain))
    if place is not None:
        return patterns.EFFECTS[place]
    for what, hints, shape in patterns.HINTED:
        if any(map(plain.__contains__, hints)) and re.search(shape, plain):
            return what
    has_sign = "=" in text or any(sign in text for sign in COMMAND_SIGNS)
    if text.isascii() and not has_sign and COMMAND_WORDS.isdisjoint(words(text)):
        return None
    from ademem.guard.injection import command_places

    return command_places.command_in(text)
