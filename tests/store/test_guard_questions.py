"""Whether there is anything to recall."""

import pytest

from ademem.core.memory import Status
from ademem.store.turns import any_promoted
from tests import builders
from tests.builders import NOW, memory


def test_a_new_store_has_nothing_to_recall(store):
    assert any_promoted(store) is False


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, True, id="promoted"),
        pytest.param({"status": Status.CANDIDATE}, False, id="candidate"),
        pytest.param({"status": Status.ARCHIVED}, False, id="archived"),
        pytest.param({"deleted_at": NOW}, False, id="deleted"),
        pytest.param({"superseded_by": "other"}, False, id="superseded"),
        pytest.param({"quarantine_reason": "orders"}, False, id="quarantined"),
    ],
)
def test_only_what_a_search_may_show_counts(store, changes, expected):
    builders.insert(store, memory(**changes))

    assert any_promoted(store) is expected
