# shellcheck shell=sh disable=SC2154
# Ends the hook before a tool call that needs nothing from ademem; `start.sh` sources it.

# Python leaves the flag `.ade/run/clear/<turn or agent>` once nothing in that turn needs it any
# more, or, with lines in it, nothing but calls that change something and have no line. The id is
# read only from before "tool_input": what the model wrote comes after it. Inside a JSON string
# every quote has a backslash, so no path or title can look like one of these keys.
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
  # The guard is content. What memory has on files and commands stands in lists of patterns for
  # `grep`; a reader who was shown some of it has separate lists, with the rest.
  # A call of our MCP server is noted with its turn, which the server does not know.
  case $head in *'"tool_name":"mcp__'*__mem*) id= ;; esac
  # A link that came with a clone is not ours: Python refuses it, and says so.
  marks=$folder/.ade/run
  if [ -n "$id" ] && [ -f "$marks/clear/$id" ] && [ ! -L "$folder/.ade" ] && [ ! -L "$marks" ] &&
    [ ! -L "$marks/clear" ] && [ ! -L "$marks/sites" ]; then
    case $payload in
    *'"tool_name":"mcp__'*) list= part='"tool_name":"' ;;
    *'"file_path":"'*) list=files part='"file_path":"' ;;
    *'"notebook_path":"'*) list=files part='"notebook_path":"' ;;
    *'"command":"'*) list=commands part='"command":"' ;;
    *) list= part='"tool_name":"' ;;
    esac
    # A shell takes the square of the length to remove a text, so what is long is for Python.
    rest=${payload%%"$part"*} about=
    [ ${#rest} -gt 4000 ] || about=${payload#*"$part"}
    call=${about%%'"'*}
    [ "$list" = commands ] || about=$call
    if [ -z "$about" ]; then
      about=.ade # for Python
    elif [ ! -s "$marks/clear/$id" ] ||
      { [ "$list" = commands ] && [ ${#call} -le 4000 ] && . "$hooks/only_reads.sh" && only_reads "$call"; } ||
      LC_ALL=C grep -qxF -e "$call" "$marks/clear/$id" 2>/dev/null; then
      case $list:$payload in
      :*.ade* | :*ademem* | :*settings*) about=.ade ;;
      :*) exit 0 ;;
      esac
    else
      about=.ade
    fi
    # A command that may be ours is read in every turn: approving is for people.
    # So is one at a place of ours, by any tool.
    case $about in *ade*) case $about in *mem* | *ade.db*) about=.ade ;; esac ;; esac
    # A call in such a place need not name it.
    case $head in *'/.ade"'* | */.ade/* | */.config/ademem* | */ademem-data*) about=.ade ;; esac
    # Hooks and variables in the client's settings are asked for; Python reads which change.
    case $about in *settings* | *claude*plugin*) about=.ade ;; esac
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
