"""JSON Schema 2020-12 over pinned resources only (KIP 2.0 §20.5); the validator is loaded when first needed."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from brain.ids import canonical_json
from brain.store.base import Document, Json
from brain.times import is_timestamp

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

MOST_FAULTS = 8
"""How many faults of one value are reported."""

_lock = threading.Lock()
_compiled: dict[bytes, Draft202012Validator] = {}


def schema_faults(schema: Any, resources: Mapping[str, Document], value: Json) -> list[tuple[str, str]]:
    """What is wrong with a value, as (path from the value's root, what it should be); empty when nothing is.

    resources   every schema a reference may lead to, by `$id`; nothing else is reachable
    """
    return faults_found(_validator(schema, resources), value)


def compiled(schema: Any) -> Draft202012Validator:
    """A schema that refers to nothing outside, ready for many values at once."""
    return _validator(schema, {})


def faults_found(validator: Draft202012Validator, value: Json) -> list[tuple[str, str]]:
    """As `schema_faults`, by a compiled schema."""
    found = []
    for error in validator.iter_errors(value):
        path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
        found.append((path, _said(error)))
        if len(found) == MOST_FAULTS:
            break
    return found


def why_illegal(schema: Any) -> str | None:
    """What keeps a value from being a JSON Schema of the dialect; None when nothing does."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return _said(error)
    return None


def _validator(schema: Any, resources: Mapping[str, Document]) -> Draft202012Validator:
    """Compiled once per schema and resources; the compiled one keeps its resources alive, so their ids stay theirs."""
    pins = sorted(resources)
    key = canonical_json([schema, [[name, id(resources[name])] for name in pins]])
    found = _compiled.get(key)
    if found is None:
        with _lock:
            found = _compiled.setdefault(key, _compile(schema, resources))
    return found


def _compile(schema: Any, resources: Mapping[str, Document]) -> Draft202012Validator:
    from jsonschema import Draft202012Validator, FormatChecker
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]
    from referencing import Registry, Resource
    from referencing.jsonschema import DRAFT202012

    pinned: list[tuple[str, Resource[Any]]] = [
        (schema_id, DRAFT202012.create_resource(resource)) for schema_id, resource in resources.items()
    ]
    registry: Registry[Any] = REGISTRY.with_resources(pinned)
    checker = FormatChecker(formats=())
    for name in ("timestamp", "date-time"):
        checker.checks(name)(lambda value: not isinstance(value, str) or is_timestamp(value))
    return Draft202012Validator(schema, registry=registry, format_checker=checker)


def _said(error: Any) -> str:
    message = str(error.message)
    return message if len(message) <= 300 else f"{message[:300]}…"
