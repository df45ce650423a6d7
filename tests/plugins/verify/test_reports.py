"""What `verify` says in a pull request: annotations, SARIF, a comment."""

import json
import subprocess
import sys

import pytest

from ademem.core.anchor import Place
from ademem.doors import cli
from ademem.plugins.verify import reports
from ademem.plugins.verify.anchor_verification import CHANGED, FRESH, Checked, Location
from ademem.plugins.verify.anchored_values import CodeValue, Finding
from tests.builders import memory

TEXT = "The timeout of `connect` is 10 seconds, see [docs] and @ops"


def checked(state=CHANGED, *, text=TEXT, path="src/net.py", now=None):
    found = Finding(value=CodeValue(name="timeout", token="10"), now="25")
    place = Place(path=path, first=4, last=5)
    missing = (found,) if state == CHANGED else ()
    location = Location(noted=place, state=state, now=now, missing=missing)
    return Checked(memory=memory(text), anchor="src/net.py:4-5", location=location)


def test_what_holds_is_in_no_report():
    unsound = reports.find_unsound([checked(FRESH), checked()])

    assert [each.location.state for each in unsound] == [CHANGED]
    assert reports.to_comment([]) == ""
    assert reports.to_annotations([]) == []


def test_an_annotation_stands_at_the_lines_of_today():
    moved = checked(now=Place(path="src/a,b.py", first=9, last=9))
    (line,) = reports.to_annotations([moved])
    command, _, text = line.partition("::")[2].partition("::")

    assert command.startswith("warning file=src/a%2Cb.py,line=9,endLine=9,title=memory ")
    assert "\n" not in line
    assert "timeout: 10 -> 25" in text
    assert "%0ACorrected: The timeout of `connect` is 25 seconds" in text


def test_a_file_without_lines_is_named_alone():
    (line,) = reports.to_annotations([checked(now=Place(path="Makefile"))])

    assert line.startswith("::warning file=Makefile,title=")


def test_sarif_has_a_result_for_each_at_its_lines():
    log = json.loads(json.dumps(reports.to_sarif([checked()])))
    (run,) = log["runs"]
    (result,) = run["results"]
    place = result["locations"][0]["physicalLocation"]

    assert (log["version"], run["tool"]["driver"]["name"]) == ("2.1.0", "ademem")
    assert result["ruleId"] == run["tool"]["driver"]["rules"][0]["id"]
    assert place["artifactLocation"]["uri"] == "src/net.py"
    assert place["region"] == {"startLine": 4, "endLine": 5}


def test_a_comment_quotes_a_memory_as_text_with_what_it_should_say():
    comment = reports.to_comment([checked()])

    assert comment.startswith("**1 memory of this project is no longer true**\n")
    assert "- `src/net.py:4-5`: `timeout: 10 -> 25`\n" in comment
    assert "\\[docs\\] and \\@ops" in comment
    assert "\n\n  now: The timeout of \\`connect\\` is 25 seconds" in comment


@pytest.mark.parametrize("format", ["github", "sarif", "comment"])
def test_the_command_prints_a_report_and_tells_by_its_exit_code(
    tmp_path, monkeypatch, capsys, format
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    subprocess.run(["git", "init", "-q"], check=True)
    cli_of(monkeypatch, "init")
    capsys.readouterr()

    assert cli_of(monkeypatch, "verify", "--format", format) == 0
    assert capsys.readouterr().out == (
        json.dumps(reports.to_sarif([]), indent=2) + "\n" if format == "sarif" else ""
    )
    assert cli_of(monkeypatch, "verify", "--format", "xml") == 2
    assert "one of text, github, sarif, comment" in capsys.readouterr().err


def cli_of(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["ademem", *arguments])
    with pytest.raises(SystemExit) as stopped:
        cli.main()
    return stopped.value.code
