"""The index of a project's tracked files, made and renewed with git."""

import os

import pytest

from ademem.core.project import at
from ademem.search import tree as trees
from ademem.search.tree import find_definitions
from tests.repositories import Repository


@pytest.fixture
def repository(tmp_path):
    repository = Repository(tmp_path / "app")
    (tmp_path / "app/.ade").mkdir()
    repository.commit("First", "src/auth.py", "src/views.py", "docs/guide.md")
    return repository


@pytest.fixture
def project(repository):
    return at(str(repository.root))


@pytest.fixture
def indexed(project):
    """The paths of the index, once it was renewed."""

    def read():
        trees.renew(project)
        tree = trees.open_tree(project)
        try:
            return tree.paths()
        finally:
            tree.close()

    return read


def test_a_project_without_an_index_has_no_tree(project):
    assert trees.open_tree(project) is None
    assert trees.is_behind(project)


def test_an_index_holds_what_git_tracks(repository, project, indexed):
    (repository.root / "untracked.py").write_text("x = 1\n")

    assert indexed() == ["docs/guide.md", "src/auth.py", "src/views.py"]
    assert not trees.is_behind(project)


def test_a_commit_renews_only_what_it_changed(repository, project, indexed):
    indexed()
    (repository.root / "src/views.py").unlink()
    repository.commit("Second", "src/auth.py", "src/new.py")

    assert trees.is_behind(project)
    renewal = trees.renew(project)
    assert (renewal.files, renewal.removed, renewal.is_new) == (2, ("src/views.py",), False)
    assert indexed() == ["docs/guide.md", "src/auth.py", "src/new.py"]


def test_a_renamed_file_is_followed_through_all_its_names(repository, project, indexed):
    text = "".join(f"line {number} of a file\n" for number in range(40))
    (repository.root / "src/auth.py").write_text(text)
    repository.commit("Fill", "docs/guide.md")
    indexed()
    for before, after in (("src/auth.py", "src/login.py"), ("src/login.py", "src/token.py")):
        repository.git("mv", before, after)
        repository.git("commit", "-q", "-m", "Rename")
        trees.renew(project)
    tree = trees.open_tree(project)

    assert tree.renamed("src/auth.py") == "src/token.py"
    assert tree.renamed("src/nothing.py") == ""
    tree.close()


def test_a_new_index_learns_the_renames_of_earlier_commits(repository, project, indexed):
    text = "".join(f"line {number} of a file\n" for number in range(40))
    (repository.root / "src/auth.py").write_text(text)
    repository.commit("Fill", "docs/guide.md")
    for before, after in (("src/auth.py", "src/login.py"), ("src/login.py", "src/töken.py")):
        repository.git("mv", before, after)
        repository.git("commit", "-q", "-m", "Rename")
    indexed()

    assert trees.learn_renames(project) == 2
    tree = trees.open_tree(project)
    assert tree.renamed("src/auth.py") == "src/töken.py"
    tree.close()


def test_a_rewritten_history_makes_the_index_anew(repository, project, indexed):
    indexed()
    tree = trees.Tree(trees.index_path(project), writable=True)
    tree.store("0" * 40, [])
    tree.close()

    assert trees.renew(project).is_new
    assert indexed() == ["docs/guide.md", "src/auth.py", "src/views.py"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda path: path.write_bytes(b"no database at all" * 100), id="no database"),
        pytest.param(lambda path: os.truncate(path, 5000), id="cut off"),
        pytest.param(lambda path: alter(path, "create table more (x)"), id="another schema"),
        pytest.param(lambda path: alter(path, "pragma user_version = 99"), id="another version"),
        pytest.param(lambda path: alter(path, "drop table words"), id="a table is missing"),
    ],
)
def test_a_damaged_index_is_made_anew(repository, project, indexed, damage):
    from pathlib import Path

    indexed()
    damage(Path(trees.index_path(project)))

    assert trees.open_tree(project) is None
    assert trees.is_behind(project)
    assert indexed() == ["docs/guide.md", "src/auth.py", "src/views.py"]


def alter(path, statement):
    import sqlite3

    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


def test_links_large_files_and_bytes_are_indexed_by_their_path_alone(repository, project):
    (repository.root / "large.txt").write_text("needle " * 40_000)
    (repository.root / "image.png").write_bytes(b"\0needle\0")
    (repository.root / "link.txt").symlink_to("/etc/hostname")
    repository.commit("Add", "small.txt")
    trees.renew(project)
    tree = trees.open_tree(project)

    assert not tree.has_file("link.txt")
    assert tree.has_file("large.txt")
    assert tree.search(["needle"], 5) == []
    tree.close()


def test_only_the_files_of_the_project_are_indexed_in_a_larger_repository(repository):
    (repository.root / "packages/web/.ade").mkdir(parents=True)
    repository.commit("Add", "packages/web/src/page.ts")
    project = at(str(repository.root / "packages/web"))
    trees.renew(project)
    tree = trees.open_tree(project)

    assert tree.paths() == ["src/page.ts"]
    tree.close()


def test_without_a_commit_nothing_is_made(tmp_path):
    root = tmp_path / "empty"
    (root / ".ade").mkdir(parents=True)

    assert trees.renew(at(str(root))) is None
    assert not trees.is_behind(at(str(root)))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        pytest.param("def f_one(a):\n    x = 1\nclass Two:\n    LIMIT = 3\n", "f_one Two LIMIT"),
        pytest.param("export const getUser = async () => {\n  const inner = 1\n}", "getUser"),
        pytest.param("func (s *Store) Save(x int) error {", "Save"),
        pytest.param("pub(crate) async fn run_all() {", "run_all"),
        pytest.param("static int parse_line(char *s, int n)\n{\n", "parse_line"),
        pytest.param("public class Main {\n    private void loadAll(int a) {\n", "Main loadAll"),
        pytest.param("  get subdomains () {\n", "subdomains"),
        pytest.param("create table if not exists users (id)", "users"),
        pytest.param("if (x) {\n  for (a of b) {\n", ""),
    ],
)
def test_names_that_source_files_define(source, names):
    assert find_definitions(f"\n{source}") == names.split()
