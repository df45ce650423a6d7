"""Which texts give different values to one subject."""

from __future__ import annotations

from pathlib import Path

import pytest

from ademem.capture.gate.relating import LIKELY, STRONG
from ademem.search.contradiction import explain, is_explicit, likelihood, read

FITTED, APART = "# fitted", "# kept apart"


def pairs(half):
    """Mark, cosine and texts of the pairs of one half."""
    text = (Path(__file__).parent / "pairs.txt").read_text(encoding="utf-8")
    lines = text.partition(half)[2].partition("\n\n")[0].strip().splitlines()
    for line in lines:
        head, earlier, later = line.split(" | ")
        mark, cosine = head.split()
        yield mark, float(cosine), earlier, later


def share(half, mark, least, *, with_cosine):
    """The share of the pairs with this mark that are at least so likely."""
    scores = [
        likelihood(earlier, later, cosine if with_cosine else None)
        for kind, cosine, earlier, later in pairs(half)
        if kind == mark
    ]
    return sum(score >= least for score in scores) / len(scores)


@pytest.mark.parametrize("half", [FITTED, APART])
@pytest.mark.parametrize("with_cosine", [True, False])
class TestPairsWrittenBeforeTheRules:
    def test_most_changes_are_found(self, half, with_cosine):
        assert share(half, ">", LIKELY, with_cosine=with_cosine) >= 0.6

    def test_few_that_look_like_one_are_taken_for_it(self, half, with_cosine):
        assert share(half, "~", LIKELY, with_cosine=with_cosine) <= 0.08
        assert share(half, "~", STRONG, with_cosine=with_cosine) <= 0.03


@pytest.mark.parametrize(
    ("earlier", "later", "why"),
    [
        pytest.param(
            "yarn is the package manager",
            "We switched to pnpm",
            "pnpm against yarn",
            id="a name in the place of another",
        ),
        pytest.param(
            "Team A owns billing",
            "Team B owns billing now",
            "one says that something changed",
            id="another one of several in its place",
        ),
        pytest.param(
            "The main branch is called master",
            "We renamed master to main",
            "one says that something changed",
            id="the name that is no longer used",
        ),
        pytest.param(
            "The cache TTL for product pages is 10 minutes",
            "Product pages are cached for one hour",
            "1 hour against 10 minute",
            id="durations in other words",
        ),
        pytest.param(
            "We deploy on Thursdays",
            "deployments happen on Tuesday mornings",
            "thursday against tuesday",
            id="days of the week",
        ),
        pytest.param(
            "Python 3.9 is the minimum",
            "We require at least Python 3.11",
            "3.11 against 3.9",
            id="versions",
        ),
        pytest.param(
            "Migrations are run by hand after the deploy",
            "Migrations run automatically in an init container",
            "automatically against by hand",
            id="how it is done",
        ),
        pytest.param(
            "Invoices are approved by the finance team",
            "The audit team approves invoices",
            "audit against finance",
            id="a plain word as the name of a team",
        ),
        pytest.param(
            "Stock is exported to the queue ledger",
            "Stock is exported to the queue outbox",
            "ledger against outbox",
            id="a plain word as the name of a queue",
        ),
        pytest.param(
            "Tests of search need the rabbitmq container running",
            "Start the minio container before the tests of search",
            "minio against rabbitmq",
            id="a well-known name in the place of a plain word",
        ),
        pytest.param(
            "The search service listens on port 7070",
            "Search is served on port 6120, not on the default one",
            "6120 against 7070",
            id="another sentence that shares a few words",
        ),
        pytest.param(
            "The EU data centre is in Frankfurt",
            "The EU region was moved from Frankfurt to Dublin",
            "dublin against frankfurt",
            id="a name that is no longer used, in the place of another",
        ),
        pytest.param(
            "Drafts are kept in the browser",
            "Drafts are kept in memory",
            "other words",
            id="plain words in the place of others",
        ),
        pytest.param(
            "Orders of the bakery close at 18:00",
            "Bakery orders close at 9:30",
            "09:30 against 18:00",
            id="times of day",
        ),
        pytest.param(
            "The mirror is cleaned yearly",
            "Mirror cleaning happens twice a year",
            "2 each year against each year",
            id="how often",
        ),
        pytest.param(
            "Passwords are hashed with bcrypt at cost 12",
            "Password hashing is Argon now, bcrypt hashes get upgraded at login",
            "one says that something changed",
            id="a word of change and the same subject",
        ),
        pytest.param(
            "Log files stay for thirty days",
            "Log files stay for two weeks",
            "2 week against 30 day",
            id="amounts in words",
        ),
        pytest.param(
            "We allow force pushes to main",
            "Force pushes to main are not allowed",
            "one says no",
            id="a negation",
        ),
        pytest.param("We use Node 18", "We use Node 20 now", "18 against 20", id="an upgrade"),
        pytest.param(
            "Node 18 runs in CI",
            "Node 20 runs in CI now",
            "18 against 20",
            id="an upgrade that comes first",
        ),
        pytest.param(
            "Release 3.1 needs Node 18",
            "Release 3.1 needs Node 20 now",
            "18 against 20",
            id="news of one release",
        ),
    ],
)
def test_a_change_is_found_in_either_order_and_explained(earlier, later, why):
    assert likelihood(earlier, later) >= LIKELY
    assert likelihood(later, earlier) == likelihood(earlier, later)
    assert explain(earlier, later) == explain(later, earlier) == why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            "The billing service listens on port 8081",
            "The search service listens on port 9090",
            id="one sentence about two services",
        ),
        pytest.param(
            "Rows of the shop live in PostgreSQL; migrations run there",
            "Rows of the ledger live in SQLite; migrations run there",
            id="one sentence about two things that come first",
        ),
        pytest.param(
            "Deploy billing with make ship, never by hand.",
            "The deployment of billing goes through make ship.",
            id="one fact in other words",
        ),
        pytest.param("We renamed master to main", "We switched to pnpm", id="two changes"),
        pytest.param(
            "The Kafka service listens on port 9092",
            "The Redis service listens on port 6379",
            id="one sentence with two names",
        ),
        pytest.param(
            "Refunds are booked by hand",
            "Refunds are booked on the next working day",
            id="how and when",
        ),
        pytest.param(
            "The proxy refuses uploads of more than 20 MB",
            "The proxy lets no upload through that is larger than 20 MB",
            id="one value in other words",
        ),
        pytest.param(
            "Webhooks are retried 8 times", "Webhooks are signed", id="another side of it"
        ),
        pytest.param("Logs go to Loki", "Log lines must be JSON", id="a detail"),
        pytest.param("Use pnpm, never npm", "Never call yarn in a container", id="two bans"),
        pytest.param("Use pnpm and never npm", "Use pnpm instead of npm", id="one ban twice"),
        pytest.param("Use yarn in apps/web", "Use pnpm in apps/api", id="one choice a folder"),
        pytest.param("Shard 1 is in the EU", "Shard 2 is in the US", id="numbered things"),
        pytest.param(
            "Team A deploys on Monday", "Team B deploys on Friday now", id="news of another thing"
        ),
        pytest.param(
            "Node 3 listens on port 81", "Node 4 listens on port 82 now", id="news of another node"
        ),
        pytest.param(
            "Release 3.1 needs Node 18", "Release 4.0 needs Node 20 now", id="news of a release"
        ),
        pytest.param(
            "Step one cleans the samples",
            "Step two weighs the samples",
            id="things numbered in words",
        ),
        pytest.param(
            "The request timeout of search is 5 seconds",
            "Requests from billing time out after 90 seconds",
            id="two things that something belongs to",
        ),
        pytest.param(
            "Subscribe to outbox for the events that billing publishes",
            "Subscribe to outbox for the events that search publishes",
            id="two things that a clause is about",
        ),
        pytest.param(
            "Worker A listens on port 7001", "Worker B listens on port 7002", id="lettered things"
        ),
        pytest.param(
            "The search index is dropped after 90 days",
            "The search index of each book is built at the first question",
            id="what happens again and again",
        ),
        pytest.param("HTTP 404 is never retried", "HTTP 503 is retried twice", id="codes"),
        pytest.param(
            "API v1 returns XML", "API v2 returns JSON", id="two versions that both serve"
        ),
        pytest.param(
            "The parser accepts commas", "The parser accepts semicolons", id="one of several"
        ),
        pytest.param("Photos are cropped", "Photos are compressed", id="two things that are done"),
        pytest.param(
            "Added the views command", "Added the tables command", id="two commands by name"
        ),
        pytest.param(
            "Drop support for Python 3.6", "Dropped Python 3.9, 3.13 is tested", id="two commits"
        ),
        pytest.param(
            "Fix the tests on Python 3.9", "Tests run on Python 3.12", id="a repair and a fact"
        ),
        pytest.param(
            "fix(ci): skip the tests on Python 3.9",
            "Tests run on Python 3.12",
            id="the label of a repair",
        ),
        pytest.param(
            "[tests] Added a run on Python 3.9",
            "Tests run on Python 3.12",
            id="a labelled addition",
        ),
        pytest.param(
            "The importer now accepts empty files",
            "The importer logs each file",
            id="one more ability",
        ),
        pytest.param(
            "Uploads work with spaces in the name",
            "Uploads work with empty files",
            id="what else works",
        ),
        pytest.param(
            "The method orders.cancel() retries twice",
            "The method orders.refund() retries five times",
            id="two methods of one object",
        ),
        pytest.param(
            "Use sqlite_master, not sqlite_schema",
            "The sqlite driver is pinned",
            id="the first part of a name that is no longer used",
        ),
        pytest.param(
            "Start the importer with --dry-run",
            "Start the importer with --verbose",
            id="two options of a command",
        ),
        pytest.param(
            "Releases are written as PDF", "Releases have a README", id="two names in capitals"
        ),
        pytest.param(
            "The mobile team uses the search API",
            "The web team uses the search API",
            id="two teams that use one thing",
        ),
        pytest.param(
            "The EU cluster has 3 nodes", "The US cluster has 5 nodes", id="a name like a stop word"
        ),
        pytest.param("", "Logs go to Loki", id="nothing"),
    ],
)
def test_what_can_both_hold_is_unlikely(one, other):
    assert likelihood(one, other) < LIKELY


@pytest.mark.parametrize(
    ("earlier", "later", "expected"),
    [
        ("yarn is the package manager", "We switched to pnpm", True),
        ("The retry limit is 3", "The retry limit is 5", True),
        ("Use 2 spaces in YAML", "Use 4 spaces in Python", False),
        ("Run make test before a commit", "Run make lint before a commit", False),
        ("Run make test before a commit", "From now on run make lint before a commit", True),
    ],
)
def test_a_change_is_explicit_in_words_or_where_nothing_but_a_value_differs(
    earlier, later, expected
):
    assert is_explicit(earlier, later) is expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ledger backups run weekly", "Ledger backups run once a week"),
        ("Ledger backups run daily", "Ledger backups run every day"),
        ("Orders close at noon", "Orders close at 12:00"),
        ("Logs are kept seventy days", "Logs are kept 70 days"),
        ("Logs are kept ninety days", "Logs are kept 90 days"),
    ],
)
def test_one_value_has_several_forms(one, other):
    assert read(one).values == read(other).values != {}


def test_a_duty_for_one_thing_has_one_team():
    asked = "Ask the growth team for a review before merging into mailer"
    assert likelihood(asked, "Changes to mailer are reviewed by the mobile team") >= STRONG

    runners = "The platform team maintains the CI runners"
    assert likelihood(runners, "The web team maintains the storybook") < STRONG


def test_what_is_no_longer_used_is_no_value_of_today():
    facts = read("Plausible replaced Google Analytics")

    assert facts.values == {"analytics": {"plausible"}}


def test_what_follows_the_name_of_what_is_no_longer_used_is_not_part_of_it():
    assert read("WeasyPrint was replaced by Typst for all reports").gone == {"weasy", "typst"}
    assert read("We moved from Google Groups to a mailing list").gone == {"googl", "group"}
    assert read("Pyright checks types, we got rid of Mypy").gone == {"myp"}
