"""On CI every skip needs a line in `.ci/skips`: a test that stops running protects nobody."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LISTED = Path(__file__).parents[1] / ".ci" / "skips"


def listed(text: str) -> frozenset[str]:
    """The node ids of a list with comments."""
    lines = (line.strip() for line in text.splitlines())
    return frozenset(line for line in lines if line and not line.startswith("#"))


class Skips:
    """Fails a run in which something was skipped that is not on the list."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.allowed = allowed
        self.unlisted: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._note(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.unlisted and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.unlisted:
            terminalreporter.section("skipped on CI without a line in .ci/skips", red=True)
            for node, reason in sorted(self.unlisted.items()):
                terminalreporter.line(f"{node}  {reason}")

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        expected_failure = hasattr(report, "wasxfail")
        if report.skipped and not expected_failure and report.nodeid not in self.allowed:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
            self.unlisted[report.nodeid] = reason


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("CI") == "true":
        config.pluginmanager.register(Skips(listed(LISTED.read_text(encoding="utf-8"))))
