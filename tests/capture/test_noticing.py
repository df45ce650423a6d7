"""Learnings in final messages, dictated memories, and errors."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ademem.capture import TITLE_PARTS, errors, may_have_learnings
from ademem.capture.errors import essential, fingerprint, lesson
from ademem.capture.learned import marked_lessons
from ademem.capture.message_lessons import TITLES, learnings
from ademem.capture.prompt_lessons import dictations

ITEM = "The cache must be cleared before the migration"
RULE = "tabs are forbidden"


@pytest.mark.parametrize(
    "heading",
    [
        "# Key Learnings",
        "## Key Learnings",
        "### Key Learning:",
        "#### Learnings",
        "###### Lessons Learned",
        "**Key Takeaways**",
        "**Lessons learned:**",
        "## Aprendizajes clave",
        "## Lecciones aprendidas",
    ],
)
def test_a_learnings_section_is_found_under_any_heading(heading):
    assert learnings(f"Done.\n\n{heading}\n\n- {ITEM}\n") == [ITEM]
    assert may_have_learnings(f"Done.\n\n{heading}\n\n- {ITEM}\n")


@pytest.mark.parametrize("title", TITLES)
def test_every_title_of_learnings_has_a_part_by_which_a_message_is_read_at_all(title):
    assert any(part in title for part in TITLE_PARTS)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(f"## Summary\n- {ITEM}", [], id="another section"),
        pytest.param(
            f"## Learnings\n- {ITEM}\n## Next\n- Something else entirely here",
            [ITEM],
            id="ends at the next heading",
        ),
        pytest.param(
            f"## Learnings\n- an older thing that was learned\n## Learnings\n- {ITEM}",
            [ITEM],
            id="the last one wins",
        ),
        pytest.param(
            f"## Learnings\n- {ITEM}\n## Learnings\nnone\n",
            [ITEM],
            id="the last one with items wins",
        ),
        pytest.param(
            f"## Learnings\n- a bullet that is long enough too\n1. {ITEM}",
            [ITEM],
            id="numbered wins over bullets",
        ),
        pytest.param("## Learnings\n- too short\n- four words are ok", [], id="too short to teach"),
        pytest.param(f"## Learnings\n```\n- {ITEM}\n```\n", [], id="fenced code"),
        pytest.param(
            f"## Learnings\n- **The cache** must be `cleared` before the migration\n- {ITEM}",
            [ITEM],
            id="emphasis and duplicates",
        ),
        pytest.param(
            "## Learnings\n- 迁移之前必须先清空缓存目录",
            ["迁移之前必须先清空缓存目录"],
            id="chinese",
        ),
        pytest.param(
            f"## Learnings\n<ademem-memory>\n- {ITEM}\n</ademem-memory>\n",
            [],
            id="what we had shown ourselves",
        ),
        pytest.param(
            f"## Learnings\n- [fact] {ITEM} (0123456789ab, user, 2026-01-02)\n",
            [],
            id="a copied entry of ours",
        ),
    ],
)
def test_what_a_section_teaches(message, expected):
    assert learnings(message) == expected


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        pytest.param("remember: tabs are forbidden", [RULE], id="remember:"),
        pytest.param("\n\n  Remember :  tabs are forbidden", [RULE], id="below blank lines"),
        pytest.param("Remember that tabs are forbidden", [], id="remember that"),
        pytest.param("please remember: tabs are forbidden", [], id="not the first word"),
        pytest.param("remember: use uv", ["use uv"], id="two short words"),
        pytest.param("remember: this", [], id="one short word"),
        pytest.param("Remember to run it", [], id="remember to"),
        pytest.param("remember:", [], id="remember, and nothing else"),
        pytest.param("note for the future: tabs are forbidden", [], id="note for the future"),
        pytest.param("Fix it.\nremember: tabs are forbidden", [], id="behind another line"),
        pytest.param("Fix it. remember: tabs are forbidden", [], id="behind another sentence"),
        pytest.param("> remember: tabs are forbidden", [], id="in a quote"),
        pytest.param('"remember: tabs are forbidden"', [], id="in quotation marks"),
        pytest.param("```\nremember: tabs are forbidden\n```", [], id="in a fence"),
        pytest.param("    > x\n    remember: tabs are forbidden", [], id="in indented lines"),
        pytest.param(
            "remember: tabs are forbidden\nremember: never touch v1",
            [RULE, "never touch v1"],
            id="on two lines",
        ),
        pytest.param(
            "remember: tabs are forbidden\n```\nremember: never touch v1\n```",
            [RULE],
            id="then a fence",
        ),
        pytest.param(
            "remember: tabs are forbidden\nthe log says:\nremember: never touch v1",
            [RULE],
            id="then another line",
        ),
        pytest.param(
            "remember: tabs are forbidden\n\nremember: never touch v1", [RULE], id="then a gap"
        ),
        pytest.param(
            "remember: tabs are forbidden here?\nremember: never touch v1",
            ["never touch v1"],
            id="below a question",
        ),
        pytest.param(
            "remember:\n- tabs are forbidden\n- never touch v1\n\nthanks",
            [RULE, "never touch v1"],
            id="a list",
        ),
        pytest.param(
            "remember: a release has two steps:\n1. build it\n2. push it\n\nthanks",
            ["a release has two steps:\n- build it\n- push it"],
            id="a sentence that a list ends",
        ),
        pytest.param(
            "remember: the migrations of billing run before those of the shop, as the\nshop reads "
            "its tables of accounts and of invoices at every start of a\nworker\nFix it now",
            [
                "the migrations of billing run before those of the shop, as the shop reads its "
                "tables of accounts and of invoices at every start of a worker"
            ],
            id="wrapped by an editor",
        ),
        pytest.param(
            "remember: the migrations of billing run before those of the shop.\nthen fix the test",
            ["the migrations of billing run before those of the shop."],
            id="a line that ends a sentence",
        ),
        pytest.param(
            "remember: the deploys of billing are announced in the channel ops\nnow fix it",
            ["the deploys of billing are announced in the channel ops"],
            id="a line with room for the next word",
        ),
        pytest.param("merke: keine Tabs im Code", ["keine Tabs im Code"], id="german"),
        pytest.param("Merk dir: keine Tabs im Code", ["keine Tabs im Code"], id="german, to you"),
        pytest.param("Merke dir, dass Tabs verboten sind", [], id="german that"),
        pytest.param(
            "Denk dran: nie auf main pushen", ["nie auf main pushen"], id="german reminder"
        ),
        pytest.param("Recuerda: usa pnpm", ["usa pnpm"], id="spanish"),
        pytest.param("souviens-toi : pas de tabs", ["pas de tabs"], id="french"),
        pytest.param("Ricorda: niente tab", ["niente tab"], id="italian"),
        pytest.param("Lembre-se: nada de tabs", ["nada de tabs"], id="portuguese"),
        pytest.param("记住：使用 pnpm", ["使用 pnpm"], id="chinese"),
        pytest.param("記住:不要用制表符", ["不要用制表符"], id="chinese, traditional"),
        pytest.param("覚えて：タブは禁止", ["タブは禁止"], id="japanese"),
        pytest.param("Запомни: без табов", ["без табов"], id="russian"),
        pytest.param("기억해: 탭은 금지입니다", ["탭은 금지입니다"], id="korean"),
        pytest.param(
            "\u1100\u1175\u110b\u1165\u11a8\u1112\u1162: 탭은 금지입니다",
            ["탭은 금지입니다"],
            id="korean, in parts",
        ),
        pytest.param("Onthoud: geen tabs", ["geen tabs"], id="dutch"),
        pytest.param("Zapamiętaj: żadnych tabulatorów", ["żadnych tabulatorów"], id="polish"),
        pytest.param(
            "remember\uff1ause pnpm: always", ["use pnpm: always"], id="a full-width colon"
        ),
        pytest.param("记住：好吗？", [], id="a question in chinese"),
        pytest.param("denk daran, dass main rot ist?", [], id="german question"),
        pytest.param("Merk dir das", [], id="german, and nothing else"),
        pytest.param("do you remember: the parser?", [], id="a question"),
        pytest.param("remember that thing we discussed?", [], id="remember that …?"),
        pytest.param("I remember that it was slow", [], id="I remember"),
        pytest.param("remember when it was slow", [], id="remember when"),
        pytest.param("Add a remember me checkbox", [], id="in mid-sentence"),
    ],
)
def test_only_what_is_plainly_dictated_is_kept(prompt, expected):
    assert dictations(prompt) == expected


SAME = [
    "Exit code 1\nTraceback\n  File \"/home/a/x.py\", line 3\nKeyError: 'alpha'",
    "Exit code 1\nTraceback\n  File \"/srv/b/x.py\", line 99\nKeyError: 'beta'",
    "Exit code 1\nTraceback\n  File \"x.py\", line 1\nKeyError: 'g'",
]


def test_the_same_failure_has_one_fingerprint():
    assert len({fingerprint(error) for error in SAME}) == 1
    assert fingerprint("TypeError: x") != fingerprint("KeyError: x")


NPM = """npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree
npm error Found: react@17.0.2
npm error
npm error A complete log of this run can be found in: /home/a/.npm/_logs/1.log"""
MAKE = """psql: error: connection to server failed: role "app" does not exist
make: *** [Makefile:12: db] Error 2"""


@pytest.mark.parametrize(
    ("error", "line"),
    [
        pytest.param(NPM, "npm error ERESOLVE unable to resolve dependency tree", id="npm"),
        pytest.param(
            MAKE, 'psql: error: connection to server failed: role "app" does not exist', id="make"
        ),
        pytest.param(
            "make: *** No rule to make target 'x'. Stop.",
            "make: *** No rule to make target 'x'. Stop.",
            id="make alone",
        ),
        pytest.param(
            "npm error code E404\nnpm error A complete log of this run", "npm error code E404"
        ),
    ],
)
def test_the_line_that_matters_is_no_summary(error, line):
    assert essential(f"Exit code 1\n{error}") == line


@pytest.mark.parametrize(
    "error",
    [
        pytest.param("Exit code 1", id="nothing but an exit code"),
        pytest.param("The user doesn't want to proceed with this tool use", id="refused"),
        pytest.param("app.py:7: error: Incompatible types", id="a place in the code"),
        pytest.param("NameError: name 'x' is not defined", id="a slip"),
        pytest.param("error[E0425]: cannot find value `x`", id="a compiler's error"),
        pytest.param("Found 3 errors in 2 files", id="a count of errors"),
        pytest.param("3 failed, 2 passed", id="tests"),
        pytest.param("==== 2 failed in 3.4s ====", id="tests with their time"),
        pytest.param("main.zig:12:5: error: expected type", id="a place with a column"),
        pytest.param("Automatic merge failed; fix conflicts and then commit", id="a conflict"),
        pytest.param("nothing to commit, working tree clean", id="nothing to commit"),
        pytest.param("husky - pre-commit hook exited with code 1 (error)", id="a hook of git"),
    ],
)
def test_ordinary_work_is_no_lesson(error):
    assert lesson("Bash", "make", error) is None


def test_a_lesson_names_the_command_and_the_line_that_matters():
    assert (
        lesson("Bash", "npm ci\nnpm test", NPM)
        == "`npm ci` fails: npm error ERESOLVE unable to resolve dependency tree"
    )


@given(st.text(max_size=400))
def test_no_text_does_harm(text):
    learnings(f"## Learnings\n{text}")
    dictations(text)
    bounded = lesson("Bash", text, text) or ""

    assert len(bounded) <= 600
    assert len(fingerprint(text)) == 16


ORDINARY = """
All tests pass now. | I fixed the login bug in `src/auth.py` and added a test.
I've updated the README. Let me know if you want me to commit. | Done.
Here is the plan:\\n1. Read the parser\\n2. Change the lexer\\n3. Run the tests
## Summary\\n- Renamed the button in the settings page\\n- Updated three snapshots
## Changes\\n1. Moved the handler into its own module\\n2. Added a test for it
## Next steps\\n- You may want to run the migration on staging first
The failing test was caused by a stale fixture; regenerating it fixed the problem.
### Files changed\\n- src/app.py: new endpoint\\n- tests/test_app.py: coverage
**Note:** the server must be restarted. | I could not reproduce the crash on my side.
```\\n## Key Learnings\\n- this one is inside of fenced code\\n```
Learnings: none. | ## Learnings\\n\\nNothing to report this time around.
Key learnings are listed in the document you linked above.
## Key Learnings from the paper you sent me\\n- attention is all you need, they say
## What to learn next\\n- read the chapter about lifetimes once more
"""
"""Final messages of an ordinary day, between bars and line ends."""

COMMANDS = """
git status | git commit -m "Fix the login bug" | bd show BD-1 | bd list --status open
bd comment BD-1 "Started on this, will finish tomorrow" | npm test | ls -la
echo "LEARNED: nothing is run here" | grep -rn "LEARNED:" docs | cat notes/LEARNED.md
git log --grep "DECISION:" | bd close BD-1 --reason "LEARNED: closing is not a comment"
git commit -m "Explain what LEARNED: means" | sed -n "/FACT:/p" notes.md | python app.py --fact:x
bd create "PATTERN: look into the adapters" | git tag -m "LEARNED: tags teach nothing" v1
gh issue comment 3 --body "LEARNED: not ours" | printf "GOTCHA: x" > notes.md | make learned:
rg "(DECISION|GOTCHA):" -l | git stash push -m "LEARNED: x" | docker run x "LEARNED: y"
"""


@pytest.mark.parametrize(
    "message", [part for part in ORDINARY.replace("|", "\n").split("\n") if part]
)
def test_an_ordinary_message_teaches_nothing(message):
    assert learnings(message.strip().replace("\\n", "\n")) == []


@pytest.mark.parametrize(
    "command", [part.strip() for line in COMMANDS.strip().split("\n") for part in line.split(" | ")]
)
def test_an_ordinary_command_teaches_nothing(command):
    assert marked_lessons(command, read_file={}.get) == []


def test_a_path_is_looked_at_from_its_start_alone():
    """Else a long one is read to its end once for each folder in it."""
    (path,) = (pattern for pattern, stand_in in errors._VARYING if callable(stand_in))
    text = "error in " + "src/~x/" * 50 + "a.py"

    starts = [at for at in range(len(text)) if path.match(text, at)]
    assert starts == [text.index("src")]
