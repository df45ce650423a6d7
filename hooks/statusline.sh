#!/bin/sh
# Print a status line for Claude Code: "◆ 41 memories · prevented 1 · answered 2 · 3 wait". In its settings:
#   "statusLine": {"type": "command", "command": "~/.local/share/ademem/share/ademem/hooks/statusline.sh"}
# The hooks leave the line in `.ade/run/status`, so that showing it takes no more than reading it.
payload=$(cat)
folder=${payload#*'"project_dir":"'}
[ "$folder" != "$payload" ] || exit 0
folder=${folder%%'"'*}
until [ -z "$folder" ] || [ -d "$folder/.ade" ]; do folder=${folder%/*}; done
run=$folder/.ade/run
[ ! -L "$folder/.ade" ] && [ ! -L "$run" ] && [ ! -L "$run/status" ] && [ -f "$run/status" ] || exit 0
# The folder may come from a clone: anything but such a line of plain letters is not for a terminal.
LC_ALL=C
line=$(head -c 200 "$run/status" 2>/dev/null)
case $line in *[!\ -~]*) exit 0 ;; "ademem: "*) ;; *) exit 0 ;; esac
line=${line#ademem: }
while [ "$line" != "${line#*; }" ]; do line="${line%%; *} · ${line#*; }"; done
printf '◆ %s\n' "$line"
