"""Every text that hooks put before a model, stored as it was sent."""

import json
from hashlib import sha256

import pytest

from ademem.operations import curation, searching, sessions, upkeep
from ademem.store import injections, logs
from tests.command_line import ademem

RULE = "Login tokens expire in UTC, never edit src/auth.py"
CANARY = "zebra-canary-quartz"
EDIT = {"tool_name": "Edit", "tool_use_id": "toolu_1"}


@pytest.fixture
def stored(world):
    def rows(columns="event, text, sha256, characters, tool_use_id"):
        return [tuple(row) for row in world.rows(f"select {columns} from injections order by id")]

    return rows


def typed(world, *arguments):
    return ademem(*arguments, environment=world.environment, folder=world.root)


def received(printed):
    """The text that the client gives to the model."""
    if not printed.startswith("{"):
        return printed
    output = json.loads(printed).get("hookSpecificOutput", {})
    return output.get("additionalContext") or output.get("permissionDecisionReason", "")


def test_each_hook_stores_the_text_that_its_model_receives(world, stored):
    world.know(RULE, path="src/auth.py")
    world.know("It took two days to mend", anchors=("$ terraform destroy",), tags=("stop",))
    edit = EDIT | {"tool_input": {"file_path": str(world.root / "src/auth.py")}}
    error = "ENOSPC: no space left on device, write"
    world.know(f"{error}: empty the cache of the build server", category="gotcha")
    failed = {"tool_name": "Bash", "tool_input": {"command": "npm ci"}, "error": error}
    destroy = {"tool_name": "Bash", "tool_input": {"command": "terraform destroy"}}
    fired = [
        ("session_start", {"source": "startup"}),
        ("user_prompt_submit", {"prompt": "change the login tokens", "prompt_id": "p1"}),
        ("user_prompt_submit", {"prompt": f"what of: {RULE}?", "session_id": "s5"}),
        ("subagent_start", {"agent_id": "a1", "agent_type": "reviewer"}),
        ("user_prompt_submit", {"prompt": f"remember: {CANARY} is kept", "prompt_id": "p2"}),
        ("pre_tool_use", edit | {"prompt_id": "p1"}),
        ("pre_tool_use", edit | {"session_id": "s2", "tool_use_id": "toolu_2"}),
        ("pre_tool_use", destroy | {"session_id": "s4", "tool_use_id": "toolu_4"}),
        ("post_tool_use_failure", failed | {"session_id": "s3"}),
        ("pre_compact", {}),
    ]
    sent = [(event, received(world.fire(event, **payload))) for event, payload in fired]

    texts = [(event, text) for event, text in sent if text]
    assert [row[:2] for row in stored()] == texts
    assert {event for event, _ in texts} == {event for event, _ in fired}
    for _, text, digest, characters, _ in stored():
        assert (digest, characters) == (sha256(text.encode()).hexdigest(), len(text))
    assert {"toolu_2", "toolu_4"} <= {row[4] for row in stored()}
    (denial,) = (text for _, text in texts if "make the same call again" in text)
    assert "terraform destroy" in denial
    sizes = world.rows(
        "select event, min(part.characters) as least, sum(part.characters) < sum(text.characters)"
        " as fit from injections as text join injection_memories as part on injection_id = text.id"
        " where section <> 'saved' and left_out = '' and event <> 'pre_compact' group by event"
    )
    assert {row["event"] for row in sizes} == {event for event, _ in fired} - {"pre_compact"}
    assert [tuple(row) for row in sizes if not (row["least"] and row["fit"])] == []


def test_each_memory_is_stored_with_its_section_and_its_use(world):
    world.know(RULE)
    world.fire("session_start", source="startup")
    with world.memories() as memories:
        (memory,) = searching.list_memories(memories)
        logs.log_use(memories.store, "s1", {memory.id: "x"}, world.now)
        _, (sent, *_) = sessions.list_sent(memories, "s1")

    (part,) = sent.parts
    assert (part.section, part.used, part.left_out) == ("Recent Knowledge", True, "")
    assert RULE in sent.text
    assert 0 < part.characters < sent.characters


def test_what_had_no_room_or_was_seen_is_stored_as_left_out(world):
    world.configure("[briefing]\nhints = 1\nprompt = 2\n")
    world.fire("session_start", source="startup")
    world.know("auth tokens are short", "auth keys are long", path="src/auth.py")
    edit = EDIT | {"tool_input": {"file_path": str(world.root / "src/auth.py")}}
    world.fire("pre_tool_use", **edit)
    world.fire("pre_tool_use", **edit)

    world.fire("user_prompt_submit", prompt="are auth tokens or auth keys long?", prompt_id="p1")
    world.know("auth tokens and auth keys are long in tests")
    world.fire("user_prompt_submit", prompt="are auth tokens or auth keys long?", prompt_id="p2")

    found = world.rows("select left_out from injection_memories order by injection_id, rank")
    assert [row["left_out"] for row in found] == ["", "limit", "", "", "seen"]


def test_a_filler_comes_beside_a_better_memory_only(world):
    world.configure("[briefing]\nprompt = 2\n")
    world.fire("session_start", source="startup")
    world.know("Login tokens of the staging gateway rotate", "The gateway logs daily in UTC")
    world.know("Invoices are rounded half to even", "make clean empties the cache daily")
    asked = "exporter tokens rotate, logs daily"

    both = world.fire("user_prompt_submit", prompt=asked, prompt_id="p1", session_id="s1")
    assert "gateway rotate" in both
    assert "logs daily in UTC" in both

    world.fire(
        "user_prompt_submit", prompt="rotate the login tokens", prompt_id="p2", session_id="s2"
    )
    again = world.fire("user_prompt_submit", prompt=asked, prompt_id="p3", session_id="s2")
    assert again == ""


def test_a_hard_delete_and_a_scrub_reach_the_texts(world, stored):
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    world.know(f"the {CANARY} opens the vault", "Deploys go through staging")
    world.fire("session_start", source="startup")
    world.fire("session_start", source="startup", session_id="s2")
    with world.terminal() as memories:
        memories.store.db.execute(
            "update injections set text = 'token ' || ? where session_id = 's2'", (secret,)
        )
        upkeep.scrub(memories)
        text, digest = memories.store.db.execute(
            "select text, sha256 from injections where session_id = 's2'"
        ).fetchone()
        assert secret not in text
        assert digest == sha256(text.encode()).hexdigest()
        (memory,) = (each for each in searching.list_memories(memories) if CANARY in each.content)
        curation.delete(memories, memory.id, hard=True)

    assert stored("text, sha256") == [(None, ""), (None, "")]
    for file in (world.root / ".ade").glob("ade.db*"):
        assert CANARY.encode() not in file.read_bytes()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param("injections = false", [], id="none is stored"),
        pytest.param("prompts = false", [None], id="no text that quotes prompts"),
    ],
)
def test_the_person_decides_what_is_stored(world, stored, settings, expected):
    world.configure(f"[capture]\n{settings}\n")
    world.fire("pre_compact")

    assert [row[0] for row in stored("text")] == expected


def test_a_sweep_deletes_old_texts_and_the_oldest_beyond_the_size(world, stored):
    world.configure("[capture]\ninjections_mb = 1\n")
    with world.memories() as memories:
        for day, text in (("2026-01-01", "old"), ("2026-02-20", "x" * 700_000)) * 2:
            memories.store.db.execute(
                "insert into injections (session_id, event, created_at, characters, sha256, text)"
                " values ('s1', 'stop', ?, ?, '', ?)",
                (f"{day}T12:00:00.000Z", len(text), text),
            )
        upkeep.sweep(memories)

    assert stored("id, characters") == [(4, 700_000)]


def test_why_shows_texts_memories_and_what_is_missing(world):
    world.know(RULE)
    world.fire("session_start", source="startup")

    shown = json.loads(typed(world, "why", "--json"))
    (text,) = shown["texts"]
    assert (shown["session"], text["reason"]) == ("s1", "when the session started")
    assert text["sha256"] == sha256(text["text"].encode()).hexdigest()
    assert [each["used"] for each in text["memories"]] == [False]

    lines = typed(world, "why", "s1")
    assert RULE in lines
    assert "not used, Recent Knowledge" in lines


def test_a_memory_that_was_quarantined_since_hides_its_text_from_a_model(world):
    from ademem.doors.views import session as views

    world.know(RULE)
    world.fire("session_start", source="startup")
    with world.memories() as memories:
        _, (sent,) = sessions.list_sent(memories, "s1")

    assert RULE in "\n".join(views.to_lines(sent, lambda _: False))
    assert RULE not in "\n".join(views.to_lines(sent, lambda _: True))
    assert views.to_json(sent, lambda _: True)["text"] is None
    assert injections.PLACES["briefing"] == sent.reason


def test_no_personal_memory_gets_into_a_text_of_the_project(world, stored):
    world.know(f"the {CANARY} of tea is green", scope="personal", category="preference")
    printed = received(world.fire("session_start", source="startup"))
    asked = {"prompt": f"which {CANARY} of tea is green?", "prompt_id": "p1"}
    world.fire("user_prompt_submit", session_id="s2", **asked)

    assert CANARY in printed
    assert [row[:2] for row in stored("text, event")] == [
        (None, "session_start"),
        (None, "user_prompt_submit"),
    ]
