"""Which tests run in the environment of which extra."""

import re
from pathlib import Path

import pytest

from tests import environments, extras
from tests.environments import OF_EXTRAS, find_extra, holds

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("node", "extra"),
    [
        pytest.param("tests/search/test_query.py::test_it", "default", id="a room"),
        pytest.param("tests/plugins/page/test_pages.py::test_it[a]", "web", id="a folder"),
        pytest.param("tests/plugins/page/test_browser.py::test_it", "hub", id="a file in it"),
        pytest.param("tests/doors/website.py", "default", id="a name that only begins so"),
        pytest.param(f"{environments.ENDING}[tui]", "tui", id="a case"),
        pytest.param(f"{environments.ENDING}[list]", "default", id="another case"),
    ],
)
def test_the_longest_name_that_fits_decides(node, extra):
    assert find_extra(node) == extra


@pytest.mark.parametrize(
    ("node", "extra", "held"),
    [
        pytest.param("tests", "hub", True, id="above a folder"),
        pytest.param("tests/plugins/page", "hub", True, id="above a file of a folder of another"),
        pytest.param("tests/plugins", "mcp", True, id="above a test"),
        pytest.param("tests/worker", "web", False, id="without one"),
        pytest.param("tests/plugins/page", "default", False, id="a folder of an extra"),
        pytest.param("tests/plugins/test_doors.py", "default", True, id="a file of two"),
    ],
)
def test_a_folder_is_collected_where_it_has_tests(node, extra, held):
    assert holds(node, extra) is held


def test_every_extra_has_a_row_and_what_is_named_is_there():
    names = [name.partition("::")[0] for row in OF_EXTRAS.values() for name in row]

    assert OF_EXTRAS.keys() == extras.EXTRAS.keys()
    assert [name for name in names if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("script", ["venv", "test"])
def test_ci_has_an_environment_for_each_extra_with_tests(script):
    text = (ROOT / ".ci" / script).read_text(encoding="utf-8")
    with_tests = {extra for extra, names in OF_EXTRAS.items() if names}
    listed = re.search(r"extras='(.*)'", text)

    assert listed, script
    assert set(listed[1].split()) == with_tests


def test_an_environment_takes_from_another_only_what_its_extra_needs():
    text = (ROOT / ".ci/venv").read_text(encoding="utf-8")
    taken = re.findall(r"^    (\w+)\) others='default ([\w ]+)'", text, re.M)

    assert [extra for extra, _ in taken] == ["web", "hub"]
    for extra, others in taken:
        shared = set().union(*(extras.EXTRAS[name] for name in others.split()))
        assert extras.EXTRAS[extra] >= shared, extra


@pytest.fixture
def run(pytester, monkeypatch):
    """Run three tests, of which one needs the extra b and one the extra c."""
    monkeypatch.setattr(environments, "OF_EXTRAS", {"b": ("b",), "c": ("a/test_a.py::test_c",)})
    pytester.mkdir("a").joinpath("test_a.py").write_text("def test_a(): 0\ndef test_c(): 0\n")
    pytester.mkdir("b").joinpath("test_b.py").write_text("import absent\ndef test_b(): 0\n")

    def run(*arguments):
        result = pytester.inline_run("-p", "no:cacheprovider", *arguments, plugins=[environments])
        passed = {report.nodeid for report in result.getreports() if report.when == "call"}
        return result.ret, passed

    return run


@pytest.mark.parametrize(
    ("arguments", "code", "passed"),
    [
        pytest.param(["--extra=default"], 0, {"a/test_a.py::test_a"}, id="none"),
        pytest.param(["--extra=c"], 0, {"a/test_a.py::test_c"}, id="a test"),
        pytest.param(["--extra=default", "b"], 5, set(), id="no argument of these"),
        pytest.param(
            ["--extra=c", "a", "b/test_b.py"], 0, {"a/test_a.py::test_c"}, id="one of two"
        ),
        pytest.param(["--extra=b"], 2, set(), id="without its packages"),
    ],
)
def test_the_tests_of_an_extra_run_in_its_environment_alone(run, arguments, code, passed):
    assert run(*arguments) == (code, passed)


def test_a_test_that_is_no_longer_there_fails_the_run_that_names_it(run, monkeypatch):
    monkeypatch.setattr(environments, "OF_EXTRAS", {"c": ("a/test_a.py::test_gone",)})

    assert run("--extra=c")[0] == pytest.ExitCode.USAGE_ERROR
