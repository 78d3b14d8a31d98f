"""Who said what: every message's speaker as one Person, settled by the host before any model runs (BR-GATE-040).

A speaker is the message's `name`, else the counterparty for user turns and the agent for all others, else the sender of
the input where it is known, else one unnamed person per conversation and side. A name is never identity: a counterparty
key tells people of one name apart, and when a name fits several people and nothing tells which, the speaker is kept
apart from all of them and a review is asked for. So it is when somebody is called by no more than the first name of
people who are known.

A counterparty known by key alone takes the name of a message only where nobody else can be meant: every user message of
the input is named, and either all by one name while nothing was heard under the key yet, or just one of the names has
the key in it (`ana`, Ana Ruiz) and nobody on record is called so. Else the name is somebody of their own.

Nobody speaks under a reserved key, nor under the name of whoever has one: `$self` is the Brain's own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from brain.agents.dossier import Entity, entity_of
from brain.agents.jobs import FormationJob, Said, Window
from brain.agents.reading import Reading
from brain.agents.texts import one_line
from brain.gate.facts import PERSON, Speaker
from brain.names import called_first, fold, is_reserved, key_for
from brain.store.base import ElementId

_NAME = 200
_UNNAMED, _OF_CONVERSATION = "unnamed ", "conversation-"
_KEYED = "FIND(?c) WHERE { ?c {type: :type, key: :key} } LIMIT 1"
_HEARD = "FIND(?e.id) WHERE { ?e EVIDENCE {source: :who} } LIMIT 1"
_TAKEN = "FIND(?c.id) WHERE { ?c {type: :type, key: :key, state: ?s} } LIMIT 1"


@dataclass(frozen=True, slots=True)
class Cast:
    """The speakers of a conversation.

    of           one Speaker per message, in order, settled over the whole conversation
    shown        the messages the pass is shown; speakers of later ones have not spoken yet
    stored       those memory holds already, as read
    counterparty the person the caller named, None when it named nobody
    doubtful     speakers who may be somebody known, by key, with those people's ids
    """

    of: tuple[Speaker, ...]
    shown: Window
    stored: Mapping[ElementId, Entity]
    counterparty: Speaker | None
    doubtful: Mapping[str, tuple[ElementId, ...]]

    @property
    def everybody(self) -> tuple[Speaker, ...]:
        """Each speaker of the pass once, and the counterparty."""
        others = (self.counterparty,) if self.counterparty else ()
        present = self.of[self.shown.first : self.shown.end]
        return tuple({speaker.key or speaker.id or "": speaker for speaker in (*present, *others)}.values())

    @property
    def to_store(self) -> tuple[Speaker, ...]:
        """Those memory does not hold yet, and those it holds by a key alone whose name was told now."""
        return tuple(speaker for speaker in self.everybody if speaker.id is None or self._is_named_now(speaker))

    def _is_named_now(self, speaker: Speaker) -> bool:
        known = self.stored.get(speaker.id or "")
        return known is not None and known.name == known.key and speaker.name != known.key

    def with_ids(self, ids: Mapping[str, ElementId]) -> Cast:
        """The same cast after the speakers under these keys were stored."""

        def stored(speaker: Speaker) -> Speaker:
            return replace(speaker, id=speaker.id or ids.get(speaker.key or ""))

        counterparty = stored(self.counterparty) if self.counterparty else None
        return replace(self, of=tuple(map(stored, self.of)), counterparty=counterparty)


def cast_of(job: FormationJob, reading: Reading) -> Cast:
    """Settle the speakers of a job. ReadFailed when memory does not answer."""
    return _Casting(job, reading).cast()


class _Casting:
    def __init__(self, job: FormationJob, reading: Reading) -> None:
        self._job = job
        self._reading = reading
        self._stored: dict[ElementId, Entity] = {}
        self._doubtful: dict[str, tuple[ElementId, ...]] = {}
        self._by_name: dict[str, Speaker] = {}
        self._asked_about: dict[str, Speaker] = {}

    def cast(self) -> Cast:
        job = self._job
        counterparty, agent = self._keyed(job.counterparty), self._keyed(job.agent)
        told_as = self._name_of(counterparty)
        speakers = []
        for said in job.messages:
            if said.name and said.role != "tool":
                speakers.append(self._named(said, counterparty, told_as))
            elif said.role == "user":
                speakers.append(counterparty or job.sender or self._unnamed("user"))
            else:
                speakers.append(agent or job.sender or self._unnamed("agent"))
        if counterparty is not None:  # a message may have told the name of a counterparty known by key alone
            counterparty = next((s for s in speakers if s.key == counterparty.key), counterparty)
        return Cast(tuple(speakers), job.shown, self._stored, counterparty, self._doubtful)

    def _keyed(self, text: str | None) -> Speaker | None:
        """The Person of a key, exactly as the caller gave it; None for no key, and for one that is reserved."""
        key = one_line(text or "", _NAME)
        if not key or is_reserved(key):
            return None
        rows = self._reading.ask(_KEYED, type=PERSON, key=key)
        if not rows:
            return Speaker(None, key, key)
        entity = self._keep(rows[0])
        return Speaker(entity.id, key, entity.name)

    def _name_of(self, counterparty: Speaker | None) -> str | None:
        """The folded name by which this input calls a counterparty that was known by key alone; None for none."""
        if counterparty is None or not self._is_nameless(counterparty):
            return None
        names = [fold(one_line(said.name or "", _NAME)) for said in self._job.messages if said.role == "user"]
        if not names or not all(names):  # who is not named is the counterparty, so who is named may be another
            return None
        if len(set(names)) == 1 and not self._was_heard(counterparty):
            return names[0]
        fitting = [name for name in dict.fromkeys(names) if _has_in_it(name, counterparty.key or "")]
        if len(fitting) == 1 and not self._people_called(fitting[0]):
            return fitting[0]
        if len(set(names)) == 1:
            self._asked_about[names[0]] = counterparty
        return None

    def _named(self, said: Said, counterparty: Speaker | None, told_as: str | None) -> Speaker:
        name = one_line(said.name or "", _NAME)
        folded = fold(name)
        if said.role == "user" and counterparty is not None:
            if folded == told_as:
                return replace(counterparty, name=name)
            if self._is_counterparty(name, counterparty):
                is_unnamed = counterparty.name == counterparty.key
                return replace(counterparty, name=name) if is_unnamed else counterparty
        if folded not in self._by_name:
            self._by_name[folded] = self._by_its_name(name)
        return self._by_name[folded]

    def _is_counterparty(self, name: str, counterparty: Speaker) -> bool:
        key = counterparty.key or ""
        if fold(name) in (fold(counterparty.name), fold(key)) or key_for(name) == key_for(key):
            return True
        entity = self._stored.get(counterparty.id or "")
        return entity is not None and fold(name) in map(fold, entity.names)

    def _is_nameless(self, speaker: Speaker) -> bool:
        entity = self._stored.get(speaker.id or "")
        return entity is None or set(entity.names) <= {speaker.key}

    def _was_heard(self, speaker: Speaker) -> bool:
        """Whether memory has a message of theirs."""
        return speaker.id is not None and bool(self._reading.ask(_HEARD, who={"id": speaker.id}))

    def _by_its_name(self, name: str) -> Speaker:
        """The one known Person of a name, or a new one; among several nobody is chosen."""
        people = self._people_called(name)
        if len(people) == 1:
            return Speaker(people[0].id, people[0].key, people[0].name)
        key = key_for(name)
        if people:
            key = f"{key}:conversation-{self._job.conversation}"
            kept_apart = next((entity.id for entity in people if entity.key == key), None)
            if kept_apart is None or self._job.citable.first == 0:  # else an earlier pass has asked for the review
                self._doubtful[key] = tuple(entity.id for entity in people if entity.key != key)
            return Speaker(kept_apart, key, name)
        taken = [key]
        while self._reading.ask(_TAKEN, type=PERSON, key=key):
            key = key_for(name, taken)
            taken.append(key)
        namesakes = [entity for entity in self._found(name) if called_first(name, entity.names)]
        maybe = [entity.id for entity in namesakes]
        keyed = self._asked_about.get(fold(name))
        if keyed is not None and keyed.id is not None:  # one name, and a key that was never told one
            maybe.append(keyed.id)
        if maybe:
            self._doubtful[key] = tuple(dict.fromkeys(maybe))
        return Speaker(None, key, name)

    def _people_called(self, name: str) -> list[Entity]:
        folded = fold(name)
        exact = [
            entity
            for entity in self._found(name)
            if folded in map(fold, entity.names) or (entity.key == entity.name and entity.key == key_for(name))
        ]
        for entity in exact:
            self._stored[entity.id] = entity
        return exact

    def _found(self, name: str) -> list[Entity]:
        """The people a search for a name finds, but for those nobody speaks as."""
        asked = {"type": PERSON, "name": name}
        answers = self._reading.ask_all(
            [
                ("FIND(?c) WHERE { ?c SEARCH CONCEPT :name WITH TYPE :type LIMIT 40 }", asked),
                ("FIND(?c) WHERE { ?c {type: :type, name: :name} } LIMIT 8", asked),
                (_KEYED, {"type": PERSON, "key": key_for(name)}),
            ]
        )
        found = {view["id"]: entity_of(view) for rows in answers for view in rows}
        return [entity for entity in found.values() if not is_reserved(entity.key or "")]

    def _unnamed(self, side: str) -> Speaker:
        key = f"{_OF_CONVERSATION}{self._job.conversation}:{side}"
        rows = self._reading.ask(_KEYED, type=PERSON, key=key)
        name = f"{_UNNAMED}{side} of conversation {self._job.conversation}"
        return Speaker(self._keep(rows[0]).id if rows else None, key, name)

    def _keep(self, view: Mapping[str, object]) -> Entity:
        entity = entity_of(view)
        self._stored[entity.id] = entity
        return entity


def is_unnamed(speaker: Speaker) -> bool:
    """Whether the name is the host's own for somebody who has none: nobody is called so."""
    return speaker.name.startswith(_UNNAMED) and (speaker.key or "").startswith(_OF_CONVERSATION)


def _has_in_it(name: str, key: str) -> bool:
    """Whether every word of a key is one of a folded name's."""
    parts = key_for(key).split("-")
    return bool(key) and set(parts) <= set(key_for(name).split("-"))
