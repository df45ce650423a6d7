"""The likelihood that two texts contradict: one subject, and values that cannot both hold today."""

from __future__ import annotations

import math
import re
from difflib import SequenceMatcher
from functools import lru_cache

from ademem.core.text import MONTHS, fold, tells_work, unique, word_set
from ademem.core.value import Value
from ademem.search.opposition import find_opposition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CACHED = 4096
"""Texts that are kept as they were read: a batch compares each with many."""
MOST_FRAME_TOKENS = 25
"""Tokens of a text above which it is no plain sentence."""
SHARED_FRAME = 0.4
"""Share of the shorter sentence that keeps its place around what is exchanged."""
SHORTEST_FRAME = 3
"""Tokens that two sentences share at least, of which one says something else."""
SUBJECT, COMPLEMENT, TWO_THINGS = "subject", "complement", "two things"
"""Roles of exchanged words: another subject, what is said of the same one, or a name and a measure
at once, as in one sentence about two services and their ports."""
MOST_CHARS = 600
"""Characters of a text that are read: a longer one is about more than one matter."""

_STOP = word_set("""
    a an and any are as at be been being both but by can could did do does each every for from had
    has have her his i if in into is it its itself may might more most must my of off on one only or
    other our out over own shall should so some such than that the their them then there these they
    this those three through to too two under up us use used uses using very via want was we were
    what when where which while who whom why will with within would you your not no nor never
    always all go goes going went gone come comes came get gets got live lives living lie lies run
    runs running ran keep keeps kept put puts take takes taken took make makes made need needs
    needed require requires required happen happens happened set sets sit sits speak speaks talk
    talks now then today currently since instead longer anymore again last lasts begin begins start
    starts least maximum minimum called named name year per also still about because after before
    until about spring summer autumn winter january february march april june july august september
    october november december switched switch moved move replaced replaces replace retired removed
    dropped renamed migrated converted ported rewritten ended changed raised lowered cut enlarged
    shifted upgraded closed sold forbidden allowed hand manual manually wir der die das ist sind
    und nehmen jetzt statt auf mit zu laufen werden usamos el la los de en lugar es
""")
_ENLARGES = "accepts?|allows?|also|handles?|includes?|knows?|supports?|takes?|works?"
"""Words after "now" by which something more holds than before."""
_LEFT_BEHIND = "said goodbye to|got rid of|gave up on|stopped using|ditched"
_CHANGE = re.compile(
    # "is dropped after 90 days" tells what happens again and again
    r"\b(?<!\bis )(?<!\bare )(?<!\bbe )(?<!\bgets )(?:switched|moved|replaced|removed|dropped"
    r"|renamed|deleted|migrated|converted|ported|rewritten|re(?:done|built|worked)|upgraded|scrapped"
    r"|swapped|raised|lowered|reduced|shortened|extended|increased|decreased|doubled|halved"
    r"|enlarged|shifted"
    r"|(?:turned|shut) (?:off|down))\b"
    r"|\b(?:switching|moving|replac(?:es|ing)|dropping|migrating|rewrote|no (?:longer|more)"
    r"|any ?(?:more|longer)|retired?|instead|since|handed over|t(?:ook|akes) (?:over|the place)"
    rf"|threw out|{_LEFT_BEHIND}"
    rf"|now(?! (?:{_ENLARGES})\b)|nowadays|these days|from now on|by now"
    r"|in favou?r of|as of|starting with|cut (?:to|from)|(?:went|goes|came) (?:up|down|over)"
    r"|deprecated|obsolete|discontinued|superseded|abandoned|phased out|ended|expired|gone|dead"
    r"|history|sold|closed|used to|formerly|previously"
    r"|abgelöst|ersetzt|umgestiegen|umgestellt|statt|nicht mehr|jetzt|nun|seit"
    r"|en lugar de|ya no|ahora|remplac\w+|au lieu de|désormais)\b",
    re.IGNORECASE,
)
_NAMED = r"([\w.@/+-]+(?: (?-i:[A-Z0-9])[\w.+-]*)*)"
_SUBJECT = rf"(?<![\w.@/+-]){_NAMED}"
_ENDED = r"retired|removed|replaced|dropped|sold|closed|deleted|deprecated|abandoned|shut down"
_REPLACES = (
    r"\b(?:instead of|in place of|rather than|in lieu of|no longer(?: \w+ing)?|statt"
    rf"|en lugar de|au lieu de) (?:the |an? |our )?{_NAMED}",
    r"\b(?:replac(?:ed|es)|renamed|dropped|removed|retired|threw out|abandoned|deprecated"
    rf"|{_LEFT_BEHIND}"
    rf"|away from|moved out of|not) (?:the |our )?{_NAMED}",
    r"\b(?:switch\w*|mov(?:ed|ing)|migrat(?:ed|ing)|converted|ported|upgraded|cut|went|renamed"
    rf"|changed|raised|lowered)\b[^.;,]*? from (?:the )?{_NAMED}",
)
"""Where a sentence names, behind a word of change, the thing that is no longer used."""
_ENDS = (
    rf"{_SUBJECT}(?: \w+){{0,2}} (?:was|were|has been|have been|got) (?:{_ENDED})\b",
    rf"{_SUBJECT}(?: \w+){{0,2}} (?:is|are) (?:gone|retired|deprecated|forbidden|out\b"
    r"|no longer|not (?:\w+ )?(?:used|supported|needed)|not used)",
    rf"{_SUBJECT} (?:support )?ended\b",
    rf"{_SUBJECT} (?:left|quit)\b",
)
"""Where it names the thing first."""
_END = re.compile(
    rf"\b(?:{_ENDED}|gone|forbidden|out|no longer|not|ended|left|quit)", re.IGNORECASE
)
"""A word that each of these has, which is faster to look for."""

_FORBIDDEN = re.compile(
    r"\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|may not|avoid|nie|niemals|nunca"
    r"|jamais)\b([^.,;:!?]*)",
    re.IGNORECASE,
)
"""A ban: the thing that it names may be in use elsewhere, and says nothing of today's choice."""

_UNITS = {
    **dict.fromkeys(
        "ms s sec second min minute h hour day week month year stunde tag".split(), "time"
    ),
    **dict.fromkeys("b kb mb gb tb kib mib gib byte kilobyte megabyte".split(), "size"),
    **dict.fromkeys(("%", "percent"), "share"),
    **dict.fromkeys(("cent", "euro", "dollar"), "money"),
}
_DIGITS = "zero one two three four five six seven eight nine ten eleven twelve"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_NUMBERS = {word: str(number) for number, word in enumerate(_DIGITS.split())}
_NUMBERS |= {word: str(10 * number) for number, word in enumerate(_TENS.split(), 2)}
_OFTEN = {
    **{f"{unit}ly": unit for unit in ("night", "week", "hour", "month", "year", "quarter")},
    "daily": "day",
    "täglich": "day",
    "wöchentlich": "week",
    "annually": "year",
}
_TIMES = {"once": "", "twice": "2 ", "thrice": "3 "}
_SPANS = frozenset("for in within after every each per".split())
"""Words before `a week` where it is an amount of time."""
_DAYS = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_ORDINALS = frozenset("first second third fourth fifth".split())
BY_HAND = "by hand"
_MANNERS = {
    **dict.fromkeys(("hand", "manual", "manually"), BY_HAND),
    **dict.fromkeys(("automatic", "automatically", "automated"), "automatically"),
}
_SLOTS = """
package-manager: npm yarn pnpm bun
python-packages: pip pip-tools poetry uv pipenv conda
java-build: maven gradle
bundler: webpack vite rollup parcel esbuild turbopack browserify
linter: eslint biome tslint
python-linter: flake8 pylint ruff
python-formatter: black ruff yapf autopep8
test-runner: jest vitest mocha karma jasmine
python-tests: pytest unittest nose
java-tests: junit testng
browser-test: cypress playwright selenium puppeteer testcafe
ci: jenkins travis circleci buildkite teamcity drone github-actions gitlab-ci azure-pipelines
deployment: ansible argo-cd argocd flux spinnaker capistrano fastlane helm puppet chef
host: heroku fly.io vercel netlify render aws azure gcp hetzner digitalocean railway cloudflare
registry: docker-hub ghcr ecr quay harbor gcr
database: postgres postgresql mysql mariadb sqlite mongodb oracle cockroachdb dynamodb cassandra
database: duckdb clickhouse bigquery snowflake redshift
cache: redis memcached valkey keydb
queue: rabbitmq kafka nats sqs pulsar activemq redpanda
search: elasticsearch opensearch meilisearch solr typesense algolia
logs: cloudwatch loki splunk graylog papertrail datadog kibana
errors: sentry rollbar bugsnag airbrake honeybadger raygun crashlytics
pager: pagerduty opsgenie victorops
mail: sendgrid postmark mailgun mailchimp ses mailjet sparkpost postfix
sms: twilio vonage sinch messagebird
payment: stripe adyen paypal braintree mollie
analytics: google-analytics plausible matomo mixpanel amplitude posthog
flags: launchdarkly unleash flagsmith growthbook
tracker: jira linear asana trello redmine youtrack
wiki: confluence notion mediawiki gitbook
documentation: sphinx mkdocs docusaurus jekyll hugo
frontend: vue react svelte angular ember solid preact backbone
mobile: flutter ionic xamarin react-native swiftui
css: bootstrap tailwind bulma
orm: sequelize prisma typeorm knex drizzle
date-library: moment date-fns dayjs luxon
proxy: nginx caddy apache traefik haproxy kong envoy
secrets: vault .env sops doppler
protocol: rest grpc graphql soap
format: yaml json xml toml ini protobuf avro csv
monorepo: lerna turborepo nx bazel
branch: master main trunk develop
virtualization: docker podman vagrant
identity: auth0 okta keycloak cognito
chat: slack teams discord mattermost
"""
PLAIN_WORDS = word_set("""
    rest render linear notion flux solid slack teams drone nose helm chef puppet ses drill
""")
"""Names that are common words as well: they count with a capital alone."""
SLOTS: dict[str, frozenset[str]] = {}
"""The kinds of each name: a project mostly has one of a kind, and a language its own tools."""
for _line in _SLOTS.strip().splitlines():
    _kind, _, _members = _line.partition(": ")
    for _name in _members.split():
        SLOTS[_name] = SLOTS.get(_name, frozenset()) | {_kind}
_KINDS = frozenset(kind for kinds in SLOTS.values() for kind in kinds)
_MEASURES = frozenset("time size share money clock date number port".split())
_VERSIONED = word_set("""
    alpine android angular centos chrome debian django dotnet elixir fedora firefox go ios java
    kotlin kubernetes laravel macos net node nodejs openssl php python rails ruby rust safari scala
    spring swift terraform typescript ubuntu windows xcode
""")
_NUMBERED = (
    word_set("""
    batch bucket case chapter code error exit group instance issue layer lesson level line machine
    module node number page part partition phase pod priority queue region replica room row rule
    section server severity shard slot stage step table team tenant ticket tier worker zone
    """)
    - _VERSIONED
)
"""Nouns that a number follows to tell one of several."""
_COUNTED = ("node", "release")
"""Nouns that a number follows for a version as well as to tell one of several."""
_MEASURE = re.compile(r"(\d+(?:[.,]\d+)*)([a-z]+|%)")
_CLOCK = re.compile(r"\d{1,2}:\d\d")
_CLOCKS = {"noon": "12:00", "midnight": "00:00"}
_NUMBER = re.compile(r"v?\d+(?:[.,]\d+)*")
_HOST = re.compile(r"[a-z][a-z-]+(?:\.[a-z0-9-]+)+\.[a-z]{2,}")
_TOKEN = re.compile(r"\b\d{1,2}:\d\d\b|[\w/.$@#+-]*\w%?|%")
_PATH = re.compile(
    r"/[\w.-]+(?:/[\w.-]+)*/?"
    r"|(?:[\w.-]+/)*[\w-]+\.(?:py|js|ts|tsx|toml|ini|cfg|conf|ya?ml|json|xml|md|txt|sql|sh|html|rs|go)"
)
_ENDINGS = "ments ment ations ation ings ing ies ied ed es s ly".split()


_ARTICLES = frozenset("a an the our your my their its".split())
NAME_OF = "name of "
_CREWS = frozenset("team squad crew group department desk guild".split())
"""Nouns that the name of a group of people stands before."""
_SHARED_BY_CREWS = word_set("""
    call calls called consume consumes consumed depend depends have has like likes need needs needed
    prefer prefers read reads use uses used want wants
""")
"""Verbs that hold of several teams and one thing: "the web team uses the search API"."""
_THINGS = word_set("""
    branch bucket channel cluster container gateway namespace pool profile protocol queue region
    registry schema scheme solver subnet topic track vault volume workspace zone
""")
"""Nouns that the name of a thing stands before or behind: `the topic orders`."""
_RUNNERS = frozenset("make just task rake nox tox invoke".split())
"""Programs whose first argument names what is done."""
_SCRIPTED = frozenset("npm yarn pnpm bun".split())
_CALLED_BY = frozenset("with through via by using run runs call calls".split())
_TRIGGERS = word_set("""
    night morning evening day weekday week weekend month quarter year hour minute sprint release
    deploy deployment build commit push merge import start boot
""")
"""Nouns that `each` or `every` stands before where it says how often."""


class Facts(Value):
    subject: tuple[str, ...]
    """Stems of the words that say what it is about, in order."""
    values: Mapping[str, frozenset[str]]
    """Its values of today, by kind."""
    labels: Mapping[str, str]
    """Numbers and letters that tell one of several things: the 2 of `Shard 2`."""
    parts: frozenset[str]
    """Stems of its values but those it forbids."""
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    stems: frozenset[str]
    changes: bool
    tells_work: bool
    adds: bool
    """It tells of an addition or a repair, after which everything else holds as before."""
    option: str
    """The first option of a command that it names, such as `--force`."""
    gone: frozenset[str]
    """Stems of what it says is no longer used."""
    owners: frozenset[str]
    """Stems of the things to which others belong: `search` of "the timeout of search"."""


def likelihood(one: str, other: str, cosine: float | None = None) -> float:
    """Return how likely two texts cannot both hold today, 0 to 1; *cosine* is of their vectors."""
    return score(features(one, other, cosine), WEIGHTS if cosine is not None else WEIGHTS_OF_WORDS)


def score(found: Mapping[str, float], weights: Mapping[str, float]) -> float:
    if not found:
        return 0.0
    return 1 / (1 + math.exp(-sum(weights[name] * value for name, value in found.items())))


def features(one: str, other: str, cosine: float | None = None) -> dict[str, float]:
    """Return what speaks for or against a contradiction, each 0 to 1; none if there can be none."""
    left, right = read(one), read(other)
    if left.tells_work and right.tells_work:
        return {}
    pairs = ((left, right), (right, left))
    subject, *_ = compare_subjects(left, right)
    differing = find_differing(left, right)
    named = {kind for kind in differing if kind.startswith(NAME_OF)}
    shared = len(subject - {stem(kind.removeprefix(NAME_OF)) for kind in named})
    ended = bool(left.gone & right.parts or right.gone & left.parts)
    kinds = {kind.partition(" ")[0] for kind in differing}
    exchange = _find_exchange(left, right)
    agrees = not differing and any(
        left.values[kind] & right.values.get(kind, frozenset()) for kind in left.values
    )
    changes = left.changes or right.changes
    crews = not _CREWS.isdisjoint(kind.removeprefix(NAME_OF) for kind in named)
    one_duty = crews and shared > 1 and bool(_DUTIES.intersection(left.tokens, right.tokens))
    slot = one_duty or not _KINDS.isdisjoint(differing)
    versions = any(kind.startswith("version ") for kind in differing)
    has_subject = shared or ended or ((slot or versions) and not (left.subject and right.subject))
    share = min(1.0, shared / max(1, min(len(left.subject), len(right.subject))))
    says_other = exchange == COMPLEMENT and not agrees
    has_reason = differing or ended or says_other or changes
    if not has_reason and share >= 0.5:
        has_reason = find_opposition(one, other) is not None or any(
            "on" in a.stems - b.stems and "off" in b.stems - a.stems for a, b in pairs
        )
    if (
        not (has_subject and has_reason)
        or ((left.adds or right.adds) and not ended)
        or exchange == TWO_THINGS
        or (exchange == SUBJECT and differing and not ended)
        or _number_two_things(left, right)
        or (crews and _SHARED_BY_CREWS.intersection(left.words, right.words))
        or (_have_two_owners(left, right) and not ended)
    ):
        return {}
    common = min(shared, 3) / 3
    heads = {
        one.subject[0] in other.stems for one, other in pairs if left.subject and right.subject
    }
    many = not _MANY.isdisjoint((*left.words, *right.words))
    found: dict[str, float] = {
        "bias": 1.0,
        "common": common,
        "long": min(1.0, max(len(left.subject), len(right.subject)) / 12),
        "head_common": (heads == {True}) * common,
        "heads": not named and heads == {False},  # each begins with another word
        "complement_many": exchange == COMPLEMENT and many,
        "both_change": left.changes and right.changes,
        "ended": ended,
        "differ": bool(differing),
        "differ_change": bool(differing) and changes and (shared > 1 or slot),
        "slot": slot,
        "named": bool(named),
        "measure_share": not _MEASURES.isdisjoint(kinds) and share,
        "name_share": (not {"name", "acronym"}.isdisjoint(differing) and not ended) * share,
    }
    if cosine is not None:
        found["cosine"] = cosine
    return found


def name_two_things(one: str, other: str) -> bool:
    """True if two sentences are about two things of one kind, such as workers A and B."""
    left, right = read(one), read(other)
    return (
        _find_exchange(left, right) in (SUBJECT, TWO_THINGS)
        or _number_two_things(left, right)
        or _have_two_owners(left, right)
    )


@lru_cache(maxsize=CACHED)
def read(text: str) -> Facts:
    text = re.sub(r"\b(front|back) end\b", r"\1end", text[:MOST_CHARS])
    forms = [token.strip(".-") or token for token in _TOKEN.findall(text)]
    plain = [fold(token) for token in forms]
    raw, folded = (["", "", "", *words, "", ""] for words in (forms, plain))
    first = at = 3
    values: set[tuple[str, str]] = set()
    subject: list[str] = []
    labels: dict[str, str] = {}
    changes = _CHANGE.search(text) is not None
    if changes and folded[first] in _NUMBERED and _is_label(raw, folded, first + 1):
        # of what the news is about; others may be the new value
        labels[folded[first]] = folded[first + 1]
    while at < first + len(forms):
        if not changes and "version" not in folded and _is_label(raw, folded, at):
            subject.append(folded[at])
            labels[folded[at - 1]] = folded[at]
            at += 1
            continue
        found, width = _read_value(raw, folded, at)
        values.update(found)
        is_word = folded[at] not in _STOP or raw[at] in ("IT", "US")
        if not found and is_word and len(folded[at]) > 1:
            subject.append(stem(folded[at]))
        at += width
    gone = {
        stem(fold(part))
        for pattern in (*_REPLACES, *(_ENDS if _END.search(text) else ()))
        for match in re.finditer(pattern, text, re.IGNORECASE)
        for part in re.findall(r"[\w.-]*\w", match[1])
        if fold(part) not in _STOP
    }
    banned = {stem for ban in _FORBIDDEN.findall(text) for stem in _stems(ban)}
    if banned:
        banned -= _stems(_FORBIDDEN.sub(" ", text))
    words = [word for word in plain if word not in _ARTICLES]
    tokens = tuple(map(stem, words))
    begins = {
        stem(fold(token[0]))
        for token in map(_TOKEN.search, (text, _LABEL.sub("", text, 1)))
        if token
    }
    kinds: dict[str, frozenset[str]] = {}
    for kind, value in values:
        if (gone | banned).isdisjoint(_parts(value)):
            kinds[kind] = kinds.get(kind, frozenset()) | {value}
    return Facts(
        subject=unique(subject),
        values=kinds,
        labels=labels,
        parts=frozenset(part for _, value in values for part in _parts(value)) - banned,
        words=tuple(words),
        tokens=tokens,
        stems=frozenset(map(stem, plain)) - banned,
        changes=changes,
        tells_work=tells_work(text),
        adds=not begins.isdisjoint(_ADDITIONS),
        option=option[0] if (option := re.search(r"(?<![\w-])--[a-z][\w-]*", text)) else "",
        gone=frozenset(gone),
        owners=frozenset(
            token
            for at, token in enumerate(tokens)
            if at and token in subject
            if words[at - 1] in _OF or (at == 2 and words[1] == "from")
        ),
    )


@lru_cache(maxsize=CACHED)
def stem(word: str) -> str:
    """Return a short form that most inflections of an English word share; a path as it is.

    A compound or an identifier keeps all of its parts: `table.count` is not `table.exists`.
    """
    if "/" in word:
        return word
    if len(parts := re.findall(r"[^-_.]+", word)) > 1:
        return "-".join(map(stem, parts))
    for ending in _ENDINGS:
        # no "pay" of "payment": the index of words writes that as "pai"
        if word.endswith(ending) and len(word) - len(ending) >= (4 if "ment" in ending else 3):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2]:
        word = word[:-1]
    return word.rstrip("ey")[:5] if len(word) > 3 else word


_DUTIES = frozenset(
    map(stem, "approve call deploy lead maintain manage operate own responsible review".split())
)
"""What one team has of a thing: "reviews changes to auth", "auth is reviewed by"."""
_ADDITIONS = frozenset(map(stem, "add feat fix improve prepare mention refactor tweak".split()))
"""Verbs of work that takes nothing away."""
_LABEL = re.compile(r"^(?:\[[^\]]*\]\s*|[\w-]+(?:\([^)]*\))?!?:\s+)")
"""What a message of a commit may begin with: `fix(api): `, `[docs] `."""
_MEANS = frozenset("by with through via".split())
_CIRCUMSTANCES = frozenset("at in on before after under during within".split())
"""Prepositions: "by hand" and "on Monday" are two sides of a matter, and both hold."""
_OF = frozenset("of for".split())
_BEFORE_SUBJECTS = _OF.union("that which whose where".split())
_BE = frozenset("is are was were be been gets get".split())
_MANY = word_set("""
    accept accepts allow allows also can cannot contain contains could handle handles include
    includes may might need needs never not offer offers provide provides require requires support
    supports work works
""")
"""Words of sentences that hold of several things at once: `needs redis`, `never print names`."""


def _read_value(raw: list[str], folded: list[str], at: int) -> tuple[list[tuple[str, str]], int]:
    """Return the values that begin at a token, and the number of tokens they take.

    At the ends of both lists stand empty tokens, three and two.
    """
    before, token, after, last = folded[at - 1 : at + 3]
    if joined := SLOTS.get(f"{token}-{after}"):
        return [(kind, f"{token}-{after}") for kind in joined], 2
    if token in SLOTS and (token not in PLAIN_WORDS or (before and raw[at][:1].isupper())):
        called = _name_kind(raw, folded, at)
        return [(kind, token) for kind in (*SLOTS[token], *([called] if called else []))], 1
    if measured := _MEASURE.fullmatch(token):
        kind = _UNITS.get(measured[2])
        return ([(kind, f"{measured[1]} {measured[2]}")], 1) if kind else ([("name", token)], 1)
    if token in _CLOCKS or _CLOCK.fullmatch(token):
        return [("clock", _CLOCKS.get(token, token).zfill(5))], 1
    if token in _NUMBERS or _NUMBER.fullmatch(token):
        return _read_number(raw, folded, at)
    if token in _OFTEN:
        return [("time", f"each {_OFTEN[token]}")], 1
    if token in _TIMES and (after in _ARTICLES or after in ("per", "each", "every")):
        is_often = _UNITS.get(last) == "time"
        return ([("time", f"{_TIMES[token]}each {last}")], 3) if is_often else ([], 1)
    if token in _ARTICLES and _UNITS.get(after) == "time" and before in _SPANS:
        return [("time", f"1 {after}")], 2
    if token in ("each", "every") and after in _TRIGGERS:
        return [("time", f"each {after}")], 2
    if (day := token.removesuffix("s")) in _DAYS:
        return [("date", day)], 1
    if token in _ORDINALS and after in ("of", "day", "working", "business"):
        return [("date", f"{token} {after} {last}".rstrip())], 3
    if token in _MANNERS:
        manner = _MANNERS[token]
        often = [("time", manner)] if manner == BY_HAND else []
        return [("manner", manner), *often], 1
    if _PATH.fullmatch(token):
        return [("path", token)], 1
    if token in MONTHS:
        return [], 1
    if token not in _STOP and (kind := _name_kind(raw, folded, at)):
        return [(kind, token)], 1
    if raw[at].isupper() and len(token) > 2 and token.isalpha():
        return [("acronym", token)], 1
    if "@" in token[1:] or _HOST.fullmatch(raw[at]):
        return [("address", token)], 1
    is_title = raw[at][:1].isupper() and bool(before)
    is_mixed = raw[at][1:] != raw[at][1:].lower() or re.search(r"[a-z]\d|\d[a-z]", token)
    if not raw[at].isupper() and (is_title or is_mixed):
        return [("name", token)], 1
    return [], 1


def _name_kind(raw: list[str], folded: list[str], at: int) -> str:
    """Return the kind of thing that the token names by its neighbours; "" if it is no name."""
    three, two, one, _, after, last = folded[at - 3 : at + 3]
    if after in _CREWS or (after in _THINGS and one not in _THINGS and (last in _STOP or not last)):
        return NAME_OF + after
    if one in _THINGS and (not two or two in _ARTICLES or three in _ARTICLES):
        return NAME_OF + one
    is_called = one in _RUNNERS and raw[at - 1] == one and (not two or two in _CALLED_BY)
    return NAME_OF + one if is_called or (one == "run" and two in _SCRIPTED) else ""


def _read_number(raw: list[str], folded: list[str], at: int) -> tuple[list[tuple[str, str]], int]:
    before, token, after = folded[at - 1 : at + 2]
    amount = _NUMBERS.get(token, token)
    if kind := _UNITS.get(after) or _UNITS.get(after.rstrip("sn")):
        return [(kind, f"{amount} {after.rstrip('s')}")], 2
    if after in MONTHS or before in MONTHS:
        return [("date", f"{amount} {after if after in MONTHS else before}")], 1
    if token in _NUMBERS:
        counts = bool(after) and after not in _STOP
        return ([("number", amount), (f"number {stem(after)}", amount)], 1) if counts else ([], 1)
    if before == "port":
        return [(before, amount), ("number", amount)], 1
    named = raw[at - 1][:1].isupper() and fold(raw[at - 1]) not in _STOP
    if before in SLOTS or before in _VERSIONED or (named and "." in raw[at]):  # `Kubernetes 1.27`
        return [(f"version {stem(before)}", amount)], 1
    if "version" in folded:
        names = [word for word, form in zip(folded, raw, strict=True) if form[:1].isupper()]
        return [(f"version {stem(word)}", amount) for word in names if word not in _STOP], 1
    counted = [(f"number {stem(after)}", amount)] if after and after not in _STOP else []
    return [("number", amount), *counted], 1


def _is_label(raw: list[str], folded: list[str], at: int) -> bool:
    """True for what tells one of several things: `Shard 2`, `HTTP 404`, `worker B`, `v2`."""
    if re.fullmatch(r"v\d+", folded[at]):
        return True
    before = folded[at - 1]
    if before in _STOP or before in SLOTS or before in _VERSIONED or before in MONTHS:
        return False
    if len(raw[at]) == 1 and raw[at].isupper():
        return before.isalpha()
    is_noun = before in _NUMBERED or (before.isalpha() and raw[at - 1][:1].isupper())
    is_number = folded[at].isdecimal() or folded[at] in _NUMBERS
    return is_number and is_noun and before != "port"


def compare_subjects(left: Facts, right: Facts) -> tuple[set[str], set[str], set[str]]:
    """Return the stems of the subject that both have, and those that each has for itself."""
    both = left.stems & right.stems
    names = {stem(name) for facts in (left, right) for name in facts.values.get("name", ())} & both
    mine, theirs = {*left.subject, *names}, {*right.subject, *names}
    return mine & theirs, mine - theirs, theirs - mine


def _find_exchange(left: Facts, right: Facts) -> str:
    """Name the role of the words that are exchanged in one sentence; "" where it is not one."""
    if max(len(left.tokens), len(right.tokens)) > MOST_FRAME_TOKENS:
        return ""
    steps = SequenceMatcher(None, left.tokens, right.tokens, autojunk=False).get_opcodes()
    kept = sum(step[2] - step[1] for step in steps if step[0] == "equal")
    replaced = [
        (set(left.tokens[start:end]), set(right.tokens[since:to]), start, since)
        for kind, start, end, since, to in steps
        if kind == "replace"
        and _is_telling(left, left.tokens[start:end])
        and _is_telling(right, right.tokens[since:to])
    ]
    values = [each for each in replaced if left.parts & each[0] and right.parts & each[1]]
    if kept >= SHORTEST_FRAME and not (left.changes or right.changes):
        measures, others = _measures(left), _measures(right)
        are_measures = {bool(measures & mine and others & its) for mine, its, *_ in values}
        if len(are_measures) > 1:
            return TWO_THINGS
    exchanged = [each for each in replaced if each not in values]
    if not exchanged or kept < SHARED_FRAME * min(len(left.tokens), len(right.tokens)):
        return ""
    places = [place for *_, at, since in exchanged for place in ((left, at), (right, since))]
    if len(replaced) > 1 or any(
        # nothing before says what the text is about, or `of` or `that` leads to the place
        set(facts.subject).isdisjoint(facts.tokens[:at]) or facts.words[at - 1] in _BEFORE_SUBJECTS
        for facts, at in places
    ):
        is_one_sentence = 2 * kept >= max(len(left.tokens), len(right.tokens))
        return SUBJECT if is_one_sentence else ""
    lists = "and" in left.words + right.words
    is_predicate = all(  # which is another side of the subject, and no other value
        facts.words[at - 1] in _BE and facts.words[at].endswith(("ed", "en", "ing"))
        for facts, at in places
    )
    leads = {facts.words[at] for facts, at in places}
    is_other_side = not (leads.isdisjoint(_MEANS) or leads.isdisjoint(_CIRCUMSTANCES))
    has_other_side = lists or is_predicate or is_other_side
    return COMPLEMENT if kept >= SHORTEST_FRAME and not has_other_side else ""


def _measures(facts: Facts) -> set[str]:
    values = (facts.values[kind] for kind in facts.values if kind.partition(" ")[0] in _MEASURES)
    return {part for found in values for value in found for part in _parts(value)}


def _is_telling(facts: Facts, tokens: Sequence[str]) -> bool:
    return any(token in facts.subject or token in facts.parts for token in tokens)


def _number_two_things(left: Facts, right: Facts) -> bool:
    """True for two of several things, each with its own value where one of them changed.

    "Team B owns billing now" is news of what team A owned; "team B deploys on Friday now" is not.
    "Node 3 listens on port 81" and "Node 4 listens on port 82 now" are about two machines; "Node 20
    runs in CI now" has no other value than its version.
    """
    both = left.labels.keys() & right.labels.keys()
    differing = find_differing(left, right)
    changes = left.changes or right.changes
    if any(left.labels[noun] != right.labels[noun] for noun in both) and (differing or not changes):
        return True
    noun = left.words[0] if left.words else ""
    if noun not in _COUNTED or right.words[:1] != (noun,):
        return False
    number = f"version {stem(noun)}"
    are_numbered = all(_NUMBER.fullmatch("".join(one.words[1:2])) for one in (left, right))
    return are_numbered and number in differing and bool(differing - {number, "date"})


def _have_two_owners(left: Facts, right: Facts) -> bool:
    """True if each is about an option or a thing that the other does not name.

    "The timeout of search is 5 s" and "Requests from billing time out after 9 s" both hold.
    """
    if left.option and right.option and left.option != right.option:
        return True
    if not (left.owners or right.owners):
        return False
    mine, theirs = (facts.owners or {*facts.subject[:1]} for facts in (left, right))
    return bool(mine and theirs and mine.isdisjoint(right.stems) and theirs.isdisjoint(left.stems))


def find_differing(left: Facts, right: Facts) -> set[str]:
    both = left.values.keys() & right.values.keys()
    return {kind for kind in both if left.values[kind].isdisjoint(right.values[kind])}


def _stems(text: str) -> set[str]:
    return {stem(fold(token.strip(".-"))) for token in _TOKEN.findall(text)}


def _parts(value: str) -> set[str]:
    return {stem(part) for part in (value, *re.split(r"[\s/-]", value))}


def is_explicit(earlier: str, later: str) -> bool:
    """True if the later text says that something changed, or nothing but its value differs.

    Tasks, teams, queues and the like are named one beside the other: "Run make test before a
    commit" and "Run make lint before a commit" both hold.
    """
    left, right = read(earlier), read(later)
    if right.changes:
        return True
    is_named = any(kind.startswith(NAME_OF) for kind in find_differing(left, right))
    same = set(left.subject) == set(right.subject) and left.values.keys() == right.values.keys()
    return same and not is_named


def find_values(earlier: str, later: str) -> tuple[str, str] | None:
    """Return the values that the texts give for one kind of thing, the most telling kind first."""
    left, right = read(earlier), read(later)
    if not (differing := find_differing(left, right)):
        return None
    kind = min(differing, key=lambda kind: (kind == "name", kind == "number", kind))
    return " ".join(sorted(left.values[kind])), " ".join(sorted(right.values[kind]))


def explain(one: str, other: str) -> str:
    if values := find_values(one, other):
        return " against ".join(sorted(values))
    if turn := find_opposition(one, other):
        return turn
    changes = read(one).changes or read(other).changes
    return "one says that something changed" if changes else "other words"


_FITTED = {
    "bias": (-3.2, -1.0),
    "common": (1.4, 3.6),
    "long": (-4.6, -6.4),
    "head_common": (0.9, 1.3),
    "heads": (-1.9, -2.3),
    "complement_many": (-1.6, -1.5),
    "both_change": (-2.2, -2.1),
    "ended": (1.0, 1.8),
    "differ": (0.6, 0.5),
    "differ_change": (1.6, 1.4),
    "slot": (1.8, 1.4),
    "named": (0.0, 0.4),
    "measure_share": (-0.8, -0.2),
    "name_share": (-1.6, -2.0),
    "cosine": (5.2, 0.0),
}
"""Weights of the features where vectors were compared, and where words alone were.

They are those of a logistic regression.
"""
WEIGHTS, WEIGHTS_OF_WORDS = ({name: pair[at] for name, pair in _FITTED.items()} for at in (0, 1))
