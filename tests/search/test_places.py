"""Places that a text names, with and without an index of the project's files."""

import random
from pathlib import Path

import pytest

from ademem.search.mentions import REPLACEABLE, WORD, find_mentions
from ademem.search.places import candidates, parse_at, places_in, settle, show
from ademem.search.tree import read_file
from ademem.store.bindings import Binding
from ademem.store.tree_index import Tree
from tests.strangers.places import read_lines

STRANGERS = Path(__file__).parents[1] / "strangers"


def shown(text, tree=None):
    return [show(binding) for binding in places_in(text, tree)]


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("Never edit db/schema.sql by hand", ["db/schema.sql"], id="a path"),
        pytest.param("see src/api/users.py:10-20", ["src/api/users.py"], id="with lines"),
        pytest.param("Files in vendor/ are patched", ["vendor/"], id="a folder"),
        pytest.param("`vendor` folder: do not touch", ["vendor/"], id="a word says folder"),
        pytest.param("Types in `types/**/*.d.ts` are made", ["types/**/*.d.ts"], id="a glob"),
        pytest.param("No logic in *.svelte, please", [".svelte"], id="a suffix"),
        pytest.param("never touch `infra/**`", ["infra/"], id="all below"),
        pytest.param("`cargo update` waits for Fridays", ["`cargo update`"], id="a command"),
        pytest.param("git push needs the VPN", ["`git push`"], id="without backticks"),
        pytest.param("docker compose up starts a simulator", ["`docker compose up`"], id="groups"),
        pytest.param("never run ./deploy.sh on Fridays", ["runs:deploy.sh"], id="a script"),
        pytest.param("`rm -rf media/` hits the mount", ["media/"], id="the operand"),
        pytest.param("no console.log in commits", ["text:console.log"], id="a literal"),
        pytest.param("never call `eval()`", ["text:eval("], id="a function"),
        pytest.param("--no-verify is forbidden", ["text:--no-verify"], id="an option"),
        pytest.param("E4020: the token expired", ["code:e4020"], id="a code"),
        pytest.param("Deploys are frozen in December", ["act:deploy"], id="an act"),
    ],
)
def test_a_text_is_bound_to_what_it_names(text, places):
    assert shown(text) == places


@pytest.mark.parametrize(
    ("text", "places"),
    [
        pytest.param("helpers go under src/lib/", [], id="should be there"),
        pytest.param("New icons belong in `assets/icons`", [], id="belong"),
        pytest.param("Models are generated out of schema.dbml", [], id="made out of"),
        pytest.param("rebuild it with `just timetable`", [], id="made by"),
        pytest.param("Always run `nox -s audio` before a commit", ["act:commit"], id="done before"),
        pytest.param("Never push without `make check`", ["act:push"], id="not without"),
        pytest.param("Use this script: ./start.sh", [], id="behind a colon"),
        pytest.param("To build them all: `just labels`", [], id="alone behind a colon"),
        pytest.param("See `docs/audit.md` for the list", [], id="where to read"),
        pytest.param("Use `--context A` when running `dotnet ef`", ["`dotnet ef`"], id="when"),
        pytest.param("Run `make lint` before `git push`", ["`git push`"], id="before"),
        pytest.param(
            "docs/api.md is made by `make docs`, never by hand", ["docs/api.md"], id="the product"
        ),
    ],
)
def test_where_things_should_be_is_no_place_of_a_rule(text, places):
    assert shown(text) == places


@pytest.mark.parametrize(
    ("text", "family"),
    [
        pytest.param("use pnpm, not npm", "js packages !pnpm", id="both"),
        pytest.param("We use pnpm here instead of npm.", "js packages !pnpm", id="instead"),
        pytest.param("use `uv`", "python packages !uv", id="one"),
        pytest.param("Nutze pnpm statt npm", "js packages !pnpm", id="German"),
        pytest.param("npm nie verwenden, pnpm benutzen", "js packages !pnpm", id="verbs last"),
        pytest.param("prefer `rg --json` over grep", "text search !rg", id="over"),
        pytest.param("Utilise yarn, pas npm", "js packages !yarn", id="French"),
        pytest.param("Usa poetry en lugar de pip", "python packages !poetry", id="Spanish"),
        pytest.param("npmは使わず、pnpmを使う", "js packages !pnpm", id="Japanese"),
        pytest.param("请使用 pnpm，不要使用 npm", "js packages !pnpm", id="Chinese"),
    ],
)
def test_a_recommended_program_is_the_exception_of_its_family(text, family):
    assert shown(text) == [f"family:{family}"]


@pytest.mark.parametrize(
    ("text", "strength"),
    [
        pytest.param("Before merging we squash", "named", id="when"),
        pytest.param("Nobody merges on a Sunday", "named", id="forbidden"),
        pytest.param("Merges need two eyes", "named", id="the subject"),
        pytest.param("Stops of both feeds are merged by their number", "worded", id="in passing"),
    ],
)
def test_an_act_is_a_sure_place_in_an_order_or_as_its_subject(text, strength):
    (binding,) = places_in(text, None)

    assert (binding.kind, binding.key, binding.strength) == ("act", "merge", strength)


def test_a_rejected_program_alone_leaves_all_others():
    (family,) = shown("Never use npm in this repository")

    assert family.startswith("family:js packages !pnpm !yarn")
    assert "!npm" not in family


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("The client and/or the server, 24/7 and Mon/Tue", id="slashes"),
        pytest.param("git, npm and docker are installed", id="programs of many verbs"),
        pytest.param("a `season` is a branch, `loud` a mark", id="plain words"),
        pytest.param("see https://example.com/src/a.py", id="an address"),
        pytest.param("make sure to go and find just one task", id="words that are programs"),
        pytest.param("/etc/nginx/nginx.conf and ../other/x.py", id="outside"),
        pytest.param("# * _ ` `` ``` \x00 (((", id="signs"),
        pytest.param("", id="nothing"),
    ],
)
def test_a_text_without_a_place_has_none(text):
    assert [each for each in shown(text) if not each.startswith("act:")] == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("Dateien in generated/ nie von Hand ändern", "generated/", id="German"),
        pytest.param("Ne jamais modifier api/schema.ts à la main", "api/schema.ts", id="French"),
        pytest.param("No edites los archivos de dist/", "dist/", id="Spanish"),
        pytest.param("Não edite config/prod.yml", "config/prod.yml", id="Portuguese"),
        pytest.param("src/auth.pyを直接編集しないこと", "src/auth.py", id="Japanese"),
        pytest.param("不要直接修改 src/generated 目录", "src/generated/", id="Chinese"),
        pytest.param("Никогда не правь db/0001_init.sql", "db/0001_init.sql", id="Russian"),
    ],
)
def test_places_are_found_in_other_languages(text, place):
    assert shown(text) == [place]


def test_at_most_eight_places_are_kept_and_forbidden_ones_come_first():
    text = " ".join(f"src/a{number}.py," for number in range(12)) + " never edit src/last.py"
    places = shown(text)

    assert len(places) == 8
    assert places[0] == "src/last.py"


FILES = {
    "src/app/auth.py": "class TokenStore:\n    def refresh_token(self):\n        pass\n",
    "src/app/views.py": "def render():\n    return 'page'\n",
    "src/app/mail/queue.py": "MAX_TRIES = 3\n\n\ndef render():\n    'send letters by relay'\n",
    "src/legacy/import.py": "def run_import():\n    pass\n",
    "tools/check.sh": "echo ok\n",
    "docs/guide.md": "# Letters\n\nHow letters are sent through the relay\n",
    **{f"tests/data/{number}.json": '{"letters": 1}' for number in range(40)},
}


@pytest.fixture
def tree():
    tree = Tree(":memory:", writable=True)
    tree.store("c1", [read_file(path, text.encode()) for path, text in FILES.items()])
    yield tree
    tree.close()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("auth.py holds no secrets", "src/app/auth.py", id="a unique name"),
        pytest.param("app/views.py is slow", "src/app/views.py", id="a unique ending"),
        pytest.param("the legacy folder is frozen", "src/legacy/", id="a folder"),
        pytest.param("nothing new under legacy", "src/legacy/", id="under"),
        pytest.param("`refresh_token` runs twice", "src/app/auth.py", id="a name it defines"),
        pytest.param("TokenStore.refresh_token locks", "src/app/auth.py", id="a method"),
        pytest.param("MAX_TRIES is a contract", "src/app/mail/queue.py", id="a constant"),
    ],
)
def test_names_are_looked_up_in_the_tree(tree, text, place):
    (binding,) = [each for each in places_in(text, tree) if each.strength == "named"]

    assert show(binding) == place
    assert 0 < binding.reach < 0.06


def test_a_name_that_two_files_define_is_a_place_in_both(tree):
    assert sorted(shown("`render()` is called twice", tree)) == [
        "src/app/mail/queue.py",
        "src/app/views.py",
    ]


def test_of_several_files_that_define_a_name_the_named_one_counts(tree):
    assert shown("`render()` in views.py is called twice", tree) == ["src/app/views.py"]


def test_a_name_is_looked_up_in_tests_only_where_nothing_else_defines_it(tree):
    text = "class TokenStore:\n    pass\n\n\nclass FakeStore:\n    pass\n"
    tree.store("c2", [read_file("tests/test_auth.py", text.encode())])

    assert shown("TokenStore never logs", tree) == ["src/app/auth.py"]
    assert shown("FakeStore never logs", tree) == ["tests/test_auth.py"]


def test_a_word_that_is_the_stem_of_a_file_is_a_weak_place(tree):
    (binding,) = places_in("Visitors complain about all their views", tree)

    assert (binding.key, binding.strength) == ("src/app/views.py", "worded")


def test_a_place_that_is_met_everywhere_is_sure_only_where_it_is_forbidden(tree):
    (passing,) = places_in("Fixtures in tests/data/ are recorded", tree)
    (forbidden,) = places_in("Never edit tests/data/ by hand", tree)

    assert (passing.strength, forbidden.strength) == ("worded", "named")
    assert passing.reach == forbidden.reach > 0.8


def test_a_path_that_is_nowhere_is_gone(tree):
    (binding,) = places_in("Never edit `src/old/parser.py`", tree)

    assert binding.state == "gone"


def test_a_literal_is_a_sure_place_only_where_it_is_forbidden():
    (passing,) = places_in("`db.refresh()` reads the row again", None)
    (forbidden,) = places_in("`db.refresh()` must not be called in views", None)
    (fact,) = places_in("`db.refresh()` does not lock the row", None)

    assert (passing.strength, forbidden.strength) == ("worded", "named")
    assert fact.strength == "worded"


def test_what_git_does_not_track_may_still_be_there(tmp_path, tree):
    (tmp_path / "build").mkdir()
    tree.root = str(tmp_path)
    (binding,) = places_in("Never edit build/ by hand", tree)

    assert (show(binding), binding.state) == ("build/", None)


def test_files_of_the_session_are_learned_and_others_guessed(tree):
    text = "Letters go out through the relay, one by one"
    found = candidates(text, tree, ["src/app/mail/queue.py", "src/legacy/import.py"])

    assert [(each.key, each.strength) for each in found[:2]] == [
        ("src/app/mail/queue.py", "learned"),
        ("docs/guide.md", "guessed"),
    ]
    assert all(0 <= each.weight <= 1 for each in found)


def test_a_text_without_words_of_the_tree_has_no_candidates(tree):
    assert candidates("zebra", tree) == []
    assert candidates("", tree) == []


@pytest.mark.parametrize(
    ("typed", "settled", "state"),
    [
        pytest.param("auth.py", "src/app/auth.py", None, id="a unique name"),
        pytest.param("src/app", "src/app/", None, id="a folder without its slash"),
        pytest.param("mail/*.py", "**/mail/*.py", None, id="a glob below a folder"),
        pytest.param("src/nowhere.py", "src/nowhere.py", "gone", id="nowhere"),
        pytest.param("lost/*.py", "lost/*.py", "gone", id="a glob of nothing"),
        pytest.param("../x.py", "../x.py", "gone", id="outside"),
    ],
)
def test_a_chosen_place_is_settled_in_the_tree(tree, typed, settled, state):
    binding = settle(parse_at(typed), tree)

    assert (show(binding), binding.state, binding.strength) == (settled, state, "given")


def test_a_renamed_place_moves(tree):
    moved = {"src/app/auth.py": "src/login/token.py", "src/legacy/import.py": "old/import.py"}
    changed = [read_file(after, FILES[before].encode()) for before, after in moved.items()]
    tree.store("c2", changed, moved, moved.items())

    file = settle(Binding(kind="path", key="src/app/auth.py", strength="given"), tree)
    folder = settle(Binding(kind="dir", key="src/legacy", strength="read"), tree)
    (named,) = places_in("src/app/auth.py holds no secrets", tree)

    assert (file.key, file.source, file.state, file.strength) == (
        *("src/login/token.py", "moved"),
        *(None, "given"),
    )
    assert (folder.key, folder.strength) == ("old", "read")
    assert named.key == "src/login/token.py"


_PARTS = (
    *("`", "``", "```", "*", "**", "/", "//", "..", "./", "~", "(", ")", "[", "{", "<", "%", "\\"),
    *("never", "use", "not", "run", "see", "under", "folder", "before", "git", "npm", "install"),
    *(
        "src/**",
        "a/b.py",
        ".env",
        "x()",
        "A.b",
        "--all",
        "E404",
        "不要",
        "ない",
        "。",
        "é",
        "\ud800",
    ),
    *("\x00", "\n", "\t", ":", ".", ",", "—", "&&", "a" * 300, "a/" * 100, "*" * 50, "`a b`"),
)


@pytest.mark.parametrize("seed", range(20))
def test_any_text_has_places_whose_keys_can_be_typed(tree, seed):
    chance = random.Random(seed)
    text = "".join(chance.choice(_PARTS) + chance.choice(("", " ", " ")) for _ in range(40))
    for binding in (*places_in(text, None), *places_in(text, tree), *candidates(text, tree)):
        again = parse_at(show(binding))

        assert (again.kind, again.key, again.pattern) == (
            *(binding.kind, binding.key),
            binding.pattern,
        )


def test_words_that_name_nothing_are_read_only_on_request():
    rules = [rule["text"] for rule in read_lines(STRANGERS / "rules_at_calls.jsonl")]
    found, whole = [], []
    for rule in [*rules, "The old ones must not be used without npm before pnpm"]:
        found += find_mentions(rule)
        whole += find_mentions(rule, plain_words=True)
    naming = [each for each in whole if each.kind != WORD or each.text in REPLACEABLE]

    assert [each for each in found if each.kind != WORD or each.text in REPLACEABLE] == naming
    assert len(naming) <= len(found) < len(whole) / 2
