"""The projects of a machine: their names, a search in all, and merging two."""

import os
import subprocess
from functools import partial

import pytest

from ademem.core import project, who
from ademem.core.errors import UsageError
from ademem.core.memory import Draft
from ademem.files import enrolment
from ademem.operations import (
    browsing,
    curation,
    files,
    projects,
    relating,
    searching,
    sessions,
    writing,
)
from ademem.operations.projects import NoSuchProject, find_groups
from ademem.store import backup_files
from ademem.store.transitions import CannotDo
from ademem.sync.importer import BeingWritten
from tests import persons
from tests.builders import NOW
from tests.world import World


@pytest.fixture
def worlds(tmp_path):
    """Make an enrolled project of this name, all of one person."""

    def make(name, remote=""):
        root = tmp_path / name
        root.mkdir()
        if remote:
            subprocess.run(["git", "init", "-q", root], check=True)
            subprocess.run(["git", "-C", root, "remote", "add", "origin", remote], check=True)
        world = World(root, home=tmp_path / "home")
        world.environment.pop("CLAUDE_CODE_SESSION_ID")
        return world

    return make


def write(world, text, **changes):
    with world.memories() as memories:
        written = writing.write(memories, Draft(content=text, promoted=True, **changes))
        return written.memory.id


def names(world):
    return [row["name"] for row in projects.list_projects(world.environment, world.now)]


@pytest.mark.parametrize(
    ("name", "normal"),
    [
        pytest.param(" Billing  Service ", "billing-service", id="blanks"),
        pytest.param("billing--service__x", "billing-service_x", id="doubled"),
        pytest.param("Billing_Service", "billing_service", id="capitals"),
    ],
)
def test_names_are_normalized(name, normal):
    assert enrolment.normalize_name(name) == normal


@pytest.mark.parametrize(
    ("remote", "shown", "name"),
    [
        pytest.param("", "", "mine", id="folder"),
        pytest.param("git@host:team/Billing.git", "git@host:team/Billing.git", "billing", id="ssh"),
        pytest.param(
            "https://ada:s3cr3t@host/team/billing",
            "https://host/team/billing",
            "billing",
            id="https",
        ),
    ],
)
def test_a_project_is_listed_by_its_remote_without_credentials(worlds, remote, shown, name):
    world = worlds("mine", remote)
    (row,) = projects.list_projects(world.environment, world.now)

    assert (row["name"], row["remote"], row["memories"]) == (name, shown, 0)
    listed = next(world.root.parent.rglob("projects.json"))
    assert "s3cr3t" not in listed.read_text()


def test_a_folder_that_is_gone_is_listed_no_more_and_one_can_be_forgotten(worlds):
    one, other = worlds("one"), worlds("other")
    assert sorted(names(one)) == ["one", "other"]
    (other.root / ".ade").rename(other.root / "gone")
    assert names(one) == ["one"]
    projects.forget_project("One", one.environment)
    assert names(one) == []
    with pytest.raises(NoSuchProject):
        projects.forget_project("one", one.environment)
    write(one, "Deploys need a lock")


def test_a_search_in_all_projects_names_each_and_writes_nothing(worlds):
    here, there = worlds("here"), worlds("there")
    write(here, "Deploys need a lock")
    id = write(there, "Every lock expires at night")
    with here.memories() as memories:
        with projects.open_others(memories) as others:
            page = browsing.find(memories, "lock", others=others)
            rows = {row.get("project"): row["id"] for row in page["memories"]}
            with pytest.raises(Exception, match="attempt to write"):
                others["there"].store.db.execute("delete from unified_memories")
        assert browsing.find(memories, "lock")["total"] == 1

    assert rows["there"] == id
    assert len(rows) == 2
    with there.memories() as memories:
        assert memories.store.db.execute("select count(*) from recall_log").fetchone()[0] == 0


def test_a_merge_moves_everything_and_adds_up(worlds):
    """Row E24 of merging projects."""

    old, new = worlds("billingservice"), worlds("billing-service")
    write(old, "Deploys need a lock")
    write(new, "Deploys need a lock")
    write(old, "Invoices use Decimal", topic_key="decision/money")
    topic = write(new, "Invoices use integers of cents", topic_key="decision/money")
    moved = write(old, "Webhooks are signed")
    other = write(old, "Keys rotate monthly")
    with old.memories() as memories:
        relating.judge(memories, "related", id=moved, other=other)
        sessions.start_session(memories, "m1", "/work")
    old.fire("user_prompt_submit", prompt="Sign the webhooks", prompt_id="p1")
    spelling = (["billingservice"], "billing-service", new.environment, new.now)
    (tried,) = projects.merge_projects(*spelling, dry_run=True)
    with new.memories() as memories:
        assert len(searching.list_memories(memories)) == 2
    (merged,) = projects.merge_projects(*spelling)
    assert (tried.counts, tried.backup) == (merged.counts, "")

    with new.memories() as memories:
        found = {memory.content: memory for memory in searching.list_memories(memories)}
        assert set(found) == {
            "Deploys need a lock",
            "Invoices use integers of cents",
            "Webhooks are signed",
            "Keys rotate monthly",
        }
        assert found["Deploys need a lock"].observation_count == 2
        texts = [row["snapshot"]["content"] for row in curation.list_revisions(memories, topic)]
        assert "Invoices use Decimal" in texts
        assert relating.list_relations(memories, moved)[0].target == other
        assert {row["id"] for row in sessions.list_sessions(memories)} >= {"m1"}
        assert [row["text"] for row in sessions.search_prompts(memories)] == ["Sign the webhooks"]
        assert browsing.find(memories, "webhooks signed")["memories"][0]["id"] == moved
    with old.memories() as memories:
        assert searching.list_memories(memories) == []
        assert merged.backup in [
            b.path for b in backup_files.list_all(memories.project, old.environment)
        ]
    assert b"Webhooks are signed" not in b"".join(
        path.read_bytes() for path in (old.root / ".ade").rglob("*") if path.is_file()
    )
    assert names(new) == ["billing-service"]


def test_edits_of_the_files_move_and_nothing_does_while_one_is_being_written(worlds):
    old, new = worlds("billingservice"), worlds("billing-service")
    write(new, "Invoices use Decimal")
    write(old, "Deploys need a lock")
    with old.memories() as memories:
        files.refresh_files(memories)
    page = old.root / ".ade/memory/facts.md"
    text = page.read_text()
    page.write_text("")
    os.utime(page, times=(old.now.timestamp(), old.now.timestamp()))
    merge = partial(projects.merge_projects, ["billingservice"], "billing-service")
    with pytest.raises(BeingWritten, match=r"facts\.md was emptied a moment ago"):
        merge(new.environment, new.now)
    assert len(old.live()) == 1

    page.write_text(text.replace("a lock", "the lock of the pipeline"))
    merge(new.environment, new.now)
    with new.memories() as memories:
        texts = {memory.content for memory in searching.list_memories(memories)}
    assert texts == {"Invoices use Decimal", "Deploys need the lock of the pipeline"}


def test_other_than_variants_are_merged_by_a_person_alone(worlds):
    """Row E24 of merging projects."""

    one, other = worlds("one"), worlds("billing")
    with pytest.raises(CannotDo, match="not spellings"):
        projects.merge_projects(["one"], "billing", one.environment, one.now)
    for by in (persons.UNKNOWN, persons.AGENT):
        with pytest.raises(who.NotByPerson):
            projects.merge_projects(["one"], "billing", one.environment, one.now, force=True, by=by)
    with pytest.raises(UsageError, match="merge into"):
        projects.merge_projects(["billing"], "billing", one.environment, other.now)
    assert sorted(names(one)) == ["billing", "one"]


def test_projects_that_may_be_one_are_proposed_together(worlds):
    worlds("billing"), worlds("biling"), worlds("kafka-tools", "git@host:a/kafka.git")
    world = worlds("kafka2", "git@host:a/kafka.git")
    worlds("elsewhere")
    groups = [
        {known.root.rpartition("/")[2] for known in g} for g in find_groups(world.environment)
    ]

    assert sorted(groups, key=min) == [{"billing", "biling"}, {"kafka-tools", "kafka2"}]


def test_projects_that_are_linked_by_others_are_one_group_the_last_used_first(worlds):
    for name in ("kafkabcde", "kafkabc", "kafka", "kafkabcdefg"):
        world = worlds(name)

    (group,) = find_groups(world.environment)
    listed = enrolment.list_projects(world.environment)
    assert list(group) == listed


def test_the_last_project_that_is_forgotten_takes_the_list_with_it(tmp_path):
    environment = {"ADEMEM_DATA_DIR": str(tmp_path / "data")}
    for name in ("one", "two"):
        (tmp_path / name / ".ade").mkdir(parents=True)
        enrolment.note_use(project.at(str(tmp_path / name)), "", environment, NOW)

    enrolment.forget_use(str(tmp_path / "one"), environment)
    assert [known.name for known in enrolment.list_projects(environment)] == ["two"]
    enrolment.forget_use(str(tmp_path / "two"), environment)
    enrolment.forget_use(str(tmp_path / "two"), environment)
    assert list((tmp_path / "data").iterdir()) == []
