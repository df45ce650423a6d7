"""Redact secrets and private spans before a text is hashed, stored or logged.

TABLE has the credentials of a known form, as their issuers document it. Passwords and keys without
one are found by the sentence around them: "the staging password is …", "api key for stripe: …".
"""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_PRIVATE = "[private]"

_TAG = r"""(?ix) < \s* (?:
    (?P<closing> / ) \s* (?a:private) (?: \s [^<>]* )? >
  | (?a:private) (?:
        [\s/]* >
      | \s [^<>=]* = [^<>]* >?           # attributes, which `<private key>` has not
      | (?: \s [^<>]* )? (?= < | \Z )    # the tag itself was never finished
    )
)"""

_ROUNDS = 5
_WORD_CHARS = 12


class Redacted(Value):
    text: str
    found: tuple[str, ...] = ()


def redact(text: str) -> Redacted:
    """Replace private spans by `[private]` and secrets by `[redacted:<name>]`; idempotent.

    A replacement can join parts of another secret, so this repeats until nothing is found; a text
    that goes on to produce secrets is withheld whole.
    """
    if len(text) <= _WORD_CHARS and text.isalpha():
        return Redacted(text=text)
    found: tuple[str, ...] = ()
    for _ in range(_ROUNDS):
        cleaned, spans = _without_private_spans(text)
        cleaned, secrets = mask(cleaned)
        names = ("private",) * spans + secrets
        if cleaned == text:
            return Redacted(text=text, found=found)
        text, found = cleaned, (*found, *names)
    return Redacted(text=_PRIVATE, found=(*found, "private"))


def _without_private_spans(text: str) -> tuple[str, int]:
    if "<" not in text or "private" not in text.lower():
        return text, 0
    import re

    parts: list[str] = []
    depth = spans = end = 0
    for tag in re.finditer(_TAG, text):
        if depth == 0:
            parts.append(text[end : tag.start()])
        end = tag.end()
        if tag["closing"]:
            depth = max(depth - 1, 0)
            continue
        if depth == 0:
            parts.append(_PRIVATE)
            spans += 1
        depth += 1
    if depth == 0:
        parts.append(text[end:])
    return "".join(parts), spans


_ESCAPE = r"\\(?:u00([2-7][0-9a-fA-F])|(/))|%([2-7][0-9a-fA-F])"

# A key starts where a word does, also behind an escaped line break or a percent-encoded sign.
_EDGE = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
# One with a known prefix may also stand behind a hyphen, as in a branch or a file's name.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"
_END = r"(?![\w-])"
# Only what repeats one sign is possessive: with choices inside, groups fail before Python 3.11.5.
_QUOTE = r"""\\{0,3}["'`]"""
_BARE = r"""[^\s"'`,;<>(){}\[\]|&\\]"""
_IS = rf"(?:{_QUOTE}\]?)?[ \t]*(?::[ \t]*&?\w{{1,12}}[ \t]*=|:=|=>|={{1,3}}|:|>)[ \t]*"
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"

_REFERENCE = (
    r"(?!(?:env|file|fd):|\$[A-Za-z_{(]|%[({s]|[{<\[]|\w+://|arn:|#[0-9a-f]{3,8}(?!\w)"
    r"|[.~]?/[a-z_.-]+[/.]|[a-z_-]{3,}/[a-z]"
    r"|[\w./-]{1,80}\.(?:pem|key|txt|json|ya?ml|env|py|[jt]sx?|md)(?!\w))"
)
_DIGIT = r"""(?=[^\s"'`]{0,99}?\d)"""
_LETTER = r"""(?=[^\s"'`]{0,99}?[a-z])"""
_SYMBOL = r"""(?=[^\s"'`]{0,99}?\w[!@#$%^&*?~+]\w)"""

# What people call things: `api_key_v2`, `OAuth2Token`; chance hardly spells words this long.
_WORDS = (
    r"(?-i:(?:(?:[A-Z]{0,2}+[a-z]{3,}+|[A-Z]?+[a-z]{1,2}+(?![a-z]|[A-Z](?![a-z]{3}))"
    rf"|[A-Z]{{2,}}+(?![a-z]))\d{{0,2}}+[-_.:]*+)+(?!{_BARE}))"
)
OPAQUE = rf"(?!{_WORDS})(?:{_DIGIT}{_LETTER}|(?=[\w-]{{0,40}}?[A-Za-z]{{16}}))"


def _assignment(names: str, quoted: str, bare: str) -> str:
    return (
        rf"(?i)(?:(?<![^\s\"'`(])--?[\w-]{{0,30}}?(?:{names})[ \t]+"
        rf"|(?:{names})(?:_base)?(?:[_-]?(?:prod|production|staging|dev|live|test|\d))?{_IS})"
        rf"(?P<quote>{_QUOTE})?{_REFERENCE}"
        rf"((?(quote){quoted}(?:(?!(?P=quote))(?:\\.|[^\s\\]|\\(?=\s|\Z))){{4,}}"
        # a bare word that goes on as a path, a call or an index is code
        rf"|{bare}(?![a-z_]+\.[a-z_]){_BARE}{{6,}}+(?![(\[{{])))"
        r"(?(quote)(?:(?P=quote)|(?=[\r\n])|\Z))"
    )


_ASSIGNING = frozenset("-:=>")
"""Every match of a pattern with `_IS` has one of these; prose with "token" often has none."""

_PASSWORD = _assignment(
    r"passw(?:or)?d|passphrase|passcode|(?<=[_;-])(?:pwd|pass)",
    quoted=rf"(?:{_DIGIT}|{_SYMBOL})",
    bare=(
        rf"(?!(?-i:[a-z_]*(?:password|passwd|pwd|pass)_?\d?)(?!{_BARE}))"
        rf"(?:{_DIGIT}{_LETTER}|(?=\d{{6}})|{_SYMBOL})"
    ),
)

_SECRET = _assignment(
    r"(?:api|access|secret|auth|encryption|signing|private|account|service|master|shared|admin)"
    r"[_ -]?key|secret|token|credentials?",
    quoted=rf"(?=\S{{8}}){OPAQUE}",
    bare=rf"(?={_BARE}{{8}}){OPAQUE}",
)

_PEM = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"(?=[^-]{0,200}?[A-Za-z0-9+/]{8})[^-]*+(?:-(?!----(?:BEGIN|END) )[^-]*+)*"
    r"-----END (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    # without its end, as far as lines look like base64; the last one may be short
    r"|(?:(?:\\[nr]|\s)+[A-Z][A-Za-z-]+: [^\n\\]*+)*"
    r"(?:(?:\\[nr]|[\s\"',|>#])+[A-Za-z0-9+/=]{16,}+)+"
    r"(?:(?:\\[nr]|\n)\s*+[A-Za-z0-9+/=]+(?=\s*(?:\n|\\n|[\"']|\Z)))?)"
)

_BASE58 = "[1-9A-HJ-NP-Za-km-z]"

# What programs take as a password on their command line: literally, not a variable or a prompt.
_ARGUMENT = r"""(?:'([^'\n]{3,})'|"((?!\$)[^"\n]{3,})"|((?![$<{\[(%*'"`-])[^\s'"`|;&<>()]{3,}))"""


def _login(program: str, flag: str) -> str:
    return rf"\b{program}\s(?:[^|;&\n]{{0,120}}?\s)??{flag}{_ARGUMENT}"


_COMMANDS = (
    ("mysql|mariadb", _login(r"(?:mysql|mariadb)[\w-]*", "-p")),
    ("sshpass", _login("sshpass", r"-p\s*")),
    ("docker login|podman login", _login(r"(?:docker|podman)\s+login", r"(?:-p|--password)[ =]")),
    ("redis-cli", _login("redis-cli", r"-a\s+")),
    ("mongo", _login(r"mongo(?:sh|dump|restore|export|import)?", r"-p\s*")),
    ("ldap", _login(r"ldap\w+", r"-w\s*")),
    ("smbclient|rpcclient", _login(r"(?:smb|rpc)client", r"-U\s*[^\s%]{1,64}%")),
    ("openssl", _login("openssl", r"-pass(?:in|out)?\s+pass:")),
    ("htpasswd", _login("htpasswd", r"-\w*b\w*\s+\S{1,200}\s+\S{1,100}\s+")),
    ("ssh-keygen", _login("ssh-keygen", r"-N\s*")),
    ("zip -p", _login(r"(?:un)?zip", r"-P\s+")),
    ("az login", _login(r"az\s+login", r"-p\s+")),
    ("sudo -s", rf"\becho\s+{_ARGUMENT}\s*\|\s*sudo\s+-S"),
)


def _key(name: str, prefixes: str, rest: str, start: str = "") -> tuple[str, tuple[str, ...], str]:
    literal = prefixes.replace(".", r"\.")
    return name, tuple(prefixes.split("|")), rf"{start}(?:{literal}){rest}"


_PAIR = r"[\w.-]{1,64}="
_VALUE = r"[^\s\"',;]{1,4096}"
_COOKIE = rf"(?=[^\s\"',;]{{16}}){OPAQUE}"

# Name, strings of which one must occur for the pattern to match (lower case: in any case), pattern.
# The secret is the pattern's last group, or all of it; where two overlap, the upper row names it.
TABLE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "gcp-service-account",
        ("private_key",),
        r'"private_key(?:_id)?"\s*:\s*"(-----BEGIN [^"]+|[0-9a-f]{40})',
    ),
    ("private-key", ("PRIVATE KEY-", "PRIVATE KEY BLOCK-"), _PEM),
    _key("putty-key", "Private-Lines:", r" \d+\s+((?:[A-Za-z0-9+/=]{4,}+(?!\S)\s*+)+)"),
    _key("age-secret-key", "AGE-SECRET-KEY-", r"1[A-Z0-9]{50,}"),
    _key("aws-access-key", "AKIA|ASIA|ABIA|ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    (
        "aws-secret-key",
        ("secret",),
        rf"(?i)(?:secret[_ -]?access[_ -]?key|aws[_ -]?secret(?:[_ -]?key)?){_IS}"
        rf"(?:{_QUOTE})?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    (
        "aws-secret-key",
        ("secret access key", "secret_access_key"),
        r"(?i)secret(?: access |_access_)key\s+(?:is:?\s+)?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    _key("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9]{36,}"),
    _key("github-token", "github_pat_", r"[A-Za-z0-9]{22}\w*"),
    _key(
        "gitlab-token", "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-", r"[\w-]{20,}(?:\.[\w-]+)*"
    ),
    _key("slack-token", "xox", r"[a-z][.-](?:xox[bp]-)?(?=[A-Za-z-]{0,40}\d)[A-Za-z0-9-]{20,}"),
    _key("slack-token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    _key("slack-webhook", "hooks.slack.com", r"/(?:services|workflows|triggers)/([\w/+-]{20,})"),
    _key("discord-webhook", "/api/webhooks/", r"(\d{15,}/[\w-]{30,})"),
    _key(
        "discord-token",
        "MT|Mj|Mz|ND|NT|Nj|Nz|OD|OT",
        r"[\w-]{20,26}\.[\w-]{6}\.[\w-]{27,}",
        _START,
    ),
    ("telegram-token", (":A",), r"(?<!\d)\d{6,12}:A[\w-]{32,}"),
    _key("stripe-key", "sk_live_|rk_live_", r"[A-Za-z0-9]{16,}"),
    _key("stripe-key", "sk_test_|rk_test_", r"[A-Za-z0-9]{16,}"),
    _key("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    _key("google-api-key", "AIza", r"[\w-]{35,}"),
    _key("google-oauth", "GOCSPX-", r"[\w-]{24,}"),
    _key("google-oauth", "ya29.", r"[\w.-]{20,}", _START),
    _key("anthropic-key", "sk-ant-", r"[\w-]{20,}"),
    _key("openai-key", "sk-", r"(?:proj|svcacct|admin|or-v1)-[\w-]{20,}"),
    _key("openai-key", "sk-", r"\w{32,}", _START),
    _key("huggingface-token", "hf_", r"[A-Za-z0-9]{30,}"),
    _key("groq-key", "gsk_", r"[A-Za-z0-9]{40,}"),
    _key("xai-key", "xai-", r"[A-Za-z0-9]{60,}"),
    _key("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,}"),
    _key("replicate-token", "r8_", r"[A-Za-z0-9]{37,}", _START),
    _key("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    _key("npm-token", "npm_", r"[A-Za-z0-9]{36,}"),
    _key("pypi-token", "pypi-", r"(?=[A-Za-z_-]{0,40}\d)[\w-]{40,}"),
    _key("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    _key("docker-token", "dckr_", r"[op]at_[\w-]{27,}"),
    _key("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{32,}"),
    _key("brevo-key", "xkeysib-", r"[0-9a-f]{64}-\w{16}"),
    _key("twilio-key", "AC|SK", r"[0-9a-f]{32}" + _END),
    _key("mailgun-key", "key-", r"[0-9a-z]{32}" + _END, _EDGE),
    ("mailchimp-key", ("-us",), _START + r"[0-9a-f]{32}-us\d{1,2}" + _END),
    _key("azure-key", "accountkey=|sharedaccesskey=", r"([A-Za-z0-9+/]{40,}={0,2})", "(?i)"),
    ("azure-sas", ("sig=",), r"(?i)\bsig=([\w%+/-]{30,}=*)"),
    ("azure-client-secret", ("Q~",), _START + r"[\w.~]{3}\dQ~[\w.~-]{31,34}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    _key("heroku-key", "HRKU-", r"[\w-]{36,}"),
    ("heroku-key", ("heroku",), rf"(?i)heroku[\w.-]{{0,30}}?key{_IS}(?:{_QUOTE})?({_UUID})"),
    _key("shopify-token", "shpat_|shpca_|shppa_|shpss_", r"[0-9a-fA-F]{32}"),
    _key("square-token", "sq0", r"[a-z]{3}-[\w-]{22,}"),
    _key("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?" + _END),
    _key("linear-key", "lin_", r"(?:api|oauth)_[A-Za-z0-9]{32,}"),
    _key("notion-token", "ntn_", r"[A-Za-z0-9]{40,}", _START),
    _key("notion-token", "secret_", r"[A-Za-z0-9]{43}" + _END),
    _key("figma-token", "figd_", r"[\w-]{30,}"),
    _key("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}", _START),
    _key("atlassian-token", "ATATT3|ATCTT3", r"[\w=-]{100,}"),
    _key("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _key("grafana-token", "glsa_", r"\w{32,}"),
    _key("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,}={0,2}"),
    _key("newrelic-key", "NRAK-", r"[A-Z0-9]{27}"),
    _key("sentry-token", "sntrys_|sntryu_", r"[\w+/=-]{40,}"),
    _key("sentry-dsn", "://", r"([0-9a-f]{32}(?::[0-9a-f]{32})?)@[\w.-]+/\d"),
    _key("vault-token", "hvs.|hvb.|hvr.", r"[\w-]{24,}", _START),
    ("terraform-token", (".atlasv1.",), _START + r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    _key("pulumi-token", "pul-", r"[0-9a-f]{40}"),
    _key("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,}"),
    _key("onepassword-token", "ops_", r"eyJ[\w=-]{100,}", _START),
    _key("tailscale-key", "tskey-", r"[a-z]+-[\w-]{16,}"),
    _key("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    _key("planetscale-token", "pscale_", r"(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    _key("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    _key("supabase-key", "sb_secret_", r"[\w-]{20,}"),
    _key("netlify-token", "nfp_", r"[A-Za-z0-9]{36,}", _START),
    _key("fly-token", "FlyV1", r" [\w+/=,-]{40,}"),
    ("fly-token", ("fm1", "fm2_", "fo1_"), _START + r"(?:fm1[ar]|fm2|fo1)_[\w+/=-]{40,}"),
    _key("cloudflare-token", "cfk_|cfut_|cfat_", r"[A-Za-z0-9]{40,}", _START),
    _key("cloudflare-token", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{140,}"),
    (
        "cloudflare-token",
        ("cloudflare", "cf_"),
        rf"(?i)(?:cloudflare|cf_)[\w.-]{{0,30}}?(?:key|token){_IS}(?:{_QUOTE})?([\w-]{{37,45}}){_END}",
    ),
    _key("jwt", "eyJ", r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}", _START),
    (
        "url-password",
        ("://",),
        r"""://[^\s:/?#@"'`<>\[\]]*:(?!\d{1,5}[?#/]|\$[A-Za-z_{(]|\{|%[s(]|\*)([^\s/"'`<>]+)@""",
    ),
    (
        "authorization",
        ("authorization",),
        rf"(?i)authorization{_IS}(?:{_QUOTE})?(?:basic[ \t]+(?=[a-z0-9+/]*[0-9=]|(?-i:[a-z]+[A-Z]))"
        r"|(?:(?:bearer|token|digest|api-?key)[ \t]+|(?=[\w.~+/=-]{16}))"
        rf"{OPAQUE})([\w.~+/=-]{{8,}})",
    ),
    ("bearer-token", ("bearer",), rf"(?i)\bbearer[ \t]+{OPAQUE}([\w.~+/=-]{{16,}})"),
    (
        "basic-auth",
        ("auth", "basic "),
        r"""(?i)(?:(?<![a-z])_?auth["']?[ \t]*[:=][ \t]*["']?|\bbasic[ \t]+)"""
        r"([a-z0-9+/]{8,}={0,2})(?![\w+/=-])",
    ),
    (
        "curl-user",
        ("curl",),
        rf"(?<!\S)(?:-u|--user)[ \t=]+[\"']?[^\s:\"'$]{{1,64}}:(?=(?i:{_LETTER}){_DIGIT})"
        r"([^\s\"'$<{]{3,})",
    ),
    _key("kubernetes-key", "client-key-data", r":\s*([A-Za-z0-9+/]{40,}={0,2})"),
    _key(
        "private-key",
        "LS0tLS1CRUdJTi",
        r"(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE)"
        r"[A-Za-z0-9+/\n]{40,}={0,2}",
    ),
    ("jwk", ("kty",), r"\b(?:d|k|p|q|dp|dq|qi)[\"']?\s*:\s*[\"']?([\w-]{20,})"),
    (
        "bitcoin-key",
        ("5H", "5J", "5K", "Kw", "Kx", "Ky", "Kz", "L1", "L2", "L3", "L4", "L5"),
        _START + rf"(?:5[HJK]{_BASE58}{{49}}|(?:K[w-z]|L[1-5]){_BASE58}{{50}})(?![\w+/=])",
    ),
    ("bitcoin-key", ("prv",), rf"[tuxyz]prv{_BASE58}{{100,}}"),
    _key("dynatrace-token", "dt0", r"[a-z]\d\d\.[A-Z0-9]{8,}\.[A-Z0-9]{40,}"),
    ("hubspot-token", ("pat-na1-", "pat-eu1-"), rf"pat-(?:na|eu)1-{_UUID}"),
    _key("sonar-token", "squ_|sqp_|sqa_", r"[0-9a-f]{40}"),
    _key("sonar-token", ".login=", r"([0-9a-f]{40})" + _END),
    (
        "cookie",
        ("cookie",),
        # from the first value that tells nothing to people up to the end of the header
        rf"(?i)cookie[\"']?:[ \t]*(?:{_PAIR}(?:(?!{_COOKIE}){_VALUE})?;[ \t]*){{0,20}}?{_PAIR}"
        rf"({_COOKIE}{_VALUE}(?:;[ \t]*{_PAIR}{_VALUE})*)",
    ),
    (
        "cookie",
        ("jsessionid", "phpsessid", "asp.net_sessionid", "connect.sid", "laravel_session"),
        r"(?i)\b(?:jsessionid|phpsessid|asp\.net_sessionid|connect\.sid|laravel_session)="
        rf"{_COOKIE}({_VALUE})",
    ),
    (
        "pgpass",
        (":5432:", ":*:"),
        r"(?<!\S)[\w.*-]{1,253}:(?:\d{2,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:([^\s:]{3,})(?!\S)",
    ),
    ("secret", ("?key=", "&key="), rf"[?&]key=(?=[\w-]{{20}}){OPAQUE}([\w-]+)"),
    (
        "password",
        ("define(",),
        r"define\(\s*['\"]\w*(?:PASSWORD|SECRET|TOKEN|KEY|SALT)['\"]\s*,\s*"
        rf"['\"](?:{_DIGIT}|{_SYMBOL})([^'\"\n]{{6,}})['\"]",
    ),
    (
        "password",
        ("value=",),
        r"(?i)(?:password|passwd|pwd|secret|token|api[_-]?key)[\"']\s+value\s*=\s*"
        rf"[\"'](?:{_DIGIT}|{_SYMBOL})(?![$\[{{<%])([^\"'\n]{{5,}})[\"']",
    ),
    (
        "password",
        ("creds", "credentials", "login is", "login:"),
        r"(?i)\b(?:creds|credentials|login)(?: (?:for|of|on|to)(?: [\w.-]{1,30}){1,4})?"
        rf"(?: are| is|:)\s+[\w.@+-]{{2,60}} ?[:/] ?(?!/)(?:{_DIGIT}{_LETTER}|{_SYMBOL})"
        rf"(?![\w.-]+[/(])({_BARE}{{5,}})",
    ),
    *(("password", tuple(hints.split("|")), pattern) for hints, pattern in _COMMANDS),
    (
        "netrc",
        ("login",),
        r"(?:\bmachine\s+(?:localhost|[\w-]{1,63}\.[\w.-]{1,255})|(?m:^)default)"
        r"\s+login\s+\S{1,255}\s+password\s+(\S+)",
    ),
    ("password", ("passw", "passphrase", "passcode", "pwd", "_pass", "-pass"), _PASSWORD),
    ("secret", ("secret", "token", "credential", "key"), _SECRET),
)

_RANKS = {name: rank for rank, (name, _, _) in enumerate(TABLE)}
_HINTS = frozenset([hint for _, hints, _ in TABLE for hint in hints])
# Judged by the first word, so that a private key stays one whatever is written inside.
_PLACEHOLDER = (
    r"(?i)\S*?(?:x{6}|\bx{3,}\b|\*{3}|\.{3}|…|redacted:|placeholder|change[-_]?me"
    r"|\byour|[-_]your|[-_]here\b|\b(?:example|replace|dummy)[-_]|[-_]example\b"
    r"|(?-i:EXAMPLE)(?:KEY)?\b)"
)


def match_hints(text: str) -> Iterator[tuple[int, str, str]]:
    written = f"{text}\n{text.lower()}"
    found = {hint for hint in _HINTS if hint in written}
    for rank, (name, hints, pattern) in enumerate(TABLE if found else ()):
        if found.isdisjoint(hints):
            continue
        if _IS not in pattern or not _ASSIGNING.isdisjoint(text):
            yield rank, name, pattern


def mask(text: str) -> tuple[str, tuple[str, ...]]:
    spans = list(_spans_in(text))
    if unescaped := unescape(text):
        plain, places = unescaped
        spans += [(places[start], places[end], rank) for start, end, rank in _spans_in(plain)]
    merged: list[tuple[int, int, int]] = []
    for start, end, rank in sorted(spans):
        if merged and start < merged[-1][1]:
            first, last, upper = merged.pop()
            start, end, rank = first, max(last, end), min(upper, rank)
        merged.append((start, end, rank))
    parts: list[str] = []
    names: list[str] = []
    end = 0
    for start, stop, rank in merged:
        names.append(TABLE[rank][0])
        parts += text[end:start], f"[redacted:{names[-1]}]"
        end = stop
    return "".join(parts) + text[end:], tuple(names)


def _spans_in(text: str) -> Iterator[tuple[int, int, int]]:
    for rank, name, pattern in match_hints(text):
        import re

        for match in re.finditer(pattern, text, re.ASCII):
            secret = match.lastindex or 0
            if re.match(_PLACEHOLDER, match[secret]):
                continue
            if name != "basic-auth" or is_basic(match[secret]):
                yield *match.span(secret), rank
    for start, end, name in sentence_spans(text):
        import re

        if not re.match(_PLACEHOLDER, text[start:end]):
            yield start, end, _RANKS[name]


def unescape(text: str) -> tuple[str, list[int]] | None:
    """Decode escapes of JSON and URLs, save quotes and line breaks; with places in *text*."""
    if "%" not in text and "\\u00" not in text and "\\/" not in text:
        return None
    import re

    escapes = list(re.finditer(_ESCAPE, text))
    if not escapes:
        return None
    plain: list[str] = []
    places: list[int] = []
    end = 0
    for escape in escapes:
        code = escape[1] or escape[3]
        plain += text[end : escape.start()], chr(int(code, 16)) if code else "/"
        places += [*range(end, escape.start()), escape.start()]
        end = escape.end()
    plain.append(text[end:])
    places += range(end, len(text) + 1)
    return "".join(plain), places


def is_basic(encoded: str) -> bool:
    from binascii import Error, a2b_base64

    try:
        user, colon, password = a2b_base64(encoded).partition(b":")
    except Error:
        return False
    return bool(colon and user and password) and (user + password).decode("latin-1").isprintable()


PASSWORD_HINTS = ("pass", "kennwort", "contrase", "senha", "pw ", "pw:", "pwd", "wachtwoord")
PIN_HINTS = ("pin ", "pin:")
SECRET_HINTS = ("key", "token", "secret", "seed", "clave")
OTHER_PASSWORD_HINTS = ("hasło", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호")
OTHER_SECRET_HINTS = ("schlüssel", "clé", "密钥", "令牌")

NAME_CHARS = 24
"""Longest part of a name before its hint."""
WINDOW_CHARS = 160
"""Characters after a name in which its secret begins."""
OPAQUE_CHARS = 16
"""Shortest secret after "token" or "key"."""
PHRASE_CHARS = 100
_PASSWORDS = (
    r"passwor[dt]|passphrase|passcode|kennwort|mot\ de\ passe|contrase[ñn]a|senha|wachtwoord"
    r"|hasło|пароль|密码|密碼|口令|パスワード|비밀번호|\bpwd?\b|\bpin\b|\bpass(?=[ :])"
)
_SECRETS = (
    r"(?:api|access|secret|auth|encryption|signing|private|account|service|master|shared|admin"
    r"|deploy|license|webhook|application|app|subscription|wallet)[ -]?key"
    r"|token|secret|seed|schlüssel|clé|clave|密钥|令牌"
)
_BE = r"(?:is|was|are|ist|lautet|hei(?:ß|ss)t|es|est|era|é|è|to|auf|à|from|von)"
_NAMED = rf"""(?ix)
(?: (?P<password> {_PASSWORDS} ) | (?P<secret> {_SECRETS} ) )
(?: (?P<about> (?: [ ] (?!{_BE}[ :])[^\W\d_][\w'’-]{{0,20}} ){{0,6}}? )
    (?P<link> [ ](?:was|is|has\ been|gets)[ ](?:changed|set|reset|rotated)[ ]to:?[ ]
        | ["'`]?[ ]?[:：=][ ]? | [ ][—–-][ ] | [ ]?(?:是|为|為|は|는|은)[ :：]? | [ ]{_BE}:?[ ] )
|   (?P<direct> [ ] ) )
"""
"""The value begins at the end of the match."""

_IS_SIGNS = (" is", " was ", " are ", " ist ", " lautet", " es ", " est ", " era ", " é ", " è ")
_SIGNS = (*_IS_SIGNS, " to ", " auf ", " à ", " heißt ", '"', "'", "`", "„", "“", "«", "：")

_DIGITS = frozenset("0123456789")
_QUOTES = {'"': '"', "'": "'", "`": "`", "„": "“”", "“": "”", "«": "»", "‘": "’", "「": "」"}
_VALUE_WORD = r"[^\s，。；、！？）」』“”»\u3040-\u30ff\u4e00-\u9fff]{4,200}"
_LEADING_IN = (
    r"(?i)(?:.*\b(?:with|using|use|mit|avec|con|com|user|login|username)\b|.*/)[^.!?\n]{0,40}\Z"
)

_NO_LITERAL = (
    r"[$<\[{(%&*]|--?[a-z]|(?:env|file|fd):|\w+://|[\w.:-]+[(\[{]|[A-Za-z_-]+\d?(?:\.[A-Za-z_-]+\d?)+\Z"
    r"|[.~]?/|[\w.-]+/[\w./-]+\Z"
)
_TECHNICAL = (
    r"(?i)(?:v?\d[\d.,:xk%-]*[a-z]{0,3}|\d{1,4}-\w{1,6}|1password|keepass\w*|(?:argon|pbkdf)\d\w*"
    r"|(?:sha|md|aes|rsa|oauth|utf|base|[ehpr]s|ed|python|ipv|http|tls|web)-?\d{1,4}\w{0,2}(?:-\w+)*"
    r"|[a-z]+(?:_[a-z]+)*_(?:v?\d|[a-z]+\d?))\Z"
)
_ENDS_SENTENCE = r"[.!,;)\"'”]*(?:\s*\Z|\s*\n|[.!,;)\"'”]\s)"
_DESCRIBING = (
    r"(?i)(?:\w*(?:ed|en|ing|ble|al|ive|ous|ory|ary|ful|less|ent|ant|ic|id|ly|ete|ect|ord|ise|ext"
    r"|ase|ique|ault|ame|ers|own|ull|ure|yet|one|ity|ack|ion)"
    r"|wrong|needed|secret|longer|shorter|stronger|weaker|better|different|missing|unset|stale|enough|empty|weak|legacy|mandatory"
    r"|nothing|anything|something|somewhere|nowhere|always|random|there|again|anyway|below|above"
    r"|outside|inside|elsewhere|trivial|compromised|guessable|nonsense|useless)\Z"
)
_MESSAGE = (
    r"(?i)\b(?:must|should|please|enter|required|invalid|characters?|least|wrong|incorrect|forgot"
    r"|your|cannot|can't|not|field|reset|is|are|was|has to|passwor\w*|kennwort|contraseña|senha"
    r"|muss|darf|bitte|zeichen|falsch|doit|caractères|debe|caracteres|confirm|new|current|show"
    r"|hide|change|login|sign|user|username|auth\w*|of|for|from|with)\b|[?…]|\.\.\.|[.!]\Z"
)


def sentence_spans(text: str) -> Iterator[tuple[int, int, str]]:
    regions: list[tuple[int, int]] = []
    for at in sorted(_places(text.lower())):
        start, end = max(0, at - NAME_CHARS), at + WINDOW_CHARS
        if regions and start <= regions[-1][1]:
            start = regions.pop()[0]
        regions.append((start, end))
    if not regions:
        return
    import re

    pattern = re.compile(_NAMED)
    for start, end in regions:
        for named in pattern.finditer(text, start, end):
            found = _password(named, text) if named["password"] else _opaque(named, text)
            if found:
                yield *found, "password" if named["password"] else "secret"


def _places(lowered: str) -> Iterator[int]:
    passwords: tuple[str, ...] = PASSWORD_HINTS
    secrets: tuple[str, ...] = SECRET_HINTS
    if not lowered.isascii():
        passwords, secrets = passwords + OTHER_PASSWORD_HINTS, secrets + OTHER_SECRET_HINTS
    for hints, is_followed in (
        (passwords, lambda text: _has_digit(text) or any(sign in text for sign in _SIGNS)),
        (PIN_HINTS, lambda text: _has_digit(text[:60])),
        (secrets, _has_opaque),
    ):
        for hint in hints:
            at = lowered.find(hint)
            while at >= 0:
                at += len(hint)
                if is_followed(lowered[at : at + WINDOW_CHARS]):
                    yield at
                at = lowered.find(hint, at)


def _has_digit(text: str) -> bool:
    return not _DIGITS.isdisjoint(text)


def _has_opaque(window: str) -> bool:
    return _has_digit(window) and any(
        len(word) >= OPAQUE_CHARS and _has_digit(word) for word in window.split()
    )


def _opaque(named: re.Match[str], text: str) -> tuple[int, int] | None:
    import re

    found = re.compile(
        rf"""["'`„“«]?({OPAQUE}[\w+/=~.-]{{{OPAQUE_CHARS},}})""", re.ASCII | re.I
    ).match(text, named.end())
    if not found or re.match(_NO_LITERAL, found[1]) or found[1].count("/") > 3:
        return None
    return found.start(1), found.start(1) + len(found[1].rstrip("."))


def _password(named: re.Match[str], text: str) -> tuple[int, int] | None:
    import re

    at = named.end()
    closing = _QUOTES.get(text[at : at + 1])
    if closing:
        return _find_quoted(named, text, at + 1, closing)
    word = re.compile(_VALUE_WORD).match(text, at)
    if not word:
        return None
    value = word[0].rstrip(".,;:)\"'`")
    if named["link"] == "=":
        value = re.split("[;&,]", value)[0]
    span = at, at + len(value)
    if named["password"].lower() == "pin":
        return span if re.fullmatch(r"\d{4,12}", value) else None
    if re.match(_NO_LITERAL, value) or re.match(_TECHNICAL, value):
        return None
    if named["direct"]:  # "with password …": the words before make the next one its value
        before = text[max(0, named.start() - 60) : named.start()]
        return span if _is_strong(value) and re.match(_LEADING_IN, before, re.S) else None
    if _is_strong(value) or re.fullmatch(r"\d{6,12}", value):
        # `password: …` is for the table of patterns.
        is_assigned = not named["about"] and named["link"].strip() in (":", "=")
        name = named["password"].lower()
        return None if is_assigned and name in ("password", "passphrase", "passcode") else span
    is_named = named["link"].strip().lower() in ("is", "is:", "was")
    is_named = is_named and named["password"].lower().startswith("pass")
    return span if is_named and _is_stated_word(value, text, span[1]) else None


def _is_stated_word(value: str, text: str, end: int) -> bool:
    """Tell whether a plain word, at the end of its sentence, is stated rather than described."""
    import re

    is_word = value.isascii() and value.isalpha() and len(value) >= 6
    if not is_word or re.match(_DESCRIBING, value):
        return False
    return re.compile(_ENDS_SENTENCE).match(text, end) is not None


def _find_quoted(
    named: re.Match[str], text: str, start: int, closing: str
) -> tuple[int, int] | None:
    """Find a quoted phrase, unless it is a message or a name in code."""
    import re

    line = text[start : start + PHRASE_CHARS].partition("\n")[0]
    ends = [end for sign in closing if (end := line.find(sign)) >= 0]
    if not ends:
        return None
    phrase = line[: min(ends)]
    value = phrase.strip()
    if len(value.split()) > 1:
        if not _is_passphrase(value):
            return None
    elif not _is_strong(value) or re.match(_NO_LITERAL, value) or re.match(_TECHNICAL, value):
        return None
    start += phrase.index(value) if value else 0
    return start, start + len(value)


def _is_passphrase(value: str) -> bool:
    """Tell whether several quoted words were chosen as a secret, and are no message."""
    import re

    words = value.split()
    chosen = len(words) > 2 or _is_strong(value.replace(" ", ""))
    lowercase = value[:1].islower() or all(word[:1].isupper() for word in words)
    return chosen and lowercase and not re.search(_MESSAGE, value)


def _is_strong(value: str) -> bool:
    letter = any(sign.isalpha() for sign in value)
    digit = any(sign.isdigit() for sign in value)
    sign = any(each in "!@#$%^&*?~+" for each in value[1:-1])
    return len(value) >= 5 and letter and (digit or sign)
