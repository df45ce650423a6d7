"""Arguments with which clients of databases only read, as patterns: see `READING_ARGUMENTS`.

A statement is searched as one text, what is quoted in it, too: a word that changes something, a
comment, a second statement or a call that the table lacks makes it none that reads.
"""

from __future__ import annotations

_PURE = """
    abs age any array_agg array_length array_to_string ascii avg bool_and bool_or btrim cast ceil
    ceiling char char_length coalesce col_description concat concat_ws convert count
    current_database current_schema current_setting database date date_add date_format date_part
    date_sub date_trunc datediff datetime decimal dense_rank encode exp extract first_value floor
    format format_type from_unixtime greatest group_concat hex if ifnull iif initcap instr
    json_agg json_array_length json_build_object json_each json_extract json_group_array
    json_group_object json_object jsonb_agg jsonb_array_elements jsonb_array_length
    jsonb_build_object jsonb_each jsonb_object_keys julianday lag last_value lcase lead least left
    length ln log lower lpad ltrim make_interval max md5 min mod now ntile nullif numeric
    obj_description octet_length percent_rank percentile_cont percentile_disc pg_database_size
    pg_get_constraintdef pg_get_expr pg_get_functiondef pg_get_indexdef pg_get_viewdef
    pg_indexes_size pg_relation_size pg_size_pretty pg_table_size pg_total_relation_size
    position pow power quote rank regexp_matches regexp_replace repeat replace reverse right round
    row_number rpad rtrim schema sign split_part sqlite_version sqrt stddev strftime string_agg
    strpos substr substring sum time timediff timestampdiff to_char to_date to_json to_timestamp
    total trim trunc typeof ucase unicode unix_timestamp unnest upper user values varchar
    variance version year
"""
"""Functions of PostgreSQL, MySQL and SQLite that return a value and do nothing else."""
_BEFORE_BRACKETS = """
    all and as between by distinct else except exists filter from group having in intersect join
    like not on or over select some then union using when where
"""
_CALLS = "|".join(f"{_PURE} {_BEFORE_BRACKETS}".split())
_LAST = r"\s*(?:\0|$)"
_OPEN = r"\((?:\s*\()*"
_STATEMENT = (
    rf"(?i:(?![^\0]*(?:--|/\*|[#$]|;(?!{_LAST})|\\(?!G{_LAST})"
    r"|\b(?:delete|insert|into|merge|update)\b))\s*"
    r"(?:explain\s+(?:query\s+plan\s+|analyze\s+|verbose\s+|\([\w\s,]+\)\s*)*)?"
    r"(?:desc|describe|select|show|table|values|with)\b"
    rf"(?:\s*{_OPEN})?"
    rf"(?:(?<![.\w])(?:{_CALLS})\s*{_OPEN}|[-=<>,+*/|%]\s*{_OPEN}|\w+(?!\w|\s*\()"
    r"|\.(?:\s*\w+(?!\w|\s*\()|(?!\s*\w))|[^\w(.\0])*)"
)
_TEXT = r"[^-\0][^\0]*"
"""A name, or the value of an option; no option."""


def _with_statement(option: str, *others: str) -> str:
    """Return the pattern of arguments that hold one of these, `-c\0SQL` as an *option*, or more."""
    either = rf"(?:{'|'.join((option, *others, _TEXT))})"
    return rf"(?=(?:[^\0]*\0)*?{option}(?:\0|$)){either}(?:\0{either})*"


_PSQL = _with_statement(
    rf"(?:-[AHqtwWxX]*c\0|--command[=\0])(?:{_STATEMENT}|\\(?:d\w*|l|sf|sv|z)[S+]*(?:\s[\w.*\"]+)?)"
    r"|-[AqtwX]*l|--list",
    r"-[AHqtwWxX]+",
    rf"-[AHqtwWxX]*[dhpFU]\0{_TEXT}|-[dhpFU][^\0]+",
    r"--(?:csv|expanded|html|no-align|no-password|no-psqlrc|password|quiet|tuples-only)",
    rf"--(?:dbname|field-separator|host|port|username)[=\0]{_TEXT}",
)
_MYSQL = _with_statement(
    rf"(?:-[BEHNrst]*e\0?|--execute[=\0]){_STATEMENT}",
    r"-[BEHNrst]+|-[DhPpu][^\0]+|-p",
    rf"-[DhPu]\0{_TEXT}",
    r"--(?:batch|password|raw|silent|skip-column-names|table|vertical)",
    rf"--(?:database|host|password|port|user)=[^\0]*|--(?:database|host|port|user)\0{_TEXT}",
)
_SQLITE_OPTION = (
    r"--?(?:ascii|bail|batch|box|column|csv|header|html|json|line|list|markdown|noheader|quote"
    rf"|readonly|safe|table|tabs)|--?(?:newline|nullvalue|separator)\0{_TEXT}"
)
_PRAGMA = (
    r"(?i:\s*pragma\s+(?:(?:database_list|foreign_key_check|integrity_check|quick_check"
    r"|(?:foreign_keys?|index|table)_(?:x?info|list))\s*(?:\([\w\s'\"]*\))?"
    r"|foreign_keys|freelist_count|journal_mode|page_count|page_size|user_version)\s*;?\s*)"
)
_DOT = (
    r"\.(?:databases|dbinfo|dump|fullschema|headers?|help|index(?:es)?|indices|mode|nullvalue"
    r"|schema|show|tables|timer|width)(?: [\w %.*-]*)?"
)
_SQLITE = (
    rf"(?:(?:{_SQLITE_OPTION})\0)*{_TEXT}"
    rf"(?:\0(?:{_SQLITE_OPTION}))*(?:\0(?:{_STATEMENT}|{_PRAGMA}|{_DOT}))+"
)
_REDIS = (
    rf"(?:(?:-[ahnpu]\0{_TEXT}|--(?:csv|json|no-auth-warning|no-raw|raw|tls))\0)*"
    r"(?i:(?:client\0(?:info|list)|config\0get|memory\0usage|object\0(?:encoding|idletime)"
    r"|slowlog\0get|dbsize|exists|hexists|hget|hgetall|hkeys|hlen|hmget|hscan|hvals|info|keys"
    r"|lindex|llen|lrange|mget|get|ping|pttl|scan|scard|sismember|smembers|sscan|strlen|ttl|type"
    r"|xlen|xrange|xrevrange|zcard|zcount|zrange|zrank|zrevrange|zscan|zscore)(?:\0[^\0]*)*)"
)
ARGUMENTS = {"mysql": _MYSQL, "psql": _PSQL, "redis-cli": _REDIS, "sqlite3": _SQLITE}
