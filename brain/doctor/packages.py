"""The words a new Space starts with."""

from __future__ import annotations

from collections.abc import Iterator

from brain.doctor.finding import Finding, fault, ok
from brain.settings import Settings


def chosen(settings: Settings) -> Iterator[Finding]:
    """Whether every package of SPACE_PACKAGES exists."""
    from brain.errors import SchemaPackageUnavailable
    from brain.kip.library import PackageLibrary

    library = PackageLibrary.bundled()
    for name in settings.space_packages:
        try:
            library.resolve(name)
        except SchemaPackageUnavailable as unknown:
            yield fault("packages", f"SPACE_PACKAGES: {unknown.message}", str(unknown.hint))
            return
    yield ok("packages", ", ".join(settings.space_packages) or "the Cognitive Memory Profile alone")
