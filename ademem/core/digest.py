"""SHA-256 without loading OpenSSL, which `hashlib` does and a hook would pay for."""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # before 3.12 the built-in module had another name
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LONG = 1 << 20
"""Characters of a text that is digested in parts."""


def sha256_hex(*parts: str) -> str:
    """Hex digest of the parts; their borders count, so ("ab", "c") differs from ("a", "bc")."""
    if len(parts) == 1 and len(parts[0]) > LONG:
        return of_stream(slices(parts[0]), len(parts[0]))
    framed = "".join([f"{len(part)}:{part}" for part in parts])
    digest: str = sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()
    return digest


def of_stream(parts: Iterable[str], length: int) -> str:
    """`sha256_hex` of one text of *length* characters that is given in parts."""
    digest = sha256(f"{length}:".encode())
    for part in parts:
        digest.update(part.encode("utf-8", "surrogatepass"))
    return str(digest.hexdigest())


def slices(text: str) -> Iterator[str]:
    """The text in parts of at most LONG characters."""
    return (text[start : start + LONG] for start in range(0, len(text), LONG))


def number(text: str) -> int:
    """The first 64 bits of the digest."""
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def bytes_hex(data: bytes) -> str:
    digest: str = sha256(data).hexdigest()
    return digest
