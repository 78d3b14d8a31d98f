"""`kip_reference`: the language's reference, offered page by page, never loaded by itself and never memory."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from brain import bundled
from brain.agents.model import ToolSpec
from brain.agents.tools import ToolAnswer, failure

PAGE_BYTES = 8 * 1024

KIP_REFERENCE = ToolSpec(
    "kip_reference",
    "Look up the KIP language. document: index lists the documents; section: index lists the headings of one.",
    {
        "type": "object",
        "properties": {
            "document": {"type": "string"},
            "section": {"type": "string", "description": "a heading, or index; left out: the beginning"},
            "page": {"type": "integer", "minimum": 1},
        },
        "required": ["document"],
        "additionalProperties": False,
    },
)

_HEADING = re.compile(r"^(#{1,3}) (.+)$", re.MULTILINE)


class KipReference:
    """Read-only look-up."""

    spec = KIP_REFERENCE

    async def run(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        document, section = arguments.get("document"), arguments.get("section")
        page = arguments.get("page", 1)
        if not isinstance(document, str) or not isinstance(section, str | None) or not isinstance(page, int):
            return failure("InvalidRequestEnvelope", "Send document, section and page.", 'Try {"document": "index"}.')
        if document == "index":
            return ToolAnswer(index())
        name = document.removesuffix(".md")
        if f"{name}.md" not in bundled.files("kip_reference"):
            return failure("NotFoundOrNotVisible", f"There is no document {document[:64]!r}.", index())
        sections = sections_of(name)
        if section == "index":
            return ToolAnswer("\n".join(sections))
        text = sections.get(section) if section else bundled.text("kip_reference", f"{name}.md")
        if text is None:
            close = "; ".join(heading for heading in sections if section and section.lower() in heading.lower())
            return failure(
                "NotFoundOrNotVisible",
                f"{name} has no section {str(section)[:64]!r}.",
                f"Sections: {close or '; '.join(sections)}.",
            )
        return _page(text, page)


def index() -> str:
    """The documents with their first heading."""
    return "\n".join(
        f"{file.removesuffix('.md')}: {_HEADING.search(bundled.text('kip_reference', file)).group(2)}"  # type: ignore[union-attr]
        for file in bundled.files("kip_reference")
    )


@lru_cache(maxsize=16)
def sections_of(name: str) -> dict[str, str]:
    """Headings of a document with their text, sub-sections included."""
    text = bundled.text("kip_reference", f"{name}.md")
    found = list(_HEADING.finditer(text))
    sections = {}
    for number, heading in enumerate(found):
        end = next(
            (later.start() for later in found[number + 1 :] if len(later.group(1)) <= len(heading.group(1))), len(text)
        )
        sections[heading.group(2)] = text[heading.start() : end].rstrip()
    return sections


def pages_of(text: str) -> list[str]:
    """A text in pages of at most 8 KiB, cut between lines."""
    pages: list[str] = []
    page = ""
    for line in text.splitlines(keepends=True):
        if page and len((page + line).encode()) > PAGE_BYTES - 64:
            pages.append(page)
            page = ""
        page += line
    return [*pages, page]


def _page(text: str, number: int) -> ToolAnswer:
    pages = pages_of(text)
    if not 1 <= number <= len(pages):
        return failure("NotFoundOrNotVisible", f"There is no page {number}.", f"Pages: 1 to {len(pages)}.")
    more = f"\n[page {number} of {len(pages)}]" if len(pages) > 1 else ""
    return ToolAnswer(pages[number - 1].rstrip() + more)
