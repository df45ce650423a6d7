"""`hooks/readers.sh`, made of the tables of reading programs: `python -m tests.shell_readers`.

It has the programs, and the reading commands of git, whose arguments need no look: none of them
has a rule of its own, but options that write. A word that may be such an option is left to Python.
"""

from __future__ import annotations

from pathlib import Path

from ademem.guard import programs
from ademem.guard.readers import list_reading

FILE = Path(__file__).parents[1] / "hooks/readers.sh"
HEAD = """\
# shellcheck shell=sh disable=SC2034
# Which commands surely only read, made of ademem/guard/programs.py by
# `python -m tests.shell_readers`. `pre_tool_use.sh` asks
# about $command, as it stands in JSON with quotes of one kind: $reads is set if each part of a
# pipeline only reads.
reads=1
case $command in '' | *[\\\\\\;\\&\\<\\>\\`\\$\\(\\)\\{\\}\\!\\#\\~\\^]* | *'||'*) reads= ;; esac
while [ -n "$reads" ]; do
  part=${command%%'|'*} reads= name=${part#"${part%%[! ]*}"} name="$name "
  second=${name#*' '} name=${name%%' '*} second=${second%%' '*}
  case $name in
"""
TAIL = """\
  esac
  case $command in *'|'*) command=${command#*'|'} ;; *) break ;; esac
done
part=
"""
FIND = "find) case $part in *' -d'* | *' -e'* | *' -f'* | *' -o'*) ;; *) reads=1 ;; esac ;;"


def patterns(name: str) -> list[str]:
    """Return patterns of what may be a writing option, alone or among others."""
    found = []
    for option in programs.WRITING_OPTIONS.get(name, "").split():
        if option.startswith("--"):  # or an abbreviation
            one, two = option[:3], option[:4]
            found += [f"*' {one}'", f"*' {one} '*", f"*' {one}='*", f"*' {two}'*"]
        elif option.startswith("-") and len(option) == 2:
            found.append(f"*' -'*{option[1]}*")
        elif option.startswith("-"):
            found.append(f"*' -{option[1]}'*")
        else:
            found.append(f"*{option}*")
    return list(dict.fromkeys(found))


def script() -> str:
    names = list_reading()
    lines = _arms([name for name in names if " " not in name], "$part")
    lines.append(FIND)
    programs_ = dict.fromkeys(name.partition(" ")[0] for name in names if " " in name)
    for program in programs_:
        own = [name for name in names if name.startswith(f"{program} ")]
        lines += [f"{program})", "  case $second in", *(f"  {arm}" for arm in _arms(own, "$part"))]
        lines += ["  esac", "  ;;"]
    return HEAD + "".join(f"  {line}\n" for line in lines) + TAIL


def _arms(names: list[str], text: str) -> list[str]:
    """Return arms of a `case`: the names that have no writing option first, together."""
    free = [name.rpartition(" ")[2] for name in names if not patterns(name)]
    arms = [f"{' | '.join(free)}) reads=1 ;;"] if free else []
    for name in names:
        if given := patterns(name):
            writes = f"case {text} in {' | '.join(given)}) ;; *) reads=1 ;; esac"
            arms.append(f"{name.rpartition(' ')[2]}) {writes} ;;")
    return arms


if __name__ == "__main__":
    FILE.write_text(script(), encoding="utf-8")
