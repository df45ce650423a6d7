"""Files for the host of the repository: they can be read, and name what is there."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
FILES = [*(ROOT / ".github").rglob("*.yml"), *ROOT.glob(".pre-commit-*.yaml")]
SCRIPT = re.compile(r"(?:sh|bash) (\.?[\w./-]+)")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_each_is_yaml(path):
    assert yaml.safe_load(path.read_text())


@pytest.mark.parametrize("name", ["ci", "docs", "release"])
def test_a_workflow_has_few_rights_and_runs_scripts_that_are_there(name):
    text = (ROOT / f".github/workflows/{name}.yml").read_text()
    workflow = yaml.safe_load(text)
    scripts = {ROOT / path for path in SCRIPT.findall(text)}

    assert workflow["permissions"]["contents"] == "read"
    assert [path for path in scripts if not path.exists()] == []


def test_ci_tries_the_core_first_on_both_systems_and_each_python():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    tried = jobs["core"]["strategy"]["matrix"]

    assert jobs["all"]["needs"] == "core"
    assert tried["python"] == ["3.11", "3.12", "3.13"]
    assert [name.partition("-")[0] for name in tried["os"]] == ["ubuntu", "macos"]


def test_forms_ask_for_what_a_maintainer_needs():
    asked = {
        path.stem: path.read_text() for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml")
    }

    assert set(asked) == {"config", "bug", "memory", "idea"}
    assert "ademem doctor --json" in asked["bug"]
    assert "ademem why" in asked["memory"]
