"""Replay the history of a repository: which memories does a commit make false, and who notices?

    python bench/replay.py PATH [--commits 1000] [--errors 3]

PATH is a clone of a Python project. Facts are mined from its tree by the rules below: constants,
default arguments, options, versions, paths and symbols. Each becomes a memory in one of a few
sentences, chosen by a digest of the fact, anchored to the lines that state it or to a block around
them. Then the last commits of the first-parent history run, each compared with its parent, as a
pull request would be. A memory becomes false at a commit when the same rules no longer find its
fact in the tree. Facts are mined anew every 100 commits, so that there are memories of every age.

`verify --diff` is compared with: the anchored lines changed; the file was touched; the memory has
an age (the best one in hindsight). A memory that was named is taken out if it is false; if it is
not, its anchor is renewed, as a person would do. Lines that only moved are followed, as
`verify --fix` does.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import re
import subprocess
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise

from ademem.core.anchor import Place
from ademem.core.value import Value, replace
from ademem.plugins.verify.anchor_verification import Location, find_in_lines, values_at
from ademem.plugins.verify.change_verification import (
    Change,
    locate_in_change,
    map_lines,
    read_change,
)
from ademem.synthesis.anchoring import blob_hash, split_lines

KINDS = ("constant", "default", "option", "version", "path", "symbol")
MINE_EVERY = 100
FACTS = 25
"""Facts of one kind at each mining, in the order of their digests."""
BLOCK_LINES = 30
PACKAGE_ONLY = re.compile(r"(^|/)(tests?|docs?|examples?|benchmarks?)/")
REQUIREMENTS = re.compile(
    r"(^|/)(pyproject\.toml|setup\.(py|cfg)|requirements[\w-]*\.txt|\.?[\w/-]+\.ya?ml|tox\.ini)$"
)
SCRIPTS = re.compile(r"(^|/)(scripts/[\w-]+|[\w/.-]+\.(ya?ml|toml|cfg|ini|sh)|Justfile|Makefile)$")
SPEC = re.compile(r"(?<![\w.-])([A-Za-z][\w-]*(?:\[\w+\])?)(==|>=|~=)(\d+(?:\.\d+)+)")
PYTHON = re.compile(
    r"(requires-python|python_requires|target-version|rev)[\"']?\s*[=:]\s*[\"']?[<>=]*v?"
    r"(\d+(?:\.\d+)+)"
)
FLAG = re.compile(r"(?<![\w-])(--[a-z][a-z-]+)(?:[= ](\d+|[a-z]+/?[\w/.]*))?(?=[\s\"',]|$)")

SENTENCES = {
    "constant": (
        "{name} is {value}.",
        "We settled on {value} for {name}.",
        "Careful: {name} has the value {value} here.",
        "`{name}` = `{value}`, and clients rely on it.",
        "The limit everybody asks about, {name}, stands at {value}",
        "{value} is what {name} is set to, don't guess another one",
    ),
    "default": (
        "Unless told otherwise, {leaf} uses {value} for {name}.",
        "`{owner}` defaults {name} to {value}.",
        "The default of `{name}` in {owner} is {value}.",
        "{owner}({name}={value}) is what callers get when they say nothing.",
        "In {leaf}, {name} is {value} if omitted",
        "Nobody passes `{name}` to `{leaf}`, so it is {value} in practice.",
    ),
    "option": (
        "The command `{owner}` takes {name}.",
        "Use {name} with {owner} for that.",
        "There is an option `{name}` in {owner}.",
        "{owner} is run with `{name}`",
    ),
    "version": (
        "We need {name} {value}.",
        "{name} {value} is the oldest we support.",
        "`{name}` is required at {value} in {path}",
        "Builds use {name} at version {value}.",
    ),
    "path": (
        "{leaf} is defined in {path}.",
        "Look into `{path}` for {leaf}.",
        "The code of `{leaf}` lives in {path}",
        "{path} has {leaf}; start reading there.",
    ),
    "symbol": (
        "`{owner}` does this for you, no need to write it again.",
        "Call {owner} before anything else.",
        "{owner}() is not thread-safe",
        "Prefer {owner} over rolling your own.",
        "Whoever subclasses it has to override `{leaf}`.",
    ),
}  # fmt: skip


Lines = tuple[int, int]


class Fact(Value):
    kind: str
    key: tuple[str, ...]
    value: str
    path: str
    first: int
    last: int
    block: tuple[int, int]
    """The lines of the definition around it."""


Index = dict[tuple[str, tuple[str, ...]], list[Fact]]
Tallies = dict[str, Counter[str]]


class Memory(Value):
    fact: Fact
    text: str
    place: Place
    since: int


Mistake = tuple[str, Memory, str, Location | None]
"""Outcome, memory, commit and what was found."""


def digest(*parts: object) -> int:
    return int(hashlib.sha256("\0".join(map(str, parts)).encode()).hexdigest()[:12], 16)


def mine_python(path: str, source: str) -> list[Fact]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return list(_facts_of(tree.body, path)) if not PACKAGE_ONLY.search(path) else []


def _facts_of(
    body: list[ast.stmt], path: str, owner: str = "", around: Lines | None = None
) -> Iterator[Fact]:
    for node in body:
        lines = (node.lineno, node.end_lineno or node.lineno)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            value = literal(node.value)
            name = targets[0].id if isinstance(targets[0], ast.Name) else "__version__"
            if len(targets) == 1 and value is not None and name != "__version__":
                block = around or (max(1, lines[0] - 3), lines[1] + 3)
                yield fact("constant", (owner, name), value, path, lines, block)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{owner}.{node.name}" if owner else node.name
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            whole, head = (first, lines[1]), (node.lineno, node.body[0].lineno - 1)
            head = (head[0], max(head))
            if not node.name.startswith("__"):
                yield fact("symbol", (name,), "", path, head, whole)
                if not owner:
                    yield fact("path", (name,), path, path, head, whole)
            if isinstance(node, ast.ClassDef):
                yield from _facts_of(node.body, path, name, whole)
                continue
            for argument, value in defaults(node.args):
                yield fact("default", (name, argument), value, path, head, whole)
            for called in node.decorator_list:
                if isinstance(called, ast.Call) and ast.unparse(called.func).endswith("option"):
                    lines = (called.lineno, called.end_lineno or called.lineno)
                    for option in filter(None, map(literal, called.args)):
                        if option.startswith("--"):
                            key = (name, option.partition("/")[0])
                            yield fact("option", key, "", path, lines, whole)


def fact(
    kind: str, key: tuple[str, ...], value: str, path: str, lines: Lines, block: Lines
) -> Fact:
    return Fact(
        kind=kind, key=key, value=value, path=path, first=lines[0], last=lines[1], block=block
    )


def literal(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and not isinstance(node.value, bytes):
        text = str(node.value)
        return text if 0 < len(text) <= 40 and "\n" not in text else None
    return None


def defaults(arguments: ast.arguments) -> Iterator[tuple[str, str]]:
    named = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(named[len(named) - len(arguments.defaults) :], arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        value = literal(default)
        if value is not None:
            yield argument.arg, value


def mine_text(path: str, source: str) -> Iterator[Fact]:
    for number, line in enumerate(source.split("\n"), 1):
        lines, around = (number, number), (max(1, number - 3), number + 3)
        if REQUIREMENTS.search(path):
            specs = [(name, version) for name, _, version in SPEC.findall(line)]
            for name, version in specs + PYTHON.findall(line):
                yield fact("version", (path, name), version, path, lines, around)
        if SCRIPTS.search(path) and not line.lstrip().startswith("#"):
            for flag, _ in FLAG.findall(line):
                yield fact("option", (path, flag), "", path, lines, around)


class Repository:
    def __init__(self, path: str) -> None:
        self.path = path
        self.batch = subprocess.Popen(
            ["git", "-C", path, "cat-file", "--batch"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.mined: dict[tuple[str, str], list[Fact]] = {}

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", "-C", self.path, *arguments], capture_output=True, check=True)
        return done.stdout.decode("utf-8", "replace")

    def blob(self, id: str) -> bytes:
        assert self.batch.stdin
        assert self.batch.stdout
        self.batch.stdin.write(f"{id}\n".encode())
        self.batch.stdin.flush()
        size = int(self.batch.stdout.readline().split()[2])
        return self.batch.stdout.read(size + 1)[:-1]

    def tree(self, commit: str) -> dict[str, str]:
        entries = (entry for entry in self.git("ls-tree", "-rz", commit).split("\0") if entry)
        files = (entry.partition("\t") for entry in entries)
        return {path: about.split()[2] for about, _, path in files if about.split()[0] != "160000"}

    def facts(self, tree: dict[str, str]) -> list[Fact]:
        found = []
        for path, id in tree.items():
            if not (path.endswith(".py") or REQUIREMENTS.search(path) or SCRIPTS.search(path)):
                continue
            if (path, id) not in self.mined:
                source = self.blob(id).replace(b"\r\n", b"\n").decode("utf-8", "replace")
                mined = list(mine_text(path, source))
                if path.endswith(".py"):
                    mined += mine_python(path, source)
                self.mined[path, id] = mined
            found += self.mined[path, id]
        return found


def write_memory(fact: Fact, lines: list[bytes], since: int) -> Memory:
    seed = digest(fact.kind, *fact.key, fact.value)
    sentences = SENTENCES[fact.kind]
    owner = fact.key[0]
    text = sentences[seed % len(sentences)].format(
        name=fact.key[-1],
        owner=owner,
        leaf=owner.rpartition(".")[2],
        value=fact.value,
        path=fact.path,
    )
    first, last = (fact.first, fact.last) if seed // 7 % 2 else fact.block
    last = min(last, first + BLOCK_LINES, len(lines))
    return Memory(
        fact=fact, text=text, place=renewed(fact.path, first, last, lines, text), since=since
    )


def renewed(path: str, first: int, last: int, lines: list[bytes], text: str) -> Place:
    span = b"".join(lines[first - 1 : last])
    span = span if span.endswith(b"\n") else span + b"\n"
    place = Place(path=path, first=first, last=last, hash=blob_hash(span))
    return replace(place, values=values_at(place, text, lines))


def holds(fact: Fact, facts: Index) -> bool:
    return any(each.value == fact.value for each in facts.get((fact.kind, fact.key), ()))


def indexed(facts: list[Fact]) -> Index:
    found: Index = defaultdict(list)
    for fact in facts:
        found[fact.kind, fact.key].append(fact)
    return found


def by_diff(memory: Memory, change: Change) -> bool:
    return locate_in_change(memory.text, memory.place, change) is not None


def by_anchor(memory: Memory, change: Change) -> bool:
    """The anchored lines stood in the file before, and no longer do."""
    file = change.by_path[memory.place.path]
    before, after = change.lines(file.old_blob), change.lines(file.new_blob)
    was = before and find_in_lines(before, memory.place)
    if not was or not after:
        return bool(was)
    first, last = map_lines((was.first, was.last), file.hunks)
    return (
        find_in_lines(after, replace(was, first=max(1, first), last=max(1, first) + last - first))
        is None
    )


def followed(memory: Memory, change: Change) -> Memory:
    """Point the anchor at lines that only moved, as `verify --fix` does."""
    file = change.by_path[memory.place.path]
    after = change.lines(file.new_blob)
    first, last = map_lines((memory.place.first, memory.place.last), file.hunks)
    if not after or first < 1 or last < first:
        return memory
    span = b"".join(after[first - 1 : last])
    if blob_hash(span if span.endswith(b"\n") else span + b"\n") != memory.place.hash:
        return memory
    return replace(memory, place=replace(memory.place, path=file.new, first=first, last=last))


def by_path(_memory: Memory, _change: Change) -> bool:
    return True


CHECKS: dict[str, Callable[[Memory, Change], bool]] = {
    "verify --diff": by_diff,
    "anchor changed": by_anchor,
    "path touched": by_path,
}


OUTCOMES = {(True, True): "hit", (True, False): "false alarm", (False, True): "missed"}


class Replay(Value):
    counts: dict[str, Tallies]
    ages: list[tuple[str, int, int | None]]
    """Kind, commit of its mining and commit that made it false, of each memory."""
    count: int
    seconds: float
    """Processor time of `verify --diff`, without git."""
    log: list[Mistake]


def no_tallies() -> Tallies:
    return {kind: Counter() for kind in KINDS}


def replay(path: str, count: int) -> Replay:
    repository = Repository(path)
    commits = repository.git("rev-list", "--first-parent", "--reverse", "HEAD").split()[
        -count - 1 :
    ]
    alive: dict[str, list[Memory]] = {name: [] for name in CHECKS}
    counts = {name: no_tallies() for name in CHECKS}
    log: list[Mistake] = []
    seconds = 0.0
    known: set[tuple[str, tuple[str, ...], str]] = set()
    everyone: list[Memory] = []
    ended: dict[int, int] = {}
    for step, (base, head) in enumerate(pairwise(commits)):
        if step % MINE_EVERY == 0:
            tree = repository.tree(base)
            facts = repository.facts(tree)
            unique = Counter((fact.kind, fact.key) for fact in facts)
            for kind in KINDS:
                mine = [
                    fact
                    for fact in facts
                    if fact.kind == kind
                    and unique[kind, fact.key] == 1
                    and (kind, fact.key, fact.value) not in known
                ]
                mine.sort(key=lambda fact: digest(fact.kind, *fact.key))
                for fact in mine[:FACTS]:
                    known.add((kind, fact.key, fact.value))
                    memory = write_memory(fact, split_lines(repository.blob(tree[fact.path])), step)
                    everyone.append(memory)
                    for name in CHECKS:
                        alive[name].append(memory)
        after = repository.tree(head)
        now = indexed(repository.facts(after))
        start = time.process_time()
        change = read_change(path, f"{base}..{head}")
        seconds += time.process_time() - start
        for index, memory in enumerate(everyone):
            if index not in ended and not holds(memory.fact, now):
                ended[index] = step
        for name, check in CHECKS.items():
            kept = []
            for memory in alive[name]:
                start = time.process_time()
                named = memory.place.path in change.by_path and check(memory, change)
                seconds += (time.process_time() - start) if check is by_diff else 0
                is_false = not holds(memory.fact, now)
                tally = counts[name][memory.fact.kind]
                if outcome := OUTCOMES.get((named, is_false)):
                    tally[outcome] += 1
                    if outcome != "hit" and check is by_diff:
                        where = locate_in_change(memory.text, memory.place, change)
                        log.append((outcome, memory, head, where if named else None))
                if is_false:
                    continue
                if memory.place.path in change.by_path and not named:
                    memory = followed(memory, change)
                if named and check is not by_path:
                    memory = reanchor(memory, repository, after, now)
                kept.append(memory)
            alive[name] = kept
    ages = [(m.fact.kind, m.since, ended.get(i)) for i, m in enumerate(everyone)]
    return Replay(counts=counts, ages=ages, count=len(commits) - 1, seconds=seconds, log=log)


def reanchor(memory: Memory, repository: Repository, tree: dict[str, str], now: Index) -> Memory:
    fact = next(f for f in now[memory.fact.kind, memory.fact.key] if f.value == memory.fact.value)
    lines = split_lines(repository.blob(tree[fact.path]))
    return replace(write_memory(fact, lines, memory.since), text=memory.text)


def by_age(replayed: Replay) -> tuple[int, Tallies]:
    """Return the age, in commits, that gives the best F1 in hindsight."""
    best: tuple[float, int, Tallies] = (-1.0, 0, {})
    for limit in range(10, replayed.count, 10):
        found = no_tallies()
        for kind, since, end in replayed.ages:
            named = since + limit <= replayed.count
            is_false = end is not None and end <= since + limit
            if named:
                found[kind]["hit" if is_false else "false alarm"] += 1
            if end is not None and not (named and is_false):
                found[kind]["missed"] += 1
        total = sum(found.values(), Counter())
        score = 2 * total["hit"] / max(1, 2 * total["hit"] + total["false alarm"] + total["missed"])
        best = max(best, (score, limit, found), key=lambda each: each[0])
    return best[1], best[2]


def rates(tally: Counter[str]) -> str:
    """Write precision, recall and the number of memories that became false."""
    named, false = tally["hit"] + tally["false alarm"], tally["hit"] + tally["missed"]
    precision, recall = (tally["hit"] / count if count else 0.0 for count in (named, false))
    return f"{precision:.2f} / {recall:.2f} ({false})"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("path")
    parser.add_argument("--commits", type=int, default=1000)
    parser.add_argument("--errors", type=int, default=0, help="mistakes shown of each kind")
    options = parser.parse_args()
    replayed = replay(options.path, options.commits)
    age, found = by_age(replayed)
    memories = Counter(kind for kind, *_ in replayed.ages)
    false = sum(end is not None for *_, end in replayed.ages)
    cost = 1000 * replayed.seconds / replayed.count
    print(f"{len(replayed.ages)} memories, {replayed.count} commits, {false} became false")
    print(f"{cost:.0f} ms a commit; precision / recall (became false)\n")
    heads = [*(f"{kind} {memories[kind]}" for kind in KINDS), "all"]
    print(f"{'':<16}" + "".join(f"{head:>18}" for head in heads))
    for name, by_kind in {**replayed.counts, f"age {age} commits": found}.items():
        cells = [*(by_kind[kind] for kind in KINDS), sum(by_kind.values(), Counter())]
        print(f"{name:<16}" + "".join(f"{rates(cell):>18}" for cell in cells))
    shown: Counter[tuple[str, str]] = Counter()
    for outcome, memory, head, location in replayed.log:
        fact = memory.fact
        shown[outcome, fact.kind] += 1
        if shown[outcome, fact.kind] <= options.errors:
            print(f"\n{outcome} {fact.kind} {fact.key} {fact.value!r} {head[:10]}")
            print(f"  {memory.text}\n  {memory.place.text}\n  {location}")


if __name__ == "__main__":
    main()
