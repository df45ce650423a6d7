"""The real client reads a record of a session: one request, no hook, no trace, and data comes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ademem import operations
from ademem.synthesis import ai
from ademem.synthesis.reader.answer_form import Answer, parse_answer
from ademem.synthesis.reader.reading import make_question
from ademem.synthesis.reader.session_record import CHARS, Record, Speaker, Spoken

from .interactive import SOUGHT, marks, type_to
from .product import Product
from .script import Call, Reply, model
from .world import World

pytestmark = [pytest.mark.e2e, pytest.mark.contract]

SAID = "A stop has an IBNR and both feeds carry it, names are only for display"
FACT = {
    "text": "Stops are identified by their IBNR, which both feeds carry",
    "kind": "fact",
    "scope": "project",
    "evidence": [{"m": "m3", "quote": "A stop has an IBNR and both feeds carry it"}],
}
BESIDE_CHARS = 6_000
"""Most characters of a request beside its record; 2.1.332 sends 5,600 and 2.1.197 4,700."""


def answer(*lessons: dict[str, Any]) -> Call:
    return Call("StructuredOutput", {"lessons": [*lessons], "refuted": []})


def full_record() -> Record:
    said = [f"prompt {at} about the stops of both feeds " + "w" * 960 for at in range(23)]
    messages = [
        Spoken(number=at, speaker=Speaker.PERSON, text=text) for at, text in enumerate(said, 1)
    ]
    return Record(messages=tuple(messages))


def test_one_request_without_hook_and_trace_answers_with_data(
    world: World, ademem: Product
) -> None:
    world.program("claude", f'exec "{world.claude}" "$@"')
    (world.config / "CLAUDE.md").write_text("MY OWN NOTES\n", encoding="utf-8")
    ademem("install", "--user", "--project", str(world.project))
    before = {path for path in world.config.rglob("*") if path.suffix in (".jsonl", ".md")}
    record = full_record()
    world.model.learn([Reply("model", "", (answer(FACT),), used=8_500), model("Done.")])
    with operations.open_memories(str(world.project), environment=world.environment) as memories:
        found = ai.send(
            memories, make_question(record, memories), lambda data: parse_answer(data, ai.clean)
        )
        call = dict(memories.store.db.execute("select * from ai_calls").fetchone())
        counts = [
            memories.store.db.execute(f"select count(*) from {table}").fetchone()[0]
            for table in ("sessions", "user_prompts", "turns")
        ]
    (request,) = world.model.requests

    assert isinstance(found, Answer)
    assert [lesson.text for lesson in found.lessons] == [FACT["text"]]
    assert request.last_prompt.endswith(record.text)
    assert CHARS * 0.95 < len(record.text) <= CHARS
    assert "NOTES" not in request.text
    assert {tool["name"] for tool in request.body["tools"]} <= {
        *("StructuredOutput", "DeferredToolPlaceholder")
    }
    assert len(request.whole) - len(record.text) < BESIDE_CHARS
    assert counts == [0, 0, 0]
    assert {p for p in world.config.rglob("*") if p.suffix in (".jsonl", ".md")} == before
    assert (call["purpose"], call["outcome"], call["tokens_in"]) == ("reader", "ok", 8_500)
    # the small model of 2.1.197 is Haiku 4.5, which knows no effort and costs ten times as much
    is_new = "effort" in request.body.get("output_config", {})
    assert call["cost"] < (0.002 if is_new else 0.02)
    assert is_new == ("haiku-4" not in call["model"])


def test_a_session_that_a_person_typed_is_read_after_its_end(world: World) -> None:
    world.program("claude", f'exec "{world.claude}" "$@"')
    world.configure('[learn]\nreader = "on"\n[jobs]\nauto = false\n')
    ademem = Product(world)
    ademem.enrol()
    ademem.install()
    (world.project / ".claude/settings.json").write_text(json.dumps(marks(world)))
    (world.root / "leaves").touch()
    world.model.learn([model("I look."), model("I will use it."), model("Done.")])
    type_to(world, "Merge the two feeds of stops", SAID, "Thank you, that is all")
    screen = (world.root / "screen").read_bytes().decode("utf-8", "replace")
    world.model.outside[:] = set(world.model.outside) - SOUGHT
    asked = len(world.model.requests)
    world.model.learn([model(answer(FACT)), model("Done.")])
    ademem("work", "--once")

    assert len(world.model.requests) == asked + 1, screen[-3000:]
    assert f"m3 person: {SAID}" in world.model.requests[-1].text
    stored = ademem.memories()
    assert stored[FACT["text"]]["status"] == "candidate"
    spent = json.loads(ademem("cost", "--json"))
    assert [(row["purpose"], row["answered"]) for row in spent["ai"]] == [("reader", 1)]
