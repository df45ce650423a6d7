"""The 300 commonest words of commit subjects, as `bench/README.md` counts them."""

from __future__ import annotations

from ademem.core import regex
from ademem.core.text import word_set

COMMON_WORDS = word_set("""
    about actions add added adding adjust after against all allow always an and annotations api
    app apply are args argument arguments as async at avoid be before behavior better block body
    broken bug build bump by cache can case change changed changelog changes check chore ci
    clarify clean cleanup cli closes code column command commands comment comments commit
    completion config content context convert correct correctly coverage create custom data
    default dependencies dependency deprecate deprecated deps description directory disable do doc
    docs document documentation don't drop duplicate during empty enable ensure entry error errors
    example examples exception extension failing false feat feature file files first fix fixed
    fixes flag for format formatting from function functions github go group handle handling
    header headers help helper helpers hints hooks how html http if ignore import improve improved
    in include install installation instead instructions integration into invalid is issue issues
    it json key keys latest line link links lint list logic longer make match memory merge message
    method methods minor missing mode module more move multiple name names nested new no not note
    notes now object of on one only option optional options or order other out output package page
    pages param parameter parameters params pass path paths perf prepare preserve prevent property
    python readme ref refactor reference regex regression release remove removed rename render
    replace repository request response return revert run scope script section server session set
    setting shell should show simplify skip small some source spec static status string style
    support switch syntax table template templates test testing tests text that the this to
    transition travis true try tweak tweaks type types typing typo typos unnecessary unused up
    update updated updates upgrade url usage use used using value values variable version versions
    warning warnings when windows wip with without work workflow works
""")


def rare_words(text: str) -> set[str]:
    """Return the words of a text that say what it is about, also of `camelCase`, in lower case."""
    from ademem.search.query import STOP_WORDS

    spaced = regex.sub(r"(?<=[a-z\d])(?=[A-Z])", " ", text)
    words = {word.lower() for word in regex.findall(r"[^\W\d_]{4,}", spaced)}
    return words - COMMON_WORDS - STOP_WORDS
