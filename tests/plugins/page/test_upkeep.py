"""Checks, settings and jobs on the page: what commands tell, and what is written where."""

import html
import re
import threading
import time
from datetime import timedelta

import pytest

from ademem.core import process, trust
from ademem.operations import configuring, doctor, reports
from ademem.plugins.page.upkeep_pages import to_age
from ademem.store import jobs
from tests.plugins.page.test_pages import texts

WAITS = 'data-awaits="check"'


def checked(browser):
    """Return the page of the checks after the one that runs."""
    deadline = time.monotonic() + 60
    while WAITS in (page := browser.get("/doctor").text):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return page


def test_a_check_runs_beside_the_pages_and_its_last_result_stays(browser, monkeypatch):
    before = checked(browser)
    may_end, started, run = threading.Event(), [], process.run

    def run_late(command, **options):
        if "doctor" in command:
            started.append(command)
            may_end.wait(60)
        return run(command, **options)

    monkeypatch.setattr("ademem.core.process.run", run_late)
    browser.world.now += timedelta(hours=2)
    assert browser.post("/doctor/check", next="/doctor").status_code == 303
    during = browser.get("/doctor").text
    event = int(browser.get("/").headers["x-event"])  # other pages answer meanwhile
    may_end.set()
    after = checked(browser)

    assert "passed" in before or "failed" in before
    assert WAITS in during
    assert "2 hours ago" in during
    assert re.findall("<strong>[a-z]+</strong>", during) == re.findall(
        "<strong>[a-z]+</strong>", before
    )
    assert "0 seconds ago" in after
    assert len(started) == 1
    live = next(iter(browser.site.projects.values())).live
    assert [each.kind for each in live.events if each.id > event] == ["check"]


def test_a_check_that_does_not_end_is_reported_and_can_be_tried_again(browser, monkeypatch):
    def fail(command, **_):
        raise TimeoutError("ademem took longer than 900 s")

    with monkeypatch.context() as patched:
        patched.setattr("ademem.core.process.run", fail)
        failed = checked(browser)
    browser.post("/doctor/check", next="/doctor")

    assert "did not end: ademem took longer" in failed
    assert "did not end" not in checked(browser)


@pytest.mark.parametrize(
    ("since", "told"),
    [
        (timedelta(seconds=-1), "0 seconds"),
        (timedelta(seconds=59), "59 seconds"),
        (timedelta(minutes=1), "1 minute"),
        (timedelta(hours=47), "1 day"),
    ],
)
def test_an_age_is_given_in_the_largest_unit(since, told):
    assert to_age(since) == told


def test_every_check_is_shown_with_its_finding(browser):
    with browser.world.memories() as memories:
        patient = doctor.Patient(
            project=memories.project, environment=memories.environment, now=memories.now
        )
        checks = {finding.check for finding in doctor.examine(patient)}
    page = checked(browser)

    starting = {"commands", "server", "rehearsal"}
    assert set(re.findall(r"<strong>([a-z]+)</strong>", page)) == checks | starting


def test_a_fix_shows_its_plan_and_then_does_it(browser):
    log = browser.world.root / ".ade/log/hooks.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text('{"at": "2026-03-01T12:00:00.000Z"}\n')
    planned = texts(checked(browser))
    assert log.exists()  # a look changes nothing
    answer = browser.post("/doctor/fix", next="/doctor")
    done = texts(checked(browser))

    assert "put the failures seen into" in planned.partition("What a fix would do")[2]
    assert answer.status_code == 303
    assert not log.exists()
    assert "put the failures seen into" in done.partition("Checks")[0]
    assert "Nothing: no finding" in done


def test_every_setting_is_shown_with_its_sentence(browser):
    page = browser.get("/settings").text
    shown = html.unescape(re.sub("<[^>]*>", "", page))

    for key, described in configuring.describe_keys().items():
        assert f'href="/settings?key={key}"' in page
        assert described.meaning.replace("`", "") in shown
    assert len(page.encode()) <= 64 * 1024


def test_the_reader_is_offered_with_price_and_recipient_until_it_is_on(browser):
    offered = browser.get("/settings").text
    browser.post("/settings", key="learn.reader", value="on")
    page = browser.get("/settings?key=learn.reader").text

    assert "less than 0.2 US cents" in offered
    assert "to the provider of your sessions" in offered
    assert "on now, from" in page
    assert "less than 0.2 US cents" not in page


def test_a_setting_is_written_with_the_comments_kept_and_counts_at_once(browser):
    file = browser.world.root / ".ade/config.toml"
    file.write_text("# ours\n[search]\nlimit = 20  # as we found\n")
    assert 'value="20"' in browser.get("/settings?key=search.limit").text
    browser.post("/settings", key="search.limit", value="30")

    assert file.read_text() == "# ours\n[search]\nlimit = 30  # as we found\n"
    assert 'value="30"' in browser.get("/settings?key=search.limit").text
    browser.post("/undo")
    assert "limit = 20  # as we found" in file.read_text()


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        ("search.limit", "7000", "it may be"),
        ("search.nothing", "1", "search.nothing"),
    ],
)
def test_a_wrong_setting_is_reported_and_not_written(browser, key, value, why):
    file = browser.world.root / ".ade/config.toml"
    answer = browser.post("/settings", key=key, value=value)

    assert answer.status_code in (400, 409)
    assert why in texts(answer.text)
    assert not file.exists()


def test_a_setting_of_the_person_goes_to_their_own_file(browser):
    browser.post("/settings", key="guard.mode", value="off")

    with open(trust.config_path(browser.site.projects["project"].acts._environment)) as own:
        assert 'mode = "off"' in own.read()
    assert not (browser.world.root / ".ade/config.toml").exists()


def test_what_stopped_is_tried_again_from_its_page(browser):
    with browser.world.memories() as memories:
        for _ in range(jobs.ATTEMPTS):
            jobs.count_failure(memories.store, "mirror", "project", "disk full", memories.now)
        assert reports.get_status(memories)["jobs"]["parked"]
    assert "Retry what stopped" in browser.get("/upkeep").text
    browser.post("/jobs/retry")

    assert "Retry what stopped" not in browser.get("/upkeep").text


def test_a_page_for_an_agent_fixes_and_sets_nothing(world):
    from tests.plugins.page.conftest import Browser

    browser = Browser(world, read_only="an agent").enter()
    try:
        answers = [
            browser.post(path, key="search.limit", value="30")
            for path in ("/doctor/fix", "/settings", "/jobs/run", "/jobs/retry")
        ]
    finally:
        browser.site.close()

    assert [answer.status_code for answer in answers] == [403] * 4


def test_a_check_that_ends_while_its_page_is_read_is_awaited(browser, monkeypatch):
    check = next(iter(browser.site.projects.values())).check

    def end(*_):
        check.is_running = False
        return []

    monkeypatch.setattr(check, "start", lambda: setattr(check, "is_running", True))
    monkeypatch.setattr(doctor, "plan_fix", end)

    assert WAITS in browser.get("/doctor").text
