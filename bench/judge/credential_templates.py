"""Texts with and without secrets, made of the templates in `corpus/credentials/project.txt`.

What stands between ⟦ and ⟧ is a secret. `@pw` and its relatives become values of random form, so
that no form belongs to one sentence.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path

TEMPLATES = Path(__file__).parent / "corpus" / "credentials" / "project.txt"
WORDS = """
    otter maple violet rain kettle harbor lantern pepper walnut regen katze apfel sommer hafen
    soleil chat pomme nuage verre tren gato luna verano mesa fiume gatto sole vento pane praia
    peixe sol verde kaas fiets regenboog zamek kot jesien rzeka snö katt sommar drake
""".split()
SERVICES = """
    auth-service billing-api edge-proxy user-import report_job mail-relay web-2 prod-eu-3 cache01
    order_sync get-caller-identity list-user-pools end-to-end sign-in-page search-v2
    login-ui token-store wasm32-wasi arm64-v8a x86_64-linux-gnu armv7-none-eabi
""".split()
TERMS = """
    argon2 RS256 HS512 ES256 SHA-256 AES-256-GCM argon2id bcrypt PBKDF2 scrypt OAuth2 OIDC SAML2
    TLS1.3 ed25519 PKCS12 WPA2-PSK WPA3 JWT HTTP/2 Base64 UTF-8 X.509 FIDO2 WebAuthn MFA TOTP LDAPv3
    4096-bit RSA-2048
""".split()
PHRASES = (
    """
    grey foxes sleep under the bridge/nine quiet lamps in a row/my uncle paints wet stones
    tired robots drink cold tea/paper boats never come home/acht kleine Enten im Schnee
    der Mond mag keine Suppe/alte Leiter lehnt am Baum/vier blaue Stühle am See
    le chat dort sur la lune/deux pommes et un vieux train/la pluie chante trop fort
    cinco gatos miran el mar/mi abuela baila sin zapatos/el tren azul llega tarde
    tre pesci sopra il tetto/la nonna conta le nuvole/vento freddo e pane caldo
    sete barcos na chuva fina/o gato preto bebe chá/lua cheia sobre o rio
    vijf natte schapen in de tuin/de fiets slaapt onder een boom/zes witte duiven boven zee
    siedem kotów na dachu/stary zegar lubi deszcz/zielony pociąg jedzie nocą
    sju trötta älgar vid sjön/sex röda båtar i regn/пять серых котов на крыше
    старый трамвай едет домой/белый кот любит дождь
    the moon and two of my shoes/a hat for the old cat/never on a rainy tuesday but always home
    under the stairs by the red door/who left the gate open again/not without a spoon
    die Katze und der alte Hut/nicht ohne meinen Schirm aus Holz/bei Regen in der blauen Kanne
    avec un peu de sel/deux moutons sous la table/sans le chien du voisin
    la casa de la abuela verde/sin pan y con mucho queso/con il pane e senza sale
    quatro barcos sem vela/na beira do rio velho/met een hond in de trein
""".strip()
    .replace("\n", "/")
    .split("/")
)
SIGNS = {"hex": "0123456789abcdef", "HEX": "0123456789ABCDEF", "digits": "0123456789"}
TIMES = 3
"""Texts of one template."""


def read_templates() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield texts with their secrets."""
    pattern = re.compile(rf"@({'|'.join([*SIGNS, *MAKERS])})(\d*)")
    for line in TEMPLATES.read_text(encoding="utf-8").splitlines():
        chance = random.Random(line)  # a new line changes no other
        for _ in range(TIMES if "@" in line else 1):
            made = pattern.sub(lambda found: _fill(found[1], found[2], chance), line)  # noqa: B023
            secrets = re.findall("⟦([^⟧]*)⟧", made.replace("\\n", "\n"))
            yield re.sub("[⟦⟧]", "", made.replace("\\n", "\n")), tuple(secrets)


def _fill(kind: str, count: str, chance: random.Random) -> str:
    if kind in SIGNS:
        return _some(SIGNS[kind], int(count), chance)
    return MAKERS[kind](chance) + count


def _some(signs: str, count: int, chance: random.Random) -> str:
    return "".join(chance.choice(signs) for _ in range(count))


def _password(chance: random.Random) -> str:
    """Return a password as people choose them."""
    one, two, three = chance.sample(WORDS, 3)
    number = str(
        chance.choice((chance.randrange(10), chance.randrange(100), chance.randrange(1950, 2030)))
    )
    sign, join = chance.choice("!#$%&*?@+"), chance.choice("-_.")
    forms = (
        f"{one.title()}{number}{sign}",
        f"{one.title()}{sign}{two}{number}",
        f"{one}{join}{two}{join}{number}",
        f"{one.title()}{join}{two.title()}{join}{number}",
        f"{one}{join}{two}{join}{three}",
        f"{one}{join}{two.title()}{join}{three}{number}",
        f"{one}{two.title()}{number}",
        f"{one}{number}{two.title()}",
        f"{one}_{two}{number}",
        f"{one}{number}",
        f"{one.title()}{two.title()}{three.title()}",
        f"{one.upper()}-{two}-{number}",
        f"{one}{sign}{two.title()}",
        f"{one.replace('o', '0').replace('e', '3').replace('a', '4')}{two.title()}{sign}",
        f"{one.title()}{number}{join}{two}{sign}",
        _some(string.ascii_letters + string.digits, 12, chance) + number,
        _some(string.ascii_lowercase + string.digits, 8, chance) + number,
    )
    return chance.choice(forms)


def _pin(chance: random.Random) -> str:
    digits = [_some("0123456789", count, chance) for count in (4, 4, 4, 5, 6, 2, 3)]
    letter = chance.choice("ABCDK")
    pairs = chance.choice(" -").join(_some("0123456789", 2, chance) for _ in range(3))
    marked = (
        digits[0] + letter,
        letter + digits[1],
        digits[5] + letter + digits[0],
        digits[1] + "#",
    )
    return chance.choice(
        (*digits[:5], *digits[:5], *marked, pairs, digits[5] + letter + digits[5] + letter)
    )


def _group(chance: random.Random) -> str:
    signs = chance.choice((string.ascii_lowercase + string.digits, "ABCDEFGHJKLMNPQR23456789"))
    length = chance.choice((4, 5))
    return "-".join(_some(signs, length, chance) for _ in range(chance.choice((2, 3))))


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "pw": _password,
    "pin": _pin,
    "phrase": lambda chance: chance.choice(PHRASES),
    "group": _group,
    "word": lambda chance: (
        chance.choice(WORDS) + chance.choice(("", "fish", "stone", "moon", "horse"))
    ),
    "mix": lambda chance: _some(
        string.ascii_letters + string.digits, chance.randrange(20, 28), chance
    ),
    "short": lambda chance: _some(string.ascii_letters + string.digits, 12, chance),
    "opaque": lambda chance: _some(
        string.ascii_letters + string.digits, chance.randrange(28, 48), chance
    ),
    "ticket": lambda chance: (
        chance.choice(("OPS-", "#", "PR ", "WEB-")) + str(chance.randrange(100, 9999))
    ),
    "file": lambda chance: chance.choice(
        ("src/auth.py", "login.tsx", "config/app2.yaml", "Token2.java")
    ),
    "host": lambda chance: chance.choice(
        ("db03", "node07", "build-3", "web2.example.org", "nas01", "gw-eu1")
    ),
    "ver": lambda chance: (
        f"{chance.choice(('', 'v'))}{chance.randrange(9)}.{chance.randrange(30)}.1"
    ),
    "svc": lambda chance: chance.choice(SERVICES),
    "term": lambda chance: chance.choice(TERMS),
    "user": lambda chance: chance.choice(
        ("mmueller2", "svc_backup", "jdoe", "ci-bot", "anna.k", "stage03")
    ),
    "date": lambda chance: chance.choice(
        ("2026-03-01", "12.5.2025", "01/04/2026", "2025-11-30T08:00:00Z")
    ),
    "room": lambda chance: chance.choice(("B12", "2.114", "A-03", "C4", "EG17")),
    "code": lambda chance: chance.choice(
        (
            f"KX-{chance.randrange(100)}-{chance.randrange(999)}L",
            f"L{chance.randrange(9999)}B{chance.randrange(99)}",
            f"SPRING{chance.randrange(10, 99)}",
            f"A{chance.randrange(10**5, 10**6)}",
            f"{chance.randrange(10**6)}-{chance.randrange(99)}",
        )
    ),
    "uuid": lambda chance: "-".join(
        _some("0123456789abcdef", count, chance) for count in (8, 4, 4, 4, 12)
    ),
    "ip": lambda chance: ".".join(str(chance.randrange(256)) for _ in range(4)),
    "path": lambda chance: chance.choice(
        ("/run/secrets/db", "secret/data/app2", "kv/shop/stripe", "~/.config/app2")
    ),
}
