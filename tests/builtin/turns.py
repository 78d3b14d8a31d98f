"""Turns for the offline model's tests: real vocabulary, small dossiers, no engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brain.agents.builtin.compose import document_of
from brain.agents.builtin.conversation import read_conversation
from brain.agents.remember.document import RememberDocument
from brain.agents.turns import DossierEntry, FormationTurn, KnownClaim, KnownCommitment, Line, Ref, Vocabulary
from brain.times import milliseconds, timestamp

WEDNESDAY = "2024-01-10T09:00:00.000Z"
ANA = Ref("C-1", "Ana Ruiz", "Person")
MARC = Ref("C-2", "Marc Xenakis", "Person")
FALCON = Ref("C-3", "Falcon", "Project")
LI = Ref("C-11", "李明", "Person")
WANG = Ref("C-12", "王芳", "Person")
PEOPLE = {ref.name: ref for ref in (ANA, MARC, LI, WANG)}


def entry(who: Ref, *claims: KnownClaim, speaks: bool = False, aliases: tuple[str, ...] = ()) -> DossierEntry:
    return DossierEntry(who, None, aliases, speaks, claims, ())


def known(
    subject: Ref,
    predicate: str,
    value: Ref | str,
    standing: Any = "accepted",
    *,
    by: Ref | None = None,
    said: str = "2023-11-06T09:00:00.000Z",
    since: str = "",
    until: str = "",
    number: int = 1,
    against: tuple[Ref, ...] = (),
) -> KnownClaim:
    """A claim of the dossier; `since` and `until` as ISO days or coarser."""
    return KnownClaim(
        subject,
        predicate,
        value if isinstance(value, Ref) else Ref(None, value, None),
        standing,
        _instant(since),
        _instant(until),
        said,
        by or subject,
        f"A-{number}",
        f"P-{number}",
        since,
        until,
        against,
    )


def _instant(text: str) -> str | None:
    return f"{(text + '-01-01'[len(text) - 4 :])[:10]}T00:00:00.000Z" if text else None


def line(number: int | None, speaker: Ref, text: str, at: str, role: Any = "user") -> Line:
    return Line(number, role, speaker, role != "user", at, "Wed", at[:16].replace("T", " "), text)


def formation_turn(
    vocabulary: Vocabulary,
    lines: Sequence[Line],
    dossier: Sequence[DossierEntry] = (),
    commitments: Sequence[KnownCommitment] = (),
) -> FormationTurn:
    speakers = {item.speaker.name: item.speaker for item in lines}
    held = {item.who.name for item in dossier}
    entries = [*dossier, *(entry(ref, speaks=True) for name, ref in speakers.items() if name not in held)]
    return FormationTurn(
        1, tuple(lines), tuple(entries), tuple(commitments), vocabulary, "C-99", None, None, None, WEDNESDAY
    )


def formed(
    vocabulary: Vocabulary,
    said: Sequence[tuple[str, str]],
    dossier: Sequence[DossierEntry] = (),
    commitments: Sequence[KnownCommitment] = (),
    at: str = WEDNESDAY,
) -> RememberDocument:
    """The document for messages `(speaker, text)`, a minute apart."""
    lines = [
        line(number, PEOPLE.get(name, Ref(None, name, "Person")), text, timestamp(milliseconds(at) + 60_000 * number))
        for number, (name, text) in enumerate(said, 1)
    ]
    turn = formation_turn(vocabulary, lines, dossier, commitments)
    return document_of(read_conversation(turn.lines, turn.dossier), turn)


def plain(document: RememberDocument, names: Mapping[str, str] | None = None) -> dict[str, list[Any]]:
    """A document as the cases write it: claims as `[subject, predicate, value, {…}]`, ids as names."""
    called = {ref.id: ref.name for ref in (ANA, MARC, FALCON, LI, WANG)} | dict(names or {})

    def name(text: Any) -> Any:
        return called.get(text, text) if isinstance(text, str) else text

    claims = []
    for claim in document.claims:
        notes = {
            key: value
            for key, value in (("change", claim.change), ("since", claim.since), ("until", claim.until))
            if value and value != "stated"
        }
        value = claim.object if claim.object is not None else claim.text
        claims.append([name(claim.subject), claim.predicate, name(value), *([notes] if notes else [])])
    events = [[item.what, *([item.on] if item.on else [])] for item in document.events]
    promises = [
        [
            item.what,
            name(item.who),
            {
                k: v
                for k, v in (("to", name(item.to)), ("due", item.due), ("status", item.status))
                if v and v != "pending"
            },
        ]
        for item in document.commitments
    ]
    found = {
        "claims": claims,
        "events": events,
        "promises": promises,
        "rules": [item.rule for item in document.rules],
        "requests": [item.what for item in document.requests],
    }
    return {key: value for key, value in found.items() if value}
