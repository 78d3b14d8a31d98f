"""The world interval of a claim, as its author writes it (KIP 2.0 §13.2, §25.2, §25.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.kip.validate import check_timestamp
from brain.kip.write.planes import NO_VALUE
from brain.times import Timestamp


def valid_time(value: Any, name: str) -> Any:
    """`{from?, until?}` with each end a timestamp, null or a bound; an interval that cannot hold is refused."""
    if value is None:
        return NO_VALUE
    if not isinstance(value, Mapping):
        raise errors.TypeMismatch(f"{name} is an object with from and until.", details={"field": name})
    unknown = set(value) - {"from", "until"}
    if unknown:
        raise errors.ConstraintViolation(
            f"{name} has no member {', '.join(sorted(unknown))}.", hint="It has from and until."
        )
    ends = {end: _end(value[end], f"{name}.{end}") for end in ("from", "until") if end in value}
    start, stop = _earliest(ends.get("from")), _latest(ends.get("until"))
    if start is not None and stop is not None and start >= stop:
        raise errors.ConstraintViolation(
            f"{name} ends at {stop}, not after its start at {start}.", hint="from lies before until."
        )
    return ends or NO_VALUE


def _end(value: Any, name: str) -> Any:
    if value is None or isinstance(value, str):
        return value if value is None else check_timestamp(value, name)
    if not isinstance(value, Mapping):
        raise errors.TypeMismatch(
            f"{name} is a timestamp, null, or a bound with earliest and latest.",
            details={"field": name, "found": value},
        )
    if not value or set(value) - {"earliest", "latest"}:
        raise errors.ConstraintViolation(f"The bound {name} has earliest, latest or both, and nothing else.")
    bound = {side: check_timestamp(value[side], f"{name}.{side}") for side in ("earliest", "latest") if side in value}
    if len(bound) == 2 and bound["earliest"] > bound["latest"]:
        raise errors.ConstraintViolation(f"{name}: earliest lies after latest.")
    return bound


def _earliest(end: Any) -> Timestamp | None:
    return end.get("earliest") if isinstance(end, dict) else end


def _latest(end: Any) -> Timestamp | None:
    return end.get("latest") if isinstance(end, dict) else end
