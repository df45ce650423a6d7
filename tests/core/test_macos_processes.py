"""Processes of macOS, from answers as its kernel gives them."""

from __future__ import annotations

import os
import struct

import pytest

from ademem.core import macos_processes, who
from ademem.core.actor import By
from ademem.core.who import of_command, of_hook

TTY = 0x10000003
APPLICATION = "/Applications/Visual Studio Code.app/Contents/Frameworks/Code Helper"
LOGIN = {"name": "login"}  # of another person: its start cannot be read


def kinfo(pid, parent, name, terminal):
    """A `struct kinfo_proc`; a terminal of -1 is none."""
    raw = bytearray(648)
    struct.pack_into("<i", raw, 40, pid)
    raw[243 : 243 + len(name)] = name.encode()
    struct.pack_into("<i", raw, 560, parent)
    struct.pack_into("<i", raw, 572, terminal)
    return bytes(raw)


def start(program, argv, environment=()):
    """The answer to KERN_PROCARGS2: the program, zeros, the arguments and the variables."""
    texts = [*argv, *environment]
    head = struct.pack("<i", len(argv)) + program.encode() + b"\0" * 5
    return head + b"".join(text.encode() + b"\0" for text in texts) + b"\0ptr_munge=\0"


@pytest.fixture
def kernel(monkeypatch):
    """A line of processes from the parent of this one up to launchd, the nearest first."""
    processes = {}

    def answer(*name):
        kind, pid = name[1], name[-1]
        if pid not in processes:
            raise ProcessLookupError(pid)
        info, begun = processes[pid]
        if kind == macos_processes.KERN_PROC:
            return info
        if begun is None:
            raise OSError(22, "sysctl")
        return begun

    def line(*given, end=1):
        pids = [os.getppid(), *range(900_001, 900_000 + len(given))]
        for at, each in enumerate(given):
            parent = pids[at + 1] if at + 1 < len(given) else end
            name = each.get("name") or each["program"].rpartition("/")[2][:16]
            begun = None
            if program := each.get("program"):
                begun = start(program, each.get("argv", (program,)), each.get("environment", ()))
            processes[pids[at]] = (kinfo(pids[at], parent, name, each.get("tty", TTY)), begun)
        processes[1] = (kinfo(1, 0, "launchd", -1), None)
        return pids

    monkeypatch.setattr(macos_processes, "sysctl", answer)
    return line


ZSH = {"program": "/bin/zsh", "argv": ("-zsh",)}
CLAUDE = {"program": "/Users/anna/.local/share/claude/versions/2.1.332", "argv": ("claude",)}
SH = {"program": "/bin/sh", "argv": ("sh", "-c", "x"), "tty": -1}


def test_a_process_is_read_with_its_program_arguments_and_terminal(kernel):
    kernel({"program": APPLICATION, "argv": (APPLICATION, "--type=utility"), "tty": -1})
    found = who.read_of_macos(os.getppid())

    assert (found.pid, found.parent, found.terminal) == (os.getppid(), 1, 0)
    assert (found.name, found.command) == ("Code Helper", (APPLICATION, "--type=utility"))


@pytest.mark.parametrize(
    ("given", "by"),
    [
        pytest.param((ZSH, LOGIN, {"program": "/usr/sbin/x"}), By.PERSON, id="Terminal"),
        pytest.param((ZSH, {"program": APPLICATION, "tty": -1}), By.PERSON, id="an editor"),
        pytest.param((ZSH, {"name": "sshd"}), By.PERSON, id="a login from elsewhere"),
        pytest.param((ZSH,), By.UNKNOWN, id="an orphan"),
        pytest.param((ZSH, CLAUDE, ZSH, LOGIN), By.AGENT, id="a client"),
        pytest.param(
            (ZSH | {"environment": ("A=1", "CLAUDECODE=1")}, LOGIN), By.AGENT, id="its variables"
        ),
        pytest.param(
            (ZSH | {"environment": ("CLAUDECODE=",)}, LOGIN), By.PERSON, id="an empty one"
        ),
    ],
)
def test_a_command_is_a_persons_below_a_login_or_an_editor(kernel, given, by):
    kernel(*given)

    assert of_command({}, read=who.read_of_macos, terminal=True).by is by


@pytest.mark.parametrize(
    ("answers", "by", "proven"),
    [
        pytest.param({0: 1}, By.PERSON, True, id="the input is open"),
        pytest.param({0: None, 1: 1}, By.PERSON, True, id="the input was closed"),
        pytest.param({0: None, 1: 0}, By.UNKNOWN, False, id="an output of the agent"),
        pytest.param({0: 0, 1: 1}, By.UNKNOWN, False, id="an input of the agent"),
        pytest.param({0: None, 1: None}, By.UNKNOWN, False, id="nothing is told"),
    ],
)
def test_a_prompt_is_typed_where_the_client_made_input_or_output(
    kernel, monkeypatch, answers, by, proven
):
    pids = kernel(SH, CLAUDE, ZSH, LOGIN)
    made = {handle: at is not None and pids[at] for handle, at in answers.items()}
    monkeypatch.setattr(who.sys, "platform", "darwin")
    monkeypatch.setattr(who, "maker_of", lambda handle: made[handle] or 0)
    monkeypatch.setattr(who, "_is_socket", lambda handle: True)
    found = of_hook({}, read=who.read_of_macos)

    assert (found.by, found.is_proven) == (by, proven)


def test_an_input_that_is_no_socket_proves_nothing(kernel, monkeypatch):
    pids = kernel(SH, CLAUDE, ZSH, LOGIN)
    monkeypatch.setattr(who.sys, "platform", "darwin")
    monkeypatch.setattr(who, "maker_of", lambda handle: pids[1] if handle else 0)
    monkeypatch.setattr(who, "_is_socket", lambda handle: False)

    assert not of_hook({}, read=who.read_of_macos).is_proven


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(bytes(100), id="a shorter one"),
        pytest.param(kinfo(7, 1, "login", TTY), id="of another process"),
    ],
)
def test_an_answer_that_is_not_as_expected_makes_nobody_a_person(monkeypatch, raw):
    monkeypatch.setattr(macos_processes, "sysctl", lambda *_: raw)

    assert who.read_of_macos(os.getppid()) is None
    assert of_command({}, read=who.read_of_macos, terminal=True).by is By.UNKNOWN


def test_a_kernel_that_knows_no_such_question_makes_nobody_a_person(monkeypatch):
    def unknown(*_):
        raise AttributeError("sysctl")

    monkeypatch.setattr(macos_processes, "sysctl", unknown)

    assert of_command({}, read=who.read_of_macos, terminal=True).by is By.UNKNOWN
