"""Static rules of KML: handles, protected fields, clause combinations, update expressions (KIP 2.0 §52 to §59)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from brain import errors
from brain.kip import ast
from brain.kip.check import Check, Names
from brain.kip.faults import near
from brain.kip.walk import variables_of, walk

PROTECTED = frozenset({"_system", "governance", "merged_into", "space_id", "space_seq"})
"""Members the engine and Governance write, never a statement (§58.1)."""

CLAIM = frozenset(
    {"asserted_at", "asserted_by", "confidence", "context_refs", "mode", "proposition", "stance", "valid_time"}
)
"""Fields of an Assertion that no UPDATE changes (§13.7, §58.1)."""

ASSERT_MEMBERS = frozenset({"at", "by", "confidence", "context", "evidence", "key", "mode", "stance", "valid"})
"""Members of the ASSERT form (§55.1); `by` and `mode` are required."""

UPDATE_FUNCTIONS: Mapping[str, int] = {"ADD": 2, "CLAMP": 3, "COALESCE": 2, "MUL": 2}
"""Functions of update expressions and their number of arguments (§59). Their names match in any case."""

_CONSTANTS = (ast.Literal, ast.Parameter)

BY_STATES = frozenset({"corrected", "superseded"})
ACTIVITY_STATES = frozenset({"cancelled", "completed", "failed", "running"})


def check_kml(check: Check, statement: ast.KmlStatement) -> None:
    """All rules of a statement that writes."""
    if isinstance(statement, ast.Define):
        check.data(statement.definition)
        return
    clauses: tuple[ast.MutationClause, ...] = statement.clauses if isinstance(statement, ast.Mutate) else (statement,)
    outputs = _outputs(check, clauses)
    for clause in clauses:
        _clause(check, clause, outputs)


def _outputs(check: Check, clauses: Iterable[ast.MutationClause]) -> Names:
    declared: set[str] = set()
    for clause in clauses:
        handle = getattr(clause, "handle", None)
        if handle is None:
            continue
        if handle.name in declared:
            check.refuse(
                handle,
                f"?{handle.name} is declared twice",
                "Give each element of the block its own handle.",
                errors.DuplicateLocalHandle,
            )
        declared.add(handle.name)
    return frozenset(declared)


def _clause(check: Check, clause: ast.MutationClause, outputs: Names) -> None:
    where = getattr(clause, "where", None)
    bound = outputs if where is None else check.block(where, known=outputs)
    _guards(check, getattr(clause, "expect", ()))
    match clause:
        case ast.CreateConcept(clauses=parts) | ast.CreateRecord(clauses=parts):
            _once(check, parts)
            _assign(check, parts, bound, None)
        case ast.UpsertConcept(clauses=parts):
            _once(check, parts)
            _selector(check, clause)
            _assign(check, parts, bound, None)
        case ast.EnsureProposition(proposition=proposition):
            _resolvable(check, proposition, bound)
        case ast.Assert():
            _assert(check, clause, bound)
        case ast.Update(target=target, actions=actions):
            _resolved(check, target, bound)
            _assign(check, actions, bound, target)
            _claim_stands(check, actions)
        case ast.Transition():
            _transition(check, clause, bound)
        case ast.SetRetention(target=target, assignments=assignments):
            _resolved(check, target, bound)
            _writable(check, assignments)
            _values(check, assignments, bound, None)
        case ast.Purge(target=target) | ast.PurgePayload(target=target):
            _resolved(check, target, bound)
        case ast.MergeConcept(source=source, target=target):
            _resolved(check, source, bound)
            _resolved(check, target, bound)


# --- references -------------------------------------------------------------------------------------------------------


def _resolved(check: Check, node: ast.Node, bound: Names) -> None:
    """Every variable below the node is a handle of the block or bound by the clause's own WHERE (§53.2)."""
    for name in variables_of(node):
        if name.name not in bound:
            seen = ", ".join(f"?{other}" for other in sorted(bound)[:12]) or "none"
            check.refuse(
                name,
                f"?{name.name} is neither a handle of this statement nor bound by this clause's own WHERE",
                f"Declare it, or bind it in WHERE. Known here: {seen}.",
                errors.ReferenceError,
            )


def _resolvable(check: Check, proposition: ast.Tuple, bound: Names) -> None:
    """A tuple from which a Proposition can be made: three parts and a named predicate."""
    if isinstance(proposition, ast.PropositionById):
        check.refuse(
            proposition,
            "an id names a Proposition that exists and cannot make one",
            'Write (subject, "predicate", object).',
        )
    if isinstance(proposition.predicate, ast.Variable):
        check.refuse(
            proposition.predicate, "a write names its predicate", "Write the predicate in quotes or as a parameter."
        )
    for end in (proposition.subject, proposition.object):
        if not isinstance(end, _CONSTANTS):
            _resolved(check, end, bound)


# --- values -----------------------------------------------------------------------------------------------------------


def _assign(check: Check, parts: Iterable[ast.Node], bound: Names, target: ast.Target | None) -> None:
    """Assignments and removals name writable members and hold legal values; `target` is that of an UPDATE."""
    for part in parts:
        match part:
            case (
                ast.SetFields(assignments=assignments)
                | ast.SetAttributes(assignments=assignments)
                | ast.SetFacet(assignments=assignments)
            ):
                _writable(check, assignments)
                _values(check, assignments, bound, target)
            case ast.UnsetAttributes(names=names) | ast.UnsetFacet(names=names):
                for name in names:
                    if name in PROTECTED:
                        check.refuse(part, f"{name} is kept by the engine and cannot be removed")
            case ast.SetStructural(entries=entries) | ast.UnsetStructural(entries=entries):
                for entry in entries:
                    _structural(check, entry, bound)


def _writable(check: Check, assignments: ast.ObjectLiteral) -> None:
    for member in assignments.members:
        if member.name in PROTECTED:
            check.refuse(
                member, f"{member.name} is kept by the engine and cannot be written", f"Leave {member.name} out."
            )


def _values(check: Check, node: ast.ObjectLiteral, bound: Names, target: ast.Target | None) -> None:
    for member in node.members:
        if isinstance(member.value, _CONSTANTS):
            continue
        _resolved(check, member.value, bound)
        for part in _computed(member.value):
            if target is None:
                check.refuse(part, "only UPDATE computes values", "Give the value itself, or bind it as a parameter.")
            if isinstance(member.value, (ast.ArrayLiteral, ast.ObjectLiteral)):
                check.refuse(part, "a computed value is the whole value of its member", "Move it out of the brackets.")
            _computation(check, part, target)


def _computed(node: ast.Node) -> Iterator[ast.FieldAccess | ast.FunctionCall]:
    return (part for part in walk(node) if isinstance(part, (ast.FieldAccess, ast.FunctionCall)))


def _computation(check: Check, node: ast.FieldAccess | ast.FunctionCall, target: ast.Target) -> None:
    if isinstance(node, ast.FieldAccess):
        if not isinstance(target, ast.Variable) or node.root != target:
            check.refuse(
                node,
                "an update expression reads only the fields of the element it updates",
                "Name the target by a variable, as in UPDATE ?x … WHERE { ?x {id: :id} }, and read ?x.",
            )
        return
    check.arity(node, UPDATE_FUNCTIONS)
    for argument in node.arguments:
        if not isinstance(argument, (ast.Literal, ast.Parameter, ast.FieldAccess, ast.FunctionCall)):
            check.refuse(
                argument,
                f"{node.name} computes with literals, parameters, fields of the target and other functions only",
            )


def _structural(check: Check, entry: ast.StructuralEntry, bound: Names) -> None:
    for part in _computed(entry.target):
        check.refuse(part, "a structural reference names an element", "Write a variable, a parameter or a quoted id.")
    _resolved(check, entry.target, bound)
    check.data(entry.options)


# --- single statements ------------------------------------------------------------------------------------------------


def _once(check: Check, parts: Iterable[ast.Node]) -> None:
    seen = set()
    for part in parts:
        word = _SINGLE.get(type(part))
        if word is not None and word in seen:
            check.refuse(part, f"{word} stands twice", "Keep one of the two.")
        seen.add(word)


_SINGLE: Mapping[type[ast.Node], str] = {
    ast.ClientKey: "CLIENT KEY",
    ast.MatchClause: "MATCH",
    ast.NameClause: "NAME",
    ast.TypeClause: "TYPE",
}


def _selector(check: Check, upsert: ast.UpsertConcept) -> None:
    """UPSERT finds its Concept by id or key, and by nothing weaker (§54.3)."""
    match = next((part.match for part in upsert.clauses if isinstance(part, ast.MatchClause)), None)
    stable = [member for member in match.members if member.name in ("id", "key")] if match else []
    if match is None or not stable:
        check.refuse(
            match or upsert,
            "UPSERT selects by id or by key; a name or a type alone is no identity",
            'Write MATCH {type: "…", key: "…"}.',
        )
    for member in stable:
        if not isinstance(member.value, (ast.Literal, ast.Parameter)):
            check.refuse(member.value, f"{member.name} is given as a literal or a parameter")
    for member in match.members:
        for name in variables_of(member.value):
            check.refuse(name, "MATCH of an UPSERT binds no variables", "Give the value itself.")


def _assert(check: Check, clause: ast.Assert, bound: Names) -> None:
    _resolvable(check, clause.proposition, bound)
    given = {member.name for member in clause.members.members}
    for member in clause.members.members:
        if member.name not in ASSERT_MEMBERS:
            check.refuse(member, f"ASSERT has no member {member.name}", near(member.name, ASSERT_MEMBERS))
    for name, example in (("by", "by: :person"), ("mode", 'mode: "stated"')):
        if name not in given:
            check.refuse(clause.members, f"an ASSERT says {name}", f"Add {example}.")
    _values(check, clause.members, bound, None)
    if clause.superseding is not None:
        _resolved(check, clause.superseding, bound)


def _claim_stands(check: Check, actions: Iterable[ast.UpdateAction]) -> None:
    for action in actions:
        for member in action.assignments.members if isinstance(action, ast.SetFields) else ():
            if member.name in CLAIM:
                check.refuse(
                    member,
                    f"{member.name} of a claim never changes",
                    "ASSERT the new claim, with SUPERSEDING the old one when that was wrong.",
                )


def _transition(check: Check, clause: ast.Transition, bound: Names) -> None:
    _resolved(check, clause.target, bound)
    if clause.by is not None:
        _resolved(check, clause.by, bound)
    _assign(check, clause.finalize, bound, None)
    state = clause.state.value if isinstance(clause.state, ast.Literal) else None
    if not isinstance(state, str):
        return
    if state in BY_STATES and clause.by is None:
        check.refuse(clause.state, f'TO "{state}" needs BY and what takes its place', f'Write TO "{state}" BY :new.')
    if state not in BY_STATES and clause.by is not None:
        check.refuse(clause.by, "BY goes with superseded and corrected only", "Remove BY.")
    if state not in ACTIVITY_STATES and clause.finalize:
        check.refuse(
            clause.finalize[0],
            "SET goes with the states of an Activity only",
            "Remove SET, or send an UPDATE of its own.",
        )


def _guards(check: Check, guards: Iterable[ast.ExpectVersion]) -> None:
    seen = set()
    for guard in guards:
        if guard.plane in seen:
            check.refuse(guard, "two guards stand on one plane", "Keep one EXPECT VERSION for each plane.")
        seen.add(guard.plane)
