"""Which rows of which transcripts are read, and how often."""

import json
import os
import socket
from datetime import timedelta

import pytest

from ademem.core.client_memory import slug
from tests.plugins.replay.transcript_writer import BEGIN, prompt, ran, refused
from tests.world import World

NPM = refused("c1", "Bash", command="npm install dayjs")
STEPS = [prompt("add dayjs", uuid="u0"), *NPM]


@pytest.fixture
def rule(past):
    return past.know("Use pnpm, not npm", "`npm install`")


def read(found):
    return found.sessions, found.calls, found.prompts, len(found.mistakes)


def test_copies_of_a_session_count_each_call_once(past, rule):
    """R3"""
    path = past.session("one", *STEPS)
    rows = path.read_text().splitlines(keepends=True)
    more = past.session("two", *STEPS, prompt("and now"), ran("c2", "Bash", command="ls"))
    resumed = more.read_text().splitlines(keepends=True)
    forked = [line.replace('"sessionId": "one"', '"sessionId": "two"') for line in rows]
    more.write_text("".join([*forked, *resumed[len(rows) :]]))
    compacted = path.with_name("three.jsonl")
    compacted.write_text("".join([*rows[1:], *resumed[len(rows) :]]))

    found = past.replay()

    assert (found.calls, found.prompts, len(found.mistakes)) == (2, 2, 1)


def test_subagents_and_worktrees_are_read_and_other_projects_are_not(past, rule):
    inside = past.world.root / ".claude" / "worktrees" / "blue"
    past.session("one", prompt("delegate it"), begin=BEGIN)
    past.session("one", *NPM, agent="a1", begin=BEGIN + timedelta(seconds=30))
    past.session("two", prompt("go"), refused("d1", "Bash", command="npm install x"), root=inside)
    nested = past.world.root / "tools" / "gen"
    nested.mkdir(parents=True)
    World(nested)
    past.session("four", prompt("go"), refused("f1", "Bash", command="npm install"), root=nested)
    beside = f"{past.world.root}-2"
    past.session("three", prompt("go"), refused("e1", "Bash", command="npm install"), root=beside)

    assert read(past.replay()) == (2, 2, 2, 2)


def test_what_no_person_typed_is_no_prompt_and_print_mode_counts_if_asked_for(past, rule):
    meta = prompt("continue", fields={"isMeta": True})
    notice = prompt("<task-notification>done</task-notification>")
    output = prompt("<local-command-stdout>ok</local-command-stdout>")
    past.session("one", prompt("add dayjs"), meta, notice, output, *NPM)
    other = refused("d1", "Bash", command="npm install x")
    past.session("two", prompt("add x"), *other, entrypoint="sdk-cli")

    found = past.replay()

    assert (*read(found), found.left_out) == (1, 1, 1, 1, 1)
    assert read(past.replay(all=True)) == (2, 2, 2, 2)


def test_only_what_came_since_a_day_is_read(past, rule):
    past.session("one", *STEPS)
    later = refused("d1", "Bash", command="npm install x")
    past.session("two", prompt("add x"), *later, begin=BEGIN + timedelta(days=9))

    assert read(past.replay(since="2026-03-05T00:00:00.000Z")) == (1, 1, 1, 1)


def test_what_cannot_be_read_is_counted_and_skipped(past, rule):
    """R5"""
    path = past.session("one", *STEPS)
    with path.open("a") as file:
        file.write("no JSON at all\n")
        file.write('{"type": "user", "message"\n')
        file.write('{"type":"user","message":{"content":"' + "x" * 50_000_000 + '"}}\n')
        file.write('{"type": "assistant", "message": ["a newer client"]}\n')
        file.write('{"type": "user-v9", "turn": {"kind": "ask"}}\n')
        file.write('{"type": "user", "message": {"content": "half a li')
    newer = past.session("two", prompt("go"), version="9.0.0")
    newer.with_name("gone.jsonl").symlink_to("/nowhere")
    newer.with_name("folder.jsonl").mkdir()

    found = past.replay()

    assert read(found) == (2, 1, 2, 1)
    assert (found.skipped_lines, found.skipped_files) == (4, 2)


def test_an_interrupt_tells_what_was_read(past, rule):
    past.session("one", *STEPS)
    past.session("two", prompt("go"), begin=BEGIN + timedelta(days=1))

    def interrupt(done, total):
        raise KeyboardInterrupt

    found = past.replay(on_session=interrupt)

    assert (found.sessions, found.is_partial, len(found.mistakes)) == (1, True, 1)


def snapshot(past):
    """All rows of the store, and all files but the result of a replay."""
    with past.world.terminal() as memories:
        tables = memories.store.column("select name from sqlite_master where type = 'table'", ())
        rows = {
            name: [tuple(row) for row in memories.store.db.execute(f"select * from {name}")]
            for name in tables
        }
    files = {
        str(path): path.read_bytes()
        for folder in (past.world.root, past.config)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.startswith(("ade.db", "replay.json"))
    }
    return rows, files


def test_a_replay_changes_nothing_and_opens_no_socket(past, rule, monkeypatch):
    """R6"""
    past.session("one", *STEPS, prompt("what does pnpm do here?"))
    before = snapshot(past)
    monkeypatch.setattr(socket, "socket", None)
    past.run()

    assert snapshot(past) == before


def test_no_secret_and_nothing_private_is_told_or_stored(past, rule):
    """R7"""
    secret, private = "ghp_" + "a1B2c3D4" * 4 + "wxyz", "the merger with Elm"
    past.session(
        "one",
        prompt(f"add it <private>{private}</private> with {secret}"),
        refused(
            "c1", "Bash", command=f"npm install --token {secret} # <private>{private}</private>"
        ),
        prompt(f"no, pnpm <private>{private}</private> {secret}"),
        ran("c2", "Bash", command=f"npm install {secret}"),
    )
    past.session("two", prompt(f"always use pnpm here, {secret}, <private>{private}</private>"))
    past.session("three", prompt(f"always use pnpm here, {secret}, <private>{private}</private>"))
    printed = past.run("--all") + past.run("--all", "--json")
    stored = past.stored()

    assert "npm install" in printed
    assert [word for word in (secret, private) if word in printed + stored.read_text()] == []
    assert stored.stat().st_mode & 0o777 == 0o600


def test_the_file_has_no_longer_text_of_a_prompt_than_a_line(past, rule):
    past.session("one", prompt("add dayjs"), ran("c1", "Bash", command="npm install dayjs"))
    past.session("one-b", prompt("no, pnpm. " + "It is a long story. " * 40))
    long = "always use pnpm here, " + "because of the lock file that the deploy reads, " * 5
    past.session("two", prompt(long))
    past.session("three", prompt(long))
    past.run()
    texts = [each["quote"] for each in json.loads(past.stored().read_text())["repeated"]]

    assert max(map(len, texts)) <= 120


def test_the_name_of_the_folder_is_the_clients(past):
    path = past.session("one", prompt("go"))

    assert path.parent.name == slug(os.path.realpath(past.world.root))
