"""Checks, settings and jobs on the page: what commands tell, and what is written where."""

import html
import re

import pytest

from ademem import api
from ademem.api import configuring, doctor
from ademem.core import caller, trust
from ademem.store import jobs
from tests.doors.web.test_pages import texts


def test_every_check_is_shown_with_its_finding(browser):
    with browser.world.memories() as memories:
        patient = doctor.Patient(
            project=memories.project, environment=memories.environment, now=memories.now
        )
        checks = {finding.check for finding in doctor.examine(patient)}
    page = browser.get("/doctor").text

    assert set(re.findall(r"<strong>([a-z]+)</strong>", page)) == checks


def test_a_fix_shows_its_plan_and_then_does_it(browser):
    log = browser.world.root / ".ade/log/hooks.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text('{"at": "2026-03-01T12:00:00.000Z"}\n')
    planned = texts(browser.get("/doctor").text)
    assert log.exists()  # a look changes nothing
    answer = browser.post("/doctor/fix", next="/doctor")
    done = texts(browser.get("/doctor").text)

    assert "put the failures seen into" in planned.partition("What a fix would do")[2]
    assert answer.status_code == 303
    assert not log.exists()
    assert "put the failures seen into" in done.partition("Checks")[0]
    assert "Nothing: no finding" in done


def test_every_setting_is_shown_with_its_sentence(browser):
    page = browser.get("/settings").text
    shown = html.unescape(page)

    for key, described in configuring.describe_keys().items():
        assert f'href="/settings?key={key}"' in page
        assert described.meaning in shown
    assert len(page.encode()) <= 64 * 1024


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
def test_a_wrong_setting_is_told_and_not_written(browser, key, value, why):
    file = browser.world.root / ".ade/config.toml"
    answer = browser.post("/settings", key=key, value=value)

    assert answer.status_code in (400, 409)
    assert why in texts(answer.text)
    assert not file.exists()


def test_a_setting_of_the_person_goes_to_their_own_file(browser, monkeypatch):
    refused = browser.post("/settings", key="guard.mode", value="off")
    monkeypatch.setattr(caller, "require_person", lambda *_: None)
    browser.post("/settings", key="guard.mode", value="off")

    assert refused.status_code >= 400  # no terminal
    with open(trust.config_path(browser.site.projects["project"].acts._environment)) as own:
        assert 'mode = "off"' in own.read()
    assert not (browser.world.root / ".ade/config.toml").exists()


def test_what_stopped_is_tried_again_from_the_overview(browser):
    with browser.world.memories() as memories:
        for _ in range(jobs.ATTEMPTS):
            jobs.count_failure(memories.store, "mirror", "project", "disk full", memories.now)
        assert api.get_status(memories)["jobs"]["parked"]
    assert "Retry what stopped" in browser.get("/").text
    browser.post("/jobs/retry")

    assert "Retry what stopped" not in browser.get("/").text


def test_a_page_for_an_agent_fixes_and_sets_nothing(world):
    from tests.doors.web.conftest import Browser

    browser = Browser(world, read_only="an agent").enter()
    try:
        answers = [
            browser.post(path, key="search.limit", value="30")
            for path in ("/doctor/fix", "/settings", "/jobs/run", "/jobs/retry")
        ]
    finally:
        browser.site.close()

    assert [answer.status_code for answer in answers] == [403] * 4
