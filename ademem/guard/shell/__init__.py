"""Command text as values: what a shell would run, told without running it."""

from __future__ import annotations

from ademem.guard.shell.reading import parse
from ademem.guard.shell.values import Command, Redirect, Script, Word
from ademem.guard.shell.wrappers import argvs, unwrapped

__all__ = ["Command", "Redirect", "Script", "Word", "argvs", "parse", "unwrapped"]
