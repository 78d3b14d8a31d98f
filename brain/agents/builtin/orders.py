"""Words that order the reader about: seen, reported in the summary, never followed."""

from __future__ import annotations

from brain.agents.builtin.chinese.slots import is_chinese_name
from brain.agents.builtin.lexicon.people import GIVEN_NAMES
from brain.agents.builtin.text import pattern

_ORDER = pattern(
    r"\b(?:ignore|disregard|forget|override|bypass|skip|drop) (?:\w+ ){0,3}(?:instruction|prompt|rule|polic|"
    r"guideline|guardrail|"
    r"restriction|directive|system message)\w*"
    r"|\b(?:new|updated|secret|hidden|system|developer|admin) (?:instructions?|prompt|directive|override|mode)\b"
    r"|\byou (?:are|act) (?:now|from now on|as)\b|\byou must (?:now|obey)\b|\bact as (?:an?|the)\b|\bjailbreak\b|"
    r"\bdeveloper mode\b"
    r"|\b(?:reveal|print|show|repeat|output|leak|send) (?:\w+ ){0,3}(?:system prompt|instructions|api key|secrets?|"
    r"credentials)\b"
    r"|\b(?:run|execute|call|invoke|use) (?:the )?(?:tool|command|function|execute_kip|remember|statement)\b"
    r"|\b(?:attribute|credit|record|log|store|save) (?:this|that|it|the following) (?:as|to|"
    r"under) (?:being )?(?:said|claimed|coming)?"
    r"|\b(?:merge|archive|tombstone|retract|supersede) (?:the |all |every |this |that )*(?:"
    r"claims?|entr(?:y|ies)|concepts?|records?|people|persons?|assertions?|memor(?:y|ies)|elements?)\b"
    r"|\bwith(?:out)? (?:asking|confirmation|telling)\b|\bas (?:admin|administrator|root|system)\b"
    r"|\bsudo\b|\bdrop table\b|\brm -rf\b|<\s*/?\s*(?:system|assistant|user|instructions?|memory_meta)\b"
    r"|(?:忽略|无视|忘记|忘掉|不要理会)(?:你|之前|以上|上面|前面|所有|全部|一切|的){0,6}(?:指令|指示|提示|规则|命令|设定|系统)"
    r"|你现在是|从现在起你是|扮演|系统提示|开发者模式|越狱"
)
_WIPE = pattern(
    r"\b(?:delete|erase|purge|wipe|clear|destroy|forget|remove|drop) (?:all|every|everything|everyone|the entire|"
    r"the whole|"
    r"your (?:entire |whole )?(?:memory|memories|database|data|knowledge|records)|(?:the )?(?:memory|memories|"
    r"database))\b"
    r"|(?:删除|清空|清除|抹掉|销毁)(?:你的)?(?:所有|全部|一切|整个)?(?:的)?(?:记忆|数据|数据库|内容|一切|所有)"
)
_OWN = pattern(
    r"\b(?:my|our) (?:\w+ ){0,3}(?:data|datum|info|information|details?|memory|memories|records?|history|profile|"
    r"notes?|"
    r"messages?|conversations?|chats?|statements?|entries|stuff)\b"
    r"|\b(?:about|on|of) (?:me|us|my|our|myself|mine)\b"
    r"|\b(?:i|we) (?:have |ever |have ever )?(?:said|told|shared|wrote|gave)\b"
    r"|(?:关于|有关)我|我(?:们)?(?:自己)?(?:的|说|告诉|提供|分享)"
)
"""What a wish to be forgotten is about: the speaker's own."""
_OTHERS = pattern(
    r"\b(?:every(?:body|one)|all (?:the )?(?:users|people|others)|other (?:users|people)|others)\b"
    r"|其他人|所有人|别人|大家"
)
_KIP = pattern(
    r"\b(?:MUTATE|UPSERT|ENSURE|PURGE|TRANSITION|SUPERSEDING|DEFINE|ASSERT|MERGE|FIND|CREATE)\s*(?:\(|\{|CONCEPT|PREDICATE|PROPOSITION|"
    r"EVIDENCE|ACTIVITY|ASSERTION|PAYLOAD|:)|\bCONFIRM \"?PURGE",
    ignore_case=False,
)
_ROLE_LINE = pattern(
    r"^\W*(?:system|assistant|user|developer|tool|human|ai|admin|root|instruction|系统|助手|用户)\s*[:：]"
)
_TRANSCRIPT = pattern(r"^[\p{Lu}\p{Han}][\pL\pN_' -]*[:：] ?\S", ignore_case=False)
_NAME_LENGTH = 32
_SPEAKS = pattern(r"^(?:i|i'\w+|my|we|our|me)\b|^[我咱]")
_LABELS = pattern(
    r"^(?:ps|p\.s|note|update|edit|correction|fyi|reminder|btw|news|my|the|our|to|question|answer|i|also|first|second|wifi|tip|"
    r"good|one|quick|just|so|and|in|on|at|for|door|code|email|e-mail|phone)\b|^(?:我|更正|备注|另外|提醒)"
)


def is_order(text: str) -> bool:
    """Whether a text tries to command the reader: its instructions, its memory as a whole, its tools.

    A wish to have one's own forgotten is none: it becomes a task for the owner.
    """
    if any(found.search(text) for found in (_ORDER, _KIP)) or _ROLE_LINE.match(text) is not None:
        return True
    return _WIPE.search(text) is not None and (_OWN.search(text) is None or _OTHERS.search(text) is not None)


def is_transcript(line: str) -> bool:
    """Whether a line is written as somebody else's speech, `Eva: I moved to Rome`, whoever that may be."""
    match = _TRANSCRIPT.match(line)
    if match is None or match.end() > _NAME_LENGTH or _LABELS.match(line) is not None:
        return False
    label, said = line[: match.end() - 1].strip().rstrip(":： "), line[match.end() - 1 :]
    is_name = label.split(" ")[0].lower() in GIVEN_NAMES or (" " in label and label.istitle()) or is_chinese_name(label)
    return is_name or _SPEAKS.match(said) is not None
