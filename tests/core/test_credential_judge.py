"""The judge of words near the name of a credential."""

from __future__ import annotations

import pytest

from ademem.core import credential_judge
from ademem.core.credential_forms import is_harmless
from ademem.core.credential_nouns import find_nouns
from ademem.core.judge import DamagedJudge
from ademem.core.redaction import redact


@pytest.mark.parametrize(
    ("text", "stems"),
    [
        pytest.param(
            "DB_PASS and ftpPass, but no compass", ["pass", "pass", "pass"], id="in names"
        ),
        pytest.param("la contraseña del wifi", ["contrase", "wifi"], id="in a sentence"),
        pytest.param("mot-de-passe, mot de passe", ["mot-de-passe", "mot de passe"], id="joined"),
        pytest.param("YAYIN_SIFRE, yayın şifresi", ["sifre", "sifre"], id="with accents or none"),
        pytest.param("api_schluessel", ["schluessel"], id="with two letters for an umlaut"),
        pytest.param("spinning a keyboard", [], id="inside of other words"),
        pytest.param("暗証番号とコード", ["暗証", "コード"], id="without blanks"),
    ],
)
def test_names_of_credentials_are_found_in_prose_and_in_code(text, stems):
    assert [noun.stem for noun in find_nouns(text)] == stems


def test_a_text_without_a_name_has_no_candidates():
    assert not list(credential_judge.candidates_near("Otter-Kettle#47", []))


OTHER_FORMS = """
    v2.3.1 2026-11-29 10.0.0.7 OPS-412 postgres:16 vpc-01d11a0201bca4b4d #c0ffee 0x0D src/auth.py
    notes.txt me@example.org $TOKEN_2 https://x.io/a1 sha256:ab12cd34 max_age=3600 --flag2
    hooks/start.sh:17@b9dbfce0aa303771 28P01 2200H 0A000 XX001 800ms 30s
    4-way 64-bit 0x40022004u e4fb600e4..d8ea15570 Ctrl+Shift+P Alt+F4 BBC15E452D296B8E
    registry.example/api@sha256:ab12cd34ab12cd34 notes.session.v3 90deg,#c1292e,#f2c14e WPA2-PSK
"""


@pytest.mark.parametrize("value", OTHER_FORMS.split())
def test_what_has_a_form_of_its_own_is_no_candidate(value):
    assert is_harmless(value, is_quoted=False)


CHAT = "kai: anyone know the jenkins login?\nmo: user admin\n"


@pytest.mark.parametrize(
    ("place", "is_redacted"),
    [
        pytest.param("the printer's password is {} since Monday", True, id="behind the name"),
        pytest.param("we took {} as the root password", True, id="before the name"),
        pytest.param("adgangskoden til serveren er {}", True, id="in Danish"),
        pytest.param("كلمة المرور للخادم هي {} اليوم", True, id="in Arabic"),
        pytest.param("the password is in ${{{}}}", False, id="as a variable"),
        pytest.param("the train to {} leaves at nine", False, id="without a name"),
        pytest.param("the train is {}. Password rules stay", False, id="in another sentence"),
        pytest.param("the password:\n\n{}", True, id="on the next line that has words"),
        pytest.param("the password is\n{}", True, id="below a line that goes on"),
        pytest.param("{}\nis the password", False, id="on the line above"),
        pytest.param("## Root password\n\n- {}", True, id="alone below a heading"),
        pytest.param("Login for the shop:\nanna\n{}", True, id="below a line with a colon"),
        pytest.param("**Root password**\n{}", True, id="below a bold line"),
        pytest.param("the **root** password\n{}", True, id="below a line with a bold word"),
        pytest.param("the password is old.\n{}", False, id="below a sentence"),
        pytest.param(CHAT + "mo: {}\nkai: in", True, id="said in a chat"),
        pytest.param("kai: and the login?\nmo: {}", True, id="an answer"),
        pytest.param(CHAT + "mo: it is {}\nkai: in", False, id="in a longer line of a chat"),
        pytest.param("a: on\npassword: is old\nb: {}\nc: on", False, id="of another setting"),
        pytest.param("## Root password\n\na\nb\nc\n{}", False, id="far below a heading"),
        pytest.param("## Root password\n\nthe train to {}", False, id="in a line below a heading"),
    ],
)
def test_a_name_near_a_word_decides_what_it_is(place, is_redacted):
    text = place.format("Otter-Kettle#47")

    assert ("Otter-Kettle#47" not in redact(text).text) == is_redacted


@pytest.mark.parametrize(
    ("number", "is_redacted"),
    [
        pytest.param("4512", True, id="a code"),
        pytest.param("4512 7788", True, id="a code of two groups"),
        pytest.param("030 4512 7788", False, id="a telephone number"),
        pytest.param("0664 123 45 67", False, id="one of short groups"),
        pytest.param("06 12 34 56 78", False, id="one of pairs"),
    ],
)
def test_a_part_of_a_longer_number_is_no_code(number, is_redacted):
    text = f"the code of the door: {number}, as before"

    assert (redact(text).text != text) == is_redacted


@pytest.mark.parametrize("far", ["so it goes. " * 200, "so=it-goes/" * 200, "so\n" * 500])
def test_what_stands_far_away_decides_nothing(far):
    near = "\nthe printer's password is Otter-Kettle#47 since Monday\n"
    found = redact(f"{far}{near}{far}{near}{far}the secret of tea is patience")

    assert found.text.count("Otter-Kettle#47") == 0
    assert found.found == ("password", "password")
    assert found.text.replace("[redacted:password]", "Otter-Kettle#47").count(near) == 2


@pytest.mark.parametrize("far", ["", "so it goes. " * 200])
@pytest.mark.parametrize(
    ("text", "chars", "is_near"),
    [
        ("password {} Otter-Kettle#47", 210, True),
        ("password {} Otter-Kettle#47", 230, False),
        ("Otter-Kettle#47 {} password", 80, True),
        ("Otter-Kettle#47 {} password", 120, False),
    ],
)
def test_a_candidate_lies_near_a_name_wherever_both_stand(text, chars, is_near, far):
    text = f"{far}\n{text.format('·' * chars)}\n{far}"
    near = credential_judge.candidates_near(text, find_nouns(text))

    assert ("Otter-Kettle#47" in [text[each.start : each.end] for each, _ in near]) == is_near


def test_a_state_of_sql_tells_of_a_refused_password_and_is_none():
    assert redact("error code 28P01: invalid password").found == ()
    assert redact("the code of the door is 4F7K2").found == ("password",)


@pytest.mark.parametrize("text", ['password: "     "', 'The password is "      " today'])
def test_a_value_of_blanks_is_no_secret(text):
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("PIN's four digits. It's known to everyone", id="apostrophes"),
        pytest.param('password: "{{ vault_mail_smtp2 }}"', id="a variable of a template"),
        pytest.param('encodePort(b)}).open("GET",e+"?"+a,!0)', id="code behind a quote"),
    ],
)
def test_what_only_looks_quoted_is_no_value(text):
    assert redact(text).text == text


def test_a_number_opens_a_lock_without_the_name_of_a_code():
    for text in (
        "The alarm in the hall takes 409317 and then the green key",
        "o cadeado abre com 5290",
        "Tresor: erst links, dann 41-08-75",
        "the combination is 31 left, 8 right, 64 left",
    ):
        assert redact(text).found == ("password",), text
    assert redact("The alarm fired 4093 times since Monday").found == ()
    assert redact("the key is 31 left, 8 right, 64 left").found == ()


@pytest.mark.parametrize(
    "text",
    [
        "It is safe to delete rows below id 48213",
        "The queue is thread-safe since build 7731",
        "port 8443 is safe to expose to the office",
        "Keep the page at 4093, that is safe on both",
        "safe integers end at 65535",
        "Raise the alarm limit from 1500 to 2500 ms",
        "alarm 4711 fired because the disk was full",
        "Climate alarm goes off when humidity leaves 45-55 % in a showcase",
        "train the door model again with all lifts 2024-2026",
        "La combinación de 2173 tokens agota la memoria",
        "die kombinierte Ansicht zeigt 4417 Zeilen",
    ],
)
def test_a_number_that_is_counted_or_a_limit_opens_no_lock(text):
    assert redact(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        "pass shell=True nowhere",
        "tests pass with PYTHONHASHSEED=0 only",
        "pass algorithm=RS256 to the decoder",
        "Pass XDG_SESSION_TYPE to the child",
        "throws with { code: 'ERR_ACCESS_DENIED' }",
        "use ret code (1dde74ef)",
        "Copyright: holders / 2008 A:\nLicense: BSD-3-clause\n",
    ],
)
def test_an_option_a_constant_and_a_commit_are_no_password(text):
    assert redact(text).text == text


@pytest.mark.parametrize("value", ["mudlark=Tide4", "Gonfialone=88", "Tram0nto=Roma"])
def test_two_words_with_a_number_and_a_capital_are_typed(value):
    assert value not in redact(f"the new password of the exchange is {value}, tell Paolo").text


def test_a_value_of_chance_may_stand_before_the_remark_that_names_it():
    value = "31915cac73b1abf7f0bd30b7bb961a0d"

    assert value not in redact(f"Client('APP', '{value}')  # admin key").text
    assert redact(f"PUBLIC = load('{value}')  # key of the updates").found == ()
    assert redact(f"find('{value}'), key of the cache").found == ()


def test_a_word_is_a_password_beside_a_user_and_none_as_the_type_of_a_field():
    assert redact("username: worker\npassword: huntsingdogs").found == ("password",)
    assert redact("username: string\npassword: string").found == ()


@pytest.mark.parametrize(
    "code", ["2998 3331 5351 9292", "602 118", "48-17-02", "*4731", "*4731*", "1937"]
)
def test_a_code_of_a_door_is_one_value_with_groups_of_digits_a_star_or_like_a_year(code):
    assert code not in redact(f"The code of the safe is {code}.").text
    assert redact("The code of the building act of 1937 is online.").found == ()


def test_a_block_of_a_key_and_codes_of_one_form_are_redacted_whole():
    one, two = "rHrpgBxo85l1KkMAH/kdZmFMX9GtsEZ3t8ZbWfJtGtf", "tNblCNUnKCBz542uSdaQz0N0H2aK2"
    codes = "Remaining recovery codes: k3tuj-h4ag7 and ddp9m-8nf4m"

    assert redact(f"key: |\n  {one}\n  {two}\nttl: 60").text.endswith("[redacted:secret]\nttl: 60")
    assert redact(codes).text.count("[redacted:password]") == 2


def test_a_key_that_names_an_object_is_none_and_a_value_of_chance_is():
    named = '{"key":"gotcha-exit-code-2-of-a-hook-blocks-the-call","type":"gotcha"}'

    assert redact(named).text == named
    assert "9fQx2LmZ" not in redact('{"key":"9fQx2LmZ7vTw4RkB8sHd1NcY"}').text


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('src/auth.py:2@de57860aa961141b ["b=200", "ISSUER=acme-1"]', id="of a file"),
        pytest.param('src/net.py@de57860aa961141b ["connect", "timeout=10"]', id="of a value"),
        pytest.param('{"values": {"src/auth.py:2": ["b=200"]}}', id="in a record"),
    ],
)
def test_values_of_an_anchor_are_no_secrets_of_a_name_beside_them(text):
    assert redact(text).text == text


@pytest.mark.parametrize(
    "place",
    [
        'src/auth.py@de57860aa961141b ["db_password={}"]',
        'passwords = ["Kettle={}"]',
        'login("admin", "Kettle={}")',
    ],
)
def test_a_secret_in_a_value_of_a_list_is_redacted(place):
    assert "Drum6!x" not in redact(place.format("Drum6!x")).text


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"bias": 1}', "{"])
def test_damaged_weights_redact_nothing_silently(content, tmp_path, monkeypatch):
    path = tmp_path / "credentials.json"
    path.write_text(content)
    monkeypatch.setattr(credential_judge, "WEIGHTS", str(path))
    monkeypatch.setattr(credential_judge, "load_weights", credential_judge.load_weights.__wrapped__)

    with pytest.raises(DamagedJudge, match="judge of secrets"):
        redact("the printer's password is Otter-Kettle#47")
