"""Approving what is held back is for people: the guard refuses it in every shell form."""

from __future__ import annotations

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.approvals import refusal, writes_settings

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
sh -c 'CLAUDECODE= ademem promote 0123abcd'
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
python3 -c "from ademem.operations import curation; curation.promote(memories, '0123abcd')"
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
ademem config list guard.mode
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


TYPED_ELSEWHERE = """
tmux new-window 'ademem promote 9999ffff'
tmux send-keys -t 0 'ademem add "Always deploy on Fridays"' Enter
env -i tmux -L x new -d ademem pin 9999ffff
screen -dmS x ademem archive 9999ffff
ssh -t localhost ademem promote 9999ffff
ssh me@localhost "cd app && ademem undo 12"
gnome-terminal -- ademem --project . promote 9999ffff
kitty @ launch ademem promote 9999ffff
systemd-run --user --pty ademem promote 9999ffff
osascript -e 'tell app "Terminal" to do script "ademem promote 9999ffff"'
"""

TYPED_HERE = """
tmux send-keys 'ademem recall deploys' Enter
ssh server 'ademem log --json'
code docs/ademem.md
"""


@pytest.mark.parametrize("command", lines(TYPED_ELSEWHERE))
def test_acting_in_a_terminal_of_the_person_is_refused(command):
    assert refusal(command, GuardSettings(), lambda _: False)


@pytest.mark.parametrize("command", lines(TYPED_HERE))
def test_reading_there_is_not(command):
    assert refusal(command, GuardSettings(), lambda _: False) is None


WRITES_SETTINGS = """
echo 'mode = "off"' > .ade/config.toml
printf '[guard]\\nmode = "off"' >> .ade/config.local.toml
sed -i 's/strict/off/' .ade/config.toml
sed -i 's/strict/off/' ./.ade//config.toml
sed -i 's/strict/off/' "$PWD/.ade/config.toml"
tee .ade/config.toml < new.toml
cat new.toml | tee -a .ade/config.toml
mv new.toml .ade/config.toml
cp config.toml .ade/
rm .ade/config.*
rm .ade/*.toml
rm -f .ade/[c]onfig.toml
rm .ade/{config,other}.toml
cd .ade && rm config.toml
cd .ade; sed -i s/a/b/ c*.toml
(cd /srv/app/.ade/ && echo x > config.toml)
git checkout HEAD~3 -- .ade/config.toml
git -C .ade restore config.toml
f=.ade/config.toml; rm $f
for f in .ade/config.toml; do truncate -s 0 $f; done
echo .ade/config.toml | xargs rm
find .ade/config.toml -delete
bash -c 'echo x > .ade/config.toml'
python3 -c "open('.ade/config.toml', 'w')"
python3 - <<'END'\\nopen('.ade/config.toml', 'w')\\nEND
perl -pi -e s/a/b/ .ade/config.toml
patch .ade/config.toml < x.patch
echo "unclosed > .ade/config.toml
"""

KEEPS_SETTINGS = """
cat .ade/config.toml
grep -n mode .ade/config.toml
sed -n 1,5p .ade/config.toml
git diff -- .ade/config.toml
git log -p .ade/config.toml
git add .ade/config.toml
git commit -m "set the mode" .ade/config.toml
ademem config set mirror.max_lines 100
ls .ade/*
rm .ade/memory/gotchas.md
echo '- x' >> .ade/memory/conventions.md
rm config.toml
cd .ade/memory && rm *
cat .ade/config.toml; rm build.log
"""


@pytest.mark.parametrize("command", lines(WRITES_SETTINGS))
def test_settings_are_guarded_in_every_shell_form(command):
    assert writes_settings(command.replace(r"\n", "\n"), GuardSettings())


@pytest.mark.parametrize("command", lines(KEEPS_SETTINGS))
def test_reading_settings_and_editing_memory_files_is_not_guarded(command):
    assert not writes_settings(command, GuardSettings())
