"""Rates on the words of an author who had seen neither the rules nor the code.

Each set was used once as a figure (`bench/README.md` has the first ones beside today's) and is a
test since: its floors are today's figures, so that no change makes them worse unseen. A floor that
can be raised is raised; none is reached by a rule for one of these cases.
"""

import csv
import json
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import zip_longest
from pathlib import Path

import pytest

from ademem.capture.record import category_of
from ademem.capture.teaching import may_teach
from ademem.core import anchor
from ademem.core.memory import Draft, Origin, Trust
from ademem.core.redaction import redact
from ademem.core.value import replace
from ademem.guard.injection import instruction_in_titled
from ademem.operations import searching, writing
from ademem.search import binding, embedding, engine, statement_search
from ademem.search.embedding import embedded_texts
from ademem.search.engine import UNARCHIVED, Filters
from ademem.search.lexical import may_answer
from ademem.search.query import names_key, names_subject
from ademem.session import asking
from ademem.store import memory_queries
from ademem.store.filters import visible
from tests.examples import some
from tests.strangers.places import score, score_chosen

HERE = Path(__file__).parent
BY_PERSON = Origin(trust=Trust.USER, source_type="user")


def cases(name):
    return [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text().splitlines()]


def know(world, texts, category=None, occasions=()):
    """Store texts as a person types them, with occasions if any; return their ids."""
    with world.terminal() as memories:
        kept = [
            writing.write(
                memories,
                Draft(
                    content=text,
                    category=category or category_of(text),
                    promoted=True,
                    origin=BY_PERSON,
                    anchors=tuple(map(anchor.of_occasion, when)),
                ),
            ).memory
            for text, when in zip_longest(texts, occasions, fillvalue=())
        ]
        binding.update_bindings(memories.store, memories.project)
    return [memory.id if memory else "" for memory in kept]


def test_rules_are_said_before_the_call_that_they_are_about_and_stop_no_other(world):
    rules = cases("rules_at_calls")
    for rule in rules:
        for call in (rule["call"], *rule["harmless"]):
            if call["tool"] == "Edit":
                path = world.root / call["input"]["file_path"]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("x\n")
    know(world, [rule["text"] for rule in rules])
    ahead, wrong = score(world, rules)

    assert len(ahead) >= 11, ahead
    assert len(wrong) <= 1, wrong


@pytest.mark.parametrize(
    ("name", "least", "most"),
    some(
        [
            pytest.param("rules_in_projects", 39, 7, id="in four projects"),
            pytest.param("rules_at_calls", 37, 9, id="in one project"),
        ]
    ),
)
def test_rules_speak_at_places_that_a_model_chose_from_their_answers(tmp_path, name, least, most):
    files = HERE / f"{name}_files.json"
    contents = json.loads(files.read_text()) if files.exists() else {}
    ahead, wrong = score_chosen(tmp_path, cases(name), contents, cases(f"{name}_chosen"))

    assert len(ahead) >= least, ahead
    assert len(wrong) <= most, wrong


def test_a_prompt_that_only_goes_on_searches_little_and_brings_nothing(world):
    know(world, (HERE / "memories.txt").read_text().splitlines())
    prompts = cases("go_on")
    with world.memories() as memories:
        searched = [
            each["content"]
            for each in prompts
            if names_subject(each["prompt"])
            and (names_key(each["prompt"]) or may_answer(each["prompt"], memories.store))
        ]
    brought = [
        each["prompt"]
        for at, each in enumerate(prompts)
        if not each["content"]
        and world.context(
            "user_prompt_submit", prompt=each["prompt"], prompt_id=f"p{at}", session_id=f"s{at}"
        )
    ]

    assert searched.count(False) <= 12
    assert searched.count(True) >= 18
    assert len(brought) <= 5, brought  # "commit it" brings what is bound to commits


def test_a_failure_brings_the_memory_about_it(world):
    failures = cases("failures")
    ids = know(world, [each["memory"] for each in failures], "gotcha")
    right, wrong = [], []
    for at, (each, id) in enumerate(zip(failures, ids, strict=True)):
        printed = world.fire(
            "post_tool_use_failure",
            session_id=f"f{at}",
            prompt_id=f"f{at}",
            tool_name="Bash",
            tool_input={"command": each["command"]},
            error=f"Exit code 1\n{each['output']}",
        )
        brought = [other for other in ids if other in printed]
        if each["matches"] and id in brought:
            right.append(each["id"])
        elif brought:
            wrong.append(each["id"])

    assert len(right) >= 10, right
    assert len(wrong) <= 4, wrong


def test_a_question_is_answered_or_nothing_is_said(world):
    ids = know(world, (HERE / "memories.txt").read_text().splitlines())
    right, silent = 0, 0
    with world.memories() as memories:
        for each in cases("questions"):
            found = searching.search(
                memories, each["question"], Filters(statuses=("promoted",)), 10
            )
            if each["answer"]:
                right += ids[each["answer"] - 1] in {hit.memory.id for hit in found.answers}
            else:
                silent += not found.answers

    assert right >= 40
    assert silent >= 43


@pytest.mark.parametrize(
    ("with_model", "right", "prompted", "most"),
    some(
        [
            pytest.param(False, 47, 15, {"near": 28, "far": 2, "elsewhere": 6}, id="words"),
            pytest.param(True, 62, 31, {"near": 34, "far": 0, "elsewhere": 1}, id="model"),
        ]
    ),
)
def test_a_recall_says_no_to_questions_of_another_subject(
    world, models, with_model, right, prompted, most
):
    if with_model:
        world.environment |= models
    known = cases("canal_memories")
    rows = dict(
        zip(
            (each["id"] for each in known),
            know(world, [each["text"] for each in known], "fact"),
            strict=True,
        )
    )
    world.work()
    answered, unasked, wrong = [], [], Counter()
    asked = [*cases("canal_questions"), *({"class": "elsewhere"} | q for q in cases("elsewhere"))]
    with world.terminal() as memories:
        model = embedding.load_pair(memories.settings.embed, memories.environment)
        given = (memories.store, Filters(), memories.now)
        for each in asked:
            found = engine.search(each["text"], *given, 10, model if with_model else None).answers
            if right_one := rows.get(each.get("answer")):
                answered += [each["id"]] * (right_one in {hit.memory.id for hit in found})
                shown = engine.suggest(each["text"], *given, embedder=model if with_model else None)
                unasked += [each["id"]] * (right_one in {hit.memory.id for hit in shown})
            else:
                wrong[each["class"]] += bool(found)

    assert len(answered) >= right, answered
    assert len(unasked) >= prompted, unasked
    assert all(wrong[kind] <= most[kind] for kind in most), wrong


def teams(file="teams.tsv"):
    """Rows of `teams.tsv`: a team, and what its prompts and searches are shown.

    `prompts` and `searches` are the least that are answered rightly, `near`, `far` and `elsewhere`
    the most others that are shown something. Those of `typos.tsv` are about searches that were
    typed in a hurry: with mistakes, and without. Those of `changed.tsv` are about 60 facts that
    changed: `named` are the least earlier texts that are among the three named to the writer of the
    current one, `current` the least current ones that are shown before the earlier.
    """
    with (HERE / file).open() as rows:
        return list(csv.DictReader(rows, delimiter="\t"))


def name_of(row):
    told = ", told" if row["occasions"] == "yes" else ""
    return f"{row['team']}{told}, {'model' if row['model'] == 'yes' else 'words'}"


@contextmanager
def asked_team(world, models, row):
    """Yield the memories of the row's team, the model to ask them with, and the id of each note."""
    team, with_model = row["team"], row["model"] == "yes"
    if with_model:
        world.environment |= models
    known = cases(f"{team}_memories")
    occasions = [each["when"] for each in known] if row["occasions"] == "yes" else ()
    ids = know(world, [each["text"] for each in known], "fact", occasions)
    if with_model:
        world.work()
    with world.terminal() as memories:
        model = embedding.load_pair(memories.settings.embed, memories.environment)
        rows = dict(zip((each["id"] for each in known), ids, strict=True))
        yield memories, model if with_model else None, rows


@pytest.mark.parametrize("row", [pytest.param(row, id=name_of(row)) for row in some(teams(), 22)])
def test_a_team_is_shown_what_helps_and_told_no_of_what_its_notes_do_not_have(world, models, row):
    """Occasions are of somebody who had seen the notes alone."""
    found = Counter()
    with asked_team(world, models, row) as (memories, embedder, rows):
        given = (memories.store, Filters(), memories.now)
        for each in cases(f"{row['team']}_prompts"):
            ids = {hit.memory.id for hit in engine.suggest(each["text"], *given, embedder=embedder)}
            found[each["class"]] += bool(ids)
            found["prompts"] += rows.get(each["answer"]) in ids
        for each in cases(f"{row['team']}_searches"):
            answers = engine.search(each["text"], *given, 10, embedder).answers
            found[each["class"]] += bool(answers)
            found["searches"] += rows.get(each["answer"]) in {hit.memory.id for hit in answers}

    assert all(found[name] >= int(row[name]) for name in ("prompts", "searches")), found
    assert all(found[name] <= int(row[name]) for name in ("near", "far", "elsewhere")), found


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=name_of(row)) for row in some(teams("typos.tsv"), 16)]
)
def test_a_search_typed_in_a_hurry_finds_what_was_meant(world, models, row):
    found = Counter()
    with asked_team(world, models, row) as (memories, embedder, rows):
        given = (memories.store, Filters(), memories.now)
        for each in cases(f"{row['team']}_typos"):
            answers = engine.search(each["search"], *given, 10, embedder).answers
            if each["kind"] == "elsewhere":
                found["elsewhere"] += bool(answers)
            else:
                found[each["kind"]] += rows[each["note"]] in {hit.memory.id for hit in answers}

    assert found["typo"] >= int(row["typo"]), found
    assert found["plain"] >= int(row["plain"]), found
    assert found["elsewhere"] <= int(row["elsewhere"]), found


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        pytest.param("hostile", 59, 80, id="hostile"),
        pytest.param("harmless", 0, 1, id="harmless"),
    ],
)
def test_texts_that_are_held_back(name, least, most):
    held = [each for each in cases(name) if instruction_in_titled(None, each["text"])]

    assert least <= len(held) <= most


def test_secrets_are_redacted_and_what_looks_like_one_stays():
    leaked = []
    for each in cases("secrets"):
        secret, left = "".join(each["secret_parts"]), redact("".join(each["parts"])).text
        lines = [line for line in secret.splitlines() if len(line) > 20]
        if secret in left or any(line in left for line in lines):
            leaked.append(left)
    changed = [each for each in cases("secrets_harmless") if redact(each["text"]).found]

    assert len(leaked) <= 1, leaked
    assert len(changed) <= 1, changed


SECRETS = """
    b 1 0, c 4 0, d 0 0, e 1 0, f 4 2, g 5 0, h 2 1, i 4 0,
    j 4 0, k 2 0, l 4 0, m 2 0, n 5 1, o 1 0, p 1 1, q 1 0,
    r 2 0, s 3 1, t 0 0, u 1 0, v 0 1, w 1 0, x 3 0, y 2 1,
    z 2 1, aa 0 0, ab 1 1, ac 0 0, ad 1 0, ae 5 1, af 1 1, ag 7 0,
    ah 3 0, ai 0 0, aj 0 0, ak 0 0, al 3 2, am 5 1, an 5 2, ao 7 1
"""
"""An author, how many secrets of 150 stay at most, and how many of 300 harmless texts change."""


@pytest.mark.parametrize(
    ("author", "most", "most_changed"),
    [pytest.param(*row.split(), id=row.split()[0]) for row in SECRETS.split(",")],
)
def test_secrets_of_an_author_are_redacted_and_what_looks_like_one_stays(
    author, most, most_changed
):
    """The judge knows these authors but the last two; `bench/README.md` has rates of others."""
    leaked = []
    for each in cases(f"secrets_{author}"):
        left = redact("".join(each["parts"])).text
        if any("".join(value) in left for value in each["secret_parts"]):
            leaked.append(left)
    harmless = ["".join(each["parts"]) for each in cases(f"secrets_{author}_harmless")]
    changed = [text for text in harmless if redact(text).text != text]

    assert len(leaked) <= int(most), leaked
    assert len(changed) <= int(most_changed), changed


def test_what_a_prompt_states_is_heard_and_orders_of_the_moment_are_not():
    heard = [each["kind"] for each in cases("statements") if may_teach(each["prompt"])]

    assert heard.count("statement") >= 36  # of 20 in English and German, and 20 in others
    assert heard.count("lookalike") <= 6
    assert heard.count("neutral") <= 2


def test_statements_that_stand_beside_orders_are_heard_and_confirm_nothing(world):
    world.environment["CLAUDE_CODE_ENTRYPOINT"] = "cli"
    prompts = cases("statements_in_prompts")
    asked = [each for each in prompts if may_teach(each["prompt"])]
    heard = [each["kind"] for each in asked]
    for at, each in enumerate(asked):
        typed = {"prompt": each["prompt"], "prompt_id": f"p{at}", "session_id": f"s{at}"}
        world.fire("user_prompt_submit", **typed)

    assert heard.count("statement") >= 80
    assert len(heard) - heard.count("statement") <= 36  # of 200 that were to look alike
    assert {row["status"] for row in world.rows("select status from unified_memories")} == {
        "candidate"
    }


@pytest.mark.parametrize(
    ("way", "with_occasions", "said", "other"),
    some(
        [
            pytest.param("characters", False, 23, 31, id="by characters"),
            pytest.param("characters", True, 26, 32, id="by characters, told"),
            pytest.param("meaning", False, 36, 35, id="by meaning"),
            pytest.param("meaning", True, 38, 38, id="by meaning, told"),
        ]
    ),
)
def test_a_known_text_is_among_the_three_nearest_to_what_is_said_of_it(
    world, models, way, with_occasions, said, other
):
    """*said* and *other* are the fewest that are found of what states it in other words."""
    twins = cases("twins")
    others = (HERE / "memories.txt").read_text(encoding="utf-8").splitlines()
    when = [*(each["when"] for each in twins), *cases("memories_when")] if with_occasions else ()
    ids = know(world, [*(each["known"] for each in twins), *others], "fact", when)
    if way == "meaning":
        world.environment |= models
        world.work()
    found = Counter()
    with world.terminal() as memories:
        store = memories.store
        embedder = embedding.load_pair(memories.settings.embed, memories.environment)
        for field in ("said", "other"):
            for id, each in zip(ids, twins, strict=False):
                if way == "meaning":
                    ranked = statement_search.by_meaning([each[field]], store, embedder)
                else:
                    ranked = statement_search.by_characters([each[field]], store)
                near = visible(ranked, store, Filters(), UNARCHIVED, asking.NEAREST)
                found[field] += id in [memory.id for memory in near]

    assert found["said"] >= said
    assert found["other"] >= other


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=name_of(row)) for row in some(teams("changed.tsv"), 13)]
)
def test_of_a_fact_that_changed_the_earlier_text_is_named_and_the_current_one_shown_first(
    world, models, row
):
    """Beside both stands a third text about the same subject that still holds.

    The occasions of the earlier texts are of other writers than those of the current ones; each had
    seen single texts.
    """
    with_model, told = row["model"] == "yes", row["occasions"] == "yes"
    if with_model:
        world.environment |= models
    facts = cases(row["team"])
    texts = [
        (day, each[which], each["id"], which, each["when"][which] if told else ())
        for each in facts
        for which, day in (
            ("old", each["old_day"]),
            ("same", (each["old_day"] + each["new_day"]) // 2),
            ("new", each["new_day"]),
        )
    ]
    written = {}
    with world.terminal() as memories:
        for day, text, id, which, when in sorted(texts):
            memories.now = world.now = datetime.fromordinal(day).replace(tzinfo=UTC)
            anchors = tuple(map(anchor.of_occasion, when))
            draft = Draft(content=text, category=category_of(text), promoted=True, origin=BY_PERSON)
            written[id, which] = writing.write(memories, replace(draft, anchors=anchors))
    if with_model:
        world.work()
    ids = {key: one.memory.id for key, one in written.items()}
    current = named = 0
    with world.terminal() as memories:
        model = embedding.load_pair(memories.settings.embed, memories.environment)
        for each in facts:
            new, old = ids[each["id"], "new"], ids[each["id"], "old"]
            near = [memory.id for memory in written[each["id"], "new"].nearest]
            if with_model:
                near = nearest_before(memories, new, model)
            named += old in near
            embedder = model if with_model else None
            found = engine.search(
                each["question"], memories.store, Filters(), memories.now, 10, embedder
            )
            shown = [hit.memory.id for hit in found.hits]
            current += new in shown and old not in shown[: shown.index(new)]

    assert named >= int(row["named"]), (named, current)
    assert current >= int(row["current"]), (named, current)


def nearest_before(memories, id, model):
    """The three that a warm model would have named when the memory was written."""
    memory = memory_queries.by_id(memories.store, id)
    ranked = statement_search.by_meaning(embedded_texts(memory), memories.store, model)
    earlier = Filters(until=memory.created_at)
    near = visible(ranked, memories.store, earlier, UNARCHIVED, asking.NEAREST + 1)
    return [other.id for other in near if other.id != id][: asking.NEAREST]
