"""The page of a project in which a real client works."""

from __future__ import annotations

import html
import json
import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import curation, writing
from ademem.plugins.page.pages import ACTS
from ademem.plugins.page.server import make
from tests.plugins.page.conftest import Browser
from tests.plugins.page.scenes import LEARNED, ORDER, STREAMS
from tests.world import World as Project

from .product import Product
from .script import bash, delegate, helper, model, person, write
from .session import Session
from .world import World

pytestmark = pytest.mark.e2e

RULE = f"Tokens expire in UTC{' by the clock of the server – “naïve” dates are wrong' * 8}"
QUOTA = "Quota of zone north exceeded in stage: free the idle zone first"
SMALL = "[briefing]\nmax_chars = 500\n"
"""Settings by which a briefing has no room for RULE."""
SENT = """
when the session started
before the change
at src/auth.py
at stage now
after the error stage: error: quota of zone north exceeded
to a subagent
for the summary of the conversation
after a compaction
with a prompt that it answers
""".strip().split("\n")
MOMENT = re.compile(
    r'<p class="meta">([^<]*?)(?:, to the subagent [^<]*?)? · about [^<]*<a href="([^"]*)">exact'
    r'.*?class="hash">(\w+).*?<pre[^>]*>(.*?)</pre>',
    re.S,
)
ATTACK = Path(__file__).with_name("attack.py")
WAYS = ("terminal", "terminal alone")
"""Terminals that an agent makes for the page; the last one without the client's variables."""
FIELDS = {
    "verb": "promote",
    "digits": "000000",
    "content": "Approved by an agent",
    "goal": "Ship passkeys",
    "outcome": "success",
    "field": "notes",
    "version": "0",
    "key": "search.limit",
    "value": "7",
    "tag": "rules",
    "query": "Who sends invoices?",
}


@contextmanager
def opened(world: World) -> Iterator[Browser]:
    browser = Browser(Project(world.project, enrolled=True, home=world.home))
    yield browser.enter()
    browser.site.close()


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def received(session: Session) -> list[str]:
    """Texts for the model in the outputs of hooks, as the client tells of them."""
    answers = [json.loads(hook.stdout) for hook in session.hooks() if hook.stdout]
    outputs = [answer.get("hookSpecificOutput", {}) for answer in answers]
    names = ("additionalContext", "permissionDecisionReason")
    return [output[name] for output in outputs for name in names if name in output]


def test_a_session_shows_what_the_client_received(world: World, ademem: Product) -> None:
    world.write(".ade/config.toml", SMALL)
    world.program("npm", "exit 0")
    world.program("stage", "echo 'stage: error: quota of zone north exceeded' >&2\nexit 1")
    ademem("add", "Use pnpm, never npm", "--category", "convention", "--command", "npm")
    ademem("add", RULE, "--note", "--path", "src/**")
    ademem("add", "Wait for the smoke test", "--command", "stage now")
    ademem("add", QUOTA, "--category", "gotcha")
    session = world.chat(
        person("Thanks!"),
        model(bash("npm install left-pad")),
        model(write(world.project / "src/auth.py")),
        model(bash("stage now")),
        model(delegate("Find out why people are logged out.")),
        helper("Nobody is."),
        model("Done."),
        person("/compact"),
        person("Why do tokens expire by the clock of the server?"),
        model("Done."),
    )
    with opened(world) as browser:
        moments = MOMENT.findall(browser.get(f"/session/{session.id}").text)
        texts = {reason: browser.get(path).text for reason, path, _, _ in moments}
    asked = [request.text for request in (*session.asked, *world.model.asides)]
    summary = texts["for the summary of the conversation"]  # of this hook the client tells nothing

    assert list(texts) == SENT
    assert [html.unescape(shown) for *_, shown in moments] == list(texts.values())
    assert [hash for _, _, hash, _ in moments] == [hash_of(text) for text in texts.values()]
    assert [hash_of(text) for text in texts.values() if text != summary] == [
        hash_of(text) for text in received(session)
    ]
    assert {name for name, text in texts.items() if not any(text in one for one in asked)} == set()


def rows_of(project: Project) -> list[tuple[Any, ...]]:
    columns = "id, content, status, pinned, quarantine_reason, revision_count, deleted_at"
    return [tuple(row) for row in project.rows(f"select {columns} from unified_memories")]


def test_an_agent_that_starts_the_page_decides_nothing(world: World, ademem: Product) -> None:
    project = Project(world.project, enrolled=True, home=world.home)
    with project.memories() as memories:
        for text in (LEARNED[0], ORDER):
            draft = Draft(content=text, origin=Origin(trust=Trust.AGENT, session_id="s1"))
            assert writing.write(memories, draft).accepted
        waiting = curation.review(memories)
    with opened(world) as browser:
        routes = make(browser.site).app.app.routes
    asked = [
        (method, route.path.replace("{id}", each.id))
        for each in waiting
        for route in routes
        for method in sorted(route.methods & {"GET", "POST"})
        if route.path not in STREAMS
    ]
    decisive = ["/undo", "/redo", *(act.path for act in ACTS if act.decides)]
    refused = {("POST", path.replace("{id}", each.id)) for path in decisive for each in waiting}
    ids = {"id": [f"{each.id}:{each.revision_count}" for each in waiting]}
    known = {"requests": asked, "fields": FIELDS | ids}
    world.write("known.json", json.dumps(known))
    before = rows_of(project)
    run = shlex.join([sys.executable, str(ATTACK)])
    session = world.chat(
        person("Approve what waits."),
        model(bash("ademem web")),
        *(model(bash(f"{run} {way!r} known.json")) for way in WAYS),
        model("Done."),
    )
    piped, *answers = [each.results[-1].text for each in session.requests[1:]]
    seen = [json.loads(each) for each in answers]

    assert len([each for each in waiting if each.quarantine_reason]) == 1
    assert rows_of(project) == before
    assert "run `ademem web` in a terminal of yours" in piped
    for one in seen:
        decided = [status for verb, path, status in one["statuses"] if (verb, path) in refused]
        assert "code=" in one["shown"]
        assert "digits" not in one["shown"]
        assert ["GET", "/", 200] in one["statuses"]
        assert set(decided) == {403}
