"""META over the engine itself: protocol, capabilities, Space, errors, epistemic policies (KIP 2.0 §64, §67)."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from brain import errors
from brain.kip import ast, capabilities
from brain.kip.belief.policies import all_policies, policy_named
from brain.kip.context import Answer, Run
from brain.kip.describe.pages import list_page
from brain.kip.resolve import Binder
from brain.kip.search import DEFAULT_MODE
from brain.store.base import Document

VERSION = "2.0"
LANGUAGES = ("KML", "KQL", "META")


def describe_protocol(_statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE PROTOCOL: version, conformance level, the grammars spoken and how results are laid out (§81.1)."""
    return Answer(
        {
            "kip": VERSION,
            "implementation": {"name": "Brain", "conformance": capabilities.CONFORMANCE_LEVEL},
            "syntax": {
                "grammars": dict.fromkeys(LANGUAGES, VERSION),
                "comments": "// to the end of the line",
                "keywords": "in any case",
                "identifiers": "letters, digits and _; other names in double quotes",
                "timestamps": "YYYY-MM-DDTHH:mm:ss.SSSZ",
                "parameters": ":name, bound as data and never read as text",
            },
            "results": {
                "FIND": "rows; one projection gives its values, several give an array per row",
                "KML": "{changes, handles}, with the receipt beside it; DEFINE gives {ref, schema_environment_version}",
                "LIST": "rows",
                "HISTORY": "change envelopes, oldest first",
                "CHANGES": "change envelopes, oldest first, each with its coverage",
                "SEARCH": "{hits, exhaustive, search_context, caveat}",
                "next_cursor": "beside the result, absent on the last page",
            },
            "limits": limits_of(run),
        }
    )


def describe_capabilities(_statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE CAPABILITIES: every registry name with supported, available and its value; local names stand apart."""
    registry = capabilities.describe(run.session, run.limits, run.embedder)
    return Answer(
        {
            "kip": VERSION,
            "conformance": capabilities.CONFORMANCE_LEVEL,
            "languages": list(LANGUAGES),
            "capabilities": registry,
            "supported": {name: entry.get("value", True) for name, entry in registry.items() if entry["supported"]},
            "available": [name for name, entry in registry.items() if entry["available"]],
            "unsupported": {name: entry["note"] for name, entry in registry.items() if not entry["supported"]},
            "engine_local": capabilities.describe_local(run.session),
            "limits": limits_of(run),
            "search": _search(run),
            "projection": {"policies": [policy.id for policy in all_policies()]},
            "profiles": [entry.package.ref for entry in run.environment.packages],
        }
    )


def _search(run: Run) -> Document:
    shown: dict[str, Any] = {"modes": capabilities.search_modes(run.embedder), "default_mode": DEFAULT_MODE.value}
    if run.embedder is not None:
        shown["embedder"] = {"name": run.embedder.name, "likeness": run.embedder.likeness}
    return shown


def describe_space(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE SPACE [id]: this Space, by its id or its URI; NotFoundOrNotVisible for any other."""
    if statement.value is not None:
        asked = Binder.of(run).text(statement.value, "DESCRIBE SPACE")
        if asked not in (run.space_uri, run.snapshot.space_id):
            raise errors.NotFoundOrNotVisible(f"There is no Space {asked} that you may see.")
    return Answer(_space(run) | {"execution_context": execution_context(run)})


def list_spaces(statement: ast.List, run: Run) -> Answer:
    """LIST SPACES: the one Space this request can reach."""
    return list_page(run, statement, lambda pinned: [_space(pinned)])


def describe_error(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE ERROR code: `{code, category, retry_class, meaning, hint}`."""
    assert statement.value is not None  # noqa: S101 - the grammar requires it
    code = Binder.of(run).text(statement.value, "DESCRIBE ERROR")
    found = errors.REGISTRY.get(code)
    if found is None:
        raise errors.NotFoundOrNotVisible(
            f"{code} is not a registered error code.",
            hint="Codes are spelled as in `error.code`, e.g. VersionConflict.",
        )
    return Answer(
        {
            "code": code,
            "category": found.category.value,
            "retry_class": found.retry_class.value,
            "meaning": found.meaning,
            "hint": found.general_hint,
        }
    )


def describe_policy(statement: ast.Describe, run: Run) -> Answer:
    """DESCRIBE EPISTEMIC POLICY [id]: one policy, or the one a command that names none is read under here."""
    policy_id = run.session.default_policy
    if statement.value is not None:
        policy_id = Binder.of(run).text(statement.value, "DESCRIBE EPISTEMIC POLICY")
    return Answer(policy_named(policy_id).to_wire())


def list_policies(statement: ast.List, run: Run) -> Answer:
    """LIST EPISTEMIC POLICIES, by id."""
    return list_page(run, statement, lambda _: [policy.to_wire() for policy in all_policies()])


def execution_context(run: Run) -> Document:
    """Who asks, as whom it may speak, where, and under which policy: four things kept apart (§64.2)."""
    return {
        "principal": run.session.principal_id,
        "channel": run.session.channel,
        "actor_binding": sorted(run.session.actors),
        "space": run.space_uri,
        "epistemic_policy": run.session.default_policy,
        "readonly": run.session.readonly,
        "now": run.now,
    }


def identity_of(run: Run) -> dict[str, Any]:
    """The Space's identity document: version, and the Concept that is its self, when it has one."""
    stored = run.snapshot.control("identity") or {}
    return {"version": stored.get("version", 0), "self": stored.get("self")}


def limits_of(run: Run) -> Document:
    """The engine's bounds, each named for its unit."""
    return asdict(run.limits)


def _space(run: Run) -> dict[str, Any]:
    return {
        "id": run.snapshot.space_id,
        "uri": run.space_uri,
        "name": run.snapshot.space_id,
        "seq": run.snapshot.seq,
        "schema_environment_version": run.environment.version,
        "identity_version": identity_of(run)["version"],
    }
