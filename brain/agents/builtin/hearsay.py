"""What is passed on of others, where a relation can only be said to hold."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from brain.agents.builtin.facts import Fact


def passed_on(fact: Fact, moment: datetime) -> Fact:
    """An end passed on, `Wang Fang says she left Tencent`, as that it held until then; other facts as they are.

    moment  when it was passed on: where no day is told, it was over by then
    """
    if "hearsay" not in fact.marks or fact.stance != "ended":
        return fact
    until = fact.until or (moment - timedelta(minutes=1)).astimezone(UTC).strftime("%Y-%m-%dT%H:%MZ")
    return replace(fact, stance="holds", until=until, marks=fact.marks - {"if_known", "new"})
