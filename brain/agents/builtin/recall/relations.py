"""How relations are asked for and told, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from brain.agents.builtin.text import Language, Pattern, pattern


@dataclass(frozen=True, slots=True)
class Telling:
    """How a claim is said: `{s}` its subject, `{o}` its value.

    now, was  of a claim that holds, and of one that held
    topic     what it is about, for "no record of …"
    """

    now: str
    was: str
    topic: str


@dataclass(frozen=True, slots=True)
class Relation:
    """A predicate.

    asks     by language, what in a question asks for it
    reverse  by language, what asks for the subject by the value (`who lives in Rome`)
    by_value whether the person a question names is the claim's object (`who are Ana's parents`)
    types    Concept Types the answer is limited to (`which editor …`)
    """

    predicate: str
    telling: dict[Language, Telling]
    asks: dict[Language, Pattern]
    reverse: dict[Language, Pattern | None]
    by_value: bool = False


def _relation(
    predicate: str,
    english: tuple[str, str, str],
    chinese: tuple[str, str, str],
    asks: str,
    asks_zh: str,
    *,
    reverse: str = "",
    reverse_zh: str = "",
    by_value: bool = False,
) -> Relation:
    return Relation(
        predicate,
        {"en": Telling(*english), "zh": Telling(*chinese)},
        {"en": pattern(asks), "zh": pattern(asks_zh)},
        {
            "en": pattern(reverse) if reverse else None,
            "zh": pattern(reverse_zh) if reverse_zh else None,
        },
        by_value,
    )


RELATIONS: tuple[Relation, ...] = (
    _relation(
        "lives_in",
        ("{s} lives in {o}", "{s} lived in {o}", "where {s} lives"),
        ("{s}住在{o}", "{s}曾住在{o}", "{s}的住处"),
        r"\b(?:liv(?:e|es|ed|ing)|resid(?:e|es|ed|ing)|based|home ?town now|(?:which|what) (?:city|town|country|place)|"
        r"moved?|moving|relocated?|residence|home)\b",
        r"住|搬|定居|居住",
        reverse=r"^who (?:is |are |was |were )?(?:liv|resid|based|moved)",
        reverse_zh=r"^谁(?:住|搬)",
    ),
    _relation(
        "comes_from",
        ("{s} comes from {o}", "{s} came from {o}", "where {s} comes from"),
        ("{s}来自{o}", "{s}来自{o}", "{s}的家乡"),
        r"\b(?:come|comes|coming|originally)\b.*\bfrom\b|\bwhere\b.*\bfrom\b|\bborn in\b|\bwhere\b.*\bborn\b|"
        r"\bgr[eo]w up\b|"
        r"\b(?:home ?town|birthplace|origin)\b",
        r"来自|哪里人|哪儿人|什么地方人|老家|家乡|出生在|在哪.*出生",
        reverse=r"^who (?:comes?|is|was|came)(?: originally)? from",
    ),
    _relation(
        "works_for",
        ("{s} works for {o}", "{s} worked for {o}", "where {s} works"),
        ("{s}在{o}工作", "{s}曾在{o}工作", "{s}的工作单位"),
        r"\b(?:work(?:s|ed|ing)?(?: for| at| with)?|employ(?:er|ed|s)|company|job|join(?:s|ed|ing)?)\b",
        r"工作|上班|公司|就职|任职|单位|入职|离职|跳槽",
        reverse=r"^who (?:is |are |was |were )?(?:work(?:s|ed|ing)?|employed|joined|left)\b",
        reverse_zh=r"^谁在.+(?:工作|上班)",
    ),
    _relation(
        "has_role",
        ("{s} is {o}", "{s} was {o}", "what {s} does"),
        ("{s}是{o}", "{s}曾是{o}", "{s}的职务"),
        r"\b(?:job|role|title|position|profession|occupation|work as|do for work)\b|"
        r"\bwhat do(?:es)? \w+(?: \w+)? do\s*$",
        r"职业|职位|职务|岗位|做什么工作|做什么的|什么工作|头衔",
        reverse=r"^who (?:is|was|were|are) (?:the|a|an|our) ",
    ),
    _relation(
        "studies_at",
        ("{s} studies at {o}", "{s} studied at {o}", "where {s} studies"),
        ("{s}在{o}读书", "{s}曾在{o}读书", "{s}的学校"),
        r"\b(?:stud(?:y|ies|ied|ying)|university|college|school|graduated?)\b",
        r"读书|上学|学校|大学|念书|毕业",
        reverse=r"^who (?:is |was )?stud(?:y|ies|ied)",
    ),
    _relation(
        "member_of",
        ("{s} is a member of {o}", "{s} was a member of {o}", "what {s} belongs to"),
        ("{s}是{o}的成员", "{s}曾是{o}的成员", "{s}所属的团体"),
        r"\b(?:member|club|team|belongs? to|part of)\b",
        r"成员|团队|俱乐部|加入了?什么",
        reverse=r"^who (?:is|are|was|were) (?:a |the )?(?:members?|in|on)\b",
    ),
    _relation(
        "project_lead",
        ("{s} is led by {o}", "{s} was led by {o}", "who leads {s}"),
        ("{s}由{o}负责", "{s}曾由{o}负责", "{s}的负责人"),
        r"\b(?:lead(?:s|er|ing)?|led|in charge|runs?|running|manages?|heads?|responsible|owner)\b",
        r"负责|领导|带领|主管|项目经理",
        reverse=r"\b(?:which|what) projects?\b.*\b(?:lead|run|manage|head)",
        reverse_zh=r"负责(?:什么|哪)",
    ),
    _relation(
        "project_phase",
        ("{s} is in the {o} phase", "{s} was in the {o} phase", "the phase of {s}"),
        ("{s}处于{o}阶段", "{s}曾处于{o}阶段", "{s}的阶段"),
        r"\b(?:phase|stage|status|progress|how far|state of|how is .+ going)\b",
        r"阶段|进度|进展|状态",
    ),
    _relation(
        "deadline",
        ("{s} is due on {o}", "{s} was due on {o}", "the deadline of {s}"),
        ("{s}的截止日期是{o}", "{s}的截止日期曾是{o}", "{s}的截止日期"),
        r"\b(?:deadline|due)\b",
        r"截止|期限|到期",
    ),
    _relation(
        "works_on",
        ("{s} works on {o}", "{s} worked on {o}", "what {s} works on"),
        ("{s}参与{o}", "{s}曾参与{o}", "{s}参与的项目"),
        r"\b(?:work(?:s|ing|ed)? on|(?:which|what) projects?)\b",
        r"参与|什么项目|哪个项目",
        reverse=r"^who (?:is |was )?work(?:s|ed|ing)? on",
        reverse_zh=r"^谁(?:参与|参加|在做)",
    ),
    _relation(
        "reports_to",
        ("{s} reports to {o}", "{s} reported to {o}", "who {s} reports to"),
        ("{s}的上级是{o}", "{s}的上级曾是{o}", "{s}的上级"),
        r"\b(?:boss|manager|supervisor|reports? to|superior)\b",
        r"老板|上司|上级|领导|经理",
        reverse=r"^who report(?:s|ed)? to",
        reverse_zh=r"^谁的(?:直属)?(?:上司|上级|老板|领导|经理)是|^谁向.+汇报",
    ),
    _relation(
        "partner_of",
        ("{s}'s partner is {o}", "{s}'s partner was {o}", "{s}'s partner"),
        ("{s}的伴侣是{o}", "{s}的伴侣曾是{o}", "{s}的伴侣"),
        r"\b(?:married|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|engaged|single)\b",
        r"结婚|妻子|老婆|太太|丈夫|老公|伴侣|配偶|爱人|女朋友|男朋友|未婚",
    ),
    _relation(
        "sibling_of",
        ("{s}'s sibling is {o}", "{s}'s sibling was {o}", "{s}'s siblings"),
        ("{s}的兄弟姐妹是{o}", "{s}的兄弟姐妹是{o}", "{s}的兄弟姐妹"),
        r"\b(?:sisters?|brothers?|siblings?)\b",
        r"妹妹|姐姐|哥哥|弟弟|兄弟|姐妹",
    ),
    _relation(
        "parent_of",
        ("{s} is a parent of {o}", "{s} was a parent of {o}", "{s}'s children"),
        ("{s}的孩子是{o}", "{s}的孩子是{o}", "{s}的孩子"),
        r"\b(?:child|children|kids?|sons?|daughters?)\b",
        r"孩子|儿子|女儿",
    ),
    _relation(
        "parent_of",
        ("{s} is a parent of {o}", "{s} was a parent of {o}", "{o}'s parents"),
        ("{s}是{o}的父母", "{s}是{o}的父母", "{o}的父母"),
        r"\b(?:mother|father|mom|mum|dad|parents?)\b",
        r"妈妈|爸爸|母亲|父亲|父母",
        by_value=True,
    ),
    _relation(
        "relative_of",
        ("{s} is related to {o}", "{s} was related to {o}", "{s}'s relatives"),
        ("{s}的亲戚是{o}", "{s}的亲戚是{o}", "{s}的亲戚"),
        r"\b(?:cousins?|aunts?|uncles?|nieces?|nephews?|grand(?:mother|father|ma|pa|parents?|son|daughter|children)|relatives?|"
        r"(?:mother|father|sister|brother|son|daughter)-in-law)\b",
        r"表[姐妹哥弟]|堂[姐妹哥弟]|叔叔|阿姨|舅舅|姑姑|外婆|外公|奶奶|爷爷|侄|亲戚",
    ),
    _relation(
        "friend_of",
        ("{s} is a friend of {o}", "{s} was a friend of {o}", "{s}'s friends"),
        ("{s}的朋友是{o}", "{s}的朋友曾是{o}", "{s}的朋友"),
        r"\bfriends?\b",
        r"朋友|好友|闺蜜",
    ),
    _relation(
        "knows",
        ("{s} knows {o}", "{s} knew {o}", "whom {s} knows"),
        ("{s}认识{o}", "{s}曾认识{o}", "{s}认识的人"),
        r"\b(?:know|knows|acquainted|colleagues?|co-?workers?|neighbou?rs?|room-?mates?|flat-?mates?)\b",
        r"认识|同事|邻居|室友|同学",
        reverse=r"^who (?:knows?|knew)\b",
    ),
    _relation(
        "client_of",
        ("{s} goes to {o}", "{s} went to {o}", "who serves {s}"),
        ("{s}的服务方是{o}", "{s}的服务方曾是{o}", "{s}的服务方"),
        r"\b(?:dentist|doctor|therapist|lawyer|accountant|trainer|bank|insurer|gym)\b",
        r"医生|牙医|律师|会计|教练|银行",
    ),
    _relation(
        "has_pet",
        ("{s} has a pet, {o}", "{s} had a pet, {o}", "{s}'s pets"),
        ("{s}养了{o}", "{s}曾养{o}", "{s}的宠物"),
        r"\b(?:pets?|dogs?|cats?|animals?|parrots?|rabbits?|hamsters?|horses?|pupp(?:y|ies)|kittens?)\b",
        r"宠物|养了|养什么|狗|猫",
    ),
    _relation(
        "species",
        ("{s} is a {o}", "{s} was a {o}", "what animal {s} is"),
        ("{s}是{o}", "{s}是{o}", "{s}的种类"),
        r"\b(?:species|what (?:kind of )?animal|(?:kind|sort) of (?:animal|pet))\b",
        r"什么动物|种类",
    ),
    _relation(
        "breed",
        ("{s} is a {o}", "{s} was a {o}", "the breed of {s}"),
        ("{s}的品种是{o}", "{s}的品种是{o}", "{s}的品种"),
        r"\b(?:breed|(?:kind|sort) of (?:dog|cat))\b",
        r"品种",
    ),
    _relation(
        "prefers",
        ("{s} prefers {o}", "{s} preferred {o}", "what {s} prefers"),
        ("{s}更喜欢{o}", "{s}曾更喜欢{o}", "{s}的偏好"),
        r"\b(?:prefer(?:s|red|ence|ences)?|favou?rites?|rather have|best|like(?:s|d)? (?:better|more|most))\b",
        r"更喜欢|最喜欢|偏好|偏爱",
        reverse=r"^who prefer",
        reverse_zh=r"^谁更喜欢",
    ),
    _relation(
        "likes",
        ("{s} likes {o}", "{s} liked {o}", "what {s} likes"),
        ("{s}喜欢{o}", "{s}曾喜欢{o}", "{s}的喜好"),
        r"\b(?:likes?|liked|loves?|enjoys?|fond|fan of|hobb(?:y|ies)|into|tastes?)\b",
        r"喜欢|爱(?:吃|喝|好|听|看|玩)|爱好|喜好",
        reverse=r"^who (?:like|love|enjoy|(?:is|was) (?:into|a fan))",
        reverse_zh=r"^谁(?:喜欢|爱)",
    ),
    _relation(
        "dislikes",
        ("{s} dislikes {o}", "{s} disliked {o}", "what {s} dislikes"),
        ("{s}不喜欢{o}", "{s}曾不喜欢{o}", "{s}不喜欢的东西"),
        r"\b(?:dislikes?|hates?|can(?:not|'t) stand|not like|n't like|avoids?)\b",
        r"不喜欢|讨厌|不爱|受不了",
        reverse=r"^who (?:dislike|hate)",
        reverse_zh=r"^谁(?:不喜欢|讨厌)",
    ),
    _relation(
        "interested_in",
        ("{s} is interested in {o}", "{s} was interested in {o}", "what {s} is interested in"),
        ("{s}对{o}感兴趣", "{s}曾对{o}感兴趣", "{s}的兴趣"),
        r"\b(?:interest(?:s|ed)?(?: in)?|curious about)\b",
        r"感兴趣|兴趣",
        reverse=r"^who (?:is|was) interested in",
        reverse_zh=r"^谁对.+感兴趣",
    ),
    _relation(
        "allergic_to",
        ("{s} is allergic to {o}", "{s} was allergic to {o}", "{s}'s allergies"),
        ("{s}对{o}过敏", "{s}曾对{o}过敏", "{s}的过敏"),
        r"\b(?:allerg(?:y|ies|ic)|intoleran(?:t|ce))\b",
        r"过敏",
        reverse=r"^who (?:is|was) allergic",
        reverse_zh=r"^谁对.+过敏",
    ),
    _relation(
        "follows_diet",
        ("{s} follows a {o} diet", "{s} followed a {o} diet", "{s}'s diet"),
        ("{s}的饮食是{o}", "{s}的饮食曾是{o}", "{s}的饮食"),
        r"\b(?:diet|vegan|vegetarian|pescatarian|halal|kosher|eats? meat|keto|gluten)\b",
        r"饮食|吃素|素食|忌口",
        reverse=r"^who (?:is|was) (?:a |an )?(?:vegan|vegetarian|pescatarian)",
        reverse_zh=r"^谁(?:是)?(?:吃素|纯?素食)",
    ),
    _relation(
        "has_condition",
        ("{s} has {o}", "{s} had {o}", "{s}'s health"),
        ("{s}患有{o}", "{s}曾患{o}", "{s}的健康状况"),
        r"\b(?:conditions?|illness(?:es)?|disease|sick|health|diabetes|diabetic|asthma|diagnosed|suffers?)\b",
        r"病|健康|患",
        reverse=r"^who has (?:diabetes|asthma)",
    ),
    _relation(
        "takes_medication",
        ("{s} takes {o}", "{s} took {o}", "{s}'s medication"),
        ("{s}服用{o}", "{s}曾服用{o}", "{s}服用的药"),
        r"\b(?:medications?|medicines?|drugs?|pills?|takes?)\b",
        r"药",
    ),
    _relation(
        "speaks",
        ("{s} speaks {o}", "{s} spoke {o}", "the languages {s} speaks"),
        ("{s}会说{o}", "{s}曾会说{o}", "{s}会的语言"),
        r"\b(?:speaks?|languages?|spoken|fluent|mother tongue)\b",
        r"语言|会说|会讲|母语|说什么话",
        reverse=r"^who (?:can )?(?:speaks?|spoke)",
        reverse_zh=r"^谁会(?:说|讲)",
    ),
    _relation(
        "uses",
        ("{s} uses {o}", "{s} used {o}", "what {s} uses"),
        ("{s}使用{o}", "{s}曾使用{o}", "{s}使用的工具"),
        r"\b(?:use[sd]?|using|editor|tools?|programming language|operating system|ide)\b",
        r"(?:^|[^费信备雇引作有不])用|编辑器|工具|编程语言",
        reverse=r"^who (?:is using|use)",
        reverse_zh=r"^谁(?:使)?用",
    ),
    _relation(
        "drives",
        ("{s} drives {o}", "{s} drove {o}", "what {s} drives"),
        ("{s}开{o}", "{s}曾开{o}", "{s}开的车"),
        r"\b(?:drives?|car|vehicle)\b",
        r"开什么车|什么车|车",
        reverse=r"^who (?:drive|drove)",
        reverse_zh=r"^谁开",
    ),
    _relation(
        "owns",
        ("{s} owns {o}", "{s} owned {o}", "what {s} owns"),
        ("{s}有{o}", "{s}曾有{o}", "{s}的物品"),
        r"\b(?:owns?|owned|have a|has a|possess(?:es)?|belongs?)\b",
        r"拥有|有什么|有没有",
        reverse=r"^who own",
    ),
    _relation(
        "kept_in",
        ("{s} is kept in {o}", "{s} was kept in {o}", "where {s} is kept"),
        ("{s}放在{o}", "{s}曾放在{o}", "{s}放的地方"),
        r"\b(?:kept|keep|keeps|stored|where (?:is|are) (?:my|the|our|\w+'s))\b",
        r"放在哪|收在哪|存在哪",
    ),
    _relation(
        "has_code",
        ("The code of {s} is {o}", "The code of {s} was {o}", "the code of {s}"),
        ("{s}的代码是{o}", "{s}的代码曾是{o}", "{s}的代码"),
        r"\b(?:code|pin|combination|passcode|password)\b",
        r"密码|门禁码|口令|代码|邀请码|[门锁箱机铃]的?码",
    ),
    _relation(
        "email",
        ("{s}'s e-mail address is {o}", "{s}'s e-mail address was {o}", "{s}'s e-mail address"),
        ("{s}的邮箱是{o}", "{s}的邮箱曾是{o}", "{s}的邮箱"),
        r"\be-?mails?\b",
        r"邮箱|邮件地址|电子邮件",
    ),
    _relation(
        "phone",
        ("{s}'s phone number is {o}", "{s}'s phone number was {o}", "{s}'s phone number"),
        ("{s}的电话是{o}", "{s}的电话曾是{o}", "{s}的电话"),
        r"\b(?:(?:(?:tele)?phone|mobile|cell)(?: number)?|(?:my|his|her|their|'s) number|call|reach)\b",
        r"电话(?:号码)?|手机(?:号码?)?|联系方式|的号码",
    ),
    _relation(
        "address",
        ("{s}'s address is {o}", "{s}'s address was {o}", "{s}'s address"),
        ("{s}的地址是{o}", "{s}的地址曾是{o}", "{s}的地址"),
        r"\b(?:address|street)\b",
        r"地址|住址",
    ),
    _relation(
        "has_account",
        ("{s} goes by {o}", "{s} went by {o}", "{s}'s accounts"),
        ("{s}的账号是{o}", "{s}的账号曾是{o}", "{s}的账号"),
        r"\b(?:accounts?|usernames?|handles?|github|twitter|instagram|telegram|linkedin|discord|slack)\b",
        r"账号|微信|用户名|QQ",
    ),
    _relation(
        "birthday",
        ("{s}'s birthday is {o}", "{s}'s birthday was {o}", "{s}'s birthday"),
        ("{s}的生日是{o}", "{s}的生日是{o}", "{s}的生日"),
        r"\b(?:birthday|born|birth)\b",
        r"生日|出生",
    ),
    _relation(
        "age",
        ("{s} is {o} years old", "{s} was {o} years old", "{s}'s age"),
        ("{s}{o}岁", "{s}当时{o}岁", "{s}的年龄"),
        r"\b(?:age|how old|years old)\b",
        r"几岁|多大|年龄|年纪",
    ),
    _relation(
        "anniversary",
        ("{s}'s anniversary is {o}", "{s}'s anniversary was {o}", "{s}'s anniversary"),
        ("{s}的纪念日是{o}", "{s}的纪念日是{o}", "{s}的纪念日"),
        r"\banniversary\b",
        r"纪念日",
    ),
    _relation(
        "timezone",
        ("{s}'s time zone is {o}", "{s}'s time zone was {o}", "{s}'s time zone"),
        ("{s}的时区是{o}", "{s}的时区曾是{o}", "{s}的时区"),
        r"\btime ?zone\b",
        r"时区",
    ),
    _relation(
        "pronouns",
        ("{s}'s pronouns are {o}", "{s}'s pronouns were {o}", "{s}'s pronouns"),
        ("{s}的人称代词是{o}", "{s}的人称代词曾是{o}", "{s}的人称代词"),
        r"\bpronouns\b",
        r"代词",
    ),
    _relation(
        "also_known_as",
        ("{s} is also known as {o}", "{s} was also known as {o}", "other names of {s}"),
        ("{s}又名{o}", "{s}曾名{o}", "{s}的别名"),
        r"\b(?:nick ?names?|also known|alias|called|call (?:me|him|her)|(?:my|full|real) name|name)\b",
        r"叫什么|名字|外号|昵称|别名|怎么称呼",
    ),
    _relation(
        "located_in",
        ("{s} is in {o}", "{s} was in {o}", "where {s} is"),
        ("{s}在{o}", "{s}曾在{o}", "{s}的位置"),
        r"\b(?:located|where is|where are|which country)\b",
        r"位于|在哪个(?:国家|省)",
        reverse=r"^what is (?:located )?in\b",
    ),
)


def telling_of(predicate: str, language: Language) -> Telling:
    """How a predicate is told; by its own words when the table does not know it."""
    for relation in RELATIONS:
        if relation.predicate == predicate and not relation.by_value:
            return relation.telling[language]
    words = predicate.replace("_", " ")
    if language == "zh":
        return Telling(f"{{s}} {words} {{o}}", f"{{s}} 曾 {words} {{o}}", f"{{s}} {words}")
    return Telling(f"{{s}}: {words} {{o}}", f"{{s}}: formerly {words} {{o}}", f"“{words}” of {{s}}")
