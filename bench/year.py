"""A year of one project, lived through the real hooks and jobs, with the lifecycle on and off.

    python bench/year.py [--sessions 250] [--seeds 1 2 3] [--model] [--plot FILE.svg]

The project has 24 areas of 8 attributes each (a port, a database, …): 192 facts. Each is told for
the first time in some session; a third of them change once or twice; sessions tell again what they
came across, in other words; one telling in twelve is wrong, and put right by the person some
sessions later. Beside them goes noise: what was true of one session and never again. Facts come in
through `bd comment … LEARNED:`, learnings of final messages and dictation, all of them as payloads
of hooks; the clock is that of the model, one session every 35 hours.

Measured each 25 sessions: memories that can be shown; the share of questions to which the first hit
tells the fact of today; of what hooks showed as true since, the shares that are outdated and that
were never true; live rows that say what another says; noise among what is promoted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import tempfile
import uuid
from collections import Counter
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ademem import operations
from ademem.operations import searching
from ademem.session import answer
from ademem.store import LIVE
from ademem.worker import running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

START = datetime(2030, 1, 7, 9, 0, tzinfo=UTC)
APART = timedelta(hours=35)
CHECK_EVERY = 25
LIFECYCLE = frozenset({"sweep", "consolidate", "crowded", "episode", "procedures", "relate"})
"""Kinds of work that the year without a lifecycle goes without."""

AREAS = """
    billing search auth mailer exports invoices webhooks catalog checkout sessions reports uploads
    payments metrics scheduler notifications profiles gateway ledger pricing inventory shipping
    feeds imports
""".split()
"""Two names never share a stem."""


class Attribute(NamedTuple):
    question: str
    tellings: tuple[str, ...]
    values: tuple[str, ...]


ATTRIBUTES = (
    Attribute(
        "Which port does {area} listen on?",
        (
            "The {area} service listens on port {value}.",
            "{area} is served on port {value}, not on the default one.",
            "Port {value} is where {area} answers.",
        ),
        ("8081", "8443", "9090", "7070", "6120", "5055"),
    ),
    Attribute(
        "Which database does {area} store its rows in?",
        (
            "The {area} service stores its rows in {value}.",
            "{value} is the database behind {area}.",
            "Rows of {area} live in {value}; migrations run there.",
        ),
        ("PostgreSQL", "MariaDB", "SQLite", "CockroachDB", "DynamoDB"),
    ),
    Attribute(
        "How is {area} deployed?",
        (
            "Deploy {area} with make {value}, never by hand.",
            "The deployment of {area} goes through make {value}.",
            "make {value} is how {area} gets deployed.",
        ),
        ("ship", "release", "rollout", "promote-canary", "push-live"),
    ),
    Attribute(
        "What is the request timeout of {area}?",
        (
            "Requests from {area} time out after {value} seconds.",
            "{area} gives a request {value} seconds before it gives up.",
            "The request timeout of {area} is {value} seconds.",
        ),
        ("5", "12", "30", "45", "90", "120"),
    ),
    Attribute(
        "Which team reviews changes to {area}?",
        (
            "Changes to {area} are reviewed by the {value} team.",
            "The {value} team reviews every change to {area}.",
            "Ask the {value} team for a review before merging into {area}.",
        ),
        ("platform", "growth", "core", "data", "mobile"),
    ),
    Attribute(
        "Which topic does {area} publish its events to?",
        (
            "The {area} service publishes its events to the topic {value}.",
            "Events of {area} go to the topic {value}.",
            "Subscribe to {value} for the events that {area} publishes.",
        ),
        ("orders-v2", "domain-events", "audit-stream", "outbox", "fanout"),
    ),
    Attribute(
        "What do the tests of {area} need running?",
        (
            "Tests of {area} need the {value} container running.",
            "Start the {value} container before the tests of {area}.",
            "Without a running {value} container the tests of {area} hang.",
        ),
        ("redis", "minio", "rabbitmq", "localstack", "mailhog"),
    ),
    Attribute(
        "How are secrets of {area} rotated?",
        (
            "Secrets of {area} are rotated {value}.",
            "{area} rotates its secrets {value}; the job restarts the pods.",
            "Expect the secrets of {area} to change {value}.",
        ),
        ("weekly", "every night", "monthly", "at each release", "by hand"),
    ),
)

NOISE = (
    "Ran the linter on {area} and got {n} warnings today.",
    "The build of {area} took {n} seconds on this machine.",
    "Renamed {n} local variables in src/{area}/handlers.py.",
    "CI job {n} of {area} was flaky and passed on the second try.",
    "The branch for {area} is {n} commits behind main.",
    "Looked at {n} files of {area} before finding the right one.",
)

PROMPTS = (
    "Fix the timeout handling of {area}",
    "Add a retry to the {area} client and run its tests",
    "Why does {area} fail to start after the deploy?",
    "Refactor the event publishing of {area}",
    "Update the database migration of {area}",
    "What do I need for the tests of {area}?",
)


class Fact(NamedTuple):
    area: str
    attribute: Attribute

    @property
    def question(self) -> str:
        return self.attribute.question.format(area=self.area)

    def told(self, value: str, rng: random.Random) -> str:
        return rng.choice(self.attribute.tellings).format(area=self.area, value=value)


class Said(NamedTuple):
    """What a text tells; no fact: noise."""

    fact: Fact | None
    value: str = ""


class Truth:
    """What holds today, and what every text that was ever told says."""

    def __init__(self, rng: random.Random, sessions: int) -> None:
        self.rng = rng
        self.facts = [Fact(area, attribute) for area in AREAS for attribute in ATTRIBUTES]
        self.holds = {fact: rng.choice(fact.attribute.values) for fact in self.facts}
        self.held = {Said(fact, value) for fact, value in self.holds.items()}
        self.first = {fact: rng.randrange(sessions * 3 // 4) for fact in self.facts}
        self.changes: dict[int, list[Fact]] = {}
        for fact in rng.sample(self.facts, len(self.facts) // 3):
            for _ in range(rng.randint(1, 2)):
                at = rng.randrange(self.first[fact] + 1, sessions)
                self.changes.setdefault(at, []).append(fact)
        self.known: set[Fact] = set()
        self.said: dict[str, Said] = {}
        self.wrong: list[tuple[int, Fact]] = []

    def tell(self, fact: Fact, value: str | None = None) -> str:
        value = value or self.holds[fact]
        text = fact.told(value, self.rng)
        self.said[text] = Said(fact, value)
        if value == self.holds[fact]:
            self.known.add(fact)
        return text

    def change(self, fact: Fact) -> None:
        self.holds[fact] = self.other(fact)
        self.held.add(Said(fact, self.holds[fact]))

    def other(self, fact: Fact) -> str:
        values = [value for value in fact.attribute.values if value != self.holds[fact]]
        return self.rng.choice(values)

    def noise(self, area: str) -> str:
        text = self.rng.choice(NOISE).format(area=area, n=self.rng.randint(2, 9999))
        self.said[text] = Said(None)
        return text

    def read(self, content: str) -> Said | None:
        """What a memory says; None for a text that nobody told, such as an episode."""
        return self.said.get(content) or self.said.get(f"{content}.")


class Point(NamedTuple):
    """The store after so many sessions; shares are of 1."""

    sessions: int
    live: int
    promoted: int
    current_first: float
    stale_shown: float
    wrong_shown: float
    duplicates: int
    noise_promoted: int
    noise_live: int


class Year:
    def __init__(
        self, root: str, *, sessions: int, seed: int, lifecycle: bool, model: bool
    ) -> None:
        self.sessions = sessions
        self.rng = random.Random(seed)
        self.truth = Truth(self.rng, sessions)
        self.now = START
        home = os.path.join(root, "home")
        root = self.root = os.path.join(root, "project")
        os.makedirs(home)
        os.makedirs(os.path.join(root, ".git"))
        self.environment = {
            "CLAUDE_PROJECT_DIR": root,
            "HOME": home,
            "ADEMEM_JOBS_AUTO": "false",
            "ADEMEM_SEARCH_WARM": "false",
            "PATH": os.environ["PATH"],
        }
        self.environment |= {k: v for k, v in os.environ.items() if k.startswith("ADEMEM_SEARCH")}
        if "ADEMEM_MODELS_DIR" in os.environ:
            self.environment["ADEMEM_MODELS_DIR"] = os.environ["ADEMEM_MODELS_DIR"]
        operations.init(root, environment=self.environment)
        self.memories = operations.open_memories(
            root, environment=self.environment, now=lambda: self.now
        )
        self.model = running.find_model(self.memories) if model else None
        self.kinds = tuple(kind for kind in running.JOBS if lifecycle or kind.name not in LIFECYCLE)
        self.shown: Counter[str] = Counter()

    def live(self) -> Iterator[Point]:
        kinds, running.JOBS = running.JOBS, self.kinds
        try:
            for number in range(self.sessions):
                Session(self, number).live()
                self.now = START + (number + 1) * APART
                self.work()
                if (number + 1) % CHECK_EVERY == 0 or number + 1 == self.sessions:
                    yield self.point(number + 1)
        finally:
            running.JOBS = kinds
            self.memories.close()

    def work(self) -> None:
        self.memories.now = self.now
        shift = running.JobContext(self.memories, lambda: self.now, self.model)
        running.run_due(shift)

    def point(self, sessions: int) -> Point:
        rows = self.memories.store.db.execute(
            "select content, status from unified_memories"
            f" where {LIVE} and quarantine_reason is null"
        ).fetchall()
        told = [(self.truth.read(row["content"]), row["status"]) for row in rows]
        facts = [said for said, _ in told if said and said.fact]
        shown, known = max(1, self.shown.total()), sorted(self.truth.known)
        point = Point(
            sessions=sessions,
            live=len(rows),
            promoted=sum(row["status"] == "promoted" for row in rows),
            current_first=sum(map(self._is_first, known)) / max(1, len(known)),
            stale_shown=self.shown["outdated"] / shown,
            wrong_shown=self.shown["wrong"] / shown,
            duplicates=len(facts) - len(set(facts)),
            noise_promoted=sum(
                said.fact is None and status == "promoted" for said, status in told if said
            ),
            noise_live=sum(said.fact is None for said, _ in told if said),
        )
        self.shown.clear()
        return point

    def _is_first(self, fact: Fact) -> bool:
        hits = searching.search(self.memories, fact.question, limit=1).hits
        said = self.truth.read(hits[0].memory.content) if hits else None
        return said is not None and said == Said(fact, self.truth.holds[fact])

    def note_shown(self, output: str) -> None:
        """Count what a hook put before the model as true, by what it tells.

        A line that says "no longer valid", "contradicted by" or "contradicts" puts nothing as true.
        """
        doubted = ("- no longer valid: ", ", contradicted by ", " contradicts ")
        lines = output.split(r"\n")
        held = "\n".join(line for line in lines if not any(map(line.count, doubted)))
        for text, said in self.truth.said.items():
            if said.fact and text in held:
                if self.truth.holds[said.fact] == said.value:
                    self.shown["right"] += 1
                else:
                    self.shown["outdated" if said in self.truth.held else "wrong"] += 1


class Session:
    def __init__(self, year: Year, number: int) -> None:
        self.year, self.rng, self.truth = year, year.rng, year.truth
        self.number = number
        self.id = str(uuid.UUID(int=self.rng.getrandbits(128)))
        self.prompt_id = ""
        self.transcript = os.path.join(year.root, f"{self.id}.jsonl")

    def live(self) -> None:
        for fact in self.truth.changes.get(self.number, ()):
            self.truth.change(fact)
        news = [fact for fact, at in self.truth.first.items() if at == self.number]
        news += self.truth.changes.get(self.number, [])
        area = self.rng.choice(AREAS)
        self.hook("session_start", source="startup")
        for _ in range(self.rng.randint(2, 4)):
            self.turn(area)
            self.learn(area, news)
            news = []
        self.hook("session_end", reason="clear")

    def turn(self, area: str) -> None:
        self.ask(self.rng.choice(PROMPTS).format(area=area))
        question = self.rng.choice([f for f in self.truth.facts if f.area == area]).question
        searching.recall(self.year.memories, question, limit=3)
        self.bash(f'ademem recall "{question}"', "1 memory")
        path = os.path.join(self.year.root, "src", area, "handlers.py")
        self.use("Edit", {"file_path": path, "old_string": "a", "new_string": "b"}, "ok")
        self.bash(f"pytest tests/{area}", "12 passed in 3.1s")

    def learn(self, area: str, news: list[Fact]) -> None:
        texts = [self.truth.tell(fact) for fact in news]
        again = [fact for fact in self.truth.known if fact.area == area]
        if again:
            fact = self.rng.choice(sorted(again))
            if self.rng.random() < 1 / 12:
                texts.append(self.truth.tell(fact, self.truth.other(fact)))
                self.truth.wrong.append((self.number + self.rng.randint(2, 9), fact))
            else:
                texts.append(self.truth.tell(fact))
        texts += [self.truth.noise(area) for _ in range(self.rng.randint(1, 2))]
        learned, noted = texts[::2], texts[1::2]
        for text in learned:
            self.bash(f'bd comment BD-{self.number} "LEARNED: {text}"', "Comment added")
        report = "".join(f"- {text}\n" for text in noted)
        self.hook("stop", last_assistant_message=f"Done.\n\n## Key Learnings\n{report}")
        self.year.work()
        due = [pair for pair in self.truth.wrong if pair[0] <= self.number]
        for pair in due:
            self.truth.wrong.remove(pair)
            self.ask(f"remember: {self.truth.tell(pair[1])}")

    def ask(self, prompt: str) -> None:
        self.prompt_id = str(uuid.UUID(int=self.rng.getrandbits(128)))
        self.write_transcript("user", prompt)
        self.hook("user_prompt_submit", prompt=prompt)

    def bash(self, command: str, printed: str) -> None:
        self.use("Bash", {"command": command, "description": "run it"}, printed)

    def use(self, tool: str, given: dict[str, Any], printed: str) -> None:
        call = {
            "tool_name": tool,
            "tool_input": given,
            "tool_use_id": f"t{self.rng.getrandbits(64)}",
        }
        self.write_transcript(
            "assistant",
            [{"type": "tool_use", "id": call["tool_use_id"], "name": tool, "input": given}],
        )
        if '"deny"' in self.hook("pre_tool_use", **call):
            return
        response = {"stdout": printed, "stderr": "", "interrupted": False}
        self.hook("post_tool_use", **call, tool_response=response)
        self.write_transcript(
            "user",
            [{"type": "tool_result", "tool_use_id": call["tool_use_id"], "content": printed}],
        )

    def hook(self, event: str, **content: Any) -> str:
        self.year.now += timedelta(seconds=20)
        handler = import_module(f"ademem.session.{event}").handle
        payload = {
            "session_id": self.id,
            "transcript_path": self.transcript,
            "cwd": self.year.root,
            "prompt_id": self.prompt_id,
            "permission_mode": "default",
            "hook_event_name": event,
            **content,
        }
        said = answer(handler, json.dumps(payload).encode(), self.year.environment, self.year.now)
        self.year.note_shown(said)
        return said

    def write_transcript(self, role: str, content: Any) -> None:
        line = {
            "type": role,
            "sessionId": self.id,
            "timestamp": self.year.now.isoformat(),
            "uuid": str(uuid.UUID(int=self.rng.getrandbits(128))),
            "message": {"role": role, "content": content},
        }
        with open(self.transcript, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")


class Measure(NamedTuple):
    title: str
    of: Callable[[Point], float]


MEASURES = (
    Measure("memories that can be shown", lambda point: point.live),
    Measure(
        "questions whose first hit tells the fact of today, %", lambda p: 100 * p.current_first
    ),
    Measure("shown as true and outdated, %", lambda point: 100 * point.stale_shown),
    Measure("shown as true and never true, %", lambda point: 100 * point.wrong_shown),
    Measure("rows that say what another says", lambda point: point.duplicates),
    Measure("noise among what can be shown", lambda point: point.noise_live),
    Measure("noise that was promoted", lambda point: point.noise_promoted),
)
T_95 = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26)
"""Student's t for an interval of 95 %, for two samples and on."""
WIDE, HIGH, MARGIN = 360, 180, 30


def plot(years: dict[str, list[Point]]) -> str:
    panels = [panel(measure, years) for measure in MEASURES]
    placed = "".join(
        f'<g transform="translate({number % 2 * WIDE},{number // 2 * HIGH})">{drawn}</g>'
        for number, drawn in enumerate(panels)
    )
    height = (len(panels) + 1) // 2 * HIGH
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{2 * WIDE}" height="{height}"'
        f' font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        f"{placed}</svg>\n"
    )


def panel(measure: Measure, years: dict[str, list[Point]]) -> str:
    most = max((measure.of(point) for points in years.values() for point in points), default=0) or 1
    last = max(point.sessions for points in years.values() for point in points)
    across, up = WIDE - 2 * MARGIN, HIGH - 2 * MARGIN
    drawn = [f'<text x="{MARGIN}" y="18">{measure.title} (most: {most:.4g})</text>']
    drawn.append(
        f'<path d="M{MARGIN},{MARGIN}v{up}h{across}" fill="none" stroke="#888"/>'
        f'<text x="{WIDE - MARGIN}" y="{HIGH - 14}" text-anchor="end">{last} sessions</text>'
    )
    for (name, points), colour in zip(years.items(), ("#c33", "#26c"), strict=True):
        dots = " ".join(
            f"{MARGIN + across * point.sessions / last:.0f},"
            f"{MARGIN + up * (1 - measure.of(point) / most):.0f}"
            for point in points
        )
        end = dots.split()[-1].split(",")[1]
        drawn.append(
            f'<polyline points="{dots}" fill="none" stroke="{colour}" stroke-width="2"/>'
            f'<text x="{WIDE - MARGIN + 3}" y="{end}" fill="{colour}">{name}</text>'
        )
    return "".join(drawn)


def lived(sessions: int, seed: int, *, lifecycle: bool, model: bool) -> list[Point]:
    print(f"\nlifecycle {'on' if lifecycle else 'off'}")
    print(
        "sessions  live  promoted  current first  outdated  never true  duplicates"
        "  noise promoted / live"
    )
    points = []
    with tempfile.TemporaryDirectory(prefix="year-") as root:
        year = Year(root, sessions=sessions, seed=seed, lifecycle=lifecycle, model=model)
        for point in year.live():
            print(
                f"{point.sessions:8} {point.live:5} {point.promoted:9}"
                f" {point.current_first:13.1%} {point.stale_shown:9.1%} {point.wrong_shown:11.1%}"
                f" {point.duplicates:11}"
                f" {point.noise_promoted:8} / {point.noise_live}",
                flush=True,
            )
            points.append(point)
    return points


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sessions", type=int, default=250)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--model", action="store_true", help="with vectors of the installed model")
    parser.add_argument("--plot", help="an SVG file to write, of the first seed")
    given = parser.parse_args()
    lives: dict[str, list[list[Point]]] = {"off": [], "on": []}
    for seed in given.seeds:
        for name, points in lives.items():
            points.append(lived(given.sessions, seed, lifecycle=name == "on", model=given.model))
    if len(given.seeds) > 1:
        compare(lives)
    if given.plot:
        years = {name: points[0] for name, points in lives.items()}
        Path(given.plot).write_text(plot(years), encoding="utf-8")


def compare(lives: dict[str, list[list[Point]]]) -> None:
    print("\non - off, mean over the points of a year: mean of the seeds, 95 % interval")
    for name, of in (
        ("current first", "current_first"),
        ("outdated", "stale_shown"),
        ("never true", "wrong_shown"),
    ):
        means = {
            key: [statistics.fmean(getattr(point, of) for point in year) for year in years]
            for key, years in lives.items()
        }
        apart = [on - off for off, on in zip(means["off"], means["on"], strict=True)]
        error = statistics.stdev(apart) / len(apart) ** 0.5
        reach = T_95[min(len(apart), len(T_95)) - 2] * error
        off, on = (statistics.fmean(means[key]) for key in ("off", "on"))
        print(f"{name}: off {off:.1%}, on {on:.1%}, {on - off:+.1%} ± {reach:.1%}")


if __name__ == "__main__":
    main()
