"""Word pieces of any text, by the library that has all of Unicode."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer

from ademem.search.embedding import MAX_TOKENS, DamagedModel


def open_tokenizer(path: str) -> Any:
    """As published it fills every text up to 128 tokens and cuts it there; here it does neither."""
    try:
        tokenizer = Tokenizer.from_file(path)
    except Exception as error:
        if type(error) is Exception:  # the library raises nothing more precise
            raise DamagedModel(str(error)) from error
        raise
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return tokenizer
