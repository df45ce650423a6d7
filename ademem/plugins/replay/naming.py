"""Names in a memory's text, by which a prompt, an answer or a call is about the same thing."""

from __future__ import annotations

import re

from ademem.search import mentions
from ademem.search.common_words import rare_words
from ademem.synthesis.usage import find_names

LONGEST = 80
_TOKEN = re.compile(r"\w{2,}")


def names_in(text: str) -> frozenset[str]:
    """Return paths, commands, identifiers, literals and codes of a text in small letters.

    Of its plain words those count that name a program, or what the text recommends by a word that
    few texts have: `httpx` in "use httpx, not requests".
    """
    found = set(find_names(text))
    rare = rare_words(text)
    for each in mentions.find_mentions(text, plain_words=True):
        is_recommended = each.stance == mentions.RECOMMENDED and each.text.lower() in rare
        is_program = each.text in mentions.REPLACEABLE
        if each.kind != mentions.WORD or is_program or is_recommended:
            found.add(each.text)
    return frozenset(name.lower() for name in found if 1 < len(name) <= LONGEST)


def forbidden_in(text: str) -> frozenset[str]:
    """Return what a text forbids by name or by a word that few texts have, in small letters."""
    rare = rare_words(text)
    forbidden = (
        each
        for each in mentions.find_mentions(text, plain_words=True)
        if each.stance == mentions.FORBIDDEN
    )
    return frozenset(
        each.text.lower()
        for each in forbidden
        if each.kind != mentions.WORD or each.text.lower() in rare
    )


def contains(text: str, name: str) -> bool:
    """Tell whether a name stands in a text, both in small letters, and not in a longer word."""
    if name not in text:
        return False
    before = r"(?<!\w)" if name[0].isalnum() else ""
    after = r"(?!\w)" if name[-1].isalnum() else ""
    return re.search(f"{before}{re.escape(name)}{after}", text) is not None


def tokens(text: str) -> set[str]:
    """Return the words of a text in small letters, to look names up by one of theirs."""
    return set(_TOKEN.findall(text.lower()))


def longest_token(name: str) -> str:
    """Return the longest word of a name; empty for one without."""
    return max(_TOKEN.findall(name), key=len, default="")
