"""Keys of every kind, and whether a byte of one of them is anywhere below a folder."""

from __future__ import annotations

import re
from pathlib import Path

from tests.core.test_redact import SECRETS

SHORTEST = 20
"""What is shorter could stand somewhere by chance."""
ROOM = bytes(64)
"""Bytes that databases have not written yet, of which their files are full."""

CANARIES = {
    name: (before, value, after)
    for name, before, value, after in [case.values for case in reversed(SECRETS)]
    if len(value) >= SHORTEST and "\n" not in before + value + after
}
"""One of each kind that fits on a line: what stands before it, the key, and what follows."""

SHAPES = (
    *("mnemonic: '", "luks passphrase on the laptop = ", "the API key ends up as ", "we ship "),
    *("Klucz do API brzmi ", "la chiave api del meteo, eccola: ", "clave-secreta: "),
    *("Unseal Key 2: ", "bank.WithToken('", "API_KEY: &'static str = '", "Datadog: app "),
    "docker run -e APP_KEY=",
)
"""What stands before keys of no known form, which are found by the words around them alone."""
CANARIES |= {
    before: (before, value, after)
    for _, before, value, after in [case.values for case in SECRETS]
    if before in SHAPES
}


def sentence(number: int, canary: tuple[str, str, str]) -> str:
    """Something worth remembering, with a key in it."""
    return f"Service{number} signs its calls in the staging cluster with {''.join(canary)}"


def found_below(*folders: Path) -> dict[str, list[str]]:
    """Names of the files, and the keys of which they or their paths hold a recognisable piece."""
    secret = {name: _secret(value).lower() for name, (_, value, _) in CANARIES.items()}
    leaks: dict[str, list[str]] = {}
    for path in (
        file for folder in folders for file in sorted(folder.rglob("*")) if file.is_file()
    ):
        text = (path.read_bytes().replace(ROOM, b"") + str(path).encode()).lower()
        text += re.sub(rb"\\(.)", rb"\1", text)  # as JSON and repr() write it
        for name in CANARIES:
            head, tail = secret[name][:SHORTEST], secret[name][-SHORTEST:]
            if head in text or tail in text:
                leaks.setdefault(path.name, []).append(name)
    return leaks


def _secret(value: str) -> bytes:
    """Without the lines around a key in PEM, which are not a secret."""
    return re.sub(r"-----[A-Z ]+-----", "", value).encode()
