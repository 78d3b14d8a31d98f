"""What may stand before an English statement, and what that does to it.

`opened` takes greetings, "by the way", "actually", "Tom says that" off the head of a sentence, and says which sentences
to leave alone: questions, conditions, jokes, fiction, hearsay of nobody in particular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from brain.agents.builtin.cast import Cast
from brain.agents.builtin.english.nouns import Noun, name_at, noun_at
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import FORMS, verb_group
from brain.agents.builtin.facts import Mark
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.text import pattern

Effect = Literal["skip", "correct", "retract", "keep", "hedge"]


def _table(**phrases: str) -> dict[tuple[str, ...], Effect]:
    """Phrases of each effect, separated by commas, as tuples of words; the longest is tried first."""
    table = {
        tuple(phrase.split()): effect
        for effect, text in phrases.items()
        for phrase in text.replace("\n", " ").split(",")
        if phrase.strip()
    }
    return dict(sorted(table.items(), key=lambda item: -len(item[0])))  # type: ignore[arg-type]


_PHRASES = _table(
    skip="""
    by the way, btw, fyi, for your information, just so you know, so you know, for the record, note, please note,
    please note that, note that, just to let you know, let me tell you that, i want you to know that, i wanted to tell
    you that, i should mention, i should mention that, you should know, you should know that, i can tell you that, as
    you know, good news, big news, bad news, update, quick update, news, well, so, oh, okay, ok, yes, yeah, yep,
    right, sure, ah, hmm, hm, um, anyway, also, and, but, plus, then, great, cool, nice, perfect, thanks, thank you,
    thanks a lot, many thanks, thanks so much, i am happy to say that, it turns out, it turns out that, turns out,
    turns out that, in fact, indeed, in case you missed it, first, second, finally, ps, hello, hi, hey, hi there,
    hello there, hey there, hi all, hi everyone, good morning, good afternoon, good evening, honestly, to be honest,
    to be fair, personally, for me, as for me, in my case, guess what, listen, look, about me, a bit about me, for
    context, some context, about that, on another note, unfortunately, sadly, luckily, fortunately, i just wanted to
    say that, i told you that, i know that, reminder, i would like to add that, i am glad to say that, you know,
    please know that, i am happy to report that
    """,
    correct="""
    no wait, oh no, actually, correction, small correction, sorry, i am sorry, no, nope, wait, hold on, oops, my
    mistake, my bad, i was wrong, i misspoke, i made a mistake, to correct myself, let me correct that, let me correct
    myself, i have to correct myself, edit, i stand corrected, that was wrong, that is wrong, that is not right, that
    is not correct, typo, my typo, i mistyped, i misremembered, i got that wrong
    """,
    retract="""
    scratch that, strike that, forget that, disregard that, ignore that, never mind, nevermind, i take that back, i take
    it back, never mind that, forget it, forget what i said, ignore what i said, ignore my last message, ignore that
    last message
    """,
    keep="""
    please remember, please remember that, remember, remember that, please keep in mind that, keep in mind that, keep
    in mind, do not forget, do not forget that, please do not forget that, please save, save, please note down, note
    down that, please store, can you remember, can you remember that, could you remember that, could you please
    remember that, can you please remember that, will you remember that, would you remember that, make a note that,
    please make a note that, please write down that, write down that, for later, for future reference, for next time,
    i want you to remember that, i need you to remember that, can you save, can you note that, could you note that
    """,
    hedge="""
    i think, i think that, i guess, i guess that, i believe, i believe that, i suppose, i suppose that, i assume, i
    assume that, i feel like, i bet, i imagine, i doubt, i doubt that, i wonder, i hope, i hope that, i wish, i wish
    that, i am not sure, i do not think, i do not believe, i do not know, it seems, it seems that, it looks like,
    maybe, perhaps, probably, possibly, apparently, supposedly, allegedly, presumably, i read, i read that, i read
    somewhere, i read somewhere that, i saw, they say, they say that, people say, people say that, word is, rumor has
    it, rumour has it, rumor has it that, it is said that, let us say, suppose, imagine, imagine that, pretend,
    pretend that, say, assume, assuming, what if, hypothetically, in theory, in my dream, last night i dreamed, i
    dreamed, i dreamed that, i dreamt that, once upon a time, i would say, i could swear, i am afraid, i am pretty
    sure, i am fairly sure, if i remember correctly, as far as i know, afaik, iirc, i might say, legend has it,
    someone said, somebody said, someone told me, everybody says, everyone says
    """,
)

_UNTRUE = tuple(
    (*head, "that")
    for head in (("it", "is", "not", "true"), ("it", "is", "false"), ("it", "is", "wrong"), ("it", "is", "untrue"))
)
_CALLED = tuple(
    (word,)
    for word in words("mom mum mommy dad daddy grandma grandpa honey darling guys team folks everyone all people")
)
"""Names one calls people by, no statement by themselves."""
_PHRASES = {**_PHRASES, **dict.fromkeys(_CALLED, "skip")}

_QUESTION_HEADS = words(
    """
    who what where when why how which whose whom do does did is are am was were can could will would shall should
    may might have has had
    """
)
_REQUEST = pattern(r"^(?:hi |hey |hello |please |ok |okay )*(?:can|could|would|will) you (?:please |kindly )?")
_CONDITION = words("if unless whether suppose supposing imagine pretend hypothetically provided assuming otherwise")
_KIDDING = pattern(
    r"(?:^|\W)(?:just kidding|kidding|jk|joking|just a joke|yeah,? right|not really|as if|in your dreams|"
    r"april fools)(?:\W|$)"
)
"""Words that take back, when they stand alone, what was said before them."""
_JOKE = pattern(r"(?:^|\W)(?:lol|lmao|rofl|haha\w*|hehe\w*|/s)(?:\W|$)|[🙄😜🤪😏]")
_SHORT = 7
_FICTION = pattern(
    r"\b(?:in (?:the|my|a|this|that|his|her) (?:\w+ )?(?:story|novel|book|movie|film|game|dream|show|series|song|"
    r"play|poem|screenplay|"
    r"chapter|script|campaign)|the (?:character|protagonist|hero|villain|narrator)|fictional|role-?play(?:ing)?|"
    r"for example|"
    r"e\.g|such as when|the article|the book|the movie|the film|the news|headline)\b"
)


@dataclass(frozen=True, slots=True)
class Opened:
    """A sentence without its opener.

    source  who is said to have said it (`Tom says …`, `according to Tom`); `somebody` when it is nobody named
    stop    why the sentence is left alone; empty when it is not
    request whether it was put as a request to the listener (`can you …`)
    retracts whether it calls off what was said just before (`scratch that, …`)
    untrue  whether it says of what follows that it is not so (`it is not true that …`)
    """

    tokens: tuple[Token, ...]
    marks: frozenset[Mark] = frozenset()
    source: Noun | None = None
    stop: Literal["", "question", "condition", "joke", "fiction", "hedge"] = ""
    request: bool = False
    retracts: bool = False
    untrue: bool = False


def opened(text: str, end: str, tokens: Sequence[Token], cast: Cast) -> Opened:
    """Take the opener off a sentence."""
    result = Opened(tuple(tokens))
    if _KIDDING.search(text):
        return replace(result, stop="joke", retracts=len(result.tokens) <= _SHORT)
    if _JOKE.search(text):
        return replace(result, stop="joke")
    if _FICTION.search(text):
        return replace(result, stop="fiction")
    if any(token.low in _CONDITION for token in tokens):
        return replace(result, stop="condition")
    result = _stripped(_asked_after(result))
    if result.stop:
        return result
    denial = next((n for n in (5, 4) if _spelled(result.tokens[:n]) in _UNTRUE), 0)
    if denial and end != "?":
        return replace(_stripped(replace(result, tokens=result.tokens[denial:])), untrue=True)
    words = text[result.tokens[0].start :] if result.tokens else ""
    request = _REQUEST.match(words)
    if request:
        cut = result.tokens[0].start + request.end()
        result = replace(result, tokens=tuple(token for token in result.tokens if token.start >= cut), request=True)
        return _stripped(result)
    if not result.marks & {"asked_to_keep"} and _is_question(result.tokens, end):
        return replace(result, stop="question")
    result = _after_heading(_reported(result, cast))
    return replace(result, stop="hedge") if _quotes_speech(result) else result


def _asked_after(result: Opened) -> Opened:
    """`The garage code is 4821, please keep it`: what comes before, which somebody asks to have kept."""
    lows = [token.low for token in result.tokens]
    while lows and (result.tokens[len(lows) - 1].kind == "mark" or lows[-1] in ("please", "thanks")):
        lows.pop()
    if len(lows) < 5 or lows[-2] not in _KEEPING or lows[-1] not in ("it", "that", "this"):
        return result
    end = len(lows) - 2
    while end and (lows[end - 1] in ("please", "and", "so", "do", "just") or result.tokens[end - 1].kind == "mark"):
        end -= 1
    if end == len(lows) - 2:  # nothing sets the wish apart from what is said
        return result
    return replace(result, tokens=result.tokens[:end], marks=result.marks | {"asked_to_keep"})


_KEEPING = words("keep remember save store note memorise memorize")


def _spelled(tokens: Sequence[Token]) -> tuple[str, ...]:
    return tuple("is" if token.low == "'s" else token.low for token in tokens)


def _colon(tokens: Sequence[Token]) -> int:
    """The index of the first colon; -1 without one."""
    return next((index for index, token in enumerate(tokens) if token.text in (":", "：")), -1)


def _after_heading(result: Opened) -> Opened:
    """`Here is some news: I moved`: what follows the heading."""
    at = _colon(result.tokens)
    if 0 < at < 9 and result.tokens[at - 1].low in _HEADINGS and at + 2 < len(result.tokens):
        return replace(result, tokens=result.tokens[at + 1 :])
    return result


def _quotes_speech(result: Opened) -> bool:
    """Whether a colon opens somebody's words that were not recognised as reported: `The sign says: …`."""
    before = result.tokens[: max(_colon(result.tokens), 0)]
    return any(verb.lemma in _SAYING for token in before for verb in FORMS.get(token.low, ()))


_HEADINGS = words(
    "news update me introduction intro summary facts fact info information details status context things thing"
)


def _is_question(tokens: Sequence[Token], end: str) -> bool:
    if end == "?":
        return True
    if not tokens:
        return False
    if tokens[0].low in _QUESTION_HEADS:
        return not (len(tokens) > 1 and tokens[0].low == "do" and tokens[1].low == "not")
    return tokens[-1].low in ("right", "huh", "eh") and len(tokens) > 1 and tokens[-2].text == ","


def _stripped(opened_so_far: Opened) -> Opened:
    """Without the phrases of the table, greetings with a name and names called out."""
    tokens, marks, retracts = opened_so_far.tokens, set(opened_so_far.marks), opened_so_far.retracts
    for _ in range(6):
        tokens = _without_marks(tokens)
        lows = [token.low for token in tokens[:8]]
        phrase = next((phrase for phrase in _PHRASES if tuple(lows[: len(phrase)]) == phrase), None)
        if phrase is None:
            called = _vocative(tokens)
            if called is None:
                break
            tokens = called
            continue
        effect = _PHRASES[phrase]
        after = tokens[len(phrase) :]
        if phrase == ("i", "do", "not", "know") and name_at(after, 0) is not None:
            break  # a person not known, and no hedge
        if effect == "hedge":
            return replace(opened_so_far, tokens=tokens, stop="hedge")
        if phrase in _CALLED and after and after[0].text not in (",", "!", ":"):
            break
        if not _opens(phrase, after) or (effect == "retract" and after[0].kind != "mark"):
            break
        retracts = retracts or effect == "retract"
        if effect == "correct":
            marks.add("correction")
        elif effect == "keep":
            marks.add("asked_to_keep")
        tokens = after
    return replace(opened_so_far, tokens=tokens, marks=frozenset(marks), retracts=retracts)


def _without_marks(tokens: tuple[Token, ...]) -> tuple[Token, ...]:
    index = 0
    while index < len(tokens) and tokens[index].kind == "mark":
        index += 1
    return tokens[index:]


def _opens(phrase: tuple[str, ...], after: tuple[Token, ...]) -> bool:
    """Whether a phrase is an opener here and not the beginning of the statement itself (`Right now …`, `So tired`)."""
    if not after:
        return False
    if after[0].kind == "mark" or after[0].low == "that":
        return True
    if phrase in (("right",), ("no",), ("well",), ("note",), ("save",), ("sure",), ("look",)):
        return after[0].low in ("i", "we", "my", "he", "she", "they", "it") and phrase != ("right",)
    return True


def _vocative(tokens: tuple[Token, ...]) -> tuple[Token, ...] | None:
    """What follows a name called out at the head: `Marc, I moved`."""
    named = name_at(tokens, 0)
    if named and named[1] + 1 < len(tokens) and tokens[named[1]].text in (",", "!"):
        after = tokens[named[1] + 1]
        if after.low in ("my", "our") and any(token.text == "," for token in tokens[named[1] + 2 : named[1] + 5]):
            return None
        if after.low in ("i", "my", "we", "please", "our", "could", "can", "remind", "the", "just"):
            return tokens[named[1] + 1 :]
    return None


_SAYING = words("say tell mention report write claim announce confirm")


def _reported(result: Opened, cast: Cast) -> Opened:
    """A sentence that passes on what somebody said: its inner statement, with its source."""
    tokens = result.tokens
    if len(tokens) > 3 and tokens[0].low == "according" and tokens[1].low == "to":
        noun = noun_at(tokens, 2, cast)
        if noun is not None and noun.sort in ("name", "owned", "pronoun"):
            return replace(
                result, tokens=_without_marks(tokens[noun.end :]), source=noun, marks=result.marks | {"hearsay"}
            )
        return replace(result, stop="hedge")
    if len(tokens) > 3 and tokens[0].low == "i":
        heard = _heard(tokens, cast)
        if heard is not None:
            inner, noun = heard
            return replace(result, tokens=inner, source=noun, marks=result.marks | {"hearsay"})
    noun = noun_at(tokens, 0, cast)
    if noun is None or noun.sort not in ("name", "owned", "pronoun"):
        return result
    group = verb_group(tokens, noun.end)
    if (
        group is None
        or group.lemma not in _SAYING
        or group.negated
        or group.tense not in ("present", "past", "perfect")
    ):
        return result
    index = group.end
    if index < len(tokens) and tokens[index].low in ("me", "us"):
        index += 1
    elif group.lemma == "tell":
        return result
    if index < len(tokens) and tokens[index].kind == "time":
        index += 1
    if index < len(tokens) and tokens[index].low in ("that", ",", ":"):
        index += 1
    inner = tokens[index:]
    if len(inner) < 3 or noun_at(inner, 0, cast) is None:
        return result
    return replace(result, tokens=inner, source=noun, marks=result.marks | {"hearsay"})


def _heard(tokens: tuple[Token, ...], cast: Cast) -> tuple[tuple[Token, ...], Noun | None] | None:
    index = 1
    if tokens[index].low in ("just", "recently"):
        index += 1
    if tokens[index].low in ("heard", "hear"):
        index += 1
    elif tokens[index].low == "was" and tokens[index + 1].low == "told":
        index += 2
    else:
        return None
    source = None
    if index + 1 < len(tokens) and tokens[index].low in ("from", "by"):
        source = noun_at(tokens, index + 1, cast)
        if source is None:
            return None
        index = source.end
    if index < len(tokens) and tokens[index].low == "that":
        index += 1
    inner = tokens[index:]
    if len(inner) < 3 or noun_at(inner, 0, cast) is None:
        return None
    return inner, source
