"""Write the rules of a project as the module in the client looks them up.

One file for each project, of two lines: a header with length and digest, and an object. Its `ties`
are bindings, each with its memory and what a call that meets it has to be asked; the tables map
keys of calls to numbers of ties. What the module cannot look up goes to Python: `asks`.
"""

from __future__ import annotations

import hashlib
import json
import os

from ademem.core import shared_files
from ademem.core.clock import stamp
from ademem.core.memory import STOP, is_rule
from ademem.core.untrusted import escape
from ademem.core.value import Value
from ademem.guard import acts, readers
from ademem.plugins.client import places
from ademem.search import binding as bindings
from ademem.search.hint_patterns import expand_glob
from ademem.search.meeting import GUESSED, WORDED, Met, keep
from ademem.session import consulting, denials, hint_events
from ademem.store import bindings as table
from ademem.store import client_files, ledger, memories, relations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from ademem.core.memory import Memory
    from ademem.store.bindings import Binding
    from ademem.store.runtime import Runtime

FORMAT = 1
"""Number in the header; the module reads no other."""
MOST_BYTES = 2_000_000
"""Longest object; of more memories it has only the rules that stop calls in every turn."""
OPERATIONS = ("any", "edit", "create")
_FILES = ("path", "anchor")
_PLACE = "\ue000"
"""Character of no text, for the place that the module puts into the end of a denial."""


class Tie(Value):
    """A binding of a memory, as the module reads it."""

    met: Met
    denies: bool
    asks: bool
    """True if only Python can tell what is said of it."""

    @property
    def order(self) -> tuple[bool, bool, bool, int, bool, float]:
        """Order in which memories are said; words that an edit shares are left to Python."""
        memory, binding = self.met.memory, self.met.binding
        return (
            binding.state in ("changed", "gone"),
            memory.status == "candidate",
            not is_rule(memory),
            self.met.rank,
            binding.kind not in _FILES,
            binding.reach,
        )


def write(runtime: Runtime, folder: str) -> None:
    """Write the file of the project into the folder of the module; raises OSError."""
    root = runtime.project.root
    name = f"{hashlib.sha256(root.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}.json"
    path = os.path.join(folder, name)
    body = json.dumps(compile_rules(runtime), ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.sha256(body.encode()).hexdigest()
    if digest not in (shared_files.read_text(path) or "").partition("\n")[0]:
        header = {
            "ademem": FORMAT,
            "made": stamp(runtime.clock()),
            "bytes": len(body.encode()),
            "sha256": digest,
        }
        text = f"{json.dumps(header, separators=(',', ':'))}\n{body}\n"
        shared_files.write_atomic(path, text, mode=0o600, sync=False)
    _list_project(folder, root, name)


def _list_project(folder: str, root: str, name: str) -> None:
    """Add a project to the list, and take those out whose `.ade/` is gone."""
    path = os.path.join(folder, places.PROJECTS)
    if _read_projects(path).get(root) == name:
        return
    with shared_files.locked(f"{path}.lock"):
        known = {at: of for at, of in _read_projects(path).items() if _is_enrolled(at)}
        listed = json.dumps(known | {root: name}, indent=1)
        shared_files.write_atomic(path, f"{listed}\n", mode=0o600)


def _read_projects(path: str) -> dict[str, str]:
    try:
        listed = json.loads(shared_files.read_text(path) or "{}")
    except ValueError:
        return {}
    return listed if isinstance(listed, dict) else {}


def _is_enrolled(root: str) -> bool:
    return os.path.isdir(os.path.join(root, ".ade")) or os.path.isfile(os.path.join(root, ".git"))


def compile_rules(runtime: Runtime) -> dict[str, Any]:
    """Return the object of a project's file."""
    ties = sorted(_ties(runtime), key=lambda tie: tie.order)
    rules = _tables(ties, runtime)
    if len(json.dumps(rules, ensure_ascii=False).encode()) > MOST_BYTES:
        marked = [tie for tie in ties if tie.denies and STOP in tie.met.memory.tags]
        rules = _tables(marked, runtime) | {"partial": True}
    return rules


def _ties(runtime: Runtime) -> list[Tie]:
    """Return the bindings of all memories that a call may meet."""
    store = runtime.store
    met = [_read(row) for row in table.list_showable(store)]
    unique = {each.memory.id: each.memory for each in met}
    asked = _find_asked(unique.values(), runtime)
    ties = []
    for each, finding in zip(met, consulting.judge(met, True, store), strict=True):
        asks = each.memory.id in asked or _asks(each.binding)
        denies = finding.may_deny and finding.is_firm and finding.is_rule and not asks
        ties.append(Tie(met=each, denies=denies, asks=asks))
    return ties


def _read(row: Any) -> Met:
    """Return a row of `list_showable` as if a call had met its binding."""
    found: dict[str, Met] = {}
    keep(row, found)
    (met,) = found.values()
    return met


def _asks(binding: Binding) -> bool:
    """Tell whether a place counts only with words of the edit, or with what a command changes."""
    is_weak = binding.strength in (WORDED, GUESSED) or bool(binding.holds)
    return is_weak or (binding.kind == "program" and binding.op != "any")


def _find_asked(found: Iterable[Memory], runtime: Runtime) -> set[str]:
    """Return memories of which sessions, branches or later memories decide what is said."""
    store, found = runtime.store, list(found)
    asked = {file.memory_id for file in client_files.list_linked(store)}
    asked |= relations.find_later(store, found).keys()
    asked |= {one.id for one in found if one.source_branch or one.source_type == ledger.ERROR}
    return {id for id in asked if id}


def _tables(ties: list[Tie], runtime: Runtime) -> dict[str, Any]:
    guard, store = runtime.settings.guard, runtime.store
    found = {tie.met.memory.id: tie.met.memory for tie in ties}
    numbers = {id: number for number, id in enumerate(found)}
    rules: dict[str, Any] = {
        "root": runtime.project.root,
        "below": _list_below(runtime),
        "mode": guard.mode,
        "max_blocks": guard.max_blocks,
        "fail": guard.fail,
        "partial": table.is_shown_due(store) or memories.any_adopted(store),
        "end": denials.end(_PLACE).split(_PLACE),
        "memories": _write_memories(list(found.values()), ties, runtime),
        "ties": [],
        "asks": set(),
        "readers": readers.list_plain(guard),
        **{kind: {} for kind in ("files", "folders", "suffixes", "commands")},
        "globs": [],
        "literals": [],
    }
    for number, tie in enumerate(ties):
        binding = tie.met.binding
        rules["ties"].append(
            [
                numbers[tie.met.memory.id],
                OPERATIONS.index(binding.op),
                tie.met.rank,
                int(tie.denies),
                int(tie.asks),
                escape(bindings.tell_place(binding, bindings.TICK)) if tie.denies else "",
            ]
        )
        _enter(number, binding, rules)
    rules["asks"] = sorted(rules["asks"])
    return rules


def _enter(number: int, binding: Binding, rules: dict[str, Any]) -> None:
    """Enter a tie at the keys of the calls that can meet it."""
    kind, key = binding.kind, binding.key
    tables = {"path": "files", "anchor": "files", "dir": "folders", "suffix": "suffixes"}
    if kind in tables:
        rules[tables[kind]].setdefault(key, []).append(number)
    elif kind == "glob":
        plain = binding.pattern.split("*")[0].split("?")[0]
        rules["globs"].append([expand_glob(binding.pattern), plain, number])
    elif kind == "literal":
        rules["literals"].append([key, binding.pattern.lower(), number])
    elif kind == "program":
        words = [key, *binding.pattern.split()]
        rules["commands"].setdefault(key, []).append([words, number])
    elif kind == "act":
        rules["asks"] |= acts.programs_of(key)


def _write_memories(found: list[Memory], ties: list[Tie], runtime: Runtime) -> list[dict[str, Any]]:
    """Return what is said of each memory; of those that deny nothing only the ids."""
    denying = {tie.met.memory.id for tie in ties if tie.denies}
    carried = [memory for memory in found if memory.id in denying]
    entries = hint_events.format_entries(carried, runtime.store, hint_events.ENTRY_CHARS)
    written = {memory.id: entry for memory, entry in zip(carried, entries, strict=True)}
    listed = []
    for memory in found:
        each: dict[str, Any] = {"id": memory.id, "stop": STOP in memory.tags}
        if memory.scope == "agent":
            each["agent"] = memory.scope_owner_id or ""
        if memory.id in written:
            reason = denials.explain([memory], "", [written[memory.id]], runtime.clock())
            each["line"], _, rest = reason.partition("\n")
            each["rest"] = rest.partition("\n")[2]
        listed.append(each)
    return listed


def _list_below(runtime: Runtime) -> list[str]:
    """Return other projects inside this one, whose own memories count for their files."""
    from ademem.files import enrolment

    above = f"{runtime.project.root}{os.sep}"
    known = enrolment.list_projects(runtime.environment)
    return sorted(each.root for each in known if each.root.startswith(above))
