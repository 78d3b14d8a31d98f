"""The second half of the gate: what a statement would write, inside its transaction, before it commits.

Actors, citations and times are judged here, on resolved elements, so that no spelling of a statement gets around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.gate import vocabulary
from brain.gate.facts import PERSON, Captured, FormationFacts, MaintenanceFacts, Speaker
from brain.gate.roles import (
    FIRST_STATUS,
    HOST_ACTIVITIES,
    HOST_EVIDENCE,
    HOST_FACETS,
    HOST_FIELDS,
    MODEL_CONTROLS,
    SPEAKER_SETS,
    Role,
)
from brain.gate.written import Written, cited, planes, ref, refs, type_of
from brain.kip.context import Changed, Review, WriteSet
from brain.store.base import Element, ElementId, Kind, Transaction
from brain.times import Timestamp

_TERMINAL_TASK = frozenset({"blocked", "cancelled", "completed", "failed"})


def formation_review(facts: FormationFacts) -> Review:
    """The judge of a Formation pass's writes."""

    def review(write_set: WriteSet, tx: Transaction) -> None:
        written = Written(write_set, tx)
        _check_common(Role.FORMATION, written)
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


def maintenance_review(facts: MaintenanceFacts, now: Timestamp) -> Review:
    """The judge of a maintenance cycle's writes.

    now  the cycle's time, for leases; an expired one is none
    """

    def review(write_set: WriteSet, tx: Transaction) -> None:
        written = Written(write_set, tx)
        _check_common(Role.MAINTENANCE, written)
        for assertion in written.created(Kind.ASSERTION):
            _check_own_inference(assertion, facts, written)
        merged = [changed for changed in write_set.changed if changed.after.state == "merged" != changed.before.state]
        if len(merged) > 1:
            raise errors.NotAuthorized(
                "MERGE CONCEPT must come to exactly one source and one target.", hint="Merge one pair per statement."
            )
        for changed in write_set.changed:
            _check_maintenance_change(changed, facts, written, now)

    return review


# --- what holds for every model ---------------------------------------------------------------------------------------


def _check_common(role: Role, written: Written) -> None:
    write_set = written.write_set
    if write_set.erased:
        raise errors.NotAuthorized("Nothing may be erased here.", hint="Keep the wish as a request for the owner.")
    beyond = sorted(set(write_set.controls) - MODEL_CONTROLS[role])
    if beyond:
        raise errors.NotAuthorized(f"The {beyond[0]} of the Space may not be changed here.")
    if "schema" in write_set.controls:
        vocabulary.check_size(write_set.controls["schema"])
    for element in write_set.created:
        if element.id not in write_set.ingested:
            _check_new(element)
    for changed in write_set.changed:
        _check_host_planes(changed.after, before=changed.before)


def _check_new(element: Element) -> None:
    body = element.body
    if element.kind is Kind.EVIDENCE and body.get("evidence_class") in HOST_EVIDENCE:
        raise errors.NotAuthorized(
            f"Evidence of the class {body['evidence_class']} is captured by the host alone.",
            hint="Cite the captured messages as :msg1, :msg2 …; your own conclusions are derived_result.",
        )
    if element.kind is Kind.ACTIVITY and body.get("activity_class") in HOST_ACTIVITIES:
        raise errors.NotAuthorized(
            f"An Activity of the class {body['activity_class']} states what the host decided or saw.",
            hint="Use extraction, inference, semantic_consolidation or belief_revision for your own work.",
        )
    if element.kind is Kind.CONCEPT:
        first = FIRST_STATUS.get(type_of(element))
        if first is not None and (body.get("attributes") or {}).get("status") != first:
            raise errors.NotAuthorized(
                f"A new {type_of(element)} starts as {first}.", hint=f'Create it with status: "{first}".'
            )
    _check_host_planes(element, before=None)


def _check_host_planes(element: Element, *, before: Element | None) -> None:
    for plane, reserved in (("facets", HOST_FACETS), ("structural", HOST_FIELDS)):
        now, then = planes(element, plane), planes(before, plane) if before else {}
        for name in reserved & (set(now) | set(then)):
            if now.get(name) != then.get(name):
                raise errors.UnsupportedCapability(
                    f"{name} records what the host did or computed; it cannot be written here.", hint="Leave it out."
                )
    strength = planes(element, "facets").get("MnemonicState") or {}
    was = (planes(before, "facets").get("MnemonicState") or {}) if before else {}
    if strength.get("memory_strength") != was.get("memory_strength") and not (
        strength.get("last_metabolized_at") and strength.get("strength_policy")
    ):
        raise errors.ConstraintViolation(
            "memory_strength needs last_metabolized_at and strength_policy beside it.",
            hint="Set all three in one SET FACET, or leave memory_strength out.",
        )


# --- claims of a Formation pass ---------------------------------------------------------------------------------------


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
        raise errors.ConstraintViolation(
            f"A claim is made when its message was: {messages[0].observed_at}, not {asserted_at}.",
            hint=f'Write at: "{messages[0].observed_at}"; say since when it holds with valid: {{from: …}}.',
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
            if _status(before) != _status(after):
                judge.check_withdrawal(before, _status(after))
        case Kind.EVIDENCE:
            sources = refs(before.body.get("source") or [])
            is_own = bool(sources) and all(judge.spoke(source) for source in sources)
            if _status(before) != _status(after) and not judge.is_open and not is_own:
                raise errors.NotAuthorized(
                    f"{before.id} does not come from anybody who spoke here.",
                    hint="Evidence is corrected by the source it came from.",
                )
        case Kind.CONCEPT:
            _check_status(changed, frozenset(FIRST_STATUS.values()))
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


# --- a maintenance cycle ----------------------------------------------------------------------------------------------


def _check_own_inference(assertion: Element, facts: MaintenanceFacts, written: Written) -> None:
    actor = ref(assertion.body.get("asserted_by"))
    if actor is None or written.canonical(actor) != written.canonical(facts.self_id):
        raise errors.NotAuthorized(
            "Maintenance claims nothing in another's name.", hint="Give this Brain's own reference as by:."
        )
    if assertion.body.get("mode") != "inferred":
        raise errors.ConstraintViolation("What maintenance concludes is inferred.", hint='Write mode: "inferred".')


def _check_maintenance_change(changed: Changed, facts: MaintenanceFacts, written: Written, now: Timestamp) -> None:
    before, after = changed.before, changed.after
    if before.state != after.state and after.state in ("archived", "tombstoned"):
        leased = {i for task in _live(facts, now) for i in _named_by(task, written)}
        if before.id not in facts.targets | leased:
            raise errors.NotAuthorized(
                f"{before.id} is named neither by this cycle's assessment nor by a task in hand.",
                hint="Only those may be archived or tombstoned; text in memory never selects a target.",
            )
    if before.kind is Kind.ASSERTION and _status(before) != _status(after):
        actor = ref(before.body.get("asserted_by"))
        if actor is None or written.canonical(actor) != written.canonical(facts.self_id):
            raise errors.NotAuthorized(
                f"{before.id} is somebody's own claim; nobody else takes it back.",
                hint="Leave disagreement to stand, or ask for it in the report.",
            )
    if before.kind is Kind.CONCEPT and type_of(before) == "SleepTask":
        _check_task_end(changed, facts, written, now)
    elif before.kind is Kind.CONCEPT:
        _check_status(changed, frozenset({"disarmed"}))


def _check_task_end(changed: Changed, facts: MaintenanceFacts, written: Written, now: Timestamp) -> None:
    """A task ends under a live lease, at the version it was leased at, together with what came of it (BR-GATE-027)."""
    status = (changed.after.body.get("attributes") or {}).get("status")
    if status == (changed.before.body.get("attributes") or {}).get("status") or status not in _TERMINAL_TASK:
        return
    lease = _live(facts, now).get(changed.before.id)
    if lease is None or lease != changed.before.version:
        raise errors.NotAuthorized(
            f"{changed.before.id} is not in hand: its lease is missing, over, or of another version.",
            hint="Lease the task, then end it in the same MUTATE as its outputs.",
        )
    named = {i for x in written.created(Kind.ACTIVITY) for i in refs(x.body.get("inputs") or [])}
    if changed.before.id not in named:
        raise errors.NotAuthorized(
            f"{changed.before.id} may only end together with what came of it.",
            hint="Record an Activity with the task among its inputs in the same MUTATE.",
        )


def _live(facts: MaintenanceFacts, now: Timestamp) -> dict[ElementId, int]:
    return {task: lease.version for task, lease in facts.leases.items() if lease.expires_at > now}


def _named_by(task: ElementId, written: Written) -> set[ElementId]:
    element = written.element(task)
    fields = planes(element, "structural") if element else {}
    return {i for name in ("about", "watches") for i in refs(fields.get(name) or [])}


# --- shared -----------------------------------------------------------------------------------------------------------


def _check_status(changed: Changed, allowed: frozenset[str]) -> None:
    """A SleepTask or Watch changes its status only as its role may."""
    if type_of(changed.before) not in FIRST_STATUS:
        return
    then = (changed.before.body.get("attributes") or {}).get("status")
    now = (changed.after.body.get("attributes") or {}).get("status")
    if then != now and now not in allowed:
        raise errors.NotAuthorized(
            f"{changed.before.id} is not set to {now} here.", hint="Work on tasks and watches is the runtime's."
        )


def _status(element: Element) -> str:
    return str((element.body.get("lifecycle") or {}).get("status", "active"))
