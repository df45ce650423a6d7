"""Programs, subcommands, options, arguments and MCP tools that only read; others change something.

A string holds several names. A key is a program with its subcommands, such as `git stash`.
"""

from __future__ import annotations

from itertools import pairwise

from ademem.core import regex
from ademem.core.text import word_set
from ademem.guard import database_clients

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ademem.core.settings import GuardSettings

READERS = (
    # files and text
    "ls ll dir tree exa eza stat file du df pwd realpath readlink basename dirname find fd fdfind"
    " locate which whereis cat batcat head tail more nl tac rev wc cut paste join comm cmp"
    " diff colordiff delta sort uniq tr fold fmt column expand strings size od hexdump"
    " base64 less md5 md5sum sha1sum sha256sum sha512sum shasum cksum grep egrep fgrep zgrep rg sed"
    " awk jq yq zcat tar bzip2 gunzip gzip unzip xz zipinfo xxd nm objdump readelf ldd otool cloc"
    " tokei tee bat ag ack"
    # the shell itself
    " cd pushd popd dirs echo printf test [ [[ true false : exit return break continue shift set"
    " unset export declare local readonly typeset let read wait jobs type"
    " ulimit umask times getopts shopt trap history command exec xargs env printenv sleep yes seq"
    " . source help info man tldr apropos tput clear tty expr bc factor numfmt"
    # the machine
    " date cal id who whoami w groups last uname uptime arch nproc getconf locale free hostname"
    " vmstat iostat lscpu lsblk lsof ps pgrep pidof pstree top htop ping dig nslookup"
    " host whois getent netstat ss journalctl crontab curl java mysql psql redis-cli rsync sqlite3"
    " dpkg ip nvidia-smi openssl rpm sysctl"
    # tests and linters: what they write are caches
    " pytest py.test tox nox unittest jest vitest mocha rspec phpunit bats ctest mypy pyright"
    " flake8 pylint bandit black isort shellcheck yamllint markdownlint actionlint hadolint"
    " rubocop tflint eslint"
    " prettier tsc gofmt staticcheck json.tool"
    # build programs that only test, and programs that only check code or a process
    " gradle just make mvn ninja rake task bash sh zsh"
    # alone they tell what they can do
    " ademem alembic apt-cache aws bd brew buf cargo composer deno docker dotnet gcloud gh git go"
    " golangci-lint helm"
    " kubectl npm pip pnpm podman poetry ruff swiftlint systemctl terraform uv"
)
"""Programs that only read, unless a table below restricts them."""

SYNONYMS = {
    "./gradlew": "gradle",
    "./mvnw": "mvn",
    "docker-compose": "docker compose",
    "mariadb": "mysql",
    "nerdctl": "docker",
    "podman": "docker",
    "tofu": "terraform",
}

ALWAYS_ALLOWED = {
    "ademem": ("add learn", "writes to memory, which is never blocked"),
    "bd": (
        "assign close comment comments create defer dep label note q reopen tag undefer update",
        "writes to the issue tracker, not to files",
    ),
}
"""Subcommands that may always write, and why."""

COMMAND_VARIABLES = (
    r"BASH_ENV|(?:LD|DYLD)_\w+|\w*(?:ASKPASS|EDITOR|EXTERNAL_DIFF|PAGER|WRAPPER)|VISUAL"
    r"|GIT_(?:EXEC_PATH|SSH)|(?:GIT\w*|PROMPT)_COMMAND|GOCACHEPROG|LESS(?:CLOSE|OPEN)"
    r"|PERL5OPT|RSYNC_(?:CONNECT_PROG|RSH|SHELL)|RUBYOPT"
    r"|PYTHON(?:HOME|STARTUP)|(?:BAT|RIPGREP)_CONFIG_PATH|(?i:npm_config_\w*shell)"
)
"""Variables whose value is a command that programs run, or a file that they load or obey."""

SETTING_VARIABLES = (
    r"PATH|(?:C|CPP|CXX|GO|GNUMAKE|LD|MAKE|RUST|RUSTDOC)FLAGS|\w+_OPT(?:ION)?S|\w+ADDOPTS"
    r"|ACKRC|GIT_(?:ALLOW_PROTOCOL|CONFIG|TRACE)\w*|LESS(?:KEY\w*)?|MAKEFILES"
    r"|OPENSSL_(?:CONF|ENGINES|MODULES)|PSQLRC|TF_CLI_ARGS\w*"
)
"""Variables that set which programs are found, or their options; some values change nothing."""

HARMLESS_SETTING = (
    r"(?:(?:[^\s:]*/\.?s?bin|\$PATH|\$\{PATH\})(?::|$))+|\d+|true|false|/dev/null|(?:[a-z_]+=\d+:?)+"
    r"|--?(?:experimental|max|no)-[\w-]+(?:=\d+)?|--trace-(?:deprecation|uncaught|warnings)"
    r"|--enable-source-maps|--openssl-legacy-provider|-X(?:m[sx]|ss)\w+|-D|-?[DW]?warnings"
    r"|-[gOW]\w*|-[qsvwx]+|-?[FRSX]+|-j\d*"
)
"""A word of such a value with which programs write no more than without it: a folder of programs
by its name, a number, and options that load and name no file."""

OPTION_VARIABLES = {"GOFLAGS": "go test", "PYTEST_ADDOPTS": "pytest"}
"""Variables that hold options of a command in the tables."""

UNSET = ("", "0", "false", "no", "off")
"""Values with which a variable such as UPDATE_SNAPSHOTS switches nothing on."""

RENEWING_WORDS = frozenset({"fix", "update", "write"})
"""Words behind the colon of a script, such as `test:update`, that show that it changes files."""

DECLARING = ("declare", "export", "local", "readonly", "typeset")

GIT_SETTINGS = (
    *("advice.", "color.", "column.", "core.abbrev", "core.quotepath", "core.quotePath"),
    *("diff.renam", "i18n.", "log.", "safe.directory", "status.", "user."),
)
"""Prefixes of the settings with which `git -c` runs no other program."""

SUBSCRIPTED = (
    "[ [[ declare export let local mapfile printf read readarray readonly test typeset unset"
)
"""Shell builtins whose arguments may be elements of arrays.

A subscript must hold no command: the shell runs it even where it was quoted.
"""

SUBCOMMANDS = {
    "ademem": "cost doctor export get guard help list log recall search status timeline",
    "ademem config": "list",
    "ademem core": "show",
    "ademem files": "check",
    "ademem guard": "explain",
    "ademem mission": "list",
    "ademem model": "status",
    "ademem procedures": "list",
    "ademem skills": "list",
    "alembic": "branches check current heads history show",
    "apt": "list policy search show",
    "apt-cache": "depends dump madison pkgnames policy rdepends search show showpkg showsrc stats",
    "aws": "help",
    "aws *": "describe-* get-* head-* help list list-* ls",
    "bd": "blocked count doctor graph help info list lint prime ready search show stale"
    " stats status version where",
    "brew": "cat config deps desc doctor info leaves list ls outdated search uses",
    "brew services": "info list",
    "buf": "breaking lint",
    "bun": "test",
    "cargo": "audit c check clippy deny fmt help locate-project metadata outdated pkgid search t"
    " test tree version",
    "cargo nextest": "list run",
    "composer": "audit licenses outdated show why",
    "deno": "check doc fmt info lint test",
    "docker": "diff events history images info inspect logs port ps search stats top version",
    "docker compose": "config events images logs ls port ps top version",
    "docker container": "inspect list logs ls port top",
    "docker image": "history inspect list ls",
    **dict.fromkeys(("docker network", "docker volume"), "inspect list ls"),
    "dotnet": "test",
    "flutter": "devices doctor",
    "gcloud": "info version",
    **dict.fromkeys(("gcloud auth", "gcloud config"), "list"),
    "gcloud compute": "",
    "gcloud container": "",
    "gcloud logging": "read",
    "gcloud projects": "describe list",
    "gcloud run": "",
    **dict.fromkeys(
        ("gcloud compute disks", "gcloud compute instances", "gcloud container clusters"),
        "describe list",
    ),
    "gcloud run services": "describe list",
    "gem": "environment info list outdated search specification which",
    "gh": "api search status version",
    "gh auth": "status",
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
    "git remote": "get-url show",
    "git stash": "list show",
    "git submodule": "status summary",
    "git worktree": "list",
    "go": "doc env fmt list test version vet",
    "go mod": "graph verify why",
    "golangci-lint": "linters run version",
    "helm": "env get history lint list ls search show status template version",
    **dict.fromkeys(("helm dependency", "helm plugin", "helm repo"), "list"),
    "kubectl": "api-resources api-versions apply cluster-info create delete describe diff events"
    " explain get kustomize logs top version",
    "kubectl auth": "can-i whoami",
    "kubectl config": "current-context get-contexts view",
    "kubectl rollout": "history status",
    "minikube": "status",
    "npm": "audit bin diff doctor explain fund help info la list ll ls outdated ping prefix query"
    " root run run-script search show t test tst v view whoami why",
    "npm config": "get list ls",
    **dict.fromkeys(("bun run", "npm run", "npm run-script"), "test test:*"),
    **dict.fromkeys(("pnpm run", "yarn run"), "test test:*"),
    "ollama": "list ps show",
    "pip": "check debug freeze help index inspect list show",
    "pnpm": "audit licenses list ls outdated run t test why",
    "poetry": "check show",
    "poetry env": "info list",
    **dict.fromkeys(("pyenv", "rbenv"), "version versions which"),
    "ruff": "check config format linter rule version",
    "rustup": "show which",
    "snap": "find info list",
    "swiftlint": "lint",
    "systemctl": "cat is-active is-enabled is-failed list-dependencies list-sockets list-timers"
    " list-unit-files list-units show status",
    "terraform": "fmt graph output plan providers show validate version",
    "terraform providers": "schema",
    "terraform state": "list show",
    "uv": "help tree version",
    "uv pip": "check freeze list show tree",
    "vagrant": "global-status status",
    "yarn": "audit info jest list outdated run test test:* versions vitest why",
}
"""Subcommands that only read; `list-*` is a prefix, `aws *` holds behind any other of `aws`."""

VALUE_OPTIONS = {
    "ademem": "--project",
    "alembic": "--config --name -c -n -x",
    "apt": "--config-file --option -c -o -t",
    "apt-cache": "--config-file --option -c -o",
    "aws": "--endpoint-url --output --profile --query --region",
    "bd": "--actor --db",
    "bun": "--cwd",
    "cargo": "--color --config --manifest-path -C -Z",
    "composer": "--working-dir -d",
    "date": "--date --reference -d -f -r -v",
    "docker": "--config --context --host --log-level -H -c -l",
    "docker compose": "--env-file --file --profile --project-directory --project-name -f -p",
    "gh": "--hostname --repo -R",
    "git": "--attr-source --config-env --git-dir --namespace --work-tree -C -c",
    "git branch": "--format --sort",
    "git config": "--blob --default --file --type -f",
    "gcloud": "--account --configuration --format --impersonate-service-account --project"
    " --verbosity",
    **dict.fromkeys(("gh issue", "gh pr", "gh release", "gh run", "gh workflow"), "--repo -R"),
    "go": "-C",
    "gradle": "--tests",
    "helm": "--kube-context --kubeconfig --namespace --registry-config --repository-config -n",
    "kubectl": "--as --cluster --context --kubeconfig --namespace --request-timeout --server"
    " --token --user -n -s -v",
    "minikube": "--profile -p",
    "npm": "--loglevel --prefix --registry --tag --userconfig --workspace -C -w",
    "pip": "--cert --log --proxy --timeout",
    "pnpm": "--dir --filter --reporter -C -F",
    "poetry": "--directory --project -C -P",
    "systemctl": "--host --job-mode --lines --machine --property --root --signal --type --what -H"
    " -M -n -p -s -t",
    "uniq": "-f -s -w",
    "uv": "--cache-dir --color --config-file --directory --project --python -p",
    "yarn": "--cache-folder --cwd --registry",
}

_RENEWING = (
    "--fix --outputFile --script-shell --update --update-snapshot --update-snapshots"
    " --updateSnapshot -u"
)
"""Options of test programs, also behind the script that runs them, that write what they expect or
found, or name the shell of the script."""

_SHOWING = """
    annotate blame diff diff-files diff-index diff-tree format-patch log range-diff rev-list
    shortlog show whatchanged
"""
"""Commands of git that write what they show to the file of an option."""

WRITING_OPTIONS = {
    **dict.fromkeys(("bun run test", "bun test", "jest", "npm run test", "npm t"), _RENEWING),
    **dict.fromkeys(("npm test", "npm tst", "pnpm run test", "pnpm t", "pnpm test"), _RENEWING),
    **dict.fromkeys(("vitest", "yarn jest", "yarn run test", "yarn test"), _RENEWING),
    "yarn vitest": _RENEWING,
    **dict.fromkeys(("ademem doctor", "bd doctor", "cargo clippy", "deno lint"), "--fix"),
    **dict.fromkeys(("golangci-lint run", "pnpm audit"), "--fix"),
    "ack": "--ackrc --pager",
    "ag": "--pager",
    "base64": "--output -o",
    "bat": "--build --clear --generate-config-file --pager",
    "cargo test": "--bless",
    "date": "--set -s",
    "deno test": "--coverage --junit-path",
    "docker compose config": "--output -o",
    "dotnet test": "--collect --diag --logger --output --results-directory -d -l -o -r",
    "env": "--split-string -S",
    "eslint": "--fix --init --output-file -o",
    "file": "--compile -C",
    "find": "-delete -fls -fprint -fprint0 -fprintf",
    "flutter doctor": "--android-licenses",
    **dict.fromkeys(("git add", "git rm"), "--no-dry-run"),
    "git apply": "--apply --build-fake-ancestor",
    "git archive": "--exec --output -o",
    "git branch": "--copy --delete --edit-description --force --move --set-upstream-to --track"
    " --unset-upstream -C -D -M -c -d -f -m -t -u",
    "git clean": "--exclude --interactive --no-dry-run -e -i",
    "git commit": "--author --date --file --fixup --message --no-dry-run --squash --template"
    " --trailer -C -F -c -m -t",
    "git fetch": "--no-dry-run --server-option --upload-pack -o",
    "git fsck": "--lost-found",
    "git grep": "--open-files-in-pager -O",
    "git hash-object": "-w",
    "git ls-remote": "--exec --upload-pack",
    "git push": "--exec --no-dry-run --push-option --receive-pack --repo -o",
    "git reflog": "--output delete drop expire write",
    **{f"git {name}": "--output" for name in _SHOWING.split()},
    **dict.fromkeys(("git stash list", "git stash show"), "--output"),
    "git symbolic-ref": "--delete -d -m",
    "git tag": "--annotate --delete --edit --file --force --local-user --message --sign --trailer"
    " -F -a -d -e -f -m -s -u",
    "go env": "-u -w",
    "go list": "-toolexec",
    "go test": "-blockprofile -c -coverprofile -cpuprofile -exec -memprofile -mutexprofile -o"
    " -toolexec -trace -update",
    "go vet": "-fix -toolexec -vettool",
    "gofmt": "-w",
    "helm template": "--dependency-update --output-dir --post-renderer",
    "history": "-a -c -d -n -r -w",
    "hostname": "--file -F -b",
    "info": "--dribble --output -o",
    "journalctl": "--cursor-file --flush --relinquish-var --rotate --setup-keys"
    " --smart-relinquish-var --sync --update-catalog --vacuum-files --vacuum-size --vacuum-time",
    "kubectl cluster-info": "--output-directory",
    "kubectl kustomize": "--output -o",
    "markdownlint": "--fix -f",
    "mypy": "--any-exprs-report --cobertura-xml-report --html-report --install-types --junit-xml"
    " --linecount-report --linecoverage-report --lineprecision-report --txt-report --xml-report",
    "npm audit": "fix",
    "prettier": "--write -w",
    "pylint": "--init-hook --load-plugins --output",
    "pytest": "--accept --basetemp --debug --force-regen --html --inline-snapshot --junit-xml"
    " --junitxml --log-file --pastebin --regen-all --report-log --snapshot-update"
    " --update-snapshots",
    "rg": "--hostname-bin --pre",
    "rsync": "--config --daemon --log-file --no-dry-run --no-n --only-write-batch --remote-option"
    " --rsh --rsync-path --write-batch -M -e",
    "rubocop": "--auto-correct --auto-correct-all --auto-gen-config --autocorrect --autocorrect-all"
    " --fix-layout --init --out --require -A -a -o -r -x",
    "ruff check": "--add-noqa --fix --fix-only --output-file -o",
    "sort": "--compress-program --output -o",
    "ss": "--kill -K",
    "swiftlint lint": "--autocorrect --fix",
    "terraform plan": "-generate-config-out -out",
    "tflint": "--fix --init",
    "tree": "-o",
    "tsc": "--build --generateCpuProfile --generateTrace --init --tsBuildInfoFile -b false",
    "vagrant global-status": "--prune",
    "yq": "--in-place --inplace --split-exp --write-output -i -s -w",
}
"""Options, or words, with which a reading command does more than read."""

READING_OPTIONS = {
    "ademem export": "-",
    **dict.fromkeys(("black", "ruff format"), "--check --diff"),
    "cargo fmt": "--check",
    "deno fmt": "--check",
    "git apply": "--check --numstat --stat --summary",
    "git branch": "--contains --list --merged --no-contains --no-merged --points-at --show-current"
    " -l",
    "git clean": "--dry-run -dn -n -nd -ndX -ndx -nfd -nx",
    **dict.fromkeys(("git commit", "git fetch"), "--dry-run"),
    "git format-patch": "--stdout",
    "git rebase": "--show-current-patch",
    **dict.fromkeys(("git add", "git push", "git rm"), "--dry-run -n"),
    "git tag": "--contains --list --merged --no-contains --no-merged --points-at --verify -l -n -v",
    "go fmt": "-n",
    "isort": "--check --check-only --diff -c",
    **dict.fromkeys(
        ("kubectl apply", "kubectl create", "kubectl delete"),
        "--dry-run=client --dry-run=server",
    ),
    "terraform fmt": "-check",
    "tsc": "--listFilesOnly --noEmit --showConfig",
}
"""Commands that only read if one of these options is given, or no more than `MAX_OPERANDS`."""

MAX_OPERANDS = {
    **dict.fromkeys(("ademem export", "aws s3api get-object", "git branch", "git tag"), 0),
    **dict.fromkeys(("hostname", "tee"), 0),
    **dict.fromkeys(("git symbolic-ref", "json.tool", "uniq", "xxd"), 1),
}

VERSION_PROGRAMS = "cc clang gcc java lua node npm perl php python ruby rustc yarn"
"""Programs for which `-v` or `-V` alone prints the version."""

DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})

_OPERAND = r"[^-\0][^\0]*"
_OPERANDS = rf"(?:\0{_OPERAND})*"
_TEXT = r"(?:[^/\\\[\n\0\x01]|\\[^\0]|\[\^?\]?[^\]/\n\0\x01]*\])*"
_ADDRESS = rf"(?:\d+|\$|/{_TEXT}/)"
_SED = (
    rf"(?:\s*(?:{_ADDRESS}(?:,{_ADDRESS})?\s*)?!?(?:[=dDgGhHnNpPqx{{}}]"
    rf"|s/{_TEXT}/{_TEXT}/[gpI\d]*|s\|[^|\\\[\n\0\x01]*\|[^|\\\n\0\x01]*\|[gpI\d]*)"
    r"\s*(?:;|$|(?=[\0}])))+"
)
_AWK = r"(?:-[Fv](?:\0?[^\0]+)\0)*(?!-|[^\0]*system)(?:[^>|@\0\x01]|>=|\|\|)*" + _OPERANDS
_REQUEST = (
    r"(?:-[fgiIkLsSv]+|--(?:compressed|fail|get|head|include|location|silent|show-error)"
    r"|(?:-H|-m|-u|-A|--header|--max-time|--user)\0[^\0]+|(?:-w|--write-out)\0(?![^\0]*output)[^\0]+"
    r"|(?:-X|--request)\0(?:GET|HEAD|OPTIONS)|-[fgiIkLsSv]*o\0/dev/null|[^-\0][^\0]*)"
)


def _without(argument: str) -> str:
    """Return the pattern of arguments without this one, or a word that may become one."""
    return rf"(?!(?:.*\0)?(?:-(?:\0|$)|{argument})).*"


_RSYNC_FLAGS = "[aAcCdDgHiIlLopPrRStuvWxXzh]"
_RSYNC_BEFORE = (
    rf"(?:{_OPERAND}|-{_RSYNC_FLAGS}+|--[\w-]+=[^\0]*|--(?:exclude|filter|include)\0{_OPERAND}"
    r"|--(?:archive|checksum|compress|delete(?:-\w+)?|itemize-changes|progress|recursive|stats|verbose))"
)
"""A word before the option of a dry run, so that this is no value of another one."""
_RSYNC_DRY = rf"(?:-{_RSYNC_FLAGS}*n{_RSYNC_FLAGS}*|--dry-run|--list-only)"
_TARGET = r"\w[\w./:-]*"
_DRY_RUN = rf"(?:-n|--dry-run|--just-print)(?:\0{_TARGET})*"
_TESTS = r"(?:(?:check|spec|tests?|-q|--tests)(?:\0|$))+"

READING_ARGUMENTS = {
    "awk": _AWK,
    "crontab": r"(?:-u\0[^-\0]+\0)?-l",
    "curl": rf"{_REQUEST}(?:\0{_REQUEST})*",
    "date": r"(?:[-+][^\0]*(?:\0|$))*",
    "dpkg": rf"(?:-[lLsS]|--(?:list|listfiles|search|status)){_OPERANDS}",
    "gh api": r"(?:(?:--paginate|--slurp|-i|--jq\0[^\0]+|-q\0[^\0]+|-H\0[^\0]+"
    r"|(?:-X|--method)\0GET|(?!graphql)[^-\0][^\0]*)(?:\0|$))+",
    "git config": r"(?:--(?:global|local|system|show-origin|show-scope|null|name-only)\0)*"
    rf"(?:(?:--(?:get|list)[^\0]*|-l|get|list){_OPERANDS}|[\w-]+\.[\w.-]+)",
    "ip": r"(?:-(?:[46djprs]|br|brief|color|details|json|stats)\0)*"
    r"(?:a|addr|address|l|link|n|neigh|r|route|ru|rule)(?:\0(?:get|list|ls|s|show)(?:\0.*)?)?",
    "java": r"--?version",
    **dict.fromkeys(
        ("kubectl apply", "kubectl create", "kubectl delete"),
        r"(?:(?!--dry-run)[^\0]*(?:\0|$)|--dry-run=(?:client|server)(?:\0|$))*",
    ),
    "less": r"(?:(?:-[aBCdeEfFgGiIJmMnNqQrRsSuUVwWX]+|--(?:chop-long-lines|ignore-case"
    r"|line-numbers|LINE-NUMBERS|no-init|quit-if-one-screen|RAW-CONTROL-CHARS)"
    rf"|\+(?:[FG]|\d+g?|/[^\0-\x1f\x7f]*)|(?!\+){_OPERAND})(?:\0|$))*",
    **dict.fromkeys(("go list", "go test", "go vet"), _without(r"--?mod[=\0]mod(?:\0|$)")),
    "nvidia-smi": r"(?:-[Lq]|--query-[\w-]+=[\w.,]+|--format=[\w,]+)?(?:\0--format=[\w,]+)?",
    "openssl": rf"version|x509(?:\0(?:-in\0{_OPERAND}|-noout|-text|-enddate|-dates|-subject|-issuer"
    r"|-fingerprint|-serial|-sha256))+",
    "rpm": r"-q[ailcdf]*(?:\0[\w/][\w./+:-]*)*",
    "sysctl": r"-a|-n(?:\0[\w.]+)+|[\w.]+",
    "man": rf"[^-\0][^\0]*{_OPERANDS}",
    "pytest": _without(r"--cov-report[=\0](?!term|\0|$)"),
    "sed": rf"(?:-[nErsuz]+\0)*(?:-[nErsuz]*e\0)?{_SED}(?:\0-e\0{_SED})*{_OPERANDS}",
    "tar": rf"(?:-?(?:[vzjJaf]*t[vzjJaf]*|(?=\w*O)(?=\w*x)[vzjJafxO]+)|--list){_OPERANDS}",
    "unzip": rf"-[lptvZ]{_OPERANDS}",
    **dict.fromkeys(("bzip2", "gunzip", "gzip", "xz"), rf"-(?=\w*[clt])[cdklqtv]+{_OPERANDS}"),
    **database_clients.ARGUMENTS,
    **dict.fromkeys(("bash", "sh", "zsh"), rf"-n{_OPERANDS}"),
    **dict.fromkeys(("gradle", "mvn", "rake", "task"), _TESTS),
    "just": rf"{_TESTS}|-l|--list",
    **dict.fromkeys(("make", "ninja"), rf"{_TESTS}|{_DRY_RUN}"),
    "rsync": rf"(?:{_RSYNC_BEFORE}\0)*{_RSYNC_DRY}(?:\0.*)?",
    **dict.fromkeys((".", "source"), r"[^\0]*bin/activate"),
    **dict.fromkeys(
        SUBSCRIPTED.split(),
        r"(?:(?:\x01[^\0]*|(?!\x01|[^\0\[]*\[[^\0]*(?:\$\(|`))[^\0]*)(?:\0|$))*",
    ),
}
"""Patterns of the arguments with which a command only reads, joined by `\\0`; `\\x01` stands before
a word that the shell expands."""


READING_VERBS = word_set("""
    get list search read find fetch describe show count query view status check diff
    lookup retrieve inspect browse peek preview compare explain summarize summarise
    whoami ping info is has
""")

VERBS_AND_NOUNS = frozenset("view status check diff query count preview info".split())
"""Reading verbs that are as often the object of another verb: `status_set`, `view_create`."""

TRAILING_VERBS = READING_VERBS - VERBS_AND_NOUNS - {"is", "has"}
"""Verbs that may stand behind a noun or the name of a service: `issues_list`, `x_get_users`."""

CHANGING_VERBS = word_set("""
    add allow append apply archive clean clear close commit configure convert create delete deploy
    disable drop edit enable execute extend fix generate insert install make mark merge migrate move
    open patch pin post publish push put remove rename reopen replace reset restart restore revert
    run save send set stop store submit toggle turn undo update upload write
""")

IRREVERSIBLE_VERBS = word_set("""
    push publish deploy release upload migrate migrations migration delete destroy drop purge wipe
""")


def mcp_tool_changes(tool: str, settings: GuardSettings) -> bool:
    if _is_listed(tool, settings.changes):
        return True
    if _is_listed(tool, settings.reads):
        return False
    _, server, name = (*tool.split("__", 2), "", "")[:3]
    words = split_words(name)
    if not frozenset(settings.mutating_mcp).isdisjoint(words):
        return True
    service = frozenset(split_words(server))
    while len(words) > 1 and words[0] in service:
        words = words[1:]
    return not _reads(words)


def _is_listed(tool: str, entries: tuple[str, ...]) -> bool:
    return any(entry.startswith("mcp__") and matches(tool, entry) for entry in entries)


def matches(text: str, name: str) -> bool:
    return text.startswith(name[:-1]) if name.endswith("*") else text == name


def split_words(name: str) -> list[str]:
    """Split snake_case, kebab-case and camelCase in lower case: `getURLs2` is get, urls."""
    name = regex.sub(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name)
    return regex.findall(r"[^\W\d_]+", name.lower())


def _reads(words: list[str]) -> bool:
    """True if the verb reads: the first word, the one behind a service's name, or the last."""
    if not words or _joins_change(words):
        return False
    first, *rest = words
    verb = first if first in READING_VERBS else first.removesuffix("s")
    if verb in VERBS_AND_NOUNS:
        return CHANGING_VERBS.isdisjoint(rest)
    if verb in READING_VERBS:
        return verb not in ("list", "read") or CHANGING_VERBS.isdisjoint(rest[-1:])
    return first not in CHANGING_VERBS and _reads_behind_noun(rest)


def _reads_behind_noun(words: list[str]) -> bool:
    if not words:
        return False
    if words[0] in TRAILING_VERBS:
        return CHANGING_VERBS.isdisjoint(words[-1:])
    return words[-1] in TRAILING_VERBS and CHANGING_VERBS.isdisjoint(words[:-1])


def _joins_change(words: list[str]) -> bool:
    return any(
        word in ("and", "or", "then") and following in CHANGING_VERBS
        for word, following in pairwise(words)
    )
