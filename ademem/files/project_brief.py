"""The project brief, one small document a project or agent, in the database and in a file.

Each kind of agent that works here has a folder, memories and a brief.
"""

from __future__ import annotations

import os

from ademem.core import confined
from ademem.core.clock import UTC, datetime, parse, stamp
from ademem.core.errors import AdememError, UsageError, suppress
from ademem.core.json_text import loads
from ademem.core.memory import claimed_name, without_name
from ademem.core.text import clean, sha256_hex, slug, unique
from ademem.core.value import Value, replace
from ademem.files import BRIEF
from ademem.files.texts import Problem
from ademem.store import Store, briefs, database, jobs, ledger

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
    from typing import Any

    from ademem.core.project import Project

    Ask = Callable[[str], "FileSource"]

SUMMARY_CHARS = 2000
ITEM_CHARS = 500
ITEMS = 30
"""Most items of a list; a longer brief is not read."""
MAX_VERSION = 2**31
FOLDER_CHARS = 60
BRIEF_BY_AGENT = "brief_by_agent"
"""In the ledger: the digest of a text that came from an agent's shell."""
BY_AGENT = "[set by an agent] "
MADE_ELSEWHERE = "(imported: from a database that was not made here)"


class CoreMemory(Value):
    project_summary: str = ""
    critical_conventions: tuple[str, ...] = ()
    user_preferences: tuple[str, ...] = ()
    active_focus: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    version: int = 0
    """Incremented with every change; 0: never written."""
    updated_at: datetime
    claimed: tuple[str, ...] = ()
    """Texts that came with the files and were not accepted here; no file has this field."""
    claimed_author: str = ""

    @property
    def texts(self) -> frozenset[str]:
        return frozenset(text for _, texts in items(self) for text in texts)


class FileSource(Value):
    author: str | None = None
    """The author that the files claim; None: it was made here."""
    by_agent: bool = False
    own: frozenset[str] = frozenset()
    """Digests of texts that stores of this person wrote."""


class Field(Value):
    name: str
    key: str
    label: str

    @property
    def is_list(self) -> bool:
        return self.name != "project_summary"


FIELDS = (
    Field(name="project_summary", key="projectSummary", label="Summary"),
    Field(name="critical_conventions", key="criticalConventions", label="Conventions"),
    Field(name="user_preferences", key="userPreferences", label="Preferences"),
    Field(name="active_focus", key="activeFocus", label="Focus"),
    Field(name="notes", key="notes", label="Notes"),
)


class Agent(Value):
    folder: str
    name: str
    """Its kind as the client names it."""
    memories: int = 0
    version: int = 0
    """The version of its project brief; 0: it has none."""
    met_at: str | None = None


class BadCore(AdememError):
    """A brief, or a part of one, that is not valid."""


class StaleCore(AdememError):
    hint = "read it again with `ademem core show` or memory_context, then change that version"

    def __init__(self, found: int, expected: int) -> None:
        super().__init__(f"the brief is at version {found}, not {expected}")


def load(store: Store, agent: str = "") -> CoreMemory | None:
    """Return the brief in the database; None before its first change, or if it is unreadable.

    Here and below *agent* is the folder of an agent, for that agent's brief.
    """
    return database.read_row(briefs.get(store, agent), _from_row)


def list_earlier(store: Store, agent: str = "") -> list[CoreMemory]:
    """Return the versions that the database still has, newest first."""
    from ademem.store.revisions import list_briefs

    return [_from_row(row | {"claimed": None}) for row in reversed(list_briefs(store, agent))]


def _from_row(row: sqlite3.Row | dict[str, Any]) -> CoreMemory:
    try:
        fields = _fields(loads(row["payload_json"]))
    except BadCore as error:
        raise ValueError(str(error)) from error
    claim = loads(row["claimed"]) if row["claimed"] else {}
    return CoreMemory(
        **fields,
        version=row["version"],
        updated_at=parse(row["updated_at"]),
        claimed=tuple(claim.get("texts", ())),
        claimed_author=claim.get("author", ""),
    )


def _save(store: Store, document: CoreMemory, agent: str) -> None:
    import json

    claim = {"author": document.claimed_author, "texts": document.claimed}
    briefs.put(
        store,
        agent,
        version=document.version,
        payload_json=json.dumps(as_json(document), ensure_ascii=False),
        updated_at=stamp(document.updated_at),
        claimed=json.dumps(claim, ensure_ascii=False) if document.claimed else None,
    )


def patch(
    store: Store,
    project: Project,
    changes: Mapping[str, Any],
    now: datetime,
    expect_version: int | None = None,
    *,
    by_person: bool = True,
    agent: str = "",
    source: Ask | None = None,
) -> CoreMemory:
    """Replace the given fields whole; an equal brief gets no new version.

    *source* returns the source of changes in the file at a path; without it, it is unknown.

    Raises StaleCore when the brief is not at *expect_version*, BadCore for a text that does not
    fit or a file that cannot be read, UsageError for an unknown field.
    """
    given = _validate({_field(name).key: value for name, value in changes.items()})
    if not by_person:
        _refuse_instructions(given)
    with store.transaction():
        current = reconcile(store, project, agent, source) or CoreMemory(updated_at=now)
        if expect_version not in (None, current.version):
            raise StaleCore(current.version, expect_version)
        new = replace(CoreMemory(updated_at=now), **given).texts
        claimed = frozenset(current.claimed) - (new if by_person else frozenset())
        patched = _with_claim(replace(current, **given), claimed, current.claimed_author)
        if not is_equal(patched, current):
            patched = replace(patched, version=current.version + 1, updated_at=now)
        if patched != current:
            _save(store, patched, agent)
            _note_author(store, new, current.texts, now, by_person=by_person)
            jobs.queue(store, "mirror", "project", now)
            jobs.queue(store, "current", "project", now)
    if patched.version:
        write_file(project, patched, agent)
    return patched


def fill(store: Store, agent: str, field: str, text: str, *, author: str, now: datetime) -> bool:
    """Fill an empty field, a list by lines, with claimed texts; False where they do not fit."""
    found = _field(field)
    current = load(store, agent) or CoreMemory(updated_at=now)
    if getattr(current, found.name):
        return False
    items = [line.strip(" -*") for line in text.splitlines()]
    try:
        given = _validate({found.key: items if found.is_list else text})
        _refuse_instructions(given)
    except BadCore:
        return False
    document = replace(current, **given, version=current.version + 1, updated_at=now)
    texts = document.texts - current.texts | {*current.claimed}
    _save(store, _with_claim(document, texts, author), agent)
    jobs.queue(store, "mirror", "project", now)
    return True


def reconcile(
    store: Store, project: Project, agent: str = "", source: Ask | None = None
) -> CoreMemory | None:
    """Bring the database to `newest`; the file is left to `write_file`. Raises BadCore."""
    asked: list[FileSource] = []

    def ask(path: str) -> FileSource:
        asked.append(source(path) if source else FileSource(author=""))
        return asked[-1]

    with store.transaction():
        ours, document = load(store, agent), newest(store, project, agent, ask)
        if document and document != ours:
            _save(store, document, agent)
            if asked and asked[-1].by_agent:
                for text in sorted(document.texts - (ours.texts if ours else frozenset())):
                    ledger.claim(store, BRIEF_BY_AGENT, sha256_hex(text), document.updated_at)
    return document


def _note_author(
    store: Store, new: Iterable[str], known: Container[str], now: datetime, *, by_person: bool
) -> None:
    """Note which texts an agent wrote, until a person writes them."""
    for text in new:
        if by_person:
            ledger.release(store, BRIEF_BY_AGENT, sha256_hex(text))
        elif text not in known:
            ledger.claim(store, BRIEF_BY_AGENT, sha256_hex(text), now)


def newest(
    store: Store, project: Project, agent: str = "", source: Ask | None = None
) -> CoreMemory | None:
    """Return the brief of database or file, whichever version is newer.

    A file that differs at the same version was edited: it is the next version. Without a *source*
    of the changes in the file, its new texts are claimed ones.
    """
    ours, theirs = load(store, agent), read_file(project, agent)
    if theirs is None or (ours and theirs.version < ours.version):
        return ours
    path = os.path.relpath(file_path(project, agent), project.root)
    theirs = _claim_edits(theirs, ours, agent, path, source)
    if ours is None or theirs.version > ours.version:
        return theirs
    return ours if is_equal(theirs, ours) else replace(theirs, version=ours.version + 1)


def _claim_edits(
    theirs: CoreMemory, ours: CoreMemory | None, agent: str, path: str, source: Ask | None
) -> CoreMemory:
    """Return theirs with its new texts as claimed ones, but for those of this person."""
    before = frozenset(ours.claimed if ours else ())
    author = ours.claimed_author if ours else ""
    theirs = _claim_new_texts(theirs, ours, author)
    if source is None or before.issuperset(theirs.claimed):
        return theirs
    found = source(path)
    strange = _find_strange(theirs, found, agent)
    author = found.author if found.author is not None and strange - before else author
    return _with_claim(theirs, before | strange, author)


def _find_strange(document: CoreMemory, found: FileSource, agent: str) -> set[str]:
    """Return the claimed texts that no store of this person wrote, if another wrote the file."""
    if found.author is None:
        return set()
    return {text for text in document.claimed if text_digest(agent, text) not in found.own}


def receive(store: Store, found: Mapping[str, Any], author: str, now: datetime) -> bool:
    """Store a colleague's newer brief, its new texts as claimed ones; raises BadCore."""
    theirs = _parse(found)
    with store.transaction():
        ours = load(store)
        if ours and _order(theirs) <= _order(ours):
            return False
        _save(store, _claim_new_texts(theirs, ours, author), "")
        jobs.queue(store, "mirror", "project", now)
        jobs.queue(store, "current", "project", now)
    return True


def forget_author(store: Store, digest: str) -> bool:
    document = load(store)
    if document is None or sha256_hex(claimed_name(document.claimed_author)) != digest:
        return False
    _save(store, replace(document, claimed_author=without_name(document.claimed_author)), "")
    return True


def _order(document: CoreMemory) -> tuple[int, str]:
    """Return what is greater for the later of two briefs, in the same way everywhere."""
    return document.version, file_text(replace(document, version=0))


def pending_edit(store: Store, project: Project) -> tuple[CoreMemory | None, BadCore | None]:
    try:
        found = newest(store, project)
    except BadCore as error:
        return None, error
    return (found if found != load(store) else None), None


def text_digest(agent: str, text: str) -> str:
    return sha256_hex("brief", agent, text)[:32]


def is_equal(one: CoreMemory, other: CoreMemory) -> bool:
    """Compare the fields, whatever the authors and times."""
    return all(getattr(one, field.name) == getattr(other, field.name) for field in FIELDS)


def _with_claim(document: CoreMemory, texts: Collection[str], author: str) -> CoreMemory:
    claimed = tuple(sorted(document.texts.intersection(texts)))
    return replace(document, claimed=claimed, claimed_author=author if claimed else "")


def describe_fault(store: Store, project: Project) -> list[Problem]:
    _, fault = pending_edit(store, project)
    if fault is None or isinstance(fault.__cause__, confined.Refused):
        return []
    return [Problem(path=BRIEF, line=None, message=str(fault.__cause__ or fault))]


def _claim_new_texts(theirs: CoreMemory, ours: CoreMemory | None, author: str) -> CoreMemory:
    """Return theirs with what was not accepted here marked as claimed. Raises BadCore."""
    own = {text for _, text in lines(ours)}
    _refuse_instructions({label: text for label, text in lines(theirs) if text not in own})
    accepted = ours.texts - {*ours.claimed} if ours else frozenset()
    return _with_claim(theirs, theirs.texts - accepted, author)


def read_file(project: Project, agent: str = "") -> CoreMemory | None:
    """Return the brief in the file, secrets redacted; None without one. Raises BadCore."""
    path = file_path(project, agent)
    try:
        if (text := confined.read_text(project.root, path)) is None:
            return None
        raw = loads(text)
        if not isinstance(raw, dict):
            raise BadCore("a brief is one JSON object")
        return _parse(raw)
    except (ValueError, OverflowError, RecursionError, BadCore) as error:
        raise BadCore(f"{path}: {error}", "mend the file, or delete it and refresh") from error
    except confined.Refused as error:
        raise BadCore(str(error), error.hint) from error


def _parse(raw: Mapping[str, Any]) -> CoreMemory:
    version, at = raw.get("version"), raw.get("updatedAt")
    if type(version) is not int or not 0 < version < MAX_VERSION or not isinstance(at, str):
        raise BadCore("a brief has a version, a whole number from 1, and a time in updatedAt")
    return CoreMemory(**_validate(raw), version=version, updated_at=parse(at).astimezone(UTC))


def write_file(project: Project, document: CoreMemory, agent: str = "") -> bool:
    """Return True if the file changed."""
    return confined.write_text(project.root, file_path(project, agent), file_text(document))


def file_path(project: Project, agent: str = "") -> str:
    folder = os.path.join("agents", agent) if agent else "cto"
    return os.path.join(project.ade, folder, "core-memory.json")


def file_text(document: CoreMemory) -> str:
    import json

    return json.dumps(as_json(document), ensure_ascii=False, indent=2) + "\n"


def as_json(document: CoreMemory) -> dict[str, Any]:
    fields = {field.key: getattr(document, field.name) for field in FIELDS}
    return {"version": document.version, "updatedAt": stamp(document.updated_at)} | fields


def lines(document: CoreMemory | None) -> list[tuple[str, str]]:
    return [(label, "; ".join(texts)) for label, texts in items(document)]


def items(document: CoreMemory | None) -> list[tuple[str, tuple[str, ...]]]:
    values = ((field, getattr(document, field.name)) for field in FIELDS if document)
    return [(field.label, it if field.is_list else (it,)) for field, it in values if it]


def field_of(word: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return the change that sets one field to the words of a command line."""
    field = _field(word)
    return {field.name: tuple(texts) if field.is_list else " ".join(texts)}


def with_labels(store: Store, document: CoreMemory | None) -> CoreMemory | None:
    if document is None or not ledger.list_endings(store, BRIEF_BY_AGENT, ""):
        return document

    def label(text: str) -> str:
        is_set = ledger.is_claimed(store, BRIEF_BY_AGENT, sha256_hex(text))
        return BY_AGENT + text if is_set else text

    shown = {
        field.name: tuple(map(label, value)) if field.is_list else label(value)
        for field in FIELDS
        if (value := getattr(document, field.name))
    }
    return replace(document, **shown)


def _refuse_instructions(texts: Mapping[str, Any]) -> None:
    if not texts:
        return
    from ademem.guard.injection import instruction_in

    for name, value in texts.items():
        if found := instruction_in(value if isinstance(value, str) else "\n".join(value)):
            way = "only a person sets that, with `ademem core set` in a terminal"
            raise BadCore(f"{name} {found}", way)


def _field(word: str) -> Field:
    for field in FIELDS:
        if word in (field.name, field.key, field.label.lower()):
            return field
    names = ", ".join(field.label.lower() for field in FIELDS)
    raise UsageError(f"the brief has no field {word!r}", f"its fields are {names}")


def _fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for field in FIELDS:
        if (value := raw.get(field.key)) is None:
            continue
        items = value if field.is_list else [value]
        if not isinstance(items, list | tuple) or not all(isinstance(item, str) for item in items):
            raise BadCore(f"{field.key} is a {'list of texts' if field.is_list else 'text'}")
        found[field.name] = tuple(items) if field.is_list else value
    return found


def _validate(raw: Mapping[str, Any]) -> dict[str, Any]:
    fields = _fields(raw)
    for field in FIELDS:
        if (value := fields.get(field.name)) is None:
            continue
        if not field.is_list:
            fields[field.name] = _validate_text(field, value, SUMMARY_CHARS)
            continue
        one_liners = (" ".join(_validate_text(field, text, ITEM_CHARS).split()) for text in value)
        items = unique(text for text in one_liners if text)
        if len(items) > ITEMS:
            raise BadCore(
                f"{field.key} has {len(items)} items; {ITEMS} is the most",
                "keep what every session needs, make memories of the rest with `ademem add`",
            )
        fields[field.name] = items
    return fields


def _validate_text(field: Field, text: str, limit: int) -> str:
    from ademem.core.redaction import redact

    text = clean(redact(text).text)
    if len(text) > limit:
        raise BadCore(
            f"{field.key} holds a text of {len(text)} characters; {limit} is the most",
            "shorten it, or make a memory of it with `ademem add`",
        )
    return text


def agent_folder(name: str) -> str:
    """Return the folder of an agent; a digest keeps names with equal slugs apart."""
    from ademem.core.redaction import redact

    name = redact(name).text
    plain = slug(name, FOLDER_CHARS)
    if plain and plain == name.casefold():
        return plain
    return f"{plain or 'agent'}-{sha256_hex(name.casefold())[:6]}"


def list_agents(store: Store, project: Project) -> list[Agent]:
    met = {agent_folder(row["name"]): row for row in briefs.list_agents(store)}
    owners = {agent_folder(name): (name, count) for name, count in briefs.list_owners(store)}
    found = [
        Agent(
            folder=each,
            name=met[each]["name"] if each in met else owners.get(each, (each, 0))[0],
            memories=owners.get(each, ("", 0))[1],
            version=document.version if (document := agent_brief(store, project, each)) else 0,
            met_at=met[each]["created_at"] if each in met else None,
        )
        for each in met.keys() | owners.keys() | _folders_with_brief(store, project)
    ]
    return sorted(found, key=lambda agent: (agent.name.casefold(), agent.folder))


def agent_brief(
    store: Store, project: Project, agent: str, source: Ask | None = None
) -> CoreMemory | None:
    try:
        return newest(store, project, agent, source)
    except BadCore:  # the check of the files reports it
        return load(store, agent)


def refresh_agents(store: Store, project: Project, source: Ask | None = None) -> None:
    for each in sorted(_folders_with_brief(store, project)):
        try:
            document = reconcile(store, project, each, source)
        except BadCore:
            continue
        if document:
            write_file(project, document, each)


def _folders_with_brief(store: Store, project: Project) -> set[str]:
    names: list[str] = []
    with suppress(OSError):  # refused, which the check of the files reports
        names = confined.names(project.root, os.path.join(project.ade, "agents"))
    in_files = (each for each in names if confined.is_file(project.root, file_path(project, each)))
    return {*briefs.list_folders(store), *in_files}
