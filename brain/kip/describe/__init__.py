"""META: what can be known of vocabulary, history, artifacts and the engine, without changing anything (KIP 2.0 §63)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from brain import errors
from brain.kip import ast
from brain.kip.capsule import export_capsule
from brain.kip.context import Answer, Run
from brain.kip.describe import access, artifacts, chronology, dependents, engine, primer, search, vocabulary

Handler = Callable[[Any, Run], Answer]

_DESCRIBE: Mapping[str, Handler] = {
    "ACCESS": access.describe_access,
    "CAPABILITIES": engine.describe_capabilities,
    "EPISTEMIC POLICY": engine.describe_policy,
    "ERROR": engine.describe_error,
    "FACET": vocabulary.describe_symbol,
    "PACKAGE": vocabulary.describe_package,
    "PREDICATE": vocabulary.describe_symbol,
    "PRIMER": primer.describe_primer,
    "PROTOCOL": engine.describe_protocol,
    "SCHEMA ENVIRONMENT": vocabulary.describe_environment,
    "SNAPSHOT": chronology.describe_snapshot,
    "SPACE": engine.describe_space,
    "STRUCTURAL FIELD": vocabulary.describe_symbol,
    "TRANSACTION": chronology.describe_transaction,
    "TYPE": vocabulary.describe_symbol,
}

_LIST: Mapping[str, Handler] = {
    "DEPENDENTS": dependents.list_dependents,
    "EPISTEMIC POLICIES": engine.list_policies,
    "FACETS": vocabulary.list_symbols,
    "PREDICATES": vocabulary.list_symbols,
    "SCHEMA PACKAGES": vocabulary.list_packages,
    "SPACES": engine.list_spaces,
    "STRUCTURAL FIELDS": vocabulary.list_symbols,
    "TYPES": vocabulary.list_symbols,
}

_OFF: Mapping[str, str] = {
    "CAPSULE": "capsule_import",
    "COMPATIBILITY": "kip1_migration",
    "TRUST": "weighted_projection",
}
"""Forms of DESCRIBE that belong to a capability, and which."""


def run_meta(statement: ast.MetaStatement, run: Run) -> Answer:
    """Answer one META statement (§63 to §69).

    PREVIEW KML needs a transaction to try the statement in, so the pipeline runs it and words the answer with
    `artifacts.previewed`.

    raises  UnsupportedCapability for a form this engine does not offer, and the codes of §87 each handler names
    """
    match statement:
        case ast.Describe():
            return _form(_DESCRIBE, "DESCRIBE", statement.subject)(statement, run)
        case ast.List():
            return _form(_LIST, "LIST", statement.subject)(statement, run)
        case ast.Search():
            return search.search(statement, run)
        case ast.History():
            return chronology.history(statement, run)
        case ast.Changes():
            return chronology.changes(statement, run)
        case ast.Verify():
            return artifacts.verify(statement, run)
        case ast.Validate():
            return artifacts.validate(statement, run)
        case ast.Preview(subject="KML"):
            raise errors.UnsupportedCapability(
                "PREVIEW KML is tried in a transaction of its own, which this request leaves no room for.",
                hint="Send it as the only operation, or in a request that is not atomic.",
            )
        case ast.Preview():
            return artifacts.preview_capsule(statement, run)
        case ast.ExportCapsule():
            return export_capsule(statement, run)


def unsupported(form: str, capability: str) -> errors.UnsupportedCapability:
    """The error of a form that belongs to a capability this engine does not offer."""
    return errors.UnsupportedCapability(
        f"{form} belongs to the capability {capability}, which is not offered here.",
        details={"capability": capability},
    )


def _form(table: Mapping[str, Handler], verb: str, subject: str) -> Handler:
    found = table.get(subject)
    if found is None:
        raise unsupported(f"{verb} {subject}", _OFF[subject])
    return found
