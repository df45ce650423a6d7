"""Each statement of the hub reaches large tables by an index, also those inside its functions."""

from bench import hub
from tests.examples import examples

GROWING = {"mutations", "rows", "audit", "cursors", "usage", "tokens"}


def test_no_statement_reads_a_table_that_grows_from_end_to_end():
    rows, projects = examples(1_000_000, share=50), examples(1000, share=2)
    plans = [(text, list(hub.scans(plan))) for text, plan in hub.find_plans(rows, projects)]
    read = {each["Relation Name"] for _, ways in plans for each in ways}
    whole = [
        text
        for text, ways in plans
        for each in ways
        if each["Node Type"] == "Seq Scan" and each["Relation Name"] in GROWING
    ]

    assert read >= GROWING
    assert whole == []
