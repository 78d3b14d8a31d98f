"""The words of answers in each language; nothing here decides what is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from brain.agents.builtin.lexicon import ordered
from brain.agents.builtin.lexicon.things import CHINESE_LANGUAGES, LANGUAGES
from brain.agents.builtin.recall.relations import Telling
from brain.agents.builtin.text import Language, pattern
from brain.agents.turns import KnownClaim, KnownCommitment, KnownEvent

_MONTHS = ordered("January February March April May June July August September October November December")
_LANGUAGE_NAMES = {tag: name.capitalize() for name, tag in reversed(LANGUAGES.items())}
_LANGUAGE_NAMES_ZH = {tag: name for name, tag in reversed(CHINESE_LANGUAGES.items())}

_CLOCK = pattern(r"\d{2}:\d{2}$")
_DIET_NAMES_ZH = {"vegetarian": "素食 (vegetarian)", "vegan": "纯素食 (vegan)"}


@dataclass(frozen=True, slots=True)
class Wording:
    """Sentences of one language; each takes the names in braces."""

    stop: str
    join: str
    last_join: str
    comma: str
    semicolon: str
    open: str
    close: str
    since: str
    until: str
    said: str
    said_by: str
    before: str
    once: str
    yes: str
    no: str
    not_now: str
    is_disputed: str
    disputed_one: str
    denied_by: str
    hearsay: str
    hearsay_unnamed: str
    planned: str
    denied: str
    denied_word: str
    ended: str
    taken_back: str
    no_record: str
    no_record_then: str
    not_said: str
    unknown: str
    who_asks: str
    nothing: str
    no_events: str
    no_commitments: str
    no_rules: str
    nobody: str
    since_when: str
    no_date: str
    as_far: str
    counted: str
    about: str
    owed: str
    owed_to: str
    due: str
    rules: str
    not_shown: str
    gap: str
    which_meant: str
    differs: str
    age_now: str
    last_or: str
    no_earlier: str
    now: str
    one_sided: str
    not_exactly: str
    two_meant: str
    no_record_about: str
    voices: str
    voice_support: str
    voice_hearsay: str
    voice_reject: str
    voice_withdrawn: str
    nobody_said: str
    asker_unknown: str
    undated: str
    no_commitments_then: str
    not_over: str
    earlier_said: str
    noted: str
    but_later: str


WORDING: dict[Language, Wording] = {
    "en": Wording(
        stop=". ",
        join=", ",
        last_join=" and ",
        comma=", ",
        semicolon="; ",
        open=" (",
        close=")",
        since="since {when}",
        until="until {when}",
        said="said on {date}",
        said_by="said by {who} on {date}",
        before="Before that: {what}",
        once="At some earlier time: {what}",
        yes="Yes: {what}",
        no="No: {what}",
        not_now="Not any more: {what}",
        is_disputed="This is disputed. {what}",
        disputed_one="According to {who} ({date}), {what}",
        denied_by="{who} says that this is not so",
        hearsay="Not confirmed: {who} said on {date} that {what}",
        hearsay_unnamed="Not confirmed, only hearsay: {what}",
        planned="Planned from {when}: {what}",
        denied="According to {who} ({date}), {what}",
        denied_word="According to {who}, {what}",
        ended="{what}; nothing later is on record",
        taken_back="{who} took back what was said about {topic}, and nothing has taken its place",
        no_record="I have no record of {topic}",
        no_record_then="I have no record of {topic} for {when}",
        not_said="Nothing on record says so about {name}",
        unknown="I have no record of {name}",
        who_asks="I do not know who is asking, so I cannot tell what is meant by “I”",
        nothing="I have nothing on record that answers this",
        no_events="I have no record of that",
        no_commitments="I have no such promise, plan or reminder on record",
        no_rules="I have no standing rules on record",
        nobody="I have no record of anybody for whom that holds",
        since_when="{what}, since {when}",
        no_date="{what}; since when is not on record",
        as_far="As far as is on record, no: {what}",
        counted="{count}: {what}",
        about="{what} ({date})",
        owed="{who}: {what}",
        owed_to=" to {who}",
        due="due {date}",
        rules="Standing rules: {what}",
        not_shown="Memory holds more than was looked at",
        gap=" ",
        which_meant="Several are on record, {who}; which of them is meant is not",
        differs="{who} said on {date} that {what}",
        age_now="{who} is {years} years old on {date}; {what}",
        last_or=" or ",
        no_earlier="Nothing earlier is on record: {what}",
        now="Now: {what}",
        one_sided="What is on record does not agree: it is said that {what}, and also that it is not so",
        not_exactly="Not exactly that is on record: {what}",
        two_meant="“{name}” may mean {who}",
        no_record_about="I have nothing on record about {name} that answers this",
        voices="{what}: {voices}",
        voice_support="said by {who} on {date}",
        voice_hearsay="passed on by {who} on {date}",
        voice_reject="denied by {who} on {date}",
        voice_withdrawn="said and later taken back by {who} on {date}",
        nobody_said="I have no record of anybody who said so",
        asker_unknown="I do not know who is asking; this is on record for everybody",
        undated="Without a date: {what}",
        no_commitments_then="I have no promise, plan or reminder on record that is due then",
        not_over="{what}; an end is not on record",
        earlier_said="Said earlier: {what}",
        noted="On record in these words, of {date}: “{what}”",
        but_later="But on {date} this was said: “{what}”",
    ),
    "zh": Wording(
        stop="。",
        join="、",
        last_join="和",
        comma="，",
        semicolon="；",
        open="（",
        close="）",
        since="自{when}起",
        until="到{when}为止",
        said="{date}所说",
        said_by="{who}于{date}所说",
        before="在此之前：{what}",
        once="以前某个时候：{what}",
        yes="是的：{what}",
        no="不是：{what}",
        not_now="现在不是了：{what}",
        is_disputed="说法不一。{what}",
        disputed_one="据{who}（{date}）说，{what}",
        denied_by="{who}说并非如此",
        hearsay="未经证实：{who}在{date}说，{what}",
        hearsay_unnamed="未经证实，只是传闻：{what}",
        planned="计划从{when}起：{what}",
        denied="据{who}（{date}）说，{what}",
        denied_word="据{who}说，{what}",
        ended="{what}；之后没有记录",
        taken_back="{who}收回了关于{topic}的说法，之后没有别的说法",
        no_record="没有关于{topic}的记录",
        no_record_then="没有关于{topic}在{when}的记录",
        not_said="没有关于{name}的这样的记录",
        unknown="没有关于{name}的记录",
        who_asks="我不知道是谁在提问，所以不清楚“我”指的是谁",
        nothing="记录里没有能回答这个问题的内容",
        no_events="没有这件事的记录",
        no_commitments="没有这样的承诺、计划或提醒的记录",
        no_rules="没有长期规则的记录",
        nobody="没有符合的人的记录",
        since_when="{what}，自{when}起",
        no_date="{what}；从什么时候开始没有记录",
        as_far="据记录不是：{what}",
        counted="{count}：{what}",
        about="{date}：{what}",
        owed="{who}：{what}",
        owed_to="对{who}",
        due="期限{date}",
        rules="长期规则：{what}",
        not_shown="记忆里还有未查看的内容",
        gap="",
        which_meant="记录里有{who}，没有说明是哪一位",
        differs="{who}在{date}说，{what}",
        age_now="{who}在{date}是{years}岁；{what}",
        last_or="或",
        no_earlier="没有更早的记录：{what}",
        now="现在：{what}",
        one_sided="记录前后不一：有人说{what}，也有人说并非如此",
        not_exactly="没有完全相符的记录，只有：{what}",
        two_meant="“{name}”可能指{who}",
        no_record_about="没有关于{name}的、能回答这个问题的记录",
        voices="{what}：{voices}",
        voice_support="{who}于{date}所说",
        voice_hearsay="{who}于{date}转述",
        voice_reject="{who}于{date}否认",
        voice_withdrawn="{who}于{date}说过，后来收回",
        nobody_said="没有谁这样说过的记录",
        asker_unknown="我不知道是谁在提问；以下是所有人的记录",
        undated="没有期限：{what}",
        no_commitments_then="没有在那时到期的承诺、计划或提醒的记录",
        not_over="{what}；没有结束的记录",
        earlier_said="早先说过：{what}",
        noted="{date}的记录原话：“{what}”",
        but_later="但{date}有人说：“{what}”",
    ),
}


def listed(parts: Sequence[str], words: Wording, *, last: str | None = None) -> str:
    """`tea, coffee and jazz`; `last` stands before the last instead of "and"."""
    unique = list(dict.fromkeys(parts))
    if len(unique) < 2:
        return "".join(unique)
    return words.join.join(unique[:-1]) + (last or words.last_join) + unique[-1]


def value_text(claim: KnownClaim, language: Language) -> str:
    """A claim's value as people say it."""
    name = claim.object.name
    if claim.predicate == "speaks":
        spoken = (_LANGUAGE_NAMES_ZH if language == "zh" else _LANGUAGE_NAMES).get(name)
        return f"{spoken} ({name})" if spoken else name
    if claim.predicate == "follows_diet" and language == "zh":
        return _DIET_NAMES_ZH.get(name, name)
    if claim.object.type is None and len(name) == 7 and name.startswith("--") and name[2:4].isdigit():
        month, day = int(name[2:4]), int(name[5:])
        if not 1 <= month <= 12:
            return name
        return f"{month}月{day}日" if language == "zh" else f"{day} {_MONTHS[month - 1]}"
    if claim.predicate == "has_role" and language == "en" and name[:1].islower():
        article = "" if name.startswith(("head of", "vp of", "chief")) else "an " if name[0] in "aeiou" else "a "
        return article + name
    return name


def told(claim: KnownClaim, telling: Telling, language: Language, *, past: bool = False) -> str:
    """A claim as a clause."""
    shape = telling.was if past else telling.now
    return shape.format(s=claim.subject.name, o=value_text(claim, language))


def source(claim: KnownClaim, words: Wording, *, bounds: bool = True) -> str:
    """`(since 2024-03; said by Ana Ruiz on 2024-03-20)`; empty when nothing is known."""
    parts = []
    # "By" a day is when it held at the latest, which is no beginning to tell.
    if bounds and claim.since_text and not claim.since_text.startswith("by "):
        parts.append(words.since.format(when=_plain(claim.since_text)))
    if bounds and claim.until_text:
        parts.append(words.until.format(when=_plain(claim.until_text)))
    date = (claim.said_at or "")[:10]
    if date:
        parts.append(words.said_by.format(who=claim.by.name, date=date) if claim.by else words.said.format(date=date))
    return f"{words.open}{words.semicolon.join(parts)}{words.close}" if parts else ""


def _plain(when: str) -> str:
    return zoned(when.removeprefix("by ").removeprefix("from "))


def zoned(when: str) -> str:
    """A time as it is held, which is in UTC, with its zone where it has a time of day."""
    return f"{when} UTC" if _CLOCK.search(when) else when


def event_text(event: KnownEvent, words: Wording) -> str:
    """An event with its date."""
    date = event_date(event)
    what = event.summary.rstrip("。.")
    return words.about.format(date=date, what=what) if date and date not in what else what


def event_date(event: KnownEvent) -> str:
    """The day, month, year or span of an event, as precisely as it is held."""
    if event.on is None or event.on_text:
        return event.on_text
    first, last = event.on, event.until or event.on
    if first[:10] == last[:10]:
        return first[:10] if first[11:16] in ("00:00", "") else zoned(first[:16].replace("T", " "))
    if first[8:10] == "01" and first[:7] == last[:7]:
        return first[:7]
    if first[5:10] == "01-01" and first[:4] == last[:4]:
        return first[:4]
    return f"{first[:10]} – {last[:10]}"


def commitment_text(known: KnownCommitment, words: Wording) -> str:
    """A commitment with its debtor, creditor, due date and status; a creditor its words name is not told twice."""
    unnamed = [ref.name for ref in known.to if ref.name not in known.summary]
    owed = words.owed_to.format(who=listed(unnamed, words)) if unnamed else ""
    what = known.summary + (owed if owed.startswith(" ") else "")
    notes = [owed] if owed and not owed.startswith(" ") else []
    notes += [words.due.format(date=known.due_text or _due(known.due))] if known.due else []
    if known.status != "pending":
        notes.append(known.status)
    text = words.owed.format(who=known.who.name, what=what) if known.who else what
    return text + (f"{words.open}{words.comma.join(notes)}{words.close}" if notes else "")


def _due(due: str) -> str:
    """A due date; the last instant of a day is that day."""
    return due[:10] if due[11:19] in ("23:59:59", "00:00:00") else zoned(due[:16].replace("T", " "))
