"""Stands in for the reference engine's binary: JSON lines in, JSON lines out, with canned manners only.

It answers FIND with its parameters as the result, so that a test sees what was sent; `die` ends it without an answer.
"""

from __future__ import annotations

import json
import sys
from typing import Any


def answer(line: dict[str, Any]) -> Any:
    if "reset" in line:
        known = all(isinstance(package, (str, dict)) for package in line.get("packages", []))
        return {"ok": True} if known else {"error": "OracleUsage", "message": "packages are names or artifacts"}
    if "parse" in line:
        return {"language": "KQL"} if line["parse"].startswith("FIND") else {"error": "InvalidSyntax"}
    if "import_capsule" in line:
        return {"report": line["import_capsule"]}
    if "request" in line:
        return {"error": "InvalidRequestEnvelope"}
    if line["kip"] == "rubbish":
        return ["no", "object"]
    return {"result": line, "response": {"results": [{"result": line, "next_cursor": "page-2"}]}}


for text in sys.stdin:
    line = json.loads(text)
    if line.get("kip") == "die":
        break
    sys.stdout.write(json.dumps(answer(line)) + "\n")
    sys.stdout.flush()
