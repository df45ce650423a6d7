"""A clone behind a compacted journal takes the snapshot, at any size and whole."""

import os
import re
import resource
from http.client import HTTPResponse
from pathlib import Path
from urllib.request import urlopen

import pytest

from ademem.core.value import replace
from ademem.plugins.hub import hub_state
from ademem.plugins.hub.store import administration, database
from ademem.plugins.hub.transport import HubError
from tests.examples import FULL, examples
from tests.plugins.hub.hubs import mutation
from tests.plugins.hub.sync.clients import Clone
from tests.plugins.hub.sync.test_killed import Process, forked
from tests.store.replicas import exported

ROWS = examples(100_000, share=100)
ROUTE = "/v1/projects/{project:uuid}/mutations"


def most_memory(process):
    """Return the most kilobytes that a process has had."""
    return int(re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[0])


def test_a_clone_below_the_floor_takes_all_rows_in_bounded_memory(ann, clone, hub, tmp_path):
    ann.learn("Deploys run at noon", id="m1")
    ann.sync()
    kim = clone("kim", "writer")
    kim.learn("Tests run at one", id="own")
    hub.hub.limits = type(hub.hub.limits)(requests_per_minute=1_000_000)
    for start in range(0, ROWS, 200):
        batch = [mutation(hub.project, f"b{at}", f"Text {at}") for at in range(start, start + 200)]
        assert hub.push("ann", *batch).status == 200
    hub.execute("update hub.mutations set at = now() - interval '91 days'")
    with database.connect(hub.database.owner) as db:
        administration.compact(db, hub.slug, 90)
    assert hub.pull("ann", 1).status == 410
    server = Process(hub.database).start()
    served_before = most_memory(server.id)

    def sync():
        child = Clone(tmp_path / "kim", "kim")
        child.minute = kim.minute
        hub_state.write(child.store, replace(child.state, url=server.url))
        started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        done = child.sync()
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - started
        (tmp_path / "done").write_text(f"{done.received} {done.sent} {grown}")

    kim.store.close()
    os.waitpid(forked(sync), 0)
    heard, told, grown = map(int, (tmp_path / "done").read_text().split())
    served = most_memory(server.id) - served_before
    with urlopen(f"{server.url}/metrics") as answer:
        figures = dict(line.rsplit(" ", 1) for line in answer.read().decode().splitlines())
    server.kill()
    seconds = float(figures[f'hub_request_seconds_sum{{method="GET",route="{ROUTE}"}}'])
    print(f"{heard} rows, {seconds:.1f} s of the server", end=", ")
    print(f"{served / 1024:.0f} MB more in it and {grown / 1024:.0f} in the client")
    assert (heard, told) == (ROWS + 1 + 1, 1)  # the own one comes back
    assert max(served, grown) < 64 * 1024
    assert not FULL or seconds < 10
    again = Clone(tmp_path / "kim", "kim")
    assert len(exported(again.store)) == ROWS + 2
    again.store.close()


@pytest.mark.parametrize("is_first", [True, False], ids=["snapshot", "journal"])
def test_an_answer_that_lost_a_mutation_is_not_applied(ann, clone, monkeypatch, is_first):
    bob = clone("bob")
    if not is_first:
        bob.sync()
    for id in ("m1", "m2", "m3"):
        ann.learn(f"Deploys of {id} run at noon", id=id)
    ann.sync()
    read = HTTPResponse.read

    def lose_one(response, *size):
        head, *mutations = read(response, *size).split(b'{"seq"')
        return b'{"seq"'.join((head, *mutations[:-1])).removesuffix(b",") + b"]}" * bool(mutations)

    with monkeypatch.context() as patch:
        patch.setattr(HTTPResponse, "read", lose_one)
        with pytest.raises(HubError, match="changed on the way"):
            bob.sync()
        assert exported(bob.store) == []
    bob.sync()
    assert exported(bob.store) == exported(ann.store)
