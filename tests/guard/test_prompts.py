"""What a prompt is: an order to change things, a question, or neither."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.core.project import at
from ademem.core.settings import GuardSettings, load_configuration
from ademem.guard.prompts import TurnClass, classify

REQUIRED = """
fix the bug
Fix login bug
Fix the login bug in src/auth.py
Fixing the login flow please
Implementing the parser now
Delete the users table
create a new endpoint for orders
Migrate the database to v2
Optimise the slow query please
Make the button blue please
Revert that last commit
please tidy the parser
can you fix the flaky test?
could you please add a retry to the client?
would you mind renaming this class?
Can you look at src/app.ts and fix the error?
look at the failing test and then repair it
I want you to refactor the store
we need to support Windows paths
we need a new endpoint for orders
I'd like a dark mode
let's get rid of the old cache
let's move the helpers into one module
go ahead
yes, please continue
do it
ok, ship it
sounds good, go ahead
Add tests for the parser and run them
Upgrade typer to 0.12
bump the version
rename foo to bar everywhere
the button should be blue
errors must be logged in one place
the login page is broken
tests are failing on main
There is a crash when the list is empty
TypeError: cannot read property of undefined
Replace the regex by a parser, it is unreadable
commit this and push
set up CI for this repository
write a migration for the new column
Why don't you simplify this function?
how about extracting a helper?
Please update the README.
1. add a flag 2. document it
now remove the debug output
generate the docs
Extract the SQL into its own module.
turn off the cache in tests
clean up the imports
You should validate the input first
also handle the empty case
undo the last change
use orjson instead of json
write unit tests for src/foo.py
The docs say X. Change them to say Y.
install the dependencies
configure ruff to 100 columns
debug the memory leak
refacotr the parser
delte the cache
y
yes, please
2
option b
/fix-issue 482
git push origin main
npm run build
@package.json add a script
in `src/server.ts` move the port to the settings
once CI is green merge the branch
is there a test for this? if not add one
don't touch the tests, only fix the source
would it be possible to rename this?
don't forget to update the docs
needs more padding
no, put that in a file of its own
you forgot the admin route
put the summary into docs/summary.md
tests are slow
修复登录错误
テストを追加して
lösche die alten Logs
¿puedes cambiar el nombre de la función?
""".strip().splitlines()

SOFT = """
How do I change my address?
Why does the test fail?
what does the build do?
look at src/foo.ts please
explain how the cache works
Explain why we added the lock
How would you implement a rate limiter?
what is the difference between the two parsers?
where is the config loaded?
review my last commit
Can you explain how to add a test?
can you tell me what this function does?
show me the failing tests
plan the migration to v2
brainstorm names for the new module
summarise the architecture
is there a convention for error names?
Does the guard handle heredocs?
which tests cover the parser?
should we split this module?
investigate where the time goes
compare the two approaches
walk me through the release process
did you run the tests?
src/auth.py
give me an overview of the store
update me on the state of the branch
I wonder who owns this code these days
warum ist das so langsam
are the migrations reversible?
list the open questions
read the README first
think about the trade-offs
don't change anything, just explain what it does
no code yet, what are the options?
make a plan for the migration
write a short summary of the diff
git log --oneline
npm test
always run the linter before you commit
should we delete the old endpoints?
can we use generators here or would that break callers?
I was wondering how the fix works
tell me how to build and deploy it
compare hash and index
update the parser, but stay read-only
warum hast du den Test gelöscht?
为什么删除了这个测试？
""".strip().splitlines()

NONE = """
hi
hello there
thanks!
thank you so much
ok
good morning
just testing
this is a test message
ping
cool
no
never mind
that makes sense, thanks
stop it
let me think about it for a moment
gracias
谢谢
remember: deploys go through the staging branch
<task-notification>done</task-notification>
great job
""".strip().splitlines()


@pytest.mark.parametrize("prompt", REQUIRED)
def test_an_order_to_change_things_requires_memory(prompt):
    assert classify(prompt).turn is TurnClass.REQUIRED, classify(prompt)


@pytest.mark.parametrize("prompt", SOFT)
def test_a_question_or_a_look_is_soft(prompt):
    assert classify(prompt).turn is TurnClass.SOFT, classify(prompt)


@pytest.mark.parametrize("prompt", NONE)
def test_small_talk_needs_no_memory(prompt):
    assert classify(prompt).turn is TurnClass.NONE, classify(prompt)


@pytest.mark.parametrize(
    ("prompt", "is_routine"),
    [
        pytest.param("commit this", True, id="commit"),
        pytest.param("ok, commit and push", True, id="both"),
        pytest.param("push it", True, id="push"),
        pytest.param("git push origin main", True, id="typed as to a shell"),
        pytest.param("create a branch for the new importer", True, id="branch"),
        pytest.param("switch to the branch `fix/login`", True, id="switch"),
        pytest.param("Fix the typo in README.md", True, id="typo"),
        pytest.param("fix the login bug and commit it", False, id="more than a commit"),
        pytest.param("rename foo to bar, then push", False, id="more than a push"),
        pytest.param("npm install", False, id="another program"),
        pytest.param("yes, go on", False, id="a follow-up"),
    ],
)
def test_orders_of_a_commit_a_push_a_branch_or_a_typo_are_routine(prompt, is_routine):
    found = classify(prompt)

    assert (found.turn, found.is_routine) == (TurnClass.REQUIRED, is_routine)


@pytest.mark.parametrize("prompt", REQUIRED[:10])
def test_plan_mode_changes_nothing_so_it_is_at_most_soft(prompt):
    assert classify(prompt, plan_mode=True).turn is TurnClass.SOFT


@pytest.mark.parametrize(
    "verb", ["fix", "fixing", "fixes", "rename", "renaming", "stop", "stopping"]
)
def test_inflections_of_an_order_are_orders(verb):
    assert classify(f"{verb} the parser of the client").turn is TurnClass.REQUIRED


@pytest.mark.parametrize("around", ["{order}\n{paste}", "{paste}\n{order}"], ids=["head", "tail"])
def test_an_order_is_found_before_and_behind_a_long_paste(around):
    paste = "12:01:02 INFO pool of 50 is idle\n" * 500

    found = classify(around.format(order="please rename the pool", paste=paste))
    assert found.why == "it asks to rename"


@pytest.mark.parametrize("prompt", ["/", "/-", "```", "`", ", , ,", "-", "' '"])
def test_prompts_of_hardly_anything_have_a_class(prompt):
    assert classify(prompt).turn is not TurnClass.REQUIRED


@given(st.text(max_size=300))
def test_any_text_has_a_class_and_a_reason(prompt):
    assert classify(prompt).why


def labelled(split):
    text = (Path(__file__).parent / "prompts" / f"{split}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return [(TurnClass(turn), prompt.replace("\\n", "\n")) for turn, _, prompt in rows]


SPLITS = ("tune", "held_out")


@pytest.mark.parametrize("split", SPLITS)
def test_orders_as_people_type_them_are_recognized(split):
    pairs = Counter((wanted, classify(prompt).turn) for wanted, prompt in labelled(split))
    found = pairs[TurnClass.REQUIRED, TurnClass.REQUIRED]
    wanted = sum(pairs[TurnClass.REQUIRED, answer] for answer in TurnClass)
    answered = sum(pairs[label, TurnClass.REQUIRED] for label in TurnClass)

    assert found / wanted >= 0.99
    assert found / answered >= 0.82
    assert sum(pairs[turn, turn] for turn in TurnClass) / pairs.total() >= 0.9


@pytest.mark.parametrize("split", SPLITS)
def test_no_order_to_change_things_passes_as_small_talk(split):
    orders = [prompt for turn, prompt in labelled(split) if turn is TurnClass.REQUIRED]

    assert [prompt for prompt in orders if classify(prompt).turn is TurnClass.NONE] == []


def test_the_halves_of_the_corpus_share_no_prompt_and_know_every_class():
    tune, held_out = labelled("tune"), labelled("held_out")

    assert {prompt for _, prompt in tune}.isdisjoint(prompt for _, prompt in held_out)
    for turn in TurnClass:
        assert sum(label is turn for label, _ in tune + held_out) >= 100


@pytest.mark.parametrize(
    ("words", "prompt", "expected"),
    [
        pytest.param({"order_words": ("napraw*",)}, "naprawić test", "required", id="beginning"),
        pytest.param({"order_words": ("usuń",)}, "usuń stary plik", "required", id="whole word"),
        pytest.param({"order_words": ("usuń",)}, "usuńcie plik?", "soft", id="not part of a word"),
        pytest.param({"order_words": ("*แก้ไข*",)}, "ช่วยแก้ไขบั๊ก", "required", id="within"),
        pytest.param(
            {"order_words": ("usuń",), "question_words": ("dlaczego",)},
            "dlaczego usuń plik",
            "soft",
            id="a question about a change",
        ),
        pytest.param({"talk_words": ("dzięki", "wielkie")}, "wielkie dzięki", "none", id="talk"),
    ],
)
def test_a_team_adds_the_words_of_its_language(words, prompt, expected):
    assert classify(prompt, settings=GuardSettings(**words)).turn == expected


@pytest.mark.parametrize(
    ("written", "environment"),
    [
        pytest.param('[guard]\norder_words = ["napraw*"]\n', {}, id="config.toml"),
        pytest.param("", {"ADEMEM_GUARD_ORDER_WORDS": "usuń,napraw*"}, id="environment"),
    ],
)
def test_the_words_of_a_team_come_from_its_settings(tmp_path, written, environment):
    project = at(str(tmp_path))
    (tmp_path / ".ade").mkdir()
    (tmp_path / ".ade/config.toml").write_text(written, encoding="utf-8")
    settings = load_configuration(project, environment | {"HOME": str(tmp_path)}).settings.guard

    assert classify("naprawić test", settings=settings).turn is TurnClass.REQUIRED
