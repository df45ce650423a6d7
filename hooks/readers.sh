# shellcheck shell=sh disable=SC2034
# Which commands surely only read, made of ademem/guard/programs.py by
# `python -m tests.shell_readers`. `pre_tool_use.sh` asks
# about $command, as it stands in JSON with quotes of one kind: $reads is set if each part of a
# pipeline only reads.
reads=1
case $command in
'' | *[\\\;\&\<\>\`\$\(\)\{\}\!\#\~\^]* | *'||'* | *\'-*) reads= ;;
esac
while [ -n "$reads" ]; do
  part=${command%%'|'*} reads= name=${part#"${part%%[! ]*}"} name="$name "
  case $name in python' -m pytest '* | python' -m tox '* | python' -m unittest '* | python' -m mypy '* | python' -m flake8 '* | python' -m pylint '* | python' -m pip '* | python' -m ruff '* | python3' -m pytest '* | python3' -m tox '* | python3' -m unittest '* | python3' -m mypy '* | python3' -m flake8 '* | python3' -m pylint '* | python3' -m pip '* | python3' -m ruff '*) name=${name#*' -m '} ;; esac
  second=${name#*' '} third=${second#*' '} name=${name%%' '*} second=${second%%' '*}
  case $name in
  ls | ll | dir | exa | eza | stat | du | df | pwd | realpath | readlink | basename | dirname | locate | which | whereis | cat | batcat | head | tail | more | nl | tac | rev | wc | cut | paste | join | comm | cmp | diff | colordiff | delta | tr | fold | fmt | column | expand | strings | size | od | hexdump | md5 | md5sum | sha1sum | sha256sum | sha512sum | shasum | cksum | grep | egrep | fgrep | zgrep | jq | zcat | zipinfo | nm | objdump | readelf | ldd | otool | cloc | tokei | dirs | true | false | exit | return | break | continue | shift | set | wait | jobs | type | ulimit | umask | times | getopts | shopt | printenv | sleep | yes | seq | help | tldr | apropos | tput | clear | tty | expr | bc | factor | numfmt | cal | id | who | whoami | w | groups | last | uname | uptime | arch | nproc | getconf | locale | free | vmstat | iostat | lscpu | lsblk | lsof | ps | pgrep | pidof | pstree | top | htop | ping | dig | nslookup | host | whois | getent | netstat | tox | nox | unittest | mocha | rspec | phpunit | bats | ctest | pyright | flake8 | bandit | shellcheck | yamllint | actionlint | hadolint | staticcheck) reads=1 ;;
  tree) case $part in *' -'*o*) ;; *) reads=1 ;; esac ;;
  file) case $part in *' --c' | *' --c '* | *' --c='* | *' --co'* | *' -'*C*) ;; *) reads=1 ;; esac ;;
  sort) case $part in *' --c' | *' --c '* | *' --c='* | *' --co'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' -'*o*) ;; *) reads=1 ;; esac ;;
  base64) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' -'*o*) ;; *) reads=1 ;; esac ;;
  rg) case $part in *' --h' | *' --h '* | *' --h='* | *' --ho'* | *' --p' | *' --p '* | *' --p='* | *' --pr'*) ;; *) reads=1 ;; esac ;;
  yq) case $part in *' --i' | *' --i '* | *' --i='* | *' --in'* | *' --s' | *' --s '* | *' --s='* | *' --sp'* | *' --w' | *' --w '* | *' --w='* | *' --wr'* | *' -'*i* | *' -'*s* | *' -'*w*) ;; *) reads=1 ;; esac ;;
  bat) case $part in *' --b' | *' --b '* | *' --b='* | *' --bu'* | *' --c' | *' --c '* | *' --c='* | *' --cl'* | *' --g' | *' --g '* | *' --g='* | *' --ge'* | *' --p' | *' --p '* | *' --p='* | *' --pa'*) ;; *) reads=1 ;; esac ;;
  ag) case $part in *' --p' | *' --p '* | *' --p='* | *' --pa'*) ;; *) reads=1 ;; esac ;;
  ack) case $part in *' --a' | *' --a '* | *' --a='* | *' --ac'* | *' --p' | *' --p '* | *' --p='* | *' --pa'*) ;; *) reads=1 ;; esac ;;
  history) case $part in *' -'*a* | *' -'*c* | *' -'*d* | *' -'*n* | *' -'*r* | *' -'*w*) ;; *) reads=1 ;; esac ;;
  info) case $part in *' --d' | *' --d '* | *' --d='* | *' --dr'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' -'*o*) ;; *) reads=1 ;; esac ;;
  ss) case $part in *' --k' | *' --k '* | *' --k='* | *' --ki'* | *' -'*K*) ;; *) reads=1 ;; esac ;;
  journalctl) case $part in *' --c' | *' --c '* | *' --c='* | *' --cu'* | *' --f' | *' --f '* | *' --f='* | *' --fl'* | *' --r' | *' --r '* | *' --r='* | *' --re'* | *' --ro'* | *' --s' | *' --s '* | *' --s='* | *' --se'* | *' --sm'* | *' --sy'* | *' --u' | *' --u '* | *' --u='* | *' --up'* | *' --v' | *' --v '* | *' --v='* | *' --va'*) ;; *) reads=1 ;; esac ;;
  jest) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' --s' | *' --s '* | *' --s='* | *' --sc'* | *' --u' | *' --u '* | *' --u='* | *' --up'* | *' -'*u*) ;; *) reads=1 ;; esac ;;
  vitest) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' --s' | *' --s '* | *' --s='* | *' --sc'* | *' --u' | *' --u '* | *' --u='* | *' --up'* | *' -'*u*) ;; *) reads=1 ;; esac ;;
  mypy) case $part in *' --a' | *' --a '* | *' --a='* | *' --an'* | *' --c' | *' --c '* | *' --c='* | *' --co'* | *' --h' | *' --h '* | *' --h='* | *' --ht'* | *' --i' | *' --i '* | *' --i='* | *' --in'* | *' --j' | *' --j '* | *' --j='* | *' --ju'* | *' --l' | *' --l '* | *' --l='* | *' --li'* | *' --t' | *' --t '* | *' --t='* | *' --tx'* | *' --x' | *' --x '* | *' --x='* | *' --xm'*) ;; *) reads=1 ;; esac ;;
  pylint) case $part in *' --i' | *' --i '* | *' --i='* | *' --in'* | *' --l' | *' --l '* | *' --l='* | *' --lo'* | *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
  markdownlint) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' -'*f*) ;; *) reads=1 ;; esac ;;
  rubocop) case $part in *' --a' | *' --a '* | *' --a='* | *' --au'* | *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' --i' | *' --i '* | *' --i='* | *' --in'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' --r' | *' --r '* | *' --r='* | *' --re'* | *' -'*A* | *' -'*a* | *' -'*o* | *' -'*r* | *' -'*x*) ;; *) reads=1 ;; esac ;;
  tflint) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' --i' | *' --i '* | *' --i='* | *' --in'*) ;; *) reads=1 ;; esac ;;
  eslint) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' --i' | *' --i '* | *' --i='* | *' --in'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' -'*o*) ;; *) reads=1 ;; esac ;;
  prettier) case $part in *' --w' | *' --w '* | *' --w='* | *' --wr'* | *' -'*w*) ;; *) reads=1 ;; esac ;;
  gofmt) case $part in *' -'*w*) ;; *) reads=1 ;; esac ;;
  find) case $part in *' -d'* | *' -e'* | *' -f'* | *' -o'*) ;; *) reads=1 ;; esac ;;
  pytest | py.test) case $part in *' --'* | *' - '* | *' -') ;; *) reads=1 ;; esac ;;
  sed)
    third=${third%%' '*} third=${third#\'} third=${third%\'}
    case $second$third in -n*[!0-9,p]* | *,*,* | *,p | *p?*) ;; -n[0-9]*p)
      case $part in *' -'*' -'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  alembic)
    case $second in
    branches | check | current | heads | history | show) reads=1 ;;
    esac
    ;;
  apt)
    case $second in
    list | policy | search | show) reads=1 ;;
    esac
    ;;
  bd)
    case $second in
    blocked | count | graph | help | info | list | lint | prime | ready | search | show | stale | stats | status | version | where) reads=1 ;;
    doctor) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  brew)
    case $second in
    cat | config | deps | desc | doctor | info | leaves | list | ls | outdated | search | uses) reads=1 ;;
    esac
    ;;
  buf)
    case $second in
    breaking | lint) reads=1 ;;
    esac
    ;;
  cargo)
    case $second in
    audit | c | check | deny | help | locate-project | metadata | outdated | pkgid | search | t | tree | version) reads=1 ;;
    clippy) case $part in *' --f' | *' --f '* | *' --f='* | *' --fi'*) ;; *) reads=1 ;; esac ;;
    test) case $part in *' --b' | *' --b '* | *' --b='* | *' --bl'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  dotnet)
    case $second in
    test) case $part in *' --c' | *' --c '* | *' --c='* | *' --co'* | *' --d' | *' --d '* | *' --d='* | *' --di'* | *' --l' | *' --l '* | *' --l='* | *' --lo'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' --r' | *' --r '* | *' --r='* | *' --re'* | *' -'*d* | *' -'*l* | *' -'*o* | *' -'*r*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  flutter)
    case $second in
    devices) reads=1 ;;
    doctor) case $part in *' --a' | *' --a '* | *' --a='* | *' --an'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  gcloud)
    case $second in
    info | version) reads=1 ;;
    esac
    ;;
  gem)
    case $second in
    environment | info | list | outdated | search | specification | which) reads=1 ;;
    esac
    ;;
  gh)
    case $second in
    search | status | version) reads=1 ;;
    esac
    ;;
  git)
    case $second in
    cat-file | check-attr | check-ignore | check-mailmap | check-ref-format | cherry | column | count-objects | describe | for-each-ref | help | ls-files | ls-tree | merge-base | merge-tree | name-rev | rev-parse | show-branch | show-ref | status | stripspace | var | verify-commit | verify-pack | verify-tag | version) reads=1 ;;
    annotate) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    archive) case $part in *' --e' | *' --e '* | *' --e='* | *' --ex'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' -'*o*) ;; *) reads=1 ;; esac ;;
    blame) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    diff) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    diff-files) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    diff-index) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    diff-tree) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    fsck) case $part in *' --l' | *' --l '* | *' --l='* | *' --lo'*) ;; *) reads=1 ;; esac ;;
    grep) case $part in *' --o' | *' --o '* | *' --o='* | *' --op'* | *' -'*O*) ;; *) reads=1 ;; esac ;;
    hash-object) case $part in *' -'*w*) ;; *) reads=1 ;; esac ;;
    log) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    ls-remote) case $part in *' --e' | *' --e '* | *' --e='* | *' --ex'* | *' --u' | *' --u '* | *' --u='* | *' --up'*) ;; *) reads=1 ;; esac ;;
    range-diff) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    reflog) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'* | *delete* | *drop* | *expire* | *write*) ;; *) reads=1 ;; esac ;;
    rev-list) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    shortlog) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    show) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    whatchanged) case $part in *' --o' | *' --o '* | *' --o='* | *' --ou'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  go)
    case $second in
    doc | version) reads=1 ;;
    env) case $part in *' -'*u* | *' -'*w*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  helm)
    case $second in
    env | get | history | lint | list | ls | search | show | status | version) reads=1 ;;
    template) case $part in *' --d' | *' --d '* | *' --d='* | *' --de'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' --p' | *' --p '* | *' --p='* | *' --po'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  minikube)
    case $second in
    status) reads=1 ;;
    esac
    ;;
  ollama)
    case $second in
    list | ps | show) reads=1 ;;
    esac
    ;;
  pip)
    case $second in
    check | debug | freeze | help | index | inspect | list | show) reads=1 ;;
    esac
    ;;
  pyenv)
    case $second in
    version | versions | which) reads=1 ;;
    esac
    ;;
  rbenv)
    case $second in
    version | versions | which) reads=1 ;;
    esac
    ;;
  ruff)
    case $second in
    config | linter | rule | version) reads=1 ;;
    check) case $part in *' --a' | *' --a '* | *' --a='* | *' --ad'* | *' --f' | *' --f '* | *' --f='* | *' --fi'* | *' --o' | *' --o '* | *' --o='* | *' --ou'* | *' -'*o*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  rustup)
    case $second in
    show | which) reads=1 ;;
    esac
    ;;
  snap)
    case $second in
    find | info | list) reads=1 ;;
    esac
    ;;
  swiftlint)
    case $second in
    lint) case $part in *' --a' | *' --a '* | *' --a='* | *' --au'* | *' --f' | *' --f '* | *' --f='* | *' --fi'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  systemctl)
    case $second in
    cat | is-active | is-enabled | is-failed | list-dependencies | list-sockets | list-timers | list-unit-files | list-units | show | status) reads=1 ;;
    esac
    ;;
  terraform)
    case $second in
    graph | output | show | validate | version) reads=1 ;;
    plan) case $part in *' -g'* | *' -o'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  vagrant)
    case $second in
    status) reads=1 ;;
    global-status) case $part in *' --p' | *' --p '* | *' --p='* | *' --pr'*) ;; *) reads=1 ;; esac ;;
    esac
    ;;
  esac
  case $command in *'|'*) command=${command#*'|'} ;; *) break ;; esac
done
part=
