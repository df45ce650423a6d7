"""What a session of 200 calls costs: processor time of its hooks and of what they start, by event.

    PYTHONPATH=. python bench/session.py [--files 6,40] [--trace] [--said FILE] [--ademem PROGRAM]
        [--settings FILE] [--minutes N]

A person types 20 prompts; Read and Grep are 40 % of the calls, Bash 35 %, Edit and Write 25 %. The
project has 30 memories at files and commands, and hooks run as the client runs them: those of the
settings that `ademem install` wrote whose matcher and rule have the call. The unit is the processor
time of `python -I -c "import json, sqlite3"`. A hook that costs half of it has started Python.
`--said` writes what each hook answered, so that two trees can be compared with `diff`; `--trace`
counts written bytes and syncs with strace, in a run that is not timed. PROGRAM is of an
installation as people have it, best of a wheel: a checkout starts hooks more slowly. `--settings`
runs the hooks of another program in the same session, from a settings file of the client.
`--minutes` prints what the processes that are left hold in each of the minutes after it.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import random
import re
import shlex
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from hooks import NOUNS, run_below_login, send, spent
from tests.persons import type_command

if TYPE_CHECKING:
    from collections.abc import Iterator

PROMPTS, CALLS = 20, 200
SHARES = (("Read", 25), ("Grep", 15), ("Bash", 35), ("Edit", 20), ("Write", 5))
COMMANDS = (
    *("ls -la src", "git status --short", "git diff --stat", "git log --oneline -5"),
    *('find . -name "*.py" | head -20', "cat src/{name}.py", "rg -n {word} src"),
    *("python -m pytest -q tests", "python -m pytest -q tests/test_{name}.py", "ruff check ."),
    *("sed -n 1,40p src/{name}.py", "wc -l src/*.py", "git add -A", 'git commit -m "{word}"'),
    *("npm run lint", "make docs", "docker compose ps", "curl -s localhost:8080/health"),
)
ASKED = (
    *("Fix the {word} in src/{name}.py", "Why does {word} fail?", "go on", "Add a test for {name}"),
    *("Rename {word} to {other} everywhere", "looks good, continue", "What does {name} return?"),
)
RULES = (
    ("Totals in {name} are rounded as the {word} says", ("--path", "src/{name}.py")),
    (
        "The {word} of {name} is generated from {other}",
        ("--path", "src/{name}.py", "--note"),
    ),
    ("Wait for the {word} of {other} before a push", ("--command", "git push", "--note")),
    ("Commits about {other} name the {word}", ("--command", "git commit", "--note")),
    ("The {word} of {name} is cached for ten minutes", ()),
)
MEMORIES = 30
CODE = NOUNS[::2]
"""Words of the code; those of memories are others."""
PYTHON_SHARE = 0.5
PR_SET_CHILD_SUBREAPER = 36
WAIT_S = 120


class Hook(NamedTuple):
    event: str
    matcher: str
    command: str
    rule: str = ""
    """A tool and a glob of its files: `Write(//**/*.md)`."""

    def runs_at(self, tool: str, payload: dict[str, Any]) -> bool:
        if self.matcher not in ("", "*") and not re.search(self.matcher, tool):
            return False
        named, _, glob = self.rule.rstrip(")").partition("(/")
        path = str(payload.get("tool_input", {}).get("file_path", ""))
        return not self.rule or (named == tool and fnmatch(path, glob))


class Ran(NamedTuple):
    event: str
    tool: str
    seconds: float
    """Of processors."""
    said: str


class Project:
    """A git project with files, memories and registered hooks."""

    def __init__(self, root: Path, files: int, program: str) -> None:
        self.root, self.program = root, program
        self.rng = random.Random(files)
        self.names = self.rng.sample(NOUNS, files)

    def build(self) -> None:
        for name in self.names:
            self.write(f"src/{name}.py", self.code(name))
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Begin")
        self.run("init")
        self.run("install")
        self.type_memories()
        self.run("work")

    def list_hooks(self, file: str) -> list[Hook]:
        path = Path(file) if file else self.root / ".claude/settings.local.json"
        settings = json.loads(path.read_text())["hooks"]
        return [
            Hook(event, group.get("matcher", ""), each["command"], each.get("if", ""))
            for event, groups in settings.items()
            for group in groups
            for each in group["hooks"]
        ]

    def code(self, name: str) -> str:
        lines = (f"    {self.rng.choice(CODE)} = {self.rng.randrange(99)}" for _ in range(30))
        return "\n".join([f"def {name}():", *lines, ""])

    def write(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def word(self) -> str:
        return self.rng.choice(NOUNS[1::2])

    def fill(self, text: str) -> str:
        name = self.rng.choice(self.names)
        return text.format(name=name, word=self.word(), other=self.word())

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=Bench", "-c", "user.email=bench@example.invalid")
        subprocess.run(["git", *who, *arguments], cwd=self.root, check=True)

    def run(self, *arguments: str) -> None:
        command = [self.program, *arguments]
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 4):  # 4: the gate refused a text
            sys.exit(f"{command}: {done.stderr}")

    def type_memories(self) -> None:
        """Confirm memories, as a person does in a terminal."""
        lines = []
        for number in range(MEMORIES):
            text, options = RULES[number % len(RULES)]
            line = [self.program, "add", self.fill(text), *map(self.fill, options)]
            lines.append(shlex.join(line))
        environment = {k: v for k, v in os.environ.items() if not k.startswith("CLAUDE")}
        script = ["sh", "-c", "\n".join(lines)]
        done: subprocess.CompletedProcess[bytes] = type_command(  # type: ignore[no-untyped-call]
            script, environment, self.root, within_s=WAIT_S
        )
        confirmed = done.stdout.count(b"(promoted")
        if confirmed < MEMORIES // 2:
            sys.exit(f"{confirmed} memories were confirmed: {done.stdout.decode()}")

    def inputs(self, tool: str) -> dict[str, Any]:
        """Return what a call of the tool is given; an edit is made, too."""
        path = self.root / self.fill("src/{name}.py")
        match tool:
            case "Read":
                return {"file_path": str(path)}
            case "Grep":
                return {"pattern": self.word(), "path": "src"}
            case "Bash":
                return {"command": self.fill(self.rng.choice(COMMANDS)), "description": "do it"}
            case "Write":
                path = self.root / f"src/{self.word()}_new.py"
                path.write_text(text := self.code("added"))
                return {"file_path": str(path), "content": text}
        old = self.rng.choice(path.read_text().splitlines()[1:]) + "\n"
        new = f"    {self.rng.choice(CODE)} = {self.rng.randrange(99)}\n"
        path.write_text(path.read_text().replace(old, new, 1))
        return {"file_path": str(path), "old_string": old, "new_string": new}


class Day:
    """A session: its events in order, as the client sends them."""

    def __init__(self, project: Project) -> None:
        self.project, self.session = project, "bench"
        self.prompt = ""
        self.transcript = project.root.parent / "transcript.jsonl"
        self.last: str | None = None
        """The last entry of the transcript."""
        tools = [name for name, share in SHARES for _ in range(CALLS * share // 100)]
        self.tools = project.rng.sample(tools, len(tools))

    def events(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield event, tool and payload."""
        yield "SessionStart", "startup", self.head("SessionStart") | {"source": "startup"}
        for turn in range(PROMPTS):
            self.prompt = self.fresh()
            prompt = self.project.fill(self.project.rng.choice(ASKED))
            yield "UserPromptSubmit", "", self.head("UserPromptSubmit") | {"prompt": prompt}
            self.record("user", prompt)
            first, end = turn * CALLS // PROMPTS, (turn + 1) * CALLS // PROMPTS
            for tool in self.tools[first:end]:
                yield from self.call(tool)
            self.record("assistant", [{"type": "text", "text": "Done."}])
            yield "Stop", "", self.head("Stop") | {"last_assistant_message": "Done."}
        yield "SessionEnd", "other", self.head("SessionEnd") | {"reason": "other"}

    def call(self, tool: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
        given = {"tool_name": tool, "tool_input": self.project.inputs(tool)}
        given |= {"tool_use_id": (id := f"toolu_{self.fresh()[:12]}")}
        use = {"type": "tool_use", "id": id, "name": tool, "input": given["tool_input"]}
        self.record("assistant", [use])
        yield "PreToolUse", tool, self.head("PreToolUse") | given
        answer = {"stdout": "ok", "stderr": ""} if tool == "Bash" else {"type": "text"}
        done = given | {"tool_response": answer, "duration_ms": 40}
        yield "PostToolUse", tool, self.head("PostToolUse") | done
        yield "PostToolBatch", tool, self.head("PostToolBatch") | {"tool_calls": [done]}
        self.record("user", [{"type": "tool_result", "tool_use_id": id, "content": "ok"}])

    def record(self, who: str, content: object) -> None:
        """Append an entry to the transcript, as the client does before and after hooks."""
        uuid = self.fresh()
        entry = {
            "parentUuid": self.last,
            "isSidechain": False,
            "type": who,
            "message": {"role": who, "content": content},
            "uuid": uuid,
            "sessionId": self.session,
            "promptId": self.prompt,
        }
        self.last = uuid
        with self.transcript.open("a") as file:
            file.write(json.dumps(entry, separators=(",", ":")) + "\n")

    def head(self, event: str) -> dict[str, Any]:
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.project.root),
            "prompt_id": self.prompt,
            "permission_mode": "default",
            "hook_event_name": event,
        }

    def fresh(self) -> str:
        return str(uuid.UUID(int=self.project.rng.getrandbits(128), version=4))


def run_hook(hook: Hook, payload: dict[str, Any], root: Path, trace: Path | None) -> str:
    environment = os.environ | {"CLAUDE_PROJECT_DIR": str(root)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    traced = ["strace", "-f", "-qq", "-e", "trace=write,pwrite64,fsync,fdatasync"]
    command = ["sh", "-c", hook.command]
    if trace:
        command = [*traced, "-o", f"{trace}/{uuid.uuid4()}", *command]
    text = json.dumps(payload, separators=(",", ":")).encode()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        sending = threading.Thread(target=send, args=(ours, text))
        sending.start()
        done = subprocess.run(
            command,
            stdin=theirs.fileno(),
            capture_output=True,
            cwd=root,
            env=environment,
            check=False,
        )
        theirs.close()
        sending.join()
    return done.stdout.decode("utf-8", "replace")


def yardstick(python: str) -> float:
    before = spent()
    subprocess.run([python, "-I", "-c", "import json, sqlite3"], check=True)
    return spent() - before


def live(project: Project, settings: str, trace: Path | None = None) -> tuple[list[Ran], float]:
    """Return the hooks that ran, and the unit, which is taken at each prompt and end of a turn."""
    hooks, python = project.list_hooks(settings), str(Path(project.program).with_name("python"))
    ran: list[Ran] = []
    units: list[float] = []
    for event, tool, payload in Day(project).events():
        if event in ("UserPromptSubmit", "Stop"):
            units.append(yardstick(python))
        for hook in hooks:
            if hook.event == event and hook.runs_at(tool, payload):
                before = spent()
                said = run_hook(hook, payload, project.root, trace)
                ran.append(Ran(event, tool, spent() - before, said))
    return ran, statistics.median(units)


def resident_mb() -> dict[str, float]:
    """Return the memory of the processes that the hooks left running, by the end of the command."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError, KeyError, ValueError):
            fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
            if int(fields["PPid"]) == os.getpid() and "VmRSS" in fields:
                words = (status.parent / "cmdline").read_bytes().decode().split("\0")
                name = " ".join(" ".join(words[-4:]).split())
                found[name] = int(fields["VmRSS"].split()[0]) / 1024
    return found


def sample_mb(minutes: int) -> list[float]:
    """Return the megabytes that the hooks' processes hold at each of so many minutes after them."""
    sizes = []
    for _ in range(minutes):
        time.sleep(60)
        sizes.append(sum(resident_mb().values()))
    return sizes


def end_background(project: Project) -> float:
    """Let the worker end, stop the process with the model, and return their processor seconds."""
    before, end = spent(), time.monotonic() + WAIT_S
    while time.monotonic() < end:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if not pid:
            if all("worker.serve" in name for name in resident_mb()):
                break
            time.sleep(0.2)
    subprocess.run(
        [project.program, "serve", "--stop"], cwd=project.root, capture_output=True, check=False
    )
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError):
            if int(status.read_text().rpartition(")")[2].split()[1]) == os.getpid():
                os.kill(int(status.parent.name), signal.SIGTERM)
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return spent() - before


def count_writes(folder: Path) -> tuple[int, int]:
    """Return the bytes that were written to files, and the number of syncs."""
    size = syncs = 0
    for path in folder.iterdir():
        text = path.read_text(errors="replace")
        syncs += len(re.findall(r"\bf(?:data)?sync\(\d+\)\s+= 0", text))
        writes = re.findall(r"\b(?:pwrite64|write)\((\d+), .*\) += (\d+)$", text, re.M)
        size += sum(int(number) for file, number in writes if int(file) > 2)
    return size, syncs


def measure(files: int, given: argparse.Namespace) -> None:
    """Live through the day in a project that was built, as a client does."""
    project = Project(Path(given.root), files, given.ademem)
    if given.trace:
        return trace(project, given.settings)
    end_background(project)
    ran, unit = live(project, given.settings)
    resident = resident_mb()
    by_minute = sample_mb(given.minutes)
    behind = end_background(project)
    if given.said:
        with open(given.said, "a", encoding="utf-8") as out:
            out.writelines(f"{each.event} {each.tool} {each.said!r}\n" for each in ran)
    total = sum(each.seconds for each in ran) / unit
    print(f"\n{files} files, {CALLS} calls; yardstick {unit * 1000:.1f} ms of processor time")
    print(f"  all hooks {total:.0f} Y, {len(ran)} started; behind them {behind / unit:.0f} Y")
    events = Counter[str]()
    for each in ran:
        events[each.event] += 1
    for event in events:
        of_event = [each for each in ran if each.event == event]
        python = sum(each.seconds > PYTHON_SHARE * unit for each in of_event)
        said = sum(bool(each.said) for each in of_event)
        cost = sum(each.seconds for each in of_event) / unit
        share = f"{python / len(of_event):4.0%} start Python, {said} say something"
        print(f"  {event:<18} {len(of_event):>4} hooks {cost:6.1f} Y  {share}")
    for name, size in resident.items():
        print(f"  still running: {size:.0f} MB  {name[-100:]}")
    if by_minute:
        print("  MB by the minute after it:", *(f"{size:.0f}" for size in by_minute))


def trace(project: Project, settings: str) -> None:
    if not shutil.which("strace"):
        return print("  no strace here: bytes and syncs are not counted")
    traced = project.root.parent / "trace"
    traced.mkdir()
    live(project, settings, traced)
    end_background(project)
    size, syncs = count_writes(traced)
    return print(f"  written {size / 1024:,.0f} KiB, {syncs} syncs")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--files", default="6,40")
    parser.add_argument("--ademem", default=str(Path(sys.executable).parent / "ademem"))
    parser.add_argument("--said", default="")
    parser.add_argument("--settings", default="")
    parser.add_argument("--minutes", type=int, default=0)
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--root", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.root:  # below a login, in a client
        Path("/proc/self/comm").write_text("claude")
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        return measure(int(given.files), given)
    for files in map(int, given.files.split(",")):
        for traced in (False, True) if given.trace else (False,):
            with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as place:
                project = Project(Path(place) / "project", files, given.ademem)
                project.build()
                again = ["--files", str(files), "--ademem", given.ademem, "--said", given.said]
                again += ["--settings", given.settings, "--minutes", str(given.minutes)]
                again += ["--root", str(project.root), *(["--trace"] if traced else [])]
                run_below_login([sys.executable, __file__, *again])
    return None


if __name__ == "__main__":
    main()
