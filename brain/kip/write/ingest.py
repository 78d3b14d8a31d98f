"""Evidence the host captured itself, minted inside the write that cites it (KIP 2.0 §71.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brain.kip.write import apply, refs
from brain.kip.write.records import fill_evidence
from brain.kip.write.work import Workspace
from brain.store.base import ElementId, Kind


@dataclass(frozen=True, slots=True)
class IngestEntry:
    """One observation of a request's ingestion context.

    key           the parameter that names the minted Evidence
    fields        Evidence fields as SET FIELDS would give them: class, payload, media type, observation time
    source_actor  a reference, or None
    facets        Facet name to members
    client_key    through which several transactions of one request find the same Evidence
    """

    key: str
    fields: Mapping[str, Any]
    source_actor: Any = None
    facets: Mapping[str, Mapping[str, Any]] | None = None
    client_key: str | None = None


def mint(work: Workspace, entries: Sequence[IngestEntry]) -> dict[str, ElementId]:
    """Make the Evidence of each entry, or find it by client key; parameter name to id."""
    minted = {}
    for entry in entries:
        draft = work.create(Kind.EVIDENCE, {}, entry.client_key)
        fill_evidence(work, draft, entry.fields)
        if entry.source_actor is not None:
            source = refs.reference(work, entry.source_actor, holder=draft.id, path="source", kinds={Kind.CONCEPT})
            draft.body["source"] = [{"id": source}]
        for name, members in (entry.facets or {}).items():
            apply.set_facet(work, draft, name, members)
        minted[entry.key] = draft.id
    return minted
