"""The packages a Capsule was written with, as far as they are at hand, to look at it only (KIP 2.0 §20.12, §41.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from brain import errors
from brain.kip import strict_json
from brain.kip.capsule.export import package_refs
from brain.kip.context import Run
from brain.kip.library import PackageLibrary
from brain.kip.schema import Environment
from brain.kip.schema.definitions import CORE_REF
from brain.kip.schema.drafts import DRAFT_REF
from brain.kip.schema.environment import Installed
from brain.kip.schema.package import Dependency, Package, check_schemas, load, seal
from brain.store.base import Document


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What a Capsule's symbols mean.

    environment  of the packages at hand; no Space's, and nothing is ever activated by it
    missing      declared packages that are nowhere to be had
    faults       what is wrong with those that came along, `{code, path, message}`
    """

    environment: Environment
    missing: tuple[str, ...]
    faults: tuple[dict[str, Any], ...]

    def covers(self, record: Document) -> bool:
        """Whether every symbol of a record is of a package at hand."""
        return all(self.environment.installed(ref) is not None for ref in package_refs(record))


def vocabulary_of(payload: Document, run: Run) -> Vocabulary:
    """The packages a payload declares, by reference and digest: this Space's, bundled ones, those that came along."""
    found: dict[str, Package] = {}
    missing: list[str] = []
    faults: list[dict[str, Any]] = []
    for entry in payload["schema_dependencies"]:
        if not isinstance(entry, Mapping) or entry.get("package_ref") == CORE_REF:
            continue
        ref, content_digest = str(entry.get("package_ref")), entry.get("content_digest")
        try:
            package = _at_hand(run, ref, content_digest) or _embedded(payload, ref, content_digest)
        except errors.KipError as error:
            faults.append({"code": error.code, "path": f"payload.blobs, {ref}", "message": error.message})
            continue
        if package is None:
            missing.append(ref)
        else:
            found[ref] = package
    whole = _complete(found)
    missing += sorted(found.keys() - whole.keys())
    environment = Environment(1, [Installed(package, "active") for package in whole.values()])
    return Vocabulary(environment, tuple(missing), tuple(faults))


def _complete(found: Mapping[str, Package]) -> dict[str, Package]:
    """Those packages of which everything they need is at hand, with the content they pin."""
    whole = dict(found)
    while True:
        broken = [ref for ref, package in whole.items() if not all(_is_met(one, whole) for one in package.dependencies)]
        if not broken:
            return whole
        for ref in broken:
            del whole[ref]


def _is_met(needed: Dependency, whole: Mapping[str, Package]) -> bool:
    other = whole.get(needed.package_ref)
    if needed.package_ref == CORE_REF or other is None:
        return needed.package_ref == CORE_REF or not needed.required
    return needed.content_digest in (None, other.digest)


def _embedded(payload: Document, ref: str, content_digest: Any) -> Package | None:
    """A package that came along, verified. Its value schemas are not run: whoever wrote them is a stranger, and a
    pattern may take for ever."""
    carried = payload["handling"].get("embedded_packages")
    name = carried.get(ref) if isinstance(carried, Mapping) else None
    content = payload["blobs"].get(name) if isinstance(name, str) else None
    if content is None:
        return None
    try:
        artifact = strict_json.read(content)
    except errors.KipError as error:
        raise errors.ArtifactParseError("The package that came along is no JSON.") from error
    resources = PackageLibrary.bundled().resources
    package = check_schemas(load(artifact, resources))
    if (package.ref, package.digest) != (ref, content_digest):
        raise errors.DigestMismatch(
            "The package that came along is not the one that is declared.",
            details={"declared": content_digest, "found": package.digest},
        )
    return replace(load(seal(_without_value_schemas(artifact)), resources), digest=package.digest)


def _without_value_schemas(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_value_schemas(item) for name, item in value.items() if name != "value_schema"}
    if isinstance(value, list):
        return [_without_value_schemas(item) for item in value]
    return value


def _at_hand(run: Run, ref: str, content_digest: Any) -> Package | None:
    installed = run.environment.installed(ref)
    if installed is not None and installed.package.digest == content_digest:
        return installed.package
    if ref == DRAFT_REF:
        return None
    try:
        return PackageLibrary.bundled().get(ref, str(content_digest))
    except (errors.SchemaPackageUnavailable, errors.DigestMismatch):
        return None
