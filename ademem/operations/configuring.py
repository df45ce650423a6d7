"""List and write settings, and record a person's trust in what came with a project."""

from __future__ import annotations

import ast
import json
import math
import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

from ademem.core import confined, project, shared_files, trust, who
from ademem.core.actor import NOT_ASKED, By, Who
from ademem.core.errors import AdememError
from ademem.core.memory import Scope
from ademem.core.project import Project
from ademem.core.setting_sources import SettingWarning, SourceValues, fingerprint, local_file
from ademem.core.settings import (
    PERSONAL_SECTION,
    BadSetting,
    Key,
    all_keys,
    as_value,
    key_of,
    load_configuration,
    sections,
    value_of,
)
from ademem.core.value import Value
from ademem.files import enrolment, ignore
from ademem.operations import curation, find_project, open_memories
from ademem.operations.curation import Accepted
from ademem.store import memory_queries, statistics
from ademem.store.memory_queries import DatabaseClaims
from ademem.store.runtime import Runtime
from ademem.sync.provenance import provenance_of
from ademem.sync.trusted_commits import Remote
from ademem.synthesis import reader


class Setting(Value):
    key: str
    value: Any
    source: str
    """Path, name of a variable, or `default`."""
    owner: str


class Described(Value):
    key: Key
    meaning: str


class Changed(Value):
    path: str
    others_are_asked: bool
    in_force: bool
    source: str


class UntrustedParts(Value):
    settings: dict[str, Any]
    """Of `config.toml`, without those that the person agreed to."""
    local: SourceValues | None
    """A `config.local.toml` that is not noted as the person's."""
    memories: int
    """Unaccepted memories of the files, except quarantined ones."""
    briefs: tuple[str, ...]
    authors: tuple[str, ...]
    trusts_files: bool
    """Also what later pulls bring."""
    remote: Remote
    database: DatabaseClaims | None
    """Claims of a database that was not made here."""


def offer_reader(place: Project | None, environment: Mapping[str, str]) -> list[str]:
    """Return the offer of the reader at the end of a session, while it is off."""
    is_on = load_configuration(place, environment).settings.learn.reader == "on"
    return [] if is_on else [reader.OFFER]


def list_settings(
    root: str | None = None, *, environment: Mapping[str, str] = os.environ
) -> tuple[list[Setting], tuple[SettingWarning, ...]]:
    found = load_configuration(find_project(root, environment=environment), environment)
    return [
        Setting(
            key=name,
            value=value_of(found.settings, name),
            source=found.origins.get(name, "default"),
            owner=key.owner,
        )
        for name, key in all_keys()
    ], found.warnings


@cache
def describe_keys() -> dict[str, Described]:
    kinds = sections()
    meanings: dict[tuple[str, str], str] = {}
    for module in {kind.__module__ for kind in kinds.values()}:
        meanings |= _read_meanings(str(sys.modules[module].__file__))
    found = {}
    for full, key in all_keys():
        section, _, name = full.partition(".")
        meaning = meanings.get((kinds[section].__name__, name), "")
        found[full] = Described(key=key, meaning=meaning)
    return found


def _read_meanings(path: str) -> dict[tuple[str, str], str]:
    """Return the texts under fields in a module, by class and field."""
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    found = {}
    for section in (node for node in tree.body if isinstance(node, ast.ClassDef)):
        for pair in pairwise(section.body):
            match pair:
                case ast.AnnAssign(ast.Name(name)), ast.Expr(ast.Constant(str(meaning))):
                    found[section.name, name] = meaning
    return found


def _is_stricter(
    key: str, value: Any, where: str, root: str | None, environment: Mapping[str, str]
) -> bool:
    """Tell whether a value of this project is stricter than what holds: a script may set it."""
    if where == "user" or not key_of(key).stricter:
        return False
    here = project.find(root, environment, os.getcwd())
    now = value_of(load_configuration(here, environment).settings, key)
    tightened = key_of(key).tightened(value, now)
    return bool(tightened == value and value != now)


def set_value(
    key: str,
    text: str,
    where: str = "local",
    *,
    root: str | None = None,
    environment: Mapping[str, str] = os.environ,
    by: Who = NOT_ASKED,
) -> Changed:
    value = as_value(key, text)
    is_of_script = by.by is By.UNKNOWN and by is not NOT_ASKED
    if not key_of(key).is_shared and not (
        is_of_script and _is_stricter(key, value, where, root, environment)
    ):
        who.require_person(by, f"the setting {key}")
    if where == "user":
        here, path = find_project(root, environment=environment), trust.config_path(environment)
        shared_files.write_atomic(path, with_value(shared_files.read_text(path) or "", key, value))
    elif key.startswith(f"{PERSONAL_SECTION}."):
        raise BadSetting(f"{key} counts in no file of a project", "`--user` writes your own")
    else:
        here = project.find(root, environment, os.getcwd())
        write = _write_shared if where == "shared" else _write_local
        path = write(here, key, value, environment)
    found = load_configuration(here, environment)
    return Changed(
        path=path,
        others_are_asked=not key_of(key).is_shared and where == "shared",
        in_force=value_of(found.settings, key) == value,
        source=found.origins.get(key, "default"),
    )


def _write_shared(here: Project, key: str, value: Any, environment: Mapping[str, str]) -> str:
    """Write a setting of the team, and trust it, unless other settings wait for trust.

    Returns the path of the file.
    """
    waited = load_configuration(here, environment).held
    _write(here.root, here.config, key, value)
    held = load_configuration(here, environment).held
    if held and not waited and key in held:
        trust.agree(here.main, environment, settings=fingerprint(held))
    return here.config


def _write_local(here: Project, key: str, value: Any, environment: Mapping[str, str]) -> str:
    if _find_unnoted(here, environment):
        why = f"{here.local_config} {NOT_NOTED}"
        raise AdememError(why, "`ademem trust --settings` shows it and asks")
    ignore(here)
    _write(here.home_root, here.local_config, key, value)
    trust.agree(here.main, environment, local=local_file(here, environment).digest)
    return here.local_config


NOT_NOTED = (
    "is not noted as yours: `ademem config set` did not write it, or `ademem uninstall` dropped the"
    " note"
)
PROJECT_LIMIT = "lifecycle.project_limit"
ROOM = 1.25
"""Memories for which a raised limit has room, as a share of those that live."""
STEP = 1000


class RaisedLimit(Value):
    limit: int
    path: str
    """The file that has it."""


def raise_project_limit(runtime: Runtime, ask: Callable[[int], bool]) -> RaisedLimit | None:
    """Raise the limit for this project where more memories live; if somebody set it, *ask* before.

    Where nobody set it the new one is the team's, else it counts on this machine. Returns None
    where nothing is above it, the answer is no, or a variable sets it.
    """
    limit = runtime.settings.lifecycle.project_limit
    count = max(statistics.by_owner(runtime.store).get(Scope.PROJECT, [0]))
    if not 0 < limit < count:
        return None
    raised = math.ceil(count * ROOM / STEP) * STEP
    configured = load_configuration(runtime.project, runtime.environment)
    is_set = PROJECT_LIMIT in configured.origins
    if is_set and not ask(raised):
        return None
    where, root = "local" if is_set else "shared", runtime.project.root
    changed = set_value(
        PROJECT_LIMIT, str(raised), where, root=root, environment=runtime.environment
    )
    path = os.path.relpath(changed.path, root)
    return RaisedLimit(limit=raised, path=path) if changed.in_force else None


def find_untrusted(root: str | None = None) -> UntrustedParts:
    here = project.find(root, os.environ, os.getcwd())
    with open_memories(root) as runtime:
        provenance = provenance_of(runtime)
        return UntrustedParts(
            settings=load_configuration(here, os.environ).held,
            local=_find_unnoted(here, os.environ),
            memories=memory_queries.count_with_files(runtime.store, quarantined=False),
            briefs=tuple(curation.list_claimed_briefs(runtime)),
            authors=tuple(memory_queries.authors_with_files(runtime.store)),
            trusts_files=provenance.agreement is not None,
            remote=provenance.remote,
            database=memory_queries.find_database_claims(runtime.store),
        )


def agree(
    arrived: UntrustedParts,
    part: str,
    *,
    root: str | None = None,
    authors: Sequence[str] = (),
    by: Who = NOT_ASKED,
) -> Accepted | None:
    """Trust *part* as shown: `settings`, `local`, `database`, or `files` of some *authors*."""
    who.require_person(by, "trust in a project")
    here, accepted = project.find(root, os.environ, os.getcwd()), None
    match part:
        case "settings":
            trust.agree(here.main, os.environ, settings=fingerprint(arrived.settings))
        case "local" if arrived.local:
            trust.agree(here.main, os.environ, local=arrived.local.digest)
        case "database":
            with open_memories(root, by=by) as runtime:
                enrolment.trust_database(runtime.store, os.environ)
        case "files":
            with open_memories(root, by=by) as runtime:
                accepted = curation.trust_files(runtime, authors)
    with open_memories(root, by=by) as runtime:
        curation.note_receipt(runtime, f"trusted {part} of this project")
    return accepted


def revoke(root: str | None = None, *, database: bool = False) -> None:
    here = project.find(root, os.environ, os.getcwd())
    if database:
        enrolment.forget(here, os.environ)
    else:
        trust.forget(here.main, os.environ)


def _find_unnoted(here: Project, environment: Mapping[str, str]) -> SourceValues | None:
    found = local_file(here, environment)
    noted = trust.agreement(here.main, environment).local
    return found if found.digest and found.digest != noted else None


def _write(root: str, path: str, key: str, value: Any) -> None:
    confined.write_text(root, path, with_value(confined.read_text(root, path) or "", key, value))


def with_value(text: str, name: str, value: Any) -> str:
    """Set one value, with comments and order kept; raises BadSetting where a person has to."""
    section, _, key = name.partition(".")
    line = f"{key} = {format_value(value)}"
    try:
        wanted = tomllib.loads(text)
        wanted[section] = wanted.get(section, {}) | {key: tomllib.loads(line)[key]}
        changed = _with_line(text.splitlines(), section, key, line)
        if tomllib.loads(changed) == wanted:
            return changed
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise BadSetting(f"the file cannot be edited: {error}", "correct it by hand") from error
    why = "the file has a form that is not edited by program"
    raise BadSetting(why, f"write `{line}` below `[{section}]` by hand")


def format_value(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(format_value, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with_line(lines: list[str], section: str, key: str, line: str) -> str:
    head = _find_line(_HEAD, lines, range(len(lines)))
    top = range(len(lines) if head is None else head)
    dotted = _find_line(rf"\s*{section}\s*\.\s*{key}\s*=", lines, top)
    if dotted is not None:
        return _replace_value(lines, dotted, f"{section}.{line}")
    body = _find_section(section, lines)
    if body is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{section}]", line, ""])
    plain = _find_line(rf"\s*{key}\s*=", lines, body)
    if plain is not None:
        return _replace_value(lines, plain, line)
    end = body.stop
    while not lines[end - 1].strip():
        end -= 1
    return "\n".join([*lines[:end], line, *lines[end:], ""])


_HEAD = r"\s*\["


def _find_line(pattern: str, lines: Sequence[str], among: range) -> int | None:
    return next((at for at in among if re.match(pattern, lines[at])), None)


def _find_section(name: str, lines: Sequence[str]) -> range | None:
    """Return the places of the lines below the head of a section."""
    head = _find_line(rf"\s*\[\s*{name}\s*\]\s*(#|$)", lines, range(len(lines)))
    if head is None:
        return None
    body = range(head + 1, len(lines))
    after = _find_line(_HEAD, lines, body)
    return body if after is None else range(head + 1, after)


def _replace_value(lines: list[str], at: int, line: str) -> str:
    """Replace the value that begins there, and keep the comment behind it."""
    end = next(end for end in range(at + 1, len(lines) + 1) if _is_toml("\n".join(lines[at:end])))
    last, comment = lines[end - 1], ""
    for place, sign in enumerate(last):
        if sign == "#" and (_is_toml(last[:place]) or _is_toml(f"x = [{last[:place]}")):
            comment = last[len(last[:place].rstrip()) :]
            break
    return "\n".join([*lines[:at], line + comment, *lines[end:], ""])


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True
