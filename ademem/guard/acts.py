"""Acts of commands, read off their words, and programs that replace each other.

`act_names` finds them in texts.
"""

from __future__ import annotations

from ademem.core import regex
from ademem.guard.act_names import NAMED, find_acts
from ademem.guard.programs import READERS, SUBCOMMANDS
from ademem.guard.shell import is_option

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Table = dict[str, list[tuple[str, tuple[str, ...]]]]

_TESTERS = (
    "pytest py.test unittest tox nox jest vitest mocha ava tap karma phpunit pest rspec ctest bats"
    " busted ginkgo gotestsum"
)
_E2E = "playwright cypress detox maestro codeceptjs testcafe wdio nightwatch"
_FORMATTERS = (
    "black isort yapf autopep8 autoflake docformatter pyupgrade prettier dprint gofmt gofumpt"
    " goimports rustfmt clang-format shfmt stylua swiftformat ktlint csharpier taplo"
    " php-cs-fixer pint scalafmt ormolu fourmolu nixfmt alejandra google-java-format"
)
_VERSIONS = (
    "nvm fnm volta n asdf mise rtx pyenv rbenv rvm nodenv jenv sdk rustup goenv tfenv phpenv"
    " chruby proto nodebrew tfswitch"
)
SQL_CLIENTS = (
    "psql mysql mariadb mysqladmin sqlite3 duckdb mongosh mongo redis-cli dropdb createdb"
    " pg_restore pg_dump mysqldump sqlcmd clickhouse-client cqlsh pgcli mycli litecli usql"
).split()
_CONTAINERS = "docker docker-compose podman podman-compose nerdctl buildah devcontainer"

COMMANDS = {
    "commit": "git commit, git citool, jj commit, hg commit, svn commit, cz commit",
    "push": "git push, git send-pack, jj git push, hg push, gt submit",
    "pull request": "gh pr create, gh pr new, glab mr create, hub pull-request, tea pulls create,"
    " az repos pr create, gt submit, bb pr create",
    "merge": "git merge, gh pr merge, glab mr merge, hg merge",
    "rebase": "git rebase, jj rebase, hg rebase",
    "tag": "git tag, hg tag",
    "branch": "git branch, git checkout -b, git checkout -B, git checkout --orphan, git switch -c,"
    " git switch -C, git switch --create, git switch --orphan, jj branch, jj bookmark, hg branch",
    "discard": "git reset --hard, git checkout --, git checkout ., git checkout -f,"
    " git checkout --force, git restore, git clean, git stash drop, git stash clear,"
    " git switch -f, git switch --force, git switch --discard-changes, hg revert, svn revert",
    "delete": "rm, rmdir, unlink, shred, srm, trash, trash-put, rimraf, del-cli, git rm,"
    " find -delete,"
    " remove-item, ri, del, erase, rd",
    "dependency": "npm uninstall, npm remove, npm rm, npm un, npm update, npm up, npm upgrade,"
    " pnpm add, pnpm remove, pnpm rm, pnpm update, pnpm up, yarn add, yarn remove, yarn up,"
    " yarn upgrade, bun add, bun remove, bun update, deno add, deno remove, ncu -u, uv add,"
    " uv remove, poetry add, poetry remove, poetry update, pdm add, pdm remove, pdm update,"
    " pipenv uninstall, pipenv update, pip uninstall, uv pip uninstall, rye add, rye remove,"
    " pixi add, cargo add, cargo remove, cargo update, go get, bundle add, bundle remove,"
    " bundle update, composer require, composer remove, composer update, dotnet add, mix"
    " deps.update,"
    " flutter pub add, dart pub add, swift package add-dependency, conda install, mamba install",
    "install": "npm install, npm ci, npm clean-install, npm install-ci-test, npm add, pnpm install,"
    " pnpm add, yarn install, yarn add, bun install, bun add, deno install, deno add, pip install,"
    " pipx install, easy_install, uv sync, uv add, uv pip install, uv pip sync, uv tool install,"
    " poetry install, poetry add, pdm install, pdm sync, pdm add, pipenv install, pipenv sync,"
    " rye sync, rye add, conda install, mamba install, cargo install, cargo binstall, cargo add,"
    " go install, go get, gem install, bundle install, bundle add, composer install,"
    " composer require, brew install, apt install, apt-get install, dnf install, yum install,"
    " apk add, pacman -S, zypper install, snap install, choco install, scoop install,"
    " winget install, port install, nix-env -i, nix profile install, npx playwright install,"
    " playwright install, make install, mix deps.get, flutter pub get, dart pub get,"
    " dotnet restore, swift package resolve, install-module",
    "release": "npm publish, npm version, pnpm publish, yarn publish, yarn version, yarn npm"
    " publish,"
    " bun publish, jsr publish, deno publish, cargo publish, cargo release, twine upload, uv"
    " publish,"
    " poetry publish, flit publish, hatch publish, pdm publish, gem push, gh release create,"
    " glab release create, goreleaser, semantic-release, release-it, standard-version, np,"
    " changeset publish, changeset version, lerna publish, lerna version, bumpversion,"
    " bump2version, bump-my-version, cz bump, vsce publish, ovsx publish, docker push,"
    " mvn release:perform, mvn release:prepare, mvn deploy, gradle publish, mix hex.publish,"
    " dotnet nuget push, nuget push, pod trunk push, dart pub publish, flutter pub publish",
    "deploy": "kubectl apply, kubectl rollout, kubectl set, helm install, helm upgrade,"
    " helmfile apply, helmfile sync, terraform apply, terragrunt apply, tofu apply, pulumi up,"
    " cdk deploy, sam deploy, serverless deploy, sls deploy, vercel, netlify deploy,"
    " firebase deploy,"
    " fly deploy, flyctl deploy, wrangler deploy, wrangler publish, git push heroku, gcloud app,"
    " az webapp, eb deploy, ansible-playbook, cap, kamal deploy, dokku, railway up, skaffold run,"
    " argocd app sync, nomad job run, docker stack deploy, cf push, surge, s3 sync,"
    " aws lambda update-function-code, aws ecs update-service, oc apply, oc rollout",
    "migration": "alembic upgrade, alembic downgrade, alembic revision, alembic stamp,"
    " manage.py migrate, manage.py makemigrations, django-admin migrate, rails db:migrate,"
    " rails db:rollback, rake db:migrate, rake db:rollback, prisma migrate, prisma db, knex"
    " migrate,"
    " sequelize db:migrate, drizzle-kit, flyway, liquibase, dbmate, goose, sqlx migrate,"
    " diesel migration, mix ecto.migrate, mix ecto.rollback, artisan migrate, dotnet ef,"
    " supabase migration, supabase db, atlas migrate, flask db, sqitch, phinx, typeorm",
    "test": f"{', '.join(_TESTERS.split())}, {', '.join(_E2E.split())}, npm test, npm t, npm tst,"
    " npm run test, pnpm test, pnpm t, pnpm run test, yarn test, yarn run test, bun test,"
    " bun run test, deno test, go test, cargo test, cargo t, cargo nextest, dotnet test, mvn test,"
    " mvn verify, gradle test, gradle check, make test, make tests, make check, just test,"
    " task test,"
    " rake test, rake spec, rails test, manage.py test, artisan test, mix test, swift test,"
    " flutter test, dart test, zig test, stack test, cabal test, lein test, sbt test, bazel test,"
    " hatch test, node --test, xcodebuild test, nx test, turbo test",
    "e2e": ", ".join(_E2E.split()),
    "format": f"{', '.join(_FORMATTERS.split())}, ruff format, ruff check --fix, eslint --fix,"
    " biome format, biome check --write, biome lint --write, cargo fmt, go fmt, deno fmt,"
    " terraform fmt, mix format, dart format, zig fmt, stylelint --fix, rubocop -a, rubocop -A,"
    " standard --fix, xo --fix, oxlint --fix, black, buf format, just --fmt, dotnet format",
    "runtime": f"{', '.join(_VERSIONS.split())}, uv python, corepack use, corepack prepare,"
    " corepack enable",
    "database": f"{', '.join(SQL_CLIENTS)}, rails db, rails dbconsole, manage.py dbshell,"
    " manage.py flush, prisma db, supabase db, cockroach sql",
    "container": ", ".join(_CONTAINERS.split()),
}
"""Programs with words that all occur behind them in this order; an operand, or an option as it is.

The act `force push` and the act `whole suite` depend on what a push and a test name.
"""

FAMILIES = {
    "js packages": "npm, pnpm, yarn, bun install, bun add, bun remove, bun update, cnpm",
    "python packages": "pip, uv, poetry, pipenv, pdm, conda, mamba, rye, pixi, easy_install",
    "js runtimes": "node, deno, bun run, tsx, ts-node",
    "js tests": "jest, vitest, mocha, ava, karma, jasmine, bun test, node --test",
    "e2e tests": "playwright, cypress, detox, testcafe, wdio, nightwatch",
    "python tests": "pytest, unittest, nose2, nosetests",
    "python formatters": "black, ruff format, yapf, autopep8",
    "python linters": "flake8, pylint, ruff check, pyflakes, pycodestyle",
    "python types": "mypy, pyright, basedpyright, pyre, pytype, ty",
    "js formatters": "prettier, biome format, dprint",
    "js linters": "eslint, biome lint, oxlint, standard, xo, tslint",
    "js bundlers": "webpack, vite, rollup, esbuild, parcel, turbopack, rspack, rsbuild",
    "node versions": "nvm, fnm, volta, n, nodenv, nodebrew",
    "containers": "docker, podman, nerdctl",
    "compose": "docker-compose, podman-compose",
    "task runners": "make, just, task, rake, invoke, inv, mage, ninja",
    "java builds": "mvn, gradle, ant, sbt, bazel",
    "terraform": "terraform, tofu, terragrunt",
    "migrations": "alembic, flyway, liquibase, prisma migrate, drizzle-kit, knex, dbmate, goose",
    "version control": "git, jj, hg, svn",
    "downloads": "curl, wget, http, https, xh, aria2c",
    "text search": "grep, rg, ag, ack, egrep, fgrep",
    "file search": "find, fd, fdfind, locate",
    "ruby servers": "puma, unicorn, thin, passenger",
    "python servers": "gunicorn, uvicorn, hypercorn, waitress-serve, daphne",
}
"""Programs that replace each other, some only with the subcommand named here."""

SYNONYMS = {
    **dict.fromkeys(
        (
            "npm i",
            "npm in",
            "npm ins",
            "npm inst",
            "npm insta",
            "npm instal",
            "npm isnt",
            "npm add",
        ),
        "install",
    ),
    **dict.fromkeys(("pnpm i", "bun i", "cnpm i", "conda i"), "install"),
    **dict.fromkeys(("npm r", "npm rm", "npm un", "npm remove", "npm unlink"), "uninstall"),
    **dict.fromkeys(("pnpm rm", "pnpm un", "bun rm", "pnpm uninstall"), "remove"),
    **dict.fromkeys(("npm t", "npm tst", "pnpm t"), "test"),
    **dict.fromkeys(("npm run-script", "npm rum", "npm urn", "pnpm run-script"), "run"),
    **dict.fromkeys(("cargo t",), "test"),
    **dict.fromkeys(("npm clean-install", "npm ic", "pnpm ci", "pnpm clean-install"), "ci"),
}
"""Subcommands with several names, and the name that a memory is likely to have."""

_VERSIONED = ("python", "pypy", "pip", "ruby", "perl", "php", "lua")
_SUFFIXES = (".exe", ".cmd", ".bat", ".ps1")
_WHOLE = frozenset({".", "./", "./...", "...", "tests", "tests/", "test", "test/", "spec", "spec/"})
_FILTERS = (
    "-k -m -t -g --lf --ff --last-failed --grep --filter --testNamePattern --testPathPattern"
    " --related --findRelatedTests --changed --onlyChanged --onlyFailures --tests -Dtest -run"
    " --run-tests-by-path --name-pattern --test-name-pattern --collect-only --co --list --test -e"
    " --example --lib --bin --affected"
)


def program_name(typed: str) -> str:
    """Return a program as memories name it: `/usr/bin/python3.12` and `python` are the same."""
    name = typed.rpartition("/")[2]
    lower = name.lower()
    if lower.endswith(_SUFFIXES):
        name = name.rpartition(".")[0]
    if "@" in name[1:] and name[:1].isalnum():  # npx runs a version: `pnpm@9`
        name = name[: name.index("@", 1)]
    return (name.rstrip("0123456789.") or name) if name.startswith(_VERSIONED) else name


def canonical(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words with the usual name of the program and of its subcommand."""
    name = program_name(argv[0]) if argv else ""
    for at, word in enumerate(argv[1:], 1):
        if not is_option(word):
            other = SYNONYMS.get(f"{name} {word}", word)
            return (name, *argv[1:at], other, *argv[at + 1 :])
    return (name, *argv[1:])


def read_table(rows: dict[str, str]) -> Table:
    """Turn names with commands into programs with the names and words to look for."""
    found: Table = {}
    for name, commands in rows.items():
        for command in commands.split(","):
            program, *words = command.split()
            found.setdefault(program, []).append((name, tuple(words)))
    return found


_ACTS_BY_PROGRAM = read_table(COMMANDS)
_FAMILIES_BY_PROGRAM = read_table(FAMILIES)


def has_program(name: str) -> bool:
    """True if commands of the program have an act, or it belongs to a family."""
    return name in _ACTS_BY_PROGRAM or name in _FAMILIES_BY_PROGRAM


def families_of(argv: Sequence[str]) -> list[str]:
    """Return the families that the program belongs to, with this subcommand."""
    argv = canonical(argv)
    rows = _FAMILIES_BY_PROGRAM.get(argv[0], ()) if argv else ()
    return [name for name, words in rows if _follow(words, argv[1:])]


def acts_of(argv: Sequence[str]) -> frozenset[str]:
    """Return what a command does, by its words without wrappers."""
    argv = canonical(argv)
    if not argv:
        return frozenset()
    found = names_in(_ACTS_BY_PROGRAM, argv)
    if not found and argv[0] not in _WITHOUT_TARGETS:
        found.update(_named_acts(*argv))
    for rule in _RULES:
        rule(argv, found)
    return frozenset(found)


def names_in(table: Table, argv: tuple[str, ...]) -> set[str]:
    """Return the names in a table of `read_table` for a command, as `canonical` returns it."""
    found: set[str] = set()
    for program, words in _readings(argv):
        rows = table.get(program) or table.get(program.lower(), [])
        found.update(name for name, behind in rows if _follow(behind, words))
    return found


def programs_of(act: str) -> frozenset[str]:
    """Return one word of each command of an act, of which every call with it holds one.

    A script or a target that is named after its act holds one of `NAMED`.
    """
    of = {"force push": "push", "whole suite": "test"}.get(act, act)
    programs = {
        _word_of(command.split()) for command in COMMANDS.get(of, "").split(",") if command.strip()
    }
    if of in ("install", "dependency"):
        programs |= {"npm", "pip", "pnpm", "yarn", "bun", "pipenv", "uv", "gem"}
    return frozenset(programs | ({STEMS.get(of, of)} if of in NAMED else set()))


def _word_of(words: Sequence[str]) -> str:
    """Return the last subcommand, which says more than `git`, unless it has several names."""
    plain = [word for word in words[1:] if word[:1].isalpha()]
    return plain[-1] if plain and words[0] not in RENAMED else words[0]


RENAMED = frozenset(each.split()[0] for each in SYNONYMS) | {"python", "pip"}
STEMS = {"migration": "migrat", "release": "publish"}


def _readings(argv: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the command, and that of a script which has subcommands: `python manage.py migrate`."""
    yield argv[0], argv[1:]
    for at, word in enumerate(argv[1:3], 1):
        if word.endswith(("manage.py", "artisan", "bin/rails", "bin/rake")):
            yield word.rpartition("/")[2], argv[at + 1 :]
            return


def _follow(wanted: tuple[str, ...], words: Sequence[str]) -> bool:
    """True if the first wanted word is the first operand, or an option, and the others"
    " follow it."""
    if not wanted:
        return True
    first = wanted[0]
    if is_option(first) or first == ".":
        return any(_is_option_of(word, first) for word in words)
    at = _at_operand(first, words)
    return at >= 0 and _follow_in_order(wanted[1:], words[at + 1 :])


def _at_operand(wanted: str, words: Sequence[str]) -> int:
    """Return where *wanted* stands before any other operand, but the value of an option."""
    for at, word in enumerate(words):
        if word == wanted or word.startswith(f"{wanted}:"):
            return at
        if not is_option(word) and not (at and is_option(words[at - 1])):
            return -1
    return -1


def _follow_in_order(wanted: tuple[str, ...], words: Sequence[str]) -> bool:
    left = iter(words)
    return all(any(_is_option_of(word, each) for word in left) for each in wanted)


def _is_option_of(word: str, wanted: str) -> bool:
    """Compare a word with a wanted one; `-a` may stand in a cluster, `--fix` may have a value."""
    if word == wanted or (wanted.startswith("--") and word.startswith(f"{wanted}=")):
        return True
    is_letter = len(wanted) == 2 and is_option(wanted) and wanted != "--"
    return is_letter and word[:1] == "-" and word[:2] != "--" and wanted[1] in word[1:]


def _operands(words: Sequence[str]) -> list[str]:
    return [word for word in words if not is_option(word)]


_WITHOUT_TARGETS = (
    frozenset(f"{READERS} {' '.join(SUBCOMMANDS)}".split())
    | frozenset(
        "mkdir touch cp mv ln chmod chown ssh scp rsync vi vim nvim nano code su kill".split()
    )
) - frozenset("make just task rake gradle mvn ninja npm pnpm yarn bun deno composer poetry".split())
"""Programs whose first operand is no script, target or subcommand of the project."""


def _named_acts(program: str, *words: str) -> Iterator[str]:
    """Yield acts that an unknown program, script or target is named after, or its subcommand."""
    operands = [word for word in _operands(words) if word != "run"]
    names = [word for word in operands[:1] if regex.fullmatch(r"[\w:.-]+", word)]
    for name in (program.rpartition(".")[0] or program, *names):
        yield from acts_named(name)


def acts_named(name: str) -> list[str]:
    """Return the acts among NAMED in a name such as `db:migrate`, `run-tests` or `deployProd`."""
    spaced = " ".join(regex.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)).lower()
    return [act for act in find_acts(spaced) if act in NAMED]


def _reads_only(argv: tuple[str, ...], found: set[str]) -> None:
    """Take away the act of a command whose options only list, check or abort."""
    verb, behind = _split_git(argv)
    for verbs, reads, named in _READING:
        if verb in verbs and reads(behind):
            found -= named
    if "format" in found and any(word.partition("=")[0] in _CHECKING for word in argv[1:]):
        found.discard("format")
    if {"--help", "--version"} & {*argv[1:]}:
        found.clear()


def _split_git(argv: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the subcommand of git and the words behind it; no words for another program."""
    words = argv[1:] if argv[0] == "git" else ()
    verb = next(iter(_operands(words)), "")
    return verb, words[words.index(verb) + 1 :] if verb else ()


def _lists(behind: Sequence[str]) -> bool:
    return not _operands(behind) or any(word in _LISTING for word in behind)


def _aborts(behind: Sequence[str]) -> bool:
    return any(word in ("--abort", "--quit") for word in behind)


def _unstages(behind: Sequence[str]) -> bool:
    return bool({"--staged", "-S"} & {*behind}) and not {"--worktree", "-W"} & {*behind}


def _previews(behind: Sequence[str]) -> bool:
    return any(_is_option_of(word, "-n") or word == "--dry-run" for word in behind)


_READING: tuple[tuple[tuple[str, ...], Callable[[Sequence[str]], bool], set[str]], ...] = (
    (("branch", "tag"), _lists, {"branch", "tag"}),
    (("merge", "rebase"), _aborts, {"merge", "rebase"}),
    (("restore",), _unstages, {"discard"}),
    (("clean",), _previews, {"discard"}),
)
"""Subcommands of git that only read where the words behind them say so, and acts they are not."""
_LISTING = (
    "-l --list --contains --no-contains --merged --no-merged --points-at --verify -v --show-current"
).split()
_CHECKING = frozenset("--check --check-only --diff -c --list-different -l -d --dry-run -n".split())


def _pulls_by_rebase(argv: tuple[str, ...], found: set[str]) -> None:
    verb, behind = _split_git(argv)
    if verb == "pull" and any(
        _is_option_of(word, "-r") or word[:8] == "--rebase" for word in behind
    ):
        found.add("rebase")


def _push_by_force(argv: tuple[str, ...], found: set[str]) -> None:
    forced = any(
        word.startswith(("--force", "+")) or word == "--mirror" or _is_option_of(word, "-f")
        for word in argv[1:]
    )
    if "push" in found and forced:
        found.add("force push")


def _installs_by_its_name(argv: tuple[str, ...], found: set[str]) -> None:
    """`yarn` alone installs."""
    is_alone = argv[0] == "yarn" and not _operands(argv[1:])
    if is_alone and {"-v", "--version"}.isdisjoint(argv):
        found.add("install")


def _adds_a_dependency(argv: tuple[str, ...], found: set[str]) -> None:
    """`npm install left-pad` changes dependencies; `npm install` and `pip install -r` do not."""
    if "install" not in found or argv[0] not in _INSTALLERS or _reads_a_list(argv[1:]):
        return
    operands = _operands(argv[1:])
    packages = operands[operands.index("install") + 1 :] if "install" in operands else []
    if any(package and package[0] not in "./~" for package in packages):
        found.add("dependency")


def _reads_a_list(words: Sequence[str]) -> bool:
    return any(_is_option_of(word, "-r") or word[:13] == "--requirement" for word in words)


_INSTALLERS = ("npm", "pnpm", "bun", "pip", "pipenv", "uv", "gem")


def _tests(argv: tuple[str, ...], found: set[str]) -> None:
    if "test" not in found:
        return
    words = argv[1:]
    operands = _operands(words)
    if any("e2e" in word for word in operands):
        found.add("e2e")
    filtered = any(word.partition("=")[0] in _FILTER_SET for word in words)
    named = [word for word in operands if word not in _WHOLE and not _is_verb(word)]
    if not filtered and not named:
        found.add("whole suite")


_FILTER_SET = frozenset(_FILTERS.split())


def _is_verb(word: str) -> bool:
    """True for `test`, `run`, `test:unit` and other words that are no file and no name of a"
    " test."""
    return word in ("run", "check", "verify", "nextest", "t", "all", "-") or (
        word.startswith("test") and "/" not in word and "." not in word
    )


_RULES = (
    _installs_by_its_name,
    _adds_a_dependency,
    _push_by_force,
    _pulls_by_rebase,
    _tests,
    _reads_only,
)
