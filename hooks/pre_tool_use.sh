# shellcheck shell=sh disable=SC2154
# Ends the hook before a tool call that meets no memory; `start.sh` sources it.

# What the client says of the call and, as text, what the model wrote. A shell takes the square of the
# length to remove the beginning of a text, so all are split at once. Inside a JSON string every quote
# has a backslash: nothing there can look like a key, and Python decides if there is one before it.
case $payload in *'"tool_input":{'*) head=${payload%%'"tool_input"'*} ;; esac
case $head in '' | *\\*) return ;; esac
set -f
IFS='"'
# shellcheck disable=SC2086
set -- $payload
set +f
while [ $# -gt 4 ]; do
  case $2$3 in
  session_id:) session=$4 ;;
  transcript_path:) noted=$4 ;;
  cwd:) about=$4 ;;
  prompt_id:) id=$4 ;;
  agent_id:) agent=$4 ;;
  tool_name:) tool=$4 ;;
  tool_input:*) break ;;
  esac
  if [ "$3" = : ]; then shift 4; else shift 2; fi
done
[ "$2" != tool_input ] || { shift && text="$*" text=${text#'tool_input":{'}; }
unset IFS
[ -n "$text" ] || return
case $text in *'\u00'[2-7]*) return ;; esac # a letter or sign may stand there in no word of the lists

# The file of a call decides whose memory is asked, whichever project the session started in.
path=
case $text in
*'"file_path":"/'*) part='"file_path":"/' ;;
*'"notebook_path":"/'*) part='"notebook_path":"/' ;;
*) case $folder,$about in ,/*) path=$about ;; esac ;;
esac
if [ -n "$part" ]; then
  rest=${text%%"$part"*}
  [ ${#rest} -le 4000 ] || return
  path=/${text#*"$part"} path=${path%%'"'*}
fi
until [ -z "$path" ] || [ -d "$path/.ade" ] || [ -f "$path/.git" ]; do path=${path%/*}; done
[ -n "$folder$path" ] || exit 0
case $path in '' | "$folder") ;; *) folder= ;; esac # another project, with lists of its own

# Python leaves the flag `.ade/run/clear/<turn or agent>` once nothing in that turn needs it but what
# memory has to say. A subagent has the turn's id as well, and must not pass with the main thread's.
case $payload in *'"agent_id"'*) id=$agent ;; esac
[ -n "$tool" ] || id=
case $id in
'' | *[!A-Za-z0-9_-]*) ;;
*)
  # A call of our MCP server is noted with its turn, which the server does not know.
  case $tool in mcp__*__mem*) id= ;; esac
  # A link that came with a clone is not ours: Python refuses it, and says so.
  marks=$folder/.ade/run
  if [ -n "$id" ] && [ -n "$folder" ] && [ -f "$marks/clear/$id" ] && { [ ! -f "$marks/changed" ] || [ -L "$marks/changed" ]; } && [ ! -L "$folder/.ade" ] && [ ! -L "$marks" ] &&
    [ ! -L "$marks/clear" ] && [ ! -L "$marks/keys" ]; then
    # What the call names, in which folder below the project, and all that it says.
    # Braces around it would pass for those of a command.
    call=$text body=$text part= reads=
    case $text in
    *'"command":"'*'"command":"'*) ;;
    *'"command":"'*)
      # A pipeline of programs that only read touches no file: quotes are as good as others there.
      rest=${text#*'"command":"'} command=
      while
        part=${rest%%'"'*}
        case $part in *\\) [ ${#command} -le 1000 ] ;; *) false ;; esac
      do
        command=$command${part%?}\' rest=${rest#*'"'}
      done
      command=$command$part part=
      [ ${#command} -gt 1000 ] || [ ! -r "$hooks/readers.sh" ] || . "$hooks/readers.sh"
      ;;
    esac
    case $text in
    # Quotes inside a word hide a name from any list.
    *'"command":"'*) [ -n "$reads" ] || case $text in *[A-Za-z0-9_./-]["'"][A-Za-z0-9_./-]* | *[A-Za-z0-9_./-]'\"'[A-Za-z0-9_./-]* | *"''"[A-Za-z0-9_./-]* | *'\"\"'[A-Za-z0-9_./-]*) id= ;; esac ;;
    *'"file_path":"'*) part='"file_path":"' ;;
    *'"notebook_path":"'*) part='"notebook_path":"' ;;
    esac
    if [ -n "$part" ]; then
      # A shell takes the square of the length to remove a text: behind a long one the call is all.
      rest=${text%%"$part"*}
      if [ ${#rest} -le 4000 ]; then
        call=${text#*"$part"} body=$rest${call#*'"'} call=${call%%'"'*} # a name is no edited line
      fi
      # A path with a quote in it was cut there; a link may lead to any place.
      case $call in *\\) call=$text ;; esac
      [ ! -L "$call" ] || id=
      rest=${call%/*}
      case $call in
      *//* | */./* | */../*) ;;
      /*) until [ -z "$rest" ] || [ -L "$rest" ]; do rest=${rest%/*}; done ;;
      esac
      if [ -z "$rest" ]; then call="$call ${call%/*}/"; else call="$call $(cd -P "${call%/*}" 2>/dev/null && pwd -P)/"; fi
    fi
    # A command that may be ours is read in every turn: approving is for people. So is one at a place
    # of ours, by any tool, and a call in such a place, which need not name it.
    case $call in *ade*) case $call in *mem* | *ade.db*) id= ;; esac ;; esac
    case $head in *'/.ade"'* | */.ade/* | */.config/ademem* | */ademem-data*) id= ;; esac
    # Hooks of the client come with plugins, too; the word settings is in the lists.
    case $call in *claude*plugin*) id= ;; esac
    [ -z "$about" ] || call="${about#"$folder"} $call"
    case $tool in mcp__*) call="mcp__ $call" ;; esac
    reader=${agent:-$session}
    list=$marks/keys/
    case $reader in
    '' | *[!A-Za-z0-9_-]*) ;;
    *) [ ! -f "$list$reader.words" ] || list=$list$reader. ;;
    esac
    # Lists of an earlier prompt hold if this one follows the last entry before it; after a rewind
    # what was said since is not in the conversation any more.
    if [ -s "${list}after" ]; then
      name= && [ -L "${list}after" ] || read -r name <"${list}after"
      if [ -n "$name" ] && grep -qF -e '"parentUuid":"'"$name"'"' -- "$noted" 2>/dev/null; then
        : >"${list}after"
      else
        list=$marks/keys/
      fi
    fi
    for name in always runs words writers pieces trees texts weak rare; do [ ! -L "$list$name" ] || id=; done
    if [ -n "$id" ]; then
      # 1: no line has one. Anything else, a list that cannot be read as well, is for Python.
      lacks() {
        asked=$1 how=$2
        shift 2
        escape='\' && [ "$1" != rare ] || escape='\u' # its words are letters alone
        for name; do shift && { [ -f "$list$name" ] && [ ! -s "$list$name" ] || set -- "$@" -f "$list$name"; }; done
        [ $# -gt 0 ] || return 0
        # As it is in JSON, where an escape is two backslashes, and as it is meant.
        case $asked in *"$escape"*) asked="$asked
$(printf '%b' "$asked" 2>/dev/null)" ;; esac 2>/dev/null
        # One process; a pipe would take two, and Python is asked where the text cannot be handed over.
        found=
        { LC_ALL=C grep -q "$how" "$@" && found=0 || found=$?; } 2>/dev/null <<END
$asked
END
        [ "$found" = 1 ]
      }
      # Places that words suggest are asked with the sure ones; only after a hit, these are alone.
      meets_none_surely() { lacks "$call" -iF always pieces "$@" && lacks "$body" -iF rare; }
      # Where no text has one of these words, not even inside another, one process told it.
      if [ -n "$reads" ]; then
        if { lacks "$call" -iF always runs || { lacks "$call" -iF always && lacks "$call" -iwF runs; }; } &&
          lacks "$text" -iF texts; then exit 0; fi
      elif [ -n "$part" ]; then
        if { lacks "$call" -iF always words pieces weak || { lacks "$call" -iwF words && meets_none_surely; }; } &&
          lacks "$text" -iF texts; then exit 0; fi
      elif lacks "$call" -iwF runs words writers &&
        { lacks "$call" -iF always pieces trees weak || meets_none_surely trees; } && lacks "$text" -iF texts; then
        exit 0
      else
        # Python noted commands that run targets and scripts, and met nothing, while the files that
        # say what these run were as they are.
        noted=$marks/keys/unbound.commands
        case $about,$tool,$head in
        *'"agent_id"'* | *'"agent_type"'*) noted= ;; # an agent may have memories of its own
        "$folder,Bash,"*) ;;
        *) noted= ;;
        esac
        [ -f "$noted" ] && [ ! -L "$noted" ] && lacks "$call" -iF always || noted=
        for name in "$folder" "$folder/GNUmakefile" "$folder/makefile" "$folder/Makefile" "$folder/package.json"; do
          [ ! "$name" -nt "$noted" ] || noted=
        done
        call=${text#*'"command":"'} call=${call%%'"'*}
        if [ -n "$noted" ] && LC_ALL=C grep -qxF -e "$call" "$noted" 2>/dev/null; then exit 0; fi
      fi
    fi
  fi
  ;;
esac
