"""Which programs only read, by subcommand.

A string holds several names. A key is a program with its subcommands, such as `git stash`.
"""

from __future__ import annotations

READERS = (
    # files and text
    "ls ll dir tree exa eza stat file du df pwd realpath readlink basename dirname find fd fdfind"
    " locate which whereis cat bat batcat head tail less more nl tac rev wc cut paste join comm cmp"
    " diff colordiff delta sort uniq tr fold fmt column expand strings size od hexdump xxd iconv"
    " base64 base32 md5 md5sum sha1sum sha256sum sha512sum shasum cksum sum b2sum grep egrep fgrep"
    " zgrep rg ag ack sed perl awk gawk mawk jq yq zcat bzcat xzcat zipinfo tar unzip gzip gunzip"
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
"""Programs that read, unless a table below says otherwise."""

TARGETS = {
    "gradle": "check dependencies help projects properties tasks test",
    "just": "test tests",
    "make": "check test tests",
    "mvn": "dependency:analyze dependency:list dependency:tree help:describe help:effective-pom"
    " test validate",
    "ninja": "test",
    "rake": "spec test",
    "task": "test",
}
"""Programs that build what they are told to, and the targets that only test or tell."""

TELLING = {
    "gradle": "--dry-run --version -m -v",
    "just": "--dry-run --dump --list --show --summary -l -n",
    "make": "--dry-run --just-print --question --recon --version -n -q -qp -v",
    "mvn": "--version -v",
    "ninja": "--version -n",
    "rake": "--dry-run --prereqs --tasks -D -P -T -n",
    "task": "--dry --list --list-all --summary -a -l -n",
}
"""Options with which they build nothing, whatever they are told."""

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
    "BASH_ENV BAT_PAGER DYLD_INSERT_LIBRARIES EDITOR GH_PAGER GIT_ASKPASS GIT_EDITOR"
    " GIT_EXTERNAL_DIFF GIT_PAGER GIT_SEQUENCE_EDITOR GIT_SSH_COMMAND LD_PRELOAD LESSOPEN MANPAGER"
    " PAGER PROMPT_COMMAND SSH_ASKPASS VISUAL"
)
"""Variables whose value is a command that programs run, or a library that they load."""

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
        *(".", "awk", "curl", "date", "gawk", "gh api", "git config", "mariadb", "less"),
        *("mawk", "mysql", "perl", "psql", "sed", "source", "sqlite3", "sysctl", "tar", "wget"),
        *SUBSCRIPTED.split(),
    )
)
"""Commands whose arguments decide; `arguments.CHECKS` says how, and is loaded for them alone."""
