"""`python -m brain.kip.profiles`: give edited packages their digests again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from brain.ids import digest
from brain.kip.schema.package import seal

HERE = Path(__file__).parent


def main() -> None:
    """Rewrite every package file in place."""
    files = {path: json.loads(path.read_text("utf-8")) for path in sorted((HERE / "packages").glob("*.json"))}
    schemas = [json.loads(path.read_text("utf-8")) for path in (HERE / "schemas").glob("*.json")]
    sealed = {artifact["manifest"]["package_ref"]: artifact for artifact in resealed(list(files.values()), schemas)}
    for path, artifact in files.items():
        text = json.dumps(sealed[artifact["manifest"]["package_ref"]], indent=1, ensure_ascii=False)
        path.write_text(f"{text}\n", "utf-8")


def resealed(artifacts: Sequence[Mapping[str, Any]], schemas: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The packages with the digests of their schemas, of each other and of themselves worked out anew.

    A package comes after those it depends on; one that depends on itself in a circle is left out.
    """
    pins = {schema["$id"]: digest(schema) for schema in schemas}
    waiting = [json.loads(json.dumps(artifact)) for artifact in artifacts]
    ours = {artifact["manifest"]["package_ref"] for artifact in waiting}
    done: dict[str, dict[str, Any]] = {}
    while ready := [a for a in waiting if ours & {d["package_ref"] for d in a["dependencies"]} <= done.keys()]:
        for artifact in ready:
            for pin in artifact["manifest"].get("validation_schemas", ()):
                pin["content_digest"] = pins[pin["id"]]
            for needed in artifact["dependencies"]:
                if needed["package_ref"] in done:
                    needed["content_digest"] = done[needed["package_ref"]]["integrity"]["content_digest"]
            done[artifact["manifest"]["package_ref"]] = seal(artifact)
        waiting = [artifact for artifact in waiting if artifact not in ready]
    return list(done.values())


if __name__ == "__main__":
    main()
