"""A small memory to ask about: what the dossier of a Recall would hold of two colleagues and what is theirs."""

from __future__ import annotations

from brain.agents.turns import (
    DossierEntry,
    KnownClaim,
    KnownCommitment,
    KnownEvent,
    KnownRule,
    RecallTurn,
    Ref,
    Vocabulary,
)
from tests.builtin.turns import ANA, FALCON, LI, MARC, WANG, entry, known

NOW = "2024-01-10T12:00:00.000Z"
MIA, EVA, TOM = Ref("C-20", "Mia", "Person"), Ref("C-22", "Eva", "Person"), Ref("C-23", "Tom Baker", "Person")
REX = Ref("C-21", "Rex", "Pet")
WIFI, PASSPORT = Ref("C-24", "office wifi", "Thing"), Ref("C-25", "passport", "Thing")


def _thing(number: int, name: str, kind: str) -> Ref:
    return Ref(f"C-{number}", name, kind)


PORTO, LISBON, ROME = _thing(40, "Porto", "Place"), _thing(41, "Lisbon", "Place"), _thing(42, "Rome", "Place")
ATHENS, BERLIN, MADRID = _thing(43, "Athens", "Place"), _thing(44, "Berlin", "Place"), _thing(45, "Madrid", "Place")
ACME, GLOBEX, INITECH = (_thing(46 + i, name, "Organization") for i, name in enumerate(("Acme", "Globex", "Initech")))
TEA, COFFEE, SUSHI = _thing(50, "tea", "Drink"), _thing(51, "coffee", "Drink"), _thing(52, "sushi", "Food")
BEIJING, SHANGHAI = _thing(60, "北京", "Place"), _thing(61, "上海", "Place")

CLAIMS: tuple[KnownClaim, ...] = (
    known(ANA, "lives_in", PORTO, since="2023-03", said="2023-04-01T09:00:00.000Z", number=1),
    known(ANA, "lives_in", LISBON, "was", until="2023-03", said="2022-05-01T09:00:00.000Z", number=2),
    known(ANA, "works_for", ACME, since="2021", number=3),
    known(ANA, "works_for", GLOBEX, "was", since="2015", until="2021", number=4),
    known(ANA, "has_role", _thing(53, "data engineer", "Role"), number=5),
    known(ANA, "prefers", _thing(54, "dark mode", "ColorScheme"), number=6),
    known(ANA, "prefers", TEA, number=7),
    known(ANA, "likes", SUSHI, number=8),
    known(ANA, "likes", _thing(55, "jazz", "Topic"), number=9),
    known(ANA, "dislikes", COFFEE, number=10),
    known(ANA, "allergic_to", _thing(56, "peanuts", "Food"), number=11),
    known(ANA, "speaks", "en", number=12),
    known(ANA, "speaks", "de", number=13),
    known(ANA, "sibling_of", MIA, number=14),
    known(ANA, "email", "ana@example.com", number=15),
    known(ANA, "birthday", "--05-05", number=16),
    known(ANA, "has_pet", REX, number=17),
    known(REX, "species", "dog", by=ANA, number=18),
    known(FALCON, "project_lead", MARC, by=ANA, since="2023-10", number=19),
    known(FALCON, "project_lead", ANA, "was", until="2023-10", by=ANA, number=20),
    known(FALCON, "project_phase", "testing", by=MARC, number=21),
    known(FALCON, "deadline", "2024-06-30", by=MARC, number=22),
    known(MARC, "lives_in", ATHENS, "disputed", said="2023-12-01T09:00:00.000Z", number=23),
    known(MARC, "lives_in", BERLIN, "disputed", by=ANA, said="2023-12-05T09:00:00.000Z", number=24),
    known(MARC, "works_for", INITECH, "was", until="2023-06", number=25),
    known(MIA, "lives_in", ROME, by=ANA, number=26),
    known(MIA, "lives_in", MADRID, "planned", by=ANA, since="2024-05", number=27),
    known(EVA, "lives_in", ROME, "hearsay", by=TOM, said="2023-11-20T09:00:00.000Z", number=28),
    known(WIFI, "has_code", "8841-AC", by=ANA, number=29),
    known(PASSPORT, "kept_in", _thing(57, "desk drawer", "Thing"), by=ANA, number=30),
    known(ANA, "owns", _thing(58, "sailing boat", "Thing"), "withdrawn", number=31),
    known(MARC, "speaks", "el", number=32),
    known(MARC, "partner_of", Ref("C-26", "Anna", "Person"), number=33),
    known(
        MARC, "has_condition", _thing(59, "asthma", "HealthCondition"), "denied", against=(MARC,), by=MARC, number=34
    ),
    known(LI, "lives_in", SHANGHAI, since="2023-03", number=35),
    known(LI, "lives_in", BEIJING, "was", until="2023-03", number=36),
    known(LI, "likes", _thing(62, "火锅", "Food"), number=37),
    known(LI, "dislikes", _thing(63, "咖啡", "Drink"), number=38),
    known(LI, "sibling_of", Ref("C-64", "小美", "Person"), number=39),
    known(LI, "works_for", _thing(65, "腾讯", "Organization"), number=40),
    known(LI, "birthday", "--05-20", number=41),
    known(WANG, "allergic_to", _thing(66, "花生", "Food"), number=42),
    known(WANG, "project_lead", LI, "withdrawn", number=43),
    known(ANA, "plays_instrument", _thing(67, "cello", "Topic"), number=44),
)
_LUNCH, _SIGNED = "2024-01-09", "2024-01-08"


def _event(number: int, summary: str, first: str, last: str, *who: Ref) -> KnownEvent:
    return KnownEvent(f"C-{number}", summary, f"{first}T00:00:00.000Z", f"{last}T23:59:59.999Z", who, NOW)


EVENTS = (
    _event(70, "Ana Ruiz met Marc Xenakis for lunch", _LUNCH, _LUNCH, ANA, MARC),
    _event(71, "Ana Ruiz bought a new bike", "2023-12-01", "2023-12-31", ANA),
    _event(72, "Marc Xenakis signed the contract", _SIGNED, _SIGNED, MARC),
    _event(73, "李明和王芳吃了午饭", _LUNCH, _LUNCH, LI, WANG),
)
COMMITMENTS = (
    KnownCommitment("C-80", "send the report", "pending", ANA, (MARC,), "2024-01-12T23:59:59.999Z"),
    KnownCommitment("C-81", "dentist appointment", "pending", ANA, (), "2024-01-12T15:00:59.999Z"),
    KnownCommitment("C-82", "review the budget", "fulfilled", MARC, (), "2024-01-05T23:59:59.999Z"),
    KnownCommitment("C-83", "把报告发给王芳", "pending", LI, (WANG,), "2024-01-12T23:59:59.999Z"),
)
RULES = (KnownRule("C-90", "Always answer in English", True),)


def dossier() -> tuple[DossierEntry, ...]:
    """An entry for everything the claims are about."""
    things = {ref.id: ref for claim in CLAIMS for ref in (claim.subject, claim.object) if ref.id}
    return tuple(
        entry(ref, *(claim for claim in CLAIMS if ref.id in (claim.subject.id, claim.object.id)))
        for ref in things.values()
    )


def recall_turn(question: str, vocabulary: Vocabulary, asked_by: Ref | None = None) -> RecallTurn:
    return RecallTurn(question, NOW, NOW, asked_by, None, dossier(), EVENTS, COMMITMENTS, RULES, vocabulary)
