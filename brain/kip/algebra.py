"""Steps of a read plan (KIP 2.0 §42 to §48): frozen plain data that a store can compile.

Nothing of the text is left in it: parameters are values, symbols are lineages, nested patterns are steps of their own
over hidden variables. A `Block` lists its steps in the order they run; `brain/kip/rules.py` found that order, and each
step only extends or filters the rows of the steps before it.

Variables are names. A hidden variable (`is_hidden`) stands for something the author did not name: an unnamed tuple's
Proposition, an inline pattern. It joins like any other, but two solutions that differ only in hidden variables are one
solution (§42.5).

For stores that run plans themselves (`Snapshot.select`), rows are:

- of a `Block`: a cell for each of `variables(block)`, in any order of the rows;
- of a `Project` without a `Group`: its distinct solutions in order and cut, a cell for each of `distinct.variables`,
  then the ids of further elements that bound the row;
- of a `Group`: a cell for each key, then the value of each aggregate, then the ids of the first elements that bound it.
  A group may come in several rows, to be added up, when JSON spells its keys in several ways.

A cell is None when its variable is unbound, an `Element` when the plan looks into it, `("element", id)`,
`("value", json)` for a Literal or a field's value, or `("symbol", exact_ref)` for a predicate variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias, cast

from brain.store.base import ElementId, Json, SearchQuery
from brain.store.base import Scan as Conditions

if TYPE_CHECKING:
    from brain.kip.belief import BeliefRequest
    from brain.kip.schema import PredicateType

HIDDEN = "."
"""How the name of a hidden variable begins; no written variable can."""


def is_hidden(name: str) -> bool:
    """Whether the variable was not written by the author."""
    return name.startswith(HIDDEN)


# --- terms ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Var:
    """A variable where a pattern has a place for one."""

    name: str


@dataclass(frozen=True, slots=True)
class Known:
    """A fixed end of a tuple or reference.

    keys          as `brain.ids.object_key` spells them; several when one text can be read as an element id and as a
                  Literal
    canonical_id  set for `{canonical_id: …}`: `keys` holds that reference itself, and Concepts that carry the id match
                  as well (§8.2)
    """

    keys: frozenset[str]
    canonical_id: str | None = None


Term: TypeAlias = Var | Known


@dataclass(frozen=True, slots=True)
class Lineages:
    """A path step or predicate that names a symbol: every lineage that matches as one with it (§20.14)."""

    name: str
    lineages: frozenset[str]


PathStep: TypeAlias = str | Lineages
Predicate: TypeAlias = Lineages | Var


# --- expressions ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Constant:
    """A bound JSON value."""

    value: Json


@dataclass(frozen=True, slots=True)
class Access:
    """A variable's value, or the member a path leads to; null when there is none (§44.1)."""

    variable: str
    steps: tuple[PathStep, ...] = ()


@dataclass(frozen=True, slots=True)
class Items:
    """A candidate list whose members are expressions."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Minus:
    operand: Expression


Operator: TypeAlias = Literal["==", "!=", "<", ">", "<=", ">="]


@dataclass(frozen=True, slots=True)
class Comparison:
    operator: Operator
    left: Expression
    right: Expression


@dataclass(frozen=True, slots=True)
class Negation:
    operand: Expression


@dataclass(frozen=True, slots=True)
class Conjunction:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Disjunction:
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A registered function; the name in upper case."""

    function: str
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """Above a `Group`: the value of one of its columns, keys first, then aggregates."""

    index: int


Expression: TypeAlias = (
    Constant | Access | Items | Minus | Comparison | Negation | Conjunction | Disjunction | Call | Column
)


# --- steps ------------------------------------------------------------------------------------------------------------


class Step:
    """Base of every step."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A condition on one member that the store's own conditions do not cover.

    path   from the element's body
    value  a variable to bind or to agree with, a fixed element, a JSON value, or a list of these
    holds  what stands there: a plain value; a reference or a list of references, any of which may agree; or the exact
           reference of a symbol, which a variable binds as a symbol
    edges  for a reference: the fields under which `EdgeScan` finds it
    """

    path: tuple[PathStep, ...]
    value: MatchValue
    holds: Literal["value", "reference", "symbol"] = "value"
    edges: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MatchItems:
    """A list of the same length whose entries agree one by one."""

    items: tuple[MatchValue, ...]


@dataclass(frozen=True, slots=True)
class MatchMembers:
    """An object inside a list, whose named members agree."""

    members: tuple[Match, ...]


MatchValue: TypeAlias = Var | Known | Constant | MatchItems | MatchMembers


@dataclass(frozen=True, slots=True)
class Scan(Step):
    """Elements of one kind (§43.1, §43.4 to §43.6).

    conditions  what a store tests by itself
    ids         only these, when the pattern names one
    matches     what remains to be tested or bound
    """

    variable: str
    conditions: Conditions
    ids: frozenset[ElementId] | None = None
    matches: tuple[Match, ...] = ()


@dataclass(frozen=True, slots=True)
class Tuple(Step):
    """Active Propositions by their ends, compared after following merges (§43.2)."""

    proposition: str
    subject: Term
    predicate: Predicate
    object: Term


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way of a path: `least` to `most` hops over one predicate; no upper bound when `most` is None."""

    predicate: Lineages
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Reach(Step):
    """Pairs of ends that a path of Propositions joins (§45); `walk` is hidden and names the Propositions of one."""

    walk: str
    subject: Term
    alternatives: tuple[Alternative, ...]
    object: Term


@dataclass(frozen=True, slots=True)
class Field:
    """A structural field as edges store it: a plain Core name or a lineage; `ordered` says whether it has places."""

    name: str
    ordered: bool = False


@dataclass(frozen=True, slots=True)
class Structural(Step):
    """References between elements (§43.7); `text` is the field as written."""

    edge: str
    source: Term
    text: str
    fields: tuple[Field, ...]
    target: Term


@dataclass(frozen=True, slots=True)
class Search(Step):
    """Best hits of a search (§43.8); `retrieval` is a hidden variable for `{score, mode}`."""

    variable: str
    retrieval: str
    query: SearchQuery


@dataclass(frozen=True, slots=True)
class Belief(Step):
    """Projection of the Proposition that `target` names (§46)."""

    variable: str
    target: Term
    request: BeliefRequest


@dataclass(frozen=True, slots=True)
class BeliefTriple(Step):
    """Projections of the candidates of a triple (§46).

    grounded  the object is given before the projection: what nobody stated is `insufficient`. Otherwise the stored
              tuples of the slot are the candidates, and the object's variable binds their objects
    link      hidden, the stored Proposition of a candidate
    """

    variable: str
    link: str
    subject: Term
    predicate: PredicateType | Var
    object: Term
    grounded: bool
    request: BeliefRequest


@dataclass(frozen=True, slots=True)
class BeliefSlot(Step):
    """Projections of subject and predicate slots (§47)."""

    variable: str
    subject: Term
    predicate: PredicateType | Var
    request: BeliefRequest


@dataclass(frozen=True, slots=True)
class Filter(Step):
    """Keeps rows for which the condition is true (§44.2)."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Block(Step):
    """Steps in the order they run, from the rows that come in (at the top: one empty row)."""

    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Optional(Step):
    """Every extension by the block, or the row itself when there is none (§44.4)."""

    block: Block


@dataclass(frozen=True, slots=True)
class Not(Step):
    """Rows that the block cannot extend (§44.3)."""

    block: Block


@dataclass(frozen=True, slots=True)
class Union(Step):
    """The rows so far, and beside them the block's, which starts from an empty row (§44.5).

    Inside an OPTIONAL or NOT the block's rows join the incoming row they are compatible with.
    """

    block: Block


@dataclass(frozen=True, slots=True)
class Distinct(Step):
    """One row per complete solution over the visible variables, in the order the patterns first name them (§42.5)."""

    source: Block
    variables: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Aggregate:
    function: Literal["COUNT", "SUM", "AVG", "MIN", "MAX"]
    distinct: bool
    argument: Access


@dataclass(frozen=True, slots=True)
class Group(Step):
    """Rows per equal key values (§44.6); without keys the whole input is one group, also when it is empty."""

    source: Distinct
    keys: tuple[Access, ...]
    aggregates: tuple[Aggregate, ...]


@dataclass(frozen=True, slots=True)
class SortKey:
    key: Access | Column
    descending: bool


@dataclass(frozen=True, slots=True)
class Sort(Step):
    """Order by the keys, nulls last both ways; then by the solution's own variables, or the group's keys (§44.7)."""

    source: Distinct | Group
    keys: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True)
class Slice(Step):
    """At most `limit` rows behind a position; None for no bound and no position (§44.8)."""

    source: Sort
    limit: int | None
    after: tuple[Json, ...] | None = None


@dataclass(frozen=True, slots=True)
class Project(Step):
    """The expressions of FIND over each row, with its position and the elements that bound it."""

    source: Slice
    outputs: tuple[Access | Column, ...]

    @property
    def sort(self) -> Sort:
        return self.source.source

    @property
    def group(self) -> Group | None:
        rows = self.sort.source
        return rows if isinstance(rows, Group) else None

    @property
    def distinct(self) -> Distinct:
        rows = self.sort.source
        return rows.source if isinstance(rows, Group) else rows

    @property
    def block(self) -> Block:
        return self.distinct.source


def variables(step: Step) -> tuple[str, ...]:
    """Every variable a step reads or binds, inner blocks included, each once."""
    return tuple(dict.fromkeys(_variables(step)))


def cells_of(step: Step) -> dict[str, int]:
    """Every variable of a step and its place in a row."""
    return {name: place for place, name in enumerate(variables(step))}


def _variables(part: object) -> Iterator[str]:
    if isinstance(part, tuple):
        for item in part:
            yield from _variables(item)
    elif type(part).__module__ == __name__:
        names, parts = _members(cast("type", type(part)))
        for member in names:
            yield getattr(part, member)
        for member in parts:
            yield from _variables(getattr(part, member))


_NAMING = frozenset({"edge", "link", "proposition", "retrieval", "variable", "walk"})
"""Members that name a variable, in whichever step."""

_HOLDS_NONE = re.compile(
    r"(?:\b(?:tuple|frozenset|str|int|bool|None|Json|ElementId|PathStep|Operator|Literal|Conditions|SearchQuery"
    r"|BeliefRequest|Field|Lineages|Column)\b|'[^']*'|[^\w'])*"
)
"""How the type of a member reads in which no variable can be."""


@cache
def _members(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The members of a class that name a variable, and those in which there may be some, looked up once."""
    named = "name" if kind is Var else None
    names = tuple(member.name for member in fields(kind) if member.name in _NAMING or member.name == named)
    rest = (member for member in fields(kind) if member.name not in names)
    return names, tuple(member.name for member in rest if _HOLDS_NONE.fullmatch(str(member.type)) is None)
