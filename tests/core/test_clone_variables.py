"""Variables that a clone sets by its settings of the client: not the person's."""

import json
import subprocess
import sys

import pytest

from ademem.core import trust
from ademem.core.clone_variables import CARRIED, carried, withdraw
from ademem.core.project import at
from ademem.core.setting_sources import fingerprint
from ademem.core.settings import load_configuration
from tests.repositories import Repository


class Clone:
    """A clone, and the environment that the client gives to hooks in it."""

    def __init__(self, folder):
        self.root = folder / "clone"
        self.root.mkdir()
        self.repository = Repository(self.root)
        (self.root / ".ade").mkdir()
        self.environment = {"HOME": str(folder / "home"), "CLAUDE_PROJECT_DIR": str(self.root)}

    def sets(self, variables, name="settings.json", tracked=True, folder=""):
        path = self.root / folder / ".claude" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"env": variables}))
        if tracked:
            self.repository.git("add", "--force", str(path))
        self.environment |= {name: str(value) for name, value in variables.items()}

    def withdraw(self):
        withdraw(self.environment)
        return self.environment

    def load(self):
        return load_configuration(at(str(self.root)), self.environment)


@pytest.fixture
def clone(tmp_path, monkeypatch):
    made = Clone(tmp_path)
    monkeypatch.chdir(made.root)
    return made


def test_a_variable_of_the_person_stays(clone):
    clone.environment["ADEMEM_GUARD_MODE"] = "off"

    assert clone.withdraw()["ADEMEM_GUARD_MODE"] == "off"
    assert clone.load().settings.guard.mode == "off"


@pytest.mark.parametrize(
    ("name", "tracked", "counts"),
    [
        pytest.param("settings.json", True, False, id="the team's settings"),
        pytest.param("settings.json", False, False, id="the team's settings, not committed yet"),
        pytest.param("settings.local.json", True, False, id="local settings that git tracks"),
        pytest.param("settings.local.json", False, True, id="the person's local settings"),
    ],
)
def test_only_the_persons_own_file_switches_the_guard_off(clone, name, tracked, counts):
    clone.sets({"ADEMEM_GUARD_MODE": "off"}, name, tracked)
    clone.withdraw()

    assert (clone.load().settings.guard.mode == "off") is counts


def test_a_value_that_the_clone_does_not_have_is_the_persons(clone):
    clone.sets({"ADEMEM_GUARD_MODE": "off"})
    clone.environment["ADEMEM_GUARD_MODE"] = "strict"

    assert clone.withdraw()["ADEMEM_GUARD_MODE"] == "strict"


def test_settings_of_the_clone_count_as_its_tracked_file_does(clone):
    clone.sets({"ADEMEM_SEARCH_LIMIT": 3, "ADEMEM_GUARD_FAIL": "closed", "ADEMEM_AI_MODEL": "x"})
    clone.withdraw()
    found = clone.load()

    assert (found.settings.search.limit, found.settings.guard.fail) == (3, "closed")
    assert found.settings.ai.model != "x"
    assert [str(warning) for warning in found.warnings] == [
        ".claude/settings.json: sets ai.model, which counts only after `ademem trust`"
    ]


def test_settings_of_the_clone_count_after_the_person_agreed(clone):
    clone.sets({"ADEMEM_AI_MODEL": "x"})
    clone.withdraw()
    agreed = fingerprint(clone.load().held)
    trust.agree(str(clone.root), clone.environment, settings=agreed)

    assert clone.load().settings.ai.model == "x"
    assert clone.load().origins["ai.model"] == ".claude/settings.json"


@pytest.mark.parametrize(
    "name", ["ADEMEM_DATA_DIR", "ADEMEM_DISABLE", "ADEMEM_AI_KEY", "XDG_CONFIG_HOME", CARRIED]
)
def test_other_variables_of_a_clone_are_ignored(clone, name):
    clone.sets({name: "planted"})

    assert "planted" not in {value for key, value in clone.withdraw().items() if key != CARRIED}
    assert clone.load().settings == load_configuration(None, {}).settings


def test_a_warning_names_what_is_ignored(clone):
    clone.sets({"ADEMEM_DATA_DIR": "planted"})
    clone.withdraw()

    assert [str(warning) for warning in clone.load().warnings] == [
        ".claude/settings.json: sets ADEMEM_DATA_DIR, which a project may not set, so it is ignored"
    ]


def test_what_was_taken_back_is_known_to_processes_that_are_started(clone):
    clone.sets({"ADEMEM_SEARCH_LIMIT": "3"})
    child = dict(clone.withdraw())
    withdraw(child)

    assert carried(child) == {"ADEMEM_SEARCH_LIMIT": "3"}


def test_a_session_in_a_folder_of_the_clone_finds_the_settings_above(clone, monkeypatch):
    (clone.root / "packages/web").mkdir(parents=True)
    monkeypatch.chdir(clone.root / "packages/web")
    clone.sets({"ADEMEM_GUARD_MODE": "off"})
    del clone.environment["CLAUDE_PROJECT_DIR"]
    clone.withdraw()

    assert clone.load().settings.guard.mode == "consult"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"env": 3}', "[" * 9000, '{"env": {"A": []}}'])
def test_settings_that_are_no_settings_set_nothing(clone, text):
    clone.sets({"ADEMEM_GUARD_MODE": "off"})
    (clone.root / ".claude/settings.json").write_text(text)

    assert clone.withdraw()["ADEMEM_GUARD_MODE"] == "off"


def test_without_such_a_variable_no_file_is_read(clone):
    clone.sets({"OTHER": "x"})
    code = "import sys; from ademem.core.clone_variables import withdraw; import os\n"
    code += "sys.addaudithook(lambda event, found: event == 'open' and print(found[0]))\n"
    code += "withdraw(os.environ)"
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=clone.environment
    )

    assert (ran.stdout, ran.stderr) == ("", "")
