"""Sessions behind the gate: the only way agents and host helpers get to the engine.

Each role gets a session whose statements are judged twice: as parsed, before they run (`statements.py`), and by what
they would write, before it commits (`writes.py`, `claims.py`, `tidying.py`). What the host itself has to check at
commit comes after the gate.
"""

from __future__ import annotations

from collections.abc import Sequence

from brain.gate import vocabulary
from brain.gate.claims import formation_review
from brain.gate.facts import FormationFacts, MaintenanceFacts
from brain.gate.roles import PERMISSIONS, Role
from brain.gate.statements import admission, blindly
from brain.gate.tidying import maintenance_review
from brain.kip.ast import Statement
from brain.kip.context import Review, Session, WriteSet
from brain.kip.parser import parse
from brain.store.base import Transaction
from brain.times import Timestamp

MEMORY_POLICY = "kip:memory-default"
"""The policy of every memory route that names none."""


def reader_session(channel: str, *, principal_id: str = "brain:reader") -> Session:
    """Reads only, in KQL and META, and nothing that is in quarantine."""
    return Session(
        principal_id=principal_id,
        channel=channel,
        permissions=PERMISSIONS[Role.READER],
        default_policy=MEMORY_POLICY,
        readonly=True,
        recalls=True,
        admit=admission(Role.READER),
    )


def formation_session(facts: FormationFacts, commit_review: Review) -> Session:
    """What a Formation pass may do; `commit_review` runs after the gate in every write transaction."""
    bindings = frozenset(message.binding for message in facts.captured)
    return Session(
        principal_id="brain:formation",
        channel="agent:formation",
        permissions=PERMISSIONS[Role.FORMATION],
        actors=frozenset({facts.self_id}),
        default_policy=MEMORY_POLICY,
        admit=admission(Role.FORMATION, bindings, checks_claim_time=True),
        review=both(formation_review(facts), commit_review),
    )


def writer_session(
    facts: FormationFacts, *, principal_id: str, channel: str, may_read: bool, commit_review: Review
) -> Session:
    """What a caller may write by itself: what a Formation pass may, said by nobody but `facts.self_id`, the caller.

    may_read  whether its credential reads too; else it may neither ask anything nor have memory choose what to change
    """
    bindings = frozenset(message.binding for message in facts.captured)
    judge = admission(Role.FORMATION, bindings, checks_claim_time=True)
    return Session(
        principal_id=principal_id,
        channel=channel,
        permissions=PERMISSIONS[Role.FORMATION],
        actors=frozenset({facts.self_id}),
        admit=judge if may_read else blindly(judge),
        review=both(formation_review(facts), commit_review),
    )


def maintenance_session(facts: MaintenanceFacts, now: Timestamp, commit_review: Review) -> Session:
    """What a maintenance cycle that began at `now` may do."""
    return Session(
        principal_id="brain:maintenance",
        channel="agent:maintenance",
        permissions=PERMISSIONS[Role.MAINTENANCE],
        actors=frozenset({facts.self_id}),
        default_policy=MEMORY_POLICY,
        admit=admission(Role.MAINTENANCE),
        review=both(maintenance_review(facts, now), commit_review),
    )


def host_session(channel: str, commit_review: Review | None = None) -> Session:
    """Deterministic work of the service: speakers, review tasks, settlement. It erases and defines nothing."""
    return Session(
        principal_id="brain:host",
        channel=channel,
        permissions=PERMISSIONS[Role.HOST],
        default_policy=MEMORY_POLICY,
        admit=admission(Role.HOST),
        review=commit_review,
    )


def check_request(commands: Sequence[str]) -> tuple[Statement, ...]:
    """The parsed commands of one request, judged together; each is judged again by its own session when it runs.

    raises  the parser's errors, NotAuthorized for a request that mixes definitions with other work
    """
    statements = tuple(parse(command) for command in commands)
    vocabulary.check_batch(statements)
    return statements


def both(first: Review, second: Review) -> Review:
    """Two judges, one after the other."""

    def review(write_set: WriteSet, tx: Transaction) -> None:
        first(write_set, tx)
        second(write_set, tx)

    return review
