"""What is held alone is held at every door; MCP, the page and the hub have theirs beside them."""

from __future__ import annotations

import io
import json

import pytest

from ademem.core import project as project_
from ademem.core.errors import AdememError, suppress
from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import curation, files, placing, writing
from ademem.plugins.ade.server import Server
from ademem.plugins.engram.exchanging import import_export
from ademem.plugins.procedures import operations as procedures
from ademem.search import instruction_search
from ademem.store import memory_queries
from tests import persons
from tests.claude_memory import Client, fact
from tests.store.ade.adopting import adopted_store
from tests.store.ade_file import memory as row_of_ade
from tests.strangers.orders import HARMLESS, HELD, TEXTS, note, passed, shown_by


def draft(text, content, **fields):
    """Return what an agent writes in a session for this text alone."""
    origin = Origin(trust=Trust.AGENT, source_type="agent", session_id=f"s{TEXTS.index(text)}")
    return Draft(content=content, origin=origin, **fields)


def written(*drafts_of):
    """Return a door through which an agent writes one or more drafts for each text."""

    def door(world):
        with world.memories() as memories, memories.store.transaction():
            for text in TEXTS:
                for draft_of in drafts_of:
                    writing.write(memories, draft_of(text))

    return door


def halves(text):
    at = text.find(" ", len(text) // 2)
    at = at if at > 0 else len(text) // 2
    return text[:at], text[at:]


def changed(change):
    """Return a door through which an agent changes a harmless memory for each text."""

    def door(world):
        with world.memories() as memories, memories.store.transaction():
            for text in TEXTS:
                kept = writing.write(memories, draft(text, note(text))).memory
                with suppress(AdememError):
                    change(memories, kept.id, text)

    return door


def place(memories, id, text):
    placing.place(memories, placing.Choice(id=id, at=(f"path:docs/{text}",)))


def edit(memories, id, text):
    curation.edit(memories, id, content=text)


def anchored(world):
    """The name of a file is the text, and an agent writes a memory about the file."""
    with world.memories() as memories, memories.store.transaction():
        for text in TEXTS:
            path = world.root / text
            with suppress(OSError, AdememError):  # at most 255 bytes; `#` begins another place
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
                writing.write(memories, draft(text, note(text), anchors=(str(path),)))


def called_by_rpc(world):
    call = {"jsonrpc": "2.0", "id": 1, "method": "ade.memory.add"}
    calls = (call | {"params": {"content": text, "category": "fact"}} for text in TEXTS)
    sent = "".join(json.dumps(each) + "\n" for each in calls).encode()
    found = project_.find(str(world.root), {}, str(world.root))
    environment = world.environment | {"ADEMEM_DOORS_WRITES_PER_MINUTE": "100"}
    server = Server(found, environment, by_person=False, by=persons.PERSON)
    server.serve(io.BytesIO(sent), io.BytesIO())


def imported(world):
    lines = [json.dumps({"content": text, "status": "promoted"}) for text in TEXTS]
    with world.memories() as memories:
        files.import_lines(memories, lines)


def cloned(world):
    """A clone brings half of the texts on a page and half in the file of records."""
    folder = world.root / ".ade/memory"
    folder.mkdir(parents=True, exist_ok=True)
    bullets = "".join(f"- {text}\n" for text in TEXTS[1::2])
    (folder / "conventions.md").write_text(f"# Conventions\n\n{bullets}")
    row = {"type": "learned", "status": "promoted", "ts": 1769860800}
    lines = (row | {"key": f"k{at}", "content": text} for at, text in enumerate(TEXTS[::2]))
    (folder / "knowledge.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    with world.memories() as memories:
        files.refresh_files(memories)


def imported_from_engram(world):
    row = {"session_id": "s1", "type": "decision", "title": "Lots", "project": "p"}
    row |= {"created_at": "2026-01-02 03:04:05"}
    rows = [
        row | {"id": at, "sync_id": f"o{at}", "content": text} for at, text in enumerate(TEXTS, 1)
    ]
    document = {"version": "0.1.0", "sessions": [], "prompts": [], "observations": rows}
    (world.root / "engram.json").write_text(json.dumps(document))
    with world.memories() as memories:
        import_export(memories, str(world.root / "engram.json"))


def found_as_skills(world):
    for number, text in enumerate(TEXTS):
        folder = world.root / f".claude/skills/s{number}"
        folder.mkdir(parents=True)
        head = f"---\nname: s{number}\ndescription: {note(text)}\n---\n"
        (folder / "SKILL.md").write_text(f"{head}\n{text}\n")
    with world.memories() as memories:
        procedures.reindex_skills(memories)


DOORS = {
    "add": written(lambda text: draft(text, text)),
    "title": written(lambda text: draft(text, note(text), title=text)),
    "tag": written(lambda text: draft(text, note(text), tags=(text.replace(" ", "-"),))),
    "topic key": written(lambda text: draft(text, note(text), topic_key=text.replace(" ", "-"))),
    "file name": written(lambda text: draft(text, note(text), path=f"docs/{text}.md")),
    "anchor": anchored,
    "bead": written(lambda text: draft(text, note(text), bead=text)),
    "key": written(lambda text: draft(text, note(text), knowledge_key=text)),
    "owner": written(lambda text: draft(text, note(text), scope="agent", owner=text)),
    "between two lines": written(
        lambda text: draft(text, f"{note(text)}.\n{text}\n{note(text[::-1])}.")
    ),
    "in two parts": written(
        lambda text: draft(text, halves(text)[0]), lambda text: draft(text, halves(text)[1])
    ),
    "place": changed(place),
    "edit": changed(edit),
    "RPC": called_by_rpc,
    "import": imported,
    "clone": cloned,
    "Engram": imported_from_engram,
    "skill": found_as_skills,
}


def test_orders_of_an_author_who_is_not_trained_on_are_held_alone():
    assert len(HELD) >= 57
    assert len(TEXTS) >= 54


@pytest.mark.parametrize("name", DOORS)
def test_what_is_held_alone_is_held_at_the_door(name, world):
    DOORS[name](world)

    parts = halves if name == "in two parts" else None
    assert passed(shown_by(world), parts) == [HARMLESS]


def test_it_is_held_in_files_of_the_clients_memory(tmp_path):
    client = Client(tmp_path)
    for number, text in enumerate(TEXTS):
        client.put(f"{number}.md", fact(text))
    client.reconcile()

    assert passed(shown(client.live().values())) == [HARMLESS]


def test_it_is_held_in_a_database_that_is_taken_over():
    store = adopted_store(
        unified_memories=[row_of_ade(f"m{at}", text) for at, text in enumerate(TEXTS)]
    )

    assert passed(shown(memory_queries.everything(store))) == [HARMLESS]


def shown(found):
    return [one.content for one in found if one.quarantine_reason is None]


def test_it_is_held_in_files_of_instructions():
    assert [text for text in TEXTS if not instruction_search.poses_as_order(text)] == [HARMLESS]
