"""How questions ask for where people live, come from and work, and projects, and how they are told."""

from __future__ import annotations

from brain.agents.builtin.recall.relation import Relation, relation

WORK: tuple[Relation, ...] = (
    relation(
        "lives_in",
        ("{s} lives in {o}", "{s} lived in {o}", "where {s} lives"),
        ("{s}住在{o}", "{s}曾住在{o}", "{s}的住处"),
        r"\b(?:liv(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|based|home ?town now|(?:which|what) (?:city|town|country|place)|"
        r"moved?|moving|relocated?|residence|home)\b",
        r"住|搬|定居|居住",
        reverse=r"^who (?:is |are |was |were )?(?:liv|resid|based|moved)",
        reverse_zh=r"^谁(?:住|搬)",
    ),
    relation(
        "comes_from",
        ("{s} comes from {o}", "{s} came from {o}", "where {s} comes from"),
        ("{s}来自{o}", "{s}来自{o}", "{s}的家乡"),
        r"\b(?:come|comes|coming|originally)\b.*\bfrom\b|\bwhere\b.*\bfrom\b|\bborn in\b|\bwhere\b.*\bborn\b|"
        r"\bgr[eo]w up\b|"
        r"\b(?:home ?town|birthplace|origin)\b",
        r"来自|哪里人|哪儿人|什么地方人|老家|家乡|出生在|在哪.*出生",
        reverse=r"^who (?:comes?|is|was|came)(?: originally)? from",
    ),
    relation(
        "works_for",
        ("{s} works for {o}", "{s} worked for {o}", "where {s} works"),
        ("{s}在{o}工作", "{s}曾在{o}工作", "{s}的工作单位"),
        r"\b(?:work(?:s|ed|ing)?(?: for| at| with)?|employ(?:er|ed|s)|company|job|join(?:s|ed|ing)?)\b",
        r"工作|上班|公司|就职|任职|单位|入职|离职|跳槽",
        reverse=r"^who (?:is |are |was |were )?(?:work(?:s|ed|ing)?|employed|joined|left)\b",
        reverse_zh=r"^谁在.+(?:工作|上班)",
    ),
    relation(
        "has_role",
        ("{s} is {o}", "{s} was {o}", "what {s} does"),
        ("{s}是{o}", "{s}曾是{o}", "{s}的职务"),
        r"\b(?:job|role|title|position|profession|occupation|work as|do for work)\b|"
        r"\bwhat do(?:es)? [\p{L}\p{N}'’ -]+? do\s*$",
        r"职业|职位|职务|岗位|做什么工作|做什么的|什么工作|头衔",
        reverse=r"^who (?:is|was|were|are) (?:the|a|an|our) ",
        reverse_zh=r"^谁(?:是|当|做)[^的]+$",
    ),
    relation(
        "studies_at",
        ("{s} studies at {o}", "{s} studied at {o}", "where {s} studies"),
        ("{s}在{o}读书", "{s}曾在{o}读书", "{s}的学校"),
        r"\b(?:stud(?:y|ies|ied|ying)|university|college|school|graduated?)\b",
        r"读书|上学|学校|大学|念书|毕业",
        reverse=r"^who (?:is |was )?stud(?:y|ies|ied)",
    ),
    relation(
        "member_of",
        ("{s} is a member of {o}", "{s} was a member of {o}", "what {s} belongs to"),
        ("{s}是{o}的成员", "{s}曾是{o}的成员", "{s}所属的团体"),
        r"\b(?:member|club|team|belongs? to|part of)\b",
        r"成员|团队|俱乐部|加入了?什么",
        reverse=r"^who (?:is|are|was|were) (?:a |the )?(?:members?|in|on)\b",
    ),
    relation(
        "project_lead",
        ("{s} is led by {o}", "{s} was led by {o}", "who leads {s}"),
        ("{s}由{o}负责", "{s}曾由{o}负责", "{s}的负责人"),
        r"\b(?:lead(?:s|er|ing)?|led|in charge|runs?|running|manages?|heads?|responsible|owner)\b",
        r"负责|领导|带领|主管|项目经理",
        reverse=r"\b(?:which|what) projects?\b.*\b(?:lead|run|manage|head)",
        reverse_zh=r"负责(?:什么|哪)",
    ),
    relation(
        "project_phase",
        ("{s} is in the {o} phase", "{s} was in the {o} phase", "the phase of {s}"),
        ("{s}处于{o}阶段", "{s}曾处于{o}阶段", "{s}的阶段"),
        r"\b(?:phase|stage|status|progress|how far|state of|how is .+ going)\b",
        r"阶段|进度|进展|状态",
    ),
    relation(
        "deadline",
        ("{s} is due on {o}", "{s} was due on {o}", "the deadline of {s}"),
        ("{s}的截止日期是{o}", "{s}的截止日期曾是{o}", "{s}的截止日期"),
        r"\b(?:deadline|due)\b",
        r"截止|期限|到期",
    ),
    relation(
        "works_on",
        ("{s} works on {o}", "{s} worked on {o}", "what {s} works on"),
        ("{s}参与{o}", "{s}曾参与{o}", "{s}参与的项目"),
        r"\b(?:work(?:s|ing|ed)? on|(?:which|what) projects?)\b",
        r"参与|什么项目|哪个项目",
        reverse=r"^who (?:is |was )?work(?:s|ed|ing)? on",
        reverse_zh=r"^谁(?:参与|参加|在做)",
    ),
    relation(
        "reports_to",
        ("{s} reports to {o}", "{s} reported to {o}", "who {s} reports to"),
        ("{s}的上级是{o}", "{s}的上级曾是{o}", "{s}的上级"),
        r"\b(?:boss|manager|supervisor|reports? to|superior)\b",
        r"老板|上司|上级|领导|经理",
        reverse=r"^who report(?:s|ed)? to",
        reverse_zh=r"^谁的(?:直属)?(?:上司|上级|老板|领导|经理)是|^谁向.+汇报",
    ),
)
