"""A call in a thread begins at once, and its result or failure reaches whoever asks for it."""

import gc
import subprocess
import sys
import weakref
from threading import Event

import pytest

from ademem.search.embedding import run_in_background


def test_a_call_begins_before_its_result_is_asked_for():
    begun = Event()
    result = run_in_background(begun.set)

    assert begun.wait(60)
    result()


def test_the_result_can_be_read_several_times():
    result = run_in_background(lambda: [1, 2])

    assert result() is result()
    assert result() == [1, 2]


def test_a_failure_is_raised_by_the_result(capfd):
    result = run_in_background(lambda: [].pop())

    for _ in range(2):
        with pytest.raises(IndexError):
            result()
    assert capfd.readouterr() == ("", "")


def test_calls_do_not_wait_for_each_other():
    first = Event()
    waiting = run_in_background(lambda: first.wait(60))

    run_in_background(first.set)()
    assert waiting()


def test_a_result_is_freed_with_its_call():
    class Large:
        pass

    result = run_in_background(Large)
    large = weakref.ref(result())
    del result
    gc.collect()

    assert large() is None


def test_a_process_ends_when_the_call_is_over():
    script = (
        "import time; from ademem.search.embedding import run_in_background;"
        " run_in_background(lambda: (time.sleep(0.3), print('done', flush=True)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert (ended.stdout, ended.stderr) == ("done\n", "")
