"""Calls that cannot be taken back: push, publish, deploy, migrate, delete, force."""

from __future__ import annotations

import re

from ademem.guard import shell
from ademem.guard.mcp_tools import split_words
from ademem.guard.mutation import judge_part, parts_in
from ademem.guard.shell import is_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.settings import GuardSettings
    from ademem.guard.mutation import CommandPart

VERBS = frozenset(
    "push publish deploy release upload migrate migrations migration delete destroy drop purge"
    " wipe".split()
)
"""Words of a subcommand, of a target or of a script."""
_COMMANDS = """
    rm, rmdir, unlink, shred, truncate, dropdb, mkfs, alembic upgrade, alembic downgrade, git clean,
    flyway clean, helm install, helm uninstall, helm upgrade, kubectl apply, terraform apply
"""
COMMANDS = frozenset(map(str.strip, _COMMANDS.split(",")))
"""Programs, and subcommands, that no verb of VERBS shows."""
OPTIONS = re.compile(r"--force\b.*|--hard|--delete|--prod(uction)?|-D")
SQL = re.compile(r"\b(drop|truncate|delete\s+from)\b", re.IGNORECASE)
INTERPRETERS = frozenset(
    "bash bun deno lua node npx perl php python ruby sh sudo uv zsh . source".split()
)
"""Programs whose arguments name what they run."""
HARMLESS = ("git stash", "git add", "git commit", "git tag", "git branch", "git checkout")
"""Commands of git whose arguments are names, so that only their options count."""
PRINTERS = ("echo", "printf")
LOOKED_AT = 3
"""Operands that can be a subcommand or a target."""


def find_irreversible(command: str, settings: GuardSettings) -> str:
    """Return the first command of the script that cannot be taken back; empty for none."""
    script = shell.parse(command)
    parts = parts_in(script, settings) if script else ()
    return next((part.command.line for part in parts if _is_irreversible(part)), "")


def is_irreversible_tool(tool: str) -> bool:
    """Judge an MCP tool by the words of its name."""
    return not VERBS.isdisjoint(split_words(tool.rpartition("__")[2]))


def _is_irreversible(part: CommandPart) -> bool:
    if not part.command.words or not judge_part(part).mutates:
        return False
    texts = [word.text for word in part.command.words[1:]]
    if any(OPTIONS.fullmatch(text) for text in texts):
        return True
    arguments = [word.text for word in part.arguments if not is_option(word.text)]
    operands = [*part.key.split()[1:], *arguments][:LOOKED_AT]
    program = part.program.rpartition("/")[2]
    if program in COMMANDS or " ".join([program, *operands[:1]]) in COMMANDS:
        return True
    if part.key.startswith(HARMLESS) or program in PRINTERS:
        return False
    if part.program == "git":
        operands = operands[:1]
    runs_code = program in INTERPRETERS
    names = [program] + [
        text.rpartition("/")[2] if runs_code else text
        for text in operands
        if runs_code or "/" not in text
    ]
    words = {word for name in names for word in re.split(r"[^a-z]+", name.lower())}
    return not VERBS.isdisjoint(words) or any(map(SQL.search, texts))
