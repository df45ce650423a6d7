# shellcheck shell=sh disable=SC2154
# Notes for the next hook, which reads them: a watched file changed, or the client put an instruction
# file before the model. `start.sh` sources it.

# A link, a folder or a pipe that came with a clone is not ours.
marks=$folder/.ade/run
[ -d "$marks" ] && [ ! -L "$folder/.ade" ] && [ ! -L "$marks" ] && [ ! -L "$marks/loaded" ] || exit 0
case $hook in
file_changed) [ -L "$marks/changed" ] || { [ -e "$marks/changed" ] && [ ! -f "$marks/changed" ]; } || : >"$marks/changed" ;;
instructions_loaded)
  # Inside a JSON string every quote has a backslash, so no path can look like one of these keys.
  payload=$(cat)
  case $payload in
  *'"agent_id":"'*) id=${payload#*'"agent_id":"'} ;;
  *'"session_id":"'*) id=${payload#*'"session_id":"'} ;;
  esac
  id=${id%%'"'*}
  case $id in '' | *[!A-Za-z0-9_-]*) exit 0 ;; esac
  [ ${#payload} -le 4000 ] && [ ! -L "$marks/loaded/$id" ] && mkdir -p "$marks/loaded" || exit 0
  printf '%s\n' "$payload" >>"$marks/loaded/$id"
  ;;
esac 2>/dev/null
