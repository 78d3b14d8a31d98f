"""EXPORT CAPSULE: a selection of one snapshot as a portable, sealed artifact (KIP 2.0 §37, §40, §41.1, §63.4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from brain import errors
from brain.ids import canonical_json, digest, parse_symbol
from brain.kip import ast
from brain.kip.capsule.form import seal
from brain.kip.capsule.gather import Gathered, Omitted, check_size, gather, in_order, roots_of
from brain.kip.capsule.options import Options, read_options
from brain.kip.capsule.references import pins, renamed
from brain.kip.context import Answer, Run
from brain.kip.describe.sight import run_at, seq_of
from brain.kip.govern import permit
from brain.kip.schema.definitions import CORE_REF
from brain.kip.schema.drafts import DRAFT_REF
from brain.kip.schema.environment import Environment
from brain.kip.schema.package import Package
from brain.store.base import Document, Element

_SOURCE_STATE = frozenset({"governance", "id"})
"""What protects an element here says nothing about there (§39.5)."""

_SYSTEM = ("version", "state", "created_at", "updated_at", "space_seq", "origin")


def export_capsule(statement: ast.ExportCapsule, run: Run) -> Answer:
    """The Capsule of the elements a statement selects; nothing is written.

    The same selection at the same sequence is the same bytes, for callers who may see the same.

    raises  NotAuthorized without `read` and `export`; what `options.read_options` and `gather.roots_of` name;
            CapsuleValidationFailed when `closed` was asked for and something has to stay outside; BlobUnavailable when
            bytes were asked for that the Space does not hold; ResultLimitExceeded, HistoricalSnapshotUnavailable
    """
    permit(run.session, "read")
    permit(run.session, "export")
    options = read_options(run, statement.options)
    seq = run.snapshot.seq if statement.as_of is None else seq_of(run, statement.as_of)
    with run_at(run, seq) as then:
        gathered = gather(roots_of(statement, then), then, options)
        _check_closure(gathered, options)
        capsule = _Writer(then, gathered).capsule(options)
    check_size(run, len(orjson.dumps(capsule)))
    return Answer(capsule)


class _Writer:
    """Writes what was gathered, with ids that mean something inside the Capsule only."""

    def __init__(self, run: Run, gathered: Gathered) -> None:
        self.run = run
        self.roots = gathered.roots
        self.elements = [gathered.records[element_id] for element_id in in_order(gathered.records)]
        self.local = {element.id: f"r{place}" for place, element in enumerate(self.elements, start=1)}
        outside = [(element_id, gathered.omitted[element_id]) for element_id in in_order(gathered.omitted)]
        outside += [*_canonical(self.elements), *map(_bytes_of, external(self.elements))]
        self.outside = dict(outside)
        self.names = self.local | {key: f"x{place}" for place, key in enumerate(self.outside, start=1)}

    def capsule(self, options: Options) -> dict[str, Any]:
        packages = _packages(self.run.environment, self.elements)
        carried = [package for package in packages if package.ref != DRAFT_REF] if options.include_schema else []
        return seal(
            {
                "manifest": {
                    "kind": "snapshot",
                    "closure": options.closure,
                    "roots": [self.local[root] for root in self.roots],
                },
                "source": {"space_id": self.run.space_uri, "snapshot_seq": self.run.snapshot.seq},
                "schema_dependencies": [
                    {"package_ref": CORE_REF},
                    *({"package_ref": package.ref, "content_digest": package.digest} for package in packages),
                ],
                "records": [self._record(element) for element in self.elements],
                "external_refs": [
                    {"id": self.names[key], "kind": omitted.kind, "locator": omitted.locator}
                    for key, omitted in self.outside.items()
                ],
                "blobs": dict(map(_blob, carried)),
                "handling": self._handling(options, carried),
            }
        )

    def _handling(self, options: Options, carried: list[Package]) -> dict[str, Any]:
        handling: dict[str, Any] = {
            "source_elements": {name: element_id for element_id, name in self.local.items()},
            "provenance_depth": options.provenance_depth,
        }
        if carried:
            handling["embedded_packages"] = {package.ref: _blob(package)[0] for package in carried}
        labels = {self.local[element.id]: label for element in self.elements if (label := _label(element)) is not None}
        if labels:
            handling["source_classification"] = labels
        return handling

    def _record(self, element: Element) -> dict[str, Any]:
        self.run.check_deadline()
        body = {name: value for name, value in element.body.items() if name not in _SOURCE_STATE}
        record = {"id": self.local[element.id], **renamed(body, self.names.__getitem__)}
        key = _canonical_key(element)
        if key is not None:
            record["object"] = {"id": self.names[key]}
        system: Mapping[str, Any] = element.body["_system"]
        record["_system"] = {name: system[name] for name in _SYSTEM if name in system} | pins(system, self.names)
        retention = {name: value for name, value in body.get("retention", {}).items() if name != "legal_hold"}
        return {name: value for name, value in record.items() if name != "retention"} | (
            {"retention": retention} if retention else {}
        )


def _canonical(elements: list[Element]) -> Iterator[tuple[str, Omitted]]:
    """Objects known by a canonical id only: of no element here."""
    for key in sorted({key for element in elements if (key := _canonical_key(element)) is not None}):
        yield key, Omitted("canonical_identity", {"canonical_id": key.removeprefix(_BY_CANONICAL_ID)})


def _canonical_key(element: Element) -> str | None:
    value = element.body.get("object")
    if isinstance(value, Mapping) and "canonical_id" in value:
        return f"{_BY_CANONICAL_ID}{value['canonical_id']}"
    return None


_BY_CANONICAL_ID = "canonical_id:"


def _bytes_of(element: Element) -> tuple[str, Omitted]:
    """Where the bytes of Evidence lie that the Space holds only the digest of."""
    payload, content_digest = element.body["payload"], element.body["content_digest"]
    locator = {"content_ref": payload["content_ref"], "content_digest": content_digest}
    return f"bytes:{element.id}", Omitted("external_artifact", locator)


def external(elements: list[Element]) -> list[Element]:
    """The Evidence whose bytes lie somewhere else."""
    return [element for element in elements if element.body.get("payload", {}).get("mode") == "external"]


def _check_closure(gathered: Gathered, options: Options) -> None:
    outside = in_order(gathered.omitted)
    records = list(gathered.records.values())
    elsewhere = [element.id for element in external(records)]
    if options.include_blobs and elsewhere:
        raise errors.BlobUnavailable(
            "The bytes of some Evidence lie outside of this Space and cannot come along.",
            hint="Export without include_blobs; the Capsule then names where they are and what their digest is.",
            details={"elements": in_order(elsewhere)},
        )
    canonical = [omitted.locator for _, omitted in _canonical(records)]
    if options.closure == "closed" and (outside or elsewhere or canonical):
        faults = [{"element": element_id, "kind": gathered.omitted[element_id].kind} for element_id in outside]
        faults += [{"element": element_id, "kind": "external_artifact"} for element_id in in_order(elsewhere)]
        faults += [{**locator, "kind": "canonical_identity"} for locator in canonical]
        raise errors.CapsuleValidationFailed(
            "A closed Capsule leaves nothing outside, and some of what these roots lead to cannot be part of it.",
            hint='Export with closure "referential", which names what stays outside.',
            details={"faults": faults},
        )


def _packages(environment: Environment, elements: list[Element]) -> list[Package]:
    """The packages whose symbols the elements use and those they need, by reference."""
    waiting = sorted({ref for element in elements for ref in package_refs(element.body)})
    found: dict[str, Package] = {}
    while waiting:
        ref = waiting.pop()
        installed = environment.installed(ref)
        if ref in found or installed is None:
            continue
        found[ref] = installed.package
        waiting += [needed.package_ref for needed in installed.package.dependencies]
    return [found[ref] for ref in sorted(found)]


def package_refs(body: Document) -> Iterator[str]:
    """The packages an element's own symbols are of."""
    symbols = [body.get("schema_ref"), body.get("predicate_ref"), *body.get("facets", {}), *body.get("structural", {})]
    for ref in symbols:
        symbol = parse_symbol(ref) if isinstance(ref, str) else None
        if symbol is not None:
            yield symbol.package_ref


def _blob(package: Package) -> tuple[str, str]:
    content = canonical_json(package.artifact)
    return digest(content), content.decode()


def _label(element: Element) -> str | None:
    label = (element.body.get("governance") or {}).get("classification")
    return label if isinstance(label, str) else None
