"""The protected operation on a Space's packages: what no statement can do (KIP 2.0 §20.8, §20.10).

It is a commit of its own, audited like every change of protected state; nothing stored before changes with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brain import errors
from brain.kip.context import Session
from brain.kip.governance.transitions import Move, transition
from brain.kip.library import PROFILE
from brain.kip.schema.drafts import DRAFT_REF
from brain.kip.schema.environment import PackageStatus
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

    try:
        return transition(engine, session, "set_package", _PERMISSION, body)
    except errors.NotAuthorized as refused:
        raise errors.ProtectedSchemaState(
            f"{session.principal_id} may not change which packages this Space works with.",
            details={"permission": _PERMISSION, "package_ref": ref},
        ) from refused
