"""How questions ask for relatives, friends, acquaintances and pets, and how they are told."""

from __future__ import annotations

from brain.agents.builtin.recall.relation import Relation, relation

PEOPLE: tuple[Relation, ...] = (
    relation(
        "partner_of",
        ("{s}'s partner is {o}", "{s}'s partner was {o}", "{s}'s partner"),
        ("{s}的伴侣是{o}", "{s}的伴侣曾是{o}", "{s}的伴侣"),
        r"\b(?:married|wife|husband|spouse|partner|girlfriend|boyfriend|fianc[eé]e?|engaged|single)\b",
        r"结婚|单身|已婚|妻子|老婆|太太|丈夫|老公|伴侣|配偶|爱人|女朋友|男朋友|未婚",
    ),
    relation(
        "sibling_of",
        ("{s}'s sibling is {o}", "{s}'s sibling was {o}", "{s}'s siblings"),
        ("{s}的兄弟姐妹是{o}", "{s}的兄弟姐妹是{o}", "{s}的兄弟姐妹"),
        r"\b(?:sisters?|brothers?|siblings?)\b",
        r"妹妹|姐姐|哥哥|弟弟|兄弟|姐妹",
    ),
    relation(
        "parent_of",
        ("{s} is a parent of {o}", "{s} was a parent of {o}", "{s}'s children"),
        ("{s}的孩子是{o}", "{s}的孩子是{o}", "{s}的孩子"),
        r"\b(?:child|children|kids?|sons?|daughters?)\b",
        r"孩子|儿子|女儿",
    ),
    relation(
        "parent_of",
        ("{s} is a parent of {o}", "{s} was a parent of {o}", "{o}'s parents"),
        ("{s}是{o}的父母", "{s}是{o}的父母", "{o}的父母"),
        r"\b(?:mother|father|mom|mum|dad|parents?)\b",
        r"妈妈|爸爸|母亲|父亲|父母",
        by_value=True,
    ),
    relation(
        "relative_of",
        ("{s} is related to {o}", "{s} was related to {o}", "{s}'s relatives"),
        ("{s}的亲戚是{o}", "{s}的亲戚是{o}", "{s}的亲戚"),
        r"\b(?:cousins?|aunts?|uncles?|nieces?|nephews?|grand(?:mother|father|ma|pa|parents?|son|daughter|children)|relatives?|"
        r"(?:mother|father|sister|brother|son|daughter)-in-law)\b",
        r"表[姐妹哥弟]|堂[姐妹哥弟]|叔叔|阿姨|舅舅|姑姑|外婆|外公|奶奶|爷爷|侄|亲戚",
    ),
    relation(
        "friend_of",
        ("{s} is a friend of {o}", "{s} was a friend of {o}", "{s}'s friends"),
        ("{s}的朋友是{o}", "{s}的朋友曾是{o}", "{s}的朋友"),
        r"\bfriends?\b",
        r"朋友|好友|闺蜜",
    ),
    relation(
        "knows",
        ("{s} knows {o}", "{s} knew {o}", "whom {s} knows"),
        ("{s}认识{o}", "{s}曾认识{o}", "{s}认识的人"),
        r"\b(?:know|knows|acquainted|colleagues?|co-?workers?|neighbou?rs?|room-?mates?|flat-?mates?)\b",
        r"认识|同事|邻居|室友|同学",
        reverse=r"^who (?:knows?|knew)\b",
    ),
    relation(
        "client_of",
        ("{s} goes to {o}", "{s} went to {o}", "who serves {s}"),
        ("{s}的服务方是{o}", "{s}的服务方曾是{o}", "{s}的服务方"),
        r"\b(?:dentist|doctor|therapist|lawyer|accountant|trainer|bank|insurer|gym)\b",
        r"医生|牙医|律师|会计|教练|银行",
    ),
    relation(
        "has_pet",
        ("{s} has a pet, {o}", "{s} had a pet, {o}", "{s}'s pets"),
        ("{s}养了{o}", "{s}曾养{o}", "{s}的宠物"),
        r"\b(?:pets?|dogs?|cats?|animals?|parrots?|rabbits?|hamsters?|horses?|pupp(?:y|ies)|kittens?)\b",
        r"宠物|养了|养什么|狗|猫",
    ),
    relation(
        "species",
        ("{s} is a {o}", "{s} was a {o}", "what animal {s} is"),
        ("{s}是{o}", "{s}是{o}", "{s}的种类"),
        r"\b(?:species|what (?:kind of )?animal|(?:kind|sort) of (?:animal|pet))\b",
        r"什么动物|种类",
    ),
    relation(
        "breed",
        ("{s} is a {o}", "{s} was a {o}", "the breed of {s}"),
        ("{s}的品种是{o}", "{s}的品种是{o}", "{s}的品种"),
        r"\b(?:breed|(?:kind|sort) of (?:dog|cat))\b",
        r"品种",
    ),
)
