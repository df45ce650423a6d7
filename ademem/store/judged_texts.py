"""Texts that a person called harmless, by their digests, and the judgement of every other one."""

from __future__ import annotations

from ademem.core.memory import Trust
from ademem.core.text import sha256_hex
from ademem.store import ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from ademem.core.memory import Memory
    from ademem.store import Store

_HARMLESS = "harmless_text"
"""Type of an entry of the ledger; its key is the digest of title and text."""


_OUTSIDE = (Trust.IMPORT, Trust.WEB)
"""Origins of which a text waits for a person while no judge can be read."""


def find_instruction(
    store: Store, title: str | None, content: str, origin: Trust = Trust.AGENT
) -> str | None:
    """Describe the instruction in a text, unless a person called just this text harmless."""
    from ademem.guard.injection import instruction_in_titled, lacks_judge  # few hooks need it

    found = instruction_in_titled(title, content)
    if found is None and origin in _OUTSIDE:
        found = lacks_judge()
    return None if found and is_harmless(store, title, content) else found


def find_instruction_in(store: Store, memory: Memory) -> str | None:
    if memory.trust is Trust.USER:
        return None
    return find_instruction(store, memory.title, memory.content)


def is_harmless(store: Store, title: str | None, content: str) -> bool:
    return ledger.is_claimed(store, _HARMLESS, sha256_hex(title or "", content))


def note_harmless(store: Store, title: str | None, content: str, now: datetime) -> None:
    ledger.claim(store, _HARMLESS, sha256_hex(title or "", content), now)


def forget_harmless(store: Store, title: str | None, content: str) -> None:
    ledger.release(store, _HARMLESS, sha256_hex(title or "", content))
