"""`ademem sync --engram`."""

import shutil

import pytest

from tests.plugins.exchange.test_command import Failed
from tests.plugins.exchange.test_command import machine as machine


def test_engrams_chunks_go_both_ways(machine, tmp_path):
    anna, ben = machine("anna"), machine("ben")
    folder, theirs = tmp_path / "anna/shop/.engram", tmp_path / "ben/shop/.engram"
    anna("add", "Deploys run at noon.")
    assert "1 memory and 0 changes to send" in anna("sync", "--engram", "--status")
    assert anna("sync", "--engram", "--dry-run") == "would send 1 memory, 0 changes"
    assert not folder.exists()

    assert anna("sync", "--engram").endswith(".jsonl.gz: 1 memory, 0 changes")
    assert anna("sync", "--engram") == "Engram's chunks have everything"
    shutil.copytree(folder, theirs)
    assert "1 inserted" in ben("sync", "--engram", "--import", "--dry-run")
    assert ben("sync", "--engram", "--import") == "1 chunk read: 1 inserted, 1 session"
    assert ben("sync", "--engram", "--import") == "0 chunks read: nothing new"
    assert "Deploys run at noon." in ben("list", "--status", "candidate")
    assert anna("sync", "--engram", "--leave").startswith("left Engram")
    with pytest.raises(Failed, match="nothing was written for Engram"):
        anna("sync", "--engram", "--leave")


def test_a_damaged_chunk_of_engram_is_an_exit_code(machine, tmp_path):
    anna, ben = machine("anna"), machine("ben")
    anna("add", "Deploys run at noon.")
    anna("sync", "--engram")
    shutil.copytree(tmp_path / "anna/shop/.engram", tmp_path / "ben/shop/.engram")
    (chunk,) = (tmp_path / "ben/shop/.engram/chunks").iterdir()
    chunk.write_bytes(b"")

    with pytest.raises(Failed, match=r"exit 1\nchunk .*: it is not whole"):
        ben("sync", "--engram", "--import")
