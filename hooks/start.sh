# shellcheck shell=sh disable=SC2154
# What Claude Code runs for every hook of ademem. A registered command line sets
#   hook     the script to start, e.g. pre_tool_use, or pre_command for that one before a command
#   hooks    the folder of this file and of the scripts
#   python   the interpreter that has ademem; empty means the one install.sh made, or any of a plugin
# and sources this file under `trap 'exit 0' 0`: an exit code of 2 would block the tool call, and a
# shell exits with 2 by itself when a file it sources is damaged. Where a person wants a call denied
# whose hook fails, PreToolUse has no trap, and every way out of here that decides nothing is not 0.
#
# Most tool calls need nothing from ademem. The file of their event lets them through in two
# milliseconds, because starting Python takes fifteen. A wrong guess there may only cost time, or a
# hint from memory: in doubt, Python decides.

# As itself, zsh splits no words and ends at a pattern that no file fits; with the traps of `sh` it
# would forget the one above, which keeps an exit code of 2 from the client.
[ -z "$ZSH_VERSION" ] || { emulate sh && unsetopt posix_traps; } 2>/dev/null

# A clone brings variables, too, in its settings of the client. What these name here is not the
# person's; ADEMEM_DISABLE may be, and Python compares the values.
of_clone() {
  settings=${CLAUDE_PROJECT_DIR:-$PWD}/.claude/settings
  grep -qs -e "\"$1\"" -e '\\u00[45]' "$settings.json" ||
    { grep -qs -e "\"$1\"" -e '\\u00[45]' "$settings.local.json" &&
      git -C "${settings%/*}" ls-files --error-unmatch settings.local.json; }
} >/dev/null 2>&1
[ -z "$ADEMEM_PREFIX" ] || ! of_clone ADEMEM_PREFIX || unset ADEMEM_PREFIX
[ -z "$ADEMEM_PROJECT" ] || ! of_clone ADEMEM_PROJECT || unset ADEMEM_PROJECT
[ -z "$ADEMEM_DATA_DIR" ] || ! of_clone ADEMEM_DATA_DIR || unset ADEMEM_DATA_DIR
[ -z "$XDG_DATA_HOME" ] || ! of_clone XDG_DATA_HOME || unset XDG_DATA_HOME
[ -z "$ADEMEM_DISABLE" ] || [ -z "$hook" ] || of_clone ADEMEM_DISABLE || exit 0

# These may be exported in the user's environment, and a variable that is stays so when it is set
# again: a large payload in the environment keeps every program from starting.
unset payload head folder id reader list about marks run package call rest part moved reads command name body asked how found noted second third text flag log session agent tool
case $hook in pre_command) hook=pre_tool_use brief=1 ;; *) brief= ;; esac

# Only a project with `.ade/` takes part, or a worktree (there `.git` is a file) whose main one has it.
# The payload's own `cwd` follows the model's `cd`, so the search starts where the session did, and
# goes up as `ademem` does.
folder=${ADEMEM_PROJECT:-${CLAUDE_PROJECT_DIR:-$PWD}}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
until [ -z "$hook" ] || [ -d "$folder/.ade" ] || [ -f "$folder/.git" ]; do
  if [ -z "$folder" ]; then
    # A session above several projects: the file of a call may be in one.
    [ "$hook" != pre_tool_use ] || break
    # The plugin offers an interactive session to enrol its project, once.
    [ "$hook${CLAUDE_PLUGIN_ROOT:+ plugin} $CLAUDE_CODE_ENTRYPOINT" = 'session_start plugin cli' ] || exit 0
    break
  fi
  folder=${folder%/*}
done

case $hook in
pre_tool_use | post_tool_use | stop)
  # A command is short, and a process would take longer than a shell, which reads byte by byte.
  if [ -n "$brief" ]; then
    while IFS= read -r part || [ -n "$part" ]; do payload=$payload$part; done
  else
    payload=$(cat)
  fi
  [ ${#payload} -gt 100000 ] || . "$hooks/$hook.sh" # Python reads what is longer faster
  ;;
post_tool_batch)
  # Only after a denial that carries memories does anything follow from the end of the calls.
  [ -f "$folder/.ade/run/carrying" ] || exit 0
  ;;
file_changed | instructions_loaded)
  . "$hooks/notes.sh"
  exit 0
  ;;
late_recall)
  # A prompt whose search took longer than its hook may has a file in there.
  set -- "$folder"/.ade/run/late/*
  [ -f "$1" ] || exit 0
  ;;
esac

python=${python:-${ADEMEM_PREFIX:-$HOME/.local/share/ademem}/bin/python}

# A plugin brings the package and no interpreter. Any Python 3.11 runs its hooks; it is looked for
# once, as asking one takes time, and its path is noted among the person's own files.
find_python() {
  package=${hooks%/hooks}
  case $package in /*) ;; *) package=$PWD/$package ;; esac
  [ -d "$package/ademem" ] || exit 1
  note=${ADEMEM_DATA_DIR:-${XDG_DATA_HOME:-$HOME/.local/share}/ademem-data}/python
  { read -r python <"$note"; } 2>/dev/null
  [ ! -x "$python" ] || return 0
  for python in python3 python3.14 python3.13 python3.12 python3.11; do
    python=$("$python" -ISc 'import sys; sys.version_info >= (3, 11) and print(sys.executable)')
    if [ -x "$python" ]; then
      mkdir -p "${note%/*}" && printf '%s\n' "$python" >"$note"
      return 0
    fi
  done 2>/dev/null
  case $hook in
  session_start) echo '{"systemMessage":"ademem needs Python 3.11 or newer on PATH; memory is off"}' ;;
  '') echo 'ademem: no Python 3.11 or newer on PATH' >&2 ;;
  esac
  exit 1
}
[ -x "$python" ] || find_python

if [ -z "$hook" ]; then
  [ -n "$package" ] || exec "${python%/*}/ademem" "$@"
  exec "$python" -I -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv[0] = "ademem"
from ademem.doors.cli import program; program()' "$package" "$@"
fi

# Reads the payload on standard input. ademem logs its own failures; what an interpreter says when
# it cannot even start is not for the session. `-I` keeps the project's own modules from standing in
# for the standard library. `-S` saves looking for packages, which would cost more than most hooks,
# where the one that is needed lies beside the interpreter; elsewhere (a checkout) it has to be found.
# Collecting garbage would cost such a short life more than it gives back.
run='import gc, sys; gc.disable(); sys.path.append(sys.argv[2])
from ademem.core import bytecode; bytecode.use(); exec(open(sys.argv[1]).read())'
start_python() {
  if [ -n "$package" ]; then set -- "$package"; else set -- "${python%/bin/*}"/lib/python3.*/site-packages; fi
  if [ -d "$1/ademem" ]; then
    "$python" -IS -c "$run" "$hooks/$hook.py" "$1"
  else
    "$python" -I "$hooks/$hook.py"
  fi 2>/dev/null
}

case $hook in
pre_tool_use | post_tool_use | stop) { printf '%s' "$payload" | start_python; } 2>/dev/null ;;
late_recall)
  # The client reads what stands on the other stream when this ends with 2, which the trap makes of 3.
  text=$(start_python)
  [ -z "$text" ] || { printf '%s\n' "$text" >&2 && exit 3; }
  ;;
*) start_python ;;
esac
