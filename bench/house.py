"""Report the shape of the code: rooms, imports, size, words.

    python bench/house.py [CHECKOUT ...]

Each CHECKOUT (default: this one) is a column. Trips run in new processes, with this interpreter and
the checkout first on its path. The last figures count per module, by name.
"""

from __future__ import annotations

import argparse
import ast
import gc
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

Arrows = frozenset[tuple[str, str]]

RIDDLES = ("What", "Who", "Whether", "Those")
"""First words of docstrings that name neither a thing nor an action."""

PROBE = """
import io, json, os, runpy, sys
from contextlib import redirect_stdout, suppress
sys.path.insert(0, {root!r})
sys.dont_write_bytecode = True
def modules():
    return sum(name.split(".")[0] == "ademem" for name in sys.modules)
def end(code=0):
    raise SystemExit(code)
os._exit = end
{body}
"""

COMMANDS = """
import importlib
import typer.main
try:
    cli = importlib.import_module("ademem.doors.cli")
except ImportError:
    cli = importlib.import_module("ademem.cli")
for name in getattr(cli, "COMMANDS", ()):
    importlib.import_module(f"{cli.__name__}.{name}")
def visible(command):
    if command.hidden:
        return 0
    children = getattr(command, "commands", None)
    return sum(map(visible, children.values())) if children is not None else 1
print(visible(typer.main.get_command(cli.app)))
"""

TABLES = """
import sqlite3
db = sqlite3.connect(".ade/ade.db")
kinds = "schema = 'main' and type in ('table', 'virtual')"
rows = db.execute(f"select name from pragma_table_list where {kinds}")
print(sum(not name.startswith("sqlite_") for (name,) in rows))
"""

TYPED = """
sys.argv = ["ademem", *{arguments!r}]
with suppress(SystemExit), redirect_stdout(io.StringIO()):
    try:
        from ademem.doors.cli import main
    except ImportError:
        from ademem.cli import main
    with suppress(ImportError):  # a person types it, as far as the checkout asks
        from ademem.core import who
        from ademem.core.actor import By, Who
        person = Who(by=By.PERSON, why="typed")
        who.of_process = lambda: person
    main()
print(modules())
"""

HOOK = """
sys.stdin = io.TextIOWrapper(io.BytesIO({payload!r}))
with suppress(SystemExit), redirect_stdout(io.StringIO()):
    runpy.run_path(os.path.join({root!r}, "hooks", {event!r} + ".py"))
print(modules())
"""

TRIPS = (
    "cold recall",
    "SessionStart",
    "PreToolUse that denies",
    "LEARNED in PostToolUse",
    "import of a pulled edit",
)


@cache
def parse(path: Path) -> ast.Module:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    gc.freeze()  # else collections of all trees take as long as reading them
    return tree


@cache
def nodes(tree: ast.AST) -> tuple[ast.AST, ...]:
    """Return all nodes of a module, which several figures count."""
    return tuple(ast.walk(tree))


class Checkout:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.package = self.root / "ademem"
        paths = {self._dotted(path): path for path in sorted(self.package.rglob("*.py"))}
        self.sources = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
        self.trees = {name: parse(path) for name, path in paths.items()}

    def _dotted(self, path: Path) -> str:
        parts = path.relative_to(self.root).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def run(self, body: str, folder: Path, **values: object) -> int:
        """Return the number that a fresh interpreter prints in *folder*."""
        root = str(self.root)
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder.parent),
            "TMPDIR": str(folder.parent),
            "CLAUDE_PROJECT_DIR": str(folder),
            "ADEMEM_JOBS_AUTO": "false",
        }
        code = PROBE.format(root=root, body=body.format(root=root, **values) if values else body)
        ran = subprocess.run(
            [sys.executable, "-I", "-c", code],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        if ran.returncode:
            raise RuntimeError(ran.stderr.strip().splitlines()[-1])
        return int(ran.stdout.split()[-1])


class Figure(NamedTuple):
    name: str
    value: str


def figures(checkout: Checkout) -> Iterator[Figure]:
    rooms = _arrows(checkout)
    names = sorted({name.split(".")[1] for name in checkout.sources if "." in name} - {"__main__"})
    back = _running_back(rooms)
    yield Figure("names at the package's root", str(len(names)))
    yield Figure("floors of imports between them", str(_floors(rooms)))
    yield Figure("arrows between them", str(len(rooms)))
    yield Figure("arrows that run back", str(len(back)))
    yield Figure("modules", str(len(checkout.sources)))
    sizes = sorted(map(len, circles(checkout)), reverse=True)
    yield Figure("circles of modules at run time", str(len(sizes)))
    yield Figure("modules of the largest one", str(max(sizes, default=0)))
    branching = [
        count_branches(each) for tree in checkout.trees.values() for each in functions(tree)
    ]
    yield Figure("functions of complexity C or worse", str(sum(each > 10 for each in branching)))
    yield Figure("functions of complexity E or F", str(sum(each > 30 for each in branching)))
    lines = sum(text.count("\n") for text in checkout.sources.values())
    yield Figure("lines of product code", f"{lines:,}")
    for owner, count in sorted(_lines_by_part(checkout).items()):
        yield Figure(f"lines of {owner}", f"{count:,}")
    yield Figure("imports from the core to parts", str(_imports_of_parts(checkout)))
    yield Figure("settings", str(_settings(checkout)))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "project"
        folder.mkdir()
        checkout.run(TYPED, folder, arguments=["init"])
        yield Figure("commands in the help", str(checkout.run(COMMANDS, folder)))
        yield Figure("tables", str(checkout.run(TABLES, folder)))
        add = ["add", "Login tokens expire in UTC", "--category", "convention"]
        checkout.run(TYPED, folder, arguments=add)
        checkout.run(TYPED, folder, arguments=["files", "refresh"])
        for name, modules in zip(TRIPS, _trips(checkout, folder), strict=True):
            yield Figure(f"modules executed: {name}", str(modules))
    for command, yardsticks in _starts(checkout):
        yield Figure(f"start of `{command}`, in yardsticks", f"{yardsticks:.2f}")
    yield Figure("bytes of README", f"{(checkout.root / 'README.md').stat().st_size:,}")
    opening = [text.split(None, 1)[0].strip(",") for text in _docstrings(checkout) if text.strip()]
    riddles = sum(word in RIDDLES for word in opening)
    yield Figure("docstrings", f"{len(opening):,}")
    share = f"{100 * riddles / max(1, len(opening)):.1f} %"
    yield Figure("docstrings that open with What, Who, Whether, Those", share)
    single, private = _single_callers(checkout)
    yield Figure("private functions with one caller", f"{single} of {private}")


def _part_of(module: str) -> str:
    """Return the part that a module is in; empty for one of the core."""
    names = module.split(".")
    return names[2] if names[1:2] == ["plugins"] and len(names) > 2 else ""


def _lines_by_part(checkout: Checkout) -> Counter[str]:
    found: Counter[str] = Counter()
    for name, text in checkout.sources.items():
        part = _part_of(name)
        found[f"the part {part}" if part else "the core"] += text.count("\n")
    return found


def _imports_of_parts(checkout: Checkout) -> int:
    core = [name for name in checkout.trees if not _part_of(name)]
    return sum(bool(_part_of(target)) for name in core for target in _imported(name, checkout))


YARDSTICK = "import json, sqlite3"
STARTS = ("--help", "recall tokens", "list", "get 6b0e", "status", "review", "add")
RUNS = 5

PROGRAM = """
import sys
sys.path.insert(0, {root!r})
sys.argv = {arguments!r}
from ademem.doors.cli import program
program()
"""


def _starts(checkout: Checkout) -> Iterator[tuple[str, float]]:
    """Yield commands with their least processor time, compiled as an installation compiles them."""
    with tempfile.TemporaryDirectory() as scratch:
        root, folder = os.path.join(scratch, "packages"), os.path.join(scratch, "project")
        leave_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout.package, os.path.join(root, "ademem"), ignore=leave_out)
        os.mkdir(folder)
        bundle = "from ademem.core import bytecode; bytecode.write(bytecode.PACKAGE)"
        _spend(f"import sys; sys.path.insert(0, {root!r}); {bundle}", folder)
        _spend(PROGRAM.format(root=root, arguments=["ademem", "init"]), folder)
        yardstick = min(_spend(YARDSTICK, folder) for _ in range(RUNS))
        for command in STARTS:
            spent = []
            for number in range(RUNS):
                text = f"Port {7000 + number} is that of the service {number}"
                words = [*command.split(), *([text] if command == "add" else [])]
                spent.append(
                    _spend(PROGRAM.format(root=root, arguments=["ademem", *words]), folder)
                )
            yield command.partition(" ")[0], min(spent) / yardstick


def _spend(code: str, folder: str) -> float:
    """Return the processor time of a fresh interpreter in seconds."""
    home = os.path.dirname(folder)
    environment = {"PATH": os.environ["PATH"], "HOME": home, "ADEMEM_JOBS_AUTO": "false"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-I", "-c", code], cwd=folder, env=environment, capture_output=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _arrows(checkout: Checkout) -> Arrows:
    """Imports between rooms, wherever they stand."""

    def room_of(name: str) -> str:
        return ".".join(name.split(".")[:2])

    rooms, found = set(map(room_of, checkout.sources)), set()
    for name, tree in checkout.trees.items():
        for node in nodes(tree):
            if isinstance(node, ast.Import):
                imported = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                imported = [f"{node.module}.{alias.name}" for alias in node.names]
            else:
                continue
            for target in imported:
                if target.startswith("ademem.") and room_of(target) in rooms:
                    found.add((room_of(name), room_of(target)))
    return frozenset((a, b) for a, b in found if a != b and "ademem" not in (a, b))


def _running_back(arrows: Arrows) -> Arrows:
    """Arrows against the order that Eades, Lin and Smyth's heuristic gives; none if no circle."""
    left: list[str] = []
    right: list[str] = []
    rest = {name for arrow in arrows for name in arrow}
    while rest:
        inner = [(a, b) for a, b in arrows if a in rest and b in rest]
        out, into = Counter(a for a, _ in inner), Counter(b for _, b in inner)
        if sinks := [name for name in rest if not out[name]]:
            right = sorted(sinks) + right
            rest -= set(sinks)
        elif sources := [name for name in rest if not into[name]]:
            left += sorted(sources)
            rest -= set(sources)
        else:
            best = max(sorted(rest), key=lambda name: out[name] - into[name])
            left.append(best)
            rest.remove(best)
    place = {name: at for at, name in enumerate(left + right)}
    return frozenset((a, b) for a, b in arrows if place[a] > place[b])


def _floors(arrows: Arrows) -> int:
    """Length of the longest way down, without the arrows that run back."""
    down = arrows - _running_back(arrows)
    heights: dict[str, int] = {}

    def height(name: str) -> int:
        if name not in heights:
            heights[name] = 1 + max((height(b) for a, b in down if a == name), default=0)
        return heights[name]

    return max((height(name) for arrow in arrows for name in arrow), default=1)


def functions(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield functions and methods, but none that is within another."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif not isinstance(node, ast.expr):
            yield from functions(node)


def count_branches(function: ast.AST) -> int:
    """Count the paths through a function (cyclomatic complexity, as radon grades it)."""
    paths = 1
    for node in ast.walk(function):
        match node:
            case ast.If() | ast.IfExp() | ast.ExceptHandler() | ast.Assert() | ast.match_case():
                paths += 1
            case ast.For() | ast.AsyncFor() | ast.While():
                paths += 1 + bool(node.orelse)
            case ast.comprehension():
                paths += 1 + len(node.ifs)
            case ast.BoolOp():
                paths += len(node.values) - 1
    return paths


def circles(checkout: Checkout) -> list[frozenset[str]]:
    """Return the modules that import each other at run time, also from within functions."""
    arrows = {name: _imported(name, checkout) for name in checkout.trees}
    reached = {name: _reached(name, arrows) for name in arrows}
    found = {
        frozenset(each for each in below if name in reached[each])
        for name, below in reached.items()
    }
    return sorted(filter(None, found), key=sorted)


def _reached(name: str, arrows: Mapping[str, frozenset[str]]) -> frozenset[str]:
    seen: set[str] = set()
    waiting = set(arrows[name])
    while waiting:
        seen |= waiting
        waiting = {target for each in waiting for target in arrows[each]} - seen
    return frozenset(seen)


@cache
def _imported(name: str, checkout: Checkout) -> frozenset[str]:
    """Modules of the package that *name* imports by their names."""
    found = set()
    for node in _at_run_time(checkout.trees[name]):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            modules = full & checkout.trees.keys()
            found |= modules if modules == full else modules | {str(node.module)}
    return frozenset(found & checkout.trees.keys()) - {name}


def _at_run_time(tree: ast.AST) -> Iterator[ast.AST]:
    """Walk the statements of a tree without what stands below `if TYPE_CHECKING`."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
        else:
            inside = ast.iter_child_nodes(node)
            waiting += (each for each in inside if not isinstance(each, ast.expr))


def _settings(checkout: Checkout) -> int:
    tree = checkout.trees.get("ademem.core.settings") or checkout.trees["ademem.settings"]
    classes = {
        node.name: [
            field
            for field in node.body
            if isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and not field.target.id.startswith("_")
        ]
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    sections = [ast.unparse(field.annotation).strip("'\"") for field in classes["Settings"]]
    return sum(len(classes.get(section, "x")) for section in sections)


def _trips(checkout: Checkout, folder: Path) -> Iterator[int]:
    def fire(event: str, **keys: object) -> int:
        title = "".join(word.capitalize() for word in event.split("_"))
        head = {"session_id": "s1", "prompt_id": "p1", "cwd": str(folder), "hook_event_name": title}
        payload = json.dumps(head | keys).encode()
        return checkout.run(HOOK, folder, event=event, payload=payload)

    def call(tool: str, **arguments: str) -> dict[str, object]:
        return {"tool_name": tool, "tool_input": arguments, "tool_use_id": "t1"}

    yield checkout.run(TYPED, folder, arguments=["recall", "login tokens", "--json"])
    yield fire("session_start", source="startup")
    fire("user_prompt_submit", prompt="Fix the login bug in src/auth.py")
    yield fire("pre_tool_use", **call("Write", file_path=str(folder / "auth.py"), content="x"))
    learned = call("Bash", command='bd comment BD-1 "LEARNED: sessions end after ten minutes"')
    yield fire("post_tool_use", **learned, tool_response={"stdout": "", "stderr": ""})
    fire("stop", last_assistant_message="Done.")  # so that the session did not write the page
    checkout.run(TYPED, folder, arguments=["files", "refresh"])
    page = folder / ".ade/memory/conventions.md"
    page.write_text(page.read_text().replace("expire in UTC", "expire in UTC, never locally"))
    yield fire("session_start", source="resume")


def _docstrings(checkout: Checkout) -> list[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    every = (node for tree in checkout.trees.values() for node in nodes(tree))
    found = [ast.get_docstring(node) for node in every if isinstance(node, kinds)]
    return [text for text in found if text]


def _single_callers(checkout: Checkout) -> tuple[int, int]:
    """Count private functions of modules: those that their module names once, and all."""
    single = private = 0
    for tree in checkout.trees.values():
        defined = [
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            and re.match(r"_[^_]", node.name)
        ]
        used = Counter(
            node.id if isinstance(node, ast.Name) else node.attr
            for node in nodes(tree)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        private += len(defined)
        single += sum(used[name] == 1 for name in defined)
    return single, private


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("checkouts", nargs="*", type=Path, default=[Path(__file__).parents[1]])
    given = parser.parse_args()
    columns = [dict(figures(Checkout(root))) for root in given.checkouts]
    for name in columns[0]:
        print(f"{name:55}", *(f"{column.get(name, '-'):>14}" for column in columns))


if __name__ == "__main__":
    main()
