"""A description read strictly: what an object does not name, it does not have."""

from __future__ import annotations

import copy
from typing import Any


def closed(description: dict[str, Any]) -> dict[str, Any]:
    """The same description whose answers may hold no members but the ones it names.

    Clients are told nothing of the kind, so that later releases may add members; here it finds those that were
    forgotten.
    """
    made = copy.deepcopy(description)
    inputs = _reachable(made, [op.get("requestBody") for ops in made["paths"].values() for op in ops.values()])
    for name, shape in made["components"]["schemas"].items():
        if name not in inputs:
            _close(shape)
    for operations in made["paths"].values():
        for operation in operations.values():
            _close(operation["responses"])
    return made


def _close(value: Any) -> None:
    if isinstance(value, dict):
        if value.get("type") == "object" and "properties" in value and "additionalProperties" not in value:
            value["additionalProperties"] = False
        for item in value.values():
            _close(item)
    elif isinstance(value, list):
        for item in value:
            _close(item)


def _reachable(document: dict[str, Any], roots: list[Any]) -> set[str]:
    """Names of the shapes that these lead to."""
    found: set[str] = set()
    due = list(roots)
    while due:
        value = due.pop()
        if isinstance(value, dict):
            name = str(value.get("$ref", "")).rpartition("#/components/schemas/")[2]
            if name and name not in found:
                found.add(name)
                due.append(document["components"]["schemas"][name])
            due.extend(value.values())
        elif isinstance(value, list):
            due.extend(value)
    return found
