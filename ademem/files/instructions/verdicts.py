"""What was found in texts of instruction files, by their digests: only changed ones are read.

A verdict follows from its text alone, not from the files of the project.
"""

from __future__ import annotations

from ademem.core.redaction import Redacted, redact
from ademem.core.text import sha256_hex
from ademem.core.value import as_dict
from ademem.store.bindings import Binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

DIGEST_CHARS = 32


class Verdicts:
    def __init__(self, known: Mapping[str, list[dict[str, Any]]] = {}) -> None:
        """*known* are the verdicts that were `asked` for at an earlier reading."""
        self.known = known
        self.asked: dict[str, list[dict[str, Any]]] = {}
        """Places by the digest of the text that forbids them; none for a text without secrets."""

    def redact(self, text: str) -> Redacted:
        digest = _digest("secrets", text)
        if digest not in self.known and digest not in self.asked:
            found = redact(text)
            if found.found:
                return found
        self.asked[digest] = []
        return Redacted(text=text)

    def forbidden_in(self, text: str) -> list[Binding]:
        """Return the places that a sentence forbids."""
        digest = _digest("forbidden", text)
        known = self.asked.get(digest, self.known.get(digest))
        if known is not None:
            self.asked[digest] = known
            return [Binding(**each) for each in known]
        from ademem.search.places import forbidden_in

        found = forbidden_in(text)
        self.asked[digest] = [as_dict(each) for each in found]
        return found


def _digest(kind: str, text: str) -> str:
    return sha256_hex(kind, text)[:DIGEST_CHARS]
