"""A project with its page in windows of a real browser; without one, a module skips its tests."""

import json
import os
import shutil
import threading
from pathlib import Path

import pytest

from ademem.core.memory import Draft, Origin, Trust
from ademem.operations import writing
from ademem.plugins.http.loopback import bind
from ademem.plugins.page.server import Site, make
from tests.plugins.page.conftest import QuietServer

AXE = Path(os.environ.get("ADEMEM_AXE_DIR", ""), "node_modules/axe-core/axe.min.js")
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or ""
"""The shell is the engine without the windows around its pages, which take most of the time."""
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]

player = pytest.importorskip("playwright.sync_api")
expect = player.expect
if not (CHROMIUM and AXE.is_file()):
    pytest.skip("needs chromium, and axe-core in ADEMEM_AXE_DIR", allow_module_level=True)

# htmx tells of a request that the page itself gave up, for a newer one, as of a failure; of one
# that the network failed it writes htmx:sendError besides.
GIVEN_UP = ("htmx:afterRequest", "htmx:sendAbort")

CANDIDATES = """
Invoices are sent by the night job
Images are resized by the worker
Refunds are booked on the next working day
The staging server restarts in the morning
Passwords are hashed with argon2
Currency rates come from the feed of a bank
The search index is rebuilt every Sunday
Logs are kept for ninety days
""".strip().split("\n")


class Shown:
    """A project with its page, in a window."""

    def __init__(self, world, chromium):
        self.world, self.chromium = world, chromium
        self.listener = bind(0)
        self.port = self.listener.getsockname()[1]
        environment = {
            name: value for name, value in world.environment.items() if name[:6] != "CLAUDE"
        }
        self.site = Site([str(world.root)], environment, port=self.port, now=lambda: world.now)
        self.server = QuietServer(make(self.site), 600, lifespan="off")
        self.site.is_ending = lambda: self.server.should_exit
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()
        self.problems = []

    def window(self, path="/", **options):
        context = self.chromium.new_context(**options)
        page = context.new_page()
        page.on("console", lambda line: self._note(line.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self._check(request.url))
        page.goto(f"http://127.0.0.1:{self.port}/enter?code={self.site.entry.new_code()}")
        self.go(page, path)
        return page

    def go(self, page, path):
        page.goto(f"http://127.0.0.1:{self.port}{path}")

    def _note(self, line):
        if not line.startswith(GIVEN_UP):
            self.problems.append(line)

    def _check(self, url):
        if not url.startswith((f"http://127.0.0.1:{self.port}/", "data:")):
            self.problems.append(f"a request left for {url}")

    def close(self):
        self.server.should_exit = True
        self.thread.join()
        self.site.close()

    def learn(self, *texts):
        with self.world.memories() as memories:
            for text in texts:
                origin = Origin(trust=Trust.AGENT, session_id="s1")
                assert writing.write(memories, Draft(content=text, origin=origin)).accepted

    def statuses(self):
        rows = self.world.rows("select content, status from unified_memories")
        return {row[0]: row[1] for row in rows}


def find_violations(page):
    """Run axe in a world of its own, so that the policy of the page stays in force."""
    devtools, source = getattr(page, "devtools", None), AXE.read_text()
    first = devtools is None
    if first:  # later pages of this window get axe with their document, which is sent once
        devtools = page.devtools = page.context.new_cdp_session(page)
        devtools.send("Page.enable")
        script = {"source": source, "worldName": "axe"}
        devtools.send("Page.addScriptToEvaluateOnNewDocument", script)
    frame = devtools.send("Page.getFrameTree")["frameTree"]["frame"]["id"]
    world = {"frameId": frame, "worldName": "axe"}
    context = devtools.send("Page.createIsolatedWorld", world)["executionContextId"]
    where = {"contextId": context, "returnByValue": True, "awaitPromise": True}
    if first:
        devtools.send("Runtime.evaluate", {"expression": source, **where})
    rules = json.dumps({"runOnly": TAGS, "resultTypes": ["violations"]})
    run = f"axe.run(document, {rules}).then(found => JSON.stringify(found.violations))"
    found = devtools.send("Runtime.evaluate", {"expression": run, **where})
    return [
        f"{each['id']}: {node['html'][:120]}"
        for each in json.loads(found["result"]["value"])
        for node in each["nodes"]
    ]
