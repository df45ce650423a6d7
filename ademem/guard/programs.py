"""Programs, subcommands, options and arguments that only read; anything not listed is a change.

A string holds several names. A key is a program with its subcommands, such as `git stash`.
"""

from __future__ import annotations

READERS = (
    # files and text
    "ls ll dir tree exa eza stat file du df pwd realpath readlink basename dirname find fd fdfind"
    " locate which whereis cat bat batcat head tail less more nl tac rev wc cut paste join comm cmp"
    " diff colordiff delta sort uniq tr fold fmt column expand strings size od hexdump xxd iconv"
    " base64 base32 md5 md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum grep egrep fgrep"
    " zgrep rg ag ack sed awk gawk mawk jq yq zcat bzcat xzcat zipinfo tar unzip gzip gunzip"
    " bzip2 xz zstd nm objdump readelf ldd otool javap xmllint cloc scc tokei tee rsync"
    # the shell itself
    " cd pushd popd dirs echo printf test [ [[ true false : exit return break continue shift set"
    " unset export declare local readonly typeset let read mapfile readarray wait jobs type"
    " ulimit umask times getopts shopt trap history command exec xargs env printenv sleep yes seq"
    " alias unalias . source help man info tldr apropos tput clear tty expr bc factor numfmt"
    # the machine
    " date cal id who whoami w groups last uname hostname uptime arch nproc getconf locale free"
    " vmstat iostat lscpu lsblk lsusb lspci lsmod lsof ps pgrep pidof pstree top htop findmnt dmesg"
    " journalctl ping dig nslookup host whois nc getent traceroute ss netstat ifconfig sysctl"
    " sw_vers crontab dpkg rpm pacman curl wget psql mysql mariadb sqlite3 pg_isready"
    # tests and linters: what they write are caches
    " pytest py.test tox nox unittest jest vitest mocha ava tap rspec phpunit pest bats ctest mypy"
    " pyright flake8 pylint bandit black isort shellcheck hadolint yamllint markdownlint actionlint"
    " codespell typos clang-format eslint stylelint biome prettier tsc vue-tsc gofmt goimports"
    " staticcheck rubocop shfmt json.tool"
    # alone they tell what they can do
    " ademem aws bd brew bundle cargo docker gem gh git go helm kubectl npm pip pnpm podman poetry"
    " ruff rustup systemctl terraform uv"
)
"""Programs that only read, unless a table below restricts them."""

READING_TARGETS = {
    "gradle": "check dependencies help projects properties tasks test",
    "just": "test tests",
    "make": "check test tests",
    "mvn": "dependency:analyze dependency:list dependency:tree help:describe help:effective-pom"
    " test validate",
    "ninja": "test",
    "rake": "spec test",
    "task": "test",
}
"""Build programs, and their targets that only test or print."""

DRY_RUN_OPTIONS = {
    "gradle": "--dry-run --version -m -v",
    "just": "--dry-run --dump --list --show --summary -l -n",
    "make": "--dry-run --just-print --question --recon --version -n -q -qp -v",
    "mvn": "--version -v",
    "ninja": "--version -n",
    "rake": "--dry-run --prereqs --tasks -D -P -T -n",
    "task": "--dry --list --list-all --summary -a -l -n",
}
"""Options with which a build program builds nothing."""

SYNONYMS = {
    "./gradlew": "gradle",
    "./mvnw": "mvn",
    "docker-compose": "docker compose",
    "nerdctl": "docker",
    "podman": "docker",
    "tofu": "terraform",
}
"""Programs with the command line of another."""

EFFECTS = {
    "removes files": "rm, rmdir, unlink, shred, git clean, git rm",
    "changes files": "cp, dd, ln, mkdir, mv, patch, split, tee, touch, truncate, tar, unzip, rsync",
    "changes permissions": "chgrp, chmod, chown, setfacl",
    "changes a remote": "git push, gh, scp, sftp, ssh",
    "changes the repository": "git",
    "builds": "cargo build, cmake, go build, gradle, make, mvn, ninja",
    "runs code that can change anything": "bash, bun, cargo run, deno, go run, lua, node, npm run,"
    " npx, perl, php, python, ruby, sh, sudo, uv run, yarn run, zsh, ., source",
    "changes packages or runs their scripts": "apt, apt-get, brew, bundle, cargo, composer, conda,"
    " gem, npm, pip, pipenv, pnpm, poetry, rustup, uv, yarn",
    "changes processes or services": "docker, kill, killall, pkill, systemctl",
    "changes what is deployed": "aws, helm, kubectl, terraform",
    "changes a database": "mariadb, mysql, psql, sqlite3, redis-cli",
    "changes memory or how it works": "ademem",
}
"""Effects of well-known programs when they do not only read, for the reason of a denial."""

ALWAYS_ALLOWED = {
    "ademem": ("add learn", "writes to memory, which is never blocked"),
    "bd": (
        "assign close comment comments create defer dep label note q reopen tag undefer update",
        "writes to the issue tracker, not to files",
    ),
}
"""Subcommands that may always write, and why."""

COMMAND_VARIABLES = (
    "BASH_ENV BAT_PAGER DYLD_INSERT_LIBRARIES EDITOR GH_PAGER GIT_ASKPASS GIT_EDITOR"
    " GIT_EXTERNAL_DIFF GIT_PAGER GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND LD_PRELOAD LESSOPEN MANPAGER"
    " PAGER PROMPT_COMMAND SSH_ASKPASS VISUAL"
)
"""Variables that hold a command that programs run, or a library that they load."""

DECLARING = ("declare", "export", "local", "readonly", "typeset")
"""Shell builtins whose arguments are assignments."""

GIT_SETTINGS = (
    *("advice.", "color.", "column.", "core.abbrev", "core.pager=cat", "core.quotepath"),
    *("core.quotePath", "diff.renam", "i18n.", "log.", "safe.directory", "status.", "user."),
)
"""Prefixes of the settings with which `git -c` runs no other program."""

CMDLETS = (
    "compare convertfrom convertto format get group join measure resolve select sort split test"
    " where foreach-object out-default out-host out-null out-string pop-location push-location"
    " set-location start-sleep write-host write-output write-verbose"
)
"""PowerShell verbs, and single cmdlets, that only read."""

SUBSCRIPTED = (
    "[ [[ declare export let local mapfile printf read readarray readonly test typeset unset"
)
"""Shell builtins whose arguments may be elements of arrays.

A subscript must hold no command: the shell runs it even where it was quoted.
"""

SUBCOMMANDS = {
    "ademem": "agents at candidates cost doctor export get guard help history list log recall"
    " refusals search stats status timeline",
    "ademem config": "get list",
    "ademem core": "show",
    "ademem files": "check diff",
    "ademem guard": "explain log status",
    "ademem mission": "list status",
    "ademem model": "status verify",
    "ademem procedures": "list show",
    "ademem skills": "list",
    "apt": "depends list policy rdepends search show",
    "apt-cache": "depends madison policy rdepends search show",
    "aws": "help",
    "aws *": "batch-get-* describe-* filter-* get-* head-* help list list-* lookup-* ls query scan"
    " search tail wait",
    "bd": "blocked count doctor graph help info list lint prime ready search show stale"
    " stats status version where",
    "brew": "cat config deps desc doctor info leaves list ls outdated search uses",
    "bun": "test",
    "bun run": "test test:*",
    "bundle": "check info list outdated show",
    "cargo": "audit c check clippy deny fmt help locate-project metadata outdated pkgid search t"
    " test tree version",
    "cargo nextest": "list run",
    "composer": "audit licenses outdated show test validate",
    "coverage": "report",
    "deno": "check doc fmt info lint test",
    "docker": "diff events history images info inspect logs port ps search stats top version",
    "docker compose": "config events images logs ls port ps top version",
    "docker container": "diff inspect list logs ls port ps stats top",
    "docker image": "history inspect list ls",
    "docker network": "inspect list ls",
    "docker volume": "inspect list ls",
    "dotnet": "test",
    "gem": "contents environment info list outdated search which",
    "gh": "api search status version",
    "gh auth": "status",
    "gh config": "get list",
    "gh issue": "list status view",
    "gh pr": "checks diff list status view",
    "gh release": "list view",
    "gh repo": "list view",
    "gh run": "list view watch",
    "gh workflow": "list view",
    "git": "add annotate apply archive blame branch cat-file check-attr check-ignore check-mailmap"
    " check-ref-format cherry clean column commit config count-objects describe diff diff-files"
    " diff-index diff-tree fetch for-each-ref format-patch fsck grep hash-object help log ls-files"
    " ls-remote ls-tree merge-base merge-tree name-rev push range-diff rebase reflog remote"
    " rev-list rev-parse rm shortlog show show-branch show-ref status stripspace submodule"
    " symbolic-ref tag var verify-commit verify-pack verify-tag version whatchanged",
    "git bisect": "log",
    "git lfs": "env ls-files locks status",
    "git remote": "get-url show",
    "git stash": "list show",
    "git submodule": "status summary",
    "git worktree": "list",
    "go": "doc env fmt list test version vet",
    "go mod": "graph verify why",
    "golangci-lint": "linters run version",
    "helm": "env get history lint list ls search show status template version",
    "ip": "a addr address l link n neigh r route rule",
    "ip *": "get l list ls s show",
    "kubectl": "api-resources api-versions apply cluster-info create delete describe diff events"
    " explain get kustomize logs top version",
    "kubectl config": "current-context get-clusters get-contexts get-users view",
    "kubectl rollout": "history status",
    "npm": "audit bin diff doctor explain fund help info la list ll ls outdated ping prefix query"
    " root run run-script search show t test tst v view whoami why",
    "npm config": "get list ls",
    "npm run": "test test:*",
    "npm run-script": "test test:*",
    "openssl": "ciphers dgst s_client verify version x509",
    "pip": "check debug freeze help index inspect list show",
    "pip cache": "dir info list",
    "pip config": "debug get list",
    "pipenv": "check graph verify",
    "playwright": "test",
    "pnpm": "audit licenses list ls outdated run t test why",
    "pnpm run": "test test:*",
    "poetry": "about check config show version",
    "rails": "about notes routes stats test",
    "redis-cli": "dbsize exists get hget hgetall hlen info keys llen lrange mget ping scan scard"
    " smembers strlen ttl type zcard zrange",
    "ruff": "check config format linter rule version",
    "rustup": "check show which",
    "swift": "test",
    "systemctl": "cat is-active is-enabled is-failed list-dependencies list-sockets list-timers"
    " list-unit-files list-units show status",
    "terraform": "fmt graph output plan providers show validate version",
    "terraform state": "list show",
    "uv": "help tree version",
    "uv pip": "check freeze list show tree",
    "yarn": "audit info jest list outdated run test test:* versions vitest why",
    "yarn run": "test test:*",
}
"""Subcommands that only read; any other is a change.

`list-*` is a prefix; `ip *` lists what may follow any subcommand of `ip`.
"""

VALUE_OPTIONS = {
    "ademem": "--project",
    "aws": "--endpoint-url --output --profile --query --region",
    "bd": "--actor --db",
    "cargo": "--config --manifest-path -C -Z",
    "date": "--date --reference -d -f -r -v",
    "docker": "--config --context --host --log-level -H -c -l",
    "docker compose": "--env-file --file --profile --project-directory --project-name -f -p",
    "gh": "--hostname --repo -R",
    "git": "--config-env --git-dir --namespace --work-tree -C -c",
    "git branch": "--format --sort",
    "git config": "--blob --default --file --type -f",
    "gradle": "--configuration --dependency --project-dir --tests -b -p",
    "helm": "--kube-context --kubeconfig --namespace -n",
    "kubectl": "--cluster --context --kubeconfig --namespace --server --user -n -s",
    "make": "--directory --file -C -I -f -j",
    "mvn": "--file --projects -f -pl",
    "npm": "--prefix --workspace -C -w",
    "pnpm": "--dir --filter -C -F",
    "poetry": "--directory -C",
    "redis-cli": "--user -a -h -n -p -u",
    "sqlite3": "-newline -nullvalue -separator",
    "systemctl": "--host --lines --machine --property --type -H -M -n -p -t",
    "uniq": "-f -s -w",
    "uv": "--directory --project --python -p",
    "xxd": "-c -g -l -n -o -s",
    "yarn": "--cwd",
}
"""Options that take the next word as their value."""

WRITING_OPTIONS = {
    "ack": "--pager",
    "ademem doctor": "--fix",
    "ag": "--pager",
    "base64": "--output -o",
    "bat": "--pager",
    "bd doctor": "--fix",
    "biome": "--apply --fix --write",
    "cargo clippy": "--fix",
    "clang-format": "-i",
    "codespell": "--interactive --write-changes -i -w",
    "date": "--set -s",
    "deno lint": "--fix",
    "dmesg": "--clear --read-clear -C -c",
    "docker compose config": "--output -o",
    "env": "--split-string -S",
    "eslint": "--fix --init --output-file -o",
    "file": "--compile -C",
    "find": "-delete -fls -fprint -fprint0 -fprintf",
    "git archive": "--exec --output -o",
    "git branch": "--copy --delete --edit-description --force --move --set-upstream-to --track"
    " --unset-upstream -C -D -M -c -d -f -m -t -u",
    "git clean": "--exclude --interactive -e -i",
    "git commit": "--author --date --file --fixup --message --squash --template --trailer -C -F -c"
    " -m -t",
    "git diff": "--output",
    "git fetch": "--server-option --upload-pack -o",
    "git fsck": "--lost-found",
    "git grep": "--open-files-in-pager -O",
    "git hash-object": "-w",
    "git log": "--output",
    "git ls-remote": "--exec --upload-pack",
    "git push": "--exec --push-option --receive-pack --repo -o",
    "git reflog": "delete drop expire write",
    "git show": "--output",
    "git symbolic-ref": "--delete -d -m",
    "git tag": "--annotate --delete --edit --file --force --local-user --message --sign --trailer"
    " -F -a -d -e -f -m -s -u",
    "go env": "-u -w",
    "go test": "-c -coverprofile -cpuprofile -exec -memprofile -o -toolexec -trace -update",
    "go vet": "-fix -toolexec -vettool",
    "gofmt": "-w",
    "goimports": "-w",
    "golangci-lint run": "--fix",
    "history": "-a -c -d -n -r -w",
    "helm template": "--output-dir --post-renderer",
    "hostname": "--file -F",
    "iconv": "--output -o",
    "jest": "--init --updateSnapshot -u",
    "journalctl": "--flush --rotate --vacuum-files --vacuum-size --vacuum-time",
    "kubectl cluster-info": "--output-directory",
    "kubectl kustomize": "--output -o",
    "less": "--LOG-FILE --log-file -O -o",
    "man": "--html --pager -H -P",
    "mapfile": "-C",
    "mypy": "--install-types",
    "npm audit": "fix",
    "openssl dgst": "-out -sign",
    "openssl x509": "-out",
    "playwright test": "--update-snapshots -u",
    "prettier": "--write -w",
    "psql": "--file --log-file --output -L -f -o",
    "pylint": "--output -o",
    "pytest": "--basetemp --force-regen --inline-snapshot --snapshot-update",
    "readarray": "-C",
    "rg": "--hostname-bin --pre",
    "rsync": "--rsh --rsync-path -e",
    "rubocop": "--auto-correct --auto-gen-config --autocorrect --autocorrect-all -A -a -x",
    "ruff check": "--add-noqa --fix --fix-only --output-file -o",
    "shfmt": "--write -w",
    "sort": "--compress-program --output -o",
    "ss": "--kill -K",
    "stylelint": "--fix --output-file -o",
    "terraform plan": "-generate-config-out -out",
    "terraform providers": "lock mirror",
    "tree": "-o",
    "typos": "--write-changes -w",
    "vitest": "--update -u",
    "xmllint": "--output --shell -o",
    "yq": "--inplace --split-exp -i -s",
}
"""Options, or words, with which a reading command does more than read."""

READING_OPTIONS = {
    "ademem export": "-",
    "black": "--check --diff",
    "bzip2": "--stdout --test -c -cd -dc -t",
    "cargo fmt": "--check",
    "crontab": "-l",
    "deno fmt": "--check",
    "dpkg": "--list --listfiles --search --status -L -S -l -s",
    "git add": "--dry-run -n",
    "git apply": "--check --numstat --stat --summary",
    "git branch": "--contains --list --merged --no-contains --no-merged --points-at --show-current"
    " -l",
    "git clean": "--dry-run -dn -n -nd -ndX -ndx -nfd -nx",
    "git commit": "--dry-run",
    "git fetch": "--dry-run",
    "git format-patch": "--stdout",
    "git push": "--dry-run -n",
    "git rebase": "--show-current-patch",
    "git rm": "--dry-run -n",
    "git tag": "--contains --list --merged --no-contains --no-merged --points-at --verify -l -n -v",
    "go fmt": "-n",
    "gunzip": "--list --stdout --test -c -l -t",
    "gzip": "--list --stdout --test -c -cd -dc -l -t",
    "isort": "--check --check-only --diff -c",
    "kubectl apply": "--dry-run=client --dry-run=server",
    "kubectl create": "--dry-run=client --dry-run=server",
    "kubectl delete": "--dry-run=client --dry-run=server",
    "nc": "-vz -z -zv",
    "pacman": "-Q -Qe -Qi -Ql -Qo -Qs -Si -Ss",
    "poetry config": "--list",
    "rpm": "-q -qR -qa -qf -qi -ql",
    "rsync": "--dry-run -an -anv -avn -avnz -n",
    "ruff format": "--check --diff",
    "terraform fmt": "-check",
    "tsc": "--listFilesOnly --noEmit --showConfig",
    "unzip": "--list -Z -l -lv -p -t -v",
    "vue-tsc": "--noEmit",
    "wget": "--output-document --spider -O -O- -qO -qO-",
    "xz": "--list --stdout --test -c -cd -dc -l -t",
    "zstd": "--list --stdout --test -c -cd -dc -l -t",
}
"""Commands that only read if one of these options is given, or no more than `MAX_OPERANDS`."""

MAX_OPERANDS = {
    "ademem export": 0,
    "aws s3api get-object": 0,
    "git branch": 0,
    "git symbolic-ref": 1,
    "git tag": 0,
    "hostname": 0,
    "ifconfig": 1,
    "json.tool": 1,
    "tee": 0,
    "uniq": 1,
    "xxd": 1,
}
"""Numbers of operands up to which a command only reads."""

READING_FIRST_ARGUMENTS = {
    "bash": "-n",
    "dotnet": "--info --list-runtimes --list-sdks",
    "gpg": "--list-keys --list-secret-keys --verify -K -k",
    "java": "-version",
    "kill": "-0 -L -l",
    "node": "--check -c -v",
    "perl": "-V -v",
    "php": "-i -l -m -v",
    "python": "-V -VV",
    "redis-cli": "--bigkeys --scan --stat",
    "rustc": "--explain --version -V -vV",
    "sh": "-n",
    "ssh": "-G -V",
    "yarn": "-v",
    "zsh": "-n",
}
"""First arguments with which a program that may change anything only reads."""

VERSION_PROGRAMS = "cc clang gcc lua ruby"
"""Programs for which `-v` alone prints the version."""

DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})
"""Targets that can be written to without changing anything."""

_OPERANDS = r"(?:\0[^-\0][^\0]*)*"
_TEXT = r"(?:[^/\\\[\n\0\x01]|\\[^\0]|\[\^?\]?[^\]/\n\0\x01]*\])*"
_ADDRESS = rf"(?:\d+|\$|/{_TEXT}/)"
_SED = (
    rf"(?:\s*(?:{_ADDRESS}(?:,{_ADDRESS})?\s*)?!?(?:[=dDgGhHnNpPqx{{}}]"
    rf"|s/{_TEXT}/{_TEXT}/[gpI\d]*|s\|[^|\\\[\n\0\x01]*\|[^|\\\n\0\x01]*\|[gpI\d]*)"
    r"\s*(?:;|$|(?=[\0}])))+"
)
_CALL = r"\b(?:avg|count|length|lower|max|min|now|sum|upper|version)\([\w\s.*,]*\)"
_STATEMENT = (
    rf"(?:select\b(?:[\w\s.,*=<>!%'\"]|-(?!-)|{_CALL})*|show\b[\w\s.%']*|desc(?:ribe)?\s[\w.]+"
    r"|pragma\s+table_info\(\w+\))"
)
_QUERY = rf"(?i:(?![^\0]*\binto\b)\s*{_STATEMENT}(?:;\s*{_STATEMENT})*;?)"
_AWK = r"(?:-[Fv](?:\0?[^\0]+)\0)*(?!-|[^\0]*system)(?:[^>|@\0\x01]|>=|\|\|)*" + _OPERANDS
_MYSQL = r"(?:-[hPu]\0[^-\0][^\0]*|-[BNst]+|[^-\0][^\0]*)"
_PSQL = r"(?:-[hpUd]\0[^-\0][^\0]*|-[AqtXx]+|[^-\0][^\0]*)"
_REQUEST = (
    r"(?:-[fgiIkLsSv]+|--(?:compressed|fail|get|head|include|location|silent|show-error)"
    r"|(?:-H|-m|-u|-A|--header|--max-time|--user)\0[^\0]+|(?:-w|--write-out)\0(?![^\0]*output)[^\0]+"
    r"|(?:-X|--request)\0(?:GET|HEAD|OPTIONS)|-[fgiIkLsSv]*o\0/dev/null|[^-\0][^\0]*)"
)
_MYSQL_QUERY = rf"(?!.*\n)(?:{_MYSQL}\0)*-[BNst]*e\0{_QUERY}(?:\0{_MYSQL})*"
"""The client runs a line that begins with `system`, so the query is one line."""

READING_ARGUMENTS = {
    "awk": _AWK,
    "curl": rf"{_REQUEST}(?:\0{_REQUEST})*",
    "date": r"(?:[-+][^\0]*(?:\0|$))*",
    "gawk": _AWK,
    "gh api": r"(?:(?:--paginate|--slurp|-i|--jq\0[^\0]+|-q\0[^\0]+|-H\0[^\0]+"
    r"|(?:-X|--method)\0GET|(?!graphql)[^-\0][^\0]*)(?:\0|$))+",
    "git config": r"(?:--(?:global|local|system|show-origin|show-scope|null|name-only)\0)*"
    rf"(?:(?:--(?:get|list)[^\0]*|-l|get|list){_OPERANDS}|[\w-]+\.[\w.-]+)",
    "less": r"(?:(?:[^+\0][^\0]*|\+\+?(?:\d+|[GF]))(?:\0|$))*",
    "mariadb": _MYSQL_QUERY,
    "mawk": _AWK,
    "mysql": _MYSQL_QUERY,
    "psql": rf"--list|-l|(?:{_PSQL}\0)*-[AqtXx]*c\0(?:{_QUERY}|\\d\w*\+?(?:\s[\w.]+)?)"
    rf"(?:\0{_PSQL})*",
    "sed": rf"(?:-[nErsuz]+\0)*(?:-[nErsuz]*e\0)?{_SED}(?:\0-e\0{_SED})*{_OPERANDS}",
    "sqlite3": r"(?:-(?:batch|box|column|csv|header|json|line|list|readonly|table|separator)\0)*"
    rf"[^-\0][^\0]*\0(?:{_QUERY}|\.(?:tables|schema|indexes)(?:\s\w+)?)",
    "sysctl": r"(?:(?:-[aAbeNnx]+|\w[\w./-]*)(?:\0|$))*",
    "tar": rf"(?:-?(?:[vzjJaf]*t[vzjJaf]*|(?=\w*O)(?=\w*x)[vzjJafxO]+)|--list){_OPERANDS}",
    "wget": rf"(?:-q\0)?(?:--spider|-q?O-|-q?O\0-){_OPERANDS}",
    **dict.fromkeys((".", "source"), r"[^\0]*bin/activate"),
    **dict.fromkeys(
        SUBSCRIPTED.split(),
        r"(?:(?:\x01[^\0]*|(?!\x01|[^\0\[]*\[[^\0]*(?:\$\(|`))[^\0]*)(?:\0|$))*",
    ),
}
"""Patterns of the arguments with which a command only reads.

Arguments are joined by `\\0`; `\\x01` stands before a word that the shell expands.
"""
