"""Pages, timelines and parts at the terminal."""

import pytest

from ademem.search.embedding import cache


def test_a_search_shows_previews_and_the_way_to_the_next_page(ademem):
    for topic in ("invoices", "uploads", "sessions"):
        ademem("add", f"The {topic} need a lock " + "that expires " * 30)
    page = ademem.json("search", "lock", "--limit", "2")

    assert (page["count"], page["total"]) == (2, 3)
    assert all(len(row["text"]) <= 240 for row in page["memories"])
    said = ademem("search", "lock", "--limit", "2", "--cursor", page["next_cursor"])
    assert "need a lock" in said
    assert ademem.json("get", page["memories"][0]["id"])["content"].count("that expires") == 30


@pytest.mark.parametrize("command", ["search", "recall"])
def test_an_answer_by_words_alone_is_named_where_a_model_is_installed(ademem, monkeypatch, command):
    ademem("add", "The invoices need a lock")
    assert "by words" not in ademem(command, "invoices")

    monkeypatch.setattr(cache, "installed_for", lambda _runtime: "minilm")
    assert "(answered by words alone)" in ademem(command, "invoices")


def test_a_search_in_vain_ends_with_1(ademem):
    assert "nothing in memory answers that" in ademem("search", "kubernetes")
    assert ademem.exit_code == 1


def test_a_timeline_marks_the_memory_that_was_asked_for(ademem):
    ademem.inside("s1")
    ids = [
        ademem.json("add", f"The {topic} need a lock")["memory"]["id"]
        for topic in ("invoices", "uploads", "sessions")
    ]
    ademem.outside()
    lines = ademem("timeline", ids[1]).splitlines()

    assert [line.split()[0] for line in lines] == [ids[0], ">", ids[2]]
    assert ademem.json("timeline", ids[1])["focus"]["id"] == ids[1]


def test_a_memory_that_a_person_wrote_names_them_once(ademem):
    id = ademem.json("add", "Use pnpm")["memory"]["id"]

    assert "\nfrom: user, " in ademem("get", id)


def test_a_long_text_is_shown_in_parts(ademem):
    text = "a lock that expires, " * 900
    id = ademem.json("add", text, "--title", "Locks")["memory"]["id"]
    first = ademem.json("get", id, "--offset", "0")
    second = ademem.json("get", id, "--offset", str(first["next_offset"]))

    assert (
        first["content"]
        + second["content"]
        + ademem.json("get", id, "--offset", str(second["next_offset"]))["content"]
        == text.strip()
    )


def test_an_earlier_revision_is_restored_as_the_history_numbers_it(ademem):
    id = ademem.json("add", "Use pnpm", "--tags", "tools")["memory"]["id"]
    ademem("edit", id, "--content", "Use npm", "--tags", "node", "--title", "Packages")
    ademem("archive", id, "--revision", "2")
    tried = ademem("restore", id, "--to", "1", "--dry-run")

    assert "would restore" in tried
    assert "Use pnpm" in tried
    assert ademem.json("get", id)["status"] == "archived"
    assert f"{id} has no revision 9" in ademem("restore", id, "--to", "9", "--dry-run")
    assert "is at revision 3, not 2" in ademem("restore", id, "--to", "1", "--revision", "2")
    assert "restored" in ademem("restore", id, "--to", "1")
    row = ademem.json("get", id)
    assert (row["content"], row["title"], row["tags"]) == ("Use pnpm", None, ["tools"])
    assert row["status"] == "promoted"
    assert f"{id} has no revision 9" in ademem("restore", id, "--to", "9")
    rows = ademem.json("get", "--history", id)["revisions"]
    assert [row["operation"] for row in rows[-2:]] == ["restore", "edit"]
    ademem("undo", rows[-1]["event_id"])
    row = ademem.json("get", id)
    assert (row["content"], row["status"]) == ("Use npm", "archived")
    ademem("restore", id)
    ademem.inside()
    assert "said or confirmed by a person" in ademem("restore", id, "--to", "1")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        pytest.param(["at", "--at", "src/"], "place", id="where it applies"),
        pytest.param(["at", "--when", "adding a package"], "when", id="when it is wanted"),
        pytest.param(["edit", "--tags", "node", "--content", "Use npm"], "text, tags", id="words"),
        pytest.param(["edit", "--command", "npm ci"], "anchor", id="a command"),
    ],
)
def test_the_log_says_of_an_edit_what_it_changed(ademem, change, told):
    id = ademem.json("add", "Use pnpm")["memory"]["id"]
    command, *flags = change
    ademem(command, id, *flags)

    assert ademem.json("log")["events"][0]["changed"] == told.split(", ")
    assert f"edit 1 ({told}) by user\n" in ademem("log")


def test_undo_alone_says_what_a_person_did_last_and_takes_it_back_then_the_act_before(ademem):
    id = ademem.json("add", "Use pnpm")["memory"]["id"]
    ademem("edit", id, "--content", "Use npm")
    ademem.inside()
    ademem("add", "Giraffes are counted twice")
    assert "needs a person" in ademem("undo")
    ademem.outside()

    assert "edit 1 (text) by user\n    Use npm\nwould undo" in ademem("undo", "--dry-run")
    assert "edit 1 (text) by user\n    Use npm\nundid" in ademem("undo")
    assert ademem.json("get", id)["content"] == "Use pnpm"
    assert "insert 1 by user\n    Use pnpm\nundid" in ademem("undo")
    assert "no act of a person can be taken back (`ademem log`" in ademem("undo")
    assert ademem.exit_code == 1
    assert [row["content"] for row in ademem.json("list")["memories"]] == [
        "Giraffes are counted twice"
    ]


def test_undo_alone_goes_past_no_deletion_for_good_but_says_how_to_name_an_act(ademem):
    kept = ademem.json("add", "Use pnpm")["memory"]["id"]
    id = ademem.json("add", "Backups run at two")["memory"]["id"]
    ademem("delete", id, "--hard")

    assert "nothing of it is left; `ademem log` shows acts before it" in ademem("undo")
    assert ademem.json("get", kept)["content"] == "Use pnpm"


def test_a_type_decides_about_the_category(ademem):
    added = ademem.json("add", "The parser fails on tabs", "--type", "bugfix")["memory"]
    learned = ademem.json("learn", "Redis drops idle locks", "--type", "bugfix")["memory"]

    assert (added["category"], added["tags"]) == ("gotcha", ["bugfix"])
    assert learned["category"] == "gotcha"
    assert "bugfix" in learned["tags"]
    assert "no type 'nonsense'" in ademem("learn", "x", "--type", "nonsense")


def test_an_agents_edit_of_what_a_person_confirmed_is_a_candidate_beside_it(ademem):
    ademem.inside()
    id = ademem.json("add", "Use Redis for locks")["memory"]["id"]
    ademem.outside()
    ademem("promote", id)
    ademem.inside()
    printed = ademem("edit", id, "--find", "Redis", "--replace", "Valkey")

    assert f"{id} is a person's; a candidate beside it:" in printed
    assert ademem.json("get", id)["content"] == "Use Redis for locks"
    assert ademem.json("get", id)["status"] == "promoted"
    ademem.outside()
    assert "Use Valkey for locks" in ademem("review", "--list")
    ademem("edit", id, "--content", "Use Valkey")
    assert ademem.json("get", id)["content"] == "Use Valkey"


def test_a_due_memory_is_listed_marked_and_edited_in_part(ademem):
    id = ademem.json("add", "Use Redis for locks", "-c", "decision", "--operation-id", "1")[
        "memory"
    ]["id"]

    assert ademem.json("review", "--due")["memories"] == []
    assert ademem.json("review", "--reviewed", id)["id"] == id
    edited = ademem.json("edit", id, "--find", "Redis", "--replace", "Valkey", "--revision", "2")
    assert edited["content"] == "Use Valkey for locks"
    assert "at revision 3, not 2" in ademem("edit", id, "--content", "x", "--revision", "2")
    assert (
        ademem("topic-key", "Use Redis for locks", "--type", "decision")
        == "decision/use-redis-for-locks\n"
    )


def test_a_list_shows_dates_and_names_the_later_of_two_facts(ademem):
    earlier = ademem.json("add", "yarn is the package manager")["memory"]["id"]
    row = ademem.json("add", "We switched to pnpm")["memory"]
    ademem("relations", "judge", row["id"], "conflicts_with", "--other", earlier)

    later, day = row["id"], row["created_at"][:10]
    first, second = ademem("list", "--all").splitlines()
    assert first.startswith(later)
    assert first.endswith(f"({day})")
    assert second.startswith(earlier)
    assert second.endswith(f"({day}, contradicted by {later}, {day})")
    assert f"(contradicted by {later}, {day})" in ademem("get", earlier)
    for row in (ademem.json("list", "--all")["memories"][1], ademem.json("get", earlier)):
        assert f"contradicted-by-{later}" in row["flags"]
