"""What earlier formats did not have, worked out from what they did."""

from __future__ import annotations

from typing import Any

from brain.store.neo4j import members
from brain.store.neo4j.connection import Database
from brain.store.neo4j.versions import element_of

_SPACES = "MATCH (s:Space) RETURN s.space ORDER BY s.space"
_WITHOUT = (
    "MATCH (v:Version) USING INDEX SEEK v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id >= $id AND v.from_seq IS NOT NULL AND v.members IS NULL"
    " AND (v.id > $id OR v.from_seq > $since)"
    " WITH v ORDER BY v.space, v.id, v.from_seq LIMIT $limit RETURN v.id, v.from_seq, v.body"
)
# Who has come in between, an erasure among them, has written what is to stand here.
_FILL = (
    "UNWIND $filled AS row MATCH (v:Version) USING INDEX v:Version(space, id, from_seq)"
    " WHERE v.space = $space AND v.id = row.id AND v.from_seq = row.since AND v.members IS NULL"
    " SET v += row.members FINISH"
)
_PAGE = 1_000


def fill_members(database: Database) -> None:
    """Give every version the texts of its members, for versions of formats before 3.

    Some at a time, each by itself: whoever is killed in between leaves the rest to the next, and several may be at it.
    What has none yet is compared in no statement, so answers are the same before, meanwhile and afterwards.
    """
    for (space,) in database.read(_SPACES, {}):
        after: dict[str, Any] = {"id": "", "since": 0}
        while found := database.read(_WITHOUT, {"space": space, "limit": _PAGE, **after}):
            filled = [
                {"id": element_id, "since": since, "members": members.stored(element_of(body).body)}
                for element_id, since, body in found
            ]
            database.run(_FILL, {"space": space, "filled": filled})
            after = {"id": filled[-1]["id"], "since": filled[-1]["since"]}
