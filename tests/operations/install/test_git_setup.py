"""Git tells ademem what it brought, and nobody's own hook is touched."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ademem import operations
from ademem.operations import searching
from ademem.operations.install import git_setup

FACTS = ".ade/memory/facts.md"
TEXT = "Deploys go through staging"


class Repository:
    def __init__(self, root: Path, environment):
        self.root, self.environment = root, environment
        root.mkdir(parents=True, exist_ok=True)

    @property
    def hooks(self):
        return self.root / ".git/hooks"

    def git(self, *arguments):
        ran = subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@x", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout + ran.stderr

    def install(self, **flags):
        return git_setup.add_hooks(str(self.root), str(self.program), **flags)

    @property
    def program(self):
        """`ademem` as a file, in a folder with a blank in its name."""
        path = self.root.parent / "my tools/ademem"
        if not path.exists():
            path.parent.mkdir()
            main = "from ademem.doors.cli import main; main()"
            path.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{main}' \"$@\"\n")
            path.chmod(0o755)
        return path

    def known(self):
        with operations.open_memories(str(self.root), environment=self.environment) as memories:
            return [memory.content for memory in searching.list_memories(memories)]

    def commit(self, message, *, text=None):
        if text:
            page = self.root / FACTS
            page.write_text(f"- {text}\n")
        self.git("add", "-A")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)


@pytest.fixture
def repository(tmp_path):
    environment = {
        "HOME": str(tmp_path),
        "TMPDIR": str(tmp_path),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
        "GIT_CONFIG_NOSYSTEM": "1",
        "ADEMEM_JOBS_AUTO": "false",
    }
    made = Repository(tmp_path / "work", environment)
    made.git("init", "--quiet", "--initial-branch=main")
    operations.init(str(made.root))
    made.commit("first")
    return made


def listing(folder):
    return {path.name: (path.read_bytes(), path.stat().st_mode) for path in folder.iterdir()}


def test_what_a_merge_brings_is_imported_and_reported_and_the_files_stay(repository):
    repository.git("checkout", "--quiet", "-b", "theirs")
    repository.commit("learn", text=TEXT)
    repository.git("checkout", "--quiet", "main")
    repository.install()
    said = repository.git("merge", "--no-edit", "theirs")
    page = (repository.root / FACTS).read_text()

    assert repository.known() == [TEXT]
    assert "ademem: 1 memory from git and hand edits: added" in said
    assert page == repository.git("show", f"theirs:{FACTS}")
    assert repository.git("status", "--porcelain", "--", ".ade/memory") == ""


def test_what_another_branch_has_is_known_when_it_is_checked_out(repository):
    repository.git("checkout", "--quiet", "-b", "theirs")
    repository.commit("learn", text=TEXT)
    repository.git("checkout", "--quiet", "main")
    repository.install()
    repository.git("checkout", "--quiet", "theirs")

    assert repository.known() == [TEXT]


def test_what_says_nothing_new_prints_nothing(repository):
    repository.install()

    assert "ademem" not in repository.git("checkout", "--quiet", "-b", "other")


def test_a_hook_that_fails_stops_nothing(repository):
    repository.install()
    repository.program.write_text("#!/bin/sh\nexit 3\n")
    repository.git("checkout", "--quiet", "-b", "other")

    assert repository.git("branch", "--show-current") == "other\n"


def test_hooks_are_put_in_once_and_taken_out_without_a_trace(repository):
    before = listing(repository.hooks)
    assert [line.split()[0] for line in repository.install(dry_run=True)] == ["would"] * 3
    assert listing(repository.hooks) == before

    assert [line.split()[0] for line in repository.install()] == ["wrote"] * 3
    assert repository.install() == []
    assert all(os.access(repository.hooks / name, os.X_OK) for name in git_setup.NAMES)
    assert len(git_setup.remove_hooks(str(repository.root), dry_run=True)) == 3
    assert len(git_setup.remove_hooks(str(repository.root))) == 3
    assert listing(repository.hooks) == before


@pytest.mark.parametrize("mine", ["#!/bin/sh\nmake tags\n", ""], ids=["a script", "empty"])
def test_a_hook_of_somebody_else_stays_as_it_is(repository, mine):
    path = repository.hooks / "post-merge"
    path.write_text(mine)
    said = repository.install()

    assert any(line.startswith(f"kept {path}: it is not ours") for line in said)
    git_setup.remove_hooks(str(repository.root))
    assert path.read_text() == mine


def test_a_hook_that_was_changed_since_is_somebody_elses(repository):
    repository.install()
    path = repository.hooks / "post-merge"
    path.write_text(path.read_text() + "make tags\n")
    git_setup.remove_hooks(str(repository.root))

    assert sorted(listing(repository.hooks).keys() & set(git_setup.NAMES)) == ["post-merge"]


def test_another_place_of_ademem_takes_the_place_of_the_first(repository):
    repository.install()
    said = git_setup.add_hooks(str(repository.root), "/opt/ademem")

    assert [line.split()[0] for line in said] == ["wrote"] * 3


def test_hooks_that_a_team_tracks_are_left_to_it(repository):
    repository.git("config", "core.hooksPath", "hooks")

    with pytest.raises(git_setup.NoGitHooks, match="not this repository's own"):
        repository.install()
    assert git_setup.remove_hooks(str(repository.root)) == []


def test_a_folder_without_git_is_reported(tmp_path):
    with pytest.raises(git_setup.NoGitHooks, match="no git repository"):
        git_setup.add_hooks(str(tmp_path), "ademem")


def test_a_project_inside_a_repository_is_found_from_its_top(repository):
    inside = Repository(repository.root / "services/my app", repository.environment)
    operations.init(str(inside.root))
    repository.commit("enrol")
    git_setup.add_hooks(str(inside.root), str(repository.program))
    repository.git("checkout", "--quiet", "-b", "theirs")
    inside.commit("learn", text=TEXT)
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-edit", "theirs")

    assert inside.known() == [TEXT]
    assert repository.known() == []


@pytest.mark.parametrize(
    "inside", [".", "packages/app", "app [old] *"], ids=["root", "subfolder", "signs of patterns"]
)
def test_git_ignores_the_files_of_one_person_until_uninstall(tmp_path, inside):
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    project = tmp_path / inside
    for name in (".claude/settings.local.json", ".claude/commands/ademem/why.md"):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text("x")
    exclude = tmp_path / ".git/info/exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("*.own without an end of line")

    assert git_setup.hide(str(project))
    assert not git_setup.hide(str(project))
    assert subprocess.check_output(["git", "status", "--short"], cwd=tmp_path) == b""
    git_setup.unhide(str(project))
    assert exclude.read_text() == "*.own without an end of line"


def test_a_folder_without_git_has_nothing_to_ignore(tmp_path):
    assert not git_setup.hide(str(tmp_path))
    git_setup.unhide(str(tmp_path))
