"""A Space that learned something from one message, and something else before."""

from __future__ import annotations

from tests.kip.conftest import Space

TOLD = "I adore Turandot"


def learn(space: Space) -> dict[str, str]:
    """Handles of what was there before (`x`, `ann`), of the message `e`, and of what was made from it."""
    before = space.handles(
        'MUTATE { CREATE CONCEPT ?ann { TYPE "Person" NAME "Ann" } CREATE CONCEPT ?x { TYPE "Person" NAME "Xaver" } }'
    )
    learned = space.handles(
        f"""MUTATE {{
          CREATE EVIDENCE ?e {{ CLIENT KEY "told" SET FIELDS {{evidence_class: "user_statement", payload: "{TOLD}"}} }}
          CREATE CONCEPT ?opera {{ TYPE "Topic" NAME "Turandot" }}
          CREATE EVIDENCE ?s {{ SET FIELDS {{evidence_class: "summary", payload: "Turandot is adored"}} }}
          CREATE ACTIVITY ?act {{ SET FIELDS {{activity_class: "summarization", status: "completed"}}
                                  SET STRUCTURAL {{ ("inputs", ?e) ("outputs", ?s) }} }}
          ASSERT ?a (:ann, "interested_in", ?opera) {{by: :ann, mode: "stated", evidence: ?e}}
          ASSERT ?b (:ann, "speaks", "Turandot") {{by: :ann, mode: "inferred", evidence: ?s}}
        }}""",
        ann=before["ann"],
    )
    return before | learned
