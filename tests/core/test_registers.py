"""Two copies of a memory come to the same record, whatever they hold and whoever meets first."""

import json
from functools import reduce
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core import record_json
from ademem.core.clock import UTC, datetime, timedelta
from ademem.core.registers import (
    Record,
    conflict_candidates,
    is_ahead,
    is_stamp,
    join,
    join_all,
    next_stamp,
    old_stamp,
    replica_of,
    rewrite,
    values_of,
    write,
)
from ademem.core.text import fold
from tests.examples import examples

NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)
ANNA, BEN, CLEO = "aaaaaaaa", "bbbbbbbb", "cccccccc"


def at(minute, replica=ANNA):
    return next_stamp("", NOON + timedelta(minutes=minute), replica)


def said(content, minute=0, replica=ANNA, **values):
    """A memory that was written once."""
    values = {"category": "fact", "status": "promoted", "life": "live"} | values
    values |= dict.fromkeys(("key", "source", "bead"))
    record = Record(id="m1", sync_id="s1", created_at="2026-01-31T12:00:00.000Z")
    return write(record, {"content": content, **values}, at(minute, replica))


OLD = said("Deploys run at noon.", tags=("deploy",))
EDITED, ARCHIVED = {"content": "Deploys run at one."}, {"life": "archived"}


@pytest.mark.parametrize(
    ("annas", "bens", "expected"),
    [
        pytest.param(
            (1, EDITED), (2, {"pinned": True}), EDITED | {"pinned": True}, id="two fields: both"
        ),
        pytest.param(
            (1, EDITED),
            (2, {"content": "Deploys run at two."}),
            {"content": "Deploys run at two.", "candidates": ["Deploys run at one."]},
            id="two texts: the later, and the other for review",
        ),
        pytest.param((1, EDITED), (2, EDITED), EDITED | {"candidates": []}, id="one text: once"),
        pytest.param(
            (1, ARCHIVED), (2, EDITED), EDITED | {"life": "live"}, id="edited after the archiving"
        ),
        pytest.param(
            (2, ARCHIVED),
            (1, EDITED),
            ARCHIVED | EDITED | {"candidates": ["Deploys run at one."]},
            id="archived after the edit, which it did not know",
        ),
        pytest.param(
            (1, {"life": "removed"}), (9, EDITED), {"life": "removed"}, id="removed for good"
        ),
        pytest.param(
            (1, ARCHIVED),
            (2, {"pinned": True}),
            ARCHIVED | {"pinned": True},
            id="a pin revives not",
        ),
        pytest.param(
            (1, {"tags": ("deploy", "ops")}),
            (2, {"tags": ("time",)}),
            {"tags": ("time", "ops")},
            id="tags added here, and removed there",
        ),
        pytest.param(
            (1, {"category": "gotcha"}),
            (2, {"category": "decision"}),
            {"category": "decision"},
            id="one field: the later",
        ),
    ],
)
def test_two_people_change_one_memory(annas, bens, expected):
    ours = write(OLD, annas[1], at(annas[0], ANNA))
    theirs = write(OLD, bens[1], at(bens[0], BEN))

    joined = join(ours, theirs)

    found = values_of(joined) | {"candidates": [one.content for one in conflict_candidates(joined)]}
    assert {name: found[name] for name in expected} == expected
    assert join(theirs, ours) == joined


def test_the_next_edit_ends_a_conflict_everywhere():
    ours, theirs = write(OLD, EDITED, at(1)), write(OLD, {"content": "At two."}, at(2, BEN))
    decided = write(join(ours, theirs), {"content": "Deploys run at three."}, at(3, CLEO))

    assert reduce(join, (ours, decided, theirs)) == decided
    assert conflict_candidates(decided) == []


def test_what_an_archiving_knew_is_decided():
    ours, theirs = write(OLD, EDITED, at(1)), write(OLD, {"content": "At two."}, at(2, BEN))
    both = join(ours, theirs)
    archived = write(both, ARCHIVED, at(3, CLEO))
    unseen = join(write(ours, ARCHIVED, at(4)), theirs)

    assert conflict_candidates(archived) == []
    assert conflict_candidates(write(archived, {"life": "live"}, at(4))) != []
    assert [one.content for one in conflict_candidates(unseen)] == ["At two."]
    assert conflict_candidates(write(unseen, {"life": "rejected"}, at(5))) == []


def test_what_is_left_out_of_a_text_stays_out_and_decides_nothing():
    def without(record, replica=CLEO):
        def tick(last):
            return next_stamp(last, NOON, replica)

        return rewrite(record, lambda text: text.replace("noon", "…"), tick)

    ours = write(OLD, {"tags": ("noon", "ops"), "bead": "noon"}, at(1))
    theirs = write(OLD, {"content": "After noon.", "title": "noon"}, at(2, BEN))
    both = join(ours, theirs)
    archived = join(write(ours, ARCHIVED, at(4)), theirs)

    clean = without(both)
    assert values_of(clean)["bead"] == "…"
    for copy in (OLD, ours, theirs, both):
        joined = join(clean, copy)
        assert "noon" not in str(joined.texts)
        assert joined.value("bead") == "…"
        assert without(joined) == clean
        assert without(join(without(copy, BEN), clean)).registers.keys() == clean.registers.keys()
    assert without(archived).registers["life"] == archived.registers["life"]
    assert [one.content for one in conflict_candidates(without(archived))] == ["After …."]
    assert conflict_candidates(without(write(ours, ARCHIVED, at(4)))) == []
    conflict = without(join(write(OLD, {"content": "At noon."}, at(1)), theirs))
    assert sorted(text for text, _ in conflict.texts.values()) == ["After ….", "At …."]


def test_the_candidate_of_a_losing_text_has_one_id_on_every_machine():
    ours, theirs = write(OLD, EDITED, at(1)), write(OLD, {"content": "At two."}, at(2, BEN))
    later = write(theirs, {"content": "At four."}, at(4, BEN))

    first, second = (conflict_candidates(join(ours, one))[0] for one in (theirs, later))
    assert first.id == second.id
    assert (first.content, first.memory_id) == ("Deploys run at one.", "m1")


def test_of_two_lines_from_before_there_were_stamps_the_later_replaces_the_earlier():
    def line(time, content):
        return record_json.from_json(
            {"id": "m1", "content": content, "updated_at": f"2026-01-31T{time}:00.000Z"}
        )

    joined = join(line("12:00", "Deploys run at noon."), line("13:00", "Deploys run at one."))

    assert joined == line("13:00", "Deploys run at one.")
    assert set(joined.texts) == {old_stamp("2026-01-31T13:00:00.000Z")}


@pytest.mark.parametrize(
    ("last", "expected"),
    [
        ("", "2026-01-31T12:00:00.000Z-0000-aaaaaaaa"),
        ("2026-01-31T11:59:00.000Z-0007-bbbbbbbb", "2026-01-31T12:00:00.000Z-0000-aaaaaaaa"),
        ("2026-01-31T12:00:00.000Z-0007-bbbbbbbb", "2026-01-31T12:00:00.000Z-0008-aaaaaaaa"),
        ("2026-01-31T12:00:59.999Z-9999-bbbbbbbb", "2026-01-31T12:01:00.000Z-0000-aaaaaaaa"),
        ("2031-01-31T12:00:00.000Z-0000-bbbbbbbb", "2031-01-31T12:00:00.000Z-0001-aaaaaaaa"),
    ],
    ids=["first", "clock moved on", "same moment", "full counter", "far ahead"],
)
def test_the_clock_never_runs_backwards(last, expected):
    assert next_stamp(last, NOON, ANNA) == expected
    assert is_stamp(expected)
    assert expected > last


def test_a_clock_follows_no_stamp_more_than_a_day_ahead():
    day = timedelta(hours=24)

    assert not is_ahead(next_stamp("", NOON + day, BEN), NOON)
    assert is_ahead(next_stamp("", NOON + day + timedelta(milliseconds=1), BEN), NOON)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "2026-01-31T12:00:00.000Z",
        "2026-02-31T12:00:00.000Z-0000-aaaaaaaa",
        "2026-01-31T12:00:00.000Z-0000-AAAAAAAA",
        "9999-12-31T23:59:59.999Z-9999-aaaaaaaa",
        "٢٠٢٦-01-31T12:00:00.000Z-0000-aaaaaaaa",
    ],
)
def test_what_is_no_stamp_counts_as_none(text):
    assert not is_stamp(text)


# Records as honest stores and as strangers make them: few values, so that they meet often.

STAMPS = [at(minute, replica) for minute in (0, 1, 2) for replica in (ANNA, BEN, "00000000")]
STAMPS += ["2400-01-01T00:00:00.000Z-9999-ffffffff", "0000-bbbbbbbb", "never"]
TEXTS = ["At noon.", "At one.", "at NOON.", "Ü\ud800", ""]
NAMES = ["text", "life", "category", "tags/a", "tags/b", "anchors/x.py:1-2", "nonsense"]
JUNK = st.sampled_from([None, True, 7, -1.5, "x", [], {}, [["a"]], {"a": {}}, "\x00"])


def or_junk(strategy):
    return st.one_of(strategy, strategy, strategy, strategy, JUNK)


def grouped(names):
    return st.dictionaries(st.sampled_from(STAMPS), st.lists(st.sampled_from(names), max_size=3))


HEAD = st.tuples(or_junk(st.sampled_from(STAMPS)), or_junk(st.sampled_from(TEXTS)), JUNK).map(list)
MORE = st.fixed_dictionaries(
    {},
    optional={
        "over": or_junk(st.lists(or_junk(st.sampled_from(STAMPS)), max_size=3)),
        "seen": or_junk(st.lists(or_junk(st.sampled_from(STAMPS)), max_size=3)),
        "heads": or_junk(st.lists(HEAD, max_size=2)),
        "removed": or_junk(grouped(["tags/b", "tags/c", "life"])),
        "places": or_junk(st.dictionaries(st.sampled_from(NAMES), JUNK)),
    },
)
STRANGE = st.fixed_dictionaries(
    {"id": st.just("m1")},
    optional={
        "sync_id": or_junk(st.sampled_from(["s1", "s2"])),
        "created_at": or_junk(st.sampled_from(["2026-01-31T12:00:00.000Z", "2025-01-01"])),
        "updated_at": or_junk(st.sampled_from(["2026-01-31T12:01:00.000Z", "2026-01-31T12:00Z"])),
        "content": or_junk(st.sampled_from(TEXTS)),
        "title": or_junk(st.sampled_from(["Deploys", ""])),
        "life": or_junk(st.sampled_from(["live", "archived", "superseded m2", "removed", "no"])),
        "category": or_junk(st.sampled_from(["fact", "decision", "banana"])),
        "pinned": or_junk(st.booleans()),
        "confidence": or_junk(st.sampled_from([1, 0.5, float("nan"), 10**400])),
        "tags": or_junk(st.lists(st.sampled_from(["a", "b", ""]), max_size=3)),
        "anchors": or_junk(
            st.lists(st.sampled_from(["x.py:1-2", "x.py:01-2@12345678", "$ make"]), max_size=2)
        ),
        "stamps": or_junk(st.builds(dict.__or__, grouped(NAMES), MORE)),
    },
).map(record_json.from_json)

ACTS = st.sampled_from(
    [
        {"content": "At noon."},
        {"content": "At one.", "title": "Deploys"},
        {"life": "archived"},
        {"life": "live"},
        {"life": "removed"},
        {"tags": ("a",)},
        {"tags": ("b", "a", "c")},
        {"category": "decision"},
        {"anchors": ("x.py:1-2@12345678",)},
    ]
)


@st.composite
def honest(draw):
    """Three copies after acts on each of them and some exchanges."""
    copies, last = [OLD] * 3, ""
    for _ in range(draw(st.integers(0, 8))):
        one, other = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        if draw(st.booleans()):
            copies[one] = join(copies[one], copies[other])
        elif copies[one].life != "removed":
            last = next_stamp(max(last, copies[one].last_stamp), NOON, (ANNA, BEN, CLEO)[one])
            copies[one] = write(copies[one], draw(ACTS), last)
    return tuple(copies)


@settings(max_examples=examples(10_000, share=25))
@given(st.one_of(honest(), st.tuples(STRANGE, STRANGE, STRANGE)))
def test_any_three_copies_come_to_the_same_in_every_order(copies):
    results = [join(join(a, b), c) for a, b, c in permutations(copies)]
    results += [join(a, join(b, c)) for a, b, c in permutations(copies)]

    assert all(one == results[0] for one in results)
    assert join(results[0], results[0]) == results[0]
    assert all(join(results[0], one) == results[0] for one in copies)
    # The greatest text stays, and the way through a file changes nothing.
    if results[0].life != "removed":
        heads = [at for one in copies for at in one.texts]
        assert max(results[0].texts, default="") == max(heads, default="")
    for one in (*copies, results[0]):
        assert record_json.from_json(json.loads(json.dumps(record_json.to_json(one)))) == one


@settings(max_examples=examples(1000, share=20))
@given(honest())
def test_no_text_is_lost_until_a_write_on_top_of_it(copies):
    joined = reduce(join, copies)

    if joined.life != "removed":
        for one in copies:
            for stamp in one.texts.keys() - joined.texts.keys():
                assert any(
                    stamp <= other.over.get(replica_of(stamp), "") and stamp not in other.texts
                    for other in copies
                )
        ends = [one for one in copies if one.registers["life"] == joined.registers["life"]]
        said = {fold(one.content) for one in conflict_candidates(joined)}
        for stamp, (content, _) in joined.texts.items():
            if joined.life == "live":
                knew = stamp == max(joined.texts)
            else:
                knew = any(stamp <= one.seen.get(replica_of(stamp), "") for one in ends)
            said |= {fold(content)} if knew else set()
        assert {fold(content) for content, _ in joined.texts.values()} == said


@settings(max_examples=examples(300))
@given(st.lists(st.tuples(STRANGE, st.sampled_from(["m1", "m2", "m3"])), max_size=8), st.randoms())
def test_sets_of_records_join_like_their_records(found, random):
    records = [Record(**{**vars(one), "id": id}) for one, id in found]
    shuffled = random.sample(records, len(records))
    cut = len(records) // 2

    joined = join_all(records)
    assert joined == join_all(shuffled) == join_all(records, records)
    halves = join_all(records[:cut]), join_all(records[cut:])
    assert joined == join_all(*(half.values() for half in halves))


@settings(max_examples=examples(200))
@given(st.recursive(JUNK, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_any_json_is_read_or_refused(found):
    assert record_json.from_json(found) is None or found["id"]
    record = record_json.from_json({"id": "m1", "stamps": found, "tags": found, "content": "x"})
    assert record.text == ("x", None)


def test_a_record_of_another_store_is_read_within_bounds():
    many = {f"tags/{number}": number for number in range(5000)}
    record = record_json.from_json(
        {
            "id": "m1",
            "content": "x" * 200_000,
            "tags": list(many),
            "stamps": {"removed": {STAMPS[0]: list(many)}, "places": many},
        }
    )

    assert record.texts == {}
    assert len(record.registers) <= 5 * record_json.MAX_ITEMS
