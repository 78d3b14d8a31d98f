"""The Schema Packages this product brings along, and any others a host hands in (KIP 2.0 §20.11)."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files

from brain import errors
from brain.kip.schema.environment import birth
from brain.kip.schema.package import Package, check_schemas, complete, load
from brain.kip.schema.pinned import Resources
from brain.store.base import Document

SHORT_NAMES: Mapping[str, str] = {
    "cognitive-memory": "kip://profiles/cognitive-memory@2.0.0",
    "everyday": "kip://brain/everyday@1.0.0",
    "general": "kip://domains/general@1.0.0",
}
"""What settings and people call the bundled packages."""

PROFILE = SHORT_NAMES["cognitive-memory"]


class PackageLibrary:
    """Packages by reference and digest. Thread-safe; one is enough for a process.

    Making one checks every bundled artifact, so a file that was tampered with stops the start with DigestMismatch.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.resources = Resources({schema["$id"]: schema for schema in _read("schemas")})
        self._packages: dict[str, Package] = {}
        for artifact in _read("packages"):
            package = replace(load(artifact, self.resources), is_bundled=True)
            self._packages[package.ref] = package

    @staticmethod
    def bundled() -> PackageLibrary:
        """The process's own library, checked once."""
        return _bundled()

    def resolve(self, name: str) -> Package:
        """A package by short name (`general`) or reference; SchemaPackageUnavailable when there is none."""
        ref = SHORT_NAMES.get(name, name)
        found = self._packages.get(ref)
        if found is None:
            raise errors.SchemaPackageUnavailable(
                f"There is no package {name} here.",
                hint=f"Known: {', '.join(sorted(SHORT_NAMES))}, or a reference that was installed.",
                details={"package_ref": ref},
            )
        return found

    def get(self, ref: str, content_digest: str) -> Package:
        """A package of exactly this content; DigestMismatch when the reference stands for another one here."""
        package = self.resolve(ref)
        if package.digest != content_digest:
            raise errors.DigestMismatch(
                f"{ref} is here with another content than the one asked for.",
                details={"package_ref": ref, "declared": content_digest, "found": package.digest},
            )
        return package

    def check(self, artifact: Document, content_digest: str) -> Package:
        """A package from an artifact that came along with a Space, verified against its digest."""
        ref = str(artifact["manifest"]["package_ref"])
        with self._lock:
            known = self._packages.get(ref)
            if known is not None and known.digest == content_digest:
                return known
        package = check_schemas(load(artifact, self.resources))
        if package.digest != content_digest:
            raise errors.DigestMismatch(f"{ref} does not have the content this Space locked.")
        return package

    def install(self, artifact: Document) -> Package:
        """Take in an artifact, short forms completed; the same reference with another content is refused (§20.11)."""
        package = check_schemas(load(complete(artifact), self.resources))
        with self._lock:
            known = self._packages.setdefault(package.ref, package)
        if known.digest != package.digest:
            raise errors.DigestMismatch(
                f"{package.ref} is installed with another content; publish a new version instead.",
                details={"package_ref": package.ref, "installed": known.digest, "offered": package.digest},
            )
        return known

    def closure(self, names: Iterable[str]) -> tuple[Package, ...]:
        """These packages and everything they need, sorted by reference; the Profile is always among them."""
        found: dict[str, Package] = {}
        waiting = [PROFILE, *names]
        while waiting:
            package = self.resolve(waiting.pop())
            if package.ref not in found:
                found[package.ref] = package
                waiting += [d.package_ref for d in package.dependencies if d.package_ref in self._packages]
        return tuple(found[ref] for ref in sorted(found))

    def birth(self, names: Iterable[str] = ()) -> Document:
        """The `schema` control document of a new Space with these packages, by short name or reference."""
        return birth(self.closure(names))


@cache
def _bundled() -> PackageLibrary:
    return PackageLibrary()


def _read(folder: str) -> list[Document]:
    root = files("brain.kip.profiles") / folder
    found = sorted((entry for entry in root.iterdir() if entry.name.endswith(".json")), key=lambda entry: entry.name)
    return [json.loads(entry.read_text("utf-8")) for entry in found]
