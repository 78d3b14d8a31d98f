"""Memory of KIP 1.x in a 2.0 Space: what each thing becomes, what is kept, and what stops a conversion."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brain.app import build
from brain.backup.kip1 import convert as converting
from brain.backup.kip1.convert import kept_rows
from brain.backup.kip1.script import ConceptRow, LinkRow, Malformed, rows_of
from brain.commands import main
from brain.service.hosting import HOST, host_write
from brain.service.spaces import OpenSpace
from tests.service.world import settings_for

EXPORT = """
// Everything a small 1.x nexus knew.
UPSERT {
  CONCEPT ?type { {type: "$ConceptType", name: "Gadget"} SET ATTRIBUTES { description: "A thing with buttons." } }
  CONCEPT ?alice {
    {type: "Person", name: "alice"}
    SET ATTRIBUTES { display_name: "Alice", aliases: ["Al"], shoe_size: 39, }
    SET PROPOSITIONS {
      ("prefers", {type: "Preference", name: "dark_mode"})
        WITH METADATA { confidence: 0.9, author: "alice", source: "chat 7" }
      ("owns", {type: "Gadget", name: "walkman"}) WITH METADATA { author: "bob", valid_from: "2020-01-01T00:00:00Z" }
    }
  } WITH METADATA { pinned: true, memory_strength: 0.5, last_metabolized_at: "2025-01-01T00:00:00Z", salience: 0.8 }
  CONCEPT { {type: "Person", name: "alice"} SET ATTRIBUTES { shoe_size: 40 } }
  CONCEPT { {type: "Person", name: "bob"} }
  CONCEPT { {type: "Person", name: "$self"} SET ATTRIBUTES { display_name: "Old brain" } }
  CONCEPT {
    {type: "Event", name: "e1"}
    SET ATTRIBUTES { content_summary: "They met.", start_time: "2024-05-01T10:00:00+02:00" }
  }
  CONCEPT { {type: "Commitment", name: "Call Bob"} SET ATTRIBUTES { status: "done", due_date: "2024-06-01T00:00:00Z" } }
  CONCEPT {
    {type: "SleepTask", name: "t1"}
    SET ATTRIBUTES { status: "running", task_class: "review_conflict", lease: "w1" }
  }
  CONCEPT { {type: "SleepTask", name: "t2"} SET ATTRIBUTES { status: "pending", task_class: "dream" } }
  CONCEPT { {type: "Skill", name: "juggling"} SET ATTRIBUTES { standing: "proven", steps: ["throw", "catch"] } }
  PROPOSITION ?told {
    ({type: "Person", name: "bob"}, "lives_in", {type: "Town", name: "Oslo"})
    SET ATTRIBUTES { since: 2019 }
  } WITH METADATA { status: "retracted", author: "bob", mood: "sad" }
  PROPOSITION { (?alice, "timezone_is", {type: "Zone", name: "CET"}) }
    WITH METADATA { author: "alice", superseded: true }
  PROPOSITION { (?alice, "timezone_is", {type: "Zone", name: "EET"}) }
    WITH METADATA { author: "alice", expires_at: "2030-01-01T00:00:00Z" }
  PROPOSITION { (?alice, "height", {type: "Size", name: "tall"}) } WITH METADATA { superseded_by: "unknown" }
  PROPOSITION { (?told, "because", ?alice) }
  PROPOSITION { (?alice, "works_for", {type: "Gadget", name: "walkman"}) }
}
WITH METADATA { confidence: 0.6, author: "nobody here" }
"""


class Converted:
    """A Space made of an export, and how to ask it."""

    def __init__(self, folder: Path, text: str = EXPORT) -> None:
        self.folder, self.file = folder, folder / "nexus.kip"
        self.file.write_text(text, "utf-8")

    def run(self, *words: str, space: str = "home") -> int:
        store = ["--db", str(self.folder / "db"), "--storage", "local"]
        return main(["migrate", "kip1", str(self.file), space, "--owner", "ana", *words, *store])

    def open(self) -> OpenSpace:
        self.application = build(settings_for(self.folder / "db", storage="local"))
        return self.application.spaces.get("home")

    def close(self) -> None:
        self.application.spaces.close()


@pytest.fixture
def converted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Converted]:
    monkeypatch.chdir(tmp_path)
    made = Converted(tmp_path)
    assert made.run() == 0
    yield made
    made.close()


def ask(space: OpenSpace, command: str, **values: Any) -> Any:
    response = space.engine.run(command, values, session=HOST).response
    assert response["status"] == "succeeded", response
    return response["results"][0]["result"]


@pytest.mark.requirement("BR-LIFE-016", "BR-LIFE-019", "KI-CAP-032", "KI-CAP-033")
def test_a_concept_keeps_its_name_as_key_and_its_standard_members(converted: Converted) -> None:
    space = converted.open()
    [[alice, key, name, attributes]] = ask(
        space, 'FIND(?p.id, ?p.key, ?p.name, ?p.attributes) WHERE { ?p {type: "Person", key: "alice"} }'
    )
    assert (key, name, attributes) == ("alice", "Alice", {"display_name": "Alice", "aliases": ["Al"]})
    element = ask(space, 'FIND(?p) WHERE { ?p {type: "Person", key: "alice"} }')[0]
    assert element["retention"]["retention_class"] == "pinned"
    facets = element["facets"]
    mnemonic = next(value for name, value in facets.items() if name.endswith("/MnemonicState"))
    assert mnemonic["salience"] == 0.8
    legacy = next(value for name, value in facets.items() if name.endswith("/LegacyRecord"))
    assert legacy["attributes"] == {"shoe_size": 40}
    assert legacy["type"] == "Person"
    [[summary, started]] = ask(
        space, 'FIND(?e.attributes.summary, ?e.attributes.started_at) WHERE { ?e {type: "Event"} }'
    )
    assert (summary, started) == ("They met.", "2024-05-01T08:00:00.000Z")
    [[summary, status, due]] = ask(
        space,
        'FIND(?c.attributes.summary, ?c.attributes.status, ?c.attributes.due_at) WHERE { ?c {type: "Commitment"} }',
    )
    assert (summary, status, due) == ("Call Bob", "fulfilled", "2024-06-01T00:00:00.000Z")
    assert ask(space, 'FIND(?p.id) WHERE { ?p {type: "Person", key: "$self"} }') == [space.self_id]
    assert alice != space.self_id


@pytest.mark.requirement("BR-LIFE-020", "BR-LIFE-016", "KI-CAP-035")
def test_what_has_no_counterpart_is_a_record_without_standing_or_lease(converted: Converted) -> None:
    space = converted.open()
    for kind, name in (("LegacySkill", "juggling"), ("LegacyPreference", "dark_mode"), ("LegacySleepTask", "t2")):
        [[ref, attributes]] = ask(
            space, f'FIND(?c.schema_ref, ?c.attributes) WHERE {{ ?c {{type: "{kind}", key: :key}} }}', key=name
        )
        assert (ref, attributes) == (f"kip://legacy/nexus@1.1.0/{kind}", None)
    assert ask(space, 'FIND(?c.id) WHERE { ?c {type: "Skill"} }') == []
    tasks = ask(space, 'FIND(?c.key, ?c.attributes.task_class, ?c.attributes.status) WHERE { ?c {type: "SleepTask"} }')
    assert [(key, status) for key, _, status in tasks if key is not None] == [("t1", "pending")]
    # The words that came along as drafts are asked to be reviewed where the Space is opened.
    assert {task for key, task, _ in tasks if key is None} == {"review_schema"}
    described = ask(space, 'DESCRIBE TYPE "Gadget"')
    assert described["ref"] == "kip://local/draft@0.0.0/Gadget"
    assert described["definition"]["description"] == "A thing with buttons."
    types = ask(space, "LIST TYPES LIMIT 100")
    assert not [row for row in types if row["local_name"].startswith("$")]


CLAIMS = (
    "FIND(?s.name, ?o.key, ?by.key, ?a.confidence, ?a.valid_time, ?a.lifecycle.status, ?a.mode) WHERE "
    "{ ?p (?s, :predicate, ?o) ?a ASSERTION {proposition: ?p, asserted_by: ?by} }"
)


@pytest.mark.requirement("BR-LIFE-017", "BR-LIFE-018", "BR-LIFE-019", "KI-CAP-032", "KI-CAP-034")
def test_a_fact_is_an_imported_claim_of_its_author_and_nothing_taken_back_holds(converted: Converted) -> None:
    space = converted.open()

    def claims(predicate: str) -> list[Any]:
        found: list[Any] = ask(space, CLAIMS, predicate=predicate)
        return found

    [prefers] = claims("prefers")
    assert prefers[:4] == ["Alice", "dark_mode", "alice", 0.9]
    assert prefers[6] == "imported"
    [owns] = claims("owns")
    assert owns[:4] == ["Alice", "walkman", "bob", 0.6]
    assert owns[4]["from"] == "2020-01-01T00:00:00.000Z"
    [elsewhere] = claims("legacy_works_for")  # the word there took other things than ours does
    assert elsewhere[:4] == ["Alice", "walkman", "$self", 0.6]
    statuses = {row[1]: row[5] for row in claims("timezone_is")}
    assert statuses == {"CET": "superseded", "EET": "active"}
    assert [row[5] for row in claims("legacy_lives_in") or claims("lives_in")] == ["retracted"]
    evidence = ask(space, "FIND(?e.payload) WHERE { ?e EVIDENCE {} }")
    assert "chat 7" in str(evidence)
    of_eet = '?p (?s, "timezone_is", ?o) ?o {key: "EET"} ?a ASSERTION {proposition: ?p}'
    [claim] = ask(space, f"FIND(?a) WHERE {{ {of_eet} }}")
    assert claim["retention"]["expires_at"] == "2030-01-01T00:00:00.000Z"
    believed = 'FIND(?o.key, ?b.status) WHERE { ?p (?s, "timezone_is", ?o) ?b BELIEF (?p) } %s'
    assert dict(ask(space, believed % "")) == {"CET": "insufficient", "EET": "insufficient"}  # nobody endorsed it yet
    counted = dict(ask(space, believed % 'WITH EPISTEMIC {policy: "kip:policy:structural"}'))
    assert counted == {"CET": "insufficient", "EET": "accepted"}


@pytest.mark.requirement("BR-LIFE-015", "BR-LIFE-018", "KI-CAP-035")
def test_every_row_is_kept_as_it_was_with_what_became_of_it(converted: Converted) -> None:
    space = converted.open()
    rows, kept = rows_of(EXPORT), list(kept_rows(space.store))
    assert [row["row"]["line"] for row in kept] == [row.line for row in rows]
    became = {(row["row"]["line"], row["became"]) for row in kept}
    assert {what for _, what in became} == {"archived", "claim", "concept"}
    reasons = sorted(row["what"] for row in kept if row["became"] == "archived")
    assert reasons == [
        "it described the vocabulary",
        "it was a link of a link",
        "it was superseded, by what cannot be told",
    ]
    assert ask(space, 'FIND(?a.id) WHERE { ?p (?s, "height", ?o) ?a ASSERTION {proposition: ?p} }') == []


@pytest.mark.requirement("BR-LIFE-022", "BR-LIFE-023")
@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ('UPSERT {\n CONCEPT { {id: "7"} }\n}', "line 2"),
        ('UPSERT {\n CONCEPT { {type: "Person", name: ""} }\n}', "line 2"),
        ('UPSERT {\n\n PROPOSITION { (?nobody, "x", ?y) }\n}', "line 3: ?nobody"),
        ('UPSERT {\n CONCEPT { {type: "A/B", name: "x"} }\n}', "line 2"),
        ('UPSERT {\n CONCEPT { {type: "T", name: "x"} SET ATTRIBUTES {big: 1e999} }\n}', "line 2"),
        ("DELETE", "line 1"),
        ('{"format": "KIP-Capsule", "kip": "2.1.0", "space": {}}', "tools/migrate-draft-space"),
        ("", "no UPSERT"),
    ],
)
def test_a_row_that_cannot_be_read_or_written_stops_it_by_its_line_and_no_space_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], broken: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Converted(tmp_path, broken)
    assert made.run() == 1
    assert told in capsys.readouterr().err
    assert not list((tmp_path / "db").glob("*.db"))


@pytest.mark.requirement("BR-LIFE-014")
def test_a_conversion_that_was_cut_off_anywhere_goes_on_and_makes_nothing_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Converted(tmp_path)
    writes, cuts = 0, 0
    real = host_write

    def cut(*given: Any, **named: Any) -> Any:
        nonlocal writes
        if writes == 0:
            raise KeyboardInterrupt
        writes -= 1
        return real(*given, **named)

    monkeypatch.setattr(converting, "host_write", cut)
    for step in range(5, 200, 9):
        writes = step
        try:
            assert made.run() == 0
        except KeyboardInterrupt:
            cuts += 1
            assert not (tmp_path / "db" / "home.db").exists()
            continue
        break
    assert cuts >= 5
    assert not (tmp_path / "nexus.kip.converting").exists()
    at_once = tmp_path / "at_once"
    at_once.mkdir()
    whole = Converted(at_once)
    writes = 10_000
    assert whole.run() == 0
    with made.open().snapshot() as cut_off, whole.open().snapshot() as uncut:
        assert cut_off.counts() == uncut.counts()
    made.close()
    whole.close()


@pytest.mark.requirement("BR-LIFE-014")
def test_an_export_that_changed_meanwhile_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    made = Converted(tmp_path, EXPORT.replace('"Skill"', '"Sk/ill"'))
    assert made.run() == 1
    made.file.write_text(EXPORT, "utf-8")
    assert made.run() == 1
    assert "has changed" in capsys.readouterr().err
    shutil.rmtree(tmp_path / "nexus.kip.converting")
    assert made.run() == 0
    assert made.run() == 1
    assert "choose another id" in capsys.readouterr().err
    assert made.run(space="Not-An-Id") == 2


@given(text=st.text(alphabet=' \n{}()[]:,?"abUPSERTCONCEPTtypename01-.e', max_size=200))
def test_whatever_a_file_holds_it_is_rows_or_malformed(text: str) -> None:
    for given_text in (text, f"UPSERT {{ {text} }}"):
        try:
            rows = rows_of(given_text)
        except Malformed:
            continue
        assert rows
        assert all(isinstance(row, (ConceptRow, LinkRow)) for row in rows)
