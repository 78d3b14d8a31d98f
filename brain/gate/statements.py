"""The first half of the gate: a parsed statement with its parameters, before anything runs.

What stands in the text is judged, never its label. A verb, state, facet or bound that arrives through a parameter the
request does not bind cannot be read and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from brain import errors
from brain.gate import vocabulary
from brain.gate.roles import HOST_FACETS, HOST_FIELDS, RETENTION_MEMBERS, SELECTION_LIMIT, STATES, VERBS, Role
from brain.kip import ast
from brain.kip.context import Admit
from brain.kip.parser import language_of
from brain.store.base import Json

Parameters = Mapping[str, Json]

_UNBOUND = object()


def admission(role: Role, captured: frozenset[str] = frozenset(), *, checks_claim_time: bool = False) -> Admit:
    """The judge of a role's statements.

    captured           names of the parameters the host binds to captured messages
    checks_claim_time  whether a claim that cites one of them must say when it was made or from when it holds
    """

    def admit(statement: ast.Statement, parameters: Parameters) -> None:
        for clause in clauses_of(statement):
            _check_verb(role, clause)
            _check_selection(role, clause, parameters)
            match clause:
                case ast.Transition():
                    _check_state(role, clause, parameters)
                case ast.SetRetention() if role is Role.MAINTENANCE:
                    _check_retention(clause)
                case ast.Define():
                    vocabulary.check_definition(clause)
            if role is not Role.HOST:
                for action in _actions(clause):
                    _check_planes(action, parameters)
            if checks_claim_time:
                _check_claim_time(clause, captured, parameters)

    return admit


def blindly(admit: Admit) -> Admit:
    """The same judge for a credential that writes and does not read."""

    def judge(statement: ast.Statement, parameters: Parameters) -> None:
        for clause in clauses_of(statement):
            if language_of(statement) != "KML" or getattr(clause, "where", None) is not None:
                raise errors.NotAuthorized(
                    f"{verb_of(clause)} reads memory here, and this credential only writes.",
                    hint="Name what you mean by id or key, or use a credential that reads too.",
                )
        admit(statement, parameters)

    return judge


def clauses_of(statement: ast.Statement) -> Iterator[ast.Node]:
    """The statement, and the clauses of a MUTATE after it."""
    yield statement
    if isinstance(statement, ast.Mutate):
        yield from statement.clauses


def bound(value: ast.Node | None, parameters: Parameters) -> Any:
    """The JSON value a scalar node stands for; a mark of its own when its parameter is not bound."""
    if isinstance(value, ast.Literal):
        return value.value
    if isinstance(value, ast.Parameter):
        return parameters.get(value.name, _UNBOUND)
    return _UNBOUND


def _check_verb(role: Role, clause: ast.Node) -> None:
    if type(clause) in VERBS[role]:
        return
    verb = verb_of(clause)
    if role is Role.READER:
        raise errors.ReadonlyViolation(
            f"{verb} would write, and this caller only reads.", hint="Use FIND, DESCRIBE, LIST or SEARCH."
        )
    raise errors.NotAuthorized(f"{verb} is not among what {role.value} may do.", hint=_INSTEAD.get(type(clause)))


_INSTEAD: Mapping[type[ast.Node], str] = {
    ast.Define: "Vocabulary grows in Formation, where people use the words.",
    ast.MergeConcept: "Claim `same_as` between the two, with your evidence; a review decides about merging.",
    ast.Purge: "Keep a wish to erase as a request; only the owner's forget route erases.",
    ast.PurgePayload: "Keep a wish to erase as a request; only the owner's forget route erases.",
    ast.SetRetention: "Leave retention to maintenance and the owner.",
    ast.Update: "Write a new claim instead: what people say changes memory by being said, not by editing.",
}


def _check_selection(role: Role, clause: ast.Node, parameters: Parameters) -> None:
    where = getattr(clause, "where", None)
    if role is Role.HOST or where is None or isinstance(clause, ast.Find | ast.ExportCapsule | ast.MergeConcept):
        return
    limit = bound(getattr(clause, "limit", None), parameters)
    if not isinstance(limit, int) or isinstance(limit, bool) or limit > SELECTION_LIMIT:
        raise errors.NotAuthorized(
            f"{verb_of(clause)} with WHERE needs LIMIT of at most {SELECTION_LIMIT}.",
            hint=f"Add LIMIT {SELECTION_LIMIT} after the WHERE block, and go on in a further statement.",
        )


def _check_state(role: Role, clause: ast.Transition, parameters: Parameters) -> None:
    state = bound(clause.state, parameters)
    if role is Role.FORMATION and not isinstance(clause.state, ast.Literal):
        raise errors.NotAuthorized(
            "The state of TRANSITION must stand in the text here.",
            hint='Write it as a literal, for example TO "retracted".',
        )
    if state not in STATES[role]:
        named = repr(state) if isinstance(state, str) else "a state that is not bound"
        raise errors.NotAuthorized(
            f"TRANSITION to {named} is not among what {role.value} may do.",
            hint=f"Allowed: {', '.join(sorted(STATES[role]))}.",
        )


def _check_retention(clause: ast.SetRetention) -> None:
    beyond = sorted({member.name for member in clause.assignments.members} - RETENTION_MEMBERS)
    if beyond:
        raise errors.NotAuthorized(
            f"SET RETENTION may not touch {', '.join(beyond)} here.",
            hint="Set retention_class and expires_at only; holds are the owner's.",
        )


def _actions(clause: ast.Node) -> tuple[ast.Node, ...]:
    """The parts of a clause that set or unset planes."""
    match clause:
        case ast.CreateConcept() | ast.UpsertConcept() | ast.CreateRecord():
            return clause.clauses
        case ast.Update():
            return clause.actions
        case ast.Transition():
            return clause.finalize
    return ()


def _check_planes(action: ast.Node, parameters: Parameters) -> None:
    match action:
        case ast.SetFacet() | ast.UnsetFacet():
            facet = _symbol(action.facet, parameters, "facet")
            if facet in HOST_FACETS:
                raise errors.UnsupportedCapability(
                    f"{facet} records what the host did or saw; it cannot be written here.",
                    hint="Leave the facet out.",
                )
            if facet == "MnemonicState" and isinstance(action, ast.SetFacet):
                _check_strength({member.name for member in action.assignments.members})
        case ast.SetStructural() | ast.UnsetStructural():
            for entry in action.entries:
                field = _symbol(entry.field, parameters, "structural field")
                if field in HOST_FIELDS:
                    raise errors.UnsupportedCapability(
                        f"{field} is computed from recorded Activities; it cannot be set here.",
                        hint="Record an Activity with these inputs and outputs instead.",
                    )


def _check_strength(members: set[str]) -> None:
    if "memory_strength" in members and not members >= {"last_metabolized_at", "strength_policy"}:
        raise errors.ConstraintViolation(
            "memory_strength needs last_metabolized_at and strength_policy beside it.",
            hint="Set all three in one SET FACET, or leave memory_strength out.",
        )


def _symbol(scalar: ast.Scalar, parameters: Parameters, what: str) -> str:
    """The local name a symbol scalar stands for."""
    name = bound(scalar, parameters)
    if not isinstance(name, str):
        raise errors.NotAuthorized(
            f"The {what} is named by a parameter that is not bound to a name.",
            hint=f"Write the {what} as quoted text.",
        )
    return name.rpartition("/")[2]


def _check_claim_time(clause: ast.Node, captured: frozenset[str], parameters: Parameters) -> None:
    """A claim taken from a captured message says when it was made, or from when it holds (BR-GATE-011)."""
    match clause:
        case ast.Assert():
            members = {member.name: member.value for member in clause.members.members}
            cited, valid = members.get("evidence"), members.get("valid")
            is_dated = "at" in members
        case ast.CreateRecord(kind="assertion"):
            members = {
                member.name: member.value
                for part in clause.clauses
                if isinstance(part, ast.SetFields)
                for member in part.assignments.members
            }
            structural = [part for part in clause.clauses if isinstance(part, ast.SetStructural)]
            cited = ast.ArrayLiteral(ast.NOWHERE, tuple(entry.target for part in structural for entry in part.entries))
            valid = members.get("valid_time")
            is_dated = "asserted_at" in members
        case _:
            return
    mode = bound(members.get("mode"), parameters)
    if mode == "inferred" or is_dated or _has_start(valid, parameters):
        return
    if any(isinstance(node, ast.Parameter) and node.name in captured for node in _inside(cited)):
        raise errors.ConstraintViolation(
            "A claim that cites a captured message needs the time it was made.",
            hint="Add at: with the observation time of the message, or valid: {from: …} when the text dates it.",
        )


def _has_start(valid: ast.Node | None, parameters: Parameters) -> bool:
    if isinstance(valid, ast.ObjectLiteral):
        return any(member.name == "from" for member in valid.members)
    value = bound(valid, parameters)
    return isinstance(value, Mapping) and value.get("from") is not None


def _inside(node: ast.Node | None) -> Iterator[ast.Node]:
    if isinstance(node, ast.ArrayLiteral):
        for item in node.items:
            yield from _inside(item)
    elif node is not None:
        yield node


_VERBS: Mapping[type[ast.Node], Callable[[Any], str]] = {
    ast.Assert: lambda _: "ASSERT",
    ast.CreateConcept: lambda _: "CREATE CONCEPT",
    ast.CreateRecord: lambda node: f"CREATE {node.kind.upper()}",
    ast.Define: lambda _: "DEFINE",
    ast.EnsureProposition: lambda _: "ENSURE PROPOSITION",
    ast.MergeConcept: lambda _: "MERGE CONCEPT",
    ast.Mutate: lambda _: "MUTATE",
    ast.Purge: lambda _: "PURGE",
    ast.PurgePayload: lambda _: "PURGE PAYLOAD",
    ast.SetRetention: lambda _: "SET RETENTION",
    ast.Transition: lambda _: "TRANSITION",
    ast.Update: lambda _: "UPDATE",
    ast.UpsertConcept: lambda _: "UPSERT CONCEPT",
}


def verb_of(clause: ast.Node) -> str:
    """How a clause is written."""
    spell = _VERBS.get(type(clause))
    return spell(clause) if spell else type(clause).__name__.upper()
