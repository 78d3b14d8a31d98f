"""Formation: from one accepted input to dated, attributed claims.

The host does what needs no model before it is asked: who spoke, which messages can be cited, what memory knows of the
people and things named. The model decides what deserves keeping and how it is meant. Everything it writes goes through
the gate, and what was committed is read from the engine, not from its words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from anyio.to_thread import run_sync

from brain.agents.capture import captured, heard, ingest_block
from brain.agents.door import Door, WriteContext
from brain.agents.dossier import MAX_ENTRIES, build_entries, find_named, read_claims, read_commitments, read_entities
from brain.agents.execute import ExecuteKip
from brain.agents.hostwrites import HostWriteFailed, HostWrites
from brain.agents.jobs import WINDOW, FormationJob, Place, RunResult
from brain.agents.loop import Budget, LoopEnd, run_loop
from brain.agents.memory import SpaceMemory
from brain.agents.model import Usage
from brain.agents.prompts import Prompt, estimated_tokens, review_text, system_prompt
from brain.agents.reading import ReadFailed, Reading
from brain.agents.reference import KipReference
from brain.agents.remember.ground import Ground, Message
from brain.agents.remember.things import Resolver, Thing
from brain.agents.remember.tool import Remember
from brain.agents.speakers import Cast, cast_of, is_unnamed
from brain.agents.telling import fitted, formation_text
from brain.agents.texts import clean, one_line
from brain.agents.turns import FormationTurn, Line, Ref, Vocabulary
from brain.agents.words import read_vocabulary
from brain.gate.facts import PERSON, FormationFacts, Speaker
from brain.gate.gate import formation_session, host_session, reader_session
from brain.kip.context import Review, WriteSet
from brain.store.base import LeaseLost, Transaction
from brain.times import Timestamp, shifted, timestamp

BUDGET = Budget(rounds=200, total_ms=30 * 60_000)
"""Of one run, over all passes of its input (BR-FORM-028)."""

REVIEW_FROM_TOKENS = 10_000
"""Estimated tokens of input from which a pass gets its one self-review (BR-FORM-026)."""

_MESSAGE_CHARACTERS = 64_000
_INPUT_CHARACTERS = 256_000
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


async def form(place: Place, job: FormationJob) -> RunResult:
    """Do one pass over an input. Every way it can end is a RunResult, but for a lost lease.

    raises  LeaseLost when another worker has taken the Space over; nothing was committed since
    """
    job = replace(job, messages=tuple(said for said in job.messages if said.content.strip()))
    try:
        formation = await run_sync(Pass.begin, place, job)
    except (ReadFailed, HostWriteFailed) as failed:
        return _failed(place, f"memory_unavailable: {failed}")
    prompt, turn = formation.prompt, formation.turn
    user = formation_text(turn)
    is_long = sum(estimated_tokens(line.text) for line in turn.lines) >= REVIEW_FROM_TOKENS
    end = await run_loop(
        place.model,
        system=prompt.text,
        user=user,
        tools=formation.tools,
        budget=replace(BUDGET, used_rounds=job.used_rounds, used_ms=job.used_ms),
        task=turn,
        transcript=place.transcript,
        follow_up=review_text() if is_long else None,
    )
    return formation.result(end)


class CommitGuard:
    """The service's check at commit, remembering a lost lease so that it is not answered as a failed tool call."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self.lost: LeaseLost | None = None

    def __call__(self, write_set: WriteSet, tx: Transaction) -> None:
        try:
            self._review(write_set, tx)
        except LeaseLost as lost:
            self.lost = lost
            raise

    def without_noting(self, _: WriteSet, tx: Transaction) -> None:
        """Check the lease and note nothing: for writes that may be done again, such as storing a speaker."""
        self(WriteSet(), tx)

    def raise_if_lost(self) -> None:
        if self.lost is not None:
            raise self.lost


class Pass:
    """One Formation pass from its beginning to its result; also one whose document a caller brings.

    is_told  whether a model will be told of what is known, which takes more reading than knowing who is meant
    """

    def __init__(
        self,
        place: Place,
        job: FormationJob,
        reading: Reading,
        cast: Cast,
        vocabulary: Vocabulary,
        *,
        is_told: bool = True,
    ) -> None:
        self._place = place
        self._job = job
        self._reading = reading
        self._cast = cast
        self._guard = CommitGuard(job.commit_review)
        self._host = HostWrites(place.engine, host_session("agent:formation", self._guard.without_noting))
        self._now = timestamp(place.clock.now_ms())
        self.prompt: Prompt = system_prompt("formation", vocabulary)
        self.door = Door(
            engine=place.engine,
            origin=_origin(job),
            read_session=reading.session,
            before_write=self._before_write,
            after_define=self._host.review_symbol,
            raise_if_lost=self._guard.raise_if_lost,
            bindings={"now": self._now, "self": {"id": place.self_id}},
            reserved=frozenset(
                f"{name}{number}" for name in ("at", "msg", "speaker") for number in range(1, WINDOW + 1)
            ),
        )
        self._remember = Remember(self.door, self.ground)
        self.tools = (self._remember, ExecuteKip(self.door), KipReference())
        self.turn = self._turn(vocabulary, is_told=is_told)

    @classmethod
    def prepared(cls, place: Place, job: FormationJob, *, is_told: bool = True) -> Pass:
        """Read what the pass begins with."""
        reading = Reading(place.engine, reader_session("agent:formation"))
        return cls(place, job, reading, cast_of(job, reading), read_vocabulary(reading), is_told=is_told)

    @classmethod
    def begin(cls, place: Place, job: FormationJob) -> Pass:
        """Read what the pass begins with; the counterparty is stored if it is new (BR-FORM-016)."""
        formation = cls.prepared(place, job)
        cast = formation._cast
        if cast.counterparty is not None and cast.counterparty.id is None:
            formation._store([cast.counterparty])
            formation.turn = replace(formation.turn, counterparty=formation._counterparty())
        return formation

    # --- what the model is told ---------------------------------------------------------------------------------------

    def _turn(self, vocabulary: Vocabulary, *, is_told: bool) -> FormationTurn:
        job, cast = self._job, self._cast
        speakers = list({_key(speaker): _ref(speaker) for speaker in cast.everybody}.values())
        texts = [one.said.content[:_MESSAGE_CHARACTERS] for one in heard(job, cast)]
        names = [one.name for one in cast.everybody if not is_unnamed(one)]
        named = find_named([*texts, *names, job.topic or ""], self._reading)
        stored = list(read_entities((ref.id for ref in speakers if ref.id), self._reading).values())
        entities = list({entity.id: entity for entity in (*stored, *named.mentioned)}.values())[:MAX_ENTRIES]
        claims = read_claims(entities, self._now, self._reading) if is_told else {}
        entries, cut = fitted(build_entries(speakers, stored, named, claims))
        commitments = read_commitments(stored, self._reading)
        return FormationTurn(
            conversation=job.conversation,
            lines=self._lines(),
            dossier=entries,
            commitments=tuple(known for known in commitments if known.status in ("pending", "blocked"))[:12],
            vocabulary=vocabulary,
            self_id=self._place.self_id,
            counterparty=self._counterparty(),
            topic=job.topic,
            source=job.source,
            now=self._now,
            cut=cut,
            part=(job.citable.first + 1, job.citable.end, len(job.messages)),
        )

    def _counterparty(self) -> Ref | None:
        return _ref(self._cast.counterparty) if self._cast.counterparty else None

    def _lines(self) -> tuple[Line, ...]:
        told = heard(self._job, self._cast)
        most = min(_MESSAGE_CHARACTERS, _INPUT_CHARACTERS // max(1, len(told)))
        lines = []
        for one in told:
            weekday, clock = spoken_time(one.said.observed_at, one.said.utc_offset_minutes)
            lines.append(
                Line(
                    number=one.number,
                    role=one.said.role,
                    speaker=_ref(one.speaker),
                    is_agent=one.said.role != "user",
                    observed_at=one.said.observed_at,
                    weekday=weekday,
                    clock=clock,
                    text=clean(one.said.content, most),
                    utc_offset_minutes=one.said.utc_offset_minutes,
                )
            )
        return tuple(lines)

    # --- writing ------------------------------------------------------------------------------------------------------

    @property
    def has_strangers(self) -> bool:
        """Whether a write stores somebody who speaks here before anything else."""
        return bool(self._cast.to_store)

    def _store(self, speakers: Sequence[Speaker]) -> None:
        try:
            ids = self._host.store_speakers(speakers)
        finally:
            self._guard.raise_if_lost()
        self._cast = self._cast.with_ids(ids)

    def _before_write(self) -> WriteContext:
        """Store the speakers memory does not hold yet; then every write carries the messages as Evidence."""
        self._store(self._cast.to_store)
        self._host.ask_who_spoke(self._cast, self._job.conversation)
        messages = captured(self._job, self._cast)
        facts = FormationFacts(self._place.self_id, self._place.attribution, messages)
        bindings: dict[str, Any] = {}
        for number, message in enumerate(messages, start=1):
            bindings[f"at{number}"] = message.observed_at
            if message.speaker.id is not None:
                bindings[f"speaker{number}"] = {"id": message.speaker.id}
        return WriteContext(formation_session(facts, self._guard), ingest_block(self._job, messages), bindings)

    def ground(self) -> Ground:
        """What a document is compiled against, as memory stands now; the speakers are stored first."""
        self.door.begin_writing()
        return self.ground_with(read_vocabulary(self._reading))

    def ground_with(self, vocabulary: Vocabulary, wanted: Vocabulary | None = None) -> Ground:
        """What a document is compiled against; nothing is stored for it.

        vocabulary  the words the Space has
        wanted      what a document may use: those and some that are only to be defined
        """
        memory = SpaceMemory(self._reading, vocabulary)
        speakers = {speaker.key: _thing(speaker) for speaker in self._cast.everybody}
        entries = [entry for entry in self.turn.dossier if entry.who.id]
        known = [*speakers.values(), *(_entry_thing(entry.who, entry.key, entry.aliases) for entry in entries)]
        said = self._job.messages[self._job.citable.first :]
        messages = {
            number: Message(
                number,
                message.binding,
                message.observed_at,
                _thing(message.speaker),
                said[number - 1].utc_offset_minutes,
                self._now,
            )
            for number, message in enumerate(captured(self._job, self._cast), start=1)
        }
        return Ground(
            origin=self.door.origin,
            messages=messages,
            self_thing=memory.by_id(self._place.self_id) or Thing(self._place.self_id, PERSON, None, "this Brain"),
            attribution=self._place.attribution,
            vocabulary=wanted or vocabulary,
            commitments=self.turn.commitments,
            memory=memory,
            resolver=Resolver(known, wanted or vocabulary, memory),
        )

    # --- the end ------------------------------------------------------------------------------------------------------

    def result(self, end: LoopEnd) -> RunResult:
        """The run's result; what was committed is what the engine committed."""
        return RunResult(
            content=end.content or self._remember.summary,
            failed_reason=end.failed_reason,
            usage=end.usage,
            model=end.model,
            rounds=end.rounds,
            stopped=end.stopped,
            committed=tuple(self.door.committed),
            ids=tuple(self.door.ids),
            prompt_digest=self.prompt.digest,
        )


def _origin(job: FormationJob) -> str:
    """Prefix of client keys: the same in every run of a pass, and another one in each pass of an input."""
    first = job.citable.first if job.window else 0
    return f"formation:{job.conversation}:{first}" if first else f"formation:{job.conversation}"


def _failed(place: Place, reason: str) -> RunResult:
    return RunResult("", reason, Usage(), place.model.name, 0, "failed")


def spoken_time(instant: Timestamp, utc_offset_minutes: int = 0) -> tuple[str, str]:
    """The weekday and the minute that a clock of this offset shows at an instant: `Mon`, `2024-01-08 16:15`."""
    shown = shifted(instant, utc_offset_minutes)
    return _WEEKDAYS[date.fromisoformat(shown[:10]).weekday()], f"{shown[:10]} {shown[11:16]}"


def _ref(speaker: Speaker) -> Ref:
    return Ref(speaker.id, one_line(speaker.name, 120), PERSON)


def _key(speaker: Speaker) -> str:
    return speaker.key or speaker.id or speaker.name


def _thing(speaker: Speaker) -> Thing:
    return Thing(speaker.id, PERSON, speaker.key, speaker.name)


def _entry_thing(who: Ref, key: str | None, aliases: tuple[str, ...]) -> Thing:
    return Thing(who.id, who.type or "", key, who.name, aliases)
