"""Answers to who said something, and to what somebody said."""

from __future__ import annotations

from dataclasses import replace

from brain.agents.builtin.recall.answering import Answering, Reply, relation_of
from brain.agents.builtin.recall.ask import Ask
from brain.agents.builtin.recall.evidence import named_value
from brain.agents.builtin.recall.lookup import Voice, VoiceKind
from brain.agents.builtin.recall.told import Told, cited, is_contradicted, negated
from brain.agents.builtin.recall.wording import told, value_text
from brain.agents.turns import KnownClaim, RecallTurn, Ref, Standing

_MOST = 4
_MOST_SAYINGS = 8


def sources_reply(a: Answering) -> Reply:
    """Who said so, each with the date: `who said that Alice lives in Berlin`."""
    claims = claims_spoken_of(a.ask, a.turn)
    sentences = [sentence for claim in claims[:_MOST] if (sentence := _voices_told(a, claim))]
    return a.reply(sentences, 0.1) if sentences else a.nothing(a.words.nobody_said)


def claims_spoken_of(ask: Ask, turn: RecallTurn) -> list[KnownClaim]:
    """The claims a question for their source speaks of: those whose two ends it names, else those of its relation."""
    if ask.form != "sources":
        return []
    ids = {ref.id or ref.name for ref in ask.values}
    wanted = {relation.predicate for relation in ask.relations}
    unique = {claim.proposition_id: claim for entry in turn.dossier for claim in entry.claims}
    about = [c for c in unique.values() if (c.subject.id or c.subject.name) in ids]
    if not about and ask.left:
        return []
    if not about:
        return [c for c in unique.values() if c.predicate in wanted and (c.object.id or c.object.name) in ids]
    both = [c for c in about if named_value(c, ask)]
    if both:
        return [c for c in both if c.predicate in wanted] if wanted else both
    has_value = any(ref.id not in {c.subject.id for c in about} for ref in ask.values)
    return [] if has_value or ask.left else [c for c in about if c.predicate in wanted]


def _voices_told(a: Answering, claim: KnownClaim) -> Told | None:
    words = a.words
    shapes = {
        "support": words.voice_support,
        "hearsay": words.voice_hearsay,
        "reject": words.voice_reject,
        "withdrawn": words.voice_withdrawn,
    }
    voices = a.looked.voices.get(claim.proposition_id) or _known_voices(claim)
    called = {entry.who.id: entry.who.name for entry in a.turn.dossier}
    parts = [
        shapes[voice.kind].format(who=called.get(voice.who.id, voice.who.name), date=voice.date) for voice in voices
    ]
    if not parts:
        return None
    what = told(claim, a.tell.telling(relation_of(claim.predicate)), a.ask.language, past=claim.standing == "was")
    ids = tuple(voice.assertion_id for voice in voices)
    return Told(words.voices.format(what=what, voices=words.semicolon.join(parts)), ids)


def _known_voices(claim: KnownClaim) -> tuple[Voice, ...]:
    """Who is known to have spoken without a further read."""
    kinds: dict[str, VoiceKind] = {"hearsay": "hearsay", "denied": "reject", "withdrawn": "withdrawn"}
    if claim.by is None:
        return ()
    kind = kinds.get(claim.standing, "support")
    return (Voice(claim.by, (claim.said_at or "")[:10], kind, claim.assertion_id),)


def sayings_reply(a: Answering) -> Reply:
    """What somebody said, as far as it was kept: `what did Tom say about Alice`."""
    if not a.ask.subjects:
        return a.silence()
    speaker = a.ask.subjects[0]
    about = {ref.id or ref.name for ref in a.ask.values}
    wanted = {relation.predicate for relation in a.ask.relations}
    unique = {claim.proposition_id: claim for entry in a.turn.dossier for claim in entry.claims}
    said = [
        in_words_of(speaker, claim)
        for claim in unique.values()
        if _is_speaker(speaker, claim)
        and claim.standing != "withdrawn"
        and (not about or {claim.subject.id or claim.subject.name, claim.object.id or claim.object.name} & about)
        and (about or not wanted or claim.predicate in wanted)
    ]
    said.sort(key=lambda claim: claim.said_at or "", reverse=True)
    sentences = [sentence for claim in said[:_MOST_SAYINGS] for sentence in _as_said(a, claim, speaker)]
    if not sentences:
        return a.nothing(a.words.no_record_about.format(name=speaker.name))
    more = [Told(a.words.not_shown)] if len(said) > _MOST_SAYINGS else []
    return a.reply([*sentences, *more], 0.2)


def _is_speaker(speaker: Ref, claim: KnownClaim) -> bool:
    """Whether somebody spoke to a claim, for it or against it."""
    spoke = (claim.by, *claim.against, *(voice.who for voice in claim.voices))
    return speaker.id is not None and speaker.id in {ref.id for ref in spoke if ref}


def in_words_of(speaker: Ref, claim: KnownClaim) -> KnownClaim:
    """A claim that several people made as one of them made it; as it is where they speak for it already or deny it."""
    if claim.by is not None and claim.by.id == speaker.id:
        return claim
    voices = [voice for voice in claim.voices if voice.who and voice.who.id == speaker.id and voice.side != "against"]
    if not voices:
        return claim
    voice = voices[0]
    standing: Standing = "hearsay" if voice.side == "unsure" else claim.standing
    others = tuple(ref for ref in claim.against if ref.id != speaker.id)
    return replace(
        claim,
        by=voice.who,
        said_at=voice.said_at,
        assertion_id=voice.assertion_id,
        standing="accepted" if standing == "denied" else standing,
        since_text="",
        until_text="",
        against=others,
        rests_on=claim.rests_on if others or standing == "was" else (),
    )


def _as_said(a: Answering, claim: KnownClaim, speaker: Ref) -> list[Told]:
    telling = a.tell.telling(relation_of(claim.predicate))
    if speaker.id in {ref.id for ref in claim.against} and not (claim.by and claim.by.id == speaker.id):
        what = negated(telling.now, a.ask.language).format(s=claim.subject.name, o=value_text(claim, a.ask.language))
        return [Told(a.words.denied_word.format(who=speaker.name, what=what), claim.rests_on or cited(claim))]
    if claim.standing == "denied" and is_contradicted(claim):
        return [a.tell.differing(claim, telling)]
    if claim.standing == "denied":
        shape = negated(telling.now, a.ask.language)
        return [Told(told_with(shape, a, claim), cited(claim))]
    return a.tell.by_standing(claim, telling)


def told_with(shape: str, a: Answering, claim: KnownClaim) -> str:
    """A claim in a shape, with who said it and when."""
    date = (claim.said_at or "")[:10]
    who = claim.by.name if claim.by else "?"
    return a.words.denied.format(who=who, date=date, what=shape.format(s=claim.subject.name, o=claim.object.name))
