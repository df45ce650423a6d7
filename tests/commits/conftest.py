"""The client and its world, as events have them."""

from tests.events.conftest import calls, world

__all__ = ["calls", "world"]
