"""Which texts are rules, and which calls they are about."""

import pytest

from ademem.guard import wording


@pytest.mark.parametrize(
    ("text", "is_rule"),
    [
        ("Use pnpm, never npm", True),
        ("Use pnpm, not npm", True),
        ("Use pnpm instead of npm", True),
        ("Always run make lint before git commit", True),
        ("Only the release script changes pyproject.toml", False),
        ("check.sh runs only the billing tests", False),
        ("check.sh runs *only* the billing tests", False),
        ("Das Skript prüft nur die Rechnungen", False),
        ("Only the release script may change it: it must not be edited", True),
        ("The schema must not be edited by hand", True),
        ("Do not edit src/gen", True),
        ("Nie direkt auf main pushen", True),
        ("Ne jamais modifier src/gen", True),
        ("Ne pas pousser le vendredi", True),
        ("Nunca edites src/gen", True),
        ("Always pass --no-cache to docker build", True),
        ("Always use UTC in timestamps", False),
        ("Always run make gen after edits", False),
        ("Login sessions expire after ten minutes", False),
        ("We always liked the parser", False),
        ("The commit hook lints the code", False),
        ("Nothing is known of the onlyoffice plugin", False),
    ],
)
def test_wording_that_forbids_or_requires(text, is_rule):
    assert wording.is_rule(text) is is_rule


@pytest.mark.parametrize(
    ("text", "command", "is_about"),
    [
        ("Use pnpm, never npm", "npm install", True),
        ("Use pnpm, never npm", "pnpm add x", False),
        ("Use pnpm instead of npm", "npm ci", True),
        ("npm must not be used", "npm ci", True),
        ("Nie npm benutzen", "npm ci", True),
        ("Never git push to main", "git push origin main", True),
        ("Never git push to main", "git commit -m x", False),
        ("Never push on Fridays", "git push", True),
        ("Always run the linter before committing", "git commit -m x", True),
        ("Always run the linter before committing", "git push", False),
        ("Always run make lint before git commit", "make lint", False),
        ("Deployments must be announced", "make deploy", True),
        ("Never make a fuss about this", "make build", False),
        ("Never pip install into the system", "uv pip install x", False),
        ("Tokens expire in UTC, never in local time", "npm install", False),
        ("Never run prisma migrate dev on staging", "npx prisma migrate dev", True),
        ("Never run prisma migrate dev on staging", "npx prettier --write src", False),
        ("Always pass --no-cache to docker build of the api", "docker build -t api .", True),
        ("Always pass --no-cache to docker build of the api", "docker compose up", False),
        ("Use kubectl diff instead of kubectl apply", "kubectl diff -f x.yaml", False),
        ("A deploy must never run on a Friday", "npm run deploy", True),
        ("make deploy must run from main", "npm run dev", False),
        ("make deploy must run from main", "docker run api", False),
        ("make deploy must run from main", "make deploy", True),
        ("Never force-push a shared branch", "git push --force origin work", True),
        ("Never add the .env file to git", "git add .env", True),
        ("Never add the .env file to git", "git push", False),
        ("Never delete a bucket with aws s3 rb", "aws s3 rb s3://old", True),
        ("Never use pip on the build hosts", "pip install x", True),
    ],
)
def test_the_commands_of_a_rule(text, command, is_about):
    assert wording.is_about_command(text, [command.split()]) is is_about


@pytest.mark.parametrize(
    ("text", "path", "is_about"),
    [
        ("Never edit src/gen by hand", "src/gen/api.py", True),
        ("Never edit src/gen by hand", "src/general.py", False),
        ("Never edit `db/schema.sql` by hand", "db/schema.sql", True),
        ("Only the release script changes pyproject.toml", "pyproject.toml", False),
        ("pyproject.toml must be changed by the release script", "pyproject.toml", True),
        ("Never edit src/schema.py: change db/schema.sql", "db/schema.sql", False),
        ("Migrations must be created by the tool", "db/migrations/0001_x.py", True),
        ("Never commit *.lock files by hand", "web/yarn.lock", True),
        ("Never write code in German", "src/code.py", False),
        ("Login sessions expire in src/auth.py", "src/auth.py", False),
        ("The conftest.py must never touch the network", "tests/conftest.py", True),
        ("CHANGELOG.md is made by the release, never by hand", "CHANGELOG.md", True),
        ("src/gen is made by make gen; never edit it", "src/gen/customer.py", True),
        ("Use money.py instead of float.py", "src/money.py", False),
        ("Never touch vendor/ directly", "vendor/lib/x.go", True),
    ],
)
def test_the_files_of_a_rule(text, path, is_about):
    assert wording.is_about_path(text, path) is is_about


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Use pnpm, never npm", True),
        ("Never edit src/gen by hand", True),
        ("Never log a token", False),
    ],
)
def test_a_rule_that_names_a_target_is_about_that_alone(text, names):
    assert wording.names_target(text) is names


@pytest.mark.parametrize(
    ("text", "path", "spares"),
    [
        ("A migration that shipped is never edited; add another", "migrations/0007.sql", True),
        ("A migration that shipped must not be edited; add another one", "migrations/7.sql", True),
        ("Never edit or delete an applied migration - write a new one", "migrations/7.sql", True),
        ("Once released, schema files must not change; only add new ones", "db/schema/9.sql", True),
        ("Never rename files in public/assets", "public/assets/logo.svg", True),
        ("Do not modify existing snapshots under tests/snap", "tests/snap/new.txt", True),
        ("Write a new migration instead of editing an old one", "migrations/7.sql", True),
        ("Ausgelieferte Migrationen nie ändern", "migrations/7.sql", True),
        ("Ne jamais modifier une migration publiée", "migrations/7.sql", True),
        ("Nunca cambies una migración publicada", "migrations/7.sql", True),
        ("Never touch legacy/", "legacy/new.py", False),
        ("Never edit legacy/", "legacy/new.py", False),
        ("The folder src/legacy/ must not be changed", "src/legacy/deep/new.py", False),
        ("Do not modify anything under vendor/", "vendor/new.go", False),
        ("Never add or edit files in legacy/", "legacy/new.py", False),
        ("Nothing new goes into legacy/: never write there", "legacy/new.py", False),
        ("Files in src/gen are generated and must not be edited", "src/gen/new.py", False),
        ("src/gen is made by make gen; never edit it", "src/gen/new.py", False),
        ("Never edit files in src/gen by hand", "src/gen/new.py", False),
        ("Migrations must be created by the tool; never edit one", "migrations/7.sql", False),
        ("CHANGELOG.md is written by the release, never by hand", "CHANGELOG.md", False),
        ("The conftest.py must never touch the network", "api/conftest.py", False),
        ("Use pnpm, never npm", "package.json", False),
        ("Always run make lint before editing migrations", "migrations/7.sql", False),
    ],
)
def test_a_ban_on_changes_alone_is_not_about_a_file_that_does_not_exist(text, path, spares):
    assert wording.spares_new_file(text, path) is spares
