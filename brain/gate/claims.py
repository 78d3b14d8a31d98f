"""What a Formation pass may write: claims of the people who spoke, citing what they said, dated when they said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.gate.facts import PERSON, Captured, FormationFacts, Speaker
from brain.gate.roles import FIRST_STATUS, SPEAKER_SETS, Role
from brain.gate.writes import check_common, check_status, status_of
from brain.gate.written import Written, cited, planes, ref, refs, type_of
from brain.kip.context import Changed, Review, WriteSet
from brain.store.base import Element, ElementId, Kind, Transaction


def formation_review(facts: FormationFacts) -> Review:
    """The judge of a Formation pass's writes."""

    def review(write_set: WriteSet, tx: Transaction) -> None:
        written = Written(write_set, tx)
        check_common(Role.FORMATION, written)
        evidence = {
            minted: message
            for message in facts.captured
            if (minted := written.evidence_under(message.client_key)) is not None
        }
        judge = _Claims(facts, written, evidence)
        for assertion in written.created(Kind.ASSERTION):
            judge.check_created(assertion)
        for changed in write_set.changed:
            _check_formation_change(changed, judge)

    return review


class _Claims:
    """Who may claim what in this pass."""

    def __init__(self, facts: FormationFacts, written: Written, evidence: Mapping[ElementId, Captured]) -> None:
        self.facts = facts
        self.written = written
        self._evidence = evidence
        self.is_open = facts.attribution == "open"

    def check_created(self, assertion: Element) -> None:
        """A new claim: its actor, its source, its time, its scope."""
        body = assertion.body
        messages = [self._evidence[i] for i in cited(assertion) if i in self._evidence]
        is_inferred = body.get("mode") == "inferred"
        actor = self._existing_actor(body.get("asserted_by"))
        if self.facts.change_kind == "misrecorded":
            self._check_repair(assertion, actor)
            self._check_scope(body)
            return
        if not is_inferred and not messages:
            raise errors.NotAuthorized(
                "A claim needs a captured message as its evidence.",
                hint="Cite the message that says it: evidence: :msg1.",
            )
        if not self.is_open:
            self._check_actor(actor, messages, is_inferred=is_inferred)
            if messages and not is_inferred:
                self._check_time(body, messages)
        self._check_scope(body)

    def _existing_actor(self, asserted_by: object) -> ElementId:
        actor = ref(asserted_by)
        element = self.written.element(actor) if actor else None
        if actor is None or element is None or element.kind is not Kind.CONCEPT:
            raise errors.NotAuthorized(
                "The actor of a claim must be a Concept that memory holds.", hint="Give the speaker's reference as by:."
            )
        return self.written.canonical(actor)

    def _check_actor(self, actor: ElementId, messages: list[Captured], *, is_inferred: bool) -> None:
        if is_inferred and actor == self.written.canonical(self.facts.self_id):
            return
        if any(self.is_speaker(actor, message.speaker) for message in messages):
            return
        if self.facts.attribution == "named" and any(self._is_named(actor, message) for message in messages):
            return
        speakers = ", ".join(dict.fromkeys(message.speaker.name for message in messages)) or "nobody"
        raise errors.NotAuthorized(
            f"{actor} did not say this: the cited message is by {speakers}.",
            hint="What a speaker reports of others is the speaker's own claim: give the speaker as by:.",
            details={"actor": actor, "speakers": [message.speaker.id for message in messages]},
        )

    def _check_time(self, body: Mapping[str, Any], messages: list[Captured]) -> None:
        asserted_at = body.get("asserted_at")
        if any(asserted_at == message.observed_at for message in messages):
            return
        is_left_out = asserted_at == body["_system"].get("created_at")
        if is_left_out and (body.get("valid_time") or {}).get("from") is not None:
            return
        if self._restates(body):
            return
        raise errors.ConstraintViolation(
            f"A claim is made when its message was: {messages[0].observed_at}, not {asserted_at}.",
            hint=f'Write at: "{messages[0].observed_at}"; say since when it holds with valid: {{from: …}}.',
        )

    def _restates(self, body: Mapping[str, Any]) -> bool:
        """Whether a claim only gives other times to one it supersedes: the same claim, made when that was made."""
        members = ("proposition", "asserted_by", "stance", "mode", "asserted_at", "context_refs")
        replaced = (self.written.element(i) for i in refs((body.get("lifecycle") or {}).get("supersedes") or []))
        return any(
            old is not None and all((old.body.get(name) or None) == (body.get(name) or None) for name in members)
            for old in replaced
        )

    def _check_scope(self, body: Mapping[str, Any]) -> None:
        contexts = self.facts.contexts
        if contexts is not None and frozenset(refs(body.get("context_refs") or [])) != contexts:
            raise errors.ConstraintViolation(
                "Every claim of this source belongs to its scope.", hint="Add context: :contexts to the claim."
            )

    def _check_repair(self, assertion: Element, actor: ElementId) -> None:
        """Recording again what a source said: its own words, its own time, its own speaker."""
        original = self.facts.original
        body = assertion.body
        if original is None or original[0] not in cited(assertion) or body.get("asserted_at") != original[1]:
            raise errors.NotAuthorized(
                "This pass only records again what the original source said.",
                hint="Cite :orig and give its observation time as at:.",
            )
        source = self.written.element(original[0])
        said_by = {self.written.canonical(i) for i in refs(source.body.get("source") or [])} if source else set()
        if not self.is_open and actor not in said_by:
            raise errors.NotAuthorized(
                f"{actor} is not the speaker of the original source.", hint="Give its speaker as by:."
            )

    def is_speaker(self, actor: ElementId, speaker: Speaker) -> bool:
        """Whether an actor is this speaker, who may be created in the same write."""
        if speaker.id is not None and self.written.canonical(speaker.id) == actor:
            return True
        element = self.written.element(actor)
        return (
            speaker.key is not None
            and element is not None
            and element.body.get("key") == speaker.key
            and type_of(element) == PERSON
        )

    def spoke(self, actor: ElementId | None) -> bool:
        """Whether an actor said one of the pass's messages."""
        if actor is None:
            return False
        actor = self.written.canonical(actor)
        return any(self.is_speaker(actor, message.speaker) for message in self.facts.captured)

    def _is_named(self, actor: ElementId, message: Captured) -> bool:
        element = self.written.element(actor)
        if element is None or actor == self.written.canonical(self.facts.self_id):
            return False
        body = element.body
        attributes = body.get("attributes") or {}
        names = [body.get("name"), body.get("key"), *(body.get("aliases") or ()), *(attributes.get("aliases") or ())]
        text = message.text.casefold()
        return any(isinstance(name, str) and name.strip() and name.casefold() in text for name in names)

    def check_withdrawal(self, before: Element, status: str) -> None:
        """Retracting or superseding an earlier claim: one's own, by a message of this pass (BR-GATE-018, 031)."""
        kind = self.facts.change_kind
        if kind is not None and not (kind == "unspecified" and status == "retracted"):
            raise errors.NotAuthorized(
                f"A revision of the kind {kind} does not set claims to {status}.",
                hint="Write the new claim; the earlier one stays as it was said.",
            )
        if not self.is_open and not self.spoke(ref(before.body.get("asserted_by"))):
            raise errors.NotAuthorized(
                f"{before.id} is not the claim of anybody who spoke here.",
                hint="Only the person who made a claim takes it back; write what the speaker says as their own claim.",
                details={"assertion": before.id},
            )


def _check_formation_change(changed: Changed, judge: _Claims) -> None:
    before, after = changed.before, changed.after
    match before.kind:
        case Kind.ASSERTION:
            if status_of(before) != status_of(after):
                judge.check_withdrawal(before, status_of(after))
        case Kind.EVIDENCE:
            sources = refs(before.body.get("source") or [])
            is_own = bool(sources) and all(judge.spoke(source) for source in sources)
            if status_of(before) != status_of(after) and not judge.is_open and not is_own:
                raise errors.NotAuthorized(
                    f"{before.id} does not come from anybody who spoke here.",
                    hint="Evidence is corrected by the source it came from.",
                )
        case Kind.CONCEPT:
            check_status(changed, frozenset(FIRST_STATUS.values()))
            if not judge.is_open:
                _check_additive(changed, judge)


def _check_additive(changed: Changed, judge: _Claims) -> None:
    """An UPSERT of a known Concept adds what was missing; it overwrites nothing that was said before.

    Of a person who did not speak not even that: what others say of them are claims.
    """
    before, after = changed.before, changed.after
    is_own = type_of(before) == PERSON and judge.spoke(before.id)
    mine = SPEAKER_SETS.get(type_of(before), frozenset()) if _concerns_speaker(before, judge) else frozenset()
    for member in ("name", "key", "canonical_id", "aliases", "attributes", "facets", "structural"):
        then, now = before.body.get(member), after.body.get(member)
        if then == now:
            continue
        if type_of(before) == PERSON and not is_own and before.id != judge.facts.self_id:
            pass
        elif isinstance(now, Mapping):
            overwritten = [name for name, value in (then or {}).items() if not _grows(value, now.get(name))]
            if all(name in mine for name in overwritten) or (is_own and member == "attributes"):
                continue
        elif then is None or _grows(then, now):
            continue
        raise errors.NotAuthorized(
            f"{before.id} already says otherwise; {member} is not overwritten here.",
            hint="Write a claim about it instead: claims keep who said it and when.",
            details={"element": before.id, "member": member},
        )


def _grows(then: Any, now: Any) -> bool:
    """Whether a value stays, is filled in, or, as a list, only becomes longer."""
    if then is None or then == now:
        return True
    return isinstance(then, list) and isinstance(now, list) and all(item in now for item in then)


def _concerns_speaker(element: Element, judge: _Claims) -> bool:
    fields = planes(element, "structural")
    return any(judge.spoke(i) for name in ("committed_to", "owed_to") for i in refs(fields.get(name) or []))
