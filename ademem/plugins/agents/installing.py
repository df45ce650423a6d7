"""Register the hooks with Codex and Gemini CLI in their settings, and with OpenCode by a plugin."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from shlex import quote

from ademem.core import bytecode
from ademem.core.shared_files import remove
from ademem.operations.install import (
    Agent,
    BadSettingsFile,
    Change,
    Target,
    read_file,
    record_of_user,
    register,
    unregister,
    write_file,
)
from ademem.operations.install.registration import EVENTS, Event, make_groups


def _adapt(agent: str, names: str, before: str, after: str) -> Iterator[Event]:
    """Yield our events by the agent's *names*; *before* and *after* match the tools of calls."""
    statuses = {event.name: event.status for event in EVENTS}
    matchers = {"PreToolUse": before, "PostToolUse": after}
    for pair in names.split():
        name, _, theirs = pair.partition("=")
        timeout = 3 if name == "SessionEnd" else 10  # Codex waits no longer
        yield Event(theirs or name, statuses[name], matchers.get(name), timeout, f"agents/{agent}")


_CODEX = """
    SessionStart UserPromptSubmit PreToolUse PostToolUse Stop SubagentStart SubagentStop SessionEnd
"""
_GEMINI = """
    SessionStart UserPromptSubmit=BeforeAgent PreToolUse=BeforeTool PostToolUse=AfterTool
    Stop=AfterAgent SessionEnd
"""
_TOOLS = "run_shell_command|write_file|replace|mcp_.*"

CODEX = tuple(_adapt("codex", _CODEX, "^(Bash|apply_patch|mcp__.*)$", "^(Bash|mcp__.*)$"))
GEMINI = tuple(
    _adapt("gemini", _GEMINI, f"^({_TOOLS})$", f"^({_TOOLS}|web_fetch|google_web_search)$")
)


def codex_path() -> str:
    home = os.environ.get("CODEX_HOME") or os.path.expanduser("~/.codex")
    return os.path.join(home, "hooks.json")


def gemini_path() -> str:
    return os.path.expanduser("~/.gemini/settings.json")


def add_to_codex(*, python: str, hooks: str, dry_run: bool = False) -> Change:
    groups = make_groups(python=quote(python), hooks=quote(hooks), events=CODEX)
    target = Target(path=codex_path(), record=(record_of_user("codex"), ""), groups=groups)
    return register(target, dry_run=dry_run)


def remove_from_codex(*, dry_run: bool = False) -> Change:
    names = [event.name for event in CODEX]
    return unregister(codex_path(), (record_of_user("codex"), ""), names, dry_run=dry_run)


def add_to_gemini(*, python: str, hooks: str, dry_run: bool = False) -> Change:
    """Gemini CLI has milliseconds, and a name for the status line."""
    groups = make_groups(python=quote(python), hooks=quote(hooks), events=GEMINI)
    for handler in (each for of in groups.values() for group in of for each in group["hooks"]):
        handler["timeout"] *= 1000
        handler["name"] = handler.pop("statusMessage")
    target = Target(path=gemini_path(), record=(record_of_user("gemini"), ""), groups=groups)
    return register(target, dry_run=dry_run)


def remove_from_gemini(*, dry_run: bool = False) -> Change:
    names = [event.name for event in GEMINI]
    return unregister(gemini_path(), (record_of_user("gemini"), ""), names, dry_run=dry_run)


PLUGIN_MARK = "// ademem: project memory"


def add_to_opencode(*, python: str, hooks: str, dry_run: bool = False) -> Change:
    path, before = _find_plugin()
    with open(os.path.join(hooks, "agents", "opencode.js"), encoding="utf-8") as file:
        after = file.read().replace('"PYTHON"', json.dumps(python))
    after = after.replace('"HOOKS"', json.dumps(hooks))
    if not dry_run and after != before:
        bytecode.update()
        os.makedirs(os.path.dirname(path), exist_ok=True)
        write_file(path, after)
    return Change(path=path, before=before, after=after)


def remove_from_opencode(*, dry_run: bool = False) -> Change:
    path, before = _find_plugin()
    if before is not None and not dry_run:
        remove(path)
        for folder in (os.path.dirname(path), os.path.dirname(os.path.dirname(path))):
            if os.path.isdir(folder) and not os.listdir(folder):
                os.rmdir(folder)
    return Change(path=path, before=before, after=None)


def _find_plugin() -> tuple[str, str | None]:
    config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    path = os.path.join(config, "opencode", "plugins", "ademem.js")
    text = read_file(path)
    if text is not None and not text.startswith(PLUGIN_MARK):
        raise BadSettingsFile(path, "it is another plugin")
    return path, text


AGENTS = (
    Agent(name="codex", add=add_to_codex, remove=remove_from_codex),
    Agent(name="gemini", add=add_to_gemini, remove=remove_from_gemini),
    Agent(name="opencode", add=add_to_opencode, remove=remove_from_opencode),
)
