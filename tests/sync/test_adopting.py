"""Adopted items in step with their files, and whose word a line is."""

import time

import pytest

from ademem.core.settings import AdoptSettings, Settings
from ademem.core.value import replace
from ademem.search import places
from ademem.store import adopted
from ademem.store.adopted import Mark
from ademem.sync import adopting, instruction_state
from tests import builders


class Adopting:
    """A repository whose instruction files are adopted."""

    def __init__(self, repository):
        self.repository = repository
        self.root = repository.root
        self.store = repository.store
        self.settings = Settings()

    @property
    def runtime(self):
        return builders.opened(builders.project(self.root), self.store, self.settings)

    def write(self, text, path="AGENTS.md"):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def commit(self):
        self.repository.git("add", "-A")
        self.repository.git("commit", "--quiet", "--allow-empty", "-m", "x")

    def adopt(self):
        adopted.take(self.store, builders.NOW)
        return adopting.adopt(self.runtime)

    def rows(self):
        return adopted.list_items(self.store, str(self.root))

    def merged(self):
        return {row["text"]: bool(row["merged"]) for row in self.rows()}


@pytest.fixture
def files(repository):
    return Adopting(repository)


def test_a_change_writes_what_differs_alone(files):
    files.write("# A\n- one\n- two\n- three\n")
    files.commit()
    assert files.adopt().added == 3
    again = files.adopt()
    assert (again.added, again.changed, again.removed) == (0, 0, 0)
    files.write("# A\n\n\n- one\n- zwei\n- three\n")
    changed = files.adopt()

    assert (changed.added, changed.changed, changed.removed) == (1, 0, 1)
    assert [row["first"] for row in files.rows()] == [4, 5, 6]


def test_more_items_than_one_statement_adds_are_each_found_by_their_words(files):
    count = adopted.ADDED_AT_ONCE + 2
    files.write("# A\n" + "".join(f"- keep pear{number} ripe\n" for number in range(count)))

    assert files.adopt().added == count
    for number in (0, count - 1):
        (row,) = adopted.find(files.store, str(files.root), f"pear{number}", 9)
        assert row["text"] == f"keep pear{number} ripe"


def test_a_line_that_did_not_change_is_not_parsed_again(files, monkeypatch):
    parsed, parse = [], places.forbidden_in
    monkeypatch.setattr(places, "forbidden_in", lambda text: parsed.append(text) or parse(text))
    first, second = "Never run npm here, use pnpm", "Do not edit src/rates.py by hand"
    files.write(f"- {first}\n", path="CLAUDE.md")
    files.write("", path="src/rates.py")
    files.commit()
    files.adopt()
    files.write(f"- {first}\n- {second}\n", path="CLAUDE.md")
    files.commit()
    files.adopt()

    assert parsed == [first, second]
    assert [row["places"] for row in files.rows()] == ["family:js packages !pnpm", "src/rates.py"]


def test_nothing_is_behind_until_something_changes(files):
    files.write("- one\n")
    files.commit()
    assert not instruction_state.is_behind(files.runtime)  # nothing is adopted
    files.adopt()
    assert not instruction_state.is_behind(files.runtime)
    files.write("- two or more\n")
    assert instruction_state.is_behind(files.runtime)
    files.adopt()
    files.commit()
    assert instruction_state.is_behind(files.runtime)  # now the branch has it
    files.adopt()
    files.write("- other\n", "sub/AGENTS.md")
    files.commit()
    assert instruction_state.is_behind(files.runtime)


def test_a_change_of_the_setting_counts(files):
    files.write("- one\n")
    files.commit()
    files.adopt()
    files.settings = replace(files.settings, adopt=AdoptSettings(files=("off",)))

    assert instruction_state.is_behind(files.runtime)
    files.adopt()
    assert files.rows() == []


def test_lines_that_are_not_committed_are_not_merged(files):
    files.write("- one\n- two\n")
    files.commit()
    files.write("- one\n- new\n- two\n")
    files.adopt()

    assert files.merged() == {"one": True, "new": False, "two": True}


def test_lines_of_a_branch_under_review_are_not_merged_until_it_is(files):
    files.write("- one\n")
    files.commit()
    files.repository.git("checkout", "--quiet", "-b", "feature")
    files.write("- one\n- new\n")
    files.commit()
    files.adopt()
    assert files.merged() == {"one": True, "new": False}
    files.repository.git("checkout", "--quiet", "main")
    files.repository.git("merge", "--quiet", "feature")
    files.adopt()

    assert files.merged() == {"one": True, "new": True}


def test_with_an_upstream_its_branch_decides(files):
    files.write("- one\n")
    files.commit()
    head = files.repository.git("rev-parse", "HEAD").strip()
    files.repository.git("update-ref", "refs/remotes/origin/main", head)
    files.write("- one\n- local\n")
    files.commit()
    files.adopt()

    assert files.merged() == {"one": True, "local": False}


def test_globs_that_a_branch_changed_are_not_the_word_of_the_team(files):
    path = ".cursor/rules/a.mdc"
    files.write("---\nglobs: docs/**\n---\n- Never do that\n", path)
    files.commit()
    files.repository.git("checkout", "--quiet", "-b", "feature")
    files.write("---\nglobs: src/**\n---\n- Never do that\n", path)
    files.commit()
    files.adopt()

    assert files.merged() == {"Never do that": False}


def test_what_an_unmerged_line_imports_is_not_merged(files):
    files.write("- one\n", "docs/more.md")
    files.write("- two\n", "CLAUDE.md")
    files.commit()
    files.write("- two\n\n@docs/more.md\n", "CLAUDE.md")
    files.adopt()

    assert files.merged() == {"one": False, "two": True}


def test_without_git_nothing_is_merged(clone):
    files = Adopting(clone)
    files.write("- one\n")
    files.adopt()

    assert files.merged() == {"one": False}


def mark(files, text, **marks):
    (row,) = (row for row in files.rows() if row["text"] == text)
    heads = row["heads"].splitlines()
    given = Mark(
        id=row["id"], path=row["path"], head=heads[-1], text=text, at="2026-01-31T12:00:00.000Z"
    )
    adopted.put_mark(files.store, replace(given, **marks))


def test_an_edited_item_keeps_its_mark_and_a_lost_one_is_told(files):
    files.write("# A\n- Never touch the generated files\n- Other things entirely here\n")
    files.commit()
    files.adopt()
    mark(files, "Never touch the generated files", stop=True)
    mark(files, "Other things entirely here", ignored=True)
    files.write("# A\n- Never touch generated files\n- Zebra\n")
    outcome = files.adopt()

    marks = {each.text: each for each in adopted.list_marks(files.store)}
    assert marks["Never touch generated files"].stop
    assert [each.text for each in outcome.lost] == ["Other things entirely here"]


def test_a_similar_line_below_another_heading_gets_no_mark(files):
    files.write("# A\n- Never touch the generated files\n")
    files.commit()
    files.adopt()
    mark(files, "Never touch the generated files", stop=True)
    files.write("# B\n- Never touch generated files\n")

    assert len(files.adopt().lost) == 1


def test_each_worktree_has_its_own_items(files, tmp_path):
    files.write("- one\n")
    files.commit()
    files.adopt()
    other = tmp_path / "other"
    with files.store.transaction():
        adopted.replace_all(files.store, str(other), [], {}, [])
        rows = [dict(row) | {"root": None} for row in files.rows()]
        items = [{name: row[name] for name in adopted.COLUMNS} for row in rows]
        adopted.replace_all(files.store, str(other), items, {}, [])
    assert len(adopted.list_items(files.store, str(other))) == 1
    files.adopt()  # the other folder is not there

    assert adopted.list_items(files.store, str(other)) == []
    assert len(files.rows()) == 1


def test_the_time_of_the_last_commit_is_noted(files):
    files.write("- one\n")
    files.commit()
    files.adopt()

    assert adopting.note_times(files.runtime) == 1
    assert files.rows()[0]["author_time"]
    assert adopting.note_times(files.runtime) == 0


def test_to_find_no_change_takes_a_small_part_of_reading(files):
    for folder in range(20):
        files.write(
            "".join(f"- Number {at} of {folder}\n" for at in range(50)), f"{folder}/AGENTS.md"
        )
    files.commit()
    began = time.process_time()
    files.adopt()
    reading = time.process_time() - began
    runtime = files.runtime
    began = time.process_time()
    assert not instruction_state.is_behind(runtime)

    assert time.process_time() - began < max(0.01, reading / 5)


def test_forgetting_leaves_nothing(files):
    files.write("# A\n- one `AGENTS.md`\n")
    files.commit()
    files.adopt()
    mark(files, "one `AGENTS.md`", stop=True)
    adopted.answer(files.store, yes=True)
    adopted.forget(files.store)

    tables = ("adopted", "adopted_files", "adopted_bindings", "adopt_mark")
    assert [files.store.number(f"select count(*) from {name}") for name in tables] == [0] * 4
    assert not adopted.is_taken(files.store)
    assert not adopted.may_stop(files.store)
