"""The syntax tree: one immutable node per production of the three grammars (KQL.ebnf, KML.ebnf, META.ebnf).

Nodes compare by content: a span says where the text stood and takes no part in equality, so a tree that was printed and
parsed again equals the first. Keywords, symbols and states stay as written by the author; resolving them is
`kip/resolve.py`'s work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal as OneOf
from typing import TypeAlias, TypeVar, dataclass_transform, overload

_Class = TypeVar("_Class", bound=type)


@overload
def node(kind: _Class) -> _Class: ...
@overload
def node(*, has_own_equality: bool) -> Callable[[_Class], _Class]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def node(kind: _Class | None = None, *, has_own_equality: bool = False) -> _Class | Callable[[_Class], _Class]:
    """A dataclass that the type checker takes for a frozen one.

    A frozen one sets each member by a call, which makes a node four times as dear as a plain one, and a parser makes
    little else.
    """
    make = dataclass(slots=True, eq=not has_own_equality, unsafe_hash=not has_own_equality)
    return make if kind is None else make(kind)  # type: ignore[return-value]


@node
class Span:
    """Half-open character offsets in the command text."""

    start: int
    end: int


NOWHERE = Span(0, 0)
"""The span of a node that no text produced."""


@node
class Node:
    """Base of every node."""

    span: Span = field(compare=False, repr=False)


# --- values and expressions -------------------------------------------------------------------------------------------


@node
class Variable(Node):
    """`?name`: a query variable, or a local handle in a mutation."""

    name: str


@node
class Parameter(Node):
    """`:name`: bound data, never text."""

    name: str


@node(has_own_equality=True)
class Literal(Node):
    """A JSON scalar. Numbers are checked against §9.3 by the lexer; an integral number is an int.

    Equality tells booleans from numbers: `true` is not `1`.
    """

    value: str | int | float | bool | None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Literal)
            and isinstance(self.value, bool) == isinstance(other.value, bool)
            and self.value == other.value
        )

    def __hash__(self) -> int:
        return hash((isinstance(self.value, bool), self.value))


@node
class ArrayLiteral(Node):
    items: tuple[DataValue, ...]


@node
class Member(Node):
    """`name: value` of an object literal or of an assignment object."""

    name: str
    value: DataValue


@node
class ObjectLiteral(Node):
    """Also the assignment object of KML; members in written order."""

    members: tuple[Member, ...]


@node
class FieldAccess(Node):
    """`?x.a.b["C"]` with at least one step; a bracket step is one step even when it holds dots."""

    root: Variable
    steps: tuple[str, ...]


@node
class FunctionCall(Node):
    """`NAME(a, b)`; the name in the author's spelling."""

    name: str
    arguments: tuple[Expression, ...]


@node
class Unary(Node):
    operator: OneOf["!", "-"]
    operand: Expression


@node
class Binary(Node):
    operator: OneOf["||", "&&", "==", "!=", "<", ">", "<=", ">="]
    left: Expression
    right: Expression


@node
class Aggregate(Node):
    """`COUNT(DISTINCT ?x)`; only in projections and sort keys."""

    function: OneOf["COUNT", "SUM", "AVG", "MIN", "MAX"]
    distinct: bool
    argument: Expression


Scalar: TypeAlias = Parameter | Literal
DataValue: TypeAlias = Parameter | Variable | Literal | ArrayLiteral | ObjectLiteral | FunctionCall | FieldAccess
Expression: TypeAlias = DataValue | Unary | Binary
Projection: TypeAlias = Expression | Aggregate


# --- terms and match objects ------------------------------------------------------------------------------------------


@node
class ArrayPattern(Node):
    items: tuple[PatternValue, ...]


@node
class PatternMember(Node):
    name: str
    value: PatternValue


@node
class ObjectPattern(Node):
    """`{type: "Person", attributes: {city: ?c}}`."""

    members: tuple[PatternMember, ...]


@node
class Hops(Node):
    """`{n}`, `{m,n}`, `{m,}`; `most` is None without an upper bound."""

    least: int
    most: int | None


@node
class PathAtom(Node):
    """One alternative of a predicate expression, with its quantifier (KQL only)."""

    predicate: PredicateAtom
    hops: Hops | None


@node
class PropositionTuple(Node):
    """`(subject, predicate, object)`. KML and META always have exactly one alternative without hops."""

    subject: Term
    path: tuple[PathAtom, ...]
    object: Term

    @property
    def predicate(self) -> PredicateAtom:
        """The one exact predicate of a tuple without path syntax."""
        return self.path[0].predicate

    @property
    def is_path(self) -> bool:
        """Whether the tuple has alternatives or hops."""
        return len(self.path) > 1 or self.path[0].hops is not None


@node
class PropositionById(Node):
    """`(id: "P-1")`: names a stored Proposition."""

    id: Scalar


PredicateAtom: TypeAlias = Literal | Parameter | Variable
Tuple: TypeAlias = PropositionTuple | PropositionById
Term: TypeAlias = Variable | Parameter | Literal | ObjectPattern | PropositionTuple | PropositionById
PatternValue: TypeAlias = (
    Variable | Parameter | Literal | ArrayPattern | ObjectPattern | PropositionTuple | PropositionById
)


# --- WHERE ------------------------------------------------------------------------------------------------------------


@node
class Where(Node):
    """A block of clauses in written order.

    known  what `scopes.py` found out about it, so that a text that comes again is not gone over again
    """

    clauses: tuple[WhereClause, ...]
    known: dict[str, object] = field(default_factory=dict, init=False, repr=False, compare=False)


@node
class ConceptPattern(Node):
    """`?x {…}` or `?x CONCEPT {…}`; the two are one."""

    variable: Variable
    match: ObjectPattern


@node
class PropositionPattern(Node):
    """`[?p] [PROPOSITION] (…)`."""

    variable: Variable | None
    proposition: Tuple


@node
class AssertionPattern(Node):
    variable: Variable
    match: ObjectPattern


@node
class EvidencePattern(Node):
    variable: Variable
    match: ObjectPattern


@node
class ActivityPattern(Node):
    variable: Variable
    match: ObjectPattern


@node
class StructuralPattern(Node):
    """`[?edge] STRUCTURAL (source, "field", target)`."""

    variable: Variable | None
    source: Term
    field: Scalar
    target: Term


@node
class BeliefTriple(Node):
    """The three-term operand of BELIEF, with one exact predicate."""

    subject: Term
    predicate: PredicateAtom
    object: Term


@node
class BeliefPattern(Node):
    """`?b BELIEF (?p)`, `?b BELIEF (id: :p)` or `?b BELIEF (s, "p", o)`."""

    variable: Variable
    target: Variable | PropositionById | BeliefTriple


@node
class BeliefSlotPattern(Node):
    """`?s BELIEF SLOT (subject, "predicate")`."""

    variable: Variable
    subject: Term
    predicate: PredicateAtom


SearchKind: TypeAlias = OneOf["CONCEPT", "PROPOSITION", "ASSERTION", "EVIDENCE", "ACTIVITY"]


@node
class SearchPattern(Node):
    """`?x SEARCH CONCEPT "text" [WITH TYPE t] [WITH PREDICATE p] [MODE m] [THRESHOLD n] LIMIT k`."""

    variable: Variable
    kind: SearchKind
    text: Scalar
    type: Scalar | None
    predicate: Scalar | None
    mode: Scalar | None
    threshold: Scalar | None
    limit: Scalar


@node
class Filter(Node):
    expression: Expression


@node
class Not(Node):
    where: Where


@node
class Optional(Node):
    where: Where


@node
class Union(Node):
    where: Where


WhereClause: TypeAlias = (
    ConceptPattern
    | PropositionPattern
    | AssertionPattern
    | EvidencePattern
    | ActivityPattern
    | StructuralPattern
    | BeliefPattern
    | BeliefSlotPattern
    | SearchPattern
    | Filter
    | Not
    | Optional
    | Union
)


# --- KQL --------------------------------------------------------------------------------------------------------------


@node
class OrderItem(Node):
    key: Projection
    descending: bool


@node
class Find(Node):
    """The one KQL statement."""

    projections: tuple[Projection, ...]
    where: Where
    as_of: Scalar | None = None
    for_time: Scalar | None = None
    epistemic: ObjectLiteral | None = None
    order_by: tuple[OrderItem, ...] = ()
    limit: Scalar | None = None
    cursor: Scalar | None = None


# --- KML --------------------------------------------------------------------------------------------------------------

Target: TypeAlias = Variable | Parameter | Literal
"""`target_ref`: a WHERE variable or handle, a parameter, or a quoted element id."""


@node
class Plane(Node):
    """`OF ATTRIBUTES`, `OF STRUCTURAL`, `OF RETENTION` or `OF FACET "X"`."""

    name: OneOf["attributes", "structural", "retention", "facet"]
    facet: Scalar | None = None


@node
class ExpectVersion(Node):
    """`EXPECT VERSION n [OF plane]`; without a plane the whole element's version."""

    version: Scalar
    plane: Plane | None


@node
class SetFields(Node):
    assignments: ObjectLiteral


@node
class SetAttributes(Node):
    assignments: ObjectLiteral


@node
class SetFacet(Node):
    facet: Scalar
    assignments: ObjectLiteral


@node
class UnsetAttributes(Node):
    names: tuple[str, ...]


@node
class UnsetFacet(Node):
    facet: Scalar
    names: tuple[str, ...]


@node
class StructuralEntry(Node):
    """`("field", target) {index: n}`; `options` only in SET."""

    field: Scalar
    target: DataValue
    options: ObjectLiteral | None


@node
class SetStructural(Node):
    entries: tuple[StructuralEntry, ...]


@node
class UnsetStructural(Node):
    entries: tuple[StructuralEntry, ...]


@node
class TypeClause(Node):
    type: Scalar


@node
class ClientKey(Node):
    key: Scalar


@node
class NameClause(Node):
    name: Scalar


@node
class MatchClause(Node):
    match: ObjectPattern


CreateClause: TypeAlias = TypeClause | ClientKey | NameClause | SetFields | SetAttributes | SetFacet | SetStructural
UpsertClause: TypeAlias = (
    MatchClause | SetFields | SetAttributes | SetFacet | UnsetAttributes | UnsetFacet | SetStructural | UnsetStructural
)
UpdateAction: TypeAlias = (
    SetFields | SetAttributes | SetFacet | UnsetAttributes | UnsetFacet | SetStructural | UnsetStructural
)


@node
class CreateConcept(Node):
    handle: Variable
    clauses: tuple[CreateClause, ...]


@node
class UpsertConcept(Node):
    handle: Variable
    clauses: tuple[UpsertClause, ...]
    expect: tuple[ExpectVersion, ...] = ()


@node
class EnsureProposition(Node):
    handle: Variable | None
    proposition: Tuple
    expect: tuple[ExpectVersion, ...] = ()


@node
class Assert(Node):
    """`ASSERT [?h] (s, p, o) {…} [SUPERSEDING target]` (§55.1)."""

    handle: Variable | None
    proposition: Tuple
    members: ObjectLiteral
    superseding: Target | None


@node
class CreateRecord(Node):
    """CREATE EVIDENCE, CREATE ASSERTION or CREATE ACTIVITY."""

    kind: OneOf["evidence", "assertion", "activity"]
    handle: Variable
    clauses: tuple[ClientKey | SetFields | SetFacet | SetStructural, ...]


@node
class Update(Node):
    target: Target
    actions: tuple[UpdateAction, ...]
    where: Where | None = None
    limit: Scalar | None = None
    expect: tuple[ExpectVersion, ...] = ()


@node
class Transition(Node):
    """`TRANSITION target TO "state" [BY target] [SET …]`."""

    target: Target
    state: Scalar
    by: Target | None = None
    finalize: tuple[SetFields | SetStructural, ...] = ()
    where: Where | None = None
    limit: Scalar | None = None
    expect: tuple[ExpectVersion, ...] = ()


@node
class SetRetention(Node):
    target: Target
    assignments: ObjectLiteral
    where: Where | None = None
    limit: Scalar | None = None
    expect: tuple[ExpectVersion, ...] = ()


@node
class Purge(Node):
    """`PURGE target … [REFERENCE POLICY p] CONFIRM "PURGE"`."""

    target: Target
    where: Where | None = None
    limit: Scalar | None = None
    expect: tuple[ExpectVersion, ...] = ()
    reference_policy: Scalar | None = None


@node
class PurgePayload(Node):
    target: Target
    where: Where | None = None
    limit: Scalar | None = None
    expect: tuple[ExpectVersion, ...] = ()


@node
class MergeConcept(Node):
    source: Target
    target: Target
    where: Where | None = None
    expect: tuple[ExpectVersion, ...] = ()


@node
class Define(Node):
    """`DEFINE PREDICATE "name" {…}` or `DEFINE CONCEPT TYPE "Name" {…}`."""

    kind: OneOf["predicate", "concept_type"]
    name: Scalar
    definition: ObjectLiteral


MutationClause: TypeAlias = (
    CreateConcept
    | UpsertConcept
    | EnsureProposition
    | Assert
    | CreateRecord
    | Update
    | Transition
    | SetRetention
    | Purge
    | PurgePayload
    | MergeConcept
)


@node
class Mutate(Node):
    clauses: tuple[MutationClause, ...]


KmlStatement: TypeAlias = Mutate | MutationClause | Define


# --- META -------------------------------------------------------------------------------------------------------------

DescribeSubject: TypeAlias = OneOf[
    "ACCESS",
    "CAPABILITIES",
    "CAPSULE",
    "COMPATIBILITY",
    "EPISTEMIC POLICY",
    "ERROR",
    "FACET",
    "PACKAGE",
    "PREDICATE",
    "PRIMER",
    "PROTOCOL",
    "SCHEMA ENVIRONMENT",
    "SNAPSHOT",
    "SPACE",
    "STRUCTURAL FIELD",
    "TRANSACTION",
    "TRUST",
    "TYPE",
]


@node
class Describe(Node):
    """Every DESCRIBE form.

    value   the operand (PACKAGE x, TYPE x, ERROR x, TRANSACTION x, COMPATIBILITY FROM x …)
    mode    PRIMER MODE m
    to      COMPATIBILITY … TO y
    by_idempotency_key  TRANSACTION BY IDEMPOTENCY KEY k: `value` is the key
    as_of   SCHEMA ENVIRONMENT / SNAPSHOT AS OF SEQ n
    at_time SNAPSHOT AT TIME t
    options ACCESS WITH {…}
    """

    subject: DescribeSubject
    value: Scalar | None = None
    mode: Scalar | None = None
    to: Scalar | None = None
    by_idempotency_key: bool = False
    as_of: Scalar | None = None
    at_time: Scalar | None = None
    options: ObjectLiteral | None = None


ListSubject: TypeAlias = OneOf[
    "SPACES",
    "SCHEMA PACKAGES",
    "TYPES",
    "PREDICATES",
    "FACETS",
    "STRUCTURAL FIELDS",
    "EPISTEMIC POLICIES",
    "DEPENDENTS",
]


@node
class List(Node):
    """Every LIST form; `of` and `depth` for DEPENDENTS, `status` for SCHEMA PACKAGES."""

    subject: ListSubject
    of: Scalar | None = None
    depth: Scalar | None = None
    status: Scalar | None = None
    limit: Scalar | None = None
    cursor: Scalar | None = None


@node
class Search(Node):
    """The SEARCH statement of META."""

    kind: SearchKind
    text: Scalar
    type: Scalar | None = None
    predicate: Scalar | None = None
    mode: Scalar | None = None
    threshold: Scalar | None = None
    as_of: Scalar | None = None
    limit: Scalar | None = None
    cursor: Scalar | None = None


@node
class Verify(Node):
    subject: OneOf["CAPSULE", "SCHEMA PACKAGE", "RECEIPT"]
    value: Scalar


@node
class Validate(Node):
    subject: OneOf["KQL", "KML", "CAPSULE", "SCHEMA PACKAGE", "IMPORT PLAN"]
    value: Scalar
    options: ObjectLiteral | None = None


@node
class Preview(Node):
    """`PREVIEW KML v` or `PREVIEW IMPORT CAPSULE v INTO space`."""

    subject: OneOf["KML", "IMPORT CAPSULE"]
    value: Scalar
    into: Scalar | None = None


@node
class History(Node):
    """`HISTORY ELEMENT x` or `HISTORY SPACE` (element is None)."""

    element: Scalar | None
    from_seq: Scalar | None = None
    to_seq: Scalar | None = None
    limit: Scalar | None = None
    cursor: Scalar | None = None


@node
class Changes(Node):
    """`CHANGES SINCE cursor` or `CHANGES AFTER SEQ n`."""

    since: Scalar | None = None
    after_seq: Scalar | None = None
    limit: Scalar | None = None


@node
class ExportCapsule(Node):
    target: Target
    where: Where
    options: ObjectLiteral | None = None
    as_of: Scalar | None = None


MetaStatement: TypeAlias = Describe | List | Search | Verify | Validate | Preview | History | Changes | ExportCapsule
Statement: TypeAlias = Find | KmlStatement | MetaStatement
