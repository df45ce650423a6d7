"""Find secrets in sentences: "the staging password is …", "api key for stripe: …"."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

PASSWORD_HINTS = ("pass", "kennwort", "contrase", "senha", "pw ", "pw:", "pwd", "wachtwoord")
PIN_HINTS = ("pin ", "pin:")
SECRET_HINTS = ("key", "token", "secret", "seed", "clave")
OTHER_PASSWORD_HINTS = ("hasło", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호")
OTHER_SECRET_HINTS = ("schlüssel", "clé", "密钥", "令牌")
"""Hints in texts with more than ASCII."""

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
_IS = r"(?:is|was|are|ist|lautet|hei(?:ß|ss)t|es|est|era|é|è|to|auf|à|from|von)"
_NAMED = rf"""(?ix)
(?: (?P<password> {_PASSWORDS} ) | (?P<secret> {_SECRETS} ) )
(?: (?P<about> (?: [ ] (?!{_IS}[ :])[^\W\d_][\w'’-]{{0,20}} ){{0,6}}? )
    (?P<link> [ ](?:was|is|has\ been|gets)[ ](?:changed|set|reset|rotated)[ ]to:?[ ]
        | ["'`]?[ ]?[:：=][ ]? | [ ][—–-][ ] | [ ]?(?:是|为|為|は|는|은)[ :：]? | [ ]{_IS}:?[ ] )
|   (?P<direct> [ ] ) )
"""
"""The name of a secret and the words up to its value, which begins at the end of the match."""

_IS_SIGNS = (" is", " was ", " are ", " ist ", " lautet", " es ", " est ", " era ", " é ", " è ")
_SIGNS = (*_IS_SIGNS, " to ", " auf ", " à ", " heißt ", '"', "'", "`", "„", "“", "«", "：")

_DIGITS = frozenset("0123456789")
_QUOTES = {'"': '"', "'": "'", "`": "`", "„": "“”", "“": "”", "«": "»", "‘": "’", "「": "」"}
_WORD = r"[^\s，。；、！？）」』“”»\u3040-\u30ff\u4e00-\u9fff]{4,200}"
_LEADING_IN = (
    r"(?i)(?:.*\b(?:with|using|use|mit|avec|con|com|user|login|username)\b|.*/)[^.!?\n]{0,40}\Z"
)

_REFERENCE = (
    r"[$<\[{(%&*]|--?[a-z]|(?:env|file|fd):|\w+://|[\w.:-]+[(\[{]|[A-Za-z_-]+\d?(?:\.[A-Za-z_-]+\d?)+\Z"
    r"|[.~]?/|[\w.-]+/[\w./-]+\Z"
)
_TECHNICAL = (
    r"(?i)(?:v?\d[\d.,:xk%-]*[a-z]{0,3}|\d{1,4}-\w{1,6}|1password|keepass\w*|(?:argon|pbkdf)\d\w*"
    r"|(?:sha|md|aes|rsa|oauth|utf|base|[ehpr]s|ed|python|ipv|http|tls|web)-?\d{1,4}\w{0,2}(?:-\w+)*"
    r"|[a-z]+(?:_[a-z]+)*_(?:v?\d|[a-z]+\d?))\Z"
)
"""Versions, sizes, algorithms and identifiers."""
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


def may_give_away(lowered: str) -> bool:
    """Pass most texts by plain string tests, without compiling a pattern."""
    return any(True for _ in _places(lowered))


def spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each secret in a sentence."""
    regions = _regions(text.lower())
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
    """Yield the ends of hints after which a secret is possible."""
    passwords: tuple[str, ...] = PASSWORD_HINTS
    secrets: tuple[str, ...] = SECRET_HINTS
    if not lowered.isascii():
        passwords, secrets = passwords + OTHER_PASSWORD_HINTS, secrets + OTHER_SECRET_HINTS
    for hints, is_followed in (
        (passwords, _has_link),
        (PIN_HINTS, _has_digit),
        (secrets, _has_opaque),
    ):
        for hint in hints:
            at = lowered.find(hint)
            while at >= 0:
                at += len(hint)
                if is_followed(lowered[at : at + WINDOW_CHARS]):
                    yield at
                at = lowered.find(hint, at)


def _regions(lowered: str) -> list[tuple[int, int]]:
    """Return disjoint parts of the text around such places."""
    regions: list[tuple[int, int]] = []
    for at in sorted(_places(lowered)):
        start, end = max(0, at - NAME_CHARS), at + WINDOW_CHARS
        if regions and start <= regions[-1][1]:
            start = regions.pop()[0]
        regions.append((start, end))
    return regions


def _has_link(window: str) -> bool:
    return not _DIGITS.isdisjoint(window) or any(sign in window for sign in _SIGNS)


def _has_digit(window: str) -> bool:
    return not _DIGITS.isdisjoint(window[:60])


def _has_opaque(window: str) -> bool:
    return not _DIGITS.isdisjoint(window) and any(
        len(word) >= OPAQUE_CHARS and not _DIGITS.isdisjoint(word) for word in window.split()
    )


def _opaque(named: re.Match[str], text: str) -> tuple[int, int] | None:
    """Find a long random word of letters and digits."""
    import re

    from ademem.core.redaction.patterns import OPAQUE

    found = re.compile(
        rf"""["'`„“«]?({OPAQUE}[\w+/=~.-]{{{OPAQUE_CHARS},}})""", re.ASCII | re.I
    ).match(text, named.end())
    if not found or re.match(_REFERENCE, found[1]) or found[1].count("/") > 3:
        return None
    return found.start(1), found.start(1) + len(found[1].rstrip("."))


def _password(named: re.Match[str], text: str) -> tuple[int, int] | None:
    import re

    at = named.end()
    closing = _QUOTES.get(text[at : at + 1])
    if closing:
        return _quoted(named, text, at + 1, closing)
    word = re.compile(_WORD).match(text, at)
    if not word:
        return None
    value = word[0].rstrip(".,;:)\"'`")
    if named["link"] == "=":
        value = re.split("[;&,]", value)[0]
    span = at, at + len(value)
    if named["password"].lower() == "pin":
        return span if re.fullmatch(r"\d{4,12}", value) else None
    if re.match(_REFERENCE, value) or re.match(_TECHNICAL, value):
        return None
    if named["direct"]:
        return span if _is_strong(value) and _is_led_in(named, text) else None
    if _is_strong(value) or re.fullmatch(r"\d{6,12}", value):
        return None if _is_assigned(named) else span
    return span if _is_bare_word(named, value, text) else None


def _quoted(named: re.Match[str], text: str, start: int, closing: str) -> tuple[int, int] | None:
    """Find a quoted phrase, unless it is a message or a name in code."""
    import re

    line = text[start : start + PHRASE_CHARS].partition("\n")[0]
    ends = [end for sign in closing if (end := line.find(sign)) >= 0]
    if not ends:
        return None
    phrase = line[: min(ends)]
    value = phrase.strip()
    words = value.split()
    if len(words) > 1:
        chosen = len(words) > 2 or _is_strong(value.replace(" ", ""))
        lowercase = value[:1].islower() or all(word[:1].isupper() for word in words)
        if not chosen or not lowercase or re.search(_MESSAGE, value):
            return None
    elif not _is_strong(value) or re.match(_REFERENCE, value) or re.match(_TECHNICAL, value):
        return None
    start += phrase.index(value) if value else 0
    return start, start + len(value)


def _is_assigned(named: re.Match[str]) -> bool:
    """True for `password: …`, which the table of patterns matches."""
    return (
        not named["about"]
        and named["link"].strip() in (":", "=")
        and named["password"].lower() in ("password", "passphrase", "passcode")
    )


def _is_strong(value: str) -> bool:
    """True for letters with digits or symbols, as password policies require."""
    letter = any(sign.isalpha() for sign in value)
    digit = any(sign.isdigit() for sign in value)
    sign = any(each in "!@#$%^&*?~+" for each in value[1:-1])
    return len(value) >= 5 and letter and (digit or sign)


def _is_led_in(named: re.Match[str], text: str) -> bool:
    """True if the words before the name make the next one its value: "with password …"."""
    import re

    return re.match(_LEADING_IN, text[max(0, named.start() - 60) : named.start()], re.S) is not None


def _is_bare_word(named: re.Match[str], value: str, text: str) -> bool:
    """True if "the password is …" ends with a word that does not describe a password."""
    import re

    return (
        named["link"].strip().lower() in ("is", "is:", "was")
        and named["password"].lower().startswith("pass")
        and value.isascii()
        and value.isalpha()
        and len(value) >= 6
        and not re.match(_DESCRIBING, value)
        and re.compile(_ENDS_SENTENCE).match(text, named.end() + len(value)) is not None
    )
