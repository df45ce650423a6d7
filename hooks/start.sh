# shellcheck shell=sh disable=SC2154
# What Claude Code runs for every hook of ademem. A registered command line sets
#   hook     the script to start, e.g. pre_tool_use
#   hooks    the folder of this file and of the scripts
#   python   the interpreter that has ademem; empty means the one install.sh made, or any of a plugin
# and sources this file under `trap 'exit 0' 0`: an exit code of 2 would block the tool call, and a
# shell exits with 2 by itself when a file it sources is damaged.
#
# Most tool calls need nothing from ademem. They are let through here, in two milliseconds, because
# starting Python takes fifteen. A wrong guess here may only cost time, or a hint from memory: in
# doubt, Python decides.

[ -z "$ADEMEM_DISABLE" ] || [ -z "$hook" ] || exit 0

# These may be exported in the user's environment, and a variable that is stays so when it is set
# again: a large payload in the environment keeps every program from starting.
unset payload head folder id reader list about marks run package call rest part

# Only a project with `.ade/` takes part, or a worktree (there `.git` is a file) whose main one has it.
# The payload's own `cwd` follows the model's `cd`, so the search starts where the session did, and
# goes up as `ademem` does.
folder=${ADEMEM_PROJECT:-${CLAUDE_PROJECT_DIR:-$PWD}}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
until [ -z "$hook" ] || [ -d "$folder/.ade" ] || [ -f "$folder/.git" ]; do
  if [ -z "$folder" ]; then
    # The plugin offers an interactive session to enrol its project, once.
    [ "$hook${CLAUDE_PLUGIN_ROOT:+ plugin} $CLAUDE_CODE_ENTRYPOINT" = 'session_start plugin cli' ] || exit 0
    break
  fi
  folder=${folder%/*}
done

python=${python:-${ADEMEM_PREFIX:-$HOME/.local/share/ademem}/bin/python}

# A plugin brings the package and no interpreter. Any Python 3.11 runs its hooks; it is looked for
# once, as asking one takes time, and its path is noted among the person's own files.
find_python() {
  package=${hooks%/hooks}
  case $package in /*) ;; *) package=$PWD/$package ;; esac
  [ -d "$package/ademem" ] || exit 0
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
from ademem.core import bytecode; bytecode.use(threads=False); exec(open(sys.argv[1]).read())'
start_python() {
  if [ -n "$package" ]; then set -- "$package"; else set -- "${python%/bin/*}"/lib/python3.*/site-packages; fi
  if [ -d "$1/ademem" ]; then
    "$python" -IS -c "$run" "$hooks/$hook.py" "$1"
  else
    "$python" -I "$hooks/$hook.py"
  fi 2>/dev/null
}

# True for a list or pipeline of a few commands that only read, whatever their arguments are; a
# quoted `|` only makes one part more. Everything else is for Python.
only_reads() {
  rest=$1
  while :; do
    case $rest in
    *' 2>/dev/null'*) rest=${rest%%' 2>/dev/null'*}${rest#*' 2>/dev/null'} ;;
    *' 2>&1'*) rest=${rest%%' 2>&1'*}${rest#*' 2>&1'} ;;
    *[\\\`\$\<\>\(\)\{\}]* | *--output* | *--ext-diff* | *--pre* | *-exec* | *-ok* | *-delete* | *-fprint* | *-fls*) return 1 ;;
    *) break ;;
    esac
  done
  while [ -n "$rest" ]; do
    part=${rest%%[\|\;\&]*}
    rest=${rest#"$part"} rest=${rest#?}
    case ${part#"${part%%[! ]*}"} in
    '' | ls | 'ls '* | 'cat '* | head | 'head '* | tail | 'tail '* | wc | 'wc '* | 'grep '* | 'rg '* | 'find '*) ;;
    pwd | 'cd '* | 'echo '* | 'which '* | 'stat '* | 'file '* | 'git status' | 'git status '* | 'git diff') ;;
    'git diff '* | 'git log' | 'git log '* | 'git show' | 'git show '* | 'git ls-files' | 'git ls-files '*) ;;
    *) return 1 ;;
    esac
  done
}

case $hook in
pre_tool_use | post_tool_use) payload=$(cat) ;;
post_tool_batch)
  # Only after a denial that carries memories does anything follow from the end of the calls.
  [ -f "$folder/.ade/run/carrying" ] && start_python
  exit 0
  ;;
*)
  start_python
  exit 0
  ;;
esac

case $hook in
pre_tool_use)
  # Python leaves the flag `.ade/run/clear/<turn or agent>` once nothing in that turn needs it any
  # more, or, with lines in it, nothing but calls that change something and have no line. The id is read only from before "tool_input": what the model wrote comes after it. Inside
  # a JSON string every quote has a backslash, so no path or title can look like one of these keys.
  case $payload in *'"tool_input"'*) head=${payload%%'"tool_input"'*} ;; esac
  case $head in
  *'"agent_id":"'*'"tool_name"'*) id=${head#*'"agent_id":"'} ;;
  *'"prompt_id":"'*'"tool_name"'*)
    # A subagent has the turn's id as well, and must not pass with the main thread's flag.
    case $payload in *'"agent_id"'*) ;; *) id=${head#*'"prompt_id":"'} ;; esac
    ;;
  esac
  id=${id%%'"'*}
  case $id in
  '' | *[!A-Za-z0-9_-]*) ;;
  *)
    # The guard is content. What memory has on files and commands stands in lists of what `grep`
    # is to look for; a reader who was told some has lists of its own, with the rest.
    # A command that may be ours is read in every turn: approving is for people.
    case $payload in *'"command":"'*ade*mem*) id= ;; esac
    # A call of our MCP server is noted with its turn, which the server is not told.
    case $head in *'"tool_name":"mcp__'*__mem*) id= ;; esac
    # What came with a clone as a link is nothing of ours: Python refuses it, and says so.
    marks=$folder/.ade/run
    if [ -n "$id" ] && [ -f "$marks/clear/$id" ] && [ ! -L "$folder/.ade" ] && [ ! -L "$marks" ] &&
      [ ! -L "$marks/clear" ] && [ ! -L "$marks/sites" ]; then
      case $payload in
      *'"file_path":"'*) list=files about=${payload#*'"file_path":"'} about=${about%%'"'*} call=$about ;;
      *'"notebook_path":"'*) list=files about=${payload#*'"notebook_path":"'} about=${about%%'"'*} call=$about ;;
      *'"command":"'*) list=commands about=${payload#*'"command":"'} call=${about%%'"'*} ;;
      *) list= about= call=${head#*'"tool_name":"'} call=${call%%'"'*} ;;
      esac
      if [ ! -s "$marks/clear/$id" ] || { [ "$list" = commands ] && only_reads "$call"; } ||
        LC_ALL=C grep -qxF -e "$call" "$marks/clear/$id" 2>/dev/null; then
        [ -n "$list" ] || exit 0
      else
        about=.ade # for Python
      fi
      case $head in
      *'"agent_id":"'*) reader=$id ;;
      *) reader=${head#*'"session_id":"'} reader=${reader%%'"'*} ;;
      esac
      case $reader in
      '' | *[!A-Za-z0-9_-]*) ;;
      *) [ ! -f "$marks/sites/$reader.$list" ] || list=$reader.$list ;;
      esac
      list=$marks/sites/$list
      case $about in
      *.ade*) ;; # it may edit a file of memory, and Python notes that an agent did
      *)
        if [ ! -L "$list" ]; then
          [ -s "$list" ] || exit 0
          printf '%s\n' "$about" 2>/dev/null | LC_ALL=C grep -q -f "$list" 2>/dev/null
          [ $? -ne 1 ] || exit 0
        fi
        ;;
      esac
    fi
    ;;
  esac
  ;;
post_tool_use)
  # A result is worth a look when it can hold something to learn, was a search of memory, came from
  # outside, or may be a commit, of which the next session need not be told.
  case $payload in
  *'"tool_name":"WebFetch"'* | *'"tool_name":"WebSearch"'* | *'"tool_name":"mcp__'*) ;;
  *ademem* | *memory* | *mem_* | *'bd comment'*) ;;
  *[Ll][Ee][Aa][Rr][Nn][Ee][Dd]:*) ;;
  *[Ii][Nn][Vv][Ee][Ss][Tt][Ii][Gg][Aa][Tt][Ii][Oo][Nn]:*) ;;
  *[Dd][Ee][Cc][Ii][Ss][Ii][Oo][Nn]:*) ;;
  *[Ff][Aa][Cc][Tt]:*) ;;
  *[Pp][Aa][Tt][Tt][Ee][Rr][Nn]:*) ;;
  *[Gg][Oo][Tt][Cc][Hh][Aa]:*) ;;
  *[Cc][Oo][Nn][Vv][Ee][Nn][Tt][Ii][Oo][Nn]:*) ;;
  *)
    case ${payload%%'"tool_response"'*} in
    *git*commit* | *git*merge* | *git*rebase* | *git*cherry-pick* | *git*revert* | *git*pull* | *git*' am '*) ;;
    *git*notes*' -F'* | *git*notes*--file* | *'gh pr '*' -F'* | *'gh pr '*--body-file*) ;; # a message in a file
    *) exit 0 ;;
    esac
    ;;
  esac
  ;;
esac

{ printf '%s' "$payload" | start_python; } 2>/dev/null
