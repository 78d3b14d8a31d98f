"""What people and models write from habit in other languages, and how KIP says it. Data for `faults.py`."""

from __future__ import annotations

from collections.abc import Mapping

STARTS: Mapping[str, str] = {
    "ADD": "CREATE CONCEPT makes an element, ASSERT records a claim.",
    "ARCHIVE": 'Write TRANSITION :id TO "archived".',
    "ASK": 'Ask with FIND(?x.name) WHERE { ?x {type: "Person"} }.',
    "BEGIN": "MUTATE { … } is one transaction; nothing is begun or committed by hand.",
    "COMMIT": "MUTATE { … } is one transaction; nothing is begun or committed by hand.",
    "CONSTRUCT": "FIND lists what to return; there is no CONSTRUCT.",
    "CORRECT": 'Write TRANSITION :old TO "corrected" BY :new.',
    "DELETE": 'Write TRANSITION :id TO "archived", or PURGE :id CONFIRM "PURGE" to erase.',
    "DROP": 'Write TRANSITION :id TO "archived", or PURGE :id CONFIRM "PURGE" to erase.',
    "EXPLAIN": "VALIDATE KQL :text checks a query without running it.",
    "GET": 'Read with FIND(?x) WHERE { ?x {id: "C-1"} }.',
    "INSERT": "CREATE CONCEPT makes an element, ASSERT records a claim.",
    "LET": "Variables are bound by the patterns of a WHERE block; values are bound as parameters.",
    "LOOKUP": 'Read with FIND(?x) WHERE { ?x {id: "C-1"} }.',
    "MATCH": 'Read with FIND(?x.name) WHERE { ?x {type: "Person"} }.',
    "QUERY": 'Ask with FIND(?x.name) WHERE { ?x {type: "Person"} }.',
    "READ": 'Read with FIND(?x) WHERE { ?x {id: "C-1"} }.',
    "REMOVE": 'Write TRANSITION :id TO "archived", or PURGE :id CONFIRM "PURGE" to erase.',
    "REPLACE": "UPDATE changes fields; a claim is replaced by ASSERT … SUPERSEDING :old.",
    "RETRACT": 'Write TRANSITION :claim TO "retracted".',
    "RETURN": "FIND lists what to return before its WHERE block.",
    "SELECT": 'Ask with FIND(?x.name) WHERE { ?x {type: "Person"} }.',
    "SHOW": "DESCRIBE explains one thing, LIST lists the vocabulary.",
    "SUPERSEDE": "Write ASSERT (…) {…} SUPERSEDING :old.",
    "TOMBSTONE": 'Write TRANSITION :id TO "tombstoned".',
    "WHERE": "A read begins with FIND(…), then WHERE.",
    "WITH": "A read begins with FIND(…), then WHERE.",
}
"""First words of other languages."""

INFIX: Mapping[str, str] = {
    "AND": "Write && for and.",
    "BETWEEN": "Write x >= low && x <= high.",
    "CONTAINS": "Functions are called: CONTAINS(text, part).",
    "ENDS_WITH": "Functions are called: ENDS_WITH(text, suffix).",
    "IN": "Functions are called: IN(value, [a, b]).",
    "IS": "Write IS_NULL(x) or IS_NOT_NULL(x).",
    "LIKE": "Write CONTAINS(text, part), STARTS_WITH(text, prefix) or REGEX(text, pattern).",
    "MATCHES": "Write REGEX(text, pattern).",
    "NOT": "Write ! before what is denied; a pattern that must not match stands in NOT { … }.",
    "OR": "Write || for or.",
    "REGEX": "Functions are called: REGEX(text, pattern).",
    "STARTS_WITH": "Functions are called: STARTS_WITH(text, prefix).",
    "XOR": "Write a != b for one or the other.",
}
"""Words between the operands of an expression."""

CLAUSES: Mapping[str, str] = {
    "BIND": "There is no BIND; patterns bind variables.",
    "EXISTS": "A pattern is its own test of existence; NOT { … } tests that none exists.",
    "GROUP": "Grouping is implied: what FIND lists beside its aggregates is the key.",
    "HAVING": "There is no HAVING; read the aggregates and filter the rows.",
    "INTO": "Name what to change behind the verb, not behind INTO.",
    "MATCH": "A WHERE block lists its patterns without MATCH.",
    "MINUS": "Write NOT { … }.",
    "OFFSET": "There is no OFFSET; page on with CURSOR.",
    "RETURN": "FIND lists what to return before its WHERE block.",
    "SELECT": "FIND lists what to return before its WHERE block.",
    "SERVICE": "A query reads one Space only.",
    "SKIP": "There is no SKIP; page on with CURSOR.",
    "VALUES": "Bind a list as a parameter and test it with IN(value, :list).",
}
"""Words that begin a clause in other query languages."""

WORDS: Mapping[str, str] = {"FALSE": "false", "NIL": "null", "NONE": "null", "NULL": "null", "TRUE": "true"}
"""Spellings of the three constants, which are lower case here."""

CHARACTERS: Mapping[str, str] = {
    "#": "Comments begin with //.",
    "$": "A parameter is written with a colon, as :name.",
    "%": "Expressions do no arithmetic; UPDATE computes with ADD, MUL, CLAMP and COALESCE.",
    "&": "Write && for and.",
    "*": "Expressions do no arithmetic, and FIND lists its variables one by one.",
    "+": "Expressions do no arithmetic; UPDATE computes with ADD, MUL, CLAMP and COALESCE.",
    "/": "Comments begin with //, and expressions do no arithmetic.",
    ";": "One text holds one statement and no semicolon; send several as several operations, or in MUTATE { … }.",
    "=": "Write == to compare, and a colon between a name and its value.",
    "?": "A variable's name follows its mark at once: an ASCII letter or _, then letters, digits or _.",
    "@": "A parameter is written with a colon, as :name.",
    "\\": "A backslash stands only inside a string.",
    "^": "Expressions do no arithmetic.",
    "`": "Quote with double quotes.",
    "~": "Write REGEX(text, pattern).",
}
"""Characters that begin no token."""

ORDER: Mapping[str, int] = {
    word: place
    for place, word in enumerate(
        ("WHERE", "AS", "FOR", "WITH", "ORDER", "LIMIT", "CURSOR", "EXPECT", "REFERENCE", "CONFIRM")
    )
}
"""The order of the clauses that end a read or a write."""
