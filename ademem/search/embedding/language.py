"""A test for texts in English, the only language that the first model reads."""

from __future__ import annotations

import re

from ademem.search.query import STOP_WORDS

_FOREIGN = """
    aber als auch auf aus bei beim bis bitte das dass dem der die durch ein eine einem einen einer
    eines für gibt haben hat ich ihr ist kann kein keine können mein mich mit muss nach nicht noch
    nur oder ohne seit sich sie sind über und unser vom von warum wann welche welcher welches wenn
    wer werden wie wird wir wo wurde wurden zu zum zur zwischen

    al como cómo con cual cuál cuando cuándo cuántas cuántos debe del desde donde dónde el en entre
    esta está este hay las lo los más muy nos nuestro nuestra nunca para pero por porque qué que
    quién sin sobre son su sus tiene todas todos una unos usa usamos

    à au aux avec ce ces cette chez combien dans des doit dont du elle elles est et être faut fait
    il ils je la le les leur mais même notre nous où ou par pas pour pourquoi quand que quel quelle
    quelles quels qui sans ses sont sur tous une utilise vous

    ao aos até com das dos ela ele é em foi isso já mais mas na nas não nós nosso nossa o onde os
    ou pela pelo qual quando quais quem se seu são também tem uma você

    agli alla alle anche che chi ci come cosa dal dalla degli dei del della delle dello di dove e è
    ed gli ha il nei nel nella non ogni perché per più quale quali quando questo sono sul sulla tra
    un viene

    aan bij dat de deze die dit door een geen het hoe ik ik's is kan maar met moet naar niet nog
    ook op over te tot uit van voor waar waarom wanneer wat welk welke wij wordt worden ze zijn

    ale bez być czy co dla do gdzie jak jaki jaka jakie jest już kiedy który która które lub ma nie
    od po przed przez przy się są tego ten to tylko w we z za że

    att av blir de den det då eller ett från för får har hur i ikke inte jeg kan med måste när och
    og om på skal ska som til till vad var varför vi vid är

    ama bir bu da daha de gibi hangi için ile kadar mı mi nasıl ne neden nerede olan olarak sonra
    ve veya yok
"""
_AMBIGUOUS = """
    a al als am an as at be by com come con da den die do dont dos du ed el em est for ha has
    have he hay her i if il in is it le lo man ma me men mi most no non not nu o of on op or os per
    po regards se ses so some son te ten than that then there to too tot tu van ve via vi w was
    we were what when where who wo z za ze
"""
FOREIGN_WORDS = frozenset(_FOREIGN.split()) - frozenset(_AMBIGUOUS.split()) - STOP_WORDS
"""Function words of nine languages, without English ones and names of languages and tools."""
ENGLISH_WORDS = STOP_WORDS - frozenset("a am an as at do for has i in is me no o on so was".split())
"""Function words of English that other languages do not have."""

# From where a run of signs begins: from each of its signs, the time would grow with its square.
_NO_PROSE = re.compile(r"`[^`]*`|(?<![^\s`])[^\s`]*[/\\_@=:]\S+|\b[A-Z]{2,}\b")
"""Code, paths, identifiers and abbreviations belong to no language."""
_WORD = re.compile(r"\b(?:[^\W\d_]{2,}|[^\W\d_a-zA-Z])\b")
_LATIN_END = "\u024f"
"""The last letter of the Latin blocks; Vietnamese has further ones."""
_VIETNAMESE = range(0x1EA0, 0x1F00)


def is_english(text: str) -> bool:
    """Weigh the function words of English against others; True for a text without either."""
    english = foreign = accented = 0
    for word in _WORD.findall(_NO_PROSE.sub(" ", text)):
        lower = word.lower()
        if word.isascii():
            english += lower in ENGLISH_WORDS
            foreign += lower in FOREIGN_WORDS
        elif lower in FOREIGN_WORDS or any(
            letter > _LATIN_END and ord(letter) not in _VIETNAMESE for letter in word
        ):
            foreign += 1
        else:
            accented += 1
    if foreign or accented > 1:  # one alone may be a name
        foreign += accented
    return foreign <= english
