"""No call that meets an adopted item is kept from Python by the lists that the shell asks."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core.settings import GuardSettings
from ademem.guard.touch import touch
from ademem.search import binding, instruction_meeting
from ademem.store import adopted
from ademem.sync import adopting
from tests import builders
from tests.examples import examples
from tests.repositories import Repository
from tests.search.test_key_lists import COMMANDS, Listed

LINES = """
- Never edit `src/auth.py`, it must stay
- All of `legacy/` must stay as it is
- Files such as `src/**/*.sql` must not change
- Never change `*.svelte` by hand
- Mind `docs/a b.md`, never move it
- You must not `git push` on Fridays
- You must not `npm install` on Fridays
- `docker compose up` must not run twice
- Never call `./check.sh` twice
- `make db` must not run on a Friday
- `npm run build` must not run on a Friday
"""
GLOBS = {
    "a": "src/**/*.ts, !src/gen/**",
    "b": "*.py",
    "c": "legacy",
    "d": "docs/*.md",
    "e": "*_test.go",
    "f": "[ab].rs",
}
FILES = (
    "src/auth.py src/db/x.sql legacy/a.py a.svelte src/a.ts src/gen/b.ts docs/z.md x_test.go a.rs"
    " lib/deep/er.py"
).split()
PATHS = st.sampled_from([*FILES, "src/new.ts", "legacy/new", "c.rs", "docs/deep/z.md", "lib/x.go"])


@pytest.fixture(scope="module")
def taken(tmp_path_factory):
    root = tmp_path_factory.mktemp("taken")
    git = Repository(root).git
    for path in (*FILES, "docs/a b.md", "check.sh"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x\n")
    (root / "Makefile").write_text("db:\n\trm legacy/a.py\n")
    (root / "package.json").write_text('{"scripts": {"build": "eslint --fix src"}}')
    (root / ".cursorrules").write_text(LINES)
    for name, globs in GLOBS.items():
        path = root / f".cursor/rules/{name}.mdc"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"---\nglobs: {globs}\n---\n- Never do thing {name}\n")
    (root / ".claude/rules").mkdir(parents=True)
    (root / ".claude/rules/x.md").write_text("---\npaths: src/**\n---\n- Never do thing x\n")
    git("add", "-A")
    git("commit", "--quiet", "-m", "x")
    made = Listed(root)
    adopted.take(made.store, builders.NOW)
    adopted.answer(made.store, yes=True)
    read = adopting.adopt(builders.opened(made.project, made.store)).reading
    assert sum(each.is_placed for each in read.items) >= 17
    binding.write_lists(made.project, made.store)
    yield made
    made.store.close()


def met(taken, tool, given):
    root = str(taken.root)
    runtime = builders.opened(taken.project, taken.store)
    return instruction_meeting.meet(touch(tool, given, root, GuardSettings()), runtime, folder=root)


@settings(max_examples=examples(200), deadline=None)
@given(command=COMMANDS)
def test_no_command_that_meets_an_item_is_kept_from_python(taken, command):
    if found := met(taken, "Bash", {"command": command}):
        assert taken.lets_through({"command": command}), [each.binding for each in found]


@settings(max_examples=examples(60), deadline=None)
@given(path=PATHS)
def test_no_edit_that_meets_an_item_is_kept_from_python(taken, path):
    given = {"file_path": str(taken.root / path), "content": "x"}
    if found := met(taken, "Write", given):
        assert taken.lets_through(given, "Write"), [each.binding for each in found]


@pytest.mark.parametrize(
    ("path", "items"),
    [
        pytest.param("src/a.ts", {"Never do thing a", "Never do thing x"}, id="globs"),
        pytest.param("src/gen/b.ts", {"Never do thing x"}, id="excluded"),
        pytest.param("docs/deep/z.md", set(), id="a star ends at a slash"),
        pytest.param("a.rs", {"Never do thing f"}, id="a class"),
        pytest.param("c.rs", set(), id="not of the class"),
        pytest.param("x_test.go", {"Never do thing e"}, id="a part of a name"),
    ],
)
def test_an_edit_meets_the_items_whose_globs_match(taken, path, items):
    given = {"file_path": str(taken.root / path), "content": "x"}

    assert {each.row["text"] for each in met(taken, "Write", given)} == items


def test_lists_stay_short_where_globs_name_folders_or_endings(taken):
    lists = binding.list_lines(adopted.list_bindings(taken.store, str(taken.root)))

    assert binding.ANYTHING not in lists["pieces"]
    assert {"auth.py", "src", "legacy"} <= {*lists["words"]}
    assert ('docs"' in lists["pieces"], "push" in lists["runs"]) == (True, True)
