"""Files that are far too large, with hooks and the worker as processes of their own.

ADEMEM_EXAMPLES=full takes the sizes of a hostile clone; `-s` shows memory and time of each process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from ademem import operations
from ademem.operations.install.registration import EVENTS
from tests.examples import FULL, some
from tests.session.payloads import NAMES, payload

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "tests/hostile/measured.py"
TIMEOUT_S = {event.hook: event.timeout for event in EVENTS}
MOST_MB = 200
"""Peak memory of a hook, and of the worker."""

ADDRESSES = 16 << 30
"""Bytes of address space that a process may take: no bound here."""


def size(small, full):
    return full if FULL else small


def lesson(number):
    return f"Lesson {number} of subsystem {number % 97} holds for part-{number}"


def line(number, **fields):
    id = f"memory{number:06}"
    at = f"2026-01-{1 + number % 28:02}T10:00:00.000Z"
    record = {"key": f"fact-{number}", "type": "fact", "content": lesson(number), "source": "user"}
    record |= {"tags": ["large"], "ts": 1767225600 + number, "bead": "", "id": id}
    record |= {"sync_id": id + "0" * 20, "category": "fact", "status": "promoted"}
    return json.dumps(record | {"created_at": at, "updated_at": at} | fields) + "\n"


def many_lines(memory):
    count = size(300, 50_000)
    with open(memory / "knowledge.jsonl", "w") as file:
        file.writelines(map(line, range(count)))
    return count


def one_long_line(memory):
    with open(memory / "knowledge.jsonl", "w") as file:
        file.write(line(0) + "x" * size(2_000_000, 60_000_000) + "\n" + line(1))
    return 2


def one_long_text(memory):
    content = "y " * size(1_000_000, 30_000_000)
    (memory / "knowledge.jsonl").write_text(line(0) + line(7, content=content) + line(1))
    return 2


def many_topic_files(memory):
    files, entries = size(2_100, 20_000), size(100, 20_000)
    for number in range(files):
        entry = f"\n- {lesson(number)}\n" if number < entries else ""
        (memory / f"facts-{number}.md").write_text(f"# Facts\n{entry}")
    return entries


def a_long_topic_file(memory):
    (memory / "gotchas.md").write_text("# Gotchas\n\n- " + "z" * size(2_000_000, 60_000_000))
    (memory / "facts.md").write_text(f"# Facts\n\n- {lesson(0)}\n")
    return 1


def many_candidates(memory):
    count = size(120, 100_000)
    with open(memory / "candidates.md", "w") as file:
        file.write("# Candidates\n\n")
        file.writelines(f"- [ ] {lesson(number)}\n\n" for number in range(count))
    return count


def nested_deeply(memory):
    depth = size(100_000, 1_000_000)
    nested = f'{{"key":"d","content":"nested","x":{"[" * depth}{"]" * depth}}}\n'
    (memory / "knowledge.jsonl").write_text(line(0) + nested + line(1))
    return 2


@dataclass
class Ran:
    said: str
    mb: int


class Machine:
    """A project whose files came from somebody, and programs that are started in it."""

    def __init__(self, folder):
        self.folder, self.root = folder, folder / "project"
        (self.root / ".ade/memory").mkdir(parents=True)
        self.environment = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "PYTHONPATH": str(ROOT),
            "CLAUDE_PROJECT_DIR": str(self.root),
            "ADEMEM_JOBS_AUTO": "false",
        }

    def start(self, name, *command, given=b"", timeout_s=None):
        peak = self.folder / "peak"
        peak.unlink(missing_ok=True)
        started = time.monotonic()
        ran = subprocess.run(
            [sys.executable, MEASURED, peak, name, str(ADDRESSES), sys.executable, *command],
            input=given,
            capture_output=True,
            cwd=self.root,
            env=self.environment,
            timeout=timeout_s,
        )
        assert ran.returncode in (0, 1), ran.stderr.decode()
        mb = int(json.loads(peak.read_text())["mib"])
        print(f"{name:22} {mb:4} MB {time.monotonic() - started:7.1f} s")
        return Ran(ran.stdout.decode(), mb)

    def fire(self, hook, **keys):
        given = json.dumps(payload(hook, cwd=str(self.root)) | keys).encode()
        script = str(ROOT / "hooks" / f"{hook}.py")
        return self.start(hook, script, given=given, timeout_s=TIMEOUT_S[hook])

    def ademem(self, *arguments):
        program = "from ademem.doors.cli import program; program()"
        return self.start(" ".join(arguments), "-c", program, *arguments)

    def live(self):
        with operations.open_memories(
            str(self.root), environment=self.environment, catch_up=False
        ) as memories:
            query = (
                "select count(*) from unified_memories where status <> 'archived'"
                " and content like 'Lesson % of subsystem % holds for part-%'"
            )
            return memories.store.db.execute(query).fetchone()[0]

    def states(self):
        with operations.open_memories(
            str(self.root), environment=self.environment, catch_up=False
        ) as memories:
            query = "select content, status from unified_memories"
            return set(map(tuple, memories.store.db.execute(query)))

    def failures(self):
        log = self.root / ".ade/log/hooks.log"
        return log.read_text() if log.exists() else ""


MADE = [
    many_lines,
    one_long_line,
    one_long_text,
    many_topic_files,
    a_long_topic_file,
    many_candidates,
    nested_deeply,
]


@pytest.mark.parametrize("make", some(MADE, 2))
def test_hooks_end_in_time_and_the_worker_imports_all_that_can_be(tmp_path, make):
    """In a full run each kind of file is met by all hooks, else by a third of them."""
    machine = Machine(tmp_path)
    memory = machine.root / ".ade/memory"
    count = make(memory)
    kept = {path.name: path.read_bytes() for path in memory.iterdir() if path.stat().st_size > 1e6}
    hooks = [hook for hook in NAMES if hook != "session_end"]
    met = hooks if FULL else hooks[MADE.index(make) % 3 :: 3]
    fired = [machine.fire(hook) for hook in ("session_start", *met)]
    worked = machine.ademem("work")
    again = machine.fire("session_start", session_id="the next one")

    assert machine.live() == count
    assert max(ran.mb for ran in (*fired, worked, again)) <= MOST_MB
    assert machine.failures() == ""
    if make in (one_long_line, one_long_text, a_long_topic_file, nested_deeply):
        (name,) = kept or ["knowledge.jsonl"]
        assert name in machine.ademem("files", "check").said
        assert not kept or (memory / name).read_bytes() == kept[name]


def one_more_line(memory):
    with open(memory / "knowledge.jsonl", "a") as file:
        file.write(line(990_001))


def an_edit(memory):
    page = next(page for page in memory.glob("facts*.md") if f"{lesson(77)} <" in page.read_text())
    page.write_text(page.read_text().replace(f"{lesson(77)} <", f"{lesson(990_077)} <"))


CHANGED = [
    (many_topic_files, (one_more_line, an_edit)),
    (many_candidates, (one_more_line,)),
    (many_lines, (one_more_line, an_edit)),
]


@pytest.mark.parametrize(("make", "changes"), CHANGED if FULL else CHANGED[-1:])
def test_a_change_to_large_files_takes_no_more_memory_than_their_import(tmp_path, make, changes):
    machine = Machine(tmp_path)
    memory = machine.root / ".ade/memory"
    make(memory)
    machine.fire("session_start")
    machine.ademem("work")
    before = machine.states()
    ran = []
    for number, change in enumerate(changes):
        change(memory)
        ran.append(machine.fire("session_start", session_id=f"after {number}"))
        ran.append(machine.ademem("work"))
    after = machine.states()

    assert len(after - before) == len(changes)
    assert lesson(990_001) in {content for content, _ in after - before}
    assert max(each.mb for each in ran) <= MOST_MB
    assert machine.failures() == ""


def test_a_command_imports_what_waits_and_says_nothing_of_it_in_a_pipe(tmp_path, monkeypatch):
    machine = Machine(tmp_path)
    monkeypatch.setattr(sys.modules[__name__], "FULL", False)
    many_lines(machine.root / ".ade/memory")
    (machine.root / ".ade/memory/facts.md").write_text("# Facts\n" + (" " * 999 + "\n") * 4_300)
    assert "systemMessage" in machine.fire("session_start").said
    waits = json.loads(machine.ademem("status", "--json").said)["imports"]
    assert "300 lines of knowledge.jsonl wait for the worker" in waits

    found = json.loads(machine.ademem("recall", lesson(221), "--json").said)

    assert found["memories"][0]["content"] == lesson(221)
    assert json.loads(machine.ademem("status", "--json").said)["imports"] == []
