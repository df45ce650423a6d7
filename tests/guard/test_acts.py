"""What commands do, and what a text says that they do."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ademem.guard.act_names import ACTS, acts_in, find_acts
from ademem.guard.acts import COMMANDS, FAMILIES, acts_of, families_of, programs_of
from tests.examples import examples


@pytest.mark.parametrize(
    ("command", "acts"),
    [
        ("git commit -m push", "commit"),
        ("git -C x push origin main", "push"),
        ("git push --force-with-lease", "push,force push"),
        ("git push origin +main", "push,force push"),
        ("git pull --rebase", "rebase"),
        ("git rebase --abort", ""),
        ("git branch", ""),
        ("git branch -d x", "branch"),
        ("git checkout -b x", "branch"),
        ("git checkout main", ""),
        ("git checkout -- src", "discard"),
        ("git restore --staged src", ""),
        ("git reset --hard HEAD~1", "discard"),
        ("git clean -nd", ""),
        ("git tag -l", ""),
        ("git tag v1", "tag"),
        ("gh pr create --fill", "pull request"),
        ("gh pr merge 3 --squash", "merge"),
        ("gh pr list", ""),
        ("npm install", "install"),
        ("npm i left-pad", "install,dependency"),
        ("npm ci", "install"),
        ("pip3 install -r requirements.txt", "install"),
        ("pip install -e .", "install"),
        ("uv add httpx", "install,dependency"),
        ("yarn", "install"),
        ("npm publish", "release"),
        ("npm version --help", ""),
        ("pytest", "test,whole suite"),
        ("pytest tests/", "test,whole suite"),
        ("pytest tests/test_a.py", "test"),
        ("pytest -k login", "test"),
        ("pytest tests/e2e", "test,e2e"),
        ("npm test", "test,whole suite"),
        ("go test ./...", "test,whole suite"),
        ("cargo test parser", "test"),
        ("npx playwright", ""),
        ("playwright test", "test,e2e,whole suite"),
        ("black src", "format"),
        ("black --check src", ""),
        ("ruff check --fix", "format"),
        ("kubectl apply -f x.yaml", "deploy"),
        ("kubectl get pods", ""),
        ("./scripts/deploy.sh prod", "deploy"),
        ("make deploy", "deploy"),
        ("just release", "release"),
        ("fab deploy", "deploy"),
        ("cat deploy", ""),
        ("python manage.py migrate", "migration"),
        ("python3 manage.py test shop", "test"),
        ("bin/rails db:migrate", "migration,database"),
        ("nvm use 20", "runtime"),
        ("psql app", "database"),
        ("docker compose up -d", "container"),
        ("rm -rf build", "delete"),
        ("find . -name x -delete", "delete"),
    ],
)
def test_a_command_has_the_acts_that_its_words_tell(command, acts):
    assert acts_of(command.split()) == {*filter(None, acts.split(","))}


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("Never force push to main", ["force push"]),
        ("Run the whole suite before pushing", ["whole suite", "push"]),
        ("Before a release run the e2e tests", ["release"]),
        ("Don't deploy on Fridays", ["deploy"]),
        ("Open pull requests against develop; squash when merging", ["pull request", "merge"]),
        ("Ask before you add a dependency", ["dependency"]),
        ("Migrations are reviewed by the DBA", ["migration"]),
        ("The committee likes pushpins", []),
        ("See docs/release.md", []),
    ],
)
def test_a_text_names_the_first_act_of_each_clause(text, acts):
    assert acts_in(text) == acts


@pytest.mark.parametrize(
    ("command", "families"),
    [
        ("npm i", ["js packages"]),
        ("pnpm add x", ["js packages"]),
        ("pip3 install x", ["python packages"]),
        ("ruff format", ["python formatters"]),
        ("ruff check", ["python linters"]),
        ("bun test", ["js tests"]),
        ("ls", []),
    ],
)
def test_a_command_belongs_to_families_of_programs(command, families):
    assert families_of(command.split()) == families


def test_each_command_of_the_table_has_its_act_and_a_word_that_finds_it():
    for act, commands in COMMANDS.items():
        for command in commands.split(","):
            words = command.split()

            assert act in acts_of([*words, "x"]), command
            assert not programs_of(act).isdisjoint(words)


def test_the_vocabulary_is_closed_and_no_program_is_twice_in_a_family():
    assert set(COMMANDS) | {"force push", "whole suite"} == set(ACTS)
    for programs in FAMILIES.values():
        members = [each.strip() for each in programs.split(",")]
        assert len(members) == len(set(members))


@given(st.lists(st.text() | st.sampled_from(["git", "npm", "--", "", "-", "test", "push"])))
def test_no_words_raise(words):
    assert acts_of(words) <= set(ACTS)
    assert set(families_of(words)) <= set(FAMILIES)


@given(st.text())
def test_no_text_raises(text):
    assert set(acts_in(text)) <= set(ACTS)


ALL = "|".join(f"(?P<{act.replace(' ', '_')}>{pattern})" for act, pattern in ACTS.items())
WORDS = st.from_regex(rf"(?ia:{'|'.join(ACTS.values())})", fullmatch=True)
OTHERS = st.sampled_from(
    "hard with branches, node versions packages removing files x/push".split(" ")
)


@settings(max_examples=examples(300), deadline=None)
@given(words=st.lists(st.one_of(WORDS, OTHERS), max_size=5))
def test_looking_for_the_acts_that_a_text_may_name_loses_none(words):
    text = " ".join(words)
    matches = re.finditer(rf"(?i)(?<![\w./-])(?:{ALL})(?![\w/]|-\w|\.\w)", text)

    assert find_acts(text) == [found.lastgroup.replace("_", " ") for found in matches]
