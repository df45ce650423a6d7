"""Pages tell what commands tell, and looking at them changes nothing."""

import hashlib
import html
import re
import time
from datetime import timedelta

import pytest

from ademem.core.client import TurnKey
from ademem.core.memory import Draft, Origin
from ademem.doors import reading
from ademem.doors.views import diff_words
from ademem.operations import curation, reports, searching, writing
from ademem.plugins.page.memory_pages import PAGE
from ademem.plugins.page.pages import PAGES
from ademem.plugins.page.rendering import mark_code
from ademem.plugins.page.server import Site
from ademem.plugins.procedures import operations
from ademem.search import engine
from ademem.store import logs
from ademem.store import memories as store_memories
from ademem.store.memories import Change
from tests import builders
from tests.builders import NOW
from tests.examples import FULL
from tests.plugins.page.conftest import Browser
from tests.world import World

YEAR_AGO = builders.NOW - timedelta(days=365)

LESSONS = """
Login tokens expire in UTC, never in local time
Money is stored in cents, as integers
The checkout retries a payment three times before it gives up
Invoices are sent by the night job
Images are resized by the worker, not by the web process
Currency rates come from the feed of the bank and are cached for a day
Refunds are booked on the next working day
The staging server restarts at four in the morning
Passwords are hashed with argon2
Never force-push to main
""".strip().split("\n")

QUESTIONS = (
    """
tokens|money|cents integers|checkout payment|invoices night|images worker|rates bank cached
refunds|staging server|passwords|force-push|why do tokens expire|payment twice|working day
the web process|argon2 hash|retry|morning restart|who sends invoices|zebra
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def ids(page):
    return list(dict.fromkeys(re.findall(r'href="/memory/([0-9a-f]+)"', page)))


def texts(page):
    return html.unescape(re.sub(r"<[^>]+>", "", page))


@pytest.fixture
def taught(browser):
    browser.world.know(*LESSONS)
    return browser


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_search_shows_the_hits_of_the_command_in_their_order(taught, question):
    page = taught.get("/memories", params={"q": question, "explain": "1"}).text
    taught.world.environment.pop("CLAUDE_CODE_SESSION_ID")
    with taught.world.memories() as memories:
        found = searching.search(memories, question, None, PAGE)

    assert ids(page) == [hit.memory.id for hit in found.hits]
    shown = re.findall(r'<dt>([\w ]+)</dt><dd><meter.*?class="number">([^<]+)<', page)
    assert shown == [
        (name.replace("_", " "), f"{value:.2f}")
        for hit in found.hits
        for name, value in hit.signals.items()
    ]


def test_the_script_gets_the_rows_alone(taught):
    part = taught.get("/memories", params={"q": "money"}, headers={"hx-request": "true"}).text

    assert "<html" not in part
    assert ids(part) == ids(taught.get("/memories", params={"q": "money"}).text)


def test_a_list_goes_on_by_key(browser):
    with browser.world.memories() as memories:
        builders.insert(
            memories.store, *(builders.memory(f"Lesson {number}") for number in range(PAGE + 7))
        )
    first = browser.get("/memories").text
    address = html.unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])
    second = browser.get(address).text

    assert len(ids(first)) == PAGE
    assert len(ids(second)) == 7
    assert not set(ids(first)) & set(ids(second))
    assert 'rel="next"' not in second


@pytest.mark.parametrize(
    ("filters", "count"),
    [
        ({"category": "gotcha"}, 1),
        ({"status": "candidate"}, 1),
        ({"tag": "payments"}, 1),
        ({"scope": "mission"}, 0),
        ({"days": "1"}, 3),
        ({"tier": "active"}, 2),
        ({"tier": "pinned"}, 0),
        ({"type": "bugfix"}, 1),
        ({"trust": "agent"}, 3),
        ({"trust": "web"}, 0),
        ({"from": "2100-01-01T00:00"}, 0),
        ({"to": "2100-01-01T00:00"}, 3),
    ],
    ids=str,
)
def test_filters_narrow_the_list(browser, filters, count):
    browser.world.know("Money is stored in cents")
    tags = ("payments", "bugfix")
    browser.world.know("A fourth attempt charges twice", category="gotcha", tags=tags)
    with browser.world.memories() as memories:
        writing.write(memories, Draft(content="Invoices are sent at night", origin=Origin()))

    assert len(ids(browser.get("/memories", params=filters).text)) == count


def test_a_time_without_a_zone_is_local(browser, monkeypatch):
    browser.world.know("Money is stored in cents")
    monkeypatch.setenv("TZ", "UTC-14")
    time.tzset()
    try:
        ahead = browser.world.now.replace(tzinfo=None) + timedelta(hours=1)
        listed = ids(browser.get("/memories", params={"from": ahead.isoformat()}).text)
    finally:
        monkeypatch.undo()
        time.tzset()

    assert len(listed) == 1


@pytest.mark.parametrize("order", ["newest", "oldest", "changed", "believed", "used"])
def test_a_list_goes_on_in_each_order(browser, order):
    values = [at % 7 for at in range(PAGE + 7)]
    with browser.world.memories() as memories:
        builders.insert(
            memories.store,
            *(
                builders.memory(f"Lesson {at}", confidence=value / 10, access_count=value)
                for at, value in enumerate(values)
            ),
        )
    first = browser.get("/memories", params={"order": order}).text
    address = html.unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])
    found = [browser.memory(id) for id in ids(first) + ids(browser.get(address).text)]

    column, is_down = engine.ORDERS[order]
    assert len({memory.id for memory in found}) == len(values)
    assert found == sorted(found, key=lambda it: (getattr(it, column), it.seq), reverse=is_down)


@pytest.mark.parametrize("order", ["helped", "file"])
def test_a_list_goes_on_by_what_helped_last_and_by_file(browser, order):
    lessons = [f"Lesson {at} about `src/{at % 5}.py`" for at in range(PAGE + 7)]
    (browser.world.root / "src").mkdir()
    for at in range(5):
        (browser.world.root / "src" / f"{at}.py").write_text("")
    browser.world.know(*lessons)
    known = {memory.content: memory.id for memory in browser.world.live()}
    helped = [known[lessons[3]], known[lessons[9]]]
    for at, id in enumerate(helped):
        with browser.world.memories() as memories:
            key = TurnKey(session_id=f"s{at}")
            logs.log_shown(memories.store, "prompt", [logs.Shown(memory_id=id)], NOW, key=key)
            logs.log_use(memories.store, f"s{at}", {id: "named"}, NOW + timedelta(days=at))
    first = browser.get("/memories", params={"order": order}).text
    address = html.unescape(re.search(r'rel="next" href="([^"]+)"', first)[1])
    listed = ids(first) + ids(browser.get(address).text)

    assert sorted(listed) == sorted(known.values())
    if order == "helped":
        assert listed[:2] == helped[::-1]
        assert "answered 1" in html.unescape(re.sub(r"<[^>]+>", "", first))
    else:
        files = [re.search(r"src/\d", browser.memory(id).content)[0] for id in listed]
        assert files == sorted(files)


def test_a_wrong_filter_is_reported(browser):
    answer = browser.get("/memories", params={"status": "lost"})

    assert answer.status_code == 400
    assert "candidate, promoted, archived" in texts(answer.text)


NINES = "9" * 5000


@pytest.mark.parametrize(
    ("path", "status"),
    [
        (f"/memories?days={NINES}", 200),
        (f"/session/s1/text/{NINES}", 404),
        ("/memories?from=9999-12-31T23:59:59-14:00", 400),
        ("/log?at=0001-01-01T00:00%2B14:00", 400),
    ],
    ids=["days", "text", "from", "at"],
)
def test_a_number_or_time_beyond_all_others_is_answered(browser, path, status):
    assert browser.get(path).status_code == status


def test_an_act_on_one_memory_takes_the_fields_of_its_operation(taught):
    with taught.world.memories() as memories:
        id = searching.list_memories(memories)[0].id
    taught.post(f"/memory/{id}/archive", reason="superseded by the port in config.toml")

    with taught.world.memories() as memories:
        last = curation.list_revisions(memories, id)[-1]
    assert (last["operation"], last["reason"]) == (
        "archive",
        "superseded by the port in config.toml",
    )
    before = taught.memory(id)
    taught.post(f"/memory/{id}/edit", content="The port is in config.toml")
    taught.post(f"/memory/{id}/restore", to="1")
    restored = taught.memory(id)
    assert (restored.live, restored.content) == (True, before.content)


@pytest.mark.parametrize("revision", [NINES, "x", "-1"], ids=["long", "text", "negative"])
def test_a_revision_that_is_none_decides_nothing(taught, revision):
    with taught.world.memories() as memories:
        id = searching.list_memories(memories)[0].id
    selected = {"id": f"{id}:{revision}", "verb": "archive"}
    for path, fields in (
        (f"/memory/{id}/archive", {"revision": revision}),
        ("/memories/decide", selected),
    ):
        assert taught.post(path, **fields).status_code == 400

    assert taught.memory(id).live


def test_the_overview_has_the_numbers_of_status(taught):
    with taught.world.memories() as memories:
        status = reports.get_status(memories)
    page = texts(taught.get("/upkeep").text)

    assert re.search(rf"{status['memories']['promoted']}\s+confirmed", page)
    assert re.search(rf"{len(LESSONS)}\s+learned in 7 days", page)


def test_a_memory_is_added_and_taken_back(browser):
    text = "Invoices are sent by the night job"
    given = {"content": text, "category": "decision", "tags": "billing", "path": "jobs/*.py"}
    browser.post("/memories/add", **given)
    (memory,) = browser.world.live()

    assert (memory.content, memory.category, memory.status) == (text, "decision", "promoted")
    assert (memory.tags, memory.file_scope_pattern) == (("billing",), "jobs/*.py")
    assert f"Added “{text}”" in browser.get("/memories").text
    browser.post("/undo")
    assert browser.world.live() == []


def test_a_text_that_the_gate_refuses_is_not_lost(browser):
    log = "$ git log\ncommit 8d1c8b69c3fce7bea45c73efd06983e3c419a92f\nAuthor: A <a@b.c>"
    answer = browser.post("/memories/add", content=log)

    assert answer.status_code >= 400
    assert "not kept (" in texts(answer.text)
    assert log in texts(answer.text)


def test_a_page_for_an_agent_adds_nothing(world):
    browser = Browser(world, read_only="claude runs this shell").enter()
    assert browser.post("/memories/add", content="Trust me").status_code == 403
    assert "Add a memory" not in browser.get("/memories").text
    assert world.live() == []
    browser.site.close()


@pytest.mark.parametrize("scope", ["agent", "mission"])
def test_memories_of_an_agent_or_a_mission_are_found_from_their_number(browser, scope):
    with browser.world.memories() as memories:
        operations.start_mission(memories, "Read the map", id="scout")
        draft = Draft(content="Scouts read the map", scope=scope, owner="scout")
        assert writing.write(memories, draft).accepted
    (led,) = re.findall(
        rf'<a href="([^"]+)">{scope}</a></th><td class="number">1<', browser.get("/upkeep").text
    )
    mine = browser.get("/memories", params={"scope": scope, "owner": "scout"}).text
    nobodys = browser.get("/memories", params={"scope": scope}).text

    assert "scout" in texts(browser.get(led).text.partition("<main")[2])
    assert "Scouts read the map" in mine
    assert f'<a href="{led}">All {scope}s</a>' in nobodys


def test_the_overview_counts_what_the_week_taught_up_to_a_limit(browser, monkeypatch):
    monkeypatch.setattr(reading, "COUNTED", 2)
    browser.world.now = builders.NOW
    for count, shown in ((2, "2"), (3, r"2\+")):
        with browser.world.memories() as memories:
            builders.insert(memories.store, builders.memory(f"Lesson {count}"))
            if count == 2:
                builders.insert(memories.store, builders.memory("Lesson 1"))

        assert re.search(rf"<b>{shown}</b> learned in 7 days", browser.get("/upkeep").text)


def test_the_overview_begins_with_the_pinned_ones_of_the_week(browser):
    old, doubted, *believed = [
        builders.memory("Of last year", pinned=True, tier=1, created_at=YEAR_AGO),
        builders.memory("Pinned and doubted", pinned=True, tier=1, confidence=0.2),
        *(builders.memory(f"Lesson {at}", confidence=0.9) for at in range(12)),
    ]
    browser.world.now = builders.NOW
    with browser.world.memories() as memories:
        builders.insert(memories.store, old, *believed, doubted)
    page = browser.get("/upkeep").text

    assert re.search(r"13</b> learned in 7 days", page)
    best = re.findall(r'data-row="(\w+)"', page)
    assert len(best) == 10
    assert browser.memory(best[0]).content == "Pinned and doubted"
    assert {browser.memory(id).content for id in best[1:]} <= {each.content for each in believed}


def test_history_marks_the_words_that_changed(taught):
    (memory, *_) = taught.world.live()
    with taught.world.memories() as memories:
        curation.edit(memories, memory.id, content=memory.content.replace("main", "release"))
    page = taught.get(f"/memory/{memory.id}").text

    assert "<del>main</del>" in page
    assert "<ins>release</ins>" in page


def test_a_diff_has_all_words_of_both_texts():
    parts = list(diff_words("cut the old tree", "cut a tree down"))

    assert [text for kind, text in parts if kind != "added"] == ["cut", "the old", "tree"]
    assert [text for kind, text in parts if kind != "removed"] == ["cut", "a", "tree", "down"]


def state(world):
    """All that looking could change: counts, logs, and the files beside the database."""
    rows = world.rows("select id, access_count, access_score, revision_count from unified_memories")
    files = {
        path.relative_to(world.root): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((world.root / ".ade").rglob("*"))
        if path.is_file() and not path.name.startswith("ade.db")
    }
    log = world.row("select count(*) from recall_log")[0]
    return [tuple(row) for row in rows], files, log


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.path)
def test_looking_changes_nothing(taught, page):
    (memory, *_) = taught.world.live()
    path = page.path.replace("{id}", memory.id if "memory" in page.path else "s1")
    before = state(taught.world)
    for _ in range(100 if FULL else 3):
        asked = {"q": "money", "memory": memory.id}
        assert taught.get(path, params=asked).status_code in (200, 404)

    assert state(taught.world) == before


def test_forms_act_without_a_script_and_undo_takes_it_back(taught):
    memory = next(each for each in taught.world.live() if "Money" in each.content)
    answer = taught.post(
        f"/memory/{memory.id}/edit",
        content="Money is stored in cents,\r\nas integers",
        revision=str(memory.revision_count),
        next=f"/memory/{memory.id}",
    )

    assert answer.headers["location"] == f"/memory/{memory.id}"
    assert taught.memory(memory.id).content == "Money is stored in cents,\nas integers"
    taught.post("/undo")
    assert taught.memory(memory.id).content == memory.content
    taught.post("/redo")
    assert taught.memory(memory.id).content == "Money is stored in cents,\nas integers"


@pytest.mark.parametrize("verb", ["archive", "pin", "delete", "unpin"])
def test_each_act_is_taken_back(taught, verb):
    (memory, *_) = taught.world.live()
    assert taught.post(f"/memory/{memory.id}/{verb}").status_code == 303
    assert taught.post("/undo").status_code == 303

    after = taught.memory(memory.id)
    assert (after.status, after.pinned, after.deleted_at) == ("promoted", False, None)


def test_a_button_undoes_the_act_that_stands_beside_it_once(taught):
    taught.post("/memories/add", content="Backups run at night")
    bar = re.search(r'action="/undo".*?value="(\d+)" name="act"', taught.get("/").text, re.DOTALL)
    taught.post("/memories/add", content="Caches are cleared at noon")

    assert [taught.post("/undo", act=bar[1]).status_code for _ in range(2)] == [303, 409]
    contents = {each.content for each in taught.world.live()}
    assert "Caches are cleared at noon" in contents
    assert "Backups run at night" not in contents


def test_a_bulk_act_is_one_act(taught):
    rows = [f"{each.id}:{each.revision_count}" for each in taught.world.live()[:3]]
    taught.client.post(
        "/memories/decide", data={"csrf": taught.token, "verb": "archive", "id": rows}
    )
    assert len(taught.world.live()) == len(LESSONS) - 3
    taught.post("/undo")

    assert len(taught.world.live()) == len(LESSONS)


def test_a_tag_is_added_to_all_that_are_selected(taught):
    chosen = taught.world.live()[:2]
    rows = [f"{each.id}:{each.revision_count}" for each in chosen]
    taught.client.post(
        "/memories/decide",
        data={"csrf": taught.token, "verb": "tag", "tag": "shop", "id": rows},
    )

    assert {each.id for each in taught.world.live() if "shop" in each.tags} == {
        each.id for each in chosen
    }


def test_deleting_for_good_needs_the_id(taught):
    (memory, *_) = taught.world.live()

    assert taught.post(f"/memory/{memory.id}/delete-hard", typed="yes").status_code == 400
    assert taught.post(f"/memory/{memory.id}/delete-hard", typed=memory.id).status_code == 303
    assert taught.get(f"/memory/{memory.id}").status_code in (200, 404)
    assert memory.content not in texts(taught.get("/memories").text)


def test_a_form_cannot_send_the_browser_elsewhere(taught):
    for there in ("https://evil.example/", "//evil.example", "/\\evil.example", "/a\nb"):
        assert taught.post("/theme", theme="dark", next=there).headers["location"] == "/"


def test_a_project_that_is_gone_is_reported_and_the_page_lives(taught):
    ade = taught.world.root / ".ade"
    ade.rename(taught.world.root / "away")
    answer = taught.get("/memories")

    assert answer.status_code >= 400
    assert "ademem init" in texts(answer.text)
    (taught.world.root / "away").rename(ade)
    assert taught.get("/memories").status_code == 200


@pytest.mark.parametrize("damage", ["no database", "a newer one"])
def test_a_database_that_cannot_be_used_is_reported_and_the_page_lives(taught, damage):
    database = taught.world.root / ".ade/ade.db"
    whole = {path: path.read_bytes() for path in database.parent.glob("ade.db*")}
    if damage == "a newer one":
        with taught.world.memories() as memories:
            memories.store.db.execute("pragma user_version = 9999")
    else:
        for path in whole:
            path.unlink()
        database.write_bytes(b"SQLite format 3\0" + b"rubbish" * 1000)
    answer = taught.get("/memories")

    assert answer.status_code == 503
    assert "ademem" in texts(answer.text)
    for path in database.parent.glob("ade.db*"):
        path.unlink()
    for path, content in whole.items():
        path.write_bytes(content)
    assert taught.get("/memories").status_code == 200


def test_an_act_is_in_the_project_of_its_window_whatever_another_chose(tmp_path):
    folders = [tmp_path / "one", tmp_path / "other"]
    for folder in folders:
        folder.mkdir()
    one, other = map(World, folders)
    for each in (one, other):
        each.know("Deploys run at noon")
    browser = Browser(one, other).enter()
    (memory,) = one.live()
    token = browser.token
    browser.post("/project", project="other")
    other.know("Tests run at one")

    assert "Tests run" in browser.get("/memories").text
    assert "Tests run" not in browser.get("/memories", headers={"x-csrf": token}).text
    browser.post("/memories/add", content="Backups run at two")
    browser.post("/project", project="other")
    browser.post(f"/memory/{memory.id}/archive")
    assert [each.content for each in one.live()] == ["Backups run at two"]
    assert {each.content for each in other.live()} == {"Deploys run at noon", "Tests run at one"}
    assert "Backups run" in browser.get("/memories").text
    browser.site.close()


def test_two_projects_of_one_name_are_distinguished_by_their_folders(tmp_path):
    roots = [tmp_path / "a/shop", tmp_path / "b/shop"]
    for root in roots:
        root.mkdir(parents=True)
        World(root)
    site = Site([str(root) for root in roots], {"HOME": str(tmp_path)}, port=1)

    assert list(site.projects) == [str(root) for root in roots]
    site.close()


def test_each_concern_is_counted_as_the_list_behind_it(browser):
    (browser.world.root / "pay.py").write_text("RETRIES = 3\n")
    browser.world.know("RETRIES is 3", "Nothing is wrong with this", anchors=("pay.py",))
    browser.world.know("Shown again and again", "Shown and pinned")
    with browser.world.memories() as memories:
        found = {each.content: each for each in searching.list_memories(memories)}
        curation.pin(memories, found["Shown and pinned"].id)
        with memories.store.transaction() as db:
            db.execute("update memory_bindings set state = 'gone' where kind = 'anchor'")
            db.execute(
                "update memory_bindings set state = 'changed'"
                " where state = 'gone' and memory_seq = ?",
                (found["RETRIES is 3"].seq,),
            )
            for name in ("Shown again and again", "Shown and pinned"):
                db.execute(
                    "insert or replace into memory_exposure (memory_id, shown, unused)"
                    " values (?, 20, 11)",
                    (found[name].id,),
                )
        told = reports.get_status(memories)["concerns"]
    overview = browser.get("/upkeep").text
    listed = {name: ids(browser.get("/memories", params={"concern": name}).text) for name in told}

    assert told == {"code-changed": 1, "code-gone": 1, "unused": 1}
    assert listed == {
        "code-changed": [found["RETRIES is 3"].id],
        "code-gone": [found["Nothing is wrong with this"].id],
        "unused": [found["Shown again and again"].id],
    }
    for name, count in told.items():
        assert f'href="/memories?concern={name}"><b>{count}</b>' in overview


def test_the_overview_tells_disk_guard_and_the_time_of_hooks(browser):
    from ademem.operations.doctor import Finding

    project = next(iter(browser.site.projects.values()))
    assert "not checked yet" in texts(browser.get("/upkeep").text)
    told = "10 hooks fired, the slowest Stop in 87 ms"
    project.check.findings = [Finding(check="rehearsal", ok=True, message=told)]
    with browser.world.memories() as memories, memories.store.transaction() as db:
        size = reports.get_status(memories)["bytes"]
        db.execute(
            "insert into decision_log (project_id, part, decision, subject, reason, created_at)"
            " values (?, 'guard', 'deny', 'x', 'y', '2026-01-01T00:00:00.000000Z')",
            (memories.store.project_id,),
        )
    page = browser.get("/upkeep").text

    assert told in page
    assert '<a href="/log#decisions">1 deny</a>' in page
    assert f"{size:,} bytes" in page
    assert size == (browser.world.root / ".ade/ade.db").stat().st_size


@pytest.mark.parametrize(("part", "name"), [("gate", "refusals"), ("guard", "decisions")])
def test_a_log_is_read_to_its_end_by_pages(browser, part, name):
    given = [f"subject {at}." for at in range(120)]
    with browser.world.memories() as memories, memories.store.transaction() as db:
        db.executemany(
            "insert into decision_log (project_id, part, decision, subject, reason, created_at)"
            " values (?, ?, 'x', ?, 'y', '2026-01-01T00:00:00.000000Z')",
            [(memories.store.project_id, part, subject) for subject in given],
        )
    path, seen = "/log", []
    while path:
        page = browser.get(path).text
        seen += re.findall(r"subject \d+\.", page)
        following = re.search(rf'href="(/log\?{name}=\d+)#{name}"', page)
        path = following and following[1]

    assert seen == given[::-1]
    assert browser.get(f"/log?{name}={'9' * 30}").status_code == 200


def test_a_full_page_of_the_log_has_at_most_64_kilobytes(browser):
    text = "a long lesson about the payment service and its mirror " * 4
    with browser.world.memories() as memories, memories.store.transaction() as db:
        for at in range(PAGE + 1):
            change = Change(
                operation="insert", actor="user", at=builders.NOW, event_id=f"{at:016x}"
            )
            for number in range(5):
                row = builders.memory(f"{text} {at} {number}", project_id=memories.store.project_id)
                store_memories.insert(memories.store, row, change)
        db.executemany(
            "insert into decision_log"
            " (project_id, part, decision, kind, subject, reason, session_id, created_at)"
            " values (?, ?, 'near_duplicate', 'Write', ?, 'y', ?, '2026-01-01T00:00:00.000000Z')",
            [
                (memories.store.project_id, part, text, "0" * 36)
                for part in ("gate", "guard")
                for _ in range(60)
            ],
        )

    page = browser.get("/log")
    assert page.text.count("<li data-row=") == PAGE
    assert len(page.content) <= 64 * 1024


def test_commands_in_a_text_of_ours_are_shown_as_code(browser):
    assert (
        "<code>ademem model install</code> adds recall by meaning" in browser.get("/settings").text
    )
    assert str(mark_code("a `<b>` c")) == "a <code>&lt;b&gt;</code> c"


def test_an_address_in_a_text_is_no_link_and_can_be_copied(browser):
    browser.world.know("See https://example.org/a?b=1 (or http://example.org/c).")
    (memory,) = browser.world.live()
    page = browser.get(f"/memory/{memory.id}").text

    assert re.findall(r'data-copy="([^"]*)"', page) == [
        "https://example.org/a?b=1",
        "http://example.org/c",
    ]
    assert not re.search(r'href="https?:', page)


def test_a_memory_deleted_for_good_is_in_no_act_of_the_page(browser):
    brief = {"agent": "", "field": "notes", "next": "/log"}
    browser.world.know("CANARY is stored in cents")
    (memory,) = browser.world.live()
    browser.post("/agents/edit", content="CANARY of a brief", version="0", **brief)
    browser.post("/agents/edit", content="Ask Ada first", version="1", **brief)
    browser.post(f"/memory/{memory.id}/pin")
    assert "CANARY" in browser.get("/agents").text  # in the label of the last act
    browser.post(f"/memory/{memory.id}/delete-hard", typed=memory.id)
    assert browser.post("/undo", next="/agents").status_code == 303

    for path in ("/", "/agents", "/log"):
        assert "CANARY" not in browser.get(path).text
    assert not browser.site.projects["project"].done
