"""Which of the dossier's claims answer a question, and how they stand at its time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from brain.agents.builtin.lexicon.things import CHINESE_PARTS_OF_KINDS, PARTS_OF_KINDS
from brain.agents.builtin.recall.ask import SYMMETRIC, Ask
from brain.agents.builtin.recall.called import condition_names, diet_names, language_names
from brain.agents.builtin.recall.relations import Relation
from brain.agents.builtin.when import When
from brain.agents.builtin.worth import kind_of
from brain.agents.turns import KnownClaim, RecallTurn, Ref, Standing
from brain.names import fold, occurs


@dataclass(frozen=True, slots=True)
class Held:
    """Claims about one subject and relation, by how they stand at the question's time."""

    subject: Ref
    relation: Relation
    accepted: tuple[KnownClaim, ...] = ()
    disputed: tuple[KnownClaim, ...] = ()
    planned: tuple[KnownClaim, ...] = ()
    hearsay: tuple[KnownClaim, ...] = ()
    was: tuple[KnownClaim, ...] = ()
    denied: tuple[KnownClaim, ...] = ()
    withdrawn: tuple[KnownClaim, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not any(
            (self.accepted, self.disputed, self.planned, self.hearsay, self.was, self.denied, self.withdrawn)
        )

    @property
    def is_over(self) -> bool:
        """Whether nothing of it holds, may hold or is to hold."""
        return not (self.accepted or self.disputed or self.planned or self.hearsay)

    def only(self, admits: Callable[[KnownClaim], bool]) -> Held:
        """The same with those claims alone that are admitted."""
        return Held(
            self.subject,
            self.relation,
            *(
                tuple(filter(admits, claims))
                for claims in (
                    self.accepted,
                    self.disputed,
                    self.planned,
                    self.hearsay,
                    self.was,
                    self.denied,
                    self.withdrawn,
                )
            ),
        )

    @property
    def all(self) -> tuple[KnownClaim, ...]:
        return (*self.accepted, *self.disputed, *self.planned, *self.hearsay, *self.was, *self.denied)


def held_for(ask: Ask, turn: RecallTurn, extra: Sequence[KnownClaim] = ()) -> list[Held]:
    """What memory holds of the question's subjects under its relations; relations with nothing are left out."""
    claims = _claims(turn, extra)
    found = []
    for subject in ask.subjects:
        for relation in ask.relations:
            about = [claim for claim in claims if _is_about(claim, subject, relation)]
            about = _of_kinds(about, ask, claims)
            held = _sorted(about, subject, relation, ask)
            if not held.is_empty:
                found.append(held)
    return found


def holders(ask: Ask, turn: RecallTurn, extra: Sequence[KnownClaim] = ()) -> list[KnownClaim]:
    """For a question for the subject: claims of the relation with the named value, in any standing."""
    relation = ask.relations[0]
    ids = {ref.id or ref.name for ref in ask.values}
    return [
        claim
        for claim in _claims(turn, extra)
        if claim.predicate == relation.predicate and (claim.object.id or claim.object.name) in ids
    ]


def with_ended(turn: RecallTurn) -> RecallTurn:
    """The turn with what somebody said had ended told as former, though their word alone was too weak to hold it."""

    def ended(claim: KnownClaim) -> KnownClaim:
        is_over = claim.standing == "hearsay" and claim.until is not None and claim.until <= turn.at
        return replace(claim, standing="was") if is_over else claim

    entries = (replace(entry, claims=tuple(map(ended, entry.claims))) for entry in turn.dossier)
    return replace(turn, dossier=tuple(entries))


def standing_at(claim: KnownClaim, ask: Ask) -> Standing | None:
    """How a claim stands at the time the question is about, None when it speaks of later times only."""
    if ask.time is None or claim.standing in ("withdrawn", "denied"):
        return claim.standing
    first, last = _bounds(ask.time)
    if ask.is_before:
        last, first = first, "0001-01-01"
    begun = (claim.since or claim.said_at or "")[:10]
    over = (claim.until or "")[:10]
    if not claim.since and over:
        # It had begun when it was told, and before it ended; how long before is not known.
        begun = _year_before(min(begun, over) if begun else over)
    if begun > last:
        return None
    if claim.standing in ("disputed", "hearsay"):
        return claim.standing
    return "was" if over and over <= first else "accepted"


def _year_before(day: str) -> str:
    return f"{int(day[:4]) - 1:04d}{day[4:]}" if day[:4].isdecimal() else day


def _bounds(time: When) -> tuple[str, str]:
    """The first and last day of a time, as ISO dates."""
    start, end = time.start, time.last
    return (start + "-01-01"[len(start) - 4 :])[:10] if len(start) < 10 else start[:10], _last_day(end)


def _last_day(text: str) -> str:
    if len(text) == 4:
        return f"{text}-12-31"
    return f"{text}-31" if len(text) == 7 else text[:10]


def named_value(claim: KnownClaim, ask: Ask) -> bool:
    """Whether the question names this claim's value: by name, by another form of it, or by its last word."""
    folded = fold(ask.text)
    if any(ref.id == claim.object.id for ref in ask.values if ref.id):
        return True
    names = [claim.object.name, *(language_names(claim.object.name) if claim.predicate == "speaks" else ())]
    if claim.predicate == "has_condition":
        names += condition_names(claim.object.name)
    if claim.predicate == "follows_diet":
        names += diet_names(claim.object.name)
    head = claim.object.name.rpartition(" ")[2]
    if head != claim.object.name and len(head) > 2 and claim.object.type != "Person":
        names.append(head)
    return any(occurs(name, folded) or _stem_occurs(name, folded) for name in names)


def _stem_occurs(name: str, folded: str) -> bool:
    """Whether a value is named without its plural or with it."""
    plain = fold(name)
    if not plain.isascii() or len(plain) < 4:
        return False
    other = plain.removesuffix("s") if plain.endswith("s") else plain + "s"
    return occurs(other, folded)


def _claims(turn: RecallTurn, extra: Sequence[KnownClaim]) -> list[KnownClaim]:
    unique = {claim.proposition_id: claim for entry in turn.dossier for claim in entry.claims}
    told = {_ends(claim) for claim in unique.values()}
    return [*unique.values(), *{_ends(claim): claim for claim in extra if _ends(claim) not in told}.values()]


def _ends(claim: KnownClaim) -> tuple[str, str, str]:
    return claim.subject.id or claim.subject.name, claim.predicate, claim.object.id or claim.object.name


def _is_about(claim: KnownClaim, subject: Ref, relation: Relation) -> bool:
    if claim.predicate != relation.predicate:
        return False
    near = claim.object if relation.by_value else claim.subject
    if near.id == subject.id and subject.id is not None:
        return True
    return relation.predicate in SYMMETRIC and claim.object.id == subject.id and subject.id is not None


def _of_kinds(claims: list[KnownClaim], ask: Ask, all_claims: Iterable[KnownClaim]) -> list[KnownClaim]:
    """Only those of the kind the question asks for: an editor, a color, a dog."""
    if not ask.kinds:
        return claims
    species = {claim.subject.id: fold(claim.object.name) for claim in all_claims if claim.predicate == "species"}
    return [
        claim
        for claim in claims
        if (claim.predicate == "has_pet" and species.get(claim.object.id) in ask.kinds)
        or (claim.predicate != "has_pet" and _is_of_kind(claim.object, ask))
        or (claim.predicate != "has_pet" and ask.is_check and ask.language == "en")  # asks of what it names
    ]


def _is_of_kind(value: Ref, ask: Ask) -> bool:
    """Whether a value is known to be of a kind the question names; of what no table knows nothing is said.

    A word for a part of a kind, `fruit`, has to stand in the value or to have a table of its own.
    """
    kinds = {value.type} if value.type not in (None, "Topic") else {kind_of(value.name)}
    named = fold(value.name)
    parts = [word for word in PARTS_OF_KINDS if occurs(word, fold(ask.text)) or occurs(f"{word}s", fold(ask.text))]
    if ask.language == "zh":
        parts = [word for word in CHINESE_PARTS_OF_KINDS if word in ask.text]
    members = {**PARTS_OF_KINDS, **CHINESE_PARTS_OF_KINDS}
    is_part = all(word in named or named in members[word] for word in parts)
    return bool(kinds & ask.kinds) and is_part


def _is_hearsay(claim: KnownClaim) -> bool:
    """Whether somebody else says it of a person: what people say of themselves is told first."""
    return claim.subject.type == "Person" and claim.by is not None and claim.by.id != claim.subject.id


def _sorted(claims: Sequence[KnownClaim], subject: Ref, relation: Relation, ask: Ask) -> Held:
    by: dict[str, list[KnownClaim]] = {}
    for claim in claims:
        standing = standing_at(claim, ask)
        if standing is not None:
            by.setdefault(standing, []).append(claim)
    if ask.time is not None and ask.is_before and by.get("accepted"):
        by["was"] = by.pop("accepted")
    former = sorted(by.get("was", ()), key=lambda claim: claim.ended, reverse=True)
    return Held(
        subject,
        relation,
        tuple(sorted(by.get("accepted", ()), key=_is_hearsay)),
        tuple(by.get("disputed", ())),
        tuple(by.get("planned", ())),
        tuple(by.get("hearsay", ())),
        tuple(former),
        tuple(by.get("denied", ())),
        tuple(by.get("withdrawn", ())),
    )
