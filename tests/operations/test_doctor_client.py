"""The doctor runs what people run, and asks the client's settings whether hooks run at all."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ademem import operations
from ademem.core import project
from ademem.operations import doctor, install
from ademem.operations.doctor import CHECKS, Patient
from ademem.operations.install import Where, client_settings
from tests.builders import NOW

OFF, ON = {"disableAllHooks": True}, {"disableAllHooks": False}
ONLY = {"allowManagedHooksOnly": True}
WITH_PLUGIN = {"enabledPlugins": {"ademem@ademem": True}}
WITHOUT_PLUGIN = {"enabledPlugins": {"ademem@ademem": False}}
ADEMEM = str(Path(sys.executable).with_name("ademem"))


class Machine:
    """A project and the settings files of its client."""

    def __init__(self, root: Path) -> None:
        self.project, self.config = root / "project", root / "config"
        self.managed = root / "etc"
        for folder in (self.project, root / "home"):
            folder.mkdir()
        self.environment = {
            "HOME": str(root / "home"),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ADEMEM_DATA_DIR": str(root / "data"),
            "PATH": "/usr/bin:/bin",
        }
        operations.init(str(self.project), environment=self.environment)
        at = project.at(str(self.project))
        self.patient = Patient(project=at, environment=self.environment, now=NOW)

    def set(self, place: str, values: object) -> Path:
        path = {
            "user": self.config / "settings.json",
            "project": self.project / ".claude/settings.json",
            "local": self.project / ".claude/settings.local.json",
            "managed": self.managed / "managed-settings.json",
            "part": self.managed / "managed-settings.d/10-hooks.json",
        }[place]
        path.parent.mkdir(parents=True, exist_ok=True)
        there = json.loads(path.read_text()) if path.exists() else {}
        text = values if isinstance(values, str) else json.dumps(there | dict(values))
        path.write_text(text)
        return path

    def install(self) -> None:
        install.install(
            str(self.project), Where.LOCAL, python=sys.executable, hooks=install.hooks_folder()
        )


@pytest.fixture
def machine(tmp_path, monkeypatch):
    machine = Machine(tmp_path)
    monkeypatch.setattr(client_settings, "MANAGED", str(machine.managed))
    return machine


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        pytest.param({}, "", id="nothing"),
        pytest.param({"user": OFF}, "user", id="off for the user"),
        pytest.param({"project": OFF}, "project", id="off for the project"),
        pytest.param({"local": OFF}, "local", id="off for the user in the project"),
        pytest.param({"user": OFF, "project": ON}, "", id="the project precedes the user"),
        pytest.param({"project": OFF, "local": ON}, "", id="local precedes the project"),
        pytest.param({"local": OFF, "managed": ON}, "", id="managed precedes all"),
        pytest.param({"user": ON, "managed": OFF}, "managed", id="off for the organization"),
        pytest.param({"part": OFF}, "part", id="off in a part of the organization's"),
        pytest.param({"managed": OFF, "part": ON}, "", id="a part precedes the main file"),
        pytest.param({"user": {"disableAllHooks": "true"}}, "", id="no truth value"),
        pytest.param({"managed": ONLY}, "managed", id="only the organization's hooks"),
        pytest.param({"project": ONLY}, "", id="which no project can say"),
        pytest.param({"managed": {"strictPluginOnlyCustomization": True}}, "managed", id="plugins"),
        pytest.param(
            {"managed": {"strictPluginOnlyCustomization": ["hooks"]}}, "managed", id="of hooks"
        ),
        pytest.param({"managed": {"strictPluginOnlyCustomization": ["skills"]}}, "", id="of more"),
        pytest.param({"project": WITHOUT_PLUGIN}, "", id="a plugin beside hooks in settings"),
    ],
)
def test_hooks_that_the_client_does_not_run_are_found(machine, settings, place):
    machine.install()
    paths = {where: machine.set(where, values) for where, values in settings.items()}
    finding = doctor.client_runs_hooks(machine.patient)

    assert finding.ok is not bool(place)
    assert not place or f"{paths[place]} sets" in finding.message
    assert ("your organization's" in finding.hint) == (place in ("managed", "part"))


@pytest.mark.parametrize(
    ("settings", "place"),
    [
        pytest.param({"user": WITH_PLUGIN}, "", id="enabled"),
        pytest.param({"user": WITHOUT_PLUGIN}, "user", id="disabled"),
        pytest.param({"user": WITH_PLUGIN, "project": WITHOUT_PLUGIN}, "project", id="by project"),
        pytest.param({"project": WITHOUT_PLUGIN, "local": WITH_PLUGIN}, "", id="and on again"),
        pytest.param({"user": WITH_PLUGIN, "managed": WITHOUT_PLUGIN}, "managed", id="by policy"),
        pytest.param({"user": WITH_PLUGIN | OFF}, "user", id="all hooks off"),
        pytest.param({"user": WITH_PLUGIN, "managed": ONLY}, "managed", id="managed hooks only"),
        pytest.param({"user": WITH_PLUGIN, "managed": ONLY | WITH_PLUGIN}, "", id="and managed"),
        pytest.param(
            {"user": WITH_PLUGIN, "managed": {"strictPluginOnlyCustomization": True}},
            "",
            id="plugins only",
        ),
        pytest.param(
            {"user": WITH_PLUGIN, "managed": {"strictKnownMarketplaces": []}},
            "managed",
            id="no marketplace",
        ),
    ],
)
def test_a_plugin_that_does_not_run_is_found(machine, settings, place):
    paths = {where: machine.set(where, values) for where, values in settings.items()}
    finding = doctor.client_runs_hooks(machine.patient)

    assert finding.ok is not bool(place)
    assert not place or str(paths[place]) in finding.message


def test_hooks_of_an_enabled_plugin_are_registered(machine):
    assert not doctor.hooks_are_installed(machine.patient).ok

    machine.set("user", WITH_PLUGIN)
    finding = doctor.hooks_are_installed(machine.patient)
    assert (finding.ok, finding.message) == (True, "registered in the plugin ademem@ademem")


def test_what_the_client_knows_and_the_registered_hooks_lack_is_named(machine, monkeypatch):
    monkeypatch.setattr(install, "client_version", lambda: (2, 1, 197))
    machine.install()
    assert doctor.hooks_are_installed(machine.patient).ok
    monkeypatch.setattr(install, "client_version", lambda: (2, 1, 332))
    assert "also knows CwdChanged, File" in doctor.hooks_are_installed(machine.patient).message
    machine.install()
    assert doctor.hooks_are_installed(machine.patient).ok
    monkeypatch.setattr(install, "fails_closed", lambda *_: True)
    assert "cannot answer blocks" in doctor.hooks_are_installed(machine.patient).message
    machine.install()

    assert doctor.hooks_are_installed(machine.patient).ok


@pytest.mark.parametrize("text", ["{ // mine\n}", "[]"], ids=["a comment", "a list"])
def test_a_settings_file_that_the_client_ignores_is_found(machine, text):
    path = machine.set("user", text)
    finding = doctor.client_runs_hooks(machine.patient)

    assert not finding.ok
    assert f"ignores {path}" in finding.message


def test_the_commands_that_people_type_are_run(machine):
    finding = doctor.commands_run(machine.patient)
    assert (finding.ok, finding.message) == (True, "`ademem --help` works")


def test_a_command_that_fails_is_found(machine):
    script = machine.config.parent / "bin/ademem"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\necho 'needs the package x' >&2; exit 1\n")
    script.chmod(0o755)
    machine.environment["PATH"] += f":{script.parent}"
    finding = doctor.commands_run(machine.patient)

    assert not finding.ok
    assert "--help` fails: needs" in finding.message


@pytest.mark.parametrize("name", ["claude", "codex", "opencode"])
def test_a_registered_server_is_started_and_asked(machine, name, monkeypatch):
    monkeypatch.setenv("HOME", machine.environment["HOME"])
    assert "with no client" in doctor.servers_answer(machine.patient).message

    change = install.add_server(name, str(machine.project), machine.environment, shared=False)
    finding = doctor.servers_answer(machine.patient)
    assert (finding.ok, finding.message) == (True, f"the MCP server in {change.path} answers")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        pytest.param("echo 'needs the package mcp' >&2; exit 2", "needs the package", id="fails"),
        pytest.param("echo ready", "does not answer: it ended with 0", id="says something else"),
    ],
)
def test_a_registered_server_that_does_not_answer_is_found(machine, body, said):
    server = machine.config.parent / "server"
    server.write_text(f"#!/bin/sh\n{body}\n")
    server.chmod(0o755)
    entry = {"mcpServers": {"ademem": {"command": str(server), "args": ["mcp"]}}}
    (machine.project / ".mcp.json").write_text(json.dumps(entry))
    finding = doctor.servers_answer(machine.patient)

    assert not finding.ok
    assert said in finding.message


@pytest.mark.parametrize("package", ["psycopg", "mcp", "starlette", "textual", "jinja2"])
def test_the_doctor_needs_no_package_of_an_extra(package):
    program = f"import sys, ademem.operations.doctor; sys.exit({package!r} in sys.modules)"

    assert subprocess.run([sys.executable, "-I", "-c", program], timeout=60).returncode == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        pytest.param(None, "none is set", id="none"),
        pytest.param("/opt/ademem/hooks/statusline.sh", "shows memory", id="ours"),
        pytest.param("date", "another one is set", id="of the person"),
    ],
)
def test_a_status_line_is_named_and_never_a_fault(machine, command, said):
    if command:
        line = {"statusLine": {"type": "command", "command": command}}
        own = machine.project / ".claude/settings.json"
        own.parent.mkdir(exist_ok=True)
        own.write_text(json.dumps(line))
    finding = doctor.status_line_is_free(machine.patient)

    assert finding.ok
    assert said in finding.message


def test_every_check_of_the_client_is_made():
    made = {doctor.commands_run, doctor.servers_answer, doctor.client_runs_hooks}
    assert made <= set(CHECKS)
