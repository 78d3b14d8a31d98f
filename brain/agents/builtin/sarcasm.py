"""Praise that is not meant: `Oh great, another meeting. I just LOVE meetings.`"""

from __future__ import annotations

from brain.agents.builtin.text import pattern

TASTES = frozenset(("likes", "dislikes", "prefers", "interested_in"))
"""What a sarcastic message says nothing about."""

_SARCASM = pattern(
    r"\b(?:oh|ah|just|how) (?:great|joy|wonderful|lovely|fantastic|perfect|brilliant|fun|goody)\b|"
    r"\bjust what i (?:needed|wanted)\b|"
    r"\b(?:great|wonderful|fantastic|lovely|perfect|brilliant),? (?:another|yet another|one more)\b|"
    r"\blucky me\b|"
    r"\bthanks for nothing\b|\b(?:big|what a) surprise\b|"
    r"\bi (?:just|so|absolutely|totally|really) (?:(?-i)LOVE|ADORE|ENJOY)\b|"
    r"\bwho doesn't love\b|\bbecause i (?:just )?love\b"
    r"|(?:太好了|太棒了|真棒|真好)[，,！! ]*又(?:要|得|是|来)|"
    r"又要.{1,8}[，,]我最?(?:喜欢|爱)|"
    r"可真是谢谢|我可真(?:喜欢|爱|幸运)|谁不(?:喜欢|爱)"
)


def is_sarcastic(text: str) -> bool:
    """Whether a message says that its praise is not meant."""
    return _SARCASM.search(text) is not None
