"""Somebody to ask, as the tests of the AI have it."""

from tests.ai.conftest import ask

__all__ = ["ask"]
