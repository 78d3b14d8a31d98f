"""What the `remember` compiler asks of memory, answered by reads through the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brain.agents.dossier import entity_of
from brain.agents.reading import Query, Reading
from brain.agents.remember.ground import SlotClaim
from brain.agents.remember.things import PERSON, Thing
from brain.agents.turns import PredicateWord, Vocabulary
from brain.agents.words import nearest
from brain.kip.belief.dependency import is_recording_invalidated
from brain.names import called_first, fold, key_for
from brain.store.base import ElementId

_CALLED = 40


class SpaceMemory:
    """One Space's memory, as of the moment each question is asked."""

    def __init__(self, reading: Reading, vocabulary: Vocabulary) -> None:
        self._reading = reading
        self._vocabulary = vocabulary
        self._types = {word.name for word in vocabulary.types}
        self._has_alias_claims = any(word.name == "also_known_as" for word in vocabulary.predicates)

    def by_id(self, element_id: ElementId) -> Thing | None:
        """The active Concept of this id."""
        rows = self._reading.ask("FIND(?c) WHERE { ?c {id: :id} }", id=element_id)
        return thing_of(rows[0]) if rows else None

    def called(self, name: str) -> Sequence[Thing]:
        """Active Concepts whose name, alias or key is this one, folded; aliases people told count too."""
        queries: list[Query] = [
            (f"FIND(?c) WHERE {{ ?c SEARCH CONCEPT :name LIMIT {_CALLED} }}", {"name": name}),
            ("FIND(?c) WHERE { ?c {name: :name} } LIMIT 8", {"name": name}),
            ("FIND(?c) WHERE { ?c {key: :key} } LIMIT 8", {"key": key_for(name)}),
        ]
        if self._has_alias_claims:
            queries.append(('FIND(?c) WHERE { ?p (?c, "also_known_as", :name) } LIMIT 8', {"name": name}))
        folded = fold(name)
        found: dict[ElementId, Thing] = {}
        for number, rows in enumerate(self._reading.ask_all(queries)):
            for view in rows:
                thing = thing_of(view)
                if number == 3 or thing.called(folded):
                    found[view["id"]] = thing
        return list(found.values())

    def called_first(self, name: str) -> Sequence[Thing]:
        """Active Persons of whose names this is the first word."""
        rows = self._reading.ask(
            f"FIND(?c) WHERE {{ ?c SEARCH CONCEPT :name WITH TYPE :type LIMIT {_CALLED} }}", name=name, type=PERSON
        )
        return [thing for thing in map(thing_of, rows) if called_first(name, thing.names)]

    def by_key(self, type_name: str, key: str) -> Thing | None:
        """The Concept that holds a key within a type, whatever its state."""
        if type_name not in self._types:
            return None
        rows = self._reading.ask("FIND(?c) WHERE { ?c {type: :type, key: :key, state: ?s} }", type=type_name, key=key)
        return thing_of(rows[0]) if rows else None

    def slot(self, subject: ElementId, predicate: str) -> Sequence[SlotClaim]:
        """Active claims about a subject and predicate, oldest first."""
        if all(word.name != predicate for word in self._vocabulary.predicates):
            return []
        rows = self._reading.ask(
            "FIND(?a, ?o) WHERE { ?p (:subject, :predicate, ?o) ?a ASSERTION {proposition: ?p} }",
            subject={"id": subject},
            predicate=predicate,
        )
        claims = [_slot_claim(assertion, target) for assertion, target in rows if _is_active(assertion)]
        return sorted(claims, key=lambda claim: (claim.asserted_at, int(claim.assertion_id[2:])))

    def nearest_predicates(self, name: str) -> Sequence[PredicateWord]:
        """The predicates most alike to a name, best first."""
        return nearest(self._vocabulary, name)


def thing_of(view: Any) -> Thing:
    """A Concept's element view as a Thing."""
    entity = entity_of(view)
    return Thing(entity.id, entity.type, entity.key, entity.name, entity.aliases)


def _is_active(assertion: Any) -> bool:
    is_standing = (assertion.get("lifecycle") or {}).get("status", "active") == "active"
    return is_standing and not is_recording_invalidated(assertion)


def _slot_claim(assertion: Any, target: Any) -> SlotClaim:
    is_thing = isinstance(target, dict) and "id" in target
    entity = entity_of(target) if is_thing else None
    return SlotClaim(
        assertion["id"],
        {"id": entity.id} if entity else target,
        entity.name if entity else str(target),
        entity.type if entity else None,
        (assertion.get("asserted_by") or {}).get("id"),
        assertion.get("stance", "support"),
        assertion.get("mode", "stated"),
        assertion.get("asserted_at") or "",
        assertion.get("valid_time") or {},
        tuple(cited["id"] for cited in assertion.get("evidence") or () if cited.get("role", "support") == "support"),
        bool(assertion.get("context_refs")),
    )
