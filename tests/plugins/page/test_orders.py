"""A form of the page is filled in by a person, whose words are held nowhere."""

from tests.strangers.orders import TEXTS


def test_what_a_person_types_in_a_form_is_theirs_whatever_it_says(browser):
    for text in TEXTS[:3]:
        browser.post("/memories/add", content=text, category="fact")

    assert {one.trust for one in browser.world.live()} == {"user"}
