"""The projects of this machine at the terminal."""

import subprocess

import pytest


@pytest.mark.parametrize("is_enrolled", [True, False])
def test_a_folder_of_a_repository_has_the_project_of_the_repository(ademem, tmp_path, is_enrolled):
    inside = tmp_path / "repository" / "src" / "net"
    inside.mkdir(parents=True)
    root = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    if is_enrolled:
        ademem("init", "--project", str(root))
    ademem.monkeypatch.chdir(inside)
    said = ademem("init")

    assert f"{root} is enrolled" in said
    assert "`ademem init --project .` makes a project of this folder alone" in said
    assert not (inside / ".ade").exists()
    ademem("init", "--project", ".")
    assert (inside / ".ade").exists()


def test_a_home_folder_that_is_a_repository_is_no_project_of_what_is_in_it(ademem, tmp_path):
    inside = tmp_path / "home" / "notes"
    inside.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path / "home", check=True)
    ademem.monkeypatch.chdir(inside)

    assert f"{inside} is enrolled; `ademem install` registers the hooks\n" in ademem("init")
    ademem.monkeypatch.setenv("ADEMEM_INSTALLING", "yes")
    assert f"{inside} is enrolled\n" in ademem("init")
    ademem.monkeypatch.delenv("ADEMEM_INSTALLING")
    ademem("install")
    assert f"{inside} is enrolled\n" in ademem("init")


def test_projects_are_listed_searched_proposed_and_forgotten(ademem, tmp_path):
    ademem("add", "Deploys need a lock")
    other = tmp_path / "projekt"
    other.mkdir()
    ademem.monkeypatch.chdir(other)
    ademem("init")
    ademem("add", "Every lock expires at night")

    assert {row["name"] for row in ademem.json("projects", "list")["projects"]} == {
        "project",
        "projekt",
    }
    found = ademem.json("search", "lock", "--all-projects")["memories"]
    assert sorted(row.get("project", "") for row in found) == ["", "project"]
    assert "in project" in ademem("search", "lock", "--all-projects")
    (group,) = ademem.json("projects", "consolidate")["groups"]
    assert {each["name"] for each in group} == {"project", "projekt"}
    assert "not spellings or clones" in ademem("projects", "merge", "project", "projekt")
    assert "forgot project" in ademem("projects", "forget", "project")
    assert ademem.json("projects", "consolidate")["groups"] == []
