"""A whole conversation read into statements, message by message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta, timezone
from itertools import chain
from typing import Protocol

from brain.agents.builtin.cast import Cast, thing_of
from brain.agents.builtin.chinese.reader import ChineseReader
from brain.agents.builtin.english.reader import EnglishReader
from brain.agents.builtin.facts import Fact, Owed, Reading, Redate, Statement
from brain.agents.builtin.hearsay import passed_on
from brain.agents.builtin.orders import is_order, is_transcript
from brain.agents.builtin.redate import redated, with_year
from brain.agents.builtin.sarcasm import TASTES, is_sarcastic
from brain.agents.builtin.secrets import looks_secret
from brain.agents.builtin.text import READ_LIMIT, Sentence, clean, sentences, spoken_lines
from brain.agents.builtin.when import moment_of
from brain.agents.turns import DossierEntry, Line
from brain.times import shifted

MAX_SENTENCES = 400
"""Sentences read of one message; a longer one is a document, not speech."""


class _Reader(Protocol):
    def read(self, sentence: Sentence) -> tuple[list[Statement], bool]: ...


def read_conversation(lines: Sequence[Line], dossier: Sequence[DossierEntry]) -> Reading:
    """What the citable messages say.

    Lines of the system and of tools are no speech, and an agent's words bind only the agent: of those, promises with a
    day are kept.
    """
    cast = Cast.of(dossier, [line.speaker for line in lines if line.role in ("user", "assistant")])
    speakers = {
        line.speaker.id or line.speaker.name: line.speaker for line in lines if line.role in ("user", "assistant")
    }
    reading = Reading()
    for line in lines:
        if line.role not in ("user", "assistant"):
            continue
        cast.speaker = thing_of(line.speaker)
        others = [ref for key, ref in speakers.items() if key != (line.speaker.id or line.speaker.name)]
        cast.addressee = thing_of(others[0]) if len(others) == 1 else None
        cast.next_sentence(new_message=True)
        found = _of_line(line, cast, reading, dossier)
        if line.number is None:
            continue
        if line.is_agent:
            found = [item for item in found if isinstance(item, Owed) and item.due and item.who.key == cast.speaker.key]
        reading.statements += found
    return reading


def _of_line(line: Line, cast: Cast, reading: Reading, dossier: Sequence[DossierEntry]) -> list[Statement]:
    number = line.number or 0
    if len(line.text) > READ_LIMIT:
        reading.cut.append(number)
    offset = line.utc_offset_minutes
    moment = moment_of(shifted(line.observed_at, offset)).replace(tzinfo=timezone(timedelta(minutes=offset)))
    readers: dict[str, _Reader] = {
        "en": EnglishReader(number, moment, cast),
        "zh": ChineseReader(number, moment, cast),
    }
    found: list[Statement] = []
    before = 0
    sarcastic = is_sarcastic(clean(line.text[:READ_LIMIT]))
    for count, sentence in enumerate(_sentences(line.text)):
        if count >= MAX_SENTENCES:
            reading.cut.append(number)
            break
        if is_order(sentence.text) or any(is_order(quote) for quote in sentence.quotes):
            reading.ordered.append(number)
            continue
        cast.next_sentence()
        said, calls_off = readers[sentence.language].read(sentence)
        if calls_off and not _called_off(found, before, reading, cast):
            said = [
                replace(item, marks=item.marks | {"correction"}) if isinstance(item, Fact) else item for item in said
            ]
        before = len(found)
        for item in said:
            if isinstance(item, Redate):
                _redate(item, (found, reading.statements))
                continue
            if isinstance(item, Fact):
                item = with_year(passed_on(item, moment), chain(reading.statements, found), dossier)
            if sarcastic and isinstance(item, Fact) and item.relation in TASTES:
                continue
            if _holds_secret(item):
                reading.secrets.append(number)
            else:
                found.append(item)
                if isinstance(item, Fact):
                    cast.learn(item.subject, item.value)
                    if item.relation in ("works_for", "member_of") and item.stance == "holds" and not item.until:
                        cast.tie(item.subject, item.relation, item.value)  # type: ignore[arg-type]
                    if item.relation == "also_known_as" and isinstance(item.value, str):
                        cast.call(item.subject, item.value)
    return found


def _called_off(found: list[Statement], before: int, reading: Reading, cast: Cast) -> bool:
    """Drop what the speaker said just before, in this message or last in an earlier one; whether there was anything."""
    if found[before:]:
        del found[before:]
        return True
    if not found and reading.statements and reading.statements[-1].speaker.key == cast.speaker.key:
        reading.statements.pop()
        return True
    return False


def _redate(by: Redate, lists: Sequence[list[Statement]]) -> None:
    """Put the day right of the latest statement it can mean, in this message or before."""
    for statements in lists:
        for index in range(len(statements) - 1, -1, -1):
            other = redated(statements[index], by)
            if other is not None:
                statements[index] = other
                return


def _sentences(text: str) -> list[Sentence]:
    """The sentences somebody speaks in their own name: pasted transcripts are left out line by line."""
    head = clean(text[:READ_LIMIT])
    lines = spoken_lines(head)
    if any(is_transcript(line) for line in lines):
        head = "\n".join(line for line in lines if not is_transcript(line))
    return sentences(head)


def _holds_secret(item: Statement) -> bool:
    if isinstance(item, Fact):
        value = item.value if isinstance(item.value, str) else getattr(item.value, "name", "")
        return looks_secret(value) and item.relation not in ("email", "phone", "address")
    return False
