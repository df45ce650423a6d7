"""Settings: whose say a key is, which source wins, and what is told of one that does not count."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.core import trust
from ademem.core.project import at
from ademem.core.setting_sources import MAX_BYTES, fingerprint, local_file
from ademem.core.settings import (
    FORMER_MODES,
    LONGEST_TEXT,
    MOST_WORDS,
    OF_PARTS,
    Settings,
    all_keys,
    as_value,
    load_configuration,
    trust_roots,
    value_of,
)
from tests.examples import examples
from tests.repositories import Repository


class Person:
    """A person at home, and a project that somebody sent them."""

    def __init__(self, folder):
        self.home = folder / "home"
        root = folder / "project"
        (root / ".ade").mkdir(parents=True)
        self.project = at(str(root))
        self.environment = {"HOME": str(self.home)}

    def file(self, source, text):
        """Write one of the three files of settings."""
        path = {
            "own": trust.config_path(self.environment),
            "tracked": self.project.config,
            "local": self.project.local_config,
        }[source]
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def note_local(self):
        digest = local_file(self.project, self.environment).digest
        trust.agree(self.project.main, self.environment, local=digest)

    def agree(self):
        """Agree to what the tracked file holds now, as `ademem trust` does."""
        held = fingerprint(self.load().held)
        trust.agree(self.project.main, self.environment, settings=held)

    def load(self, **variables):
        return load_configuration(self.project, self.environment | variables)

    def value(self, key, **variables):
        return value_of(self.load(**variables).settings, key)

    def warnings(self, **variables):
        return [str(warning) for warning in self.load(**variables).warnings]


@pytest.fixture
def person(tmp_path):
    return Person(tmp_path)


def test_without_a_source_everything_is_default(person):
    assert person.load().settings == Settings()
    assert load_configuration(None, person.environment).settings == Settings()


def test_a_file_changes_what_it_names_and_nothing_else(person):
    person.file("tracked", "[gate]\nmax_chars = 900\n[search]\nlimit = 3\n")
    found = person.load().settings

    assert (found.gate.max_chars, found.search.limit) == (900, 3)
    assert found.search.hybrid == Settings().search.hybrid
    assert found.briefing == Settings().briefing


ORDER = {
    "a shared key": ("search.limit", ("environment", "local", "tracked", "own")),
    "a key of yours": ("ai.model", ("environment", "local", "tracked", "own")),
}


@pytest.mark.parametrize(("key", "order"), ORDER.values(), ids=ORDER)
@pytest.mark.parametrize("wins", range(4))
def test_the_first_source_that_has_a_key_wins(person, key, order, wins):
    section, name = key.split(".")
    given = {source: place + 11 for place, source in enumerate(order)}
    for source in ("own", "tracked", "local"):
        if source in order[wins:]:
            value = given[source]
            text = str(value) if key == "search.limit" else f'"{value}"'
            person.file(source, f"[{section}]\n{name} = {text}\n")
    if "local" in order[wins:]:
        person.note_local()
    if "tracked" in order[wins:]:
        trust.agree(
            person.project.main,
            person.environment,
            settings=fingerprint({key: str(given["tracked"])}),
        )
    variables = {f"ADEMEM_{section}_{name}".upper(): str(given["environment"])} if not wins else {}

    assert str(person.value(key, **variables)) == str(given[order[wins]])
    assert person.warnings(**variables) == []


HARMLESS = [
    pytest.param("search.limit", "3", 3, id="presentation"),
    pytest.param("briefing.max_chars", "900", 900, id="the length of a briefing"),
    pytest.param("guard.max_blocks", "5", 5, id="more denials"),
    pytest.param("guard.fail", '"closed"', "closed", id="a guard that fails closed"),
    pytest.param("guard.changes", '["x"]', ("x",), id="more commands that change"),
    pytest.param("guard.order_words", '["usuń"]', ("usuń",), id="more words that order"),
    pytest.param("guard.mutating_mcp", '["zap"]', ("zap",), id="more verbs"),
    pytest.param("guard.mutating_mcp", "[]", (), id="no more verbs"),
    pytest.param("capture.prompts", "false", False, id="prompts not kept"),
    pytest.param("capture.injections", "false", False, id="texts for models not kept"),
    pytest.param("capture.injections_days", "3", 3, id="kept for fewer days"),
    pytest.param("embed.offline", "true", True, id="no fetching"),
    pytest.param("jobs.auto", "false", False, id="no worker"),
    pytest.param("doors.http_idle_minutes", "5", 5, id="servers that end sooner"),
]


@pytest.mark.parametrize(("key", "text", "value"), HARMLESS)
def test_a_tracked_file_may_choose_presentation_and_be_stricter(person, key, text, value):
    person.file("tracked", f"{key} = {text}\n")

    assert person.value(key) == value


LOOSENING = [
    pytest.param("guard.mode", '"off"', id="no guard"),
    pytest.param("guard.mode", '"off"', id="a weaker guard"),
    pytest.param("guard.max_blocks", "0", id="no denials"),
    pytest.param("guard.reads", '["rm"]', id="commands that only read"),
    pytest.param("guard.question_words", '["fix"]', id="words of a question"),
    pytest.param("guard.talk_words", '["fix"]', id="words of talk"),
    pytest.param("capture.ask_at_stop", "true", id="a question at each end"),
    pytest.param("capture.injections_mb", "100000", id="more texts for models kept"),
    pytest.param("ai.provider", '"openai"', id="an AI"),
    pytest.param("ai.url", '"http://evil.example/v1"', id="an address"),
    pytest.param("ai.model", '"big"', id="a dear model"),
    pytest.param("ai.daily_calls", "100000", id="many calls"),
    pytest.param("learn.reader", '"on"', id="a reader of ended sessions"),
    pytest.param("skills.publish", "true", id="skills that the client loads"),
    pytest.param("adopt.files", '["docs/*.md"]', id="other files that are read"),
    pytest.param("embed.dtype", '"fp32"', id="another model"),
    pytest.param("embed.multilingual", '"all"', id="a second model for all texts"),
    pytest.param("jobs.memory_mb", "0", id="any memory"),
    pytest.param("jobs.daily_s", "0", id="any processor time"),
    pytest.param("doors.http_idle_minutes", "100000", id="servers that stay"),
]


@pytest.mark.parametrize(("key", "text"), LOOSENING)
def test_what_loosens_waits_for_agreement_and_says_so(person, key, text):
    person.file("tracked", f"{key} = {text}\n")

    assert person.value(key) == value_of(Settings(), key)
    assert person.warnings() == [
        f".ade/config.toml: sets {key}, which counts only after `ademem trust`"
    ]

    person.agree()
    assert person.value(key) != value_of(Settings(), key)
    assert person.warnings() == []


def test_the_tables_of_these_tests_have_every_key_that_is_not_shared():
    named = {row.values[0] for row in (*HARMLESS, *LOOSENING)}
    yours = {name for name, key in all_keys() if not key.is_shared}
    yours = {name for name in yours if name.partition(".")[0] not in OF_PARTS}

    unlike = {"ai.timeout_s", "trust.roots"}
    unlike |= {"guard.mcp_servers", "doors.writes_per_minute", "sync.author"}
    alike = {
        "capture.learned",
        "capture.learnings",
        "learn.ask",
        "learn.client_memory",
        "capture.errors",
    }
    assert yours - named == unlike | alike


@pytest.mark.parametrize(
    ("own", "tracked", "in_force"),
    [
        pytest.param("closed", "open", "closed", id="looser than the person's own"),
        pytest.param("open", "closed", "closed", id="stricter than the person's own"),
    ],
)
def test_stricter_is_compared_with_what_the_person_set(person, own, tracked, in_force):
    person.file("own", f'[guard]\nfail = "{own}"\n')
    person.file("tracked", f'[guard]\nfail = "{tracked}"\n')

    assert person.value("guard.fail") == in_force


def test_an_agreement_is_for_these_values_alone(person):
    person.file("tracked", '[ai]\nprovider = "openai"\nurl = "http://one.example/v1"\n')
    person.agree()
    assert person.value("ai.url") == "http://one.example/v1"

    person.file("tracked", '[ai]\nprovider = "openai"\nurl = "http://two.example/v1"\n')
    assert person.value("ai.url") == ""
    assert person.value("ai.provider") == "none"


def test_an_agreement_outlives_a_change_of_shared_keys(person):
    person.file("tracked", '[ai]\nmodel = "small"\n')
    person.agree()
    person.file("tracked", '# a comment\n[search]\nlimit = 3\n[ai]\nmodel = "small"\n')

    assert (person.value("ai.model"), person.value("search.limit")) == ("small", 3)


def test_what_the_environment_sets_is_never_held(person):
    person.file("tracked", '[guard]\nmode = "strict"\n')

    assert person.value("guard.mode", ADEMEM_GUARD_MODE="off") == "off"


def test_a_local_file_counts_only_as_the_person_noted_it(person):
    person.file("local", '[guard]\nmode = "off"\n')
    assert person.value("guard.mode") == "consult"
    assert person.warnings() == [".ade/config.local.toml: counts only after `ademem trust`"]

    person.note_local()
    assert person.value("guard.mode") == "off"
    person.file("local", '[guard]\nmode = "off"  # again\n')
    assert person.value("guard.mode") == "consult"


@pytest.mark.parametrize("source", ["tracked", "local"])
def test_no_file_of_a_project_says_which_folders_are_trusted(person, source):
    person.file(source, '[trust]\nroots = ["*"]\n')
    person.note_local() if source == "local" else person.agree()

    assert person.value("trust.roots") == ()
    (warning,) = person.warnings()
    assert "trust.roots counts only in your own file or environment" in warning


@pytest.mark.parametrize("source", ["own", "environment"])
def test_a_person_says_which_folders_are_trusted(person, source):
    if source == "own":
        person.file("own", '[trust]\nroots = ["/workspaces/*"]\n')
    else:
        person.environment["ADEMEM_TRUST_ROOTS"] = "/workspaces/*"

    assert trust_roots(person.environment) == ("/workspaces/*",)


@pytest.mark.parametrize(
    "name",
    [
        "ADEMEM_DISABLE",
        "ADEMEM_AI_KEY",
        "ADEMEM_HUB_DSN",
        "ADEMEM_ASKED",
        "ADEMEM_PROJECT",
        "ADEMEM_GUARD",
        "ADEMEM_GUARD_",
        "ADEMEM_DATA_DIR",
        "ademem_guard_mode",
    ],
)
def test_other_variables_are_no_settings(person, name):
    found = person.load(**{name: "1"})

    assert (found.settings, found.warnings) == (Settings(), ())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("jobs.auto = false", False, id="a boolean"),
        pytest.param('jobs.auto = "off"', False, id="a word for one"),
        pytest.param("mirror.candidates = 1", True, id="a number for one"),
        pytest.param("search.limit = 7", 7, id="a number"),
        pytest.param("search.limit = 7.0", 7, id="a whole number with a point"),
        pytest.param("lifecycle.archive_days = 1", 1.0, id="a number without one"),
        pytest.param('guard.changes = ["go"]', ("go",), id="words"),
        pytest.param("guard.changes = []", (), id="no words"),
    ],
)
def test_values_take_the_type_of_their_default(person, text, value):
    person.file("tracked", text)
    found = person.value(text.partition(" ")[0])

    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("variable", "text", "value"),
    [
        ("ADEMEM_JOBS_AUTO", "No", False),
        ("ADEMEM_CAPTURE_ASK_AT_STOP", "yes", True),
        ("ADEMEM_LIFECYCLE_ARCHIVE_DAYS", "1.5", 1.5),
        ("ADEMEM_GUARD_MUTATING_MCP", "write, edit,", ("write", "edit")),
        ("ADEMEM_GUARD_MUTATING_MCP", "", ()),
    ],
)
def test_text_of_the_environment_is_parsed(person, variable, text, value):
    key = variable.removeprefix("ADEMEM_").lower().replace("_", ".", 1)

    assert person.value(key, **{variable: text}) == value


DEEP = "[" * 50_000
WRONG = [
    pytest.param("[gurad]", "'gurad'; did you mean 'guard'", id="section"),
    pytest.param("[guard]\nmoed = 1", "'guard.moed'; did you mean 'guard.mode'", id="key"),
    pytest.param("mode = 'off'", "unknown setting 'mode'", id="key without section"),
    pytest.param("guard = 'off'", "[guard] is a section", id="value for a section"),
    pytest.param("[guard]\nmode = 'loud'", "it may be strict, consult, off", id="no such choice"),
    pytest.param("[guard]\nmode = 1", "guard.mode cannot be 1", id="number for a word"),
    pytest.param("[guard]\nmax_blocks = true", "cannot be True", id="truth for a number"),
    pytest.param("[guard]\nmax_blocks = 1.5", "cannot be 1.5", id="part of a thing"),
    pytest.param("[guard]\nmax_blocks = inf", "cannot be inf", id="endless things"),
    pytest.param("[guard]\nmax_blocks = [1]", "cannot be a list", id="list for a number"),
    pytest.param("[guard]\nmax_blocks = 21", "it may be 0 to 20", id="too many"),
    pytest.param("[search]\nwarm_ms = 10000000", "it may be 0 to 60,000", id="huge"),
    pytest.param("[search]\nlimit = nan", "cannot be nan", id="no number"),
    pytest.param("[search]\nlimit = 'low'", "its default is 10", id="word for a number"),
    pytest.param("[search]\nlimit = 2020-01-01", "cannot be a table or a date", id="date"),
    pytest.param("[guard]\nchanges = 1", "changes cannot be", id="number for a list"),
    pytest.param("[guard.changes]\na = 1", "cannot be a table", id="table for a list"),
    pytest.param("[guard]\nchanges = [1]", "cannot be 1", id="number among words"),
    pytest.param("[guard]\nchanges = [[]]", "cannot be a table", id="list among words"),
    pytest.param(f"guard.changes = {['x'] * (MOST_WORDS + 1)}", "more than 500", id="many words"),
    pytest.param(f"ai.url = '{'x' * (LONGEST_TEXT + 1)}'", "longer than", id="long text"),
    pytest.param("[jobs]\nauto = 'maybe'", "cannot be 'maybe'", id="neither yes nor no"),
    pytest.param("[jobs]\nauto = 2", "cannot be 2", id="neither one nor zero"),
    pytest.param('[guard]\n"a\\u0007<b>" = 1', r"'guard.a\x07<b>'", id="a key of odd signs"),
    pytest.param(f"[guard]\n{'x' * 5000} = 1", "did you mean 'guard.", id="an endless key"),
    pytest.param(f"{'a.' * 30_000}a = 1", "more than 100 dots", id="a key of many parts"),
    pytest.param("[guard\n", "is not valid TOML", id="not TOML"),
    pytest.param("a = " + DEEP, "is not valid TOML", id="too deep"),
    pytest.param("a = " + "9" * 5000, "is not valid TOML", id="too great a number"),
    pytest.param("#" * (MAX_BYTES + 1), "64,000", id="too large"),
]


@pytest.mark.parametrize(("text", "warning"), WRONG)
def test_what_cannot_be_meant_is_a_warning_that_names_it(person, text, warning):
    person.file("tracked", text)

    (said,) = person.warnings()
    assert warning in said
    assert said.startswith(".ade/config.toml: ")
    assert len(said) < 400
    assert person.load().settings == Settings()


def test_the_rest_of_a_file_with_something_wrong_holds(person):
    person.file("tracked", "[gurad]\nx = 1\n[search]\nlimit = 'many'\nwarm_ms = 30\n")

    assert person.value("search.warm_ms") == 30
    assert person.value("search.limit") == Settings().search.limit
    assert len(person.warnings()) == 2


def test_a_wrong_value_leaves_the_next_source_in_force(person):
    person.file("own", "[search]\nlimit = 7\n")
    person.file("tracked", "[search]\nlimit = 'many'\n")

    assert person.value("search.limit", ADEMEM_SEARCH_LIMIT="x") == 7
    assert [said.partition(":")[0] for said in person.warnings(ADEMEM_SEARCH_LIMIT="x")] == [
        ".ade/config.toml",
        "ADEMEM_SEARCH_LIMIT",
    ]


@pytest.mark.parametrize(
    ("variable", "warning"),
    [
        ("ADEMEM_GUARD_MOED", "did you mean 'guard.mode'"),
        ("ADEMEM_SEARCH_LIMIT", "cannot be 'x'"),
    ],
)
def test_the_environment_is_held_to_the_same(person, variable, warning):
    (said,) = person.warnings(**{variable: "x"})

    assert said.startswith(f"{variable}: ")
    assert warning in said


@pytest.mark.parametrize("mode", FORMER_MODES)
def test_a_former_mode_is_read_as_consult_with_one_warning(person, mode):
    person.file("own", f'[guard]\nmode = "{mode}"\n')

    (warning,) = person.load().warnings
    assert person.value("guard.mode") == "consult"
    assert str(warning) == (
        f"ademem/config.toml: guard.mode '{mode}' is no longer there; `consult` is in force"
    )
    assert warning.is_outdated


def test_a_former_mode_of_a_project_loosens_nothing(person):
    person.file("own", '[guard]\nmode = "strict"\n')
    person.file("tracked", '[guard]\nmode = "warn"\n')

    assert person.value("guard.mode") == "strict"


def _not_utf8(path):
    with open(path, "wb") as file:
        file.write(b'[guard]\nmode = "\xff"\n')


def _link(path):
    os.symlink("/dev/zero", path)


def _pipe(path):
    os.mkfifo(path)


@pytest.mark.parametrize("source", ["config", "local_config"])
@pytest.mark.parametrize(
    ("make", "warning"),
    [
        pytest.param(_not_utf8, "is not UTF-8", id="not UTF-8"),
        pytest.param(_link, "is a link", id="a link"),
        pytest.param(_pipe, "is a named pipe", id="a pipe"),
        pytest.param(os.mkdir, "is a folder", id="a folder"),
    ],
)
def test_what_is_no_file_of_text_is_a_warning(person, source, make, warning):
    path = getattr(person.project, source)
    make(path)
    if source == "local_config" and warning == "is not UTF-8":
        person.note_local()

    (said,) = person.warnings()
    assert warning in said
    assert person.load().settings == Settings()


def test_a_persons_own_file_may_be_a_link(person, tmp_path):
    (tmp_path / "dotfiles.toml").write_text("[search]\nlimit = 7\n")
    own = trust.config_path(person.environment)
    os.makedirs(os.path.dirname(own))
    os.symlink(tmp_path / "dotfiles.toml", own)

    assert person.value("search.limit") == 7


def test_what_was_parsed_once_is_read_from_the_persons_folder(person, monkeypatch):
    person.file("tracked", '[search]\nlimit = 7\n[ai]\nmodel = "big"\n')
    before = person.load()
    monkeypatch.setattr("tomllib.loads", None)

    assert person.load() == before


def test_a_file_that_changed_is_parsed_again(person):
    for limit in (7, 8, 7):
        person.file("tracked", f"[search]\nlimit = {limit}\n")
        assert person.value("search.limit") == limit


@pytest.mark.parametrize("damaged", ["", "{", "[]", "7", '{"sha256": 1}', "\x00"])
def test_a_damaged_cache_is_made_again(person, damaged):
    person.file("tracked", "[search]\nlimit = 7\n")
    assert person.value("search.limit") == 7
    with open(trust.cache_path(person.project.config, person.environment), "w") as file:
        file.write(damaged)

    assert person.value("search.limit") == 7


def test_settings_are_read_where_the_persons_folder_cannot_be_written(person):
    person.home.touch()
    person.file("tracked", "[search]\nlimit = 7\n")

    assert person.value("search.limit") == 7


def test_every_default_is_a_value_that_its_key_may_have():
    for name, key in all_keys():
        default = list(key.default) if isinstance(key.default, tuple) else key.default

        assert as_value(name, default) == key.default
        assert value_of(Settings(), name) == key.default
        assert isinstance(key.default, (bool, str, tuple)) or key.most is not None, name


def test_worktrees_have_a_tracked_file_each_and_share_what_the_person_said(tmp_path):
    main = Repository(tmp_path / "main")
    (main.root / ".ade").mkdir()
    (main.root / ".ade/config.toml").write_text("[search]\nlimit = 3\n[ai]\nmodel = 'small'\n")
    main.commit("settings", "README.md")
    main.git("worktree", "add", "-q", "-b", "topic", str(tmp_path / "topic"))
    (main.root / ".ade/config.local.toml").write_text("[search]\nwarm_ms = 30\n")
    (tmp_path / "topic/.ade/config.toml").write_text("[search]\nlimit = 4\n[ai]\nmodel = 'small'\n")
    environment = {"HOME": str(tmp_path / "home")}
    here, there = at(str(main.root)), at(str(tmp_path / "topic"))

    held = fingerprint(load_configuration(here, environment).held)
    digest = local_file(here, environment).digest
    trust.agree(here.main, environment, settings=held, local=digest)

    found = load_configuration(there, environment).settings
    assert (found.search.limit, found.search.warm_ms, found.ai.model) == (4, 30, "small")
    assert there.local_config == here.local_config
    assert there.main == here.main == str(main.root)


ODD = st.recursive(
    st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=examples(30))
@given(
    st.binary(max_size=200)
    | st.dictionaries(st.sampled_from([name for name, _ in all_keys()]), ODD, max_size=5).map(
        lambda given: "".join(f"{key} = {json.dumps(value)}\n" for key, value in given.items())
    )
)
def test_whatever_a_file_says_settings_are_valid_and_no_looser(tmp_path_factory, content):
    person = Person(tmp_path_factory.mktemp("person"))
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    with open(person.project.config, "wb") as file:
        file.write(raw)
    found = person.load()

    assert all(len(str(warning)) < 400 for warning in found.warnings)
    for name, key in all_keys():
        value = value_of(found.settings, name)
        assert as_value(name, list(value) if isinstance(value, tuple) else value) == value
        if not key.is_shared:
            assert value in (key.default, key.tightened(value, key.default))
