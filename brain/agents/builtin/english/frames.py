"""What English verbs say, as tables.

A frame is a verb, the shape of what follows it, and what it says of the subject. `says` lists `effect relation slot`:

    state   it is so as long as the verb's tense says
    start   it became so; the sentence tells of a change
    end     it stopped being so
    former  it was so until what else the frame says began (`I moved from Porto to Lisbon`)
    fact    it is so whatever the tense (`I was born in Rome`)
    taste   like state; denied, it says the relation after the slash (`likes/dislikes`)
    of      like state, said of the slot: the subject is the value (`Ana leads Falcon`: Falcon's lead is Ana)
    pair    said of two slots, `first>second`, whoever the subject is (`I keep my passport in the safe`)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from brain.agents.builtin.english.shapes import shape_of

Effect = Literal["state", "start", "end", "former", "fact", "taste", "of", "pair"]


@dataclass(frozen=True, slots=True)
class Say:
    """One thing a frame says; `denied` is the relation a negated `taste` says instead."""

    effect: Effect
    relation: str
    slot: str
    denied: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A verb in one use.

    sure  the use leaves no doubt that its subject is a person, so that an unknown capitalised word at the head of the
          sentence may be taken for one
    """

    verbs: frozenset[str]
    shape: str
    says: tuple[Say, ...]
    sure: bool = False


def _frame(verbs: str, shape: str, says: str, *, sure: bool = False) -> Frame:
    shape_of(shape)
    found = []
    for item in says.split(";"):
        effect, relation, slot = item.split()
        relation, _, denied = relation.partition("/")
        found.append(Say(effect, relation, slot, denied))  # type: ignore[arg-type]
    return Frame(frozenset(verbs.split()), shape, tuple(found), sure)


AT_WORK = "back? at <named:org>"
"""`I'm at Initech now`: where somebody works, or only where they are; the reader tells which."""

PERSON_FRAMES: tuple[Frame, ...] = (
    # where people live and come from
    _frame("live reside", "in|near? <place>", "state lives_in place", sure=True),
    _frame("live reside", "with <person> in <place>", "state lives_in place", sure=True),
    _frame("be", "based|living|resident|located in <place>", "state lives_in place"),
    _frame(
        "move relocate", "back? from <place:old> back? over? to <place>", "former lives_in old; start lives_in place"
    ),
    _frame("move relocate", "back? over? to <place>", "start lives_in place"),
    _frame("move relocate", "back? to <place> from <place:old>", "former lives_in old; start lives_in place"),
    _frame("settle", "down? in <place>", "start lives_in place", sure=True),
    _frame("be", "born in <place>", "fact comes_from place", sure=True),
    _frame("be", "born and raised in <place>", "fact comes_from place", sure=True),
    _frame("grow", "up in <place>", "fact comes_from place", sure=True),
    _frame("be come", "originally? from <place>", "fact comes_from place"),
    # work and study
    _frame("work", "with <colleagues> at|for <org>", "state works_for org; state knows colleagues", sure=True),
    _frame("work", "with <colleagues>", "state knows colleagues", sure=True),
    _frame("work", "for|at|with <org>", "state works_for org", sure=True),
    _frame("work", "for|at|with <org> as <role>", "state works_for org; state has_role role", sure=True),
    _frame("work", "at|in|for <thing> as <role>", "state has_role role", sure=True),
    _frame("work", "as <role>", "state has_role role", sure=True),
    _frame("work", "as <role> at|for|with|in <org>", "state has_role role; state works_for org", sure=True),
    _frame("work", "for|at|with <org> in <place>", "state works_for org", sure=True),
    _frame("work", "on <project>", "state works_on project"),
    _frame("be", "employed by|at <org>", "state works_for org"),
    _frame("be", "<role>", "state has_role role"),
    _frame("be", "<role> of|on|for <project>", "state has_role role; state works_on project"),
    _frame("be", "<role> at|for|with|of <org>", "state has_role role; state works_for org"),
    _frame("be", "at|with <org> as <role>", "state works_for org; state has_role role"),
    _frame("be", AT_WORK, "state works_for org"),
    _frame("join", "<group>", "start member_of group"),
    _frame("join", "<named:org> as <role>", "start works_for org; start has_role role"),
    _frame("join", "<named:org>", "start works_for org"),
    _frame("start begin", "working|work at|with|for <org>", "start works_for org"),
    _frame("start begin", "working|work? as <role> at|with|for <org>", "start has_role role; start works_for org"),
    _frame("start begin", "working|work as <role>", "start has_role role"),
    _frame("start begin", "at <org>", "start works_for org"),
    _frame("start begin", "at <org> as <role>", "start works_for org; start has_role role"),
    _frame("start begin get take have accept", "a|an|my|the new? job|position at|with <org>", "start works_for org"),
    _frame(
        "start begin get take have accept",
        "a|an|my|the new? job|position as <role> at|with|for <org>",
        "start has_role role; start works_for org",
    ),
    _frame("get take accept", "a|an|the new? job|position as <role>", "start has_role role"),
    _frame("become", "<role>", "start has_role role"),
    _frame("become", "<role> at|of|for <org>", "start has_role role; start works_for org"),
    _frame("be get", "promoted|appointed to|as? <role>", "start has_role role"),
    _frame("be get", "made|named|hired|appointed as? <role>", "start has_role role"),
    _frame("be get", "hired by|at <org>", "start works_for org"),
    _frame("leave quit", "<named:org>", "end works_for org"),
    _frame("leave quit", "my|his|her|their job|position at|with <org>", "end works_for org", sure=True),
    _frame("resign", "from <named:org>", "end works_for org", sure=True),
    _frame("leave quit", "<named:old> for|to <named:org>", "former works_for old; start works_for org"),
    _frame("leave", "<place:old> for <place>", "former lives_in old; start lives_in place"),
    _frame("leave quit", "<named:old> to join <named:org>", "former works_for old; start works_for org"),
    _frame("leave quit", "<group>", "end member_of group"),
    _frame("report", "to <person>", "state reports_to person"),
    _frame("be", "managed by <person>", "state reports_to person"),
    _frame("study", "at <org>", "state studies_at org", sure=True),
    _frame("study", "<thing> at <org>", "state studies_at org", sure=True),
    _frame("start begin", "studying at <org>", "start studies_at org"),
    _frame("graduate", "from <org>", "end studies_at org", sure=True),
    _frame("be", "a|an? active? member of <group>", "state member_of group"),
    _frame("be", "a|an? active? member of <org>", "state member_of org"),
    _frame("be", "on|in <group>", "state member_of group"),
    # projects
    _frame("lead run manage head coordinate", "<project>", "of project_lead project"),
    _frame("be", "in charge of <project>", "of project_lead project"),
    _frame("be", "responsible for <project>", "of project_lead project"),
    _frame("be", "the? project? lead|leader|head|manager|owner of|for|on <project>", "of project_lead project"),
    # family and acquaintances
    _frame("be", "married|engaged to <person>", "state partner_of person", sure=True),
    _frame("get", "married|engaged to <person>", "start partner_of person", sure=True),
    _frame("marry", "<person>", "start partner_of person"),
    _frame("divorce", "<person>", "end partner_of person"),
    _frame("be get", "divorced from <person>", "end partner_of person", sure=True),
    _frame("be", "good|close|best|old? friends with <person>", "state friend_of person"),
    _frame("know", "<people>", "state knows people"),
    _frame("know", "<people> from|through|since <thing>", "state knows people"),
    # tastes
    _frame("prefer favour favor", "<thing> over|to|than <thing:other>", "state prefers thing"),
    _frame("prefer favour favor", "<thing> instead of <thing:other>", "state prefers thing"),
    _frame("prefer", "<thing> rather than <thing:other>", "state prefers thing"),
    _frame("prefer favour favor", "<thing>", "state prefers thing"),
    _frame("like love enjoy", "<thing> better|more than <thing:other>", "state prefers thing"),
    _frame("like love adore enjoy", "<things>", "taste likes/dislikes things"),
    _frame("like love", "<doing>", "taste likes/dislikes doing"),
    _frame("hate dislike", "<things>", "state dislikes things"),
    _frame("hate", "<doing>", "state dislikes doing"),
    _frame("be", "really|totally? into <things>", "taste likes/dislikes things"),
    _frame("be", "a|an|no? big|huge|great|real? fan of <things>", "taste likes/dislikes things"),
    _frame("be", "fond of <things>", "taste likes/dislikes things"),
    _frame("be", "crazy|mad|passionate about <things>", "taste likes/dislikes things"),
    _frame("be", "interested in <things>", "state interested_in things"),
    # health and eating
    _frame("be", "severely|highly|badly|very? allergic to <things>", "state allergic_to things"),
    _frame("have", "a|an severe|serious|bad? <thing> allergy", "state allergic_to thing"),
    _frame("have", "an allergy to <things>", "state allergic_to things"),
    _frame("be", "<diet>", "state follows_diet diet"),
    _frame("follow keep eat", "<diet> diet|food?", "state follows_diet diet"),
    _frame("be", "on <diet> diet", "state follows_diet diet"),
    _frame("go become turn", "<diet>", "start follows_diet diet"),
    _frame("switch change", "to <diet> diet|food?", "start follows_diet diet"),
    _frame("have", "<condition>", "state has_condition condition"),
    _frame("have", "been? diagnosed with <condition>", "start has_condition condition"),
    _frame("be get", "diagnosed with <condition>", "start has_condition condition"),
    _frame("be", "<diabetic>", "state has_condition diabetic"),
    _frame("take", "<medicine>", "state takes_medication medicine"),
    _frame("stop quit", "taking <medicine>", "end takes_medication medicine"),
    # possessions and tools
    _frame("own", "<possession>", "state owns possession"),
    _frame("have", "<vehicle>", "state owns vehicle"),
    _frame("sell", "<vehicle>", "end owns vehicle; end drives vehicle"),
    _frame("sell", "<possession>", "end owns possession"),
    _frame("drive", "<vehicle>", "state drives vehicle"),
    _frame("use", "<tools>", "state uses tools"),
    _frame("use", "<tools> for|as|at|on <thing>", "state uses tools"),
    _frame("switch migrate change move", "from <tool:old> to <tool>", "former uses old; start uses tool"),
    _frame("switch migrate", "over? to <tool>", "start uses tool"),
    _frame("switch change", "from <thing:old> to <option>", "start prefers option"),
    _frame("keep", "<kept> in <where>", "pair kept_in kept>where"),
    _frame("change update", "my|his|her|our? new? phone|mobile|cell? number to <phone>", "start phone phone"),
    _frame("change update", "my|his|her|our? new? email|e-mail address? to <email>", "start email email"),
    # languages, names, ages
    _frame("speak know", "<langs>", "state speaks langs"),
    _frame("be", "fluent|native in? <langs>", "state speaks langs"),
    _frame("be", "a|an native <langs> speaker", "state speaks langs"),
    _frame("go", "by <name>", "state also_known_as name"),
    _frame("be", "also? known as <name>", "state also_known_as name"),
    _frame("be", "<years> years? old", "state age years"),
)
"""Frames whose subject is a person. The first that fits without leaving words over wins, so longer ones come first
where one is the beginning of another."""

PROJECT_FRAMES: tuple[Frame, ...] = (
    _frame("be", "led|run|managed|headed by <person>", "state project_lead person"),
    _frame("be", "in|at the? <phase> phase|stage now?", "state project_phase phase"),
    _frame("be", "in the? <phase> phase|stage?", "state project_phase phase"),
    _frame("enter reach", "the? <phase> phase|stage", "start project_phase phase"),
    _frame("move go", "(from <phase:old>)? into|to the? <phase> phase|stage", "start project_phase phase"),
    _frame("move go", "from <phase:old> to <phase>", "start project_phase phase"),
)
"""Frames whose subject is a project."""

PET_FRAMES: tuple[Frame, ...] = (
    _frame("be", "a|an <breed>", "fact breed breed"),
    _frame("be", "<years> years? old", "state age years"),
    _frame("be", "allergic to <things>", "state allergic_to things"),
)
"""Frames whose subject is an animal with a name."""
