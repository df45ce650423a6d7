"""Import the memories of other programs through the write gate, each item once."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ademem.core import plugins
from ademem.core.errors import UsageError
from ademem.core.memory import Draft, Memory, Origin, Scope, Status, Trust
from ademem.core.redaction import redact
from ademem.core.text import preview, sha256_hex, unique
from ademem.core.value import Value, replace
from ademem.files import project_brief, records
from ademem.files.readers.items import Item, Prompt, Reader, Skipped, require_readable
from ademem.files.records import Import, Outcome
from ademem.guard.injection import instruction_in, instruction_in_titled
from ademem.store import (
    briefs,
    ledger,
    memory_queries,
    relations,
    sessions,
    transitions,
    verdicts,
)
from ademem.store.memories import new_event
from ademem.store.transitions import CannotDo

AUTO = "auto"
PERSONAL_SCOPE = "personal"
"""Scope of the person's own memories, for every project."""
IN_PLACE = "`ademem adopt` reads CLAUDE.md, AGENTS.md and rules in place, and copies nothing"
STEP = 1000
NAME_CHARS = 80
AS_ORDER = "it reads as an order to a model, and its author is unknown"


class Job(Import):
    """The act, which can be undone; each of the person's own memories is one for itself."""

    personal: bool = False
    """All items are the person's own, for every project."""
    project: str = ""
    """The project of the source; empty where it has one."""
    on_progress: Callable[[int], None] = lambda count: None


class Report(Value):
    format: str
    event: str = ""
    """The act that takes all of it back, but for the person's own; empty where nothing changed."""
    inserted: int = 0
    merged: int = 0
    known: int = 0
    rejected: int = 0
    prompts: int = 0
    briefs: int = 0
    """Texts that fill a field of an agent's brief."""
    skipped: tuple[Skipped, ...] = ()
    cut: tuple[Skipped, ...] = ()
    """Items whose text was too long, and of which only the beginning is stored."""
    dropped: str = ""


class Comparison(Value):
    project: str
    known: int
    new: int


def find_reader(name: str, path: str) -> Reader:
    """Return the reader of a format, or the one that fits; raises UsageError unless one does."""
    if not os.path.exists(path):
        raise UsageError(f"there is no {path}", "name a file or a folder")
    asked = load_readers(name)
    if not (found := [reader for reader in asked if reader.fits(path)]):
        require_readable(path)
    if name != AUTO and not found:
        places = " or ".join(reader.place for reader in asked)
        raise UsageError(f"{path} is nothing of {name}", f"name {places}")
    _choose([reader.name for reader in found], path, names())
    return found[0]


def names() -> list[str]:
    """Return the formats that parts have readers for."""
    return list(plugins.modules_by_word("READERS"))


def load_readers(name: str = AUTO) -> list[Reader]:
    """Return the readers of a format, or of all; those of a part that cannot load are left out."""
    modules = [
        module
        for word, named in plugins.modules_by_word("READERS").items()
        if name in (AUTO, word)
        for module in named
    ]
    loaded = filter(None, map(plugins.load, unique(modules)))
    found: list[Reader] = [reader for module in loaded for reader in module.READERS]
    return [reader for reader in found if name in (AUTO, reader.name)]


def find_format(path: str, fitting: Sequence[str] = (), known: Iterable[str] = ()) -> str:
    """Return the name of the one format that fits a path; raises UsageError unless it is one.

    *known* are formats without a reader, and *fitting* those of them that fit.
    """
    if not os.path.exists(path):
        raise UsageError(f"there is no {path}", "name a file or a folder")
    found = [*fitting, *(reader.name for reader in load_readers() if reader.fits(path))]
    if not found:
        require_readable(path)
    return _choose(found, path, (*known, *names()))


def _is_instructions(path: str) -> bool:
    from ademem.files.instructions.formats import find_format as find_instructions

    names = os.listdir(path) if os.path.isdir(path) else [path]
    return any(find_instructions(name.replace(os.sep, "/").lstrip("/")) for name in names)


def _choose(names: Sequence[str], path: str, known: Iterable[str]) -> str:
    if not names:
        is_read = _is_instructions(path)
        hint = IN_PLACE if is_read else f"`--format` {', '.join(known)}"
        raise UsageError(f"{path} has no known format", hint)
    if len(names) > 1:
        fault = f"{path} fits several formats: {', '.join(names)}"
        raise UsageError(fault, "choose one with `--format`")
    return names[0]


def import_from(reader: Reader, path: str, job: Job) -> Report:
    """Import what is new at the path, all or nothing; raises UsageError for a bad source."""
    projects = reader.projects(path)
    _require_project(path, job.project, projects)
    _require_choice(path, job.project, projects)
    counts: Counter[str] = Counter()
    skipped: list[Skipped] = []
    cut: list[Skipped] = []
    made: dict[str, Item] = {}
    with job.store.transaction():
        for number, found in enumerate(reader.read(path, job.project), 1):
            if number % STEP == 0:
                job.on_progress(number)
            match found:
                case Skipped():
                    skipped.append(found)
                case Prompt() if instruction_in(content := redact(found.content).text):
                    skipped.append(Skipped(where=f"prompt {found.id}", why=AS_ORDER))
                case Prompt():
                    counts[_add_prompt(reader, found, content, job)] += 1
                case Item():
                    outcome = _write(reader, found, job)
                    counts[outcome] += 1
                    if outcome in (Outcome.INSERTED, Outcome.MERGED):
                        cut += _find_cut(found, job)
                    made[found.id] = found
        for item in made.values():
            _relate(reader, item, made, job)
            skipped += _find_dangling(item, made)
    return Report(
        format=reader.name,
        event=job.event_id,
        **counts,
        skipped=tuple(skipped),
        cut=tuple(cut),
        dropped=reader.dropped,
    )


def _add_prompt(reader: Reader, prompt: Prompt, content: str, job: Job) -> str:
    """Add a prompt once; one that was deleted here stays deleted."""
    session, at = _session_id(reader, prompt), records.at_most(prompt.created_at, job.now)
    is_new = sessions.add_prompt(job.store, session, prompt.id, content, at)
    return "prompts" if is_new else "known"


def _find_cut(item: Item, job: Job) -> Iterator[Skipped]:
    text = redact(item.content).text
    if excess := transitions.describe_excess(text, item.title, job.settings):
        yield Skipped(where=redact(item.id).text, why=f"it {excess}")


def _find_dangling(item: Item, made: Container[str]) -> Iterator[Skipped]:
    for id in unique(id for _, id in item.links if id not in made):
        why = f"its relation to {preview(redact(id).text, NAME_CHARS)!r} leads to nothing"
        yield Skipped(where=redact(item.id).text, why=why)


def compare(reader: Reader, path: str, job: Job) -> list[Comparison]:
    projects = reader.projects(path)
    _require_project(path, job.project, projects)
    compared = []
    for project in [job.project] if job.project else projects or [""]:
        found = [each for each in reader.read(path, project) if not isinstance(each, Skipped)]
        imported = sum(
            sessions.has_prompt(job.store, _session_id(reader, each), each.id)
            if isinstance(each, Prompt)
            else ledger.is_claimed(job.store, records.SOURCE, _key(reader, each))
            for each in found
        )
        compared.append(Comparison(project=project, known=imported, new=len(found) - imported))
    return compared


def _require_project(path: str, project: str, projects: list[str]) -> None:
    if project and project not in projects:
        names = ", ".join(projects) or "leave `--from-project` out"
        raise UsageError(f"{path} has no project {project!r}", names)


def _require_choice(path: str, project: str, projects: list[str]) -> None:
    if not project and len(projects) > 1:
        fault = f"{path} has several projects: {', '.join(projects)}"
        raise UsageError(fault, "choose one with `--from-project`")


def _write(reader: Reader, item: Item, job: Job) -> str:
    """Pass an item and its earlier texts to the gate, but no earlier order to a model."""
    key = _key(reader, item)
    if ledger.is_claimed(job.store, records.SOURCE, key):
        return "known"
    if _fill_brief(reader, item, job):
        ledger.claim(job.store, records.SOURCE, key, job.now)
        return "briefs"
    draft = _draft_of(reader, item, is_personal=job.personal)
    status = Status.ARCHIVED if item.archived else None
    if draft.scope == PERSONAL_SCOPE:
        job = replace(job, event_id=new_event())
    before = (
        text
        for text in item.earlier
        if text != item.content and not instruction_in_titled(None, text)
    )
    return str(_write_texts(key, draft, unique((*before, item.content)), status, job))


def _draft_of(reader: Reader, item: Item, *, is_personal: bool) -> Draft:
    """Return an item as a draft of the person's own, of an agent, or of the project."""
    owner = None if is_personal else item.agent
    is_own = is_personal or item.personal or owner
    same = ("content", "category", "title", "path", "topic_key", "created_at")
    return Draft(
        tags=item.all_tags,
        scope=("agent" if owner else PERSONAL_SCOPE) if is_own else Scope.PROJECT,
        owner=owner,
        **{name: getattr(item, name) for name in same},
        origin=Origin(
            trust=Trust.IMPORT,
            source_type=records.SOURCE,
            source_id=_source_id(reader, item.id),
        ),
    )


def _fill_brief(reader: Reader, item: Item, job: Job) -> bool:
    """Put the item into an empty brief, as a claim of the source until a person accepts it."""
    if not item.brief or not item.agent or job.personal:
        return False
    folder = project_brief.agent_folder(item.agent)
    is_filled = project_brief.fill(
        job.store, folder, item.brief, item.content, author=reader.name, now=job.now
    )
    if is_filled:
        briefs.register_agent(job.store, item.agent, job.now)
    return is_filled


def _write_texts(
    key: str, draft: Draft, texts: Sequence[str], status: Status | None, job: Job
) -> Outcome:
    """Insert the first of the texts that the gate takes, and edit it to those behind it."""
    while True:
        outcome = records.write_once(key, replace(draft, content=texts[0]), status, job)
        texts = texts[1:]
        if outcome is Outcome.INSERTED or not texts:
            break
        ledger.release(job.store, records.SOURCE, key)
    id = ledger.memory_of(job.store, records.SOURCE, key) or ""
    for text in texts:
        with suppress(CannotDo):  # another memory says the same
            transitions.edit(id, job, job.settings, content=text)
    return outcome


def _relate(reader: Reader, item: Item, others: Mapping[str, Item], job: Job) -> None:
    """Note relations to other items; one that would take a memory away waits for review."""
    store = job.store
    for relation, id in item.links:
        source, target = _memory_of(reader, item, job), _memory_of(reader, others.get(id), job)
        if source is None or target is None or source.id == target.id:
            continue
        if relations.find(store, source, target):
            continue
        reason, actor = f"{reader.name} relates them", records.SOURCE
        by: dict[str, Any] = {"reason": reason, "actor": actor, "now": job.now}
        if relation == "related":
            by |= {"in_effect": True, "evidence": "", "confidence": 1.0, "kind": Trust.IMPORT}
            verdicts.put(store, source, target, relation, **by)
        else:
            relations.add(store, target, source, relation, score=1.0, **by)


def _memory_of(reader: Reader, item: Item | None, job: Job) -> Memory | None:
    if item is None:
        return None
    id = ledger.memory_of(job.store, records.SOURCE, _key(reader, item))
    memory = memory_queries.by_id(job.store, id)
    return memory if memory and memory.live else None


def _session_id(reader: Reader, prompt: Prompt) -> str:
    return f"{reader.name}:{prompt.session_id}"


def _source_id(reader: Reader, id: str) -> str:
    return f"{reader.name}:{redact(id).text}"


def _key(reader: Reader, item: Item) -> str:
    return f"{_source_id(reader, item.id)} {sha256_hex(item.title or '', item.content)[:16]}"
