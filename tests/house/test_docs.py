"""The documents say what is true: settings, routes, dependencies, layout."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest

from brain.http.app import ROUTES
from brain.kip.capabilities import REGISTRY
from brain.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


def read(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


@pytest.mark.requirement("BR-CONF-019")
def test_every_setting_stands_in_the_example_file_with_its_default() -> None:
    example = dict(line.split("=", 1) for line in read(".env.example").splitlines() if re.match(r"[A-Z0-9_]+=", line))
    assert set(example) == {name.upper() for name in Settings.model_fields}
    for name, field in Settings.model_fields.items():
        default = field.default
        if hasattr(default, "get_secret_value"):
            default = default.get_secret_value()
        if isinstance(default, tuple):
            default = ",".join(default)
        assert example[name.upper()] == str(default), name


def test_every_setting_is_documented_with_its_meaning() -> None:
    table = read("docs/configuration.md")
    for name, field in Settings.model_fields.items():
        assert f"| `{name.upper()}` |" in table
        assert str(field.description) in table, name


@pytest.mark.requirement("BR-EP-049")
def test_every_route_is_documented_and_every_documented_route_is_served() -> None:
    served = {(method, route.path) for route in ROUTES for method in (route.methods or ()) if method != "HEAD"}
    documented = set(re.findall(r"^### `(GET|POST|PATCH|DELETE) ([^`]+)`", read("docs/http.md"), re.M))
    assert documented == served


def test_every_dependency_has_its_reason() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    named = [*project["dependencies"], *(item for extra in project["optional-dependencies"].values() for item in extra)]
    reasons = read("docs/dependencies.md")
    for requirement in named:
        name = re.split(r"[<>=\[]", requirement)[0]
        assert f"`{name}`" in reasons, name
        assert re.search(r"[<>]=?\d", requirement), f"{name} has no range"


BROUGHT = {
    "botocore": "boto3",
    "kombu": "celery",
    "redis": "celery",
    "openai": "litellm",
    "opentelemetry-api": "opentelemetry-sdk",
}
"""What is imported and comes with a library of an extra, beside which alone it is used."""


def test_everything_that_is_imported_is_declared_and_not_only_brought_by_an_extra() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    base = brought_by(*map(name_of, project["dependencies"]))
    extras = {name_of(item) for extra in project["optional-dependencies"].values() for item in extra}
    distributions = packages_distributions()
    missing = {
        f"{path.relative_to(ROOT)}: {module}"
        for folder in ("brain", "workers")
        for path in (ROOT / folder).rglob("*.py")
        for module in imported_by(path)
        if not any(
            name in base or name in extras or BROUGHT.get(name) in extras
            for name in map(name_of, distributions.get(module, ()))
        )
    }
    assert missing == set()


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~;\[ (]", requirement)[0].lower().replace("_", "-")


def brought_by(*names: str) -> set[str]:
    """Distributions that are installed with these in any environment, themselves included."""
    found, waiting = set[str](), list(names)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += [name_of(item) for item in requires(name) or () if ";" not in item]
    return found


def imported_by(path: Path) -> set[str]:
    """Top-level modules of other people that a file imports, anywhere in it."""
    named = set[str]()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            named.add(node.module or "")
    return {name.split(".")[0] for name in named} - {"brain", "workers", *sys.stdlib_module_names}


@pytest.mark.requirement("BR-OPS-010")
def test_the_top_level_is_what_the_architecture_says() -> None:
    for name in (
        "brain",
        "prompts",
        "kip_reference",
        "workers",
        "tests",
        "conformance",
        "deploy",
        "docs",
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "Makefile",
        "docker-compose.yml",
        ".ci/run",
        ".env.example",
    ):
        assert (ROOT / name).exists(), name


@pytest.mark.requirement("KI-CAP-001", "KI-CAP-002")
def test_the_coverage_page_says_what_the_engine_says_of_itself() -> None:
    page = read("docs/kip.md")
    for name, capability in REGISTRY.items():
        row = f"| `{name}` | {'yes' if capability.is_supported else 'no'} | {capability.note} |"
        assert row in page, name


def test_links_between_documents_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            if not target.startswith(("http:", "https:")):
                assert (page.parent / target).exists(), f"{page.name}: {target}"
