"""`ademem` alone tells what memory did and names the next command."""

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from ademem import __version__, operations
from ademem.core.client import TurnKey
from ademem.core.project import import_path
from ademem.operations.overview import estimate
from ademem.store import logs, outcomes, sessions
from tests.builders import insert, memory


@pytest.fixture
def registered(ademem):
    ademem("install")
    assert ademem.exit_code == 0


def test_outside_a_project_it_offers_one(ademem, tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)

    said = ademem()
    assert ademem.exit_code == 0
    assert said == f"◆ ademem {__version__} · no memory here\n  Next        ademem init\n"
    assert ademem.json() == {"version": __version__, "next": "init"}


def test_it_tells_what_memory_did_and_what_waits(ademem, registered):
    with operations.open_memories() as opened:
        first, _ = insert(opened.store, memory("Use pnpm"), memory("Maybe", status="candidate"))
        key = TurnKey(session_id="s1")
        shown = [logs.Shown(memory_id=first.id, binding="program npm install any")]
        logs.log_shown(opened.store, "guard", shown, opened.now, key=key, call="npm install")
        outcomes.end_turn(opened.store, key, opened.now)

    lines = ademem().splitlines()
    found = ademem.json()
    assert ademem.exit_code == 0
    assert [line.split()[0] for line in lines] == ["◆", "In", "Memory", "Running", "Next"]
    assert lines[1].endswith("prevented 1")
    assert lines[2].endswith("2 memories, 1 confirmed · 1 waits for your word")
    assert lines[3].split("  ")[-1].lstrip().startswith("hooks, guard, search by")
    assert lines[4].endswith("ademem review (about a minute)")
    assert found["effects"] == ademem.json("status")["effects"]
    assert found["waiting"] == sum(ademem.json("status")["review"].values())


def test_it_counts_what_is_listed(ademem):
    ids = [ademem.json("add", f"Rule {n} holds")["memory"]["id"] for n in range(5)]
    ademem("add", "Tabs over spaces", "--scope", "personal", "--category", "preference")
    ademem("archive", ids[0])
    ademem("archive", ids[3])
    ademem("delete", ids[1])
    ademem("add", "Rule two no longer holds", "--replaces", ids[2])
    ademem.inside()
    ademem("add", "Maybe")
    ademem.outside()

    listed, found = ademem.json("list")["memories"], ademem.json()
    assert found["memories"] == len(listed) == 4
    assert found["confirmed"] == [row["status"] for row in listed].count("promoted")
    assert "  4 memories, " in ademem()


def test_it_names_hooks_that_are_not_registered(ademem):
    said = ademem()

    assert "hooks are not registered" in said
    assert said.endswith("ademem install\n")
    assert ademem.json()["has_hooks"] is False


@pytest.mark.parametrize(("enabled", "has"), [(True, True), (False, False)])
def test_the_plugin_brings_the_hooks_where_it_is_enabled(ademem, enabled, has):
    folder = ademem.root / ".claude"
    folder.mkdir(exist_ok=True)
    text = f'{{"enabledPlugins": {{"ademem@ademem": {str(enabled).lower()}}}}}'
    (folder / "settings.json").write_text(text)

    assert ademem.json()["has_hooks"] is has


def test_a_plugin_that_the_project_disables_brings_no_hooks(ademem):
    own = ademem.root.parent / "home" / ".claude"
    for folder, enabled in ((own, "true"), (ademem.root / ".claude", "false")):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(
            f'{{"enabledPlugins": {{"ademem@ademem": {enabled}}}}}'
        )

    assert ademem.json()["has_hooks"] is False


def test_an_open_session_shows_that_hooks_run_without_a_settings_file(ademem):
    """As with `claude --plugin-dir`."""
    with operations.open_memories() as opened:
        place = {"source": "startup", "directory": str(ademem.root), "branch": None}
        place |= {"transcript": "/home/ada/.claude/projects/app/s1.jsonl"}
        sessions.start(opened.store, "s1", now=opened.now - timedelta(hours=2), **place)

    assert "hooks are not registered" not in ademem()
    assert ademem.json()["next"] != "install"
    assert "a plugin of an open session runs them" in ademem("doctor")

    with operations.open_memories() as opened:
        sessions.end(opened.store, "s1", "other", opened.now)

    assert "hooks are not registered" in ademem()
    assert "not in any settings file" in ademem("doctor")


def test_a_session_that_an_mcp_server_or_a_command_opened_shows_no_hooks(ademem):
    with operations.open_memories() as opened:
        sessions.add(opened.store, "s1", str(ademem.root), None, "mcp", opened.now)
    assert ademem.json("session", "start", "s2")["source"] == "startup"

    assert ademem.json()["has_hooks"] is False
    assert "not in any settings file" in ademem("doctor")


def test_a_failed_hook_comes_before_the_review(ademem, registered):
    log = ademem.root / ".ade" / "log"
    log.mkdir(exist_ok=True)
    keys = '"event": "stop", "error": "OSError: full", "traceback": "…"'
    line = f'{{"at": "2026-01-01T00:00:00.000Z", "project": "{ademem.root}", {keys}}}\n'
    (log / "hooks.log").write_text(line)

    assert ademem.json()["next"] == "doctor"


def test_instructions_that_nobody_decided_about_come_before_the_review(ademem, registered):
    (ademem.root / "CLAUDE.md").write_text("- Use pnpm, never npm\n")

    assert ademem.json()["next"] == "adopt"
    ademem("adopt")
    assert ademem.json()["next"] != "adopt"


def test_what_stands_in_files_and_is_not_taken_in_is_named_whatever_comes_first(ademem):
    ademem("add", "Invoices are rounded half to even")
    ademem("work")
    assert "Pending" not in ademem()
    path = ademem.root / ".ade/memory/knowledge.jsonl"
    path.write_text(path.read_text().replace("half to even", "half to odd"))
    (ademem.root / "CLAUDE.md").write_text("- Use pnpm, never npm\n")

    lines = ademem().splitlines()
    assert lines[3] == (
        "  Pending     files changed since they were read (`ademem files import`);"
        " CLAUDE.md has 1 rule (`ademem adopt`)"
    )
    assert lines[5].endswith("ademem install")
    ademem("install")
    assert ademem.json()["next"] == "files import"
    ademem("files", "import")
    assert ademem.json()["next"] == "adopt"
    ademem("adopt")
    assert ademem.json()["pending"] == []


def test_a_line_that_cannot_be_read_is_named_while_it_is_there(ademem, registered):
    ademem("add", "Invoices are rounded half to even")
    ademem("work")
    path = ademem.root / ".ade/memory/knowledge.jsonl"
    whole = path.read_text()
    path.write_text(f'{whole}{{"broken\n')
    for _ in range(2):
        assert "knowledge.jsonl:2: is not an object" in ademem("files", "import")
        assert ademem.exit_code == 1
        assert "Pending     knowledge.jsonl:2 cannot be read (`ademem files check`)" in ademem()
    assert ademem.json()["next"] == "files check"
    assert "knowledge.jsonl:2: is not an object" in ademem("files", "check")

    path.write_text(whole)
    assert ademem("files", "import") == "the files say nothing new\n"
    assert ademem.exit_code == 0
    assert ademem.json()["pending"] == []


def test_an_import_that_is_under_way_is_named(ademem, registered):
    with operations.open_memories() as opened:
        path = import_path(opened.project)
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text("{}\n")

    assert "an import of files goes on (`ademem work`)" in ademem()


def test_it_loads_no_parser_and_no_printer(ademem):
    code = "import sys; sys.argv = ['ademem']\nfrom ademem.doors import cli\n"
    code += "try: cli.main()\nexcept SystemExit: pass\nprint(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True
    )

    loaded = set(ran.stdout.splitlines()[-1].split())
    assert not loaded & {"rich", "typer", "click", "numpy", "orjson", "argparse", "shutil"}


def test_a_review_takes_some_seconds_a_decision():
    assert [estimate(count) for count in (1, 11, 12, 30)] == [
        *("about a minute", "about a minute"),
        *("about 2 minutes", "about 4 minutes"),
    ]


def test_install_offers_a_status_line_unless_one_is_set(ademem):
    assert "statusline.sh" in ademem("install")
    own = ademem.root / ".claude/settings.json"
    own.write_text('{"statusLine": {"type": "command", "command": "date"}}')

    assert "statusline.sh" not in ademem("install")
