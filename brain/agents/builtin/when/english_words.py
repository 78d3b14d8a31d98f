"""The words of English time expressions: months, days, counts, and the patterns that find them."""

from __future__ import annotations

from typing import Any

from brain.agents.builtin.when.calendar import Clock

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 14)}
COUNTS = {
    **{
        word: number
        for number, word in enumerate(
            ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"], 1
        )
    },
    "a": 1,
    "an": 1,
    "twelve": 12,
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "a couple of": 2,
    "couple of": 2,
}
STEPS = {
    "last": -1,
    "past": -1,
    "previous": -1,
    "this": 0,
    "the": 0,
    "current": 0,
    "next": 1,
    "coming": 1,
    "following": 1,
}
NO_CLOCK = (99, 0)
ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth", "twenty-sixth",
    "twenty-seventh",
    "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
)  # fmt: skip
FEASTS = {"christmas": (12, 25), "christmas eve": (12, 24), "new year's eve": (12, 31), "new year's day": (1, 1)}

MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\.?"
)
WEEKDAY = (
    r"(mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
DAYNAME = r"(monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
COUNT = (
    r"(\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty"
    r"|a couple of|couple of)"
)
UNIT = r"(minute|hour|day|week|month|quarter|year|decade)s?"
YEAR = r"((?:19|20)\d{2})"
ANY_YEAR = r"(?:(?:,? (?:of |in )?|[-/])(\d{4}|['’]\d{2}))"
"""The year of a whole date, which needs no care to tell it from a count."""
OF = r"(?: of | ?[-/.] ?| )"
"""What stands between a day and its month."""
SEASON = r"(spring|summer|autumn|fall|winter)"
PART = r"(?: (?:early )?(?:morning|afternoon|evening|night)| noon)?"
NUMBER = r"(\d{1,2})(?:st|nd|rd|th)?"
ORDINAL = f"({'|'.join(word.replace('-', '[- ]') for word in reversed(ORDINALS))})"
NEAR = r"(last|this|the|next)"
MONTH_NAME = r"(january|february|march|april|may|june|july|august|september|october|november|december)"
CLOCK = r"(\d{1,2})(?::(\d{2}))? ?([ap])\.?m\b\.?|(\d{1,2}):(\d{2})\b|(noon|midday|midnight)\b"


def month_of(word: str) -> int:
    return MONTHS.index(word[:3].lower()) + 1


def ordinal_of(word: str) -> str:
    return str(ORDINALS.index(word.lower().replace(" ", "-")) + 1)


def weekday_of(word: str) -> int:
    """Monday is 0."""
    return DAYS.index(word[:3].lower())


def count_of(word: str) -> int:
    return int(word) if word.isdecimal() else COUNTS[word.lower()]


def clock_of(match: Any) -> Clock:
    """The time of day as said, possible or not."""
    hour, minute, half, plain_hour, plain_minute, word = match.groups()
    if word:
        return (0, 0) if word.lower() == "midnight" else (12, 0)
    if half and 1 <= int(hour) <= 12:
        return (int(hour) % 12 + (12 if half.lower() == "p" else 0), int(minute or 0))
    if half:
        return NO_CLOCK
    return (int(plain_hour), int(plain_minute))
