"""Which calls cannot be taken back."""

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.mutation import is_irreversible_tool
from ademem.guard.touched_by_commands import touch_command


@pytest.mark.parametrize(
    "command",
    [
        "git push origin main",
        "git -C app push",
        "cd app && git push",
        "sudo rm -rf build",
        "npm publish",
        "npm run deploy:prod",
        "make deploy",
        "./scripts/deploy.sh",
        "bash scripts/release.sh",
        "python manage.py migrate",
        "alembic upgrade head",
        "kubectl apply -f app.yaml",
        "terraform destroy",
        "psql -c 'DROP TABLE users'",
        "git reset --hard HEAD~1",
        "git branch -D old",
        "git commit --amend --force",
        "docker push registry/app",
    ],
)
def test_what_cannot_be_taken_back(command):
    assert touch_command(command, "/project", GuardSettings()).irreversible


@pytest.mark.parametrize(
    "command",
    [
        "git commit -m 'push the release'",
        "git add deploy/release.md",
        "git stash push",
        "npm install",
        "ls deploy",
        "grep -rn delete src",
        "echo push > notes",
        "mv a/deploy b",
        "terraform plan",
        "make build",
    ],
)
def test_what_can_be_taken_back_or_only_reads(command):
    assert not touch_command(command, "/project", GuardSettings()).irreversible


@pytest.mark.parametrize(
    ("tool", "irreversible"),
    [("mcp__forge__delete_repo", True), ("mcp__forge__create_issue", False)],
)
def test_mcp_tools_by_their_names(tool, irreversible):
    assert is_irreversible_tool(tool) is irreversible
