"""Packages and environments for tests of the vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from brain.kip.library import PackageLibrary
from brain.kip.schema import Environment

FORMAT = "KIP-Schema-Package"


def package(path: str, version: str = "1.0.0", /, **members: Any) -> dict[str, Any]:
    """An artifact in an author's short form; definitions by section, everything else as it is."""
    sections = {"concept_types", "predicates", "facets", "structural_fields"}
    definitions = {name: members.pop(name) for name in sections & members.keys()}
    return {
        "format": FORMAT,
        "manifest": {"package_id": f"kip://{path}", "version": version, **members.pop("manifest", {})},
        "definitions": definitions,
        **members,
    }


def environment_of(library: PackageLibrary, *artifacts: Mapping[str, Any], names: tuple[str, ...] = ()) -> Environment:
    """A first environment with these artifacts beside the profile."""
    refs = [library.install(artifact).ref for artifact in artifacts]
    return Environment.load(library.birth([*names, *refs]), library)


@pytest.fixture(scope="session")
def shipped() -> PackageLibrary:
    """The bundled packages; tests that install anything make a library of their own."""
    return PackageLibrary.bundled()


@pytest.fixture
def library() -> PackageLibrary:
    return PackageLibrary()


@pytest.fixture(scope="session")
def everyday(shipped: PackageLibrary) -> Environment:
    """The environment of a new Space with the default packages."""
    return Environment.load(shipped.birth(["general", "everyday"]), shipped)
