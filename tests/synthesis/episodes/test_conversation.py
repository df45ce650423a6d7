"""What an episode says follows from what was said and done, and from nothing else."""

import pytest

from ademem.capture import transcript
from ademem.core.memory import Category
from ademem.core.settings import GuardSettings
from ademem.store.episodes import Action, Run
from ademem.synthesis import conversation
from ademem.synthesis.conversation import Conversation, cause_in
from tests.builders import memory
from tests.capture.talk import Talk

KEY = "ghp_" + "a1B2c3D4e5" * 4
ORDER = "Fix the login bug in src/auth.py"


@pytest.fixture
def gather(tmp_path):
    def gather(talk, **options):
        path = talk.write(tmp_path / "s1.jsonl")
        gathered = Conversation(("/p", "/elsewhere"), GuardSettings(), **options)
        for event in transcript.all_events(str(path)):
            gathered.add(event)
        return gathered

    return gather


def test_the_task_is_the_first_order(gather):
    talk = Talk().types("hi!").types("How does login work?").types(ORDER).types("Add a test")

    assert gather(talk).task == ORDER


def test_a_question_is_the_task_where_nothing_was_ordered(gather):
    talk = Talk().types("hello").types("Why do login tokens expire?").types("thanks")

    assert gather(talk).task == "Why do login tokens expire?"


def test_what_was_done_is_described_in_order(gather):
    talk = (
        Talk()
        .types(ORDER)
        .runs("ademem recall login")
        .does("Read", "x", file_path="/p/src/auth.py")
        .runs("git status --short", "M x")
        .edits("/p/src/auth.py")
        .runs("pytest -q", "3 passed")
        .does("Agent", "found", description="Look around")
        .does("WebFetch", "x", url="https://example.com")
        .does("mcp__db__query", "1", query="select 1")
        .does("TodoWrite", "ok", todos=[])
        .runs("git commit -am fix", "[main 1a2b3c4] fix")
    )

    assert gather(talk).actions == [
        Action(tool="Bash", target="ademem recall login", kind="search"),
        Action(tool="Read", target="src/auth.py", kind="read"),
        Action(tool="Bash", target="git status --short", kind="read"),
        Action(tool="Edit", target="src/auth.py", kind="edit"),
        Action(tool="Bash", target="pytest -q", kind="test"),
        Action(tool="Agent", target="Look around", kind="delegate"),
        Action(tool="WebFetch", target="https://example.com", kind="web"),
        Action(tool="mcp__db__query", target="select 1", kind="other"),
        Action(tool="Bash", target="git commit -am fix", kind="run"),
    ]


def test_the_same_thing_done_twice_in_a_row_is_one_action(gather):
    talk = Talk().edits("/p/a.py").edits("/p/a.py").edits("/p/b.py").edits("/p/a.py")

    assert [action.target for action in gather(talk).actions] == ["a.py", "b.py", "a.py"]


def test_files_that_were_changed_are_named_as_the_project_does(gather):
    talk = Talk().edits("/p/src/a.py").edits("/elsewhere/b.py").edits("/etc/hosts")
    talk.does("Write", "Permission to use Write has been denied", failed=True, file_path="/p/no")
    talk.does("Read", "x", file_path="/p/read.py")

    assert list(gather(talk).files) == ["src/a.py", "b.py", "/etc/hosts"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/1.2/1.3/' /p/VERSION", ["VERSION"]),
        ("cat > src/a.py <<'EOF'\nx = 1\nEOF\ngit add src/a.py", ["src/a.py"]),
        ("cd docs && mv draft.md final.md", ["docs/draft.md", "docs/final.md"]),
        ("echo x | tee -a notes.md > /dev/null", ["notes.md"]),
        ("echo x > /tmp/notes.md && echo x > ../notes.md", []),
        ("cat notes.md", []),
    ],
)
def test_files_that_the_shell_changed_are_named(gather, command, files):
    gathered = gather(Talk().runs("pytest", "1 failed").runs(command))

    assert list(gathered.files) == files
    assert gathered.outcome == ("unknown" if files else "failed")


def test_a_document_is_left_out_of_an_action(gather):
    body = "\n".join(f"line {number} of the job" for number in range(50))
    talk = Talk().runs(f"cat > /p/job.yaml <<'EOF'\n{body}\nEOF\ngit add job.yaml")

    (action,) = gather(talk).actions
    assert action.target == "cat > job.yaml <<'EOF'; …; EOF; git add job.yaml"


@pytest.mark.parametrize(
    "refusal",
    [
        "ademem guard: project memory was not consulted yet",
        "The user doesn't want to proceed with this tool use.",
        "<tool_use_error>File has not been read yet.</tool_use_error>",
        "PreToolUse:Bash hook error: no",
    ],
)
def test_what_was_never_carried_out_is_neither_done_nor_failed(gather, refusal):
    gathered = gather(Talk().runs("rm -rf build", refusal, failed=True))

    assert gathered.is_empty


def test_a_search_that_found_nothing_was_made_all_the_same(gather):
    gathered = gather(Talk().runs("ademem recall login", "nothing answers that", failed=True))

    assert [action.kind for action in gathered.actions] == ["search"]
    assert gathered.errors == []


def test_an_error_is_described_once_by_its_line(gather):
    talk = Talk()
    for number in (1, 2):
        talk.runs("npm ci", f"npm warn\nnpm error code E{number}404 not found", failed=True)
    gathered = gather(talk)

    assert gathered.errors == ["`npm ci` fails: npm error code E1404 not found"]
    assert gathered.actions == []


def test_runs_of_tests_are_kept_with_their_result(gather):
    talk = Talk().runs("pytest -q", "1 failed, 2 passed", failed=True).runs("pytest -q", "3 passed")
    gathered = gather(talk)

    assert gathered.tests == [
        Run(command="pytest -q", passed=2, failed=1, error="1 failed, 2 passed"),
        Run(command="pytest -q", passed=3, failed=0, error=""),
    ]
    assert gathered.errors == []


@pytest.mark.parametrize(
    ("talk", "outcome"),
    [
        pytest.param(Talk().runs("pytest", "1 failed").runs("pytest", "3 passed"), "succeeded"),
        pytest.param(Talk().runs("pytest", "3 passed").runs("pytest", "1 failed"), "failed"),
        pytest.param(Talk().runs("pytest", "1 failed").edits("/p/a.py"), "unknown"),
        pytest.param(Talk().runs("pytest", "3 passed").edits("/p/a.py"), "succeeded"),
        pytest.param(Talk().edits("/p/a.py"), "unknown"),
        pytest.param(Talk().edits("/p/a.py").runs("git commit -am x"), "succeeded"),
        pytest.param(Talk().runs("git -C app push origin main"), "succeeded"),
        pytest.param(Talk().runs("git commit -am x", "no", failed=True), "unknown"),
        pytest.param(
            Talk().runs("git commit -am x").types("[Request interrupted by user]"), "partial"
        ),
        pytest.param(Talk().edits("/p/a.py").runs("pytest", "1 failed"), "partial"),
        pytest.param(Talk().edits("/p/a.py").types("[Request interrupted by user]"), "partial"),
        pytest.param(Talk().types("[Request interrupted by user]"), "unknown"),
        pytest.param(Talk().runs("pytest", "3 passed").lists("completed", "pending"), "partial"),
        pytest.param(Talk().runs("pytest", "3 passed").lists("completed"), "succeeded"),
        pytest.param(Talk().runs("git log --oneline"), "unknown"),
    ],
    ids=[
        "mended",
        "broken",
        "changed after a failure",
        "changed after a success",
        "not tested",
        "committed",
        "pushed",
        "not committed",
        "broken off",
        "tests fail at the end",
        "broken off before a commit",
        "broken off before anything",
        "left open",
        "all done",
        "read",
    ],
)
def test_the_outcome_rests_on_evidence(gather, talk, outcome):
    assert gather(talk).outcome == outcome


@pytest.mark.parametrize(
    ("said", "decisions"),
    [
        ("Decision: keep UTC, because servers differ.", ["keep UTC, because servers differ."]),
        ("**Decision:** keep UTC in the database.", ["keep UTC in the database."]),
        ("Done. We decided to keep UTC everywhere. Next?", ["We decided to keep UTC everywhere."]),
        ("I've settled on UUIDs for ids.", ["I've settled on UUIDs for ids."]),
        ("The decision is yours: which one?", []),
        ("```\nDecision: in a fence, not said\n```", []),
        ("Decision: no", []),
        ("- [decision] Decision: shown before (79a1d49e4dc0, user, 2026-01-01)", []),
    ],
)
def test_decisions_are_what_was_called_so(gather, said, decisions):
    assert list(gather(Talk().says(said)).decisions.values()) == decisions


def test_what_the_person_put_right_is_kept(gather):
    talk = Talk().types(ORDER).queues("no, use pnpm instead of npm").types("thanks")

    assert list(gather(talk).corrections.values()) == ["no, use pnpm instead of npm"]


def test_a_statement_is_a_correction_where_what_was_changed_before_it_is_changed_again(gather):
    stated = "Dates are stored in UTC everywhere in this project"
    before = Talk().types(ORDER).edits("/p/src/auth.py")

    def corrections(talk):
        return list(gather(talk).corrections.values())

    assert corrections(Talk().types(ORDER).types(stated).edits("/p/src/auth.py")) == []
    assert corrections(before.types(stated).edits("/p/src/other.py")) == []
    assert corrections(before.types("go on").edits("/p/src/other.py")) == []
    assert corrections(Talk().types(ORDER).edits("/p/a.py").types(stated).edits("/p/a.py")) == [
        stated
    ]


def test_who_keeps_no_prompts_finds_none_in_an_episode(gather):
    gathered = gather(Talk().types(ORDER).types("never use tabs").edits("/p/a.py"), prompts=False)

    assert (gathered.task, gathered.prompts, gathered.corrections) == ("", [], {})
    assert list(gathered.files) == ["a.py"]


def test_no_secret_is_in_an_episode(gather):
    talk = (
        Talk()
        .types(f"Fix the login with token {KEY} and <private>my name</private>")
        .says(f"Decision: we keep the token {KEY} in a vault.")
        .runs(f"curl -H 'Authorization: Bearer {KEY}' https://example.com/deploy -X POST")
        .edits(f"/p/{KEY}.txt")
        .runs(f"deploy --token {KEY}", f"fatal: bad token {KEY}", failed=True)
        .runs(f"TOKEN={KEY} pytest", f"FAILED t.py - {KEY}\n1 failed", failed=True)
    )
    gathered = gather(talk)
    told = repr(vars(gathered) | {"_pending": None})

    assert len(gathered.actions) == 2
    assert (len(gathered.errors), len(gathered.tests)) == (1, 1)
    assert KEY not in told
    assert "my name" not in told


def test_a_conversation_without_end_stays_small(gather):
    talk = Talk()
    for number in range(300):
        talk.types(f"Fix bug number {number} in the parser").edits(f"/p/file{number}.py")
        talk.runs(f"make target{number}", f"Error: cause {chr(97 + number % 26) * 9}", failed=True)
        talk.runs("pytest", f"{number} passed").says(f"Decision: rule {number} holds for good.")
    gathered = gather(talk)

    assert len(gathered.actions) == conversation.ACTIONS
    assert len(gathered.files) == conversation.FILES
    assert len(gathered.tests) == conversation.TESTS
    assert len(gathered.errors) == len(gathered.decisions) == len(gathered.prompts) == 20
    assert gathered.tests[-1].passed == 299


def test_calls_that_never_end_are_forgotten(gather):
    talk = Talk()
    for number in range(conversation.MOST_PENDING + 10):
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}
        talk.row("assistant", message={"content": [block]})
    gathered = gather(talk)

    assert len(gathered._pending) == conversation.MOST_PENDING


@pytest.mark.parametrize(
    ("changes", "kept"),
    [
        pytest.param({"source_type": "intervention"}, ("corrections", 0), id="a statement"),
        pytest.param({"category": Category.DECISION}, ("decisions", 1), id="a decision"),
        pytest.param({"source_type": "error_capture"}, ("errors", 1), id="an error"),
        pytest.param({"source_type": "episode"}, ("decisions", 0), id="an episode"),
        pytest.param(
            {"category": Category.DECISION, "quarantine_reason": "x"},
            ("decisions", 0),
            id="quarantined",
        ),
        pytest.param({"category": Category.FACT}, ("decisions", 0), id="anything else"),
    ],
)
def test_what_hooks_captured_counts_where_there_is_no_transcript(gather, changes, kept):
    gathered = gather(Talk())
    gathered.add_memory(memory("Deploys go through staging", source_id="f1", **changes))
    name, count = kept

    assert len(getattr(gathered, name)) == count


def test_when_it_began_and_ended_is_described_by_the_rows(gather):
    talk = Talk().types(ORDER).edits("/p/a.py")
    gathered = gather(talk)

    assert gathered.started_at == talk.rows[0]["timestamp"]
    assert gathered.ended_at == talk.rows[-1]["timestamp"]


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        ("Root cause: the lock file was made by pnpm.", "the lock file was made by pnpm"),
        (
            "**Cause:** the port is taken by another stack.",
            "the port is taken by another stack",
        ),
        (
            "I see. The dependency tree is broken because React 18 is pinned. I fix it.",
            "The dependency tree is broken because React 18 is pinned",
        ),
        ("Done, because you asked for it.", None),
        ("Is the dependency missing because of the lock file?", None),
        ("```\nRoot cause: in a fence\n```", None),
        ("The dependency will be resolved.", None),
    ],
)
def test_a_message_tells_the_cause_of_an_error(message, cause):
    assert cause_in(message, "`npm ci` fails: unable to resolve dependency tree") == cause
