# shellcheck shell=sh disable=SC2154
# Ends the hook at the end of a turn at which nothing is to be done; `start.sh` sources it.

# Python noted in the flag of the turn that nothing was due, and gave it the time of the database's
# log. What changed since in files or commits is not in the database.
marks=$folder/.ade/run id= head=${payload%%'"last_assistant_message":"'*} text=$payload
if [ ${#head} -le 4000 ]; then # a shell takes the square of the length to remove a text
  text=${payload#"$head"} text=${text#*:}
  case $head in *'"prompt_id":"'*) id=${head#*'"prompt_id":"'} id=${id%%'"'*} ;; esac
fi
case $id in *[!A-Za-z0-9_-]*) id= ;; esac
case $text in
# Parts of the titles of lessons, in `ademem/capture/__init__.py`.
*[Ll][Ee][Aa][Rr][Nn]* | *[Tt][Aa][Kk][Ee][Aa][Ww][Aa][Yy]* | *[Aa][Pp][Rr][Ee][Nn][Dd]* | *[Cc][Oo][Nn][Cc][Ll][Uu][Ss]*) id= ;;
*ſ* | *\\u*) id= ;; # other letters for them
esac
flag=$marks/clear/$id log=$folder/.ade/ade.db-wal
if [ -n "$id" ] && [ -s "$flag" ] && [ -f "$log" ] && [ -f "$marks/idle" ] && [ -f "$folder/.git/HEAD" ] &&
  [ ! "$log" -nt "$flag" ] && [ ! "$flag" -nt "$log" ] && [ ! -e "$marks/changed" ] && [ ! -e "$marks/carrying" ] &&
  [ ! -e "$marks/late/$id" ] && [ ! -L "$folder/.ade" ] && [ ! -L "$marks" ] && [ ! -L "$marks/clear" ] && [ ! -L "$flag" ]; then
  for name in "$folder/.ade/memory" "$folder"/.ade/memory/* "$folder/.ade/cto/core-memory.json" \
    "$folder/.git/HEAD" "$folder/.git/logs/HEAD" "$folder/.git/FETCH_HEAD" "$folder/.git/packed-refs" \
    "$folder"/.git/refs/heads/* "$folder"/.git/refs/heads/*/*; do
    [ ! "$name" -nt "$marks/idle" ] || id=
  done
  [ -z "$id" ] || exit 0
fi
