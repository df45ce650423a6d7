"""Which sessions did the same kind of thing, told from values."""

from datetime import timedelta
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.plugins.procedures.learning import (
    ALIKE,
    RARE,
    SHARE,
    Similarity,
    count_distinct,
    make_clusters,
    medoid,
    rarity,
    render_markdown,
    stems,
    weighted_cosine,
)
from ademem.plugins.procedures.records import (
    FAILURE,
    LEAST_CONFIDENCE,
    MOST_CONFIDENCE,
    START,
    SUCCESS,
    confidence_after,
)
from ademem.plugins.procedures.steps import (
    Work,
    agreement,
    align,
    common_command,
    common_steps,
    distinctive_steps,
    mask,
    share_taken,
    steps_of,
    steps_of_actions,
)
from ademem.store.episodes import Action
from ademem.synthesis.steps import command_steps
from tests.builders import NOW
from tests.plugins.procedures.learning.conftest import edit, release, run


def context(task, actions=(), number=0, outcome="succeeded", **changes):
    given = {
        "id": f"e{number}",
        "session": f"s{number}",
        "task": task,
        "outcome": outcome,
        "at": NOW + timedelta(days=number),
        "steps": steps_of_actions(actions),
    }
    return Work(**(given | changes))


MIGRATION = (edit("migrations/1_a.sql"), run("make migrate"), run("pytest tests/db"))


def day(number, kind):
    if kind == "release":
        return context(f"Cut release 1.{number}.0 of the app", release(f"1.{number}.0"), number)
    at = edit(f"migrations/{number}_{kind}.sql")
    return context(f"Write a migration for {kind}", (at, *MIGRATION[1:]), number)


@pytest.mark.parametrize(
    ("command", "signs"),
    [
        pytest.param("git tag v1.2.0", ["run git tag"], id="a subcommand"),
        pytest.param("npm run build -- --watch", ["run npm run build"], id="a deep one"),
        pytest.param("pytest -q tests", ["run pytest tests"], id="what it is run on"),
        pytest.param("pytest tests/test_a.py", ["run pytest"], id="a file is not a subcommand"),
        pytest.param("bash scripts/x.sh 1.2", ["run bash scripts/x.sh"], id="a script"),
        pytest.param("python -m build", ["run python -m build"], id="a module"),
        pytest.param("git status; ls -la | head", [], id="looking around"),
        pytest.param("cd app && make && ademem recall x", ["run make"], id="one step among looks"),
        pytest.param("sudo systemctl restart x", ["run systemctl restart"], id="a wrapper"),
        pytest.param("echo 'unclosed", [], id="no command at all"),
        pytest.param("git -C app push", ["run git push"], id="an option with a word"),
        pytest.param("kubectl -n prod apply -f x", ["run kubectl apply"], id="a namespace"),
        pytest.param(
            "git add -A && git commit -m \"$(cat <<'EOF'; Fix it; ; EOF; )\"; make",
            ["run git add", "run git commit", "run make"],
            id="a message in a document",
        ),
        pytest.param(
            "git add -A && git commit -m \"$(cat <<'EOF'; Fix it and much…",
            ["run git add", "run git commit"],
            id="cut short",
        ),
        pytest.param(
            "cat > x <<'E'; make; E; ./x", ["edit x", "run ./x"], id="a file in a document"
        ),
        pytest.param("sed -i 's/1.2/1.3/' VERSION", ["edit VERSION"], id="sed in place"),
        pytest.param("cd app && echo 1.3 > VERSION", ["edit app/VERSION"], id="a redirection"),
        pytest.param("echo x | tee -a a.md b.md", ["edit a.md", "edit b.md"], id="tee"),
        pytest.param("make > /tmp/log && cat > /tmp/x <<< a", ["run make"], id="a temporary file"),
        pytest.param("mv a.md b.md", ["run mv"], id="a move"),
        pytest.param("npm test > out.log", ["run npm test"], id="its output in a file"),
        pytest.param("for f in a b; do; make $f; done", ["run make"], id="a loop on one line"),
        pytest.param("time npm test…", ["run npm test"], id="cut after a word"),
    ],
)
def test_a_command_is_known_by_what_it_does(command, signs):
    assert [step.signature for step in command_steps(command)] == signs


def test_a_message_from_a_document_is_a_message():
    written = [f"git commit -m \"$(cat <<'EOF'; Add {n}; EOF; )\"" for n in "ab"]
    told = common_steps([steps_of_actions([run(line)]) for line in written], SHARE)

    assert told[0].words == ("git", "commit", "-m", "MESSAGE")


def test_reads_are_no_steps_and_a_step_repeated_at_once_is_one():
    looks = [Action(tool="Read", target="a.py", kind="read"), run("pytest"), run("pytest -x")]
    told = steps_of_actions(
        [*looks, edit("a.py"), Action(tool="mcp__gh__merge", target="12", kind="other")]
    )

    assert [step.signature for step in told] == ["run pytest", "edit a.py", "use mcp__gh__merge"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("Cut v1.2.0-rc1 today", "Cut VERSION today", id="a version"),
        pytest.param("Fix PROJ-12 and #34", "Fix ISSUE and ISSUE", id="issues"),
        pytest.param("on 2026-01-31 at 9", "on DATE at NUMBER", id="a date, a number"),
        pytest.param("revert 3f2a9c1d", "revert ID", id="a commit"),
        pytest.param("the facade of cafe", "the facade of cafe", id="words of hex letters"),
    ],
)
def test_what_differs_each_time_is_a_word_in_capitals(text, expected):
    assert mask(text) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param(["git tag v1.2.0", "git tag v1.3.0"], "git tag VERSION", id="versions"),
        pytest.param(["git add a/b.sql", "git add c.sql"], "git add PATH", id="paths"),
        pytest.param(["git commit -m a", "git commit -m b"], "git commit -m MESSAGE", id="words"),
        pytest.param(["git commit -m …", "git commit -m …"], "git commit -m MESSAGE", id="printed"),
        pytest.param(["up a", "up b"], "up NAME", id="names"),
        pytest.param(["x 1.2", "x 1.2"], "x 1.2", id="the same each time"),
        pytest.param(["tar app-1.0.tgz", "tar app-2.0.tgz"], "tar app-VERSION.tgz", id="inside"),
        pytest.param(["x a b c", "x v2.1"], "x VERSION", id="other lengths: the newest"),
    ],
)
def test_several_commands_are_one_step(lines, expected):
    assert " ".join(common_command([line.split() for line in lines])) == expected


def test_rare_signals_weigh_more_and_what_one_alone_has_does_not():
    weights = rarity([frozenset("ab"), frozenset("ab"), frozenset("ac"), frozenset("a")])

    assert weights["a"] == 1
    assert weights["b"] > weights["a"]
    assert weights["c"] == 1
    assert weighted_cosine(frozenset("ab"), frozenset("ab"), weights) == pytest.approx(1)
    assert weighted_cosine(frozenset("a"), frozenset("b"), weights) == 0
    assert weighted_cosine(frozenset(), frozenset("b"), weights) == 0


def test_words_of_a_task_are_stemmed_without_versions():
    assert stems("Releasing version 1.2.0 of the releases") == stems("release versions")


def test_sessions_cluster_by_task_and_steps_whatever_their_words():
    kinds = ["release", "users", "release", "orders", "release", "mails"]
    contexts = [day(number, kind) for number, kind in enumerate(kinds)]

    found = make_clusters(contexts, Similarity(contexts), ALIKE)
    assert [[each.id for each in cluster] for cluster in found] == [
        ["e0", "e2", "e4"],
        ["e1", "e3", "e5"],
    ]


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_the_order_in_which_they_are_given_changes_nothing(order):
    contexts = [day(0, "release"), day(1, "users"), day(2, "release")]
    mixed = [contexts[place] for place in order]

    assert make_clusters(mixed, Similarity(mixed), ALIKE) == make_clusters(
        contexts, Similarity(contexts), ALIKE
    )


def test_the_meaning_of_tasks_counts_where_both_have_vectors():
    one, other = context("Ship it", number=1), context("Publish", number=2)

    assert Similarity([one, other]).of(one, other) == 0
    assert Similarity([one, other], lambda *_: 0.8).of(one, other) == pytest.approx(0.8)
    assert Similarity([one, other], lambda *_: -0.3).of(one, other) == 0


def test_distinct_contexts_are_sessions_and_missions_that_did_not_fail():
    again = context("Ship", number=1, session="s0")
    failed = context("Ship", number=2, outcome="failed")
    heavy = context("Ship", number=3, weight=1.5)

    assert count_distinct([context("Ship"), again, failed]) == 1
    assert count_distinct([context("Ship"), again, failed, heavy]) == 2.5


def test_the_one_most_like_all_others_speaks_for_them():
    contexts = [day(0, "release"), day(1, "release"), day(2, "users")]

    assert medoid(contexts, Similarity(contexts)).id == "e1"


def test_the_steps_are_those_that_most_took_in_their_order():
    plain = release("1.0.0")
    late = (*plain[1:4], run("ruff check ."), *plain[4:])
    short = plain[:4]

    told = common_steps(
        [steps_of_actions(plain), steps_of_actions(late), steps_of_actions(short)], SHARE
    )
    assert [step.signature for step in told] == [
        "edit CHANGELOG.md",
        "run npm test",
        "run git commit",
        "run git tag",
        "run git push",
    ]
    assert common_steps([], SHARE) == ()


def test_files_that_differ_are_named_by_folder_and_ending():
    sessions = [(edit(f"migrations/{n}.sql"), edit(f"src{n}/a.py"), run("x")) for n in range(3)]

    told = common_steps([steps_of_actions(each) for each in sessions], SHARE)
    assert [step.words[0] for step in told] == ["migrations/*.sql", "*.py", "x"]


def test_steps_of_everybody_do_not_tell():
    ours = steps_of_actions([edit("migrations/1.sql"), run("npm test")])
    others = [steps_of_actions([run("npm test")]) for _ in range(5)]

    assert [step.signature for step in distinctive_steps(ours, others, RARE)] == [
        "edit migrations/1.sql"
    ]
    assert distinctive_steps(ours, [], RARE) == ours


SIGNS = st.lists(st.sampled_from("abcd"), max_size=8).map(
    lambda names: steps_of_actions([run(f"go {name}{name}") for name in names])
)


@given(SIGNS, SIGNS)
def test_an_alignment_is_the_same_steps_in_the_same_order(one, other):
    pairs = list(align(one, other).items())

    assert all(one[at].signature == other[there].signature for at, there in pairs)
    assert pairs == sorted(pairs)
    assert [there for _, there in pairs] == sorted({there for _, there in pairs})
    assert len(pairs) == len(align(other, one))
    assert 0 <= agreement(one, other) <= 1
    assert share_taken(one, one) == (1 if one else 0)


@given(st.lists(SIGNS, max_size=4))
def test_what_is_distilled_was_done_by_as_many_as_it_says(sessions):
    told = common_steps(sessions, SHARE)
    busy = [each for each in sessions if each]

    for step in told:
        took = sum(step.signature in {each.signature for each in session} for session in busy)
        assert took >= SHARE * len(busy)


@given(st.lists(st.sampled_from([SUCCESS, FAILURE]), max_size=30))
def test_confidence_stays_within_its_bounds_and_moves_with_each_outcome(outcomes):
    confidence = START
    for outcome in outcomes:
        after = confidence_after(confidence, outcome)

        assert LEAST_CONFIDENCE <= after <= MOST_CONFIDENCE
        assert (after >= confidence) == (outcome == SUCCESS) or after == confidence
        confidence = after


def test_confidence_is_the_published_formula():
    assert confidence_after(0.6, SUCCESS) == pytest.approx(0.66)
    assert confidence_after(0.6, FAILURE) == pytest.approx(0.42)


def test_steps_in_words_read_back_as_the_same_steps():
    lines = ["Edit `a/*.py` and `b.md`.", 'Run `git commit -m "x y"`.', "Rest.", "2) `make`"]

    told = steps_of(render_markdown(lines, ["never `rm -rf`"]))
    assert [step.signature for step in told] == [
        "edit a/*.py",
        "edit b.md",
        "run git commit",
        "run make",
    ]


@pytest.mark.parametrize(
    ("commands", "steps"),
    [
        pytest.param(
            ["sed -i 's/1.1/1.2/' VERSION", "echo 1.3 > VERSION", "cat > VERSION <<'E'; 1.4; E; "],
            [("VERSION",)],
            id="a file edited in several ways",
        ),
        pytest.param(["mv a.md b.md", "mv c.md d.md"], [], id="a move of other files each time"),
        pytest.param(
            ["mv a.md b.md", "mv a.md b.md"], [("mv", "a.md", "b.md")], id="the same move"
        ),
        pytest.param(["patch -p1 < a.diff", "patch -p1 < b.diff"], [], id="a patch from elsewhere"),
        pytest.param(
            ["python - <<'E'; import a; E; ", "python - <<'E'; import b; E; "],
            [],
            id="a program in a document",
        ),
        pytest.param(
            ["git commit -m 'Add a'", "git commit -m 'Fix b'"],
            [("git", "commit", "-m", "Fix b")],
            id="a message: the newest",
        ),
        pytest.param(
            ["git tag v1.0.2", "git tag v1.0.3"], [("git", "tag", "v1.0.3")], id="a version"
        ),
    ],
)
def test_text_is_masked_and_a_step_that_then_says_nothing_is_dropped(commands, steps):
    sessions = [tuple(command_steps(command)) for command in commands]

    assert [step.words for step in common_steps(sessions, 1.0)] == steps
