"""Keys of places as a person types them."""

import pytest

from ademem.search.binding_keys import tell
from ademem.search.places import NoKey, parse_at, show
from ademem.store.bindings import Binding


@pytest.mark.parametrize(
    ("typed", "kind", "key", "pattern"),
    [
        pytest.param("src/auth.py", "path", "src/auth.py", "", id="a file"),
        pytest.param("./src//auth.py", "path", "src/auth.py", "", id="written in another way"),
        pytest.param("src/", "dir", "src", "", id="a folder"),
        pytest.param("src/**", "dir", "src", "", id="all below a folder"),
        pytest.param("src/*/gen/*.ts", "glob", "gen", "src/*/gen/*.ts", id="a glob"),
        pytest.param("*_pb2.py", "glob", "", "*_pb2.py", id="a glob without a folder"),
        pytest.param("pages/[id].tsx", "path", "pages/[id].tsx", "", id="brackets in a name"),
        pytest.param(".svelte", "suffix", ".svelte", "", id="a suffix"),
        pytest.param("./.env", "path", ".env", "", id="a file that begins with a dot"),
        pytest.param("**/*.d.ts", "suffix", ".d.ts", "", id="a suffix as a glob"),
        pytest.param("`npm install`", "program", "npm", "install", id="a command"),
        pytest.param("`sudo npm i -g`", "program", "npm", "i -g", id="behind a wrapper"),
        pytest.param("`./check.sh --fast`", "runs", "check.sh", "", id="a script"),
        pytest.param("`python tools/seed.py`", "runs", "tools/seed.py", "", id="an interpreter"),
        pytest.param("`bin/rails db:migrate`", "program", "rails", "db:migrate", id="its words"),
        pytest.param("`make db`", "runs", "make:db", "", id="a target"),
        pytest.param("`pnpm run build`", "runs", "script:build", "", id="a script of a package"),
        pytest.param("act:force push", "act", "force push", "", id="an act"),
        pytest.param("text:console.log", "literal", "console", "console.log", id="a text"),
        pytest.param("code:E4020", "code", "e4020", "", id="a code of an error"),
        pytest.param("family:js packages !pnpm", "family", "js packages", "!pnpm", id="a family"),
    ],
)
def test_a_key_is_read_and_shown_as_it_is_read(typed, kind, key, pattern):
    binding = parse_at(typed)
    again = parse_at(show(binding))

    assert (binding.kind, binding.key, binding.pattern, binding.op) == (kind, key, pattern, "any")
    assert (binding.strength, binding.state) == ("given", None)
    assert (again.kind, again.key, again.pattern) == (kind, key, pattern)


def test_a_key_may_count_for_edits_or_new_files_only():
    assert parse_at("migrations/ on create").op == "create"
    assert show(parse_at("`npm install` on edit")) == "`npm install` on edit"


@pytest.mark.parametrize(
    ("typed", "key", "op", "holds"),
    [
        pytest.param("src/** with text:fetch(", "src", "any", "fetch(", id="a folder"),
        pytest.param("*.ts on create  with  text: a b", ".ts", "create", "a b", id="a new file"),
        pytest.param("`kubectl` with text:prod", "kubectl", "any", "prod", id="many verbs"),
        pytest.param("`git` on edit", "git", "edit", "", id="what changes"),
        pytest.param("docs/work with text.md", "docs/work with text.md", "any", "", id="a name"),
    ],
)
def test_a_key_may_ask_for_a_text_besides_its_place(typed, key, op, holds):
    binding = parse_at(typed)

    assert (binding.key, binding.op, binding.holds) == (key, op, holds)
    assert parse_at(show(binding)) == binding


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        pytest.param("family:js packages !pnpm", "npm, yarn, bun, cnpm", id="a family"),
        pytest.param("family:python packages !uv", "pip, poetry, pipenv, pdm, …", id="a long one"),
        pytest.param("act:deploy on edit", "any deploy on edit", id="an act"),
        pytest.param("text:console.log", "“console.log”", id="a text"),
        pytest.param("code:E4020", "error e4020", id="a code"),
        pytest.param("`npm install` with text:-g", "'npm install' with “-g”", id="a command"),
        pytest.param("`make db`", "'make db'", id="a target"),
        pytest.param("`pnpm run build`", "script build", id="a script of a package"),
        pytest.param("`tools/seed.sh`", "'tools/seed.sh'", id="a script"),
        pytest.param("src/ on create", "src/ on create", id="a folder"),
    ],
)
def test_a_place_is_told_in_words_without_the_names_of_kinds(typed, told):
    assert tell(parse_at(typed), tick="'") == told


def test_lines_of_a_file_are_told_without_the_digest_of_their_text():
    lines = Binding(kind="anchor", key="src/a.py", pattern="src/a.py:3-9@9fea5f1d1cd2c9c4")

    assert tell(lines) == "src/a.py:3-9"


@pytest.mark.parametrize(
    "typed",
    [
        pytest.param("  ", id="nothing"),
        pytest.param("src/a.py\nsrc/b.py", id="two lines"),
        pytest.param("src/\x1b[31m", id="a control character"),
        pytest.param("/".join(["*x"] * 13), id="thirteen stars"),
        pytest.param("a" * 500, id="too long"),
        pytest.param("**", id="every file"),
        pytest.param("./", id="the whole project"),
        pytest.param("`git`", id="a program of many verbs"),
        pytest.param("``", id="no command"),
        pytest.param("act:dance", id="no act"),
        pytest.param("text:==", id="no word"),
        pytest.param("code:", id="no code"),
        pytest.param("family:cars", id="no family"),
    ],
)
def test_what_is_no_key_is_refused_with_the_next_step(typed):
    with pytest.raises(NoKey) as refused:
        parse_at(typed)

    assert refused.value.exit_code == 2
    assert refused.value.hint


@pytest.mark.parametrize("typed", ["/etc/hosts", "../other/a.py", "~/notes.md", "C:\\x\\y.txt"])
def test_a_place_outside_the_project_is_gone(typed):
    assert parse_at(typed, "/home/dev/app").state == "gone"


def test_an_absolute_path_in_the_project_is_read_from_its_root():
    assert parse_at("/home/dev/app/src/a.py", "/home/dev/app").key == "src/a.py"
