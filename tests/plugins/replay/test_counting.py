"""What counts as a mistake that a memory would have met, and what does not."""

from datetime import timedelta

from ademem.core.memory import NOTE
from tests.plugins.replay.transcript_writer import (
    BEGIN,
    call,
    claude,
    denied,
    prompt,
    ran,
    refused,
    result,
)

GENERATED = "src/api_client/ is generated, edit the schema instead"
FILE = "src/api_client/orders.ts"
EDIT = {"file_path": FILE, "old_string": "price: number", "new_string": "price: string"}
BACK = {"file_path": FILE, "old_string": "price: string", "new_string": "price: number"}
OLD = "first line\nprice: number"
OTHER = {"file_path": FILE, "old_string": "first line", "new_string": "another line"}
BEFORE_ASKING = prompt("prices are strings now")
ASKING = prompt("prices in orders.ts are strings now")


LINKED = "src/api_client/ is generated, edit schema/orders.json"
PROVEN = {
    "refused": ("rejected", refused("c1", "Edit", **EDIT)),
    "by an edit": ("taken back", [*ran("c1", "Edit", **EDIT), *ran("c2", "Edit", **BACK)]),
    "by git checkout": (
        "taken back",
        [*ran("c1", "Edit", **EDIT), *ran("c2", "Bash", command=f"git checkout -- {FILE}")],
    ),
    "by a Write of the old text": (
        "taken back",
        [*ran("c1", "Edit", **EDIT), *ran("c2", "Write", file_path=FILE, content=OLD)],
    ),
    "the next prompt names what the memory says": (
        "said",
        [*ran("c1", "Edit", **EDIT), prompt("no, edit schema/orders.json")],
    ),
}
CHANGED_BETWEEN = [*ran("c1", "Edit", **EDIT), *ran("c2", "Edit", **OTHER)]
UNPROVEN = {
    "another change before the edit": [*CHANGED_BETWEEN, *ran("c3", "Edit", **BACK)],
    "another change before git checkout": [
        *CHANGED_BETWEEN,
        *ran("c3", "Bash", command=f"git checkout -- {FILE}"),
    ],
    "another change before the Write": [
        *CHANGED_BETWEEN,
        *ran("c3", "Write", file_path=FILE, content=OLD),
    ],
    "taken back 21 calls later": [
        *ran("c1", "Edit", **EDIT),
        *(step for n in range(20) for step in ran(f"r{n}", "Bash", command="ls")),
        *ran("c3", "Edit", **BACK),
    ],
    "an interrupt": [
        call("c1", "Edit", **EDIT),
        prompt("[Request interrupted by user for tool use]"),
    ],
    "named in a later prompt": [
        *ran("c1", "Edit", **EDIT),
        prompt("now the schema"),
        prompt("schema/orders.json"),
    ],
    "named before": [
        prompt("see schema/orders.json"),
        *ran("c1", "Edit", **EDIT),
        prompt("schema/orders.json"),
    ],
    "refused, and let pass as it is": [
        *refused("c1", "Edit", **EDIT),
        prompt("now"),
        *ran("c2", "Edit", **EDIT),
    ],
    "denied by a hook": denied("c1", "Edit", **EDIT),
    "failed validation": [
        call("c1", "Edit", **EDIT),
        result("c1", "<tool_use_error>File has not been read yet", ok=False),
    ],
}


NOT_TRIED = ("an interrupt", "denied by a hook", "failed validation")


def rename_calls(session, steps):
    """The steps with ids of calls that no other session has."""
    return [{**step, "id": f"{session} {step['id']}"} if "id" in step else step for step in steps]


def test_a_mistake_is_met_with_a_proof_and_with_nothing_less(past):
    """R4"""
    past.know(LINKED, "src/api_client/")
    for session, (_, steps) in PROVEN.items():
        past.session(session, BEFORE_ASKING, rename_calls(session, steps))
    for session, steps in UNPROVEN.items():
        past.session(session, BEFORE_ASKING, rename_calls(session, steps))

    found = past.replay()

    assert found.sessions == len(PROVEN) + len(UNPROVEN)
    assert {row.session: row.proof for row in found.mistakes} == {
        session: proof for session, (proof, _) in PROVEN.items()
    }
    assert {row.what for row in found.mistakes} == {f"Edit {FILE}"}
    tried = {row.session for row in (*found.mistakes, *found.in_the_way, *found.unproven)}
    assert PROVEN.keys() | UNPROVEN.keys() - tried == {*PROVEN, *NOT_TRIED}


def test_the_correction_that_made_a_rule_proves_nothing(past):
    """R2"""
    past.session(
        "one",
        BEFORE_ASKING,
        refused("c1", "Bash", command="npm install dayjs"),
        prompt("no, use pnpm, not npm, in this repo"),
        ran("c2", "Bash", command="pnpm add dayjs"),
    )
    past.know("use pnpm, not npm, in this repo", "`npm install`", said=BEGIN + timedelta(seconds=4))

    found = past.replay()

    assert (found.mistakes, found.unproven, found.from_now_on) == ((), (), ())


def test_a_rule_of_after_the_last_session_is_listed_with_the_calls_that_it_meets(past):
    past.session(
        "one", BEFORE_ASKING, *(ran(f"c{n}", "Bash", command="npm install x") for n in range(3))
    )
    past.know("Use pnpm, not npm", "`npm install`", said=BEGIN + timedelta(days=1))

    found = past.replay()

    assert found.mistakes == found.unproven == ()
    assert [(each.text, each.calls) for each in found.from_now_on] == [("Use pnpm, not npm", 3)]


def test_a_memory_comes_up_once_in_a_session_and_the_call_that_takes_back_is_not_tried(past):
    past.know(GENERATED, "src/api_client/")
    again = {**EDIT, "old_string": "total: number", "new_string": "total: string"}
    past.session(
        "one",
        BEFORE_ASKING,
        ran("c1", "Bash", command=f"git restore {FILE}"),
        ran("c2", "Edit", **EDIT),
        ran("c3", "Bash", command=f"git checkout -- {FILE}"),
        ran("c4", "Edit", **again),
    )
    past.session("two", BEFORE_ASKING, ran("d1", "Edit", **EDIT), ran("d2", "Edit", **BACK))

    found = past.replay()

    assert [(row.session, row.number) for row in found.mistakes] == [("two", 1)]
    assert [(row.session, row.number) for row in found.unproven] == [("one", 1)]


KEPT = {
    "the file kept the change": (True, []),
    "the file may have lost it": (False, ran("c2", "Bash", command="git stash")),
    "a later edit changed it": (False, ran("c2", "Edit", **{**BACK, "new_string": "price: any"})),
    "the next prompt speaks of it": (False, [prompt("hm, orders.ts again")]),
}


NAMED = {
    "the prompt has the file's name": ASKING,
    "an earlier prompt has it": [ASKING, prompt("do it")],
    "an earlier one has one of the memory": [prompt("the API without HashMap"), BEFORE_ASKING],
}


def test_a_right_call_was_asked_for_by_a_name_and_kept(past):
    past.know("No HashMap below src/api_client/", "src/api_client/")
    past.know("Prices are Decimal", "src/money.py", mark=NOTE)
    for session, (_, steps) in KEPT.items():
        edit = ran("c1", "Edit", **EDIT)
        past.session(session, ASKING, rename_calls(session, [*edit, *steps]))
    for session, prompts in NAMED.items():
        past.session(session, prompts, rename_calls(session, ran("c1", "Edit", **EDIT)))
    past.session("no prompt named anything", BEFORE_ASKING, ran("f1", "Edit", **EDIT))
    breaking = {**EDIT, "new_string": "price: HashMap<string>"}
    past.session("adds what is forbidden", ASKING, ran("d1", "Edit", **breaking))
    noted = {**EDIT, "file_path": "src/money.py"}
    past.session("a note stops nothing", prompt("change money.py"), ran("e1", "Edit", **noted))

    found = past.replay()

    kept = {session for session, (is_right, _) in KEPT.items() if is_right}
    assert {row.session for row in found.in_the_way} == kept | {*NAMED}
    assert (len(found.unproven), found.mistakes) == (len(KEPT) + 3 - len(kept), ())


def test_a_command_was_right_that_succeeded_and_was_run_again_after_a_prompt(past):
    (past.world.root / "pnpm-lock.yaml").write_text("")
    past.know("Do not add dependencies", "`pnpm add`")
    first, again = (ran(id, "Bash", command="pnpm add zod") for id in ("1", "2"))
    later = [prompt("and once more"), *again]
    undone = ran("3", "Bash", command="git checkout pnpm-lock.yaml")
    steps = {"once": [], "in one turn": again, "after a prompt": later, "undone": [*undone, *later]}
    for session, later in steps.items():
        past.session(session, BEFORE_ASKING, rename_calls(session, [*first, *later]))

    found = past.replay()

    assert [row.session for row in found.in_the_way] == ["after a prompt"]
    assert {row.session for row in found.unproven} == {"once", "in one turn", "undone"}


def test_a_proof_without_words_is_about_the_memory_that_is_said_first(past):
    past.know("Files below src/ have a header", "src/")
    nearest = past.know(GENERATED, FILE)
    past.session("refused", BEFORE_ASKING, refused("c1", "Edit", **EDIT))
    taken_back = [*ran("d1", "Edit", **EDIT), *ran("d2", "Edit", **BACK)]
    past.session("taken back", BEFORE_ASKING, taken_back)

    found = past.replay()

    assert [row.memory for row in found.mistakes] == [nearest] * 2


def test_a_prompt_is_answered_by_its_best_memory_if_the_turn_has_a_name_of_it(past):
    past.know("Money is rounded by round_half_even in src/money.py, per order line")
    past.know("Invoices are archived for ten years")
    asked = prompt("How is money rounded for an order line?")
    past.session("one", asked, claude("By round_half_even, each line on its own."))
    past.session("two", asked, claude("Up."))
    past.session("three", prompt("Is it round_half_even?"), claude("round_half_even it is."))

    (row,) = past.replay().answered

    assert (row.session, row.what) == ("one", asked["text"])


def test_the_call_that_takes_back_is_not_tried_where_the_rule_is_newer_than_the_mistake(past):
    past.know(GENERATED, "src/api_client/", said=BEGIN + timedelta(seconds=4))
    back = ran("c2", "Bash", command=f"git checkout -- {FILE}")
    past.session("one", BEFORE_ASKING, ran("c1", "Edit", **EDIT), prompt("no"), back)

    found = past.replay()

    assert found.mistakes == found.in_the_way == found.unproven == ()


def test_what_was_said_in_two_sessions_is_a_quote_for_a_person_to_decide(past):
    past.know("use pnpm, never npm, in this repo")
    for number, session in enumerate(("one", "two", "three")):
        begin = BEGIN + timedelta(days=number)
        past.session(session, prompt("always use pnpm, never npm, in this repo"), begin=begin)
    past.session("four", prompt("in this repo, tests always live next to the code they test"))
    again = prompt("please, tests always live next to the code they test")
    past.session("five", again, begin=BEGIN + timedelta(days=4))
    past.session("eight", prompt("never push to the release branch on a Friday in this repo"))
    past.session("six", prompt("fix the login"), begin=BEGIN)
    past.session("seven", prompt("fix the login"), begin=BEGIN)

    found = past.replay()

    assert [(each.sessions, bool(each.memory_id)) for each in found.repeated] == [
        (3, True),
        (2, False),
    ]
    assert [each.quote for each in found.to_add] == [
        "please, tests always live next to the code they test"
    ]


def test_what_met_nothing_is_told_from_twenty_sessions_on(past):
    past.know("Use pnpm, not npm", "`npm install`")
    past.know(GENERATED, "src/api_client/")
    for number in range(19):
        past.session(f"s{number}", prompt("install it"), ran(f"c{number}", "Bash", command="ls"))

    assert past.replay().has_few

    past.session("last", prompt("go"), ran("c", "Bash", command="npm install x"))
    found = past.replay()

    assert (found.rules, [idle.text for idle in found.met_nothing]) == (2, [GENERATED])
