"""The service's description of itself: OpenAPI 3.1, made from what the routes state and from the types they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from starlette.routing import Route

from brain import __version__
from brain.http.auth import access_of, declaration_of
from brain.http.declaring import CBOR, JSON, MARKDOWN, TEXT, Declaration, Gives, Parameter, Takes
from brain.service.access import Access
from brain.service.outputs.common import Refusal

Json = dict[str, Any]

_REFS = "#/components/schemas/{model}"
_PLACE = re.compile(r"{(\w+)}")
_REQUEST_ID = "[A-Za-z0-9._-]{1,64}"

_PLACES: dict[str, tuple[Json, str]] = {
    "space_id": ({"type": "string", "pattern": "^[a-z0-9_]{1,64}$"}, "the Space"),
    "conversation_id": (
        {"type": "integer", "minimum": 0, "maximum": 10**12 - 1},
        "number of the conversation within its collection",
    ),
}
"""What stands in a path; a name that is not here is any text."""

_MEANINGS = {
    400: "the request as written cannot be carried out; nothing happened",
    401: "no credential that is good here, or no such Space that its bearer could enter",
    403: "a foreign Host or site, or a credential on a route that is closed to its kind",
    404: "no such Space",
    408: "the body did not come in time",
    413: "the body is too large",
    415: "the body is packed; send it as it is",
    429: "too many failed credentials from this address",
    431: "the headers are too long, or too many",
    500: "a defect, whose request id leads to the log; or a file that is no Space this release can read",
    503: "too many requests at a time, or the store cannot be used just now; nothing was stored, and the same request "
    "may be sent again",
}
_MODELS_FULL = "too many requests that lead to a model at a time, or too many failed credentials from this address"
_PLAIN_TOO = (429, 503)
"""Full budgets are told in plain text, as the contract our clients were written for has it."""

_CWT = (
    "A COSE_Sign1 token in base64, signed with EdDSA by a key of ED25519_PUBKEYS; `aud` names the Space, or is `*`. "
    "The names beside it are scopes, any of which will do."
)
_SPACE_TOKEN = "A token of one Space, which begins with ST."  # noqa: S105 - a sentence
_TOKENLESS = (Access.MANAGEMENT, Access.ADMIN)


class _Plain(GenerateJsonSchema):
    """Without a title for every member: it would only repeat its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False


def document(routes: Iterable[Route], *, shard: int, is_guarded: bool, free: Iterable[str] = ()) -> Json:
    """The whole description.

    routes      as they are served, each made by `route`
    shard       of this process, which `Shard-Id` has to name
    is_guarded  whether credentials are asked for; where they are not, each may be left out
    free        paths that take no place among the requests at work
    """
    served = list(routes)
    schemas, components = _schemas(declaration_of(one) for one in served)
    writer = _Writer(schemas, shard, is_guarded, frozenset(free))
    paths: dict[str, Json] = {}
    names: set[str] = set()
    for one in served:
        [method] = (one.methods or set()) - {"HEAD"}
        operation = writer.operation(one)
        if operation["operationId"] in names:
            operation["operationId"] += "_" + one.path.rpartition("/")[2].strip("{}")
        names.add(operation["operationId"])
        paths.setdefault(one.path, {})[method.lower()] = operation
    groups = dict.fromkeys(declaration_of(one).group for one in served)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Brain",
            "version": __version__,
            "description": "A memory service for AI agents. Errors are JSON whatever is accepted; every answer carries "
            "`X-Request-Id`. Where GET is served, so is HEAD; OPTIONS tells the methods of a path.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": group} for group in groups if group],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "cwt": {"type": "http", "scheme": "bearer", "bearerFormat": "CWT", "description": _CWT},
                "spaceToken": {"type": "http", "scheme": "bearer", "description": _SPACE_TOKEN},
            },
            "responses": {f"Refused{status}": writer.refusal(status, why) for status, why in _MEANINGS.items()},
            "parameters": {
                "Shard-Id": {
                    "name": "Shard-Id",
                    "in": "header",
                    "description": f"the shard the client takes this process for, which is `{shard}`; left out, or no "
                    "whole number, it is 0",
                    "schema": {"type": "string", "examples": [str(shard)]},
                    "required": shard != 0,
                },
                "X-Request-Id": {
                    "name": "X-Request-Id",
                    "in": "header",
                    "description": "an id to find the request by in the log: 1 to 64 letters, digits, `.`, `_` and "
                    "`-`; made here when it is anything else, or left out",
                    "schema": {"type": "string"},
                    "required": False,
                },
            },
            "headers": {
                "X-Request-Id": {
                    "description": "leads to the log lines of the request and of the work it brings about",
                    "required": True,
                    "schema": {"type": "string", "pattern": f"^{_REQUEST_ID}$"},
                },
                "Retry-After": {
                    "description": "seconds after which the request is worth sending again",
                    "schema": {"type": "integer", "minimum": 0},
                },
            },
        },
    }


_Key = tuple[str, str]


def _types(declared: Declaration) -> Iterator[tuple[str, Any]]:
    """Every type a route names, and the direction it goes in."""
    if declared.takes is not None and declared.takes.model is not None:
        yield "validation", declared.takes.model
    for parameter in declared.parameters:
        yield "validation", parameter.type
    if declared.gives is not None and declared.gives.body is not None:
        yield "serialization", declared.gives.body


def _schemas(declared: Iterable[Declaration]) -> tuple[dict[_Key, Json], dict[str, Json]]:
    """The schema of each type in each direction, and what these refer to."""
    wanted = {_key(mode, one): (mode, one) for each in declared for mode, one in _types(each)}
    wanted[_key("serialization", Refusal)] = ("serialization", Refusal)
    adapters: list[Any] = [(key, mode, TypeAdapter(one)) for key, (mode, one) in wanted.items()]
    made, shared = TypeAdapter.json_schemas(adapters, ref_template=_REFS, schema_generator=_Plain)
    return {key: dict(schema) for (key, _), schema in made.items()}, dict(sorted(shared.get("$defs", {}).items()))


def _key(mode: str, one: Any) -> _Key:
    return mode, repr(one)


class _Writer:
    """Writes operations."""

    def __init__(self, schemas: Mapping[_Key, Json], shard: int, is_guarded: bool, free: frozenset[str]) -> None:
        self._schemas = schemas
        self._shard = shard
        self._is_guarded = is_guarded
        self._free = free

    def operation(self, served: Route) -> Json:
        """One route."""
        declared, access = declaration_of(served), access_of(served)
        made: Json = {"operationId": served.endpoint.__name__, "summary": declared.summary}
        if declared.description:
            made["description"] = declared.description
        if declared.group:
            made["tags"] = [declared.group]
        made["security"] = list(self._security(access))
        made["parameters"] = list(self._parameters(served.path, declared.parameters))
        if declared.takes is not None:
            made["requestBody"] = self._body(declared.takes)
        made["responses"] = self._responses(served.path, declared, access)
        return made

    def _security(self, access: Access | None) -> Iterator[Json]:
        if access is None or access is Access.OPEN or access.is_public or not self._is_guarded:
            yield {}
        if access is None or access is Access.OPEN:
            return
        scopes = ["*"] if access is Access.FULL else [access.scope.value, "*"]
        yield {"cwt": scopes}
        if access not in _TOKENLESS:
            yield {"spaceToken": scopes}

    def _parameters(self, path: str, stated: Sequence[Parameter]) -> Iterator[Json]:
        for name in _PLACE.findall(path):
            schema, description = _PLACES.get(name, ({"type": "string"}, name.replace("_", " ")))
            yield {"name": name, "in": "path", "required": True, "description": description, "schema": schema}
        for one in stated:
            yield {
                "name": one.name,
                "in": one.where,
                "required": one.required,
                "description": one.description,
                "schema": self._schemas[_key("validation", one.type)],
            }
        if path.startswith("/v1/"):
            yield {"$ref": "#/components/parameters/Shard-Id"}
        yield {"$ref": "#/components/parameters/X-Request-Id"}

    def _body(self, takes: Takes) -> Json:
        content: dict[str, Json] = {}
        text = {"type": "string", "description": takes.text}
        if takes.model is not None:
            schema = self._schemas[_key("validation", takes.model)]
            schema = schema if takes.text is None else {"anyOf": [schema, text]}
            content |= {JSON: {"schema": schema}, CBOR: {"schema": schema}}
        if takes.text is not None:
            content |= {MARKDOWN: {"schema": text}, TEXT: {"schema": text}}
        content |= {kind: {"schema": {}} for kind in takes.raw}
        return {"required": takes.required, "content": content}

    def _responses(self, path: str, declared: Declaration, access: Access | None) -> Json:
        own = {429: _MODELS_FULL, **declared.refuses} if declared.asks_model else declared.refuses
        answers = {
            status: {"$ref": f"#/components/responses/Refused{status}"}
            for status in self._refusals(path, declared, access)
        }
        answers |= {status: self.refusal(status, meaning) for status, meaning in own.items()}
        if declared.gives is not None:
            answers |= {status: self._success(declared.gives, why) for status, why in declared.gives.statuses.items()}
        return {str(status): answers[status] for status in sorted(answers)}

    def _refusals(self, path: str, declared: Declaration, access: Access | None) -> Iterator[int]:
        yield from (403, 431, 500)
        if path not in self._free:
            yield 503
        if declared.takes is not None or declared.parameters or "{" in path:
            yield 400
        if "{space_id}" in path:
            yield 404
        if declared.takes is not None:
            yield from (408, 413, 415)
        if access is not Access.OPEN:
            yield from (401, 429)

    def refusal(self, status: int, meaning: str) -> Json:
        """The answer of one error status."""
        content: dict[str, Json] = {JSON: {"schema": self._schemas[_key("serialization", Refusal)]}}
        headers = _headers("X-Request-Id")
        if status in _PLAIN_TOO:
            content[TEXT] = {"schema": {"type": "string"}}
            headers |= _headers("Retry-After")
        return {"description": meaning, "headers": headers, "content": content}

    def _success(self, gives: Gives, meaning: str) -> Json:
        content: dict[str, Json] = {}
        if gives.body is not None:
            schema = self._schemas[_key("serialization", gives.body)]
            if gives.is_enveloped:
                members: dict[str, Json] = {"result": schema}
                if gives.is_paged:
                    members["next_cursor"] = {"type": "string", "description": "where the next page begins"}
                schema = {"type": "object", "required": ["result"], "properties": members}
            text = {"type": "string"}
            content |= {kind: {"schema": text if kind == MARKDOWN else schema} for kind in gives.forms}
        content |= {kind: {"schema": {}} for kind in gives.raw}
        return {"description": meaning, "headers": _headers("X-Request-Id"), "content": content}


def _headers(name: str) -> dict[str, Json]:
    return {name: {"$ref": f"#/components/headers/{name}"}}
