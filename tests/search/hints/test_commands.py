"""Commands in a memory's text, and whether one of them is about to run."""

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.touched_by_commands import touch_command
from ademem.search import hint_patterns as patterns
from ademem.search.places import places_in


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param("`npm run e2e` needs a display", ["runs script:e2e"], id="a script"),
        pytest.param("`$ make deploy` asks twice", ["runs make:deploy"], id="with a prompt"),
        pytest.param("`git push` or `git pull -r`", ["git push", "git pull -r"], id="two"),
        pytest.param("`sudo systemctl restart db`", ["systemctl restart db"], id="a wrapper"),
        pytest.param("`CI=1 npm test`", [], id="an assignment"),
        pytest.param("`git push origin <branch>`", ["git push origin"], id="a stand-in"),
        pytest.param("`docker compose up | tee log`", ["docker compose up"], id="a pipe"),
        pytest.param("`./gradlew assemble`", ["gradlew assemble"], id="a path"),
        pytest.param("`pytest` is slow", [], id="one word"),
        pytest.param("`auth.login(user, pw)` raises", [], id="code"),
        pytest.param("`a " + "b" * 300 + "`", [], id="too long"),
    ],
)
def test_commands_in_backticks_are_named(text, named):
    found = [each for each in places_in(text, None) if each.kind in ("program", "runs")]
    words = {"program": "", "runs": "runs "}

    assert [f"{words[each.kind]}{each.key} {each.pattern}".strip() for each in found] == named


@pytest.mark.parametrize(
    ("words", "command", "comes"),
    [
        pytest.param("git push", "git push", True, id="the same"),
        pytest.param("git push", "git -C app push origin main", True, id="options between"),
        pytest.param("git push", "cd app && git push -f", True, id="later in a list"),
        pytest.param("git push", "sudo git push", True, id="behind a wrapper"),
        pytest.param("git push", "/usr/bin/git push", True, id="by its path"),
        pytest.param("git push", "(git push)", True, id="in a group"),
        pytest.param("git push", "x=$(git push 2>&1)", True, id="in a substitution"),
        pytest.param("git push", "git pull", False, id="another subcommand"),
        pytest.param("git push", "echo git push", False, id="only said"),
        pytest.param("git push", "git log --grep=push", False, id="in a longer word"),
        pytest.param("git push --force", "git push origin -q --force", True, id="an option"),
        pytest.param("git push --force", "git push origin", False, id="without the option"),
        pytest.param("npm run e2e", "npm e2e run", False, id="in another order"),
        pytest.param("make", "make -j8", True, id="one word"),
    ],
)
def test_a_command_is_recognised_in_what_runs(words, command, comes):
    touched = touch_command(command, "/p", GuardSettings())

    assert any(patterns.is_run_by(words.split(), argv) for argv in touched.argvs) == comes


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param("make", "make", id="one word"),
        pytest.param("git  push", "git push", id="blanks"),
        pytest.param("", "", id="nothing"),
        pytest.param("$(rm)", "", id="no command"),
        pytest.param("Straße bauen", "Straße bauen", id="any script"),
    ],
)
def test_a_command_is_told_by_its_words(command, words):
    assert patterns.command_words(command) == words
