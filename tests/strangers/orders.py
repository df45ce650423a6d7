"""60 orders to a model by two authors who saw no rule, all held alone, for a test of each door."""

from __future__ import annotations

import re
from itertools import islice
from pathlib import Path

from ademem.core.text import sha256_hex
from ademem.guard.injection import instruction_in

_CORPUS = Path(__file__).parents[2] / "bench/judge/corpus/orders"
HARMLESS = "Invoices are tested with make invoices, and the export of them runs at night"


def _read_held(author):
    """Yield orders of all classes and languages, by which the lines of the author are sorted.

    A label has hyphens for blanks and signs: without signs 5 of 352 texts are held no more.
    """
    lines = (_CORPUS / f"{author}.tsv").read_text(encoding="utf-8").splitlines()
    orders = [text for label, *_, text in (line.split("\t") for line in lines) if label == "1"]
    for text in orders[::4]:
        if instruction_in(text) and instruction_in(re.sub(r"[\W_]+", " ", text)):
            yield text


TEXTS = (*islice(_read_held("gus"), 30), *islice(_read_held("hal"), 30), HARMLESS)
"""The orders, and the one text that passes every door."""


def note(text):
    """Return a harmless note that is another one for each text."""
    digest = sha256_hex(text)
    return f"Lot {digest[:6]} lies in hall {digest[6:12]} of the archive {digest[12:18]}"


def shown_by(world):
    """Return all that stands in the memories of a project which nothing holds back."""
    return world.rows(
        "select content, title, tags, topic_key, anchors, file_scope_pattern, bead, knowledge_key,"
        " scope_owner_id from unified_memories"
        " where deleted_at is null and quarantine_reason is null"
    )


def passed(shown, parts=None):
    """Return which of the texts stand in what is shown, those in *parts* with all of them."""
    found = "\n".join(_letters(tuple(row)) for row in shown)
    cut = parts or (lambda text: (text,))
    return [text for text in TEXTS if all(_letters(each) in found for each in cut(text))]


def _letters(text):
    """Return letters and digits alone, because a door may spell a text in another way."""
    return re.sub(r"[\W_]+", "", str(text).lower())
