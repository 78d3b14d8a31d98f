"""Letters that mean something to a database, in every place of every body where text may stand: they mean themselves.

The places are found in the types the routes state, so a new route or member is tried without a word here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from brain.http.app import ROUTES
from brain.http.openapi import document
from tests.http.conftest import Door, opened, said
from tests.service.world import OWNER

pytestmark = pytest.mark.anyio

ATTACKS = {
    "SQL": "x'; DROP TABLE elements; --\" OR '1'='1' UNION SELECT * FROM control /* \\' %_ ",
    "FTS5": '"zebra" OR NEAR(a b, 2) ^name : * - + NOT AND {name}: "unclosed',
    "Lucene": 'name:* && id:[* TO *] || zeb?a~2 ^9 +(-a) "b\\" \\u0041 /.*/ !{a TO z} ',
    "Cypher": "`) DETACH DELETE n // '}) MATCH (m) DETACH DELETE m RETURN 1 AS x; $p {{ }} \\u0027 \\",
    "KIP": '" } MUTATE { PURGE :a CONFIRM "PURGE" } ?x {type: "Person"} :p // LIMIT 0 ',
    "templates": "{{7*7}} ${7*7} %s %n {0.__class__} <%= 1 %> #{1} <script>alert(1)</script> &lt;",
    "controls": "a\x01\x1b[2K\x7f\u2028\u202e\ufeff\u0000b",
    "numbers": "NaN",
    "paths": "../../etc/passwd",
}
_DEEPEST = 6

Place = tuple[str | int, ...]


def places(schema: Any, shapes: dict[str, Any], depth: int = 0) -> Iterator[tuple[Place, Any]]:
    """Where text may stand in a body of a schema, each with a body in which it does, by the mark `TEXT`."""
    if depth > _DEEPEST:
        return
    if "$ref" in schema:
        yield from places(shapes[schema["$ref"].rpartition("/")[2]], shapes, depth)
        return
    for kind in ("anyOf", "oneOf", "allOf"):
        for one in schema.get(kind, ()):
            yield from places(one, shapes, depth + 1)
    if schema.get("type") == "string" and "enum" not in schema and "const" not in schema:
        yield (), "TEXT"
    elif schema.get("type") == "array":
        for place, value in places(schema.get("items", {}), shapes, depth + 1):
            yield (0, *place), [value]
    elif schema.get("type") == "object" and "properties" not in schema:
        yield ("TEXT",), {"TEXT": "TEXT"}
    elif schema.get("type") == "object":
        for name, member in schema["properties"].items():
            for place, value in places(member, shapes, depth + 1):
                others = {other: sample(schema["properties"][other], shapes) for other in schema.get("required", ())}
                yield (name, *place), {**others, name: value}


def sample(schema: Any, shapes: dict[str, Any], depth: int = 0) -> Any:
    """Some value of a schema, as small as it may be."""
    if "$ref" in schema:
        return sample(shapes[schema["$ref"].rpartition("/")[2]], shapes, depth)
    for kind in ("anyOf", "oneOf", "allOf"):
        if kind in schema:
            return sample(schema[kind][0], shapes, depth)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    match schema.get("type"):
        case "object":
            required = schema.get("required", ()) if depth <= _DEEPEST else ()
            return {name: sample(schema["properties"][name], shapes, depth + 1) for name in required}
        case "array":
            return [sample(schema.get("items", {}), shapes, depth + 1)] if depth <= _DEEPEST else []
        case "integer" | "number":
            return max(schema.get("minimum", 1), 1)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return "word"


def filled(value: Any, text: str) -> Any:
    """A body with a text where `TEXT` stands."""
    if isinstance(value, dict):
        return {text if name == "TEXT" else name: filled(item, text) for name, item in value.items()}
    if isinstance(value, list):
        return [filled(item, text) for item in value]
    return text if value == "TEXT" else value


DESCRIBED = document(ROUTES, shard=0, is_guarded=False)
TRIED = [
    (method.upper(), path, place, body)
    for path, methods in DESCRIBED["paths"].items()
    for method, operation in methods.items()
    if "application/json" in operation.get("requestBody", {}).get("content", {})
    for place, body in dict(
        places(operation["requestBody"]["content"]["application/json"]["schema"], DESCRIBED["components"]["schemas"])
    ).items()
]
PARAMETERS = [
    (path, one["name"])
    for path, methods in DESCRIBED["paths"].items()
    for one in methods.get("get", {}).get("parameters", ())
    if one.get("in") == "query"
]


def test_places_are_found_in_every_body_that_holds_text() -> None:
    assert {path.rpartition("/")[2] for _, path, _, _ in TRIED} >= {
        "formation",
        "recall",
        "probe",
        "execute_kip_readonly",
        "pin",
        "forget",
        "get_or_init_user",
        "promote",
        "add_space_token",
        "update_space",
        "create_space",
    }
    formation = {place for _, path, place, _ in TRIED if path.endswith("/formation")}
    assert {("messages", 0, "content"), ("messages", 0, "name"), ("context", "counterparty")} <= formation


async def canary(door: Door) -> Any:
    """What must be as it was, whatever was sent."""
    (row,) = await door.kip('FIND(?p.id, ?p.name, ?p.attributes) WHERE { ?p {type: "Person", key: "ana"} }')
    other = (await door.client.get("/v1/other/info")).json()["result"]
    return row, other["db_stats"], other["conversations"], other["name"]


@pytest.mark.slow
@pytest.mark.requirement("BR-HTTP-013", "BR-STORE-011", "BR-STORE-012")
@pytest.mark.parametrize("attack", ATTACKS)
async def test_letters_that_mean_something_elsewhere_mean_themselves_here(tmp_path: Path, attack: str) -> None:
    text, broken = ATTACKS[attack], []
    async with opened(tmp_path, llm_max_concurrency=256) as door:
        await door.client.post("/admin/create_space", json={"user": OWNER, "space_id": "other", "tier": 3})
        await door.result("get_or_init_user", {"user": "ana", "name": "Ana Ruiz"})
        before = await canary(door)
        for method, path, place, body in TRIED:
            sent = filled(body, text)
            answer = await door.client.request(
                method, path.replace("{space_id}", "home").replace("{conversation_id}", "1"), json=sent
            )
            if answer.status_code >= 500:
                broken.append(f"{method} {path} at {place}: {answer.status_code} {answer.text[:200]}")
            elif answer.status_code >= 400:
                assert set(answer.json()) == {"error"}, answer.text
                assert len(answer.content) < 4_096, "a refusal repeats what was sent"
        for path, name in PARAMETERS:
            asked = path.replace("{space_id}", "home").replace("{conversation_id}", "1")
            answer = await door.client.get(asked, params={name: text})
            if answer.status_code >= 500:
                broken.append(f"GET {path}?{name}: {answer.status_code} {answer.text[:200]}")
        assert not broken, "\n".join(broken)
        assert await canary(door) == before


@pytest.mark.requirement("BR-STORE-012")
@pytest.mark.parametrize("attack", [name for name in ATTACKS if name != "controls"])
async def test_what_is_kept_comes_back_letter_for_letter(tmp_path: Path, attack: str) -> None:
    text = ATTACKS[attack].strip()
    async with opened(tmp_path) as door:
        await door.result("get_or_init_user", {"user": f"k {text}", "name": text})
        command = 'FIND(?p.key, ?p.name) WHERE { ?p {type: "Person", key: :key} }'
        assert await door.kip(command, key=f"k {text}") == [[f"k {text}", text]]
        assert await door.kip(command, key=f"k {text}x") == []


@pytest.mark.parametrize(
    "query",
    ["*", "%", "_", "zebr*", "zebra OR *", "name:*", "[* TO *]", "/.*/", "zebra~10", '"', "-zebra", "NOT zebra"],
)
async def test_a_search_for_signs_finds_no_more_than_its_words(tmp_path: Path, query: str) -> None:
    async with opened(tmp_path) as door:
        await door.formed(said("I live in Porto."))
        assert (await door.result("probe", {"query": query}))["found"] is False
        assert (await door.result("probe", {"query": f"Porto {query}"}))["found"] is True
