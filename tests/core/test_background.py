"""A call in a thread begins at once, and its result or failure reaches whoever asks for it."""

import gc
import subprocess
import sys
import weakref
from threading import Event

import pytest

from ademem.core.background import Background


def test_a_call_begins_before_its_result_is_asked_for():
    begun = Event()
    background = Background(begun.set)

    assert begun.wait(60)
    background.result()


def test_the_result_can_be_read_several_times():
    background = Background(lambda: [1, 2])

    assert background.result() is background.result()
    assert background.result() == [1, 2]


def test_a_failure_is_raised_by_the_result(capfd):
    background = Background(lambda: [].pop())

    for _ in range(2):
        with pytest.raises(IndexError):
            background.result()
    assert capfd.readouterr() == ("", "")


def test_calls_do_not_wait_for_each_other():
    first = Event()
    waiting = Background(lambda: first.wait(60))

    Background(first.set).result()
    assert waiting.result()


def test_a_result_is_freed_with_its_call():
    class Large:
        pass

    background = Background(Large)
    result = weakref.ref(background.result())
    del background
    gc.collect()

    assert result() is None


def test_a_process_ends_when_the_call_is_over():
    script = (
        "import time; from ademem.core.background import Background;"
        " Background(lambda: (time.sleep(0.3), print('done', flush=True)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert (ended.stdout, ended.stderr) == ("done\n", "")
