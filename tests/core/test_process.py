"""Programs that are run to their end."""

import os
import select
import sys

import pytest

from ademem.core import process

MEGABYTES = b"x" * 3_000_000
"""More than pipes hold."""
PATIENCE_S = 10


def python(code, **options):
    return process.run([sys.executable, "-c", code], timeout_s=30, **options)


def test_both_outputs_and_the_status_come_back():
    ran = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")

    assert ran == process.Finished(code=3, output=b"out\n", errors=b"err\n")


def test_the_signal_that_ended_a_program_is_its_status():
    assert process.run(["sh", "-c", "kill -TERM $$"], timeout_s=30).code == -15


def test_large_input_and_output_do_not_wait_for_each_other():
    ran = process.run(["cat"], stdin=MEGABYTES, timeout_s=30)

    assert ran.output == MEGABYTES


def test_a_program_need_not_read_its_input():
    assert python("print('done')", stdin=MEGABYTES).text == "done\n"


def test_the_environment_is_replaced():
    ran = process.run(["/usr/bin/env"], environment={"ONLY": "this"}, timeout_s=30)

    assert ran.text == "ONLY=this\n"


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import time; time.sleep(60)", id="says nothing"),
        pytest.param("while True: print('y')", id="never stops"),
        pytest.param(
            "import os, time; os.close(1); os.close(2); time.sleep(60)", id="closed its outputs"
        ),
    ],
)
def test_a_program_that_takes_too_long_is_killed(code, tmp_path):
    mark = tmp_path / "pid"
    code = f"import os; open({str(mark)!r}, 'w').write(str(os.getpid()))\n{code}"

    with pytest.raises(TimeoutError, match="took longer than 1 s"):
        process.run([sys.executable, "-c", code], timeout_s=1)
    assert process.run(["kill", "-0", mark.read_text()], timeout_s=30).code != 0


def test_a_program_that_is_not_there_is_an_os_error():
    with pytest.raises(FileNotFoundError):
        process.run(["no-such-program"], timeout_s=30)


def test_a_broken_pipe_ends_a_program_as_in_a_shell():
    assert process.run(["sh", "-c", "kill -PIPE $$; echo alive"], timeout_s=30).code == -13


def test_a_detached_program_holds_no_file_that_a_caller_passed_on(tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    command = [sys.executable, "-c", f"open({str(gate)!r}).read()"]
    code = "import os; from ademem.core import process; process.detach({!r}, dict(os.environ))"
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)

    python(code.format(command))
    os.close(writing)
    ended, _, _ = select.select([reading], [], [], PATIENCE_S)
    gate.write_text("")  # ends the program
    os.close(reading)

    assert ended
