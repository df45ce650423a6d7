import gc
import subprocess
import sys
import threading
import weakref
from threading import Event

import pytest

from ademem.core import background as aside_
from ademem.core.background import Aside


def test_the_work_has_begun_when_nobody_waits_for_it_yet():
    begun = Event()
    aside = Aside(begun.set)

    assert begun.wait(60)
    aside.result()


def test_the_result_is_there_as_often_as_it_is_wanted():
    aside = Aside(lambda: [1, 2])

    assert aside.result() is aside.result()
    assert aside.result() == [1, 2]


def test_a_failure_is_met_by_whoever_waits(capfd):
    aside = Aside(lambda: [].pop())

    for _ in range(2):
        with pytest.raises(IndexError):
            aside.result()
    assert capfd.readouterr() == ("", "")


def test_one_thread_does_one_work_after_the_other():
    threads = {Aside(threading.get_ident).result() for _ in range(20)}
    assert len(threads) == 1


def test_work_that_waits_for_other_work_does_not_wait_for_its_thread():
    first = Event()
    waiting = Aside(lambda: first.wait(60))

    Aside(first.set).result()
    assert waiting.result()


def test_a_result_is_kept_by_nobody_but_who_asked_for_it():
    class Large:
        pass

    aside = Aside(Large)
    kept = weakref.ref(aside.result())
    del aside
    Aside(lambda: None).result()
    gc.collect()

    assert kept() is None


def test_work_for_which_no_thread_can_be_had_has_not_begun(monkeypatch):
    def refused(thread):
        raise RuntimeError("can't start new thread")

    begun = set()
    monkeypatch.setattr(aside_, "_begun", begun)  # a process waits for these before it ends
    monkeypatch.setattr(aside_, "_free", [])
    monkeypatch.setattr(threading.Thread, "start", refused)

    with pytest.raises(RuntimeError):
        Aside(lambda: None)
    assert not begun


def test_a_process_ends_when_the_work_is_done():
    script = (
        "import time; from ademem.core.background import Aside;"
        " Aside(lambda: (time.sleep(0.3), print('done', flush=True)))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert (ended.stdout, ended.stderr) == ("done\n", "")
