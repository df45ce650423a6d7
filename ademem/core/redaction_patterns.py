"""Patterns of credentials: TABLE has those of a known form, as their issuers document it, and those
behind a name in configuration, code and command lines.
"""

from __future__ import annotations

FOREIGN_PASSWORDS = (
    r"kennwort|mot_?de_?passe|mdp|contrase[nñ]a|senha|palavra_?passe|wachtwoord|has[lł]o|parol[ae]?"
    r"|пароль|密码|密碼|口令|パスワード|비밀번호"
)
FOREIGN_KEYS = r"(?:clave|chave|chiave|llave|klucz|sleutel|schlüssel|ключ)(?:[_-]\w{1,12})?"

# A key starts where a word does, also behind an escaped line break or a percent-encoded sign.
_EDGE = r"(?:(?<![\w-])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{2}))"


# One with a known prefix may also stand behind a hyphen, as in a branch or a file's name.
def _start(literal: str = "") -> str:
    """Return a pattern of such a place, in front of a literal that was read."""
    signs = (r"(?<![A-Za-z0-9]", r"(?<=\\[nrt]", "(?<=%[0-9A-Fa-f]{2}")
    return f"(?:{'|'.join(f'{sign}{literal})' for sign in signs)})"


_START = _start()
_END = r"(?![\w-])"
# Only what repeats one sign is possessive: with choices inside, groups fail before Python 3.11.5.
_QUOTE = r"""\\{0,3}["'`]"""
_BARE = r"""[^\s"'`,;<>(){}\[\]|&\\]"""
_TYPE = r":[ \t]*[&'\w][\w.<>\[\]|?' ]{0,30}?="
# a value alone on the line below its name, as YAML and people write it
_BELOW = (
    r"""(?:[ \t]*[|>]?[+-]?[ \t]*\n[ \t]*(?!\S+:\s)(?=["']?[^\s"']{5,}["']?[ \t]*(?:\n|\Z)))?"""
)
IS = (
    rf"(?:{_QUOTE}\]?)?[ \t]*(?:{_TYPE}|:=|=>|={{1,3}}|(?:\|\||\?\??)=|!==?(?=[ \t]*[\"'])"
    rf"|:{_BELOW}|>)[ \t]*"
)
_UUID = r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"

_REFERENCE = (
    r"(?!(?:env|file|fd|vault):|pk_(?:test|live)_|\$[A-Za-z_{(]|%[({s]|[{<\[]|(?<=>)@|\w+://|arn:"
    r"|#[0-9a-f]{3,8}(?!\w)"
    # the id of a key, as git and OpenPGP write it, and an address of Ethereum
    r"|(?:0[xX](?:[0-9a-fA-F]{8}|[0-9a-fA-F]{16}|[0-9a-fA-F]{40})|(?-i:[0-9A-F]{16}|[0-9A-F]{40}))(?!\w)"
    r"|[.~]?/[a-z_.-]+[/.]|[a-z_-]{3,}/[a-z]"
    r"|[\w./-]{1,80}\.(?:pem|key|txt|json|ya?ml|env|py|[jt]sx?|md)(?!\w))"
)
_DIGIT = r"""(?=[^\s"'`]{0,99}?\d)"""
_LETTER = r"""(?=[^\s"'`]{0,99}?[a-z])"""
_SYMBOL = r"""(?=[^\s"'`]{0,99}?\w[!@#$%^&*?~+]\w)"""

# What people call things: `api_key_v2`, `OAuth2Token`; chance hardly spells words this long.
_WORDS = (
    r"(?-i:(?!(?:[^\W\d]+\d+){3})(?!(?=[A-Z]*\d)[A-Z2-7]{16,}(?!\w))(?:(?:[A-Z]{0,2}+[a-z]{3,}+|[A-Z]?+[a-z]{1,2}+(?![a-z]|[A-Z](?![a-z]{3}))"
    rf"|[A-Z]{{2,}}+(?![a-z]))\d{{0,2}}+[-_.:]*+)+(?!{_BARE}))"
)
OPAQUE = rf"(?!{_WORDS})(?:{_DIGIT}{_LETTER}|(?=[\w-]{{0,40}}?[A-Za-z]{{16}}))"


def _assignment(names: str, quoted: str, bare: str) -> str:
    return (
        rf"(?i)(?:(?<![^\s\"'`(])--?[\w-]{{0,30}}?(?:{names})[ \t]+"
        rf"|(?:{names})(?:_base)?(?:[_-]?(?:prod|production|staging|dev|live|test|\d))?{IS})"
        rf"(?:[bBrR]{{1,2}}(?=[\"']))?(?P<quote>{_QUOTE})?{_REFERENCE}"
        rf"((?(quote){quoted}(?:(?!(?P=quote))(?:\\.|[^\s\\]|\\(?=\s|\Z))){{4,}}"
        # a bare word that goes on as a path, a call or an index is code
        rf"|{bare}(?![a-z_]+\.[a-z_]){_BARE}{{6,}}+(?![(\[{{])"
        r"(?:[&|][^\s\"'=]+(?=[ \t]*(?:\n|\Z)))?))"
        r"(?(quote)(?:(?P=quote)|(?=[\r\n])|\Z))"
    )


# A value of letters in both cases, which no name in code is written like.
_MIXED = r"(?=[\w/+=-]{10})(?=\w{0,40}?(?-i:[a-z][A-Z]))(?=\w{0,40}?(?-i:[A-Z]{2}))"
_MIXED = rf"(?!{_WORDS}){_MIXED}"

_CHANCE = r"(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])(?=(?:[A-Za-z]*\d){3})"
_OTHERWISE = r"[ \t]*(?:,|\|\||\?\?|\bor\b|\.?unwrap_or\w*\([^\"'\n]{0,20})[ \t]*"
_NAMES = r"passw|passphrase|_pass|pwd|_pw\b|secret|token|api_?key|private_?key|psk"

_PASSWORD = _assignment(
    rf"passw(?:or)?d|pass_?phrase|passcode|passwort|{FOREIGN_PASSWORDS}"
    r"|(?<![a-z])psk|(?<=[_;-])(?:pwd?|pass)|(?-i:(?<=[a-z])(?:Pwd|Pass))"
    r"|(?<![a-z-])pass(?=[\"']|=(?!=)|[ \t]*(?:[!=]==?|:=?)[ \t]*[\"'])",
    quoted=rf"(?:{_DIGIT}|{_SYMBOL}|{_MIXED})",
    bare=(
        rf"(?!(?-i:[a-z_]*(?:password|passwd|pwd|pass)_?\d?)(?!{_BARE}))"
        rf"(?:{_DIGIT}{_LETTER}|(?=\d{{6}})|{_SYMBOL}|{_MIXED})"
    ),
)

_KEYS = (
    r"(?:api|access|secret|auth|encryption|signing|private|account|service|master|shared|admin"
    r"|app|client|session|hmac|jwt|license|deploy)[_. -]?key"
)

_SECRET = _assignment(
    rf"{_KEYS}|secret|(?<!publickey)token|credentials?|{FOREIGN_KEYS}",
    quoted=rf"(?=\S{{8}}){OPAQUE}",
    bare=rf"(?={_BARE}{{8}}){OPAQUE}",
)

# What DER of a private key begins with in base64: a sequence with the version 0 or 1.
_KEY_BODY = (
    r"(?:MII[A-P][A-Za-z0-9+/](?:[AQgw]IBA|[DTjz][A-Za-z]{2}BgkqhkiG9w0BBQ)"
    r"|MI[GH][A-Za-z0-9+/]AgE[AB]|MHcCAQEE|MC4CAQAw|b3BlbnNzaC1rZXktdjEA)"
    r"(?:(?:\\[nr]|[\s\"',|>#])*[A-Za-z0-9+/=]{16,}+)+"
    r"(?:(?:\\[nr]|\n)\s*+[A-Za-z0-9+/=]+(?=\s*(?:\n|\\n|[\"']|\Z)))?"
)

_PEM = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"(?=[^-]{0,200}?[A-Za-z0-9+/]{16})[^-]*+(?:-(?!----(?:BEGIN|END) )[^-]*+)*"
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


# `vault kv put secret/x user=a pass=b`: from the first value that is no word up to the last one
_PAIRS = (
    r"\b(?:kv\s+put|vault\s+write|secrets?[ :]set|config:set)\s[^|;&\n]{0,120}?[\w.-]=[\"']?"
    r"(?![$<@])(?=[^\s\"']*[\d!#$%^&*?~+])([^\s\"']{6,}(?:[\"']?[ \t]+[\w.-]+=[\"']?[^\s\"']+)*)"
)

_COMMANDS = (
    ("mysql|mariadb", _login(r"(?:mysql|mariadb)[\w-]*", "-p")),
    ("docker login|podman login", _login(r"(?:docker|podman)\s+login", r"(?:-p|--password)[ =]")),
    ("sshpass", _login("sshpass", r"-p\s*")),
    (
        "convertto-securestring",
        r"(?i)\bConvertTo-SecureString(?=[^\n]*-AsPlainText)\s+(?:-String\s+)?" + _ARGUMENT,
    ),
    ("openssl", _login("openssl", r"(?:-pass(?:in|out)?\s+pass:|(?<=\s)-k\s+)")),
    (
        "password-command|passphrase-command",
        rf"--pass(?:word|phrase)-command[ =][\"']?(?:echo|printf)\s+{_ARGUMENT}",
    ),
    (  # the user of a server, then the password
        "ftp|smtp|imap|ldap|connect|ssh",
        r"(?i)\([\"'](?:\w{2,8}://)?[\w-]{1,63}(?:[.:][\w-]{1,63}){1,6}[\"'],\s*(?:\d{1,5},\s*)?"
        r"[\"'][^\"'\n]{1,64}[\"'],\s*[\"'](?=[^\"'\n]*[\d!#$%^&*?~+;])([^\"'\s]{6,})[\"']",
    ),
    ("redis-cli", _login("redis-cli", r"-a\s+")),
    ("ldap", _login(r"ldap\w+", r"-w\s*")),
    ("smbclient|rpcclient", _login(r"(?:smb|rpc)client", r"-U\s*[^\s%]{1,64}%")),
    ("htpasswd", _login("htpasswd", r"-\w*b\w*\s+\S{1,200}\s+\S{1,100}\s+")),
    ("ssh-keygen", _login("ssh-keygen", r"-[NP]\s*")),
    ("zip ", _login(r"(?:un)?zip", r"-P\s+")),
    ("7z|rar", _login(r"(?:7z[ar]?|rar)", r"-h?p")),
    ("mosquitto|ipmitool|sqlcmd|bcp", _login(r"(?:mosquitto_\w+|ipmitool|sqlcmd|bcp)", r"-P\s*")),
    ("clickhouse|gpg|svn", _login(r"(?:clickhouse[\w-]*|gpg2?|svn)", r"--pass(?:word|phrase)[ =]")),
    (
        "keytool|jarsigner",
        _login(r"(?:keytool|jarsigner)", r"-(?:store|key)pass(?:\s+|:(?!env\b|file\b))"),
    ),
    ("xfreerdp|cmdkey", _login(r"(?:xfreerdp|cmdkey)", r"/p(?:ass)?:")),
    ("lftp", _login("lftp", r"-u\s+[^\s,]{1,64},")),
    ("wpa_passphrase", _login("wpa_passphrase", r"(?:\"[^\"]{1,32}\"|\S{1,32})\s+")),
    (
        "vault login",
        rf"\bvault\s+login\s+(?:-\S+\s+)*(?:token=|(?=\S*[\d.A-Z])(?![\w-]+=)){_ARGUMENT}",
    ),
    ("net use ", _login(r"net\s+use", r"(?:/user:|\S{0,3}\s*\\\\)\S{1,80}\s+(?!/)")),
    ("net user", _login(r"net\s+user", r"\S{1,80}\s+(?![/\\])")),
    ("gh secret", _login(r"gh\s+secret\s+set", r"(?:--body|-b)[ =]")),
    (
        "put-parameter|keyvault secret",
        _login(r"(?:put-parameter|keyvault\s+secret)", r"--value[ =]"),
    ),
    (
        "chpasswd",
        r"\becho\s+(?:-\w\s+)?[\"']?[\w.-]{1,32}:([^\s\"']{3,})[\"']?\s*\|[^|\n]{0,40}chpasswd",
    ),
    (
        "--password-stdin",
        rf"\b(?:echo|printf)\s+(?:-\w+\s+)?{_ARGUMENT}\s*\|[^|\n]{{0,80}}--password-stdin",
    ),
    (
        "secret create|secret set",
        rf"\b(?:echo|printf)\s+(?:-\w+\s+)?{_ARGUMENT}\s*\|[^|\n]{{0,40}}secret\s",
    ),
    (  # of Kubernetes, from the first value that is no word up to the last one
        "secret generic",
        r"\bsecret generic\s[^|;\n]{0,200}?--from-literal[= ][\"']?[\w.-]+=(?![$<{])"
        r"(?=[^\s\"']*[\d!#%^&*?~+])([^\s\"']{6,}(?:[\"']?\s+--from-literal[= ]\S+)*)",
    ),
    ("kv put|vault write|secrets set|config:set|secrets:set", _PAIRS),
    (  # a here-string, for a command that reads nothing but a key, or an option that reads it
        "<<<",
        r"(?:\b(?:cryptsetup|kinit|\w{0,8}passwd|secret-tool)\b|\blogin\s|\bsecrets?\s|-S\s"
        rf"|stdin\b|-fd[ =]0|fd:0|--key-file[ =]-)[^|;&<\n]{{0,120}}<<<[ \t]*{_ARGUMENT}",
    ),
    (
        "cryptsetup|kinit",
        rf"\b(?:echo|printf)\s+(?:-\w+\s+)?{_ARGUMENT}\s*\|[^|\n]{{0,40}}\b(?:cryptsetup|kinit)\b",
    ),
    ("identified by", r"(?i)\bidentified\s+(?:with\s+\S+\s+)?by\s+(?:password\s+)?'([^'\n]+)'"),
    ("az login", _login(r"az\s+login", r"-p\s+")),
    ("sudo -s", rf"\becho\s+{_ARGUMENT}\s*\|\s*sudo\s+-S"),
)


def _key(name: str, prefixes: str, rest: str, start: str = "") -> tuple[str, tuple[str, ...], str]:
    named = tuple(prefixes.split("|"))
    literal = "(?:" + prefixes.replace(".", r"\.") + ")"
    if start == _START and len(set(map(len, named))) == 1:  # `re` skips to a literal, not behind
        start, literal = "", literal + _start(literal)
    return name, named, f"{start}{literal}{rest}"


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
    _key("aws-access-key", "AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key(
        "aws-access-key",
        "ASIA|ABIA|ACCA",
        r"(?:(?=[A-Z]*\d)|(?<=[=:\"'][A-Z]{4}))[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    (
        "aws-secret-key",
        ("secret",),
        rf"(?i)(?:secret[_ -]?access[_ -]?key|aws[_ -]?secret(?:[_ -]?key)?){IS}"
        rf"(?:{_QUOTE})?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    (
        "aws-secret-key",
        ("secret access key", "secret_access_key"),
        r"(?i)secret(?: access |_access_)key\s+(?:is:?\s+)?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
    ),
    (  # the second half of a pair, beside the first
        "aws-secret-key",
        ("AKIA", "ASIA"),
        r"(?:AKIA|ASIA)[A-Z0-9]{16}\b\s{0,4}[^\n]{0,40}?(?<![\w/+])([A-Za-z0-9/+]{40})(?![\w/+=])",
    ),
    (
        "aws-session-token",
        ("IQoJb3JpZ2lu", "FwoGZXIvYXdz"),
        r"(?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[\w/+=-]{80,}",
    ),
    _key("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{60,}=*", _START),
    _key("github-token", "ghp_|gho_|ghu_|ghs_|ghr_", r"[A-Za-z0-9]{36,}"),
    _key("github-token", "github_pat_", r"[A-Za-z0-9]{22}\w*"),
    _key(
        "gitlab-token",
        "glpat-|gldt-|glrt-|glcbt-|glptt-|glft-|glsoat-|glagent-|glimt-|gloas-",
        r"[\w-]{16,}(?:\.[\w-]+)*",
    ),
    _key("gitlab-token", "GR1348941", r"[\w-]{20,}"),
    _key("bitbucket-token", "ATBB", r"[A-Za-z0-9]{32}", _START),
    _key("slack-token", "xox", r"[a-z][.-](?:xox[bp]-)?(?=[A-Za-z-]{0,40}\d)[A-Za-z0-9-]{20,}"),
    _key("slack-token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    _key("slack-webhook", "hooks.slack.com", r"/(?:services|workflows|triggers)/([\w/+-]{20,})"),
    _key("slack-webhook", "/services/T", r"[A-Z0-9]{8,}/B[A-Z0-9]{8,}/([A-Za-z0-9]{20,})"),
    _key("discord-webhook", "/api/webhooks/", r"(\d{15,}/[\w-]{30,})"),
    _key(
        "discord-token",
        "MT|Mj|Mz|ND|NT|Nj|Nz|OD|OT",
        r"[\w-]{20,26}\.[\w-]{6,7}\.[\w-]{27,}",
        _START,
    ),
    ("telegram-token", (":A",), r"(?<!\d)\d{6,12}:A(?:A[\w-]{28,}|[\w-]{32,})"),
    ("deepl-key", (":fx",), _UUID + r":fx\b"),
    _key("stripe-key", "sk_live_|rk_live_", r"[A-Za-z0-9]{16,}"),
    _key("stripe-key", "sk_test_|rk_test_", r"[A-Za-z0-9]{16,}"),
    _key("stripe-webhook-secret", "whsec_", r"[A-Za-z0-9+/]{24,}=*"),
    _key("google-api-key", "AIza", r"[\w-]{35,}"),
    _key("google-oauth", "GOCSPX-", r"[\w-]{24,}"),
    _key("google-oauth", "ya29.", r"[\w.-]{20,}", _START),
    _key("google-oauth", "1//0", r"[\w-]{30,}", _START),
    _key("google-hmac-key", "GOOG1E", r"[A-Z0-9]{55}"),
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
    _key("twilio-key", "SK", r"[0-9a-f]{32}" + _END),
    _key("twilio-key", "AC|SK", r"[0-9a-f]{32}\b[^\n]{0,40}?(?<![\w/-])([0-9a-f]{32})" + _END),
    _key("mailgun-key", "key-", r"[0-9a-z]{32}" + _END, _EDGE),
    (
        "mailchimp-key",
        ("-us",),
        rf"[0-9a-f]{_start('[0-9a-f]')}[0-9a-f]{{31}}-us\d{{1,2}}{_END}",
    ),
    _key("azure-key", "accountkey=|sharedaccesskey=", r"([A-Za-z0-9+/]{40,}={0,2})", "(?i)"),
    ("azure-sas", ("sig=",), r"(?i)\bsig=([\w%+/-]{30,}=*)"),
    ("azure-client-secret", ("Q~",), _START + r"[\w.~]{3}\dQ~[\w.~-]{24,34}"),
    ("digitalocean-token", ("_v1_",), r"do[opr]_v1_[0-9a-f]{64}"),
    _key("heroku-key", "HRKU-", r"[\w-]{36,}"),
    ("heroku-key", ("heroku",), rf"(?i)heroku[\w.-]{{0,30}}?key{IS}(?:{_QUOTE})?({_UUID})"),
    _key("shopify-token", "shpat_|shpca_|shppa_|shpss_", r"[0-9a-fA-F]{28,32}"),
    _key("square-token", "sq0", r"[a-z]{3}-[\w-]{22,}"),
    _key("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?" + _END),
    _key("linear-key", "lin_", r"(?:api|oauth)_[A-Za-z0-9]{28,}"),
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
    _key("sentry-dsn", "://", r"([0-9a-f]{32}(?::(?:[0-9a-f]{32})?)?)@[\w.-]+/\d"),
    _key("vk-token", "vk1.a.", r"[\w-]{60,}"),
    _key("twitch-key", "live_", r"\d{6,}_[A-Za-z0-9]{30}", _START),
    ("kubeadm-token", ("--token",), r"--token[ =][\"']?([a-z0-9]{6}\.[a-z0-9]{16})(?![\w.])"),
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
        rf"(?i)(?:cloudflare|cf_)[\w.-]{{0,30}}?(?:key|token){IS}(?:{_QUOTE})?([\w-]{{37,45}}){_END}",
    ),
    _key("asana-token", "1/|2/", r"\d{6,}(?:/\d{6,})?:[0-9a-f]{32}", _START),
    _key("trello-token", "ATTA", r"[0-9a-f]{64,}"),
    _key("clickup-token", "pk_", r"\d{5,}_[A-Z0-9]{32}"),
    _key("contentful-token", "CFPAT-", r"[\w-]{40,}"),
    _key("shippo-token", "shippo_live_|shippo_test_", r"[0-9a-f]{40}"),
    _key("easypost-key", "EZAK|EZTK", r"[A-Za-z0-9]{54}"),
    _key("flutterwave-key", "FLWSECK", r"(?:_TEST)?-[0-9A-Za-z]{12,}(?:-X)?"),
    _key(
        "razorpay-key",
        "rzp_live_|rzp_test_",
        r"[A-Za-z0-9]{14}\b[^\n]{0,40}?(?<![\w/-])([A-Za-z0-9]{24})" + _END,
    ),
    _key("square-token", "EAAA", r"[\w-]{58,}", _START),
    _key("facebook-token", "EAA", r"[A-Za-z0-9]{60,}", _START),
    _key("twitter-token", "AAAAAAAAAAAAAAAAAAAAA", r"[\w%]{50,}", _START),
    _key("dropbox-token", "sl.", r"[\w-]{100,}", _START),
    _key(
        "alibaba-key",
        "LTAI",
        r"[A-Za-z0-9]{12,20}\b(?:[^\n]{0,40}?(?<![\w/-])([A-Za-z0-9]{30})\b)?",
        _START,
    ),
    _key("tencent-key", "AKID", r"[A-Za-z0-9]{32}", _START),
    _key("yandex-key", "AQVN", r"[\w-]{35,38}", _START),
    ("azure-devops-token", ("AZDO",), _START + r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    ("newrelic-key", ("NRAL",), _START + r"[0-9a-f]{36}NRAL" + _END),
    _key("newrelic-key", "NRII-|NRJS-|NRRA-", r"[\w-]{19,}"),
    _key("resend-key", "re_", r"[A-Za-z0-9]{6,10}_[A-Za-z0-9]{20,}", _START),
    _key("mailersend-token", "mlsn.", r"[0-9a-f]{60,}"),
    _key("elevenlabs-key", "sk_", r"[0-9a-f]{48}" + _END, _START),
    _key("nvidia-key", "nvapi-", r"[\w-]{60,}"),
    _key("langfuse-key", "sk-lf-", _UUID),
    _key("firecrawl-key", "fc-", r"[0-9a-f]{32}" + _END, _START),
    _key("tavily-key", "tvly-", r"(?=[\w-]*\d)[\w-]{20,}"),
    _key("circleci-token", "CCIPAT_|CCIPRJ_", r"\w{22}_[0-9a-f]{40}"),
    _key("artifactory-key", "AKCp|cmVmdGtuOj", r"[A-Za-z0-9]{50,}", _START),
    _key("nuget-key", "oy2", r"[a-z0-9]{43}" + _END, _START),
    _key("crates-token", "cio", r"[A-Za-z0-9]{32}" + _END, _START),
    _key("openshift-token", "sha256~", r"[\w-]{43}"),
    _key("mapbox-token", "sk.eyJ", r"[\w-]{20,}\.[\w-]{20,}", _START),
    _key("launchdarkly-key", "sdk-|api-|mob-", _UUID, _START),
    _key("mongodb-atlas-key", "mdb_sa_sk_", r"[\w-]{30,}"),
    _key("docker-config", "eyJhdXRocyI6", r"[A-Za-z0-9+/]{40,}={0,2}"),
    _key("jwt", "eyJ", r"[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){1,3}", _START),
    (
        "url-password",
        ("://",),
        # RabbitMQ comes with this user, who may connect from its own machine alone
        r"""://(?!guest:guest@(?:localhost|127\.0\.0\.1)\b)[^\s:/?#@"'`<>\[\]]*:(?!(?i:passw(?:or)?d|pass|pwd|secret)@)(?!\d{1,5}[?#/]|\$[A-Za-z_{(]|\{|%[s(]|\*)([^\s/"'`<>]+)@""",
    ),
    (  # as drivers of Go name a source of data
        "url-password",
        ("@tcp(", "@unix("),
        r"[\w.-]{1,64}:(?![$<{%])([^\s\"'`@]{3,})@(?:tcp|unix)\(",
    ),
    (
        "authorization",
        ("authorization",),
        rf"(?i)authorization{IS}(?:{_QUOTE})?(?:basic[ \t]+(?=[a-z0-9+/]*[0-9=]|(?-i:[a-z]+[A-Z]))"
        r"|(?:(?:bearer|token|digest|api-?key)[ \t]+|(?=[\w.~+/=-]{16}))"
        rf"{OPAQUE})([\w.~+/=-]{{8,}})",
    ),
    ("bearer-token", ("bearer",), rf"(?i)\bbearer[ \t]+{OPAQUE}([\w.~+/=-]{{16,}})"),
    (
        "basic-auth",
        ("auth", "basic "),
        r"""(?i)(?-i:[aAbB])(?:(?<![a-z]a)uth["']?[ \t]*[:=][ \t]*["']?|(?<=\bb)asic[ \t]+)"""
        r"([a-z0-9+/]{8,}={0,2})(?![\w+/=-])",
    ),
    (
        "curl-user",
        ("curl", "http -", "https -"),
        rf"(?<!\S)(?:-u|--user|-a|--auth)[ \t=]+[\"']?[^\s:\"'$]{{1,64}}:(?=(?i:{_LETTER}){_DIGIT})"
        r"([^\s\"'$<{]{3,})",
    ),
    (
        "private-key",
        ("MII", "MIG", "MIH", "MHcCAQEE", "MC4CAQAw", "b3BlbnNzaC1rZXktdjEA"),
        rf"(?:(?<![A-Za-z0-9+/])|(?<=\\[nrt])){_KEY_BODY}",
    ),
    (
        "kubernetes-secret",
        ("kind: Secret",),
        r"(?<![^\n])kind: Secret\b(?:(?!\n---)[^\0]){0,600}?\n(?:d|stringD)ata:[ \t]*\n"
        r"((?:[ \t]+[\w.-]+:[ \t]*[^\s<${][^\n]*(?:\n|\Z))+)",
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
        ("sess", "connect.sid"),
        r"(?i)(?-i:[sScC])(?:(?<=s)ess(?:ion)?(?:_?id)?|(?<=\bc)onnect\.sid)="
        rf"(?!{_UUID}){_COOKIE}({_VALUE})",
    ),
    (
        "pgpass",
        (":5432:", ":*:"),
        r"(?<!\S)[\w.*-]{1,253}:(?:\d{2,5}|\*):[^:\s]{1,63}:[^:\s]{1,63}:((?![<{$])[^\s:]{3,})(?!\S)",
    ),
    (  # of Vault, 32 bytes each
        "secret",
        ("unseal",),
        r"(?i)unseal[^\n]{0,40}:(?:\s+keys:)?\s+(?:-\s+)?[\"']?"
        r"([a-z0-9+/]{43}=(?:[\"']?\s+(?:-\s+)?[\"']?[a-z0-9+/]{43}=)*)",
    ),
    (  # a numbered seed phrase above the line that says what it is
        "secret",
        ("seed", "wallet"),
        r"(?m)^((?:[ \t]*\d\d?[.)][ \t]+[a-z]{3,8}[ \t]*\n){11,23}[ \t]*\d\d[.)][ \t]+[a-z]{3,8})"
        r"[ \t]*\n[^\n]{0,60}"
        r"(?i:seed[^\n]{1,40}(?:wallet|phrase)|(?:wallet|phrase)[^\n]{1,40}seed)",
    ),
    ("secret", ("appid=",), r"(?i:appid)=([0-9a-f]{24,32})" + _END),  # of OpenWeather
    (  # of a registry, in Docker's `config.json`
        "secret",
        ("auths",),
        r"auths[\"']?:\s*\{[^{}]{1,200}\{\s*[\"']auth[\"']:\s*[\"']([\w+/]{16,}={0,2})",
    ),
    (  # of WordPress, 64 characters of any kind
        "secret",
        ("_KEY'", "_SALT'"),
        r"(?:AUTH|LOGGED_IN|NONCE)_(?:KEY|SALT)',\s*'([^'\n]{32,})'",
    ),
    (  # of a database, between semicolons, as ADO.NET reads it
        "password",
        (";password=", ";pwd="),
        r"(?i);(?:password|pwd)=(?![$<{%])([^\"\s]{5,}?)(?=;[a-z ]{2,30}=|;?(?:[\"'\s]|\Z))",
    ),
    ("secret", ("?key=", "&key="), rf"[?&]key=(?=[\w-]{{20}}){OPAQUE}([\w-]+)"),
    (
        "url-password",
        ("oracle:thin:", "sqlplus", "sqlldr", "expdp", "impdp"),
        r"(?:oracle:thin:|\b(?:sqlplus|sqlldr|expdp|impdp)\s+(?:-\S+\s+){0,5})"
        r"[\w$#]{1,64}/(?![$<{])([^\s@/]{3,})@",
    ),
    (  # server, user and password, in this order
        "password",
        ("mysqli", "pdo(", "getconnection("),
        r"(?i)\b(?:mysqli\w*|pdo|getconnection)\([^,()\n]{1,200},\s*[\"'][^\"'\n]{1,80}[\"'],\s*"
        r"[\"']([^\"'\n]{4,})[\"']",
    ),
    (
        "password",
        ("auth=(", "credential(", "credentials(", "basicauth(", "basic_auth"),
        r"""(?i)(?:auth=|credentials?|basic_?auth(?:["']?\s*[:=]\s*)?)[(\[]"""
        r"""\s*["'][^"'\n]{1,80}["'],\s*["']([^"'\n]{4,})["']""",
    ),
    (
        "password",
        ("</pass", "</secret", "</token"),
        r"(?i)<(?:password|passwd|passphrase|secret|token)>(?![$&{<])([^<\s]{6,})</(?:pass|secret|token)",
    ),
    (
        "secret",
        ("api ", "app ", "auth "),
        r"(?i)(?-i:[aA])(?<=\ba)(?:pi|pp|uth)[ :]{1,2}([0-9a-f]{32,64})(?![\w-])",
    ),
    (  # letters of both cases and digits by chance, in a clause about an API
        "secret",
        ("api",),
        rf"[pP](?<=(?<![A-Za-z0-9])[aA].)[iI]\b[^\n]{{0,60}}?(?<![^\s:,\"'`«“(])(?!{_WORDS}){_CHANCE}"
        r"([A-Za-z0-9]{20,64})(?![\w/+=@-]|\.\w)",
    ),
    (
        "password",
        ("snmp-server community", "enable secret", "enable password", "username "),
        r"\b(?:snmp-server\s+community|(?:enable|username\s+\S{1,40})\s+(?:secret|password)(?:\s+\d)?)\s+"
        r"(?!ro\b|rw\b)([^\s<\[{$]{6,})",
    ),
    (
        "password",
        ("password=", "passphrase=", "secret="),
        r"(?im)^[\w.-]*(?:password|passphrase|secret)="
        rf"(?![^\n]*(?:pass(?:w|phr|e\b)|secret|{FOREIGN_PASSWORDS}))"
        r"(?=[^\s\"'$<{(]+ \S+ \S)([^\n\"'$<{()]{12,80})$",
    ),
    (  # several words, joined, behind a name in capitals
        "password",
        ("PASSWORD", "_PASS", "_PWD", "_PSK", "PASSPHRASE"),
        rf"(?:PASSWORD|_PASS|_PWD|_PSK|PASSPHRASE)(?:[ \t]*[:=][ \t]*|[ \t]+(?=\"))"
        rf"[\"']?{_REFERENCE}"
        r"(?![^\s\"']*(?i:pass|secret|token|key|your|change|default|none))"
        r"([A-Za-z]+[-_+!.&*#][A-Za-z]+(?:[-_+!.&*#][A-Za-z]+)*)[\"']?[ \t]*(?=\n|\Z)",
    ),
    ("password", ("$",), r"\$(?<![\w$]\$)\w{1,10}\$[\w./$=,+-]{20,}"),  # as crypt(5) stores them
    (  # of one application, as Google and WordPress print it
        "password",
        ("passw",),
        rf"(?i)passw\w*{IS}(?:{_QUOTE})?([a-z0-9]{{4}}(?: [a-z0-9]{{4}}){{3,7}})(?![\w-])",
    ),
    (  # of a connection, as libpq reads it
        "password",
        ("password=",),
        r"\b(?:host|hostaddr|port|user|dbname)=[^\s,\"']{1,80}(?: \w{2,20}=[^\s,\"']{1,80}){0,8}"
        r" password=(?![$<{%\[*])([^\s,\"'()]{4,})",
    ),
    (  # in an address, as of a meeting
        "password",
        ("?pwd=", "&pwd=", "?pass", "&pass"),
        rf"(?i)[?&](?:pwd|pass(?:wd|word|code)?)={_REFERENCE}(?:{_DIGIT}|{_MIXED})([\w.~!*%+-]{{4,}})",
    ),
    (  # where a stream is sent to
        "secret",
        ("rtmp://", "rtmps://"),
        rf"rtmps?://[^\s/]{{1,200}}/[\w-]{{1,64}}/(?=[\w-]{{12}}){OPAQUE}([\w-]+)",
    ),
    (  # the last of seven fields of a file of cookies
        "cookie",
        ("TRUE", "FALSE"),
        r"\s(?:TRUE|FALSE)[ \t]+/\S*[ \t]+(?:TRUE|FALSE)[ \t]+\d+[ \t]+\S+[ \t]+"
        rf"(?=\S{{16}}){OPAQUE}(\S+)",
    ),
    ("secret", ("/:_auth=",), r"/:_auth=[\"']?([\w+/-]{12,}={0,2})"),  # of a package registry
    (  # four groups of four letters, one without a vowel, as Google prints them
        "password",
        ("pass",),
        rf"(?i)pass\w*[^\n=:]{{0,40}}{IS}(?:{_QUOTE})?"
        r"(?=[a-z ]*(?<![a-z])[b-df-hj-np-tv-xz]{4}(?![a-z]))([a-z]{4}(?: [a-z]{4}){3})(?![\w'-])",
    ),
    (  # a value with brackets or quotes in it, up to the end of a line of configuration
        "password",
        ("passw", "_pw", "_pass", "credentials"),
        rf"(?im)^[ \t]*(?:export[ \t]+)?[\w.-]*(?:passw(?:or)?d|_pw|_pass|credentials){IS}"
        r"(?![$<{%(\[\"'])(?=\S*[();&'])(?!\S*(?:\)\.|\(\)|[\"'][\]),]|=>|&&|::|->))(?=\S*[a-z])"
        r"(\S{5,}[^\s(){}\[\];,\"'])[ \t]*$",
    ),
    (  # of a wallet, 32 bytes
        "secret",
        ("_key(", "fromkey("),
        r"(?i)(?:from|import|private|secret|sign\w*)_?(?:private_?|secret_?)?key\(\s*b?[\"']"
        r"((?:0x)?[0-9a-f]{64})[\"']",
    ),
    (  # the key of a signature, whatever its letters
        "secret",
        ("hmac.new(", "createhmac("),
        r"(?i)(?:hmac\.new|createhmac)\((?:\s*[\"'][\w-]{2,24}[\"'],)?[^\"'\n]{0,40}[\"']"
        rf"(?=[^\s\"']{{12}})(?:{OPAQUE}|(?=\w*[b-df-hj-np-tv-xz]{{5}}))([^\s\"']+)[\"']",
    ),
    (  # of tokens that are signed
        "secret",
        ("jwt.",),
        r"(?i)\bjwt\.(?:encode|decode|sign|verify)\([^\n]{1,200}?,[ \t]*b?[\"'](?![$<{%])"
        r"(?=[^\"']*[\d!#$%^&*?~+])(?!(?:hs|rs|es|ps)\d{3}[\"'])([^\"'\s]{8,})[\"']",
    ),
    (
        "password",
        ("userpwd",),
        r"(?i)userpwd,[ \t]*[\"'][^:\"'\n]{1,64}:(?![$<{%])([^\"'\n]{4,})[\"']",
    ),
    (  # of chance, in a variable of the environment
        "secret",
        ("environ[", "env[", "export "),
        r"(?i)(?:\benv(?:iron)?\[[\"']\w{2,40}[\"']\][ \t]*=|\bexport[ \t]+\w{2,40}=)[ \t]*[\"']?"
        rf"(?=[\w-]{{32}})(?![0-9a-f-]+\b)(?!{_WORDS})(?=(?:[a-z_-]*\d){{3}})([\w-]+)"
        r"[\"']?[ \t]*(?=[#;\n]|\Z)",
    ),
    (  # of routers and servers that are watched, as Net-SNMP reads it
        "password",
        ("community",),
        r"(?m)^[ \t]*r[ow]community6?[ \t]+([^\s#]{5,})",
    ),
    (  # a key as bytes of C
        "secret",
        ("0x",),
        r"(?i)(?<!pub)(?<!public_)key\w{0,12}(?:\[\w{0,20}\])?[ \t]*=[ \t]*(?:\w{1,12}\()?[{\[]\s*"
        r"(0x[0-9a-f]{2}(?:\s*,\s*0x[0-9a-f]{2}){15,63})",
    ),
    (  # 16 or 32 bytes
        "secret",
        ("keyspec(", "aes", "cipher", "fernet("),
        r"(?i)(?:keyspec|aes|cipher|fernet)\w{0,12}\([^\n\"']{0,40}[\"']"
        r"([\w+/-]{22}==|[\w+/-]{43}=)[\"']",
    ),
    (  # of passwords by time, RFC 6238, in base32
        "secret",
        ("otp", "2fa", "mfa"),
        r"(?i)(?:otp|[2m]fa)(?-i:[^\n]{0,60}?(?<![\w/+])(?=[A-Z]*[2-7])([A-Z2-7]{16}|[A-Z2-7]{26}|[A-Z2-7]{32}|[A-Z2-7]{52})(?![\w/+]))",
    ),
    (  # of a calendar at Google
        "secret",
        ("/private-",),
        r"/private-([0-9a-f]{32})/",
    ),
    (  # a header in an option
        "secret",
        ("--header", '-h "', "-h '"),
        rf"(?i)(?:--header[ =]|-H[ =]?)[\"'](?!\S*(?:public|idempot|cache|surrogate))"
        rf"[\w-]*(?:token|key|secret|auth|passw)[\w-]*:[ \t]*{_REFERENCE}(?:{OPAQUE}|{_MIXED})"
        r"([\w.~+/=-]{12,})[\"']",
    ),
    (  # what a string of a format or a sum takes: `format("Basic {}", "…")`
        "authorization",
        ("basic ", "bearer "),
        r"(?i)(?:basic|bearer)[ ](?:\{\w*\}|%s)?[\"'](?:\.format\(|[ \t]*[,+%.&][ \t]*\(?)[ \t]*"
        rf"[\"']{OPAQUE}([\w.~+/=-]{{12,}})[\"']",
    ),
    (  # a literal key of a cipher, a signature or a wallet
        "secret",
        (
            *("aes.", "cipher", "hmac(", "hmac.", "fernet(", "wallet(", "secretbox(", "keyspec("),
            "privatekey",
        ),
        r"(?i)(?:cipher|aes|hmac|fernet|wallet|secretbox|keyspec|privatekey)\w{0,12}"
        r"(?:\.(?:new|create|from)\w{0,20})?\(\s*(?:[\"'][\w/-]{2,24}[\"'],\s*)?"
        r"(?:[\w.:]{1,30}\(){0,2}b?[\"']"
        rf"((?:0x)?(?:[0-9a-f]{{16}}){{2,8}}|(?!0x|{_WORDS})(?-i:{_CHANCE})[\w+/-]{{22,88}}={{0,2}})[\"']",
    ),
    (  # behind a distinguished name or an address in a call
        "password",
        ("bind(", "bind_", "connection(", "login("),
        r"(?i)(?:bind\w{0,12}|connection|login)\([^()\n\"']{0,80}"
        r"[\"'](?:(?:cn|uid|dc|ou)=[^\"'\n]{1,120}|[^\s\"']{1,64}[@\\][^\s\"']{1,64})[\"'],\s*"
        r"(?:\w{1,20}=)?[\"'](?![$<{%])([^\"'\n]{4,})[\"']\s*[,)]",
    ),
    (
        "password",
        ("login(",),
        r"(?i)login\(\s*[\"'][^\"'\n]{1,64}[\"'],\s*[\"'](?![$<{%/])(?=[^\"'\n]*[\d!#$%^&*?~+;])"
        r"(?=[^\"'\n]*[a-z])([^\"'\s]{6,})[\"']\s*\)",
    ),
    (  # a line of a protocol: `"PASS …\r\n"`
        "password",
        ("\\r\\n",),
        r"[\"'](?:\w{1,4} )?(?:LOGIN|PASS|AUTH) (?:\S{1,64} )?(?![$<{%])(?=[^\s\\]*[a-z])"
        r"([^\s\"'\\]{6,})\\r\\n",
    ),
    (  # as routers are configured
        "password",
        ("radius-server", "tacacs-server"),
        r"(?m)^[ \t]*(?:radius|tacacs)-server\s[^\n]{0,80}?\bkey[ \t]+(?:\d[ \t]+)?(?![$<{\[])"
        r"([^\s\"']{6,})[ \t]*$",
    ),
    ("wifi", ("WIFI:",), r"WIFI:[^\n]{0,120}?P:([^;\n]{4,})"),
    ("signature", ("-signature=",), r"(?i)-signature=([\w%]{40,})"),
    (
        "password",
        (
            "#define",
            "setx ",
            "variable ",
            "name: ",
            'name":',
            "key: ",
            'key":',
        ),
        rf"(?i)(?-i:[#sSvVnNkK])(?:(?:(?<=#)define|(?<=\bs)etx)[ \t]+[\w]*(?:{_NAMES})\w*[ \t]+"
        rf"|(?<=\bv)ariable[ \t]+\"[^\"\n]*(?:{_NAMES})[^\"\n]*\"\s*\{{[^}}]{{0,300}}?"
        r"\bdefault\s*=\s*"
        rf"|(?:(?<=\bn)ame|(?<=\bk)ey)[\"']?:[ \t]*[\"']?[\w.-]*(?:{_NAMES}|{_KEYS})[\w.-]*"
        r"[\"']?,?\s{0,40}"
        rf"[\"']?value[\"']?:[ \t]*)"
        rf"{_REFERENCE}(?:[\"'](?:{_DIGIT}|{_SYMBOL}|{_MIXED})([^\"'\n]{{5,}})[\"']"
        rf"|(?:{_DIGIT}{_LETTER}|{_MIXED})({_BARE}{{6,}}))",
    ),
    (
        "pin",
        ("pin", "puk"),
        r"(?i)(?-i:[pP])(?<![a-z]p)(?:in|uk)(?:_?code)?[\"']?[ \t]*[:=][ \t]*[\"']?"
        r"(\d{4,12})(?![\w.])",
    ),
    (  # the value when a variable is missing, or the second argument: `get("TOKEN", "…")`
        "secret",
        tuple(
            f"{name}{quote}" for name in ("token", "secret", "key", "password") for quote in "\"'"
        ),
        rf"(?i)(?:(?:token|secret|key)[\"')\]]{{0,3}}{_OTHERWISE}[\"'](?=[^\"']{{20}}){OPAQUE}([\w+/=.-]+)[\"']"
        rf"|passw(?:or)?d[\"')\]]{{0,3}}{_OTHERWISE}[\"'](?=[^\"'\n]*\d)(?=[^\"'\n]*(?-i:[A-Z]))"
        r"(?=[^\"'\n]*[-!@#$%^&*.+])([^\"'\s]{6,})[\"'])",
    ),
    (
        "password",
        ("value=", "value ="),
        rf"(?i)(?:password|passwd|pwd|{FOREIGN_PASSWORDS}|secret|token|api[_-]?key)[\"']\s+value\s*=\s*"
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
        r"\s+login\s+\S{1,255}\s+password\s+(?!<)(\S+)",
    ),
    (
        "password",
        (
            *(
                "pass",
                "pwd",
                "_pw",
                "psk",
                "parol",
                "kennwort",
                "mdp",
                "contrase",
                "senha",
                "wachtwoord",
                "haslo",
            ),
            *("hasło", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호"),
        ),
        _PASSWORD,
    ),
    ("secret", ("secret", "token", "credential", "key"), _SECRET),
)

_BOTH_CASES = r"(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])(?=[A-Za-z0-9+/]*\d)"
LONG_CHARS = 29
"""Length of a word from which it is looked at by LONG."""
LONG = (
    # of no issuer known here: a short prefix and a body in letters of both cases and digits
    r"(?:(?<![\w/.+\\-])|(?<=\\[nrt]))(?![\w-]*?(?:pub|pk_|sha\d))(?:[a-z][a-z0-9]{1,11}[_-]){1,3}"
    rf"(?!{_WORDS}){_BOTH_CASES}[A-Za-z0-9]{{32,}}[\w-]*",
    # a bot's id, time and signature, as Discord joins them
    r"(?<![\w.-])[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,}",
    # eight groups of digits, with which BitLocker is recovered
    r"(?<![\w-])\d{6}(?:-\d{6}){7}(?![\w-])",
    # five groups of five, with which a program is licensed
    r"(?<![\w-])(?=[A-Z-]{0,28}\d)(?=[\d-]{0,28}[A-Z])[A-Z\d]{5}(?:-[A-Z\d]{5}){4}(?![\w-])",
    r"(?<![\w-])(?=[\w-]{0,28}[a-z])(?=[\w-]{0,28}[A-Z])(?=[A-Za-z-]{0,28}\d)[A-Za-z\d]{5}(?:-[A-Za-z\d]{5}){4}(?![\w-])",
    # quoted on the line of a name: `withToken("…")`, `key = decode("…")`
    r"(?i:key|token|secret)s?(?<!(?i:public)[_ -](?i:key))(?<!(?i:publickey))(?<!(?i:pubkey))\b"
    r"[^\n\"'`]{0,40}[\"'`]"
    rf"(?!MII|ssh-|age1|AAAA|0x[0-9a-fA-F]{{40}}\b)(?!{_WORDS}){_BOTH_CASES}([\w+/-]{{32,}}={{0,2}})[\"'`]",
)
