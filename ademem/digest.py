"""SHA-256 without loading OpenSSL, which `hashlib` does and a hook would pay for."""

from __future__ import annotations

try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:  # before 3.12 the built-in module had another name
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256


def sha256_hex(*parts: str) -> str:
    """Hex digest of the parts; their borders count, so ("ab", "c") differs from ("a", "bc")."""
    framed = "".join([f"{len(part)}:{part}" for part in parts])
    digest: str = sha256(framed.encode("utf-8", "surrogatepass")).hexdigest()
    return digest


def number(text: str) -> int:
    """The first 64 bits of the digest."""
    return int.from_bytes(sha256(text.encode("utf-8", "surrogatepass")).digest()[:8], "big")


def bytes_hex(data: bytes) -> str:
    digest: str = sha256(data).hexdigest()
    return digest
