"""A statement on the way: its tables and conditions in the order they are joined, its bindings, and what stands for
each variable."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from brain.kip.given import Given, GivenIds
from brain.store.base import ElementId, Json, Kind
from brain.store.sqlite.conditions import eids_of, integers
from brain.store.sqlite.keys import CODES, NUMBER_MASK, eid_of, end_of, first_of
from brain.store.sqlite.state import json_list

SHIFT = NUMBER_MASK.bit_length()
LETTERS = "".join(kind.letter for kind in CODES)
IS_ID = f"GLOB '[{LETTERS}]-*'"
"""Whether an object key is an element's id; no JSON text begins like one."""


OUTER = "e"
"""How the name of a row begins that need not be there."""


TEXT = "2"
"""The rank of a value that can only be a text."""


_MOST_VALUES = 500
"""Values of one statement."""


Late: TypeAlias = Callable[[Mapping[str, Json]], Any]
"""Makes a binding of the values of parameters."""


class NotPushable(Exception):
    """The plan says something this store has no exact SQL for."""


@dataclass(frozen=True, slots=True)
class Row:
    """A variable that is an element.

    eid    its integer
    alias  the row of `element` that has it, None while none was joined
    kind   None when it is not known
    """

    eid: str
    alias: str | None = None
    kind: Kind | None = None

    @property
    def text(self) -> str:
        """Its id."""
        letter = f"'{self.kind.letter}-'" if self.kind else f"substr('{LETTERS}', {self.eid} >> {SHIFT}, 1) || '-'"
        return f"({letter} || ({self.eid} & {NUMBER_MASK}))"


@dataclass(frozen=True, slots=True)
class End:
    """A variable that is the object of a Proposition: an element or a Literal.

    proposition  the row of the Proposition
    alias        the row of `element` that has it when it is an element, None while none was joined
    """

    proposition: str
    alias: str | None = None

    @property
    def key(self) -> str:
        """The object's key, by digest when it is long."""
        return f"{self.proposition}.object_key"

    @property
    def eid(self) -> str:
        """The integer of an element, NULL for a Literal."""
        key = self.key
        return (
            f"CASE WHEN {key} {IS_ID} THEN"
            f" (instr('{LETTERS}', substr({key}, 1, 1)) << {SHIFT}) | CAST(substr({key}, 3) AS INTEGER) END"
        )

    @property
    def text(self) -> str:
        """The id of an element, NULL for a Literal."""
        return f"CASE WHEN {self.key} {IS_ID} THEN {self.key} END"


@dataclass(frozen=True, slots=True)
class Value:
    """A variable that is a member's value.

    rank   its type's place in the order of bindings: 0 boolean, 1 number, 2 string, 4 null
    value  as SQL has it; booleans are 0 and 1
    """

    rank: str
    value: str


def _plain(text: str, values: Mapping[str, Json]) -> str:
    return text.of(values) if type(text) is Given else text


Stand: TypeAlias = Row | End | Value
"""What stands for a variable."""


@dataclass(slots=True)
class Query:
    """One SELECT and those inside it.

    at        the sequence it reads as of; None for the head
    is_inner  whether it runs once for every row of another
    tables    of FROM, in the order of the joins
    where     conditions of the joins
    tests     conditions that may refuse a value, each with the rows it comes behind; where no row would have met it
              step by step, none may here
    first     the row that was joined first
    last      the row that was joined last
    stands    what stands for each variable
    bindings  of the whole statement, shared with the queries inside
    late      those of them that are made anew when the statement is used for other given texts
    """

    at: int | None
    is_inner: bool = False
    tables: list[str] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    tests: list[tuple[str, str]] = field(default_factory=list)
    first: str = ""
    last: str = ""
    stands: dict[str, Stand] = field(default_factory=dict)
    bindings: dict[str, Any] = field(default_factory=dict)
    late: dict[str, Late] = field(default_factory=dict)
    aliases: list[int] = field(default_factory=lambda: [0])

    def inner(self) -> Query:
        """A query inside this one, which sees its variables."""
        stands = dict(self.stands)
        return Query(self.at, True, stands=stands, bindings=self.bindings, late=self.late, aliases=self.aliases)

    def bind(self, value: Any) -> str:
        """A parameter for a value; no value ever stands in the text of a statement.

        raises  NotPushable for more than SQLite is made for: preparing the statement alone would take seconds, during
                which nobody looks at the clock
        """
        if len(self.bindings) >= _MOST_VALUES:
            raise NotPushable("too many values")
        name = f"v{len(self.bindings)}"
        self.bindings[name] = value
        if type(value) is Given:
            self.late[name] = value.of
        return f":{name}"

    def bind_made(self, texts: Collection[str], make: Callable[[Collection[str]], Any]) -> str:
        """A parameter for a value that is made of texts, which may be given ones."""
        bound = self.bind(make(texts))
        if isinstance(texts, GivenIds):
            self.late[bound[1:]] = lambda values: make(texts.of(values))
        elif any(type(text) is Given for text in texts):
            self.late[bound[1:]] = lambda values: make([_plain(text, values) for text in texts])
        return bound

    def truth(self, value: bool) -> str:
        """A condition that is settled already; bound, because SQLite plans no join over one it can see through."""
        return self.bind(int(value))

    def alias(self, letter: str) -> str:
        """A name for one more row of a table."""
        self.aliases[0] += 1
        return f"{letter}{self.aliases[0]}"

    def stand(self, name: str) -> Stand:
        found = self.stands.get(name)
        if found is None:
            raise NotPushable(name)
        return found

    def only_now(self) -> None:
        """NotPushable for a statement about the past, whose versions stand in two tables: those cost a join each."""
        if self.at is not None:
            raise NotPushable("a join in the past")

    def join(self, table: str, alias: str) -> None:
        """One more table; `CROSS JOIN` keeps the order the plan chose."""
        self.tables.append(f" CROSS JOIN {table}" if self.tables else table)
        self.first = self.first or alias
        self.last = alias

    def need(self, alias: str, condition: str) -> None:
        """A condition on one row: part of its join, or judged in turn once something else came in between."""
        if alias == self.last and not any(last == alias for last, _ in self.tests):
            self.where.append(condition)
        else:
            self.test(condition)

    def test(self, condition: str) -> None:
        """One more condition, judged of no row but those that met everything before it."""
        self.tests.append((self.last, condition))

    def taken_before_rows(self) -> str:
        """The tests that come before any row of this query's own, taken out of it; empty when there are none."""
        tests = [test for test in self.tests if not test[0]]
        self.tests = [test for test in self.tests if test[0]]
        return self._in_turn("", tests) if tests else ""

    @property
    def is_joined(self) -> bool:
        """Whether the next table is met once for every row of another."""
        return self.is_inner or bool(self.tables)

    @property
    def source(self) -> str:
        """FROM and WHERE."""
        found = f" FROM {''.join(self.tables)}" if self.tables else ""
        where = [*self.where, *(self._in_turn(last, found) for last, found in groupby(self.tests, itemgetter(0)))]
        return f"{found} WHERE {' AND '.join(where)}" if where else found

    def _in_turn(self, last: str, tests: Iterable[tuple[str, str]]) -> str:
        """Tests of the rows joined so far, in their order: SQLite takes the operands of WHERE in whichever it likes,
        and as soon as it has what they name. The arms of a CASE are judged one after the other."""
        *before, condition = [condition for _, condition in tests]
        for test in reversed(before):
            condition = f"CASE WHEN {test} THEN {condition} END"
        is_early = last == self.first and not self.is_inner
        return condition if is_early or not last else f"CASE WHEN {last}.eid IS NOT 0 THEN {condition} END"

    # --- conditions ---------------------------------------------------------------------------------------------------

    def among(self, column: str, values: Collection[str], each: Callable[[str], str] = str) -> str:
        """`column` is one of these texts, or what `each` makes of them."""
        if len(values) == 1:
            return f"{column} = {self.bind_made(values, lambda one: each(*one))}"
        listed = self.bind_made(values, lambda several: json_list({each(value) for value in several}))
        return f"{column} IN (SELECT value FROM json_each({listed}))"

    def among_symbols(self, column: str, values: Collection[str]) -> str:
        """`column` is the symbol of one of these texts."""
        if len(values) == 1:
            (value,) = values
            return f"{column} = (SELECT id FROM symbol WHERE text = {self.bind(value)})"
        listed = self.bind(json_list(values))
        return f"{column} IN (SELECT id FROM symbol WHERE text IN (SELECT value FROM json_each({listed})))"

    def among_elements(self, column: str, ids: Collection[ElementId]) -> str:
        """`column` is the integer of one of these ids."""
        if len(ids) == 1 and eids_of(ids) and not isinstance(ids, GivenIds):
            return f"{column} = {self.bind_made(ids, lambda one: eid_of(*one))}"
        return f"{column} IN carray({self.bind_made(ids, lambda several: integers(eids_of(several)))})"

    def of_kind(self, row: str, kind: Kind) -> str:
        return f"{row}eid >= {self.bind(first_of(kind))} AND {row}eid < {self.bind(end_of(kind))}"
