"""What the page of `ademem web` costs with many memories, beside the same work of operations.

    PYTHONPATH=. python bench/page.py [--size 100000] [--runs 30] [--folder DIR]

`bench/stores.py` makes the store; 300 candidates and 20 sessions come through the gate and the
hooks. The server is the real `ademem web` in a terminal of its own. What is compared runs in turn,
so that a slow moment of the machine hits both. With --folder the store stays for the next run.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import pty
import random
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import stores
from playwright.sync_api import sync_playwright

from ademem import operations
from ademem.core import clock, project
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.settings import Settings
from ademem.operations import curation, install, searching, writing
from ademem.operations.install import Where
from ademem.plugins.page.memory_pages import PAGE
from ademem.plugins.page.pages import PAGES
from ademem.plugins.page.rendering import static_files
from ademem.search import embedding
from ademem.search.engine import ORDERS
from ademem.store.opening import open_store
from ademem.store.runtime import Runtime
from hooks import p95, sentence, timed

CANDIDATES, SESSIONS, PROMPTS = 300, 20, 3
WINDOWS = 10
HOMES = ("HOME", "ADEMEM_MODELS_DIR")
"""Variables that tell where the model is."""
ABANDONED = 20
ROUNDS = 5
"""Of which the quickest counts, as others may use the machine too."""
SEARCH_S = 0.08
"""Seconds of `api.search` up to which the limit from key to rows holds."""
FEWEST = 2
"""Values from which a percentile can be told."""
SERVE = [sys.executable, "-I", "-c", "from ademem.doors.cli import program; program()"]
WATCH_ROWS = """() => {
  addEventListener('keydown', () => { window.pressed = performance.now(); window.shown = 0 }, true);
  new MutationObserver(() => requestAnimationFrame(() => { window.shown = performance.now() }))
    .observe(document.getElementById('rows'), { childList: true });
}"""
WAIT_FOR_ROWS = """() => new Promise((done) => {
  const look = () =>
    window.shown > window.pressed ? done(window.shown - window.pressed) : setTimeout(look, 5);
  look();
})"""


class Row(NamedTuple):
    name: str
    value: float | None
    """None where it could not be measured, which `figures` tells."""
    most: float
    figures: str

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "NOT SHOWN"
        return "ok" if self.value <= self.most else "MISSED"

    def __str__(self) -> str:
        value = "" if self.value is None else f"{self.value:.2f}"
        return f"{self.name:34} {value:>8}  at most {self.most:<5g} {self.verdict:9} {self.figures}"


class Place:
    def __init__(self, folder: Path, size: int, model: str) -> None:
        self.root = str(folder / f"page-{size}")
        is_new = not os.path.exists(self.root)
        os.makedirs(self.root, exist_ok=True)
        self.rng = random.Random(size)
        if is_new:
            subprocess.run(["git", "init", "-q", self.root], check=True)
            operations.init(self.root)
            with closing(open_store(project.at(self.root), clock.now())) as store:
                stores.fill(store, size, model)
        install.install(self.root, Where.LOCAL, python=sys.executable, hooks=install.hooks_folder())
        self.commands = install.find_commands(self.root, Where.LOCAL)
        self.memories: Runtime = operations.open_memories(self.root, environment=os.environ)
        self.questions = [each.text for each in stores.questions(self.memories.store, 200)]
        if is_new:
            self.learn()

    def learn(self) -> None:
        origin = Origin(trust=Trust.AGENT, session_id="s1")
        for _ in range(CANDIDATES):
            writing.write(self.memories, Draft(content=sentence(self.rng), origin=origin))
        for number in range(SESSIONS):
            self.fire("SessionStart", f"bench-{number}", source="startup")
            for _ in range(PROMPTS):
                self.prompt(f"bench-{number}")

    def fire(self, event: str, session: str, **payload: Any) -> float:
        head = {"session_id": session, "cwd": self.root, "hook_event_name": event}
        sent = json.dumps(head | {"prompt_id": str(uuid.uuid4())} | payload)
        return timed(["sh", "-c", self.commands[event]], sent, self.root)

    def prompt(self, session: str) -> float:
        asked = f"Fix the {self.rng.choice(self.questions)} please"
        return self.fire("UserPromptSubmit", session, prompt=asked)


class Server:
    def __init__(self, root: str, **variables: str) -> None:
        self.terminal, its_own = pty.openpty()
        self.process = subprocess.Popen(
            [*SERVE, "web", "--no-open", "--project", root],
            stdin=its_own,
            stdout=its_own,
            stderr=its_own,
            env=os.environ | variables,
        )
        os.close(its_own)
        self.port, path = self.read_address()
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        answer, _, _ = self.ask("GET", path)
        self.headers = {"cookie": (answer.getheader("set-cookie") or "").partition(";")[0]}
        self.token = re.findall(r'name="csrf" value="([^"]+)"', self.get("/")[0])[0]

    def read_address(self) -> tuple[int, str]:
        shown = ""
        while not (found := re.search(r"http://127\.0\.0\.1:(\d+)(/enter\?code=[\w-]+)\s", shown)):
            try:
                shown += os.read(self.terminal, 4096).decode()
            except OSError as error:  # it ended
                raise RuntimeError(shown) from error
        return int(found[1]), found[2]

    def ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[http.client.HTTPResponse, str, float]:
        self.connection.close()  # the server may have, after five idle seconds
        self.connection.connect()
        started = time.perf_counter()
        self.connection.request(method, path, body, headers or {})
        answer = self.connection.getresponse()
        text = answer.read().decode()
        return answer, text, time.perf_counter() - started

    def get(self, path: str, **headers: str) -> tuple[str, float]:
        answer, text, seconds = self.ask("GET", path, headers=self.headers | headers)
        assert answer.status == 200, (path, answer.status, text[:500])
        return text, seconds

    def post(self, path: str) -> float:
        headers = self.headers | {"content-type": "application/x-www-form-urlencoded"}
        answer, text, seconds = self.ask("POST", path, f"csrf={self.token}", headers)
        assert answer.status == 303, (path, answer.status, text[:500])
        return seconds

    def abandon(self, path: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path, headers=self.headers)
        connection.close()

    def new_address(self) -> str:
        self.process.send_signal(signal.SIGUSR1)
        port, path = self.read_address()
        return f"http://127.0.0.1:{port}{path}"

    def resident_mb(self) -> float:
        (line,) = re.findall(
            r"VmRSS:\s+(\d+)", Path(f"/proc/{self.process.pid}/status").read_text()
        )
        return int(line) * 1024 / 1e6

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.terminal)


@contextmanager
def serving(root: str, **variables: str) -> Iterator[Server]:
    server = Server(root, **variables)
    try:
        yield server
    finally:
        server.end()


def ms(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"


def over(name: str, page: list[float], alone: list[float], most: float) -> Row:
    """The page beside the operations, without the 5 ms that an answer may cost in any case."""
    ours, theirs = statistics.median(page), statistics.median(alone)
    return Row(name, (ours - 0.005) / theirs, most, f"{ms(ours)} against {ms(theirs)}")


def address_of_rows(question: str) -> str:
    return f"/memories?q={question.replace(' ', '+')}"


def measure_rows(place: Place, server: Server, runs: int) -> Row:
    page, alone = [], []
    for question in place.questions[:runs]:
        asked = partial(server.get, address_of_rows(question), **{"hx-request": "true"})
        search = partial(searching.search, place.memories, question, None, PAGE)
        each = [(asked()[1], seconds_of(search)) for _ in range(ROUNDS)]
        page.append(min(ours for ours, _ in each))
        alone.append(min(theirs for _, theirs in each))
    return over("rows / api.search", page, alone, 1.3)


def seconds_of(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def measure_keys(place: Place, server: Server, chromium: Any, runs: int) -> Row:
    """Milliseconds from the last key to the rows, where the search itself is quick."""
    page = chromium.new_context().new_page()
    page.goto(server.new_address())
    spent = []
    for question in place.questions[:runs]:
        search = partial(searching.search, place.memories, question, None, PAGE)
        if min(seconds_of(search) for _ in range(ROUNDS)) > SEARCH_S:
            continue
        page.goto(f"http://127.0.0.1:{server.port}/memories")
        page.evaluate(WATCH_ROWS)
        page.focus("#find")
        page.keyboard.type(question, delay=20)
        spent.append(page.evaluate(WAIT_FOR_ROWS))
    page.context.close()
    name = "last key to rows, p95, ms"
    if len(spent) < FEWEST:
        slow = f"of {runs} questions {len(spent)} take api.search {ms(SEARCH_S)} or less"
        return Row(name, None, 300, f"{slow}; {FEWEST} are needed")
    figures = f"median {statistics.median(spent):.0f} ms of {len(spent)} questions"
    return Row(name, p95(spent), 300, figures)


def measure_pages(place: Place, server: Server, runs: int) -> list[Row]:
    (memory,) = searching.list_memories(place.memories, None, 1)
    shown = {"/memory/{id}": f"/memory/{memory.id}", "/session/{id}": "/session/bench-1"}
    paths = {page.path: shown.get(page.path, page.path) for page in PAGES if page.template}
    paths |= {f"/memories by {order}": f"/memories?order={order}" for order in ORDERS}
    paths["/log at a past moment"] = f"/log?at={datetime.now() - timedelta(days=1):%Y-%m-%dT%H:%M}"
    paths["/graph of a memory"] = f"/graph?memory={memory.id}"
    rows, largest = [], 0
    for name, path in paths.items():
        if "{" in path:
            continue
        found = [server.get(path) for _ in range(ROUNDS)]
        quickest = min(seconds for _, seconds in found) * 1000
        size = len(found[-1][0].encode())
        largest = max(largest, size)
        rows.append(Row(f"{name}, ms", quickest, 150, f"{size / 1024:.1f} KB"))
    while 'data-awaits="check"' in server.get("/doctor")[0]:  # by a process that takes its time
        time.sleep(1)
    static = sum(len(gzip.compress(content)) for content in static_files().values())
    return [
        *rows,
        Row("largest page, KB", largest / 1024, 64, ""),
        Row("static files, KiB gzip", static / 1024, 80, ""),
    ]


def measure_act(place: Place, server: Server, runs: int) -> Row:
    first, second = searching.list_memories(place.memories, None, 2)
    page, alone = [], []
    for number in range(runs):
        verb, pinned = ("unpin", False) if number % 2 else ("pin", True)
        page.append(server.post(f"/memory/{first.id}/{verb}"))
        alone.append(seconds_of(partial(curation.pin, place.memories, second.id, pinned=pinned)))
    return over("act / api", page, alone, 1.5)


def measure_events(place: Place, server: Server, runs: int) -> Row:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request("GET", "/events", headers=server.headers)
    answer = connection.getresponse()
    if answer.status != 200:
        return Row("event after a commit, p95, ms", None, 500, f"answer {answer.status}")
    (memory,) = searching.list_memories(place.memories, None, 1)
    spent = []
    for number in range(runs):
        time.sleep(0.3 + place.rng.random() / 4)
        curation.pin(place.memories, memory.id, pinned=number % 2 == 0)
        committed = time.perf_counter()
        while not answer.readline().startswith(b"event: memory"):
            pass
        spent.append((time.perf_counter() - committed) * 1000)
    connection.close()
    middle = statistics.median(spent)
    return Row("event after a commit, p95, ms", p95(spent), 500, f"median {middle:.0f} ms")


def measure_hooks(place: Place, server: Server, chromium: Any, runs: int) -> Row:
    """A hook while ten windows are open, and while their server is halted."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(server.new_address())
    for _ in range(WINDOWS - 1):
        context.new_page().goto(f"http://127.0.0.1:{server.port}/sessions")
    watched: list[float] = []
    alone: list[float] = []
    for number in range(runs * 2 + 4):
        order = ((watched, signal.SIGCONT), (alone, signal.SIGSTOP))
        for times, state in order if number % 2 else order[::-1]:
            server.process.send_signal(state)
            times.append(place.prompt("bench-1"))
    server.process.send_signal(signal.SIGCONT)
    context.close()
    ours, theirs = statistics.median(watched[4:]), statistics.median(alone[4:])
    return Row("hook, ten windows / none", ours / theirs, 1.05, f"{ms(ours)} / {ms(theirs)}")


def measure_abandoned(place: Place, server: Server, runs: int) -> Row:
    behind, alone = [], []
    asked = iter(place.questions * ABANDONED)
    for _ in range(max(3, runs // 5)):
        alone.append(server.get(address_of_rows(next(asked)))[1])
        for _ in range(ABANDONED):
            server.abandon(address_of_rows(next(asked)))
        behind.append(server.get(address_of_rows(next(asked)))[1])
    ours, theirs = statistics.median(behind), statistics.median(alone)
    name = f"search behind {ABANDONED} given up / alone"
    return Row(name, ours / theirs, 3, f"{ms(ours)} / {ms(theirs)}")


def measure_resident(place: Place, models: dict[str, str]) -> Row:
    with serving(place.root, **models) as server:
        text = ""
        for question in place.questions[:20]:
            text, _ = server.get(address_of_rows(question))
        assert "hybrid" in text
        return Row("resident with a model, MB", server.resident_mb(), 350, "after 20 searches")


def measure(place: Place, runs: int, models: dict[str, str] | None) -> Iterator[Row]:
    browser = shutil.which("chromium")
    with serving(place.root) as server, sync_playwright() as player:
        chromium = player.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        yield measure_rows(place, server, runs)
        yield measure_keys(place, server, chromium, runs)
        yield from measure_pages(place, server, runs)
        yield measure_act(place, server, runs)
        yield measure_events(place, server, runs)
        yield measure_hooks(place, server, chromium, runs)
        yield measure_abandoned(place, server, runs)
        yield Row("resident, by words, MB", server.resident_mb(), 120, "after all of this")
        chromium.close()
    if models is not None:
        yield measure_resident(place, models)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    model = embedding.load(Settings().embed, os.environ)
    models = {name: os.environ[name] for name in HOMES if name in os.environ}
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        for name in [*os.environ]:
            if name.startswith("CLAUDE"):
                del os.environ[name]
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        here = {"HOME": str(folder / "home"), "ADEMEM_MODELS_DIR": str(folder / "none")}
        os.environ |= here | {"ADEMEM_JOBS_AUTO": "false"}
        place = Place(folder, given.size, model.model_id if model else stores.MODEL)
        missed = 0
        try:
            print(f"{given.size:,} memories, {given.runs} runs")
            for row in measure(place, given.runs, models if model else None):
                missed += row.verdict != "ok"
                print(row, flush=True)
        finally:
            place.memories.close()
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
