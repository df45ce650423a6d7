"""Command text as values: what a shell would run, told without running it."""

from __future__ import annotations

from ademem.shell.reading import parse
from ademem.shell.values import Command, Redirect, Script, Word
from ademem.shell.wrappers import argvs, unwrapped

__all__ = ["Command", "Redirect", "Script", "Word", "argvs", "parse", "unwrapped"]
