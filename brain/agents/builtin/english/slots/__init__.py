"""What may stand in a slot of a frame, by the slot's name in a shape."""

from __future__ import annotations

from brain.agents.builtin.english.slots import names, options, phrases, values
from brain.agents.builtin.english.slots.phrases import Found, Scene, Slot

__all__ = ["SLOTS", "Found", "Scene", "Slot"]

SLOTS: dict[str, Slot] = {
    "place": names.place, "org": names.organisation, "named": names.named_organisation, "group": names.group,
    "person": names.person, "people": names.people,
    "colleagues": names.colleagues, "kin": names.kin, "name": names.new_name, "names": names.names,
    "role": names.role, "project": names.project, "thing": phrases.thing, "things": phrases.things,
    "langs": options.languages, "diet": options.diet, "condition": options.condition, "pet": options.pet,
    "species": options.species, "breed": options.breed, "doing": options.doing, "possession": options.possession,
    "vehicle": options.vehicle, "tool": options.tool, "tools": options.tools, "option": options.option,
    "kept": options.kept, "where": options.where, "medicine": options.medicine, "diabetic": options.diabetic,
    "value": values.value, "email": values.email, "phone": values.phone, "code": values.code, "handle": values.handle,
    "timezone": values.timezone, "pronouns": values.pronouns, "years": values.years, "phase": values.phase,
}  # fmt: skip
