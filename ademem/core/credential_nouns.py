"""Names of credentials in prose and in code: "contraseña", `DB_PASS`, `authKey`, "код"."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

# `|` is the edge of a word, also inside a name: `|pass|` is in `DB_PASS` and `ftpPass`. `_` is any
# of blank, hyphen and underscore. Names without accents are found with them. Languages: en, de,
# fr, es, it, pt, nl, pl, sv, da, fi, tr, cs, hu, el, ru, ar, zh, ja and ko.
NOUNS = {
    "password": """
        passw passord kennwort mot_de_passe |mdp| contrase senha palavra_passe wachtwoord |ww|
        |hasl парол 密码 密碼 口令 暗証 暗号 パス 비밀번호 비번 암호 |pwd| |pw| bindpw
        |psk |pin| |puk| |пин| pass| |clave| lösen losenord adgangskode kodeord salasana
        |parol sifre heslo hesla jelszo κωδικ كلمة_المرور كلمة_السر باسورد
    """,
    "phrase": """
        passphrase phrase frase fraza фраз mnemonic code_word codeword codewort кодовое_слово
        секретное_слово 合言葉
    """,
    "secret": """
        secret segret segred シークレット geheim token токен トークン 토큰 令牌 bearer |key|
        schlüssel schluessel 密钥 鍵 キー |cle| |chave chiave klucz ключ sleutel |auth| |hmac|
        cookie |seed
    """,
    "code": "code codig codic kod| kodu| koden| |код الرمز コード 码 코드",
    "login": """
        log_in login sign_in |entra accesso zugang inlog |root admin логин account |wifi |wlan
        unlock credenci
    """,
    "lock": """
        |alarm allarm antifurt сигнализ |safe| tresor cofre caja_fuerte cassafort coffre сейф kluis
        sejf 金庫 schloss cadenas candado cadeado lucchett combina kombi комбинац |door| |portao
        portail interphone domofon домофон
    """,
    "pair": "|/|",
}
_STEMS = [
    (kind, spelled.strip("|"), spelled[0] == "|", spelled[-1] == "|")
    for kind, words in NOUNS.items()
    for word in words.split()
    for spelled in ([word.replace("_", join) for join in " -_"] if "_" in word else [word])
]
STEMS = frozenset(stem for _, stem, _, _ in _STEMS)
PASSWORD_STEMS = frozenset(stem for kind, stem, _, _ in _STEMS if kind == "password")
_RANKS: dict[str, list[int]] = {stem: [] for stem in STEMS}
for _rank, _each in enumerate(_STEMS):
    _RANKS[_each[1]].append(_rank)
_PLAIN = dict(
    zip(
        "àáâãäåąçćčďèéêëęěìíîïığłñńňòóôõöøőřśşšťùúûüůűýźżž",
        "aaaaaaacccdeeeeeeiiiiiglnnnooooooorssstuuuuuuyzzz",
        strict=True,
    )
)
_ACCENTED = f"[{''.join(_PLAIN)}]"


class Noun(Value):
    kind: str
    start: int
    end: int
    stem: str


def without_accents(lowered: str) -> str:
    """Return a text of the same length."""
    return regex.sub(_ACCENTED, lambda found: _PLAIN[found[0]], lowered)


def find_nouns(text: str, stems: Collection[str] = STEMS) -> list[Noun]:
    """Return the names in the order of the text; of overlapping ones the longest.

    Other *stems* than these are not in the text.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" has two characters
        lowered = "".join(lower if len(lower := char.lower()) == 1 else char for char in text)
    found = sorted(_places(text, lowered, stems), key=lambda noun: (noun.start, -noun.end))
    nouns: list[Noun] = []
    for noun in found:
        if not nouns or noun.start >= nouns[-1].end:
            nouns.append(noun)
    return nouns


def _places(text: str, lowered: str, stems: Collection[str]) -> Iterator[Noun]:
    plain = lowered if lowered.isascii() else without_accents(lowered)
    for rank in sorted([rank for stem in stems if stem in _RANKS for rank in _RANKS[stem]]):
        kind, stem, starts, ends = _STEMS[rank]
        searched = plain if stem.isascii() else lowered
        at = searched.find(stem)
        while at >= 0:
            end = at + len(stem)
            if kind == "pair" and text[at - 1 : end + 1] != " / ":
                at = searched.find(stem, end)
                continue
            if (not starts or _is_edge(text, at)) and (not ends or _is_edge(text, end)):
                yield Noun(kind=kind, start=at, end=end, stem=stem)
            at = searched.find(stem, end)


def _is_edge(text: str, at: int) -> bool:
    """Tell whether a word of prose or of a name begins or ends here."""
    before, after = text[at - 1 : at], text[at : at + 1]
    is_word = before.isalpha() and after.isalpha()
    is_inside = is_word and _is_ideograph(before) == _is_ideograph(after)
    return not is_inside or (before.islower() and after.isupper())


def _is_ideograph(char: str) -> bool:
    return char >= "\u2e80"
