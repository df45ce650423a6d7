"""`ademem merge-file` where git hands it something that cannot be merged."""

from __future__ import annotations

import pytest

OURS = b"# Gotchas\n\n- what we wrote\n"


def unreadable(path):
    path.unlink()


def a_folder(path):
    path.unlink()
    path.mkdir()


def binary(path):
    path.write_bytes(b"\x89PNG\r\n\x1a\n\xff\xfe")


def with_a_nul(path):
    path.write_bytes(b"text\0more")


@pytest.mark.parametrize("spoil", [unreadable, a_folder, binary, with_a_nul])
@pytest.mark.parametrize("which", ["base", "theirs"])
def test_what_cannot_be_merged_is_a_conflict_for_git_and_changes_nothing(ademem, spoil, which):
    for name in ("base", "ours", "theirs"):
        (ademem.root / name).write_bytes(OURS)
    spoil(ademem.root / which)

    said = ademem("merge-file", "base", "ours", "theirs", "gotchas.md")
    assert said.startswith(f"ademem: {which} ")
    assert "merge it by hand" in said
    assert said.count("\n") == 1
    assert ademem.exit_code == 1
    assert (ademem.root / "ours").read_bytes() == OURS


def test_two_texts_are_merged_into_ours(ademem):
    (ademem.root / "base").write_bytes(OURS)
    (ademem.root / "ours").write_bytes(OURS)
    (ademem.root / "theirs").write_bytes(OURS + b"- what they wrote\n")

    ademem("merge-file", "base", "ours", "theirs", "notes.md")
    assert ademem.exit_code == 0
    assert b"what they wrote" in (ademem.root / "ours").read_bytes()
