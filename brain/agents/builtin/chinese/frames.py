"""What Chinese predicates say, as tables of patterns over a clause without its subject, times and adverbs.

`says` lists `effect relation group` as in `english/frames.py`; the groups are named in the pattern and checked by the
slot of that name in `slots.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from brain.agents.builtin.text import Pattern, pattern

Effect = Literal["state", "start", "end", "former", "fact", "taste", "of"]


@dataclass(frozen=True, slots=True)
class Say:
    effect: Effect
    relation: str
    group: str
    denied: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A predicate in one use; `pattern` matches the whole of it."""

    pattern: Pattern
    says: tuple[Say, ...]


_MOST = r"(?:也|都|很|非常|特别|最|超级?|真的|挺|比较|一直|十分|尤其|还|可|好|更)*"


def _frame(source: str, says: str) -> Frame:
    found = []
    for item in says.split(";"):
        effect, relation, group = item.split()
        relation, _, denied = relation.partition("/")
        found.append(Say(effect, relation, group, denied))  # type: ignore[arg-type]
    return Frame(pattern(rf"^{source}$"), tuple(found))


_CHANGED = r"(?:改|换|变|更换|更新)(?:成|为|到)了?"


def _v(name: str) -> str:
    return rf"(?P<{name}>.+?)"


PERSON_FRAMES: tuple[Frame, ...] = (
    # where people live and come from
    _frame(rf"(?:居住|定居|住)在{_v('place')}", "state lives_in place"),
    _frame(rf"在{_v('place')}(?:居住|定居|生活|住)", "state lives_in place"),
    _frame(rf"家在{_v('place')}", "state lives_in place"),
    _frame(rf"从{_v('home')}搬(?:家)?(?:到|去|来|回|至)了?{_v('place')}", "former lives_in home; start lives_in place"),
    _frame(rf"(?:从{_v('old')})?搬(?:家)?(?:到|去|来|回|至)了?{_v('place')}", "start lives_in place"),
    _frame(rf"(?:出生|生)(?:在|于){_v('place')}", "fact comes_from place"),
    _frame(rf"在{_v('place')}(?:出生|长大)(?:的)?", "fact comes_from place"),
    _frame(rf"(?:来自|老家(?:在|是)|家乡(?:在|是)){_v('place')}", "fact comes_from place"),
    _frame(rf"是{_v('place')}人", "fact comes_from place"),
    # work and study
    _frame(rf"(?:在|为){_v('org')}(?:工作|上班|任职|就职|做事)", "state works_for org"),
    _frame(rf"(?:就职|任职)于{_v('org')}", "state works_for org"),
    _frame(rf"在{_v('org')}(?:当|做|担任|任)(?:一?[名个位])?{_v('role')}", "state works_for org; state has_role role"),
    _frame(rf"在{_v('place')}(?:当|做|担任|任)(?:一?[名个位])?{_v('role')}", "state has_role role"),
    _frame(rf"是{_v('org')}的{_v('role')}", "state works_for org; state has_role role"),
    _frame(rf"(?:是|当|担任|的工作是|的职业是)(?:一?[名个位])?{_v('role')}", "state has_role role"),
    _frame(rf"(?:成为|当上|升为|升任|晋升为|被任命为)了?(?:一?[名个位])?{_v('role')}", "start has_role role"),
    _frame(rf"(?:加入|入职|跳槽到)了?{_v('org')}", "start works_for org"),
    _frame(
        rf"从{_v('employer')}(?:跳槽|换|跳)(?:到|去)了?{_v('org')}", "former works_for employer; start works_for org"
    ),
    _frame(rf"(?:离开|辞去)了?{_v('org')}(?:的工作)?", "end works_for org"),
    _frame(rf"从{_v('org')}(?:辞职|离职|退休)", "end works_for org"),
    _frame(rf"在{_v('school')}(?:读书|上学|学习|念书|读研究?生?|读博士?)", "state studies_at school"),
    _frame(rf"(?:负责|领导|带领|主管){_v('project')}", "of project_lead project"),
    _frame(rf"是{_v('project')}的(?:负责人|项目经理|组长)", "of project_lead project"),
    _frame(rf"参与了?{_v('project')}", "state works_on project"),
    # family
    _frame(rf"(?:跟|和|与){_v('person')}结婚", "start partner_of person"),
    _frame(rf"(?:嫁给|娶)了?{_v('person')}", "start partner_of person"),
    _frame(rf"认识{_v('person')}", "state knows person"),
    # tastes
    _frame(rf"最?喜欢的{_v('kind')}(?:是|就是){_v('favourite')}", "state prefers favourite"),
    _frame(rf"更(?:喜欢|爱|偏爱|喜爱){_v('option')}(?:而不是|，?不是){_v('other')}", "state prefers option"),
    _frame(rf"更(?:喜欢|爱|偏爱|喜爱){_v('option')}", "state prefers option"),
    _frame(
        rf"(?:比起|相比|和|与|跟){_v('other')}(?:相比|比起来|来说|比)?，?更(?:喜欢|爱|偏爱){_v('option')}",
        "state prefers option",
    ),
    _frame(rf"(?:喜欢|爱){_v('option')}(?:胜过|多过|超过){_v('other')}", "state prefers option"),
    _frame(rf"(?:偏好|偏爱){_v('option')}", "state prefers option"),
    _frame(rf"{_MOST}(?:喜欢|喜爱|热爱|爱){_v('things')}", "taste likes/dislikes things"),
    _frame(rf"对{_v('things')}{_MOST}(?:感兴趣|有兴趣)", "state interested_in things"),
    _frame(rf"{_MOST}(?:讨厌|厌恶|受不了){_v('things')}", "state dislikes things"),
    # health and eating
    _frame(rf"是?对{_v('allergens')}(?:严重)?过敏", "state allergic_to allergens"),
    _frame(rf"(?:患有|患了|得了|有){_v('condition')}", "state has_condition condition"),
    _frame(rf"(?:是|开始)?(?:一?[名个位])?{_v('diet')}", "state follows_diet diet"),
    # tools and possessions
    _frame(
        rf"从{_v('before')}(?:换|改用|切换|转)(?:成|到|为|用)?了?{_v('tool')}", "former uses before; start uses tool"
    ),
    _frame(rf"(?:改用|换成)了?{_v('tool')}", "start uses tool"),
    _frame(rf"(?:在用|使用|用){_v('tool')}(?:写代码|编程|办公|工作|开发)?", "state uses tool"),
    _frame(rf"有(?:一)?辆{_v('vehicle')}", "state owns vehicle"),
    _frame(rf"开(?:的是|着)?(?:一)?辆{_v('vehicle')}", "state drives vehicle"),
    # languages and age
    _frame(rf"(?:会|能)?(?:说|讲){_v('langs')}", "state speaks langs"),
    _frame(rf"的?母语是{_v('langs')}", "state speaks langs"),
    _frame(rf"(?:已经|刚)?(?:满)?{_v('years')}岁", "state age years"),
    # names and contact
    _frame(rf"(?:名?叫|的?名字(?:是|叫)){_v('name')}", "fact also_known_as name"),
    _frame(rf"是{_v('own_name')}", "fact also_known_as own_name"),
    _frame(rf"的?(?:昵称|外号|小名|英文名|网名)(?:是|叫){_v('name')}", "state also_known_as name"),
    _frame(rf"的?(?:新?电子)?(?:邮箱|邮件)(?:地址)?是{_v('email')}", "state email email"),
    _frame(rf"的?新?(?:手机|电话)(?:号码|号)?是{_v('phone')}", "state phone phone"),
    _frame(rf"的?(?:电子)?(?:邮箱|邮件)(?:地址)?{_CHANGED}{_v('email')}", "start email email"),
    _frame(rf"的?(?:手机|电话)(?:号码|号)?{_CHANGED}{_v('phone')}", "start phone phone"),
    _frame(rf"(?:换|改)了新?(?:的)?(?:手机|电话)(?:号码|号)?，?(?:是|为){_v('phone')}", "start phone phone"),
    _frame(rf"的?(?:家庭)?(?:住址|地址)是{_v('address')}", "state address address"),
    _frame(
        rf"的?(?P<service>微信|微博|QQ|GitHub|抖音|知乎)(?:号|账号|ID|用户名)?是{_v('handle')}",
        "state has_account handle",
    ),
    _frame(rf"的?时区是{_v('timezone')}", "state timezone timezone"),
)
"""Frames whose subject is a person; the first that fits wins."""

PROJECT_FRAMES: tuple[Frame, ...] = (
    _frame(rf"的?(?:负责人|项目经理|组长|领导)是{_v('person')}", "state project_lead person"),
    _frame(rf"由{_v('person')}(?:负责|领导|带领)", "state project_lead person"),
    _frame(rf"(?:已经)?(?:进入)了?{_v('phase')}(?:阶段|期)", "start project_phase phase"),
    _frame(rf"(?:处于|还在|正在|在){_v('phase')}(?:阶段|期)", "state project_phase phase"),
)
PET_FRAMES: tuple[Frame, ...] = (_frame(rf"(?:已经)?{_v('years')}岁", "state age years"),)
