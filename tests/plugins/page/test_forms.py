"""The fields of a form, their limits and refusals, follow from the signature of its operation."""

import pytest

from ademem.core.errors import UsageError
from ademem.plugins.page import forms
from tests.doors.cli.test_derived import shout
from tests.plugins.page.test_pages import texts


def test_a_form_calls_an_operation_with_the_values_of_its_fields(world):
    with world.memories() as memories:
        typed = {"csrf": "x", "text": "hello\r\n", "times": "2", "tone": "", "twice_a_day": "on"}

        assert forms.call(memories, shout, typed) == {
            "said": "HELLO HELLO",
            "by": "page",
            "tone": "high",
            "is_twice": True,
        }
        for field, value, refused in (
            ("times", "4", "'times' is 4"),
            ("times", "many", "'times' is not an integer"),
            ("tone", "middle", "no tone 'middle'"),
            ("text", "longer", "'text' has 6 characters"),
            ("text", " ", "the argument 'text' is missing"),
        ):
            with pytest.raises(UsageError, match=refused):
                forms.call(memories, shout, typed | {field: value})


def test_the_page_shows_the_limits_of_a_field_and_refuses_beyond_them(browser):
    page = browser.get("/memories").text
    assert 'maxlength="50000" required' in page

    refused = browser.post("/memories/add", content="Backups run at night", category="rumour")
    assert refused.status_code == 400
    assert "no category 'rumour'" in texts(refused.text)
    assert browser.world.live() == []
