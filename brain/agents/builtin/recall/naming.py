"""People known by a key, told under the name they gave; people of one name, told apart by their keys."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from brain.agents.builtin.cast import is_key
from brain.agents.builtin.recall.ask import other_names
from brain.agents.turns import DossierEntry, KnownClaim, RecallTurn, Ref


def with_given_names(turn: RecallTurn) -> RecallTurn:
    """The turn with `user-1`, who said to be Ana Ruiz, called `Ana Ruiz (user-1)`; ids stay what they are.

    Of several people called Ana Ruiz each is `Ana Ruiz (key)`.
    """
    given = {
        entry.who.id: f"{names[0]} ({entry.who.name})"
        for entry in turn.dossier
        if entry.who.id and is_key(entry.who.name) and (names := other_names(entry))
    }
    people = [entry for entry in turn.dossier if entry.who.type == "Person" and entry.who.id and entry.key]
    called = Counter(entry.who.name for entry in people)
    shared = (entry for entry in people if called[entry.who.name] > 1 and entry.who.id not in given)
    given |= {entry.who.id or "": f"{entry.who.name} ({entry.key})" for entry in shared}
    if not given:
        return turn

    def named(ref: Ref) -> Ref:
        return replace(ref, name=given[ref.id]) if ref.id in given else ref

    def claim(held: KnownClaim) -> KnownClaim:
        return replace(
            held,
            subject=named(held.subject),
            object=named(held.object),
            by=named(held.by) if held.by else None,
            against=tuple(map(named, held.against)),
        )

    def entry(held: DossierEntry) -> DossierEntry:
        return replace(held, who=named(held.who), claims=tuple(map(claim, held.claims)))

    return replace(
        turn,
        asked_by=named(turn.asked_by) if turn.asked_by else None,
        dossier=tuple(map(entry, turn.dossier)),
        commitments=tuple(
            replace(known, who=named(known.who) if known.who else None, to=tuple(map(named, known.to)))
            for known in turn.commitments
        ),
    )
