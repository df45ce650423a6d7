"""Failures of hooks, as they are written down."""

import json

from ademem.core import failure_log, project
from tests.builders import NOW


def test_a_failure_is_reported_on_one_line_without_secrets_and_within_bounds(tmp_path):
    (tmp_path / ".ade").mkdir()
    found = project.at(str(tmp_path))
    try:
        raise OSError(f"cannot reach\nhttps://user:hunter2hunter2@example.com/x {'y' * 9000}")
    except OSError as error:
        failure_log.log(found, "stop", error, {"TMPDIR": str(tmp_path)}, NOW)
    (told,) = failure_log.recent(found, {"TMPDIR": str(tmp_path)})

    assert told["error"].startswith("OSError: cannot reach https://")
    assert "hunter2hunter2" not in told["error"]
    assert len(told["error"]) == failure_log.ERROR_CHARS
    assert json.dumps(told)
