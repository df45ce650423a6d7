"""Parse shell commands into values, without running anything."""

from __future__ import annotations

from ademem.guard.shell.command import Command, Redirect, Script, Word, parse
from ademem.guard.shell.wrappers import argvs, unwrap

__all__ = ["Command", "Redirect", "Script", "Word", "argvs", "parse", "unwrap"]
