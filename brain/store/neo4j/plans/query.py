"""A statement on the way: its clauses in the order the plan runs, its parameters, and what stands for each variable."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from string import ascii_lowercase
from typing import Any, TypeAlias

from brain.store.base import Element


class NotPushable(Exception):
    """The plan says something this store has no exact Cypher for."""


@dataclass(frozen=True, slots=True)
class Row:
    """A variable that is an element; `id` is the expression of its id."""

    id: str


@dataclass(frozen=True, slots=True)
class End:
    """A variable that is the object of a Proposition, an element or a Literal.

    id          the expression of its object key: an element's id as it is, a Literal's text, by digest when it is long.
                So it is also what any other end of the same value has, and no other
    proposition the version of the Proposition, whose body has the Literal as it was written
    """

    id: str
    proposition: str


Stand: TypeAlias = Row | End
"""What stands for a variable."""

NOTHING = "nothing"
"""The parameter by which a statement divides that meets what it cannot judge."""

Test: TypeAlias = Callable[[Element], bool]


@dataclass(frozen=True, slots=True)
class _Pattern:
    """place  of its clause; text  without its conditions; index  behind the Space"""

    place: int
    text: str
    index: str
    conditions: list[str]


@dataclass(slots=True)
class Query:
    """One statement that reads what holds at a sequence, pattern by pattern.

    A `WITH` that makes something new stands behind every pattern: Neo4j keeps the order of what such a clause divides,
    and goes through one pattern with the rows of those before it.

    clauses        of the statement so far
    parameters     of the whole statement; values stand nowhere else
    stands         what stands for each variable
    carried        names that the next clause sees
    versions       of the variables that have one at hand
    runs_by        what the first pattern's index sorts by, when it does in the order of the elements' numbers
    tests          what is left to be tested in Python: the version looked at, and the test of its element
    compares_ends  whether references are compared, which follow merges
    is_filtered    whether there was a FILTER or a NOT
    is_inner       whether this is what a NOT looks for, with the names and parameters of the statement around it
    """

    clauses: list[str] = field(default_factory=list)
    parameters: dict[str, Any] = field(default_factory=dict)
    stands: dict[str, Stand] = field(default_factory=dict)
    carried: list[str] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    runs_by: str | None = None
    tests: list[tuple[str, Test]] = field(default_factory=list)
    compares_ends: bool = False
    is_filtered: bool = False
    is_inner: bool = False
    _count: int = 0
    _patterns: dict[str, _Pattern] = field(default_factory=dict)
    _made: dict[tuple[str, ...], str] = field(default_factory=dict)

    @property
    def is_joined(self) -> bool:
        """Whether the next pattern is met once for every row of another."""
        return self.is_inner or bool(self.clauses)

    def bind(self, value: Any) -> str:
        """A parameter for a value. Its name is made of letters, as `connection.py` reads them.

        raises  NotPushable for more values than two letters name
        """
        first, second = divmod(len(self.parameters), len(ascii_lowercase))
        if first >= len(ascii_lowercase):
            raise NotPushable("too many values")
        name = f"v_{ascii_lowercase[first]}{ascii_lowercase[second]}"
        self.parameters[name] = value
        return f"${name}"

    @property
    def may_fail(self) -> bool:
        return NOTHING in self.parameters

    def among(self, expression: str, values: Collection[str]) -> str:
        """The expression is one of these texts; one text of statement for any number of them."""
        return f"{expression} IN {self.bind(sorted(values))}"

    def constant(self, name: str, value: Any) -> str:
        """A parameter that is the same in every statement that has it."""
        self.parameters[name] = value
        return f"${name}"

    def version(self) -> str:
        """A name for one more version."""
        self._count += 1
        return f"v{self._count}"

    def match(self, version: str, index: str, conditions: list[str]) -> None:
        """One more pattern, found by an index whose every property a condition names.

        What stands for a variable by a property of the version (`v1.subject`) gets a name of its own.
        """
        holds = f"{version}.from_seq <= $at AND $at < {version}.to_seq"
        pattern = f"MATCH ({version}:Version) USING INDEX SEEK {version}:Version(space, {index})"
        self._patterns[version] = _Pattern(len(self.clauses), pattern, index, [*conditions, holds])
        self.clauses.append(f"{pattern} WHERE {' AND '.join([f'{version}.space = $space', *conditions, holds])}")
        made: dict[str, str] = {}
        for name, stand in self.stands.items():
            if stand.id.startswith(f"{version}."):
                alias = made.setdefault(stand.id, stand.id.replace(".", "_"))
                self.stands[name] = Row(alias) if isinstance(stand, Row) else End(alias, stand.proposition)
        self.follow([version, *(f"{expression} AS {alias}" for expression, alias in made.items())])

    def made(self, letter: str, expression: str) -> str:
        """The name of an expression, which every row from here on has; the same one for the same expression."""
        name = self._made.get((letter, expression))
        if name is None:
            name = self._made[letter, expression] = f"{letter}{len(self._made) + 1}"
            self.follow([f"{expression} AS {name}"])
        return name

    def narrow(self, version: str, condition: str) -> None:
        """One more condition on what a pattern finds, the first that is looked at."""
        pattern = self._patterns[version]
        by_index = tuple(f"{version}.{name} " for name in pattern.index.split(", "))
        sought = [one for one in pattern.conditions if one.startswith(by_index)]
        left = [one for one in pattern.conditions if not one.startswith(by_index)]
        # The arms of a CASE are judged one after the other, operands of AND in whichever order the server likes.
        narrowed = f"CASE WHEN {condition} THEN {' AND '.join(left)} ELSE false END"
        where = " AND ".join([f"{version}.space = $space", *sought, narrowed])
        self.clauses[pattern.place] = f"{pattern.text} WHERE {where}"

    def keep(self, condition: str) -> None:
        """Only rows of which a condition is true."""
        self.is_filtered = True
        self.clauses.append(f"WITH {', '.join(self.carried)} WHERE {condition}")

    def inner(self) -> Query:
        """What is looked for once for every row.

        raises  NotPushable when nothing is known yet
        """
        if not self.carried:
            raise NotPushable("a NOT with nothing before it")
        return Query(
            parameters=self.parameters,
            stands=dict(self.stands),
            carried=list(self.carried),
            versions=dict(self.versions),
            is_filtered=True,
            is_inner=True,
            _count=self._count,
            _made=dict(self._made),
        )

    def keep_without(self, inner: Query) -> None:
        """Only rows for which nothing is found."""
        if inner.tests:
            raise NotPushable("a NOT of which bodies tell")
        self.compares_ends |= inner.compares_ends
        self.is_filtered = True
        # What may be refused has to be looked at whatever was found before it.
        enough = "" if inner.has_made_more_than(self) else "WITH 1 AS one LIMIT 1 "
        names, found = ", ".join(self.carried), f"f{len(self.clauses)}"
        looked = " ".join([*inner.clauses, f"{enough}RETURN count(*) AS {found}"])
        self.clauses.append(f"CALL ({names}) {{ {looked} }} WITH {names}, {found} WHERE {found} = 0")

    def has_made_more_than(self, other: Query) -> bool:
        """Whether it works out anything that the other one does not."""
        return len(self._made) > len(other._made)

    def follow(self, made: list[str]) -> None:
        """Hand on what is known, and what a clause made: names, or `expression AS name`."""
        self.clauses.append(f"WITH {', '.join([*self.carried, *made])}")
        self.carried += [one.rpartition(" AS ")[2] for one in made]
