"""How relations are asked for and told, in English and Chinese: all of them, the likeliest to be meant first."""

from __future__ import annotations

from brain.agents.builtin.english.owned import Link
from brain.agents.builtin.recall.relation import Relation, Telling
from brain.agents.builtin.recall.relations_people import PEOPLE
from brain.agents.builtin.recall.relations_tastes import TASTES
from brain.agents.builtin.recall.relations_things import THINGS
from brain.agents.builtin.recall.relations_work import WORK
from brain.agents.builtin.text import Language

__all__ = ["RELATIONS", "Relation", "Telling", "telling_of"]

RELATIONS: tuple[Relation, ...] = (*WORK, *PEOPLE, *TASTES, *THINGS)


def of_kin(link: Link | None) -> Relation | None:
    """The relation that a relative's noun asks for; None for a noun that says nothing of kin."""
    if link is None:
        return None
    asked = (one for one in RELATIONS if one.predicate == link.relation)
    return next((one for one in asked if one.by_value == link.flip or link.relation != "parent_of"), None)


OF_PETS = next(one for one in RELATIONS if one.predicate == "has_pet")


def telling_of(predicate: str, language: Language) -> Telling:
    """How a predicate is told; by its own words when the table does not know it."""
    for relation in RELATIONS:
        if relation.predicate == predicate and not relation.by_value:
            return relation.telling[language]
    words = predicate.replace("_", " ")
    if language == "zh":
        return Telling(f"{{s}} {words} {{o}}", f"{{s}} 曾 {words} {{o}}", f"{{s}} {words}")
    return Telling(f"{{s}}: {words} {{o}}", f"{{s}}: formerly {words} {{o}}", f"“{words}” of {{s}}")
