# shellcheck shell=sh
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
