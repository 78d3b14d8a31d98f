"""How questions ask for tastes, health and languages, and how they are told."""

from __future__ import annotations

from brain.agents.builtin.recall.relation import Relation, relation

TASTES: tuple[Relation, ...] = (
    relation(
        "prefers",
        ("{s} prefers {o}", "{s} preferred {o}", "what {s} prefers"),
        ("{s}更喜欢{o}", "{s}曾更喜欢{o}", "{s}的偏好"),
        r"\b(?:prefer(?:s|red|ence|ences)?|favou?rites?|rather have|best|like(?:s|d)? (?:better|more|most))\b",
        r"更喜欢|最喜欢|偏好|偏爱",
        reverse=r"^who prefer",
        reverse_zh=r"^谁更喜欢",
    ),
    relation(
        "likes",
        ("{s} likes {o}", "{s} liked {o}", "what {s} likes"),
        ("{s}喜欢{o}", "{s}曾喜欢{o}", "{s}的喜好"),
        r"\b(?:likes?|liked|loves?|enjoys?|fond|fan of|hobb(?:y|ies)|into|tastes?)\b",
        r"喜欢|爱(?:吃|喝|好|听|看|玩)|爱好|喜好",
        reverse=r"^who (?:like|love|enjoy|(?:is|was) (?:into|a fan))",
        reverse_zh=r"^谁(?:喜欢|爱)",
    ),
    relation(
        "dislikes",
        ("{s} dislikes {o}", "{s} disliked {o}", "what {s} dislikes"),
        ("{s}不喜欢{o}", "{s}曾不喜欢{o}", "{s}不喜欢的东西"),
        r"\b(?:dislikes?|hates?|can(?:not|'t) stand|not like|n't like|avoids?)\b",
        r"不喜欢|讨厌|不爱|受不了",
        reverse=r"^who (?:dislike|hate)",
        reverse_zh=r"^谁(?:不喜欢|讨厌)",
    ),
    relation(
        "interested_in",
        ("{s} is interested in {o}", "{s} was interested in {o}", "what {s} is interested in"),
        ("{s}对{o}感兴趣", "{s}曾对{o}感兴趣", "{s}的兴趣"),
        r"\b(?:interest(?:s|ed)?(?: in)?|curious about)\b",
        r"感兴趣|兴趣",
        reverse=r"^who (?:is|was) interested in",
        reverse_zh=r"^谁对.+感兴趣",
    ),
    relation(
        "allergic_to",
        ("{s} is allergic to {o}", "{s} was allergic to {o}", "{s}'s allergies"),
        ("{s}对{o}过敏", "{s}曾对{o}过敏", "{s}的过敏"),
        r"\b(?:allerg(?:y|ies|ic)|intoleran(?:t|ce))\b",
        r"过敏",
        reverse=r"^who (?:is|was) allergic",
        reverse_zh=r"^谁对.+过敏",
    ),
    relation(
        "follows_diet",
        ("{s} follows a {o} diet", "{s} followed a {o} diet", "{s}'s diet"),
        ("{s}的饮食是{o}", "{s}的饮食曾是{o}", "{s}的饮食"),
        r"\b(?:diet|vegan|vegetarian|pescatarian|halal|kosher|eats? meat|keto|gluten)\b",
        r"饮食|吃素|素食|忌口",
        reverse=r"^who (?:is|was) (?:a |an )?(?:vegan|vegetarian|pescatarian)",
        reverse_zh=r"^谁(?:是)?(?:吃素|纯?素食)",
    ),
    relation(
        "has_condition",
        ("{s} has {o}", "{s} had {o}", "{s}'s health"),
        ("{s}患有{o}", "{s}曾患{o}", "{s}的健康状况"),
        r"\b(?:conditions?|illness(?:es)?|disease|sick|health|diabetes|diabetic|asthma|asthmatic|epileptic|an(?:a)?emic|dyslexic|hypertensive|celiac|coeliac|diagnosed|suffers?)\b",
        r"病|健康|患",
        reverse=r"^who (?:has|had|suffers from|is|are|was) \w+(?: \w+)*$",
    ),
    relation(
        "takes_medication",
        ("{s} takes {o}", "{s} took {o}", "{s}'s medication"),
        ("{s}服用{o}", "{s}曾服用{o}", "{s}服用的药"),
        r"\b(?:medications?|medicines?|drugs?|pills?|takes?)\b",
        r"药",
    ),
    relation(
        "speaks",
        ("{s} speaks {o}", "{s} spoke {o}", "the languages {s} speaks"),
        ("{s}会说{o}", "{s}曾会说{o}", "{s}会的语言"),
        r"\b(?:speaks?|languages?|spoken|fluent|mother tongue)\b",
        r"语言|会说|会讲|母语|说什么话",
        reverse=r"^who (?:can )?(?:speaks?|spoke)",
        reverse_zh=r"^谁会(?:说|讲)",
    ),
)
