"""Whether what a write would leave behind fits its definitions (KIP 2.0 §20.5, §20.15); pure functions.

Each takes the whole resulting value (after merging what the statement sets and removes) and the value before, so that
rules about change see both. All faults of one value are found at once: the first is raised, `details.faults` lists them
when there are several.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain import errors
from brain.ids import lineage_of
from brain.kip.formats import FORMAT_HINTS, has_format, is_same, is_type, json_type
from brain.kip.json_schema import schema_faults
from brain.kip.schema.definitions import (
    ConceptType,
    Definition,
    Endpoint,
    FacetType,
    PredicateType,
    StructuralField,
)
from brain.kip.schema.environment import Environment
from brain.store.base import Document, Json, Kind
from brain.times import is_timestamp

TERMINAL_ACTIVITY = frozenset({"cancelled", "completed", "failed"})


@dataclass(frozen=True, slots=True)
class Carrier:
    """The element a Facet would hang on.

    schema_ref      of a Concept, else None
    activity_class, status  of an Activity as it would be, else None
    """

    kind: Kind
    schema_ref: str | None = None
    activity_class: str | None = None
    status: str | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that does not fit."""

    error: type[errors.KipError]
    path: str
    message: str


def check_attributes(
    environment: Environment, concept_type: ConceptType, after: Document, before: Document | None = None
) -> None:
    """A Concept's attributes as they would be, against the exact version of its type.

    before   as stored, None at creation
    raises   ConstraintViolation for a wrong type or value, a missing required one, an unknown one of a closed type, or
             a changed immutable one; ImmutableField when an immutable one would be added late; TypeMismatch when a
             timestamp is not text
    """
    found = [
        *_members("attributes", concept_type.fields, after, is_closed=not concept_type.is_open),
        *_frozen("attributes", concept_type.fields, after, before),
    ]
    attributes = concept_type.wire.get("attributes") or {}
    for holder in (attributes, concept_type.wire):
        if not found and "value_schema" in holder:
            found += _schema(environment, concept_type, holder["value_schema"], "attributes", after)
    found = found or _field_schemas(environment, concept_type, concept_type.fields, "attributes", after)
    _raise(found)


def check_facet(
    environment: Environment, facet: FacetType, carrier: Carrier, after: Document, before: Document | None = None
) -> None:
    """A Facet as it would be on an element, against its definition and where it may hang.

    before   as stored, None when the element does not carry it yet
    raises   ConstraintViolation for the wrong carrier, a computed member, a wrong or missing member, a changed
             immutable one; ImmutableField when an immutable one would be added to a Facet that is already there
    """
    name = facet.symbol.name
    where = f'facets["{name}"]'
    if facet.is_computed:
        raise errors.ConstraintViolation(
            f"{name} is computed on read and cannot be written.", hint="Write the records it is computed from."
        )
    found: list[Fault] = []
    if not _admits(environment, facet.applicable_to, carrier.kind, carrier.schema_ref):
        found.append(Fault(errors.ConstraintViolation, where, f"does not go on {_called(carrier)}"))
    elif facet.attachment is not None:
        found += _attachment(facet, carrier, where)
    found += _members(where, facet.fields, after, is_closed=facet.is_closed)
    found += _frozen(where, facet.fields, after, before)
    if not found and "value_schema" in facet.wire:
        found += _schema(environment, facet, facet.wire["value_schema"], where, after)
    found = found or _field_schemas(environment, facet, facet.fields, where, after)
    _raise(found)


def check_subject(environment: Environment, predicate: PredicateType, kind: Kind, schema_ref: str | None) -> None:
    """An element as the subject of a Predicate; ConstraintViolation when the definition does not take it."""
    _element_end(environment, predicate, "subject", predicate.subject, kind, schema_ref)


def check_object(environment: Environment, predicate: PredicateType, kind: Kind, schema_ref: str | None) -> None:
    """An element as the object of a Predicate; ConstraintViolation when the definition does not take it."""
    _element_end(environment, predicate, "object", predicate.object, kind, schema_ref)


def check_literal(predicate: PredicateType, value: Json) -> None:
    """A JSON scalar as the object of a Predicate.

    raises   ConstraintViolation for a datatype, a null or a shape the definition does not take; TypeMismatch when a
             timestamp is not text
    """
    end, name = predicate.object, predicate.symbol.name
    if value is None:
        if not end.nullable:
            raise errors.ConstraintViolation(f"{name} does not take null as its object.")
        return
    if end.format is not None and not isinstance(value, str):
        raise errors.TypeMismatch(f"The object of {name} is text in the format {end.format}.")
    if not end.literal_types:
        raise errors.ConstraintViolation(
            f"The object of {name} is {_taken(end)}, not a Literal.",
            hint="Find the element with SEARCH or create it, then refer to it by id or handle.",
            details=_end_details(predicate, "object"),
        )
    datatype = json_type(value)
    if datatype not in end.literal_types:
        raise errors.ConstraintViolation(
            f"The object of {name} is {' or '.join(sorted(end.literal_types))}, not {datatype}.",
            details=_end_details(predicate, "object"),
        )
    if end.format is not None and not has_format(value, end.format):
        raise errors.ConstraintViolation(
            f"The object of {name} is not a {end.format}: {value!r}.", hint=FORMAT_HINTS.get(end.format)
        )


def check_structural(
    environment: Environment,
    field: StructuralField,
    source: tuple[Kind, str | None],
    target: tuple[Kind, str | None],
) -> None:
    """One reference of a declared structural field, each end as (kind, schema_ref or None).

    raises   ConstraintViolation for a computed field, a source that does not carry it, a target of a wrong Concept
             Type; StructuralReferenceInvalid for a target of a wrong kind
    """
    name = field.symbol.name
    check_writable(field)
    if not _admits(environment, field.source, *source):
        raise errors.ConstraintViolation(f"{name} goes out from {_taken(field.source)}, not from {_end(*source)}.")
    if field.target.is_declared and target[0] not in field.target.kinds:
        raise errors.StructuralReferenceInvalid(f"{name} points to {_taken(field.target)}, not to {_end(*target)}.")
    if not _admits(environment, field.target, *target):
        raise errors.ConstraintViolation(f"{name} points to {_taken(field.target)}, not to {_end(*target)}.")


def check_writable(field: StructuralField) -> None:
    """ConstraintViolation for a computed field, whatever the reference."""
    if field.is_computed:
        raise errors.ConstraintViolation(
            f"{field.symbol.name} is computed from finished Activities and cannot be written.",
            hint="Record the Activity with its inputs and outputs instead.",
        )


def check_cardinality(field: StructuralField, count: int) -> None:
    """How many references of a field one element would have; ConstraintViolation outside the declared bounds."""
    if count < field.least or (field.most is not None and count > field.most):
        bounds = f"at least {field.least}" if field.most is None else f"{field.least} to {field.most}"
        raise errors.ConstraintViolation(f"{field.symbol.name} takes {bounds} references, not {count}.")


def required_fields(environment: Environment, concept_type: ConceptType) -> tuple[StructuralField, ...]:
    """Structural fields that every element of a type must have (`cardinality.min` above 0)."""
    return tuple(
        field
        for field in environment.definitions("structural_field")
        if isinstance(field, StructuralField)
        and field.least > 0
        and field.source.is_declared
        and _admits(environment, field.source, Kind.CONCEPT, concept_type.symbol.ref)
    )


def check_timestamp(value: Json, member: str) -> str:
    """A timestamp of the protocol (§6.5): TypeMismatch when it is not text, ConstraintViolation when it is misspelt."""
    if not isinstance(value, str):
        raise errors.TypeMismatch(f"{member} is a timestamp, not {json_type(value)}.")
    if not is_timestamp(value):
        raise errors.ConstraintViolation(
            f"{member} is not a timestamp: {value!r}.", hint=FORMAT_HINTS["timestamp"], details={"member": member}
        )
    return value


def references_in(definition: Definition, value: Document) -> Iterator[tuple[str, str]]:
    """The element ids inside a value at the definition's `reference_paths`, each with its path; null ones left out."""
    for entry in definition.wire.get("reference_paths", ()):
        yield from _walk(value, entry["path"].split("/")[1:], "")


# --- members of attributes and facets ---------------------------------------------------------------------------------


def _members(where: str, fields: Mapping[str, Document], after: Document, *, is_closed: bool) -> list[Fault]:
    found: list[Fault] = []
    for name, value in after.items():
        field = fields.get(name)
        path = f"{where}.{name}"
        if field is None:
            if is_closed:
                known = ", ".join(sorted(fields))
                found.append(Fault(errors.ConstraintViolation, path, f"there is no such member; known are {known}"))
        elif field.get("computed"):
            found.append(Fault(errors.ConstraintViolation, path, "is computed on read and cannot be written"))
        else:
            fault = _field(path, field, value)
            if fault is not None:
                found.append(fault)
    found += [
        Fault(errors.ConstraintViolation, f"{where}.{name}", "is required")
        for name, field in fields.items()
        if field.get("required") and name not in after
    ]
    return found


def _field(path: str, field: Document, value: Json) -> Fault | None:
    declared = field["type"]
    types = (declared,) if isinstance(declared, str) else tuple(declared)
    text_format = "timestamp" if "timestamp" in types else field.get("format")
    if not any(is_type(value, name) for name in types):
        error = errors.TypeMismatch if text_format == "timestamp" else errors.ConstraintViolation
        return Fault(error, path, f"is {' or '.join(types)}, not {json_type(value)}")
    if isinstance(value, str) and text_format and not has_format(value, text_format):
        return Fault(errors.ConstraintViolation, path, f"is not a {text_format}: {value!r}")
    allowed = field.get("enum")
    if allowed is not None and not any(is_same(value, item) for item in allowed):
        return Fault(
            errors.ConstraintViolation, path, f"is one of {', '.join(map(_shown, allowed))}, not {_shown(value)}"
        )
    return _bounds(path, field, value)


def _bounds(path: str, field: Document, value: Json) -> Fault | None:
    if json_type(value) != "number":
        return None
    least, most = field.get("minimum"), field.get("maximum")
    if (least is not None and value < least) or (most is not None and value > most):
        low = "any" if least is None else least
        return Fault(errors.ConstraintViolation, path, f"lies outside {low} to {'any' if most is None else most}")
    return None


def _frozen(where: str, fields: Mapping[str, Document], after: Document, before: Document | None) -> list[Fault]:
    if before is None:
        return []
    found: list[Fault] = []
    for name, field in fields.items():
        if field.get("mutable", True) is not False or field.get("computed"):
            continue
        path = f"{where}.{name}"
        if name not in before:
            if name in after:
                found.append(Fault(errors.ImmutableField, path, "is fixed and cannot be added later"))
        elif name not in after:
            found.append(Fault(errors.ConstraintViolation, path, "is fixed and cannot be removed"))
        elif not is_same(before[name], after[name]):
            found.append(Fault(errors.ConstraintViolation, path, "is fixed and cannot change"))
    return found


def _schema(environment: Environment, definition: Definition, schema: Any, where: str, value: Json) -> list[Fault]:
    return [
        Fault(errors.ConstraintViolation, f"{where}{path}", message)
        for path, message in schema_faults(schema, environment.resources_of(definition), value)
    ]


def _field_schemas(
    environment: Environment,
    definition: Definition,
    fields: Mapping[str, Document],
    where: str,
    after: Document,
) -> list[Fault]:
    found: list[Fault] = []
    for name, field in fields.items():
        if "value_schema" in field and name in after:
            path = f"{where}.{name}"
            found += _schema(environment, definition, field["value_schema"], path, after[name])
    return found


def _attachment(facet: FacetType, carrier: Carrier, where: str) -> list[Fault]:
    attachment = facet.attachment or {}
    classes = attachment.get("activity_classes")
    if classes is not None and carrier.activity_class not in classes:
        return [Fault(errors.ConstraintViolation, where, f"goes on an Activity of class {' or '.join(classes)}")]
    if attachment.get("terminal_only") and carrier.status not in TERMINAL_ACTIVITY:
        return [Fault(errors.ConstraintViolation, where, "goes on an Activity that is over")]
    return []


# --- ends -------------------------------------------------------------------------------------------------------------


def _element_end(
    environment: Environment, predicate: PredicateType, member: str, end: Endpoint, kind: Kind, schema_ref: str | None
) -> None:
    if not _admits(environment, end, kind, schema_ref):
        raise errors.ConstraintViolation(
            f"The {member} of {predicate.symbol.name} is {_taken(end)}, not {_end(kind, schema_ref)}.",
            details=_end_details(predicate, member),
        )


def _admits(environment: Environment, end: Endpoint, kind: Kind, schema_ref: str | None) -> bool:
    if not end.is_declared:
        return True
    if kind not in end.kinds:
        return False
    if kind is not Kind.CONCEPT or end.type_lineages is None or schema_ref is None:
        return True
    group = environment.group("concept_type", lineage_of(schema_ref))
    return not group.isdisjoint(end.type_lineages)


def _taken(end: Endpoint) -> str:
    names = sorted(lineage.rsplit("/", 1)[1] for lineage in end.type_lineages or ())
    names += sorted(kind.value for kind in end.kinds if kind is not Kind.CONCEPT or end.type_lineages is None)
    names += sorted(end.literal_types)
    return f"a {' or '.join(names)}"


def _end(kind: Kind, schema_ref: str | None) -> str:
    return f"a {lineage_of(schema_ref).rsplit('/', 1)[1]}" if schema_ref else f"a {kind.value}"


def _called(carrier: Carrier) -> str:
    return _end(carrier.kind, carrier.schema_ref)


def _end_details(predicate: PredicateType, member: str) -> Document:
    return {"predicate": predicate.symbol.ref, "member": member, "declared": predicate.wire.get(member)}


def _walk(value: Json, steps: Sequence[str], path: str) -> Iterator[tuple[str, str]]:
    if not steps:
        if isinstance(value, str):
            yield path, value
        return
    step, rest = steps[0], steps[1:]
    if step == "*" and isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from _walk(item, rest, f"{path}/{index}")
    elif isinstance(value, Mapping) and step in value:
        yield from _walk(value[step], rest, f"{path}/{step}")


def _shown(value: Json) -> str:
    return "null" if value is None else str(value)


def _raise(found: list[Fault]) -> None:
    if not found:
        return
    first = found[0]
    details: dict[str, Any] = {"path": first.path}
    if len(found) > 1:
        details["faults"] = [{"code": f.error.__name__, "path": f.path, "message": f.message} for f in found]
    raise first.error(f"{first.path} {first.message}.", details=details)
