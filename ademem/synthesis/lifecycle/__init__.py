"""How memory ages; the arithmetic alone is loaded here, as every search needs it."""

from ademem.core.aging import accessed, decayed

__all__ = ["accessed", "decayed"]
