"""A cheap test for commands in a text, before the module that judges them is loaded."""

from __future__ import annotations

from ademem.core.text import words

SIGNS = ("|", "`", ">", "--", "=")

WORDS = frozenset(
    """
    add ademem alias aws base64 bash brew bun bunx cargo cat chmod claude cp crontab curl deno dig
    docker echo eval export fetch gem gh git go history iex install irm iwr launchctl ln mail mv nc
    ncat node npm npx nslookup perl php ping pip pnpm poetry powershell printenv printf python
    python3 rm rsync ruby scp security sed setenforce socat source sqlite3 ssh sudo systemctl tar
    tee uv uvx wget yarn
    """.split()
)
"""Programs, and words that often precede a command."""


def may_hold_command(text: str) -> bool:
    """False for an ASCII text without any of the signs."""
    return (
        not text.isascii()
        or any(sign in text for sign in SIGNS)
        or not WORDS.isdisjoint(words(text))
    )
