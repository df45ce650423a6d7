from threading import Event

import pytest

from ademem.aside import Aside


def test_the_work_has_begun_when_nobody_waits_for_it_yet():
    begun = Event()
    aside = Aside(begun.set)

    assert begun.wait(10)
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
