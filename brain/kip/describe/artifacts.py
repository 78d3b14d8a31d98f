"""VERIFY, VALIDATE and PREVIEW: three questions about a text or an artifact, none of which commits (KIP 2.0 §69)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from brain import errors
from brain.ids import digest
from brain.kip import ast
from brain.kip.artifact import read_artifact
from brain.kip.capsule import capsule_faults, preview_import, verify_capsule
from brain.kip.context import Answer, Run, WriteSet
from brain.kip.describe.legality import kml_faults, kml_warnings, kql_faults
from brain.kip.library import PackageLibrary
from brain.kip.parser import language_of, parse
from brain.kip.resolve import Binder
from brain.kip.schema.environment import Environment
from brain.kip.schema.package import check_schemas, complete, load
from brain.store.base import Document

_OPTIONS = frozenset({"parameters", "strict"})


def verify(statement: ast.Verify, run: Run) -> Answer:
    """VERIFY RECEIPT, SCHEMA PACKAGE or CAPSULE, as JSON text or an object: is it what it says, and what is known here?

    It says nothing of truth or trust.

    raises  ArtifactParseError for what cannot be read, DigestMismatch for what was changed or differs from what is kept
            here, ArtifactTooLarge; for a Capsule what `capsule.verify_capsule` names
    """
    artifact = read_artifact(run, statement.value, f"VERIFY {statement.subject}")
    if statement.subject == "CAPSULE":
        return verify_capsule(artifact)
    return Answer(_receipt(run, artifact) if statement.subject == "RECEIPT" else _package(run, artifact))


def validate(statement: ast.Validate, run: Run) -> Answer:
    """VALIDATE KQL, KML, SCHEMA PACKAGE or CAPSULE [WITH {parameters, strict}]: `{valid, violations, warnings, note}`.

    Each violation is the error that execution would give. `strict` counts warnings as violations. What depends on the
    state of the Space at execution is PREVIEW's question.

    raises  TypeMismatch for an operand that is no text, UnsupportedCapability for an import plan
    """
    options = _options(run, statement.options)
    if statement.subject == "IMPORT PLAN":
        raise errors.UnsupportedCapability(
            "VALIDATE IMPORT PLAN belongs to the capability capsule_import, which is not offered here.",
            details={"capability": "capsule_import"},
        )
    warnings: list[Document] = []
    if statement.subject == "CAPSULE":
        violations = _capsule_faults(run, statement.value, warnings)
    elif statement.subject == "SCHEMA PACKAGE":
        violations = [_fault(error) for error in _package_faults(run, statement.value)]
    else:
        text = Binder.of(run).text(statement.value, f"VALIDATE {statement.subject}")
        bound = replace(run, parameters={**run.parameters, **options.get("parameters", {})})
        violations = [_fault(error) for error in _text_faults(bound, text, statement.subject, warnings)]
    strict = bool(options.get("strict")) and bool(warnings)
    return Answer(
        {
            "valid": not violations and not strict,
            "violations": violations,
            "warnings": warnings,
            "note": "Legal now is no promise: running it checks everything again.",
        }
    )


def preview_capsule(statement: ast.Preview, run: Run) -> Answer:
    """PREVIEW IMPORT CAPSULE c INTO space, as `capsule.preview_import` words and refuses it."""
    assert statement.into is not None  # noqa: S101 - the grammar requires it
    artifact = read_artifact(run, statement.value, "PREVIEW IMPORT CAPSULE")
    return preview_import(artifact, Binder.of(run).text(statement.into, "INTO"), run)


def previewed(outcome: Answer | errors.KipError, write_set: WriteSet | None = None) -> Answer:
    """How PREVIEW KML words what its trial showed: `{would_commit, would_change, effect, receipt, note}`, or the error.

    Ids in the effect are those of the trial; a run of its own gives others.
    """
    if isinstance(outcome, errors.KipError):
        return Answer({"would_commit": False, "error": outcome.to_wire()})
    return Answer(
        {
            "would_commit": True,
            "would_change": write_set is not None and not write_set.is_empty,
            "effect": outcome.result,
            "receipt": None,
            "note": "Nothing was kept or reserved; running it checks everything again.",
        },
        warnings=outcome.warnings,
    )


# --- receipts and packages --------------------------------------------------------------------------------------------


def _receipt(run: Run, receipt: Mapping[str, Any]) -> Document:
    declared = receipt.get("receipt_digest")
    if not isinstance(receipt.get("status"), str) or not isinstance(declared, str):
        raise errors.ArtifactParseError("A receipt has a status and a receipt_digest.")
    found = digest({name: value for name, value in receipt.items() if name not in ("proofs", "receipt_digest")})
    if found != declared:
        raise errors.DigestMismatch(
            "The receipt was changed after it was issued.", details={"declared": declared, "found": found}
        )
    tx_id = receipt.get("tx_id")
    commit = run.snapshot.commit_by_tx(tx_id) if isinstance(tx_id, str) else None
    if commit is not None and commit.record.get("receipt_digest") != declared:
        raise errors.DigestMismatch("This Space committed that transaction with another receipt.")
    return {
        "valid": True,
        "tx_id": tx_id,
        "status": receipt["status"],
        "receipt_digest": declared,
        "committed_here": commit is not None,
        "signed": False,
        "note": "The receipt is unchanged. What was written under it may still be wrong.",
    }


def _package(run: Run, artifact: Mapping[str, Any]) -> Document:
    package = load(complete(artifact), PackageLibrary.bundled().resources)
    integrity = artifact.get("integrity")
    installed = run.environment.installed(package.ref)
    if installed is not None and installed.package.digest != package.digest:
        raise errors.DigestMismatch(
            f"{package.ref} is installed here with other content.",
            details={"installed": installed.package.digest, "found": package.digest},
        )
    return {
        "valid": True,
        "package_ref": package.ref,
        "content_digest": package.digest,
        "declared": integrity.get("content_digest") if isinstance(integrity, Mapping) else None,
        "installed": installed.package.digest if installed else None,
        "signed": False,
        "signature": None,
        "note": "The content has this digest. Who made it, and whether to use it, is another question.",
    }


def _package_faults(run: Run, node: ast.Scalar) -> list[errors.KipError]:
    """The first rule the package breaks by itself, or else in this Space's vocabulary."""
    try:
        artifact = read_artifact(run, node, "VALIDATE SCHEMA PACKAGE")
        package = check_schemas(load(complete(artifact), PackageLibrary.bundled().resources))
        _activated(run.environment, package)
    except errors.TypeMismatch:
        raise
    except errors.KipError as error:
        return [error]
    return []


def _capsule_faults(run: Run, node: ast.Scalar, warnings: list[Document]) -> list[Document]:
    try:
        faults, unjudged = capsule_faults(read_artifact(run, node, "VALIDATE CAPSULE"), run)
    except (errors.ExecutionTimeout, errors.TypeMismatch):
        raise
    except errors.KipError as error:
        return [_fault(error)]
    warnings += unjudged
    return faults


def _activated(environment: Environment, package: Any) -> None:
    environment.with_package(package)


# --- texts ------------------------------------------------------------------------------------------------------------


def _text_faults(run: Run, text: str, language: str, warnings: list[Document]) -> list[errors.KipError]:
    try:
        statement = parse(text, run.check_deadline)
    except errors.KipError as error:
        return [error]
    found = language_of(statement)
    if found != language:
        return [errors.LanguageMismatch(f"This text is {found}.", hint=f"VALIDATE {found} takes it.")]
    if isinstance(statement, ast.Find):
        return kql_faults(statement, run)
    warnings += kml_warnings(statement, run)
    return kml_faults(statement, run)


def _options(run: Run, node: ast.ObjectLiteral | None) -> Mapping[str, Any]:
    if node is None:
        return {}
    options = {member.name: Binder.of(run).data(member.value) for member in node.members}
    unknown = sorted(options.keys() - _OPTIONS)
    if unknown:
        raise errors.SchemaFieldNotFound(
            f"VALIDATE has no option {unknown[0]}.", hint=f"Options: {', '.join(sorted(_OPTIONS))}."
        )
    if not isinstance(options.get("parameters", {}), Mapping):
        raise errors.TypeMismatch("parameters is an object.")
    if not isinstance(options.get("strict", False), bool):
        raise errors.TypeMismatch("strict is true or false.")
    return options


def _fault(error: errors.KipError) -> Document:
    wire = error.to_wire()
    return {name: wire[name] for name in ("code", "message", "hint", "details") if name in wire}
