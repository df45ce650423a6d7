"""Texts that the client's own memory has, too: what is left out for them, and what is said of them.

The client puts its index before the main thread at each start, and a subagent's before that one.
"""

from __future__ import annotations

import os

from ademem.core.actor import OTHER_CLIENT
from ademem.core.errors import suppress
from ademem.core.json_text import quoted
from ademem.core.memory import CLIENT_FILE
from ademem.store import client_files, ledger
from ademem.store.client_files import Link

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ademem.core.client import Payload
    from ademem.core.memory import Memory
    from ademem.store.runtime import Runtime

READ_BYTES = 4_000_000
"""End of a transcript in which a reading of a file is looked for."""
TOLD = "client_file_told"
NOTED = "client_file_noted"


def loaded_ids(runtime: Runtime, agent: str = "") -> frozenset[str]:
    """Return the ids of memories whose text the client gives to its main thread, or to an agent."""
    if runtime.by == OTHER_CLIENT or not client_files.has_any(runtime.store):
        return frozenset()
    from ademem.core import client_memory

    project, environment = runtime.project, runtime.environment
    if not client_memory.is_on(project, environment):
        return frozenset()
    folders = client_memory.list_folders(project, environment)
    own = [each.path for each in folders if each.agent == agent]
    return client_files.linked_ids(runtime.store, own).difference(_find_overtaken(runtime))


def find_read(found: Iterable[Memory], payload: Payload, runtime: Runtime) -> set[str]:
    """Return the ids of those whose file this context has read, or written."""
    if not client_files.has_any(runtime.store):
        return set()
    ids = {memory.id for memory in found}.difference(_find_overtaken(runtime))
    wanted = {
        f'"file_path":{quoted(file.place)}'.encode(): file.memory_id
        for file in client_files.list_linked(runtime.store)
        if file.memory_id in ids and file.link != Link.OTHER
    }
    if not wanted or not payload.transcript_path or payload.agent_id:
        return set()
    return _find_in_context(wanted, payload.transcript_path)


def _find_in_context(wanted: Mapping[bytes, str | None], transcript_path: str) -> set[str]:
    """Return the ids whose part of a line the transcript has since the last compaction."""
    from ademem.core.transcript_lines import read_lines

    seen: set[str] = set()
    with suppress(OSError):
        for line in read_lines(transcript_path, tail=READ_BYTES):
            if b'"compact_boundary"' in line:  # what was read before is not in the context
                seen.clear()
            elif b'"file_path"' in line and b'"isSidechain":true' not in line:
                seen |= {id for part, id in wanted.items() if id and part in line}
    return seen


def list_corrections(session_id: str, runtime: Runtime) -> list[str]:
    """Tell the model, once a session, which of its files say what a person changed or dropped."""
    if runtime.by == OTHER_CLIENT or not client_files.has_any(runtime.store):
        return []
    from ademem.core.untrusted import escape

    overtaken = _find_overtaken(runtime)
    if not overtaken:
        return []
    known, lines = runtime.list_by_ids(overtaken), []
    for file in client_files.list_linked(runtime.store):
        revision = overtaken.get(file.memory_id or "")
        if revision is None or not ledger.claim(
            runtime.store, TOLD, f"{session_id}:{file.memory_id}:{revision}", runtime.now
        ):
            continue
        memory = known.get(file.memory_id or "")
        done = "changed" if memory and memory.live else "dropped"
        name = escape(file.path.partition("#")[0])
        lines.append(
            f"ademem: the person {done} {file.memory_id}; your file {name} says otherwise;"
            " correct it"
        )
    return lines


def _find_overtaken(runtime: Runtime) -> dict[str, int]:
    """Return memories that a person changed since their file said the same, with the revision."""
    since = client_files.revisions_by_memory(runtime.store)
    found = dict.fromkeys(client_files.missing_ids(runtime.store), 0)
    for holder in runtime.with_own():
        changed = client_files.changed_by_person(holder.store, since)
        known = runtime.list_by_ids(changed) if changed else {}
        for id, revision in changed.items():
            memory = known.get(id)
            heir = memory.superseded_by if memory else None
            if heir and (taken := runtime.list_by_ids([heir]).get(heir)):
                is_same = taken.live and taken.source_type == CLIENT_FILE  # the file's own proposal
            else:
                then = client_files.content_at(holder.store, id, since[id])
                is_same = memory is not None and memory.live and memory.content == then
            if not is_same:
                found[id] = revision
    return found


def list_noted(payload: Payload, runtime: Runtime) -> list[Memory]:
    """Return, once a turn, what the model noted for itself in it."""
    if runtime.settings.notice.level == "quiet" or not client_files.has_any(runtime.store):
        return []
    from ademem.capture import provenance

    prompt = provenance.prompt_of(payload, runtime)
    noted = _list_proposed(payload.session_id, prompt, runtime)
    turn = f"{payload.session_id}:{prompt}"
    if not noted or not ledger.claim(runtime.store, NOTED, turn, runtime.now):
        return []
    ledger.note_offered(runtime.store, payload.session_id, [memory.id for memory in noted])
    return noted


def _list_proposed(session_id: str, prompt: str, runtime: Runtime) -> list[Memory]:
    """Return what the model noted in a turn and no person has decided."""
    from ademem.store import evidence

    ids = [
        id
        for holder in runtime.with_own()
        for id in evidence.ids_of_turn(holder.store, CLIENT_FILE, session_id, prompt)
    ]
    known = runtime.list_by_ids(ids) if ids else {}
    return [
        memory
        for id in ids
        if (memory := known.get(id))
        and memory.live
        and memory.status == "candidate"
        and not memory.quarantine_reason
    ]


def describe_missing(runtime: Runtime) -> list[str]:
    """Say of which folders much is gone at once, so that their memories were kept."""
    lines = []
    for folder, count in client_files.list_kept(runtime.store):
        name = os.path.basename(os.path.dirname(folder)) or folder
        files = "file" if count == 1 else "files"
        lines.append(
            f"{count} {files} of Claude's own memory ({name}) are gone at once;"
            " what they said was kept"
        )
    return lines
