"""Projects with rules, and the module's pure part, asked in one process of node."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from ademem.core.memory import Origin, Trust
from ademem.plugins.client import compiling, places

NODE = shutil.which("node")
"""The client's package needs node 18 or newer, so it is on PATH wherever the client is."""
MODULE = Path(compiling.__file__).parent / "module/hooks"
BY_PERSON = {"origin": Origin(trust=Trust.USER, source_type="user")}
BY_AGENT = {"origin": Origin(trust=Trust.AGENT, source_type="agent")}

FIRST = (
    ("Never edit generated code by hand", {"at": ("gen/**",), "stop": True}),
    ("The schema is frozen until the audit", {"at": ("db/schema.sql on edit",)}),
    ("A new migration needs a number", {"at": ("db/migrations/ on create",), "stop": True}),
    ("Push only after the tests passed", {"at": ("`git push`",), "stop": True}),
    ("Lock files are written by the tool", {"at": (".lock", "package-lock.json")}),
    ("Use the logger of the project", {"at": ("text:console.log",)}),
    ("Deploy on Tuesdays alone", {"at": ("act:deploy",), "stop": True}),
    ("The parser reads from left to right", {"at": ("src/parser.py",), "is_note": True}),
    ("Wait for the smoke test of staging", {"at": ("`stage now`",), "is_note": True}),
)
SECOND = (
    ("Keep the vendored copy as it came", {"at": ("vendor/",), "stop": True}),
    ("Routes stand in one place", {"at": ("pages/[id].tsx", "src/{a,b}/*.ts")}),
    ("Use pnpm, never npm", {"at": ("family:js packages !pnpm", "`npm install`"), "stop": True}),
    ("Never drop a table", {"at": ("text:drop table",), "stop": True}),
    ("Do not run the whole suite", {"at": ("act:whole suite",)}),
    ("cargo check is enough", {"at": ("`cargo build --release`",)}),
    ("Agents chose this place", {"at": ("docs/*.md",), "by": BY_AGENT}),
    ("Was read off a file name, src/app.py", {"by": BY_AGENT}),
    ("Ask before a call of drop", {"at": ("src/c/ with text:drop",), "stop": True}),
    ("An agent took the whole tree", {"at": ("src/**",), "by": BY_AGENT}),
    ("The style guide is old", {"at": ("*.css",), "is_note": True}),
    ("Colours come from the theme", {"at": ("*.css with text:#fff",)}),
)


def know(world, rules):
    for text, given in rules:
        chosen = "@ " if "at" in given else "@read "
        anchors = tuple(f"{chosen}{key}" for key in given.get("at", given.get("read", ())))
        world.know(
            text,
            anchors=anchors,
            category="fact" if given.get("is_note") else "convention",
            tags=("stop",) if given.get("stop") else (),
            promoted=not given.get("is_candidate"),
            **given.get("by", BY_PERSON),
        )


def install(world):
    """Let the module be installed, and its file be written as at the start of a session."""
    folder = Path(places.folder(world.environment))
    folder.mkdir(parents=True, exist_ok=True)
    world.fire("session_start", source="startup")
    return folder


def file_of(world):
    folder = Path(places.folder(world.environment))
    listed = json.loads((folder / places.PROJECTS).read_text())
    return folder / listed[str(world.root)]


def judge(world, calls):
    """Return verdict and reason of the module's pure part for each call; None without rules."""
    return judge_file(file_of(world), world.root, calls)


def judge_file(file, root, calls):
    if NODE is None:
        pytest.skip("no node on PATH, which Claude Code needs")
    asked = {"file": str(file), "root": str(root), "calls": calls}
    ran = subprocess.run(
        [NODE, str(Path(__file__).parent / "judge.mjs"), str(MODULE / "find.mjs")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(ran.stdout)
