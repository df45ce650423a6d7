"""Names of credentials in prose and in code: "contraseña", `DB_PASS`, `authKey`, "код"."""

from __future__ import annotations

from ademem.core.value import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# `|` is the edge of a word, also inside a name: `|pass|` is in `DB_PASS` and `ftpPass`. `_` is any
# of blank, hyphen and underscore. Names without accents are found with them. Languages: en, de,
# fr, es, it, pt, nl, pl, sv, da, fi, tr, cs, hu, el, ru, ar, zh, ja and ko.
NOUNS = {
    "password": """
        passw passcode passord kennwort losungswort mot_de_passe |mdp| contrase senha palavra_passe
        wachtwoord |ww| |hasl парол 密码 密碼 口令 暗証 暗号 合言葉 パス 비밀번호 비번
        암호 |pwd| |pw| |psw |psk |pin| |pincode |puk| |пин| pass| |clave| lösen losenord
        adgangskode kodeord salasana |parol sifre heslo hesla jelszo κωδικ geheimzahl
        كلمة_المرور كلمة_السر باسورد
    """,
    "phrase": "passphrase pass_phrase phrase frase fraza фраз フレーズ mnemonic wachtzin",
    "secret": """
        secret segret token |key| credential |creds| |seed schlüssel schluessel |clé 密钥 密鑰 秘钥
        令牌 キー トークン 鍵 토큰 chiave chave klucz ключ sleutel llave |salt| |auth| authorization
        bearer cookie |session |sid|
    """,
    "code": """
        code codig codic kod| kody| kodu| kodem| koden| kode| |код الرمز コード 码 碼 코드 combo
        combina kombi комбинац keypad
    """,
    "login": """
        log_in login logged_in sign_in anmeld einlogg |entra |entre |entro connect acceso accesso
        accès acced acesso zugang toegang dostęp zalogu inlog |root admin войти войд вход доступ
        логин учётк 登录 登陆 账号 帐号 ログイン アカウント 로그인 계정 account konto compte cuenta
        conta| |wifi |wlan wi-fi |vpn| |ssid| |ssh| |sudo| unlock credenci credenzial identifiant
    """,
    "pair": "|/|",
}
_STEMS = [
    (kind, spelled.strip("|"), spelled[0] == "|", spelled[-1] == "|")
    for kind, words in NOUNS.items()
    for word in words.split()
    for spelled in ([word.replace("_", join) for join in " -_"] if "_" in word else [word])
]
_ASCII_STEMS = [each for each in _STEMS if each[1].isascii()]
_PLAIN = str.maketrans(
    "àáâãäåąçćčďèéêëęěìíîïığłñńňòóôõöøőřśşšťùúûüůűýźżž",
    "aaaaaaacccdeeeeeeiiiiiglnnnooooooorssstuuuuuuyzzz",
)


class Noun(Value):
    kind: str
    start: int
    end: int
    stem: str


def find_nouns(text: str) -> list[Noun]:
    """Return the names in the order of the text; of overlapping ones the longest."""
    lowered = text.lower()
    if len(lowered) != len(text):  # "İ" has two characters
        lowered = "".join(lower if len(lower := char.lower()) == 1 else char for char in text)
    found = sorted(_places(text, lowered), key=lambda noun: (noun.start, -noun.end))
    nouns: list[Noun] = []
    for noun in found:
        if not nouns or noun.start >= nouns[-1].end:
            nouns.append(noun)
    return nouns


def _places(text: str, lowered: str) -> Iterator[Noun]:
    plain = lowered if lowered.isascii() else lowered.translate(_PLAIN)
    for kind, stem, starts, ends in _ASCII_STEMS if lowered.isascii() else _STEMS:
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
    return not (before.isalpha() and after.isalpha()) or (before.islower() and after.isupper())
