"""The page at `/docs`: an OpenAPI document as HTML, without a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import orjson

Json = Mapping[str, Any]

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 2.5rem; }
code, pre { font: 0.875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); padding: .75rem; overflow-x: auto; border-radius: .375rem; }
details { border: 1px solid var(--line); border-radius: .375rem; margin: .5rem 0; padding: 0 .75rem; }
summary { cursor: pointer; padding: .5rem 0; } summary b { display: inline-block; min-width: 3.5rem; }
summary span { display: block; padding-left: 3.75rem; opacity: .8; }
table { border-collapse: collapse; width: 100%; margin: .25rem 0 1rem; }
th, td { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .25rem .5rem .25rem 0; }
a { color: inherit; }
"""


def page(document: Json) -> str:
    """The whole page."""
    return "".join(_page(document))


def _page(document: Json) -> Iterator[str]:
    info = document["info"]
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{escape(info['title'])} {escape(info['version'])}</title>"
    yield f"<style>{STYLE}</style></head><body><main>"
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{_text(info['description'])}</p>"
    yield '<p>For programs: <a href="/openapi.json">openapi.json</a>. For agents: <a href="/SKILL.md">SKILL.md</a>.</p>'
    yield "<h2>Credentials</h2><table>"
    for name, scheme in document["components"]["securitySchemes"].items():
        yield f"<tr><th><code>{escape(name)}</code><td>{_text(scheme['description'])}"
    yield "</table>"
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>"
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                if operation.get("tags") == [tag["name"]]:
                    yield from _operation(document, path, method, operation)
    yield "<h2>Shapes</h2>"
    for name, schema in document["components"]["schemas"].items():
        yield f'<details id="{escape(name)}"><summary><b>{escape(name)}</b></summary>{_code(schema)}</details>'
    yield "</main></body></html>"


def _operation(document: Json, path: str, method: str, operation: Json) -> Iterator[str]:
    yield f'<details id="{escape(operation["operationId"])}"><summary><b>{method.upper()}</b> '
    yield f"<code>{escape(path)}</code><span>{escape(operation['summary'])}</span></summary>"
    if "description" in operation:
        yield f"<p>{_text(operation['description'])}</p>"
    yield f"<p>Credentials: {_credentials(operation['security'])}.</p>"
    yield "<table><tr><th>parameter<th>in<th>type<th>what it is"
    for parameter in (_found(document, one) for one in operation["parameters"]):
        name = escape(parameter["name"]) + ("" if parameter["required"] else " (optional)")
        yield f"<tr><td><code>{name}</code><td>{parameter['in']}<td>{_shape(parameter['schema'])}"
        yield f"<td>{_text(parameter['description'])}"
    yield "</table>"
    if "requestBody" in operation:
        yield f"<table><tr><th>body<th>shape{''.join(_contents(operation['requestBody']['content']))}</table>"
    yield "<table><tr><th>status<th>what it means<th>body"
    for status, stated in operation["responses"].items():
        answer = _found(document, stated)
        bodies = ", ".join(_bodies(answer["content"]))
        yield f"<tr><td>{escape(status)}<td>{_text(answer['description'])}<td>{bodies}"
    yield "</table></details>"


def _found(document: Json, stated: Json) -> Json:
    """What stands here, or where this refers to."""
    if "$ref" not in stated:
        return stated
    found: Any = document
    for part in stated["$ref"].removeprefix("#/").split("/"):
        found = found[part]
    return dict(found)


def _contents(content: Json) -> Iterator[str]:
    for kind, media in content.items():
        yield f"<tr><td><code>{escape(kind)}</code><td>{_shape(media['schema'])}"


def _bodies(content: Json) -> Iterator[str]:
    """The shapes of an answer, each with the content types it comes in."""
    kinds: dict[str, list[str]] = {}
    for kind, media in content.items():
        kinds.setdefault(_shape(media["schema"]), []).append(kind.rpartition("/")[2])
    for shape, named in kinds.items():
        yield f"{shape} ({escape(', '.join(named))})" if shape else escape(", ".join(named))


def _credentials(security: list[Json]) -> str:
    """Which credentials an operation takes, in words."""
    ways = [
        f"<code>{escape(name)}</code> with scope {' or '.join(f'<code>{escape(scope)}</code>' for scope in scopes)}"
        for one in security
        for name, scopes in one.items()
    ]
    if not ways:
        return "none"
    return ", or ".join([*ways, *(["none where it is open to anybody"] if {} in security else [])])


def _shape(schema: Json) -> str:
    """A schema in one line: names link to their shapes."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    if set(schema.get("properties", ())) & {"result"}:
        return f"result: {_shape(schema['properties']['result'])}"
    if schema.get("type") == "array":
        return f"list of {_shape(schema.get('items', {})) or 'anything'}"
    if "anyOf" in schema:
        return " or ".join(_shape(one) for one in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return " | ".join(f"<code>{_json(value)}</code>" for value in schema.get("enum", [schema.get("const")]))
    return escape(str(schema.get("type", "")))


def _code(schema: Json) -> str:
    text = orjson.dumps(schema, option=orjson.OPT_INDENT_2).decode()
    return f"<pre>{escape(text)}</pre>"


def _json(value: Any) -> str:
    return escape(orjson.dumps(value).decode())


def _text(text: str) -> str:
    """Prose in which `names` are set as code."""
    pieces = escape(text).split("`")
    return "".join(f"<code>{piece}</code>" if number % 2 else piece for number, piece in enumerate(pieces))
