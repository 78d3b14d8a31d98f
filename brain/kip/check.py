"""The rules that a statement's text can break by itself, beyond its grammar (KIP 2.0 §42.4, §44, §45; decision D-01).

`parse` runs them, so execution, VALIDATE and PREVIEW refuse the same texts with the same words. What shows only once
parameters are bound or the vocabulary is known is checked where that happens.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from operator import attrgetter
from typing import Any, NoReturn

from brain.errors import InvalidSyntax, KipError, ResourceExhausted
from brain.ids import is_element_id
from brain.kip import ast
from brain.kip.faults import fault, near
from brain.kip.functions import FUNCTIONS
from brain.kip.regex import compiled
from brain.kip.tokens import Look, unhurried
from brain.kip.walk import levels, variables_of, walk

QUERY_FUNCTIONS: Mapping[str, int] = {name: function.arity for name, function in FUNCTIONS.items()}
"""How many arguments each function of an expression takes (§44.2). Names of functions match in any case."""

AGGREGATES = frozenset({"AVG", "COUNT", "MAX", "MIN", "SUM"})

MODIFIERS: Mapping[str, str] = {"CONCEPT": "TYPE", "PROPOSITION": "PREDICATE"}
"""Which WITH clause has a meaning for which kind of search (§66.1)."""

DEPTH = 256
"""Deepest tree a statement may form. Brackets are bounded by the lexer; this bounds runs of == as well."""

_NODES_BETWEEN_LOOKS = 1_000

_start = attrgetter("span.start")

Names = frozenset[str]


class Check:
    """The rules every language shares, about one text."""

    def __init__(self, source: str, look: Look = unhurried) -> None:
        self.source = source
        self.look = look
        self.parameters: tuple[str, ...] = ()
        """The names of the parameters of the text, without their colon, each once, in its order; set by `tree`."""

    def refuse(
        self, node: ast.Node, message: str, hint: str | None = None, error: type[KipError] = InvalidSyntax
    ) -> NoReturn:
        """Raise about the place where a node stands."""
        raise fault(error, self.source, node.span.start, message, hint=hint)

    def tree(self, statement: ast.Node) -> None:
        """Rules about single nodes, wherever they stand."""
        ruled: list[ast.Node] = []
        used: list[ast.Parameter] = []
        for depth, level in enumerate(levels(statement)):
            if depth >= DEPTH:
                hint = "Split the expression, or test a list with IN(value, :list)."
                self.refuse(statement, f"an expression is more than {DEPTH} steps deep", hint, ResourceExhausted)
            for place, node in enumerate(level):
                if place % _NODES_BETWEEN_LOOKS == 0:
                    self.look()
                kind = type(node)
                if kind is ast.Parameter:
                    used.append(node)  # type: ignore[arg-type]
                elif kind in _RULES:
                    ruled.append(node)
        # What stands first is refused first; of what begins at one place the outer comes before the inner.
        for node in sorted(ruled, key=_start):
            _RULES[type(node)](self, node)
        self.parameters = tuple(dict.fromkeys(node.name for node in sorted(used, key=_start)))

    def distinct(self, node: ast.ObjectLiteral | ast.ObjectPattern) -> None:
        """No member is written twice."""
        seen = set()
        for member in node.members:
            if member.name in seen:
                self.refuse(member, f"{member.name} is written twice in one object", "Keep one of the two.")
            seen.add(member.name)

    def subject(self, node: ast.PropositionTuple | ast.BeliefTriple | ast.BeliefSlotPattern) -> None:
        """What a sentence is about is an element."""
        subject = node.subject
        if isinstance(subject, ast.Literal) and not (isinstance(subject.value, str) and is_element_id(subject.value)):
            self.refuse(
                subject,
                "the subject of a Proposition is an element, never a plain value",
                'Name it by a variable, a parameter, an id such as "C-1", or a pattern {type: …, key: …}.',
            )

    def proposition(self, node: ast.PropositionTuple) -> None:
        """A subject that can be one, and a path that is one."""
        self.subject(node)
        for atom in node.path:
            if atom.hops and atom.hops.most is not None and atom.hops.most < atom.hops.least:
                turned = f"{{{atom.hops.most},{atom.hops.least}}}"
                self.refuse(atom.hops, "the upper bound of hops lies below the lower", f"Write {turned}.")
            if node.is_path and isinstance(atom.predicate, ast.Variable):
                self.refuse(
                    atom.predicate,
                    f"?{atom.predicate.name} stands for one exact predicate and takes neither hops nor alternatives",
                    "Name the predicates of a path.",
                )
        for end in (node.subject, node.object):
            self._no_walk(end)

    def modifiers(self, node: ast.Search | ast.SearchPattern) -> None:
        """WITH clauses that mean something for the kind that is searched."""
        for word, value in (("TYPE", node.type), ("PREDICATE", node.predicate)):
            if value is not None and MODIFIERS.get(node.kind) != word:
                self.refuse(value, f"WITH {word} has no meaning for SEARCH {node.kind}", f"Remove WITH {word}.")

    def block(
        self, where: ast.Where, known: Names = frozenset(), incoming: Names = frozenset(), *, negated: bool = False
    ) -> Names:
        """Check a WHERE block; answers the names it shows to what follows it, `known` and `incoming` included.

        known     names that stand for something everywhere: the handles of the mutation around it
        incoming  names bound before the block, when it is one of NOT or OPTIONAL
        """
        bound = set(known | incoming)
        # Patterns and filters between two unions hold together in any order, so a filter waits for a later pattern.
        waiting: list[ast.Variable] = []
        firm: set[str] = set()
        for clause in where.clauses:
            self.look()
            match clause:
                case ast.Filter(expression=expression):
                    self.expression(expression)
                    waiting += (name for name in variables_of(expression) if name.name not in bound)
                case ast.Not(where=inner):
                    self.block(inner, known, frozenset(bound), negated=True)
                case ast.Optional(where=inner):
                    bound |= self.block(inner, known, frozenset(bound), negated=negated)
                case ast.Union(where=inner):
                    self._settle(waiting, firm, bound)
                    waiting, firm = [], set()
                    bound |= self.block(inner, known, negated=negated)
                case _:
                    self._pattern(clause, negated)
                    named = {name.name for name in variables_of(clause)}
                    firm |= named
                    bound |= named
        self._settle(waiting, firm, bound)
        return frozenset(bound)

    def expression(self, node: ast.Node) -> None:
        """Functions exist, get as many arguments as they take, and a constant pattern compiles."""
        for call in walk(node):
            if not isinstance(call, ast.FunctionCall):
                continue
            name = call.name.upper()
            if name in AGGREGATES:
                self.refuse(
                    call, f"{name} stands only in FIND and ORDER BY, by itself", "FILTER sees single solutions."
                )
            self.arity(call, QUERY_FUNCTIONS)
            if name == "REGEX" and isinstance(call.arguments[1], ast.Literal):
                self._regex(call.arguments[1])

    def arity(self, call: ast.FunctionCall, functions: Mapping[str, int]) -> None:
        """The function is one of these and has its number of arguments."""
        takes = functions.get(call.name.upper())
        if takes is None:
            self.refuse(call, f"there is no function {call.name} here", near(call.name, functions))
        if len(call.arguments) != takes:
            self.refuse(
                call, f"{call.name} takes {takes} argument{'s' if takes > 1 else ''}, not {len(call.arguments)}"
            )

    def data(self, node: ast.Node | None) -> None:
        """Only literals and parameters, all the way down."""
        for part in walk(node) if node is not None else ():
            if isinstance(part, (ast.Variable, ast.FunctionCall)):
                self.refuse(part, "only literals and parameters stand in this object")

    def need(self, names: Iterable[ast.Variable], bound: Collection[str]) -> None:
        """Every variable an expression reads is bound by a pattern that it can see."""
        for name in names:
            if name.name not in bound:
                seen = ", ".join(f"?{other}" for other in sorted(bound)[:12]) or "none"
                self.refuse(
                    name,
                    f"no pattern that can be seen from here binds ?{name.name}",
                    f"Bound here: {seen}. Names first bound in a NOT stay in it, and a UNION block sees only its own.",
                )

    def _settle(self, waiting: Iterable[ast.Variable], firm: Collection[str], bound: Collection[str]) -> None:
        """Names that filters read before anything bound them: a pattern has to follow, and an OPTIONAL is none."""
        for name in waiting:
            if name.name in bound and name.name not in firm:
                self.refuse(
                    name,
                    f"this FILTER stands before the OPTIONAL that binds ?{name.name}",
                    "Move the FILTER behind the OPTIONAL, or into it.",
                )
        self.need(waiting, bound)

    def _no_walk(self, end: ast.Term) -> None:
        if isinstance(end, ast.PropositionTuple) and any(atom.hops for atom in end.path):
            self.refuse(end, "a path of hops is no Proposition and cannot be an end of one", "Bind its end by a name.")

    def _pattern(self, clause: ast.WhereClause, negated: bool) -> None:
        if isinstance(clause, ast.SearchPattern) and negated:
            self.refuse(
                clause,
                "SEARCH never stands inside NOT",
                "A search that finds nothing proves no absence; state what must not match as a pattern.",
            )
        if isinstance(clause, ast.PropositionPattern) and clause.variable is not None:
            proposition = clause.proposition
            if isinstance(proposition, ast.PropositionTuple) and any(atom.hops for atom in proposition.path):
                self.refuse(
                    clause.variable,
                    f"a path of hops is no Proposition, so ?{clause.variable.name} cannot stand for it",
                    f"Remove ?{clause.variable.name}, or the hops.",
                )

    def _regex(self, pattern: ast.Literal) -> None:
        if isinstance(pattern.value, str):
            try:
                compiled(pattern.value)
            except InvalidSyntax as error:
                raise fault(
                    InvalidSyntax, self.source, pattern.span.start, error.message.rstrip("."), hint=error.hint
                ) from None


_RULES: Mapping[type[ast.Node], Callable[[Check, Any], None]] = {
    ast.BeliefSlotPattern: Check.subject,
    ast.BeliefTriple: Check.subject,
    ast.ObjectLiteral: Check.distinct,
    ast.ObjectPattern: Check.distinct,
    ast.PropositionTuple: Check.proposition,
    ast.Search: Check.modifiers,
    ast.SearchPattern: Check.modifiers,
}
"""What is asked of a single node, wherever it stands."""


def _output(check: Check, expression: ast.Projection) -> None:
    """Variables, field paths, and aggregates over these are what rows are made of and sorted by (§42.5, §44.7)."""
    inner = expression.argument if isinstance(expression, ast.Aggregate) else expression
    if not isinstance(inner, (ast.Variable, ast.FieldAccess)):
        check.refuse(inner, "a variable, a field path or an aggregate over one has to stand here", _OUTPUT_HINT)


_OUTPUT_HINT = "Write ?x, ?x.name or COUNT(?x); conditions belong in FILTER."


def check_query(check: Check, statement: ast.Find) -> None:
    """The rules of FIND: scope, functions, and what a grouped result can be sorted by (§44.6, §44.7)."""
    visible = check.block(statement.where)
    keys = tuple(item.key for item in statement.order_by)
    for expression in (*statement.projections, *keys):
        _output(check, expression)
        check.need(variables_of(expression), visible)
    check.data(statement.epistemic)
    grouped = any(isinstance(projection, ast.Aggregate) for projection in statement.projections)
    for key in keys:
        if isinstance(key, ast.Aggregate) and key not in statement.projections:
            check.refuse(key, f"{key.function} sorts only when FIND returns it too", "Add the same expression to FIND.")
        if grouped and key not in statement.projections:
            check.refuse(
                key, "beside aggregates only what FIND returns can sort", "Add the key to FIND, where it also groups."
            )
