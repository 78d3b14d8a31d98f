"""An artifact as a command is given it: a JSON object, or its text (KIP 2.0 §69, §85)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from brain import errors
from brain.kip import ast, strict_json
from brain.kip.context import Run
from brain.kip.resolve import Binder
from brain.store.base import Json


def read_artifact(run: Run, node: ast.Scalar, what: str) -> Mapping[str, Any]:
    """The object a command names. No handle, path or address is ever followed.

    raises  TypeMismatch for another JSON value, ArtifactParseError for a text that is no strict JSON object,
            ArtifactTooLarge past `limits.artifact_bytes`, before anything of it is looked at
    """
    value: Json = Binder.of(run).scalar(node)
    if isinstance(value, str):
        _check_size(run, len(value.encode("utf-8", "surrogatepass")), what)
        try:
            value = strict_json.read(value)
        except errors.KipError as error:
            raise errors.ArtifactParseError(f"{what}: the text is no JSON. {error.message}") from error
        if not isinstance(value, Mapping):
            raise errors.ArtifactParseError(f"{what}: the text is no JSON object.")
        return value
    if not isinstance(value, Mapping):
        raise errors.TypeMismatch(f"{what} takes an object, or its JSON text.")
    _check_size(run, len(orjson.dumps(value)), what)
    return value


def _check_size(run: Run, size: int, what: str) -> None:
    most = run.limits.artifact_bytes
    if size > most:
        raise errors.ArtifactTooLarge(
            f"{what}: the artifact has {size} bytes, and at most {most} are taken.",
            details={"bytes": size, "limit": most},
        )
