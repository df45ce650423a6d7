"""`hooks/readers.sh`, made of the tables of reading programs: `python -m tests.shell_readers`.

It has the programs, and the reading commands of git, whose arguments need no look: none of them
has a rule of its own, but options that write. A word that may be such an option is left to Python.
"""

from __future__ import annotations

from pathlib import Path

from ademem.guard import programs
from ademem.guard.mutation import judge
from ademem.guard.readers import list_reading

FILE = Path(__file__).parents[1] / "hooks/readers.sh"
HEAD = """\
# shellcheck shell=sh disable=SC2034
# Which commands surely only read, made of ademem/guard/programs.py by
# `python -m tests.shell_readers`. `pre_tool_use.sh` asks
# about $command, as it stands in JSON with quotes of one kind: $reads is set if each part of a
# pipeline only reads.
reads=1
case $command in
'' | *[\\\\\\;\\&\\<\\>\\`\\$\\(\\)\\{\\}\\!\\#\\~\\^]* | *'||'* | *\\'-*) reads= ;;
esac
while [ -n "$reads" ]; do
  part=${command%%'|'*} reads= name=${part#"${part%%[! ]*}"} name="$name "
  case $name in PYTHON) name=${name#*' -m '} ;; esac
  second=${name#*' '} third=${second#*' '} name=${name%%' '*} second=${second%%' '*}
  case $name in
"""
TAIL = """\
  esac
  case $command in *'|'*) command=${command#*'|'} ;; *) break ;; esac
done
part=
"""
OTHERS = (
    "find) case $part in *' -d'* | *' -e'* | *' -f'* | *' -o'*) ;; *) reads=1 ;; esac ;;",
    "pytest | py.test) case $part in *' --'* | *' - '* | *' -') ;; *) reads=1 ;; esac ;;",
    # lines by their numbers
    "sed)",
    "  third=${third%%' '*} third=${third#\\'} third=${third%\\'}",
    "  case $second$third in -n*[!0-9,p]* | *,*,* | *,p | *p?*) ;; -n[0-9]*p)",
    "    case $part in *' -'*' -'*) ;; *) reads=1 ;; esac ;;",
    "  esac",
    "  ;;",
)
"""Arms of programs that `list_reading` leaves out, as some of their arguments do more than read."""


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
    lines += OTHERS
    programs_ = dict.fromkeys(_program(name) for name in names if " " in name)
    for program in programs_:
        own = [name for name in names if name.startswith(f"{program} ")]
        lines += [f"{program})", "  case $second in", *(f"  {arm}" for arm in _arms(own, "$part"))]
        lines += ["  esac", "  ;;"]
    modules = dict.fromkeys(["pytest", *map(_program, filter(_is_module, names))])
    python = " | ".join(
        f"{name}' -m {module} '*" for name in ("python", "python3") for module in modules
    )
    head = HEAD.replace("PYTHON", python)
    return head + "".join(f"  {line}\n" for line in lines) + TAIL


def _program(name: str) -> str:
    return name.partition(" ")[0]


def _is_module(name: str) -> bool:
    return not judge(f"python -m {name}").mutates


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
