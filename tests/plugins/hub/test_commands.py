"""Commands of the hub, against a real PostgreSQL."""

from __future__ import annotations

import http.client
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ademem.plugins.hub import commands as hub_commands
from ademem.plugins.hub import mutations
from ademem.plugins.hub.store import administration, database
from tests import persons
from tests.docs_tables import leaves
from tests.plugins.hub.hubs import Served, fields, mutation
from tests.postgres import make_database


@pytest.fixture(scope="module")
def hub(cluster):
    with Served(make_database(cluster)).serving() as served:
        served.join("ann")
        yield served


DONE = {
    "hub audit": "hub audit team",
    "hub compact": "hub compact team",
    "hub invite": "hub invite team kim reviewer",
    "hub member list": "hub member list team",
    "hub member remove": "hub member remove team kim",
    "hub member role": "hub member role team kim reader",
    "hub migrate": "hub migrate",
    "hub project add": "hub project add another",
    "hub project close": "hub project close another",
    "hub project list": "hub project list",
    "hub purge": "hub purge team m1",
    "hub receipts": "hub receipts team m1",
    "hub token list": "hub token list team",
    "hub token revoke": "hub token revoke team TOKEN",
}
ELSEWHERE = {"hub backup", "hub restore", "hub check", "hub serve", "hub join", "hub leave"}
ELSEWHERE |= {"hub page", "hub move"}


@pytest.fixture
def ran(hub, ademem, monkeypatch):
    def run(line, *options):
        ademem(*line.split(), *options)
        return ademem.exit_code or 0, ademem.printed

    monkeypatch.setenv("ADEMEM_HUB_DSN", hub.database.owner)
    return run


def test_every_command_is_tried():
    names = {name for name, _ in leaves() if name.startswith("hub ")}

    assert names == DONE.keys() | ELSEWHERE


def test_a_day_of_an_owner(hub, ran):
    hub.push("ann", mutation(hub.project))
    for name in (
        *("hub migrate", "hub project add", "hub project list", "hub project close"),
        *("hub invite", "hub member list", "hub token list", "hub audit", "hub compact"),
    ):
        code, printed = ran(DONE[name], "--json")
        assert code == 0, printed
        assert "error" not in json.loads(printed)
        assert ran(DONE[name].replace("add another", "add fourth"))[1].strip(), name
    code, printed = ran("hub receipts team m1", "--json")
    assert code == 1
    assert json.loads(printed)["devices"][0]["has_received"] is False
    code, printed = ran("hub purge team --person ann --dry-run --json")
    assert [row["id"] for row in json.loads(printed)["records"]] == ["m1"]
    assert json.loads(ran(DONE["hub purge"], "--json")[1])["deleted"] == ["m1"]
    assert "no byte of it since" in ran("hub receipts team m1")[1]
    hub.join("kim", "reviewer")
    assert ran(DONE["hub member role"])[0] == 0
    assert hub.push("kim", mutation(hub.project, "m2")).status == 403
    assert ran(DONE["hub member remove"])[0] == 0
    assert hub.pull("kim").status == 403
    tokens = json.loads(ran("hub token list team", "--json")[1])["tokens"]
    (token,) = (one["id"] for one in tokens if one["person"] == "ann")
    assert ran(f"hub token revoke team {token}")[0] == 0
    assert hub.pull("ann").status == 401
    assert ran(f"hub token revoke team {token}")[0] == 1
    code, printed = ran("hub audit team --verify")
    assert (code, "as it was written" in printed) == (0, True)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        pytest.param("hub invite none ann", "hub project list", id="no such project"),
        pytest.param("hub invite team ann king", "reviewer", id="no such role"),
        pytest.param("hub project add team", "another name", id="a second of one name"),
        pytest.param("hub member role team nobody reader", "member list", id="no such member"),
        pytest.param("hub restore /nowhere", "hub-…Z", id="no such backup"),
        pytest.param("hub backup /dev/null/x", "another folder", id="no place for a backup"),
        pytest.param("hub purge team none", "whole id", id="no memory to purge"),
        pytest.param("hub purge team", "--person", id="nothing to purge"),
        pytest.param("hub purge team --person nobody", "member list", id="nobody to purge"),
        pytest.param("hub receipts team none", "whole id", id="no such memory"),
        pytest.param("hub serve --bind 0.0.0.0:7440", "--tls-cert", id="without TLS"),
        pytest.param("hub serve", "owns nothing", id="as the owner"),
        pytest.param("hub list --dsn postgresql:///none?host=/nowhere", "", id="no such command"),
        pytest.param(
            "hub migrate --dsn postgresql:///none?host=/nowhere", "ADEMEM_HUB_DSN", id="no database"
        ),
    ],
)
def test_a_mistake_is_told_with_the_next_step(ran, line, hint):
    code, printed = ran(line, "--json")

    assert code not in (0, 3)
    assert hint in json.loads(printed)["error"]["hint"]


def test_a_name_of_another_project_is_invited_only_as_that_person(hub, ran):
    hub.add_project("private")
    hub.add_project("public")
    invite = "hub invite {} joe reader --json"
    assert ran(invite.format("private"))[0] == 0
    for _ in ("invited there", "a member there"):
        code, printed = ran(invite.format("public"))
        assert code == 2
        assert "--existing" in json.loads(printed)["error"]["hint"]
        hub.join("joe", "reader", "private")
        hub.execute("update hub.invites set expires_at = now() where person = 'joe'")

    assert ran(invite.format("private"))[0] == 0
    assert ran(invite.format("public"), "--existing")[0] == 0


def test_a_backup_is_restored_into_an_empty_database_alone(hub, ran, cluster, tmp_path):
    (tmp_path / "hub-20200101T000000Z").mkdir()
    written = json.loads(ran(f"hub backup {tmp_path} --json")[1])
    assert written["deleted"] == ["hub-20200101T000000Z"]
    code, printed = ran(f"hub restore {written['backup']} --json")
    assert (code, "empty" in printed) == (2, True)

    with database.connect(cluster.dsn()) as db:
        db.execute(f"create database {hub.database.name}_new owner hub_owner")
    new = cluster.dsn(f"{hub.database.name}_new", "hub_owner")
    manifest = Path(written["backup"], "manifest.json")
    said = json.loads(manifest.read_text())["projects"]
    code, printed = ran(f"hub restore {written['backup']} --json --dsn {new}")
    assert json.loads(printed)["projects"] == said
    with database.connect(new) as db, database.connect(hub.database.owner) as old:
        query = "select epoch from hub.projects where slug = 'team'"
        assert db.execute(query).fetchone() != old.execute(query).fetchone()
        assert administration.broken_audit(db, "team") == []
        db.execute("drop schema hub cascade")
    manifest.write_text(manifest.read_text().replace('"digest": "', '"digest": "0'))
    code, printed = ran(f"hub restore {written['backup']} --json --dsn {new}")
    assert (code, "differs" in printed) == (4, True)


def test_a_check_says_for_which_role_it_is_safe(hub, ran, monkeypatch):
    assert ran("hub check")[0] == 1
    monkeypatch.setenv("ADEMEM_HUB_DSN", hub.database.server)
    assert ran("hub check")[0] == 0


def test_a_check_names_what_is_wrong_and_its_repair(hub, ran):
    name = "clocks"
    project = hub.projects[name] = hub.add_project(name)
    hub.join("zed", "owner", name)
    one = mutation(project, "m1", "Deploys run at noon")
    later = fields("m1", year=2226)
    ahead = one | {"fields": later} | mutations.describe("memory", later)
    ahead["mutation_id"] = mutations.content_id(ahead)
    (answer,) = hub.push("zed", ahead, slug=name).json()["verdicts"]
    assert answer["verdict"] == "taken"
    hub.execute("update hub.cursors set seen_at = '2020-01-01' where project = %s", project)
    hub.execute(
        "update pg_index set indisvalid = false"
        " where indexrelid = 'hub.tokens_of_person'::regclass",
        role="superuser",
    )
    try:
        code, printed = ran("hub check --json")
    finally:
        hub.execute("update pg_index set indisvalid = true", role="superuser")
        hub.execute("delete from hub.cursors where project = %s", project)
    found = {each["rule"]: each for each in json.loads(printed)["problems"]}

    assert code == 1
    assert found.keys() >= {"role", "indexes", "clocks", "devices"}
    assert "zed on laptop in clocks" in found["clocks"]["problem"]
    assert "zed on laptop in clocks" in found["devices"]["problem"]
    assert "reindex index hub.tokens_of_person" in found["indexes"]["hint"]
    assert all(each["hint"] for each in found.values())


@pytest.mark.parametrize("days", [3, 90])
def test_a_check_looks_at_the_days_of_a_certificate(hub, ran, monkeypatch, tmp_path, days):
    certificate, key = tmp_path / "hub.pem", tmp_path / "hub.key"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", str(days)]
    made += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    command = [sys.executable, "-c", "from ademem.doors.cli import program; program()"]
    command += ["hub", "serve", "--bind", "127.0.0.1:0"]
    command += ["--tls-cert", certificate, "--tls-key", key]
    monkeypatch.setenv("ADEMEM_HUB_DSN", hub.database.server)
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        port = process.stderr.readline().partition(";")[0].rpartition(":")[2]
        url = f"https://localhost:{port}"
        assert ran(f"hub check --url {url}")[0] > 1  # nobody here knows who signed it
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        code, printed = ran(f"hub check --url {url} --json")
    finally:
        process.terminate()
        process.communicate(timeout=20)

    assert json.loads(printed)["certificate_days"] in (days - 1, days)
    assert code == (days < hub_commands.CERTIFICATE_DAYS)


def test_the_process_serves_until_a_signal_and_ends_with_0(hub):
    command = [
        sys.executable,
        "-c",
        "from ademem.doors.cli import program; program()",
        "hub",
        "serve",
        "--bind",
        "127.0.0.1:0",
    ]
    with subprocess.Popen(
        [*command, "--dsn", hub.database.server], stderr=subprocess.PIPE, text=True
    ) as server:
        line = server.stderr.readline()
        assert "//" in line, line + server.stderr.read()
        connection = http.client.HTTPConnection(line.split("//")[1].split(";")[0], timeout=20)
        connection.request("GET", "/health")
        assert connection.getresponse().status == 200
        connection.close()
        server.send_signal(signal.SIGTERM)
        server.stderr.read()
        assert server.wait(20) == 0


def test_two_people_share_through_the_hub_by_commands(hub, ran, ademem):
    hub.projects["pair"] = hub.add_project("pair")
    code = json.loads(ran("hub invite pair lee reviewer --json")[1])["code"]
    assert ran(f"hub join http://hub.example.org {code}")[0] == 2
    code, printed = ran(f"hub join {hub.url} {code}", "--json")
    assert json.loads(printed) == {"project": "pair", "person": "lee", "role": "reviewer"}
    ademem("add", "Deploys run at noon on fridays")
    (sent,) = json.loads(ran("sync --dry-run --json")[1])["hub"]["mutations"]
    assert sent["fields"]["content"] == "Deploys run at noon on fridays"
    assert sent["by"] == "lee"
    assert hub.rows("select from hub.rows where entity_key = %s", sent["entity_key"]) == []
    assert json.loads(ran("sync --json")[1])["hub"]["sent"] == 1
    assert len(hub.rows("select from hub.rows where entity_key = %s", sent["entity_key"])) == 1
    status = json.loads(ran("sync --status --json")[1])["hub"]
    assert (status["lifecycle"], status["waiting"], status["position"]) == ("healthy", 0, 1)
    hub.join("max", "reviewer", "pair")
    theirs = mutation(hub.projects["pair"], "m-max", "Releases are cut on mondays")
    assert hub.push("max", theirs, slug="pair").status == 200
    assert json.loads(ran("sync --json")[1])["hub"]["changed"] == 1
    assert "candidate, came from the hub, by max)" in ran("list --status candidate")[1]
    assert ran("review --imported --list --json")[1].count("came-from-hub") == 1
    assert json.loads(ran("hub leave --json")[1]) == {"left": "pair"}
    assert ran("hub leave")[0] == 1


def test_the_page_opens_for_an_owner_at_a_terminal_alone(hub, ran, monkeypatch):
    hub.projects["shown"] = hub.add_project("shown")
    code = json.loads(ran("hub invite shown ola owner --json")[1])["code"]
    ran(f"hub join {hub.url} {code}")
    assert ran("hub page")[0] == 2
    persons.set_who(monkeypatch, persons.PERSON)
    assert ran("hub page")[0] == 2
    monkeypatch.setattr(hub_commands.sys, "stderr", terminal := io.StringIO())
    terminal.isatty = lambda: True
    assert ran("hub page")[0] == 0
    (url,) = (word for word in terminal.getvalue().split() if word.startswith(hub.url))
    path = url.removeprefix(hub.url)
    assert hub.ask("GET", path).status == 303
    ran("hub leave")


def test_the_status_tells_that_the_hub_had_lost_changes(hub, ran, ademem):
    project = hub.projects["lossy"] = hub.add_project("lossy")
    code = json.loads(ran("hub invite lossy ida reviewer --json")[1])["code"]
    ran(f"hub join {hub.url} {code}")
    ademem("add", "Caches are warmed at six on mondays")
    ran("sync")
    before = ran("sync --status")[1]
    for table in ("mutations", "rows"):
        hub.execute(f"delete from hub.{table} where project = %s", project)
    hub.execute("update hub.projects set head = 0, live_rows = 0 where id = %s", project)
    assert json.loads(ran("sync --json")[1])["hub"]["sent"] == 1

    lost = "its database had lost changes on "
    assert lost not in before
    assert lost in ran("sync --status")[1]
    ran("hub leave")


def test_who_may_not_send_is_told_and_only_a_person_tries_again(hub, ran, ademem):
    hub.projects["ranks"] = hub.add_project("ranks")
    code = json.loads(ran("hub invite ranks sue reviewer --json")[1])["code"]
    ran(f"hub join {hub.url} {code}")
    ran("sync")
    ran("hub member role ranks sue reader")
    ademem("add", "Backups run at night on sundays")
    code, printed = ran("sync")
    assert (code, "hub: 1 record not sent, as a reader sends nothing" in printed) == (0, True)
    assert "1 record not sent, as a reader" in ran("sync --status")[1]

    ran("hub member remove ranks sue")
    assert ran("sync")[0] == 4
    status = ran("sync --status")[1]
    assert "stopped as sue" in status
    assert "only `ademem sync` tries again" in status
    assert "tried again from" not in status


@pytest.mark.parametrize("dsn", ["nope", "postgresql://127.0.0.1:1/hub?connect_timeout=1"])
def test_an_address_of_no_database_is_named_as_that(ademem, dsn):
    assert "the hub's database cannot be reached: " in ademem("hub", "migrate", "--dsn", dsn)
    assert ademem.exit_code == 6


@pytest.mark.parametrize("command", ["hub join", "hub leave"])
def test_no_agent_decides_where_memories_go(ademem, command, monkeypatch):
    persons.set_who(monkeypatch, persons.AGENT)

    said = ademem(*command.split(), *(["https://hub.test", "CODE"] if "join" in command else ()))
    assert f"`ademem {command}` is for a person to decide" in said
    assert "a coding agent" in said
    assert ademem.exit_code == 4
