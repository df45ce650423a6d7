"""Judge what a command does that a memory may order."""

from __future__ import annotations

from itertools import pairwise

from ademem.core import regex
from ademem.core.caching import lru_cache
from ademem.core.value import replace
from ademem.guard import acts, shell
from ademem.guard.touched_by_commands import INTERPRETERS, MOST_COMMANDS, commands_in
from ademem.guard.writers import paths_of, written_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ademem.guard.shell import Command, Word

    Commands = tuple[Command, ...]

_DOWNLOADERS = frozenset(
    f"{acts.FAMILIES['downloads'].replace(',', '')} fetch httpie iwr irm invoke-webrequest"
    " invoke-restmethod lwp-request lynx w3m axel".split()
)
_DECODERS = frozenset("base64 base32 basenc xxd openssl uudecode rev tr certutil gpg".split())
_INTERPRETERS = frozenset(INTERPRETERS).union(
    acts.SQL_CLIENTS,
    "fish nodejs tclsh cmd iex invoke-expression eval xargs parallel at batch".split(),
)
_SENDERS = frozenset("nc ncat netcat socat telnet curl wget ssh mail mailx sendmail mutt".split())
_LOOKUPS = frozenset("nslookup dig host ping drill resolvectl getent".split())
_COPIERS = frozenset("scp rsync sftp rclone".split())

_HOST = r"//(?:[^/\s@\"']*@)?([^/\s\"'?#]+)"
_LOCAL = (
    r"localhost|127(?:\.\d+){1,3}|0\.0\.0\.0|\[?::1\]?|host\.docker\.internal|[\w-]+\.localhost"
    r"|\W+"  # a placeholder: https://…/
)
_TOKEN = r"\$\{?\w*(?:token|secret|passw|passphrase|_key|apikey|credential|_pat)\w*"
_OUTPUT = r"\$\(|`|<\("

_KEYS = (
    r"\.ssh/(?:id_\w+(?!\S*\.pub)|\*)|id_(?:rsa|dsa|ecdsa|ed25519)$|\.aws/credentials|\.netrc$"
    r"|\.git-credentials|/etc/shadow|\.config/gh/hosts|\.npmrc$|cookies\.sqlite|\.pgpass"
    r"|\.docker/config\.json|login\.keychain|\.kube/config"
)
"""Files that no work reads."""
_SECRET_FILES = (
    rf"(?:^|[/=@\"'])(?:{_KEYS}|\.env(?:\.(?!example|sample|template|dist|test)[\w.-]+)?$"
    r"|credentials(?:\.json)?$|\.(?:ssh|aws|gnupg|kube|config/gh|password-store|claude)(?:/.*)?$"
    r"|\.\w+_history$|secrets?\.(?:ya?ml|json|toml|env)$)"
)
"""These and others that no work sends."""
_WHOLE_TREES = (".", "./", "..", "../", "~", "~/", "/", "$HOME", "$HOME/", "${HOME}", "*", "./*")

_START_UP = (
    r"(?:^|/)(?:\.(?:bashrc|bash_profile|bash_aliases|bash_login|bash_logout|profile|zshrc|zshenv"
    r"|zprofile|zlogin|cshrc|tcshrc|kshrc|xprofile|xinitrc|xsessionrc|gitconfig|vimrc|pythonrc)"
    r"|config\.fish|authorized_keys\d?|known_hosts|sudoers(?:\.d/.*)?|crontab|rc\.local"
    r"|ld\.so\.preload|profile\.d/.*|cron(?:tabs|\.\w+)?/.*|launch(?:agents|daemons)(?:/.*)?"
    r"|autostart/.*|systemd/(?:user|system)(?:/.*)?|\.ssh/(?:config|rc)|\.git/(?:hooks(?:/.*)?|config"
    r"(?:\.worktree)?|info/.*)|\.husky/.*|\.githooks/.*|\.claude/(?:settings[\w.]*|hooks/.*"
    r"|commands/.*|agents/.*|claude\.md)|\.claude\.json|\.mcp\.json|\.codex/.*|\.cursor/.*"
    r"|\.config/(?:git/config|fish/.*|ademem/.*)|\.github/workflows/.*|\.gitlab-ci\.ya?ml|jenkinsfile"
    r"|(?:claude|agents|gemini)(?:\.local)?\.md|sitecustomize\.py)$"
)


def _name(command: Command) -> str:
    return acts.program_name(command.name).lower()


def _texts(command: Command) -> list[str]:
    return [word.text for word in command.words[1:]]


def _has_foreign_host(text: str) -> bool:
    hosts = regex.findall(_HOST, text, regex.IGNORECASE)
    return any(
        not regex.fullmatch(rf"(?:{_LOCAL})(?::\d+)?", host, regex.IGNORECASE) for host in hosts
    )


def _goes_abroad(command: Command) -> bool:
    """True unless a program that fetches or sends names this machine only."""
    texts = [text for text in _texts(command) if not text.startswith("-")]
    if any("//" in text for text in texts):
        return any(_has_foreign_host(text) or text.startswith("$") for text in texts)
    named = [text for text in texts if regex.search(r"\w", text)]
    return bool(named) and not any(regex.match(rf"(?:{_LOCAL})(?:[:/]|$)", text) for text in named)


def _sources(command: Command) -> Iterator[Command]:
    source = command.source
    while source is not None:
        yield from shell.unwrap(source)
        source = source.source


def _list_written(command: Command) -> Iterator[str]:
    """Yield the paths that a command makes or changes, those of files in a folder, too."""
    for written in written_by(command):
        if not written.is_gone:
            yield written.word.text
            yield from paths_of(written, is_folder=True)


def _list_saved(command: Command) -> Iterator[str]:
    """Yield what a download may be called: as it names it, or as the address ends."""
    bare = replace(command, redirects=())
    yield from (written.word.text for written in written_by(bare))
    for text in _texts(command):
        if _has_foreign_host(text):
            yield text.split("?")[0].rstrip("/")


def runs_a_download(commands: Commands) -> bool:
    saved: set[str] = set()
    unpacked = False
    for command in commands:
        name, texts = _name(command), _texts(command)
        if name in _INTERPRETERS:
            fetched = [s for s in _sources(command) if _name(s) in _DOWNLOADERS and _goes_abroad(s)]
            if fetched or any(_has_download(word) for word in command.words):
                return True
        if name in ("deno", "bun", "mshta") and any(map(_has_foreign_host, texts)):
            return True
        if unpacked and command.words[:1] and command.words[0].text.startswith("./"):
            return True
        unpacked = unpacked or (bool(saved) and name in ("tar", "unzip", "7z"))
        if name in _DOWNLOADERS and _goes_abroad(command):
            saved.update(path.rpartition("/")[2] for path in _list_saved(command))
        elif saved and (
            (command.words[:1] and command.words[0].text.rpartition("/")[2] in saved)
            or (
                (name in _INTERPRETERS or name in ("chmod", "install", "open", "start"))
                and not saved.isdisjoint(text.rpartition("/")[2] for text in texts)
            )
        ):
            return True
    return False


def _has_download(word: Word) -> bool:
    if not word.expands and "(" not in word.text:
        return False
    starts = rf"(?:{_OUTPUT})\s*(?:sudo\s+)?(?:{'|'.join(_DOWNLOADERS)})\b(.*)"
    found = regex.search(starts, word.text, regex.IGNORECASE | regex.DOTALL)
    return bool(found and (_has_foreign_host(found[1]) or regex.search(r"\w\.\w", found[1])))


def _runs_what_it_decodes(command: Command) -> bool:
    name = _name(command)
    return name in _INTERPRETERS and bool(
        any(_name(source) in _DECODERS for source in _sources(command))
        or any(regex.search(rf"(?s)(?:{_OUTPUT}).*\bbase64\b", word.text) for word in command.words)
        or (
            name in ("powershell", "pwsh")
            and regex.search(r"(?i)\s-e(?:nc|ncodedcommand)?\s+[\w+/=]{24,}", command.line)
        )
    )


_FETCHES = (
    r"urlopen|urlretrieve|requests\.|httpx\.|fetch\(|https?\.get|net::http|open-uri|lwp::|\bget\b"
    r"|file_get_contents|socket|\bcurl\b|\bwget\b|downloadstring|\biwr\b|\birm\b|invoke-webrequest|xmlhttp"
)
_EXECUTES = (
    r"\bexec\b|\beval\b|\bsystem\b|subprocess|popen|spawn|child_process|os\.dup2|compile\(|\biex\b"
    r"|invoke-expression|new function|import\("
)
_OPENINGS = (
    ("nc ncat netcat socat", r"\s-\w*[ec]\b|\bexec:|\bsystem:|--(?:sh-)?exec"),
    ("ssh", r"\s-\w*r\s+\S*:\S*:|\sremoteforward"),
    (
        "docker podman nerdctl",
        r"--privileged|\s(?:-v|--volume)[ =]?(?:/|~|\$home):|--pid[= ]host|docker\.sock",
    ),
)
"""Programs, and options with which they give another machine or a container a shell or this one."""


def _fetches_and_executes(code: str) -> bool:
    return regex.search(_FETCHES, code) is not None and regex.search(_EXECUTES, code) is not None


def _runs_code_from_the_network(command: Command) -> bool:
    name, line = _name(command), command.line.lower()
    return bool(
        (name in _INTERPRETERS and _fetches_and_executes(line))
        or any("/dev/tcp/" in text for text in (line, *(r.target.text for r in command.redirects)))
        or any(name in names.split() and regex.search(option, line) for names, option in _OPENINGS)
    )


_FETCHES_PACKAGES = acts.read_table(
    {
        "": "npx, bunx, pnpx, uvx, uv run, uv tool run, pipx, npm exec, npm x, npm init,"
        " npm create, npm publish, npm config set, pnpm dlx, pnpm exec, pnpm config set, bun x,"
        " bun create, yarn dlx, yarn create, yarn config set, go run, pip download, pip wheel,"
        " pip config set, pdm config, poetry source add, conda config --add channels,"
        " mamba config --add channels, nix run, nix shell, dpkg -i, rpm -i, rpm -U, pacman -U,"
        " apk add, flatpak install, flatpak remote-add, add-apt-repository, apt-key,"
        " yum-config-manager, dnf config-manager, brew tap, scoop bucket add, gem sources,"
        " bundle config, composer config, dotnet nuget add, nuget sources, mvn dependency:get,"
        " helm plugin install, docker plugin install, claude mcp, claude plugin,"
        " code --install-extension, gh extension install, vagrant box add,"
        " ansible-galaxy install, terraform init"
    }
)
"""Commands beside those with the acts `install` and `dependency` that get what they run, or that
say where it comes from."""
_INDEX_VARIABLE = r"(?i)\w*(?:index_url|registr\w*|mirror\w*|goproxy|rubygems_host)="


def _gets_packages(command: Command) -> bool:
    argv = acts.canonical([_name(command), *_texts(command)])
    installs = not acts.acts_of(argv).isdisjoint(("install", "dependency"))
    return installs or bool(acts.names_in(_FETCHES_PACKAGES, argv))


def _installs_from_an_address(command: Command) -> bool:
    name, texts = _name(command), _texts(command)
    line = " ".join([name, *texts])
    declared = texts if name in ("export", "env") or line.startswith("go env -w") else ()
    for setting in (*(word.text for word in command.assignments), *declared):
        if regex.match(_INDEX_VARIABLE, setting) and _has_foreign_host(setting):
            return True
        if regex.match(r"(?i)goflags=.*insecure|gonosum\w+=", setting):
            return True
    if regex.match(r"(?:npm|pnpm|yarn|pip) config set \S*script-shell", line):
        return True
    takes_forks = regex.match(r"(?:npm|pnpm|bun) (?:i|install|add)\b|npx\b", line)
    fork = r"[A-Za-z0-9][\w-]*/[\w.-]+(?:#\S+)?"
    return _gets_packages(command) and any(
        _is_elsewhere(text) or (takes_forks and regex.fullmatch(fork, text)) for text in texts
    )


def _is_elsewhere(text: str) -> bool:
    """True for an address, or a repository as package managers name it, but no placeholder."""
    versioned = regex.search(r"(?:git|hg|svn|bzr)\+\w+:|^git@|^git:|^github:|^gist:", text)
    return _has_foreign_host(text) or bool(versioned and not text.endswith(("...", "/")))


_REQUESTING = frozenset("curl wget http https xh".split())
_BUCKET_COPIES = ("aws s3 cp", "aws s3 sync", "aws s3 mv", "gsutil", "gcloud storage", "az storage")
_READS_IN_CODE = r"environ|process\.env|%env|\benv\b|open\(|readfile"
_SENDS_IN_CODE = r"requests\.|urlopen|fetch\(|https?\.|net::http|socket|lwp::"


def _sends(command: Command) -> bool:
    name, texts, line = _name(command), _texts(command), command.line
    operands = [text for text in texts if not text.startswith("-")]
    if name in _LOOKUPS:
        return any(map(_inserts_output_or_secret, texts))
    if name == "gh":
        return bool(regex.match(r"\S*gh gist create\b", line))
    if name == "git":
        elsewhere = (
            _has_foreign_host(text) or regex.match(r"\w+@[\w.-]+:", text) for text in texts
        )
        return "push" in texts[:3] and any(elsewhere)
    if line.startswith(_BUCKET_COPIES):
        return "public-read" in line or any(map(_is_secret_file, operands))
    if name in _COPIERS:
        is_remote = any(regex.match(r"(?:[\w.-]+@)?[\w.-]{2,}:", text) for text in operands[1:])
        copied = (_is_secret_file(text) or text in _WHOLE_TREES for text in operands[:-1])
        return is_remote and any(copied)
    if name in _INTERPRETERS:
        code = line.lower()
        return bool(regex.search(_READS_IN_CODE, code) and regex.search(_SENDS_IN_CODE, code))
    if not _goes_abroad(command):
        return False
    if name in _REQUESTING and _carries_data(name, texts):
        return True
    is_fed = command.source is not None or any(r.operator == "<" for r in command.redirects)
    if name not in _SENDERS or not is_fed:
        return False
    if name in ("curl", "wget"):
        return bool(regex.search(r"@-|-T\s*-|-T\s*\.|--upload-file|=-", line))
    sources = map(_name, _sources(command))
    return name != "ssh" or any(source in ("env", "printenv", "tar", "cat") for source in sources)


def _carries_data(name: str, texts: list[str]) -> bool:
    data = r"-d|--data(?:-ascii|-binary|-raw|-urlencode)?|-F|--form|--json|--post-data|--body-data"
    for text, following in pairwise([*texts, ""]):
        option, _, value = text.partition("=")
        if option in ("-T", "--upload-file", "--post-file", "--body-file"):
            return True
        if option == "-b" and regex.search(r"cookies", following):
            return True
        attached = text[2:] if regex.match(r"-[dF].", text) else ""
        if regex.fullmatch(data, option) or attached:
            given = attached or value or following
            if regex.search(r"^(?:[\w\[\].-]+=?)?[@<]", given) or _inserts_output_or_secret(given):
                return True
        if _has_foreign_host(text) and not text.startswith("-") and _inserts_output_or_secret(text):
            return True
    is_httpie = name not in ("curl", "wget")
    return is_httpie and any("@" in text and "/" in text for text in texts[2:])


def _inserts_output_or_secret(text: str) -> bool:
    return bool(regex.search(rf"{_OUTPUT}|{_TOKEN}", text, regex.IGNORECASE))


def _is_secret_file(text: str) -> bool:
    return bool(regex.search(_SECRET_FILES, text, regex.IGNORECASE))


def _writes_to_what_starts_by_itself(command: Command) -> bool:
    name, line = _name(command), command.line
    declared = command.words[1:] if name in ("export", "declare", "env") else ()
    return bool(
        any(regex.search(rf"(?i){_START_UP}", path) for path in _list_written(command))
        or (
            name == "crontab"
            and (
                command.source
                or regex.fullmatch(r"\S*crontab(?: -u \w+)? (?:-|-e|-r|\S*[./]\S*)", line)
            )
        )
        or regex.match(_SERVICES, line, regex.IGNORECASE)
        or (
            name == "git"
            and regex.search(r"\bconfig\b|\s-c\s", line)
            and regex.search(_SETS_PROGRAM, line, regex.IGNORECASE)
            and not regex.search(r"--(?:get|unset|list)|-l\b", line)
        )
        or any(regex.match(_RUNS, word.text) for word in (*command.assignments, *declared))
        or (
            name == "alias" and any(regex.match(_REPLACES, word.text) for word in command.words[1:])
        )
    )


_SERVICES = (
    r"launchctl (?:load|bootstrap|enable)|systemctl (?=.*--user).*\b(?:enable|link)\b"
    r"|schtasks .*/create|reg add .*\\run\b|update-rc\.d|loginctl enable-linger|at now\b"
    r"|(?:claude|codex|gemini) mcp add\b.*(?:https?:|-- )"
)

_RUNS = (
    r"(?:LD_PRELOAD|DYLD_INSERT_LIBRARIES|BASH_ENV|PROMPT_COMMAND|GIT_ASKPASS|SSH_ASKPASS|LESSOPEN"
    r"|GIT_EXTERNAL_DIFF|GIT_SSH_COMMAND(?!=ssh\s)|GIT_PROXY_COMMAND)=\S"
)
"""Variables that make other programs run a program."""
_REPLACES = (
    r"(?:sudo|su|git|ssh|scp|ls|cd|npm|npx|pip|python3?|node|curl|docker|kubectl|gh|make)="
    r"(?:.*[;|&]|(?:sh|bash)\s|/tmp/|~/\.|\$HOME/\.)"
)
"""Aliases that add a command to a popular program."""
_SETS_PROGRAM = (
    r"\b(?:core\.(?:hookspath|fsmonitor|sshcommand|askpass|editor|pager|gitproxy)"
    r"|sequence\.editor|init\.templatedir|diff\.external|gpg\.program|include\.path"
    r"|includeif\.\S+|(?:filter|diff|merge)\.\w+\.(?:clean|smudge|process|textconv|command"
    r"|driver)|url\.\S+\.(?:push)?insteadof|remote\.\S+\.(?:push)?url|http\.proxy"
    r"|alias\.\w+[ =]+[\"']?!.*|credential\.\S*helper)(?:[ =]+|$)(?!$|cat\b|less\b|vim?\b"
    r"|nano\b|code\b|true\b|osxkeychain\b|manager\b|cache\b|input\b)"
)
"""Settings of git that name a program, a folder of hooks or another address."""


_PROTECTION = (
    r"ademem_disable|node_tls_reject_unauthorized=0|pythonhttpsverify=0|git_ssl_no_verify|husky=0"
    r"|skip=[\w,-]|ademem_guard_mode=[\"']?(?:off|warn)|ademem_trust_roots|gosumdb=off|npm_config_strict"
    r"|husky_skip|pre_commit_allow_no_config|claude_code_skip\w*|gonosumcheck"
)


def _switches_protection_off(command: Command) -> bool:
    name, texts = _name(command), _texts(command)
    declared = command.words[1:] if name in ("export", "env", "set", "setx") else ()
    return bool(
        any(
            regex.match(_PROTECTION, word.text, regex.IGNORECASE)
            for word in (*command.assignments, *declared)
        )
        or (
            "force push" in acts.acts_of([name, *texts])
            and not any(text.startswith("--force-with-lease") for text in texts)
        )
        or regex.match(_LOOSENING, command.line, regex.IGNORECASE)
        or (
            name in ("curl", "wget")
            and (_goes_abroad(command) or not texts[1:])
            and any(
                regex.fullmatch(r"-[a-zA-Z]*k[a-zA-Z]*|--insecure|--no-check-certificate", text)
                for text in texts
            )
        )
    )


_LOOSENING = (
    r"git\b.*\s--no-verify\b|git commit\s(?:.*\s)?-[am]*n[am]*(?:\s|$)|\w+\b.*\s--no-verify\b"
    r"|git\b.*\bhttp\.sslverify[ =]+[\"']?(?:false|0)"
    r"|git push\b.*--delete\s+(?:main|master)\b|git update-ref -d|git branch -D (?:main|master)\b"
    r"|(?:\S*/)?ademem\s+(?:config\s+set|trust|uninstall|promote|pin|review)\b(?=\s+\S)"
    r"|(?:\S*/)?ademem\s+(?:trust|uninstall)$"
    r"|\w+\b.*--dangerously-|\w+\b.*\s--yolo\b|\w+\b.*bypasspermissions|codex\b.*--full-auto"
    r"|chmod\b.*\s(?:-\w+\s+)*(?:0?777|a\+rwx|o\+w|ugo\+rwx|u\+s|4755)\b"
    r"|(?:pip\d?|python\S* -m pip|uv)\b.*--trusted-host|uv\b.*--allow-insecure-host"
    r"|(?:npm|pnpm|yarn)\s+(?:config\s+)?set\b.*(?:strict-ssl|audit|ignore-scripts)[ =]+false"
    r"|(?:npm|pnpm|yarn) config set audit\b|ssh\b.*stricthostkeychecking[= ]+(?:no|off)"
    r"|git\b.*\s--no-gpg-sign\b|git config\b.*\bgpgsign[ =]+false|auditctl -e 0"
    r"|snap install\b.*--dangerous|deb(?:-src)? \[.*trusted=yes"
    r"|setenforce 0|ufw disable|iptables -(?:F|P)|csrutil disable|spctl --master-disable"
    r"|set-executionpolicy\b.*(?:bypass|unrestricted)|set-mppreference\b"
    r"|systemctl (?:stop|disable) (?:firewalld|ufw|auditd|apparmor)"
    r"|gh api\b.*(?:-X|--method)[ =]?DELETE\b.*protection|gh pr merge\b.*--admin"
    r"|gh repo edit\b.*visib|gh repo delete\b"
    r"|history -c\b|unset HISTFILE|rm\b.*_history\b|export HISTFILE=/dev/null|sudo -S\b|visudo\b"
    r"|rm\s+(?=.*\s?-\w*[rf])(?:-\S+\s+)*(?:.*\s)?(?:/|~|\$HOME|\.git|\.|\.\.|\*"
    r"|/(?!tmp/|var/tmp/)\S+|~/\S*|\$HOME/\S*|\.git/\S*|\./?\*)(?:\s|$)"
)
"""Commands that remove a protection, wrappers removed."""


def reads_stored_credentials(commands: Commands) -> bool:
    piped = [command.source.words for command in commands if command.source]
    for command in commands:
        name, texts = _name(command), _texts(command)
        shows = name in ("echo", "printf") and not command.redirects and command.words not in piped
        if shows and any(
            w.expands and regex.search(_TOKEN, w.text, regex.IGNORECASE) for w in command.words
        ):
            return True
        if name in _READERS and any(regex.search(_KEYS, text, regex.IGNORECASE) for text in texts):
            return True
        if regex.match(_SECRET_STORES, command.line, regex.IGNORECASE):
            return True
    return False


_READERS = frozenset("cat less head tail bat more base64 xxd strings sqlite3".split())
_SECRET_STORES = (
    r"security (?:find|dump)-\S+|secret-tool lookup|pass show|op (?:read|item get)\b.*--reveal"
    r"|kubectl get secrets?\b.*-o|gpg --export-secret"
)


def resets_and_cleans(commands: Commands) -> bool:
    lines = [command.line for command in commands if command.name == "git"]
    patterns = (r"git reset\b.*--hard", r"git clean\b.*-\w*f")
    return all(any(regex.match(pattern, line) for line in lines) for pattern in patterns)


def _of_each(rule: Callable[[Command], bool]) -> Callable[[Commands], bool]:
    return lambda commands: any(map(rule, commands))


RULES: tuple[tuple[str, Callable[[Commands], bool]], ...] = (
    ("runs what it downloads", runs_a_download),
    ("runs what it decodes", _of_each(_runs_what_it_decodes)),
    ("runs code from the network", _of_each(_runs_code_from_the_network)),
    ("installs from an address", _of_each(_installs_from_an_address)),
    ("sends files, keys or the environment", _of_each(_sends)),
    ("writes to what starts by itself", _of_each(_writes_to_what_starts_by_itself)),
    ("switches protection off", _of_each(_switches_protection_off)),
    ("reads stored credentials", reads_stored_credentials),
    ("throws uncommitted work away", resets_and_cleans),
)


_SCHEDULE = r"^\s*(?:@\w+\s+|(?:[\d*][\d*/,-]*\s+){3,5})(?=[a-z(])"
"""The beginning of an entry of a crontab."""


@lru_cache(maxsize=128)
def effect(text: str, *, marked: bool = True) -> str | None:
    """Return the effect of a command line; behind one that is not *marked* stands prose."""
    if not marked:
        text = regex.sub(r"[,;:!?.\u3002]+(?=\s|$|[^\x00-\x7f])", " ", text)
        if regex.match(r"chmod (?!-)(?!.*\s\S*[./~*$])", text):
            return None  # a mode that is spoken of
    text = regex.sub(_SCHEDULE, "", text)
    script = shell.parse(text) or shell.parse(regex.sub(r"[\"'`()]", " ", text))
    commands = tuple(commands_in(script or (), text))
    if len(commands) > MOST_COMMANDS:
        return "has more commands than can be read"
    what = next((what for what, rule in RULES if rule(commands)), None)
    is_code = marked and what is None and _has_foreign_host(text)
    return "runs code from the network" if is_code and _fetches_and_executes(text.lower()) else what
