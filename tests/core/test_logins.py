"""A person's terminal over a real login: sshd, and tmux and screen in it.

The client of ssh starts the server itself and speaks with it over a pipe: no port is opened.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import persons

from .test_who import ASK, ROOT

SSHD = shutil.which("sshd", path=os.pathsep.join([os.environ["PATH"], "/usr/sbin", "/sbin"]))
NEEDED = all([SSHD, *map(shutil.which, ("ssh", "ssh-keygen", "tmux", "screen", "unshare"))])
OWN_FOLDERS = "mount -t tmpfs none /run && mkdir /run/sshd /run/screen"
"""What the programs want of root, for processes that see a `/run` of their own."""


def _can_start() -> bool:
    mount = ["unshare", "--mount", "sh", "-c", OWN_FOLDERS]
    return NEEDED and (
        os.getuid() != 0 or not subprocess.run(mount, capture_output=True).returncode
    )


pytestmark = pytest.mark.skipif(not _can_start(), reason="no sshd, tmux and screen can be started")

ANSWER = "answered: "
IN_TMUX = "tmux -S {folder}/tmux -f /dev/null new-session "
WAYS = [
    pytest.param("-tt", "{ask}", "person", "sshd is above it", id="a login"),
    pytest.param("-tt", "{ask} | cat", "person", "sshd is above it", id="in a pipe"),
    pytest.param("-T", "{ask}", "unknown", "no terminal belongs", id="without a terminal"),
    pytest.param("-tt", "setsid -w {ask}", "unknown", "no terminal belongs", id="setsid"),
    pytest.param("-tt", IN_TMUX + "{ask}", "person", "is attached to tmux", id="tmux"),
    pytest.param("-tt", IN_TMUX + "-d {ask}; {wait}", "unknown", "no terminal", id="tmux -d"),
    pytest.param("-tt", "screen {ask}", "person", "is attached to screen", id="screen"),
    pytest.param("-tt", "screen -dmS s {ask}; {wait}", "unknown", "no terminal", id="screen -dm"),
    pytest.param("-tt", "CLAUDECODE=1 {ask}", "agent", "CLAUDECODE", id="a client's variable"),
]


class Login:
    """An account that a key opens, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("host", "key"):
            made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
            subprocess.run(made, check=True)
        (folder / "sshd").write_text(
            f"HostKey {folder}/host\nAuthorizedKeysFile {folder}/key.pub\nStrictModes no\n"
            "UsePAM no\nPidFile none\nPermitRootLogin yes\nAuthenticationMethods publickey\n"
        )
        server = f"{SSHD} -i -f {folder}/sshd -E {folder}/log"
        (folder / "ssh").write_text(
            f"IdentityFile {folder}/key\nIdentitiesOnly yes\nUserKnownHostsFile /dev/null\n"
            f"StrictHostKeyChecking no\nLogLevel ERROR\nProxyCommand {server}\n"
        )

    def type(self, terminal: str, command: str) -> str:
        """Return what is seen of a command that is typed after the login."""
        ssh = ["ssh", "-F", str(self.folder / "ssh"), terminal, "host", command]
        if os.getuid() == 0:
            ssh = ["unshare", "--mount", "sh", "-c", f"{OWN_FOLDERS} && exec {shlex.join(ssh)}"]
        clean = {"PATH": os.environ["PATH"], "TERM": "xterm", "LANG": "C.UTF-8"}
        ran = persons.run_below("bash", command=ssh, environment=clean, folder=self.folder)
        return ran.stdout.decode("utf-8", "replace")


@pytest.fixture
def login(tmp_path: Path) -> Login:
    return Login(tmp_path)


@pytest.mark.parametrize(("terminal", "way", "by", "why"), WAYS)
def test_a_login_is_a_persons_while_its_terminal_is_there(login, terminal, way, by, why):
    answer = login.folder / "answer"
    script = login.folder / "ask.sh"
    script.write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT} {sys.executable} -c {shlex.quote(ASK)} of_command"
        f" >{answer}.new 2>&1\nmv {answer}.new {answer}\n"
    )
    script.chmod(0o755)
    wait = f"for n in $(seq 200); do [ -e {answer} ] && break; sleep 0.05; done"
    command = way.format(ask=script, folder=login.folder, wait=wait)
    seen = login.type(terminal, command)

    assert answer.exists(), seen
    assert answer.read_text().startswith(by), answer.read_text()
    assert why in answer.read_text()


@pytest.mark.parametrize(("terminal", "trust"), [("-tt", "user"), ("-T", "agent")])
def test_what_is_added_after_a_login_is_the_persons_in_a_terminal(login, terminal, trust):
    home = login.folder / "home"
    project = login.folder / "project"
    for folder in (home, project):
        folder.mkdir()
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    bare = f"cd {project} && export HOME={home} ADEMEM_JOBS_AUTO=false PYTHONPATH={ROOT}"
    ademem = f"{Path(sys.executable).with_name('ademem')}"
    seen = login.type(
        terminal,
        f"{bare} && {ademem} init >/dev/null && {ademem} add 'Lock the gate at six' >/dev/null"
        f" && {ademem} list --all --json",
    )

    print(seen)
    found = json.loads(re.search(r"\{.*\}", seen, re.S)[0])["memories"]
    assert [each["provenance"]["trust"] for each in found] == [trust]
