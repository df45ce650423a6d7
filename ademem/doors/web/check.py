"""The checks of `ademem doctor`, run by a process of their own, for which no page waits."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock, Thread

from ademem.api.doctor import Finding
from ademem.core import process
from ademem.store.runtime import program

LONGEST_S = 900
EVENT = "check"


class Check:
    """The check of a project that runs, and what the last one found."""

    def __init__(
        self,
        root: str,
        environment: Mapping[str, str],
        now: Callable[[], datetime],
        announce: Callable[[str], None],
    ) -> None:
        self._root, self._environment, self._now, self._announce = root, environment, now, announce
        self._lock, self._is_wanted = Lock(), False
        self.findings: list[Finding] = []
        self.at: datetime | None = None
        self.failure = ""
        """Reason why the last check found nothing out."""
        self.is_running = False

    def start(self) -> None:
        """Start a check; one that runs already is followed by another."""
        with self._lock:
            self._is_wanted = True
            if self.is_running:
                return
            self.is_running = True
        Thread(target=self._run, daemon=True).start()

    def _take_order(self) -> bool:
        with self._lock:
            self.is_running, self._is_wanted = self._is_wanted, False
            return self.is_running

    def _run(self) -> None:
        while self._take_order():
            command = [program(self._environment), "doctor", "--json", "--project", self._root]
            try:
                ran = process.run(command, timeout_s=LONGEST_S, environment=self._environment)
                found = json.loads(ran.output or b"null")
            except (OSError, ValueError) as error:
                found, self.failure = None, str(error)
            else:
                self.failure = "" if found else ran.last_error
            if found:
                self.findings = [Finding(**each) for each in found["findings"]]
                self.at = self._now()
        self._announce(EVENT)
