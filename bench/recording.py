"""Record one session: real hooks and commands in a throw-away project, drawn as an SVG.

    PYTHONPATH=. python bench/recording.py [FILE.svg]

The hooks run as processes with the command lines that `ademem install` writes, below one that has
the name of the client and a person's terminal; the payloads are those of Claude Code. Long lines
are wrapped; long outputs are cut after a few lines and end in `…`.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from tests import persons

CLIENT = ("sshd", "bash", "claude")
TERMINAL = ("sshd", "bash")
SESSION = "recording"
DAY, DRAWN_DAY = re.compile(r"(?<=on )\d{1,2} [A-Z][a-z]{2}\b"), "14 Nov"
ISO_DAY, DRAWN_ISO_DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b"), "2026-11-14"
"""Today as hooks and commands say it, and the day in its place: drawings stay the same."""

COMMIT = 'git commit -qam "Store time zones" -m "LEARNED: Offsets need an aware datetime"'

LINE_CHARS = 94
LINE_PX, LETTER_PX, MARGIN_PX = 20, 8.43, 20
PAUSE_S = 0.45
POSTER_S = 2
"""Seconds that all lines stand there before the first is typed, as the picture of the recording."""

COLOURS = {
    "shell": "#7ee787",
    "prompt": "#d2a8ff",
    "tool": "#79c0ff",
    "denied": "#ff7b72",
    "output": "#c9d1d9",
    "note": "#8b949e",
}


class Line(NamedTuple):
    kind: str
    """A key of COLOURS."""
    text: str


class Recording:
    def __init__(self, folder: Path) -> None:
        self.root = folder / "project"
        self.root.mkdir(parents=True)
        own = {
            "HOME": str(folder),
            "PATH": f"{folder}/bin:{os.environ['PATH']}",
            "TMPDIR": str(folder),
            "ADEMEM_JOBS_AUTO": "false",
            "GIT_AUTHOR_NAME": "Ann",
            "GIT_AUTHOR_EMAIL": "ann@example.com",
            "GIT_COMMITTER_NAME": "Ann",
            "GIT_COMMITTER_EMAIL": "ann@example.com",
        }
        foreign = ("ADEMEM_", "CLAUDE", "XDG_", "GIT_")
        inherited = {
            name: value for name, value in os.environ.items() if not name.startswith(foreign)
        }
        self.environment = inherited | own
        self.lines: list[Line] = []
        self.session_id = SESSION
        (folder / "bin").mkdir()
        (folder / "bin/ademem").symlink_to(Path(sys.executable).with_name("ademem"))
        self.run("mkdir db; touch db/schema.sql; git init --quiet; git add .; git commit -qm Start")
        self.run("ademem init; ademem install")
        settings = json.loads((self.root / ".claude/settings.local.json").read_text())
        self.hooks = settings["hooks"]

    def run(
        self, line: str, stdin: str = "", below: tuple[str, ...] = TERMINAL, **variables: str
    ) -> str:
        """Return what a command line prints below processes with these names."""
        done = persons.run_below(
            *below,
            command=["sh", "-c", line],
            folder=self.root,
            environment=self.environment | variables,
            text=stdin.encode(),
            socket=below == CLIENT,
        )
        return (done.stdout + done.stderr).decode().strip()

    def fire(self, event: str, **keys: Any) -> dict[str, Any]:
        head = {"session_id": self.session_id, "prompt_id": "p1", "cwd": str(self.root)}
        payload = json.dumps(head | {"hook_event_name": event} | keys)
        (hook,) = self.hooks[event][0]["hooks"]
        printed = self.run(hook["command"], payload, CLIENT, CLAUDE_PROJECT_DIR=str(self.root))
        answer = json.loads(printed) if printed else {}
        for line in answer.get("systemMessage", "").splitlines():
            self.show("note", f"⎿ {event} says: {line}", most=2)
        found: dict[str, Any] = answer.get("hookSpecificOutput", {})
        return found

    def show(self, kind: str, text: str, most: int = 3) -> None:
        dated = DAY.sub(DRAWN_DAY, ISO_DAY.sub(DRAWN_ISO_DAY, text))
        wrapped = [part for line in dated.splitlines() for part in textwrap.wrap(line, LINE_CHARS)]
        cut = wrapped[most:] and f"{wrapped[most - 1][: LINE_CHARS - 2]} …"
        shown = [*wrapped[: most - 1], cut] if cut else wrapped
        self.lines.extend(Line(kind, line) for line in shown)

    def shell(self, line: str) -> None:
        self.show("shell", f"$ {line}")
        self.show("output", self.run(line))

    def start(self) -> None:
        self.show("note", "# a session starts; you see a line, and Claude is briefed:")
        context = self.fire("SessionStart", source="startup")["additionalContext"]
        self.show("output", "\n".join(line for line in context.splitlines() if "[" in line[:60]))

    def prompt(self, text: str) -> None:
        self.show("prompt", f"> {text}")
        found = self.fire("UserPromptSubmit", prompt=text).get("additionalContext", "")
        self.show("output", found, most=2)

    def edit(self, path: str) -> None:
        call = {"tool_name": "Edit", "tool_input": {"file_path": f"{self.root}/{path}"}}
        if self.tool(f"Edit({path})", call):
            return
        (self.root / path).parent.mkdir(exist_ok=True)
        (self.root / path).write_text("fixed\n")

    def bash(self, line: str) -> None:
        call = {"tool_name": "Bash", "tool_input": {"command": line}}
        if self.tool(f"Bash({line})", call):
            return
        printed = self.run(line, CLAUDE_CODE_SESSION_ID=self.session_id, CLAUDECODE="1")
        response = {"stdout": printed, "stderr": "", "interrupted": False}
        self.fire("PostToolUse", **call, tool_use_id="t1", tool_response=response)
        self.show("output", printed)

    def stop(self, answer: str) -> None:
        self.fire("Stop", stop_hook_active=False, last_assistant_message=answer)

    def tool(self, shown: str, call: dict[str, Any]) -> str:
        """Show a tool call and the guard's denial, which is returned."""
        at = len(self.lines)
        answer = self.fire("PreToolUse", **call, tool_use_id="t1")
        denial: str = answer.get("permissionDecisionReason", "")
        mark = Line("denied" if denial else "tool", f"● {shown} {'✗' if denial else '✓'}")
        self.lines.insert(at, mark)
        self.show("output", denial)
        return denial


def record(folder: Path) -> list[Line]:
    session = Recording(folder)
    rule = "Never edit src/schema.py by hand: change db/schema.sql"
    session.shell(f'ademem add "{rule}" --category convention')
    session.start()
    session.prompt("Add a column for the time zone")
    session.edit("src/schema.py")
    session.edit("db/schema.sql")
    session.stop("Added the column.")
    session.prompt("remember: releases are cut on Mondays")
    session.bash(COMMIT)
    session.fire("SessionEnd", reason="other")
    session.show("note", "# what the session learned is a candidate until you confirm it:")
    session.shell("ademem list --status candidate")
    return session.lines


def drawn(lines: list[Line]) -> str:
    width = round(LINE_CHARS * LETTER_PX) + 2 * MARGIN_PX
    height = len(lines) * LINE_PX + 2 * MARGIN_PX
    rows = "\n".join(
        f'<text x="{MARGIN_PX}" y="{MARGIN_PX + LINE_PX * (at + 0.75):g}" class="{line.kind}"'
        f' style="animation-delay:{POSTER_S + at * PAUSE_S:.2f}s,0s">{escape(line.text)}</text>'
        for at, line in enumerate(lines)
    )
    colours = "".join(f".{kind}{{fill:{colour}}}" for kind, colour in COLOURS.items())
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"\
 viewBox="0 0 {width} {height}">
<style>
text{{font:14px ui-monospace,Menlo,Consolas,monospace;white-space:pre;\
animation:show .2s both,poster {POSTER_S}s linear}}
{colours}
@keyframes show{{from{{opacity:0}}to{{opacity:1}}}}
@keyframes poster{{from,to{{opacity:1}}}}
@media (prefers-reduced-motion:reduce){{text{{animation:none}}}}
</style>
<rect width="100%" height="100%" rx="8" fill="#0d1117"/>
{rows}
</svg>
"""


def main() -> None:
    target = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).parents[1] / "docs/session.svg"
    with tempfile.TemporaryDirectory() as folder:
        target.write_text(drawn(record(Path(folder))), encoding="utf-8")


if __name__ == "__main__":
    main()
