"""What "my X is Y" says, by the noun: kin, contact, dates, favourites, codes."""

from __future__ import annotations

from dataclasses import dataclass

from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import FEMALE, MALE, RELATIVES


@dataclass(frozen=True, slots=True)
class Link:
    """How a relative is said in predicates; `flip` when the relative is the subject (`my mother is my parent`)."""

    relation: str
    flip: bool = False

    @property
    def key(self) -> str:
        """The relation as seen from the one who says "my"."""
        return f"~{self.relation}" if self.flip else self.relation


KIN: dict[str, Link] = {
    "sibling": Link("sibling_of"),
    "parent": Link("parent_of", flip=True),
    "child": Link("parent_of"),
    "spouse": Link("partner_of"),
    "partner": Link("partner_of"),
    "relative": Link("relative_of"),
    "friend": Link("friend_of"),
    "colleague": Link("knows"),
    "manager": Link("reports_to"),
    "acquaintance": Link("knows"),
    "service": Link("client_of"),
}
_SERVING = words("doctor dentist therapist lawyer accountant trainer")


def link_of(noun: str) -> Link | None:
    """The predicate that relates a person to their `noun`."""
    if noun in _SERVING:
        return KIN["service"]
    kin = RELATIVES.get(noun)
    return KIN[kin] if kin else None


def gender_of(noun: str) -> str | None:
    """Whether a relative is called he or she."""
    last = noun.split(" ")[-1]
    return "female" if last in FEMALE else "male" if last in MALE else None


@dataclass(frozen=True, slots=True)
class Attribute:
    """`my <noun> is <slot>`.

    slot  of `slots.py`, or `time` for a date told by a time expression
    """

    relation: str
    slot: str


def _attributes(table: dict[str, str]) -> dict[str, Attribute]:
    found = {}
    for says, nouns in table.items():
        relation, slot = says.split()
        found.update({noun.strip(): Attribute(relation, slot) for noun in nouns.split(",")})
    return found


ATTRIBUTES: dict[str, Attribute] = _attributes(
    {
        "name name": "name, full name, first name, last name, surname, real name",
        "also_known_as name": "nickname, nick, alias, stage name, pen name, maiden name, former name",
        "email email": "email, e-mail, email address, e-mail address, mail address, work email, private email, "
        "personal email, new email",
        "phone phone": "phone, phone number, number, telephone, telephone number, mobile, mobile number, cell, "
        "cell number, "
        "cell phone number, mobile phone number, new number, work number, new phone number",
        "birthday date": "birthday, date of birth, birth date, birthdate, bday",
        "anniversary date": "anniversary, wedding anniversary",
        "address value": "address, home address, postal address, mailing address, new address",
        "timezone timezone": "timezone, time zone, current timezone",
        "pronouns pronouns": "pronouns",
        "has_role role": "job, job title, title, position, role, profession, occupation, new job, new role, "
        "current role",
        "works_for org": "employer, company, new employer, current employer",
        "age years": "age",
        "speaks langs": "native language, mother tongue, first language, second language",
        "comes_from place": "hometown, home town, birthplace, birth place",
        "follows_diet diet": "diet",
        "project_lead person": "lead, project lead, leader, owner, project manager, project owner, manager",
        "project_phase phase": "phase, stage, current phase, current stage",
        "deadline date": "deadline, due date",
        "species species": "species",
        "breed breed": "breed",
    }
)
"""Attributes by the noun that names them."""

PERSONAL = words(
    """
    name also_known_as email phone birthday anniversary address timezone pronouns has_role works_for age speaks
    comes_from follows_diet
    """
)
OF_PROJECTS = frozenset(("project_lead", "project_phase", "deadline"))
OF_PETS = frozenset(("name", "birthday", "age", "breed", "species"))

CODE_HEADS = frozenset(("code", "passcode", "combination", "pin"))
"""The last word of what has a code: `door code`, `locker combination`."""

ACCOUNTS = words(
    """
    github gitlab twitter instagram telegram linkedin reddit discord slack skype mastodon bluesky steam
    """
)
"""Services a name on which is worth keeping."""
