"""Queries and one-liners that only read: SQL, GraphQL, perl."""

from __future__ import annotations

import re

_SQL_READS = (
    r"(?is)(?:select|with|values|table|show|explain|describe|desc)\b[^\\]*"
    r"|pragma\s+[\w.]+\s*(?:\([^()=]*\))?"
    r"|\.(?:tables|schema|indexes|databases|dump|headers|mode|timeout|width|nullvalue)\b[^\n]*"
    r"|\\(?:d\w*\+?|l\+?|conninfo|x|timing)(?:\s[^\\`\n]*)?"
)
_SQL_WRITES = (
    r"(?i)\b(?:insert|update|delete|drop|alter|create|truncate|replace(?!\s*\()|merge|grant"
    r"|revoke|into|attach|detach|vacuum|reindex|copy|call|do|load|lock|set|refresh|nextval|setval"
    r"|writefile|load_extension|lo_\w+|dblink\w*|wal_checkpoint|optimize|incremental_vacuum"
    r"|pg_(?:advisory|cancel|create|drop|reload|rotate|switch|terminate)\w*)\b|user_version\s*\("
)
_SQL_QUOTED = r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--(?=\s)[^\n]*"
_SQL_UNCLEAR = r"[\\`#$\[]|/\*|--(?!\s)"
"""Signs with which dialects tell differently where a string or a comment ends."""

_IN_REGEX = r"\\.|\$(?=[/|)])|\((?!\?\??\{)"
_PERL_TEST = rf"m?/(?:[^/\\@$(]|{_IN_REGEX})*/[imsx]*|\d+\s*\.\.\s*\d+|\$\.\s*[<>=]=?\s*\d+"
_PERL_VALUE = r"\$\w+|\$F\[-?\d+\]|\"(?:[^\"\\@$]|\\.|\$(?:\d+|[_&])(?![\[{\-]))*\""
_PERL_SCRIPT = (
    rf"(?s)\s*(?:print(?:\s+(?:{_PERL_VALUE}))?(?:\s+(?:if|unless)\s+(?:{_PERL_TEST}))?"
    rf"|(?:s|y|tr)([/|,#])(?:(?!\1)[^\\@$(]|{_IN_REGEX})*\1"
    r"(?:(?!\1)[^\\@$]|\\.|\$\d+(?![\[{\d\-]))*\1[gimsxr]*)\s*;?\s*"
)
"""What `perl -ne` and `perl -pe` may hold: no variable but those of the line and its match."""


def sql(query: str) -> bool:
    """Whether every statement is known to only read; none is not."""
    if not re.search(_SQL_UNCLEAR, query):
        query = re.sub(_SQL_QUOTED, _blank, query)
    parts = [part.strip() for part in re.split(r";|\n(?=\s*[.\\])", query)]
    statements = [part for part in parts if part]
    return bool(statements) and all(
        re.fullmatch(_SQL_READS, each) and not re.search(_SQL_WRITES, each) for each in statements
    )


def _blank(found: re.Match[str]) -> str:
    """A string keeps its quotes, a comment leaves nothing."""
    return " " if found[0].startswith("--") else found[0][0] * 2


def graphql(document: str) -> bool:
    """Whether a document holds queries alone."""
    begins = re.match(r"\s*(?:query\b|fragment\b|\{)", document)
    return bool(begins) and not re.search(r"\b(?:mutation|subscription)\b", document)


def perl(script: str) -> bool:
    """Whether a filter of lines is of the few shapes that run nothing."""
    return re.fullmatch(_PERL_SCRIPT, script) is not None
