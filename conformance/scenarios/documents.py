"""Shapes and packages: what is malformed does not get in, and what a run reports claims no more than it saw."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from brain.errors import KipError
from brain.ids import digest
from brain.kip.library import PROFILE, PackageLibrary
from brain.kip.schema.package import complete
from brain.kip.schema.package import load as load_package
from brain.kip.schema.pinned import Resources
from conformance import report
from conformance.report import CaseResult
from conformance.scenarios.observed import Observed, scenario
from conformance.scenarios.world import World

_PACKAGE: dict[str, Any] = {
    "format": "KIP-Schema-Package",
    "manifest": {"package_id": "kip://cases/shapes", "version": "1.0.0"},
    "definitions": {
        "facets": {
            "Measured": {
                "applicable_to": {"kinds": ["Concept"]},
                "fields": {"value": {"type": "number"}},
                "value_schema": {"type": "object", "properties": {"value": {"minimum": 0}}},
            }
        }
    },
}


@scenario("KIP2-MEM-012")
def malformed_shapes_and_packages_stay_out(world: World) -> Observed:
    alice = world.handles('CREATE CONCEPT ?a {TYPE "Person" NAME "Alice"}')["a"]
    shapes = {
        "a Proposition with a confidence": world.code(
            "UPDATE :p SET FIELDS {confidence: 1}",
            p=world.handles('ENSURE PROPOSITION ?p (:a, "timezone", "+01:00")', a=alice)["p"],
        ),
        "a Facet outside its value schema": world.code('UPDATE :a SET FACET "MnemonicState" {salience: 2}', a=alice),
        "an unknown member of a closed Facet": world.code('UPDATE :a SET FACET "MnemonicState" {mood: 1}', a=alice),
        "a record without its required members": world.code(
            """CREATE ACTIVITY ?x {
              SET FIELDS {activity_class: "action_gate", status: "completed"}
              SET FACET "DecisionRecord" {decision: "act"}}"""
        ),
        "an unknown member of an element": world.code('CREATE CONCEPT ?c {TYPE "Person" SET FIELDS {metadata: {}}}'),
    }
    artifact = _sealed(world)
    return Observed(
        {
            "invalid_shape_accepted": None in shapes.values(),
            "unsupported_schema_ignored": any(
                _is_taken(_with_schema(artifact, schema))
                for schema in (
                    {"$ref": "urn:nowhere:schema"},
                    {"$ref": "https://example.org/s.json"},
                    {"type": "triangle"},
                )
            ),
            "schema_lock_closed": _lock_is_closed(),
        },
        {"mismatched_package_activated": _activates_a_changed_package(world, artifact)},
    )


def _sealed(world: World) -> dict[str, Any]:
    """A whole package that the engine takes, so that only what is changed in it can be what is refused."""
    artifact = dict(complete(copy.deepcopy(_PACKAGE)))
    load_package(artifact, world.adapter.engine.library.resources)
    return artifact


def _with_schema(artifact: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = copy.deepcopy(dict(artifact))
    changed["definitions"]["facets"]["Measured"]["value_schema"] = schema
    changed.pop("integrity")
    return changed


def _is_taken(artifact: Mapping[str, Any]) -> bool:
    try:
        PackageLibrary().install(artifact)
    except KipError:
        return False
    return True


def _lock_is_closed() -> bool:
    """The Profile compiles from the schemas its manifest pins and no others, and from none fewer."""
    library = PackageLibrary()
    package = library.resolve(PROFILE)
    pins = {pin["id"]: pin["content_digest"] for pin in package.artifact["manifest"]["validation_schemas"]}
    pinned = {name: package.resources[name] for name in pins}
    if any(digest(schema) != pins[name] for name, schema in pinned.items()):
        return False
    if not _compiles(package.artifact, pinned):
        return False
    return not any(_compiles(package.artifact, _without(pinned, name)) for name in pinned)


def _without(schemas: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {other: schema for other, schema in schemas.items() if other != name}


def _compiles(artifact: Mapping[str, Any], schemas: Mapping[str, Any]) -> bool:
    try:
        load_package(artifact, Resources(schemas))
    except KipError:
        return False
    return True


def _activates_a_changed_package(world: World, artifact: Mapping[str, Any]) -> bool:
    """One changed byte under the old digest: by the library, and by the statement that verifies."""
    changed: dict[str, Any] = copy.deepcopy(dict(artifact))
    changed["definitions"]["facets"]["Measured"]["description"] = "changed after sealing"
    verified = world.code("VERIFY SCHEMA PACKAGE :p", p=json.dumps(changed)) is None
    return verified or _is_taken(changed)


@scenario("KIP2-MEM-025")
def a_report_of_answers_claims_no_behavior(_world: World) -> Observed:
    with TemporaryDirectory() as folder:
        target = Path(folder) / "report.json"
        results = [CaseResult("memory", "KIP2-MEM-025", "passed")]
        report.write(target, report.document("vectors", (), results, ("passed", "failed", "not decided")))
        written = json.loads(target.read_text("utf-8"))
    return Observed(
        {"unrun_benchmark_status": written["behavior"]["status"]},
        {"fabricated_behavior_score": set(written["behavior"]) != {"status"}},
    )
