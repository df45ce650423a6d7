"""From events to drafts; here what is cheap to ask of a text before more is loaded."""

from __future__ import annotations

from ademem.core import regex

TITLE_PARTS = ("learn", "takeaway", "aprend", "conclus")
"""Each title of a learnings section has one of them, folded; see `message_lessons.TITLES`."""


def may_have_learnings(message: str) -> bool:
    folded = message.casefold()
    return any(part in folded for part in TITLE_PARTS)


_EXTENSIONS = """
    c cc cfg cpp cs css csv go h hpp html ini ipynb java js json jsonl jsx kt lock lua md mjs php
    proto py pyi rb rs scala sh sql svelte swift tf toml ts tsx txt vue xml yaml yml
"""
EXTENSIONS = frozenset(_EXTENSIONS.split())
"""Endings of names of files that programs read."""

PLACEHOLDER_CHARS = 300
MAX_WORDS = 10

_BLANKS = r"<[^<>]*>|\{\{[^{}]*\}\}|\$\{?\w+\}?|\$\([^()]*\)"

_FILLERS = frozenset(
    """
    n a na todo tbd tba tbc fixme wip none nothing nil null undefined unknown ditto placeholder
    test testing foo bar baz as see above new no to add report note please describe insert write
    put enter fill in summarize summarise explain document your the an one what you i we short key
    main goes go here lesson lessons learning learnings learned finding findings insight insights
    description descriptions text texts summary gotcha gotchas decision decisions convention
    conventions fact facts pattern patterns content detail details
    """.split()
)
_OPEN = ("lorem ipsum", "todo describe", "todo write", "todo fill", "todo add", "todo explain")
"""Beginnings that any text may follow."""
_TEMPLATE = ("describe ", "insert ", "fill in ", "your ")


def is_placeholder(text: str) -> bool:
    """True for a template's blank, a word for "nothing", or a text without letters."""
    if len(text) > PLACEHOLDER_CHARS:
        return False
    rest = regex.sub(_BLANKS, " ", text) if any(sign in text for sign in "<{$") else text
    words = "".join(sign if sign.isalnum() else " " for sign in rest.casefold()).split()
    line = " ".join(words)
    if len(words) <= MAX_WORDS and all(map(_is_filler, words)):
        return True
    return line.startswith(_OPEN) or (line.startswith(_TEMPLATE) and words[-1] == "here")


def _is_filler(word: str) -> bool:
    return word in _FILLERS or not word.strip("x")
