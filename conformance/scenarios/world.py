"""What scenarios are played in: one Space with the Profile and the general domain, its clock in the scenario's hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from brain.ids import canonical_json
from brain.kip.context import Session
from brain.times import FixedClock, Timestamp, milliseconds
from conformance.engine import EngineAdapter, Package

NOW = "2026-09-20T00:00:00.000Z"
_KINDS = (
    "?x CONCEPT {state: ?s}",
    "?x PROPOSITION (?a, ?p, ?b)",
    "?x ASSERTION {state: ?s}",
    "?x EVIDENCE {state: ?s}",
    "?x ACTIVITY {state: ?s}",
)


class Refused(Exception):
    """The engine answered an error; `code` is its registered name."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = str(error["code"])


class World:
    """A fresh Space; a context manager that gives it back."""

    def __init__(self, packages: Sequence[Package] = (), *, now: Timestamp = NOW) -> None:
        self.clock = FixedClock(milliseconds(now))
        self.adapter = EngineAdapter(clock=self.clock)
        self.adapter.reset(["cognitive-memory", "general", *packages])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.adapter.close()

    @property
    def seq(self) -> int:
        return self.adapter.seq

    def go_to(self, instant: Timestamp) -> None:
        """Set the clock, backwards too."""
        self.clock.advance(milliseconds(instant) - self.clock.now_ms())

    def response(
        self,
        command: str,
        *,
        session: Session | None = None,
        envelope: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> dict[str, Any]:
        request = {"kip": "2.0", "operations": [{"command": command, "parameters": values}], **(envelope or {})}
        return self.adapter.send(request, session=session)

    def run(
        self,
        command: str,
        *,
        session: Session | None = None,
        envelope: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> Any:
        """One command's result; Refused with the code when it fails."""
        response = self.response(command, session=session, envelope=envelope, **values)
        for entry in (response, *response.get("results", ())):
            if entry.get("error"):
                raise Refused(entry["error"])
        return response["results"][0]["result"]

    def handles(self, command: str, **values: Any) -> dict[str, str]:
        """The ids a write's handles stand for."""
        found: dict[str, str] = self.run(command, **values)["handles"]
        return found

    def code(
        self,
        command: str,
        *,
        session: Session | None = None,
        envelope: Mapping[str, Any] | None = None,
        **values: Any,
    ) -> str | None:
        """The code a command is refused with, None when it is not."""
        try:
            self.run(command, session=session, envelope=envelope, **values)
        except Refused as refusal:
            return refusal.code
        return None

    def element(self, element_id: str) -> dict[str, Any]:
        """An element as a reader sees it now."""
        kinds = {"C": "CONCEPT", "P": "PROPOSITION", "A": "ASSERTION", "E": "EVIDENCE", "X": "ACTIVITY"}
        if element_id[0] == "P":
            (found,) = self.run("FIND(?p) WHERE { ?p (id: :id) }", id=element_id)
        else:
            kind = kinds[element_id[0]]
            (found,) = self.run(f"FIND(?x) WHERE {{ ?x {kind} {{id: :id, state: ?s}} }}", id=element_id)
        view: dict[str, Any] = found
        return view

    def basis(self, about: str) -> dict[str, Any]:
        """The basis of a projection about a Person, as a derivation records what it was computed under."""
        (found,) = self.run('FIND(?s.basis) WHERE { ?s BELIEF SLOT (:about, "lives_in") }', about=about)
        basis: dict[str, Any] = found
        return basis

    def state(self) -> bytes:
        """Everything the Space holds: equal bytes, unchanged state. A look of its own beside the scenario's reads."""
        views = [self.run(f"FIND(?x) WHERE {{ {pattern} }}") for pattern in _KINDS]
        return canonical_json({"seq": self.seq, "elements": views})

    def state_at(self, instant: Timestamp) -> bytes:
        """The same with the clock at an instant, for what is computed from the time of the read."""
        self.go_to(instant)
        return self.state()

    def count(self, pattern: str, **values: Any) -> int:
        """How many elements ?x a pattern finds."""
        (found,) = self.run(f"FIND(COUNT(?x)) WHERE {{ {pattern} }}", **values)
        return int(found)

    def restart(self) -> None:
        """What a new process would see."""
        self.adapter.reopen()
