"""The policing of skips, on small test runs of its own."""

import pytest

from tests.skips import Skips, listed

MODULE = """
    import pytest

    def test_runs():
        pass

    @pytest.mark.skip(reason="no such machine")
    def test_skipped():
        pass

    @pytest.mark.xfail(reason="known")
    def test_known_to_fail():
        assert False
"""


@pytest.fixture
def run(pytester):
    """Run MODULE, or the text given, with these skips allowed."""

    def run(*allowed: str, text: str = MODULE):
        pytester.makepyfile(test_it=text)
        return pytester.inline_run("-p", "no:cacheprovider", plugins=[Skips(frozenset(allowed))])

    return run


def test_a_skip_that_is_not_listed_fails_the_run_and_tells_why(run, capsys):
    result = run()

    assert result.ret == pytest.ExitCode.TESTS_FAILED
    assert "test_it.py::test_skipped  Skipped: no such machine" in capsys.readouterr().out


def test_a_listed_skip_and_an_expected_failure_are_no_concern(run):
    assert run("test_it.py::test_skipped").ret == pytest.ExitCode.OK


def test_a_module_that_skips_itself_is_seen(run):
    result = run(text='import pytest; pytest.skip("not here", allow_module_level=True)')

    assert result.ret != pytest.ExitCode.OK


def test_the_list_has_comments():
    assert listed("# why\n\ntests/a.py::test_b[c d]\n") == {"tests/a.py::test_b[c d]"}
