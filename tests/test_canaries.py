"""Keys of every kind, brought in by every door, leave no byte on disk."""

from __future__ import annotations

import json
import sqlite3
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import failure_log, project
from ademem.core.memory import Draft, Origin
from ademem.core.value import replace
from ademem.doors import cli
from ademem.operations import curation, searching, upkeep, writing
from ademem.operations.files import export_memories, import_lines, refresh_files, update_brief
from ademem.session import answer, stop
from ademem.store.runtime import Runtime
from ademem.synthesis.anchoring import NoSuchPlace
from ademem.worker import running
from tests.canaries import CANARIES, found_below, sentence
from tests.capture.talk import Talk
from tests.examples import FULL, some

KEYS = ["".join(canary) for canary in CANARIES.values()]
NAMES = [value for before, value, _ in CANARIES.values() if not before]
"""Keys that are known as such wherever they stand, also in a name."""
TEXTS = [sentence(number, canary) for number, canary in enumerate(CANARIES.values())]


class Place:
    """A project, and the client and the person who work in it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.monkeypatch, self.number = root / "project", monkeypatch, 0
        (self.root / ".ade").mkdir(parents=True)
        self.environment = {
            "CLAUDE_PROJECT_DIR": str(self.root),
            "TMPDIR": str(root / "tmp"),
            "PATH": "/usr/bin:/bin",
            "ADEMEM_JOBS_AUTO": "false",
            "ADEMEM_GUARD_MAX_BLOCKS": "20",
        }
        (root / "tmp").mkdir()
        operations.init(str(self.root))
        self.idle = sqlite3.connect(self.root / ".ade/ade.db")
        self.idle.execute("select * from projects").fetchall()
        """Keeps the write-ahead log on disk, as another session would."""

    def fire(self, event: str, **payload: object) -> str:
        from importlib import import_module

        self.number += 1
        turn = {"session_id": "s1", "prompt_id": f"p{self.number}", "cwd": str(self.root)}
        handle = import_module(f"ademem.session.{event}").handle
        return answer(handle, json.dumps(turn | payload).encode(), self.environment, self.now())

    def bash(self, event: str, command: str, **payload: object) -> None:
        call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "t"}
        call["tool_use_id"] = f"t{self.number}"
        self.fire(event, **call | {"tool_response": {}} | payload)

    def now(self) -> datetime:
        return datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def memories(self) -> Runtime:
        return operations.open_memories(str(self.root), environment=self.environment, now=self.now)


@pytest.fixture
def place(tmp_path, monkeypatch):
    place = Place(tmp_path, monkeypatch)
    yield place
    place.idle.close()


def python(place):
    with place.memories() as memories:
        for text, key in zip(TEXTS, KEYS, strict=True):
            written = writing.write(
                memories, Draft(content=text, title=key, tags=(key,), path=key, bead=key)
            ).memory
            with pytest.raises(NoSuchPlace):
                writing.write(memories, Draft(content=text, anchors=(key,)))
            writing.write(memories, Draft(content=key, category=key, importance=key))
            writing.write(memories, Draft(content=key, scope="agent", owner=key, topic_key=key))
            origin = Origin(source_id=key, session_id=key, agent_id=key, branch=key, run_id=key)
            writing.write(memories, Draft(content=f"{written.id} is about the key", origin=origin))
            writing.learn(memories, text, bead=key, tags=(key,), key=key)
            curation.edit(
                memories, written.id, content=text, title=key, tags=(key,), file_scope_pattern=key
            )
            searching.recall(memories, text)
            searching.recall(memories, "x" * 480 + text)
            searching.search(memories, text)


def standing_brief(place):
    with place.memories() as memories:
        for text in TEXTS:
            update_brief(memories, {"project_summary": text, "notes": (text,)})


def files(place):
    with place.memories() as memories:
        for text, key in zip(TEXTS, KEYS, strict=True):
            plain = {"content": text, "title": key, "tags": [key], "source_id": key, "path": key}
            beads = {"key": key, "type": "learned", "content": text, "tags": [key], "bead": key}
            own = {"ademem": 1, "id": "id1", "sync_id": "sync1", "category": "fact"} | plain
            names = {"source_type": key, "agent_id": key, "source_branch": key, "topic_key": key}
            lines = [plain, plain | {"source_session_id": key}, beads, own | names]
            ids = [own | {"id": key, "sync_id": "s2"}, own | {"sync_id": key}]
            import_lines(memories, [json.dumps(line) for line in (*lines, *ids)])
            import_lines(memories, [json.dumps(plain, ensure_ascii=True)[:-5], text])


def prompts(place):
    for text in TEXTS:
        place.fire("user_prompt_submit", prompt=f"Fix the login: {text}")
        place.fire("user_prompt_submit", prompt=f"remember: {text}")
    for text in some(TEXTS):
        place.fire("user_prompt_submit", prompt="x" * 19_950 + f" {text}")
        pem = f"-----BEGIN PRIVATE KEY-----\n{'QUJDREVGR0hJSktMTU5P' * 1500}\n"
        place.fire("user_prompt_submit", prompt=f"{pem}{'y' * (39_900 - len(pem))} {text}")


def lessons(place):
    for text, key in zip(TEXTS, KEYS, strict=True):
        quoted = text.replace("'", "'\\''")
        place.bash("post_tool_use", f"bd comment BD-1 'LEARNED: {quoted}'")
        place.bash("post_tool_use", f"bd comment BD-1 'LEARNED: {'x ' * 990} {quoted}'")
        place.bash("post_tool_use", f"git commit -m 'Fix\n\nGOTCHA: {quoted}'")
        place.fire("stop", last_assistant_message=f"## Key learnings\n\n- {text}\n")
        said = f"## Key learnings\n\n1. {text}\n"
        place.fire("subagent_stop", agent_id="a", agent_type=key, last_assistant_message=said)


def failed_commands(place):
    for number, text in enumerate(TEXTS):
        command = f"deploy{number} --with {text}"
        place.bash("post_tool_use_failure", command, error=f"Exit code 1\nError {number}: {text}")
        long = f"Error {number} in {'abcd ' * 58}{text}"
        place.bash("post_tool_use_failure", f"{'abcd ' * 29}{text}", error=long)


def guarded_calls(place):
    for text in TEXTS:
        place.fire("user_prompt_submit", prompt=f"Delete the old login in {text}")
        place.number -= 1
        place.bash("pre_tool_use", f"rm -rf {text}")
        place.fire("user_prompt_submit", prompt="Fix the login bug")
        place.number -= 1
        path = {"file_path": f"/p/{'d' * 180}/{text}"}
        place.fire("pre_tool_use", tool_name="Write", tool_input=path, tool_use_id="w")


def sessions(place):
    for text, key in zip(TEXTS, KEYS, strict=True):
        place.fire("session_start", source="startup", session_id=f"s{hash(key)}", cwd=f"/{text}")
        (place.root / ".git").mkdir(exist_ok=True)
        (place.root / ".git/HEAD").write_text(f"ref: refs/heads/{key}\n")
        place.fire("session_start", source=key, session_id=f"t{hash(key)}")
        (place.root / ".git/HEAD").unlink()
        place.fire("subagent_start", agent_id="a", agent_type=key)
        place.fire("session_end", reason=key)


def failing_hooks(place):
    def fails(message):
        raise ValueError(message)

    place.monkeypatch.setattr(stop, "may_have_learnings", fails)
    for text in TEXTS:
        place.fire("stop", last_assistant_message=text)
        place.fire("stop", last_assistant_message="x" * 450 + f" {text}")
    found = project.at(str(place.root))
    failure_log.log(None, "stop", ValueError(TEXTS[0]), place.environment, place.now())
    assert len(failure_log.recent(found, place.environment)) == 2 * len(TEXTS) + 1


def failing_jobs(place):
    for text in TEXTS:

        def fails(shift, job, text=text):
            raise ValueError(text)

        with place.memories() as memories:
            writing.write(memories, "Releases are cut on Mondays")
            failing = tuple(replace(kind, run=fails) for kind in running.JOBS[:1])
            place.monkeypatch.setattr(running, "JOBS", failing)
            upkeep.work(memories, retry=True)
            place.monkeypatch.undo()


def crashes(place):
    place.monkeypatch.setenv("TMPDIR", place.environment["TMPDIR"])
    place.monkeypatch.setattr(sys, "argv", ["ademem", "list", "--project", str(place.root)])
    for text in TEXTS:

        def fails(*_, text=text, **__):
            raise RuntimeError(text)

        place.monkeypatch.setattr(operations, "open_memories", fails)
        with pytest.raises(SystemExit, match="3"):
            cli.main()
    place.monkeypatch.undo()


def ids_of_the_client(place):
    """A session, a turn, an agent and a call may be called anything."""
    for key in NAMES:
        session = {"session_id": f"run/{key}", "prompt_id": f"p/{key}", "agent_id": f"a/{key}"}
        place.fire("session_start", source="startup", transcript_path=f"/t/{key}.jsonl", **session)
        main = {name: id for name, id in session.items() if name != "agent_id"}
        place.fire("user_prompt_submit", prompt="Fix the login bug", **main)
        for event in ("pre_tool_use", "post_tool_use"):
            place.bash(event, "bd comment BD-1 'LEARNED: WAL needs memory'", **main)
        place.bash("pre_tool_use", "rm -rf build", **session | {"tool_use_id": f"t/{key}"})
        place.bash("post_tool_use_failure", "make", error=f"Error: no {key}", **session)
        place.fire("subagent_stop", agent_type=key, last_assistant_message="done", **session)
        place.environment["CLAUDE_CODE_SESSION_ID"] = f"run/{key}"
        with place.memories() as memories:
            writing.write(memories, "Releases are cut on Mondays")
            searching.recall(memories, "releases")
            writing.learn(memories, "Releases take an hour")
        del place.environment["CLAUDE_CODE_SESSION_ID"]
        place.fire("session_end", reason="other", transcript_path=f"/t/{key}.jsonl", **session)


def branches(place):
    """What is learned on a branch waits in a file that carries its name."""
    (place.root / ".git").mkdir()
    for number, key in enumerate(NAMES):
        (place.root / ".git/HEAD").write_text(f"ref: refs/heads/fix/{key}\n")
        place.fire("session_start", source="startup", session_id=f"b{number}")
        with place.memories() as memories:
            writing.write(memories, f"Service{number} listens on another port")
            refresh_files(memories)
            searching.search(memories, "port")


def episodes(place):
    """Sessions whose files, commands and results have keys in their names and texts."""
    for number, text in enumerate(TEXTS):
        name = NAMES[number % len(NAMES)]
        talk = Talk(f"e{number}").types(f"Fix the login in {text}").edits(f"/p/src/{name}.py")
        talk.runs(f"deploy --with {text}", f"Error: {text}", failed=True)
        talk.does("Read", text, file_path=f"/p/keys/{name}").says(f"Decision: we keep {text}")
        talk.runs("pytest -q", f"1 passed in {name}").does("mcp__x__get_y", "1", query=text)
        path = str(talk.write(place.root.parent / f"e{number}.jsonl"))
        session = {"session_id": f"e{number}", "transcript_path": path}
        place.fire("session_start", source="startup", **session)
        place.fire("session_end", reason="other", **session)
    with place.memories() as memories:
        upkeep.work(memories)
        assert len(searching.list_memories(memories)) > 0


def exports(place):
    """What was stored by an older version leaves by no export or file."""
    with place.memories() as memories:
        for text, key in zip(TEXTS, KEYS, strict=True):
            writing.write(
                memories, Draft(content=text, title=f"About {key}", topic_key=key, promoted=True)
            )
            writing.write(memories, Draft(content=f"On {text}", knowledge_key=key, promoted=True))
        refresh_files(memories)
        told = "\n".join(json.dumps(line) for line in export_memories(memories))
    (place.root / ".ade/export.jsonl").write_text(told)


DOORS = (
    ids_of_the_client,
    branches,
    episodes,
    exports,
    python,
    standing_brief,
    files,
    prompts,
    lessons,
    failed_commands,
    guarded_calls,
    sessions,
    failing_hooks,
    failing_jobs,
    crashes,
)


def test_there_are_keys_of_many_kinds():
    assert len(CANARIES) >= 40


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__name__)
def test_no_key_comes_in_by_a_door(place, door, monkeypatch):
    if not FULL:
        for name in ("KEYS", "TEXTS", "NAMES"):  # each door another eighth
            some = globals()[name][DOORS.index(door) % 8 :: 8]
            monkeypatch.setattr(sys.modules[__name__], name, some)
    door(place)
    with place.memories() as memories:
        writing.write(memories, "The log of the database holds what was written last")
        refresh_files(memories)

    assert (place.root / ".ade/ade.db-wal").stat().st_size > 0
    assert found_below(place.root / ".ade", Path(place.environment["TMPDIR"])) == {}
