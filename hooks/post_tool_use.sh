# shellcheck shell=sh disable=SC2154
# Ends the hook after a tool call of which nothing is to be noted; `start.sh` sources it.

# Of files that a call wrote, those of the client's own memory are read. A folder that the person
# moved it to is named in `.ade/run/client_memory`.
moved= list=$folder/.ade/run/client_memory
[ ! -f "$list" ] || [ -L "$list" ] || read -r moved <"$list"
case $payload in
*'"tool_name":"Write"'* | *'"tool_name":"Edit"'* | *'"tool_name":"MultiEdit"'* | *'"tool_name":"NotebookEdit"'*)
  rest=${payload%%'"file_path":"'*}
  # A shell takes the square of the length to remove a text; what stands behind a long one may be any.
  if [ ${#rest} -le 4000 ]; then
    part=${payload#"$rest"} part=${part#*'":"'} part=${part%%'"'*}
    case $part in
    *\\ | */memory/*.md | */agent-memory/*.md) ;; # a path with a quote in it was cut there
    *.md) case $part in *"/${moved:-//}/"*) ;; *) exit 0 ;; esac ;;
    *) exit 0 ;;
    esac
  fi
  ;;
*)
  # A result is worth a look when it can hold something to learn, was a search of memory, came from
  # outside, or may be a commit, of which the next session need not be told.
  case $payload in
  *'"tool_name":"WebFetch"'* | *'"tool_name":"WebSearch"'* | *'"tool_name":"mcp__'*) ;;
  *ademem* | *memory* | *mem_* | *'bd comment'*) ;;
  *"${moved:-ademem}"*) ;;
  *[Ll][Ee][Aa][Rr][Nn][Ee][Dd]:*) ;;
  *[Ii][Nn][Vv][Ee][Ss][Tt][Ii][Gg][Aa][Tt][Ii][Oo][Nn]:*) ;;
  *[Dd][Ee][Cc][Ii][Ss][Ii][Oo][Nn]:*) ;;
  *[Ff][Aa][Cc][Tt]:*) ;;
  *[Pp][Aa][Tt][Tt][Ee][Rr][Nn]:*) ;;
  *[Gg][Oo][Tt][Cc][Hh][Aa]:*) ;;
  *[Cc][Oo][Nn][Vv][Ee][Nn][Tt][Ii][Oo][Nn]:*) ;;
  *)
    # Two words in one pattern would take the square of the length.
    rest=${payload%%'"tool_response"'*}
    case $rest in *git* | *'gh pr '*) ;; *) exit 0 ;; esac
    case $rest in
    *commit* | *merge* | *rebase* | *cherry-pick* | *revert* | *pull* | *' am '*) ;;
    *' -F'* | *--file* | *--body-file*) ;; # a message in a file
    *) exit 0 ;;
    esac
    ;;
  esac
  ;;
esac
