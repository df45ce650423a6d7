"""The hub under many clients, beside the same batches by SQL, by pgbench, and the plans of it all.

python -m bench.hub clients [--clients 1000] [--projects 50]
python -m bench.hub crowd [--clients 200] [--projects 10] [--crowd 400]
python -m bench.hub plans [--rows 1000000] [--projects 1000]

Needs PostgreSQL's programs and `ademem[hub]`. Its server syncs nothing to the disk (`-F`), as in
the tests, for all ways alike.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from ademem.core.clock import now
from ademem.plugins.hub import leaving, mutations, rounds
from ademem.plugins.hub.store import administration, copies, database, requests
from tests import postgres
from tests.plugins.hub import hubs

ROUNDS, BATCH, KEYS = 3, 10, 40
"""Pushes of a client, mutations in each, and memories that the clients of a project share."""
TWICE = 5
"""Of so many pushes one is sent a second time."""
PROGRAM = "from ademem.doors.cli import program; program()"

Batch = list[dict[str, Any]]
mutation: Callable[..., dict[str, Any]] = hubs.mutation
make_database: Callable[[Any], Any] = postgres.make_database


class Client(NamedTuple):
    project: str
    token: str
    batches: list[Batch]


class Figures(NamedTuple):
    seconds: list[float]
    elapsed: float
    asked: Counter[int]
    """Answers by status."""

    def at(self, part: float) -> float:
        return sorted(self.seconds)[int(part * (len(self.seconds) - 1))]


def make_clients(db: database.Connection, count: int, projects: int, name: str) -> list[Client]:
    """Make projects and reviewers of them, each with batches about memories that they share."""
    choice = random.Random(count)
    made = []
    ids = [administration.add_project(db, f"{name}-{at}")["id"] for at in range(projects)]
    with db.transaction():
        for at in range(count):
            project, token = ids[at % projects], administration.new_secret(administration.TOKEN)
            db.execute(
                "with someone as (insert into hub.people (name) values (%s) returning id),"
                " device as (insert into hub.devices (person, name) select id, 'd' from someone"
                " returning id, person),"
                " member as (insert into hub.members select %s, id, 'reviewer' from someone)"
                " insert into hub.tokens (hash, person, device, expires_at)"
                " select %s, person, id, now() + interval '1 day' from device",
                (f"{name} {at}", project, administration.digest(token)),
            )
            batches = [
                [
                    mutation(project, f"m{key}", f"Client {at} says {step}", minute=step)
                    for key in choice.sample(range(KEYS), BATCH)
                ]
                for step in range(ROUNDS)
            ]
            made.append(Client(project, token, batches))
    return made


async def ask(
    port: int, client: Client, method: str, path: str, body: bytes
) -> tuple[int, Any, float]:
    """Send one request over a connection of its own, which clients have for each round.

    Returns the status, the answer, and the seconds after which to ask again.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"{method} /v1/projects/{client.project}/mutations{path} HTTP/1.1\r\nHost: hub\r\n"
        f"Authorization: Bearer {client.token}\r\nAdemem-Protocol: {mutations.PROTOCOL}\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + body)
    try:
        answer = await reader.read()
    finally:
        writer.close()
    status, _, content = answer.partition(b"\r\n\r\n")
    wait = re.findall(rb"\r\nretry-after: (\d+)", status, re.I)
    found = json.loads(content) if status[9:12] == b"200" else None
    return int(status[9:12]), found, float(wait[0]) if wait else 0


async def insist(
    port: int, client: Client, asked: Counter[int], method: str, path: str, body: bytes = b""
) -> Any:
    """Ask until the server has room, with the waits of a client."""
    for failures in itertools.count(1):
        try:
            status, answer, wait = await ask(port, client, method, path, body)
        except (OSError, ValueError):
            status, answer, wait = 0, None, 0
        asked[status] += 1
        if status == 200:
            return answer
        assert status in (0, 429, 503), status
        await asyncio.sleep(wait + rounds.backoff(failures, random.random()))


async def tell(port: int, client: Client, figures: Figures, choice: random.Random) -> None:
    for batch in client.batches:
        for _ in range(2 if choice.randrange(TWICE) == 0 else 1):
            started = time.perf_counter()
            answer = await insist(port, client, figures.asked, "POST", "", leaving.body(batch))
            figures.seconds.append(time.perf_counter() - started)
            assert all(one["verdict"] != "refused" for one in answer["verdicts"])


async def hear(port: int, client: Client, asked: Counter[int]) -> list[dict[str, Any]]:
    heard: list[dict[str, Any]] = []
    while True:
        after = heard[-1]["seq"] if heard else 0
        page = await insist(port, client, asked, "GET", f"?after={after}")
        heard += page["mutations"]
        if not page["more"]:
            return heard


def run_clients(port: int, *groups: list[Client]) -> list[Figures]:
    async def run() -> list[Figures]:
        choice, started = random.Random(7), time.perf_counter()
        found = [Figures([], 0, Counter()) for _ in groups]

        async def run_group(at: int) -> None:
            told = [tell(port, client, found[at], choice) for client in groups[at]]
            await asyncio.gather(*told)
            found[at] = found[at]._replace(elapsed=time.perf_counter() - started)

        await asyncio.gather(*map(run_group, range(len(groups))))
        return found

    return asyncio.run(run())


def check(db: database.Connection, port: int, clients: list[Client]) -> str:
    told: dict[str, dict[str, dict[str, Any]]] = {}
    for client in clients:
        for one in (one for batch in client.batches for one in batch):
            told.setdefault(client.project, {})[one["mutation_id"]] = one

    async def hear_all() -> list[list[dict[str, Any]]]:
        readers = {client.project: client for client in clients}
        return [await hear(port, readers[project], Counter()) for project in told]

    lost = doubled = wrong = 0
    for (project, sent), heard in zip(told.items(), asyncio.run(hear_all()), strict=True):
        assert [one["seq"] for one in heard] == [*range(1, len(heard) + 1)]
        ids = Counter(mutations.content_id(one) for one in heard)
        lost += len(sent.keys() - ids.keys())
        doubled += ids.total() - len(ids)
        winners: dict[str, tuple[str, str]] = {}
        for id, one in sent.items():
            key = one["entity_key"]
            winners[key] = max(winners.get(key, ("", "")), (one["stamp"], id))
        rows = db.execute(
            "select entity_key, stamp, mutation_id::text from hub.rows where project = %s",
            (project,),
        )
        kept = {row["entity_key"]: (row["stamp"], row["mutation_id"]) for row in rows}
        wrong += len(winners.items() ^ kept.items())
    return f"{lost} lost, {doubled} doubled, {wrong} wrong winners"


class Server:
    def __init__(self, dsn: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-c", PROGRAM, "hub", "serve", "--bind", "127.0.0.1:0"],
            env=os.environ | {"ADEMEM_HUB_DSN": dsn},
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stderr
        line = self.process.stderr.readline()
        self.port = int(re.findall(r":(\d+)", line)[0])
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def resident_mb(self) -> float:
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self.process.wait(30)


@contextmanager
def serving(dsn: str) -> Iterator[Server]:
    server = Server(dsn)
    try:
        yield server
    finally:
        server.stop()


def push_directly(dsn: str, clients: list[Client]) -> Figures:
    seconds = []
    with database.connect(dsn) as db:
        begun = time.perf_counter()
        for step in range(ROUNDS):
            for client in clients:
                started = time.perf_counter()
                with db.transaction():
                    token = administration.digest(client.token)
                    db.execute("select * from hub.enter(%s, %s)", (token, client.project))
                    batch = Jsonb(client.batches[step])
                    query = "select verdict from hub.push(which => %s, batch => %s) order by place"
                    db.execute(query, (client.project, batch)).fetchall()
                seconds.append(time.perf_counter() - started)
        return Figures(seconds, time.perf_counter() - begun, Counter())


PGBENCH = """\\set at random(1, {last})
begin;
select hub.enter(b.token, b.project) from bench.batches b where b.id = :at;
select hub.push(b.project, b.batch) from bench.batches b where b.id = :at;
commit;
"""


def run_pgbench(place: postgres.Database, clients: list[Client], connections: int) -> str:
    """Let pgbench give batches at random, each from one of so many connections, once or more."""
    with psycopg.connect(place.superuser, autocommit=True) as db:
        db.execute("create schema if not exists bench")
        db.execute("create table bench.batches (id serial, token bytea, project uuid, batch jsonb)")
        with db.cursor() as cursor:
            cursor.executemany(
                "insert into bench.batches (token, project, batch) values (%s, %s, %s)",
                [
                    (administration.digest(client.token), client.project, Jsonb(batch))
                    for client in clients
                    for batch in client.batches
                ],
            )
        db.execute("create unique index on bench.batches (id)")
        db.execute("analyze bench.batches")
        db.execute("grant usage on schema bench to hub_server")
        db.execute("grant select on bench.batches to hub_server")
    script = place.cluster.folder / "push.sql"
    script.write_text(PGBENCH.format(last=len(clients) * ROUNDS))
    ran = subprocess.run(
        [
            *(place.cluster.programs / "pgbench", "-n", "-c", str(connections), "-j", "1"),
            *("-t", str(len(clients) * ROUNDS // connections), "-f", script),
            *("-h", place.cluster.folder, "-U", "hub_server", place.name),
        ],
        check=True,
        capture_output=True,
        text=True,
    )
    with psycopg.connect(place.superuser, autocommit=True) as db:
        db.execute("drop schema bench cascade")
    (per_second,) = re.findall(r"tps = ([\d.]+)", ran.stdout)
    return str(per_second)


def line(name: str, figures: Figures, beside: Figures | None = None) -> str:
    rate = len(figures.seconds) / figures.elapsed
    parts = [f"{name:32} {rate:7.1f} pushes/s, {rate * BATCH:7.0f} mutations/s"]
    parts += [f"p{part} {figures.at(part / 100) * 1000:.0f} ms" for part in (50, 95, 99)]
    if beside:
        ratio = rate / (len(beside.seconds) / beside.elapsed)
        parts.append(f"throughput x{ratio:.2f}")
        slower = {part: figures.at(part / 100) / beside.at(part / 100) for part in (95, 99)}
        parts += [f"p{part} x{ratio:.1f}" for part, ratio in slower.items()]
    return ", ".join(parts)


def measure_clients(count: int, projects: int) -> None:
    with postgres.serving() as cluster:
        direct, place = (make_database(cluster) for _ in range(2))
        with database.connect(direct.owner) as db:
            alone = push_directly(direct.server, make_clients(db, count, projects, "direct"))
        print(line("hub.push, one connection", alone), flush=True)
        with database.connect(place.owner) as db, serving(place.server) as server:
            clients = make_clients(db, count, projects, "many")
            (told,) = run_clients(server.port, clients)
            print(line(f"{count} clients, {projects} projects", told, alone), flush=True)
            print(f"  answers {dict(told.asked)}, {check(db, server.port, clients)},", end=" ")
            print(f"server {server.resident_mb():.0f} MB at most")
        for connections in (1, 8):
            with database.connect(direct.owner) as db:
                batches = make_clients(db, count, projects, f"pgbench-{connections}")
            per_second = run_pgbench(direct, batches, connections)
            print(f"pgbench, {connections} connections, batches at random: {per_second} pushes/s")


def measure_crowd(count: int, projects: int, crowd: int) -> None:
    """Compare clients alone with the same ones beside one project of many more."""
    with postgres.serving() as cluster:
        place = make_database(cluster)
        with database.connect(place.owner) as db, serving(place.server) as server:
            for name, size in (("without", 0), ("beside", crowd)):
                clients = make_clients(db, count, projects, f"others {name}")
                crowds = [make_clients(db, size, 1, f"crowd {name}")] if size else []
                others, *rest = run_clients(server.port, clients, *crowds)
                print(line(f"others {name} a crowd", others), flush=True)
                print(f"  answers {dict(others.asked)}, {check(db, server.port, clients)}")
                for figures in rest:
                    print(line(f"the crowd of {size}", figures))
                    print(f"  answers {dict(figures.asked)}, {check(db, server.port, *crowds)}")


FILL = """
insert into hub.projects (slug, head)
  select 'p' || n, %(each)s from generate_series(1, %(projects)s) n;
insert into hub.people (name) select 'person ' || n from generate_series(1, %(projects)s * 5) n;
insert into hub.members (project, person, role)
  select p.id, o.id, (array['owner', 'reviewer', 'writer', 'writer', 'reader'])[o.n %% 5 + 1]
  from (select id, row_number() over () as n from hub.projects) p
    join (select id, row_number() over () - 1 as n from hub.people) o on o.n / 5 + 1 = p.n;
insert into hub.devices (person, name) select id, 'device' from hub.people;
insert into hub.tokens (hash, person, device, expires_at)
  select sha256(('token ' || p.name)::bytea), d.person, d.id, now() + interval '1 day'
  from hub.devices d join hub.people p on p.id = d.person;
insert into hub.cursors (project, device, seq)
  select m.project, d.id, 0 from hub.members m join hub.devices d on d.person = m.person;
insert into hub.usage (project, device, day, bytes)
  select project, device, current_date - n, 1 from hub.cursors, generate_series(0, 3) n;
insert into hub.mutations (project, seq, mutation_id, entity, entity_key, op, stamp, heard, fields,
    shows_promoted, replica, schema, person, role, device, live)
  select m.project, n, gen_random_uuid(), 'memory', 'm' || n, 'upsert', '2026-01-01T', 0,
    jsonb_build_object('content', repeat('text ', 40)), false, 'r', 1, m.person, 'owner', d.id, true
  from hub.members m join hub.devices d on d.person = m.person, generate_series(1, %(each)s) n
  where m.role = 'owner';
insert into hub.rows (project, entity, entity_key, stamp, mutation_id, seq, author, gone)
  select project, entity, entity_key, stamp, mutation_id, seq, person, false from hub.mutations;
insert into hub.audit (project, number, at, act, entity_key, previous, hash)
  select id, n, now(), 'push', '', '', sha256('')
  from hub.projects, generate_series(1, %(each)s / 10) n;
update hub.projects set acts = %(each)s / 10, live_rows = %(each)s;
"""
LOGGED = "-c session_preload_libraries=auto_explain -c auto_explain.log_min_duration=0"
LOGGED += " -c auto_explain.log_nested_statements=on -c auto_explain.log_format=json"


def find_plans(rows: int, projects: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield text and plan of each statement of the server and of the owner, functions included."""
    with postgres.serving() as cluster:
        place, other = make_database(cluster), make_database(cluster)
        with psycopg.connect(place.owner, autocommit=True) as db:
            sizes = {"each": rows // projects, "projects": projects}
            for statement in FILL.split(";\n"):
                db.execute(psycopg.ClientCursor(db).mogrify(statement, sizes))
        with psycopg.connect(place.superuser, autocommit=True) as db:
            db.execute("vacuum analyze")
        log = cluster.folder / "log"
        before = log.stat().st_size
        logged = f"{place.superuser}&options={quote(LOGGED)}"
        asyncio.run(run_statements(logged))
        run_commands(logged, other.superuser)
        text = log.read_bytes()[before:].decode()
    for found in re.finditer(r"  plan:\n(\t\{.*?\n\t\})", text, re.S):
        plan = json.loads(found[1])
        yield " ".join(plan["Query Text"].split()), plan["Plan"]


async def run_statements(dsn: str) -> None:
    connect = psycopg.AsyncConnection[dict[str, Any]].connect
    async with await connect(dsn, autocommit=True, row_factory=dict_row) as db:
        found = await db.execute("select id::text from hub.projects where slug = 'p7'")
        row = await found.fetchone()
        assert row
        project = row["id"]
        found = await db.execute(
            "select p.name from hub.members m join hub.people p on p.id = m.person"
            " where project = %s and role = 'owner'",
            (project,),
        )
        owner = await found.fetchone()
        assert owner
        token = hashlib.sha256(f"token {owner['name']}".encode()).digest()
        async with db.transaction():
            await db.execute("set local role hub_server")
            caller = await requests.enter(db, token, project)
            assert caller.role == "owner"
            assert caller.device
            await requests.read_project(db, project)
            await requests.add_usage(db, project, caller.device, 7)
            batch = [mutation(project, f"m{at}", f"Text {at}") for at in range(mutations.BATCH)]
            await requests.push(db, project, batch)
            gone = [one | {"op": "delete", "mutation_id": str(uuid.uuid4())} for one in batch[:3]]
            await requests.push(db, project, gone)
            await requests.note_cursor(db, project, caller.device, 7)
            for live in (True, False):
                size = mutations.PAGE_BYTES
                await requests.pull(db, project, 7, rows=mutations.PAGE, size=size, live=live)
            await requests.list_members(db, project)
            await requests.list_devices(db, project)
            await requests.list_audit(db, project, 100)
            await requests.rotate(db, token, hashlib.sha256(b"new").digest())


def run_commands(dsn: str, target_dsn: str) -> None:
    with database.connect(dsn) as db:
        (person,) = {
            row["name"] for row in administration.list_members(db, "p7") if row["role"] == "owner"
        }
        administration.list_tokens(db, "p7")
        administration.list_audit(db, "p7", 20)
        administration.receipts(db, "p7", "m7")
        administration.compact(db, "p7", 90)
        administration.broken_audit(db, "p7")
        administration.set_role(db, "p7", person, "reviewer")
        administration.invite(db, "p7", "someone new", "reader")
        administration.revoke_token(db, "p7", "no such")
        mutations.purge(db, "p7", ["m8"], now())
        mutations.purge_person(db, "p7", person, now(), keep_texts=False)
        administration.close_project(db, "p7")
    copies.move(dsn, "p8", target_dsn, "https://elsewhere.example")


def scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Relation Name" in plan and "Scan" in plan["Node Type"]:
        yield plan
    for part in plan.get("Plans", ()):
        yield from scans(part)


def show_plans(rows: int, projects: int) -> None:
    whole = 0
    shown = set()
    for text, plan in find_plans(rows, projects):
        ways = {
            f"{each['Node Type']} {each.get('Index Name') or each['Relation Name']}"
            for each in scans(plan)
        }
        if ways and (text, *ways) not in shown:
            shown.add((text, *ways))
            whole += any(way.startswith("Seq") for way in ways)
            print(f"{text[:100]:100}  {', '.join(sorted(ways))}")
    print(f"{len(shown)} statements, {whole} of them with a sequential scan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(required=True)
    many = commands.add_parser("clients")
    many.add_argument("--clients", type=int, default=1000)
    many.add_argument("--projects", type=int, default=50)
    many.set_defaults(run=lambda given: measure_clients(given.clients, given.projects))
    crowd = commands.add_parser("crowd")
    crowd.add_argument("--clients", type=int, default=200)
    crowd.add_argument("--projects", type=int, default=10)
    crowd.add_argument("--crowd", type=int, default=400)
    crowd.set_defaults(run=lambda given: measure_crowd(given.clients, given.projects, given.crowd))
    plans = commands.add_parser("plans")
    plans.add_argument("--rows", type=int, default=1_000_000)
    plans.add_argument("--projects", type=int, default=1000)
    plans.set_defaults(run=lambda given: show_plans(given.rows, given.projects))
    given = parser.parse_args()
    given.run(given)


if __name__ == "__main__":
    main()
