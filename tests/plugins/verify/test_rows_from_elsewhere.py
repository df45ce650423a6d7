"""Anchors of others: what of them may reach a terminal, git or a path."""

import json

from ademem.plugins.verify import anchor_verification
from tests.sync.clone import LINES, gotcha
from tests.sync.conftest import clone as clone
from tests.sync.conftest import clone_type as clone_type
from tests.sync.conftest import driver as driver
from tests.sync.test_rows_from_elsewhere import hostile, is_plain


def verified(clone):
    return anchor_verification.verify(clone.project, clone.store, clone.tick())


@hostile
def test_an_anchor_in_a_pulled_line_stops_no_check_and_is_stored_in_plain_letters(clone, text):
    (clone.root / "a.py").write_text("x = 1\n")
    gotcha(clone, "the cache is not thread safe", anchors=("a.py:1",))
    row = gotcha(clone, "retries need a limit")
    clone.refresh()
    line = next(each for each in clone.read(LINES).splitlines() if row.id in each)
    found = json.loads(line)
    found["anchors"], found["updated_at"] = [text], "2026-02-01T00:00:00.000Z"
    found.pop("stamps", None)
    clone.write(LINES, clone.read(LINES).replace(line, json.dumps(found)))
    clone.refresh()
    checked = verified(clone)

    assert "a.py:1" in [each.anchor for each in checked if each.location.state == "fresh"]
    assert all(map(is_plain, clone.get(row).anchors))
    assert all(is_plain(each.location.noted.where) for each in checked)
    for each in checked:
        assert anchor_verification.excerpt(each, anchor_verification.TracedTree(str(clone.root)))


@hostile
def test_an_anchor_that_is_stored_already_stops_no_check(clone, text):
    (clone.root / "a.py").write_text("x = 1\n")
    gotcha(clone, "the cache is not thread safe", anchors=("a.py:1",))
    row = gotcha(clone, "retries need a limit")
    update = "update unified_memories set anchors = ? where id = ?"
    text = text.encode("utf-8", "replace").decode()
    clone.store.db.execute(update, (json.dumps([text, f"{text}@0123456789abcdef"]), row.id))
    checked = verified(clone)

    assert "a.py:1" in [each.anchor for each in checked if each.location.state == "fresh"]
    for each in checked:
        assert anchor_verification.excerpt(each, anchor_verification.TracedTree(str(clone.root)))
