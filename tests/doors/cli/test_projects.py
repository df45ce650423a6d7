"""The projects of this machine at the terminal."""


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
    assert "no spellings or clones" in ademem("projects", "merge", "project", "projekt")
    assert "forgot project" in ademem("projects", "forget", "project")
    assert ademem.json("projects", "consolidate")["groups"] == []
