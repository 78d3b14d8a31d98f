"""The format of a Capsule: its envelope, its seal, and reading one back (KIP 2.0 §37.6, §37.7)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from brain import errors
from brain.kip.schema.package import DIGEST_PROFILE, FORMAT_VERSION, content_digest
from brain.store.base import Document

FORMAT = "KIP-Cognitive-Capsule"

DIGEST = re.compile(r"sha256:[0-9a-f]{64}", re.ASCII)

_TOP: Mapping[str, type] = {"payload": dict, "integrity": dict}
_PAYLOAD: Mapping[str, type] = {
    "manifest": dict,
    "source": dict,
    "schema_dependencies": list,
    "records": list,
    "external_refs": list,
    "blobs": dict,
    "handling": dict,
}


def seal(payload: Document) -> dict[str, Any]:
    """A Capsule of this payload, with the digest over everything but its integrity."""
    body = {"format": FORMAT, "format_version": FORMAT_VERSION, "payload": payload}
    integrity = {
        "content_digest": content_digest(body),
        "covers": "every top-level member but this one",
        "digest_profile": DIGEST_PROFILE,
    }
    return {**body, "integrity": integrity}


def read_capsule(artifact: Mapping[str, Any]) -> Document:
    """The payload of an artifact that is a Capsule and has not been changed since it was sealed.

    raises  ArtifactParseError for what is no Capsule, UnsupportedCapability for another version of the format or of the
            digest, whose bytes are never judged by this one's rules; CapsuleValidationFailed for a digest of another
            form; DigestMismatch
    """
    if artifact.get("format") != FORMAT:
        raise errors.ArtifactParseError(f'A Capsule has format "{FORMAT}".')
    if artifact.get("format_version") != FORMAT_VERSION:
        raise errors.UnsupportedCapability(
            f"Capsules of format_version {FORMAT_VERSION} are read here, and no other.",
            details={"capability": "capsule_import", "format_version": FORMAT_VERSION},
        )
    _require(artifact, _TOP, "the Capsule")
    payload: Document = artifact["payload"]
    integrity: Document = artifact["integrity"]
    _require(payload, _PAYLOAD, "payload")
    profile, declared = integrity.get("digest_profile"), integrity.get("content_digest")
    if profile != DIGEST_PROFILE:
        raise errors.UnsupportedCapability(
            f"Digests of the profile {DIGEST_PROFILE} are verified here, and no other.",
            details={"capability": "capsule_import", "digest_profile": DIGEST_PROFILE},
        )
    if not isinstance(declared, str) or not DIGEST.fullmatch(declared):
        raise errors.CapsuleValidationFailed("integrity.content_digest is no sha256 digest in lower-case hex.")
    found = content_digest(artifact)
    if found != declared:
        raise errors.DigestMismatch(
            "The Capsule was changed after it was sealed.", details={"declared": declared, "found": found}
        )
    return payload


def _require(holder: Mapping[str, Any], members: Mapping[str, type], where: str) -> None:
    for name, wanted in members.items():
        value = holder.get(name)
        fits = isinstance(value, Mapping) if wanted is dict else isinstance(value, list | tuple)
        if not fits:
            kind = "an object" if wanted is dict else "a list"
            raise errors.ArtifactParseError(f"{name} of {where} is not {kind}.", details={"member": name})
