"""What English questions look like: the words that make a question one of a kind."""

from __future__ import annotations

from brain.agents.builtin.lexicon import words
from brain.agents.builtin.lexicon.people import PETS
from brain.agents.builtin.text import pattern

LEADS = pattern(
    r"^(?:(?:hi|hello|hey|please|ok|okay|so|and|well|quick question|tell me|remind me|i want to know|i wonder|"
    r"i would like to know|do you (?:know|remember)|can you tell me|could you tell me|can you remind me|any idea|"
    r"please tell me)[,:]? )+(?:again )?(?:if |whether )?"
)
CHECK = pattern(r"^(?:do|does|did|is|are|was|were|has|have|had|can|will)\b")
TIME = pattern(
    r"^(?:when|(?:since|until|till) when|how long|(?:on |in |by |until |since )?(?:what|which) (?:date|day|year|month|"
    r"time))\b"
)
END = pattern(
    r"^(?:until|till) when\b|\b(?:leave|left|leaving|quits?|quit|stop(?:ped)?|end(?:ed|s)?|retired?|resign(?:ed)?|"
    r"finish(?:ed)?|gave up|give up|split up|broke up|divorced)\b"
)
COUNT = pattern(r"\bhow many\b")
FORMER = pattern(
    r"\b(?:used to|use to|before|previous(?:ly)?|former(?:ly)?|originally|earlier|in the past|back then|ex-\w+|"
    r"old (?:job|address|employer|phone|number|company|boss|role))\b"
)
PAST = pattern(
    r"^(?:where|who|what|which|whom|how long|whose)\b.*\b(?:did|was|were)\b|^(?:did|was|were|had)\b|"
    r"^(?:has|have) .*\b(?:ever|been|lived|worked|used|liked|had|owned|led|studied)\b|"
    r"^(?:who|which) (?:\w+ )?(?:has |have |had )?(?:ever )?(?:been|lived|worked|used|liked|loved|owned|led|"
    r"studied|ran|knew|drove|spoke|preferred|managed|headed|reported)\b"
)
PROFILE = pattern(
    r"^(?:(?:can|could|would) you |please )*"
    r"(?:what (?:do|can|could) (?:you|we) (?:know|tell me|remember|say)|"
    r"what(?: is|'s) (?:known|on record|stored) (?:about|of)|what (?:do|does) (?:you|memory|the memory) (?:have|hold|"
    r"know) (?:on|about)|tell me (?:everything |all |all you know |more |something )?about|(?:give me |show me )?"
    r"(?:an? |the )?(?:short |brief )?(?:summary|profile|overview|description) (?:of|for)|describe|"
    r"summari[sz]e|introduce|"
    r"everything (?:you know )?about|who (?:exactly )?is this)\b"
)
EVENTS = pattern(
    r"\bwhat happened\b|^(?:did|has|have|when did|when was|where did|who did|whom did|what did|what has|what have|"
    r"who)\b"
)
COMMITMENTS = pattern(
    r"\b(?:promis(?:e|ed|es|ing)|commit(?:ment|ments|ted)?|owe[sd]?|owing|to-?dos?|tasks?|plan(?:s|ned|ning)|"
    r"(?:have|has) \w+(?: \w+)? to do|plan (?:to|for|on)|"
    r"what(?:'s| is)?(?: still)? (?:open|pending|outstanding|left to do|unfinished)|"
    r"reminders?|appointments?|upcoming|supposed to|going to|need(?:s)? to|have to|has to|due|overdue|agenda|"
    r"schedule[d]?|obligations?|open items?|action items?)\b|^(?:will|when will|what will)\b"
)
CHANGE = pattern(
    r"\b(?:chang(?:e|ed|es|ing)|mov(?:e|ed|es)|shift(?:ed|s)?|postponed?|delay(?:ed)?|extend(?:ed)?|"
    r"push(?:ed)? (?:back|out)|brought forward|slip(?:s|ped)?|updated?|different|still the same|the same)\b"
)
"""Asks whether a value is another than before."""
ALONE = pattern(r"\b(?:single|unmarried|unattached)\b|单身|未婚")
"""Asks whether there is nobody."""
TO_VALUE = pattern(r"\bto\b|[到为成]")
FUTURE = pattern(r"\bwill\b|\bgoing to\b|\bplan(?:s|ning)? to\b")
OWING = pattern(r"\b(?:owe[sd]?|owing|promis(?:e|ed|es|ing)|committed)\b")
RULES = pattern(
    r"\b(?:standing (?:rules?|instructions?)|house rules|how should (?:you|i|we) (?:answer|reply|respond|talk|"
    r"write|address)|"
    r"(?:any|what|which) (?:rules?|constraints?|guidelines?))\b"
)
SOURCES = pattern(
    r"^(?:and )?(?:who (?:has |have |was it (?:that|who) )?(?:ever )?(?:said|says|say|told(?: you| me| us)?|"
    r"claim(?:s|ed)|mention(?:s|ed)|reported|stated|denie[sd]|confirm(?:s|ed))\b|"
    r"(?:how|since when|why) do you (?:know|think|believe)\b|where (?:did|do) you (?:hear|learn|get|know|have)\b|"
    r"what makes you (?:think|believe|say)\b|according to whom?\b|from whom\b|on what basis\b|"
    r"(?:what|who) is (?:the|your) (?:source|evidence|basis)\b|what(?:'s| is)? your source\b|"
    r"when did (?:\w+ ){1,3}(?:say|tell|mention|claim)\b)"
)
WHO = pattern(
    r"^(?:who|which (?:people|person|persons|of them)|(?:does|did|has|is there) any(?:body|one)(?: who)?) "
    r"(?:(?:else|all|has|have|had|ever|once|used to|currently|now|still|also|did|does|already|previously|formerly) )*"
)
"""A question for people, whatever stands between "who" and what they do."""

SAYINGS = pattern(
    r"^what (?:did|has|does|do|have|else did|else has) (?P<who>.+?) (?:say|said|tell|told|mention|mentioned|claim|"
    r"claimed|report|reported|think|thinks)\b"
)
GENERIC = words(
    """
    what where when who whom whose which why how do does did is are was were has have had can could will would should
    may might the a an of to in on at for from with about by and or not no any some all every this that these those it
    its there here i me my mine we us our you your he him his she her they them their now currently today still ever
    again already else also please know tell remember record memory much many long since time date day year month last
    next week ago first than then until till
    anything something everything happened happen be been so if 's got get really as into before after
    """
)
HARMLESS = words(
    """
    exactly exact actually actual present presently nowadays full new current latest main official primary name names
    named person people someone somebody anyone anybody everyone everybody person's place places thing things kind kinds
    type types sort sorts fact true correct recorded known one ones two both either usually often always total details
    detail info information go goes going went use uses used call calls called give gives gave said say says
    told claim claimed claims mention mentioned hear heard learn learned report reported mean just
    previous previously former formerly earlier originally past old ever once used back live lives lived living stay
    join joined joins start starts started starting begin began begun leave left leaving quit quits stop stopped end
    ended ends finish finished retire retired resign resigned move moved moving take takes took become became make made
    come came become hi hello hey ok okay well more most very too only currently won't don't ignore rules follow
    have having work works worked working whole list there's favourite favorite whats like likes am were nice good
    man woman guy team project company
    """
)
"""Words that narrow a question no further than its relation and names do."""

OCCASIONS = words("appointment appointments visit meeting party wedding birthday checkup lesson")
ADVICE = pattern(
    r"^(?:what|where|how|which|who|when) (?:should|could|would|can|may|might)\b|^(?:can|may|could|should) (?:i|we)\b"
)
SELF = words("i me my mine we our us ours myself")
GROUP = words("we our us ours")
PET_WORDS = frozenset(PETS) | {f"{name}s" for name in PETS}
VALUES = words("Place Topic Food Drink Role Diet HealthCondition Substance Tool")
"""Types a question is seldom about."""
