"""Which texts the first model reads: those in English, by script and function words."""

import time

import pytest

from ademem.search.embedding.language import is_english


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("Wie werden Passwörter gehasht?", id="German"),
        pytest.param("Tests laufen nur mit Docker", id="German without accents"),
        pytest.param("¿Por qué no usamos GraphQL?", id="Spanish"),
        pytest.param("límite de tamaño del paquete JavaScript", id="Spanish, no sentence"),
        pytest.param("Comment faire un rollback de la production ?", id="French"),
        pytest.param("Não usamos mais Redis para sessões", id="Portuguese"),
        pytest.param("Perché non usiamo GraphQL?", id="Italian"),
        pytest.param("Waar staat de Terraform state?", id="Dutch"),
        pytest.param("Jak cofnąć wersję na produkcji?", id="Polish"),
        pytest.param("Hur hashas lösenord och var?", id="Swedish"),
        pytest.param("Şifreler nasıl saklanıyor?", id="Turkish"),
        pytest.param("Mật khẩu được băm như thế nào?", id="Vietnamese"),
        pytest.param("Пароли хешируются argon2id", id="Russian"),
        pytest.param("如何回滚生产环境的版本?", id="Chinese"),
        pytest.param("修复 GraphQLSubscriptionHandler", id="Chinese with an identifier"),
        pytest.param("Postgres のバージョンは?", id="Japanese"),
        pytest.param("비밀번호는 어떻게 해시하나요?", id="Korean"),
        pytest.param("كيف يتم تخزين كلمات المرور؟", id="Arabic"),
    ],
)
def test_other_languages_are_told_from_english(text):
    assert not is_english(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("how do we roll back production?", id="a question"),
        pytest.param("fix login", id="an order without function words"),
        pytest.param("The string '日本語' breaks the CSV export of names", id="a quoted word"),
        pytest.param("`slugify` drops the ß of Straße", id="an example"),
        pytest.param("rename the α constant", id="a symbol"),
        pytest.param("use ES modules and the EST timezone", id="abbreviations"),
        pytest.param("Set LC_ALL=de_DE.UTF-8 in src/el/la.py", id="paths and assignments"),
        pytest.param("revert `die der das`", id="code"),
        pytest.param("ask Müller", id="a name"),
        pytest.param("", id="nothing"),
        pytest.param("🚀 1234 --- c3ce4de", id="no words"),
    ],
)
def test_english_with_a_bit_of_something_else_stays_english(text):
    assert is_english(text)


@pytest.mark.parametrize("piece", ["x", "x`", "`", "a/", "_"])
def test_the_time_for_a_text_without_blanks_grows_with_its_length(piece):
    """Four times the text takes 16 times as long where a pattern is quadratic."""

    def measure(length):
        started = time.process_time()
        is_english(piece * (length // len(piece)))
        return time.process_time() - started

    assert measure(80_000) < 9 * measure(20_000) + 0.1
