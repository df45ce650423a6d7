"""SHA-256 without loading OpenSSL, which `hashlib` does and a hook would pay for."""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # before 3.12 the built-in module had another name
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256

LONG = 1 << 20
"""Characters of a text that is digested in parts."""


def sha256_hex(*parts: str) -> str:
    """Hex digest of the parts; their borders count, so ("ab", "c") differs from ("a", "bc")."""
    if len(parts) == 1 and len(parts[0]) > LONG:
        return _of_long(parts[0])
    framed = "".join([f"{len(part)}:{part}" for part in parts])
    digest: str = sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()
    return digest


def _of_long(text: str) -> str:
    """`sha256_hex` without copies of the whole text."""
    digest = sha256(f"{len(text)}:".encode())
    for start in range(0, len(text), LONG):
        digest.update(text[start : start + LONG].encode("utf-8", "surrogatepass"))
    return str(digest.hexdigest())


def number(text: str) -> int:
    """The first 64 bits of the digest."""
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def bytes_hex(data: bytes) -> str:
    digest: str = sha256(data).hexdigest()
    return digest
