"""One MUTATE in the making: clauses as text, every value as a bound parameter, every new thing created once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain.agents.remember.things import Thing
from brain.ids import digest
from brain.store.base import ElementId, Json


class Block:
    """Collects clauses; `text` and `parameters` are the command.

    origin  what the client keys of this pass begin with: a second run of the pass gives the same keys
    """

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.parameters: dict[str, Json] = {}
        self.handles: dict[str, str] = {}
        self._clauses: list[str] = []
        self._things: dict[tuple[str, ...], str] = {}
        self._outputs: dict[str, list[tuple[str, str]]] = {}

    @property
    def text(self) -> str:
        """The command, or nothing when there is nothing to do."""
        return "MUTATE {\n" + "\n".join(self._clauses) + "\n}" if self._clauses else ""

    def add(self, clause: str) -> None:
        self._clauses.append(clause)

    def value(self, value: Json) -> str:
        """A parameter that stands for the value."""
        name = f"v{len(self.parameters) + 1}"
        self.parameters[name] = value
        return f":{name}"

    def reference(self, element_id: ElementId) -> str:
        """A parameter that stands for a stored element as an endpoint."""
        return self.value({"id": element_id})

    def handle(self, name: str | None = None) -> str:
        """A fresh handle; `name` is what the answer calls the element it will be bound to."""
        handle = f"h{len(self.handles) + 1}"
        self.handles[handle] = name or ""
        return f"?{handle}"

    def thing(self, thing: Thing) -> str:
        """What an endpoint writes for a thing; a new one is created by its key, once per block."""
        known = self._things.get(thing.identity)
        if known is not None:
            return known
        if thing.id is not None:
            written = self.reference(thing.id)
        else:
            written = self.handle(thing.name)
            self.add(
                f"UPSERT CONCEPT {written} {{ MATCH {{type: {self.value(thing.type)}, key: {self.value(thing.key)}}} "
                f"SET FIELDS {{name: {self.value(thing.name)}}} }}"
            )
        self._things[thing.identity] = written
        return written

    def key(self, kind: str, content: Mapping[str, Any]) -> str:
        """A client key made of what is written: the same content in the same pass is written once."""
        return self.value(f"{self.origin}:{kind}:{digest(content).removeprefix('sha256:')[:24]}")

    def output(self, binding: str, handle: str, key: str) -> None:
        """Note that a message led to an element with this client key; `finish` records it."""
        self._outputs.setdefault(binding, []).append((handle, key))

    def finish(self) -> None:
        """Record, per message, the extraction that led from it to what was written."""
        for binding, outputs in self._outputs.items():
            activity = self.handle()
            entries = " ".join([f'("inputs", :{binding})', *(f'("outputs", {handle})' for handle, _ in outputs)])
            keys = [self.parameters[key.removeprefix(":")] for _, key in outputs]
            key = self.key("extraction", {"message": binding, "outputs": keys})
            self.add(
                f"CREATE ACTIVITY {activity} {{ CLIENT KEY {key} "
                'SET FIELDS {activity_class: "extraction", status: "completed"} '
                f"SET STRUCTURAL {{ {entries} }} }}"
            )
        self._outputs.clear()
