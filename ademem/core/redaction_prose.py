"""Find passwords, codes and phrases by the sentence around them: "the staging password is …".

A noun for a credential says where to look, the shape of a word says whether it is the value, and
the weaker the shape, the closer the value must stand to the noun.
"""

from __future__ import annotations

from ademem.core.redaction_patterns import OPAQUE

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

# Words in en, de, fr, es, it, pt, nl, pl, ru, zh, ja and ko, as far as a pattern does without.
_PASSWORDS = (
    r"passwor[dt]|passphrase|passcode|kennwort|mot\ de\ passe|\bmdp\b|contrase[ñn]a|senha"
    r"|palavra-passe|wachtwoord|\bhas[łl](?:o|a|em)\b|парол\w{1,3}|密码|密碼|口令|暗証番号"
    r"|パス(?:ワード|フレーズ|コード)?|비밀번호|암호|\bpwd?\b|\bpsk\b|\bp(?:in(?:code)?|uk)\b"
    r"|\bpass(?=[ :])|\bclave\b|l[öo]senord|adgangskode|passord|salasana|parol[aă]|şifre|heslo"
    r"|(?:cl[ée]|chiave|chave|klucz|ключ|code)\ (?:\w+\ )?(?:wi-?fi|wlan)"
    r"|(?:wi-?fi|wlan)[- ](?:key|code)"
)
_CODES = (
    r"\w{0,20}(?:code|código|codigo|codice|codici)(?:s|ów)?\b|\b(?:kod|код)\w{0,2}\b|コード|[码碼]"
    r"|코드|[ck]ombina\w+|комбинац\w+"
)
_SECRETS = (
    r"(?:api|access|secret|auth|encryption|signing|private|account|service|master|shared|admin"
    r"|deploy|license|webhook|application|app|subscription|wallet)[ -]?key"
    r"|token|secret|seed|schlüssel|clé|密钥|令牌|chiave|chave|klucz\w?|ключ\w{0,2}|sleutel|llave|\bkey\b"
)
_PHRASES = r"phrase|frase|fraza|фраз\w{1,2}|フレーズ"
_LOGINS = (
    r"log(?:ged)?[ ]?in|sign[ ]?in|anmeld\w*|\bmelde?\b|einlogg\w*|connect\w*|\bentr[aeo]\w*"
    r"|\bacced\w*|(?<![a-z])root\b|\badmin\w*|\b(?:reset|sudo)\b|zalogu\w*|inlogg\w*"
    r"|войти|войд\w*|вход\w*|登录|ログイン|\baccount|\bkonto\w*|\bcompte|\bcuenta|\bconta\b"
)
_ACCESS = (
    r"(?i)acc[eèé]s|zugang|toegang|dost[eę]p|доступ|recover|r[ée]cup|recup|wiederherst|herstel"
    r"|odzysk|восстан|backup|reserv|резерв|zapas|secours|emergenc|notfall|(?:un|b)lock|sblocc"
    r"|security|sicherheit|2fa|mfa|door|gate|entry|alarm|safe|vault|digi|pin"
    r"|恢复|備|备用|リカバリ|バックアップ|認証|tür|deur|porta|puert|porte|cancel|drzwi|bram|двер"
    r"|ворот|подъезд|домофон|[門门]|玄関|현관"
)
"""What a code opens, or for what it is kept; others say what failed or where a parcel goes."""

_BE = (
    r"(?:is|was|are|ist|lautet|hei(?:ß|ss)t|es|est|era|é|è|c['’]est|jest|to|auf|à|a|from|von|это|now|na|на"
    r"|ahora|jetzt|maintenant|ora|agora|nu|теперь)"
)
_WITH = r"(?:with|using|mit|avec|con|com|met|z|с|to|auf|à)"
_AND = r"(?:and|und|et|y|e|i|en|и|/)"
_AS = r"(?:as|als|comme|como|come|jako|как)"
_TYPE = r"(?:enter|type|tape[rz]?|saisi\w*|digita\w*|escrib\w*|tippe|wpisz|введи\w*)"

PASSWORD_HINTS = (
    "pass losen adgangs salasana parol heslo wifi wi-fi wlan kennwort contrase senha"
    " wachtwoord mdp pw psk pin puk haslo"
)
PHRASE_HINTS = "phras frase fraza"
CODE_HINTS = (
    "code codi kod clav ombina log sign meld root admin reset sudo connect entr acced"
    " account konto compte cuenta conta"
)
SECRET_HINTS = "key token secret seed chiave chave klucz sleutel llave"
OTHER_HINTS = (
    "hasł lösen şifre комбинац ключ парол фраз 密 口令 パス フレーズ 暗証 비밀"
    " 암호 códi код 码 碼 コード 코드 вой вход 登 ログ"
)
OTHER_SECRET_HINTS = "schlüssel clé ключ 密钥 令牌"
"""One of them is in each noun."""

NAME_CHARS = 24
"""Longest part of a name before its hint."""
NOUN_CHARS = 16
"""Characters after the beginning of a hint in which its noun ends."""
WINDOW_CHARS = 160
"""Characters after a name in which its secret begins."""
OPAQUE_CHARS = 16
CLAUSE_CHARS = 20
"""Shortest secret right after "token" or "key", and further on."""
CLAUSE_TOKENS = 16
KEY_LENGTHS = (43, 44, 64, 86, 88)
"""Characters of 32, 48 and 64 bytes in base64, whose strokes make no path."""
PHRASE_CHARS = 100

_NOUN = rf"""(?ix)
(?P<password> {_PASSWORDS} | {_PHRASES} ) | (?P<secret> {_SECRETS} )
| (?P<code> {_CODES} ) | (?P<login> {_LOGINS} )
"""
_LINK = rf"""(?ix)
(?P<about> (?: [ ] (?!{_BE}[ :])[^\W\d_][\w'’]{{0,20}}(?:-\w{{1,20}})? (?![\w-]) ){{0,6}}?
    (?: [ ] \([^()\n]{{1,40}}\) )? )
(?P<link> [ ](?:was|is|has\ been|gets)[ ](?:changed|set|reset|rotated)[ ]to:?[ ]
    | ["'`]?(?:[ ]\d{{1,2}})?[ ]?[:：=→?][ ]? | [ ](?:[—–-]|->)[ ]
    | [ ]?(?:是|为|為|は|는|은)[ :：]?
    | [ ](?:{_BE}|{_TYPE}):?[ ] )
"""

_CLAUSE = r"(?:[^.!;\n。！；]|[.!;](?=\S)|!(?=[ ][a-z])){0,120}"
_TOKEN = (
    r"""[^\s"`(){}<>\[\]„“”«»‘’「」『』，。、；！？（）：\u3040-\u30ff\u4e00-\u9fff"""
    r"""\uac00-\ud7a3]+"""
)
_VALUE_WORD = r"[^\s，。；、！？）』」“”»\u3040-\u30ff\u4e00-\u9fff]{4,200}"
_QUOTES = {'"': '"', "'": "'", "`": "`", "„": "“”", "“": "”", "«": "»", "‘": "’", "「": "」"}
_LEADING_IN = (
    r"(?i)(?:.*\b(?:with|using|use|mit|avec|con|com|user|login|username)\b|.*/)[^.!?\n]{0,40}\Z"
)

_NO_LITERAL = (
    r"[$<\[{(%&*@]|--?[a-z]|(?:env|file|fd):|\w+://|[\w.:-]+[(\[{]|\S*\\[nrt]|[A-Za-z_-]+\d?(?:\.[A-Za-z_-]+\d?)+\Z"
    r"|[.~]?/|[\w.-]+/[\w./-]+\Z|[\w.+-]+@[\w-]+\.|(?:ssh-|age1|AAAA|MII)|0x|[a-z_.-]+[=:]"
)
_TECHNICAL = (
    r"(?i)(?:v?\d[\d.,:xk%-]*[a-z]{0,3}|\d{1,4}-\w{1,6}|1password|keepass\w*|(?:argon|pbkdf)\d\w*"
    r"|(?:sha|md|aes|rsa|oauth|utf|base|[ehpr]s|ed|python|ipv|http|tls|web)-?\d{1,4}\w{0,2}(?:-\w+)*"
    r"|\w*?(?<!\d)(?:16|32|64|128|192|256|384|512|25519)(?!\d)[a-z]{0,3}\d?"
    r")\Z"
)
_GROUPS = r"[A-Za-z0-9]{4}(?: [A-Za-z0-9]{4}){3,7}(?![\w-])"
"""A password for one application, as Google and WordPress print it."""
_HASH = r"(?:(?:[A-Z]+|[a-z]+)-\d+|[0-9a-f]{7,64}|[0-9a-f]{8}-[0-9a-f-]{27})\Z"
_SNAKE = r"(?:[a-z]+(?:_[a-z]+)*_(?:v?\d|[a-z]+\d?)|[A-Z]+(?:_[A-Z]+)*_(?:V?\d|[A-Z]+\d?))\Z"
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

_BOTH = r"(?=[\w+/]*(?-i:[a-z]))(?=[\w+/]*(?-i:[A-Z]))(?=(?:[\w+/]*?\d){2})"
_HASHED = r"sha|md5|hash|commit|digest|\bid\b|uuid|rev|check|build|finger|empreint|etag|image"
_RANDOM = rf"(?=\w*[a-z])(?=\w*[A-Z])(?=(?:\w*?\d){{3}})\w{{{CLAUSE_CHARS},}}"
_NONE, _WEAK, _STRONG = 0, 1, 2
"""Grades that `shape` gives."""
_SIGNS = "!@#$%^&*?~+"
_DIGITS = frozenset("0123456789")
_VALUE_SIGNS = (
    *(" is", " was ", " ist ", " lautet", " es ", " est ", " era ", " é ", " è ", " to ", " auf "),
    *(" à ", " heißt ", " jest", '"', "'", "`", "„", "“", "«", "「", "：", ":", "=", "-", "!", "#"),
    *("&", "$", "%", "*"),
)


class Named:
    """A noun, and what links it to the value that may begin at `end`."""

    def __init__(self, noun: re.Match[str], link: re.Match[str] | None, text: str) -> None:
        self.kind, self.noun = noun.lastgroup or "", noun[0].lower()
        self.start, self.noun_end = noun.span()
        self.about = bool(link and link["about"])
        self.link = link["link"].strip().lower() or " " if link else ""
        following = text[self.noun_end : self.noun_end + 1]
        self.is_direct = not link and following in (" ", "“", "「", "«")
        self.end = link.end() if link else self.noun_end + (following == " ")

    def before(self, text: str, chars: int) -> str:
        return text[max(0, self.start - chars) : self.start]


def sentence_spans(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and kind of each value; spans may overlap."""
    for named in _nouns(text):
        if _is_public(named, text):
            continue
        name = "secret" if named.kind == "secret" else "password"
        for rule in RULES[named.kind]:
            if spans := rule(named, text):
                yield from ((start, end, name) for start, end in spans)
                break


def _nouns(text: str) -> Iterator[Named]:
    places = sorted(_places(text.lower()))
    if not places:
        return
    import re

    noun, link, end = re.compile(_NOUN), re.compile(_LINK), 0
    inside = re.compile(r"\[redacted:[\w-]*\Z")  # the name of what was found before
    for at in places:
        found = None
        for found in noun.finditer(text, max(end, at - NAME_CHARS), at + NOUN_CHARS):
            end = found.end()
            if inside.search(text, max(0, found.start() - NAME_CHARS), found.start()):
                continue
            yield Named(found, link.match(text, end), text)


def _places(lowered: str) -> Iterator[int]:
    """Yield where a noun is followed by what may be a value."""
    kinds: list[tuple[str, Callable[[str], bool]]] = [
        (PASSWORD_HINTS, _has_value),
        (PHRASE_HINTS, bool),
        (CODE_HINTS, _has_digit),
        (SECRET_HINTS, _has_opaque),
    ]
    if not lowered.isascii():
        kinds += [(OTHER_HINTS, _has_value), (OTHER_SECRET_HINTS, _has_opaque)]
    for hints, is_followed in kinds:
        for hint in hints.split():
            at = lowered.find(hint)
            while at >= 0:
                at += len(hint)
                if is_followed(lowered[max(0, at - 60) : at + WINDOW_CHARS]):
                    yield at
                at = lowered.find(hint, at)


def _has_value(window: str) -> bool:
    return _has_digit(window) or any(sign in window for sign in _VALUE_SIGNS)


def _has_digit(window: str) -> bool:
    return not _DIGITS.isdisjoint(window)


def _has_opaque(window: str) -> bool:
    return _has_digit(window) and any(
        len(word) >= OPAQUE_CHARS and _has_digit(word) for word in window.split()
    )


def _linked(named: Named, text: str) -> list[tuple[int, int]]:
    """Find the value right after "is", ":" or the noun itself."""
    found = _password(named, text)
    return [found] if found else []


def _stated_before(named: Named, text: str) -> list[tuple[int, int]]:
    """Find the value in "everybody uses X as password" and "X is the password"."""
    import re

    before = named.before(text, 90)
    found = re.search(
        rf"""(?i)([^\s"'`«»“”„「」]{{5,60}})\s?["'`»”“」]?(?:\s+(?:{_AS}|is|ist|est|es|è|é)\s+"""
        r"(?:[^\W\d_]+['’\s]\s*){0,3}|\s?(?:を|作为|当|做))\Z",
        before,
    )
    if not found or shape(found[1]) < _WEAK:
        return []
    start = named.start - len(before) + found.start(1)
    return [(start, start + len(found[1]))]


def _in_clause(named: Named, text: str) -> list[tuple[int, int]]:
    """Find a strong value anywhere in the clause after the noun; in another script a weak one."""
    for start, value in _tokens(text, named.noun_end):
        is_foreign = value.isascii() and not named.noun[0].isascii()
        if (
            shape(value) >= (_WEAK if is_foreign else _STRONG)
            and text[start + len(value) : start + len(value) + 1] != "("
        ):
            return [(start, start + len(value))]
    return []


def _logs_in(named: Named, text: str) -> list[tuple[int, int]]:
    """Find the value in "log in as root with X" and "the account was reset to X"."""
    import re

    clause = re.compile(_CLAUSE).match(text, named.noun_end)
    found = clause and re.search(
        rf"(?i)(?:^|\s|(?=:))"
        rf"(?:(?P<as>{_AS}\s+\S+\s+)(?:{_WITH}|[/:])|{_WITH}|:\s+\S+\s+/)\s+"
        rf"(?:(?:\S+\s+){{1,2}}?{_AND}\s+)?[\"'`]?(?P<value>[^\s\"'`]{{5,}})",
        clause[0],
    )
    if not clause or not found:
        return []
    value = found["value"].rstrip(".,;:?")
    least = _WEAK if found["as"] else _STRONG
    start = clause.start() + found.start("value")
    return [(start, start + len(value))] if shape(value) >= least else []


def _beside_user(named: Named, text: str) -> list[tuple[int, int]]:
    """Find the value in "root / X" and in columns."""
    import re

    found = re.compile(rf"(?:[ ]?[、,:/|][ ]?|[ ]{{2,}})({_TOKEN})").match(text, named.noun_end)
    if not found or named.noun not in ("root", "admin"):
        return []
    value = found[1].rstrip(".,;:")
    mixed = all(any(map(has, value)) for has in (str.isupper, str.islower, str.isdigit))
    return [(found.start(1), found.start(1) + len(value))] if mixed and shape(value) else []


def _opens(named: Named, text: str) -> list[tuple[int, int]]:
    """Find the digits of a PIN, of a code for a door, and of codes for recovery."""
    import re

    spelled = text[named.start : named.noun_end]
    opens = spelled in ("PIN", "PUK", "暗証番号") or "pincode" in named.noun
    opens = opens or _is_of_a_thing(text, named.noun_end)
    before = named.before(text, 60).rpartition("\n")[2] + named.noun
    spans = []
    for start, value in _tokens(text, named.noun_end):
        if not _is_code(value) and (named.kind != "code" or shape(value) < _STRONG):
            continue
        if opens or re.search(_ACCESS, before + text[named.noun_end : start]):
            spans.append((start, start + len(value)))
    grouped = [span for span in spans if "-" in text[slice(*span)]]
    return grouped or spans[:1]


def _opaque(named: Named, text: str) -> list[tuple[int, int]]:
    """Find a long value without meaning right after its name."""
    import re

    if not named.link and not named.is_direct:
        return []
    mixed = _BOTH if named.noun == "key" else ""
    value = rf"""["'`„“«]?({mixed}{OPAQUE}[\w+/=~.-]{{{OPAQUE_CHARS},}})"""
    found = re.compile(value, re.ASCII | re.I).match(text, named.end)
    if not found or found[1].count("/") > 3:
        return []
    if re.match(_NO_LITERAL, found[1]) and len(found[1]) not in KEY_LENGTHS:
        return []
    return [(found.start(1), found.start(1) + len(found[1].rstrip(".")))]


def _strong_beside(named: Named, text: str) -> list[tuple[int, int]]:
    """Find a chosen word with a sign in it: "the key of the lodge is X!2030"."""
    start, value = next(_tokens(text, named.end), (0, ""))
    beside = (named.link or named.is_direct) and start - named.end < 2
    is_chosen = shape(value) == _STRONG and any(sign in value for sign in "!@#$%^&*")
    return [(start, start + len(value))] if beside and is_chosen else []


def _opaque_in_clause(named: Named, text: str) -> list[tuple[int, int]]:
    import re

    for start, value in _tokens(text, named.noun_end):
        if re.fullmatch(_RANDOM, value) or _is_stated_hex(value, text[named.noun_end : start]):
            return [(start, start + len(value))]
    return []


def _is_stated_hex(value: str, before: str) -> bool:
    import re

    is_hex = re.fullmatch(r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}", value) is not None
    return is_hex and before.endswith(": ") and not re.search(_HASHED, before.lower())


def _opaque_before(named: Named, text: str) -> list[tuple[int, int]]:
    """Find the value in "X is the deploy token"."""
    import re

    before = named.before(text, 160)
    found = re.search(rf"(?<![\w/.-])({_RANDOM})[\"'`]?\s+(?:[^\W\d_]+\s+){{0,4}}\Z", before)
    if not found:
        return []
    start = named.start - len(before) + found.start(1)
    return [(start, start + len(found[1]))]


def _is_public(named: Named, text: str) -> bool:
    import re

    near = named.before(text, 16) + text[named.start : named.end]
    return re.search(r"p[uú]bli|\bsite\b|öffentlich|openba|открыт|公", near.lower()) is not None


RULES = {
    "password": (_linked, _stated_before, _in_clause, _opens),
    "code": (_opens,),
    "login": (_logs_in, _beside_user),
    "secret": (_opaque, _strong_beside, _opaque_in_clause, _opaque_before),
}


def _is_of_a_thing(text: str, at: int) -> bool:
    """Tell whether a code is one for a thing: "codice del cancello", "code for the gate"."""
    import re

    return (
        re.compile(
            r"(?i) (?:(?:for|of|to|at) (?:the|our|my)|del?l[ao']?|d[oa]|du|de la|van (?:de|het)"
            r"|voor|zum|zur|für|vom|от|к)\b"
        ).match(text, at)
        is not None
    )


def _is_code(value: str) -> bool:
    import re

    if re.fullmatch(r"\d{2}(?:-\d{2}){2,3}|\d{3}-\d{3}|\d{4}-\d{4}", value):
        return True
    if re.fullmatch(r"\d{4,12}[#*]?", value):
        return not re.fullmatch(r"(?:19|20)\d\d", value)
    digits = sum(sign.isdigit() for sign in value)
    if re.fullmatch(r"[0-9a-z]{4,6}(?:-[0-9a-z]{4,6}){1,3}", value):
        return digits > 1 and len({len(part) for part in value.split("-")}) == 1
    return 5 <= len(value) <= 10 and value.isalnum() and value.isupper() and digits > 1


def _tokens(text: str, at: int) -> Iterator[tuple[int, str]]:
    import re
    from itertools import islice

    clause = re.compile(_CLAUSE).match(text, at)
    if not clause:
        return
    words = clause[0]
    for token in islice(re.finditer(_TOKEN, words), CLAUSE_TOKENS):
        if token[0].isalpha():
            continue
        opened = token[0].lstrip("'=:")
        start = token.end() - len(opened)
        end = start + len(opened.rstrip(".,;:!?'"))
        if end > start:
            goes_on = re.match(r"[!?] [^\W\d_A-Z]", words[end : end + 3])
            yield at + start, words[start : end + bool(goes_on)]


def _password(named: Named, text: str) -> tuple[int, int] | None:
    import re

    at = named.end
    if not (named.link or named.is_direct) or _is_sentence(named, text):
        return None
    if named.noun in ("pin", "puk", "pincode"):
        digits = re.compile(r"[\"'`]?(\d{4,12})(?![\w.])").match(text, at)
        return digits.span(1) if digits else None
    grouped = re.compile(_GROUPS).match(text, at) if named.link else None
    if grouped:
        return grouped.span()
    closing = _QUOTES.get(text[at : at + 1])
    if closing:
        return _find_quoted(named, text, at + 1, closing)
    return _find_phrase(named, text) or _find_word(named, text)


def _find_word(named: Named, text: str) -> tuple[int, int] | None:
    import re

    word = re.compile(_VALUE_WORD).match(text, named.end)
    if not word:
        return None
    value = word[0].rstrip(".,;:)\"'`")
    if named.link == "=":
        value = re.split("[;&,]", value)[0]
    is_value = _is_linked if named.link else _is_direct
    return (named.end, named.end + len(value)) if is_value(named, value, text) else None


def _is_linked(named: Named, value: str, text: str) -> bool:
    """Tell whether the word behind "password is" or "password:" is the value."""
    import re

    if re.fullmatch(r"\d{6,12}", value):
        return True
    if _is_code_or_term(value):
        return False
    is_copula = named.link not in (":", "：", "=", "-", "—", "–")
    if re.match(_SNAKE, value) and not (is_copula and re.search(r"[a-z]{3}\d\Z", value)):
        return False
    if shape(value, snake=True) or _is_strong(value):
        return not _is_assigned(named)
    is_named = named.link in ("is", "is:", "was") and named.noun.startswith("pass")
    return is_named and _is_stated_word(value, text, named.end + len(value))


def _is_assigned(named: Named) -> bool:
    """Tell of `password: …`, which is for the table of patterns."""
    names = ("password", "passphrase", "passcode")
    return not named.about and named.link in (":", "=") and named.noun in names


def _is_sentence(named: Named, text: str) -> bool:
    """Tell whether "phrase" is one of a text, and none that opens something."""
    import re

    near = named.before(text, 16) + text[named.noun_end : named.end]
    is_bare = re.fullmatch(_PHRASES, named.noun) is not None
    return is_bare and not re.search(
        r"(?i)s[eéè][ck]r|segr|rec[uo]|récup|seed|pas[so]|lock|тайн|секр", near
    )


def _is_direct(named: Named, value: str, text: str) -> bool:
    """Tell whether the word right behind the noun is the value: "with password …"."""
    import re

    if _is_code_or_term(value):
        return False
    before = named.before(text, 60)
    if _is_strong(value) and re.match(_LEADING_IN, before, re.S):
        return True
    has_upper = any(sign.isupper() for sign in value) and any(sign.islower() for sign in value)
    has_digit = any(sign.isdigit() for sign in value)
    is_verb = named.noun == "pass"
    if not is_verb and has_upper and has_digit and shape(value) == _WEAK:
        return True
    # English puts the noun before what it modifies: "password end-to-end encryption"
    is_joined = len(re.split(r"[-_.]", value)) > 2 and shape(value, snake=True) > 0
    return is_joined and not named.noun.startswith("p")


def _find_phrase(named: Named, text: str) -> tuple[int, int] | None:
    """Find several plain words that end their clause, after "passphrase …:"."""
    import re

    is_phrase = re.search(_PHRASES, named.noun) is not None
    if not is_phrase or not re.fullmatch(rf"[:：=]|{_TYPE}:?", named.link):
        return None
    found = re.compile(r"((?:[^\W\d_]+ ){3,11}[^\W\d_]+)(?=[.,;!)]|\s*\n|\s*\Z)").match(
        text, named.end
    )
    if not found or not found[1][:1].islower() or re.search(_MESSAGE, found[1]):
        return None
    return found.span(1)


def _is_stated_word(value: str, text: str, end: int) -> bool:
    """Tell whether a plain word, at the end of its sentence, is stated rather than described."""
    import re

    is_word = value.isascii() and value.isalpha() and len(value) >= 6
    if not is_word or re.match(_DESCRIBING, value):
        return False
    return re.compile(_ENDS_SENTENCE).match(text, end) is not None


def _find_quoted(named: Named, text: str, start: int, closing: str) -> tuple[int, int] | None:
    """Find a quoted phrase, unless it is a message or a name in code."""
    line = text[start : start + PHRASE_CHARS].partition("\n")[0]
    ends = [end for sign in closing if (end := line.find(sign)) >= 0]
    if not ends:
        return None
    phrase = line[: min(ends)]
    value = phrase.strip()
    if len(value.split()) > 1:
        chosen = _is_passphrase(value)
    elif closing in ("」", "”") and not value.isascii():
        chosen = len(value) >= 6  # in a script without blanks, a phrase
    else:
        chosen = _is_strong(value) and not _is_code_or_term(value)
    if not chosen:
        return None
    start += phrase.index(value) if value else 0
    return start, start + len(value)


def _is_passphrase(value: str) -> bool:
    """Tell whether several quoted words were chosen as a secret, and are no message."""
    import re

    words = value.split()
    chosen = len(words) > 2 or _is_strong(value.replace(" ", ""))
    lowercase = value[:1].islower() or all(word.istitle() or word.isdigit() for word in words)
    return chosen and lowercase and "," not in value and not re.search(_MESSAGE, value)


def shape(value: str, *, snake: bool = False) -> int:
    """Tell if a word looks chosen as a secret: _NONE, _WEAK as a name with a number, or _STRONG."""
    import re

    if not 5 <= len(value) <= 200 or _is_code_or_term(value):
        return _NONE
    if not snake and (re.match(_SNAKE, value) or re.match(_HASH, value)):
        return _NONE
    if not any(map(str.isalpha, value)):
        return _NONE
    parts = re.split(r"[-_.]", value)
    if any(map(str.isdigit, value)):
        return _STRONG if any(is_chosen(value, parts) for is_chosen in CHOSEN) else _WEAK
    is_joined = len(parts) > 2 and all(map(str.isalpha, parts))
    return _WEAK if is_joined or re.search(rf"\w[{_SIGNS}]\w", value) else _NONE


def _has_sign(value: str, parts: list[str]) -> bool:
    import re

    is_reference = re.fullmatch(r"[\w/.-]*#\d+", value)
    return not is_reference and re.search(rf"\w[{_SIGNS}](?:\w|\Z)", value) is not None


def _is_joined_in_both_cases(value: str, parts: list[str]) -> bool:
    return len(parts) > 2 and any(map(str.isupper, value)) and any(map(str.islower, value))


def _is_grouped(value: str, parts: list[str]) -> bool:
    """Tell of groups as on a card with codes."""
    is_even = len(parts) > 1 and len(set(map(len, parts))) == 1
    return is_even and len(value) > 7 and not any(map(str.islower, value))


def _alternates(value: str, parts: list[str]) -> bool:
    """Tell of letters that digits part more than once: "k7q2m9x"."""
    import re

    is_one = len(parts) == 1 and len(value) > 6
    return is_one and len(re.findall(r"[^\W\d_]\d+(?=[^\W\d_])", value)) > 1


CHOSEN = (_has_sign, _is_joined_in_both_cases, _is_grouped, _alternates)
"""Each looks at a word with letters and digits, and at its parts; one that holds is enough."""


def _is_code_or_term(value: str) -> bool:
    import re

    return bool(re.match(_NO_LITERAL, value) or re.match(_TECHNICAL, value))


def _is_strong(value: str) -> bool:
    letter = any(sign.isalpha() for sign in value)
    digit = any(sign.isdigit() for sign in value)
    sign = any(each in _SIGNS for each in value[1:-1])
    return len(value) >= 5 and letter and (digit or sign)
