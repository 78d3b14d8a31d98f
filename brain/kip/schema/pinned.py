"""JSON Schemas a package pins by digest, and the check that nothing outside them is referred to (KIP 2.0 §20.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from brain import errors
from brain.ids import digest
from brain.store.base import Document

META_SCHEMA = "https://json-schema.org/draft/2020-12/schema"


class Resources:
    """The JSON Schemas at hand, by `$id`; nothing is ever fetched."""

    def __init__(self, schemas: Mapping[str, Document]) -> None:
        self._schemas = schemas

    def pinned(self, pins: Any, package_ref: str) -> dict[str, Document]:
        """A manifest's `validation_schemas`, each verified; SchemaPackageUnavailable when one is missing."""
        found: dict[str, Document] = {}
        for pin in pins:
            schema = self._schemas.get(pin["id"])
            if schema is None:
                raise _unavailable(package_ref, pin["id"], "is not at hand")
            if digest(schema) != pin["content_digest"]:
                raise errors.DigestMismatch(
                    f"The schema {pin['id']} is not the one {package_ref} pins.",
                    details={"schema": pin["id"], "declared": pin["content_digest"], "found": digest(schema)},
                )
            found[pin["id"]] = schema
        for schema_id, schema in found.items():
            for ref in _references(schema):
                resolve(ref, schema, found, f"{package_ref}, {schema_id}")
        return found


def check_references(definition: Document, pinned: Mapping[str, Document], where: str) -> None:
    """Every value schema of a definition compiles from pinned resources alone."""
    for schema in value_schemas(definition):
        if not isinstance(schema, (Mapping, bool)):
            raise errors.ConstraintViolation(f"{where}: a value_schema is a JSON Schema.")
        for ref in _references(schema):
            resolve(ref, schema, pinned, where)
    for entry in definition.get("reference_paths", ()):
        if (
            not isinstance(entry, Mapping)
            or not str(entry.get("path", "")).startswith("/")
            or (entry.get("target"), entry.get("namespace")) != ("element", "source")
        ):
            raise errors.ConstraintViolation(
                f"{where}: a reference path has a path, target element and namespace source."
            )


def value_schemas(definition: Document) -> Iterator[Any]:
    """The schemas of a definition: its own, its attributes' and each field's."""
    attributes = definition.get("attributes") or {}
    fields = [*(definition.get("fields") or {}).values(), *(attributes.get("fields") or {}).values()]
    for holder in (definition, attributes, *fields):
        if isinstance(holder, Mapping) and "value_schema" in holder:
            yield holder["value_schema"]


def resolve(ref: str, root: Any, pinned: Mapping[str, Document], where: str) -> Any:
    """What a `$ref` points to within its own document or a pinned one."""
    address, _, fragment = ref.partition("#")
    if address == META_SCHEMA:
        return True
    target = root if not address else pinned.get(address)
    if target is None:
        raise _unavailable(where, address, "is not pinned")
    if not fragment:
        return target
    if not fragment.startswith("/"):
        if any(node.get("$anchor") == fragment or node.get("$dynamicAnchor") == fragment for node in _nodes(target)):
            return True
        raise _unavailable(where, ref, "points nowhere")
    for step in fragment.split("/")[1:]:
        step = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(target, Mapping) and step in target:
            target = target[step]
        elif isinstance(target, (list, tuple)) and step.isdigit() and int(step) < len(target):
            target = target[int(step)]
        else:
            raise _unavailable(where, ref, "points nowhere")
    return target


def _references(schema: Any) -> Iterator[str]:
    for node in _nodes(schema):
        for keyword in ("$ref", "$dynamicRef"):
            if isinstance(node.get(keyword), str):
                yield node[keyword]


def _nodes(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        for item in value.values():
            yield from _nodes(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _nodes(item)


def _unavailable(where: str, schema: str, what: str) -> errors.SchemaPackageUnavailable:
    return errors.SchemaPackageUnavailable(
        f"{where}: the schema {schema} {what}.",
        hint="Pin every schema by $id and digest in manifest.validation_schemas; nothing is fetched.",
        details={"schema": schema},
    )
