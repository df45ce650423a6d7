"""MCP tools by their names: a tool changes something unless the verb of its name reads."""

from __future__ import annotations

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.programs import mcp_tool_changes

READING = """
    mcp__github__get_issue mcp__github__list_merge_requests mcp__github__issue_read
    mcp__github__pull_request_read mcp__github__get_commit mcp__github__list_commits
    mcp__github__search_code mcp__fs__read_file mcp__fs__list_writers mcp__fs__readTextFile
    mcp__fs__getURLs2 mcp__notion__API-get-user mcp__notion__notion-search
    mcp__slack__slack_get_users
    mcp__db__query mcp__db__describe_table mcp__db__tables_list mcp__db__count-rows
    mcp__git__git_status mcp__git__git_diff_unstaged mcp__git__git_show mcp__web__web_search
    mcp__web__fetch mcp__ci__checkStatus mcp__ci__get_run mcp__ci__list_runs
    mcp__jira__GetPushStatus
    mcp__jira__viewIssue mcp__jira__findPosts mcp__mail__search_sent mcp__write__list
    mcp__plugin_docs_docs__lookup mcp__k8s__pods_list mcp__x__issues.list
"""

CHANGING = """
    mcp__fs__write_file mcp__plugin_x_y__editThing mcp__jira__CreateIssue mcp__notes__delete-note
    mcp__db__execute mcp__db__run2 mcp__db__run_query mcp__x__get_or_create_user
    mcp__x__find_and_replace mcp__x__status_set mcp__x__view_create mcp__x__list_add
    mcp__x__mark_read mcp__mail__reply mcp__mail__send_status mcp__cal__book_room
    mcp__cal__acceptInvite mcp__home__turn_on mcp__home__toggle_view mcp__shop__checkout
    mcp__browser__click mcp__browser__navigate mcp__browser__type_text mcp__k8s__scale
    mcp__k8s__apply-manifest mcp__git__git_add mcp__git__git_checkout mcp__git__git_commit
    mcp__x__publishPage mcp__x__archive_search mcp__x__save_search mcp__x__reset_count
    mcp__x__approve mcp__x__do_it mcp__x__2 mcp__x mcp__x__ mcp__x__éditer mcp__x__getter
    mcp__list__drop mcp__x__listen mcp__x__submit_check
"""


@pytest.mark.parametrize("tool", READING.split())
def test_a_tool_whose_verb_reads_changes_nothing(tool):
    assert not mcp_tool_changes(tool, GuardSettings())


@pytest.mark.parametrize("tool", CHANGING.split())
def test_every_other_tool_changes_something(tool):
    assert mcp_tool_changes(tool, GuardSettings())


def test_more_words_that_change_are_a_setting():
    settings = GuardSettings(mutating_mcp=("queue",))

    assert mcp_tool_changes("mcp__x__get_queue", settings)
    assert mcp_tool_changes("mcp__x__write_file", settings)


def test_a_project_says_of_tools_and_servers_what_they_do():
    settings = GuardSettings(reads=("mcp__docs__*", "mcp__x__resolve"), changes=("mcp__x__get_*",))

    assert not mcp_tool_changes("mcp__docs__resolve-library-id", settings)
    assert not mcp_tool_changes("mcp__x__resolve", settings)
    assert mcp_tool_changes("mcp__x__resolve_all", settings)
    assert mcp_tool_changes("mcp__x__get_token", settings)


def test_an_entry_for_commands_says_nothing_of_tools():
    assert mcp_tool_changes("mcp__x__build", GuardSettings(reads=("*", "m*", "make")))
