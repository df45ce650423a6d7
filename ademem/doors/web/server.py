"""Run the page: one process for a database, its address in the terminal, its end."""

from __future__ import annotations

import json
import os
import signal
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ademem.core import caller, confined, shared_files
from ademem.core import project as project_
from ademem.core.project import Project
from ademem.doors.http.loopback import ADDRESS, Server, bind
from ademem.doors.undoable import forbid_reason
from ademem.doors.web.application import Site, make
from ademem.doors.web.entry import CODE_S

DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
AS_ASKED = "it was started with --read-only"
RUN_FILE_BYTES = 4096


def find_running(project: Project) -> dict[str, Any] | None:
    """Return `pid` and `port` of the page of this database; None where none runs."""
    path = _run_file(project)
    if not shared_files.is_held(f"{path}.lock", root=project.home_root):
        return None
    text = confined.read_text(project.home_root, path, RUN_FILE_BYTES)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found if isinstance(found.get("pid"), int) else None


def stop(project: Project) -> int | None:
    """End the page of this database; return its process, None where none runs."""
    found = find_running(project)
    if found is None:
        return None
    os.kill(found["pid"], signal.SIGTERM)
    return int(found["pid"])


def show_again(found: Mapping[str, Any], environment: Mapping[str, str]) -> str:
    """Have the running page show a new address where it runs; return a line about it."""
    where = f"the page runs at http://{ADDRESS}:{found['port']} (process {found['pid']})"
    if caller.client_of(environment):
        return where
    os.kill(found["pid"], signal.SIGUSR1)
    return f"{where}; its terminal shows a new address, and `ademem web --stop` ends it"


def serve(
    roots: Sequence[str],
    environment: Mapping[str, str],
    *,
    port: int = 0,
    opens_browser: bool = True,
    read_only: bool = False,
    idle_s: float = 3600.0,
    echo: Callable[[str], None],
) -> None:
    """Serve the projects until a signal or an idle hour; *echo* writes to the terminal.

    Raises UsageError for a port that is taken.
    """
    client = caller.client_of(environment)
    is_seen = sys.stderr.isatty()
    has_desktop = sys.platform == "darwin" or any(environment.get(name) for name in DISPLAYS)
    opens = opens_browser and has_desktop and not client
    first = project_.find(roots[0], environment, os.getcwd())
    path = _run_file(first)
    with shared_files.locked(f"{path}.lock", root=first.home_root, wait=False) as is_first:
        if not is_first:
            return echo("the page of this database starts in another process")
        listening = bind(port)

        def show_digits(id: str, digits: str) -> None:
            echo(f"digits to approve {id}: {digits}")

        port = listening.getsockname()[1]
        site = Site(
            list(roots),
            environment,
            port=port,
            read_only=forbid_reason(environment) or AS_ASKED * read_only,
            show_digits=show_digits if is_seen and not client else None,
        )
        for each in site.projects.values():
            each.acts.open()

        def show_address(*_: object) -> None:
            """Print an address with a new code to the terminal, and open it on a desktop."""
            if not is_seen and not opens:
                return echo("the address has a code, which only a terminal shows: start it in one")
            address = f"http://{ADDRESS}:{site.port}/enter?code={site.entry.new_code()}"
            if is_seen:
                echo(f"{address}\n(opens once within {CODE_S} seconds; Ctrl-C ends the page)")
            if opens:
                webbrowser.open(address)
            return None

        signal.signal(signal.SIGUSR1, show_address)
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # until the server takes it
        text = json.dumps({"pid": os.getpid(), "port": port})
        confined.write_text(first.home_root, path, text, mode=0o600)
        show_address()
        running = Server(make(site), idle_s, lifespan="off")
        site.is_ending = lambda: running.should_exit
        running.run(sockets=[listening])
        site.close()
        confined.remove(first.home_root, path)
    return None


def _run_file(project: Project) -> str:
    return os.path.join(project.home, "run", "web.json")
