"""Cost of each registered hook inside the client: seconds, peak memory, programs, connections.

Each command in the person's settings is wrapped, as is the worker that a test starts. Programs and
connections are known only where strace is there and may trace.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.hostile.machine import MEASURED, MOST_MEMORY

from .world import World

_STRACE = "strace -D -f -qq --seccomp-bpf -e trace=execve,connect -e signal=none"
_STARTED = re.compile(r'execve\("([^"]*)".*(?:= 0|<unfinished \.\.\.>)$', re.MULTILINE)
_CONNECTED = re.compile(r"connect\(\d+, \{sa_family=AF_INET6?, .*", re.MULTILINE)


@dataclass(frozen=True)
class Cost:
    """One run of a hook, or of the worker."""

    name: str
    seconds: float
    mib: float
    """Peak of resident memory, of the largest process."""


class Meter:
    """Measures processes in one world; its files lie outside of the home."""

    def __init__(self, world: World, *, trace: bool) -> None:
        self.traced = trace and shutil.which("strace") is not None
        self._world = world
        self._costs = world.root / "costs.jsonl"
        self._complaints = world.root / "complaints"
        self._traces = world.root / "traces"
        self._traces.mkdir()

    def wrap_hooks(self) -> None:
        """Have the client run each hook under measurement.

        The hook's own words still end the command, so that ademem finds itself registered.
        """
        settings = json.loads(self._settings.read_text())
        for groups in settings["hooks"].values():
            for handler in (each for group in groups for each in group["hooks"]):
                command = handler["command"]
                name = re.search(r"(?:hook=|/ademem )(\w+)", command)[1]
                measured = f"{self._measuring(name)} sh -c {shlex.quote(command)}"
                complaints = shlex.quote(str(self._complaints))
                handler["command"] = f"exec {measured} 2>>{complaints}; {command}"
        self._settings.write_text(json.dumps(settings))

    def work(self) -> None:
        """Run the worker until nothing is left to do."""
        self._world.run("sh", "-c", f"{self._measuring('worker')} ademem work --once || true")

    @property
    def costs(self) -> list[Cost]:
        return [Cost(**json.loads(line)) for line in self._costs.read_text().splitlines()]

    @property
    def complaints(self) -> str:
        """Everything that hooks wrote to standard error."""
        return self._complaints.read_text()

    @property
    def programs(self) -> list[str]:
        """Path of each program that was started."""
        return _STARTED.findall(self._traced())

    @property
    def connections(self) -> list[str]:
        """Each attempt to reach an address of a network, this machine's own included."""
        return _CONNECTED.findall(self._traced())

    @property
    def _settings(self) -> Path:
        return self._world.config / "settings.json"

    def _measuring(self, name: str) -> str:
        program = [sys.executable, "-I", "-S", MEASURED, self._costs, name, MOST_MEMORY]
        words = shlex.join(map(str, program))
        if not self.traced:
            return words
        return f"{words} {_STRACE} -o {shlex.quote(str(self._traces))}/{name}.$$"

    def _traced(self) -> str:
        return "".join(path.read_text(errors="replace") for path in self._traces.iterdir())
