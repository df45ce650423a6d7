"""Entry to the page: codes of one use, cookies for browsers, and digits for what is dangerous."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable

CODE_S = 60
MOST_WRONG = 5
"""Wrong codes after which nobody is let in until the next start."""
DIGITS_S = 300


class Entry:
    """Codes, cookies and digits that let a person in; the end of the process voids them."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}
        """Time of issue of each code; 0 once it was used."""
        self._tokens: dict[str, str] = {}
        """Token of the pages by cookie."""
        self._digits: dict[str, tuple[str, float]] = {}
        self._wrong = 0

    @property
    def is_closed(self) -> bool:
        return self._wrong >= MOST_WRONG

    def new_code(self) -> str:
        """Return a code of 128 bits, good once and for CODE_S seconds."""
        code = secrets.token_urlsafe(16)
        self._codes[code] = self._clock()
        return code

    def redeem(self, code: str) -> str:
        """Return a new cookie for a good code, else an empty text."""
        if self.is_closed:
            return ""
        if code not in self._codes:
            self._wrong += 1
            return ""
        issued, self._codes[code] = self._codes[code], 0
        if not issued or self._clock() - issued > CODE_S:
            return ""
        cookie = secrets.token_urlsafe(32)
        self._tokens[cookie] = secrets.token_urlsafe(32)
        return cookie

    def token_of(self, cookie: str) -> str:
        """Return the token that acts of this browser need; empty for a stranger."""
        return self._tokens.get(cookie, "")

    def new_digits(self, id: str) -> str:
        """Return six digits that approve one memory, once."""
        digits = f"{secrets.randbelow(1_000_000):06}"
        self._digits[id] = digits, self._clock()
        return digits

    def check_digits(self, id: str, digits: str) -> bool:
        """Tell whether these are the digits; whatever the answer, they are used up."""
        expected, issued = self._digits.pop(id, ("", 0.0))
        is_fresh = bool(expected) and self._clock() - issued <= DIGITS_S
        return is_fresh and secrets.compare_digest(expected.encode(), digits.strip().encode())
