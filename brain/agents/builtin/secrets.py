"""Credentials in text: what looks like one is never kept as a claim, an event or a promise."""

from __future__ import annotations

from brain.agents.builtin.text import pattern

_SHAPES = pattern(
    r"-----BEGIN [A-Z ]+-----"
    r"|\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{30,}|\bxox[abprs]-[\w-]{10,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{20,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\b[0-9a-fA-F]{32,}\b",
    ignore_case=False,
)
_NAMED = pattern(
    r"\b(?:pass ?word|passwd|passphrase|pwd|api[ _-]?key|secret(?: key)?|access[ _-]?token|auth[ _-]?token|bearer|"
    r"private key|"
    r"client secret|seed phrase|recovery (?:code|phrase)|backup code|one[ -]time code|otp|2fa code|cvv|cvc|"
    r"security code|"
    r"social security|ssn|bank pin|card pin|credit card|debit card|card number|iban|account number|routing number)\b"
    r"|密码|口令|密钥|令牌|信用卡|银行卡|验证码|身份证号"
)
_LONG = pattern(r"[A-Za-z0-9+/_=-]{24,}", ignore_case=False)
_DIGITS = pattern(r"\d(?:[ -]?\d){12,18}")


def looks_secret(text: str) -> bool:
    """Whether a text holds a key, a token, a card number, or names a credential and gives it."""
    if _SHAPES.search(text):
        return True
    if any(_is_card(match) for match in _DIGITS.findall(text)):
        return True
    if any(_is_random(match) for match in _LONG.findall(text)):
        return True
    named = _NAMED.search(text)
    return named is not None and _gives_value(text[named.end() :])


_VALUE = pattern(r"^\W{0,3}(?:[\w' -]{0,24}\b(?:is|are)\b|was|[:=]|to|是|为|：)\W{0,3}\S|^\s+\S*\d\S*")


def _gives_value(rest: str) -> bool:
    return _VALUE.search(rest) is not None


def _is_card(digits: str) -> bool:
    """Whether a run of 13 to 19 digits passes the check sum of payment cards."""
    numbers = [int(char) for char in digits if char.isdigit()]
    if not 13 <= len(numbers) <= 19 or len(set(numbers)) == 1:
        return False
    total = 0
    for index, number in enumerate(reversed(numbers)):
        doubled = number * 2 if index % 2 else number
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_random(word: str) -> bool:
    """Whether a long unbroken word mixes cases and digits as keys do and words do not."""
    kinds = (any(c.islower() for c in word), any(c.isupper() for c in word), any(c.isdigit() for c in word))
    return all(kinds) and sum(c.isdigit() for c in word) >= 3
