"""The tracked files are read once, in parts, and again where they changed."""

import os

import pytest

from ademem.core.text import LONG
from ademem.files import FOLDER
from ademem.files.texts import OVERSIZE
from ademem.sync import tracked_files
from ademem.sync.tracked_files import LINE_CHARS

PATH = f"{FOLDER}facts.md"


@pytest.fixture
def page(here, tmp_path):
    page = tmp_path / PATH
    page.parent.mkdir(parents=True)
    return page


def write(page, text, times):
    page.write_text(text, newline="")
    os.utime(page, ns=times)


def test_of_two_readings_the_second_has_what_changed_between_them(here, page, monkeypatch):
    times, read = (10**18, 10**18), []
    stream = tracked_files._stream
    monkeypatch.setattr(tracked_files, "FRESH_S", 0)
    monkeypatch.setattr(
        tracked_files, "_stream", lambda *given: read.append(given[1]) or stream(*given)
    )
    write(page, "high tides", times)
    first = tracked_files.present(here)
    read.clear()

    assert tracked_files.present(here, first)[PATH] == "high tides"
    assert PATH not in read
    write(page, "late tides", times)  # of the same length and time
    assert tracked_files.present(here, first)[PATH] == "late tides"


@pytest.mark.parametrize("long_at", [0, 1, 2])
def test_a_long_file_is_read_as_it_is_and_a_line_that_is_too_long_by_its_size(here, page, long_at):
    lines = "größer als zuvor\r\nso it goes\n"
    block = lines * (LONG // len(lines.encode()))
    block += "\n" * (LONG - len(block.encode()))  # the next line begins a part
    long = "ö" * (LINE_CHARS + 1)
    parts = [block, block]
    parts.insert(long_at, f"{long}\r\n")
    write(page, "".join(parts), (1, 1))
    parts[long_at] = f"{OVERSIZE}{2 * len(long)} of {LINE_CHARS}\r\n"

    assert tracked_files.present(here)[PATH] == "".join(parts)
