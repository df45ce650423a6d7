"""Measure `ademem replay` on sessions of a size: seconds, and peak memory of the process.

    python bench/past_sessions.py [--sessions 1000] [--megabytes 2000] [--memories 300]

Each session is a transcript as Claude Code 2.1.332 writes it: prompts, files that are read, edits
with the file's text before, and commands. Files are of 4 to 60 kB; half of the bytes are what was
read. Sessions are written into a temporary folder, which is removed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ademem import operations
from ademem.core.client_memory import slug
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import writing
from ademem.search import binding

AREAS = ("orders", "billing", "search", "mail", "auth", "stock", "reports", "import")
COMMANDS = ("git status --short", "pytest -q tests/{a}", "pnpm run build", "ls src/{a}", "git diff")
FILES = 100
"""Files of an area; so every third edit meets a memory."""
BEGIN = datetime(2026, 1, 1, 9, tzinfo=UTC)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--megabytes", type=int, default=2000)
    parser.add_argument("--memories", type=int, default=300)
    parser.add_argument("--root", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.root:
        return measure(Path(given.root))
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "project"
        make_project(root, given.memories)
        size = write_sessions(root, given.sessions, given.megabytes * 1_000_000)
        print(f"{given.sessions:,} sessions, {size / 1e6:,.0f} MB, {given.memories} memories")
        command = [sys.executable, __file__, "--root", str(root)]
        subprocess.run(command, check=True, env={**os.environ, **environment(root)})
    return None


def environment(root: Path) -> dict[str, str]:
    return {"CLAUDE_CONFIG_DIR": str(root.parent / "config"), "HOME": str(root.parent / "home")}


def measure(root: Path) -> None:
    from ademem.plugins.replay import replaying

    os.sched_setaffinity(0, {next(iter(os.sched_getaffinity(0)))})
    began = time.monotonic(), time.process_time()
    with operations.open_memories(str(root), catch_up=False) as memories:
        found = replaying.replay(memories)
        replaying.save(found, memories)
    wall_s, cpu_s = time.monotonic() - began[0], time.process_time() - began[1]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{cpu_s:.1f} s of one core ({wall_s:.1f} s on the clock), {peak:.0f} MiB")
    print(f"{found.calls:,} calls, {found.prompts:,} prompts, {found.figures}")


def make_project(root: Path, count: int) -> None:
    for area in AREAS:
        for number in range(FILES):
            path = root / "src" / area / f"part{number}.py"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x = 1\n")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    operations.init(str(root), environment=os.environ | environment(root))
    by_person = Origin(trust=Trust.USER, source_type="user")
    with operations.open_memories(
        str(root), environment=os.environ | environment(root)
    ) as memories:
        for number in range(count):
            area = AREAS[number % len(AREAS)]
            text = f"In src/{area}/part{number % FILES}.py use helper_{number} for case {number}"
            draft = Draft(
                content=text,
                category="convention",
                promoted=True,
                origin=by_person,
                created_at=BEGIN - timedelta(days=1),
            )
            writing.write(memories, draft)
        binding.update_bindings(memories.store, memories.project)


def write_sessions(root: Path, count: int, size: int) -> int:
    folder = root.parent / "config" / "projects" / slug(str(root))
    folder.mkdir(parents=True)
    chosen = random.Random(7)
    for number in range(count):
        with open(folder / f"session-{number}.jsonl", "w", encoding="utf-8") as file:
            rows = session_rows(root, number, chosen)
            while file.tell() < size / count:
                file.write(json.dumps(next(rows)) + "\n")
    return sum(path.stat().st_size for path in folder.iterdir())


def session_rows(root: Path, session: int, chosen: random.Random) -> Iterator[dict[str, Any]]:
    at, number = BEGIN + timedelta(hours=3 * session), 0
    while True:
        area = chosen.choice(AREAS)
        turn = [("prompt", f"please change how {area} handles case {chosen.randrange(400)}")]
        kinds = ("Read", "Edit", "Bash", "Bash")
        turn += [(chosen.choice(kinds), area) for _ in range(chosen.randrange(3, 12))]
        turn.append(("text", f"Changed {area}; helper_{chosen.randrange(3000)} does it now."))
        for kind, what in turn:
            number += 1
            at += timedelta(seconds=5)
            for row in step_rows(kind, what, f"{session}-{number}", root, chosen):
                yield {
                    "uuid": f"{row['type']}-{session}-{number}",
                    "sessionId": f"session-{session}",
                    "timestamp": f"{at:%Y-%m-%dT%H:%M:%S.000}Z",
                    "cwd": str(root),
                    "entrypoint": "cli",
                    "version": "2.1.332",
                    **row,
                }


def step_rows(
    kind: str, what: str, id: str, root: Path, chosen: random.Random
) -> Iterator[dict[str, Any]]:
    if kind == "prompt":
        yield {"type": "user", "message": {"role": "user", "content": what}}
        return
    if kind == "text":
        yield of_model({"type": "text", "text": what})
        return
    path = str(root / "src" / what / f"part{chosen.randrange(FILES)}.py")
    lines = chosen.randrange(100, 1500)
    text = "\n".join(f"def function_{n}(value): return value + {n}" for n in range(lines))
    given: dict[str, Any] = {"file_path": path}
    noted: dict[str, Any] = {"type": "text", "file": {"filePath": path, "content": text}}
    said = text
    if kind == "Edit":
        old, new = "def function_7(", f"def function_7_{id.replace('-', '_')}("
        given |= {"old_string": old, "new_string": new}
        noted = {"filePath": path, "oldString": old, "newString": new, "originalFile": text}
        said = f"The file {path} has been updated."
    elif kind == "Bash":
        said = text[: chosen.randrange(100, 4000)]
        given = {"command": chosen.choice(COMMANDS).format(a=what) + f" # {id}"}
        noted = {"stdout": said, "stderr": "", "interrupted": False}
    yield of_model({"type": "tool_use", "id": f"t-{id}", "name": kind, "input": given})
    block = {"type": "tool_result", "tool_use_id": f"t-{id}", "content": said, "is_error": False}
    yield {
        "type": "user",
        "message": {"role": "user", "content": [block]},
        "toolUseResult": noted,
    }


def of_model(block: dict[str, Any]) -> dict[str, Any]:
    usage = {"input_tokens": 1000, "output_tokens": 20}
    message = {"role": "assistant", "model": "claude", "content": [block], "usage": usage}
    return {"type": "assistant", "message": message}


if __name__ == "__main__":
    main()
