"""Approving what is held back is for people: the guard refuses it in every shell form."""

from __future__ import annotations

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.approvals import refusal

HELD = "0123abcd"

REFUSED = """
ademem promote 0123abcd
ademem promote 0123
ademem pin 0123abcd
ademem edit 0123abcd --content "harmless"
ademem --project . promote 0123abcd
ademem promote --project . 0123abcd
ademem promote other 0123abcd
/usr/local/bin/ademem promote 0123abcd
./.venv/bin/ademem promote 0123abcd
./ademem promote 0123abcd
python -m ademem promote 0123abcd
python3.12 -I -m ademem promote 0123abcd
/usr/bin/python3 -Im ademem promote 0123abcd
uv run ademem promote 0123abcd
sudo -u me ademem promote 0123abcd
env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID ademem promote 0123abcd
env -i PATH=/usr/bin ademem promote 0123abcd
CLAUDECODE= ademem promote 0123abcd
ADEMEM_GUARD_MODE=off ademem promote 0123abcd
nohup ademem promote 0123abcd &
setsid ademem promote 0123abcd
timeout 9 ademem promote 0123abcd
cd src && ademem promote 0123abcd
true || ademem promote 0123abcd
git status; ademem promote 0123abcd
(ademem promote 0123abcd)
if true; then ademem promote 0123abcd; fi
f() { ademem promote 0123abcd; }; f
for id in 0123abcd; do ademem promote $id; done
ademem promote $(ademem review --json | jq -r '.[0].id')
ademem review --json | jq -r '.[].id' | xargs ademem promote
ademem review --json | jq -r '.[].id' | xargs -I{} ademem promote {}
echo 0123abcd | xargs -n1 ademem promote
sh -c 'ademem promote 0123abcd'
bash -lc "ademem promote 0123abcd"
bash <<< 'ademem promote 0123abcd'
eval "ademem promote 0123abcd"
ade''mem promote 0123abcd
"ademem" "promote" 0123abcd
\\ademem promote 0123abcd
alias a=ademem; a promote 0123abcd
alias a='ademem promote'; a 0123abcd
alias a="$X"; a pro''mote 0123abcd
alias a=ademem; a trust
a=ademem; $a promote 0123abcd
$(which ademem) promote 0123abcd
script -qc 'ademem promote 0123abcd' /dev/null
tmux new -d 'ademem promote 0123abcd'
expect -c 'spawn ademem promote 0123abcd'
unbuffer ademem promote 0123abcd
python3 -c 'import pty; pty.spawn(["ademem", "promote", "0123abcd"])'
python3 -c "from ademem import api; api.promote(api.open_memories(), '0123abcd')"
find . -name x -exec ademem promote 0123abcd ;
yes | ademem promote 0123abcd
ademem review
ademem trust
ademem trust --yes
ademem trust --database
python -m ademem trust
ademem trust --show --revoke
ademem trust --project --show
ademem trust --project=. --show
ademem trust --show $FLAGS
ademem trust --json
ademem config set guard.mode off
ademem config set --local ai.url https://a.example
ademem config set $KEY off
ademem promote 0123abcd "
"""

PASSED = """
ademem promote 9999ffff
ademem pin 9999ffff
ademem edit 9999ffff --content "promote 0123abcd"
ademem reject 0123abcd
ademem archive 0123abcd
ademem review --list
ademem review --json
ademem trust --show
ademem trust --show --database --json
python -m ademem trust --show
ademem trust --help
ademem recall "how do we promote 0123abcd"
ademem add "ademem promote 0123abcd needs a person"
ademem config set briefing.max_chars 900
ademem config get guard.mode
ademem core set focus "x"
grep -rn "ademem promote" docs
git commit -m "promote 0123abcd in ademem"
echo ademem promote 0123abcd
gh pr review 12
alias ll="ls -la"; ll; gh pr review 12
python -m pytest tests/ademem
python -c "import ademem; print(ademem.__file__)"
"""


def lines(text):
    return text.strip().splitlines()


def of(command):
    """The refusal in a store with one quarantined memory."""
    return refusal(command, GuardSettings(), lambda id: HELD.startswith(id))


@pytest.mark.parametrize("command", lines(REFUSED))
def test_approving_a_quarantined_memory_is_refused(command):
    assert of(command)


@pytest.mark.parametrize("command", lines(PASSED))
def test_other_commands_are_not(command):
    assert of(command) is None


@pytest.mark.parametrize(
    "command", ["ademem promote 0123abcd", "ademem promote $ID", "ademem review"]
)
def test_nothing_is_refused_where_nothing_is_quarantined(command):
    assert refusal(command, GuardSettings(), lambda _: False) is None


def test_trusting_is_refused_though_nothing_is_quarantined():
    assert refusal("ademem trust", GuardSettings(), lambda _: False) == "`ademem trust`"
