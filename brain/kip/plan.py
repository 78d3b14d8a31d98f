"""From a FIND to its plan: patterns become steps, every name in them bound (KIP 2.0 §42, §43).

`plan_of` is the whole way; nothing has been read from the Space when it returns, except what WITH EPISTEMIC names.
`brain/kip/rules.py` puts the steps into the order they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from brain import errors
from brain.kip import algebra, ast, matching
from brain.kip.algebra import Known, Lineages, Step, Term, Var
from brain.kip.belief import BeliefRequest
from brain.kip.bounds import check_steps
from brain.kip.closed import closed_attributes
from brain.kip.conditions import Expressions
from brain.kip.context import Run
from brain.kip.explain import show_plan
from brain.kip.given import Uses
from brain.kip.narrowing import narrowed
from brain.kip.resolve import CORE_STRUCTURAL, Binder
from brain.kip.rules import arrange
from brain.kip.schema import PredicateType
from brain.kip.scopes import clause_names, visible_names
from brain.kip.search import search_query
from brain.kip.tokens import Look, unhurried
from brain.store.base import Document, Json, Kind
from brain.store.base import Scan as Conditions
from brain.store.embedding import Embedder

__all__ = ["plan_of", "plan_of_where", "show_plan"]


def plan_of(
    statement: ast.Find, run: Run, after: tuple[Json, ...] | None = None, *, uses: Uses | None = None
) -> algebra.Project:
    """The plan of a FIND.

    after   the position a cursor continues behind
    uses    notes what became of the parameters, those apart that only `belief_request` reads
    raises  InvalidSyntax, ReferenceError, TypeMismatch, SchemaSymbolNotFound and whatever else is wrong with the
            statement, before any element is read
    """
    binder = Binder.of(run, uses)
    expressions = _expressions(statement.where, binder)
    planner = _Planner(binder, expressions, belief_request(statement, run), run.embedder, look=run.check_deadline)
    block = planner.block(statement.where, frozenset())
    check_steps(block, run.limits)
    limit = None if statement.limit is None else binder.whole_number(statement.limit, "LIMIT")
    distinct = algebra.Distinct(arrange(narrowed(block), run.check_deadline), visible_names(statement.where))
    return _outputs(statement, expressions, distinct, limit, after)


def plan_of_where(where: ast.Where, run: Run) -> algebra.Distinct:
    """The plan of a mutation's or an export's WHERE, whose rows are its distinct solutions."""
    binder = Binder.of(run)
    block = _Planner(binder, _expressions(where, binder), None, None, look=run.check_deadline).block(where, frozenset())
    check_steps(block, run.limits)
    return algebra.Distinct(arrange(narrowed(block), run.check_deadline), visible_names(where))


def _expressions(where: ast.Where, binder: Binder) -> Expressions:
    retrievals = {name: binder.hidden("retrieval") for name in _searched(where)}
    return Expressions(binder, retrievals, lambda: closed_attributes(where, binder))


def _searched(where: ast.Where) -> Iterator[str]:
    for clause in where.clauses:
        if isinstance(clause, ast.SearchPattern):
            yield clause.variable.name
        elif isinstance(clause, (ast.Optional, ast.Union)):
            yield from _searched(clause.where)


def belief_request(statement: ast.Find, run: Run) -> BeliefRequest | None:
    """What the statement says about belief, when it says anything or asks for any."""
    binder = Binder.of(run)
    for_time = None if statement.for_time is None else binder.scalar(statement.for_time)
    if statement.for_time is not None and for_time is None:
        raise errors.TypeMismatch("FOR TIME takes an instant, not null.")
    epistemic = None if statement.epistemic is None else binder.document(statement.epistemic)
    return BeliefRequest.parse(run, epistemic, for_time) if asks_belief(statement) else None


def asks_belief(statement: ast.Find) -> bool:
    """Whether a statement says anything about belief, or asks for any."""
    return statement.for_time is not None or statement.epistemic is not None or _has_belief(statement.where)


def _has_belief(where: ast.Where) -> bool:
    return any(
        isinstance(clause, (ast.BeliefPattern, ast.BeliefSlotPattern))
        or (isinstance(clause, (ast.Optional, ast.Union, ast.Not)) and _has_belief(clause.where))
        for clause in where.clauses
    )


# --- patterns ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Planner:
    """Turns one statement's patterns into steps, in written order.

    steps    of the block being read
    request  of the statement's beliefs; None where the language has none
    embedder of the engine, which decides on the modes of a search
    look     at the clock, once a clause
    """

    binder: Binder
    expressions: Expressions
    request: BeliefRequest | None
    embedder: Embedder | None
    steps: list[Step] = field(default_factory=list)
    look: Look = unhurried

    def block(self, where: ast.Where, before: frozenset[str]) -> algebra.Block:
        """The steps of a block; `before` are the names bound where it stands."""
        outer, self.steps = self.steps, []
        known = set(before)
        for clause, names in zip(where.clauses, clause_names(where), strict=True):
            self.look()
            match clause:
                case ast.Filter(expression=expression):
                    self.steps.append(algebra.Filter(self.expressions.condition(expression)))
                case ast.Not(where=inner):
                    self.steps.append(algebra.Not(self.block(inner, frozenset(known))))
                case ast.Optional(where=inner):
                    self.steps.append(algebra.Optional(self.block(inner, frozenset(known))))
                    known.update(visible_names(inner))
                case ast.Union(where=inner):
                    self.steps.append(algebra.Union(self.block(inner, frozenset())))
                    known.update(visible_names(inner))
                case _:
                    self._pattern(clause, frozenset(known))
                    known.update(names)
        steps, self.steps = tuple(self.steps), outer
        return algebra.Block(steps)

    def _pattern(self, clause: ast.WhereClause, before: frozenset[str]) -> None:
        match clause:
            case ast.ConceptPattern(variable=variable, match=pattern):
                self._scan(variable.name, Kind.CONCEPT, pattern)
            case ast.AssertionPattern(variable=variable, match=pattern):
                self._scan(variable.name, Kind.ASSERTION, pattern)
            case ast.EvidencePattern(variable=variable, match=pattern):
                self._scan(variable.name, Kind.EVIDENCE, pattern)
            case ast.ActivityPattern(variable=variable, match=pattern):
                self._scan(variable.name, Kind.ACTIVITY, pattern)
            case ast.PropositionPattern(variable=link, proposition=proposition):
                self._proposition(link.name if link else self.binder.hidden("p"), proposition)
            case ast.StructuralPattern():
                self._structural(clause)
            case ast.SearchPattern():
                self._search(clause)
            case ast.BeliefPattern():
                self._belief(clause, before)
            case ast.BeliefSlotPattern(variable=variable, subject=subject, predicate=predicate):
                step = algebra.BeliefSlot(
                    variable.name, self._subject(subject), self._believed(predicate), self._request()
                )
                self.steps.append(step)

    def _scan(self, variable: str, kind: Kind, pattern: ast.ObjectPattern) -> None:
        self.steps.append(matching.scan(variable, kind, pattern, self.binder, self))

    def _proposition(self, link: str, proposition: ast.Tuple) -> None:
        if isinstance(proposition, ast.PropositionById):
            named = self.binder.element(proposition.id, "The id of a Proposition")
            self.steps.append(algebra.Scan(link, Conditions(Kind.PROPOSITION), frozenset((named,))))
            return
        subject, object_ = self._subject(proposition.subject), self._object(proposition.object)
        atoms = proposition.path
        if any(atom.hops for atom in atoms):
            alternatives = tuple(self._alternative(atom) for atom in atoms)
            self.steps.append(algebra.Reach(link, subject, alternatives, object_))
            return
        predicate: algebra.Predicate
        if len(atoms) == 1:
            predicate = self._predicate(atoms[0].predicate)
        else:
            named_ones = [self._predicate(atom.predicate) for atom in atoms]
            options = [option for option in named_ones if isinstance(option, Lineages)]
            predicate = Lineages(
                " | ".join(option.name for option in options),
                frozenset(lineage for option in options for lineage in option.lineages),
            )
        self.steps.append(algebra.Tuple(link, subject, predicate, object_))

    def _alternative(self, atom: ast.PathAtom) -> algebra.Alternative:
        predicate = self._predicate(atom.predicate)
        hops = atom.hops
        return algebra.Alternative(cast("Lineages", predicate), hops.least if hops else 1, hops.most if hops else 1)

    def _predicate(self, node: ast.PredicateAtom) -> algebra.Predicate:
        return Var(node.name) if isinstance(node, ast.Variable) else self.binder.predicate(node)

    def _structural(self, clause: ast.StructuralPattern) -> None:
        name = self.binder.text(clause.field, "A structural field")
        edge = clause.variable.name if clause.variable else self.binder.hidden("edge")
        step = algebra.Structural(
            edge, self._subject(clause.source), name, self._fields(name), self._subject(clause.target)
        )
        self.steps.append(step)

    def _fields(self, name: str) -> tuple[algebra.Field, ...]:
        """The Core field of this name and the declared one: the two are different, and both are meant (§20.13)."""
        core = (algebra.Field(name),) if name in CORE_STRUCTURAL else ()
        try:
            declared = self.binder.environment.describe("structural_field", name)
            lineages = self.binder.environment.lineages("structural_field", name)
        except errors.SchemaSymbolNotFound:
            if core:
                return core
            raise
        ordered = bool(getattr(declared, "ordered", False))
        return core + tuple(algebra.Field(lineage, ordered) for lineage in sorted(lineages))

    def _search(self, clause: ast.SearchPattern) -> None:
        limit = self.binder.whole_number(clause.limit, "The LIMIT of a SEARCH")
        if limit > self.binder.limits.search_limit:
            raise errors.ResourceExhausted(
                f"A SEARCH yields at most {self.binder.limits.search_limit} hits.", hint="Give a smaller LIMIT."
            )
        query = search_query(self.binder, clause, limit, self.embedder)
        name = clause.variable.name
        self.steps.append(algebra.Search(name, self.expressions.retrievals[name], query))

    def _belief(self, clause: ast.BeliefPattern, before: frozenset[str]) -> None:
        name, target = clause.variable.name, clause.target
        step: Step
        if isinstance(target, ast.Variable):
            step = algebra.Belief(name, Var(target.name), self._request())
        elif isinstance(target, ast.PropositionById):
            named = self.binder.element(target.id, "The id of a Proposition")
            step = algebra.Belief(name, Known(frozenset((named,))), self._request())
        else:
            object_ = self._object(target.object)
            step = algebra.BeliefTriple(
                name,
                self.binder.hidden("p"),
                self._subject(target.subject),
                self._believed(target.predicate),
                object_,
                not isinstance(object_, Var) or object_.name in before or algebra.is_hidden(object_.name),
                self._request(),
            )
        self.steps.append(step)

    def _believed(self, node: ast.PredicateAtom) -> PredicateType | Var:
        if isinstance(node, ast.Variable):
            return Var(node.name)
        name = self.binder.text(node, "A predicate")
        return cast("PredicateType", self.binder.environment.describe("predicate", name))

    def _request(self) -> BeliefRequest:
        if self.request is None:
            raise errors.InvalidSyntax("BELIEF stands in a FIND only.", hint="Project first, then name what to change.")
        return self.request

    # --- endpoints ----------------------------------------------------------------------------------------------------

    def _subject(self, node: ast.Term) -> Term:
        if isinstance(node, (ast.Literal, ast.Parameter)):
            return self._bound(self.binder.subject(node))
        return self._nested(node)

    def _object(self, node: ast.Term) -> Term:
        if isinstance(node, (ast.Literal, ast.Parameter)):
            return self._bound(self.binder.object(node))
        return self._nested(node)

    def _nested(self, node: ast.Term) -> Term:
        match node:
            case ast.Variable(name=name):
                return Var(name)
            case ast.ObjectPattern():
                return self.described(node)
            case ast.PropositionTuple() | ast.PropositionById():
                return self.stated(node)
        raise TypeError(f"no term: {node!r}")

    def _bound(self, value: Known | Document) -> Term:
        return value if isinstance(value, Known) else self.named(value)

    def described(self, pattern: ast.ObjectPattern) -> Known | Var:
        """An inline pattern: a reference when it only names an element, else a Concept pattern of its own."""
        scalars = {m.name: m.value for m in pattern.members if isinstance(m.value, (ast.Literal, ast.Parameter))}
        if len(scalars) == len(pattern.members) and set(scalars) in _REFERENCE_SHAPES:
            read = self.binder.given if set(scalars) == {"id"} else self.binder.scalar
            return cast("Known", self.binder.reference({name: read(value) for name, value in scalars.items()}))
        name = self.binder.hidden("c")
        self._scan(name, Kind.CONCEPT, pattern)
        return Var(name)

    def named(self, value: Document) -> Known | Var:
        """A bound reference object."""
        resolved = self.binder.reference(value)
        if isinstance(resolved, Known):
            return resolved
        name = self.binder.hidden("c")
        self.steps.append(matching.described_scan(name, resolved, self.binder))
        return Var(name)

    def stated(self, proposition: ast.Tuple) -> Known | Var:
        """A nested tuple: the Propositions it matches."""
        if isinstance(proposition, ast.PropositionById):
            return Known(frozenset((self.binder.element(proposition.id, "The id of a Proposition"),)))
        name = self.binder.hidden("p")
        self._proposition(name, proposition)
        return Var(name)


_REFERENCE_SHAPES = ({"id"}, {"canonical_id"}, {"space_id", "element_id"})


# --- FIND, ORDER BY, LIMIT --------------------------------------------------------------------------------------------


def _outputs(
    statement: ast.Find,
    expressions: Expressions,
    distinct: algebra.Distinct,
    limit: int | None,
    after: tuple[Json, ...] | None,
) -> algebra.Project:
    projections = [expressions.projection(node) for node in statement.projections]
    sort_keys = [(expressions.sort_key(item.key), item.descending) for item in statement.order_by]
    aggregates = tuple(dict.fromkeys(p for p in projections if isinstance(p, algebra.Aggregate)))
    if not aggregates:
        keys = tuple(algebra.SortKey(cast("algebra.Access", key), descending) for key, descending in sort_keys)
        _check_sort_keys(keys, distinct)
        outputs = tuple(cast("algebra.Access", p) for p in projections)
        return algebra.Project(algebra.Slice(algebra.Sort(distinct, keys), limit, after), outputs)
    grouping = tuple(dict.fromkeys(p for p in projections if isinstance(p, algebra.Access)))
    columns = {column: algebra.Column(index) for index, column in enumerate((*grouping, *aggregates))}
    group = algebra.Group(distinct, grouping, aggregates)
    sort = algebra.Sort(group, tuple(algebra.SortKey(columns[key], descending) for key, descending in sort_keys))
    return algebra.Project(algebra.Slice(sort, limit, after), tuple(columns[p] for p in projections))


def _check_sort_keys(keys: tuple[algebra.SortKey, ...], distinct: algebra.Distinct) -> None:
    elements = frozenset(_elements(distinct.source))
    for sort in keys:
        if isinstance(sort.key, algebra.Access) and not sort.key.steps and sort.key.variable in elements:
            raise errors.TypeMismatch(
                f"?{sort.key.variable} is an element, and ORDER BY takes scalar values.",
                hint=f"Order by ?{sort.key.variable}.name or ?{sort.key.variable}.id.",
            )


def _elements(block: algebra.Block) -> Iterator[str]:
    """Variables that can only be elements, edges or beliefs."""
    for step in block.steps:
        match step:
            case (
                algebra.Scan(variable=name)
                | algebra.Search(variable=name)
                | algebra.Tuple(proposition=name)
                | algebra.Structural(edge=name)
                | algebra.Belief(variable=name)
                | algebra.BeliefTriple(variable=name)
                | algebra.BeliefSlot(variable=name)
            ):
                yield name
            case algebra.Optional(block=inner) | algebra.Union(block=inner):
                yield from _elements(inner)
