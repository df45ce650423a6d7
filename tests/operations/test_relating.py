"""What is written is compared with what is known, and replaces it only where that is certain."""

from __future__ import annotations

import json

import pytest

from ademem.capture.gate import relating
from ademem.core.memory import Category, Draft, Origin, Status, Trust
from ademem.operations import curation, files, searching, upkeep, writing

EARLIER, LATER = "yarn is the package manager", "We switched to pnpm"


@pytest.fixture
def write(world):
    """Write a confirmed text through the gate, by default as a person types it."""

    def write(text, trust=Trust.USER, **changes):
        origin = Origin(trust=trust, source_type=str(trust))
        draft = Draft(content=text, category=Category.FACT, origin=origin, promoted=True, **changes)
        with world.memories() as memories:
            return writing.write(memories, draft)

    return write


def undo_last(memories, _id):
    (event,) = memories.store.db.execute(
        "select event_id from memory_revisions order by rowid desc limit 1"
    ).fetchone()
    curation.undo(memories, event)


CONTRADICTIONS = "select relation, reason from memory_relations where relation <> 'related'"


def relations(world):
    return [tuple(row) for row in world.rows(CONTRADICTIONS)]


def replaced(world):
    """Texts that another memory replaced."""
    rows = world.rows("select content from unified_memories where superseded_by is not null")
    return [row["content"] for row in rows]


def test_a_change_that_a_person_types_replaces_the_earlier_text_and_names_it(world, write):
    old = write(EARLIER).memory
    (note,) = write(LATER).notes

    assert note.startswith(f"replaces {old.id} “{EARLIER}” (pnpm against yarn)")
    assert replaced(world) == [EARLIER]


@pytest.mark.parametrize(("most", "related"), [(2, 0), (3, 1)])
def test_words_that_very_many_memories_have_relate_none(world, write, monkeypatch, most, related):
    monkeypatch.setattr(relating, "WIDESPREAD", most)
    write("The session cookie expires after 10 minutes")
    write("The session cookie expires after 20 minutes")

    assert len(relations(world)) == related


def test_a_list_of_several_matters_contradicts_nothing(world, write):
    write(EARLIER)
    write("We switched:\n\n- to pnpm\n- to Node 22", Trust.AGENT)

    assert relations(world) == []


def test_memories_that_share_nothing_but_a_compound_are_compared(world, write):
    write("checkout-api answers within 30 seconds")
    write("We gave checkout-api 45 seconds", Trust.AGENT)

    assert relations(world) == [("conflicts_with", "30 second against 45 second")]


@pytest.mark.parametrize(("others", "related"), [(0, 1), (4, 0)])
def test_a_word_of_change_and_a_word_that_is_said_of_many_things_relate_none(
    world, write, others, related
):
    for name in ("imports", "exports", "invoices", "refunds")[:others]:
        write(f"Handbook of {name}")
    write("Handbook for newcomers")
    write("The handbook has a map now", Trust.AGENT)

    assert len(relations(world)) == related


@pytest.mark.parametrize("take_back", [curation.restore, undo_last])
def test_a_replacement_can_be_taken_back(world, write, take_back):
    old = write(EARLIER).memory
    write(LATER)
    with world.terminal() as memories:
        take_back(memories, old.id)

    assert replaced(world) == []


@pytest.mark.parametrize("earlier_is_kept", [True, False])
def test_a_decision_that_is_taken_back_leaves_both_to_be_decided(world, write, earlier_is_kept):
    old = write(EARLIER).memory
    new = write(LATER, Trust.AGENT).memory
    kept, gone = (old, new) if earlier_is_kept else (new, old)
    with world.terminal() as memories:
        curation.supersede(memories, gone.id, kept.id)
        undo_last(memories, gone.id)
        hits = searching.search(memories, "which package manager").hits
        (pair,) = curation.list_conflicts(memories)

    assert [hit.memory.id for hit in hits] == [new.id, old.id]
    assert [hit.later and hit.later.flag for hit in hits] == [None, f"contradicted-by-{new.id}"]
    assert (pair.left, pair.right, pair.relation) == (old.id, new.id, "conflicts_with")


@pytest.mark.parametrize(
    ("earlier", "later", "trust", "pinned"),
    [
        pytest.param(EARLIER, LATER, Trust.AGENT, False, id="an agent says so"),
        pytest.param(EARLIER, LATER, Trust.USER, True, id="the earlier one is pinned"),
        pytest.param(
            "Backups are kept for 30 days in S3",
            "Backups of the audit log are kept for 90 days",
            Trust.USER,
            False,
            id="the subject may be another",
        ),
    ],
)
def test_what_is_not_certain_replaces_nothing(world, write, earlier, later, trust, pinned):
    write(earlier, pinned=pinned)
    write(later, trust)

    assert replaced(world) == []


PORT = "The billing service listens on port {}"
CHECKS = "Health checks of billing go to port {} every minute"


@pytest.mark.parametrize(
    ("beside", "found"),
    [([], ["conflicts_with"]), ([PORT.format(6120)], ["supersedes", "supersedes"])],
    ids=["other words alone", "beside the same words"],
)
def test_a_text_replaces_all_that_have_the_value_which_it_replaces(world, write, beside, found):
    for text in (CHECKS.format(6120), *beside, PORT.format(8443)):
        write(text, Trust.AGENT)

    assert [relation for relation, _ in relations(world)] == found


def test_a_memory_that_is_replaced_stays_so_when_another_one_contradicts_it(world, write):
    old = write(PORT.format(6120), Trust.AGENT).memory
    heir = write(PORT.format(8443), Trust.AGENT).memory
    write(CHECKS.format(9090), Trust.AGENT)

    with world.memories() as memories:
        hits = searching.search(memories, old.content).hits
    (found,) = (hit for hit in hits if hit.memory.id == old.id)
    assert found.later is not None
    assert found.later.flag == f"superseded-by-{heir.id}"


@pytest.fixture
def bring(world):
    """Import the later of two facts after the earlier, which is important."""

    def bring():
        lines = [
            json.dumps(
                {
                    "content": text,
                    "status": Status.PROMOTED,
                    "created_at": f"{day}T09:00:00Z",
                    "importance": importance,
                }
            )
            for text, day, importance in (
                (EARLIER, "2026-01-01", "high"),
                (LATER, "2026-01-08", "normal"),
            )
        ]
        with world.memories() as memories:
            files.import_lines(memories, lines)

    return bring


def test_what_is_imported_is_compared_at_once_and_replaces_nothing(world, bring):
    bring()

    assert relations(world) == [("supersedes", "pnpm against yarn")]
    assert replaced(world) == []


@pytest.mark.parametrize("take_in", [files.import_files, files.refresh_files])
def test_what_is_written_into_a_file_is_compared_when_it_is_imported(world, write, take_in):
    write(EARLIER)
    with world.memories() as memories:
        files.refresh_files(memories)
    page = world.root / ".ade/memory/facts.md"
    page.write_text(f"{page.read_text()}- {LATER}\n")
    with world.memories() as memories:
        take_in(memories)
        hits = searching.search(memories, "package manager").hits

    assert [hit.memory.content for hit in hits] == [LATER, EARLIER]
    assert replaced(world) == [EARLIER]


def test_of_several_changes_of_one_value_in_a_file_the_last_is_left(world, write):
    write("Billing is a service")
    with world.memories() as memories:
        files.refresh_files(memories)
    page = world.root / ".ade/memory/facts.md"
    texts = [
        f"The API of billing listens on port 800{at} instead of 800{at - 1}" for at in (1, 2, 3)
    ]
    page.write_text("".join((page.read_text(), *(f"- {text}\n" for text in texts))))
    with world.memories() as memories:
        files.import_files(memories)
        relating.catch_up(memories.store, memories.clock())

    assert sorted(replaced(world)) == texts[:2]


@pytest.mark.parametrize("is_settled", [False, True])
def test_pages_show_the_later_of_two_facts_first(world, bring, is_settled):
    bring()
    with world.memories() as memories:
        (pair,) = curation.list_conflicts(memories)
        if is_settled:
            curation.settle_conflict(memories, pair.left, pair.right)
        files.refresh_files(memories)

    for name in (".ade/memory/MEMORY.md", ".ade/memory/facts.md", ".ade/cto/MEMORY.md"):
        text = (world.root / name).read_text()
        assert text.index(LATER) < text.index(EARLIER)


def test_pages_are_written_again_once_a_worker_found_a_pair(world, bring, monkeypatch):
    page = world.root / ".ade/memory/facts.md"
    with monkeypatch.context() as patched:
        patched.setattr(relating, "AT_ONCE", 0)
        bring()
        with world.memories() as memories:
            files.refresh_files(memories)
    before = page.read_text()
    with world.memories() as memories:
        upkeep.work(memories)
        upkeep.work(memories)
    after = page.read_text()

    assert before.index(EARLIER) < before.index(LATER)
    assert after.index(LATER) < after.index(EARLIER)


def test_one_matter_of_two_things_is_no_pair_where_other_memories_tell_that_they_are_two(
    world, write
):
    write("The growth team reviews every change to search")
    for thing in ("billing", "search"):
        for text in ("{} listens on port 80", "Secrets of {} are in the vault"):
            write(text.format(thing))
    write("Changes to billing are reviewed by the platform team")

    assert relations(world) == []


def test_a_matter_that_is_said_of_many_things_is_no_pair_of_two_of_them(world, write):
    for thing in ("search", "mail", "ledger", "pricing", "feeds"):
        write(f"Secrets of {thing} are rotated monthly")
    write("billing rotates its secrets weekly; the job restarts the pods")
    write("search rotates its secrets by hand; the job restarts the pods")

    assert relations(world) == [("supersedes", "by hand against each month")]


MATTERS = ("{} has a port of its own", "Reviews of {} take a day", "{} is written in Go")


def tell_matters(write, *things):
    for thing in things:
        for text in MATTERS:
            write(text.format(thing))


STORES = ("payments stores its rows in MySQL", "SQLite has the rows that search writes")


@pytest.mark.parametrize(
    ("things", "related"),
    [
        pytest.param((), 1, id="unknown"),
        pytest.param(("search",), 1, id="one is known"),
        pytest.param(("search", "payments"), 0, id="both are known"),
    ],
)
def test_values_of_one_kind_of_two_things_with_other_matters_are_no_pair(
    world, write, things, related
):
    tell_matters(write, *things)
    for text in STORES:
        write(text, Trust.AGENT)

    assert len(relations(world)) == related


def test_a_name_that_is_a_value_elsewhere_still_tells_two_things_apart(world, write):
    write("Deploy billing with make ship, never by hand")
    write("make ship is how search gets deployed")
    write("Requests of billing time out after 5 seconds")
    write("Deploy shipping with make release, never by hand")
    write("The deployment of mail goes through make promote")

    assert relations(world) == []


def test_one_matter_in_other_words_is_a_pair_where_other_memories_use_them_of_it(world, write):
    for thing, team in (("search", "growth"), ("mail", "mobile")):
        write(f"Changes to {thing} are reviewed by the {team} team")
        write(f"Ask the {team} team for a review before merging into {thing}")
    write("Changes to billing are reviewed by the platform team")
    write("Ask the core team for a review before merging into billing")

    assert relations(world) == [("supersedes", "core against platform")]


@pytest.mark.parametrize(("source", "related"), [("agent", 1), ("merge", 0)])
def test_a_text_that_lost_a_merge_replaces_none_before_a_person_accepts_it(world, source, related):
    origin = Origin(trust=Trust.USER, source_type="user")
    lost = Origin(trust=Trust.AGENT, source_type=source)
    with world.memories() as memories:
        for text, said in ((EARLIER, origin), (LATER, lost)):
            writing.write(memories, Draft(content=text, category=Category.FACT, origin=said))

    assert len(relations(world)) == related
