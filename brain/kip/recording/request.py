"""What a repair is asked with: the `RecordingRepair` record, and the claims that take the place of the wrong ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from brain import errors
from brain.ids import is_element_id
from brain.store.base import ElementId, Json

REASONS = ("attribution_error", "extraction_error")

_MEMBERS = frozenset(
    {
        "expected_versions",
        "invalidated_refs",
        "reason",
        "replacement_refs",
        "source_digest",
        "source_locator",
        "source_ref",
    }
)


@dataclass(frozen=True, slots=True)
class Replacement:
    """KML that makes the right claims, run in the transaction of the repair.

    command     creates and changes nothing that exists; each Assertion it makes is named in `replacement_refs` by its
                handle, `?name`
    parameters  what it is bound with
    """

    command: str
    parameters: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """A repair as it was asked for, checked in itself and not yet against the Space.

    source_locator     where in the source the claim stands: `bytes:0-17` or a JSON Pointer
    replacement_refs   ids of Assertions, and handles of the replacement
    expected_versions  of every invalidated element, and of whatever else the caller read
    """

    source_ref: ElementId
    source_digest: str
    source_locator: str
    invalidated_refs: tuple[ElementId, ...]
    replacement_refs: tuple[str, ...]
    reason: str
    expected_versions: Mapping[ElementId, int]


def asked_of(document: Mapping[str, Json]) -> Asked:
    """Read the record.

    raises  ConstraintViolation and TypeMismatch, naming the member at fault
    """
    absent, unknown = sorted(_MEMBERS - document.keys()), sorted(document.keys() - _MEMBERS)
    if absent or unknown:
        raise errors.ConstraintViolation(
            "A repair is asked for with exactly the members of a RecordingRepair.",
            hint=f"They are {', '.join(sorted(_MEMBERS))}.",
            details={"missing": absent, "unknown": unknown},
        )
    invalidated = _refs(document, "invalidated_refs")
    versions = _versions(document["expected_versions"])
    unguarded = [ref for ref in invalidated if ref not in versions]
    if not invalidated or unguarded:
        raise errors.ConstraintViolation(
            "A repair names what it invalidates, with the version each was read at.",
            details={"member": "expected_versions", "missing": unguarded},
        )
    reason = _text(document, "reason")
    if reason not in REASONS:
        raise errors.ConstraintViolation(
            f"A recording is not repaired for {reason!r}.",
            hint=f"It is one of {', '.join(REASONS)}; what an actor takes back or what changed is no repair.",
            details={"member": "reason"},
        )
    return Asked(
        _id(_text(document, "source_ref"), "source_ref"),
        _text(document, "source_digest"),
        _text(document, "source_locator"),
        tuple(_id(ref, "invalidated_refs") for ref in invalidated),
        _refs(document, "replacement_refs"),
        reason,
        versions,
    )


def _text(document: Mapping[str, Json], member: str) -> str:
    value = document[member]
    if not isinstance(value, str) or not value:
        raise errors.TypeMismatch(f"{member} is a string with something in it.", details={"member": member})
    return value


def _refs(document: Mapping[str, Json], member: str) -> tuple[str, ...]:
    value = document[member]
    if not isinstance(value, list) or not all(isinstance(ref, str) and ref for ref in value):
        raise errors.TypeMismatch(f"{member} is an array of references.", details={"member": member})
    if len(set(value)) < len(value):
        raise errors.ConstraintViolation(f"{member} names one element twice.", details={"member": member})
    return tuple(value)


def _id(value: str, member: str) -> ElementId:
    if not is_element_id(value):
        raise errors.ConstraintViolation(f"{value!r} is no element id.", details={"member": member})
    return value


def _versions(value: Any) -> Mapping[ElementId, int]:
    if not isinstance(value, Mapping) or not all(type(version) is int and version > 0 for version in value.values()):
        raise errors.TypeMismatch(
            "expected_versions gives a version from 1 to each element id.", details={"member": "expected_versions"}
        )
    return {_id(ref, "expected_versions"): version for ref, version in value.items()}
