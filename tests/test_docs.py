"""The documentation, tried: its transcripts, examples, tables, links and commands.

In a `console` block, `$ words` is typed in a shell, `> words` is typed to Claude, and
`Tool(argument) ✓` or `✗` is a tool call by Claude that passes or is denied. The output follows;
`…` stands for any text. The blocks of one page run in order in one new project.
"""

import doctest
import json
import os
import re
import shlex
import sqlite3
import subprocess
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

from ademem.capture.gate import rules
from ademem.core import clock, settings
from ademem.core.memory import Status
from ademem.core.settings import load_configuration
from ademem.core.value import replace
from ademem.doors import cli
from ademem.doors.cli.commands import USUAL
from ademem.files import FOLDER
from ademem.files.markdown import TOPICS
from ademem.search.binding import update_bindings
from ademem.search.engine import Filters, search
from ademem.session import answer
from ademem.store import database, memories, transitions
from ademem.store.memories import Change
from ademem.store.transitions import Act
from ademem.sync import mirror
from ademem.worker import running
from bench import recording
from tests import builders, docs_tables
from tests.test_architecture import ROOMS

ROOT = Path(__file__).parents[1]
PAGES = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in docs_tables.PAGES}
TEXT = "\n".join(PAGES.values())
SESSION = "docs"

STEP = re.compile(
    r"\$ (?P<typed>.+)|> (?P<asked>.+)|(?P<tool>\w+)\((?P<argument>.*)\) (?P<mark>[✗✓])"
)


def blocks(language, text=TEXT):
    found = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [block for name, block in found if name == language]


def table(*head):
    """The rows of the one table with these headings."""
    lines = TEXT.partition(f"| {' | '.join(head)} |\n".replace("|  |", "| |"))[2].splitlines()[1:]
    rows = lines[: next(at for at, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


def codes(cell):
    return re.findall(r"`([^`]+)`", cell)


def says(expected, actual):
    """Whether the text is as written, with anything in the place of each `…`."""
    pattern = ".*".join(map(re.escape, expected.split("…")))
    return re.fullmatch(pattern, actual.strip(), re.DOTALL) is not None


class Reader:
    """Somebody who tries what the README tells, in a project of their own."""

    def __init__(self, root, monkeypatch, capsys):
        self.root, self.monkeypatch, self.capsys = root, monkeypatch, capsys
        self.exit_code = None

    def type(self, line):
        """What a command line prints."""
        name, *arguments = shlex.split(line)
        assert name == "ademem"
        self.monkeypatch.setattr(sys, "argv", [name, *arguments])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        self.exit_code = stopped.value.code
        said = self.capsys.readouterr()
        return said.out + said.err

    def json(self, line):
        return json.loads(self.type(line))

    def fire(self, event, **keys):
        """What the hook says to Claude; empty when it says nothing."""
        name = "".join(word.capitalize() for word in event.split("_"))
        head = {"session_id": SESSION, "prompt_id": "p1", "cwd": str(self.root)}
        raw = json.dumps(head | {"hook_event_name": name} | keys).encode()
        handle = import_module(f"ademem.session.{event}").handle
        said = answer(handle, raw, os.environ, clock.now())
        return json.loads(said)["hookSpecificOutput"] if said else {}

    def call(self, tool, argument, mark):
        """What Claude gets to read for a tool call: the denial, or what the tool printed."""
        key = "command" if tool == "Bash" else "file_path"
        call = {"tool_name": tool, "tool_input": {key: argument}, "tool_use_id": "t1"}
        denial = self.fire("pre_tool_use", **call).get("permissionDecisionReason")
        assert (denial is not None) == (mark == "✗"), denial
        if denial or tool != "Bash":
            return denial or ""
        with self.monkeypatch.context() as inside:
            inside.setenv("CLAUDE_CODE_SESSION_ID", SESSION)
            printed = self.type(argument)
        self.fire("post_tool_use", **call, tool_response={"stdout": printed})
        return printed

    def take(self, step):
        if step["typed"]:
            return self.type(step["typed"])
        if step["asked"]:
            self.fire("user_prompt_submit", prompt=step["asked"])
            return ""
        return self.call(step["tool"], step["argument"], step["mark"])


@pytest.fixture
def reader(tmp_path, monkeypatch, capsys):
    root, home = tmp_path / "project", tmp_path / "home"
    for folder in (root, home / "bin"):
        folder.mkdir(parents=True)
    (home / "bin/ademem").touch(mode=0o755)
    for name in [name for name in os.environ if name.startswith(("ADEMEM_", "CLAUDE"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("TMPDIR", str(home))
    monkeypatch.setenv("PATH", f"{home}/bin:{os.environ['PATH']}")
    monkeypatch.setenv("ADEMEM_JOBS_AUTO", "false")
    monkeypatch.chdir(root)
    subprocess.run(["git", "init", "--quiet"], check=True)
    reader = Reader(root, monkeypatch, capsys)
    reader.type("ademem init")
    return reader


def steps(block):
    """Each step of a transcript, and what the README says it prints."""
    lines = block.splitlines()
    starts = [at for at, line in enumerate(lines) if STEP.match(line)]
    for at, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        step = STEP.match(lines[at])
        yield step, "\n".join([lines[at][step.end() :], *lines[at + 1 : end]]).strip()


@pytest.mark.parametrize("page", [page for page, text in PAGES.items() if blocks("console", text)])
def test_every_transcript_is_what_happens(reader, page):
    wrong = []
    transcripts = blocks("console", PAGES[page])
    for step, expected in (pair for block in transcripts for pair in steps(block)):
        printed = reader.take(step)
        if expected and not says(expected, printed):
            wrong.append(f"{step[0]}\npage: {expected}\nreally: {printed}")

    assert wrong == []


def test_the_python_example_runs(reader):
    (example,) = blocks("pycon")
    session = doctest.DocTestParser().get_doctest(example, {}, "docs", None, 0)

    assert doctest.DocTestRunner().run(session).failed == 0


def test_the_examples_of_settings_are_valid(tmp_path):
    path, read = tmp_path / ".config/ademem/config.toml", []
    path.parent.mkdir(parents=True)
    for example in blocks("toml"):
        if "[build-system]" in example:  # of a package
            continue
        path.write_text(example)
        found = load_configuration(None, {"HOME": str(tmp_path)})
        assert found.warnings == ()
        read.append(found.settings)

    of_commands = next(one for one in read if one.guard.reads)
    of_modes = next(one for one in read if one.guard.mode == "strict")
    assert any(one.guard.order_words for one in read)
    assert "mytool status" in of_commands.guard.reads
    assert (of_modes.guard.mode, of_modes.capture.prompts) == ("strict", False)


def test_the_recording_is_what_happens(tmp_path):
    drawn = recording.drawn(recording.record(tmp_path))
    stored = (ROOT / "docs/session.svg").read_text(encoding="utf-8")

    assert drawn == stored, "`PYTHONPATH=. python bench/recording.py` draws it"


def test_each_picture_is_small_and_shown_with_words():
    shown = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))
    pictures = list((ROOT / "docs").rglob("*.png"))

    assert pictures
    assert sum(picture.stat().st_size for picture in pictures) <= 1024 * 1024
    for picture in pictures:
        assert re.search(rf"!\[.{{20,}}\]\(([\w.]+/)*{picture.name}(#[\w-]+)?\)", shown), picture


OURS = "https://github.com/ademem/ademem/blob/main/"
PICTURES = "https://raw.githubusercontent.com/ademem/ademem/main/"


def test_the_readme_is_short_and_starts_with_two_commands():
    readme = PAGES["README.md"]

    assert len(readme.encode()) <= 6 * 1024
    assert len(blocks("sh", readme)[0].splitlines()) == 2


def test_the_readme_reads_away_from_its_repository():
    readme = PAGES["README.md"]
    links = re.findall(r"\]\(([^)\s]+)\)", readme)
    pictures = re.findall(rf'{PICTURES}([^")]+)', readme)

    assert [link for link in links if not link.startswith((OURS, PICTURES))] == []
    assert {"docs/hero-light.png", "docs/hero-dark.png", "docs/mark.svg"} == set(pictures)
    assert [path for path in pictures if not (ROOT / path).exists()] == []


def test_an_entry_of_the_changelog_is_one_line_with_its_page():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    told = changelog.partition("### What you can do\n")[2].partition("### Known")[0]
    entries = told.strip().splitlines()
    linked = [re.search(r"\]\(([^)#]+)[^)]*\)$", entry) for entry in entries]

    assert len(changelog.splitlines()) <= 40
    assert all(entry.startswith("- **") for entry in entries)
    assert all(link and (ROOT / link[1]).exists() for link in linked)


SCRIPTS = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("sh ")]


@pytest.mark.parametrize("line", SCRIPTS)
def test_a_script_exists_and_knows_its_options(line):
    script, *arguments = shlex.split(line, comments=True)[1:]
    text = (ROOT / script).read_text(encoding="utf-8")

    assert [option for option in arguments if option[:2] == "--" and option not in text] == []


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_tables_are_those_of_the_code(page):
    text = PAGES[page]

    assert docs_tables.rendered(text) == text, "`python -m tests.docs_tables` writes them"


def test_the_help_has_the_first_sentence_on_each_command():
    written = docs_tables.SUMMARIES.read_text(encoding="utf-8")

    assert docs_tables.summaries() == written, "`python -m tests.docs_tables` writes it"


def test_every_generated_table_stands_on_one_page():
    found = re.findall(r"^<!-- table: (\w+) -->$", TEXT, re.MULTILINE)

    assert sorted(found) == sorted(docs_tables.TABLES)


@pytest.mark.parametrize(
    ("rows", "column"),
    [
        pytest.param(docs_tables.commands, 1, id="commands"),
        pytest.param(docs_tables.defaults, 3, id="settings"),
        pytest.param(docs_tables.schema, 1, id="tables of the database"),
    ],
)
def test_every_row_of_a_generated_table_tells_a_meaning(rows, column):
    assert [row[0] for row in rows() if not row[column]] == []


def test_the_rules_of_the_gate_are_documented_in_order():
    told = [codes(rule)[0] for rule, _ in table("Rule", "Effect")]

    assert told == [rule.__name__ for rule in rules.RULES]


def test_every_background_job_has_a_row():
    rows = {codes(name)[0] for name, *_ in table("Job", "Due when", "Does")}

    assert rows == {kind.name for kind in running.kinds()}


def test_every_mode_of_the_guard_is_documented():
    rows = table("`guard.mode`", "A change")

    assert tuple(codes(mode)[0] for mode, _ in rows) == settings.GUARD_MODES


@pytest.fixture
def kept(reader):
    """The id of a memory in a project that also has a brief, and files for both."""
    kept = reader.json('ademem add "Login tokens expire in UTC" --json')["memory"]["id"]
    reader.type("ademem core set summary Sign-in")
    reader.type("ademem files refresh")
    return kept


def test_json_has_the_documented_keys(reader, kept):
    told = {codes(command)[0]: codes(keys) for command, keys in table("Command", "Keys")}
    found = {command: list(reader.json(command.replace("ID", kept))) for command in told}

    assert found == told


def test_every_memory_in_json_has_the_keys_of_get(reader, kept):
    commands = ['recall "tokens"', 'recall --no-count "tokens"', "list"]
    memories = [reader.json(f"ademem {command} --json")["memories"][0] for command in commands]
    added = reader.json('ademem add "Releases are cut on Mondays" --json')["memory"]
    got = reader.json(f"ademem get {kept} --json")
    assert (got.pop("at"), got.pop("effects")) == ([], {"prevented": 0, "answered": 0})
    assert got.pop("evidence") == []

    assert (memories[2].pop("at"), memories[2].pop("evidence")) == ([], [])

    recalled = {tuple(memory) for memory in memories[:2]}
    assert recalled == {(*got, "weak", "missing")}
    assert {tuple(added), tuple(memories[2])} == {tuple(got)}


def test_a_file_is_tracked_or_ignored_as_documented(reader, kept):
    told = {path: git for paths, _, git in table("Path", "Holds", "git") for path in codes(paths)}
    listed = subprocess.run(
        ["git", "check-ignore", *told], capture_output=True, text=True, check=True
    )
    ignored = {path for path, git in told.items() if git == "ignored"}
    missing = {path for path in told if not (reader.root / path).exists()}
    topics = {f"{FOLDER}{topic.name}.md" for topic in TOPICS}

    assert set(listed.stdout.split()) == ignored
    assert topics <= told.keys()
    assert missing - topics == {
        ".ade/agents/<name>/core-memory.json",
        ".ade/sync/",
        ".ade/config.local.toml",
        ".ade/config.toml",
        ".ade/cto/CURRENT.md",
        ".ade/cto/daily/<date>.md",
        ".ade/log/",
        ".ade/memory/candidates.md",
        ".ade/memory/knowledge.archive.jsonl",
        ".ade/skills/",
    }


@pytest.mark.parametrize(
    ("line", "code"),
    [
        pytest.param('ademem recall "tokens"', 0, id="a hit"),
        pytest.param('ademem recall "kubernetes"', 1, id="no hit"),
        pytest.param('ademem add "Fixed the login bug"', 4, id="refused"),
        pytest.param("ademem recall --nope", 2, id="no such option"),
        pytest.param("ademem recall", 2, id="words missing"),
    ],
)
def test_exit_codes_are_the_documented_ones(reader, kept, line, code):
    reader.type(line)

    assert reader.exit_code == code


WORD = "expire"
KEPT = ["yes", "kept", "kept", "kept", "kept", "kept", "kept"]


class Going:
    """A memory with all that hangs on it."""

    def __init__(self, root):
        self.project = builders.project(root)
        self.store = builders.open_project(root)
        text = f"Login tokens {WORD} in UTC"
        self.memory, other = builders.insert(
            self.store,
            builders.memory(text, file_scope_pattern="src/auth/**"),
            builders.memory("Deploys go through staging"),
        )
        self.store.db.execute(
            "insert into unified_memory_embeddings values ('e', ?, ?, 'm', x'00', 1, 1, '', '')",
            (self.memory.id, self.store.project_id),
        )
        self.store.db.execute(
            "insert into memory_relations (sync_id, project_id, source_id, target_id, relation,"
            " judgment_status, created_at, updated_at)"
            " values ('r', ?, ?, ?, 'related', 'judged', '', '')",
            (self.store.project_id, self.memory.sync_id, other.sync_id),
        )
        self.other = other

    def go(self, how):
        act = Act(store=self.store, now=builders.NOW)
        match how:
            case "archive":
                transitions.archive(self.memory.id, act)
            case "soft delete":
                transitions.delete(self.memory.id, act)
            case "hard delete":
                transitions.delete(self.memory.id, act, hard=True)
            case "supersede":
                newer = replace(self.memory, superseded_by=self.other.id)
                change = Change(operation="supersede", actor="user", at=builders.NOW)
                memories.update(self.store, newer, change)

    def left(self):
        """What a row of the README's table says of it."""
        return [
            self.in_search(),
            self.count("unified_memories_fts where unified_memories_fts match ?", WORD),
            self.count("unified_memory_embeddings where memory_id = ?", self.memory.id),
            self.relation(),
            self.sites(),
            self.in_files(),
            self.in_history(),
        ]

    def count(self, rows, value):
        query = f"select count(*) from {rows}"
        return "kept" if self.store.db.execute(query, (value,)).fetchone()[0] else "gone"

    def in_search(self):
        tries = {"yes": Filters(), "with `--all`": Filters(statuses=tuple(Status))}
        for word, filters in tries.items():
            if search(WORD, self.store, filters, builders.NOW).hits:
                return word
        return "no"

    def relation(self):
        row = self.store.db.execute("select judgment_status from memory_relations").fetchone()
        return {"judged": "kept", "orphaned": "orphaned"}[row[0]] if row else "gone"

    def sites(self):
        update_bindings(self.store)
        return self.count("memory_bindings where memory_seq = ?", self.memory.seq)

    def in_files(self):
        mirror.refresh(builders.opened(self.project, self.store, settings.Settings(), builders.NOW))
        texts = [path.read_text() for path in Path(self.project.memory).iterdir()]
        return "kept" if any(WORD in text for text in texts) else "gone"

    def in_history(self):
        snapshots = [
            revision["snapshot"] for revision in memories.revisions(self.store, self.memory.id)
        ]
        if any(WORD in snapshot["content"] for snapshot in snapshots):
            return "kept"
        return "no text" if snapshots else "gone"


@pytest.mark.parametrize(
    ("how", "left"),
    [
        pytest.param(how, left, id=how)
        for how, *left in table(
            "", "`search`", "Word index", "Embedding", "Relations", "Hints", "Files", "History"
        )
    ],
)
def test_a_removed_memory_leaves_what_is_documented(tmp_path, how, left):
    going = Going(tmp_path)
    before = going.left()
    going.go(how)

    assert before == KEPT
    assert going.left() == left


def headings(text):
    """The anchors of a page."""
    lines = [line for line in text.splitlines() if re.match("#{1,4} ", line)]
    return {re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-") for line in lines}


@pytest.mark.parametrize("page", PAGES)
def test_every_link_leads_somewhere(page):
    lost = []
    for link in re.findall(r"\]\(([^)\s]+)\)", PAGES[page]):
        target, _, anchor = re.sub(r"#only-(light|dark)$", "", link).partition("#")
        path = (ROOT / page).parent / target if target else ROOT / page
        if target.startswith(OURS):
            target = target.removeprefix(OURS)
            path = ROOT / target
        if not target.startswith("https://") and (
            not path.exists() or (anchor and anchor not in headings(path.read_text("utf-8")))
        ):
            lost.append(link)

    assert lost == []


def test_the_table_of_rooms_is_the_one_that_imports_follow():
    assert tuple(codes(room)[0].rstrip("/") for room, _ in table("Room", "Job")) == ROOMS


def test_every_module_that_the_architecture_names_exists():
    text = PAGES["docs/architecture.md"] + PAGES["CONTRIBUTING.md"]
    named = re.findall(r"`((?:ademem|hooks|tests|bench|docs|\.ci)/[\w./-]*)`", text)

    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []


def commands_named(text):
    """Command lines of ours in backticks, without the placeholders of f-strings."""
    return re.findall(r"`ademem ([a-z][^`]*)`", text)


def exists(named, known):
    """Whether there is such a command, and it has all the options named."""
    words = named.split()
    names = (" ".join(words[:count]) for count in (3, 2, 1))
    command = next((known[name] for name in names if name in known), None)
    wanted = {word for word in words if word.startswith("--")}
    return command is not None and wanted <= {*docs_tables.options(command), "--help"}


def test_every_setting_that_is_named_exists():
    keys = dict(settings.all_keys())
    sections = "|".join({key.partition(".")[0] for key in keys})
    named = re.findall(rf"`((?:{sections})\.(?!(?:md|py|toml|json)\b)[a-z_]+)(?: = [^`]*)?`", TEXT)

    assert named
    assert [key for key in named if key not in keys] == []


def test_every_command_that_is_named_exists():
    known = dict(docs_tables.leaves())
    known |= {group: known[f"{group} {names[0]}"] for group, names in USUAL.items()}
    speaking = [*docs_tables.PAGES, ROOT / "install.sh", *(ROOT / "ademem").rglob("*.py")]
    unknown = [
        f"{path.relative_to(ROOT)}: ademem {named}"
        for path in speaking
        for named in commands_named(path.read_text(encoding="utf-8"))
        if not exists(named, known)
    ]

    assert unknown == []


def test_what_a_reader_of_ade_looks_for_exists_by_its_name():
    page = (ROOT / "docs/reference/ade.md").read_text(encoding="utf-8")
    names = page.partition("## What is otherwise")[0]
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        database.run_schema(db)
        made = {row[0] for row in db.execute("select name from sqlite_master")}
    tools = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs/mcp.md").read_text(), re.M))
    listed = set(re.findall(r"`((?:unified_|memory_|cto_|agent_|core_)\w+)`", names))

    assert {"unified_memories", "memory_sweep_log", "agent_identities"} <= listed
    assert listed <= made | tools
