"""No tool writes the places that are ademem's and the person's."""

import pytest

from ademem.core.settings import GuardSettings
from ademem.guard.own_places import named_in

PLACES = ("/home/anna/own", "/srv/app/.ade/ade.db*", "/srv/app/.ade/run", "/cfg/ademem")


def found(tool, *, path="", command="", places=PLACES, folder="/srv/app", **tool_input):
    return named_in(tool, path, command, tool_input, places, GuardSettings(), folder=folder)


@pytest.mark.parametrize(
    "path",
    ["/cfg/ademem/config.toml", "/srv/app/.ade/run/clear/x", "/srv/app/.ade/ade.db-wal"],
)
def test_no_file_tool_writes_them(path):
    assert found("Write", path=path)


@pytest.mark.parametrize(
    "command",
    [
        "echo 'mode = \"off\"' > ~/.config/ademem/config.toml",
        "printf x >> $HOME/.config/ademem/config.toml",
        "mkdir -p ~/.config/ademem && cp x ~/.config/ademem/config.toml",
        "cd ~/.config/ademem && echo x > config.toml",
        "sqlite3 .ade/ade.db \"update unified_memories set status = 'promoted'\"",
        "python3 -c \"import sqlite3; sqlite3.connect('.ade/ade.db').execute('delete from x')\"",
        "rm -rf .ade/run",
        "touch .ade/run/clear/turn-1",
        "f=~/.config/ademem/config.toml; echo x > $f",
        "sed -i s/a/b/ ~/.local/share/ademem/share/ademem/hooks/start.sh",
        "tee /cfg/ademem/config.toml < x",
        "bash -c 'echo x > ~/.config/ademem/config.toml'",
        "rm ~/.local/share/ademem-data/stores/0a",
        "cd .ade && touch run/clear/turn-1",
        "cd .ade; cd memory; rm ../ade.db",
        "bash -c 'cd .ade && rm ade.db'",
        "cd .ade && python3 -c \"open('ade.db', 'w')\"",
        "cd .ade && tar xf ../evil.tar",
        "touch .ade/memory/../run/clear/turn-1",
        "rm .ade/ade.d*",
        "for each in .ad[e]/run; do touch $each/x; done",
        "d=.ad; rm ${d}e/ade.db",
        "rm -f .ade/*",
        "rm -rf .ade",
        "rm -rf .a*",
        "mv .ade elsewhere",
        "mv /srv/app /srv/other",
        "ln -s .ade m",
        "cp -r evil/. .ade/",
        "rsync -a evil/ .ade",
        "tar -xf evil.tar -C .ade",
        "unzip evil.zip -d .ade",
        "rm -rf ~/.CONFIG/ademem",
        "ademem export > ~/.config/ademem/config.toml",
        "ademem core show project > .ade/run/clear/turn-1",
        "d=.ade && cp x $d/ade.db",
        "x=ade; rm .$x/$x.db",
        "env -C .ade rm ade.db",
    ],
)
def test_no_command_writes_them(command):
    assert found("Bash", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "cat ~/.config/ademem/config.toml",
        "ls .ade/run",
        "ademem add 'The database is .ade/ade.db'",
        "echo '- x' >> .ade/memory/gotchas.md",
        "rm build.log",
        "ademem config set search.limit 9",
        "git commit -m 'Ignore .ade/ade.db'",
        "git add .ade && git push",
        "echo '.ade/ade.db' >> .gitignore",
        "cat > notes.md <<'EOF'\nthe database is .ade/ade.db\nEOF",
        "cp -r .ade /tmp/backup",
        "tar --exclude .ade -czf backup.tgz .",
        "cp x.toml ~/.config",
        "mv x.toml ~/.config",
        "cd .ade && git add memory && git commit -m 'Team rules'",
        "cd .ade && rm memory/gotchas.md",
        "rm *",
        "rm -rf build/* && mkdir -p build/made",
        "ademem add 'It writes .ade/ade.db' 2>/dev/null",
    ],
)
def test_reading_them_and_other_files_pass(command):
    assert not found("Bash", command=command)


def test_no_tool_of_another_server_writes_them_and_one_that_reads_passes():
    given = {"file": "/srv/app/.ade/ade.db", "content": "x"}

    assert found("mcp__files__write_file", **given)
    assert found("mcp__files__edit", edits=[{"file": "/home/anna/.config/ademem/config.toml"}])
    assert not found("mcp__files__read_file", **given)


@pytest.mark.parametrize(
    "given",
    [
        {"target": ".ade/run/clear/turn-1"},
        {"target": "/srv/app/.ade/memory/../run/x"},
        {"target": "file:///srv/app/.ade/memory/../run/x"},
        {"target": ".ade"},
        {"source": "/tmp/x", "destination": "../app/.ade/ade.db"},
    ],
)
def test_another_servers_tool_names_them_in_no_other_way(given):
    assert found("mcp__files__move_file", **given)


def test_links_and_the_folder_a_call_runs_in_hide_nothing(tmp_path):
    place = tmp_path / ".ade" / "run"
    place.mkdir(parents=True)
    (tmp_path / "m").symlink_to(".ade")
    places = (f"{place.parent}/ade.db*", str(place))
    inside = {"places": places, "folder": str(place.parent)}
    above = {"places": places, "folder": str(tmp_path)}

    assert found("Bash", command="rm m/ade.db", **above)
    assert found("Bash", command="dd if=/dev/zero of=m/ade.db", **above)
    assert found("mcp__files__write_file", target="m/run/x", **above)
    assert found("Bash", command="rm ade.db", **inside)
    assert found("Bash", command="tar xf /tmp/evil.tar", **inside)
    assert not found("Bash", command="rm memory/gotchas.md", **inside)


def test_files_of_memory_are_not_among_them():
    assert not found("Write", path="/srv/app/.ade/memory/gotchas.md")
