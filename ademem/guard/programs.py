"""Which programs only read, by subcommand.

A string holds several names. A key is a program with its subcommands, such as `git stash`.
"""

from __future__ import annotations

READERS = (
    # files and text
    "ls ll dir tree exa eza stat file du df pwd realpath readlink basename dirname find fd fdfind"
    " locate which whereis cat bat batcat head tail less more nl tac rev wc cut paste join comm cmp"
    " diff colordiff delta sort uniq tr fold fmt column expand strings od hexdump xxd iconv"
    " base64 base32 md5 md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum grep egrep fgrep"
    " zgrep rg ag ack sed awk gawk mawk jq yq zcat bzcat xzcat zipinfo tar unzip gzip gunzip"
    " bzip2 xz zstd nm objdump readelf ldd cloc scc tokei tee rsync"
    # the shell itself
    " cd pushd popd dirs echo printf test [ [[ true false : exit return break continue shift set"
    " unset export declare local readonly typeset let read mapfile readarray wait jobs type"
    " ulimit umask times getopts shopt trap history command exec xargs env printenv sleep yes seq"
    " . source help man info apropos tput clear tty expr bc factor numfmt"
    # the machine
    " date cal id who whoami w groups last uname hostname uptime arch nproc getconf locale free"
    " vmstat iostat lscpu lsblk lsusb lspci lsmod lsof ps pgrep pidof pstree top htop findmnt dmesg"
    " journalctl ping dig nslookup host traceroute ss netstat ifconfig crontab dpkg rpm pacman curl"
    " wget psql mysql mariadb sqlite3"
    # tests and linters: what they write are caches
    " pytest py.test tox nox unittest jest vitest mocha ava tap rspec phpunit pest bats ctest mypy"
    " pyright flake8 pylint bandit black isort shellcheck hadolint yamllint markdownlint eslint"
    " stylelint biome prettier tsc vue-tsc gofmt goimports staticcheck rubocop shfmt json.tool"
    # alone they tell what they can do
    " ademem aws bd brew bundle cargo docker gem gh git go helm kubectl npm pip pnpm podman poetry"
    " ruff rustup systemctl terraform uv"
)
"""Programs that read, unless a table below says otherwise."""

SUBCOMMANDS = {
    "ademem": "agents at candidates cost doctor export get guard help history list log recall"
    " refusals search stats status timeline",
    "ademem core": "show",
    "ademem files": "check diff",
    "ademem guard": "explain log status",
    "ademem mission": "list",
    "ademem model": "status verify",
    "ademem procedures": "list show",
    "ademem skills": "list",
    "apt": "depends list policy rdepends search show",
    "apt-cache": "depends madison policy rdepends search show",
    "aws": "help",
    "aws *": "batch-get-* describe-* get-* head-* help list list-* ls",
    "bazel": "aquery cquery info query test version",
    "bd": "blocked count doctor graph help info list lint prime ready search show stale"
    " stats status version where",
    "brew": "cat config deps desc doctor info leaves list ls outdated search uses",
    "bun": "test",
    "bun pm": "ls",
    "bun run": "test test:*",
    "bundle": "check info list outdated show",
    "cabal": "test",
    "cargo": "audit c check clippy deny fmt help locate-project metadata outdated pkgid search t"
    " test tree version",
    "cargo nextest": "list run",
    "composer": "audit licenses outdated show test validate",
    "conda": "info list search",
    "conda env": "list",
    "coverage": "report",
    "dart": "analyze info test",
    "deno": "check doc fmt info lint test",
    "docker": "diff events history images info inspect logs port ps search stats top version",
    "docker compose": "config events images logs ls port ps top version",
    "docker container": "diff inspect list logs ls port ps stats top",
    "docker context": "inspect list ls show",
    "docker image": "history inspect list ls",
    "docker network": "inspect list ls",
    "docker system": "df events info",
    "docker volume": "inspect list ls",
    "dotnet": "test",
    "flutter": "analyze devices doctor test",
    "gem": "contents environment info list outdated search which",
    "gh": "api search status version",
    "gh auth": "status",
    "gh cache": "list",
    "gh config": "get list",
    "gh gist": "list view",
    "gh issue": "list status view",
    "gh label": "list",
    "gh pr": "checks diff list status view",
    "gh project": "field-list item-list list view",
    "gh release": "list view",
    "gh repo": "list view",
    "gh run": "list view watch",
    "gh secret": "list",
    "gh variable": "get list",
    "gh workflow": "list view",
    "git": "add annotate apply archive blame branch cat-file check-attr check-ignore"
    " check-mailmap check-ref-format cherry clean commit config count-objects describe diff"
    " diff-files diff-index diff-tree fetch for-each-ref fsck grep hash-object help log ls-files"
    " ls-remote ls-tree merge-base name-rev push range-diff reflog remote rev-list rev-parse rm"
    " shortlog show show-branch show-ref status submodule symbolic-ref tag var verify-commit"
    " verify-pack verify-tag version whatchanged",
    "git bisect": "log",
    "git bundle": "list-heads verify",
    "git lfs": "env ls-files locks status",
    "git notes": "list show",
    "git remote": "get-url show",
    "git stash": "list show",
    "git submodule": "status summary",
    "git worktree": "list",
    "go": "doc env fmt list test version vet",
    "go mod": "graph verify why",
    "golangci-lint": "linters run version",
    "helm": "env get history lint list ls search show status template version",
    "helm dependency": "list",
    "helm repo": "list",
    "ip": "a addr address l link n neigh r route rule",
    "ip *": "get l list ls s show",
    "kubectl": "api-resources api-versions apply cluster-info create delete describe diff events"
    " explain get logs top version",
    "kubectl auth": "can-i whoami",
    "kubectl config": "current-context get-clusters get-contexts get-users view",
    "kubectl rollout": "history status",
    "lein": "test",
    "meson": "introspect test",
    "mix": "help test",
    "npm": "audit diff doctor explain fund help info la list ll ls outdated ping prefix query root"
    " run run-script search show t test tst v view whoami why",
    "npm config": "get list ls",
    "npm pkg": "get",
    "npm run": "test test:*",
    "npm run-script": "test test:*",
    "openssl": "ciphers dgst s_client verify version x509",
    "pip": "check debug freeze help index inspect list show",
    "pip config": "debug get list",
    "pipenv": "check graph verify",
    "playwright": "test",
    "pnpm": "audit licenses list ls outdated run t test why",
    "pnpm run": "test test:*",
    "poetry": "about check show version",
    "poetry env": "info list",
    "rails": "about notes routes stats test",
    "redis-cli": "dbsize exists get hget hgetall hlen info keys llen lrange mget ping scan scard"
    " smembers strlen ttl type zcard zrange",
    "ruff": "check config format linter rule version",
    "rustup": "check show which",
    "rustup target": "list",
    "rustup toolchain": "list",
    "sbt": "test",
    "stack": "test",
    "swift": "test",
    "systemctl": "cat is-active is-enabled is-failed list-dependencies list-sockets list-timers"
    " list-unit-files list-units show status",
    "terraform": "fmt graph output plan providers show validate version",
    "terraform state": "list show",
    "terraform workspace": "list show",
    "uv": "help tree version",
    "uv pip": "check freeze list show tree",
    "uv python": "dir find list",
    "uv tool": "dir list",
    "yarn": "audit info jest list outdated run test test:* versions vitest why",
    "yarn run": "test test:*",
    "zig": "env version",
}
"""What reads of programs with subcommands; whatever is missing changes something.

`list-*` is all that begins so; `ip *` is what may follow any subcommand of `ip`.
"""

TARGETS = {
    "gradle": "check dependencies help projects properties tasks test",
    "just": "test tests",
    "make": "check test tests",
    "mvn": "dependency:tree test validate",
    "ninja": "test",
    "rake": "spec test",
    "task": "test",
}
"""Programs that build what they are told to, and the targets that only test or tell."""

VALUED = {
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
    "gradle": "--project-dir --tests -b -p",
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

SAME = {
    "./gradlew": "gradle",
    "./mvnw": "mvn",
    "docker-compose": "docker compose",
    "nerdctl": "docker",
    "podman": "docker",
    "tofu": "terraform",
}
"""Programs that are used as another one is."""

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
"""What the best known programs do when they do not only read."""

NOTES = {
    "ademem": ("add learn", "writes to memory, which is never blocked"),
    "bd": (
        "assign close comment comments create defer dep label note q reopen tag undefer update",
        "writes to the issue tracker, not to files",
    ),
}
"""What may always be written, and why."""

COMMAND_VARIABLES = (
    "BASH_ENV BAT_PAGER EDITOR GH_PAGER GIT_ASKPASS GIT_EDITOR GIT_EXTERNAL_DIFF GIT_PAGER"
    " GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND LESSOPEN MANPAGER PAGER PROMPT_COMMAND SSH_ASKPASS VISUAL"
)
"""Variables whose value is a command that programs run."""

DECLARING = ("declare", "export", "local", "readonly", "typeset")
"""Words of the shell whose arguments are assignments."""

GIT_SETTINGS = (
    *("advice.", "color.", "column.", "core.abbrev", "core.pager=cat", "core.quotepath"),
    *("core.quotePath", "diff.renam", "i18n.", "log.", "safe.directory", "status.", "user."),
)
"""Beginnings of the settings with which `git -c` runs nothing else."""

CMDLETS = (
    "compare convertfrom convertto format get group join measure resolve select sort split test"
    " where foreach-object out-default out-host out-null out-string pop-location push-location"
    " set-location start-sleep write-host write-output write-verbose"
)
"""PowerShell's verbs, and cmdlets of other verbs, that only read."""

SUBSCRIPTED = (
    "[ [[ declare export let local mapfile printf read readarray readonly test typeset unset"
)
"""Words of the shell whose arguments may be elements of arrays."""

CHECKED = frozenset(
    (
        *(".", "awk", "curl", "date", "gawk", "gh api", "git config", "mariadb", "mawk", "mysql"),
        *("psql", "sed", "source", "sqlite3", "tar", "wget"),
        *SUBSCRIPTED.split(),
    )
)
"""Commands whose arguments decide; `arguments.CHECKS` says how, and is loaded for them alone."""
