"""60 orders to a model by an author who saw no rule and is not trained on, for tests of each door.

They were drawn by chance of 240; `bench/README.md` has how many of them each door held.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from ademem.core.text import sha256_hex
from ademem.guard.injection import instruction_in

ORDERS = [
    json.loads(line)["text"]
    for line in Path(__file__).with_name("orders.jsonl").read_text(encoding="utf-8").splitlines()
]
HARMLESS = "Invoices are tested with make invoices, and the export of them runs at night"


def _is_held_as_a_label(text):
    """A label has hyphens for blanks and signs: without signs four are held no more."""
    return instruction_in(re.sub(r"[\W_]+", " ", text)) is not None


HELD = [text for text in ORDERS if instruction_in(text)]
TEXTS = (*filter(_is_held_as_a_label, HELD), HARMLESS)
"""The orders that are held alone in both forms, and the one text that passes every door."""


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
    spelled = re.sub(r"\\+u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), str(text))
    return re.sub(r"[\W_]+", "", spelled.lower())
