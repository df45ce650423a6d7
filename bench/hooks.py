"""What each hook costs as a whole process, next to `python -I -c "import json, sqlite3"`.

    PYTHONPATH=. python bench/hooks.py [--runs N] [--sizes 0,2000,20000]

The command lines are those that `ademem install` writes. Every round runs the yardstick and each
hook once, in turn, so that a slow moment of the machine hits all of them; figures are ratios of
medians of processor time, and the 95th percentile over the hook's own median. Where a process may
name itself, hooks are started as by a client that a person runs in a terminal: below a login, with
a socket for input.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ademem import operations
from ademem.capture.gate import write
from ademem.core import clock
from ademem.core.client import TurnKey
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import install
from ademem.operations import writing as writing_
from ademem.operations.install import Where
from ademem.search.binding import refresh, write_lists
from ademem.session import flags
from ademem.store import bindings, turns
from tests.persons import run_below

if TYPE_CHECKING:
    from collections.abc import Callable

    from ademem.store.runtime import Runtime

SESSION = "bench"
QUIET = {"ADEMEM_JOBS_AUTO": "false"}
"""No worker beside what is timed."""
NOUNS = Path(__file__).with_name("words.txt").read_text().split()


class Scene(NamedTuple):
    """One kind of call; making its payload also makes true what it needs."""

    name: str
    event: str
    target: float
    """The most it may cost, in yardsticks."""
    payload: Callable[[Bench], dict[str, Any]]


class Bench:
    def __init__(self, root: str, size: int) -> None:
        self.root = root
        self.rng = random.Random(size)
        branch = "-".join(["feature/the", *self.rng.sample(NOUNS, 2)])
        subprocess.run(["git", "init", "-q", "-b", branch, root], check=True)
        operations.init(root)
        install.install(root, Where.LOCAL, python=sys.executable, hooks=install.hooks_folder())
        settings = Path(root, ".claude/settings.local.json").read_text()
        self.groups = json.loads(settings)["hooks"]
        self.memories: Runtime = operations.open_memories(root, environment=QUIET)
        fill(self.memories, size, self.rng)

    def required(self, call: dict[str, Any], *, searched: bool = False) -> dict[str, Any]:
        store, project = self.memories.store, self.memories.project
        key = TurnKey(session_id=SESSION, prompt_id=fresh_id())
        turns.begin(store, key, "required", "it asks to fix", "login bug", clock.now())
        if searched:
            turns.note_search(store, key, clock.now())
            flags.set_quiet(project, key, True)
        return call | {"prompt_id": key.prompt_id}

    def run(self, scene: Scene) -> float:
        head = {
            "session_id": SESSION,
            "transcript_path": "/t/x.jsonl",
            "cwd": self.root,
            "prompt_id": fresh_id(),
            "permission_mode": "default",
            "hook_event_name": scene.event,
        }
        given = head | scene.payload(self)
        payload = json.dumps(given, separators=(",", ":"))
        command = self.command(scene.event, given.get("tool_name", ""))
        return timed(["sh", "-c", command], payload, self.root)

    def command(self, event: str, tool: str) -> str:
        """Return the first command line that is registered for a tool."""
        fitting = (each for each in self.groups[event] if re.search(each.get("matcher", ""), tool))
        return str(next(fitting)["hooks"][0]["command"])


def fill(memories: Runtime, size: int, rng: random.Random) -> None:
    store, settings = memories.store, memories.settings.gate
    origin = Origin(trust=Trust.USER, source_type="user", session_id="fill")
    for start in range(0, size, 500):
        with store.transaction():
            for number in range(start, min(size, start + 500)):
                text = f"{sentence(rng)} {number}."
                category = rng.choice(["fact", "gotcha", "convention"])
                draft = Draft(content=text, category=category, origin=origin)
                write(draft, store, settings, clock.now())


def sentence(rng: random.Random) -> str:
    return " ".join(rng.choice(NOUNS) for _ in range(rng.randint(8, 24))).capitalize()


def fresh_id() -> str:
    return str(uuid.uuid4())


def timed(command: list[str], stdin: str, cwd: str) -> float:
    environment = os.environ | QUIET | {"CLAUDE_PROJECT_DIR": cwd}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sending = threading.Thread(target=send, args=(ours, stdin.encode()))
        sending.start()
        before = spent()
        subprocess.run(
            command,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env=environment,
            check=False,
        )
        took = spent() - before
        theirs.close()
        sending.join()
    return took


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def send(to: socket.socket, text: bytes) -> None:
    with suppress(OSError):  # it ended without reading
        to.sendall(text)
        to.shutdown(socket.SHUT_WR)


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "x"},
        **more,
        "tool_use_id": fresh_id(),
    }


def done(command: str) -> dict[str, Any]:
    return bash(command, tool_response={"stdout": "ok\n" * 40, "stderr": "", "interrupted": False})


def writing() -> dict[str, Any]:
    return {
        "tool_name": "Write",
        "tool_input": {"file_path": "/tmp/x.py", "content": "x = 1\n" * 300},
        "tool_use_id": fresh_id(),
    }


def editing(path: str) -> Callable[[Bench], dict[str, Any]]:
    def payload(bench: Bench) -> dict[str, Any]:
        if not bindings.has_bindings(bench.memories.store, "glob"):
            for name in ("billing", "auth", "net"):
                draft = Draft(content=f"Mind the {name}", path=f"src/{name}/**", promoted=True)
                writing_.write(bench.memories, draft)
        while bindings.has_bindings(bench.memories.store, "due"):  # the worker's, else
            refresh(bench.memories)
        write_lists(bench.memories.project, bench.memories.store)
        call = writing()
        call["tool_input"]["file_path"] = os.path.join(bench.root, path)
        return bench.required(call, searched=True)

    return payload


def lesson(bench: Bench) -> dict[str, Any]:
    return done(f'bd comment BD-1 "LEARNED: {sentence(bench.rng)}"')


def order(bench: Bench) -> dict[str, Any]:
    return {"prompt": f"Fix the {sentence(bench.rng).lower()} please"}


def subagent(_bench: Bench) -> dict[str, Any]:
    return {"agent_id": fresh_id(), "agent_type": "Explore"}


def startup(_bench: Bench) -> dict[str, Any]:
    return {"source": "startup", "session_id": fresh_id()}


def after_commits(bench: Bench) -> dict[str, Any]:
    git = ["git", "-C", bench.root, "-c", "user.name=A", "-c", "user.email=a@b"]
    for number in range(3):
        path = os.path.join(bench.root, "src", f"file{number}.py")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(sentence(bench.rng))
        subprocess.run([*git, "add", "src"], check=True)
        subprocess.run([*git, "commit", "-q", "-m", sentence(bench.rng)[:60]], check=True)
    return startup(bench)


SCENES = (
    Scene("guard: satisfied", "PreToolUse", 0.3, lambda b: b.required(writing(), searched=True)),
    Scene("sites: nothing on this file", "PreToolUse", 0.5, editing("docs/x.md")),
    Scene("sites: told of this file already", "PreToolUse", 0.5, editing("src/auth/x.py")),
    Scene("guard: a reading command", "PreToolUse", 1.2, lambda b: b.required(bash("git log -3"))),
    Scene("guard: denies a write", "PreToolUse", 1.2, lambda b: b.required(writing())),
    Scene("guard: denies a commit", "PreToolUse", 1.2, lambda b: b.required(bash("git commit"))),
    Scene("capture: nothing there", "PostToolUse", 0.3, lambda b: done("ls -la src")),
    Scene("capture: LEARNED, whole gate", "PostToolUse", 2.0, lesson),
    Scene("session start", "SessionStart", 1.5, startup),
    Scene("session start after commits", "SessionStart", 1.8, after_commits),
    Scene("prompt with lexical recall", "UserPromptSubmit", 1.5, order),
    Scene("prompt that needs no memory", "UserPromptSubmit", 1.5, lambda b: {"prompt": "thanks!"}),
    Scene("stop", "Stop", 1.5, lambda b: {"last_assistant_message": "Done."}),
    Scene("subagent start", "SubagentStart", 1.5, subagent),
    Scene("session end", "SessionEnd", 1.5, lambda b: {"reason": "other"}),
)


def measure(size: int, runs: int) -> list[tuple[Scene, float, float]]:
    """Scene, ratio of medians, and p95 over its own median."""
    with tempfile.TemporaryDirectory(prefix="bench-") as root:
        bench = Bench(root, size)
        yardstick: list[float] = []
        times: dict[str, list[float]] = {scene.name: [] for scene in SCENES}
        for round_ in range(runs + 2):  # the first two warm caches and bytecode
            took = timed([sys.executable, "-I", "-c", "import json, sqlite3"], "", root)
            if round_ > 1:
                yardstick.append(took)
            for scene in SCENES:
                took = bench.run(scene)
                if round_ > 1:
                    times[scene.name].append(took)
        bench.memories.close()
    base = statistics.median(yardstick)
    spread = p95(yardstick) / base
    print(f"\n{size} memories; yardstick {base * 1000:.1f} ms, p95 {spread:.2f}x; {runs} rounds")
    rows = []
    for scene in SCENES:
        median = statistics.median(times[scene.name])
        rows.append((scene, median / base, p95(times[scene.name]) / median))
    return rows


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def run_below_login(command: list[str]) -> int:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAUDE")}
    ran = run_below(
        *("sshd", "bash"),
        command=command,
        environment=environment,
        folder=os.getcwd(),
        within_s=7200,
    )
    print(ran.stdout.decode(), ran.stderr.decode(), sep="")
    return ran.returncode


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--sizes", default="0,2000,20000")
    parser.add_argument("--client", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    own_name = Path("/proc/self/comm")
    if given.client:
        own_name.write_text("claude")
    elif own_name.exists():
        sys.exit(run_below_login([sys.executable, __file__, *sys.argv[1:], "--client"]))
    for size in map(int, given.sizes.split(",")):
        for scene, ratio, spread in measure(size, given.runs):
            verdict = "" if ratio <= scene.target else "  ABOVE TARGET"
            cost = f"{ratio:5.2f}x  target {scene.target:.1f}x  p95 {spread:4.2f}x its median"
            print(f"  {scene.name:<36} {cost}{verdict}")


if __name__ == "__main__":
    main()
