"""What the code, its history or its tools can tell again, and lessons that only look like it."""

from __future__ import annotations

import pytest

from ademem.capture.gate.form import Insert, Reject
from ademem.core.memory import Draft, Origin, Trust
from tests.capture.gate.lookup import judged

LESSONS = {
    "status is a noun": "Status codes from the billing API are always 200, read the body instead",
    "fixed is an adjective": "Fixed-point arithmetic is required in the ledger",
    "fixed window": "Fixed window rate limiting resets at the minute border",
    "changed is an adjective": "Changed files must go through codegen before a commit",
    "updated is an adjective": "Updated dependencies must be pinned",
    "progress is a noun": "Progress events arrive out of order when the socket reconnects",
    "summary is a noun": "Summary tables are rebuilt nightly by cron",
    "index is a noun": "index rebuilds must run after the nightly import",
    "a number is not a hash": "- 1234567 rows is the hard limit of the export",
    "a word is not a hash": "feedface is the magic header of the cache files",
    "commit is a noun": "commit messages start with the ticket",
    "author is a field": "Author: is a required field of the front matter",
    "a reason is given": "We moved to Postgres because SQLite locked under our load",
    "an error explained": "TimeoutError: means the proxy hung up, not the database",
    "front matter": "---\nname: x\n---\nSkills need a front matter with a name",
    "bullets": "Deploy rules:\n- two approvals\n- one of them from ops\n+ a green pipeline",
    "a decision and its files": (
        "Decision: keep the schema here:\nschema/users.sql\nschema/orders.sql\nschema/items.sql"
    ),
    "a fenced snippet": (
        "Call init before the first query, or the pool is empty:\n"
        "```python\npool.init()\npool.query('select 1')\nassert pool.size\nprint(pool)\n```"
    ),
    "a fenced diff": (
        "Since 2.0 the flag has to come first, as this change shows:\n"
        "```diff\ndiff --git a/run.sh b/run.sh\n@@ -1,1 +1,1 @@\n-run x -f\n+run -f x\n```"
    ),
    "one path": "src/gate.py",
    "CJK with paths": "数据库文件不能放在网络共享上，否则会损坏\nsrc/a.py\nsrc/b.py\nsrc/c.py",
}

DERIVABLE = {
    "a person's report": "I fixed the bug by adding a null check",
    "a recap": "Session recap: wrote the parser, tests pass",
    "a recap in bullets": "## Session summary\n- wrote the parser\n- the suite is green",
    "what was fixed": "Fixed the login redirect",
    "what was fixed, without article": "Fixed login bug in auth.ts",
    "what was updated": "Updated README and bumped the version",
    "what was implemented": "Implemented retry logic in the client",
    "what is going on": "Working on the parser",
    "how far it is": "Progress: 3 of 5 tasks done",
    "what comes next": "Next steps: wire the parser to the command line",
    "a trace of one frame": "TypeError: Cannot read properties of null\n    at run (app.js:10:5)",
    "a Python trace": (
        "Traceback (most recent call last):\n"
        '  File "/srv/app.py", line 3, in run\n    go()\nValueError: bad'
    ),
    "a Java trace": (
        'Exception in thread "main" java.lang.NullPointerException\n'
        "\tat com.acme.Shop.open(Shop.java:12)\n\tat com.acme.Main.main(Main.java:3)"
    ),
    "errors in lower case": "error: cannot find module 'x'\nerror: aborting due to 1 error",
    "a compiler's error": "src/main.c:12:5: error: expected ';' before '}' token",
    "a log": "2026-01-05 10:00:00 INFO start\n2026-01-05 10:00:01 ERROR failed",
    "a test run": "FAILED tests/test_a.py::test_x - assert 1 == 2\n=== 1 failed in 0.2s ===",
    "a diff": (
        "diff --git a/x.py b/x.py\nindex 1a2b3c4..2b3c4d5 100644\n--- a/x.py\n+++ b/x.py\n"
        "@@ -1,2 +1,2 @@\n-old\n+new\n same"
    ),
    "a diff behind prose": (
        "The flag has to come first since version two, and this is how we changed the script "
        "that everybody runs in the morning\n"
        "diff --git a/run.sh b/run.sh\n@@ -1,1 +1,1 @@\n-run x -f\n+run -f x"
    ),
    "a fence and nothing else": "```python\nimport os\nprint(os.name)\n```",
    "a fence under a heading": "Here is the diff:\n```diff\n-old\n+new\n```",
    "an entry of git log": (
        "commit 1a2b3c4d5e6f7a8b9c0d1a2b3c4d5e6f7a8b9c0d (HEAD -> main)\n"
        "Author: Ada <ada@example.org>\nDate:   Mon Jan 5 10:00:00 2026 +0100\n\n"
        "    Parse dates of every kind that people type into the form"
    ),
    "git log in lines": "1a2b3c4 Parse dates\n2b3c4d5 Add a form\n3c4d5e6 Bump version",
    "paths": "src/a.py\nsrc/b.py:12\n./docs/index.md",
    "paths under a heading": "Changed files:\nsrc/a.py\nsrc/b.py\nsrc/c.py",
    "git status": "M src/a.py\nM src/b.py\n?? src/c.py",
    "a tree": "src/\n├── a.py\n├── b.py\n└── c.py",
}


@pytest.mark.parametrize("strict", [False, True], ids=["default", "strict"])
@pytest.mark.parametrize("content", LESSONS.values(), ids=LESSONS)
def test_a_lesson_passes(content, strict):
    verdict = judged(Draft(content=content, category="decision", strict=strict)).verdict

    assert isinstance(verdict, Insert), verdict.why


@pytest.mark.parametrize("content", DERIVABLE.values(), ids=DERIVABLE)
def test_what_can_be_looked_up_again_is_refused(content):
    outcome = judged(Draft(content=content))

    assert outcome.rule == "code_derivable"
    assert isinstance(outcome.verdict, Reject)
    assert "write the lesson, not the log" in outcome.verdict.why


MIXED = (
    "The importer stops at the first bad line and throws away the rest of the file\n"
    "1a2b3c4 Parse dates\n2b3c4d5 Parse dates again"
)


@pytest.mark.parametrize(
    ("strict", "rule"),
    [
        pytest.param(False, "insert", id="default"),
        pytest.param(True, "code_derivable", id="strict"),
    ],
)
def test_strict_mode_needs_less_evidence(strict, rule):
    assert judged(Draft(content=MIXED, category="gotcha", strict=strict)).rule == rule


@pytest.mark.parametrize("category", ["episode", "procedure", "digest", "handoff"])
def test_a_record_may_report(category):
    draft = Draft(content=DERIVABLE["what was fixed"], category=category)

    assert isinstance(judged(draft).verdict, Insert)


def test_an_import_is_not_asked_where_it_comes_from():
    origin = Origin(trust=Trust.IMPORT, source_type="import")

    verdict = judged(Draft(content=DERIVABLE["what was fixed"], origin=origin)).verdict

    assert isinstance(verdict, Insert)


@pytest.mark.parametrize(
    "content",
    [
        "ModuleNotFoundError: No module named 'fastdtw' is solved by installing the science group",
        "Error: something broke in prod today",
    ],
)
def test_one_line_that_a_person_said_is_kept_as_it_is(content):
    said = Draft(content=content, origin=Origin(trust=Trust.USER, source_type="user"))

    assert isinstance(judged(said).verdict, Insert)
    assert isinstance(judged(Draft(content=f"{content}\n{content}")).verdict, Reject)
