"""What the host itself writes around a pass: its speakers, review tasks for doubtful names and for new words.

Each of these has a key, so that doing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.agents.speakers import Cast
from brain.gate.facts import PERSON, Speaker
from brain.gate.vocabulary import review_key, unreviewed
from brain.kip.context import Session
from brain.kip.pipeline import Engine
from brain.store.base import ElementId


class HostWriteFailed(Exception):
    """The engine did not take a write of the host's; `error` is the engine's, as it answers it."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"memory did not take a write of the service ({error['code']})")
        self.error = error
        self.code: str = error["code"]


@dataclass(frozen=True, slots=True)
class HostWrites:
    """Writes through a host session."""

    engine: Engine
    session: Session

    def store_speakers(self, speakers: Sequence[Speaker]) -> dict[str, ElementId]:
        """The Persons of these speakers, created where they are missing; ids by key."""
        if not speakers:
            return {}
        clauses: list[str] = []
        parameters: dict[str, Any] = {}
        for number, speaker in enumerate(speakers):
            parameters |= {f"key{number}": speaker.key, f"name{number}": speaker.name}
            clauses.append(
                f'UPSERT CONCEPT ?p{number} {{ MATCH {{type: "{PERSON}", key: :key{number}}} '
                f"SET FIELDS {{name: :name{number}}} }}"
            )
        handles = self._write(f"MUTATE {{ {' '.join(clauses)} }}", parameters)["handles"]
        return {speaker.key or "": handles[f"p{number}"] for number, speaker in enumerate(speakers)}

    def ask_who_spoke(self, cast: Cast, conversation: int) -> None:
        """One review task per speaker whose name fits several known people."""
        for key, people in cast.doubtful.items():
            speaker = next((s for s in cast.of if s.key == key and s.id), None)
            if speaker is None or speaker.id is None:
                continue
            self._task(
                f"identity:{conversation}:{key}",
                {
                    "task_class": "resolve_identity",
                    "summary": f"The speaker of conversation {conversation} may be one of {', '.join(people)}.",
                },
                [speaker.id, *people[:8]],
            )

    def review_symbol(self, kind: str, ref: str) -> None:
        """The review task of a drafted symbol (§20.16); `kind` is ConceptType or PredicateType."""
        self._task(
            review_key(kind, ref),
            {
                "task_class": "review_schema",
                "summary": f"Review the draft {ref.rpartition('/')[2]}.",
                "symbol_kind": kind,
                "symbol_ref": ref,
            },
            [],
        )

    def review_drafts(self) -> int:
        """Ask for every drafted word's review where a process died between a word and its task; how many lacked one."""
        missing = unreviewed(self.engine)
        for kind, ref in missing:
            self.review_symbol(kind, ref)
        return len(missing)

    def _task(self, key: str, attributes: Mapping[str, str], about: Sequence[ElementId]) -> None:
        parameters: dict[str, Any] = {"client_key": key, **attributes}
        members = ", ".join(f"{name}: :{name}" for name in attributes)
        links = []
        for number, element_id in enumerate(about):
            parameters[f"about{number}"] = {"id": element_id}
            links.append(f'("about", :about{number})')
        structural = f"SET STRUCTURAL {{ {' '.join(links)} }}" if links else ""
        self._write(
            'CREATE CONCEPT ?t { TYPE "SleepTask" CLIENT KEY :client_key '
            f'SET ATTRIBUTES {{status: "pending", {members}}} {structural} }}',
            parameters,
        )

    def _write(self, command: str, parameters: Mapping[str, Any]) -> Mapping[str, Any]:
        response = self.engine.execute(
            {"kip": "2.0", "operations": [{"command": command, "parameters": dict(parameters)}]}, self.session
        ).response
        results = response.get("results") or [response]
        if "error" in results[0]:
            raise HostWriteFailed(results[0]["error"])
        result: Mapping[str, Any] = results[0]["result"]
        return result
