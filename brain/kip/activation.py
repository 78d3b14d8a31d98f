"""The protected operations on a Space's vocabulary: what no statement can do (KIP 2.0 §20.8, §20.10, §20.16).

Each is a commit of its own, audited like every change of protected state; nothing stored before changes with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from brain import errors
from brain.kip.context import Session
from brain.kip.governance.transitions import Move, transition
from brain.kip.library import PROFILE
from brain.kip.schema.definitions import SPOKEN, SymbolKind
from brain.kip.schema.drafts import DRAFT_REF
from brain.kip.schema.environment import Environment, PackageStatus
from brain.times import Seq

if TYPE_CHECKING:
    from brain.kip.pipeline import Engine

_PERMISSION = "manage_schema"


def set_package(engine: Engine, session: Session, ref: str, status: PackageStatus = "active") -> Seq:
    """Make a package of the library active, readable or blocked in the Space; the commit, or the head for no change.

    ref     exact, as in `kip://domains/general@1.0.0`; what it depends on has to be there already
    raises  ProtectedSchemaState without `manage_schema`, SchemaPackageUnavailable for what the library does not have,
            ConstraintViolation for the Profile and the drafts, which are always there, and what an Environment refuses:
            a dependency that is missing, a symbol that is taken
    """

    def body(move: Move) -> None:
        if ref == DRAFT_REF or (ref == PROFILE and status != "active"):
            raise errors.ConstraintViolation(f"{ref} is part of every Space as it is.", details={"package_ref": ref})
        environment = engine.environment(move.tx)
        present = environment.installed(ref)
        if present is not None and present.status == status:
            return
        package = engine.library.resolve(ref) if present is None else present.package
        move.controls["schema"] = environment.with_package(package, status).to_document()
        move.details = {"package_ref": ref, "content_digest": package.digest, "status": status}

    return _transition(engine, session, "set_package", body, {"package_ref": ref})


def promote_symbol(engine: Engine, session: Session, kind: SymbolKind, name: str, target: str) -> tuple[str, str, int]:
    """Make a draft symbol and an installed one match as one from now on (§20.16).

    name    of the draft, local or exact
    target  exact reference or unambiguous local name of an installed symbol of the same kind
    returns the draft's reference, the target's, and the version of the vocabulary in which they are one
    raises  ProtectedSchemaState without `manage_schema`, SchemaSymbolNotFound, SchemaSymbolAmbiguous,
            SchemaSymbolConflict when it was promoted before, ConstraintViolation for a target that is a draft itself
    """
    local = name.removeprefix(f"{DRAFT_REF}/")
    made: list[tuple[str, int]] = []

    def body(move: Move) -> None:
        environment = engine.environment(move.tx)
        if local not in environment.drafts.get(kind, {}):
            raise errors.SchemaSymbolNotFound(
                f"{name} is no draft {SPOKEN[kind]} of this Space.", details={"name": name, "kind": kind}
            )
        meant = target if "://" in target else _named(environment, kind, target)
        following = environment.with_promotion(kind, local, meant)
        move.controls["schema"] = following.to_document()
        move.details = {"kind": kind, "from": f"{DRAFT_REF}/{local}", "to": meant}
        made.append((meant, following.version))

    _transition(engine, session, "promote_symbol", body, {"from": name, "to": target})
    [(meant, version)] = made
    return f"{DRAFT_REF}/{local}", meant, version


def _named(environment: Environment, kind: SymbolKind, name: str) -> str:
    """The reference of the installed symbol a local name means; a draft of that name does not stand in its way."""
    symbols = [definition.symbol for definition in environment.definitions(kind)]
    written = {
        symbol.ref
        for symbol in symbols
        if symbol.name == name
        and symbol.package_ref != DRAFT_REF
        and environment.write_versions.get(symbol.path) == symbol.version
    }
    if not written:
        raise errors.SchemaSymbolNotFound(
            f"No installed package defines the {SPOKEN[kind]} {name!r}.", details={"name": name, "kind": kind}
        )
    if len(written) > 1:
        raise errors.SchemaSymbolAmbiguous(
            f"More than one package defines the {SPOKEN[kind]} {name}.",
            hint=f"Write one of {' or '.join(sorted(written))}.",
            details={"name": name, "kind": kind, "candidates": sorted(written)},
        )
    return written.pop()


def _transition(
    engine: Engine, session: Session, action: str, body: Callable[[Move], None], named: Mapping[str, str]
) -> Seq:
    try:
        return transition(engine, session, action, _PERMISSION, body)
    except errors.NotAuthorized as refused:
        raise errors.ProtectedSchemaState(
            f"{session.principal_id} may not change which vocabulary this Space works with.",
            details={"permission": _PERMISSION, **named},
        ) from refused
