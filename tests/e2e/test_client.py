"""What ademem relies on in Claude Code itself; no product takes part."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from .script import bash, delegate, helper, model, person, write
from .scripted_model import SUMMARY
from .session import Session
from .world import World, opened

pytestmark = [pytest.mark.e2e, pytest.mark.contract]


def deny(reason: str) -> str:
    return answer("PreToolUse", permissionDecision="deny", permissionDecisionReason=reason)


def answer(event: str, **fields: str) -> str:
    return json.dumps({"hookSpecificOutput": {"hookEventName": event, **fields}})


def hook(world: World, event: str, command: str, matcher: str = "") -> None:
    """Let the client run a shell command on an event."""
    file = world.project / ".claude/settings.json"
    settings = json.loads(file.read_text()) if file.exists() else {"hooks": {}}
    handler = {"matcher": matcher, "hooks": [{"type": "command", "command": command}]}
    settings["hooks"].setdefault(event, []).append(handler)
    world.write(".claude/settings.json", json.dumps(settings))


def listen(world: World, event: str, matcher: str = "") -> Path:
    """Keep the payloads of an event, one a line."""
    log = world.root / "payloads"
    hook(world, event, f"cat >> {log}; echo >> {log}", matcher)
    return log


def heard(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if line]


def say(text: str) -> str:
    return f"printf '%s' {shlex.quote(text)}"


def in_order(text: str, *parts: str) -> bool:
    places = [text.find(part) for part in parts]
    return places[0] >= 0 and places == sorted(places)


def test_a_payload_names_the_agent_before_the_tool_and_a_subagent_sees_its_own_context(
    world: World,
) -> None:
    log = listen(world, "PreToolUse", matcher="Bash")
    hook(world, "SessionStart", say("for the session"))
    told = answer("SubagentStart", additionalContext="for the subagent")
    hook(world, "SubagentStart", say(told))
    session = world.chat(
        person("go"),
        model(bash("echo main")),
        model(delegate("help")),
        helper(bash("echo helper")),
        helper("helped"),
        model("done"),
    )
    main, delegated = heard(log)

    assert main.startswith('{"session_id":"')
    assert '"agent_id"' not in main
    assert in_order(main, '"prompt_id":"', '"tool_name":"', '"tool_input":{', '"tool_use_id":"')
    assert in_order(delegated, '"prompt_id":"', '"agent_id":"', '"tool_name":"', '"tool_input":{')
    assert "for the subagent" in session.helper_requests[0].text
    assert "for the session" not in session.helper_requests[0].text


NO_VERDICTS = {
    "exit 1": "exit 1",
    "killed": "kill -9 $$",
    "a line before the verdict": "echo checking; " + say(deny("no")),
    "a line after the verdict": say(deny("no")) + "; echo; echo checked",
    "two verdicts in one answer": say(deny("no") + deny("no")),
    "another event's name": say(answer("Stop", permissionDecision="deny")),
    "a verdict of no event": say('{"permissionDecision": "deny"}'),
}
"""Shell commands, by what they print or how they end."""


@dataclass(frozen=True)
class Answered:
    """A session whose calls got verdicts of every kind, after two contexts at its start."""

    world: World
    session: Session


@pytest.fixture(scope="module")
def answered(claude: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answered]:
    with opened(claude, tmp_path_factory.mktemp("answered")) as world:
        for units, end in ((10_000, " the end"), (10_001, " a later end")):
            text = "é" * (units - len(end)) + end
            hook(world, "SessionStart", say(answer("SessionStart", additionalContext=text)))
        cases = [f"*verdict-{number}.txt*) {NO_VERDICTS[name]};;" for number, name in numbered()]
        cases.append(f"*) {say(deny('look first'))};;")
        hook(world, "PreToolUse", f"case $(cat) in {' '.join(cases)} esac", matcher="Write")
        writes = [write(world.project / f"verdict-{number}.txt") for number, _ in numbered()]
        first = write(world.project / "a.txt")
        calls = (first, bash("echo sibling"), *writes)
        yield Answered(world, world.chat(person("go"), model(*calls), model("done")))


def test_one_clean_denial_stops_the_tool_and_gives_its_reason_and_nothing_else_does(
    answered: Answered,
) -> None:
    project = answered.world.project
    denied, sibling, *_ = answered.session.requests[1].results
    stopped = [
        name for number, name in numbered() if not (project / f"verdict-{number}.txt").exists()
    ]

    assert denied.is_error
    assert denied.text.endswith("look first")
    assert not (project / "a.txt").exists()
    assert (sibling.text, sibling.is_error) == ("sibling", False)
    assert stopped == []


def numbered() -> list[tuple[int, str]]:
    return list(enumerate(NO_VERDICTS))


def test_compaction_forgets_every_context_and_starts_the_session_again(world: World) -> None:
    log = listen(world, "SessionStart")
    hook(world, "SessionStart", say("said at the start"), matcher="startup")
    hook(world, "SessionStart", say("said again"), matcher="compact")
    session = world.chat(
        person("go"),
        model(bash("echo something to sum up")),
        model("done"),
        person("/compact"),
        person("on"),
        model("done"),
    )
    before, after = session.requests[0].text, session.requests[-1].text

    assert [json.loads(payload)["source"] for payload in heard(log)] == ["startup", "compact"]
    assert (before.count("said at the start"), before.count("said again")) == (1, 0)
    assert (after.count("said at the start"), after.count("said again")) == (0, 1)
    assert SUMMARY in after


def test_a_context_beyond_ten_thousand_units_is_cut(answered: Answered) -> None:
    start = answered.session.requests[0].text

    assert " the end" in start
    assert " a later end" not in start


def test_a_finished_background_agent_speaks_as_if_it_were_a_prompt(world: World) -> None:
    log = listen(world, "UserPromptSubmit")
    world.chat(
        person("go"),
        model(delegate("look around", background=True)),
        model("waiting"),
        helper("nothing", late=True),
        model("done"),
    )
    typed, reported = (json.loads(payload)["prompt"] for payload in heard(log))

    assert typed == "go"
    assert reported.startswith("<task-notification>")
