"""Write procedures to skill files, and never overwrite what a person wrote."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from ademem.core import confined
from ademem.core.clock import parse, stamp
from ademem.core.errors import AdememError, Conflict
from ademem.core.memory import PROCEDURE, Status, Trust
from ademem.core.text import preview, sha256_hex
from ademem.core.value import Value, as_dict, replace
from ademem.files.skill_files import digest_of, split_front_matter
from ademem.plugins.procedures import records
from ademem.plugins.procedures.records import Procedure, Wording
from ademem.store import Store, memory_queries, transitions
from ademem.store import procedures as table
from ademem.store.procedures import IndexedSkill
from ademem.store.runtime import Runtime
from ademem.store.transitions import Act
from ademem.sync.provenance import skill_authors

WRITTEN, UNCHANGED, REMOVED, EDIT_IMPORTED, DELETED, FOREIGN, REFUSED = (
    "written",
    "unchanged",
    "removed",
    "edit taken over",
    "left deleted",
    "left alone: people wrote it",
    "left alone: not a regular file",
)
MOST_NAMES = 99
SKILL_NAME_CHARS = 64
DESCRIPTION_CHARS = 1024
"""Limits of Claude Code for the name and the description of a skill."""
_MARK = re.compile(r"<!-- ademem:procedure ([0-9a-f]{32}) ([0-9a-f]{16})\b[^\n]*-->[ \t]*\n*")
_NOTE = "written from memory; what you change here is taken over"
_HEADING = re.compile(r"\A#[ \t]+([^\n]*)\n*")
_NO_SLUG = re.compile(r"[^a-z0-9]+")


class Unconfirmed(AdememError):
    """A candidate is not written to files of the team."""

    def __init__(self, id: str) -> None:
        super().__init__(
            f"{id} is a candidate", f"a person exports it, or confirms it: `ademem promote {id}`"
        )


class Exported(Value):
    path: str
    """Relative to the project."""
    outcome: str


class Export(Value):
    runtime: Runtime
    now: datetime
    publish: bool
    """Write the file of Claude Code as well."""
    asked: bool = False
    """A person named the procedure: write its file again if it was deleted."""
    dry_run: bool = False
    name: str = ""
    """Name of a file that is not there yet; empty: from the title."""


def export_command(id: str | None, job: Export, act: Act) -> list[Exported]:
    if id is None:
        return _export_promoted(job)
    procedure = records.get(act.store, id)
    is_candidate = procedure.memory.status is Status.CANDIDATE and procedure.memory.live
    if is_candidate and act.actor == Trust.USER:
        if job.dry_run:
            promoted = replace(procedure.memory, status=Status.PROMOTED)
        else:
            promoted = transitions.promote(procedure.id, act)
        procedure = replace(procedure, memory=promoted)
    return export(procedure, replace(job, asked=True))


def export_all(runtime: Runtime, now: datetime) -> list[Exported]:
    """Update the files of promoted procedures, and remove those of archived ones."""
    publish = runtime.settings.skills.publish
    job = Export(runtime=runtime, now=now, publish=publish)
    return _export_promoted(job) + [
        each for procedure in records.find_all(runtime.store) for each in _remove(procedure, job)
    ]


def _export_promoted(job: Export) -> list[Exported]:
    return [
        each
        for procedure in records.find_live(job.runtime.store)
        if may_be_exported(procedure)
        for each in export(procedure, job)
    ]


Files = dict[str, Any]
"""Skill files at one moment, with the rows that the store has of them, as values of JSON."""


def read_files(paths: Iterable[str], runtime: Runtime) -> Files:
    def to_json(value: Any) -> Any:
        return stamp(value) if isinstance(value, datetime) else value

    root, store = runtime.project.root, runtime.store
    there = {path for path in paths if not confined.refusal(root, path)}
    entries = (as_dict(each) for each in table.list_skills(store) if each.path in there)
    return {
        "texts": {path: confined.read_text(root, path) for path in there},
        "entries": [{name: to_json(each) for name, each in row.items()} for row in entries],
        "exports": {
            each.memory_id: [each.exported_skill_path, to_json(each.exported_at)]
            for each in table.all_of(store)
        },
    }


def restore_files(files: Files, present: Files, runtime: Runtime) -> None:
    """Put *files* in the place of *present*; raises Conflict where one was changed since."""
    root, store = runtime.project.root, runtime.store
    paths = sorted({*files["texts"], *present["texts"]})
    for path in paths:
        if confined.read_text(root, path) != present["texts"].get(path):
            raise Conflict(f"{path} was changed since", "its present text stays")
    with store.transaction():
        _restore_exports(files, present, store)
        for path in paths:
            table.remove_skill(store, path)
        for row in files["entries"]:
            times = {name: parse(row[name]) for name in row if name.endswith("_at") and row[name]}
            table.put_skill(store, IndexedSkill(**row | times))
    for path in paths:
        text = files["texts"].get(path)
        if text is None:
            confined.remove(root, path)
        else:
            confined.write_text(root, path, text)


def _restore_exports(files: Files, present: Files, store: Store) -> None:
    for id, exported in files["exports"].items():
        details = table.get(store, id)
        if details and exported != present["exports"].get(id):
            path, at = exported[0], parse(exported[1]) if exported[1] else None
            table.put(store, replace(details, exported_skill_path=path, exported_at=at))


def may_be_exported(procedure: Procedure) -> bool:
    memory = procedure.memory
    return memory.shareable and memory.status is Status.PROMOTED


def export(procedure: Procedure, job: Export) -> list[Exported]:
    """Raises Unconfirmed."""
    if not may_be_exported(procedure):
        raise Unconfirmed(procedure.id)
    store = job.runtime.store
    own = procedure.details.exported_skill_path
    name = _stem(own) if own else _free_name(procedure, job)
    done = []
    for path in _paths(name) if job.publish else _paths(name)[:1]:
        done.append(Exported(path=path, outcome=_update(procedure, path, name, job)))
        procedure = records.get(store, procedure.id)  # which may have got an edit of its file
    if not job.dry_run:
        # the change may come from a machine whose clock is ahead
        at = max(job.now, procedure.memory.updated_at)
        exported = replace(procedure.details, exported_skill_path=done[0].path, exported_at=at)
        table.put(store, exported)
    return done


def _paths(name: str) -> tuple[str, str]:
    return f".ade/skills/{name}.md", f".claude/skills/{name}/SKILL.md"


def _update(procedure: Procedure, path: str, name: str, job: Export) -> str:
    root = job.runtime.project.root
    if confined.refusal(root, path):
        return REFUSED
    text = confined.read_text(root, path)
    entry = _index_entry(path, job.runtime)
    if text is None and entry and not job.asked:
        return DELETED
    if text is not None and (outcome := _keep(procedure, path, name, text, entry, job)):
        return outcome
    if job.dry_run:
        return WRITTEN
    text = render_skill_file(procedure.wording, name, procedure.memory.sync_id)
    written = confined.write_text(root, path, text)
    index_file(procedure, path, digest_of(text), job.runtime, job.now)
    return WRITTEN if written else UNCHANGED


def _keep(
    procedure: Procedure, path: str, name: str, text: str, entry: IndexedSkill | None, job: Export
) -> str:
    """Leave a file that is not ours, was edited or is current; empty for one to be written."""
    file = parse_skill_file(text)
    if not _is_own(file, name, procedure, job):
        return FOREIGN
    if file.edited and file.digest != (entry.content_hash if entry else None):
        if not job.dry_run:
            author = skill_authors({path: file.digest}, job.runtime)[path]
            edited = import_edit(procedure, file, job.runtime, job.now, author)
            index_file(edited, path, file.digest, job.runtime, job.now)
        return EDIT_IMPORTED
    if not matches(file, procedure.wording):
        return ""
    if not job.dry_run:
        index_file(procedure, path, file.digest, job.runtime, job.now)
    return UNCHANGED


def _is_own(file: SkillFile, name: str, procedure: Procedure, job: Export) -> bool:
    """Return True for a file of the procedure, or of one that left its name to it."""
    writer = find_owner(file.sync_id, job.runtime, job.now)
    if writer is None:
        return False
    own = _stem(procedure.details.exported_skill_path or "")
    is_heir = writer.details.exported_skill_path is None and own == name
    return writer.id == procedure.id or is_heir


def import_edit(
    procedure: Procedure, file: SkillFile, runtime: Runtime, now: datetime, author: str | None
) -> Procedure:
    """Take the text of the file over, as the *author* claims it; None: as the person's."""
    if matches(file, procedure.wording):
        return procedure
    actor = Trust.USER if author is None else Trust.IMPORT
    act = Act(store=runtime.store, now=now, actor=actor, claimed_author=author)
    return records.edit(procedure, file.wording, act, runtime.settings)


def find_owner(sync_id: str | None, runtime: Runtime, now: datetime) -> Procedure | None:
    """Return the procedure with this sync id, or the one that superseded it."""
    found = memory_queries.by_sync_id(runtime.store, sync_id)
    seen: set[str] = set()
    while found and found.superseded_by and found.id not in seen:
        seen.add(found.id)
        found = memory_queries.by_id(runtime.store, found.superseded_by)
    details = table.get(runtime.store, found.id) if found else None
    if found and details is None and found.source_type == PROCEDURE:
        return records.adopt(found, runtime.store, now)
    return records.Procedure(memory=found, details=details) if found and details else None


def index_file(
    procedure: Procedure, path: str, digest: str, runtime: Runtime, now: datetime
) -> None:
    indexed = _index_entry(path, runtime)
    fields = {"source": table.EXPORTED, "memory_id": procedure.id, "content_hash": digest}
    entry = make_entry(path, indexed, runtime.store, now, kind="skill", **fields)
    if indexed is None or replace(indexed, updated_at=now) != entry:
        table.put_skill(runtime.store, entry)


def make_entry(
    path: str, indexed: IndexedSkill | None, store: Store, now: datetime, **fields: Any
) -> IndexedSkill:
    """Return a new entry for a file; it keeps the id and the time of the one that is *indexed*."""
    id = indexed.id if indexed else sha256_hex(store.project_id, path)[:32]
    created_at = indexed.created_at if indexed else now
    return IndexedSkill(id=id, path=path, created_at=created_at, updated_at=now, **fields)


def _index_entry(path: str, runtime: Runtime) -> IndexedSkill | None:
    return next((each for each in table.list_skills(runtime.store) if each.path == path), None)


def _remove(procedure: Procedure, job: Export) -> list[Exported]:
    """Remove the unedited files of an archived or deleted procedure."""
    details, memory, store = procedure.details, procedure.memory, job.runtime.store
    own = details.exported_skill_path
    if own is None or memory.live or memory.superseded_by or not details.exported_at:
        return []
    done, root = [], job.runtime.project.root
    for path in (own, _paths(_stem(own))[1]):
        if confined.refusal(root, path):
            continue
        file = parse_skill_file(confined.read_text(root, path) or "")
        if file.sync_id == memory.sync_id and not file.edited:
            confined.remove(root, path)
            table.remove_skill(store, path)
            done.append(Exported(path=path, outcome=REMOVED))
    table.put(store, replace(details, exported_at=None))
    return done


def _free_name(procedure: Procedure, job: Export) -> str:
    """Return the title as a name, numbered where another procedure or a person has that file."""
    sync_id, root = procedure.memory.sync_id, job.runtime.project.root
    others = (details.exported_skill_path for details in table.all_of(job.runtime.store))
    used = {_stem(path) for path in others if path}
    name = skill_name(job.name or procedure.wording.title, sync_id)
    for candidate in (name, *(f"{name}-{number}" for number in range(2, MOST_NAMES + 1))):
        if candidate in used:
            continue
        if all(_is_free(root, path, sync_id) for path in _paths(candidate)):
            return candidate
    return skill_name("", sync_id)


def _is_free(root: str, path: str, sync_id: str) -> bool:
    """Return True where there is no file, or one of the procedure with the sync id."""
    if confined.refusal(root, path):
        return False
    text = confined.read_text(root, path)
    return text is None or parse_skill_file(text).sync_id == sync_id


def _stem(path: str) -> str:
    return os.path.basename(path).removesuffix(".md")


class SkillFile(Value):
    digest: str
    wording: Wording
    sync_id: str | None
    """Sync id of the procedure it was written from; None for a file that people wrote."""
    edited: bool
    """It differs from the text that was written."""


def skill_name(title: str, sync_id: str) -> str:
    """Return lower-case letters, digits and hyphens; for a title in another script, from the id."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    slug = _NO_SLUG.sub("-", plain).strip("-")[: SKILL_NAME_CHARS - len("-99")].strip("-")
    return slug if len(slug) >= 3 else f"procedure-{sync_id[:6]}"


def render_skill_file(wording: Wording, name: str, sync_id: str) -> str:
    """Render equal bytes for equal procedures: nothing in the file changes with its use."""
    page = (
        f"---\nname: {name}\n"
        f"description: {json.dumps(_description(wording), ensure_ascii=False)}\n"
        f"---\n\n# {wording.title}\n\n{wording.markdown}\n"
    )
    return f"{page}\n<!-- ademem:procedure {sync_id} {digest_of(page)[:16]}: {_NOTE} -->\n"


def parse_skill_file(text: str) -> SkillFile:
    found = _MARK.search(text)
    unmarked = _MARK.sub("", text)
    fields, body, _ = split_front_matter(unmarked.replace("\r\n", "\n"))
    head = {name: value for name, value in fields.items() if isinstance(value, str)}
    heading = _HEADING.match(body.lstrip("\n"))
    title = heading[1].strip() if heading else head.get("name", "")
    markdown = _HEADING.sub("", body.lstrip("\n"), count=1).strip()
    description = " ".join(head.get("description", "").split())
    return SkillFile(
        digest=digest_of(text),
        wording=Wording(title=title, trigger=_trigger(description, title), markdown=markdown),
        sync_id=found[1] if found else None,
        edited=found is not None and digest_of(unmarked)[:16] != found[2],
    )


def matches(file: SkillFile, wording: Wording) -> bool:
    same = (file.wording.title, file.wording.markdown) == (wording.title, wording.markdown)
    return same and file.wording.trigger == _trigger(_description(wording), wording.title)


def _description(wording: Wording) -> str:
    """The client would take angle brackets for its own tags."""
    text = f"{wording.title}. Use when {wording.trigger}."
    return preview(text.replace("<", "").replace(">", ""), DESCRIPTION_CHARS)


def _trigger(description: str, title: str) -> str:
    return description.removeprefix(f"{title}. ").removeprefix("Use when ").removesuffix(".")
