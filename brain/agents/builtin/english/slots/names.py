"""Names: places, organisations, groups, people, projects, job titles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brain.agents.builtin.cast import Unclear
from brain.agents.builtin.english.nouns import NOT_NAMES, Noun, is_name_word, name_at, noun_at
from brain.agents.builtin.english.slots.phrases import STOPS, Found, Scene
from brain.agents.builtin.english.tokens import Token
from brain.agents.builtin.english.verbs import FORMS
from brain.agents.builtin.facts import Thing
from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import RELATIVES
from brain.agents.builtin.lexicon.places import NO_PLACE, PLACES
from brain.agents.builtin.lexicon.things import ROLE_HEADS


def place(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A place name; with the larger place after a comma as `(place, larger)`."""
    index = at
    while index < len(tokens) and tokens[index].low in (
        "downtown",
        "central",
        "northern",
        "southern",
        "eastern",
        "western",
    ):
        index += 1
    if index < len(tokens) and tokens[index].low in NO_PLACE:
        return
    found = _proper(scene, tokens, index, "Place")
    if found is None:
        found = _lower_place(scene, tokens, index)
    if found is None or (scene.cast.is_person(found[0]) and found[0].casefold() not in PLACES):
        return
    name, end = found
    if end + 1 < len(tokens) and tokens[end].text == ",":
        larger = _proper(scene, tokens, end + 1, "Place")
        if larger and not scene.cast.is_person(larger[0]):
            yield (scene.cast.thing(name, "Place"), scene.cast.thing(larger[0], "Place")), larger[1]
    yield (scene.cast.thing(name, "Place"), None), end


def organisation(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """The name of a company, school, club or team."""
    found = _proper(scene, tokens, at, "Organization")
    if found is None and scene.careless and at < len(tokens) and _plain_word(tokens[at]):
        found = (tokens[at].text, at + 1) if tokens[at].low not in NO_PLACE | PLACES else None
    if found is None:
        return
    held = scene.cast.find(found[0])
    if found[0].casefold() in PLACES and (held is None or isinstance(held, Unclear) or held.type != "Organization"):
        return
    if isinstance(held, Unclear) or (held is not None and held.type in ("Person", "Place")):
        return
    yield scene.cast.thing(found[0], "Organization"), found[1]


def named_organisation(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """An organisation whose name shows that it is one: with a capital, or known."""
    yield from organisation(replace(scene, careless=False), tokens, at)


def group(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """A team or club under its name: `the design team`, `the Falcon chess club`."""
    index = at + 1 if at < len(tokens) and tokens[at].low in ("the", "a", "our") else at
    words: list[str] = []
    while index < len(tokens) and len(words) < 5 and tokens[index].kind == "word":
        words.append(tokens[index].text)
        index += 1
        if tokens[index - 1].low in _GROUPS and len(words) > 1:
            yield Thing(" ".join(words), "Organization"), index
            return


_GROUPS = words("team club choir band orchestra union committee board association society group league squad guild")


def person(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A noun phrase that can mean a person; resolved by the reader."""
    noun = noun_at(tokens, at, scene.cast, objects=True)
    if noun is not None and noun.sort in ("i", "pronoun", "name", "owned", "you"):
        yield noun, noun.end


def people(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """One person or several, `Ana, Tom and Eva`, as a tuple of noun phrases."""
    nouns: list[Noun] = []
    index = at
    while True:
        found = next(person(scene, tokens, index), None)
        if found is None:
            break
        nouns.append(found[0])
        end = index = found[1]
        if index < len(tokens) and tokens[index].low in (",", "and"):
            index += 1
            if index < len(tokens) and tokens[index].low == "and":
                index += 1
            continue
        break
    if nouns:
        yield tuple(nouns), end


def colleagues(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """People where an organisation might stand as well: known ones, relatives, common first names."""
    for nouns, end in people(scene, tokens, at):
        if all(noun.sort in ("owned", "pronoun") or scene.cast.is_person(noun.words) for noun in nouns):
            yield nouns, end


def kin(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001
    """Relatives by their noun, one or several: `a sister`, `two kids`; the noun in the singular."""
    index = at
    while index < len(tokens) and (tokens[index].low in _COUNTS or tokens[index].kind == "number"):
        index += 1
    for length in (2, 1):
        words_said = " ".join(token.low for token in tokens[index : index + length])
        for noun in (words_said, words_said.removesuffix("s"), words_said.replace("children", "child")):
            if noun in RELATIVES and index + length <= len(tokens):
                yield noun, index + length
                return


_COUNTS = words("a an one two three four five six")


def new_name(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A name being given: capitals, a quotation, or one word of a writer without capitals."""
    if at < len(tokens) and tokens[at].kind == "quote":
        yield tokens[at].said.strip(), at + 1
        return
    found = name_at(tokens, at)
    if found is None and scene.careless and at < len(tokens) and _plain_word(tokens[at]):
        found = tokens[at].text.capitalize(), at + 1
    if found:
        yield found


def names(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """Names being given, `Miso and Tofu`."""
    found: list[str] = []
    index = end = at
    while (one := next(new_name(scene, tokens, index), None)) is not None:
        found.append(one[0])
        end = index = one[1]
        if index < len(tokens) and tokens[index].low in ("and", ",", "&"):
            index += 1
            continue
        break
    if found:
        yield tuple(found), end


def role(scene: Scene, tokens: Sequence[Token], at: int) -> Found:  # noqa: ARG001 - every slot takes the scene
    """A job title, article and praise left out: `senior data engineer`, `head of marketing`."""
    index = at
    while index < len(tokens) and tokens[index].low in ("a", "an", "the", "their", "our", "new", "former"):
        index += 1
    words: list[str] = []
    ends: list[tuple[str, int]] = []
    while index < len(tokens) and len(words) < 6 and tokens[index].kind == "word":
        token = tokens[index]
        if token.low in _JUDGING or (
            token.low in NOT_NAMES and token.low not in ("engineering", "marketing", "management")
        ):
            break
        words.append(token.text)
        index += 1
        if token.low in ("head", "vp", "director", "chief", "dean", "chair", "president") and _of_field(tokens, index):
            field, index = _of_field(tokens, index) or ("", index)
            ends.append((" ".join([*words, "of", field]), index))
            break
        if token.low == "owner" and len(words) > 1 and tokens[index - 2].low in _OWNED_AT_WORK:
            ends.append((" ".join(words), index))
        if token.low in ROLE_HEADS and not (token.low in _NEEDS_KIND and len(words) == 1):
            ends.append((" ".join(words), index))
    for title, end in reversed(ends):
        yield Thing(title if title.isupper() or title[1:2].isupper() else title.lower(), "Role"), end


_JUDGING = words(
    """
    good great bad terrible awful better best big huge slow fast careful heavy light proud born natural
    """
)


_OWNED_AT_WORK = words("product process business service data shop restaurant")
"""Of what an owner has a job; of a dog or a house it is none."""

_NEEDS_KIND = words("lead driver reader operator tester officer model cook")


def _of_field(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    if at + 1 < len(tokens) and tokens[at].low == "of" and tokens[at + 1].kind == "word":
        words = [tokens[at + 1].text]
        index = at + 2
        while index < len(tokens) and tokens[index].kind == "word" and tokens[index].low in _FIELD_WORDS:
            words.append(tokens[index].text)
            index += 1
        return " ".join(words).lower(), index
    return None


_FIELD_WORDS = words("and engineering design marketing development science research resources product sales staff")


def project(scene: Scene, tokens: Sequence[Token], at: int) -> Found:
    """A project: one memory knows, or a name with the word project."""
    noun = noun_at(tokens, at, scene.cast)
    if noun is None:
        return
    if noun.sort == "the" and noun.noun == "project" and noun.name:
        yield scene.cast.thing(noun.name, "Project"), noun.end
    elif noun.sort == "name":
        held = scene.cast.find(noun.words)
        if isinstance(held, Thing) and held.type == "Project":
            yield held, noun.end


def _proper(scene: Scene, tokens: Sequence[Token], at: int, kind: str) -> tuple[str, int] | None:
    """A run of capitals, `the` before and `&`, `of` inside included, or a known name of that type in any case."""
    for length in (4, 3, 2, 1):
        part = tokens[at : at + length]
        if len(part) == length and all(token.kind in ("word", "number") for token in part):
            words = " ".join(token.text for token in part)
            if any(held.type == kind for held in scene.cast.all(words)):
                return words, at + length
    index, words_found = at, list[str]()
    if index + 1 < len(tokens) and tokens[index].low == "the" and is_name_word(tokens[index + 1], first=False):
        following = name_at(tokens, index + 1)
        if following and following[0].split(" ")[0].casefold() in _THE_NAMES:
            words_found.append(tokens[index].text)
        index += 1
    begin = index
    while index < len(tokens) and len(words_found) < 7:
        token = tokens[index]
        joins = token.low in ("of", "and", "&", "for", "de", "du", "la", "am", "upon") and index > begin
        if (
            is_name_word(token, first=False)
            or (token.kind == "number" and index > begin)
            or (
                joins
                and index + 1 < len(tokens)
                and is_name_word(tokens[index + 1], first=False)
                and (
                    token.low in ("of", "&", "de", "du", "la", "am", "upon")
                    or (kind == "Organization" and token.low == "&")
                )
            )
        ):
            words_found.append(token.text)
        else:
            break
        index += 1
    return (" ".join(words_found), index) if index > begin else None


_THE_NAMES = words("hague netherlands philippines bronx bahamas gambia")


def _lower_place(scene: Scene, tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    for length in (3, 2, 1):
        words = " ".join(token.low for token in tokens[at : at + length])
        if words in PLACES and at + length <= len(tokens):
            return _title(words), at + length
    if scene.careless and at < len(tokens) and _plain_word(tokens[at]) and at + 1 == len(tokens):
        return _title(tokens[at].low), at + 1
    return None


def _title(said: str) -> str:
    return " ".join(_title_word(word) for word in said.split(" "))


def _title_word(word: str) -> str:
    if word in ("uk", "us", "usa"):
        return word.upper()
    return word if word in ("de", "the") else word.capitalize()


def _plain_word(token: Token) -> bool:
    return (
        token.kind == "word"
        and len(token.low) > 2
        and token.low not in NOT_NAMES
        and token.low not in STOPS
        and token.low not in FORMS
        and token.low
        not in ("home", "school", "university", "college", "work", "bed", "hospital", "town", "there", "here")
    )
